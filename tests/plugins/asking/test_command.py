import json
from pathlib import Path

import pytest

from cc_hf.results import EvaluationResult
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cases, read_jsonl, run_command, write_jsonl

CONFIG = "mt_en_de.translations"
_SENSES = '"{""animal"": [""Fledermaus""], ""stick"": [""Schläger""]}"'
BATS = f"""\
source,focus,position,cluster,senses,category,tgt_lang,reference
The bat flies.,bat,4,animal,{_SENSES},rare,de,Die Fledermaus fliegt.
A bat broke.,bat,2,stick,{_SENSES},frequent,de,Ein Schläger zerbrach.
My bat is old.,bat,3,stick,{_SENSES},frequent,de,Mein Schläger ist alt.
"""


@pytest.fixture
def data(tmp_path: Path, shared: Path) -> Path:
    return lay_out_samples("wino_x", CONFIG, tmp_path / "data", shared)


def write_replies(data: Path, path: Path) -> list[dict[str, object]]:
    """Write right replies to all samples but the first, a refusal, and the last, a failure."""
    file = data / "demelin/wino_x/data/mt/en_de_test.jsonl"
    told = "It follows that translation {} is right."
    rows = [(row["qID"], told.format(row["answer"])) for row in read_jsonl(file)]
    replies: list[dict[str, object]] = [{"id": name, "text": text} for name, text in rows]
    replies[0]["text"] = "As an AI, I have no opinion."
    replies[-1] |= {"text": None, "error": "timed out"}
    write_jsonl(path, replies)
    return replies


def test_choices_of_a_file_are_results_that_other_commands_read(data: Path, tmp_path: Path) -> None:
    n = len(write_replies(data, tmp_path / "replies.jsonl"))
    options = ["--data-dir", str(data), "--shots", "0", "--replies", "replies.jsonl"]
    shown = run_command(*("ask", "wino_x", CONFIG, *options, "-o", "choices.json"), cwd=tmp_path)
    assert "1 of 13 samples have no reply" in shown.stderr
    text = (tmp_path / "choices.json").read_text(encoding="utf-8")
    result = EvaluationResult.from_json(text)
    assert (result.n, result.counts["n_correct"], result.counts["n_invalid"]) == (n, n - 2, 1)
    assert "|prompt:basic." in result.signature
    assert "|shots:0|" in result.signature
    again = run_command(*("ask", "choices.replies.jsonl", "-o", "again.json"), cwd=tmp_path)
    assert "written: again.json" in again.stderr
    assert (tmp_path / "again.json").read_text(encoding="utf-8") == text
    strict = run_command("ask choices.replies.jsonl --parser exact --json", cwd=tmp_path)
    assert json.loads(strict.stdout)["counts"]["n_invalid"] == n - 1
    compare = "compare choices.json again.json --shared decided --right-alone"
    compared = run_command(compare, cwd=tmp_path)
    assert "not compared, since not every result has them: 2 of" in compared.stdout
    assert "right by this one only" in compared.stdout


