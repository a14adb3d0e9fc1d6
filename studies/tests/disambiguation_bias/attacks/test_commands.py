import json
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.common import nouns
from cc_hf_studies.disambiguation_bias.attacks.samples import read_judgements, read_samples
from cc_hf_studies.disambiguation_bias.attractors import count_attractors
from cc_hf_studies.disambiguation_bias.homographs import write_pairs

from cc_hf.errors import CCError
from cc_hf.files import sole_writer
from studies.tests.common.parsed_nouns import PARTS
from studies.tests.disambiguation_bias.attacks.helper import tagged, training_pairs
from tests.helpers.letter_evaluator import TextEvaluator
from tests.helpers.usual import (
    cases,
    cells_beside,
    fails,
    fill,
    overriding,
    printed_by,
    read_json,
    read_jsonl,
    write_lines,
)

LEXICON = {"spring": {"season": ["Frühling"], "water": ["Quelle"]}}


def run(words: str) -> str:
    """Return what a command prints; it runs in the current folder, that of the fixture."""
    return printed_by(f"study disambiguation_bias attack {words}", columns=200)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write seeds, a corpus, attractors and a lexicon into the current folder; the dictionary is
    small.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nouns, "english_parts", lambda word: frozenset(PARTS.get(word, ())))
    monkeypatch.setattr(nouns, "_lemminflect_version", lambda: "test")
    pairs = training_pairs()
    write_pairs("training.jsonl", pairs)
    came = "spring came to us in this year"
    seeds = (f"A {came} at last .", f"The old {came} again .", "A spring .")
    write_pairs("seeds.jsonl", [tagged(i, seed, "season") for i, seed in enumerate(seeds, 20)])
    Path("table.json").write_text(count_attractors(pairs).to_json(), encoding="utf-8")
    Path("lexicon.json").write_text(json.dumps(LEXICON), encoding="utf-8")
    return tmp_path


def make(options: str = "") -> str:
    command = (
        "build seeds.jsonl --attractors table.json --dropped-share 0 --training training.jsonl"
        " --samples samples.jsonl --sources sources.txt"
    )
    return run(" ".join(overriding(command, options)))


def judge(options: str = "") -> str:
    """Judge translations word for word in which "hot" makes the spring water."""
    lines = []
    for text in Path("sources.txt").read_text(encoding="utf-8").splitlines():
        lines.append(text.replace("spring", "Quelle" if " hot " in text else "Frühling"))
    write_lines(Path("translations.txt"), lines)
    command = (
        "judge samples.jsonl --translations translations.txt --lexicon lexicon.json"
        " --search anywhere --resamples 20"
    )
    return run(" ".join(overriding(command, options)))


def test_from_pairs_to_figures() -> None:
    summary = json.loads(make("--json"))
    assert (summary["counts"]["n_short"], summary["counts"]["n_samples"]) == (1, 3)
    assert "parser:lemminflect-test" in summary["signature"]
    kinds = [sample.kind for sample in read_samples("samples.jsonl")]
    assert kinds == ["insert_at_homograph", "insert_at_homograph", "replace_at_homograph"]
    assert read_json(Path("samples.summary.json")) == summary
    row = json.loads(judge("--json --judgements a.jsonl --html page.html -o attacks.json"))
    figures = row["judges"]["lexicon"]
    assert (figures["total"]["n"], figures["total"]["n_success"]) == (3, 2)
    assert len(list(read_judgements("a.jsonl"))) == 3
    assert "<article" in Path("page.html").read_text(encoding="utf-8")
    assert "100.0" in run("transfer a.jsonl a.jsonl --name a --name b -o transfer.json")
    beside = cells_beside("disambiguation_bias", "attacks.json", "transfer.json")
    assert beside["Figure 3.3"] == {"success": figures["total"]["rate"]}
    assert beside["Table 3.11"] == figures["prediction"]["thresholds"]
    tests = [test["test"]["rank_biserial"] for test in figures["prediction"]["tests"]]
    assert list(beside["Table 3.10"].values()) == tests
    assert beside["section 3.3.4"] == {"least similar": 1.0}


