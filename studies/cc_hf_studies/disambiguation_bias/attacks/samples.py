"""Adversarial samples and judgements of them as JSONL files, read and written row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from cc_hf.errors import FileError, InputError, in_file, shown
from cc_hf.reading import JSONL
from cc_hf.records import COUNT
from cc_hf.tables.rows import read_rows
from cc_hf_studies.disambiguation_bias import homographs
from cc_hf_studies.disambiguation_bias.attacks.changes import KINDS

__all__ = [
    "AdversarialSample",
    "AttackJudgement",
    "read_judgements",
    "read_samples",
    "write_rows",
]


@dataclass(frozen=True, slots=True)
class AdversarialSample:
    """A sentence with another adjective, to flip the sense of a homograph (thesis, section 3.3.1).

    Attributes:
        id: unique within a file.
        seed_id: id of the tagged pair from which it was made.
        kind: a name of `cc_hf_studies.disambiguation_bias.attacks.changes.KINDS`.
        start: 0-based position of the adjective in characters of `source`.
        replaced: the adjective whose place it takes; "" for an insertion.
        homograph_start, seed_homograph_start: 0-based position of the homograph in both sources.
        seed_cluster: id of the right sense.
        adv_cluster: id of the wrong sense of which the adjective is an attractor.
        freq_adv, ppmi_adv: bias of the adjective towards the wrong sense, by relative frequency and
            by positive pointwise mutual information.
        freq_seed, ppmi_seed: the same towards the right sense.
        freq_diff, ppmi_diff: `*_adv` less `*_seed`.
        fluency_ratio: perplexity of the sample divided by that of the seed; None if it was not
            computed.
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
        seed_outcome, outcome: outcome of the homograph in both translations, such as "correct",
            "flipped:3", "unknown" or "deleted"; "" if no lexicon judged it.
        seed_probability_correct, probability_correct: probability of the right sense by
            contrastive conditioning, in [0, 1]; None if no evaluator judged it.
    """

    sample: AdversarialSample
    seed_translation: str
    translation: str
    seed_outcome: str = ""
    outcome: str = ""
    seed_probability_correct: float | None = None
    probability_correct: float | None = None

    def succeeds(self, judge: str) -> bool | None:
        """Return whether the attack succeeds; None if the seed is not translated correctly.

        By the lexicon, it succeeds if the seed's outcome is "correct" and the sample's is flipped
        to the sense of the attractor. By contrastive conditioning, it succeeds if the seed's
        translation has the right sense with a probability of at least 0.5, and the sample's with
        less.
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


_KINDS = {"str": str, "int": COUNT, "float": float, "float | None": float | None}
_WRITTEN = "write the file with `cc-hf study disambiguation_bias attack {}`"


def read_samples(path: str | Path) -> Iterator[AdversarialSample]:
    """Yield the samples of a file that `attack build` wrote, without loading it whole."""
    seen: set[str] = set()
    remedy = _WRITTEN.format("build")
    for where, row in read_rows(Path(path), JSONL, _form(AdversarialSample), remedy=remedy):
        with in_file(where, remedy):
            sample = _sample(row)
        if sample.id in seen:
            raise FileError(where, f"the id {sample.id!r} occurs twice; give each row its own")
        seen.add(sample.id)
        yield sample


def read_judgements(path: str | Path) -> Iterator[AttackJudgement]:
    """Yield the judgements of a file that `attack judge` wrote, without loading it whole."""
    remedy = _WRITTEN.format("judge")
    form = {**_form(AdversarialSample), **_form(AttackJudgement)}
    for where, row in read_rows(Path(path), JSONL, form, remedy=remedy):
        with in_file(where, remedy):
            judgement = AttackJudgement(_sample(row), **_values(AttackJudgement, row))
        yield judgement


def write_rows(path: str | Path, rows: Iterable[AdversarialSample | AttackJudgement]) -> int:
    """Write samples or judgements to a JSONL file, completely or not at all."""
    columns = (asdict(row) for row in rows)
    return homographs.write_rows(path, ({**row.pop("sample", {}), **row} for row in columns))


def _form(kind: type) -> dict[str, Any]:
    """Return the form of a row that has the fields of a dataclass."""
    return {
        field.name if field.default is MISSING else f"{field.name}?": _KINDS[str(field.type)]
        for field in fields(kind)
        if field.type in _KINDS
    }


def _values(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: row[field.name] for field in fields(kind) if field.name in row}


def _sample(row: Mapping[str, Any]) -> AdversarialSample:
    """Return the sample of a row that has the form of one."""
    sample = AdversarialSample(**_values(AdversarialSample, row))
    if sample.kind not in KINDS:
        raise InputError(f"kind: expected {', '.join(KINDS)}, got {shown(sample.kind)}")
    for name, start, text in (
        ("start", sample.start, sample.source),
        ("homograph_start", sample.homograph_start, sample.source),
        ("seed_homograph_start", sample.seed_homograph_start, sample.seed_source),
    ):
        if start >= len(text):
            raise InputError(f"{name}: expected a position in {text!r}, got {start}")
    if sample.seed_cluster == sample.adv_cluster:
        raise InputError(f"expected two different clusters, got {sample.seed_cluster!r} for both")
    return sample
