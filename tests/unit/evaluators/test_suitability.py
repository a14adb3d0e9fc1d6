"""A result has a note when the evaluator judges data that it was not made for."""

import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.comparing.people.published import published_agreement
from cc_hf.cue_building.build import CueChoice, build_cues
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.suitability import RECOMMENDED, evaluator_notes
from cc_hf.models.location import TINY_EN_DE, EmbeddedModel
from cc_hf.schema import Focus, ProbingExample
from tests.helpers.metrics import compute_metric
from tests.helpers.pairs import EN_DE, GENDER

_BATS = {"correct_sources": ["The baseball bat."], "incorrect_sources": ["The flying bat."]}
BAT = {**_BATS, "category": "sport"}


@pytest.fixture(scope="module")
def tiny() -> Evaluator:
    return cc_hf.load_evaluator("cc-tiny-en-de")


@pytest.mark.parametrize("name", registry.names("evaluator"))
def test_registry_and_card_show_the_evaluator(name: str, root: Path) -> None:
    model: EmbeddedModel = registry.resolve("evaluator", name)
    assert cc_hf.load_evaluator(name).identity == model.identity
    card = (root / f"cards/models/{name}.md").read_text(encoding="utf-8")
    assert model.made_for in card
    for one in model.agreements:
        for share in (one.unweighted, one.weighted):
            assert share is None or f"| {100 * share:.2f}".removesuffix("0") + " % |" in card
        assert f"| {one.n:,} |" in card


def test_agreements_of_recommended_evaluators_are_the_published_ones(root: Path) -> None:
    page = (root / "docs/evaluators.md").read_text(encoding="utf-8")
    assert [one.name for one in RECOMMENDED] == ["facebook/wmt19-en-de", "facebook/wmt19-en-ru"]
    for one in RECOMMENDED:
        assert f"`{one.name}` (recommended)" in page
        for agreement in one.agreements:
            metric = "contrastive_conditioning"
            row: Any = published_agreement(agreement.dataset, one.tgt_lang, metric)
            assert agreement.weighted == row.weighted_agreement
            assert f"{100 * row.weighted_agreement:.1f} %" in page


def test_cues_other_than_gender_brackets_are_noted(tiny: Evaluator) -> None:
    assert evaluator_notes(tiny, [GENDER, GENDER]) == ()
    (note,) = evaluator_notes(tiny, [GENDER, BAT])
    assert "1 of the 2 rows have other cues" in note
    assert "How often it is right on such data was not measured" in note
    assert "Use a large evaluator, such as facebook/wmt19-en-de" in note
    (note,) = evaluator_notes(tiny, [BAT], dataset="mucow")
    assert "this row has other cues" in note
    assert "57.8 %, 62.4 % weighted agreement with human annotators on mucow (n = 192)" in note
    noun = {"correct_sources": ["The [female] bat."], "incorrect_sources": ["The [male] club."]}
    for row in (noun, {**GENDER, "incorrect_sources": ["The doctor left."]}):
        assert evaluator_notes(tiny, [row])


def test_only_copies_of_it_have_notes(tiny: Evaluator, tiny_marian: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(TINY_EN_DE.path, tmp_path / "copy")
    assert evaluator_notes(cc_hf.load_evaluator(copy, **EN_DE), [BAT])
    assert evaluator_notes(cc_hf.load_evaluator(["cc-tiny-en-de", str(tiny_marian)]), [BAT])
    assert evaluator_notes(cc_hf.load_evaluator(tiny_marian), [BAT]) == ()
    assert evaluator_notes(lambda sources, translations: [1.0], [BAT]) == ()


@pytest.mark.parametrize("evaluator", [None, "cc-tiny-en-de"])
def test_the_evaluate_module_returns_notes_and_warns(evaluator: str | None) -> None:
    metric = cc_hf.load_metric("contrastive_conditioning")
    options = {"predictions": ["Der Schläger war alt."], "evaluator": evaluator, **EN_DE}
    with pytest.warns(ResultWarning, match="this row has other cues"):
        assert len(metric.compute(references=[BAT], **options)["notes"]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "notes" not in metric.compute(references=[GENDER], **options)


def test_notes_are_given_when_scores_come_from_the_cache(tmp_path: Path) -> None:
    options = {**EN_DE, "cache": tmp_path / "scores.sqlite"}
    for _ in range(2):
        with pytest.warns(ResultWarning, match="this row has other cues"):
            compute_metric("contrastive_conditioning", ["Ein Schläger."], [BAT], **options)


def test_the_note_on_mucow_names_a_metric_without_evaluator(shared: Path, tiny: Evaluator) -> None:
    material = cc_hf.load_material("mucow", "en-de", data_dir=shared / "upstream")
    metric = make_metric("contrastive_conditioning")
    four = replace(material, rows=material.examples[:4])
    with pytest.warns(ResultWarning, match=r"all 4 rows have other cues.* on mucow \(n = 192\)"):
        found = judge(metric, four, ["Ja."] * 4, evaluator=tiny)
    expected = "Without an evaluator, mucow en-de is judged by mucow_pattern_matching"
    assert found.notes[-1] == expected


def test_building_cues_warns_of_an_unsuitable_evaluator(tiny: Evaluator) -> None:
    extra = {"ambiguous_word": "bat", "reference": "Es fliegt."}
    rows = [("en", "de", "a bat", "all", sense, Focus("bat", 2)) for sense in ("animal", "club")]
    examples = [ProbingExample(row[4], *row, extra) for row in rows]
    given = {"bat": {"animal": ["fruit"], "club": ["cricket"]}}
    with pytest.warns(ResultWarning, match="all 2 rows have other cues"):
        build_cues(examples, candidates=given, evaluator=tiny, choice=CueChoice(n_cues=1))
