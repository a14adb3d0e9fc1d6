"""What a release needs besides code: `python -m tools.release` checks that every file that people
expect is there, that docs/dependencies.md has a row for every direct dependency with a known
licence, that tools/licences.tsv says of every file of the wheel that is no program where it is
from, and NOTICE what it must, and that workflows name actions by commit and run nothing with the
right to publish; `python -m tools.release update` asks PyPI and writes the page anew,
and `python -m tools.release ready` also demands the project's addresses.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from packaging.requirements import Requirement

from cc_hf._version import __version__
from cc_hf.hub.cards import with_block
from cc_hf.tables.rows import read_rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["FILES", "dependencies", "problems", "project"]

_ROOT = Path(__file__).parent.parent
_PAGE = Path("docs/dependencies.md")
_PROSE = Path("tools/dependencies.tsv")
_LICENCES_OF_FILES = Path("tools/licences.tsv")
_WORKFLOWS = Path(".github/workflows")
#: Package -> the notice that its wheel has.
_NOTICES = {
    "cc_hf": "NOTICE",
    "studies/cc_hf_studies": "studies/NOTICE",
    "judges/cc_hf_judges": "judges/NOTICE",
}
_ADDRESSES = ("Source", "Documentation", "Issues", "Changelog")
#: The files that people expect of a project.
FILES = (
    *("README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "CITATION.cff", "CONTRIBUTING.md"),
    *("studies/README.md", "studies/LICENSE", "studies/NOTICE"),
    *("judges/README.md", "judges/LICENSE", "judges/NOTICE"),
    *("SECURITY.md", "CODE_OF_CONDUCT.md", "docs/versioning.md", ".pre-commit-config.yaml"),
    *(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "figure", "idea")),
    ".github/PULL_REQUEST_TEMPLATE.md",
    *(f".github/workflows/{name}.yml" for name in ("tests", "matrix", "docs", "release")),
)
#: What licences of dependencies say of themselves -> their identifier.
_LICENCES = {
    "apache": "Apache-2.0",
    "cc by-sa": "CC-BY-SA-4.0",
    "bsd": "BSD-3-Clause",
    "mpl": "MPL-2.0",
    "lgpl": "LGPL-3.0",
    "gpl": "GPL-3.0",
    "mit": "MIT",
    "enthought": "BSD-3-Clause",
    "matplotlib": "PSF-based",
    "psf": "PSF-2.0",
}


def project(root: Path) -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    content = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    table: dict[str, Any] = content["project"]
    return table


def dependencies(root: Path = _ROOT) -> dict[str, list[str]]:
    """Return the direct dependencies of pyproject.toml, each with its extras; "core" for none."""
    content = project(root)
    extras = {"core": content["dependencies"], **content["optional-dependencies"]}
    names: dict[str, list[str]] = {}
    for extra, requirements in extras.items():
        for requirement in map(Requirement, requirements):
            if requirement.name != content["name"]:
                of_name = names.setdefault(requirement.name, [])
                of_name += [extra] * (extra not in of_name)
    return names


def problems(root: Path = _ROOT, *, is_release: bool = False) -> Iterator[str]:
    """Yield what is missing, or too much; for a release also the project's addresses."""
    urls = project(root).get("urls", {})
    if missing := [name for name in _ADDRESSES if name not in urls and (urls or is_release)]:
        yield f"pyproject.toml: expected project.urls to have {', '.join(missing)}"
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    if "Source" in urls and f'repository-code: "{urls["Source"]}"' not in citation:
        yield f"CITATION.cff: expected repository-code to be {urls['Source']}, as in pyproject.toml"
    if "Source" in urls:
        readme = (root / "README.md").read_text(encoding="utf-8")
        if f"git clone {urls['Source']} " not in readme:
            yield f"README.md: expected git clone {urls['Source']}, as in pyproject.toml"
    for name in FILES:
        if not (root / name).is_file():
            yield f"{name}: expected a file, there is none"
    page = (root / _PAGE).read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w.-]+)` \|.*?\| ([^|]*) \|[^|]*\|[^|]*\|[^|]*\|$", page, re.M))
    names = dependencies(root)
    for name in names.keys() - rows.keys():
        yield f"{_PAGE}: expected a row for {name}; add it to {_PROSE} and run with `update`"
    for name in rows.keys() - names.keys():
        yield f"{_PAGE}: {name} is no dependency; remove it from {_PROSE} and run with `update`"
    for name, licence in rows.items():
        if licence.strip() not in _LICENCES.values():
            yield f"{_PAGE}: {name}: expected a licence that is known, got {licence.strip()!r}"
    for folder, extra in (("studies", ""), ("judges", "[models]")):
        of_folder = project(root / folder)
        needed = [f"cc_hf{extra}=={__version__}"]
        if (of_folder["version"], of_folder["dependencies"]) != (__version__, needed):
            yield f"{folder}/pyproject.toml: expected {__version__}, its version and that of cc_hf"
    yield from _unlicensed(root)
    yield from _unsafe_workflows(root)


def _unsafe_workflows(root: Path) -> Iterator[str]:
    """Yield actions whose code may change, and jobs that run commands with the right to publish."""
    for path in sorted((root / _WORKFLOWS).glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        for action in re.findall(r"uses: *(.*)", text):
            # A tag or a branch can be moved to other code, a commit cannot.
            if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action):
                yield f"{path.name}: expected OWNER/NAME@COMMIT # VERSION, got {action!r}"
        workflow = yaml.safe_load(text)
        for name, job in workflow["jobs"].items():
            permissions = job.get("permissions", workflow.get("permissions"))
            may_publish = not isinstance(permissions, dict) or "id-token" in permissions
            if may_publish and any("run" in step for step in job["steps"]):
                yield f"{path.name}: {name}: expected no command in a job with id-token"


def _unlicensed(root: Path) -> Iterator[str]:
    """Yield files of the package without an origin, origins without a file, and missing notices."""
    rows = [row for _, row in read_rows(_ROOT / _LICENCES_OF_FILES)]
    used = set()
    for package, notice in _NOTICES.items():
        text = (root / notice).read_text(encoding="utf-8")
        for path in sorted((root / package).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_dir() or path.suffix in (".py", ".pyc"):
                continue
            row = next((row for row in rows if fnmatch(name, row["files"])), None)
            if row is None:
                yield f"{name}: expected a row of {_LICENCES_OF_FILES} on where it is from"
            elif row["notice"] not in text:
                yield f"{notice}: expected {row['notice']!r}, for {row['files']}"
            used.add(row and row["files"])
    for row in rows:
        if row["files"] not in used:
            yield f"{_LICENCES_OF_FILES}: {row['files']} fits no file"


def _table() -> str:
    prose = {row["name"]: row for _, row in read_rows(_ROOT / _PROSE)}
    lines = [
        "| package | in | what for | licence | MB | last release | instead |",
        "|---|---|---|---|--:|---|---|",
    ]
    for name, extras in dependencies().items():
        if name not in prose:
            raise SystemExit(f"{_PROSE}: expected a row for {name}")
        with urllib.request.urlopen(f"https://pypi.org/pypi/{name}/json", timeout=60) as answer:
            info = json.load(answer)
        days = [file["upload_time"][:10] for file in info["urls"]]
        cells = (
            *(f"`{name}`", ", ".join(extras), prose[name]["for"]),
            prose[name]["licence"] or _licence(info["info"]),  # one that the metadata lack
            *(_size(name), max(days, default="unknown"), prose[name]["instead"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _licence(info: dict[str, object]) -> str:
    """Return the identifier of a licence by what the metadata say."""
    classifiers = info.get("classifiers") or []
    texts = [info.get("license_expression"), str(info.get("license") or "")[:60]]
    assert isinstance(classifiers, list)
    texts += [text for text in classifiers if text.startswith("License")]
    texts += _licence_files(str(info["name"]))
    for text in filter(None, map(str, texts)):
        for word, licence in _LICENCES.items():
            if re.search(rf"(?<![a-z]){word}", text.lower()):
                return licence
    return "unknown"


def _licence_files(name: str) -> Iterator[str]:
    """Yield the beginnings of the licence files of an installed package."""
    try:
        files = distribution(name).files or ()
    except PackageNotFoundError:
        return
    for file in files:
        if re.match(r"licen[cs]e", file.name.lower()):
            yield Path(str(file.locate())).read_text(encoding="utf-8", errors="replace")[:200]


def _size(name: str) -> str:
    """Return the size of an installed package in MB, without what it needs itself."""
    try:
        files = distribution(name).files or ()
    except PackageNotFoundError:
        return "not measured"
    paths = [Path(str(file.locate())) for file in files]
    return f"{sum(path.stat().st_size for path in paths if path.is_file()) / 1e6:,.1f}"


def main(action: Annotated[str, typer.Argument()] = "check") -> None:
    """Check, also for a release with `ready`, or write docs/dependencies.md with `update`."""
    if action == "update":
        page = (_ROOT / _PAGE).read_text(encoding="utf-8")
        (_ROOT / _PAGE).write_text(
            with_block(page, "dependencies", _table()), encoding="utf-8", newline="\n"
        )
    if lines := list(problems(is_release=action == "ready")):
        typer.echo("\n".join(lines))
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
