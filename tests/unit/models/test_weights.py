"""Models with incomplete or damaged files, or of another kind than requested, are refused by every
entry point; others are loaded with the classes and languages of their files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import cc_hf
from cc_hf import registry
from cc_hf.errors import CCError, EvaluatorError
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.models.location import TINY_EN_DE
from cc_hf.models.pretrained import load_model
from cc_hf.systems.translate import translate
from tests.helpers import families
from tests.helpers.families import BUILDERS
from tests.helpers.models import save_tiny_bert, save_tiny_masked_lm
from tests.helpers.usual import (
    EN_DE,
    cases,
    evaluate_dataset,
    fails,
    printed_by,
    read_json,
    refuses,
    write_lines,
    write_text,
)

WEIGHTS = "model.safetensors"
Made = dict[str, Path]


_INDEX = f"{WEIGHTS}.index.json"


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> Path:
    weights = {name: weight.clone() for name, weight in load_file(folder / WEIGHTS).items()}
    change(weights)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    return folder


def change_json(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**read_json(path), **fields}), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Save one tiny model of every family, which no test changes."""
    builders = families.BUILDERS.items()
    return {family: build(tmp_path_factory.mktemp(family)) for family, build in builders}


def score(folder: Path) -> Any:
    return cc_hf.load_evaluator(folder).mean_logprobs(["The nurse."], ["Ja."], **EN_DE)


@pytest.fixture(params=sorted(families.BUILDERS))
def folder(request: pytest.FixtureRequest, made: Made, tmp_path: Path) -> Path:
    """Return a copy of one of them."""
    return shutil.copytree(made[request.param], tmp_path / "model")


@pytest.fixture
def marian(made: Made, tmp_path: Path) -> Path:
    return shutil.copytree(made["marian"], tmp_path / "marian")


# weights


_EMBEDDINGS = tuple(f"{n}.weight" for n in ("shared", "embed_tokens", "wte", "word_embeddings"))


def test_wrong_weights_are_refused_in_every_family(folder: Path) -> None:
    whole = {name: weight.clone() for name, weight in load_file(folder / WEIGHTS).items()}
    names = sorted(name for name in whole if "1" in name.split("."))
    embedding = next(name for name in whole if name.endswith(_EMBEDDINGS))
    more = ".".join("2" if part == "1" else part for part in names[-1].split("."))
    size = rf"another shape .* configuration says 1 of the weights: {names[0]} \[3\], expected \["
    for dropped, added, message in (
        (names, {}, rf"they lack|its files lack {len(names)} of the weights: {names[0]}"),
        ([embedding], {}, r"its files lack \d of the weights"),
        ([], {more: whole[names[-1]].clone()}, rf"has no place for, 1 of the weights: {more}"),
        ([], {names[0]: torch.zeros(3)}, size),
    ):
        kept = {name: weight for name, weight in whole.items() if name not in dropped}
        save_file({**kept, **added}, folder / WEIGHTS, metadata={"format": "pt"})
        fails(EvaluatorError, message, cc_hf.load_evaluator, folder)


_TOO_LARGE = {
    ("_layers", "n_layer"): 10**9,
    ("vocab_size",): 2**40,
    ("d_model", "hidden_size"): 2**40,
}


@pytest.mark.parametrize(("endings", "value"), _TOO_LARGE.items(), ids=str)
def test_excessive_sizes_are_refused(folder: Path, endings: tuple[str, ...], value: int) -> None:
    config = read_json(folder / "config.json")
    changes = {name: value for name in config if name.endswith(endings)} or {"d_model": value}
    change_json(folder / "config.json", **changes)
    fails(EvaluatorError, r"sizes in config\.json that fit its files", cc_hf.load_evaluator, folder)


