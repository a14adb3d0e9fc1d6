from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from transformers import AutoTokenizer, EvalPrediction

import cc_hf
from cc_hf.errors import InputError, ResultWarning, UnknownNameError
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.text.unusable import UNUSABLE
from cc_hf.training import ProbingCallback, make_compute_metrics
from tests.helpers.metrics import compute_metric, metric_class
from tests.helpers.training import made_trainer, rows_of, write_people

DECLARATION = metric_class("contrastive_conditioning")
compute = functools.partial(compute_metric, "contrastive_conditioning")

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
    return np.array(
        [
            [*row, *[fill[number % len(fill)]] * (width - len(row))]
            for number, row in enumerate(rows)
        ]
    )


def prediction(tokenizer: Any, outputs: Sequence[str], targets: Sequence[str]) -> EvalPrediction:
    """Return a prediction as a trainer gives it: -100 or padding after the rows, a token before
    each output.
    """
    start, fill = tokenizer.pad_token_id, (-100, tokenizer.pad_token_id)
    predicted, labels = (
        tokenizer(text_target=list(texts))["input_ids"] for texts in (outputs, targets)
    )
    return EvalPrediction(
        predictions=padded([[start, *row] for row in predicted], fill),
        label_ids=padded(labels, fill),
    )


def as_decoded(tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Return texts as decoded: the tiny vocabulary lacks some letters."""
    return [
        " ".join(text.split())
        for text in tokenizer.batch_decode(
            tokenizer(text_target=list(texts))["input_ids"], skip_special_tokens=True
        )
    ]


def labels_of(tokenizer: Any, targets: Sequence[str] = TARGETS) -> list[list[int]]:
    return list(tokenizer(text_target=list(targets))["input_ids"])


@pytest.mark.parametrize("n_padding", [0, 1, 3])
def test_rows_padded_by_distributed_evaluation_are_ignored(tokenizer: Any, n_padding: int) -> None:
    found = make_compute_metrics(
        tokenizer, labels=labels_of(tokenizer), metrics=["bleu", "chrf"], targets=TARGETS
    )(prediction(tokenizer, [*OUTPUTS, *OUTPUTS[:n_padding]], [*TARGETS, *TARGETS[:n_padding]]))
    outputs = as_decoded(tokenizer, OUTPUTS)
    assert found == {
        "bleu": pytest.approx(BLEU().corpus_score(outputs, [TARGETS]).score / 100),
        "chrf": pytest.approx(CHRF().corpus_score(outputs, [TARGETS]).score / 100),
        "n": 7,
        "n_empty": 1,
    }
    assert 0 < found["bleu"] < 1


def test_labels_are_decoded_when_targets_are_missing(tokenizer: Any) -> None:
    shown = prediction(tokenizer, OUTPUTS, TARGETS)
    with_texts = make_compute_metrics(
        tokenizer,
        labels=labels_of(tokenizer),
        targets=tokenizer.batch_decode(labels_of(tokenizer), skip_special_tokens=True),
    )(shown)
    assert make_compute_metrics(tokenizer, labels=labels_of(tokenizer))(shown) == with_texts


def by_length(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return [
        float(1 + (7 * len(s) + 3 * len(t)) % 5) for s, t in zip(sources, translations, strict=True)
    ]


def test_metrics_of_the_package_take_examples_or_references(tokenizer: Any, tmp_path: Path) -> None:
    examples = cc_hf.load_examples(str(write_people(tmp_path)))[:7]
    references = [
        {
            "correct_sources": e.correct_sources,
            "incorrect_sources": e.incorrect_sources,
            "category": e.category,
        }
        for e in examples
    ]
    expected = compute(
        [text or "." for text in as_decoded(tokenizer, OUTPUTS)],
        references,
        evaluator=by_length,
        src_lang="en",
        tgt_lang="de",
    )
    shown = prediction(tokenizer, [*OUTPUTS, OUTPUTS[0]], [*TARGETS, TARGETS[0]])
    options: dict[str, Any] = {
        "labels": labels_of(tokenizer),
        "evaluator": by_length,
        "src_lang": "en",
        "tgt_lang": "de",
    }
    for given in (examples, references, {"contrastive_conditioning": references}):
        found = make_compute_metrics(
            tokenizer, metrics=["contrastive_conditioning", "bleu"], references=given, **options
        )(shown)
        assert {
            name: found[name]
            for name in ("accuracy", "min_accuracy", "accuracy_female", "weighted_accuracy")
        } == {
            name: expected[name]
            for name in ("accuracy", "min_accuracy", "accuracy_female", "weighted_accuracy")
        }
        assert (found["n"], found["n_empty"]) == (7, 1)
        assert "bleu" in found
    assert 0 < expected["accuracy"] < 1


def test_rows_of_another_evaluation_set_are_refused(tokenizer: Any) -> None:
    function = make_compute_metrics(tokenizer, labels=labels_of(tokenizer))
    with pytest.raises(InputError, match="expected the 7 rows of labels, got 5"):
        function(prediction(tokenizer, OUTPUTS[:5], TARGETS[:5]))
    with pytest.raises(InputError, match=r"row 3: expected the labels .*another evaluation set"):
        function(prediction(tokenizer, OUTPUTS, [*TARGETS[:3], "Ein Arzt.", *TARGETS[4:]]))
    with pytest.raises(InputError, match=r"row 0: .*that of another row: is the set shuffled"):
        function(prediction(tokenizer, OUTPUTS, TARGETS[::-1]))
    with pytest.raises(InputError, match="expected 7 rows, got 8, and row 7 is none of them"):
        function(prediction(tokenizer, [*OUTPUTS, "Ja."], [*TARGETS, "Gute Laune hatte er."]))
    shown = prediction(tokenizer, OUTPUTS, TARGETS)
    with pytest.raises(InputError, match=r"expected one prediction.*got 6 predictions and 7 rows"):
        function(EvalPrediction(predictions=shown.predictions[:6], label_ids=shown.label_ids))


def test_predictions_other_than_token_ids_are_refused(tokenizer: Any) -> None:
    function, labels = (
        make_compute_metrics(tokenizer, labels=labels_of(tokenizer)),
        prediction(tokenizer, OUTPUTS, TARGETS).label_ids,
    )
    logits = np.zeros((7, 9, 71), dtype=np.float32)
    for predictions in (logits, (logits, logits)):
        with pytest.raises(InputError, match="set predict_with_generate=True"):
            function(EvalPrediction(predictions=predictions, label_ids=labels))
    with pytest.raises(InputError, match="row 2: expected token ids from 0 to 70, got 71"):
        function(
            EvalPrediction(
                predictions=np.where(np.arange(7)[:, None] == 2, 71, labels), label_ids=labels
            )
        )
    with pytest.raises(InputError, match="leave out batch_eval_metrics"):
        function(prediction(tokenizer, OUTPUTS, TARGETS), compute_result=True)


def test_bad_options_are_refused_at_once(tokenizer: Any) -> None:
    labels = labels_of(tokenizer)
    with pytest.raises(UnknownNameError, match="unknown metric 'blue'; did you mean 'bleu'"):
        make_compute_metrics(tokenizer, labels=labels, metrics=["blue"])
    with pytest.raises(UnknownNameError, match=r"unknown option of the.*did you mean 'score'"):
        make_compute_metrics(
            tokenizer,
            labels=labels,
            metrics=["contrastive_conditioning"],
            options={"scores": "geometric"},
        )
    with pytest.raises(InputError, match="metrics: expected a list of names, got 'bleu'"):
        make_compute_metrics(tokenizer, labels=labels, metrics="bleu")
    with pytest.raises(InputError, match="labels: expected those of every row"):
        make_compute_metrics(tokenizer, labels=[])
    with pytest.raises(InputError, match=r"targets: expected one for each of the 7 rows of.*got 2"):
        make_compute_metrics(tokenizer, labels=labels, targets=TARGETS[:2])
    with pytest.raises(InputError, match="src_lang, tgt_lang: expected the languages"):
        make_compute_metrics(tokenizer, labels=labels, metrics=["contrastive_conditioning"])
    with pytest.raises(InputError, match="references: expected those of contrastive_conditioning"):
        make_compute_metrics(
            tokenizer,
            labels=labels,
            metrics=["contrastive_conditioning"],
            src_lang="en",
            tgt_lang="de",
        )
    with pytest.raises(InputError, match="references: expected one for each of the 7 rows"):
        make_compute_metrics(
            tokenizer,
            labels=labels,
            metrics=["contrastive_conditioning"],
            references=[{}],
            src_lang="en",
            tgt_lang="de",
        )


def test_the_function_works_in_a_trainer(tiny_marian: Path, tmp_path: Path, tokenizer: Any) -> None:
    rows = rows_of(tokenizer, 5)
    function = make_compute_metrics(
        tokenizer, labels=[row["labels"] for row in rows], metrics=["chrf"]
    )
    trainer = made_trainer(
        tiny_marian,
        tmp_path,
        [],
        eval_dataset=rows,
        compute_metrics=function,
        generation_max_length=30,
    )
    found = trainer.evaluate()
    shown = trainer.predict(rows)
    texts = tokenizer.batch_decode(
        np.where(shown.predictions < 0, tokenizer.pad_token_id, shown.predictions),
        skip_special_tokens=True,
    )
    targets = tokenizer.batch_decode([row["labels"] for row in rows], skip_special_tokens=True)
    assert found["eval_chrf"] == pytest.approx(
        CHRF().corpus_score([" ".join(text.split()) for text in texts], [targets]).score / 100
    )
    assert found["eval_n"] == 5
    with pytest.raises(InputError, match=r"got 4; .*another evaluation set"):
        trainer.evaluate(rows[:4])


def test_figures_equal_those_of_the_other_entry_points(tokenizer: Any, tmp_path: Path) -> None:
    examples = cc_hf.load_examples(str(write_people(tmp_path)))[:7]
    references = [
        {
            "correct_sources": e.correct_sources,
            "incorrect_sources": e.incorrect_sources,
            "category": e.category,
        }
        for e in examples
    ]
    options: dict[str, Any] = {
        "labels": labels_of(tokenizer),
        "evaluator": by_length,
        "src_lang": "en",
        "tgt_lang": "de",
        "metrics": ["contrastive_conditioning"],
    }
    shown = prediction(tokenizer, OUTPUTS, TARGETS)
    texts = [text or "." for text in as_decoded(tokenizer, OUTPUTS)]
    expected = judge(DECLARATION(), Material("en", "de", examples), texts, evaluator=by_length)
    found = make_compute_metrics(tokenizer, references=examples, **options)(shown)
    assert found == {**expected.scores, **expected.counts, "n": 7, "n_empty": 1}
    assert {"n_with_source", "n_repeated", "n_without_words"} == UNUSABLE.keys() & found.keys()
    assert make_compute_metrics(tokenizer, references=references, **options)(shown) == {
        name: value for name, value in found.items() if name not in UNUSABLE
    }


def test_the_embedded_evaluator_warns_of_unsuitable_cues(tokenizer: Any) -> None:
    references = [
        {
            "correct_sources": ["A baseball bat."],
            "incorrect_sources": ["A flying bat."],
            "category": "sport",
        }
    ] * len(TARGETS)
    function = make_compute_metrics(
        tokenizer,
        labels=labels_of(tokenizer),
        metrics=["contrastive_conditioning"],
        references=references,
        src_lang="en",
        tgt_lang="de",
    )
    with pytest.warns(ResultWarning, match="all 7 rows have other cues"):
        function(prediction(tokenizer, OUTPUTS, TARGETS))


def test_a_metric_that_judges_the_evaluator_is_refused(tokenizer: Any) -> None:
    with pytest.raises(InputError, match="expected metrics that judge translations of the model"):
        make_compute_metrics(
            tokenizer,
            labels=labels_of(tokenizer),
            metrics=["contrastive_translation_scoring"],
            references=[{}] * 7,
            src_lang="en",
            tgt_lang="de",
        )
    with pytest.raises(InputError, match="expected metrics that judge translations of the model"):
        ProbingCallback(
            cc_hf.load_material("wino_x", "mt_en_de.translations"),
            metrics=["contrastive_translation_scoring"],
        )


def test_references_of_wrong_type_are_refused(tokenizer: Any, tmp_path: Path) -> None:
    examples = cc_hf.load_examples(str(write_people(tmp_path)))[:6]
    with pytest.raises(InputError, match=r"references: row 6: expected a mapping or an.*got int"):
        make_compute_metrics(
            tokenizer,
            labels=labels_of(tokenizer),
            metrics=["contrastive_conditioning"],
            references=[*examples, 3],
            src_lang="en",
            tgt_lang="de",
        )
