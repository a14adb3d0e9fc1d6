"""Cases of the study for the contracts of all studies."""

import json
import random
from collections.abc import Sequence

import numpy as np
from cc_hf_studies.metric_bias.audit import audit_of_scores
from cc_hf_studies.metric_bias.pairs import Member, members, pair_bias
from cc_hf_studies.metric_bias.preference import preference
from cc_hf_studies.metric_bias.sets import read_pairs

from cc_hf.data.files.result_files import read_result_file
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from tests.helpers.contract_cases import ContractCases, FigureCase, KeptFile, Row, opposed

__all__ = ["CASES"]

RATED = {"id": "0", "setting": "open", "score_masculine": 0.5, "score_feminine": 0.4}
ROW = {"source": "I am a nurse.", "masculine": "Ich bin Pfleger.", "feminine": "Ich bin Pflegerin."}


def _row(number: int, draw: random.Random) -> Row:
    return draw.random(), draw.random()


def _figures(rows: Sequence[Row]) -> dict[str, float]:
    scores = np.array(rows)
    shares = scores[:, 0] / scores.sum(axis=1)
    lean = preference(scores, probabilities=shares, bootstrap=Bootstrap(10))
    centred = lean.masculine.value - 0.5
    return {"masculine": centred, "median shift": lean.median_shift, "p": lean.p_value}


_OTHER = {"male": "female", "female": "male", "": ""}


def _readings(number: int, draw: random.Random) -> Row:
    return str(number), draw.choice(tuple(_OTHER)), draw.choice(tuple(_OTHER))


def _pair_figures(rows: Sequence[Row]) -> dict[str, float]:
    bias = pair_bias(
        Member(name, gold, reading)
        for name, *readings in rows
        for gold, reading in zip(("male", "female"), readings, strict=True)
    )
    shares = {"right": bias.right, "same": bias.same, "unread": bias.unread, **bias.same_gender}
    return {name: share.value for name, share in shares.items()}


def _result(*genders: str) -> str:
    kinds = zip(("pro", "anti"), genders, strict=True)
    judged = tuple(Judgement(f"0.{k}", g, True, "Sie.", "correct", pair="0") for k, g in kinds)
    return EvaluationResult("winomt", "pairs", "de", "m", "m|n:2", 2, {}, {}, (), judged).to_json()


_BOTH = _result("male", "female")
_ANSWER = '{{"id": "own.jsonl/0/open{}", "text": "Translation {}"}}'
_PAIRS, _SCORES = (f"{json.dumps(row)}\n" for row in (ROW, RATED))

CASES = ContractCases(
    figures={
        "pairs": FigureCase(
            _readings,
            _pair_figures,
            again=lambda row: (f"again {row[0]}", *row[1:]),
            turned=lambda row: (row[0], _OTHER[row[2]], _OTHER[row[1]]),
            of_turned=lambda figures: {
                f".{_OTHER.get(k[1:], k[1:])}": v for k, v in figures.items()
            },
        ),
        "preference": FigureCase(
            _row,
            _figures,
            again=None,
            turned=lambda row: row[::-1],
            of_turned=opposed("shift", "masculine"),
        ),
    },
    kept_files=(
        KeptFile("scores.jsonl", _SCORES, audit_of_scores),
        KeptFile("own.jsonl", _PAIRS, read_pairs),
        KeptFile(
            *("pairs.json", _BOTH, read_result_file),
            lambda read, path: [pair_bias(members(result)) for result in read.results],
        ),
    ),
    page_files={
        **{"scores.jsonl": _SCORES, "own.jsonl": _PAIRS, "pairs.json": _BOTH},
        "answers.jsonl": "\n".join(map(_ANSWER.format, ("", "/swapped"), "12")),
    },
)
