"""The training script runs for few steps, filters its pairs, and writes a model for every part of
cc_hf.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cc_hf import load_evaluator
from examples.train_marian import made_pairs
from examples.train_translation import chosen_sizes, main, parser, settings
from tests.helpers.lines import write_lines

pytestmark = pytest.mark.usefixtures("same_threads")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = [(pair.english, pair.german) for pair in made_pairs(60, seed=1)]
    damaged = [("Yes.", ""), ("Yes.", "Ja, " * 40 + "ja."), ("No. " * 90, "Nein. " * 90)]
    for name, part in (("train", [*pairs[:52], *damaged]), ("dev", pairs[52:])):
        for side, texts in zip(("en", "de"), zip(*part, strict=True), strict=True):
            write_lines(folder / f"{name}.{side}", texts)
    return folder


def arguments(folder: Path, output: Path, *more: str) -> list[str]:
    words = (
        f"--pairs {folder}/train.en {folder}/train.de --dev {folder}/dev.en {folder}/dev.de --cpu"
        f" --output {output} --pieces 250 --layers 2,1 --width 16 --ffn 16,32 --heads 2 --beams 1"
        " --batch-size 8 --max-length-ratio 9 --steps 2 --eval-steps 1 --threads 1"
    )
    return [*words.split(), *more]


def test_two_steps_write_the_best_model_and_figures(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    figures = main(arguments(folder, output))
    assert json.loads((output / "figures.json").read_text(encoding="utf-8")) == figures
    counts = {"n_pairs": 55, "n_kept": 52, "n_blank": 1, "n_too_long": 1, "n_length_ratio": 1}
    assert figures["pairs"] == counts
    assert [row["step"] for row in figures["evaluations"]] == [1, 2]
    assert figures["best_bleu"] == max(row["bleu"] for row in figures["evaluations"])
    layers = {"encoder_layers": 2, "decoder_layers": 1, "encoder_ffn": 16, "decoder_ffn": 32}
    assert figures["sizes"] | {"width": 0} == {**layers, "width": 0, "heads": 2}
    assert not [path for path in (output / "best").iterdir() if path.suffix in (".bin", ".pt")]
    model = load_evaluator(output / "best", mode="exact").model  # type: ignore[attr-defined]
    trained = [weight for name, weight in model.named_parameters() if "positions" not in name]
    assert sum(weight.numel() for weight in trained) == figures["n_parameters"]
    assert f"{figures['n_parameters']:,} parameters, 52 of 55 pairs" in capsys.readouterr().out
    student = tmp_path / "student"
    main(arguments(folder, student, "--vocabulary", str(output / "best"), "--width", "8"))
    assert (student / "best/vocab.json").read_bytes() == (output / "best/vocab.json").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--heads", "3"), "heads: expected a divisor of the width 16, got 3"),
        (("--vocabulary", "/nowhere"), "/nowhere: expected a vocabulary"),
        (("--max-tokens", "1"), "expected pairs that pass the filters"),
    ],
)
def test_options_that_cannot_work_end_the_script(
    folder: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit, match=message):
        main(arguments(folder, tmp_path / "out", *words))


def test_the_defaults_are_those_of_the_paper() -> None:
    words = "--pairs a b --dev c d --output out --cpu"
    options = parser().parse_args(words.split())
    schedule = settings(options, 30)
    assert (options.max_tokens, options.max_length_ratio, options.dropout) == (250, 1.5, 0.3)
    assert (schedule.learning_rate, schedule.label_smoothing_factor) == (5e-4, 0.1)
    assert (schedule.metric_for_best_model, schedule.generation_num_beams) == ("bleu", 5)
    assert schedule.generation_max_length == 62
    assert chosen_sizes(options).width == 512
    changed = parser().parse_args([*words.split(), "--layers", "8,4", "--ffn", "64"])
    sizes = chosen_sizes(changed)
    assert (sizes.encoder_layers, sizes.decoder_layers) == (8, 4)
    assert (sizes.encoder_ffn, sizes.decoder_ffn) == (64, 64)
