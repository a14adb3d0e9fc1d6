"""Metrics as users load them by name, with `evaluate.load` and in new processes."""

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import evaluate
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.evaluate_modules import OPT_OUT, register, register_quietly, remove, shim_path
from cc_hf.hub.spaces import build_metric_space
from tests.helpers.fake_hub import fake_hub
from tests.helpers.metric_rows import row
from tests.helpers.usual import cases, fails, hash_scores, invoke, printed_by, refuses, write_text

_NAMES = sorted(registry.METRICS)
_IMPORT = "import sys\nsys.modules['transformers'] = None  # not needed, slow\nimport evaluate\n"
_LOAD = _IMPORT + "print([evaluate.load(name).name for name in {!r}])"
#: evaluate asks no server; otherwise it tries three times for each metric, for 1.5 s
_OFFLINE = {"HF_EVALUATE_OFFLINE": "1"}


def run(code: str, home: Path, variables: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the output of a new process with this HF_HOME; the value "-" removes a variable."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1", **variables}
    variables = {k: v for k, v in environment.items() if v != "-"}
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=home.parent, capture_output=True, text=True, env=variables
    )
    assert completed.returncode == 0, completed.stderr
    return str(completed.stdout.strip())


def shims(home: Path) -> dict[str, str]:
    """Return the shims below a home, as name -> text."""
    actual = home.glob("modules/evaluate_modules/metrics/evaluate-metric--*/*/*.py")
    return {path.stem: path.read_text("utf-8") for path in actual if path.stem != "__init__"}


