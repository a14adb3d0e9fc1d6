import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import Result

from cc_hf.data.loading import load_examples
from cc_hf.evaluation.correction import corrected
from cc_hf.plugins.raters.drawn_results import labels_for_width
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Judgement
from tests.helpers.usual import (
    cases,
    fails,
    fill,
    invoke,
    overriding,
    printed_by,
    write_jsonl,
    write_result,
)

BY_RATER = ("compare", "--by", "rater")


def simplegen(system: str, metric: str = "simplegen_accuracy") -> EvaluationResult:
    """Return a result whose verdicts take turns; every fifth translation is undecided."""
    verdicts = ("inconclusive", "incorrect", "correct", "incorrect", "correct")
    judged = zip(load_examples("simplegen", "en-de")[:500], verdicts * 100, strict=True)
    rows = [(e.id, e.category, v == "correct", f"={system} {e.id}", v) for e, v in judged]
    named = "simplegen", "en-de", "de", metric, f"{metric}|data:simplegen/en-de@1", len(rows)
    judgements = tuple(Judgement(*row) for row in rows)
    return EvaluationResult(*named, {}, {}, (), judgements, system=system)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for system in ("a", "b"):
        both = ResultSet((simplegen(system), simplegen(system, "contrastive_conditioning")))
        (tmp_path / f"{system}.json").write_text(both.to_json(), encoding="utf-8")
    return tmp_path


def draw(folder: Path, *options: object) -> Result:
    """Run `build sheets`, and raise the error that it ends in."""
    defaults = f"-o {folder}/sheets --n 10 --key {folder}/key.json"
    result = invoke(
        *overriding(f"build sheets {folder}/a.json {folder}/b.json {defaults}", *options)
    )
    if result.exception:
        raise result.exception
    return result


def filled(folder: Path, label: Callable[[Mapping[str, str]], str]) -> list[object]:
    """Write the labels of a program into all sheets, and return the options that name them."""
    sheets = sorted((folder / "sheets").glob("*.csv"))
    for path in sheets:
        rows = fill(path, lambda row: [label(row)])
        assert all(row[2].startswith(("'=a", "'=b")) for row in rows)
    return [word for path in (folder / "key.json", *sheets) for word in ("--labels", path)]


def truth(folder: Path) -> dict[str, Mapping[str, str]]:
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    return {row["id"]: row["origins"][0] for row in key["rows"]}


def test_from_results_over_sheets_to_agreement(folder: Path) -> None:
    draw(folder, "--raters", "3")
    names = [path.name for path in sorted((folder / "sheets").glob("*.csv"))]
    assert names == ["rater1.csv", "rater2.csv", "rater3.csv"]
    assert "semantical gender" in (folder / "sheets/guidelines.md").read_text(encoding="utf-8")
    origins = truth(folder)
    assert len(origins) == 20
    assert [o["verdict"] for o in origins.values()].count("inconclusive") == 4
    options = filled(folder, lambda row: origins[row["id"]]["gold"])
    arguments = (*BY_RATER, folder / "b.json", *options)
    first, second = json.loads(printed_by(*arguments, "--json"))
    assert (first["metric"], second["metric"]) == ("simplegen_accuracy", "contrastive_conditioning")
    verdicts = [o["verdict"] for o in origins.values() if o["system"] == "b"]
    n_right = len(verdicts) - verdicts.count("incorrect")
    assert (first["n_labels"], first["n_agree"]) == (30, 3 * n_right)
    assert first["annotators"]["kappa_raw"] == 1.0
    assert len(first["annotators"]["pairs"]) == 3
    printed = printed_by(*arguments)
    assert "kappa of the annotators, mean over 3 pairs: 1.0000 on 10 raw labels" in printed
    assert "kappa of annotators 2 and 3: 1.0000 on raw labels, 1.0000 on binary" in printed


