"""Results in files beside human labels in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.comparing.people.agreement import (
    Assumption,
    HumanAgreement,
    agreement_with_labels,
)
from cc_hf.comparing.people.annotations import Annotation, read_annotations
from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import InputError
from cc_hf.plugins.raters.annotators import (
    AnnotatorAgreement,
    EarlierAgreement,
    annotator_agreement,
    earlier_agreement,
)
from cc_hf.plugins.raters.drawn_results import examples_without_corpora
from cc_hf.plugins.raters.options import AgreementOptions
from cc_hf.plugins.raters.sampling import (
    FORMS,
    annotations_of_system,
    assumption_of_system,
    earlier_agreement_of_system,
    system_of_result,
)
from cc_hf.plugins.raters.sheets import read_key_and_sheets
from cc_hf.results import EvaluationResult

__all__ = ["AgreementRow", "compare_with_labels"]

_Labels = tuple[list[Annotation], tuple[EarlierAgreement, ...], Assumption | None]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A result, its agreement with annotators, and theirs with each other and earlier ones."""

    result: EvaluationResult
    agreement: HumanAgreement
    annotators: AnnotatorAgreement
    earlier: tuple[EarlierAgreement, ...] = ()


def compare_with_labels(
    results: Sequence[Path], labels: Sequence[Path], options: AgreementOptions
) -> list[AgreementRow]:
    """Compare all results of files with human labels."""
    labels_of = _labels(results, labels)
    assumption = _assumption(options)
    rows = []
    for number, path in enumerate(results):
        for judged in read_result_file(path).results:
            given, earlier, assumed = labels_of(number, judged)
            agreement = agreement_with_labels(
                judged,
                given,
                skip_others=options.skip_others,
                inconclusive=options.inconclusive,
                assumption=assumption or assumed,
            )
            rows.append(AgreementRow(judged, agreement, annotator_agreement(given), earlier))
    return rows


def _labels(
    results: Sequence[Path], files: Sequence[Path]
) -> Callable[[int, EvaluationResult], _Labels]:
    """Return a function from the number of a file and its result to the result's labels."""
    if any(file.suffix.lower() in (".csv", ".json") for file in files):
        sheet_key, raters = read_key_and_sheets(files, FORMS)

        def of_sheets(number: int, judged: EvaluationResult) -> _Labels:
            system = system_of_result(sheet_key, judged)
            return (
                annotations_of_system(sheet_key, raters, system),
                earlier_agreement_of_system(sheet_key, raters, system),
                assumption_of_system(sheet_key, system),
            )

        return of_sheets
    if len(files) not in (1, len(results)):
        raise InputError(
            f"labels: expected one file, or one per file of results ({len(results)}), or filled"
            f" sheets with their key (.json), got {len(files)} files"
        )
    read = [(read_annotations(file), earlier_agreement(file)) for file in files]
    return lambda number, judged: (*read[number % len(read)], None)


def _assumption(options: AgreementOptions) -> Assumption | None:
    """Return the verdicts of the one result of a file that has inconclusive verdicts."""
    if options.assume is None:
        return None
    results = [
        result
        for result in read_result_file(options.assume).results
        if any(j.verdict == "inconclusive" for j in result.judgements)
    ]
    if len(results) != 1:
        raise InputError(
            "assume: expected a file with one result that has inconclusive verdicts, such as one by"
            f" mucow_pattern_matching, got {len(results)} such results in {options.assume}"
        )
    corpora = options.without_corpus
    return Assumption(
        results[0], examples_without_corpora(results[0], corpora) if corpora else None
    )