def test_after_one_import_all_metrics_load_by_name(tmp_path: Path, socket_enabled: None) -> None:
    home = tmp_path / "mein Ordner ä 日本"
    run("import cc_hf", home)
    assert sorted(shims(home)) == _NAMES
    folders = {shim.parent for shim in home.glob("modules/evaluate_modules/**/*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)
    assert run(_LOAD.format(_NAMES), home, _OFFLINE) == str(_NAMES)
    some = _NAMES[:4]  # each takes .2 s
    with fake_hub() as hub:
        statuses = (404, 401, 403, 500)
        hub.refusals = {f"/{name}/": statuses[i] for i, name in enumerate(some)}
        closed = "http://127.0.0.1:9/spaces/{path}/resolve/{revision}/{name}"
        printed = run(
            f"""{_LOAD.format(some)}
evaluate.config.HUB_EVALUATE_URL = {closed!r}
print(evaluate.load({_NAMES[0]!r}).name)""",
            home,
            {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0"},
        )
        assert printed == f"{some}\n{_NAMES[0]}"
        for name in some:
            assert any(f"/spaces/evaluate-metric/{name}/" in path for path in hub.paths)


def test_a_metric_loads_by_the_name_of_its_space(tmp_path: Path, socket_enabled: None) -> None:
    files = build_metric_space("gender_accuracy", "org/ga", output=tmp_path / "space")
    code = f"""{_IMPORT}del sys.modules['transformers']  # compute imports it if it is there
reference = {{
    "reference": "Sie ist eine gute Ärztin.",
    "contrastive_reference": "Er ist ein guter Arzt.",
}}
predictions = ["Die Ärztin ist gut."]
metric = evaluate.load("org/ga")
figures = metric.compute(predictions=predictions, references=[reference], tgt_lang="de")
print(figures["accuracy"])
"""
    with fake_hub() as hub:
        hub.repos["spaces/org/ga"] = {path.name: path.read_bytes() for path in files}
        online = {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0"}
        assert run(code, tmp_path / "home", online) == "1.0"


def test_shims_are_written_to_the_modules_cache_of_the_environment(tmp_path: Path) -> None:
    modules, xdg, person = (tmp_path / name for name in ("own", "xdg", "person"))
    unset = {"HF_HOME": "-", "XDG_CACHE_HOME": "-", "HOME": str(person)}
    environments = [
        ({"HF_MODULES_CACHE": str(modules)}, modules),
        ({"HF_HOME": "-", "XDG_CACHE_HOME": str(xdg)}, xdg / "huggingface/modules"),
        (unset, person / ".cache/huggingface/modules"),
    ]
    for variables, folder in environments:
        run("import cc_hf", tmp_path / "home", variables)
        made = sorted(path.name for path in folder.glob("evaluate_modules/metrics/*--*"))
        assert made == [f"evaluate-metric--{name}" for name in _NAMES]
    assert not (tmp_path / "home").exists()
    code = f"""
{_IMPORT}
import importlib, os
import cc_hf.evaluate_modules
for variables, folder in {[(variables, str(folder)) for variables, folder in environments]!r}:
    for name in ("HF_MODULES_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    os.environ.update({{name: value for name, value in variables.items() if value != "-"}})
    cache = str(importlib.reload(evaluate.config).HF_MODULES_CACHE)
    shim = cc_hf.evaluate_modules.shim_path("x")
    print(cache == folder and shim.startswith(folder + "/evaluate_modules/metrics/"))
"""
    assert run(code, tmp_path / "home", {OPT_OUT: "1"}).split() == ["True"] * 3


def test_import_writes_no_shims_when_opted_out_and_never_fails(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run("import cc_hf", home, {OPT_OUT: "1"})
    run("import cc_hf", home, {"HF_HOME": ""})
    assert list(tmp_path.iterdir()) == []
    home.write_text("a file", encoding="utf-8")
    run("import cc_hf", home)
    assert home.read_text(encoding="utf-8") == "a file"


def test_import_of_cc_hf_loads_only_six_of_its_own_modules() -> None:
    code = (
        "import __future__, sys, typing, importlib, os\nbefore = set(sys.modules)\nimport cc_hf"
        "\nprint(sorted(set(sys.modules) - before))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    modules = [
        f"cc_hf.{name}" for name in ("_version", "errors", "evaluate_modules", "registry", "verbs")
    ]
    assert completed.stdout.strip() == str(["cc_hf", *modules])


def test_processes_that_import_concurrently_find_every_metric(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        codes = [f"import cc_hf\n{_LOAD.format(_NAMES)}"] * 2
        printed = pool.map(lambda code: run(code, tmp_path, _OFFLINE), codes)
        assert list(printed) == [str(_NAMES)] * 2
    assert sorted(shims(tmp_path)) == _NAMES
    assert [path for path in tmp_path.rglob("*") if ".py." in path.name] == []


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    return tmp_path


def test_only_outdated_shims_are_rewritten(home: Path) -> None:
    paths = register()
    assert paths == [shim_path(name) for name in _NAMES]
    before = os.stat(paths[0]).st_mtime_ns
    assert register() == []
    assert os.stat(paths[0]).st_mtime_ns == before
    Path(paths[0]).write_text("# A shim of cc_hf, an older one\n", encoding="utf-8")
    assert register() == paths[:1]
    assert "module_class" in Path(paths[0]).read_text(encoding="utf-8")


def test_a_failed_write_leaves_no_partial_shim(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", _full_disk)
    fails(OSError, "No space left", register)
    register_quietly()
    assert {path.name for path in home.rglob("*") if path.is_file()} == {"__init__.py"}


def _full_disk(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_remove_deletes_only_shims_of_this_package(home: Path) -> None:
    paths = [Path(path) for path in register()]
    paths[0].write_text("# mine\n", encoding="utf-8")
    (paths[1].parent / "notes.txt").write_text("mine", encoding="utf-8")
    write_text(paths[2].parent.parent / ("0" * 64) / paths[2].name, "# of the Hub\n")
    assert remove() == [str(path) for path in paths[1:]]
    assert [path.read_text(encoding="utf-8") for path in home.rglob("notes.txt")] == ["mine"]
    assert shims(home) == {_NAMES[0]: "# mine\n", _NAMES[2]: "# of the Hub\n"}
    remaining = [folder.exists() for folder in sorted({path.parent.parent for path in paths})]
    assert remaining == [True] * 3 + [False] * (len(_NAMES) - 3)
    assert not paths[2].parent.exists()
    assert remove() == []


def test_register_command_reports_written_and_removed_shims(home: Path) -> None:
    assert f"written: {shim_path(_NAMES[0])}\n" in invoke("register").output
    assert invoke("register").output == "all metrics are registered already\n"
    output = invoke("register --remove").output
    assert f"removed: {shim_path(_NAMES[0])}\n" in output
    assert f"set {OPT_OUT}=1 to keep them away" in output
    assert shims(home) == {}
    assert "nothing to remove" in invoke("register --remove").output


@cases(("file", "Not a directory"), ("", "set to nothing"))
def test_an_unwritable_cache_is_refused(name: str, reason: str, home: Path) -> None:
    (home / "file").touch()
    with patch.dict(os.environ, HF_HOME=name and str(home / name)):
        refuses(rf"modules that can be written \(.*{reason}", printed_by, "register")


def test_registered_metrics_can_be_combined_by_evaluate(home: Path) -> None:
    pair = [{**row("gender_accuracy", index, is_right=True)[1], "pair": "0"} for index in (1, 0)]
    predictions = ["Die Ärztin ist gut.", "Der Arzt ist gut."]
    given: dict[str, Any] = {"predictions": predictions, "references": pair, "tgt_lang": "de"}
    names = ("gender_accuracy", "gender_quality_gap")
    actual = evaluate.combine(list(map(cc_hf.load_metric, names))).compute(**given)
    for name, figure in zip(names, ("pair_accuracy", "bleu_gap"), strict=True):
        single = cc_hf.load_metric(name).compute(**given)
        assert (actual[figure], actual[f"{name}_signature"]) == (
            single[figure],
            single["signature"],
        )


def test_metrics_that_read_other_columns_can_be_combined_by_evaluate(home: Path) -> None:
    names = ("contrastive_conditioning", "winomt_pattern_matching")
    cues, words = (row(name, 1, is_right=True)[1] for name in names)
    judge = cc_hf.load_metric("contrastive_conditioning", evaluator=hash_scores, src_lang="en")
    matching = cc_hf.load_metric("winomt_pattern_matching", alignments=["0-0 1-1 2-2"])
    texts: dict[str, Any] = {"predictions": ["Die Ärztin ging."], "tgt_lang": "de"}
    actual = evaluate.combine([judge, matching]).compute(**texts, references=[{**cues, **words}])
    alone = judge.compute(**texts, references=[cues])
    assert actual["probability_correct"] == alone["probability_correct"]
    assert actual["predicted"] == ["female"]
    assert actual["contrastive_conditioning_signature"] == alone["signature"]
