"""Students are computed as Marian computes them, whatever their configuration; files that are
damaged or hostile are refused.
"""

import gzip
import io
import pickle
import struct
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import cc_hf
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.models.location import default_evaluator
from cc_hf.plugins.bergamot.files import student_files
from cc_hf.plugins.bergamot.marian_file import read_marian_file
from cc_hf.systems.translate import translate_with
from tests.helpers import bergamot_models as made
from tests.helpers.bergamot_reference import ReferenceStudent
from tests.helpers.usual import cases, fails, refuses


@pytest.fixture
def student(tmp_path: Path) -> Path:
    return made.save_student(tmp_path / "student")


@pytest.mark.parametrize("int8", [True, False], ids=["int8", "float32"])
@cases(
    {"transformer-ffn-activation": "swish"},
    {"transformer-decoder-autoreg": "self-attention"},
    {**made.TWO_VOCABULARIES, "tied-embeddings": True},
    made.TWO_VOCABULARIES,
    *({}, {"dec-depth": 4, "dim-emb": 24, "transformer-heads": 3}),
)
def test_logprobs_equal_plain_ones(changes: dict[str, Any], tmp_path: Path, int8: bool) -> None:
    folder = made.save_student(tmp_path / "student", changes, int8=int8)
    reference = ReferenceStudent(next(folder.glob("model*.bin")))
    for batch_tokens in (None, 40):
        evaluator: Any = cc_hf.load_evaluator(folder, mode="exact", batch_tokens=batch_tokens)
        assert (evaluator.src_lang, evaluator.tgt_lang) == ("en", "de")
        sources = evaluator.encode_sources(made.SOURCES, "en", "de")
        targets = evaluator.encode_targets(made.TRANSLATIONS, "en", "de")
        expected = map(reference.logprobs, sources, targets)
        rows = evaluator.token_logprobs(made.SOURCES, made.TRANSLATIONS)
        for row, plain in zip(rows, expected, strict=True):
            np.testing.assert_allclose(row, plain, atol=1e-5)


@pytest.mark.parametrize("autoregression", ["rnn", "self-attention"])
def test_generation_with_and_without_cache_is_equal(tmp_path: Path, autoregression: str) -> None:
    folder = made.save_student(tmp_path / "s", {"transformer-decoder-autoreg": autoregression})
    evaluator: Any = cc_hf.load_evaluator(folder)
    ids = torch.tensor(evaluator.encode_sources(made.SOURCES[:1], "en", "de"))
    for num_beams in (1, 3):
        generate = partial(evaluator.model.generate, ids, num_beams=num_beams, max_length=12)
        assert generate(use_cache=True).tolist() == generate(use_cache=False).tolist()


def test_student_translates_without_padding_tokens(student: Path) -> None:
    evaluator: Any = cc_hf.load_evaluator(student)

    def translated(*sources: str) -> list[str]:
        return translate_with(evaluator, sources, num_beams=2, max_new_tokens=8)

    assert translated(*made.SOURCES) == [*map("".join, map(translated, made.SOURCES))]
    assert all(translated(*made.SOURCES))
    tokenizer = evaluator.tokenizer
    assert tokenizer.pad_token_id == evaluator.model.config.pad_token_id == 70
    assert (tokenizer.batch_decode([[0, 70]]), evaluator.model.training) == ([""], False)


