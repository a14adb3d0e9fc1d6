import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from transformers import AutoTokenizer, EvalPrediction

import cc_hf
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.plugins.training.callback import ProbingCallback
from cc_hf.plugins.training.compute_metrics import make_compute_metrics
from cc_hf.plugins.training.sampling import stratified_sample
from cc_hf.plugins.training.validation_figures import STAND_IN, flat_figures, judgeable
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.text.unusable import UNUSABLE
from tests.helpers.people import PEOPLE, write_people
from tests.helpers.usual import EN_DE, cases, constant_scores, evaluate_dataset, refuses
from tests.plugins.training.trainers import made_trainer, rows_of

_SCORING = "contrastive_translation_scoring"


TARGETS = [
    "Der Arzt bat die Krankenschwester.",
    "Die Mechanikerin hatte gute Laune.",
    "Hilf dem Arzt.",
    "Der Arzt.",
    "Die Laune.",
    "Der Eingriff.",
    "Der Arzt hilft.",
]
OUTPUTS = [
    "Der Arzt bat die Mechanikerin.",
    "Die Mechanikerin hatte gute Laune.",
    "",
    "Der Arzt.",
    "Gute Laune.",
    "Der Eingriff.",
    "Die Arzt hilft.",
]


@pytest.fixture(scope="module")
def tokenizer(tiny_marian: Path) -> Any:
    return AutoTokenizer.from_pretrained(tiny_marian)


def padded(rows: Sequence[Sequence[int]], fill: Sequence[int]) -> npt.NDArray[np.int64]:
    """Pad rows to one width with these values in turn."""
    width = max(map(len, rows)) + 3
    return np.array([[*row, *[fill[n % 2]] * (width - len(row))] for n, row in enumerate(rows)])


def labels_of(tokenizer: Any, targets: Sequence[str] = TARGETS) -> list[list[int]]:
    return list(tokenizer(text_target=list(targets))["input_ids"])


def prediction(tokenizer: Any, outputs: Sequence[str], targets: Sequence[str]) -> EvalPrediction:
    """Return a prediction as a trainer gives it: -100 or padding after the rows, a token before
    each output.
    """
    start, fill = tokenizer.pad_token_id, (-100, tokenizer.pad_token_id)
    predicted = padded([[start, *row] for row in labels_of(tokenizer, outputs)], fill)
    return EvalPrediction(predicted, padded(labels_of(tokenizer, targets), fill))


def made(tokenizer: Any, **options: Any) -> Callable[..., dict[str, Any]]:
    """Make the function for the targets, and for contrastive conditioning from English to German if
    references are given.
    """
    if "references" in options:
        options = {"metrics": ["contrastive_conditioning"], **EN_DE, **options}
    return make_compute_metrics(tokenizer, **{"labels": labels_of(tokenizer), **options})


