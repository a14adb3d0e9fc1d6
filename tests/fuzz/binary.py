"""Binary files that users pass on: checkpoints to convert, parts of scores, tallies of verdicts."""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import torch
from hypothesis import strategies as st

from cc_hf import load_evaluator
from cc_hf.errors import CCError
from cc_hf.plugins.scale.row_streams import RowStream
from cc_hf.plugins.scale.streaming import JudgedStream, judge_stream
from tests.fuzz.commands import BASES, run_command
from tests.fuzz.kept import forged_value
from tests.helpers.fairseq_models import save_fairseq

_CUTS = st.none() | st.none() | st.integers(0, 10**5)


def places_and_bytes(most: int) -> st.SearchStrategy[list[list[int]]]:
    """Draw places and what stands there."""
    return st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)).map(list), max_size=most)


def damage(path: Path, case: Mapping[str, Any]) -> None:
    """Cut a file where the case says so, and replace bytes."""
    data = bytearray(path.read_bytes())
    if case.get("cut") is not None:
        data = data[: case["cut"] % (len(data) + 1)]
    for position, byte in case["bytes"] if data else []:
        data[position % len(data)] = byte
    path.write_bytes(data)


class _Hostile:
    """Runs a command when it is unpickled without restrictions."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@functools.cache
def _fairseq() -> tempfile.TemporaryDirectory[str]:
    """Return a valid folder of fairseq, which is deleted at the end of the process."""
    folder = tempfile.TemporaryDirectory()
    save_fairseq(Path(folder.name))
    return folder


def run_convert_case(case: dict[str, Any], folder: Path, *_: object) -> None:
    """Convert checkpoints of fairseq of which something is wrong. Nothing in them is run, and a
    folder appears only when it is complete.
    """
    given, output, marker = folder / "fairseq", folder / "OUT", folder / "marker"
    shutil.copytree(_fairseq().name, given)
    match case["kind"]:
        case "bytes":
            files = sorted(given.iterdir())
            damage(files[case["file"] % len(files)], case)
        case "text":
            path = given / case["name"]
            text = path.read_text(encoding="utf-8")
            start = case["start"] % (len(text) + 1)
            text = text[:start] + case["text"] + text[start + case["n"] :]
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        case _:
            saved = torch.load(given / "model1.pt", weights_only=False)  # our own
            _change(saved, case, marker)
            is_zip = case["is_zip"]
            torch.save(saved, given / "model1.pt", _use_new_zipfile_serialization=is_zip)
    try:
        run_command("convert", str(given), "--output", str(output))
    except CCError:
        if output.exists():
            raise AssertionError("the conversion failed, and left a folder") from None
        raise
    finally:
        if marker.exists():
            raise AssertionError("a program in the checkpoint was run")
    evaluator = load_evaluator(output / "model1", cache=False, mode="exact")
    evaluator.mean_logprobs(["ab"], ["ba"])


def _change(saved: dict[str, Any], case: Mapping[str, Any], marker: Path) -> None:
    """Change an option or a weight of a checkpoint, or put in what would run a program."""
    options, weights = vars(saved["args"]), saved["model"]
    match case["kind"]:
        case "option":
            options[sorted(options)[case["file"] % len(options)]] = case["value"]
        case "weight":
            name = sorted(weights)[case["file"] % len(weights)]
            weight = weights.pop(name)
            changes: dict[str, Callable[[], Any]] = {
                "nan": lambda: weight * float("nan"),
                "half": lambda: weight.half(),
                "int": lambda: weight.long(),
                "flat": lambda: weight.flatten(),
                "short": lambda: weight[:-1],
                "empty": lambda: weight[:0],
                "wide": lambda: weight.unsqueeze(0),
                "sparse": lambda: weight.to_sparse(),
                "list": lambda: [1.0],
            }
            if case["change"] != "absent":
                weights[name] = changes[case["change"]]()
        case _:
            functions = {
                "os.system": _Hostile(os.system, f"touch {marker}"),
                "open": _Hostile(open, str(marker), "w"),
                "exec": _Hostile(exec, f"open({str(marker)!r}, 'w')"),
                "getattr": _Hostile(getattr, "", "format"),
                "mkdir": _Hostile(Path.mkdir, marker),
                "namespace": _Hostile(argparse.Namespace, *[1] * 3),
                "load": _Hostile(torch.load, str(marker)),
            }
            holder = {"args": options, "model": weights}.get(case["place"], saved)
            holder[case["key"]] = functions[case["function"]]


_texts = st.sampled_from(
    [
        *("", " ", "\n", "\n\n", "\x00", "\ud800", "ı 1\n", "a 1\n", "a b 1\n", "x 1\n" * 3),
        *(
            "x -1\n",
            "x 1.5\n",
            "x 1e999\n",
            "x " + "9" * 5000 + "\n",
            "\ufeff",
            "<s> 1\n",
            "</s> 1\n",
        ),
        *(
            "x\n",
            " 1\n",
            "x 1 #fairseq:overwrite\n",
            "a" * 5000,
            "t h\n",
            "\u2028",
            "\r\n",
            "t h 9 9\n",
        ),
    ]
)
_values: st.SearchStrategy[Any] = st.sampled_from(
    [None, -1, 0, 1, 3, 10**30, 0.5, "", "x", "a\x00", [], {}, True, "\ud800"]
)
_FUNCTIONS = ("os.system", "open", "exec", "getattr", "mkdir", "namespace", "load")
_CHANGES = ("nan", "half", "int", "flat", "short", "empty", "wide", "sparse", "list", "absent")


def convert_cases() -> st.SearchStrategy[dict[str, Any]]:
    """Draw what is wrong in a folder of fairseq."""
    number = st.integers(0, 200)
    kinds: list[dict[str, st.SearchStrategy[Any]]] = [
        {
            "kind": st.just("bytes"),
            "file": st.integers(0, 3),
            "cut": _CUTS,
            "bytes": places_and_bytes(4),
        },
        {
            "kind": st.just("text"),
            "name": st.sampled_from(["dict.en.txt", "dict.de.txt", "bpecodes"]),
            **{"start": st.integers(0, 10**4), "n": st.integers(0, 20), "text": _texts},
        },
        {"kind": st.just("option"), "file": number, "value": _values, "is_zip": st.booleans()},
        {
            **{"kind": st.just("weight"), "file": number, "is_zip": st.booleans()},
            "change": st.sampled_from(_CHANGES),
        },
        {
            **{"kind": st.just("pickle"), "is_zip": st.booleans()},
            "function": st.sampled_from(_FUNCTIONS),
            "place": st.sampled_from(["args", "model", "alone"]),
            "key": st.sampled_from(["x", "arch", "args", "model", "encoder.embed_tokens.weight"]),
        },
    ]
    door = {"door": st.just("convert")}
    return st.one_of([st.fixed_dictionaries({**door, **kind}) for kind in kinds])


#: Two pairs of the file of scores.
_PAIRS = (
    ["The wooden bat was old.", "A flying bat slept."],
    ["Das Holz war alt.", "Eine Fledermaus schlief."],
)
_ROW = {"source": "A bat.", "correct_sources": ["A wooden bat."], "incorrect_sources": ["A flying"]}


@functools.cache
def _written(kind: str, model: str) -> bytes:
    """Return a file of scores by the model, or one of verdicts."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "written.parquet")
        if kind == "tally":
            rows = [{**_ROW, "translation": text, "id": text} for text in ("Alt.", "Holz.", "Ja.")]
            stream = RowStream(rows, "en", "de")
            judge_stream(stream, evaluator=lambda s, t: [0.5] * len(s)).save(path)
            return path.read_bytes()
        for base in ("custom.csv", "translations.txt"):
            Path(name, base).write_text(BASES[base], encoding="utf-8")
        judged = ("--evaluator", model, "--part", "1/1", "--scores", str(path))
        translated = ("--translations", str(Path(name, "translations.txt")))
        run_command("evaluate", str(Path(name, "custom.csv")), *translated, *judged)
        return path.read_bytes()


