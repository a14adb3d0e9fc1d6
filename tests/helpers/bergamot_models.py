"""Tiny students of Bergamot with random weights, written in the formats of Marian."""

import contextlib
import struct
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from cc_hf.errors import DataError
from tests.helpers.models import MARIAN_MARKS, TEXT, trained_pieces

FLOAT32, INT8, CHARACTERS = 0x404, 0x4101, 0x101
WIDTH, INNER, N_HEADS = 16, 32, 2
TWO_VOCABULARIES = {"tied-embeddings-all": False, "dim-vocabs": [70, 64]}
SOURCES = ["The doctor asked the nurse to help her.", "The key is here.", "The doctor"]
TRANSLATIONS = ["Der Arzt bat die Pflegerin um Hilfe.", "Der Schlüssel ist hier.", "Der Arzt"]


def settings(**changes: Any) -> dict[str, Any]:
    """The configuration of a student with two layers on each side, as Marian writes it."""
    off = ("right-left", "skip", "tied-embeddings", "tied-embeddings-src", "ulr")
    return {
        **{"type": "transformer", "version": "v1.9.56", "dec-cell": "ssru", "input-types": []},
        **{"dim-emb": WIDTH, "dim-vocabs": [70, 70], "enc-depth": 2, "dec-depth": 2},
        **{
            "lemma-dim-emb": 0,
            "tied-embeddings-all": True,
            **dict.fromkeys(
                (*off, "transformer-no-projection", "transformer-train-position-embeddings"), False
            ),
        },
        **{"transformer-decoder-autoreg": "rnn", "transformer-dim-ffn": INNER},
        **{"transformer-ffn-activation": "relu", "transformer-ffn-depth": 2},
        **{"transformer-heads": N_HEADS, "transformer-postprocess": "dan"},
        **{"transformer-postprocess-emb": "d", "transformer-preprocess": ""},
        "transformer-tied-layers": [],
        **changes,
    }


def weights(config: Mapping[str, Any], *, seed: int = 0) -> dict[str, npt.NDArray[np.float32]]:
    """Random weights by Marian's names; matrices are (in, out)."""
    generator = np.random.default_rng(seed)
    width, inner = config["dim-emb"], config["transformer-dim-ffn"]
    made: dict[str, Any] = {}

    def matrix(name: str, n_in: int, n_out: int, bias: str = "") -> None:
        made[name] = generator.normal(0, n_in**-0.5, (n_in, n_out))
        if bias:
            made[bias] = generator.normal(0, 0.1, (1, n_out))

    def norm(name: str) -> None:
        made[f"{name}_ln_scale"] = generator.normal(1, 0.1, (1, width))
        made[f"{name}_ln_bias"] = generator.normal(0, 0.1, (1, width))

    def attention(name: str) -> None:
        for letter in "qkvo":
            matrix(f"{name}_W{letter}", width, width, f"{name}_b{letter}")
        norm(f"{name}_Wo")

    n_source, n_target = config["dim-vocabs"]
    if config["tied-embeddings-all"]:
        made["Wemb"] = generator.normal(0, 0.5, (n_source, width))
    else:
        made["encoder_Wemb"] = generator.normal(0, 0.5, (n_source, width))
        made["decoder_Wemb"] = generator.normal(0, 0.5, (n_target, width))
        if not config["tied-embeddings"]:
            matrix("decoder_ff_logit_out_W", width, n_target)
    made["decoder_ff_logit_out_b"] = generator.normal(0, 0.5, (1, n_target))
    for side, depth in (("encoder", config["enc-depth"]), ("decoder", config["dec-depth"])):
        for number in range(1, depth + 1):
            layer = f"{side}_l{number}"
            if side == "decoder" and config["transformer-decoder-autoreg"] == "rnn":
                matrix(f"{layer}_rnn_W", width, width)
                matrix(f"{layer}_rnn_Wf", width, width, f"{layer}_rnn_bf")
                norm(f"{layer}_rnn_ffn")
            else:
                attention(f"{layer}_self")
            if side == "decoder":
                attention(f"{layer}_context")
            matrix(f"{layer}_ffn_W1", width, inner, f"{layer}_ffn_b1")
            matrix(f"{layer}_ffn_W2", inner, width, f"{layer}_ffn_b2")
            norm(f"{layer}_ffn_ffn")
    return {name: np.asarray(values, np.float32) for name, values in made.items()}


