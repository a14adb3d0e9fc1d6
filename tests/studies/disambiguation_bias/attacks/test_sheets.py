from __future__ import annotations

import pytest

from cc_hf.comparing.people.sheets import SheetKey
from cc_hf.errors import InputError
from cc_hf.results import Interval
from cc_hf.studies.disambiguation_bias.attacks.sheets import draw_sentences, rate_sheets
from tests.helpers.refusals import refuses
from tests.studies.disambiguation_bias.attacks.helper import sample_of, tagged, training_pairs
from tests.studies.disambiguation_bias.corpus import lexicon_of

LEXICON = lexicon_of(spring={"season": "Frühling Lenz a b c d", "water": "Quelle"})


def made(n: int = 4, seed: int = 0) -> SheetKey:
    samples = [sample_of("hot", id=str(i), source=f"A hot spring came . {i}") for i in range(6)]
    return draw_sentences(samples, training_pairs(), LEXICON, n=n, seed=seed)


def test_a_sheet_holds_both_kinds_in_random_order_and_the_key_knows_which() -> None:
    key = made()
    origins = [origin for row in key.rows for origin in row.origins]
    assert sorted(o["kind"] for o in origins) == ["adversarial"] * 4 + ["regular"] * 4
    assert [o["kind"] for o in origins] != sorted(o["kind"] for o in origins)
    assert {o["right"] for o in origins} == {"1", "2"}
    for row, origin in zip(key.rows, origins, strict=True):
        _, word, *senses = row.cells
        is_water = origin["kind"] == "regular" and int(origin["id"]) > 3
        right = senses[int(origin["right"]) - 1]
        assert right == ("Quelle" if is_water else "Frühling, Lenz, a, b, c")
        assert word == "spring"
    assert made() == key
    assert made(seed=1) != key


def test_answers_give_error_rates_and_agreement() -> None:
    key = made()
    origin = {row.id: row.origins[0] for row in key.rows}
    first = {name: (origin[name]["right"], "5") for name in origin}
    attacked = [name for name in origin if origin[name]["kind"] == "adversarial"]
    other = "2" if first[attacked[1]][0] == "1" else "1"
    second = {**first, attacked[0]: ("NONE", "2"), attacked[1]: (other, "5")}
    figures = rate_sheets(key, first, second)
    adversarial, regular = figures.kinds
    assert (adversarial.n, adversarial.n_wrong, adversarial.n_none) == (8, 1, 1)
    assert (adversarial.n_both, adversarial.error_rate) == (0, 0.25)
    assert adversarial.naturalness == 4.625
    assert (regular.error_rate, regular.naturalness) == (0.0, 5.0)
    assert isinstance(figures.kappa_interval, Interval)
    assert 0 < figures.kappa < 1
    assert figures.naturalness_kappas.keys() == {"linear", "quadratic"}


def test_what_cannot_be_offered_is_refused() -> None:
    refuses("n: expected at least 1", made, 0)
    refuses("samples: expected adversarial samples", draw_sentences, [], [], LEXICON)
    one_sense = {"season": "Lenz"}
    with pytest.raises(InputError, match="sample 'x': expected a cluster of 'spring'"):
        draw_sentences([sample_of("hot", id="x")], [], lexicon_of(spring=one_sense))
    lexicon = lexicon_of(spring=one_sense, bat={"season": "a", "water": "b"})
    sample = sample_of("hot", homograph="bat")
    with pytest.raises(InputError, match="pair '7': 'spring' has one sense in the lexicon"):
        draw_sentences([sample], [tagged(7, "A spring .", "season")], lexicon)
