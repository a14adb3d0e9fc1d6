from pathlib import Path

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.studies.wino_x.lengths import sequence_lengths
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.judged import Sides
from tests.helpers.refusals import refuses
from tests.helpers.samples import lay_out_samples


@pytest.mark.shared
@cases(
    # tokens of the first printed rows, counted by hand
    ("mt_en_de.translations", 2, "sentence", [17, 14]),
    ("mt_en_de.translations", 2, "translation", [16, 16, 14, 14]),
    ("mt_en_fr.translations", 1, "sentence", [17]),
    ("mt_en_fr.translations", 1, "translation", [23, 23]),
    ("mt_en_ru.translations", 1, "sentence", [15]),
    ("lm_en_de.english", 1, "context", [18]),
    ("lm_en_de", 1, "context", [21]),
    ("lm_en_de", 1, "filler", [2, 2]),
    ("lm_en_ru", 1, "context", [13]),
    ("lm_en_ru", 1, "filler", [1, 1]),
    ("lm_en_ru.english", 1, "filler", [3, 2]),
)
def test_printed_rows_have_the_lengths_that_were_counted_by_hand(
    config: str, n_samples: int, what: str, counts: list[int], shared: Path, tmp_path: Path
) -> None:
    data_dir = lay_out_samples("wino_x", config, tmp_path, shared)
    examples = cc_hf.load_examples("wino_x", config, data_dir=data_dir)[:n_samples]
    (found,) = (length for length in sequence_lengths(examples) if length.what == what)
    assert found.n == len(counts)
    assert (found.mean, found.deviation) == pytest.approx((np.mean(counts), np.std(counts)))


def test_examples_that_do_not_fit_are_refused(both_sides: Sides) -> None:
    german, english = both_sides
    refuses("expected at least one example", sequence_lengths, [])
    refuses("expected examples in one language, got de, en", sequence_lengths, [*german, *english])
    with pytest.raises(InputError, match="expected translations or filled gaps"):
        sequence_lengths(cc_hf.load_examples("simplegen", "en-de")[:1])


def test_the_command_prints_lengths_beside_printed_ones(data_dir: Path, tmp_path: Path) -> None:
    output = tmp_path / "lengths.json"
    text = printed_by(f"study wino_x lengths lm_en_de --data-dir {data_dir} --output {output}")
    assert "17.16 (3.11)" in text
    context, filler = read_json(output)["lm_en_de"]
    assert (context["n"], filler["n"]) == (192, 384)
    assert f"{context['mean']:.2f}" in text
