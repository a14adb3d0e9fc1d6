"""MT-GenEval as read here agrees with upstream's files and with the counts of upstream's accuracy
program, see PROVENANCE.md.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.data.files.translations import read_translations
from cc_hf.data.readers.mt_geneval import DECLARATION, unquoted
from cc_hf.data.readers.mt_geneval_files import FILES, REPOSITORY
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import evaluate_dataset, evaluate_metric, metric_class

pytestmark = pytest.mark.shared

_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))
_PRONOUNS = {
    "male": re.compile(r"\b(he|him|his|himself)\b", re.I),
    "female": re.compile(r"\b(she|her|hers|herself)\b", re.I),
}
_LANGS = ("ar", "de", "es", "fr", "hi", "it", "pt", "ru")
_SPLITS = ("dev", "test")
#: pairs of Portuguese dev whose references differ only in blanks at the end
_BLANKS = {("dev", "pt"): 4}


def gold(shared: Path, name: str) -> Any:
    return json.loads((shared / "gold/mt_geneval" / name).read_text(encoding="utf-8"))


@cache
def load(shared: Path, config: str, split: str) -> list[Any]:
    return cc_hf.load_examples("mt_geneval", config, split=split, data_dir=shared / "upstream")


def upstream(shared: Path, path: str) -> list[str]:
    return (
        (shared / "upstream" / REPOSITORY / path)
        .read_text(encoding="utf-8")
        .removesuffix("\n")
        .split("\n")
    )


def words(line: str) -> set[str]:
    """Split as upstream's program does: lower case, ASCII punctuation to blanks."""
    return set(line.lower().translate(_PUNCTUATION).split())


def test_every_file_and_split_has_the_recorded_size(shared: Path) -> None:
    sizes = gold(shared, "sizes.json")
    assert len(sizes) == 34
    for row in sizes:
        subset, split, lang, n = row["subset"], row["split"], row["lang"], row["n"]
        folder = "context" if subset == "contextual" else "sentences"
        files = [
            path
            for path, _, _ in FILES
            if path.startswith(f"data/{folder}/") and f"-{split}.en_{lang}." in path
        ]
        assert [len(upstream(shared, path)) for path in files] == [n] * (
            3 if subset == "contextual" else 8
        )
        examples = load(shared, f"{subset}_{lang}", split)
        if subset == "contextual":
            assert len(examples) == n
            continue
        assert len({e.extra["pair"] for e in examples}) == n == len(examples) / 2
        same = row["identical_raw"] + _BLANKS.get((split, lang), 0)
        kept = {e.id for e in load(shared, f"counterfactual_{lang}.translations", split)}
        assert kept == {
            e.id for e in examples if e.extra["reference"] != e.extra["contrastive_reference"]
        }
        assert len(kept) == 2 * (n - same)


@pytest.mark.parametrize(("lang", "percent"), [("hi", 84.7), ("it", 89.0), ("es", 89.2)])
def test_share_of_gendered_dev_references_is_that_of_section_2_1(
    shared: Path, lang: str, percent: float
) -> None:
    n = len(load(shared, f"counterfactual_{lang}", "dev"))
    assert (
        round(100 * len(load(shared, f"counterfactual_{lang}.translations", "dev")) / n, 1)
        == percent
    )


def test_sub_categories_agree_with_the_gold_and_the_context_pronouns(shared: Path) -> None:
    agreement: Counter[str] = Counter()
    for lang, blocks in gold(shared, "subcategory_blocks_inferred.json")["blocks"].items():
        examples = load(shared, f"contextual_{lang}", "test")
        block_of = {number: block for block in blocks for number in range(*block["rows"])}
        assert sorted(block_of) == list(range(len(examples)))
        for number, example in enumerate(examples):
            assert (
                example.extra["profession_stereotype"] == block_of[number]["profession_stereotype"]
            )
            assert (
                example.extra["gender"]
                == {"M": "male", "F": "female"}[block_of[number]["person_gender"]]
            )
            found = {
                gender
                for gender, pattern in _PRONOUNS.items()
                if pattern.search(example.extra["context"])
            }
            agreement[
                (
                    "undecided"
                    if len(found) != 1
                    else "agrees"
                    if found == {example.extra["gender"]}
                    else "contradicts"
                )
            ] += 1
    assert agreement == {"agrees": 8839, "undecided": 969, "contradicts": 46}  # as the card says


