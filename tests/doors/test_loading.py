"""Metrics and datasets as users load them by name: with `evaluate.load`, in new processes, and with
`datasets`. The metrics as users of `evaluate` call them and as their cards show them.
"""

import doctest
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import datasets
import evaluate
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.data.dataset_folders import examples_of_rows
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.evaluate_modules import OPT_OUT, register, register_quietly, remove, shim_path
from cc_hf.evaluation.metric_help import inputs_description
from cc_hf.hub.spaces import build_metric_space
from cc_hf.records import write_record
from tests.helpers.fake_hub import fake_hub
from tests.helpers.metric_rows import LANGUAGES, row
from tests.helpers.papers import papers
from tests.helpers.samples import data_of, is_sampled, lay_out_samples
from tests.helpers.usual import (
    cases,
    compute_metric,
    fails,
    hash_scores,
    invoke,
    known,
    metric_class,
    printed_by,
    refuses,
    typed,
    write_text,
)

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


EVERY = [(n, c.name) for n in registry.DATASETS for c in registry.resolve("dataset", n).configs]


@pytest.mark.parametrize(("name", "config"), EVERY)
def test_rows_equal_the_examples(name: str, config: str, shared: Path, tmp_path: Path) -> None:
    dataset, data_dir = registry.resolve("dataset", name), data_of(name, config, tmp_path, shared)
    declared, keys = dataset.config(config), dataset.extra_keys_of(config)
    loaded = typed(datasets.DatasetDict, cc_hf.load_dataset(name, config, data_dir=data_dir))
    assert list(loaded) == list(declared.splits)
    for split, n in declared.splits.items():
        examples = cc_hf.load_examples(name, config, split=split, data_dir=data_dir)
        n = len(examples) if is_sampled(name, config) else n
        assert {type(example) for example in examples} == {declared.form}
        assert loaded[split].num_rows == len({e.id for e in examples}) == len(examples) == n > 0
        assert examples_of_rows(declared.form, loaded[split].to_list()) == examples
        assert loaded[split].column_names == list(write_record(examples[0]))
        languages = (declared.src_lang, declared.tgt_langs[0])
        assert {(e.src_lang, e.tgt_lang or languages[1]) for e in examples} == {languages}
        assert {tuple(e.extra) for e in examples} == {keys}
    if is_sampled(name, config):
        streamed = cc_hf.load_dataset(name, config, data_dir=data_dir, streaming=True)["test"]
        assert list(streamed) == loaded["test"].to_list()


def test_a_split_loads_alone_and_unknown_names_are_refused() -> None:
    assert isinstance(cc_hf.load_dataset("simplegen", "en-de", split="test"), datasets.Dataset)
    fails(UnknownNameError, "dataset 'winmt'; did you mean 'winomt'", cc_hf.load_dataset, "winmt")
    fails(UnknownNameError, r"'en-ed'; did you .*'en-de'", cc_hf.load_dataset, "simplegen", "en-ed")


def test_neither_major_versions_of_datasets_nor_readers_that_differ_share_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, caches = tmp_path / "reader.py", []
    monkeypatch.setattr(inspect, "getfile", lambda read: str(reader))
    for version, text in (("5.2.0", "1"), ("5.3.1", "1"), ("3.6.0", "1"), ("5.2.0", "2")):
        monkeypatch.setattr(datasets, "__version__", version)
        reader.write_text(text, encoding="utf-8")
        (file,) = cc_hf.load_dataset("simplegen", "en-de", split="test").cache_files
        caches.append(file["filename"])
    assert caches[0] == caches[1]
    assert len(set(caches)) == 3


def test_changed_data_is_refused_and_not_cached(shared: Path, tmp_path: Path) -> None:
    relative = "ZurichNLP/contrastive-conditioning/tasks/data/winomt/test.tsv"
    copy = tmp_path / relative
    copy.parent.mkdir(parents=True)
    shutil.copyfile(shared / "upstream" / relative, copy)
    assert cc_hf.load_dataset("winomt", data_dir=tmp_path)["test"].num_rows == 3648
    copy.write_text("altered", encoding="utf-8")
    fails(DataError, "expected sha256", cc_hf.load_dataset, "winomt", data_dir=tmp_path)


def test_the_builder_names_a_malformed_row(tmp_path: Path) -> None:
    lay_out_samples("contrawsd", "de-fr", tmp_path, tmp_path)
    path = tmp_path / "a-rios/ContraWSD/de-fr.final.json"
    good = path.read_text(encoding="utf-8")
    path.write_text("[{}]", encoding="utf-8")
    load = partial(cc_hf.load_dataset, "contrawsd", "de-fr", data_dir=tmp_path)
    for streaming in (False, True):
        with pytest.raises(DataError, match=r"l\.json: item 0: expected the key 'errors', got {}"):
            list(load(split="test", streaming=streaming))
    path.write_text(good, encoding="utf-8")
    assert load()["test"].num_rows == 1


