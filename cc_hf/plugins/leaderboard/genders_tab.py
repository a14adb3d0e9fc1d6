"""The tab in which visitors get a translation for a woman and one for a man."""

from __future__ import annotations

from typing import Any

from cc_hf.errors import CCError
from cc_hf.plugins.leaderboard.html import genders_html, lead, message
from cc_hf.plugins.leaderboard.live import MAX_TEXT_CHARACTERS, SentenceJudge

__all__ = ["genders_tab"]

_AT_ONCE = 4
_EXAMPLE = "The doctor is here."


def genders_tab(gr: Any, judge: SentenceJudge, tab: Any) -> None:
    """Fill the open gradio tab; the example is translated when a visitor opens it."""

    def translated(source: str, focus: str) -> str:
        try:
            return genders_html(judge.both_genders(source or "", focus or ""))
        except CCError as error:
            return message(str(error))

    gr.HTML(
        lead(
            "Where a sentence does not say whether a woman or a man is meant, a translation may"
            f" have to. {judge.name} translates for both, and checks that both translations differ"
            f" in nothing else. At most {MAX_TEXT_CHARACTERS} characters, in English."
        )
    )
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            source = gr.Textbox(
                label="source", value=_EXAMPLE, lines=2, elem_id="cc-genders-source"
            )
            focus = gr.Textbox(
                label="word for the person, if it is not the first", elem_id="cc-genders-focus"
            )
            button = gr.Button("Translate for both", variant="primary", elem_id="cc-genders")
        with gr.Column(scale=3, min_width=280):
            answer = gr.HTML("", elem_id="cc-genders-answer")
    gr.on(
        [tab.select, button.click, source.submit, focus.submit],
        translated,
        inputs=[source, focus],
        outputs=answer,
        api_name="both_genders",
        concurrency_limit=_AT_ONCE,
        trigger_mode="always_last",  # a click while the page waits is answered too
    )
