"""Studies of Wino-X for the terminal, and the learning curve as a plot (thesis, chapter 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cc_hf.comparing.published import read_published
from cc_hf.errors import InputError
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.formats.plots import empty_figure, literal_text, saved_figure
from cc_hf.reports.numbers import count, decimal, in_points, percent, signed
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf_studies.wino_x.human_study import SolverFigures
from cc_hf_studies.wino_x.lengths import Length
from cc_hf_studies.wino_x.pronoun_counts import CorpusPronouns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "corpus_pronouns_tables",
    "curve_plot",
    "curve_tables",
    "human_study_tables",
    "lengths_table",
]

_GENDERS = ("male", "female", "neutral")
_RED, _BLUE = "#b3261e", "#1f6fc4"
_N_COLUMNS = 3


def lengths_table(lengths: Mapping[str, Sequence[Length]]) -> list[Piece]:
    """Return a table of lengths beside those of the thesis, where it has them."""
    table: list[tuple[str, ...]] = []
    rows = read_published(Path(__file__).parent)["Table 4.4"].rows
    for config, members in lengths.items():
        pair = config.partition(".")[0][3:].replace("_", "-")
        text = "en " if config.endswith(".english") else "x " if config.startswith("lm") else ""
        for length in members:
            table.append(
                (
                    f"{config} {length.what}",
                    length.lang,
                    count(length.n),
                    f"{length.mean:.2f}",
                    f"{length.deviation:.2f}",
                    rows.get(pair, {}).get(f"{text}{length.what}", ""),
                )
            )
    note = "tokens of Moses; a gap is one token; sd of all texts (divided by n)"
    return [
        ReportTable.of(
            "lengths of Wino-X", ("", "lang", "n", "mean", "sd", "Table 4.4"), table, note
        )
    ]


def human_study_tables(figures: SolverFigures) -> list[Piece]:
    """Return accuracy and agreement of two people beside those of the thesis, where it has them."""
    table: list[tuple[str, ...]] = [
        (
            f"rater {number}",
            with_interval(rater.accuracy, rater.interval),
            *map(count, (rater.n_wrong, rater.n_both, rater.n_bad)),
        )
        for number, rater in enumerate(figures.raters, 1)
    ]
    table.append(("mean", with_interval(figures.accuracy, figures.interval), "", "", ""))
    in_thesis = read_published(Path(__file__).parent)["section 4.2.2"]
    pair = f"en-{figures.tgt_lang}"
    is_printed = pair in in_thesis.rows["accuracy"]
    if is_printed:
        accuracy = percent(in_thesis.value("accuracy", pair))
        table.append((f"thesis, {pair}", accuracy, "", "", ""))
    kappa = f"kappa over the four answers: {decimal(figures.kappa, figures.kappa_interval)}"
    parts: list[Piece] = [
        ReportTable.of(
            f"two raters on {figures.n:,} samples of MT-Wino-X",
            ("", "accuracy % (95 %)", "wrong", "both", "bad sample"),
            table,
        ),
        kappa + (f"; thesis: {in_thesis.rows['kappa'][pair]}" if is_printed else ""),
    ]
    if figures.choice_accuracy is not None:
        parts.append(f"right among the answers 1 and 2: {percent(figures.choice_accuracy)} %")
    return [*parts, Line('"both" and "bad sample" count as wrong', "about")]


def corpus_pronouns_tables(pronouns: CorpusPronouns, *, title: str) -> list[Piece]:
    """Return tables of the pronouns of a corpus."""
    table: list[tuple[str, ...]] = [
        (name, *_with_shares(counts))
        for name, counts in (
            ('translations of "it"', pronouns.translations),
            ("all occurrences", pronouns.occurrences),
        )
    ]
    others = (
        f'"it": {pronouns.n_it:,}; translated by no such pronoun {pronouns.n_other:,}, by pronouns'
        f" of several genders {pronouns.n_several:,}, not linked {pronouns.n_unlinked:,}"
    )
    parts: list[Piece] = [ReportTable.of(title, ("", *pronouns.occurrences), table), others]
    if pronouns.n_damaged:
        parts.append(f"ignored: {pronouns.n_damaged:,} damaged or empty pairs")
    if pronouns.tgt_lang == "de":
        parts.append(Line('"sie" is also a plural and an object', "about"))
    return [*parts, f"signature: {pronouns.signature}"]


def _with_shares(counts: Mapping[str, int]) -> list[str]:
    n = sum(counts.values())
    return [f"{count(k)} ({percent(k / n)} %)" if n else "0" for k in counts.values()]


def curve_tables(curve: Mapping[str, Any]) -> list[Piece]:
    """Return accuracies, learning rates and other measures of a learning curve, in 80 columns."""
    table: list[tuple[str, ...]] = []
    for point in curve["points"]:
        epochs = f"{point['n_epochs']} ({point['best_epoch']})" if "n_epochs" in point else ""
        for name, row in point["accuracies"].items():
            table.append(
                (
                    name,
                    count(point.get("n_train", 0)),
                    epochs,
                    count(row["n"]),
                    percent(row["accuracy"]),
                    "" if row["pair_accuracy"] is None else percent(row["pair_accuracy"]),
                    count(row["n_ties"]),
                )
            )
    title = f"{curve['eval']} on {curve['data']}, {curve['objective']}"
    parts: list[Piece] = [
        ReportTable.of(
            title,
            ("test", "trained on", "epochs (best)", "n", "accuracy %", "of pairs %", "ties"),
            table,
        )
    ]
    if excluded := curve["splits"].get("winogrande"):
        parts.append(
            f"trained on {curve['splits']['train_on']}: {excluded['n']:,} sentences without"
            f" {excluded['n_test']:,} of the test and {excluded['n_dev']:,} of the development"
            f" part and {excluded['n_twins']:,} of their twins"
        )
    parts += _rates_table(curve)
    parts += _quality_tables(curve["points"])
    parts += _importance_table(curve["points"])
    return parts


def _rates_table(curve: Mapping[str, Any]) -> list[Piece]:
    trials = curve.get("learning_rates", ())
    if not trials:
        return []
    table: list[tuple[str, ...]] = []
    for trial in trials:
        is_failed = trial["dev_loss"] is None
        table.append(
            (
                f"{trial['learning_rate']:g}",
                "" if is_failed else f"{trial['n_epochs']} ({trial['best_epoch']})",
                "no number" if is_failed else f"{trial['dev_loss']:.4f}",
                "chosen" if trial["learning_rate"] == curve["settings"]["learning_rate"] else "",
            )
        )
    return [
        ReportTable.of(
            "search for the learning rate, with the largest training part",
            ("learning rate", "epochs (best)", "loss on dev", ""),
            table,
        )
    ]


def _quality_tables(points: Sequence[Mapping[str, Any]]) -> list[Piece]:
    measured = [point for point in points if "quality" in point]
    if not measured:
        return []
    first = measured[0]["quality"]
    table: list[tuple[str, ...]] = []
    if "pronouns" in first:
        table.append(("reference", "", *_numbers(first["reference_pronouns"])))
    for point in measured:
        row = point["quality"]
        table.append(
            (
                count(point.get("n_train", 0)),
                percent(row["bleu"]),
                *(_numbers(row["pronouns"]) if "pronouns" in row else ()),
            )
        )
    title = f"BLEU and pronouns of {first['n']:,} translations, beams: {first['num_beams']}"
    return [
        ReportTable.of(
            title,
            ("trained on", "BLEU", *(_GENDERS if "pronouns" in first else ())),
            table,
            first["signature"],
        )
    ]


def _numbers(counts: Mapping[str, int]) -> list[str]:
    return [count(counts[gender]) if gender in counts else "" for gender in _GENDERS]


def _importance_table(points: Sequence[Mapping[str, Any]]) -> list[Piece]:
    measured = [point for point in points if "trigger_importance" in point]
    if not measured:
        return []
    table: list[tuple[str, ...]] = []
    for point in measured:
        row = point["trigger_importance"]
        table.append(
            (
                count(point.get("n_train", 0)),
                count(row["n_sentences"]),
                signed(row["triggers"]["effect"]),
                f"{row['triggers']['welch']['p_value']:.3g}",
            )
        )
    return [
        ReportTable.of(
            "importance of triggers on the test part",
            ("trained on", "sentences", "D of triggers", "p (Welch)"),
            table,
        )
    ]


def curve_plot(curves: Mapping[str, Mapping[str, Any]], *, file_format: str = "svg") -> bytes:
    """Return a picture of accuracy, and of BLEU where it was measured, over the size of the
    training part, with a panel per curve and test part (thesis, Figures 4.3 and 4.4).
    """
    panels = [
        (f"{title}\n{name}" if title else name, curve, name)
        for title, curve in curves.items()
        for name in (curve["points"][0]["accuracies"] if curve.get("points") else ())
    ]
    if not panels or not all(curve.get("points") for curve in curves.values()):
        raise InputError(
            "expected learning curves with points, as `cc-hf study wino_x train` writes them"
        )
    n_columns = min(_N_COLUMNS, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure, axes = empty_figure(
        len(panels), width=3.6 * n_columns, height=2.7 * n_rows, n_columns=n_columns
    )
    for axis, (title, curve, name) in zip(axes, panels, strict=True):
        sizes = [point.get("n_train", 0) for point in curve["points"]]
        accuracies = [in_points(point["accuracies"][name]["accuracy"]) for point in curve["points"]]
        _line(axis, sizes, accuracies, _RED, "accuracy (%)")
        axis.set_title(
            "\n".join(literal_text(line) for line in title.split("\n")), loc="left", fontsize=8
        )
        axis.set_xlabel("training samples", fontsize=8)
        bleu = list(_bleu(curve["points"]))
        if bleu:
            other = axis.twinx()
            other.spines[["top", "left"]].set_visible(False)
            _line(other, [size for size, _ in bleu], [score for _, score in bleu], _BLUE, "BLEU")
    return saved_figure(figure, file_format)


def _bleu(points: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, float]]:
    for point in points:
        if "quality" in point:
            yield point.get("n_train", 0), in_points(point["quality"]["bleu"])


def _line(
    axis: Axes, sizes: Sequence[int], values: Sequence[float], colour: str, name: str
) -> None:
    axis.plot(
        sizes,
        values,
        color=colour,
        marker="o" if colour == _RED else "s",
        markersize=4,
        linewidth=1.5,
    )
    axis.set_ylabel(name, color=colour, fontsize=8)
    axis.tick_params(labelsize=8)
    axis.tick_params(axis="y", labelcolor=colour)
