import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf.cue_building import calibration_file
from cc_hf.cue_building.calibration import CalibrationRun, calibrate
from cc_hf.cue_building.development import DevelopmentRow, DevelopmentSet
from cc_hf.cues.wordings import Wording, named_wording
from cc_hf.errors import EvaluatorError, InputError, ResultWarning
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material, load_material
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.metrics.base import Origin
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.statistics.rank_tests import mann_whitney
from tests.helpers.cases import cases
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.refusals import fails, refuses

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
    """Return a development set with own cues: sources of the readings, in which {} is the source."""

    def own(source: str) -> dict[str, tuple[str, ...]]:
        male_sources = (*more, male.format(source))[::-1]
        return {"female": (*more, female.format(source)), "male": male_sources}

    rows = tuple(replace(row, sources=own(row.source)) for row in development().rows)
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


def run(seed: int = 0, **options: Any) -> CalibrationRun:
    given = {"evaluator": noisy("gender_nouns", 8), "wordings": _WORDINGS, **options}
    return calibrate(given.pop("development", development()), seed=seed, **given)


def test_the_wording_that_the_evaluator_understands_is_chosen() -> None:
    for understood in _NAMES:
        calibration = run(evaluator=noisy(understood, 2)).calibration
        assert calibration.chosen == understood
        assert calibration.choice.report.auc > 0.9
        (other,) = set(_NAMES) - {understood}
        assert calibration.of(other).report.auc < 0.8


