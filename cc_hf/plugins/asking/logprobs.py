"""Choices by log-probability: which answer does a local model find more probable as the beginning
of its reply? Every answer is then valid. This is cc_hf's own, not the thesis's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cc_hf.plugins.asking.conversations import Reply, Respondent
from cc_hf.plugins.asking.plans import Plan
from cc_hf.plugins.asking.prompting.replies import FileRespondent, KeptReply
from cc_hf.plugins.asking.runs import choices_of_run
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["choices_by_logprob"]


def choices_by_logprob(
    run: Mapping[str, Any],
    plan: Plan,
    respondent: Respondent | FileRespondent,
    *,
    parser: str = "conclusion",
    name: str = "",
    bootstrap: Bootstrap | None = None,
) -> EvaluationResult:
    """Return the result of the more probable answers, such as "Translation 1" and "Translation 2".

    After a prompt with reasons, this asks for the answer without them.
    """
    from cc_hf.plugins.asking.local_chat import answer_logprobs  # loads torch

    label = plan.prompt.template.label
    answers = [f"{label} {number}" for number in (1, 2)]
    logprobs = answer_logprobs(respondent, [r.conversation for r in plan.requests], answers)
    replies = []
    for request, (first, second) in zip(plan.requests, logprobs.tolist(), strict=True):
        text = "" if first == second else answers[second > first]
        replies.append(KeptReply(request.id, request.reference, Reply(text)))
    described = {**run, "prompt": f"{run['prompt']}.logprob"}
    result = choices_of_run(described, replies, parser=parser, name=name, bootstrap=bootstrap)
    return replace(result, system=f"{result.system}, by log-probability")
