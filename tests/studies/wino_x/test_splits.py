import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.errors import EvaluatorError, InputError
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.studies.wino_x.choice_accuracy import choice_accuracy
from cc_hf.studies.wino_x.pronoun_forms import ambiguous_pronoun, find_pronouns
from cc_hf.studies.wino_x.splits import matching_samples, schema_of, split_schemas
from tests.helpers.cases import cases
from tests.helpers.judged import Examples, Sides, contrastive
from tests.helpers.letter_evaluator import BrokenEvaluator, TextEvaluator
from tests.helpers.lines import read_jsonl
from tests.helpers.refusals import refuses


def schemas(sizes: Sequence[int]) -> Examples:
    ids = [(i, j) for i, size in enumerate(sizes) for j in range(size)]
    return [contrastive(f"s{i}-{j}", "It left.", f"Er s{i} {j}.") for i, j in ids]


@given(
    st.lists(st.integers(1, 3), min_size=12, max_size=60),
    *(st.integers(3, 12), st.integers(3, 12), st.integers(0, 5)),
    st.randoms(use_true_random=False),
)
def test_all_samples_of_a_schema_are_in_one_part(
    sizes: list[int], n_dev: int, n_test: int, seed: int, draw: random.Random
) -> None:
    examples = schemas(sizes)
    draw.shuffle(examples)  # separates the twins
    if len(examples) <= n_dev + n_test:
        with pytest.raises(InputError, match=f"expected more than {n_dev + n_test} samples"):
            split_schemas(examples, n_dev=n_dev, n_test=n_test, seed=seed)
        return
    found = split_schemas(examples, n_dev=n_dev, n_test=n_test, seed=seed)
    parts = [found.train, found.dev, found.test]
    # every sample occurs once
    assert sorted(e.id for part in parts for e in part) == sorted(e.id for e in examples)
    names = [{schema_of(e) for e in part} for part in parts]
    assert names[0] & names[1] == names[0] & names[2] == names[1] & names[2] == set()
    assert n_dev - 2 <= len(found.dev) <= n_dev
    assert n_test - 2 <= len(found.test) <= n_test
    smaller: tuple[ContrastiveTranslationExample, ...] = ()
    for size in range(3, len(found.train) + 1):
        part = found.train_part(size)
        assert size - 2 <= len(part) <= size
        assert part[: len(smaller)] == smaller
        assert not {schema_of(e) for e in part} & {schema_of(e) for e in found.train[len(part) :]}
        smaller = part
    assert split_schemas(examples, n_dev=n_dev, n_test=n_test, seed=seed) == found


