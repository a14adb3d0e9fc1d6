"""Choices among several translations of a source, and alternatives to them."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis as h
import hypothesis.strategies as st
import pytest

import cc_hf
from cc_hf.data.files.nbest import Hypothesis, nbest_text
from cc_hf.errors import CCError
from cc_hf.evaluation.material import Material
from cc_hf.plugins.reranking.alternative_options import AlternativeOptions
from cc_hf.plugins.reranking.alternatives import Alternatives, alternatives
from cc_hf.plugins.reranking.alternatives_table import alternatives_table
from cc_hf.plugins.reranking.gendered_pairs import check_pair
from cc_hf.plugins.reranking.nbest_files import read_nbest
from cc_hf.plugins.reranking.rerank_options import READINGS, SELECTIONS, RerankOptions
from cc_hf.plugins.reranking.reranking import Reranking, rerank
from cc_hf.plugins.reranking.structures import pairs_by_people
from cc_hf.reports.report_parts import ReportTable
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis
from tests.helpers.apertium import needs_apertium
from tests.helpers.usual import (
    cases,
    coarse_scores,
    fails,
    hash_scores,
    known,
    read_json,
    refuses,
    run_command,
    typed,
    write_lines,
    write_text,
)


def _example(row: int, gender: str = "female", **extra: str) -> ContrastiveSourceExample:
    other = "male" if gender == "female" else "female"
    source = f"The doctor {row} said that {'she' if gender == 'female' else 'he'} left."
    right, wrong = ((source.replace("doctor", f"[{g}] doctor"),) for g in (gender, other))
    return ContrastiveSourceExample(
        str(row), "en", "de", source, Focus("doctor", 4), right, wrong, gender, gender, extra
    )


def _material(n: int) -> Material:
    return Material("en", "de", [_example(row, ("female", "male")[row % 2]) for row in range(n)])


def _by_words(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Score 0.6 if the text has the gender of the source, else 0.4."""
    is_female = [" she " in f" {s.lower()} " or "[female]" in s for s in sources]
    is_female = [f and "[male]" not in s for f, s in zip(is_female, sources, strict=True)]
    return [
        0.6 if ("Ärztin" in text) == female else 0.4
        for female, text in zip(is_female, translations, strict=True)
    ]


def _reranked(
    lists: Sequence[Sequence[Any]],
    select: RerankOptions | None = None,
    *,
    evaluator: Any = _by_words,
    **options: Any,
) -> Reranking:
    material = options.pop("material", _material(len(lists)))
    return rerank(material, lists, select=select, evaluator=evaluator, **options)


_TEXTS = st.sampled_from(["a", "b", "Ο γιατρός", " ", "d e"])
_OPTIONS = map(st.sampled_from, (READINGS, SELECTIONS, ["first", "largest"]))


@h.given(
    st.lists(st.lists(_TEXTS, min_size=1, max_size=5), min_size=1, max_size=6),
    st.builds(RerankOptions, *_OPTIONS),
    st.sampled_from([hash_scores, coarse_scores]),
)
@h.settings(max_examples=60, deadline=None)
def test_no_choice_lowers_its_own_agreement(lists: Any, options: Any, scorer: Any) -> None:
    scored = [[Hypothesis(text, -float(i)) for i, text in enumerate(row)] for row in lists]
    reranking = _reranked(scored, options, evaluator=scorer)
    counts: Any = reranking.figures()
    assert [choice.hypotheses for choice in reranking.choices] == list(map(tuple, scored))
    for row, choice in zip(lists, reranking.choices, strict=True):
        assert choice.chosen == 0 or row[choice.chosen].strip()
        assert row.index(row[choice.chosen]) == choice.chosen  # the earlier of equal texts
    if counts["n_judged"] and options.select in ("first_correct", "p_correct"):
        assert counts["agreement"] >= counts["agreement_before"]
        assert counts["agreement"] * counts["n_judged"] == pytest.approx(counts["n_with_correct"])


def test_the_first_right_hypothesis_is_chosen_and_nothing_else_changes() -> None:
    reranking = _reranked(
        [["Der Arzt", "Die Ärztin", "Ärztin da"], ["Der Arzt", "Die Ärztin"], ["Gut"], [" "]]
    )
    assert reranking.translations == ["Die Ärztin", "Der Arzt", "Gut", " "]
    figures: Any = reranking.figures()
    assert 0 < figures.pop("chrf_first") < 1
    assert figures == {
        **{"n": 4, "n_judged": 3, "n_with_correct": 2, "n_both": 2, "n_changed": 1},
        **{"mean_chosen": 0.25, "agreement_before": 1 / 3, "agreement": 2 / 3},
        "score_gap": None,
    }
    row, *_, last = json.loads(json.dumps(reranking.to_row()))["choices"]
    assert [r["verdict"] for r in row["hypotheses"]] == ["incorrect", "correct", "correct"]
    assert (row["chosen"], row["translation"]) == (1, "Die Ärztin")
    assert last["hypotheses"][0]["score"] is None


