"""Causal language models as evaluators: the log-probability of a translation after a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from cc_hf.errors import EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.families.prompt import DEFAULT_PROMPT, PromptTemplate
from cc_hf.evaluators.teacher_forcing import pad_ids, projection_input
from cc_hf.models.chat_templates import Message, chat_text
from cc_hf.models.pretrained import input_device
from cc_hf.schema import ScoringRequest

__all__ = ["CHAT", "CausalLMEvaluator"]

#: The beginning of a prompt that is a turn of the user in the chat template of the tokenizer; the
#: translation is the reply.
CHAT = "chat:"
_BATCH_LOGITS = 2**26  # 256 MB in float32


class CausalLMEvaluator(Evaluator):
    """Any model of AutoModelForCausalLM.

    Prompt and translation are tokenised separately, so that no token belongs to both. Only the
    translation's tokens are counted, and the EOS after them if the tokenizer has one. A prompt
    without tokens is replaced by BOS, or EOS if there is no BOS.

    Args:
        own_languages: ignored; a language model has no direction.
        prompt: a template (`PromptTemplate`), "" for none; None for `DEFAULT_PROMPT`. After `CHAT`,
            such as "chat:Translate into {tgt_name}: {source}", it is a turn of the user.

    Raises:
        InputError: for a template with other fields, a language that it cannot name, or `CHAT`
            where the tokenizer has no chat template.
        EvaluatorError: for a tokenizer without BOS and EOS.
    """

    takes_prompt: ClassVar[bool] = True

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        own_languages: tuple[str, str] = ("", ""),
        prompt: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.model = model
        self.tokenizer = tokenizer
        text = DEFAULT_PROMPT if prompt is None else prompt
        self.is_chat = text.startswith(CHAT)
        self.prompt = PromptTemplate(text.removeprefix(CHAT) if self.is_chat else text)
        if self.is_chat and not getattr(tokenizer, "chat_template", None):
            raise InputError(
                f"prompt: {self.name} has no chat template, which {CHAT!r} asks for; leave that out"
            )
        self.check_given(self.src_lang, self.tgt_lang)
        start = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
        if start is None:
            raise EvaluatorError(
                f"{self.name}: expected a tokenizer with a token for the beginning or the end of a"
                " text, it has neither"
            )
        self._start = [int(start)]
        self._end = [] if tokenizer.eos_token_id is None else [int(tokenizer.eos_token_id)]

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of `Evaluator.signature_fields` and the prompt."""
        text = f"{CHAT * self.is_chat}{self.prompt.text}"
        return {**super().signature_fields(), "prompt": text or "none"}

    def check_language(self, side: str, lang: str) -> None:
        """Check that the prompt does not name the language, or can name it."""
        self.prompt.check_language(self.name, side, lang)

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the prompt tells the model."""
        return self.prompt.scored_as(side, lang)

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the filled prompts, with the tokenizer's tokens before a text."""
        prompts = [self.prompt.fill(text, src_lang, tgt_lang) for text in texts]
        if self.is_chat:
            prompts = [
                chat_text(self.tokenizer, (Message("user", prompt),), name=self.name)
                for prompt in prompts
            ]
        # A chat template writes the special tokens itself.
        rows = self.tokenizer(
            prompts, add_special_tokens=not self.is_chat, truncation=False, verbose=False
        )["input_ids"]
        return [
            (row[:-1] if row[-1:] == self._end else row) or self._start for row in map(list, rows)
        ]

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the translations, without the prompt, with EOS."""
        rows = self.tokenizer(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )["input_ids"]
        return [[*row, *self._end] for row in rows]

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Check that prompt and translation fit; cut the translation before its EOS if allowed."""
        # The prompt is never cut.
        room = self.max_tokens - len(source)
        if len(target) <= room:
            return source, target
        if self.on_too_long == "truncate" and room > 1:
            return source, [*target[: room - 1], target[-1]]
        raise TooLongError(
            f"row {request.row}: the source and the translation have {len(source) + len(target)}"
            f" tokens with the prompt, {self.name} takes at most {self.max_tokens}:"
            f" {request.source[:80]!r}... Shorten them, use an evaluator that takes longer texts,"
            " or pass on_too_long='truncate' (the signature will say so)"
        )

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probabilities of the translations' tokens."""
        lengths = [len(target) for target in targets]
        # Logits are computed at the translations' positions only, and for as many pairs at a time
        # as the memory allows.
        n_logits = int(self.model.get_output_embeddings().weight.shape[0])
        logprobs: list[npt.NDArray[np.float64]] = [np.empty(0)] * len(targets)
        for part in plan_batches(
            lengths, [0] * len(lengths), batch_tokens=max(1, _BATCH_LOGITS // n_logits)
        ):
            for i, row in zip(
                part, self._run([sources[i] for i in part], [targets[i] for i in part]), strict=True
            ):
                logprobs[i] = row
        return logprobs

    @torch.inference_mode()
    def _run(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probabilities of pairs whose logits fit into memory."""
        device = input_device(self.model)
        rows = [[*source, *target] for source, target in zip(sources, targets, strict=True)]
        ids, attention = pad_ids(
            [row[:-1] for row in rows], pad=self.tokenizer.pad_token_id or 0, device=device
        )
        columns = torch.arange(ids.shape[1], device=device)
        # The last token of the prompt predicts the first one of the translation.
        starts = torch.tensor([len(source) - 1 for source in sources], device=device)[:, None]
        real = (columns >= starts) & attention.bool()
        labels = torch.tensor([number for target in targets for number in target], device=device)
        # The states of all rows become one row, so that the projection sees no other position.
        with projection_input(
            self.model.get_output_embeddings(), lambda states: states[real.to(states.device)][None]
        ):
            logits = (
                self.model(input_ids=ids, attention_mask=attention, use_cache=False)
                .logits[0]
                .float()
            )
        logprobs = (
            (
                logits.gather(-1, labels[:, None].to(logits.device)).squeeze(-1)
                - logits.logsumexp(-1)
            )
            .cpu()
            .double()
            .numpy()
        )
        return np.split(logprobs, np.cumsum([len(target) for target in targets])[:-1])
