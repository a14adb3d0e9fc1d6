"""What people said about commercial systems on MT-GenEval, as printed in Currey et al. 2022 (Tables
5 and 7). All figures are in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CITATION_KEY", "PUBLISHED_RATINGS", "PublishedRatings"]

#: The key in `cc_hf.citations` of the paper that prints these figures.
CITATION_KEY = "currey-2022"


@dataclass(frozen=True, slots=True)
class PublishedRatings:
    """The printed figures of one target language.

    Attributes:
        accuracies: accuracy of the systems A, B and C by the preferred rater.
        alpha: Krippendorff's alpha of two raters on the systems.
        accuracy_reference, alpha_reference: the same on the references.
        f_score: F-score of gender accuracy against people.
    """

    accuracies: tuple[float, float, float]
    alpha: float
    accuracy_reference: float
    alpha_reference: float
    f_score: float


#: Target language -> printed figures.
PUBLISHED_RATINGS: dict[str, PublishedRatings] = {
    "ar": PublishedRatings((0.515, 0.513, 0.505), 0.93, 0.958, 0.72, 0.84),
    "fr": PublishedRatings((0.561, 0.559, 0.562), 0.82, 0.983, 0.25, 0.86),
    "de": PublishedRatings((0.523, 0.513, 0.540), 0.96, 0.922, 0.84, 0.82),
    "hi": PublishedRatings((0.597, 0.611, 0.613), 0.70, 0.971, 0.25, 0.80),
    "it": PublishedRatings((0.559, 0.549, 0.557), 0.86, 0.974, 0.65, 0.83),
    "pt": PublishedRatings((0.509, 0.523, 0.527), 0.89, 0.914, 0.68, 0.86),
    "ru": PublishedRatings((0.569, 0.572, 0.577), 0.77, 0.970, 0.16, 0.84),
    "es": PublishedRatings((0.570, 0.582, 0.585), 0.94, 0.976, 0.89, 0.89),
}
