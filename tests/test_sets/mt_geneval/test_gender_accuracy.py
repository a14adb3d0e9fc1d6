import functools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cc_hf.normalization import is_blank
from cc_hf.results import EvaluationResult
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.test_sets.mt_geneval.gender_accuracy import judge_rows, words
from tests.helpers.usual import cases, compute_metric, evaluate_metric, refuses

compute = functools.partial(compute_metric, "gender_accuracy")
evaluate = functools.partial(evaluate_metric, "gender_accuracy")

HERS = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt.", "gender": "female"}
HIS = {"reference": "Er ist Arzt.", "contrastive_reference": "Sie ist Ärztin.", "gender": "male"}
PAIR = [{**HIS, "pair": "0"}, {**HERS, "pair": "0"}]
_TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
_FULL = _TEXT.filter(lambda text: not is_blank(text))


def test_words_are_split_as_in_the_original_program() -> None:
    actual = words("L'Ärztin, (die)  «gute» UND-so ¿que?")
    assert actual == {*["l", "ärztin", "die", "«gute»", "und", "so", "¿que"]}
    assert words("STRAẞE GROß ά") == {"straße", "groß", "ά"}  # neither case-folded nor normalised
    assert words("") == words(" .,! ") == frozenset()
    # As in released verdicts: "Arzt" and "Arzt." are two words, and so are "Sie" and "sie".
    kinds = [evaluate(["sie war Arzt"], [HERS], tokens=name) for name in ("split", "mt_geneval")]
    assert [kind.judgements[0].predicted for kind in kinds] == ["", "both"]
    assert ["|tokens:split|" in kind.signature for kind in kinds] == [True, False]


@cases(
    ("Die Ärztin.", "correct", "female"),
    ("Der Arzt.", "incorrect", "male"),
    ("Der Arzt, sie ist Ärztin.", "incorrect", "both"),
    ("Keine Ahnung.", "correct", ""),
    ("", "correct", ""),
)
def test_verdicts_follow_words_in_both(translation: str, verdict: str, predicted: str) -> None:
    def judged(row: dict[str, str], **options: Any) -> tuple[str, ...]:
        (actual,) = judge_rows([translation], [row], **options)
        return actual.verdict, actual.predicted, actual.gold, actual.category

    assert judged(HERS) == (verdict, predicted, "female", "female")
    without = {key: text for key, text in HERS.items() if key != "gender"}
    sides = {"female": "reference", "male": "contrastive"}
    assert judged(without)[:2] == (verdict, sides.get(predicted, predicted))
    strict = verdict if predicted else "inconclusive"
    assert judged(HERS, undecided="inconclusive")[0] == strict


def test_a_pair_is_correct_when_both_rows_are() -> None:
    def pairs(first: str, second: str) -> EvaluationResult:
        texts = [first, second, "Er ist Arzt.", "Sie ist Ärztin."]
        return evaluate(texts, [*PAIR, {**HIS, "pair": "1"}, {**HERS, "pair": "1"}], n_resamples=20)

    one_gender = pairs("Er ist Arzt.", "Er ist Arzt.")
    expected = {"accuracy": 0.75, "pair_accuracy": 0.5, "accuracy_female": 0.5}
    assert expected.items() <= one_gender.scores.items()
    assert (one_gender.counts["n_pairs"], one_gender.counts["n_pairs_correct"]) == (2, 1)
    undecided = pairs("Ja.", "Sie ist Ärztin.")
    expected = {"pair_accuracy": 1, "decided_pair_accuracy": 1, "undecided_rate": 0.25}
    assert expected.items() <= undecided.scores.items()
    assert undecided.counts["n_undecided"] == 1
    for actual in (one_gender, undecided):
        for name, interval in actual.intervals.items():
            assert 0 <= interval.low <= interval.high <= 1
            assert name in actual.scores


def test_figures_without_samples_are_omitted() -> None:
    result = evaluate(["", ""], PAIR, n_resamples=20)
    for name in ["accuracy", "pair_accuracy", "undecided_rate"]:
        assert result.scores[name] == 1
    assert result.counts["n_blank"] == 2
    assert not [name for name in (*result.scores, *result.intervals) if name.startswith("decided")]
    single = evaluate(["Sie ist Ärztin."], [HERS], n_resamples=20)
    assert single.scores["accuracy"] == single.scores["decided_accuracy_female"] == 1
    assert single.intervals["accuracy"] == wilson_interval(1, 1)
    assert "pair_accuracy" not in single.scores
    sometimes = evaluate(["Sie ist Ärztin.", "Ja."], [HERS] * 2, n_resamples=50)
    assert sometimes.scores["decided_accuracy"] == 1
    assert sometimes.intervals["decided_accuracy"] == wilson_interval(1, 1)


@cases(
    (["x"], [{**HERS, "pair": 3}], {}, "row 0: pair: expected a string or nothing, got 3"),
    (["x"] * 2, [*PAIR[:1], HERS], {}, "row 1: pair: expected the name of a pair.*got none"),
    (["x"] * 3, [*PAIR, PAIR[0]], {}, "row 0: pair '0': expected two rows, .* got 3"),
    (["x"], [HERS], {"tgt_lang": "xx"}, "does not know the language 'xx'"),
    (["x"], [HERS], {"tgt_lang": "zh"}, "reads words between spaces, which 'zh' does not"),
    (["x"], [HERS], {"undecided": "wrong"}, "undecided: expected one of correct.*got 'wrong'"),
    (["x"], [HERS], {"tokens": "13a"}, "tokens: expected one of mt_geneval, split, got '13a'"),
)
def test_bad_input_fails(predictions: Any, references: Any, options: Any, message: str) -> None:
    refuses(message, compute, predictions, references, **options)


@given(_FULL, _FULL)
def test_references_are_correct_and_mixed_words_incorrect(reference: str, contrastive: str) -> None:
    row = {"reference": reference, "contrastive_reference": contrastive}
    assert judge_rows([reference], [row])[0].is_correct
    (mixed,) = judge_rows([f"{reference} {contrastive}"], [row])
    assert mixed.is_correct == (words(contrastive) <= words(reference))
