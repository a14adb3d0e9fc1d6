"""Count the evidence that ships with the package: `python -m tools.evidence --data-dir DIR`.

Each judge that can be had without a download is checked on all label sets of its languages, by
exact scores, so that the counts are the same on every machine. The verdicts of the ensemble of
Vamvas & Sennrich 2021 are those that their notebooks recorded.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cc_hf
from cc_hf.evidence import Evidence, write_evidence

__all__ = ["main"]

_FILE = Path(cc_hf.__file__).parent / "assets" / "evidence.jsonl"
_OPTIONS = cc_hf.LoadingOptions(mode="exact", cache=True)
#: Judge -> the language pairs that it is checked in.
_JUDGES = {
    "cc-tiny-en-de": ("en-de",),
}
_ENSEMBLE = "the WMT19 ensemble that the model is a member of (Vamvas & Sennrich 2021)"


def _recorded() -> list[Evidence]:
    """Return the verdicts that the notebooks of ZurichNLP/contrastive-conditioning at b2f1b31
    stored: 200 translations of WinoMT by language pair, labelled by two people, whose labels are
    pooled. What both call neutral has the label of the right gender. Half of the labels are counted,
    since a translation is no second sample.
    """
    confusions = {  # rows: men, women by the labels; columns by the verdicts
        "en-de": ((311, 10), (19, 60)),
        "en-ru": ((289, 32), (87, 28)),
    }
    kappas = {"en-de": 0.9525335231992406, "en-ru": 0.13}
    systems = {"en-de": "aws", "en-ru": "google"}
    rows = []
    for pair, ((men, men_missed), (women_missed, women)) in confusions.items():
        signed = (
            f"cc|data:winomt/emnlp2021@b2f1b31|cues:gender_brackets|langs:{pair}"
            f"|eval:facebook/wmt19-{pair}|score:geometric|pool:max|tie:correct"
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
                people_kappa=kappas[pair],
                of=_ENSEMBLE,
            )  # fmt: skip
        )
    return rows


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="a local copy of upstream repositories")
    arguments = parser.parse_args()
    for judge, pairs in _JUDGES.items():
        for pair in pairs:
            checked = cc_hf.check_judge(
                judge,
                language_pair=pair,
                loading=_OPTIONS,
                data_dir=arguments.data_dir,
                judges_all=True,
                save=False,
                progress=True,
            )
            if checked.not_run:
                raise SystemExit("; ".join(checked.not_run.values()))
            write_evidence(_FILE, checked.evidence)
    write_evidence(_FILE, _recorded())


if __name__ == "__main__":
    main()
