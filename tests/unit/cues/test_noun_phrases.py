"""Cues before the adjectives of a noun: they never leave the noun phrase."""

import re
from collections import defaultdict
from pathlib import Path

from cc_hf import registry
from cc_hf.cues.noun_phrases import phrase_start
from cc_hf.cues.wordings import named_wording
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.loading import load_examples
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.usual import cases

#: What stands between a determiner and a focus where a cue moves, in all sentences at hand. Each
#: line was read with the sentences that have it: all words belong to the noun phrase of the focus.
_READ = Path(__file__).with_name("noun_phrases.txt")
#: Test set -> its sentences and foci with a cue that moves, and the different lines of `_READ` in
#: them. Zero where a determiner stands at each focus or no noun is one.
_MOVED = {
    "gate": (314, 221),
    "gender_alternatives": (186, 143),
    "gender_res": (0, 0),
    "genderous": (450, 15),
    "gest": (0, 0),
    "mt_geneval": (758, 482),
    "simplegen": (72, 1),
    "winomt": (0, 0),
}
#: Of Apple's files, those into these languages are not at hand.
_NOT_AT_HAND = {("gender_alternatives", lang) for lang in ("it", "pt", "ru")}


@cases(
    # Adjectives, participles, nouns and adverbs of degree belong to the phrase.
    "The [male] retiring <secretary> left.",
    "Those are for a [male] very qualified <truck driver>.",
    "My [male] little German <friend> left.",
    'He said: "The [male] old <nurse> left."',
    "He saw an [male] internationally recognised wine <writer>.",
    "The nurse met the [male] 17-year-old <rapper>.",
    "The nurse met the [male] tall <doctor>'s wife.",
    "The [male] injured elderly <person> left.",
    # Without a word between, the cue stands where it always does.
    "The [male] <doctor> left.",
    "[male] <Doctors> left.",
    # Verbs
    "The doctor told [male] <someone>.",
    "The company hired [male] <coach> after coach.",
    "The team chose [male] <captain> by lot.",
    "The club needs [male] <coach> after coach.",
    "Can the old doctor see [male] <patients>?",
    # Prepositions and conjunctions
    "These males work hard as [male] <plumbers>.",
    "The title of [male] <doctor> is old.",
    "It is a career such as [male] <writer>.",
    "A talented and famous [male] <founder> left.",
    # Another noun phrase, or one that may be
    "My father's old [male] <friend> left.",
    "It is their old friend [male] <Professor> Moore.",
    "They made the man [male] <king>.",
    "They made her head [male] <coach>.",
    "He is no longer [male] <president>.",
    "The reason [male] <nurses> left is known.",
    "Each one [male] <author> wrote.",
    "The day star [male] <dancer> Moore left.",
    "The famous, old [male] <doctor> left.",
    # Another language
    "Die alte [male] <Lehrerin> ging.",
)
def test_a_cue_stands_after_the_nearest_determiner_within_the_noun_phrase(marked: str) -> None:
    before, focus, after = re.split("[<>]", marked.replace("[male] ", ""), maxsplit=2)
    wording = named_wording("gender_brackets_phrase", "en")
    source = wording.source(f"{before}{focus}{after}", Focus(focus, len(before)), "male")
    assert source == re.sub("[<>]", "", marked)


@cases(*_MOVED)
def test_no_cue_leaves_the_noun_phrase_of_its_focus(dataset: str, shared: Path) -> None:
    read = set(_READ.read_text(encoding="utf-8").splitlines())
    between: dict[tuple[str, int], str] = {}
    for example in _with_cues(dataset, shared / "upstream"):
        start = phrase_start(example.source, example.focus)
        if start < example.focus.start:
            words = example.source[start : example.focus.start - 1]
            between[example.source, example.focus.start] = words
    assert {*between.values()} <= read
    assert (len(between), len({*between.values()})) == _MOVED[dataset]


def _with_cues(dataset: str, data_dir: Path) -> list[ContrastiveSourceExample]:
    """Return the examples of all configurations and splits whose sources leave the gender open."""
    declared: DatasetDeclaration = registry.resolve("dataset", dataset)
    examples: list[ContrastiveSourceExample] = []
    for config in declared.configs:
        if config.form is ContrastiveSourceExample and config.src_lang == "en":
            for split in config.splits:
                try:
                    examples += load_examples(dataset, config.name, split=split, data_dir=data_dir)
                except DataError:
                    assert (dataset, config.name) in _NOT_AT_HAND
    return [e for e in examples if e.source not in (*e.correct_sources, *e.incorrect_sources)]


def test_lines_are_sorted_and_every_test_set_of_gender_is_counted() -> None:
    lines = _READ.read_text(encoding="utf-8").splitlines()
    assert lines == sorted({*lines})
    of_gender = defaultdict(set)
    for name, declared in registry.load_all("dataset").items():
        forms = {config.form for config in declared.configs if config.src_lang == "en"}
        of_gender[declared.phenomenon, ContrastiveSourceExample in forms].add(name)
    # MiTTenS, of which no file is at hand, has whole sentences in both genders and no cue.
    assert of_gender["gender", True] == {*_MOVED, "mittens"}
