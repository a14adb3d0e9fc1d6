"""The screen of `make demo` fits a terminal and says what the rule of citing says."""

from dataclasses import replace

import pytest

from cc_hf.reports.formats.terminal import show
from cc_hf.results import CategoryAccuracy, EvaluationResult
from tests.helpers.usual import small_result
from tools.demo import screen

_NAMES = ("MoMc", "FoFc", "MoFc", "FoMc")
_SYSTEM = "cc-tiny-en-de@d644c6d303e7"


def _result(metric: str, n_unread: int, fields: str) -> EvaluationResult:
    """Of 100 translations in each category, 50 are right."""
    categories = (CategoryAccuracy(name, 100, 50, 0.5, n_inconclusive=n_unread) for name in _NAMES)
    signature = f"{fields}|data:simplegen/en-de@1.0.0|sys:{_SYSTEM}/beam5|langs:en-de|n:400"
    return replace(
        small_result((0.4, 0.9), dataset="simplegen", config="en-de", metric=metric),
        n=400,
        scores={"accuracy": 0.5, "min_accuracy": 0.5, **{f"accuracy_{n}": 0.5 for n in _NAMES}},
        categories=tuple(categories),
        signature=signature,
    )


def test_the_screen_shows_both_metrics_and_which_to_cite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = _result("simplegen_accuracy", 30, "sg|dict:default")
    judge = _result("contrastive_conditioning", 0, f"cc|eval:{_SYSTEM}")
    show(screen(words, judge), width=80)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "20.0 (13.3–28.9) 30.0 (21.9–39.6) 50.0 (40.4–59.6)" in text
    assert [name for name in _NAMES if f"({name})" not in text] == []
    assert "Cite the shares by the dictionary" in text
    assert "Do not cite the shares by contrastive conditioning: judged by itself" in text
