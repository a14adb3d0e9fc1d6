"""The submissions of a folder: which file holds the translations of which system into which
language, and which files do not fit.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.data.files.translations import LineCountError, read_translations
from cc_hf.data.files.wmt_files import is_wmt
from cc_hf.errors import CCError, FileError, InputError, shown
from cc_hf.evaluation.material import Material
from cc_hf.files import file_sha256, file_slug, is_folder, name_key
from cc_hf.languages import base_code, language_name
from cc_hf.normalization import is_blank
from cc_hf.plugins.campaign.file_names import FileName, pair_name, read_name
from cc_hf.reading import read_text
from cc_hf.records import parse_objects
from cc_hf.text.other_languages import other_language

__all__ = ["Fault", "Submission", "find_submissions", "is_wmt_json", "reason_of"]

# Heads of elements are read without a parser: SGM is no XML. The lookbehind lets a match begin only
# where a name begins; otherwise a long name takes quadratic time.
_SIDE = re.compile(r"<(src|srcset|hyp|tstset|hypset|doc)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_SYSTEMS = ("system", "sysid")
_LANGUAGES = ("lang", "trglang")
_ID, _TEXT = "doc_id", "hypothesis"  # keys of WMT's JSONL since 2025
_PARTS = "_#_"  # what stands between the parts of its ids
_BEGINNING = 4096  # bytes
# Texts by which the language of a file is told: the first are enough, and fewer than five may be
# names or quotations.
_N_READ, _FEWEST_READ = 200, 5


class Fault(NamedTuple):
    """A file that is not judged.

    Attributes:
        file: its path in the folder of submissions.
        reason: what was expected, and what came.
        pair, system: what it would have been; "" if that is not known.
    """

    file: str
    reason: str
    pair: str = ""
    system: str = ""


@dataclass(frozen=True)
class Submission:
    """The translations of a system into a language.

    Attributes:
        file: the path of the file in the folder of submissions.
        part: the system in a file of WMT that has several; "" for the whole file.
        hypotheses: id of a document -> its translation, of JSONL of WMT; None for other files.
    """

    pair: str
    system: str
    path: Path
    file: str
    part: str = ""
    hypotheses: Mapping[str, str] | None = None

    @property
    def digest(self) -> str:
        """What a result depends on of the file."""
        return f"{file_sha256(self.path)}#{self.part}"

    def translations(self, material: Material) -> str | list[str]:
        """Return what is judged: the file as `evaluate` reads it, or a text for each example.

        Raises:
            InputError: for translations that do not fit the examples.
        """
        examples = material.examples
        if self.hypotheses is not None:
            texts: Sequence[str] = _of_documents(self.hypotheses, [e.id for e in examples])
            source: str | list[str] = [*texts]
        else:
            source = f"{self.path}#{self.part}" if self.part else str(self.path)
            lengths = material.translated_lines()
            try:
                texts = read_translations(source, examples, other_lengths=lengths).translations
            except LineCountError as error:
                counts = " or ".join(f"{n:,}" for n in sorted({len(examples), *lengths}))
                raise InputError(f"expected {counts} lines, got {error.n_lines:,}") from None
        _check_language(texts, material.tgt_lang)
        return source


def find_submissions(
    folder: Path,
    known: Callable[[str], bool],
    *,
    only: str = "",
    test_sets: Collection[str] = (),
    output: Path | None = None,
    others: Collection[Path] = (),
) -> tuple[list[Submission], list[Fault]]:
    """Read the names of all files, and the beginnings of those that hold several systems.

    Args:
        known: whether the test set has a language pair.
        only: the pair of the files where no name says any; "" for none.
        test_sets: names of test sets, which are no part of the name of a system.
        output: a folder that may lie in it and holds no submissions; None for none.
        others: files in it that are no submissions.

    Returns:
        The submissions by pair and system, each of which occurs once; and the other files.

    Raises:
        InputError: for a folder that does not exist or holds no file.
    """
    if not is_folder(folder):
        raise InputError(f"submissions: expected a folder, got {folder}")
    paths = [p for p in sorted(folder.rglob("*")) if not (p.is_dir() or _is_hidden(p, folder))]
    paths = [path for path in paths if path not in others]
    if output is not None and is_folder(output):
        written = output.resolve()
        paths = [path for path in paths if written not in path.resolve().parents]
    if not paths:
        raise InputError(f"submissions: expected a folder with files, {folder} holds none")
    only = only or pair_name(folder.resolve().name)
    names: dict[Path, FileName] = {}
    faults = []
    for path in paths:
        try:
            if not path.is_file():
                raise InputError("expected a file, got a broken link or a device")
            names[path] = read_name(path.relative_to(folder), known, test_sets)
        except InputError as error:
            faults.append(Fault(path.relative_to(folder).as_posix(), str(error)))
    # A folder with a file that is named after a pair alone has the files of one system.
    of_systems = {path.parent for path, name in names.items() if not name.system and name.folder}
    # A pair is guessed only where no file names one: beside en-de.txt, a file such as en-langs.txt
    # would be judged as translations into a language that it is not in.
    any_pair = any(name.pair for name in names.values())
    submissions: list[Submission] = []
    for path, name in names.items():
        file = path.relative_to(folder).as_posix()
        if path.parent in of_systems:
            system = ".".join(filter(None, [name.folder, name.system]))
            name = name._replace(system=system)
        if not any_pair:
            name = name._replace(pair=only)
        try:
            submissions += _of_file(path, file, name, known)
        except (CCError, OSError) as error:
            faults.append(Fault(file, reason_of(error, path), name.pair, name.system))
    unique, doubled = _unique(submissions)
    return unique, [*faults, *doubled]


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _of_file(
    path: Path, file: str, name: FileName, known: Callable[[str], bool]
) -> Iterator[Submission]:
    """Yield the submissions of a file.

    Raises:
        InputError: for a file without a pair or a system, or that cannot be read.
    """
    with path.open("rb") as opened:
        beginning = opened.read(_BEGINNING)
    if not beginning.strip():
        raise InputError("expected translations, got an empty file")
    start = beginning.decode("utf-8", "replace")
    if is_wmt(start):
        yield from _of_wmt(path, file, name, known)
    elif is_wmt_json(start):
        yield from _of_json(path, file, name)
    else:
        yield Submission(_checked_pair(name), _checked_system(name), path, file)


def _checked_pair(name: FileName) -> str:
    if not name.pair:
        raise InputError("expected a language pair in the name, such as en-de.SYSTEM.txt, got none")
    return name.pair


def _checked_system(name: FileName) -> str:
    if not name.system:
        raise InputError("expected the name of a system, such as en-de.SYSTEM.txt, got none")
    return name.system


def _of_wmt(
    path: Path, file: str, name: FileName, known: Callable[[str], bool]
) -> Iterator[Submission]:
    """Yield the systems of XML or SGM of WMT; its languages count where the name says none."""
    sources: dict[str, None] = {}
    systems: dict[str, str] = {}  # system -> its language
    target = ""
    for side, text in _SIDE.findall(read_text(path)):
        attributes = {
            key.lower(): html.unescape(double or single)
            for key, double, single in _ATTRIBUTE.findall(text)
        }
        system = next((attributes[key] for key in _SYSTEMS if attributes.get(key)), "")
        language = next((attributes[key] for key in _LANGUAGES if attributes.get(key)), "")
        if side.lower().startswith("src"):
            sources[attributes.get("lang") or attributes.get("srclang", "")] = None
        elif side.lower() != "doc" or system:
            target = language or target
            systems.setdefault(system, language)
            systems[system] = systems[system] or target
    named = [system for system in systems if system]
    if not systems:
        raise FileError(path, "expected translations of a system, got sources or references alone")
    for system in named or [""]:
        pair = name.pair if name.pair and known(name.pair) else ""
        if not pair and len(sources) == 1:
            pair = pair_name(f"{next(iter(sources))}-{systems[system]}")
        of_system = name._replace(pair=pair or name.pair, system=system or name.system)
        yield Submission(_checked_pair(of_system), _checked_system(of_system), path, file, system)


def is_wmt_json(beginning: str) -> bool:
    """Return whether a text begins as the JSONL of WMT does: `doc_id`, `hypothesis`, `metadata`.

    Examples:
        >>> is_wmt_json('{"doc_id": "en-de_#_1", "hypothesis": "Ja."}'), is_wmt_json("{}")
        (True, False)
    """
    line = beginning.lstrip("\ufeff \n")[:_BEGINNING].partition("\n")[0]
    return line.startswith("{") and f'"{_TEXT}"' in line and f'"{_ID}"' in line


def _of_json(path: Path, file: str, name: FileName) -> Iterator[Submission]:
    """Yield the pairs and systems of JSONL of WMT, by its ids or `metadata` or else by its name."""
    texts: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for where, row in parse_objects(read_text(path).split("\n"), path):
        metadata = row.get("metadata")
        fields: dict[str, Any] = {**(metadata if isinstance(metadata, Mapping) else {}), **row}
        for key in (_ID, _TEXT):
            if not isinstance(row.get(key), str):
                raise FileError(where, f"{key}: expected a text, got {shown(row.get(key))}")
        languages = [str(fields.get(key) or "") for key in ("src_lang", "tgt_lang")]
        pair = pair_name("-".join(languages)) if all(languages) else ""
        pair = pair or pair_name(row[_ID].partition(_PARTS)[0]) or name.pair
        system = str(fields.get("system") or name.system)
        of_system = texts[_checked_pair(name._replace(pair=pair)), system]
        if row[_ID] in of_system:
            raise FileError(where, f"{_ID}: expected one that no other row has, got {row[_ID]!r}")
        of_system[row[_ID]] = row[_TEXT]
    for (pair, system), hypotheses in texts.items():
        named = _checked_system(name._replace(system=system))
        yield Submission(pair, named, path, file, f"{pair}/{named}", hypotheses)


def _of_documents(hypotheses: Mapping[str, str], ids: Sequence[str]) -> list[str]:
    """Return the translation of each example, by the last part of the ids of documents, or by the
    order of lines where a document has several examples.
    """
    # A whole id, which comes last, replaces the last part of another one.
    by_id = {**{key.rpartition(_PARTS)[2]: text for key, text in hypotheses.items()}, **hypotheses}
    missing = [name for name in ids if name not in by_id]
    if not missing:
        return [" ".join(by_id[name].split()) for name in ids]
    lines = [line for text in hypotheses.values() for line in text.split("\n") if line.strip()]
    # By lines only if no id fits; otherwise the missing ones were left out, and lines would shift.
    if len(missing) == len(ids) and len(lines) == len(ids):
        return lines
    first = next(iter(hypotheses))
    raise InputError(
        f"expected a hypothesis for each of {len(ids):,} examples, by {_ID} or one line each; got"
        f" none for {len(missing):,}, such as {missing[0]!r}; the first {_ID} is {first!r}"
    )


def _check_language(texts: Sequence[str], tgt_lang: str) -> None:
    """Refuse a file most of whose texts are in another language."""
    chosen = [text for text in texts if not is_blank(text)][:_N_READ]
    code = base_code(tgt_lang)
    told = [other for text in chosen if (other := other_language(text, code))]
    if len(told) >= _FEWEST_READ and 2 * len(told) > len(chosen):
        other = max(dict.fromkeys(told), key=told.count)
        raise InputError(
            f"expected texts in {language_name(code)}, got {language_name(other)} in"
            f" {told.count(other):,} of the first {len(chosen):,}"
        )


def reason_of(error: Exception, path: Path) -> str:
    """Return the message of an error without the path of the file, which stands before it."""
    # Reports may be published, and the folder is of this machine alone.
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return re.sub(rf"^{re.escape(str(path))}(#\S*)?[:,] ?", "", text).replace(str(path), "FILE")


def _unique(submissions: Sequence[Submission]) -> tuple[list[Submission], list[Fault]]:
    """Return the submissions of which there is one for a system and a pair. Equal files count as
    one; of different ones none is judged, since nothing says which is meant.
    """
    by_name: dict[tuple[str, str], list[Submission]] = defaultdict(list)
    for submission in submissions:
        # Results are named by it, and file systems may ignore case: two names would be one file.
        by_name[submission.pair, name_key(file_slug(submission.system))].append(submission)
    unique, faults = [], []
    for (pair, _), group in sorted(by_name.items()):
        first, *others = group
        is_same = bool(others) and len({of.digest for of in group}) == 1
        if not others or is_same:
            unique.append(first)
        for of in others if is_same else group if others else ():
            rivals = ", ".join(other.file for other in group if other is not of) or first.file
            what = "the same translations as" if is_same else "another file than"
            remedy = "" if is_same else "; keep the one that counts"
            reason = f"expected one file for {of.system} in {pair}, got {what} {rivals}{remedy}"
            faults.append(Fault(of.file, reason, pair, of.system))
    return unique, faults
