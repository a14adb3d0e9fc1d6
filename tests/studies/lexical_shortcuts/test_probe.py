"""Lexical probes of tiny models. That layer 0 tells nearly all, and noise nothing, holds for models
with random weights, too.
"""

import copy
import itertools
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from cc_hf import load_evaluator
from cc_hf.errors import InputError, TooLongError
from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.studies.lexical_shortcuts.classifier import ProbeSettings, train_probe
from cc_hf.studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration
from cc_hf.studies.lexical_shortcuts.probe import Pairs, ProbeTexts, lexical_probe, probe_texts
from cc_hf.studies.lexical_shortcuts.results import LexicalProbe
from cc_hf.studies.lexical_shortcuts.states import collect_states, gate_activations, probed_texts
from cc_hf.studies.lexical_shortcuts.subwords import frequency_bins, parts_of_speech
from tests.helpers.cases import cases
from tests.helpers.families import (
    save_tiny_bergamot,
    save_tiny_fsmt,
    save_tiny_m2m100,
    save_tiny_t5,
)
from tests.helpers.narrowing import typed
from tests.helpers.refusals import refuses
from tests.studies.lexical_shortcuts.shortcut_models import pairs, small_config

QUICK = ProbeSettings(hidden=64, max_epochs=10, batch_size=32, learning_rate=3e-3)


@pytest.fixture(scope="module")
def texts() -> ProbeTexts:
    return probe_texts(pairs(80, 0), held_out=pairs(10, 1), test=pairs(20, 2))


@pytest.fixture(scope="module")
def marian(tiny_marian: Path) -> Any:
    return load_evaluator(tiny_marian, mode="exact")


@pytest.fixture(scope="module")
def probe(marian: Any, texts: ProbeTexts) -> LexicalProbe:
    """Probe a model, and the same model whose upper layers are noise."""
    plain, noisy = copy.copy(marian), copy.copy(marian)
    plain.model = copy.deepcopy(marian.model)
    with torch.no_grad():  # so that the states remain near the embeddings
        for name, weight in plain.model.named_parameters():
            if ".layers." in name and weight.ndim == 2:
                weight *= 0.2
    noisy.model = copy.deepcopy(plain.model)
    torch.manual_seed(0)
    for side in (noisy.model.get_encoder(), noisy.model.get_decoder()):
        side.layers[1].final_layer_norm.forward = torch.randn_like
    models = {"plain": plain, "noisy": noisy}
    return lexical_probe(models, texts, settings=QUICK, bootstrap=Bootstrap(0, 50))


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_layer_0_tells_the_subwords_and_noise_does_not(probe: LexicalProbe, side: str) -> None:
    plain, noisy = (model.layers_of(side) for model in probe.models)
    assert plain[0].accuracy > 0.97
    assert plain[0].cosine == pytest.approx(1)
    assert min(plain[1].accuracy, plain[2].accuracy) > 0.9
    noise = noisy[2]
    assert noise.accuracy < 0.2
    assert abs(noise.cosine) < 0.05
    assert noisy[1].accuracy == plain[1].accuracy
    assert isinstance(noise.interval, Interval)
    assert noise.interval.low < noise.accuracy < noise.interval.high


def test_differences_are_paired_and_name_the_layer_with_noise(probe: LexicalProbe) -> None:
    rows = {(row.side, row.layer): row for row in probe.differences}
    assert set(rows) == {(side, layer) for side in ("encoder", "decoder") for layer in range(3)}
    for side in ("encoder", "decoder"):
        assert rows[side, 0].accuracy.difference == 0
        assert rows[side, 0].cosine is None
        difference = rows[side, 2].accuracy
        assert difference.difference == difference.second - difference.first < -0.3
        assert typed(Interval, difference.interval).high < 0
        assert difference.p_value < 0.05


def test_the_figures_are_complete_json(probe: LexicalProbe, texts: ProbeTexts) -> None:
    row = json.loads(probe.to_json())
    assert row["signature"].startswith("lexical-probe|model:plain@")
    assert f"test:{texts.test.digest}" in row["signature"]
    assert len(row["models"][0]["layers"]) == 6
    for side, layer in ((0, 0), (1, 3)):
        groups = row["models"][0]["layers"][layer]["by_frequency"]
        assert [group["name"] for group in groups] == [str(n) for n in range(1, 11)]
        assert sum(group["n"] for group in groups) == row["models"][0]["sides"][side]["n_test"]
    assert row["models"][0]["gates"] == []


def test_marks_are_not_probed_and_the_decoder_is_probed_where_a_subword_is_fed(marian: Any) -> None:
    sides = probed_texts(marian, ["The doctor"], ["Der Arzt"])
    (source,) = marian.encode_sources(["The doctor"], "en", "de")
    (target,) = marian.encode_targets(["Der Arzt"], "en", "de")
    assert sides["encoder"].ids.tolist() == source[:-1]  # without EOS
    assert sides["decoder"].ids.tolist() == target[:-1]
    assert sides["decoder"].rows == [[*marian.decoder_start, *target[:-1]]]


