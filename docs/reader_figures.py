"""Measure how often dictionaries read the gender of a person, and how often rightly, and write the
tables of cards/metrics/gender_reading.md, and how pairs by people pass the checks of alternatives,
the table of cards/datasets/gender_alternatives.md, and the judges of cc_hf_judges beside a
dictionary on their cards: python docs/reader_figures.py SHARED

SHARED holds upstream/. What the readers need must be installed: german-nouns, lttoolbox with the
dictionaries of Apertium, and spaCy with its small pipelines for Spanish and French.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import typer

from cc_hf import registry
from cc_hf.data.download import fetch
from cc_hf.data.labelled import RIGHT, WRONG, LabelledTranslation, LabelSet
from cc_hf.data.loading import declaration, load_examples
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import load_material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.hub.cards import with_block
from cc_hf.metrics.base import Rows
from cc_hf.plugins.gender_reading.metric import GenderReading
from cc_hf.plugins.gender_reading.rules import RULES
from cc_hf.plugins.reranking.structures import pairs_by_people
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, percent
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.text.alignment import find_aligner
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, open_reader

_CARDS = Path(__file__).parent.parent / "cards"
_JUDGES = _CARDS.parent / "judges/cc_hf_judges"
_JUDGED = ("es", "fr")
_EXACT = LoadingOptions(mode="exact", cache=True)
#: Card -> its blocks.
_BLOCKS: dict[str, tuple[str, ...]] = {
    "metrics/gender_reading": ("readers", "differing-words"),
    "datasets/gender_alternatives": ("checks",),
    **{f"../judges/cc_hf_judges/cc-tiny-en-{lang}": (f"winomt {lang}",) for lang in _JUDGED},
}
_SETS = ("winomt", "genderous", "gender_alternatives")
_GENDERS = {"male": MASCULINE, "female": FEMININE}
_OTHERS = {"male": "female", "female": "male"}
_KINDS = ("determiner", "noun", "adjective", "participle", "pronoun", "numeral")
_METRIC = GenderReading()


class Part(NamedTuple):
    """The labelled translations of a system, and the gender that each shows."""

    labels: str
    system: str
    references: list[dict[str, Any]]
    translations: list[str]
    shows: list[str]


def shown_gender(row: LabelledTranslation, example: Example) -> str:
    """Return the gender that a labelled translation shows, or what else it shows."""
    gold = getattr(example, "gold", "")
    return {RIGHT: gold, WRONG: _OTHERS.get(gold, "")}.get(row.shows, row.shows)


def parts(labels: LabelSet, pair: str, upstream: Path) -> Iterator[Part]:
    """Yield the translations of each system that show one gender."""
    material = load_material(
        labels.dataset,
        labels.configs[pair],
        tgt_lang=pair.partition("-")[2],
        data_dir=upstream,
    )
    paths = {file.path: fetch(file, upstream) for file in labels.files.get(pair, ())}
    examples = {example.id: example for example in material.examples}
    of_system: dict[str, Part] = {}
    for row in labels.read(paths, pair, material.examples):
        example = examples[row.example_id]
        shows = shown_gender(row, example)
        if shows in _GENDERS:
            part = of_system.setdefault(row.system, Part(labels.dataset, row.system, [], [], []))
            part.references.extend(_METRIC.references([example]))
            part.translations.append(row.translation)
            part.shows.append(shows)
    yield from of_system.values()


def rows(pair: str, every: Sequence[Part]) -> Iterator[str]:
    """Yield the rows of a language pair, whose translations are aligned together."""
    src_lang, _, tgt_lang = pair.partition("-")
    sources = [reference["source"] for part in every for reference in part.references]
    texts = [text for part in every for text in part.translations]
    links = iter(find_aligner("fast_align").align(sources, texts))
    for part in every:
        lines = [
            " ".join(f"{i}-{j}" for i, j in links_of_row)
            for links_of_row in islice(links, len(part.translations))
        ]
        translations, checked = _METRIC.check_input(part.translations, part.references)
        ids = [str(number) for number in range(len(translations))]
        figures = replace(_METRIC, alignments=lines).measure(
            Rows(translations, checked, ids, src_lang, tgt_lang), Bootstrap()
        )
        read = [r.reading for r in figures.readings] or [j.predicted for j in figures.judgements]
        for gender, name in _GENDERS.items():
            of_gender = [r for r, g in zip(read, part.shows, strict=True) if g == gender]
            n_read = sum(r in _GENDERS.values() for r in of_gender)
            n_right = of_gender.count(name)
            if of_gender:
                right = with_interval(n_right / n_read, wilson_interval(n_right, n_read))
                cells = (pair, part.labels, part.system, gender, count(len(of_gender)))
                yield f"| {' | '.join((*cells, percent(n_read / len(of_gender)), right))} |"


def table(upstream: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| pair | labels | translated by | gender | translations | read, % | right of these, % |"
    yield "|---|---|---|---|---|---|---|"
    sets: list[LabelSet] = [registry.resolve("label set", name) for name in _SETS]
    for pair in sorted({pair for labels in sets for pair in labels.configs}):
        if pair.partition("-")[2] in RULES:
            at_hand = [labels for labels in sets if _is_at_hand(labels, pair, upstream)]
            yield from rows(pair, [p for labels in at_hand for p in parts(labels, pair, upstream)])


def _is_at_hand(labels: LabelSet, pair: str, upstream: Path) -> bool:
    if pair not in labels.configs:
        return False
    files = (
        *labels.files.get(pair, ()),
        *declaration(labels.dataset).files_of(labels.configs[pair]),
    )
    return all((upstream / file.repository / file.path).exists() for file in files)


def differing(upstream: Path) -> Iterator[str]:
    """Yield the lines of the table of words in which a feminine and a masculine version differ."""
    yield "| pair | read by | versions | show one gender, % | right of these, % |"
    yield "|---|---|---|---|---|"
    labels: LabelSet = registry.resolve("label set", "gender_alternatives")
    for pair in sorted(labels.configs):
        lang = pair.partition("-")[2]
        if RULES.get(lang, ("",))[0] != "context" or not _is_at_hand(labels, pair, upstream):
            continue
        examples = load_examples(labels.dataset, labels.configs[pair], data_dir=upstream)
        texts = {gender: [e.extra[gender] for e in examples] for gender in (MASCULINE, FEMININE)}
        for reader in (open_reader(name, lang) for name in ("apertium", "spacy")):
            words = {gender: reader.analyse(of_gender) for gender, of_gender in texts.items()}
            shown = [
                (gender, genders)
                for man, woman in zip(*words.values(), strict=True)
                for gender, genders in zip(words, _genders_of_differing(man, woman), strict=True)
            ]
            n_read = sum(len(genders) > 0 for _, genders in shown)
            n_right = sum(genders == {gender} for gender, genders in shown)
            right = with_interval(n_right / n_read, wilson_interval(n_right, n_read))
            cells = (pair, f"`{reader.signature_name}`", count(len(shown)))
            yield f"| {' | '.join((*cells, percent(n_read / len(shown)), right))} |"


def _genders_of_differing(
    man: Sequence[AnalysedWord], woman: Sequence[AnalysedWord]
) -> tuple[set[str], set[str]]:
    """Return the genders that the words show in which either version differs."""
    sides = [[word.text.lower() for word in words] for words in (man, woman)]
    blocks = difflib.SequenceMatcher(None, *sides, autojunk=False).get_opcodes()
    of_man, of_woman = (
        {
            gender
            for tag, *ends in blocks
            if tag != "equal"
            for word in words[ends[2 * side] : ends[2 * side + 1]]
            if (gender := word.shown_gender(*_KINDS))
        }
        for side, words in enumerate((man, woman))
    )
    return of_man, of_woman


def checks(upstream: Path) -> Iterator[str]:
    """Yield the lines of the table of pairs by people that pass the checks of alternatives."""
    yield "| pair | checked by | differ in few words | show both genders | pass when exchanged |"
    yield "|---|---|---|---|---|"
    labels: LabelSet = registry.resolve("label set", "gender_alternatives")
    for pair in sorted(pair for pair in labels.configs if _is_at_hand(labels, pair, upstream)):
        lang = pair.partition("-")[2]
        examples = load_examples(labels.dataset, labels.configs[pair], data_dir=upstream)
        exchanged = [
            replace(
                e, extra={**e.extra, MASCULINE: e.extra[FEMININE], FEMININE: e.extra[MASCULINE]}
            )
            for e in examples
        ]
        default = RULES[lang].reader
        for name in (default, *(("spacy",) if default == "apertium" else ())):
            people, others = (pairs_by_people(of, lang, name) for of in (examples, exchanged))
            passed = [
                sum(p.check is not None and p.check.minimal for p in people),
                sum(p.check is not None and p.check.shown for p in people),
                sum(p.check is not None and p.check.shown for p in others),
            ]
            cells = [f"{count(n)} of {count(len(people))}" for n in passed]
            cells = [pair, f"`{open_reader(name, lang).signature_name}`", *cells]
            yield f"| {' | '.join(cells)} |"


def judge_beside_words(upstream: Path, *, lang: str) -> Iterator[str]:
    """Yield the table of a judge beside the dictionary, on archived systems of WinoMT."""
    yield from (
        "| system | judge | dictionary | same verdict where both decide |",
        "|---|--:|--:|--:|",
    )
    material = load_material("winomt", tgt_lang=lang, data_dir=upstream)
    judge = _JUDGES / f"cc-tiny-en-{lang}"
    for system in ("aws", "google", "bing", "systran"):
        path = upstream / f"gabrielStanovsky/mt_gender/translations/{system}/en-{lang}.txt"
        ways: tuple[dict[str, Any], ...] = (
            {"metric": "contrastive_conditioning", "evaluator": judge, "loading": _EXACT},
            {"metric": "winomt_pattern_matching", "options": {"rule": "context"}},
        )
        results = [evaluate(material, translations=path, **way) for way in ways]
        verdicts = [{j.example_id: j.verdict for j in result.judgements} for result in results]
        both = [
            (verdict, verdicts[1][name])
            for name, verdict in verdicts[0].items()
            if {verdict, verdicts[1][name]} <= {"correct", "incorrect"}
        ]
        figures = [result["accuracy"] for result in results]
        figures.append(sum(by_judge == by_words for by_judge, by_words in both) / len(both))
        yield f"| {system} | {' | '.join(f'{100 * figure:.1f}' for figure in figures)} |"


def main(shared: Path) -> None:
    """Write the tables."""
    lines: dict[str, Callable[[Path], Iterator[str]]]
    lines = {"readers": table, "differing-words": differing, "checks": checks}
    lines |= {f"winomt {lang}": partial(judge_beside_words, lang=lang) for lang in _JUDGED}
    for card, names in _BLOCKS.items():
        path = _CARDS / f"{card}.md"
        text = path.read_text(encoding="utf-8")
        for name in names:
            text = with_block(text, name, "\n".join(lines[name](shared / "upstream")))
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    typer.run(main)
