"""The tab in which visitors see what a translation leaves out or adds."""

from __future__ import annotations

from typing import Any

from cc_hf.errors import CCError
from cc_hf.languages import pair_codes
from cc_hf.plugins.leaderboard.html import lead, message
from cc_hf.plugins.leaderboard.live import MAX_PARTS_CHARACTERS, SentenceJudge
from cc_hf.reports.figure_text import language_pair

__all__ = ["missing_tab"]

_AT_ONCE = 4
#: Language pair -> a source and a translation.
_EXAMPLES = {
    "en-de": (
        "The old woman drank a cup of coffee in the kitchen.",
        "Die alte Frau trank eine Tasse Kaffee.",
    )
}


def missing_tab(gr: Any, judge: SentenceJudge, tab: Any) -> None:
    """Fill the open gradio tab; an example for its languages is judged when a visitor opens it."""

    def judged(source: str, translation: str, pair: str) -> str:
        try:
            explained = judge.find_missing(source or "", translation or "", pair or "")
            return str(explained.html())
        except CCError as error:
            return message(str(error))

    pairs = judge.language_pairs
    directions = (
        "What it adds is found in the same way, with source and translation exchanged."
        if len(pairs) > 1
        else "Additions are not looked for: the page has no evaluator of the other direction."
    )
    gr.HTML(
        lead(
            "Parts of the source are left out, one at a time. If the translation is more probable"
            f" without a part, that part may be missing (by {judge.name}); the darker a mark, the"
            f" surer the judge. {directions} No reference is needed. At most"
            f" {MAX_PARTS_CHARACTERS} characters each."
        )
    )
    example = _EXAMPLES.get(pairs[0], ("", ""))
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            source, translation = (
                gr.Textbox(label=name, value=text, lines=2, elem_id=f"cc-missing-{name}")
                for name, text in zip(("source", "translation"), example, strict=True)
            )
            pair = gr.Radio(
                [(language_pair(*pair_codes(codes)), codes) for codes in pairs],
                value=pairs[0],
                label="languages",
                elem_id="cc-missing-pair",
            )
            button = gr.Button("Look for what is missing", variant="primary", elem_id="cc-missing")
        with gr.Column(scale=3, min_width=280):
            answer = gr.HTML("", elem_id="cc-missing-answer")
    gr.on(
        [*[tab.select] * bool(example[0]), button.click, source.submit, translation.submit],
        judged,
        inputs=[source, translation, pair],
        outputs=answer,
        api_name="find_missing",
        concurrency_limit=_AT_ONCE,
        trigger_mode="always_last",  # a click while the page waits is answered too
    )
