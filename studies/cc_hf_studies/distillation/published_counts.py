"""The released counts of occupations in the training data of WMT19 en-de, and in translations of
teachers and students (Vamvas & Sennrich 2021).

They are means of three seeds, so that they are not whole numbers; their spread was not released.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cc_hf.comparing.published import read_published
from cc_hf.data.declaration import SourceFile
from cc_hf.data.download import fetch
from cc_hf.errors import DataError
from cc_hf.records import read_json
from cc_hf.signature import unparse
from cc_hf_studies.distillation.gender_flows import OUTCOMES, OccupationCounts
from cc_hf_studies.distillation.occupations import OccupationForms, read_occupation_forms

__all__ = ["FORMS_FILE", "RESULTS_FILE", "printed_shares", "published_counts", "published_forms"]

_REPOSITORY = "ZurichNLP/contrastive-conditioning"
_COMMIT = "b2f1b3195cb2bb36555ab2789c58055e747240bc"
#: The forms of 48 occupations, English and German.
FORMS_FILE = SourceFile(
    _REPOSITORY,
    _COMMIT,
    "data_analysis/occupation_queries_en-de.json",
    "f1cdb59f2c649c854a81292825ab21d0a6af50ed954602e348dacaa535e4f014",
    21648,
)
#: Triples of from, to and number; "doctor_original_male" is a stage and outcome of an occupation.
RESULTS_FILE = SourceFile(
    _REPOSITORY,
    _COMMIT,
    "data_analysis/results/occupations_en-de.count_results.json",
    "1a21d77a38bf28214a2c32656df1e7e2fc60f0bcc3f884a6781019124adb37a8",
    68627,
)
_STAGES = ("original", "teacher", "student")
_OUTCOME = {"male": "male", "female": "female", "neutral": "other"}
_N_RUNS = 3


def printed_shares() -> dict[str, dict[str, float]]:
    """Return the figures of each row that the paper prints (section 4.1), in [-1, 1].

    Examples:
        >>> printed_shares()["change to teacher"]
        {'male': 0.051, 'female': -0.002}
    """
    table = read_published(Path(__file__).parent)["section 4.1"]
    return {
        row: {outcome: table.value(row, outcome) for outcome in cells}
        for row, cells in table.rows.items()
    }


def published_forms(data_dir: str | Path | None = None) -> dict[str, OccupationForms]:
    """Return the released forms of 48 occupations, English to German."""
    return read_occupation_forms(fetch(FORMS_FILE, data_dir))


def published_counts(data_dir: str | Path | None = None) -> OccupationCounts:
    """Return the released counts; no model is needed."""
    path = fetch(RESULTS_FILE, data_dir)
    rows = read_json(path, "a list of counts", [None])
    counts: dict[str, list[dict[str, float]]] = {}
    flows: dict[str, list[dict[str, dict[str, float]]]] = {}
    for number, row in enumerate(rows):
        try:
            before, after, count = row
            name, stage_name, outcome = after.rsplit("_", 2)
            stage, value = _STAGES.index(stage_name), _OUTCOME[outcome]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError(
                f"{path}: item {number}: expected from, to and number, such as"
                f' ["doctor", "doctor_original_male", 28018.0], got {str(row)[:80]}'
            ) from None
        counts.setdefault(name, [dict.fromkeys(OUTCOMES, 0.0) for _ in _STAGES])
        flows.setdefault(
            name, [{o: dict.fromkeys(OUTCOMES, 0.0) for o in OUTCOMES} for _ in _STAGES[1:]]
        )
        counts[name][stage][value] += count
        if stage:
            flows[name][stage - 1][_OUTCOME[before.rsplit("_", 1)[1]]][value] += count
    fields: Mapping[str, Any] = {
        "data": f"{_REPOSITORY}@{_COMMIT[:7]}",
        "stages": "+".join(_STAGES),
        "runs": _N_RUNS,
    }
    return OccupationCounts(
        unparse("occupations.published", fields),
        _STAGES,
        {name: tuple(of_stages) for name, of_stages in counts.items()},
        {name: tuple(steps) for name, steps in flows.items()},
        n_runs=_N_RUNS,
    )
