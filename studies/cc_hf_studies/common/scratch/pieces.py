"""Vocabularies of SentencePiece in the form of Marian: one for both languages, or one for each."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.folders import new_folder
from cc_hf_studies.common.scratch.pairs import PairFiles

try:
    import sentencepiece
    from transformers import MarianTokenizer
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = [
    "EOS",
    "PAD_OF_TWO",
    "load_pieces",
    "train_pieces",
    "train_pieces_of_pairs",
    "vocabulary_files",
]

#: Ids of the vocabularies that are learned here. Padding has the last id of a joint vocabulary, and
#: the same id in two vocabularies, since a model has one id for it.
EOS, _UNK, PAD_OF_TWO = 0, 1, 2
_JOINT = ("source.spm", "target.spm", "vocab.json")
_TARGETS = "target_vocab.json"
_MOST_TEXTS = 10_000_000  # SentencePiece keeps the texts that it learns from in memory
_UNUSED = b"\x18\x05"  # the field `type` of a piece in a model: cut it into its parts


def train_pieces(
    texts: Iterable[str], folder: Path, n_pieces: int, *, model_type: str = "unigram"
) -> None:
    """Learn one SentencePiece vocabulary for both languages, of `n_pieces` without padding."""
    folder.mkdir(parents=True, exist_ok=True)
    _save([_learned(texts, n_pieces, model_type)] * 2, folder, separate=False)


def train_pieces_of_pairs(
    pairs: PairFiles,
    folder: Path,
    n_pieces: int,
    *,
    model_type: str = "unigram",
    separate: bool = False,
    threshold: int = 1,
) -> None:
    """Learn the vocabularies of a training corpus, from ten million texts of it at most.

    Args:
        threshold: number of times that a piece must occur in the whole segmented corpus of a
            language to be used in it. Rarer pieces are cut into smaller ones, as by
            `--vocabulary-threshold` of subword-nmt; single characters stay.
    """
    step = -(-2 * len(pairs) // _MOST_TEXTS)

    def texts(*sides: int) -> Iterator[str]:
        return (pair[side] for pair in islice(pairs, 0, None, step) for side in sides)

    used = [texts(0), texts(1)] if separate else [texts(0, 1)]
    models = [_learned(some, n_pieces, model_type) for some in used]
    models = models if separate else models * 2
    if threshold > 1:
        sides = [(pair[0] for pair in pairs), (pair[1] for pair in pairs)]
        models = [_without_rare(*side, threshold) for side in zip(models, sides, strict=True)]
    with new_folder(folder) as building:
        _save(models, building, separate=separate)


def _learned(texts: Iterable[str], n_pieces: int, model_type: str) -> bytes:
    """Return a model of SentencePiece that is learned from texts."""
    trained = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=trained,  # not a file: the model would record the path
            vocab_size=n_pieces,
            model_type=model_type,
            character_coverage=0.9999,
            normalization_rule_name="identity",
            bos_id=-1,
            pad_id=-1,
            eos_id=EOS,
            unk_id=_UNK,
            num_threads=2,
            minloglevel=2,
        )
    except RuntimeError as error:  # of SentencePiece, which says the largest or least number
        raise InputError(
            f"pieces: expected a number that these texts have pieces for, got {n_pieces}"
            f" ({str(error).splitlines()[-1]})"
        ) from error
    return trained.getvalue()


def _without_rare(model: bytes, texts: Iterable[str], threshold: int) -> bytes:
    """Return a model that uses only pieces that occur often enough in texts."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    counts: Counter[int] = Counter()
    for text in texts:
        counts.update(processor.encode(text))
    rare = [
        counts[i] < threshold and len(processor.id_to_piece(i)) > 1 and i not in (EOS, _UNK)
        for i in range(processor.vocab_size())
    ]
    # SentencePiece marks pieces as unused by `SetVocabulary`, which Python does not have. A model
    # is a message of protobuf that begins with its pieces, each a message in field 1; a field that
    # stands last in a message counts.
    changed, position = bytearray(), 0
    for is_rare in rare:
        size, start = _varint(model, position + 1)
        position = start + size
        body = model[start:position] + _UNUSED * is_rare
        changed += b"\x0a" + _as_varint(len(body)) + body
    return bytes(changed) + model[position:]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number of protobuf and the position behind it."""
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return number, position


def _as_varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


def _save(models: Sequence[bytes], folder: Path, *, separate: bool) -> None:
    """Write the models of both sides and the ids of their pieces."""
    used: list[dict[str, None]] = []
    for name, model in zip(_JOINT[:2], models, strict=True):
        (folder / name).write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        ids = range(processor.vocab_size())
        used.append({processor.id_to_piece(i): None for i in ids if not processor.is_unused(i)})
    if separate:
        for name, pieces in zip((_JOINT[2], _TARGETS), used, strict=True):
            first, rest = list(pieces)[:PAD_OF_TWO], list(pieces)[PAD_OF_TWO:]
            _save_ids([*first, "<pad>", *rest], folder / name)
    else:
        processor = sentencepiece.SentencePieceProcessor(model_proto=models[0])
        known = map(processor.id_to_piece, range(processor.vocab_size()))
        _save_ids(
            [*(p for p in known if p in used[0] or p in used[1]), "<pad>"], folder / _JOINT[2]
        )


def _save_ids(pieces: Sequence[str], path: Path) -> None:
    ids = {piece: number for number, piece in enumerate(pieces)}
    path.write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8", newline="\n")


def vocabulary_files(folder: Path) -> list[Path]:
    """Return the files of a vocabulary."""
    if missing := [name for name in _JOINT if not (folder / name).is_file()]:
        raise InputError(
            f"{folder}: expected a vocabulary of {', '.join(_JOINT)}, has no {missing[0]}; name the"
            " folder of a Marian model or of one that was trained here"
        )
    return [folder / name for name in (*_JOINT, _TARGETS) if (folder / name).is_file()]


def load_pieces(
    folder: Path, *, src_lang: str = "en", tgt_lang: str = "de", max_pieces: int = 256
) -> MarianTokenizer:
    """Load the vocabulary that was learned here, or that of a saved Marian model.

    Args:
        max_pieces: largest number of pieces of a sentence, EOS included.

    Raises:
        InputError: for a folder without these files, or ids other than those of `config_fields`.
    """
    files = vocabulary_files(folder)
    separate = files[-1].name == _TARGETS
    two: dict[str, Any] = {"target_vocab_file": str(files[-1]), "separate_vocabs": True}
    tokenizer = MarianTokenizer(
        *map(str, files[:3]),
        **(two if separate else {}),
        source_lang=src_lang,
        target_lang=tgt_lang,
        model_max_length=max_pieces,
    )
    for ids in (tokenizer.encoder, tokenizer.target_encoder) if separate else (tokenizer.encoder,):
        expected = (EOS, PAD_OF_TWO if separate else len(ids) - 1)
        if (ids.get("</s>"), ids.get("<pad>")) != expected:
            raise InputError(
                f"{folder}: expected a vocabulary with </s> as id {EOS} and <pad> as id"
                f" {expected[1]} of {len(ids)}, got {ids.get('</s>')} and {ids.get('<pad>')}"
            )
    return tokenizer
