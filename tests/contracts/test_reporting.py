"""What a report may say: confidence intervals follow one rule in every statistic, metric and
report, and what is not fit to be cited is marked on every screen, and nowhere first, ranked or
bold. The number of files between an entry point and the model, and the number of lookups of a
dataset.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

import cc_hf
from cc_hf import registry
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.loading import load_examples
from cc_hf.evaluators.fast.packed import PackedModel
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.hub.eval_results import eval_result_files, published_scores
from cc_hf.hub.metric_page import judge_lines
from cc_hf.hub.model_index import eval_results, with_model_index
from cc_hf.metrics.base import Metric
from cc_hf.metrics.figures import summarize
from cc_hf.plugins.leaderboard.about_tabs import described, papers
from cc_hf.plugins.leaderboard.html import result_html
from cc_hf.plugins.leaderboard.live import FileJudge
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.plugins.leaderboard.store import read_folder
from cc_hf.plugins.leaderboard.table import leaderboard_rows, ranked
from cc_hf.plugins.raters.drawn_results import examples_without_corpora
from cc_hf.plugins.seeds.system_rows import mean_rows, system_rows
from cc_hf.plugins.seeds.table import chosen_figures, figure_title, systems_tables
from cc_hf.reports.collection import build_collection
from cc_hf.reports.figures import histograms
from cc_hf.reports.formats.latex import latex_paper_table, latex_report
from cc_hf.reports.formats.markdown import markdown_report, markdown_reports
from cc_hf.reports.inputs import read_examples, read_report_systems
from cc_hf.reports.page.collection_page import collection_page
from cc_hf.reports.page.page import html_page
from cc_hf.reports.paper_table import paper_table
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import intervals_text, result_table, results_table
from cc_hf.reports.what_to_cite import what_to_cite
from cc_hf.results import EvaluationResult, Interval, NoInterval, ResultSet
from cc_hf.statistics.agreement import kappa_interval
from cc_hf.statistics.bootstrap import MOST_UNDEFINED
from cc_hf.statistics.rank_correlation import rank_correlation
from tests.helpers.evidence import ranks_only, supported
from tests.helpers.metric_rows import judged, row
from tests.helpers.pairs import EN_DE, GENDER
from tests.helpers.usual import (
    cases,
    constant_scores,
    known,
    printed,
    printed_by,
    refuses,
    result_of,
    small_result,
    write_result,
    write_text,
)

_N = 100
_Found = Interval | NoInterval


def _kappa(n_defined: int) -> _Found:
    rest = ["a"] * (_N - n_defined)
    return kappa_interval(["b"] * n_defined + rest, ["b", "a"] * (n_defined // 2) + rest)


def _correlation(n_defined: int) -> _Found:
    values = [1.0 + index for index in range(n_defined)] + [0.0] * (_N - n_defined)
    return rank_correlation(values, [value % 2 + value / 100 for value in values]).spearman_interval


@pytest.mark.parametrize("statistic", [_kappa, _correlation])
@cases((50, 0.0), (4, 0.017), (2, 0.133))
def test_undefined_resamples_are_excluded_and_counted(
    n_defined: int, share: float, statistic: Callable[[int], _Found]
) -> None:
    """The figure is undefined in a resample that contains none of the `n_defined` of 100 samples:
    in a share of (1 - n_defined / 100) ** 100 of the resamples.
    """
    actual = statistic(n_defined)
    assert actual.n_undefined == pytest.approx(1000 * share, abs=25)
    assert (actual.n_undefined > 0) == (share > 0)
    if share > MOST_UNDEFINED:
        assert isinstance(actual, NoInterval)
        share_undefined = f"undefined in {actual.n_undefined} of 1000 resamples, more than 5 %"
        assert actual.note == f"no interval: it is {share_undefined}"
    else:
        assert isinstance(actual, Interval)
        assert actual.low < actual.high
        assert (f"undefined in {actual.n_undefined} resamples" in actual.note) == (share > 0)


_CASES = {
    "one row": [(0, True)],
    "two rows": [(0, True), (1, False)],
    "all correct": [(index, True) for index in range(20)],
    "all wrong": [(index, False) for index in range(20)],
    "one category right, the other wrong": [(index, index % 2 == 0) for index in range(20)],
    "a category absent": [(2 * index, index % 3 == 0) for index in range(12)],
    "mixed": [(index, index % 5 > 1) for index in range(60)],
}


def _evaluated(metric: str, case: str) -> EvaluationResult:
    wanted = _CASES[case]
    if metric == "gender_quality_gap" and case in ("one row", "a category absent"):
        wanted = [(0, True), (1, True)]  # pairs are whole
    rows = [row(metric, index, is_right=is_right) for index, is_right in wanted]
    return judged(metric, [text for text, _ in rows], [r for _, r in rows], n_resamples=200)


#: not resampled
_WITHOUT = ("mean_confidence", "inconclusive_rate", "decided_accuracy_")


@pytest.mark.filterwarnings("ignore:none of .* translations was read as")
@pytest.mark.parametrize("metric", registry.METRICS)
@pytest.mark.parametrize("case", _CASES)
def test_intervals_have_width_or_state_a_reason(metric: str, case: str, tmp_path: Path) -> None:
    result = _evaluated(metric, case)
    for name, value in result.scores.items():
        interval = result.intervals.get(name)
        if interval is None:
            is_open = name.startswith(_WITHOUT) and metric != "simplegen_accuracy"
            assert is_open or name in result.no_interval, name
        else:
            assert interval.low < interval.high
            is_within = interval.low - 1e-12 <= value <= interval.high + 1e-12
            assert interval.method == "percentile" or is_within
    if case == "mixed":
        usual = {"accuracy", "bleu_male", "feminine_share", "recall", "masculine_rate"}
        assert usual & result.intervals.keys()
    assert EvaluationResult.from_json(result.to_json()) == result
    _check_shown(result, tmp_path)


def _check_shown(result: EvaluationResult, tmp_path: Path) -> None:
    """Check that table, reports and page show the result and what there is to say about its
    intervals.
    """
    report = build_report([ReportedSystem("a", {result.metric: result})], n_resamples=20)
    pages = [make(report) for make in (html_page, markdown_report, latex_report)]
    shown = [printed(result_table(result), width=400), *pages, result_html(result)]
    for text in set(result.interval_notes().values()):
        assert all(text.replace("%", r"\%") in page or text in page for page in shown), text
    declared: type[Metric] = registry.resolve("metric", result.metric)
    assert f"intervals {declared.interval_method}" in shown[0]
    assert escape(f"intervals {intervals_text([result.metric])}") in shown[4]
    if result.intervals:
        assert escape(declared.interval_method) in shown[1]


@pytest.mark.parametrize("metric", registry.METRICS)
def test_every_metric_counts_ties_as_its_signature_says(metric: str) -> None:
    declared: type[Metric] = registry.resolve("metric", metric)
    if not declared.takes_evaluator:
        assert _evaluated(metric, "mixed").ties is None
        return
    rows = [row(metric, index, is_right=True) for index in (0, 2, 4, 6)]
    ties: dict[str, Any] = {"evaluator": lambda sources, translations: [0.5] * len(sources)}
    result = judged(metric, [text for text, _ in rows], [r for _, r in rows], **ties)
    assert {judgement.verdict for judgement in result.judgements} == {result.ties}
    report = build_report([ReportedSystem("a", {metric: result})])
    assert f"4 of 4 judgements are ties, which count as {result.ties}" in report.unfit[0]
    for histogram in histograms(report, metric):  # none without probabilities
        n_right = sum(histogram.counts[len(histogram.counts) // 2 :])
        assert n_right == (4 if result.ties == "correct" else 0)
    assert f"which count as {result.ties}" in result_html(result)


@pytest.mark.parametrize("metric", registry.METRICS)
def test_every_metric_card_states_the_rule_for_intervals(metric: str, root: Path) -> None:
    card = " ".join((root / f"cards/metrics/{metric}.md").read_text(encoding="utf-8").split())
    declared: type[Metric] = registry.resolve("metric", metric)
    assert f"Intervals of 95 % are {declared.interval_method}." in card
    of_shares = _OF_SHARES if declared.judges else _OF_SHARES.partition(". ")[2]
    assert (_OF_BOOTSTRAP if "bootstrap" in declared.interval_method else of_shares) in card


_OF_BOOTSTRAP = (
    "Resamples in which a figure is undefined are dropped and counted. If they are more than 5 %,"
    " or if all resamples agree, the figure has no interval. `interval_notes` names every figure"
    " that this concerns."
)
_OF_SHARES = (
    "That of the minimum over categories covers at least 95 %. `interval_notes` names every figure"
    " without an interval, and why."
)


# Kind of reason -> fields of a signature, counts, and words of the reason.
KINDS: dict[str, tuple[str, dict[str, int], str]] = {
    "unmarked": ("|eval:org/a@2|cues:own|marks:no", {}, "these translations mark no gender"),
    "itself": ("|sys:org/a@1/beam5|eval:org/a@2", {}, "org/a is the system and the evaluator"),
    "evaluator": ("|eval:org/a@2", {}, "no labels show how far org/a can be trusted on winomt"),
    "bias": (
        "|eval:org/a@2",
        {},
        "org/a supports rankings only: its mistakes may move the accuracy on",
    ),
    "ties": ("|eval:org/a@2", {"n_ties": 3}, "3 of 40 judgements are ties"),
    "unresponsive": ("|eval:org/a@2|score:geometric", {}, "does not react to the cues"),
    "inconclusive": ("|eval:org/a@2", {"n_inconclusive": 21}, "21 of 40 translations have no"),
    "translations": ("|eval:org/a@2", {"n_with_source": 5}, "5 of 40 translations repeat"),
    "limit": ("", {}, "only 40 examples"),
}


def unfit(kind: str) -> EvaluationResult:
    """Return a result that is better than others, but not fit to be cited."""
    fields, counts, _ = KINDS[kind]
    made = small_result((0.9, 0.9), fields=fields)
    if kind == "inconclusive":
        made = _without_wrong(small_result((0.5, 0.45), fields=fields))
    if kind not in ("evaluator", "limit"):  # nothing else speaks against them
        made = ranks_only(made) if kind == "bias" else supported(made)
    data = "default" if fields else "default[first 40]"
    scores = {**made.scores, **({"mean_confidence": 0.006} if kind == "unresponsive" else {})}
    signature = made.signature.replace("default", data)
    return replace(made, signature=signature, counts=counts, scores=scores)


def _without_wrong(result: EvaluationResult) -> EvaluationResult:
    """Return a result in which nothing is wrong, but all that is not right is inconclusive."""
    judgements = tuple(
        j if j.is_correct else replace(j, verdict="inconclusive") for j in result.judgements
    )
    return replace(result, judgements=judgements, categories=summarize(judgements).categories)


@pytest.mark.parametrize("kind", KINDS)
def test_a_screen_marks_what_is_not_fit_and_puts_it_last(kind: str, tmp_path: Path) -> None:
    reason = KINDS[kind][2]
    weak, fit = unfit(kind), small_result((0.4, 0.6), metric="winomt_pattern_matching")
    assert (list(weak.unfit), fit.unfit) == ([kind], {})
    for order in ((weak, fit), (fit, weak)):
        shown = printed(results_table(ResultSet(order)), width=200)
        terminal = " ".join(shown.replace("│", " ").split())
        names = ("WinoMT pattern matching accuracy", "contrastive conditioning accuracy")
        assert terminal.index(names[0]) < terminal.index(names[1])
        female, male = "female 40.0 (21.9 – 61.3)", "male 60.0 (38.7 – 78.1)"
        cited = f"accuracy on {female}, accuracy on {male} (WinoMT pattern matching)"
        ranked_by = "systems are ranked by the lower of both, minimum accuracy 40.0 (20.0 – 66.2)"
        assert f"{cited}; {ranked_by}" in terminal
        if kind == "limit":
            continue  # reports have results on the same data only
        report = build_report([ReportedSystem("a", {r.metric: r for r in order})], n_resamples=5)
        page = html_page(report)
        assert report.metrics == (fit.metric, weak.metric)
        box, *others = page.split('aria-label="What to cite"')[1:]
        shown, _, folded = box.partition("</aside>")[0].partition("<details>")
        assert not others
        assert str(escape(report.main_reasons[0])) in shown
        assert all(str(escape(why)) in folded for why in report.unfit)
        latex = (latex_paper_table(report), latex_report(report))
        for text in (page, markdown_report(report), *latex, terminal):
            plain = " ".join(text.replace("<b>", "").replace("</b>", "").split())
            assert "not fit to cite: contrastive conditioning: " in plain
            assert reason in plain


def test_a_judge_for_rankings_ranks_systems_whose_figures_are_not_cited() -> None:
    results = {
        name: ranks_only(small_result(accuracies, fields="|eval:org/a@2"))
        for name, accuracies in (("a", (0.9, 0.9)), ("b", (0.2, 0.2)))
    }
    report = build_report(
        [ReportedSystem(n, {r.metric: r}) for n, r in results.items()], n_resamples=5
    )
    assert [*report.ranks["contrastive_conditioning"].by_system] == ["a", "b"]
    row = paper_table(report, ["min_accuracy"]).rows[0]
    assert row.cells[0].is_best
    assert "supports rankings only" in " ".join(known(report.cited).sentences)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("bias", "limit")])
def test_a_result_that_is_not_fit_is_neither_best_nor_ranked(kind: str, tmp_path: Path) -> None:
    results = {"weak": unfit(kind), "b": small_result((0.4, 0.6)), "c": small_result((0.3, 0.6))}
    report = build_report(
        [ReportedSystem(n, {r.metric: r}) for n, r in results.items()], n_resamples=5
    )
    table = paper_table(report, ["min_accuracy"])
    assert [row.cells[0].is_best for row in table.rows] == [False, True, False]
    assert [row.note for row in table.rows] == ["baseline, not fit to cite", "", ""]
    findings = html_page(report).partition('aria-label="Findings"')[2].partition("</ul>")[0]
    assert "weak" not in findings
    for name, result in results.items():
        write_result(tmp_path, name, result)
    rows = leaderboard_rows(read_folder(tmp_path, has_judgements=True))
    assert [row.file[:-5] for row in ranked(rows, "min_accuracy")] == ["b", "c", "weak"]
    assert [row.name in row.ranks.by_system for row in rows] == [True, True, False]
    write_static_board(tmp_path, tmp_path / "board")
    board = (tmp_path / "board/index.html").read_text(encoding="utf-8")
    assert board.count('<tr class="unranked"') == 1
    assert KINDS[kind][2] in board
    assert "Bands compare minimum accuracy" in board
    assert KINDS[kind][2] in result_html(results["weak"])


def test_a_page_of_figures_that_are_not_fit_has_its_table_before_its_charts() -> None:
    for result, is_first in ((unfit("ties"), False), (small_result((0.4, 0.6)), True)):
        page = html_page(build_report([ReportedSystem("a", {result.metric: result})]))
        summary = page.partition('id="summary"')[2]
        assert (summary.index("<svg") < summary.index("<table")) == is_first
        assert ("Nothing yet" in summary.partition("<table")[0]) != is_first


def test_the_box_is_no_wider_than_a_terminal_even_in_a_pipe() -> None:
    shown = printed(result_table(unfit("ties")), width=10_000)
    assert max(map(len, shown.partition("What to cite")[2].splitlines()[1:])) == 80


def test_the_page_of_a_metric_marks_what_the_embedded_evaluator_judges() -> None:
    rows = '[{"correct_sources": ["A [male] cook."], "incorrect_sources": ["A [female] cook."]}]'
    texts = ("contrastive_conditioning", "Ein Koch.", rows)
    assert "no labels show" in judge_lines(*texts, src_lang="en", tgt_lang="de").figures["unfit"]


_BRACKETS = "|langs:en-de|cues:gender_brackets|score:geometric|pool:max|tie:correct"


@cases(
    ("eval:org/t5-tiny-random@1", "winomt", "evaluator"),
    (f"eval:cc-tiny-en-de@1{_BRACKETS}", "winomt", "evaluator"),  # other weights of this name
    (f"eval:cc-tiny-en-de@d644c6d303e7{_BRACKETS}", "winomt", "bias"),
    (f"eval:local:x@d644c6d303e7{_BRACKETS}", "winomt", "bias"),  # the weights in a folder
    (f"eval:x@d644c6d303e7{_BRACKETS}", "simplegen", "bias"),  # of sentences of one kind
    (f"eval:x@d644c6d303e7{_BRACKETS}", "mucow", "evaluator"),
    (f"eval:x@d644c6d303e7+org/a@1{_BRACKETS}", "winomt", "evaluator"),
    (f"eval:x@d644c6d303e7{_BRACKETS.replace('max', 'mean')}", "winomt", "evaluator"),
    (f"eval:x@d644c6d303e7{_BRACKETS.replace('de', 'fr')}", "winomt", "evaluator"),
    ("eval:facebook/wmt19-en-de@1a2b", "winomt", "evaluator"),
    ("sys:scored|eval:org/a@1", "winomt", ""),
    ("align:fast_align", "winomt", ""),
)
def test_a_judge_is_trusted_by_evidence(fields: str, dataset: str, kind: str) -> None:
    signed = dict(field.split(":", 1) for field in fields.split("|"))
    reasons = reasons_not_to_cite(signed, {}, 3648, dataset=dataset)
    assert [*reasons] == ([kind] if kind else [])


@cases(
    ("winomt", "de", "`cc-hf judge check org/a winomt -l en-de`"),
    ("winomt", "es", "`cc-hf judge check org/a -l en-es`"),  # labels of other sentences of the kind
    ("winomt", "lv", ""),
    ("wino_x", "de", ""),
)
def test_a_check_is_advised_where_labels_are(dataset: str, tgt_lang: str, command: str) -> None:
    fields = "|cues:gender_brackets|eval:org/a@1"
    result = small_result((0.5, 0.6), dataset=dataset, tgt_lang=tgt_lang, fields=fields)
    remedy = known(what_to_cite([result])).remedy
    assert command in remedy
    assert ("judge check" in remedy) == bool(command)


@cases(("people", True), ("people/b@1", False), ("org/b@1", False))
def test_corrected_figures_are_fit_if_the_trusted_judge_is(judge: str, is_fit: bool) -> None:
    weak = unfit("evaluator")
    signed = weak.signature.replace("|n:40", f"|trusted:{judge}/n20|n:40")
    result = replace(weak, signature=signed, scores={**weak.scores, "corrected_min_accuracy": 0.5})
    assert bool(result.why_unfit("min_accuracy"))
    assert bool(result.why_unfit("corrected_min_accuracy")) != is_fit


SOURCES = "source,focus,correct_cues,incorrect_cues,category,tgt_lang\n"
ROW = "The bat was old.,bat,baseball,flying,bat,de\n"
#: from the model up to where both entry points meet
ROAD = [f"evaluators/{name}.py" for name in ("families/seq2seq", "base", "contests")]
ROAD.append("evaluation/judging.py")


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record, each time that a model runs, the files of cc_hf on the stack, the innermost first."""
    package, actual = Path(cc_hf.__file__).parent, list[list[str]]()
    run = PackedModel.logprobs

    def recorded(self: PackedModel, *sides: Any, **options: Any) -> Any:
        frame, files = sys._getframe(1), dict[str, None]()
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(package):
                files[str(path.relative_to(package))] = None
            frame = frame.f_back  # type: ignore[assignment]
        actual.append(list(files))
        return run(self, *sides, **options)

    monkeypatch.setattr(PackedModel, "logprobs", recorded)
    return actual


