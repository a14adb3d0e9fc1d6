"""Models are loaded with the classes and languages of their files, whatever was imported before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cc_hf import registry
from cc_hf.models.pretrained import load_model
from tests.helpers.command_line import read_json
from tests.helpers.families import BUILDERS

_LOAD = """
import sys
from cc_hf.models.pretrained import load_model
for folder in sys.argv[1:]:
    print(load_model(folder).family, *sorted(m for m in sys.modules if m.startswith("cc_hf.studies.")))
"""


def test_a_model_of_a_study_imports_that_study_and_other_models_none(tmp_path: Path) -> None:
    names = ["marian", *registry.names("model type")]
    folders = [tmp_path / name for name in names]
    for name, folder in zip(names, folders, strict=True):
        folder.mkdir()
        BUILDERS[name](folder)
    command = [sys.executable, "-c", _LOAD, *map(str, folders)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    modules = {line.split()[0]: set(line.split()[1:]) for line in found.stdout.splitlines()}
    assert list(modules) == names
    assert not modules["marian"]
    expected: set[str] = set()
    for name in names[1:]:
        expected.add(".".join(registry.MODEL_TYPES[name].split(".")[:3]))
        assert {".".join(module.split(".")[:3]) for module in modules[name]} == expected


@pytest.mark.parametrize("family", ["m2m_100", "mbart", "nllb", "small100", "t5"])
def test_settings_of_a_multilingual_tokenizer_do_not_name_a_direction(
    tmp_path: Path, family: str
) -> None:
    BUILDERS[family](tmp_path)
    path = tmp_path / "tokenizer_config.json"
    settings = {**read_json(path), "source_lang": "fi", "target_lang": "sv"}
    path.write_text(json.dumps(settings), encoding="utf-8")
    loaded = load_model(tmp_path)
    assert loaded.family == family
    assert (loaded.src_lang, loaded.tgt_lang) == ("", "")
