"""WinoMT (Stanovsky et al. 2019) with gender brackets as cues (Vamvas & Sennrich 2021).

The input is test.tsv, which has five columns and no header; for pairs (Manna et al. 2025) the lists
of stereotypes of mt_gender, which have four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.errors import DataError, InputError, in_file
from cc_hf.reading import Place, text_lines
from cc_hf.schema import ContrastiveSourceExample, Example, Focus, ProbingExample

__all__ = ["DECLARATION", "read_winomt"]

_GENDERS = ("male", "female", "neutral")
_STEREOTYPES = ("pro", "anti", "none")
_WITHOUT_CUES = ("all", "acl2019")
_TGT_LANGS = ("ar", "cs", "de", "es", "fr", "he", "it", "pl", "pt", "ru", "uk")
_FILE = SourceFile(
    repository="ZurichNLP/contrastive-conditioning",
    commit="b2f1b3195cb2bb36555ab2789c58055e747240bc",
    path="tasks/data/winomt/test.tsv",
    sha256="b99c279bcb7aa70e324df735779a905ea0387790af4dc3c4a921fad184fdaa44",
    size=380928,
)


_PRONOUN = re.compile(
    r"\b(?:she|he|they|her|him|them|his|their|hers|theirs|herself|himself|themselves)\b"
)
_COLUMNS = ("gender", "index", "sentence", "occupation", "stereotype")
_COMMIT = "586292861cf2efdda2dec03c69c3408995a8b293"
#: Stereotype -> the list of sentences with it; lines of one number are the same sentence with the
#: other gender.
_LISTS = {
    stereotype: SourceFile(
        repository="gabrielStanovsky/mt_gender",
        commit=_COMMIT,
        path=f"data/aggregates/en_{stereotype}.txt",
        sha256=sha256,
        size=size,
    )
    for stereotype, sha256, size in (
        ("pro", "ed06dd39ca549f8766e4958de15afe706e4f3185c1ec580125d0c71b9f530064", 144395),
        ("anti", "da3e5744ed70481c80333a082f06fa6696be5db20c12a48a74845b245ce502e1", 144358),
    )
}
#: Lines that are two sentences with the same gender, so no pair.
_NO_PAIRS = (1569, 1571)


# In its lists of stereotypes, mt_gender at 5862928 has other versions of these sentences, with the
# other gender. No archived translation has them.
_PRO_IN_MT_GENDER = ("2120", "2121")


def read_winomt(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[ContrastiveSourceExample | ProbingExample]:
    """Yield the rows in file order; ids are 0-based row numbers of test.tsv.

    `all` and `acl2019` have every row, without cues, since a neutral gender has none. In `acl2019`
    the stereotypes are those of mt_gender at 5862928, which differ in two rows. The other
    configurations have the rows with a gold gender of male or female, with cues.

    The cue is inserted before the first word of the occupation. `emnlp2021` instead replaces that
    one word by the cue and the occupation column, as the paper's program does, which damages 147
    rows ("[female] construction worker worker").

    `pairs` has the sentences of mt_gender's lists of stereotypes in pairs that differ in gender.
    Ids are 0-based lines and the stereotype: `12.pro` and `12.anti`, in this order.
    """
    return _pairs(paths) if config == "pairs" else _rows(paths[_FILE.path], config)


def _pairs(paths: Mapping[str, Path]) -> Iterator[ContrastiveSourceExample]:
    files = {stereotype: paths[file.path] for stereotype, file in _LISTS.items()}
    for number, lines in enumerate(aligned_lines(*files.values(), is_blank_allowed=False)):
        if number in _NO_PAIRS:
            continue
        genders = set()
        for (stereotype, path), line in zip(files.items(), lines, strict=True):
            with in_file(where := Place(path, number + 1)):
                gold, index, sentence, occupation = _columns(line, _COLUMNS[:4])
                focus = _focus(sentence, int(index), occupation)
                sides = gender_bracket_sources(sentence, focus, gold)
            genders.add(gold)
            extra = {"occupation": occupation, "stereotype": stereotype, "pair": str(number)}
            yield _example(f"{number}.{stereotype}", sentence, focus, sides, gold, extra)
        if len(genders) == 1:
            raise DataError(
                f"{where}: expected the other gender than in {files['pro']}, got {gold}"
            )


def _rows(path: Path, config: str) -> Iterator[ContrastiveSourceExample | ProbingExample]:
    for number, line in enumerate(text_lines(path), 1):
        where = Place(path, number)
        with in_file(where):
            gold, index, sentence, occupation, stereotype = _columns(line, _COLUMNS)
        if config not in _WITHOUT_CUES and (
            gold == "neutral" or (config in ("pro", "anti") and stereotype != config)
        ):
            continue
        with in_file(where):
            focus = _focus(sentence, int(index), occupation)
        if config in _WITHOUT_CUES:
            label = (
                "pro"
                if config == "acl2019" and str(number - 1) in _PRO_IN_MT_GENDER
                else stereotype
            )
            yield ProbingExample(
                str(number - 1),
                "en",
                "",
                sentence,
                category=gold,
                gold=gold,
                focus=focus,
                extra={"occupation": occupation, "stereotype": label},
            )
            continue
        if config == "emnlp2021":
            sides = _as_the_program(sentence.split(" "), int(index), occupation, gold)
        else:
            sides = gender_bracket_sources(sentence, focus, gold)
        extra = {"occupation": occupation, "stereotype": stereotype}
        yield _example(str(number - 1), sentence, focus, sides, gold, extra)


def _twins(example: Example) -> tuple[str, str] | None:
    """Return the sentence without its pronouns, and whom they mean."""
    who = {"female": "woman", "male": "man", "neutral": "nobody"}[example.category]
    return f"{example.extra['occupation']}: {_PRONOUN.sub('_', example.source)}", who


def _example(
    name: str,
    sentence: str,
    focus: Focus,
    sides: tuple[tuple[str, ...], tuple[str, ...]],
    gold: str,
    extra: dict[str, str],
) -> ContrastiveSourceExample:
    return ContrastiveSourceExample(
        id=name,
        src_lang="en",
        tgt_lang="",
        source=sentence,
        focus=focus,
        correct_sources=sides[0],
        incorrect_sources=sides[1],
        category=gold,
        gold=gold,
        extra=extra,
    )


def _columns(line: str, names: Sequence[str]) -> list[str]:
    columns = line.split("\t")
    if len(columns) != len(names):
        raise InputError(
            f"expected {len(names)} columns ({', '.join(names)}), got {len(columns)}: {line[:80]!r}"
        )
    values = dict(zip(names, columns, strict=True))
    for name, known in (("gender", _GENDERS), ("stereotype", _STEREOTYPES)):
        if values.get(name, known[0]) not in known:
            raise InputError(f"{name}: expected one of {', '.join(known)}, got {values[name]!r}")
    if not (values["index"].isascii() and values["index"].isdecimal()):
        raise InputError(f"index: expected a number from 0, got {values['index']!r}")
    return columns


def _start(source: str, index: int) -> int:
    """Return where the token of an index starts, between single spaces: two make an empty token."""
    tokens = source.split(" ")
    if not 0 <= index < len(tokens):
        raise InputError(f"token index: expected 0 to {len(tokens) - 1}, got {index} in {source!r}")
    return sum(len(token) + 1 for token in tokens[:index])


def _focus(sentence: str, index: int, occupation: str) -> Focus:
    start = _start(sentence, index)
    start += len(sentence[start:]) - len(sentence[start:].lstrip(" "))
    written = sentence[start : start + len(occupation)]
    if written.lower() != occupation.lower():
        raise InputError(
            f"expected the occupation {occupation!r} at token {index}, got"
            f" {sentence[start:].split(' ')[0]!r} in {sentence!r}"
        )
    return Focus(written, start)


def _as_the_program(
    tokens: list[str], index: int, occupation: str, gold: str
) -> tuple[tuple[str], tuple[str]]:
    other = "female" if gold == "male" else "male"
    variants = []
    for gender in (gold, other):
        changed = list(tokens)
        changed[index] = f"[{gender}] {occupation}"
        variants.append(" ".join(changed))
    return (variants[0],), (variants[1],)


_N_LINES = 3888
_REMARK = (
    "This configuration leaves out the 240 of WinoMT's 3,888 rows whose gold gender is neutral, as"
    " Vamvas & Sennrich 2021 do. Published figures by pattern matching (accuracy and delta_g of"
    " Stanovsky et al. 2019) are on all 3,888 rows; for these, evaluate the configuration all with"
    " winomt_pattern_matching"
)
_PART_REMARK = (
    "This configuration has only the rows of one stereotype, {}. Published figures by pattern"
    " matching (Stanovsky et al. 2019) are on all 3,888 rows, configuration all; delta_s there is"
    " the difference of accuracy between pro and anti"
)

_PAIRS_REMARK = (
    "This configuration has pairs of sentences that differ in gender, from the lists of stereotypes"
    " of mt_gender. Published figures by pattern matching (Stanovsky et al. 2019) are on all 3,888"
    " rows, configuration all"
)

DECLARATION = DatasetDeclaration(
    name="winomt",
    title="WinoMT",
    phenomenon="gender",
    twins=_twins,
    description=(
        "WinoMT: sentences with two people, one of whom a pronoun reveals as male or female; does"
        " the translation of the occupation show it?"
    ),
    licence="mit",
    homepage="https://github.com/gabrielStanovsky/mt_gender",
    citation_keys=("stanovsky-2019", "vamvas-sennrich-2021"),
    revision=_FILE.commit,
    cues="gender_brackets",
    files=(_FILE,),
    configs=(
        ConfigDeclaration(
            "default",
            "cue inserted before the occupation, right for all rows",
            _TGT_LANGS,
            {"test": 3648},
            remark=_REMARK,
            line_keys={_N_LINES: "id"},
            takes_any_target=True,
        ),
        ConfigDeclaration(
            "emnlp2021",
            "cues exactly as the program of Vamvas & Sennrich 2021 places them, its defects"
            " included",
            _TGT_LANGS,
            {"test": 3648},
            remark=_REMARK,
            line_keys={_N_LINES: "id"},
            takes_any_target=True,
        ),
        ConfigDeclaration(
            "pro",
            "the rows of default in which the gender agrees with the stereotype",
            _TGT_LANGS,
            {"test": 1582},
            remark=_PART_REMARK.format("pro"),
            line_keys={_N_LINES: "id"},
            takes_any_target=True,
        ),
        ConfigDeclaration(
            "anti",
            "the rows of default in which the gender is contrary to the stereotype",
            _TGT_LANGS,
            {"test": 1586},
            remark=_PART_REMARK.format("anti"),
            line_keys={_N_LINES: "id"},
            takes_any_target=True,
        ),
        ConfigDeclaration(
            "pairs",
            "sentences with and against the stereotype, in pairs that differ in gender",
            _TGT_LANGS,
            {"test": 3164},
            files=tuple(_LISTS.values()),
            extra_keys=("occupation", "stereotype", "pair"),
            remark=_PAIRS_REMARK,
            takes_any_target=True,
        ),
        ConfigDeclaration(
            "all",
            "every row, the neutral ones too, without cues: what pattern matching judges",
            _TGT_LANGS,
            {"test": _N_LINES},
            form=ProbingExample,
        ),
        ConfigDeclaration(
            "acl2019",
            "as all, two rows with the stereotype that mt_gender's program gives them",
            _TGT_LANGS,
            {"test": _N_LINES},
            form=ProbingExample,
        ),
    ),
    default_config="default",
    extra_keys=("occupation", "stereotype"),
    read=read_winomt,
)
