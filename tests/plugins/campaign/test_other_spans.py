"""Error spans of other metrics beside ours, on rows that are written for the test: those of xCOMET
as unbabel-comet 2.2 writes them, others as mt-metrics-eval documents them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf import registry
from cc_hf.plugins.campaign.other_spans import OtherSpans
from cc_hf.plugins.campaign.spans import ErrorSpan
from tests.helpers.browser import Page
from tests.helpers.usual import cases, read_jsonl, write_jsonl, write_lines, write_text
from tests.plugins.campaign import made
from tests.plugins.campaign.test_campaign_command import judge, read_ratings
from tests.plugins.campaign.test_spans import EXAMPLES, RESULT, SOURCES, TEXTS


def marked(text: str, word: str, severity: str = "major") -> dict[str, Any]:
    """Return a span of xCOMET."""
    start = text.index(word)
    span = {"text": word, "confidence": 0.75, "severity": severity}
    return {**span, "start": start, "end": start + len(word)}


def segment(source: str, text: str, *errors: dict[str, Any]) -> dict[str, Any]:
    """Return what xCOMET writes of a translation: without errors, it has no list of them."""
    return {"src": source, "mt": text, "COMET": 0.5, **({"errors": [*errors]} if errors else {})}


def spans_of(folder: Path, name: str, text: str) -> OtherSpans:
    write_text(folder / "spans" / name, text)
    return OtherSpans.of_folder(folder)


def test_spans_of_xcomet_are_found_by_source_and_translation(tmp_path: Path) -> None:
    rows = [
        segment(SOURCES[0], TEXTS[0], marked(TEXTS[0], "Koch"), marked(TEXTS[0], "ging", "minor")),
        segment(SOURCES[3], TEXTS[3]),
        segment("Another one.", TEXTS[1], marked(TEXTS[1], "Pfleger")),
    ]
    others = spans_of(tmp_path, "xcomet.json", json.dumps({"in/en-de.a.txt": rows}))
    assert others.faults == []
    first, unread, other_source, right = others.of(RESULT, EXAMPLES)["xcomet"]
    assert first == (
        ErrorSpan(5, 9, None, "major", 0.75),
        ErrorSpan(11, 15, None, "minor", 0.75),
    )
    assert unread is other_source is None
    assert right == ()
    assert others.unread() == []


def test_spans_of_mt_metrics_eval_keep_their_fields(tmp_path: Path) -> None:
    error = {"start": 4, "end": 8, "category": "Fluency", "severity": "minor", "score": None}
    rows: list[dict[str, Any]] = [
        # Google's programs write further fields.
        {
            "source": SOURCES[0],
            "hypothesis": f" {TEXTS[0]}",
            "errors": [{**error, "is_source_error": True}, error],
            "system_id": "a",
        },
        {"source": SOURCES[1], "hypothesis": TEXTS[1], "errors": []},
    ]
    others = spans_of(tmp_path, "automqm.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    first, second, *_ = others.of(RESULT, EXAMPLES)["automqm"]
    # The blank at the beginning is not in our text; the source has none.
    assert first == (
        ErrorSpan(4, 8, "Fluency", "minor", None, is_source_error=True),
        ErrorSpan(3, 7, "Fluency", "minor", None),
    )
    assert second == ()


@cases(
    ("xcomet.json", "{", "expected JSON of comet-score"),
    ("xcomet.json", '{"a": [1]}', "a: item 1: expected an object, got 1"),
    ("xcomet.json", '{"a": [{"src": "A"}]}', "a: segment 1: expected the key 'mt'"),
    (
        "xcomet.json",
        json.dumps({"a": [segment("A", "B"), segment("A", "B", marked("Bcd", "cd"))]}),
        "a: segment 2: expected a span within 1 characters, got 1 to 3",
    ),
    (
        "xcomet.json",
        json.dumps({"a": [segment("A", "B", {**marked("B", "B"), "start": -1})]}),
        "start: expected a whole number from 0, got -1",
    ),
    ("automqm.jsonl", '{"source": "A"}', "line 1: expected the key 'hypothesis'"),
    ("words.json", "{}", "words is one that judges here"),
    ("x comet.json", "{}", "expected the name of a metric"),
)
def test_files_that_do_not_fit_are_named(
    name: str, text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.METRICS, "words", "tests.helpers.fake_metric:Words")
    (fault,) = spans_of(tmp_path, name, text).faults
    assert fault.file == f"spans/{name}"
    assert message in fault.reason


def test_a_metric_has_one_file_which_reads_something_that_is_judged(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "spans/a.jsonl", [])
    others = spans_of(tmp_path, "a.json", json.dumps({"a": [segment("A", "B")]}))
    (fault,) = others.faults
    assert fault.reason == "expected one file of a, got spans/a.json, too"
    assert others.of(RESULT, EXAMPLES) == {}
    (unread,) = others.unread()
    assert "got none in 1 rows" in unread.reason


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a system of 12 translations, of which the first three are right."""
    monkeypatch.setitem(registry.METRICS, "words", "tests.helpers.fake_metric:Words")
    made.write_rows(tmp_path)
    texts = made.texts("sysD", "en-de")
    write_lines(tmp_path / "in/en-de.sysD.txt", texts)
    sources = made.read_sources()
    rows = [segment(source, text) for source, text in zip(sources, texts, strict=True)]
    rows[0]["errors"] = [marked(texts[0], "Maria")]
    rows[4]["errors"] = [marked(texts[4], "Arzt")]
    rows[5]["errors"] = [marked(texts[5], "gestern")]
    del rows[11]
    write_text(tmp_path / "in/spans/xcomet.json", json.dumps({"in/en-de.sysD.txt": rows}))
    write_text(tmp_path / "in/spans/bad.json", "[]")
    return tmp_path


def test_a_campaign_has_spans_of_others_beside_its_own(campaign: Path) -> None:
    row = judge(campaign)
    assert [fault["file"] for fault in row["refused"]] == ["spans/bad.json"]
    (counts,) = row["spans"]
    assert (counts["pair"], counts["system"]) == ("en-de", "sysD")
    assert (counts["metric"], counts["other"]) == ("words", "xcomet")
    assert (counts["n_right"], counts["n_right_marked"]) == (3, 1)
    assert (counts["n_placed"], counts["n_elsewhere"]) == (8, 1)
    assert counts["n_same"] == 1
    lines = [r for r in read_jsonl(campaign / "out/spans.jsonl") if r["rater_id"] == "xcomet"]
    assert [line["segment_id"] for line in lines] == [1, 5, 6]
    ratings = read_ratings(campaign / "out/spans/en-de.xcomet.seg.rating")["sysD"]
    assert [len(r["errors"]) if r else None for r in ratings] == [1, 0, 0, 0, 1, 1, *[0] * 5, None]


def test_the_page_has_the_counts(campaign: Path, page: Page) -> None:
    judge(campaign)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((campaign / "out/index.html").as_uri())
    cells = page.locator("table.beside tbody tr").first.locator("th, td").all_inner_texts()
    assert cells == ["sysD", "words", "xcomet", "1", "1", "6", "1 of 3"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_campaign_without_spans_of_others_has_none(campaign: Path) -> None:
    (campaign / "in/spans/xcomet.json").unlink()
    (campaign / "in/spans/bad.json").unlink()
    assert judge(campaign)["spans"] == []
    assert 'table class="beside"' not in (campaign / "out/index.html").read_text("utf-8")
    assert not (campaign / "out/spans/en-de.xcomet.seg.rating").exists()
