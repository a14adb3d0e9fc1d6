"""Packages with entry points, as pip lays them out."""

from collections.abc import Mapping
from pathlib import Path


def add_package(
    folder: Path, name: str, entry_points: Mapping[str, Mapping[str, str]], code: str | None = ""
) -> None:
    """Write a package of one module into a folder of `sys.path`.

    Args:
        folder: the folder.
        name: name of the package; that of the module has "_" in place of "-".
        entry_points: group -> name -> "module:object".
        code: the text of the module; None if the folder has one.
    """
    if code is not None:
        (folder / f"{name.replace('-', '_')}.py").write_text(code, encoding="utf-8")
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines: list[str] = []
    for group, points in entry_points.items():
        lines += [f"[{group}]", *(f"{point} = {target}" for point, target in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