@cases(
    (RerankOptions("male"), ["Der Arzt", "Der Arzt"]),
    (RerankOptions("female"), ["Die Ärztin", "Die Ärztin"]),
    (RerankOptions("pronouns"), ["Die Ärztin", "Der Arzt"]),
    (RerankOptions(select="interpolate", alpha=0.0), ["Der Arzt", "Der Arzt"]),
    (RerankOptions(select="interpolate", alpha=9.0), ["Die Ärztin", "Der Arzt"]),
    (RerankOptions(select="score"), ["Die Ärztin", "Der Arzt"]),
)
def test_readings_and_selections(select: RerankOptions, expected: list[str]) -> None:
    lists = [[Hypothesis("Der Arzt", -1.0), Hypothesis("Die Ärztin", -2.0)]] * 2
    reranking = _reranked(lists, select)
    assert reranking.translations == expected
    assert f"|reading:{select.reading}|select:{select.name}|metric:cc|" in reranking.signature


def test_sentences_without_a_wanted_reading_keep_their_first_hypothesis() -> None:
    sources = ["She is a doctor.", "He told her.", "It rains.", "", "He is a doctor."]
    loading = cc_hf.LoadingOptions(src_lang="en", tgt_lang="de")
    lists, pronouns = [["Der Arzt", "Die Ärztin"]] * 5, RerankOptions("pronouns")
    chosen = _reranked(lists, pronouns, material=sources, loading=loading)
    assert [choice.chosen for choice in chosen.choices] == [1, 0, 0, 0, 0]
    assert chosen.figures()["n_judged"] == 2
    neutral = Material("en", "de", [replace(_example(0), gold="neutral"), _example(1)])
    kept = _reranked(lists[:2], RerankOptions("male"), material=neutral)
    assert [bool(choice.judgements) for choice in kept.choices] == [False, True]


def test_notebooks_show_what_was_chosen(tmp_path: Path) -> None:
    reranking = _reranked([["Der Arzt.", "Die Ärztin."]])
    assert "right by the choosing metric, after" in str(reranking)
    assert "<table>" in reranking._repr_html_()
    assert reranking.to_frame().translation.tolist() == reranking.translations
    reranking.save(tmp_path / "r.json")
    assert read_json(tmp_path / "r.json") == json.loads(json.dumps(reranking.to_row()))
    forms = "Der Arzt.", "Die Ärztin."
    pair = Alternatives("The doctor.", "doctor", forms[0], *forms, how="cues")
    assert str(pair) == "The doctor. → Der Arzt. | Die Ärztin."
    assert str(replace(pair, how=None, reason="x")) == "The doctor. → no pair: x"


def test_a_metric_without_evaluator_chooses_by_its_verdicts() -> None:
    material = cc_hf.load_material("simplegen", "en-de", limit=4)
    words = {"female": "Sie ist Ärztin.", "male": "Er ist Arzt."}
    lists = [["Das ist gut.", words["male"], words["female"]] for _ in material.examples]
    metric: dict[str, Any] = {"metric": "simplegen_accuracy", "material": material}
    reranking = _reranked(lists, evaluator=None, **metric)
    assert reranking.metric == "simplegen_accuracy"
    doubled = [lists[0]] * len(cc_hf.load_material("simplegen", "en-de").examples)
    assert _reranked(doubled, evaluator=None, **metric).translations == reranking.translations
    options = {"select": RerankOptions(select="p_correct"), "evaluator": None, **metric}
    fails(CCError, "expected a metric with probabilities", _reranked, lists, **options)


_TRANSLATIONS = ContrastiveTranslationExample("0", "en", "de", "A.", "a", ("b",), "all")


@cases(
    ({"lists": [["a"]], "material": _material(2)}, "expected 2 lists, one for each source, got 1"),
    ({"lists": [["a"], []]}, "row 1: expected at least one hypothesis"),
    ({"lists": [["a"]], "select": RerankOptions(select="interpolate")}, "lists with scores"),
    ({"lists": [["a"]], "material": ["He left."]}, "with the reading gold"),
    ({"lists": [["a"]], "material": Material("en", "de", [_TRANSLATIONS])}, "got translations"),
    (
        {"lists": [["a"]], "material": ["It rains."], "select": RerankOptions("pronouns")},
        "expected English sources with pronouns of one gender, got none",
    ),
)
def test_input_that_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    fails(CCError, message, _reranked, **options)


