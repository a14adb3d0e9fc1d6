"""Correct the figures of a result by labels of people, or by those of another result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cc_hf import registry, signature
from cc_hf.comparing.people.agreement import labelled_judgements
from cc_hf.comparing.people.annotations import Annotation, read_annotations
from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import InputError
from cc_hf.evaluation.correction import corrected, transferred
from cc_hf.results import EvaluationResult, different_options
from cc_hf.schema import NEITHER
from cc_hf.statistics.agreement import mean_kappa

__all__ = ["trusted_labels", "with_labels"]

_PEOPLE = "people"
#: Labels of translations that show neither reading, in the words of published and of own files.
_NEITHER = ("Both / Neutral / Ambiguous", "neutral", NEITHER)


def with_labels(result: EvaluationResult, files: Sequence[Path]) -> EvaluationResult:
    """Add figures that include the judge's mistakes, by labels of some translations.

    Where several people labelled a translation, it is as right as the share of them says.
    """
    if any(path.suffix.lower() == ".json" for path in files):
        return _by_sheets(result, files) if len(files) > 1 else _transferred(result, files[0])
    if len(files) != 1:
        raise InputError(
            f"labels: expected one JSONL file, or filled sheets with their key (.json), got"
            f" {len(files)} files without a key"
        )
    annotations = read_annotations(files[0])
    trusted, inclusion = trusted_labels(result, annotations)
    neither = neither_labels(result, annotations)
    if None in inclusion.values():
        if len(trusted) < result.n:
            missing = next(name for name, p in inclusion.items() if p is None)
            raise InputError(
                f"{files[0]}: example {missing}: expected the key inclusion, the probability with"
                f" which the translation was drawn from the {result.n:,} ({len(trusted)}/{result.n}"
                " for each of a simple random draw), got none; without it, labels of translations"
                " that were not drawn at random would bias the figures"
            )
        about = _about(annotations)
        return corrected(result, trusted, by=_PEOPLE, about=about, neither=neither)
    known = {name: p for name, p in inclusion.items() if p is not None}
    return corrected(
        result,
        trusted,
        by=_PEOPLE,
        about=_about(annotations),
        inclusion=known,
        neither=neither,
    )


def _by_sheets(result: EvaluationResult, files: Sequence[Path]) -> EvaluationResult:
    labels_of_sheets = registry.resolve("public name", "labels_of_sheets")
    annotations, inclusion, assumption = labels_of_sheets(result, files)
    trusted, _ = trusted_labels(result, annotations)
    neither = neither_labels(result, annotations)
    about = _about(annotations)
    if assumption is not None:
        assumed = {
            j.example_id: float(j.is_correct)
            for j in assumption.decided.judgements
            if j.verdict != "inconclusive"
        }
        n_assumed = len(assumed.keys() - trusted.keys())
        about = (
            f"{len(trusted):,} {about}, and verdicts of {assumption.decided.metric} that"
            f" stand for {n_assumed:,} labels, whose own mistakes are in no figure and no interval"
        )
        trusted = {**assumed, **trusted}
    return corrected(result, trusted, by=_PEOPLE, about=about, inclusion=inclusion, neither=neither)


def _about(annotations: Sequence[Annotation]) -> str:
    """Return whose labels these are, with the agreement of the people among themselves."""
    labelled = [a.raw or a.labels for a in annotations if a.labels]
    kappa = mean_kappa([*zip(*labelled, strict=True)]) if labelled else None
    if kappa is None:
        return "labels of people"
    return f"labels of {len(labelled[0])} people (kappa {kappa:.2f} among themselves)"


def trusted_labels(
    result: EvaluationResult, annotations: Sequence[Annotation], *, skip_others: bool = False
) -> tuple[dict[str, float], dict[str, float | None]]:
    """Return how right each labelled translation is, and the probability of its draw.

    Args:
        skip_others: whether labels of other translations are accepted, and ignored.

    Returns:
        Two mappings by id: the share of people who find it right, in [0, 1]; and the probability,
        None where the labels do not say it.
    """
    tells_neither = _tells_neither(result)
    trusted: dict[str, float] = {}
    inclusion: dict[str, float | None] = {}
    labelled = [annotation for annotation in annotations if annotation.labels]
    for annotation, judgement in labelled_judgements(result, labelled, skip_others=skip_others):
        if judgement is None:
            continue
        if not annotation.gold:
            raise InputError(
                f"gold_reading: example {judgement.example_id}: expected the right reading, without"
                " which no label says whether the translation is right, got none"
            )
        said = zip(annotation.labels, _are_neither(annotation), strict=True)
        n_right = sum(
            label == annotation.gold and not (tells_neither and is_neither)
            for label, is_neither in said
        )
        trusted[judgement.example_id] = n_right / len(annotation.labels)
        inclusion[judgement.example_id] = annotation.inclusion
    return trusted, inclusion


def neither_labels(result: EvaluationResult, annotations: Sequence[Annotation]) -> dict[str, float]:
    """Return the share of people who find neither reading in a translation, of a result that tells
    this apart; {} for others.
    """
    shares: dict[str, float] = {}
    if not _tells_neither(result):
        return shares
    labelled = [annotation for annotation in annotations if annotation.labels]
    for annotation, judgement in labelled_judgements(result, labelled, skip_others=True):
        are_neither = _are_neither(annotation)
        if judgement is not None and any(are_neither):
            shares[judgement.example_id] = sum(are_neither) / len(are_neither)
    return shares


def _tells_neither(result: EvaluationResult) -> bool:
    return NEITHER in signature.parse(result.signature)[1]


def _are_neither(annotation: Annotation) -> list[bool]:
    """Return whether each label says that the translation shows neither reading."""
    return [label in _NEITHER for label in annotation.raw or annotation.labels]


def _transferred(result: EvaluationResult, path: Path) -> EvaluationResult:
    """Return the figures corrected by the result in a file that is by the same metric."""
    labelled = [r for r in read_result_file(path).results if r.metric == result.metric]
    if len(labelled) != 1:
        raise InputError(f"{path}: expected a result by {result.metric} with trusted verdicts")
    if option := different_options(result, labelled[0], ignored=("data", "n")):
        raise InputError(
            f"{path}: expected a result by the same judge and options, got another {option!r}"
        )
    return transferred(result, labelled[0])
