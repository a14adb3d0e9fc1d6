"""Which words of a language show the gender of people: nouns and what agrees with them, pronouns of
the third person, and words that agree with the speaker.

Where nothing shows it, both readings of a source have the same translations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from cc_hf.languages import LANGUAGES, base_code

__all__ = ["MARKING", "Marking", "gender_marking", "has_gendered_pronoun"]

# Corbett, "Number of genders" and "Sex-based and non-sex-based gender systems", and Siewierska,
# "Gender distinctions in independent personal pronouns": chapters 30, 31 and 44 of WALS
# (https://wals.info). Noun classes that do not depend on sex, as in Bantu, are none here. "few":
# some nouns have a feminine form, such as Armenian -ուհի or Tagalog doktora, but nothing agrees.
# Languages whose nouns for people are in between, such as Dutch and Swedish, are left out.
_TABLE = """
code | nouns | pronouns | first person
ar   | yes   | yes      | yes
ast  | yes   | yes      | yes
az   | no    | no       | no
ba   | no    | no       | no
be   | yes   | yes      | yes
bg   | yes   | yes      | yes
bn   | few   | no       | no
bs   | yes   | yes      | yes
ca   | yes   | yes      | yes
ceb  | few   | no       | no
cs   | yes   | yes      | yes
de   | yes   | yes      | no
el   | yes   | yes      | yes
en   | few   | yes      | no
es   | yes   | yes      | yes
et   | no    | no       | no
eu   | no    | no       | no
fa   | no    | no       | no
fi   | no    | no       | no
fr   | yes   | yes      | yes
gl   | yes   | yes      | yes
gu   | yes   | no       | yes
he   | yes   | yes      | yes
hi   | yes   | no       | yes
hr   | yes   | yes      | yes
hu   | no    | no       | no
hy   | few   | no       | no
id   | few   | no       | no
ig   | no    | no       | no
ilo  | few   | no       | no
is   | yes   | yes      | yes
it   | yes   | yes      | yes
ja   | few   | yes      | no
jv   | few   | no       | no
ka   | no    | no       | no
kk   | no    | no       | no
ko   | few   | yes      | no
ky   | no    | no       | no
lg   | no    | no       | no
ln   | no    | no       | no
lt   | yes   | yes      | yes
lv   | yes   | yes      | yes
mg   | no    | no       | no
mi   | no    | no       | no
mk   | yes   | yes      | yes
mn   | no    | no       | no
mr   | yes   | yes      | yes
ms   | few   | no       | no
mt   | yes   | yes      | yes
nso  | no    | no       | no
ny   | no    | no       | no
oc   | yes   | yes      | yes
pa   | yes   | no       | yes
pl   | yes   | yes      | yes
pt   | yes   | yes      | yes
ro   | yes   | yes      | yes
ru   | yes   | yes      | yes
rw   | no    | no       | no
sk   | yes   | yes      | yes
sl   | yes   | yes      | yes
sn   | no    | no       | no
sq   | yes   | yes      | yes
sr   | yes   | yes      | yes
ss   | no    | no       | no
st   | no    | no       | no
su   | few   | no       | no
sw   | no    | no       | no
tg   | no    | no       | no
tk   | no    | no       | no
tl   | few   | no       | no
tn   | no    | no       | no
tr   | no    | no       | no
ts   | no    | no       | no
tt   | no    | no       | no
ug   | no    | no       | no
uk   | yes   | yes      | yes
ur   | yes   | no       | yes
uz   | no    | no       | no
xh   | no    | no       | no
yo   | no    | no       | no
zh   | no    | yes      | no
zu   | no    | no       | no
"""

# Pronouns of languages in which little else shows gender. Left out are words that contain the same
# characters: Chinese 其他 "other" and 他人 "others", Japanese 彼ら "they", and Korean 그 "that".
_PRONOUNS = {
    "en": re.compile(r"\b(?:he|him|his|himself|she|hers?|herself)\b", re.IGNORECASE),
    "ja": re.compile("彼女|彼(?![ら等岸方此])"),
    "ko": re.compile("(?<![가-힣])그(?:녀|(?:는|가|의|를|에게|와|도|한테)(?![가-힣]))"),
    "zh": re.compile("她|(?<![其吉])他(?![人国國乡鄉])"),
}


@dataclass(frozen=True, slots=True)
class Marking:
    """What shows the gender of people in a language.

    Attributes:
        nouns: "yes" if most nouns for people, or articles, adjectives and verbs that agree with
            them, show it; "few" if only a few nouns do; "no" if none.
        pronouns: whether written pronouns of the third person do.
        first_person: whether words that agree with the speaker do.
    """

    nouns: str
    pronouns: bool
    first_person: bool

    @property
    def is_nothing(self) -> bool:
        """Whether nothing but perhaps a few nouns shows gender."""
        return self.nouns != "yes" and not self.pronouns and not self.first_person

    @property
    def is_in_pronouns_only(self) -> bool:
        """Whether nothing but pronouns and perhaps a few nouns shows gender."""
        return self.nouns != "yes" and self.pronouns


def _rows() -> dict[str, Marking]:
    rows: dict[str, Marking] = {}
    for line in _TABLE.strip().splitlines()[1:]:
        code, nouns, pronouns, first_person = (cell.strip() for cell in line.split("|"))
        rows[code] = Marking(nouns, pronouns == "yes", first_person == "yes")
    return rows


#: Code of `cc_hf.languages` -> what shows gender; a language that is missing is not known.
MARKING: dict[str, Marking] = _rows()


def gender_marking(lang: str) -> tuple[str, Marking] | None:
    """Return the name of a language and what shows gender in it; None if it is not known.

    Examples:
        >>> gender_marking("fin_Latn")[0], gender_marking("zh-TW")[1].is_in_pronouns_only
        ('Finnish', True)
    """
    code = base_code(lang)
    return (LANGUAGES[code], MARKING[code]) if code in MARKING else None


def has_gendered_pronoun(text: str, lang: str) -> bool:
    """Return whether a text has a pronoun that shows gender, for a language in which little else
    does; False for others.

    Examples:
        >>> has_gendered_pronoun("她是医生。", "zh"), has_gendered_pronoun("还有其他医生。", "zh")
        (True, False)
    """
    pattern = _pronouns(lang)
    return pattern is not None and pattern.search(text) is not None


@cache
def _pronouns(lang: str) -> re.Pattern[str] | None:
    return _PRONOUNS.get(base_code(lang))
