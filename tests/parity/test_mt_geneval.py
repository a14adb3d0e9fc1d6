"""MT-GenEval as read here agrees with upstream's files; gender accuracy and quality gap equal the
recorded figures of upstream's program and of sacreBLEU, see PROVENANCE.md.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import cc_hf
from cc_hf.normalization import composed, has_invisible_characters
from cc_hf.reading import text_lines
from cc_hf.statistics.corpus_quality import sentence_statistics
from cc_hf.test_sets.mt_geneval import gender_accuracy, gender_quality_gap
from cc_hf.test_sets.mt_geneval.files import FILES, REPOSITORY
from cc_hf.test_sets.mt_geneval.reader import DECLARATION, unquoted
from tests.helpers.usual import (
    cases,
    evaluate_dataset,
    evaluate_metric,
    hash_scores,
    known,
    metric_class,
    read_json,
    read_jsonl,
)

pytestmark = pytest.mark.shared

_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))
_PRONOUNS = {
    "male": re.compile(r"\b(he|him|his|himself)\b", re.I),
    "female": re.compile(r"\b(she|her|hers|herself)\b", re.I),
}
_LANGS = ("ar", "de", "es", "fr", "hi", "it", "pt", "ru")
_SPLITS = ("dev", "test")
#: a language of the counterfactual subset
by_lang = pytest.mark.parametrize("lang", _LANGS)
by_contextual_lang = pytest.mark.parametrize("lang", [*_LANGS, "nl"])
#: pairs of Portuguese dev whose references differ only in blanks at the end
_BLANKS = {("dev", "pt"): 4}


@cache
def load(shared: Path, config: str, split: str) -> list[Any]:
    return cc_hf.load_examples("mt_geneval", config, split=split, data_dir=shared / "upstream")


def sides(row: Any) -> tuple[str, ...]:
    return row.correct_translation, *row.contrastive_translations


def pronouns(context: str) -> set[str]:
    return {gender for gender, pattern in _PRONOUNS.items() if pattern.search(context)}


def words(line: str) -> set[str]:
    """Split as upstream's program does: lower case, ASCII punctuation to blanks."""
    return set(line.lower().translate(_PUNCTUATION).split())


def test_every_file_and_split_has_the_recorded_size(shared: Path) -> None:
    sizes = read_json(shared / "gold/mt_geneval/sizes.json")
    assert len(sizes) == 34
    for row in sizes:
        subset, split, lang, n = row["subset"], row["split"], row["lang"], row["n"]
        folder, n_files = ("context", 3) if subset == "contextual" else ("sentences", 8)
        paths = [path.removeprefix("data/") for path, _, _ in FILES]
        files = [p for p in paths if p.startswith(folder) and f"-{split}.en_{lang}." in p]
        assert [len(lines(shared, path)) for path in files] == [n] * n_files
        examples = load(shared, f"{subset}_{lang}", split)
        if subset == "contextual":
            assert len(examples) == n
            continue
        assert len({e.extra["pair"] for e in examples}) == n == len(examples) / 2
        same = row["identical_raw"] + _BLANKS.get((split, lang), 0)
        kept = {e.id for e in load(shared, f"counterfactual_{lang}.translations", split)}
        texts = {e.id: (e.extra["reference"], e.extra["contrastive_reference"]) for e in examples}
        assert kept == {
            name for name, (reference, contrastive) in texts.items() if reference != contrastive
        }
        assert len(kept) == 2 * (n - same)


@cases(("hi", 84.7), ("it", 89.0), ("es", 89.2))
def test_share_of_gendered_references_is_printed(lang: str, percent: float, shared: Path) -> None:
    config = f"counterfactual_{lang}"
    n, n_kept = (len(load(shared, name, "dev")) for name in (config, f"{config}.translations"))
    assert round(100 * n_kept / n, 1) == percent


