import re
from pathlib import Path
from typing import Any

import pytest

from cc_hf.studies.disambiguation_bias.attacks.samples import write_rows
from cc_hf.systems.translate import Translations
from tests.helpers.lines import write_jsonl, write_lines
from tests.helpers.models import save_tiny_marian
from tests.helpers.usual import cases, cells_beside, printed_by, read_json, refuses
from tests.helpers.wino_x_schemas import ROW, TWIN, lay_out
from tests.studies.disambiguation_bias.attacks.helper import sample_of

LEXICON = {"spring": {"season": ["Frühling"], "water": ["Quelle"]}}


COMMAND = "study disambiguation_bias compare-models"


def fake_translate(sources: list[str], system: str | Path, **_options: Any) -> list[str]:
    """Translate "spring"; the model "base" takes it for water after "hot" and "cold", the other
    model after "hot" only.
    """
    wrong = ("hot", "cold") if Path(system).name == "base" else ("hot",)
    senses = ["Quelle" if any(word in text for word in wrong) else "Frühling" for text in sources]
    return [re.sub(r"\bspring\b", sense, text) for text, sense in zip(sources, senses, strict=True)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write data of every kind; translations are made without a model."""
    monkeypatch.setattr("cc_hf.systems.translate.translate", fake_translate)

    def rows(model: Any, sources: list[str], **_: Any) -> Translations:
        return Translations(fake_translate(sources, model.name), [])

    monkeypatch.setattr("cc_hf.systems.translate.translate_rows", rows)
    write_lines(tmp_path / "source.en", ["a cold spring came", "a spring came"] * 10)
    write_lines(tmp_path / "target.de", ["a cold Frühling came", "a Frühling came"] * 10)
    sense = {"focus": "spring", "cluster": "season", "senses": LEXICON["spring"], "tgt_lang": "de"}
    words = ("hot", "cold", "old")
    sources = [f"The {word} spring came {number} ." for number in range(5) for word in words]
    write_jsonl(tmp_path / "sets.jsonl", [{"source": source, **sense} for source in sources])
    write_rows(tmp_path / "samples.jsonl", map(sample_of, words))
    write_jsonl(tmp_path / "lexicon.json", [LEXICON])
    lay_out(tmp_path, "mt", [ROW, TWIN])
    for name, seed in (("base", 0), ("lexical", 1)):
        save_tiny_marian(tmp_path / name, seed=seed)
    return tmp_path


def test_all_four_figures_are_compared(folder: Path) -> None:
    printed = printed_by(
        f"{COMMAND} {folder}/base {folder}/lexical"
        f" --source {folder}/source.en --reference {folder}/target.de"
        f" --challenge {folder}/sets.jsonl --attacks {folder}/samples.jsonl"
        f" --lexicon {folder}/lexicon.json --wino-x mt_en_de.translations"
        f" --data-dir {folder} --search anywhere --lemmatizer none --resamples 50"
        f" --output {folder}/compared.json"
    )
    row = read_json(folder / "compared.json")
    assert row["models"] == ["base", "lexical"]
    figures = {figure["figure"]: figure for figure in row["figures"]}
    assert list(figures) == ["bleu", "wsd_errors", "attack_success", "wino_x_accuracy"]
    bleu = figures["bleu"]["difference"]
    assert (bleu["second"], bleu["difference"] > 0.1) == (1, True)
    for name in ("wsd_errors", "attack_success"):
        difference = figures[name]["difference"]
        assert (difference["first"], difference["second"]) == pytest.approx((2 / 3, 1 / 3))
    assert figures["wsd_errors"]["mcnemar"]["n_only_first"] == 5
    assert (figures["attack_success"]["n"], figures["wino_x_accuracy"]["n"]) == ([3, 3], [2, 2])
    assert all(len(set(figure["signatures"])) == 2 for figure in row["figures"][1:])
    assert "base (first) and lexical (second)" in printed
    assert "errors on homographs, %" in printed
    beside = cells_beside("lexical_shortcuts", folder / "compared.json")
    expected = {"BLEU": 1, "errors": 1 / 3, "attacks": 1 / 3}
    assert beside["Table 5.6, OS18"] == pytest.approx(expected)


@cases(
    ("a", "models: expected two, got 1"),
    ("a b", "expected something to compare on"),
    ("a/x b/x --wino-x c", "name: expected two names, as both .* called x"),
    ("a b --name c --wino-x c", "name: expected two, got 1"),
    ("a b --source c", "source, reference: expected both files for BLEU"),
)
def test_options_that_do_not_fit_are_refused(options: str, message: str) -> None:
    refuses(message, printed_by, f"{COMMAND} {options}")


def test_files_of_different_lengths_are_refused(folder: Path) -> None:
    short = write_lines(folder / "short.de", ["one"])
    command = f"{COMMAND} {folder}/base {folder}/lexical --source {folder}/source.en"
    message = "expected as many lines in both, got 20 and 1"
    refuses(message, printed_by, f"{command} --reference {short}")
