"""The metric counts what is read, right or wrong, or as a share."""

from pathlib import Path
from typing import Any

import cc_hf
from cc_hf import registry
from cc_hf.data.download import fetch
from cc_hf.plugins.gender_reading.metric import GenderReading
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ProbingExample
from tests.helpers.apertium import needs_apertium
from tests.helpers.usual import cases, compute_metric, evaluate_metric, refuses

_ROW = {"source": "The cook left.", "focus": "cook", "focus_start": 4}
_LINKS = ["1-0 2-1"]


def _read(text: str, gold: str, **options: Any) -> dict[str, Any]:
    return compute_metric(
        "gender_reading",
        [text],
        [{**_ROW, "gold": gold}],
        tgt_lang="ru",
        alignments=_LINKS,
        **options,
    )


@cases(
    ("Повариха ушла.", "female", "feminine", "correct"),
    ("Повариха ушла.", "male", "feminine", "incorrect"),
    ("Повариха ушла.", "neutral", "feminine", "incorrect"),
    ("Сирота ушла.", "female", "both", "inconclusive"),
    ("Сирота ушла.", "neutral", "both", "correct"),
    ("Чудовище ушло.", "male", "none", "inconclusive"),
    ("Ушла она.", "female", "", "inconclusive"),
)
def test_a_verdict_follows_from_the_gender_that_is_shown(
    text: str, gold: str, predicted: str, verdict: str
) -> None:
    result = _read(text, gold)
    assert (result["predicted"], result["verdicts"]) == ([predicted], [verdict])


def test_shares_say_how_much_was_read() -> None:
    texts = ["Повариха ушла.", "Повар ушёл.", "Сирота ушла.", "Ушла она."]
    result = compute_metric(
        "gender_reading",
        texts,
        [{**_ROW, "gold": "female"}] * 4,
        tgt_lang="ru",
        alignments=_LINKS * 4,
    )
    names = ("accuracy", "decided_accuracy", "both_share", "no_gender_share", "unread")
    assert [result[name] for name in names] == [0.25, 0.5, 0.25, 0.0, 0.25]
    counts = ("n_feminine", "n_masculine", "n_both", "n_none", "n_unread")
    assert [result[name] for name in counts] == [1, 1, 1, 0, 1]


def test_an_open_source_has_a_share_in_place_of_an_accuracy() -> None:
    rows = [{**_ROW, "gold": "", "open_share": "feminine_share", "category": c} for c in "aab"]
    result = compute_metric(
        "gender_reading",
        ["Повариха ушла.", "Повар ушёл.", "Ушла она."],
        rows,
        tgt_lang="ru",
        alignments=_LINKS * 3,
    )
    assert (result["feminine_share"], result["feminine_share_a"]) == (0.5, 0.5)
    assert "accuracy" not in result
    assert "feminine_share_b" not in result
    assert result["readings"] == ["feminine", "masculine", ""]


@cases(
    ({"focus_start": 3}, "row 0: focus_start: expected the character where 'cook' begins, got 3"),
    ({"gold": ""}, "row 0: gold: expected male, female or neutral, got none"),
    ({"open_share": "feminine_share"}, "row 0: gold: expected none for an open source, got male"),
    ({"open_share": "male_share", "gold": ""}, "row 0: open_share: expected feminine_share"),
    ({"gold": "man"}, "row 0: gold: expected one of male, female, neutral, nothing, got 'man'"),
)
def test_rows_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    row = {**_ROW, "gold": "male", **change}
    refuses(message, compute_metric, "gender_reading", ["Повар."], [row], tgt_lang="ru")


def test_a_sense_is_no_person() -> None:
    reason = GenderReading.fits("mucow", "en-de", ContrastiveSourceExample, "en", "de")
    assert reason.startswith("gender_reading needs sources with a located person")
    assert GenderReading.fits("winomt", "all", ProbingExample, "en", "fi") == (
        "gender_reading reads ca, de, es, fr, it, pt, ru, uk, not fi"
    )


def test_a_result_is_read_back_and_proved() -> None:
    texts = ["Der Arzt.", "Die Ärztin."] * 1332
    material = cc_hf.load_material("simplegen", "en-de")
    result = cc_hf.evaluate(material, translations=texts, metric="gender_reading")
    read = EvaluationResult.from_json(result.to_json())
    assert read.judgements == result.judgements
    assert read.scores == result.scores


@needs_apertium
def test_people_agree_with_every_gender_that_is_read_in_genderous(shared: Path) -> None:
    labels = registry.resolve("label set", "genderous")
    upstream = shared / "upstream"
    examples = {e.id: e for e in cc_hf.load_examples("genderous", data_dir=upstream)}
    paths = {file.path: fetch(file, upstream) for file in labels.files["en-es"]}
    rows = [
        row
        for row in labels.read(paths, "en-es", [*examples.values()])
        if row.shows in ("female", "male")
    ]
    references = GenderReading.references([examples[row.example_id] for row in rows])
    result = evaluate_metric(
        "gender_reading", [row.translation for row in rows], references, tgt_lang="es"
    )
    of_people = ["feminine" if row.shows == "female" else "masculine" for row in rows]
    assert len(rows) == 967
    assert [reading.reading for reading in result.readings] == of_people