def test_sub_categories_agree_with_the_gold_and_the_context_pronouns(shared: Path) -> None:
    agreement: Counter[str] = Counter()
    gold = read_json(shared / "gold/mt_geneval/subcategory_blocks_inferred.json")
    for lang, blocks in gold["blocks"].items():
        examples = load(shared, f"contextual_{lang}", "test")
        block_of = {number: block for block in blocks for number in range(*block["rows"])}
        assert sorted(block_of) == list(range(len(examples)))
        for number, example in enumerate(examples):
            block, gender = block_of[number], example.extra["gender"]
            assert example.extra["profession_stereotype"] == block["profession_stereotype"]
            assert gender == {"M": "male", "F": "female"}[block["person_gender"]]
            actual = pronouns(example.extra["context"])
            agreement["agrees" if actual == {gender} else f"{len(actual)} genders"] += 1
    # as the card says: 969 undecided, and 46 that contradict
    assert agreement == {"agrees": 8839, "0 genders": 805, "2 genders": 164, "1 genders": 46}


@by_lang
@pytest.mark.parametrize("split", _SPLITS)
def test_counterfactual_lines_are_read_completely(shared: Path, lang: str, split: str) -> None:
    for gender, upstream_name in (("male", "masculine"), ("female", "feminine")):
        examples = [e for e in load(shared, f"counterfactual_{lang}", split) if e.gold == gender]
        folder = f"sentences/{split}"
        name = f"geneval-sentences-{upstream_name}-{split}.en_{lang}"
        extra = {
            f"{folder}/{name}.{lang}": "reference_raw",
            f"{folder}/annotated/{name}.en": "annotated_source",
            f"{folder}/annotated/{name}.{lang}": "annotated_reference",
        }
        assert [e.source for e in examples] == lines(shared, f"{folder}/{name}.en")
        for path, column in extra.items():
            assert [e.extra[column] for e in examples] == lines(shared, path), path
        for example in examples:
            reference, raw = example.extra["reference"], example.extra["reference_raw"]
            assert reference == unquoted(raw)
            assert words(reference) == words(raw)
            marked = rf"<[FM]>{re.escape(example.focus.text)}</[FM]>"
            assert re.search(marked, example.extra["annotated_source"])


@by_contextual_lang
@pytest.mark.parametrize("split", _SPLITS)
def test_contextual_lines_are_read_completely(shared: Path, lang: str, split: str) -> None:
    examples = load(shared, f"contextual_{lang}", split)
    parts = {
        f"2to1-{split}.en_{lang}.en": [e.extra["source_with_context"] for e in examples],
        f"original-{split}.en_{lang}.{lang}": [e.correct_translation for e in examples],
        f"flipped-{split}.en_{lang}.{lang}": [e.contrastive_translations[0] for e in examples],
    }
    for name, rows in parts.items():
        assert rows == lines(shared, f"context/geneval-context-wikiprofessions-{name}"), name
    for example in examples:
        both = example.extra["source_with_context"].split("<sep>")
        assert [part.strip() for part in both] == [example.extra["context"], example.source]
        assert tuple(map(unquoted, sides(example))) == sides(example)


@by_contextual_lang
@pytest.mark.parametrize("split", _SPLITS)
def test_persons_in_contexts_are_located_as_declared(shared: Path, lang: str, split: str) -> None:
    config = f"contextual_{lang}.sources"
    rows = {e.id: e for e in load(shared, f"contextual_{lang}", split)}
    examples = load(shared, config, split)
    assert len(examples) == DECLARATION.config(config).splits[split]
    for example in examples:
        row = rows[example.id]
        assert (example.source, example.extra["reference"]) == (row.source, row.correct_translation)
        assert pronouns(example.extra["context"]) != {"male", "female"} - {example.gold}
        assert example.gold == row.extra["gender"] or split == "dev"


@by_lang
@pytest.mark.parametrize("split", _SPLITS)
def test_pairs_with_a_gendered_source_go_into_english(shared: Path, lang: str, split: str) -> None:
    subset = f"counterfactual_{lang}"
    config = f"{subset}.into_english"
    originals = {e.id: e for e in load(shared, subset, split)}
    examples = load(shared, config, split)
    contrastive = load(shared, f"{config}.translations", split)
    assert len(examples) == len(contrastive) == DECLARATION.config(config).splits[split]
    assert [e.id for e in examples] == [e.id for e in load(shared, f"{subset}.translations", split)]
    for example, row in zip(examples, contrastive, strict=True):
        original = originals[example.id]
        names = ("reference", "contrastive_reference")
        references, english = ([e.extra[name] for name in names] for e in (original, example))
        assert [example.source, *example.incorrect_sources] == references
        assert [original.source, *original.incorrect_sources] == english == [*sides(row)]
        assert row.source == example.source
        # Every reference pair has a word of one side only, so that each row can be decided.
        assert words(english[0]) ^ words(english[1])


