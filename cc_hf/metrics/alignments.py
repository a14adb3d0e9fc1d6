"""Word alignments that the caller of a metric gives in place of an aligner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cc_hf.errors import DataError, InputError
from cc_hf.reading import text_lines
from cc_hf.text.alignment import Aligner, GivenAlignments, find_aligner, parse_pharaoh

__all__ = ["chosen_aligner"]


def chosen_aligner(
    aligner: str | Aligner, alignments: str | Path | Sequence[str] | None
) -> Aligner:
    """Return an aligner from the options of a metric.

    Args:
        aligner: a name of `cc_hf.text.alignment.ALIGNERS`, or an Aligner.
        alignments: a Pharaoh file or its lines, which replace the aligner; None for the aligner.

    Raises:
        InputError: for alignments beside another aligner than the default, a file that cannot be
            read, or neither a name nor an Aligner.
        UnknownNameError: for an aligner that is not known.
        DataError: for a line that is not in Pharaoh format.

    Examples:
        >>> chosen_aligner("fast_align", ["0-0 1-1"]).align(["a b"], ["c d"])
        (((0, 0), (1, 1)),)
    """
    if alignments is None:
        return find_aligner(aligner)
    if aligner != "fast_align":
        raise InputError("expected either an aligner or alignments, got both; leave one out")
    if not isinstance(alignments, (str, Path)):
        return GivenAlignments(parse_pharaoh(alignments))
    try:
        lines = text_lines(Path(alignments))
    except DataError as error:
        raise InputError(f"alignments: expected a Pharaoh file; {error}") from error
    return GivenAlignments(parse_pharaoh(lines, name=str(alignments)), name=str(alignments))
