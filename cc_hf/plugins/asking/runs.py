"""Ask a language model to choose or to translate, and make results of what it replied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, shown
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.languages import named_language
from cc_hf.metrics.base import Origin
from cc_hf.plugins.asking.conversations import Respondent
from cc_hf.plugins.asking.plans import SWAPPED, TASKS, Plan, choice_references
from cc_hf.plugins.asking.prompted_choice import PromptedChoice
from cc_hf.plugins.asking.prompting.replies import FileRespondent, KeptReply, ask, read_run
from cc_hf.plugins.asking.prompting.translation_replies import (
    TRANSLATION_PARSERS,
    parse_translation,
)
from cc_hf.progress import Progress
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = [
    "RepliedTranslation",
    "TranslationRun",
    "ask_plan",
    "choices_of_run",
    "described_run",
    "kept_replies",
    "model_name",
    "translations_of_run",
]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_name(value: Any) -> bool:
    return _is_line(value) and bool(value)


def _is_line(value: Any) -> bool:
    return _is_text(value) and value.isprintable()


def _are_names(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_name, value.values()))


def _is_language(value: Any) -> bool:
    try:
        return _is_text(value) and named_language(value) is not None
    except InputError:
        return False


def _are_turns(value: Any) -> bool:
    return isinstance(value, list) and all(map(_are_texts, value))


#: What the first line of a file of replies says, see `described_run`: a check of the value of each
#: field, and what is expected.
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "task": (lambda value: value in TASKS, " or ".join(TASKS)),
    **dict.fromkeys(("model", "prompt", "demonstrations_from"), (_is_name, "a name")),
    **dict.fromkeys(
        ("dataset", "config", "instruction"),
        (_is_text, "a text"),
    ),
    "strategy": (_is_line, "a text in one line"),
    **dict.fromkeys(("src_lang", "tgt_lang"), (_is_language, "the code of a language")),
    "origin": (_are_names, "an object with names"),
    "demonstrations": (_are_turns, "a list of lists of texts"),
    **dict.fromkeys(("left_out", "notes"), (_are_texts, "a list of texts")),
    "requests": (lambda value: type(value) is int, "a number"),
}


@dataclass(frozen=True)
class RepliedTranslation:
    """A sentence and what came back."""

    id: str
    source: str
    translation: str  # "" if the reply was not valid
    category: str
    outcome: str  # "valid", "invalid" or "failed"
    reason: str = ""  # why there is no translation
    is_cut: bool = False  # known to end at the limit of its length


@dataclass(frozen=True)
class TranslationRun:
    """The translations of a run."""

    run: Mapping[str, Any]
    rows: tuple[RepliedTranslation, ...]

    def counts(self, category: str | None = None) -> dict[str, int]:
        """Return how often each outcome occurred, in a category or, for None, in all of them."""
        outcomes = Counter(r.outcome for r in self.rows if category in (None, r.category))
        return {name: outcomes[name] for name in ("valid", "invalid", "failed")}

    def n_cut(self, category: str | None = None) -> int:
        """Return how many replies, of a category or all, are known to be cut at their limit."""
        return sum(r.is_cut for r in self.rows if category in (None, r.category))

    @property
    def categories(self) -> list[str]:
        """The categories of the examples, sorted."""
        return sorted({row.category for row in self.rows})

    def reasons(self) -> dict[str, int]:
        """Return why there is no translation, and how often, the most frequent first."""
        return dict(Counter(row.reason for row in self.rows if row.reason).most_common())


def described_run(
    task: str, material: Material, plan: Plan, respondent: Respondent | FileRespondent
) -> dict[str, Any]:
    """Return what a file of replies says about its run, as plain values."""
    fields = dict(material.origin.fields)
    if task == "choose" and "data" not in fields:
        # the digest is of all samples, whichever are left out as demonstrations
        fields |= PromptedChoice().data_fields(choice_references(material.examples), {})
    return {
        "task": task,
        "dataset": material.origin.dataset,
        "config": material.origin.config,
        "origin": fields,
        "src_lang": material.src_lang,
        "tgt_lang": material.tgt_lang,
        "model": respondent.identity,
        "strategy": plan.prompt.template.strategy,
        "prompt": plan.prompt.signature_name,
        "instruction": plan.prompt.instruction,
        "demonstrations": [list(turns) for turns in plan.prompt.demonstrations],
        "demonstrations_from": plan.origin,
        "left_out": list(plan.left_out),
        "requests": len(plan.requests),
        "notes": list(material.limit_notes),
    }


def ask_plan(
    task: str,
    material: Material,
    plan: Plan,
    respondent: Respondent | FileRespondent,
    path: Path,
    *,
    block_size: int = 64,
    is_main: bool = True,
    progress: bool = False,
) -> tuple[dict[str, Any], list[KeptReply]]:
    """Ask everything that was not answered yet."""
    run = described_run(task, material, plan, respondent)
    with Progress(
        total=len(plan.requests),
        desc="asking",
        unit="reply",
        disable=not (progress and is_main),
        delay=1,
    ) as bar:
        replies = ask(
            plan.requests,
            respondent,
            path,
            run,
            block_size=block_size,
            is_main=is_main,
            advance=bar.update,
        )
    return run, [KeptReply(r.id, r.reference, replies[r.id]) for r in plan.requests]


def kept_replies(path: Path) -> tuple[dict[str, Any], list[KeptReply]]:
    """Read what `ask_plan` kept, to parse it again."""
    kept = read_run(path)
    run, replies = dict(kept.run), list(kept.replies.values())
    if missing := sorted(_FIELDS.keys() - run.keys()):
        raise InputError(
            f"{path}: expected a run of `cc-hf ask`, got a first line without {', '.join(missing)}"
        )
    for name, (is_right, expected) in _FIELDS.items():
        if not is_right(run[name]):
            raise InputError(
                f"{path}: line 1: {name}: expected {expected}, as `cc-hf ask` wrote it, got"
                f" {shown(run[name])}; restore the file"
            )
    if len(replies) != run["requests"]:
        raise InputError(
            f"{path}: expected replies to all {shown(run['requests'])} requests, got"
            f" {len(replies)}; the run was stopped. Give the same command again, which goes on with"
            " it"
        )
    for reply in replies:
        if (
            "source" not in reply.reference
            if run["task"] == "translate"
            else reply.reference.get("answer") not in ("1", "2")
        ):
            raise InputError(
                f"{path}: reply {reply.id!r}: reference: expected a source that was to be"
                f" translated, or an answer, 1 or 2, got {shown(reply.reference)}; restore the file"
            )
    return run, replies


def choices_of_run(
    run: Mapping[str, Any],
    replies: Sequence[KeptReply],
    *,
    parser: str = "conclusion",
    name: str = "",
    bootstrap: Bootstrap | None = None,
) -> EvaluationResult:
    """Return the result of a model that was asked to choose; `name` "" is that of the run."""
    if run.get("task") != "choose":
        raise InputError(f"expected a run of choices, got one of the task {run.get('task')!r}")
    table = {kept.id: kept for kept in replies}
    asked = [kept for kept in replies if not kept.id.endswith(SWAPPED)]
    rows = []
    for kept in asked:
        row = {**kept.reference, "error": _error(kept)}
        is_cut = kept.reply.is_cut
        if (swapped := table.get(f"{kept.id}{SWAPPED}")) is not None:
            row |= {
                "orders": "both",
                "swapped_reply": swapped.reply.text or "",
                "swapped_error": _error(swapped),
            }
            is_cut = is_cut or swapped.reply.is_cut
        rows.append({**row, "cut": "yes" if is_cut else ""})
    fields = {
        **run["origin"],
        "sys": run["model"],
        "prompt": run["prompt"],
        "shots": str(len(run["demonstrations"])),
        "demos": run["demonstrations_from"],
        "left_out": str(len(run["left_out"])),
    }
    result = judge(
        PromptedChoice(parser=parser),
        Material(
            run["src_lang"],
            run["tgt_lang"],
            rows,
            ids=[kept.id for kept in asked],
            named=Origin(run["dataset"], run["config"], fields),
        ),
        [kept.reply.text or "" for kept in asked],
        bootstrap=bootstrap,
    )
    return replace(
        result,
        system=name or f"{model_name(run['model'])} ({run['strategy']})",
        counts={**result.counts, "n_left_out": len(run["left_out"])},
        notes=(*run["notes"], *_cut_notes(result), *result.notes),
    )


def _cut_notes(result: EvaluationResult) -> list[str]:
    if not (n_cut := result.counts.get("n_cut", 0)):
        return []
    return [
        f"The replies to {n_cut:,} of {result.n:,} samples were cut at the limit of tokens; what"
        " they would have concluded is not known"
    ]


def _error(kept: KeptReply) -> str:
    return "" if kept.reply.text is not None else kept.reply.error or "no reply"


def model_name(identity: str) -> str:
    """Return the name of a model from `Respondent.identity`: without backend, folder or address,
    hash and decoding.

    Examples:
        >>> model_name("server:http://localhost:8000/v1#qwen/small/greedy/256 tokens")
        'small'
        >>> model_name("replies/gpt.jsonl@1a2b3c4")
        'gpt.jsonl'
    """
    backend, is_named, name = identity.partition(":")
    if backend == "server":
        name = name.partition("#")[2].rsplit("/", 2)[0]  # the decoding has two parts
    else:
        name = (name if is_named else backend).partition("@")[0]
    return name.rpartition("/")[2] or identity


def translations_of_run(
    run: Mapping[str, Any], replies: Sequence[KeptReply], *, parser: str | None = None
) -> TranslationRun:
    """Return the translations of a model that was asked for them."""
    if run.get("task") != "translate":
        raise InputError(f"expected a run of translations, got one of the task {run.get('task')!r}")
    chosen = parser or TRANSLATION_PARSERS[run["strategy"] != "basic"]
    rows = []
    for kept in replies:
        source, category = kept.reference["source"], kept.reference.get("category", "")
        if kept.reply.text is None:
            rows.append(
                RepliedTranslation(kept.id, source, "", category, "failed", kept.reply.error)
            )
            continue
        parsed = parse_translation(
            kept.reply.text,
            source,
            src_lang=run["src_lang"],
            tgt_lang=run["tgt_lang"],
            parser=chosen,
        )
        outcome = "valid" if parsed.is_valid else "invalid"
        rows.append(
            RepliedTranslation(
                *(kept.id, source, parsed.text, category, outcome, parsed.reason, kept.reply.is_cut)
            )
        )
    return TranslationRun(run, tuple(rows))
