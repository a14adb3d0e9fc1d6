from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf.data.loading import load_examples
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult
from tests.helpers import reported
from tests.helpers.browser import Locator, Page
from tests.helpers.four_systems import four_systems
from tests.helpers.printing import assert_print_is_whole
from tests.helpers.reported import ATTACK, HOSTILE_NAME, N
from tests.helpers.usual import known, result_of
from tests.unit.reports.page.conftest import Opened


def samples(page: Page) -> Locator:
    return page.locator("#list > li")


def ids(page: Page) -> list[str]:
    return [item.get_attribute("data-id") or "" for item in samples(page).all()]


def chosen(page: Page, total: str, **filters: str) -> list[str]:
    """Return the samples of the first page under these filters, after checking the shown count."""
    page.click("#filters button[type=reset]")
    for name, value in filters.items():
        (page.fill if name in ("query", "low", "high") else page.select_option)(f"#{name}", value)
    page.wait_for_selector("#list[aria-busy=false]", state="attached")
    assert page.locator("#count").inner_text() == total
    return ids(page)


def test_translations_are_shown_as_text_and_not_as_html(opened: Opened) -> None:
    page = opened(reported.report())
    assert chosen(page, "1 of 90 samples", query="<SCRIPT>") == ["id4"]
    assert samples(page).locator(".translation .text").all_inner_texts() == [ATTACK, ATTACK]
    assert HOSTILE_NAME in page.locator("#summary").inner_text()
    assert page.title() == "d (c), German: 2 systems"
    assert page.locator("img, #list script, b:text-is('b|c')").count() == 0
    samples(page).locator(".open").click()
    assert "<u>4</u>" in samples(page).locator(".details").inner_text()
    assert page.locator("u").count() == 0


def test_a_click_puts_the_best_value_of_a_column_first(opened: Opened) -> None:
    values = {"gap": (0.6, -0.3), "fair": (0.5, -0.01), "other": (0.7, 0.2)}
    metric, systems = "winomt_pattern_matching", []
    for name, (accuracy, gap) in values.items():
        made = result_of((), metric=metric, scores={"accuracy": accuracy, "delta_g": gap})
        systems.append(ReportedSystem(name, {metric: made}))
    table = opened(build_report(systems)).locator("table.summary")

    def order(header: str) -> str:
        table.locator("thead button").get_by_text(header).click()
        return " ".join(text.split()[0] for text in table.locator("tbody th").all_inner_texts())

    assert order("gender gap") == "fair other gap"
    assert table.locator("th[aria-sort=ascending]").count() == 1
    assert order("gender gap") == "gap other fair"
    assert order("accuracy") == "other gap fair"


def test_the_content_policy_blocks_requests_and_scripts(opened: Opened) -> None:
    page = opened(reported.report())
    refused = page.evaluate("""() => new Promise((resolve) => {
          const found = [];
          document.addEventListener("securitypolicyviolation", (event) => {
            found.push(event.effectiveDirective);
            if (found.length === 3) resolve(found.sort());
          });
          new Image().src = "http://localhost:9/a.png";
          const script = document.createElement("script");
          script.textContent = "document.title = 'taken'";
          document.body.append(script);
          fetch("http://localhost:9/").catch(() => {});
        })""")
    assert refused == ["connect-src", "img-src", "script-src-elem"]
    assert page.title() == "d (c), German: 2 systems"