def test_the_commands_write_and_choose_from_lists(tmp_path: Path) -> None:
    data = "simplegen en-de --limit 8"
    system = "--system cc-tiny-en-de --num-beams 3"
    run_command(f"translate {data} {system} --nbest 3 -o lists.txt", cwd=tmp_path)
    command = "rerank simplegen en-de --limit 8 --nbest lists.txt --best"
    assert "are no accuracy" in run_command(f"{command} best.txt -o best.json", cwd=tmp_path).stdout
    result = read_json(tmp_path / "best.json")
    assert (result["n"], len(result["choices"][0]["hypotheses"])) == (8, 3)
    best = (tmp_path / "best.txt").read_text(encoding="utf-8").splitlines()
    assert best == [choice["translation"] for choice in result["choices"]]

    write_lines(tmp_path / "sources.txt", ["She is a doctor.", "", "It rains."])
    run_command(f"translate sources.txt {system} --nbest 2 -o own.jsonl", cwd=tmp_path)
    command = "rerank sources.txt --reading pronouns -l en-de --nbest own.jsonl --best"
    run_command(f"{command} own.txt", cwd=tmp_path)
    assert (tmp_path / "own.txt").read_text(encoding="utf-8").startswith("Sie ist Ärztin.\n\n")
    limited = "rerank sources.txt --limit 2 --reading pronouns --nbest own.jsonl --best x.txt"
    for words in (limited, "translate sources.txt --system cc-tiny-en-de --contrast 1 -o x.txt"):
        assert "belong to datasets" in run_command(words, cwd=tmp_path, status=2).stderr
    run_command(
        f"translate {data} --system cc-tiny-en-de --contrast 0.3 -o contrast.txt", cwd=tmp_path
    )
    assert len((tmp_path / "contrast.txt").read_text(encoding="utf-8").splitlines()) == 8


_SOURCES = ["The doctor is here.", "She is a cook.", " ", "It rained.", "The nurse met the nurse."]
_FOCUSES: list[Any] = ["doctor", "cook", "x", None, "nurse"]


@pytest.mark.parametrize(("method", "n_best"), [("nbest", 4), ("cue", 1), ("contrast", 1)])
def test_each_method_gives_both_forms_of_open_sources(method: str, n_best: int) -> None:
    options = AlternativeOptions(n_best=n_best, methods=(method,))
    rows = alternatives(_SOURCES, "cc-tiny-en-de", focuses=_FOCUSES, options=options, tgt_lang="de")
    assert (rows[0].how, rows[0].first_reads, rows[0].reason) == (method, "male", "")
    assert (rows[0].masculine, rows[0].feminine) == ("Der Arzt ist hier.", "Die Ärztin ist hier.")
    row = rows[0].to_row()
    assert (row["differing"], set(row["checks"].values())) == ([["Der Arzt", "Die Ärztin"]], {True})
    words = ("a pronoun", "blank", "no noun for a person", "'nurse' occurs 2 times")
    for result, reason in zip(rows[1:], words, strict=True):
        assert reason in result.reason
        assert (result.masculine, result.feminine, result.how, result.check) == (None,) * 4
    assert [result.first for result in rows[1:3]] == ["Sie ist Köchin.", ""]


def test_candidates_that_fail_are_named() -> None:
    given: dict[str, Any] = {"focuses": [Focus("person", 4)], "tgt_lang": "de"}
    options = AlternativeOptions(n_best=2, methods=("nbest", "cue"))
    (row,) = alternatives(["The person left."], "cc-tiny-en-de", options=options, **given)
    assert (row.how, row.masculine) == (None, None)
    assert row.check is not None
    assert row.reason == f"candidates by cue fail: {', '.join(row.check.failed)}"


@cases(
    ({"focuses": ["a"]}, "expected one for each of 2 sources, got 1"),
    ({"tgt_lang": "ru"}, "expected one of de, es, fr, it, pt, got 'ru'"),
    ({"evaluator": lambda sources, texts: [1.0]}, "expected a model, got a function"),
)
def test_unfit_alternatives_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"tgt_lang": "de", **options}
    refuses(message, alternatives, ["A.", "B."], "cc-tiny-en-de", **given)


