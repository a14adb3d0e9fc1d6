"""Judge archived translations of 2019 to 2024, and write leaderboards of them into out/leaderboard,
the figures of docs/archive.md, and what the site's board is made of:
python docs/leaderboard_figures.py SHARED

out/leaderboard/NAME/page/index.html opens from disk. Scores are exact, so that every machine gives
the same figures, and are kept in out/figures.sqlite. SHARED holds upstream/ (datasets and
translations) and gold/human_validation (labels of people).
"""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer
from archive_board import origins_text, pack_results, result_name
from archive_text import (
    gest_block,
    judges_block,
    row,
    same_texts,
    summary_block,
    winomt_block,
    wmt24_block,
)

import cc_hf
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.people.labels import trusted_labels
from cc_hf.data.loading import declaration
from cc_hf.errors import MissingDependencyError, ResultWarning
from cc_hf.evaluation.correction import corrected
from cc_hf.hub.cards import with_block
from cc_hf.plugins.leaderboard.static.board import Board
from cc_hf.plugins.leaderboard.static.origins import ORIGINS
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.results import EvaluationResult

_ROOT = Path(__file__).parent.parent
_OUT = _ROOT / "out/leaderboard"
_PAGE = _ROOT / "docs/archive.md"
_LABELS = "gold/human_validation/winomt_annotations.en-de.jsonl"
_ALL = ("all", "Archived systems, 2019 to 2024")


@dataclass(frozen=True)
class Archive:
    """Translations that were published together.

    Attributes:
        source: who published them; the address follows.
        repository: OWNER/NAME on GitHub, and in upstream/.
        folder: the folder of the translations in it.
        systems: name of a file or folder in it -> name of the system.
    """

    name: str
    title: str
    year: str
    source: str
    repository: str
    folder: str
    licence: str
    systems: Mapping[str, str]

    def folder_in(self, shared: Path) -> Path:
        """Return the folder of the translations."""
        return shared / "upstream" / self.repository / self.folder

    def origins(self, shared: Path, remarks: Mapping[str, str] | None = None) -> list[str]:
        """Return the lines of `systems.tsv`, with the commit that was read.

        Args:
            remarks: system -> what a reader must know of its translations.
        """
        commit = (shared / "upstream" / self.repository / "COMMIT").read_text("utf-8").strip()
        address = f"https://github.com/{self.repository}/tree/{commit}/{self.folder}"
        return [
            f"{system}\t{self.year}\t{self.source}{(remarks or {}).get(system, '')}: {address}"
            f"\t{self.licence}"
            for system in self.systems.values()
        ]


_WMT24 = Archive(
    "wmt24",
    "Ten systems of WMT24 on one test suite, en-es",
    "2024",
    "submissions to WMT24 with its test suites",
    "wmt-conference/wmt24-news-systems",
    "txt-ts/system-outputs/en-es",
    "none stated, for evaluation",
    {
        name: name
        for name in (
            *("Aya23", "Claude-3.5", "CommandR-plus", "GPT-4", "IKUN", "Llama3-70B"),
            *("ONLINE-B", "ONLINE-W", "TranssionMT", "Unbabel-Tower70B"),
        )
    },
)
_GEST = Archive(
    "gest-2023",
    "GEST: four systems of 2023, English to nine Slavic languages",
    "2023",
    "Pikuliak et al. 2024",
    "kinit-sk/gest",
    "data/translations",
    "Apache-2.0",
    {
        "amazon_translate": "Amazon 2023",
        "deepl": "DeepL 2023",
        "google_translate": "Google 2023",
        "nllb_3b": "NLLB-3.3B 2023",
    },
)
_WINOMT = Archive(
    "winomt-2019",
    "WinoMT: four systems of 2019",
    "2019",
    "Stanovsky et al. 2019",
    "gabrielStanovsky/mt_gender",
    "translations",
    "MIT",
    {
        "aws": "Amazon 2019",
        "bing": "Bing 2019",
        "google": "Google 2019",
        "systran": "Systran 2019",
    },
)
_ARCHIVES = (_WMT24, _GEST, _WINOMT)


