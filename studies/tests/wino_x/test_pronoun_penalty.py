import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from cc_hf_studies.wino_x.pronoun_forms import find_pronouns
from cc_hf_studies.wino_x.pronoun_penalty import (
    PronounPenaltyTrainer,
    form_logprobs,
    pronoun_penalty,
    smoothed_cross_entropy,
)
from cc_hf_studies.wino_x.translation_pairs import (
    EncodedPair,
    FormPaths,
    PairCollator,
    encode_pairs,
)
from transformers import Seq2SeqTrainingArguments
from transformers.trainer_pt_utils import LabelSmoother

from cc_hf.errors import EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.evaluators.loading import load_evaluator
from tests.helpers.judged import Examples, contrastive
from tests.helpers.usual import cases, fails, known, refuses
from tests.helpers.wino_x_schemas import save_schema_marian

TOY = {"er": 0.2, "sie": 0.5, "es": 0.1, "rest": 0.2}  # of one position


def test_the_penalty_equals_that_computed_by_hand() -> None:
    """r = er: N = .2 + .5 + .1 = .8, PP = 1 - .2/.8 + .5/.8 = 1.375; r = sie: 1 - .5/.8 + .2/.8 =
    .625; r = es: 1 - .1/.8 + .5/.8 = 1.5.
    """
    orders = ("er sie es", "sie er es", "es er sie")
    rows = [[TOY[form] for form in order.split()] for order in orders]
    edges = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.0]]
    actual = pronoun_penalty(torch.tensor([*rows, *edges], dtype=torch.float64).log())
    assert actual.tolist() == pytest.approx([1.375, 0.625, 1.5, 0.0, 2.0, 1.0], abs=1e-15)


def test_the_penalty_of_improbable_forms_does_not_underflow() -> None:
    penalty = pronoun_penalty(torch.tensor([[-400.0, -401.0], [-800.0, -801.0]]))[0].item()
    assert penalty == pytest.approx(1 - 1 / (1 + math.exp(-1)) + 1 / (1 + math.e))


def test_the_penalty_of_a_single_form_is_refused() -> None:
    refuses(r"\(pronouns, 2 or more forms\), got \(3, 1\)", pronoun_penalty, torch.zeros(3, 1))