def test_the_command_line_has_a_short_road(tmp_path: Path, tiny_marian: Path, stacks: Any) -> None:
    (tmp_path / "bats.csv").write_text(SOURCES + ROW, encoding="utf-8")
    (tmp_path / "t.txt").write_text("Der Schläger war alt.\n", encoding="utf-8")
    options = f"--evaluator {tiny_marian} --evaluator-option mode=exact --cache no --quiet"
    printed_by(f"evaluate {tmp_path}/bats.csv --translations {tmp_path}/t.txt {options}")
    around_every_command = ("cli/main.py", "cli/__main__.py", "cli/command.py")
    below = [file for file in stacks[0] if file not in around_every_command]
    assert below == [*ROAD, "evaluation/evaluate.py", "cli/evaluate.py"]


def test_the_evaluate_module_has_a_short_road(tiny_marian: Path, stacks: list[list[str]]) -> None:
    given: dict[str, Any] = {"predictions": ["Der Schläger war alt."], "references": [GENDER]}
    options = {"evaluator": str(tiny_marian), "mode": "exact", **EN_DE}
    cc_hf.load_metric("contrastive_conditioning").compute(**given, **options)
    assert stacks[0] == ROAD


def _files(folder: Path) -> list[Path]:
    """Write a file for each of two systems on each of two datasets, with results by two metrics."""
    paths = []
    metrics = {"simplegen/en-de": "accuracy", "winomt/default": "pattern_matching"}
    for data, metric in metrics.items():
        dataset, config = data.split("/")
        for system in ("a", "b"):
            origin: dict[str, Any] = {"dataset": dataset, "config": config, "system": system}
            origin["signature"] = f"x|data:{data}@1|langs:en-de"
            origin |= {"n": 9, "scores": {"accuracy": 0.5}}
            names = ("contrastive_conditioning", f"{dataset}_{metric}")
            both = (result_of([], **origin, metric=name) for name in names)
            path = folder / f"{dataset}.{system}.json"
            paths.append(write_text(path, ResultSet(tuple(both)).to_json()))
    return paths


