"""From a template and demonstrations to the conversation of one sample."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf.languages import language_name
from cc_hf.models.chat_templates import Conversation, Message
from cc_hf.normalization import is_blank
from cc_hf.plugins.asking.prompting.samples import ChoiceSample, TranslationSample
from cc_hf.plugins.asking.prompting.templates import Template

__all__ = [
    "Prompt",
    "bare_question",
    "choice_prompt",
    "choice_question",
    "sense_prompt",
    "sense_question",
]

_GENDERS = {"male": "masculine", "female": "feminine", "neutral": "neuter"}
#: The lines of a template that show an option: its name, and its text below.
_OPTION_LINES = re.compile(r'(?<!\w)\w+ [12]:\n"\{option[12]\}"\n')
_IT = re.compile(r"\bit\b", re.IGNORECASE)
_REASON_COLUMNS = "pronouns, English nouns, nouns of the translation and genders of both options"


@dataclass(frozen=True)
class Prompt:
    """A way of asking, ready for samples."""

    template: Template
    src_lang: str
    tgt_lang: str
    # Pairs of a question and its answer, as earlier turns.
    demonstrations: tuple[tuple[str, str], ...] = ()

    @property
    def instruction(self) -> str:
        """The task in words, with the sentence that introduces demonstrations if there are any."""
        names = _names(self.src_lang, self.tgt_lang)
        text = self.template.instruction.format(**names)
        has_examples = self.demonstrations and self.template.examples
        return f"{text} {self.template.examples}" if has_examples else text

    @property
    def signature_name(self) -> str:
        """The strategy with a hash over all words, demonstrations included."""
        written = json.dumps([self.instruction, self.template.digest, self.demonstrations])
        digest = hashlib.sha256(written.encode("utf-8")).hexdigest()[:8]
        return f"{self.template.strategy}.{digest}"

    def conversation(self, question: str) -> Conversation:
        """Return the turns for one sample; user and assistant alternate, and the user is last."""
        turns = []
        for asked, answer in self.demonstrations:
            turns += [Message("user", asked), Message("assistant", answer)]
        # The instruction opens the first turn of the user; there is no system turn.
        first, *others = [*turns, Message("user", question)]
        return Message("user", f"{self.instruction}\n\n{first.content}"), *others


def choice_prompt(
    template: Template, demonstrations: Sequence[ChoiceSample], *, src_lang: str, tgt_lang: str
) -> Prompt:
    """Return the prompt of choices."""
    turns = [
        (
            choice_question(template, sample, src_lang=src_lang),
            _choice_answer(template, sample, src_lang, tgt_lang),
        )
        for sample in demonstrations
    ]
    return Prompt(template, src_lang, tgt_lang, tuple(turns))


def sense_prompt(
    template: Template, demonstrations: Sequence[TranslationSample], *, src_lang: str, tgt_lang: str
) -> Prompt:
    """Return the prompt of translations."""
    turns = [
        (
            sense_question(template, sample.source, src_lang=src_lang),
            _sense_answer(template, sample, src_lang, tgt_lang),
        )
        for sample in demonstrations
    ]
    return Prompt(template, src_lang, tgt_lang, tuple(turns))


def choice_question(template: Template, sample: ChoiceSample, *, src_lang: str) -> str:
    """Return what is asked about one choice, its options in the order in which they are shown."""
    return template.sample.format(
        src_name=language_name(src_lang),
        sentence=sample.sentence,
        option1=sample.options[0],
        option2=sample.options[1],
    )


def bare_question(template: Template, sample: ChoiceSample, *, src_lang: str, tgt_lang: str) -> str:
    """Return the instruction and a question without its options, for programs that show these."""
    words = _OPTION_LINES.sub("", template.sample)
    instruction = template.instruction.format(**_names(src_lang, tgt_lang))
    question = words.format(src_name=language_name(src_lang), sentence=sample.sentence)
    return f"{instruction}\n\n{question}"


def sense_question(template: Template, source: str, *, src_lang: str) -> str:
    """Return what is asked about one sentence to translate."""
    return template.sample.format(src_name=language_name(src_lang), sentence=source)


def _names(src_lang: str, tgt_lang: str) -> dict[str, str]:
    name = language_name(src_lang)
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return {
        "src_name": name,
        "a_src_name": f"{article} {name}",
        "language": language_name(tgt_lang),
    }


def _choice_answer(template: Template, sample: ChoiceSample, src_lang: str, tgt_lang: str) -> str:
    """Return the answer of Table 4.17, 4.18, 4.21 or 4.24."""
    if template.strategy == "basic":
        return f"{template.label} {sample.answer}"
    if not sample.explains:
        raise InputError(
            f"demonstrations: {sample.id or sample.sentence!r}: expected {_REASON_COLUMNS}, which"
            f" the reasons of {template.strategy} name, got {sample.pronouns}, {sample.referents},"
            f" {sample.targets} and {sample.genders}"
        )
    write = {"cot": _chain_of_thought, "cota": _chain_of_tasks}[template.strategy]
    return write(sample, language_name(src_lang), language_name(tgt_lang))


def _chain_of_thought(sample: ChoiceSample, src_name: str, language: str) -> str:
    """Return the answer of Table 4.21."""
    first, second = (_GENDERS[gender] for gender in sample.genders)
    (noun1, noun2), (target1, target2) = sample.referents, sample.targets
    reason = f" {sample.reason[0].upper()}{sample.reason[1:]}." if sample.reason else ""
    return (
        f'In translation 1, the {src_name} pronoun "it" is translated as "{sample.pronouns[0]}"'
        f" which agrees in its grammatical gender with the {first} {language} noun"
        f' "{target1}" corresponding to the {src_name} noun "{noun1}". On the other hand, in'
        f' translation 2 "it" is translated as "{sample.pronouns[1]}" which agrees in its'
        f' grammatical gender with the {second} {language} noun "{target2}" corresponding to the'
        f' {src_name} noun "{noun2}".{reason} Therefore, it follows that the correct translation is'
        f" translation {sample.answer}."
    )


def _chain_of_tasks(sample: ChoiceSample, src_name: str, language: str) -> str:
    """Return the answer of Table 4.24."""
    right = int(sample.answer) - 1
    noun, target = sample.referents[right], sample.targets[right]
    gender = _GENDERS[sample.genders[right]]
    reason = f", since {sample.reason}" if sample.reason else ""
    # Wino-X puts the last "it" of a sentence into the gap, see
    # `cc_hf.test_sets.wino_x.referents.ambiguous_it`
    has_several = len(_IT.findall(sample.sentence)) > 1
    which = ' (the last "it" of the sentence)' if has_several else ""
    return (
        f'If we replace the ambiguous pronoun "it"{which} in the {src_name} sentence with a gap,'
        f' then the two possible gap fillers would be either "{sample.referents[0]}" or'
        f' "{sample.referents[1]}". The correct filler in this case is "{noun}"{reason}. Since the'
        f' {language} translation of "{noun}" is the {gender} noun "{target}" that agrees'
        f' grammatically in its gender with the {language} pronoun "{sample.pronouns[right]}", it'
        f" follows that the correct translation is translation {sample.answer}."
    )


def _sense_answer(
    template: Template, sample: TranslationSample, src_lang: str, tgt_lang: str
) -> str:
    """Return the answer of Table 3.19 or 3.22."""
    if is_blank(sample.translation):
        raise InputError(
            f"demonstrations: {sample.id or sample.source!r}: expected a translation, got none"
        )
    if template.strategy == "basic":
        return sample.translation
    if not sample.explains:
        raise InputError(
            f"demonstrations: {sample.id or sample.source!r}: expected an ambiguous noun, its"
            " meaning, the noun that translates it, and its definition, which the reasons name"
        )
    src_name, language = language_name(src_lang), language_name(tgt_lang)
    return (
        f'A homonym present in this sentence is the {src_name} noun "{sample.word}". In this'
        f' sentence, "{sample.word}" refers to {sample.meaning}, and should therefore be translated'
        f' as the {language} noun "{sample.target}" which can be defined as {sample.definition}.'
        f" Thus it follows that the {language} translation of the full {src_name} sentence is:"
        f' "{sample.translation}"'
    )
