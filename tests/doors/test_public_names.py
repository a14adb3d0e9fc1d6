"""What `import cc_hf` offers, and what it does not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cc_hf

_BLOCK = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "accelerate", "sentencepiece")))  # None: importing them fails
import cc_hf
"""
#: Where torch may be imported (ARCHITECTURE: «who may import whom»).
_FAMILIES = (
    "arithmetic",
    "causal_lm",
    "fairseq",
    "fsmt",
    "m2m100",
    "marian",
    "masked_lm",
    "mbart",
    "packed",
    "seq2seq",
    "t5",
)
_HEAVY = (
    *(
        f"cc_hf.evaluators.{name}"
        for name in (
            "file_memory",
            "fill_mask",
            "int8_products",
            "loading",
            "teacher_forcing",
            *_FAMILIES,
        )
    ),
    "cc_hf.studies.wino_x.trigger_importance",
    "cc_hf.systems.translate",
    "cc_hf.training",
)


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_all_is_what_is_offered() -> None:
    assert len(cc_hf.__all__) <= 16
    assert sorted(cc_hf.__all__) == dir(cc_hf) == sorted(cc_hf.__all__, key=str)
    assert all(getattr(cc_hf, name) is not None for name in cc_hf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cc_hf.nothing  # noqa: B018


def test_no_module_hides_a_public_name() -> None:
    code = """
import importlib, pkgutil, types
import cc_hf
for module in pkgutil.walk_packages(cc_hf.__path__, "cc_hf."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print([name for name in cc_hf.__all__ if isinstance(getattr(cc_hf, name), types.ModuleType)])
"""
    assert run(code).strip() == "[]"


def test_other_modules_import_without_torch() -> None:
    code = (
        _BLOCK
        + f"""
for module in pkgutil.walk_packages(cc_hf.__path__, "cc_hf."):
    if not module.name.startswith({_HEAVY!r}) and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""
    )
    names = run(code).split()
    assert {
        "cc_hf.evaluation.evaluate",
        "cc_hf.metrics.contrastive_conditioning",
        "cc_hf.cli.main",
        "cc_hf.evaluators.base",
    } <= set(names)


def test_without_torch_the_error_names_the_extra() -> None:
    code = (
        _BLOCK + "try:\n    cc_hf.load_evaluator\nexcept ImportError as error:\n   "
        " print(type(error).__name__, error)"
    )
    assert "MissingDependencyError" in run(code)
    assert "pip install 'cc_hf[models]'" in run(code)


def test_importing_imports_nothing_heavy() -> None:
    code = (
        "import sys, cc_hf; print([m for m in ('torch', 'transformers', 'datasets', 'evaluate',"
        " 'rich', 'numpy') if m in sys.modules])"
    )
    assert run(code).strip() == "[]"
