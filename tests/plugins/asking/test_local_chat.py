"""Models on this machine that answer conversations: tiny ones with random weights."""

import copy
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.models.chat_templates import Conversation, Message
from cc_hf.models.pretrained import load_model
from cc_hf.plugins.asking.conversations import Decoding, Reply
from cc_hf.plugins.asking.local_chat import LocalChat, answer_logprobs, open_local_chat
from cc_hf.plugins.asking.respondents import open_respondent
from tests.helpers.chat_models import QUESTIONS, TEMPLATES, asked, save_tiny_chat_model
from tests.helpers.fake_mps import fake_mps
from tests.helpers.families import save_tiny_t5
from tests.helpers.processes import together
from tests.helpers.usual import cases, refuses, typed
from tests.plugins.asking.respondents import SHORT


@pytest.fixture(scope="module")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_chat_model(tmp_path_factory.mktemp("chat"))


@pytest.fixture(scope="module")
def chat(chat_folder: Path) -> LocalChat:
    return open_local_chat(str(chat_folder), decoding=SHORT)


def plain_reply(chat: LocalChat, text: str) -> str:
    """Return the reply by one forward pass for each token, without padding or a cache."""
    model, tokenizer = chat.loaded.model, chat.loaded.tokenizer
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    n = len(ids)
    while len(ids) < n + chat.decoding.max_new_tokens and ids[-1] != tokenizer.eos_token_id:
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return str(tokenizer.decode(ids[n:], skip_special_tokens=True)).strip()


@pytest.mark.parametrize("llama", [True, False])
@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_replies_in_batches_equal_plain_ones(tmp_path: Path, llama: bool, batch_size: int) -> None:
    folder = save_tiny_chat_model(tmp_path, llama=llama)
    chat = open_local_chat(str(folder), decoding=SHORT, batch_size=batch_size)
    replies = chat.reply(QUESTIONS)
    assert replies == [Reply(plain_reply(chat, chat.render(q)), is_cut=True) for q in QUESTIONS]
    assert len({r.text for r in replies}) > 1


def test_equal_conversations_are_answered_once(chat: LocalChat) -> None:
    sizes: list[int] = []
    counting = copy.copy(chat)
    counting._generate = lambda rows: sizes.append(len(rows)) or [Reply("")] * len(rows)  # type: ignore
    assert len(counting.reply([QUESTIONS[0]] * 5 + [QUESTIONS[1]])) == 6
    assert sum(sizes) == 2
    assert counting.reply([]) == []


def test_the_template_is_tokenised_as_transformers_does(chat: LocalChat) -> None:
    options = {"add_generation_prompt": True, "return_dict": True}
    expected = chat.loaded.tokenizer.apply_chat_template([*map(vars, QUESTIONS[1])], **options)
    assert chat._ids(chat.render(QUESTIONS[1])) == list(expected["input_ids"])


SYSTEM: Conversation = (Message("system", "Be brief."), *asked("One?", "Two.", "Three?"))
TWICE: Conversation = (Message("user", "first"), Message("user", "second"))


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("conversation", [SYSTEM, TWICE, asked("One?", "Two.", "Three?")])
def test_templates_render_texts(tmp_path: Path, template: str, conversation: Conversation) -> None:
    chat = open_local_chat(str(save_tiny_chat_model(tmp_path, template=template)), decoding=SHORT)
    if template == "none at all":
        refuses("This model does not chat", chat.reply, [conversation])
        return
    text = chat.render(conversation)
    positions = [text.index(turn.content) for turn in conversation]
    assert positions == sorted(positions)
    assert text.endswith("assistant\n")
    with_system = template == "system first" or (template == "any turns" and conversation is SYSTEM)
    assert text.startswith("<s>system") == with_system
    assert chat.reply([conversation])[0].text is not None


@pytest.mark.parametrize("conversation", [(), asked("a", "b")])
def test_conversations_need_a_question(chat: LocalChat, conversation: Conversation) -> None:
    refuses("the last is the user's", chat.render, conversation)


def test_a_model_without_template_gets_plain_lines(tmp_path: Path) -> None:
    chat = open_local_chat(str(save_tiny_chat_model(tmp_path, template=None)), decoding=SHORT)
    lines = "System: Be brief.", "User: One?", "Assistant: Two.", "User: Three?", "Assistant:"
    assert chat.render(SYSTEM) == "\n\n".join(lines)
    assert chat.reply(QUESTIONS) == [chat.reply([question])[0] for question in QUESTIONS]


