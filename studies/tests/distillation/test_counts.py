import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest
from cc_hf_studies.distillation import gender_flows
from cc_hf_studies.distillation.flow_charts import flows_page, flows_svg
from cc_hf_studies.distillation.occupations import (
    OccupationCounter,
    count_occupations,
    parse_occupation_forms,
    read_occupation_forms,
)
from cc_hf_studies.distillation.senses import SenseCounter, count_senses

from cc_hf.data.corpora.parallel import FileCorpus, dataset_corpus, file_corpus
from cc_hf.errors import UnknownNameError
from tests.helpers.axe import check_legible
from tests.helpers.browser import Page
from tests.helpers.usual import cases, fails, printed_by, refuses, write_jsonl, write_lines

_WORDS = {
    "doctor": (["doctor", "doctors"], ["Arzt", "Ärzte"], ["Ärztin", "Ärztinnen"]),
    "nurse": (["nurse"], ["Pfleger"], ["Krankenschwester"]),
}
_KEYS = ("src_forms", "tgt_forms_male", "tgt_forms_female")
FORMS = {word: dict(zip(_KEYS, forms, strict=True)) for word, forms in _WORDS.items()}
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
    sides = zip(("a.en", "a.de", "t.de"), zip(*PAIRS * times, strict=True), strict=True)
    paths = [write_lines(folder / name, lines) for name, lines in sides]
    return file_corpus(*paths, block_pairs=block_pairs)


def occupations(corpus: Any, **options: Any) -> gender_flows.OccupationCounts:
    stages = ("original", "teacher")
    return count_occupations(corpus, OccupationCounter(OCCUPATIONS), stages=stages, **options)


def test_ten_pairs_are_counted_by_gender_and_stage(tmp_path: Path) -> None:
    counts = occupations(write(tmp_path))
    numbers = {name: [[*of.values()] for of in stages] for name, stages in counts.counts.items()}
    # male, female, other: both genders and a part of a word; an unlisted form is other
    assert numbers == {"doctor": [[1, 2, 2], [3, 0, 2]], "nurse": [[0, 1, 1], [0, 2, 0]]}
    assert [*counts.counts["nurse"][0]] == ["male", "female", "other"]
    assert counts.total_flow(0)["female"] == {"male": 1, "female": 1, "other": 1}
    assert (counts.n, counts.n_pairs, counts.n_damaged) == (7, 10, 1)
    assert counts.damaged == ((9, "the reference is empty"),)
    assert counts.female_shares() == {"doctor": pytest.approx(2 / 3), "nurse": 1.0}
    assert "|stages:original+teacher|n:9|" in counts.signature


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_datasets_and_streams_count_alike(tmp_path: Path) -> None:
    expected = occupations(write(tmp_path, 5, 7))
    assert occupations(write(tmp_path, 5, 7), n_processes=2) == expected
    columns = ("source", "target_0", "target_1")
    rows = [dict(zip(columns, pair, strict=True)) for pair in PAIRS] * 5
    table = datasets.Dataset.from_list(rows)
    options: dict[str, Any] = {"name": "d", "src_lang": "", "tgt_lang": "", "columns": columns}
    for form in (table, table.to_iterable_dataset()):
        assert occupations(dataset_corpus(form, **options, block_pairs=7)) == expected
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
    path = write_lines(tmp_path / "b", ["Nothing."])
    corpus = file_corpus(path, path, block_pairs=9)
    refuses("expected sources with an occupation", occupations, corpus)
    refuses("expected pairs with a sense of the", count_senses, corpus, SenseCounter(SENSES, "de"))


@cases(
    ([], "expected an object, occupation to its forms"),
    ({"cook": {"src_forms": ["cook"]}}, "cook: expected the key 'tgt_forms_male', got"),
    ({"cook": {**FORMS["nurse"], "src_forms": ["a b"]}}, "item 1: expected a single word"),
    ({"cook": {**FORMS["nurse"], "src_forms": []}}, "cook: src_forms: expected at least one"),
)
def test_forms_without_single_words_are_refused(forms: Any, message: str, tmp_path: Path) -> None:
    refuses(message, read_occupation_forms, write_jsonl(tmp_path / "forms.json", [forms]))


def test_runs_are_averaged_with_their_spread(tmp_path: Path) -> None:
    first = occupations(write(tmp_path))
    paths: Any = {("doctor", "male", "male"): 4, ("nurse", "male", "female"): 4}
    other = gender_flows.counts_of_paths("x", first.stages, first.counts, paths)
    mean = gender_flows.average_counts([first, other])
    assert mean.counts["doctor"][0]["male"] == 2.5
    assert mean.total_flow(0)["male"]["female"] == 2
    assert mean.n_runs == 2
    shares = [run.shares(0)["male"] for run in (first, other)]
    assert mean.share_deviations[0]["male"] == pytest.approx(abs(shares[0] - shares[1]) / 2**0.5)
    assert mean.change_deviations[0]["male"] > 0
    refuses("expected at least two files of counts, got 1", gender_flows.average_counts, [first])
    refuses(
        "run 2: expected the stages original, teacher",
        gender_flows.average_counts,
        [first, replace(first, stages=("a", "b"))],
    )


