import errno
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest

from cc_hf import registry
from cc_hf.data.files.nbest import Hypothesis
from cc_hf.data.files.translations import read_translations
from cc_hf.data.loading import declaration, load_examples
from cc_hf.errors import CCError, InputError
from cc_hf.folders import new_folder
from cc_hf.reports.tables.scores import evaluation_warnings
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.writing import _locked_part, check_output, write_atomically
from tests.helpers.usual import (
    cases,
    cc_hf,
    fails,
    invoke,
    known,
    printed_by,
    read_json,
    refuses,
    run_command,
    write_jsonl,
    write_lines,
    write_text,
)

_TRUNCATED = "--evaluator-option on_too_long=truncate"


def simplegen_file(tmp_path: Path) -> Path:
    """Write translations that only name the sentence, which is enough to be judged."""
    return write_lines(tmp_path / "t.txt", ["Sie ist Ärztin.", "Er ist Arzt."] * 1332)


def cooks(tmp_path: Path) -> tuple[str, str, Path]:
    """Write a dataset and translations of twenty sentences, and return them as arguments of
    `evaluate`.
    """
    rows = [
        f"The cook of house {i} said {pronoun} was late.,cook,{gender},{gender},de"
        for i in range(10)
        for gender, pronoun in (("male", "he"), ("female", "she"))
    ]
    data = write_lines(tmp_path / "cooks.csv", ["source,focus,gold,category,tgt_lang", *rows])
    texts = [f"Der Koch aus Haus {i} ging.\nDie Köchin aus Haus {i} ging." for i in range(10)]
    return str(data), "--translations", write_lines(tmp_path / "cooks.txt", texts)


@pytest.mark.parametrize("words", ["list evaluators", "list datasets winomt"])
def test_lists_in_a_pipe_are_not_padded(words: str) -> None:
    lines = run_command(words).stdout.splitlines()
    assert max(map(len, lines)) < 2_000
    is_whole = words == "list evaluators"
    assert [line.strip() for line in lines].count("cc-tiny-en-de") == is_whole
    fits = "winomt_pattern_matching: every configuration (into"
    assert any(fits in line for line in lines) != is_whole


def test_lists_say_which_data_are_at_hand(tmp_path: Path) -> None:
    file = declaration("winomt").files[0]
    write_text(tmp_path / file.repository / file.path, "")
    shown = cc_hf("list datasets", environment={"CC_HF_DATA_DIR": str(tmp_path)}).stdout
    assert "7 configurations, default en-de; at hand" in shown
    assert "24 configurations, default en-de; to be downloaded" in shown
    assert "at hand" in next(line for line in shown.splitlines() if line.startswith("  winomt"))


def test_list_names_everything_that_is_registered() -> None:
    short = cc_hf("list").stdout
    assert len(short.splitlines()) <= 25
    assert {name for name in registry.names("dataset") if name not in short} == set()
    actual = "".join(cc_hf(f"list {kind}").stdout for kind in ("metrics", "evaluators"))
    registered = {
        *registry.names("evaluator family"),
        "contrastive_conditioning",
        "cc-tiny-en-de",
    }
    assert {name for name in registered if name not in actual} == set()
    assert cc_hf("list models").stdout == cc_hf("list evaluators").stdout


def test_the_list_of_a_dataset_shows_its_configurations() -> None:
    mucow = cc_hf("list datasets mucow").stdout
    names = ["en-de*", "en-cs", "scoring.tr-en", "sources", "translations", "probing", "3,334", "?"]
    assert [name for name in names if name not in mucow] == []
    assert "counterfactual_*.into_english: " in cc_hf("list datasets mt_geneval").stdout


def test_the_list_of_a_metric_shows_paper_options_and_data() -> None:
    metric = " ".join(cc_hf("list metrics contrastive_conditioning").stdout.split())
    for text in ("Vamvas & Sennrich 2021", "on_blank: what a blank", "simplegen: every config"):
        assert text in metric


