"""Translations that people labelled: those that are neutral are uncertain under the embedded
evaluator, which agrees with people on the others by the default score and by that of the paper.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from tests.helpers.cases import cases

pytestmark = pytest.mark.shared

_LABELS = "ZurichNLP/contrastive-conditioning/human_validation/winomt/data/en-de.annotator1.jsonl"


def judged(rows: list[Any], translations: list[str], **options: str) -> cc_hf.EvaluationResult:
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    metric = make_metric("contrastive_conditioning", options)
    return judge(metric, Material("en", "de", rows), translations, evaluator=evaluator)


@cases(("geometric", 0.9375), ("arithmetic", 0.9225))
def test_people_agree_with_both_scores(score: str, agreement: float, shared: Path) -> None:
    path = shared / "gold/human_validation/winomt_annotations.en-de.jsonl"
    annotations = list(read_annotations(path))
    examples = {e.id: e for e in cc_hf.load_examples("winomt", data_dir=shared / "upstream")}
    translations = {a.example_id: a.translation for a in annotations}
    rows = [examples[name] for name in translations]
    result = judged(rows, list(translations.values()), score=score)
    assert agreement_with_labels(result, annotations).agreement == agreement


def test_all_translations_labelled_neutral_are_uncertain_and_few_others(shared: Path) -> None:
    upstream = shared / "upstream"
    annotations = read_annotations(upstream / _LABELS)
    examples = {e.id: e for e in cc_hf.load_examples("winomt", data_dir=upstream)}
    rows = [replace(examples[a.example_id], id=str(i)) for i, a in enumerate(annotations)]
    result = judged(rows, [a.translation for a in annotations])
    uncertain = {int(sample.example_id) for sample in uncertain_samples(result).samples}
    labels = [set(annotation.raw) for annotation in annotations]
    neutral, *gendered = (
        {number for number, raw in enumerate(labels) if raw == {label}}
        for label in ("Both / Neutral / Ambiguous", "Male", "Female")
    )
    assert (len(neutral), len(neutral & uncertain)) == (20, 20)
    assert (len(set.union(*gendered)), len(set.union(*gendered) & uncertain)) == (175, 27)
