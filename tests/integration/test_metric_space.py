"""The page of a metric's Space as visitors see it: a server in a separate process and a browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_socket import disable_socket, enable_socket

from tests.helpers.axe import serious_violations
from tests.helpers.browser import Page
from tests.helpers.narrowing import known
from tests.helpers.served_pages import space_served

NAME = "gender_accuracy"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    enable_socket()
    with space_served(NAME, tmp_path_factory.mktemp("space")) as address:
        disable_socket(allow_unix_socket=True)
        yield address


@pytest.fixture(params=[1440, 390], ids=lambda width: f"{width} pixels")
def opened(request: pytest.FixtureRequest, site: str, page: Page) -> Iterator[Page]:
    asked: list[str] = []
    page.on("request", ask := lambda sent: asked.append(sent.url))
    page.set_viewport_size({"width": request.param, "height": 900})
    page.goto(site)
    page.get_by_role("button", name="Judge the sentence").wait_for()
    yield page
    page.remove_listener("request", ask)
    assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []


def _judge(page: Page) -> None:
    page.get_by_role("button", name="Judge the sentence").click()
    page.get_by_text("correct", exact=True).locator("visible=true").first.wait_for()
    page.wait_for_function("document.querySelector('#cc-signature textarea').value !== ''")


def test_the_page_opens_with_a_sentence_and_judges_it_before_the_card(opened: Page) -> None:
    button = opened.get_by_role("button", name="Judge the sentence")
    heading = opened.get_by_role("heading", name="How it works")
    form, card = known(button.bounding_box()), known(heading.bounding_box())
    assert form["y"] < card["y"]
    assert opened.locator("h1").inner_text() == "Gender accuracy of MT-GenEval"
    opened.get_by_label("Translation", exact=True).fill("Der Arzt ist gut.")
    opened.get_by_role("button", name="Judge the sentence").click()
    opened.get_by_text("incorrect", exact=True).locator("visible=true").first.wait_for()
    assert opened.get_by_label("Reference", exact=True).input_value() == "Sie ist eine gute Ärztin."
    assert "|n:" in opened.locator("#cc-signature textarea").input_value()


def test_a_mistake_is_explained_in_words(opened: Page) -> None:
    opened.get_by_role("tab", name="Several sentences").click()
    opened.get_by_label("Translations, one per line").fill("")
    opened.get_by_role("button", name="Judge", exact=True).click()
    opened.locator("#cc-message textarea").wait_for()
    assert "expected" in opened.locator("#cc-message textarea").input_value()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_the_screen(site: str, opened: Page, theme: Any) -> None:
    opened.goto(f"{site}?__theme={theme}")
    _judge(opened)
    assert opened.evaluate("document.body.classList.contains('dark')") == (theme == "dark")
    assert serious_violations(opened) == []
    width = opened.evaluate("document.documentElement.scrollWidth")
    assert width <= opened.evaluate("document.documentElement.clientWidth")