@dataclass
class Judged:
    """What was judged.

    Attributes:
        results: name of an archive -> its results.
        lost: language -> why its translations of WinoMT were not judged.
    """

    results: dict[str, list[EvaluationResult]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)

    def of(self, archive: Archive, metric: str, config: str) -> list[EvaluationResult]:
        """Return the results by a metric on a configuration."""
        return [
            result
            for result in self.results[archive.name]
            if (result.metric, result.config) == (metric, config)
        ]


def wmt24_results(shared: Path, configs: Sequence[str]) -> Iterator[EvaluationResult]:
    """Yield the results on gender-res: verdicts on slots with a gender, readings of all slots."""
    for config in configs:
        material = cc_hf.load_material("gender_res", config, data_dir=shared / "upstream")
        for file, name in _WMT24.systems.items():
            path = _WMT24.folder_in(shared) / f"{file}.txt"
            yield cc_hf.evaluate(material, translations=path, metric="gender_form", name=name)


def gest_results(shared: Path) -> Iterator[EvaluationResult]:
    """Yield the results on GEST, in every language of every system."""
    for folder, name in _GEST.systems.items():
        for path in sorted((_GEST.folder_in(shared) / folder).glob("*/translations.csv")):
            material = cc_hf.load_material(
                "gest", "emnlp2024", tgt_lang=path.parent.name, data_dir=shared / "upstream"
            )
            yield cc_hf.evaluate(material, translations=path, metric="stereotype_rates", name=name)


def winomt_results(shared: Path, lost: dict[str, str]) -> Iterator[EvaluationResult]:
    """Yield the results on WinoMT: by pattern matching as in the paper, and into German by the
    embedded evaluator, whose figures for Amazon labels of people correct.
    """
    metric, data_dir = "winomt_pattern_matching", shared / "upstream"
    known = declaration("winomt").config("acl2019").tgt_langs
    for folder, name in _WINOMT.systems.items():
        for path in sorted((_WINOMT.folder_in(shared) / folder).glob("en-??.txt")):
            language = path.stem.removeprefix("en-")
            if language not in known:
                lost[language] = "no rule reads it"
                continue
            material = cc_hf.load_material(
                "winomt", "acl2019", tgt_lang=language, data_dir=data_dir
            )
            try:
                yield cc_hf.evaluate(material, translations=path, metric=metric, name=name)
            except MissingDependencyError:
                lost[language] = "the rule needs a dictionary of Apertium, which is not installed"
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=data_dir)
    annotations = read_annotations(shared / _LABELS)
    _OUT.mkdir(parents=True, exist_ok=True)
    loading = cc_hf.LoadingOptions(mode="exact", cache=_ROOT / "out/figures.sqlite")
    for folder, name in _WINOMT.systems.items():
        path = _WINOMT.folder_in(shared) / folder / "en-de.txt"
        result = cc_hf.evaluate(
            material, translations=path, evaluator="cc-tiny-en-de", loading=loading, name=name
        )
        if folder == "aws":  # drawn with equal probability, see docs/measurements.md
            trusted, _ = trusted_labels(result, annotations)
            result = corrected(result, trusted, by="people", about="labels of people")
        yield result


def judged(shared: Path) -> Judged:
    """Judge all archived translations."""
    done = Judged()
    makers: dict[str, Callable[[], Iterator[EvaluationResult]]] = {
        _WMT24.name: lambda: wmt24_results(shared, ("en-es", "en-es.all")),
        _GEST.name: lambda: gest_results(shared),
        _WINOMT.name: lambda: winomt_results(shared, done.lost),
    }
    for name, results in makers.items():
        start = time.perf_counter()
        done.results[name] = [*results()]
        n, seconds = len(done.results[name]), time.perf_counter() - start
        typer.echo(f"{name}: {n} results in {seconds:.0f} s")
    for language, reason in done.lost.items():
        typer.echo(f"winomt-2019: en-{language} is left out: {reason}")
    return done


