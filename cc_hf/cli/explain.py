"""cc-hf explain: which words of a translation decide a judgement of contrastive conditioning."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf import signature
from cc_hf.cli.command import NewFile, Outcome, OutputFile, shown_command
from cc_hf.cli.options import DataFields, EvaluatorFields, Evaluators, one_or_all
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.languages import language_pair

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator
    from cc_hf.metrics.base import ScoringMetric

__all__ = ["explain"]

_METRIC = "contrastive_conditioning"
_OWN = "A sentence of your own"


def explain(
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="RESULT|DATASET",
            help=(
                "Result of `cc-hf evaluate --output`, whose data, evaluator and translation are"
                " used; or a dataset, as for `cc-hf evaluate`; or nothing with --source."
            ),
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Configuration of the dataset, or a language pair; for a result on data of your"
                " own, their file."
            )
        ),
    ] = None,
    *,
    example_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help=(
                "Id of the example, as in the field example_id of results. Rows without an id are"
                " counted from 0 (messages count the lines of a file from 1)."
            ),
        ),
    ] = None,
    translation: Annotated[
        list[str] | None, typer.Option(help="Translation to explain. May be repeated.")
    ] = None,
    evaluator: Evaluators = None,
    loading: Annotated[
        LoadingOptions, replace(EvaluatorFields, rare="device", settings="kind prompt revision")
    ],
    score: Annotated[
        str | None,
        typer.Option(
            help="Score of a text: geometric, arithmetic or reference. Default: geometric.",
            hidden=True,
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Source sentence of your own.", rich_help_panel=_OWN)
    ] = None,
    focus: Annotated[
        str | None,
        typer.Option(help="Words of --source to be disambiguated.", rich_help_panel=_OWN),
    ] = None,
    position: Annotated[
        int | None,
        typer.Option(
            help=(
                "First character of --focus in --source, counted from 0, if the focus occurs more"
                " than once."
            ),
            rich_help_panel=_OWN,
            hidden=True,
        ),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            "--gender",
            help="Right reading, male or female. The cues are then gender brackets.",
            rich_help_panel=_OWN,
        ),
    ] = None,
    correct_cues: Annotated[
        list[str] | None,
        typer.Option(
            "--correct-cue",
            help="Cue for the right reading: words, or a template with {focus}. May be repeated.",
            rich_help_panel=_OWN,
        ),
    ] = None,
    incorrect_cues: Annotated[
        list[str] | None,
        typer.Option(
            "--incorrect-cue", help="The same for the wrong reading.", rich_help_panel=_OWN
        ),
    ] = None,
    data: Annotated[
        DataOptions, replace(DataFields, names="language_pair", rare="data_dir split cues")
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write the explanations to this HTML file.", rich_help_panel="Output"),
        OutputFile(),
    ] = None,
) -> Outcome:
    """Explain a judgement by what each word of a translation adds to it.

    Each word is scored under the best correct and the best incorrect source.

    Example: cc-hf explain tiny.json --id 0
    """
    from cc_hf.comparing.explanation import explain_example
    from cc_hf.reports.page.explanations import explanation_table, explanations_page

    options = {
        "source": source,
        "focus": focus,
        "position": position,
        "gold": gold,
        "correct_cues": correct_cues,
        "incorrect_cues": incorrect_cues,
    }
    sentence = {name: value for name, value in options.items() if value not in (None, [])}
    chosen = _chosen(dataset, config, example_id, sentence, data, evaluator)
    if chosen.metric is not None and score:
        raise InputError(f"--score: expected a result of {_METRIC}, got {chosen.metric.name}")
    texts = translation or chosen.judged
    if not texts:
        raise InputError("expected at least one --translation")
    loaded, warnings = chosen.opened(one_or_all(evaluator), replace(loading, mode="exact"))
    if chosen.metric is not None:
        return _changes(chosen.metric, chosen, texts, loaded, warnings, html)
    explanations = [
        explain_example(
            loaded,
            chosen.example,
            text,
            tgt_lang=chosen.tgt_lang,
            score=score or chosen.fields.get("score", "geometric"),
        )
        for text in texts
    ]
    page = "" if html is None else explanations_page(explanations, command=shown_command())
    return Outcome(
        [json.loads(explanation.to_json()) for explanation in explanations],
        lambda: [
            *map(explanation_table, explanations),
            Text(f"evaluator: {explanations[0].evaluator}"),
        ],
        files=[NewFile(html, page)],
        warnings=[*chosen.warnings, *warnings],
    )


def _chosen(
    dataset: str | None,
    config: str | None,
    example_id: str | None,
    sentence: dict[str, Any],
    data: DataOptions,
    evaluator: Sequence[str] | None,
) -> _Chosen:
    """Return the example of a result or a dataset, or the sentence of one's own."""
    if dataset is None:
        if "source" not in sentence or example_id is not None or data.cues:
            raise InputError(
                "expected a result or a dataset with --id, or --source, --translation and what to"
                " disambiguate: --focus, and --gender or cues"
            )
        return _of_sentence(sentence, data.language_pair, evaluator)
    if sentence:
        raise InputError("expected a result or a dataset with --id, or --source, got both")
    if example_id is None:
        raise InputError(
            f"expected --id, the example of {dataset} to explain{_wrong_ids(Path(dataset))}"
        )
    if Path(dataset).suffix.lower() == ".json":
        return _of_result(Path(dataset), config, example_id, data)
    return _of_dataset(dataset, config, example_id, data)


