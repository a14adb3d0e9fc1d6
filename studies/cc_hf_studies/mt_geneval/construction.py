"""Data in the manner of MT-GenEval from one's own English text: sentences with a counterfactual of
the other gender, and sentences whose gender the sentences before decide (Currey et al. 2022,
section 2). The paper's annotators checked and rewrote each sentence; here rules do, and what they
write must be read.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from cc_hf.cues.english_pronouns import PRONOUNS, with_pronouns
from cc_hf.errors import InputError
from cc_hf.reading import stream_lines
from cc_hf.tables.rows import read_rows
from cc_hf.test_sets.mt_geneval.reader import sub_category

__all__ = [
    "Constructed",
    "contextual_rows",
    "counterfactual",
    "counterfactual_rows",
    "documents",
    "gender_of",
    "professions",
]

_GENDERS = ("female", "male")
_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_TITLE = re.compile(r" [A-Z]")  # behind "Lady" before a name
_POSSESSIVE = re.compile(r"[’']s?$")
#: Capitalised words that name no person.
_CAPITALISED = """
I I'm I've I'll I'd Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March
April May June July August September October November December English French German Spanish
Italian Russian Chinese Japanese American British European African Asian Mr Mrs Ms Dr
A After All Also Although An And As At Because Before Both But By During Each Every For From Here
How However If In It Its Later Many Most My No Not Now On Once One Or Other Our Over She Since So
Some Such That The Their Then There These They This Those Though Today Two Under Until We What When
Where Which While Who With You Your
"""
_CONTEXT = 2  # sentences before


@dataclass(frozen=True)
class Constructed:
    """Rows that were made of sentences.

    Attributes:
        counts: n_sentences, n_rows, and why others were left out.
    """

    rows: tuple[Mapping[str, Any], ...]
    counts: Mapping[str, int]


@cache
def _swaps() -> Mapping[str, Mapping[str, str]]:
    """Return gender -> word -> word of the other gender."""
    swaps: dict[str, dict[str, str]] = {gender: {} for gender in _GENDERS}
    path = Path(str(files(__package__).joinpath("gendered_words.tsv")))
    for _, row in read_rows(path):
        if row["swapped"] != "male":
            swaps["female"][row["female"]] = row["male"]
        if row["swapped"] != "female":
            swaps["male"].setdefault(row["male"], row["female"])
    return swaps


def professions(path: Path | None = None) -> dict[str, str]:
    """Return professions without a gender in English -> stereotype: female, male or neutral.

    Args:
        path: a .tsv, .csv or .jsonl file with the columns profession and stereotype; None for the
            40 occupations of WinoMT, whose stereotypes are those of Zhao et al. (2018), and some
            neutral ones.
    """
    default = Path(str(files(__package__).joinpath("professions.tsv")))
    chosen = {}
    for line, row in read_rows(path or default):
        name, stereotype = row.get("profession", "").strip(), row.get("stereotype", "")
        if not name or stereotype not in (*_GENDERS, "neutral"):
            raise InputError(
                f"{line}: expected a profession and a stereotype (female, male or neutral), got"
                f" {name!r} and {stereotype!r}"
            )
        chosen[name.lower()] = stereotype
    return chosen


def _other(gender: str) -> str:
    return _GENDERS[gender == "female"]


def gender_of(text: str) -> str:
    """Return the gender of the people that a text refers to: "female", "male", "both" or ""."""
    words = {_POSSESSIVE.sub("", word.lower()) for word in _WORD.findall(text)}
    seen = [g for g in _GENDERS if words & (PRONOUNS[g] | _swaps()[g].keys())]
    return "both" if len(seen) == len(_GENDERS) else "".join(seen)


def counterfactual(text: str) -> str:
    """Return an English text with all gendered words in the other gender.

    Male words that are also common words of another meaning, such as "count" and "host", stay.

    Examples:
        >>> counterfactual("Her family moved to the Midwest, where she met nuns.")
        'His family moved to the Midwest, where he met monks.'
    """
    gender = gender_of(text)
    if gender not in _GENDERS:
        raise InputError(
            f"text: expected gendered words of one gender, got {gender or 'none'}: {text}"
        )
    swaps = _swaps()[gender]

    def swapped(match: re.Match[str]) -> str:
        word = match.group()
        end = _POSSESSIVE.search(word)
        stem, rest = (word[: end.start()], end.group()) if end else (word, "")
        new = swaps.get(stem.lower())
        if stem == "Lady" and _TITLE.match(text, match.end()):
            new = "lord"
        if new is None:
            return word
        cased = new.upper() if stem.isupper() else new.capitalize() if stem[0].isupper() else new
        return cased + rest

    return with_pronouns(_WORD.sub(swapped, text), _other(gender))


def counterfactual_rows(
    sentences: Iterable[str], *, names: Collection[str] | None = None
) -> Constructed:
    """Return each sentence about people of one gender against its counterfactual, and the reverse
    (section 2.1).

    Args:
        names: first names; sentences with one are dropped. None drops all sentences with a
            capitalised word that could be a name.
    """
    sentences = list(dict.fromkeys(text.strip() for text in sentences if text.strip()))
    has_name = _name_finder(sentences, names)
    rows: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    for text in sentences:
        gender = gender_of(text)
        if gender not in _GENDERS:
            left_out["n_both_genders" if gender else "n_no_gender"] += 1
        elif has_name(text):
            left_out["n_names"] += 1
        else:
            pair = {gender: text, _other(gender): counterfactual(text)}
            for of, source in pair.items():
                rows.append(
                    {
                        "id": f"{len(rows) // 2}.{of}",
                        "source": source,
                        "correct_sources": [source],
                        "incorrect_sources": [pair[_other(of)]],
                        "category": of,
                    }
                )
    reasons = ("n_no_gender", "n_both_genders", "n_names")
    return Constructed(
        tuple(rows),
        {
            "n_sentences": len(sentences),
            "n_rows": len(rows),
            **{reason: left_out[reason] for reason in reasons},
        },
    )


def documents(path: Path) -> Iterator[list[str]]:
    """Yield the sentences of each document of a file; blank lines separate documents."""
    document: list[str] = []
    for line in stream_lines(path):
        if text := line.strip():
            document.append(text)
        elif document:
            yield document
            document = []
    if document:
        yield document


def contextual_rows(
    texts: Iterable[Sequence[str]],
    of_professions: Mapping[str, str],
    *,
    names: Collection[str] | None = None,
    n: int | None = None,
    seed: int = 0,
) -> Constructed:
    """Return sentences with one profession and no gender, after some that show it (section 2.2).

    Args:
        n: number of rows of each sub-category (stereotype and gender), drawn at random, so that all
            are equally frequent; None for all.
    """
    texts = list(texts)
    has_name = _name_finder([sentence for text in texts for sentence in text], names)
    pattern = re.compile(
        rf"\b(?:{'|'.join(map(re.escape, sorted(of_professions, key=len, reverse=True)))})\b",
        re.IGNORECASE,
    )
    by_category: dict[str, list[dict[str, Any]]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    number = 0
    for text in texts:
        for position, sentence in enumerate(text):
            number += 1
            mentions = list(pattern.finditer(sentence))
            context = " ".join(text[max(0, position - _CONTEXT) : position])
            gender = gender_of(context)
            reason = (
                "n_no_profession"
                if len(mentions) != 1
                else "n_gendered"
                if gender_of(sentence)
                else "n_context"
                if gender not in _GENDERS
                else "n_names"
                if has_name(sentence)
                else ""
            )
            if reason:
                left_out[reason] += 1
                continue
            stereotype = of_professions[mentions[0].group().lower()]
            category = sub_category(stereotype, gender)
            by_category[category].append(
                {
                    "id": str(number),
                    "source": sentence,
                    "context": context,
                    "focus": mentions[0].group(),
                    "gold": gender,
                    "category": category,
                }
            )
    rows = [row for name in sorted(by_category) for row in _drawn(name, by_category[name], n, seed)]
    reasons = ("n_no_profession", "n_gendered", "n_context", "n_names")
    counts = {"n_sentences": number, "n_rows": len(rows)}
    return Constructed(tuple(rows), counts | {reason: left_out[reason] for reason in reasons})


def _drawn(
    category: str, rows: list[dict[str, Any]], n: int | None, seed: int
) -> list[dict[str, Any]]:
    if n is None:
        return rows
    if len(rows) < n:
        raise InputError(
            f"n: expected at most {len(rows)}, the rows of {category}, got {n}; give more text, or"
            " a lower number"
        )
    drawn = random.Random(f"{seed}:{category}").sample(range(len(rows)), n)
    return [rows[i] for i in sorted(drawn)]


def _name_finder(sentences: Iterable[str], names: Collection[str] | None) -> Any:
    """Return a function that says whether a sentence has a first name."""
    if names is not None:
        known = {name.lower() for name in names}
        return lambda text: any(word.lower() in known for word in _WORD.findall(text))
    # Without a list, a capitalised word that nowhere in the text is lower-cased could be a name.
    lower = {w for text in sentences for w in _WORD.findall(text) if not w[0].isupper()}
    common = lower | set(_CAPITALISED.lower().split())

    def has_name(text: str) -> bool:
        return any(
            word[0].isupper()
            and not word.isupper()
            and _POSSESSIVE.sub("", word.lower()) not in common
            and _POSSESSIVE.sub("", word.lower()) not in PRONOUNS["female"] | PRONOUNS["male"]
            and not any(_POSSESSIVE.sub("", word.lower()) in _swaps()[g] for g in _GENDERS)
            for word in _WORD.findall(text)
        )

    return has_name
