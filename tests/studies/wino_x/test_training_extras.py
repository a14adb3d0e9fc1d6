"""What is measured around a training, other training data, the search for a rate, and the plot."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.studies.wino_x.debias import debias
from cc_hf.studies.wino_x.few_shot import LEARNING_RATES, search_learning_rate
from cc_hf.studies.wino_x.fine_tuning import FineTuning
from cc_hf.studies.wino_x.measures import Measures, quality, read_test_set
from cc_hf.studies.wino_x.pronoun_counts import pronoun_counts
from cc_hf.studies.wino_x.salience import trigger_importance
from cc_hf.studies.wino_x.splits import SplitPlan, split_schemas
from cc_hf.studies.wino_x.tables import curve_plot, curve_tables
from cc_hf.studies.wino_x.trigger_importance import prediction_differences
from cc_hf.studies.wino_x.winogrande_part import trained_on_winogrande
from cc_hf.systems.translate import translate_with
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.terminal import printed
from tests.helpers.wino_x_schemas import NOUNS, lay_out, lm_rows, mt_rows, save_schema_marian
from tests.studies.wino_x.winogrande_rows import hit_schemas, write_rows


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    lay_out(folder, "mt", mt_rows(30))
    return lay_out(folder, "lm", lm_rows(30))


@pytest.fixture(scope="module")
def marian_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_schema_marian(tmp_path_factory.mktemp("marian"), n_pieces=140)


@pytest.fixture(scope="module")
def masked_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    filled = [
        row["context_en"].replace("_", row[f"option{i}_en"]) for row in lm_rows(96) for i in (1, 2)
    ]
    return save_tiny_masked_lm(
        tmp_path_factory.mktemp("masked"), filled, family="xlm-roberta", vocab_size=90, seed=1
    )


@pytest.fixture(scope="module")
def test_set(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("test_set")
    rows = mt_rows(6, seed=5)
    paths = folder / "test.en", folder / "test.de"
    for path, key in zip(paths, ("sentence", "translation1"), strict=True):
        path.write_text("".join(f"{row[key]}\n" for row in rows), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def curve(marian_folder: Path, data_dir: Path, test_set: tuple[Path, Path]) -> dict[str, Any]:
    """A training with a search for the rate, after which all is measured that can be."""
    return debias(
        marian_folder,
        split=SplitPlan(n_dev=8, n_test=8, sizes=[8, 16]),
        measures=Measures(test_set=test_set, num_beams=2, trigger_importance=True),
        settings={"learning_rate": [1e-9, 1e-3, 1e30], "max_epochs": 2},
        data_dir=data_dir,
    )


def test_bleu_and_pronouns_are_measured_before_and_after_each_training(
    curve: dict[str, Any], marian_folder: Path, test_set: tuple[Path, Path]
) -> None:
    assert [point["size"] for point in curve["points"]] == [0, 8, 16]
    test = read_test_set(*test_set)
    model = load_evaluator(marian_folder, mode="exact")
    translations = translate_with(model, test.sources, src_lang="en", tgt_lang="de", num_beams=2)
    bleu, signature = corpus_score(
        "bleu", translations, test.references, tokenize=None, tgt_lang="de"
    )
    before = curve["points"][0]["quality"]
    assert before == {
        "n": 12,
        "bleu": bleu,
        "signature": signature,
        "num_beams": 2,
        "test_set": test.identity,
        "pronouns": pronoun_counts(translations, "de"),
        "reference_pronouns": pronoun_counts(test.references, "de"),
    }
    assert sum(before["reference_pronouns"].values()) == 12
    after = curve["points"][2]["quality"]
    assert after["reference_pronouns"] == before["reference_pronouns"]
    assert 0 <= after["bleu"] <= 1


def test_trigger_importance_is_that_of_the_test_part(
    curve: dict[str, Any], marian_folder: Path, data_dir: Path
) -> None:
    examples = cc_hf.load_examples("wino_x", "mt_en_de.translations", data_dir=data_dir)
    part = split_schemas(examples, n_dev=8, n_test=8).test
    saliences, skipped = prediction_differences(load_evaluator(marian_folder, mode="exact"), part)
    importance = trigger_importance(saliences, skipped=skipped)
    before = curve["points"][0]["trigger_importance"]
    assert before["n_sentences"] == importance.n_sentences == 8
    assert before["triggers"]["effect"] == pytest.approx(importance.triggers.effect)
    assert curve["points"][2]["trigger_importance"]["triggers"] != before["triggers"]


def test_the_rate_with_the_lowest_loss_on_the_development_part_is_used(
    curve: dict[str, Any],
) -> None:
    low, middle, high = curve["learning_rates"]
    assert (low["learning_rate"], low["n_epochs"]) == (1e-9, 2)
    assert middle["dev_loss"] < low["dev_loss"]
    # A rate at which the loss is no number is shown, and is not chosen.
    assert high == {"learning_rate": 1e30, "dev_loss": None, "n_epochs": None, "best_epoch": None}
    assert curve["settings"]["learning_rate"] == 1e-3
    assert min(curve["points"][2]["dev_losses"]) == middle["dev_loss"]


def test_a_search_needs_several_rates_of_which_one_works(
    marian_folder: Path, data_dir: Path
) -> None:
    assert LEARNING_RATES == (1e-5, 1e-6, 1e-7)
    examples = cc_hf.load_examples("wino_x", "mt_en_de.translations", data_dir=data_dir)
    splits = split_schemas(examples, n_dev=4, n_test=4)
    model = load_evaluator(marian_folder, mode="exact")
    settings = FineTuning(max_epochs=3)
    for rates in ((), (1e-5,), (1e-5, 1e-5)):
        with pytest.raises(InputError, match="expected at least two different rates"):
            search_learning_rate(model, splits, 8, settings, rates)
    with pytest.raises(InputError, match="learning_rate: expected a number above 0, got 0"):
        search_learning_rate(model, splits, 8, settings, (1e-5, 0.0))
    with pytest.raises(EvaluatorError, match=r"rates 1e\+30, 1e\+31 was completed: the loss"):
        search_learning_rate(model, splits, 8, settings, (1e30, 1e31))


def test_test_sets_that_do_not_fit_are_refused(
    tmp_path: Path, masked_folder: Path, marian_folder: Path, data_dir: Path, test_set: Any
) -> None:
    left, right = tmp_path / "a", tmp_path / "b"
    left.write_text("One.\nTwo.\n", encoding="utf-8")
    right.write_text("Eins.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected as many lines in both.*got 2 in .* and 1"):
        read_test_set(left, right)
    right.write_text("Eins.\n \nZwei.\n", encoding="utf-8")
    left.write_text("One.\nTwo.\nThree.\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: expected a sentence, got a blank line"):
        read_test_set(left, right)
    with pytest.raises(InputError, match="expected a translation model, which masked language"):
        debias(
            masked_folder,
            "lm_en_de",
            split=SplitPlan(n_dev=4, n_test=4),
            measures=Measures(test_set=test_set),
            data_dir=data_dir,
        )
    with pytest.raises(InputError, match="num_beams: expected at least 1, got 0"):
        debias(
            marian_folder,
            split=SplitPlan(n_dev=4, n_test=4),
            measures=Measures(test_set=test_set, num_beams=0),
            data_dir=data_dir,
        )


def test_languages_without_known_pronouns_have_bleu_only(
    marian_folder: Path, test_set: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "cc_hf.studies.wino_x.measures.translate_with", lambda model, texts, **options: list(texts)
    )
    model = load_evaluator(marian_folder, mode="exact")
    figures = quality(model, read_test_set(*test_set), tgt_lang="es", num_beams=1)
    assert set(figures) == {"n", "bleu", "signature", "num_beams", "test_set"}


def _winogrande(folder: Path) -> Path:
    """All pairs of two nouns, among them those of Wino-X, whose contexts are the same."""
    return write_rows(
        folder / "winogrande.jsonl", hit_schemas([(a, b) for a in NOUNS for b in NOUNS if a != b])
    )


def test_winogrande_is_trained_on_without_the_held_out_samples(
    data_dir: Path, tmp_path: Path
) -> None:
    from cc_hf.studies.wino_x.winogrande import load_winogrande, same_context

    english, german = (
        cc_hf.load_examples("wino_x", config, data_dir=data_dir)
        for config in ("lm_en_de.english", "lm_en_de")
    )
    splits = split_schemas(english, n_dev=10, n_test=20)
    sentences = load_winogrande(_winogrande(tmp_path))
    trained, excluded = trained_on_winogrande(splits, sentences)
    assert (excluded.n, excluded.n_test, excluded.n_dev, excluded.n_twins) == (264, 20, 10, 0)
    assert len(trained.train) == 264 - 30
    assert (trained.dev, trained.test) == (splits.dev, splits.test)
    held_out = {same_context(e.extra["context"]) for e in (*splits.dev, *splits.test)}
    assert not held_out & {same_context(e.extra["context"]) for e in trained.train}
    # Twins of a held-out sentence are excluded, too.
    _, fewer = trained_on_winogrande(split_schemas(english[::2], n_dev=5, n_test=10), sentences)
    assert (fewer.n_test, fewer.n_dev, fewer.n_twins) == (10, 5, 15)
    with pytest.raises(InputError, match="expected the English side of LM-Wino-X"):
        trained_on_winogrande(split_schemas(german, n_dev=10, n_test=20), sentences)
    same = [e for e in sentences if same_context(e.extra["context"]) in held_out][:2]
    with pytest.raises(InputError, match="got none in 2"):
        trained_on_winogrande(splits, same)


def _run(*arguments: str) -> None:
    from cc_hf.cli.main import app

    app(list(arguments), standalone_mode=False)


def test_the_command_trains_on_winogrande_and_measures_transfer(
    masked_folder: Path, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, plot = tmp_path / "out", tmp_path / "curve.svg"
    _run(
        *(
            "study",
            "wino_x",
            "train",
            "--model",
            str(masked_folder),
            "--config",
            "lm_en_de.english",
        ),
        *("--transfer", "lm_en_de", "--train-on", str(_winogrande(tmp_path))),
        *("--n-dev", "4", "--n-test", "8", "--max-epochs", "1", "--no-models", "--quiet"),
        *("--data-dir", str(data_dir), "--output", str(output), "--plot", str(plot)),
        *("--learning-rate", "1e-3,1e-4", "--sizes", "16"),
    )
    curve = json.loads((output / "learning_curve.json").read_text(encoding="utf-8"))
    assert curve["splits"]["train_on"].startswith("winogrande.jsonl@")
    assert curve["splits"]["winogrande"] == {"n": 264, "n_test": 8, "n_dev": 4, "n_twins": 0}
    assert curve["splits"]["n_train"] == 252
    assert [point.get("n_train") for point in curve["points"]] == [None, 16]
    text = capsys.readouterr().out
    assert "264 sentences without 8 of the test and 4 of the development part" in " ".join(
        text.split()
    )
    assert "chosen" in text
    assert "…" not in text
    assert ET.fromstring(plot.read_bytes()).tag.endswith("svg")
    again = tmp_path / "again.png"
    _run("study", "wino_x", "curve", str(output / "learning_curve.json"), "--plot", str(again))
    assert again.read_bytes().startswith(b"\x89PNG")
    assert "lm_en_de" in capsys.readouterr().out
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="expected a learning curve, as `cc-hf study wino_x"):
        _run("study", "wino_x", "curve", str(tmp_path / "other.json"))
    for rate in ("x", "1e-3,"):
        with pytest.raises(InputError, match="--learning-rate: expected a number, or several"):
            _run(
                *(
                    "study",
                    "wino_x",
                    "train",
                    "--model",
                    str(masked_folder),
                    "--learning-rate",
                    rate,
                ),
                *("--output", str(tmp_path / "nowhere")),
            )


def test_the_tables_show_bleu_pronouns_and_triggers(curve: dict[str, Any]) -> None:
    text = printed(*curve_tables(curve))
    last = curve["points"][-1]
    assert f"{100 * last['quality']['bleu']:.1f}" in text
    assert f"{last['trigger_importance']['triggers']['effect']:+.3f}" in text
    assert "reference" in text
    assert "no number" in text


def test_the_plot_has_both_lines_of_every_size(curve: dict[str, Any]) -> None:
    picture = curve_plot({"one": curve, "two $": curve})
    root = ET.fromstring(picture)
    text = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    assert text.count("accuracy (%)") == text.count("BLEU") == 2
    assert "two $" in text
    assert picture == curve_plot({"one": curve, "two $": curve})
    rows: tuple[dict[str, Any], ...] = ({}, {"points": []})
    for row in rows:
        with pytest.raises(InputError, match="expected learning curves with points"):
            curve_plot({"x": row})
