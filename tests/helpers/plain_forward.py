"""Positional log-probabilities by a plain forward pass of transformers in a batch of one, as the
documentation of each model describes it, without code of cc_hf.

English to German. Each function: folder, source, translation -> (number of counted target tokens,)
float64.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    FSMTForConditionalGeneration,
    FSMTTokenizer,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianMTModel,
    MarianTokenizer,
    MBart50Tokenizer,
    MBartForConditionalGeneration,
    MBartTokenizer,
    NllbTokenizer,
    T5Tokenizer,
)
from transformers.models.mbart.modeling_mbart import shift_tokens_right

from tests.helpers.bergamot_reference import ReferenceStudent
from tests.helpers.contract_cases import study_cases


def _logprobs(
    model: Any, source_ids: list[int], decoder_ids: list[int], labels: list[int], **options: Any
) -> torch.Tensor:
    """Score targets: the decoder gets all ids of `decoder_ids`, and the label of a position is the
    id after it.
    """
    with torch.no_grad():
        logits = model.eval()(
            input_ids=torch.tensor([source_ids]),
            decoder_input_ids=torch.tensor([decoder_ids]),
            **options,
        ).logits[0]
    found: torch.Tensor = logits.double().log_softmax(-1)[range(len(labels)), labels]
    return found


def marian(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with Marian; `decoder_start_token_id` is <pad>."""
    model, tokenizer = (
        MarianMTModel.from_pretrained(folder),
        MarianTokenizer.from_pretrained(folder),
    )
    labels = tokenizer(text_target=translation)["input_ids"]
    return _logprobs(
        model, tokenizer(source)["input_ids"], [tokenizer.pad_token_id, *labels[:-1]], labels
    )


