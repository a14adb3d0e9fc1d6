"""Properties of the studies: the order of rows, rows that occur twice, the order of systems, and
files that are read together.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from cc_hf.comparing.models import compared_bleu, compared_rates
from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.annotations import Annotation
from cc_hf.comparing.seeds import average_results
from cc_hf.comparing.systems import compare
from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.data.corpora.parallel import CorpusBlock
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.corpus_quality import corpus_quality
from cc_hf.statistics.regression import least_squares
from cc_hf.studies.disambiguation_bias.attacks.judge import attack_figures, judge_agreement
from cc_hf.studies.disambiguation_bias.attacks.samples import AttackJudgement
from cc_hf.studies.disambiguation_bias.attacks.transfer import transferability
from cc_hf.studies.disambiguation_bias.prediction import error_rate_by_bias, predict_errors
from cc_hf.studies.distillation.gender_flows import (
    OUTCOMES,
    OccupationCounts,
    average_counts,
    counts_of_paths,
)
from cc_hf.studies.distillation.occupations import OccupationCounter, OccupationForms
from cc_hf.studies.distillation.senses import SenseCounter
from cc_hf.studies.mt_geneval.sentence_gaps import sentence_gaps
from cc_hf.studies.speed.points import ACCURACIES, SpeedPoint, mean_point
from cc_hf.studies.wino_x.lengths import sequence_lengths
from cc_hf.studies.wino_x.pronoun_counts import pronoun_counts
from cc_hf.studies.wino_x.referent_bias import referent_bias
from cc_hf.studies.wino_x.referent_choices import Choice
from cc_hf.studies.wino_x.salience import Salience, WordSalience, trigger_importance
from tests.helpers.results import small_result
from tests.studies.disambiguation_bias.attacks.helper import sample_of

N = 24
SEEDS = range(5)
_GENDERS = ("male", "female")
_VERDICTS = ("correct", "incorrect", "inconclusive")
_FEW = Bootstrap(n_resamples=20)
#: Attributes that are no figures of the rows: tests know how many rows there are.
_OF_TESTS = {
    "p_value", "u", "t", "welch", "paired", "test", "degrees_of_freedom", "f", "f_p_value", "tests",
    "standard_error", "residual_degrees_of_freedom", "adjusted_r_squared", "thresholds", "mcnemar",
    "is_exact", "weighted_agreement",
}  # fmt: skip

Row = Any
Numbers = dict[str, float]


def numbers(value: Any, name: str = "") -> Numbers:
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


@dataclass(frozen=True)
class Study:
    """A study, rows to try it with, and how it answers to other rows.

    Attributes:
        row: a row by its number, with what is random.
        figures: the study itself.
        again: the row as another one, with names of its own; None if rows cannot occur twice.
        turned: the row with its sides swapped; None without sides.
        of_turned: the figures that turned rows must have, from those of the rows.
    """

    row: Callable[[int, random.Random], Row]
    figures: Callable[[Sequence[Row]], Any]
    again: Callable[[Row], Row] | None = lambda row: row
    turned: Callable[[Row], Row] | None = None
    of_turned: Callable[[Numbers], Numbers] = dict


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
    return replace(
        small_result((0.5, 0.5), system=system), judgements=tuple(rows), n=len(rows), categories=()
    )


def opposed(*names: str) -> Callable[[Numbers], Numbers]:
    """Return a function that changes the signs of figures that end in these names."""
    return lambda found: {
        name: -value if name.endswith(names) else value for name, value in found.items()
    }


def exchanged(found: Numbers) -> Numbers:
    """Exchange first and second, and change the signs of differences."""
    swapped = {}
    for name, value in found.items():
        other = name
        for a, b in (("first", "second"), (".n.0", ".n.1"), ("n_male", "n_female")):
            other = name.replace(a, b) if a in name else name.replace(b, a) if b in name else other
        swapped[other] = -value if "difference.difference" in name or "gap" in name else value
    return swapped


def attack(number: int, draw: random.Random) -> AttackJudgement:
    sample = replace(
        sample_of(draw.choice(["hot", "old"])), id=str(number), seed_id=str(number // 2),
        freq_diff=float(draw.randrange(4)),
    )  # fmt: skip
    outcomes = ["correct", "flipped:water", "unknown"]
    return AttackJudgement(
        sample, "", "", draw.choice(["correct", "correct", "unknown"]), draw.choice(outcomes),
        draw.random(), draw.random(),
    )  # fmt: skip


def attacked_again(row: AttackJudgement) -> AttackJudgement:
    sample = replace(row.sample, id=f"x{row.sample.id}", seed_id=f"x{row.sample.seed_id}")
    return replace(row, sample=sample)


def transfer(rows: Sequence[tuple[AttackJudgement, AttackJudgement]]) -> Any:
    return transferability({"a": [a for a, _ in rows], "b": [b for _, b in rows]})


def attack_twice(number: int, draw: random.Random) -> tuple[AttackJudgement, AttackJudgement]:
    first, other = attack(number, draw), attack(number, draw)
    return first, replace(other, sample=first.sample)


def choice(number: int, draw: random.Random) -> Choice:
    right, wrong = _GENDERS if number % 2 else _GENDERS[::-1]
    return Choice(
        str(number), str(number // 2), right, wrong, draw.choice(["first", "second"]),
        draw.choice([True, False, None]),
    )  # fmt: skip


def counterfactuals(
    number: int, draw: random.Random
) -> list[tuple[ContrastiveSourceExample, Judgement]]:
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


def gaps(rows: Sequence[list[tuple[ContrastiveSourceExample, Judgement]]]) -> Any:
    pairs = [pair for row in rows for pair in row]
    judged = replace(
        result_of([j for _, j in pairs]), dataset="mt_geneval", config="counterfactual_de"
    )
    found = sentence_gaps(judged, [example for example, _ in pairs])
    return replace(found, largest=(), smallest=())


def gaps_again(
    row: list[tuple[ContrastiveSourceExample, Judgement]],
) -> list[tuple[ContrastiveSourceExample, Judgement]]:
    return [
        (
            replace(e, id=f"x{e.id}", extra={**e.extra, "pair": f"x{e.extra['pair']}"}),
            replace(j, example_id=f"x{j.example_id}"),
        )
        for e, j in row
    ]


def gaps_turned(
    row: list[tuple[ContrastiveSourceExample, Judgement]],
) -> list[tuple[ContrastiveSourceExample, Judgement]]:
    other = dict(zip(_GENDERS, _GENDERS[::-1], strict=True))
    return [(replace(e, gold=other[e.gold], category=other[e.gold]), j) for e, j in row]


def twins(number: int, draw: random.Random) -> list[Salience]:
    def sentence(name: str, words: Sequence[str]) -> Salience:
        scored = []
        for at, text in enumerate(words):
            value = draw.random()
            scored.append(WordSalience(text, 4 * at, value, ((text, value),)))
        return Salience(name, str(number), " ".join(words), "er", 0.5, tuple(scored), 1)

    return [sentence(f"{number}-{end}", ["dog", "it", "was", end]) for end in ("big", "old")]


def triggers(rows: Sequence[list[Salience]]) -> Any:
    return trigger_importance([sentence for row in rows for sentence in row])


def two(number: int, draw: random.Random) -> tuple[Judgement, Judgement]:
    first, second = judgement(number, draw), judgement(number, draw)
    return first, replace(second, category=first.category, translation=f"Zeile {number}")


def comparison(rows: Sequence[tuple[Judgement, Judgement]]) -> Any:
    named = {"a": result_of([a for a, _ in rows], "a"), "b": result_of([b for _, b in rows], "b")}
    (found,) = compare(named, n_resamples=20).systems
    return found


def labelled(number: int, draw: random.Random) -> tuple[Judgement, Annotation]:
    judged = judgement(number, draw)
    labels = tuple(draw.choices(_GENDERS, k=draw.choice([1, 2])))
    return judged, Annotation(
        judged.example_id, judged.translation, judged.category, labels, _GENDERS, labels, True
    )


def agreement(rows: Sequence[tuple[Judgement, Annotation]]) -> Any:
    judged = result_of([replace(j, gold=j.category) for j, _ in rows])
    return agreement_with_labels(judged, [a for _, a in rows], n_resamples=20)


def labelled_again(row: tuple[Judgement, Annotation]) -> tuple[Judgement, Annotation]:
    judged, annotation = renamed(row[0]), row[1]
    return judged, replace(annotation, example_id=judged.example_id, translation=judged.translation)


def uncertain(rows: Sequence[Judgement]) -> Any:
    found = uncertain_samples(result_of(rows))
    return {"n": found.n, **{name: (share.n, share.k) for name, share in found.categories.items()}}


def sentence_pair(number: int, draw: random.Random) -> ContrastiveTranslationExample:
    def text() -> str:
        return " ".join(["ja"] * draw.randrange(1, 9))

    return ContrastiveTranslationExample(
        str(number), "en", "de", text(), text(), (f"nein {text()}",), "x"
    )


def flag(draw: random.Random) -> bool | None:
    return draw.choice([True, False, None])


def words(number: int, draw: random.Random) -> tuple[str, str, str]:
    known = ["das", "ein", "alte", "Haus", "Mann", "geht", "."]
    reference = " ".join(draw.choices(known, k=9))
    first = reference if draw.random() < 0.5 else " ".join(draw.choices(known, k=9))
    return reference, first, reference.replace("Haus", "Mann")


STUDIES = {
    "analyze uncertain": Study(judgement, uncertain, renamed),
    "analyze regression": Study(
        lambda _, draw: (draw.random(), draw.random(), draw.random()),
        lambda rows: least_squares(
            ("y", [y for y, _, _ in rows]), {"a": [a for _, a, _ in rows], "b": [b for *_, b in rows]}
        ),
        turned=lambda row: (-row[0], row[1], row[2]),
        of_turned=opposed(".value"),
    ),
    "analyze referent-bias": Study(
        choice,
        lambda rows: replace(referent_bias(rows), tests=()),
        lambda row: replace(row, example_id=f"x{row.example_id}", pair=f"x{row.pair}"),
    ),
    "analyze human-agreement": Study(labelled, agreement, labelled_again),
    "analyze sentence-gaps": Study(counterfactuals, gaps, gaps_again, gaps_turned, exchanged),
    # Cohen's d has n - 2 in its denominator, and so changes with doubled rows
    "analyze trigger-importance": Study(twins, triggers, None),
    "compare": Study(
        two,
        comparison,
        lambda row: (renamed(row[0]), renamed(row[1])),
        lambda row: (row[1], row[0]),
        lambda found: {
            name.replace(".first", ".x").replace(".second", ".first").replace(".x", ".second"): (
                -value if name.endswith(".difference") else value
            )
            for name, value in found.items()
        },
    ),
    "compare-models, rates": Study(
        lambda number, draw: (flag(draw), flag(draw), number),
        lambda rows: compared_rates(
            "x", ([a for a, *_ in rows], [b for _, b, _ in rows]), [n for *_, n in rows],
            bootstrap=_FEW,
        ),
        lambda row: (row[0], row[1], f"x{row[2]}"),
        lambda row: (row[1], row[0], row[2]),
        exchanged,
    ),
    "compare-models, BLEU": Study(
        words,
        lambda rows: compared_bleu(
            ([a for _, a, _ in rows], [b for *_, b in rows]), [r for r, *_ in rows], bootstrap=_FEW
        ),
        turned=lambda row: (row[0], row[2], row[1]),
        of_turned=exchanged,
    ),
    # a tenth of an odd number of rows and one of twice as many can end elsewhere
    "attack judge": Study(
        attack, lambda rows: replace(attack_figures(rows, bootstrap=_FEW), by_bias=()), attacked_again
    ),
    "attack judge, agreement": Study(
        attack, lambda rows: judge_agreement(rows, bootstrap=_FEW), attacked_again
    ),
    "attack transfer": Study(
        attack_twice,
        transfer,
        lambda row: (attacked_again(row[0]), attacked_again(row[1])),
        lambda row: (row[1], row[0]),
    ),
    "bias correlate": Study(
        lambda _, draw: (draw.randrange(9) / 10, draw.random() < 0.4),
        lambda rows: {
            t.feature: t.test.rank_biserial
            for t in predict_errors(
                {"x": [x for x, _ in rows]}, [*[e for _, e in rows]]
            ).tests
        },
        turned=lambda row: (row[0], not row[1]),
        of_turned=opposed("x"),
    ),
    "bias correlate, groups": Study(
        lambda _, draw: (draw.random(), draw.random() < 0.4),
        lambda rows: error_rate_by_bias([x for x, _ in rows], [e for _, e in rows], n_groups=4),
    ),
    "wino-x lengths": Study(sentence_pair, sequence_lengths),
}  # fmt: skip


def rows_of(study: Study, seed: int) -> list[Row]:
    draw = random.Random(seed)
    return [study.row(number, draw) for number in range(N)]


def found(study: Study, rows: Sequence[Row]) -> Numbers:
    return numbers(study.figures(rows))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", STUDIES)
def test_the_order_of_rows_does_not_change_the_figures(name: str, seed: int) -> None:
    rows = rows_of(STUDIES[name], seed)
    plain = found(STUDIES[name], rows)
    assert plain
    random.Random(seed).shuffle(rows)
    assert found(STUDIES[name], rows) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name, study in STUDIES.items() if study.again])
def test_rows_that_occur_twice_double_the_counts_and_no_figure(name: str, seed: int) -> None:
    study = STUDIES[name]
    rows, plain = rows_of(study, seed), found(study, rows_of(study, seed))
    assert study.again is not None
    expected = {key: 2 * n if isinstance(n, int) else n for key, n in plain.items()}
    assert found(study, rows + list(map(study.again, rows))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name, study in STUDIES.items() if study.turned])
def test_swapped_sides_swap_the_figures(name: str, seed: int) -> None:
    study = STUDIES[name]
    rows = rows_of(study, seed)
    assert study.turned is not None
    expected = study.of_turned(found(study, rows))
    assert found(study, list(map(study.turned, rows))) == pytest.approx(expected, abs=1e-9)


_PAIRS = [
    ("The doctor saw it .", "Die Ärztin sah ihn ."),
    ("The bat saw a doctor .", "Die Fledermaus sah den Arzt ."),
    ("A bat , it flew .", "Ein Schläger , er flog ."),
    ("The bat flew .", "Sie flog ."),
]
_FORMS = OccupationForms(frozenset({"doctor"}), frozenset({"Arzt"}), frozenset({"Ärztin"}))
_SENSES = ["bat - fledermaus", "bat - schläger"]


def block(pairs: Sequence[tuple[str, str]]) -> CorpusBlock:
    targets = [target for _, target in pairs]
    return CorpusBlock(0, 0, [source for source, _ in pairs], targets, {}, (targets,))


COUNTS: dict[str, Callable[[Sequence[tuple[str, str]]], Mapping[str, int]]] = {
    "count occupations": lambda rows: OccupationCounter({"doctor": _FORMS}).count(block(rows)),
    "count senses": lambda rows: SenseCounter(_SENSES, "de").count(block(rows)),
    "pronouns": lambda rows: pronoun_counts([target for _, target in rows], "de"),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_files_that_are_read_together_add_up(name: str, seed: int) -> None:
    draw = random.Random(seed)
    rows, more = (draw.choices(_PAIRS, k=n) for n in (7, 9))
    assert Counter(COUNTS[name](rows)) + Counter(COUNTS[name](more)) == +Counter(
        COUNTS[name](rows + more)
    )


def occupations(draw: random.Random) -> OccupationCounts:
    paths: dict[tuple[str, ...], float] = {
        ("cook", a, b): draw.randrange(9) for a in OUTCOMES for b in OUTCOMES
    }
    return counts_of_paths("x", ["a", "b"], ["cook"], paths)


def seed_result(draw: random.Random) -> EvaluationResult:
    return small_result((draw.randrange(1, 11) / 10, draw.randrange(1, 11) / 10))


def values_of(runs: Sequence[EvaluationResult]) -> Numbers:
    figures = average_results(
        [
            replace(run, system=f"s{i}", signature=f"{run.signature}|sys:{i}")
            for i, run in enumerate(runs)
        ]
    ).figures
    return {name: figure.mean for name, figure in figures.items()}


RUNS: dict[str, tuple[Callable[[random.Random], Any], Callable[[Sequence[Any]], Any]]] = {
    "count occupations --average": (occupations, average_counts),
    "analyze seeds": (seed_result, values_of),
    "score bleu": (
        lambda draw: words(0, draw)[:2],
        lambda rows: corpus_quality(
            {"a": [b for _, b in rows]}, [a for a, _ in rows], chrf=True
        )[0].scores,
    ),
    "analyze speed": (
        lambda draw: SpeedPoint("x", draw.random(), draw.random(), {n: draw.random() for n in ACCURACIES}),
        lambda points: replace(mean_point(points), model="x"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RUNS)
def test_the_order_of_runs_does_not_change_their_means(name: str, seed: int) -> None:
    draw = random.Random(seed)
    made, study = RUNS[name]
    runs = [made(draw) for _ in range(4)]
    plain = numbers(study(runs))
    assert plain
    assert numbers(study(runs[::-1])) == pytest.approx(plain, abs=1e-9)
