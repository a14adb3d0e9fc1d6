"""One table of languages, and the one reading of what people write for them.

The table has the code that cc_hf uses (ISO 639-1 if there is one), the name, and the codes of the
multilingual models. Scripts, regions and old codes are those of `langcodes`, which is imported only
for a text that the table lacks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from cc_hf.errors import InputError, shown

if TYPE_CHECKING:
    from langcodes import Language

__all__ = [
    "LANGUAGES",
    "LANGUAGE_CODES",
    "LanguageCodes",
    "base_code",
    "canonical",
    "known_tag",
    "language_hint",
    "language_name",
    "language_pair",
    "language_tag",
    "named_language",
    "pair_codes",
    "pair_in",
    "same_language",
    "wider_tags",
]

_TABLE = """
code | name              | other codes | NLLB     | M2M100 | mBART-50
af   | Afrikaans         | afr         | afr_Latn | af     | af_ZA
am   | Amharic           | amh         | amh_Ethi | am     |
ar   | Arabic            | ara arb     | arb_Arab | ar     | ar_AR
as   | Assamese          | asm         | asm_Beng |        |
ast  | Asturian          |             | ast_Latn | ast    |
az   | Azerbaijani       | aze azj     | azj_Latn | az     | az_AZ
ba   | Bashkir           | bak         | bak_Cyrl | ba     |
be   | Belarusian        | bel         | bel_Cyrl | be     |
bg   | Bulgarian         | bul         | bul_Cyrl | bg     |
bn   | Bengali           | ben         | ben_Beng | bn     | bn_IN
bo   | Tibetan           | bod         | bod_Tibt |        |
br   | Breton            | bre         |          | br     |
bs   | Bosnian           | bos         | bos_Latn | bs     |
ca   | Catalan           | cat         | cat_Latn | ca     |
ceb  | Cebuano           |             | ceb_Latn | ceb    |
cs   | Czech             | ces cze     | ces_Latn | cs     | cs_CZ
cy   | Welsh             | cym wel     | cym_Latn | cy     |
da   | Danish            | dan         | dan_Latn | da     |
de   | German            | deu ger     | deu_Latn | de     | de_DE
el   | Greek             | ell gre     | ell_Grek | el     |
en   | English           | eng         | eng_Latn | en     | en_XX
eo   | Esperanto         | epo         | epo_Latn |        |
es   | Spanish           | spa         | spa_Latn | es     | es_XX
et   | Estonian          | est         | est_Latn | et     | et_EE
eu   | Basque            | eus baq     | eus_Latn |        |
fa   | Persian           | fas pes per | pes_Arab | fa     | fa_IR
ff   | Fulah             | ful fuv     | fuv_Latn | ff     |
fi   | Finnish           | fin         | fin_Latn | fi     | fi_FI
fo   | Faroese           | fao         | fao_Latn |        |
fr   | French            | fra fre     | fra_Latn | fr     | fr_XX
fy   | Western Frisian   | fry         |          | fy     |
ga   | Irish             | gle         | gle_Latn | ga     |
gd   | Scottish Gaelic   | gla         | gla_Latn | gd     |
gl   | Galician          | glg         | glg_Latn | gl     | gl_ES
gu   | Gujarati          | guj         | guj_Gujr | gu     | gu_IN
ha   | Hausa             | hau         | hau_Latn | ha     |
he   | Hebrew            | heb iw      | heb_Hebr | he     | he_IL
hi   | Hindi             | hin         | hin_Deva | hi     | hi_IN
hr   | Croatian          | hrv         | hrv_Latn | hr     | hr_HR
ht   | Haitian Creole    | hat         | hat_Latn | ht     |
hu   | Hungarian         | hun         | hun_Latn | hu     |
hy   | Armenian          | hye arm     | hye_Armn | hy     |
id   | Indonesian        | ind         | ind_Latn | id     | id_ID
ig   | Igbo              | ibo         | ibo_Latn | ig     |
ilo  | Iloko             |             | ilo_Latn | ilo    |
is   | Icelandic         | isl ice     | isl_Latn | is     |
it   | Italian           | ita         | ita_Latn | it     | it_IT
ja   | Japanese          | jpn         | jpn_Jpan | ja     | ja_XX
jv   | Javanese          | jav         | jav_Latn | jv     |
ka   | Georgian          | kat geo     | kat_Geor | ka     | ka_GE
kk   | Kazakh            | kaz         | kaz_Cyrl | kk     | kk_KZ
km   | Khmer             | khm         | khm_Khmr | km     | km_KH
kn   | Kannada           | kan         | kan_Knda | kn     |
ko   | Korean            | kor         | kor_Hang | ko     | ko_KR
ku   | Kurdish           | kur kmr     | kmr_Latn |        |
ky   | Kyrgyz            | kir         | kir_Cyrl |        |
lb   | Luxembourgish     | ltz         | ltz_Latn | lb     |
lg   | Ganda             | lug         | lug_Latn | lg     |
ln   | Lingala           | lin         | lin_Latn | ln     |
lo   | Lao               | lao         | lao_Laoo | lo     |
lt   | Lithuanian        | lit         | lit_Latn | lt     | lt_LT
lv   | Latvian           | lav lvs     | lvs_Latn | lv     | lv_LV
mg   | Malagasy          | mlg plt     | plt_Latn | mg     |
mi   | Maori             | mri mao     | mri_Latn |        |
mk   | Macedonian        | mkd mac     | mkd_Cyrl | mk     | mk_MK
ml   | Malayalam         | mal         | mal_Mlym | ml     | ml_IN
mn   | Mongolian         | mon khk     | khk_Cyrl | mn     | mn_MN
mr   | Marathi           | mar         | mar_Deva | mr     | mr_IN
ms   | Malay             | msa zsm     | zsm_Latn | ms     |
mt   | Maltese           | mlt         | mlt_Latn |        |
my   | Burmese           | mya bur     | mya_Mymr | my     | my_MM
nb   | Norwegian Bokmål  | nob         | nob_Latn | no     |
ne   | Nepali            | nep npi     | npi_Deva | ne     | ne_NP
nl   | Dutch             | nld dut     | nld_Latn | nl     | nl_XX
nn   | Norwegian Nynorsk | nno         | nno_Latn |        |
no   | Norwegian         | nor         | nob_Latn | no     |
nso  | Northern Sotho    |             | nso_Latn | ns     |
ny   | Nyanja            | nya         | nya_Latn |        |
oc   | Occitan           | oci         | oci_Latn | oc     |
om   | Oromo             | orm gaz     | gaz_Latn |        |
or   | Odia              | ori ory     | ory_Orya | or     |
pa   | Punjabi           | pan         | pan_Guru | pa     |
pl   | Polish            | pol         | pol_Latn | pl     | pl_PL
ps   | Pashto            | pus pbt     | pbt_Arab | ps     | ps_AF
pt   | Portuguese        | por         | por_Latn | pt     | pt_XX
ro   | Romanian          | ron rum     | ron_Latn | ro     | ro_RO
ru   | Russian           | rus         | rus_Cyrl | ru     | ru_RU
rw   | Kinyarwanda       | kin         | kin_Latn |        |
sa   | Sanskrit          | san         | san_Deva |        |
sd   | Sindhi            | snd         | snd_Arab | sd     |
si   | Sinhala           | sin         | sin_Sinh | si     | si_LK
sk   | Slovak            | slk slo     | slk_Latn | sk     |
sl   | Slovenian         | slv         | slv_Latn | sl     | sl_SI
sn   | Shona             | sna         | sna_Latn |        |
so   | Somali            | som         | som_Latn | so     |
sq   | Albanian          | sqi als alb | als_Latn | sq     |
sr   | Serbian           | srp         | srp_Cyrl | sr     |
ss   | Swati             | ssw         | ssw_Latn | ss     |
st   | Southern Sotho    | sot         | sot_Latn |        |
su   | Sundanese         | sun         | sun_Latn | su     |
sv   | Swedish           | swe         | swe_Latn | sv     | sv_SE
sw   | Swahili           | swa swh     | swh_Latn | sw     | sw_KE
ta   | Tamil             | tam         | tam_Taml | ta     | ta_IN
te   | Telugu            | tel         | tel_Telu |        | te_IN
tg   | Tajik             | tgk         | tgk_Cyrl |        |
th   | Thai              | tha         | tha_Thai | th     | th_TH
ti   | Tigrinya          | tir         | tir_Ethi |        |
tk   | Turkmen           | tuk         | tuk_Latn |        |
tl   | Tagalog           | tgl fil     | tgl_Latn | tl     | tl_XX
tn   | Tswana            | tsn         | tsn_Latn | tn     |
tr   | Turkish           | tur         | tur_Latn | tr     | tr_TR
ts   | Tsonga            | tso         | tso_Latn |        |
tt   | Tatar             | tat         | tat_Cyrl |        |
ug   | Uyghur            | uig         | uig_Arab |        |
uk   | Ukrainian         | ukr         | ukr_Cyrl | uk     | uk_UA
ur   | Urdu              | urd         | urd_Arab | ur     | ur_PK
uz   | Uzbek             | uzb uzn     | uzn_Latn | uz     |
vi   | Vietnamese        | vie         | vie_Latn | vi     | vi_VN
wo   | Wolof             | wol         | wol_Latn | wo     |
xh   | Xhosa             | xho         | xho_Latn | xh     | xh_ZA
yi   | Yiddish           | yid ydd     | ydd_Hebr | yi     |
yo   | Yoruba            | yor         | yor_Latn | yo     |
zh   | Chinese           | zho cmn chi | zho_Hans | zh     | zh_CN
zu   | Zulu              | zul         | zul_Latn | zu     |
"""


@dataclass(frozen=True, slots=True)
class LanguageCodes:
    """A row of the table. A field is "" if the model does not have the language.

    Attributes:
        code: ISO 639-1, or three letters if there is none.
        others: ISO 639-2 and 639-3 codes, with the macrolanguage first.
        nllb: the code of NLLB and FLORES-200, with the prevalent script if there are several.
        m2m100: the code of M2M100 and SMaLL-100.
        mbart50: the code of mBART-50; mBART's 25 languages have the same codes.
    """

    code: str
    name: str
    others: tuple[str, ...]
    nllb: str
    m2m100: str
    mbart50: str


def _rows() -> list[LanguageCodes]:
    rows = []
    for line in _TABLE.strip().splitlines()[1:]:
        code, name, others, nllb, m2m100, mbart50 = (cell.strip() for cell in line.split("|"))
        rows.append(LanguageCodes(code, name, tuple(others.split()), nllb, m2m100, mbart50))
    return rows


#: Code -> the models' codes of the language.
LANGUAGE_CODES: dict[str, LanguageCodes] = {row.code: row for row in _rows()}

#: Code -> name in English.
LANGUAGES: dict[str, str] = {code: row.name for code, row in LANGUAGE_CODES.items()}

#: Names that the table lacks, and those of varieties that models tell apart.
_NAMES = {
    "Brazilian Portuguese": "pt-BR",
    "Deutsch": "de",  # "Dutch" would be the nearest name
    "European Portuguese": "pt-PT",
    "Farsi": "fa",
    "Filipino": "tl",
    "Mandarin": "zh",
    "Mandarin Chinese": "zh",
    "Oriya": "or",
    "Portuguese (Brazil)": "pt-BR",
    "Portuguese (Portugal)": "pt-PT",
    "Simplified Chinese": "zh",
    "Slovene": "sl",
    "Traditional Chinese": "zh-Hant",
}
#: Regions that stay although they are the usual one. The plain `pt` of a model is either standard,
#: and some models have a token for each besides.
_KEPT_REGIONS = {("pt", "BR")}
_NO_REGION = "XX"  # of mBART, whose codes all have a region
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*")
_LONGEST = 100  # characters of a text that may name two languages
#: What separates the languages of a pair and occurs in no code.
_ARROW = re.compile(r"→|⇒|[-=]?>|[/:,|–—]|\s-\s|\sto\s", re.IGNORECASE)


def language_tag(text: str, what: str = "language") -> str:
    """Return the one form in which cc_hf writes a language.

    Args:
        text: a code of two or three letters, with a script, a region or both if need be and in any
            case ("de", "deu_Latn", "de-AT", "zh_CN"); a code of a multilingual model; or an English
            name.
        what: what the text is given for, the beginning of the message.

    Returns:
        A code of `LANGUAGES`, with the script or the region (as in BCP 47) where it is not the
        usual one of the language.

    Raises:
        InputError: for anything else; the message has the nearest code or name.

    Examples:
        >>> [language_tag(text) for text in ("de", "deu_Latn", "de_DE", "German", "iw", "de-AT")]
        ['de', 'de', 'de', 'de', 'he', 'de-AT']
        >>> [language_tag(text) for text in ("zho_Hans", "zh_CN", "zh-TW", "pt_BR", "por_Latn")]
        ['zh', 'zh', 'zh-Hant', 'pt-BR', 'pt']
    """
    tag = known_tag(text) if isinstance(text, str) else None
    if tag is None:
        raise InputError(
            f"{what}: expected the code or the English name of a language, such as de, deu_Latn or"
            f" German, got {shown(text)}; {language_hint(text, LANGUAGES)}"
        )
    return tag


def language_hint(text: object, known: Iterable[str]) -> str:
    """Return what to write in place of a text that names no language: the nearest code or name, or
    all of those that are known.
    """
    is_text = isinstance(text, str) and known_tag(text) is None
    near = _near(text) if is_text and isinstance(text, str) else None
    return f"did you mean {near!r}?" if near else f"known: {', '.join(known)}"


def named_language(text: str, what: str = "language") -> str:
    """Return a language as `language_tag` does; a code that the table lacks, or "", is unchanged.

    Raises:
        InputError: for a text that is neither understood nor the form of a code.

    Examples:
        >>> named_language("deu_Latn"), named_language("ace_Arab"), named_language("")
        ('de', 'ace_Arab', '')
    """
    # A model may have a code of its own.
    if text == "" or (known_tag(text) is None and _CODE.fullmatch(text)):
        return text
    return language_tag(text, what)


def canonical(text: str) -> str:
    """Return a language as `language_tag` does, and any other text unchanged."""
    return known_tag(text) or text


def wider_tags(text: str) -> list[str]:
    """Return a language as `canonical` does, then without one subtag after the other.

    Examples:
        >>> wider_tags("zh-HK"), wider_tags("deu_Latn")
        (['zh-Hant-HK', 'zh-Hant', 'zh'], ['de'])
    """
    tag = canonical(text)
    if known_tag(tag) is None:
        return [tag]
    parts = tag.split("-")
    # A model that lacks the first may have the next.
    return ["-".join(parts[:n]) for n in range(len(parts), 0, -1)]


def base_code(text: str) -> str:
    """Return the code of `LANGUAGES` without script and region, by which languages are compared.

    An unknown text and "" are returned unchanged.

    Examples:
        >>> base_code("deu"), base_code("zh-Hant"), base_code("pt_BR"), base_code("")
        ('de', 'zh', 'pt', '')
    """
    if text in LANGUAGES:
        return text
    return tag.partition("-")[0] if (tag := known_tag(text)) else text


def same_language(left: str, right: str) -> bool:
    """Return whether two texts name the same language, whatever its script and region.

    Examples:
        >>> same_language("deu_Latn", "de-AT"), same_language("nb", "nn")
        (True, False)
    """
    return base_code(left) == base_code(right)


def language_name(text: str) -> str:
    """Return the English name of a language; a text that is not known is returned unchanged.

    Examples:
        >>> language_name("deu"), language_name("zh-Hant"), language_name("de-AT")
        ('German', 'Traditional Chinese', 'German (de-AT)')
    """
    tag = known_tag(text)
    if tag is None:
        return text
    if tag in LANGUAGES:
        return LANGUAGES[tag]
    variety = next((name for name, known in _NAMES.items() if known == tag), "")
    return variety or f"{LANGUAGES[base_code(tag)]} ({tag})"


def language_pair(text: str) -> tuple[str, str]:
    """Split a language pair into its source and target language.

    Args:
        text: two languages as `language_tag` reads them, with a hyphen, an underscore, an arrow or
            " to " between.

    Raises:
        InputError: for any other text, or one that can be split in two ways.

    Examples:
        >>> language_pair("en-de"), language_pair("eng_Latn-deu_Latn"), language_pair("en-de-DE")
        (('en', 'de'), ('en', 'de'), ('en', 'de'))
        >>> language_pair("English to German"), language_pair("en_GB→pt_BR")
        (('en', 'de'), ('en-GB', 'pt-BR'))
    """
    best = _readings(text) if isinstance(text, str) else []
    if len(best) == 1:
        return best[0]
    if best:
        readings = " or ".join("→".join(pair) for pair in best)
        raise InputError(
            f"language_pair: {text!r} can be {readings}; write the one that you mean, with →"
        )
    raise InputError(
        "language_pair: expected codes of the source and the target language, such as en-de, got"
        f" {shown(text)}{_pair_hint(text) if isinstance(text, str) else ''}"
    )


def pair_in(text: object) -> tuple[str, str] | None:
    """Return the languages of a text that `language_pair` understands, None for anything else.

    Examples:
        >>> pair_in("eng-deu"), pair_in("pro"), pair_in(None)
        (('en', 'de'), None, None)
    """
    readings = _readings(text) if isinstance(text, str) else []
    return readings[0] if len(readings) == 1 else None


def pair_codes(text: str) -> tuple[str, str]:
    """Split what results write as a language pair; "" stands for a language that is not known.

    Args:
        text: two codes with a hyphen between, "?" for one that is not known; or the code of the
            target language alone.

    Examples:
        >>> pair_codes("en-de"), pair_codes("en-GB-de"), pair_codes("?-pt-BR"), pair_codes("de")
        (('en', 'de'), ('en-GB', 'de'), ('', 'pt-BR'), ('', 'de'))
    """
    source, hyphen, target = text.partition("-")
    if not hyphen:
        return "", source.replace("?", "")
    if source in LANGUAGES and "-" in target and (pair := pair_in(text)):
        return pair
    return source.replace("?", ""), target.replace("?", "")


@lru_cache(4096)
def known_tag(text: str) -> str | None:
    """Return a language as `language_tag` does, or None if the table lacks it."""
    if text in LANGUAGES:
        return text
    key = _key(text)
    if key in (aliases := _aliases()):
        return aliases[key]
    code = re.sub("[-_ ]+", "-", text.strip("<> "))  # such as the token >>pt_BR<<
    if not _CODE.fullmatch(code):
        return None
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    try:
        given = langcodes.Language.get(code, normalize=False)
        normal = langcodes.Language.get(code)
    except LanguageTagError:
        return None
    # Languages and regions that were renamed, such as UK, have the code of today. But one that is
    # replaced by a code with a region, such as that of Dari, may be a code of a model.
    if given.territory is None and normal.territory is not None:
        normal = given
    base = aliases.get(given.language or "") or aliases.get(normal.language or "")
    return _tag(base, normal) if base and normal.is_valid() else None


def _tag(base: str, given: Language) -> str:
    """Return a code with the script and the region that are not the usual ones."""
    import langcodes

    region = None if given.territory == _NO_REGION else given.territory
    make = langcodes.Language.make
    script = make(language=base, script=given.script, territory=region).maximize().script
    is_usual = make(language=base).maximize().script == script
    usual = make(language=base, script=None if is_usual else script).maximize().territory
    if region == usual and (base, region) not in _KEPT_REGIONS:
        region = None
    parts = [base, None if is_usual else script, region, *(given.variants or ())]
    return "-".join(filter(None, parts))


@cache
def _aliases() -> dict[str, str]:
    """Return the table's code of every other code and name, by `_key`."""
    aliases = {code: code for code in LANGUAGES}
    for row in LANGUAGE_CODES.values():
        for other in (row.name, *row.others, row.nllb, row.m2m100, row.mbart50):
            if other:
                aliases.setdefault(_key(other), row.code)
    for name, tag in _NAMES.items():
        aliases[_key(name)] = tag
    return aliases


