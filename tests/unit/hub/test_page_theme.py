from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from cc_hf.hub.page_theme import page_theme


def test_the_theme_asks_for_no_fonts_of_other_servers() -> None:
    """gradio loads fonts that are its own objects from Google; names of fonts are local."""
    options: dict[str, Any] = {}
    settings: dict[str, str] = {}

    def base(**given: Any) -> Any:
        options.update(given)
        return SimpleNamespace(set=lambda **values: settings.update(values))

    page_theme(SimpleNamespace(themes=SimpleNamespace(Base=base)))
    assert options["primary_hue"] == "teal"
    assert all(isinstance(font, str) for font in (*options["font"], *options["font_mono"]))
    assert {name for name in settings if "button_primary" in name}
