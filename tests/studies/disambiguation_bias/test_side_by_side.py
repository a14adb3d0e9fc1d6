"""Challenge sets, attacks and correlations of several systems in `cc-hf compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf.reports.side_by_side import Cell, side_by_side
from cc_hf.results import Interval
from cc_hf.schema import Judgement
from tests.helpers.judged import result_of
from tests.helpers.refusals import refuses
from tests.helpers.results import write_result


def shares(tables: Any, figure: str) -> dict[tuple[str, str], float]:
    return {key: round(cell.value, 4) for key, cell in tables[figure].items()}


def test_errors_on_challenge_sets_are_divided_by_those_on_the_random_one(tmp_path: Path) -> None:
    files = []
    known = {"correct": "1", "inconclusive": "unknown"}
    for name, wrong in {"most_biased": 30, "random": 5}.items():
        verdicts = ["incorrect"] * wrong + ["inconclusive"] * 10 + ["correct"] * (90 - wrong)
        rows = [(str(i), "rare", v == "correct", "t", v) for i, v in enumerate(verdicts)]
        judgements = [Judgement(*row, predicted=known.get(row[-1], "2")) for row in rows]
        fields = {"dataset": "sets", "config": name, "metric": "homograph_accuracy"}
        result = result_of(judgements, **fields, system="mt", scores={"accuracy": 0.9})
        write_result(tmp_path, name, result)
        files.append(tmp_path / f"{name}.json")
    tables = side_by_side(files).tables
    errors = shares(tables, "flipped senses (homograph accuracy)")
    assert sorted(errors.values()) == [0.05, 0.3]
    figure = "flipped senses, times those of the random set"
    (cell,) = tables[figure].values()
    assert cell.value == pytest.approx(6)  # the thesis has 6.1 for a set of 3,000
    # by hand from Wilson's limits, .2189 to .3958 and .0215 to .1118, of independent samples
    assert isinstance(cell.interval, Interval)
    assert (cell.interval.low, cell.interval.high) == pytest.approx((2.506, 14.44), abs=0.005)


def attack_file(folder: Path, data: str, k: int, n: int = 100) -> Path:
    total = {"n": n, "n_success": k, "rate": k / n, "interval": {"reason": "one seed"}}
    row = {"study": "disambiguation_bias/attack", "system": "mt", "data": data}
    path = folder / f"mt.{data}.json"
    path.write_text(json.dumps({**row, "judges": {"lexicon": {"total": total}}}), encoding="utf-8")
    return path


def test_attacks_are_divided_by_those_of_the_random_set(tmp_path: Path) -> None:
    files = [attack_file(tmp_path, data, k) for data, k in (("hard", 17), ("random", 4))]
    tables = side_by_side(files).tables
    rates = shares(tables, "attacks that succeed (lexicon)")
    assert rates == {("hard", "mt"): 0.17, ("random", "mt"): 0.04}
    ratios = shares(tables, "attacks that succeed (lexicon), times those of the random set")
    assert ratios == {("hard", "mt"): 4.25}
    without = side_by_side([attack_file(tmp_path, "random", 0), files[0]]).tables
    assert list(without) == ["attacks that succeed (lexicon)"]  # nothing is divided by 0


def test_correlations_are_marked(tmp_path: Path) -> None:
    row = {"feature": "freq_diff", "test": {"rank_biserial": 0.5, "p_value": 0.01}}
    content = {"study": "disambiguation_bias/correlate", "data": "wmt", "tests": [row]}
    path = tmp_path / "transformer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    figure = "freq_diff and errors, RBC"
    cell = Cell("transformer", "wmt", figure, 0.5, is_share=False, mark="*")
    assert side_by_side([path]).tables == {figure: {("wmt", "transformer"): cell}}
    path.write_text(json.dumps(content | {"tests": [{}]}), encoding="utf-8")
    refuses(r"transformer.json: .*feature", side_by_side, [path])
