"""Options of the commands that ask language models, and opening whoever replies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.output import STANDARD, say
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.asking.plans import Plan
    from cc_hf.prompting.conversations import Respondent
    from cc_hf.prompting.replies import FileRespondent

__all__ = [
    "BatchSize",
    "Concurrency",
    "Demonstrations",
    "Dtype",
    "Kept",
    "MaxNewTokens",
    "MaxRequests",
    "Model",
    "Opening",
    "Replies",
    "Server",
    "Shots",
    "Strategy",
    "Temperature",
    "kept_path",
]

Model = Annotated[
    str | None,
    typer.Option(
        help=(
            "Language model: a folder, or a model on the Hub; with --server, its name there."
            " Instead: --replies."
        )
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        help=(
            "Address of an OpenAI-compatible server, such as http://localhost:8000/v1. Nothing is"
            " sent to any server unless this is given. A key is read from the environment only."
        )
    ),
]
Replies = Annotated[
    Path | None,
    typer.Option(
        help="JSONL file of replies that were collected elsewhere, with id and text (or error)."
    ),
]
Strategy = Annotated[
    str,
    typer.Option(
        help=(
            "Way of asking: basic (the answer only), cot (Chain of Thought: reasons first) or cota"
            " (Chain of Tasks: fill the gap in the English sentence first)."
        )
    ),
]
Shots = Annotated[
    int | None,
    typer.Option(min=0, help="Number of demonstrations. Default: that of the thesis."),
]
Demonstrations = Annotated[
    str,
    typer.Option(
        help=(
            "Where demonstrations come from: data (drawn by --seed and not asked), shipped (with"
            " reasons; en-de, en-fr, en-ru), a .tsv file of your own, or auto: data for basic,"
            " shipped for the others."
        )
    ),
]
Kept = Annotated[
    Path | None,
    typer.Option(
        help=(
            "File in which every request and reply is kept; a run that was stopped goes on with"
            " it. Default: beside --output, ending in .replies.jsonl."
        )
    ),
]
MaxNewTokens = Annotated[
    int | None,
    typer.Option(
        min=1, help="Longest reply, in tokens of the model. Default: 256, or 512 with reasons."
    ),
]
Temperature = Annotated[
    float, typer.Option(min=0, help="Temperature of sampling; 0 decodes greedily.")
]
BatchSize = Annotated[
    int, typer.Option(min=1, help="Conversations in a batch of a model on this machine.")
]
Concurrency = Annotated[
    int, typer.Option(min=1, help="With --server: requests that are open at a time.")
]
MaxRequests = Annotated[
    int | None, typer.Option(min=1, help="With --server: refuse to send more requests than this.")
]
Dtype = Annotated[
    str | None,
    typer.Option(help="Precision of a model on this machine, such as bfloat16. Default: its own."),
]


@dataclass(frozen=True)
class Opening:
    """How whoever replies is opened."""

    model: str | None
    server: str | None
    replies: Path | None
    max_new_tokens: int | None
    temperature: float
    batch_size: int
    concurrency: int
    max_requests: int | None
    dtype: str | None
    device: str | None

    def open(self, plan: Plan) -> Respondent | FileRespondent:
        """Open the backend, and say how much will be sent if that is a server."""
        from cc_hf.prompting.conversations import Decoding
        from cc_hf.systems.respondents import open_respondent

        longest = self.max_new_tokens or plan.prompt.template.max_new_tokens
        respondent = open_respondent(
            self.model,
            server=self.server,
            replies=self.replies,
            decoding=Decoding(longest, self.temperature),
            dtype=self.dtype,
            device=self.device,
            batch_size=self.batch_size,
            concurrency=self.concurrency,
            max_requests=self.max_requests,
        )
        if self.server is not None:
            n = len(plan.requests)
            say(
                "note",
                f"{n:,} requests with {plan.n_characters:,} characters go to {self.server}, less"
                f" those that were answered before; each reply has at most {longest:,} tokens",
            )
        return respondent


def kept_path(output: Path | None, kept: Path | None) -> Path:
    """Return the file in which replies are kept.

    Raises:
        InputError: for neither.

    Examples:
        >>> kept_path(Path("out/choices.json"), None).name
        'choices.replies.jsonl'
    """
    if kept is not None:
        return kept
    if output is None or output == STANDARD:
        raise InputError(
            "--kept: expected a file for the replies, which a run that is stopped goes on with,"
            " since there is no file of --output beside which it could lie"
        )
    return output.with_name(f"{output.stem}.replies.jsonl")
