"""Loading, also with device="auto" as far as a CPU allows: everything on the CPU, or weights
fetched when a layer runs. Several GPUs are not tested.
"""

import gc
import hashlib
import json
import os
import shutil
import sys
import weakref
from copy import deepcopy
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import accelerate
import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, MarianMTModel

import cc_hf
from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError, TooLongError
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.models import pretrained
from cc_hf.models.location import TINY_EN_DE, default_evaluator, hash_files, model_files
from cc_hf.models.pretrained import KEPT_EVALUATORS, KEPT_MODELS, input_device, load_model
from cc_hf.schema import ScoringRequest
from tests.helpers import families, plain_forward
from tests.helpers.families import BUILDERS
from tests.helpers.models import save_tiny_bert, save_tiny_marian
from tests.helpers.pairs import EN_DE, PAIRS, SOURCES, TRANSLATIONS
from tests.helpers.usual import cases, fails, read_json, refuses, write_text


def test_an_evaluator_is_loaded_once_per_options(tiny_marian: Path) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian)
    assert cc_hf.load_evaluator(tiny_marian) is evaluator
    assert cc_hf.load_evaluator(tiny_marian, batch_tokens=7) is not evaluator
    assert evaluator.sharing.cache is None  # unless one is named
    assert load_model(tiny_marian).model is load_model(str(tiny_marian)).model


@pytest.mark.parametrize(("width", "batch_tokens"), [(512, 1536), (514, 768)])
def test_wide_models_have_smaller_batches(tiny_marian: Path, width: int, batch_tokens: int) -> None:
    loaded = load_model(tiny_marian)
    config = deepcopy(loaded.model.config)
    config.d_model = width
    assert evaluator_of(MarianMTModel(config).eval(), loaded.tokenizer).batch_tokens == batch_tokens


def test_the_identity_of_the_embedded_evaluator_is_the_documented_one() -> None:
    """README, cards and recorded results name this identity."""
    identity = cc_hf.load_evaluator("cc-tiny-en-de").identity
    assert identity == hash_files(model_files(TINY_EN_DE.path)) == "d644c6d303e7"


def test_the_hash_of_a_folder_covers_names_and_contents_of_files(tmp_path: Path) -> None:
    expected = hashlib.sha256(b"a.safetensors" * 4 + b"b.json" * 4).hexdigest()[:12]
    for readme in ("README.md", "other"):
        for name in ("b.json", "a.safetensors", ".hidden"):
            (tmp_path / name).write_text(name * 3, encoding="utf-8")
        (tmp_path / "README.md").write_text(readme, encoding="utf-8")
        assert hash_files(model_files(tmp_path)) == expected


