"""Commands of attacks: adversarial sentences that flip the sense of a homograph, and what systems
make of them.
"""

from __future__ import annotations

import typer

from cc_hf.cli.command import CommandGroup, add_command
from cc_hf_studies.disambiguation_bias.attacks.build_commands import build
from cc_hf_studies.disambiguation_bias.attacks.judge_commands import judge
from cc_hf_studies.disambiguation_bias.attacks.sample_commands import (
    build_challenge,
    build_sheets,
    grammar,
    rate,
    transfer,
)

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Attack word senses with adjectives that pull a homograph towards a wrong sense.",
    no_args_is_help=True,
)
add_command(app, "build", build)
add_command(app, "judge", judge)
add_command(app, "build-challenge", build_challenge)
add_command(app, "transfer", transfer)
add_command(app, "grammar", grammar)
add_command(app, "build-sheets", build_sheets)
add_command(app, "rate", rate)
