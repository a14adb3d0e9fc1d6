"""What Python and notebooks show of results, what they save, and how progress is switched off."""

import io
import logging
import pickle
import sys
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import datasets
import pytest

from cc_hf import EvaluationResult, registry
from cc_hf.comparing.systems import compare
from cc_hf.displayed import frame
from cc_hf.errors import MissingDependencyError
from cc_hf.progress import Progress
from cc_hf.results import ResultSet
from tests.helpers import reported
from tests.helpers.metric_rows import judged, row
from tests.helpers.usual import fails, refuses, small_result, write_text


def hostile() -> EvaluationResult:
    (result,) = reported.results(1, metrics=["contrastive_conditioning"]).values()
    shown = EvaluationResult.from_dict({**result.to_dict(), "system": reported.HOSTILE_NAME})
    return shown


class Tags(HTMLParser):
    """The tags of a part of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names = set[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)


@pytest.mark.parametrize("metric", registry.names("metric"))
def test_the_result_of_every_metric_is_shown(metric: str) -> None:
    texts, references = zip(*(row(metric, i, is_right=i % 3 > 0) for i in range(12)), strict=True)
    result = judged(metric, texts, references)
    for shown in (result, ResultSet((result,))):
        lines = str(shown).splitlines()
        assert all(len(line) <= 80 or line.startswith("signature: ") for line in lines)
        assert len(lines) <= 40
        assert "What to cite: " in str(shown)
        assert "<table>" in shown._repr_html_()
    assert len(repr(result)) < 200
    assert pickle.loads(pickle.dumps(result)) == result
    assert str(EvaluationResult("", "", "de", "own", "own|n:1", 1, {}, {}, (), ()))


def test_texts_from_outside_are_escaped() -> None:
    result = hostile()
    comparison = compare({"first": result, reported.HOSTILE_NAME: result}, n_resamples=10)
    plain = {"div", "p", "b", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "small"}
    for shown in (result, comparison):
        html = shown._repr_html_()
        assert "&lt;b&gt;b|c" in html
        assert Tags(html).names <= plain
        assert reported.HOSTILE_NAME[-8:] in " ".join(str(shown).split())


def test_a_figure_is_had_by_its_name() -> None:
    result = small_result((0.5, 0.8))
    assert (result["min_accuracy"], result["n_correct"]) == (0.5, 26)
    assert ("accuracy" in result, "f1" in result) == (True, False)
    with pytest.raises(KeyError, match="did you mean 'accuracy'"):
        result["acuracy"]
    with pytest.raises(TypeError):
        list(result)  # type: ignore[call-overload]
    with pytest.raises(FrozenInstanceError):
        result.n = 1  # type: ignore[misc]


def test_tables_have_a_row_for_each_judgement_and_difference(monkeypatch: Any) -> None:
    (first, second) = small_result((0.5, 0.8)), small_result((0.7, 0.8))
    table = first.to_frame()
    assert len(table) == first.n
    assert table.groupby("category").is_correct.mean().to_dict() == {"female": 0.5, "male": 0.8}
    compared = compare({"a": first, "b": second}, n_resamples=10).to_frame()
    (accuracy,) = compared[compared.figure == "accuracy"].to_dict("records")
    assert (accuracy["system"], round(accuracy["difference"], 9)) == ("b", 0.1)
    assert accuracy["low"] < 0.1 < accuracy["high"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    fails(MissingDependencyError, "pip install pandas", frame, [])


def test_results_are_saved_read_and_reported(tmp_path: Path) -> None:
    result, both = small_result((0.5, 0.8), dataset=""), ResultSet((*reported.results(0).values(),))
    result.save(tmp_path / "one.json")
    assert EvaluationResult.load(tmp_path / "one.json") == result
    both.save(tmp_path / "both.json")
    read = ResultSet.load(str(tmp_path / "both.json")).results
    assert [r.scores for r in read] == [r.scores for r in both.results]
    refuses("use ResultSet.load", EvaluationResult.load, tmp_path / "both.json")
    result.report(tmp_path / "x.html")
    both.report(tmp_path / "x.md")
    assert "What to cite" in (tmp_path / "x.html").read_text(encoding="utf-8")
    assert (tmp_path / "x.md").read_text(encoding="utf-8").startswith("# d (c)")
    refuses("ends in .html or .md, got", result.report, tmp_path / "x.pdf")
    comparison = compare({"a": result, "b": result}, n_resamples=10)
    comparison.save(tmp_path / "c.json")
    assert (tmp_path / "c.json").read_text(encoding="utf-8") == comparison.to_json()
    write_text(tmp_path / "one.json", "{}")
    refuses("one.json: ", EvaluationResult.load, tmp_path / "one.json")


def shown_progress() -> str:
    stream = io.StringIO()
    with Progress(total=10, desc="scoring", file=stream, mininterval=0, leave=False) as progress:
        progress.update(10)
    return stream.getvalue()


def test_progress_follows_datasets_and_the_logger(caplog: Any) -> None:
    logger = logging.getLogger("cc_hf")
    assert shown_progress() == "scoring: 10 of 10\n"
    datasets.disable_progress_bars()
    try:
        assert shown_progress() == ""
    finally:
        datasets.enable_progress_bars()
    with caplog.at_level(logging.INFO, "cc_hf"):
        assert shown_progress() == ""
    assert caplog.messages == ["scoring: 10 of 10"]
    with caplog.at_level(logging.WARNING, "cc_hf"):
        assert shown_progress() == ""
    assert logger.level == logging.NOTSET


def test_a_notebook_draws_a_widget(monkeypatch: Any) -> None:
    """tqdm's bars of notebooks say by `gui` that they draw themselves, and take more options."""
    drawn: list[Any] = []
    monkeypatch.setattr(Progress.__mro__[1], "display", lambda *_, **options: drawn.append(options))
    stream = io.StringIO()
    with Progress(total=10, file=stream) as bar:
        bar.gui = True
        bar.n = 5
        bar.display(bar_style="success")
        assert (drawn, stream.getvalue()) == ([{"bar_style": "success"}], "")
