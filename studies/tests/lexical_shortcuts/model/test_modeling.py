"""Models with lexical shortcuts agree with themselves, with plain models and with the equations."""

import ast
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutConfig
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration as Model
from cc_hf_studies.lexical_shortcuts.model.layers import ShortcutAttention, gated
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

import cc_hf
from cc_hf.errors import EvaluatorError
from studies.tests.lexical_shortcuts.contract_cases import save_tiny_lexical_shortcut
from studies.tests.lexical_shortcuts.shortcut_models import (
    EOS,
    INPUTS,
    PAD,
    SOURCES,
    VARIANTS,
    small_config,
    small_model,
)
from tests.helpers.usual import cases, fails

_CLOSE = 1e-5
_REAL = INPUTS != PAD
_BASE = {"d_model": 512}
_HEADS = {"encoder_attention_heads": 16, "decoder_attention_heads": 16}
_BIG = {"d_model": 1024, **_HEADS, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096}


@pytest.fixture(params=VARIANTS)
def model(request: pytest.FixtureRequest) -> Model:
    return small_model(**VARIANTS[request.param])


@torch.inference_mode()
def passed(model: Any, sources: Any = SOURCES, inputs: Any = INPUTS, **options: Any) -> Any:
    return model(sources, decoder_input_ids=inputs, **options)


def _n_parameters(**changes: Any) -> int:
    with torch.device("meta"):
        model = Model(LexicalShortcutConfig(**changes))
    assert all(parameter.is_meta for parameter in model.parameters())
    return sum(parameter.numel() for parameter in model.parameters())


@cases(
    (_BASE, "none", 65_166),
    (_BASE, "lexical", 71_470),
    (_BASE, "fusion", 84_053),
    (_BIG, "none", 218_413),
    (_BIG, "fusion", 293_935),
)
def test_parameters_fit_table_5_1(sizes: dict[str, int], shortcut: str, thousands: int) -> None:
    """The thesis counts the first program, which has no biases in attention and a norm at the end
    of each stack. 41,138 symbols, which it does not print, are the only number that fits all rows.
    """
    form = {"shortcut": shortcut, "attention_bias": False, "normalize_before": True}
    assert round(_n_parameters(vocab_size=41_138, **form, **sizes) / 1000) == thousands


@pytest.mark.parametrize("d", [512, 1024])
@pytest.mark.parametrize("n_layers", [1, 6])
@pytest.mark.parametrize("bias", [True, False])
def test_shortcuts_add_the_parameters_of_the_formulas(d: int, n_layers: int, bias: bool) -> None:
    gated, fused = (n * d * d + (2 * d if bias else d) for n in (1, 3))

    def n(shortcut: str = "lexical", **changes: Any) -> int:
        layers = {"encoder_layers": n_layers, "decoder_layers": 2}
        form = {"shortcut": shortcut, "attention_bias": bias}
        return _n_parameters(d_model=d, **layers, **form, **changes)

    assert n() - n("none") == (n_layers + 2) * 2 * gated
    assert n("fusion") - n("none") == (n_layers + 2) * 2 * fused
    assert n() - n("residual") == (n_layers + 2) * 2 * d  # the biases of the gates
    assert n(shortcut_encoder=False) - n("none") == 2 * 2 * gated
    assert n(shortcut_cross=True) - n() == 2 * 2 * gated
    assert n(shortcut_source="non_lexical") == n()


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "separate"])
def test_a_model_without_shortcuts_equals_fsmt_of_the_same_weights(shared: bool) -> None:
    n_target = 40 if shared else 30
    model = small_model(shortcut="none", share_embeddings=shared, tgt_vocab_size=n_target)
    parts = product(("encoder", "decoder"), ("layers", "attention_heads", "ffn_dim"))
    sizes = {name: getattr(model.config, name) for name in ("d_model", *map("_".join, parts))}
    sizes |= {"src_vocab_size": 40, "tgt_vocab_size": n_target, "max_position_embeddings": 64}
    fsmt = FSMTForConditionalGeneration(FSMTConfig(**sizes, tie_word_embeddings=shared)).eval()
    names = {"lm_head.weight": "model.decoder.output_projection.weight"}
    weights = {names.get(name, name): weight for name, weight in model.state_dict().items()}
    missing, left = fsmt.load_state_dict(weights, strict=False)
    assert not left
    assert all("embed_positions" in name for name in missing)
    for n in (3, 1):
        rows, mask = (SOURCES[:n], INPUTS[:n]), (SOURCES[:n] != PAD).long()
        expected = passed(fsmt, *rows, attention_mask=mask, use_cache=False).logits
        assert (passed(model, *rows).logits - expected)[_REAL[:n]].abs().max() < _CLOSE


