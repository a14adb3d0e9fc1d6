from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Seq2SeqTrainingArguments
from transformers.trainer_pt_utils import LabelSmoother

import cc_hf
from cc_hf.errors import EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.studies.wino_x.pronoun_forms import find_pronouns
from cc_hf.studies.wino_x.pronoun_penalty import (
    PronounPenaltyTrainer,
    form_logprobs,
    pronoun_penalty,
    smoothed_cross_entropy,
)
from cc_hf.studies.wino_x.translation_pairs import (
    EncodedPair,
    FormPaths,
    PairCollator,
    encode_pairs,
)
from tests.helpers.wino_x_schemas import lay_out, mt_rows, save_schema_marian

TOY = {"er": 0.2, "sie": 0.5, "es": 0.1, "rest": 0.2}  # of one position


def test_the_penalty_equals_that_computed_by_hand() -> None:
    """r = er: N = .2 + .5 + .1 = .8, PP = 1 - .2/.8 + .5/.8 = 1.375; r = sie: 1 - .5/.8 + .2/.8 =
    .625; r = es: 1 - .1/.8 + .5/.8 = 1.5.
    """
    rows = torch.tensor(
        [
            [TOY[form] for form in order]
            for order in (("er", "sie", "es"), ("sie", "er", "es"), ("es", "er", "sie"))
        ],
        dtype=torch.float64,
    )
    assert pronoun_penalty(rows.log()).tolist() == pytest.approx([1.375, 0.625, 1.5], abs=1e-15)
    edges = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.0]], dtype=torch.float64)
    assert pronoun_penalty(edges.log()).tolist() == pytest.approx([0.0, 2.0, 1.0], abs=1e-15)
    # no underflow
    assert pronoun_penalty(torch.tensor([[-400.0, -401.0], [-800.0, -801.0]]))[
        0
    ].item() == pytest.approx(1 - 1 / (1 + math.exp(-1)) + 1 / (1 + math.e))
    with pytest.raises(InputError, match=r"shape \(pronouns, 2 or more forms\), got \(3, 1\)"):
        pronoun_penalty(torch.zeros(3, 1))


