from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import InputError
from cc_hf.studies.disambiguation_bias.attacks.samples import write_rows
from cc_hf.systems.translate import Translations
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.models import save_tiny_marian
from tests.helpers.samples import declare_wino_x
from tests.helpers.wino_x_schemas import ROW, TWIN
from tests.studies.disambiguation_bias.attacks.helper import sample_of

LEXICON = {"spring": {"season": ["Frühling"], "water": ["Quelle"]}}


def fake_translate(sources: list[str], system: str | Path, **_options: Any) -> list[str]:
    """Translate "spring"; the model "base" takes it for water after "hot" and "cold", the other
    model after "hot" only.
    """
    wrong = ("hot", "cold") if Path(system).name == "base" else ("hot",)
    return [
        " ".join(
            ("Quelle" if any(w in text for w in wrong) else "Frühling")
            if word == "spring"
            else word
            for word in text.split()
        )
        for text in sources
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write data of every kind; translations are made without a model."""
    monkeypatch.setattr("cc_hf.systems.translate.translate", fake_translate)
    monkeypatch.setattr(
        "cc_hf.systems.translate.translate_rows",
        lambda model, sources, **_: Translations(fake_translate(sources, model.name), []),
    )
    (tmp_path / "source.en").write_text("a cold spring came\na spring came\n" * 10)
    (tmp_path / "target.de").write_text("a cold Frühling came\na Frühling came\n" * 10)
    rows = [
        {
            "source": f"The {word} spring came {number} .",
            "focus": "spring",
            "cluster": "season",
            "senses": LEXICON["spring"],
            "tgt_lang": "de",
        }
        for number in range(5)
        for word in ("hot", "cold", "old")
    ]
    (tmp_path / "sets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_rows(tmp_path / "samples.jsonl", [sample_of(word) for word in ("hot", "cold", "old")])
    (tmp_path / "lexicon.json").write_text(json.dumps(LEXICON))
    wino_x = tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl"
    wino_x.parent.mkdir(parents=True)
    wino_x.write_text("".join(json.dumps(row) + "\n" for row in (ROW, TWIN)), encoding="utf-8")
    declare_wino_x(tmp_path)
    for name, seed in (("base", 0), ("lexical", 1)):
        (tmp_path / name).mkdir()
        save_tiny_marian(tmp_path / name, seed=seed)
    return tmp_path


def test_all_four_figures_are_compared(folder: Path) -> None:
    printed = printed_by(
        f"study disambiguation_bias compare-models {folder}/base {folder}/lexical"
        f" --source {folder}/source.en --reference {folder}/target.de"
        f" --challenge {folder}/sets.jsonl --attacks {folder}/samples.jsonl"
        f" --lexicon {folder}/lexicon.json --wino-x mt_en_de.translations"
        f" --data-dir {folder} --search anywhere --lemmatizer none --resamples 50"
        f" --output {folder}/compared.json --published"
    )
    row = read_json(folder / "compared.json")
    assert row["models"] == ["base", "lexical"]
    figures = {figure["figure"]: figure for figure in row["figures"]}
    assert list(figures) == ["bleu", "wsd_errors", "attack_success", "wino_x_accuracy"]
    assert figures["bleu"]["difference"]["second"] == 1
    assert figures["bleu"]["difference"]["difference"] > 0.1
    errors = figures["wsd_errors"]
    assert errors["difference"]["first"] == pytest.approx(2 / 3)
    assert errors["difference"]["second"] == pytest.approx(1 / 3)
    assert errors["mcnemar"]["n_only_first"] == 5
    attacks = figures["attack_success"]
    assert attacks["n"] == [3, 3]
    assert attacks["difference"]["first"] == pytest.approx(2 / 3)
    assert attacks["difference"]["second"] == pytest.approx(1 / 3)
    assert figures["wino_x_accuracy"]["n"] == [2, 2]
    assert all(len(set(figure["signatures"])) == 2 for figure in row["figures"][1:])
    assert "base (first) and lexical (second)" in printed
    assert "errors on homographs, %" in printed
    assert "24.17" in printed  # the printed table


def test_the_printed_tables_need_no_model() -> None:
    assert "17.65" in printed_by("study", "disambiguation_bias", "compare-models", "--published")
    assert "WMT19" in printed_by(
        "study", "disambiguation_bias", "compare-models", "--published", "--json"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("a",), "models: expected two, got 1"),
        (("a", "b"), "expected something to compare on"),
        (("a/x", "b/x", "--wino-x", "c"), "name: expected two names, as both .* called x"),
        (("a", "b", "--name", "c", "--wino-x", "c"), "name: expected two, got 1"),
        (("a", "b", "--source", "c"), "source, reference: expected both files for BLEU"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        printed_by("study", "disambiguation_bias", "compare-models", *options)


def test_files_of_different_lengths_are_refused(folder: Path) -> None:
    (folder / "short.de").write_text("one\n")
    with pytest.raises(InputError, match=r"expected as many lines in both, got 20 and 1"):
        printed_by(
            f"study disambiguation_bias compare-models {folder}/base {folder}/lexical"
            f" --source {folder}/source.en --reference {folder}/short.de"
        )
