"""CTXPRO's data, and its score beside the counts of ctxpro 0.0.5 with sentence-splitter 1.4."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import DataError, MissingDependencyError
from cc_hf.test_sets.ctxpro import expected_form
from cc_hf.test_sets.ctxpro import reader as ctxpro
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cases, compute_metric, fails, refuses

_OUTPUT = "rewicks/ctxpro/paper/outputs/deepl.auxiliary.opensubtitles.en-de.test"


@cases(
    ("auxiliary_de", "sentences", {"parity": True}, 249, 4),
    ("auxiliary_de", "sentences", {"within": "translation"}, 253, 0),
    ("auxiliary_de.context", "contexts", {"parity": True}, 1272, 486),
    ("auxiliary_de", "", {"parity": True}, 3126, 52),
    ("auxiliary_de", "", {}, 3127, 52),
    ("auxiliary_de", "", {"within": "translation"}, 3179, 0),
)
def test_counts_are_those_of_the_program(
    config: str, suffix: str, options: Any, n_correct: int, n_elsewhere: int, shared: Path
) -> None:
    upstream = shared / "upstream"
    material = cc_hf.load_material("ctxpro", config, data_dir=upstream)
    texts = [example.extra["reference"] for example in material.examples]
    translations = upstream / f"{_OUTPUT}.{suffix}" if suffix else texts
    result = cc_hf.evaluate(material, translations=translations, options=options)
    assert (result.n, result.counts["n_correct"]) == (3180, n_correct)
    assert result.counts["n_elsewhere"] == n_elsewhere
    categories = Counter(example.category for example in material.examples)
    assert categories == {"DO.ELL": 2823, "WILL.ELL": 257, "WOULD.ELL": 100}


@cases(
    ("Ja. Das TUT er!", "tut", {}, True),
    ("Das tut er. Ja.", "tut", {}, False),
    ("Das tut er. Ja.", "tut", {"within": "translation"}, True),
    ("Es tutet.", "tut", {}, False),
    ("Geht's? -Fühlst du es?", "-Fühlst", {}, True),
    ("Geht's? -Fühlst du es?", "-Fühlst", {"parity": True}, False),
    (" ", "tut", {}, False),
)
def test_the_form_stands_between_blanks_in_the_last_sentence(
    text: str, form: str, options: dict[str, object], is_correct: bool
) -> None:
    result = compute_metric(
        "expected_form", [text], [{"expected": form, "category": "x"}], tgt_lang="de", **options
    )
    assert (result["accuracy"], result["predicted"]) == (is_correct, [form * is_correct])


def test_bad_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"expected": "tut"}]
    for options, message in (
        ({"tgt_lang": "xx"}, "language that sentence_splitter knows .*got 'xx'"),
        ({"tgt_lang": "de", "within": "all"}, "within: expected last_sentence or .*got 'all'"),
    ):
        refuses(message, compute_metric, "expected_form", ["Das."], rows, **options)
    monkeypatch.setitem(sys.modules, "sentence_splitter", None)
    expected_form._splitter.cache_clear()
    fails(
        MissingDependencyError,
        r"cc_hf\[sentences\]|\.\[sentences\]",
        compute_metric,
        "expected_form",
        ["Das."],
        rows,
        tgt_lang="de",
    )


@cases(
    ({"expected": " "}, "", "item 1: expected: expected a text that is not blank"),
    ({"segment id": -1}, "", "segment id: expected a whole number from 0"),
    ({}, "Before.<eos> Other.\n", "line 1: expected a text that ends with 'Yes, you did.'"),
    ({}, "a\nb\n", "expected 1 lines, one for each example, got 2"),
)
def test_a_damaged_row_is_named(change: Any, context: str, message: str, tmp_path: Path) -> None:
    folder = lay_out_samples("ctxpro", "formality_fr.context", tmp_path, tmp_path)
    (example,) = cc_hf.load_examples("ctxpro", "formality_fr.context", data_dir=folder)
    assert (example.source, example.tgt_lang) == ("I saw him. Yes, you did.", "fr")
    files = {path.suffix: path for path in folder.glob("*/*/paper/*/*")}
    (row,) = json.loads(files[".json"].read_text(encoding="utf-8"))
    files[".json"].write_text(json.dumps([{**row, **change}]), encoding="utf-8")
    if context:
        files[".test"].write_text(context, encoding="utf-8")
    paths = {p.relative_to(folder / "rewicks/ctxpro").as_posix(): p for p in files.values()}
    fails(DataError, message, list, ctxpro.read_ctxpro(paths, "formality_fr.context", "test"))
