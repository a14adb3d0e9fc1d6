"""The leaderboard page as visitors use it: a server in a separate process, a browser, and
concurrent requests.
"""

import http.client
import json
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cc_hf.plugins.leaderboard.live import MAX_UPLOAD, SentenceJudge
from cc_hf.reports.spans import apart
from tests.helpers.axe import serious_violations
from tests.helpers.browser import Page
from tests.helpers.served_pages import served
from tests.helpers.usual import cases, known, small_result, write_lines, write_result

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
    write_lines(folder / "damaged.json", [f"{{{EVIL} {TEMPLATE}"])
    bleu = write_lines(
        folder / "bleu.tsv", ["system\tbleu", "aws\t40", "google\t30", f"{EVIL}\t20"]
    )
    with served(folder, "--bleu", bleu, log=folder / "log.txt") as address:
        yield address
        log = (folder / "log.txt").read_text(encoding="utf-8")
    left = [path.name for path in (folder / "tmp").rglob("*") if path.is_file()]
    assert left == []  # no file that visitors sent or received is left
    assert "damaged.json is not shown" in log
    # gradio's word on the path that a test makes up
    assert [trace for trace in log.split("Traceback")[1:] if "InvalidPathError" not in trace] == []


@pytest.fixture
def board(request: pytest.FixtureRequest, site: str, page: Page) -> Iterator[Page]:
    """Yield the page in a window of the width that a test gives, and its theme."""
    width, theme = getattr(request, "param", (1440, ""))
    asked: list[str] = []
    page.on("request", ask := lambda sent: asked.append(sent.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{site}?texts{theme}")
    page.wait_for_selector("#cc-judge")
    yield page
    page.remove_listener("request", ask)
    assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []
    assert page.title() == "cc_hf leaderboard"


def open_tab(page: Page, name: str) -> None:
    tab = page.get_by_role("tab", name=name, exact=True)
    if tab.is_visible():
        tab.click()
    else:  # on a phone, further tabs are in a menu
        page.locator(".overflow-menu > button").click()
        page.locator(".overflow-dropdown").get_by_text(name, exact=True).click()


def choose(page: Page, label: str, option: str) -> None:
    page.locator(f"#cc-{label} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_address_of_the_server_leads_to_the_board(site: str, page: Page) -> None:
    page.goto(site)
    assert page.url == f"{site}board/"
    assert page.title() == "Disambiguation leaderboard"
    systems = page.locator("#winomt-default-en-de-contrastive-conditioning .board tbody tr")
    shown = [(row.get_attribute("data-system"), row.inner_text()) for row in systems.all()]
    assert [system for system, _ in shown] == ["google", "aws"]
    assert "50.0" in shown[0][1]
    assert page.locator("img[src=x]").count() == 0
    assert "damaged.json is not shown" in page.locator("#files").inner_text()
    for name in ("csv", "json"):
        with page.expect_download() as waiting:
            page.locator(f"a[href='board.{name}']").click()
        assert EVIL in Path(waiting.value.path()).read_text(encoding="utf-8")
    page.locator(".pick").first.click()
    page.locator(".sample").first.wait_for()
    page.get_by_role("link", name="Your own texts").click()
    page.wait_for_selector("#cc-judge")
    page.get_by_role("link", name="The board").click()
    page.wait_for_url(f"{site}board/")


_TABS = (
    *("Your sentence", "What is missing?", "For her, for him", "Your file"),
    *("About", "Citation", "Submit"),
)


_THEMES = ("&__theme=light", "&__theme=dark")


@pytest.mark.parametrize("board", [*product((1440, 390), _THEMES)], indirect=True)
def test_every_tab_is_accessible_and_fits_the_window(board: Page) -> None:
    is_dark = board.evaluate("document.body.classList.contains('dark')")
    assert is_dark == board.url.endswith(_THEMES[1])
    for name in _TABS:
        open_tab(board, name)
        if name == "Your sentence":
            board.locator("#cc-judge").click()
            board.wait_for_selector("#cc-answer .cc-explanation")
        if name == "What is missing?":
            board.wait_for_selector("#cc-missing-answer .cc-changes")
        if name == "For her, for him":
            board.wait_for_selector("#cc-genders-answer mark")
        if name == "Submit":
            board.locator("#cc-submit-check").click()
            board.wait_for_selector("#cc-submit-answer .cc-error")
        assert (name, serious_violations(board)) == (name, [])
        assert board.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_a_visitor_reads_what_figures_mean_and_how_to_cite_them(board: Page) -> None:
    open_tab(board, "About")
    about = board.locator("#cc-about")
    assert "how often machine translation systems keep the reading" in about.inner_text()
    link = about.get_by_role("link", name="paper 1 on WinoMT").get_attribute("href")
    assert link == "https://aclanthology.org/P19-1164"
    open_tab(board, "Citation")
    assert "{stanovsky-etal-2019-evaluating" in board.locator("#cc-citation").inner_text()


def test_the_address_holds_the_tab(board: Page) -> None:
    start = board.url.partition("#")[0]
    open_tab(board, "Submit")
    assert board.url == f"{start}#tab=Submit"
    for address, tab in ((start, "Your sentence"), (f"{start}#tab=About", "About")):
        board.goto("about:blank")
        board.goto(address)
        board.locator("button[role=tab][aria-selected=true]").get_by_text(tab).first.wait_for()


def test_results_to_submit_are_checked_and_trimmed(board: Page, tmp_path: Path) -> None:
    open_tab(board, "Submit")
    path = write_result(tmp_path, "mine", small_result((0.2, 0.3)))
    board.set_input_files("#cc-submit input[type=file]", path)
    board.locator("#cc-submit").get_by_text("mine").first.wait_for()
    board.locator("#cc-submit-check").click()
    board.locator("#cc-submit-answer .cc-result").wait_for()
    with board.expect_download() as waiting:
        board.locator("#cc-submit-download").click()
    sent = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    judgements = sent["results"][0]["judgements"]  # verdicts prove the figures, texts stay here
    assert len(judgements) == 40
    assert not any(judgement.get("translation") for judgement in judgements)
    assert sent["results"][0]["scores"]["accuracy"] == 0.25


def test_the_sample_file_can_be_judged(board: Page) -> None:
    open_tab(board, "Your file")
    board.locator("#cc-file-sample").click()
    board.locator("#cc-file").get_by_text("simplegen.en-de").first.wait_for()
    assert board.locator("#cc-file-metric input").input_value() == "SimpleGEN accuracy"
    board.locator("#cc-file-judge").click()
    board.locator("#cc-file-answer .cc-result").wait_for()
    assert serious_violations(board) == []


def test_a_sentence_can_be_judged_on_the_page(board: Page) -> None:
    def click_until(is_answered: Callable[[], bool]) -> None:
        for _ in range(600):  # a click is ignored while an earlier one is answered
            board.locator("#cc-judge").click()
            board.wait_for_timeout(500)
            if is_answered():
                break

    open_tab(board, "Your sentence")
    board.wait_for_selector("#cc-answer .cc-explanation")  # the example is judged on arrival
    assert "not fit to cite" in board.locator("#cc-answer .cc-unfit").first.inner_text()

    board.fill("#cc-source textarea", SOURCE)
    board.fill("#cc-translation textarea", RIGHT)
    board.fill("#cc-other textarea", WRONG)
    board.fill("#cc-word textarea, #cc-word input", "doctor")
    board.locator("#cc-judge").click()
    board.wait_for_selector("#cc-answer .cc-explanation")
    explanations = board.locator(".cc-explanation").all()
    verdicts = [explanation.get_attribute("data-verdict") for explanation in explanations]
    assert verdicts == ["correct", "incorrect"]

    marks = [mark.get_attribute("style") or "" for mark in board.locator(".cc-bar-mark").all()]
    places = [float(re.findall(r"left: ?([0-9.]+)%", style)[0]) for style in marks]
    judge = SentenceJudge().judge
    answers = [judge(SOURCE, text, "doctor", gender="female") for text in (RIGHT, WRONG)]
    expected = [100 * answer.probability_correct for answer in answers]
    assert places == pytest.approx(expected, abs=0.051)
    assert places[0] > 50 > places[1]

    for explanation, words in zip(explanations, ({"Die", "Ärztin"}, {"Der", "Arzt"}), strict=True):
        decides = set(explanation.locator("mark.cc-decides").all_inner_texts())
        assert decides
        assert decides <= words

    board.fill("#cc-translation textarea", f"{EVIL} {TEMPLATE} Der Arzt.")
    board.fill("#cc-other textarea", "")
    click_until(lambda: "onerror" in board.locator("#cc-answer").inner_text())
    assert board.locator(".cc-explanation").count() == 1
    assert board.locator(".cc-words").inner_text() == f"{EVIL} {TEMPLATE} Der Arzt."

    board.fill("#cc-word textarea, #cc-word input", EVIL)
    click_until(lambda: board.locator("#cc-answer .cc-error").count() > 0)
    error = board.locator("#cc-answer .cc-error").inner_text()
    assert f"{EVIL!r} does not occur as a whole word" in error


def test_a_sentence_is_translated_for_a_woman_and_for_a_man(board: Page) -> None:
    open_tab(board, "For her, for him")
    answer = board.locator("#cc-genders-answer")
    answer.locator("mark").first.wait_for()  # the example is translated on arrival
    assert answer.locator("mark").all_inner_texts() == ["Der Arzt", "Die Ärztin"]
    for source, reason in (("She is a cook.", "a pronoun that says the gender"), (EVIL, "no noun")):
        board.fill("#cc-genders-source textarea", source)
        board.locator("#cc-genders").click()
        answer.locator(".cc-caution").get_by_text(reason).wait_for()
        assert answer.locator("mark").count() == 0
    board.fill("#cc-genders-source textarea", "")
    board.locator("#cc-genders").click()
    answer.locator(".cc-error").get_by_text("source: expected a text").wait_for()


def test_what_is_missing_from_a_translation_is_marked(board: Page) -> None:
    def marks() -> list[str]:
        return board.locator("#cc-missing-answer [data-side=source] mark").all_inner_texts()

    open_tab(board, "What is missing?")
    answer = board.locator("#cc-missing-answer")
    answer.locator(".cc-changes").wait_for()  # the example is judged on arrival
    assert marks() == ["in the kitchen"]  # what the translation of the example lacks, and no more
    cautions = answer.locator(".cc-caution").all_inner_texts()
    assert "also finds an error in 94.3 to 96.7 % of right translations" in cautions[0]
    assert "Additions were not looked for" in cautions[1]
    assert board.locator("#cc-missing-pair").inner_text().split("\n")[-1] == "English → German"
    source = f"The nurse helped {EVIL} {TEMPLATE} him."
    board.fill("#cc-missing-source textarea", source)
    board.fill("#cc-missing-translation textarea", "Die Krankenschwester half ihm.")
    board.locator("#cc-missing").click()
    answer.locator("[data-side=source]").get_by_text("onerror").wait_for()
    actual = SentenceJudge().find_missing(source, "Die Krankenschwester half ihm.")
    judged = zip(actual.changes, actual.is_error, strict=True)
    errors = apart([change for change, is_error in judged if is_error])
    assert marks() == [span.text for span in errors]
    assert answer.locator("tbody tr").count() == len(actual.changes)
    board.fill("#cc-missing-translation textarea", "")
    board.locator("#cc-missing").click()
    assert "translation: expected a text" in answer.locator(".cc-error").inner_text()


def test_a_file_can_be_judged_and_broken_files_are_reported(board: Page, tmp_path: Path) -> None:
    def judge(name: str, content: bytes, wanted: str) -> str:
        (tmp_path / name).write_bytes(content)
        if board.locator("#cc-file button[aria-label='Clear']").count():
            board.locator("#cc-file button[aria-label='Clear']").click()
        board.set_input_files("#cc-file input[type=file]", tmp_path / name)
        board.locator("#cc-file").get_by_text(name.rpartition(".")[0]).first.wait_for()
        board.locator("#cc-file-judge").click()
        text = name if wanted == ".cc-error" else "simplegen"
        actual = board.locator(f"#cc-file-answer {wanted}").filter(has_text=text)
        actual.wait_for()
        return actual.inner_text()

    open_tab(board, "Your file")
    choose(board, "file-metric", "SimpleGEN accuracy")
    assert "bad.txt: line 1: expected UTF-8" in judge("bad.txt", b"Sch\xf6n <b>\n", ".cc-error")
    told = judge("short.txt", b"Ja.\n", ".cc-error")
    assert "short.txt: expected one line per example, 2664 in all, got 1" in told
    told = judge("whole.txt", ("Sie ist Ärztin.\nEr ist Arzt.\n" * 1332).encode(), ".cc-result")
    assert "SimpleGEN accuracy" in told
    with board.expect_download() as waiting:
        board.locator("#cc-file-download").click()
    fetched = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    named = [fetched[name] for name in ("dataset", "metric", "n")]
    assert named == ["simplegen", "simplegen_accuracy", 2664]
    assert f"{100 * fetched['scores']['accuracy']:.1f}" in told
    (tmp_path / "large.txt").write_bytes(b"Ja.\n" * (MAX_UPLOAD // 4 + 1))
    board.locator("#cc-file button[aria-label='Clear']").click()
    board.set_input_files("#cc-file input[type=file]", tmp_path / "large.txt")
    board.get_by_text("exceed the maximum allowed size of 5.0 M").wait_for()


def events(site: str, name: str, data: list[Any]) -> str:
    """Post a request to the page's own interface, and return its events up to the answer."""
    body, kinds = json.dumps({"data": data}).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{site}gradio_api/call/{name}", body, kinds)
    with urllib.request.urlopen(request) as response:
        event = json.load(response)["event_id"]
    with urllib.request.urlopen(f"{site}gradio_api/call/{name}/{event}") as response:
        return str(response.read().decode())


def ask(site: str, name: str, data: list[Any]) -> str:
    """Return the answer to a request."""
    text = events(site, name, data)
    actual = known(re.search(r"^event: complete\ndata: (.*)$", text, re.MULTILINE))
    answer: str = json.loads(actual.group(1))[0]
    return answer


@pytest.mark.usefixtures("socket_enabled")
def test_fifty_concurrent_requests_get_correct_answers(site: str) -> None:
    texts = ("Der Arzt Nummer {} bat die Pflegerin.", "Die Ärztin Nummer {} bat den Pfleger.")
    words, genders = ("doctor", "nurse"), ("male", "female")
    rows = [(texts[i % 2].format(i), words[i // 2 % 2], genders[i % 3 > 0]) for i in range(50)]
    source = "The doctor asked the nurse."

    def probability(row: tuple[str, str, str]) -> float:
        translation, word, gender = row
        html = ask(
            site, "judge_sentence", [source, translation, "", word, "", gender, "", "", "before"]
        )
        assert translation in re.sub("<[^>]*>", "", html)
        return float(re.findall(r"left:([0-9.]+)%", html)[0])

    with ThreadPoolExecutor(50) as pool:
        actual = list(pool.map(probability, rows))
    judge = SentenceJudge().judge
    answers = [judge(source, text, word, gender=gender) for text, word, gender in rows]
    expected = [100 * answer.probability_correct for answer in answers]
    assert actual == pytest.approx(expected, abs=0.051)
    assert len(set(actual)) > 25


@pytest.mark.usefixtures("socket_enabled")
def test_files_of_the_server_cannot_be_read_by_path(site: str, tmp_path: Path) -> None:
    secret = write_lines(tmp_path / "own.txt", ["secret"])
    file = {"path": str(secret), "meta": {"_type": "gradio.FileData"}}
    given = [file, "simplegen", "en-de", "de", "simplegen_accuracy"]
    assert "event: error" in events(site, "judge_file", given)


UPLOAD = b'--x\r\nContent-Disposition: form-data; name="files"; filename="broken.txt"\r\n\r\n'


def connection(site: str, path: str, **headers: str) -> http.client.HTTPConnection:
    """Send the headers of a request without its body."""
    actual = http.client.HTTPConnection(site.removeprefix("http://").rstrip("/"))
    actual.putrequest("POST", f"/gradio_api/{path}")
    for name, value in headers.items():
        actual.putheader(name.replace("_", "-"), value)
    actual.endheaders()
    return actual


@pytest.mark.usefixtures("socket_enabled")
@cases(
    ("call/judge_sentence", 1 << 19, 413),
    ("queue/join", 100_000_000, 413),
    ("upload", MAX_UPLOAD + (1 << 17), 413),
    ("process_recording", 1, 404),
    ("vibe-edit", 1, 404),
)
def test_oversized_or_unknown_requests_fail(path: str, size: int, status: int, site: str) -> None:
    headers = {"Content_Type": "application/json", "Content_Length": str(size)}
    with closing(connection(site, path, **headers)) as request, request.getresponse() as answer:
        assert (answer.status, answer.headers["X-Frame-Options"]) == (status, "DENY")


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("path", ["", "gradio_api/info", "theme.css"])
def test_no_other_page_may_frame_an_answer_or_be_sent_its_data(path: str, site: str) -> None:
    with urllib.request.urlopen(site + path) as answer:
        assert answer.headers["X-Frame-Options"] == "DENY"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        text = answer.read().decode()
    if path == "gradio_api/info":
        assert "/judge_sentence" in json.loads(text)["named_endpoints"]
        assert not re.search(r"lambda|/fn", "".join(json.loads(text)["named_endpoints"]))


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
    files = [file for file in site_files.rglob("tmp*") if file.is_file()]
    assert not any(file.stat().st_size for file in files)


@pytest.mark.usefixtures("socket_enabled")
def test_half_sent_requests_of_one_client_keep_nobody_from_judging(site: str) -> None:
    texts = ["The doctor left.", "Die Ärztin ging.", ""]
    sentence = [*texts, "doctor", "", "female", "", "", "before"]
    headers = {"Content_Length": "200", "Content_Type": "text/plain"}
    with ExitStack() as waiting:
        for path, n in (("upload", 200), ("queue/join", 70)):
            for _ in range(n):
                waiting.enter_context(closing(connection(site, path, **headers))).send(b"x")
            time.sleep(1.2)  # later requests displace what has not arrived within a second
            assert "Ärztin" in ask(site, "judge_sentence", sentence)
