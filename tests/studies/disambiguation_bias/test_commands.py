import json
from pathlib import Path

import datasets
import pytest

from cc_hf.cli.main import with_flags
from cc_hf.errors import InputError
from tests.helpers.usual import cases, printed_by, write_lines
from tests.studies.disambiguation_bias.corpus import dataset_of, write_corpus, write_lexicon


def run(words: str) -> str:
    return printed_by(f"study disambiguation_bias {words}", columns=400)


TAG = "tag --pairs pairs.jsonl --lexicon lexicon.json"
ATTRACTORS = "attractors --lexicon lexicon.json"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a corpus and a lexicon, and make their folder the current one."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path)
    write_lexicon(tmp_path)


def test_from_a_corpus_to_the_bias_of_sentences() -> None:
    shown = run(f"{TAG} a.en a.de")
    assert "pairs with a known sense" in shown
    assert "signature: tag|corpus:" in shown
    shown = run(f"{ATTRACTORS} pairs.jsonl --table table.json")
    assert "Schläger, Schlägern" in shown
    assert "signature: bias|corpus:" in shown
    options = "--json --top 1 --homograph spring --association ppmi"
    figures = json.loads(run(f"{ATTRACTORS} table.json {options}"))
    assert figures["n_pairs"] == {"spring": {"1": 1, "2": 1}}
    assert len(figures["strongest"]["spring"]["1"]) == 1
    shown = run(f"{ATTRACTORS} pairs.jsonl --stop-words snowball")
    assert "ball 1, hit 1" in shown
    assert "|stop:174." in shown
    shown = run("score table.json pairs.jsonl --rows rows.jsonl")
    assert "largest freq bias" in shown
    assert len(Path("rows.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    shown = run("score table.json pairs.jsonl --json --association ppmi")
    assert set(json.loads(shown)["means"]) == {"ppmi"}


@pytest.mark.parametrize("streaming", ["", "--streaming"])
def test_a_dataset_is_tagged_like_files(streaming: str) -> None:
    summary, pairs = run(f"{TAG} a.en a.de --json"), Path("pairs.jsonl").read_bytes()
    rows = [{"x": {"a": row["en"], "b": row["de"]}} for row in dataset_of()]
    datasets.Dataset.from_list(rows).save_to_disk("saved")
    Path("pairs.jsonl").unlink()
    shown = run(f"{TAG} saved --columns x.a,x.b --json {streaming}")
    assert json.loads(shown) == json.loads(summary)
    assert Path("pairs.jsonl").read_bytes() == pairs


def test_sizes_of_corpora_are_counted_after_cleaning() -> None:
    write_lines(Path("dev.en"), ["The house is old.", "", "A bat ."])
    write_lines(Path("dev.de"), ["Das Haus ist alt.", "Ein Schläger.", "Da flog eine Fledermaus ."])
    cleaning = "--max-length-ratio 1.5 --min-known-words 0.5"
    printed = run(f"count-corpus a.en a.de dev.en dev.de {cleaning} --held-out 0.4 --json")
    train, held_out, dev = json.loads(printed)["corpora"]
    assert (train["name"], held_out["name"], dev["name"]) == ("a", "held-out", "dev")
    assert train["n_sentences"] + held_out["n_sentences"] == 7
    assert train["n_source_words"] + held_out["n_source_words"] == 34
    assert dev == {
        **{"name": "dev", "n_damaged": 1, "n_length_ratio": 1, "n_language": 0, "n_sentences": 1},
        **{"n_source_words": 4, "n_target_words": 4, "words_per_sentence": [4.0, 4.0]},
    }
    shown = run("count-corpus dev.de dev.en --min-known-words 0.9")
    assert [line.split()[-1] for line in shown.splitlines() if "pairs" in line] == ["1", "0", "2"]
    assert "words per sentence (de)" in shown


@cases(
    ("count-corpus a.en a.de a.en", "corpora: expected two files for each corpus, or one"),
    (f"{TAG} a.en short.de", "expected as many lines in both files, got 7 and 1"),
    (f"{TAG} a.en", "expected two text files"),
    (f"{TAG} a b c", "expected two files or one dataset, got a, b, c"),
    (f"{TAG} a.en a.de --columns a,b", "expected one dataset with --config"),
    (f"{TAG} saved --columns a", "--columns: expected two names"),
    (f"{TAG} a.en a.de --held-out 0.2", "--held-out: expected a share"),
    (f"{TAG} a.en a.de --homograph cat", "unknown homograph 'cat'"),
    (f"{TAG} a.en a.de --aligner x", "unknown aligner 'x'"),
    (f"{ATTRACTORS} table.json --stop-words a.en", "--stop-words: expected pairs (.jsonl)"),
    (f"{ATTRACTORS} table.json --homograph x", "unknown homograph"),
    ("score table.json a.en", "a.en: line 1: expected a JSON object"),
)
def test_commands_refuse_what_does_not_fit(command: str, message: str) -> None:
    write_lines(Path("short.de"), ["Eins."])
    run(f"{TAG} a.en a.de")
    run(f"{ATTRACTORS} pairs.jsonl --table table.json")
    with pytest.raises(InputError) as error:
        run(command)
    assert message in with_flags(str(error.value), f"study disambiguation_bias {command}".split())