def _reports(paths: list[Path]) -> list[Report]:
    groups, notes = read_report_systems(paths)
    results = [next(iter(systems[0].results.values())) for systems in groups]
    return [
        build_report(systems, examples=read_examples(result)[0], notes=notes)
        for systems, result in zip(groups, results, strict=True)
    ]


def evaluation(folder: Path) -> None:
    material = cc_hf.load_material("simplegen", "en-de")
    texts = ["Sie ist Ärztin."] * 2664
    cc_hf.evaluate_all(material, translations=texts, evaluator=constant_scores)


def report_in_all_formats(folder: Path) -> None:
    (report,) = _reports(_files(folder)[:2])
    for text in (html_page, markdown_report, latex_report):
        assert "SimpleGEN" in text(report)


def report_on_two_datasets(folder: Path) -> None:
    collection = build_collection(_reports(_files(folder)))
    for text in (collection_page(collection), markdown_reports(collection.reports)):
        assert all(name in text for name in ("SimpleGEN", "WinoMT"))


def tables_of_a_leaderboard(folder: Path) -> None:
    _files(folder)
    rows = leaderboard_rows(read_folder(folder))
    assert [part.title for part in described(rows)["datasets"]] == ["SimpleGEN", "WinoMT"]
    assert papers(rows)