@cases(
    ("masked_lm", ["bert.pooler.dense.weight", "cls.seq_relationship.bias"]),
    ("masked_lm", ["bert.embeddings.position_ids"]),
    ("m2m_100", ["model.encoder.embed_positions.weights", "model.encoder.version"]),
    ("t5", ["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"]),
    ("causal_lm", ["transformer.h.0.attn.bias"]),
    ("fsmt", ["model.decoder.embed_positions._float_tensor"]),
)
def test_unused_weights_are_ignored(family: str, extra: Any, made: Made, tmp_path: Path) -> None:
    folder = shutil.copytree(made[family], tmp_path / "model")
    change_weights(folder, lambda weights: weights.update({name: torch.zeros(2) for name in extra}))
    assert score(folder) == score(made[family])


def test_missing_sinusoidal_tables_are_computed(made: Made, tmp_path: Path) -> None:
    """The models for WMT19 on the Hub have no such tables in their files."""
    folder = shutil.copytree(made["fsmt"], tmp_path / "model")
    tables = [name for name in load_file(folder / WEIGHTS) if "embed_positions" in name]
    change_weights(folder, lambda weights: [weights.pop(name) for name in tables])
    assert len(tables) == 2
    assert score(folder) == score(made["fsmt"])


def without_a_layer(folder: Path) -> Path:
    names = [name for name in load_file(folder / WEIGHTS) if ".1." in name]
    return change_weights(folder, lambda weights: [weights.pop(name) for name in names])


def test_incomplete_models_are_refused_by_every_entry_point(marian: Path, tmp_path: Path) -> None:
    from cc_hf.plugins.calibration.fill_mask import load_masked_lm

    without_a_layer(marian)
    texts = write_lines(tmp_path / "t.txt", ["Ja."])
    columns = "source,focus,correct_cues,incorrect_cues,tgt_lang"
    rows = write_lines(tmp_path / "rows.csv", [columns, "The bat.,bat,wooden,flying,de"])
    masked = without_a_layer(save_tiny_masked_lm(tmp_path / "masked"))
    refused = partial(fails, EvaluatorError, r"its files lack \d+ of the weights: ")
    refused(cc_hf.load_evaluator, [marian, marian])
    refused(translate, ["The bat."], marian)
    refused(evaluate_dataset, str(rows), translations=texts, evaluator=str(marian))
    refused(evaluate_dataset, str(rows), system=marian)
    refused(load_masked_lm, masked)
    refused(printed_by, "evaluate --cache no", rows, "--translations", texts, "--evaluator", marian)


def test_shards_load_from_subfolders_but_not_from_hidden_ones(marian: Path) -> None:
    weights = load_file(marian / WEIGHTS)
    (marian / WEIGHTS).unlink()
    (marian / "shards").mkdir()
    save_file(weights, marian / "shards/one.safetensors", metadata={"format": "pt"})
    index = write_text(marian / _INDEX, '{"metadata": {}}')
    change_json(index, weight_map=dict.fromkeys(weights, "shards/one.safetensors"))
    assert score(marian).shape == (1,)
    (marian / "shards").rename(marian / ".shards")
    change_json(index, weight_map=dict.fromkeys(weights, ".shards/one.safetensors"))
    fails(EvaluatorError, r"safetensors.index.json names files that", cc_hf.load_evaluator, marian)


# kinds

# kind -> other families whose models it fits
_T5 = ["t5", "mt5", "umt5"]
_ALSO = {"small100": ["m2m_100"], **dict.fromkeys(_T5, _T5)}


loaded_once = cache(load_model)


@pytest.mark.parametrize("kind", registry.names("evaluator family"))
def test_a_kind_that_does_not_fit_the_model_is_refused(made: Made, kind: str) -> None:
    for family, folder in made.items():
        if family in (kind, *_ALSO.get(kind, [])):
            evaluator = cc_hf.load_evaluator(folder, kind=kind)
            assert type(evaluator) is registry.resolve("evaluator family", kind)
            assert evaluator.mean_logprobs(["a"], ["b"], **EN_DE).shape == (1,)
        else:
            refuses(
                rf"a model of type .* which '{kind}' does not fit; expected .*'{family}'",
                cc_hf.load_evaluator,
                folder,
                kind=kind,
            )
            read = loaded_once(folder)
            if (kind, family) == ("m2m_100", "small100"):
                continue  # both have the same class of tokenizer in memory
            refuses(rf"'{kind}' does not fit", evaluator_of, read.model, read.tokenizer, kind=kind)


