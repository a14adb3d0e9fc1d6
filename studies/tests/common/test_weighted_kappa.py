import numpy as np
import pytest
from cc_hf_studies.common.weighted_kappa import weighted_kappa

from cc_hf.statistics.agreement import cohen_kappa
from tests.helpers.usual import refuses


def test_weighted_kappa_of_two_labels_is_the_unweighted_one() -> None:
    left, right = [1, 1, 2, 2, 2], [1, 2, 2, 2, 1]
    for weights in ("linear", "quadratic"):
        weighted = weighted_kappa(left, right, labels=[1, 2], weights=weights)
        assert weighted == pytest.approx(cohen_kappa(left, right))


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_kappa_compares_observed_with_crossed_distances(weights: str, power: int) -> None:
    left, right = [1, 2, 3, 4, 5, 3, 3, 4], [2, 2, 3, 5, 5, 1, 3, 4]
    scale = [1, 2, 3, 4, 5]
    observed = np.mean([abs(a - b) ** power for a, b in zip(left, right, strict=True)])
    crossed = np.mean([abs(a - b) ** power for a in left for b in right])
    kappa = weighted_kappa(left, right, labels=scale, weights=weights)
    assert kappa == pytest.approx(1 - observed / crossed)
    assert weighted_kappa([3, 3], [3, 3], labels=scale, weights=weights) == 1.0


def test_unknown_weights_are_refused() -> None:
    refuses(
        "weights: expected one of linear, quad",
        weighted_kappa,
        [1],
        [1],
        labels=[1],
        weights="cubic",
    )
