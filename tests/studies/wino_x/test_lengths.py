from __future__ import annotations

import json
from pathlib import Path

import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.studies.wino_x.lengths import PUBLISHED_LENGTHS, sequence_lengths
from tests.helpers.samples import lay_out_samples
from tests.helpers.wino_x_schemas import lay_out, lm_rows


@pytest.mark.shared
@pytest.mark.parametrize(
    ("config", "n_samples", "what", "counts"),
    [
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
    ],
)
def test_printed_rows_have_the_lengths_that_were_counted_by_hand(
    config: str, n_samples: int, what: str, counts: list[int], shared: Path, tmp_path: Path
) -> None:
    data_dir = lay_out_samples("wino_x", config, tmp_path, shared)
    examples = cc_hf.load_examples("wino_x", config, data_dir=data_dir)[:n_samples]
    by_name = {length.what: length for length in sequence_lengths(examples)}
    mean = sum(counts) / len(counts)
    assert by_name[what].n == len(counts)
    assert by_name[what].mean == pytest.approx(mean)
    assert by_name[what].deviation == pytest.approx(
        (sum((count - mean) ** 2 for count in counts) / len(counts)) ** 0.5
    )


def test_every_configuration_with_translations_has_printed_lengths() -> None:
    from cc_hf.data.loading import declaration
    from cc_hf.schema import ContrastiveTranslationExample

    configs = declaration("wino_x").configs
    assert set(PUBLISHED_LENGTHS) == {
        config.name for config in configs if config.form is ContrastiveTranslationExample
    }


def test_examples_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    data_dir = lay_out(tmp_path, "lm", lm_rows(3))
    german, english = (
        cc_hf.load_examples("wino_x", config, data_dir=data_dir)
        for config in ("lm_en_de", "lm_en_de.english")
    )
    with pytest.raises(InputError, match="expected at least one example"):
        sequence_lengths([])
    with pytest.raises(InputError, match="expected examples in one language, got de, en"):
        sequence_lengths([*german, *english])
    with pytest.raises(InputError, match="expected translations or filled gaps"):
        sequence_lengths(cc_hf.load_examples("simplegen", "en-de")[:1])


def test_the_command_prints_the_lengths_beside_the_printed_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cc_hf.cli.main import app

    data_dir = lay_out(tmp_path, "lm", lm_rows(4))
    output = tmp_path / "lengths.json"
    arguments = ["lengths", "lm_en_de", "--data-dir", str(data_dir), "--output", str(output)]
    app(["study", "wino_x", *arguments], standalone_mode=False)
    text = capsys.readouterr().out
    assert "17.16 (3.11)" in text
    assert "…" not in text
    context, filler = json.loads(output.read_text(encoding="utf-8"))["lm_en_de"]
    assert (context["n"], filler["n"]) == (8, 16)
    assert f"{context['mean']:.2f}" in text
