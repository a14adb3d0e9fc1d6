"""Commands that have arguments of their own and also commands below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["CommandWithSubcommands"]


class CommandWithSubcommands(TyperCommand):
    """A command whose first argument may be the name of another command.

    typer has either commands with arguments or groups of commands. A file with the name of a
    subcommand can be given as ./NAME.

    Attributes:
        functions: name of a subcommand -> the function that it runs.
    """

    functions: Mapping[str, Callable[..., None]] = MappingProxyType({})

    @cached_property
    def commands(self) -> dict[str, Any]:
        """The subcommands, under the name that groups have for them."""
        commands = {}
        for name, function in self.functions.items():
            app = typer.Typer(add_completion=False)
            app.command(name)(function)
            commands[name] = typer.main.get_command(app)
        return commands

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the arguments: of a subcommand if the first one names it, else of the command."""
        if args and (command := self.commands.get(args[0])):
            return command.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)
