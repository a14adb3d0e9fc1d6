"""A plugin for pytest that decides whether a new model may take the place of the old one.

Start pytest with `-p examples.pytest_gate`, or copy the fixture into your conftest.py. A test then
fails where a drop is shown, and is skipped, with the number of sentences that are needed, where it
cannot be told:

    def test_the_new_model_may_be_released(gate):
        gate("old.json", "new.json", points=2)
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from cc_hf.comparing import gate as gates
from cc_hf.comparing.systems import read_results


def decide(old: str | Path, new: str | Path, *, points: float) -> None:
    """Compare two results of `cc-hf evaluate`, the old model first."""
    decided = gates.gate(read_results([Path(old), Path(new)]), margin=points / 100)
    lines = [
        f"{f.figure}: {100 * f.baseline:.1f} to {100 * f.system:.1f} %, {f.verdict}"
        + f", about {f.n_needed:,} samples are needed" * (f.verdict == "cannot tell")
        for f in decided.figures
        if f.verdict == decided.verdict and (f.decides or f.verdict == "fail")
    ]
    if decided.verdict == "fail":
        pytest.fail("\n".join(lines), pytrace=False)
    if decided.verdict == "cannot tell":
        pytest.skip("; ".join(lines))


@pytest.fixture
def gate() -> Callable[..., None]:
    """Return `decide`."""
    return decide
