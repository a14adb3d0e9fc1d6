"""The released labels of people, and rows made of them."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.coverage_errors.human_evaluation import measured, metric_rows, read_judged_rows
from cc_hf_studies.coverage_errors.mqm import mqm_rows
from cc_hf_studies.coverage_errors.synthetic import synthetic_rows

from cc_hf.errors import FileError
from cc_hf.plugins.omissions.coverage.spans import Span
from studies.tests.coverage_errors.contract_cases import LABELLED, PREDICTED
from tests.helpers.usual import (
    cases,
    fails,
    limits,
    printed_by,
    read_jsonl,
    refuses,
    write_jsonl,
    write_lines,
)

_FOLDER = "upstream/ZurichNLP/coverage-contrastive-conditioning/evaluation/human_evaluation"


def released(shared: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    folder = shared / _FOLDER
    predictions = [folder / f"predictions/en-de.{split}.jsonl" for split in ("dev", "test")]
    people = [folder / "annotations/en-de.annotator1.jsonl"]
    return read_judged_rows(predictions, annotated=False), read_judged_rows(people, annotated=True)


@cases(
    ("pair", (767, 719), {"addition": (340, 20, 0), "omission": (304, 136, 127)}),
    ("pair_and_type", (798, 748), {"addition": (358, 23, 0), "omission": (314, 142, 132)}),
)
def test_figures_of_the_notebooks_hold(key: str, n_rows: Any, errors: Any, shared: Path) -> None:
    predictions, annotations = released(shared)
    result = measured(predictions, {"1": annotations, "2": annotations}, key=key)
    assert result.n_annotated["1"] == n_rows
    counts = {(p.split, p.side, p.by): (p.n, p.n_errors) for p in result.precisions}
    alone = measured(predictions, {"1": annotations}, key=key)
    of_one = {(p.split, p.side, p.by): p for p in alone.precisions}
    for side, (n, n_bad, n_coverage) in errors.items():
        for what, n_errors in (("any error", n_bad), ("coverage error", n_coverage)):
            part = "test", side, f"people: {what}"
            # Labels of both are pooled. Of two that agree everywhere, the interval is that of one.
            assert counts[part] == (2 * n, 2 * n_errors)
            assert (of_one[part].n, of_one[part].n_errors) == (n, n_errors)
            (pooled,) = (p for p in result.precisions if (p.split, p.side, p.by) == part)
            assert limits(pooled.interval) == pytest.approx(limits(of_one[part].interval))
    sides = product(("test", "dev"), ("omission", "addition"))
    by_mqm = [counts[split, side, "MQM: any rater"] for split, side in sides]
    assert by_mqm == [(414, 93), (456, 27), (87, 23), (55, 2)]
    assert [kappa for kappa, _ in result.kappas.values()] == [1, 1]
    assert result.n_both == n_rows[1]
    assert sum(row["label"].count("syntactic-difference") for row in annotations) == 463


def test_rows_of_people_are_those_that_the_notebooks_keep(shared: Path) -> None:
    predictions, annotations = released(shared)
    rows = metric_rows(annotations, predictions)
    kinds = Counter(f"{r['category']} {r.get('omission', r.get('addition'))}" for r in rows)
    assert kinds == {"omission true": 152, "omission false": 204, "addition false": 392}


def test_commands_read_and_write_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    other = {**LABELLED, "label": ["good-translation", "syntactic-difference"]}
    for name, row in (("p", PREDICTED), ("a", LABELLED), ("b", other)):
        write_jsonl(Path(f"{name}.jsonl"), [row])
    command = "study coverage_errors agreement p.jsonl --annotations a.jsonl --annotations b.jsonl"
    actual = json.loads(printed_by(f"{command} --json"))
    assert actual["n_annotated"] == {"a.jsonl": [1, 1], "b.jsonl": [1, 1]}
    assert "question 1: kappa" in printed_by(command)
    printed_by("study coverage_errors build-people p.jsonl --annotations a.jsonl -o rows.jsonl")
    row = json.loads(Path("rows.jsonl").read_text(encoding="utf-8"))
    assert (row["source_spans"], row["omission"]) == ("[[3, 6]]", "true")
    refuses(
        "expected rows that belong to the predictions, got none",
        metric_rows,
        [{**LABELLED, "seg_id": 2}],
        [PREDICTED],
    )


@cases(
    ({"seg_id": "1"}, "p.jsonl: line 1: seg_id: expected a whole number from 0, got '1'"),
    ({"coverage_error_type": "x"}, "coverage_error_type: expected one of undertranslation"),
    ({"has_omission_error_by_majority": None}, "expected true or false"),
)
def test_damaged_rows_are_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [json.dumps({**PREDICTED, **change})])
    fails(FileError, message, read_judged_rows, [path], annotated=False)


_HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def mark(system: str, segment: int, category: str, *, rater: str = "r1", words: int = 2) -> str:
    source = " ".join(["big"] * words if words else ['""big""'])
    return f"{system}\td\t1\t{segment}\t{rater}\t{source}\t<v>groß</v>\t{category}\tMajor"


def test_segments_of_mqm_are_left_out_by_the_rules_of_the_program(tmp_path: Path) -> None:
    marks = [
        mark("A", 1, "Accuracy/Omission"),
        mark("A", 1, "no-error", rater="r2"),
        mark("Human-A", 1, "no-error"),
        mark("A", 2, "Non-translation!"),
        *[mark("A", 3, "Fluency/Grammar")] * 5,
        mark("A", 4, "no-error", words=151),
        mark("A", 5, "Accuracy/Omission"),
        mark("A", 5, "Accuracy/Addition"),
        mark("B", 1, "no-error"),
        *[mark("A", segment, "no-error", words=0) for segment in (6, 7)],
    ]
    path = write_lines(tmp_path / "mqm.tsv", [_HEADER, *marks])
    originals = write_lines(tmp_path / "source.en", ["big big"] * 5 + ['"big"', '""big""', ""])
    rows, counts = mqm_rows(path, originals=originals)
    read = [f"{row['id']} {row['omission']} {row['addition']}" for row in rows]
    assert read == ["A.1 true false", "B.1 false false", "A.7 false false"]
    assert rows[0]["translation"] == "groß"
    assert counts == {
        **{"n_kept": 3, "n_by_people": 1, "n_no_translation": 1, "n_five_marks": 1},
        **{"n_superfluous_quotes": 1, "n_long": 1, "n_both_errors": 1},
    }
    other = write_lines(tmp_path / "other.tsv", [_HEADER, mark("A", 3, "no-error")])
    fails(
        FileError,
        r"line 2: seg_id: expected a line of .*, 1 to 2, got 3",
        mqm_rows,
        other,
        originals=write_lines(tmp_path / "short.en", ["a", "b"]),
    )
    out = tmp_path / "rows.jsonl"
    printed_by(f"study coverage_errors build-mqm {path} -o {out}")
    assert [row["id"] for row in read_jsonl(out)] == ["A.1", "B.1", "A.6", "A.7"]


@cases(
    ([_HEADER], "expected at least one mark"),
    (["system\tdoc", "A\td"], "line 1: expected columns named .*seg_id"),
    ([_HEADER, mark("A", 1, "no-error") + "\t"], "line 2: expected 9 cells, .* got 10"),
)
def test_other_files_of_mqm_are_refused(lines: list[str], message: str, tmp_path: Path) -> None:
    fails(FileError, message, mqm_rows, write_lines(tmp_path / "mqm.tsv", lines))


def translate(texts: Sequence[str]) -> list[str]:
    """Translate word by word; a sentence with "odd" comes out differently when it is shorter."""
    return [text.upper() + (f" {len(text)}" if "odd" in text else "") for text in texts]


def test_four_rows_are_kept_where_the_translation_of_the_rest_lacks_words_only() -> None:
    inner = [Span(4, 9), Span(4, 6)]

    def parts(text: str) -> list[Span]:
        return [] if text.startswith("one") else [Span(0, len(text)), *inner]

    sources = ["two small dogs", "one dog", "two odd11 dogs"]
    made = synthetic_rows(sources, parts, translate, probability=0.5, seed=3)
    kept = {(row["source"], row["translation"], row["category"]) for row in made.rows}
    assert sum(made.counts.values()) == 3
    assert ("one dog", "ONE DOG", "none") in kept
    certain = synthetic_rows(sources[:1], lambda _: inner, translate, probability=0.999)
    assert [(row["source"], row["translation"], row["category"]) for row in certain.rows] == [
        ("two small dogs", "TWO DOGS", "omission"),
        ("two dogs", "TWO SMALL DOGS", "addition"),
        ("two small dogs", "TWO SMALL DOGS", "none"),
        ("two dogs", "TWO DOGS", "none"),
    ]
    assert len({row["id"] for row in certain.rows}) == 4
    changed = sources[2:], lambda _: inner[:1], lambda texts: [str(len(x)) for x in texts]
    odd = synthetic_rows(*changed, probability=0.999)
    assert odd.counts == {"n_unchanged": 0, "n_kept": 0, "n_left_out": 1}
    refuses(
        "probability: expected a number above 0 and below 1",
        synthetic_rows,
        sources,
        parts,
        translate,
        probability=1,
    )


def test_the_command_makes_rows_with_the_embedded_system(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "news.en", ["The old man reads a book.", "", "She sleeps here."])
    out = tmp_path / "made.jsonl"
    command = f"study coverage_errors build {path} --system cc-tiny-en-de -l en-de --probability .5"
    counts = json.loads(printed_by(f"{command} --json"))
    assert sum(counts.values()) == 2
    printed_by(f"{command} -o {out}")
    assert len(read_jsonl(out)) == counts["n_unchanged"] + 4 * counts["n_kept"]