def test_filters_select_samples_by_their_judgements(opened: Opened) -> None:
    report = reported.report()
    page = opened(report)
    first, second = ([sample.judgements[system] for sample in report.samples] for system in (0, 1))

    def expect(wanted: Callable[[int], bool], **filters: str) -> None:
        expected = [f"id{i}" for i in range(N) if wanted(i)]
        assert 0 < len(expected) < N
        assert chosen(page, f"{len(expected)} of {N} samples", **filters) == expected[:40]

    def verdict(row: Any, metric: int = 0) -> str:
        return str(row[metric].verdict)

    def sure(row: Any) -> float:
        return abs(200 * float(row[0].probability_correct) - 100)

    def is_sure(row: Any, wanted: str, low: int, high: int) -> bool:
        return verdict(row) == wanted and low <= sure(row) <= high

    assert len(chosen(page, f"{N} samples")) == 40
    expect(lambda i: i % 3 == 2, category="2")
    expect(lambda i: "number 1" in reported.examples()[i].source, query='"NUMBER 1"')
    expect(lambda i: verdict(first[i]) == "correct", verdict="0", system="0")
    expect(lambda i: verdict(second[i], 1) == "inconclusive", verdict="2", system="1", metric="1")
    expect(lambda i: verdict(first[i]) != verdict(second[i]), verdict="systems")
    expect(lambda i: verdict(second[i]) != verdict(second[i], 1), verdict="metrics", system="1")
    expect(lambda i: verdict(second[i]) == verdict(second[i], 1), verdict="agree", system="1")
    expect(
        lambda i: {verdict(second[i]), verdict(second[i], 1)} == {"correct", "incorrect"},
        verdict="differ",
        system="1",
    )
    expect(lambda i: i <= 2, verdict="labelled")
    people = {0: "correct", 2: "incorrect"}
    expect(
        lambda i: i in people and verdict(first[i], 1) != people[i], verdict="people", metric="1"
    )
    expect(lambda i: 20 <= sure(first[i]) <= 40, system="0", low="20", high="40")
    expect(lambda i: is_sure(second[i], "incorrect", 50, 100), system="1", verdict="1", low="50")
    expect(
        lambda i: any(is_sure(row[i], "correct", 0, 10) for row in (first, second)),
        verdict="0",
        high="10",
    )


def test_samples_can_be_sorted(opened: Opened) -> None:
    report = reported.report()
    page = opened(report)
    first = {sample.id: [row[0] for row in sample.judgements] for sample in report.samples}
    p = {name: [j.probability_correct or 0.0 for j in row if j] for name, row in first.items()}
    keys: dict[str, Callable[[str], float]] = {
        "unsure": lambda i: abs(p[i][0] - 0.5),
        "sure": lambda i: -abs(p[i][0] - 0.5),
        "wrong": lambda i: p[i][0],
        "apart": lambda i: -abs(p[i][0] - p[i][1]),
    }
    for order, key in keys.items():
        choice = chosen(page, f"{N} samples", order=order, system="0")
        assert choice[:10] == sorted(p, key=key)[:10], order


def test_a_sample_opens_and_closes_by_keyboard(opened: Opened) -> None:
    report = reported.report()
    page = opened(report)
    item = samples(page).nth(1)
    assert item.locator("mark.focus").inner_text() == "cook"
    button = item.get_by_role("button", name="Details of sample id1")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    details = item.locator(".details")
    assert details.locator("ins").all_inner_texts() == ["[male]", "[female]"]
    assert "𝄞 The [male] cook number 1 left." in details.inner_text()
    judgement: Any = report.samples[1].judgements[0][0]
    row = details.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert row[0] == "first"
    score = float(f"{judgement.score_correct:.4g}")
    shown = {f"{100 * judgement.probability_correct:.1f} %", str(score), str(judgement.weight)}
    assert shown <= set(row)
    assert "people: male / female" in item.inner_text()
    page.keyboard.press("Enter")
    assert item.locator(".details").count() == 0
    assert button.get_attribute("aria-expanded") == "false"


def test_samples_are_divided_into_pages(opened: Opened) -> None:
    page = opened(reported.report())
    seen = ids(page)
    assert page.locator("#previous").is_disabled()
    for _ in range(2):
        page.click("#next")
        seen += ids(page)
    assert seen == [f"id{i}" for i in range(N)]
    assert page.locator("#next").is_disabled()
    assert page.locator("#page-number").inner_text() == "page 3 of 3"


def test_the_page_works_without_the_dataset(opened: Opened) -> None:
    page = opened(reported.report(with_examples=False, with_labels=False))
    assert page.get_by_text("The dataset was not available").is_visible()
    assert samples(page).locator(".source").count() == 0
    assert samples(page).nth(4).locator(".text").all_inner_texts() == [ATTACK, ATTACK]
    assert page.locator("#people").count() == 0


