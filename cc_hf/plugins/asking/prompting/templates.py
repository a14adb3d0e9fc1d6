"""Prompts as data, in the words of Emelin (2023): Tables 3.19 and 3.22 for word senses, 4.17, 4.18,
4.21 and 4.24 for Wino-X. Spelling slips of the tables are corrected.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from cc_hf.errors import InputError

__all__ = ["STRATEGIES", "TASKS", "TEMPLATES", "Template", "find_template"]

#: Ways of asking: the answer only, reasons first, and Chain of Tasks: fill the gap in the English
#: sentence first.
STRATEGIES = ("basic", "cot", "cota")
#: What is asked: to choose between two translations, or two fillers of a gap, or to translate.
TASKS = ("translations", "fillers", "senses")


@dataclass(frozen=True, slots=True)
class Template:
    """The words of one way of asking.

    Attributes:
        task, strategy: one of `TASKS`, and of `STRATEGIES`.
        source: the table that prints it.
        instruction: the task, with {language} for the language of the answer, {src_name} for that
            of the source, and {a_src_name} for the latter with its article.
        examples: the sentence that introduces demonstrations; "" for none.
        sample: one sample, with {sentence}, and {option1} and {option2} where there are options.
        label: the name of an option in answers; "" for translations.
        shots: number of demonstrations in the thesis.
        max_new_tokens: the longest reply; the thesis prints no limit.
    """

    task: str
    strategy: str
    source: str
    instruction: str
    examples: str
    sample: str
    label: str
    shots: int
    max_new_tokens: int

    @property
    def digest(self) -> str:
        """A hash over the words, for signatures."""
        written = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(written.encode("utf-8")).hexdigest()[:8]


_EXAMPLES = "Here are some examples of what this should look like:"
_PICK = (
    "Your task is to pick the correct {language} translation of {a_src_name} sentence out of two"
    " alternatives presented to you."
)
_CORRECT = (
    "The correct translation should fully and accurately capture the meaning of the {src_name}"
    " source sentence."
)
_TRANSLATIONS = (
    '{src_name} sentence:\n"{sentence}"\nTranslation 1:\n"{option1}"\nTranslation 2:\n"{option2}"\n'
    "\nWhich is the better translation?"
)

#: Task and strategy -> template.
TEMPLATES: dict[tuple[str, str], Template] = {
    ("translations", "basic"): Template(
        task="translations",
        strategy="basic",
        source="Table 4.17",
        instruction=(
            f"{_PICK} {_CORRECT} Please identify the preferred translation in your response without"
            " providing any additional information."
        ),
        examples=_EXAMPLES,
        sample=_TRANSLATIONS,
        label="Translation",
        shots=6,
        max_new_tokens=256,
    ),
    ("translations", "cot"): Template(
        task="translations",
        strategy="cot",
        source="Table 4.21",
        instruction=(
            f"{_PICK} Prior to making your selection, you should reason about the differences in"
            " the presented translations and why one of them is preferable to the other."
            f" {_CORRECT}"
        ),
        examples=_EXAMPLES,
        sample=_TRANSLATIONS,
        label="Translation",
        shots=4,
        max_new_tokens=512,
    ),
    ("translations", "cota"): Template(
        task="translations",
        strategy="cota",
        source="Table 4.24",
        instruction=(
            f"{_PICK} Prior to making your selection, you should identify the ambiguous pronoun in"
            " the {src_name} sentence that can refer to different entities, and reason about which"
            " of the possible referents is the correct one, as that will determine the choice of"
            " the correct translation."
        ),
        examples=_EXAMPLES,
        sample=_TRANSLATIONS,
        label="Translation",
        shots=4,
        max_new_tokens=512,
    ),
    ("fillers", "basic"): Template(
        task="fillers",
        strategy="basic",
        source="Table 4.18",
        instruction=(
            "Your task is to pick the correct {language} term out of two alternatives presented to"
            " you in order to fill the gap in the provided context sentence. The gap to be filled"
            " is represented by the word <GAP>. The completed sentence should be grammatical,"
            " fluent, and make sense within the context of an everyday situation. Please identify"
            " the preferred gap filler in your response without providing any additional"
            " information."
        ),
        examples=_EXAMPLES,
        sample=(
            'Context sentence:\n"{sentence}"\nFiller 1:\n"{option1}"\nFiller 2:\n"{option2}"\n\n'
            "Which is the more appropriate gap filler?"
        ),
        label="Filler",
        shots=6,
        max_new_tokens=256,
    ),
    ("senses", "basic"): Template(
        task="senses",
        strategy="basic",
        source="Table 3.19",
        instruction=(
            "Your task is to generate a valid {language} translation for the provided {src_name}"
            " sentence. The correct translation must fully and accurately capture the meaning of"
            " the {src_name} sentence, be fluent, and grammatical. Your response should not contain"
            " anything else."
        ),
        examples="",
        sample='{src_name} sentence to translate:\n"{sentence}"',
        label="",
        shots=10,
        max_new_tokens=256,
    ),
    ("senses", "cot"): Template(
        task="senses",
        strategy="cot",
        source="Table 3.22",
        instruction=(
            "Your task is to return a valid {language} translation for the provided {src_name}"
            " sentence. The correct translation must fully and accurately capture the meaning of"
            " the {src_name} sentence, be fluent, and grammatical. Before providing your"
            " translation, you should reason about the ambiguous nouns (specifically homographs)"
            " found in the sentence and decide on their meaning within the sentence context, which"
            " should then inform your translation."
        ),
        examples="Here are some examples of what this should look like.",
        sample='{src_name} sentence:\n"{sentence}"',
        label="",
        shots=4,
        max_new_tokens=512,
    ),
}


def find_template(task: str, strategy: str) -> Template:
    """Return the template of a task and a strategy.

    Examples:
        >>> find_template("fillers", "cota")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: strategy: expected basic to choose between fillers, got 'cota'
    """
    if (task, strategy) in TEMPLATES:
        return TEMPLATES[task, strategy]
    known = [name for of_task, name in TEMPLATES if of_task == task]
    what = {"senses": "to translate"}.get(task, f"to choose between {task}")
    raise InputError(f"strategy: expected {' or '.join(known)} {what}, got {strategy!r}")
