"""The metrics as users of `evaluate` call them, and as their cards show them."""

import doctest
import re
from pathlib import Path
from typing import Any

import evaluate
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.evaluate_modules import register
from cc_hf.evaluation.metric_help import inputs_description
from tests.helpers.metric_rows import LANGUAGES, row
from tests.helpers.papers import papers
from tests.helpers.usual import cases, compute_metric, hash_scores, known, metric_class, refuses

pytestmark = pytest.mark.filterwarnings("ignore:none of .* translations was read as")

_HERS = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt."}
_HIS = {"reference": "Er ist Arzt.", "contrastive_reference": "Sie ist Ärztin."}
_HIS_OF_PAIR = {**_HIS, "gender": "male", "pair": "a", "category": "x"}
_PAIRED = [_HIS_OF_PAIR, {**_HERS, "gender": "female", "pair": "a", "category": "y"}]
_SCORED = [
    {"source": "s", "correct_translation": "a", "contrastive_translations": ["b"], "category": "x"},
    {"source": "", "correct_translation": "a", "contrastive_translations": ("d",), "pair": "p"},
    {"correct_translation": "e", "contrastive_translations": []},
]
_SENSES = '{"1": {"senses": ["Arzt"], "ambiguous": []}, "2": ["Doktor"]}'
_HASHED = {"evaluator": hash_scores}


def rows(name: str, **fields: Any) -> list[dict[str, Any]]:
    """Return two references, the second with more fields."""
    first, second = (row(name, index, is_right=True)[1] for index in (0, 1))
    return [first, {**second, **fields}]


_MORE: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("contrastive_conditioning", rows("contrastive_conditioning"), _HASHED),
    ("contrastive_translation_scoring", _SCORED, _HASHED),
    ("coverage", rows("coverage", omission="true"), {**_HASHED, "tidy": True}),
    ("critical_errors", rows("critical_errors", errors="none"), {**_HASHED, "phenomena": "name"}),
    ("expected_form", rows("expected_form"), {"within": "translation"}),
    ("gender_accuracy", [_HERS, _HIS], {"undecided": "inconclusive"}),
    ("gender_accuracy", _PAIRED, {}),
    ("gender_fair_forms", rows("gender_fair_forms", neutral="Lesende"), {}),
    ("gender_form", rows("gender_form", groups="listener"), {}),
    ("homograph_accuracy", rows("homograph_accuracy", senses=_SENSES), {"wide": True}),
    ("prompted_choice", [{"answer": "1"}, {"answer": "2", "pair": "a"}], {"parser": "last"}),
    ("wino_x_pattern_matching", rows("wino_x_pattern_matching", pair="a"), {}),
    ("simplegen_accuracy", rows("simplegen_accuracy"), {"dictionary": "paper"}),
    ("winomt_pattern_matching", rows("winomt_pattern_matching"), {}),
    ("winomt_pattern_matching", rows("winomt_pattern_matching"), {"alignments": ["0-0 1-1", ""]}),
]
_PLAIN = sorted({*registry.METRICS} - {name for name, *_ in _MORE})
_KNOWN = [case for case in _MORE if case[0] in registry.METRICS]
with_cases = cases(*_KNOWN, *((name, rows(name), {}) for name in _PLAIN))


def load(root: Path, name: str, **options: Any) -> Any:
    return evaluate.load(str(root / "metrics" / name), **options)


@with_cases
def test_batches_and_options_at_load_give_the_same_result(
    name: str, references: Any, options: Any, root: Path
) -> None:
    declared = metric_class(name)
    texts = ["Der Arzt.", "" if declared.is_blank_allowed else "Ja."]
    tgt_lang = LANGUAGES.get(name, "de")
    options = {**options, "src_lang": "en", "tgt_lang": tgt_lang, "n_resamples": 20}
    given: Any = {"predictions": texts} if declared.takes_translations else {}
    expected = compute_metric(name, given.get("predictions"), references, **options)
    assert load(root, name).compute(**given, references=references, **options) == expected
    metric = load(root, name, **options)
    card = (root / f"cards/metrics/{name}.md").read_text(encoding="utf-8")
    assert f"\nlicense: {metric.license}\n" in card
    assert metric.homepage in {paper.url for paper in papers().values()}
    for index, reference in enumerate(references):
        batch = {key: [values[index]] for key, values in given.items()}
        metric.add_batch(**batch, references=[reference])
    assert metric.compute() == expected
    metric = load(root, name, **options)
    for index, reference in enumerate(references):
        metric.add(**{"prediction": texts[index]} if given else {}, reference=reference)
    assert metric.compute() == expected
    assert cc_hf.load_metric(name, **options).compute(**given, references=references) == expected


@with_cases
def test_bad_input_is_refused_first(name: str, references: Any, options: Any, root: Path) -> None:
    bad = [{**references[0], next(iter(references[0])): []}, *references[1:]]
    takes = metric_class(name).takes_translations
    wrong: list[tuple[Any, Any, str]] = [
        ([], [], "at least one (prediction|reference)"),
        (["x"] * 2, bad, "row 0: "),
        (["x"], references, "1 predictions and 2 references"),
        ([3, "x"], references, "row 0: expected a translation, got 3"),
    ]
    for texts, given, message in wrong if takes else wrong[:2]:
        predictions: Any = {"predictions": texts} if takes else {}
        refuses(
            message,
            load(root, name).compute,
            **predictions,
            references=given,
            tgt_lang="de",
            **options,
        )
    if not takes:
        metric = load(root, name, **options)
        for call in (metric.compute, metric.add_batch):
            refuses(
                f"predictions: expected none: {name} judges the",
                call,
                predictions=["a"] * 3,
                references=references,
            )


#: whose figures have fixed names; the others have a figure for each category of the data
_NAMED = {*registry.METRICS} - {"contrastive_conditioning", "mucow_pattern_matching"}


@pytest.mark.parametrize("name", sorted(_NAMED - {"winomt_pattern_matching"}))
def test_every_figure_is_described(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    card = (root / f"cards/metrics/{name}.md").read_text(encoding="utf-8")
    code = known(re.search(r"```python\n(.*?)```", card, re.DOTALL))
    register()  # the first import may have registered in another home
    monkeypatch.chdir(root)
    actual: dict[str, Any] = {}
    exec(compile(code.group(1), f"{name}.md", "exec"), actual)
    module = inputs_description(metric_class(name))
    of_data = {"accuracy_male", "accuracy_female"} if "scoring" in name else set()
    from cc_hf.plugins.omissions.critical_errors.rules import PHENOMENA

    categories = "|".join(("all", "pro", "anti", "MoFc", *PHENOMENA))
    for key in {*actual["result"]} - of_data:
        stem, category = re.fullmatch(rf"(.*?)(?:_({categories}))?", key).groups()  # type: ignore[union-attr]
        for text in (card, module):
            assert re.search(rf"\b{stem}\b", text), key
            assert category in (None, "all") or f"_{category}" in text, key
    for field in re.findall(r"\|(\w+):", f"|{actual['result']['signature'].partition('|')[2]}"):
        assert f"`{field}`" in card, field


@pytest.mark.parametrize("name", registry.METRICS)
def test_the_doctest_passes(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    text = load(root, name).inputs_description
    test = doctest.DocTestParser().get_doctest(text, {"evaluate": evaluate}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
