"""Positional log-probabilities by a plain forward pass of transformers in a batch of one, as the
documentation of each model describes it, without code of cc_hf.

English to German. Each function: folder, source, translation -> (number of counted target tokens,)
float64.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers
from transformers import AutoTokenizer
from transformers.models.mbart.modeling_mbart import shift_tokens_right

from tests.helpers.bergamot_reference import ReferenceStudent
from tests.helpers.contract_cases import study_families


def _logprobs(
    folder: Path,
    source_ids: list[int],
    labels: list[int],
    *,
    start: int = 2,
    decoder_ids: list[int] | None = None,
    **options: Any,
) -> torch.Tensor:
    """Score targets: the decoder gets `start` and all labels but the last, unless told otherwise,
    and the label of a position is the id after it.
    """
    model: Any = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    decoder_ids = decoder_ids or [start, *labels[:-1]]
    with torch.no_grad():
        inputs = {"decoder_input_ids": torch.tensor([decoder_ids]), **options}
        output = model(torch.tensor([source_ids]), **inputs)
    actual: torch.Tensor = output.logits[0].double().log_softmax(-1)[range(len(labels)), labels]
    return actual


def _language_first(folder: Path, tokenizer: Any, source: str, translation: str) -> torch.Tensor:
    """Score with `[lang_code] X [eos]` on both sides; the target follows </s>."""
    labels = tokenizer(text_target=translation)["input_ids"]
    # the language is given and not counted
    return _logprobs(folder, tokenizer(source)["input_ids"], labels)[1:]


def marian(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with Marian; `decoder_start_token_id` is <pad>."""
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    labels = tokenizer(text_target=translation)["input_ids"]
    return _logprobs(folder, tokenizer(source)["input_ids"], labels, start=tokenizer.pad_token_id)


def m2m100(folder: Path, source: str, translation: str) -> torch.Tensor:
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(folder, src_lang="en", tgt_lang="de")
    return _language_first(folder, tokenizer, source, translation)


_FLORES = {"src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}


def nllb(folder: Path, source: str, translation: str) -> torch.Tensor:
    tokenizer = transformers.NllbTokenizer.from_pretrained(folder, **_FLORES)
    return _language_first(folder, tokenizer, source, translation)


def nllb_legacy(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with the first release of NLLB: sources are `X [eos, lang_code]`; translations begin
    with the language, which `generate` forces.
    """
    tokenizer = transformers.NllbTokenizer.from_pretrained(folder, **_FLORES)
    source_ids = tokenizer(source)["input_ids"]
    assert source_ids[-2:] == tokenizer.convert_tokens_to_ids(["</s>", "eng_Latn"])
    language = tokenizer.convert_tokens_to_ids("deu_Latn")
    return _logprobs(folder, source_ids, [language, *tokenizer(translation)["input_ids"][:-1]])[1:]


def small100(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score as in the model card: the source is `[tgt_lang_code] X [eos]`, the target `X [eos]`."""
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(folder, src_lang="de", tgt_lang="en")
    labels = tokenizer(text_target=translation)["input_ids"][1:]
    return _logprobs(folder, tokenizer(source)["input_ids"], labels)


_MBART = {"src_lang": "en_XX", "tgt_lang": "de_DE"}


def mbart50(folder: Path, source: str, translation: str) -> torch.Tensor:
    tokenizer = transformers.MBart50Tokenizer.from_pretrained(folder, **_MBART)
    return _language_first(folder, tokenizer, source, translation)


def mbart25(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with `X [eos, lang_code]` on both sides; the decoder gets the labels with the last
    token moved to the front.
    """
    tokenizer = transformers.MBartTokenizer.from_pretrained(folder, **_MBART)
    labels = tokenizer(text_target=translation, return_tensors="pt")["input_ids"]
    decoder_ids = shift_tokens_right(labels.clone(), tokenizer.pad_token_id)[0].tolist()
    ids = tokenizer(source)["input_ids"]
    # the language after EOS is not counted
    return _logprobs(folder, ids, labels[0].tolist(), decoder_ids=decoder_ids)[:-1]


def fsmt(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score with target ids by a tokenizer of the other direction, whose source side is the target
    side here; `use_cache=False` keeps the causal mask.
    """
    tokenizer = transformers.FSMTTokenizer.from_pretrained(folder)
    files = {"src_vocab_file": "vocab-tgt.json", "tgt_vocab_file": "vocab-src.json"}
    paths = {name: str(folder / file) for name, file in files.items()}
    paths["merges_file"] = str(folder / "merges.txt")
    labels = transformers.FSMTTokenizer(langs=["de", "en"], **paths)(translation)["input_ids"]
    return _logprobs(folder, tokenizer(source)["input_ids"], labels, use_cache=False)


def t5(
    folder: Path, source: str, translation: str, prompt: str = "translate English to German: "
) -> torch.Tensor:
    """Score as in appendix D of the paper; `decoder_start_token_id` is <pad>."""
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder)
    labels = tokenizer(text_target=translation)["input_ids"]
    ids = tokenizer(prompt + source)["input_ids"]
    return _logprobs(folder, ids, labels, start=tokenizer.pad_token_id)


def masked_lm(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score as in equation 1 of Salazar et al. 2020: each token of the translation is masked in
    turn; the tokenizer joins the pair.
    """
    model: Any = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = (source, translation) if source else (translation,)
    encoded = tokenizer(*texts, return_tensors="pt")
    second = [i for i, part in enumerate(encoded.sequence_ids(0)) if part == (1 if source else 0)]
    actual = []
    for position in second:
        ids = encoded["input_ids"].clone()
        ids[0, position] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(**{**encoded, "input_ids": ids}).logits
        actual.append(
            logits[0, position].double().log_softmax(-1)[encoded["input_ids"][0, position]]
        )
    return torch.stack(actual)


def causal_lm(
    folder: Path, source: str, translation: str, prompt: str = "English:\n{}\nGerman:\n"
) -> torch.Tensor:
    """Score token after token, each by a pass over everything before it."""
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(prompt.format(source))["input_ids"]
    written = tokenizer(translation, add_special_tokens=False)["input_ids"]
    labels = [*written, tokenizer.eos_token_id]
    with torch.no_grad():
        logits = model(torch.tensor([ids + labels])).logits[0]
    places = range(len(ids) - 1, len(ids) + len(labels) - 1)
    actual: torch.Tensor = logits.double().log_softmax(-1)[places, labels]
    return actual


def bergamot(folder: Path, source: str, translation: str) -> torch.Tensor:
    """By numpy, from the file of Marian that the folder was made of."""
    student = ReferenceStudent(next(folder.glob("marian-model*.bin")))
    vocabulary = str(next(folder.glob("marian-vocab*.spm")))
    processor = sentencepiece.SentencePieceProcessor(model_file=vocabulary)
    ids, labels = ([*processor.encode(text), 0] for text in (source, translation))
    return torch.from_numpy(student.logprobs(ids, labels))


#: registered family -> its plain forward pass
PLAIN: dict[str, Callable[[Path, str, str], torch.Tensor]] = {
    **{"bergamot": bergamot, "causal_lm": causal_lm, "fsmt": fsmt, "m2m_100": m2m100},
    **{"marian": marian, "masked_lm": masked_lm, "mbart": mbart50, "nllb": nllb},
    **{"small100": small100, "t5": t5, "mt5": t5, "umt5": t5},
    **{name: case.plain for name, case in study_families().items()},
}
