"""cc-hf alternatives: a masculine and a feminine translation where the source says neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import (
    Config,
    DataFields,
    EvaluatorFields,
    Evaluators,
    SystemFields,
    one_or_all,
)
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import is_file
from cc_hf.languages import base_code
from cc_hf.plugins.reranking.alternative_options import AlternativeOptions
from cc_hf.schema import Example
from cc_hf.systems.system import System

__all__ = ["alternatives"]


def alternatives(
    dataset: Annotated[
        str,
        typer.Argument(
            help=(
                "A text file with one sentence per line, in which the first noun for a person is"
                " meant; or a dataset, as for `cc-hf evaluate`."
            )
        ),
    ],
    config: Config = None,
    *,
    system: Annotated[System | None, SystemFields],
    evaluator: Evaluators = None,
    options: Annotated[
        AlternativeOptions, Fields("cues n_best reader", "Candidates", rare="methods")
    ],
    loading: Annotated[LoadingOptions, EvaluatorFields],
    data: Annotated[DataOptions, DataFields],
    progress: bool = False,
) -> Outcome:
    """Translate for a man and for a woman where the source says neither.

    Example: cc-hf alternatives open.txt -l en-de --system cc-tiny-en-de
    """
    from cc_hf.data.files.custom import is_custom
    from cc_hf.plugins.reranking.alternatives import alternatives as run_alternatives
    from cc_hf.plugins.reranking.alternatives_table import alternatives_table
    from cc_hf.plugins.reranking.structures import pairs_by_people
    from cc_hf.reading import read_lines

    if system is None:
        raise InputError("--system: expected a model that translates, got none")
    focuses: Any = None
    examples: Sequence[Example] = ()
    if is_file(Path(dataset)) and not is_custom(dataset):
        sources, languages = read_lines(Path(dataset)), data.languages
    else:
        material = data.load(dataset, config)
        examples = material.examples
        sources = [example.source for example in examples]
        focuses = [getattr(example, "focus", None) for example in examples]
        languages = (material.src_lang, material.tgt_lang)
    rows = run_alternatives(
        sources,
        system,
        focuses=focuses,
        evaluator=one_or_all(evaluator),
        src_lang=languages[0] or "en",
        tgt_lang=languages[1] or "",
        options=options,
        loading=replace(loading, src_lang=languages[0], tgt_lang=languages[1]),
        progress=progress,
    )
    people = pairs_by_people(examples, base_code(languages[1] or ""), options.reader)
    values = [row.to_row() for row in rows]
    for value, pair in zip(values, people, strict=False):  # none without versions by people
        by_people = pair.to_row()
        value["people"] = {
            name: by_people[name] for name in ("masculine", "feminine", "differing", "checks")
        }
    return Outcome(
        values, lambda: alternatives_table(rows, people, has_reader=options.reader is not None)
    )
