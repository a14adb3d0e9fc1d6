"""Masked language models: the probability of each whole word at a masked position.

Any model of transformers' AutoModelForMaskedLM can be used, from a folder or the Hub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.cues.placement import insert_before
from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.teacher_forcing import pad_ids, positions
from cc_hf.files import is_folder

# This import comes first, since its error names the extra that installs torch.
from cc_hf.models.location import uses_cache_only
from cc_hf.models.pretrained import model_identity, pick_device
from cc_hf.models.weights import check_tokenizer, load_weights, reported_loading

# isort: split
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

__all__ = ["MaskedLM", "MaskedText", "load_masked_lm", "whole_words"]

_BATCH_LOGITS = 2**26  # 256 MB in float32
_UNUSED = re.compile(r"\[unused\d+\]")  # placeholders in BERT's vocabularies


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A sentence in the form that the model reads."""

    ids: tuple[int, ...]  # special tokens included
    mask_at: int  # 0-based position of the mask among them
    is_cut: bool  # tokens were removed to make it fit


class MaskedLM:
    """A masked language model with its tokenizer, on its device, in eval mode.

    `identity` is the commit of the Hub, or the first 12 hexadecimal digits of the SHA-256 over the
    model's files. `words` are the whole words that it can predict, see `whole_words`.
    """

    def __init__(self, model: Any, tokenizer: Any, *, name: str, identity: str) -> None:
        if tokenizer.mask_token_id is None:
            raise EvaluatorError(
                f"{name}: expected a masked language model, its tokenizer has no mask token"
            )
        self.model, self.tokenizer = model, tokenizer
        self.name, self.identity = name, identity
        self.words, self._word_ids = whole_words(tokenizer, n_logits=model.config.vocab_size)
        self.max_tokens = min(positions(model), tokenizer.model_max_length)

    @property
    def signature_name(self) -> str:
        """The name and identity, as in signatures."""
        return f"{self.name}@{self.identity}"

    def mask(
        self, sources: Sequence[str], starts: Sequence[int], *, rows: Sequence[int] | None = None
    ) -> list[MaskedText]:
        """Return each source with a mask before character `start`.

        A longer source than the model accepts is cut to a window of `max_tokens`, with the mask as
        near to its middle as the ends of the source allow. `rows` are numbers for messages.
        """
        token = self.tokenizer.mask_token
        for row, source in zip(range(len(sources)) if rows is None else rows, sources, strict=True):
            if token in source:
                raise InputError(
                    f"row {row}: the source holds {token!r}, the mask token of {self.name}; remove"
                    f" it: {source[:80]!r}"
                )
        texts = [
            insert_before(source, start, token)
            for source, start in zip(sources, starts, strict=True)
        ]
        return (
            [
                self._fit(text, list(ids))
                for text, ids in zip(texts, self._encode(texts), strict=True)
            ]
            if texts
            else []
        )

    def word_logprobs(
        self, texts: Sequence[MaskedText]
    ) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
        """Yield the index of each text with the log-probabilities of the words at its mask.

        These are natural logarithms, (len(words),), normalised over the whole vocabulary.
        """
        # Sorted by ids, so that the order and sums over it do not depend on that of `texts`.
        order = sorted(range(len(texts)), key=lambda i: texts[i].ids)
        lengths = [len(texts[i].ids) for i in order]
        batch_tokens = max(1, _BATCH_LOGITS // int(self.model.config.vocab_size))
        for batch in plan_batches(lengths, [0] * len(lengths), batch_tokens=batch_tokens):
            indices = [order[i] for i in batch]
            yield from zip(indices, self._run([texts[i] for i in indices]), strict=True)

    @torch.inference_mode()
    def _run(self, texts: Sequence[MaskedText]) -> npt.NDArray[np.float64]:
        pad = self.tokenizer.pad_token_id or 0
        ids, attention = pad_ids([text.ids for text in texts], pad=pad, device=self.model.device)
        logits = self.model(input_ids=ids, attention_mask=attention).logits
        at_mask = (
            logits[torch.arange(len(texts)), torch.tensor([text.mask_at for text in texts])]
            .cpu()
            .double()
            .log_softmax(-1)
        )
        logprobs: npt.NDArray[np.float64] = at_mask.numpy()[:, self._word_ids]
        if np.isnan(logprobs).any():
            raise EvaluatorError(
                f"{self.signature_name} returns probabilities that are not numbers; the model is"
                " damaged: download it again, or use another one"
            )
        return logprobs

    def _encode(self, texts: list[str], *, special: bool = True) -> list[list[int]]:
        return list(
            self.tokenizer(texts, add_special_tokens=special, truncation=False, verbose=False)[
                "input_ids"
            ]
        )

    def _fit(self, text: str, ids: list[int]) -> MaskedText:
        mask_at = ids.index(self.tokenizer.mask_token_id)
        if len(ids) <= self.max_tokens:
            return MaskedText(tuple(ids), mask_at, is_cut=False)
        plain = list(self._encode([text], special=False)[0])
        plain_at = plain.index(self.tokenizer.mask_token_id)
        n_before = mask_at - plain_at
        before, after = ids[:n_before], ids[n_before + len(plain) :]
        room = self.max_tokens - len(before) - len(after)
        start = min(max(plain_at - room // 2, 0), len(plain) - room)
        return MaskedText(
            (*before, *plain[start : start + room], *after),
            n_before + plain_at - start,
            is_cut=True,
        )


def load_masked_lm(
    name_or_path: str | Path, *, revision: str | None = None, device: str | None = None
) -> MaskedLM:
    """Load a masked language model in float32."""
    name = str(name_or_path)
    has_folder = is_folder(name)
    if not has_folder and (name.count("/") > 1 or name.startswith((".", "/", "~"))):
        raise EvaluatorError(
            f"no masked language model at {name!r}: expected a folder that transformers saved, or a"
            " model of the Hub; there is no such folder"
        )
    if has_folder and revision is not None:
        raise InputError(
            f"revision: {name} is a local model and has none; a revision applies to models of the"
            " Hub only"
        )
    target_device = pick_device(device)
    with reported_loading(name):
        options: dict[str, Any] = {"revision": revision}
        if uses_cache_only(name, name, revision):
            options["local_files_only"] = True
        model = load_weights(AutoModelForMaskedLM, name, name, dtype=torch.float32, **options)
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, **options)
        check_tokenizer(name, "masked_lm", model, tokenizer)
    model.to(target_device)
    return MaskedLM(
        model,
        tokenizer,
        name=Path(name).name if has_folder else name,
        identity=model_identity(model, name),
    )


def whole_words(tokenizer: Any, *, n_logits: int) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Return the words that a single token can represent, and their ids.

    These are the tokens that begin a word, as the tokenizer marks them: "Ġ" in byte-level BPE, "▁"
    in SentencePiece, no "##" in WordPiece. Special tokens, blanks, pieces of characters and ids
    from `n_logits` on are left out.

    Examples:
        >>> class WordPiece:
        ...     all_special_ids = (0,)
        ...
        ...     def get_vocab(self):
        ...         return {"[MASK]": 0, "bat": 1, "##ter": 2, "club": 3}
        >>> words, ids = whole_words(WordPiece(), n_logits=4)
        >>> words, ids.tolist()
        (('bat', 'club'), [1, 3])
    """
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    counts = {
        marker: sum(token.startswith(marker) for token in vocabulary) for marker in ("Ġ", "▁", "##")
    }
    # "##" and "▁" can be ordinary tokens elsewhere, so the most frequent marker is the real one.
    marker = max(counts, key=lambda m: counts[m])
    if not counts[marker]:
        raise EvaluatorError(
            'expected a tokenizer that marks where words begin ("Ġ", "▁") or go on ("##"), got one'
            " with none of these marks"
        )
    special = set(tokenizer.all_special_ids)
    # A token that begins a word may also be the first piece of a longer one; a masked language
    # model does not distinguish these. Byte-level BPE writes the first word of a text without its
    # mark; only the marked form is kept.
    ids: dict[str, int] = {}
    for token, number in sorted(vocabulary.items(), key=lambda item: item[1]):
        if (
            number in special
            or number >= n_logits
            or _UNUSED.fullmatch(token)
            or token.startswith(marker) == (marker == "##")
        ):
            continue
        word = (
            token
            if marker == "##"
            else token[1:]
            if marker == "▁"
            else tokenizer.convert_tokens_to_string([token]).strip()
        )
        if word and word.isprintable() and not re.search(r"[\s\ufffd]", word):
            ids.setdefault(word, number)
    return tuple(ids), np.array(list(ids.values()), dtype=np.int64)
