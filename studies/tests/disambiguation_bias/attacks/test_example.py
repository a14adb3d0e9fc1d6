"""The documented experiment with attacks runs at toy size, from the corpus to the table."""

import json
from pathlib import Path

import pytest
from cc_hf_studies.disambiguation_bias.attacks.samples import read_judgements

from studies.examples.disambiguation_bias.made_up_corpus import CLUSTERS, Language, Sizes, sentences
from studies.examples.disambiguation_bias.word_sense_attacks import main
from tests.helpers.command_line import read_json

pytestmark = pytest.mark.usefixtures("same_threads")


def test_the_experiment_gives_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = main(["--output", str(tmp_path), "--toy"])
    assert read_json(tmp_path / "figures.json") == json.loads(json.dumps(figures))
    assert figures["attacks"]["counts"]["n_samples"] > 10
    for model in figures["models"].values():
        assert model["errors"]["all"]["n"] == 60
        assert model["attacks"]["judges"].keys() == {"lexicon", "contrastive"}
    judged = list(read_judgements(tmp_path / "model1.judged.jsonl"))
    assert len(judged) == figures["attacks"]["counts"]["n_samples"]
    assert "<article" in (tmp_path / "model1.html").read_text(encoding="utf-8")
    assert "| errors, all sentences |" in capsys.readouterr().out


def test_models_must_be_two(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--output", str(tmp_path), "--seeds", "1"])


def test_the_corpus_is_as_described() -> None:
    sizes = Sizes()
    language = Language.make(sizes, seed=1)
    rows = list(sentences(language, sizes, 2000, seed=1))
    assert rows == list(sentences(language, sizes, 2000, seed=1))
    assert len({row.homograph for row in rows}) == 10
    with_adjective = fitting = 0
    for row in rows:
        words = row.source.split()
        others = [word for word in words if word in language.others]
        triggers = [w for w in words if w in language.triggers[row.homograph, row.cluster]]
        assert 5 <= len(others) <= 7
        assert len(triggers) == 1
        before = words[words.index(row.homograph) - 1] if words.index(row.homograph) else ""
        if before in language.adjectives:
            with_adjective += 1
            fitting += before in language.fitting[row.homograph, row.cluster]
        wrong = CLUSTERS[row.cluster == CLUSTERS[0]]
        assert language.translations[row.homograph, row.cluster] in row.target.split()
        assert language.translations[row.homograph, wrong] not in row.target.split()
    assert with_adjective / len(rows) == pytest.approx(0.7, abs=0.03)
    assert fitting / with_adjective == pytest.approx(0.85, abs=0.03)
