"""The looks that the pages of cc_hf share: the leaderboard, and the Spaces of metrics."""

from __future__ import annotations

from typing import Any

__all__ = ["page_theme"]


def page_theme(gr: Any) -> Any:
    """Return a theme with the project's colours, system fonts and the contrast of WCAG AA."""
    fonts = {
        "font": ["ui-sans-serif", "system-ui", "sans-serif"],
        "font_mono": ["ui-monospace", "Consolas", "monospace"],
    }
    return gr.themes.Base(primary_hue="teal", neutral_hue="slate", **fonts).set(
        body_text_color_subdued="*neutral_600",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700",
        button_primary_background_fill_hover_dark="*primary_800",
    )
