"""Processor seconds of commands by the embedded evaluator, by the road without transformers and by
that of transformers; and of one whose scores are saved, with and without the dictionary of German.

python -m benchmarks.starting --output docs/performance.md
"""

from __future__ import annotations

import compileall
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated, NamedTuple

import typer

import cc_hf
from benchmarks.command import run_main
from cc_hf.errors import InputError
from cc_hf.plugins.timing.machine import cpu_count, load_average

__all__ = ["Program", "in_process", "main", "table"]

_BLOCK = "starting"
_LOADED = """
import cc_hf
judge = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact", cache=False)
judge.mean_logprobs(["It snows."], ["Es schneit."])
"""
_COMMAND = """
import runpy, sys
sys.argv = ["cc-hf", *{arguments!r}]
runpy.run_module("cc_hf", run_name="__main__")
"""
_EXPLAIN = [
    *("explain", "--source", "The doctor left.", "--focus", "doctor", "--gender", "female"),
    *("--translation", "Die Ärztin ging.", "-l", "en-de", "--quiet"),
]
_BY_TRANSFORMERS = "import cc_hf.models.pretrained as p; p.light_marian = lambda *_: None"
# Without the list of words that are in the dictionary, it is opened for one word of 3,648 texts.
_BY_DICTIONARY = """
import cc_hf.text.unusable as u
u.frequent_words = lambda column="words", words=u.frequent_words: (
    words() if column == "words" else {}
)
"""


class Program(NamedTuple):
    """A program of Python.

    Attributes:
        before: what it does before by the plain road.
        home: the folder for what it keeps; "" for an empty one at each run.
    """

    text: str
    before: str = _BY_TRANSFORMERS
    home: str = ""


Run = Callable[[Program], tuple[float, int]]


def in_process(program: Program) -> tuple[float, int]:
    """Run a program, and return seconds of the processor and the peak of its memory in MB."""
    with tempfile.TemporaryDirectory() as home:
        variables = {**os.environ, "HF_HOME": program.home or home}
        process = subprocess.Popen(
            [sys.executable, "-c", program.text],
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        with process.stderr or io.BytesIO() as errors:
            said = errors.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status  # it has been waited for
    if status:
        raise InputError(said.decode(errors="replace"))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def table(programs: dict[str, Program], *, n_rounds: int, run: Run = in_process) -> str:
    """Return a table in Markdown: medians over the rounds, ratios within a round."""
    lines = [
        "| command | plain, s | light, s | ratio | plain, MB | light, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    runs: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for _ in range(n_rounds):
        for title, program in programs.items():
            plain = program._replace(text=f"{program.before}\n{program.text}")
            runs.setdefault((title, "plain"), []).append(run(plain))
            runs.setdefault((title, "light"), []).append(run(program))
    for title in programs:
        slow, fast = (runs[title, road] for road in ("plain", "light"))
        ratio = median(a / b for (a, _), (b, _) in zip(slow, fast, strict=True))
        seconds = [f"{median(s for s, _ in road):.1f}" for road in (slow, fast)]
        memory = [f"{median(m for _, m in road):,.0f}" for road in (slow, fast)]
        lines.append(f"| {title} | {' | '.join([*seconds, f'{ratio:.2f}', *memory])} |")
    return "\n".join(lines)


def main(
    translations: Annotated[
        Path | None, typer.Option(help="German translations of WinoMT, for `evaluate`.")
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Upstream repositories.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Each way is measured so often.")] = 5,
    output: Annotated[
        Path | None, typer.Option(help="docs/performance.md, whose table is replaced.")
    ] = None,
) -> None:
    """Measure, print the table, and write it to a document if one is named."""
    load = load_average()
    # As in an installed package; else both roads compile its source, whatever the environment says.
    compileall.compile_dir(Path(cc_hf.__file__).parent, quiet=1)
    programs = {
        "load, and score one pair": Program(_LOADED),
        "`cc-hf explain`, one sentence": Program(_COMMAND.format(arguments=_EXPLAIN)),
    }
    kept = tempfile.TemporaryDirectory()
    if translations is not None:
        arguments = ["evaluate", "winomt", "en-de", "--translations", str(translations), "--quiet"]
        if data_dir is not None:
            arguments += ["--data-dir", str(data_dir)]
        limited = [*arguments, "--limit", "60"]
        few, every = (_COMMAND.format(arguments=of) for of in (limited, arguments))
        programs["`cc-hf evaluate winomt`, 60 sentences"] = Program(few)
        programs["`cc-hf evaluate winomt`, all"] = Program(every)
        programs["the same, scores saved"] = Program(every, _BY_DICTIONARY, kept.name)
        in_process(programs["the same, scores saved"])
    with kept:
        rows = table(programs, n_rounds=rounds)
    # Later, since it imports torch: the peak of a process is at least what its parent holds.
    from benchmarks.documents import measured_on, write_block

    text = (
        f"Measured on {measured_on(cpu_count(), 'cpu', load=load)}. Medians of {rounds}"
        f" rounds; MB are the peak of the process.\n\n{rows}"
    )
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
