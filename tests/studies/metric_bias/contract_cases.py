"""Cases of the study for the contracts of all studies."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np

from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.studies.metric_bias.audit import audit_of_scores
from cc_hf.studies.metric_bias.preference import preference
from cc_hf.studies.metric_bias.sets import read_pairs
from tests.helpers.contract_cases import ContractCases, FigureCase, KeptFile, Row, opposed

__all__ = ["CASES"]

_SCORES = {"id": "0", "setting": "open", "score_masculine": 0.5, "score_feminine": 0.4}
_PAIR = {
    "source": "I am a nurse.",
    "masculine": "Ich bin Pfleger.",
    "feminine": "Ich bin Pflegerin.",
}


def _row(number: int, draw: random.Random) -> Row:
    return draw.random(), draw.random()


def _figures(rows: Sequence[Row]) -> dict[str, float]:
    scores = np.array(rows)
    shares = scores[:, 0] / scores.sum(axis=1)
    lean = preference(scores, probabilities=shares, bootstrap=Bootstrap(10))
    return {
        "masculine": lean.masculine.value - 0.5,
        "median shift": lean.median_shift,
        "p": lean.p_value,
    }


CASES = ContractCases(
    figures={
        "preference": FigureCase(
            _row,
            _figures,
            again=None,
            turned=lambda row: row[::-1],
            of_turned=opposed("shift", "masculine"),
        )
    },
    kept_files=(
        KeptFile("scores.jsonl", f"{json.dumps(_SCORES)}\n", audit_of_scores),
        KeptFile("own.jsonl", f"{json.dumps(_PAIR)}\n", read_pairs),
    ),
    page_files={
        "scores.jsonl": f"{json.dumps(_SCORES)}\n",
        "own.jsonl": f"{json.dumps(_PAIR)}\n",
    },
)
