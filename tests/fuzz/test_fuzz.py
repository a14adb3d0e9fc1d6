"""Random rows, options, files, caches and models, and files of ours that users keep and pass to a
later command, forged: every outcome is a result or a CCError, which names the file, and no input
changes.

`python -m tests.fuzz.attack` searches longer, at all doors. A case that fails is printed as JSON;
add it to corpus.jsonl when its defect is fixed.
"""

import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.fuzz.cases import STRATEGIES
from tests.fuzz.commands import COMMANDS
from tests.fuzz.doors import ROWS, TRANSLATIONS, rows_of, run_case
from tests.fuzz.kept import FILES, mutated, outcome_of
from tests.helpers.contract_cases import KeptFile
from tests.helpers.metric_rows import LANGUAGES
from tests.helpers.models import save_tiny_marian

_CORPUS = Path(__file__).with_name("corpus.jsonl")
_SETTINGS = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
_IDS = [f"{file.name} {number}" for number, file in enumerate(FILES)]
_N_FORGED = 120


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_marian(tmp_path_factory.mktemp("model"), max_positions=48)


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
    case: dict[str, Any] = {
        "door": "metric",
        "metric": metric,
        "options": options,
        "predictions": list(TRANSLATIONS[:2]),
        "references": rows_of(metric, 2),
    }
    assert _check(case, model) == "result"


_FAILED = [json.loads(line) for line in _CORPUS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", _FAILED, ids=[f"line {n + 1}" for n in range(len(_FAILED))])
def test_cases_of_the_corpus_do_not_fail_again(case: dict[str, Any], model: Path) -> None:
    _check(case, model)


_DOORS = ("metric", "files", "cache", "model", "convert", "parts", "requests")


@pytest.mark.parametrize("door", [*_DOORS, pytest.param("server", marks=pytest.mark.enable_socket)])
@_SETTINGS
@given(data=st.data())
def test_every_outcome_is_a_result_or_a_package_error(data: Any, door: str, model: Path) -> None:
    case = data.draw(STRATEGIES[door])
    note(json.dumps(case))
    _check(case, model)


@pytest.mark.parametrize("file", FILES, ids=_IDS)
def test_unforged_files_are_read(file: KeptFile, tmp_path: Path) -> None:
    outcome = outcome_of(file, file.text.encode(), tmp_path)
    assert outcome == "" or (file.refusal and file.refusal in outcome), outcome


@pytest.mark.parametrize("file", [f for f in FILES if not f.refusal], ids=lambda f: f.name)
def test_line_ends_of_windows_change_nothing(file: KeptFile, tmp_path: Path) -> None:
    values = []
    for line_end in ("\n", "\r\n"):
        for name, text in {**file.others, file.name: file.text}.items():
            (tmp_path / name).write_text(text, encoding="utf-8", newline=line_end)
        value = repr(file.read(tmp_path / file.name))
        values.append(re.sub(r"\b[0-9a-f]{8}\b", "", value))  # a hash of the file
    assert values[0] == values[1]


@pytest.mark.parametrize("file", FILES, ids=_IDS)
def test_forged_files_end_in_a_result_or_name_themselves(file: KeptFile, tmp_path: Path) -> None:
    for seed in range(_N_FORGED):
        data = mutated(file, random.Random(f"{file.name} {seed}"))
        try:
            outcome_of(file, data, tmp_path)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {data[:600]!r}") from error
