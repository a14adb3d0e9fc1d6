"""What the Italian sentences need beside their tables."""

from __future__ import annotations

from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import RomanceLanguage

#: Before a vowel an article loses its own ("l'amico"); h is silent.
_VOWEL = "(?=[AEIOUHaeiouhàèéìòùÀÈ])"
#: Before these sounds a masculine article has a longer form: "lo studente", "gli psicologi".
_IMPURE = "(?=[Ss][bcdfghklmnpqrtvz]|[XYZxyz]|[Gg]n|[Pp][ns]|chef)"
_EITHER = f"(?:{_VOWEL}|{_IMPURE})"
#: The beginnings of "del", "al", "dal", "sul", "nel", "quel" and "bel".
_STEMS = "[Dd]e|[Aa]|[Dd]a|[Ss]u|[Nn]e|[Qq]ue|[Bb]e"
_LIKE_UN = "[Uu]n|[Aa]lcun|[Nn]essun|[Cc]iascun"

_JOINED = tuple(
    (rf"\b{preposition} {article}", written)
    for preposition, stem in (("a", "a"), ("di", "de"), ("da", "da"), ("su", "su"), ("in", "ne"))
    for article, written in (
        ("il ", f"{stem}l "),
        ("i ", f"{stem}i "),
        ("(?=l[ae] )", f"{stem}l"),
    )
)
_FITTED = (
    (rf"\b({_STEMS})l {_IMPURE}", r"\1llo "),
    (rf"\b({_STEMS})l {_VOWEL}", r"\1ll'"),
    (rf"\b({_STEMS})lla {_VOWEL}", r"\1ll'"),
    (rf"\b({_STEMS})i {_EITHER}", r"\1gli "),
    (rf"\bil {_IMPURE}", "lo "),
    (rf"\bIl {_IMPURE}", "Lo "),
    (rf"\bi {_EITHER}", "gli "),
    (rf"\bI {_EITHER}", "Gli "),
    # "Lo" and "la" are pronouns, too: "l'aiutò", "l'ha vista".
    (rf"\b(?:il|lo|la) {_VOWEL}", "l'"),
    (rf"\b(?:Il|Lo|La) {_VOWEL}", "L'"),
    (rf"\b({_LIKE_UN}|[Bb]uon) {_IMPURE}", r"\1o "),
    (rf"\b({_LIKE_UN}) (?=de(?:i|gli) )", r"\1o "),  # a pronoun: "uno degli amici"
    (rf"\b({_LIKE_UN})a {_VOWEL}", r"\1'"),
    (r"\be (?=[eèE])", "ed "),
)

_POSSESSIVES = (
    ("mio", "mia", "miei", "mie"),
    ("tuo", "tua", "tuoi", "tue"),
    ("suo", "sua", "suoi", "sue"),
    ("nostro", "nostra", "nostri", "nostre"),
    ("vostro", "vostra", "vostri", "vostre"),
    ("loro", "loro", "loro", "loro"),
)
#: Articles of a twin. Where two masculine words have the same feminine one, the last is its twin:
#: it is fitted to the next sound.
_ARTICLES = {
    "lo": "la",
    "il": "la",
    "gli": "le",
    "i": "le",
    "uno": "una",
    "un": "una",
    "un ": "un'",
}
_ARTICLES |= {
    stem + masculine: stem + feminine
    for stem in ("de", "a", "da", "su", "ne", "que")
    for masculine, feminine in (("llo", "lla"), ("l", "lla"), ("gli", "lle"), ("i", "lle"))
}


def _with_possessives() -> dict[str, str]:
    """Return the twins of articles with a possessive, which the reader takes for one word."""
    stems = ("", *("de", "a", "da", "su", "ne"))
    twins = {}
    for masculine, feminine, masculines, feminines in _POSSESSIVES:
        for stem in stems:
            il, la = (f"{stem}l", f"{stem}lla") if stem else ("il", "la")
            i, le = (f"{stem}i", f"{stem}lle") if stem else ("i", "le")
            twins[f"{il} {masculine}"] = f"{la} {feminine}"
            twins[f"{i} {masculines}"] = f"{le} {feminines}"
        if masculine != feminine:
            twins |= {masculine: feminine, masculines: feminines}
    return twins


def _plural(word: str, gender: Gender) -> str:
    endings: tuple[tuple[str, str], ...] = (("ca", "che"), ("ga", "ghe"), ("a", "e"), ("e", "i"))
    if gender == "m":
        endings = (
            ("ico", "ici"),
            ("logo", "logi"),
            ("co", "chi"),
            ("go", "ghi"),
            ("io", "i"),
            ("o", "i"),
            ("a", "i"),
            ("e", "i"),
        )
    # Loan words stay as they are ("i manager"), as does a masculine form for women ("le capo").
    return next((word.removesuffix(a) + b for a, b in endings if word.endswith(a)), word)


