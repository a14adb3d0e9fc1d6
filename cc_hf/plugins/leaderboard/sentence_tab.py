"""The tab in which visitors have a sentence judged and explained."""

from __future__ import annotations

from typing import Any

from cc_hf.errors import CCError
from cc_hf.plugins.leaderboard.html import lead, message, side_by_side
from cc_hf.plugins.leaderboard.live import SentenceJudge, read_occurrence
from cc_hf.reports.page.explanations import explanation_html

__all__ = ["sentence_tab"]

_OWN_CUES = "my own cues"
_SENTENCES_AT_ONCE = 4
_EXAMPLES = [
    [
        "The doctor asked the nurse to help her.",
        "Die Ärztin bat die Krankenschwester, ihr zu helfen.",
        "Der Arzt bat die Krankenschwester, ihr zu helfen.",
        "doctor",
        "",
        "female",
    ],
    [
        "The developer argued with the designer because she did not like the design.",
        "Die Entwicklerin stritt mit dem Designer.",
        "",
        "developer",
        "",
        "female",
    ],
]


def sentence_tab(gr: Any, judge: SentenceJudge, tab: Any) -> None:
    """Fill the gradio tab that is currently open. The example is judged when a visitor opens it."""

    def judged(
        source: str,
        translation: str,
        other: str,
        word: str,
        which: str | None,
        reading: str,
        correct: str,
        incorrect: str,
        placement: str,
    ) -> str:
        options: dict[str, Any] = {"placement": placement}
        if reading == _OWN_CUES:
            options |= {"correct_cues": correct or "", "incorrect_cues": incorrect or ""}
        else:
            options |= {"gender": reading, "placement": "before"}
        texts = [translation or "", *([other] if (other or "").strip() else [])]
        try:
            options["occurrence"] = read_occurrence(which or "")
            explanations = [
                judge.judge(source or "", text, word or "", **options) for text in texts
            ]
        except CCError as error:
            return message(str(error))
        return side_by_side(map(explanation_html, explanations))

    gr.HTML(
        lead(
            "The same translation is scored under two sources: one with a cue for the right"
            f" reading, one with a cue for the wrong reading ({judge.src_lang} → {judge.tgt_lang},"
            f" by {judge.name}). The bar shows which of the two it fits better; the colours show"
            " the words that decide."
        )
    )
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            sentences = _sentences(gr)
            reading, cues = _reading(gr)
            button = gr.Button("Judge", variant="primary", elem_id="cc-judge")
        with gr.Column(scale=3, min_width=280):
            answer = gr.HTML("", elem_id="cc-answer")
    inputs = [*sentences, reading, *cues]
    _, translation, _, word, _ = sentences
    gr.on(
        [tab.select, button.click, translation.submit, word.submit],
        judged,
        inputs=inputs,
        outputs=answer,
        api_name="judge_sentence",
        concurrency_limit=_SENTENCES_AT_ONCE,
        trigger_mode="always_last",  # a click while the page waits is answered too
    )
    gr.Examples(
        _EXAMPLES,
        inputs[: len(_EXAMPLES[0])],
        cache_examples=False,
        label="examples",
        example_labels=[row[0] for row in _EXAMPLES],
    )


def _sentences(gr: Any) -> list[Any]:
    """Return new fields for the source, two translations, the word and its occurrence."""
    first_source, first_translation, first_other, first_word, *_ = _EXAMPLES[0]
    source = gr.Textbox(label="source", value=first_source, lines=2, elem_id="cc-source")
    translation = gr.Textbox(
        label="translation", value=first_translation, lines=2, elem_id="cc-translation"
    )
    other = gr.Textbox(
        label="another translation, to compare (optional)",
        value=first_other,
        lines=2,
        elem_id="cc-other",
    )
    with gr.Row():
        word = gr.Textbox(
            label="word to look at", value=first_word, elem_id="cc-word", min_width=160
        )
        which = gr.Textbox(
            label="which occurrence, if several",
            placeholder="1, 2, …",
            elem_id="cc-which",
            min_width=160,
        )
    return [source, translation, other, word, which]


def _reading(gr: Any) -> tuple[Any, list[Any]]:
    """Return the field of the correct reading, and those of cues, which are shown on demand."""
    reading = gr.Radio(
        ["female", "male", _OWN_CUES],
        value="female",
        label="right reading",
        elem_id="cc-reading",
    )
    with gr.Group(visible=False) as group:
        correct = gr.Textbox(
            label="cues for the right reading, separated by |",
            placeholder="baseball",
            elem_id="cc-correct",
        )
        incorrect = gr.Textbox(
            label="cues for the wrong reading",
            placeholder="flying | {focus} (the animal)",
            elem_id="cc-incorrect",
        )
        placement = gr.Radio(
            ["before", "after", "replace"],
            value="before",
            label="where cues go",
            elem_id="cc-placement",
        )
    reading.change(
        lambda value: gr.update(visible=value == _OWN_CUES),
        reading,
        group,
        api_name=False,
        show_progress="hidden",
    )
    return reading, [correct, incorrect, placement]
