"""cc-hf translate: translate the sources of a dataset with a system, one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import (
    Beams,
    Config,
    DataDir,
    Dataset,
    Device,
    FamilyName,
    Limit,
    Prompt,
    Quiet,
    Separator,
    Split,
    TgtLang,
)
from cc_hf.cli.output import check_output, say_written, shows_progress, write_atomically
from cc_hf.systems.system import DEFAULT_BEAMS, System

__all__ = ["translate"]


def translate(
    dataset: Dataset,
    config: Config = None,
    *,
    system: Annotated[
        str,
        typer.Option(
            help="Model that translates the sources: a name, a folder, or a model on the Hub."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=(
                "File to write; - for standard output. If its name ends in .jsonl, it contains id,"
                " source and translation; otherwise one translation per line."
            ),
        ),
    ],
    kind: FamilyName = None,
    prompt: Prompt = None,
    tgt_lang: TgtLang = None,
    split: Split = "test",
    limit: Limit = None,
    num_beams: Beams = DEFAULT_BEAMS,
    separator: Separator = None,
    data_dir: DataDir = None,
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Translate the sources of a dataset with a system."""
    import json

    from cc_hf.evaluation.material import load_material
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.systems.translate import translate as run_translate

    check_output(output)
    material = load_material(
        dataset, config, split=split, tgt_lang=tgt_lang, data_dir=data_dir, limit=limit
    )
    examples, chosen = material.examples, System(system, num_beams, separator)
    written = run_translate(
        chosen.sources(examples),
        system,
        src_lang=material.src_lang,
        tgt_lang=material.tgt_lang,
        num_beams=num_beams,
        loading=LoadingOptions(kind=kind, prompt=prompt, device=device),
        progress=shows_progress(quiet=quiet),
    )
    translations = [chosen.last_sentence(text) for text in written]
    lines = list(translations)
    if output.suffix == ".jsonl":
        rows = zip(examples, translations, strict=True)
        lines = [
            json.dumps({"id": e.id, "source": e.source, "translation": t}, ensure_ascii=False)
            for e, t in rows
        ]
    write_atomically(output, "".join(f"{line}\n" for line in lines))
    if not quiet:
        say_written(output, f", {len(lines):,} translations")
