"""DistilLingEval (Vamvas & Sennrich 2021): English sentences with a German translation and the same
translation with one error, such as a negation that is lost.

`files.tsv` holds the path, sha256 and size of the files that could be read when this was written;
the others are pinned by their commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.tables.rows import read_rows

__all__ = ["DECLARATION", "read_distil_lingeval"]

_REPOSITORY = "ZurichNLP/distil-lingeval"
_COMMIT = "2ef31c44f916387e8dc8e09b32adf7a7e1385057"
_FILES = ("src.en", "tgt.correct.de", "tgt.incorrect.de")
#: Name of a set -> its folder, what is wrong, and its numbers of examples in translations by people
#: and by a machine; None where it is not known.
_SETS: dict[str, tuple[str, str, dict[str, int | None]]] = {
    "nicht": ("polarity_particle_nicht_del", "“nicht” deleted", {"human": 2561, "mt": 888}),
    "kein": ("polarity_particle_kein_del", "“kein” → “ein”", {"human": 554, "mt": 201}),
    "affix": ("polarity_affix_del", "“un-” deleted", {"human": 408, "mt": 180}),
    "clause_omission": ("clause_omission", "a clause deleted", {"human": 1104, "mt": 1025}),
    "hypercorrect_genitive": (
        "hypercorrect_genitive",
        "the genitive after a preposition with the dative",
        {"human": 3403, "mt": 635},
    ),
    "placeholder_ding": ("placeholder_ding", "a noun → “Ding”", {"human": 18647, "mt": 18659}),
    "np_agreement": ("np_agreement", "a wrong determiner", {"human": None, "mt": 10595}),
    "subj_verb_agreement": (
        "subj_verb_agreement",
        "the wrong number of a verb",
        {"human": None, "mt": 6701},
    ),
}
_POLARITY = ("nicht", "kein", "affix")
_HASHES = {
    row["path"]: (row["sha256"], int(row["size"]))
    for _, row in read_rows(Path(__file__).with_name("files.tsv"))
}
_BY = {"human": "people", "mt": "a machine"}


def read_distil_lingeval(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[ContrastiveTranslationExample]:
    """Yield the examples of one set, or of the three of polarity; ids are 0-based lines."""
    name, _, variant = config.partition(".")
    for part in _POLARITY if name == "polarity" else (name,):
        folder = f"data/{_SETS[part][0]}.{variant}"
        files = [paths[f"{folder}/{file}"] for file in _FILES]
        for line, (source, correct, incorrect) in enumerate(aligned_lines(*files)):
            if not source.strip():
                # Upstream has one line without a source.
                continue
            if not correct.strip() or not incorrect.strip():
                raise DataError(
                    f"{files[1]}: line {line + 1}: expected a translation here and in"
                    f" {_FILES[2]}, got a blank line"
                )
            yield ContrastiveTranslationExample(
                f"{part}.{line}" if name == "polarity" else str(line),
                "en",
                "de",
                source,
                correct,
                (incorrect,),
                part,
                {"line": str(line)},
            )


def _source_files(part: str, variant: str) -> tuple[SourceFile, ...]:
    paths = [f"data/{_SETS[part][0]}.{variant}/{file}" for file in _FILES]
    return tuple(
        SourceFile(_REPOSITORY, _COMMIT, path, *_HASHES.get(path, ("", 0))) for path in paths
    )


def _config(name: str, variant: str) -> ConfigDeclaration:
    parts = _POLARITY if name == "polarity" else (name,)
    sizes = [_SETS[part][2][variant] for part in parts]
    wrong = "; ".join(_SETS[part][1] for part in parts)
    return ConfigDeclaration(
        f"{name}.{variant}",
        f"translations by {_BY[variant]}; {wrong}",
        ("de",),
        {"test": None if None in sizes else sum(filter(None, sizes))},
        tuple(file for part in parts for file in _source_files(part, variant)),
        ContrastiveTranslationExample,
        remark=_IMPLAUSIBLE if name in ("placeholder_ding", "hypercorrect_genitive") else "",
    )


_IMPLAUSIBLE = (
    "No system makes these errors: the authors made them to show a limit of minimal pairs."
)

DECLARATION = DatasetDeclaration(
    name="distil_lingeval",
    title="DistilLingEval",
    phenomenon="polarity, omission, agreement",
    description=(
        "DistilLingEval: English-German; does the translation beat the same one without its"
        " negation, without a clause, or with another error?"
    ),
    licence="other",
    homepage="https://github.com/ZurichNLP/distil-lingeval",
    citation_keys=("vamvas-sennrich-2021-limits",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=tuple(
        _config(name, variant) for variant in ("mt", "human") for name in ("polarity", *_SETS)
    ),
    default_config="polarity.mt",
    extra_keys=("line",),
    read=read_distil_lingeval,
)
