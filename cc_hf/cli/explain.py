"""cc-hf explain: which words of a translation decide a judgement of contrastive conditioning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.options import (
    Config,
    Cues,
    DataDir,
    Device,
    Evaluators,
    FamilyName,
    Prompt,
    Revisions,
    Score,
    Split,
    TgtLang,
    one_or_all,
)
from cc_hf.cli.output import check_output, json_text, print_result, write_atomically
from cc_hf.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from cc_hf.comparing.explanation import Explanation
    from cc_hf.schema import ContrastiveSourceExample

__all__ = ["explain"]


def explain(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Name of a dataset (see `cc-hf list datasets`), or a .csv, .tsv or .jsonl file"
                " with your own sources and cues. Omit it for a single sentence (--source)."
            )
        ),
    ] = None,
    config: Config = None,
    example_id: Annotated[
        str | None,
        typer.Option(
            "--id", help="Id of the example to explain, as in the field example_id of results."
        ),
    ] = None,
    translation: Annotated[
        list[str] | None, typer.Option(help="Translation to explain. May be repeated.")
    ] = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help=(
                "File of translations of the whole dataset, as for `cc-hf evaluate`. Its"
                " translation of the example is explained."
            )
        ),
    ] = None,
    source: Annotated[str | None, typer.Option(help="Source sentence of your own.")] = None,
    focus: Annotated[
        str | None, typer.Option(help="Words of --source that must be disambiguated.")
    ] = None,
    position: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=(
                "Position of the first character of --focus in --source, counted from 0. It is"
                " required if the focus occurs more than once."
            ),
        ),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            "--gender",
            help="Right reading of the focus, male or female. The cues are then gender brackets.",
        ),
    ] = None,
    correct_cues: Annotated[
        list[str] | None,
        typer.Option(
            "--correct-cue",
            help="Cue for the right reading: words, or a template with {focus}. May be repeated.",
        ),
    ] = None,
    incorrect_cues: Annotated[
        list[str] | None,
        typer.Option(
            "--incorrect-cue",
            help="Cue for the wrong reading: words, or a template with {focus}. May be repeated.",
        ),
    ] = None,
    placement: Annotated[
        str,
        typer.Option(
            help="Where cues are placed: before or after the focus, or replace, instead of it."
        ),
    ] = "before",
    src_lang: Annotated[
        str, typer.Option(help="Language of --source as an ISO 639-1 code.")
    ] = "en",
    tgt_lang: TgtLang = None,
    split: Split = "test",
    evaluator: Evaluators = None,
    kind: FamilyName = None,
    prompt: Prompt = None,
    revision: Revisions = None,
    device: Device = None,
    score: Score = "geometric",
    data_dir: DataDir = None,
    cues: Cues = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: a list with one object per translation.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the explanations to this JSON file; - for standard output.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the explanations to this HTML file.")
    ] = None,
) -> None:
    """Explain a judgement by word probabilities under both contrastive sources."""
    from cc_hf.comparing.explanation import explain_example
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.evaluators.resolve import resolve_evaluator

    check_output(output)
    check_output(html, "html")
    sentence_options = {
        "source": source,
        "focus": focus,
        "position": position,
        "gold": gold,
        "correct_cues": correct_cues,
        "incorrect_cues": incorrect_cues,
    }
    sentence = {name: value for name, value in sentence_options.items() if value not in (None, [])}
    texts = list(translation or [])
    if dataset is not None:
        if sentence:
            raise InputError(
                "expected a dataset with --id, or a sentence of your own (--source), got both"
            )
        if example_id is None:
            raise InputError(f"expected --id, the example of {dataset} to explain")
        example, target, file_texts = _of_dataset(
            dataset,
            config,
            example_id,
            split=split,
            tgt_lang=tgt_lang,
            translations=translations,
            data_dir=data_dir,
            cues=cues,
        )
        texts += file_texts
    else:
        if source is None or example_id is not None or translations is not None or cues is not None:
            raise InputError(
                "expected a dataset with --id and --translation, or --source, --translation and"
                " what to disambiguate: --focus, and --gender or cues"
            )
        example = _of_sentence(sentence, placement=placement, src_lang=src_lang)
        target = tgt_lang or ("" if evaluator else "de")  # language of the embedded model
    if not texts:
        raise InputError(
            "expected at least one --translation"
            + (", or --translations FILE" if dataset is not None else "")
        )
    loading = LoadingOptions(
        kind=kind, prompt=prompt, revision=one_or_all(revision), device=device, mode="exact"
    )
    loaded = resolve_evaluator(
        one_or_all(evaluator), loading, src_lang=example.src_lang, tgt_lang=target
    )
    explanations = [
        explain_example(loaded, example, text, tgt_lang=target, score=score) for text in texts
    ]
    _print(explanations, output, html, as_json=as_json)


def _print(
    explanations: Sequence[Explanation], output: Path | None, html: Path | None, *, as_json: bool
) -> None:
    from cc_hf.reports.page.explanations import explanation_table, explanations_page

    print_result(
        as_json,
        json_text([json.loads(explanation.to_json()) for explanation in explanations]),
        lambda: [
            *map(explanation_table, explanations),
            Text(f"evaluator: {explanations[0].evaluator}"),
        ],
        output=output,
    )
    if html is not None:
        write_atomically(html, explanations_page(explanations))


def _of_dataset(
    dataset: str,
    config: str | None,
    example_id: str,
    *,
    split: str,
    tgt_lang: str | None,
    translations: Path | None,
    data_dir: Path | None,
    cues: str | None,
) -> tuple[ContrastiveSourceExample, str, list[str]]:
    from cc_hf.data.files.translations import read_translations
    from cc_hf.evaluation.material import load_material

    material = load_material(
        dataset, config, split=split, tgt_lang=tgt_lang, data_dir=data_dir, cues=cues
    )
    examples = material.examples
    positions = {example.id: position for position, example in enumerate(examples)}
    if example_id not in positions:
        if len(positions) > 50:
            raise InputError(
                f"--id: {dataset} has no example {example_id!r}; expected one of {len(positions)}"
                f" ids, such as {', '.join(list(positions)[:3])}"
            )
        raise UnknownNameError("example", example_id, positions)
    position = positions[example_id]
    texts = (
        []
        if translations is None
        else [read_translations(translations, examples).translations[position]]
    )
    return examples[position], material.tgt_lang, texts


def _of_sentence(
    sentence: dict[str, Any], *, placement: str, src_lang: str
) -> ContrastiveSourceExample:
    from cc_hf.data.files.custom import custom_example

    if "gold" in sentence and ("correct_cues" in sentence or "incorrect_cues" in sentence):
        raise InputError(
            "expected --gender, for gender brackets, or --correct-cue and --incorrect-cue, got both"
        )
    if "gold" not in sentence and not ("correct_cues" in sentence and "incorrect_cues" in sentence):
        raise InputError(
            "expected --gender male or female, or at least one --correct-cue and one"
            " --incorrect-cue"
        )
    return custom_example({**sentence, "placement": placement}, src_lang=src_lang)
