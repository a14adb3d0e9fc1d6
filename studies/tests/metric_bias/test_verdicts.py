"""Released verdicts on genders, judges beside them, and pairs that differ in a gender."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.metric_bias.pairs import Member, PairBias, members, pair_bias
from cc_hf_studies.metric_bias.verdicts import checked, comparable, released_pairs

import cc_hf
from cc_hf.errors import InputError
from cc_hf.normalization import composed
from cc_hf.reading import text_lines
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from studies.examples.metric_bias import verdicts_and_pairs
from tests.helpers.usual import cases, fails, known, read_json, run_command

#: Language -> correct by the released verdicts (women, men, both), by the rule, and other counts.
_RELEASED = {
    "ar": [(242, 275, 218), (242, 275, 218), 596, 47, 0, 154],
    "de": [(258, 258, 220), (257, 260, 220), 589, 23, 2, 153],
    "fr": [(221, 271, 196), (217, 269, 193), 586, 13, 6, 148],
    "it": [(212, 275, 192), (208, 275, 189), 584, 87, 36, 147],
    "pt": [(220, 278, 201), (215, 279, 197), 590, 27, 13, 160],
}


def test_released_verdicts_follow_from_words_split_at_spaces(shared: Path) -> None:
    upstream, order = shared / "upstream", ("female", "male", "both")
    by_lang = {lang: checked(lang, data_dir=upstream) for lang in _RELEASED}
    for lang, made in by_lang.items():
        split, rule = made.rules["split"], made.rules["mt_geneval"]
        correct = [tuple(of[name] for name in order) for of in (made.n_correct, rule.n_correct)]
        numbers = [rule.n_agree, rule.n_undecided, made.n_equal, made.n_comparable]
        assert [*correct, *numbers] == _RELEASED[lang]
        assert (split.n_correct, split.n_agree) == (made.n_correct, 600)

    page = (Path(__file__).parents[3] / "studies/docs/metric_bias.md").read_text(encoding="utf-8")
    assert verdicts_and_pairs.rules(by_lang) in page
    by_words = dict([*verdicts_and_pairs.METRICS.items()][:1])
    assert verdicts_and_pairs.pairs(upstream, by_words) in page  # the first rows of the table


def test_a_judge_that_knows_the_verdicts_agrees_with_them(shared: Path) -> None:
    pairs = released_pairs("pt", shared / "upstream")
    readings = {
        (pair.sources[gender], composed(pair.translations[gender])): (
            gender,
            pair.is_correct[gender],
        )
        for pair in pairs
        for gender in ("male", "female")
    }

    def knowing(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        """Prefer the right source where the translation is right; find women's texts worse."""
        keys = zip(sources, translations, strict=True)
        by_gender = {"female": (0.08, 0.4), "male": (0.1, 0.5), "": (0.2, 0.2)}
        read = [readings.get(key, ("", True)) for key in keys]
        return [by_gender[gender][is_correct] for gender, is_correct in read]

    made = checked("pt", knowing, data_dir=shared / "upstream")

    # One text for both genders has one reading, though both verdicts on it may be "Correct".
    one_text = [p for p in pairs if p.translations["male"] == p.translations["female"]]
    assert sum(all(pair.is_correct.values()) for pair in one_text) == 5

    for name, n, n_same in (("all", 600, 595), ("decided", 561, 561)):
        beside = made.agreement[name]
        assert (round(beside.share.value * n), beside.share.n, beside.auc) == (n_same, n, 1.0)
        assert beside.of_correct.n + beside.of_incorrect.n == n
    n_wrong = 600 - made.n_correct["female"] - made.n_correct["male"]
    assert made.agreement["all"].of_incorrect.n == n_wrong

    masculine = known(made.preference).masculine
    assert (masculine.value, masculine.n) == (1.0, 160)
    assert made.ratio == pytest.approx(0.8)
    assert "eval:function" in made.signature
    assert comparable(pairs[:9]) == []  # no bin of ten

    incorrect = [pair.translations["female"] for pair in pairs if not pair.is_correct["female"]]
    for beginning in ("Ela também foi membro", "A condessa de Warwick foi um dos comandantes"):
        assert any(text.startswith(beginning) for text in incorrect)  # as the page says


def test_a_language_without_released_verdicts_is_refused() -> None:
    fails(InputError, "expected one of ar, de, fr, it, pt, got es", checked, "es")


