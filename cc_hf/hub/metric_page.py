"""The page of a metric's Space: forms for a sentence and for a few lines, and the card.

gradio is required, and is imported when the page is made.

Visitors are not trusted: no option that names a file, a model or a program is accepted, the numbers
of lines and characters are limited, and texts are displayed as plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.data.files.custom_examples import custom_example
from cc_hf.data.files.own_sentence import OwnSentence
from cc_hf.errors import CCError, InputError, MissingDependencyError
from cc_hf.evaluation.judging import module_figures
from cc_hf.hub.request_limits import launch_options
from cc_hf.hub.spaces import card_example, first_sentence
from cc_hf.metrics.base import Metric
from cc_hf.records import parse_json
from cc_hf.reports.figure_text import figure_label
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.what_to_cite import UNFIT
from cc_hf.systems.machine import wait_briefly

__all__ = [
    "MAX_FORM_CHARACTERS",
    "MAX_FORM_LINES",
    "Answer",
    "judge_lines",
    "launch",
    "metric_page",
]

MAX_FORM_LINES = 100
MAX_FORM_CHARACTERS = 50_000
_CSS = Path(__file__).parent / "metric_page.css"
_MAX_EVENT = 1 << 21  # bytes: three texts of MAX_FORM_CHARACTERS in JSON, all escaped


@dataclass(frozen=True)
class Answer:
    """The judgements of lines: `rows` of number, translation, and verdict or probability."""

    rows: list[list[str]]
    figures: dict[str, Any]
    signature: str


def judge_lines(
    name: str,
    translations: str,
    references: str,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    alignments: str = "",
) -> Answer:
    """Judge a few lines, as the page does."""
    declared: type[Metric] = registry.resolve("metric", name)
    for field, text in (
        ("translations", translations),
        ("references", references),
        ("alignments", alignments),
    ):
        if len(text) > MAX_FORM_CHARACTERS:
            raise InputError(
                f"{field}: expected at most {MAX_FORM_CHARACTERS:,} characters here, got"
                f" {len(text):,}; judge more with cc_hf on your own machine"
            )
    lines = translations.rstrip("\n").split("\n") if translations.strip() else []
    if len(lines) > MAX_FORM_LINES:
        raise InputError(
            f"translations: expected at most {MAX_FORM_LINES} lines here, got {len(lines)}; judge"
            " more with cc_hf on your own machine"
        )
    languages = {
        key: value.strip()
        for key, value in (("src_lang", src_lang), ("tgt_lang", tgt_lang))
        if value.strip()
    }
    options = {"alignments": alignments.rstrip("\n").split("\n")} if alignments.strip() else {}
    if options and "alignments" not in declared.option_names():
        raise InputError(f"alignments: {name} does not use alignments; leave them blank")
    objects = _objects(references)
    if len(objects) > MAX_FORM_LINES:
        raise InputError(
            f"references: expected at most {MAX_FORM_LINES} here, got {len(objects)}; judge more"
            " with cc_hf on your own machine"
        )
    predictions = lines if declared.takes_translations else None
    module_output = module_figures(declared, predictions, objects, {**languages, **options})
    if not declared.takes_translations:
        lines = [row["correct_translation"] for row in objects]
    verdicts = (
        module_output.pop("verdicts", None)
        or list(map(_verdict, module_output.pop("probability_correct", [])))
        or [""] * len(lines)
    )
    rows = [
        [str(number), line, str(verdict)]
        for number, (line, verdict) in enumerate(zip(lines, verdicts, strict=True), 1)
    ]
    signature = module_output.pop("signature")
    figures = {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in module_output.items()
        if isinstance(value, (int, float, str)) or key == "notes"
    }
    return Answer(rows, figures, signature)


def _verdict(probability: float) -> str:
    """Return the verdict that follows from the probability of the correct reading, and this."""
    word = "correct" if probability > 0.5 else "incorrect" if probability < 0.5 else "undecided"
    return f"{word}, {percent(probability)} %"


def _in_words(name: str, figures: dict[str, Any]) -> list[list[str]]:
    """Return names and values of figures; why they are not fit to be cited comes first."""
    rows = [[UNFIT, figures["unfit"]]] if "unfit" in figures else []
    for key, value in figures.items():
        if isinstance(value, float):
            rows.append([figure_label(name, key), f"{percent(value)} %"])
        elif isinstance(value, int):
            rows.append([key.removeprefix("n_").replace("_", " "), count(value)])
    return rows + [["note", note] for note in figures.get("notes", [])]


def _objects(text: str) -> list[dict[str, Any]]:
    try:
        return list(parse_json(text, form=[{}]))
    except InputError as error:
        raise InputError(
            f"references: expected a JSON list with one object per translation, [{{...}}, {{...}}]:"
            f" {error}"
        ) from error


def metric_page(name: str, *, card: str) -> Any:
    """Return the page, a `gradio.Blocks` that is not yet launched."""
    gr = _gradio()
    declared: type[Metric] = registry.resolve("metric", name)

    example = card_example(card)
    typed = _typed(example["references"][0])

    def judge(*texts: str) -> list[Any]:
        try:
            lines, objects, source, target, pairs = ((text or "") for text in texts)
            answer = judge_lines(
                name, lines, objects, src_lang=source, tgt_lang=target, alignments=pairs
            )
        except CCError as error:
            return [gr.update(value=str(error), visible=True), [], [], ""]
        return [
            gr.update(value="", visible=False),
            answer.rows,
            _in_words(name, answer.figures),
            answer.signature,
        ]

    def judge_sentence(source: str, target: str, translation: str, *texts: str) -> list[Any]:
        try:
            values = dict(zip(typed, texts, strict=True))
            objects = _reference(declared, values, typed, src_lang=source or "")
        except CCError as error:
            return [gr.update(value=str(error), visible=True), [], [], ""]
        return judge(" ".join((translation or "").split()), objects, source, target, "")

    introduction, prose = _introduction_and_prose(card, declared)
    with gr.Blocks(title=f"{name} · cc_hf", analytics_enabled=False) as page:
        gr.Markdown(introduction)
        with gr.Row():
            with gr.Column(min_width=320):
                languages = [
                    gr.Textbox(example.get("src_lang", "en"), label="Language of the sources"),
                    gr.Textbox(example.get("tgt_lang", ""), label="Language of the translations"),
                ]
                with gr.Tabs(selected=int(not declared.judges)):
                    with gr.Tab("Your sentence", id=0, visible=declared.judges):
                        sentence = _sentence(gr, declared, example, typed)
                        button = gr.Button("Judge the sentence", variant="primary")
                    with gr.Tab("Several sentences", id=1):
                        inputs = _inputs(gr, declared, example)
                        button_of_list = gr.Button("Judge", variant="primary")
            with gr.Column(min_width=320):
                outputs = _outputs(gr)
        button.click(judge_sentence, [*languages, *sentence], outputs, trigger_mode="always_last")
        button_of_list.click(
            judge, [*inputs[:2], *languages, *inputs[2:]], outputs, trigger_mode="always_last"
        )
        gr.Markdown(prose)
    return page


def _gradio() -> Any:
    try:
        import gradio
    except ImportError as error:
        raise MissingDependencyError("gradio", "leaderboard") from error
    return gradio


def _typed(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a visitor types beside one translation, with the values of the example."""
    source = reference.get("correct_sources", [""])[0]
    cue = re.search(r"\[(female|male)\] (\w+)", source)
    # Where cues follow from them, that is the source, the word and its gender.
    if cue is None:
        return dict(reference)
    return {"source": source.replace(f"[{cue[1]}] ", ""), "word": cue[2], "gender": cue[1]}