def test_show_prints_the_turns_and_asks_nothing(data: Path, tmp_path: Path) -> None:
    choose = ["ask", "wino_x", CONFIG, "--data-dir", str(data)]
    arguments = [*choose, "--show", "first"]
    shown = run_command(*arguments, "--shots", "2", cwd=tmp_path)
    assert shown.stdout.count("[user]") == 3
    assert "11 requests" in shown.stdout
    printed = run_command(*arguments, "--strategy", "cota", "--json", cwd=tmp_path).stdout
    messages = json.loads(printed)["messages"]
    roles = ["user", "assistant"] * 4
    assert [message["role"] for message in messages] == [*roles, "user"]
    both = ["--both-orders", "--shots", "2"]
    run_command(*arguments, *both, "--prompts", "requests.jsonl", cwd=tmp_path)
    rows = read_jsonl(tmp_path / "requests.jsonl")
    assert len(rows) == 22
    assert [message["role"] for message in rows[0]["messages"]] == [*roles[:4], "user"]
    replies = [{"id": row["id"], "text": f"Translation {row['answer']}"} for row in rows]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    run_command(*choose, *both, "--replies", "replies.jsonl", "-o", "a.json", cwd=tmp_path)
    result = EvaluationResult.from_json((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert result.scores["consistency"] == result.scores["accuracy"] == 1
    for wrong, message in (
        (["first", *both, "--task", "translate"], "--both-orders: expected none"),
        (["other"], "--show: expected first, or the id of one of"),
        (["first", "--shots", "10"], "--shots: expected"),
    ):
        assert message in run_command(*choose, "--show", *wrong, cwd=tmp_path, status=2).stderr


def test_nothing_is_asked_without_a_model_a_server_or_a_file(data: Path, tmp_path: Path) -> None:
    arguments = ["ask", "wino_x", CONFIG, "--data-dir", str(data), "--shots", "0"]
    refused = run_command(*arguments, "-o", "a.json", cwd=tmp_path, status=2)
    assert "expected who replies, got none" in refused.stderr
    refused = run_command(*arguments, "--model", "x", cwd=tmp_path, status=2)
    assert "--output: expected a file, beside which the replies" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_translations_go_to_evaluate_without_those_that_are_missing(tmp_path: Path) -> None:
    (tmp_path / "bats.csv").write_text(BATS, encoding="utf-8")
    shown = run_command("ask bats.csv --show first --shots 0 --json", cwd=tmp_path)
    first = int(json.loads(shown.stdout)["id"])
    texts = ['"Die Fledermaus fliegt."', "I'm sorry, no.", "Mein Schläger ist alt."]
    replies = [{"id": str(first + i), "text": text} for i, text in enumerate(texts)]
    write_jsonl(tmp_path / "replies.jsonl", replies)
    shown = run_command("ask bats.csv --shots 0 --replies replies.jsonl -o t.jsonl", cwd=tmp_path)
    assert "1 without a translation: the reply is a refusal or an explanation" in shown.stdout
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text("utf-8").splitlines()]
    assert [row["outcome"] for row in rows] == ["valid", "invalid", "valid"]
    options = "--metric homograph_accuracy --option search=anywhere --translated-only -o r.json"
    run_command(f"evaluate bats.csv --translations t.jsonl {options}", cwd=tmp_path)
    result = EvaluationResult.from_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (result.n, result.scores["accuracy"]) == (2, 1)
    assert "[2 chosen " in result.signature
    assert "Only 2 of 3 examples were judged" in result.notes[0]


OWN = [
    {
        "source": "The bat flies.",
        "correct_translation": "Sie fliegt.",
        "contrastive_translations": ["Er fliegt."],
        "answer": "2",
    },
    {
        "source": "A bat.",
        "correct_translation": "Ein Schläger.",
        "contrastive_translations": ["Eine Maus.", "Ein Hieb."],
    },
]


def test_rows_of_ones_own_are_asked_once_for_each_wrong_translation(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "own.jsonl", ({**row, "tgt_lang": "de"} for row in OWN))
    asked = ["ask", "own.jsonl", "--shots", "0"]
    run_command(*asked, "--prompts", "requests.jsonl", cwd=tmp_path)
    requests = read_jsonl(tmp_path / "requests.jsonl")
    assert [request["id"] for request in requests] == ["0", "1/1", "1/2"]
    options = [request[f"option{request['answer']}"] for request in requests]
    assert options == ["Sie fliegt.", "Ein Schläger.", "Ein Schläger."]
    assert requests[0]["answer"] == "2"
    replies = [{"id": row["id"], "text": "Translation 2"} for row in requests]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    run_command(*asked, "--replies", "replies.jsonl", "-o", "r.json", "-q", cwd=tmp_path)
    result = EvaluationResult.from_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert result.counts["n_correct"] == sum(row["answer"] == "2" for row in requests)
    shown = run_command(*asked[:2], "--shots", "1", "--show", "first", cwd=tmp_path).stdout
    assert "1 demonstrations (data.0)" in shown
    fewer = run_command(*asked[:2], "--show", "first", cwd=tmp_path)
    assert "note: demonstrations: 1, fewer than the default of 6" in fewer.stderr
    assert "1 demonstrations (data.0)" in fewer.stdout
    assert (
        json.loads(run_command(*asked, "--show", "first", "--json", cwd=tmp_path).stdout)["answer"]
        == "2"
    )
    assert (
        "right answer: 2, Sie fliegt."
        in run_command(*asked, "--show", "first", cwd=tmp_path).stdout
    )
    (tmp_path / "bare.jsonl").write_text("\n".join(map(json.dumps, OWN)), encoding="utf-8")
    bare = ["ask", "bare.jsonl", *asked[2:], "--show", "first"]
    assert "correct French translation" in run_command(*bare, "-l", "en-fr", cwd=tmp_path).stdout
    assert "tgt_lang is empty" in run_command(*bare, cwd=tmp_path, status=2).stderr
    refused = run_command("ask", "r.replies.jsonl", "--show", "first", cwd=tmp_path, status=2)
    assert "since nothing is asked" in refused.stderr


@cases(("mt_geneval", "contextual_de", "0"), ("mucow", "scoring.et-en", "/1"))
def test_contrastive_sets_can_be_asked(dataset: str, config: str, ids: str, shared: Path) -> None:
    upstream = ["--data-dir", str(shared / "upstream")]
    shown = run_command(
        "ask", dataset, config, *upstream, "--show", "first", "--both-orders", "--json"
    )
    assert "Which is the better translation?" in json.loads(shown.stdout)["messages"][-1]["content"]
