import json
from pathlib import Path

from typer.testing import Result

from cc_hf.data.loading import load_examples
from cc_hf.errors import InputError
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.usual import cases, invoke, read_jsonl, write_lines

_KEYS = "id source focus position correct_cues incorrect_cues category gold src_lang tgt_lang"


def cues_build(words: str, *arguments: object, error: type[Exception] | None = None) -> Result:
    invoked = invoke(f"cues build mucow {words}", *arguments, columns=80)
    assert isinstance(invoked.exception, error or type(None)), invoked.output
    return invoked


def test_cues_build_writes_cues_and_compares_them(tmp_path: Path, shared: Path) -> None:
    data = "ZurichNLP/contrastive-conditioning/tasks/data/mucow/disambiguation_cues"
    published = shared / "upstream" / data
    lists = published / "en-de.insertion_candidates.roberta-large.json"
    insertions = published / "en-de.insertions.roberta-large.jsonl"
    options = (
        f"en-de --word relay --cues-option n_candidates=4 --n-cues 2 --compare {insertions}"
        f" --data-dir {shared / 'upstream'} --candidates {lists}"
    )
    actual = cues_build(options, "--examples", tmp_path / "c.jsonl")
    rows = read_jsonl(tmp_path / "c.jsonl")
    assert len(rows) == 14
    for row in rows:
        assert list(row) == [*_KEYS.split(), "reference", "ambiguous_word"]
        assert row["source"][row["position"] : row["position"] + len(row["focus"])] == row["focus"]
        assert len(row["correct_cues"]) == len(row["incorrect_cues"]) == 2
    assert "2 senses with cues, 14 examples" in actual.stdout
    printed = cues_build(options, "--json", "--quiet")
    row = json.loads(printed.stdout)
    assert list(row) == ["senses", "left_out", "counts", "compared", "signature"]
    assert [sense["word"] for sense in row["senses"]] == ["relay", "relay"]
    assert row["senses"][0]["correct_cues"] in [cues["correct_cues"] for cues in rows]
    assert row["compared"]["correct"]["n_expected"] == 6
    assert row["counts"]["n_examples"] == 14
    cues = [row[side] for row in rows for side in ("correct_cues", "incorrect_cues")]
    assert all(" ".join(side) in actual.stdout for side in cues)
    assert actual.stdout.count("of 6 cues of en-de.insertions.roberta-large.jsonl chosen") == 2
    assert max(map(len, actual.stdout.split("correct:")[0].splitlines())) <= 80
    assert "signature: cues|data:mucow/en-de@" in actual.stdout
    assert f"written: {tmp_path / 'c.jsonl'}" in actual.stderr


def test_cues_build_predicts_candidates_with_a_masked_lm(tmp_path: Path, shared: Path) -> None:
    examples = load_examples("mucow", "en-de", data_dir=shared / "upstream")
    sources = [e.source for e in examples if e.extra["ambiguous_word"] == "relay"]
    lm = save_tiny_masked_lm(tmp_path, sources, max_tokens=24)
    options = (
        f"--word relay --cues-option n_candidates=2 --data-dir {shared / 'upstream'}"
        f" --masked-lm {lm} --candidates-output {tmp_path / 'c.json'}"
    )
    actual = cues_build(options)
    candidates = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert {len(words) for words in candidates["relay"].values()} == {50}
    assert f"|mlm:{tmp_path.name}@" in actual.stdout
    assert "sources are too long for the masked language model" in actual.stderr
    assert "fewer cues than requested" in actual.stderr


@cases(
    ("", "masked_lm, candidates: expected one of the two, got neither"),
    ("--masked-lm x --candidates c", "got both"),
    ("--candidates c --examples nowhere/x.jsonl", "does not exist"),
    ("--candidates c --candidates-output nowhere/x.json", "does not exist"),
    ("--candidates c --compare nowhere.jsonl", "nowhere.jsonl: file not found"),
)
def test_bad_arguments_are_refused_before_reading(arguments: str, message: str) -> None:
    assert message in str(cues_build(arguments, error=InputError).exception)


def calibration_rows(path: Path) -> Path:
    """Write a table in which half of the translations show each gender."""
    lines = [
        "source\tfocus\tgold\treference\ttgt_lang",
        *(
            f"The {noun} said that {i} of us {verb}.\t{noun}\t{gender}\t{article} sagte es {i}.\tde"
            for i in range(15)
            for noun, verb in (("doctor", "left"), ("nurse", "came"))
            for gender, article in (("female", "Die Ärztin"), ("male", "Der Arzt"))
        ),
    ]
    return write_lines(path, lines)


def test_cues_calibrate_prints_writes_and_draws_what_evaluate_takes(tmp_path: Path) -> None:
    rows = calibration_rows(tmp_path / "dev.tsv")
    written, picture = tmp_path / "cues.json", tmp_path / "cues.svg"
    wording = '[{"name": "titles", "cues": {"female": "Ms", "male": "Mr"}}]'
    wordings = write_lines(tmp_path / "own.json", [wording])
    names = ("gender_brackets", "gender_nouns", "titles")
    options = (
        f"--wording {names[0]} --wording {names[1]} --wording {wordings}"
        f" --cache no -o {written} --plot {picture}"
    )
    invoked = invoke(f"cues calibrate {rows} {options}", columns=80)
    assert invoked.exit_code == 0, invoked.output
    assert "Wordings of cues, en → de, on 30 translations that did not choose" in invoked.output
    assert f"written: {written}" in invoked.output.replace("\n", "")
    calibration = json.loads(written.read_text(encoding="utf-8"))
    assert calibration["chosen"] in names
    assert f"signature: {calibration['signature']}" in invoked.output
    drawn = picture.read_text(encoding="utf-8")
    assert all(name in drawn for name in (*names, "shows female"))
    test = write_lines(tmp_path / "test.tsv", ["source\tfocus\tgold", "The cook left.\tcook\tmale"])
    translations = write_lines(tmp_path / "test.de", ["Die Köchin ging."])
    options = f"--translations {translations} --cues {written} --cache no"
    judged = invoke(f"evaluate {test} -l en-de {options}")
    assert judged.exit_code == 0, judged.output
    assert f"cues:{calibration['chosen']}|" in judged.output
    assert f"With the cues {calibration['chosen']}" in judged.output


def test_cues_calibrate_refuses_a_picture_that_it_cannot_draw(tmp_path: Path) -> None:
    rows = calibration_rows(tmp_path / "dev.tsv")
    invoked = invoke("cues calibrate", rows, "--plot", tmp_path / "cues.txt")
    assert isinstance(invoked.exception, InputError)
    assert "plot: expected a file that ends in ." in str(invoked.exception)
