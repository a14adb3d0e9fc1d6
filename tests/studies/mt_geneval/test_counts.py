from __future__ import annotations

import pytest

from cc_hf.errors import InputError
from cc_hf.studies.mt_geneval.counts import DataCounts, count_data
from tests.studies.mt_geneval.samples import counterfactual, marked_example


def test_words_and_phrases_are_counted_once_in_lower_case() -> None:
    female = ("<F>She</F> saw that <F>she</F> won.", "<F>Die alte Frau</F> kam.")
    male = ("<F>He</F> saw it.", '"<F>Der ""alte"" Mann</F> kam."')
    rows = [marked_example("female", *female), marked_example("male", *male)]
    counts = count_data(rows)
    assert counts == DataCounts(1, 7, 2, counts.n_target_words, 2)


def test_other_examples_are_refused() -> None:
    with pytest.raises(InputError, match="examples: expected at least one"):
        count_data([])
    with pytest.raises(InputError, match=r"example '0\.female': expected a configuration counterf"):
        count_data([counterfactual("0.female", "She")])