def run_table_case(case: dict[str, Any], folder: Path, model: Path | None) -> None:
    """Take in a file of scores, or of verdicts, that is damaged or has other rows.

    A score that differs from the computed one is never taken in.
    """
    path, cache = folder / "given.parquet", folder / "scores.sqlite"
    path.write_bytes(_written(case["kind"], str(model)))
    damage(path, case)
    if case["change"]:
        _rewrite(path, case)
    if case["kind"] == "tally":
        JudgedStream.load(path).result()
        return
    try:
        run_command("cache", str(path), "--path", str(cache))
    finally:
        load = functools.partial(load_evaluator, str(model), src_lang="en", tgt_lang="de")
        computed = load(cache=False).mean_logprobs(*_PAIRS)
        scores = load(cache=cache).mean_logprobs(*_PAIRS)
        if not np.allclose(computed, scores, atol=1e-4):
            raise AssertionError(f"scores of a file: {scores}, computed: {computed}")


def _rewrite(path: Path, case: Mapping[str, Any]) -> None:
    """Change rows, columns, values or metadata of a Parquet file."""
    table = pyarrow.parquet.read_table(path)
    names, number = table.column_names, case["row"] % table.num_rows
    name = names[case["column"] % len(names)]
    column = table.column(name).combine_chunks()
    match case["change"]:
        case "drop":
            table = table.drop_columns([name])
        case "rename":
            table = table.rename_columns(["x" if n == name else n for n in names])
        case "reverse":
            table = table.take(list(range(table.num_rows))[::-1])
        case "twice":
            table = pyarrow.concat_tables([table, table.slice(number, 1)])
        case "none":
            table = table.slice(0, 0)
        case "metadata":
            about = json.loads((table.schema.metadata or {}).get(b"cc_hf", "{}"))
            forged = json.dumps(forged_value(about, random.Random(case["row"]))).encode()
            table = table.replace_schema_metadata({b"cc_hf": forged})
        case _:
            table = table.set_column(names.index(name), name, _changed(column, number, case))
    pyarrow.parquet.write_table(table, path)