def test_the_command_reads_sentences_and_datasets(tmp_path: Path) -> None:
    refuses("methods: expected some of nbest, cue, contrast", AlternativeOptions, methods=("beam",))
    write_lines(tmp_path / "open.txt", ["The doctor is here.", "He is a cook."])
    command = "alternatives open.txt -l en-de --n-best 4 --system cc-tiny-en-de -o own.json"
    assert "The doctor is here. →" in run_command(command, cwd=tmp_path).stdout
    assert [row["how"] for row in read_json(tmp_path / "own.json")] == ["nbest", None]
    data = "alternatives simplegen en-de --limit 2 --n-best 2 --methods nbest"
    run_command(f"{data} --system cc-tiny-en-de -o data.json", cwd=tmp_path)
    examples = cc_hf.load_examples("simplegen", "en-de")
    known = {example.source: example.focus.text for example in examples}
    rows = read_json(tmp_path / "data.json")
    assert [row["focus"] for row in rows] == [known[row["source"]] for row in rows]
    assert "--system" in run_command("alternatives open.txt", cwd=tmp_path, status=2).stderr


@cases(
    ("Der Arzt ging.", "Die Ärztin ging.", "de", {}, ()),
    ("El médico alto vino.", "La médica alta vino.", "es", {}, ()),
    ("O médico chegou.", "A médica chegou.", "pt", {}, ()),
    ("Un attore parla.", "Un'attrice parla.", "it", {}, ()),
    ("Der Arzt ging.", "Die Medizinerin ging.", "de", {}, ("minimal",)),
    ("Der Arzt ging.", "Der Arzt ging.", "de", {}, ("minimal",)),
    ("Der Arzt ging weg.", "Die Ärztin kam heim.", "de", {}, ("minimal",)),
    ("der er ihn ein", "die sie ihr eine", "de", {}, ("minimal",)),
    (
        "der x er x ihn x ein x den x dem x des",
        "die x sie x ihr x eine x das x der x der",
        "de",
        {},
        ("minimal",),
    ),
    (
        "O homem médico veio.",
        "A mulher médica veio.",
        "pt",
        {"leaks": frozenset({"homem", "mulher"})},
        ("minimal", "no_leak"),
    ),
    (
        "Homem: o médico.",
        "Homem: a médica.",
        "pt",
        {"leaks": frozenset({"homem"}), "first": "Homem: o médico."},
        (),
    ),
    ("Der [Arzt] ging.", "Die [Ärztin] ging.", "de", {"first": "Der Arzt ging."}, ("no_leak",)),
    (
        "Der Arzt ging.",
        "Die Ärztin ging.",
        "de",
        {"direction": False, "adequate": False},
        ("direction", "adequate"),
    ),
)
def test_gender_pairs(masculine: str, feminine: str, lang: str, options: Any, failed: Any) -> None:
    assert check_pair(masculine, feminine, lang, **options).failed == failed


_NOUNS = {"Arzt": {MASCULINE}, "Ärztin": {FEMININE}, "Gast": {MASCULINE, FEMININE}}


def _words(text: str) -> tuple[AnalysedWord, ...]:
    return tuple(
        AnalysedWord(word, token, (Analysis(word, "noun", frozenset(_NOUNS.get(word, ()))),))
        for token, word in enumerate(text.split())
    )


@cases(
    ("Der Arzt", "Die Ärztin", True),
    ("Die Ärztin", "Der Arzt", False),  # each shows the other gender
    ("Der Gast", "Die Ärztin", True),  # one side is enough
    ("Der Gast", "Die Gast", False),  # nothing is shown
    ("Der Arzt", "Die Arzt", False),  # what both have in common is not read
)
def test_a_dictionary_says_which_gender_differing_words_show(
    masculine: str, feminine: str, shown: bool
) -> None:
    words = (_words(masculine), _words(feminine))
    assert check_pair(masculine, feminine, "de", words=words).shown is shown


def test_pairs_are_read_in_the_dictionary_that_is_named() -> None:
    options = AlternativeOptions(n_best=4, reader="german-nouns")
    (pair,) = cc_hf.alternatives(
        ["The doctor is here."], "cc-tiny-en-de", tgt_lang="de", options=options
    )
    assert (pair.feminine, pair.check and pair.check.shown) == ("Die Ärztin ist hier.", True)


