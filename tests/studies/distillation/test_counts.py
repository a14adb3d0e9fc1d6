from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest

from cc_hf.data.corpora.parallel import FileCorpus, dataset_corpus, file_corpus
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.studies.distillation.flow_charts import flows_page, flows_svg
from cc_hf.studies.distillation.gender_flows import (
    OUTCOMES,
    OccupationCounts,
    average_counts,
    correlate_female_shares,
    counts_of_paths,
    read_occupation_counts,
    read_women,
)
from cc_hf.studies.distillation.occupations import (
    OccupationCounter,
    count_occupations,
    parse_occupation_forms,
    read_occupation_forms,
)
from cc_hf.studies.distillation.senses import SenseCounter, count_senses
from tests.helpers.command_line import invoke

FORMS = {
    "doctor": {
        "src_forms": ["doctor", "doctors"],
        "tgt_forms_male": ["Arzt", "Ärzte"],
        "tgt_forms_female": ["Ärztin", "Ärztinnen"],
    },
    "nurse": {
        "src_forms": ["nurse"],
        "tgt_forms_male": ["Pfleger"],
        "tgt_forms_female": ["Krankenschwester"],
    },
}
#: Source, reference, translation by a teacher; the outcome of each is known.
PAIRS = [
    ("The doctor slept.", "Die Ärztin schlief.", "Der Arzt schlief."),
    ("Doctors sleep.", "Ärzte schlafen.", "Ärzte schlafen."),
    ("The doctor's nurse.", "Die Pflegerin der Ärztin.", "Die Krankenschwester des Arztes."),
    ("A nurse and a nurse.", "Eine Krankenschwester.", "Eine Krankenschwester."),
    ("The doctor called the doctor.", "Der Arzt rief die Ärztin.", "Der Arzt rief den Arzt."),
    ("A doctorate.", "Ein Arzt.", "Ein Arzt."),
    ("The bat flew.", "Die Fledermaus flog.", "Der Schläger flog."),
    ("Bat and ball: the bat.", "Die Schläger.", "Fledermäuse."),
    ("A doctor.", "", "Ein Arzt."),
    ("The DOCTOR.", "Chefarzt, arzt.", "Das Krankenhaus."),
]
OCCUPATIONS = parse_occupation_forms(FORMS)
SENSES = ["bat - fledermaus", "bat - schläger keule", "ball - ball"]


def write(folder: Path, times: int = 1, block_pairs: int = 100) -> FileCorpus:
    paths = [folder / name for name in ("a.en", "a.de", "t.de")]
    for path, lines in zip(paths, zip(*PAIRS, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines * times), encoding="utf-8")
    return file_corpus(*paths, block_pairs=block_pairs)


def occupations(corpus: Any, **options: Any) -> OccupationCounts:
    stages = ("original", "teacher")
    return count_occupations(corpus, OccupationCounter(OCCUPATIONS), stages=stages, **options)


def test_ten_pairs_are_counted_by_gender_and_stage(tmp_path: Path) -> None:
    counts = occupations(write(tmp_path))
    assert counts.counts == {
        "doctor": (
            {"male": 1, "female": 2, "other": 2},  # both genders, and a part of a word
            {"male": 3, "female": 0, "other": 2},  # an unlisted form is other
        ),
        "nurse": ({"male": 0, "female": 1, "other": 1}, {"male": 0, "female": 2, "other": 0}),
    }
    assert counts.total_flow(0)["female"] == {"male": 1, "female": 1, "other": 1}
    assert (counts.n, counts.n_pairs, counts.n_damaged) == (7, 10, 1)
    assert counts.damaged == ((9, "the reference is empty"),)
    assert counts.female_shares() == {"doctor": pytest.approx(2 / 3), "nurse": 1.0}
    assert "|stages:original+teacher|n:9|" in counts.signature


