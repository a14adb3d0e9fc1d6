"""A language model on this machine that answers conversations.

A causal model is asked through the chat template of its tokenizer, or through plain lines "User:"
and "Assistant:" where it has none. Models of the kind of T5 read these lines in their encoder.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.distributed import Team, join
from cc_hf.evaluators.loading import evaluator_of  # before torch: its error names the extra
from cc_hf.evaluators.teacher_forcing import pad_ids, positions
from cc_hf.models.chat_templates import Conversation, chat_text
from cc_hf.models.pretrained import LoadedModel, input_device, load_model, pick_device
from cc_hf.plugins.asking.conversations import (
    PLAIN_STOPS,
    Decoding,
    Reply,
    Respondent,
    check_counts,
    check_decoding,
    check_turns,
    decoding_name,
    plain_text,
)

# isort: split
import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

__all__ = ["LocalChat", "answer_logprobs", "open_local_chat"]

#: Families whose encoder reads the conversation and whose decoder writes the reply.
_ENCODER_DECODERS = ("t5", "mt5", "umt5")
# Not every MPS has bfloat16.
_DTYPE_ON = {"cpu": "float32", "cuda": "bfloat16", "mps": "float32"}


def open_local_chat(
    model: str,
    *,
    decoding: Decoding,
    dtype: str | None = None,
    device: str | None = None,
    batch_size: int = 8,
) -> LocalChat:
    """Load a language model that answers conversations.

    Args:
        dtype: "float32", "bfloat16" or "float16"; None for bfloat16 on CUDA, else float32.
        device: "cpu", "cuda", "cuda:1", "mps" or "auto", see
            `cc_hf.models.pretrained.load_model`; None for CUDA if available.
    """
    kind = pick_device(device).type
    team = join(kind)
    loaded = load_model(model, device=device, dtype=dtype or _DTYPE_ON[kind])
    return LocalChat(loaded, decoding=decoding, batch_size=batch_size, team=team)


class LocalChat:
    """A loaded language model that answers conversations.

    A reply is the same in every batch, except for rounding. Settings of sampling that are saved
    with a model, such as its temperature or a penalty of repetition, are not used.
    """

    def __init__(
        self, loaded: LoadedModel, *, decoding: Decoding, batch_size: int, team: Team
    ) -> None:
        check_counts(batch_size=batch_size)
        check_decoding(decoding)
        if loaded.family not in ("causal_lm", *_ENCODER_DECODERS):
            raise InputError(
                f"model: expected a language model that answers (a causal one, or one of the kinds"
                f" {', '.join(_ENCODER_DECODERS)}), got {loaded.name} of the family"
                f" {loaded.family}"
            )
        self.loaded = loaded
        self.decoding = decoding
        self.batch_size = batch_size
        self.team = team

    @property
    def identity(self) -> str:
        """Model with commit or hash, precision and decoding."""
        dtype = str(self.loaded.model.dtype).removeprefix("torch.")
        return f"local:{self.loaded.signature_name}/{dtype}/{decoding_name(self.decoding)}"

    def render(self, conversation: Conversation) -> str:
        """Return the text that the model reads."""
        check_turns(conversation)
        if self._has_template:
            return chat_text(self.loaded.tokenizer, conversation, name=self.loaded.name)
        return plain_text(conversation)

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """Return one reply per conversation, in their order.

        A conversation too long for the model has a reply with an error that names the numbers of
        tokens.
        """
        texts = [self.render(conversation) for conversation in conversations]
        # Equal conversations are answered once.
        distinct = sorted(set(texts))  # the same order in all processes
        self.team.check_alike(self.identity, self.batch_size, distinct)
        rows = [self._ids(text) for text in distinct]
        replies: dict[str, Reply] = {}
        fitting: list[int] = []
        for i, (text, row) in enumerate(zip(distinct, rows, strict=True)):
            if len(row) + self.decoding.max_new_tokens <= self._n_positions:
                fitting.append(i)
            else:
                replies[text] = self._too_long(len(row))
        lengths = [len(rows[i]) for i in fitting]
        batches = plan_batches(
            lengths, lengths, batch_tokens=sys.maxsize, batch_size=self.batch_size
        )
        costs = [len(batch) * max(lengths[k] for k in batch) for batch in batches]
        for batch, answers in self.team.run(
            batches, costs, lambda batch: self._generate([rows[fitting[k]] for k in batch])
        ):
            for k, answer in zip(batch, answers, strict=True):
                replies[distinct[fitting[k]]] = answer
        return [replies[text] for text in texts]

    def answer_logprobs(
        self, conversations: Sequence[Conversation], answers: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Return the log-probability of each answer as the beginning of the reply.

        Natural logarithms, of shape (n, m), of the tokens after those that all answers share; no
        token for the end is counted.
        """
        if len(set(answers)) < max(2, len(answers)) or not all(map(str.strip, answers)):
            raise InputError(
                f"answers: expected two or more different texts, got {list(answers)!r}"
            )
        evaluator = evaluator_of(
            self.loaded.model,
            self.loaded.tokenizer,
            name=self.loaded.name,
            kind=self.loaded.family,
        )
        sources: list[list[int]] = []
        targets: list[list[int]] = []
        for row, conversation in enumerate(conversations):
            text = self.render(conversation)
            before, endings = self._split(text, answers)
            longest = len(before) + max(map(len, endings))
            if longest > self._n_positions:
                raise InputError(
                    f"row {row}: the conversation has {longest} tokens with the answer,"
                    f" {self.loaded.name} takes at most {self._n_positions}; use fewer"
                    " demonstrations, or a model that takes longer texts"
                )
            sources.extend([before] * len(answers))
            targets.extend(endings)
        logprobs = evaluator.id_logprobs(sources, targets) if sources else []
        return np.array([row.sum() for row in logprobs]).reshape(-1, len(answers))

    @property
    def _has_template(self) -> bool:
        return bool(getattr(self.loaded.tokenizer, "chat_template", None))

    @property
    def _has_encoder(self) -> bool:
        return self.loaded.family in _ENCODER_DECODERS

    @property
    def _n_positions(self) -> int:
        """Tokens of conversation and reply together; T5 has relative positions, and no limit."""
        # Tokens that all answers share are not counted. What is compared are therefore the texts,
        # wherever their tokens begin.
        return sys.maxsize if self._has_encoder else positions(self.loaded.model)

    def _ids(self, text: str) -> list[int]:
        # A template writes the special tokens itself.
        encoded = self.loaded.tokenizer(
            text,
            add_special_tokens=not self._has_template or self._has_encoder,
            truncation=False,
            verbose=False,
        )["input_ids"]
        ids = [int(number) for number in encoded]
        end = self.loaded.tokenizer.eos_token_id
        # Some tokenizers end each text with EOS, after which a causal model begins another text.
        if not self._has_template and not self._has_encoder and ids[-1:] == [end]:
            ids = ids[:-1]
        return ids

    def _split(self, text: str, answers: Sequence[str]) -> tuple[list[int], list[list[int]]]:
        """Return the ids before the answers, and of each answer the ids after these."""
        if self._has_encoder:
            rows = self.loaded.tokenizer(
                list(answers), add_special_tokens=False, truncation=False, verbose=False
            )["input_ids"]
            return self._ids(text), [list(row) for row in rows]
        gap = "" if self._has_template else " "  # as `plain_text` writes it in earlier turns
        whole = [self._ids(f"{text}{gap}{answer}") for answer in answers]
        columns = zip(self._ids(text), *whole, strict=False)
        n_shared = sum(1 for _ in itertools.takewhile(lambda ids: len(set(ids)) == 1, columns))
        return whole[0][:n_shared], [row[n_shared:] for row in whole]

    def _too_long(self, length: int) -> Reply:
        """Return what stands for the reply to a conversation of too many tokens."""
        return Reply(
            None,
            f"too long: the conversation has {length} tokens and the reply up to"
            f" {self.decoding.max_new_tokens}, {self.loaded.name} takes at most"
            f" {self._n_positions}; use fewer demonstrations",
        )

    @torch.inference_mode()
    def _generate(self, rows: list[list[int]]) -> list[Reply]:
        model, tokenizer = self.loaded.model, self.loaded.tokenizer
        saved = model.generation_config
        ends = saved.eos_token_id if saved.eos_token_id is not None else tokenizer.eos_token_id
        pad = tokenizer.pad_token_id
        if pad is None:
            pad = next(iter(_as_list(ends)), 0)
        device = input_device(model)
        ids, mask = pad_ids(rows, pad=pad, device=device, side="left")
        n_before = 1 if self._has_encoder else ids.shape[1]
        stops = () if self._has_template else PLAIN_STOPS
        temperature = self.decoding.temperature
        settings = GenerationConfig(
            max_new_tokens=self.decoding.max_new_tokens,
            eos_token_id=ends,
            pad_token_id=pad,
            decoder_start_token_id=saved.decoder_start_token_id,
            do_sample=bool(temperature),
            **({"temperature": temperature, "top_k": 0} if temperature else {}),
        )
        with contextlib.ExitStack() as stack:
            stack.enter_context(_generation_config(model, settings))
            if temperature:
                stack.enter_context(_seeded(rows, device))
            output = model.generate(
                input_ids=ids,
                attention_mask=mask,
                stopping_criteria=StoppingCriteriaList([_StopTexts(tokenizer, stops, n_before)]),
            )
        written = output[:, n_before:]
        texts = tokenizer.batch_decode(written, skip_special_tokens=True)
        has_end = torch.isin(written, written.new_tensor(_as_list(ends))).any(1)
        return [
            Reply(
                _before_stop(text, stops).strip(),
                is_cut=not (is_ended or any(stop in text for stop in stops)),
            )
            for text, is_ended in zip(texts, has_end.tolist(), strict=True)
        ]


