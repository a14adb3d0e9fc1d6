"""The page, by gradio: it reaches nothing outside, and sends nothing about its use."""

from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import ConfigDeclaration
from cc_hf.data.quality_scores import read_quality_scores
from cc_hf.errors import CCError, InputError, MissingDependencyError
from cc_hf.hub.request_limits import launch_options
from cc_hf.leaderboard.html import (
    header,
    lead,
    message,
    notes_html,
    plot_html,
    result_html,
    side_by_side,
)
from cc_hf.leaderboard.live import (
    MAX_LINES,
    MAX_MEAN_CHARACTERS,
    MAX_UPLOAD,
    FileJudge,
    SentenceJudge,
    available_data,
    fitting_metrics,
    read_occurrence,
)
from cc_hf.leaderboard.store import read_folder
from cc_hf.leaderboard.table import (
    HEADERS,
    PERCENT_HEADERS,
    SORT_KEYS,
    Row,
    choices,
    display_cells,
    filtered,
    sorted_rows,
    table_rows,
    to_csv,
    to_json,
)
from cc_hf.leaderboard.visitor_files import LIFETIME, SWEEP_INTERVAL, VisitorFiles
from cc_hf.reports.studies.explanations import explanation_html

__all__ = ["build", "serve", "wait_for_end"]

_LOG = logging.getLogger(__name__)
_ANY = "all"
_OWN_CUES = "my own cues"
_MAX_QUEUE = 200
_SENTENCES_AT_ONCE = 4
_TABLES_AT_ONCE = 8
_MAX_SEARCH = 200  # characters
_MAX_EVENT = 1 << 18  # bytes: more than the longest sentences and cues take in JSON, all escaped
_CSS = Path(__file__).parent / "page.css"
_DATATYPES = ["str"] * 4 + ["number", "str"] * 3 + ["number", "number", "str", "str", "str"]
_WIDTHS = [
    "150px",
    "150px",
    "95px",
    "215px",
    "130px",
    "115px",
    "100px",
    "115px",
    "100px",
    "130px",
    "70px",
    "75px",
    "260px",
    "420px",
    "420px",
]
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


def _gradio() -> Any:
    try:
        import gradio
    except ModuleNotFoundError as error:
        raise MissingDependencyError("gradio", "leaderboard") from error
    return gradio


def build(
    results: str | Path,
    *,
    quality: str | Path | None = None,
    data_dir: str | Path | None = None,
    evaluator: str | Path | None = None,
    src_lang: str = "en",
    tgt_lang: str = "de",
) -> Any:
    """The page as `gradio.Blocks`, not served yet.

    gradio keeps the files of visitors in a folder of this page: the environment variable
    GRADIO_TEMP_DIR is set to it, for as long as the process runs.

    Args:
        results: a folder, which is read now (`read_folder`).
        quality: a file with BLEU by system (`read_quality_scores`).
        data_dir: a local copy of the upstream repositories, for files of translations.
        evaluator: of the live judgements; None for the one that ships for `src_lang` and
            `tgt_lang`.

    Raises:
        InputError: as `read_folder`, `read_quality_scores` and `SentenceJudge`.
        MissingDependencyError: when gradio is not installed.
    """
    store = read_folder(results)
    rows = table_rows(store, read_quality_scores([Path(quality)] if quality is not None else []))
    judge = SentenceJudge(evaluator, src_lang=src_lang, tgt_lang=tgt_lang)
    gr = _gradio()
    files = VisitorFiles()
    os.environ["GRADIO_TEMP_DIR"] = str(files.cache)  # gradio reads it here and at each launch
    with gr.Blocks(title="cc_hf leaderboard", analytics_enabled=False, fill_width=True) as page:
        gr.HTML(header())
        with gr.Tabs():
            with gr.Tab("Table", id="table"):
                _table_tab(gr, rows, notes_html(store), files)
            with gr.Tab("Your sentence", id="sentence"):
                _sentence_tab(gr, judge)
            with gr.Tab("Your file", id="file"):
                _file_tab(gr, FileJudge(data_dir, evaluator), available_data(data_dir), files)
    files.keep_present()
    page.cc_prepare, page.cc_files = judge.prepare, files
    return page


