"""The files that results add to a model's repository: .eval_results/*.yaml, and the card with its
`model-index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import DataError, InputError
from cc_hf.folders import new_folder
from cc_hf.hub.eval_results import (
    check_dataset,
    checked_date,
    dataset_repos,
    eval_result_files,
    published_scores,
    today,
)
from cc_hf.hub.model_index import eval_results, with_model_index
from cc_hf.hub.push import REFUSALS, refusal, without_token
from cc_hf.results import EvaluationResult

__all__ = ["CARD", "pinned_repos", "read_card", "read_system_results", "results_folder"]

CARD = "README.md"


def read_system_results(files: Sequence[str | Path]) -> list[EvaluationResult]:
    """Read results that `cc-hf evaluate` wrote, in the order of the files."""
    return [result for path in files for result in read_result_file(path).results]


def results_folder(
    results: Sequence[EvaluationResult],
    model: str,
    *,
    dataset_repos: Sequence[str],
    output: str | Path,
    date: str | None = None,
    source_url: str | None = None,
    source_name: str | None = None,
    model_index: bool = True,
    card: str | None = None,
) -> list[Path]:
    """Write the files of the repository into a new folder.

    Args:
        date: date of the evaluation, ISO 8601; None for today.
        model_index: whether to write the card, too.
        card: the text of the model's card; None if it has none.
    """
    published = published_scores(results, _repos(dataset_repos, results))
    files = eval_result_files(
        published,
        date=checked_date(date or today()),
        source_url=source_url,
        source_name=source_name,
    )
    if model_index:
        files[CARD] = with_model_index(
            card, model, eval_results(published, source_url=source_url, source_name=source_name)
        )
    with new_folder(output) as folder:
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="")
    return sorted(path for path in Path(output).rglob("*") if path.is_file())


def _repos(values: Sequence[str], results: Sequence[EvaluationResult]) -> dict[str, str]:
    if not results:
        raise InputError("expected at least one result, got none")
    for result in results:
        check_dataset(result)
    return dataset_repos(values, [result.dataset for result in results])


def pinned_repos(
    values: Sequence[str], results: Sequence[EvaluationResult], *, api: HfApi | None = None
) -> tuple[list[str], list[str]]:
    """Return the datasets' repositories at their current commits, and notes on failures."""
    api, pinned, notes = api or HfApi(), [], []
    for name, repo in _repos(values, results).items():
        commit = None
        if "@" not in repo:
            try:
                commit = api.dataset_info(repo).sha
            except REFUSALS as error:
                reason = without_token(str(error) or repr(error), api).splitlines()[0]
                notes.append(
                    f"the results do not name the commit of the dataset {repo}, which the Hub did"
                    f" not tell ({reason}); name it as {repo}@COMMIT"
                )
        pinned.append(f"{name}={repo}@{commit}" if commit else f"{name}={repo}")
    return pinned, notes


def read_card(model: str, *, api: HfApi | None = None) -> tuple[str | None, str | None]:
    """Return the text of a model's card, None if there is none, and the commit that was read."""
    api = api or HfApi()
    commit = None
    try:
        commit = api.model_info(model).sha
        path = api.hf_hub_download(model, CARD, revision=commit)
    except REFUSALS as error:
        # `LocalEntryNotFoundError` is a subclass, but means that the Hub could not be reached.
        if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
            return None, commit
        url = f"https://huggingface.co/{model}"
        raise DataError(refusal(error, url, "Nothing was sent", api=api)) from error
    with open(path, encoding="utf-8", newline="") as file:
        return file.read(), commit