@cases(save_tiny_m2m100, save_tiny_fsmt, save_tiny_t5, save_tiny_bergamot)
def test_layers_of_every_family_are_read_at_the_right_positions(save: Any, tmp_path: Path) -> None:
    folder, langs = tmp_path / "model", {"src_lang": "en", "tgt_lang": "de"}
    folder.mkdir()
    model: Any = load_evaluator(save(folder), mode="exact", batch_tokens=40, **langs)
    rows = pairs(5, 3)
    sides = probed_texts(model, rows.sources, rows.targets)
    for side, states in collect_states(model, sides, tmp_path).items():
        assert [len(layer) for layer in states.layers] == [len(sides[side].ids)] * 3
        for row in (1, 4):
            folder = tmp_path / f"{side}{row}"
            folder.mkdir()
            texts = probed_texts(model, [rows.sources[row]], [rows.targets[row]])
            alone = collect_states(model, texts, folder)[side]
            start, end = sides[side].starts[row : row + 2]
            for left, right in zip(states.layers, alone.layers, strict=True):
                np.testing.assert_allclose(left[start:end], right, atol=2e-5)


def test_gates_have_mean_and_spread_of_the_model(marian: Any) -> None:
    model = copy.copy(marian)
    pad = marian.model.config.pad_token_id
    marks = {"pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad}
    config = small_config(vocab_size=marian.model.config.vocab_size, decoder_layers=2, **marks)
    torch.manual_seed(0)
    model.model = LexicalShortcutForConditionalGeneration(config).eval()
    rows = pairs(3, 0)
    sides = probed_texts(model, rows.sources, rows.targets)
    gates = {(row.side, row.layer, row.kind): row for row in gate_activations(model, sides)}
    assert len(gates) == 8
    alone = []
    for ids, labels in zip(sides["encoder"].rows, sides["decoder"].rows, strict=True):
        inputs = {"input_ids": torch.tensor([ids]), "decoder_input_ids": torch.tensor([labels])}
        with torch.inference_mode():
            output = model.model(**inputs, output_gates=True)
        alone.append(output.encoder_value_gates[1][0, :-1])  # without EOS
    values = torch.cat(alone)
    gate = gates["encoder", 2, "value"]
    expected = (float(values.mean()), float(values.std(correction=0)))
    assert (gate.mean, gate.spread) == pytest.approx(expected, abs=1e-5)
    model.model.config.shortcut = "none"
    assert gate_activations(model, sides) == ()


def test_a_probe_is_the_same_for_the_same_seed_and_leaves_the_generator_alone() -> None:
    states = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    ids = (states[:, 0] > 0).astype(np.int64) + 5
    torch.manual_seed(7)
    before = torch.rand(1)
    torch.manual_seed(7)
    first, second = (train_probe(states, ids, states, ids, QUICK) for _ in range(2))
    assert torch.equal(torch.rand(1), before)
    assert first.held_out_loss == second.held_out_loss
    assert (first.predict(states) == second.predict(states)).all()
    other = train_probe(states, ids, states, ids, replace(QUICK, seed=1))
    assert other.held_out_loss != first.held_out_loss


def test_sizes_of_states_do_not_matter() -> None:
    states = np.eye(6, dtype=np.float32).repeat(40, axis=0)
    ids = np.arange(6).repeat(40)
    for scale, shift in ((1e-4, 0.0), (1e4, 5e4)):
        probe = train_probe(states * scale + shift, ids, states * scale + shift, ids, QUICK)
        assert (probe.predict(states * scale + shift) == ids).mean() > 0.99


def test_bins_hold_equally_many_types_from_the_rarest() -> None:
    bins = frequency_bins({number: number + 1 for number in range(40)}, range(41))
    assert bins[-1] == ""
    assert bins[:40] == [str(1 + number // 4) for number in range(40)]


def test_parts_of_speech_go_to_all_subwords_of_a_word(marian: Any) -> None:
    sides = probed_texts(marian, ["The doctor asked"], ["Der Arzt"])
    tags = {"The": "DET", "doctor": "NOUN", "asked": "VERB"}

    def pipe(texts: list[str]) -> Any:
        for text in texts:
            words = [(word, text.index(word), tags[word]) for word in text.split()]
            yield [SimpleNamespace(text=word, idx=i, pos_=tag) for word, i, tag in words]

    pieces = marian.source_pieces(sides["encoder"].ids.tolist())
    starts = itertools.accumulate(piece.startswith("▁") for piece in pieces)
    expected = [["DET", "NOUN", "VERB"][number - 1] for number in starts]
    assert len(pieces) > 3
    assert parts_of_speech(sides["encoder"], marian, SimpleNamespace(pipe=pipe)) == expected
    tags = dict.fromkeys(tags, "")
    with pytest.raises(InputError, match="expected a pipeline that tags parts of speech"):
        parts_of_speech(sides["encoder"], marian, SimpleNamespace(pipe=pipe))


def test_a_tenth_each_is_held_out_and_tested_by_default() -> None:
    whole = pairs(100, 0)
    parts = probe_texts(whole, sentences=50, seed=3)
    assert [len(part) for part in (parts.learned, parts.held_out, parts.test)] == [40, 5, 5]
    assert (parts.training, parts) == (whole, probe_texts(whole, sentences=50, seed=3))
    assert parts != probe_texts(whole, sentences=50, seed=4)


def test_what_cannot_be_probed_is_refused(marian: Any, texts: ProbeTexts) -> None:
    refuses("expected as many translations as sentences", Pairs, ["a"], [])
    refuses("row 1: expected two texts", Pairs, ["a", "b"], ["c", " "])
    refuses("expected 3 or more pairs, got 2", probe_texts, pairs(2, 0))
    refuses("expected one model or more", lexical_probe, {}, texts)
    language_model: Any = SimpleNamespace(name="gpt")
    refuses("one sequence-to-sequence model", lexical_probe, {"gpt": language_model}, texts)
    with pytest.raises(TooLongError, match="row 1: the target has"):
        probed_texts(marian, ["The", "The"], ["Der", "Der " * 200])
