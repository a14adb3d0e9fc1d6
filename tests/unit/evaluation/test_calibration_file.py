import warnings
from dataclasses import replace
from typing import Any

import pytest

import cc_hf
from cc_hf.cues.wordings import Wording, named_wording
from cc_hf.errors import ResultWarning
from cc_hf.evaluation import calibration_file
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material, load_material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.metrics.base import Origin
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.usual import cases, fails, hash_scores, refuses

_WORDINGS = [named_wording(name, "en") for name in ("gender_brackets", "gender_nouns")]


def examples(n: int) -> list[ContrastiveSourceExample]:
    golds = ("male", "female", "female")
    return [
        ContrastiveSourceExample(
            *(str(i), "en", "de", f"Nurse {i} said that she left.", Focus("Nurse", 0)),
            *(("-",), ("=",), golds[i % 3], golds[i % 3]),
        )
        for i in range(n)
    ]


@cases(
    ("winomt", None, "gender_noun", "did you mean 'gender_nouns'|gender_nouns"),
    ("winomt", "all", "gender_nouns", "winomt all has no sources with cues"),
    ("winomt", None, 3, "cues: expected the name of a wording"),
    ("winomt", None, "missing.json", "missing.json"),
)
def test_unfit_cues_are_refused(dataset: str, config: str | None, cues: Any, message: str) -> None:
    fails(cc_hf.CCError, message, load_material, dataset, config, tgt_lang="de", cues=cues)


def test_a_metric_that_reads_no_cues_names_no_wording() -> None:
    material = load_material("simplegen", "en-de", cues="gender_nouns")
    texts = ["Sie ist Ärztin."] * 2664
    result = cc_hf.evaluate(material, translations=texts, metric="simplegen_accuracy")
    assert result.wording is None
    assert "|cues:" not in result.signature


def counterfactuals(n: int = 90) -> list[ContrastiveSourceExample]:
    """Return examples whose own sentence already shows the gender."""
    return [
        replace(example, correct_sources=(example.source,), incorrect_sources=("The other.",))
        for example in examples(n)
    ]


@pytest.mark.parametrize("wording", _WORDINGS, ids=lambda wording: wording.name)
def test_cues_on_top_of_a_source_that_shows_the_reading_are_refused(wording: Wording) -> None:
    material = Material("en", "de", counterfactuals(), wording=wording)
    message = r"cues: example '0': .* shows the reading; use .* own cues \(leave `cues` out\)"
    judged = ContrastiveConditioning(), material, ["x"] * 90
    refuses(message, judge, *judged, evaluator=FunctionEvaluator(hash_scores))


@cases(
    ("winomt", False, True, False),
    ("winomt", True, True, False),
    ("simplegen", False, False, False),
    ("simplegen", True, False, True),
)
def test_a_shipped_calibration_is_quoted_for_its_dataset_only(
    dataset: str, chosen_by_user: bool, quotes: bool, warns: bool
) -> None:
    cues = ((e, f"[{e.gold}] {e.source}", f"[other] {e.source}") for e in examples(4))
    rows = [replace(e, correct_sources=(c,), incorrect_sources=(i,)) for e, c, i in cues]
    origin = Origin(dataset, "", {"cues": "gender_brackets"})
    wording = _WORDINGS[0] if chosen_by_user else None
    material = Material("en", "de", rows, wording=wording, named=origin)
    evaluator, texts = load_evaluator("cc-tiny-en-de"), [f"Satz {i}" for i in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResultWarning)
        result = judge(ContrastiveConditioning(), material, texts, evaluator=evaluator)
    assert any(note.startswith(calibration_file.NOTE_BEGINNING) for note in result.notes) == quotes
    unmeasured = [note for note in result.notes if "not measured. Calibrate" in note]
    assert bool(unmeasured) == warns == any(str(w.message) in unmeasured for w in caught)


def test_the_shipped_calibrations_can_be_read() -> None:
    assert [c.tgt_lang for c in calibration_file.shipped_calibrations()] == ["pt", "de"]
    for calibration in calibration_file.shipped_calibrations():
        assert calibration.choice.report.auc >= 0.9
        assert calibration.note(calibration.chosen)
