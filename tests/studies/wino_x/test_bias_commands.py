import re
from pathlib import Path

import pytest

import cc_hf as package
from cc_hf.errors import InputError
from cc_hf.schema import Judgement
from cc_hf.statistics.mean_tests import TTest
from cc_hf.studies.wino_x.bias_tables import bias_tables, trigger_importance_tables
from cc_hf.studies.wino_x.salience import Importance, SubwordImportance, TriggerImportance
from cc_hf.studies.wino_x.tables import curve_tables
from tests.helpers.command_line import printed_by, read_json, run_command
from tests.helpers.judged import result_of
from tests.helpers.lines import write_lines
from tests.helpers.printed_beside import cells_beside
from tests.helpers.refusals import refuses
from tests.helpers.results import write_result
from tests.helpers.terminal import printed
from tests.helpers.wino_x_schemas import ROW, TWIN, lay_out


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write two schemas in which the correct referent of "sie" comes first and second."""
    other = [{**row, "referent1_en": "table", "referent2_en": "book"} for row in (ROW, TWIN)]
    for row in other:
        row["qID"] = str(row["qID"]).replace("1-", "2-")
        row["sentence"] = str(row["sentence"]).replace("bag", "book")
    return lay_out(tmp_path, "mt", [ROW, TWIN, *other])


def test_referent_bias_reads_a_result(data: Path) -> None:
    examples = package.load_examples("wino_x", "mt_en_de.translations", data_dir=data)
    verdicts = {"female": (True, "t", "correct"), "male": (False, "t", "incorrect")}
    judgements = [Judgement(e.id, e.category, *verdicts[e.category]) for e in examples]
    origin = {"dataset": "wino_x", "config": "mt_en_de.translations", "signature": "cts|n:4"}
    write_result(data, "r", result_of(judgements, **origin))
    options = f"{data}/r.json --data-dir {data} -o {data}/out.json"
    printed = printed_by(f"study wino_x referent-bias {options}")
    assert "50.0 % right (2 of 4); both of a pair right 0.0 % (0 of 2)" in " ".join(printed.split())
    assert "female 1, male 2, neutral 3" in printed
    # preferred, % of all, correct in % of all, offered, % of these
    assert re.search(r"female +4 +100\.0 +50\.0 +4 +100\.0 *\n", printed)
    assert re.search(r"first +2 +50\.0 +50\.0 +4 +50\.0 *\n", printed)
    assert "of: cts|n:4" in printed
    shown = printed_by(f"compare {data}/out.json")
    assert re.search(r"bias by gender \(thesis\), \|RBC\|\n.*\n +r *\n.*\n +mt_en_de.*1\.00", shown)
    own = read_json(data / "out.json")
    assert own["genders"]["female"] == {"n_offered": 4, "n_preferred": 4, "n_correct": 2}
    tests = [f"{test['feature']} {test['coding']} {test['strength']:g}" for test in own["tests"]]
    assert tests == ["gender program 1", "gender thesis 1", "position program 0"]
    assert own["positions"]["first"] == {"n_offered": 4, "n_preferred": 2, "n_correct": 2}
    assert own["tests"][0]["test"]["rank_biserial"] == -1
    beside = cells_beside("wino_x", data / "out.json")
    assert beside["Table 4.8, gender"] == {"en-de": 1}
    assert beside["Table 4.8, position"] == {"en-de": 0}
    assert beside["Table 4.9, en-de"]["female"] == 4


def test_referent_bias_reads_a_file_of_preferences(data: Path) -> None:
    path = write_lines(data / "p.csv", ["id,preferred", "Q1-1,1", "Q1-2,tie", "Q2-1,1", "Q2-2,2"])
    printed = printed_by(f"study wino_x referent-bias --preferences {path} --data-dir {data}")
    shown = "75.0 % right (3 of 4); both of a pair right 50.0 % (1 of 2)"
    assert shown in " ".join(printed.split())
    assert "ignored in the bias: 1 ties or undecided" in printed
    with pytest.raises(InputError, match=r"expected either a file of results or.*got neither"):
        printed_by("study wino_x referent-bias")
    refuses("got both", printed_by, f"study wino_x referent-bias {path} --preferences {path}")


def test_referent_bias_refuses_other_data(tmp_path: Path) -> None:
    path = write_result(tmp_path, "r", result_of([Judgement("0", "a", True, "t", "correct")]))
    shown = run_command("study wino_x referent-bias", path, status=2).stderr
    assert "expected a result on wino_x, whose examples name pronouns and ref" in shown
    assert "got one on winomt" in shown


def test_trigger_importance_writes_figures_page_and_picture(data: Path) -> None:
    command = f"study wino_x trigger-importance --data-dir {data} -q"
    files = f"-o {data}/out.json --html {data}/out.html --png {data}/out.png"
    printed = printed_by(f"{command} --evaluator cc-tiny-en-de --maps 1 {files}")
    assert 'salience for the translation of "it", 4 sentences' in " ".join(printed.split())
    assert "prediction-difference|data:wino_x/mt_en_de.translations@local." in printed
    own = read_json(data / "out.json")
    assert [one["example_id"] for one in own["saliences"]] == ["Q1-1", "Q1-2", "Q2-1", "Q2-2"]
    assert (own["triggers"]["n_first"], own["n_sentences"], own["skipped"]) == (2 * 3, 4, {})
    assert own["referents"] is not None
    effect = own["triggers"]["effect"]
    assert cells_beside("wino_x", data / "out.json") == {"Table 4.10": {"en-de": effect}}
    assert (data / "out.png").read_bytes().startswith(b"\x89PNG")
    page = (data / "out.html").read_text(encoding="utf-8")
    assert page.count('class="name"') == 2 + 2  # sentences; command and signature
    assert f"<code>cc-hf {command} --evaluator cc-tiny-en-de" in page
    assert len(re.findall(r'class="word (?:more|less) trigger', page)) == 3
    printed_by(f"{command} --pairs 1 -o {data}/few.json")  # judged by the embedded evaluator
    few = read_json(data / "few.json")["saliences"]
    assert [one["example_id"] for one in few] == ["Q1-1", "Q1-2"]
    with pytest.raises(InputError, match=r"--evaluator: expected one sequence-to-sequence.*got a"):
        printed_by(f"{command} --evaluator a --evaluator b")


def test_learning_curves_fit() -> None:
    row = {"n": 12345, "accuracy": 0.98765, "pair_accuracy": 0.5, "n_ties": 1234}
    accuracies = {"mt_en_de.dev": row, "test": {**row, "pair_accuracy": None}}
    sizes = {"n_train": 100000, "n_epochs": 100, "best_epoch": 99}
    curve = {"eval": "m", "data": "d", "objective": "o", "splits": {}}
    shown = printed(*curve_tables({**curve, "points": [{**sizes, "accuracies": accuracies}]}))
    for text in ("100,000", "98.8", "mt_en_de.dev"):
        assert text in shown


def test_biases_fit() -> None:
    test = {"feature": "gender", "strength": 0.123}
    tests = [{**test, "coding": coding} for coding in ("program", "thesis")]
    genders = {key: {"n_preferred": 12345} for key in ("male", "female", "neutral")}
    row = ("wino_x.mt_en_de", 100000, {"tests": tests, "genders": genders})
    assert "33.3" in printed(bias_tables([row], title="bias"))


def test_trigger_importance_fits() -> None:
    test = TTest(-123.456, 0.00001, 12345.6)
    importance = Importance(12345, 12345, -0.12345, 0.5, -12.345, test, test)
    program = SubwordImportance(12345, 12345, 12.345, test)
    figures = (importance, program, importance, 1234, {"an example": "a reason"})
    whole = TriggerImportance(12345, 12345, *figures)
    shown = printed(trigger_importance_tables(whole, title="wino_x mt_en_de.translations"))
    assert "correct against incorrect referents" in shown
