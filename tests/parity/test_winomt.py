"""Parity on WinoMT with mt_gender (Stanovsky et al. 2019), with fast_align and with the program of
Vamvas & Sennrich 2021, see PROVENANCE.md.
"""

import csv
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.data.download import fetch
from cc_hf.plugins.raters.published import published_agreement
from cc_hf.reading import text_lines
from cc_hf.tables.rows import read_rows
from cc_hf.text.alignment import FastAlign, space_tokens, to_pharaoh
from tests.helpers.apertium import needs_apertium
from tests.helpers.usual import (
    cases,
    coarse_scores,
    constant_scores,
    evaluate_dataset,
    evaluate_metric,
    hash_scores,
    known,
    read_json,
    read_jsonl,
    write_lines,
)

pytestmark = pytest.mark.shared

SYSTEMS = [("aws", "de"), ("google", "de"), ("google", "ru")]
of_every_system = pytest.mark.parametrize(("system", "lang"), SYSTEMS)


def translations(shared: Path, system: str, lang: str) -> Path:
    return shared / f"upstream/gabrielStanovsky/mt_gender/translations/{system}/en-{lang}.txt"


def alignments(shared: Path, system: str, lang: str) -> list[str]:
    folder = shared / "gold/winomt_pattern_matching/alignments"
    with gzip.open(folder / f"{system}.en-{lang}.fast_align.gz", "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def expected_figures(shared: Path, system: str, lang: str) -> Any:
    return read_json(shared / "gold/winomt_pattern_matching/expected.json")[f"{system}/{lang}"]


def load(shared: Path, config: str = "default") -> list[Any]:
    return cc_hf.load_examples("winomt", config, data_dir=shared / "upstream")


@cache
def run(shared: Path, path: Path, lang: str, config: str = "acl2019", **options: str) -> Any:
    given: dict[str, Any] = {
        "metric": "winomt_pattern_matching",
        "data_dir": shared / "upstream",
        "translations": path,
        "tgt_lang": lang,
        "options": options,
    }
    return evaluate_dataset("winomt", config, **given)


@of_every_system
def test_every_alignment_line_equals_fast_align(shared: Path, system: str, lang: str) -> None:
    lines = text_lines(translations(shared, system, lang))
    sources, texts = zip(*(line.split(" ||| ") for line in lines), strict=True)
    aligned = FastAlign().align(sources, texts)
    recorded = alignments(shared, system, lang)
    assert len(recorded) == 3888
    assert [to_pharaoh(alignment) for alignment in aligned] == recorded


@of_every_system
def test_every_prediction_is_that_of_the_program(shared: Path, system: str, lang: str) -> None:
    folder = shared / "gold/winomt_pattern_matching/steps"
    steps = read_jsonl(folder / f"{system}.en-{lang}.jsonl.gz")
    judgements = run(shared, translations(shared, system, lang), lang).judgements
    assert len(steps) == len(judgements) == 3888
    for step, example, judgement in zip(steps, load(shared, "acl2019"), judgements, strict=True):
        assert {
            **{"sentence": example.source, "gold": example.gold, "pred": judgement.predicted},
            **{"entity": example.extra["occupation"], "translation": judgement.translation},
            "src_index": len(space_tokens(example.source[: example.focus.start])),
        }.items() <= step.items()
        assert judgement.gold == step["gold"]


@of_every_system
def test_printed_figures_equal_those_of_the_program(shared: Path, system: str, lang: str) -> None:
    gold = expected_figures(shared, system, lang)
    result = run(shared, translations(shared, system, lang), lang, figures="printed")
    expected = {
        **{"accuracy": gold["acc"], "delta_g": gold["delta_g"], "delta_s": gold["delta_s"]},
        **{name: gold["all"]["printed"][name] for name in ("f1_male", "f1_female")},
        **{f"accuracy_{side}": gold[side]["printed"]["acc"] for side in ("pro", "anti")},
    }
    assert {name: round(100 * result.scores[name], 1) for name in expected} == expected
    published = {"aws/de": "62.4 12.0 16.7", "google/de": "59.4 12.5 12.5"}
    published["google/ru"] = "37.7 36.8 11.4"
    assert [*expected.values()][:3] == [*map(float, published[f"{system}/{lang}"].split())]


@cases(
    ("bing", "de", (74.1, 0.0, 9.0)),
    ("systran", "de", (48.6, 34.5, 10.1)),
    ("sota", "de", (52.5, -7.3, -8.4)),  # with "@-@" for a hyphen in 86 lines
    ("aws", "ar", (48.2, 37.9, 18.9)),
    ("aws", "he", (48.0, 13.7, 45.7)),
    ("bing", "ar", (45.0, 47.1, 14.2)),
    ("bing", "he", (44.0, 21.9, 29.7)),
    ("google", "ar", (45.9, 42.5, 16.2)),
    ("google", "he", (50.8, 11.5, 35.6)),
    ("systran", "ar", (45.6, 49.2, -4.1)),  # with 69 no-break spaces
)
def test_printed_figures_equal_those_with_the_tokens_of_spacy(
    system: str, lang: str, expected: tuple[float, ...], shared: Path
) -> None:
    """Recorded from the program's rules with the tokenizers of spaCy 3.8, which it uses."""
    result = run(shared, translations(shared, system, lang), lang, figures="printed")
    names = ("accuracy", "delta_g", "delta_s")
    assert tuple(round(100 * result.scores[name], 1) for name in names) == expected


@cases(
    ("aws", "es", (59.4, 15.4, 22.3), (59.4, 15.7, 22.0)),
    ("bing", "es", (47.3, 36.8, 23.2), (47.5, 36.9, 22.5)),
    ("google", "es", (53.1, 23.4, 21.3), (53.3, 23.2, 20.9)),
    ("systran", "es", (45.6, 46.3, 15.0), (46.0, 46.5, 15.8)),
    ("google", "fr", (63.6, 6.4, 26.7), (64.6, 7.1, 22.2)),
    ("google", "it", (39.6, 32.9, 21.5), (40.4, 35.6, 21.0)),
)
@needs_apertium
def test_figures_by_a_dictionary_are_near_those_of_the_paper(
    system: str,
    lang: str,
    published: tuple[float, ...],
    expected: tuple[float, ...],
    shared: Path,
) -> None:
    """Accuracy, delta G and delta S; those of the paper (Table 2) are by taggers of spaCy 2."""
    result = run(shared, translations(shared, system, lang), lang)
    names = ("accuracy", "delta_g", "delta_s")
    assert tuple(round(100 * result.scores[name], 1) for name in names) == expected
    if lang == "es":
        assert expected[:2] == pytest.approx(published[:2], abs=0.5)


@cases(
    ("google", "es", "es.in - es.in.csv", (54.2, 24.7, 21.5), 98, 99),
    ("google", "it", "google.it.in - it.in.csv", (42.9, 39.5, 16.1), 85, 99),
)
@needs_apertium
def test_the_rule_in_context_agrees_with_people(
    system: str,
    lang: str,
    sheet: str,
    expected: tuple[float, ...],
    n_agree: int,
    n: int,
    shared: Path,
) -> None:
    result = run(shared, translations(shared, system, lang), lang, "all", rule="context")
    names = ("accuracy", "delta_g", "delta_s")
    assert tuple(round(100 * result.scores[name], 1) for name in names) == expected
    genders = {"male": "M", "female": "F", "neutral": "N"}
    read = {j.translation.strip(): genders.get(j.predicted, "") for j in result.judgements}
    folder = shared / "upstream/gabrielStanovsky/mt_gender/data/human_annotations"
    with (folder / sheet).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Gender? [M/F/N]"].strip()]
    assert len(rows) == n
    right = [row for row in rows if read[row["Sentence"].strip()] == row["Gender? [M/F/N]"].strip()]
    assert len(right) == n_agree


@cases(("published", 155), ("noun", 171))
def test_a_german_noun_agrees_more_with_people_than_the_published_rule(
    rule: str, n_agree: int, shared: Path
) -> None:
    upstream = shared / "upstream"
    labels = registry.resolve("label set", "winomt")
    paths = {file.path: fetch(file, upstream) for file in labels.files["en-de"]}
    rows = labels.read(paths, "en-de", load(shared, "default"))
    shown = {
        row.example_id: row.labels[0]
        for row in rows
        if len({*row.labels}) == 1 and row.labels[0] in ("male", "female")
    }
    result = run(shared, translations(shared, "aws", "de"), "de", "all", rule=rule)
    read = {j.example_id: j.predicted for j in result.judgements}
    assert len(shown) == 175
    assert sum(read[name] == gender for name, gender in shown.items()) == n_agree


@cases(("fr", 0.90), ("es", 0.87))
@needs_apertium
def test_adjectives_before_the_person_do_not_mislead_the_rule_in_context(
    lang: str, accuracy: float, shared: Path
) -> None:
    """The rows of mt_gender with "pretty" and "handsome", whose gender these say."""
    path = shared / f"upstream/gabrielStanovsky/mt_gender/translations/google/adj.en-{lang}.txt"
    occupations = {example.extra["occupation"].lower() for example in load(shared, "all")}
    names = "|".join(map(re.escape, sorted(occupations, key=len, reverse=True)))
    texts, rows = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        source, text = line.split(" ||| ")
        if person := re.search(rf"\b(pretty|handsome) ((?:{names})\b)", source):
            gold = "female" if person[1] == "pretty" else "male"
            start = person.start(2)
            rows.append({"source": source, "focus": person[2], "focus_start": start, "gold": gold})
            texts.append(text)
    result = evaluate_metric("gender_reading", texts, rows, tgt_lang=lang)
    assert result.n == 1548
    assert result.scores["accuracy"] == pytest.approx(accuracy, abs=0.005)


@of_every_system
def test_exact_figures_and_counts_are_recorded_ones(shared: Path, system: str, lang: str) -> None:
    gold = expected_figures(shared, system, lang)["all"]
    result = run(shared, translations(shared, system, lang), lang)
    for gender in ("male", "female", "neutral"):
        for name, value in gold[gender].items():
            assert result.scores[f"{name}_{gender}"] == pytest.approx(value, abs=1e-12)
        row = {"unknown": 0, **gold["confusion_gold_to_pred"][gender]}
        for predicted in ("male", "female", "neutral"):
            assert result.counts[f"n_{gender}_as_{predicted}"] == row.get(predicted, 0)
        n_unknown = result.counts[f"n_unknown_{gender}"]
        assert n_unknown == row["unknown"] == gold["printed"][f"unk_{gender}"]


@cases(("aws", "de", 400, 345), ("google", "ru", 436, 329))
@pytest.mark.parametrize("config", ["acl2019", "all", "default"])
def test_agreement_with_human_annotators_is_as_published(
    system: str, lang: str, n: int, n_agree: int, shared: Path, config: str
) -> None:
    """A neutral or unknown gender counts as the gold one."""
    result = run(shared, translations(shared, system, lang), lang, config)
    folder = shared / "gold/human_validation"
    annotations = read_annotations(folder / f"winomt_annotations.en-{lang}.jsonl")
    agreement = agreement_with_labels(result, annotations)
    assert (agreement.n_labels, agreement.n_agree) == (n, n_agree)
    recorded = read_json(folder / "winomt_pattern_matching_vs_human.json")[lang]
    if config != "default":  # the program reads all rows, by which some predictions change
        confusion = recorded["confusion_rows_human_cols_pred_male_female"]
        assert [list(counts) for counts in agreement.confusion] == confusion
        strict = recorded["strict_agree_unknown_neutral_as_error"]
        assert agreement.strict_agreement == pytest.approx(strict, abs=1e-12)
    row = known(published_agreement("winomt", lang, "winomt_pattern_matching"))
    assert row.agreement == pytest.approx(agreement.agreement, abs=6e-4)


@cases(("aws", "de", 2), ("google", "de", 4), ("google", "ru", 25))
def test_few_rows_need_the_neutral(system: str, lang: str, n_changed: int, shared: Path) -> None:
    """The card states how many."""
    path = translations(shared, system, lang)
    whole = {j.example_id: j.predicted for j in run(shared, path, lang, "all").judgements}
    part = run(shared, path, lang, "default").judgements
    assert len(part) == 3648
    assert sum(whole[j.example_id] != j.predicted for j in part) == n_changed


def test_figures_of_the_page_on_interpretation_are_reproduced(shared: Path, root: Path) -> None:
    text = " ".join((root / "docs/interpretation.md").read_text(encoding="utf-8").split())
    google, aws = (translations(shared, system, "de") for system in ("google", "aws"))
    results = [run(shared, google, "de", config) for config in ("all", "default")]
    delta, smaller = (100 * result.scores["delta_g"] for result in results)
    assert f"google en-de has {delta:.1f} on all rows" in text
    assert f"and {smaller:.1f} without the neutral rows" in text
    counts = run(shared, aws, "de", "all").counts
    shares = [counts[f"n_neutral_as_{gender}"] / 2.4 for gender in ("male", "female", "neutral")]
    male, female, neutral = (f"{share:.1f} %" for share in shares)
    assert f"of aws en-de, {male} as male, {female} as female and {neutral} as neutral" in text


def test_recorded_alignments_can_replace_the_aligner(shared: Path, tmp_path: Path) -> None:
    links = write_lines(tmp_path / "links.txt", alignments(shared, "aws", "de"))
    path = translations(shared, "aws", "de")
    result = run(shared, path, "de", alignments=str(links))
    assert result.judgements == run(shared, path, "de").judgements
    assert "|align:given." in result.signature


def test_configurations_all_and_acl2019_differ_in_two_stereotypes(shared: Path) -> None:
    every, program, with_cues = (load(shared, name) for name in ("all", "acl2019", "default"))
    different = [(a, b) for a, b in zip(every, program, strict=True) if a != b]
    sides = [(a.id, a.extra["stereotype"], b.extra["stereotype"]) for a, b in different]
    assert sides == [("2120", "anti", "pro"), ("2121", "anti", "pro")]
    n_sides = Counter(e.extra["stereotype"] for e in program)
    assert (n_sides["pro"], n_sides["anti"]) == (1584, 1584)
    without_neutral = [e for e in every if e.gold != "neutral"]
    fields = attrgetter("id", "source", "focus", "gold", "extra")
    assert [*map(fields, without_neutral)] == [*map(fields, with_cues)]


@cases(("aws", 0.984), ("google", 0.989))
def test_portuguese_rules_agree_with_winopt(system: str, agreement: float, shared: Path) -> None:
    folder = shared / f"upstream/ramos-ai/winopt/translations/{system}"
    result = run(shared, folder / "en-pt.txt", "pt", "all")
    archived = [row["Predicted gender"] for _, row in read_rows(folder / "en-pt.txt.pred.csv")]
    equal = [j.predicted == gender for j, gender in zip(result.judgements, archived, strict=True)]
    assert sum(equal) / len(equal) >= agreement


def run_scores(shared: Path, scores: Callable[..., Any]) -> cc_hf.EvaluationResult:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/winomt/data"
    options: dict[str, Any] = {"tgt_lang": "de", "data_dir": shared / "upstream"}
    options["translations"] = folder / "aws.de.full.txt"
    return evaluate_dataset("winomt", "emnlp2021", evaluator=scores, **options)


def test_figures_equal_those_of_the_original_program(shared: Path) -> None:
    result = run_scores(shared, hash_scores)
    assert result.n == 3648
    names = ("accuracy", "accuracy_male", "accuracy_female", "min_accuracy")
    weighted = (0.508531592728199, 0.5115173337026266, 0.5055327312369751, 0.5055327312369751)
    plain = (0.5098684210526315, 0.5049288061336255, 0.5148188803512623, 0.5049288061336255)
    for prefix, expected in (("weighted_", weighted), ("", plain)):
        figures = tuple(result.scores[f"{prefix}{name}"] for name in names)
        assert figures == pytest.approx(expected, abs=1e-12)


def test_every_sample_equals_that_of_the_original_program(shared: Path) -> None:
    folder = shared / "gold/contrastive_conditioning"
    gold = read_jsonl(folder / "winomt.en-de.all_samples.jsonl.gz")
    examples, judgements = (
        load(shared, "emnlp2021"),
        run_scores(shared, hash_scores).judgements,
    )
    assert len(examples) == len(judgements) == len(gold) == 3648
    for example, judgement, row in zip(examples, judgements, gold, strict=True):
        names = ("probability_correct", "is_correct", "weight", "translation")
        assert {
            **{name: getattr(judgement, name) for name in names},
            **{"sentence": example.source, "category": example.category},
            "source_correct": "|".join(example.correct_sources),
            "source_incorrect": "|".join(example.incorrect_sources),
        }.items() <= row.items()


@cases(("const", constant_scores), ("quant", coarse_scores))
def test_figures_with_ties_are_equal(name: str, scores: Callable[..., Any], shared: Path) -> None:
    gold = read_json(shared / "gold/contrastive_conditioning/ties.json")
    result = run_scores(shared, scores)
    names = ("accuracy_male", "accuracy_female", "min_accuracy")
    for kind, prefix in (("unweighted", ""), ("weighted", "weighted_")):
        expected = gold[f"winomt.en-de.{name}.{kind}"]
        figures = {"accuracy": expected["total_accuracy"], **{key: expected[key] for key in names}}
        actual = {key: result.scores[f"{prefix}{key}"] for key in figures}
        assert actual == pytest.approx(figures, abs=1e-12)
        assert result.counts["n_correct"] == expected["n_correct"]
        assert result.counts["n_ties"] == expected["n_p_exactly_half"]
    weighted = gold[f"winomt.en-de.{name}.weighted"]
    weights = [j.weight for j in result.judgements]
    assert weights[:50] == weighted["weights_first_50"]
    probabilities = [j.probability_correct for j in result.judgements]
    for key, values in (("weights_sha256", weights), ("probabilities_sha256", probabilities)):
        assert hashlib.sha256(",".join(map(repr, values)).encode()).hexdigest() == weighted[key]


def test_the_default_configuration_only_inserts_one_cue(shared: Path) -> None:
    examples = load(shared)
    assert len(examples) == len({e.id for e in examples}) == 3648
    for example in examples:
        other = {"male": "female", "female": "male"}[example.gold]
        (correct,), (incorrect,) = example.correct_sources, example.incorrect_sources
        for source, gender in ((correct, example.gold), (incorrect, other)):
            cue = f"[{gender}] "
            assert (source.count("["), source.replace(cue, "", 1)) == (1, example.source)
            assert source[source.index(cue) + len(cue) :].startswith(example.focus.text)
        assert example.focus.text.lower() == example.extra["occupation"].lower()


def test_rows_damaged_by_the_original_program_are_the_recorded_ones(shared: Path) -> None:
    pairs = [*zip(load(shared), load(shared, "emnlp2021"), strict=True)]
    quirks = read_json(shared / "gold/contrastive_conditioning/winomt_quirks.json")
    listed = {str(row) for rows in quirks["idx"].values() for row in rows}
    assert len(listed) == 147  # of all 3888 rows, the neutral ones included
    different = {a.id for a, b in pairs if a.correct_sources != b.correct_sources}
    assert different == listed & {a.id for a, _ in pairs}


def test_stereotype_configurations_have_their_published_sizes(shared: Path) -> None:
    assert [len(load(shared, config)) for config in ("pro", "anti")] == [1582, 1586]
    examples = load(shared, "pairs")
    assert len(examples) == 3164
    missing = {str(line) for line in range(1584)} - {e.extra["pair"] for e in examples}
    assert missing == {"1569", "1571"}  # the program of Manna et al. 2025 leaves out 1569 and 1572
    known = {e.source for e in load(shared, "all")}
    assert [e.id for e in examples if e.source not in known] == ["536.pro", "537.pro"]
