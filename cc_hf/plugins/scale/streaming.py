"""Judging a stream of rows that does not fit into memory, chunk by chunk.

A chunk is judged as a whole, whoever judges it, so that jobs which share the chunks of a stream
give the verdicts of one to the bit. What is kept of a row is 54 bytes (`tally`).
"""

from __future__ import annotations

import contextlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf.errors import CCError, FileError, InputError, ResultWarning, in_file, shown
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.inspection import inspected, unusable_notes
from cc_hf.evaluation.judging import score_rows
from cc_hf.evaluators.base import Evaluator, library_versions
from cc_hf.evaluators.contests import has_revision, scorer_fields
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.evaluators.suitability import embedded_name, has_other_cues, outside_notes
from cc_hf.files import exists, is_file
from cc_hf.gender_marking import has_gendered_pronoun
from cc_hf.languages import base_code
from cc_hf.metrics.base import Metric, Origin, Rows, StreamedMetric, written
from cc_hf.metrics.neither import OFF, not_given
from cc_hf.normalization import composed, is_blank
from cc_hf.plugins.scale.parts import part_numbers
from cc_hf.plugins.scale.poisson import poisson_intervals
from cc_hf.plugins.scale.row_streams import Chunk, RowStream, TranslatedRow
from cc_hf.plugins.scale.tally import (
    FLAGS,
    ROW,
    Tally,
    check_row_ids,
    read_tally,
    text_hash,
    write_tally,
)
from cc_hf.records import POSITIVE, read_value
from cc_hf.results import EvaluationResult
from cc_hf.schema import INCONCLUSIVE, NEITHER, Judgement
from cc_hf.signature import with_scores
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.text.unusable import unusable_rows

__all__ = ["JudgedStream", "evaluate_stream", "judge_stream"]

#: Count of what was given -> the note on it.
_OF_GIVEN = {
    "n_wrapped": "{} translations stand in text that is no translation",
    "n_untranslated": "{} translations are refusals or placeholders; they are not right",
    "n_both_genders": "{} translations name both genders; they have no verdict",
}

#: What a file of verdicts says beside them.
_HELD: dict[str, Any] = {
    "n_rows": POSITIVE,
    "about": {
        **{"options": {}, "tgt_lang": str, "model": {"langs": str, "eval": str}},
        **{"has_revision": bool, "embedded": str, "chunk_rows": POSITIVE},
    },
}
_FORMAT = 2  # 2: whether a translation has a pronoun that shows gender, is wrapped, or is none
_DEFAULT = "contrastive_conditioning"
_ROW_NUMBER = re.compile(r"\b(rows?) (\d+)(?: to (\d+))?")
#: Columns of a tally that follow from the rows of the stream, without an evaluator.
_GIVEN = ("row", "id_hash", "reference_hash", "source_hash", "translation_hash")


