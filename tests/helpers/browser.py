"""A real browser for tests of pages: headless chromium that can reach only this machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page
else:  # it is imported where a browser is used, and may be missing
    Browser = Locator = Page = Any

__all__ = ["Browser", "Locator", "Page", "chromium_path", "launched", "missing"]


_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)


def chromium_path() -> str | None:
    """Return the path of the program, or None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def missing() -> str:
    """Return why tests that need a browser are skipped, or "" if they run."""
    return "" if chromium_path() else "there is no chromium (apt-get install chromium)"


@contextmanager
def launched() -> Iterator[Browser]:
    """Yield a browser and close it at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path() or "chromium", args=list(_FLAGS), timeout=0
        )
        try:
            yield browser
        finally:
            browser.close()
