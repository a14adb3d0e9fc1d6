"""A Hub on localhost in place of the real one."""

from collections.abc import Iterator

import pytest

from tests.helpers.fake_hub import TOKEN, FakeHub, fake_hub


@pytest.fixture
def hub(socket_enabled: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with fake_hub() as actual:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", actual.url)
        template = actual.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield actual
