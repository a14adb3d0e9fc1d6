"""The public names of `cc_hf`, and the modules that its import must not load."""

import subprocess
import sys
from importlib.util import find_spec
from pkgutil import iter_modules

import pytest

import cc_hf
from tests.helpers.contract_cases import study_cases

_BLOCK = """
import importlib, pkgutil, sys
# A module that is None in sys.modules cannot be imported.
sys.modules.update(dict.fromkeys(("torch", "transformers", "accelerate", "sentencepiece")))
import cc_hf
"""
#: Where torch may be imported, in the core (ARCHITECTURE: "who may import whom") and in studies.
_CORE = (
    "evaluators.families. evaluators.fast. evaluators.loading"
    " evaluators.teacher_forcing models.cache_name models.finite_weights"
    " models.light_marian models.pretrained models.weights"
    " plugins.asking.local_chat plugins.asking.server_evaluator plugins.bergamot."
    " plugins.calibration.fill_mask plugins.conversion"
    " plugins.reranking.contrastive_decoding plugins.timing.timing plugins.training. systems."
)
_HEAVY = (
    *(f"cc_hf.{module}" for module in _CORE.split()),
    *(
        f"cc_hf_studies.{study}.{module}"
        for study, cases in study_cases().items()
        for module in cases.torch_modules
    ),
)
_LIGHT = {
    *("cc_hf.cli.main", "cc_hf.evaluation.evaluate", "cc_hf.evaluators.base"),
    *("cc_hf.evaluators.families.prompt", "cc_hf.metrics.contrastive_conditioning"),
    *("cc_hf.plugins.bergamot.model_format", "cc_hf.plugins.conversion.convert_command"),
    "cc_hf.plugins.conversion.tokenizer",
}


def run(code: str) -> str:
    return str(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
    )


def test_public_names_are_exactly_those_of_dunder_all() -> None:
    assert len(cc_hf.__all__) <= 19
    assert sorted(cc_hf.__all__) == dir(cc_hf) == sorted(cc_hf.__all__, key=str)
    assert all(getattr(cc_hf, name) is not None for name in cc_hf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cc_hf.nothing  # noqa: B018


def test_no_submodule_shadows_a_public_name() -> None:
    assert {module.name for module in iter_modules(cc_hf.__path__)}.isdisjoint(cc_hf.__all__)


def test_modules_outside_the_model_code_import_without_torch() -> None:
    # inspect-ai needs Python 3.11
    heavy = (*_HEAVY, *(() if find_spec("inspect_ai") else ("cc_hf.plugins.asking.inspect_tasks",)))
    code = (
        _BLOCK
        + f"""
for module in pkgutil.walk_packages(cc_hf.__path__, "cc_hf."):
    is_light = not module.name.startswith({heavy!r}) or module.name in {sorted(_LIGHT)}
    if is_light and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""
    )
    assert set(run(code).split()) >= _LIGHT


def test_missing_torch_raises_an_error_that_names_the_extra() -> None:
    printed = run(
        f"{_BLOCK}from cc_hf import *\nimport pydoc\nprint(pydoc.plaintext.document(cc_hf))\n"
        "try:\n    load_evaluator('x')\nexcept ImportError as error:\n"
        f"    print(type(error).__name__, error)"
    )
    assert "translate(*args: " in printed
    assert "MissingDependencyError" in printed
    assert "pip install 'cc_hf[models]'" in printed


def test_importing_the_package_imports_no_heavy_dependency() -> None:
    heavy = {"torch", "transformers", "datasets", "evaluate", "rich", "numpy"}
    code = f"import sys, cc_hf; print([name for name in {heavy} if name in sys.modules])"
    assert run(code).strip() == "[]"
