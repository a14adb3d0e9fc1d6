"""Causal language models behind a server give the scores of the same model on this machine."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoTokenizer

import cc_hf
from cc_hf import signature
from cc_hf.errors import EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.ensemble import EnsembleEvaluator
from cc_hf.models import servers
from cc_hf.models.pretrained import load_model
from cc_hf.results import EvaluationResult
from tests.helpers.chat_models import save_tiny_chat_model
from tests.helpers.chat_server import ChatServer, Fault, chat_server
from tests.helpers.families import save_tiny_causal_lm
from tests.helpers.metric_rows import drawn_rows
from tests.helpers.models import N_POSITIONS
from tests.helpers.pairs import EN_DE, PAIRS, SOURCES, TRANSLATIONS
from tests.helpers.people import write_people
from tests.helpers.usual import cases, evaluate_metric, fails, invoke, refuses

pytestmark = pytest.mark.enable_socket


_CHAT_PROMPT = "chat:Translate from {src_name} into {tgt_name}: {source}"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_WAIT", 0.001)


@pytest.fixture(scope="module", params=[True, False], ids=["llama", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_chat_model(tmp_path_factory.mktemp("chat"), llama=request.param)


@pytest.fixture
def served(folder: Path) -> Iterator[ChatServer]:
    loaded = load_model(folder)
    with chat_server(loaded.model, loaded.tokenizer, max_model_len=N_POSITIONS) as server:
        yield server


def behind(served: ChatServer, folder: Path, **options: Any) -> Evaluator:
    return cc_hf.load_evaluator(f"server:{served.url}#tiny#{folder}", **{**EN_DE, **options})


def assert_close(evaluator: Evaluator, other: Evaluator) -> None:
    actual, expected = (e.mean_logprobs(SOURCES, TRANSLATIONS) for e in (evaluator, other))
    np.testing.assert_allclose(actual, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("gives", ["prompt_logprobs", "echo"])
@pytest.mark.parametrize("prompt", [None, "", "{source} = ", _CHAT_PROMPT])
def test_scores_are_the_models(served: ChatServer, folder: Path, gives: str, prompt: Any) -> None:
    served.gives = gives
    local = cc_hf.load_evaluator(folder, **EN_DE, prompt=prompt)
    for batch_tokens in (40, None):
        evaluator = behind(served, folder, prompt=prompt, batch_tokens=batch_tokens)
        both = [e.token_logprobs(SOURCES, TRANSLATIONS) for e in (evaluator, local)]
        actual, expected = map(np.concatenate, both)
        np.testing.assert_allclose(actual, expected, atol=1e-4, rtol=0)
        assert_close(evaluator, local)
        assert evaluator.signature_fields()["prompt"] == local.signature_fields()["prompt"]


def test_the_command_of_the_documents_judges_behind_a_server(
    served: ChatServer, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs/evaluators.md").read_text(encoding="utf-8")
    joined = re.sub(r" *\\\n *", " ", page)
    (line,) = re.findall(r"^cc-hf (evaluate .*server:http.*)$", joined, re.MULTILINE)
    here = {"winomt": str(write_people(tmp_path)), "winomt.de.txt": "t.txt"}
    here["server:http://node17:8000/v1#org/model"] = f"server:{served.url}#{folder}"
    served.name = str(folder)
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("".join(f"Satz {i}.\n" for i in range(8)), encoding="utf-8")
    invoked = invoke(*[here.get(word, word) for word in shlex.split(line)], "--cache", "no")
    assert invoked.exit_code == 0, invoked.output
    assert "dtype:server" in invoked.output


def test_its_evaluation_is_cached(served: ChatServer, folder: Path, tmp_path: Path) -> None:
    def judged(name: str) -> EvaluationResult:
        evaluator = cc_hf.load_evaluator(name, cache=tmp_path / "scores.sqlite")
        texts, rows = drawn_rows("contrastive_conditioning", 0, 6)
        return evaluate_metric("contrastive_conditioning", texts, rows, evaluator, **EN_DE)

    local = judged(str(folder))
    result = judged(f"server:{served.url}#tiny#{folder}")
    assert result.scores == pytest.approx(local.scores, abs=1e-4)
    assert signature.parse(result.signature)[1]["eval"].startswith(f"server:{served.url}#tiny@")
    n_sent = len(served.requests)
    again = judged(f"server:{served.url}#tiny#{folder}")
    assert (again, len(served.requests)) == (result, n_sent)


def test_the_chat_template_is_that_of_the_tokenizer(folder: Path) -> None:
    evaluator = cc_hf.load_evaluator(folder, prompt=_CHAT_PROMPT)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    content = "Translate from English into German: A doctor."
    turns, options = [{"role": "user", "content": content}], {"return_dict": True}
    actual = tokenizer.apply_chat_template(turns, add_generation_prompt=True, **options)
    assert evaluator.encode_sources(["A doctor."], "en", "de") == [list(actual["input_ids"])]
    assert evaluator.signature_fields()["prompt"] == _CHAT_PROMPT


def test_a_chat_prompt_needs_a_chat_template(tmp_path: Path) -> None:
    refuses(
        "has no chat template",
        cc_hf.load_evaluator,
        save_tiny_causal_lm(tmp_path),
        prompt=_CHAT_PROMPT,
    )


@cases(  # how a server fails below that is tested in tests/plugins/asking/test_chat_server.py
    *(Fault(drops=True), Fault(answer={"choices": []})),
    Fault(answer={"choices": [{"index": 0, "prompt_logprobs": [None]}]}),
    Fault(answer={"choices": [{"index": 0, "prompt_logprobs": [None, {"0": {}}]}]}),
    *(Fault(answer={"choices": [{"index": 0}]}), Fault(answer={"choices": [3]})),
    Fault(answer={"choices": [{"index": 10**400}]}),
    Fault(text='{"choices": [{"index": Infinity}]}'),
)
def test_a_failing_server_loses_no_score(fault: Fault, served: ChatServer, folder: Path) -> None:
    evaluator = behind(served, folder, batch_tokens=40)
    expected = evaluator.mean_logprobs(SOURCES, TRANSLATIONS)
    served.faults = [fault, None, fault, fault]
    np.testing.assert_array_equal(evaluator.mean_logprobs(SOURCES, TRANSLATIONS), expected)


def test_a_run_ended_by_a_server_goes_on(served: ChatServer, folder: Path, tmp_path: Path) -> None:
    evaluator = behind(served, folder, batch_tokens=40, cache=tmp_path / "scores.sqlite")
    served.requests.clear()
    served.faults = [None, None]
    served.always = Fault(status=503, body="going down")
    fails(EvaluatorError, "HTTP 503.*after 6 tries", evaluator.mean_logprobs, SOURCES, TRANSLATIONS)
    served.always = None
    assert_close(evaluator, cc_hf.load_evaluator(folder, **EN_DE))
    assert len(served.requests) == 2 + 6 + (len(PAIRS) - 2)


@cases((400, "unknown field"), (401, "who are you"), (404, "no such model"))
def test_refusals_are_told(status: int, message: str, served: ChatServer, folder: Path) -> None:
    served.faults = [None]  # the list of models
    served.always = Fault(status=status, body=f'{{"error": "{message}"}}')
    fails(EvaluatorError, f"HTTP {status}.*{message}", behind, served, folder)


@pytest.mark.parametrize("status", [404, 500])  # 500 is that of `transformers serve`
def test_servers_without_lists_need_names(served: ChatServer, folder: Path, status: int) -> None:
    served.faults = [Fault(status=status)]
    assert behind(served, folder, batch_tokens=105).max_tokens == N_POSITIONS - 1
    served.faults = [Fault(status=status)]
    fails(EvaluatorError, "list of models", cc_hf.load_evaluator, f"server:{served.url}")


def test_a_server_without_logprobs_of_prompts_is_refused(served: ChatServer, folder: Path) -> None:
    served.gives = "nothing"
    fails(EvaluatorError, "returns log-probabilities of the prompt", behind, served, folder)
    assert len(served.requests) == 3  # nothing is asked twice


def test_an_echo_with_other_tokens_is_refused(served: ChatServer, folder: Path) -> None:
    served.gives = "echo"
    n = len(behind(served, folder).tokenizer("Hello.")["input_ids"])  # type: ignore[attr-defined]
    for change in (-n, 2):
        tokens = ["a"] * (60 + change)
        logprobs = {"tokens": tokens, "token_logprobs": [None, *[-1.0] * (59 + change)]}
        served.faults = [None]
        served.always = Fault(answer={"choices": [{"index": 0, "logprobs": logprobs}]})
        fails(
            EvaluatorError,
            r"expected log-probabilities of \d+ tokens",
            behind,
            served,
            folder,
            batch_tokens=100 + change,
        )


@pytest.mark.parametrize("gives", ["prompt_logprobs", "echo"])
def test_another_tokenizer_is_refused(served: ChatServer, folder: Path, gives: str) -> None:
    served.gives = gives
    other = AutoTokenizer.from_pretrained(folder)
    served.tokenizer = AutoTokenizer.from_pretrained(folder)
    served.tokenizer.decode = lambda ids, **_: other.decode([number + 1 for number in ids])
    fails(EvaluatorError, "expected the vocabulary of the tokenizer", behind, served, folder)


def test_texts_too_long_for_the_server_are_not_sent(served: ChatServer, folder: Path) -> None:
    served.max_model_len = 60
    evaluator = behind(served, folder)
    assert evaluator.max_tokens == 59
    n_sent = len(served.requests)
    fails(TooLongError, "takes at most 59", evaluator.mean_logprobs, ["doctor " * 100], ["Arzt"])
    assert len(served.requests) == n_sent


def test_server_and_tokenizer_identify(served: ChatServer, folder: Path, tmp_path: Path) -> None:
    def identity(path: Path, batch_tokens: int) -> str:
        return behind(served, path, batch_tokens=batch_tokens).identity

    first = identity(folder, 101)
    assert identity(folder, 102) == first  # another evaluator, the same model
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["another"])
    tokenizer.save_pretrained(tmp_path)
    assert identity(tmp_path, 101) != first
    served.max_model_len = 500
    assert identity(folder, 103) != first


@cases(
    ({"kind": "causal_lm"}, "kind"),
    ({"device": "cpu"}, "device"),
    ({"dtype": "bfloat16"}, "dtype"),
    ({"mode": "bf16"}, "mode"),
    ({"prompt": "{sorce}"}, "prompt"),
    ({"tgt_lang": "xx"}, "xx"),
)
def test_options_are_refused(options: Any, message: str, served: ChatServer, folder: Path) -> None:
    refuses(message, behind, served, folder, **options)


def test_names_that_lack_a_tokenizer_or_have_too_many_parts_are_refused(served: ChatServer) -> None:
    for name, error, message in (
        ("tiny", InputError, "expected the tokenizer of the model"),
        ("a#b#c", InputError, "got 4 parts"),
        ("tiny#/no/such/folder", EvaluatorError, "there is no such folder"),
    ):
        fails(error, message, cc_hf.load_evaluator, f"server:{served.url}#{name}")


def test_only_model_and_its_tokenizer_need_not_be_named(served: ChatServer, folder: Path) -> None:
    served.name = str(folder)
    assert cc_hf.load_evaluator(f"server:{served.url}").name == f"server:{served.url}#{folder}"


def test_a_server_can_be_a_member_of_an_ensemble(served: ChatServer, folder: Path) -> None:
    both = cc_hf.load_evaluator([f"server:{served.url}#tiny#{folder}", str(folder)], **EN_DE)
    assert isinstance(both, EnsembleEvaluator)
    assert_close(both, cc_hf.load_evaluator(folder, **EN_DE))