def test_a_tokenizer_of_another_family_is_refused(made: Made, tmp_path: Path) -> None:
    others = ("marian", "t5", "Marian"), ("nllb", "t5", "M2M100"), ("mbart", "nllb", "MBart")
    for model, tokenizer, expected in others:
        folder = shutil.copytree(made[tokenizer], tmp_path / model)
        for name in ("config.json", "generation_config.json", WEIGHTS):
            shutil.copy(made[model] / name, folder / name)
        fails(EvaluatorError, rf"a tokenizer of a class {expected}", cc_hf.load_evaluator, folder)


# damage


def _text(name: str, content: str | bytes) -> Callable[[Path], object]:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


def _cut(name: str, n: int) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:n])


def _drop(*names: str) -> Callable[[Path], object]:
    return lambda folder: [*map(Path.unlink, (folder / name for name in names))]


def _configured(name: str = "config.json", **fields: Any) -> Callable[[Path], object]:
    return lambda folder: change_json(folder / name, **fields)


def _replaced(name: str, content: str | bytes) -> Callable[[Path], object]:
    return lambda folder: (_drop(WEIGHTS)(folder), _text(name, content)(folder))


def _without_unknown(folder: Path) -> None:
    vocabulary = read_json(folder / "vocab.json")
    del vocabulary["<unk>"]
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")


