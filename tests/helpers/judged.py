"""Examples and results with the few fields that a test is about."""

from collections.abc import Sequence
from typing import Any

from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Judgement

Examples = list[ContrastiveTranslationExample]
Sides = tuple[Examples, Examples]


def contrastive(
    name: str, source: str, correct: str, *wrong: str, lang: str = "de", **extra: str
) -> ContrastiveTranslationExample:
    """Return an example with the id `name`, whose schema is called as the id without "-1"."""
    extra = {"pair": name.partition("-")[0], **extra}
    return ContrastiveTranslationExample(
        name, "en", lang, source, correct, wrong or ("x",), "male", extra
    )


def judgement(
    name: object, verdict: str, text: str = "", of: str = "all", **more: Any
) -> Judgement:
    """Return a judgement of the example `name` of the category `of`; `more` are other fields."""
    return Judgement(str(name), of, verdict == "correct", text, verdict, **more)


def result_of(judgements: Sequence[Judgement], **fields: Any) -> EvaluationResult:
    """Return a result on WinoMT with these judgements; `fields` are its other fields."""
    given: dict[str, Any] = {
        **{"dataset": "winomt", "config": "en-de", "tgt_lang": "de", "metric": "m"},
        **{"signature": "m|n:1", "n": len(judgements), "scores": {}, "intervals": {}},
        **{"categories": (), **fields},
    }
    return EvaluationResult(**given, judgements=tuple(judgements))
