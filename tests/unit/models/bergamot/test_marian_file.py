"""Reading Marian's binary format and .npz; what is damaged or hostile is refused."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

from cc_hf.errors import DataError
from cc_hf.models.bergamot.marian_file import read_marian_file
from tests.helpers.bergamot_models import (
    FLOAT32,
    INT8,
    binary,
    limited_allocations,
    read_mutations,
    settings,
    weights,
)

_CONFIG = settings()
_WEIGHTS = weights(_CONFIG)


def _written(tmp_path: Path, content: bytes, name: str = "model.bin") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_float32_tensors_are_read_as_written(tmp_path: Path) -> None:
    content = read_marian_file(_written(tmp_path, binary(_CONFIG, _WEIGHTS, int8=False)))
    assert content.configuration == _CONFIG
    assert set(content.tensors) == set(_WEIGHTS)
    for name, values in _WEIGHTS.items():
        np.testing.assert_array_equal(content.tensors[name].values(), values)


def test_int8_matrices_are_by_column_and_embeddings_by_row(tmp_path: Path) -> None:
    content = read_marian_file(_written(tmp_path, binary(_CONFIG, _WEIGHTS)))
    for name, values in _WEIGHTS.items():
        tensor = content.tensors[name]
        is_matrix = min(values.shape) > 1
        assert (tensor.multiplier is not None) == is_matrix
        expected = values.T if is_matrix and not name.endswith("Wemb") else values
        step = np.abs(values).max() / 127
        np.testing.assert_allclose(tensor.values(), expected, atol=0.51 * step if is_matrix else 0)


def test_multipliers_of_activations_are_ignored(tmp_path: Path) -> None:
    content = read_marian_file(_written(tmp_path, binary(_CONFIG, _WEIGHTS)))
    assert not [name for name in content.tensors if name.endswith("_QuantMultA")]


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


def test_gzip_is_decompressed(tmp_path: Path) -> None:
    path = _written(tmp_path, gzip.compress(binary(_CONFIG, _WEIGHTS)), "model.bin.gz")
    assert read_marian_file(path).configuration == _CONFIG


_GOOD = binary(_CONFIG, _WEIGHTS)


def _with(offset: int, form: str, value: float) -> bytes:
    content = bytearray(_GOOD)
    struct.pack_into(form, content, offset, value)
    return bytes(content)


def _header_of(name: str) -> int:
    """The offset of a tensor's header."""
    n = struct.unpack_from("<Q", _GOOD, 8)[0]
    names = _GOOD[16 + 32 * n :].split(b"\0")
    return 16 + 32 * names.index(name.encode())


def _duplicated() -> bytes:
    content = bytearray(_GOOD)
    first, second = b"encoder_l1_self_bk\0", b"encoder_l1_self_bq\0"
    at = content.index(second)
    content[at : at + len(second)] = first
    return bytes(content)


def _laughs() -> bytes:
    """A configuration of 2 kB in which aliases of aliases stand for 9 ** 40 values."""
    rows = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    return "\n".join(["a0: &a0 [1]", *rows, "type: *a39"]).encode()


def _npy_header(shape: tuple[int, ...], *, version: int = 1) -> bytes:
    file = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
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
    "wrong type": (_with(_WEMB + 8, "<Q", FLOAT32), "'Wemb': expected 4480"),
    "as int8": (_with(_header_of("decoder_ff_logit_out_b") + 8, "<Q", INT8), "decoder_ff"),
    "name twice": (_duplicated(), "'encoder_l1_self_bk' occurs twice"),
    "damaged npz": (b"PK\x03\x04" + bytes(50), "npz file is damaged"),
    "damaged gzip": (b"\x1f\x8b\x08" + bytes(50), "gzip"),
    "truncated gzip": (gzip.compress(_GOOD)[:-50], "complete gzip"),
    "gzip bomb": (gzip.compress(bytes(10**7)), "no end"),
    "configuration is a list": (binary(b"- a list", _WEIGHTS), "mapping"),
    "configuration is no YAML": (binary(b"a: [", _WEIGHTS), "no plain YAML"),
    "configuration that would run code": (
        binary(b"!!python/object/apply:os.system ['true']", _WEIGHTS),
        "the tag .*os.system",
    ),
    "nested configuration": (binary(b"[" * 60_000, _WEIGHTS), "32 levels"),
    "aliases": (binary(_laughs(), _WEIGHTS), "line 1: .* the anchor 'a0'"),
    "one alias": (binary(b"a: &a [1]\n<<: *a", _WEIGHTS), "line 1: .* the anchor 'a'"),
    "number of no digits": (binary(b"a: !!int ''", _WEIGHTS), "the tag"),
    "long configuration": (binary(b"a: " + b"b" * 70_000, _WEIGHTS), "65536"),
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
    with pytest.raises(DataError, match=message) as caught, limited_allocations(n_bytes):
        read_marian_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("multiplier", [0.0, -1.0, float("nan"), float("inf")])
def test_multiplier_that_is_not_positive_is_refused(tmp_path: Path, multiplier: float) -> None:
    content = bytearray(_GOOD)
    good = read_marian_file(_written(tmp_path, _GOOD)).tensors["Wemb"]
    stored = good.stored.tobytes()
    struct.pack_into("<f", content, content.index(stored) + len(stored), multiplier)
    with pytest.raises(DataError, match="'Wemb': expected a finite multiplier above 0"):
        read_marian_file(_written(tmp_path, bytes(content)))


def test_npz_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Wemb.npy", bytes(10**7))
    with pytest.raises(DataError, match="it declares 10000000"):
        read_marian_file(_written(tmp_path, file.getvalue()))


def test_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_marian_file(tmp_path / "nothing.bin")


def test_mutated_files_end_in_a_data_error_without_large_allocations(tmp_path: Path) -> None:
    content = binary(_CONFIG, _WEIGHTS)
    read_mutations(content, content.index(b"Wemb\0") + 2000, tmp_path / "model.bin")
