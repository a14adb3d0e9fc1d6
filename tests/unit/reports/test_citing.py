"""What a paper cites: offered where figures are fit for it, else why they are not."""

import json
from dataclasses import replace
from pathlib import Path

from cc_hf.reports.citing import citing, judge_bibtex
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult
from tests.helpers.evidence import supported
from tests.helpers.usual import (
    cases,
    cc_hf,
    printed_by,
    read_json,
    refuses,
    small_result,
    write_result,
)


def fit(system: str = "a") -> EvaluationResult:
    """Return a result whose judge evidence supports."""
    judge = "|cues:gender_brackets|eval:org/judge_x@1a2b3c4"
    return supported(replace(small_result((0.5, 0.8), fields=judge), system=system))


def test_a_fit_result_has_sentence_figures_signature_and_entries(tmp_path: Path) -> None:
    result = fit()
    assert not result.why_unfit("min_accuracy")
    report = build_report([ReportedSystem("a", {result.metric: result})])
    cited = citing(report)
    assert cited.why_not == ()
    first, _, figures, *_, signed = cited.sentences
    assert "WinoMT (Stanovsky et al. 2019), English → German, by contrastive" in first
    assert "with org/judge_x as judge" in first
    assert figures.startswith("a: accuracy on female 50.0 (")
    assert signed == f"Signature: {result.signature}"
    keys = [line.partition("{")[2] for line in cited.bibtex.splitlines() if line[:1] == "@"]
    assert [key.partition("-")[0] for key in keys] == ["stanovsky", "vamvas", "org"]
    assert r'title = "{org/judge\_x}"' in cited.bibtex
    assert "Copy sentence, figures and BibTeX" in html_page(report)
    path = write_result(tmp_path, "a", result)
    assert cited.bibtex in cc_hf("report", str(path), "--cite").stdout


def test_what_is_not_fit_is_not_offered(tmp_path: Path) -> None:
    unfit = replace(fit("b"), evidence=())
    assert unfit.why_unfit("min_accuracy")
    both = [ReportedSystem(r.system, {r.metric: r}) for r in (fit(), unfit)]
    mixed = citing(build_report(both))
    assert [line[:16] for line in mixed.why_not] == ["b: Nothing yet: "]
    assert not any(sentence.startswith("b:") for sentence in mixed.sentences)
    assert citing(build_report(both[1:])).text == ""
    assert "Copy sentence" not in html_page(build_report(both[1:]))
    path = write_result(tmp_path, "b", unfit)
    output = " ".join(cc_hf("report", str(path), "--cite").stdout.split())
    assert output.startswith("b: Nothing yet: ")
    assert "To have figures that can be cited, " in output
    assert "@misc" not in output
    assert "50.0" not in output
    row = json.loads(cc_hf("report", str(path), "--cite", "--json").stdout)
    assert row == json.loads(cc_hf("report", str(path), "--json").stdout)


@cases(
    ("function f", ""),
    ("the model@1a2b", ""),
    ("cc-tiny-en-de@1a2b", "ships with cc\\_hf"),
    ("org/m", "huggingface.co/org/m"),
    ("folder@1a2b", "revision 1a2b"),
)
def test_judges_have_entries(judge: str, part: str) -> None:
    assert part in judge_bibtex(judge)
    assert bool(judge_bibtex(judge)) is bool(part)


def test_the_list_has_entries(tmp_path: Path) -> None:
    of_metric = printed_by("list metrics winomt_pattern_matching --bibtex")
    assert of_metric.count("@") == 1
    assert "stanovsky" in printed_by("list datasets winomt --bibtex")
    assert "@misc{cc-tiny-en-de," in printed_by("list evaluators --bibtex")
    cc_hf("list", "--bibtex", "-o", str(tmp_path / "all.json"))
    entries = read_json(tmp_path / "all.json")
    assert len(entries) == len(set(entries)) > 15
    assert all(entry[0] == "@" and entry[-1] == "}" for entry in entries)
    refuses("unknown kind", printed_by, "list papers --bibtex")
