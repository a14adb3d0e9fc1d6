"""Ordinary least squares with standard errors, computed by statsmodels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, MissingDependencyError, shown
from cc_hf.results import Interval
from cc_hf.statistics.checks import as_floats, check_level, check_type, is_constant

__all__ = ["CONSTANT", "Coefficient", "Regression", "least_squares"]

#: Name of the intercept.
CONSTANT = "constant"
_EXACT = 1e-24  # share of the variance below which only rounding is left to explain


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of a linear model.

    Attributes:
        name: name of the independent variable, or `CONSTANT`.
        value: change of the dependent variable per unit of `name`, all else equal.
        p_value: two-sided p, in [0, 1], under the hypothesis that the coefficient is 0.
    """

    name: str
    value: float
    standard_error: float
    t: float
    p_value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Regression:
    """A linear model.

    Attributes:
        coefficients: the constant first, then the independent variables in the given order.
        r_squared: share of the variance that is explained, in [0, 1].
        adjusted_r_squared: the same, adjusted for the number of variables; may be negative.
        f_p_value: its p, under the hypothesis that all coefficients but the constant are 0.
    """

    dependent: str
    n: int
    coefficients: tuple[Coefficient, ...]
    r_squared: float
    adjusted_r_squared: float
    f: float
    f_p_value: float
    residual_degrees_of_freedom: int

    def coefficient(self, name: str) -> Coefficient:
        """Return the coefficient of a variable; raise an InputError for a name that is not in the
        model.
        """
        for coefficient in self.coefficients:
            if coefficient.name == name:
                return coefficient
        raise InputError(
            f"coefficient: expected one of {', '.join(c.name for c in self.coefficients)}, got"
            f" {name!r}"
        )


def least_squares(
    dependent: tuple[str, Sequence[float]],
    independents: Mapping[str, Sequence[float]],
    *,
    level: float = 0.95,
) -> Regression:
    """Fit a multiple linear regression with a constant.

    Standard errors assume normal errors of equal variance.

    Args:
        dependent: name and n values of the dependent variable.
        independents: name -> n values, at least one; a binary variable is coded as 1 and 0.

    Raises:
        InputError: for columns of different lengths or with values that are not finite; for fewer
            observations than coefficients plus one; for a variable that is constant or follows from
            the others; for a model that fits exactly, which leaves no error to estimate.
        MissingDependencyError: without statsmodels.

    Examples:
        >>> model = least_squares(("y", [1.0, 2.1, 2.9, 4.2]), {"x": [0, 1, 2, 3]})
        >>> [round(c.value, 3) for c in model.coefficients], round(model.r_squared, 4)
        ([0.99, 1.04], 0.9923)
    """
    check_level(level)
    check_type("independents", independents, Mapping)
    match dependent:
        case (str(name), values):
            y = as_floats(name, values)
        case _:
            raise InputError(f"dependent: expected a name and values, got {shown(dependent)}")
    columns = {key: as_floats(key, column) for key, column in independents.items()}
    _check(name, y, columns)
    try:
        from statsmodels.api import OLS
    except ImportError:
        raise MissingDependencyError("statsmodels", "analysis") from None
    design = np.column_stack([np.ones(len(y)), *columns.values()])
    fit = OLS(y, design).fit()
    if fit.ssr <= _EXACT * fit.centered_tss:
        raise InputError(
            f"{name} follows exactly from {', '.join(columns)}: expected observations with some"
            " error, from which standard errors can be estimated"
        )
    intervals = fit.conf_int(alpha=1 - level)
    rows = zip(
        (CONSTANT, *columns),
        fit.params,
        fit.bse,
        fit.tvalues,
        fit.pvalues,
        intervals,
        strict=True,
    )
    return Regression(
        name,
        len(y),
        tuple(
            Coefficient(
                key,
                float(value),
                float(se),
                float(t),
                float(p),
                Interval(float(low), float(high), level, method="t"),
            )
            for key, value, se, t, p, (low, high) in rows
        ),
        float(fit.rsquared),
        float(fit.rsquared_adj),
        float(fit.fvalue),
        float(fit.f_pvalue),
        int(fit.df_resid),
    )


def _check(
    name: str, y: npt.NDArray[np.float64], columns: Mapping[str, npt.NDArray[np.float64]]
) -> None:
    if not columns or name in columns or CONSTANT in columns:
        raise InputError(
            f"expected at least one independent variable, with names other than {name!r} and"
            f" {CONSTANT!r}, got {', '.join(columns) or 'none'}"
        )
    for key, column in columns.items():
        if len(column) != len(y):
            raise InputError(
                f"{key}: expected {len(y)} values, as many as of {name}, got {len(column)}"
            )
    if len(y) < len(columns) + 2:
        raise InputError(
            f"expected at least {len(columns) + 2} observations for {len(columns)} independent"
            f" variables, got {len(y)}"
        )
    for key, column in {name: y, **columns}.items():
        if is_constant(column):
            raise InputError(
                f"{key}: expected values that differ, got {column[0]} in all {len(y)} observations"
            )
    # Columns are standardized, so that the rank does not depend on their units.
    standard = np.column_stack(
        [np.ones(len(y)), *((column - column.mean()) / column.std() for column in columns.values())]
    )
    if np.linalg.matrix_rank(standard) < standard.shape[1]:
        raise InputError(
            "expected independent variables of which none follows from the others, got"
            f" {', '.join(columns)}; leave one out"
        )
