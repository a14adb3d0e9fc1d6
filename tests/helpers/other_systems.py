"""What systems other than Linux lack, and the command line without it: `python -m
tests.helpers.other_systems COMMANDS STDOUT STDERR [plain]`, with a JSON list of commands, each a
list of words, and the encodings of the streams.

They run in one process, with a line before each. Without "plain", the modules of cc_hf find nothing
that Windows lacks, no process can read /proc, and a file that is opened without an encoding is an
error.
"""

import builtins
import importlib
import json
import re
import sys
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

#: What Windows or macOS lacks: modules, and names of modules.
_LACKING = {
    "": "crypt curses fcntl grp nis posix pty pwd readline resource spwd syslog termios tty",
    "multiprocessing": "fork forkserver",
    "os": (
        "chown ctermid fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg"
        " getpgid getpgrp getpriority getsid getuid initgroups killpg lchown mkfifo mknod nice"
        " openpty pathconf pipe2 posix_fadvise posix_spawn pread pwrite sched_getaffinity"
        " sched_setaffinity sched_yield sendfile setpgid setpriority setsid setuid statvfs sync"
        " sysconf ttyname uname wait wait3 wait4 waitid WEXITSTATUS WIFEXITED"
    ),
    "select": "epoll kqueue poll",
    "signal": (
        "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2"
        " alarm pause setitimer sigwait"
    ),
    "socket": "AF_UNIX",
    "time": "tzset",
}
LACKING = {module: frozenset(names.split()) for module, names in _LACKING.items()}


_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3])(\..*)?", re.IGNORECASE)


def refused_by_windows(name: str) -> bool:
    """Return whether Windows refuses the name of a file or folder, or changes it."""
    return bool(
        re.search(r"[\x00-\x1f<>:\"/\\|?*]|[. ]$", name) or _DEVICE.fullmatch(name) or not name
    )


class _Reduced(types.ModuleType):
    """A module without the names that another system lacks."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__dict__["_whole"] = importlib.import_module(name)

    def __getattr__(self, name: str) -> Any:
        if name in LACKING[self.__name__]:
            raise AttributeError(f"this system has no {self.__name__}.{name}")
        return getattr(self.__dict__["_whole"], name)


_OURS = ("cc_hf", "cc_hf_studies")


def _hide() -> None:
    """Hide what another system lacks from the modules of cc_hf."""
    reduced = {name: _Reduced(name) for name in LACKING if name}
    whole = builtins.__import__

    def imported(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        if not level and str((globals or {}).get("__name__")).partition(".")[0] in _OURS:
            if name in LACKING[""]:
                raise ModuleNotFoundError(f"this system has no {name}", name=name)
            if name in reduced:
                return reduced[name]
        return whole(name, globals, locals, fromlist, level)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]).startswith("/proc"):
            raise FileNotFoundError(2, "this system has no /proc", arguments[0])

    builtins.__import__ = imported
    sys.addaudithook(refuse)
    warnings.filterwarnings("error", category=EncodingWarning, module="cc_hf")


def _run(commands: list[list[str]]) -> None:
    from cc_hf.cli import main

    for words in commands:
        for stream in (sys.stdout, sys.stderr):
            stream.write(f"$ {words[0]}\n")
            stream.flush()
        sys.argv = ["cc-hf", *words]
        try:
            main.run()
        except SystemExit as end:
            sys.stdout.write(f"[{end.code or 0}]\n")


def _is_hidden() -> bool:
    """Return whether what another system lacks is not there."""
    from cc_hf import writing
    from cc_hf.plugins.timing import machine

    return vars(writing)["fcntl"] is None and machine.CpuMeter().others() is None


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=EncodingWarning)  # those of other packages
    commands, *encodings = sys.argv[1:4]
    for stream, encoding in zip((sys.stdout, sys.stderr), encodings, strict=True):
        stream.reconfigure(encoding=encoding)  # type: ignore[union-attr]
    if is_faked := sys.argv[4:] != ["plain"]:
        _hide()
    _run(json.loads(commands))
    if is_faked != _is_hidden():
        raise AssertionError("what another system lacks was not hidden")
