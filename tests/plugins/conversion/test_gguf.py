"""A language model in GGUF becomes a folder that gives the same log-probabilities."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

from cc_hf import load_evaluator
from cc_hf.plugins.conversion import gguf_file
from tests.helpers.usual import cc_hf

gguf = pytest.importorskip("gguf", reason="gguf (extra `gguf`) is not installed")
_TEXTS = ["ab ba", "b a b"]


@pytest.fixture(scope="module")
def model() -> Any:
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=7, **sizes, **heads, tie_word_embeddings=True)
    return AutoModelForCausalLM.from_config(config).eval()


def write(path: Path, model: Any, *, half: bool = False) -> Path:
    """Write a model as llama.cpp does: names of its own, and rows of attention in its order."""
    config = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<|endoftext|>", "<s>", "</s>", "a", "b", "Ġ", "ab"])
    writer.add_token_types([2, 3, 3, 1, 1, 1, 1])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_license("other")
    writer.add_license_name("terms: of their own")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight":  # it is that of the embeddings
            continue
        array = tensor.numpy()
        if "q_proj" in name or "k_proj" in name:
            heads = config.num_attention_heads
            array = array.reshape(heads, 2, -1, array.shape[1]).swapaxes(1, 2).reshape(array.shape)
        if half and array.ndim == 2:
            array = array.astype(np.float16)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def logprobs(model: Any, tokenizer: Any) -> list[Any]:
    with torch.inference_mode():
        ids = [torch.tensor([tokenizer(text)["input_ids"]]) for text in _TEXTS]
        return [model(input_ids=row).logits.log_softmax(-1) for row in ids]


@pytest.mark.parametrize("half", [False, True])
def test_a_converted_model_has_the_log_probabilities_of_its_file(
    model: Any, half: bool, tmp_path: Path
) -> None:
    write(tmp_path / "tiny.gguf", model, half=half)
    shown = cc_hf("convert", tmp_path / "tiny.gguf", "-o", tmp_path / "out").stdout
    assert "llama" in shown
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.tokenize(_TEXTS[0]) == ["ab", "Ġ", "b", "a"]
    pairs = zip(logprobs(loaded, tokenizer), logprobs(model, tokenizer), strict=True)
    for actual, expected in pairs:
        torch.testing.assert_close(actual, expected, rtol=0, atol=2e-3 if half else 1e-5)
    assert load_evaluator(tmp_path / "out").signature_fields()["eval"]
    data = ModelCard.load(tmp_path / "out/README.md").data
    assert (data.license, data.license_name) == ("other", "terms: of their own")


def test_files_that_cannot_be_converted_leave_nothing(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = tmp_path / "tiny.gguf", tmp_path / "out"
    file.write_bytes(b"GGUF" + bytes(50))
    assert "could not be loaded" in cc_hf("convert", file, "-o", out, status=2).stderr
    words = ("convert", file, "-o", out, "--fairseq-option", "codes=x")
    assert "got the file" in cc_hf(*words, status=2).stderr
    write(file, model)
    values = iter((torch.zeros(1), torch.ones(1)))
    with monkeypatch.context() as patches:
        patches.setattr(gguf_file, "_logprobs", lambda *of: next(values))
        assert "got others" in cc_hf("convert", file, "-o", out, status=2).stderr
    monkeypatch.setattr(gguf_file, "find_spec", lambda name: None)
    assert "cc_hf[gguf]" in cc_hf("convert", file, "-o", out, status=2).stderr
    assert not out.exists()
