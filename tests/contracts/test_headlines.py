"""What is said of figures: the box names what is shown, ranked and bold, over every configuration
of every dataset by every metric that fits, and as written by hand for twelve kinds of result.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.comparing.bands import ranks
from cc_hf.data.loading import declaration
from cc_hf.errors import CCError
from cc_hf.metrics.base import Metric
from cc_hf.metrics.figures import summarize
from cc_hf.metrics.headline import gender_of, headline
from cc_hf.plugins.leaderboard.store import Store, StoredResult
from cc_hf.plugins.leaderboard.table import leaderboard_rows
from cc_hf.reports.figure_text import figure_label
from cc_hf.reports.paper_table import paper_table
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import summary_table
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import result_table
from cc_hf.reports.what_to_cite import what_to_cite
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import Example, Judgement, Reading
from cc_hf.statistics.bootstrap import known_intervals
from tests.helpers.metric_rows import judged, row
from tests.helpers.samples import data_of
from tests.helpers.usual import cases, known, printed

Right = Callable[[int, str], bool]
#: Number of judgements of a category: as many make the test slow.
_MOST = 40


def made(
    metric: type[Metric], dataset: str, config: str, rows: Sequence[tuple[str, str]], right: Right
) -> EvaluationResult:
    """Return a result with a verdict for each row, which is a category and the gender of the person
    or "".
    """
    judgements = [
        Judgement(str(i), of, ok, f"t{i}", "correct" if ok else "incorrect", pair="", gold=gender)
        for i, (of, gender) in enumerate(rows)
        for ok in [right(i, gender)]
    ]
    summary = summarize(judgements, uncounted=metric.uncounted)
    signed = f"{metric.signature_name}|data:{dataset}/{config}@1|langs:en-de|n:{len(rows)}"
    return EvaluationResult(
        dataset,
        config,
        "de",
        metric.name,
        signed,
        len(rows),
        summary.scores,
        known_intervals(summary.intervals),
        summary.categories,
        tuple(judgements),
        dict(summary.counts),
    )


def rows_of(examples: Sequence[Example]) -> list[tuple[str, str]]:
    """Return category and gender of examples, at most `_MOST` of a category, or nearly all of one
    that is smaller.
    """
    kept: dict[str, int] = {}
    rows = []
    for example in examples:
        kept[example.category] = kept.get(example.category, 0) + 1
        if kept[example.category] <= _MOST:
            gold = str(getattr(example, "gold", ""))
            rows.append((example.category, gold if gold in ("male", "female") else ""))
    return [(of, gender_of(of) or gender) for of, gender in rows]


def judging_metrics(dataset: str, config: Any) -> Iterator[type[Metric]]:
    for name in registry.METRICS:
        metric: type[Metric] = registry.resolve("metric", name)
        languages = config.src_lang, config.tgt_langs[0]
        if metric.judges and not metric.fits(dataset, config.name, config.form, *languages):
            yield metric


def check_box(result: EvaluationResult) -> None:
    """Check that the box names what tables show, and nothing of samples that are not counted."""
    said, cited = headline(result), known(what_to_cite([result]))
    report = build_report([ReportedSystem("a", {result.metric: result})], n_resamples=2)
    summary, paper = summary_table(report), paper_table(report)
    labels = {figure_label(result.metric, name) for name in said.in_box}
    assert labels <= {*summary.columns}
    assert len(labels) > 6 or labels <= {*paper.columns}
    (stored,) = leaderboard_rows(Store((StoredResult("a", "a.json", result),)))
    assert {name for name in said.in_box if name in stored.figures} <= {*stored.shown}
    terminal = " ".join(printed(result_table(result), width=200).split())
    for label, value in (*cited.figures, cited.ranked_by):
        shown = value.partition(" right,")[0].partition(" on ")[0]
        assert " ".join(shown.split()) in terminal, label
    uncounted = {c.category for c in said.uncounted}
    assert uncounted.isdisjoint(figure.category for figure in said.cited)
    assert uncounted.isdisjoint(name.removeprefix("accuracy_") for name in said.in_box)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dataset", registry.DATASETS)
def test_the_box_is_shown_ranked_and_bold(dataset: str, shared: Path, tmp_path: Path) -> None:
    seen, is_open = set(), False
    for config in declaration(dataset).configs:
        folder = data_of(dataset, config.name, tmp_path / "data", shared)
        options: dict[str, Any] = {"tgt_lang": config.tgt_langs[0], "data_dir": folder}
        try:
            examples = cc_hf.load_material(dataset, config.name, **options).examples
        except CCError:
            continue  # a file that is not at hand
        if examples[0].extra.get("open_share"):
            is_open = True  # nothing is right: `test_the_box_says` has such a result
            continue
        rows = rows_of(examples)
        for metric in judging_metrics(dataset, config):
            kind = (metric.name, *sorted({*rows}))
            if kind not in seen:
                seen.add(kind)
                _check(metric, dataset, config.name, rows)
    assert seen or is_open


def _check(
    metric: type[Metric], dataset: str, config: str, rows: Sequence[tuple[str, str]]
) -> None:
    perfect = made(metric, dataset, config, rows, lambda i, gender: True)
    only_men = made(metric, dataset, config, rows, lambda i, gender: gender != "female")
    mixed = made(metric, dataset, config, rows, lambda i, gender: i % 3 > 0)
    for result in (perfect, only_men, mixed):
        check_box(result)
    said = headline(perfect)
    assert all(f.value >= 0.95 for f in said.cited if "accuracy" in f.name)
    genders = {gender for _, gender in rows} - {""}
    if len(genders) == 2 and not metric.only_named:
        of_men = headline(only_men)
        assert only_men.scores[of_men.by] <= 0.5
        cited = [gender_of(figure.category) for figure in of_men.cited]
        assert cited[0] != "male"
        if {gender_of(c.category) for c in only_men.categories} >= {"male", "female"}:
            named = [*of_men.cited, *of_men.beside]
            assert len(named) > 1 or len(only_men.categories) > 6
    systems = {"mixed": mixed, "perfect": perfect, "only men": only_men}
    standing = ranks(systems)
    if not standing.by_system:
        return
    assert standing.by == said.by
    assert [n for n, s in standing.by_system.items() if s.band == 1][:1] in (["perfect"], ["mixed"])
    report = build_report(
        [ReportedSystem(n, {metric.name: r}) for n, r in systems.items()], n_resamples=2
    )
    assert summary_table(report).rows[0].label == "perfect"
    paper = paper_table(report)
    column = paper.columns.index(figure_label(metric.name, said.by))
    bold = [row.label for row in paper.rows if row.cells[column].is_best]
    assert "perfect" in bold


@pytest.mark.parametrize("name", registry.METRICS)
def test_the_box_of_every_metric_is_shown(name: str) -> None:
    rows = [row(name, index, is_right=index % 5 > 1) for index in range(60)]
    result = judged(name, [text for text, _ in rows], [r for _, r in rows], n_resamples=20)
    check_box(result)


def of(
    metric: str = "contrastive_conditioning",
    *,
    n: int = 100,
    unread: int = 0,
    more: dict[str, float] | None = None,
    fields: str = "",
    **right: int,
) -> EvaluationResult:
    """Return a result with `n` samples of each category, of which so many are right."""
    kinds = tuple(
        CategoryAccuracy(c, n, k, k / n, n_inconclusive=unread * (k < n)) for c, k in right.items()
    )
    n_all = n * len(kinds)
    scores = {"accuracy": sum(right.values()) / n_all}
    counted = [c.accuracy for c in kinds if c.category != "neutral"]
    scores |= {
        "min_accuracy": min(counted),
        **{f"accuracy_{c.category}": c.accuracy for c in kinds},
    }
    counts = {
        "n_correct": sum(right.values()),
        "n_inconclusive": sum(c.n_inconclusive for c in kinds),
    }
    return EvaluationResult(
        "",
        "",
        "de",
        metric,
        f"m{fields}|n:{n_all}",
        n_all,
        scores | (more or {}),
        {},
        kinds,
        (),
        counts,
    )


_GENDERS = "accuracy on female 40.0, accuracy on male 90.0"
_RANKED = "systems are ranked by the lower of both, minimum accuracy 40.0"
_OPEN = tuple(Reading(str(i), "all", "", "feminine") for i in range(20))


@cases(
    # women and men, women first; the lower of both ranks
    (of(male=90, female=40), f"{_GENDERS} (contrastive conditioning); {_RANKED}, each with"),
    # neutral samples are in no minimum, and the figures of the paper stand beside
    (
        of("winomt_pattern_matching", male=90, female=40, neutral=0, more={"delta_g": 0.2}),
        f"{_GENDERS} (WinoMT pattern matching); {_RANKED}, beside accuracy 43.3,"
        " gender gap ΔG, 0 is best 20.0, each with its interval and the signature."
        " Papers: Stanovsky et al. 2019."
        " The 100 samples of neutral are in none of them but those of all samples.",
    ),
    # a system that makes men of most women
    (of("gender_accuracy", male=99, female=19), "accuracy on female 19.0, accuracy on male 99.0"),
    # other categories: the lowest, and the others beside it
    (
        of(frequent=90, infrequent=40),
        "minimum accuracy 40.0 (contrastive conditioning), beside accuracy on infrequent 40.0,"
        " accuracy on frequent 90.0",
    ),
    # a category with few samples: no minimum
    (
        of(n=9, frequent=8, infrequent=2, rare=5),
        "accuracy 55.6 (contrastive conditioning), each",
    ),
    # few people of a gender
    (of(n=9, male=8, female=2, neutral=5), "Nothing yet: only 9 samples of female."),
    # a first look
    (of(n=4, male=3, female=2), "Nothing yet: only 8 judgements."),
    (of(n=4, male=3, female=2), f"By a first look, the figures are {_GENDERS[:19]}"),
    # some are unread: right, wrong and unread stand together
    (
        of("winomt_pattern_matching", male=80, female=40, unread=12),
        "accuracy on female 40.0 right, 48.0 wrong and 12.0 unread,"
        " accuracy on male 80.0 right, 8.0 wrong and 12.0 unread",
    ),
    # many are unread: the shares of wrong and unread, and systems by samples that all read
    (
        replace(
            of("simplegen_accuracy", MoMc=90, MoFc=26),
            categories=(
                CategoryAccuracy("MoFc", 100, 26, 0.26, n_inconclusive=35),
                CategoryAccuracy("MoMc", 100, 90, 0.9),
            ),
        ),
        "wrong on men's occupations in female contexts 39.0 (30.0 – 48.8), unread on men's"
        " occupations in female contexts 35.0 (26.4 – 44.7) (SimpleGEN accuracy);"
        " systems are ranked by minimum accuracy on the samples that all of them read",
    ),
    # more than half
    (
        of("winomt_pattern_matching", male=40, female=40, unread=55),
        "Nothing yet: 110 of 200 translations have no verdict.",
    ),
    # nothing is right or wrong: shares, and no rank
    (
        replace(
            of("gender_words", all=1, more={"feminine_share": 0.2}),
            scores={"feminine_share": 0.2, "mixed": 0.1},
            categories=(),
            readings=_OPEN,
        ),
        "feminine share 20.0, mixed 10.0 (gender by words), each with",
    ),
    # corrected by labels of people
    (
        of(
            male=90,
            female=40,
            more={"corrected_min_accuracy": 0.5, "corrected_accuracy_female": 0.5}
            | {"corrected_accuracy_male": 0.85},
            fields="|eval:cc-tiny-en-de@d644c6d303e7|trusted:people/n200",
        ),
        "corrected accuracy on female 50.0, corrected accuracy on male 85.0 (contrastive"
        " conditioning); systems are ranked by the lower of both, corrected minimum accuracy 50.0",
    ),
    # a judge without evidence
    (
        of(male=90, female=40, fields="|eval:cc-tiny-en-de@d644c6d303e7"),
        f"By a first look, the figures are {_GENDERS} (contrastive conditioning); {_RANKED}.",
    ),
)
def test_the_box_says(result: EvaluationResult, text: str) -> None:
    cited = known(what_to_cite([result]))
    assert text in " ".join(cited.sentences)


def test_the_box_names_a_metric_that_needs_no_judge_and_its_command() -> None:
    judged_by_itself = replace(
        of(MoMc=90, FoFc=70, FoMc=80, MoFc=26),
        dataset="simplegen",
        config="en-de",
        signature="cc|data:simplegen/en-de@1|langs:en-de|eval:cc-tiny-en-de@d644c6d303e7"
        "|sys:cc-tiny-en-de@d644c6d303e7/beam5|n:400",
    )
    cited = known(what_to_cite([judged_by_itself]))
    command = "cc-hf evaluate simplegen en-de --system cc-tiny-en-de --metric simplegen_accuracy"
    assert cited.remedy.startswith(f"read the words, which needs no evaluator: `{command}`; or ")


def test_shares_that_differ_rank_on_the_samples_that_all_read() -> None:
    """The first reads nothing in a tenth of the samples of both genders, which it would lose."""
    metric: type[Metric] = registry.resolve("metric", "winomt_pattern_matching")
    rows = [("female", "female"), ("male", "male")] * 200

    def result(n_unread: int) -> EvaluationResult:
        actual = made(metric, "winomt", "default", rows, lambda i, gender: i % 4 > 0)
        judgements = [
            replace(j, is_correct=False, verdict="inconclusive") if i % 400 < n_unread else j
            for i, j in enumerate(actual.judgements)
        ]
        summary = summarize(judgements)
        return replace(
            actual,
            judgements=tuple(judgements),
            categories=summary.categories,
            scores=summary.scores,
            counts=dict(summary.counts),
        )

    actual = ranks({"a": result(0), "b": result(60)})
    assert (actual.by, actual.is_shared, actual.n_samples) == ("min_accuracy", True, 340)
    assert {standing.band for standing in actual.by_system.values()} == {1}
    alike = ranks({"a": result(50), "b": result(60)})
    assert (alike.is_shared, alike.n_samples) == (False, 400)
    # no sample is read in both
    half = result(200)
    turned = tuple(
        replace(j, is_correct=True, verdict="correct")
        if j.verdict == "inconclusive"
        else replace(j, is_correct=False, verdict="inconclusive")
        for j in half.judgements
    )
    nothing = ranks({"a": half, "b": replace(half, judgements=turned)})
    assert not nothing.by_system
    assert all("no sample is read" in why for why in nothing.why_not.values())