def file_judged_on_the_leaderboard(folder: Path) -> None:
    path = write_text(folder / "translations.txt", "Sie ist Ärztin.\n" * 2664)
    result = FileJudge().judge(path, "simplegen", "en-de", "de", "simplegen_accuracy")
    assert "SimpleGEN" in result_html(result)


def results_on_the_hub(folder: Path) -> None:
    results = [result for path in _files(folder) for result in read_result_file(path).results]
    published = published_scores(results[::4], {"simplegen": "org/a", "winomt": "org/b"})
    assert eval_result_files(published, date="2026-01-31")
    assert with_model_index(None, "org/model", eval_results(published))


def tables_of_systems(folder: Path) -> None:
    results = [result for path in _files(folder) for result in read_result_file(path).results]
    means = mean_rows(system_rows([(result.system, result) for result in results]))
    figures = chosen_figures(means)
    assert systems_tables(means, figures)
    titles = [figure_title(means[0], name) for name in figures]
    assert [title.partition(",")[0] for title in titles[::2]] == ["SimpleGEN", "WinoMT"]


def sample_for_raters(folder: Path) -> None:
    result = read_result_file(_files(folder)[0]).results[0]
    assert load_examples(result.declared or result.dataset, result.config)
    refuses("has no corpus 'x'", examples_without_corpora, result, ["x"])


@cases(
    (evaluation, ["simplegen"]),
    (report_in_all_formats, ["simplegen"]),
    (report_on_two_datasets, ["simplegen", "winomt"]),
    (tables_of_a_leaderboard, ["simplegen", "winomt"]),
    (file_judged_on_the_leaderboard, ["simplegen"] * 2),  # the visitor's name, the result's
    (results_on_the_hub, ["simplegen", "winomt"]),
    (tables_of_systems, ["simplegen", "winomt"]),
    (sample_for_raters, ["simplegen"]),
)
def test_lookups_of_datasets(make: Any, expected: Any, tmp_path: Path, monkeypatch: Any) -> None:
    lookups, resolve = list[str](), registry.resolve

    def counted(kind: str, name: str) -> Any:
        if kind == "dataset":
            lookups.append(name)
        return resolve(kind, name)

    monkeypatch.setattr(registry, "resolve", counted)
    make(tmp_path)
    assert sorted(lookups) == expected
