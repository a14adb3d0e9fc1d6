"""Names that other packages add by entry points: taken names, and packages that are broken."""

import re
import sys
import warnings
from pathlib import Path

import pytest

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.errors import PluginError, PluginWarning, UnknownNameError
from cc_hf.evaluation.fitting import all_metrics
from cc_hf.reports.figure_text import data_title, metric_name
from tests.helpers.plugins import add_package
from tests.helpers.usual import cases, fails, run_command

_GOOD = """
from cc_hf.registry import Study
from tests.helpers.fake_metric import Words
STUDY = Study("toy:app", ("emelin-2020",), "Does nothing.")
"""
_METRICS = "cc_hf.metrics"


def test_a_name_of_another_package_is_found_without_importing_it(site: Path) -> None:
    add_package(site, "toy", {_METRICS: {"words": "toy:Words"}}, _GOOD)
    assert "words" in registry.names("metric")
    assert "toy" not in sys.modules
    assert registry.load_all("metric")["words"].signature_name == "w"
    assert "words" in {metric.name for metric in all_metrics()}
    fails(UnknownNameError, "did you mean 'words'", registry.resolve, "metric", "wordss")


@cases(
    ("dataset", "datasets", "winomt", "cc_hf.test_sets.winomt.reader:DECLARATION"),
    (
        "metric",
        "metrics",
        "gender_accuracy",
        "cc_hf.test_sets.mt_geneval.gender_accuracy:GenderAccuracy",
    ),
    ("evaluator family", "evaluator_families", "marian", "MarianEvaluator"),
)
def test_another_package_cannot_replace_a_name(
    kind: str, group: str, name: str, origin: str, site: Path
) -> None:
    """A name of cc_hf keeps its meaning, and the other is refused with both origins."""
    expected = registry.resolve(kind, name)
    registry.forget_plugins()
    add_package(site, "other-toy", {f"cc_hf.{group}": {name: "toy:Thing"}})
    with pytest.warns(PluginWarning, match=rf"other-toy \(toy:Thing\) is not used.*{origin}"):
        assert registry.names(kind).count(name) == 1
    assert registry.resolve(kind, name) is expected


def test_a_name_that_two_packages_add_is_refused_with_both_origins(site: Path) -> None:
    add_package(site, "toy", {_METRICS: {"words": "toy:Words"}}, _GOOD)
    add_package(site, "toy-2", {_METRICS: {"words": "toy_2:Other", "more": "toy_2:More"}})
    both = r"the metric 'words' is not used: .* toy.* \(toy.*\) and of toy.* \(toy.*\); uninstall"
    with pytest.warns(PluginWarning, match=both):
        names = registry.names("metric")
    assert ("words" in names, "more" in names) == (False, True)
    fails(PluginError, both, registry.resolve, "metric", "words")
    assert registry.find("metric", "words") is None


BROKEN = {
    "does not import": ("import no_such_module", "ModuleNotFoundError: No module named"),
    "is no Python": ("Words = (", "SyntaxError"),
    "ends the process": ("raise SystemExit(3)", "SystemExit: 3"),
    "lacks the object": ("", "AttributeError: module 'toy' has no attribute 'Words'"),
    "is no class": ("Words = 3", "expected a subclass of Metric with the name 'words', got 3"),
    "is another class": ("class Words: pass", "expected a subclass of Metric"),
    "does not say what it reads": (
        "from cc_hf.metrics.base import Metric\nclass Words(Metric):\n    name = 'words'\n"
        "    signature_name, version, fits, references, measure = 'w', 1, str, str, str",
        "expected all that Metric asks for, got none of reference_fields; its authors must add",
    ),
    "does not measure": (
        "from cc_hf.metrics.base import Metric\nclass Words(Metric):\n    name = 'words'",
        "got none of signature_name, version, reference_fields, fits, measure, references; its",
    ),
    "has another name": (
        "from cc_hf.test_sets.mt_geneval.gender_accuracy import GenderAccuracy as Words",
        "with the name 'words',"
        " got <class 'cc_hf.test_sets.mt_geneval.gender_accuracy.GenderAccuracy'>",
    ),
}


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_package_warns_and_fails_if_asked(site: Path, code: str, reason: str) -> None:
    add_package(site, "toy", {_METRICS: {"words": "toy:Words"}}, code)
    n_metrics = len(registry.METRICS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(registry.names("metric")) == n_metrics + 1
        assert registry.resolve("metric", "gender_accuracy").name == "gender_accuracy"
    message = rf"the metric 'words' of toy \(toy:Words\) cannot be .*{re.escape(reason)}"
    with pytest.warns(PluginWarning, match=message):
        assert len(all_metrics()) == n_metrics
    with pytest.warns(PluginWarning, match=message):  # results of the metric can still be shown
        assert metric_name("words") == "words"
    fails(PluginError, message, registry.resolve, "metric", "words")


def test_a_dataset_that_cannot_be_loaded_is_an_error_only_where_it_is_asked_for(site: Path) -> None:
    add_package(site, "toy", {"cc_hf.datasets": {"toys": "toy:DECLARATION"}}, "DECLARATION = 1")
    fails(PluginError, "expected an instance of DatasetDeclaration with the", declaration, "toys")
    with pytest.warns(PluginWarning, match="toys"):
        assert data_title("toys", "en-de") == "toys (en-de)"


def test_an_added_option_cannot_have_the_name_of_another(site: Path) -> None:
    add_package(
        site,
        "toy",
        {"cc_hf.command_options": {"cache.path": "toy:path"}},
        "def path(cache, /, *, path=None, **arguments): ...",
    )
    shown = run_command("cache --help", status=2).stderr.split()
    assert "path: expected an option that the command does not have" in " ".join(shown)


def test_a_part_of_a_study_that_cannot_be_imported_is_an_error_of_its_package(site: Path) -> None:
    add_package(site, "toy", {"cc_hf.studies": {"toy": "toy:STUDY"}}, _GOOD)
    assert registry.resolve("study", "toy").summary == "Does nothing."
    assert registry.study_part("toy", "sentences") is None
    fails(
        PluginError,
        r"the study 'toy' of toy \(toy:app\) cannot be loaded",
        registry.study_part,
        "toy",
        "commands",
    )
