"""From a corpus to challenge sets, their judgements, correlations and the report."""

import json
from pathlib import Path

import datasets
import pytest

import cc_hf
from tests.helpers.usual import cases, cells_beside, printed_by, read_json, refuses, write_lines

LEXICON = {
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
    rows = [i for i, word in enumerate(words) if word in LEXICON]
    columns = [j for j, word in enumerate(targets) if word in senses]
    return " ".join(f"{i}-{j}" for i in rows for j in columns)


def run(words: str) -> str:
    return printed_by(words, columns=200)


@pytest.fixture
def challenge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of challenge sets, from two corpora."""
    monkeypatch.chdir(tmp_path)
    Path("lexicon.json").write_text(json.dumps(LEXICON), encoding="utf-8")
    lexicon = "--lexicon lexicon.json"
    for name, pairs in (("train", TRAINING), ("pool", POOL)):
        sources, targets = zip(*pairs, strict=True)
        write_lines(Path(f"{name}.en"), sources)
        write_lines(Path(f"{name}.de"), targets)
        write_lines(Path(f"{name}.links"), map(links_of, sources, targets))
        files = f"{name}.en {name}.de --pairs {name}.jsonl --alignments {name}.links"
        run(f"study disambiguation_bias tag {files} {lexicon}")
    run(f"study disambiguation_bias attractors train.jsonl --table table.json {lexicon}")
    command = "study disambiguation_bias build-challenge table.json pool.jsonl -o sets -n 4"
    printed = run(f"{command} {lexicon}")
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
    run("sources sets most_biased -o sources.txt")
    sources = Path("sources.txt").read_text(encoding="utf-8").splitlines()
    assert sources == [row["source"] for row in loaded]
    # a system that takes every bat for a stick
    write_lines(Path("out.txt"), [f"Er sah den Schläger ({number})." for number in range(4)])
    options = "--metric all --option search=anywhere --name sticks -o result.json"
    run(f"evaluate sets most_biased --translations out.txt {options}")
    result = read_json(Path("result.json"))
    (result,) = result.get("results", [result])
    assert (result["metric"], result["scores"]["accuracy"]) == ("homograph_accuracy", 0.25)
    assert result["scores"]["flip_rate_rare"] == 1
    assert "data:custom/most_biased@" in result["signature"]
    correlate = "study disambiguation_bias correlate result.json --dataset sets"
    figures = json.loads(run(f"{correlate} --json"))
    assert (figures["n"], figures["n_errors"]) == (4, 3)
    assert [test["feature"] for test in figures["tests"]][-1] == "length"
    run(f"{correlate} -o prediction.json")
    beside = cells_beside("disambiguation_bias", "prediction.json", "result.json")
    assert beside["Figure 3.1"] == {"most biased": result["scores"]["flip_rate"]}
    assert beside["Table 3.8"] == figures["thresholds"]
    tests = [test["test"]["rank_biserial"] for test in figures["tests"]]
    assert list(beside["Table 3.7"].values()) == tests
    assert json.loads(run(f"{correlate} --table table.json --json"))["tests"] == figures["tests"]
    assert "RBC > 0: errors have larger values" in run(correlate)
    files = "--html page.html --markdown page.md"
    run(f"report result.json --dataset sets --attractors table.json {files}")
    for name, texts in (
        ("page.html", ("Error rate by bias", "Attractors of bat", sources[0])),
        ("page.md", ("## Attractors of bat", "FREQ diff")),
    ):
        page = Path(name).read_text(encoding="utf-8")
        assert [text for text in texts if text not in page] == []


def test_a_folder_of_challenge_sets_is_published_with_its_card(challenge: Path) -> None:
    assert "rarest/test-00000-of-00001.parquet" in run("publish dataset sets --all --repo me/sets")
    run("build sets --all -o copy")
    card = (challenge.parent / "copy/README.md").read_text(encoding="utf-8")
    assert card.count("challenge|") == 3


@cases(
    ("x.json", "expected --dataset or --rows, .* got neither"),
    ("x.json --dataset a --rows b", "got both"),
)
def test_correlations_without_bias_are_refused(words: str, message: str) -> None:
    refuses(message, run, f"study disambiguation_bias correlate {words}")
