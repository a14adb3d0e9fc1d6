"""The leaderboard page as visitors use it: a server in a separate process, a browser, and
concurrent requests.
"""

from __future__ import annotations

import http.client
import json
import re
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cc_hf.leaderboard.live import MAX_UPLOAD, SentenceJudge
from tests.helpers.leaderboard import served
from tests.helpers.results import small_result, write_result

if TYPE_CHECKING:
    from playwright.sync_api import Page

RIGHT = "Die Ärztin bat die Krankenschwester, ihr zu helfen."
WRONG = "Der Arzt bat die Krankenschwester, ihr zu helfen."
SOURCE = "The doctor asked the nurse to help her."
EVIL = "<img src=x onerror=document.title='broken'>"
TEMPLATE = "${document.title='broken'} {{value}}"  # gradio treats its HTML as a template


@pytest.fixture(scope="module")
def site_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the server keeps files of visitors."""
    return tmp_path_factory.mktemp("board") / "tmp"


@pytest.fixture(scope="module")
def site(site_files: Path) -> Iterator[str]:
    folder = site_files.parent
    write_result(folder, "aws", small_result((0.4, 0.9)))
    write_result(folder, "google", small_result((0.5, 0.7)))
    write_result(
        folder,
        "evil",
        small_result((0.1, 0.3), dataset="simplegen", config="en-es", tgt_lang="es", system=EVIL),
    )
    (folder / "damaged.json").write_text(f"{{{EVIL} {TEMPLATE}", encoding="utf-8")
    bleu = folder / "bleu.tsv"
    bleu.write_text(f"system\tbleu\naws\t40\ngoogle\t30\n{EVIL}\t20\n", encoding="utf-8")
    with served(folder, "--bleu", bleu, log=folder / "log.txt") as address:
        yield address
        log = (folder / "log.txt").read_text(encoding="utf-8")
    left = [path.name for path in (folder / "tmp").rglob("*") if path.is_file()]
    assert left == []  # no file that visitors sent or received is left
    assert "damaged.json is not shown" in log
    # gradio's word on the path that a test makes up
    assert all("InvalidPathError" in trace for trace in log.split("Traceback")[1:])


@pytest.fixture
def board(site: str, page: Page) -> Iterator[Page]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    page.wait_for_selector("#cc-table [data-testid=cell-0-0]")
    yield page
    assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []
    assert page.title() == "cc_hf leaderboard"


def expect_systems(page: Page, expected: list[str]) -> None:
    page.wait_for_function(
        """expected => {
            const top = cell => cell.getBoundingClientRect().top;  // as people see them: data-row is the number in the data, or the place, by version
            const cells = [...document.querySelectorAll('#cc-table [role=gridcell][data-col="0"]')].sort((a, b) => top(a) - top(b));
            return JSON.stringify(cells.map(cell => cell.innerText.trim())) === expected;
        }""",
        arg=json.dumps(expected, ensure_ascii=False, separators=(",", ":")),
    )


def choose(page: Page, label: str, option: str) -> None:
    page.locator(f"#cc-{label} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def open_menu_of_bleu(page: Page) -> None:
    header = page.locator("#cc-table [data-testid=header-11]").first
    header.hover()  # the button is shown only while the mouse is over the header
    header.locator("button").first.click()


@pytest.mark.browser
def test_the_table_can_be_sorted_filtered_and_downloaded(board: Page) -> None:
    expect_systems(board, ["google", "aws", EVIL])
    for way, expected in (
        ("Sort ascending", [EVIL, "google", "aws"]),
        ("Sort descending", ["aws", "google", EVIL]),
    ):
        open_menu_of_bleu(board)
        board.locator("[role=menu]").get_by_text(way).click()
        expect_systems(board, expected)
    open_menu_of_bleu(board)
    board.locator("[role=menu]").get_by_text("Clear sort").click()
    choose(board, "sort", "accuracy")
    expect_systems(board, ["aws", "google", EVIL])
    board.get_by_label("ascending", exact=True).check()
    expect_systems(board, [EVIL, "google", "aws"])
    choose(board, "dataset", "winomt")
    expect_systems(board, ["google", "aws"])
    assert board.locator("#cc-plot path.fill").count() == 2
    board.fill("#cc-search input, #cc-search textarea", "aws")
    expect_systems(board, ["aws"])
    for name in ("csv", "json"):
        with board.expect_download() as waiting:
            board.locator(f"#cc-{name}").click()
        assert EVIL in Path(waiting.value.path()).read_text(encoding="utf-8")
    notes = board.locator("#cc-notes").inner_text()
    assert "damaged.json" in notes
    assert board.locator("img[src=x]").count() == 0


@pytest.mark.browser
def test_a_sentence_can_be_judged_on_the_page(board: Page) -> None:
    board.get_by_role("tab", name="Your sentence").click()
    board.fill("#cc-source textarea", SOURCE)
    board.fill("#cc-translation textarea", RIGHT)
    board.fill("#cc-other textarea", WRONG)
    board.fill("#cc-word textarea, #cc-word input", "doctor")
    board.locator("#cc-judge").click()
    board.wait_for_selector("#cc-answer .cc-explanation")
    assert [
        one.get_attribute("data-verdict") for one in board.locator(".cc-explanation").all()
    ] == ["correct", "incorrect"]
    places = [
        float(re.findall(r"left: ?([0-9.]+)%", one.get_attribute("style") or "")[0])
        for one in board.locator(".cc-bar-mark").all()
    ]
    expected = [
        100 * SentenceJudge().judge(SOURCE, text, "doctor", gender="female").probability_correct
        for text in (RIGHT, WRONG)
    ]
    assert places == pytest.approx(expected, abs=0.051)
    assert places[0] > 50 > places[1]
    for number, words in enumerate(({"Die", "Ärztin"}, {"Der", "Arzt"})):
        decides = set(
            board.locator(".cc-explanation")
            .nth(number)
            .locator("mark.cc-decides")
            .all_inner_texts()
        )
        assert decides
        assert decides <= words
    board.fill("#cc-translation textarea", f"{EVIL} {TEMPLATE} Der Arzt.")
    board.fill("#cc-other textarea", "")
    board.locator("#cc-judge").click()
    board.wait_for_function(
        "() => document.querySelectorAll('.cc-explanation').length === 1 &&"
        " document.querySelector('.cc-words').innerText.includes('onerror')"
    )
    assert board.locator(".cc-words").inner_text() == f"{EVIL} {TEMPLATE} Der Arzt."
    board.fill("#cc-word textarea, #cc-word input", EVIL)
    board.locator("#cc-judge").click()
    board.wait_for_selector("#cc-answer .cc-error")
    assert (
        f"{EVIL!r} does not occur as a whole word"
        in board.locator("#cc-answer .cc-error").inner_text()
    )


@pytest.mark.browser
def test_a_file_can_be_judged_and_broken_files_are_reported(board: Page, tmp_path: Path) -> None:
    def judge(name: str, content: bytes, wanted: str) -> str:
        (tmp_path / name).write_bytes(content)
        if board.locator("#cc-file button[aria-label='Clear']").count():
            board.locator("#cc-file button[aria-label='Clear']").click()
        board.set_input_files("#cc-file input[type=file]", tmp_path / name)
        board.locator("#cc-file").get_by_text(name.rpartition(".")[0]).first.wait_for()
        board.locator("#cc-file-judge").click()
        found = board.locator(f"#cc-file-answer {wanted}").filter(
            has_text=name if wanted == ".cc-error" else "simplegen"
        )
        found.wait_for()
        return found.inner_text()

    board.get_by_role("tab", name="Your file").click()
    board.locator("#cc-file-metric input").click()
    board.get_by_role("option", name="simplegen_accuracy", exact=True).click()
    assert "bad.txt: line 1: expected UTF-8" in judge("bad.txt", b"Sch\xf6n <b>\n", ".cc-error")
    assert "short.txt: expected one line per example, 2664 in all, got 1" in judge(
        "short.txt", b"Ja.\n", ".cc-error"
    )
    whole = "Sie ist Ärztin.\nEr ist Arzt.\n" * 1332
    told = judge("whole.txt", whole.encode(), ".cc-result")
    assert "SimpleGEN accuracy" in told
    with board.expect_download() as waiting:
        board.locator("#cc-file-download").click()
    fetched = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert (fetched["dataset"], fetched["metric"], fetched["n"]) == (
        "simplegen",
        "simplegen_accuracy",
        2664,
    )
    assert f"{100 * fetched['scores']['accuracy']:.1f}" in told
    (tmp_path / "large.txt").write_bytes(b"Ja.\n" * (MAX_UPLOAD // 4 + 1))
    board.locator("#cc-file button[aria-label='Clear']").click()
    board.set_input_files("#cc-file input[type=file]", tmp_path / "large.txt")
    board.get_by_text("exceed the maximum allowed size of 5.0 M").wait_for()


def ask(site: str, name: str, data: list[Any]) -> str:
    """Call the page's own interface: post the request and read the stream of events up to the
    answer.
    """
    request = urllib.request.Request(
        f"{site}gradio_api/call/{name}",
        json.dumps({"data": data}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        event = json.load(response)["event_id"]
    with urllib.request.urlopen(f"{site}gradio_api/call/{name}/{event}") as response:
        text = response.read().decode()
    found = re.search(r"^event: complete\ndata: (.*)$", text, re.MULTILINE)
    assert found is not None, text
    answer: str = json.loads(found.group(1))[0]
    return answer


@pytest.mark.usefixtures("socket_enabled")
def test_fifty_concurrent_requests_get_correct_answers(site: str) -> None:
    people = ["doctor", "nurse"]
    sentences = [
        (
            (
                f"Die Ärztin Nummer {i} bat den Pfleger."
                if i % 2
                else f"Der Arzt Nummer {i} bat die Pflegerin."
            ),
            people[i // 2 % 2],
            "female" if i % 3 else "male",
        )
        for i in range(50)
    ]
    source = "The doctor asked the nurse."

    def probability(row: tuple[str, str, str]) -> float:
        translation, word, gender = row
        html = ask(
            site, "judge_sentence", [source, translation, "", word, "", gender, "", "", "before"]
        )
        assert translation in re.sub("<[^>]*>", "", html)
        return float(re.findall(r"left:([0-9.]+)%", html)[0])

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(probability, sentences))
    judge = SentenceJudge()
    expected = [
        100 * judge.judge(source, text, word, gender=gender).probability_correct
        for text, word, gender in sentences
    ]
    assert found == pytest.approx(expected, abs=0.051)
    assert len(set(found)) > 25


@pytest.mark.usefixtures("socket_enabled")
def test_files_of_the_server_cannot_be_read_by_path(site: str, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("secret", encoding="utf-8")
    request = urllib.request.Request(
        f"{site}gradio_api/call/judge_file",
        json.dumps(
            {
                "data": [
                    {"path": str(tmp_path / "own.txt"), "meta": {"_type": "gradio.FileData"}},
                    "simplegen",
                    "en-de",
                    "de",
                    "simplegen_accuracy",
                ]
            }
        ).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        event = json.load(response)["event_id"]
    with urllib.request.urlopen(f"{site}gradio_api/call/judge_file/{event}") as response:
        assert "event: error" in response.read().decode()


UPLOAD = b'--x\r\nContent-Disposition: form-data; name="files"; filename="broken.txt"\r\n\r\n'


def connection(site: str, path: str, **headers: str) -> http.client.HTTPConnection:
    """Send the headers of a request without its body."""
    found = http.client.HTTPConnection(site.removeprefix("http://").rstrip("/"))
    found.putrequest("POST", f"/gradio_api/{path}")
    for name, value in headers.items():
        found.putheader(name.replace("_", "-"), value)
    found.endheaders()
    return found


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("call/judge_sentence", 1 << 19, 413),
        ("queue/join", 100_000_000, 413),
        ("upload", MAX_UPLOAD + (1 << 17), 413),
        ("process_recording", 1, 404),
        ("vibe-edit", 1, 404),
    ],
)
def test_oversized_and_unknown_requests_are_refused_before_their_body(
    site: str, path: str, size: int, status: int
) -> None:
    with (
        closing(
            connection(site, path, Content_Type="application/json", Content_Length=str(size))
        ) as request,
        request.getresponse() as answer,
    ):
        assert answer.status == status


@pytest.mark.usefixtures("socket_enabled")
def test_an_interrupted_upload_leaves_no_file(site: str, site_files: Path) -> None:
    kinds = {"Content_Type": "multipart/form-data; boundary=x"}
    for _ in range(3):
        with closing(connection(site, "upload", Content_Length="5000000", **kinds)) as broken:
            broken.send(UPLOAD + b"x" * 1_000_000)
    whole = UPLOAD + b"x\r\n--x--\r\n"
    with closing(connection(site, "upload", Content_Length=str(len(whole)), **kinds)) as upload:
        upload.send(whole)
        with upload.getresponse() as answer:
            (path,) = json.load(answer)
    assert site_files in Path(path).parents
    unfinished = [
        file for file in site_files.rglob("tmp*") if file.is_file() and file.stat().st_size
    ]
    assert unfinished == []
