"""What a study adds to the tests that hold for all studies: `CASES` in the file contract_cases.py
of its folder of tests.
"""

import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import torch

_STUDIES = Path(__file__).parents[2] / "studies/tests"
_Case = TypeVar("_Case")

Row = Any
Numbers = dict[str, float]


@dataclass(frozen=True)
class FigureCase:
    """Figures, rows to try them with, and how they answer to other rows.

    Attributes:
        row: a row by its number, with what is random.
        figures: the figures of rows.
        again: the row as another one, with names of its own; None if rows cannot occur twice.
        turned: the row with its sides swapped; None without sides.
        of_turned: the figures that turned rows must have, from those of the rows.
    """

    row: Callable[[int, random.Random], Row]
    figures: Callable[[Sequence[Row]], Any]
    again: Callable[[Row], Row] | None = lambda row: row
    turned: Callable[[Row], Row] | None = None
    of_turned: Callable[[Numbers], Numbers] = dict


@dataclass(frozen=True)
class CountCase:
    """Counts of files that may be read together.

    Attributes:
        rows: rows to draw from.
        counts: name -> number, from rows.
    """

    rows: Sequence[Row]
    counts: Callable[[Sequence[Row]], Mapping[str, int]]


@dataclass(frozen=True)
class MeanCase:
    """A mean of several runs.

    Attributes:
        run: a run, with what is random.
        mean: the figures of several runs.
    """

    run: Callable[[random.Random], Any]
    mean: Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class KeptFile:
    """A kind of file that users keep and pass to a later command.

    Attributes:
        name: name of the file.
        text: valid content.
        read: reads it, as the commands do.
        use: computes with what was read.
        others: other files beside it.
        refusal: words of the error by which even the valid content may be refused.
    """

    name: str
    text: str
    read: Callable[[Path], Any]
    use: Callable[[Any, Path], object] = lambda value, path: None
    others: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""


@dataclass(frozen=True)
class FamilyCase:
    """An evaluator family.

    Attributes:
        save: saves a tiny model with random weights in an empty folder, and returns the folder.
        plain: log-probabilities of the target tokens by a plain forward pass, see
            `tests.helpers.plain_forward`, from folder, source and translation.
    """

    save: Callable[[Path], Path]
    plain: Callable[[Path, str, str], torch.Tensor]


@dataclass(frozen=True)
class ForgedCommand:
    """A command over files that are forged.

    Attributes:
        words: the command and its arguments, without `study NAME`.
        files: name among the arguments -> valid content.
    """

    words: tuple[str, ...]
    files: Mapping[str, str]


@dataclass(frozen=True)
class ContractCases:
    """The cases of a study.

    Attributes:
        figures, counts, means: by what they are of, tests/contracts/test_invariances.py.
        kept_files: tests/fuzz/test_fuzz.py and tests/unit/test_files.py.
        forged: tests/fuzz/test_fuzz.py.
        tables: commands, without `study NAME`, that print tables and need no file,
            tests/unit/cli/test_first_hour.py.
        families: registered family -> its case, tests/contracts/test_evaluator_families.py and
            others.
        page_files: files that the commands of its pages need, name -> content,
            tests/test_documents.py.
        reproduced: beginning of a command of docs/reproduce.md -> the file of the study's tests
            that runs it, tests/test_reproduce.py.
        torch_modules: beginnings of the names of modules that import torch, without
            `cc_hf_studies.NAME.`, tests/doors/test_public_names.py.
    """

    figures: Mapping[str, FigureCase] = field(default_factory=dict)
    counts: Mapping[str, CountCase] = field(default_factory=dict)
    means: Mapping[str, MeanCase] = field(default_factory=dict)
    kept_files: tuple[KeptFile, ...] = ()
    forged: tuple[ForgedCommand, ...] = ()
    tables: tuple[tuple[str, ...], ...] = ()
    families: Mapping[str, FamilyCase] = field(default_factory=dict)
    page_files: Mapping[str, str] = field(default_factory=dict)
    reproduced: Mapping[str, str] = field(default_factory=dict)
    torch_modules: tuple[str, ...] = ()


@cache
def study_cases() -> dict[str, ContractCases]:
    """Return study -> its cases, for those that have some."""
    names = sorted(path.parent.name for path in _STUDIES.glob("*/contract_cases.py"))
    module = "studies.tests.{}.contract_cases"
    return {name: importlib.import_module(module.format(name)).CASES for name in names}


def with_studies(
    core_cases: Mapping[str, _Case], added: Callable[[ContractCases], Mapping[str, _Case]]
) -> dict[str, _Case]:
    """Return cases of the core and those of studies, whose names begin with that of the study."""
    studies = study_cases().items()
    named = {f"{study}, {name}": c for study, of in studies for name, c in added(of).items()}
    return {**core_cases, **named}


def study_families() -> dict[str, FamilyCase]:
    """Return the families that studies register, with their cases."""
    return {name: case for of in study_cases().values() for name, case in of.families.items()}


def study_commands(
    added: Callable[[ContractCases], Sequence[tuple[str, ...]]],
) -> list[tuple[str, ...]]:
    """Return commands of studies with `study NAME` before them."""
    return [("study", study, *words) for study, c in study_cases().items() for words in added(c)]


def opposed(*names: str) -> Callable[[Numbers], Numbers]:
    """Return a function that changes the signs of figures that end in these names."""
    return lambda figures: {name: -v if name.endswith(names) else v for name, v in figures.items()}


def exchanged(figures: Numbers) -> Numbers:
    """Exchange first and second, and change the signs of differences."""
    swapped = {}
    for name, value in figures.items():
        other = name
        for a, b in (("first", "second"), (".n.0", ".n.1"), ("n_male", "n_female")):
            other = name.replace(a, b) if a in name else name.replace(b, a) if b in name else other
        swapped[other] = -value if "difference.difference" in name or "gap" in name else value
    return swapped
