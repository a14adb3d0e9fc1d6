"""Compute the README's finding, and the figures of the embedded evaluator beside it, and write them
into README.md and docs/measurements.md: python docs/readme_figures.py SHARED

Scores are exact, so that every machine gives the same figures. SHARED holds upstream/ (datasets and
archived translations) and gold/human_validation (annotations).
"""

from __future__ import annotations

import sys
from pathlib import Path

import typer

import cc_hf
from cc_hf.comparing.people.agreement import agreement_with_labels, read_annotations
from cc_hf.fit_to_cite import GENDERS
from cc_hf.hub.cards import with_block
from cc_hf.metrics.headline import headline
from cc_hf.reports.findings import most_split
from cc_hf.reports.highlights import attributes
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem

_ROOT = Path(__file__).parent.parent
#: The archived systems of the finding, and of the picture.
FINDING = ("bing", "google", "systran")


def percent(result: cc_hf.EvaluationResult, name: str, *, interval: bool = False) -> str:
    """Return a score in percent, with its interval if requested."""
    text = f"{100 * result.scores[name]:.1f}"
    if interval and (limits := result.intervals.get(name)):
        text += f" ({100 * limits.low:.1f} – {100 * limits.high:.1f})"
    return text


def judged_by_words(shared: Path, system: str) -> cc_hf.EvaluationResult:
    """Return the verdicts of WinoMT's own metric on an archived system, en-de."""
    path = shared / f"upstream/gabrielStanovsky/mt_gender/translations/{system}/en-de.txt"
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
    return cc_hf.evaluate(material, translations=path, metric="winomt_pattern_matching")


def finding(shared: Path) -> str:
    """Return the block of the README: men and women of three systems, and the occupation in which
    the last of them differs most between both.
    """
    results = {name: judged_by_words(shared, name) for name in FINDING}
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
    systems = [ReportedSystem(name, {r.metric: r}) for name, r in results.items()]
    report = build_report(systems, examples=material.examples)
    split_table = most_split(report, attributes(report))
    if split_table is None:
        raise SystemExit("no occupation has enough samples of women and of men")
    by_system = split_table.by_system
    occupation = by_system[len(systems) - 1][0].value
    lines = [
        f"| system | women right | men right | {occupation}s: women, men |",
        "|---|--:|--:|--:|",
    ]
    for index, (name, result) in enumerate(results.items()):
        (split,) = (split for split in by_system[index] if split.value == occupation)
        of_split = {group.name: f"{group.n_correct}/{group.n}" for group in split.spread.groups}
        cells = [percent(result, f"accuracy_{gender}", interval=True) for gender in GENDERS]
        cells.append(", ".join(of_split[gender] for gender in GENDERS))
        lines.append(f"| {name.capitalize()} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"`{result.signature}`"])


def table(shared: Path, systems: tuple[str, ...] = ("aws", "bing", "google", "systran")) -> str:
    """Return the block of docs/measurements.md."""
    lines = [
        (
            "WinoMT en-de, translations of 2019 archived by mt_gender (accuracy in percent). On the"
            " left by `winomt_pattern_matching`, which reads words; on the right by contrastive"
            " conditioning with cc-tiny-en-de (`mode=exact`), whose level on such sentences is"
            " [ranks only](evaluators.md#how-far-each-can-be-trusted): cite the figures on the"
            " left, and compare by either."
        ),
        "",
        "| system | female | male | minimum | cc-tiny-en-de: female | male | minimum | weighted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    agreement = ""
    exact = cc_hf.LoadingOptions(mode="exact")
    names = ("accuracy_female", "accuracy_male", "min_accuracy", "weighted_accuracy")
    for system in systems:
        path = shared / f"upstream/gabrielStanovsky/mt_gender/translations/{system}/en-de.txt"
        material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
        words = judged_by_words(shared, system)
        result = cc_hf.evaluate(material, translations=path, loading=exact, progress=True)
        cells = [percent(words, name, interval=name == names[0]) for name in names[:3]]
        cells += [percent(result, name) for name in names]
        lines.append(f"| {system} | {' | '.join(cells)} |")
        if system == "aws":
            defined = cc_hf.evaluate(
                material, translations=path, options={"score": "arithmetic"}, loading=exact
            )
            agreement = f"{agreement_line(result, defined, shared)}\n\n`{result.signature}`"
    result = cc_hf.evaluate(
        cc_hf.load_material("simplegen", "en-de"),
        system="cc-tiny-en-de",
        loading=exact,
        progress=True,
    )
    return "\n".join([*lines, "", agreement, "", *demo_lines(result)])


def agreement_line(
    result: cc_hf.EvaluationResult, defined: cc_hf.EvaluationResult, shared: Path
) -> str:
    """Return the agreement with people, of the result and of the score that the paper defines."""
    path = shared / "gold/human_validation/winomt_annotations.en-de.jsonl"
    rows = [agreement_with_labels(judged, read_annotations(path)) for judged in (result, defined)]
    (agreement, weighted), (of_defined, weighted_of_defined) = (
        (100 * row.agreement, 100 * row.weighted_agreement) for row in rows
    )
    return (
        "Agreement with the human annotators of Vamvas & Sennrich 2021 on WinoMT en-de"
        f" ({rows[0].n_labels} labels): {agreement:.2f} % unweighted, {weighted:.2f} % weighted; by"
        " the score that their paper defines, the mean token probability (`--option"
        f" score=arithmetic`), {of_defined:.2f} and {weighted_of_defined:.2f} (their ensemble of"
        " large models: 92.75 and 97.6)."
    )


def demo_lines(result: cc_hf.EvaluationResult) -> list[str]:
    """Return the lines on the result of `make demo`, in which a model judges itself."""
    # The total is not cited, and stands last.
    names = (*headline(result).beside, "accuracy")
    heads = [name.removeprefix("accuracy_").replace("accuracy", "total") for name in names]
    return [
        (
            "SimpleGEN en-de, translated and judged by cc-tiny-en-de (`make demo`; accuracy in"
            f" percent, `mode=exact`). Not fit to cite: {result.unfit['itself']}."
        ),
        "",
        f"| minimum | {' | '.join(heads)} |",
        "|---|---|---|---|---|---|",
        (
            f"| {percent(result, 'min_accuracy', interval=True)} |"
            f" {' | '.join(percent(result, name) for name in names)} |"
        ),
        "",
        f"`{result.signature}`",
    ]


if __name__ == "__main__":
    shared = Path(sys.argv[1])
    for page, name, write in (
        ("README.md", "finding", finding),
        ("docs/measurements.md", "figures", table),
    ):
        path = _ROOT / page
        text = with_block(path.read_text(encoding="utf-8"), name, write(shared))
        path.write_text(text, encoding="utf-8", newline="\n")
        typer.echo(f"{page} written")
