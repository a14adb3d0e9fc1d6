"""Models with lexical shortcuts agree with themselves, with plain models and with the equations."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    DynamicCache,
    EncoderDecoderCache,
    FSMTConfig,
    FSMTForConditionalGeneration,
)
from transformers.dynamic_module_utils import get_class_from_dynamic_module
from transformers.modeling_outputs import BaseModelOutput

from cc_hf.studies.lexical_shortcuts.model import (
    LexicalShortcutConfig,
    LexicalShortcutForConditionalGeneration,
)
from cc_hf.studies.lexical_shortcuts.model.layers import ShortcutAttention, gated
from tests.studies.lexical_shortcuts.shortcut_models import (
    EOS,
    INPUTS,
    PAD,
    SOURCES,
    VARIANTS,
    small_config,
    small_model,
)

_CLOSE = 1e-5
_REAL = INPUTS != PAD
_BASE = {"d_model": 512}
_BIG = {
    "d_model": 1024,
    "encoder_attention_heads": 16,
    "decoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "decoder_ffn_dim": 4096,
}


@pytest.fixture(params=VARIANTS)
def model(request: pytest.FixtureRequest) -> LexicalShortcutForConditionalGeneration:
    return small_model(**VARIANTS[request.param])


def _n_parameters(**changes: Any) -> int:
    with torch.device("meta"):
        model = LexicalShortcutForConditionalGeneration(LexicalShortcutConfig(**changes))
    assert all(parameter.is_meta for parameter in model.parameters())
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("sizes", "shortcut", "thousands"),
    [
        (_BASE, "none", 65_166),
        (_BASE, "lexical", 71_470),
        (_BASE, "fusion", 84_053),
        (_BIG, "none", 218_413),
        (_BIG, "fusion", 293_935),
    ],
    ids=["base", "base, lexical", "base, fusion", "big", "big, fusion"],
)
def test_numbers_of_parameters_are_those_of_table_5_1(
    sizes: dict[str, int], shortcut: str, thousands: int
) -> None:
    """The thesis counts the first program, which has no biases in attention and a norm at the end
    of each stack. 41,138 symbols, which it does not print, are the only number that fits all rows.
    """
    n = _n_parameters(
        vocab_size=41_138, shortcut=shortcut, attention_bias=False, normalize_before=True, **sizes
    )
    assert round(n / 1000) == thousands


@pytest.mark.parametrize("d", [512, 1024])
@pytest.mark.parametrize("n_layers", [1, 6])
def test_shortcuts_add_as_many_parameters_as_the_formulas_say(d: int, n_layers: int) -> None:
    common = {"d_model": d, "encoder_layers": n_layers, "decoder_layers": 2}
    for bias, gate_and_bias in ((True, 2 * d), (False, d)):
        plain, lexical, fusion, one_side = (
            _n_parameters(attention_bias=bias, **common, **changes)
            for changes in (
                {"shortcut": "none"},
                {"shortcut": "lexical"},
                {"shortcut": "fusion"},
                {"shortcut": "lexical", "shortcut_encoder": False},
            )
        )
        assert lexical - plain == (n_layers + 2) * 2 * (d * d + gate_and_bias)
        assert fusion - plain == (n_layers + 2) * 2 * (3 * d * d + gate_and_bias)
        assert one_side - plain == 2 * 2 * (d * d + gate_and_bias)
        cross = _n_parameters(attention_bias=bias, shortcut_cross=True, **common)
        assert cross - lexical == 2 * 2 * (d * d + gate_and_bias)
        assert (
            _n_parameters(attention_bias=bias, shortcut_source="non_lexical", **common) == lexical
        )


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "separate"])
def test_a_model_without_shortcuts_equals_fsmt_of_the_same_weights(shared: bool) -> None:
    vocabularies = {"share_embeddings": shared, "tgt_vocab_size": 40 if shared else 30}
    model = small_model(shortcut="none", **vocabularies)
    sizes = {
        name: getattr(model.config, name)
        for name in (
            "d_model",
            *(
                f"{side}_{part}"
                for side in ("encoder", "decoder")
                for part in ("layers", "attention_heads", "ffn_dim")
            ),
        )
    }
    fsmt = FSMTForConditionalGeneration(
        FSMTConfig(
            **sizes,
            src_vocab_size=40,
            tgt_vocab_size=vocabularies["tgt_vocab_size"],
            tie_word_embeddings=shared,
            max_position_embeddings=64,
        )
    ).eval()
    names = {"lm_head.weight": "model.decoder.output_projection.weight"}
    missing, left = fsmt.load_state_dict(
        {names.get(name, name): weight for name, weight in model.state_dict().items()}, strict=False
    )
    assert not left
    assert all("embed_positions" in name for name in missing)
    for sources in (SOURCES, SOURCES[:1]):
        with torch.inference_mode():
            expected = fsmt(
                sources,
                attention_mask=(sources != PAD).long(),
                decoder_input_ids=INPUTS[: len(sources)],
                use_cache=False,
            ).logits
            logits = model(sources, decoder_input_ids=INPUTS[: len(sources)]).logits
        assert (logits - expected)[_REAL[: len(sources)]].abs().max() < _CLOSE


@torch.inference_mode()
def test_incremental_decoding_equals_the_whole_pass(model: Any) -> None:
    whole = model(SOURCES, decoder_input_ids=INPUTS, use_cache=False)
    assert whole.past_key_values is None
    for widths in ([1, 1, 1, 1], [2, 1, 1], [3, 1]):
        cache, logits, first = None, [], 0
        for width in widths:
            step = model(
                SOURCES,
                decoder_input_ids=INPUTS[:, first : first + width],
                past_key_values=cache,
                use_cache=True,
            )
            cache, first = step.past_key_values, first + width
            logits.append(step.logits)
        assert (torch.cat(logits, dim=1) - whole.logits)[_REAL].abs().max() < _CLOSE


def _padded_left(rows: torch.Tensor) -> torch.Tensor:
    return torch.stack([torch.cat([row[row == PAD], row[row != PAD]]) for row in rows])


@torch.inference_mode()
def test_left_and_right_padding_agree(model: Any) -> None:
    expected = model(SOURCES, decoder_input_ids=INPUTS).logits[_REAL]
    for sources in (SOURCES, _padded_left(SOURCES)):
        for inputs in (INPUTS, _padded_left(INPUTS)):
            masks = {
                "attention_mask": (sources != PAD).long(),
                "decoder_attention_mask": (inputs != PAD).long(),
            }
            for options in (masks, {}, {"attention_mask": masks["attention_mask"]}):
                logits = model(sources, decoder_input_ids=inputs, **options).logits
                assert logits.isfinite().all()
                assert (logits[inputs != PAD] - expected).abs().max() < _CLOSE
    alone = [
        model(row[None][row[None] != PAD][None], decoder_input_ids=inputs[inputs != PAD][None])
        for row, inputs in zip(SOURCES, INPUTS, strict=True)
    ]
    assert (torch.cat([output.logits[0] for output in alone]) - expected).abs().max() < _CLOSE


def test_beams_are_the_same_with_and_without_a_cache(model: Any) -> None:
    options = {"num_beams": 4, "num_return_sequences": 4, "max_new_tokens": 9, "do_sample": False}
    with_cache, without = (
        model.generate(SOURCES, use_cache=use_cache, **options) for use_cache in (True, False)
    )
    assert with_cache.tolist() == without.tolist()
    assert len({tuple(row) for row in with_cache.tolist()}) > 4  # beams differ
    padded = model.generate(_padded_left(SOURCES), **options)
    assert padded.tolist() == with_cache.tolist()


def test_reordered_beams_continue_as_their_own_beginnings(model: Any) -> None:
    order = torch.tensor([2, 0, 0])
    beginnings, last = INPUTS[:, :2], torch.tensor([[7], [8], [9]])
    with torch.inference_mode():
        first = model(SOURCES, decoder_input_ids=beginnings, use_cache=True)
        first.past_key_values.reorder_cache(order)
        step = model(
            SOURCES[order],
            decoder_input_ids=last,
            past_key_values=first.past_key_values,
            use_cache=True,
        )
        inputs = torch.cat([beginnings[order], last], dim=1)
        whole = model(SOURCES[order], decoder_input_ids=inputs, use_cache=False)
    assert (step.logits[:, 0] - whole.logits[:, 2]).abs().max() < _CLOSE


def test_a_beginning_that_is_padded_on_the_left_is_continued_as_alone() -> None:
    model = small_model()
    beginnings = torch.tensor([[PAD, EOS, 5], [EOS, 6, 7]])
    together = model.generate(SOURCES[:2], decoder_input_ids=beginnings, max_new_tokens=5)
    alone = model.generate(SOURCES[:1], decoder_input_ids=beginnings[:1, 1:], max_new_tokens=5)
    assert together[0, 1:].tolist() == alone[0].tolist()


def test_a_saved_model_is_loaded_with_the_same_weights(model: Any, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    loaded, report = AutoModelForSeq2SeqLM.from_pretrained(tmp_path, output_loading_info=True)
    assert type(loaded) is LexicalShortcutForConditionalGeneration
    assert not {*report["missing_keys"], *report["unexpected_keys"]}
    assert loaded.config.to_diff_dict() == model.config.to_diff_dict()
    with torch.inference_mode():
        for one_more in (loaded, loaded.to(torch.float64).float()):
            assert torch.equal(
                one_more(SOURCES, decoder_input_ids=INPUTS).logits,
                model(SOURCES, decoder_input_ids=INPUTS).logits,
            )
    tables = {
        id(table.weight)
        for table in (
            loaded.get_input_embeddings(),
            loaded.get_decoder().embed_tokens,
            loaded.get_output_embeddings(),
        )
    }
    config = model.config
    assert len(tables) == 3 - config.share_embeddings - config.tie_word_embeddings


def test_a_folder_is_loaded_by_the_code_that_it_carries_which_does_not_import_cc_hf(
    tmp_path: Path,
) -> None:
    model = small_model(shortcut_cross=True)
    model.save_pretrained(tmp_path)
    for path in tmp_path.glob("*.py"):
        imported = {
            node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0)
        }
        assert {str(name).partition(".")[0] for name in imported} <= {
            *sys.stdlib_module_names,
            "torch",
            "transformers",
        }
    # This is what trust_remote_code=True loads where the class is not known.
    carried = AutoConfig.from_pretrained(tmp_path).auto_map["AutoModelForSeq2SeqLM"]
    loaded = get_class_from_dynamic_module(carried, str(tmp_path)).from_pretrained(tmp_path).eval()
    assert type(loaded).__module__.startswith("transformers_modules.")
    assert type(loaded.config).__module__.startswith("transformers_modules.")
    with torch.inference_mode():
        logits = [m(SOURCES, decoder_input_ids=INPUTS).logits for m in (loaded, model)]
    assert torch.equal(*logits)
    beams = [m.generate(SOURCES, num_beams=2, max_new_tokens=4) for m in (loaded, model)]
    assert torch.equal(*beams)


def _inputs_of_attention(model: Any, **options: Any) -> dict[str, list[torch.Tensor]]:
    """Return what the shortcuts of every layer read in one pass, by part of the model."""
    read: dict[str, list[torch.Tensor]] = {"encoder": [], "decoder": [], "cross": []}

    def keep(part: str) -> Callable[..., None]:
        return lambda _module, arguments: read[part].append(arguments[2])

    handles = [
        module.register_forward_pre_hook(
            keep(
                "cross"
                if name.endswith("encoder_attn")
                else "encoder"
                if ".encoder." in name
                else "decoder"
            )
        )
        for name, module in model.named_modules()
        if isinstance(module, ShortcutAttention)
    ]
    read["output"] = [model(SOURCES, decoder_input_ids=INPUTS, **options)]
    for handle in handles:
        handle.remove()
    return read


def test_all_layers_read_one_draw_of_dropped_out_embeddings() -> None:
    model = small_model(shortcut_cross=True, dropout=0.5).train()
    read = _inputs_of_attention(model, output_hidden_states=True)
    output: Any = read.pop("output")[0]
    embedded = {side: output[f"{side}_hidden_states"][0] for side in ("encoder", "decoder")}
    embedded["cross"] = embedded["encoder"]
    for part, n_layers in (("encoder", 2), ("decoder", 3), ("cross", 3)):
        assert [tensor is embedded[part] for tensor in read[part]] == [True] * n_layers
    share_dropped = (embedded["encoder"][SOURCES != PAD] == 0).float().mean()
    assert 0.3 < share_dropped < 0.7
    other: Any = _inputs_of_attention(model, output_hidden_states=True)["output"][0]
    assert not torch.equal(embedded["encoder"], other["encoder_hidden_states"][0])


def test_non_lexical_shortcuts_read_the_layer_two_below() -> None:
    model = small_model(shortcut_source="non_lexical", encoder_layers=5)
    with torch.inference_mode():
        read = _inputs_of_attention(model, output_hidden_states=True)
    output: Any = read.pop("output")[0]
    for side, below in (("encoder", [0, 0, 1, 2, 3]), ("decoder", [0, 0, 1])):
        states = output[f"{side}_hidden_states"]
        assert [tensor is states[n] for tensor, n in zip(read[side], below, strict=True)] == [
            True
        ] * len(below)


@torch.inference_mode()
def test_embeddings_are_scaled_tokens_with_positions_and_zero_at_padding() -> None:
    model = small_model()
    state = model(SOURCES, decoder_input_ids=INPUTS, output_hidden_states=True)
    embedded = state.encoder_hidden_states[0]
    assert (embedded[SOURCES == PAD] == 0).all()
    angle = torch.tensor(3.0)  # the second token; fairseq counts from 2
    rates = [10_000 ** -(k / 7) for k in range(8)]
    table = torch.tensor(
        [*(torch.sin(angle * r) for r in rates), *(torch.cos(angle * r) for r in rates)]
    )
    expected = 4 * model.get_input_embeddings().get_parameter("weight")[6] + table
    torch.testing.assert_close(embedded[0, 1], expected, atol=1e-6, rtol=0)
    padded = _padded_left(SOURCES)
    again = model(padded, decoder_input_ids=INPUTS, output_hidden_states=True)
    torch.testing.assert_close(
        again.encoder_hidden_states[0][padded != PAD], embedded[SOURCES != PAD]
    )


@torch.inference_mode()
def test_outputs_have_gates_and_states_of_each_part_that_has_shortcuts(model: Any) -> None:
    config = model.config
    output = model(SOURCES, decoder_input_ids=INPUTS, output_hidden_states=True, output_gates=True)
    plain = model(SOURCES, decoder_input_ids=INPUTS)
    for part, n_layers in (("encoder", 2), ("decoder", 3), ("cross", 3)):
        for kind in ("key", "value"):
            gates = output.get(f"{part}_{kind}_gates")
            if config.shortcuts_of(part) == "none":
                assert gates is None
                continue
            length = (INPUTS if part == "decoder" else SOURCES).shape[1]
            assert [tuple(gate.shape) for gate in gates] == [(3, length, 16)] * n_layers
            assert all(((gate > 0) & (gate < 1)).float().mean() > 0.9 for gate in gates)
    assert [len(output.encoder_hidden_states), len(output.decoder_hidden_states)] == [3, 4]
    last = output.decoder_hidden_states[-1]
    if config.normalize_before:  # states are taken before the norm that ends the stack
        assert not torch.allclose(
            output.encoder_hidden_states[-1], output.encoder_last_hidden_state
        )
        last = model.get_decoder().finished(last)
    torch.testing.assert_close(model.get_output_embeddings()(last), output.logits)
    assert plain.encoder_hidden_states is None
    assert plain.encoder_key_gates is None


def test_keys_and_values_are_mixed_as_the_equations_say() -> None:
    torch.manual_seed(1)
    states, embedded = torch.randn(2, 3, 16), torch.randn(2, 3, 16)
    for shortcut in ("lexical", "fusion"):
        attention = ShortcutAttention(small_config(shortcut=shortcut), "encoder", 0)
        keys, values, gates = attention.keys_and_values(states, embedded)
        for mixed, gate, kind, letter in (
            (keys, gates[0], "key", "k"),
            (values, gates[1], "value", "v"),
        ):
            plain_map = getattr(attention, f"{letter}_proj")
            if shortcut == "lexical":
                own_map = getattr(attention, f"sc_{letter}_proj")
                k_sc, k = own_map(embedded), plain_map(states)  # 5.5 and 5.7
            else:
                both = plain_map(torch.cat([embedded, states], -1))  # 5.13: E first
                k_sc, k = both[..., :16], both[..., 16:]
            r = torch.sigmoid(k_sc + k + getattr(attention, f"{kind}_gate_bias"))  # 5.9
            torch.testing.assert_close(gate, r)
            torch.testing.assert_close(mixed, r * k_sc + (1 - r) * k)  # 5.11


def test_gates_are_computed_in_fp32_whatever_the_precision() -> None:
    torch.manual_seed(2)
    shortcut, hidden, bias = (torch.randn(1, 5, 64, dtype=torch.bfloat16) for _ in range(3))
    mixed, gate = gated(shortcut, hidden, bias)
    assert (gate.dtype, mixed.dtype) == (torch.float32, torch.bfloat16)
    exact = torch.sigmoid(shortcut.double() + hidden.double() + bias.double())
    assert (gate - exact).abs().max() < 1e-6  # bf16 would be wrong by up to 2e-3
    model = small_model().to(torch.bfloat16)
    with torch.inference_mode():
        output = model(SOURCES, decoder_input_ids=INPUTS, output_gates=True)
    assert output.logits.dtype == torch.bfloat16
    assert output.logits.isfinite().all()
    assert {gate.dtype for gate in output.decoder_key_gates} == {torch.float32}


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradient_checkpointing_leaves_gradients_as_they_are(
    model: Any, use_reentrant: bool
) -> None:
    labels = INPUTS.masked_fill(INPUTS == PAD, -100)

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        torch.manual_seed(3)  # the same dropout
        model(SOURCES, labels=labels).loss.backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    model.train()
    expected = gradients()
    # renamed in transformers 5
    name = "activation_checkpointing_enable"
    enable = getattr(model, name, model.gradient_checkpointing_enable)
    enable({"use_reentrant": use_reentrant})
    assert all(layer.gradient_checkpointing for layer in model.get_decoder().layers)
    checkpointed = gradients()
    assert len(checkpointed) == len(expected) == len(list(model.parameters()))
    for gradient, plain in zip(checkpointed, expected, strict=True):
        torch.testing.assert_close(gradient, plain, atol=1e-5, rtol=1e-5)


def test_the_loss_is_that_of_the_labels_and_inputs_are_shifted_labels() -> None:
    model = small_model()
    labels = torch.tensor([[5, 6, EOS], [7, EOS, -100], [8, EOS, -100]])
    inputs = model.prepare_decoder_input_ids_from_labels(labels)
    assert inputs.tolist() == [[EOS, 5, 6], [EOS, 7, EOS], [EOS, 8, EOS]]
    with torch.inference_mode():
        output = model(SOURCES, labels=labels)
        logits = model(SOURCES, decoder_input_ids=inputs).logits
    expected = F.cross_entropy(logits[labels != -100], labels[labels != -100])
    torch.testing.assert_close(output.loss, expected)
    assert output.past_key_values is None
    with torch.inference_mode():
        as_tuple = model(SOURCES, labels=labels, return_dict=False)
    assert torch.equal(as_tuple[0], output.loss)
    assert torch.equal(as_tuple[1], output.logits)


def test_weights_start_as_in_the_authors_fairseq() -> None:
    torch.manual_seed(4)
    config = small_config(d_model=64, vocab_size=2000, shortcut_cross=True)
    model = LexicalShortcutForConditionalGeneration(config)
    attention: Any = model.get_encoder().layers[0].self_attn
    xavier = (6 / 128) ** 0.5
    for name, bound in (
        ("q_proj.weight", xavier / 2**0.5),
        ("k_proj.weight", xavier / 2**0.5),
        ("sc_v_proj.weight", xavier / 2**0.5),
        ("out_proj.weight", xavier),
        ("key_gate_bias", (3 / 64) ** 0.5),
        ("value_gate_bias", (3 / 64) ** 0.5),
    ):
        largest = attention.get_parameter(name).abs().max().item()
        assert 0.9 * bound < largest <= bound
    assert (attention.out_proj.bias == 0).all()
    table = model.get_input_embeddings().get_parameter("weight")
    assert table.std().item() == pytest.approx(64**-0.5, rel=0.05)
    assert (table[PAD] == 0).all()


def test_embeddings_of_the_source_are_needed_for_shortcuts_over_it() -> None:
    model = small_model(shortcut_cross=True)
    with torch.inference_mode():
        encoded = model.get_encoder()(SOURCES)
        known = model(encoder_outputs=encoded, decoder_input_ids=INPUTS).logits
        assert torch.equal(known, model(SOURCES, decoder_input_ids=INPUTS).logits)
    bare = BaseModelOutput(last_hidden_state=encoded.last_hidden_state)
    for outputs in (bare, (encoded.last_hidden_state,)):
        with pytest.raises(ValueError, match="encoder_outputs: expected the embeddings of the so"):
            model(encoder_outputs=outputs, decoder_input_ids=INPUTS)


def test_wrong_calls_are_refused() -> None:
    model = small_model()
    with pytest.raises(TypeError, match="unexpected options inputs_embeds"):
        model(SOURCES, decoder_input_ids=INPUTS, inputs_embeds=None)
    with pytest.raises(ValueError, match="decoder_input_ids: expected inputs of the decoder, or l"):
        model(SOURCES)
    with pytest.raises(ValueError, match="past_key_values: expected an EncoderDecoderCache of two"):
        model.generate(SOURCES, max_new_tokens=3, cache_implementation="static")
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    model(SOURCES, decoder_input_ids=INPUTS, past_key_values=cache, use_cache=True)
    with pytest.raises(ValueError, match=r"expected the shape \(3, 8\), tokens before included"):
        model(
            SOURCES,
            decoder_input_ids=INPUTS,
            decoder_attention_mask=torch.ones(3, 4),
            past_key_values=cache,
            use_cache=True,
        )
