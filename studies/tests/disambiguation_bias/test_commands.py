"""The commands, from a corpus to challenge sets, their judgements, correlations and the report."""

import json
import re
from pathlib import Path
from typing import Any

import datasets
import pytest
from cc_hf_studies.disambiguation_bias.attacks.samples import write_rows

import cc_hf
from cc_hf.cli.main import with_flags
from cc_hf.errors import InputError
from cc_hf.systems.translate import Translations
from studies.tests.disambiguation_bias.attacks.helper import sample_of
from studies.tests.disambiguation_bias.corpus import dataset_of, write_corpus, write_lexicon
from tests.helpers.models import save_tiny_marian
from tests.helpers.usual import (
    cases,
    cells_beside,
    printed_by,
    read_json,
    refuses,
    write_jsonl,
    write_lines,
)
from tests.helpers.wino_x_schemas import ROW, TWIN, lay_out


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
    (f"{TAG} a.en a.de --columns a,b", "expected one dataset with `--config`"),
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


_SENSES = {
    "bat": {"1": ["Schläger"], "2": ["Fledermaus", "Fledermäuse"]},
    "spring": {"1": ["Frühling"], "2": ["Feder"]},
}
_PLAYER = ("The player hit the ball with a bat .", "Der Spieler traf den Ball mit einem Schläger .")
_CAVE = ("The bat flies in the dark cave .", "Die Fledermaus fliegt in der dunklen Höhle .")
_FLOWERS = ("In spring the flowers bloom .", "Im Frühling blühen die Blumen .")
_WATCH = ("A spring broke in the old watch .", "Eine Feder brach in der alten Uhr .")
TRAINING = [*[_PLAYER] * 6, *[_CAVE] * 2, *[_FLOWERS] * 5, _WATCH]
POOL = [
    ("He saw the bat near the player and the ball", "Er sah die Fledermaus beim Spieler und Ball"),
    ("He saw the bat near the cave and the dark", "Er sah die Fledermaus bei der Höhle im Dunkeln"),
    ("He took the bat near the ball and the hit", "Er nahm den Schläger beim Ball und Schlag"),
    ("He took the bat near the cave and the dark", "Er nahm den Schläger bei der Höhle im Dunkeln"),
    ("She saw the bat near the house and the tree", "Sie sah die Fledermaus bei Haus und Baum"),
    ("She took the bat near the house and the tree", "Sie nahm den Schläger bei Haus und Baum"),
]
POOL = [(f"{source} today again .", f"{german} heute wieder .") for source, german in POOL]
POOL.append(("A bat .", "Ein Schläger ."))


def links_of(source: str, reference: str) -> str:
    """Link every word with the sense, so that tagging does not depend on alignment."""
    senses = ("Schläger", "Fledermaus", "Frühling", "Feder")
    words, targets = source.split(), reference.split()
    rows = [i for i, word in enumerate(words) if word in _SENSES]
    columns = [j for j, word in enumerate(targets) if word in senses]
    return " ".join(f"{i}-{j}" for i in rows for j in columns)


def _run(words: str) -> str:
    return printed_by(words, columns=200)


