"""Cases of the study for the contracts of all studies."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cc_hf_studies.wino_x.human_study import ANSWERS, FORM, rate_samples
from cc_hf_studies.wino_x.lengths import sequence_lengths
from cc_hf_studies.wino_x.pronoun_counts import pronoun_counts
from cc_hf_studies.wino_x.referent_bias import referent_bias
from cc_hf_studies.wino_x.referent_choices import ReferentChoice, read_choices
from cc_hf_studies.wino_x.salience import Salience, WordSalience, trigger_importance

from cc_hf.plugins.raters.sheets import SheetKey, SheetRow
from cc_hf.schema import ContrastiveTranslationExample
from tests.helpers.contract_cases import ContractCases, CountCase, FigureCase, KeptFile
from tests.helpers.judged import contrastive

_GENDERS = ("male", "female")
_GERMAN = ["Die Ärztin sah ihn .", "Der Hut , er fiel .", "Sie flog .", "Es ist da ."]


def choice(number: int, draw: random.Random) -> ReferentChoice:
    genders = _GENDERS if number % 2 else _GENDERS[::-1]
    position, is_correct = draw.choice(["first", "second"]), draw.choice([True, False, None])
    return ReferentChoice(str(number), str(number // 2), *genders, position, is_correct)


def twins(number: int, draw: random.Random) -> list[Salience]:
    def sentence(name: str, words: Sequence[str]) -> Salience:
        scored = []
        for position, text in enumerate(words):
            value = draw.random()
            scored.append(WordSalience(text, 4 * position, value, ((text, value),)))
        return Salience(name, str(number), " ".join(words), "er", 0.5, tuple(scored), 1)

    return [sentence(f"{number}-{end}", ["dog", "it", "was", end]) for end in ("big", "old")]


def triggers(rows: Sequence[list[Salience]]) -> Any:
    return trigger_importance([sentence for row in rows for sentence in row])


def sentence_pair(number: int, draw: random.Random) -> ContrastiveTranslationExample:
    source, correct, wrong = (" ".join(["ja"] * draw.randrange(1, 9)) for _ in range(3))
    return contrastive(str(number), source, correct, f"nein {wrong}")


_TORCH = "debias few_shot filler_training fine_tuning measures pronoun_penalty translation_pairs"


def rated(number: int, draw: random.Random) -> tuple[str, str, str]:
    return draw.choice("12"), draw.choice(list(ANSWERS)), draw.choice(list(ANSWERS))


def people(rows: Sequence[tuple[str, str, str]]) -> Any:
    origins = [{"id": str(number), "right": row[0]} for number, row in enumerate(rows)]
    names = [SheetRow(str(number), (), (origin,)) for number, origin in enumerate(origins)]
    first, second = ({str(i): (row[side],) for i, row in enumerate(rows)} for side in (1, 2))
    figures = rate_samples(SheetKey(FORM, {}, tuple(names)), first, second)
    return figures.accuracy, figures.choice_accuracy, figures.kappa


def _again(row: ReferentChoice) -> ReferentChoice:
    return replace(row, example_id=f"x{row.example_id}", pair=f"x{row.pair}")


def _kept(name: str, text: str) -> KeptFile:
    return KeptFile(name, text, lambda path: read_choices(path, []), refusal="expected")


CASES = ContractCases(
    figures={
        "referent bias": FigureCase(choice, lambda r: replace(referent_bias(r), tests=()), _again),
        # Cohen's d has n - 2 in its denominator, and so changes with doubled rows
        "trigger importance": FigureCase(twins, triggers, None),
        "lengths": FigureCase(sentence_pair, sequence_lengths),
        "people": FigureCase(rated, people),
    },
    counts={"pronouns": CountCase(_GERMAN, lambda rows: pronoun_counts(rows, "de"))},
    kept_files=(
        _kept("choices.tsv", "id\tpreferred\n0\t1\n"),
        _kept("preferences.jsonl", '{"id": "0", "preferred": 1}\n'),
    ),
    torch_modules=(*_TORCH.split(), "trigger_importance"),
    tables=(("published",),),
    reproduced={
        "study wino_x curve": "test_training_extras.py",
        "study wino_x rate": "test_human_study.py",
        "study wino_x train": "test_training_extras.py",
    },
)