def test_incremental_decoding_equals_the_whole_pass(model: Any) -> None:
    whole = passed(model, use_cache=False)
    assert whole.past_key_values is None
    for widths in ([1, 1, 1, 1], [2, 1, 1], [3, 1]):
        cache, logits = None, []
        for inputs in torch.split(INPUTS, widths, dim=1):
            step = passed(model, inputs=inputs, past_key_values=cache, use_cache=True)
            cache = step.past_key_values
            logits.append(step.logits)
        assert (torch.cat(logits, dim=1) - whole.logits)[_REAL].abs().max() < _CLOSE


def _padded_left(rows: torch.Tensor) -> torch.Tensor:
    return torch.stack([torch.cat([row[row == PAD], row[row != PAD]]) for row in rows])


def test_left_and_right_padding_agree(model: Any) -> None:
    expected = passed(model).logits[_REAL]
    for sources, inputs in product(*((x, _padded_left(x)) for x in (SOURCES, INPUTS))):
        mask = {"attention_mask": (sources != PAD).long()}
        for options in ({**mask, "decoder_attention_mask": (inputs != PAD).long()}, {}, mask):
            logits = passed(model, sources, inputs, **options).logits
            assert logits.isfinite().all()
            assert (logits[inputs != PAD] - expected).abs().max() < _CLOSE
    rows = [(a[a != PAD][None], b[b != PAD][None]) for a, b in zip(SOURCES, INPUTS, strict=True)]
    alone = [passed(model, *row).logits[0] for row in rows]
    assert (torch.cat(alone) - expected).abs().max() < _CLOSE


def test_beams_are_the_same_with_and_without_a_cache(model: Any) -> None:
    options = {"num_beams": 4, "num_return_sequences": 4, "max_new_tokens": 9, "do_sample": False}
    with_cache, without = (model.generate(SOURCES, use_cache=on, **options) for on in (True, False))
    assert with_cache.tolist() == without.tolist()
    assert len({tuple(row) for row in with_cache.tolist()}) > 4  # beams differ
    assert model.generate(_padded_left(SOURCES), **options).tolist() == with_cache.tolist()


def test_reordered_beams_continue_as_their_own_beginnings(model: Any) -> None:
    order = torch.tensor([2, 0, 0])
    beginnings, last = INPUTS[:, :2], torch.tensor([[7], [8], [9]])
    cache = passed(model, inputs=beginnings, use_cache=True).past_key_values
    cache.reorder_cache(order)
    step = passed(model, SOURCES[order], last, past_key_values=cache, use_cache=True)
    inputs = torch.cat([beginnings[order], last], dim=1)
    whole = passed(model, SOURCES[order], inputs, use_cache=False)
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
    assert type(loaded) is Model
    assert not {*report["missing_keys"], *report["unexpected_keys"]}
    config = model.config
    assert loaded.config.to_diff_dict() == config.to_diff_dict()
    for one_more in (loaded, loaded.to(torch.float64).float()):
        assert torch.equal(passed(one_more).logits, passed(model).logits)
    decoder = loaded.get_decoder()
    parts = (loaded.get_input_embeddings(), decoder.embed_tokens, loaded.get_output_embeddings())
    n_tables = len({id(table.weight) for table in parts})
    assert n_tables == 3 - config.share_embeddings - config.tie_word_embeddings


def test_a_folder_carries_its_code_which_does_not_import_cc_hf(tmp_path: Path) -> None:
    model = small_model(shortcut_cross=True)
    model.save_pretrained(tmp_path)
    allowed = {*sys.stdlib_module_names, "torch", "transformers"}
    for path in tmp_path.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
                name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert str(name).partition(".")[0] in allowed
    # This is what trust_remote_code=True loads where the class is not known.
    carried = AutoConfig.from_pretrained(tmp_path).auto_map["AutoModelForSeq2SeqLM"]
    loaded = get_class_from_dynamic_module(carried, str(tmp_path)).from_pretrained(tmp_path).eval()
    assert type(loaded).__module__.startswith("transformers_modules.")
    assert type(loaded.config).__module__.startswith("transformers_modules.")
    assert torch.equal(passed(loaded).logits, passed(model).logits)
    beams = [m.generate(SOURCES, num_beams=2, max_new_tokens=4) for m in (loaded, model)]
    assert torch.equal(*beams)