def answer_logprobs(
    respondent: Respondent, conversations: Sequence[Conversation], answers: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return the log-probability of each answer as the beginning of the reply of a local model.

    As natural logarithms, of shape (n, m).
    """
    if not isinstance(respondent, LocalChat):
        raise InputError(
            "log-probabilities of answers: expected a model on this machine, got"
            f" {respondent.identity}, which replies with text only"
        )
    return respondent.answer_logprobs(conversations, answers)


def _as_list(ids: int | Sequence[int] | None) -> list[int]:
    return [] if ids is None else [ids] if isinstance(ids, int) else list(ids)


def _before_stop(text: str, stops: Sequence[str]) -> str:
    return text[: min((text.find(stop) for stop in stops if stop in text), default=len(text))]


class _StopTexts(StoppingCriteria):  # type: ignore[misc]
    """Ends each reply at a stop string."""

    def __init__(self, tokenizer: Any, stops: Sequence[str], n_before: int) -> None:
        self._tokenizer = tokenizer
        self._stops = tuple(stops)
        self._n_before = n_before

    def __call__(
        self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **_: Any
    ) -> torch.BoolTensor:
        if not self._stops:
            stopped = [False] * len(input_ids)
        else:
            texts = self._tokenizer.batch_decode(
                input_ids[:, self._n_before :], skip_special_tokens=True
            )
            stopped = [any(stop in text for stop in self._stops) for text in texts]
        return torch.tensor(stopped, device=input_ids.device)  # type: ignore[return-value]


@contextlib.contextmanager
def _generation_config(model: Any, settings: GenerationConfig) -> Iterator[None]:
    """Replace the saved settings of generation while the context is open."""
    # `generate(..., generation_config=settings)` would complete `settings` by the saved ones, such
    # as a penalty of repetition.
    saved = model.generation_config
    model.generation_config = settings
    try:
        yield
    finally:
        model.generation_config = saved


@contextlib.contextmanager
def _seeded(rows: Sequence[Sequence[int]], device: torch.device) -> Iterator[None]:
    """Seed torch by the batch while the context is open, so that repeated runs sample the same."""
    numbers = ",".join(map(str, itertools.chain.from_iterable(rows)))
    digest = hashlib.sha256(numbers.encode()).digest()
    devices, kind = ([], "cuda") if device.type == "cpu" else ([device], device.type)
    # The state of torch's generators outside does not change.
    with torch.random.fork_rng(devices, device_type=kind):
        torch.manual_seed(int.from_bytes(digest[:7], "big"))
        yield
