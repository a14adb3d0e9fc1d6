"""What all commands share: options from dataclasses, files that are checked first and written as a
whole, `--output`, `--json` and `--quiet`, and help that begins with an example.
"""

from __future__ import annotations

import functools
import inspect
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from cc_hf.cli.fields import (
    FieldOption,
    Fields,
    Setting,
    field_options,
    field_settings,
    made,
    setting_values,
)
from cc_hf.cli.output import JsonFile, OutputFile, PictureFile, say, say_written
from cc_hf.errors import InputError, PluginError
from cc_hf.evaluators import distributed as sharding
from cc_hf.files import is_file
from cc_hf.reports.formats.terminal import show
from cc_hf.reports.report_parts import Piece
from cc_hf.writing import STANDARD, json_text, keeping_inputs, write_atomically

__all__ = [
    "ALL_OPTIONS",
    "Command",
    "CommandGroup",
    "NewFile",
    "Outcome",
    "OutputFile",
    "PictureFile",
    "add_command",
    "as_command",
    "example_and_text",
    "shown_command",
    "summary",
]

_OUTPUT = "Write the result as JSON to this file; - for standard output."
_PANEL = "Output"
#: Option for the tables of a command in a format -> the name of the format.
_FORMATS = {"markdown": "Markdown", "latex": "LaTeX"}
_TYPES = re.compile(r"<(list\[)?(\w+)(?: range)?\]?>")
_METAVARS = {"path": "FILE", "Path": "FILE", "int": "N", "float": "X", "bool": ""}
#: Option as other programs call it -> what takes its place.
_OTHER_NAMES = {
    "--gpus": "--device cuda, or torchrun for several GPUs,",
    "-i": "--translations FILE",
    "-m": "--metric NAME",
    "--output-path": "--output FILE",
}
# Option of some commands -> the variable of the environment that serves for all.
_VARIABLES = {"--data-dir": "CC_HF_DATA_DIR"}
# Parameters of a function whose values the wrapper knows.
_INJECTED = ("output", "progress", "quiet")
# Parameters whose values may be those of a file by chance, such as `--name aws --output aws`.
_NAMES = ("config", "configs", "metric", "name", "names")
#: Key of a context: whether its help shows rare options.
ALL_OPTIONS = "cc_hf.help_all"


