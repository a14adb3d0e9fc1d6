"""Gender accuracy and quality gap equal the recorded figures of the original program and of
sacreBLEU, see PROVENANCE.md.
"""

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import cc_hf
from cc_hf.data.readers.mt_geneval_files import REPOSITORY
from cc_hf.metrics import gender_accuracy, gender_quality_gap
from cc_hf.reading import text_lines
from cc_hf.statistics.corpus_quality import sentence_statistics
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json
from tests.helpers.lines import read_jsonl
from tests.helpers.metrics import evaluate_dataset, evaluate_metric

pytestmark = pytest.mark.shared

_GENDERS = ("male", "female")
#: figure -> its name in the recording
_BLEU = {"bleu_male": "bleu_male", "bleu_female": "bleu_female", "bleu_gap": "delta_qual"}


def gold(shared: Path, name: str, **fields: str) -> list[dict[str, Any]]:
    """Return the recorded rows that have these values."""
    rows = read_json(shared / "gold/mt_geneval" / name)
    rows = rows["rows"] if isinstance(rows, dict) else rows
    return [row for row in rows if fields.items() <= row.items()]


def load(shared: Path, config: str, split: str = "test") -> list[Any]:
    return cc_hf.load_examples("mt_geneval", config, split=split, data_dir=shared / "upstream")


def judged(shared: Path, config: str, metric: str, texts: list[str]) -> cc_hf.EvaluationResult:
    options: dict[str, Any] = {"metric": metric, "data_dir": shared / "upstream"}
    return evaluate_dataset("mt_geneval", config, translations=texts, **options)


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
    own, other = reference.split(), contrastive.split()
    return {
        "always_masc": reference if gender == "male" else contrastive,
        "always_fem": reference if gender == "female" else contrastive,
        "orig": reference,
        "flip": contrastive,
        "mixed": contrastive if number % 2 else reference,
        "drop3": " ".join(word for at, word in enumerate(own) if at % 3 != 2),
        "flip_drop3": " ".join(word for at, word in enumerate(other) if at % 3 != 2),
        "halves": " ".join(own[: len(own) // 2] + other[len(other) // 2 :]),
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
        for gender, (own, other) in zip(_GENDERS, (pair, pair[::-1]), strict=True):
            translations.append(hypothesis(name, number, own, other, gender))
            references.append(own)
    return translations, references


@pytest.mark.parametrize("split", ["dev", "test"])
@cases(("contextual", 45), ("counterfactual", 55))
def test_gender_accuracy_is_that_of_run(subset: str, n_rows: int, shared: Path, split: str) -> None:
    """Compare counts, and the decision on every segment where it is recorded."""
    rows = gold(shared, "gold.json", subset=subset, split=split)
    assert len(rows) == n_rows
    recorded = {
        (row["lang"], row["hyp"]): row
        for row in read_jsonl(shared / "gold/mt_geneval/decisions.test.de-es-fr.jsonl.gz")
        if split == "test" and row["subset"] == subset
    }
    assert len(recorded) == (0 if split == "dev" else 27 if subset == "contextual" else 33)
    for lang in {row["lang"] for row in rows}:
        examples = load(shared, f"{subset}_{lang}", split)
        references = gender_accuracy.GenderAccuracy.references(examples)
        options: dict[str, Any] = {"tgt_lang": lang, "n_resamples": 1}
        for row in (row for row in rows if row["lang"] == lang):
            if subset == "contextual":
                pairs = zip(*contextual_lines(shared, split, lang), strict=True)
                texts = [hypothesis(row["hyp"], n, *pair) for n, pair in enumerate(pairs)]
            else:
                texts, _ = gendered_run(shared, split, lang, row["hyp"])
            found = evaluate_metric("gender_accuracy", texts, references, **options)
            judgements = found.judgements
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
            figure = "accuracy" if subset == "contextual" else "pair_accuracy"
            assert found.scores[figure] == row["accuracy"], row
            assert found.counts.get("n_pairs_correct", sum(both)) == row["correct"], row


def test_german_accuracy_and_further_figures_are_as_recorded(shared: Path) -> None:
    originals, flipped = contextual_lines(shared, "test", "de")
    alternating = [flipped[n] if n % 2 else line for n, line in enumerate(originals)]
    run = partial(judged, shared, "contextual_de", "gender_accuracy")
    original, flip, mixed, empty = map(run, (originals, flipped, alternating, [""] * 1100))
    accuracies = [100 * found.scores["accuracy"] for found in (original, flip, mixed, empty)]
    assert [round(accuracy, 2) for accuracy in accuracies] == [100, 0.73, 50.45, 100]
    (sizes,) = gold(shared, "sizes.json", subset="contextual", split="test", lang="de")
    n_undecided = [found.counts["n_undecided"] for found in (original, flip, empty)]
    assert n_undecided == [sizes["no_unique_orig"], sizes["no_unique_flipped"], 1100]
    assert (original.scores["decided_accuracy"], flip.scores["decided_accuracy"]) == (1, 0)
    assert "decided_accuracy" not in empty.scores
    assert empty.counts["n_blank"] == 1100
    sizes = {"female_stereotyped": 150, "male_stereotyped": 150, "neutral": 250}
    assert {c.category: c.n for c in mixed.categories} == {
        f"{stereotype}/{gender}": n for stereotype, n in sizes.items() for gender in _GENDERS
    }
    assert original.signature.startswith(
        "ga|data:mt_geneval/contextual_de@c77132c|langs:en-de|undecided:correct|norm:nfc|n:1100|"
    )


@pytest.mark.parametrize("name", ["orig", "drop3", "always_masc"])
def test_quality_gaps_equal_the_recorded_ones(shared: Path, name: str) -> None:
    translations, references = gendered_run(shared, "test", "de", name)
    found = judged(shared, "counterfactual_de", "gender_quality_gap", translations)
    (row,) = gold(shared, "gold_quality_gap.json", split="test", lang="de", hyp=name)
    for key, expected in _BLEU.items():
        assert 100 * found.scores[key] == pytest.approx(row[expected], abs=1e-9)
    for at, gender in enumerate(_GENDERS):
        chrf = CHRF().corpus_score(translations[at::2], [references[at::2]]).score
        assert 100 * found.scores[f"chrf_{gender}"] == pytest.approx(chrf, abs=1e-9)
    assert found.signature.startswith(
        "gqg|data:mt_geneval/counterfactual_de@c77132c|langs:en-de|bleu:nrefs=1,case=mixed,eff=no,tok=13a,smooth=exp,version="
    )
    assert (found.n, found.counts["n_pairs"]) == (600, 300)


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
        found = gender_quality_gap._figures(scorer, "bleu", sums[None])
        for key, expected in _BLEU.items():
            assert 100 * found[key][0] == pytest.approx(row[expected], abs=1e-9), row
