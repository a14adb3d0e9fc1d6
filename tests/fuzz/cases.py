"""Strategies of hypothesis that draw the cases which `tests.fuzz.doors` runs."""

import copy
import functools
from math import inf, nan
from typing import Any

import typer
from hypothesis import strategies as st

from cc_hf.cli.main import app
from tests.fuzz.binary import convert_cases, places_and_bytes, table_cases
from tests.fuzz.commands import BASES, COMMANDS
from tests.fuzz.doors import ROWS, TRANSLATIONS, rows_of
from tests.fuzz.servers import request_cases, server_cases
from tests.helpers.metric_rows import LANGUAGES

_ODD = [
    *("", " ", "\n", "\x00", "\x1b[31m", "\ud800", "ı", "e\u0301", "\u202e", "\ufeff", "a" * 5000),
    *("|||", "../../x", "«»", "none", "{x}", "<b>", "NaN", "-", "null"),
]
_texts = st.sampled_from([*_ODD, *TRANSLATIONS]) | st.text(max_size=12)
_numbers = st.sampled_from([0, -1, 1, 2, 10**30, 0.5, -0.0, 1e308, nan, inf, True])
_TAGS: dict[str, list[Any]] = {
    **{"digits": [5000], "deep": [2000], "bytes": ["x"], "set": [["a"]], "tuple": [["a", "b"]]},
    **{"generator": [["a"]], "int64": [3], "function": [1e308, "x"], "raising": [0]},
}
_values = [{"!": kind, "of": value} for kind, of in _TAGS.items() for value in of]
_tagged = st.sampled_from(_values).map(copy.deepcopy)
_lists = st.lists(_texts | _numbers, max_size=3)
_junk: st.SearchStrategy[Any] = st.none() | _texts | _numbers | _tagged | _lists | st.builds(dict)


@st.composite
def _held(draw: st.DrawFn, values: list[Any]) -> Any:
    """Draw what holds the values: mostly a list."""
    kind = draw(st.sampled_from([*["list"] * 3, "tuple", "set", "generator", "series", "array"]))
    return values if kind == "list" else {"!": kind, "of": values}


@st.composite
def _metric_cases(draw: st.DrawFn) -> dict[str, Any]:
    metric = draw(st.sampled_from(sorted(ROWS)))
    n = draw(st.sampled_from([2, 4]))
    references: list[Any] = list(rows_of(metric, n))
    predictions: list[Any] = [draw(st.sampled_from(TRANSLATIONS)) for _ in range(n)]
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.integers(0, n - 1))
        match draw(st.sampled_from(["value", "value", "drop", "reference", "prediction", "text"])):
            case "value" if isinstance(references[row], dict):
                references[row][draw(st.sampled_from(sorted(ROWS[metric])))] = draw(_junk)
            case "text" if isinstance(references[row], dict):
                references[row][draw(st.sampled_from(sorted(ROWS[metric])))] = draw(_texts)
            case "drop" if isinstance(references[row], dict):
                references[row].pop(draw(st.sampled_from(sorted(ROWS[metric]))), None)
            case "reference":
                references[row] = draw(_junk)
            case _:
                predictions[row] = draw(_junk)
    tgt_lang = LANGUAGES.get(metric, "de")
    options: dict[str, Any] = {"src_lang": "en", "tgt_lang": tgt_lang, "n_resamples": 20}
    if metric.startswith("contrastive"):
        function: dict[str, Any] = {"!": "function", "of": 0.5}
        options["evaluator"] = draw(st.just(function) | st.just(function) | _junk)
    names = ["src_lang", "tgt_lang", "seed", "n_resamples"]
    if metric.startswith("contrastive"):
        names += ["score", "batch_tokens", "mode", "cache", "kind", "device", "revision"]
        names += ["on_too_long"]
    for name in draw(st.lists(st.sampled_from(names), max_size=2)):
        small = _junk.filter(lambda value: not (isinstance(value, int) and value > 10**4))
        options[name] = draw(small)
    held = {"predictions": draw(_held(predictions)), "references": draw(_held(references))}
    return {"door": "metric", "metric": metric, "options": options, **held}


@st.composite
def _file_cases(draw: st.DrawFn) -> dict[str, Any]:
    command = list(draw(st.sampled_from(COMMANDS)))
    files: dict[str, str | list[int]] = {}
    known = st.sampled_from([word for word in command if word in BASES])
    for name in draw(st.lists(known, min_size=1, max_size=2)):
        text = BASES[name]
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, len(text)))
            end = draw(st.integers(start, min(len(text), start + 20)))
            text = text[:start] + draw(_pieces) + text[end:]
        data = text.encode("utf-8", "surrogatepass")
        if draw(st.integers(0, 3)):
            files[name] = text
        else:
            position = draw(st.integers(0, len(data)))
            byte = bytes([draw(st.integers(0, 255))])
            files[name] = list(data[:position] + byte + data[position:])
    return {"door": "files", "command": command, "files": files}


