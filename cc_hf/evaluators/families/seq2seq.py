"""What all sequence-to-sequence families share.

The encoder runs once per distinct source, the decoder by teacher forcing, and the projection to the
vocabulary at real target positions only. A family defines how languages and labels are marked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.distributed import Apply
from cc_hf.evaluators.fast.arithmetic import is_bf16_fast, is_int8_faster
from cc_hf.evaluators.fast.int8_products import is_int8_available
from cc_hf.evaluators.fast.lanes import in_lanes
from cc_hf.evaluators.fast.packed import ACTIVATIONS, PackedModel, first_position, n_positions
from cc_hf.evaluators.teacher_forcing import (
    embeddings_without,
    label_logprobs,
    pad_ids,
    projection_input,
)
from cc_hf.languages import LANGUAGES, base_code, canonical, same_language
from cc_hf.models.finite_weights import check_finite_weights
from cc_hf.models.pretrained import input_device

__all__ = ["Seq2SeqEvaluator"]


class Seq2SeqEvaluator(Evaluator):
    """A model of transformers with an encoder and a decoder, and its tokenizer.

    A target consists of the ids that the decoder must produce after `decoder_start`, with EOS last.
    The first `n_forced` of them are given to the model (a language token) and never counted.

    Attributes:
        own_languages: languages of a model with one direction under "source" and "target", "" if
            the tokenizer does not name them.
        decoder_start: ids before every target; empty in models that start with a language token.
        n_forced: number of tokens at the start of a target that are not counted.
        weights_change: whether the model is in training, so that nothing prepared from its weights
            is kept from one call to the next.

    Args:
        own_languages: source and target language of the model, "" if not known.
        src_lang, tgt_lang: default languages, "" for those of the model.

    Raises:
        InputError: for a language that the model does not support.
    """

    n_forced: int = 0
    weights_change: bool = False

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        own_languages: tuple[str, str] = ("", ""),
        src_lang: str = "",
        tgt_lang: str = "",
        **options: Any,
    ) -> None:
        super().__init__(
            src_lang=src_lang or own_languages[0], tgt_lang=tgt_lang or own_languages[1], **options
        )
        self._model = model
        self._tokenizer = tokenizer
        self.own_languages = dict(zip(("source", "target"), own_languages, strict=True))
        start = getattr(model.config, "decoder_start_token_id", None)
        start = model.generation_config.decoder_start_token_id if start is None else start
        self.decoder_start: tuple[int, ...] = () if start is None else (int(start),)
        self.check_given(src_lang, tgt_lang)

    @property
    def model(self) -> Any:
        """The model of transformers, which replaces a light one when it is first asked for."""
        if "load_whole" in vars(self._model):
            if "whole" not in vars(self._model):
                # What was prepared from the weights is made again, since they may now change.
                vars(self).pop("packed", None)
            return self._model.whole
        return self._model

    @model.setter
    def model(self, model: Any) -> None:
        self._model = model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of transformers. A light one is used until the model is asked for."""
        return getattr(self._tokenizer, "whole", self._tokenizer)

    @tokenizer.setter
    def tokenizer(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    @property
    def scoring_model(self) -> Any:
        """The model whose weights are scored with: a light one until `model` was asked for."""
        return vars(self._model).get("whole", self._model)

    @property
    def projection(self) -> torch.nn.Linear:
        """The linear layer that makes logits."""
        projection: torch.nn.Linear = self.model.lm_head
        return projection

    def check_language(self, side: str, lang: str) -> None:
        """Check that a language is of the model's direction, as far as the tokenizer names it.

        A group of languages ("gem", "mul") accepts any language.

        Raises:
            InputError: for any other language; "" is accepted.
        """
        known = self.own_languages[side]
        if lang and base_code(known) in LANGUAGES and not same_language(lang, known):
            directions = " to ".join(repr(language) for language in self.own_languages.values())
            raise InputError(
                f"{self.name} does not support the {side} language {lang!r}: it translates from"
                f" {directions}"
            )

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language of the model; it is not told which of its varieties is meant."""
        known = canonical(self.own_languages[side])
        return known if same_language(known, lang) else base_code(lang)

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the sources by the source side of the tokenizer, with EOS."""
        return list(self.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"])

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the ids of the translations by the target side of the tokenizer, with EOS."""
        return list(
            self.tokenizer(text_target=list(texts), truncation=False, verbose=False)["input_ids"]
        )

    @cached_property
    def packed(self) -> PackedModel | None:
        """The faster pass in the evaluator's mode, or None; in mode "exact" on the CPU only."""
        arithmetic = "exact" if self.mode == "auto" else self.mode
        if not self._is_packable() or (arithmetic == "exact" and self.device != "cpu"):
            return None
        # The weights may have changed since loading, and products with ReLU turn NaN into 0.
        check_finite_weights(self.scoring_model, self.name)
        return PackedModel(self.scoring_model, mode=arithmetic)

    def refresh(self) -> None:
        """Drop the packed weights of a model in training."""
        if self.weights_change:
            vars(self).pop("packed", None)

    @cached_property
    def fast(self) -> Evaluator | None:
        """In mode "auto", a copy in mode "bf16"; otherwise None."""
        return self.with_mode("bf16") if self.mode == "auto" else None

    def fast_modes(self) -> tuple[str, ...]:
        """Return "bf16" if there is a packed pass, and on the CPU "int8" unless bf16 is faster."""
        if not self._is_packable():
            return ()
        has_int8 = self.device == "cpu" and is_int8_available() and is_int8_faster()
        return ("bf16", "int8") if has_int8 else ("bf16",)

    def with_mode(self, mode: str) -> Evaluator:
        """Return a copy in another mode; "int8" is refused where it is not known to be faster."""
        if (
            mode == "int8"
            and self.device == "cpu"
            and "bf16" in self.fast_modes()
            and not is_int8_faster()
        ):
            raise InputError(
                "mode: int8 is offered only where it is known to be faster than bf16; on this"
                " processor it is about as fast at best; use bf16, which is nearer to the exact"
                " scores"
            )
        variant = super().with_mode(mode)
        # A copy also copies cached properties, which are those of the other mode.
        for name in ("packed", "fast"):
            vars(variant).pop(name, None)
        return variant

    def _gains_by_bf16(self) -> bool:
        """Return whether the packed pass can use native bf16 instructions."""
        return self._is_packable() and is_bf16_fast(self.device)

    def _is_packable(self) -> bool:
        model = self.scoring_model
        if (
            first_position(model) is None
            or model.config.activation_function not in ACTIVATIONS
            or model.dtype != torch.float32
            or n_positions(model) < self.max_tokens
        ):
            return False
        # The packed pass cannot run on a model that is spread over several devices.
        return len(
            {parameter.device for parameter in model.parameters()}
        ) == 1 and model.device.type in ("cpu", "cuda")

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return log-probabilities of targets, without the first `n_forced`, by teacher forcing."""
        rows = [(*self.decoder_start, *target) for target in targets]
        inputs, labels = [row[:-1] for row in rows], [row[1:] for row in rows]
        n_uncounted = len(self.decoder_start) + self.n_forced - 1
        if self.packed is not None:
            return self.packed.logprobs(
                sources, inputs, labels, n_uncounted=n_uncounted, batch_tokens=self.batch_tokens
            )
        return self._by_the_model(sources, inputs, labels, n_uncounted)

    @property
    def apply(self) -> Apply:
        """`in_lanes` for the packed pass on the CPU; `map` otherwise."""
        # Reading `packed` prepares it, before several threads need it.
        return map if self.packed is None or self.device != "cpu" else in_lanes

    def logprobs_without(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        removed: Sequence[int | None],
    ) -> list[npt.NDArray[np.float64]]:
        """Return log-probabilities as `logprobs_batch`, without the embedding of a source token.

        The embedding is replaced by zeros; the token keeps its position and is attended to. The
        model itself computes exactly, whatever the mode. Targets may be cut, since a token does not
        depend on those after it.

        Args:
            removed: index of the token in the source of each pair; None leaves the source as it is.
        """
        rows = [(*self.decoder_start, *target) for target in targets]
        n_uncounted = len(self.decoder_start) + self.n_forced - 1
        return self._by_the_model(
            sources, [row[:-1] for row in rows], [row[1:] for row in rows], n_uncounted, removed
        )

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokenizer's names of source tokens; `target_pieces` those of target tokens."""
        return list(self.tokenizer.convert_ids_to_tokens(list(ids)))

    target_pieces = source_pieces

    @property
    def mark_ids(self) -> frozenset[int]:
        """The ids of tokens without text, such as EOS and languages; not the unknown token."""
        return frozenset(self._tokenizer.all_special_ids) - {self._tokenizer.unk_token_id}

    def _by_the_model(
        self,
        sources: Sequence[Sequence[int]],
        inputs: Sequence[Sequence[int]],
        rows: Sequence[Sequence[int]],
        n_uncounted: int,
        removed: Sequence[int | None] = (),
    ) -> list[npt.NDArray[np.float64]]:
        with torch.inference_mode():
            decoded = self._teacher_forcing(sources, inputs, rows, n_uncounted, removed)
            logprobs = label_logprobs(*decoded, self.project, n_vocabulary=self.n_vocabulary)
            mask = decoded[2]
        return np.split(logprobs.numpy(), np.cumsum(mask.sum(1).cpu().numpy())[:-1])

    @property
    def n_vocabulary(self) -> int:
        """The number of logits."""
        return int(self.projection.weight.shape[0])

    def project(self, states: torch.Tensor) -> torch.Tensor:
        """Return the logits, (k, n_vocabulary), of states (k, width)."""
        logits: torch.Tensor = self.projection(states)
        bias = getattr(self.model, "final_logits_bias", None)
        return logits if bias is None else logits + bias.to(logits.device)

    def _teacher_forcing(
        self,
        sources: Sequence[Sequence[int]],
        inputs: Sequence[Sequence[int]],
        rows: Sequence[Sequence[int]],
        n_uncounted: int,
        removed: Sequence[int | None] = (),
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the decoder's states (n, length, width), the labels and their mask (n, length)."""
        pad, device = self.model.config.pad_token_id, input_device(self.model)
        input_ids, _ = pad_ids(inputs, pad=pad, device=device)
        labels, mask = pad_ids(rows, pad=pad, device=device)
        mask[:, :n_uncounted] = 0
        # The encoder runs once for each distinct source; its states are repeated for the decoder.
        keys = list(zip(map(tuple, sources), removed or [None] * len(sources), strict=True))
        row_of = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        source_ids, source_mask = pad_ids([source for source, _ in row_of], pad=pad, device=device)
        encoder = self.model.get_encoder()
        with (
            embeddings_without(encoder.embed_tokens, [column for _, column in row_of])
            if removed
            else contextlib.nullcontext()
        ):
            encoded = encoder(input_ids=source_ids, attention_mask=source_mask)
        if len(row_of) < len(sources):
            encoder_rows = torch.tensor([row_of[key] for key in keys], device=device)
            source_ids, source_mask = source_ids[encoder_rows], source_mask[encoder_rows]
            # A decoder may read more of the sources than their last states.
            encoded = type(encoded)(
                **{
                    name: value[encoder_rows.to(value.device)]
                    for name, value in encoded.items()
                    if isinstance(value, torch.Tensor)
                }
            )
        return self._decode(input_ids, source_ids, source_mask, encoded), labels, mask

    def _decode(
        self,
        inputs: torch.Tensor,
        source_ids: torch.Tensor,
        source_mask: torch.Tensor,
        encoded: Any,
    ) -> torch.Tensor:
        """Return the states that the projection would read."""
        captured: list[torch.Tensor] = []

        def keep(hidden: torch.Tensor) -> torch.Tensor:
            captured.append(hidden)
            return hidden[:, :0]  # the projection computes no logits here, only for real positions

        with projection_input(self.projection, keep):
            # Without `use_cache=False` and the ids of the source, FSMT drops the causal mask.
            self.model(
                input_ids=source_ids,
                attention_mask=source_mask,
                encoder_outputs=encoded,
                decoder_input_ids=inputs,
                use_cache=False,
            )
        return captured[0]

    def forced_tokens(self, tgt_lang: str) -> list[int]:
        """Return the `n_forced` ids at the beginning of every target."""
        return []

    def generation_options(self, tgt_lang: str) -> dict[str, Any]:
        """Return the options with which `generate` translates into a language."""
        forced = self.forced_tokens(tgt_lang)
        return (
            {}
            if not forced
            else (
                {"forced_bos_token_id": forced[0]}
                if self.decoder_start
                else {"decoder_start_token_id": forced[0]}
            )
        )
