"""What stands in the archived translations of real systems beside the translation."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cc_hf.text.artefacts import ARTEFACTS, artefacts
from cc_hf.text.both_genders import names_both_genders
from cc_hf.text.replies import is_placeholder, is_refusal

_FOLDERS = (
    "gabrielStanovsky/mt_gender/translations/*/*.txt",
    "ramos-ai/winopt/translations/*/en-pt.txt",
    "chiaramanna/gender-cue-integration-MT/files/translations/*/*.txt",
    "kinit-sk/gest/data/translations/*/*/translations.csv",
)
#: Files with something that is named, none of it a reason not to cite.
_NAMED = {
    ("sota", "tokenised"): 2,
    ("model_b", "invisible"): 1,
    ("model_cbs", "invisible"): 1,
}
_NOT_TRANSLATED = "systran/en-langs.txt"  # "None" in place of each translation


def _files(upstream: Path) -> Iterator[Path]:
    for pattern in _FOLDERS:
        yield from sorted(upstream.glob(pattern))


def _pairs(path: Path) -> list[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return [(row["from"], row["to"]) for row in csv.DictReader(text.splitlines())]
    lines = [line for line in text.split("\n") if "|||" in line]
    return [tuple(re.split(r"\s+\|\|\|\s?", line, maxsplit=1)) for line in lines]  # type: ignore[misc]


def test_archived_translations_are_named_only_for_what_they_have(shared: Path) -> None:
    named: dict[tuple[str, str], int] = {}
    n_files = 0
    for path in _files(shared / "upstream"):
        if str(path).endswith(_NOT_TRANSLATED):
            continue
        n_files += 1
        sources, texts = zip(*_pairs(path), strict=True)
        for artefact in artefacts(texts, sources):
            assert not ARTEFACTS[artefact.kind].is_reason, f"{path}: {artefact}"
            key = path.parent.name, artefact.kind
            named[key] = named.get(key, 0) + 1
    assert n_files == 100
    assert named == _NAMED


@pytest.mark.parametrize("system", ["google", "systran"])
def test_archived_translations_are_no_refusals(system: str, shared: Path) -> None:
    folder = shared / f"upstream/gabrielStanovsky/mt_gender/translations/{system}"
    for path in sorted(folder.glob("en-??.txt")):
        for source, text in _pairs(path):
            assert not is_refusal(text, source), text
            assert not is_placeholder(text, source), text
            assert not names_both_genders(text, path.stem[3:]), text
