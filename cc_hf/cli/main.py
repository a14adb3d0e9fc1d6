"""The command cc-hf; each verb has a module of its own.

An error of cc_hf is printed as one message with exit status 2. Ctrl-C exits with 130, and an output
that cannot be written with 1.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from cc_hf import registry
from cc_hf._version import __version__
from cc_hf.cli.lazy import LazyCommand, command_of
from cc_hf.cli.output import prepare_streams, say, silence_broken_streams
from cc_hf.errors import (
    CacheWarning,
    CCError,
    PluginError,
    PluginWarning,
    ResultWarning,
)
from cc_hf.evaluators.distributed import is_main_process, process_label, report_failure
from cc_hf.reports.formats.terminal import show
from cc_hf.systems.machine import wait_briefly
from cc_hf.verbs import VERBS

__all__ = ["app", "run", "with_flags"]

_INTERRUPTED = 130
_WRITE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
# Most errors occur in all processes. The others wait, so that the main process can print the error
# and terminate them before they print it, too.
_GRACE_SECONDS = 3.0


class _Verbs(TyperGroup):
    """The commands of the program, which are imported when they are run."""

    @property
    def commands(self) -> Any:
        """The commands by name, in the order of work, and those of other packages after them."""
        added = registry.load_all("command")
        return {name: LazyCommand.of(name, verb) for name, verb in {**VERBS, **added}.items()}

    @commands.setter
    def commands(self, commands: Any) -> None:
        """Ignore the commands that typer sets: there are none."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; only for a name that cc_hf does not have are other packages asked."""
        verb = VERBS.get(cmd_name) or registry.find("command", cmd_name)
        return verb and LazyCommand.of(cmd_name, verb)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, with an example, in the order of work."""
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        with formatter.section("Commands in the order of work; more by cc-hf COMMAND --help"):
            for name, verb in {**VERBS, **registry.load_all("command")}.items():
                formatter.write(f" {name:<13}{verb.summary}\n")
                if verb.example:
                    formatter.write(f"{'':14}{verb.example}\n")
        with formatter.section("Options"):
            records = (param.get_help_record(ctx) for param in self.get_params(ctx))
            formatter.write_dl([record for record in records if record])


app = typer.Typer(
    cls=_Verbs,
    name="cc-hf",
    help=(
        "Test whether a translation system understands which sense, gender or referent is meant."
    ),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"cc-hf {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and exit.",
    ),
) -> None:
    pass


def run() -> None:
    """Run the command line for the console script, which ends by a SystemExit."""
    # The import of torch makes a million objects that stay, which need not be collected many times.
    gc.set_threshold(50_000, 20, 100)
    wait_briefly()  # before a command loads torch, in each process of torchrun, too
    streams = prepare_streams()
    with warnings.catch_warnings():
        _say_warnings()
        try:
            _run()
        except (OSError, SystemExit) as error:
            reasons = silence_broken_streams(streams)
            if (
                not reasons
                and isinstance(error, OSError)
                and error.filename is None
                and error.errno in _WRITE_ERRORS
            ):
                # A failed write to a device leaves nothing in the buffer, so the second flush does
                # not fail.
                reasons = [str(error.strerror)]
            _exit_if_broken(reasons)
            raise


def _exit_if_broken(reasons: list[str]) -> None:
    """Exit with status 1; without a message if a reader closed the pipe (`| head`)."""
    for reason in filter(None, reasons):
        say("error", f"the output could not be written: {reason}")
    if reasons:
        sys.exit(1)


def with_flags(message: str, arguments: Sequence[str]) -> str:
    """Return a message of the library with its parameter names replaced by flags of the command.

    Names are replaced at the beginning of the message, before a colon, and in back-ticks.

    Examples:
        >>> with_flags("tgt_lang: expected one of de, es, got 'xx'", ["evaluate", "winomt"])
        "--language-pair: expected one of de, es, got 'xx'"
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # of studies that were not asked for
        try:
            command = command_of(typer.main.get_command(app), arguments)
        except PluginError:  # the command cannot be imported, which the message says
            return message
    flags = {
        option.name: next((flag for flag in option.opts if flag.startswith("--")), None)
        for option in command.params
        if option.param_type_name == "option"
    }
    for name in ("src_lang", "tgt_lang"):
        flags.setdefault(name, flags.get("language_pair"))
    for flag, settings in getattr(command.callback, "settings", {}).items():
        flags.update({setting.field: f"{flag} {key}" for key, setting in settings.items()})
    message = re.sub(r"`(\w+)`", lambda match: f"`{flags.get(match[1]) or match[1]}`", message)
    names, colon, remainder = message.partition(":")
    # A name that is no parameter may be that of a flag, such as `system`.
    by_flag = {flag[2:].replace("-", "_"): flag for flag in flags.values() if flag}
    matched_flags = [flags.get(name) or by_flag.get(name, "") for name in names.split(", ")]
    return f"{', '.join(matched_flags)}:{remainder}" if colon and all(matched_flags) else message


def _say_warnings() -> None:
    """Print a warning of cc_hf in one line, like an error; leave other warnings to Python."""
    as_python_does = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, (CacheWarning, PluginWarning, ResultWarning)):
            with contextlib.suppress(OSError):  # the result matters more; `run` reports it later
                say("warning", str(message))
        else:
            as_python_does(message, category, *where, **more)

    warnings.showwarning = show


@contextlib.contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Yield a list that records each Ctrl-C."""
    # Its KeyboardInterrupt may become another exception: compiled code that calls Python, as torch
    # does to inspect arguments, can drop it and raise a TypeError instead.
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    if (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        or threading.current_thread() is not threading.main_thread()
    ):
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _run() -> None:
    with _noted_interrupts() as interrupts:
        try:
            app()
        except BaseException as error:  # Ctrl-C can become any exception: see `_noted_interrupts`
            # typer turns Ctrl-C into SystemExit with this code.
            if (
                error.code == _INTERRUPTED
                if isinstance(error, SystemExit)
                else interrupts or isinstance(error, KeyboardInterrupt)
            ):
                show(["stopped; nothing was written"], stderr=True)
                sys.exit(_INTERRUPTED)
            if not isinstance(error, SystemExit):
                report_failure(error)
            if not isinstance(error, CCError):
                raise
            message = with_flags(str(error), sys.argv[1:])
            if not is_main_process():
                time.sleep(_GRACE_SECONDS)
                message = f"{process_label()}: {message}"
            say("error", message)
            sys.exit(2)


if __name__ == "__main__":
    run()