@dataclass(frozen=True)
class NewFile:
    """A file that a command writes.

    Attributes:
        path: None for no file, "-" for standard output.
        content: None for a file or folder that the function of the command has written.
        about: what is said of it, behind its path.
    """

    path: Path | None
    content: str | bytes | None
    about: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a command returns.

    Attributes:
        row: the result, for `--output` and `--json`: plain values, the text of a JSON object, or a
            function that makes either, which is called only where it is needed.
        tables: makes the tables and lines; it is called only if they are printed.
        text: what `--output` holds in place of the JSON.
        about: what is said of the file of `--output`, behind its path.
        notes: what a reader may want to know; `--quiet` leaves them out.
    """

    row: Any = None
    tables: Callable[[], Iterable[Piece]] = tuple
    files: Sequence[NewFile] = ()
    text: str | None = None
    about: str = ""
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    status: int = 0

    @functools.cached_property
    def _json(self) -> str:
        row = self.row() if callable(self.row) else self.row
        return row if isinstance(row, str) else json_text(row)

    def show(
        self,
        output: Path | None,
        *,
        as_json: bool,
        quiet: bool,
        texts: Mapping[str, Path] | None = None,
    ) -> None:
        """Write the files, print the result, and say on standard error what was written.

        Args:
            texts: "markdown", "latex" -> the file of the tables in this format.

        Raises:
            InputError: if two of them would go to standard output, or a file cannot be written.
        """
        # Two outputs in one stream could not be told apart by what reads it.
        standard = [output, *(texts or {}).values()].count(STANDARD)
        # Both ask for the JSON in the same place, which then gets it once.
        is_same = output == STANDARD and self.text in (None, self._json)
        if standard + (as_json and not is_same) > 1:
            raise InputError(
                "output: expected a file beside --json, --markdown and --latex, got standard output"
                " for several"
            )
        files = [*self.files, *(self._tables_in(texts) if texts else ())]
        if output is not None:
            content = self._json if self.text is None else self.text
            files.append(NewFile(output, content, self.about))
        # Files before tables: where one cannot be written, nothing is printed as if all were well.
        for file in files:
            if file.path is not None and file.content is not None:
                write_atomically(file.path, file.content)
        if as_json:
            if output != STANDARD:
                write_atomically(STANDARD, self._json)
        else:
            # Where a file is standard output, the tables are printed to standard error.
            show(self.tables(), stderr=standard > 0)
        for warning in self.warnings:
            say("warning", warning)
        if not quiet:
            for note in self.notes:
                say("note", note)
            for file in files:
                say_written(file.path, file.about)

    def _tables_in(self, texts: Mapping[str, Path]) -> list[NewFile]:
        from cc_hf.reports.formats.latex import latex_pieces
        from cc_hf.reports.formats.markdown import markdown_pieces

        writers = {"markdown": markdown_pieces, "latex": latex_pieces}
        if not (pieces := [*self.tables()]):
            say("warning", f"{' and '.join(texts)}: nothing is written, as this prints no table")
            return []
        return [NewFile(path, writers[name](pieces)) for name, path in texts.items()]


def add_command(
    app: typer.Typer, name: str, function: Callable[..., Outcome | None], **options: Any
) -> None:
    """Add a function as a command, see `as_command`."""
    app.command(name, cls=Command, **options)(as_command(function))


def as_command(
    function: Callable[..., Outcome | None],
    added: Sequence[Callable[..., Callable[..., Outcome]]] = (),
) -> Callable[..., None]:
    """Return the function that typer makes a command of.

    A parameter whose type is annotated with `Fields` becomes the options of a dataclass, and the
    function gets the object. One that is annotated with `OutputFile` is checked first. `progress`
    says whether to show progress, and `quiet` whether to print no notes meanwhile. `--json`,
    `--quiet`, `--markdown`, `--latex` and `--output` are added; a function with a parameter
    `output` declares that option itself where it is not a file of JSON. A function that returns
    None by its annotation, such as one that serves a page, gets none of them. The docstring holds a
    line "Example: cc-hf ...".

    Args:
        added: functions whose keyword-only parameters are more options of the command. Each is
            called with the command's function and these, and returns what runs in its place, which
            takes the other arguments by name; the function itself where no option is given.

    Raises:
        PluginError: for an added option whose name the command has.
    """
    declared = _Declared.of(function, added)
    hints = get_type_hints(function)
    has_outcome = hints.get("return") is not type(None)
    own_output = "output" in {p.name for p in declared.parameters} or not has_outcome
    formats = [name for name in _FORMATS if has_outcome and name not in declared.names]
    declared.files |= dict.fromkeys(formats, OutputFile())
    parameters = [*declared.parameters, *_common(has_outcome, formats, own_output=own_output)]
    counts = Counter(parameter.name for parameter in parameters)
    if again := [name for name, n in counts.items() if n > 1]:
        raise PluginError(
            f"{', '.join(again)}: expected an option that the command does not have, got another of"
            " the same name; uninstall the package that adds it, or ask its authors to rename it"
        )
    infos = [info for p in parameters for info in get_args(p.annotation)[1:]]
    hides = any(getattr(info, "hidden", False) for info in infos)
    settings = {"is_eager": True, "callback": _show_all, "hidden": not hides}
    text = "Show this help with all options."
    parameters.append(_flag("help_all", "--help-all", text, **settings))
    # `inspect.Signature` wants keyword-only parameters last.
    parameters.sort(key=lambda p: p.kind is inspect.Parameter.KEYWORD_ONLY)

    @functools.wraps(function)
    def run(*, help_all: bool = False, **values: Any) -> None:
        output = values.get("output") if own_output else values.pop("output")
        shown = {name: values.pop(name, False) for name in ("as_json", "quiet")}
        no_inputs = {*declared.files, *_NAMES, "output"}
        inputs = {name: _files(v) for name, v in values.items() if name not in no_inputs}
        with keeping_inputs(inputs):  # else an input that is also the output is overwritten
            run_apart(values, output, **shown)

    def run_apart(
        values: dict[str, Any], output: Path | None, *, as_json: bool, quiet: bool
    ) -> None:
        # The function runs in each process that torchrun started.
        is_main = sharding.is_main_process()
        # One process checks and writes; the others only compute.
        if is_main:
            for name, file in declared.files.items():
                file.check(name, values[name])
            if not own_output:
                JsonFile().check("output", output)
        texts = {name: path for name in formats if (path := values.pop(name)) is not None}
        known = {"progress": is_main and not quiet, "quiet": quiet, "output": output}
        values |= {name: value for name, value in known.items() if name in declared.names}
        arguments, command = declared.with_objects(values), function
        for option in added:
            command = option(command, **{name: arguments.pop(name) for name in _options_of(option)})
        outcome = command(**arguments)
        sharding.leave()
        if outcome is not None and sharding.is_main_process():
            # A command with an `output` of its own writes it by `text` or `files`.
            shown = None if own_output and outcome.text is None else output
            outcome.show(shown, as_json=as_json, quiet=quiet, texts=texts)
            if outcome.status:
                raise typer.Exit(outcome.status)  # last, since a closed gate has tables, too

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.settings = declared.settings  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}  # where typer reads types
    return run


class _Group(NamedTuple):
    """A dataclass whose fields are options of a command, or settings: KEY=VALUE of `flag`."""

    cls: type
    options: list[FieldOption]
    settings: dict[str, Any]
    flag: str
    is_optional: bool


@dataclass
class _Declared:
    """What a function declares: its parameters as typer reads them."""

    names: tuple[str, ...]
    parameters: list[inspect.Parameter] = field(default_factory=list)
    # Parameter -> its dataclass.
    groups: dict[str, _Group] = field(default_factory=dict)
    # Flag -> what it takes as KEY=VALUE, by key.
    settings: dict[str, dict[str, Setting]] = field(default_factory=dict)
    # Flag of settings -> its panel.
    panels: dict[str, str] = field(default_factory=dict)
    # Parameter -> how its file is checked.
    files: dict[str, OutputFile] = field(default_factory=dict)

    @classmethod
    def of(
        cls, function: Callable[..., Any], added: Sequence[Callable[..., Any]] = ()
    ) -> _Declared:
        """Read the parameters of a function, and what the functions in `added` declare."""
        # `get_type_hints` would hide Annotated in an Optional where the default is None, on 3.10.
        of_command = inspect.signature(function, eval_str=True).parameters
        of_options = (parameter for option in added for parameter in _options_of(option).values())
        declared = cls(tuple(of_command))
        for parameter in (*of_command.values(), *of_options):
            name = parameter.name
            hint = parameter.annotation
            extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
            chosen = next((extra for extra in extras if isinstance(extra, Fields)), None)
            if chosen is not None:
                kind = get_args(hint)[0]
                kinds = [part for part in get_args(kind) if part is not type(None)]
                declared.add_group(name, kinds[0] if kinds else kind, chosen, bool(kinds))
            elif extras or name not in _INJECTED:
                declared.files.update((name, e) for e in extras if isinstance(e, OutputFile))
                declared.parameters.append(parameter.replace(annotation=hint))
        for flag, settings in declared.settings.items():
            info = typer.Option(
                flag,
                metavar="KEY=VALUE",
                help="\n\n".join(
                    [
                        "A setting. May be repeated.",
                        *(f"{key}: {s.text}" for key, s in settings.items()),
                    ]
                ),
                hidden=True,
                rich_help_panel=declared.panels[flag],
            )
            declared.parameters.append(
                _option(_name(flag), Annotated[list[str] | None, info], None)
            )
        return declared

    def add_group(self, name: str, cls: type, chosen: Fields, is_optional: bool) -> None:
        """Add the options and settings of a parameter that is a dataclass."""
        options, settings = field_options(cls, chosen), field_settings(cls, chosen)
        flag = chosen.setting_flag
        defaults = {setting.field: setting.default for setting in settings.values()}
        self.groups[name] = _Group(cls, options, defaults, flag, is_optional)
        self.parameters += [_option(o.name, Annotated[o.type, o.info], o.default) for o in options]
        if settings:
            self.settings.setdefault(flag, {}).update(settings)
            self.panels[flag] = chosen.panel

    def with_objects(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the function: the objects in place of their options."""
        settings = {
            flag: setting_values(values.pop(_name(flag)), of_flag, flag)
            for flag, of_flag in self.settings.items()
        }
        for name, group in self.groups.items():
            given = {option.name: option.value(values.pop(option.name)) for option in group.options}
            of_flag = settings.get(group.flag, {})
            given |= {
                field: of_flag.get(field, default) for field, default in group.settings.items()
            }
            values[name] = made(group.cls, given, is_optional=group.is_optional)
        return values