def test_counts_are_read_back_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    counts = occupations(write(tmp_path))
    assert gender_flows.read_occupation_counts(write_lines(path, [counts.to_json()])) == counts
    row = json.loads(counts.to_json())
    row["flows"]["doctor"][0]["male"]["male"] += 1
    refuses(
        "doctor: male: expected flows that add up to 1 before",
        gender_flows.read_occupation_counts,
        write_jsonl(path, [row]),
    )
    refuses(
        "expected the JSON of `cc-hf study distillation",
        gender_flows.read_occupation_counts,
        write_jsonl(path, [[1]]),
    )


COLUMNS = "occupation,percent_women"


def test_the_female_share_is_correlated_with_a_table(tmp_path: Path) -> None:
    paths: dict[tuple[str, ...], float] = {}
    for name, female in {"a": 1, "b": 2, "c": 3, "d": 8, "e": 0}.items():
        paths |= {(name, "male"): 10 - female, (name, "female"): female, (name, "other"): 5}
    counts = gender_flows.counts_of_paths("x", ["all"], "abcde", paths)
    women = write_lines(tmp_path / "women.csv", [COLUMNS, "a,20", "b,30", "c,40", "d,90", "z,9"])
    (shares,) = gender_flows.correlate_female_shares(counts, gender_flows.read_women(women))
    assert shares.correlation.r == pytest.approx(1)
    assert (shares.correlation.n, shares.missing, shares.unlisted) == (4, ("z",), ("e",))
    refuses(
        "expected the percentages of four or more occupations",
        gender_flows.correlate_female_shares,
        counts,
        {"a": 0.2},
    )


@cases(
    (["occupation,women", "a,2"], "line 1: expected columns named occupation.*got"),
    ([COLUMNS, "a,101"], "line 2: percent_women: expected a number from 0"),
    ([COLUMNS, "a,1", "a,2"], "line 3: a occurs twice"),
)
def test_tables_of_women_are_checked(lines: list[str], message: str, tmp_path: Path) -> None:
    refuses(message, gender_flows.read_women, write_lines(tmp_path / "women.csv", lines))


def test_names_from_outside_are_escaped_in_pictures(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    counts = gender_flows.counts_of_paths("x", [evil, "b"], [evil], {(evil, "male", "female"): 1})
    for text in (flows_svg(counts, title=evil), flows_page(counts, title=evil, occupations=[evil])):
        assert "<script>alert" not in text
        assert "&lt;script&gt;" in text
    fails(UnknownNameError, "'cook'", flows_svg, counts, title="", occupation="cook")


def test_the_page_is_legible_in_light_and_dark(page: Page) -> None:
    counts = gender_flows.counts_of_paths("x", ["a", "b"], ["a"], {("a", "male", "female"): 1})
    check_legible(page, flows_page(counts, title="all", occupations=["a"]))


def test_commands_write_json_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    write_jsonl(tmp_path / "forms.json", [FORMS])
    write_jsonl(tmp_path / "senses.json", [dict.fromkeys(SENSES, 0)])
    command = "study distillation occupations"
    printed_by(
        f"{command} --source a.en --forms forms.json --target original=a.de --target teacher=t.de"
        " -o o.json --svg o.svg --html o.html --occupation doctor"
    )
    stages = gender_flows.read_occupation_counts(tmp_path / "o.json").stages
    assert stages == ("original", "teacher")
    svg, html = ((tmp_path / name).read_text(encoding="utf-8") for name in ("o.svg", "o.html"))
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg
    assert html.count("<svg") == 2
    mean = json.loads(printed_by(f"{command} --average o.json --average o.json --json"))
    assert mean["n_runs"] == 2
    options = "--source a.en --target a.de --lexicon senses.json --json"
    senses = json.loads(printed_by(f"study distillation senses {options}"))
    assert senses["counts"]["bat - fledermaus"] == 1


@cases(
    ("occupations --average x --source x", "expected --source FILE or --average FILE, got both"),
    ("occupations --target x", "expected --source FILE with --target"),
    ("occupations --source x", "expected --target FILE, once for each stage"),
    ("occupations --source x --target a/t --target b/t", "two stages are"),
    ("senses --source x", "expected --source FILE and one --target FILE"),
)
def test_commands_without_their_files_are_refused(words: str, message: str) -> None:
    refuses(message, printed_by, f"study distillation {words}")
