"""cc-hf register: the metrics by name for `evaluate.load`."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.output import Console
from cc_hf.errors import InputError

__all__ = ["register"]


def register(
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what cc_hf wrote, and nothing else.")
    ] = False,
) -> None:
    """Let `evaluate.load("contrastive_conditioning")` find the metrics by name.

    `import cc_hf` does the same, unless CC_HF_NO_REGISTER=1 is set. Where the Hub has a module of
    the same name, `evaluate` takes that one.
    """
    from cc_hf import evaluate_modules as registration

    shims = registration.remove() if remove else registration.register()
    console = Console()
    for shim in shims:
        console.print(Text(f"{shim.name}: {shim.state}, {shim.path}"), soft_wrap=True)
    if remove and os.getenv(registration.OPT_OUT) is None:
        console.print(
            f"the next `import cc_hf` writes them again; set {registration.OPT_OUT}=1 to keep them"
            " away",
            soft_wrap=True,
            highlight=False,
        )
    if failed := [shim.name for shim in shims if shim.state.startswith("not possible")]:
        raise InputError(
            f"{len(failed)} of {len(shims)} metrics could not be"
            f" {'removed' if remove else 'registered'}: {', '.join(failed)}; the reasons are above"
        )
