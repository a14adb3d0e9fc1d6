"""Made-up Wino-X: "The A hit the B because it was TRIGGER.", where the trigger decides which noun
is meant; laid out as upstream lays it out.
"""

import random
from pathlib import Path
from typing import Any

from tests.helpers.lines import write_jsonl
from tests.helpers.models import MARIAN_MARKS, save_marian, trained_pieces
from tests.helpers.samples import declare_wino_x, german_referents

_GENDERS = {
    "er": "ball Ball spoon Löffel table Tisch hammer Hammer",
    "sie": "lamp Lampe vase Vase bag Tasche door Tür",
    "es": "book Buch glass Glas boat Boot knife Messer",
}
#: English noun -> the German one and its pronoun.
NOUNS = {
    english: (german, pronoun)
    for pronoun, words in _GENDERS.items()
    for english, german in zip(words.split()[::2], words.split()[1::2], strict=True)
}
NOMINATIVE = {"er": "Der", "sie": "Die", "es": "Das"}
ACCUSATIVE = {"er": "den", "sie": "die", "es": "das"}
# the first fits what hits, the second what is hit
TRIGGERS = (("heavy", "schwer"), ("fragile", "dünn"))


def mt_rows(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return n schemas of two samples each, no two with the same nouns in the same order."""
    pairs = [(a, b) for a in NOUNS for b in NOUNS if NOUNS[a][1] != NOUNS[b][1]]
    draw = random.Random(seed)
    actual = []
    for number, (first, second) in enumerate(draw.sample(pairs, n)):
        (subject, gender), (object_, other_gender) = NOUNS[first], NOUNS[second]
        for answer, (english, german) in enumerate(TRIGGERS, start=1):
            start = (
                f"{NOMINATIVE[gender]} {subject} traf {ACCUSATIVE[other_gender]} {object_}, weil"
            )
            row: dict[str, Any] = {
                "qID": f"S{number}-{answer}",
                "answer": answer,
                "pronoun1": gender,
                "pronoun2": other_gender,
            }
            row["sentence"] = f"The {first} hit the {second} because it was {english}."
            row["translation1"] = f"{start} {gender} {german} war."
            row["translation2"] = f"{start} {other_gender} {german} war."
            row |= {"referent1_en": first, "referent2_en": second}
            actual.append(row | german_referents(subject, object_))
    return actual


def lm_rows(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return the same schemas as sentences with a gap in both languages."""
    actual = []
    for row in mt_rows(n, seed=seed):
        gap = row["translation1"].replace(f", weil {row['pronoun1']} ", ", weil _ ")
        made = {
            **{name: row[name] for name in ("qID", "sentence", "answer")},
            "context_en": row["sentence"].replace(" it ", " _ "),
            "context_de": gap,
        }
        for i in (1, 2):
            noun = row[f"true_translation_referent_of_pronoun{i}_de"]
            article = NOMINATIVE[row[f"pronoun{i}"]].lower()
            made |= {f"option{i}_en": f"the {row[f'referent{i}_en']}"}
            made |= {f"option{i}_de": f"{article} {noun}"}
            made |= {f"context_referent_of_option{i}_de": noun}
        actual.append(made)
    return actual


def lay_out(folder: Path, part: str, rows: list[dict[str, Any]], *, lang: str = "de") -> Path:
    """Write rows where upstream has them, in a folder that serves as data_dir."""
    write_jsonl(folder / f"demelin/wino_x/data/{part}/en_{lang}_test.jsonl", rows)
    declare_wino_x(folder)
    return folder


def texts() -> list[str]:
    """Return all sentences that can be made."""
    rows = mt_rows(96)
    names = ("sentence", "translation1", "translation2")
    return [row[name] for row in rows for name in names]


def save_schema_marian(folder: Path, *, n_pieces: int = 90, width: int = 32, seed: int = 0) -> Path:
    """Save a Marian model with random weights and the vocabulary of the sentences; with few pieces,
    pronouns consist of several.
    """
    pieces = trained_pieces(texts(), vocab_size=n_pieces, model_type="bpe", **MARIAN_MARKS)
    part = {"layers": 1, "ffn_dim": 2 * width, "attention_heads": 4}
    sizes: Any = {
        **{f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in part.items()},
        "d_model": width,
        "max_position_embeddings": 64,
    }
    return save_marian(folder, pieces, seed=seed, **sizes, dropout=0.0, init_std=0.15)


ROW = {
    "qID": "Q1-1",
    "answer": 1,
    "pronoun1": "sie",
    "pronoun2": "er",
    "sentence": "The nurse put the bag on the table because it was heavy.",
    "translation1": "Die Pflegerin stellte die Tasche auf den Tisch, weil sie schwer war.",
    "translation2": "Die Pflegerin stellte die Tasche auf den Tisch, weil er schwer war.",
    "referent1_en": "bag",
    "referent2_en": "table",
    **german_referents("Tasche", "Tisch"),
}
TWIN = {**ROW, "qID": "Q1-2", "answer": 2}
TWIN["sentence"] = str(ROW["sentence"]).replace("heavy", "quite strong")


def swapped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the same ids in which everything numbered 1 and 2 is swapped, and the
    answer.
    """
    exchange = str.maketrans("12", "21")
    others = [{key.translate(exchange): value for key, value in row.items()} for row in rows]
    return [{**other, "answer": 3 - other["answer"]} for other in others]