@pytest.mark.parametrize("lang", _LANGS)
def test_counterfactual_lines_are_read_completely(shared: Path, lang: str) -> None:
    for split in _SPLITS:
        for gender, upstream_name in (("male", "masculine"), ("female", "feminine")):
            examples = [
                e for e in load(shared, f"counterfactual_{lang}", split) if e.gold == gender
            ]
            name = f"geneval-sentences-{upstream_name}-{split}.en_{lang}"
            columns = {
                f"data/sentences/{split}/{name}.en": [e.source for e in examples],
                f"data/sentences/{split}/{name}.{lang}": [
                    e.extra["reference_raw"] for e in examples
                ],
                f"data/sentences/{split}/annotated/{name}.en": [
                    e.extra["annotated_source"] for e in examples
                ],
                f"data/sentences/{split}/annotated/{name}.{lang}": [
                    e.extra["annotated_reference"] for e in examples
                ],
            }
            for path, lines in columns.items():
                assert lines == upstream(shared, path), path
            for example in examples:
                assert example.extra["reference"] == unquoted(example.extra["reference_raw"])
                assert words(example.extra["reference"]) == words(example.extra["reference_raw"])
                assert re.search(
                    rf"<[FM]>{re.escape(example.focus.text)}</[FM]>",
                    example.extra["annotated_source"],
                )


@pytest.mark.parametrize("lang", [*_LANGS, "nl"])
def test_contextual_lines_are_read_completely(shared: Path, lang: str) -> None:
    for split in _SPLITS:
        examples = load(shared, f"contextual_{lang}", split)
        parts = {
            f"2to1-{split}.en_{lang}.en": [e.extra["source_with_context"] for e in examples],
            f"original-{split}.en_{lang}.{lang}": [e.correct_translation for e in examples],
            f"flipped-{split}.en_{lang}.{lang}": [e.contrastive_translations[0] for e in examples],
        }
        for name, lines in parts.items():
            assert lines == upstream(
                shared, f"data/context/geneval-context-wikiprofessions-{name}"
            ), name
        for example in examples:
            assert [
                part.strip() for part in example.extra["source_with_context"].split("<sep>")
            ] == [example.extra["context"], example.source]
            assert [
                unquoted(t)
                for t in (example.correct_translation, *example.contrastive_translations)
            ] == [example.correct_translation, *example.contrastive_translations]


@pytest.mark.parametrize("lang", [*_LANGS, "nl"])
def test_persons_of_contextual_rows_are_located_as_often_as_declared(
    shared: Path, lang: str
) -> None:
    config = f"contextual_{lang}.sources"
    for split in _SPLITS:
        rows = {e.id: e for e in load(shared, f"contextual_{lang}", split)}
        examples = load(shared, config, split)
        assert len(examples) == DECLARATION.config(config).splits[split]
        for example in examples:
            row = rows[example.id]
            assert (example.source, example.extra["reference"]) == (
                row.source,
                row.correct_translation,
            )
            pronouns = {g for g, p in _PRONOUNS.items() if p.search(example.extra["context"])}
            assert pronouns != {"male", "female"} - {example.gold}
            assert example.gold == row.extra["gender"] or split == "dev"


