"""Language models that are asked in words through the command line: on this machine, behind a
server, and by several processes."""

from pathlib import Path
from typing import Any

import pytest
from transformers.utils import import_utils

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.plugins.asking.conversations import Decoding
from cc_hf.plugins.asking.local_chat import open_local_chat
from cc_hf.plugins.asking.respondents import open_respondent
from cc_hf.results import EvaluationResult
from tests.helpers.chat_models import QUESTIONS, save_tiny_chat_model
from tests.helpers.chat_server import chat_server
from tests.helpers.command_line import Shown, run_command
from tests.helpers.lines import read_jsonl
from tests.helpers.processes import in_processes
from tests.helpers.served_pages import transformers_served
from tests.helpers.usual import fails
from tests.helpers.wino_x_schemas import lay_out, mt_rows

Alone = tuple[Path, Shown]


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model with random weights that takes a prompt with demonstrations."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return save_tiny_chat_model(folder, llama=False, n_positions=4096)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("data"), "mt", mt_rows(4))


def arguments(data: Path, *options: str | Path) -> list[str]:
    words = (
        f"ask wino_x mt_en_de.translations --data-dir {data} --shots 2"
        " --model-option max_new_tokens=6"
    )
    return [*words.split(), *map(str, options)]


def read(path: Path) -> EvaluationResult:
    return EvaluationResult.from_json(path.read_text(encoding="utf-8"))


def kept(path: Path) -> list[dict[str, Any]]:
    """Return the kept replies, without the keys, which depend on the backend."""
    return [{name: row[name] for name in row if name != "key"} for row in read_jsonl(path)[1:]]


@pytest.fixture(scope="module")
def alone(chat: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """Return the folder of a run in this process, and what it printed."""
    folder = tmp_path_factory.mktemp("alone")
    return folder, run_command(
        *arguments(data, "--model", chat, "--device", "cpu", "--answer-logprobs", "-o", "a.json"),
        cwd=folder,
    )


def test_choices_by_logprob_stand_beside_the_parsed(alone: Alone, data: Path) -> None:
    folder, shown = alone
    parsed, probable = read(folder / "a.json"), read(folder / "a.logprobs.json")
    assert (parsed.system, probable.system) == ("tiny (basic)", "tiny (basic), by log-probability")
    assert parsed.n == probable.n == probable.counts["n_valid"] == 6
    assert "6 of 6 replies were cut at the limit of tokens" in shown.stderr
    assert parsed.counts["n_cut"] == 6
    assert "tiny (basic), by log-probability" in shown.stdout
    variables = {"CC_HF_DATA_DIR": str(data)}
    run_command("report a.json a.logprobs.json --markdown a.md", cwd=folder, environment=variables)
    page = (folder / "a.md").read_text(encoding="utf-8")
    assert "| tiny (basic), by log-probability | " in page
    assert "The replies to 6 of 6 samples were cut at the limit of tokens" in page
    assert "was not compared" not in page
    compared = run_command("compare", "a.json", "a.logprobs.json", "-v", cwd=folder)
    assert "n = 6" in compared.stdout


@pytest.mark.enable_socket
def test_a_server_replies_alike(alone: Alone, chat: Path, data: Path, tmp_path: Path) -> None:
    local = open_local_chat(str(chat), decoding=Decoding())
    with chat_server(local.loaded.model, local.loaded.tokenizer) as served:
        options = ("--server", served.url, "--model", "tiny", "-o", "a.json")
        shown = run_command(*arguments(data, *options), cwd=tmp_path)
        assert "note: 6 requests with " in shown.stderr
        assert f" characters go to {served.url}" in shown.stderr
        run_command(*arguments(data, *options), cwd=tmp_path)
        assert len(served.requests) == 6  # the second run found all replies
    assert kept(tmp_path / "a.replies.jsonl") == kept(alone[0] / "a.replies.jsonl")
    here, there = read(alone[0] / "a.json"), read(tmp_path / "a.json")
    assert there.system == here.system == "tiny (basic)"
    assert (there.scores, there.counts) == (here.scores, here.counts)
    assert there.judgements == here.judgements


@pytest.mark.enable_socket
def test_two_processes_write_the_same(alone: Alone, chat: Path, data: Path, tmp_path: Path) -> None:
    shared = in_processes(
        2,
        tmp_path,
        "cc_hf.cli",
        *arguments(data, "--model", chat, "--device", "cpu", "--answer-logprobs", "-o", "a.json"),
    )
    assert shared.returncode == 0, shared.stderr
    for name in ("a.json", "a.logprobs.json", "a.replies.jsonl"):
        assert (tmp_path / name).read_bytes() == (alone[0] / name).read_bytes()
    assert shared.stderr.count("written: a.json") == 1


_IS_AVAILABLE = getattr(import_utils, "is_serve_available", lambda: False)()


@pytest.mark.enable_socket
@pytest.mark.skipif(not _IS_AVAILABLE, reason="transformers[serving] is not installed")
def test_replies_equal_those_of_the_model_on_this_machine(tmp_path: Path) -> None:
    decoding = Decoding(max_new_tokens=6)
    folder = save_tiny_chat_model(tmp_path / "tiny")
    expected = open_local_chat(str(folder), decoding=decoding).reply(QUESTIONS)
    with transformers_served(folder, log=tmp_path / "log") as url:
        served = open_respondent(str(folder), server=url, decoding=decoding)
        assert served.reply(QUESTIONS) == expected
        # It has no log-probabilities of prompts, and takes no token ids.
        fails(
            EvaluatorError,
            "prompt must be a string",
            cc_hf.load_evaluator,
            f"server:{url}#{folder}",
        )
