"""One table of languages: the code that cc_hf uses (ISO 639-1 if there is one), the name, and the
codes of the multilingual models.
"""

from __future__ import annotations

from dataclasses import dataclass

from cc_hf.errors import InputError

__all__ = ["LANGUAGES", "LANGUAGE_CODES", "LanguageCodes", "language_pair", "two_letter_code"]

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

_SHORT = {other: row.code for row in LANGUAGE_CODES.values() for other in row.others}


def two_letter_code(code: str) -> str:
    """Return the table's code for a model's code of two or three letters.

    Args:
        code: a code. An unknown code and "" are returned unchanged.

    Examples:
        >>> two_letter_code("deu"), two_letter_code("de"), two_letter_code("")
        ('de', 'de', '')
    """
    return _SHORT.get(code, code)


def language_pair(text: str) -> tuple[str, str]:
    """Split a language pair into its source and target language.

    Args:
        text: two codes of `LANGUAGES` with a hyphen between, such as "en-de".

    Raises:
        InputError: for any other text.

    Examples:
        >>> language_pair("en-de")
        ('en', 'de')
    """
    src_lang, _, tgt_lang = text.partition("-")
    if src_lang not in LANGUAGES or tgt_lang not in LANGUAGES:
        raise InputError(
            "language_pair: expected codes of the source and the target language, such as en-de,"
            f" got {text!r}"
        )
    return src_lang, tgt_lang