def test_the_gradient_equals_that_computed_by_hand() -> None:
    """With shares q = P / N over the forms, d PP / d logit_j = -q_r ([j = r] - q_j) + q_m ([j = m]
    - q_j); for a token that is not a form it is 0.
    """
    logits = torch.tensor([[*TOY.values()]], dtype=torch.float64).log().requires_grad_()
    penalty = pronoun_penalty(logits.log_softmax(-1)[:, :3])  # r = er, so m = sie
    penalty.sum().backward()  # type: ignore[no-untyped-call]
    q = [0.25, 0.625, 0.125]
    expected = [-0.25 * ((j == 0) - q[j]) + 0.625 * ((j == 1) - q[j]) for j in range(3)]
    assert known(logits.grad)[0].tolist() == pytest.approx([*expected, 0.0], abs=1e-15)

    inputs = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: pronoun_penalty(x.log_softmax(-1)[:, :3]), (inputs,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_cross_entropy_equals_that_of_transformers(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = torch.randn(3, 5, 11, dtype=torch.float64)
    labels = torch.randint(11, (3, 5))
    labels[0, 3:] = labels[2, :1] = -100

    total = float(smoothed_cross_entropy(logits.log_softmax(-1), labels, smoothing))
    expected = float(LabelSmoother(smoothing)({"logits": logits}, labels.clone()))
    assert total / int(labels.ne(-100).sum()) == pytest.approx(expected, rel=1e-7)


@cases(
    ("one token", ([9, 1, 8], [9, 2, 8], [9, 3, 8]), FormPaths(1, ((1,), (2,), (3,)))),
    ("two tokens", ([9, 1, 8], [9, 2, 4, 8], [9, 2, 5, 8]), FormPaths(1, ((1,), (2, 4), (2, 5)))),
    # он, она, оно
    ("first is prefix", ([1, 8], [1, 4, 8], [1, 5, 8]), FormPaths(1, ((), (4,), (5,)))),
    ("second is prefix", ([1, 4, 8], [1, 8], [1, 5, 8]), FormPaths(1, ((4,), (), (5,)))),
    # equal parts are not counted twice
    ("repeated token", ([7, 7, 7], [7, 7]), FormPaths(2, ((7,), ()))),
    ("equal variants", ([9, 1, 8], [9, 2, 8], [9, 2, 8]), None),
)
def test_forms_part_at_their_first_different_token(name: str, variants: Any, expected: Any) -> None:
    assert FormPaths.of([[*variant, 0] for variant in variants]) == expected


@pytest.fixture(scope="module", params=[140, 44], ids=["whole", "cut"])
def evaluator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return an evaluator whose pronouns are one token each, and one where they are several."""
    folder = save_schema_marian(tmp_path_factory.mktemp("model"), n_pieces=request.param)
    return load_evaluator(folder, mode="exact")


def pass_logprobs(evaluator: Seq2SeqEvaluator, **inputs: torch.Tensor) -> torch.Tensor:
    return evaluator.model(**inputs, use_cache=False).logits.double().log_softmax(-1)  # type: ignore[no-any-return]


def naive_shares(evaluator: Any, pair: EncodedPair, paths: FormPaths) -> tuple[float, ...]:
    """Return P of each form given the tokens before it, by one forward pass per token."""
    actual = []
    for form in paths.paths:
        total = 0.0
        for i, token in enumerate(form):
            before = [*evaluator.decoder_start, *pair.target[: paths.start], *form[:i]]
            rows = {"input_ids": torch.tensor([pair.source])}
            logprobs = pass_logprobs(evaluator, **rows, decoder_input_ids=torch.tensor([before]))
            total += float(logprobs[0, -1, token])
        actual.append(math.exp(total))
    return tuple(actual)


def is_prefix(form: Sequence[int], other: Sequence[int]) -> bool:
    return form != other and other[: len(form)] == form


@torch.no_grad()
def test_form_probabilities_equal_one_pass_per_token(evaluator: Any, schemas: Examples) -> None:
    examples = [schemas[i] for i in (0, 3, 8, 13)]
    pairs = encode_pairs(evaluator, examples, pronouns="all")
    assert [len(pair.pronouns) for pair in pairs] == [1] * 4
    longest = max(len(path) for pair in pairs for actual in pair.pronouns for path in actual.paths)
    assert (longest > 1) is (evaluator.model.config.vocab_size < 100)

    batch = PairCollator.of(evaluator)(pairs)
    n_labels = sum(len(pair.target) for pair in pairs)
    assert int(batch["labels"].ne(-100).sum()) == n_labels  # rows of forms and padding add none

    names = ("input_ids", "attention_mask", "decoder_input_ids")
    logprobs = pass_logprobs(evaluator, **{name: batch[name] for name in names})
    actual = form_logprobs(logprobs, batch["form_reads"], batch["form_is_longer"])
    for row, (pair, example) in enumerate(zip(pairs, examples, strict=True)):
        (paths,) = pair.pronouns
        shares = dict(zip(paths.paths, naive_shares(evaluator, pair, paths), strict=True))
        exclusive = [
            share - sum(p for other, p in shares.items() if is_prefix(form, other))
            for form, share in shares.items()
        ]
        assert actual[row].exp().tolist() == pytest.approx(exclusive, rel=1e-4)
        (occurrence,) = find_pronouns(example.correct_translation, "de")
        assert occurrence.text == example.extra["correct_pronoun"]

    scores = evaluator.score_batch([pair.source for pair in pairs], [pair.target for pair in pairs])
    total = -float(smoothed_cross_entropy(logprobs, batch["labels"], 0.0))
    assert total == pytest.approx(scores.sum_logprob.sum(), rel=1e-5)


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

    actual = form_logprobs(logprobs, batch["form_reads"], batch["form_is_longer"])
    assert actual.exp()[0].tolist() == pytest.approx([0.3, 0.5, 0.2])
    assert pronoun_penalty(actual).tolist() == pytest.approx([1.2])

    pronoun_penalty(actual).sum().backward()  # type: ignore[no-untyped-call]
    assert bool(torch.isfinite(known(logprobs.grad)).all())


def test_forms_follow_the_capitals_and_spaces_of_the_text(marian: Any) -> None:
    texts = ("Er traf den Ball, weil es (er) kam.", "sie fiel.", "Das Buch, weil  er, dünn war.")
    examples = [contrastive("1", "The ball hit the lamp.", text) for text in texts]
    for text, pair in zip(texts, encode_pairs(marian, examples, pronouns="all"), strict=True):
        occurrences = find_pronouns(text, "de")
        assert len(pair.pronouns) == len(occurrences) > 0
        for occurrence, actual in zip(occurrences, pair.pronouns, strict=True):
            for variant, path in zip(occurrence.variants(text), actual.paths, strict=True):
                (ids,) = marian.encode_targets([variant], "en", "de")
                assert tuple(ids[actual.start :])[: len(path)] == path
                assert list(pair.target[: actual.start]) == ids[: actual.start]


def test_the_penalty_can_be_limited_to_the_ambiguous_pronoun(marian: Any) -> None:
    texts = [f"Er traf die Lampe, weil {pronoun} dünn war." for pronoun in ("sie", "er")]
    example = contrastive("1", "He hit the lamp because it was fragile.", *texts)
    pairs = [encode_pairs(marian, [example], pronouns=which)[0] for which in ("all", "ambiguous")]
    actual = [[span.start for span in pair.pronouns] for pair in pairs]
    assert actual[0][1:] == actual[1]
    assert encode_pairs(marian, [example])[0].pronouns == ()


@cases(
    (["er"], "some", "expected one of all, ambiguous, got 'some'"),
    (["Das Boot"], "all", "none of the 1 correct translations has a pronoun"),
    ([], None, "expected at least one example, got none"),
    # the vocabulary has no capitals
    (["ES war."], "all", r"example '1': .* writes two of the pronouns"),
    (["Ball " * 70], None, "row 0: the translation has"),
)
def test_examples_without_usable_pronouns_are_refused(
    texts: Any, pronouns: str | None, message: str, marian: Any
) -> None:
    examples = [contrastive("1", "It left.", text) for text in texts]
    fails(
        (InputError, EvaluatorError, TooLongError),
        message,
        encode_pairs,
        marian,
        examples,
        pronouns=pronouns,
    )


def trainer(evaluator: Any, folder: Path, *, weight: float, accumulation: int = 1) -> Any:
    arguments = Seq2SeqTrainingArguments(
        output_dir=str(folder),
        label_smoothing_factor=0.1,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=accumulation,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        use_cpu=True,
        disable_tqdm=True,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
    )
    return PronounPenaltyTrainer(
        penalty_weight=weight,
        model=evaluator.model,
        args=arguments,
        data_collator=PairCollator.of(evaluator),
    )


def test_a_negative_weight_is_refused(marian: Any, tmp_path: Path) -> None:
    refuses("expected 0 or more, got -1", trainer, marian, tmp_path, weight=-1.0)


def test_the_loss_equals_equation_4_9(evaluator: Any, schemas: Examples, tmp_path: Path) -> None:
    pairs = encode_pairs(evaluator, schemas[:5], pronouns="all")
    expected = 0.0
    with torch.no_grad():
        for pair in pairs:
            target = torch.tensor([[*evaluator.decoder_start, *pair.target[:-1]]])
            rows = {"input_ids": torch.tensor([pair.source]), "decoder_input_ids": target}
            (logprobs,) = pass_logprobs(evaluator, **rows)
            chosen = logprobs[range(len(pair.target)), list(pair.target)]
            expected += float(-0.9 * chosen.sum() - 0.1 * logprobs.mean(-1).sum())

            (paths,) = pair.pronouns
            correct, *wrong = naive_shares(evaluator, pair, paths)
            assert not any(is_prefix(a, b) for a, b in itertools.permutations(paths.paths, 2))
            expected += 7.0 * (1 + (max(wrong) - correct) / (correct + sum(wrong)))
    collator = PairCollator.of(evaluator)

    def loss(weight: float, batch: Any, n_items: Any = None) -> float:
        actual = trainer(evaluator, tmp_path, weight=weight)
        loss = actual.compute_loss(evaluator.model, batch, num_items_in_batch=n_items)
        return float(loss.detach())

    n_labels = sum(len(pair.target) for pair in pairs)
    assert loss(7.0, collator(pairs)) == pytest.approx(expected / n_labels, rel=1e-5)

    by_given_number = loss(7.0, collator(pairs), torch.tensor(1000))
    assert by_given_number == pytest.approx(expected / 1000, rel=1e-5)

    without_pronouns = collator(encode_pairs(evaluator, schemas[:5]))
    assert loss(0.0, collator(pairs)) == pytest.approx(loss(0.0, without_pronouns), rel=1e-5)


def test_accumulated_gradients_are_equal(evaluator: Any, schemas: Examples, tmp_path: Path) -> None:
    """The Trainer counts the labels itself; batches differ in length and in padding."""
    by_length = sorted(schemas[:40], key=lambda e: len(e.correct_translation))
    pairs = encode_pairs(evaluator, by_length[::5], pronouns="all")
    parameters = dict(evaluator.model.named_parameters())
    gradients = []

    for n_parts in (1, 4):
        actual = trainer(evaluator, tmp_path, weight=100.0, accumulation=n_parts)
        actual.current_gradient_accumulation_steps = n_parts
        batches = [PairCollator.of(evaluator)(pairs[i::n_parts]) for i in range(n_parts)]
        _, n_items = actual.get_batch_samples(iter(batches), n_parts, torch.device("cpu"))
        assert int(n_items) == sum(len(pair.target) for pair in pairs)

        evaluator.model.zero_grad()
        for batch in batches:
            actual.training_step(evaluator.model, batch, n_items)
        known = {name: p.grad for name, p in parameters.items() if p.grad is not None}
        gradients.append({name: gradient.clone() for name, gradient in known.items()})
    evaluator.model.zero_grad()
    evaluator.model.eval()
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-3, atol=1e-5)
    assert any(bool(gradient.any()) for gradient in gradients[0].values())


def test_a_nan_loss_is_told_with_a_remedy(marian: Any, schemas: Examples, tmp_path: Path) -> None:
    batch = PairCollator.of(marian)(encode_pairs(marian, schemas[:2], pronouns="all"))
    compute, n_items = trainer(marian, tmp_path, weight=5.0).compute_loss, torch.tensor(math.nan)
    fails(
        EvaluatorError,
        "the loss became nan; lower the learning rate",
        compute,
        marian.model,
        batch,
        num_items_in_batch=n_items,
    )
