"""Run one random case at an entry point.

A case is JSON, so that it can be kept in `corpus.jsonl`. Values that JSON lacks are written as
{"!": KIND, "of": ...} and made by `materialise`.
"""

import copy
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from cc_hf import load_evaluator, registry
from cc_hf.cli.main import app
from cc_hf.errors import CCError, InputError
from cc_hf.evaluation.judging import module_figures
from cc_hf.metrics.base import Metric
from tests.helpers.contract_cases import study_cases, study_commands
from tests.helpers.metric_rows import row
from tests.helpers.metrics import metric_class

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

#: Command lines over these files; names in capitals stand for folders and files that are written.
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


def run_case(case: dict[str, Any], folder: Path, model: Path | None = None) -> str:
    """Run a case in an empty folder and return "result" or the class of the CCError.

    Any other exception passes through.
    """
    doors = {"metric": _metric, "files": _files, "cache": _cache, "model": _model}
    with warnings.catch_warnings():
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
    for name in {*BASES} & {*case["command"]}:
        content = case["files"].get(name, BASES[name])
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else None
        (folder / name).write_bytes(bytes(content) if data is None else data)
    files = [word for word in case["command"] if word in BASES or word.startswith("OUT")]
    args = [str(folder / word) if word in files else word for word in case["command"]]
    result = CliRunner().invoke(app, args)
    if isinstance(result.exception, SystemExit):
        raise InputError(result.output)
    if result.exception is not None:
        raise result.exception


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
        data = bytearray(path.read_bytes())
        for place, byte in case["bytes"]:
            data[place % len(data)] = byte
        path.write_bytes(data)
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
    data = bytearray(path.read_bytes())
    if case["cut"] is not None:
        data = data[: case["cut"] % (len(data) + 1)]
    for place, byte in case["bytes"] if data else []:
        data[place % len(data)] = byte
    path.write_bytes(data)
    evaluator = load_evaluator(copied, mode="exact")
    scores = evaluator.mean_logprobs(["The doctor asked."] * 2, ["Der Arzt.", "Die Ärztin."])
    if not np.isfinite(scores).all():
        raise AssertionError(f"a damaged model gave {scores}")