@by_lang
def test_the_paper_metrics_hold_for_translations_into_english(shared: Path, lang: str) -> None:
    examples = load(shared, f"counterfactual_{lang}.into_english", "test")
    pairs = [(e.extra["reference"], e.extra["contrastive_reference"]) for e in examples]
    male = [pair[e.gold != "male"] for e, pair in zip(examples, pairs, strict=True)]
    right, flipped = zip(*pairs, strict=True)

    def scores(metric: str, lines: Sequence[str]) -> Mapping[str, float]:
        rows = metric_class(metric).references(examples)
        return evaluate_metric(
            metric, list(lines), rows, src_lang=lang, tgt_lang="en", n_resamples=10
        ).scores

    metrics = ("gender_accuracy", "gender_quality_gap")
    accuracy, gap = ([scores(of, texts) for texts in (right, flipped, male)] for of in metrics)
    assert accuracy[0]["accuracy"] == accuracy[0]["pair_accuracy"] == 1
    # A reference without a word of its own, such as "He left." beside "She, he said, left.", is
    # right in the place of the other one.
    assert accuracy[1]["accuracy"] <= 1 / len(examples)
    assert accuracy[2]["accuracy_male"] == 1
    assert accuracy[2]["pair_accuracy"] <= 2 / len(examples)
    assert (gap[0]["bleu_gap"], gap[0]["bleu_male"], gap[2]["bleu_male"]) == (0, 1, 1)
    assert gap[2]["bleu_gap"] == pytest.approx(-gap[2]["bleu_female"] + 1)
    assert 0.178 < gap[2]["bleu_gap"] < 0.192  # as the ledger says


def test_upstream_defects_are_as_many_as_the_card_says(shared: Path) -> None:
    counts: Counter[str] = Counter()

    def count_targets(lang: str, *targets: str) -> None:
        not_nfc = [text for text in targets if unicodedata.normalize("NFC", text) != text]
        counts[f"not NFC {lang}"] += len(not_nfc)
        counts[f"targets {lang}"] += len(targets)

    for split, lang in product(_SPLITS, (*_LANGS, "nl")):
        for example in load(shared, f"contextual_{lang}", split):
            counts[f"empty context {split}"] += not example.extra["context"]
            count_targets(lang, *sides(example))
    for split, lang in product(_SPLITS, _LANGS):
        for example in load(shared, f"counterfactual_{lang}", split):
            raw, source, start = example.extra["reference_raw"], example.source, example.focus.start
            stripped, end = raw.strip(), start + len(example.focus.text)
            counts[f"quoted {split}"] += stripped.startswith('"') and unquoted(raw) != stripped
            counts["outer blanks"] += raw != stripped
            counts["quoted twice"] += '""' in example.extra["reference"]
            counts[f"tags {lang} {split}"] += bool(re.search("</?[FM]>", raw))
            counts["tags in English"] += bool(re.search("</?[FM]>", source))
            within = source[end : end + 1].isalpha() or source[:start][-1:].isalpha()
            counts["focus within a word"] += within
            count_targets(lang, raw)
    others = {f"targets {lang}" for lang in (*_LANGS, "nl")} - {"targets ar", "targets hi"}
    assert {name: n for name, n in counts.items() if n and name not in others} == {
        **{"empty context dev": 16, "empty context test": 60, "quoted dev": 296, "quoted test": 98},
        **{"outer blanks": 9, "quoted twice": 2, "tags ar dev": 7, "tags ar test": 1},
        **{"tags in English": 2, "focus within a word": 22, "not NFC ar": 227, "not NFC hi": 1744},
        **{"not NFC es": 2, "not NFC pt": 2, "targets ar": 6784, "targets hi": 5990},
    }


