"""The pronoun penalty (thesis, equations 4.9 to 4.11): a translation model is fined where it gives an incorrect pronoun the higher probability.

L(S) = CE(S) + λ Σ_r PP(r),  PP(r) = 1 - P(r) / N + max_a P(a) / N,  N = P(r) + Σ_a P(a); CE is the smoothed cross-entropy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf.evaluators.seq2seq import Seq2SeqEvaluator
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf.training.pronoun_forms import ambiguous_pronoun, check_language, find_pronouns

try:
    import torch
    from transformers import Seq2SeqTrainer
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["PRONOUNS", "EncodedPair", "FormPaths", "PairCollator", "PronounPenaltyTrainer", "encode_pairs", "form_logprobs", "pronoun_penalty", "smoothed_cross_entropy"]

#: which pronouns of a translation are penalized: all of the forms, as in the thesis, or the one that differs in the contrastive translation
PRONOUNS = ("all", "ambiguous")

_IGNORED = -100
_SMALLEST = 1e-30


def pronoun_penalty(logprobs: torch.Tensor) -> torch.Tensor:
    """PP(r), equations 4.10 and 4.11, of every pronoun.

    Args:
        logprobs: (n, k) natural-log probabilities of the k forms of each of n pronouns, the correct one first; k is 2 or more.

    Returns:
        (n,) in [0, 2]: 0 where the correct form has all of N, 2 where one incorrect form has it, 1 where the best incorrect one is as probable.

    Raises:
        InputError: for another shape.

    >>> [round(float(value), 4) for value in pronoun_penalty(torch.tensor([[0.2, 0.1, 0.1], [0.1, 0.1, 0.0]]).log())]
    [0.75, 1.0]
    """
    if logprobs.dim() != 2 or logprobs.shape[1] < 2:
        raise InputError(f"pronoun penalty: expected log-probabilities of shape (pronouns, 2 or more forms), got {tuple(logprobs.shape)}")
    shares = logprobs.softmax(-1)  # P / N
    return 1 - shares[:, 0] + shares[:, 1:].amax(-1)


def smoothed_cross_entropy(logprobs: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    """CE(S) summed over the labels that are not -100, in nats: 1 - ε of the negative log-probability of the label, ε of the mean of those of all tokens.

    Args:
        logprobs: (n, length, vocabulary) natural-log probabilities.
        labels: (n, length) ids, -100 where nothing is to be learnt.
        smoothing: ε in [0, 1).

    >>> float(smoothed_cross_entropy(torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]]).log(), torch.tensor([[0, -100]]), 0.0))
    0.6931471824645996
    """
    kept = labels.ne(_IGNORED)
    chosen = logprobs[kept]
    negative = -chosen.gather(-1, labels[kept][:, None]).sum()
    return negative if not smoothing else (1 - smoothing) * negative - smoothing * chosen.mean(-1).sum()


@dataclass(frozen=True, slots=True)
class FormPaths:
    """Where the forms of one pronoun branch off in a tokenized translation.

    Attributes:
        start: index in the target's ids of the first token that is not the same in all variants.
        paths: of each form, the correct one first, its ids from there to where the variants are the same again. A form that begins all others, «он» before
            «она» where the tokenizer writes «▁он» «а», has none.
    """

    start: int
    paths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, variants: Sequence[Sequence[int]]) -> FormPaths | None:
        """From the ids of the whole translation with each form, the correct one first; None where two of them are the same.

        >>> FormPaths.of([[7, 5, 9, 0], [7, 6, 4, 9, 0], [7, 8, 9, 0]])
        FormPaths(start=1, paths=((5,), (6, 4), (8,)))
        """
        if len(set(map(tuple, variants))) < len(variants):
            return None
        start = _n_common(variants)
        n_end = _n_common([list(reversed(ids[start:])) for ids in variants])
        return cls(start, tuple(tuple(ids[start : len(ids) - n_end]) for ids in variants))


def _n_common(rows: Sequence[Sequence[int]]) -> int:
    n = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        n += 1
    return n


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """Token ids of a source and its translation as the family marks them, EOS included, and the pronouns of the translation."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    pronouns: tuple[FormPaths, ...] = ()


