"""The archives at hand as campaigns: the figures of docs/archive.md, to the last digit."""

import json
import re
import shutil
from pathlib import Path

import pytest

import cc_hf as cc_hf_library
from cc_hf.data.files.result_files import read_result_file
from cc_hf.reports.figure_text import with_interval
from tests.helpers.usual import cc_hf

ROOT = Path(__file__).parent.parent.parent.parent
ARCHIVE = (ROOT / "docs/archive.md").read_text(encoding="utf-8")
#: Name of a column of the table of WinoMT -> the folder of its translations.
FOLDERS = {
    "Amazon 2019": "aws",
    "Bing 2019": "bing",
    "Google 2019": "google",
    "Systran 2019": "systran",
}


def table(language: str) -> dict[str, str]:
    """Return the cells of a language in the table of WinoMT, by system."""
    block = ARCHIVE.partition("<!-- winomt: generated -->")[2].partition("<!-- end -->")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block.splitlines()
        if line.startswith("|")
    ]
    cells = next(row for row in rows if row[0] == language)
    return {system: cell for system, cell in zip(rows[0][1:], cells[1:], strict=True) if cell}


@pytest.mark.parametrize(
    ("language", "code"), [("German", "de"), ("Ukrainian", "uk"), ("Portuguese", "pt")]
)
def test_winomt_of_2019_has_the_accuracies_on_women_of_the_archive(
    shared: Path, tmp_path: Path, language: str, code: str
) -> None:
    data = shared / "upstream"
    folder = data / "gabrielStanovsky/mt_gender/translations"
    cc_hf(
        *("campaign", "winomt", "acl2019", "--submissions", folder, "-l", f"en-{code}"),
        *("--metric", "winomt_pattern_matching", "--data-dir", data, "-o", tmp_path / "out"),
    )
    for system, cell in table(language).items():
        path = tmp_path / f"out/results/en-{code}/{FOLDERS[system]}.json"
        result = read_result_file(path).results[0]
        women = with_interval(result.scores["accuracy_female"], result.intervals["accuracy_female"])
        assert cell.endswith(f"; {_one_space(women)}"), system


def _one_space(text: str) -> str:
    return re.sub(r"\( +", "(", text)


def test_winopt_has_the_figures_of_each_of_its_systems(shared: Path, tmp_path: Path) -> None:
    data = shared / "upstream"
    folder = data / "ramos-ai/winopt/translations"
    shown = cc_hf(
        *("campaign", "winomt", "acl2019", "--submissions", folder, "--json"),
        *("--metric", "winomt_pattern_matching", "--data-dir", data, "-o", tmp_path / "out"),
    )
    row = json.loads(shown.stdout)
    assert {figure["system"] for figure in row["figures"]} == {p.name for p in folder.iterdir()}
    assert all(fault["file"].endswith(".pred.csv") for fault in row["refused"])
    material = cc_hf_library.load_material("winomt", "acl2019", tgt_lang="pt", data_dir=data)
    for system in ("aws", "unicamp-dl-translation-en-pt-t5"):
        expected = cc_hf_library.evaluate(
            material, translations=folder / system / "en-pt.txt", metric="winomt_pattern_matching"
        )
        path = tmp_path / f"out/results/en-pt/{system}.json"
        result = read_result_file(path).results[0]
        assert (result.scores, result.intervals) == (expected.scores, expected.intervals)
        assert result.signature == expected.signature


def test_systems_of_wmt24_have_the_figures_of_the_archive(shared: Path, tmp_path: Path) -> None:
    """Every third of the ten: a system is aligned by itself, whatever the others are."""
    data = shared / "upstream"
    folder = data / "wmt-conference/wmt24-news-systems/txt-ts/system-outputs/en-es"
    block = ARCHIVE.partition("<!-- wmt24: generated -->")[2].partition("\n\n")[0]
    rows = [line.strip("|").split("|") for line in block.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in row] for row in rows[2:]]
    assert len(rows) == 10
    submissions = tmp_path / "submissions/en-es"
    submissions.mkdir(parents=True)
    for system, *_ in rows[::3]:
        shutil.copy(folder / f"{system}.txt", submissions)
    cc_hf(
        *("campaign", "gender_res", "en-es", "--submissions", submissions.parent),
        *("--metric", "gender_form", "--data-dir", data, "-o", tmp_path / "out"),
    )
    for system, _, _, women, men, _ in rows[::3]:
        result = read_result_file(tmp_path / f"out/results/en-es/{system}.json").results[0]
        for cell, gender in ((women, "female"), (men, "male")):
            name = f"accuracy_decided_{gender}"
            text = with_interval(result.scores[name], result.intervals[name])
            assert cell == _one_space(text), (system, gender)
