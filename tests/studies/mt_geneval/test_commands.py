import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import InputError
from cc_hf.schema import Judgement
from cc_hf.studies.mt_geneval.counts import DataCounts
from cc_hf.studies.mt_geneval.ratings import rate_genders
from cc_hf.studies.mt_geneval.tables import ratings_json
from tests.helpers.command_line import printed_by
from tests.helpers.judged import result_of
from tests.helpers.printed_beside import cells_beside
from tests.helpers.refusals import refuses
from tests.helpers.results import write_result
from tests.helpers.sheets import fill
from tests.studies.mt_geneval import samples


def run(line: str) -> str:
    return printed_by(f"study mt_geneval {line}", columns=400)


def with_examples(monkeypatch: pytest.MonkeyPatch, rows: list[Any]) -> None:
    monkeypatch.setattr("cc_hf.data.loading.load_examples", lambda *args, **options: rows)


def test_from_results_to_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_examples(monkeypatch, samples.contextual_examples())
    write_result(tmp_path, "bad", samples.contextual_result("bad", "Der Arzt", "incorrect"))
    run("build-sheets bad.json -o sheets --key key.json --n 2")
    sheets = sorted(Path("sheets").glob("*.csv"))
    for sheet in sheets:
        fill(sheet, lambda row: ["Correct" if "Ärztin" in row["Translation"] else "incorrect"])
    command = f"gender-ratings key.json {' '.join(map(str, sheets))}"
    row = json.loads(run(f"{command} --json"))
    assert [system["accuracy"] for system in row["systems"]] == [0.0, 1.0]
    assert row["systems"][0]["f_scores"] == {"Correct": None, "Incorrect": 1.0}
    assert row["systems"][0]["by_category"]["neutral/male"] == {"n": 2, "n_accepted": 0}
    assert row["published"]["f_score"] == 0.82
    run(f"{command} -o ratings.json")
    beside = cells_beside("mt_geneval", "ratings.json")
    assert beside["Table 7"] == {"alpha": 1.0, "alpha of references": 1.0}
    printed = run(command)
    assert "Krippendorff's alpha of the raters: 1.00 on systems, 1.00 on references" in printed
    assert "Tables 5 and 7: systems 52.3, 51.3, 54.0, references 92.2" in printed
    message = "form: expected word-senses or occupation-genders, got 'gender-in"
    refuses(message, printed_by, f"compare --by rater bad.json --key key.json --sheet {sheets[0]}")


def test_languages_without_printed_ratings_have_none_in_the_json() -> None:
    key = samples.drawn()
    ratings = rate_genders(key, [samples.answers(key, lambda c, t: True)] * 2)
    assert ratings_json(replace(ratings, data=("", "", "nl")))["published"] is None


def test_sentence_gaps_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_examples(monkeypatch, samples.gap_examples())
    command = f"sentence-gaps {write_result(tmp_path, 'r', samples.gap_result())}"
    row = json.loads(run(f"{command} --n 1 --json"))
    assert [gap["pair"] for gap in (*row["largest"], *row["smallest"])] == ["3", "1"]
    printed = run(f"{command} --score chrf")
    assert "2 of 4 pairs are translated better about men, 1 about women" in printed
    assert "→ Nichts davon" in printed
    with pytest.raises(InputError, match="expected a result with judgements by comet, got none"):
        run(f"{command} --metric comet")
    judgements = [Judgement("0", "MoMc", True, "t", "correct")]
    path = write_result(tmp_path, "w", result_of(judgements, dataset="simplegen"))
    refuses("got one on simplegen", run, f"sentence-gaps {path}")


def test_counts_are_shown_beside_the_printed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [samples.marked_example("female", "<F>She</F> won.", "<F>Sie</F> siegte.")]
    with_examples(monkeypatch, rows)
    german, italian = json.loads(run("gendered-words de it --json"))
    assert (german["n_instances"], german["published"]["n_source_words"]) == (1, 6604)
    assert italian["published"] is None
    assert DataCounts(1, 3, 1, 3, 1).n_source_words == italian["n_source_words"]
    printed = run("gendered-words")
    assert "de, Table 12" in printed
    assert "11,194" in printed
    assert ["WinoMT,", "Table", "12", "1,944", "1,883", "-", "-", "-"] in [
        line.split() for line in printed.splitlines()
    ]
    assert "de, Table 12 " not in run("gendered-words --split test").split("words:")[0]