def test_the_gradient_equals_that_computed_by_hand() -> None:
    """With shares q = P / N over the forms, d PP / d logit_j = -q_r ([j = r] - q_j) + q_m ([j = m]
    - q_j); for a token that is not a form it is 0.
    """
    logits = torch.tensor(
        [[math.log(p) for p in TOY.values()]], dtype=torch.float64, requires_grad=True
    )
    penalty = pronoun_penalty(logits.log_softmax(-1)[:, :3])  # r = er, so m = sie
    penalty.sum().backward()  # type: ignore[no-untyped-call]
    q = [0.25, 0.625, 0.125]
    expected = [-0.25 * ((j == 0) - q[j]) + 0.625 * ((j == 1) - q[j]) for j in range(3)]
    assert logits.grad is not None
    assert logits.grad[0].tolist() == pytest.approx([*expected, 0.0], abs=1e-15)
    assert torch.autograd.gradcheck(
        lambda x: pronoun_penalty(x.log_softmax(-1)[:, :3]),
        (torch.randn(5, 6, dtype=torch.float64, requires_grad=True),),
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_cross_entropy_equals_that_of_transformers(smoothing: float) -> None:
    torch.manual_seed(0)
    logits, labels = torch.randn(3, 5, 11, dtype=torch.float64), torch.randint(11, (3, 5))
    labels[0, 3:] = labels[2, :1] = -100
    found = (
        smoothed_cross_entropy(logits.log_softmax(-1), labels, smoothing) / labels.ne(-100).sum()
    )
    assert float(found) == pytest.approx(
        float(LabelSmoother(smoothing)({"logits": logits}, labels.clone())), rel=1e-7
    )


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ([[9, 1, 8, 0], [9, 2, 8, 0], [9, 3, 8, 0]], FormPaths(1, ((1,), (2,), (3,)))),
        ([[9, 1, 8, 0], [9, 2, 4, 8, 0], [9, 2, 5, 8, 0]], FormPaths(1, ((1,), (2, 4), (2, 5)))),
        ([[1, 8, 0], [1, 4, 8, 0], [1, 5, 8, 0]], FormPaths(1, ((), (4,), (5,)))),  # он, она, оно
        ([[1, 4, 8, 0], [1, 8, 0], [1, 5, 8, 0]], FormPaths(1, ((4,), (), (5,)))),
        # equal parts are not counted twice
        ([[7, 7, 7, 0], [7, 7, 0]], FormPaths(2, ((7,), ()))),
        ([[9, 1, 8, 0], [9, 2, 8, 0], [9, 2, 8, 0]], None),
    ],
    ids=[
        "one token each",
        "two tokens",
        "first is a prefix",
        "second is a prefix",
        "repeated token",
        "equal variants",
    ],
)
def test_forms_are_separated_at_their_first_different_token(
    variants: Sequence[Sequence[int]], expected: FormPaths | None
) -> None:
    assert FormPaths.of(variants) == expected


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> list[ContrastiveTranslationExample]:
    return cc_hf.load_examples(
        "wino_x",
        "mt_en_de.translations",
        data_dir=lay_out(tmp_path_factory.mktemp("data"), "mt", mt_rows(20)),
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return an evaluator whose pronouns are one token each."""
    return load_evaluator(
        save_schema_marian(tmp_path_factory.mktemp("whole"), n_pieces=140), mode="exact"
    )


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return an evaluator whose "er", "sie" and "es" consist of several tokens."""
    return load_evaluator(
        save_schema_marian(tmp_path_factory.mktemp("cut"), n_pieces=44), mode="exact"
    )


def naive_shares(
    evaluator: Seq2SeqEvaluator,
    source: Sequence[int],
    prefix: Sequence[int],
    forms: Sequence[Sequence[int]],
) -> list[float]:
    """Return P of each form given the tokens before it, by one forward pass per token."""
    found = []
    for form in forms:
        total = 0.0
        for i, token in enumerate(form):
            before = torch.tensor([[*evaluator.decoder_start, *prefix, *form[:i]]])
            logits = evaluator.model(
                input_ids=torch.tensor([list(source)]), decoder_input_ids=before, use_cache=False
            ).logits[0, -1]
            total += float(logits.double().log_softmax(-1)[token])
        found.append(math.exp(total))
    return found


@pytest.mark.parametrize("kind", ["whole", "cut"])
@torch.no_grad()
def test_form_probabilities_equal_one_pass_per_token(
    kind: str, request: pytest.FixtureRequest, schemas: list[ContrastiveTranslationExample]
) -> None:
    evaluator = request.getfixturevalue(kind)
    examples = [schemas[i] for i in (0, 3, 8, 13)]
    pairs = encode_pairs(evaluator, examples, pronouns="all")
    assert [len(pair.pronouns) for pair in pairs] == [1] * 4
    assert (
        max(len(path) for pair in pairs for found in pair.pronouns for path in found.paths) > 1
    ) is (kind == "cut")
    batch = PairCollator.of(evaluator)(pairs)
    n_labels = sum(len(pair.target) for pair in pairs)
    assert int(batch["labels"].ne(-100).sum()) == n_labels  # rows of forms and padding add none
    names = ("input_ids", "attention_mask", "decoder_input_ids")
    logprobs = (
        evaluator.model(**{name: batch[name] for name in names}, use_cache=False)
        .logits.double()
        .log_softmax(-1)
    )
    found = form_logprobs(logprobs, batch["form_reads"], batch["form_is_longer"])
    for row, (pair, example) in enumerate(zip(pairs, examples, strict=True)):
        (paths,) = pair.pronouns
        expected = naive_shares(evaluator, pair.source, pair.target[: paths.start], paths.paths)
        longest = [
            [
                other
                for other in range(3)
                if other != one and paths.paths[other][: len(paths.paths[one])] == paths.paths[one]
            ]
            for one in range(3)
        ]
        exclusive = [
            p - sum(expected[other] for other in longest[one]) for one, p in enumerate(expected)
        ]
        assert found[row].exp().tolist() == pytest.approx(exclusive, rel=1e-4)
        (occurrence,) = find_pronouns(example.correct_translation, "de")
        assert occurrence.text == example.extra["correct_pronoun"]
    whole_targets = evaluator.score_batch(
        [pair.source for pair in pairs], [pair.target for pair in pairs]
    )
    assert float(-smoothed_cross_entropy(logprobs, batch["labels"], 0.0)) == pytest.approx(
        whole_targets.sum_logprob.sum(), rel=1e-5
    )


def test_forms_that_are_prefixes_exclude_the_longer_forms() -> None:
    """P(он) = .6, P(она | он) = .5, P(оно | он) = .2: alone it is .6 (1 - .7) = .18 of N = .6, so
    PP(он) = 1 - .3 + .5 = 1.2.
    """
    pair = EncodedPair((1, 0), (6, 7, 0), (FormPaths(1, ((), (4,), (5,))),))
    batch = PairCollator(pad=9, decoder_start=[9])([pair])
    assert batch["form_reads"].tolist() == [[0, 1, 4, 1], [0, 1, 5, 2]]
    probabilities = torch.full((1, 3, 10), 0.05, dtype=torch.float64)
    probabilities[0, 1, 4], probabilities[0, 1, 5] = 0.5, 0.2
    logprobs = probabilities.log().requires_grad_()
    found = form_logprobs(logprobs, batch["form_reads"], batch["form_is_longer"])
    assert found.exp()[0].tolist() == pytest.approx([0.3, 0.5, 0.2])
    assert pronoun_penalty(found).tolist() == pytest.approx([1.2])
    pronoun_penalty(found).sum().backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    assert bool(torch.isfinite(logprobs.grad).all())


def test_forms_follow_the_capitals_and_spaces_of_the_text(whole: Any) -> None:
    texts = [
        "Er traf den Ball, weil es (er) dünn war.",
        "sie war schwer.",
        "Das Buch, weil  er, dünn war.",
    ]
    examples = [
        ContrastiveTranslationExample(
            str(i), "en", "de", "The ball hit the lamp.", text, ("x",), "male", {"pair": str(i)}
        )
        for i, text in enumerate(texts)
    ]
    for example, pair in zip(examples, encode_pairs(whole, examples, pronouns="all"), strict=True):
        occurrences = find_pronouns(example.correct_translation, "de")
        assert len(pair.pronouns) == len(occurrences) > 0
        for occurrence, found in zip(occurrences, pair.pronouns, strict=True):
            for text, path in zip(
                occurrence.variants(example.correct_translation), found.paths, strict=True
            ):
                (ids,) = whole.encode_targets([text], "en", "de")
                assert tuple(ids[found.start :])[: len(path)] == path
                assert list(pair.target[: found.start]) == ids[: found.start]


def test_the_penalty_can_be_limited_to_the_ambiguous_pronoun(whole: Any) -> None:
    text, other = "Er traf die Lampe, weil sie dünn war.", "Er traf die Lampe, weil er dünn war."
    example = ContrastiveTranslationExample(
        "1",
        "en",
        "de",
        "He hit the lamp because it was fragile.",
        text,
        (other,),
        "female",
        {"pair": "1"},
    )
    (all_of_them,), (one,) = (
        encode_pairs(whole, [example], pronouns=which) for which in ("all", "ambiguous")
    )
    assert [found.start for found in all_of_them.pronouns][1:] == [
        found.start for found in one.pronouns
    ]
    assert encode_pairs(whole, [example])[0].pronouns == ()


def test_bad_examples_and_settings_are_refused(
    whole: Any, schemas: list[ContrastiveTranslationExample], tmp_path: Path
) -> None:
    def example(text: str, lang: str = "de") -> ContrastiveTranslationExample:
        return ContrastiveTranslationExample(
            "1", "en", lang, "It left.", text, ("x",), "male", {"pair": "1"}
        )

    with pytest.raises(InputError, match="expected one of all, ambiguous, got 'some'"):
        encode_pairs(whole, schemas, pronouns="some")
    with pytest.raises(InputError, match="none of the 1 correct translations has a pronoun"):
        encode_pairs(whole, [example("Das Boot")], pronouns="all")
    with pytest.raises(InputError, match="expected at least one example, got none"):
        encode_pairs(whole, [])
    with pytest.raises(EvaluatorError, match=r"example '1': .* writes two of the pronouns"):
        encode_pairs(whole, [example("ES war.")], pronouns="all")  # the vocabulary has no capitals
    with pytest.raises(TooLongError, match="row 0: the translation has"):
        encode_pairs(whole, [example("Ball " * 70)])
    with pytest.raises(InputError, match="expected 0 or more, got -1"):
        trainer(whole, tmp_path, weight=-1.0)


def trainer(
    evaluator: Any,
    folder: Path,
    *,
    weight: float,
    smoothing: float = 0.1,
    accumulation: int = 1,
    batch: int = 4,
) -> PronounPenaltyTrainer:
    arguments = Seq2SeqTrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=accumulation,
        label_smoothing_factor=smoothing,
        report_to="none",
        use_cpu=True,
        remove_unused_columns=False,
        disable_tqdm=True,
        save_strategy="no",
        logging_strategy="no",
        dataloader_pin_memory=False,
    )
    return PronounPenaltyTrainer(
        penalty_weight=weight,
        model=evaluator.model,
        args=arguments,
        data_collator=PairCollator.of(evaluator),
    )