def _pickled(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    # a class that torch does not load
    torch.save({"weight": Path("x")}, folder / "pytorch_model.bin")


def _in_a_loop(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).symlink_to(folder / WEIGHTS)


_DAMAGE: dict[str, Callable[[Path], object]] = {
    "config empty": _text("config.json", ""),
    "config cut": _cut("config.json", 100),
    "config is bytes": _text("config.json", b"\xff\xfe\x00"),
    "config is a list": _text("config.json", "[]"),
    "config is null": _text("config.json", "null"),
    "config without type": _text("config.json", "{}"),
    "config of another type": _configured(model_type="nothing"),
    "config missing": _drop("config.json"),
    "sizes are texts": _configured(d_model="wide"),
    "heads do not divide": _configured(encoder_attention_heads=7),
    "negative size": _configured(d_model=-16),
    "more layers": _configured(decoder_layers=9),
    "fewer layers": _configured(decoder_layers=1),
    "another width": _configured(encoder_ffn_dim=48),
    "smaller vocabulary": _configured(vocab_size=50, decoder_vocab_size=50),
    "pad beyond vocabulary": _configured(pad_token_id=10**6),
    "unknown activation": _configured(activation_function="none"),
    "weights empty": _text(WEIGHTS, b""),
    "weights cut in the header": _cut(WEIGHTS, 40),
    "weights cut in the data": _cut(WEIGHTS, -1000),
    "weights are text": _text(WEIGHTS, "nothing" * 100),
    "weights are html": _text(WEIGHTS, "<!DOCTYPE html>"),
    "weights a pointer of git-lfs": _text(WEIGHTS, "version https://git-lfs.github.com/spec/v1\n"),
    "weights missing": _drop(WEIGHTS),
    "weights link to themselves": _in_a_loop,
    "weights of another model": lambda folder: save_file({"x": torch.zeros(2)}, folder / WEIGHTS),
    "a pickle": _pickled,
    "an empty pickle": _replaced("pytorch_model.bin", b""),
    "an index without files": _replaced(_INDEX, '{"weight_map": {"a": "no.safetensors"}}'),
    "an index that is a list": _replaced(_INDEX, "[]"),
    "vocabulary empty": _text("vocab.json", ""),
    "vocabulary without words": _text("vocab.json", "{}"),
    "vocabulary is a list": _text("vocab.json", "[1, 2]"),
    "vocabulary of texts": _text("vocab.json", '{"<unk>": "one", "</s>": "two", "<pad>": "three"}'),
    "vocabulary too large": _text("vocab.json", '{"<unk>": 1, "</s>": 0, "<pad>": 2, "a": 99999}'),
    "vocabulary below zero": _text("vocab.json", '{"<unk>": 1, "</s>": 0, "<pad>": 2, "a": -1}'),
    "vocabulary without unknown": _without_unknown,
    "vocabulary missing": _drop("vocab.json"),
    "pieces empty": _text("source.spm", b""),
    "pieces are text": _text("target.spm", "nothing" * 100),
    "pieces cut": _cut("source.spm", 50),
    "pieces missing": _drop("source.spm", "target.spm"),
    "tokenizer config empty": _text("tokenizer_config.json", ""),
    "tokenizer config is a list": _text("tokenizer_config.json", "[]"),
    "length is a text": _configured("tokenizer_config.json", model_max_length="long"),
    "generation config empty": _text("generation_config.json", "{"),
}


@pytest.mark.parametrize("damage", _DAMAGE)
def test_a_damaged_model_is_refused(made: Made, tmp_path: Path, damage: str) -> None:
    for folder in (made["marian"], TINY_EN_DE.path):
        copied = shutil.copytree(folder, tmp_path / folder.name)
        _DAMAGE[damage](copied)
        fails(EvaluatorError, copied.name, score, copied)


@cases("", "[]", "{}", "null", '{"model": {"type": "BPE"}}', '{"version": "1.0", "model": 3}')
@pytest.mark.parametrize("family", ["causal_lm", "masked_lm", "t5", "nllb"])
def test_bad_tokenizers_are_refused(content: str, made: Made, tmp_path: Path, family: str) -> None:
    from cc_hf.plugins.calibration.fill_mask import load_masked_lm

    copied = shutil.copytree(made[family], tmp_path / "model")
    (copied / "tokenizer.json").write_text(content, encoding="utf-8")
    fails(CCError, "model", score, copied)
    if family == "masked_lm":
        fails(CCError, "model", load_masked_lm, copied)


def test_a_model_without_its_head_is_refused(tmp_path: Path) -> None:
    save_tiny_masked_lm(tmp_path, family="bert")
    save_tiny_bert(tmp_path)
    change_json(tmp_path / "config.json", architectures=["BertForMaskedLM"])
    fails(EvaluatorError, r"its files lack \d+ of the weights", cc_hf.load_evaluator, tmp_path)


_LOAD = """
import sys
from cc_hf.models.pretrained import load_model
added = ("cc_hf_studies.", "cc_hf.plugins.bergamot.configuration")
for folder in sys.argv[1:]:
    family = load_model(folder).family
    print(family, *sorted(name for name in sys.modules if name.startswith(added)))
"""


def test_a_model_of_a_slice_imports_that_slice_and_other_models_none(made: Made) -> None:
    names, expected = ["marian", *registry.names("model type")], set[str]()
    command = [sys.executable, "-c", _LOAD, *(str(made[name]) for name in names)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split() for line in completed.stdout.splitlines()]
    assert [name for name, *_ in rows] == names
    for name, *modules in rows:
        if name != "marian":
            expected.add(registry.resolve("model type", name).__module__.split(".")[1])
        assert {module.split(".")[1] for module in modules} == expected


@pytest.mark.parametrize("family", ["m2m_100", "mbart", "nllb", "small100", "t5"])
def test_multilingual_tokenizers_do_not_name_a_direction(tmp_path: Path, family: str) -> None:
    BUILDERS[family](tmp_path)
    change_json(tmp_path / "tokenizer_config.json", source_lang="fi", target_lang="sv")
    loaded = load_model(tmp_path)
    assert (loaded.family, loaded.src_lang, loaded.tgt_lang) == (family, "", "")