def _key(text: str) -> str:
    """Return a text without case, accents and punctuation, its words in one order."""
    plain = unicodedata.normalize("NFKD", text.strip("<> ").casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(sorted(re.findall(r"[^\s(),;]+", plain.replace("_", "-"))))


def _near(text: str) -> str | None:
    """Return the code or name nearest to a text; for a country's code, that of its language."""
    if _CODE.fullmatch(text.strip()) and len(text.strip()) == 2:
        import langcodes

        region = text.strip().upper()
        country = langcodes.Language.make(territory=region)
        code = base_code(country.maximize().language or "")
        if country.is_valid() and region != _NO_REGION and code in LANGUAGES:
            return code
    import difflib  # imported here, since it is needed for messages only

    names = {_key(name): name for name in (*LANGUAGES.values(), *_NAMES)}
    near = difflib.get_close_matches(_key(text), names, n=1, cutoff=0.7)
    if near:
        return names[near[0]]
    return None


def _readings(text: str) -> list[tuple[str, str]]:
    """Return the language pairs that a text may name, if several speak equally for themselves."""
    scored: dict[tuple[str, str], tuple[int, int]] = {}
    for parts in () if _is_locale(text) else _splits(text):
        source, target = map(known_tag, parts)
        if source and target:
            oddness = _oddness(parts, text)
            scored[source, target] = min(oddness, scored.get((source, target), oddness))
    least = min(scored.values(), default=None)
    return [pair for pair, oddness in scored.items() if oddness == least]


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a text into two that may be languages."""
    parts = _ARROW.split(text.strip())
    if len(parts) == 2:
        yield parts[0].strip(), parts[1].strip()
        return
    if len(text) > _LONGEST:
        return
    for sign in re.finditer("[-_ ]", text):
        yield text[: sign.start()].strip(), text[sign.end() :].strip()


def _is_locale(text: str) -> bool:
    """Return whether a text is one language in its usual region, such as pt-BR, and no pair."""
    match = re.fullmatch("([a-z]{2,3})[-_]([A-Z]{2})", text.strip())
    if match is None or (tag := known_tag(text)) is None:
        return False
    return tag in LANGUAGES or (base_code(tag), match[2]) in _KEPT_REGIONS


def _oddness(parts: tuple[str, str], text: str) -> tuple[int, int]:
    """Return how much speaks against a split: letters in the wrong case, and unusual regions."""
    has_case = not (text.islower() or text.isupper())
    odd = unusual = 0
    for part in parts:
        language, *others = re.split("[-_]", part.strip())
        odd += has_case and language.isupper()
        for region in (other for other in others if len(other) == 2):
            odd += has_case and not region.isupper()
            is_kept = (base_code(language), region.upper()) in _KEPT_REGIONS
            unusual += not is_kept and known_tag(f"{language}-{region}") not in LANGUAGES
    return odd, unusual


def _pair_hint(text: str) -> str:
    """Return which pair may be meant, or which of the languages is not known."""
    tag = known_tag(text)
    if tag is not None and (not re.search("[-_]", text) or _is_locale(text)):
        return "" if tag == "en" else f"; did you mean 'en-{tag}'?"
    half = len(text) // 2
    splits = [*_splits(text), (text[:half], text[half:])]
    for parts in splits:
        tags = [known_tag(part) or known_tag(_near(part) or "") for part in parts if part.strip()]
        if len(tags) == 2 and all(tags) and any(map(known_tag, parts)):
            return f"; did you mean '{'-'.join(map(str, tags))}'?"
    unknown = [part for part in splits[0] if part and known_tag(part) is None]
    return f"; not known: {', '.join(map(repr, unknown))}" if unknown and splits[1:] else ""
