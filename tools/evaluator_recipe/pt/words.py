"""What the Portuguese sentences need beside their tables. The variety is Brazilian, as in Tatoeba
and the test sets.
"""

from __future__ import annotations

from cc_hf.text.morphology import FEMININE, MASCULINE
from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import RomanceLanguage

_ARTICLES = (("o", "a"), ("do", "da"), ("ao", "à"), ("no", "na"), ("pelo", "pela"))
_POSSESSIVES = (
    ("meu", "minha"),
    ("teu", "tua"),
    ("seu", "sua"),
    ("nosso", "nossa"),
    ("vosso", "vossa"),
)


def _plural(word: str, gender: Gender) -> str:
    if word.endswith("ão"):
        return word[:-2] + "ões"
    if word.endswith("il"):
        return word[:-1] + "s"
    if word.endswith(("al", "ul")):
        return word[:-1] + "is"
    if word.endswith("el"):
        return word[:-2] + "éis"
    if word.endswith("m"):
        return word[:-1] + "ns"
    if word.endswith("ês"):
        return word[:-2] + "eses"
    return word + ("es" if word[-1] in "rz" else "s")


LANGUAGE = RomanceLanguage(
    determiners={
        "the": ("o", "a", "os", "as"),
        "a": ("um", "uma", "uns", "umas"),
        "this": ("este", "esta", "estes", "estas"),
        "that": ("aquele", "aquela", "aqueles", "aquelas"),
        "my": ("meu", "minha", "meus", "minhas"),
        "our": ("nosso", "nossa", "nossos", "nossas"),
    },
    rewrites=(
        (r"\ba (os? )", r"a\1"),
        (r"\ba a(s? )", r"à\1"),
        (r"\ba a(quel[ae]s? )", r"à\1"),
        (r"\bde ([oa]s? |est[ea]s? |aquel[ea]s? )", r"d\1"),
        (r"\bem ([oa]s? |est[ea]s? |aquel[ea]s? )", r"n\1"),
        (r"\bpor ([oa]s? )", r"pel\1"),
    ),
    prepositions={"a": "a", "de": "de", "em": "em", "por": "por"},
    plural=_plural,
    complements=frozenset({"de", "da"}),
    adjectives={
        "young": ("jovem", "jovem"),
        "old": ("velho", "velha"),
        "new": ("novo", "nova"),
        "nice": ("simpático", "simpática"),
        "friendly": ("amigável", "amigável"),
        "famous": ("famoso", "famosa"),
        "rich": ("rico", "rica"),
        "angry": ("zangado", "zangada"),
        "experienced": ("experiente", "experiente"),
        "good": ("bom", "boa"),
        "Brazilian": ("brasileiro", "brasileira"),
        "tall": ("alto", "alta"),
    },
    before_noun=frozenset({"new", "good"}),
    leads=(
        ("Yesterday", "Ontem"),
        ("Last week", "Na semana passada"),
        ("This morning", "Hoje de manhã"),
        ("One day", "Um dia"),
        ("In the evening", "À noite"),
        ("After the meeting", "Depois da reunião"),
        ("Two years ago", "Há dois anos"),
        ("In the office", "No escritório"),
    ),
    relatives={
        "m": (
            ("My husband", "Meu marido"),
            ("My father", "Meu pai"),
            ("His brother", "O irmão dele"),
            ("Her son", "O filho dela"),
            ("My uncle", "Meu tio"),
            ("Tom", "Tom"),
            ("That man", "Aquele homem"),
            ("Your boyfriend", "Seu namorado"),
            ("Peter's father", "O pai de Peter"),
            ("He", "Ele"),
        ),
        "f": (
            ("My wife", "Minha esposa"),
            ("My mother", "Minha mãe"),
            ("His sister", "A irmã dele"),
            ("Her daughter", "A filha dela"),
            ("My aunt", "Minha tia"),
            ("Mary", "Mary"),
            ("That woman", "Aquela mulher"),
            ("Your girlfriend", "Sua namorada"),
            ("Peter's mother", "A mãe de Peter"),
            ("She", "Ela"),
        ),
    },
    kinds={
        "m": (
            ("a man", "um homem"),
            ("my father", "meu pai"),
            ("my brother", "meu irmão"),
            ("a clever man", "um homem inteligente"),
            ("her husband", "o marido dela"),
            ("a nice guy", "um cara legal"),
            ("an old man", "um homem velho"),
        ),
        "f": (
            ("a woman", "uma mulher"),
            ("my mother", "minha mãe"),
            ("my sister", "minha irmã"),
            ("a clever woman", "uma mulher inteligente"),
            ("his wife", "a esposa dele"),
            ("a nice lady", "uma senhora simpática"),
            ("an old woman", "uma mulher velha"),
        ),
    },
    groups={
        "m": (
            ("Those men", "Aqueles homens"),
            ("My brothers", "Meus irmãos"),
            ("The two men", "Os dois homens"),
            ("His sons", "Os filhos dele"),
            ("These guys", "Esses caras"),
        ),
        "f": (
            ("Those women", "Aquelas mulheres"),
            ("My sisters", "Minhas irmãs"),
            ("The two women", "As duas mulheres"),
            ("Her daughters", "As filhas dela"),
            ("These ladies", "Essas senhoras"),
        ),
    },
    # {g}: "good", whose two forms are no stem with an ending.
    pronouns={
        "m": {"s": "ele", "l": "o", "e": "ele", "x": "o", "g": "bom"},
        "f": {"s": "ela", "l": "a", "e": "ela", "x": "a", "g": "boa"},
    },
    drops_subject=True,
    few_many={"m": ("alguns", "muitos"), "f": ("algumas", "muitas")},
    someone="alguém",
    # "A" before the name of a man is a preposition; "a" before that of a woman may be either word.
    people={
        "they": ("eles", "elas"),
        "some": ("alguns", "algumas"),
        "all": ("todos", "todas"),
        "both": ("ambos", "ambas"),
        "few": ("poucos", "poucas"),
        "many": ("muitos", "muitas"),
    },
    names={"Tom": r"(?<!\bA )Tom", "Mary": r"(?<!\ba )(?:Maria|Mary)"},
    fronted=frozenset({"quando", "enquanto", "embora", "antes", "depois"}),
    comma_before=frozenset({"mas", "então", "portanto", "embora", "pois"}),
    with_article=("se tornou",),
    twin_endings=(
        ("o", "a"),
        ("os", "as"),
        ("", "a"),
        ("es", "as"),
        ("e", "a"),
        ("ês", "esa"),
        ("ão", "ã"),
        ("ãos", "ãs"),
        ("ães", "ãs"),
        ("ões", "ãs"),
        ("ão", "oa"),
        ("ões", "oas"),
        ("ão", "ona"),
        ("ões", "onas"),
        ("iz", "íza"),
        ("ízes", "ízas"),
        ("or", "riz"),
        ("ores", "rizes"),
        ("eu", "eia"),
        ("eus", "eias"),
        ("om", "oa"),
        ("ons", "oas"),
        ("óis", "olas"),
    ),
    twin_pronouns={
        "alguns": "algumas",
        "ambos": "ambas",
        "eles": "elas",
        "muitos": "muitas",
        "nenhum": "nenhuma",
        "outros": "outras",
        "poucos": "poucas",
        "todos": "todas",
    },
    twin_determiners={
        "o": "a",
        "os": "as",
        "um": "uma",
        "uns": "umas",
        "ao": "à",
        "aos": "às",
        "do": "da",
        "dos": "das",
        "no": "na",
        "nos": "nas",
        "pelo": "pela",
        "pelos": "pelas",
        "dum": "duma",
        "num": "numa",
        "este": "esta",
        "estes": "estas",
        "deste": "desta",
        "destes": "destas",
        "neste": "nesta",
        "nestes": "nestas",
        "esse": "essa",
        "esses": "essas",
        "desse": "dessa",
        "desses": "dessas",
        "nesse": "nessa",
        "nesses": "nessas",
        "aquele": "aquela",
        "aqueles": "aquelas",
        "daquele": "daquela",
        "daqueles": "daquelas",
        "naquele": "naquela",
        "naqueles": "naquelas",
        "àquele": "àquela",
        "àqueles": "àquelas",
        **{
            f"{possessive}{s}": f"{feminine}{s}"
            for possessive, feminine in _POSSESSIVES
            for s in ("", "s")
        },
        "outro": "outra",
        "outros": "outras",
        "algum": "alguma",
        "alguns": "algumas",
        "nenhum": "nenhuma",
        "muitos": "muitas",
        "poucos": "poucas",
        "todos": "todas",
        "vários": "várias",
        "quantos": "quantas",
        "tantos": "tantas",
        "ambos": "ambas",
        "dois": "duas",
        "bom": "boa",
        "bons": "boas",
        "mau": "má",
        "maus": "más",
        # The dictionary reads these as one word.
        **{
            f"{article}{s} {possessive}{s}": f"{feminine_article}{s} {feminine}{s}"
            for article, feminine_article in _ARTICLES
            for possessive, feminine in _POSSESSIVES
            for s in ("", "s")
        },
    },
    before_names={
        "o": "",
        "A": "",
        "ao": "a",
        "à": "a",
        "do": "de",
        "da": "de",
        "no": "em",
        "na": "em",
        "pelo": "por",
        "pela": "por",
    },
    # Not those of the gerund, "-ndo".
    unknown_endings={MASCULINE: "(?<!nd)os?$", FEMININE: "as?$"},
)