def _changed(column: Any, number: int, case: Mapping[str, Any]) -> Any:
    """Return a column with another value in a row, or with texts in place of its values."""
    values = column.to_pylist()
    if case["change"] == "text":
        values = list(map(str, values))
    else:
        values[number] = case["value"] if case["change"] == "value" else None
    if pyarrow.types.is_dictionary(column.type):
        return pyarrow.array([v and str(v) for v in values], pyarrow.string()).dictionary_encode()
    try:
        return pyarrow.array(values, None if case["change"] == "text" else column.type)
    except (pyarrow.ArrowException, OverflowError):
        return pyarrow.array([case["value"]] * len(values))


def table_cases() -> st.SearchStrategy[dict[str, Any]]:
    """Draw how a file of scores or verdicts is damaged, or written anew with a change."""
    cells = st.sampled_from([None, -1, 0, 2**62, 0.5, -1e308, float("nan"), "", "x", "\x00", True])
    changes = ["drop", "rename", "reverse", "twice", "none", "metadata", "null", "value", "text"]
    cell = {"row": st.integers(0, 10**6), "column": st.integers(0, 20), "value": cells}
    door = {"door": st.just("parts"), "kind": st.sampled_from(["scores", "tally"])}
    whole: dict[str, st.SearchStrategy[Any]] = {
        "cut": st.none(),
        "bytes": st.just([]),
        "change": st.sampled_from(changes),
    }
    damaged: dict[str, st.SearchStrategy[Any]] = {
        "cut": _CUTS,
        "bytes": places_and_bytes(4),
        "change": st.just(""),
    }
    return st.one_of([st.fixed_dictionaries({**door, **of, **cell}) for of in (whole, damaged)])
