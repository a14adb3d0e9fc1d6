from pathlib import Path

import pytest

from cc_hf.citations import CITATIONS
from cc_hf.comparing.system_table import read_system_table
from cc_hf.studies.speed import points
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by, run_command
from tests.helpers.lines import write_lines
from tests.helpers.refusals import refuses

ROWS = read_system_table(points.PUBLISHED)
GROUPS = ("FoFc", "MoFc", "MoMc", "FoMc")


def published(tgt_lang: str, part: str) -> points.SpeedStudy:
    (study,) = [s for s in points.speed_studies(ROWS) if (s.tgt_lang, s.part) == (tgt_lang, part)]
    return study


def test_printed_deltas_follow_from_the_printed_accuracies() -> None:
    for row, point in zip(ROWS, points.speed_points(ROWS), strict=True):
        for name in points.DELTAS:
            assert 100 * point.deltas[name] == pytest.approx(float(row[name]), abs=0.101), row
    assert len(ROWS) == 24
    assert points.CITATION_KEY in CITATIONS


def test_printed_stereotypes_follow_from_the_groups_except_for_two_cells() -> None:
    plain = [{k: v for k, v in row.items() if k not in ("pro", "anti")} for row in ROWS]
    differing = [
        (row["tgt_lang"], row["model"], name, row[name], round(100 * point.accuracies[name], 1))
        for row, point in zip(ROWS, points.speed_points(plain), strict=True)
        for name in ("pro", "anti")
        if abs(100 * point.accuracies[name] - float(row[name])) > 0.101
    ]
    printed = [("SD(10, 2)", "anti", "32.6", 34.4), ("+ SD(10, 2)", "anti", "29.1", 30.9)]
    assert differing == [("de", *cells) for cells in printed]


#: The drops of Table 4 by the rule that fits the printed row; the paper rounds some of them down.
_TO_FASTEST = {
    ("es", "single"): {"seconds": 45.6, "bleu": 1.5, "FoFc": 4.9},
    ("de", "single"): {"seconds": 46.3, "anti": 17.9},
    ("es", "stacked"): {"seconds": 81.4, "bleu": 6.3, "pro": 9.6, "MoMc": 6.7},
    ("de", "stacked"): {"seconds": 79.9, "bleu": 9.2, "pro": 9.9, "anti": 41.3, "FoFc": 19.5, "MoFc": 53.2, "FoMc": 29.8},
}  # fmt: skip
_LARGEST = {
    ("es", "single"): {"FoMc": 13.5},
    ("de", "single"): {"bleu": 4.0, "MoMc": 5.3},
    ("es", "stacked"): {"anti": 22.3, "FoFc": 17.7, "FoMc": 10.4},
    ("de", "stacked"): {"MoMc": 5.5},
}


@pytest.mark.parametrize("key", _TO_FASTEST, ids=" ".join)
def test_both_drops_give_the_printed_figures_that_they_fit(key: tuple[str, str]) -> None:
    drops = published(*key).drops
    for values, printed in ((drops.to_fastest, _TO_FASTEST), (drops.largest, _LARGEST)):
        assert {name: round(100 * values[name], 1) for name in printed[key]} == printed[key]


def test_time_of_a_drop_to_the_fastest_is_that_of_the_papers_example() -> None:
    study = published("es", "single")
    assert study.drops.fastest == "SSD(6, 2)"
    assert study.drops.to_fastest["seconds"] == pytest.approx((3662.8 - 1993.5) / 3662.8)


def test_trend_lines_of_bleu_and_pro_overlap_in_german_and_anti_is_steeper() -> None:
    """As the paper says of Figure 1, whose 56 systems are not printed."""
    lines = points.trend_lines([s for s in points.speed_studies(ROWS) if s.tgt_lang == "de"])
    slopes = {name: line.coefficient("seconds").value for name, line in lines.items()}
    assert slopes["bleu"] == pytest.approx(slopes["pro"], abs=0.02)
    assert slopes["anti"] > 3 * slopes["pro"]
    assert {line.n for line in lines.values()} == {10}  # baseline and beam 1 are in both parts


def test_two_systems_have_no_trend_line() -> None:
    (study,) = points.speed_studies(ROWS[:2])
    assert points.trend_lines([study]) == {}


def rows(**changes: str) -> list[dict[str, str]]:
    row = {"model": "baseline", "seconds": "2", "bleu": "30"} | dict.fromkeys(GROUPS, "50")
    return [row, {**row, "model": "fast", "seconds": "1"} | changes]


