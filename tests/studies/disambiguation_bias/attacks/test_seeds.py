from collections import Counter
from typing import Any

import numpy as np
import pytest

from cc_hf.errors import InputError
from cc_hf.studies.disambiguation_bias.attacks.seeds import (
    SeedRules,
    fluent_samples,
    has_preferred_sense,
    select_seeds,
)
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable, count_attractors
from cc_hf.studies.disambiguation_bias.sentences import sentence_bias
from tests.helpers.cases import cases
from tests.helpers.letter_evaluator import TextEvaluator
from tests.helpers.refusals import refuses
from tests.studies.disambiguation_bias.attacks.helper import samples_from, tagged, training_pairs
from tests.studies.disambiguation_bias.corpus import lexicon_of

LEXICON = lexicon_of(spring={"season": "Frühling Lenz", "water": "Quelle Quellen"})
A_SPRING = [tagged(0, "A spring came .", "season")]


def test_short_and_most_biased_pairs_are_no_seeds() -> None:
    pairs = training_pairs()
    counts = Counter[str]()
    rules = SeedRules(min_tokens=9, dropped_share=0.2)
    table = count_attractors(pairs)
    seeds = list(select_seeds(pairs, table, rules=rules, counts=counts))
    dropped = {"n_unknown": 0, "n_short": 4, "n_unclear": 0, "n_biased": 1}
    assert counts == {"n_pairs": 10, **dropped, "n_seeds": 5}
    biases = {
        pair.id: sentence_bias(table, pair.source, "spring", pair.cluster).diff
        for pair in pairs
        if len(pair.source.split()) >= 9
    }
    assert {seed.id for seed in seeds} == biases.keys() - {max(biases, key=lambda i: biases[i])}


def test_the_share_of_dropped_pairs_is_rounded_down_and_order_is_kept() -> None:
    pairs = training_pairs()
    for share, n in ((0.0, 10), (0.1, 9), (0.19, 9), (0.5, 5)):
        rules = SeedRules(min_tokens=1, dropped_share=share)
        ids = [int(seed.id) for seed in select_seeds(pairs, count_attractors(pairs), rules=rules)]
        assert (len(ids), ids) == (n, sorted(ids))


def test_the_masked_model_must_prefer_a_sense_of_the_right_cluster() -> None:
    model = TextEvaluator(lambda text: -0.1 if "Lenz" in text else -0.5)
    pairs = [
        *A_SPRING,
        tagged(1, "A spring came .", "water"),
        tagged(2, "A spring came .", "season", reference="Ohne das Wort."),
    ]
    assert has_preferred_sense(pairs, LEXICON, model) == [True, False, False]
    table = count_attractors(training_pairs())
    counts = Counter[str]()
    rules = SeedRules(min_tokens=1, dropped_share=0)
    seeds = select_seeds(pairs, table, rules=rules, masked_lm=model, lexicon=LEXICON, counts=counts)
    assert [seed.id for seed in seeds] == ["0"]
    assert counts["n_unclear"] == 2


def test_pairs_are_checked() -> None:
    table = count_attractors(training_pairs())
    refuses("expected a list", list, select_seeds(iter(A_SPRING), table))
    with pytest.raises(InputError, match="lexicon: expected the senses"):
        list(select_seeds(A_SPRING, table, masked_lm=TextEvaluator(len)))
    foreign = AttractorTable({"bat": {}}, {"bat": {}})
    with pytest.raises(InputError, match=r"expected pairs with a homograph of the table \(bat"):
        list(select_seeds(A_SPRING, foreign))
    jump = tagged(0, "A spring", "jump", target_token="Sprung")
    refuses("cluster of 'spring'", has_preferred_sense, [jump], LEXICON, TextEvaluator(len))


@cases(
    ({"min_tokens": 0}, "min_tokens: expected an integer of at least 1"),
    ({"dropped_share": 1}, "below 1"),
)
def test_rules_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, SeedRules, **options)


def test_samples_that_read_much_worse_than_their_seed_are_dropped() -> None:
    samples = samples_from(A_SPRING)
    logprobs = {"A spring came .": -2.0, "A hot spring came .": -2.1, "An old spring came .": -2.3}
    counts, model = Counter[str](), TextEvaluator(logprobs.__getitem__)
    kept = list(fluent_samples(samples, model, counts=counts))
    assert [sample.adjective for sample in kept] == ["hot"]
    assert kept[0].fluency_ratio == pytest.approx(np.exp(0.1))
    assert counts["n_not_fluent"] == 1
    assert len(list(fluent_samples(samples, model, max_ratio=1.5))) == 2
    with pytest.raises(InputError, match="max_ratio: expected a number above 0"):
        list(fluent_samples(samples, model, max_ratio=0))