def _released(shared: Path, system: str, left_out: set[int]) -> PairBias:
    """Return the figures of the verdicts that Manna et al. released."""
    folder = shared / "upstream/chiaramanna/gender-cue-integration-MT/files"
    read = []
    for name in ("pro", "anti"):
        indices = read_json(folder / f"indices/{system}/{name}.json")
        predicted = dict.fromkeys(indices["predicted_male_indices"], "male")
        predicted |= dict.fromkeys(indices["predicted_female_indices"], "female")
        golds = [line.split("\t")[0] for line in text_lines(folder / f"source/en_{name}.txt")]
        read += [
            Member(str(row), gold, predicted.get(row, ""), name == "pro")
            for row, gold in enumerate(golds)
            if row not in left_out
        ]
    return pair_bias(read)


@cases(
    ("opus", 96, (0.8229, 0.1771), (962, 240, 102, 278), (0.8229, 0.1771)),
    ("nllb", 477, (0.6918, 0.3082), (746, 174, 479, 183), (0.6939, 0.3061)),
)
def test_minimal_pair_accuracy_is_that_of_released_verdicts(
    system: str, n_right: int, pro: Any, readings: Any, pro_ours: Any, shared: Path
) -> None:
    for left_out, shares in (({1569, 1572}, pro), ({1569, 1571}, pro_ours)):
        bias = _released(shared, system, left_out)
        assert (bias.right.n, round(bias.right.value * 1582)) == (1582, n_right)
        of_gender = [bias.right_pro[gender].value for gender in ("female", "male")]
        assert of_gender == pytest.approx(shares, abs=5e-5)

        if 1572 in left_out:
            of = bias.same_gender
            parts = (of["male"], of["female"], bias.different, bias.unread)
            assert tuple(round(part.value * 1582) for part in parts) == readings
            assert bias.same.value == pytest.approx((readings[0] + readings[1]) / 1582)


def test_results_on_pairs_are_judged_by_any_metric(shared: Path, tmp_path: Path) -> None:
    material = cc_hf.load_material("winomt", "pairs", tgt_lang="de", data_dir=shared / "upstream")
    always_male = ["Der Arzt."] * len(material.examples)
    alignments = {"alignments": ["0-0 1-1"] * len(always_male)}
    by_cues = lambda sources, _: [1.0 + ("[male]" in source) for source in sources]  # noqa: E731
    options: dict[str, dict[str, Any]] = {
        "words": {"metric": "winomt_pattern_matching", "options": alignments},
        "cues": {"evaluator": by_cues},
    }
    for name, chosen in options.items():
        result = cc_hf.evaluate(material, translations=always_male, **chosen)
        (tmp_path / f"{name}.json").write_text(result.to_json(), encoding="utf-8")
        assert (result.scores["pair_accuracy"], result.counts["n_pairs"]) == (0.0, 1582)

    run_command(f"study metric_bias pairs {tmp_path} -o {tmp_path / 'out.json'}")
    for bias in read_json(tmp_path / "out.json").values():
        assert (bias["right"]["value"], bias["same"]["value"]) == (0.0, 1.0)
        # By the rules for German, a nurse is always female.
        assert bias["same_gender"]["male"]["value"] > 0.97


def _result(*judgements: tuple[str, str, bool, dict[str, Any]]) -> EvaluationResult:
    verdicts = ("incorrect", "correct")
    judged = tuple(Judgement(*row[:3], "x", verdicts[row[2]], **row[3]) for row in judgements)
    return EvaluationResult("", "", "de", "m", "m|n:2", len(judged), {}, {}, (), judged)


def test_readings_come_from_verdicts_where_a_metric_reads_no_gender() -> None:
    twin = {"pair": "0"}
    unscored = {**twin, "probability_correct": 0.0}
    read = members(_result(("a", "male", False, twin), ("b", "female", False, unscored)))
    assert [member.reading for member in read] == ["female", ""]
    assert [member.is_pro for member in read] == [None, None]
    assert pair_bias(read).unread.value == 1.0
    for judged, message in (
        (("b", "male", True, twin), "pair 0: expected a male and a female .* got male twice"),
        (("b", "neutral", True, twin), "example b: expected .* male or female, got 'neutral'"),
    ):
        fails(InputError, message, members, _result(("a", "male", True, twin), judged))
    fails(InputError, "in pairs of two", pair_bias, members(_result(("a", "male", True, {}))))
