"""Gender alternatives: which rows are read, and where the cue stands."""

import random
from pathlib import Path

import pytest

import cc_hf
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers.usual import cases


def _examples(config: str, shared: Path) -> dict[str, ContrastiveSourceExample]:
    actual = cc_hf.load_examples("gender_alternatives", config, data_dir=shared / "upstream")
    return {example.id: example for example in actual}


@cases(
    ("de", "gate.5", "A [female] drug dealer was jailed.", "Eine Drogendealerin wurde inhaftiert."),
    ("es", "gate.5", "A [female] drug dealer was jailed.", "Encarcelaron a una narcotraficante."),
    (
        "fr",
        "gate.3",
        "Please call anyone, a woman, present for the job interview.",
        "Veuillez appeler quiconque présente pour l'entretien d'embauche.",
    ),
)
def test_the_cue_is_at_the_person(
    config: str, name: str, source: str, feminine: str, shared: Path
) -> None:
    example = _examples(config, shared)[name]
    assert example.correct_sources == (source,)
    assert example.extra["feminine"] == feminine


def test_words_that_upstream_has_twice_are_found_in_the_sentence(shared: Path) -> None:
    examples = _examples("es", shared)
    assert "geneval.9" not in examples  # two people of open gender
    for example in examples.values():
        assert example.source.startswith(example.focus.text, example.focus.start)


def test_the_embedded_judge_reads_versions_of_natural_sentences(shared: Path) -> None:
    """Right in about four of five, as measured when the set was chosen (80.2, 76.8 to 83.2)."""
    examples = random.Random(0).sample([*_examples("de", shared).values()], 300)
    judge = cc_hf.load_evaluator("cc-tiny-en-de")
    texts = [e.extra[side] for side in ("feminine", "masculine") for e in examples]
    female, male = (
        judge.mean_logprobs(
            [getattr(e, side)[0] for e in examples] * 2, texts, src_lang="en", tgt_lang="de"
        )
        for side in ("correct_sources", "incorrect_sources")
    )
    right = [(f > m) == (i < 300) for i, (f, m) in enumerate(zip(female, male, strict=True))]
    assert sum(right) / 600 == pytest.approx(0.80, abs=0.032)