def test_gzip_files_are_loaded(student: Path, tmp_path: Path) -> None:
    (tmp_path / "compressed").mkdir()
    for path in student.iterdir():
        (tmp_path / "compressed" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    made.same_logprobs(cc_hf.load_evaluator(student), cc_hf.load_evaluator(tmp_path / "compressed"))


@cases(
    ({"dec-cell": "gru"}, "expected the decoder cell 'ssru', the configuration says 'gru'"),
    ({"type": "s2s"}, "expected type to be 'transformer', the configuration says 's2s'"),
    ({"transformer-ffn-activation": "gelu"}, "says 'gelu'"),
    ({"tied-embeddings-src": True}, "tied-embeddings-src"),
    ({"transformer-tied-layers": [1, 1]}, "transformer-tied-layers"),
    ({"transformer-train-position-embeddings": True}, "train-position-embeddings"),
    ({"transformer-preprocess": "n"}, "transformer-preprocess"),
    ({"dim-emb": "16"}, "expected positive sizes"),
    ({"enc-depth": 10**9}, "expected positive sizes"),
    ({"dim-vocabs": [2**19, 2**19]}, "'Wemb': expected 524288 rows of 16"),
    ({"transformer-decoder-dim-ffn": 10**9}, "expected positive sizes"),
    ({"transformer-decoder-dim-ffn": 32.0}, "expected positive sizes"),
    ({"transformer-heads": 3}, "divisible by transformer-heads"),
    ({"dim-vocabs": [70]}, "two dim-vocabs"),
    ({"enc-depth": 3}, "expected a tensor 'encoder_l3_self_Wq'"),
    ({"enc-depth": 1}, "the file has .* more: encoder_l2_ffn"),
    ({"transformer-dim-ffn": 64}, r"'encoder_l1_ffn_W1': expected the shape \(16, 64\)"),
    ({"dim-emb": 32}, "'Wemb': expected 70 rows of 32"),
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str, student: Path) -> None:
    content = made.binary(made.settings(**changes), made.weights(made.settings()))
    (student / "model.ende.intgemm.alphas.bin").write_bytes(content)
    limited = made.limited_allocations(10 * len(content) + 2**21)
    with pytest.raises(DataError, match=message), limited:
        cc_hf.load_evaluator(student)


def test_size_of_thousands_of_digits_and_a_missing_setting_are_refused(student: Path) -> None:
    text = yaml.safe_dump(made.settings()).replace("enc-depth: 2", f"enc-depth: 0x{'f' * 9000}")
    without = {name: value for name, value in made.settings().items() if name != "enc-depth"}
    for config, message in (
        (text.encode(), "expected positive sizes.* too large to show"),
        (without, "the configuration lacks enc-depth"),
    ):
        content = made.binary(config, made.weights(made.settings()))
        (student / "model.ende.intgemm.alphas.bin").write_bytes(content)
        fails(DataError, message, cc_hf.load_evaluator, student)


def test_a_vocabulary_of_another_model_or_a_damaged_one_is_refused(student: Path) -> None:
    for content, message in (
        (made.vocabulary(size=72), "they belong to another model"),
        (b"no vocabulary", "expected a SentencePiece model"),
    ):
        (student / "vocab.ende.spm").write_bytes(content)
        fails(DataError, message, cc_hf.load_evaluator, student)


def test_another_kind_language_or_second_model_is_refused(student: Path) -> None:
    refuses("which 'marian' does not fit", cc_hf.load_evaluator, student, kind="marian")
    refuses("not support the target language 'fr'", cc_hf.load_evaluator, student, tgt_lang="fr")
    (student / "model.deen.bin").write_bytes(b"")
    fails(DataError, "expected one model, found", student_files, student)


def test_unknown_pairs_are_answered_with_students() -> None:
    fails(UnknownNameError, "bergamot:en-pt", cc_hf.load_evaluator, "bergamot:en-pr")
    refuses("such as 'bergamot:en-fr', a student of 18 MB", default_evaluator, "en", "fr")


_CONFIG = made.settings()
_WEIGHTS = made.weights(_CONFIG)
_GOOD = made.binary(_CONFIG, _WEIGHTS)


def _written(tmp_path: Path, content: bytes, name: str = "model.bin") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_float32_tensors_are_read_as_written(tmp_path: Path) -> None:
    content = read_marian_file(_written(tmp_path, made.binary(_CONFIG, _WEIGHTS, int8=False)))
    assert (content.configuration, set(content.tensors)) == (_CONFIG, set(_WEIGHTS))
    for name, values in _WEIGHTS.items():
        np.testing.assert_array_equal(content.tensors[name].values(), values)


def test_int8_matrices_are_by_column_and_embeddings_by_row(tmp_path: Path) -> None:
    content = read_marian_file(_written(tmp_path, _GOOD))
    assert set(content.tensors) == set(_WEIGHTS)  # multipliers of activations are ignored
    for name, values in _WEIGHTS.items():
        tensor = content.tensors[name]
        is_matrix = min(values.shape) > 1
        assert (tensor.multiplier is not None) == is_matrix
        expected = values.T if is_matrix and not name.endswith("Wemb") else values
        step = np.abs(values).max() / 127
        np.testing.assert_allclose(tensor.values(), expected, atol=0.51 * step if is_matrix else 0)


def _npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def test_npz_is_read_as_the_binary_format_is(tmp_path: Path) -> None:
    text = np.frombuffer(yaml.safe_dump(_CONFIG).encode() + b"\0", np.int8)
    npz = _npz(**_WEIGHTS, **{"special:model.yml": text})
    content = read_marian_file(_written(tmp_path, npz, "model.npz"))
    assert content.configuration == _CONFIG
    np.testing.assert_array_equal(content.tensors["Wemb"].values(), _WEIGHTS["Wemb"])


def _with(offset: int, form: str, value: float) -> bytes:
    content = bytearray(_GOOD)
    struct.pack_into(form, content, offset, value)
    return bytes(content)


def _header_of(name: str) -> int:
    """The offset of a tensor's header."""
    (n,) = struct.unpack_from("<Q", _GOOD, 8)
    return 16 + 32 * _GOOD[16 + 32 * n :].split(b"\0").index(name.encode())


def _duplicated() -> bytes:
    return _GOOD.replace(b"encoder_l1_self_bq\0", b"encoder_l1_self_bk\0", 1)


def _laughs() -> bytes:
    """A configuration of 2 kB in which aliases of aliases stand for 9 ** 40 values."""
    rows = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    return "\n".join(["a0: &a0 [1]", *rows, "type: *a39"]).encode()


def _npy_header(shape: tuple[int, ...], *, version: int = 1) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<f4", "fortran_order": False, "shape": shape}
    )
    return file.getvalue().replace(b"NUMPY\1", bytes([*b"NUMPY", version]))


