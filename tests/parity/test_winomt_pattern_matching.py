"""Parity with mt_gender (Stanovsky et al. 2019) and fast_align on WinoMT, see PROVENANCE.md."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.text.alignment import FastAlign, space_tokens, to_pharaoh
from tests.helpers.metrics import evaluate_dataset

pytestmark = pytest.mark.shared

SYSTEMS = [("aws", "de"), ("google", "de"), ("google", "ru")]


def translations(shared: Path, system: str, lang: str) -> Path:
    return shared / f"upstream/gabrielStanovsky/mt_gender/translations/{system}/en-{lang}.txt"


def read_gz(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


@cache
def run(
    shared: Path, system: str, lang: str, config: str = "acl2019", **options: str
) -> cc_hf.EvaluationResult:
    path = translations(shared, system, lang)
    return evaluate_dataset(
        "winomt",
        config,
        translations=path,
        tgt_lang=lang,
        metric="winomt_pattern_matching",
        options=options,
        data_dir=shared / "upstream",
    )


@pytest.mark.parametrize(("system", "lang"), SYSTEMS)
def test_every_alignment_line_equals_fast_align(shared: Path, system: str, lang: str) -> None:
    recorded = read_gz(
        shared / f"gold/winomt_pattern_matching/alignments/{system}.en-{lang}.fast_align.gz"
    )
    pairs = [
        line.split(" ||| ")
        for line in translations(shared, system, lang).read_text(encoding="utf-8").splitlines()
    ]
    found = FastAlign().align(
        [source for source, _ in pairs], [translation for _, translation in pairs]
    )
    assert len(recorded) == 3888
    assert [to_pharaoh(alignment) for alignment in found] == recorded


@pytest.mark.parametrize(("system", "lang"), SYSTEMS)
def test_every_prediction_equals_that_of_the_original_program(
    shared: Path, system: str, lang: str
) -> None:
    steps: list[dict[str, Any]] = [
        json.loads(line)
        for line in read_gz(
            shared / f"gold/winomt_pattern_matching/steps/{system}.en-{lang}.jsonl.gz"
        )
    ]
    examples = cc_hf.load_examples("winomt", "acl2019", data_dir=shared / "upstream")
    result = run(shared, system, lang)
    assert len(steps) == len(result.judgements) == 3888
    for step, example, judgement in zip(steps, examples, result.judgements, strict=True):
        assert (example.source, example.gold, example.extra["occupation"]) == (
            step["sentence"],
            step["gold"],
            step["entity"],
        )
        assert len(space_tokens(example.source[: example.focus.start])) == step["src_index"]
        assert (judgement.translation, judgement.predicted, judgement.gold) == (
            step["translation"],
            step["pred"],
            step["gold"],
        )


@pytest.mark.parametrize(("system", "lang"), SYSTEMS)
def test_printed_figures_equal_those_of_the_original_program(
    shared: Path, system: str, lang: str
) -> None:
    gold = json.loads(
        (shared / "gold/winomt_pattern_matching/expected.json").read_text(encoding="utf-8")
    )[f"{system}/{lang}"]
    result = run(shared, system, lang, figures="printed")
    printed = gold["all"]["printed"]
    expected = {
        "accuracy": gold["acc"],
        "delta_g": gold["delta_g"],
        "delta_s": gold["delta_s"],
        "f1_male": printed["f1_male"],
        "f1_female": printed["f1_female"],
    }
    expected |= {
        "accuracy_pro": gold["pro"]["printed"]["acc"],
        "accuracy_anti": gold["anti"]["printed"]["acc"],
    }
    assert {name: round(100 * result.scores[name], 1) for name in expected} == expected
    published = {
        ("aws", "de"): (62.4, 12.0, 16.7),
        ("google", "de"): (59.4, 12.5, 12.5),
        ("google", "ru"): (37.7, 36.8, 11.4),
    }
    assert (expected["accuracy"], expected["delta_g"], expected["delta_s"]) == published[
        system, lang
    ]


@pytest.mark.parametrize(
    ("system", "lang", "expected"),
    [
        ("bing", "de", (74.1, 0.0, 9.0)),
        ("systran", "de", (48.6, 34.5, 10.1)),
        ("sota", "de", (52.5, -7.3, -8.4)),  # with "@-@" for a hyphen in 86 lines
        *(
            (system, lang, figures)
            for system, of_lang in {
                "aws": {"ar": (48.2, 37.9, 18.9), "he": (48.0, 13.7, 45.7)},
                "bing": {"ar": (45.0, 47.1, 14.2), "he": (44.0, 21.9, 29.7)},
                "google": {"ar": (45.9, 42.5, 16.2), "he": (50.8, 11.5, 35.6)},
                "systran": {"ar": (45.6, 49.2, -4.1)},  # with 69 no-break spaces
            }.items()
            for lang, figures in of_lang.items()
        ),
    ],
)
def test_printed_figures_equal_those_with_the_tokens_of_spacy(
    shared: Path, system: str, lang: str, expected: tuple[float, ...]
) -> None:
    """Recorded from the program's rules with the tokenizers of spaCy 3.8, which it uses."""
    result = run(shared, system, lang, figures="printed")
    names = ("accuracy", "delta_g", "delta_s")
    assert tuple(round(100 * result.scores[name], 1) for name in names) == expected


