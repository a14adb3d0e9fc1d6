"""Properties of whatever is computed over rows, in the core and in studies: the order of rows, rows
that occur twice, the order of systems, and files that are read together.
"""

import dataclasses
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from cc_hf_studies.common.model_comparison import compared_bleu, compared_rates

from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.annotations import Annotation
from cc_hf.comparing.systems import compare
from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.plugins.scores.quality import corpus_quality
from cc_hf.plugins.seeds.seeds import average_results
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.regression import least_squares
from tests.helpers import contract_cases
from tests.helpers.results import small_result

N = 24
SEEDS = range(5)
_GENDERS = ("male", "female")
_FEW = Bootstrap(n_resamples=20)
#: Attributes that are no figures of the rows: tests know how many rows there are.
_OF_TESTS = {
    "p_value", "u", "t", "welch", "paired", "test", "degrees_of_freedom", "f", "f_p_value", "tests",
    "standard_error", "residual_degrees_of_freedom", "adjusted_r_squared", "thresholds", "mcnemar",
    "is_exact", "weighted_agreement",
}  # fmt: skip


def numbers(value: Any, name: str = "") -> contract_cases.Numbers:
    """Return all numbers within a result by their place, without those of tests."""
    if isinstance(value, (Interval, NoInterval, str)) or value is None:
        return {}
    if isinstance(value, (int, float)):
        return {name: value}
    if dataclasses.is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if not isinstance(value, Mapping):
        value = dict(enumerate(value))
    return {
        key: number
        for part, inner in value.items()
        if part not in _OF_TESTS
        for key, number in numbers(inner, f"{name}.{part}").items()
    }


def judgement(number: int, draw: random.Random, gold: str = "") -> Judgement:
    p = draw.choice([draw.random(), 0.5, 0.52, 0.47])
    verdict = "correct" if p >= 0.5 else "incorrect"
    return Judgement(
        str(number), draw.choice(_GENDERS), verdict == "correct", f"Satz {number}", verdict,
        probability_correct=p, gold=gold or draw.choice(_GENDERS), score_correct=p,
        score_incorrect=1 - p, weight=draw.randrange(1, 9),
    )  # fmt: skip


def renamed(row: Judgement) -> Judgement:
    return replace(row, example_id=f"x{row.example_id}", translation=f"x{row.translation}")


def result_of(rows: Sequence[Judgement], system: str = "") -> EvaluationResult:
    known = small_result((0.5, 0.5), system=system)
    return replace(known, judgements=tuple(rows), n=len(rows), categories=())


def two(number: int, draw: random.Random) -> tuple[Judgement, Judgement]:
    first, second = judgement(number, draw), judgement(number, draw)
    return first, replace(second, category=first.category, translation=f"Zeile {number}")


def comparison(rows: Sequence[tuple[Judgement, Judgement]]) -> Any:
    named = {"a": result_of([a for a, _ in rows], "a"), "b": result_of([b for _, b in rows], "b")}
    (system,) = compare(named, n_resamples=20).systems
    return system


def labelled(number: int, draw: random.Random) -> tuple[Judgement, Annotation]:
    judged = judgement(number, draw)
    labels = tuple(draw.choices(_GENDERS, k=draw.choice([1, 2])))
    names = (judged.example_id, judged.translation, judged.category)
    return judged, Annotation(*names, labels, _GENDERS, labels, True)


def agreement(rows: Sequence[tuple[Judgement, Annotation]]) -> Any:
    judged = result_of([replace(j, gold=j.category) for j, _ in rows])
    return agreement_with_labels(judged, [a for _, a in rows], n_resamples=20)


def labelled_again(row: tuple[Judgement, Annotation]) -> tuple[Judgement, Annotation]:
    judged, annotation = renamed(row[0]), row[1]
    return judged, replace(annotation, example_id=judged.example_id, translation=judged.translation)


def uncertain(rows: Sequence[Judgement]) -> Any:
    actual = uncertain_samples(result_of(rows))
    return {
        "n": actual.n,
        **{name: (share.n, share.k) for name, share in actual.categories.items()},
    }


def flag(draw: random.Random) -> bool | None:
    return draw.choice([True, False, None])


def words(number: int, draw: random.Random) -> tuple[str, str, str]:
    known = ["das", "ein", "alte", "Haus", "Mann", "geht", "."]
    reference = " ".join(draw.choices(known, k=9))
    first = reference if draw.random() < 0.5 else " ".join(draw.choices(known, k=9))
    return reference, first, reference.replace("Haus", "Mann")


def sides_exchanged(figures: contract_cases.Numbers) -> contract_cases.Numbers:
    """Exchange first and second, and change the signs of differences."""
    exchanged = {}
    for name, value in figures.items():
        other = name.replace(".first", ".x").replace(".second", ".first").replace(".x", ".second")
        exchanged[other] = -value if name.endswith(".difference") else value
    return exchanged