def _archive(entry: bytes, *, encrypted: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("Wemb.npy", entry)
    content = file.getvalue()
    if encrypted:  # bit 0 of the flags in both headers of the entry
        content = content.replace(b"PK\3\4\x14\0\0", b"PK\3\4\x14\0\1")
        content = content.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")
    return content


_WEMB = _header_of("Wemb")
_DAMAGED: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "truncated"),
    "one byte missing": (_GOOD[:-1], "truncated"),
    "headers only": (_GOOD[:1000], "truncated"),
    "one byte too many": (_GOOD + b"\0", "appended"),
    "later version": (_with(0, "<Q", 2), "expected version 1 .* got 2"),
    "huge count": (_with(8, "<Q", 2**63), "at most 65536 tensors"),
    "count beyond the file": (_with(8, "<Q", 60_000), "truncated"),
    "huge name": (_with(_WEMB, "<Q", 2**62), "the name of tensor"),
    "empty name": (_with(_WEMB, "<Q", 0), "one NUL"),
    "huge dimensions": (_with(_WEMB + 16, "<Q", 2**40), "at most 8 dim"),
    "huge length": (_with(_WEMB + 24, "<Q", 2**60), "truncated"),
    "too short": (_with(_WEMB + 24, "<Q", 256), "'Wemb': expected 1124 bytes"),
    "int16": (_with(_WEMB + 8, "<Q", 0x4102), "'Wemb': expected the type"),
    "wrong type": (_with(_WEMB + 8, "<Q", made.FLOAT32), "'Wemb': expected 4480"),
    "as int8": (_with(_header_of("decoder_ff_logit_out_b") + 8, "<Q", made.INT8), "decoder_ff"),
    "name twice": (_duplicated(), "'encoder_l1_self_bk' occurs twice"),
    "damaged npz": (b"PK\x03\x04" + bytes(50), "npz file is damaged"),
    "damaged gzip": (b"\x1f\x8b\x08" + bytes(50), "gzip"),
    "truncated gzip": (gzip.compress(_GOOD)[:-50], "complete gzip"),
    "two gzip members": (gzip.compress(_GOOD) + gzip.compress(b"x"), "one member, got 21 more"),
    "gzip bomb": (gzip.compress(bytes(10**7)), "no end"),
    "configuration is a list": (made.binary(b"- a list", _WEIGHTS), "mapping"),
    "configuration is no YAML": (made.binary(b"a: [", _WEIGHTS), "no plain YAML"),
    "configuration that would run code": (
        made.binary(b"!!python/object/apply:os.system ['true']", _WEIGHTS),
        "the tag .*os.system",
    ),
    "nested configuration": (made.binary(b"[" * 60_000, _WEIGHTS), "32 levels"),
    "aliases": (made.binary(_laughs(), _WEIGHTS), "line 1: .* the anchor 'a0'"),
    "one alias": (made.binary(b"a: &a [1]\n<<: *a", _WEIGHTS), "line 1: .* the anchor 'a'"),
    "number of no digits": (made.binary(b"a: !!int ''", _WEIGHTS), "the tag"),
    "long configuration": (made.binary(b"a: " + b"b" * 70_000, _WEIGHTS), "65536"),
    "npz without configuration": (_npz(Wemb=_WEIGHTS["Wemb"]), "there is none"),
    "npz of float64": (_npz(Wemb=np.zeros(3)), "expected float32, got float64"),
    "npz of complex": (_npz(Wemb=np.zeros(3, np.complex64)), "got complex64"),
    "npz with a pickle": (_npz(Wemb=np.array([{}], dtype=object)), "damaged"),
    "huge npz": (_archive(_npy_header((10**12,)) + bytes(40)), "40 bytes.* got .*10{12}"),
    "no data": (_archive(_npy_header((2, 5))), "expected an array of 0 bytes"),
    "version of npy": (_archive(_npy_header((5,), version=9)), "of .npy, got"),
    "no array in npz": (_archive(b"no array"), "npz file is damaged"),
    "encrypted npz": (_archive(b"", encrypted=True), "damaged .*encrypted"),
    "a pickle": (pickle.dumps({"a": 1}), "truncated|version"),
}


