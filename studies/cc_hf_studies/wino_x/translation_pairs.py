"""Encode sources and correct translations as training batches for translation models, with the
positions of the pronouns and of their alternatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf_studies.wino_x.pronoun_forms import (
    PronounOccurrence,
    ambiguous_pronoun,
    check_language,
    find_pronouns,
)

try:
    import torch
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["IGNORED", "PRONOUNS", "EncodedPair", "FormPaths", "PairCollator", "encode_pairs"]

#: Which pronouns of a translation are penalized: all of them, as in the thesis, or only the one
#: that differs in the contrastive translation.
PRONOUNS = ("all", "ambiguous")

#: The label of positions without a loss.
IGNORED = -100


@dataclass(frozen=True, slots=True)
class FormPaths:
    """Where the forms of one pronoun branch off in a tokenized translation.

    Attributes:
        start: index, in the ids of the target, of the first token that differs between variants.
        paths: one per form, the correct one first: its ids from `start` to where the variants agree
            again. A path is empty for a form that begins all others, such as "он" before "она" if
            the tokenizer writes "▁он" "а".
    """

    start: int
    paths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, variants: Sequence[Sequence[int]]) -> FormPaths | None:
        """Compare the variants of a translation; None if two of them have the same ids.

        Examples:
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
    """A source and its translation as token ids, EOS included, with the penalized pronouns."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    pronouns: tuple[FormPaths, ...] = ()


def encode_pairs(
    evaluator: Seq2SeqEvaluator,
    examples: Sequence[ContrastiveTranslationExample],
    *,
    pronouns: str | None = None,
) -> list[EncodedPair]:
    """Encode sources and correct translations with the evaluator's tokenizer.

    Args:
        pronouns: "all" or "ambiguous" (see `PRONOUNS`); None to locate none.
    """
    if pronouns not in (None, *PRONOUNS):
        raise InputError(f"pronouns: expected one of {', '.join(PRONOUNS)}, got {pronouns!r}")
    if not examples:
        raise InputError("nothing to train on: expected at least one example, got none")
    src_lang, tgt_lang = examples[0].src_lang, examples[0].tgt_lang
    evaluator.check_languages(src_lang, tgt_lang)
    sources = evaluator.encode_sources([example.source for example in examples], src_lang, tgt_lang)
    pairs = []
    for row, (example, source) in enumerate(zip(examples, sources, strict=True)):
        occurrences = _pronouns(example, pronouns) if pronouns else ()
        # Pronouns are located by encoding the whole translation with each form and comparing the
        # tokens. Sub-words, spaces and capitals are thus those of the tokenizer.
        texts = [occurrence.variants(example.correct_translation) for occurrence in occurrences]
        target, *others = evaluator.encode_targets(
            [example.correct_translation, *(text for variants in texts for text in variants[1:])],
            src_lang,
            tgt_lang,
        )
        whole = evaluator.fit(
            list(source),
            list(target),
            ScoringRequest(example.source, example.correct_translation, row),
        )
        if list(map(len, whole)) != [len(source), len(target)]:
            raise InputError(
                f"example {example.id!r}: a text is too long, and nothing is cut in training; load"
                " the evaluator with on_too_long='error'"
            )
        alternatives = iter(others)
        paths = [
            FormPaths.of([target, *(next(alternatives) for _ in variants[1:])])
            for variants in texts
        ]
        if None in paths:
            occurrence = occurrences[paths.index(None)]
            forms = ", ".join((occurrence.text, *occurrence.alternatives))
            raise EvaluatorError(
                f"example {example.id!r}: {evaluator.name} writes two of the pronouns {forms} with"
                " the same tokens, and cannot learn to tell them apart"
            )
        pairs.append(
            EncodedPair(
                tuple(source), tuple(target), tuple(path for path in paths if path is not None)
            )
        )
    if pronouns and not any(pair.pronouns for pair in pairs):
        raise InputError(
            f"none of the {len(pairs)} correct translations has a pronoun, so there is nothing to"
            " penalize. Train with the objective mle"
        )
    return pairs


def _pronouns(example: ContrastiveTranslationExample, which: str) -> tuple[PronounOccurrence, ...]:
    check_language(example.tgt_lang)
    occurrences = find_pronouns(example.correct_translation, example.tgt_lang)
    if which == "all":
        return occurrences
    return (
        ambiguous_pronoun(
            example.correct_translation, example.contrastive_translations[0], occurrences
        )
        if example.contrastive_translations
        else ()
    )


class PairCollator:
    """A collator of pairs into batches of tensors.

    Labels are -100 at padding and at tokens that are given to the model. `form_reads` and
    `form_is_longer` are arguments of `form_logprobs`. Each incorrect form of several tokens has a
    row of its own after the rows of the pairs, with all labels -100: the tokens after its first one
    must be conditioned on that form, not on the correct one.

    Args:
        n_forced: number of target tokens that are given to the model, such as language codes.
    """

    def __init__(self, *, pad: int, decoder_start: Sequence[int] = (), n_forced: int = 0) -> None:
        self.pad = pad
        self.decoder_start = tuple(decoder_start)
        self.n_uncounted = len(self.decoder_start) + n_forced - 1

    @classmethod
    def of(cls, evaluator: Seq2SeqEvaluator) -> PairCollator:
        """Return a collator for the family of an evaluator."""
        return cls(
            pad=evaluator.model.config.pad_token_id,
            decoder_start=evaluator.decoder_start,
            n_forced=evaluator.n_forced,
        )

    def __call__(self, pairs: Sequence[EncodedPair]) -> dict[str, torch.Tensor]:
        """Return the batch of some pairs."""
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        reads: list[tuple[int, int, int, int]] = []  # row, position, token, number of the form
        longer: list[list[list[bool]]] = []
        for row, pair in enumerate(pairs):
            for pronoun in pair.pronouns:
                paths = pronoun.paths
                n_before = sum(map(len, longer))
                longer.append(
                    [
                        [len(path) < len(other) and other[: len(path)] == path for other in paths]
                        for path in paths
                    ]
                )
                position = pronoun.start + len(self.decoder_start) - 1
                for form, path in enumerate(paths):
                    read_row = row
                    # The correct form, and the first token of every form, can be read from the row
                    # of the pair itself; only later tokens of an incorrect form need a row with
                    # that form as prefix.
                    if form and len(path) > 1:
                        read_row = len(sources)
                        sources.append(pair.source)
                        targets.append((*pair.target[: pronoun.start], *path))
                    reads += [
                        (read_row if i else row, position + i, token, n_before + form)
                        for i, token in enumerate(path)
                    ]
        rows = [(*self.decoder_start, *target) for target in targets]
        labels = _padded([row[1:] for row in rows], IGNORED)
        # Tokens that are given to the model, such as language codes, have no loss, and neither have
        # the extra rows of the forms.
        labels[:, : self.n_uncounted] = IGNORED
        labels[len(pairs) :] = IGNORED
        source_lengths = torch.tensor([len(source) for source in sources])
        input_ids = _padded(sources, self.pad)
        return {
            "input_ids": input_ids,
            "attention_mask": (
                (torch.arange(input_ids.shape[1])[None] < source_lengths[:, None]).long()
            ),
            "decoder_input_ids": _padded([row[:-1] for row in rows], self.pad),
            "labels": labels,
            "form_reads": torch.tensor(reads, dtype=torch.long).reshape(-1, 4),
            "form_is_longer": (
                torch.tensor(longer, dtype=torch.bool)
                if longer
                else torch.zeros((0, 2, 2), dtype=torch.bool)
            ),
        }


def _padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])
