"""cc-hf compare --by rater: results beside labels that people gave."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Results
from cc_hf.plugins.raters.options import AgreementOptions

__all__ = ["raters"]


def raters(
    results: Results,
    *,
    labels: Annotated[
        list[Path],
        typer.Option(
            help=(
                "JSONL file of human labels, with the keys id, index or testset_line; translation;"
                " gold_gender; and label_annotator1 and 2 or binarized_annotator1 and 2, or more;"
                " or NAME.annotator1.jsonl as Vamvas & Sennrich published it, with that of the"
                " other annotator beside it. Give it once for all results, or once for each. Or the"
                " filled sheets of `cc-hf build sheets`, or the answers that Pearmut has, and their"
                " key, one option each."
            )
        ),
    ],
    options: Annotated[
        AgreementOptions, Fields("inconclusive skip_others assume without_corpus", "Labels")
    ],
) -> Outcome:
    """Compare results with human labels.

    The figures are shown beside those of Vamvas & Sennrich (2021), Table 2.

    Example: cc-hf compare --by rater tiny.json --labels labels.jsonl
    """
    from cc_hf.plugins.raters.agreement_table import (
        agreement_json,
        agreement_notes,
        human_agreement_table,
    )
    from cc_hf.plugins.raters.compared import compare_with_labels

    rows = compare_with_labels(results, labels, options)
    return Outcome(
        agreement_json(rows),
        lambda: [human_agreement_table(rows), *agreement_notes(rows)],
    )