@pytest.mark.parametrize(("content", "message"), _DAMAGED.values(), ids=_DAMAGED)
def test_a_damaged_file_is_refused_by_content(tmp_path: Path, content: bytes, message: str) -> None:
    path = _written(tmp_path, content)
    n_bytes = 10 * len(content) + 2**21
    with pytest.raises(DataError, match=message) as caught, made.limited_allocations(n_bytes):
        read_marian_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("multiplier", [0.0, -1.0, float("nan"), float("inf")])
def test_multiplier_that_is_not_positive_is_refused(tmp_path: Path, multiplier: float) -> None:
    content = bytearray(_GOOD)
    stored = read_marian_file(_written(tmp_path, _GOOD)).tensors["Wemb"].stored.tobytes()
    struct.pack_into("<f", content, content.index(stored) + len(stored), multiplier)
    path, message = _written(tmp_path, bytes(content)), "'Wemb': expected a finite multiplier above"
    fails(DataError, message, read_marian_file, path)


def test_npz_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Wemb.npy", bytes(10**7))
    fails(DataError, "it declares 10000000", read_marian_file, _written(tmp_path, file.getvalue()))


def test_missing_and_mutated_files_end_in_a_data_error(tmp_path: Path) -> None:
    """No large allocation is made."""
    fails(DataError, "cannot be read", read_marian_file, tmp_path / "nothing.bin")
    made.read_mutations(_GOOD, _GOOD.index(b"Wemb\0") + 2000, tmp_path / "model.bin")
