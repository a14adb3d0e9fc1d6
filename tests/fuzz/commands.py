"""Command lines over small valid files, which cases change, and how one is run."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from cc_hf.cli.main import app
from cc_hf.errors import InputError
from tests.helpers.contract_cases import study_cases, study_commands
from tests.helpers.usual import small_result

#: Valid contents of each kind of file.
BASES: dict[str, str] = {
    path.name: path.read_text("utf-8") for path in Path(__file__).with_name("files").iterdir()
}
BASES |= {n: t for of in study_cases().values() for c in of.forged for n, t in c.files.items()}

BASES |= {
    name: small_result(accuracies, dataset="simplegen", config="en-de").to_json()
    for name, accuracies in {"board.json": (0.4, 0.9), "second.json": (0.5, 0.7)}.items()
}

_JUDGED = ("--evaluator", "MODEL", "--cache", "no", "--translations", "translations.txt")
_BY_PRONOUNS = ("--reading", "pronouns", "-l", "en-de", "--evaluator", "MODEL", "--cache", "no")
_TRANSLATED = ("-l", "en-de", "--system", "MODEL", "--num-beams", "2")
_CUES = ("--candidates", "candidates.json", "--evaluator", "MODEL")
_BOARD = ("<", "board.json", "second.json")
_SHEETS = ("build", "sheets", "board.json", "--metric", "contrastive_conditioning", "--n", "4")
#: Command lines over these files. Names that begin with OUT stand for files and folders that are
#: written, MODEL for a tiny model, "." for the folder; names after "<" for more files in it.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("evaluate", "custom.csv", "--translations", "translations.txt", "--output", "OUT.json"),
    ("evaluate", "custom.tsv", "--translations", "translations.jsonl", "--metric", "all"),
    ("evaluate", "custom.csv", "--translations", "translations.pairs.txt"),
    ("evaluate", "custom.jsonl", "-l", "en-de", "--translations", "one_line.txt"),
    ("compare", "result.json", "other.json", "--output", "OUT.json"),
    ("compare", "results.json", "result.json"),
    ("report", "result.json", "--html", "OUT.html", "--markdown", "OUT.md", "--latex", "OUT.tex"),
    ("report", "result.json", "other.json", "--bleu", "bleu.tsv", "--html", "OUT.html"),
    ("report", "results.json", "--bleu", "bleu.json", "--plots", "OUT"),
    ("report", "result.json", "--labels", "annotations.jsonl", "--html", "OUT.html"),
    ("compare", "--by", "rater", "result.json", "--labels", "annotations.jsonl"),
    ("build", "custom.csv", "--output", "OUT"),
    ("build", "custom.jsonl", "--output", "OUT"),
    ("publish", "dataset", "custom.csv", "--repo", "me/bats"),
    ("explain", "custom.csv", "--id", "0", "--translation", "Alt."),
    ("evaluate", "custom.csv", *_JUDGED, "--output", "OUT.json"),
    ("explain", "custom.csv", "--id", "0", "--translation", "Alt.", "--evaluator", "MODEL"),
    ("sources", "custom.tsv", "--output", "OUT.jsonl"),
    ("translate", "open.txt", "-l", "en-de", "--system", "MODEL", "--num-beams", "1", "-o", "OUT"),
    ("rerank", "custom.csv", "--nbest", "lists.txt", "--best", "OUT.txt", *_JUDGED[:4]),
    ("rerank", "pronouns.txt", "--nbest", "lists.txt", "--best", "OUT.txt", *_BY_PRONOUNS),
    ("alternatives", "open.txt", *_TRANSLATED, "--evaluator", "MODEL", "--n-best", "2"),
    ("translate", "open.txt", *_TRANSLATED, "-o", "OUT", "--nbest", "2"),
    ("cues", "build", "words.csv", *_CUES, "--compare", "cues.jsonl", "--examples", "OUT.jsonl"),
    ("ask", "run.replies.jsonl", "--output", "OUT.json"),
    ("score", "translations.txt", "--references", "references.txt"),
    ("score", "translations.txt", "--references", "references.txt", "--output", "OUT.json"),
    ("score", "segments.tsv", "--output", "OUT.json"),
    ("ask", "choices.jsonl", "--shots", "0", "--replies", "replies.jsonl", "--output", "OUT.json"),
    ("ask", "choices.jsonl", "--shots", "0", "--prompts", "OUT.jsonl"),
    ("compare", "board.json", "second.json", "--right-alone"),
    ("compare", "--by", "seed", "board.json", "second.json", "--table", "OUT.tsv"),
    (*_SHEETS, "--key", "OUT.json", "--output", "OUT"),
    ("leaderboard", ".", "--static", "OUT", *_BOARD),
    ("publish", "leaderboard", ".", "--repo", "me/board", "--output", "OUT", *_BOARD),
    ("publish", "results", "board.json", "--repo", "me/model", "--dataset-repo", "me/data"),
    *study_commands(lambda cases: [command.words for command in cases.forged]),
)


def run_command(*args: str) -> str:
    """Run a command and return what it printed.

    Raises:
        InputError: if it ended with an error of the package; the message is what it printed.
    """
    result = CliRunner().invoke(app, args)
    if isinstance(result.exception, SystemExit):
        raise InputError(result.output)
    if result.exception is not None:
        raise result.exception
    return result.output
