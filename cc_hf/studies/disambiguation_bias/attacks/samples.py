"""Adversarial samples and judgements of them as JSONL files, read and written row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from cc_hf.data.files.text_files import stream_lines
from cc_hf.errors import InputError, shown
from cc_hf.files import parse_object
from cc_hf.studies.disambiguation_bias import homographs
from cc_hf.studies.disambiguation_bias.attacks.changes import KINDS

__all__ = [
    "AdversarialSample",
    "AttackJudgement",
    "read_judgements",
    "read_samples",
    "write_rows",
]


@dataclass(frozen=True, slots=True)
class AdversarialSample:
    """A sentence with another adjective, which is to flip the sense of a homograph (thesis, section
    3.3.1).

    Attributes:
        id: unique within a file.
        seed_id: id of the tagged pair from which it was made.
        kind: a name of `cc_hf.studies.disambiguation_bias.attacks.changes.KINDS`.
        start: 0-based position of the adjective in characters of `source`.
        replaced: the adjective whose place it takes; "" for an insertion.
        homograph: the homograph, as the lexicon has it.
        homograph_start: 0-based position of the homograph in `source`.
        seed_homograph_start: its position in `seed_source`.
        seed_cluster: id of the right sense.
        adv_cluster: id of the wrong sense of which the adjective is an attractor.
        freq_adv, ppmi_adv: bias of the adjective towards the wrong sense, by relative frequency and
            by positive pointwise mutual information.
        freq_seed, ppmi_seed: the same towards the right sense.
        freq_diff, ppmi_diff: `*_adv` less `*_seed`.
        fluency_ratio: perplexity of the sample divided by that of the seed; None if it was not
            computed.
        seed_reference: reference translation of `seed_source`; "" if there is none.
    """

    id: str
    seed_id: str
    kind: str
    start: int
    adjective: str
    replaced: str
    homograph: str
    homograph_start: int
    seed_homograph_start: int
    seed_cluster: str
    adv_cluster: str
    source: str
    seed_source: str
    freq_adv: float
    freq_seed: float
    freq_diff: float
    ppmi_adv: float
    ppmi_seed: float
    ppmi_diff: float
    fluency_ratio: float | None = None
    seed_reference: str = ""


@dataclass(frozen=True, slots=True)
class AttackJudgement:
    """The outcome of the homograph in the translations of a seed and of a sample made from it.

    Attributes:
        seed_outcome: outcome of the homograph in `seed_translation`, such as "correct",
            "flipped:3", "unknown" or "deleted"; "" if no lexicon judged it.
        outcome: the same in `translation`.
        seed_probability_correct: probability of the right sense in `seed_translation` by
            contrastive conditioning, in [0, 1]; None if no evaluator judged it.
        probability_correct: the same in `translation`.
    """

    sample: AdversarialSample
    seed_translation: str
    translation: str
    seed_outcome: str = ""
    outcome: str = ""
    seed_probability_correct: float | None = None
    probability_correct: float | None = None

    def succeeds(self, judge: str) -> bool | None:
        """Return whether the attack succeeds.

        By the lexicon, it succeeds if the seed's outcome is "correct" and the sample's is flipped
        to the sense of the attractor. By contrastive conditioning, it succeeds if the seed's
        translation has the right sense with a probability of at least 0.5, and the sample's with
        less.

        Args:
            judge: a name of `cc_hf.studies.disambiguation_bias.attacks.judge.JUDGES`.

        Returns:
            Whether it succeeds; None if the seed is not translated correctly, or was not judged.
        """
        if judge == "lexicon":
            if self.seed_outcome != "correct":
                return None
            return self.outcome == f"flipped:{self.sample.adv_cluster}"
        if self.seed_probability_correct is None or self.probability_correct is None:
            return None
        if self.seed_probability_correct < 0.5:
            return None
        return self.probability_correct < 0.5


_Row = TypeVar("_Row")
_KINDS_OF_VALUES: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "text"),
    "int": ((int,), "an integer"),
    "float": ((int, float), "a number"),
    "float | None": ((int, float, type(None)), "a number or null"),
}


def read_samples(path: str | Path) -> Iterator[AdversarialSample]:
    """Yield the samples of a file that `cc-hf study disambiguation_bias attack build` wrote,
    without loading it whole.

    Args:
        path: a JSONL file with the fields of `AdversarialSample`; other keys are ignored.

    Raises:
        InputError: for a file that does not exist, an id that occurs twice, or a line that is not
            as described. The message names the line.
    """
    seen: set[str] = set()
    for sample, where in _rows(path, _sample, "study disambiguation_bias attack build"):
        if sample.id in seen:
            raise InputError(f"{where}: the id {sample.id!r} occurs twice; give each row its own")
        seen.add(sample.id)
        yield sample


def read_judgements(path: str | Path) -> Iterator[AttackJudgement]:
    """Yield the judgements of a file that `cc-hf study disambiguation_bias attack judge` wrote,
    without loading it whole.

    Args:
        path: a JSONL file with the fields of `AdversarialSample` and `AttackJudgement`.

    Raises:
        InputError: for a file that does not exist, or a line that is not as described. The message
            names the line.
    """
    for judgement, _ in _rows(path, _judgement, "study disambiguation_bias attack judge"):
        yield judgement


def write_rows(path: str | Path, rows: Iterable[AdversarialSample | AttackJudgement]) -> int:
    """Write samples or judgements to a JSONL file, completely or not at all.

    Returns:
        The number of rows.

    Raises:
        InputError: if the file cannot be written, or another run is writing it.
    """
    columns = (asdict(row) for row in rows)
    return homographs.write_rows(path, ({**row.pop("sample", {}), **row} for row in columns))


def _rows(
    path: str | Path, parse: Callable[[Mapping[str, Any], str], _Row], command: str
) -> Iterator[tuple[_Row, str]]:
    """Yield each row of a file, and its file and line for messages."""
    for number, line in enumerate(stream_lines(Path(path)), 1):
        if not line.strip():
            continue
        where = f"{path}: line {number}"
        row = parse_object(line, where, form=f"a JSON object, as `cc-hf {command}` writes it")
        try:
            parsed = parse(row, where)
        except InputError as error:
            raise InputError(f"{error}; write the file with `cc-hf {command}`") from None
        yield parsed, where


def _values(kind: type, row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the checked values of the fields of a dataclass."""
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.type not in _KINDS_OF_VALUES:
            continue
        types, name = _KINDS_OF_VALUES[str(field.type)]
        value = row.get(field.name)
        is_number = isinstance(value, float) and not math.isfinite(value)
        if not isinstance(value, types) or isinstance(value, bool) or is_number:
            raise InputError(f"{where}: {field.name}: expected {name}, got {shown(value)}")
        values[field.name] = value
    return values


def _sample(row: Mapping[str, Any], where: str) -> AdversarialSample:
    sample = AdversarialSample(**_values(AdversarialSample, {"seed_reference": "", **row}, where))
    if sample.kind not in KINDS:
        raise InputError(f"{where}: kind: expected {', '.join(KINDS)}, got {shown(sample.kind)}")
    for name, start, text in (
        ("start", sample.start, sample.source),
        ("homograph_start", sample.homograph_start, sample.source),
        ("seed_homograph_start", sample.seed_homograph_start, sample.seed_source),
    ):
        if not 0 <= start < len(text):
            raise InputError(f"{where}: {name}: expected a position in {text!r}, got {start}")
    if sample.seed_cluster == sample.adv_cluster:
        raise InputError(
            f"{where}: expected two different clusters, got {sample.seed_cluster!r} for both"
        )
    return sample


def _judgement(row: Mapping[str, Any], where: str) -> AttackJudgement:
    return AttackJudgement(_sample(row, where), **_values(AttackJudgement, row, where))
