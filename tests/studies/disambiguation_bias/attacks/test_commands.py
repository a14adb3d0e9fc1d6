from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from cc_hf.files import sole_writer
from cc_hf.studies.disambiguation_bias.attacks.samples import read_judgements, read_samples
from cc_hf.studies.disambiguation_bias.attractors import count_attractors
from cc_hf.studies.disambiguation_bias.homographs import write_pairs
from cc_hf.text import nouns
from tests.helpers.command_line import invoke
from tests.helpers.nouns import PARTS, nouns_of
from tests.helpers.sheets import fill
from tests.studies.disambiguation_bias.attacks.helper import tagged, training_pairs

LEXICON = {"spring": {"season": ["Frühling"], "water": ["Quelle"]}}


def run(line: object, *arguments: object) -> Result:
    return invoke(f"study disambiguation_bias attack {line}", *arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with seeds, a corpus, attractors and a lexicon; the dictionary is small."""
    monkeypatch.setattr(nouns, "english_parts", lambda word: frozenset(PARTS.get(word, ())))
    monkeypatch.setattr(nouns, "_lemminflect_version", lambda: "test")
    pairs = training_pairs()
    write_pairs(tmp_path / "training.jsonl", pairs)
    write_pairs(
        tmp_path / "seeds.jsonl",
        [
            tagged(20, "A spring came to us in this year at last .", "season"),
            tagged(21, "The old spring came to us in this year again .", "season"),
            tagged(22, "A spring .", "season"),
        ],
    )
    table = count_attractors(pairs).to_json()
    (tmp_path / "table.json").write_text(table, encoding="utf-8")
    (tmp_path / "lexicon.json").write_text(json.dumps(LEXICON), encoding="utf-8")
    return tmp_path


def make(folder: Path, *options: object) -> Result:
    return run(
        f"build {folder}/seeds.jsonl --attractors {folder}/table.json --dropped-share 0"
        f" --training {folder}/training.jsonl --samples {folder}/samples.jsonl",
        *options,
    )


def judge(folder: Path, *options: object) -> Result:
    """Judge translations word for word in which "hot" makes the spring water."""
    texts = (folder / "sources.txt").read_text(encoding="utf-8").splitlines()
    lines = []
    for text in texts:
        words = text.split()
        sense = "Quelle" if "hot" in words else "Frühling"
        lines.append(" ".join(sense if word == "spring" else word for word in words))
    (folder / "translations.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run(
        f"judge {folder}/samples.jsonl --translations {folder}/translations.txt"
        f" --lexicon {folder}/lexicon.json --search anywhere --resamples 20",
        *options,
    )


def test_from_pairs_to_figures(folder: Path) -> None:
    result = make(folder, "--sources", folder / "sources.txt", "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["counts"]["n_short"] == 1
    assert summary["counts"]["n_samples"] == 3
    assert "parser:lemminflect-test" in summary["signature"]
    samples = list(read_samples(folder / "samples.jsonl"))
    assert [sample.kind for sample in samples] == [
        "insert_at_homograph",
        "insert_at_homograph",
        "replace_at_homograph",
    ]
    on_disk = json.loads((folder / "samples.summary.json").read_text(encoding="utf-8"))
    assert on_disk == summary
    result = judge(
        folder, "--json", "--judgements", folder / "a.jsonl", "--html", folder / "page.html"
    )
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)["judges"]["lexicon"]
    assert (figures["total"]["n"], figures["total"]["n_success"]) == (3, 2)
    assert len(list(read_judgements(folder / "a.jsonl"))) == 3
    assert "<article" in (folder / "page.html").read_text(encoding="utf-8")
    result = run("transfer", folder / "a.jsonl", folder / "a.jsonl", "--name", "a", "--name", "b")
    assert result.exit_code == 0, result.output
    assert "100.0" in result.stdout


def test_samples_that_another_run_writes_are_not_made(folder: Path) -> None:
    with sole_writer(folder / "samples.jsonl"):
        result = make(folder)
    assert result.exit_code
    assert "no other run is writing" in f"{result.exception} {result.output}"
    assert not list(folder.glob("*samples*"))


def test_tables_are_printed_in_place_of_json(folder: Path) -> None:
    result = make(folder, "--sources", folder / "sources.txt")
    assert "inserted before the homograph" in result.stdout
    result = judge(folder)
    assert "attacks on translations" in result.stdout


def test_contrastive_conditioning_needs_cues_only(folder: Path) -> None:
    make(folder, "--sources", folder / "sources.txt")
    cues = {"spring": {"season": ["flowers"], "water": ["hills"]}}
    (folder / "cues.json").write_text(json.dumps(cues), encoding="utf-8")
    result = judge(
        folder, "--judge", "contrastive", "--judge", "lexicon", "--cues", folder / "cues.json",
        "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert row["judges"].keys() == {"lexicon", "contrastive"}
    assert "cues:cues.6.before" in row["signature"]
    result = judge(folder, "--judge", "contrastive", "--attractors", folder / "table.json")
    assert "contrastive conditioning" in result.stdout


def test_a_challenge_set_and_sheets_are_written_and_read(folder: Path) -> None:
    make(folder)
    result = run(
        f"build-challenge {folder}/samples.jsonl --strongest {folder}/hard.jsonl"
        f" --random {folder}/random.jsonl --n 2"
    )
    assert result.exit_code == 0, result.output
    assert "2 of 3 samples" in result.stdout
    assert len(list(read_samples(folder / "random.jsonl"))) == 2
    result = run(
        f"build-sheets {folder}/hard.jsonl -o {folder}/sheets --key {folder}/key.json --n 3"
        f" --lexicon {folder}/lexicon.json --regular {folder}/training.jsonl"
    )
    assert result.exit_code == 0, result.output
    for name in ("rater1.csv", "rater2.csv"):
        rows = fill(folder / "sheets" / name, lambda row: ["1", "4"])
        assert len(rows) == 5
    result = run("rate", folder / "key.json", *sorted((folder / "sheets").glob("*.csv")), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["kappa"] == 1.0


def test_grammar_is_compared_with_a_checker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(folder)
    monkeypatch.setattr(
        "cc_hf.studies.disambiguation_bias.attacks.grammar.language_tool",
        lambda lang: lambda text: "hot" in text,
    )
    result = run("grammar", folder / "samples.jsonl")
    assert "2 of 3 samples have more errors than their seed: 66.7" in result.stdout


def test_further_sentences_and_both_language_models_are_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.helpers.letter_evaluator import TextEvaluator

    loaded: list[tuple[str, Any]] = []

    def load(name: str, **options: Any) -> TextEvaluator:
        loaded.append((name, options["kind"]))
        return TextEvaluator(lambda text: -5.0 if "old" in text or "Quelle" in text else -1.0)

    monkeypatch.setattr("cc_hf.evaluators.loading.load_evaluator", load)
    (folder / "more.txt").write_text("The warm year is here .\n\n", encoding="utf-8")
    result = make(
        folder, "--corpus", folder / "more.txt", "--masked-lm", "bert", "--fluency-lm", "gpt",
        "--lexicon", folder / "lexicon.json", "--json",
    )  # fmt: skip
    assert loaded == [("bert", "masked_lm"), ("gpt", "causal_lm")]
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["counts"]["n_not_fluent"] == 1
    assert "mlm:letters@1|lm:letters@1|ratio:<=1.2" in summary["signature"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kind", "insert"), "kinds: expected one of insert_at_homograph"),
        (("--lexicon", "x.json"), "lexicon: only --masked-lm uses it"),
        (("--min-tokens", "500"), "expected at least one sample, got none from 0 seeds"),
        (("--corpus", "absent.txt"), "absent.txt: file not found"),
        (("--samples", "-"), "samples: expected a file that ends in .jsonl, got -"),
    ],
)
def test_options_of_build_are_checked(folder: Path, options: tuple[str, ...], message: str) -> None:
    result = make(folder, *options)
    assert message in str(result.exception)
    assert not (folder / "samples.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--judge", "people"), "judge: expected one of lexicon, contrastive, got 'people'"),
        (("--evaluator", "x"), "only --judge contrastive uses them"),
        (("--judge", "contrastive"), "needs words for each sense; .* got neither"),
        (("--system", "x"), "expected one of both, got both"),
    ],
)
def test_options_of_judge_are_checked(folder: Path, options: tuple[str, ...], message: str) -> None:
    make(folder, "--sources", folder / "sources.txt")
    result = judge(folder, *options)
    with pytest.raises(Exception, match=message):
        raise result.exception or AssertionError(result.output)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected an object such as"),
        ("{", "expected an object such as"),
        ('{"spring": []}', "spring: expected an object, got []"),
        ('{"spring": {"1": "summer"}}', "spring: 1: expected a list, got 'summer'"),
    ],
)
def test_cues_of_the_user_are_checked(folder: Path, text: str, message: str) -> None:
    make(folder, "--sources", folder / "sources.txt")
    (folder / "cues.json").write_text(text, encoding="utf-8")
    result = judge(folder, "--judge", "contrastive", "--cues", folder / "cues.json")
    assert message in str(result.exception)


def test_files_of_other_numbers_are_refused(folder: Path) -> None:
    make(folder, "--sources", folder / "sources.txt")
    (folder / "short.txt").write_text("Eine Zeile\n", encoding="utf-8")
    result = run(
        f"judge {folder}/samples.jsonl --translations {folder}/short.txt"
        f" --lexicon {folder}/lexicon.json"
    )
    assert "one line for each distinct text" in str(result.exception)
    result = run("rate", folder / "key.json", folder / "one.csv")
    assert "expected those of two people, got 1 files" in str(result.exception)
    result = run("transfer", folder / "a.jsonl", folder / "b.jsonl", "--name", "x")
    assert "a different name for each of 2 files" in str(result.exception)


def test_the_small_dictionary_finds_what_the_tests_expect() -> None:
    (noun,) = nouns_of().nouns(["A warm spring ."], [[7]])[0]
    assert noun.modifiers[0].text == "warm"