def test_the_page_works_for_one_system_or_without_judgements(opened: Opened) -> None:
    (words,) = reported.results(0, metrics=["words"]).values()
    page = opened(build_report([ReportedSystem("a", {"words": words})]))
    assert page.locator("#system").is_hidden()
    assert page.locator("#metric").is_hidden()
    assert page.locator("#low").is_disabled()
    assert not page.get_by_text("systems disagree").count()
    bare = replace(words, judgements=(), categories=())
    page = opened(build_report([ReportedSystem("a", {"words": bare})]))
    assert page.locator("#samples").count() == 0
    assert page.locator("#summary tbody tr").count() >= 1


def test_the_page_has_a_dark_layout(opened: Opened) -> None:
    page = opened(reported.report())

    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    page.click("#theme")
    assert background() != light
    page.click("#theme")
    assert background() == light


def test_signatures_can_be_copied(opened: Opened) -> None:
    report = reported.report()
    page = opened(report)
    page.evaluate(
        "navigator.clipboard.writeText = "
        "(text) => { window.copied = text; return Promise.resolve(); }"
    )
    page.get_by_role("button", name="Copy the signature: first, words").click()
    page.get_by_text("Copied", exact=True).first.wait_for()
    assert page.evaluate("window.copied") == report.systems[0].results["words"].signature


def _judged_by_tiny(result: EvaluationResult) -> EvaluationResult:
    """Return the result with a calibration, which takes room above the table."""
    note = (
        "With the cues gender_brackets, cc-tiny-en-de agrees with WinoMT pattern matching on 90 %"
        " of 1,784 translations of WinoMT: 86 % where a woman is meant, 94 % where a man is meant"
    )
    signature = result.signature.replace(
        "eval:function hash_scores", "eval:cc-tiny-en-de@d644c6d303e7"
    )
    assert signature != result.signature
    return replace(result, signature=signature, notes=(*result.notes, note))


def test_all_winomt_is_complete(page: Page, opened: Opened, shared: Path, tmp_path: Path) -> None:
    """The largest page is under 5 MB, begins with the story, and is complete."""
    examples = load_examples("winomt", data_dir=shared / "upstream")
    systems = [
        replace(system, results={m: _judged_by_tiny(r) for m, r in system.results.items()})
        for system in four_systems(shared, tmp_path)
    ]
    page.set_viewport_size({"width": 1440, "height": 900})
    opened(build_report(systems, examples=examples, n_resamples=10))
    assert (tmp_path / "out.html").stat().st_size < 5_000_000
    for part in ("h1", ".evaluator", ".cite", "table.summary"):
        box = known(page.locator(part).bounding_box())
        assert 0 <= box["y"] < box["y"] + box["height"] <= 900, part
        assert 0 <= box["x"] < box["x"] + box["width"] <= 1440, part
    assert page.evaluate("document.querySelector('.scroll').scrollWidth <= innerWidth")
    text = assert_print_is_whole(page, tmp_path / "out.pdf")
    assert all(system.name in text for system in systems)
    assert page.locator("#count").inner_text() == "3,648 samples"
    men = [example for example in examples if example.category == "male"]
    choice = chosen(page, "1,826 of 3,648 samples", category="0")
    assert choice == [example.id for example in men][:40]
    texts: dict[str, list[str]] = {example.id: [] for example in examples}
    for system in systems:
        for judgement in system.results["contrastive_conditioning"].judgements:
            texts[judgement.example_id].append(judgement.translation)
    nurses = [e for e in men if "nurse" in " ".join([e.source, *texts[e.id]]).lower()]
    choice = chosen(page, f"{len(nurses)} of 3,648 samples", category="0", query="nurse")
    assert choice == [example.id for example in nurses][:40]
    item, example = samples(page).first, nurses[0]
    item.locator(".open").click()
    assert item.locator(".source").inner_text() == example.source
    assert item.locator("mark.focus").inner_text() == example.focus.text
    assert example.incorrect_sources[0] in item.locator(".details").inner_text()
    assert item.locator(".translation .text").all_inner_texts() == texts[example.id]