def test_translations_that_share_a_row_are_counted(folder: Path) -> None:
    same = (folder / "a.json").read_text(encoding="utf-8").replace('"a"', '"b"')
    (folder / "b.json").write_text(same, encoding="utf-8")
    printed = draw(folder, "--n", "400").output
    n_rows = len(truth(folder))
    assert 400 <= n_rows < 800
    assert f"800 translations were drawn, which are on {n_rows} rows" in " ".join(printed.split())


def test_earlier_labels_are_drawn_and_compared(folder: Path) -> None:
    names = [example.id for example in load_examples("simplegen", "en-de")[:4]]
    rows = [{"id": i, "translation": f"=a {i}", "label_earlier": "Male"} for i in names]
    write_jsonl(folder / "earlier.jsonl", rows)
    draw(folder, "--earlier", folder / "earlier.jsonl")
    printed = printed_by(*BY_RATER, folder / "a.json", *filled(folder, lambda row: "Male"))
    assert "kappa of annotator 2 with earlier labels: 1.0000 on 4" in printed


def test_undecided_translations_alone_can_be_rated(folder: Path) -> None:
    draw(folder, "--rated", "undecided")
    options = filled(folder, lambda row: "Both / Neutral / Ambiguous")
    rows = json.loads(printed_by(*BY_RATER, folder / "a.json", *options, "--json"))
    assert (rows[0]["n_open"], rows[0]["n_assumed"]) == (20, pytest.approx(80))
    assert [row["agreement"] for row in rows] == pytest.approx([1.0, 1.0])


def test_a_width_says_how_many_labels_are_needed(folder: Path) -> None:
    for name in "ab":
        judged = simplegen(name)
        trusted = {j.example_id: float(j.is_correct) for j in judged.judgements[::3]}
        write_result(folder, name, corrected(judged, trusted, by="p", about="labels"))
    result = draw(folder, "--n", "30%", "--rated", "uncertain")
    needed = labels_for_width(corrected(judged, trusted, by="p", about="labels"), 0.3)
    for category, n in needed.items():
        assert f"{n} of {category}" in result.stderr
    settings = json.loads((folder / "key.json").read_text(encoding="utf-8"))["settings"]
    assert settings["rated"] == "uncertain"
    assert settings["n"] == max(needed.values())  # all samples are of one category


@cases(
    (("--key", "sheets/key.json"), "key: expected a file outside the folder of the sheets"),
    (("-o", "full/rater1.csv"), "output: expected a folder for the sheets"),
    (("-o", "full"), "output: expected a new or empty folder, full holds files"),
    (("-o", "absent/sheets"), "the folder .* does not exist"),
    (("--metric", "gender_accuracy"), "expected one result by gender_accuracy, got none among"),
    (("--rated", "some"), "rated: expected one of undecided, all"),
    (("--n", "9" * 5000), "n: expected a whole number from 1, or a width such as 10%"),
    (("--n", "²%"), "n: expected a whole number from 1, or a width such as 10%, got '²%'"),
    (("--n", "0"), "n: expected a whole number from 1, or a width such as 10%, got '0'"),
    (("--n", "10%"), "at least 20 trusted verdicts in each category .* got 0"),
    (("--without-corpus", "opensubs"), "has no corpus 'opensubs'"),
)
def test_options_are_checked(
    options: tuple[str, ...], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "sheets").mkdir()
    (folder / "full").mkdir()
    (folder / "full/rater1.csv").touch()
    fails(Exception, message, draw, folder, *options)
    assert not list((folder / "sheets").iterdir())


def test_results_of_one_name_or_on_own_data_are_refused(tmp_path: Path) -> None:
    unknown = simplegen("")
    paths = [write_result(tmp_path, "a", unknown), write_result(tmp_path / "x", "a", unknown)]
    rest = ("-o", tmp_path / "sheets", "--key", tmp_path / "key.json")
    refused = invoke("build sheets", *paths, *rest).exception
    assert "expected those of different systems" in str(refused)
    foreign = EvaluationResult("", "", "de", "mucow_pattern_matching", "pm|n:0", 0, {}, {}, (), ())
    path = write_result(tmp_path, "own", foreign)
    assert "on a dataset of cc_hf" in str(invoke("build", "sheets", path, *rest).exception)
