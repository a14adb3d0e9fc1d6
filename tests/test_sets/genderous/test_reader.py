"""GENDEROUS: its sentences, and how the embedded judge reads translations that people labelled."""

import importlib
from collections import Counter
from pathlib import Path

import pytest

import cc_hf
from cc_hf.cues.wordings import named_wording, reworded
from cc_hf.data.download import fetch
from cc_hf.data.labelled import LabelledTranslation
from cc_hf.errors import FileError
from cc_hf.schema import NEITHER, ContrastiveSourceExample
from cc_hf.test_sets.genderous import reader
from cc_hf.test_sets.genderous.labels import LABELS
from tests.helpers.usual import cases, fails, write_lines

_ROOT = Path(__file__).parents[3]


def _examples(data_dir: Path) -> list[ContrastiveSourceExample]:
    return cc_hf.load_examples("genderous", data_dir=data_dir)


def test_sentences_are_those_of_the_authors(shared: Path) -> None:
    examples = _examples(shared / "upstream")
    parts = Counter((e.extra["part"], e.category) for e in examples)
    n_of = {"base": 10, "their": 10, "adjective": 150}
    stereotypes = ("feminine", "masculine", "neutral")
    assert parts == {(part, name): n for part, n in n_of.items() for name in stereotypes}
    worker = next(e for e in examples if e.source.startswith("The shy construction worker"))
    assert worker.correct_sources == ("The shy [female] construction worker finished the work.",)
    assert worker.incorrect_sources == ("The shy [male] construction worker finished the work.",)
    assert (worker.extra["adjective"], worker.extra["adjective_class"]) == ("shy", "feminine")


@cases(
    "nurse\tfemale_base\tThe nurse slept.",
    "nurse\tother_base\tThe nurse finished the work.",
    "nurse\tneutral_base\tThe shy nurse finished the work.",
)
def test_other_sentences_are_refused(row: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "base.tsv", ["base\ttype\tsource_sentences", row])
    paths = dict.fromkeys((file.path for file in reader.DECLARATION.files), path)
    message = "base.tsv: line 2: expected a sentence of GENDEROUS"
    fails(FileError, message, list, reader.read_genderous(paths, "default", "test"))


def test_the_page_on_language_models_has_the_labels_of_the_authors(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(_ROOT / "docs"))
    script = importlib.import_module("language_model_judge_figures")
    page = (_ROOT / "docs/measurements.md").read_text("utf-8")
    for lang, n_agree, n in (
        ("de", 447, 453),
        ("el", 484, 487),
        ("es", 473, 473),
        ("nl", 121, 126),
    ):
        rows = script.labelled(shared, lang)
        assert (sum(row.person == row.model for row in rows), len(rows)) == (n_agree, n)
        assert f"| GPT-4o | {n_agree} of {n}: " in page
    assert "| `cc-tiny-en-de` | 409 of 453: " in page


def _labelled(shared: Path) -> list[tuple[ContrastiveSourceExample, LabelledTranslation]]:
    """Return the German translations that people say are masculine or feminine."""
    examples = {example.id: example for example in _examples(shared / "upstream")}
    paths = {file.path: fetch(file, shared / "upstream") for file in LABELS.files["en-de"]}
    return [
        (examples[row.example_id], row)
        for row in LABELS.read(paths, "en-de", [*examples.values()])
        if row.shows != NEITHER
    ]


@cases(
    ("DeepL", "gender_brackets", 409, 453, (96, 109)),
    ("DeepL", "gender_brackets_phrase", 452, 453, (109, 109)),
    ("GPT-4o", "gender_brackets", 449, 481, (64, 68)),
    ("GPT-4o", "gender_brackets_phrase", 481, 481, (68, 68)),
)
def test_the_embedded_judge_reads_translations_as_people_do(
    system: str, cues: str, n_agree: int, n: int, n_women: tuple[int, int], shared: Path
) -> None:
    """Agreement where people say masculine or feminine, with the cue before the noun and before its
    adjectives, as measured when the set was chosen.
    """
    wording = named_wording(cues, "en")
    labelled = [
        (reworded(example, wording), row.translation, row.shows == "female")
        for example, row in _labelled(shared)
        if row.system == system
    ]
    judge = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    sides = [
        judge.mean_logprobs(
            [getattr(example, side)[0] for example, _, _ in labelled],
            [text for _, text, _ in labelled],
            src_lang="en",
            tgt_lang="de",
        )
        for side in ("correct_sources", "incorrect_sources")
    ]
    read = [female > male for female, male in zip(*sides, strict=True)]
    agree = [is_female == label for is_female, (_, _, label) in zip(read, labelled, strict=True)]
    of_women = [ok for ok, (_, _, label) in zip(agree, labelled, strict=True) if label]
    assert (sum(agree), len(agree)) == (n_agree, n)
    assert (sum(of_women), len(of_women)) == n_women
