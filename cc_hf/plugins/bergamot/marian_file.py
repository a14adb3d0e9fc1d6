"""Reading the files that Marian writes: the binary format, `.npz`, and both compressed by gzip.

Every count and length is checked against the size of the file before memory is allocated for it.
Nothing in a file is run: the configuration is plain YAML, arrays are read without pickle.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import math
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import DataError, InputError, shown
from cc_hf.reading import parse_yaml

__all__ = ["CONFIGURATION", "MarianFile", "MarianTensor", "read_bytes", "read_marian_file"]

# The format is that of src/common/binary.cpp of marian-dev; all numbers are little-endian.
CONFIGURATION = "special:model.yml"
_VERSION = 1
# Of a tensor: length of its name, type, number of dimensions, bytes of its data.
_HEADER = struct.Struct("<4Q")
_COUNTS = struct.Struct("<2Q")
_LENGTH = struct.Struct("<Q")
# Marian's types: a class in the upper byte, the bytes of one number in the lower one.
_FLOAT32, _INT8_BY_COLUMN, _CHARACTERS = 0x404, 0x4101, 0x101
_ALIGNMENT = 256  # the data of a tensor are padded to a multiple of this
_MAX_DIMENSIONS = 8
# A small student has 195 tensors, and a configuration of 1,124 bytes; YAML is slow to parse.
_MAX_TENSORS = 1 << 16
_MAX_CONFIGURATION = 1 << 16  # bytes
_MAX_INFLATION = 8  # gzip and zip: weights are compressed to three quarters, not to an eighth
_DAMAGED_NPZ = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,  # encrypted, or compressed in a way that Python does not know
    ValueError,
    TypeError,
    SyntaxError,
    OSError,
    EOFError,
)
_IGNORED = "_QuantMultA"  # multipliers of activations, which only the int8 engine needs


@dataclass(frozen=True)
class MarianTensor:
    """A tensor as it is stored."""

    stored: npt.NDArray[Any]  # float32 or int8; a view of the file where possible
    multiplier: float | None = None  # int8 divided by it is the value; None for float32

    def values(self) -> npt.NDArray[np.float32]:
        """Return the values in float32, in the stored layout."""
        values: npt.NDArray[np.float32] = self.stored.astype(np.float32)
        return values if self.multiplier is None else values / np.float32(self.multiplier)


@dataclass(frozen=True)
class MarianFile:
    """The contents of a file of Marian.

    int8 matrices are stored as (out, in), except embeddings (`*Wemb`); float32 matrices as (in,
    out).
    """

    configuration: Mapping[str, Any]  # of the model, from `special:model.yml`
    tensors: Mapping[str, MarianTensor]  # by Marian's names


def read_marian_file(path: str | Path) -> MarianFile:
    """Read a model of Marian."""
    path = Path(path)
    content = read_bytes(path)
    with _named(path):
        if content[:2] == b"PK":
            return _from_npz(content)
        return _from_binary(content)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, decompressed if it is a gzip file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: the file cannot be read ({error})") from error
    if content[:2] != b"\x1f\x8b":
        return content
    # 31 takes a header of gzip alone. The limit bounds memory, whatever a file says of its size.
    decompressor = zlib.decompressobj(wbits=31)
    try:
        inflated = decompressor.decompress(content, _MAX_INFLATION * len(content))
    except zlib.error as error:
        raise DataError(f"{path}: the gzip file is damaged ({error})") from error
    # zlib raises nothing for a file that was cut.
    if not decompressor.eof:
        raise DataError(
            f"{path}: expected a complete gzip file of at most {_MAX_INFLATION} times its size,"
            f" got {len(inflated)} bytes and no end"
        )
    if decompressor.unused_data:
        raise DataError(
            f"{path}: expected the gzip file to end with its one member, got"
            f" {len(decompressor.unused_data)} more bytes; compress the model anew"
        )
    return inflated


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Put the file's path before the messages of a reader."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


class _Cursor:
    """A position in a file; reading beyond its end is an error."""

    def __init__(self, content: bytes) -> None:
        self.content = memoryview(content)
        self.position = 0

    def take(self, n_bytes: int, what: str) -> memoryview:
        left = len(self.content) - self.position
        if n_bytes > left:
            raise DataError(
                f"expected {n_bytes} bytes of {what} at byte {self.position}, the file has {left}"
                " more; it is truncated or damaged"
            )
        self.position += n_bytes
        return self.content[self.position - n_bytes : self.position]


def _from_binary(content: bytes) -> MarianFile:
    """Return what a file in version 1 of Marian's binary format holds."""
    cursor = _Cursor(content)
    version, n_tensors = _COUNTS.unpack(cursor.take(_COUNTS.size, "version and count"))
    if version != _VERSION:
        raise DataError(
            f"expected version {_VERSION} of Marian's binary format, got {version}; it is another"
            " kind of file, or a later version"
        )
    if n_tensors > _MAX_TENSORS:
        raise DataError(f"expected at most {_MAX_TENSORS} tensors, got {n_tensors}")
    headers = list(
        _HEADER.iter_unpack(cursor.take(n_tensors * _HEADER.size, f"{n_tensors} headers"))
    )
    names = [
        _name(bytes(cursor.take(length, f"the name of tensor {number}")), number)
        for number, (length, *_) in enumerate(headers)
    ]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"expected each tensor once, the name {twice!r} occurs twice")
    shapes = [
        _shape(cursor, name, n_dimensions)
        for name, (_, _, n_dimensions, _) in zip(names, headers, strict=True)
    ]
    (padding,) = _LENGTH.unpack(cursor.take(_LENGTH.size, "the length of the padding"))
    cursor.take(padding, "padding")
    tensors: dict[str, MarianTensor] = {}
    configuration = None
    for name, shape, (_, kind, _, n_bytes) in zip(names, shapes, headers, strict=True):
        stored = cursor.take(n_bytes, f"the tensor {name!r}")
        if name == CONFIGURATION:
            _check_kind(name, kind, (_CHARACTERS,))
            configuration = bytes(stored)
        elif not name.endswith(_IGNORED):
            tensors[name] = _tensor(name, kind, shape, stored)
    if cursor.position != len(content):
        raise DataError(
            f"expected the end of the file at byte {cursor.position}, it has {len(content)} bytes;"
            " something was appended, or it is damaged"
        )
    return MarianFile(_configuration(configuration), tensors)