def test_metrics_are_listed_without_datasets() -> None:
    only = cc_hf("list metrics").stdout
    assert "contrastive_conditioning" in only
    assert "contrawsd" not in only


def test_evaluate_prints_the_table_and_writes_the_json(tmp_path: Path, tiny_marian: Path) -> None:
    output = tmp_path / "r.json"
    options = f"--evaluator {tiny_marian} --output {output} --limit 60 --verbose"
    actual = cc_hf(f"evaluate simplegen en-de {options} --translations", simplegen_file(tmp_path))
    rows = [
        line for line in actual.stdout.splitlines() if re.match(r" +[\w']+ .*\(.* – .*\)", line)
    ]
    names = [row.split()[0] for row in rows]
    assert names == [*["men's", "women's"] * 2, "total", "minimum"]
    assert "signature: cc|data:simplegen/en-de[60 by category]@" in actual.stdout
    result = EvaluationResult.from_json(output.read_text(encoding="utf-8"))
    given = (result.dataset, result.config, result.tgt_lang, result.n)
    assert given == ("simplegen", "en-de", "de", 60)
    assert result.signature in actual.stdout
    assert all(0 <= value <= 1 for value in result.scores.values())
    assert f"{100 * result.scores['accuracy_MoMc']:.1f}" in rows[0]


def test_several_evaluators_are_used_as_an_ensemble(tmp_path: Path, tiny_marian: Path) -> None:
    options = f"--evaluator {tiny_marian} --evaluator cc-tiny-en-de -q {_TRUNCATED}"
    output = cc_hf(f"evaluate --output {tmp_path}/r.json {options}", *cooks(tmp_path))
    assert "ensemble:sentence" in output.stdout.replace("\n", "")
    evaluators = rf"\|eval:{tiny_marian.name}@[0-9a-f]{{12}}\+cc-tiny-en-de@[0-9a-f]{{12}}\|"
    assert re.search(evaluators, read_json(tmp_path / "r.json")["signature"])


def test_translations_that_hold_their_sources_are_noted(tmp_path: Path, tiny_marian: Path) -> None:
    data, option, path = cooks(tmp_path)
    sources = run_command("sources", data).stdout.splitlines()
    write_lines(path, (f"{source}\t{source}" for source in sources))
    output = cc_hf(f"evaluate --evaluator {tiny_marian} {_TRUNCATED} --as-is", data, option, path)
    assert "warning: 20 of 20 translations contain their whole source" in output.stderr
    assert "warning: 20 of 20 translations stand in text that is no transl" in output.stderr


def test_only_translations_of_a_file_are_asked_whether_it_is_the_right_one() -> None:
    ours = EvaluationResult(
        "", "", "de", "gender_accuracy", "ga|sys:a|n:4", 4, {}, {}, (), (), {"n_with_source": 3}
    )
    theirs = replace(ours, signature="ga|n:4")
    message = "3 of 4 translations contain their whole source"
    assert list(evaluation_warnings([ours], ())) == [message]
    assert list(evaluation_warnings([theirs], ())) == [f"{message}; is this the right file?"]


def test_scores_are_cached_unless_told_otherwise(tmp_path: Path, tiny_marian: Path) -> None:
    def scores(*arguments: str | Path) -> str:
        return cc_hf("cache", *arguments).stdout

    def evaluate(*options: str | Path) -> bytes:
        output = tmp_path / "r.json"
        cc_hf(
            f"evaluate --evaluator {tiny_marian} -q -o {output} --evaluator-option mode=exact",
            *cooks(tmp_path),
            *options,
        )
        return output.read_bytes()

    cache_path = tmp_path / "own" / "c.sqlite"
    plain = evaluate("--cache", "no")
    assert ": 0 scores, 0 bytes" in scores()
    assert evaluate() == evaluate("--cache", cache_path) == plain
    kept = known(
        re.search(r"scores.sqlite: ([\d,]+) scores, [\d,]+ bytes\n +([\d,]+)  (.*)", scores())
    )
    assert kept[1] == kept[2] != "0"
    assert re.match(r"tiny-marian\d*@[0-9a-f]{12} float32 cpu en-de", kept[3])

    assert f"{cache_path}: {kept[1]} scores" in scores("--path", cache_path)
    removed = " ".join(cc_hf("cache", "--clear", "--path", cache_path).stdout.split())
    assert f"removed: {cache_path}, {kept[1]} scores" in removed
    removed = cc_hf(f"cache --clear --path {cache_path}").stdout
    assert "nothing to remove: there is no cache at" in removed
    assert f"{kept[1]} scores" in scores()
    assert "removed:" in cc_hf("cache", "--clear").stdout