@pytest.mark.parametrize("kind", ["whole", "cut"])
def test_the_loss_equals_equation_4_9(
    kind: str,
    request: pytest.FixtureRequest,
    schemas: list[ContrastiveTranslationExample],
    tmp_path: Path,
) -> None:
    evaluator = request.getfixturevalue(kind)
    pairs = encode_pairs(evaluator, schemas[:5], pronouns="all")
    expected, n_labels = 0.0, 0
    with torch.no_grad():
        for pair in pairs:
            rows = (
                torch.tensor([pair.source]),
                torch.tensor([[*evaluator.decoder_start, *pair.target[:-1]]]),
            )
            logprobs = (
                evaluator.model(input_ids=rows[0], decoder_input_ids=rows[1], use_cache=False)
                .logits[0]
                .double()
                .log_softmax(-1)
            )
            chosen = logprobs[range(len(pair.target)), list(pair.target)]
            expected += float(-0.9 * chosen.sum() - 0.1 * logprobs.mean(-1).sum())
            (paths,) = pair.pronouns
            correct, *wrong = naive_shares(
                evaluator, pair.source, pair.target[: paths.start], paths.paths
            )
            assert not any(
                a != b and b[: len(a)] == a for a, b in itertools.permutations(paths.paths, 2)
            )
            expected += 7.0 * (
                1 - correct / (correct + sum(wrong)) + max(wrong) / (correct + sum(wrong))
            )
            n_labels += len(pair.target)
    batch = PairCollator.of(evaluator)(pairs)
    found = trainer(evaluator, tmp_path, weight=7.0)
    assert found.compute_loss(evaluator.model, batch).item() == pytest.approx(
        expected / n_labels, rel=1e-5
    )
    assert found.compute_loss(
        evaluator.model, batch, num_items_in_batch=torch.tensor(1000)
    ).item() == pytest.approx(expected / 1000, rel=1e-5)
    without = trainer(evaluator, tmp_path, weight=0.0).compute_loss(evaluator.model, batch)
    unpenalized = trainer(evaluator, tmp_path, weight=0.0).compute_loss(
        evaluator.model, PairCollator.of(evaluator)(encode_pairs(evaluator, schemas[:5]))
    )
    assert without.item() == pytest.approx(unpenalized.item(), rel=1e-5)