def _inputs_of_attention(model: Any) -> tuple[Any, dict[str, list[torch.Tensor]]]:
    """Return the output of one pass, and what the shortcuts of every layer read, by part."""
    read: dict[str, list[torch.Tensor]] = {"encoder": [], "decoder": [], "cross": []}

    def keep(name: str) -> Callable[..., None]:
        part = "cross" if name.endswith("encoder_attn") else name.split(".")[1]
        return lambda _module, arguments: read[part].append(arguments[2])

    actual = [(n, m) for n, m in model.named_modules() if isinstance(m, ShortcutAttention)]
    handles = [module.register_forward_pre_hook(keep(name)) for name, module in actual]
    output = passed(model, output_hidden_states=True)
    for handle in handles:
        handle.remove()
    return output, read


def test_all_layers_read_one_draw_of_dropped_out_embeddings() -> None:
    model = small_model(shortcut_cross=True, dropout=0.5).train()
    output, read = _inputs_of_attention(model)
    embedded = {side: output[f"{side}_hidden_states"][0] for side in ("encoder", "decoder")}
    embedded["cross"] = embedded["encoder"]
    for part, n_layers in (("encoder", 2), ("decoder", 3), ("cross", 3)):
        assert [tensor is embedded[part] for tensor in read[part]] == [True] * n_layers
    assert 0.3 < (embedded["encoder"][SOURCES != PAD] == 0).float().mean() < 0.7
    other, _ = _inputs_of_attention(model)
    assert not torch.equal(embedded["encoder"], other["encoder_hidden_states"][0])


def test_non_lexical_shortcuts_read_the_layer_two_below() -> None:
    model = small_model(shortcut_source="non_lexical", encoder_layers=5)
    output, read = _inputs_of_attention(model)
    for side, below in (("encoder", [0, 0, 1, 2, 3]), ("decoder", [0, 0, 1])):
        states = output[f"{side}_hidden_states"]
        assert all(tensor is states[n] for tensor, n in zip(read[side], below, strict=True))