def _files(value: Any) -> list[Path]:
    """Return the files that the value of a parameter names, also as NAME=FILE or FILE#PART."""
    if isinstance(value, (list, tuple)):
        return [path for item in value for path in _files(item)]
    if not isinstance(value, (str, Path)):
        return []
    # A value may be NAME=FILE or FILE#COLUMN.
    texts = [str(value), str(value).partition("=")[2]]
    texts += [text.rpartition("#")[0] for text in texts]
    return [Path(text) for text in texts if text and is_file(text)]


def _common(
    has_outcome: bool, formats: Iterable[str], *, own_output: bool
) -> Iterator[inspect.Parameter]:
    """Yield the options that every command has."""
    for name in formats:
        text = f"Write the tables as {_FORMATS[name]} to this file; - for standard output."
        info = typer.Option(help=text, rich_help_panel=_PANEL)
        yield _option(name, Annotated[Path | None, info], None)
    if not own_output:
        info = typer.Option("--output", "-o", help=_OUTPUT, rich_help_panel=_PANEL)
        yield _option("output", Annotated[Path | None, info], None)
    if has_outcome:
        yield _flag("as_json", "--json", "Print JSON in place of tables.")
        text = "Show neither progress nor notes. Warnings are always shown."
        yield _flag("quiet", "--quiet -q", text)


