from pathlib import Path

import cc_hf
from cc_hf.errors import DataError
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import fails


def test_a_line_without_a_source_is_left_out_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    config = "hypercorrect_genitive.human"
    lay_out_samples("distil_lingeval", config, tmp_path, tmp_path)
    (example,) = cc_hf.load_examples("distil_lingeval", config, data_dir=tmp_path)
    assert (example.id, example.category) == ("0", "hypercorrect_genitive")
    folder = tmp_path / "ZurichNLP/distil-lingeval/data/hypercorrect_genitive.human"
    for text, message in (
        ("Er ist hier.\n", r"same number of lines, got 2 in .*src.en, .* 1 in .*tgt.incorrect.de"),
        ("\nNein.\n", r"line 1: expected a translation here and in tgt.incorrect.de"),
    ):
        (folder / "tgt.incorrect.de").write_text(text, encoding="utf-8")
        fails(DataError, message, cc_hf.load_examples, "distil_lingeval", config, data_dir=tmp_path)


def test_ids_are_distinct_and_translations_differ(shared: Path) -> None:
    examples = cc_hf.load_examples(
        "distil_lingeval", "polarity.human", data_dir=shared / "upstream"
    )
    assert len({example.id for example in examples}) == len(examples)
    assert all(e.correct_translation not in e.contrastive_translations for e in examples)
