"""Parts of parsed texts: the rule on parses written by hand, and both packages by stand-ins."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cc_hf.errors import MissingDependencyError
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.metrics.coverage import Coverage
from cc_hf.metrics.coverage.parsers import Word, constituents, load_parser

#: Words as "text/UPOS/head", where heads count from 1 and 0 is the root.
_PLANE = "Please/INTJ/2 exit/VERB/0 the/DET/4 plane/NOUN/2 after/ADP/6 landing/NOUN/2 ./PUNCT/2"


def sentence(text: str) -> tuple[str, list[Word]]:
    """Return a text and its words; "_" joins a word to the token before it."""
    words: list[Word] = []
    plain = ""
    for part in text.split():
        form, upos, head = part.split("/")
        if form == "_":
            words.append(words[-1]._replace(head=int(head) - 1, upos=upos))
            continue
        plain += f" {form}" if plain else form
        words.append(Word(len(plain) - len(form), len(plain), int(head) - 1, upos))
    return plain, words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (_PLANE, ["Please exit the plane after landing .", "the plane", "after landing", "Please"]),
        ("She/PRON/2 sleeps/VERB/0", ["She sleeps"]),
        ("What/PRON/3 he/PRON/3 saw/VERB/0 was/AUX/3", ["What he saw was"]),
        ("Zum/ADP/3 _/DET/3 Haus/NOUN/4 geht/VERB/0", ["Zum Haus geht", "Zum Haus"]),
        ("small/ADJ/3 it/PRON/0 old/ADJ/2", ["small it old", "small"]),
        ("7/NUM/0 %/SYM/1", ["7 %"]),
    ],
)
def test_parts_are_words_with_all_that_depends_on_them(text: str, parts: list[str]) -> None:
    plain, words = sentence(text)
    assert [plain[span.start : span.end] for span in constituents([words])] == parts


def test_several_sentences_and_words_without_a_place_have_no_parts() -> None:
    _, words = sentence(_PLANE)
    assert constituents([words, words]) == constituents([]) == []
    assert constituents([[Word(None, None, -1, "NOUN")]]) == []


def stand_in(package: str) -> ModuleType:
    """Return a package whose parser knows "Please exit ..." and takes all else for two sentences."""
    plain, words = sentence(_PLANE)

    def stanza_pipeline(lang: str, **options: Any) -> Any:
        if lang == "fi":
            raise ValueError("no models")
        tokens = [
            SimpleNamespace(
                start_char=w.start,
                end_char=w.end,
                words=[SimpleNamespace(head=w.head + 1, upos=w.upos)],
            )
            for w in words
        ]
        one = SimpleNamespace(tokens=tokens)
        return lambda text: SimpleNamespace(sentences=[one] * (1 if text == plain else 2))

    def spacy_pipeline(name: str, exclude: list[str]) -> Any:
        tokens = [
            SimpleNamespace(i=i + 5, idx=w.start, text=plain[w.start : w.end], pos_=w.upos)
            for i, w in enumerate(words)
        ]
        for token, word in zip(tokens, words, strict=True):
            token.head = token if word.head < 0 else tokens[word.head]

        class Sentence(list[Any]):
            start = 5

        meta = {"lang": name[:2], "name": name[3:], "version": "1"}
        run = lambda text: SimpleNamespace(sents=[Sentence(tokens)] * (1 if text == plain else 2))  # noqa: E731
        run.lang, run.meta = name[:2], meta  # type: ignore[attr-defined]
        return run

    module = ModuleType(package)
    module.__version__ = "9"  # type: ignore[attr-defined]
    module.Pipeline, module.load = stanza_pipeline, spacy_pipeline  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(
    ("package", "signed"),
    [("stanza", "spans:stanza-9|"), ("spacy", "spans:spacy-9+en_core_web_sm-1/spacy-9+de_core")],
)
def test_the_metric_asks_a_parser_for_parts(
    package: str, signed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, stand_in(package))
    load_parser.cache_clear()
    plain, _ = sentence(_PLANE)

    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        texts = map("".join, zip(sources, translations, strict=True))
        return [0.5 + 0.1 * ("the plane" not in text) for text in texts]

    result = judge(
        Coverage(spans=package, backward_evaluator=scores),
        Material("en", "de", [{"source": plain}, {"source": "One. Two."}]),
        ["Raus", "Eins. Zwei."],
        evaluator=scores,
    )
    load_parser.cache_clear()
    assert [j.verdict for j in result.judgements] == ["incorrect", "inconclusive"]
    assert [s.text for s in result.judgements[0].spans] == ["the plane"]
    assert signed in result.signature


def test_what_is_not_installed_is_named_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(MissingDependencyError, match=r"\[stanza\]"):
        load_parser("stanza", "fi")
    monkeypatch.setitem(sys.modules, "stanza", stand_in("stanza"))
    with pytest.raises(MissingDependencyError, match=r"stanza.download\('fi'\)"):
        load_parser("stanza", "fi")