def encode_pairs(evaluator: Seq2SeqEvaluator, examples: Sequence[ContrastiveTranslationExample], *, pronouns: str | None = None) -> list[EncodedPair]:
    """Sources and correct translations as the evaluator's own tokenizer writes them, with what `PairCollator` needs of their pronouns.

    A pronoun's place is found by writing the whole translation with each form and comparing the tokens, so that sub-words, spaces and capitals are the
    tokenizer's own.

    Args:
        evaluator: whose tokenizer and languages are taken.
        examples: of one pair of languages.
        pronouns: «all» or «ambiguous»; None for none.

    Raises:
        InputError: for another value of `pronouns`, a language without known pronouns, or translations without any pronoun at all.
        EvaluatorError: for a tokenizer that writes two pronouns alike.
        TooLongError: for a text that the model cannot take whole.
    """
    if pronouns not in (None, *PRONOUNS):
        raise InputError(f"pronouns: expected one of {', '.join(PRONOUNS)}, got {pronouns!r}")
    if not examples:
        raise InputError("nothing to train on: expected at least one example, got none")
    src_lang, tgt_lang = examples[0].src_lang, examples[0].tgt_lang
    evaluator.check_languages(src_lang, tgt_lang)
    sources = evaluator.encode_sources([example.source for example in examples], src_lang, tgt_lang)
    found = []
    for row, (example, source) in enumerate(zip(examples, sources, strict=True)):
        occurrences = _pronouns(example, pronouns) if pronouns else ()
        texts = [occurrence.variants(example.correct_translation) for occurrence in occurrences]
        (target, *others) = evaluator.encode_targets([example.correct_translation, *(text for variants in texts for text in variants[1:])], src_lang, tgt_lang)
        whole = evaluator.fit(list(source), list(target), ScoringRequest(example.source, example.correct_translation, row))
        if list(map(len, whole)) != [len(source), len(target)]:
            raise InputError(f"example {example.id!r}: a text is too long, and nothing is cut in training; load the evaluator with on_too_long='error'")
        rest = iter(others)
        paths = [FormPaths.of([target, *(next(rest) for _ in variants[1:])]) for variants in texts]
        if None in paths:
            occurrence = occurrences[paths.index(None)]
            forms = ", ".join((occurrence.text, *occurrence.alternatives))
            raise EvaluatorError(f"example {example.id!r}: {evaluator.name} writes two of the pronouns {forms} with the same tokens, and cannot learn to tell them apart")
        found.append(EncodedPair(tuple(source), tuple(target), tuple(path for path in paths if path is not None)))
    if pronouns and not any(pair.pronouns for pair in found):
        raise InputError(f"none of the {len(found)} correct translations has a pronoun; without any the pronoun penalty is nothing. Train with the objective mle")
    return found


def _pronouns(example: ContrastiveTranslationExample, which: str) -> Any:
    check_language(example.tgt_lang)
    found = find_pronouns(example.correct_translation, example.tgt_lang)
    if which == "all":
        return found
    return ambiguous_pronoun(example.correct_translation, example.contrastive_translations[0], found) if example.contrastive_translations else ()


class PairCollator:
    """Pairs to a batch of tensors.

    `input_ids`, `attention_mask`, `decoder_input_ids` and `labels` are what every model takes; labels are -100 at padding and at tokens that are given.
    The others are for `form_logprobs`. A form of several tokens has a row of its own behind those of the pairs, whose labels are all -100: what follows its
    first token must see that token, and not the correct form.
    """

    def __init__(self, *, pad: int, decoder_start: Sequence[int] = (), n_forced: int = 0) -> None:
        self.pad = pad
        self.decoder_start = tuple(decoder_start)
        self.n_uncounted = len(self.decoder_start) + n_forced - 1

    @classmethod
    def of(cls, evaluator: Seq2SeqEvaluator) -> PairCollator:
        """As the evaluator's family marks them."""
        return cls(pad=evaluator.model.config.pad_token_id, decoder_start=evaluator.decoder_start, n_forced=evaluator.n_forced)

    def __call__(self, pairs: Sequence[EncodedPair]) -> dict[str, torch.Tensor]:
        """The batch."""
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        reads: list[tuple[int, int, int, int]] = []  # row, position, token, number of the form
        longer: list[list[list[bool]]] = []
        for row, pair in enumerate(pairs):
            for found in pair.pronouns:
                n_before = sum(map(len, longer))
                longer.append([[len(one) < len(other) and other[: len(one)] == one for other in found.paths] for one in found.paths])
                position = found.start + len(self.decoder_start) - 1
                for form, path in enumerate(found.paths):
                    own = row
                    if form and len(path) > 1:
                        own = len(sources)
                        sources.append(pair.source)
                        targets.append((*pair.target[: found.start], *path))
                    reads += [(own if i else row, position + i, token, n_before + form) for i, token in enumerate(path)]
        rows = [(*self.decoder_start, *target) for target in targets]
        labels = _padded([row[1:] for row in rows], _IGNORED)
        labels[:, : self.n_uncounted] = _IGNORED
        labels[len(pairs) :] = _IGNORED
        source_lengths = torch.tensor([len(source) for source in sources])
        input_ids = _padded(sources, self.pad)
        return {
            "input_ids": input_ids,
            "attention_mask": (torch.arange(input_ids.shape[1])[None] < source_lengths[:, None]).long(),
            "decoder_input_ids": _padded([row[:-1] for row in rows], self.pad),
            "labels": labels,
            "form_reads": torch.tensor(reads, dtype=torch.long).reshape(-1, 4),
            "form_is_longer": torch.tensor(longer, dtype=torch.bool) if longer else torch.zeros((0, 2, 2), dtype=torch.bool),
        }


