from __future__ import annotations

from cc_hf.studies.wino_x.noun_genders import NOT_NOMINATIVE, noun_genders
from tests.helpers.cases import cases


@cases(
    ("de", "der", ["Koffer"], "male"),
    ("de", "Das", ["Glas"], "neutral"),
    ("de", "den", ["Koffer"], NOT_NOMINATIVE),
    ("de", "weil", ["Koffer"], "unknown"),
    ("fr", "la", ["valise"], "female"),
    ("fr", "aux", ["valises"], NOT_NOMINATIVE),
    ("fr", "l", ["assiette"], "unknown"),
    ("pt", "o", ["copo"], "male"),
    ("ru", "", ["майка"], "female"),
    ("ru", "", ["майку"], NOT_NOMINATIVE),
    ("ru", "", ["окно"], "neutral"),
    ("ru", "", ["быстро"], "unknown"),
    ("pl", "", ["stół"], "unknown"),
)
def test_nominatives_show_genders(lang: str, article: str, words: list[str], gender: str) -> None:
    assert noun_genders(lang).gender(article, words) == gender


def test_a_list_of_nouns_comes_before_articles_but_not_before_other_cases() -> None:
    genders = noun_genders("fr", {"assiette": "female", "livre": "male"})
    assert genders.gender("l", ["Assiette"]) == "female"
    assert genders.gender("la", ["livre"]) == "male"
    assert genders.gender("du", ["livre"]) == NOT_NOMINATIVE
