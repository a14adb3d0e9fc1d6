"""What is not fit to be cited is marked on every screen, and nowhere first, ranked or bold."""

from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.hub.metric_page import judge_lines
from cc_hf.metrics.figures import summarize
from cc_hf.plugins.leaderboard.html import result_html
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.plugins.leaderboard.store import read_folder
from cc_hf.plugins.leaderboard.table import leaderboard_rows, ranked
from cc_hf.reports.formats.latex import latex_paper_table, latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.paper_table import paper_table
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.reports.what_to_cite import what_to_cite
from cc_hf.results import EvaluationResult, ResultSet
from tests.helpers.evidence import ranks_only, supported
from tests.helpers.usual import cases, known, printed, small_result, write_result

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
