"""The metrics that compare words, as users of `evaluate` call them and as their cards show them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import evaluate
import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluate_modules import register
from tests.helpers.cases import cases_by_words
from tests.helpers.metrics import compute_metric

_HERS = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt."}
_HIS = {"reference": "Er ist Arzt.", "contrastive_reference": "Sie ist Ärztin."}
_OCCUPATION = {"occupation": "physician", "number": "sg", "gender": "female", "category": "MoFc"}
_IT = {
    "source": "The vase broke because it was old.",
    "correct_gender": "male",
    "incorrect_gender": "female",
    "category": "female",
}
_HOMOGRAPH = {
    "source": "The physician.",
    "homograph": "physician",
    "start": 4,
    "cluster": "1",
    "senses": '{"1": {"senses": ["Arzt"], "ambiguous": []}, "2": ["Doktor"]}',
}
_GAP = [
    {"reference": "Er ist Arzt.", "gender": "male", "pair": "a"},
    {"reference": "Sie ist Ärztin.", "gender": "female", "pair": "a"},
]
_PAIRED = [
    {**_HIS, "gender": "male", "pair": "a", "category": "x"},
    {**_HERS, "gender": "female", "pair": "a", "category": "y"},
]
CASES: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("gender_accuracy", [_HERS, _HIS], {"undecided": "inconclusive"}),
    ("gender_accuracy", _PAIRED, {}),
    ("gender_quality_gap", _GAP, {}),
    ("homograph_accuracy", [_HOMOGRAPH, {**_HOMOGRAPH, "category": "rare"}], {"wide": True}),
    ("prompted_choice", [{"answer": "1"}, {"answer": "2", "pair": "a"}], {"parser": "last"}),
    ("wino_x_pattern_matching", [_IT, {**_IT, "pair": "a"}], {}),
    ("simplegen_accuracy", [_OCCUPATION, _OCCUPATION], {"dictionary": "paper"}),
]
NAMES = sorted({name for name, _, _ in CASES})


def load(root: Path, name: str, **options: Any) -> Any:
    return evaluate.load(str(root / "metrics" / name), **options)


@cases_by_words(("name", "references", "options"), CASES, "name")
def test_compute_equals_the_core_in_batches_and_with_options_at_load(
    root: Path, name: str, references: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    texts, options = (
        ["Der Arzt.", ""],
        {
            **options,
            "src_lang": "en",
            "tgt_lang": "de",
            "n_resamples": 20,
        },
    )
    expected = compute_metric(name, texts, references, **options)
    assert load(root, name).compute(predictions=texts, references=references, **options) == expected
    metric = load(root, name, **options)
    for text, reference in zip(texts, references, strict=True):
        metric.add_batch(predictions=[text], references=[reference])
    assert metric.compute() == expected
    assert (
        cc_hf.load_metric(name, **options).compute(predictions=texts, references=references)
        == expected
    )


@cases_by_words(("name", "references", "options"), CASES, "name")
def test_bad_input_is_refused_before_evaluate_converts_it(
    root: Path, name: str, references: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    for texts, rows, message in (
        ([], [], "at least one prediction"),
        (["x"], references, "1 predictions and 2 references"),
        ([3, "x"], references, "row 0: expected a translation, got 3"),
    ):
        with pytest.raises(InputError, match=message):
            load(root, name).compute(predictions=texts, references=rows, tgt_lang="de", **options)


@pytest.mark.parametrize("name", NAMES)
def test_the_card_example_runs_and_the_module_describes_every_figure(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = (root / f"cards/metrics/{name}.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert code is not None
    register()  # the first import may have registered in another home
    monkeypatch.chdir(root)
    found: dict[str, Any] = {}
    exec(compile(code.group(1), f"{name}.md", "exec"), found)
    module = (root / f"metrics/{name}/{name}.py").read_text(encoding="utf-8")
    for key in found["result"]:
        stem, category = re.fullmatch(r"(.*?)(?:_(all|pro|anti|MoFc))?", key).groups()  # type: ignore[union-attr]
        for text in (card, module):
            assert re.search(rf"\b{stem}\b", text), key
            assert category in (None, "all") or f"_{category}" in text, key
    for field in re.findall(r"\|(\w+):", f"|{found['result']['signature'].partition('|')[2]}"):
        assert f"`{field}`" in card, field


@pytest.mark.parametrize("name", NAMES)
def test_the_doctest_of_the_module_passes(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import doctest

    monkeypatch.chdir(root)
    text = load(root, name).inputs_description
    test = doctest.DocTestParser().get_doctest(text, {"evaluate": evaluate}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
