"""Run one random case at an entry point.

A case is JSON, so that it can be kept in `corpus.jsonl`. Values that JSON lacks are written as
{"!": KIND, "of": ...} and made by `materialise`.
"""

from __future__ import annotations

import copy
import csv
import os
import shlex
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from cc_hf import evaluate, load_evaluator, load_material, registry
from cc_hf.cli.main import app
from cc_hf.errors import CCError, InputError
from cc_hf.evaluation.judging import module_figures
from cc_hf.leaderboard.live import SentenceJudge
from cc_hf.metrics.base import Metric
from tests.helpers.contract_cases import study_cases, study_commands
from tests.helpers.metric_rows import row
from tests.helpers.metrics import metric_class
from tests.helpers.usual import small_result
from tests.helpers.workbooks import write_workbook

#: One valid reference of each metric; the drawn cases change some of it.
ROWS: dict[str, dict[str, Any]] = {
    n: {**dict.fromkeys(metric_class(n).reference_fields, ""), **row(n, 0, is_right=True)[1]}
    for n in registry.METRICS
}
TRANSLATIONS = ("Die Köchin ging.", "Der Koch ging.", "Sie ist Ärztin.", "")


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


def rows_of(metric: str, n: int) -> list[dict[str, Any]]:
    """Return `n` valid references of a metric, an even number: two rows make a pair."""
    rows = [copy.deepcopy(ROWS[metric]) for _ in range(n)]
    if metric.startswith("gender"):
        for i, row in enumerate(rows):
            row.update(pair=str(i // 2), gender="male" if i % 2 else "female")
    return rows


def materialise(value: Any) -> Any:
    """Return the value that a JSON value of a case stands for."""
    if isinstance(value, list):
        return [materialise(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "!" not in value:
        return {key: materialise(item) for key, item in value.items()}
    inner = materialise(value["of"])
    makers: dict[str, Callable[[], Any]] = {
        "tuple": lambda: tuple(inner),
        "set": lambda: {item for item in inner if item.__hash__},
        "generator": lambda: (item for item in inner),
        "series": lambda: pd.Series(inner, index=range(len(inner))[::-1], dtype=object),
        "array": lambda: np.array(inner, dtype=object),
        "bytes": lambda: str(inner).encode("utf-8", "replace"),
        "digits": lambda: 10 ** int(inner),
        "deep": lambda: _nested(int(inner)),
        "int64": lambda: np.int64(inner),
        "function": lambda: lambda sources, translations: [inner] * len(sources),
        "raising": lambda: _raising,
    }
    return makers[value["!"]]()


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _raising(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    raise ZeroDivisionError(f"no score for {len(sources)} pairs")


@contextmanager
def _within(folder: Path) -> Iterator[None]:
    """Make a folder the current one, since options may name any file."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run_case(case: dict[str, Any], folder: Path, model: Path | None = None) -> str:
    """Run a case in an empty folder and return "result" or the class of the CCError.

    Any other exception passes through.
    """
    doors = {
        **{"metric": _metric, "files": _files, "cache": _cache, "model": _model},
        **{"rows": _rows, "table": _table, "sentence": _sentence},
    }
    with warnings.catch_warnings(), _within(folder):
        warnings.simplefilter("ignore", UserWarning)
        try:
            doors[case["door"]](copy.deepcopy(case), folder, model)
        except CCError as error:
            str(error).encode("utf-8")  # a message that cannot be encoded would hide the error
            return type(error).__name__
    return "result"


def _metric(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    declaration: type[Metric] = registry.resolve("metric", case["metric"])
    options = {name: materialise(value) for name, value in case["options"].items()}
    given = materialise(case["predictions"]) if declaration.takes_translations else None
    module_figures(declaration, given, materialise(case["references"]), options)


def _files(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Run a command on files, which must be the same afterwards."""
    given = {}
    for name in {*BASES} & {*case["command"]}:
        content = case["files"].get(name, BASES[name])
        text = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else None
        given[folder / name] = bytes(content) if text is None else text
        (folder / name).write_bytes(given[folder / name])
    words = case["command"]
    words = words[: words.index("<")] if "<" in words else words
    places = {"MODEL": str(model), ".": str(folder)}
    is_file = {word for word in words if word in BASES or word.startswith("OUT")}
    args = [str(folder / word) if word in is_file else places.get(word, word) for word in words]
    result = CliRunner().invoke(app, args)
    changed = [path.name for path, data in given.items() if path.read_bytes() != data]
    if changed:
        raise AssertionError(f"{shlex.join(args)} changed {changed}")
    if isinstance(result.exception, SystemExit):
        raise InputError(result.output)
    if result.exception is not None:
        raise result.exception


def _rows(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Judge rows in memory."""
    rows = materialise(case["rows"])
    material = load_material(rows, **{k: materialise(v) for k, v in case["options"].items()})
    translations = materialise(case["translations"])
    evaluate(material, translations=translations, evaluator=lambda s, t: [0.5] * len(s))


def _table(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Judge rows of a workbook or a Parquet file that is damaged."""
    path = folder / f"rows.{case['kind']}"
    header, *rows = csv.reader(BASES["custom.csv"].splitlines())
    if case["kind"] == "xlsx":
        write_workbook(path, header, *rows)
    else:
        pd.DataFrame(rows, columns=header).to_parquet(path)
    _damage(path, case)
    translations = ["Das Holz war alt.", "Eine Fledermaus schlief."]
    evaluator = lambda s, t: [0.5] * len(s)  # noqa: E731
    evaluate(load_material(path), translations=translations, evaluator=evaluator)


def _sentence(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Judge a visitor's sentence, as the live page does."""
    judge = SentenceJudge(load_evaluator(str(model), cache=False))
    texts = {name: materialise(value) for name, value in case["texts"].items()}
    judge.judge(**texts)


def _cache(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Score, damage the cache and score again: the scores must be right, or the damage reported."""
    path = folder / "scores.sqlite"
    pairs = ["The bat.", "A cook."], ["Der Koch.", "Die Köchin."]
    first = load_evaluator(str(model), cache=path).mean_logprobs(*pairs)
    if case["statement"]:
        with sqlite3.connect(path) as connection:
            connection.execute(case["statement"], [materialise(v) for v in case["values"]])
        connection.close()
    else:
        _damage(path, case)
    second = load_evaluator(str(model), cache=path).mean_logprobs(*pairs)
    if not np.isfinite(second).all() or (second > 1e-6).any():
        raise AssertionError(f"scores from a damaged cache: {first} became {second}")


def _model(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Damage one file of a model, then load it and score with it."""
    if model is None:
        raise ValueError("expected a model")
    copied = folder / "model"
    shutil.copytree(model, copied)
    files = sorted(path for path in copied.iterdir() if path.is_file())
    path = files[case["file"] % len(files)]
    _damage(path, case)
    evaluator = load_evaluator(copied, mode="exact")
    scores = evaluator.mean_logprobs(["The doctor asked."] * 2, ["Der Arzt.", "Die Ärztin."])
    if not np.isfinite(scores).all():
        raise AssertionError(f"a damaged model gave {scores}")


def _damage(path: Path, case: dict[str, Any]) -> None:
    """Cut a file where the case says so, and replace bytes."""
    data = bytearray(path.read_bytes())
    if case.get("cut") is not None:
        data = data[: case["cut"] % (len(data) + 1)]
    for place, byte in case["bytes"] if data else []:
        data[place % len(data)] = byte
    path.write_bytes(data)