@cases(
    ("counterfactual", _LANGS, {"ar": 2, "ru": 2}, (2 * 297, 2 * 299)),
    ("contextual", (*_LANGS, "nl"), {}, (593, 864)),
)
def test_overlaps_of_splits_are_as_many_as_the_card_says(
    subset: str, langs: tuple[str, ...], own_dev: Any, elsewhere: Any, shared: Path
) -> None:
    dev, test = (
        {lang: [e.source for e in load(shared, f"{subset}_{lang}", split)] for lang in langs}
        for split in _SPLITS
    )
    overlaps = {lang: len({*test[lang]} & {*dev[lang]}) for lang in langs}
    assert {lang: n for lang, n in overlaps.items() if n} == own_dev
    others = {lang: set().union(*(dev[of] for of in langs if of != lang)) for lang in langs}
    n_elsewhere = [len({*test[lang]} & others[lang]) for lang in langs]
    assert (min(n_elsewhere), max(n_elsewhere)) == elsewhere
    if subset == "counterfactual":
        twice = {lang: len(dev[lang]) - len({*dev[lang]}) for lang in langs}
        assert twice == {**dict.fromkeys(langs, 2), "ar": 0, "ru": 0, "es": 4}
        assert {len({*test[lang]}) for lang in langs} == {600}


def test_probabilities_of_the_two_examples_of_a_pair_sum_to_one(shared: Path) -> None:
    examples = load(shared, "counterfactual_de", "test")
    options: dict[str, Any] = {"evaluator": hash_scores, "data_dir": shared / "upstream"}
    texts = ([e.extra[key] for e in examples] for key in ("reference", "contrastive_reference"))
    right, other = (evaluate_dataset("mt_geneval", translations=of, **options) for of in texts)
    start = "cc|data:mt_geneval/counterfactual_de@c77132c|cues:counterfactual|langs:en-de|"
    assert right.signature.startswith(start)
    assert {c.category: c.n for c in right.categories} == {"male": 300, "female": 300}
    by_id = {j.example_id: j.probability_correct for j in other.judgements}
    genders = {"male": "female", "female": "male"}
    for judgement in right.judgements:
        pair, _, gender = judgement.example_id.partition(".")
        opposite = known(by_id[f"{pair}.{genders[gender]}"])
        assert known(judgement.probability_correct) + opposite == pytest.approx(1)


_GENDERS = ("male", "female")
#: figure -> its name in the recording
_BLEU = {"bleu_male": "bleu_male", "bleu_female": "bleu_female", "bleu_gap": "delta_qual"}


def gold(shared: Path, name: str, **fields: str) -> list[dict[str, Any]]:
    """Return the recorded rows that have these values."""
    rows = read_json(shared / "gold/mt_geneval" / name)
    rows = rows["rows"] if isinstance(rows, dict) else rows
    return [row for row in rows if fields.items() <= row.items()]


def judged(shared: Path, config: str, metric: str, texts: list[str]) -> cc_hf.EvaluationResult:
    return evaluate_dataset(
        "mt_geneval", config, translations=texts, metric=metric, data_dir=shared / "upstream"
    )


@cache
def lines(shared: Path, path: str) -> list[str]:
    """Return the lines of an upstream file unchanged."""
    return text_lines(shared / "upstream" / REPOSITORY / "data" / path)


def contextual_lines(shared: Path, split: str, lang: str) -> list[list[str]]:
    folder, end = "context/geneval-context-wikiprofessions", f"{split}.en_{lang}.{lang}"
    return [lines(shared, f"{folder}-{part}-{end}") for part in ("original", "flipped")]


def counterfactual_lines(shared: Path, split: str, lang: str) -> list[list[str]]:
    folder, end = f"sentences/{split}/geneval-sentences", f"{split}.en_{lang}.{lang}"
    return [lines(shared, f"{folder}-{gender}-{end}") for gender in ("masculine", "feminine")]


