"""From a corpus to challenge sets, their judgements, correlations and the report."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

import cc_hf
from tests.helpers.command_line import invoke

LEXICON = {
    "bat": {"1": ["Schläger"], "2": ["Fledermaus", "Fledermäuse"]},
    "spring": {"1": ["Frühling"], "2": ["Feder"]},
}
TRAINING = [
    *[("The player hit the ball with a bat .", "Der Spieler traf den Ball mit einem Schläger .")]
    * 6,
    *[("The bat flies in the dark cave .", "Die Fledermaus fliegt in der dunklen Höhle .")] * 2,
    *[("In spring the flowers bloom .", "Im Frühling blühen die Blumen .")] * 5,
    *[("A spring broke in the old watch .", "Eine Feder brach in der alten Uhr .")] * 1,
]
POOL = [
    (f"{opening} the bat near the {place} and the {thing} today again .", f"{german} .")
    for opening, place, thing, german in (
        (
            "He saw",
            "player",
            "ball",
            "Er sah die Fledermaus beim Spieler und beim Ball heute wieder",
        ),
        (
            "He saw",
            "cave",
            "dark",
            "Er sah die Fledermaus bei der Höhle und im Dunkeln heute wieder",
        ),
        ("He took", "ball", "hit", "Er nahm den Schläger beim Ball und beim Schlag heute wieder"),
        (
            "He took",
            "cave",
            "dark",
            "Er nahm den Schläger bei der Höhle und im Dunkeln heute wieder",
        ),
        ("She saw", "house", "tree", "Sie sah die Fledermaus beim Haus und beim Baum heute wieder"),
        ("She took", "house", "tree", "Sie nahm den Schläger beim Haus und beim Baum heute wieder"),
    )
] + [("A bat .", "Ein Schläger .")]


def write(path: str, pairs: list[tuple[str, str]]) -> None:
    for side, ending in enumerate(("en", "de")):
        lines = "".join(f"{pair[side]}\n" for pair in pairs)
        Path(f"{path}.{ending}").write_text(lines, encoding="utf-8")


def run(*words: str) -> str:
    result = invoke(*words)
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.stdout


@pytest.fixture
def challenge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of challenge sets, from two corpora."""
    monkeypatch.chdir(tmp_path)
    Path("lexicon.json").write_text(json.dumps(LEXICON), encoding="utf-8")
    write("train", TRAINING)
    write("pool", POOL)
    lexicon = ("--lexicon", "lexicon.json")
    for name in ("train", "pool"):
        # every word is linked with the sense, so that tagging does not depend on alignment
        pairs = TRAINING if name == "train" else POOL
        links = [
            " ".join(
                f"{i}-{j}"
                for i, word in enumerate(source.split())
                if word in ("bat", "spring")
                for j, target in enumerate(reference.split())
                if target in ("Schläger", "Fledermaus", "Frühling", "Feder")
            )
            for source, reference in pairs
        ]
        Path(f"{name}.links").write_text("".join(f"{line}\n" for line in links), encoding="utf-8")
        run(
            *(
                "study",
                "disambiguation_bias",
                "tag",
                f"{name}.en",
                f"{name}.de",
                "--pairs",
                f"{name}.jsonl",
                *lexicon,
            ),
            *("--alignments", f"{name}.links"),
        )
    run("study disambiguation_bias attractors train.jsonl --table table.json", *lexicon)
    printed = run(
        *(
            "study",
            "disambiguation_bias",
            "build-challenge",
            "table.json",
            "pool.jsonl",
            "-o",
            "sets",
            "-n",
            "4",
            *lexicon,
        )
    )
    assert "most_biased: 4 sentences" in printed
    assert "signature: challenge|set:random|n:4|" in printed
    assert "pool: 6 sentences, and 1 that are too short" in printed
    return tmp_path / "sets"


def test_from_a_corpus_to_the_report_on_a_challenge_set(challenge: Path) -> None:
    loaded = datasets.load_dataset(str(challenge), "most_biased", split="test")
    assert loaded.num_rows == 4
    assert loaded[0]["extra"]["freq_wrong_cluster"] == "1"
    assert [float(row["extra"]["freq_diff"]) for row in loaded] == sorted(
        (float(row["extra"]["freq_diff"]) for row in loaded), reverse=True
    )
    assert loaded.to_list() == cc_hf.load_dataset(str(challenge), "most_biased")["test"].to_list()
    card = (challenge / "README.md").read_text(encoding="utf-8")
    assert "challenge|set:most_biased|by:freq_diff" in card
    assert "config_name: rarest" in card
    run("sources", "sets", "most_biased", "-o", "sources.txt")
    sources = Path("sources.txt").read_text(encoding="utf-8").splitlines()
    assert sources == [row["source"] for row in loaded]
    # a system that takes every bat for a stick
    translations = [f"Er sah den Schläger ({number})." for number in range(4)]
    Path("out.txt").write_text("\n".join(translations) + "\n", encoding="utf-8")
    run(
        *("evaluate", "sets", "most_biased", "--translations", "out.txt", "--metric", "all"),
        *("--option", "search=anywhere", "--name", "sticks", "-o", "result.json"),
    )
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    (result,) = result.get("results", [result])
    assert result["metric"] == "homograph_accuracy"
    assert result["scores"]["accuracy"] == 0.25
    assert result["scores"]["flip_rate_rare"] == 1
    assert "data:custom/most_biased@" in result["signature"]
    figures = json.loads(
        run("study disambiguation_bias correlate result.json --dataset sets --json")
    )
    assert (figures["n"], figures["n_errors"]) == (4, 3)
    assert [test["feature"] for test in figures["tests"]][-1] == "length"
    again = json.loads(
        run(
            *(
                "study",
                "disambiguation_bias",
                "correlate",
                "result.json",
                "--dataset",
                "sets",
                "--table",
                "table.json",
            ),
            "--json",
        )
    )
    assert again["tests"] == figures["tests"]
    assert "RBC > 0: errors have larger values" in run(
        "study", "disambiguation_bias", "correlate", "result.json", "--dataset", "sets"
    )
    run(
        *("report", "result.json", "--dataset", "sets", "--attractors", "table.json"),
        *("--html", "page.html", "--markdown", "page.md"),
    )
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Error rate by bias" in page
    assert "Attractors of bat" in page
    assert sources[0] in page
    markdown = Path("page.md").read_text(encoding="utf-8")
    assert "## Attractors of bat" in markdown
    assert "FREQ diff" in markdown


def test_a_folder_of_challenge_sets_is_published_with_its_card(challenge: Path) -> None:
    shown = run("publish", "dataset", "sets", "--all", "--repo", "me/sets")
    assert "rarest/test-00000-of-00001.parquet" in shown
    run("build", "sets", "--all", "-o", "copy")
    assert (challenge.parent / "copy/README.md").read_text(encoding="utf-8").count(
        "challenge|"
    ) == 3


def test_the_published_correlations_are_shown() -> None:
    words = run("study", "disambiguation_bias", "correlate", "--published").split()
    assert {"WMT19", "ConvS2S", "+.731"} <= set(words)
    rows = json.loads(run("study", "disambiguation_bias", "correlate", "--published", "--json"))[
        "published"
    ]
    assert rows[0]["large"] == 0.2121


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "expected RESULT with --dataset or --rows"),
        (("x.json",), "expected RESULT with --dataset or --rows"),
        (("x.json", "--published"), "expected no result"),
    ],
)
def test_correlations_without_bias_are_refused(words: tuple[str, ...], message: str) -> None:
    result = invoke("study", "disambiguation_bias", "correlate", *words)
    assert message in str(result.exception)
