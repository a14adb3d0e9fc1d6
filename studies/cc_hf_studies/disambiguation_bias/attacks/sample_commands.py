"""cc-hf study disambiguation_bias attack build-challenge, transfer, grammar, build-sheets, rate:
what is done with samples and judgements.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.options import Resampling
from cc_hf.errors import InputError
from cc_hf.plugins.raters.rater_files import (
    DrawSeed,
    KeyOutput,
    RaterFiles,
    Raters,
    SheetsOutput,
)
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf_studies.common.sheet_options import Sheets
from cc_hf_studies.disambiguation_bias.command_options import (
    AttackSamples,
    LexiconFields,
    LexiconOptions,
)

__all__ = ["build_challenge", "build_sheets", "grammar", "rate", "transfer"]


def build_challenge(
    samples: AttackSamples,
    *,
    strongest: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Write the samples with the strongest adjectives to this .jsonl."
        ),
        OutputFile(),
    ],
    random: Annotated[
        Path | None,
        typer.Option(help="Write as many samples at random to this .jsonl."),
        OutputFile(),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of samples of each set.")] = 10_000,
    max_per_homograph: Annotated[
        int, typer.Option(min=1, help="Largest number of samples of one homograph.")
    ] = 1_000,
    seed: DrawSeed = 0,
) -> Outcome:
    """Choose the samples with the highest difference of frequencies, and as many at random.

    The first set holds changes at the homograph only. The method is that of Emelin (2023), section
    3.3.2. `cc-hf study disambiguation_bias attack judge` judges systems on both files.

    Example: cc-hf study disambiguation_bias attack build-challenge samples.jsonl --strongest hard.jsonl
    """  # noqa: E501
    from cc_hf_studies.disambiguation_bias.attacks.challenge import choose_challenge
    from cc_hf_studies.disambiguation_bias.attacks.samples import read_samples, write_rows

    chosen = choose_challenge(
        read_samples(samples), n=n, max_per_homograph=max_per_homograph, seed=seed
    )
    write_rows(strongest, chosen.biased)
    if random is not None:
        write_rows(random, chosen.random)
    least = chosen.biased[-1].freq_diff
    return Outcome(
        {
            "n_samples": chosen.n,
            "n_biased": len(chosen.biased),
            "n_random": len(chosen.random),
            "smallest_freq_diff": least,
            "seed": seed,
        },
        lambda: [
            f"{len(chosen.biased):,} of {chosen.n:,} samples, with a FREQ difference of at least"
            f" {least:g}; {len(chosen.random):,} at random"
        ],
        files=[NewFile(strongest, None), NewFile(random, None)],
    )


def transfer(
    judgements: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "Files that `cc-hf study disambiguation_bias attack judge --judgements` wrote for"
                " the same samples, one for each system."
            )
        ),
    ],
    *,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name of a system. Repeat it once per file. Default: names of files."),
    ] = None,
    judge: Annotated[
        str, typer.Option(help="Judge of the attacks: lexicon or contrastive.")
    ] = "lexicon",
) -> Outcome:
    """Compare which attacks succeed on several systems, by the Jaccard index.

    The method is that of Emelin (2023), section 3.3.4. Three systems or more are compared by their
    true union, too.

    Example: cc-hf study disambiguation_bias attack transfer opus.jsonl other.jsonl
    """
    from cc_hf.errors import check_choice
    from cc_hf_studies.disambiguation_bias.attacks.judge import JUDGES
    from cc_hf_studies.disambiguation_bias.attacks.samples import read_judgements
    from cc_hf_studies.disambiguation_bias.attacks.tables import transfer_table
    from cc_hf_studies.disambiguation_bias.attacks.transfer import transferability

    check_choice("judge", judge, JUDGES)
    names = name or [path.stem for path in judgements]
    if len(names) != len(judgements) or len(set(names)) < len(names):
        raise InputError(
            f"name: expected a different name for each of {len(judgements)} files, got"
            f" {', '.join(names)}"
        )
    transfers = transferability(
        {system: read_judgements(path) for system, path in zip(names, judgements, strict=True)},
        judge=judge,
    )
    return Outcome(
        {"judge": judge, "transfer": [asdict(row) for row in transfers]},
        lambda: transfer_table(transfers, judge=judge),
    )


def build_sheets(
    samples: Annotated[
        Path, typer.Argument(help="Adversarial samples to rate (.jsonl), such as a challenge set.")
    ],
    *,
    output: SheetsOutput,
    key: KeyOutput,
    regular: Annotated[
        Path | None,
        typer.Option(help="Tagged pairs (.jsonl) whose sources are the regular sentences."),
    ] = None,
    lexicon: Annotated[LexiconOptions, LexiconFields],
    n: Annotated[
        int, typer.Option("--n", min=1, help="Number of sentences of each kind, or all there are.")
    ] = 1_000,
    raters: Raters = 2,
    seed: DrawSeed = 0,
) -> Outcome:
    """Write sheets on which people choose the sense and rate the naturalness of sentences.

    `cc-hf study disambiguation_bias attack rate` reads the filled sheets of two people. The method
    is that of Emelin (2023), section 3.3.3.

    Example: cc-hf study disambiguation_bias attack build-sheets hard.jsonl -o sheets --key key.json
    """
    from cc_hf_studies.disambiguation_bias.attacks.samples import read_samples
    from cc_hf_studies.disambiguation_bias.attacks.sheets import draw_sentences
    from cc_hf_studies.disambiguation_bias.homographs import read_pairs

    files = RaterFiles(output, key, raters, seed)
    drawn = draw_sentences(
        list(read_samples(samples)),
        [] if regular is None else list(read_pairs(regular)),
        lexicon.read(),
        n=n,
        seed=seed,
    )
    return files.outcome(drawn)


def rate(
    key: Annotated[
        Path,
        typer.Argument(
            help="Key that `cc-hf study disambiguation_bias attack build-sheets` wrote."
        ),
    ],
    sheets: Sheets,
    *,
    bootstrap: Annotated[Bootstrap, Resampling],
) -> Outcome:
    """Read two filled sheets: error rates, naturalness, and how well both people agree.

    Example: cc-hf study disambiguation_bias attack rate key.json sheets/rater1.csv sheets/rater2.csv
    """  # noqa: E501
    from cc_hf.plugins.raters.sheets import SheetKey
    from cc_hf_studies.disambiguation_bias.attacks.sheets import FORM, rate_sheets
    from cc_hf_studies.disambiguation_bias.attacks.tables import sheet_tables

    sheet_key = SheetKey.read(key, [FORM])
    raters = sheet_key.read_sheets(sheets, n_raters=2)
    figures = rate_sheets(sheet_key, *raters, bootstrap=bootstrap)
    return Outcome(asdict(figures), lambda: sheet_tables(figures))


def grammar(
    samples: AttackSamples,
    *,
    lang: Annotated[str, typer.Option(help="Language of LanguageTool.")] = "en-US",
) -> Outcome:
    """Count the samples with more grammatical errors than their seed, by LanguageTool.

    The method is that of Emelin (2023), section 3.3.3. It needs `language_tool_python` and Java.

    Example: cc-hf study disambiguation_bias attack grammar samples.jsonl
    """
    from cc_hf.reports.figure_text import with_interval
    from cc_hf_studies.disambiguation_bias.attacks.grammar import compare_grammar, language_tool
    from cc_hf_studies.disambiguation_bias.attacks.samples import read_samples

    worse = compare_grammar(read_samples(samples), language_tool(lang))
    rate_text = with_interval(worse.value, worse.interval)
    return Outcome(
        worse.to_row(k="n_worse", value="rate"),
        lambda: [
            f"{worse.k:,} of {worse.n:,} samples have more errors than their seed: {rate_text} %"
        ],
    )