@cases(
    (" Translation 2\nUser: and then", "Translation 2", False),
    (" Translation 2</s>", "Translation 2", False),
    (" Translation 2 or", "Translation 2 oror", True),
)
def test_replies_end_or_are_cut(written: str, text: str, is_cut: bool, tmp_path: Path) -> None:
    folder = save_tiny_chat_model(tmp_path, template=None, llama=False)
    chat = open_local_chat(str(folder), decoding=Decoding(max_new_tokens=40))
    script = chat.loaded.tokenizer(written)["input_ids"]
    model = copy.deepcopy(chat.loaded.model)
    steps: list[int] = []

    class Scripted(torch.nn.Module):
        """A projection that writes the script."""

        weight = model.get_output_embeddings().weight

        def forward(self, states: torch.Tensor) -> torch.Tensor:
            logits = torch.zeros(*states.shape[:-1], len(self.weight))
            logits[..., script[min(len(steps), len(script) - 1)]] = 1
            steps.append(1)
            return logits

    model.set_output_embeddings(Scripted())
    loaded = dataclasses.replace(chat.loaded, model=model)
    scripted = LocalChat(loaded, decoding=chat.decoding, batch_size=8, team=ALONE)
    reply = scripted.reply([asked("a")])[0]
    assert reply.is_cut is is_cut
    assert (reply.text or "")[: len(text) if is_cut else None] == text
    assert len(steps) <= (chat.decoding.max_new_tokens if is_cut else len(script))


def test_models_of_the_kind_of_t5_answer(tmp_path: Path) -> None:
    chat = open_local_chat(str(save_tiny_t5(tmp_path)), decoding=SHORT, batch_size=2)
    assert chat.reply(QUESTIONS) == [chat.reply([question])[0] for question in QUESTIONS]
    logprobs = chat.answer_logprobs(QUESTIONS, ["doctor", "nurse"])
    assert (logprobs.shape, bool((logprobs < 0).all())) == ((5, 2), True)


@cases(
    ({"batch_size": 0}, "batch_size"),
    ({"decoding": Decoding(max_new_tokens=0)}, "max_new_tokens"),
    ({"decoding": Decoding(temperature=-1.0)}, "temperature"),
    ({"decoding": Decoding(temperature=float("nan"))}, "temperature"),
    ({"dtype": "int3"}, "dtype"),
    ({"model": "cc-tiny-en-de"}, "family marian"),
)
def test_bad_options_are_refused(options: dict[str, Any], message: str, chat_folder: Path) -> None:
    given = {"model": str(chat_folder), "decoding": SHORT, **options}
    refuses(message, open_local_chat, given.pop("model"), **given)


def test_a_conversation_that_is_too_long_has_a_reply_that_says_so(chat: LocalChat) -> None:
    long = asked("doctor " * 2000)
    first, failed, _ = chat.reply([QUESTIONS[0], long, QUESTIONS[1]])
    assert (first, failed.text) == (chat.reply(QUESTIONS[:1])[0], None)
    assert "takes at most 1000" in failed.error
    refuses(r"row 0.*at most 1000", chat.answer_logprobs, [long], ["1", "2"])


def test_saved_settings_of_sampling_are_not_used(tmp_path: Path, chat: LocalChat) -> None:
    saved: dict[str, Any] = {"do_sample": True, "temperature": 9.0, "top_k": 3}
    folder = save_tiny_chat_model(tmp_path, **saved, repetition_penalty=5.0)
    other = open_local_chat(str(folder), decoding=SHORT)
    assert other.reply(QUESTIONS) == chat.reply(QUESTIONS)
    assert other.loaded.model.generation_config.repetition_penalty == 5.0


def test_sampling_repeats_and_leaves_other_random_numbers_alone(chat_folder: Path) -> None:
    chat = open_local_chat(str(chat_folder), decoding=Decoding(6, temperature=2.0))
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first = chat.reply(QUESTIONS)
    assert torch.equal(torch.rand(3), expected)
    assert chat.reply(QUESTIONS) == first
    assert first != open_local_chat(str(chat_folder), decoding=SHORT).reply(QUESTIONS)


