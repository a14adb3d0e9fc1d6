"""Parity with the human validation of Vamvas & Sennrich 2021 (Tables 2 and A3), see
PROVENANCE.md.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf.comparing.people.agreement import (
    Assumption,
    agreement_with_labels,
    examples_without_corpora,
)
from cc_hf.comparing.people.annotations import (
    annotator_agreement,
    earlier_agreement,
    read_annotations,
)
from cc_hf.comparing.people.published import (
    PUBLISHED_EARLIER_KAPPAS,
    PUBLISHED_KAPPAS,
    published_agreement,
)
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.agreement import cohen_kappa
from tests.helpers.metrics import evaluate_dataset

pytestmark = pytest.mark.shared

SETS = [("winomt", "de"), ("winomt", "ru"), ("mucow", "de"), ("mucow", "ru")]


def gold(shared: Path, name: str) -> Any:
    return json.loads((shared / f"gold/human_validation/{name}.json").read_text(encoding="utf-8"))


def result_of(
    dataset: str, config: str, lang: str, judgements: list[Judgement]
) -> EvaluationResult:
    return EvaluationResult(
        dataset,
        config,
        lang,
        f"{dataset}_pattern_matching",
        "recorded|n:1",
        len(judgements),
        {},
        {},
        (),
        tuple(judgements),
    )


@pytest.mark.parametrize(("dataset", "lang"), SETS)
def test_kappas_of_the_annotators_equal_the_recorded_ones(
    shared: Path, dataset: str, lang: str
) -> None:
    found = annotator_agreement(
        read_annotations(shared / f"gold/human_validation/{dataset}_annotations.en-{lang}.jsonl")
    )
    recorded = gold(shared, "annotation_summary")[f"{dataset}.{lang}"]
    assert found.n_raw == recorded["n_both"]
    assert found.kappa_raw == pytest.approx(recorded["kappa_raw"], abs=1e-12)
    assert found.kappa_binarised == pytest.approx(recorded["kappa_binarized"], abs=1e-12)
    assert PUBLISHED_KAPPAS[dataset, lang] == (
        round(recorded["kappa_raw"], 2),
        round(recorded["kappa_binarized"], 2),
    )


@pytest.mark.parametrize(
    ("lang", "expected"),
    [("de", [(1, 88, 0.2741), (2, 84, 0.2960)]), ("ru", [(1, 88, 0.5657), (2, 83, 0.0840)])],
)
def test_kappas_with_earlier_annotations_are_those_of_table_a4(
    shared: Path, lang: str, expected: list[tuple[int, int, float]]
) -> None:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/winomt/data"
    agreements = earlier_agreement(folder / f"en-{lang}.annotator2.jsonl", n_resamples=20)
    assert [(a.annotator, a.n, round(a.kappa, 4)) for a in agreements] == expected
    assert {a.annotator: round(a.kappa, 2) for a in agreements} == PUBLISHED_EARLIER_KAPPAS[
        "winomt", lang
    ]


@pytest.mark.parametrize(("dataset", "lang"), SETS)
def test_raw_labels_are_binarised_as_recorded(
    shared: Path, tmp_path: Path, dataset: str, lang: str
) -> None:
    path = shared / f"gold/human_validation/{dataset}_annotations.en-{lang}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    raw = tmp_path / "raw.jsonl"
    raw.write_text(
        "\n".join(
            json.dumps({k: v for k, v in row.items() if not k.startswith("binarized")})
            for row in rows
        ),
        encoding="utf-8",
    )
    assert read_annotations(raw) == read_annotations(path)


@pytest.mark.parametrize(("dataset", "lang"), SETS)
@pytest.mark.parametrize("annotator", [1, 2])
def test_the_published_files_of_both_annotators_are_read_as_one(
    shared: Path, dataset: str, lang: str, annotator: int
) -> None:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation"
    found = read_annotations(folder / f"{dataset}/data/en-{lang}.annotator{annotator}.jsonl")
    joined = read_annotations(
        shared / f"gold/human_validation/{dataset}_annotations.en-{lang}.jsonl"
    )
    assert {(a.translation, a.gold, a.raw, a.labels) for a in found} == {
        (a.translation, a.gold, a.raw, a.labels) for a in joined
    }
    assert len(found) == len(joined)
    if dataset == "winomt":
        assert {a.example_id for a in found} == {a.example_id for a in joined}


@pytest.mark.parametrize(
    ("lang", "system", "n_agree", "n"), [("de", "aws", 345, 400), ("ru", "google", 329, 436)]
)
def test_agreement_of_recorded_winomt_genders_with_people_is_as_published(
    shared: Path, lang: str, system: str, n_agree: int, n: int
) -> None:
    with gzip.open(
        shared / f"gold/winomt_pattern_matching/steps/{system}.en-{lang}.jsonl.gz",
        "rt",
        encoding="utf-8",
    ) as file:
        rows = [json.loads(line) for line in file]
    verdicts = {"male": "incorrect", "female": "incorrect"}
    judgements = []
    for row in rows:
        verdict = (
            "correct" if row["pred"] == row["gold"] else verdicts.get(row["pred"], "inconclusive")
        )
        judgements.append(
            Judgement(
                str(row["i"]),
                row["gold"],
                verdict == "correct",
                row["translation"],
                verdict,
                predicted=row["pred"],
                gold=row["gold"],
            )
        )
    annotations = read_annotations(
        shared / f"gold/human_validation/winomt_annotations.en-{lang}.jsonl"
    )
    found = agreement_with_labels(result_of("winomt", "", lang, judgements), annotations)
    recorded = gold(shared, "winomt_pattern_matching_vs_human")[lang]
    assert (found.n_agree, found.n_labels) == (n_agree, n)
    assert [list(counts) for counts in found.confusion] == recorded[
        "confusion_rows_human_cols_pred_male_female"
    ]
    assert found.strict_agreement == pytest.approx(
        recorded["strict_agree_unknown_neutral_as_error"], abs=1e-12
    )
    row = published_agreement("winomt", lang, "winomt_pattern_matching")
    assert row is not None
    assert row.agreement == pytest.approx(found.agreement, abs=6e-4)


@pytest.mark.parametrize(
    ("lang", "n_agree", "n", "n_human", "proportional"),
    [("de", 922, 1100, 192, 0.802959), ("ru", 979, 1091, 170, 0.883882)],
)
def test_agreement_of_logged_mucow_decisions_with_people_is_as_published(
    shared: Path, lang: str, n_agree: int, n: int, n_human: int, proportional: float
) -> None:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data"
    rows = [
        json.loads(line)
        for line in (
            (folder / f"mucow_pattern_matching.results.en-{lang}.ensemble.log")
            .read_text(encoding="utf-8")
            .splitlines()
        )
    ]
    verdicts = [
        "inconclusive" if row["is_unknown"] else "correct" if row["is_correct"] else "incorrect"
        for row in rows
    ]
    judgements = [
        Judgement(str(i), "all", v == "correct", row["translation"], v)
        for i, (v, row) in enumerate(zip(verdicts, rows, strict=True))
    ]
    result = result_of("mucow", f"en-{lang}.probing", lang, judgements)
    annotations = read_annotations(
        shared / f"gold/human_validation/mucow_annotations.en-{lang}.jsonl"
    )
    population = examples_without_corpora(result, ["opensubs"], data_dir=shared / "upstream")
    found = agreement_with_labels(
        result,
        annotations,
        skip_others=True,
        assumption=Assumption(result, population, as_published=True),
    )
    recorded = gold(shared, "notebook_stored_reports")[f"mucow.{lang}"]
    assert len(population) == recorded["num_samples_in_domain_applicable"]
    assert found.coverage == pytest.approx(recorded["coverage"], abs=1e-12)
    assert (found.n_labels, found.n_assumed) == (n_human, recorded["n_covered_sampled"])
    assert found.agreement == pytest.approx(n_agree / n, abs=1e-12)
    assert found.agreement == pytest.approx(
        recorded["pattern_matching_proportion_of_agreement"], abs=1e-12
    )
    published = read_annotations(folder / f"../../mucow/data/en-{lang}.annotator1.jsonl")
    # They name no examples: of two judged translations that are the same, the first is taken (de),
    # and one is found whose source differs from that of the test set (ru).
    by_translation = agreement_with_labels(
        result,
        published,
        skip_others=True,
        assumption=Assumption(result, population, as_published=True),
    )
    assert abs(by_translation.n_labels - found.n_labels) <= 2
    assert by_translation.agreement == pytest.approx(found.agreement, abs=0.002)
    fair = agreement_with_labels(
        result, annotations, skip_others=True, assumption=Assumption(result, population)
    )
    assert fair.agreement == pytest.approx(proportional, abs=1e-6)
    row = published_agreement("mucow", lang, "mucow_pattern_matching")
    assert row is not None
    assert row.agreement == pytest.approx(found.agreement, abs=6e-4)


@pytest.mark.parametrize(
    ("lang", "proportional", "as_published"), [("de", 0.805432, 0.84), ("ru", 0.893239, 0.904494)]
)
def test_agreement_of_own_mucow_decisions_is_as_documented(
    shared: Path, lang: str, proportional: float, as_published: float
) -> None:
    """Pattern matching with default rules, where its decisions stand in for missing labels."""
    log = (
        shared
        / f"upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data/mucow_pattern_matching.results.en-{lang}.ensemble.log"
    )
    result = evaluate_dataset(
        "mucow",
        f"en-{lang}.probing",
        translations=log,
        metric="mucow_pattern_matching",
        data_dir=shared / "upstream",
    )
    annotations = read_annotations(
        shared / f"gold/human_validation/mucow_annotations.en-{lang}.jsonl"
    )
    population = examples_without_corpora(result, ["opensubs"], data_dir=shared / "upstream")
    for expected, published_way in ((proportional, False), (as_published, True)):
        found = agreement_with_labels(
            result,
            annotations,
            skip_others=True,
            assumption=Assumption(result, population, published_way),
        )
        assert found.agreement == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("dataset", "lang"), SETS)
def test_published_figures_of_contrastive_conditioning_are_the_recorded_ones(
    shared: Path, dataset: str, lang: str
) -> None:
    recorded = gold(shared, "notebook_stored_reports")[f"{dataset}.{lang}"]
    row = published_agreement(dataset, lang, "contrastive_conditioning")
    assert row is not None
    assert row.agreement == pytest.approx(
        recorded["contrastive_conditioning_unweighted"]["accuracy_exact"], abs=1e-12
    )
    assert row.weighted_agreement == recorded["contrastive_conditioning_weighted"]["accuracy"]


def test_kappa_does_not_depend_on_the_order_of_rows_or_annotators(shared: Path) -> None:
    """Swapping the annotators or reversing the rows gives the same figure."""
    annotations = read_annotations(shared / "gold/human_validation/winomt_annotations.en-ru.jsonl")
    pairs = [a.labels for a in annotations][::-1]
    assert cohen_kappa([b for _, b in pairs], [a for a, _ in pairs]) == pytest.approx(
        0.2018722773194922, abs=1e-12
    )