@pytest.mark.parametrize("lang", _LANGS)
def test_all_pairs_whose_source_tells_the_gender_are_translated_into_english(
    shared: Path, lang: str
) -> None:
    config = f"counterfactual_{lang}.into_english"
    for split in _SPLITS:
        originals = {e.id: e for e in load(shared, f"counterfactual_{lang}", split)}
        examples = load(shared, config, split)
        contrastive = load(shared, f"{config}.translations", split)
        assert len(examples) == len(contrastive) == DECLARATION.config(config).splits[split]
        assert [e.id for e in examples] == [
            e.id for e in load(shared, f"counterfactual_{lang}.translations", split)
        ]
        for example, row in zip(examples, contrastive, strict=True):
            original = originals[example.id]
            assert (example.source, *example.incorrect_sources) == (
                original.extra["reference"],
                original.extra["contrastive_reference"],
            )
            assert (example.extra["reference"], example.extra["contrastive_reference"]) == (
                original.source,
                *original.incorrect_sources,
            )
            assert (row.source, row.correct_translation, *row.contrastive_translations) == (
                example.source,
                original.source,
                *original.incorrect_sources,
            )
            # Every reference pair has a word of one side only, so that each row can be decided.
            assert words(original.source) ^ words(original.incorrect_sources[0])


@pytest.mark.parametrize("lang", _LANGS)
def test_the_paper_metrics_hold_for_translations_into_english(shared: Path, lang: str) -> None:
    config = f"counterfactual_{lang}.into_english"
    examples = load(shared, config, "test")
    texts = {
        "right": [e.extra["reference"] for e in examples],
        "flipped": [e.extra["contrastive_reference"] for e in examples],
        "male": [
            e.extra["reference" if e.gold == "male" else "contrastive_reference"] for e in examples
        ],
    }
    accuracy, gap = (
        {
            name: evaluate_metric(
                metric,
                lines,
                metric_class(metric).references(examples),
                src_lang=lang,
                tgt_lang="en",
                n_resamples=10,
            ).scores
            for name, lines in texts.items()
        }
        for metric in ("gender_accuracy", "gender_quality_gap")
    )
    assert accuracy["right"]["accuracy"] == accuracy["right"]["pair_accuracy"] == 1
    # A reference without a word of its own, such as "He left." beside "She, he said, left.", is
    # right in the place of the other one.
    assert accuracy["flipped"]["accuracy"] <= 1 / len(examples)
    assert accuracy["male"]["accuracy_male"] == 1
    assert accuracy["male"]["pair_accuracy"] <= 2 / len(examples)
    assert (gap["right"]["bleu_gap"], gap["right"]["bleu_male"]) == (0, 1)
    assert gap["male"]["bleu_male"] == 1
    assert gap["male"]["bleu_gap"] == pytest.approx(-gap["male"]["bleu_female"] + 1)
    assert 0.178 < gap["male"]["bleu_gap"] < 0.192  # as the ledger says


def test_upstream_defects_are_as_many_as_the_card_says(shared: Path) -> None:
    counts: Counter[str] = Counter()
    for config in DECLARATION.configs:
        lang = config.tgt_langs[0]
        if config.name.endswith((".translations", ".sources", ".into_english")):
            continue
        for split in _SPLITS:
            for example in load(shared, config.name, split):
                if config.name.startswith("contextual"):
                    counts[f"empty context {split}"] += not example.extra["context"]
                    targets = (example.correct_translation, *example.contrastive_translations)
                else:
                    raw = example.extra["reference_raw"]
                    counts[f"quoted {split}"] += (
                        raw.strip().startswith('"') and unquoted(raw) != raw.strip()
                    )
                    counts["outer blanks"] += raw != raw.strip()
                    counts["quoted twice"] += '""' in example.extra["reference"]
                    counts[f"tags {lang} {split}"] += bool(re.search("</?[FM]>", raw))
                    counts["tags in English"] += bool(re.search("</?[FM]>", example.source))
                    end = example.focus.start + len(example.focus.text)
                    counts["focus within a word"] += (
                        example.source[end : end + 1].isalpha()
                        or example.source[: example.focus.start][-1:].isalpha()
                    )
                    targets = (raw,)
                counts[f"not NFC {lang}"] += sum(
                    unicodedata.normalize("NFC", text) != text for text in targets
                )
                counts[f"targets {lang}"] += len(targets)
    expected = {
        "empty context dev": 16,
        "empty context test": 60,
        "quoted dev": 296,
        "quoted test": 98,
        "outer blanks": 9,
        "quoted twice": 2,
        "tags ar dev": 7,
        "tags ar test": 1,
        "tags in English": 2,
        "focus within a word": 22,
        "not NFC ar": 227,
        "not NFC hi": 1744,
        "not NFC es": 2,
        "not NFC pt": 2,
        "targets ar": 6784,
        "targets hi": 5990,
    }
    named = {
        name: n
        for name, n in counts.items()
        if n and not (name.startswith("targets") and name not in expected)
    }
    assert named == expected


