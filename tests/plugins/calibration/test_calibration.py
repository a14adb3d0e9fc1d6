import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import cc_hf
from cc_hf.cues.wordings import Wording, named_wording
from cc_hf.errors import EvaluatorError
from cc_hf.evaluation import calibration_file
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material, load_material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.plugins.calibration.calibration import CalibrationRun, calibrate
from cc_hf.plugins.calibration.development import DevelopmentRow, DevelopmentSet
from cc_hf.records import write_record
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.usual import cases, fails, hash_scores, refuses, write_text

_NAMES = ["gender_brackets", "gender_nouns"]
_READINGS = [("der Pfleger", "male"), *[("die Pflegerin", "female")] * 2]
_WORDINGS = [named_wording(name, "en") for name in _NAMES]


def development(n: int = 90, **change: Any) -> DevelopmentSet:
    rows = tuple(
        DevelopmentRow(f"Nurse {i} said that she left.", Focus("Nurse", 0), f"{word} {i}", reading)
        for i in range(n)
        for word, reading in [_READINGS[i % 3]]
    )
    given = {"rows": rows, "src_lang": "en", "tgt_lang": "de", "data": "own", **change}
    return DevelopmentSet(**given)


def with_sources(female: str, male: str, *more: str) -> DevelopmentSet:
    """Return a development set with its own cues: a reading's sources, with {} for the source."""

    def sources_of(source: str) -> dict[str, tuple[str, ...]]:
        male_sources = (*more, male.format(source))[::-1]
        return {"female": (*more, female.format(source)), "male": male_sources}

    rows = tuple(replace(row, sources=sources_of(row.source)) for row in development().rows)
    return development(rows=rows, own_cues="counterfactual")


def noisy(wording: str, noise: float, bias: float = 0.0) -> Callable[..., list[float]]:
    """Return a function that understands one wording, with noise and a bias to female."""
    cues = named_wording(wording, "en").cues

    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        logs = []
        for source, translation in zip(sources, translations, strict=True):
            is_female = "Pflegerin" in translation
            reading = next((r for r, cue in cues.items() if f"{cue} Nurse" in source), "")
            sign = 0 if not reading else 1 if (reading == "female") == is_female else -1
            random = hash_scores([source], [translation])[0] - 0.5
            logs.append(sign + noise * random + bias * (reading == "female") - 3)
        return [float(value) for value in np.exp(np.array(logs))]

    return scores


def run(**options: Any) -> CalibrationRun:
    given = {"evaluator": noisy("gender_nouns", 8), "wordings": _WORDINGS, **options}
    return calibrate(given.pop("development", development()), **given)


def test_the_wording_that_the_evaluator_understands_is_chosen() -> None:
    for understood in _NAMES:
        calibration = run(evaluator=noisy(understood, 2)).calibration
        (other,) = set(_NAMES) - {understood}
        assert calibration.chosen == understood
        assert calibration.choice.report.auc > 0.9 > 0.8 > calibration.of(other).report.auc


