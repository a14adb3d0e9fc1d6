"""`cc-hf campaign`: a made campaign with faults, runs that continue, and what is written."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from cc_hf import registry
from cc_hf.evaluation.evaluate import evaluate_all
from cc_hf.evaluation.material import DataOptions, load_material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.campaign import run, spans
from cc_hf.plugins.campaign.submissions import Submission
from tests.helpers.browser import Page
from tests.helpers.latex import overfull_boxes, without_latex
from tests.helpers.usual import cc_hf, read_json, read_jsonl, write_jsonl, write_lines, write_text
from tests.plugins.campaign import made

METRIC = ("--metric", "words", "--option", "word=Maria")


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the rows, in which the metric that reads a name is known."""
    monkeypatch.setitem(registry.METRICS, "words", "tests.helpers.fake_metric:Words")
    made.write_rows(tmp_path)
    return tmp_path


def judge(folder: Path, *more: str, status: int = 0) -> Any:
    """Run the command on the folder `in`, and return its JSON."""
    words = ("campaign", "suite.jsonl", "--submissions", "in", *METRIC, "-o", "out")
    shown = cc_hf(*words, "--json", *more, cwd=folder, status=status)
    return json.loads(shown.stdout or "null")


def counting(monkeypatch: pytest.MonkeyPatch, *, stops_at: int = 0) -> list[str]:
    """Return a list that gets the name of each system that is judged from now on.

    Args:
        stops_at: the number of the system at which the program is interrupted; 0 for none.
    """
    judged: list[str] = []

    def counted(*arguments: Any, **options: Any) -> Any:
        judged.append(options["name"])
        if len(judged) == stops_at:
            raise KeyboardInterrupt
        return evaluate_all(*arguments, **options)

    monkeypatch.setattr(run, "evaluate_all", counted)
    return judged


def test_all_that_fits_is_judged_and_each_fault_is_named(campaign: Path) -> None:
    made.write_fitting(campaign / "in", made.REFUSED)
    made.write_faults(campaign / "in")
    row = judge(campaign)
    judged = {(figure["system"], figure["pair"]) for figure in row["figures"]}
    assert judged == {*made.fitting()}
    assert (row["n_judged"], row["n_new"]) == (42, 42)
    reasons = {fault["file"]: fault["reason"] for fault in row["refused"]}
    assert reasons.keys() == made.FAULTS.keys()
    for file, words in made.FAULTS.items():
        assert words in reasons[file], file
    # A pair for which a file was refused is not missing.
    assert row["missing"] == {}
    page = (campaign / "out/index.html").read_text(encoding="utf-8")
    assert all(file in page for file in made.FAULTS)


def test_figures_are_those_of_each_file_in_whatever_way_it_is_named(campaign: Path) -> None:
    made.write_fitting(campaign / "in")
    judge(campaign)
    for system in made.SYSTEMS:
        for pair in made.PAIRS:
            result = read_json(campaign / f"out/results/{pair}/{system}.json")["results"][0]
            judgements = result["judgements"]
            assert [j["translation"] for j in judgements] == made.texts(system, pair)
            assert result["system"] == system