def _reference(
    declared: type[Metric], values: Mapping[str, str], typed: Mapping[str, Any], *, src_lang: str
) -> str:
    """Return what a visitor typed as the references of `judge_lines`."""
    if typed.keys() == {"source", "word", "gender"}:
        row = OwnSentence(values["source"], values["word"], values["gender"]).row()
        return json.dumps(declared.references([custom_example(row, src_lang=src_lang)]))
    return json.dumps(
        [
            {
                key: text if isinstance(typed[key], str) else parse_json(text)
                for key, text in values.items()
            }
        ]
    )


def _sentence(
    gr: Any, declared: type[Metric], example: Mapping[str, Any], typed: Mapping[str, Any]
) -> list[Any]:
    """Return fields for a translation, and for what is typed beside it."""
    fields = [
        gr.Textbox(
            text if isinstance(text, str) else json.dumps(text, ensure_ascii=False),
            label=key.replace("_", " ").capitalize(),
        )
        for key, text in typed.items()
    ]
    translation = gr.Textbox(
        next(iter(example.get("predictions", [])), ""),
        label="Translation",
        visible=declared.takes_translations,
    )
    return [translation, *fields]


def _inputs(gr: Any, declared: type[Metric], example: Mapping[str, Any]) -> list[Any]:
    """Return fields for translations, references and alignments that hold the example."""
    return [
        gr.Textbox(
            "\n".join(example.get("predictions", [])),
            label="Translations, one per line",
            lines=4,
            max_length=MAX_FORM_CHARACTERS,
            visible=declared.takes_translations,
        ),
        gr.Textbox(
            json.dumps(example["references"], ensure_ascii=False, indent=1),
            label="References, a JSON list",
            lines=8,
            max_length=MAX_FORM_CHARACTERS,
            elem_id="cc-references",
        ),
        gr.Textbox(
            "\n".join(example.get("alignments", [])),
            label='Alignments, one line of "0-0 1-1" per translation (optional)',
            visible="alignments" in declared.option_names(),
        ),
    ]


def _outputs(gr: Any) -> list[Any]:
    """Return a new field for errors, and new fields for the parts of an `Answer`, in its order."""
    common = {"datatype": "str", "interactive": False, "wrap": True}
    return [
        gr.Textbox(label="Message", visible=False, interactive=False, elem_id="cc-message"),
        gr.Dataframe(
            headers=["line", "translation", "verdict"],
            label="Each translation",
            column_widths=["18%", "50%", "32%"],
            **common,
        ),
        gr.Dataframe(
            headers=["figure", "value"], label="Figures", column_widths=["45%", "55%"], **common
        ),
        gr.Textbox(label="Signature", interactive=False, elem_id="cc-signature"),
    ]


def launch(page: Any) -> None:
    """Serve the page until stopped, as the Space does; it accepts no files."""
    wait_briefly()  # visitors share the cores of a page; a model is loaded when one asks
    page.launch(
        css_paths=[_CSS],
        footer_links=[],
        ssr_mode=False,
        **launch_options(_gradio(), event_bytes=_MAX_EVENT),
    )


def _introduction_and_prose(card: str, declared: type[Metric]) -> tuple[str, str]:
    """Return the card's title with what can be judged here, and the text without metadata."""
    text = card.partition("\n---\n")[2] if card.startswith("---\n") else card
    title, _, prose = text.partition("# ")[2].partition("\n")
    judged = (
        "translations here, each with its references."
        if declared.takes_translations
        else "rows of references here."
    )
    return f"# {title}\n\n{first_sentence(card)} Judge up to {MAX_FORM_LINES} {judged}", prose