def test_words_are_aligned_with_a_corpus_or_as_a_file_says() -> None:
    make()
    for name, line in (("a.en", "the spring came"), ("a.de", "der Frühling kam")):
        write_lines(Path(name), [line] * 3)
    row = json.loads(judge("--align-with a.en a.de --search aligned --json"))
    assert "|align:fast_align+3." in row["signature"]
    assert row["judges"]["lexicon"]["total"]["n"] == 3
    n_texts = len(Path("sources.txt").read_text(encoding="utf-8").splitlines())
    write_lines(Path("links.txt"), [" ".join(f"{i}-{i}" for i in range(10))] * n_texts)
    row = json.loads(judge("--alignments links.txt --search aligned --json"))
    assert "|align:given." in row["signature"]
    assert row["judges"]["lexicon"]["total"]["n_success"] == 2


def test_a_language_model_is_asked_for_the_samples_and_judged_where_it_answered() -> None:
    make()
    ask = "ask samples.jsonl --language-pair en-de --shots 0"
    assert json.loads(printed_by(f"{ask} --show first --json", columns=200))["id"] == "seed:20"
    printed_by(f"{ask} --prompts requests.jsonl", columns=200)
    requests = read_jsonl(Path("requests.jsonl"))
    texts = [row["source"] for row in requests]
    assert texts == Path("sources.txt").read_text(encoding="utf-8").splitlines()
    kinds = {"seed", "insert_at_homograph", "replace_at_homograph"}
    assert {row["category"] for row in requests} == kinds
    words = {"A": "Ein", "The": "Der", "came": "kam", "to": "zu", "us": "uns", "old": "alte"}
    words |= {"in": "in", "this": "diesem", "year": "Jahr", "at": "am", "last": "Ende"}
    replies = []
    for row in requests:
        sense = "Quelle" if " hot " in row["source"] else "Frühling"
        text = " ".join(words.get(word, sense) for word in row["source"].split())
        replies.append({"id": row["id"], "text": "" if row is requests[1] else text})
    write_lines(Path("replies.jsonl"), [json.dumps(row) for row in replies])
    printed_by(f"{ask} --replies replies.jsonl -o asked.jsonl -q", columns=200)
    options = "--lexicon lexicon.json --resamples 20 --json"
    row = json.loads(run(f"judge samples.jsonl --translations asked.jsonl {options}"))
    assert row["notes"][0].startswith("2 of 3 samples are judged")
    assert row["judges"]["lexicon"]["total"]["n"] == 2


def test_samples_that_another_run_writes_are_not_made(folder: Path) -> None:
    refused = pytest.raises(CCError, match="no other run is writing")
    with sole_writer(folder / "samples.jsonl"), refused:
        make()
    assert not list(folder.glob("*samples*"))


def test_tables_are_printed_in_place_of_json() -> None:
    assert "inserted before the homograph" in make()
    assert "attacks on translations" in judge()


def test_contrastive_conditioning_needs_cues_only() -> None:
    make()
    write_lines(Path("cues.json"), ['{"spring": {"season": ["flowers"], "water": ["hills"]}}'])
    row = json.loads(judge("--judge contrastive --judge lexicon --cues cues.json --json"))
    assert row["judges"].keys() == {"lexicon", "contrastive"}
    assert "cues:cues.6.before" in row["signature"]
    assert "contrastive conditioning" in judge("--judge contrastive --attractors table.json")


def test_a_challenge_set_and_sheets_are_written_and_read() -> None:
    make()
    files = "--strongest hard.jsonl --random random.jsonl"
    assert "2 of 3 samples" in run(f"build-challenge samples.jsonl {files} --n 2")
    assert len(list(read_samples("random.jsonl"))) == 2
    options = "--key key.json --n 3 --lexicon lexicon.json --regular training.jsonl"
    run(f"build-sheets hard.jsonl -o sheets {options}")
    for path in ("sheets/rater1.csv", "sheets/rater2.csv"):
        assert len(fill(Path(path), lambda row: ["1", "4"])) == 5
    rated = run("rate key.json sheets/rater1.csv sheets/rater2.csv --json")
    assert json.loads(rated)["kappa"] == 1.0
    write_lines(Path("rated.json"), [rated])
    beside = cells_beside("disambiguation_bias", "rated.json")
    assert beside["section 3.3.3, naturalness"] == {"adversarial": 4.0, "regular": 4.0}
    assert beside["section 3.3.3, kappas"]["senses"] == 1.0
    rates = {kind["kind"]: kind["error_rate"] for kind in json.loads(rated)["kinds"]}
    assert beside["section 3.3.3, errors"] == rates