def as_decoded(tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Return texts as decoded: the tiny vocabulary lacks some letters."""
    decoded = tokenizer.batch_decode(labels_of(tokenizer, texts), skip_special_tokens=True)
    return [" ".join(text.split()) for text in decoded]


def references_of(examples: Sequence[Any]) -> list[dict[str, Any]]:
    names = "correct_sources", "incorrect_sources", "category"
    return [{name: getattr(example, name) for name in names} for example in examples]


@pytest.mark.parametrize("n_padding", [0, 1, 3])
def test_rows_padded_by_distributed_evaluation_are_ignored(tokenizer: Any, n_padding: int) -> None:
    made_result = made(tokenizer, metrics=["bleu", "chrf"], targets=TARGETS)(
        prediction(tokenizer, [*OUTPUTS, *OUTPUTS[:n_padding]], [*TARGETS, *TARGETS[:n_padding]])
    )
    outputs = as_decoded(tokenizer, OUTPUTS)
    scorers: dict[str, Any] = {"bleu": BLEU(), "chrf": CHRF()}
    expected = {k: s.corpus_score(outputs, [TARGETS]).score for k, s in scorers.items()}
    assert made_result == pytest.approx({**expected, "n": 7, "n_empty": 1}, abs=1e-4)
    assert 1 < made_result["bleu"] < 100


def test_labels_are_decoded_when_targets_are_missing(tokenizer: Any) -> None:
    shown = prediction(tokenizer, OUTPUTS, TARGETS)
    targets = tokenizer.batch_decode(labels_of(tokenizer), skip_special_tokens=True)
    assert made(tokenizer)(shown) == made(tokenizer, targets=targets)(shown)


def by_length(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    pairs = zip(sources, translations, strict=True)
    return [float(1 + (7 * len(s) + 3 * len(t)) % 5) for s, t in pairs]


@cases({}, {"neither": "0.5"})
def test_metrics_of_the_package_take_examples_or_references(
    options: dict[str, Any], tokenizer: Any, tmp_path: Path
) -> None:
    """The figures are those of the other entry points, and `UNUSABLE` needs the sources."""
    examples = cc_hf.load_examples(str(write_people(tmp_path)))[:7]
    references = references_of(examples)
    texts = [text or "." for text in as_decoded(tokenizer, OUTPUTS)]
    metric = make_metric("contrastive_conditioning", options)
    result = judge(
        metric, Material("en", "de", examples), texts, evaluator=FunctionEvaluator(by_length)
    )
    expected = {**result.scores, **result.counts, "n": 7, "n_empty": 1}
    of_sources = UNUSABLE.keys() - {"n_blank"}
    plain = {name: value for name, value in expected.items() if name not in of_sources}
    assert UNUSABLE.keys() <= expected.keys()  # "." is no translation
    shown = prediction(tokenizer, [*OUTPUTS, OUTPUTS[0]], [*TARGETS, TARGETS[0]])
    given: dict[str, Any] = {"evaluator": by_length, "metrics": [metric.name, "bleu"]}
    for rows in (examples, references, {metric.name: references}):
        made_result = made(tokenizer, references=rows, options=options, **given)(shown)
        assert made_result.pop("bleu") > 0
        assert made_result == (expected if rows is examples else plain)
    assert 0 < expected["accuracy"] < 1
    assert ("neither_share" in expected) == bool(options)


@cases(
    (OUTPUTS[:5], TARGETS[:5], "expected the 7 rows of labels, got 5"),
    (OUTPUTS, [*TARGETS[:3], "Ein Arzt.", *TARGETS[4:]], "row 3: .*another evaluation set"),
    (OUTPUTS, TARGETS[::-1], "row 0: .*that of another row: is the set shuffled"),
    ([*OUTPUTS, "Ja."], [*TARGETS, "Ja."], "7 rows, got 8, and row 7 is none of them"),
)
def test_other_rows_are_refused(outputs: Any, targets: Any, message: str, tokenizer: Any) -> None:
    refuses(message, made(tokenizer), prediction(tokenizer, outputs, targets))


def test_predictions_other_than_token_ids_are_refused(tokenizer: Any) -> None:
    function, shown = made(tokenizer), prediction(tokenizer, OUTPUTS, TARGETS)
    refuses("leave out batch_eval_metrics", function, shown, compute_result=True)
    logits, labels = np.zeros((7, 9, 71), dtype=np.float32), shown.label_ids
    beyond = np.where(np.arange(7)[:, None] == 2, 71, labels)
    for predictions, message in (
        (shown.predictions[:6], "expected one prediction.*got 6 predictions and 7 rows"),
        (logits, "set predict_with_generate=True"),
        ((logits, logits), "set predict_with_generate=True"),
        (beyond, "row 2: expected token ids from 0 to 70, got 71"),
    ):
        refuses(message, function, EvalPrediction(predictions=predictions, label_ids=labels))


@cases(
    ("after the labels", True, (0, 0)),
    ("generated, after padding", False, (0, 1)),
    ("generated, after another special token", False, (2, 1)),
    ("the labels themselves", False, (0, 0)),
)
def test_tokens_predicted_after_the_labels_are_warned_of(
    what: str, is_warned: bool, start: tuple[int, int], tokenizer: Any
) -> None:
    labels = padded(labels_of(tokenizer), [-100, -100])
    predicted = np.where(labels == -100, 5, labels)  # no end: an argmax goes on to the last column
    if what != "the labels themselves":
        predicted[::2, 1] = 7
    token, n = start
    if n:
        first = tokenizer.pad_token_id if token == 0 else tokenizer.all_special_ids[0]
        predicted = np.insert(predicted, 0, first, axis=1)[:, :-1]
    warned: Any = (
        pytest.warns(ResultWarning, match="after the tokens of the reference")
        if is_warned
        else contextlib.nullcontext()
    )
    with warned:
        made(tokenizer, metrics=["chrf"])(EvalPrediction(predicted, labels))


_CONDITIONING = {"metrics": ["contrastive_conditioning"]}


@cases(
    ({"metrics": ["blue"]}, "unknown metric 'blue'; did you mean 'bleu'"),
    ({**_CONDITIONING, "options": {"scores": "x"}}, "unknown option of the.*mean 'score'"),
    ({"metrics": "bleu"}, "metrics: expected a list of names, got one text, 'bleu'"),
    ({"labels": []}, "labels: expected those of every row"),
    ({"targets": TARGETS[:2]}, r"targets: expected one for each of the 7 rows of.*got 2"),
    (_CONDITIONING, "references, src_lang, tgt_lang: expected for contrastive_conditioning"),
    ({**_CONDITIONING, **EN_DE}, "references: expected for contrastive_conditioning, got none"),
    ({"references": [{}]}, "references: expected one for each of the 7 rows"),
    ({"metrics": [_SCORING], "references": [{}] * 7}, "metrics that judge translations of the"),
)
def test_unfit_options_are_refused(options: Any, message: str, tokenizer: Any) -> None:
    refuses(message, made, tokenizer, **options)


def test_references_of_wrong_type_are_refused(tokenizer: Any, tmp_path: Path) -> None:
    examples = cc_hf.load_examples(str(write_people(tmp_path)))[:6]
    refuses(r"references: row 6: expected .*got int", made, tokenizer, references=[*examples, 3])


def test_the_function_works_in_a_trainer(tiny_marian: Path, tmp_path: Path, tokenizer: Any) -> None:
    rows = rows_of(tokenizer, 5)
    labels = [row["labels"] for row in rows]
    options = {"eval_dataset": rows, "generation_max_length": 30}
    options["compute_metrics"] = made(tokenizer, labels=labels, metrics=["chrf"])
    trainer = made_trainer(tiny_marian, tmp_path, [], **options)
    actual, predicted = trainer.evaluate(), trainer.predict(rows).predictions
    predicted = np.where(predicted < 0, tokenizer.pad_token_id, predicted)
    decoded = partial(tokenizer.batch_decode, skip_special_tokens=True)
    texts = [" ".join(text.split()) for text in decoded(predicted)]
    score = CHRF().corpus_score(texts, [decoded(labels)]).score
    assert (actual["eval_chrf"], actual["eval_n"]) == (pytest.approx(score, abs=1e-4), 5)
    refuses(r"got 4; .*another evaluation set", trainer.evaluate, rows[:4])


def test_the_embedded_evaluator_warns_of_unsuitable_cues(tokenizer: Any) -> None:
    cues = {"correct_sources": ["A baseball bat."], "incorrect_sources": ["A flying bat."]}
    function = made(tokenizer, references=[{**cues, "category": "sport"}] * len(TARGETS))
    with pytest.warns(ResultWarning, match="all 7 rows have other cues"):
        function(prediction(tokenizer, OUTPUTS, TARGETS))


def test_a_metric_that_judges_the_evaluator_is_refused_by_the_callback() -> None:
    material = cc_hf.load_material("wino_x", "mt_en_de.translations")
    refuses("metrics that judge translations of the", ProbingCallback, material, metrics=[_SCORING])


def test_figures_of_further_metrics_carry_the_name_of_the_metric() -> None:
    data: Any = {"dataset": "simplegen", "translations": ["Sie ist Ärztin."] * 2664}
    result = evaluate_dataset(**data, evaluator=constant_scores)
    other = evaluate_dataset(**data, metric="simplegen_accuracy")
    actual = flat_figures([result, other], n_empty=3)
    named = {f"simplegen_accuracy_{k}": v for k, v in {**other.scores, **other.counts}.items()}
    assert {k: v for k, v in actual.items() if k.startswith("simplegen_accuracy_")} == named
    assert {"min_accuracy": 1.0, "n": 2664, "n_empty": 3, "n_ties": 2664}.items() <= actual.items()
    refuses("figures that are there already", flat_figures, [result, result, result])


def test_blank_translations_are_replaced_and_counted() -> None:
    assert judgeable([PEOPLE[0][0], "", "\u00a0"]) == ([PEOPLE[0][0], STAND_IN, STAND_IN], 2)


def example(number: int, category: str) -> ContrastiveSourceExample:
    sides = Focus("bat", 4), ("The flying bat.",), ("The wooden bat.",), category, "animal"
    return ContrastiveSourceExample(str(number), "en", "de", "The bat.", *sides)


@given(st.lists(st.sampled_from("abcd"), min_size=4, max_size=80), st.data())
def test_every_category_gets_its_share(categories: list[str], data: st.DataObject) -> None:
    examples = [example(number, category) for number, category in enumerate(categories)]
    sizes = Counter(categories)
    n = data.draw(st.integers(len(sizes), len(examples)))
    actual = stratified_sample(examples, n, seed=3)
    ids = [int(e.id) for e in actual]
    assert (len(ids), ids) == (n, sorted({*ids}))
    assert actual == stratified_sample(examples, n, seed=3)
    for category, size in sizes.items():
        share = sum(e.category == category for e in actual)
        assert share >= 1
        # no category needs more than its share to be present
        if all(n * other >= len(examples) for other in sizes.values()):
            assert abs(share - n * size / len(examples)) < 1


def test_different_seeds_draw_different_examples() -> None:
    examples = cc_hf.load_examples("simplegen", "en-de")
    assert stratified_sample(examples, 100, seed=0) != stratified_sample(examples, 100, seed=1)
    assert stratified_sample(examples, len(examples)) == examples


@pytest.mark.parametrize("n", [1, 4, 0])
def test_sizes_out_of_range_are_refused(n: int) -> None:
    examples = [example(number, category) for number, category in enumerate("abb")]
    refuses("n_examples: expected at least one for each of the 2", stratified_sample, examples, n)
    refuses("seed: expected 0 or more", stratified_sample, examples, 3, seed=-1)
