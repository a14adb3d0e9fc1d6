"""Write the page as a folder for a Space of the Hub: with the program, its requirements, the card
and the results, or as a page that needs no server. Nothing is sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from huggingface_hub import SpaceCard

from cc_hf._version import __version__
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.data.files.result_files import read_result_file
from cc_hf.files import name_key
from cc_hf.folders import new_folder
from cc_hf.hub.eval_results import evaluator_notes
from cc_hf.hub.spaces import SPACE_LOOKS, requirement_line
from cc_hf.languages import language_name
from cc_hf.plugins.leaderboard.about_tabs import Described, described, papers
from cc_hf.plugins.leaderboard.static.board import Board, build_board
from cc_hf.plugins.leaderboard.static.origins import read_origins
from cc_hf.plugins.leaderboard.static.page import fill_folder
from cc_hf.plugins.leaderboard.store import DATES, Store, read_shown, without_translations
from cc_hf.plugins.leaderboard.table import leaderboard_rows
from cc_hf.reports.formats.markdown import markdown_text
from cc_hf.reports.page.page import counted

__all__ = ["build_leaderboard_space", "build_static_space"]

_BLEU = "bleu.json"
_APP = '''"""The leaderboard of cc_hf, as a Space."""

from pathlib import Path

from cc_hf.plugins.leaderboard.app import serve

if __name__ == "__main__":
    here = Path(__file__).parent
    serve(here / "results", quality={quality}, host="0.0.0.0", port=7860)
'''
# The title is set later, in the place that it has here, so that it is written as YAML.
_README = """---
title: ""
{sdk}
license: {licence}
tags: {tags}
short_description: Translation judged where words are ambiguous
---
# {heading}

Machine translation systems, judged where a word must be disambiguated: word senses, the gender of people, the reference of pronouns. Made with cc_hf
{version} from {results} of {systems}.

{evaluators}{about}

## Datasets
{datasets}

## Metrics
{metrics}

