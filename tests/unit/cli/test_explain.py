import functools
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import CCError
from cc_hf.progress import Progress
from cc_hf.results import EvaluationResult
from tests.helpers.command_line import cc_hf as program
from tests.helpers.usual import EN_DE, cases, compute_metric, fails, printed_by, write_jsonl

compute = functools.partial(compute_metric, "contrastive_conditioning")

SENTENCE = ("--source", "The doctor asked the nurse to help her.", "--focus", "doctor")
RIGHT = "Die Ärztin bat die Krankenschwester, ihr zu helfen."
WRONG = "Der Arzt bat die Krankenschwester, ihr zu helfen."


def explain(*arguments: str | Path) -> Any:
    return json.loads(printed_by("explain", *arguments, "--json"))


def test_explain_takes_a_sentence_and_writes_json(tmp_path: Path) -> None:
    output = tmp_path / "e.json"
    texts = ("--translation", RIGHT, "--translation", WRONG)
    outputs = ("--output", output, "--html", tmp_path / "e.html")
    printed = printed_by("explain --gender female", *SENTENCE, *texts, *outputs, columns=120)
    verdicts = [line for line in printed.splitlines() if "probability of the correct read" in line]
    assert [line.split(":")[0] for line in verdicts] == ["correct", "incorrect"]
    assert "The [female] doctor asked the nurse to help her." in printed
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert page.count('<section class="cc-explanation"') == 2
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert rows[0]["probability_correct"] > 0.5 > rows[1]["probability_correct"]
    assert f"{100 * rows[0]['probability_correct']:.1f} %" in verdicts[0]
    assert "cc-tiny-en-de@" in printed


def test_bracket_cues_given_by_hand_equal_the_gender_option() -> None:
    cues = ("--correct-cue", "[female]", "--incorrect-cue", "[male]")
    (by_hand,) = explain(*SENTENCE, *cues, "--translation", RIGHT)
    (brackets,) = explain(*SENTENCE, "--gender", "female", "--translation", RIGHT)
    assert by_hand == brackets
    cues = ("--correct-cue", "{focus} [female]", "--incorrect-cue", "{focus} [male]")
    (behind,) = explain(*SENTENCE, *cues, "--translation", RIGHT)
    assert behind["correct_source"] == "The doctor [female] asked the nurse to help her."


@cases(
    ("coverage", "min_difference=0.1", ("small", None), "source without: small"),
    ("critical_errors", "phenomena=negation,number", ("7", "9"), "number: 7 → 9"),
)
def test_changes_are_shown(metric: str, option: str, first: Any, line: str, tmp_path: Path) -> None:
    row = {"source": "The small boy did not eat 7 pears."}
    row["translation"] = "Der Junge aß nicht 9 Birnen."
    rows, result = write_jsonl(tmp_path / "rows.jsonl", [row]), tmp_path / "r.json"
    printed_by(
        f"evaluate {rows} -l en-de --translations {rows} --metric {metric}"
        f" --option {option} -q -o {result}"
    )
    (judged,) = EvaluationResult.from_json(result.read_text(encoding="utf-8")).judgements
    (explained,) = explain(result, rows, "--id", "0")
    changes = explained["changes"]
    assert (changes[0]["text"], changes[0]["replacement"]) == first
    assert sum(explained["is_error"]) == len(judged.spans) < len(changes)
    assert {change["phenomenon"] for change in changes} <= {"", "negation", "number"}
    assert line in printed_by(f"explain {result} {rows} --id 0")
    printed_by(f"explain {result} {rows} --id 0 --html {tmp_path / 'e.html'}")
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert page.count('<th scope="row">') == len(changes)
    fails(
        CCError,
        "--score: expected a result of contrastive",
        printed_by,
        f"explain {result} {rows} --id 0 --score reference",
    )
    (same,) = explain(result, rows, "--id", "0", "--translation", row["translation"])
    assert same == explained
    fails(
        CCError,
        "expected a source in which",
        explain,
        result,
        rows,
        "--id",
        "0",
        "--translation",
        row["source"],
    )


