"""Results in the format of the Hub's leaderboards: files .eval_results/*.yaml in the repository of
a model, one per result, written with the types of huggingface_hub.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import yaml

from cc_hf import registry, signature
from cc_hf.data.card_sections import evaluator_caution
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import InputError, MissingDependencyError, UnknownNameError
from cc_hf.evaluators.judge_cards import JudgeCard, judge_cards
from cc_hf.figure_keys import CORRECTED
from cc_hf.hub.push import check_repo
from cc_hf.hub.tasks import Task, tasks
from cc_hf.metrics.headline import headline, why_not_cited
from cc_hf.reports.figure_text import score_text
from cc_hf.reports.what_to_cite import UNFIT, what_to_cite
from cc_hf.results import EvaluationResult
from cc_hf.schema import CUSTOM
from cc_hf.signature import split_and_limit

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

__all__ = [
    "Published",
    "check_dataset",
    "checked_date",
    "dataset_repos",
    "entries",
    "eval_result_files",
    "evaluator_notes",
    "published_scores",
    "today",
]

_FOLDER = ".eval_results"
_COMMIT = re.compile(r"[0-9a-f]{40}")
#: The address of a page of a Space or dataset, whose owner the Hub shows as the source.
_HUB_PAGE = re.compile(r"https://huggingface\.co/(?:spaces|datasets)/([\w.-]+)/")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


@dataclass(frozen=True)
class Published:
    """A result that is to be published.

    Attributes:
        revision: the commit of that repository; "" where it is not known.
        values: the tasks that it has a score for, with this score.
    """

    result: EvaluationResult
    declared: DatasetDeclaration
    dataset_repo: str
    values: tuple[tuple[Task, float], ...]
    revision: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the result, after what the card of its evaluator says about its use."""
        return (*evaluator_notes([self.result]), *self.result.notes)

    def remarks(self, score: str) -> list[str]:
        """Return what stands beside one score: why not to cite it, its trust, and what to cite."""
        why, corrected = why_not_cited(self.result, score), f"{CORRECTED}{score}"
        text = score_text(self.result, corrected)
        remarks = [f"{UNFIT}: {why}"] * bool(why)
        if (trust := self.result.trust) is not None:
            # A reason against citing names the evidence, or that there is none.
            remarks.append(f"level: {trust.level}" + f", by {trust.labels}" * (not why))
        remarks += [f"{corrected} {text} %"] * bool(text)
        cited = what_to_cite([self.result])
        if cited is not None and not why and score not in headline(self.result).in_box:
            figures = (" ".join(f"{label} {value}".split()) for label, value in cited.figures)
            remarks.append(f"to cite: {', '.join(figures)}")
        return remarks

    @property
    def path(self) -> str:
        """The file in the model's repository: one per dataset, config, language, split, metric."""
        stem = self.values[0][0].id.rpartition("--")[0]
        return f"{_FOLDER}/{self.result.dataset}--{stem}.yaml"


def evaluator_notes(
    results: Iterable[EvaluationResult], others: Sequence[JudgeCard] = ()
) -> list[str]:
    """Return what readers of published figures must know of the evaluators that they come from.

    It is a note for each evaluator that ships with the package, and what was measured of evaluators
    by themselves, as their cards and `others` have it.
    """
    evaluators = dict.fromkeys(
        (signature.parse(result.signature)[1].get("eval", ""), result.tgt_lang)
        for result in results
    )
    return [
        *(
            f"The evaluator is {evaluator.replace('@', ' at ')}. {caution}"
            for evaluator in dict.fromkeys(name for name, _ in evaluators)
            if (caution := evaluator_caution(evaluator))
        ),
        *(card.text for names in evaluators for card in judge_cards(*names, others)),
    ]


def published_scores(
    results: Sequence[EvaluationResult], repos: Mapping[str, str]
) -> list[Published]:
    """Select the scores for leaderboards, which each metric declares in `Metric.leaderboard`."""
    selected: list[Published] = []
    for result in results:
        selection = _published(result, repos)
        for other in selected:
            if other.path == selection.path:
                raise InputError(
                    "expected one result for each dataset, configuration, language and metric, got"
                    f" two of {_named(result)}: {other.result.signature} and {result.signature};"
                    " leave one out"
                )
        selected.append(selection)
    return selected


def _published(result: EvaluationResult, repos: Mapping[str, str]) -> Published:
    declared = check_dataset(result)
    if result.dataset not in repos:
        raise InputError(
            f"dataset_repos: expected the repository of {result.dataset} on the Hub, such as"
            f" {result.dataset}=ORGANISATION/NAME, got none"
        )
    split = _split(result)
    matching_tasks = [
        task
        for task in tasks(declared, [result.config])
        if (task.tgt_lang, task.split, task.metric) == (result.tgt_lang, split, result.metric)
    ]
    values = tuple(
        (task, result.scores[task.score]) for task in matching_tasks if task.score in result.scores
    )
    if not values:
        expected = (
            ", ".join(task.score for task in matching_tasks)
            or f"a metric that fits {result.dataset} {result.config}"
        )
        raise InputError(
            f"{_named(result)}: no score for a leaderboard: expected {expected}, got"
            f" {', '.join(result.scores) or 'none'}; evaluate it again"
        )
    repo, _, revision = repos[result.dataset].partition("@")
    return Published(result, declared, repo, values, revision)


