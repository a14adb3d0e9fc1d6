"""Parity with the programs on MuCoW: pattern matching, contrastive conditioning, the translation
suite and the scoring suite, cues, and samples for raters, see PROVENANCE.md.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.plugins.calibration.mlm_insertions import discriminating_words, parse_candidates
from cc_hf.plugins.raters.drawn_results import examples_without_corpora
from cc_hf.plugins.raters.sampling import draw_sample
from cc_hf.reading import read_lines, read_text, text_lines
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, ProbingExample
from cc_hf.text.tokenization import letters, moses_tokens
from tests.helpers.mucow_logs import log_of, logged_result, logged_verdict
from tests.helpers.usual import cases, evaluate_dataset, hash_scores, read_json, read_jsonl

pytestmark = pytest.mark.shared

VERDICTS = {"pos": "correct", "neg": "incorrect", "unk": "inconclusive"}
FIGURES = {
    "cov": "coverage",
    "prec": "precision",
    "recA": "recall_a",
    "recB": "recall_b",
    "f1A": "f1_a",
    "f1B": "f1_b",
}
_PAIRS = ("de-en", "en-cs", "en-de", "en-fi", "en-lt", "en-ru", "fi-en", "lt-en", "ru-en")


def run(shared: Path, config: str, translations: list[str], **options: Any) -> EvaluationResult:
    return evaluate_dataset(
        "mucow",
        config,
        translations=translations,
        options=options,
        metric="mucow_pattern_matching",
        data_dir=shared / "upstream",
    )


def n_equal_decisions(result: EvaluationResult, rows: list[Any]) -> int:
    pairs = zip(result.judgements, rows, strict=True)
    return sum(judgement.verdict == logged_verdict(row) for judgement, row in pairs)


@cases(
    ("de", {"parity": True}, (1871, 615, 851), 3316),
    ("de", {}, (1868, 610, 859), 3307),
    ("ru", {"parity": True}, (948, 359, 507), 1780),
    ("ru", {}, (945, 357, 512), 1777),
)
def test_decisions_on_published_translations_agree_as_documented(
    lang: str, rules: dict[str, bool], counts: tuple[int, ...], n_equal: int, shared: Path
) -> None:
    rows = log_of(shared, lang)
    result = run(shared, f"en-{lang}.probing", [row["translation"] for row in rows], **rules)
    assert tuple(result.counts[f"n_{name}"] for name in VERDICTS.values()) == counts
    assert n_equal_decisions(result, rows) == n_equal
    if rules:
        folder = shared / "gold/mucow"
        name = f"decisions.cc_hyphen_split.en-{lang}.ensemble.simplemma.txt"
        pairs = zip(result.judgements, read_lines(folder / name), strict=True)
        other = [
            judgement.translation
            for judgement, label in pairs
            if judgement.verdict != VERDICTS[label]
        ]
        # the recorded run split Russian at hyphens
        assert len(other) == {"de": 0, "ru": 6}[lang]
        assert all("-" in text for text in other)
        tokenizer = {"de": "ud", "ru": "moses"}[lang]
        wanted = {"impl": "cc_reimpl", "lang": lang, "hyp": "ensemble", "lemmatizer": "simplemma"}
        wanted["tokenizer"] = tokenizer
        recorded = read_json(folder / "gold_mucow.json")
        row = next(row for row in recorded if wanted.items() <= row.items())
        names = ("coverage", "precision", "precision_frequent", "precision_infrequent")
        expected = {
            **{name: row[name] for name in names},
            "min_precision_frequency": row["min_precision"],
            "recall_a": row["recallA"],
        }
        actual = {name: result.scores[name] for name in expected}
        assert actual == pytest.approx(expected, abs=1e-12)


@cases(("de", 3330), ("ru", 1793))
def test_decisions_with_logged_lemmas_are_documented(lang: str, n_equal: int, shared: Path) -> None:
    rows = log_of(shared, lang)
    texts = [row["translation"] for row in rows]
    lemmas = [row["translation_lemmatized"] or "" for row in rows]
    result = run(shared, f"en-{lang}.probing", texts, parity=True, lemmatized=lemmas)
    assert n_equal_decisions(result, rows) == n_equal


@cases(*_PAIRS)
def test_references_as_translations_give_the_recorded_counts(pair: str, shared: Path) -> None:
    config = f"{pair}.probing" if pair in ("en-de", "en-ru") else pair
    examples = cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")
    references = [e.extra["reference"] for e in examples]
    recorded = read_json(shared / "gold/mucow/gold_mucow_allpairs_ref.json")
    row = next(r for r in recorded if (r["pair"], r["lemmatizer"]) == (pair, "simplemma"))
    result = run(shared, config, references, parity=True)
    counts = {key: result.counts[f"n_{name}"] for key, name in VERDICTS.items()}
    assert counts.items() <= row.items()
    groups = {"all": "", "in": "_in_domain", "out": "_out_of_domain"}.items()
    names = {f"{k}_{group}": n + end for k, n in FIGURES.items() for group, end in groups}
    expected = {name: row["full"][key] for key, name in names.items()}
    assert {name: result.scores[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    if pair == "en-de":
        plain = run(shared, config, references)
        assert [plain.counts[f"n_{name}"] for name in VERDICTS.values()] == [3324, 13, 0]


def test_configurations_with_cues_can_be_judged(shared: Path) -> None:
    by_source = {row["sentence"]: row["translation"] for row in log_of(shared, "de")}
    examples = cc_hf.load_examples("mucow", "en-de", data_dir=shared / "upstream")
    result = run(shared, "en-de", [by_source[e.source] for e in examples])
    assert {c.category: c.n for c in result.categories} == {"frequent": 1712, "infrequent": 1622}
    assert "precision_in_domain" not in result.scores
    assert 0.95 < result.scores["precision_frequent"] < 0.97


def test_figures_and_every_sample_equal_the_original_program(shared: Path) -> None:
    by_source = {row["sentence"]: row["translation"] for row in log_of(shared, "de")}
    config = "en-de.emnlp2021"
    options: dict[str, Any] = {"data_dir": shared / "upstream"}
    examples = cc_hf.load_examples("mucow", config, **options)
    options |= {"translations": [by_source[e.source] for e in examples], "evaluator": hash_scores}
    result = evaluate_dataset("mucow", config, **options)
    groups = ("", "_frequent", "_infrequent")
    actual = [[result.scores[f"{w}accuracy{g}"] for g in groups] for w in ("weighted_", "")]
    weighted = [0.4836721734246011, 0.47645888232373657, 0.4917079011405862]
    assert actual[0] == pytest.approx(weighted, abs=1e-12)
    plain = [0.489502099580084, 0.48130841121495327, 0.49815043156596794]
    assert actual[1] == pytest.approx(plain, abs=1e-12)
    gold = read_jsonl(shared / "gold/contrastive_conditioning/mucow.en-de.all_samples.jsonl.gz")
    for example, judgement, row in zip(examples, result.judgements, gold, strict=True):
        names = ("probability_correct", "weight", "translation")
        assert {
            **{name: getattr(judgement, name) for name in names},
            "sources_correct": list(example.correct_sources),
            "sources_incorrect": list(example.incorrect_sources),
            "category": example.category,
            "src_form": example.focus.text,
        }.items() <= row.items()


@cases(("en-de", 1712, 1622), ("en-ru", 923, 887))
def test_cues_precede_words(config: str, n_frequent: int, n_infrequent: int, shared: Path) -> None:
    examples = cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")
    sizes = Counter(e.category for e in examples)
    assert sizes == {"frequent": n_frequent, "infrequent": n_infrequent}
    for example in examples:
        text, word = example.source, example.focus.text
        places = [token.start for token in moses_tokens(text, "en") if token.text == word]
        assert example.focus.start == places[0]
        assert len(example.correct_sources) == len(example.incorrect_sources) == 3
        parts = [text[a:b] for a, b in zip([0, *places], [*places, None], strict=True)]
        for source in (*example.correct_sources, *example.incorrect_sources):
            cue = source[places[0] :].split(" ")[0]
            assert source == f"{cue} ".join(parts)


def suite(shared: Path, pair: str) -> list[ProbingExample]:
    config = f"{pair}.probing" if pair in ("en-de", "en-ru") else pair
    return cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")


@pytest.mark.parametrize("pair", _PAIRS)
def test_the_translation_suite_has_the_recorded_counts(shared: Path, pair: str) -> None:
    stats = next(row for row in read_json(shared / "gold/mucow/stats.json") if row["pair"] == pair)
    examples = suite(shared, pair)
    sizes = {"in_domain": stats["samples_in"], "out_of_domain": stats["samples_out"]}
    assert Counter(e.category for e in examples) == Counter(sizes)
    assert {
        "n": len(examples),
        "corpora": Counter(e.extra["corpus"] for e in examples),
        "src_words": len({e.extra["ambiguous_word"] for e in examples}),
        "senses": len({(e.extra["ambiguous_word"], e.gold) for e in examples}),
    }.items() <= stats.items()


@pytest.mark.parametrize("language", ["de", "ru"])
def test_the_translation_suite_equals_the_logged_rows(shared: Path, language: str) -> None:
    """Every row of the log has the same source, word and senses; counts by frequency are equal."""
    rows, examples = log_of(shared, language), suite(shared, f"en-{language}")
    for example, row in zip(examples, rows, strict=True):
        extra = example.extra
        read = (example.source, extra["ambiguous_word"], extra["corpus"])
        assert read == (row["sentence"], row["src_word"], row["corpus"])
        assert set(example.gold.split()) == set(row["correct_senses"])
        assert set(extra["incorrect_senses"].split()) == set(row["wrong_senses"])
    path = shared / "gold/human_validation/mucow_pattern_matching_from_log.json"
    counts = read_json(path)[language]["counts"]
    names = {"inconclusive": "unk", "correct": "pos", "incorrect": "neg"}
    verdicts = [names[logged_verdict(row)] for row in rows]
    frequencies = [e.extra["frequency"] for e in examples]
    actual = Counter(f"{v}_{f}" for v, f in zip(verdicts, frequencies, strict=True))
    assert actual == {name: n for name, n in counts.items() if "_" in name}


def test_the_scoring_suite_equals_its_own_files(shared: Path) -> None:
    configs = registry.resolve("dataset", "mucow").configs
    declared = [config for config in configs if config.form is ContrastiveTranslationExample]
    assert len(declared) == 11
    folder = shared / "upstream/Helsinki-NLP/MuCoW/WMT2019/scoring test suite/json"
    for config in declared:
        path = folder / f"{config.name.removeprefix('scoring.')}.mucow.scoring.json"
        if not path.is_file():
            assert not config.files[0].sha256
            continue
        rows = read_json(path)
        examples = cc_hf.load_examples("mucow", config.name, data_dir=shared / "upstream")
        assert len(examples) == len(rows) == config.splits["test"]
        for example, row in zip(examples, rows, strict=True):
            read = (example.source, example.correct_translation, example.category)
            assert read == (row["source"], row["reference"], row["origin"])
            wrong = [error["contrastive"] for error in row["errors"]]
            replaced = [error["replacement"] for error in row["errors"]]
            assert list(example.contrastive_translations) == wrong
            assert example.extra["replacements"].split("; ") == replaced
            assert example.extra["n_equal_to_reference"] == "0"


@cases(("de", 391, 1459, 200, 746), ("ru", 88, 389, 88, 389))
def test_a_sample_is_drawn_from_what_the_paper_annotated_and_keeps_the_ratio(
    lang: str, n_undecided: int, n_decided: int, n_rated: int, n_assumed: int, shared: Path
) -> None:
    data_dir = shared / "upstream"
    result = logged_result(shared, lang)
    population = examples_without_corpora(result, ["opensubs"], data_dir=data_dir)
    examples = cc_hf.load_examples("mucow", result.config, data_dir=data_dir)
    key = draw_sample({"ensemble": result}, examples, population=population)
    counts = key.settings["systems"]["ensemble"]
    assert (counts["n_undecided"], counts["n_decided"]) == (n_undecided, n_decided)
    assert (counts["n_rated"], counts["n_assumed"]) == (n_rated, n_assumed)
    rows = [j for j in result.judgements if j.example_id in population]
    undecided = {letters(j.translation) for j in rows if j.verdict == "inconclusive"}
    path = shared / f"gold/human_validation/mucow_annotations.en-{lang}.jsonl"
    assert {letters(a.translation) for a in read_annotations(path)} <= undecided


def published(
    shared: Path, pair: str
) -> tuple[dict[str, dict[str, tuple[str, ...]]], dict[tuple[str, str], dict[str, set[str]]]]:
    """Return the candidates, and per ambiguous word and sense the insertions of each side."""
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/tasks/data/mucow"
    start = f"disambiguation_cues/{pair}"
    rows = read_jsonl(folder / f"{start}.insertions.roberta-large.jsonl")
    actual = {}
    for key, row in zip(text_lines(folder / f"{pair}.key.tsv"), rows, strict=True):
        _, _, word, sense, _ = key.split("\t")
        actual[word, sense] = {
            side: set(row[f"{side}_insertions"]) for side in ("correct", "incorrect")
        }
    candidates = read_text(folder / f"{start}.insertion_candidates.roberta-large.json")
    return parse_candidates(candidates), actual


@cases(("en-de", 362, 291), ("en-ru", 203, 150))
def test_published_cues_are_found(pair: str, n_senses: int, n_dropped: int, shared: Path) -> None:
    candidates, insertions = published(shared, pair)
    assert len(insertions) == n_senses
    dropped = 0
    for (word, sense), sides in insertions.items():
        actual = discriminating_words(candidates[word], ambiguous_word=word)[sense]
        whole = discriminating_words(candidates[word], ambiguous_word="", stop_words=())[sense]
        for side in ("correct", "incorrect"):
            words, all_words = getattr(actual, side), getattr(whole, side)
            assert len(sides[side]) == 3
            assert sides[side] <= set(words)
            assert len(all_words) <= 10
            dropped += len(all_words) - len(words)
    assert dropped == n_dropped


@cases((10, 640, 626), (40, 913, 931), (50, 996, 996))
def test_short_word_lists_miss_some_cues(
    cut: int, n_correct: int, n_incorrect: int, shared: Path
) -> None:
    candidates, insertions = published(shared, "en-de")
    n_found = {"correct": 0, "incorrect": 0}
    for (word, sense), sides in insertions.items():
        if len(candidates[word]) == 2:
            sense_words = candidates[word][sense]
            (other,) = (words for name, words in candidates[word].items() if name != sense)
            for side, lists in (
                ("correct", {"own": sense_words, "other": other[:cut]}),
                ("incorrect", {"own": sense_words[:cut], "other": other}),
            ):
                actual = discriminating_words(lists, ambiguous_word=word)["own"]
                n_found[side] += len(sides[side] & set(getattr(actual, side)))
    assert n_found == {"correct": n_correct, "incorrect": n_incorrect}
