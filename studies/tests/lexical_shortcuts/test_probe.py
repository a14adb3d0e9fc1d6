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
from cc_hf_studies.lexical_shortcuts import results
from cc_hf_studies.lexical_shortcuts.classifier import ProbeSettings, train_probe
from cc_hf_studies.lexical_shortcuts.group_chart import probe_groups_chart
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration
from cc_hf_studies.lexical_shortcuts.probe import Pairs, ProbeTexts, lexical_probe, probe_texts
from cc_hf_studies.lexical_shortcuts.results import LexicalProbe
from cc_hf_studies.lexical_shortcuts.states import collect_states, gate_activations, probed_texts
from cc_hf_studies.lexical_shortcuts.subwords import frequency_bins, parts_of_speech
from cc_hf_studies.lexical_shortcuts.tables import lexical_probe_chart, lexical_probe_tables

from cc_hf import load_evaluator
from cc_hf.errors import TooLongError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.paired import PairedDifference
from cc_hf.statistics.shares import Share
from studies.tests.lexical_shortcuts.shortcut_models import pairs, small_config
from tests.helpers import families
from tests.helpers.models import save_tiny_marian
from tests.helpers.usual import (
    cases,
    fails,
    printed,
    printed_by,
    read_json,
    refuses,
    typed,
    write_lines,
)

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
        # 20 types of words are too few for an interval of a difference
        assert "at least 30" in typed(NoInterval, difference.interval).reason
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


@cases("m2m_100", "fsmt", "t5", "bergamot")
def test_layers_of_every_family_are_read_at_the_right_places(family: str, tmp_path: Path) -> None:
    folder, langs = tmp_path / "model", {"src_lang": "en", "tgt_lang": "de"}
    folder.mkdir()
    saved = families.BUILDERS[family](folder)
    model: Any = load_evaluator(saved, mode="exact", batch_tokens=40, **langs)
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
    refuses(
        "expected a pipeline that tags parts of speech",
        parts_of_speech,
        sides["encoder"],
        marian,
        SimpleNamespace(pipe=pipe),
    )


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
    fails(
        TooLongError,
        "row 1: the target has",
        probed_texts,
        marian,
        ["The", "The"],
        ["Der", "Der " * 200],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write training and test text, and two models with one tokenizer."""
    folder = tmp_path_factory.mktemp("probe")
    for part, n in (("train", 12), ("test", 3)):
        texts = pairs(n, n)
        write_lines(folder / f"{part}.en", texts.sources)
        write_lines(folder / f"{part}.de", texts.targets)
    for seed in (0, 1):
        save_tiny_marian(folder / f"model{seed}", seed=seed)
    return folder


_COMMAND = "study lexical_shortcuts probe model0 model1 --source train.en --target train.de"


def test_two_models_are_probed_and_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    printed = printed_by(
        f"{_COMMAND} --test-source test.en --test-target test.de --name base --name other"
        " --max-epochs 2 --resamples 20 --bf16 --chart probe.svg --group-chart groups.svg"
        " --output probe.json"
    )
    assert "base: encoder, 21 sub-words" not in printed  # words are several sub-words
    assert "base: encoder" in printed
    assert "other against base, percentage points" in printed
    assert "signature: lexical-probe|model:base@" in printed.replace("\n", "")
    row = read_json(folder / "probe.json")
    assert [model["name"] for model in row["models"]] == ["base", "other"]
    assert len(row["differences"]) == 6
    assert ".bf16" in row["signature"]
    assert "|n:11+1+3|" in row["signature"]
    drawn = (folder / "probe.svg").read_text(encoding="utf-8")
    assert "<svg" in drawn
    assert "cosine to the embeddings" in drawn
    drawn = (folder / "groups.svg").read_text(encoding="utf-8")
    assert "tenths of the types, the rarest first" in drawn
    assert "part of speech" not in drawn


_SIDES = ("encoder", "decoder")
_TRANSLATED = "test_dataset: expected a dataset with correct transl"


@cases(
    ("--test-source test.en", "expected --test-source and --test-target together"),
    ("--name a --name a", "name: expected a different name for each of 2 models"),
    ("--chart probe.gif", "chart: expected a file that ends in .svg or .png or .pdf"),
    pytest.param("--test-dataset winomt", _TRANSLATED, marks=pytest.mark.shared),
)
def test_options_that_do_not_fit_are_refused(
    options: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch, shared: Path
) -> None:
    monkeypatch.chdir(folder)
    command = f"{_COMMAND} --max-epochs 1 {options}"
    refuses(message, printed_by, f"{command} --data-dir {shared}/upstream")


def test_tables_show_parts_of_speech_gates_and_what_was_not_compared() -> None:
    none = NoInterval("it is the same in every resample")
    groups = {"NOUN": Share(3, 5, none), "VERB": Share(1, 5, none)}
    shares = [(1 - n / 10, none, 1 - n / 5, none, groups, groups, 3, 0.5) for n in range(9)]
    layer = results.ProbedLayer
    layers = tuple(layer(side, n, *of) for side in _SIDES for n, of in enumerate(shares))
    sides = tuple(results.ProbedSide(side, 100, 10, 20, 2) for side in _SIDES)
    key = results.GateActivation("encoder", 1, "key", 0.5123, 0.1)
    gates = (key, results.GateActivation("cross", 2, "value", 0.25, 0.2))
    difference = PairedDifference(0.5, 0.4, -0.1, none, 0.02)
    models = {"base": (), "lexical": gates, "other": ()}
    probe = results.LexicalProbe(
        tuple(results.ProbedModel(name, sides, layers, actual) for name, actual in models.items()),
        (results.LayerDifference("lexical", "encoder", 1, difference, None),),
        "lexical-probe|v:1",
        {"other": "it has other sub-words"},
    )
    text = printed(lexical_probe_tables(probe)).replace("−", "-")
    parts = ["2 of types that the classifiers have", "NOUN", "60.0", "layer 8", "0.512"]
    parts += ["source attention", "-10.0", "not compared: other: it has other sub-words"]
    parts.append("difference in encoder 1: no interval: it is the same")
    assert [part for part in parts if part not in text] == []
    model = json.loads(probe.to_json())["models"][1]
    assert model["gates"][1]["side"] == "cross"
    noun, _ = model["layers"][0]["by_pos"]
    assert list(noun.items())[:3] == [("name", "NOUN"), ("n", 5), ("accuracy", 0.6)]
    assert list(noun)[3:] == ["interval"]
    for file_format, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert lexical_probe_chart(probe, file_format=file_format).startswith(start)
        assert probe_groups_chart(probe, file_format=file_format).startswith(start)
    drawn = probe_groups_chart(probe, file_format="svg").decode("utf-8")
    assert drawn.count(">NOUN<") == 12  # three models, two sides, and stand-ins for tenths
    assert ">lexical: decoder<" in drawn
