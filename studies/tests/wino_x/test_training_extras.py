"""What is measured around a training, other training data, the search for a rate, and the plot."""

import xml.etree.ElementTree as ET
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.wino_x.debias import debias
from cc_hf_studies.wino_x.few_shot import LEARNING_RATES, search_learning_rate
from cc_hf_studies.wino_x.fine_tuning import FineTuning
from cc_hf_studies.wino_x.measures import Measures, quality, read_test_set
from cc_hf_studies.wino_x.pronoun_counts import pronoun_counts
from cc_hf_studies.wino_x.salience import trigger_importance
from cc_hf_studies.wino_x.splits import SplitPlan, split_schemas
from cc_hf_studies.wino_x.tables import curve_plot, curve_tables
from cc_hf_studies.wino_x.trigger_importance import prediction_differences
from cc_hf_studies.wino_x.winogrande_part import trained_on_winogrande

from cc_hf.errors import EvaluatorError, InputError
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.systems.translate import translate_with
from studies.tests.wino_x.winogrande_rows import hit_schemas
from tests.helpers.judged import Examples, Sides
from tests.helpers.usual import (
    cases,
    cells_beside,
    fails,
    printed,
    printed_by,
    read_json,
    refuses,
    write_jsonl,
    write_lines,
)
from tests.helpers.wino_x_schemas import NOUNS, mt_rows


