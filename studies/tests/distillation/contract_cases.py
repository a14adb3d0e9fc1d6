"""Cases of the study for the contracts of all studies."""

import json
import random
from collections.abc import Sequence
from itertools import product

from cc_hf_studies.distillation import gender_flows
from cc_hf_studies.distillation.occupations import (
    OccupationCounter,
    OccupationForms,
    read_occupation_forms,
)
from cc_hf_studies.distillation.senses import SenseCounter

from cc_hf.data.corpora.parallel import CorpusBlock
from tests.helpers.contract_cases import ContractCases, CountCase, ForgedCommand, KeptFile, MeanCase

_PAIRS = [
    ("The doctor saw it .", "Die Ärztin sah ihn ."),
    ("The bat saw a doctor .", "Die Fledermaus sah den Arzt ."),
    ("A bat , it flew .", "Ein Schläger , er flog ."),
    ("The bat flew .", "Sie flog ."),
]
_FORMS = OccupationForms(frozenset({"doctor"}), frozenset({"Arzt"}), frozenset({"Ärztin"}))
_OCCUPATIONS = OccupationCounter({"doctor": _FORMS})
_WORDS = '{"doctor": {"src_forms": ["doctor"], "tgt_forms_male": ["Arzt"], "tgt_forms_female": []}}'
_WOMEN = "occupation,percent_women\njob0,50\njob1,12.5\n"
_REGRESSION = ("regression", "table.csv", "--dependent", "y", "--independent", "x")
_SENSES = ["bat - fledermaus", "bat - schläger"]


def block(pairs: Sequence[tuple[str, str]]) -> CorpusBlock:
    targets = [target for _, target in pairs]
    return CorpusBlock(0, 0, [source for source, _ in pairs], targets, {}, (targets,))


def occupations(draw: random.Random) -> gender_flows.OccupationCounts:
    both = product(gender_flows.OUTCOMES, repeat=2)
    paths: dict[tuple[str, ...], float] = {("cook", *of): draw.randrange(9) for of in both}
    return gender_flows.counts_of_paths("x", ["a", "b"], ["cook"], paths)


def _flow(n: int) -> dict[str, dict[str, float]]:
    numbers = {"male": 1.0 + n, "female": 1.0, "other": 0.0}
    return {a: {b: numbers[a] * (a == b) for b in numbers} for a in numbers}


_FLOWS = {f"job{n}": _flow(n) for n in range(4)}
_COUNTS = json.dumps(
    {
        **{"signature": "s|n:3", "stages": ["a", "b"], "n_pairs": 9, "n_damaged": 0, "n_runs": 1},
        "counts": {name: [{a: flow[a][a] for a in flow}] * 2 for name, flow in _FLOWS.items()},
        "flows": {name: [flow] for name, flow in _FLOWS.items()},
        **{"damaged": [[1, "why"]], "share_deviations": [], "change_deviations": []},
    }
)


def _use(counts: gender_flows.OccupationCounts, _: object) -> object:
    shares = {f"job{n}": n / 4 for n in range(4)}
    counts.to_json()
    return counts.by_frequency(), gender_flows.correlate_female_shares(counts, shares)


CASES = ContractCases(
    counts={
        "occupations": CountCase(_PAIRS, lambda rows: _OCCUPATIONS.count(block(rows))),
        "senses": CountCase(_PAIRS, lambda rows: SenseCounter(_SENSES, "de").count(block(rows))),
    },
    means={"occupations": MeanCase(occupations, gender_flows.average_counts)},
    kept_files=(
        KeptFile("counts.json", _COUNTS, gender_flows.read_occupation_counts, _use),
        KeptFile("women.csv", _WOMEN, gender_flows.read_women),
        KeptFile("forms.json", _WORDS, read_occupation_forms),
    ),
    forged=(ForgedCommand(_REGRESSION, {"table.csv": "system,x,y\na,1,2\nb,2,3\nc,3,5\nd,4,4\n"}),),
    tables=(("regression",), ("published",)),
    page_files={
        "train.en": "The doctor saw an anchor.\n",
        **dict.fromkeys(("train.de", "teacher.de", "student.de"), "Die Ärztin sah einen Anker.\n"),
    },
)
