"""The tab in which visitors have a file of translations judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cc_hf.data.declaration import ConfigDeclaration
from cc_hf.errors import CCError
from cc_hf.leaderboard.html import lead, message, result_html
from cc_hf.leaderboard.live import (
    MAX_FILE_LINES,
    MAX_MEAN_CHARACTERS,
    MAX_UPLOAD,
    FileJudge,
    config_metrics,
)
from cc_hf.leaderboard.visitor_files import LIFETIME, SWEEP_INTERVAL, VisitorFiles

__all__ = ["file_tab"]


@dataclass(frozen=True)
class _Choices:
    """The options of each list, given the choices in the lists before it.

    Each method returns updates, which gradio applies to this list and those after it.
    """

    gr: Any
    data: dict[str, list[ConfigDeclaration]]

    def configs(self, dataset: str) -> tuple[Any, Any, Any]:
        names = [config.name for config in self.data[dataset]]
        return self._offer(names, names[0]), *self.languages(dataset, names[0])

    def languages(self, dataset: str, config: str) -> tuple[Any, Any]:
        declared = self._config(dataset, config)
        names = [lang for lang in declared.tgt_langs if config_metrics(dataset, declared, lang)]
        language = "de" if "de" in names else names[0]
        return self._offer(names, language), self.metrics(dataset, config, language)

    def metrics(self, dataset: str, config: str, language: str) -> Any:
        names = config_metrics(dataset, self._config(dataset, config), language)
        return self._offer(names, names[0] if names else None)

    def _config(self, dataset: str, name: str) -> ConfigDeclaration:
        """Return the named configuration, or the first one while the name still belongs to another
        dataset.
        """
        configs = self.data.get(dataset, [])
        return next((config for config in configs if config.name == name), configs[0])

    def _offer(self, names: list[str], value: str | None) -> Any:
        return self.gr.update(choices=names, value=value)


def file_tab(
    gr: Any, judge: FileJudge, data: dict[str, list[ConfigDeclaration]], files: VisitorFiles
) -> None:
    """Fill the gradio tab that is currently open.

    Args:
        gr: the module gradio.
        judge: the judge that all visitors share.
        data: the datasets, from `available_data`.
        files: where results for download are written.
    """

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
                "No dataset is available on this machine. Start the page with a local copy of the"
                " data, or download a dataset with `cc-hf evaluate`."
            )
        )
        return
    gr.HTML(
        lead(
            'One translation per line in the order of the dataset, "source ||| translation" lines,'
            f" or JSONL with id or source. UTF-8 text, at most {MAX_UPLOAD // 1024 // 1024} MB,"
            f" {MAX_FILE_LINES:,} lines, and {MAX_MEAN_CHARACTERS} characters per translation on"
            f" average; deleted after at most {(LIFETIME + SWEEP_INTERVAL) // 60} minutes."
        )
    )
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            lists = _lists(gr, data)
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
    button.click(
        judged,
        [file, *lists],
        [answer, download],
        api_name="judge_file",
        concurrency_limit=1,
    )


def _lists(gr: Any, data: dict[str, list[ConfigDeclaration]]) -> list[Any]:
    """Return new lists of datasets, configurations, languages and metrics, each of which depends on
    those before it.
    """
    offered = _Choices(gr, data)
    dataset = "winomt" if "winomt" in data else next(iter(data))
    datasets = gr.Dropdown(list(data), value=dataset, label="dataset", elem_id="cc-file-dataset")
    configs, languages, metrics = (
        gr.Dropdown(
            update["choices"],
            value=update["value"],
            label=label,
            elem_id=f"cc-file-{name}",
        )
        for update, label, name in zip(
            offered.configs(dataset),
            ("configuration", "language of the translations", "metric"),
            ("config", "language", "metric"),
            strict=True,
        )
    )
    quiet: dict[str, Any] = {"api_name": False, "show_progress": "hidden"}
    datasets.input(offered.configs, datasets, [configs, languages, metrics], **quiet)
    configs.input(offered.languages, [datasets, configs], [languages, metrics], **quiet)
    languages.input(offered.metrics, [datasets, configs, languages], metrics, **quiet)
    return [datasets, configs, languages, metrics]