def _changes(
    metric: ScoringMetric,
    chosen: _Chosen,
    translations: Sequence[str],
    evaluator: Evaluator,
    warnings: Sequence[str],
    html: Path | None,
) -> Outcome:
    """Explain a verdict of a metric that changes texts, such as coverage."""
    from cc_hf.comparing.changes import explain_changes
    from cc_hf.reports.page.changes import changes_page
    from cc_hf.reports.tables.changes import changes_table

    explained = [
        explain_changes(metric, evaluator, chosen.example, text, tgt_lang=chosen.tgt_lang)
        for text in translations
    ]
    page = "" if html is None else changes_page(explained, command=shown_command())
    return Outcome(
        [asdict(explanation) for explanation in explained],
        lambda: [*map(changes_table, explained), Text(f"evaluator: {explained[0].evaluator}")],
        files=[NewFile(html, page)],
        warnings=[*chosen.warnings, *warnings],
    )


def _wrong_ids(path: Path) -> str:
    """Return the first examples of a result that are judged incorrect, for the error."""
    from cc_hf.data.files.result_files import read_result_file

    if path.suffix.lower() != ".json":
        return ""
    judgements = (j for result in read_result_file(path).results for j in result.judgements)
    ids = dict.fromkeys(j.example_id for j in judgements if j.verdict == "incorrect")
    return f", such as one that is judged incorrect: {', '.join(list(ids)[:5])}" if ids else ""