def test_wordings_that_are_equally_good_leave_the_choice_to_their_order() -> None:
    def sees_both(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        one, other = (noisy(name, 0.1) for name in _NAMES)
        return [max(pair) for pair in zip(one(sources, translations), other(sources, translations))]

    for wordings in (_WORDINGS, _WORDINGS[::-1]):
        assert run(evaluator=sees_both, wordings=wordings).calibration.chosen == wordings[0].name


def test_figures_are_those_of_a_plain_loop() -> None:
    found = run()
    readings = np.array(found.readings)
    for result in found.calibration.results:
        difference = np.array(found.differences[result.name])
        halves = (found.is_reported, result.report), (~found.is_reported, result.choice)
        for half, figures in halves:
            first, second = (difference[half & (readings == x)] for x in ("female", "male"))
            wins = [(a > b) + (a == b) / 2 for a in first for b in second]
            assert figures.auc == pytest.approx(sum(wins) / len(wins))
            u = mann_whitney(list(first), list(second)).u
            assert figures.auc == pytest.approx(u / (len(first) * len(second)))
            right = [*(first > 0), *(second < 0)]
            assert figures.accuracy == pytest.approx(np.mean(right))
            assert figures.accuracies == pytest.approx(((first > 0).mean(), (second < 0).mean()))
            assert figures.shift == pytest.approx((np.median(first) + np.median(second)) / 2)
            assert figures.n == len(right)


def test_intervals_hold_the_figure_and_are_like_those_of_a_direct_bootstrap() -> None:
    found = run()
    result = found.calibration.of("gender_nouns")
    difference = found.differences["gender_nouns"][found.is_reported]
    is_female = np.array(found.readings)[found.is_reported] == "female"
    generator = np.random.default_rng(1)
    values = []
    for _ in range(2000):
        drawn = generator.integers(0, len(difference), len(difference))
        first, second = (difference[drawn][is_female[drawn] == x] for x in (True, False))
        values.append((first[:, None] > second[None, :]).mean())
    interval = result.intervals["auc"]
    assert interval.low < result.report.auc < interval.high
    assert interval.low == pytest.approx(np.quantile(values, 0.025), abs=0.03)
    assert interval.high == pytest.approx(np.quantile(values, 0.975), abs=0.03)
    assert result.intervals["accuracy"].low < result.report.accuracy


def test_a_bias_to_one_reading_shows_in_the_shift() -> None:
    for bias in (-3.0, 0.0, 3.0):
        figures = run(evaluator=noisy("gender_nouns", 0.5, bias)).calibration.choice.report
        assert (figures.shift, figures.auc) == (pytest.approx(bias, abs=0.3), 1)
    assert figures.accuracies[1] < figures.accuracies[0]  # a bias to female fails on male


def test_a_calibration_is_reproducible_by_its_seed_and_a_sentence_is_in_one_half() -> None:
    assert run(seed=3).calibration == run(seed=3).calibration
    assert (run(seed=3).is_reported != run(seed=4).is_reported).any()
    rows = development().rows
    again = (replace(r, translation=r.translation + "!") for r in rows)
    found = run(development=development(rows=(*rows, *again)))
    assert (found.is_reported[:90] == found.is_reported[90:]).all()


def test_own_cues_are_compared_and_several_sources_count_by_the_best() -> None:
    own = with_sources("woman {}", "man {}", "nothing")
    found = run(development=own, evaluator=noisy("gender_nouns", 1)).calibration
    assert [result.name for result in found.results] == [*_NAMES, "counterfactual"]
    assert found.of("counterfactual").wording is None
    assert found.of("counterfactual").report.auc == pytest.approx(1.0, abs=0.1)


def test_a_wording_that_fits_no_row_is_left_out_with_its_reason() -> None:
    plain = development().rows
    rows = tuple(replace(row, source=row.source.replace("she", "they")) for row in plain)
    found = run(development=development(rows=rows), wordings=None).calibration
    assert "it makes the same source for both readings" in found.left_out["gender_pronouns"]
    rows = tuple(replace(row, focus=None) for row in plain)
    found = run(development=development(rows=rows), wordings=None).calibration
    assert [result.name for result in found.results] == ["gender_pronouns"]
    assert "not located" in found.left_out["gender_nouns"]


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
    found = run(**given, wordings=wordings).calibration
    assert (found.readings, found.chosen) == (("Sie", "du"), "address")
    assert found.choice.report.accuracy == 1.0
    refuses("wordings: expected at least one for the readings Sie", run, **given, wordings=None)


@cases(
    ({"n": 30}, {}, "expected at least 10 translations of each reading in each half"),
    ({}, {"wordings": [*_WORDINGS, _WORDINGS[0]]}, "expected another name for each"),
    ({}, {"wordings": [Wording("a", {"x": "1", "y": "2"})]}, "expected at least one that fits"),
    ({}, {"score": "median"}, "score: expected one of"),
    ({}, {"seed": -1}, "seed: expected an integer from 0"),
)
def test_input_that_cannot_be_calibrated_is_refused(
    change: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    refuses(message, run, development=development(**change), **options)


def test_a_score_of_zero_is_refused() -> None:
    with pytest.raises(EvaluatorError, match="expected scores above 0, got 0 for row 0"):
        run(evaluator=lambda sources, _: [0.0] * len(sources))


def test_a_development_set_has_two_readings() -> None:
    with pytest.raises(InputError, match="exactly two readings, got 'female' in 1 rows"):
        DevelopmentSet(development().rows[1:2], "en", "de", "own")
    refuses("got none in 0 rows", DevelopmentSet, (), "en", "de", "own")


def test_a_file_gives_the_same_calibration_back() -> None:
    calibration = run().calibration
    text = calibration.to_json()
    assert calibration_file.Calibration.from_json(text) == calibration
    assert calibration_file.Calibration.from_json(text).to_json() == text
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


def test_damaged_calibrations_are_refused() -> None:
    row = json.loads(run().calibration.to_json())
    texts = [json.dumps(row | {key: value}) for key, of in _DAMAGED.items() for value in of]
    for value in (2, "1", None, True, float("nan")):
        row["wordings"][0]["report"]["auc"] = value
        texts.append(json.dumps(row))
    for text in (*texts, "[]", "{}"):
        refuses("expected the JSON of a calibration", calibration_file.Calibration.from_json, text)
    refuses(
        "expected the JSON of a calibration.*, got '{'", calibration_file.Calibration.from_json, "{"
    )


def examples(n: int) -> list[ContrastiveSourceExample]:
    return [
        ContrastiveSourceExample(
            *(str(i), "en", "de", row.source, Focus("Nurse", 0)),
            *(("-",), ("=",), row.reading, row.reading),
        )
        for i, row in enumerate(development(n).rows)
    ]


def test_the_development_set_is_refused_as_a_test_set() -> None:
    calibration = run().calibration
    rows = development(300).rows
    sources, translations = [r.source for r in rows], [r.translation for r in rows]
    for n in (46, 90, 120, 170):
        with pytest.raises(InputError, match="the wording was chosen on these very translations"):
            calibration.check_not_development(sources[:n], translations[:n])
    calibration.check_not_development(sources[90:], translations[90:])
    calibration.check_not_development(sources, [text + "." for text in translations])


def test_a_large_development_set_is_known_by_a_sample_of_its_rows() -> None:
    found = run(development=development(2000), evaluator=hash_scores).calibration
    assert (len(found.sketch), found.n_rows) == (calibration_file.N_SKETCHED, 2000)
    rows = development(4000).rows
    sources, translations = [r.source for r in rows], [r.translation for r in rows]
    for rows_judged in (slice(0, 500), slice(0, 2000), slice(1000, 2500), slice(0, 2300)):
        judged = sources[rows_judged], translations[rows_judged]
        refuses("chosen on these very translations", found.check_not_development, *judged)
    found.check_not_development(sources[1700:], translations[1700:])
    assert calibration_file.row_digests(["a"], ["bc"]) != calibration_file.row_digests(
        ["ab"], ["c"]
    )


def test_a_calibration_serves_its_evaluator_and_languages_only() -> None:
    calibration = run(evaluator=hash_scores).calibration
    assert calibration.is_for(hash_scores, "en", "de")
    others: list[Any] = [(len, "en", "de"), (hash_scores, "en", "pt"), (hash_scores, "fi", "de")]
    for other in others:
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
    wording = calibration.choice.wording
    assert wording is not None
    material = Material("en", "de", examples(60), wording=wording, calibration=calibration)
    metric = ContrastiveConditioning()
    translations = [f"Übersetzung {i}" for i in range(60)]
    result = judge(metric, material, translations, evaluator=hash_scores)
    assert result.notes == (calibration.note(calibration.chosen),)
    assert f"|cues:{calibration.chosen}|" in result.signature
    assert result.wording == wording.to_row()
    with pytest.raises(InputError, match="was made for function hash_scores"):
        judge(metric, material, translations, evaluator=noisy("gender_nouns", 1))
    used = [row.translation for row in development(60).rows]
    refuses("on these very translations", judge, metric, material, used, evaluator=hash_scores)
    assert material.examples[1].correct_sources[0].startswith(wording.cues["female"])


@pytest.mark.shared
def test_evaluate_takes_a_wording_or_a_calibration(shared: Path, tmp_path: Path) -> None:
    upstream = shared / "upstream"
    translations = [f"Satz {i}" for i in range(3648)]
    path = tmp_path / "cues.json"
    calibration = run(evaluator=hash_scores).calibration
    path.write_text(calibration.to_json(), encoding="utf-8")
    results = {}
    options: dict[str, Any] = {"translations": translations, "evaluator": hash_scores}
    for cues in (None, "gender_nouns", named_wording("gender_nouns", "en"), path, str(path)):
        material = load_material("winomt", tgt_lang="de", data_dir=upstream, cues=cues)
        results[str(cues)] = cc_hf.evaluate(material, **options)
    plain, named = results["None"], results["gender_nouns"]
    assert "cues:gender_brackets|" in plain.signature
    assert plain.wording is None
    assert "cues:gender_nouns|" in named.signature
    assert named.wording == named_wording("gender_nouns", "en").to_row()
    assert cc_hf.EvaluationResult.from_json(named.to_json()) == named
    by_file = results[str(path)]
    assert f"cues:{calibration.chosen}|" in by_file.signature
    assert calibration.unmeasured_note(calibration.chosen, "winomt") in by_file.notes
    assert not any("calibrat" in note.lower() for note in named.notes)


@cases(
    ("winomt", None, "gender_noun", "did you mean 'gender_nouns'|gender_nouns"),
    ("winomt", "all", "gender_nouns", "winomt all has no sources with cues"),
    ("winomt", None, 3, "cues: expected the name of a wording"),
    ("winomt", None, "missing.json", "missing.json"),
)
def test_unfit_cues_are_refused(dataset: str, config: str | None, cues: Any, message: str) -> None:
    fails(cc_hf.CCError, message, load_material, dataset, config, tgt_lang="de", cues=cues)


def counterfactuals(n: int = 90) -> list[ContrastiveSourceExample]:
    """Return examples whose own sentence already shows the gender."""
    return [
        replace(example, correct_sources=(example.source,), incorrect_sources=("The other.",))
        for example in examples(n)
    ]


@pytest.mark.parametrize("wording", _WORDINGS, ids=lambda wording: wording.name)
def test_cues_on_top_of_a_source_that_shows_the_reading_are_refused(wording: Wording) -> None:
    material = Material("en", "de", counterfactuals(), wording=wording)
    message = r"cues: example '0': .* shows the reading; use .* own cues \(leave `cues` out\)"
    refuses(message, judge, ContrastiveConditioning(), material, ["x"] * 90, evaluator=hash_scores)


def test_a_calibration_on_counterfactual_pairs_compares_their_own_sources_only() -> None:
    found = run(development=with_sources("{}", "man {}"), evaluator=hash_scores).calibration
    assert [result.name for result in found.results] == ["counterfactual"]
    assert found.left_out.keys() == set(_NAMES)
    assert all("shows the reading" in reason for reason in found.left_out.values())


@cases(
    ("winomt", False, True, False),
    ("winomt", True, True, False),
    ("simplegen", False, False, False),
    ("simplegen", True, False, True),
)
def test_a_shipped_calibration_is_quoted_for_its_dataset_only(
    dataset: str, chosen_by_user: bool, quotes: bool, warns: bool
) -> None:
    cues = ((e, f"[{e.gold}] {e.source}", f"[other] {e.source}") for e in examples(4))
    rows = [replace(e, correct_sources=(c,), incorrect_sources=(i,)) for e, c, i in cues]
    origin = Origin(dataset, "", {"cues": "gender_brackets"})
    wording = _WORDINGS[0] if chosen_by_user else None
    material = Material("en", "de", rows, wording=wording, named=origin)
    evaluator, texts = load_evaluator("cc-tiny-en-de"), [f"Satz {i}" for i in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResultWarning)
        result = judge(ContrastiveConditioning(), material, texts, evaluator=evaluator)
    assert any(note.startswith(calibration_file.NOTE_BEGINNING) for note in result.notes) == quotes
    unmeasured = [note for note in result.notes if "not measured. Calibrate" in note]
    assert bool(unmeasured) == warns == any(str(w.message) in unmeasured for w in caught)


def test_a_choice_of_own_cues_serves_the_same_dataset_only() -> None:
    own: Any = {"development": with_sources("woman Nurse", "man Nurse"), "wordings": _WORDINGS[:1]}
    calibration = run(**own, evaluator=noisy("gender_nouns", 0)).calibration
    assert calibration.chosen == "counterfactual"
    assert load_material("mt_geneval", "counterfactual_de", cues=calibration).wording is None
    with pytest.raises(InputError, match="the calibration chose 'counterfactual', the cues of"):
        load_material("winomt", tgt_lang="de", cues=calibration)


def test_the_shipped_calibrations_can_be_read() -> None:
    assert [c.tgt_lang for c in calibration_file.shipped_calibrations()] == ["pt", "de"]
    for calibration in calibration_file.shipped_calibrations():
        assert calibration.choice.report.auc >= 0.9
        assert calibration.note(calibration.chosen)
