"""Commands for people who choose translations of MT-Wino-X: sheets, and what they say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import DataDir, Resampling
from cc_hf.plugins.raters.rater_files import (
    DrawSeed,
    KeyOutput,
    RaterFiles,
    Raters,
    SheetsOutput,
)
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf_studies.common.sheet_options import Sheets

__all__ = ["build_sheets", "rate"]


def build_sheets(
    config: Annotated[
        str, typer.Argument(help="Configuration mt_en_*.translations of wino_x.")
    ] = "mt_en_de.translations",
    *,
    dataset: Annotated[
        str,
        typer.Option(help="The dataset, or a folder that `cc-hf study wino_x build` wrote."),
    ] = "wino_x",
    output: SheetsOutput,
    key: KeyOutput,
    n: Annotated[
        int, typer.Option("--n", min=1, help="Number of samples, or all that there are.")
    ] = 100,
    raters: Raters = 2,
    seed: DrawSeed = 0,
    data_dir: DataDir = None,
) -> Outcome:
    """Draw samples of MT-Wino-X, and write sheets on which people choose the better translation.

    `cc-hf study wino_x rate` reads the filled sheets of two people. The method is that of Emelin
    (2023), section 4.2.2.

    Example: cc-hf study wino_x build-sheets -o wino_x_sheets --key wino_x_key.json
    """
    from cc_hf.evaluation.material import load_material
    from cc_hf_studies.wino_x.human_study import draw_samples

    files = RaterFiles(output, key, raters, seed)
    drawn = draw_samples(load_material(dataset, config, data_dir=data_dir).examples, n=n, seed=seed)
    return files.outcome(drawn)


def rate(
    key: Annotated[Path, typer.Argument(help="Key that `cc-hf study wino_x build-sheets` wrote.")],
    sheets: Sheets,
    *,
    bootstrap: Annotated[Bootstrap, Resampling],
) -> Outcome:
    """Read two filled sheets of MT-Wino-X: accuracy of both people, and how well they agree.

    Example: cc-hf study wino_x rate key.json sheets/rater1.csv sheets/rater2.csv
    """
    from cc_hf.plugins.raters.sheets import SheetKey
    from cc_hf_studies.wino_x.human_study import FORM, rate_samples
    from cc_hf_studies.wino_x.tables import human_study_tables

    sheet_key = SheetKey.read(key, [FORM])
    raters = sheet_key.read_sheets(sheets, n_raters=2)
    figures = rate_samples(sheet_key, *raters, bootstrap=bootstrap)
    return Outcome(asdict(figures), lambda: human_study_tables(figures))