def _padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


def form_logprobs(logprobs: torch.Tensor, reads: torch.Tensor, is_longer: torch.Tensor) -> torch.Tensor:
    """log P of every form of every pronoun.

    That of a form is the sum over its tokens, each under those before it. A form that is the beginning of others has the probability that the word
    begins so and goes on as none of them, so that the events exclude each other.

    Args:
        logprobs: (n, length, vocabulary) natural-log probabilities.
        reads: (m, 4) row, position, token, and number of the form (pronoun times k plus place of the form).
        is_longer: (pronouns, k, k) whether the second form goes on where the first ends.

    Returns:
        (pronouns, k) natural-log probabilities, the correct form first.
    """
    n, k = is_longer.shape[:2]
    row, position, token, form = reads.unbind(-1)
    found = logprobs.new_zeros(n * k).index_add(0, form, logprobs[row, position, token]).reshape(n, k)
    if not bool(is_longer.any()):
        return found
    share = torch.where(is_longer, found[:, None, :] - found[:, :, None], -torch.inf).exp().sum(-1)
    return found + (1 - share).clamp_min(_SMALLEST).log()


class PronounPenaltyTrainer(Seq2SeqTrainer):  # type: ignore[misc]
    """`Seq2SeqTrainer` with the loss of equation 4.9 over batches of `PairCollator`.

    Sums over the sentences of a step are divided by the number of its labels, as fairseq does, over gradient accumulation and processes too.

    Args:
        penalty_weight: λ, 0 or more; the thesis takes 100. 0 is fine-tuning on the (smoothed) cross-entropy alone.
        options: of `Seq2SeqTrainer`; ε is its argument `label_smoothing_factor`. One process uses one device.

    Raises:
        InputError: for a negative weight.
        EvaluatorError: when the loss is not a number.
    """

    def __init__(self, *, penalty_weight: float = 100.0, args: Any, **options: Any) -> None:
        if not penalty_weight >= 0:
            raise InputError(f"weight of the pronoun penalty: expected 0 or more, got {penalty_weight}")
        self.penalty_weight = penalty_weight
        args._n_gpu = min(args.n_gpu, 1)  # DataParallel would cut the batch between a pair and the rows of its forms
        super().__init__(args=args, **options)
        self.model_accepts_loss_kwargs = True  # so that the labels of a whole step are counted, also for models that cannot be told of them

    def compute_loss(self, model: Any, inputs: Mapping[str, torch.Tensor], return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
        """The loss of a batch; `num_items_in_batch` counts the labels of all batches of the step, None those of this one."""
        names = ("input_ids", "attention_mask", "decoder_input_ids")
        outputs = model(**{name: inputs[name] for name in names}, use_cache=False)  # with its cache on FSMT drops the causal mask
        logprobs = outputs.logits.float().log_softmax(-1)
        loss = smoothed_cross_entropy(logprobs, inputs["labels"], self.args.label_smoothing_factor)
        if self.penalty_weight and len(inputs["form_is_longer"]):
            forms = form_logprobs(logprobs, inputs["form_reads"], inputs["form_is_longer"])
            loss = loss + self.penalty_weight * pronoun_penalty(forms).sum()
        n_labels = inputs["labels"].ne(_IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        loss = loss / n_labels
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes  # whose gradients are averaged
        if not bool(torch.isfinite(loss)):
            raise EvaluatorError(f"the loss became {loss.item()}; lower the learning rate, or the weight of the penalty ({self.penalty_weight})")
        return (loss, outputs) if return_outputs else loss
