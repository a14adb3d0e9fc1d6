from __future__ import annotations

import json
from pathlib import Path

import pytest

from cc_hf.errors import InputError
from cc_hf.studies.mt_geneval.counts import MUST_SHE, DataCounts, count_data, count_must_she
from tests.helpers.command_line import printed_by
from tests.helpers.lines import write_lines
from tests.helpers.refusals import refuses
from tests.studies.mt_geneval.samples import counterfactual, marked_example


def test_words_and_phrases_are_counted_once_in_lower_case() -> None:
    female = ("<F>She</F> saw that <F>she</F> won.", "<F>Die alte Frau</F> kam.")
    male = ("<F>He</F> saw it.", '"<F>Der ""alte"" Mann</F> kam."')
    rows = [marked_example("female", *female), marked_example("male", *male)]
    counts = count_data(rows)
    assert counts == DataCounts(1, 7, 2, counts.n_target_words, 2)


def test_other_examples_are_refused() -> None:
    refuses("examples: expected at least one", count_data, [])
    with pytest.raises(InputError, match=r"example '0\.female': expected a configuration counterf"):
        count_data([counterfactual("0.female", "She")])


def must_she(folder: Path, *rows: str) -> Path:
    cells = [row.split("|") for row in (f"ID|{'|'.join(MUST_SHE)}", *rows)]
    return write_lines(folder / "must_she.tsv", ["\t".join(row) for row in cells])


def test_must_she_is_counted_beside_its_printed_row(tmp_path: Path) -> None:
    path = must_she(
        tmp_path,
        "1|FR|She left.|Elle est partie.|partie parti",
        "2|FR|She is sad.|Elle est allée seule.|allée allé;seule seul;",
    )
    assert count_must_she(path) == {"MuST-SHE fr": DataCounts(2, 5, None, 6, 3)}
    command = f"study mt_geneval gendered-words {path}"
    assert "1,456" in printed_by(command)
    (row,) = json.loads(printed_by(f"{command} --json"))
    assert (row["tgt_lang"], row["n_target_phrases"]) == ("fr", 3)
    assert row["published"]["n_target_phrases"] == 1456


def test_terms_without_a_wrong_form_are_refused(tmp_path: Path) -> None:
    path = must_she(tmp_path, "1|FR|She left.|Elle est partie.|partie")
    refuses("line 2: GENDERTERMS: expected two words", count_must_she, path)
