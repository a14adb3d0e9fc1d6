"""Omissions, additions and critical errors by scripted scorers: the rules that rewrite sources, the
rule on parses written by hand, and parsers by stand-ins.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf import evaluate, evaluate_all, load_material
from cc_hf.errors import MissingDependencyError
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.plugins.omissions.coverage import Coverage
from cc_hf.plugins.omissions.coverage.loading import options_like
from cc_hf.plugins.omissions.coverage.parsers import Word, constituents, load_parser
from cc_hf.plugins.omissions.coverage.spans import Span, chunks, function_words, without
from cc_hf.plugins.omissions.critical_errors import CriticalErrors
from cc_hf.plugins.omissions.critical_errors.rules import PHENOMENA, languages, rewritings
from cc_hf.plugins.omissions.critical_errors.thresholds import best_threshold
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap
from tests.helpers.letter_evaluator import LetterEvaluator
from tests.helpers.usual import cases, fails, known, printed_by, read_json, refuses, write_lines

#: German word -> English word; a scorer counts what has no counterpart
_WORDS = {"Haus": "house", "klein": "small", "heute": "today", "alt": "old"}


def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Score by the number of words of either text without their counterpart in the other."""
    pairs = zip(sources, translations, strict=True)
    return [0.9 ** sum((g in t) != (e in s) for g, e in _WORDS.items()) for s, t in pairs]


