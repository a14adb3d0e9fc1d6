"""The tab in which visitors have a file of translations judged."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import CCError
from cc_hf.plugins.leaderboard.html import lead, message, result_html
from cc_hf.plugins.leaderboard.live import (
    MAX_FILE_LINES,
    MAX_MEAN_CHARACTERS,
    MAX_UPLOAD,
    AvailableData,
    FileJudge,
)
from cc_hf.plugins.leaderboard.visitor_files import LIFETIME, SWEEP_INTERVAL, VisitorFiles
from cc_hf.reports.figure_text import data_title, language_pair, metric_name

__all__ = ["file_tab"]


_SAMPLE = Path(__file__).parents[2] / "assets/samples/simplegen.en-de.txt.gz"
_SAMPLE_CHOICE = ("simplegen", "en-de", "de", "simplegen_accuracy")
_Data = dict[str, AvailableData]


@dataclass(frozen=True)
class _Choices:
    """The options of each list, as updates by gradio, given the choices in the lists before it."""

    gr: Any
    data: _Data

    def configs(self, dataset: str) -> tuple[Any, Any, Any]:
        names = list(self.data[dataset].configs)
        default = self.data[dataset].declared.default_config
        config = default if default in names else names[0]
        return self._offer([(name, name) for name in names], config), *self.languages(
            dataset, config
        )

    def languages(self, dataset: str, config: str) -> tuple[Any, Any]:
        names = list(self._languages(dataset, config))
        language = "de" if "de" in names else names[0]
        options = [(language_pair("", name), name) for name in names]
        return self._offer(options, language), self.metrics(dataset, config, language)

    def metrics(self, dataset: str, config: str, language: str) -> Any:
        names = self._languages(dataset, config).get(language, [])
        options = [(metric_name(name), name) for name in names]
        return self._offer(options, names[0] if names else None)

    def _languages(self, dataset: str, config: str) -> dict[str, list[str]]:
        """Return the languages of the named configuration."""
        configs = self.data[dataset].configs
        # The first, while the name still belongs to another dataset.
        return configs.get(config) or next(iter(configs.values()))

    def _offer(self, options: list[tuple[str, str]], value: str | None) -> Any:
        return self.gr.update(choices=options, value=value)


def file_tab(gr: Any, judge: FileJudge, data: _Data, files: VisitorFiles) -> None:
    """Fill the gradio tab that is currently open."""

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
            if _offers_sample(data):
                _sample(gr, data, lists, file, files)
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


def _offers_sample(data: _Data) -> bool:
    dataset, config, language, metric = _SAMPLE_CHOICE
    configs = data[dataset].configs if dataset in data else {}
    return metric in configs.get(config, {}).get(language, [])


def _sample(gr: Any, data: _Data, lists: list[Any], file: Any, files: VisitorFiles) -> None:
    """Add a button that fills the form with a file that ships, by the model cc-tiny-en-de."""
    text = gzip.decompress(_SAMPLE.read_bytes()).decode("utf-8")
    path = files.write(_SAMPLE.name.removesuffix(".gz"), text)
    offered = _Choices(gr, data)

    def filled() -> tuple[Any, ...]:
        dataset, config, language, metric = _SAMPLE_CHOICE
        updates = [
            gr.update(value=dataset),
            offered.configs(dataset)[0],
            offered.languages(dataset, config)[0],
            offered.metrics(dataset, config, language),
        ]
        for update, value in zip(updates, (dataset, config, language, metric), strict=True):
            update["value"] = value
        return *updates, path

    button = gr.Button("Try a sample file", size="sm", elem_id="cc-file-sample")
    button.click(filled, None, [*lists, file], api_name=False, show_progress="hidden")


def _lists(gr: Any, data: _Data) -> list[Any]:
    """Return lists of datasets, configurations, languages, metrics; each depends on the former."""
    offered = _Choices(gr, data)
    dataset = "winomt" if "winomt" in data else next(iter(data))
    datasets = gr.Dropdown(
        [(data_title(available.declared, ""), name) for name, available in data.items()],
        value=dataset,
        label="dataset",
        elem_id="cc-file-dataset",
    )
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
