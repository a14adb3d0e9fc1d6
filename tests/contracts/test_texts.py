"""Every public door that takes a list of texts refuses one text, which it would otherwise take
letter by letter, and the parameters of public doors are all classified.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.plugins.reranking.rerank_options import RerankOptions
from cc_hf.plugins.scores.quality import corpus_quality
from cc_hf.plugins.training.compute_metrics import make_compute_metrics
from cc_hf.schema import ScoringRequest
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.systems.nbest import translate_nbest
from cc_hf.systems.system import System
from cc_hf.systems.translate import Search, translate_lists, translate_with
from tests.helpers.metric_rows import row
from tests.helpers.usual import compute_metric, hash_scores, metric_class, refuses

_TEXT = "She is a doctor."
_HALF = "half a \ud800"
_TRANSLATIONS = ["Sie ist Ärztin."]
_MODEL = "cc-tiny-en-de"
_PRONOUNS: dict[str, Any] = {
    "select": RerankOptions("pronouns"),
    "loading": cc_hf.LoadingOptions(src_lang="en", tgt_lang="de"),
}
_METHODS = ("mean_logprobs", "token_logprobs", "named_logprobs")


def _loaded() -> Any:
    return cc_hf.load_evaluator(_MODEL)


def _scoring(method: str, parameter: str) -> Callable[[Any], Any]:
    texts = {"sources": [_TEXT], "translations": _TRANSLATIONS}
    return lambda value: getattr(_loaded(), method)(**{**texts, parameter: value})


def _contrast(**others: Any) -> Any:
    return translate_lists(_loaded(), [_TEXT], search=Search(contrast=0.5), **others)


def _computed(**options: Any) -> Any:
    tokenizer = _loaded().tokenizer
    return make_compute_metrics(tokenizer, labels=[[1, 0]], **options)


#: Door and parameter -> the call with a value of the parameter.
_DOORS: Mapping[str, Callable[[Any], Any]] = {
    "rerank sources": lambda v: cc_hf.rerank(v, [_TRANSLATIONS], **_PRONOUNS),
    "rerank hypotheses": lambda v: cc_hf.rerank([_TEXT], v, **_PRONOUNS),
    "rerank hypotheses: row 0": lambda v: cc_hf.rerank([_TEXT], [v], **_PRONOUNS),
    "translate sources": lambda v: cc_hf.translate(v, _MODEL),
    "translate_with sources": lambda v: translate_with(_loaded(), v),
    "translate_lists sources": lambda v: translate_lists(_loaded(), v),
    "translate_lists others": lambda v: _contrast(others=v),
    "translate_nbest sources": lambda v: translate_nbest(v, System(_MODEL)),
    "alternatives sources": lambda v: cc_hf.alternatives(v, _MODEL, tgt_lang="de"),
    "alternatives focuses": lambda v: cc_hf.alternatives([_TEXT], _MODEL, tgt_lang="de", focuses=v),
    **{
        f"Evaluator.{method} {parameter}": _scoring(method, parameter)
        for method in _METHODS
        for parameter in ("sources", "translations")
    },
    "Evaluator.score requests": lambda v: _loaded().score(v, src_lang="en", tgt_lang="de"),
    "evaluate_all metrics": lambda v: cc_hf.evaluate_all(
        cc_hf.load_material("simplegen", "en-de"), translations=_TRANSLATIONS * 2664, metrics=v
    ),
    "make_compute_metrics metrics": lambda v: _computed(metrics=v),
    "make_compute_metrics targets": lambda v: _computed(targets=v),
    "corpus_score translations": lambda v: corpus_score("bleu", v, ["Ja."]),
    "corpus_score references": lambda v: corpus_score("bleu", ["Ja."], v),
    "corpus_quality references": lambda v: corpus_quality({"a": ["Ja."]}, v),
}


@pytest.mark.parametrize("door", _DOORS)
def test_one_text_is_no_list_of_texts(door: str) -> None:
    parameter = door.split(" ", 1)[1]
    refuses(f"^{parameter}: expected a list.*, got one text, '{_TEXT}'", _DOORS[door], _TEXT)


#: Door -> texts with half of a character, where it takes anything else than a list of texts.
_HALVES: Mapping[str, Any] = {
    "rerank hypotheses": [[_HALF]],
    "Evaluator.score requests": [ScoringRequest(_TEXT, _HALF)],
}


#: Doors of names, and of words that are looked up in a text.
_NO_TEXTS = {"evaluate_all metrics", "make_compute_metrics metrics", "alternatives focuses"}


@pytest.mark.parametrize("door", sorted(_DOORS.keys() - _NO_TEXTS))
def test_a_lone_surrogate_is_refused(door: str) -> None:
    message = "row 0.* is not valid Unicode: a lone surrogate at character 7"
    refuses(message, _DOORS[door], _HALVES.get(door, [_HALF]))


@pytest.mark.parametrize("value", ["Hallo", ("a", "b"), {"source": "a"}, None])
def test_what_is_no_request_is_not_scored(value: Any) -> None:
    refuses("row 0: expected a ScoringRequest", _DOORS["Evaluator.score requests"], [value])


@pytest.mark.parametrize("name", sorted(registry.METRICS))
def test_one_text_is_no_list_of_predictions_or_references(name: str) -> None:
    prediction, reference = row(name, 0, is_right=True)
    metric = metric_class(name)
    options = {"evaluator": hash_scores} if metric.takes_evaluator else {}
    predictions = [prediction] if metric.takes_translations else None
    message = "references: expected a list, got one text"
    refuses(message, compute_metric, name, predictions, _TEXT, **options)
    if predictions:
        message = "predictions: expected a list, got one text"
        refuses(message, compute_metric, name, _TEXT, [reference], **options)


def _public() -> dict[str, Any]:
    """Return the functions of docs/api.md by name."""
    names = {name: getattr(cc_hf, name) for name in cc_hf.__all__}
    functions = {name: door for name, door in names.items() if inspect.isfunction(door)}
    return functions | {f"Evaluator.{name}": getattr(cc_hf.Evaluator, name) for name in _METHODS}


def test_all_lists_of_texts_of_the_public_names_are_tested() -> None:
    actual = {
        f"{door} {parameter.name}"
        for door, function in _public().items()
        for parameter in inspect.signature(function).parameters.values()
        # Where one text is a path or a name, it is no list of letters.
        if "Sequence[" in str(parameter.annotation)
        and "str" in str(parameter.annotation)
        and not str(parameter.annotation).startswith("str |")
    }
    assert actual <= _DOORS.keys()
    assert len(actual) >= 10
