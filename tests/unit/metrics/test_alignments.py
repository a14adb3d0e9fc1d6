from __future__ import annotations

from pathlib import Path

import pytest

from cc_hf.errors import DataError, InputError, UnknownNameError
from cc_hf.metrics.alignments import chosen_aligner
from cc_hf.text.alignment import FastAlign


def test_alignments_replace_the_default_aligner(tmp_path: Path) -> None:
    path = tmp_path / "links.txt"
    path.write_text("0-0 1-1\n", encoding="utf-8")
    for alignments in (path, str(path), ["0-0 1-1"]):
        assert chosen_aligner("fast_align", alignments).align(["a b"], ["c d"]) == (
            ((0, 0), (1, 1)),
        )
    assert chosen_aligner("fast_align", None) == FastAlign()


def test_alignments_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="either an aligner or alignments"):
        chosen_aligner("eflomal", ["0-0"])
    with pytest.raises(InputError, match="expected a Pharaoh file"):
        chosen_aligner("fast_align", tmp_path / "no.txt")
    with pytest.raises(DataError, match="line 1: expected links"):
        chosen_aligner("fast_align", ["0:0"])
    with pytest.raises(UnknownNameError, match="aligner"):
        chosen_aligner("fastalign", None)