def test_grammar_is_compared_with_a_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    tool = "cc_hf_studies.disambiguation_bias.attacks.grammar.language_tool"
    monkeypatch.setattr(tool, lambda lang: lambda text: "hot" in text)
    shown = run("grammar samples.jsonl -o grammar.json")
    beside = cells_beside("disambiguation_bias", "grammar.json")
    assert beside == {"section 3.3.3, grammar": {"samples": pytest.approx(2 / 3)}}
    assert "2 of 3 samples have more errors than their seed: 66.7" in shown


def test_more_sentences_and_both_language_models_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[str, Any]] = []

    def load(name: str, options: Any) -> TextEvaluator:
        loaded.append((name, options.kind))
        return TextEvaluator(lambda text: -5.0 if "old" in text or "Quelle" in text else -1.0)

    monkeypatch.setattr("cc_hf.evaluators.loading.load_with", load)
    write_lines(Path("more.txt"), ["The warm year is here .", ""])
    models = "--masked-lm bert --fluency-lm gpt --lexicon lexicon.json"
    summary = json.loads(make(f"--corpus more.txt {models} --json"))
    assert loaded == [("bert", "masked_lm"), ("gpt", "causal_lm")]
    assert summary["counts"]["n_not_fluent"] == 1
    assert "mlm:letters@1|lm:letters@1|ratio:<=1.2" in summary["signature"]


@cases(
    ("--kind insert", "kinds: expected one of insert_at_homograph"),
    ("--lexicon x.json", "lexicon: only --masked-lm uses it"),
    ("--min-tokens 500", "expected at least one sample, got none from 0 seeds"),
    ("--corpus absent.txt", "absent.txt: file not found"),
    ("--samples -", "samples: expected a file that ends in .jsonl, got -"),
)
def test_options_of_build_are_checked(options: str, message: str) -> None:
    fails(CCError, message, make, options)
    assert not Path("samples.jsonl").exists()


_JUDGE = "study disambiguation_bias attack judge samples.jsonl --lexicon lexicon.json"
_ALL = f"{_JUDGE} --translations translations.txt --search anywhere"
_CUES = f"{_ALL} --judge contrastive --cues"
_OTHERS = "study disambiguation_bias attack"
_ASK = "ask samples.jsonl --show first"


@cases(
    (f"{_ALL} --judge people", "judge: expected one of lexicon, contrastive, got 'people'"),
    (f"{_ALL} --evaluator x", "only --judge contrastive uses them"),
    (f"{_ALL} --judge contrastive", "needs words for each sense; .* got neither"),
    (f"{_ALL} --system x", "expected one of both, got both"),
    (f"{_JUDGE} --translations none.jsonl", "of at least one sample and its seed, got none"),
    (f"{_ALL} --alignments sources.txt", "line 1: expected links such as 0-0"),
    (f"{_ALL} --alignments sources.txt --aligner eflomal", "an aligner or alignments, got both"),
    (f"{_ALL} --align-with sources.txt lexicon.json", "expected as many lines in both files"),
    (f"{_CUES} list.json", "expected an object such as"),
    (f"{_CUES} broken.json", "expected an object such as"),
    (f"{_CUES} spring.json", r"spring: expected an object, got \[\]"),
    (f"{_CUES} words.json", "spring: 1: expected a list, got 'summer'"),
    (f"{_JUDGE} --translations short.txt", "one line for each distinct text"),
    (f"{_OTHERS} rate key.json one.csv", "file not found"),
    (f"{_OTHERS} transfer a.jsonl b.jsonl --name x", "a different name for each of 2 files"),
    (_ASK, "languages of the sentences in samples.jsonl, such as en-de"),
    (f"{_ASK} --language-pair en-de --split dev", "with --language-pair and --limit only"),
)
def test_commands_that_do_not_fit_are_refused(command: str, message: str) -> None:
    make()
    judge()
    for name, text in {
        **{"none.jsonl": '{"source": "A", "translation": null}', "short.txt": "Eine Zeile"},
        **{"list.json": "[]", "broken.json": "{", "spring.json": '{"spring": []}'},
        "words.json": '{"spring": {"1": "summer"}}',
    }.items():
        write_lines(Path(name), [text])
    fails(CCError, message, printed_by, command, columns=200)
