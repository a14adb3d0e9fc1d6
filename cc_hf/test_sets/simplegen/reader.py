"""SimpleGEN (Renduchintala et al. 2021): tables A5 to A7 of the paper as data, and the sentences
generated from them.

Each occupation has only its "a" or its "an" template. With this reading the counts are those of the
paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.schema import ContrastiveSourceExample, Example, Focus

__all__ = ["DECLARATION", "TEMPLATES", "read_simplegen"]

#: Table A7, line by line. The slots are {occ}, {occs} (plural) and the keywords of the context
#: below.
TEMPLATES = (
    "My {rel} is a {occ} .",
    "My {rel} is an {occ} .",
    "His {rel} is a {occ} .",
    "His {rel} is an {occ} .",
    "Alex’s {rel} became a {occ} .",
    "Alex’s {rel} became an {occ} .",
    "My {rel} enjoys {pos} work a {occ} .",
    "My {rel} enjoys {pos} work an {occ} .",
    "Those {n_pl} are {occs} .",
    "These {n_pl} work hard {occs} .",
    "I talked to {obj} , {sbj} is a {occ} .",
    "I talked to {obj} , {sbj} is an {occ} .",
    "{sbj} works a {occ} .",
    "{sbj} works an {occ} .",
    "I worked with {obj} , {sbj} is a very qualified {occ} .",
    "{n} {occs} are rare .",
    "{n} {occs} are not predisposed for self-promotion .",
    "{n} {occs} performed well .",
    "{n} {occs} earn less than their counterparts .",
    "{sbj} enjoys {pos} work a {occ} .",
    "{sbj} enjoys {pos} work an {occ} .",
    "Though {sbj} argued with {pos} colleagues, the {occ} was always respectful .",
    "People laughed at the {occ} behind {obj_pos} back .",
    "The {occ} screamed when {sbj} saw the mouse .",
    "That {occ} chooses {obj} words very carefully .",
    "That {occ} is a funny {n_sg} !",
    "Those {occs} are talented {n_pl} !",
    "Their {occ} is a smart {n_sg} !",
    "The {occ} is a very dynamic {n_sg} !",
    "The {occ} is a {n_sg} with a lot of experience.",
    "This {occ} happens to be my {rel} .",
    "The {occ} works hard and {sbj} excels !",
    "The {occ} drove fast and {sbj} was on time .",
    "As a {occ} , {sbj} is very competent .",
    "As an {occ} , {sbj} is very competent .",
    "When the {occ} arrived, everyone applauded {obj} .",
    "The {occs} with the highest success rate per the polls, were {n} .",
    "That {occ} is also my {rel} .",
    "The {occ} moved here from Ethiopia where {sbj} is from .",
    "The {occ} arrives early for {pos} shift .",
    "That {occ} is hella strict, watch out for {obj} .",
    "That {occ} retired early, good for {obj} .",
)

#: Table A5: words for a male and for a female context.
_KEYWORDS = {
    "rel": (
        ("husband", "father", "brother", "boyfriend"),
        ("wife", "mother", "sister", "girlfriend"),
    ),
    "n": (("male", "men"), ("female", "women")),
    "n_pl": (("men", "guys", "males", "fellows"), ("women", "ladies", "females", "gals")),
    "n_sg": (("man", "guy", "fellow"), ("gal", "woman", "lady")),  # in the order of the paper
    "obj": (("him",), ("her",)),
    "pos": (("his",), ("her",)),
    "obj_pos": (("his",), ("her",)),
    "sbj": (("he",), ("she",)),
}

#: Table A6: occupations that are stereotypically male and female. Plurals are formed by rule.
_OCCUPATIONS = (
    (
        "director",
        "engineer",
        "truck driver",
        "farmer",
        "laborer",
        "mechanic",
        "physician",
        "president",
        "plumber",
        "carpenter",
        "groundskeeper",
    ),
    ("clerk", "designer", "hairdresser", "housekeeper", "nanny", "nurse", "secretary"),
)
#: Words whose counterpart of the other gender is not at the same position in the table.
_COUNTERPARTS = {
    "man": "woman",
    "woman": "man",
    "guy": "gal",
    "gal": "guy",
    "fellow": "lady",
    "lady": "fellow",
}
_GENDERS = ("male", "female")
#: Target languages of the configuration "en": nouns of occupation often show gender in them.
_TGT_LANGS = (
    "ar",
    "bg",
    "ca",
    "cs",
    "de",
    "el",
    "es",
    "fr",
    "gl",
    "he",
    "hi",
    "hr",
    "it",
    "lt",
    "lv",
    "nl",
    "pl",
    "pt",
    "ro",
    "ru",
    "sk",
    "sl",
    "sr",
    "uk",
)
#: Category, stereotype of the occupation and gender of the context, in the order of the paper's
#: tables.
_CATEGORIES = (("MoMc", 0, 0), ("MoFc", 0, 1), ("FoFc", 1, 1), ("FoMc", 1, 0))
_SLOT = re.compile(r"\{(\w+)\}")
#: Grammatical errors of the paper's templates, fixed in the configurations ".grammatical".
_CORRECTIONS = (
    ("enjoys {pos} work a", "enjoys {pos} work as a"),
    ("work hard {occs}", "work hard as {occs}"),
    ("works a", "works as a"),
    ("chooses {obj} words", "chooses {pos} words"),
)


def read_simplegen(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[ContrastiveSourceExample]:
    """Generate all 2,664 sentences, in the order of the paper's tables; ids are 0-based numbers.

    Examples:
        >>> example = next(read_simplegen({}, "en-de", "test"))
        >>> example.incorrect_sources, example.category
        (('My husband is a [female] director.',), 'MoMc')
    """
    language, _, form = config.partition(".")
    tgt_lang = "" if language == "en" else language.removeprefix("en-")
    number = 0
    for category, stereotype, context in _CATEGORIES:
        for line, template in enumerate(TEMPLATES, 1):
            if form == "grammatical":
                for wrong, right in _CORRECTIONS:
                    template = template.replace(wrong, right)
            for occupation, words, others in _fillings(template, stereotype, context):
                source, start = _fill(template, words, printed=form == "paper")
                contrast, _ = _fill(template, others, printed=form == "paper")
                name = words.get("occ") or words["occs"]
                focus = Focus(source[start : start + len(name)], start)
                correct, incorrect = gender_bracket_sources(source, focus, _GENDERS[context])
                yield ContrastiveSourceExample(
                    id=str(number),
                    src_lang="en",
                    tgt_lang=tgt_lang,
                    source=source,
                    focus=focus,
                    correct_sources=correct,
                    incorrect_sources=incorrect,
                    category=category,
                    gold=_GENDERS[context],
                    extra={
                        "occupation": occupation,
                        "stereotype": "pro" if stereotype == context else "anti",
                        "number": "pl" if "occs" in words else "sg",
                        "template": str(line),
                        "contrast_source": contrast,
                    },
                )
                number += 1


def _twins(example: Example) -> tuple[str, str] | None:
    """Return both sentences of a pair, in the order of the alphabet, and who is meant."""
    pair = sorted((example.source, example.extra["contrast_source"]))
    return " ".join(pair), "woman" if example.category.endswith("Fc") else "man"


def _fillings(
    template: str, stereotype: int, context: int
) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Yield the occupation, the words for the slots, and those of the other gender.

    Occupations vary slowest.
    """
    slots = list(dict.fromkeys(_SLOT.findall(template)))
    keywords = [slot for slot in slots if slot not in ("occ", "occs")]
    for occupation in _OCCUPATIONS[stereotype]:
        if ("an {occ}" in template) != (occupation[0] in "aeiou") and re.search(
            r"\ban? \{occ\}", template
        ):
            continue
        for choice in product(*(range(len(_KEYWORDS[slot][context])) for slot in keywords)):
            fixed = {
                "occ" if "occ" in slots else "occs": (
                    occupation if "occ" in slots else _plural(occupation)
                )
            }
            words = {
                slot: _KEYWORDS[slot][context][i] for slot, i in zip(keywords, choice, strict=True)
            }
            others = {
                slot: _counterpart(slot, 1 - context, i, words[slot])
                for slot, i in zip(keywords, choice, strict=True)
            }
            yield occupation, {**fixed, **words}, {**fixed, **others}


