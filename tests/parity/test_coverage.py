"""Coverage against the program of Vamvas & Sennrich (2022), on its released predictions."""

import json
import math
import operator
from pathlib import Path
from typing import Any

import cc_hf
from benchmarks.students import student_folder
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.plugins.omissions.coverage.metric import Coverage
from tests.helpers.students import needs_students
from tests.helpers.usual import cases, hash_scores, read_jsonl

_FOLDER = "upstream/ZurichNLP/coverage-contrastive-conditioning/evaluation/human_evaluation"


def logs_as_scores(sources: Any, translations: Any) -> list[float]:
    """The fake evaluator's score stands for a log-probability there."""
    return [math.exp(score - 1) for score in hash_scores(sources, translations)]


def spans(text: str) -> str:
    """Return "47-54 | 60-66" as JSON."""
    return json.dumps([[int(n) for n in part.split("-")] for part in text.split(" | ") if part])


@needs_students
def test_scores_of_the_example_are_those_of_a_trial() -> None:
    """The trial computed the student in numpy. Without "after landing" the translation is likelier:
    it leaves that out.
    """
    sources = [
        "Please exit the plane after landing.",
        "exit the plane after landing.",
        "Please exit after landing.",
        "Please exit the plane.",
    ]
    student: Any = cc_hf.load_evaluator(student_folder("enpt"), mode="exact")
    means = student.mean_logprobs(sources, ["Por favor, saia do avião."] * 4)
    assert [round(math.exp(mean), 3) for mean in means] == [0.457, 0.059, 0.132, 0.974]


@needs_students
def test_made_omissions_and_additions_are_found(shared: Path) -> None:
    """The figures are an upper bound: the student en-pt itself translated what it judges here."""
    rows = read_jsonl(shared / "gold/coverage/synthetic.en-pt.jsonl")
    labels = {True: "true", False: "false"}
    sides = ("omission", "addition")
    references = [{"source": r["source"], **{key: labels[r[key]] for key in sides}} for r in rows]
    forward, backward = (
        cc_hf.load_evaluator(student_folder(pair), mode="exact") for pair in ("enpt", "pten")
    )
    material, texts = Material("en", "pt", references), [row["translation"] for row in rows]
    result = judge(Coverage(backward_evaluator=backward), material, texts, evaluator=forward)
    names = ("precision", "recall", "f1", "auc")
    figures = {s: [round(result.scores[f"{s}_{name}"], 2) for name in names] for s in sides}
    assert figures == {"omission": [1, 1, 1, 1], "addition": [0.67, 0.89, 0.76, 0.94]}


# One translation of dev has an invisible character: the program finds 59 spans in 50 rows.
@cases(("dev", (113, 58, 49), (66, 40, 38)), ("test", (535, 270, 235), (557, 292, 272)))
def test_spans_of_the_program(split: str, omissions: Any, additions: Any, shared: Path) -> None:
    """Candidate spans, those that are errors, and rows with one."""
    rows = read_jsonl(shared / _FOLDER / f"predictions/en-de.{split}.jsonl")
    keys = {"source_spans": "undertranslation", "translation_spans": "overtranslation"}
    names = {key: f"predicted_{name}_spans" for key, name in keys.items()}
    spans_of = [{key: spans(row[name]) for key, name in names.items()} for row in rows]
    references = [{"source": r["source"], **of} for r, of in zip(rows, spans_of, strict=True)]
    metric = Coverage(spans="given", backward_evaluator=FunctionEvaluator(logs_as_scores))
    material, texts = Material("en", "de", references), [row["target"] for row in rows]
    result = judge(metric, material, texts, evaluator=FunctionEvaluator(logs_as_scores))
    counts = []
    for side, key in (("source", "source_spans"), ("translation", "translation_spans")):
        actual = [[s for s in j.spans if s.side == side] for j in result.judgements]
        n_candidates = sum(len(json.loads(reference[key])) for reference in references)
        counts.append((n_candidates, sum(map(len, actual)), sum(map(bool, actual))))
    assert counts == [omissions, additions]


def test_the_embedded_evaluator_is_too_small_for_news(shared: Path) -> None:
    """By the labels of one annotator for the predicted omissions, as the second notebook keeps
    them.
    """
    key = operator.itemgetter("seg_id", "system", "coverage_error_type")
    files = (f"predictions/en-de.{split}.jsonl" for split in ("dev", "test"))
    known = {key(row) for file in files for row in read_jsonl(shared / _FOLDER / file)}
    rows = [
        row
        for row in read_jsonl(shared / _FOLDER / "annotations/en-de.annotator1.jsonl")
        if row["coverage_error_type"] == "undertranslation" and key(row) in known
        if len(row["label"]) == 2 and "source-error" not in row["label"]
    ]
    references = []
    for row in rows:
        labels, given = row["label"], spans(row["predicted_undertranslation_spans"])
        is_error = "bad-translation" in labels and any(x.endswith("information") for x in labels)
        references.append(
            {"source": row["source"], "source_spans": given, "omission": str(is_error).lower()}
        )
    material, translations = Material("en", "de", references), [row["data"] for row in rows]
    tiny = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    result = judge(Coverage(spans="given"), material, translations, evaluator=tiny)
    figures = {n: round(result.scores[f"omission_{n}"], 3) for n in ("auc", "precision", "recall")}
    assert figures == {"auc": 0.655, "precision": 0.504, "recall": 0.789}
    n_omitted = sum(judgement.verdict == "incorrect" for judgement in result.judgements)
    assert (result.n, n_omitted) == (356, 238)
