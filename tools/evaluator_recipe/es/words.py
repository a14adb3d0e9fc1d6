"""What the Spanish sentences need beside their tables."""

from __future__ import annotations

from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import RomanceLanguage

_ACCENTS = str.maketrans("áéíóú", "aeiou")


def _plural(word: str, gender: Gender) -> str:
    if word[-1] in "aeiouáéf":
        return word + "s"
    if word.endswith("z"):
        return word[:-1] + "ces"
    return (word[:-2] + word[-2:].translate(_ACCENTS) if word[-1] in "ns" else word) + "es"


LANGUAGE = RomanceLanguage(
    determiners={
        "the": ("el", "la", "los", "las"),
        "a": ("un", "una", "unos", "unas"),
        "this": ("este", "esta", "estos", "estas"),
        "that": ("ese", "esa", "esos", "esas"),
        "my": ("mi", "mi", "mis", "mis"),
        "our": ("nuestro", "nuestra", "nuestros", "nuestras"),
    },
    rewrites=((r"\b([Aa]) el ", r"\1l "), (r"\b([Dd])e el ", r"\1el ")),
    prepositions={"a": "a", "de": "de"},
    plural=_plural,
    complements=frozenset({"de"}),
    adjectives={
        "young": ("joven", "joven"),
        "old": ("viejo", "vieja"),
        "new": ("nuevo", "nueva"),
        "nice": ("simpático", "simpática"),
        "friendly": ("amable", "amable"),
        "famous": ("famoso", "famosa"),
        "rich": ("rico", "rica"),
        "angry": ("enfadado", "enfadada"),
        "experienced": ("experimentado", "experimentada"),
        "good": ("buen", "buena"),
        "Spanish": ("español", "española"),
        "tall": ("alto", "alta"),
    },
    before_noun=frozenset({"new", "good"}),
    leads=(
        ("Yesterday", "Ayer"),
        ("Last week", "La semana pasada"),
        ("This morning", "Esta mañana"),
        ("One day", "Un día"),
        ("In the evening", "Por la noche"),
        ("After the meeting", "Después de la reunión"),
        ("Two years ago", "Hace dos años"),
        ("In the office", "En la oficina"),
    ),
    relatives={
        "m": (
            ("My husband", "Mi marido"),
            ("My father", "Mi padre"),
            ("His brother", "Su hermano"),
            ("Her son", "Su hijo"),
            ("My uncle", "Mi tío"),
            ("Tom", "Tom"),
            ("That man", "Ese hombre"),
            ("Your boyfriend", "Tu novio"),
            ("Peter's father", "El padre de Peter"),
            ("He", "Él"),
        ),
        "f": (
            ("My wife", "Mi esposa"),
            ("My mother", "Mi madre"),
            ("His sister", "Su hermana"),
            ("Her daughter", "Su hija"),
            ("My aunt", "Mi tía"),
            ("Mary", "Mary"),
            ("That woman", "Esa mujer"),
            ("Your girlfriend", "Tu novia"),
            ("Peter's mother", "La madre de Peter"),
            ("She", "Ella"),
        ),
    },
    kinds={
        "m": (
            ("a man", "un hombre"),
            ("my father", "mi padre"),
            ("my brother", "mi hermano"),
            ("a clever man", "un hombre inteligente"),
            ("her husband", "su marido"),
            ("a nice guy", "un buen tipo"),
            ("an old man", "un hombre mayor"),
        ),
        "f": (
            ("a woman", "una mujer"),
            ("my mother", "mi madre"),
            ("my sister", "mi hermana"),
            ("a clever woman", "una mujer inteligente"),
            ("his wife", "su esposa"),
            ("a nice lady", "una señora simpática"),
            ("an old woman", "una mujer mayor"),
        ),
    },
    groups={
        "m": (
            ("Those men", "Esos hombres"),
            ("My brothers", "Mis hermanos"),
            ("The two men", "Los dos hombres"),
            ("His sons", "Sus hijos"),
            ("These guys", "Estos chicos"),
        ),
        "f": (
            ("Those women", "Esas mujeres"),
            ("My sisters", "Mis hermanas"),
            ("The two women", "Las dos mujeres"),
            ("Her daughters", "Sus hijas"),
            ("These ladies", "Estas señoras"),
        ),
    },
    pronouns={
        "m": {"s": "él", "l": "lo", "e": "él", "x": "o"},
        "f": {"s": "ella", "l": "la", "e": "ella", "x": "a"},
    },
    drops_subject=True,
    few_many={"m": ("unos pocos", "muchos"), "f": ("unas pocas", "muchas")},
    someone="alguien",
    people={
        "they": ("ellos", "ellas"),
        "some": ("algunos", "algunas"),
        "all": ("todos", "todas"),
        "both": ("ambos", "ambas"),
        "few": ("pocos", "pocas"),
        "many": ("muchos", "muchas"),
    },
    names={"Tom": "Tom", "Mary": "María|Mary"},
    fronted=frozenset({"cuando", "mientras", "aunque", "antes", "después"}),
    comma_before=frozenset({"pero", "así", "aunque"}),
    with_article=("convirtió",),
    twin_endings=(
        ("o", "a"),
        ("os", "as"),
        ("", "a"),
        ("es", "as"),
        ("e", "a"),
        ("ón", "ona"),
        ("ín", "ina"),
        ("és", "esa"),
        ("án", "ana"),
    ),
    twin_determiners={
        "el": "la",
        "los": "las",
        "un": "una",
        "unos": "unas",
        "del": "de la",
        "al": "a la",
        "este": "esta",
        "estos": "estas",
        "ese": "esa",
        "esos": "esas",
        "aquel": "aquella",
        "aquellos": "aquellas",
        "nuestro": "nuestra",
        "nuestros": "nuestras",
        "otro": "otra",
        "otros": "otras",
        "algún": "alguna",
        "algunos": "algunas",
        "ningún": "ninguna",
        "muchos": "muchas",
        "pocos": "pocas",
        "todos": "todas",
        "varios": "varias",
    },
    twin_pronouns={
        "algunos": "algunas",
        "ambos": "ambas",
        "ellos": "ellas",
        "ninguno": "ninguna",
        "nosotros": "nosotras",
        "otros": "otras",
        "todos": "todas",
        "vosotros": "vosotras",
    },
)
