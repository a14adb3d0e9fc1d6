"""Scripted respondents in place of a language model: what they reply follows a rule."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import EvaluatorError
from cc_hf.evaluation.material import Material
from cc_hf.models.chat_templates import Conversation
from cc_hf.plugins.asking.conversations import Decoding, Reply
from cc_hf.plugins.asking.plans import Plan
from cc_hf.plugins.asking.runs import ask_plan, choices_of_run
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Example

Rule = Callable[[int, str], Reply]
SHORT = Decoding(max_new_tokens=6)


@dataclass
class Scripted:
    """Answers by a rule of the sample's number among the requests, and its right answer.

    Attributes:
        plan: what is asked.
        rule: the rule.
        stops_after: number of replies after which it fails as a whole; None for never.
        asked: questions that were asked.
    """

    plan: Plan
    rule: Rule
    stops_after: int | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return "scripted/model@0/greedy"

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply]:
        numbers: Mapping[Conversation, int] = {
            request.conversation: number for number, request in enumerate(self.plan.requests)
        }
        replies = []
        for conversation in conversations:
            if self.stops_after is not None and len(self.asked) >= self.stops_after:
                raise EvaluatorError("the scripted model was killed")
            self.asked.append(conversation[-1].content)
            number = numbers[conversation]
            answer = self.plan.requests[number].reference.get("answer", "")
            replies.append(self.rule(number, answer))
        return replies


def always(number: str) -> Rule:
    return lambda row, answer: Reply(f"Translation {number}")


def right(row: int, answer: str) -> Reply:
    return Reply(f"Translation {answer}")


def right_by_hash(row: int, answer: str) -> Reply:
    """Right for four of five rows, by a hash of the row."""
    is_right = hashlib.sha256(str(row).encode()).digest()[0] % 5 != 0
    return Reply(f"Translation {answer if is_right else 3 - int(answer)}")


def refusing_each(n: int, rule: Rule) -> Rule:
    refusal = Reply("As an AI, I have no opinion.")
    return lambda row, answer: refusal if row % n == n - 1 else rule(row, answer)


def failing_each(n: int, rule: Rule) -> Rule:
    return lambda row, answer: Reply(None, "timed out") if row % n == n - 1 else rule(row, answer)


def cutting_each(n: int, rule: Rule) -> Rule:
    return lambda row, answer: replace(rule(row, answer), is_cut=row % n == n - 1)


def schemas(n: int = 100) -> list[Example]:
    """Return made-up schemas: twins side by side, whose right option is 1 for three of four."""
    return [
        ContrastiveTranslationExample(
            *(f"s{i // 2}-{i % 2 + 1}", "en", "de"),
            f"The cup {i} fell off the table because it was {'high', 'wet'[i % 2]}.",
            f"Die Tasse {i} fiel, weil sie es war.",
            (f"Die Tasse {i} fiel, weil er es war.",),
            ("female", "male")[i % 2],
            {
                **{"pair": f"s{i // 2}", "answer": "2" if i % 4 == 3 else "1"},
                **{"correct_gender": ("female", "male")[i % 2], "referent_position": "first"},
                "incorrect_gender": ("male", "female")[i % 2],
            },
        )
        for i in range(n)
    ]


def run_choices(
    plan: Plan, rows: Sequence[Example], rule: Rule, path: Path, **options: Any
) -> EvaluationResult:
    material = Material("en", "de", rows)
    asked = ask_plan("choose", material, plan, Scripted(plan, rule), path, **options)
    return choices_of_run(*asked)
