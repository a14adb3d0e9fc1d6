"""Cases of the study for the contracts of all studies."""

from itertools import product
from pathlib import Path

import torch
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutConfig
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration as Model
from safetensors.torch import load_file
from transformers import MarianTokenizer

from tests.helpers.command_line import read_json
from tests.helpers.contract_cases import ContractCases, FamilyCase
from tests.helpers.fairseq_models import options, reference_logprobs
from tests.helpers.models import N_POSITIONS, SIZES, save_tiny_marian


def save_tiny_lexical_shortcut(folder: Path) -> Path:
    """A model with shortcuts in all attention, whose decoder starts with <pad> as its tokenizer,
    that of Marian, has it.
    """
    save_tiny_marian(folder, max_positions=N_POSITIONS)
    names = ("vocab_size", "pad_token_id", "eos_token_id", "decoder_start_token_id")
    marks = {name: read_json(folder / "config.json")[name] for name in names}
    torch.manual_seed(7)
    model = Model(LexicalShortcutConfig(**SIZES, **marks, shortcut_cross=True))
    for name, weight in model.named_parameters():
        if name.endswith(("proj.weight", "gate_bias", "fc1.weight", "fc2.weight")):
            torch.nn.init.normal_(weight, std=0.4)
    model.save_pretrained(folder)
    return folder


def plain_logprobs(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score by a plain version of fairseq's transformer in float64, from the file of weights."""
    tokenizer = MarianTokenizer.from_pretrained(folder)
    saved = load_file(folder / "model.safetensors")
    weights = {name.removeprefix("model."): weight for name, weight in saved.items()}
    # one matrix is saved under one of its names
    table = next(weights[name] for name in weights if name.endswith("embed_tokens.weight"))
    for name in ("encoder.embed_tokens", "decoder.embed_tokens", "decoder.output_projection"):
        weights[f"{name}.weight"] = table
    parts = product(("encoder", "decoder"), ("layers", "attention_heads"))
    config, names = read_json(folder / "config.json"), ["_".join(part) for part in parts]
    chosen = options(**{name: config[name] for name in names})
    ids, labels = tokenizer(source)["input_ids"], tokenizer(text_target=translation)["input_ids"]
    start = tokenizer.pad_token_id
    return torch.from_numpy(reference_logprobs(weights, chosen, ids, labels, start=start))


_TORCH = "training checkpoint_averaging classifier conversion family model probe states"
CASES = ContractCases(
    families={"lexical_shortcut": FamilyCase(save_tiny_lexical_shortcut, plain_logprobs)},
    torch_modules=tuple(_TORCH.split()),
    tables=(("published",),),
    reproduced={"study lexical_shortcuts probe": "test_probe.py"},
)