LANGUAGE = RomanceLanguage(
    determiners={
        "the": ("il", "la", "i", "le"),
        "a": ("un", "una", "dei", "delle"),
        "this": ("questo", "questa", "questi", "queste"),
        "that": ("quel", "quella", "quei", "quelle"),
        "my": ("il mio", "la mia", "i miei", "le mie"),
        "our": ("il nostro", "la nostra", "i nostri", "le nostre"),
    },
    rewrites=(*_JOINED, *_FITTED),
    prepositions={"a": "a", "di": "di", "da": "da", "su": "su"},
    plural=_plural,
    complements=frozenset({"di", "del", "alle", "alla", "ai", "delle"}),
    adjectives={
        "young": ("giovane", "giovane"),
        "old": ("vecchio", "vecchia"),
        "new": ("nuovo", "nuova"),
        "nice": ("simpatico", "simpatica"),
        "friendly": ("gentile", "gentile"),
        "famous": ("famoso", "famosa"),
        "rich": ("ricco", "ricca"),
        "angry": ("arrabbiato", "arrabbiata"),
        "experienced": ("esperto", "esperta"),
        "good": ("bravo", "brava"),
        "Italian": ("italiano", "italiana"),
        "tall": ("alto", "alta"),
    },
    before_noun=frozenset({"young", "old", "new", "good"}),
    leads=(
        ("Yesterday", "Ieri"),
        ("Last week", "La settimana scorsa"),
        ("This morning", "Questa mattina"),
        ("One day", "Un giorno"),
        ("In the evening", "Di sera"),
        ("After the meeting", "Dopo la riunione"),
        ("Two years ago", "Due anni fa"),
        ("In the office", "In ufficio"),
    ),
    relatives={
        "m": (
            ("My husband", "Mio marito"),
            ("My father", "Mio padre"),
            ("His brother", "Suo fratello"),
            ("Her son", "Suo figlio"),
            ("My uncle", "Mio zio"),
            ("Tom", "Tom"),
            ("That man", "Quell'uomo"),
            ("Your boyfriend", "Il tuo ragazzo"),
            ("Peter's father", "Il padre di Peter"),
            ("He", "Lui"),
        ),
        "f": (
            ("My wife", "Mia moglie"),
            ("My mother", "Mia madre"),
            ("His sister", "Sua sorella"),
            ("Her daughter", "Sua figlia"),
            ("My aunt", "Mia zia"),
            ("Mary", "Mary"),
            ("That woman", "Quella donna"),
            ("Your girlfriend", "La tua ragazza"),
            ("Peter's mother", "La madre di Peter"),
            ("She", "Lei"),
        ),
    },
    kinds={
        "m": (
            ("a man", "un uomo"),
            ("my father", "mio padre"),
            ("my brother", "mio fratello"),
            ("a clever man", "un uomo intelligente"),
            ("her husband", "suo marito"),
            ("a nice guy", "un tipo simpatico"),
            ("an old man", "un uomo anziano"),
        ),
        "f": (
            ("a woman", "una donna"),
            ("my mother", "mia madre"),
            ("my sister", "mia sorella"),
            ("a clever woman", "una donna intelligente"),
            ("his wife", "sua moglie"),
            ("a nice lady", "una signora simpatica"),
            ("an old woman", "una donna anziana"),
        ),
    },
    groups={
        "m": (
            ("Those men", "Quegli uomini"),
            ("My brothers", "I miei fratelli"),
            ("The two men", "I due uomini"),
            ("His sons", "I suoi figli"),
            ("These guys", "Questi ragazzi"),
        ),
        "f": (
            ("Those women", "Quelle donne"),
            ("My sisters", "Le mie sorelle"),
            ("The two women", "Le due donne"),
            ("Her daughters", "Le sue figlie"),
            ("These ladies", "Queste signore"),
        ),
    },
    pronouns={
        "m": {"s": "lui", "l": "lo", "d": "gli", "e": "lui", "x": "o"},
        "f": {"s": "lei", "l": "la", "d": "le", "e": "lei", "x": "a"},
    },
    drops_subject=True,
    few_many={"m": ("pochi", "molti"), "f": ("poche", "molte")},
    someone="qualcuno",
    people={
        "some": ("alcuni", "alcune"),
        "all": ("tutti", "tutte"),
        "few": ("pochi", "poche"),
        "many": ("molti", "molte"),
        "others": ("altri", "altre"),
    },
    names={"Tom": "Tom", "Mary": "Mary|Maria"},
    fronted=frozenset({"quando", "mentre", "anche", "sebbene", "poiché", "prima", "dopo"}),
    comma_before=frozenset({"ma", "così", "quindi", "anche", "sebbene"}),
    with_article=(),
    twin_endings=(
        ("o", "a"),
        ("i", "e"),
        ("e", "a"),
        ("ci", "che"),
        ("chi", "che"),
        ("gi", "ghe"),
        ("ghi", "ghe"),
        ("ore", "rice"),
        ("ori", "rici"),
        ("e", "essa"),
        ("i", "esse"),
        ("a", "essa"),
    ),
    twin_pronouns={
        "alcuni": "alcune",
        "altri": "altre",
        "molti": "molte",
        "nessuno": "nessuna",
        "ognuno": "ognuna",
        "pochi": "poche",
        "tutti": "tutte",
    },
    twin_determiners=_ARTICLES
    | _with_possessives()
    | {
        "entrambi i": "entrambe le",
        "tutti": "tutte",
        "tutti i": "tutte le",
        "questo": "questa",
        "questi": "queste",
        "altro": "altra",
        "altri": "altre",
        "un altro": "un'altra",
        "alcun": "alcuna",
        "alcuni": "alcune",
        "nessuno": "nessuna",
        "nessun": "nessuna",
        "nessun ": "nessun'",
        "molti": "molte",
        "pochi": "poche",
        "tanti": "tante",
        "diversi": "diverse",
        "parecchi": "parecchie",
        "buon": "buona",
        "bello": "bella",
        "bel": "bella",
        "begli": "belle",
        "bei": "belle",
    },
    perfect=True,
)
