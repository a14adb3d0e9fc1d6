"""Random rows, options, files, caches and models: every outcome is a result or a CCError.

`CC_HF_FUZZ_EXAMPLES=100000 python -m pytest tests/fuzz -n 0` searches longer. A case that fails is
printed as JSON; add it to corpus.jsonl when its defect is fixed.
"""

import copy
import json
import os
import tempfile
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.fuzz.doors import BASES, COMMANDS, ROWS, TRANSLATIONS, rows_of, run_case
from tests.helpers.metric_rows import LANGUAGES
from tests.helpers.models import save_tiny_marian

_CORPUS = Path(__file__).with_name("corpus.jsonl")
_LONG = os.environ.get("CC_HF_FUZZ_EXAMPLES")
_SETTINGS = settings(
    max_examples=int(_LONG or 40),
    derandomize=not _LONG,
    deadline=None,
    database=None,
    # a long search reports a failure as found: shrinking it can take as long again
    phases=[Phase.generate] if _LONG else list(Phase),
    suppress_health_check=list(HealthCheck),
)

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
    containers = st.sampled_from([*["list"] * 3, "tuple", "set", "generator", "series", "array"])
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
    case = {"door": "metric", "metric": metric, "options": options}
    for name, rows in (("predictions", predictions), ("references", references)):
        kind = draw(containers)
        case[name] = rows if kind == "list" else {"!": kind, "of": rows}
    return case


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
        if draw(st.booleans()):
            files[name] = text
        else:
            place = draw(st.integers(0, len(data)))
            files[name] = list(data[:place] + bytes([draw(st.integers(0, 255))]) + data[place:])
    return {"door": "files", "command": command, "files": files}


_pieces = st.sampled_from(
    [
        *(*_ODD, "\t", "\r", "\n\n", "9" * 5000, "[" * 3000, " ||| ", "\t|||\t"),
        *('"', "'", ",", "\\ud800", '"\\ud800"', "-1", "1e999", "true", "{}", "[]", "\\", "#"),
        '{"id": 1, "id": 2}',
    ]
) | st.text(max_size=8)


@st.composite
def _cache_cases(draw: st.DrawFn) -> dict[str, Any]:
    columns = ("sum_logprob", "n_tokens", "mean_probability")
    statements = [f"UPDATE scores SET {column} = ?" for column in columns]
    statements += ["UPDATE identities SET identity = ?", ""]
    statements += ["DELETE FROM identities WHERE ? IS NOT NULL"]
    statement = draw(st.sampled_from(statements))
    bytes_of = {"!": "bytes", "of": "x"}
    values = st.sampled_from([0, -1, 5, 0.5, 2.5, -1e9, "x", "", 1e308, inf, bytes_of])
    changes = {"values": [draw(values)] if statement else [], "bytes": draw(_bytes(20))}
    return {"door": "cache", "statement": statement, **changes}


def _bytes(most: int) -> st.SearchStrategy[list[list[int]]]:
    """Draw places and what stands there."""
    return st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)).map(list), max_size=most)


@st.composite
def _model_cases(draw: st.DrawFn) -> dict[str, Any]:
    cut = draw(st.none() | st.integers(0, 10**5))
    return {"door": "model", "file": draw(st.integers(0, 20)), "cut": cut, "bytes": draw(_bytes(4))}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_marian(tmp_path_factory.mktemp("model"))


def _check(case: dict[str, Any], model: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return run_case(json.loads(json.dumps(case)), Path(folder), model)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_succeed_on_unmutated_files(command: tuple[str, ...], model: Path) -> None:
    assert _check({"door": "files", "command": list(command), "files": {}}, model) == "result"


@pytest.mark.parametrize("metric", ROWS)
def test_metrics_succeed_on_unmutated_rows(metric: str, model: Path) -> None:
    function = {"evaluator": {"!": "function", "of": 0.5}} if metric.startswith("c") else {}
    options = {"src_lang": "en", "tgt_lang": LANGUAGES.get(metric, "de"), **function}
    case: dict[str, Any] = {"door": "metric", "metric": metric, "options": options}
    case |= {"predictions": list(TRANSLATIONS[:2]), "references": rows_of(metric, 2)}
    assert _check(case, model) == "result"


_FAILED = [json.loads(line) for line in _CORPUS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", _FAILED, ids=[f"line {n + 1}" for n in range(len(_FAILED))])
def test_cases_of_the_corpus_do_not_fail_again(case: dict[str, Any], model: Path) -> None:
    _check(case, model)


@pytest.mark.parametrize("cases", [_metric_cases, _file_cases, _cache_cases, _model_cases])
@_SETTINGS
@given(data=st.data())
def test_every_outcome_is_a_result_or_a_package_error(data: Any, cases: Any, model: Path) -> None:
    case = data.draw(cases())
    note(json.dumps(case))
    _check(case, model)