@pytest.fixture(scope="module")
def test_set(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder, rows = tmp_path_factory.mktemp("test_set"), mt_rows(6, seed=5)
    texts = {"test.en": "sentence", "test.de": "translation1"}
    paths = [write_lines(folder / n, [row[key] for row in rows]) for n, key in texts.items()]
    return paths[0], paths[1]


@pytest.fixture(scope="module")
def curve(marian_folder: Path, data_dir: Path, test_set: tuple[Path, Path]) -> dict[str, Any]:
    """A training with a search for the rate, after which all is measured that can be."""
    options: Any = {"split": SplitPlan(n_dev=8, n_test=8, sizes=[8, 16]), "data_dir": data_dir}
    measures = Measures(test_set=test_set, num_beams=2, trigger_importance=True)
    settings = {"learning_rate": [1e-9, 1e-3, 1e30], "max_epochs": 2}
    return debias(marian_folder, measures=measures, settings=settings, **options)


def test_bleu_and_pronouns_are_measured_before_and_after_each_training(
    curve: dict[str, Any], marian: Any, test_set: tuple[Path, Path]
) -> None:
    assert [point["size"] for point in curve["points"]] == [0, 8, 16]
    test = read_test_set(*test_set)
    translations = translate_with(marian, test.sources, src_lang="en", tgt_lang="de", num_beams=2)
    texts = translations, test.references
    bleu, signature = corpus_score("bleu", *texts, tokenize=None, tgt_lang="de")
    before = curve["points"][0]["quality"]
    pronouns, expected = (pronoun_counts(of, "de") for of in texts)
    counts = {"pronouns": pronouns, "reference_pronouns": expected, "test_set": test.identity}
    assert before == {"n": 12, "bleu": bleu, "signature": signature, "num_beams": 2, **counts}
    assert sum(before["reference_pronouns"].values()) == 12
    after = curve["points"][2]["quality"]
    assert after["reference_pronouns"] == before["reference_pronouns"]
    assert 0 <= after["bleu"] <= 1


def test_triggers_of_the_test_part(curve: dict[str, Any], marian: Any, schemas: Examples) -> None:
    part = split_schemas(schemas, n_dev=8, n_test=8).test
    saliences, skipped = prediction_differences(marian, part)
    importance = trigger_importance(saliences, skipped=skipped)
    before = curve["points"][0]["trigger_importance"]
    assert before["n_sentences"] == importance.n_sentences == 8
    assert before["triggers"]["effect"] == pytest.approx(importance.triggers.effect)
    assert curve["points"][2]["trigger_importance"]["triggers"] != before["triggers"]


def test_the_rate_with_the_lowest_loss_of_the_development_is_used(curve: dict[str, Any]) -> None:
    low, middle, high = curve["learning_rates"]
    assert (low["learning_rate"], low["n_epochs"]) == (1e-9, 2)
    assert middle["dev_loss"] < low["dev_loss"]
    # A rate at which the loss is no number is shown, and is not chosen.
    assert high == {"learning_rate": 1e30, "dev_loss": None, "n_epochs": None, "best_epoch": None}
    assert curve["settings"]["learning_rate"] == 1e-3
    assert min(curve["points"][2]["dev_losses"]) == middle["dev_loss"]


@cases(
    ((), "expected at least two different rates"),
    ((1e-5,), "expected at least two different rates"),
    ((1e-5, 1e-5), "expected at least two different rates"),
    ((1e-5, 0.0), "learning_rate: expected a number above 0, got 0"),
    ((1e30, 1e31), r"rates 1e\+30, 1e\+31 was completed: the loss"),
)
def test_a_search_needs_several_rates_of_which_one_works(
    rates: tuple[float, ...], message: str, marian: Any, schemas: Examples
) -> None:
    assert LEARNING_RATES == (1e-5, 1e-6, 1e-7)
    splits = split_schemas(schemas, n_dev=4, n_test=4)
    fails(
        (EvaluatorError, InputError),
        message,
        search_learning_rate,
        marian,
        splits,
        8,
        FineTuning(max_epochs=3),
        rates,
    )


@cases(
    (["One.", "Two."], ["Eins."], r"expected as many lines in both.*got 2 in .* and 1"),
    (["One.", "Two.", "Three."], ["Eins.", " ", "Zwei."], "line 2: .* got a blank line"),
)
def test_files_of_test_sets_that_do_not_fit_are_refused(
    sources: list[str], references: list[str], message: str, tmp_path: Path
) -> None:
    refuses(
        message,
        read_test_set,
        write_lines(tmp_path / "a", sources),
        write_lines(tmp_path / "b", references),
    )


def test_test_sets_need_a_translation_model_and_beams(
    masked_folder: Path, marian_folder: Path, data_dir: Path, test_set: Any
) -> None:
    for folder, config, num_beams, message in (
        (masked_folder, "lm_en_de", 5, "expected a translation model, which masked language"),
        (marian_folder, "mt_en_de.translations", 0, "num_beams: expected at least 1, got 0"),
    ):
        measures = Measures(test_set=test_set, num_beams=num_beams)
        split = SplitPlan(n_dev=4, n_test=4)
        refuses(message, debias, folder, config, split=split, measures=measures, data_dir=data_dir)


def test_languages_without_known_pronouns_have_bleu_only(
    marian: Any, test_set: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "cc_hf_studies.wino_x.measures.translate_with"
    monkeypatch.setattr(name, lambda model, texts, **options: list(texts))
    figures = quality(marian, read_test_set(*test_set), tgt_lang="es", num_beams=1)
    assert set(figures) == {"n", "bleu", "signature", "num_beams", "test_set"}


def _winogrande(folder: Path) -> Path:
    """All pairs of two nouns, among them those of Wino-X, whose contexts are the same."""
    return write_jsonl(folder / "winogrande.jsonl", hit_schemas([*permutations(NOUNS, 2)]))


def test_winogrande_is_trained_on_without_held_out_rows(both_sides: Sides, tmp_path: Path) -> None:
    from cc_hf_studies.wino_x.winogrande import load_winogrande, same_context

    german, english = both_sides
    splits = split_schemas(english, n_dev=10, n_test=20)
    sentences = load_winogrande(_winogrande(tmp_path))
    trained, excluded = trained_on_winogrande(splits, sentences)
    assert (excluded.n, excluded.n_test, excluded.n_dev, excluded.n_twins) == (264, 20, 10, 0)
    assert (len(trained.train), trained.dev, trained.test) == (264 - 30, splits.dev, splits.test)
    held_out = {same_context(e.extra["context"]) for e in (*splits.dev, *splits.test)}
    assert not held_out & {same_context(e.extra["context"]) for e in trained.train}
    # Twins of a held-out sentence are excluded, too.
    _, fewer = trained_on_winogrande(split_schemas(english[::2], n_dev=5, n_test=10), sentences)
    assert (fewer.n_test, fewer.n_dev, fewer.n_twins) == (10, 5, 15)
    refuses(
        "expected the English side of LM-Wino-X",
        trained_on_winogrande,
        split_schemas(german, n_dev=10, n_test=20),
        sentences,
    )
    same = [e for e in sentences if same_context(e.extra["context"]) in held_out][:2]
    refuses("got none in 2", trained_on_winogrande, splits, same)


def test_winogrande_trains_a_model(masked_folder: Path, data_dir: Path, tmp_path: Path) -> None:
    output, plot = tmp_path / "out", tmp_path / "curve.svg"
    train = f"study wino_x train --model {masked_folder} --quiet --output {output}"
    text = printed_by(
        f"{train} --config lm_en_de.english --transfer lm_en_de --train-on {_winogrande(tmp_path)}"
        " --n-dev 4 --n-test 8 --max-epochs 1 --no-models --learning-rate 1e-3,1e-4 --sizes 16"
        f" --data-dir {data_dir} --plot {plot}"
    )
    curve = read_json(output / "learning_curve.json")
    splits = curve["splits"]
    assert splits["train_on"].startswith("winogrande.jsonl@")
    assert splits["winogrande"] == {"n": 264, "n_test": 8, "n_dev": 4, "n_twins": 0}
    assert splits["n_train"] == 252
    assert [point.get("n_train") for point in curve["points"]] == [None, 16]
    excluded = "264 sentences without 8 of the test and 4 of the development part"
    assert excluded in " ".join(text.split())
    assert "chosen" in text
    last = {name: row["accuracy"] for name, row in curve["points"][-1]["accuracies"].items()}
    cells = cells_beside("wino_x", output / "learning_curve.json")["Table 4.16"]
    assert cells == {"en-de en": last["lm_en_de.english"], "en-de de": last["lm_en_de"]}
    assert ET.fromstring(plot.read_bytes()).tag.endswith("svg")
    again = tmp_path / "again.png"
    show = "study wino_x curve"
    assert "lm_en_de" in printed_by(f"{show} {output}/learning_curve.json --plot {again}")
    assert again.read_bytes().startswith(b"\x89PNG")
    refuses(
        "expected a learning curve, as `cc-hf study wino_x",
        printed_by,
        f"{show} {write_lines(tmp_path / 'other.json', ['{}'])}",
    )
    for rate in ("x", "1e-3,", "1_0e-3"):
        refuses(
            "--learning-rate: expected a number, or several",
            printed_by,
            f"{train}/new --learning-rate {rate}",
        )


def test_the_tables_show_bleu_pronouns_and_triggers(curve: dict[str, Any]) -> None:
    text, last = printed(curve_tables(curve)), curve["points"][-1]
    bleu = f"{100 * last['quality']['bleu']:.1f}"
    effect = f"{last['trigger_importance']['triggers']['effect']:+.3f}"
    for part in (bleu, effect, "reference", "no number"):
        assert part in text


def test_the_plot_has_both_lines_of_every_size(curve: dict[str, Any]) -> None:
    picture = curve_plot({"one": curve, "two $": curve})
    root = ET.fromstring(picture)
    text = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    assert text.count("accuracy (%)") == text.count("BLEU") == 2
    assert "two $" in text
    assert picture == curve_plot({"one": curve, "two $": curve})
    rows: tuple[dict[str, Any], ...] = ({}, {"points": []})
    for row in rows:
        refuses("expected learning curves with points", curve_plot, {"x": row})
