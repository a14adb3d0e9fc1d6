"""A result of which people could label translations, and how right they find them."""

from cc_hf.data.loading import load_examples
from cc_hf.metrics.figures import summarize
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import known_intervals
from tests.helpers.usual import judgement, result_of

N = 400
VERDICTS = ("correct", "incorrect", "inconclusive")


def is_right(i: int) -> bool:
    return i % 10 > 2


def simplegen_result(metric: str = "simplegen_accuracy", system: str = "a") -> EvaluationResult:
    """Return a result that is inconclusive on a tenth, and wrong on another one, of the samples."""
    judgements = []
    for i, example in enumerate(load_examples("simplegen", "en-de")[:N]):
        verdict = VERDICTS[2] if i % 10 == 0 else VERDICTS[is_right(i) == (i % 20 == 5)]
        judgements.append(judgement(example.id, verdict, f"{system} {i}", example.category))
    summary, signature = summarize(judgements), f"{metric}|data:simplegen/en-de@1|n:{N}"
    return result_of(
        judgements,
        dataset="simplegen",
        metric=metric,
        signature=signature,
        system=system,
        scores=summary.scores,
        intervals=known_intervals(summary.intervals),
        categories=summary.categories,
    )
