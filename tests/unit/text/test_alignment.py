import importlib.metadata
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_hf.errors import DataError, InputError, MissingDependencyError, UnknownNameError
from cc_hf.text.alignment import (
    Aligner,
    Alignment,
    Eflomal,
    FastAlign,
    GivenAlignments,
    find_aligner,
    parse_pharaoh,
    space_tokens,
    to_pharaoh,
)
from cc_hf.text.fast_align import fast_align
from tests.helpers.plain_fast_align import plain_probabilities
from tests.helpers.refusals import fails, refuses

_SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=7)
_PAIRS = st.lists(st.tuples(_SENTENCE, _SENTENCE), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(_PAIRS)
def test_links_are_those_of_the_plain_model(pairs: list[tuple[list[str], list[str]]]) -> None:
    found = fast_align([source for source, _ in pairs], [target for _, target in pairs])
    for alignment, rows in zip(found, plain_probabilities(pairs), strict=True):
        links = {j: i + 1 for i, j in alignment}
        assert len(links) == len(alignment), "a target token has at most one link"
        for j, row in enumerate(rows):
            assert row[links.get(j, 0)] >= max(row) * (1 - 1e-6)


@settings(deadline=None)
@given(_PAIRS, st.integers(0, 8))
def test_pairs_with_an_empty_side_get_no_links_and_change_no_others(
    pairs: list[tuple[list[str], list[str]]], at: int
) -> None:
    alone = fast_align(*([list(side) for side in zip(*pairs, strict=True)]))
    mixed = [*pairs[:at], (["a"], []), ([], ["b"]), *pairs[at:]]
    found = fast_align(*([list(side) for side in zip(*mixed, strict=True)]))
    start = min(at, len(pairs))
    assert found[start : start + 2] == [(), ()]
    assert found[:start] + found[start + 2 :] == alone


def test_corresponding_words_are_linked() -> None:
    words = [(f"w{a}", f"w{b}") for a in range(6) for b in range(6) if a != b]
    found = FastAlign().align(
        [f"{a} {b}" for a, b in words], [f"{b} {a}".replace("w", "v") for a, b in words]
    )
    assert [to_pharaoh(a) for a in found] == ["1-0 0-1"] * 30


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
@settings(deadline=None)
def test_any_text_can_be_aligned(pairs: list[tuple[str, str]]) -> None:
    found = FastAlign().align([a for a, _ in pairs], [b for _, b in pairs])
    for alignment, (source, translation) in zip(found, pairs, strict=True):
        assert all(
            0 <= i < len(space_tokens(source)) and 0 <= j < len(space_tokens(translation))
            for i, j in alignment
        )


@given(st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))).map(tuple), max_size=5))
def test_pharaoh_lines_survive_writing_and_parsing(alignments: list[Alignment]) -> None:
    assert parse_pharaoh([to_pharaoh(a) for a in alignments]) == tuple(alignments)


@pytest.mark.parametrize("line", ["0-0 1", "0-0 -1-2", "a-b", "1--2", "0?1", "0-0,1-1", "²-1"])
def test_malformed_pharaoh_lines_are_refused(line: str) -> None:
    with pytest.raises(DataError, match=r"links.txt: line 2: expected links such as 0-0 2-1"):
        parse_pharaoh(["0-0", line], name="links.txt")


def test_given_alignments_must_fit_the_translations() -> None:
    given_ones = GivenAlignments(parse_pharaoh(["0-0", "1-1"]), "links.txt")
    assert given_ones.align(["a", "a b"], ["x", "x y"]) == (((0, 0),), ((1, 1),))
    refuses("links.txt: expected one line of alignments per.*got 2", given_ones.align, ["a"], ["x"])
    with pytest.raises(InputError, match=r"line 2: expected links between 1 source and 2.*got 1-1"):
        given_ones.align(["a", "a"], ["x", "x y"])
    others = GivenAlignments(parse_pharaoh(["0-0", "1-0"]))
    assert given_ones.signature_name != others.signature_name


def test_aligners_are_found_by_name() -> None:
    assert isinstance(find_aligner("fast_align"), Aligner)
    assert find_aligner(own := GivenAlignments(())) is own
    fails(UnknownNameError, r"'fastalign'; did you mean 'fast_align'", find_aligner, "fastalign")
    for wrong in (3, FastAlign):
        with pytest.raises(InputError, match="aligner: expected a name"):
            find_aligner(wrong)  # type: ignore[arg-type]


def test_eflomal_is_asked_for_forward_links(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeAligner:
        def align(
            self, left: list[str], right: list[str], *, links_filename_fwd: str, quiet: bool
        ) -> None:
            assert (left, right, quiet) == (["the house", "a_b c"], ["das Haus", "x y"], True)
            Path(links_filename_fwd).write_text("0-0 1-1\n\n", encoding="ascii")

    monkeypatch.setitem(sys.modules, "eflomal", SimpleNamespace(Aligner=FakeAligner))
    found = Eflomal().align(["the house", " ", "a\u00a0b c"], ["das Haus", "x", "x y"])
    assert found == [((0, 0), (1, 1)), (), ()]
    assert Eflomal().align([""], [""]) == [()]


def test_missing_eflomal_is_named_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setitem(sys.modules, "eflomal", None)
    monkeypatch.setattr(importlib.metadata, "version", absent)
    with pytest.raises(MissingDependencyError, match="Install it with: pip install eflomal"):
        Eflomal().align(["a"], ["b"])
    with pytest.raises(MissingDependencyError, match="Install it with: pip install eflomal"):
        _ = Eflomal().signature_name