def test_an_unusable_cache_is_refused_or_noted(tmp_path: Path, tiny_marian: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    arguments = ("evaluate", *cooks(tmp_path), "--evaluator", tiny_marian)
    refused = cc_hf(*arguments, "--cache", tmp_path / "file" / "c.sqlite", status=2)
    assert "cannot be written" in refused.stderr
    # in a process of its own, of which --quiet shows warnings only
    program = [sys.executable, "-m", "cc_hf.cli", *map(str, arguments), "-q", "-o", "r.json"]
    variables = {**os.environ, "COLUMNS": "100", "HF_HOME": str(tmp_path / "file")}
    completed = subprocess.run(
        program, env=variables, check=True, capture_output=True, text=True, cwd=tmp_path
    )
    message = r"warning: the cache of scores \S+ cannot be used \(.*\); the evaluation goes on, s"
    assert re.fullmatch(f"{message}cores are not stored\n", completed.stderr)
    assert "signature: cc|" in completed.stdout


def test_an_audit_and_labels_correct_the_figures(tiny_marian: Path, tmp_path: Path) -> None:
    data, option, path = cooks(tmp_path)
    common: list[str | Path] = [data, option, path, "--evaluator", tiny_marian]
    audit = "--audit cc-tiny-en-de --audit-size 20 --verbose"
    output = cc_hf(f"evaluate {audit} -o {tmp_path}/r.json", *common)
    assert "corrected (95 %)" in output.stdout
    result = read_json(tmp_path / "r.json")
    assert result["counts"]["n_trusted"] == 20
    assert "|trusted:cc-tiny-en-de@" in result["signature"]
    common_labels = {"inclusion": 1.0, **{f"binarized_annotator{n}": "correct" for n in (1, 2)}}
    judged = [(j["example_id"], j["translation"]) for j in result["judgements"]]
    rows = [{"id": name, "translation": text, **common_labels} for name, text in judged]
    labels = write_jsonl(tmp_path / "labels.jsonl", rows)
    cc_hf(f"evaluate --labels {labels} -o {tmp_path}/l.json", *common)
    assert read_json(tmp_path / "l.json")["scores"]["corrected_accuracy"] == 1.0


_BY_CUES = "--translations t --metric contrastive_conditioning"
_PROBING = "metrics that fit mucow en-de.probing: mucow_pattern_matching; see `cc-hf list datasets"
_FITTING = f"use the configuration en-de or en-de.emnlp2021; {_PROBING} mucow`"
_BOTH = "evaluate simplegen --translations t.txt --translations b=t.txt -o both.json"


@cases(
    ("evaluate winmt --translations t", "unknown dataset 'winmt'; did you mean 'winomt'"),
    ("evaluate simplegen de-fr --translations t", "unknown configuration of simplegen 'de-fr'"),
    ("evaluate simplegen de-fr --translations t", "It has no de-fr, but en-de, en-es, en-ar"),
    ("evaluate simplegen en-Germn --translations t", "unknown configuration of simplegen"),
    ("evaluate simplegen -l en-Germn --translations t", "did you mean 'en-de'?"),
    ("evaluate simplegen en-de -l en-ru --translations t", "language 'ru'; expected one of de"),
    ("evaluate winomt en-de -l en-es --translations t.txt", "--language-pair: expected de, as"),
    (
        "evaluate winomt --translations t",
        "error: --language-pair: winomt default has several target languages; name one of",
    ),
    ("evaluate winomt de --translations t", "'de' is a target language, give it as `--lang"),
    ("evaluate simplegen t.txt", "given as --translations t.txt"),
    ("evaluate simplegen --audit-size 30", "--audit-size: expected --audit MODEL with it"),
    ("evaluate simplegen --audit a --labels b", "either --audit or --labels, got both"),
    ("evaluate simplegen --metric all --labels b", "--metric: expected one with --audit or"),
    ("evaluate simplegen --metric simplegen_accuracy --audit a", "expected a metric by"),
    ("evaluate simplegen --metric a:B", "--metric: expected a name of `cc-hf list"),
    ("translate t.txt -o o.txt", "--system: expected a model that translates"),
    ("translate t.txt --system a --limit 2 -o o.txt", "t.txt: expected a text file without a"),
    ("list winomt", "unknown kind 'winomt'. Known: datasets, evaluators, metrics; the"),
    ("list datasets mucw", "unknown dataset 'mucw'; did you mean 'mucow'?"),
    ("list metrics blue", "unknown metric 'blue'"),
    ("list evaluators x", "expected a name after `datasets` or `metrics` only, got 'x'"),
    ("list dataset winmt", "unknown dataset 'winmt'; did you mean 'winomt'"),
    (f"evaluate mucow en-cs {_BY_CUES}", "mucow en-cs has no contrastive sources"),
    (f"evaluate mucow en-cs {_BY_CUES}", "no configuration of mucow fits for en-cs"),
    (f"evaluate mucow en-de.probing {_BY_CUES}", _FITTING),
    ("evaluate simplegen --translations t.txt --option a", "expected key=value, got 'a'"),
    ("evaluate simplegen --translations t.txt --option =x", "got '=x'"),
    ("evaluate simplegen", "or a system to translate with, got neither"),
    ("evaluate simplegen --system a --translations t", "got both"),
    ("evaluate simplegen --translations missing.txt", "missing.txt: file not found"),
    ("evaluate simplegen --translations t --metric blue", "unknown metric 'blue'"),
    ("evaluate simplegen --translations t --metric chrF", "got 'chrF'; for BLEU and chrF use"),
    (_BOTH, "--output: expected a folder for the results of several systems, got both.json"),
    ("evaluate simplegen en-es --translations t.txt", "none ships with the package for en-es"),
    ("evaluate simplegen en-fi --translations t.txt", "but: dictionary: none is built in for the"),
    ("evaluate simplegen --translations t.txt --option score=mean", "score: expected one of"),
    ("evaluate simplegen --translations t.txt --output no/r.json", "not exist; create it"),
    ("evaluate winomt en-de --translations t.txt", "HF_HUB_OFFLINE is set"),
    ("score t.txt --references t.txt --seed 1", "--resamples, --seed: expected --paired with them"),
    ("translate simplegen --system nothing --output o.txt", "unknown evaluator 'nothing'"),
    ("translate simplegen en-es --system cc-tiny-en-de -o o.txt", "target language 'es'"),
)
def test_errors_print_one_message_with_status_2(words: str, message: str, tmp_path: Path) -> None:
    simplegen_file(tmp_path)
    output = cc_hf(words, cwd=tmp_path, status=2)
    assert output.stderr.startswith("error: ")
    assert message in " ".join(output.stderr.split())
    assert "Traceback" not in output.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.txt"]


@pytest.mark.parametrize("name", ["t.txt", "t.jsonl"])
@patch(
    "cc_hf.systems.nbest.translate_nbest",
    lambda texts, *_, **__: [(Hypothesis(f"ü {text}"),) for text in texts],
)
def test_translate_writes_what_evaluate_reads(tmp_path: Path, tiny_marian: Path, name: str) -> None:
    printed_by(f"translate simplegen --system {tiny_marian} --output {tmp_path / name} --quiet")
    examples = load_examples("simplegen", "en-de")
    written = read_translations(tmp_path / name, examples).translations
    assert written == tuple(f"ü {e.source}" for e in examples)


_INTERRUPTED = """
import os, signal, sys, time, types
# background jobs inherit that it is ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
from cc_hf.cli.main import run

def interrupted(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        time.sleep(0.01)

def dropping(*arguments, **options):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise TypeError("generate(): an argument is wrong") from None

names = {"translate_nbest": globals()[sys.argv[1]], "cued_sources": None}
sys.modules["cc_hf.systems.nbest"] = types.SimpleNamespace(**names)  # without torch
sys.argv = ["cc-hf", "translate", "simplegen", "--system", "cc-tiny-en-de", "--output", "o.txt"]
run()
"""


@pytest.mark.parametrize("translate", ["interrupted", "dropping"])  # raises a TypeError instead
def test_ctrl_c_leaves_no_half_written_output(tmp_path: Path, translate: str) -> None:
    program = [sys.executable, "-c", _INTERRUPTED, translate]
    completed = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert (completed.returncode, completed.stderr.strip()) == (130, "stopped; nothing was written")
    assert list(tmp_path.iterdir()) == []


_FULL = OSError(errno.ENOSPC, "No space left on device")


@cases(
    (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    (_FULL, InputError, r"r\.json could not be written \(No space left on device\)"),
)
def test_interrupted_writes_keep_old_files(
    cause: BaseException, error: type[BaseException], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    write_atomically(path, "old\u2028\n")
    with patch.object(os, "fsync", Mock(side_effect=cause)):
        fails(error, message, write_atomically, path, "new")
    assert path.read_text(encoding="utf-8") == "old\u2028\n"
    assert list(tmp_path.iterdir()) == [path]


def test_outputs_that_cannot_be_written_are_refused_before_any_work(tmp_path: Path) -> None:
    check_output(None)
    check_output(tmp_path / "r.json")
    for path, message in (
        (tmp_path, "is a folder"),
        (Path("/proc/r.json"), "cannot be written to"),
        (tmp_path / "no" / "r.json", "does not exist"),
    ):
        refuses(message, check_output, path)


@cases(
    "evaluate simplegen en-de --translations a --metric simplegen_accuracy -o a",
    "evaluate simplegen en-de --translations System=a -o ./a",
    "rerank simplegen en-de --nbest a --best a",
    "compare a b -o b",
    "compare a b --metric bleu -o linked",
    "report a -o a",
    "report a --html a",
    "report a.html --html a.html",
    "score a --references b -o b",
    "score System=a --references b -o a",
    "ask simplegen en-de --replies a -o a",
    "build sheets a --output sheets --key a",
    "sources a.csv --output a.csv",
    "translate a.csv --system cc-tiny-en-de --output a.csv",
    "explain a -o a",
    "explain a --html a.html -o a",
    "cues build a.csv --candidates b --candidates-output b",
    "cues calibrate a -o a",
)
def test_an_output_that_is_an_input_is_refused_before_any_work(
    command: str, tmp_path: Path
) -> None:
    files = [write_text(tmp_path / name, name) for name in ("a", "b", "a.csv", "a.html")]
    (tmp_path / "linked").symlink_to(tmp_path / "b")
    shown = cc_hf(command, cwd=tmp_path, status=2)
    assert "expected another file than that of " in shown.stderr
    assert "which would be overwritten, got " in shown.stderr
    assert [path.read_text(encoding="utf-8") for path in files] == ["a", "b", "a.csv", "a.html"]


def test_a_name_that_is_also_that_of_the_output_is_no_input(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.txt", ["Mein Mann ist Direktor."] * 2)
    command = "evaluate simplegen en-de --limit 2 --translations t.txt --metric simplegen_accuracy"
    for _ in range(2):
        cc_hf(f"{command} --name aws -o aws", cwd=tmp_path)
    assert (tmp_path / "aws").is_file()


@cases(
    ("score x --references a --references b", "--references: expected one value, got the option 2"),
    ("evaluate simplegen en-de --metric a --metric b", "--metric: expected one value"),
    ("evaluate simplegen en-de -o a --output b", "--output: expected one value"),
    (
        "compare a b --metric=x --metric y --metric z",
        "--metric: expected one value, got .* 3 times",
    ),
    ("sources winomt -l en-de -l en-fr", "--language-pair: expected one value"),
)
def test_an_option_of_one_value_is_given_once(command: str, message: str, tmp_path: Path) -> None:
    assert re.search(message, cc_hf(command, cwd=tmp_path, status=2).stderr)


@cases(
    "report a --html x --markdown x",
    "report a --html x -o ./x",
    "explain a --html x -o x",
    "rerank simplegen en-de --nbest a --best x -o x",
)
def test_two_outputs_of_one_path_are_refused(command: str, tmp_path: Path) -> None:
    write_text(tmp_path / "a", "a")
    shown = cc_hf(command, cwd=tmp_path, status=2)
    assert "since one would overwrite the other, got x" in shown.stderr.replace("./", "")


@pytest.fixture
def bats(tmp_path: Path) -> Path:
    """Write one example and its translation."""
    columns = "source,focus,correct_cues,incorrect_cues,tgt_lang"
    write_lines(tmp_path / "bats.csv", [columns, "The bat was old.,bat,baseball,flying,de"])
    return write_lines(tmp_path / "t.txt", ["Der Schläger war alt."]).parent


def test_a_user_file_can_be_built_and_evaluated(bats: Path, tiny_marian: Path) -> None:
    built = cc_hf("build bats.csv --output bats", cwd=bats)
    assert "bats/bats/test-00000-of-00001.parquet" in built.stdout
    judged = cc_hf(f"evaluate bats.csv --translations t.txt --evaluator {tiny_marian}", cwd=bats)
    assert "signature: cc|data:custom/bats@" in judged.stdout


def test_output_follows_links_and_can_be_a_device(tmp_path: Path) -> None:
    target, link = write_text(tmp_path / "target", "old"), tmp_path / "link"
    link.symlink_to(target)
    write_atomically(link, "new")
    assert (link.is_symlink(), target.read_text(encoding="utf-8")) == (True, "new")
    check_output(Path(os.devnull))
    write_atomically(Path(os.devnull), "gone")
    assert Path(os.devnull).is_char_device()


def test_metric_all_runs_every_metric_in_one_pass(bats: Path, tiny_marian: Path) -> None:
    common = f"evaluate {bats}/bats.csv --translations {bats}/t.txt --evaluator {tiny_marian} -q"
    printed = printed_by(f"{common} --metric all -o {bats}/all.json")
    results = ResultSet.from_json((bats / "all.json").read_text(encoding="utf-8")).results
    printed_alone = printed_by(f"{common} -o {bats}/one.json --option score=geometric")
    alone = EvaluationResult.from_json((bats / "one.json").read_text(encoding="utf-8"))
    assert alone in results
    assert all(f"signature: {result.signature}" in printed.replace("\n", "") for result in results)
    assert "contrastive conditioning" in printed
    assert f"{100 * alone.scores['accuracy']:.1f} (" in printed_alone


def test_metrics_that_lack_something_are_named_once_on_stderr(tmp_path: Path) -> None:
    texts = write_lines(tmp_path / "opus.txt", ["Sie ist Ärztin."] * 2664)
    arguments = f"evaluate simplegen en-es --translations {texts} --metric all"
    output = tmp_path / "r.json"
    actual = cc_hf(arguments, "--output", output, "--name", "Opus 1")
    stored = ResultSet.from_json(output.read_text(encoding="utf-8"))
    assert list(stored.not_run) == ["contrastive_conditioning"]
    (line,) = [line for line in actual.stderr.splitlines() if "not run" in line]
    assert line.startswith("note: not run: contrastive conditioning: ")
    assert "not run" not in actual.stdout
    assert actual.stdout.startswith("SimpleGEN, English → Spanish: 2,664 translations\n")
    assert "  Opus 1  " in actual.stdout
    assert {result.system for result in stored.results} == {"Opus 1"}
    assert "not run" not in cc_hf(arguments, "--quiet").stderr
    for kind in ("--markdown", "--latex", "--html"):
        cc_hf("report", output, kind, tmp_path / "o", "-q", cwd=tmp_path)
        text = (tmp_path / "o").read_text(encoding="utf-8")
        assert ("Opus 1" in text, "not run" in text) == (True, False)


def test_partial_files_of_killed_runs_are_removed_by_the_next_run(tmp_path: Path) -> None:
    """A process that is killed while writing leaves a partial file, which the next run removes;
    that of a running process is kept.
    """
    code = (
        "import os, signal\nfrom pathlib import Path\nfrom cc_hf import writing\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        "writing.write_atomically(Path('r.json'), 'half')"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == -signal.SIGKILL
    (abandoned,) = tmp_path.iterdir()
    assert abandoned.name.endswith(".part")
    handle, name = _locked_part(tmp_path, ".r.json.")
    write_atomically(tmp_path / "r.json", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", Path(name).name}
    os.close(handle)


LONG, LOOP = "x" * 300, "loop"


@pytest.mark.parametrize("name", [LONG, LOOP, "a\0b", f"{LONG}/r.json", f"{LOOP}/r.json"])
def test_output_paths_that_the_system_cannot_open_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / LOOP).symlink_to(LOOP)
    entered: Any = lambda path: new_folder(path).__enter__()  # noqa: E731
    for write in (check_output, lambda path: write_atomically(path, "text"), entered):
        refuses("output: expected the path of a file or folder", write, tmp_path / name)


def test_an_output_with_the_longest_possible_name_is_written(tmp_path: Path) -> None:
    check_output(tmp_path / ("x" * 255))
    write_atomically(tmp_path / ("x" * 255), "text")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


@pytest.mark.parametrize("name", [LONG, LOOP], ids=["long name", "loop"])
@cases(
    "evaluate a.csv --translations t.txt --cache no --output",
    "evaluate a.csv --translations t.txt --cache",
    "evaluate a.csv --cache no --translations",
    "evaluate a.csv --translations t.txt --evaluator",
    "evaluate winomt en-de --translations t.txt --data-dir",
    "evaluate simplegen --translations t.txt --metric simplegen_accuracy --option dictionary=",
    "evaluate",
    "build a.csv --output",
    "report r.json --html",
    "report r.json --markdown",
    "report r.json --latex",
    "report r.json --plots",
    "report r.json --html r.html --dataset",
    "explain a.csv --translation x --output",
    "translate simplegen --system cc-tiny-en-de --output",
    "publish metric gender_accuracy --repo a/b --output",
    "publish leaderboard --repo a/b --output o",
    "publish results r.json --repo a/b --dataset-repo a/c --card",
)
def test_unusable_paths_give_a_message_and_no_traceback(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / LOOP).symlink_to(LOOP)
    result = EvaluationResult("", "", "de", "m", "m|n:1", 1, {"accuracy": 1.0}, {}, (), ())
    write_lines(Path("a.csv"), ["source,focus,gold,tgt_lang", "The nurse left.,nurse,male,de"])
    write_lines(Path("t.txt"), ["Der Pfleger ging."])
    write_lines(Path("r.json"), [result.to_json()])
    invoked = invoke(f"{words}{name}" if words.endswith("=") else f"{words} {name}")
    assert isinstance(invoked.exception, CCError), invoked.output