@pytest.fixture
def challenge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of challenge sets, from two corpora."""
    monkeypatch.chdir(tmp_path)
    Path("lexicon.json").write_text(json.dumps(_SENSES), encoding="utf-8")
    lexicon = "--lexicon lexicon.json"
    for name, pairs in (("train", TRAINING), ("pool", POOL)):
        sources, targets = zip(*pairs, strict=True)
        write_lines(Path(f"{name}.en"), sources)
        write_lines(Path(f"{name}.de"), targets)
        write_lines(Path(f"{name}.links"), map(links_of, sources, targets))
        files = f"{name}.en {name}.de --pairs {name}.jsonl --alignments {name}.links"
        _run(f"study disambiguation_bias tag {files} {lexicon}")
    _run(f"study disambiguation_bias attractors train.jsonl --table table.json {lexicon}")
    command = "study disambiguation_bias build-challenge table.json pool.jsonl -o sets -n 4"
    printed = _run(f"{command} {lexicon}")
    assert "most_biased: 4 sentences" in printed
    assert "signature: challenge|set:random|n:4|" in printed
    assert "pool: 6 sentences, and 1 that are too short" in printed
    return tmp_path / "sets"


def test_from_a_corpus_to_the_report_on_a_challenge_set(challenge: Path) -> None:
    loaded = datasets.load_dataset(str(challenge), "most_biased", split="test")
    assert (loaded.num_rows, loaded[0]["extra"]["freq_wrong_cluster"]) == (4, "1")
    differences = [float(row["extra"]["freq_diff"]) for row in loaded]
    assert differences == sorted(differences, reverse=True)
    assert loaded.to_list() == cc_hf.load_dataset(str(challenge), "most_biased")["test"].to_list()
    card = (challenge / "README.md").read_text(encoding="utf-8")
    assert "challenge|set:most_biased|by:freq_diff" in card
    assert "config_name: rarest" in card
    _run("sources sets most_biased -o sources.txt")
    sources = Path("sources.txt").read_text(encoding="utf-8").splitlines()
    assert sources == [row["source"] for row in loaded]
    # a system that takes every bat for a stick
    write_lines(Path("out.txt"), [f"Er sah den Schläger ({number})." for number in range(4)])
    options = "--metric all --option search=anywhere --name sticks -o result.json"
    _run(f"evaluate sets most_biased --translations out.txt {options}")
    result = read_json(Path("result.json"))
    (result,) = result.get("results", [result])
    assert (result["metric"], result["scores"]["accuracy"]) == ("homograph_accuracy", 0.25)
    assert result["scores"]["flip_rate_rare"] == 1
    assert "data:custom/most_biased@" in result["signature"]
    correlate = "study disambiguation_bias correlate result.json --dataset sets"
    figures = json.loads(_run(f"{correlate} --json"))
    assert (figures["n"], figures["n_errors"]) == (4, 3)
    assert [test["feature"] for test in figures["tests"]][-1] == "length"
    _run(f"{correlate} -o prediction.json")
    beside = cells_beside("disambiguation_bias", "prediction.json", "result.json")
    assert beside["Figure 3.1"] == {"most biased": result["scores"]["flip_rate"]}
    assert beside["Table 3.8"] == figures["thresholds"]
    tests = [test["test"]["rank_biserial"] for test in figures["tests"]]
    assert list(beside["Table 3.7"].values()) == tests
    assert json.loads(_run(f"{correlate} --table table.json --json"))["tests"] == figures["tests"]
    assert "RBC > 0: errors have larger values" in _run(correlate)
    files = "--html page.html --markdown page.md"
    _run(f"report result.json --dataset sets --attractors table.json {files}")
    for name, texts in (
        ("page.html", ("Error rate by bias", "Attractors of bat", sources[0])),
        ("page.md", ("## Attractors of bat", "FREQ diff")),
    ):
        page = Path(name).read_text(encoding="utf-8")
        assert [text for text in texts if text not in page] == []


def test_a_folder_of_challenge_sets_is_published_with_its_card(challenge: Path) -> None:
    assert "rarest/test-00000-of-00001.parquet" in _run("publish dataset sets all --repo me/sets")
    _run("build sets all -o copy")
    card = (challenge.parent / "copy/README.md").read_text(encoding="utf-8")
    assert card.count("challenge|") == 3


@cases(
    ("x.json", "expected --dataset or --rows, .* got neither"),
    ("x.json --dataset a --rows b", "got both"),
)
def test_correlations_without_bias_are_refused(words: str, message: str) -> None:
    refuses(message, _run, f"study disambiguation_bias correlate {words}")


_SPRING = {"spring": {"season": ["Frühling"], "water": ["Quelle"]}}


_COMPARE = "study disambiguation_bias compare-models"


def fake_translate(sources: list[str], system: str | Path, **_options: Any) -> list[str]:
    """Translate "spring"; the model "base" takes it for water after "hot" and "cold", the other
    model after "hot" only.
    """
    wrong = ("hot", "cold") if Path(system).name == "base" else ("hot",)
    senses = ["Quelle" if any(word in text for word in wrong) else "Frühling" for text in sources]
    return [re.sub(r"\bspring\b", sense, text) for text, sense in zip(sources, senses, strict=True)]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write data of every kind; translations are made without a model."""
    monkeypatch.setattr("cc_hf.systems.translate.translate", fake_translate)

    def rows(model: Any, sources: list[str], **_: Any) -> Translations:
        return Translations(fake_translate(sources, model.name), [])

    monkeypatch.setattr("cc_hf.systems.translate.translate_rows", rows)
    write_lines(tmp_path / "source.en", ["a cold spring came", "a spring came"] * 10)
    write_lines(tmp_path / "target.de", ["a cold Frühling came", "a Frühling came"] * 10)
    sense = {"focus": "spring", "cluster": "season", "senses": _SPRING["spring"], "tgt_lang": "de"}
    words = ("hot", "cold", "old")
    sources = [f"The {word} spring came {number} ." for number in range(5) for word in words]
    write_jsonl(tmp_path / "sets.jsonl", [{"source": source, **sense} for source in sources])
    write_rows(tmp_path / "samples.jsonl", map(sample_of, words))
    write_jsonl(tmp_path / "lexicon.json", [_SPRING])
    lay_out(tmp_path, "mt", [ROW, TWIN])
    for name, seed in (("base", 0), ("lexical", 1)):
        save_tiny_marian(tmp_path / name, seed=seed)
    return tmp_path


