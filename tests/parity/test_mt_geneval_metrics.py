"""Gender accuracy and quality gap equal the recorded figures of the original program and of
sacreBLEU, see PROVENANCE.md.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import cc_hf
from cc_hf.data.readers.mt_geneval_files import REPOSITORY
from cc_hf.metrics import gender_accuracy, gender_quality_gap
from cc_hf.statistics.corpus_quality import sentence_statistics
from tests.helpers.metrics import evaluate_dataset, evaluate_metric

pytestmark = pytest.mark.shared

_GENDERS = ("male", "female")
_UPSTREAM_NAMES = {"male": "masculine", "female": "feminine"}


def gold(shared: Path, name: str) -> Any:
    return json.loads((shared / "gold/mt_geneval" / name).read_text(encoding="utf-8"))


@cache
def lines(shared: Path, path: str) -> list[str]:
    """Return the lines of an upstream file unchanged."""
    return (
        (shared / "upstream" / REPOSITORY / "data" / path)
        .read_text(encoding="utf-8")
        .removesuffix("\n")
        .split("\n")
    )


def contextual_lines(shared: Path, split: str, lang: str) -> list[list[str]]:
    return [
        lines(shared, f"context/geneval-context-wikiprofessions-{part}-{split}.en_{lang}.{lang}")
        for part in ("original", "flipped")
    ]


def counterfactual_lines(shared: Path, split: str, lang: str) -> dict[str, list[str]]:
    return {
        gender: lines(
            shared,
            f"sentences/{split}/geneval-sentences-{_UPSTREAM_NAMES[gender]}-{split}.en_{lang}.{lang}",
        )
        for gender in _GENDERS
    }


def hypothesis(name: str, number: int, reference: str, contrastive: str, gender: str = "") -> str:
    """Return a made-up translation as the original program was run on it."""
    if name in ("always_masc", "always_fem"):
        return (
            reference
            if gender == {"always_masc": "male", "always_fem": "female"}[name]
            else contrastive
        )
    own, other = reference.split(), contrastive.split()
    made = {
        "orig": reference,
        "flip": contrastive,
        "mixed": contrastive if number % 2 else reference,
        "drop3": " ".join(word for at, word in enumerate(own) if at % 3 != 2),
        "flip_drop3": " ".join(word for at, word in enumerate(other) if at % 3 != 2),
        "halves": " ".join(own[: len(own) // 2] + other[len(other) // 2 :]),
        "upper": reference.upper(),
        "empty": "",
        "both": f"{reference} {contrastive}",
    }
    return made[name]


def counterfactual_run(
    shared: Path, split: str, lang: str, name: str
) -> tuple[list[str], list[str]]:
    """Return translations and the lines that are their references, in the order of the examples:
    the male row of a pair first.
    """
    sides = counterfactual_lines(shared, split, lang)
    translations, references = [], []
    for number, pair in enumerate(zip(sides["male"], sides["female"], strict=True)):
        for gender, (own, other) in zip(_GENDERS, (pair, pair[::-1]), strict=True):
            translations.append(hypothesis(name, number, own, other, gender))
            references.append(own)
    return translations, references


@pytest.mark.parametrize("split", ["dev", "test"])
@pytest.mark.parametrize(("subset", "n_rows"), [("contextual", 45), ("counterfactual", 55)])
def test_gender_accuracy_equals_every_run_of_the_original_program(
    shared: Path, subset: str, n_rows: int, split: str
) -> None:
    """Compare counts, and the decision on every segment where it is recorded."""
    rows = [r for r in gold(shared, "gold.json") if (r["subset"], r["split"]) == (subset, split)]
    assert len(rows) == n_rows
    path = shared / "gold/mt_geneval/decisions.test.de-es-fr.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        recorded = {
            (row["lang"], row["hyp"]): row
            for row in map(json.loads, file)
            if split == "test" and row["subset"] == subset
        }
    assert len(recorded) == (0 if split == "dev" else 27 if subset == "contextual" else 33)
    for lang in {row["lang"] for row in rows}:
        examples = cc_hf.load_examples(
            "mt_geneval", f"{subset}_{lang}", split=split, data_dir=shared / "upstream"
        )
        references = gender_accuracy.GenderAccuracy.references(examples)
        for row in (row for row in rows if row["lang"] == lang):
            if subset == "contextual":
                pairs = zip(*contextual_lines(shared, split, lang), strict=True)
                translations = [hypothesis(row["hyp"], n, *pair) for n, pair in enumerate(pairs)]
            else:
                translations, _ = counterfactual_run(shared, split, lang, row["hyp"])
            judgements = gender_accuracy.judge(translations, references)
            sides = {"decisions": judgements}
            if subset == "counterfactual":
                sides = {"masc": judgements[::2], "fem": judgements[1::2]}
            for side, judged in sides.items():
                verdicts = "".join(str(int(j.is_correct)) for j in judged)
                assert verdicts.count("1") == row.get(f"{side}_correct", row["correct"]), row
                assert verdicts == recorded.get((lang, row["hyp"]), {}).get(side, verdicts), row
            both = [all(j.is_correct for j in pair) for pair in zip(*sides.values(), strict=True)]
            assert (len(both), sum(both)) == (row["n"], row["correct"]), row
            assert sum(both) / len(both) == row["accuracy"], row
            found = evaluate_metric(
                "gender_accuracy", translations, references, tgt_lang=lang, n_resamples=1
            )
            figure = "accuracy" if subset == "contextual" else "pair_accuracy"
            assert found.scores[figure] == row["accuracy"], row
            assert found.counts.get("n_pairs_correct", sum(both)) == row["correct"], row


def test_german_accuracy_and_further_figures_are_as_recorded(shared: Path) -> None:
    examples = cc_hf.load_examples("mt_geneval", "contextual_de", data_dir=shared / "upstream")
    originals, flipped = contextual_lines(shared, "test", "de")

    def run(translations: list[str]) -> cc_hf.EvaluationResult:
        return evaluate_dataset(
            "mt_geneval",
            "contextual_de",
            translations=translations,
            metric="gender_accuracy",
            data_dir=shared / "upstream",
        )

    original, flip, mixed, empty = (
        run(originals),
        run(flipped),
        run([flipped[n] if n % 2 else line for n, line in enumerate(originals)]),
        run([""] * len(examples)),
    )
    assert [
        round(100 * found.scores["accuracy"], 2) for found in (original, flip, mixed, empty)
    ] == [100, 0.73, 50.45, 100]
    sizes = next(
        r
        for r in gold(shared, "sizes.json")
        if (r["subset"], r["split"], r["lang"]) == ("contextual", "test", "de")
    )
    assert [found.counts["n_undecided"] for found in (original, flip, empty)] == [
        sizes["no_unique_orig"],
        sizes["no_unique_flipped"],
        1100,
    ]
    assert (original.scores["decided_accuracy"], flip.scores["decided_accuracy"]) == (1, 0)
    assert "decided_accuracy" not in empty.scores
    assert empty.counts["n_blank"] == 1100
    assert {c.category: c.n for c in mixed.categories} == {
        "female_stereotyped/female": 150,
        "female_stereotyped/male": 150,
        "male_stereotyped/female": 150,
        "male_stereotyped/male": 150,
        "neutral/female": 250,
        "neutral/male": 250,
    }
    assert original.signature.startswith(
        "ga|data:mt_geneval/contextual_de@c77132c|langs:en-de|undecided:correct|norm:nfc|n:1100|"
    )


@pytest.mark.parametrize("name", ["orig", "drop3", "always_masc"])
def test_quality_gaps_equal_the_recorded_ones(shared: Path, name: str) -> None:
    examples = cc_hf.load_examples("mt_geneval", "counterfactual_de", data_dir=shared / "upstream")
    translations, references = counterfactual_run(shared, "test", "de", name)
    found = evaluate_dataset(
        "mt_geneval",
        "counterfactual_de",
        translations=translations,
        metric="gender_quality_gap",
        data_dir=shared / "upstream",
    )
    row = next(
        r
        for r in gold(shared, "gold_quality_gap.json")["rows"]
        if (r["split"], r["lang"], r["hyp"]) == ("test", "de", name)
    )
    for key, expected in (
        ("bleu_male", "bleu_male"),
        ("bleu_female", "bleu_female"),
        ("bleu_gap", "delta_qual"),
    ):
        assert 100 * found.scores[key] == pytest.approx(row[expected], abs=1e-9)
    for at, gender in enumerate(_GENDERS):
        assert 100 * found.scores[f"chrf_{gender}"] == pytest.approx(
            CHRF().corpus_score(translations[at::2], [references[at::2]]).score, abs=1e-9
        )
    assert found.signature.startswith(
        "gqg|data:mt_geneval/counterfactual_de@c77132c|langs:en-de|bleu:nrefs=1,case=mixed,eff=no,tok=13a,smooth=exp,version="
    )
    assert (found.n, found.counts["n_pairs"], len(examples)) == (600, 300, 600)


@pytest.mark.parametrize("lang", ["ar", "de", "es", "fr", "hi", "it", "pt", "ru"])
def test_bleu_equals_that_of_every_recorded_run(shared: Path, lang: str) -> None:
    """Check all 112 runs with the functions of the core, each distinct segment once; the full
    metric would take minutes.
    """
    rows = [row for row in gold(shared, "gold_quality_gap.json")["rows"] if row["lang"] == lang]
    assert len(rows) == 14
    scorer = BLEU(tokenize="13a")
    for split in ("test", "dev"):
        runs = {
            row["hyp"]: counterfactual_run(shared, split, lang, row["hyp"])
            for row in rows
            if row["split"] == split
        }
        examples = cc_hf.load_examples(
            "mt_geneval", f"counterfactual_{lang}", split=split, data_dir=shared / "upstream"
        )
        lines_read = [
            reference["reference"]
            for reference in gender_quality_gap.GenderQualityGap.references(examples)
        ]
        assert all(references == lines_read for _, references in runs.values())
        segments = list(
            dict.fromkeys((t, r) for run in runs.values() for t, r in zip(*run, strict=True))
        )
        statistics = dict(
            zip(
                segments,
                sentence_statistics(scorer, *map(list, zip(*segments, strict=True))),
                strict=True,
            )
        )
        for row in (row for row in rows if row["split"] == split):
            per_row = np.array(
                [statistics[segment] for segment in zip(*runs[row["hyp"]], strict=True)]
            )
            found = gender_quality_gap._figures(
                scorer,
                "bleu",
                np.concatenate([per_row[0::2].sum(axis=0), per_row[1::2].sum(axis=0)])[None],
            )
            for key, expected in (
                ("bleu_male", "bleu_male"),
                ("bleu_female", "bleu_female"),
                ("bleu_gap", "delta_qual"),
            ):
                assert 100 * found[key][0] == pytest.approx(row[expected], abs=1e-9), row
