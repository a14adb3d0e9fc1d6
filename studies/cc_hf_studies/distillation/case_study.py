"""Regressions of the case study on distilled models (Vamvas & Sennrich 2021, Table 3), from the
figures printed in appendix H.

`case_study.tsv` holds the two tables of appendix H, in percent as printed. Its column `seqkd` is 1
for students of sequence-level knowledge distillation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cc_hf.comparing.published import read_published
from cc_hf.plugins.seeds.system_rows import SystemRow
from cc_hf.plugins.seeds.system_table import read_system_table
from cc_hf.statistics.regression import Regression
from cc_hf_studies.common.system_columns import column_numbers, regress, select_systems

__all__ = [
    "CASE_STUDY",
    "CITATION_KEY",
    "PublishedRegression",
    "case_study_regressions",
    "case_study_systems",
    "published_regressions",
]

#: The key of the paper in `cc_hf.citations`.
CITATION_KEY = "vamvas-sennrich-2021"
#: The tables of appendix H.
CASE_STUDY = Path(__file__).with_name("case_study.tsv")


@dataclass(frozen=True, slots=True)
class PublishedRegression:
    """A block of Table 3: minimum accuracy regressed on BLEU and SeqKD, significant at p < 0.05.

    Attributes:
        dependent: the column of `CASE_STUDY` that holds the minimum accuracy.
        bleu, seqkd: the published coefficients, in percentage points.
        note: a known problem with the block; "" if there is none.
    """

    task: str
    tgt_lang: str
    dependent: str
    bleu: float
    seqkd: float
    note: str = ""


# The category with the lower accuracy; it is the same one for every printed system.
_MUCOW, _WINOMT = "mucow_infrequent", "winomt_female"
#: Task as the paper names it -> the column of `CASE_STUDY` with its minimum accuracy.
_DEPENDENT = {"MuCoW": _MUCOW, "WinoMT": _WINOMT}
#: Dataset -> its two categories and the columns of the table that hold their accuracies.
_CATEGORIES = {
    "mucow": {"frequent": "mucow_frequent", "infrequent": _MUCOW},
    "winomt": {"male": "winomt_male", "female": _WINOMT},
}
#: Models without distillation of one seed, which a line of Figure 5 joins.
_SCRATCH = {"Scratch Teacher": "Scratch", "Scratch Model": "Scratch"}


def published_regressions() -> list[PublishedRegression]:
    """Return the printed blocks of Table 3."""
    table = read_published(Path(__file__).parent)["Table 3"]
    blocks = []
    for row in table.rows:
        task, pair = row.split(" en-")
        bleu, seqkd = (table.value(row, name) for name in ("BLEU", "SeqKD"))
        note = table.note if pair == "ru" else ""
        blocks.append(PublishedRegression(task, pair, _DEPENDENT[task], bleu, seqkd, note))
    return blocks


def case_study_systems() -> list[SystemRow]:
    """Return the 60 systems of appendix H; their accuracies are weighted."""
    table = read_system_table(CASE_STUDY)
    columns = {f"{dataset}_total": f"{dataset}:weighted_accuracy" for dataset in _CATEGORIES} | {
        column: f"{dataset}:weighted_accuracy_{category}"
        for dataset, categories in _CATEGORIES.items()
        for category, column in categories.items()
    }
    minima = {
        f"{dataset}:weighted_min_accuracy": [columns[c] for c in categories.values()]
        for dataset, categories in _CATEGORIES.items()
    }
    numbers = {column: column_numbers(table, column) for column in ("bleu", *columns)}
    systems = []
    for index, row in enumerate(table):
        figures = {name: numbers[column][index] / 100 for column, name in columns.items()}
        figures |= {name: min(figures[part] for part in parts) for name, parts in minima.items()}
        systems.append(
            SystemRow(
                f"{row['model']} {row['size']}",
                row["number"],
                row["tgt_lang"],
                _SCRATCH.get(row["model"], row["model"]),
                row["size"],
                row["seqkd"] == "1",
                numbers["bleu"][index] / 100,
                figures=figures,
                minima=minima,
            )
        )
    return systems


def case_study_regressions() -> list[tuple[PublishedRegression, Regression]]:
    """Return Table 3 of the paper, each block with the regression of the printed figures."""
    systems = read_system_table(CASE_STUDY)
    return [
        (
            block,
            regress(
                select_systems(systems, {"tgt_lang": block.tgt_lang}),
                block.dependent,
                ["bleu", "seqkd"],
            ),
        )
        for block in published_regressions()
    ]