@needs_apertium
@cases(
    ("es", ["96.9 % (728 of 751)", "98.9 % (743 of 751)", "8", "751"], "933 of 933"),
    ("fr", ["95.0 % (803 of 845)", "93.1 % (787 of 845)", "37", "845"], "998 of 998"),
)
def test_pairs_by_people_pass_the_checks(
    lang: str, passed: list[str], common: str, shared: Path
) -> None:
    examples = cc_hf.load_examples("gender_alternatives", lang, data_dir=shared / "upstream")
    people = pairs_by_people(examples, lang, "apertium")
    _, beside, *_ = alternatives_table(people, people, has_reader=True)
    assert [row.cells[0].value for row in typed(ReportTable, beside).rows] == [
        *passed,
        *[f"100.0 % ({common})"] * 2,
    ]
    # A dictionary refuses every pair whose sides are exchanged.
    sides = {"masculine": "feminine", "feminine": "masculine"}
    swapped = [replace(e, extra={k: e.extra[sides.get(k, k)] for k in e.extra}) for e in examples]
    assert not any(known(p.check).shown for p in pairs_by_people(swapped, lang, "apertium"))


def test_the_command_shows_pairs_by_people(tmp_path: Path, shared: Path) -> None:
    command = (
        "alternatives gender_alternatives en-de --limit 1 --n-best 2 -o x.json"
        f" --system cc-tiny-en-de --data-dir {shared / 'upstream'}"
    )
    assert "structure recall" in run_command(command, cwd=tmp_path).stdout
    assert read_json(tmp_path / "x.json")[0]["people"]["checks"]["minimal"]


_A, _B, _C = Hypothesis("Der Arzt", -1.5), Hypothesis("Die Ärztin", -2.0), Hypothesis("", -3.0)
_LISTS = "0 ||| Der Arzt ||| -1.5\n0 |||\tDie Ärztin\t||| -2\n1 |||  ||| -3\n"


@cases(
    (_LISTS, None, [(_A, _B), (_C,)]),
    (_LISTS.replace("\n", "\r\n"), None, [(_A, _B), (_C,)]),
    ("0 ||| Der Arzt ||| lm: -9 tm: 3 ||| -1.5 ||| 0-0 1-1\n", None, [(_A,)]),
    ("0 ||| Der Arzt\n1 ||| Der Arzt\n", None, [(Hypothesis("Der Arzt"),)] * 2),
    ("Der Arzt\n Die Ärztin\r\n\n\n", 2, [(_A[:1], _B[:1]), (("",), ("",))]),
    ('{"index": 0, "text": "Der Arzt", "score": -1.5}\n', None, [(_A,)]),
)
def test_the_forms_of_lists(text: str, n: int | None, expected: list[Any], tmp_path: Path) -> None:
    path = tmp_path / ("lists.jsonl" if text.startswith("{") else "lists.txt")
    path.write_text(text, encoding="utf-8", newline="")
    lists = read_nbest(path, n)
    assert lists == [tuple(Hypothesis(*hypothesis) for hypothesis in row) for row in expected]
    if n is None:
        for suffix in (".jsonl", ".txt"):
            again = write_text(
                tmp_path / f"again{suffix}", nbest_text(lists, is_jsonl=suffix == ".jsonl")
            )
            assert read_nbest(again) == lists


@cases(
    ("", None, "got an empty file"),
    ("1 ||| a\n", None, "line 1: expected hypotheses of the source 0, got those of 1"),
    ("0 ||| a\n1 ||| b\n0 ||| c\n", None, "line 3: expected an index of at least 1, got 0"),
    ("0 ||| a ||| -1\n0 ||| b\n", None, "line 2: expected a score on every line with a text"),
    ("0 ||| a ||| x\n", None, "line 1: expected a number as the score, got 'x'"),
    ("a\nb\n", None, "line 1: expected index ||| hypothesis"),
    (f"0 ||| a\n{'9' * 5000} ||| b\n", None, "line 2: expected index ||| hypothesis"),
    ("٠ ||| a\n", None, "line 1: expected index ||| hypothesis"),
    ("0 ||| a ||| 1_0\n", None, "line 1: expected a number as the score, got '1_0'"),
    ("a\nb\nc\n", 2, "as many lines for each of 2 sources, got 3"),
    ("a\n", 2, "as many lines for each of 2 sources, got 1"),
    ('{"index": -1, "text": "a"}', None, "line 1: index: expected a whole number from 0"),
    ('{"index": 0}', None, "line 1: expected the key 'text'"),
)
def test_damaged_lists_are_refused(text: str, n: int | None, message: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / ("lists.jsonl" if text.startswith("{") else "lists.txt"), text)
    fails(CCError, re.escape(message), read_nbest, path, n)
