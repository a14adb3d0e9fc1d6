"""Masked language models as evaluators, by pseudo-log-likelihood (Salazar et al. 2020).

Each token of the translation is masked in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from cc_hf.errors import EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.prompt import PromptTemplate
from cc_hf.evaluators.teacher_forcing import pad_ids, positions, projection_input
from cc_hf.models.pretrained import input_device
from cc_hf.schema import ScoringRequest

__all__ = ["MaskedLMEvaluator"]

_BATCH_LOGITS = 2**26  # 256 MB in float32


class MaskedLMEvaluator(Evaluator):
    """Any model of AutoModelForMaskedLM.

    Source and translation are a pair of texts, as the tokenizer joins them. Only the translation's
    tokens are masked and counted, special tokens are not. An empty source is left out, so that the
    translation stands alone.

    Args:
        own_languages: ignored; a language model has no direction.
        prompt: a template (`PromptTemplate`) for the text before the translation, "{source}" by
            default. "" leaves out every source, so that contrastive sources cannot differ.
        max_tokens: length of the longest pair of texts, special tokens included; the model's number
            of positions limits it.

    Raises:
        InputError: for a template with other fields, or a language that it cannot name.
        EvaluatorError: for a tokenizer without a mask token.
    """

    takes_prompt: ClassVar[bool] = True

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        own_languages: tuple[str, str] = ("", ""),
        prompt: str | None = None,
        max_tokens: int,
        **options: Any,
    ) -> None:
        super().__init__(max_tokens=min(max_tokens, positions(model)), **options)
        if tokenizer.mask_token_id is None:
            raise EvaluatorError(
                f"{self.name}: expected a masked language model, its tokenizer has no mask token"
            )
        self.model = model
        self.tokenizer = tokenizer
        self.prompt = PromptTemplate("{source}" if prompt is None else prompt)
        self.check_given(self.src_lang, self.tgt_lang)
        self._alone = _frame(tokenizer, pair=False)
        self._pair = _frame(tokenizer, pair=True)
        self._second_type = min(
            tokenizer("a", "b").get("token_type_ids", [0])[-1],
            getattr(model.config, "type_vocab_size", 1) - 1,
        )

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of `Evaluator.signature_fields`, the prompt and the measure."""
        return {
            **super().signature_fields(),
            "prompt": self.prompt.text or "none",
            "logprob": "pll",
        }

    def check_language(self, side: str, lang: str) -> None:
        """Check that the prompt does not name the language, or can name it."""
        self.prompt.check_language(self.name, side, lang)

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the prompt tells the model."""
        return self.prompt.scored_as(side, lang)

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the filled prompts, without special tokens."""
        return self._plain_ids([self.prompt.fill(text, src_lang, tgt_lang) for text in texts])

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the translations, without special tokens: no EOS is counted."""
        return self._plain_ids(texts)

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Check that source and translation fit; cut the end of the translation if allowed."""
        if not target:
            raise InputError(
                f"row {request.row}: the translation {request.translation!r} has no tokens; there"
                " is nothing to mask"
            )
        length = sum(map(len, self._joined(source, target)[0::2])) + len(target)
        room = self.max_tokens - length + len(target)
        if room >= len(target):
            return source, target
        if self.on_too_long == "truncate" and room > 0:
            return source, target[:room]
        raise TooLongError(
            f"row {request.row}: the source and the translation have {length} tokens, {self.name}"
            f" takes at most {self.max_tokens}: {request.source[:80]!r}... Shorten them, use an"
            " evaluator that takes longer texts, or give `on_too_long` truncate or incorrect (the"
            " signature will say so)",
            translations=(request.translation,),
        )

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probability of every token of the translations, each masked once."""
        joined = [
            self._joined(source, target) for source, target in zip(sources, targets, strict=True)
        ]
        # One copy of the pair for each token: its probability needs all others to be visible.
        masks = [(row, i) for row, target in enumerate(targets) for i in range(len(target))]
        # Logits are limited apart: a vocabulary of 250,000 outweighs the hidden states.
        size = max(
            1,
            min(
                self.batch_tokens
                // max(len(before) + len(target) + len(after) for before, target, after in joined),
                _BATCH_LOGITS // self._n_logits,
            ),
        )
        logprobs = np.concatenate(
            [self._run(joined, masks[start : start + size]) for start in range(0, len(masks), size)]
        )
        return np.split(logprobs, np.cumsum([len(target) for target in targets])[:-1])

    @property
    def _n_logits(self) -> int:
        return int(self.model.get_output_embeddings().weight.shape[0])

    @torch.inference_mode()
    def _run(
        self,
        joined: Sequence[tuple[list[int], list[int], list[int]]],
        masks: Sequence[tuple[int, int]],
    ) -> npt.NDArray[np.float64]:
        """Return the log-probabilities of the tokens at (row, index within the translation)."""
        device, rows, types, columns = input_device(self.model), [], [], []
        for row, i in masks:
            before, target, after = joined[row]
            rows.append(
                [*before, *target[:i], self.tokenizer.mask_token_id, *target[i + 1 :], *after]
            )
            columns.append(len(before) + i)
            types.append(self._types(before, target, after))
        ids, attention = pad_ids(rows, pad=self.tokenizer.pad_token_id or 0, device=device)
        labels = torch.tensor([joined[row][1][i] for row, i in masks], device=device)
        row_index = torch.arange(len(masks), device=device)
        column_index = torch.tensor(columns, device=device)
        options = (
            {"token_type_ids": pad_ids(types, pad=0, device=device)[0]}
            if self._second_type > 0
            else {}
        )
        # Each copy has one mask, so the projection needs to see one state per copy only.
        with projection_input(
            self.model.get_output_embeddings(),
            lambda states: states[row_index.to(states.device), column_index.to(states.device)][
                :, None
            ],
        ):
            logits = (
                self.model(input_ids=ids, attention_mask=attention, **options).logits[:, 0].float()
            )
        label_logits = logits.gather(-1, labels[:, None].to(logits.device)).squeeze(-1)
        logprobs: npt.NDArray[np.float64] = (
            (label_logits - logits.logsumexp(-1)).cpu().double().numpy()
        )
        return logprobs

    def _joined(
        self, source: Sequence[int], target: Sequence[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Return the tokens before the translation, of the translation, and after it."""
        first, middle, last = self._pair if source else self._alone
        return [*first, *source, *middle], list(target), last

    def _types(self, before: list[int], target: list[int], after: list[int]) -> list[int]:
        """Return the token types, which in models such as BERT mark the second text of a pair."""
        second = self._second_type if len(before) > len(self._alone[0]) else 0
        return [0] * len(before) + [second] * (len(target) + len(after))

    def _plain_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return list(
            self.tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)[
                "input_ids"
            ]
        )


def _frame(tokenizer: Any, *, pair: bool) -> tuple[list[int], list[int], list[int]]:
    """Return the special tokens before, between (for a pair) and after the texts."""
    words = [
        tokenizer("a", add_special_tokens=False)["input_ids"],
        tokenizer("b", add_special_tokens=False)["input_ids"],
    ]
    ids = list(tokenizer("a", "b")["input_ids"] if pair else tokenizer("a")["input_ids"])
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    # The frame is read from an encoded pair, since tokenizers declare it in different ways.
    start = next(i for i, number in enumerate(ids) if number == words[0][0])
    if not pair:
        return ids[:start], [], ids[start + len(words[0]) :]
    after_first = ids[start + len(words[0]) :]
    n_between = next(i for i, number in enumerate(after_first) if number not in special)
    return ids[:start], after_first[:n_between], after_first[n_between + len(words[1]) :]
