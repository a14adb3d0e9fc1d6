from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cc_hf.cli.main import app
from cc_hf.data.loading import load_examples
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Judgement
from cc_hf.studies.mt_geneval.counts import DataCounts
from tests.helpers.results import write_result
from tests.helpers.sheets import fill
from tests.studies.mt_geneval import test_counts, test_ratings, test_sentence_gaps


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["analyze", *map(str, arguments)])


def simplegen(system: str, metric: str = "simplegen_accuracy") -> EvaluationResult:
    """Return a result whose verdicts take turns; every fifth translation is undecided."""
    verdicts = ("inconclusive", "incorrect", "correct", "incorrect", "correct")
    judgements = tuple(
        Judgement(e.id, e.category, v == "correct", f"={system} {e.id}", v)
        for i, e in enumerate(load_examples("simplegen", "en-de")[:500])
        for v in [verdicts[i % 5]]
    )
    return EvaluationResult(
        "simplegen", "en-de", "de", metric, f"{metric}|data:simplegen/en-de@1", len(judgements),
        {}, {}, (), judgements, system=system,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for system in ("a", "b"):
        both = ResultSet((simplegen(system), simplegen(system, "contrastive_conditioning")))
        (tmp_path / f"{system}.json").write_text(both.to_json(), encoding="utf-8")
    return tmp_path


def draw(folder: Path, *options: object) -> Result:
    return run(
        "rater-sheets", folder / "a.json", folder / "b.json", "-o", folder / "sheets",
        "--key", folder / "key.json", "--n", 10, *options,
    )  # fmt: skip


def truth(folder: Path) -> dict[str, Mapping[str, str]]:
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    return {row["id"]: row["origins"][0] for row in key["rows"]}


def test_from_results_over_sheets_to_agreement(folder: Path) -> None:
    result = draw(folder, "--raters", 3, "--format", "tsv")
    assert result.exit_code == 0, result.output
    sheets = sorted((folder / "sheets").glob("*.tsv"))
    assert [path.name for path in sheets] == ["rater1.tsv", "rater2.tsv", "rater3.tsv"]
    assert "semantical gender" in (folder / "sheets/guidelines.md").read_text(encoding="utf-8")
    origins = truth(folder)
    assert len(origins) == 20
    assert [o["verdict"] for o in origins.values()].count("inconclusive") == 4
    for path in sheets:
        rows = fill(path, lambda row: [origins[row["id"]]["gold"]])
        assert all(row[2].startswith(("'=a", "'=b")) for row in rows)
    options = [part for path in sheets for part in ("--sheet", path)]
    arguments = ("human-agreement", folder / "b.json", "--key", folder / "key.json", *options)
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    first, second = json.loads(result.stdout)
    assert (first["metric"], second["metric"]) == ("simplegen_accuracy", "contrastive_conditioning")
    n_right = sum(
        o["verdict"] in ("correct", "inconclusive") for o in origins.values() if o["system"] == "b"
    )
    assert (first["n_labels"], first["n_agree"]) == (30, 3 * n_right)
    assert first["annotators"]["kappa_raw"] == 1.0
    assert len(first["annotators"]["pairs"]) == 3
    result = run(*arguments)
    assert "kappa of the annotators, mean over 3 pairs: 1.0000 on 10 raw labels" in result.stdout
    assert "kappa of annotators 2 and 3: 1.0000 on raw labels, 1.0000 on binary" in result.stdout


def test_earlier_labels_are_drawn_and_compared(folder: Path) -> None:
    rows = [
        {"id": e.id, "translation": f"=a {e.id}", "label_earlier": "Male"}
        for e in load_examples("simplegen", "en-de")[:4]
    ]
    (folder / "earlier.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = draw(folder, "--earlier", folder / "earlier.jsonl")
    assert result.exit_code == 0, result.output
    sheets = sorted((folder / "sheets").glob("*.csv"))
    for path in sheets:
        fill(path, lambda row: ["Male"])
    options = [part for path in sheets for part in ("--sheet", path)]
    result = run("human-agreement", folder / "a.json", "--key", folder / "key.json", *options)
    assert "kappa of annotator 2 with earlier labels: 1.0000 on 4" in result.stdout


def test_undecided_translations_alone_can_be_rated(folder: Path) -> None:
    result = draw(folder, "--rated", "undecided")
    assert result.exit_code == 0, result.output
    sheets = sorted((folder / "sheets").glob("*.csv"))
    for path in sheets:
        fill(path, lambda row: ["Both / Neutral / Ambiguous"])
    options = [part for path in sheets for part in ("--sheet", path)]
    result = run(
        "human-agreement", folder / "a.json", "--key", folder / "key.json", *options, "--json"
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert (rows[0]["n_open"], rows[0]["n_assumed"]) == (20, pytest.approx(80))
    assert [row["agreement"] for row in rows] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--key", "sheets/key.json"), "key: expected a file outside the folder of the sheets"),
        (("-o", "a.json"), "output: expected a folder for the sheets"),
        (("-o", "full"), "output: expected a new or empty folder, full holds files"),
        (("-o", "absent/sheets"), "the folder .* does not exist"),
        (("--metric", "gender_accuracy"), "expected one result by gender_accuracy, got none among"),
        (("--rated", "some"), "rated: expected one of undecided, all"),
        (("--format", "xlsx"), "table: expected one of csv, tsv"),
        (("--without-corpus", "opensubs"), "has no corpus 'opensubs'"),
    ],
)
def test_options_are_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "sheets").mkdir()
    (folder / "full").mkdir()
    (folder / "full/rater1.csv").touch()
    result = draw(folder, *options)
    with pytest.raises(Exception, match=message):
        raise result.exception or AssertionError(result.output)
    assert not list((folder / "sheets").iterdir())


