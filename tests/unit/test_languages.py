"""Languages as people write them: one form for all, and the varieties that models tell apart."""

import subprocess
import sys
from typing import Any
from unittest.mock import patch

import pytest
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M100
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

from cc_hf.evaluators.families.m2m100 import M2M100Evaluator, NLLBEvaluator
from cc_hf.evaluators.families.marian import target_mark
from cc_hf.evaluators.families.mbart import MBartEvaluator
from cc_hf.evaluators.families.prompt import PromptTemplate
from cc_hf.languages import (
    LANGUAGE_CODES,
    LANGUAGES,
    base_code,
    canonical,
    language_name,
    language_pair,
    language_tag,
    named_language,
    pair_codes,
)
from cc_hf.models.location import default_evaluator
from tests.helpers.usual import cases, refuses

_ROMANCE = (">>fr<<", ">>pt<<", ">>pt_BR<<", ">>es_MX<<", ">>es<<")
_CHINESE = (">>cmn_Hans<<", ">>cmn_Hant<<", ">>deu<<", ">>zho<<")


@cases(("nllb", NLLB), ("m2m100", M2M100["m2m100"]), ("mbart50", MBART50))
def test_language_codes_are_known_to_their_tokenizers(column: str, known: list[str]) -> None:
    actual = {getattr(row, column) for row in LANGUAGE_CODES.values()} - {""}
    assert actual <= set(known)
    # NLLB has languages without a short code, which have its own codes as names
    assert column == "nllb" or actual == set(known)


def test_every_language_code_names_one_language() -> None:
    others = [other for row in LANGUAGE_CODES.values() for other in row.others]
    assert len(others) == len(set(others))
    assert not set(others) & set(LANGUAGES)
    assert len(set(LANGUAGES.values())) == len(LANGUAGES)


@pytest.mark.parametrize("row", LANGUAGE_CODES.values(), ids=LANGUAGE_CODES)
def test_every_code_and_name_of_the_table_is_understood(row: Any) -> None:
    # "no" and "nb" share a code of NLLB and of M2M100, which is read as one of the two
    shared = {"no": {"nob_Latn"}, "nb": {"no"}}.get(row.code, set())
    codes = {row.code, *row.others, row.nllb, row.m2m100, row.mbart50, row.name} - {"", *shared}
    written = {code.replace("_", "-") for code in codes} | {code.upper() for code in codes}
    assert {text: canonical(text) for text in codes | written} == dict.fromkeys(
        codes | written, row.code
    )


@cases(
    *(
        ("de", text)
        for text in [
            "de",
            "deu",
            "ger",
            "deu_Latn",
            "de_DE",
            "de-DE",
            "DE",
            "German",
            "german",
            ">>deu<<",
        ]
    ),
    *(
        ("zh", text)
        for text in ["zh", "zh_CN", "zho_Hans", "zh-Hans-CN", "cmn", "cmn_Hans", "Mandarin"]
    ),
    *(("zh-Hant", text) for text in ["zh-Hant", "zh_TW", "cmn_Hant", "zho_Hant", ">>cmn_Hant<<"]),
    *(("pt-BR", text) for text in ("pt-BR", "pt_br", ">>pt_BR<<", "Portuguese (Brazil)")),
    *(("pt", text) for text in ["pt", "por", "por_Latn", "pt_XX", "Portuguese"]),
    ("pt-PT", "pt_PT"),
    ("en", "en_XX"),
    ("en-GB", "en-gb"),
    ("en-GB", "en_UK"),
    ("sr-Latn", "sh"),
    ("he", "iw"),
    ("sr-Latn", "sr_Latn"),
    ("zh-Hant-HK", "zh-HK"),
    ("nb", "norwegian bokmal"),
    ("ca-valencia", "cat_valencia"),
)
def test_languages_have_one_form(tag: str, text: str) -> None:
    assert language_tag(text) == language_tag(tag) == tag
    assert base_code(text) == tag.partition("-")[0]


@cases(
    ("did you mean 'German'", "Germn"),
    ("did you mean 'cs'", "cz"),
    ("did you mean 'ja'", "jp"),
    ("did you mean 'Chinese'", "chinse"),
    ("known: af, am, ", "xx"),
    ("known: af, am, ", "klingon"),
    ("got 3; known: ", 3),
    ("got ''; known: ", ""),
)
def test_unknown_languages_are_refused_with_the_nearest(message: str, text: Any) -> None:
    refuses(message, language_tag, text)


def test_codes_that_only_a_model_may_know_are_kept_by_python() -> None:
    for code in ("", "ace_Arab", "prs_Arab", "zhx_x", "tlh", "mul"):
        assert named_language(code) == base_code(code) == canonical(code) == code
    refuses("src_lang: expected the code or the English name", named_language, "Englsh", "src_lang")


