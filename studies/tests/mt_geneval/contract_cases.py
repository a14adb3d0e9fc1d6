"""Cases of the study for the contracts of all studies."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cc_hf_studies.mt_geneval.sentence_gaps import sentence_gaps

from cc_hf.schema import ContrastiveSourceExample, Judgement
from studies.tests.mt_geneval.samples import counterfactual, gap_result
from tests.helpers.contract_cases import ContractCases, FigureCase, exchanged

_GENDERS = ("male", "female")

Twins = list[tuple[ContrastiveSourceExample, Judgement]]


def counterfactuals(number: int, draw: random.Random) -> Twins:
    def text() -> str:
        return " ".join(draw.choices(["er", "sie", "ist", "hier", "alt", "."], k=6))

    names = {gender: f"{number}.{gender}" for gender in _GENDERS}
    rows = []
    for gender, name in names.items():
        example = counterfactual(name, "It.", reference_raw=text())
        rows.append((example, Judgement(name, gender, True, text(), "correct")))
    return rows


def gaps(rows: Sequence[Twins]) -> Any:
    pairs = [pair for row in rows for pair in row]
    judged = gap_result(judgements=tuple(j for _, j in pairs), n=len(pairs))
    actual = sentence_gaps(judged, [example for example, _ in pairs])
    return replace(actual, largest=(), smallest=())


def gaps_again(row: Twins) -> Twins:
    pairs = [{**e.extra, "pair": f"x{e.extra['pair']}"} for e, _ in row]
    return [
        (replace(e, id=f"x{e.id}", extra=extra), replace(j, example_id=f"x{j.example_id}"))
        for (e, j), extra in zip(row, pairs, strict=True)
    ]


def turned(row: Twins) -> Twins:
    other = dict(zip(_GENDERS, _GENDERS[::-1], strict=True))
    return [(replace(e, gold=other[e.gold], category=other[e.gold]), j) for e, j in row]


CASES = ContractCases(
    figures={"sentence gaps": FigureCase(counterfactuals, gaps, gaps_again, turned, exchanged)},
    tables=(("published",),),
    reproduced={"study mt_geneval gender-ratings": "test_commands.py"},
)
