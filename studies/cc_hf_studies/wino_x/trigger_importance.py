"""Prediction difference (Li et al. 2019): the probability of a pronoun with the whole source, minus
that with the embedding of one word replaced by zeros.

As in the program of Emelin & Sennrich 2021, sub-words are removed one by one, and the differences
are averaged by word. The removals of many sentences share batches.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.progress import Progress
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf.signature import build
from cc_hf.test_sets.wino_x.referents import ambiguous_it
from cc_hf.text.pieces import piece_characters
from cc_hf.text.tokenization import Token, moses_tokens
from cc_hf_studies.wino_x.salience import Salience, WordSalience

__all__ = ["importance_signature", "prediction_differences", "pronoun_start"]


@dataclass(frozen=True)
class _Sentence:
    """An encoded example: the target cut after the pronoun, and the characters of source tokens."""

    example: ContrastiveTranslationExample
    source: list[int]
    target: list[int]
    pronoun: tuple[int, ...]  # positions in the target
    pieces: list[str]
    characters: list[tuple[int, ...]]
    row: int  # index among the examples


def importance_signature(evaluator: Evaluator, data: Mapping[str, str | int], *, n: int) -> str:
    """Return the signature of `prediction_differences`."""
    return build("prediction-difference", {**data, **evaluator.signature_fields(), "n": n})


def prediction_differences(
    evaluator: Evaluator,
    examples: Sequence[ContrastiveTranslationExample],
    *,
    progress: bool = False,
) -> tuple[list[Salience], dict[str, str]]:
    """Measure the salience of every source word for the pronoun in the correct translation.

    Returns:
        The saliences, in the order of the examples; and a dict from each example without salience
        to the reason.
    """
    model = _checked(evaluator, examples)
    sentences: list[_Sentence] = []
    skipped: dict[str, str] = {}
    src_lang, tgt_lang = examples[0].src_lang, examples[0].tgt_lang
    model.check_languages(src_lang, tgt_lang)
    sources = model.encode_sources([example.source for example in examples], src_lang, tgt_lang)
    targets = model.encode_targets(
        [example.correct_translation for example in examples], src_lang, tgt_lang
    )
    for row, (example, source, target) in enumerate(zip(examples, sources, targets, strict=True)):
        source, target = model.fit(
            source, target, ScoringRequest(example.source, example.correct_translation, row)
        )
        start = pronoun_start(example)
        positions = () if start is None else _pronoun_positions(model, target, example, start)
        if positions:
            characters = piece_characters(
                _text_pieces(model, source, model.source_pieces(source)), example.source
            )
            sentences.append(
                _Sentence(
                    example,
                    source,
                    target[: positions[-1] + 1],
                    positions,
                    model.source_pieces(source),
                    characters,
                    row,
                )
            )
        else:
            word = f"the pronoun {example.extra['correct_pronoun']!r}"
            skipped[example.id] = (
                f"{word} is not in the translation"
                if start is None
                else f"no token of the model stands for {word}"
            )
    probabilities = _probabilities(model, sentences, progress=progress)
    return [
        _salience(model, sentence, whole, without)
        for sentence, (whole, without) in zip(sentences, probabilities, strict=True)
    ], skipped


def pronoun_start(example: ContrastiveTranslationExample) -> int | None:
    """Return the first character, in the correct translation, of the pronoun that translates "it";
    None if there is none.

    Where the pronoun occurs several times as a whole word, the occurrence counts at which the
    contrastive translation has the wrong pronoun after the same text; otherwise, as in the program,
    the last one.
    """
    right, wrong = (example.extra[f"{side}_pronoun"].strip() for side in ("correct", "incorrect"))
    text = example.correct_translation
    starts = [match.start() for match in _whole_word(right).finditer(text)]
    for start in starts:
        if any(
            other[:start] == text[:start] and _whole_word(wrong).match(other, start)
            for other in example.contrastive_translations
        ):
            return start
    return starts[-1] if starts else None


def _whole_word(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)


def _checked(
    evaluator: Evaluator, examples: Sequence[ContrastiveTranslationExample]
) -> Seq2SeqEvaluator:
    if not isinstance(evaluator, Seq2SeqEvaluator):
        raise InputError(
            "expected one sequence-to-sequence evaluator, from whose source words can be removed,"
            f" got {evaluator!r}"
        )
    if not examples:
        raise InputError("expected at least one example, got none")
    for example in examples:
        if (
            not isinstance(example, ContrastiveTranslationExample)
            or not {"correct_pronoun", "incorrect_pronoun"} <= example.extra.keys()
        ):
            raise InputError(
                f"example {example.id!r}: expected translations with their pronouns, as of wino_x"
                f" mt_en_de.translations, got {type(example).__name__}"
            )
        if (example.src_lang, example.tgt_lang) != (examples[0].src_lang, examples[0].tgt_lang):
            raise InputError(
                f"example {example.id!r}: expected the languages"
                f" {examples[0].src_lang}-{examples[0].tgt_lang}, got"
                f" {example.src_lang}-{example.tgt_lang}"
            )
    return evaluator


def _text_pieces(model: Seq2SeqEvaluator, ids: Sequence[int], pieces: Sequence[str]) -> list[str]:
    marks = model.mark_ids
    return ["" if number in marks else piece for number, piece in zip(ids, pieces, strict=True)]


def _pronoun_positions(
    model: Seq2SeqEvaluator,
    target: Sequence[int],
    example: ContrastiveTranslationExample,
    start: int,
) -> tuple[int, ...]:
    """Return the positions of the target tokens that stand for a character of the pronoun."""
    characters = piece_characters(
        _text_pieces(model, target, model.target_pieces(target)), example.correct_translation
    )
    pronoun = set(range(start, start + len(example.extra["correct_pronoun"].strip())))
    return tuple(
        position for position, indices in enumerate(characters) if pronoun.intersection(indices)
    )


def _probabilities(
    model: Seq2SeqEvaluator, sentences: Sequence[_Sentence], *, progress: bool
) -> Iterator[tuple[float, list[float]]]:
    """Yield P(pronoun) of each sentence with the whole source, and without each of its tokens."""
    # Each sentence has one job with its whole source (None), then one per removed token. Batches
    # are planned over the jobs of all sentences, so they are sorted back below.
    jobs = [
        (number, removed)
        for number, sentence in enumerate(sentences)
        for removed in (None, *range(len(sentence.source)))
    ]
    probabilities = [0.0] * len(jobs)
    rows = [sentences[number] for number, _ in jobs]
    batches = plan_batches(
        [len(row.source) for row in rows],
        [len(row.target) for row in rows],
        batch_tokens=model.batch_tokens,
    )
    with Progress(
        total=len(jobs),
        desc="removing words",
        unit="pair",
        disable=not progress,
        delay=1,
        leave=False,
    ) as bar:
        for batch in batches:
            logprobs = model.logprobs_without(
                [rows[i].source for i in batch],
                [rows[i].target for i in batch],
                [jobs[i][1] for i in batch],
            )
            model.check_logprobs(
                logprobs,
                [
                    ScoringRequest(
                        rows[i].example.source, rows[i].example.correct_translation, rows[i].row
                    )
                    for i in batch
                ],
            )
            for i, row in zip(batch, logprobs, strict=True):
                pronoun = (row[position - model.n_forced] for position in rows[i].pronoun)
                probabilities[i] = math.exp(sum(pronoun))
            bar.update(len(batch))
    start = 0
    for sentence in sentences:
        whole, *without = probabilities[start : start + 1 + len(sentence.source)]
        start += 1 + len(sentence.source)
        yield whole, without


def _salience(
    model: Seq2SeqEvaluator, sentence: _Sentence, whole: float, without: Sequence[float]
) -> Salience:
    example = sentence.example
    differences = [whole - probability for probability in without]
    words = moses_tokens(example.source, example.src_lang)
    owners = _owners(sentence, words, model.mark_ids)
    salient_words: list[WordSalience] = []
    start = ambiguous_it(example.source).start
    ambiguous = None
    for number, word in enumerate(words):
        tokens = [token for token, owner in enumerate(owners) if owner == number]
        if tokens:
            if word.start <= start < word.start + len(word.text):
                ambiguous = len(salient_words)
            subwords = tuple((sentence.pieces[token], differences[token]) for token in tokens)
            salient_words.append(
                WordSalience(
                    word.text,
                    word.start,
                    sum(value for _, value in subwords) / len(tokens),
                    subwords,
                )
            )
    marks = tuple(
        (sentence.pieces[token], differences[token])
        for token, owner in enumerate(owners)
        if owner is None
    )
    referents = (
        example.extra.get("correct_referent", ""),
        example.extra.get("incorrect_referent", ""),
    )
    return Salience(
        example.id,
        example.extra.get("pair", ""),
        example.source,
        example.extra["correct_pronoun"].strip(),
        whole,
        tuple(salient_words),
        ambiguous,
        marks,
        referents,
        example.correct_translation,
    )


def _owners(sentence: _Sentence, words: Sequence[Token], marks: frozenset[int]) -> list[int | None]:
    """Return the index of the word of each source token; None for special tokens."""
    word_of = {
        character: number
        for number, word in enumerate(words)
        for character in range(word.start, word.start + len(word.text))
    }
    owners: list[int | None] = []
    following: int | None = None
    # The tokens are visited from the end, so that a piece without characters can take the owner of
    # the piece that follows it.
    for number, characters in zip(
        reversed(sentence.source), reversed(sentence.characters), strict=True
    ):
        owner = next((word_of[character] for character in characters if character in word_of), None)
        blank = owner is None and number not in marks
        following = following if blank else owner
        owners.append(following)
    return owners[::-1]
