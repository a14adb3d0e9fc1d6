"""Fixtures and hooks for all tests. Sockets are refused (pytest-socket), caches lie in a folder of
the session, and the Hub is offline.
"""

import gc
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers import browser as browsers
from tests.helpers.skips import refused, skip_reason

_ROOM = 4 * 2**30  # bytes that a run may need at once, with a margin


def _choose_temporary_folder() -> None:
    """Let temporary files lie in memory where there is room, and in the usual folder elsewhere.

    Most tests write a cache, a result or a report, and each waits for the disk several times.
    """
    memory = Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= _ROOM
    if "TMPDIR" not in os.environ and has_room:
        os.environ["TMPDIR"] = tempfile.tempdir = str(memory)


_choose_temporary_folder()
_HOME = tempfile.mkdtemp(prefix="cc-hf-tests-")
os.environ["HF_HOME"] = _HOME  # must be set before datasets, evaluate or transformers are imported
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.pop("CC_HF_DATA_DIR", None)
# readline, which pytest imports, sets these for the workers of pytest-xdist only
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
# the workers share the cores, and so do the programs that they start
if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))

# a slow example must not fail: other programs may use the cores
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

_ROOT = Path(__file__).parent.parent


def pytest_configure() -> None:
    """Choose modes as on another processor, if CC_HF_TESTS_CPU names its instructions, such as
    "avx512_bf16" or "avx2". Products are still those of this processor, and programs that tests
    start choose by it.
    """
    if (instructions := os.environ.get("CC_HF_TESTS_CPU")) is not None:
        import torch

        flags = dict.fromkeys(instructions.split(), True)
        setattr(torch.cpu, "get_capabilities", lambda: flags)  # noqa: B010


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    no_data = "the real data (the folder shared beside the project, or CC_HF_SHARED) is not here"
    no_data = "" if _shared_folder().is_dir() else no_data
    reasons = {"shared": ("shared", no_data), "browser": ("browser_page", browsers.missing())}
    for marker, (fixture, reason) in reasons.items():
        for item in items:
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(marker)
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import all modules without the garbage collector, and keep what is loaded then out of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Collect the garbage of a file of tests after its last one, and keep the rest out of the next
    collections: a Trainer calls for a full one, which takes long where all libraries are loaded.

    Finalizers run here, too, and not where a test of nesting has used up the recursion.
    """
    done = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return refused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return refused((yield))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped, and why: one line for each reason."""
    files = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        files[skip_reason(report)].append(report.nodeid.partition("::")[0])
    for reason, paths in sorted(files.items(), key=lambda item: -len(item[1])):
        terminalreporter.write_line(
            f"skipped {len(paths)} tests in {len(set(paths))} files: {reason}"
        )


@pytest.fixture(autouse=True)
def _the_same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore `os.environ`, which datasets replaces after a map with several processes, while rich
    continues to read the first one.
    """
    monkeypatch.setattr(os, "environ", os.environ)


@pytest.fixture(autouse=True)
def _no_scores_of_other_tests() -> Iterator[None]:
    """Delete the cached scores after each test: they lie in HF_HOME, which the session shares."""
    yield
    for path in (Path(_HOME) / "cc_hf").glob("scores.sqlite*"):
        path.unlink()


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


def _shared_folder() -> Path:
    return Path(os.environ.get("CC_HF_SHARED", _ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the project."""
    return _ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of upstream data and gold; tests that use it get the marker `shared`."""
    return _shared_folder()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an empty folder of `sys.path`, whose packages and modules are forgotten afterwards."""
    from cc_hf import registry

    folder, modules = tmp_path / "site-packages", set(sys.modules)
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    registry.forget_plugins()
    yield folder
    registry.forget_plugins()
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def tiny_marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Marian model with random weights, saved to disk by transformers."""
    from tests.helpers.models import save_tiny_marian

    return save_tiny_marian(tmp_path_factory.mktemp("tiny-marian"))


@pytest.fixture
def same_threads() -> Iterator[None]:
    """Restore torch's number of threads, which the test or what it calls changes."""
    import torch

    n_threads = torch.get_num_threads()
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module")  # asyncio.run is refused while the browser is open
def browser_page() -> Iterator[browsers.Page]:
    """Yield the page of a real browser, which the tests of a module share: a new one starts several
    processes.
    """
    with browsers.launched() as browser:
        actual = browser.new_page()
        actual.set_default_timeout(300_000)  # so that what never comes fails, on slow machines too
        yield actual


@pytest.fixture
def page(browser_page: browsers.Page) -> Iterator[browsers.Page]:
    """Yield an empty page; an error raised by a script of the page fails the test. Tests that use
    it get the marker `browser`.
    """
    page, errors = browser_page, list[str]()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.on("pageerror", listen := lambda error: errors.append(str(error)))
    yield page
    if page.url != "about:blank":
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.context.clear_cookies()
    page.goto("about:blank")
    page.mouse.move(0, 0)
    page.emulate_media(media="null", color_scheme="light", reduced_motion="no-preference")
    page.remove_listener("pageerror", listen)
    assert errors == []
