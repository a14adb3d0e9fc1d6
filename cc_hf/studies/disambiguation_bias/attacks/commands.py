"""Commands of attacks: adversarial sentences that flip the sense of a homograph, and what systems
make of them.
"""

from __future__ import annotations

import typer

from cc_hf.cli.command import CommandGroup
from cc_hf.studies.disambiguation_bias.attacks.judge_commands import judge
from cc_hf.studies.disambiguation_bias.attacks.make_commands import make
from cc_hf.studies.disambiguation_bias.attacks.sample_commands import (
    challenge,
    grammar,
    rate,
    sheets,
    transfer,
)

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Attack word senses with adjectives that pull a homograph towards a wrong sense.",
    no_args_is_help=True,
)
app.command("make")(make)
app.command("judge")(judge)
app.command("challenge")(challenge)
app.command("transfer")(transfer)
app.command("grammar")(grammar)
app.command("sheets")(sheets)
app.command("rate")(rate)