def hypothesis(name: str, number: int, reference: str, contrastive: str, gender: str = "") -> str:
    """Return a made-up translation as the original program was run on it."""
    words, contrastive_words = reference.split(), contrastive.split()
    return {
        "always_masc": reference if gender == "male" else contrastive,
        "always_fem": reference if gender == "female" else contrastive,
        "orig": reference,
        "flip": contrastive,
        "mixed": contrastive if number % 2 else reference,
        "drop3": " ".join(word for index, word in enumerate(words) if index % 3 != 2),
        "flip_drop3": " ".join(
            word for index, word in enumerate(contrastive_words) if index % 3 != 2
        ),
        "halves": " ".join(
            words[: len(words) // 2] + contrastive_words[len(contrastive_words) // 2 :]
        ),
        "upper": reference.upper(),
        "empty": "",
        "both": f"{reference} {contrastive}",
    }[name]


def gendered_run(shared: Path, split: str, lang: str, name: str) -> tuple[list[str], list[str]]:
    """Return translations and the lines that are their references, in the order of the examples:
    the male row of a pair first.
    """
    translations, references = [], []
    for number, pair in enumerate(zip(*counterfactual_lines(shared, split, lang), strict=True)):
        for gender, (reference, contrastive) in zip(_GENDERS, (pair, pair[::-1]), strict=True):
            translations.append(hypothesis(name, number, reference, contrastive, gender))
            references.append(reference)
    return translations, references


@pytest.mark.parametrize("split", ["dev", "test"])
@cases(("contextual", 45), ("counterfactual", 55))
def test_gender_accuracy_is_that_of_run(subset: str, n_rows: int, shared: Path, split: str) -> None:
    """Compare counts, and the decision on every segment where it is recorded."""
    rows = gold(shared, "gold.json", subset=subset, split=split)
    assert len(rows) == n_rows
    decisions = read_jsonl(shared / "gold/mt_geneval/decisions.test.de-es-fr.jsonl.gz")
    kept = [row for row in decisions if split == "test" and row["subset"] == subset]
    recorded = {(row["lang"], row["hyp"]): row for row in kept}
    assert len(recorded) == (0 if split == "dev" else 27 if subset == "contextual" else 33)
    for lang in {row["lang"] for row in rows}:
        examples = load(shared, f"{subset}_{lang}", split)
        references = gender_accuracy.GenderAccuracy.references(examples)
        options: dict[str, Any] = {"tgt_lang": lang, "n_resamples": 1}
        # Invisible characters, which are ignored here, part words for the program.
        of_subset = contextual_lines if subset == "contextual" else counterfactual_lines
        pairs_of_lines = zip(*of_subset(shared, split, lang), strict=True)
        most = sum(any(map(has_invisible_characters, pair)) for pair in pairs_of_lines)
        assert most <= (7 if lang == "hi" else 2)
        for row in (row for row in rows if row["lang"] == lang):
            if subset == "contextual":
                pairs = zip(*contextual_lines(shared, split, lang), strict=True)
                texts = [hypothesis(row["hyp"], n, *pair) for n, pair in enumerate(pairs)]
            else:
                texts, _ = gendered_run(shared, split, lang, row["hyp"])
            actual = evaluate_metric("gender_accuracy", texts, references, **options)
            judgements = actual.judgements
            sides = {"decisions": judgements}
            if subset == "counterfactual":
                sides = {"masc": judgements[::2], "fem": judgements[1::2]}
            for side, judged in sides.items():
                verdicts = "".join(str(int(j.is_correct)) for j in judged)
                n_recorded = row.get(f"{side}_correct", row["correct"])
                assert abs(verdicts.count("1") - n_recorded) <= most, row
                expected = recorded.get((lang, row["hyp"]), {}).get(side, verdicts)
                differing = [a != b for a, b in zip(verdicts, expected, strict=True)]
                assert sum(differing) <= most, row
            both = [all(j.is_correct for j in pair) for pair in zip(*sides.values(), strict=True)]
            assert len(both) == row["n"], row
            assert abs(sum(both) - row["correct"]) <= most, row
            figure = "accuracy" if subset == "contextual" else "pair_accuracy"
            assert actual.scores[figure] == sum(both) / len(both), row
            assert actual.counts.get("n_pairs_correct", sum(both)) == sum(both), row


def test_german_accuracy_and_further_figures_are_as_recorded(shared: Path) -> None:
    originals, flipped = contextual_lines(shared, "test", "de")
    alternating = [flipped[n] if n % 2 else line for n, line in enumerate(originals)]
    run = partial(judged, shared, "contextual_de", "gender_accuracy")
    original, flip, mixed, empty = map(run, (originals, flipped, alternating, [""] * 1100))
    accuracies = [100 * actual.scores["accuracy"] for actual in (original, flip, mixed, empty)]
    assert [round(accuracy, 2) for accuracy in accuracies] == [100, 0.73, 50.45, 100]
    (sizes,) = gold(shared, "sizes.json", subset="contextual", split="test", lang="de")
    n_undecided = [actual.counts["n_undecided"] for actual in (original, flip, empty)]
    assert n_undecided == [sizes["no_unique_orig"], sizes["no_unique_flipped"], 1100]
    assert (original.scores["decided_accuracy"], flip.scores["decided_accuracy"]) == (1, 0)
    assert "decided_accuracy" not in empty.scores
    assert empty.counts["n_blank"] == 1100
    sizes = {"female_stereotyped": 150, "male_stereotyped": 150, "neutral": 250}
    expected = {f"{of}/{gender}": n for of, n in sizes.items() for gender in _GENDERS}
    assert {c.category: c.n for c in mixed.categories} == expected
    assert original.signature.startswith(
        "ga|data:mt_geneval/contextual_de@c77132c|langs:en-de|undecided:correct|norm:nfc-cf|n:1100|"
    )


@pytest.mark.parametrize("name", ["orig", "drop3", "always_masc"])
def test_quality_gaps_equal_the_recorded_ones(shared: Path, name: str) -> None:
    translations, references = gendered_run(shared, "test", "de", name)
    actual = judged(shared, "counterfactual_de", "gender_quality_gap", translations)
    (row,) = gold(shared, "gold_quality_gap.json", split="test", lang="de", hyp=name)
    # One reference has an invisible character, which the program reads.
    for key, expected in _BLEU.items():
        assert 100 * actual.scores[key] == pytest.approx(row[expected], abs=0.05)
    translations, references = ([*map(composed, texts)] for texts in (translations, references))
    for offset, gender in enumerate(_GENDERS):
        bleu = BLEU().corpus_score(translations[offset::2], [references[offset::2]]).score
        assert 100 * actual.scores[f"bleu_{gender}"] == pytest.approx(bleu, abs=1e-9)
        chrf = CHRF().corpus_score(translations[offset::2], [references[offset::2]]).score
        assert 100 * actual.scores[f"chrf_{gender}"] == pytest.approx(chrf, abs=1e-9)
    assert actual.signature.startswith(
        "gqg|data:mt_geneval/counterfactual_de@c77132c|langs:en-de|bleu:nrefs=1,case=mixed,eff=no,tok=13a,smooth=exp,version="
    )
    assert (actual.n, actual.counts["n_pairs"]) == (600, 300)


@pytest.mark.parametrize("split", ["test", "dev"])
@pytest.mark.parametrize("lang", ["ar", "de", "es", "fr", "hi", "it", "pt", "ru"])
def test_bleu_equals_that_of_every_recorded_run(shared: Path, lang: str, split: str) -> None:
    """Check all 112 runs with the functions of the core, each distinct segment once; the full
    metric would take minutes.
    """
    rows = gold(shared, "gold_quality_gap.json", lang=lang, split=split)
    assert len(rows) == 7
    scorer = BLEU(tokenize="13a")
    runs = {row["hyp"]: gendered_run(shared, split, lang, row["hyp"]) for row in rows}
    examples = load(shared, f"counterfactual_{lang}", split)
    read = gender_quality_gap.GenderQualityGap.references(examples)
    lines_read = [reference["reference"] for reference in read]
    assert all(references == lines_read for _, references in runs.values())
    segments = [*dict.fromkeys(pair for run in runs.values() for pair in zip(*run, strict=True))]
    figures = sentence_statistics(scorer, *map(list, zip(*segments, strict=True)))
    statistics = dict(zip(segments, figures, strict=True))
    for row in rows:
        per_row = np.array([statistics[segment] for segment in zip(*runs[row["hyp"]], strict=True)])
        sums = np.concatenate([per_row[0::2].sum(axis=0), per_row[1::2].sum(axis=0)])
        actual = gender_quality_gap._figures(scorer, "bleu", sums[None])
        for key, expected in _BLEU.items():
            assert 100 * actual[key][0] == pytest.approx(row[expected], abs=1e-9), row
