"""Converted LSTM and convolutional models of fairseq score and translate as in fairseq."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cc_hf_studies.disambiguation_bias import baselines
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.models.pretrained import load_model
from cc_hf.plugins.conversion.convert import convert
from cc_hf.plugins.conversion.evaluator import FairseqEvaluator
from cc_hf.tables.rows import read_rows
from studies.tests.disambiguation_bias.baseline_models import Baseline, convs2s, logprobs, lstm
from tests.helpers.fairseq_models import check_translates_and_carries_its_code
from tests.helpers.families import BUILDERS
from tests.helpers.usual import cases, fails, typed

_ENCODER = ((10, 3, 1), (10, 3, 1), (14, 4, 2), (16, 1, 0), (14, 2, 3))
_DECODER = ((18, 3, 1), (18, 2, 0), (20, 5, 2), (20, 5, 2))
_ODD = convs2s(
    encoder="[(10, 3)] * 2 + [(14, 4, 2), (16, 1, 0), (14, 2, 3)]",
    decoder="[(18, 3)] + [(18, 2, 0)] + [(20, 5, 2)]*2",
    layers=(_ENCODER, _DECODER),
    without_attention=[1],
    out_embed=14,
)
_EIGHT = "[(12, 3)] * 8"
_EIGHT_LAYERS: Any = {"encoder": _EIGHT, "decoder": _EIGHT, "layers": (((12, 3, 1),) * 8,) * 2}
_MODELS = {
    "LSTM": lstm(),
    "LSTM of the thesis": lstm(n_layers=5, bidirectional=True, tied="all"),
    "LSTM, no attention": lstm(attention=False, tied="decoder"),
    "LSTM, widths": lstm(embed=(10, 14), hidden=(11, 13), n_layers=2, out_embed=9),
    "ConvS2S": convs2s(),
    "ConvS2S of the thesis": convs2s(**_EIGHT_LAYERS, tied=True),
    "ConvS2S, first norm": convs2s(first_norm=True),
    "ConvS2S, widths": _ODD,
}
_PAIRS = [
    ([5, 9, 30, 2], [7, 2]),
    ([11, 2], [12, 13, 14, 40, 2]),
    ([3, 3, 22, 23, 24, 25, 26, 27, 28, 2], [9, 3, 8, 7, 2]),
    ([2], [2]),
]
# fairseq 0.12.2, the forward pass of its classes in fairseq/models/lstm.py and fconv.py on these
# weights (strict loading): log-probabilities of the tokens of `_PAIRS`
_RECORDED = [row for _, row in read_rows(Path(__file__).with_name("baselines.tsv"))]
# The same for its SequenceGenerator with 5 beams: source, and the first hypothesis with its score
_BEAMS = {
    "LSTM": (_PAIRS[0][0], [38, 2], -2.656542),
    "LSTM, no attention": (_PAIRS[0][0], [10, 10, 10, 16, 2], -3.21131),
    "LSTM, widths": (_PAIRS[2][0], [26, 2], -1.68759),
    "ConvS2S of the thesis": (_PAIRS[2][0], [20] * 10 + [2], -2.393704),
    "ConvS2S, first norm": (_PAIRS[0][0], [10, 2], -2.532938),
    "ConvS2S, widths": (_PAIRS[0][0], [6, 6, 2], -2.023052),
}
_LONG = ([*range(4, 44), *range(4, 18), 2], [*range(43, 4, -1), *range(4, 18), 2])


def converted(baseline: Baseline, folder: Path, **changes: Any) -> Path:
    baseline.save(folder / "in", **changes)
    return convert(folder / "in", output=folder / "out").folders[0]


@pytest.mark.parametrize("name", _MODELS)
def test_logprobs_equal_those_of_fairseq(tmp_path: Path, name: str) -> None:
    baseline, pairs = _MODELS[name], [*_PAIRS, _LONG]
    weights = baseline.save(tmp_path / "in")
    conversion = convert(tmp_path / "in", output=tmp_path / "out")
    assert conversion.families == ("lstm" if name.startswith("LSTM") else "convs2s",)
    sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
    plain = [logprobs(baseline, weights, *pair) for pair in pairs]
    recorded = [[*map(float, row["logprobs"].split())] for row in _RECORDED if row["model"] == name]
    assert len(recorded) == len(_PAIRS)
    for batch_tokens in (1, 1000):
        evaluator = cc_hf.load_evaluator(conversion.folders[0], batch_tokens=batch_tokens)
        scored = typed(FairseqEvaluator, evaluator).id_logprobs(sources, targets)
        for row, values in zip(scored, recorded, strict=False):
            np.testing.assert_allclose(row, values, rtol=0, atol=1e-5)
        for row, expected in zip(scored, plain, strict=True):
            np.testing.assert_allclose(row, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", _BEAMS)
def test_beam_search_finds_the_translations_of_fairseq(tmp_path: Path, name: str) -> None:
    source, tokens, score = _BEAMS[name]
    model = load_model(converted(_MODELS[name], tmp_path)).model
    options = {"max_new_tokens": 50, "output_scores": True, "return_dict_in_generate": True}
    for use_cache in (True, False):
        output = model.generate(torch.tensor([source]), num_beams=5, use_cache=use_cache, **options)
        assert output.sequences[0, 1:].tolist() == tokens
        assert output.sequences_scores.item() == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("family", ["lstm", "convs2s"])
def test_tokens_one_by_one_have_the_logits_of_the_whole(tmp_path: Path, family: str) -> None:
    model = load_model(BUILDERS[family](tmp_path)).model
    ids, mask = torch.arange(12).reshape(2, 6), torch.ones(2, 6)
    mask[1, 4:] = 0
    with torch.no_grad():
        whole = model(ids, mask, decoder_input_ids=ids).logits
        encoded = model.get_encoder()(ids, mask)
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        for part in (slice(0, 3), slice(3, 4), slice(4, 6)):
            given = {"attention_mask": mask, "encoder_outputs": encoded, "past_key_values": cache}
            logits = model(decoder_input_ids=ids[:, part], **given).logits
            torch.testing.assert_close(logits, whole[:, part], atol=1e-5, rtol=0)


def test_models_of_the_thesis_have_as_many_parameters_as_it_prints() -> None:
    """Table 3.5. The three architectures of a domain have the number of symbols in common."""
    options = {"num_hidden_layers": 5, "encoder_bidirectional": True, "share_embeddings": True}
    printed = [(32_232, 59_819_008, 64_548_328), (34_328, 60_892_160, 66_696_728)]
    for n_symbols, n_lstm, n_convs2s in printed:
        with torch.device("meta"):
            config = baselines.LSTMConfig(n_symbols, **options)
            recurrent = baselines.LSTMForConditionalGeneration(config)
            conv = baselines.ConvS2SForConditionalGeneration(baselines.ConvS2SConfig(n_symbols))
        assert recurrent.num_parameters() == n_lstm
        # fairseq counts a length for each output of a layer that has weight normalisation
        biases = [n for n, _ in conv.named_parameters() if n.endswith(".bias")]
        n_lengths = sum(len(conv.get_parameter(n)) for n in biases if n[:2] != "lm")
        assert conv.num_parameters() + n_lengths == n_convs2s


def test_a_converted_model_translates_and_its_folder_carries_its_code(tmp_path: Path) -> None:
    folder = converted(lstm(), tmp_path)
    check_translates_and_carries_its_code(folder, "lstm", "LSTM", "translation")


def _zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape)


_LENGTHS = "encoder.convolutions.0.weight_g"


@cases(
    ("encoder_layers='print\\(3\\)', expected", convs2s, {"encoder_layers": "print(3)"}),
    ("encoder_layers=None, expected channels", convs2s, {"encoder_layers": None}),
    ("decoder_layers='.*', .* to layers before", convs2s, {"decoder_layers": "[(12,3,2)]*2"}),
    ("the weight encoder.convolutions.2.* is missing", convs2s, {"encoder_layers": _EIGHT}),
    ("do not fit its options: .*size", convs2s, {"encoder_layers": "[(12, 5)] * 2"}),
    (f"the weight {_LENGTHS} has the shape", convs2s, {"weights": {_LENGTHS: _zeros(1, 2)}}),
    ("do not fit its options", lstm, {"weights": {"decoder.layers.0.weight_ih": _zeros(3, 3)}}),
    ("has no place in it", lstm, {"weights": {"decoder.adaptive_softmax.x": _zeros(3)}}),
    ("got one of the shape", lstm, {"weights": {"encoder.lstm.weight_hh_l0": _zeros(3)}}),
    ("max_source_positions=100000.0, exp", lstm, {"max_source_positions": 1e5}),
)
def test_checkpoints_that_cannot_be_converted_are_refused(
    reason: str, baseline: Callable[[], Baseline], changes: dict[str, Any], tmp_path: Path
) -> None:
    fails(
        EvaluatorError,
        f"model1.pt: .* cannot be converted: .*{reason}",
        converted,
        baseline(),
        tmp_path,
        **changes,
    )
    assert not (tmp_path / "out").exists()


def test_models_refuse_what_they_would_compute_wrongly(tmp_path: Path) -> None:
    model = load_model(BUILDERS["lstm"](tmp_path)).model
    ids = torch.tensor([[5, 6]])
    fails(
        ValueError, "padded on the right", model, ids, torch.tensor([[0, 1]]), decoder_input_ids=ids
    )
    fails(ValueError, "decoder_input_ids: expected inputs", model, ids)
    fails(TypeError, "unexpected options labels", model, ids, decoder_input_ids=ids, labels=ids)
    fails(
        ValueError,
        "share_embeddings: expected sides of the same size",
        baselines.LSTMConfig,
        9,
        8,
        share_embeddings=True,
    )
