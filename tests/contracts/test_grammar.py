"""The language of the command line: how large it is, and the form that every command has."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer

from cc_hf.cli.command import summary
from cc_hf.cli.lazy import LazyCommand
from cc_hf.cli.main import app
from cc_hf.verbs import VERBS
from tests.helpers.command_line import printed_by

# 19 verbs, `rerank` and `alternatives`; `evaluate students` is a command beside them. --json,
# --quiet, --markdown and --latex count for each.
_MOST_VERBS, _MOST_COMMANDS, _MOST_OPTIONS = 22, 33, 439
_WIDTH = 80
_LONGEST = 66  # characters of a summary and an example, which the help of the program indents
#: How the help of --output begins; a short remark may follow.
_OUTPUTS = (
    "Write the result as JSON to this file; - for standard output.",
    "New folder to write.",
    "File to write; - for standard output.",
)


def _loaded(command: Any) -> Any:
    return command.loaded if isinstance(command, LazyCommand) else command


def _leaves(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the commands that are run, without those of studies, by their words."""
    loaded = _loaded(command)
    if words == ("study",) or not hasattr(loaded, "commands"):
        yield words, loaded
    if words != ("study",):
        for name, below in getattr(command, "commands", {}).items():
            yield from _leaves((*words, *name.split()), below)


@cache
def _commands() -> dict[tuple[str, ...], Any]:
    root: Any = typer.main.get_command(app)
    return dict(leaf for name, c in root.commands.items() for leaf in _leaves((name,), c))


def _options(command: Any) -> list[Any]:
    return [param for param in command.params if param.param_type_name == "option"]


def _flags(command: Any) -> list[str]:
    return [
        flag
        for option in _options(command)
        for flag in (*option.opts, *option.secondary_opts)
        if flag.startswith("--") and flag != "--help-all"
    ]


def test_the_command_line_is_small() -> None:
    options = {" ".join(words): len(_flags(command)) for words, command in _commands().items()}
    assert len(VERBS) <= _MOST_VERBS
    assert len(options) <= _MOST_COMMANDS, sorted(options)
    assert sum(options.values()) <= _MOST_OPTIONS, sorted(options.items(), key=lambda x: -x[1])


def test_output_is_the_result_as_json_a_folder_or_a_text() -> None:
    others = {
        words: option.help
        for words, command in _commands().items()
        for option in _options(command)
        if "--output" in option.opts and not str(option.help).startswith(_OUTPUTS)
    }
    assert not others


def test_help_fits_a_terminal_and_begins_with_an_example() -> None:
    wrong = {}
    for words in _commands():
        lines = printed_by(*words, "--help", columns=_WIDTH).splitlines()
        begins = " ".join(words) == "study" or lines[0].startswith(f"cc-hf {words[0]}")
        if not begins or max(map(len, lines)) > _WIDTH:
            wrong[words] = lines[0]
    assert not wrong


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_says_what_its_command_does(name: str) -> None:
    root: Any = typer.main.get_command(app)
    verb, command = VERBS[name], root.commands[name]
    for about, loaded in (
        (verb.summary, command.loaded),
        *((other.summary, command.commands[words].loaded) for words, other in verb.others.items()),
    ):
        assert f"{summary(loaded).removesuffix('.')}." == about
        assert len(about) <= _LONGEST
    assert len(verb.example) <= _LONGEST
    assert not verb.example or verb.example.startswith(f"cc-hf {name}")
