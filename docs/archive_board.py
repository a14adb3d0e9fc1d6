"""The board of archived systems on the site: `make leaderboard` packs results without translations
into docs/archive_results.tar.xz, from which the build of the site writes the board, offline.
"""

from __future__ import annotations

import io
import lzma
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from cc_hf.files import file_slug
from cc_hf.plugins.leaderboard.static.board import Board
from cc_hf.plugins.leaderboard.static.origins import ORIGINS
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.plugins.leaderboard.store import DATES, without_translations
from cc_hf.results import EvaluationResult

_RESULTS = Path(__file__).parent / "archive_results.tar.xz"
_TITLE = "Archived systems on WinoMT (2019) and GEST (2023)"


def result_name(result: EvaluationResult) -> str:
    """Return the name of the file of a result."""
    words = (result.dataset, result.config, result.tgt_lang, result.metric, result.system)
    return f"{file_slug('.'.join(words))}.json"


def origins_text(origins: Sequence[str]) -> str:
    """Return `systems.tsv`, from its lines without the header."""
    return "\n".join(["system\tyear\tsource\tlicence", *origins, ""])


def pack_results(results: Sequence[EvaluationResult], origins: Sequence[str]) -> None:
    """Write the results without their translations, unless the same ones are there already."""
    texts = {result_name(result): without_translations(result).to_json() for result in results}
    texts[ORIGINS] = origins_text(origins)
    if _RESULTS.is_file() and texts == {n: t for n, t in _packed().items() if n != DATES}:
        return
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    texts[DATES] = "".join(f"{name}\t{today}\n" for name in texts if name != ORIGINS)
    _RESULTS.write_bytes(lzma.compress(_tar(texts), preset=9 | lzma.PRESET_EXTREME))


def _tar(texts: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.TarFile(fileobj=packed, mode="w") as archive:
        for name, text in sorted(texts.items()):
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _packed() -> dict[str, str]:
    """Return the texts of the packed files by their names."""
    texts = {}
    with tarfile.open(_RESULTS) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                texts[member.name] = file.read().decode()
    return texts


def write_archived_board(output: Path) -> Board:
    """Write the page of the packed results, in place of an older one."""
    shutil.rmtree(output, ignore_errors=True)
    with tempfile.TemporaryDirectory() as results:
        for name, text in _packed().items():
            (Path(results) / name).write_text(text, encoding="utf-8", newline="\n")
        return write_static_board(results, output, title=_TITLE)
