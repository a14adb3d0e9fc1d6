"""Write a metric as a folder for a Space: the module for `evaluate.load`, the card, a page to try
it on, requirements and tests.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from huggingface_hub import SpaceCard

from cc_hf import registry
from cc_hf._version import __version__
from cc_hf.data.loading import card_path
from cc_hf.errors import InputError
from cc_hf.evaluate_modules import check_own_metric
from cc_hf.folders import new_folder
from cc_hf.hub.cards import without_relative_links
from cc_hf.hub.push import check_repo
from cc_hf.metrics.base import Metric

__all__ = [
    "NO_INDEX_NOTE",
    "SPACE_LOOKS",
    "build_metric_space",
    "card_example",
    "first_sentence",
    "module_text",
    "requirement_line",
    "space_card",
]

#: How the Hub runs and shows every Space of cc_hf with a program. The version of gradio is the
#: tested one (constraints.txt).
SPACE_LOOKS = {
    "sdk_version": "6.31.0",
    "emoji": "⚖️",
    "colorFrom": "green",
    "colorTo": "gray",
    "pinned": False,
}

#: What publishers of a Space with the default line of requirements.txt must know.
NO_INDEX_NOTE = (
    "requirements.txt asks pip for cc_hf, which is on no package index yet, so the Space cannot"
    " start. Give --requirement with a place that the Hub can reach, such as 'cc_hf[{extras}] @"
    " git+https://HOST/OWNER/cc_hf'"
)

_MODULE = '''"""{title} as a module of the `evaluate` library."""

import evaluate

import cc_hf.evaluation.judging
import {core}


class {name}(cc_hf.evaluation.judging.MetricModule, evaluate.Metric):
    """What the class of the metric declares."""

    metric = {core}.{name}
'''
_APP = '''"""The page of the Space: the card, and a few lines judged."""

from pathlib import Path

from cc_hf.hub.metric_page import launch, metric_page

demo = metric_page("{name}", card=Path(__file__).with_name("README.md").read_text(encoding="utf-8"))

if __name__ == "__main__":
    launch(demo)
'''
_TESTS = '''"""What the module answers is what cc_hf answers. Run with `pytest tests.py`."""

from pathlib import Path

import evaluate

from cc_hf.evaluation.judging import module_figures
from cc_hf.metrics.base import registered_metric

test_cases = [
    {example},
]


def test_the_module_answers_as_the_package():
    metric = evaluate.load(str(Path(__file__).with_name("{module}.py")))
    for case in test_cases:
        found = metric.compute(**case)
        options = dict(case)
        rows = options.pop("predictions", None), options.pop("references")
        assert found == module_figures(registered_metric({name!r}), *rows, options)
        assert found["n"] == len(case["references"])
        assert {score!r} not in found or 0 <= found[{score!r}] <= 1
'''


def module_text(name: str) -> str:
    """Return the text of a metric's module for `evaluate`, as `evaluate.load` reads it."""
    core, _, class_name = registry.METRICS[name].partition(":")
    title = registry.resolve("metric", name).title
    return _MODULE.format(title=title[0].upper() + title[1:], core=core, name=class_name)


def build_metric_space(
    name: str, repo: str, *, output: str | Path, requirement: str | None = None
) -> list[Path]:
    """Write the folder of a metric's Space.

    `evaluate.load(repo)` finds the module, which has the name of the repository. cc_hf must be
    installed where it is loaded.

    Args:
        requirement: the line of requirements.txt with which pip installs cc_hf. None for this
            version or a newer one before the next major version from PyPI, with the extra `models`
            if the metric needs an evaluator.
    """
    check_own_metric(name)
    declared: type[Metric] = registry.resolve("metric", name)
    module = check_repo(repo).rpartition("/")[2]
    if "." in module:
        raise InputError(
            f'repo: expected a name that a Python module can have, without ".", got {module!r}'
        )
    line = requirement_line(requirement, "cc_hf[models]" if declared.takes_evaluator else "cc_hf")
    card = card_path(name, kind="metrics").read_text(encoding="utf-8")
    with new_folder(output) as folder:
        files = {
            f"{module}.py": module_text(name),
            "README.md": str(space_card(name, repo)),
            "app.py": _APP.format(name=name),
            "requirements.txt": f"{line}\n",
            "tests.py": _TESTS.format(
                name=name,
                module=module,
                example=repr(card_example(card)),
                score=(*declared.leaderboard, *declared.key_figures)[0],
            ),
        }
        for path, text in files.items():
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    return sorted(path for path in Path(output).iterdir())


def requirement_line(line: str | None, package: str) -> str:
    """Return the given line of requirements.txt, or one for this version of cc_hf or a newer one
    before the next major version, which may not run the program of the Space.

    Raises:
        InputError: for a blank text, more than one line, or an option of pip.

    Examples:
        >>> requirement_line("cc_hf @ git+https://example.org/cc_hf", "cc_hf")
        'cc_hf @ git+https://example.org/cc_hf'
    """
    next_major = int(__version__.partition(".")[0]) + 1
    default = f"{package}>={__version__},<{next_major}"
    if line is None:
        return default
    if not line.isprintable() or not line.strip() or line.lstrip().startswith("-"):
        raise InputError(f"requirement: expected one line such as {default!r}, got {line!r}")
    return line


def space_card(name: str, repo: str) -> SpaceCard:
    """Return a metric's card with the version of gradio and the name that its Space has."""
    text = card_path(name, kind="metrics").read_text(encoding="utf-8")
    text = text.replace("# Once cc_hf was imported; or", "# Or").replace(
        f'evaluate.load("{name}")', f'evaluate.load("{repo}")'
    )
    # Relative links would be broken.
    card = SpaceCard(without_relative_links(text), ignore_metadata_errors=False)
    for key, value in {"description": first_sentence(text), **SPACE_LOOKS}.items():
        card.data[key] = value
    return card


def first_sentence(card: str) -> str:
    """Return the first sentence of the description of a metric, in one line.

    Examples:
        >>> first_sentence("# M\\n\\n## Description\\nIt counts\\nwords. It is fast.\\n")
        'It counts words.'
    """
    description = " ".join(card.partition("\n## Description\n")[2].split())
    return re.split(r"(?<=[.?!]) (?=[A-Z])", description, maxsplit=1)[0]


def card_example(card: str) -> dict[str, Any]:
    """Return the arguments of `compute` in a card's first example, parsed without running it."""
    code = card.partition("```python\n")[2].partition("```")[0]
    known: dict[str, ast.expr] = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node.value
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "compute"
        ):
            return {word.arg: _literal(word.value, known) for word in node.keywords if word.arg}
    raise InputError("card: expected an example in Python that calls compute, got none")


def _literal(node: ast.expr, known: dict[str, ast.expr]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in known:
        return _literal(known[node.id], known)
    if isinstance(node, ast.List):
        return [_literal(element, known) for element in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {
            _literal(key, known): _literal(value, known)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _literal(node.left, known) * _literal(node.right, known)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
        and not node.keywords
    ):
        return str(_literal(node.func.value, known)).format(
            *(_literal(argument, known) for argument in node.args)
        )
    raise InputError(f"card: expected an example of literals, got {ast.unparse(node)}")
