from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.scores import TokenScores
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf.studies.wino_x.choice_accuracy import choice_accuracy
from cc_hf.studies.wino_x.pronoun_forms import ambiguous_pronoun, find_pronouns
from cc_hf.studies.wino_x.splits import matching_samples, schema_of, split_schemas
from tests.helpers.cases import cases_by_words
from tests.helpers.letter_evaluator import BrokenEvaluator
from tests.helpers.wino_x_schemas import lay_out, lm_rows


def sample(schema: str, number: int, lang: str = "de") -> ContrastiveTranslationExample:
    return ContrastiveTranslationExample(
        f"{schema}-{number}",
        "en",
        lang,
        "It left.",
        f"Er {schema} {number}.",
        ("Sie.",),
        "male",
        {"pair": schema},
    )


def schemas(sizes: Sequence[int], lang: str = "de") -> list[ContrastiveTranslationExample]:
    return [sample(f"s{i}", j, lang) for i, size in enumerate(sizes) for j in range(size)]


@given(
    st.lists(st.integers(1, 3), min_size=12, max_size=60),
    st.integers(3, 12),
    st.integers(3, 12),
    st.integers(0, 5),
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
        rest = found.train[len(part) :]
        assert not {schema_of(e) for e in part} & {schema_of(e) for e in rest}
        smaller = part
    assert split_schemas(examples, n_dev=n_dev, n_test=n_test, seed=seed) == found


@cases_by_words(
    ("n", "sizes"),
    [(3774, (500, 1000, 1500, 2000, 2500)), (2988, (500, 1000, 1500)), (2238, (500, 1000))],
    "n",
)
def test_split_sizes_are_those_of_the_thesis(n: int, sizes: tuple[int, ...]) -> None:
    found = split_schemas(schemas([2] * (n // 2)))
    assert (len(found.test), len(found.dev), len(found.train), found.train_sizes()) == (
        1000,
        200,
        n - 1200,
        sizes,
    )
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


def test_both_languages_get_the_same_split(tmp_path: Path) -> None:
    lay_out(tmp_path, "lm", lm_rows(20))
    german, english = (
        cc_hf.load_examples("wino_x", config, data_dir=tmp_path)
        for config in ("lm_en_de", "lm_en_de.english")
    )
    parts = [split_schemas(found, n_dev=6, n_test=10) for found in (german, english)]
    assert [e.id for e in parts[0].test] == [e.id for e in parts[1].test]
    assert matching_samples(parts[1].test, german) == parts[0].test
    with pytest.raises(InputError, match=r"2 are in the first only, such as 'S0-1'"):
        matching_samples(english[:4], german[2:])


def test_bad_examples_are_refused() -> None:
    with pytest.raises(InputError, match="expected every id once, got 's0-0' again"):
        split_schemas([*schemas([2] * 9), sample("s0", 0)], n_dev=2, n_test=2)
    with pytest.raises(InputError, match='whose extra column "pair" names its schema'):
        split_schemas(
            [
                ContrastiveTranslationExample(name, "en", "de", "a", "b", ("c",), "d")
                for name in "abcd"
            ],
            n_dev=1,
            n_test=1,
        )
    with pytest.raises(InputError, match=r"development part: expected at least the 2.*got 1"):
        split_schemas(schemas([2] * 9), n_dev=1, n_test=2)
    with pytest.raises(InputError, match="expected at least 1 sample for development"):
        split_schemas(schemas([2] * 9), n_dev=0, n_test=2)
    found = split_schemas(schemas([2] * 9), n_dev=2, n_test=2)
    with pytest.raises(InputError, match=(r"expected 1 to 14 samples, which is what the.*got 500")):
        found.train_part(500)
    with pytest.raises(InputError, match="step of the training sizes: expected 1 to 14 samples"):
        found.train_sizes()


class TableEvaluator(Evaluator):
    """An evaluator that reads mean log-probabilities from a table."""

    def __init__(self, table: dict[str, float]) -> None:
        super().__init__(
            name="table",
            identity="0",
            dtype="float32",
            batch_tokens=9,
            max_tokens=9,
            on_too_long="error",
        )
        self.table = table

    def check_languages(self, src_lang: str, tgt_lang: str) -> None: ...

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        raise NotImplementedError

    encode_targets = encode_sources

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
        raise NotImplementedError

    def score(
        self,
        requests: Sequence[ScoringRequest],
        *,
        src_lang: str,
        tgt_lang: str,
        progress: bool = False,
    ) -> TokenScores:
        return TokenScores.of([np.array([self.table[request.translation]]) for request in requests])


def test_choice_accuracy_counts_ties_and_pairs() -> None:
    table = {"a": -1.0, "b": -2.0, "c": -1.0, "d": -0.5}

    def example(name: str, schema: str, right: str, *wrong: str) -> ContrastiveTranslationExample:
        return ContrastiveTranslationExample(
            name, "en", "de", "it", right, wrong, "male", {"pair": schema}
        )

    samples = [
        example("1", "x", "a", "b"),
        example("2", "x", "d", "b", "a"),
        example("3", "y", "a", "c"),
        example("4", "y", "a", "b"),
        example("5", "z", "a", "b", "d"),
        example("6", "w", "d", "a"),
        example("7", "w", "b", "a"),
    ]
    found = choice_accuracy(TableEvaluator(table), samples)
    assert [choice.is_correct for choice in found.choices] == [
        True,
        True,
        None,
        True,
        False,
        True,
        False,
    ]
    assert (found.n, found.n_correct, found.n_ties, found.n_pairs, found.n_pairs_correct) == (
        7,
        4,
        1,
        3,
        1,
    )
    assert (found.accuracy, found.pair_accuracy) == (4 / 7, 1 / 3)
    assert (found.choices[4].logprob_correct, found.choices[4].logprob_contrastive) == (-1.0, -0.5)
    assert choice_accuracy(TableEvaluator(table), samples[:1]).pair_accuracy is None
    with pytest.raises(InputError, match="one pair of languages, got 0"):
        choice_accuracy(TableEvaluator(table), [])
    with pytest.raises(InputError, match="example '8': expected at least one contrastive"):
        choice_accuracy(TableEvaluator(table), [example("8", "x", "a")])


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        (
            "Es regnet; er, sie! ES?",
            "de",
            [
                ("Es", ("Er", "Sie")),
                ("er", ("sie", "es")),
                ("sie", ("er", "es")),
                ("ES", ("ER", "SIE")),
            ],
        ),
        ("Das Essen der Esel, siehe erst Es-Dur.", "de", []),
        ("S'il vient, elles et ils partent; «elle»", "fr", [("il", ("elle",)), ("elle", ("il",))]),
        ("Oнa тонкая, потому что оно", "ru", [("Oнa", ("Oн", "Oнo")), ("оно", ("он", "она"))]),
    ],
    ids=["de", "de without pronouns", "fr", "ru"],
)
def test_pronouns_are_found_with_alternatives_in_their_case(
    text: str, lang: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    found = find_pronouns(text, lang)
    assert [(p.text, p.alternatives) for p in found] == expected
    for occurrence in found:
        assert text[occurrence.start :].startswith(occurrence.text)
        assert len(set(occurrence.variants(text))) == len(expected[0][1]) + 1


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        "de.thesis",
        "de.swapped",
        "fr.thesis",
        "fr.swapped",
        "ru.thesis",
        "ru.swapped",
        "ru.mixedscript",
    ],
)
def test_the_ambiguous_pronoun_of_printed_samples_is_found(shared: Path, name: str) -> None:
    rows = [
        json.loads(line)
        for line in (
            (shared / f"gold/wino_x/mt_wino_x_en_{name}.jsonl")
            .read_text(encoding="utf-8")
            .splitlines()
        )
    ]
    assert rows
    for row in rows:
        right, wrong = row["answer"], 3 - row["answer"]
        (found,) = ambiguous_pronoun(
            row[f"translation{right}"],
            row[f"translation{wrong}"],
            find_pronouns(row[f"translation{right}"], name[:2]),
        )
        assert found.text == row[f"pronoun{right}"]
        assert row[f"pronoun{wrong}"] in found.alternatives


def test_choice_accuracy_refuses_invalid_scores() -> None:
    with pytest.raises(EvaluatorError, match="row 0: letters@1"):
        choice_accuracy(
            BrokenEvaluator(float("nan")),
            [ContrastiveTranslationExample("0", "en", "de", "a", "x", ("y",), "all")],
        )
