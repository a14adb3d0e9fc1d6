"""What is explained: an example of a result or a dataset, or a sentence of one's own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cc_hf import signature
from cc_hf.data.files.custom_examples import CUE_KEYS, custom_example
from cc_hf.data.files.own_sentence import OwnSentence
from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluation.calibrated_cues import calibrated_example, gets_brackets
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.languages import language_pair
from cc_hf.metrics.base import ScoringMetric, registered_metric
from cc_hf.reports.inputs import read_examples
from cc_hf.results import EvaluationResult

__all__ = ["METRIC", "Explained", "chosen_example"]

METRIC = "contrastive_conditioning"


@dataclass(frozen=True)
class Explained:
    """What is explained.

    Attributes:
        judged: the translation of a result, which another may replace.
        fields: fields of the signature of a result.
        gets_brackets: whether the package made the cues of the example, and nobody named others.
        system: the system of a result, or the file of one that names none.
        metric: the metric of a result whose verdicts come from changes of the texts; None for
            contrastive conditioning.
    """

    example: Any
    tgt_lang: str
    judged: Sequence[str] = ()
    fields: dict[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    metric: ScoringMetric | None = None
    gets_brackets: bool = False
    system: str = ""

    def example_for(self, evaluator: Evaluator) -> Any:
        """Return the example with the cues by which `cc_hf.evaluate` judges it."""
        if not self.gets_brackets:
            return self.example
        return calibrated_example(self.example, evaluator, self.tgt_lang)

    def opened(
        self, named: str | list[str] | None, loading: LoadingOptions
    ) -> tuple[Evaluator, list[str]]:
        """Open the evaluator that was named, or that of the result."""
        judge = self.fields.get("eval", "")
        names = signature.evaluator_names(judge)
        try:
            loaded = resolve_evaluator(
                named or (names if len(names) > 1 else next(iter(names), None)),
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


def chosen_example(
    dataset: str | None,
    config: str | None,
    example_id: str | None,
    sentence: OwnSentence | None,
    data: DataOptions,
    evaluator: Sequence[str] | None,
) -> Explained:
    """Return the example of a result or dataset; the sentence of one's own if `dataset` is None."""
    if dataset is None:
        if sentence is None or example_id is not None or data.cues:
            raise InputError(
                "expected a result or a dataset with `example_id`, or `source`, `translation` and"
                " what to disambiguate: `focus`, and `gold` or cues"
            )
        return _of_sentence(sentence, data.language_pair, evaluator)
    if sentence is not None:
        raise InputError("expected a result or a dataset with `example_id`, or `source`, got both")
    if example_id is None:
        raise InputError(
            f"example_id: expected the example of {dataset} to explain{_wrong_ids(Path(dataset))}"
        )
    if Path(dataset).suffix.lower() == ".json":
        return _of_result(Path(dataset), config, example_id, data)
    return _of_dataset(dataset, config, example_id, data)


def _wrong_ids(path: Path) -> str:
    """Return the first examples of a result that are judged incorrect, for the error."""
    if path.suffix.lower() != ".json":
        return ""
    judgements = (j for result in read_result_file(path).results for j in result.judgements)
    ids = dict.fromkeys(j.example_id for j in judgements if j.verdict == "incorrect")
    return f", such as one that is judged incorrect: {', '.join(list(ids)[:5])}" if ids else ""


def _of_result(path: Path, own_data: str | None, example_id: str, data: DataOptions) -> Explained:
    results = {result.metric: result for result in read_result_file(path).results}
    metrics = {name: _changing_metric(result) for name, result in results.items()}
    usable = [name for name in results if name == METRIC or metrics[name]]
    if not usable:
        raise InputError(
            f"{path}: expected a result of {METRIC}, or of a metric that changes texts such as"
            f" coverage, got {', '.join(results)}"
        )
    if data != DataOptions(data_dir=data.data_dir):
        raise InputError(
            "language_pair, split, cues: expected none with a result, which names its data"
        )
    result = results[METRIC if METRIC in results else usable[0]]
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
    return Explained(
        by_id[example_id],
        result.tgt_lang,
        judged=[judgements[example_id].translation],
        fields=signature.parse(result.signature)[1],
        warnings=notes,
        metric=metrics[result.metric],
        system=result.system or path.stem,
    )


def _changing_metric(result: EvaluationResult) -> ScoringMetric | None:
    """Return the metric of a result, if its verdicts come from changes of the texts; else None."""
    metric = registered_metric(result.metric)
    if not issubclass(metric, ScoringMetric):
        return None
    return metric.of_signature(signature.parse(result.signature)[1])


def _of_dataset(dataset: str, config: str | None, example_id: str, data: DataOptions) -> Explained:
    material = data.load(dataset, config)
    examples = material.examples
    positions = {example.id: position for position, example in enumerate(examples)}
    _check_id(example_id, positions, dataset)
    example = examples[positions[example_id]]
    return Explained(example, material.tgt_lang, gets_brackets=gets_brackets(material))


def _check_id(example_id: str, known: Collection[str], where: str) -> None:
    if example_id in known:
        return
    if len(known) > 50:
        raise InputError(
            f"example_id: {where} has no example {example_id!r}; expected one of {len(known)} ids,"
            f" such as {', '.join(list(known)[:3])}"
        )
    raise UnknownNameError("example", example_id, list(known))


def _of_sentence(
    sentence: OwnSentence, pair: str | None, evaluators: Sequence[str] | None
) -> Explained:
    # The default is the pair of the embedded evaluator; other models may know theirs.
    src_lang, tgt_lang = language_pair(pair) if pair else ("en", "" if evaluators else "de")
    row = sentence.row()
    example = custom_example(row, src_lang=src_lang)
    return Explained(example, tgt_lang, gets_brackets=not any(key in row for key in CUE_KEYS))
