from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from cc_hf.errors import MissingDependencyError
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.studies.disambiguation_bias.attacks.grammar import compare_grammar, language_tool
from tests.helpers.refusals import fails
from tests.studies.disambiguation_bias.attacks.helper import sample_of


def test_samples_with_more_errors_than_seeds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tool:
        def __init__(self, lang: str) -> None:
            assert lang == "en-US"

        def check(self, text: str) -> list[str]:
            return ["error"] * ("hot" in text)

    monkeypatch.setitem(sys.modules, "language_tool_python", SimpleNamespace(LanguageTool=Tool))
    samples = [sample_of("hot"), replace(sample_of("hot"), adv_cluster="metal"), sample_of("old")]
    share = compare_grammar(samples, language_tool())
    assert (share.k, share.n) == (1, 2)
    assert share.interval == wilson_interval(1, 2)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "language_tool_python", None)
    fails(MissingDependencyError, "pip install language_tool_python", language_tool)