def write_board(
    name: str, title: str, results: Sequence[EvaluationResult], origins: Sequence[str], data: Path
) -> Board:
    """Write the results and the page of a leaderboard, in place of older ones."""
    start = time.perf_counter()
    folder = _OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "results").mkdir(parents=True)
    for result in results:
        path = folder / "results" / result_name(result)
        path.write_text(result.to_json(), encoding="utf-8", newline="\n")
    (folder / "results" / ORIGINS).write_text(origins_text(origins), encoding="utf-8", newline="\n")
    board = write_static_board(folder / "results", folder / "page", title=title, data_dir=data)
    size = sum(path.stat().st_size for path in (folder / "page").rglob("*") if path.is_file())
    seconds = time.perf_counter() - start
    typer.echo(f"{name}: {size / 1e6:.1f} MB in {seconds:.0f} s, {folder / 'page/index.html'}")
    return board


def boards_block(boards: Mapping[str, Board]) -> str:
    """Return the table of the leaderboards."""
    lines = [row("folder", "leaderboard", "systems", "tables"), "|---|---|--:|--:|"]
    for name, board in boards.items():
        cells = (board.title, len(board.origins), len(board.rankings))
        lines.append(row(f"`out/leaderboard/{name}/page`", *cells))
    return "\n".join(lines)


def main(shared: Path) -> None:
    """Write everything."""
    data = shared / "upstream"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # pages have the notes
        done = judged(shared)
    slots = cc_hf.load_examples("gender_res", "en-es.all", data_dir=data)
    clusters = {e.id.partition(".")[0]: e.extra["cluster"] for e in slots}
    of_open = done.of(_WMT24, "gender_form", "en-es.all")
    same = same_texts(of_open, clusters)
    remark = (
        f" ({' and '.join(same.pair)} give the same text in {same.n:,} of {same.n_rows:,} lines)"
    )
    remarks = dict.fromkeys(same.pair, remark)
    origins = {archive.name: archive.origins(shared, remarks) for archive in _ARCHIVES}
    boards = {
        a.name: write_board(a.name, a.title, done.results[a.name], origins[a.name], data)
        for a in _ARCHIVES
    }
    everything = [result for results in done.results.values() for result in results]
    all_origins = [line for lines in origins.values() for line in lines]
    boards[_ALL[0]] = write_board(*_ALL, everything, all_origins, data)
    sources = [
        [example.source for example in cc_hf.load_examples(dataset, config, data_dir=data)]
        for dataset, config in (("winomt", "acl2019"), ("gest", "emnlp2024"))
    ]
    sources.append([example.source for example in slots])
    gold = done.of(_WMT24, "gender_form", "en-es")
    gest = done.of(_GEST, "stereotype_rates", "emnlp2024")
    by_words = done.of(_WINOMT, "winomt_pattern_matching", "acl2019")
    by_evaluator = done.of(_WINOMT, "contrastive_conditioning", "default")
    pack_results([*by_words, *gest], [*origins[_WINOMT.name], *origins[_GEST.name]])
    in_german = next(r for r in by_words if (r.tgt_lang, r.system) == ("de", "Amazon 2019"))
    blocks = {
        "boards": boards_block(boards),
        "winomt": winomt_block(by_words, boards[_WINOMT.name], done.lost),
        "gest": gest_block(gest, sources[1]),
        "wmt24": wmt24_block(gold, of_open, boards[_WMT24.name], same),
        "summary": summary_block(by_words, gest, gold, [set(s) for s in sources]),
        "judges": judges_block(in_german, by_evaluator[0]),
    }
    page = _PAGE.read_text(encoding="utf-8")
    for name, block in blocks.items():
        page = with_block(page, name, block)
    _PAGE.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    typer.run(main)
