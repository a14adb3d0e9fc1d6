"""Cases of the study for the contracts of all studies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cc_hf.schema import ContrastiveSourceExample, Focus, Judgement
from cc_hf.studies.mt_geneval.sentence_gaps import sentence_gaps
from tests.helpers.contract_cases import ContractCases, FigureCase, exchanged
from tests.helpers.results import small_result

_GENDERS = ("male", "female")

Twins = list[tuple[ContrastiveSourceExample, Judgement]]


def counterfactuals(number: int, draw: random.Random) -> Twins:
    rows = []
    for gender in _GENDERS:
        name, words = f"{number}.{gender}", ["er", "sie", "ist", "hier", "alt", "."]
        extra = {"pair": str(number), "reference_raw": " ".join(draw.choices(words, k=6))}
        rows.append(
            (
                ContrastiveSourceExample(
                    name, "en", "de", "It.", Focus("It", 0), ("c",), ("i",), gender, gender, extra
                ),
                Judgement(name, gender, True, " ".join(draw.choices(words, k=6)), "correct"),
            )
        )
    return rows


def gaps(rows: Sequence[Twins]) -> Any:
    pairs = [pair for row in rows for pair in row]
    judged = replace(
        small_result((0.5, 0.5)), dataset="mt_geneval", config="counterfactual_de",
        judgements=tuple(j for _, j in pairs), n=len(pairs), categories=(),
    )  # fmt: skip
    found = sentence_gaps(judged, [example for example, _ in pairs])
    return replace(found, largest=(), smallest=())


def gaps_again(row: Twins) -> Twins:
    return [
        (
            replace(e, id=f"x{e.id}", extra={**e.extra, "pair": f"x{e.extra['pair']}"}),
            replace(j, example_id=f"x{j.example_id}"),
        )
        for e, j in row
    ]


def gaps_turned(row: Twins) -> Twins:
    other = dict(zip(_GENDERS, _GENDERS[::-1], strict=True))
    return [(replace(e, gold=other[e.gold], category=other[e.gold]), j) for e, j in row]


CASES = ContractCases(
    figures={"sentence gaps": FigureCase(counterfactuals, gaps, gaps_again, gaps_turned, exchanged)}
)