def _options_of(added: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options that a function adds to a command, by their names."""
    parameters = inspect.signature(added, eval_str=True).parameters
    return {name: p for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}


def _flag(name: str, flags: str, text: str, **settings: Any) -> inspect.Parameter:
    info = typer.Option(*flags.split(), help=text, rich_help_panel=_PANEL, **settings)
    return _option(name, Annotated[bool, info], False)


def _with_dashes(arg: str) -> str:
    """Return an argument whose option has dashes for underscores, as options of Python have."""
    flag, equals, value = arg.partition("=")
    return flag.replace("_", "-") + equals + value if flag.startswith("--") else arg


class Command(TyperCommand):
    """A command whose help begins with an example and has its options in panels, in 80 columns."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.example, self.help = example_and_text(self.help or "")
        # Words of the commands that are run in its place -> what they do.
        self.others: dict[str, str] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; refuse an option under another name, and a second single value."""
        args = [_with_dashes(arg) for arg in args]
        # click takes from the list what it has parsed.
        given = list(args)
        flags = {flag for param in self.get_params(ctx) for flag in param.opts}
        others = {**_OTHER_NAMES}
        for option, settings in getattr(self.callback, "settings", {}).items():
            for key in settings:
                others[f"--{key.replace('_', '-')}"] = f"{option} {key}=VALUE"
        for arg in args:
            flag = arg.partition("=")[0]
            other = others.get(flag, "")
            # Only where the command has that option; else click's own error says what is there.
            if flag not in flags and other.partition(" ")[0] in flags:
                raise InputError(f"{flag}: expected {other} in its place")
            if flag not in flags and flag in _VARIABLES:
                raise InputError(f"{flag}: set the variable {_VARIABLES[flag]} in its place")
        parsed: list[str] = super().parse_args(ctx, args)
        self._check_once(ctx, given)
        return parsed

    def _check_once(self, ctx: Any, args: list[str]) -> None:
        """Refuse a second value, since the last one would win without a word."""
        _, _, order = self.make_parser(ctx).parse_args(args=args)
        # click keeps the last of several values silently; its order names all that were given.
        params: list[Any] = order
        single = [p for p in params if not (_is_argument(p) or p.multiple or p.is_flag)]
        for param in single:
            if single.count(param) > 1:
                raise InputError(
                    f"{param.opts[0]}: expected one value, got the option {single.count(param)}"
                    " times; give it once"
                )

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the line "Usage: ..."."""
        arguments = [
            _argument(param)
            for param in self.get_params(ctx)
            if _is_argument(param) and not getattr(param, "hidden", False)
        ]
        return ["[OPTIONS]", *arguments]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; options that are rare only if `--help-all` asks for them."""
        formatter.write(f"{self.example}\n\n" if self.example else "")
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        params: list[Any] = self.get_params(ctx)
        for param in params:
            # click describes no hidden option, and keeps the parameters for the next help of the
            # same program.
            is_hidden = getattr(param, "hidden", False)
            if is_hidden and not _is_argument(param) and ctx.meta.get(ALL_OPTIONS):
                param.hidden = False
            if record := param.get_help_record(ctx):
                names, text = record
                panel = getattr(param, "rich_help_panel", None)
                if _is_argument(param):
                    panel, names = panel or "Arguments", _argument(param)
                names = _TYPES.sub(lambda match: _METAVARS.get(match[2], "TEXT"), names)
                text, *settings = text.split("\n\n")
                keys = [setting.partition(": ") for setting in settings]
                panels.setdefault(panel or "Options", []).extend(
                    [(names, text), *((f"  {key}=...", about) for key, _, about in keys)]
                )
            param.hidden = is_hidden
        output = panels.pop(_PANEL, [])
        program = ctx.command_path
        others = [(f"{program} {words}", about) for words, about in self.others.items()]
        for panel, records in {**panels, "See also": others, _PANEL: output}.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records, col_max=26)


class CommandGroup(TyperGroup):
    """A group whose help says of each command the whole first sentence."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        commands = [(name, summary(self.get_command(ctx, name))) for name in self.commands]
        options = (param.get_help_record(ctx) for param in self.get_params(ctx))
        for panel, records in {
            "Commands": commands,
            "Options": list(filter(None, options)),
        }.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records, col_max=26)


def summary(command: Any) -> str:
    """Return the first sentence of the help of a command."""
    return " ".join(example_and_text(command.help or "")[1].partition("\n\n")[0].split())


def example_and_text(docstring: str) -> tuple[str, str]:
    """Split the docstring of a command into its example and the other text."""
    text = inspect.cleandoc(docstring)
    match = re.search(r"^Example: (cc-hf .+)$", text, re.MULTILINE)
    if match is None:
        return "", text
    return match[1], re.sub(r"\n{3,}", "\n\n", text.replace(match[0], "")).strip()


def _is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _argument(param: Any) -> str:
    """Return an argument as the line "Usage: ..." names it."""
    name = param.metavar or f"{param.name.upper()}{'...' if param.nargs == -1 else ''}"
    return str(name if param.required or name.startswith("[") else f"[{name}]")


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _name(flag: str) -> str:
    """Return the name of the parameter of a flag."""
    return flag.removeprefix("--").replace("-", "_")


# The option is eager, so that help is shown before a missing argument is an error.
def _show_all(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[ALL_OPTIONS] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def shown_command() -> str:
    """Return the command that runs, as one would type it."""
    return shlex.join(["cc-hf", *sys.argv[1:]])
