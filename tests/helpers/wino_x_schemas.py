"""Made-up Wino-X: "The A hit the B because it was TRIGGER.", where the trigger decides which noun
is meant; laid out as upstream lays it out.
"""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

from tests.helpers.samples import declare_wino_x

NOUNS = {
    "ball": ("Ball", "er"),
    "spoon": ("Löffel", "er"),
    "table": ("Tisch", "er"),
    "hammer": ("Hammer", "er"),
    "lamp": ("Lampe", "sie"),
    "vase": ("Vase", "sie"),
    "bag": ("Tasche", "sie"),
    "door": ("Tür", "sie"),
    "book": ("Buch", "es"),
    "glass": ("Glas", "es"),
    "boat": ("Boot", "es"),
    "knife": ("Messer", "es"),
}
NOMINATIVE, ACCUSATIVE = (
    {"er": "Der", "sie": "Die", "es": "Das"},
    {"er": "den", "sie": "die", "es": "das"},
)
TRIGGERS = (
    ("heavy", "schwer"),
    ("fragile", "dünn"),
)  # the first fits what hits, the second what is hit


def mt_rows(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return n schemas of two samples each, no two with the same nouns in the same order."""
    pairs = [(a, b) for a in NOUNS for b in NOUNS if NOUNS[a][1] != NOUNS[b][1]]
    draw = random.Random(seed)
    found = []
    for number, (first, second) in enumerate(draw.sample(pairs, n)):
        (subject, one), (object_, other) = NOUNS[first], NOUNS[second]
        for answer, (english, german) in enumerate(TRIGGERS, start=1):
            start = f"{NOMINATIVE[one]} {subject} traf {ACCUSATIVE[other]} {object_}, weil"
            found.append(
                {
                    "qID": f"S{number}-{answer}",
                    "sentence": f"The {first} hit the {second} because it was {english}.",
                    "translation1": f"{start} {one} {german} war.",
                    "translation2": f"{start} {other} {german} war.",
                    "answer": answer,
                    "pronoun1": one,
                    "pronoun2": other,
                    "referent1_en": first,
                    "referent2_en": second,
                    **{
                        f"{truth}_translation_referent_of_pronoun{i}_de": noun
                        for truth in ("true", "false")
                        for i, noun in ((1, subject), (2, object_))
                    },
                }
            )
    return found


def lm_rows(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return the same schemas as sentences with a gap in both languages."""
    found = []
    for row in mt_rows(n, seed=seed):
        options = [
            (
                f"the {row[f'referent{i}_en']}",
                (
                    f"{NOMINATIVE[row[f'pronoun{i}']].lower()}"
                    f" {row[f'true_translation_referent_of_pronoun{i}_de']}"
                ),
            )
            for i in (1, 2)
        ]
        found.append(
            {
                "qID": row["qID"],
                "sentence": row["sentence"],
                "context_en": row["sentence"].replace(" it ", " _ "),
                "answer": row["answer"],
                "context_de": row["translation1"].replace(
                    f", weil {row['pronoun1']} ", ", weil _ "
                ),
                **{
                    f"option{i}_{lang}": options[i - 1][side]
                    for i in (1, 2)
                    for side, lang in enumerate(("en", "de"))
                },
                **{
                    f"context_referent_of_option{i}_de": row[
                        f"true_translation_referent_of_pronoun{i}_de"
                    ]
                    for i in (1, 2)
                },
            }
        )
    return found


def lay_out(folder: Path, part: str, rows: list[dict[str, Any]], *, lang: str = "de") -> Path:
    """Write rows where upstream has them, in a folder that serves as data_dir."""
    path = folder / f"demelin/wino_x/data/{part}/en_{lang}_test.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    declare_wino_x(folder)
    return folder


def texts() -> list[str]:
    """Return all sentences that can be made."""
    rows = mt_rows(96)
    return [
        text for row in rows for text in (row["sentence"], row["translation1"], row["translation2"])
    ]


def save_schema_marian(folder: Path, *, n_pieces: int = 90, width: int = 32, seed: int = 0) -> Path:
    """Save a Marian model with random weights and the vocabulary of the sentences; with few pieces,
    pronouns consist of several.
    """
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts()),
        model_writer=trained,
        vocab_size=n_pieces,
        model_type="bpe",
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    pad = pieces.vocab_size()
    vocabulary = {**{pieces.id_to_piece(i): i for i in range(pad)}, "<pad>": pad}
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(trained.getvalue())
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    torch.manual_seed(seed)
    sizes = {
        "d_model": width,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_ffn_dim": 2 * width,
        "decoder_ffn_dim": 2 * width,
    }
    config = MarianConfig(
        vocab_size=pad + 1,
        **sizes,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        dropout=0.0,
        max_position_embeddings=64,
        pad_token_id=pad,
        eos_token_id=0,
        decoder_start_token_id=pad,
        forced_eos_token_id=0,
        init_std=0.15,
    )
    MarianMTModel(config).save_pretrained(folder)
    spm = [str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")]
    MarianTokenizer(*spm, source_lang="en", target_lang="de", model_max_length=64).save_pretrained(
        folder
    )
    return folder


ROW = {
    "qID": "Q1-1",
    "sentence": "The nurse put the bag on the table because it was heavy.",
    "translation1": "Die Pflegerin stellte die Tasche auf den Tisch, weil sie schwer war.",
    "translation2": "Die Pflegerin stellte die Tasche auf den Tisch, weil er schwer war.",
    "answer": 1,
    "pronoun1": "sie",
    "pronoun2": "er",
    "referent1_en": "bag",
    "referent2_en": "table",
    "true_translation_referent_of_pronoun1_de": "Tasche",
    "true_translation_referent_of_pronoun2_de": "Tisch",
    "false_translation_referent_of_pronoun1_de": "Tasche",
    "false_translation_referent_of_pronoun2_de": "Tisch",
}
TWIN = {
    **ROW,
    "qID": "Q1-2",
    "sentence": str(ROW["sentence"]).replace("heavy", "quite strong"),
    "answer": 2,
}


def swapped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the same ids in which everything numbered 1 and 2 is swapped, and the
    answer.
    """
    exchange = str.maketrans("12", "21")
    return [
        {
            "qID": row["qID"],
            **{key.translate(exchange): value for key, value in row.items() if key != "qID"},
            "answer": 3 - row["answer"],
        }
        for row in rows
    ]
