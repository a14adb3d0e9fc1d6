"""Commands that are imported when they are run, and choices between commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import typer
from typer.core import TyperCommand

from cc_hf import registry
from cc_hf.cli.command import Command, as_command, summary
from cc_hf.errors import PluginError, UnknownNameError
from cc_hf.verbs import Verb

__all__ = ["LazyCommand", "command_of"]


class LazyCommand(TyperCommand):
    """A command that is known by its name and one line until it is run."""

    def __init__(
        self,
        name: str,
        about: str,
        load: Callable[[], Any],
        others: Mapping[str, LazyCommand] | None = None,
    ) -> None:
        super().__init__(name=name, help=about)
        self._load, self._others = load, others or {}

    @classmethod
    def of(cls, name: str, verb: Verb) -> LazyCommand:
        """Return the command of a verb."""
        others = {words: cls.of(words, other) for words, other in verb.others.items()}
        return cls(name, verb.summary, lambda: registry.imported(verb.target), others)

    @cached_property
    def loaded(self) -> Any:
        """The command itself: a `Command`, or a group."""
        loaded = self._load()
        if isinstance(loaded, typer.Typer):
            group = typer.main.get_group(loaded)
            group.no_args_is_help = not group.invoke_without_command
            group.help = group.help or self.help
            group.rich_markup_mode = None
            return group
        app = typer.Typer(add_completion=False)
        app.command(self.name, cls=Command)(as_command(loaded, self._added_options()))
        command: Any = typer.main.get_command(app)
        command.others = {words: summary(other) for words, other in self._others.items()}
        return command

    def _added_options(self) -> list[Callable[..., Any]]:
        """Return what plug-ins add to the command."""
        names = registry.names("command option")
        of_command = (name for name in names if name.rpartition(".")[0] == self.name)
        added = (registry.find("command option", name) for name in of_command)
        return [option for option in added if option is not None]

    @property
    def commands(self) -> dict[str, Any]:
        """The commands below it, by their words; none if they cannot be imported, which is an error
        where the command is run."""
        try:
            return {**self._others, **getattr(self.loaded, "commands", {})}
        except PluginError:
            return {}

    def chosen(self, args: Sequence[str]) -> tuple[Any, list[str]]:
        """Return the command that arguments choose, and the arguments that are left for it."""
        options = {words.partition(" ")[0] for words in self._others if words.startswith("-")}
        for number, arg in enumerate(args):
            flag, equals, value = arg.partition("=")
            if arg == "--":
                break
            if flag in options:
                rest = [*args[:number], *args[number + (1 if equals else 2) :]]
                value = value if equals else "".join(args[number + 1 : number + 2])
                known = [w.partition(" ")[2] for w in self._others if w.startswith(f"{flag} ")]
                if f"{flag} {value}" not in self._others:
                    raise UnknownNameError(f"value of {flag}", value, known)
                return self._others[f"{flag} {value}"], rest
        if args and args[0] in self._others:
            return self._others[args[0]], list(args[1:])
        return self, list(args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the arguments as the command itself does, or the one that they choose."""
        command, rest = self.chosen(args)
        if command is not self:
            return command.make_context(f"{info_name} {command.name}", rest, parent, **extra)
        return self.loaded.make_context(info_name, args, parent, **extra)


def command_of(command: Any, arguments: Sequence[str]) -> Any:
    """Return the command that a command line runs; the line begins with its names."""
    rest = list(arguments)
    while True:
        if isinstance(command, LazyCommand):
            try:
                chosen, rest = command.chosen(rest)
            except UnknownNameError:  # this may be the error whose flags are looked up
                chosen = command
            if chosen is not command:
                command = chosen
                continue
            command = command.loaded
        below = {name.replace("_", "-"): c for name, c in getattr(command, "commands", {}).items()}
        if not rest or (command_below := below.get(rest[0].replace("_", "-"))) is None:
            return command
        command, rest = command_below, rest[1:]