@cases(
    *((("en", "de"), text) for text in ("en-de", "eng-deu", "en-de-DE", "eng_Latn-deu_Latn")),
    *((("en", "de"), text) for text in ("English-German", "en_de", "en→de", "en->de", "EN-DE")),
    *(
        (("en", "de"), text)
        for text in ("English to German", "en_US-de_DE", "en_XX-de_DE", "en/de")
    ),
    *((("en", "de"), text) for text in ("eng_Latn_deu_Latn", "en – de", "en de", "en-de-de")),
    *((("en", "pt-BR"), text) for text in ("en-pt-BR", "en-pt_br", "en_US-pt_BR", "EN-PT-BR")),
    (("pt-BR", "en"), "pt_BR-en"),
    (("en", "zh-Hant"), "en-zho_Hant"),
    (("zh-Hant", "en-GB"), "zh-TW-en-GB"),
    (("en", "fr-CA"), "en-fr-CA"),
    (("en", "sr-Latn"), "en-sr-Latn"),
    (("en", "nb"), "English-Norwegian Bokmål"),
)
def test_pairs_are_split_where_two_languages_meet(pair: tuple[str, str], text: str) -> None:
    assert language_pair(text) == pair
    assert language_pair("-".join(pair)) == pair == pair_codes("-".join(pair))


@cases(
    ("did you mean 'en-de'", "en-Germn"),
    ("did you mean 'en-ja'", "en-jp"),
    ("did you mean 'en-de'", "ende"),
    ("did you mean 'en-de'", "de"),
    ("did you mean 'en-pt-BR'", "pt-BR"),
    ("not known: 'xx'", "en-xx"),
    ("not known: 'xx', 'yy'", "xx-yy"),
    ("can be en→fr-CA or en-FR→ca", "en-fr-ca"),
    ("got ''", ""),
    ("got 'one-two-three'", "one-two-three"),
)
def test_other_texts_are_no_pair(message: str, text: str) -> None:
    refuses(f"language_pair: .*{message}", language_pair, text)


@cases(
    (">>pt_BR<<", "pt-BR", _ROMANCE),
    (">>pt<<", "pt", _ROMANCE),
    (">>pt<<", "pt-PT", _ROMANCE),
    (">>es_MX<<", "es_MX", _ROMANCE),
    (">>es<<", "es-AR", _ROMANCE),
    (">>cmn_Hant<<", "zh-TW", _CHINESE),
    (">>cmn_Hant<<", "zh-HK", _CHINESE),
    (">>zho<<", "zh", _CHINESE),
    (">>deu<<", "German", _CHINESE),
)
def test_marks_are_those_of_the_variety(mark: str, lang: str, marks: tuple[str, ...]) -> None:
    assert target_mark(lang, marks, name="a model") == mark


@cases(
    (M2M100Evaluator, M2M100["m2m100"], ("pt", "pt-BR"), ("zh", "zh-Hant"), "m2m100"),
    (MBartEvaluator, MBART50, ("pt_XX", "pt-BR"), ("zh_CN", "zh-TW"), "mbart50"),
    (NLLBEvaluator, NLLB, ("por_Latn", "pt-BR"), ("zho_Hant", "zh-HK"), "nllb"),
)
def test_evaluators_are_told_the_variety_that_they_know(
    cls: Any, marks: list[str], portuguese: Any, chinese: Any, name: str
) -> None:
    evaluator = cls.__new__(cls)
    evaluator.name, evaluator.src_lang, evaluator.tgt_lang = name, "en", ""
    with patch.object(cls, "language_marks", lambda self: dict.fromkeys(marks, 0)):
        assert {mark: evaluator.own_code(mark) for mark in marks} == dict(
            zip(marks, marks, strict=True)
        )
        canonicals = {canonical(mark): mark for mark in marks}
        assert {tag: evaluator.own_code(tag) for tag in canonicals} == canonicals
        for mark, lang in (portuguese, chinese):
            assert evaluator.own_code(lang) == mark
        [note] = evaluator.variety_notes("en", "pt_BR")
        assert note == (
            f"{name} does not tell pt-BR from other Portuguese: it takes the target for pt"
        )
        assert len(evaluator.variety_notes("eng", "zh-Hant")) == (name != "nllb")
        assert evaluator.variety_notes("eng_Latn", "deu_Latn") == ()


def test_prompts_name_varieties() -> None:
    template = PromptTemplate("{src_name} > {tgt_name} ({tgt_lang})")
    assert template.fill("", "eng", "zh-Hant") == "English > Traditional Chinese (zh-Hant)"
    assert template.scored_as("target", "de-AT") == "de-AT" == language_name("de-AT")[8:-1]
    assert PromptTemplate("{source}").scored_as("target", "de-AT") == "de"


@cases(
    ("such as 'Helsinki-NLP/opus-mt-en-lv'", "English", "lav_Latn"),
    ("such as 'bergamot:en-pt', .*'Helsinki-NLP/opus-mt-en-pt'", "eng", "pt-BR"),
    ("such as a model of the Hub", "en", "tlh"),
    ("did you mean 'German'", "en", "Germn"),
)
def test_no_name_of_a_model_is_made_of_unchecked_text(
    message: str, source: str, target: str
) -> None:
    refuses(message, default_evaluator, source, target)


def test_the_package_is_imported_without_the_tables_of_languages() -> None:
    code = "import cc_hf, sys; print('langcodes' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