def binary(
    config: Mapping[str, Any] | bytes,
    tensors: Mapping[str, npt.NDArray[np.float32]],
    *,
    int8: bool = True,
    version: int = 1,
) -> bytes:
    """A file in Marian's binary format; matrices are in int8 unless `int8` is False."""
    text = config if isinstance(config, bytes) else yaml.safe_dump(dict(config)).encode()
    items: list[tuple[str, int, tuple[int, ...], bytes]] = [
        ("special:model.yml", CHARACTERS, (len(text) + 1,), text + b"\0")
    ]
    for name, values in tensors.items():
        if int8 and min(values.shape) > 1:
            multiplier = np.float32(127 / np.abs(values).max())
            rounded = np.round(values * multiplier).astype(np.int8)
            layout = rounded if name.endswith("Wemb") else rounded.T
            stored = np.ascontiguousarray(layout).tobytes() + struct.pack("<f", multiplier)
            items.append((name, INT8, values.shape, _padded(stored)))
            items.append((f"{name}_QuantMultA", FLOAT32, (1, 1), _padded(struct.pack("<f", 1.0))))
        else:
            items.append((name, FLOAT32, values.shape, _padded(values.tobytes())))
    names = [name.encode() + b"\0" for name, *_ in items]
    head = struct.pack("<2Q", version, len(items))
    for encoded, (_, kind, shape, data) in zip(names, items, strict=True):
        head += struct.pack("<4Q", len(encoded), kind, len(shape), len(data))
    head += b"".join(names)
    head += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    padding = -(len(head) + 8) % 256
    return head + struct.pack("<Q", padding) + bytes(padding) + b"".join(i[3] for i in items)


def vocabulary(*, size: int = 70, text: str = TEXT) -> bytes:
    """A SentencePiece model with </s> and <unk> first, as Marian has them."""
    return trained_pieces(text.splitlines() * 20, vocab_size=size, **MARIAN_MARKS)


def save_student(
    folder: Path, changes: Mapping[str, Any] = {}, *, seed: int = 0, int8: bool = True
) -> Path:
    """A folder as Mozilla publishes it; with two vocabularies if embeddings are not shared."""
    folder.mkdir(exist_ok=True)
    config, pair = settings(**changes), "ende"
    content = binary(config, weights(config, seed=seed), int8=int8)
    (folder / f"model.{pair}.intgemm.alphas.bin").write_bytes(content)
    if config["tied-embeddings-all"]:
        (folder / f"vocab.{pair}.spm").write_bytes(vocabulary(size=config["dim-vocabs"][0]))
    else:
        for side, size in zip(("srcvocab", "trgvocab"), config["dim-vocabs"], strict=True):
            (folder / f"{side}.{pair}.spm").write_bytes(vocabulary(size=size))
    return folder


def same_logprobs(evaluator: Any, other: Any) -> None:
    """Check that two evaluators give the same, to the bit."""
    actual, expected = (e.token_logprobs(SOURCES, TRANSLATIONS) for e in (evaluator, other))
    for row, plain in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(row, plain)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 256)


def read_mutations(content: bytes, header_end: int, path: Path, *, n: int = 200) -> None:
    """Read damaged copies of a file, none of which may crash or allocate much.

    Half of the mutations hit counts, names and shapes, where they do most.
    """
    from cc_hf.plugins.bergamot.marian_file import read_marian_file

    generator = np.random.default_rng(7)
    for number in range(n):
        mutated = bytearray(content)
        limit = header_end if number % 2 else len(content)
        for position in generator.integers(0, limit, size=generator.integers(1, 9)):
            mutated[position] = generator.integers(0, 256)
        if number % 5 == 0:
            del mutated[generator.integers(0, len(mutated)) :]
        path.write_bytes(bytes(mutated))
        limit = 2 * len(content) + 2**20  # and a megabyte for the parsed configuration
        with limited_allocations(limit), contextlib.suppress(DataError):
            read_marian_file(path)  # any other error fails the test


@contextlib.contextmanager
def limited_allocations(n_bytes: int) -> Iterator[None]:
    """Fail when more bytes are allocated at once."""
    tracemalloc.start()
    try:
        yield
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < n_bytes