def test_overlaps_of_splits_are_as_many_as_the_card_says(shared: Path) -> None:
    def sentences(subset: str, langs: tuple[str, ...]) -> dict[tuple[str, str], list[str]]:
        return {
            (lang, split): [e.source for e in load(shared, f"{subset}_{lang}", split)]
            for lang in langs
            for split in _SPLITS
        }

    for subset, langs, own_dev, low, high in (
        ("counterfactual", _LANGS, {"ar": 2, "ru": 2}, 2 * 297, 2 * 299),
        ("contextual", (*_LANGS, "nl"), {}, 593, 864),
    ):
        found = sentences(subset, langs)
        assert {
            lang: n
            for lang in langs
            if (n := len(set(found[lang, "test"]) & set(found[lang, "dev"])))
        } == own_dev
        elsewhere = [
            len(
                set(found[lang, "test"])
                & {s for other in langs if other != lang for s in found[other, "dev"]}
            )
            for lang in langs
        ]
        assert (min(elsewhere), max(elsewhere)) == (low, high)
        if subset == "counterfactual":
            twice = {
                lang: n
                for lang in langs
                if (n := len(found[lang, "dev"]) - len(set(found[lang, "dev"])))
            }
            assert twice == {"de": 2, "es": 4, "fr": 2, "hi": 2, "it": 2, "pt": 2}
            assert all(len(set(found[lang, "test"])) == 600 for lang in langs)


def test_translations_are_matched_by_order_source_or_id(shared: Path, tmp_path: Path) -> None:
    examples = load(shared, "counterfactual_de", "test")
    expected = tuple(e.extra["reference"] for e in examples)
    files = {
        "order.txt": expected,
        "source.txt": [f"{e.source} ||| {e.extra['reference']}" for e in reversed(examples)],
        "id.jsonl": [
            json.dumps({"id": e.id, "translation": e.extra["reference"]})
            for e in reversed(examples)
        ],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        assert read_translations(tmp_path / name, examples).translations == expected, name


def test_probabilities_of_the_two_examples_of_a_pair_sum_to_one(shared: Path) -> None:
    examples = load(shared, "counterfactual_de", "test")
    results = [
        evaluate_dataset(
            "mt_geneval",
            translations=[e.extra[key] for e in examples],
            evaluator=hash_scores,
            data_dir=shared / "upstream",
        )
        for key in ("reference", "contrastive_reference")
    ]
    assert results[0].signature.startswith(
        "cc|data:mt_geneval/counterfactual_de@c77132c|cues:counterfactual|langs:en-de|"
    )
    assert {c.category: c.n for c in results[0].categories} == {"male": 300, "female": 300}
    by_id = {j.example_id: j.probability_correct for j in results[1].judgements}
    for judgement in results[0].judgements:
        pair, _, gender = judgement.example_id.partition(".")
        other = by_id[f"{pair}.{'female' if gender == 'male' else 'male'}"]
        assert judgement.probability_correct is not None
        assert other is not None
        assert judgement.probability_correct + other == pytest.approx(1)
