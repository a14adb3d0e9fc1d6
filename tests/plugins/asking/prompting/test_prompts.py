from typing import Any

import pytest

from cc_hf.plugins.asking.prompting.choices import parse_choice
from cc_hf.plugins.asking.prompting.prompts import (
    choice_prompt,
    choice_question,
    sense_prompt,
    sense_question,
)
from cc_hf.plugins.asking.prompting.samples import (
    ChoiceSample,
    read_choice_samples,
    read_translation_samples,
    shipped_file,
)
from cc_hf.plugins.asking.prompting.templates import TEMPLATES, find_template
from cc_hf.plugins.asking.prompting.translation_replies import parse_translation
from tests.helpers.usual import EN_DE, refuses

LANGS = ("de", "fr", "ru")


@pytest.mark.parametrize("lang", LANGS)
def test_shipped_twins_differ_and_their_answers_are_those_of_the_right_noun(lang: str) -> None:
    from cc_hf.test_sets.wino_x.referents import ambiguous_it

    samples = read_choice_samples(shipped_file("translations", "en", lang), lang)
    assert len(samples) == 4
    assert sorted(sample.answer for sample in samples) == ["1", "1", "2", "2"]
    for first, second in (samples[:2], samples[2:]):
        assert first.schema == second.schema
        assert first.sentence != second.sentence
        assert first.answer != second.answer  # the options of twins stand in the same order
        assert first.pronouns == second.pronouns
    for sample in samples:
        assert ambiguous_it(sample.sentence).text == "it"
        assert sample.explains
        assert sample.genders[0] != sample.genders[1]
        assert sample.reason
        words = [option.replace("'", " ").split() for option in sample.options]
        assert all(map(list.__contains__, words, sample.pronouns))
        texts = [option.replace("Н", "н") for option in sample.options]
        nouns = [target[:-2] for target in sample.targets]  # case endings of Russian
        assert all(map(str.__contains__, texts, nouns))
        assert all(noun in sample.sentence for noun in sample.referents)


@pytest.mark.parametrize("lang", LANGS)
def test_shipped_translations_hold_the_noun_that_their_reasons_name(lang: str) -> None:
    samples = read_translation_samples(shipped_file("senses", "en", lang))
    assert len(samples) == 4
    for sample in samples:
        assert sample.word in sample.source
        assert sample.target[:-1].casefold() in sample.translation.casefold()


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("strategy", ["basic", "cot", "cota"])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_demonstrations_are_turns_whose_answers_are_read(lang: str, strategy: str, n: int) -> None:
    template = find_template("translations", strategy)
    samples = read_choice_samples(shipped_file("translations", "en", lang), lang)[:n]
    prompt = choice_prompt(template, samples, src_lang="en", tgt_lang=lang)
    question = choice_question(template, samples[0], src_lang="en") if n else "?"
    turns = prompt.conversation(question)
    assert [turn.role for turn in turns] == ["user", "assistant"] * n + ["user"]
    assert turns[0].content.startswith("Your task is to pick the correct ")
    assert ("Here are some examples" in turns[0].content) == bool(n)
    assert turns[-1].content.endswith(question)
    answers = [parse_choice(turn.content).number for turn in turns[1::2]]
    assert answers == [sample.answer for sample in samples]


def test_demonstrations_of_word_senses_end_in_their_translation() -> None:
    template = find_template("senses", "cot")
    samples = read_translation_samples(shipped_file("senses", "en", "de"))
    prompt = sense_prompt(template, samples, src_lang="en", tgt_lang="de")
    for sample, turn in zip(samples, prompt.conversation("?")[1::2], strict=False):
        parsed = parse_translation(turn.content, sample.source, tgt_lang="de", parser="quoted")
        assert parsed.text == sample.translation


def test_the_prompt_of_each_table_is_rendered_as_before() -> None:
    assert {key: template.digest for key, template in TEMPLATES.items()} == DIGESTS
    sample = ChoiceSample("", "", "It fell on <GAP>.", ("a cup", "a plate"), "2")
    template = find_template("fillers", "basic")
    prompt = choice_prompt(template, [sample], src_lang="en", tgt_lang="fr")
    (first, answer, last) = prompt.conversation(choice_question(template, sample, src_lang="en"))
    assert answer.content == "Filler 2"
    assert first.content == (
        "Your task is to pick the correct French term out of two alternatives presented to you in"
        " order to fill the gap in the provided context sentence. The gap to be filled is"
        " represented by the word <GAP>. The completed sentence should be grammatical, fluent, and"
        " make sense within the context of an everyday situation. Please identify the preferred gap"
        " filler in your response without providing any additional information. Here are some"
        " examples of what this should look like:\n\n" + last.content
    )
    assert last.content == (
        'Context sentence:\n"It fell on <GAP>."\nFiller 1:\n"a cup"\nFiller 2:\n"a plate"\n\n'
        "Which is the more appropriate gap filler?"
    )
    question = sense_question(find_template("senses", "basic"), "He {left}.", src_lang="en")
    assert question == 'English sentence to translate:\n"He {left}."'


#: A change of a prompt changes signatures and stored replies; it must be meant.
DIGESTS = {
    ("translations", "basic"): "765341e0",
    ("translations", "cot"): "715bac1c",
    ("translations", "cota"): "417fc469",
    ("fillers", "basic"): "e0aa1c3c",
    ("senses", "basic"): "17ae088a",
    ("senses", "cot"): "a4cc13f8",
}


def test_reasons_need_the_columns_that_they_name() -> None:
    sample = ChoiceSample("a-1", "a", "It fell.", ("Er fiel.", "Sie fiel."), "2")
    given, message = find_template("translations", "cot"), "'a-1': expected pronouns"
    refuses(f"demonstrations: {message}", choice_prompt, given, [sample], **EN_DE)


def test_chain_of_tasks_says_which_of_several_pronouns_is_meant() -> None:
    columns: Any = {"pronouns": ("er", "sie"), "referents": ("stone", "cup")}
    columns |= {"targets": ("Stein", "Tasse"), "genders": ("male", "female")}
    options = ("Er fiel.", "Sie fiel.")
    sample = ChoiceSample("", "", "It hurt, and it fell.", options, "1", **columns)
    template = find_template("translations", "cota")
    answer = choice_prompt(template, [sample], **EN_DE).demonstrations[0][1]
    assert 'the ambiguous pronoun "it" (the last "it" of the sentence)' in answer
    assert 'The correct filler in this case is "stone". Since the German' in answer
