from __future__ import annotations

from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M100
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

from cc_hf.languages import LANGUAGE_CODES, LANGUAGES, two_letter_code
from tests.helpers.cases import cases


@cases(("nllb", NLLB), ("m2m100", M2M100["m2m100"]), ("mbart50", MBART50))
def test_language_codes_are_known_to_their_tokenizers(column: str, known: list[str]) -> None:
    found = {getattr(row, column) for row in LANGUAGE_CODES.values()} - {""}
    assert found <= set(known)
    # NLLB has languages without a short code, which have its own codes as names
    assert column == "nllb" or found == set(known)


def test_every_language_code_names_one_language() -> None:
    others = [other for row in LANGUAGE_CODES.values() for other in row.others]
    assert len(others) == len(set(others))
    assert not set(others) & set(LANGUAGES)
    codes = {"deu": "de", "cmn": "zh", "pes": "fa", "ceb": "ceb", "xxx": "xxx", "": ""}
    assert {code: two_letter_code(code) for code in codes} == codes
    assert len(set(LANGUAGES.values())) == len(LANGUAGES)