def _name(stored: bytes, number: int) -> str:
    text, end, rest = stored.partition(b"\0")
    if not text or not end or rest:
        raise DataError(
            f"expected a name that ends in one NUL for tensor {number}, got {stored[:80]!r}"
        )
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"the name of tensor {number} is not UTF-8: {text[:80]!r}") from error


def _shape(cursor: _Cursor, name: str, n_dimensions: int) -> tuple[int, ...]:
    if n_dimensions > _MAX_DIMENSIONS:
        raise DataError(
            f"the tensor {name!r}: expected at most {_MAX_DIMENSIONS} dimensions, got"
            f" {n_dimensions}"
        )
    shape: tuple[int, ...] = struct.unpack(
        f"<{n_dimensions}i", cursor.take(4 * n_dimensions, f"the shape of {name!r}")
    )
    if not shape or min(shape) < 1:
        raise DataError(f"the tensor {name!r}: expected sizes of at least 1, got {shape}")
    return shape


def _check_kind(name: str, kind: int, known: tuple[int, ...]) -> None:
    if kind not in known:
        raise DataError(
            f"the tensor {name!r}: expected the type {' or '.join(f'{k:#x}' for k in known)}, got"
            f" {kind:#x}; models of students have float32 and intgemm8 only"
        )


def _tensor(name: str, kind: int, shape: tuple[int, ...], stored: memoryview) -> MarianTensor:
    """Return a tensor whose length fits its type and shape."""
    _check_kind(name, kind, (_FLOAT32, _INT8_BY_COLUMN))
    n = math.prod(shape)
    n_bytes = 4 * n if kind == _FLOAT32 else n + 4
    # Marian pads the data, so that a length need not be exact; a longer one fits another shape.
    if not n_bytes <= len(stored) <= -(-n_bytes // _ALIGNMENT) * _ALIGNMENT:
        raise DataError(
            f"the tensor {name!r}: expected {n_bytes} bytes for the shape {shape} and the type"
            f" {kind:#x}, padded to a multiple of {_ALIGNMENT} at most, got {len(stored)}"
        )
    if kind == _FLOAT32:
        return MarianTensor(np.frombuffer(stored, "<f4", n).reshape(shape))
    (multiplier,) = struct.unpack("<f", stored[n : n + 4])
    # The values are divided by it.
    if not (math.isfinite(multiplier) and multiplier > 0):
        raise DataError(
            f"the tensor {name!r}: expected a finite multiplier above 0, got {multiplier}"
        )
    # intgemm reads the right factor of a product by columns, so that weights are transposed. The
    # logits are states times the transposed embeddings, whose rows are these columns already.
    is_embedding = name.endswith("Wemb")
    layout = shape if is_embedding or len(shape) != 2 else shape[::-1]
    return MarianTensor(np.frombuffer(stored, np.int8, n).reshape(layout), multiplier)


def _from_npz(content: bytes) -> MarianFile:
    """Return the arrays of an `.npz`, in which all numbers are float32."""
    tensors: dict[str, MarianTensor] = {}
    configuration = None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            if total > _MAX_INFLATION * len(content):
                raise DataError(
                    f"expected arrays of at most {_MAX_INFLATION} times the size of the file"
                    f" ({len(content)} bytes), it declares {total}"
                )
            # A zip may hold a name twice, and one of both would be lost without a word.
            names = [entry.filename.removesuffix(".npy") for entry in entries]
            if len(set(names)) < len(names):
                raise DataError("expected each tensor once, the archive has two of one name")
            for name, entry in zip(names, entries, strict=True):
                with archive.open(entry) as file:
                    array = _npy(file, name, entry.file_size)
                if name == CONFIGURATION:
                    # Its characters, as numbers of any type: one byte for each.
                    configuration = array.astype(np.int8).tobytes()
                elif array.dtype != np.float32:
                    raise DataError(f"the tensor {name!r}: expected float32, got {array.dtype}")
                else:
                    tensors[name] = MarianTensor(array)
    # It is a ValueError, too, and says more.
    except DataError:
        raise
    except _DAMAGED_NPZ as error:
        raise DataError(f"the .npz file is damaged ({type(error).__name__}: {error})") from error
    return MarianFile(_configuration(configuration), tensors)


def _npy(file: IO[bytes], name: str, n_bytes: int) -> npt.NDArray[Any]:
    """Return an array whose shape fits its entry; numpy's own would allocate what it declares."""
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    version = np.lib.format.read_magic(file)
    if version not in read_header:
        raise DataError(f"the tensor {name!r}: expected version 1 or 2 of .npy, got {version}")
    shape, is_by_column, dtype = read_header[version](file)
    n_left = n_bytes - file.tell()
    # Objects would be unpickled, which runs what a file says.
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != n_left:
        raise DataError(
            f"the tensor {name!r}: expected an array of {n_left} bytes, as its entry has, got the"
            f" shape {shown(shape)} of {dtype}; the .npz file is damaged"
        )
    values = np.frombuffer(file.read(n_left), dtype)
    return values.reshape(shape, order="F" if is_by_column else "C")


def _configuration(stored: bytes | None) -> Mapping[str, Any]:
    if stored is None:
        raise DataError(
            f"expected the model's configuration under the name {CONFIGURATION!r}, there is none"
        )
    if len(stored) > _MAX_CONFIGURATION:
        raise DataError(
            f"expected a configuration of at most {_MAX_CONFIGURATION} bytes, got {len(stored)}"
        )
    try:
        # Marian ends the text by NUL.
        settings = parse_yaml(stored.rstrip(b"\0").decode("utf-8"))
    except (InputError, UnicodeDecodeError) as error:
        raise DataError(f"the configuration {CONFIGURATION!r} is no plain YAML: {error}") from None
    if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
        raise DataError(f"expected a mapping in {CONFIGURATION!r}, got {type(settings).__name__}")
    return settings