## Citation
```bibtex
{bibtex}
```
"""


_SUBMISSION = "submission:semiautomatic"
#: By these tags of the Hub, people find leaderboards.
_TAGS = (
    "leaderboard",
    _SUBMISSION,
    "test:public",
    "modality:text",
    "eval:generation",
    "machine-translation",
    "contrastive-conditioning",
)


def build_leaderboard_space(
    results: str | Path,
    output: str | Path,
    *,
    title: str = "Disambiguation leaderboard",
    quality: str | Path | Sequence[str | Path] | None = None,
    requirement: str | None = None,
) -> Store:
    """Write the folder of the Space.

    Results are written without translations, but with the verdicts that prove them. Files that
    cannot be read are omitted and named in `Store.broken`. `requirement` is the line with which pip
    installs cc_hf; None for this version or a newer one of the same major version.
    """
    line = requirement_line(requirement, "cc_hf[leaderboard,models]")
    store = read_shown(results, title)
    scores = read_quality_scores(quality)
    card = _card(
        store,
        title,
        f"sdk: gradio\nsdk_version: {SPACE_LOOKS['sdk_version']}\napp_file: app.py",
        "Everyone can judge a sentence or a file of translations of their own here, and see what a"
        " translation leaves out; nothing is kept.",
    )
    with new_folder(output) as folder:
        (folder / "results").mkdir()
        for name in dict.fromkeys(entry.file for entry in store.entries):
            contents = read_result_file(Path(results) / name)
            contents = replace(contents, results=tuple(map(without_translations, contents.results)))
            (folder / "results" / name).write_text(
                contents.to_json(), encoding="utf-8", newline="\n"
            )
        taken = {name_key(entry.file) for entry in store.entries}
        names = (f"judge-card-{number}.json" for number in itertools.count())
        free = (name for name in names if name not in taken)
        for name, judge in zip(free, store.judge_cards, strict=False):
            (folder / "results" / name).write_text(judge.to_json(), encoding="utf-8", newline="\n")
        dates = dict.fromkeys(f"{entry.file}\t{entry.date}\n" for entry in store.entries)
        (folder / "results" / DATES).write_text("".join(dates), encoding="utf-8", newline="\n")
        if scores.bleu:
            (folder / _BLEU).write_text(scores.to_json(), encoding="utf-8", newline="\n")
        for name, text in (
            ("app.py", _APP.format(quality=f'here / "{_BLEU}"' if scores.bleu else None)),
            ("requirements.txt", f"{line}\n"),
            ("README.md", card),
        ):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return store


def build_static_space(
    results: str | Path,
    output: str | Path,
    *,
    title: str = "Disambiguation leaderboard",
    quality: str | Path | Sequence[str | Path] | None = None,
    data_dir: str | Path | None = None,
) -> Board:
    """Write a Space that needs no program: the static leaderboard, with sentences, and a card."""
    store = read_shown(results, title, has_judgements=True)
    board = build_board(
        store,
        title=title,
        quality=quality,
        origins=read_origins(Path(results)),
    )
    card = _card(
        store,
        title,
        "sdk: static\napp_file: index.html",
        "Systems stand in bands: those of one band cannot all be told apart. What is known of the"
        " judge stands beside them, and the page shows the sentences behind every figure."
        " Translations belong to those who published them; the page names source and licence of each"
        " system as far as they are stated.",
        is_static=True,
    )
    with new_folder(output) as folder:
        board = fill_folder(folder, board, data_dir=data_dir)
        (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")
    return board


def _card(store: Store, title: str, sdk: str, about: str, *, is_static: bool = False) -> str:
    """Return the card of a Space."""
    systems = sorted({entry.system for entry in store.entries})
    rows = leaderboard_rows(store)
    parts = described(rows)
    readme = _README.format(
        heading=markdown_text(title),
        licence="other" if is_static else "apache-2.0",
        tags=f"[{', '.join(tag for tag in _tags(store) if not (is_static and tag == _SUBMISSION))}]",
        sdk=sdk,
        version=__version__,
        evaluators="".join(
            f"{markdown_text(note)}\n\n"
            for note in evaluator_notes(
                (entry.result for entry in store.entries), store.judge_cards
            )
        ),
        about=about,
        datasets=_listed(parts["datasets"]),
        metrics=_listed(parts["metrics"]),
        bibtex="\n\n".join(papers(rows)),
        results=counted(len(store.entries), "result"),
        systems=counted(len(systems), "system"),
    )
    card = SpaceCard(readme, ignore_metadata_errors=False)
    for key, value in {"title": " ".join(title.split()), **SPACE_LOOKS}.items():
        if not (is_static and key == "sdk_version"):
            card.data[key] = value
    return str(card)


def _listed(parts: Sequence[Described]) -> str:
    """Return datasets or metrics as a Markdown list with links to their papers."""
    lines = [
        f"- **{markdown_text(part.title)}**: {markdown_text(part.text.removeprefix(f'{part.title}: '))}"
        + f" Papers: {', '.join(f'[{_paper(link)}]({link})' for link in part.links)}."
        * bool(part.links)
        for part in parts
    ]
    return "\n".join(lines) or "They are not described in cc_hf."


def _paper(address: str) -> str:
    """Return the name of a paper in the ACL Anthology, such as 2021.emnlp-main.803."""
    return address.rstrip("/").rpartition("/")[2]


def _tags(store: Store) -> list[str]:
    """Return the tags of the Space, with those that say who judges and in which languages."""
    has_evaluator = {bool(row.evaluator) for row in leaderboard_rows(store)}
    languages = {language_name(entry.result.tgt_lang) for entry in store.entries} - {""}
    return [
        *_TAGS,
        *(f"judge:{'model' if model else 'function'}" for model in sorted(has_evaluator)),
        *(f"language:{name.lower().replace(' ', '-')}" for name in sorted(languages)),
    ]
