"""One's own figures as `cc-hf study NAME published` shows them above the printed ones."""

import json
from pathlib import Path
from typing import Any

from tests.helpers.command_line import invoke


def cells_beside(study: str, *results: Path | str) -> dict[str, dict[str, Any]]:
    """Return table -> column -> figure of the first of one's own rows.

    Args:
        results: files with the JSON of results.
    """
    shown = invoke("study", study, "published", *results, "--json")
    if shown.exception is not None and not isinstance(shown.exception, SystemExit):
        raise shown.exception
    return {table["table"]: table["results"][0]["cells"] for table in json.loads(shown.stdout)}