def test_several_processes_share_the_conversations(chat: LocalChat) -> None:
    n_asked: list[int] = []

    def work(team: Team, first: int = 0) -> Any:
        loaded = dataclasses.replace(chat.loaded, model=copy.deepcopy(chat.loaded.model))
        member = LocalChat(loaded, decoding=SHORT, batch_size=2, team=team)
        generate = member._generate
        member._generate = lambda rows: n_asked.append(len(rows)) or generate(rows)  # type: ignore
        return member.reply(QUESTIONS[first:])

    assert together(2, work) == [chat.reply(QUESTIONS)] * 2
    assert (sum(n_asked), len(n_asked)) == (len(QUESTIONS), 3)
    errors = together(2, lambda team: work(team, team.rank))
    assert [type(error) for error in errors] == [EvaluatorError] * 2


@pytest.mark.parametrize("template", ["any turns", None])
@pytest.mark.parametrize("llama", [True, False])
def test_answers_score_as_their_texts(tmp_path: Path, template: str | None, llama: bool) -> None:
    folder = save_tiny_chat_model(tmp_path, template=template, llama=llama)
    chat = open_local_chat(str(folder), decoding=SHORT)
    answers = ["Translation 1", "Translation 2", "doctor"]
    logprobs = answer_logprobs(chat, QUESTIONS, answers)
    model, tokenizer = chat.loaded.model, chat.loaded.tokenizer
    for question, row in zip(QUESTIONS, logprobs, strict=True):
        totals = []
        for answer in answers:
            text = chat.render(question) + ("" if template else " ") + answer
            ids = torch.tensor([tokenizer(text, add_special_tokens=template is None)["input_ids"]])
            rows = model(ids).logits[0].detach().log_softmax(-1)
            totals.append(float(rows[:-1].gather(-1, ids[0, 1:, None]).sum()))
        # The texts as a whole differ by the same as the answers: what they share is one constant.
        assert row - row[0] == pytest.approx(np.array(totals) - totals[0], abs=1e-4)
    single = np.concatenate([chat.answer_logprobs([q], answers) for q in QUESTIONS])
    assert logprobs == pytest.approx(single, abs=1e-5)
    assert chat.answer_logprobs([], answers).shape == (0, 3)


@pytest.mark.parametrize("answers", [[], ["1"], ["1", "1"], ["1", " "]])
def test_answers_that_cannot_be_told_apart_are_refused(chat: LocalChat, answers: list[str]) -> None:
    refuses("different texts", chat.answer_logprobs, QUESTIONS, answers)


def test_only_models_here_give_log_probabilities_of_answers() -> None:
    elsewhere: Any = SimpleNamespace(identity="server:m", reply=pytest.fail)
    refuses("server:m, which replies with text", answer_logprobs, elsewhere, QUESTIONS, ["1", "2"])


def test_the_identity_names_model_precision_and_decoding(chat: LocalChat) -> None:
    model = f"{chat.loaded.name}@{chat.loaded.identity}"
    assert chat.identity == f"local:{model}/float32/greedy/6 tokens"
    sampled = LocalChat(chat.loaded, decoding=Decoding(6, 0.5), batch_size=8, team=ALONE)
    assert sampled.identity.endswith("/temperature 0.5/6 tokens")


def test_opening_needs_one_backend(chat_folder: Path, tmp_path: Path) -> None:
    opened = typed(LocalChat, open_respondent(str(chat_folder), decoding=SHORT))
    assert opened.loaded is load_model(str(chat_folder))
    for options in (
        {"model": None},
        {"model": "m", "replies": tmp_path / "replies.jsonl"},
        {"model": "m", "server": "http://localhost:1/v1", "dtype": "float32"},
        {"model": "m", "server": "http://localhost:1/v1", "device": "cpu"},
        {"model": str(chat_folder), "max_requests": 3},
    ):
        with pytest.raises(InputError):
            open_respondent(**options, decoding=SHORT)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_language_model_answers_in_float32(tmp_path: Path, temperature: float) -> None:
    folder, replies = save_tiny_chat_model(tmp_path), []
    decoding = dataclasses.replace(SHORT, temperature=temperature)
    with fake_mps():
        for device in ("cpu", "mps"):
            chat = open_local_chat(str(folder), decoding=decoding, device=device)
            assert "/float32/" in chat.identity
            logprobs = answer_logprobs(chat, QUESTIONS, ["1", "2"])
            replies.append((chat.reply(QUESTIONS), logprobs.round(4).tolist()))
    assert replies[0] == replies[1]