def serve(
    results: str | Path,
    *,
    quality: str | Path | None = None,
    data_dir: str | Path | None = None,
    evaluator: str | Path | None = None,
    src_lang: str = "en",
    tgt_lang: str = "de",
    host: str | None = "127.0.0.1",
    port: int | None = 7860,
    wait: bool = True,
) -> Any:
    """Serve the page until stopped. Options as of `build`.

    Args:
        host, port: where; None for what gradio's environment variables say, as on Spaces.
        wait: as `wait_for_end`; otherwise the served `gradio.Blocks` is returned at once, with
            `local_url` and `close()`.

    Raises:
        InputError: also when the port is taken.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # parts of gradio ask nothing else
    page = build(
        results,
        quality=quality,
        data_dir=data_dir,
        evaluator=evaluator,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
    )
    gr = _gradio()
    page.queue(max_size=_MAX_QUEUE)
    try:
        page.launch(
            server_name=host,
            server_port=port,
            share=False,
            inbrowser=False,
            quiet=True,
            ssr_mode=False,
            pwa=False,
            enable_monitoring=False,
            max_file_size=MAX_UPLOAD,
            footer_links=[],
            theme=_theme(gr),
            css_paths=[_CSS],
            prevent_thread_lock=True,
            **launch_options(event_bytes=_MAX_EVENT, upload_bytes=MAX_UPLOAD),
        )
    except OSError as error:
        raise InputError(
            f"port: {host}:{port} cannot be served on ({error}); choose another with --port"
        ) from error
    page.cc_files.sweep_regularly()
    # behind launch, which it would slow down
    threading.Thread(target=_prepare, args=(page.cc_prepare,), daemon=True).start()
    if wait:
        wait_for_end(page)
    return page


def _theme(gr: Any) -> Any:
    """Fonts of the machine; grey text and buttons with contrast enough to read (WCAG AA)."""
    fonts = {
        "font": ["ui-sans-serif", "system-ui", "sans-serif"],
        "font_mono": ["ui-monospace", "Consolas", "monospace"],
    }
    return gr.themes.Base(primary_hue="teal", neutral_hue="slate", **fonts).set(
        body_text_color_subdued="*neutral_600",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
    )


def wait_for_end(page: Any) -> None:
    """Until Ctrl-C or SIGTERM, by which containers are stopped; then the files of visitors are
    deleted.

    Args:
        page: from `serve`.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        page.block_thread()
    finally:
        page.cc_files.close()


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _prepare(load: Any) -> None:
    try:
        load()
    except CCError as error:
        _LOG.warning("sentences cannot be judged: %s", error)


def _table_tab(gr: Any, rows: list[Row], notes: str, files: VisitorFiles) -> None:
    def shown(
        dataset: str, language: str, metric: str, text: str, by: str, order: str
    ) -> tuple[Any, str]:
        wanted = {"dataset": dataset, "language": language, "metric": metric}
        chosen = filtered(
            rows,
            text=(text or "")[:_MAX_SEARCH],
            **{name: "" if value == _ANY else value for name, value in wanted.items()},
        )
        ordered = sorted_rows(chosen, by, descending=order == "descending")
        return _styled(ordered), plot_html(ordered)

    first_sort = "minimum accuracy"
    with gr.Row(elem_classes="cc-filters"):
        lists = [
            gr.Dropdown(
                [_ANY, *choices(rows, name)],
                value=_ANY,
                label=name,
                elem_id=f"cc-{name}",
                min_width=120,
            )
            for name in ("dataset", "language", "metric")
        ]
        text = gr.Textbox(
            label="search",
            placeholder="system, signature, …",
            max_lines=1,
            max_length=_MAX_SEARCH,
            elem_id="cc-search",
            min_width=160,
        )
        by = gr.Dropdown(
            list(SORT_KEYS), value=first_sort, label="sort by", elem_id="cc-sort", min_width=210
        )
        order = gr.Radio(
            ["descending", "ascending"],
            value="descending",
            label="order",
            elem_id="cc-order",
            min_width=280,
        )
    value, svg = shown(_ANY, _ANY, _ANY, "", first_sort, "descending")
    table = gr.Dataframe(
        value,
        headers=list(HEADERS),
        datatype=_DATATYPES,
        column_widths=_WIDTHS,
        interactive=False,
        label=(
            "figures in percent, with 95 % intervals by bootstrap; the menu ⋮ of a header sorts and"
            " filters, too"
        ),
        elem_id="cc-table",
        max_height=560,
        pinned_columns=1,
        line_breaks=False,
        type="array",
    )
    with gr.Row():
        for name, content in (("CSV", to_csv(rows)), ("JSON", to_json(rows))):
            path = files.write(f"leaderboard.{name.lower()}", content)
            gr.DownloadButton(
                f"Download the whole table ({name})",
                value=path,
                size="sm",
                elem_id=f"cc-{name.lower()}",
            )
    plot = gr.HTML(svg, elem_id="cc-plot")
    gr.HTML(notes, elem_id="cc-notes")
    gr.on(
        [*(one.change for one in lists), text.change, by.change, order.change],
        shown,
        inputs=[*lists, text, by, order],
        outputs=[table, plot],
        api_name="table",
        show_progress="hidden",
        concurrency_limit=_TABLES_AT_ONCE,
    )


