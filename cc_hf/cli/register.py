"""cc-hf register: make the metrics available by name to `evaluate.load`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.errors import InputError

__all__ = ["register"]


def register(
    remove: Annotated[
        bool,
        typer.Option(
            "--remove", help="Remove the files that cc_hf wrote for this purpose, and nothing else."
        ),
    ] = False,
) -> Outcome:
    """Let `evaluate.load` find the metrics by name.

    `import cc_hf` does the same, unless CC_HF_NO_REGISTER=1 is set. If the Hub has a module of the
    same name, `evaluate` loads that one.

    Example: cc-hf register
    """
    from cc_hf import evaluate_modules as registration

    try:
        paths = registration.remove() if remove else registration.register()
    except OSError as error:
        raise InputError(
            f"expected a cache of modules that can be written ({error}); set HF_HOME to a folder"
            " that can be written to"
        ) from error
    done = "removed" if remove else "written"
    none = "nothing to remove" if remove else "all metrics are registered already"
    again = (
        f"the next `import cc_hf` writes them again; set {registration.OPT_OUT}=1 to keep them away"
    )
    return Outcome(
        {done: [str(path) for path in paths]},
        lambda: [f"{done}: {path}" for path in paths] or [none],
        notes=[again] if remove and os.getenv(registration.OPT_OUT) is None else [],
    )