def backward(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return scores(translations, sources)


def judged(translation: str, source: str = "The small house today", **options: Any) -> Any:
    row = {"source": source, **options.pop("row", {})}
    metric = Coverage(backward_evaluator=FunctionEvaluator(backward), **options)
    return judge(
        metric, Material("en", "de", [row]), [translation], evaluator=FunctionEvaluator(scores)
    )


def marked(result: EvaluationResult) -> list[tuple[str, str]]:
    return [(span.side, span.text) for span in result.judgements[0].spans]


_ALONE = "1 of 1 translations are judged by {}s alone: no part of their {} could be missing"


@cases(
    ("Das kleine Haus heute", "correct", "", [], ""),
    ("Das Haus heute", "incorrect", "omission", [("source", "small")], ""),
    ("Das alte kleine Haus heute", "incorrect", "addition", [("translation", "alte")], ""),
    ("The small house today", "inconclusive", "", [], ""),
    (" ", "inconclusive", "", [], ""),
    ("🎉", "incorrect", "omission", None, _ALONE.format("omission", "translation")),
)
def test_omitted_and_added_parts(
    text: str, verdict: str, predicted: str, parts: Any, note: str
) -> None:
    result = judged(text)
    assert [n.partition(", so")[0] for n in result.notes if "alone" in n] == [note] * bool(note)
    (judgement,) = result.judgements
    assert (judgement.verdict, judgement.predicted) == (verdict, predicted)
    assert parts is None or [p for p in marked(result) if p in parts] == parts
    skipped = [n for name, n in sorted(result.counts.items()) if name.startswith("n_skipped")]
    n_skipped = int(verdict == "inconclusive")  # in all, of sources and of translations
    assert skipped == [n_skipped, n_skipped, int(n_skipped or text == "🎉")]
    assert EvaluationResult.from_json(result.to_json()) == result


def test_the_evaluator_of_the_other_direction_is_loaded_like_the_first(tmp_path: Path) -> None:
    cache = tmp_path / "scores.sqlite"
    options = options_like(
        cc_hf.load_evaluator("cc-tiny-en-de", mode="exact", on_too_long="incorrect", cache=cache)
    )
    assert (options.mode, options.on_too_long, options.cache) == ("exact", "incorrect", cache)
    assert options_like(FunctionEvaluator(scores)) == LoadingOptions()
    signed = {"eval": "facebook/wmt19-en-pt@1", "back": "bergamot:pt-en@2"}
    assert "no labels show" in reasons_not_to_cite(signed, {}, 1)["evaluator"]


def test_translations_that_are_too_long_are_judged_in_neither_direction() -> None:
    both = LetterEvaluator(max_tokens=60, on_too_long="incorrect")
    texts = ["Das kleine Haus", "Das kleine Haus " * 5]
    for backward in (None, both):
        rows = [{"source": "The small house"}] * 2
        metric = Coverage(backward_evaluator=backward)
        result = judge(metric, Material("en", "de", rows), texts, evaluator=both)
        assert [j.verdict == "inconclusive" for j in result.judgements] == [False, True]


def test_given_spans_are_used_as_they_are() -> None:
    row = {"source_spans": "[[4, 9], [0, 3]]", "translation_spans": "[[0, 3]]"}
    result = judged("Das Haus heute", spans="given", row=row)
    assert marked(result) == [("source", "small")]
    assert result.judgements[0].spans[0].difference == pytest.approx(0.10536, abs=1e-5)
    assert marked(judged("Das Haus heute", spans="given", row=row, min_difference="0.2")) == []
    assert "spans:given|mind:0|tie:correct" in result.signature
    assert "tidy:yes" in judged("Das Haus heute", tidy=True).signature
    alone = judged("Das alte Haus", spans="given", row={"translation_spans": "[[4, 8]]"})
    assert "omission_rate" not in alone.scores
    assert _ALONE.format("addition", "source") in alone.notes[0]


@cases(
    ({"row": {"source_spans": "[[0]]"}}, r"row 0: source_spans: expected spans such as"),
    ({"row": {"source_spans": "[[3, 3]]"}}, r"expected 0 <= start < end, got \[3, 3\]"),
    ({"row": {"source_spans": "[[0, 99]]"}, "spans": "given"}, "_spans: .* within the 21 charact"),
    ({"row": {"omission": "maybe"}}, r"row 0: omission: expected \"true\", \"false\""),
    ({"min_difference": "-1"}, "min_difference: expected a number from 0"),
    ({"spans": "parse"}, "spans: expected"),
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, judged, "Das Haus", **options)


def test_labels_give_precision_recall_and_auc() -> None:
    texts = ["Das kleine Haus heute", "Das Haus heute", "Das Haus heute", "Das kleine Haus heute"]
    row = {"source": "The small house today", "addition": "false"}
    rows = [{**row, "omission": label} for label in ("false", "true", "false", "true")]
    result = judge(
        Coverage(), Material("en", "de", rows), texts, evaluator=FunctionEvaluator(scores)
    )
    names = ("precision", "recall", "f1", "auc")
    assert [result.scores[f"omission_{name}"] for name in names] == [0.5] * 4
    assert "addition_rate" not in result.scores
    assert "Additions were not looked for" in " ".join(result.notes)


@pytest.mark.parametrize("lang", function_words())
def test_a_part_leaves_something(lang: str) -> None:
    assert chunks("house", lang) == chunks("", lang) == chunks("…!", lang) == []
    text = "x1 y2, z3!"
    assert [text[a:b] for a, b in chunks(text, lang)] == ["x1 y2", "x1", "y2", "z3"]


def test_names_stay_together_where_that_is_wanted() -> None:
    text = "He saw New York today"
    kept = (chunks(text, "en", keeps_names=keeps) for keeps in (False, True))
    plain, together = ([text[a:b] for a, b in places] for places in kept)
    assert {"York today", "saw New", "New"} <= set(plain) - set(together)
    assert "New York" in together
    assert without("a b .", Span(2, 3), tidy=True) == "a."


def test_a_file_of_sources_is_judged_where_the_metric_is_named(tmp_path: Path) -> None:
    rows = [json.dumps({"source": text}) for text in ("The house is old.", "She left today.")]
    path = write_lines(tmp_path / "s.jsonl", rows)
    texts = write_lines(tmp_path / "t.de", ["Das Haus ist alt.", "Sie ging heute."])
    out = tmp_path / "r.json"
    printed_by(
        f"evaluate {path} -l en-de --translations {texts} --cache no --metric coverage -q -o {out}"
    )
    assert {j["verdict"] for j in read_json(out)["judgements"]} <= {"correct", "incorrect"}
    material = load_material("simplegen", "en-de", limit=2)
    given: Any = {"translations": ["Das Haus"] * 2, "evaluator": scores}
    assert "coverage" not in [r.metric for r in evaluate_all(material, **given).results]
    assert evaluate(material, metric="coverage", **given).metric == "coverage"


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


@cases(
    (_PLANE, ["Please exit the plane after landing .", "the plane", "after landing", "Please"]),
    ("She/PRON/2 sleeps/VERB/0", ["She sleeps"]),
    ("What/PRON/3 he/PRON/3 saw/VERB/0 was/AUX/3", ["What he saw was"]),
    ("Zum/ADP/3 _/DET/3 Haus/NOUN/4 geht/VERB/0", ["Zum Haus geht", "Zum Haus"]),
    ("small/ADJ/3 it/PRON/0 old/ADJ/2", ["small it old", "small"]),
    ("7/NUM/0 %/SYM/1", ["7 %"]),
)
def test_parts_are_words_with_all_that_depends_on_them(text: str, parts: list[str]) -> None:
    plain, words = sentence(text)
    assert [plain[span.start : span.end] for span in constituents([words])] == parts


def test_several_sentences_and_words_without_a_place_have_no_parts() -> None:
    _, words = sentence(_PLANE)
    assert constituents([words, words]) == constituents([]) == []
    assert constituents([[Word(None, None, -1, "NOUN")]]) == []


def stand_in(package: str) -> ModuleType:
    """Return a package whose parser knows "Please exit ..." and splits all else in two."""
    plain, words = sentence(_PLANE)

    def stanza_pipeline(lang: str, **options: Any) -> Any:
        if lang == "fi":
            raise ValueError("no models")
        tokens = []
        for w in words:
            word = SimpleNamespace(head=w.head + 1, upos=w.upos)
            tokens.append(SimpleNamespace(start_char=w.start, end_char=w.end, words=[word]))
        parsed_sentence = SimpleNamespace(tokens=tokens)
        return lambda text: SimpleNamespace(
            sentences=[parsed_sentence] * (1 if text == plain else 2)
        )

    def spacy_pipeline(name: str, exclude: list[str]) -> Any:
        texts = [(plain[w.start : w.end], w) for w in words]
        rows = [{"idx": w.start, "text": text, "pos_": w.upos} for text, w in texts]
        tokens = [SimpleNamespace(i=i, **row) for i, row in enumerate(rows, 5)]
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


@cases(("stanza", "spans:stanza-9|"), ("spacy", "spans:spacy-9+en_core_web_sm-1/spacy-9+de_core"))
def test_parts_come_from_a_parser(package: str, signed: str, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, package, stand_in(package))
    load_parser.cache_clear()
    plain, _ = sentence(_PLANE)

    def preferred(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        texts = map("".join, zip(sources, translations, strict=True))
        return [0.5 + 0.1 * ("the plane" not in text) for text in texts]

    metric = Coverage(spans=package, backward_evaluator=FunctionEvaluator(preferred))
    material = Material("en", "de", [{"source": plain}, {"source": "One. Two."}])
    result = judge(
        metric, material, ["Raus", "Eins. Zwei."], evaluator=FunctionEvaluator(preferred)
    )
    load_parser.cache_clear()
    assert [j.verdict for j in result.judgements] == ["incorrect", "inconclusive"]
    assert [s.text for s in result.judgements[0].spans] == ["the plane"]
    assert signed in result.signature


def test_what_is_not_installed_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    fails(MissingDependencyError, r"\[stanza\]", load_parser, "stanza", "fi")
    monkeypatch.setitem(sys.modules, "stanza", stand_in("stanza"))
    fails(MissingDependencyError, r"stanza.download\('fi'\)", load_parser, "stanza", "fi")


#: English and German words that mean the same; a scorer counts those without their counterpart
_MEANINGS = {"not": "nicht", "more": "mehr", "less": "weniger", "7": "7", "9": "9"}


def error_scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    pairs = [(s.split(), t.split()) for s, t in zip(sources, translations, strict=True)]
    return [0.9 ** sum((g in t) != (e in s) for e, g in _MEANINGS.items()) for s, t in pairs]


def errors_of(*rows: tuple[str, str, str], **options: Any) -> EvaluationResult:
    references = [{"source": source, "errors": errors} for source, _, errors in rows]
    metric = CriticalErrors(**options)
    texts = [translation for _, translation, _ in rows]
    return judge(
        metric, Material("en", "de", references), texts, evaluator=FunctionEvaluator(error_scores)
    )


_SOURCE = "He did not eat more than 7 pears"


@cases(
    (_SOURCE, "Er aß nicht mehr als 7 Birnen", "correct", ""),
    (_SOURCE, "Er aß mehr als 7 Birnen", "incorrect", "negation"),
    (_SOURCE, "Er aß nicht mehr als 9 Birnen", "incorrect", "number"),
    (_SOURCE, "Er aß weniger als 7 Birnen", "incorrect", "negation+comparison"),
    (_SOURCE, "🎉", "incorrect", None),
    (_SOURCE, _SOURCE, "inconclusive", ""),
    (_SOURCE, " ", "inconclusive", ""),
    ("Trees grow.", "Bäume wachsen nicht.", "inconclusive", ""),
    ("🎉", "Feier", "inconclusive", ""),
    (f"{_SOURCE} and then " * 60, "Er aß nicht mehr als 7 Birnen", "correct", ""),
)
def test_verdicts_follow_rewritings(source: str, text: str, verdict: str, predicted: Any) -> None:
    result = errors_of((source, text, ""))
    (judgement,) = result.judgements
    assert judgement.verdict == verdict
    assert predicted in (judgement.predicted, None)
    if predicted == "number":
        span = judgement.spans[0]
        assert (span.text, span.replacement, span.start) == ("7", "9", _SOURCE.index("7"))
    assert result.counts["n_skipped"] == (verdict == "inconclusive")
    assert EvaluationResult.from_json(result.to_json()) == result


@cases(
        ("en", "He can't and won't.", "", "negation", ["He can and won't.", "He can't and will."]),
        ("en", "It isn't cold.", "", "negation", ["It is cold."]),
        ("en", "Not all know this.", "", "negation", ["All know this."]),
        (
            "en", "No dog barks.", "", "negation",
            ["A dog barks.", "Some dog barks.", "The dog barks."],
        ),
        ("en", "It is unfair, under pressure.", "", "negation", ["It is fair, under pressure."]),
        ("en", "Not only he left.", "", "negation", []),
        ("en", "He is here.", "", "added_negation", ["He is not here."]),
        ("en", "He is not here.", "", "added_negation", []),
        ("en", "In May he may leave.", "", "modality", ["In May he must leave."]),
        ("en", "He came on Friday.", "am Montag", "date", None),
        (
            "en", "They paid 1,200 euros.", "Sie zahlten 1.200 Euro.", "number",
            ["They paid 1,201 euros."],
        ),
        (
            "en", "They paid 15 euros.", "Sie zahlten 50 Euro.", "number",
            ["They paid 50 euros.", "They paid 16 euros."],
        ),
        ("en", "From 3 to 5 of 3.", "3 5 3", "number", None),
        ("en", "It lasts two days.", "", "unit", None),
        (
            "en", "Yesterday Ann Lee met Tom.", "Gestern traf Ann Lee Tom.", "name",
            ["Yesterday Tom met Ann Lee."],
        ),
        ("en", "Ann met Tom.", "Anna traf Thomas.", "name", []),
        ("en", "More came.", "", "comparison", ["Less came."]),
        ("en", "He left before noon.", "", "order", ["He left after noon."]),
        ("de", "Er hat kein Geld.", "", "negation", ["Er hat ein Geld."]),
        ("de", "Er kam nicht.", "", "negation", ["Er kam."]),
        (
            "de", "Er hat ein Auto.", "", "added_negation",
            ["Er hat nicht ein Auto.", "Er hat kein Auto."],
        ),
        ("de", "Das muss sein.", "", "modality", ["Das darf sein.", "Das kann sein."]),
        (
            "de", "Anna traf Tom in Bonn.", "Anna met Tom in Bonn.", "name",
            ["Tom traf Anna in Bonn.", "Anna traf Bonn in Tom."],
        ),
    )  # fmt: skip
def test_rules_rewrite_sources(lang: str, source: str, text: str, kind: str, expected: Any) -> None:
    changes = rewritings(source, text, lang)
    texts = [change.apply(source) for change in changes if change.phenomenon == kind]
    assert texts == expected if expected is not None else len(texts) == len(set(texts)) > 1
    assert source not in texts


@pytest.mark.parametrize("lang", languages())
def test_rules_of_every_language_have_every_phenomenon(lang: str) -> None:
    texts = {
        "en": "Ann must not go to Bonn before 7 May, for more days; it is always so.",
        "de": "Ann darf nicht vor 7 Mai nach Bonn gehen, mehr Tage; es ist immer so.",
    }
    changes = rewritings(texts[lang], texts[lang], lang)
    assert {change.phenomenon for change in changes} >= set(PHENOMENA) - {"unit", "modality"}


def test_labels_give_figures_and_a_threshold_by_phenomenon() -> None:
    rows = []
    for i in range(60):
        source, text = f"No {i}: he did not eat", f"Nr {i} er aß"
        rows += [(source, f"{text} nicht", "none"), (source, text, "negation")]
    result = errors_of(*rows, phenomena="negation")
    assert {result.scores[f"{name}_negation"] for name in ("recall", "auc", "f1")} == {1}
    assert result.scores["balanced_accuracy_negation"] == 1
    assert result.scores["error_rate_negation"] == result.scores["error_rate"] == 0.5
    assert "|rules:en|phen:negation|mind:0|" in result.signature
    assert any("--option min_difference=negation=0" in note for note in result.notes)
    stricter = errors_of(*rows, phenomena="negation", min_difference="negation=0.2,number=0.1")
    assert stricter.scores["error_rate"] == 0
    assert "|mind:negation=0.2+number=0.1|" in stricter.signature
    assert "error_rate_number" not in result.scores


def test_a_threshold_is_chosen_on_one_half_and_tested_on_the_other() -> None:
    draw = np.random.default_rng(0)
    gold = np.arange(400) % 2 == 1
    values = draw.normal(gold * 1.0 + 0.5, 0.2)
    sources = [str(i // 2) for i in range(400)]
    chosen = known(best_threshold(values, gold, sources, Bootstrap(n_resamples=50)))
    assert 0.7 < chosen.threshold < 1.3
    assert 0.95 < chosen.accuracy < 1
    assert best_threshold(values[:30], gold[:30], sources[:30], Bootstrap()) is None


@cases(
    ({"min_difference": "x"}, "", "min_difference: expected a number from 0"),
    ({"min_difference": -1}, "", "min_difference: expected a number from 0"),
    ({"min_difference": "-inf"}, "", "min_difference: expected a number from 0"),
    ({"min_difference": "negation=1,negation=2"}, "", "min_difference: expected"),
    ({"min_difference": "colour=1"}, "", "numbers of phenomena such as"),
    ({"phenomena": "colour"}, "", "phenomena: expected some of negation"),
    ({}, "colour", "row 0: errors: expected none, or some of negation"),
)
def test_options_and_labels_are_checked(options: dict[str, Any], errors: str, message: str) -> None:
    refuses(message, errors_of, (_SOURCE, "Er", errors), **options)


def test_a_language_without_rules_is_refused() -> None:
    assert "expected sources in de or en" in CriticalErrors.fits("", "", object, "fr", "de")  # type: ignore[arg-type]
    refuses("src_lang", rewritings, "Il part.", "", "fr")


@pytest.mark.parametrize("metric", ["critical_errors", "coverage"])
def test_the_card_has_the_figures_of_the_benchmark(metric: str, root: Path) -> None:
    card = (root / f"cards/metrics/{metric}.md").read_text(encoding="utf-8")
    measured = card.partition("### Measured\n")[2].partition("\n## ")[0]
    if metric == "coverage":
        measured = measured.partition("DistilLingEval")[2].partition("\n- ")[0]
    page = (root / "docs/measurements.md").read_text(encoding="utf-8")
    figures = re.findall(r"\d+\.\d \(\d+\.\d – \d+\.\d\)", measured)
    assert len(figures) >= 2
    assert not [figure for figure in figures if figure not in page]