def _styled(rows: list[Row]) -> Any:
    """Numbers that are sorted as such and shown with one digit."""
    if not rows:
        return {"headers": list(HEADERS), "data": []}
    import pandas

    numbers = dict.fromkeys(PERCENT_HEADERS, "{:.1f}")
    frame = pandas.DataFrame([display_cells(row) for row in rows], columns=list(HEADERS)).astype(
        dict.fromkeys(PERCENT_HEADERS, float)
    )
    return frame.style.format(numbers, na_rep="")


def _sentence_tab(gr: Any, judge: SentenceJudge) -> None:
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
            found = [judge.judge(source or "", text, word or "", **options) for text in texts]
        except CCError as error:
            return message(str(error))
        return side_by_side(map(explanation_html, found))

    gr.HTML(
        lead(
            "The same translation is scored under a source that says the right reading and one"
            f" that says the wrong one ({judge.src_lang} → {judge.tgt_lang}, by {judge.name}). The"
            " bar shows which it fits; colours show the words that decide."
        )
    )
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            source = gr.Textbox(label="source", value=_EXAMPLES[0][0], lines=2, elem_id="cc-source")
            translation = gr.Textbox(
                label="translation", value=_EXAMPLES[0][1], lines=2, elem_id="cc-translation"
            )
            other = gr.Textbox(
                label="another translation, to compare (optional)",
                value=_EXAMPLES[0][2],
                lines=2,
                elem_id="cc-other",
            )
            with gr.Row():
                word = gr.Textbox(
                    label="word to look at", value=_EXAMPLES[0][3], elem_id="cc-word", min_width=160
                )
                which = gr.Textbox(
                    label="which, if it occurs twice",
                    placeholder="1, 2, …",
                    elem_id="cc-which",
                    min_width=160,
                )
            reading = gr.Radio(
                ["female", "male", _OWN_CUES],
                value="female",
                label="right reading",
                elem_id="cc-reading",
            )
            with gr.Group(visible=False) as cues:
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
            button = gr.Button("Judge", variant="primary", elem_id="cc-judge")
        with gr.Column(scale=3, min_width=280):
            answer = gr.HTML("", elem_id="cc-answer")
    reading.change(
        lambda value: gr.update(visible=value == _OWN_CUES),
        reading,
        cues,
        api_name=False,
        show_progress="hidden",
    )
    inputs = [source, translation, other, word, which, reading, correct, incorrect, placement]
    for trigger, name in (
        (button.click, "judge_sentence"),
        (translation.submit, False),
        (word.submit, False),
    ):
        trigger(
            judged,
            inputs,
            answer,
            api_name=name,
            concurrency_limit=_SENTENCES_AT_ONCE,
            concurrency_id="sentence",
        )
    gr.Examples(
        _EXAMPLES,
        inputs[:6],
        cache_examples=False,
        label="examples",
        example_labels=[row[0] for row in _EXAMPLES],
    )


