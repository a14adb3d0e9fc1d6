"""Programs in processes of their own, forked from one that has imported torch and transformers and
nothing of cc_hf: importing those takes most of the time of a small program.
"""

import gc
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Run = Callable[..., str]


@contextmanager
def fork_server() -> Iterator[Run]:
    """Yield a function that runs a program in a folder, which comes first in its `sys.path`, and
    returns what it prints.

    Coverage of the programs is not measured: the lines of a copy of the package would count as
    lines of the package.
    """
    environment = {name: os.environ[name] for name in os.environ if name[:9] != "COVERAGE_"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        TemporaryDirectory() as printed,
        subprocess.Popen([sys.executable, __file__], env=environment, **pipes) as server,
    ):
        streams: Any = server

        def run(folder: Path, program: str, *arguments: str) -> str:
            request = json.dumps([printed, str(folder), program, *arguments])
            print(request, file=streams.stdin, flush=True)
            status = streams.stdout.readline()
            stdout, stderr = (Path(printed, name).read_text("utf-8") for name in _STREAMS)
            assert status == "0\n", stderr
            return stdout

        yield run


_STREAMS = ("stdout", "stderr")


def _serve() -> None:
    """Run the programs that standard input names, one in a line, and print how each ended."""
    import transformers.trainer_seq2seq  # noqa: F401 - it imports torch, accelerate and datasets

    gc.freeze()  # so that a child does not copy what its collections would touch
    for line in sys.stdin:
        printed, folder, program, *arguments = json.loads(line)
        if process := os.fork():
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            sys.stdout.write(f"{status}\n")
            sys.stdout.flush()
            continue
        for number, name in enumerate(_STREAMS, 1):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(f"{printed}/{name}", flags), number)
        os.chdir(folder)
        os.environ["COLUMNS"] = "200"
        sys.path[0] = folder
        sys.argv = ["-c", *arguments]
        try:
            exec(program, {"__name__": "__main__"})
            status = 0
        except BaseException:  # noqa: BLE001 - as the interpreter does at the end of a program
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        # An ordinary end would delete all modules one by one, which takes longer than the program.
        os._exit(status)


if __name__ == "__main__":
    _serve()