def test_flows_add_up_to_the_counts_of_both_stages(tmp_path: Path) -> None:
    counts = occupations(write(tmp_path))
    flow = counts.total_flow(0)
    assert {o: sum(flow[o].values()) for o in OUTCOMES} == counts.total(0)
    assert {o: sum(flow[b][o] for b in OUTCOMES) for o in OUTCOMES} == counts.total(1)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_datasets_and_streams_count_alike(tmp_path: Path) -> None:
    expected = occupations(write(tmp_path, 5, 7))
    assert occupations(write(tmp_path, 5, 7), n_processes=2) == expected
    columns = ("source", "target_0", "target_1")
    rows = [dict(zip(columns, pair, strict=True)) for pair in PAIRS] * 5
    table = datasets.Dataset.from_list(rows)
    options: dict[str, Any] = {
        "name": "d",
        "src_lang": "",
        "tgt_lang": "",
        "columns": columns,
        "block_pairs": 7,
    }
    for form in (table, table.to_iterable_dataset()):
        assert occupations(dataset_corpus(form, **options)) == expected
    senses = SenseCounter(SENSES, "de")
    alone = count_senses(write(tmp_path, 5, 7), senses)
    in_process = pickle.loads(pickle.dumps(senses))  # what another process gets
    assert count_senses(write(tmp_path, 5, 100), in_process).counts == alone.counts


def test_a_pair_counts_for_a_sense_by_word_and_lemma(tmp_path: Path) -> None:
    counts = count_senses(write(tmp_path), SenseCounter(SENSES, "de"))
    assert counts.counts == {"bat - fledermaus": 1, "bat - schläger keule": 1, "ball - ball": 0}
    assert counts.frequent == ["bat - fledermaus", "ball - ball"]  # of equal ones the first
    assert "|lemmas:simplemma-" in counts.signature
    plain = count_senses(write(tmp_path), SenseCounter(SENSES, "de", lemmatizer="none"))
    assert plain.counts["bat - fledermaus"] == 1


def test_a_corpus_without_any_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("Nothing.\n", encoding="utf-8")
    corpus = file_corpus(tmp_path / "b", tmp_path / "b", block_pairs=9)
    with pytest.raises(InputError, match="expected sources with an occupation"):
        occupations(corpus)
    with pytest.raises(InputError, match="expected pairs with a sense of the lexicon"):
        count_senses(corpus, SenseCounter(SENSES, "de"))


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        ([], "expected an object, occupation to its forms"),
        ({"cook": {"src_forms": ["cook"]}}, "cook: expected the key 'tgt_forms_male', got"),
        (
            {"cook": {**FORMS["nurse"], "src_forms": ["head cook"]}},
            "cook: src_forms: item 1: expected a single word",
        ),
        ({"cook": {**FORMS["nurse"], "src_forms": []}}, "src_forms: expected at least one item"),
    ],
)
def test_forms_that_cannot_be_searched_are_refused(
    tmp_path: Path, forms: Any, message: str
) -> None:
    path = tmp_path / "forms.json"
    path.write_text(json.dumps(forms), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_occupation_forms(path)


def test_runs_are_averaged_with_their_spread(tmp_path: Path) -> None:
    first = occupations(write(tmp_path))
    other = counts_of_paths(
        "x", first.stages, first.counts, {("doctor", "male", "male"): 4, ("nurse", "male", "female"): 4}
    )  # fmt: skip
    mean = average_counts([first, other])
    assert mean.counts["doctor"][0]["male"] == 2.5
    assert mean.total_flow(0)["male"]["female"] == 2
    assert mean.n_runs == 2
    shares = [run.shares(0)["male"] for run in (first, other)]
    assert mean.share_deviations[0]["male"] == pytest.approx(abs(shares[0] - shares[1]) / 2**0.5)
    assert mean.change_deviations[0]["male"] > 0
    with pytest.raises(InputError, match="expected at least two files of counts, got 1"):
        average_counts([first])
    with pytest.raises(InputError, match="run 2: expected the stages original, teacher"):
        average_counts([first, replace(first, stages=("a", "b"))])


def test_counts_are_read_back_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    counts = occupations(write(tmp_path))
    path.write_text(counts.to_json(), encoding="utf-8")
    assert read_occupation_counts(path) == counts
    row = json.loads(counts.to_json())
    row["flows"]["doctor"][0]["male"]["male"] += 1
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match="doctor: male: expected flows that add up to 1 before"):
        read_occupation_counts(path)
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="expected the JSON of `cc-hf study distillation"):
        read_occupation_counts(path)


