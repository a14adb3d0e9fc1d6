"""Disambiguation cues for a dataset of word senses, on one page: predict words before the ambiguous
word, keep those that mark a sense, choose those that move the evaluator most (Vamvas & Sennrich
2021, appendix D).
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from cc_hf import __version__, signature
from cc_hf.cues.cue_set import CueSet, LeftOut, Sense, SenseCues, SenseExample
from cc_hf.cues.mlm_insertions import (
    AVERAGES,
    N_CANDIDATES,
    N_KEPT,
    Candidates,
    SenseCandidates,
    discriminating_words,
    most_probable,
    parse_candidates,
)
from cc_hf.cues.placement import insert_before
from cc_hf.cues.selection import N_CUES, best_cues
from cc_hf.data.custom import is_custom, read_words
from cc_hf.data.loading import check_target_language, declaration, load_examples, signature_fields
from cc_hf.data.text_files import read_lines
from cc_hf.errors import DataError, InputError, ResultWarning
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.evaluators.contests import pair_scores
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.evaluators.suitability import evaluator_notes
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    ProbingExample,
    ScoringRequest,
)

if TYPE_CHECKING:
    from cc_hf.cue_building.fill_mask import MaskedLM

__all__ = ["build_cues"]

_VERSION = 1  # raised whenever other cues can be chosen
_BLOCK = 2**13  # requests held at a time


def build_cues(
    dataset: str | Path | Sequence[ContrastiveSourceExample | ProbingExample],
    config: str | None = None,
    *,
    masked_lm: str | Path | MaskedLM | None = None,
    candidates: str | Path | Candidates | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    tgt_lang: str | None = None,
    words: Sequence[str] | None = None,
    n_kept: int = N_KEPT,
    n_candidates: int = N_CANDIDATES,
    n_cues: int = N_CUES,
    average: str = "geometric",
    score: str = "geometric",
    data_dir: str | Path | None = None,
    progress: bool = False,
) -> CueSet:
    """Find disambiguation cues for every sense of a dataset whose rows say which word is ambiguous,
    and have a reference translation.

    A cue stands before the focus of an example. Examples whose word is not located are left out and
    counted. An evaluator that ships with the package
    was made for other cues: it warns (`ResultWarning`). A sense that is the only one of its word,
    or for which no candidates are left, gets no cues; it is listed in `left_out`. About 2 *
    n_candidates pairs are scored per example. The cues do not depend on the order of the examples.

    Args:
        dataset, config: names of `cc-hf list datasets`, a file as `cc_hf.data.custom.read_words`
            takes it, or examples; of their own cues nothing is used. `gold` is the sense, `extra`
            must have ambiguous_word and reference.
        masked_lm: a model to predict candidates with (name, folder, or loaded by
            `cc_hf.cue_building.fill_mask.load_masked_lm`).
        candidates: instead of it, a file of candidates, or what it holds (see
            `cc_hf.cues.mlm_insertions.parse_candidates`). All senses that it has for a word are
            told apart, also those of which there is no example.
        evaluator: name, path, Evaluator or function; None takes the one that ships for the language
            pair.
        tgt_lang: ISO 639-1; may be left out where the examples have one target language.
        words: only the examples of these ambiguous words; None for all.
        n_kept: words kept per sense that are most probable in its sentences; those of different
            senses are compared.
        n_candidates, n_cues: per sense and side.
        average: how the predictions for the sentences of a sense become one, see
            `cc_hf.cues.mlm_insertions.AVERAGES`.
        score: arithmetic, geometric or reference; of no effect with a function.
        data_dir: a local copy of the upstream repositories, instead of a download.
        loading: how the evaluator is loaded; the masked language model is put on the same device.
        progress: bars on anything that takes longer than a second.

    Raises:
        InputError: for options that do not fit, examples that lack what is needed (the message
            names the row), words that are not in the data, or when no sense is left.
        DataError: when the candidates lack a word or a sense.
        EvaluatorError, TooLongError: as `cc_hf.evaluate`.

    >>> from cc_hf.schema import Focus, ProbingExample
    >>> rows = [
    ...     ("a bat flies", "animal", "ein Flattertier fliegt"),
    ...     ("a bat breaks", "club", "ein Schläger bricht"),
    ... ]
    >>> examples = [
    ...     ProbingExample(
    ...         str(i),
    ...         "en",
    ...         "de",
    ...         source,
    ...         "all",
    ...         sense,
    ...         Focus("bat", 2),
    ...         {"ambiguous_word": "bat", "reference": reference},
    ...     )
    ...     for i, (source, sense, reference) in enumerate(rows)
    ... ]
    >>> def same_letters(sources, translations):
    ...     return [len(set(s) & set(t)) for s, t in zip(sources, translations)]
    >>> given = {
    ...     "bat": {"animal": ["fruit", "big", "vampire"], "club": ["baseball", "big", "cricket"]}
    ... }
    >>> found = build_cues(examples, candidates=given, evaluator=same_letters, n_cues=1)
    >>> [(row["gold"], row["correct_cues"], row["incorrect_cues"]) for row in found.rows()]
    [('animal', ['fruit'], ['baseball']), ('club', ['cricket'], ['fruit'])]
    """
    _check_options(
        masked_lm,
        candidates,
        average=average,
        score=score,
        sizes={"n_kept": n_kept, "n_candidates": n_candidates, "n_cues": n_cues},
    )
    examples, origin, n_unlocated = _examples(dataset, config, data_dir)
    target = _target_language(dataset, config, tgt_lang, examples)
    groups, origin = _groups(examples, words, origin)
    loading = loading or LoadingOptions()
    evaluator = resolve_evaluator(
        evaluator, loading, src_lang=examples[0].src_lang, tgt_lang=target
    )
    if isinstance(evaluator, Evaluator):
        evaluator.check_languages(examples[0].src_lang, target)  # before an hour of predictions
    # without gender brackets
    rows = [{"correct_sources": [example.source], "incorrect_sources": []} for example in examples]
    for note in evaluator_notes(
        evaluator, rows, dataset=str(dataset) if isinstance(dataset, (str, Path)) else ""
    ):
        warnings.warn(note, ResultWarning, stacklevel=2)
    n_cut = 0
    if masked_lm is not None:
        known, made_by, n_cut = _predicted(
            examples,
            groups,
            masked_lm,
            n_kept=n_kept,
            average=average,
            device=loading.device,
            progress=progress,
        )
    else:
        known, made_by = _given(candidates)
    offered, left_out = _offered(groups, known, n_candidates)
    senses, n_requests = _chosen(
        examples,
        groups,
        offered,
        evaluator,
        tgt_lang=target,
        score=score,
        n_cues=n_cues,
        progress=progress,
    )
    kept = tuple(example for example in examples if example.sense in offered)
    fields = {
        **origin,
        "langs": f"{examples[0].src_lang}-{target}",
        **made_by,
        "candidates": n_candidates,
        "cues": n_cues,
        **_evaluator_fields(evaluator, score),
        "senses": len(senses),
        "n": len(kept),
        "m": _VERSION,
        "v": __version__,
    }
    return CueSet(
        senses=senses,
        left_out=left_out,
        examples=kept,
        candidates=known,
        tgt_lang=target,
        signature=signature.build("cues", fields),
        counts={
            "n_examples": len(kept),
            "n_left_out": sum(s.n_examples for s in left_out),
            "n_unlocated": n_unlocated,
            "n_short": sum(
                min(len(s.correct.cues), len(s.incorrect.cues)) < n_cues for s in senses
            ),
            "n_requests": n_requests,
            "n_cut": n_cut,
        },
    )


def _check_options(
    masked_lm: object, candidates: object, *, average: str, score: str, sizes: Mapping[str, int]
) -> None:
    if (masked_lm is None) == (candidates is None):
        raise InputError(
            "expected either masked_lm (--masked-lm) or candidates (--candidates), got "
            + ("neither" if candidates is None else "both")
        )
    for name, value, known in (("average", average, AVERAGES), ("score", score, SCORES)):
        if value not in known:
            raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
    for name, size in sizes.items():
        if size < 1:
            raise InputError(f"{name}: expected at least 1, got {size}")


def _examples(
    dataset: str | Path | Sequence[ContrastiveSourceExample | ProbingExample],
    config: str | None,
    data_dir: str | Path | None,
) -> tuple[list[SenseExample], dict[str, str], int]:
    """The examples whose word is located, what the signature says of the data, and the number of
    the others.
    """
    if isinstance(dataset, (str, Path)) and is_custom(dataset):
        given: Sequence[ContrastiveSourceExample | ProbingExample] = list(read_words(dataset))
        origin = {
            "data": (
                f"custom/{Path(dataset).stem}@{hashlib.sha256(Path(dataset).read_bytes()).hexdigest()[:7]}"
            )
        }
    elif isinstance(dataset, (str, Path)):
        chosen = declaration(str(dataset)).config(config).name
        given = load_examples(str(dataset), chosen, data_dir=data_dir)
        origin = {"data": signature_fields(str(dataset), chosen, data_dir=data_dir)["data"]}
    else:
        given, origin = dataset, {"data": "own"}
    converted = [_sense_example(row, example) for row, example in enumerate(given)]
    found = [example for example in converted if example is not None]
    if not found:
        raise InputError(
            "expected at least one example whose ambiguous word is located in the source, got none"
            f" among {len(given)} examples"
        )
    return found, origin, len(given) - len(found)


def _sense_example(
    row: int, example: ContrastiveSourceExample | ProbingExample | ContrastiveTranslationExample
) -> SenseExample | None:
    remedy = (
        "cues are built for datasets of word senses that have reference translations, such as mucow"
    )
    if isinstance(example, ContrastiveTranslationExample):
        raise InputError(
            f"row {row}: expected an example of a word sense, got a contrastive translation;"
            f" {remedy}"
        )
    word, reference = (example.extra.get(key, "") for key in ("ambiguous_word", "reference"))
    if missing := [
        name
        for name, value in (
            ("gold", example.gold),
            ("ambiguous_word", word),
            ("reference", reference),
        )
        if not value.strip()
    ]:
        raise InputError(
            f"row {row}: expected gold (the sense), ambiguous_word and reference, got no"
            f" {', '.join(missing)}; {remedy}"
        )
    if example.focus is None:
        return None
    return SenseExample(
        id=example.id,
        src_lang=example.src_lang,
        tgt_lang=example.tgt_lang,
        source=example.source,
        focus=example.focus,
        category=example.category,
        gold=example.gold,
        ambiguous_word=word,
        reference=reference,
    )


def _target_language(
    dataset: object, config: str | None, tgt_lang: str | None, examples: Sequence[SenseExample]
) -> str:
    if isinstance(dataset, (str, Path)) and not is_custom(dataset):
        return check_target_language(
            str(dataset), declaration(str(dataset)).config(config).name, tgt_lang
        )
    found = {example.tgt_lang for example in examples if example.tgt_lang} | (
        {tgt_lang} if tgt_lang else set()
    )
    if len(found) != 1:
        raise InputError(
            "expected one target language of the examples and of tgt_lang (--tgt-lang) together,"
            f" got {', '.join(sorted(found)) or 'none'}"
        )
    return found.pop()


def _groups(
    examples: Sequence[SenseExample], words: Sequence[str] | None, origin: dict[str, str]
) -> tuple[dict[Sense, list[int]], dict[str, str]]:
    """The rows of each sense of the words asked for."""
    groups: dict[Sense, list[int]] = {}
    for row, example in enumerate(examples):
        groups.setdefault(example.sense, []).append(row)
    if words is None:
        return groups, origin
    known = {word for word, _ in groups}
    if isinstance(words, str) or not words or not known.issuperset(words):
        got = (
            repr(words)
            if isinstance(words, str) or not words
            else ", ".join(sorted(set(words) - known))
        )
        raise InputError(
            "words: expected a list of ambiguous words of the data, such as"
            f" {', '.join(sorted(known)[:3])}; got {got}"
        )
    return {sense: rows for sense, rows in groups.items() if sense[0] in words}, {
        **origin,
        "words": ",".join(sorted(set(words))),
    }


def _predicted(
    examples: Sequence[SenseExample],
    groups: Mapping[Sense, Sequence[int]],
    masked_lm: str | Path | MaskedLM,
    *,
    n_kept: int,
    average: str,
    device: str | None,
    progress: bool,
) -> tuple[Candidates, dict[str, str | int], int]:
    if isinstance(masked_lm, (str, Path)):
        from cc_hf.cue_building.fill_mask import load_masked_lm

        masked_lm = load_masked_lm(masked_lm, device=device)
    wanted = [row for sense in sorted(groups) for row in groups[sense]]
    masked = masked_lm.mask(
        [examples[row].source for row in wanted],
        [examples[row].focus.start for row in wanted],
        rows=wanted,
    )
    texts = dict(zip(wanted, masked, strict=True))
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    with tqdm(
        total=len(texts),
        desc="predicting",
        unit="sentence",
        disable=not progress,
        delay=1,
        leave=False,
    ) as bar:
        for word, sense in sorted(groups):
            rows = groups[word, sense]
            logprobs = (
                found_words
                for _, found_words in masked_lm.word_logprobs([texts[row] for row in rows])
            )
            found.setdefault(word, {})[sense] = most_probable(
                masked_lm.words, logprobs, n=n_kept, average=average
            )
            bar.update(len(rows))
    return (
        found,
        {"mlm": masked_lm.signature_name, "avg": average, "kept": n_kept},
        sum(text.is_cut for text in masked),
    )


def _given(candidates: str | Path | Candidates | None) -> tuple[Candidates, dict[str, str | int]]:
    if isinstance(candidates, (str, Path)):
        path = Path(candidates)
        found = parse_candidates("\n".join(read_lines(path)), name=str(path))
        return found, {"list": f"{path.name}@{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"}
    return candidates or {}, {"list": "own"}


def _offered(
    groups: Mapping[Sense, Sequence[int]], known: Candidates, n_candidates: int
) -> tuple[dict[Sense, SenseCandidates], tuple[LeftOut, ...]]:
    """Per sense what it is chosen from, and the senses for which there is nothing to choose."""
    offered, left_out = {}, []
    n_senses = Counter(word for word, senses in known.items() for _ in senses)
    for word, sense in sorted(groups):
        if sense not in known.get(word, {}):
            raise DataError(
                f"candidates: expected words for {word!r} in the sense {sense!r}, got"
                f" {'only other senses' if word in known else 'nothing for this word'}"
            )
        found = (
            discriminating_words(known[word], ambiguous_word=word, n=n_candidates)[sense]
            if n_senses[word] > 1
            else SenseCandidates((), ())
        )
        if found.correct and found.incorrect:
            offered[word, sense] = found
        else:
            left_out.append(
                LeftOut(
                    word,
                    sense,
                    len(groups[word, sense]),
                    "only sense" if n_senses[word] == 1 else "no candidates",
                )
            )
    if not offered:
        raise InputError(
            "expected at least one ambiguous word with two senses that candidates tell apart, got"
            f" none among {len(left_out)} senses"
        )
    return offered, tuple(left_out)


def _chosen(
    examples: Sequence[SenseExample],
    groups: Mapping[Sense, Sequence[int]],
    offered: Mapping[Sense, SenseCandidates],
    evaluator: Evaluator | ScoreFunction,
    *,
    tgt_lang: str,
    score: str,
    n_cues: int,
    progress: bool,
) -> tuple[tuple[SenseCues, ...], int]:
    found: list[SenseCues] = []
    n_requests = sum(
        len(groups[sense]) * (len(o.correct) + len(o.incorrect)) for sense, o in offered.items()
    )
    with tqdm(
        total=n_requests, desc="scoring", unit="pair", disable=not progress, delay=1, leave=False
    ) as bar:
        for block in _blocks(examples, groups, offered):
            wanted = [request for requests in block.values() for request in requests]
            scores = pair_scores(
                wanted, evaluator, src_lang=examples[0].src_lang, tgt_lang=tgt_lang, score=score
            )
            bar.update(len(wanted))
            at = 0
            for sense, requests in block.items():
                o, n = offered[sense], len(groups[sense])
                table = scores[at : at + len(requests)].reshape(n, -1)
                at += len(requests)
                correct = best_cues(o.correct, table[:, : len(o.correct)], correct=True, n=n_cues)
                incorrect = best_cues(
                    o.incorrect, table[:, len(o.correct) :], correct=False, n=n_cues
                )
                found.append(SenseCues(*sense, n, o, correct, incorrect))
    return tuple(found), n_requests


def _blocks(
    examples: Sequence[SenseExample],
    groups: Mapping[Sense, Sequence[int]],
    offered: Mapping[Sense, SenseCandidates],
) -> Iterator[dict[Sense, list[ScoringRequest]]]:
    """Requests of whole senses, an example after the other, the correct candidates first; about
    `_BLOCK` at a time.
    """
    block: dict[Sense, list[ScoringRequest]] = {}
    for sense, o in offered.items():
        block[sense] = [
            ScoringRequest(
                insert_before(examples[row].source, examples[row].focus.start, cue),
                examples[row].reference,
                row,
            )
            for row in groups[sense]
            for cue in (*o.correct, *o.incorrect)
        ]
        if sum(map(len, block.values())) >= _BLOCK:
            yield block
            block = {}
    if block:
        yield block


def _evaluator_fields(evaluator: Evaluator | ScoreFunction, score: str) -> dict[str, str]:
    if isinstance(evaluator, Evaluator):
        return {**evaluator.signature_fields(), "score": score}
    return {
        "eval": f"function {getattr(evaluator, '__name__', type(evaluator).__name__)}",
        "score": "own",
    }