@st.composite
def _option_cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a command whose words are others, or more, also files that it reads as its output."""
    command = list(draw(st.sampled_from(COMMANDS)))
    end = command.index("<") if "<" in command else len(command)
    words, others = command[:end], command[end:]
    for _ in range(draw(st.integers(1, 2))):
        match draw(st.sampled_from(["value", "value", "option", "option", "drop", "output"])):
            case "value":
                words[draw(st.integers(1, len(words) - 1))] = draw(_words)
            case "option":
                words += [draw(st.sampled_from(_flags(words[0]))), draw(_words)]
            case "drop":
                del words[draw(st.integers(1, len(words) - 1))]
            case _:
                of_output = [n for n, word in enumerate(words) if word.startswith("OUT")]
                named = [word for word in command if word in BASES]
                for n in of_output:
                    words[n] = draw(st.sampled_from(named))
        if len(words) < 2:
            break
    return {"door": "files", "command": words + others, "files": {}}


# The text of a blank line as long as this took quadratic time once.
_LONG = [" " * 100_000, "a" * 100_000, "a " * 50_000, "\u200b" * 50_000, "[" * 50_000]
_COUNTS = ["0", "-1", "1", "2", "1e3", "1_0", "٢", "nan", "inf", "0x10", "9" * 5000, "1.5"]
# Options by which a command serves a page, sends files, or computes on another machine or for long.
_NOT_DRAWN = {"--yes", "--server", "--port", "--host", "--by", "--help", "--help-all", "--clear"}


@functools.cache
def _flags(verb: str) -> list[str]:
    """Return the options of a command, and of those below it."""
    program: Any = typer.main.get_command(app)
    context = typer.Context(program)
    pending, flags = [program.get_command(context, verb)], {"--seed", "--limit"}
    while pending:
        command = pending.pop()
        loaded = getattr(command, "loaded", command)
        flags.update(flag for param in loaded.params for flag in param.opts)
        pending += getattr(loaded, "commands", {}).values()
    return sorted(flag for flag in flags - _NOT_DRAWN if flag.startswith("-"))


_words = st.sampled_from([*_COUNTS, *_ODD, "OUT", "de", "en-de", "a=b", "x=1", "cpu", "MODEL"])


@st.composite
def _row_cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw rows in memory of which some are none."""
    row = {
        "source": "The bat was old.",
        "focus": "bat",
        "correct_cues": ["wooden"],
        "incorrect_cues": ["flying"],
        "category": "sport",
        "tgt_lang": "de",
    }
    rows: list[Any] = [dict(row) for _ in range(2)]
    translations: list[Any] = ["Alt.", "Holz."]
    options: dict[str, Any] = {}
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, 1))
        match draw(st.sampled_from(["value", "value", "value", "row", "translation", "option"])):
            case "value" if isinstance(rows[number], dict):
                rows[number][draw(st.sampled_from([*row, "src_lang", "id", "x"]))] = draw(_junk)
            case "row":
                rows[number] = draw(_junk)
            case "option":
                name = draw(st.sampled_from(["limit", "tgt_lang", "config", "cues"]))
                options[name] = draw(_junk)
            case _:
                translations[number] = draw(_junk)
    held = {"rows": draw(_held(rows)), "translations": draw(_held(translations))}
    return {"door": "rows", "options": options, **held}


@st.composite
def _table_cases(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["xlsx", "parquet"]))
    cut = draw(st.none() | st.integers(0, 10**5))
    return {"door": "table", "kind": kind, "cut": cut, "bytes": draw(places_and_bytes(4))}


@st.composite
def _sentence_cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what a visitor sends to the live page."""
    texts: dict[str, Any] = {
        "source": "The doctor left.",
        "focus": "doctor",
        "translation": "Die Ärztin ging.",
        "gender": "female",
    }
    names = [*texts, "correct_cues", "incorrect_cues", "placement"]
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)):
        texts[name] = draw(_texts | st.sampled_from(_LONG))
    if draw(st.booleans()):
        texts["occurrence"] = draw(st.sampled_from([None, 0, -1, 1, 2, 10**30]))
    return {"door": "sentence", "texts": texts}


_pieces = st.sampled_from(
    [
        *(*_ODD, *_LONG, "\t", "\r", "\n\n", "9" * 5000, "[" * 3000, " ||| ", "\t|||\t"),
        *('"', "'", ",", "\\ud800", '"\\ud800"', "-1", "1e999", "true", "{}", "[]", "\\", "#"),
        '{"id": 1, "id": 2}',
    ]
) | st.text(max_size=8)


@st.composite
def _cache_cases(draw: st.DrawFn) -> dict[str, Any]:
    columns = ("sum_logprob", "n_tokens", "mean_probability")
    statements = [
        *(f"UPDATE scores SET {column} = ?" for column in columns),
        "UPDATE identities SET identity = ?",
        "",
        "DELETE FROM identities WHERE ? IS NOT NULL",
    ]
    statement = draw(st.sampled_from(statements))
    bytes_of = {"!": "bytes", "of": "x"}
    values = st.sampled_from([0, -1, 5, 0.5, 2.5, -1e9, "x", "", 1e308, inf, bytes_of])
    changes = {"values": [draw(values)] if statement else [], "bytes": draw(places_and_bytes(20))}
    return {"door": "cache", "statement": statement, **changes}


@st.composite
def _model_cases(draw: st.DrawFn) -> dict[str, Any]:
    cut = draw(st.none() | st.integers(0, 10**5))
    return {
        "door": "model",
        "file": draw(st.integers(0, 20)),
        "cut": cut,
        "bytes": draw(places_and_bytes(4)),
    }


#: What is drawn at each door.
STRATEGIES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "metric": _metric_cases(),
    "files": _file_cases(),
    "options": _option_cases(),
    "rows": _row_cases(),
    "table": _table_cases(),
    "sentence": _sentence_cases(),
    "cache": _cache_cases(),
    "model": _model_cases(),
    "convert": convert_cases(),
    "parts": table_cases(),
    "server": server_cases(),
    "requests": request_cases(),
}