@dataclass(frozen=True, eq=False)
class JudgedStream:
    """The verdicts on a stream, or on a part of it.

    Attributes:
        about: what the verdicts depend on beside the rows: metric, options, evaluator, languages
            and chunks.
        tally: the verdicts.
        n_rows: number of rows of the whole stream.
    """

    about: Mapping[str, Any]
    tally: Tally
    n_rows: int

    @classmethod
    def merged(cls, parts: Iterable[JudgedStream]) -> JudgedStream:
        """Return all verdicts of parts, in any order. Parts may overlap."""
        several = list(parts)
        if not several:
            raise InputError("parts: expected at least one, got none")
        first = several[0]
        for part in several[1:]:
            for name in {**first.about, **part.about, "n_rows": 0}:
                left, right = (
                    p.n_rows if name == "n_rows" else p.about.get(name) for p in (first, part)
                )
                if left != right:
                    raise InputError(
                        f"parts: expected the same {name} of all, got {shown(left)} and"
                        f" {shown(right)}"
                    )
        return cls(first.about, Tally.merged(part.tally for part in several), first.n_rows)

    def save(self, path: str | Path) -> None:
        """Write the verdicts to a Parquet file."""
        write_tally(Path(path), self.tally, {"about": self.about, "n_rows": self.n_rows})

    @classmethod
    def load(cls, path: str | Path) -> JudgedStream:
        """Read the file of `save`."""
        tally, held = read_tally(Path(path))
        if not held.keys() >= {"about", "n_rows"}:
            raise FileError(path, "expected verdicts on a stream, got those of one of its chunks")
        with in_file(Path(path)):
            read_value({"about": {"metric": str}}, held)
            metric = make_metric(held["about"]["metric"])
            known = {"format": _FORMAT, "version": metric.version}
            if different := [key for key in known if held["about"].get(key) != known[key]]:
                raise InputError(
                    f"expected verdicts of this version of {metric.name}, got another"
                    f" {' and '.join(different)}; judge the rows again"
                )
            read_value(_HELD, held)
            read_value({str: str}, held["about"]["model"], "about: model")
            make_metric(metric.name, held["about"]["options"])
        return cls(held["about"], tally, held["n_rows"])

    def result(self, *, bootstrap: Bootstrap | None = None, name: str = "") -> EvaluationResult:
        """Return the figures, as `cc_hf.evaluate` returns them, without the judgements.

        Args:
            bootstrap: for intervals by the Poisson bootstrap (`poisson_intervals`), of all figures
                but minima; the signature says so. None for those of `cc_hf.evaluate`.
        """
        if (row := self.tally.first_missing(self.n_rows)) is not None:
            raise InputError(
                f"row {row}: expected a verdict on each of {self.n_rows:,} rows, got"
                f" {self.tally.n:,}; judge the missing parts, and merge them"
            )
        metric = make_metric(self.about["metric"], self.about["options"])
        streamed = _streamed(metric)
        counts = self.tally.counts()
        columns = self.tally.columns(has_neither=bool(streamed.threshold))
        lacking = columns.without_reading
        if lacking:
            options = {**self.about["options"], "neither": OFF}
            streamed, columns = _streamed(make_metric(metric.name, options)), self.tally.columns()
        model = dict(self.about["model"])
        if not self.about["has_revision"]:
            model["eval"] = with_scores(model["eval"], self.tally.scores_digest())
        unscored = {reason: counts[f"n_{reason}"] for reason in ("blank", "too_long")}
        figures = streamed.column_figures(columns, model, unscored)
        figures = streamed.with_marking(figures, counts["n_marked"], self.tally.n)
        figures = figures.with_inconclusive(self.tally.counts_by_category("n_both_genders"))
        resampling: dict[str, int] = {}
        if bootstrap is not None:
            drawn = poisson_intervals(columns, self.tally.rows["id_hash"], bootstrap)
            figures = replace(figures, intervals={**figures.intervals, **drawn})
            resampling = {"poisson": bootstrap.n_resamples, "seed": bootstrap.seed}
        of_kind = {
            kind: counts[kind] for kind in unusable_rows([], [], base_code(self.about["tgt_lang"]))
        }
        n = self.tally.n
        given = {name: counts[name] for name in _OF_GIVEN if counts[name]}
        notes = (
            *(_OF_GIVEN[name].format(f"{number:,} of {n:,}") for name, number in given.items()),
            *outside_notes(self.about["embedded"], counts["other_cues"], n),
        )
        for note in notes:
            warnings.warn(note, ResultWarning, stacklevel=2)
        unusable = {**of_kind, "n_blank": counts["n_blank"]}
        data = {"data": f"stream@{self.tally.data_digest()}"}
        result = written(
            metric,
            replace(
                figures,
                counts={**figures.counts, **of_kind, **given},
                signature={**figures.signature, "chunk": self.about["chunk_rows"]},
            ),
            metric.data_fields([], data),
            n,
            resampling,
            tgt_lang=self.about["tgt_lang"],
            origin=Origin(),
            notes=(
                *unusable_notes(unusable, counts["n_unusable"], n, stacklevel=3),
                *notes,
                *figures.notes,
                *([not_given(lacking)] if lacking else []),
            ),
        )
        return replace(result, system=name)


def judge_stream(
    stream: RowStream,
    *,
    metric: str = _DEFAULT,
    options: Mapping[str, Any] | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    folder: str | Path | None = None,
    part: str = "1/1",
) -> JudgedStream:
    """Judge the rows of a stream, or a part of them, chunk by chunk.

    Args:
        folder: a folder that gets a Parquet file with the judgements of each chunk. Chunks whose
            files it has are not judged again, so that a run which was stopped continues, and jobs
            may share it. None keeps no judgements.
    """
    number, n_parts = part_numbers(part)
    loading = loading or LoadingOptions()
    if loading.part is not None:
        raise InputError("loading: expected none of its `part`, got one; use that of the stream")
    streamed = _streamed(make_metric(metric, options))
    scorer = resolve_evaluator(
        evaluator, loading, src_lang=stream.src_lang, tgt_lang=stream.tgt_lang
    )
    judge = _Judge(stream, streamed, scorer, None if folder is None else Path(folder))
    tallies, n_rows = [], 0
    for chunk in stream.chunks():
        n_rows += chunk.n
        if chunk.number % n_parts == number - 1:
            tallies.append(judge.tally(chunk))
    if not n_rows:
        raise InputError("rows: expected at least one, got none")
    return JudgedStream(judge.about, Tally.merged(tallies), n_rows)