FIGURES = contract_cases.with_studies(
    {
        "uncertain": contract_cases.FigureCase(judgement, uncertain, renamed),
        "least squares": contract_cases.FigureCase(
            lambda _, draw: (draw.random(), draw.random(), draw.random()),
            lambda rows: least_squares(
                ("y", [y for y, _, _ in rows]),
                {"a": [a for _, a, _ in rows], "b": [b for *_, b in rows]},
            ),
            turned=lambda row: (-row[0], row[1], row[2]),
            of_turned=contract_cases.opposed(".value"),
        ),
        "agreement with people": contract_cases.FigureCase(labelled, agreement, labelled_again),
        "compare": contract_cases.FigureCase(
            two,
            comparison,
            lambda row: (renamed(row[0]), renamed(row[1])),
            lambda row: (row[1], row[0]),
            sides_exchanged,
        ),
        "compared rates": contract_cases.FigureCase(
            lambda number, draw: (flag(draw), flag(draw), number),
            lambda rows: compared_rates(
                "x", ([a for a, *_ in rows], [b for _, b, _ in rows]), [n for *_, n in rows],
                bootstrap=_FEW,
            ),
            lambda row: (row[0], row[1], f"x{row[2]}"),
            lambda row: (row[1], row[0], row[2]),
            contract_cases.exchanged,
        ),
        "compared BLEU": contract_cases.FigureCase(
            words,
            lambda rows: compared_bleu(
                ([a for _, a, _ in rows], [b for *_, b in rows]), [r for r, *_ in rows],
                bootstrap=_FEW,
            ),
            turned=lambda row: (row[0], row[2], row[1]),
            of_turned=contract_cases.exchanged,
        ),
    },
    lambda cases: cases.figures,
)  # fmt: skip


COUNTS = contract_cases.with_studies(dict[str, contract_cases.CountCase](), lambda c: c.counts)


def seed_result(draw: random.Random) -> EvaluationResult:
    return small_result((draw.randrange(1, 11) / 10, draw.randrange(1, 11) / 10))


def values_of(runs: Sequence[EvaluationResult]) -> contract_cases.Numbers:
    named = [
        replace(r, system=f"s{i}", signature=f"{r.signature}|sys:{i}") for i, r in enumerate(runs)
    ]
    return {name: figure.mean for name, figure in average_results(named).figures.items()}


def quality_of(rows: Sequence[tuple[str, str]]) -> Any:
    references, translations = zip(*rows, strict=True)
    return corpus_quality({"a": list(translations)}, list(references), chrf=True)[0].scores


MEANS = contract_cases.with_studies(
    {
        "seeds": contract_cases.MeanCase(seed_result, values_of),
        "corpus quality": contract_cases.MeanCase(lambda draw: words(0, draw)[:2], quality_of),
    },
    lambda cases: cases.means,
)


def rows_of(case: contract_cases.FigureCase, seed: int) -> list[contract_cases.Row]:
    draw = random.Random(seed)
    return [case.row(number, draw) for number in range(N)]


def figures_of(case: contract_cases.FigureCase, rows: Sequence[Any]) -> contract_cases.Numbers:
    return numbers(case.figures(rows))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", FIGURES)
def test_the_order_of_rows_does_not_change_the_figures(name: str, seed: int) -> None:
    rows = rows_of(FIGURES[name], seed)
    plain = figures_of(FIGURES[name], rows)
    assert plain
    random.Random(seed).shuffle(rows)
    assert figures_of(FIGURES[name], rows) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name, case in FIGURES.items() if case.again])
def test_rows_that_occur_twice_double_the_counts_and_no_figure(name: str, seed: int) -> None:
    case = FIGURES[name]
    rows, plain = rows_of(case, seed), figures_of(case, rows_of(case, seed))
    assert case.again is not None
    expected = {key: 2 * n if isinstance(n, int) else n for key, n in plain.items()}
    assert figures_of(case, rows + list(map(case.again, rows))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name, case in FIGURES.items() if case.turned])
def test_swapped_sides_swap_the_figures(name: str, seed: int) -> None:
    case = FIGURES[name]
    rows = rows_of(case, seed)
    assert case.turned is not None
    expected = case.of_turned(figures_of(case, rows))
    assert figures_of(case, list(map(case.turned, rows))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_files_that_are_read_together_add_up(name: str, seed: int) -> None:
    draw = random.Random(seed)
    case = COUNTS[name]
    rows, more = (draw.choices(case.rows, k=n) for n in (7, 9))
    parts = Counter(case.counts(rows)) + Counter(case.counts(more))
    assert parts == +Counter(case.counts(rows + more))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MEANS)
def test_the_order_of_runs_does_not_change_their_means(name: str, seed: int) -> None:
    draw = random.Random(seed)
    case = MEANS[name]
    runs = [case.run(draw) for _ in range(4)]
    plain = numbers(case.mean(runs))
    assert plain
    assert numbers(case.mean(runs[::-1])) == pytest.approx(plain, abs=1e-9)
