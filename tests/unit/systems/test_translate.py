from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import cc_hf
from cc_hf.errors import InputError, ResultWarning, TooLongError
from cc_hf.systems import translate as translation
from tests.helpers import families
from tests.helpers.processes import together

_SOURCES = ["The nurse asked.", "The doctor asked the nurse to help her.", "The nurse asked."]


def _token(tokenizer: Any, text: str) -> int:
    return int(tokenizer.convert_tokens_to_ids(text))


#: how to build, languages of the tokenizer, what is put before the source, options of `generate` as
#: the model's documentation has them
_CASES: dict[
    str, tuple[Callable[[Path], Path], dict[str, str], str, Callable[[Any], dict[str, int]]]
] = {
    "marian": (families.BUILDERS["marian"], {}, "", lambda t: {}),
    "m2m_100": (
        families.save_tiny_m2m100,
        {"src_lang": "en"},
        "",
        lambda t: {"forced_bos_token_id": t.get_lang_id("de")},
    ),
    "nllb": (
        families.save_tiny_nllb,
        {"src_lang": "eng_Latn"},
        "",
        lambda t: {"forced_bos_token_id": _token(t, "deu_Latn")},
    ),
    "mbart-50": (
        families.save_tiny_mbart,
        {"src_lang": "en_XX"},
        "",
        lambda t: {"forced_bos_token_id": _token(t, "de_DE")},
    ),
    "mbart-25": (
        partial(families.save_tiny_mbart, language_is_first=False),
        {"src_lang": "en_XX"},
        "",
        lambda t: {"decoder_start_token_id": _token(t, "de_DE")},
    ),
    "fsmt": (families.save_tiny_fsmt, {}, "", lambda t: {}),
    "t5": (families.save_tiny_t5, {}, "translate English to German: ", lambda t: {}),
}


@pytest.mark.parametrize("case", _CASES)
def test_translations_equal_those_of_generate(tmp_path: Path, case: str) -> None:
    build, languages, before, generation_options = _CASES[case]
    build(tmp_path)
    found = cc_hf.translate(
        _SOURCES, tmp_path, src_lang="en", tgt_lang="de", num_beams=2, batch_tokens=1
    )
    model, tokenizer = (
        AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval(),
        AutoTokenizer.from_pretrained(tmp_path, **languages),
    )
    options = generation_options(tokenizer)
    for source, translated in zip(_SOURCES, found, strict=True):
        inputs = tokenizer(before + source, return_tensors="pt")
        ids = inputs["input_ids"]
        with torch.no_grad():
            (output,) = model.generate(
                input_ids=ids,
                num_beams=2,
                do_sample=False,
                max_new_tokens=3 * ids.shape[1] + 10,
                bad_words_ids=[[model.config.pad_token_id]],
                **options,
            )
        words = output[2:] if "forced_bos_token_id" in options else output[1:]
        assert translated == " ".join(tokenizer.decode(words, skip_special_tokens=True).split())
    assert any(found)


def test_bad_languages_sources_and_options_are_refused(tmp_path: Path) -> None:
    families.save_tiny_nllb(tmp_path)
    with pytest.raises(InputError, match="name the target language with tgt_lang"):
        cc_hf.translate(["a"], tmp_path, src_lang="en")
    with pytest.raises(InputError, match="does not support the target language 'tlh'"):
        cc_hf.translate(["a"], tmp_path, src_lang="en", tgt_lang="tlh")
    with pytest.raises(InputError, match="row 1: the source is empty"):
        cc_hf.translate(["a", " "], tmp_path, src_lang="en", tgt_lang="de")
    with pytest.raises(TooLongError, match="row 0: the source has"):
        cc_hf.translate(["doctor nurse " * 500], tmp_path, src_lang="en", tgt_lang="de")
    with pytest.raises(InputError, match="at least one source"):
        cc_hf.translate([], tmp_path)


def test_processes_share_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, seen = (
        cc_hf.load_evaluator(families.BUILDERS["marian"](tmp_path)),
        list[tuple[int, int]](),
    )

    def generate(system: Any, rows: list[list[int]], tgt_lang: str, **options: Any) -> list[str]:
        seen.append((threading.get_ident(), len(rows)))
        return [" ".join(map(str, row)) for row in rows]

    monkeypatch.setattr(translation, "_generate", generate)
    sources = [f"The doctor {'asked ' * (i % 5)}{i}." for i in range(11)] * 2
    alone = translation.translate_with(model, sources, batch_size=2)
    assert [n for _, n in seen] == [2, 2, 2, 2, 2, 1]
    seen.clear()
    assert together(
        2, lambda team: translation.translate_with(model, sources, batch_size=2, team=team)
    ) == [alone, alone]
    assert sorted(n for _, n in seen) == [1, 2, 2, 2, 2, 2]
    assert len({thread for thread, _ in seen}) == 2
    other = together(
        2,
        lambda team: translation.translate_with(
            model, sources[team.rank :], team=team, num_beams=1 + team.rank
        ),
    )
    assert all(
        "expected the same evaluator and the same pairs in all 2 processes" in str(error)
        for error in other
    )
    with pytest.raises(InputError, match="batch_size: expected at least 1, got 0"):
        translation.translate_with(model, sources, batch_size=0)


@pytest.mark.parametrize("forced_eos", [None, 0])
def test_translations_that_were_cut_are_reported_by_their_rows(
    forced_eos: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = cc_hf.load_evaluator("cc-tiny-en-de")
    monkeypatch.setattr(model.model.generation_config, "forced_eos_token_id", forced_eos)
    sources = ["The doctor is here.", "Yes.", "The doctor is here."]
    n_tokens = len(model.encode_targets(["Ja."], "en", "de")[0])
    whole, cut = translation.translate_rows(model, sources)
    assert cut == []
    short, cut = translation.translate_rows(model, sources, max_new_tokens=n_tokens + 1)
    assert cut == [0, 2]
    assert short[1] == whole[1]
    with pytest.warns(ResultWarning, match="2 of 3 translations were cut .* that of row 0"):
        translation.translate_with(model, sources, max_new_tokens=n_tokens + 1)
