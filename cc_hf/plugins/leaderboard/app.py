"""The page, made with gradio. It contacts no other servers and sends no usage data."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cc_hf.errors import CCError, InputError, MissingDependencyError
from cc_hf.hub.request_limits import launch_options
from cc_hf.plugins.leaderboard.about_tabs import about_tab, citation_tab, submit_tab
from cc_hf.plugins.leaderboard.file_tab import file_tab
from cc_hf.plugins.leaderboard.genders_tab import genders_tab
from cc_hf.plugins.leaderboard.html import header, notes_html
from cc_hf.plugins.leaderboard.live import MAX_UPLOAD, FileJudge, SentenceJudge, available_data
from cc_hf.plugins.leaderboard.missing_tab import missing_tab
from cc_hf.plugins.leaderboard.sentence_tab import sentence_tab
from cc_hf.plugins.leaderboard.static.board import build_board
from cc_hf.plugins.leaderboard.static.origins import read_origins
from cc_hf.plugins.leaderboard.static.page import fill_folder
from cc_hf.plugins.leaderboard.store import read_folder
from cc_hf.plugins.leaderboard.table import leaderboard_rows
from cc_hf.plugins.leaderboard.visitor_files import VisitorFiles
from cc_hf.reports.page.explanations import EXPLANATION_CSS
from cc_hf.systems.machine import wait_briefly

__all__ = ["build_page", "serve", "wait_for_end"]

_LOG = logging.getLogger(__name__)
_MAX_QUEUE = 200
_MAX_EVENT = 1 << 18  # bytes; the longest sentences and cues need less, even if all escaped in JSON
_TITLE = "Disambiguation leaderboard"
_BOARD = "board"  # its folder; the address of the server leads to it
_TABS = "texts"  # the query with which the address of the server shows the tabs
_CSS = Path(__file__).parent / "page.css"
_SCRIPT = Path(__file__).parent / "page.js"


def _gradio() -> Any:
    try:
        import gradio
    except ModuleNotFoundError as error:
        raise MissingDependencyError("gradio", "leaderboard") from error
    return gradio


def build_page(
    results: str | Path,
    *,
    quality: str | Path | Sequence[str | Path] | None = None,
    data_dir: str | Path | None = None,
    evaluator: str | Path | None = None,
    backward_evaluator: str | Path | None = None,
    src_lang: str = "en",
    tgt_lang: str = "de",
) -> Any:
    """Return the page as `gradio.Blocks`, not yet served.

    `evaluator` None is the model that ships for the languages; `backward_evaluator` finds what a
    translation adds. The environment variable GRADIO_TEMP_DIR is set for the rest of the process.
    """
    store = read_folder(results, has_judgements=True)
    rows = leaderboard_rows(store, quality)
    judge = SentenceJudge(
        evaluator, backward_evaluator=backward_evaluator, src_lang=src_lang, tgt_lang=tgt_lang
    )
    langs = judge.src_lang, judge.tgt_lang
    file_judge = FileJudge(data_dir, evaluator)
    data = available_data(data_dir, None if evaluator is None else langs)
    gr = _gradio()
    files = VisitorFiles()  # gradio stores what visitors send in a folder of this page
    if store.entries:
        board = build_board(
            store, title=_TITLE, quality=quality, origins=read_origins(Path(results))
        )
        fill_folder(files.folder(_BOARD), board, data_dir=data_dir, live=f"../?{_TABS}")
    os.environ["GRADIO_TEMP_DIR"] = str(files.cache)  # gradio reads it now and at each launch
    with gr.Blocks(title="cc_hf leaderboard", analytics_enabled=False, fill_width=True) as page:
        gr.HTML(header(f"{_BOARD}/" if store.entries else ""))
        gr.HTML(notes_html(store), elem_id="cc-notes")
        with gr.Tabs():
            with gr.Tab("Your sentence", id="sentence") as tab:
                sentence_tab(gr, judge, tab)
            with gr.Tab("What is missing?", id="missing") as tab:
                missing_tab(gr, judge, tab)
            with gr.Tab("For her, for him", id="genders") as tab:
                genders_tab(gr, judge, tab)
            with gr.Tab("Your file", id="file"):
                file_tab(gr, file_judge, data, files)
            with gr.Tab("About", id="about"):
                about_tab(gr, rows)
            with gr.Tab("Citation", id="citation"):
                citation_tab(gr, rows)
            with gr.Tab("Submit", id="submit"):
                submit_tab(gr, rows, files)
    files.keep_present()

    def prepare() -> None:
        judge.prepare()
        file_judge.prepare(*langs)

    page.cc_prepare, page.cc_files = prepare, files
    page.cc_has_board = bool(store.entries)
    return page


def serve(
    results: str | Path,
    *,
    quality: str | Path | Sequence[str | Path] | None = None,
    data_dir: str | Path | None = None,
    evaluator: str | Path | None = None,
    backward_evaluator: str | Path | None = None,
    src_lang: str = "en",
    tgt_lang: str = "de",
    host: str | None = "127.0.0.1",
    port: int | None = 7860,
    wait: bool = True,
) -> Any:
    """Serve the page until stopped; `host` and `port` None are those of gradio's variables."""
    wait_briefly()  # visitors share the cores of a page; models are loaded below
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # parts of gradio check only this variable
    page = build_page(
        results,
        quality=quality,
        data_dir=data_dir,
        evaluator=evaluator,
        backward_evaluator=backward_evaluator,
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
            css_paths=[_CSS, EXPLANATION_CSS],
            head=f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script>",
            prevent_thread_lock=True,
            **launch_options(gr, event_bytes=_MAX_EVENT, upload_bytes=MAX_UPLOAD),
        )
    except OSError as error:
        raise InputError(
            f"port: {host}:{port} cannot be served on ({error}); choose another"
        ) from error
    if page.cc_has_board:
        _add_board(page.app, page.cc_files.folder(_BOARD))
    page.cc_files.sweep_regularly()
    # Loading starts after `launch`, which it would slow down.
    threading.Thread(target=_prepare, args=(page.cc_prepare,), daemon=True).start()
    if wait:
        wait_for_end(page)
    return page


def _add_board(app: Any, folder: Path) -> None:
    """Serve the board, and lead to it from the address of the server."""
    from starlette.responses import RedirectResponse
    from starlette.routing import Match, Mount, Route
    from starlette.staticfiles import StaticFiles

    class Start(Route):
        def matches(self, scope: Any) -> Any:
            is_of_tabs = _TABS.encode() in scope.get("query_string", b"")
            return (Match.NONE, {}) if is_of_tabs else super().matches(scope)

    def to_board(_: Any) -> Any:
        return RedirectResponse(f"{_BOARD}/")  # relative, because a proxy may add a prefix

    files = StaticFiles(directory=folder, html=True)
    # Before the routes of gradio, which has one for every path.
    app.router.routes[:0] = [Start("/", to_board), Mount(f"/{_BOARD}", files)]


def wait_for_end(page: Any) -> None:
    """Block until Ctrl-C, or SIGTERM, which stops containers; then delete the files of visitors."""
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
