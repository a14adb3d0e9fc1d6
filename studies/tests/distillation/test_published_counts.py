"""The counts that Vamvas & Sennrich (2021) released, see docs/parity.md."""

import json
from pathlib import Path

import pytest
from cc_hf_studies.distillation.flow_charts import flows_page, flows_svg
from cc_hf_studies.distillation.gender_flows import (
    OUTCOMES,
    OccupationCounts,
    correlate_female_shares,
    read_occupation_counts,
)
from cc_hf_studies.distillation.published_counts import published_counts, published_forms
from cc_hf_studies.distillation.senses import mucow_senses

from cc_hf.data.loading import load_examples
from cc_hf.evaluation.material import load_material
from cc_hf.results import Interval
from tests.helpers.usual import cases, printed_by, read_json, typed, write_lines

pytestmark = pytest.mark.shared


COMMAND = "study distillation occupations"


@pytest.fixture(scope="module")
def counts(shared: Path) -> OccupationCounts:
    return published_counts(shared / "upstream")


def test_the_shares_are_those_of_the_released_sums(counts: OccupationCounts) -> None:
    assert counts.n == 1_365_155
    shares = [[round(100 * share, 2) for share in counts.shares(s).values()] for s in range(3)]
    assert shares == [[40.13, 3.19, 56.68], [45.22, 3.16, 51.62], [45.83, 3.11, 51.06]]


def test_the_flows_are_those_of_the_released_sums(counts: OccupationCounts) -> None:
    flows = [counts.total_flow(step) for step in range(2)]
    thousands = [[[round(f[a][b] / 1000, 1) for b in OUTCOMES] for a in OUTCOMES] for f in flows]
    assert thousands[0] == [[463.7, 5.7, 78.5], [10.5, 28.6, 4.4], [143.1, 8.9, 621.8]]
    assert thousands[1] == [[586.3, 3.9, 27.2], [5.2, 36.1, 1.8], [34.1, 2.5, 668.1]]


def test_doctor_nurse_and_cleaner_are_as_in_the_paper(counts: OccupationCounts) -> None:
    doctor = [[round(stage[o]) for o in OUTCOMES] for stage in counts.counts["doctor"]]
    assert doctor == [[28018, 1031, 8793], [30238, 760, 6844], [30523, 678, 6642]]
    numbers = {name: stages[0] for name, stages in counts.counts.items()}
    female = {n: (round(of["female"]), round(of["male"])) for n, of in numbers.items()}
    female = {name: pair for name, pair in female.items() if pair[0] > pair[1]}
    assert female == {"nurse": (3184, 315), "cleaner": (52, 13)}
    assert not female.keys() & set(counts.by_frequency()[:12])
    half = sum(sum(counts.counts[name][0].values()) for name in counts.by_frequency()[:24])
    assert round(100 * half / counts.n, 1) == 79.8


#: Percentages of women by Zhao et al. 2018, of the occupations that the released counts have.
_WOMEN = {
    **{"driver": 6, "developer": 20, "farmer": 22, "guard": 22, "chief": 27, "lawyer": 35},
    **{"cook": 38, "physician": 38, "CEO": 39, "manager": 43, "editor": 52, "designer": 54},
    **{"writer": 63, "teacher": 78, "tailor": 80, "assistant": 85, "cleaner": 89, "nurse": 90},
    "secretary": 95,
}


def test_female_shares_agree_with_labour_statistics_as_printed(counts: OccupationCounts) -> None:
    women = {occupation: percent / 100 for occupation, percent in _WOMEN.items()}
    stages = [shares.correlation for shares in correlate_female_shares(counts, women)]
    assert [round(stage.r, 2) for stage in stages] == [0.69, 0.66, 0.65]
    interval = typed(Interval, stages[0].interval)
    assert (stages[0].n, round(interval.low, 2), round(interval.high, 2)) == (19, 0.34, 0.87)


def test_the_released_forms_are_whole_paradigms(shared: Path) -> None:
    forms = published_forms(shared / "upstream")
    assert len(forms) == 48
    assert forms["doctor"].gender({"Ärztin"}) == "female"
    # The released list names all female forms of chef as male ones, too.
    assert forms["chef"].gender({"Chefköchin"}) == "other"
    assert [name for name, of in forms.items() if of.male & of.female] == ["chef"]


def test_the_picture_and_the_page_name_stages_and_shares(counts: OccupationCounts) -> None:
    picture = flows_svg(counts, title="all")
    for text in ("original", "male 40.1 %", "female 3.1 %", "original male to teacher other"):
        assert text in picture
    page = flows_page(counts, title="all", occupations=["doctor"])
    assert page.count("<svg") == 2
    assert "28,018 / 1,031 / 8,793" in page
    assert "The paper prints" not in page


def test_the_command_needs_no_model(shared: Path, tmp_path: Path) -> None:
    rows = ("doctor\t38", "nurse\t90", "cleaner\t89", "driver\t6", "plumber\t2")
    women = write_lines(tmp_path / "women.tsv", ["occupation\tpercent_women", *rows])
    printed = printed_by(f"{COMMAND} --data-dir {shared}/upstream --women {women} --json")
    first = json.loads(printed)["women"][0]
    assert (first["correlation"]["n"], first["missing"]) == (4, ["plumber"])
    assert first["correlation"]["r"] > 0.9


def test_the_paper_s_shares_stand_beside_those_of_the_counts(shared: Path, tmp_path: Path) -> None:
    kept = tmp_path / "counts.json"
    files = f"--html {tmp_path}/flows.html --output {kept}"
    shown = printed_by(f"{COMMAND} --data-dir {shared}/upstream {files}")
    page = (tmp_path / "flows.html").read_text(encoding="utf-8")
    rows = [line.split() for line in shown.splitlines()]
    row_index = rows.index(["original", "40.13", "3.19", "56.68"])
    assert rows[row_index + 1] == ["original,", "in", "the", "paper", "39.4", "3.6", "57.0"]
    assert ["change", "to", "teacher,", "in", "the", "paper", "+5.1", "-0.2", "-"] in rows
    assert "original 39.4 / 3.6 / 57.0" in page
    for text in (shown, page):
        assert "does not say which counts" in " ".join(text.split())
    assert read_json(kept)["printed"]["original"]["male"] == 0.394
    assert read_occupation_counts(kept).n == pytest.approx(1_365_155)  # flows add up


@cases(("en-de", 362), ("en-ru", 203), ("en-cs", 200))
def test_the_lexicon_of_mucow_has_all_senses(pair: str, n: int, shared: Path) -> None:
    names = mucow_senses(*pair.split("-"), data_dir=shared / "upstream")
    assert len(names) == len(set(names)) == n


@pytest.mark.parametrize("config", ["en-ru", "en-ru.probing"])
def test_the_released_counts_given_as_ones_own_change_nothing(shared: Path, config: str) -> None:
    data_dir = shared / "upstream"
    folder = data_dir / "ZurichNLP/contrastive-conditioning/data_analysis/results"
    path = folder / "senses_en-ru_count_results.json"
    material = load_material("mucow", config, data_dir=data_dir, counts=path)
    assert material.examples == load_examples("mucow", config, data_dir=data_dir)
    assert material.origin.fields["counts"]