@pytest.mark.parametrize(("system", "lang"), SYSTEMS)
def test_exact_figures_and_counts_equal_the_recorded_ones(
    shared: Path, system: str, lang: str
) -> None:
    gold = json.loads(
        (shared / "gold/winomt_pattern_matching/expected.json").read_text(encoding="utf-8")
    )[f"{system}/{lang}"]["all"]
    result = run(shared, system, lang)
    for gender in ("male", "female", "neutral"):
        for name, value in gold[gender].items():
            assert result.scores[f"{name}_{gender}"] == pytest.approx(value, abs=1e-12)
        row = gold["confusion_gold_to_pred"][gender]
        for predicted in ("male", "female", "neutral"):
            assert result.counts[f"n_{gender}_as_{predicted}"] == row.get(predicted, 0)
        assert (
            result.counts[f"n_unknown_{gender}"]
            == row.get("unknown", 0)
            == gold["printed"][f"unk_{gender}"]
        )


@pytest.mark.parametrize(
    ("system", "lang", "n", "n_agree"), [("aws", "de", 400, 345), ("google", "ru", 436, 329)]
)
@pytest.mark.parametrize("config", ["acl2019", "all", "default"])
def test_agreement_with_human_annotators_is_as_published(
    shared: Path, config: str, system: str, lang: str, n: int, n_agree: int
) -> None:
    """A neutral or unknown gender counts as the gold one."""
    text = (shared / f"gold/human_validation/winomt_annotations.en-{lang}.jsonl").read_text(
        encoding="utf-8"
    )
    judgements = {j.example_id: j for j in run(shared, system, lang, config).judgements}
    pairs = []
    for row in map(json.loads, text.splitlines()):
        if row["in_both"]:
            judgement = judgements[str(row["index"])]
            assert judgement.translation == row["translation"]
            read = (
                judgement.predicted if judgement.predicted in ("male", "female") else judgement.gold
            )
            pairs += [(read, row["binarized_annotator1"]), (read, row["binarized_annotator2"])]
    assert (len(pairs), sum(read == label for read, label in pairs)) == (n, n_agree)


@pytest.mark.parametrize(
    ("system", "lang", "n_changed"), [("aws", "de", 2), ("google", "de", 4), ("google", "ru", 25)]
)
def test_omitting_neutral_rows_changes_as_few_predictions_as_the_card_says(
    shared: Path, system: str, lang: str, n_changed: int
) -> None:
    """The card states how many."""
    whole = {j.example_id: j.predicted for j in run(shared, system, lang, "all").judgements}
    part = run(shared, system, lang, "default").judgements
    assert len(part) == 3648
    assert sum(whole[j.example_id] != j.predicted for j in part) == n_changed


def test_figures_of_the_page_on_interpretation_are_reproduced(shared: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/interpretation.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    delta, smaller = (
        100 * run(shared, "google", "de", config).scores["delta_g"] for config in ("all", "default")
    )
    assert f"google en-de has {delta:.1f} on all rows" in text
    assert f"and {smaller:.1f} without the neutral rows" in text
    counts = run(shared, "aws", "de", "all").counts
    male, female, neutral = (
        f"{100 * counts[f'n_neutral_as_{gender}'] / 240:.1f} %"
        for gender in ("male", "female", "neutral")
    )
    assert f"of aws en-de, {male} as male, {female} as female and {neutral} as neutral" in text


def test_recorded_alignments_can_replace_the_aligner(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.txt"
    path.write_text(
        "\n".join(
            read_gz(shared / "gold/winomt_pattern_matching/alignments/aws.en-de.fast_align.gz")
        )
        + "\n",
        encoding="utf-8",
    )
    own = run(shared, "aws", "de", alignments=str(path))
    assert own.judgements == run(shared, "aws", "de").judgements
    assert "|align:given." in own.signature


def test_configurations_all_and_acl2019_differ_in_two_stereotypes(shared: Path) -> None:
    every, program = (
        cc_hf.load_examples("winomt", config, data_dir=shared / "upstream")
        for config in ("all", "acl2019")
    )
    assert [
        (a.id, a.extra["stereotype"], b.extra["stereotype"])
        for a, b in zip(every, program, strict=True)
        if a != b
    ] == [("2120", "anti", "pro"), ("2121", "anti", "pro")]
    assert [sum(e.extra["stereotype"] == side for e in program) for side in ("pro", "anti")] == [
        1584,
        1584,
    ]
    with_cues = cc_hf.load_examples("winomt", data_dir=shared / "upstream")
    assert [(e.id, e.source, e.focus, e.gold, e.extra) for e in every if e.gold != "neutral"] == [
        (e.id, e.source, e.focus, e.gold, e.extra) for e in with_cues
    ]


@pytest.mark.parametrize(("system", "agreement"), [("aws", 0.984), ("google", 0.989)])
def test_portuguese_rules_agree_with_the_archived_verdicts_of_winopt(
    shared: Path, system: str, agreement: float
) -> None:
    folder = shared / f"upstream/ramos-ai/winopt/translations/{system}"
    result = evaluate_dataset(
        "winomt",
        "all",
        translations=folder / "en-pt.txt",
        tgt_lang="pt",
        metric="winomt_pattern_matching",
        data_dir=shared / "upstream",
    )
    with (folder / "en-pt.txt.pred.csv").open(encoding="utf-8", newline="") as file:
        archived = [row["Predicted gender"] for row in csv.DictReader(file)]
    equal = [j.predicted == gender for j, gender in zip(result.judgements, archived, strict=True)]
    assert sum(equal) / len(equal) >= agreement
