"""cc-hf explain: which words of a translation decide a judgement of contrastive conditioning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.options import (
    DataDir,
    Device,
    Evaluators,
    FamilyName,
    Prompt,
    Revisions,
    Split,
    TgtLang,
    one_or_all,
)
from cc_hf.cli.output import Console, check_output, printable, write_atomically
from cc_hf.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from cc_hf.schema import ContrastiveSourceExample
    from cc_hf.studies.explanation import Explanation

__all__ = ["explain"]


def explain(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Dataset, see `cc-hf list datasets`, or a .csv, .tsv or .jsonl file; none for a"
                " sentence of your own (--source)."
            )
        ),
    ] = None,
    config: Annotated[
        str | None, typer.Argument(help="Configuration; default: the dataset's own default.")
    ] = None,
    example_id: Annotated[
        str | None, typer.Option("--id", help="Id of the example, as results have it (example_id).")
    ] = None,
    translation: Annotated[
        list[str] | None, typer.Option(help="Translation; repeated, each is explained.")
    ] = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Instead: a file of translations of the whole dataset, as `cc-hf evaluate`"
                " takes it."
            )
        ),
    ] = None,
    source: Annotated[str | None, typer.Option(help="A sentence of your own.")] = None,
    focus: Annotated[
        str | None, typer.Option(help="The words of --source that must be disambiguated.")
    ] = None,
    position: Annotated[
        int | None,
        typer.Option(min=0, help="0-based first character of the focus, where it occurs twice."),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            "--gender",
            help="male or female: the right reading; the cues are then gender brackets.",
        ),
    ] = None,
    correct_cues: Annotated[
        list[str] | None,
        typer.Option(
            "--correct-cue",
            help="Cue for the right reading: words, or a template with {focus}; may be repeated.",
        ),
    ] = None,
    incorrect_cues: Annotated[
        list[str] | None,
        typer.Option("--incorrect-cue", help="Cue for the wrong reading; may be repeated."),
    ] = None,
    placement: Annotated[
        str, typer.Option(help="Where cues go: before, after, or replace the focus.")
    ] = "before",
    src_lang: Annotated[str, typer.Option(help="Language of --source, ISO 639-1.")] = "en",
    tgt_lang: TgtLang = None,
    split: Split = "test",
    evaluator: Evaluators = None,
    kind: FamilyName = None,
    prompt: Prompt = None,
    revision: Revisions = None,
    device: Device = None,
    score: Annotated[str, typer.Option(help="geometric, arithmetic or reference.")] = "geometric",
    data_dir: DataDir = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: one object per translation, in a list.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write that JSON to this file.")
    ] = None,
) -> None:
    """Explain a judgement: the probability of each word under both sources, and what decides."""
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.evaluators.resolve import resolve_evaluator
    from cc_hf.studies.explanation import explain_example

    check_output(output)
    own = {
        "source": source,
        "focus": focus,
        "position": position,
        "gold": gold,
        "correct_cues": correct_cues,
        "incorrect_cues": incorrect_cues,
    }
    given = {name: value for name, value in own.items() if value not in (None, [])}
    texts = list(translation or [])
    if dataset is not None:
        if given:
            raise InputError(
                "expected a dataset with --id, or a sentence of your own (--source), got both"
            )
        if example_id is None:
            raise InputError(f"expected --id, which example of {dataset} to explain")
        example, target, found = _of_dataset(
            dataset,
            config,
            example_id,
            split=split,
            tgt_lang=tgt_lang,
            translations=translations,
            data_dir=data_dir,
        )
        texts += found
    else:
        if source is None or example_id is not None or translations is not None:
            raise InputError(
                "expected a dataset with --id and --translation, or --source, --translation and"
                " what to look at: --focus, and --gender or cues"
            )
        example = _of_sentence(given, placement=placement, src_lang=src_lang)
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
    explained = [
        explain_example(loaded, example, text, tgt_lang=target, score=score) for text in texts
    ]
    _write(explained, output, as_json=as_json)


def _write(explained: Sequence[Explanation], output: Path | None, *, as_json: bool) -> None:
    from cc_hf.reports.studies.explanations import explanation_table

    text = (
        json.dumps(
            [json.loads(one.to_json()) for one in explained],
            ensure_ascii=False,
            allow_nan=False,
            indent=1,
        )
        + "\n"
    )
    if output is not None:
        write_atomically(output, text)
    if as_json:
        typer.echo(printable(text), nl=False)
        return
    console = Console()
    for one in explained:
        console.print(explanation_table(one), soft_wrap=True)
    console.print(Text(f"evaluator: {explained[0].evaluator}"), soft_wrap=True)


def _of_dataset(
    dataset: str,
    config: str | None,
    example_id: str,
    *,
    split: str,
    tgt_lang: str | None,
    translations: Path | None,
    data_dir: Path | None,
) -> tuple[ContrastiveSourceExample, str, list[str]]:
    from cc_hf.data.loading import check_target_language, declaration, load_examples
    from cc_hf.data.translations import read_translations

    target = check_target_language(dataset, declaration(dataset).config(config).name, tgt_lang)
    examples = load_examples(dataset, config, split=split, data_dir=data_dir)
    places = {example.id: place for place, example in enumerate(examples)}
    if example_id not in places:
        if len(places) > 50:
            raise InputError(
                f"--id: {dataset} has no example {example_id!r}; expected one of {len(places)} ids,"
                f" such as {', '.join(list(places)[:3])}"
            )
        raise UnknownNameError("example", example_id, places)
    place = places[example_id]
    texts = (
        []
        if translations is None
        else [read_translations(translations, examples).translations[place]]
    )
    return examples[place], target, texts


def _of_sentence(
    given: dict[str, Any], *, placement: str, src_lang: str
) -> ContrastiveSourceExample:
    from cc_hf.data.custom import custom_example

    if "gold" in given and ("correct_cues" in given or "incorrect_cues" in given):
        raise InputError(
            "expected --gender, for gender brackets, or --correct-cue and --incorrect-cue, got both"
        )
    if "gold" not in given and not ("correct_cues" in given and "incorrect_cues" in given):
        raise InputError(
            "expected --gender male or female, or at least one --correct-cue and one"
            " --incorrect-cue"
        )
    return custom_example({**given, "placement": placement}, src_lang=src_lang)
