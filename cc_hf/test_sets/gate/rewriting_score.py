"""Score of gender rewriters: is the rewritten sentence the one of the other gender?

See Rarrick et al. 2023 and the program of its data, GateEval.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, optional_text, text
from cc_hf.metrics.figure_names import shares
from cc_hf.metrics.figures import Figures
from cc_hf.normalization import is_blank
from cc_hf.results import EvaluationResult, Interval
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import estimate_share

__all__ = ["RewritingScore"]

_FIELDS: Fields = {"reference": text, "labels": optional_text}


@dataclass(frozen=True)
class RewritingScore(Metric):
    """Precision, recall and F0.5 of a rewriter, which makes a translation of the other gender.

    The rewriting score (GATE) judges a rewriter, which makes a translation with the other gender.
    An output is right if it is the reference, blanks at both ends aside. A blank output, where the
    rewriter makes no suggestion, lowers recall only. Figures are also given for each label, such
    as recall_PROF.
    """

    name = "rewriting_score"
    title = "rewriting score"
    about = (
        "A rewritten sentence is right if it is the reference, in which people have the other"
        " gender."
    )
    help = """
    Args:
        predictions (list of str): outputs of the rewriter; a blank one stands for no suggestion.
        references (list of dict): one per output, with `reference` (str) and, optionally, `labels`
            (str), names with ";" between them; a row counts once for each of its labels.

    Returns:
        n, n_right, n_without_output (int): numbers of sentences.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/rewriting_score")
        >>> references = [{"reference": "El jefe vino."}, {"reference": "El actor vino."}]
        >>> result = metric.compute(
        ...     predictions=["El jefe vino.", ""], references=references, tgt_lang="es"
        ... )
        >>> result["precision"], result["recall"]
        (1.0, 0.5)
    """
    papers = ("rarrick-2023",)
    signature_name = "rw"
    version = 1
    reference_fields = _FIELDS
    counts_unusable = False
    judges = False
    reads_cues = False
    leaderboard = ("f_half", "precision", "recall")
    interval_method = "by Wilson's score"
    figure_names = {  # noqa: RUF012
        **shares(
            "precision",
            "precision",
            "high",
            "The share of right outputs among those that are not blank",
        ),
        **shares("recall", "recall", "high", "The share of sentences with a right output"),
        **shares(
            "f_half",
            "F0.5",
            "high",
            "The weighted harmonic mean of precision and recall in which precision counts more",
        ),
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "gate" and ".to_" in config:
            return ""
        return (
            "rewriting_score needs translations to be rewritten, which *.to_feminine and"
            f" *.to_masculine of gate have, {dataset} {config} does not"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [{key: example.extra[key] for key in _FIELDS} for example in examples]

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        outputs = [output.strip() for output in rows.translations]
        right = np.array(
            [
                output == reference.strip()
                for output, reference in zip(outputs, rows.column("reference"), strict=True)
            ]
        )
        given = np.array([not is_blank(output) for output in outputs])
        labels = [set(filter(None, (text or "").split(";"))) for text in rows.column("labels")]
        scores: dict[str, float] = {}
        intervals: dict[str, Interval] = {}
        for label in ("", *sorted(set().union(*labels))):
            chosen = np.array([not label or label in names for names in labels])
            for name, parts, wholes in _ratios(right[chosen], given[chosen]):
                if wholes.any():
                    share = estimate_share(parts, wholes)
                    key = f"{name}_{label}" if label else name
                    scores[key], intervals[key] = share.value, share.interval
        return Figures(
            scores=scores,
            signature={"langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}"},
            intervals=intervals,
            counts={"n_right": int(right.sum()), "n_without_output": rows.n_blank},
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        return {}


def _ratios(
    right: np.ndarray[Any, np.dtype[np.bool_]], given: np.ndarray[Any, np.dtype[np.bool_]]
) -> tuple[tuple[str, Any, Any], ...]:
    """Return the name, parts and wholes of each figure."""
    # With P = right / given and R = right / all, 1.25 P R / (0.25 P + R) is
    # 1.25 right / (0.25 all + given).
    return (
        ("precision", right, given),
        ("recall", right, np.ones(len(right))),
        ("f_half", 1.25 * right, 0.25 + given),
    )
