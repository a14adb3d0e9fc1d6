from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sacrebleu import sentence_bleu, sentence_chrf

from cc_hf.studies.mt_geneval.sentence_gaps import sentence_gaps
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses
from tests.studies.mt_geneval.samples import TRANSLATIONS, gap_examples, gap_result


def test_the_largest_and_the_smallest_gaps_come_first() -> None:
    gaps = sentence_gaps(gap_result(), gap_examples())
    assert [gap.pair for gap in gaps.largest] == ["3", "0"]
    assert [gap.pair for gap in gaps.smallest] == ["1"]
    assert (gaps.n_pairs, gaps.n_male, gaps.n_female) == (4, 2, 1)
    assert [gap.pair for gap in sentence_gaps(gap_result(), gap_examples(), n=1).largest] == ["3"]
    assert gaps.largest[0].translations == TRANSLATIONS[3]
    assert gaps.largest[0].sources == ("He left.", "She left.")
    assert gaps.signature.startswith("gaps|data:mt_geneval/counterfactual_de@1|langs:en-de|bleu:")
    assert "eff=yes" in gaps.signature


def test_scores_are_those_of_sacrebleu() -> None:
    for score, compute in (("bleu", sentence_bleu), ("chrf", sentence_chrf)):
        gaps = sentence_gaps(gap_result(), gap_examples(), score=score)
        for gap in (*gaps.largest, *gaps.smallest):
            expected = [
                compute(translation, [reference]).score / 100
                for translation, reference in zip(gap.translations, gap.references, strict=True)
            ]
            assert gap.scores == pytest.approx(expected)
            assert gap.gap == pytest.approx(expected[0] - expected[1])


_SIGNATURE = gap_result().signature.replace("counterfactual_de", "counterfactual_de[first 4]")
_FIRST = {"judgements": gap_result().judgements[:4], "signature": _SIGNATURE}
_LIMITED = "of a limited number of sentences, 4 of 8; evaluate all"
_ROWS = gap_examples()


@cases(
    ({}, _ROWS, {"n": 0}, "n: expected at least 1"),
    ({}, _ROWS, {"score": "ter"}, "score: expected one of bleu, chrf, got 'ter'"),
    ({"tgt_lang": "ja"}, _ROWS, {}, "spaces"),
    ({"judgements": ()}, _ROWS, {}, r"got none of '0\.male'; use the result"),
    (_FIRST, _ROWS, {}, rf"got none of '2\.male'; the result is {_LIMITED}"),
    ({}, _ROWS[:-1], {}, "pair '3': expected a sentence of each gender, got male"),
    ({}, [replace(_ROWS[0], extra={})], {}, r"example '0\.male': expected a config"),
)
def test_what_has_no_gaps_is_refused(
    changes: dict[str, Any], rows: list[Any], options: dict[str, Any], message: str
) -> None:
    refuses(message, sentence_gaps, gap_result(**changes), rows, **options)