def check_dataset(result: EvaluationResult) -> DatasetDeclaration:
    """Check that a result is on a dataset of cc_hf, as leaderboards compare on the same data."""
    if result.declared is None:
        name = "" if result.dataset == CUSTOM else result.dataset
        what = f"data of your own ({name})" if name else "data of your own"
        raise InputError(
            "leaderboards compare systems on the same data: expected a result on a dataset of"
            f" cc_hf, got one on {what}; make it with `cc-hf evaluate DATASET`"
        )
    limit = split_and_limit(result.signature, result.dataset, result.config)[1]
    if limit is not None:
        raise InputError(
            f"{_named(result)}: expected a result on all examples, got a first look at {limit};"
            " evaluate without `limit`"
        )
    return result.declared


def _named(result: EvaluationResult) -> str:
    return f"{result.dataset} {result.config} into {result.tgt_lang} by {result.metric}"


def _split(result: EvaluationResult) -> str:
    """Return the split. The signature names it after the configuration, unless it is `test`."""
    return split_and_limit(result.signature, result.dataset, result.config)[0]


def dataset_repos(values: Sequence[str], datasets: Sequence[str]) -> dict[str, str]:
    """Parse [NAME=]ORGANISATION/REPO: which repository belongs to each dataset."""
    repos: dict[str, str] = {}
    names = sorted({name for name in datasets if name})
    for value in values:
        name, equals, repo = value.rpartition("=")
        if not equals:
            if len(names) != 1 or len(values) != 1:
                raise InputError(
                    "dataset_repos: expected NAME=ORGANISATION/REPO for each of"
                    f" {', '.join(names) or 'the datasets'}, got {value!r}"
                )
            name = names[0]
        if name not in registry.names("dataset"):
            raise UnknownNameError("dataset", name, registry.names("dataset"))
        if name not in names:
            raise InputError(
                f"dataset_repos: no result is on {name}; the results are on"
                f" {', '.join(names) or 'none'}"
            )
        if name in repos:
            raise InputError(f"dataset_repos: expected {name} once, got {repos[name]} and {repo}")
        check_repo(repo.partition("@")[0], "dataset_repos")
        if "@" in repo and not _COMMIT.fullmatch(repo.partition("@")[2]):
            raise InputError(
                "dataset_repos: expected the 40 digits of a commit behind the @, got"
                f" {repo.partition('@')[2]!r}"
            )
        repos[name] = repo
    return repos


def today() -> str:
    """Return the current date in UTC, in ISO 8601."""
    return datetime.now(timezone.utc).date().isoformat()


def checked_date(text: str) -> str:
    """Check a date or time in ISO 8601 and return it unchanged.

    Examples:
        >>> checked_date("2026-01-31"), checked_date("2026-01-31T10:30:00Z")
        ('2026-01-31', '2026-01-31T10:30:00Z')
    """
    is_date = _DATE.fullmatch(text) is not None  # Python's versions accept other forms, too
    if is_date:
        try:
            datetime.fromisoformat(re.sub("Z$", "+00:00", text))
        except ValueError:  # such as a 13th month
            is_date = False
    if not is_date:
        raise InputError(f"date: expected YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ, got {text!r}")
    return text


def entries(
    published: Published,
    *,
    date: str,
    source_url: str | None = None,
    source_name: str | None = None,
) -> list[EvalResultEntry]:
    """Return the entries of one result, with notes: a value in [0, 1] for each task."""
    try:
        from huggingface_hub import EvalResultEntry
    except ImportError as error:
        raise MissingDependencyError(
            "huggingface_hub with EvalResultEntry", install="pip install --upgrade huggingface_hub"
        ) from error

    if source_name and not source_url:
        raise InputError(
            f"source_name: expected an address with it (source_url), got {source_name!r} alone"
        )
    # The Hub shows the owner of a Space or a dataset as the source.
    owner = _HUB_PAGE.match(source_url or "")
    # Without a `verify_token`, which only runs on the servers of the Hub have.
    return [
        EvalResultEntry(
            dataset_id=published.dataset_repo,
            task_id=task.id,
            value=value,
            dataset_revision=published.revision or None,
            date=date,
            source_url=source_url,
            source_name=source_name,
            source_user=owner[1] if owner else None,
            notes="; ".join(
                [
                    published.result.signature,
                    *published.remarks(task.score),
                    *(published.notes if number == 0 else ()),
                ]
            ),
        )
        for number, (task, value) in enumerate(published.values)
    ]


def eval_result_files(
    results: Sequence[Published],
    *,
    date: str,
    source_url: str | None = None,
    source_name: str | None = None,
) -> dict[str, str]:
    """Return the YAML files of results, by their paths in the model's repository."""
    files = {}
    for published in results:
        published_entries = entries(
            published, date=date, source_url=source_url, source_name=source_name
        )
        from huggingface_hub import eval_result_entries_to_yaml

        files[published.path] = str(
            yaml.safe_dump(
                eval_result_entries_to_yaml(published_entries),
                sort_keys=False,
                width=4096,
                allow_unicode=True,
            )
        )
    return files