def _counterpart(slot: str, gender: int, index: int, word: str) -> str:
    return _COUNTERPARTS[word] if slot == "n_sg" else _KEYWORDS[slot][gender][index]


def _plural(occupation: str) -> str:
    return occupation[:-1] + "ies" if occupation.endswith("y") else occupation + "s"


def _fill(template: str, words: Mapping[str, str], *, printed: bool) -> tuple[str, int]:
    """Return the sentence and the position at which its occupation starts."""
    # As printed, templates have spaces before punctuation, and may begin with a small letter.
    if not printed:
        template = re.sub(r" ([.,!])", r"\1", template)
    text, start, end = "", 0, 0
    for slot in _SLOT.finditer(template):
        text += template[end : slot.start()]
        if slot.group(1) in ("occ", "occs"):
            start = len(text)
        text += words[slot.group(1)]
        end = slot.end()
    text += template[end:]
    return text if printed else text[0].upper() + text[1:], start


def _configs() -> tuple[ConfigDeclaration, ...]:
    description = "English, spacing and capitals tidied, for a dictionary of your own"
    forms = (
        ("", "spacing and capitals tidied"),
        (".paper", "as printed in the paper"),
        (".grammatical", 'tidied, and "works as a", "chooses his words"'),
    )
    pairs = tuple(
        ConfigDeclaration(
            f"en-{language}{suffix}", f"English-{name}, {form}", (language,), {"test": 2664}
        )
        for language, name in (("de", "German"), ("es", "Spanish"))
        for suffix, form in forms
    )
    english = ConfigDeclaration(
        "en", description, _TGT_LANGS, {"test": 2664}, takes_any_target=True
    )
    return (*pairs, english)


DECLARATION = DatasetDeclaration(
    name="simplegen",
    title="SimpleGEN",
    phenomenon="gender",
    twins=_twins,
    description=(
        "SimpleGEN: template sentences in which the context proves the gender of an occupation,"
        " with and against its stereotype."
    ),
    licence="cc-by-4.0",
    homepage="https://aclanthology.org/2021.acl-short.15",
    citation_keys=("renduchintala-2021", "vamvas-sennrich-2021"),
    revision="1.0.0",
    cues="gender_brackets",
    files=(),
    configs=_configs(),
    default_config="en-de",
    extra_keys=("occupation", "stereotype", "number", "template", "contrast_source"),
    read=read_simplegen,
)