@cases((3774, (500, 1000, 1500, 2000, 2500)), (2988, (500, 1000, 1500)), (2238, (500, 1000)))
def test_split_sizes_are_those_of_the_thesis(n: int, sizes: tuple[int, ...]) -> None:
    found = split_schemas(schemas([2] * (n // 2)))
    assert [len(part) for part in (found.test, found.dev, found.train)] == [1000, 200, n - 1200]
    assert found.train_sizes() == sizes
    assert [len(found.train_part(size)) for size in sizes] == list(sizes)


def test_splits_equal_those_of_the_program_of_the_thesis() -> None:
    """It shuffles the pairs of adjacent rows with seed 42, and takes test, development and training
    from them in this order.
    """
    examples = schemas([2] * 40)
    pairs = [examples[i : i + 2] for i in range(0, 80, 2)]
    random.seed(42)
    random.shuffle(pairs)
    flat = tuple(e for pair in pairs for e in pair)
    found = split_schemas(examples, n_dev=6, n_test=20)
    assert (found.test, found.dev, found.train_part(10)) == (flat[:20], flat[20:26], flat[26:36])


def test_both_languages_get_the_same_split(both_sides: Sides) -> None:
    german, english = both_sides
    parts = [split_schemas(found, n_dev=6, n_test=10) for found in (german, english)]
    assert [e.id for e in parts[0].test] == [e.id for e in parts[1].test]
    assert matching_samples(parts[1].test, german) == parts[0].test
    refuses(r"2 are in the first only, such as 'S0-1'", matching_samples, english[:4], german[2:])


_NINE = schemas([2] * 9)


@cases(
    ([*_NINE, _NINE[0]], 2, 2, "expected every id once, got 's0-0' again"),
    ([replace(e, extra={}) for e in _NINE], 1, 1, 'whose extra column "pair" names its schema'),
    (_NINE, 1, 2, r"development part: expected at least the 2.*got 1"),
    (_NINE, 0, 2, "expected at least 1 sample for development"),
)
def test_bad_rows_are_refused(examples: Examples, n_dev: int, n_test: int, message: str) -> None:
    refuses(message, split_schemas, examples, n_dev=n_dev, n_test=n_test)


def test_training_parts_larger_than_the_data_are_refused() -> None:
    found = split_schemas(_NINE, n_dev=2, n_test=2)
    refuses(r"expected 1 to 14 samples, which is what the.*got 500", found.train_part, 500)
    refuses("step of the training sizes: expected 1 to 14 samples", found.train_sizes)


def test_choice_accuracy_counts_ties_and_pairs() -> None:
    evaluator = TextEvaluator({"a": -1.0, "b": -2.0, "c": -1.0, "d": -0.5}.__getitem__)
    texts = ["x-1 a b", "x-2 d b a", "y-3 a c", "y-4 a b", "z-5 a b d", "w-6 d a", "w-7 b a"]
    samples = [contrastive(name, "", *rest) for name, *rest in map(str.split, texts)]
    found = choice_accuracy(evaluator, samples)
    verdicts = [True, True, None, True, False, True, False]
    assert [choice.is_correct for choice in found.choices] == verdicts
    assert (found.n, found.n_correct, found.n_ties) == (7, 4, 1)
    assert (found.n_pairs, found.n_pairs_correct) == (3, 1)
    assert (found.accuracy, found.pair_accuracy) == (4 / 7, 1 / 3)
    assert (found.choices[4].logprob_correct, found.choices[4].logprob_contrastive) == (-1.0, -0.5)
    assert choice_accuracy(evaluator, samples[:1]).pair_accuracy is None
    refuses("one pair of languages, got 0", choice_accuracy, evaluator, [])
    with pytest.raises(InputError, match="example 'x-1': expected at least one contrastive"):
        choice_accuracy(evaluator, [replace(samples[0], contrastive_translations=())])


@cases(
    ("Es regnet; er! ES?", "de", {"Es": ("Er", "Sie"), "er": ("sie", "es"), "ES": ("ER", "SIE")}),
    ("Da kam sie.", "de", {"sie": ("er", "es")}),
    ("Das Essen der Esel, siehe erst Es-Dur.", "de", {}),
    ("S'il vient, elles et ils partent; «elle»", "fr", {"il": ("elle",), "elle": ("il",)}),
    ("Oнa тонкая, потому что оно", "ru", {"Oнa": ("Oн", "Oнo"), "оно": ("он", "она")}),
)
def test_pronouns_are_found_with_alternatives_in_their_case(
    text: str, lang: str, expected: dict[str, tuple[str, ...]]
) -> None:
    found = find_pronouns(text, lang)
    assert [(p.text, p.alternatives) for p in found] == [*expected.items()]
    for occurrence in found:
        assert text[occurrence.start :].startswith(occurrence.text)
        assert len(set(occurrence.variants(text))) == len(occurrence.alternatives) + 1


_FILES = [*product(["de", "fr", "ru"], ["thesis", "swapped"]), ("ru", "mixedscript")]


@pytest.mark.shared
@pytest.mark.parametrize("name", _FILES, ids="-".join)
def test_the_pronoun_of_printed_samples_is_found(shared: Path, name: tuple[str, str]) -> None:
    rows = read_jsonl(shared / f"gold/wino_x/mt_wino_x_en_{'.'.join(name)}.jsonl")
    assert rows
    for row in rows:
        right, wrong = row["answer"], 3 - row["answer"]
        correct, incorrect = row[f"translation{right}"], row[f"translation{wrong}"]
        (found,) = ambiguous_pronoun(correct, incorrect, find_pronouns(correct, name[0]))
        assert found.text == row[f"pronoun{right}"]
        assert row[f"pronoun{wrong}"] in found.alternatives


def test_choice_accuracy_refuses_invalid_scores() -> None:
    with pytest.raises(EvaluatorError, match="row 0: letters@1"):
        choice_accuracy(BrokenEvaluator(float("nan")), [contrastive("0", "a", "x", "y")])