def test_wordings_that_are_equally_good_leave_the_choice_to_their_order() -> None:
    def sees_both(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        first, second = (noisy(name, 0.1) for name in _NAMES)
        return [
            max(pair) for pair in zip(first(sources, translations), second(sources, translations))
        ]

    for wordings in (_WORDINGS, _WORDINGS[::-1]):
        assert run(evaluator=sees_both, wordings=wordings).calibration.chosen == wordings[0].name


def test_figures_are_those_of_a_plain_loop() -> None:
    outcome = run()
    readings = np.array(outcome.readings)
    for result in outcome.calibration.wordings:
        difference = np.array(outcome.differences[result.name])
        halves = (outcome.is_reported, result.report), (~outcome.is_reported, result.choice)
        for half, figures in halves:
            first, second = (difference[half & (readings == x)] for x in ("female", "male"))
            wins = [(a > b) + (a == b) / 2 for a in first for b in second]
            assert figures.auc == pytest.approx(sum(wins) / len(wins))
            right = first > 0, second < 0
            assert figures.accuracy == pytest.approx(np.concatenate(right).mean())
            assert figures.accuracies == pytest.approx([half.mean() for half in right])
            assert figures.shift == pytest.approx((np.median(first) + np.median(second)) / 2)
            assert figures.n == len(first) + len(second)


def test_intervals_hold_the_figure_and_are_like_those_of_a_direct_bootstrap() -> None:
    outcome = run()
    result = outcome.calibration.of("gender_nouns")
    difference = outcome.differences["gender_nouns"][outcome.is_reported]
    is_female = np.array(outcome.readings)[outcome.is_reported] == "female"
    generator = np.random.default_rng(1)
    values = []
    for _ in range(2000):
        drawn = generator.integers(0, len(difference), len(difference))
        first, second = (difference[drawn][is_female[drawn] == x] for x in (True, False))
        values.append((first[:, None] > second[None, :]).mean())
    low, high = result.intervals["auc"]
    assert low < result.report.auc < high
    assert (low, high) == pytest.approx(tuple(np.quantile(values, (0.025, 0.975))), abs=0.03)
    assert result.intervals["accuracy"][0] < result.report.accuracy


def test_a_bias_to_one_reading_shows_in_the_shift() -> None:
    for bias in (-3.0, 0.0, 3.0):
        figures = run(evaluator=noisy("gender_nouns", 0.5, bias)).calibration.choice.report
        assert figures.shift == pytest.approx(bias, abs=0.3)
        assert figures.auc == 1
    assert figures.accuracies[1] < figures.accuracies[0]  # a bias to female fails on male


def test_a_calibration_is_reproducible_by_its_seed_and_a_sentence_is_in_one_half() -> None:
    assert run(seed=3).calibration == run(seed=3).calibration
    assert (run(seed=3).is_reported != run(seed=4).is_reported).any()
    rows = development().rows
    again = (replace(r, translation=r.translation + "!") for r in rows)
    outcome = run(development=development(rows=(*rows, *again)))
    assert (outcome.is_reported[:90] == outcome.is_reported[90:]).all()


def test_own_cues_are_compared_and_several_sources_count_by_the_best() -> None:
    development_set = with_sources("woman {}", "man {}", "nothing")
    outcome = run(development=development_set, evaluator=noisy("gender_nouns", 1)).calibration
    assert [result.name for result in outcome.wordings] == [*_NAMES, "counterfactual"]
    own_cues = outcome.of("counterfactual")
    assert own_cues.wording is None
    assert own_cues.report.auc == pytest.approx(1.0, abs=0.1)


def test_a_wording_that_fits_no_row_is_left_out_with_its_reason() -> None:
    plain = development().rows
    without_pronouns = (replace(row, source=row.source.replace("she", "they")) for row in plain)
    without_focus = (replace(row, focus=None) for row in plain)
    sets = (development(rows=tuple(rows)) for rows in (without_pronouns, without_focus))
    first, actual = (run(development=rows, wordings=None).calibration for rows in sets)
    assert "it makes the same source for both readings" in first.left_out["gender_pronouns"]
    assert [result.name for result in actual.wordings] == ["gender_pronouns"]
    assert "not located" in actual.left_out["gender_nouns"]


def test_phenomena_of_users_are_calibrated_by_wordings_of_their_own() -> None:
    rows = tuple(
        DevelopmentRow(f"Do you know {i}?", Focus("you", 3), word, word)
        for i in range(60)
        for word in ("Sie", "du")
    )

    def polite(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        pairs = zip(sources, translations, strict=True)
        return [0.8 if ("sir" in s) == (t == "Sie") else 0.2 for s, t in pairs]

    wordings = [
        Wording("address", {"Sie": "{focus}, sir,", "du": "{focus}, buddy,"}),
        Wording("adverb", {"Sie": "politely", "du": "simply"}, placement="after"),
    ]
    given: dict[str, Any] = {"development": development(rows=rows), "evaluator": polite}
    outcome = run(**given, wordings=wordings).calibration
    figures = outcome.readings, outcome.chosen, outcome.choice.report.accuracy
    assert figures == (("Sie", "du"), "address", 1.0)
    refuses("wordings: expected at least one for the readings Sie", run, **given, wordings=None)


@cases(
    ({"n": 30}, {}, "expected at least 10 translations of each reading in each half"),
    ({}, {"wordings": [*_WORDINGS, _WORDINGS[0]]}, "expected another name for each"),
    ({}, {"wordings": [Wording("a", {"x": "1", "y": "2"})]}, "expected at least one that fits"),
    ({}, {"score": "median"}, "score: expected one of"),
    ({}, {"seed": -1}, "seed: expected an integer from 0"),
)
def test_unfit_input_is_refused(change: Any, options: Any, message: str) -> None:
    refuses(message, run, development=development(**change), **options)


def test_a_score_of_zero_and_one_reading_are_refused() -> None:
    message, zeros = "expected scores above 0, got 0 for row 0", partial(map, lambda *_: 0.0)
    fails(EvaluatorError, message, run, evaluator=lambda *sides: [*zeros(*sides)])
    for rows, message in (
        (development().rows[1:2], "exactly two readings, got 'female' in 1 rows"),
        ((), "got none in 0 rows"),
    ):
        refuses(message, DevelopmentSet, rows, "en", "de", "own")


def test_a_file_gives_the_same_calibration_back(tmp_path: Path) -> None:
    calibration = run().calibration
    text = calibration.to_json()
    again = calibration_file.read_calibration(write_text(tmp_path / "calibration.json", text))
    assert (again, again.to_json()) == (calibration, text)
    assert len(text) < 20_000
    assert len(calibration.sketch) == 90


_DAMAGED: dict[str, list[Any]] = {
    "wordings": [[], [{}], 3],
    "readings": [["female"], ["female", 3]],
    "n_rows": ["60", -1],
    "sketch": [[3], None],
    "left_out": [3, {"a": 3}],
    "chosen": ["gender_noun"],
    "evaluator": [None],
    "signature": ["a|b"],
}


def test_damaged_calibrations_are_refused(tmp_path: Path) -> None:
    row = json.loads(run().calibration.to_json())
    texts = [json.dumps(row | {key: value}) for key, of in _DAMAGED.items() for value in of]
    for value in (2, "1", None, True, float("nan")):
        row["wordings"][0]["report"]["auc"] = value
        texts.append(json.dumps(row))
    read = calibration_file.read_calibration
    for text in (*texts, "[]", "{}", "{"):
        path = write_text(tmp_path / "calibration.json", text)
        refuses("calibration.json: expected the JSON of a calibration", read, path)


def examples(n: int) -> list[ContrastiveSourceExample]:
    return [
        ContrastiveSourceExample(
            *(str(i), "en", "de", row.source, Focus("Nurse", 0)),
            *(("-",), ("=",), row.reading, row.reading),
        )
        for i, row in enumerate(development(n).rows)
    ]


def test_the_development_set_is_refused_as_a_test_set() -> None:
    check = run().calibration.check_not_development
    rows = development(300).rows
    sources, translations = [r.source for r in rows], [r.translation for r in rows]
    message = "the wording was chosen on these very translations"
    for n in (46, 90, 120, 170):
        refuses(message, check, sources[:n], translations[:n])
    check(sources[90:], translations[90:])
    check(sources, [text + "." for text in translations])


def test_a_large_development_set_is_known_by_a_sample_of_its_rows() -> None:
    outcome = run(development=development(2000), evaluator=hash_scores).calibration
    assert (len(outcome.sketch), outcome.n_rows) == (calibration_file.N_SKETCHED, 2000)
    rows = development(4000).rows
    sources, translations = [r.source for r in rows], [r.translation for r in rows]
    for rows_judged in (slice(0, 500), slice(0, 2000), slice(1000, 2500), slice(0, 2300)):
        refuses(
            "chosen on these very translations",
            outcome.check_not_development,
            sources[rows_judged],
            translations[rows_judged],
        )
    outcome.check_not_development(sources[1700:], translations[1700:])
    digests = calibration_file.row_digests
    assert digests(["a"], ["bc"]) != digests(["ab"], ["c"])


def test_a_calibration_serves_its_evaluator_and_languages_only() -> None:
    calibration = run(evaluator=hash_scores).calibration
    assert calibration.is_for(FunctionEvaluator(hash_scores), "en", "de")
    known, unknown = FunctionEvaluator(hash_scores), FunctionEvaluator(cast(Any, len))
    for other in [(unknown, "en", "de"), (known, "en", "pt"), (known, "fi", "de")]:
        refuses("was made for function hash_scores", calibration.check_evaluator, *other)


def test_the_note_names_a_wording_that_is_clearly_better() -> None:
    clear = run(evaluator=noisy("gender_nouns", 1)).calibration
    assert "The cues gender_nouns do better" in clear.note("gender_brackets")
    assert "do better" not in clear.note("gender_nouns")
    noise = run(evaluator=hash_scores).calibration
    (other,) = set(_NAMES) - {noise.chosen}
    assert "do better" not in noise.note(other)
    refuses("expected one of gender_brackets, gender_nouns", clear.note, "gender_pronouns")


def test_judging_by_a_calibration_checks_it_and_notes_its_figures() -> None:
    calibration = run(evaluator=hash_scores).calibration
    wording: Any = calibration.choice.wording
    material = Material("en", "de", examples(60), wording=wording, calibration=calibration)
    given = ContrastiveConditioning(), material, [f"Übersetzung {i}" for i in range(60)]
    evaluator = FunctionEvaluator(hash_scores)
    result = judge(*given, evaluator=evaluator)
    note = calibration.note(calibration.chosen)
    assert (result.notes, result.wording) == ((note,), write_record(wording))
    assert f"|cues:{calibration.chosen}|" in result.signature
    refuses(
        "the calibration was made for function hash_scores",
        judge,
        *given,
        evaluator=FunctionEvaluator(noisy("gender_nouns", 1)),
    )
    used = [row.translation for row in development(60).rows]
    refuses("on these very translations", judge, *given[:2], used, evaluator=evaluator)
    assert material.examples[1].correct_sources[0].startswith(wording.cues["female"])


def test_evaluate_takes_a_wording_or_a_calibration(shared: Path, tmp_path: Path) -> None:
    upstream = shared / "upstream"
    calibration, results = run(evaluator=hash_scores).calibration, {}
    path = write_text(tmp_path / "cues.json", calibration.to_json())
    texts = [f"Satz {i}" for i in range(3648)]
    options: dict[str, Any] = {"translations": texts, "evaluator": hash_scores}
    for cues in (None, "gender_nouns", named_wording("gender_nouns", "en"), path, str(path)):
        material = load_material("winomt", tgt_lang="de", data_dir=upstream, cues=cues)
        results[str(cues)] = cc_hf.evaluate(material, **options)
    plain, named = results["None"], results["gender_nouns"]
    assert "cues:gender_brackets|" in plain.signature
    assert "cues:gender_nouns|" in named.signature
    nouns = write_record(named_wording("gender_nouns", "en"))
    assert (plain.wording, named.wording) == (None, nouns)
    assert cc_hf.EvaluationResult.from_json(named.to_json()) == named
    by_file = results[str(path)]
    assert f"cues:{calibration.chosen}|" in by_file.signature
    assert calibration.unmeasured_note(calibration.chosen, "winomt") in by_file.notes
    assert not any("calibrat" in note.lower() for note in named.notes)


def test_a_calibration_on_counterfactual_pairs_compares_their_own_sources_only() -> None:
    outcome = run(development=with_sources("{}", "man {}"), evaluator=hash_scores).calibration
    assert [result.name for result in outcome.wordings] == ["counterfactual"]
    assert outcome.left_out.keys() == set(_NAMES)
    assert all("shows the reading" in reason for reason in outcome.left_out.values())


def test_a_choice_of_own_cues_serves_the_same_dataset_only() -> None:
    calibration = run(
        development=with_sources("woman Nurse", "man Nurse"),
        wordings=_WORDINGS[:1],
        evaluator=noisy("gender_nouns", 0),
    ).calibration
    assert calibration.chosen == "counterfactual"
    assert load_material("mt_geneval", "counterfactual_de", cues=calibration).wording is None
    message = "the calibration chose 'counterfactual', the cues of"
    refuses(message, load_material, "winomt", tgt_lang="de", cues=calibration)
