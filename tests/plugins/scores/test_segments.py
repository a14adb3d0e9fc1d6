"""Segment scores of other metrics beside verdicts, and on pairs of translations."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cc_hf.plugins.scores.segment_scores import SegmentScores, read_segment_scores
from cc_hf.plugins.scores.segments import pair_figures, segment_figures
from cc_hf.results import Interval
from tests.helpers.results import result_of_twenty, write_result
from tests.helpers.usual import (
    cases,
    printed_by,
    refuses,
    write_lines,
    write_text,
)

RESULT = result_of_twenty((0.5, 0.8))
#: A metric that sees every verdict, one that sees none, and one that is wrong about each.
SEEN = tuple(float(j.is_correct) + 0.01 * i for i, j in enumerate(RESULT.judgements))
RANDOM = tuple(float(v) for v in np.random.default_rng(0).random(20))
METRICS = {"sees": SEEN, "blind": RANDOM, "contrary": tuple(-value for value in SEEN)}
SEGMENTS = SegmentScores(20, (), (), METRICS, {})


def test_a_metric_that_sees_the_difference_is_told_from_one_that_does_not() -> None:
    figures = {(row.metric, row.category): row for row in segment_figures(SEGMENTS, RESULT)}
    assert {category for _, category in figures} == {"", "female", "male"}
    assert figures["sees", ""].separation == 1.0
    assert figures["contrary", ""].separation == 0.0
    assert (figures["sees", "female"].n_correct, figures["sees", "female"].n_incorrect) == (5, 5)
    assert figures["sees", ""].spearman == -figures["contrary", ""].spearman  # type: ignore[operator]
    by_hand = [
        (RANDOM[i] > RANDOM[j])
        for i, right in enumerate(RESULT.judgements)
        for j, wrong in enumerate(RESULT.judgements)
        if right.is_correct and not wrong.is_correct
    ]
    assert figures["blind", ""].separation == pytest.approx(np.mean(by_hand))
    interval = figures["blind", ""].separation_interval
    assert isinstance(interval, Interval)
    assert interval.low < np.mean(by_hand) < interval.high
    pairs = zip(RESULT.judgements, SEEN, strict=True)
    sure = tuple(replace(j, probability_correct=0.5 + value / 4) for j, value in pairs)
    figure, *_ = segment_figures(SEGMENTS, replace(RESULT, judgements=sure))
    assert figure.spearman == pytest.approx(1.0)


def test_what_cannot_be_computed_is_left_out() -> None:
    judgements = [replace(j, verdict="inconclusive", is_correct=False) for j in RESULT.judgements]
    judgements[0] = RESULT.judgements[0]
    segments = replace(SEGMENTS, scores={"sees": SEEN})
    (figures,) = segment_figures(segments, replace(RESULT, judgements=tuple(judgements)))
    assert (figures.n, figures.spearman, figures.separation) == (1, None, None)


def test_pairs_are_ranked_as_by_the_program_of_aces(tmp_path: Path) -> None:
    rows = [
        "phenomena\tsource\tCOMET-good\tCOMET-bad",
        *["a\tx\t0.9\t0.1"] * 3,
        "a\tx\t0.5\t0.5",
        "b\tx\t0.2\t0.4",
    ]
    segments = read_segment_scores(write_lines(tmp_path / "aces.tsv", rows))
    taus = {row.category: row.tau for row in pair_figures(segments)}
    # (concordant - discordant) / (concordant + discordant), where a tie is discordant
    assert taus == pytest.approx({"": (3 - 2) / 5, "a": (3 - 1) / 4, "b": -1.0})


def test_a_judge_stands_beside_the_pairs() -> None:
    good = tuple(float(i) for i in range(20))
    pairs = {"chrF": (good, tuple(value + (1 if i < 5 else -1) for i, value in enumerate(good)))}
    ids = tuple(j.example_id for j in RESULT.judgements)
    segments = SegmentScores(20, ids[::-1], (), {}, pairs)
    refuses("expected verdicts on pairs of given translations", pair_figures, segments, RESULT)
    of_pairs = replace(RESULT, dataset="wino_x", config="mt_en_de.translations")
    by_category = {row.category: row for row in pair_figures(segments, of_pairs)}
    assert {c: row.ranked.k for c, row in by_category.items()} == {"": 15, "female": 10, "male": 5}
    of_all = by_category[""]
    assert of_all.judge is not None
    assert of_all.agreement is not None
    assert (of_all.judge.k, of_all.judge.n) == (13, 20)
    right = {j.example_id: j.is_correct for j in RESULT.judgements}
    assert of_all.agreement.k == sum((i >= 5) == right[name] for i, name in enumerate(ids[::-1]))


def test_the_command_shows_and_writes_the_figures(tmp_path: Path) -> None:
    write_result(tmp_path, "judge", RESULT)
    rows = [{"id": str(i), "chrF": value, "source": "x"} for i, value in enumerate(SEEN)]
    write_text(tmp_path / "chrf.json", json.dumps(rows))
    command = f"score {tmp_path}/chrf.json --beside {tmp_path}/judge.json -o {tmp_path}/o.json"
    assert "100.0" in printed_by(command)
    (written,) = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert [row["category"] for row in written["segments"]] == ["", "female", "male"]
    assert written["pairs"] == []
    pairs = write_lines(tmp_path / "pairs.tsv", ["m-good\tm-bad", "1\t0", "1\t1"])
    assert "50.0 (" in printed_by(f"score {pairs}")


_GOOD = "id\tchrF\n0\t1\n1\t2\n"


@cases(
    ("Ein Text.\nNoch einer.\n", "no number in .*; give --references"),
    ("chrF\n1\nnan\n", "line 3: chrF: expected a number"),
    ("chrF\n1\n1_0\n", "line 3: chrF: expected a number, as in the first row, got '1_0'"),
    ("chrF\n1\n١٠\n", "line 3: chrF: expected a number"),
    ("id\tchrF\n0\t1\n1\t\n", "line 3: chrF: expected a number"),
    ("chrF-good\n1\n", "expected both chrF-good and chrF-bad"),
    ("id\tchrF\n0\t1\n0\t2\n", "line 3: id: expected one that no other row has"),
    ("chrF\n", "got no row|at least one row"),
)
def test_tables_that_cannot_be_read_are_refused(text: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_segment_scores, write_text(tmp_path / "a.tsv", text))


@cases(
    ("good.tsv", "chrF has one score for a segment"),
    ("good.tsv --paired ar", "paired: expected --references beside it"),
    ("good.tsv --tokenize intl", "tokenize: expected --references beside it"),
    ("good.tsv --beside judge.json --references good.tsv", "got both"),
    ("unknown.tsv --beside judge.json", "expected ids of the result, such as '0', got 'x'"),
    ("few.tsv --beside judge.json", "expected 20 rows, one for each judgement of the re.*, got 2"),
    ("good.tsv --beside bare.json", "expected a result with judgements"),
)
def test_unfit_segments_fail(words: str, message: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    texts: dict[str, Any] = {"good": _GOOD, "unknown": "id\tchrF\nx\t1\n", "few": "chrF\n1\n2\n"}
    for name, text in texts.items():
        write_text(tmp_path / f"{name}.tsv", text)
    write_result(tmp_path, "judge", RESULT)
    write_result(tmp_path, "bare", replace(RESULT, judgements=()))
    refuses(message, printed_by, f"score {words}")
