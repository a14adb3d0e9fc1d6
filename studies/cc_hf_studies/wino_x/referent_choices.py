"""Choices between two readings of a pronoun of Wino-X, taken from the judgements of a result or
from a file of another program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import FileError, InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Judgement
from cc_hf.tables.rows import read_rows

__all__ = ["UNSTATED", "ReferentChoice", "choice_of", "choices_of_result", "read_choices"]

#: A gender or position that the data do not state.
UNSTATED = "unknown"
_TIE = "tie"


@dataclass(frozen=True, slots=True)
class ReferentChoice:
    """Which of two readings was preferred.

    Attributes:
        pair: the schema that the example shares with its twin; "" if there is none.
        correct_gender, incorrect_gender: genders of the two pronouns; "" or "unknown" if the data
            do not state them.
        correct_position: position of the correct referent among the two nouns, "first" or "second";
            "" or "unknown" as above.
        is_correct: whether the correct reading was preferred; None for a tie, or if neither reading
            was recognised.
    """

    example_id: str
    pair: str
    correct_gender: str
    incorrect_gender: str
    correct_position: str
    is_correct: bool | None


def choice_of(
    example: ContrastiveTranslationExample | ContrastiveSourceExample, is_correct: bool | None
) -> ReferentChoice:
    """Return the choice made on an example; `is_correct` is None for a tie or no known reading."""
    if (
        isinstance(example, ContrastiveTranslationExample)
        and len(example.contrastive_translations) != 1
    ):
        raise InputError(
            f"example {example.id!r}: expected one contrastive translation, so that the preferred"
            f" one is known, got {len(example.contrastive_translations)}"
        )
    extra = example.extra
    position = extra.get("referent_position", example.category)  # LM-Wino-X has it as category
    return ReferentChoice(
        example.id,
        extra.get("pair", ""),
        extra.get("correct_gender", ""),
        extra.get("incorrect_gender", ""),
        position,
        is_correct,
    )


def choices_of_result(
    result: EvaluationResult,
    examples: Iterable[ContrastiveTranslationExample | ContrastiveSourceExample],
) -> list[ReferentChoice]:
    """Return the choices that the judgements of a result express.

    A correct judgement chose the correct reading, any other judgement the incorrect one. A
    judgement that is inconclusive, or has equal scores on both sides, chose none.
    """
    table = {example.id: example for example in examples}
    judged = {judgement.example_id for judgement in result.judgements}
    # A prompted model is not asked about the schemas of its demonstrations.
    n_left_out = result.counts.get("n_left_out", 0)
    if judged - table.keys() or len(judged) + n_left_out != len(table):
        missing, unjudged = sorted(judged - table.keys()), sorted(table.keys() - judged)
        raise InputError(
            f"expected judgements of the {len(table)} examples of {result.dataset} {result.config},"
            f" got {len(judged)}; "
            + (
                f"{missing[0]} is not among the examples"
                if missing
                else f"{unjudged[0]} was not judged"
            )
            + "; load the configuration and split that were evaluated"
        )
    return [
        choice_of(table[judgement.example_id], _decision(judgement))
        for judgement in result.judgements
    ]


def read_choices(
    path: Path, examples: Iterable[ContrastiveTranslationExample | ContrastiveSourceExample]
) -> list[ReferentChoice]:
    """Read numbers of preferred translations, 1 or 2 as in the data, in the order of the file."""
    table = {example.id: example for example in examples}
    choices: dict[str, ReferentChoice] = {}
    for where, row in read_rows(path, form={"id": None, "preferred": None}):
        name, preferred = str(row["id"]), str(row["preferred"])
        if name not in table or name in choices:
            raise FileError(
                where,
                f"id: expected each of the {len(table)} examples once, got {name!r}"
                + (" again" if name in choices else ", which is none of them"),
            )
        if preferred not in ("1", "2", _TIE):
            raise FileError(where, f"preferred: expected 1, 2 or {_TIE}, got {preferred!r}")
        answer = table[name].extra.get("answer", "")
        if answer not in ("1", "2"):
            raise InputError(
                f'example {name!r}: expected the number of the correct translation under "answer",'
                f" got {answer!r}; preferences by number are for wino_x"
            )
        choices[name] = choice_of(table[name], None if preferred == _TIE else preferred == answer)
    if len(choices) < len(table):
        raise InputError(
            f"{path}: expected a preference for each of {len(table)} examples, got {len(choices)};"
            f" {next(i for i in table if i not in choices)} has none"
        )
    return list(choices.values())


def _decision(judgement: Judgement) -> bool | None:
    if judgement.verdict == "inconclusive" or (
        judgement.score_correct is not None and judgement.score_correct == judgement.score_incorrect
    ):
        return None
    return judgement.is_correct