@cases("bpe.codes", "sub/one.safetensors", "sub/deep/x", "LICENSE", "tokenizer.py", "linked/y")
def test_every_file_of_the_model_changes_the_identity(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    actual = {hash_files(model_files(folder))}
    for content in ("1", "2"):
        (folder / name).write_text(content, encoding="utf-8")
        actual.add(hash_files(model_files(folder)))
    assert len(actual) == 3
    assert name in dict(model_files(folder))


def test_hashing_follows_links_and_stops_at_loops(tmp_path: Path) -> None:
    folder, blobs = tmp_path / "snapshot", write_text(tmp_path / "blobs/0", "1").parent
    folder.mkdir()
    (blobs / "back").symlink_to(folder)
    targets = {
        "weights.safetensors": blobs / "0",
        "loop": folder,
        "blobs": blobs,
        "broken": tmp_path / "nowhere",
        "itself": folder / "itself",
    }
    for name, target in targets.items():
        (folder / name).symlink_to(target)
    before = hash_files(model_files(folder))
    assert [name for name, _ in model_files(folder)] == ["blobs/0", "weights.safetensors"]
    (blobs / "0").write_text("2", encoding="utf-8")
    assert hash_files(model_files(folder)) != before


def test_a_commit_claimed_by_a_local_configuration_is_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots" / ("0123456789" * 4) / "model"
    shutil.copytree(TINY_EN_DE.path, folder)
    identity = cc_hf.load_evaluator("cc-tiny-en-de").identity
    assert cc_hf.load_evaluator(folder).identity == identity  # whatever the folder
    path = folder / "config.json"
    write_text(path, json.dumps({**read_json(path), "_commit_hash": "f" * 40}))
    assert cc_hf.load_evaluator(folder).identity == hash_files(model_files(folder)) != identity


def test_files_that_change_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tiny_marian(tmp_path)
    hashed = pretrained.model_identity

    def slow(model: object, path: str) -> str:
        actual = hashed(model, path)
        (tmp_path / "bpe.codes").write_text("a b", encoding="utf-8")
        return actual

    monkeypatch.setattr(pretrained, "model_identity", slow)
    fails(EvaluatorError, "changed while it was loaded", load_model, tmp_path)


def test_the_least_recently_used_model_is_dropped(tmp_path: Path) -> None:
    folders = [tmp_path / str(i) for i in range(KEPT_MODELS + 1)]
    for i, folder in enumerate(folders):
        save_tiny_marian(folder, seed=i)
    kept, dropped = load_model(folders[0]), weakref.ref(load_model(folders[1]).model)
    mode = "bf16" if "bf16" in cc_hf.load_evaluator(folders[1]).fast_modes() else "exact"
    assert cc_hf.load_evaluator(folders[1], mode=mode).mean_logprobs(["a"], ["b"]).shape == (1,)
    for folder in folders[2:]:
        load_model(folders[0])
        cc_hf.load_evaluator(folder)
    gc.collect()
    assert dropped() is None
    assert load_model(folders[0]) is kept
    assert load_model(folders[-1]) is load_model(folders[-1])


def test_the_least_recently_used_evaluator_of_a_model_is_dropped(tiny_marian: Path) -> None:
    first = cc_hf.load_evaluator(tiny_marian, batch_tokens=1)
    dropped = weakref.ref(cc_hf.load_evaluator(tiny_marian, batch_tokens=2))
    for n in range(3, KEPT_EVALUATORS + 2):
        assert cc_hf.load_evaluator(tiny_marian, batch_tokens=1) is first
        cc_hf.load_evaluator(tiny_marian, batch_tokens=n)
    gc.collect()
    assert dropped() is None


@cases(
    ("a/b", {}, EvaluatorError, r"could not be loaded .*save the model to a folder"),
    ("cc-tiny-en-de", {"dtype": "int3"}, InputError, "dtype: expected one of float32"),
    *(("cc-tiny-en-de", {"device": d}, InputError, "device") for d in ("gpu9", "cuda:77", "meta")),
    ("cc-tiny-en-de", {"revision": "main"}, InputError, "a revision applies to models of the"),
    ("cc-tiny-en-de", {"batch_tokens": 0}, InputError, "batch_tokens: .* integer of at least 1"),
    ("cc-tiny-en-de", {"on_too_long": "drop"}, InputError, "on_too_long"),
    ("cc-tiny-en-de", {"mode": "fast"}, InputError, "mode: .* auto, exact, bf16.*got 'fast'"),
    ("bert", {}, EvaluatorError, "expected a sequence-to-sequence model .* got"),
)
def test_unfit_options_are_refused(
    name: str, options: Any, error: Any, message: str, tmp_path: Path
) -> None:
    named = save_tiny_bert(tmp_path) if name == "bert" else name
    fails(error, message, cc_hf.load_evaluator, named, **options)


@cases(
    ("", "", "expected one, or src_lang"),
    ("en", "ru", "none ships with the package for en-ru"),
    ("en", 10**5000, "tgt_lang: expected a language code"),
)
def test_pairs_without_a_default_evaluator_are_refused(src: str, tgt: str, message: str) -> None:
    refuses(message, default_evaluator, src, tgt)


def scores(evaluator: cc_hf.Evaluator) -> list[list[float]]:
    return [row.tolist() for row in evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize("family", ["marian", "fsmt", "causal_lm", "masked_lm"])
def test_device_auto_without_gpus_equals_the_cpu(family: str, tmp_path: Path) -> None:
    folder, loading = BUILDERS[family](tmp_path), AutoModelForSeq2SeqLM.from_pretrained
    with patch.object(AutoModelForSeq2SeqLM, "from_pretrained", wraps=loading) as loaded:
        actual, plain = (cc_hf.load_evaluator(folder, device=device) for device in ("auto", "cpu"))
    assert scores(actual) == scores(plain)
    assert actual is not plain
    assert actual is cc_hf.load_evaluator(folder, device="auto")
    assert actual.cache_identity() == plain.cache_identity()
    assert not actual.model.training  # type: ignore[attr-defined]
    if family == "marian":
        assert [call.kwargs.get("device_map") for call in loaded.mock_calls] == ["auto"]
        places = [cc_hf.LoadingOptions(device=device) for device in ("auto", "cpu")]
        spread, on_cpu = (cc_hf.translate(SOURCES[2:], folder, loading=where) for where in places)
        assert spread == on_cpu


@pytest.mark.parametrize("family", sorted({*registry.names("evaluator family")} & {*BUILDERS}))
def test_offloaded_weights_are_fetched_when_needed(family: str, tmp_path: Path) -> None:
    """Parameters of a model too large for the GPUs have no content until accelerate loads them."""
    folder = BUILDERS[family](tmp_path)
    spread = cc_hf.load_evaluator(folder, device="auto")
    expected = scores(cc_hf.load_evaluator(folder, device="cpu"))
    model: Any = spread.model  # type: ignore[attr-defined]
    accelerate.cpu_offload(model, execution_device=torch.device("cpu"))
    model.hf_device_map = {"": "cpu"}
    assert all(parameter.is_meta for parameter in model.parameters())
    for actual, plain in zip(scores(spread), expected, strict=True):
        np.testing.assert_allclose(actual, plain, atol=1e-5, rtol=0)
    if family not in ("causal_lm", "masked_lm"):
        assert spread.packed is None  # type: ignore[attr-defined]


@cases(
    ({"encoder": 0, "decoder": 1}, "cuda:0"),
    ({"encoder": "cpu", "decoder": 1, "head": 2}, "cuda:1"),
    ({"encoder": "disk", "decoder": "cuda:3"}, "cuda:3"),
    ({"encoder": "cpu", "decoder": "disk"}, "cpu"),
    ({}, "meta"),
)
def test_batches_go_to_the_first_gpu_of_the_model(places: dict[str, Any], expected: str) -> None:
    model = SimpleNamespace(device=torch.device("meta"), hf_device_map=places)
    assert input_device(model) == torch.device(expected)
    assert input_device(SimpleNamespace(device="cpu")) == torch.device("cpu")


def test_distributed_auto_is_refused_and_auto_needs_accelerate(tiny_marian: Path) -> None:
    auto = partial(cc_hf.load_evaluator, tiny_marian, device="auto")
    with patch.dict(os.environ, RANK="0", WORLD_SIZE="2", MASTER_ADDR="localhost"):
        message = "'auto' spreads one model over all GPUs, and each"
        refuses(message, auto, distributed=True)
        assert auto().device in ("cpu", "cuda")
    with patch.dict(sys.modules, accelerate=None):
        message = r"accelerate.*pip install 'cc_hf\[models\]'"
        fails(MissingDependencyError, message, auto, batch_tokens=9)


REQUESTS = [ScoringRequest(*pair) for pair in PAIRS]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Save two models of one tokenisation and one of another."""
    root = tmp_path_factory.mktemp("ensemble")
    for name in "ab":
        save_tiny_marian(root / name, seed=ord(name), max_positions=400)
    return [root / "a", root / "b", families.save_tiny_m2m100(root / "c")]


def test_probabilities_are_averaged_token_by_token(folders: list[Path]) -> None:
    evaluator = cc_hf.load_evaluator(folders[:2])
    plain = []
    actual = evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
    for logprobs, pair in zip(actual, PAIRS, strict=True):
        members = np.exp([plain_forward.marian(folder, *pair).numpy() for folder in folders[:2]])
        plain.append(members.mean(axis=0))
        # averaging logarithms would differ
        assert np.abs(np.log(members).mean(axis=0) - np.log(plain[-1])).max() > 0.01
        np.testing.assert_allclose(logprobs, np.log(plain[-1]), atol=1e-5)
    scores = evaluator.score(REQUESTS, **EN_DE)
    np.testing.assert_allclose(scores.mean_logprob, [np.log(p).mean() for p in plain], atol=1e-5)
    np.testing.assert_allclose(scores.mean_probability, [p.mean() for p in plain], atol=1e-5)
    assert scores.n_tokens.tolist() == [len(p) for p in plain]


def test_members_of_different_tokenisation_are_averaged_by_sentence(folders: list[Path]) -> None:
    evaluator = cc_hf.load_evaluator([folders[0], folders[2]])
    scores = evaluator.score(REQUESTS, **EN_DE)
    alone = [cc_hf.load_evaluator(folders[i]).score(REQUESTS, **EN_DE) for i in (0, 2)]
    for name in ("mean_logprob", "mean_probability"):
        expected = sum(getattr(member, name) for member in alone) / 2
        np.testing.assert_allclose(getattr(scores, name), expected, atol=1e-12)
    assert scores.n_tokens.tolist() == (alone[0].n_tokens + alone[1].n_tokens).tolist()
    refuses("different tokens", evaluator.token_logprobs, ["a"], ["b"], **EN_DE)


def test_the_signature_names_all_members_and_the_kind_of_average(folders: list[Path]) -> None:
    a, b, c = (cc_hf.load_evaluator(folder, mode="exact") for folder in folders)
    two, name = cc_hf.load_evaluator(folders[:2], mode="exact"), f"a@{a.identity}+b@{b.identity}"
    assert two.signature_fields() == {"eval": name, "dtype": "float32", "ensemble": "token"}
    three = cc_hf.load_evaluator(folders, mode="exact").signature_fields()
    assert three == {"eval": f"{name}+c@{c.identity}", "dtype": "float32", "ensemble": "sentence"}
    assert (two.name, two.identity) == ("a+b", f"{a.identity}+{b.identity}")


@pytest.mark.parametrize("what", ["vocab", "merges"])
def test_a_changed_vocabulary_counts_as_another_tokenisation(tmp_path: Path, what: str) -> None:
    def average() -> str:
        return cc_hf.load_evaluator([tmp_path / "a", tmp_path / "b"]).signature_fields()["ensemble"]

    (tmp_path / "a").mkdir()
    shutil.copytree(families.save_tiny_fsmt(tmp_path / "a"), tmp_path / "b")
    assert average() == "token"
    path = tmp_path / "b" / {"vocab": "vocab-tgt.json", "merges": "merges.txt"}[what]
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    other = text.replace('"Ar"', '"Ǽ"') if what == "vocab" else "".join(lines[:-2] + lines[:-3:-1])
    write_text(path, other)
    assert average() == "sentence"


def test_order_duplicates_and_batch_size_do_not_change_scores(folders: list[Path]) -> None:
    for chosen in (folders[:2], folders):
        once = cc_hf.load_evaluator(chosen).mean_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
        evaluator = cc_hf.load_evaluator(chosen, batch_tokens=1)
        twice = evaluator.mean_logprobs(SOURCES[::-1] * 2, TRANSLATIONS[::-1] * 2, **EN_DE)
        np.testing.assert_allclose(twice, np.tile(once[::-1], 2), atol=1e-5)


def test_unfit_members_and_options_are_refused(folders: list[Path]) -> None:
    assert cc_hf.load_evaluator([folders[0]]) is cc_hf.load_evaluator(folders[0])
    refuses("one for each of the 2 members", cc_hf.load_evaluator, folders[:2], revision="main")
    two, three = (cc_hf.load_evaluator(some).mean_logprobs for some in (folders[:2], folders))
    to_french = {**EN_DE, "tgt_lang": "fr"}
    refuses("does not support the target language 'fr'", three, ["a"], ["b"], **to_french)
    fails(TooLongError, "takes at most 400", two, ["doctor nurse " * 200], ["b"], **EN_DE)