def m2m100(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with `[lang_code] X [eos]` on both sides; the target follows </s>."""
    return _language_first(
        M2M100ForConditionalGeneration,
        M2M100Tokenizer.from_pretrained(folder, src_lang="en", tgt_lang="de"),
        folder,
        source,
        translation,
    )


def nllb(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with NLLB, in the format of M2M100."""
    return _language_first(
        M2M100ForConditionalGeneration,
        NllbTokenizer.from_pretrained(folder, src_lang="eng_Latn", tgt_lang="deu_Latn"),
        folder,
        source,
        translation,
    )


def nllb_legacy(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with the first release of NLLB: sources are `X [eos, lang_code]`; translations begin
    with the language, which `generate` forces.
    """
    model, tokenizer = (
        M2M100ForConditionalGeneration.from_pretrained(folder),
        NllbTokenizer.from_pretrained(folder, src_lang="eng_Latn", tgt_lang="deu_Latn"),
    )
    source_ids = tokenizer(source)["input_ids"]
    assert source_ids[-2:] == tokenizer.convert_tokens_to_ids(["</s>", "eng_Latn"])
    labels = [
        tokenizer.convert_tokens_to_ids("deu_Latn"),
        *tokenizer(translation)["input_ids"][:-1],
    ]
    return _logprobs(model, source_ids, [2, *labels[:-1]], labels)[1:]


def small100(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score as in the model card: `[tgt_lang_code] X [eos]` as the source, `X [eos]` as the target."""
    model, tokenizer = (
        M2M100ForConditionalGeneration.from_pretrained(folder),
        M2M100Tokenizer.from_pretrained(folder, src_lang="de", tgt_lang="en"),
    )
    labels = tokenizer(text_target=translation)["input_ids"][1:]
    return _logprobs(model, tokenizer(source)["input_ids"], [2, *labels[:-1]], labels)


def mbart50(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with `[lang_code] X [eos]` on both sides; the target follows </s>."""
    return _language_first(
        MBartForConditionalGeneration,
        MBart50Tokenizer.from_pretrained(folder, src_lang="en_XX", tgt_lang="de_DE"),
        folder,
        source,
        translation,
    )


def mbart25(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with `X [eos, lang_code]` on both sides; the decoder gets the labels with the last
    token moved to the front.
    """
    model, tokenizer = (
        MBartForConditionalGeneration.from_pretrained(folder),
        MBartTokenizer.from_pretrained(folder, src_lang="en_XX", tgt_lang="de_DE"),
    )
    labels = tokenizer(text_target=translation, return_tensors="pt")["input_ids"]
    decoder_ids = shift_tokens_right(labels.clone(), tokenizer.pad_token_id)[0].tolist()
    # the language after EOS is not counted
    return _logprobs(model, tokenizer(source)["input_ids"], decoder_ids, labels[0].tolist())[:-1]


def fsmt(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with target ids by a tokenizer of the other direction, whose source side is the target
    side here; `use_cache=False` keeps the causal mask.
    """
    model, tokenizer = (
        FSMTForConditionalGeneration.from_pretrained(folder),
        FSMTTokenizer.from_pretrained(folder),
    )
    reverse = FSMTTokenizer(
        langs=["de", "en"],
        src_vocab_file=str(folder / "vocab-tgt.json"),
        tgt_vocab_file=str(folder / "vocab-src.json"),
        merges_file=str(folder / "merges.txt"),
    )
    labels = reverse(translation)["input_ids"]
    return _logprobs(
        model, tokenizer(source)["input_ids"], [2, *labels[:-1]], labels, use_cache=False
    )


def t5(
    folder: Path, source: str, translation: str, prompt: str = "translate English to German: "
) -> torch.Tensor:
    """Score as in appendix D of the paper; `decoder_start_token_id` is <pad>."""
    model, tokenizer = (
        AutoModelForSeq2SeqLM.from_pretrained(folder),
        T5Tokenizer.from_pretrained(folder),
    )
    labels = tokenizer(text_target=translation)["input_ids"]
    return _logprobs(
        model,
        tokenizer(prompt + source)["input_ids"],
        [tokenizer.pad_token_id, *labels[:-1]],
        labels,
    )


def masked_lm(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score as in equation 1 of Salazar et al. 2020: each token of the translation is masked in
    turn; the tokenizer joins the pair.
    """
    model, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    encoded = (
        tokenizer(source, translation, return_tensors="pt")
        if source
        else tokenizer(translation, return_tensors="pt")
    )
    second = [i for i, part in enumerate(encoded.sequence_ids(0)) if part == (1 if source else 0)]
    found = []
    for place in second:
        ids = encoded["input_ids"].clone()
        ids[0, place] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(**{**encoded, "input_ids": ids}).logits
        found.append(logits[0, place].double().log_softmax(-1)[encoded["input_ids"][0, place]])
    return torch.stack(found)


def causal_lm(
    folder: Path, source: str, translation: str, prompt: str = "English:\n{}\nGerman:\n"
) -> torch.Tensor:
    """Score token after token, each by a pass over everything before it."""
    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    ids = tokenizer(prompt.format(source))["input_ids"]
    labels = [
        *tokenizer(translation, add_special_tokens=False)["input_ids"],
        tokenizer.eos_token_id,
    ]
    with torch.no_grad():
        logits = model(torch.tensor([ids + labels])).logits[0]
    found: torch.Tensor = logits.double().log_softmax(-1)[
        range(len(ids) - 1, len(ids) + len(labels) - 1), labels
    ]
    return found


def _language_first(
    model_class: Any, tokenizer: Any, folder: Path, source: str, translation: str
) -> torch.Tensor:
    labels = tokenizer(text_target=translation)["input_ids"]
    found = _logprobs(
        model_class.from_pretrained(folder),
        tokenizer(source)["input_ids"],
        [2, *labels[:-1]],
        labels,
    )
    return found[1:]  # the language is given and not counted


def bergamot(folder: Path, source: str, translation: str) -> torch.Tensor:
    """By numpy, from the file of Marian that the folder was made of."""
    student = ReferenceStudent(next(folder.glob("marian-model*.bin")))
    processor = sentencepiece.SentencePieceProcessor(
        model_file=str(next(folder.glob("marian-vocab*.spm")))
    )
    ids, labels = ([*processor.encode(text), 0] for text in (source, translation))
    return torch.from_numpy(student.logprobs(ids, labels))


#: registered family -> its plain forward pass
PLAIN: dict[str, Callable[[Path, str, str], torch.Tensor]] = {
    "bergamot": bergamot,
    "causal_lm": causal_lm,
    "fsmt": fsmt,
    "m2m_100": m2m100,
    "marian": marian,
    "masked_lm": masked_lm,
    "mbart": mbart50,
    "mt5": t5,
    "nllb": nllb,
    "small100": small100,
    "t5": t5,
    "umt5": t5,
    **{
        family: case.plain
        for cases in study_cases().values()
        for family, case in cases.families.items()
    },
}