def test_a_stopped_run_loses_nothing(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made.write_fitting(campaign / "in")
    with monkeypatch.context() as patches:
        judged = counting(patches, stops_at=3)
        judge(campaign, status=130)
    assert judged == ["sysA", "sysB", "sysC"]
    assert sorted(p.name for p in (campaign / "out/results/en-de").glob("*.json")) == [
        "sysA.json",
        "sysB.json",
    ]
    judged = counting(monkeypatch)
    assert judge(campaign)["n_judged"] == 48
    assert len(judged) == 46
    assert judged[:2] == ["sysC", "sysD"]


def test_only_what_is_missing_or_changed_is_judged_again(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.write_fitting(campaign / "in")
    first = judge(campaign)
    judged = counting(monkeypatch)
    again = judge(campaign)
    assert judged == []
    assert {**again, "n_new": first["n_new"]} == first
    (campaign / "out/results/en-fr/sysD.json").unlink()
    (campaign / "out/results/en-pt/sysE.json").write_text("{", encoding="utf-8")
    write_lines(made.write_xml(campaign / "in", "en-de"), [])
    made.write_xml(campaign / "in", "en-es").write_text(
        made.write_xml(campaign / "in", "en-es").read_text(encoding="utf-8") + "\n",
        encoding="utf-8",
    )
    row = judge(campaign)
    assert judged == ["sysK", "sysL", "sysD", "sysE"]
    assert row["n_judged"] == 46
    judged.clear()
    assert judge(campaign, "--seed", "1")["n_new"] == 46
    assert judge(campaign, "--limit", "6")["n_new"] == 46


def test_a_result_without_what_it_depends_on_is_judged_again(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(campaign / "in/en-de.sysA.txt", made.texts("sysA", "en-de"))
    judge(campaign)
    (campaign / "out/results/en-de/sysA.inputs").unlink()
    judged = counting(monkeypatch)
    judge(campaign)
    assert judged == ["sysA"]


def test_parts_judge_all_together_and_the_run_after_them_nothing(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.write_fitting(campaign / "in")
    judged = counting(monkeypatch)
    for number in (1, 2, 3):
        assert judge(campaign, "--part", f"{number}/3")["n_judged"] == 16
    assert not (campaign / "out/index.html").exists()
    assert len(judged) == 48
    assert judge(campaign)["n_new"] == 0
    assert (campaign / "out/index.html").exists()
    cc_hf("campaign suite.jsonl --submissions in -o out --part 4/3", cwd=campaign, status=2)


def test_pairs_are_chosen_and_a_folder_without_anything_to_judge_fails(campaign: Path) -> None:
    made.write_fitting(campaign / "in")
    made.write_faults(campaign / "in")
    row = judge(campaign, "-l", "en-fr", "-l", "en-pt")
    assert {figure["pair"] for figure in row["figures"]} == {"en-fr", "en-pt"}
    assert "en-de.sysC.txt" not in {fault["file"] for fault in row["refused"]}
    assert "nobody.txt" in {fault["file"] for fault in judge(campaign, "-l", "en-fr")["refused"]}
    (campaign / "empty").mkdir()
    write_lines(campaign / "wrong/en-de.a.txt", ["Ja."])
    words = ("campaign", "suite.jsonl", *METRIC, "-o", "none")
    assert "holds none" in cc_hf(*words, "--submissions", "empty", cwd=campaign, status=2).stderr
    shown = cc_hf(*words, "--submissions", "wrong", cwd=campaign, status=1)
    assert "en-de.a.txt: expected 12 lines, got 1" in shown.stdout
    assert (
        "en-xx"
        in cc_hf(*words, "--submissions", "in", "-l", "en-xx", cwd=campaign, status=2).stderr
    )


def test_segments_have_the_columns_of_the_metrics_task(campaign: Path) -> None:
    made.write_fitting(campaign / "in")
    judge(campaign)
    lines = (campaign / "out/segments.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert len(rows) == 48 * made.N
    assert {len(row) for row in rows} == {6}
    of_system = [row for row in rows if row[1] == "en-es" and row[3] == "sysD"]
    assert [row[4] for row in of_system] == [str(n) for n in range(1, made.N + 1)]
    assert [row[5] for row in of_system] == ["1"] * 3 + ["0"] * 9
    assert {row[0] for row in rows} == {"words"}


def read_ratings(path: Path) -> dict[str, list[Any]]:
    """Read a file PAIR.NAME.seg.rating as mt-metrics-eval documents it: system, "None" or the JSON
    of a rating, and perhaps who rated, with tabs between.

    Google's program is not on PyPI, where another project has its name.
    """
    ratings: dict[str, list[Any]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        columns = line.strip().split("\t")
        assert len(columns) in (2, 3)
        ratings[columns[0]].append(None if columns[1] == "None" else json.loads(columns[1]))
    return ratings


FIELDS = {"start", "end", "category", "severity", "score", "is_source_error"}


def test_error_spans_are_in_the_forms_of_mt_metrics_eval(campaign: Path) -> None:
    made.write_fitting(campaign / "in")
    judge(campaign)
    ratings = read_ratings(campaign / "out/spans/en-de.words.seg.rating")
    assert ratings.keys() == {*made.SYSTEMS}
    assert {len(rows) for rows in ratings.values()} == {made.N}
    # The first rows of a system are right, so that they have no error.
    assert ratings["sysC"][:2] == [{"errors": []}] * 2
    rows = read_jsonl(campaign / "out/spans.jsonl")
    assert rows
    for row in rows:
        errors = row["errors"]
        assert {frozenset(error) for error in errors} == {frozenset(FIELDS)}
        assert all(0 <= e["start"] < e["end"] <= len(row["hypothesis"]) for e in errors)
        assert {error["severity"] for error in errors} == {"major"}
    words = {
        row["hypothesis"][error["start"] : error["end"]]
        for row in rows
        if (row["src_lang"], row["tgt_lang"]) == ("en", "de")
        for error in row["errors"]
    }
    assert "Arzt" in words or "Der Arzt" in words
    of_file = {
        (r["system_id"], r["segment_id"]): r["errors"] for r in rows if r["tgt_lang"] == "de"
    }
    for system, of_system in ratings.items():
        for number, rating in enumerate(of_system, 1):
            expected = of_file.get((system, number))
            assert (rating or {"errors": None})["errors"] in (expected, [], None)


def test_error_spans_are_kept_and_made_anew_for_another_result(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(campaign / "in/en-de.sysC.txt", made.texts("sysC", "en-de"))
    judge(campaign)
    first = (campaign / "out/spans.jsonl").read_bytes()
    with monkeypatch.context() as patches:
        patches.setattr(spans, "error_spans", None)
        judge(campaign)
    assert (campaign / "out/spans.jsonl").read_bytes() == first
    (campaign / "out/results/en-de/sysC.words.spans").write_text("[]", encoding="utf-8")
    judge(campaign)
    assert (campaign / "out/spans.jsonl").read_bytes() == first
    write_lines(campaign / "in/en-de.sysC.txt", made.texts("sysD", "en-de"))
    judge(campaign)
    assert (campaign / "out/spans.jsonl").read_bytes() != first


@pytest.mark.skipif(bool(without_latex()), reason=without_latex())
def test_latex_has_the_matrix_and_a_table_for_each_pair(campaign: Path, tmp_path: Path) -> None:
    made.write_fitting(campaign / "in", made.REFUSED)
    judge(campaign)
    text = (campaign / "out/tables.tex").read_text(encoding="utf-8")
    heads = " & ".join(rf"\hspace{{0pt}}{name}" for name in ("system", *made.PAIRS))
    assert heads in text
    assert text.count(r"\begin{table}") == 4
    assert text.count(r"\begin{longtable}") == 1
    assert overfull_boxes(tmp_path / "tex", [text]) == []


def test_the_page_has_the_matrix_and_links_and_fits_a_telephone(campaign: Path, page: Page) -> None:
    made.write_fitting(campaign / "in", made.REFUSED)
    made.write_faults(campaign / "in")
    judge(campaign)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((campaign / "out/index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cells = page.locator("table.matrix tbody tr").nth(2).locator("td").all_inner_texts()
    assert cells[0] == "refused"
    assert cells[1].startswith("16.7¹")
    page.locator("table.matrix thead a").first.click()
    assert "12 systems" not in page.title()
    assert "10 systems" in page.title()


def one_system(campaign: Path, *more: str) -> list[str]:
    """Judge a folder with one system, and return its translations."""
    (figure,) = judge(campaign, *more)["figures"]
    path = campaign / f"out/results/{figure['pair']}/{figure['system']}.json"
    return [judgement["translation"] for judgement in read_json(path)["results"][0]["judgements"]]


def test_files_without_a_pair_are_of_the_only_chosen_pair(campaign: Path) -> None:
    expected = made.texts("sysD", "en-fr")
    write_lines(campaign / "in/sysD.txt", expected)
    assert one_system(campaign, "-l", "en-fr") == expected
    (campaign / "in").rename(campaign / "en-fr")
    (campaign / "in").symlink_to(campaign / "en-fr")
    assert one_system(campaign) == expected


def test_results_in_the_folder_of_submissions_are_no_submissions(campaign: Path) -> None:
    write_lines(campaign / "en-de.sysD.txt", made.texts("sysD", "en-de"))
    words = ("campaign", "suite.jsonl", "--submissions", ".", *METRIC, "-o", "out", "--json")
    rows = [json.loads(cc_hf(*words, cwd=campaign).stdout) for _ in range(2)]
    assert [row["n_new"] for row in rows] == [1, 0]
    assert [fault["file"] for fault in rows[1]["refused"]] == ["suite.jsonl"]


def test_sgm_and_xml_say_system_and_languages_themselves(campaign: Path) -> None:
    expected = made.texts("sysE", "en-de")
    segments = "".join(f'<seg id="{n}">{text}</seg>\n' for n, text in enumerate(expected, 1))
    head = '<tstset setid="made" srclang="any" trglang="de"><doc sysid="sysE" docid="d">'
    write_lines(campaign / "in/wmt.en-de.sgm", [f"{head}{segments}</doc></tstset>"])
    assert one_system(campaign) == expected
    (campaign / "in/wmt.en-de.sgm").unlink()
    made.write_xml(campaign / "in", "en-fr").rename(campaign / "in/submissions.xml")
    figures = judge(campaign)["figures"]
    assert [(f["system"], f["pair"]) for f in figures] == [(s, "en-fr") for s in made.IN_XML]


def test_documents_with_a_line_for_each_example_are_divided(campaign: Path) -> None:
    expected = made.texts("sysE", "en-pt")
    rows = [
        {"doc_id": f"d{n}", "hypothesis": "\n\n".join(expected[n : n + 4]), "tgt_lang": "pt_BR"}
        for n in (0, 4, 8)
    ]
    write_jsonl(campaign / "in/sysE.en-pt_BR.jsonl", rows)
    assert one_system(campaign) == expected


def test_separators_of_unicode_within_a_hypothesis_end_no_line_of_json(campaign: Path) -> None:
    expected = [f"{text}\u2028\x85" for text in made.texts("sysE", "en-pt")]
    rows = [
        {"doc_id": f"s{n}", "hypothesis": text, "tgt_lang": "pt"} for n, text in enumerate(expected)
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    write_text(campaign / "in/sysE.en-pt.jsonl", "\n".join(lines))
    assert len(one_system(campaign)) == len(expected)


def test_a_model_or_a_file_changed_under_its_name_is_judged_anew(tmp_path: Path) -> None:
    material = load_material("simplegen", "en-de", limit=2)
    submission = Submission("en-de", "sysE", tmp_path / "in.txt", "in.txt")
    write_lines(submission.path, ["a", "b"])
    for name in ("model", "forms.tsv"):
        path = tmp_path / name
        inputs = []
        for text in ("{}", "[]", "[]"):
            if name == "model":
                path.mkdir(exist_ok=True)
            write_text(path / "config.json" if name == "model" else path, text)
            options = {"file": str(path)}
            judging = run.Judging(
                ("simplegen_accuracy",), options, str(path), LoadingOptions(), None, 0
            )
            inputs.append(judging.inputs(material, submission))
        assert inputs[0] != inputs[1] == inputs[2]


def test_a_configuration_may_hold_the_languages(shared: Path) -> None:
    data = DataOptions(data_dir=shared / "upstream")
    for config in (None, "counterfactual_{tgt}"):
        material = run.Materials("mt_geneval", config, data).of("en-fr")
        assert material.config is not None
        assert material.config.name == "counterfactual_fr"
