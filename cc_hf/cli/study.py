"""cc-hf study: the studies, and the commands of each."""

from __future__ import annotations

from typing import Any

import typer

from cc_hf import registry
from cc_hf.citations import CITATIONS
from cc_hf.cli.command import CommandGroup, Outcome
from cc_hf.cli.lazy import LazyCommand
from cc_hf.cli.options import AsJson
from cc_hf.errors import InputError, PluginError, shown
from cc_hf.reports.report_parts import Piece, ReportTable

__all__ = ["app"]


def _study(name: str, study: registry.Study) -> LazyCommand:
    """Return the command of a study, whose modules are imported only when it is run."""

    def load() -> typer.Typer:
        """Import the commands of the study."""
        commands = registry.study_part(name, "commands")
        if not isinstance(commands, typer.Typer):
            raise PluginError(
                f"the study {name!r}: expected a typer.Typer with its commands, got"
                f" {shown(commands)}; its authors must correct the field `commands`"
            )
        return commands

    return LazyCommand(name, study.summary, load)


class _Studies(CommandGroup):
    """The registered studies, which are looked up when they are needed."""

    @property
    def commands(self) -> Any:
        """The studies that can be used, by name."""
        studies = registry.load_all("study").items()
        return {name: _study(name, study) for name, study in studies}

    @commands.setter
    def commands(self, commands: Any) -> None:
        """Ignore the commands that typer sets: there are none."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a study, of which "_" and "-" in the name are the same."""
        names = {name.replace("-", "_"): name for name in registry.names("study")}
        if not names:
            raise InputError(
                f"expected a study that is installed, got {cmd_name!r} and none is installed;"
                " `pip install cc_hf_studies` has those of the papers"
            )
        name = names.get(cmd_name.replace("-", "_"), cmd_name)
        return _study(name, registry.resolve("study", name))


app = typer.Typer(
    cls=_Studies,
    help="List the studies, or run a command of one.",
    invoke_without_command=True,
    subcommand_metavar="[NAME [COMMAND ...]]",
)


@app.callback()
def _list_studies(context: typer.Context, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is not None:
        if as_json:
            raise InputError(
                "expected `cc-hf study --json` alone, which lists the studies, got the study"
                f" {context.invoked_subcommand!r} after it; give the option after a command"
            )
        return
    studies = registry.load_all("study")
    rows = [
        {"name": name, "about": study.summary, "papers": list(map(_paper, study.papers))}
        for name, study in studies.items()
    ]
    Outcome(rows, lambda: _listing(rows)).show(None, as_json=as_json, quiet=False)


def _listing(rows: list[dict[str, Any]]) -> list[Piece]:
    if not rows:
        return [
            "no study is installed; those of the papers are in a package of their own:"
            " pip install cc_hf_studies"
        ]
    columns = ("study", "paper", "what it measures")
    texts = [(row["name"], "; ".join(row["papers"]), row["about"]) for row in rows]
    title = "studies; the commands of one: cc-hf study NAME"
    return [ReportTable.of(title, columns, texts, words=columns[1:])]


def _paper(key: str) -> str:
    return CITATIONS[key].short_name if key in CITATIONS else key