def test_explain_takes_an_example_of_a_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its progress is that of translations, and waits, so that a quick run shows none."""
    shown: list[dict[str, Any]] = []

    class Recorded(Progress):
        def __init__(self, *texts: Any, **options: Any) -> None:
            shown.append(options)
            super().__init__(*texts, **options)

    monkeypatch.setattr("cc_hf.progress.Progress", Recorded)
    examples = cc_hf.load_examples("simplegen", "en-de")
    texts = ["Sie ist Ärztin.", "Übersetzung Nummer 7."]
    given = [word for text in texts for word in ("--translation", text)]
    explanation = explain("simplegen", "en-de", "--id", examples[7].id, *given)
    assert [row["translation"] for row in explanation] == texts
    assert [(o["disable"], o["delay"]) for o in shown] == [(False, 1)]
    assert explanation[0]["correct_source"] in examples[7].correct_sources
    reference = {
        name: getattr(examples[7], name) for name in ("correct_sources", "incorrect_sources")
    } | {"category": "all"}
    expected = compute(texts[1:], [reference], **EN_DE, mode="exact")["probability_correct"]
    assert explanation[1]["probability_correct"] == pytest.approx(expected[0], abs=1e-5)


def test_explain_takes_data_evaluator_and_translation_from_a_result(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("Sie ist Ärztin.\n" * 3, encoding="utf-8")
    options = ("--limit", "3", "--translations", "t.txt", "-o", "r.json")
    program("evaluate", "simplegen", *options, cwd=tmp_path)
    result = EvaluationResult.from_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    (row,) = explain(tmp_path / "r.json", "--id", "814")
    judgement = result.by_id()["814"]
    assert row["translation"] == judgement.translation
    assert row["probability_correct"] == pytest.approx(judgement.probability_correct, abs=1e-5)
    assert f"|eval:{row['evaluator']}|" in result.signature
    signature = result.signature.replace("eval:cc-tiny-en-de@", "eval:other@")
    other = replace(result, signature=signature)
    (tmp_path / "other.json").write_text(other.to_json(), encoding="utf-8")
    named = ("explain", "other.json", "--id", "814", "--evaluator", "cc-tiny-en-de")
    shown = program(*named, "--html", "e.html", cwd=tmp_path)
    assert "the result was judged by other@" in shown.stderr
    (example,) = (e for e in cc_hf.load_examples("simplegen") if e.id == "814")
    assert shown.stdout.startswith(f"t, sample 814\n{example.source}\n")
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert f't, sample 814</p>\n<p dir="auto">{example.source}</p>' in page
    fails(
        CCError,
        r"unknown evaluator 'other'.* give that model as `eval",
        explain,
        tmp_path / "other.json",
        "--id",
        "814",
    )
    custom = replace(result, dataset="custom", config="rows")
    (tmp_path / "own.json").write_text(custom.to_json(), encoding="utf-8")
    fails(
        CCError,
        r"on data of your own, .* give their file",
        explain,
        tmp_path / "own.json",
        "--id",
        "814",
    )


@cases(
    ("", "expected a result or a dataset with `example_id`, or"),
    ("simplegen --translation Ja.", "example_id: expected the example of simplegen"),
    ("simplegen --id no --translation Ja.", "has no example 'no'; expected one of 2664 ids"),
    ("simplegen --id 0 SENTENCE --gender male --translation Ja.", "got both"),
    ("contrawsd no --id 0 --translation Ja.", "unknown configuration"),
    ("SENTENCE --translation Ja.", "male or female, or at least one cue of each reading"),
    ("SENTENCE --gender female --correct-cue a --translation Ja.", "got both"),
    ("SENTENCE --gender x --translation Ja.", "one of male, female"),
    ("SENTENCE --gender female", "at least one --translation"),
    ("SENTENCE --gender female -l en-fr --translation Ja.", "none ships .* for en-fr"),
    ("SENTENCE --gender female --score mean --translation Ja.", "score: expected one of"),
    ("--source cook,cook --focus cook --gender male --translation Ja.", "occurs 2 times"),
)
def test_bad_arguments_are_refused(arguments: str, message: str) -> None:
    words = [SENTENCE if word == "SENTENCE" else (word,) for word in arguments.split()]
    fails(CCError, message, explain, *itertools.chain(*words))