def test_the_female_share_is_correlated_with_a_table(tmp_path: Path) -> None:
    paths: dict[tuple[str, ...], float] = {
        (name, gender): number
        for name, female in {"a": 1, "b": 2, "c": 3, "d": 8, "e": 0}.items()
        for gender, number in (("male", 10 - female), ("female", female), ("other", 5))
    }
    counts = counts_of_paths("x", ["all"], "abcde", paths)
    path = tmp_path / "women.csv"
    path.write_text("occupation,percent_women\na,20\nb,30\nc,40\nd,90\nz,9\n", encoding="utf-8")
    (shares,) = correlate_female_shares(counts, read_women(path))
    assert shares.correlation.r == pytest.approx(1)
    assert (shares.correlation.n, shares.missing, shares.unlisted) == (4, ("z",), ("e",))
    for text, message in (
        ("occupation,women\na,2\n", "line 1: expected columns named occupation.*got"),
        ("occupation,percent_women\na,101\n", "line 2: percent_women: expected a number from 0"),
        ("occupation,percent_women\na,1\na,2\n", "line 3: a occurs twice"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_women(path)
    with pytest.raises(InputError, match="expected the percentages of four or more occupations"):
        correlate_female_shares(counts, {"a": 0.2})


def test_names_from_outside_are_escaped_in_pictures(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    counts = counts_of_paths("x", [evil, "b"], [evil], {(evil, "male", "female"): 1})
    for text in (flows_svg(counts, title=evil), flows_page(counts, title=evil, occupations=[evil])):
        assert "<script" not in text
        assert "&lt;script&gt;" in text
    with pytest.raises(UnknownNameError):
        flows_svg(counts, title="", occupation="cook")


def test_the_commands_write_json_and_pictures(tmp_path: Path) -> None:
    write(tmp_path)
    forms = tmp_path / "forms.json"
    forms.write_text(json.dumps(FORMS), encoding="utf-8")
    lexicon = tmp_path / "senses.json"
    lexicon.write_text(json.dumps(dict.fromkeys(SENSES, 0)), encoding="utf-8")
    source, target, teacher = (str(tmp_path / name) for name in ("a.en", "a.de", "t.de"))
    out, svg, html = (tmp_path / name for name in ("o.json", "o.svg", "o.html"))
    command = ["study", "distillation", "occupations", "--source", source, "--forms", str(forms)]
    targets = ["--target", f"original={target}", "--target", f"teacher={teacher}"]
    files = ["-o", str(out), "--svg", str(svg), "--html", str(html), "--occupation", "doctor"]
    result = invoke(*command, *targets, *files)
    assert result.exit_code == 0, result.output
    assert read_occupation_counts(out).stages == ("original", "teacher")
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg.read_text(encoding="utf-8")
    assert html.read_text(encoding="utf-8").count("<svg") == 2
    average = ["--average", str(out), "--average", str(out), "--json"]
    result = invoke("study", "distillation", "occupations", *average)
    assert json.loads(result.stdout)["n_runs"] == 2
    options = ["--source", source, "--target", target, "--lexicon", str(lexicon), "--json"]
    result = invoke("study", "distillation", "senses", *options)
    assert json.loads(result.stdout)["counts"]["bat - fledermaus"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["occupations"], "expected one of --source FILE, --average FILE and --published"),
        (["occupations", "--published", "--source", "x"], "expected one of --source FILE"),
        (["occupations", "--source", "x"], "expected --target FILE, once for each stage"),
        (["occupations", "--source", "x", "--target", "a/t", "--target", "b/t"], "two stages are"),
        (["senses", "--source", "x"], "expected --source FILE and one --target FILE"),
    ],
)
def test_commands_without_their_files_are_refused(arguments: list[str], message: str) -> None:
    result = invoke("study", "distillation", *arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
