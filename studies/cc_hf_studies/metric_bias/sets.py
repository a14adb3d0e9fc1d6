"""Pairs of translations that differ in the gender of a person alone, as the audit scores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.loading import declaration
from cc_hf.errors import FileError, InputError
from cc_hf.evaluation.material import Material, load_material
from cc_hf.reading import JSONL
from cc_hf.records import WORD
from cc_hf.rules import OneOf
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf.tables.rows import read_rows

__all__ = ["Pair", "Sets", "known_pairs", "open_pairs", "published_sets", "read_pairs"]

_GENDERS = ("male", "female")
#: Name of an open share -> the gender of the translation that stands as correct.
_PREFERRED = {"feminine_preference": "female", "masculine_preference": "male"}
_FORM = {
    **dict.fromkeys(("source", "masculine", "feminine", "id?"), WORD),
    "referent?": OneOf(*_GENDERS),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two translations that differ in gender, and the sources under which they are scored.

    Attributes:
        sources: gender that a source shows -> the source; "" for a source that shows none.
        referent: gender of the person that is meant, by the author of the text, where the source
            does not say it; "" if it is not known.
    """

    id: str
    masculine: str
    feminine: str
    sources: Mapping[str, str]
    referent: str = ""

    def requests(self, row: int) -> list[ScoringRequest]:
        """Return the masculine and the feminine translation under each source, in that order."""
        return [
            ScoringRequest(source, translation, row)
            for source in self.sources.values()
            for translation in (self.masculine, self.feminine)
        ]


def open_pairs(material: Material) -> list[Pair]:
    """Return the pairs of a set whose sources leave the gender open."""
    return [_open_pair(example) for example in material.examples]


def _open_pair(example: Any) -> Pair:
    extra = getattr(example, "extra", {})
    gender = _PREFERRED.get(extra.get("open_share", ""), "")
    referent = ""
    if not gender and "context" in extra:
        gender = referent = extra.get("gender", "")
    if not isinstance(example, ContrastiveTranslationExample) or gender not in _GENDERS:
        raise InputError(
            f"example {example.id}: expected contrastive translations of a source that leaves the"
            " gender open, such as gate es.translations or mt_geneval contextual_de"
        )
    texts = (example.correct_translation, example.contrastive_translations[0])
    masculine, feminine = texts if gender == "male" else texts[::-1]
    return Pair(example.id, masculine, feminine, {"": example.source}, referent)


def known_pairs(material: Material) -> list[Pair]:
    """Return the pairs of a set with a masculine and a feminine source."""
    twins: dict[str, dict[str, ContrastiveTranslationExample]] = {}
    for example in material.examples:
        extra = getattr(example, "extra", {})
        if not isinstance(example, ContrastiveTranslationExample) or not extra.get("pair"):
            raise InputError(
                f"example {example.id}: expected contrastive translations in pairs, such as"
                " mt_geneval counterfactual_de.translations"
            )
        twins.setdefault(extra["pair"], {})[example.category] = example
    pairs = []
    for name, genders in twins.items():
        if set(genders) != set(_GENDERS):
            raise InputError(
                f"pair {name}: expected a male and a female row, got {', '.join(sorted(genders))}"
            )
        sources = {gender: genders[gender].source for gender in _GENDERS}
        masculine, feminine = (genders[gender].correct_translation for gender in _GENDERS)
        pairs.append(Pair(name, masculine, feminine, sources))
    return pairs


@dataclass(frozen=True)
class Sets:
    """The published sets of a language pair, by the name of the set.

    Attributes:
        data: field `data` of signatures.
        others: texts of another language.
    """

    open_sets: Mapping[str, Sequence[Pair]]
    known_sets: Mapping[str, Sequence[Pair]]
    data: Mapping[str, str]
    others: Sequence[str]


def published_sets(src_lang: str, tgt_lang: str, data_dir: Path | None = None) -> Sets:
    """Return the sets of a language pair: of MT-GenEval and GATE, as far as they have it."""

    def material(dataset: str, config: str) -> Material | None:
        known = {known.name for known in declaration(dataset).configs}
        return load_material(dataset, config, data_dir=data_dir) if config in known else None

    counterfactual = "counterfactual_{}.translations"
    open_sets = {
        "MT-GenEval, contexts cut off": material("mt_geneval", f"contextual_{tgt_lang}"),
        "GATE": material("gate", f"{tgt_lang}.translations"),
    }
    known_sets = {"MT-GenEval": material("mt_geneval", counterfactual.format(tgt_lang))}
    given = {name: m for name, m in {**open_sets, **known_sets}.items() if m is not None}
    if src_lang != "en" or not given:
        raise InputError(
            f"expected pairs of your own (--pairs) for {src_lang or '?'}-{tgt_lang or '?'}, which"
            " neither mt_geneval nor gate has; a language pair (-l) says which is meant"
        )
    other = material("mt_geneval", counterfactual.format("de" if tgt_lang == "es" else "es"))
    return Sets(
        {name: open_pairs(m) for name, m in open_sets.items() if m is not None},
        {name: known_pairs(m) for name, m in known_sets.items() if m is not None},
        {name: m.origin.fields["data"] for name, m in given.items()},
        [pair.feminine for pair in known_pairs(other)] if other is not None else [],
    )


def read_pairs(path: Path) -> list[Pair]:
    """Read your own pairs whose sources leave the gender open.

    Each line is an object with `source`, `masculine` and `feminine`, and optionally `id` and
    `referent` (male or female).
    """
    pairs = []
    for number, (where, row) in enumerate(read_rows(path, JSONL, _FORM)):
        if row["masculine"] == row["feminine"]:
            raise FileError(where, "expected translations that differ, got the same twice")
        pairs.append(
            Pair(
                row.get("id", str(number)),
                row["masculine"],
                row["feminine"],
                {"": row["source"]},
                row.get("referent", ""),
            )
        )
    if not pairs:
        raise FileError(path, "expected at least one pair, got none")
    return pairs