def _file_tab(
    gr: Any, judge: FileJudge, data: dict[str, list[ConfigDeclaration]], files: VisitorFiles
) -> None:
    def config_of(dataset: str, name: str) -> ConfigDeclaration:
        found = data.get(dataset, [])
        return next((config for config in found if config.name == name), found[0])

    def of_dataset(dataset: str) -> tuple[Any, Any, Any]:
        names = [config.name for config in data[dataset]]
        config = config_of(dataset, names[0])
        return gr.update(choices=names, value=names[0]), *of_config(dataset, config.name)

    def of_config(dataset: str, name: str) -> tuple[Any, Any]:
        languages = [
            lang
            for lang in config_of(dataset, name).tgt_langs
            if fitting_metrics(dataset, config_of(dataset, name), lang)
        ]
        language = "de" if "de" in languages else languages[0]
        return gr.update(choices=languages, value=language), of_language(dataset, name, language)

    def of_language(dataset: str, name: str, language: str) -> Any:
        metrics = fitting_metrics(dataset, config_of(dataset, name), language)
        return gr.update(choices=metrics, value=metrics[0] if metrics else None)

    def judged(
        file: str | None, dataset: str, config: str, language: str, metric: str
    ) -> tuple[str, Any]:
        hidden = gr.update(visible=False)
        if not file:
            return message("expected a file of translations, got none"), hidden
        try:
            result = judge.judge(file, dataset, config, language, metric)
        except CCError as error:
            return message(str(error)), hidden
        path = files.write(f"{dataset}.{language}.{metric}.json", result.to_json())
        return result_html(result), gr.update(value=path, visible=True)

    if not data:
        gr.HTML(
            message(
                "No dataset is here to be judged on. Start with --data-dir, or fetch one with"
                " `cc-hf evaluate`."
            )
        )
        return
    gr.HTML(
        lead(
            "One translation per line in the order of the dataset, «source ||| translation» lines,"
            f" or JSONL with id or source. UTF-8 text, at most {MAX_UPLOAD // 1024 // 1024} MB,"
            f" {MAX_LINES:,} lines, and {MAX_MEAN_CHARACTERS} characters per translation on"
            f" average; deleted after at most {(LIFETIME + SWEEP_INTERVAL) // 60} minutes."
        )
    )
    dataset = "winomt" if "winomt" in data else next(iter(data))
    config_update, language_update, metric_update = of_dataset(dataset)
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            datasets = gr.Dropdown(
                list(data), value=dataset, label="dataset", elem_id="cc-file-dataset"
            )
            configs = gr.Dropdown(
                config_update["choices"],
                value=config_update["value"],
                label="configuration",
                elem_id="cc-file-config",
            )
            languages = gr.Dropdown(
                language_update["choices"],
                value=language_update["value"],
                label="language of the translations",
                elem_id="cc-file-language",
            )
            metrics = gr.Dropdown(
                metric_update["choices"],
                value=metric_update["value"],
                label="metric",
                elem_id="cc-file-metric",
            )
            file = gr.File(
                label="translations",
                file_types=[".txt", ".tsv", ".jsonl", ".de", ".hyp"],
                type="filepath",
                elem_id="cc-file",
            )
            button = gr.Button("Judge", variant="primary", elem_id="cc-file-judge")
        with gr.Column(scale=3, min_width=280):
            answer = gr.HTML("", elem_id="cc-file-answer")
            download = gr.DownloadButton(
                "Download the result (JSON)", visible=False, size="sm", elem_id="cc-file-download"
            )
    quiet: dict[str, Any] = {"api_name": False, "show_progress": "hidden"}
    datasets.input(of_dataset, datasets, [configs, languages, metrics], **quiet)
    configs.input(of_config, [datasets, configs], [languages, metrics], **quiet)
    languages.input(of_language, [datasets, configs, languages], metrics, **quiet)
    button.click(
        judged,
        [file, datasets, configs, languages, metrics],
        [answer, download],
        api_name="judge_file",
        concurrency_limit=1,
    )
