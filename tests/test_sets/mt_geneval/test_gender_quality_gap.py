"""BLEU and chrF on women and men, their gap, and its bootstrap over pairs."""

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from cc_hf.normalization import composed, is_blank
from tests.helpers.usual import cases, compute_metric, evaluate_metric, limits, refuses

gap = functools.partial(compute_metric, "gender_quality_gap")
gap_result = functools.partial(evaluate_metric, "gender_quality_gap")

HIM = {"reference": "Er ist jetzt ein guter Arzt.", "gender": "male", "pair": "0"}
HER = {"reference": "Sie ist jetzt eine gute Ärztin.", "gender": "female", "pair": "0"}
_LINE = st.text(st.characters(codec="utf-8"), max_size=30).map(composed)
_FULL_LINE = _LINE.filter(lambda text: not is_blank(text))


def rows_of(pairs: list[tuple[str, str, str, str]]) -> tuple[list[str], list[dict[str, Any]]]:
    references = []
    for n, (*_, his, hers) in enumerate(pairs):
        references += [
            {"reference": his, "gender": "male", "pair": str(n)},
            {"reference": hers, "gender": "female", "pair": str(n)},
        ]
    return [text for pair in pairs for text in pair[:2]], references


@given(st.lists(st.tuples(_LINE, _LINE, _FULL_LINE, _FULL_LINE), min_size=1, max_size=5))
def test_scores_equal_sacrebleu_for_any_text(pairs: list[tuple[str, str, str, str]]) -> None:
    translations, references = rows_of(pairs)
    actual = gap(translations, references, n_resamples=3, clean=False)
    for name, scorer in (("bleu", BLEU(tokenize="13a")), ("chrf", CHRF())):
        texts = [row["reference"] for row in references]
        sides = [
            (translations[offset::2], [texts[offset::2]])
            for offset in (0, 1)  # rows of men and of women alternate
        ]
        male, female = (scorer.corpus_score(*side).score / 100 for side in sides)
        values = [actual[f"{name}_{figure}"] for figure in ("male", "female", "gap")]
        assert values == pytest.approx([male, female, male - female], abs=1e-12)
        assert actual[f"{name}_signature"] == str(scorer.get_signature())


def test_the_bootstrap_resamples_pairs() -> None:
    """If both halves of every pair are equally good, the gap is 0 in every resample, although BLEU
    varies.
    """
    texts = [(f"a b c d {n}", f"a b c d {n % 3}") for n in range(9)]
    translations, references = rows_of([(t, t, r, r) for t, r in texts])
    actual = gap(translations, references, n_resamples=200)

    note = "no interval: it is the same in every resample"
    assert actual["interval_notes"] == {"bleu_gap": note, "chrf_gap": note}

    order = [*range(0, 18, 2), *range(17, 0, -2)]  # the feminine rows come last, in reverse order
    turned = [translations[i] for i in order], [references[i] for i in order]
    assert gap(*turned, n_resamples=200)["intervals"] == actual["intervals"]

    low, high = actual["intervals"]["bleu_male"]
    assert low < actual["bleu_male"] < high

    by_seed = [gap(translations, references, n_resamples=3, seed=seed) for seed in range(4)]
    assert len({str(other["intervals"]) for other in by_seed}) > 1


def test_resampled_scores_equal_sacrebleu_on_the_drawn_segments() -> None:
    texts = [(f"a b c d {n}", f"a b x d {n}", "a b c d 1", "a b c d 2") for n in range(4)]
    translations, references = rows_of(texts)
    drawn = np.random.default_rng(7).integers(0, 4, size=(3, 4))  # as the resampling draws
    actual = gap_result(translations, references, n_resamples=3, seed=7)
    for offset, gender in enumerate(("male", "female")):
        sides = [
            (
                [translations[2 * i + offset] for i in row],
                [[references[2 * i + offset]["reference"] for i in row]],
            )
            for row in drawn
        ]
        for name, scorer in (("bleu", BLEU()), ("chrf", CHRF())):
            resampled = sorted(scorer.corpus_score(*side).score for side in sides)
            interval = limits(actual.intervals[f"{name}_{gender}"])
            assert interval == pytest.approx(np.quantile(resampled, [0.025, 0.975]) / 100)


def test_blank_translations_have_scores_of_zero() -> None:
    actual = gap_result(["", " "], [HIM, HER], n_resamples=20)
    assert {*actual.scores.values()} == {0}
    assert (actual.n, actual.counts, actual.judgements) == (2, {"n_pairs": 1, "n_blank": 2}, ())


def test_translations_that_equal_their_references_have_no_gap() -> None:
    perfect = gap_result([HIM["reference"], HER["reference"]], [HIM, HER], n_resamples=20)
    assert {"bleu_male": 1, "chrf_female": 1, "bleu_gap": 0}.items() <= perfect.scores.items()


@cases(
    (["x", "y"], [HIM, {**HER, "gender": "n"}], {}, "row 1: gender: .* male, female, got 'n'"),
    (["x", "y"], [HIM, HIM], {}, "row 1: pair '0': expected one male row.*got a second one"),
    (["x", "y"], [HIM, {**HER, "pair": "1"}], {}, "row 0: pair '0': expected a.*got none"),
    (["x", "y"], [HIM, {**HER, "pair": None}], {}, "row 1: pair: expected a text.*got None"),
    (["x", "y"], [HIM, HER], {"tgt_lang": "xx"}, "does not know the language 'xx'"),
    (["x", "y"], [HIM, HER], {"tgt_lang": "ja"}, "which 'ja' does not write; expected one"),
)
def test_rows_that_are_no_pairs_and_unknown_languages_are_refused(
    predictions: Any, references: Any, options: Any, message: str
) -> None:
    refuses(message, gap, predictions, references, **options)