@pytest.mark.parametrize("name", registry.DATASETS)
def test_every_dataset_streams_and_builds_the_same(shared: Path, tmp_path: Path, name: str) -> None:
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

    config = registry.resolve("dataset", name).default_config
    data_dir = data_of(name, config, tmp_path / "data", shared)
    loaded = cc_hf.load_dataset(name, config, data_dir=data_dir)
    streamed = typed(
        datasets.IterableDatasetDict,
        cc_hf.load_dataset(name, config, data_dir=data_dir, streaming=True),
    )
    for split, rows in streamed.items():
        assert list(rows) == loaded[split].to_list()
    contents = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        paths = build_dataset_folder(name, [config], output=folder, data_dir=data_dir)
        contents.append([(path.relative_to(folder), path.read_bytes()) for path in paths])
    assert contents[0] == contents[1]
    built = datasets.load_dataset(str(tmp_path / "a"), config)
    assert built.keys() == loaded.keys()
    assert all(built[split].to_list() == loaded[split].to_list() for split in built)


_LOAD_WINOMT = (
    "import sys, cc_hf; print(len(cc_hf.load_dataset('winomt', data_dir=sys.argv[1])['test']))"
)


def test_two_processes_can_load_a_dataset_concurrently(shared: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    command = [sys.executable, "-c", _LOAD_WINOMT, str(shared / "upstream")]
    load = partial(subprocess.run, capture_output=True, text=True, env=environment)
    with ThreadPoolExecutor(2) as pool:
        for actual in pool.map(load, [command] * 2):
            assert (actual.returncode, actual.stdout.strip()) == (0, "3648"), actual.stderr


#: Prints the peak of memory of the process; `ru_maxrss` would be that of the tests' own process.
_BUILD = """
import re, sys
from cc_hf.plugins.dataset_folders.building import build_dataset_folder
build_dataset_folder(sys.argv[1], [sys.argv[2]], output=sys.argv[3], data_dir=sys.argv[4])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()).group(1))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
def test_building_the_largest_configuration_stays_below_1_gb(shared: Path, tmp_path: Path) -> None:
    files = {key: registry.resolve("dataset", key[0]).files_of(key[1]) for key in EVERY}
    here = {key: of for key, of in files.items() if not is_sampled(*key)}
    name, config = max(here, key=lambda key: sum(file.size for file in here[key]))
    folders = str(tmp_path / "built"), str(shared / "upstream")
    command = [sys.executable, "-c", _BUILD, name, config, *folders]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home")}
    completed = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert completed.returncode == 0, completed.stderr
    assert 50_000 < int(completed.stdout) < 1_000_000  # kB


pytestmark = pytest.mark.filterwarnings("ignore:none of .* translations was read as")

_HERS = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt."}
_HIS = {"reference": "Er ist Arzt.", "contrastive_reference": "Sie ist Ärztin."}
_HIS_OF_PAIR = {**_HIS, "gender": "male", "pair": "a", "category": "x"}
_PAIRED = [_HIS_OF_PAIR, {**_HERS, "gender": "female", "pair": "a", "category": "y"}]
_SCORED = [
    {"source": "s", "correct_translation": "a", "contrastive_translations": ["b"], "category": "x"},
    {"source": "", "correct_translation": "a", "contrastive_translations": ("d",), "pair": "p"},
    {"correct_translation": "e", "contrastive_translations": []},
]
_SENSES = '{"1": {"senses": ["Arzt"], "ambiguous": []}, "2": ["Doktor"]}'
_HASHED = {"evaluator": hash_scores}


def rows(name: str, **fields: Any) -> list[dict[str, Any]]:
    """Return two references, the second with more fields."""
    first, second = (row(name, index, is_right=True)[1] for index in (0, 1))
    return [first, {**second, **fields}]


_MORE: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("contrastive_conditioning", rows("contrastive_conditioning"), _HASHED),
    ("contrastive_translation_scoring", _SCORED, _HASHED),
    ("coverage", rows("coverage", omission="true"), {**_HASHED, "tidy": True}),
    ("critical_errors", rows("critical_errors", errors="none"), {**_HASHED, "phenomena": "name"}),
    ("expected_form", rows("expected_form"), {"within": "translation"}),
    ("gender_accuracy", [_HERS, _HIS], {"undecided": "inconclusive"}),
    ("gender_accuracy", _PAIRED, {}),
    ("gender_fair_forms", rows("gender_fair_forms", neutral="Lesende"), {}),
    ("gender_form", rows("gender_form", groups="listener"), {}),
    ("homograph_accuracy", rows("homograph_accuracy", senses=_SENSES), {"wide": True}),
    ("prompted_choice", [{"answer": "1"}, {"answer": "2", "pair": "a"}], {"parser": "last"}),
    ("wino_x_pattern_matching", rows("wino_x_pattern_matching", pair="a"), {}),
    ("simplegen_accuracy", rows("simplegen_accuracy"), {"dictionary": "paper"}),
    ("winomt_pattern_matching", rows("winomt_pattern_matching"), {}),
    ("winomt_pattern_matching", rows("winomt_pattern_matching"), {"alignments": ["0-0 1-1", ""]}),
]
_PLAIN = sorted({*registry.METRICS} - {name for name, *_ in _MORE})
_KNOWN = [case for case in _MORE if case[0] in registry.METRICS]
with_cases = cases(*_KNOWN, *((name, rows(name), {}) for name in _PLAIN))


def load(root: Path, name: str, **options: Any) -> Any:
    return evaluate.load(str(root / "metrics" / name), **options)


@with_cases
def test_batches_and_options_at_load_give_the_same_result(
    name: str, references: Any, options: Any, root: Path
) -> None:
    declared = metric_class(name)
    texts = ["Der Arzt.", "" if declared.is_blank_allowed else "Ja."]
    tgt_lang = LANGUAGES.get(name, "de")
    options = {**options, "src_lang": "en", "tgt_lang": tgt_lang, "n_resamples": 20}
    given: Any = {"predictions": texts} if declared.takes_translations else {}
    expected = compute_metric(name, given.get("predictions"), references, **options)
    assert load(root, name).compute(**given, references=references, **options) == expected
    metric = load(root, name, **options)
    card = (root / f"cards/metrics/{name}.md").read_text(encoding="utf-8")
    assert f"\nlicense: {metric.license}\n" in card
    assert metric.homepage in {paper.url for paper in papers().values()}
    for index, reference in enumerate(references):
        batch = {key: [values[index]] for key, values in given.items()}
        metric.add_batch(**batch, references=[reference])
    assert metric.compute() == expected
    metric = load(root, name, **options)
    for index, reference in enumerate(references):
        metric.add(**{"prediction": texts[index]} if given else {}, reference=reference)
    assert metric.compute() == expected
    assert cc_hf.load_metric(name, **options).compute(**given, references=references) == expected


@with_cases
def test_bad_input_is_refused_first(name: str, references: Any, options: Any, root: Path) -> None:
    bad = [{**references[0], next(iter(references[0])): []}, *references[1:]]
    takes = metric_class(name).takes_translations
    wrong: list[tuple[Any, Any, str]] = [
        ([], [], "at least one (prediction|reference)"),
        (["x"] * 2, bad, "row 0: "),
        (["x"], references, "1 predictions and 2 references"),
        ([3, "x"], references, "row 0: expected a translation, got 3"),
    ]
    for texts, given, message in wrong if takes else wrong[:2]:
        predictions: Any = {"predictions": texts} if takes else {}
        refuses(
            message,
            load(root, name).compute,
            **predictions,
            references=given,
            tgt_lang="de",
            **options,
        )
    if not takes:
        metric = load(root, name, **options)
        for call in (metric.compute, metric.add_batch):
            refuses(
                f"predictions: expected none: {name} judges the",
                call,
                predictions=["a"] * 3,
                references=references,
            )


#: whose figures have fixed names; the others have a figure for each category of the data
_NAMED = {*registry.METRICS} - {"contrastive_conditioning", "mucow_pattern_matching"}


@pytest.mark.parametrize("name", sorted(_NAMED - {"winomt_pattern_matching"}))
def test_every_figure_is_described(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    card = (root / f"cards/metrics/{name}.md").read_text(encoding="utf-8")
    code = known(re.search(r"```python\n(.*?)```", card, re.DOTALL))
    register()  # the first import may have registered in another home
    monkeypatch.chdir(root)
    actual: dict[str, Any] = {}
    exec(compile(code.group(1), f"{name}.md", "exec"), actual)
    module = inputs_description(metric_class(name))
    of_data = {"accuracy_male", "accuracy_female"} if "scoring" in name else set()
    from cc_hf.plugins.omissions.critical_errors.rules import PHENOMENA

    categories = "|".join(("all", "pro", "anti", "MoFc", *PHENOMENA))
    for key in {*actual["result"]} - of_data:
        stem, category = re.fullmatch(rf"(.*?)(?:_({categories}))?", key).groups()  # type: ignore[union-attr]
        for text in (card, module):
            assert re.search(rf"\b{stem}\b", text), key
            assert category in (None, "all") or f"_{category}" in text, key
    for field in re.findall(r"\|(\w+):", f"|{actual['result']['signature'].partition('|')[2]}"):
        assert f"`{field}`" in card, field


@pytest.mark.parametrize("name", registry.METRICS)
def test_the_doctest_passes(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    text = load(root, name).inputs_description
    test = doctest.DocTestParser().get_doctest(text, {"evaluate": evaluate}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
