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

from cc_hf import evaluate, load_evaluator, load_material, registry
from cc_hf.errors import CCError
from cc_hf.evaluation.judging import module_figures
from cc_hf.metrics.base import Metric
from cc_hf.plugins.leaderboard.live import SentenceJudge
from tests.fuzz.binary import damage, run_convert_case, run_table_case
from tests.fuzz.commands import BASES, run_command
from tests.fuzz.servers import run_requests_case, run_server_case
from tests.helpers.metric_rows import row
from tests.helpers.metrics import metric_class
from tests.helpers.workbooks import write_workbook

#: One valid reference of each metric; the drawn cases change some of it.
ROWS: dict[str, dict[str, Any]] = {
    n: {**dict.fromkeys(metric_class(n).reference_fields, ""), **row(n, 0, is_right=True)[1]}
    for n in registry.METRICS
}
TRANSLATIONS = ("Die Köchin ging.", "Der Koch ging.", "Sie ist Ärztin.", "")


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
    doors: dict[str, Callable[..., None]] = {
        **{"metric": _metric, "files": _files, "cache": _cache, "model": _model},
        **{"rows": _rows, "table": _table, "sentence": _sentence, "parts": run_table_case},
        **{"convert": run_convert_case, "server": run_server_case, "requests": run_requests_case},
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
    try:
        run_command(*args)
    finally:
        changed = [path.name for path, data in given.items() if path.read_bytes() != data]
        if changed:
            raise AssertionError(f"{shlex.join(args)} changed {changed}")


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
    damage(path, case)
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
        damage(path, case)
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
    damage(path, case)
    evaluator = load_evaluator(copied, mode="exact")
    scores = evaluator.mean_logprobs(["The doctor asked."] * 2, ["Der Arzt.", "Die Ärztin."])
    if not np.isfinite(scores).all():
        raise AssertionError(f"a damaged model gave {scores}")