def test_results_of_one_name_or_on_own_data_are_refused(tmp_path: Path) -> None:
    unknown = simplegen("")
    (tmp_path / "x").mkdir()
    paths = [write_result(tmp_path, "a", unknown), write_result(tmp_path / "x", "a", unknown)]
    rest = ("-o", tmp_path / "sheets", "--key", tmp_path / "key.json")
    assert "expected those of different systems" in str(
        run("rater-sheets", *paths, *rest).exception
    )
    foreign = EvaluationResult("", "", "de", "mucow_pattern_matching", "pm|n:0", 0, {}, {}, (), ())
    path = write_result(tmp_path, "own", foreign)
    assert "on a dataset of cc_hf" in str(run("rater-sheets", path, *rest).exception)


@pytest.mark.parametrize(
    "options", [(), ("--key", "k", "--annotations", "a"), ("--key", "k"), ("--sheet", "s")]
)
def test_agreement_needs_annotations_or_key_and_sheets(
    folder: Path, options: tuple[str, ...]
) -> None:
    result = run("human-agreement", folder / "a.json", *options)
    assert "either --annotations, or --key with the --sheet" in str(result.exception)


def with_examples(monkeypatch: pytest.MonkeyPatch, rows: list[Any]) -> None:
    monkeypatch.setattr("cc_hf.data.loading.load_examples", lambda *args, **options: rows)


def test_from_contextual_results_over_sheets_to_ratings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_examples(monkeypatch, test_ratings.examples())
    path = write_result(tmp_path, "bad", test_ratings.result("bad", "Der Arzt", "incorrect"))
    rest = ("-o", tmp_path / "sheets", "--key", tmp_path / "key.json", "--n", 2)
    result = run("rater-sheets", path, *rest, "--rated", "all")
    assert "not for mt_geneval; omit them" in str(result.exception)
    result = run("rater-sheets", path, *rest)
    assert result.exit_code == 0, result.output
    sheets = sorted((tmp_path / "sheets").glob("*.csv"))
    for sheet in sheets:
        fill(sheet, lambda row: ["Correct" if "Ärztin" in row["Translation"] else "incorrect"])
    result = run("gender-ratings", tmp_path / "key.json", *sheets, "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert [system["accuracy"] for system in row["systems"]] == [0.0, 1.0]
    assert row["systems"][0]["f_scores"] == {"Correct": None, "Incorrect": 1.0}
    assert row["systems"][0]["by_category"]["neutral/male"] == {"n": 2, "n_accepted": 0}
    assert row["published"]["f_score"] == 0.82
    printed = run("gender-ratings", tmp_path / "key.json", *sheets).stdout
    assert "Krippendorff's alpha of the raters: 1.00 on systems, 1.00 on references" in printed
    assert "Tables 5 and 7: systems 52.3, 51.3, 54.0, references 92.2" in printed
    result = run("human-agreement", path, "--key", tmp_path / "key.json", "--sheet", sheets[0])
    assert "expected a key of the form word-senses or occupation-genders" in str(result.exception)


def test_languages_without_printed_ratings_have_none_in_the_json() -> None:
    from cc_hf.studies.mt_geneval.ratings import rate_genders
    from cc_hf.studies.mt_geneval.tables import ratings_json

    key = test_ratings.drawn()
    ratings = rate_genders(key, [test_ratings.answers(key, lambda c, t: True)] * 2)
    assert ratings_json(replace(ratings, data=("", "", "nl")))["published"] is None


def test_sentence_gaps_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_examples(monkeypatch, test_sentence_gaps.examples())
    path = write_result(tmp_path, "r", test_sentence_gaps.result())
    result = run("sentence-gaps", path, "--n", 1, "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert [gap["pair"] for gap in (*row["largest"], *row["smallest"])] == ["3", "1"]
    printed = run("sentence-gaps", path, "--score", "chrf").stdout
    assert "2 of 4 pairs are translated better about men, 1 about women" in printed
    assert "→ Nichts davon" in printed
    result = run("sentence-gaps", path, "--metric", "comet")
    assert "expected a result with judgements by comet, got none" in str(result.exception)
    path = write_result(tmp_path, "w", simplegen("a"))
    assert "got one on simplegen" in str(run("sentence-gaps", path).exception)


def test_counts_are_shown_beside_the_printed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [test_counts.example("female", "<F>She</F> won.", "<F>Sie</F> siegte.")]
    with_examples(monkeypatch, rows)
    result = run("gendered-words", "de", "it", "--json")
    assert result.exit_code == 0, result.output
    german, italian = json.loads(result.stdout)
    assert (german["n_instances"], german["published"]["n_source_words"]) == (1, 6604)
    assert italian["published"] is None
    assert DataCounts(1, 3, 1, 3, 1).n_source_words == italian["n_source_words"]
    printed = run("gendered-words").stdout
    assert "de, Table 12" in printed
    assert "11,194" in printed
    assert "Table 12 " not in run("gendered-words", "--split", "test").stdout.split("words:")[0]
