"""Evidence on judges: files, rates, and the levels that follow."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.errors import FileError
from cc_hf.evidence import (
    SHIPPED,
    Evidence,
    Rate,
    bias_limits,
    distinct,
    known_evidence,
    rates,
    read_evidence,
    shown_rates,
    users_file,
    write_evidence,
)
from cc_hf.fit_to_cite import judge_trust, why_untrusted
from cc_hf.levels import LEVELS, RANKS_ONLY, SCREEN, SUPPORTED, Trust, trust_by, trust_of
from cc_hf.records import write_record
from cc_hf.results import EvaluationResult
from tests.helpers.evidence import supported
from tests.helpers.usual import cases, fails, known, small_result, write_lines

_SIGNED = "cc|data:winomt/default@b2f1b31|cues:gender_brackets|langs:en-de|score:geometric|n:9"


def _row(
    reading: str, right: tuple[int, int], wrong: tuple[int, int], **others: object
) -> Evidence:
    row = Evidence(
        *("a@1a2b", "en-de", "template", "winomt", reading, "people", 2, "aws", _SIGNED),
        *(right[1], right[0], wrong[1], wrong[0]),
        people_kappa=0.9,
    )
    return replace(row, **others)  # type: ignore[arg-type]


def _both(n_right: int, n: int, **others: object) -> list[Evidence]:
    return [_row(reading, (n_right, n), (n_right, n), **others) for reading in ("female", "male")]


@cases(
    (_both(200, 200), SUPPORTED),
    (_both(40, 40), RANKS_ONLY),  # too few to be sure of 3 points
    (_both(180, 200), RANKS_ONLY),
    (_both(160, 200), SCREEN),
    (_both(200, 200, n_people=1), RANKS_ONLY),
    (_both(200, 200, labels="pairs", n_people=0, people_kappa=None), RANKS_ONLY),
    (_both(200, 200, of="an ensemble"), RANKS_ONLY),
    (_both(200, 200, people_kappa=0.3), SCREEN),  # people who do not agree are no standard
    (_both(200, 200, people_kappa=0.4), SUPPORTED),
    # What the judge misses is told apart by category: of these, men alone are supported.
    ([_row("female", (150, 200), (200, 200)), _row("male", (200, 200), (200, 200))], RANKS_ONLY),
    # Other test sets of the kind count only where this one has no evidence; of several, the worst.
    ([*_both(200, 200, dataset="genderous"), *_both(160, 200, dataset="gest")], SCREEN),
    ([], SCREEN),
)
def test_levels_follow_from_counts(rows: list[Evidence], level: str) -> None:
    figures = {f"accuracy_{gender}": (gender, 0.7) for gender in ("female", "male")}
    assert trust_by(rows, figures).level == level
    assert LEVELS.index(trust_by(rows, {}).level) >= LEVELS.index(level)


def test_figures_have_the_bias_of_their_own_category() -> None:
    rows = [_row("female", (150, 200), (200, 200)), _row("male", (200, 200), (200, 200))]
    figures = {f"accuracy_{gender}": (gender, 0.7) for gender in ("female", "male")}
    moved = trust_by(rows, figures).bias
    assert moved["accuracy_female"][0] < -0.2 < moved["accuracy_male"][0]


def test_what_shows_neither_counts_as_right_for_figures_only() -> None:
    rows = [
        _row("female", (21, 21), (63, 63), n_neither=9, n_neither_right=3),
        _row("male", (83, 85), (8, 8), n_neither=11, n_neither_right=8),
    ]
    assert shown_rates(rows, "female")[:2] == (Rate(29, 29), Rate(146, 148))
    assert rates(rows, "female")[:2] == (Rate(24, 30), Rate(63, 63))
    # Where nothing is right, what shows neither does not show the reading that is counted.
    (open_row,) = [_row("female", (9, 10), (18, 20), n_neither=5, n_neither_right=2, is_open=True)]
    assert rates([open_row], "female")[:2] == (Rate(9, 10), Rate(21, 25))
    assert rates([open_row], "male")[:2] == (Rate(18, 20), Rate(9, 10))


def test_systems_that_differ_widen_the_limits() -> None:
    alike = [*_both(190, 200), *_both(190, 200, system="google")]
    apart = [*_both(200, 200), *_both(160, 200, system="google")]
    widths = []
    for rows in (alike, apart):
        low, high = bias_limits(0.7, rates(rows, "female"))
        widths.append(high - low)
    assert widths[0] < widths[1]


def test_a_judge_of_several_systems_has_the_least_level_and_the_widest_limits() -> None:
    figure = Trust(SUPPORTED, {"accuracy": (-0.01, 0.02)})
    screen = Trust(SCREEN, {"accuracy": (-0.2, 0.01)})
    for of_systems in (figure.with_others([screen]), screen.with_others([figure])):
        assert (of_systems.level, of_systems.bias) == (SCREEN, {"accuracy": (-0.2, 0.02)})


def test_the_evidence_of_the_user_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    shipped = next(r for r in read_evidence(SHIPPED) if r.dataset == "winomt" and not r.of)
    assert shipped in known_evidence()
    mine = replace(shipped, n_right=999, n_right_found=999)
    write_evidence(users_file(), [mine])
    write_evidence(users_file(), [replace(mine, system="another")])
    write_evidence(users_file(), [mine])
    actual = known_evidence()
    assert {row.system for row in actual[:2]} == {"another", mine.system}
    assert shipped not in actual


def test_damaged_evidence_does_not_make_figures_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    write_evidence(users_file(), [])
    write_lines(users_file(), ["{}"])
    fails(FileError, "line 1: expected the key", small_result, (0.5, 0.5), fields="|eval:a@1a2b")


def test_weights_have_their_level_under_any_name() -> None:
    shipped = next(r for r in read_evidence(SHIPPED) if r.dataset == "winomt" and not r.of)
    identity = shipped.evaluator.rpartition("@")[2]
    options = {"cues": "gender_brackets", "score": "geometric", "pool": "max", "tie": "correct"}
    signed = {"langs": "en-de", **options}
    levels = [
        trust_of({**signed, "eval": evaluator}, "cc", {}, dataset="winomt")
        for evaluator in (shipped.evaluator, f"my-folder@{identity}", "cc-tiny-en-de@0123456789ab")
    ]
    assert [trust.level if trust else "" for trust in levels] == [RANKS_ONLY, RANKS_ONLY, SCREEN]


def test_labels_count_once_under_any_name() -> None:
    shipped = [r for r in read_evidence(SHIPPED) if r.dataset == "winomt" and not r.of]
    identity = shipped[0].evaluator.rpartition("@")[2]
    renamed = [replace(row, evaluator=f"my-folder@{identity}") for row in shipped]
    options = {"cues": "gender_brackets", "score": "geometric", "pool": "max", "tie": "correct"}
    signed = {"langs": "en-de", "eval": shipped[0].evaluator, **options}
    trust = trust_of(signed, "cc", {}, dataset="winomt", rows=[*renamed, *renamed])
    assert known(trust).labels == "197 labels of people (winomt)"
    assert distinct([*shipped, *renamed, replace(shipped[0], n_right=900)])[0].n_right == 900
    # Rounded weights are another judge, and so is one that reads the first words only.
    for other in ({"dtype": "int8"}, {"toolong": "truncate"}, {"cues": "gender_nouns"}):
        assert trust_of({**signed, **other}, "cc", {}, dataset="winomt") == Trust(SCREEN)


def test_shares_of_open_sources_have_the_bias_of_their_own_value() -> None:
    row = _row("female", (360, 400), (380, 400), is_open=True)
    settings = {"cues": "gender_brackets", "score": "geometric"}
    signed = {"eval": row.evaluator, "langs": "en-de", **settings}
    scores = {"feminine_share": 0.4, "feminine_share_a": 0.9, "mean_probability": 0.5}
    trust = known(judge_trust(signed, scores, dataset="winomt", rows=[row]))
    assert trust.bias.keys() == {"feminine_share", "feminine_share_a"}
    assert trust.bias["feminine_share_a"][0] < trust.bias["feminine_share"][0] < 0


def test_the_evidence_on_a_trusted_judge_stays_with_the_result() -> None:
    given = supported(small_result((0.5, 0.5), fields="|eval:org/b@2"))
    fields = "|eval:org/a@1|trusted:org/b@2/n200"
    made = replace(small_result((0.5, 0.5), fields=fields), evidence=given.evidence)
    again = EvaluationResult.from_json(made.to_json())
    assert again.evidence == given.evidence
    assert again.unfit.keys() == {"evaluator"}
    assert again.reasons_against("corrected_min_accuracy") == {}


def test_few_labels_are_no_mistakes_of_the_judge() -> None:
    for n_found, reason in ((3, "too few labels show"), (1, "is wrong too often")):
        trust = trust_by(_both(n_found, 3), {})
        assert reason in why_untrusted(trust, "a@1a2b", "winomt")["evaluator"]


@cases(
    ({"n_right_found": 31}, "line 1: n_right_found: expected at most n_right, 30, got 31"),
    ({"labels": "me"}, "line 1: labels: expected"),
    ({"n_right": -1}, "line 1: n_right: expected an integer from 0"),
    ({"people_kappa": 2}, "line 1: people_kappa: expected"),
    ({"weights": "x"}, "line 1: expected the keys .*, got the unknown key 'weights'"),
    ({"signature": "cc|x"}, "line 1: not a signature"),
)
def test_a_damaged_row_is_refused(change: dict[str, object], message: str, tmp_path: Path) -> None:
    row = {**write_record(_row("female", (29, 30), (60, 60))), **change}
    path = write_lines(tmp_path / "evidence.jsonl", [json.dumps(row)])
    fails(FileError, message, read_evidence, path)
