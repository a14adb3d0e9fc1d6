from typing import Any

from cc_hf.text.gendered_pairs import check_pair
from tests.helpers.cases import cases


@cases(
    ("Der Arzt ging.", "Die Ärztin ging.", "de", {}, ()),
    ("El médico alto vino.", "La médica alta vino.", "es", {}, ()),
    ("O médico chegou.", "A médica chegou.", "pt", {}, ()),
    ("Un attore parla.", "Un'attrice parla.", "it", {}, ()),
    ("Der Arzt ging.", "Die Medizinerin ging.", "de", {}, ("minimal",)),
    ("Der Arzt ging.", "Der Arzt ging.", "de", {}, ("minimal",)),
    ("Der Arzt ging weg.", "Die Ärztin kam heim.", "de", {}, ("minimal",)),
    ("der er ihn ein", "die sie ihr eine", "de", {}, ("minimal",)),
    ("der x er x ihn x ein x den x dem x des", "die x sie x ihr x eine x das x der x der", "de", {}, ("minimal",)),
    ("O homem médico veio.", "A mulher médica veio.", "pt", {"leaks": frozenset({"homem", "mulher"})}, ("minimal", "no_leak")),
    ("Homem: o médico.", "Homem: a médica.", "pt", {"leaks": frozenset({"homem"}), "first": "Homem: o médico."}, ()),
    ("Der [Arzt] ging.", "Die [Ärztin] ging.", "de", {"first": "Der Arzt ging."}, ("no_leak",)),
    ("Der Arzt ging.", "Die Ärztin ging.", "de", {"direction": False, "adequate": False}, ("direction", "adequate")),
)  # fmt: skip
def test_pairs_differ_in_gender_alone(
    masculine: str, feminine: str, lang: str, options: dict[str, Any], failed: tuple[str, ...]
) -> None:
    assert check_pair(masculine, feminine, lang, **options).failed == failed
