import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import cc_hf
from cc_hf.errors import CCError, InputError, ResultWarning
from cc_hf.evaluation.material import Material
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.systems import translate as translation
from cc_hf.systems.system import System
from cc_hf.systems.translate import Translations
from tests.helpers import families
from tests.helpers.cases import cases
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.pairs import EN_DE
from tests.helpers.processes import together
from tests.helpers.refusals import refuses

_SOURCES = ["The nurse.", "The doctor asked.", "The nurse."]


_MBART_25 = partial(families.save_tiny_mbart, language_is_first=False)


@cases(  # the names of the languages, the option of `generate` that takes the second, the prompt
    ("marian", (), "", ""),
    ("m2m_100", ("en", "__de__"), "forced_bos_token_id", ""),
    ("nllb", ("eng_Latn", "deu_Latn"), "forced_bos_token_id", ""),
    ("mbart", ("en_XX", "de_DE"), "forced_bos_token_id", ""),
    ("mbart-25", ("en_XX", "de_DE"), "decoder_start_token_id", ""),
    ("fsmt", (), "", ""),
    ("lexical_shortcut", (), "", ""),
    ("t5", (), "", "translate English to German: "),
)
def test_translations_equal_those_of_generate(
    family: str, languages: tuple[str, ...], first: str, before: str, tmp_path: Path
) -> None:
    families.BUILDERS.get(family, _MBART_25)(tmp_path)
    found = cc_hf.translate(_SOURCES, tmp_path, **EN_DE, num_beams=2, batch_tokens=1)
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    source_language = {"src_lang": languages[0]} if languages else {}
    tokenizer = AutoTokenizer.from_pretrained(tmp_path, **source_language)
    options = {first: tokenizer.convert_tokens_to_ids(languages[1])} if languages else {}
    options |= {"num_beams": 2, "do_sample": False}
    for source, translated in zip(_SOURCES, found, strict=True):
        ids = tokenizer(before + source, return_tensors="pt")["input_ids"]
        options |= {"max_new_tokens": 3 * ids.shape[1] + 10}
        with torch.no_grad():
            (output,) = model.generate(ids, bad_words_ids=[[model.config.pad_token_id]], **options)
        words = output[2:] if first == "forced_bos_token_id" else output[1:]
        assert translated == " ".join(tokenizer.decode(words, skip_special_tokens=True).split())
    assert any(found)


def test_bad_languages_sources_and_options_are_refused(tmp_path: Path) -> None:
    families.save_tiny_nllb(tmp_path)
    for sources, tgt_lang, message in (
        (["a"], "", "name the target language with tgt_lang"),
        (["a"], "tlh", "does not support the target language 'tlh'"),
        (["a", " "], "de", "row 1: the source is empty"),
        (["doctor nurse " * 500], "de", "row 0: the source has"),
        ([], "de", "at least one source"),
    ):
        with pytest.raises(CCError, match=message):
            cc_hf.translate(sources, tmp_path, src_lang="en", tgt_lang=tgt_lang)


def test_processes_share_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = cc_hf.load_evaluator(families.BUILDERS["marian"](tmp_path))
    seen: list[tuple[int, int]] = []

    def generate(_: Any, rows: list[list[int]], *options: Any) -> list[list[translation.Output]]:
        seen.append((threading.get_ident(), len(rows)))
        return [[translation.Output(" ".join(map(str, row)), False)] for row in rows]

    monkeypatch.setattr(translation, "_generate", generate)
    sources = [f"The doctor {'asked ' * (i % 5)}{i}." for i in range(11)] * 2
    alone = translation.translate_with(model, sources, batch_size=2)
    assert [n for _, n in seen] == [2, 2, 2, 2, 2, 1]
    seen.clear()
    translate = partial(translation.translate_with, model)
    assert together(2, lambda team: translate(sources, batch_size=2, team=team)) == [alone, alone]
    assert sorted(n for _, n in seen) == [1, 2, 2, 2, 2, 2]
    assert len({thread for thread, _ in seen}) == 2
    other = together(
        2, lambda team: translate(sources[team.rank :], team=team, num_beams=1 + team.rank)
    )
    message = "expected the same evaluator and the same pairs in all 2 processes"
    assert all(message in str(error) for error in other)
    with pytest.raises(InputError, match="batch_size: expected an integer of at least 1, got 0"):
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


def example(number: int, context: str | None) -> ContrastiveSourceExample:
    extra = {} if context is None else {"context": context, "source_with_context": "any"}
    sides = ("The [male] cook left.",), ("The [female] cook left.",), "male", "male", extra
    source = f"The cook left {number}."
    return ContrastiveSourceExample(str(number), "en", "de", source, Focus("cook", 4), *sides)


def test_the_context_stands_before_the_source_where_there_is_one() -> None:
    system = System("any", separator="<sep>")
    sources = system.sources([example(0, "He slept."), example(1, ""), example(2, None)])
    first = "He slept. <sep> The cook left 0."
    assert sources == [first, "The cook left 1.", "The cook left 2."]
    assert System("any").sources([example(0, "He slept.")]) == ["The cook left 0."]


@cases(("Er. <sep> Sie. <sep>Der Koch.", "Der Koch."), ("Der Koch.", "Der Koch."), ("Er <sep>", ""))
def test_the_last_sentence_follows_the_last_separator(written: str, expected: str) -> None:
    assert System("any", separator="<sep>").last_sentence(written) == expected
    assert System("any").last_sentence(written) == written


@cases(
    ({"num_beams": 0}, "num_beams: expected an integer of at least 1, got 0"),
    ({"num_beams": True}, "num_beams: expected an integer of at least 1, got True"),
    ({"separator": " "}, "separator: expected the text that the system was trained with"),
    ({"precision": "int4"}, "precision"),
    ({"backend": "onnx"}, "backend"),
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, System, "any", **options)


def test_a_separator_without_any_context_is_refused() -> None:
    with pytest.raises(InputError, match="expected sources with sentences before them"):
        System("any", separator="<sep>").sources([example(0, ""), example(1, None)])


def test_the_last_sentences_of_a_system_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []

    def fake(_: object, sources: Sequence[str], *, num_beams: int, **__: object) -> Translations:
        seen.extend((source, num_beams) for source in sources)
        return Translations(["Er schlief. <sep> Der Koch ging.", "Der Koch ging."], [])

    monkeypatch.setattr(translation, "translate_rows", fake)
    result = cc_hf.evaluate(
        Material("en", "de", [example(0, "He slept."), example(1, "")]),
        system=System("cc-tiny-en-de", num_beams=2, separator="<sep>"),
        evaluator=hash_scores,
    )
    assert seen == [("He slept. <sep> The cook left 0.", 2), ("The cook left 1.", 2)]
    assert [j.translation for j in result.judgements] == ["Der Koch ging."] * 2
    assert result.counts["n_without_separator"] == 1
    assert "/beam2/context <sep>|" in result.signature