@pytest.mark.parametrize("kind", ["whole", "cut"])
def test_accumulated_gradients_equal_those_of_one_batch(
    kind: str,
    request: pytest.FixtureRequest,
    schemas: list[ContrastiveTranslationExample],
    tmp_path: Path,
) -> None:
    """The Trainer counts the labels itself; batches differ in length and in padding."""
    evaluator = request.getfixturevalue(kind)
    pairs = encode_pairs(
        evaluator, sorted(schemas, key=lambda e: len(e.correct_translation))[::5], pronouns="all"
    )
    assert len(pairs) == 8
    gradients = []
    for n_parts in (1, 4):
        found = trainer(evaluator, tmp_path, weight=100.0, accumulation=n_parts)
        found.current_gradient_accumulation_steps = n_parts
        batches = [PairCollator.of(evaluator)(pairs[i::n_parts]) for i in range(n_parts)]
        _, n_items = found.get_batch_samples(iter(batches), n_parts, torch.device("cpu"))
        assert int(n_items) == sum(len(pair.target) for pair in pairs)
        evaluator.model.zero_grad()
        for batch in batches:
            found.training_step(evaluator.model, batch, n_items)
        gradients.append(
            {
                name: p.grad.clone()
                for name, p in evaluator.model.named_parameters()
                if p.grad is not None
            }
        )
    evaluator.model.zero_grad()
    evaluator.model.eval()
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, rtol=1e-3, atol=1e-5, msg=name)
    assert any(bool(gradient.any()) for gradient in gradients[0].values())


def test_a_nan_loss_raises_an_error_with_a_remedy(
    whole: Any, schemas: list[ContrastiveTranslationExample], tmp_path: Path
) -> None:
    batch = PairCollator.of(whole)(encode_pairs(whole, schemas[:2], pronouns="all"))
    with pytest.raises(EvaluatorError, match="the loss became nan; lower the learning rate"):
        trainer(whole, tmp_path, weight=5.0).compute_loss(
            whole.model, batch, num_items_in_batch=torch.tensor(float("nan"))
        )