@dataclass(frozen=True)
class _Chosen:
    """What is explained.

    Attributes:
        judged: the translation of a result, which --translation replaces.
        fields: fields of the signature of a result.
        metric: the metric of a result whose verdicts come from changes of the texts; None for
            contrastive conditioning.
    """

    example: Any
    tgt_lang: str
    judged: Sequence[str] = ()
    fields: dict[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    metric: ScoringMetric | None = None

    def opened(
        self, named: str | list[str] | None, loading: LoadingOptions
    ) -> tuple[Evaluator, list[str]]:
        """Open the evaluator that was named, or that of the result.

        Returns:
            The evaluator, and a warning if it is another than that of the result.

        Raises:
            InputError: for an evaluator of a result that cannot be found by its name.
        """
        from cc_hf.evaluators.resolve import resolve_evaluator

        judge = self.fields.get("eval", "")
        try:
            loaded = resolve_evaluator(
                named or one_or_all(signature.evaluator_names(judge)),
                loading,
                src_lang=self.example.src_lang,
                tgt_lang=self.tgt_lang,
            )
        except UnknownNameError as error:
            if named or not judge:
                raise
            raise InputError(
                f"{error}. The result was judged by {judge}; give that model as `evaluator`"
            ) from None
        loaded_fields = loaded.signature_fields()
        differing = [
            f"{self.fields[key]}, this explanation is by {loaded_fields.get(key)}"
            for key in ("eval", "prompt")
            if key in self.fields and loaded_fields.get(key) != self.fields[key]
        ]
        return loaded, [f"the result was judged by {text}" for text in differing]


def _of_result(path: Path, own_data: str | None, example_id: str, data: DataOptions) -> _Chosen:
    from cc_hf.comparing.changes import changing_metric
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.reports.inputs import read_examples

    results = {result.metric: result for result in read_result_file(path).results}
    metrics = {name: changing_metric(result) for name, result in results.items()}
    usable = [name for name in results if name == _METRIC or metrics[name]]
    if not usable:
        raise InputError(
            f"{path}: expected a result of {_METRIC}, or of a metric that changes texts such as"
            f" coverage, got {', '.join(results)}"
        )
    if data != DataOptions(data_dir=data.data_dir):
        raise InputError(
            "language_pair, split, cues: expected none with a result, which names its data"
        )
    result = results[_METRIC if _METRIC in results else usable[0]]
    judgements = result.by_id()
    _check_id(example_id, judgements, str(path))
    if own_data is None and result.dataset in ("", "custom"):
        raise InputError(
            f"{path}: the result is on data of your own, which it does not hold; give their file,"
            f" too: cc-hf explain {path} FILE --id {example_id}"
        )
    examples, notes = read_examples(result, dataset=own_data, data_dir=data.data_dir)
    by_id = {example.id: example for example in examples or ()}
    if example_id not in by_id:
        raise InputError(
            f"{path}: expected data with the example {example_id!r}, got"
            f" {'none: ' + notes[0] if examples is None else 'others'}"
        )
    return _Chosen(
        by_id[example_id],
        result.tgt_lang,
        judged=[judgements[example_id].translation],
        fields=signature.parse(result.signature)[1],
        warnings=notes,
        metric=metrics[result.metric],
    )


def _of_dataset(dataset: str, config: str | None, example_id: str, data: DataOptions) -> _Chosen:
    material = data.load(dataset, config)
    examples = material.examples
    positions = {example.id: position for position, example in enumerate(examples)}
    _check_id(example_id, positions, dataset)
    return _Chosen(examples[positions[example_id]], material.tgt_lang)


def _check_id(example_id: str, known: Collection[str], where: str) -> None:
    if example_id in known:
        return
    if len(known) > 50:
        raise InputError(
            f"--id: {where} has no example {example_id!r}; expected one of {len(known)} ids, such"
            f" as {', '.join(list(known)[:3])}"
        )
    raise UnknownNameError("example", example_id, list(known))


def _of_sentence(
    sentence: dict[str, Any], pair: str | None, evaluators: Sequence[str] | None
) -> _Chosen:
    from cc_hf.data.files.custom import custom_example

    has_cues = "correct_cues" in sentence or "incorrect_cues" in sentence
    if "gold" in sentence and has_cues:
        raise InputError(
            "expected --gender, for gender brackets, or --correct-cue and --incorrect-cue, got both"
        )
    if "gold" not in sentence and not ("correct_cues" in sentence and "incorrect_cues" in sentence):
        raise InputError(
            "expected --gender male or female, or at least one --correct-cue and one"
            " --incorrect-cue"
        )
    # The default is the pair of the embedded evaluator; other models may know theirs.
    src_lang, tgt_lang = language_pair(pair) if pair else ("en", "" if evaluators else "de")
    return _Chosen(custom_example(sentence, src_lang=src_lang), tgt_lang)