@torch.inference_mode()
def test_embeddings_are_scaled_tokens_with_positions_and_zero_at_padding() -> None:
    model = small_model()
    padded = _padded_left(SOURCES)
    outputs = [passed(model, rows, output_hidden_states=True) for rows in (SOURCES, padded)]
    embedded, again = (output.encoder_hidden_states[0] for output in outputs)
    assert (embedded[SOURCES == PAD] == 0).all()
    angles = 3 * 10_000 ** -(torch.arange(8) / 7)  # the second token; fairseq counts from 2
    table = torch.cat([angles.sin(), angles.cos()])
    expected = 4 * model.get_input_embeddings().get_parameter("weight")[6] + table
    torch.testing.assert_close(embedded[0, 1], expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(again[padded != PAD], embedded[SOURCES != PAD])


@torch.inference_mode()
def test_outputs_have_gates_and_states_of_each_part_that_has_shortcuts(model: Any) -> None:
    config = model.config
    output = passed(model, output_hidden_states=True, output_gates=True)
    plain = passed(model)
    for part, n_layers in (("encoder", 2), ("decoder", 3), ("cross", 3)):
        for kind in ("key", "value"):
            gates = output.get(f"{part}_{kind}_gates")
            if config.shortcuts_of(part) in ("none", "residual"):
                assert gates is None
                continue
            length = (INPUTS if part == "decoder" else SOURCES).shape[1]
            assert [tuple(gate.shape) for gate in gates] == [(3, length, 16)] * n_layers
            assert all(((gate > 0) & (gate < 1)).float().mean() > 0.9 for gate in gates)
    encoded, decoded = output.encoder_hidden_states, output.decoder_hidden_states
    assert [len(encoded), len(decoded)] == [3, 4]
    last = decoded[-1]
    if config.normalize_before:  # states are taken before the norm that ends the stack
        assert not torch.allclose(encoded[-1], output.encoder_last_hidden_state)
        last = model.get_decoder().finished(last)
    torch.testing.assert_close(model.get_output_embeddings()(last), output.logits)
    assert plain.encoder_hidden_states is plain.encoder_key_gates is None


@pytest.mark.parametrize("shortcut", ["lexical", "fusion", "residual"])
def test_keys_and_values_are_mixed_as_the_equations_say(shortcut: str) -> None:
    torch.manual_seed(1)
    states, embedded = torch.randn(2, 3, 16), torch.randn(2, 3, 16)
    attention = ShortcutAttention(small_config(shortcut=shortcut), "encoder", 0)
    *mixtures, gates = attention.keys_and_values(states, embedded)
    for mixed, gate, kind in zip(mixtures, gates, ("key", "value"), strict=True):
        plain_map = getattr(attention, f"{kind[0]}_proj")
        if shortcut != "fusion":
            own_map = getattr(attention, f"sc_{kind[0]}_proj")
            k_sc, k = own_map(embedded), plain_map(states)  # 5.5 and 5.7
        else:
            # 5.13: E first
            k_sc, k = plain_map(torch.cat([embedded, states], -1)).split(16, dim=-1)
        if shortcut == "residual":
            torch.testing.assert_close(mixed, k_sc + k)
            continue
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
    output = passed(small_model().to(torch.bfloat16), output_gates=True)
    assert output.logits.dtype == torch.bfloat16
    assert output.logits.isfinite().all()
    assert {gate.dtype for gate in output.decoder_key_gates} == {torch.float32}


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradient_checkpointing_keeps_the_gradients(model: Any, use_reentrant: bool) -> None:
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
    getattr(model, name, model.gradient_checkpointing_enable)({"use_reentrant": use_reentrant})
    assert all(layer.gradient_checkpointing for layer in model.get_decoder().layers)
    checkpointed = gradients()
    assert len(checkpointed) == len(expected) == len(list(model.parameters()))
    for gradient, plain in zip(checkpointed, expected, strict=True):
        torch.testing.assert_close(gradient, plain, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_the_loss_is_that_of_the_labels_and_inputs_are_shifted_labels() -> None:
    model = small_model()
    labels = torch.tensor([[5, 6, EOS], [7, EOS, -100], [8, EOS, -100]])
    inputs = model.prepare_decoder_input_ids_from_labels(labels)
    assert inputs.tolist() == [[EOS, 5, 6], [EOS, 7, EOS], [EOS, 8, EOS]]
    output, logits = model(SOURCES, labels=labels), passed(model, inputs=inputs).logits
    expected = F.cross_entropy(logits[labels != -100], labels[labels != -100])
    torch.testing.assert_close(output.loss, expected)
    assert output.past_key_values is None
    as_tuple = model(SOURCES, labels=labels, return_dict=False)
    assert torch.equal(as_tuple[0], output.loss)
    assert torch.equal(as_tuple[1], output.logits)


def test_weights_start_as_in_the_authors_fairseq() -> None:
    torch.manual_seed(4)
    model = Model(small_config(d_model=64, vocab_size=2000, shortcut_cross=True))
    attention: Any = model.get_encoder().layers[0].self_attn
    xavier = (6 / 128) ** 0.5
    bounds = dict.fromkeys(("q_proj.weight", "k_proj.weight", "sc_v_proj.weight"), xavier / 2**0.5)
    bounds |= dict.fromkeys(("key_gate_bias", "value_gate_bias"), (3 / 64) ** 0.5)
    for name, bound in {**bounds, "out_proj.weight": xavier}.items():
        assert 0.9 * bound < attention.get_parameter(name).abs().max().item() <= bound
    assert (attention.out_proj.bias == 0).all()
    table = model.get_input_embeddings().get_parameter("weight")
    assert table.std().item() == pytest.approx(64**-0.5, rel=0.05)
    assert (table[PAD] == 0).all()


@torch.inference_mode()
def test_embeddings_of_the_source_are_needed_for_shortcuts_over_it() -> None:
    model = small_model(shortcut_cross=True)
    encoded = model.get_encoder()(SOURCES)
    known = model(encoder_outputs=encoded, decoder_input_ids=INPUTS).logits
    assert torch.equal(known, passed(model).logits)
    bare = BaseModelOutput(last_hidden_state=encoded.last_hidden_state)
    for outputs in (bare, (encoded.last_hidden_state,)):
        fails(
            ValueError,
            "encoder_outputs: expected the embeddings of the so",
            model,
            encoder_outputs=outputs,
            decoder_input_ids=INPUTS,
        )


def test_wrong_calls_are_refused() -> None:
    model = small_model()
    fails(TypeError, "unexpected options inputs_embeds", passed, model, inputs_embeds=None)
    fails(ValueError, "decoder_input_ids: expected inputs of the decoder, or l", model, SOURCES)
    fails(
        ValueError,
        "past_key_values: expected an EncoderDecoderCache of two",
        model.generate,
        SOURCES,
        max_new_tokens=3,
        cache_implementation="static",
    )
    cached = {"past_key_values": EncoderDecoderCache(DynamicCache(), DynamicCache())}
    passed(model, use_cache=True, **cached)
    fails(
        ValueError,
        r"expected the shape \(3, 8\), tokens before included",
        passed,
        model,
        decoder_attention_mask=torch.ones(3, 4),
        use_cache=True,
        **cached,
    )


def test_generate_reads_the_size_of_the_target_vocabulary() -> None:
    config = small_config(share_embeddings=False, tgt_vocab_size=30)
    assert (config.vocab_size, config.get_text_config().vocab_size) == (40, 30)
    assert config.get_text_config(decoder=True).vocab_size == 30
    assert config.get_text_config(encoder=True).vocab_size == 40
    assert small_config().get_text_config().vocab_size == 40


_CROSS = {"shortcut_cross": True}


@cases(
    ({"cross_self_attention": True}, "cross_self_attention: not supported"),
    ({**_CROSS, "shortcut_source": "non_lexical"}, "_cross: not supported with shortcut_sou"),
    ({"shortcut": "gated"}, "shortcut: expected one of none, lexical, fusion, residual, got"),
    ({"shortcut_source": "lexicla"}, "shortcut_source: expected one of.*got 'lexicla'"),
    ({"activation_function": "swish"}, "activation_function: expected one of.*got 'swish'"),
    ({"tgt_vocab_size": 30}, "share_embeddings: sides with vocab_size=40 and tgt_vocab_size=3"),
    ({"decoder_attention_heads": 3}, "decoder_attention_heads: expected a divisor of.*got 3"),
    ({"encoder_layers": 0}, "encoder_layers: expected a number above 0, got 0"),
    ({"d_model": 2}, "d_model: expected at least 4, got 2"),
    ({"dropout": 1.5}, r"dropout: expected a share from 0 to 1, got 1\.5"),
    ({"pad_token_id": None}, "pad_token_id: expected the id of padding, got None"),
)
def test_settings_without_a_model_are_refused(changes: dict[str, Any], message: str) -> None:
    fails(ValueError, message, small_config, **changes)


def test_weights_of_another_form_are_refused_by_name(tmp_path: Path) -> None:
    save_tiny_lexical_shortcut(tmp_path)
    config = AutoConfig.from_pretrained(tmp_path)
    for changes, message in (
        ({"shortcut": "none"}, r"has no place for, \d+ of the weights: .*key_gate_bias"),
        ({"shortcut": "fusion"}, r"k_proj.* \[16, 16\], expected \[32, 32\]"),
        ({"layernorm_embedding": True}, r"lack 4 of the weights: .*layernorm_embedding"),
    ):
        changed = LexicalShortcutConfig(**{**config.to_dict(), **changes})
        changed.architectures = config.architectures
        changed.save_pretrained(tmp_path)
        fails(EvaluatorError, message, cc_hf.load_evaluator, tmp_path)


def test_a_configuration_that_is_refused_names_the_model_and_the_reason(tmp_path: Path) -> None:
    save_tiny_lexical_shortcut(tmp_path)
    path = tmp_path / "config.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("{", '{"cross_self_attention": true,', 1), encoding="utf-8")
    fails(EvaluatorError, "cross_self_attention: not supported", cc_hf.load_evaluator, tmp_path)


def test_the_configuration_of_a_model_is_not_changed_by_generation() -> None:
    model = small_model(share_embeddings=False, tgt_vocab_size=30)
    before = model.config.to_dict()
    asked = {"return_dict_in_generate": True, "output_scores": True}
    output = model.generate(SOURCES[:1], num_beams=2, max_new_tokens=3, **asked)
    beams = (output.sequences, output.scores, output.beam_indices)
    assert model.compute_transition_scores(*beams, normalize_logits=False).shape[0] == 1
    assert model.config.to_dict() == before
