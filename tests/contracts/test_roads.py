"""The number of files between an entry point and the model, and of lookups of a dataset."""

import sys
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.loading import load_examples
from cc_hf.evaluators.fast.packed import PackedModel
from cc_hf.hub.eval_results import eval_result_files, published_scores
from cc_hf.hub.model_index import eval_results, with_model_index
from cc_hf.plugins.leaderboard.about_tabs import described, papers
from cc_hf.plugins.leaderboard.html import result_html
from cc_hf.plugins.leaderboard.live import FileJudge
from cc_hf.plugins.leaderboard.store import read_folder
from cc_hf.plugins.leaderboard.table import leaderboard_rows
from cc_hf.plugins.raters.drawn_results import examples_without_corpora
from cc_hf.plugins.seeds.system_rows import mean_rows, system_rows
from cc_hf.plugins.seeds.table import chosen_figures, figure_title, systems_tables
from cc_hf.reports.collection import build_collection
from cc_hf.reports.formats.latex import latex_report
from cc_hf.reports.formats.markdown import markdown_report, markdown_reports
from cc_hf.reports.inputs import read_examples, read_report_systems
from cc_hf.reports.page.collection_page import collection_page
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report, build_report
from cc_hf.results import ResultSet
from tests.helpers.pairs import EN_DE, GENDER
from tests.helpers.usual import cases, constant_scores, printed_by, refuses, result_of, write_text

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
