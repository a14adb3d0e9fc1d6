"""The files that results add to a model's repository: .eval_results/*.yaml and the card with its
`model-index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

from cc_hf.data.result_files import read_result_file
from cc_hf.errors import InputError
from cc_hf.hub.eval_results import (
    check_dataset,
    checked_date,
    dataset_repos,
    eval_result_files,
    published,
    today,
)
from cc_hf.hub.folders import new_folder
from cc_hf.hub.model_index import eval_results, with_model_index
from cc_hf.hub.push import REFUSALS, refusal
from cc_hf.results import EvaluationResult

__all__ = ["CARD", "read_card", "read_results", "results_folder"]

CARD = "README.md"


def read_results(files: Sequence[str | Path]) -> list[EvaluationResult]:
    """Read the results that `cc-hf evaluate` wrote, of one metric or of all.

    Raises:
        InputError: for a file that is not there or is none, with its name.
    """
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
    """Write the files into a new folder; returns them, sorted.

    Args:
        results: of one model.
        model: ORGANISATION/NAME.
        dataset_repos: repositories of the benchmarks, as `cc_hf.hub.eval_results.dataset_repos`
            takes them.
        output: a folder that does not exist yet, or is empty.
        date: of the evaluation, ISO 8601; None for today.
        source_url, source_name: where the evaluation is written up.
        model_index: whether to write the card, too.
        card: the text of the model's card; None where it has none.

    Raises:
        InputError: as `cc_hf.hub.eval_results.published` and `with_model_index`.
    """
    found = published(results, _repos(dataset_repos, results))
    files = eval_result_files(
        found, date=checked_date(date or today()), source_url=source_url, source_name=source_name
    )
    if model_index:
        files[CARD] = with_model_index(
            card, model, eval_results(found, source_url=source_url, source_name=source_name)
        )
    with new_folder(output) as folder:
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="")
    return sorted(path for path in Path(output).rglob("*") if path.is_file())


def _repos(values: Sequence[str], results: Sequence[EvaluationResult]) -> dict[str, str]:
    if not results:
        raise InputError("expected at least one result, got none")
    for one in results:
        check_dataset(one)
    return dataset_repos(values, [one.dataset for one in results])


def read_card(model: str, *, api: HfApi | None = None) -> tuple[str | None, str | None]:
    """The text of a model's card on the Hub, None where it has none, and the commit that it is of.

    Raises:
        DataError: when there is no such model, or the Hub cannot be reached.
    """
    api = api or HfApi()
    commit = None
    try:
        commit = api.model_info(model).sha
        path = api.hf_hub_download(model, CARD, revision=commit)
    except REFUSALS as error:
        # the latter: the Hub was not reached
        if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
            return None, commit
        raise refusal(
            error, f"https://huggingface.co/{model}", "Nothing was sent", api=api
        ) from error
    with open(path, encoding="utf-8", newline="") as file:
        return file.read(), commit
