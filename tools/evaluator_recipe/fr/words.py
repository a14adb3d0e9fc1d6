"""What the French sentences need beside their tables."""

from __future__ import annotations

from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import RomanceLanguage

#: What follows an elided word: a vowel, or an h that is not aspirated.
_VOWEL = r"(?=(?i:[aeiouâàéèêëîïôöûùœ]|y\b|h(?!a[iï]|asard|aut|eurt|éros|ont|ors|uit|url)))"


def _plural(word: str, gender: Gender) -> str:
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith("eau") else "s")


LANGUAGE = RomanceLanguage(
    determiners={
        "the": ("le", "la", "les", "les"),
        "a": ("un", "une", "des", "des"),
        "this": ("ce", "cette", "ces", "ces"),
        "that": ("ce", "cette", "ces", "ces"),
        "my": ("mon", "ma", "mes", "mes"),
        "our": ("notre", "notre", "nos", "nos"),
    },
    # "À" and "de" are one word with the article at the start of a noun phrase only: "de le
    # rappeler" has a pronoun.
    rewrites=(
        (rf"\b(le|un|ce|mon|notre) vieux {_VOWEL}", r"\1 vieil "),
        (rf"\b(le|un|ce|mon|notre) nouveau {_VOWEL}", r"\1 nouvel "),
        (rf"^((?:à |de )?)ce {_VOWEL}", r"\1cet "),
        (rf"(?<![\w-])([Ll])[ea] {_VOWEL}", r"\1'"),
        (rf"(?<![\w-])([dDsSnNjJmMtT]|(?:[Ll]ors|[Pp]uis|[Jj]us)?[Qq]u)e {_VOWEL}", r"\1'"),
        (rf"(?<![\w-])([mstMST])a {_VOWEL}", r"\1on "),
        (r"\b([Ss])i (?=ils?\b)", r"\1'"),
        ("^de le ", "du "),
        ("^De le ", "Du "),
        ("^à le ", "au "),
        ("^À le ", "Au "),
    ),
    prepositions={"a": "à", "de": "de"},
    plural=_plural,
    complements=frozenset({"d'enfants", "d'entretien", "de", "du"}),
    adjectives={
        "young": ("jeune", "jeune"),
        "old": ("vieux", "vieille"),
        "new": ("nouveau", "nouvelle"),
        "nice": ("sympathique", "sympathique"),
        "friendly": ("aimable", "aimable"),
        "famous": ("célèbre", "célèbre"),
        "rich": ("riche", "riche"),
        "angry": ("furieux", "furieuse"),
        "experienced": ("expérimenté", "expérimentée"),
        "good": ("bon", "bonne"),
        "French": ("français", "française"),
        "tall": ("grand", "grande"),
    },
    before_noun=frozenset({"good", "new", "old", "tall", "young"}),
    leads=(
        ("Yesterday", "Hier"),
        ("Last week", "La semaine dernière"),
        ("This morning", "Ce matin"),
        ("One day", "Un jour"),
        ("In the evening", "Le soir"),
        ("After the meeting", "Après la réunion"),
        ("Two years ago", "Il y a deux ans"),
        ("In the office", "Au bureau"),
    ),
    relatives={
        "m": (
            ("My husband", "Mon mari"),
            ("My father", "Mon père"),
            ("His brother", "Son frère"),
            ("Her son", "Son fils"),
            ("My uncle", "Mon oncle"),
            ("Tom", "Tom"),
            ("That man", "Cet homme"),
            ("Your boyfriend", "Ton petit ami"),
            ("Peter's father", "Le père de Peter"),
            ("He", "Il"),
        ),
        "f": (
            ("My wife", "Ma femme"),
            ("My mother", "Ma mère"),
            ("His sister", "Sa sœur"),
            ("Her daughter", "Sa fille"),
            ("My aunt", "Ma tante"),
            ("Mary", "Mary"),
            ("That woman", "Cette femme"),
            ("Your girlfriend", "Ta petite amie"),
            ("Peter's mother", "La mère de Peter"),
            ("She", "Elle"),
        ),
    },
    kinds={
        "m": (
            ("a man", "un homme"),
            ("my father", "mon père"),
            ("my brother", "mon frère"),
            ("a clever man", "un homme intelligent"),
            ("her husband", "son mari"),
            ("a nice guy", "un type sympathique"),
            ("an old man", "un vieil homme"),
        ),
        "f": (
            ("a woman", "une femme"),
            ("my mother", "ma mère"),
            ("my sister", "ma sœur"),
            ("a clever woman", "une femme intelligente"),
            ("his wife", "sa femme"),
            ("a nice lady", "une dame sympathique"),
            ("an old woman", "une vieille femme"),
        ),
    },
    groups={
        "m": (
            ("Those men", "Ces hommes"),
            ("My brothers", "Mes frères"),
            ("The two men", "Les deux hommes"),
            ("His sons", "Ses fils"),
            ("These guys", "Ces gars"),
        ),
        "f": (
            ("Those women", "Ces femmes"),
            ("My sisters", "Mes sœurs"),
            ("The two women", "Les deux femmes"),
            ("Her daughters", "Ses filles"),
            ("These ladies", "Ces dames"),
        ),
    },
    pronouns={
        "m": {"s": "il", "l": "le", "e": "lui", "x": ""},
        "f": {"s": "elle", "l": "la", "e": "elle", "x": "e"},
    },
    drops_subject=False,
    few_many={"m": ("quelques", "beaucoup de"), "f": ("quelques", "beaucoup de")},
    someone="quelqu'un",
    people={
        "they": ("ils", "elles"),
        "some": ("certains", "certaines"),
        "all": ("tous", "toutes"),
        "both": ("tous les deux", "toutes les deux"),
        "few": ("quelques-uns", "quelques-unes"),
    },
    names={"Tom": "Tom", "Mary": "Marie|Mary"},
    fronted=frozenset({"quand", "lorsque", "pendant", "avant", "après", "bien", "même"}),
    comma_before=frozenset({"mais", "donc", "alors", "car"}),
    with_article=(),
    twin_endings=(
        ("", "e"),
        ("s", "es"),
        ("er", "ère"),
        ("ers", "ères"),
        ("teur", "trice"),
        ("teurs", "trices"),
        ("eur", "euse"),
        ("eurs", "euses"),
        ("eux", "euse"),
        ("eux", "euses"),
        ("en", "enne"),
        ("ens", "ennes"),
        ("on", "onne"),
        ("ons", "onnes"),
        ("eau", "elle"),
        ("eaux", "elles"),
        ("ieux", "ieille"),
        ("nel", "nelle"),
        ("nels", "nelles"),
        ("et", "ète"),
        ("ets", "ètes"),
        ("f", "ve"),
        ("fs", "ves"),
    ),
    twin_determiners={
        "le": "la",
        "un": "une",
        "du": "de la",
        "au": "à la",
        "cet": "cette",
        "ce": "cette",
        "mon": "ma",
        "ton": "ta",
        "son": "sa",
        "aucun": "aucune",
        "quel": "quelle",
        "quels": "quelles",
        "certains": "certaines",
        "tous": "toutes",
        "tout": "toute",
    },
    twin_pronouns={
        "aucun": "aucune",
        "certains": "certaines",
        "ceux": "celles",
        "chacun": "chacune",
        "ils": "elles",
        "tous": "toutes",
    },
    perfect=True,
)
