"""The benchmark of sense tagging runs on a small corpus. Times are not tested."""

import gzip
import zipfile
from pathlib import Path

import pytest

from benchmarks.studies.disambiguation_bias import sense_tagging
from cc_hf.studies.disambiguation_bias.homographs import read_lexicon
from tests.helpers.lines import write_jsonl
from tests.studies.disambiguation_bias.corpus import SENTENCES


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_give_the_same_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tatoeba").mkdir()
    with zipfile.ZipFile(tmp_path / "tatoeba/deu-eng.zip", "w") as archive:
        archive.writestr("deu.txt", "Tom has a bat.\tTom hat einen Schläger.\tCC-BY\n")
    for side, lang in enumerate(("en", "de")):
        path = tmp_path / f"multi30k/dataset/data/task1/raw/train.{lang}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(pair[side] for pair in SENTENCES).encode()))
    pairs = sense_tagging.read_pairs(tmp_path)
    assert sorted(pairs) == sorted([("Tom has a bat.", "Tom hat einen Schläger."), *SENTENCES])
    paths = sense_tagging.write_corpus(pairs, 20, tmp_path)
    lines = paths[1].read_text(encoding="utf-8").splitlines()
    assert len(lines) == 20
    assert "Ben hat einen Schläger." in lines
    path = write_jsonl(tmp_path / "lexicon.json", [{"bat": {"1": ["Schläger"]}}])
    monkeypatch.setattr(sense_tagging, "read_lexicon", lambda **_: read_lexicon(path))
    runs = [sense_tagging.measure(paths, tmp_path, tmp_path, n, 7) for n in (1, 2)]
    assert runs[0].digest == runs[1].digest
    assert runs[0].memory > 10**7
    assert runs[0].processor > 0
    assert [line.count("|") for line in sense_tagging.table(runs).splitlines()] == [10] * 4