def evaluate_stream(
    stream: RowStream,
    *,
    metric: str = _DEFAULT,
    options: Mapping[str, Any] | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    folder: str | Path | None = None,
    bootstrap: Bootstrap | None = None,
    name: str = "",
) -> EvaluationResult:
    """Judge the rows of a stream by one metric, in memory that depends on the chunks, and 54 bytes
    for each row.

    Returns:
        The result of `cc_hf.evaluate` on the same rows, with `chunk` in its signature, and without
            judgements and figures of pairs. Scores of models may have other last digits, since
            batches are planned chunk by chunk.

    Examples:
        >>> row = {"source": "A bat.", "translation": "Ein Schläger."}
        >>> row |= {"correct_sources": ["A baseball bat."], "incorrect_sources": ["A flying bat."]}
        >>> result = evaluate_stream(
        ...     RowStream([row] * 3, "en", "de", chunk_rows=2),
        ...     evaluator=lambda sources, translations: [float("base" in s) for s in sources],
        ... )
        >>> result.n, result.scores["accuracy"], result.judgements
        (3, 1.0, ())
    """
    judged = judge_stream(
        stream, metric=metric, options=options, evaluator=evaluator, loading=loading, folder=folder
    )
    return judged.result(bootstrap=bootstrap, name=name)


def _streamed(metric: Metric) -> StreamedMetric:
    """Return a metric that can judge a stream; refuse others with the reason."""
    if isinstance(metric, StreamedMetric):
        return metric
    reason = (
        "judges the evaluator itself, by translations that the data hold"
        if not metric.takes_translations
        else "judges by words, without probabilities"
        if not metric.takes_evaluator
        else "computes its figures from all rows at once"
    )
    raise InputError(
        "metric: expected one that judges each row on its own by a probability, such as"
        f" {_DEFAULT}, got {metric.name}, which {reason}; use `cc_hf.evaluate`"
    )


