"""Positional log-probabilities by a plain forward pass of transformers, a batch of one, as the documentation of each model says; nothing of cc_hf.

English to German. Each function: folder, source, translation -> (number of target tokens that count,) float64.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import (
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianMTModel,
    MarianTokenizer,
    NllbTokenizer,
)


def _logprobs(model: Any, source_ids: list[int], decoder_ids: list[int], labels: list[int], **options: Any) -> torch.Tensor:
    """The decoder is given all ids of `decoder_ids`; the label at each place comes after it."""
    with torch.no_grad():
        logits = model.eval()(input_ids=torch.tensor([source_ids]), decoder_input_ids=torch.tensor([decoder_ids]), **options).logits[0]
    found: torch.Tensor = logits.double().log_softmax(-1)[range(len(labels)), labels]
    return found


def marian(folder: Path, source: str, translation: str) -> torch.Tensor:
    """`decoder_start_token_id` is <pad>."""
    model, tokenizer = MarianMTModel.from_pretrained(folder), MarianTokenizer.from_pretrained(folder)
    labels = tokenizer(text_target=translation)["input_ids"]
    return _logprobs(model, tokenizer(source)["input_ids"], [tokenizer.pad_token_id, *labels[:-1]], labels)


def m2m100(folder: Path, source: str, translation: str) -> torch.Tensor:
    """`[lang_code] X [eos]` on both sides, behind </s>."""
    return _language_first(M2M100ForConditionalGeneration, M2M100Tokenizer.from_pretrained(folder, src_lang="en", tgt_lang="de"), folder, source, translation)


def nllb(folder: Path, source: str, translation: str) -> torch.Tensor:
    """As M2M100."""
    return _language_first(M2M100ForConditionalGeneration, NllbTokenizer.from_pretrained(folder, src_lang="eng_Latn", tgt_lang="deu_Latn"), folder, source, translation)


def small100(folder: Path, source: str, translation: str) -> torch.Tensor:
    """The model card: `[tgt_lang_code] X [eos]` as the source, `X [eos]` as the target."""
    model, tokenizer = M2M100ForConditionalGeneration.from_pretrained(folder), M2M100Tokenizer.from_pretrained(folder, src_lang="de", tgt_lang="en")
    labels = tokenizer(text_target=translation)["input_ids"][1:]
    return _logprobs(model, tokenizer(source)["input_ids"], [2, *labels[:-1]], labels)


def _language_first(model_class: Any, tokenizer: Any, folder: Path, source: str, translation: str) -> torch.Tensor:
    labels = tokenizer(text_target=translation)["input_ids"]
    found = _logprobs(model_class.from_pretrained(folder), tokenizer(source)["input_ids"], [2, *labels[:-1]], labels)
    return found[1:]  # the language is given


#: registered family -> its plain forward pass
PLAIN: dict[str, Callable[[Path, str, str], torch.Tensor]] = {
    "m2m_100": m2m100,
    "marian": marian,
    "nllb": nllb,
    "small100": small100,
}
