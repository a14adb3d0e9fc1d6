"""The script of the README's figures says which system judged itself."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

from tests.helpers.results import small_result


def test_the_readme_says_that_the_demo_judges_itself(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("readme_figures", root / "docs/readme_figures.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    readme = (root / "README.md").read_text(encoding="utf-8")
    signature = next(line for line in readme.splitlines() if "|sys:" in line).strip("`")
    result = small_result((0.4, 0.9))
    scores = {f"accuracy_{name}": 0.5 for name in ("MoMc", "FoFc", "MoFc", "FoMc")}
    lines = script.demo_lines(
        replace(result, signature=signature, scores={**result.scores, **scores})
    )
    assert "Not fit to cite: judged by itself: cc-tiny-en-de is the system" in lines[0]
    assert f"\n{lines[0]}\n" in readme
    assert f"\n{lines[-1]}\n" in readme