@dataclass(frozen=True)
class _Judge:
    """What judges chunks of a stream."""

    stream: RowStream
    metric: StreamedMetric
    scorer: Evaluator
    folder: Path | None

    def __post_init__(self) -> None:
        if self.folder is not None:
            if exists(self.folder) and is_file(self.folder):
                raise InputError(f"folder: expected a folder, {self.folder} is a file")
            self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def about(self) -> dict[str, Any]:
        """What the verdicts depend on beside the rows, as JSON values."""
        src_lang, tgt_lang = self.stream.src_lang, self.stream.tgt_lang
        is_function = isinstance(self.scorer, FunctionEvaluator)
        about = {
            "format": _FORMAT,
            "metric": self.metric.name,
            "version": self.metric.version,
            "options": asdict(self.metric),
            "tgt_lang": tgt_lang,
            "model": {
                "langs": f"{src_lang}-{tgt_lang}",
                **scorer_fields(self.scorer, self.metric.evaluator_score),
            },
            "has_revision": has_revision(self.scorer),
            "embedded": embedded_name(self.scorer),
            "libraries": {} if is_function else library_versions(),
            "chunk_rows": self.stream.chunk_rows,
        }
        return dict(json.loads(json.dumps(about)))

    def tally(self, chunk: Chunk) -> Tally:
        """Return the verdicts on a chunk, from its file if there is one, and write it if not."""
        given = self.stream.translated(chunk, takes_blank=self.metric.counts_blank)
        with _numbered_from(chunk.first):
            rows, wrapped = self._rows(given)
        columns = _given_columns(given, rows)
        check_row_ids(columns)
        path = self.folder and self.folder / f"chunk-{chunk.number:08}.parquet"
        if path is not None and exists(path):
            return self._read(path, columns)
        with _numbered_from(chunk.first):
            judgements = self._judged(rows, given, columns, wrapped)
        tally = Tally.of(columns, [j.category for j in judgements])
        if path is not None:
            texts: dict[str, list[Any]] = {
                "example_id": [j.example_id for j in judgements],
                "translation": [row.translation for row in given],
                "verdict": [j.verdict for j in judgements],
                "score_correct": [j.score_correct for j in judgements],
                "score_incorrect": [j.score_incorrect for j in judgements],
            }
            write_tally(path, tally, {"about": self.about}, texts)
        return tally

    def _read(self, path: Path, columns: np.ndarray[Any, Any]) -> Tally:
        tally, held = read_tally(path)
        if held.get("about") != self.about:
            raise FileError(
                path,
                "expected verdicts by this metric and this evaluator, with these options, chunks"
                " and libraries, got others; name another folder",
            )
        is_same = tally.n == len(columns) and all(
            np.array_equal(tally.rows[name], columns[name]) for name in _GIVEN
        )
        if not is_same:
            raise FileError(
                path,
                "expected verdicts on these rows and translations, got those of others; name"
                " another folder, or delete the file",
            )
        return tally

    def _rows(self, given: list[TranslatedRow]) -> tuple[Rows, frozenset[int]]:
        """Return the rows of a chunk, and which are wrapped."""
        texts, references = self.metric.check_input(
            [row.translation for row in given],
            self.metric.references([row.example for row in given]),
            counts_blank=self.metric.counts_blank,
        )
        of_texts = inspected(type(self.metric), texts, _sources(given))
        rows = Rows(
            [composed(text) for text in of_texts.texts],
            references,
            [row.example.id for row in given],
            self.stream.src_lang,
            self.stream.tgt_lang,
            untranslated=of_texts.untranslated,
        )
        return rows, of_texts.wrapped

    def _judged(
        self,
        rows: Rows,
        given: list[TranslatedRow],
        columns: np.ndarray[Any, Any],
        wrapped: frozenset[int],
    ) -> tuple[Judgement, ...]:
        """Return the verdicts on a chunk, and fill the columns that follow from them."""
        scoring = score_rows(self.metric, rows, self.scorer)
        judgements = self.metric.row_judgements(rows, scoring)
        columns["probability_correct"] = [j.probability_correct for j in judgements]
        name = embedded_name(self.scorer)
        members = {
            "correct": {i for i, j in enumerate(judgements) if j.is_correct or self._is_above(j)},
            "n_blank": {i for i, text in enumerate(rows.translations) if is_blank(text)},
            "n_too_long": scoring.unscored.get("too_long", frozenset()),
            "other_cues": {i for i, row in enumerate(rows.references) if has_other_cues(name, row)}
            if name
            else set(),
            **unusable_rows(rows.translations, _sources(given), rows.tgt_lang),
            "n_wrapped": wrapped,
            "n_untranslated": set(rows.untranslated),
            "n_both_genders": {i for i, j in enumerate(judgements) if j.verdict == INCONCLUSIVE},
            "n_neither": {i for i, j in enumerate(judgements) if j.verdict == NEITHER},
            "n_marked": {
                i
                for i, text in enumerate(rows.translations)
                if has_gendered_pronoun(text, rows.tgt_lang)
            },
        }
        for flag, bit in FLAGS.items():
            columns["flags"][sorted(members.get(flag, ()))] |= bit
        return judgements

    def _is_above(self, judgement: Judgement) -> bool:
        """Return whether a translation that shows neither reading would be right without that."""
        probability = judgement.probability_correct or 0.0
        is_tie_right = probability == 0.5 and getattr(self.metric, "ties", "") == "correct"
        return judgement.verdict == NEITHER and (probability > 0.5 or is_tie_right)


def _sources(given: list[TranslatedRow]) -> list[str]:
    return [composed(row.example.source) for row in given]


def _given_columns(given: list[TranslatedRow], rows: Rows) -> np.ndarray[Any, Any]:
    columns = np.zeros(len(given), dtype=ROW)
    columns["row"] = [row.number for row in given]
    columns["id_hash"] = [text_hash(name) for name in rows.ids]
    columns["reference_hash"] = [
        text_hash(json.dumps(reference, ensure_ascii=False, sort_keys=True))
        for reference in rows.references
    ]
    columns["source_hash"] = [*map(text_hash, _sources(given))]
    columns["translation_hash"] = [text_hash(text) for text in rows.translations]
    return columns


@contextlib.contextmanager
def _numbered_from(first: int) -> Iterator[None]:
    """Count the rows that errors of the block name from the beginning of the stream."""

    def counted(match: re.Match[str]) -> str:
        numbers = [str(first + int(number)) for number in match.groups()[1:] if number]
        return f"{match[1]} {' to '.join(numbers)}"

    try:
        yield
    except CCError as error:
        error.args = (_ROW_NUMBER.sub(counted, str(error), count=1), *error.args[1:])
        raise