SMALL = {**rows()[1], "model": "small", "seconds": "0.5", "bleu": "27", "MoFc": "20"}


def write_table(path: Path, systems: list[dict[str, str]]) -> Path:
    lines = [",".join(cells) for cells in (systems[0], *(row.values() for row in systems))]
    return write_lines(path, lines)


@cases(
    (rows(seconds="0"), "row 2: seconds: expected a time above 0, got 0"),
    (rows(FoFc="101"), "row 2: FoFc: expected percent, got 101"),
    (rows(bleu="-"), "row 2: bleu: expected a number, got '-'"),
    (rows(model=" "), "row 2: model: expected the name of a system"),
    (rows(model="baseline"), "each of its seeds, got 'baseline' twice with no seed"),
    (rows()[1:], "baseline: expected one of fast, the models of the table, got 'baseline'"),
    ([{"model": "a"}], "column: expected one of model, got 'seconds'"),
)
def test_tables_without_drops_are_refused(systems: list[dict[str, str]], message: str) -> None:
    refuses(message, points.speed_studies, systems)


def test_seeds_are_averaged_before_deltas_and_drops() -> None:
    base = {**rows()[0], "seed": "1"}
    names, cells = ("seed", "seconds", "FoFc"), (("1", "1.5", "20"), ("2", "0.5", "40"))
    fast = [{**base, "model": "fast", **dict(zip(names, c, strict=True))} for c in cells]
    (study,) = points.speed_studies([base, *fast])
    _, point = study.points
    assert (point.n_seeds, point.seconds, study.points[0].n_seeds) == (2, 1.0, 1)
    assert point.deltas["delta_fc"] == pytest.approx(-0.2)
    assert point.deviations["delta_fc"] == pytest.approx(0.2 / 2**0.5)
    assert study.drop(point, "FoFc") == pytest.approx(0.4)
    refuses("'fast' twice with seed 2", points.speed_studies, [base, *fast, fast[1]])
    other = [{**row, "beams": beams} for row, beams in zip([base, *fast], "515", strict=True)]
    refuses("fast: expected seeds that are decoded in one way", points.speed_studies, other)


def test_columns_may_be_named_as_in_results() -> None:
    named = {group: f"simplegen:accuracy_{group}" for group in GROUPS}
    named["model"] = "system"
    systems = [{named.get(key, key): cell for key, cell in row.items()} for row in rows()]
    assert [p.model for p in points.speed_points(systems)] == ["baseline", "fast"]
    systems = [{**row, "other:accuracy_FoFc": "1"} for row in systems]
    refuses("expected one for accuracy_FoFc, got simplegen:", points.speed_points, systems)


def test_a_figure_that_is_0_for_the_baseline_has_no_drop_and_others_have(tmp_path: Path) -> None:
    base, fast = rows()
    table = write_table(tmp_path / "systems.csv", [{**base, "FoMc": "0"}, fast, SMALL])
    shown = run_command(f"study speed drops {table} --plot {tmp_path}/p.svg")
    assert "no drop from a baseline of 0: FoMc" in shown.stdout
    assert ">FoMc<" not in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_drops_from_a_figure_of_0_are_refused() -> None:
    (study,) = points.speed_studies([{**row, "bleu": str(n)} for n, row in enumerate(rows())])
    refuses("a baseline whose bleu is above 0", study.drop, study.points[1], "bleu")


def test_the_command_prints_published_figures_and_draws_them(tmp_path: Path) -> None:
    lines = printed_by(f"study speed drops --plot {tmp_path}/p.svg").splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[:1] for line in lines].count(["AAN"]) == 4
    picture = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "English → Spanish" in picture
    assert "relative drop of decoding time, %" in picture


def test_the_command_reads_a_table_of_ones_own(tmp_path: Path) -> None:
    table = write_table(tmp_path / "systems.csv", [*rows(), SMALL])
    command = f"study speed drops {table}"
    refused = run_command(f"{command} --baseline slow", status=2)
    assert "--baseline: expected one of baseline, fast, small" in refused.stderr
    shown = run_command(f"{command} --output {tmp_path}/o.json")
    assert "drop to fastest, small, %" in shown.stdout
    assert f"written: {tmp_path / 'o.json'}" in shown.stderr
    assert set(points.FIGURES) > set(GROUPS)
