"""The placement of cues before adjectives, on labels of people."""

from pathlib import Path

import cc_hf
from cc_hf import registry
from cc_hf.cues.wordings import named_wording
from cc_hf.data.download import fetch
from cc_hf.data.labelled import LabelSet
from cc_hf.plugins.calibration.calibration import calibrate
from cc_hf.plugins.calibration.development import DevelopmentRow, DevelopmentSet
from cc_hf.schema import NEITHER


def test_the_phrase_is_chosen_on_half_of_the_sentences_and_confirmed_on_the_others(
    shared: Path,
) -> None:
    labels: LabelSet = registry.resolve("label set", "genderous")
    examples = {e.id: e for e in cc_hf.load_examples("genderous", data_dir=shared / "upstream")}
    paths = {file.path: fetch(file, shared / "upstream") for file in labels.files["en-de"]}
    rows = [
        DevelopmentRow(example.source, example.focus, row.translation, row.shows)
        for row in labels.read(paths, "en-de", [*examples.values()])
        if row.shows != NEITHER and (example := examples[row.example_id])
    ]
    names = ("gender_brackets", "gender_brackets_phrase")
    calibration = calibrate(
        DevelopmentSet((*rows,), "en", "de", "genderous"),
        evaluator="cc-tiny-en-de",
        wordings=[named_wording(name, "en") for name in names],
        loading=cc_hf.LoadingOptions(mode="exact"),
    ).calibration
    assert calibration.chosen == "gender_brackets_phrase"
    before, phrase = calibration.wordings
    # Right on the half that chose, and on the other one.
    n_right = [
        [round(half.accuracy * half.n) for half in (w.choice, w.report)] for w in (before, phrase)
    ]
    assert (phrase.choice.n, phrase.report.n) == (464, 470)
    assert n_right == [[424, 434], [463, 470]]
