from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest
from typer.testing import Result

from cc_hf.cli.main import with_flags
from cc_hf.errors import InputError
from tests.helpers.command_line import invoke
from tests.studies.disambiguation_bias.corpus import LEXICON, SENTENCES, write_corpus


def cc_hf(*arguments: str) -> Result:
    return invoke(*arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a corpus and a lexicon, and make their folder the current one."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path)
    lexicon = {
        word: {name: {"senses": cluster.senses} for name, cluster in clusters.items()}
        for word, clusters in LEXICON.homographs.items()
    }
    (tmp_path / "lexicon.json").write_text(json.dumps(lexicon), encoding="utf-8")
    return tmp_path


def test_from_a_corpus_to_the_bias_of_sentences(folder: Path) -> None:
    options = ("--lexicon", "lexicon.json")
    result = cc_hf(
        "study", "disambiguation_bias", "tag", "a.en", "a.de", "--pairs", "pairs.jsonl", *options
    )
    assert result.exit_code == 0, result.output
    assert "pairs with a known sense" in result.output
    assert "signature: tag|corpus:" in result.output
    result = cc_hf("study disambiguation_bias attractors pairs.jsonl --table table.json", *options)
    assert result.exit_code == 0, result.output
    assert "Schläger, Schlägern" in result.output
    assert "signature: bias|corpus:" in result.output
    shown = cc_hf(
        *(
            "study",
            "disambiguation_bias",
            "attractors",
            "table.json",
            *options,
            "--json",
            "--top",
            "1",
        ),
        *("--homograph", "spring", "--association", "ppmi"),
    )
    figures = json.loads(shown.stdout)
    assert figures["n_pairs"] == {"spring": {"1": 1, "2": 1}}
    assert len(figures["strongest"]["spring"]["1"]) == 1
    result = cc_hf(
        "study", "disambiguation_bias", "score", "table.json", "pairs.jsonl", "--rows", "rows.jsonl"
    )
    assert result.exit_code == 0, result.output
    assert "largest freq bias" in result.output
    assert len(Path("rows.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    shown = cc_hf(
        "study disambiguation_bias score table.json pairs.jsonl --json --association ppmi"
    )
    assert set(json.loads(shown.stdout)["means"]) == {"ppmi"}


def test_a_dataset_is_tagged_like_files(folder: Path) -> None:
    options = ("--lexicon", "lexicon.json", "--json")
    files = cc_hf(
        "study", "disambiguation_bias", "tag", "a.en", "a.de", "--pairs", "files.jsonl", *options
    )
    rows = [{"x": {"a": source, "b": reference}} for source, reference in SENTENCES]
    datasets.Dataset.from_list(rows).save_to_disk("saved")
    command = (
        "study",
        "disambiguation_bias",
        "tag",
        "saved",
        "--columns",
        "x.a,x.b",
        "--pairs",
        "dataset.jsonl",
        *options,
    )
    for extra in ((), ("--streaming",)):
        result = cc_hf(*command, *extra)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout) == json.loads(files.stdout)
        assert Path("dataset.jsonl").read_bytes() == Path("files.jsonl").read_bytes()


def test_commands_refuse_what_does_not_fit(folder: Path) -> None:
    lexicon = ("--lexicon", "lexicon.json")
    tag = ("study", "disambiguation_bias", "tag", "--pairs", "pairs.jsonl", *lexicon)
    Path("short.de").write_text("Eins.\n", encoding="utf-8")
    assert cc_hf(*tag, "a.en", "a.de").exit_code == 0
    attractors = cc_hf(
        "study disambiguation_bias attractors pairs.jsonl --table table.json", *lexicon
    )
    assert attractors.exit_code == 0
    for command, message in (
        ((*tag, "a.en", "short.de"), "expected as many lines in both files, got 7 and 1"),
        ((*tag, "a.en"), "expected two text files"),
        ((*tag, "a", "b", "c"), "expected two files or one dataset, got a, b, c"),
        ((*tag, "a.en", "a.de", "--columns", "a,b"), "expected one dataset with --config"),
        ((*tag, "saved", "--columns", "a"), "--columns: expected two names"),
        ((*tag, "a.en", "a.de", "--held-out", "0.2"), "--held-out: expected a share"),
        ((*tag, "a.en", "a.de", "--homograph", "cat"), "unknown homograph 'cat'"),
        ((*tag, "a.en", "a.de", "--aligner", "x"), "unknown aligner 'x'"),
        (
            (
                "study",
                "disambiguation_bias",
                "attractors",
                "table.json",
                *lexicon,
                "--stop-words",
                "a.en",
            ),
            "--stop-words: expected pairs (.jsonl) with stop words",
        ),
        (
            (
                "study",
                "disambiguation_bias",
                "attractors",
                "table.json",
                *lexicon,
                "--homograph",
                "x",
            ),
            "unknown homograph",
        ),
        (
            ("study", "disambiguation_bias", "score", "table.json", "a.en"),
            "a.en: line 1: expected a JSON object",
        ),
    ):
        result = cc_hf(*command)
        assert isinstance(result.exception, InputError), command
        assert message in with_flags(str(result.exception), command), command