def test_all_four_figures_are_compared(models: Path) -> None:
    printed = printed_by(
        f"{_COMPARE} {models}/base {models}/lexical"
        f" --source {models}/source.en --reference {models}/target.de"
        f" --challenge {models}/sets.jsonl --attacks {models}/samples.jsonl"
        f" --lexicon {models}/lexicon.json --wino-x mt_en_de.translations"
        f" --data-dir {models} --search anywhere --lemmatizer none --resamples 50"
        f" --output {models}/compared.json"
    )
    row = read_json(models / "compared.json")
    assert row["models"] == ["base", "lexical"]
    figures = {figure["figure"]: figure for figure in row["figures"]}
    assert list(figures) == ["bleu", "wsd_errors", "attack_success", "wino_x_accuracy"]
    bleu = figures["bleu"]["difference"]
    assert (bleu["second"], bleu["difference"] > 0.1) == (1, True)
    for name in ("wsd_errors", "attack_success"):
        difference = figures[name]["difference"]
        assert (difference["first"], difference["second"]) == pytest.approx((2 / 3, 1 / 3))
    assert figures["wsd_errors"]["mcnemar"]["n_only_first"] == 5
    assert (figures["attack_success"]["n"], figures["wino_x_accuracy"]["n"]) == ([3, 3], [2, 2])
    assert all(len(set(figure["signatures"])) == 2 for figure in row["figures"][1:])
    assert "base (first) and lexical (second)" in printed
    assert "errors on homographs, %" in printed
    beside = cells_beside("lexical_shortcuts", models / "compared.json")
    expected = {"BLEU": 1, "errors": 1 / 3, "attacks": 1 / 3}
    assert beside["Table 5.6, OS18"] == pytest.approx(expected)


@cases(
    ("a", "models: expected two, got 1"),
    ("a b", "expected something to compare on"),
    ("a/x b/x --wino-x c", "name: expected two names, as both .* called x"),
    ("a b --name c --wino-x c", "name: expected two, got 1"),
    ("a b --source c", "source, reference: expected both files for BLEU"),
)
def test_options_that_do_not_fit_are_refused(options: str, message: str) -> None:
    refuses(message, printed_by, f"{_COMPARE} {options}")


def test_files_of_different_lengths_are_refused(models: Path) -> None:
    short = write_lines(models / "short.de", ["one"])
    command = f"{_COMPARE} {models}/base {models}/lexical --source {models}/source.en"
    message = "expected as many lines in both, got 20 and 1"
    refuses(message, printed_by, f"{command} --reference {short}")
