"""A result has a note when the evaluator judges data that it was not made for."""

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.data.card_sections import evaluator_caution
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.suitability import PUBLISHED, evaluator_notes
from cc_hf.fit_to_cite import false_alarms, reasons_not_to_cite
from cc_hf.models.location import TINY_EN_DE, EmbeddedModel
from cc_hf.schema import Focus, ProbingExample
from cc_hf.signature import own_judges
from tests.helpers.metrics import compute_metric
from tests.helpers.pairs import EN_DE, GENDER

_BATS = {"correct_sources": ["The baseball bat."], "incorrect_sources": ["The flying bat."]}
BAT = {**_BATS, "category": "sport"}


@pytest.fixture(scope="module")
def tiny() -> Evaluator:
    return cc_hf.load_evaluator("cc-tiny-en-de")


@pytest.mark.parametrize("name", registry.EVALUATORS)
def test_registry_and_card_show_the_evaluator(name: str) -> None:
    model: EmbeddedModel = registry.resolve("evaluator", name)
    assert cc_hf.load_evaluator(name).identity == model.identity
    assert sum(path.stat().st_size for path in model.path.iterdir()) <= 20_000_000
    card = model.card.read_text(encoding="utf-8")
    assert model.made_for in card
    for agreement in model.agreements:
        for share in (agreement.unweighted, agreement.weighted):
            assert share is None or f"| {100 * share:.2f}".removesuffix("0") + " % |" in card
        assert f"| {agreement.n:,} |" in card


def test_agreements_of_recommended_evaluators_are_the_published_ones(root: Path) -> None:
    from cc_hf.plugins.raters.published import published_agreement

    page = (root / "docs/evaluators.md").read_text(encoding="utf-8")
    assert [model.name for model in PUBLISHED] == ["facebook/wmt19-en-de", "facebook/wmt19-en-ru"]
    for model in PUBLISHED:
        assert f"`{model.name}` (of the paper)" in page
        for agreement in model.agreements:
            row: Any = published_agreement(
                agreement.dataset, model.tgt_lang, "contrastive_conditioning"
            )
            assert agreement.weighted == row.weighted_agreement
            assert f"{100 * row.weighted_agreement:.1f} %" in page


def test_cues_other_than_gender_brackets_are_noted(tiny: Evaluator) -> None:
    assert evaluator_notes(tiny, [GENDER, GENDER]) == ()
    (note,) = evaluator_notes(tiny, [GENDER, BAT])
    assert "1 of the 2 rows have other cues" in note
    assert "How often it is right on such data was not measured" in note
    assert "`cc-hf judge check` counts" in note
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
    assert evaluator_notes(FunctionEvaluator(lambda sources, translations: [1.0]), [BAT]) == ()


def test_the_model_is_known_by_its_weights(tiny: Any, tiny_marian: Path, tmp_path: Path) -> None:
    saved, named = tmp_path / "judge", tmp_path / "cc-tiny-en-de"
    tiny.model.save_pretrained(saved)  # in float32, where the package has bfloat16
    tiny.tokenizer.save_pretrained(saved)
    shutil.copytree(tiny_marian, named)
    for folder, is_tiny in ((saved, True), (named, False)):
        evaluator = cc_hf.load_evaluator(folder, **EN_DE)
        signed = evaluator.signature_fields()
        assert (evaluator.identity == tiny.identity) == is_tiny
        options = {"cues": "gender_brackets", "score": "geometric", "pool": "max"}
        judged = {**signed, **options, "langs": "en-de", "tie": "correct"}
        assert ("bias" in reasons_not_to_cite(judged, {}, 9, dataset="winomt")) == is_tiny
        assert bool(evaluator_notes(evaluator, [BAT])) == is_tiny
        assert bool(false_alarms(signed["eval"], "coverage")) == is_tiny
        assert bool(evaluator_caution(signed["eval"])) == is_tiny
        assert bool(own_judges(signed["eval"], f"cc-tiny-en-de@{tiny.identity}/beam5")) == is_tiny


_SENTENCE = {"source": "The nurse left.", "focus": "nurse"}
_GOLD = {**_SENTENCE, "gold": "female"}


@pytest.mark.parametrize(
    ("row", "cues", "is_other"),
    [
        (_GOLD, "gender_brackets", False),
        ({**_GOLD, "correct_cues": ["[female]"], "incorrect_cues": ["[male]"]}, "own", False),
        ({**_GOLD, "correct_cues": ["kind"], "incorrect_cues": ["angry"]}, "own", True),
    ],
)
def test_a_user_file_with_gender_brackets_is_what_it_was_made_for(
    row: Any, cues: str, is_other: bool, tiny: Evaluator, tmp_path: Path
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)
        result = cc_hf.evaluate(
            cc_hf.load_material(path, tgt_lang="de"), translations=["Sie ging."], evaluator=tiny
        )
    assert f"|cues:{cues}|" in result.signature
    assert result.unfit["evaluator"] == (
        "no labels show how far cc-tiny-en-de can be trusted on your file"
    )
    assert len(result.notes) == is_other
    assert "custom" not in " ".join([*result.notes, *result.unfit.values()])


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
        actual = judge(metric, four, ["Ja."] * 4, evaluator=tiny)
    expected = "Without an evaluator, mucow en-de is judged by mucow_pattern_matching"
    assert actual.notes[-1] == expected


def test_building_cues_warns_of_an_unsuitable_evaluator(tiny: Evaluator) -> None:
    from cc_hf.plugins.calibration.build import CueChoice, build_cues

    extra = {"ambiguous_word": "bat", "reference": "Es fliegt."}
    rows = [("en", "de", "a bat", "all", sense, Focus("bat", 2)) for sense in ("animal", "club")]
    examples = [ProbingExample(row[4], *row, extra) for row in rows]
    given = {"bat": {"animal": ["fruit"], "club": ["cricket"]}}
    with pytest.warns(ResultWarning, match="all 2 rows have other cues"):
        build_cues(examples, candidates=given, evaluator=tiny, choice=CueChoice(n_cues=1))
