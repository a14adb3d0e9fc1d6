"""Parts of an evaluation: merged, they are the scores of one process to the bit."""

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cc_hf
from cc_hf.errors import CCError, EvaluatorError, FileError
from cc_hf.evaluators.base import Sharing
from cc_hf.evaluators.contests import pair_scores
from cc_hf.evaluators.distributed import ALONE
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.plugins.scale import parts, ray_data
from cc_hf.plugins.scale.merging import Merged, merge
from cc_hf.plugins.scale.parts import Part, PartDone, PartOrigin
from cc_hf.plugins.scale.ray_data import RayParts
from cc_hf.schema import ScoringRequest
from examples import hf_jobs_parts
from tests.helpers.distributed_program import as_lists
from tests.helpers.letter_evaluator import Ids, LetterEvaluator, Logprobs, letter_requests
from tests.helpers.processes import together
from tests.helpers.usual import EN_DE, cases, fails, refuses, run_command, write_lines

_ALONE = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh")


@pytest.fixture(scope="module")
def by_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Any]]:
    """Yield the program that scores by Ray, and its folder."""
    pytest.importorskip("ray", reason="ray is not installed (pip install 'cc_hf[ray]')")
    if shutil.which("unshare") is None or subprocess.run([*_ALONE, "true"]).returncode:
        pytest.skip("this system makes no network of a test's own (unshare --net)")
    folder = tmp_path_factory.mktemp("ray")
    command = [*_ALONE, sys.executable, "-m", "tests.plugins.scale.ray_program", str(folder)]
    with subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}) as program:
        yield folder, program
        program.kill()


@pytest.fixture(scope="module", autouse=True)
def _ray_works_meanwhile(request: pytest.FixtureRequest) -> None:
    """Start the program before the other tests: most of its time it waits for its processes."""
    if any("by_ray" in getattr(item, "fixturenames", ()) for item in request.session.items):
        with contextlib.suppress(pytest.skip.Exception):
            request.getfixturevalue("by_ray")


class RoundingEvaluator(LetterEvaluator):
    """An evaluator whose last digits depend on the batch, as those of models do."""

    def logprobs_batch(self, sources: Ids, targets: Ids) -> Logprobs:
        error = 1e-9 * sum(map(len, (*sources, *targets)))
        return [row - error for row in super().logprobs_batch(sources, targets)]


def scored(cache: Path | None, requests: list[ScoringRequest], *before: Any, **options: Any) -> Any:
    store = ScoreCache(cache) if cache else None
    return as_lists(RoundingEvaluator(*before, cache=store, **options).score(requests, **EN_DE))


def computed(part: str, path: Path, requests: list[ScoringRequest], **options: Any) -> PartDone:
    """Compute a part, and return how it ended."""
    evaluator = RoundingEvaluator(**options)
    evaluator.sharing = Sharing(team=options.get("team", ALONE), part=Part(part, path))
    with pytest.raises(PartDone) as done:
        evaluator.score(requests, **EN_DE)
    return done.value


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 5), st.integers(20, 200), st.randoms())
def test_merged_parts_are_the_scores_of_one(n: int, n_parts: int, size: int, rng: Any) -> None:
    """In any order, some of them twice, with texts that have equal ids; those that are missing are
    computed in the batches of one process, too.
    """
    requests, seen = letter_requests(n), list[Any]()
    plain = scored(None, requests, batch_tokens=size)
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / f"{k}.parquet" for k in range(1, n_parts + 1)]
        for k in rng.sample(range(n_parts), n_parts):
            done = computed(f"{k + 1}/{n_parts}", files[k], requests, batch_tokens=size)
            assert done.n_new == done.n_scores
        cache = ScoreCache(Path(name) / "scores.sqlite")
        some = [file for file in files if rng.random() < 0.7]
        for file in some:
            merge(cache, [file, file])
        assert scored(cache.path, requests, batch_tokens=size) == plain
        merged = merge(cache, [*some[::-1], *files])
        assert (merged.n_new, merged.n_rounded, merged.missing) == (0, 0, {})
        assert (scored(cache.path, requests, seen.extend, batch_tokens=size), seen) == (plain, [])


def n_bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_a_part_that_is_killed_again_and_again_continues(tmp_path: Path) -> None:
    program = "from tests.plugins.scale.test_parts import slow_part; slow_part()"
    path, log, rng = tmp_path / "2.parquet", tmp_path / "log", random.Random(0)
    n_known, requests = 0, letter_requests(_N_SLOW)
    for _ in range(4):
        with subprocess.Popen([sys.executable, "-c", program, str(path), str(log)]) as running:
            wanted = n_bytes(log) + rng.randint(2, 6)
            while running.poll() is None and n_bytes(log) < wanted:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.05))
            running.kill()
        n_before, n_known = n_known, len(list(parts.part_rows(path))) if path.exists() else 0
        assert n_known >= n_before
    done, again = (computed("2/3", path, requests) for _ in range(2))
    assert done.n_new == done.n_scores - n_known < done.n_scores
    assert again.n_new == 0
    computed("2/3", tmp_path / "whole.parquet", requests)
    assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


_N_SLOW = 400


def slow_part() -> None:
    """Compute a part slowly, and append a letter to a log for each batch."""
    parts._SECONDS = parts._LARGEST_SHARE = 0
    path, log = map(Path, sys.argv[1:])

    def before(_pairs: object) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write("b")
        time.sleep(0.02)

    evaluator = RoundingEvaluator(before)
    evaluator.sharing = Sharing(part=Part("2/3", path))
    evaluator.score(letter_requests(_N_SLOW), **EN_DE)


def test_processes_share_a_part(tmp_path: Path) -> None:
    requests, path = letter_requests(90), tmp_path / "team.parquet"
    ended = together(3, lambda team: computed("1/2", path, requests, team=team))
    assert [type(of_member) for of_member in ended] == [PartDone] * 3
    computed("1/2", tmp_path / "alone.parquet", requests)
    assert (tmp_path / "team.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()


@cases(("other", True), ("main", False))
def test_unshared_caches_of_machines_are_read(name: str, is_known: bool, tmp_path: Path) -> None:
    requests, seen = letter_requests(60), list[Any]()
    if is_known:
        scored(tmp_path / name, requests)

    def work(team: Any) -> Any:
        cache = ScoreCache(tmp_path / "main") if team.is_main else None
        evaluator = RoundingEvaluator(seen.extend)
        other = None if team.is_main else ScoreCache(tmp_path / name)
        evaluator.sharing = Sharing(cache, team, other)
        return as_lists(evaluator.score(requests, **EN_DE))

    assert together(2, work) == [scored(None, requests)] * 2
    assert (not seen) == is_known
    assert ScoreCache(tmp_path / "main").info().n_scores == 60


def test_scores_of_other_batches_stay_where_they_were_first(tmp_path: Path) -> None:
    requests, cache = letter_requests(40), tmp_path / "scores.sqlite"
    before = scored(cache, requests[:5])
    computed("1/1", tmp_path / "1.parquet", requests)
    assert merge(ScoreCache(cache), [tmp_path / "1.parquet"]) == Merged(35, 5, 5, {})
    assert scored(cache, requests[:5]) == before


def test_caches_of_other_machines_are_taken_in(tmp_path: Path) -> None:
    caches = [tmp_path / f"{n}.sqlite" for n in (0, 1, 2)]
    requests = letter_requests(60)
    for path, some in zip(caches[1:], (requests[:40], requests[20:]), strict=True):
        RoundingEvaluator(cache=ScoreCache(path), identity="other").score(some, **EN_DE)
        LetterEvaluator(cache=ScoreCache(path)).score(some, **EN_DE)
    merged = merge(ScoreCache(caches[0]), caches[1:])
    assert (merged.n_new, merged.n_known) == (120, 52)
    plain = as_lists(LetterEvaluator().score(requests, **EN_DE))
    assert as_lists(LetterEvaluator(cache=ScoreCache(caches[0])).score(requests, **EN_DE)) == plain
    refuses("got the cache itself", merge, ScoreCache(caches[0]), [caches[0]])


def altered(path: Path, name: str, value: object, *, is_signed: bool = True) -> None:
    """Write a file of scores anew with one other value in the first row, or in all rows."""
    table = pyarrow.parquet.read_table(path)
    rows = table.to_pylist()
    for row in rows if name in ("format", "evaluator") else rows[:1]:
        row[name] = value
        score = row["sum_logprob"], row["n_tokens"], row["mean_probability"]
        if is_signed:
            origin = parts.PartOrigin(*(row[key] for key in ("evaluator", "plan", "n_pairs")))
            keyed = parts.KeyedScore(row["key"], row["token_ids"], score)
            row["check"] = next(origin.checks([keyed]))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=table.schema), path)


_OLD = '[["dtype","float32"],["eval","a@1"],["scoring","3"],["torch","1"],["transformers","2"]]'
_AGAIN = "the file of scores is damaged .*; delete it, and run its part again"


@cases(
    (lambda path: path.write_bytes(path.read_bytes()[:-40]), _AGAIN),
    (partial(altered, name="sum_logprob", value=-1.5, is_signed=False), _AGAIN),
    (partial(altered, name="n_tokens", value=None, is_signed=False), _AGAIN),
    (
        partial(pyarrow.parquet.write_table, pyarrow.table({"a": [1]})),
        "expected scores of .*, got a table without their columns",
    ),
    (lambda path: path.write_text("{}"), "expected scores of .*, got another file"),
    (Path.unlink, "file not found; run its part first"),
    (partial(altered, name="format", value=0), ".* in format 1, got format 0, .*"),
    (partial(altered, name="evaluator", value=_OLD), r".* got scoring 3 \(here"),
    (partial(altered, name="evaluator", value="{"), "it does not say what made"),
    (partial(altered, name="plan", value="b"), ".* of one evaluation, got several"),
    (partial(altered, name="key", value=b"\xff" * 32), ".* in the order of their"),
    (partial(altered, name="sum_logprob", value=3.0), ".* is no score that a"),
    (
        partial(altered, name="mean_probability", value=0.25),
        r"two different scores of the key [0-9a-f]{64}: .* in .*1\.parquet; both are of",
    ),
)
def test_unusable_files_add_nothing(break_it: Any, message: str, tmp_path: Path) -> None:
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for path in files:
        computed("1/1", path, letter_requests(30))
    break_it(files[1])
    cache = ScoreCache(tmp_path / "scores.sqlite")
    fails(FileError, rf"2\.parquet: {message}", merge, cache, files)
    assert cache.info().n_scores == 0


@given(st.integers(0, 10**6), st.integers(0, 7))
def test_a_changed_bit_changes_no_score_unnoticed(number: int, bit: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "1.parquet"
        computed("1/1", path, letter_requests(12))
        rows, data = list(parts.part_rows(path)), bytearray(path.read_bytes())
        data[number % len(data)] ^= 1 << bit
        path.write_bytes(data)
        with contextlib.suppress(FileError):
            assert {*parts.part_rows(path)} <= {*rows}


def test_scores_that_differ_by_more_than_rounding_are_refused(tmp_path: Path) -> None:
    requests, cache, path = letter_requests(30), tmp_path / "scores.sqlite", tmp_path / "1.parquet"
    scored(cache, requests)
    computed("1/1", path, requests)
    altered(path, "mean_probability", 0.95)
    message = r"1\.parquet: two .* in .*scores\.sqlite; other batches"
    fails(FileError, message, merge, ScoreCache(cache), [path])


@cases(
    ("1/3", {}, 30),
    ("2/4", {}, 30),
    ("2/3", {"identity": "2"}, 30),
    ("2/3", {"batch_tokens": 99}, 30),
    ("2/3", {}, 31),
)
def test_other_parts_are_not_continued(part: str, options: Any, n: int, tmp_path: Path) -> None:
    path, message = tmp_path / "2.parquet", r"2\.parquet: expected scores of part .*, got others"
    computed("2/3", path, letter_requests(30))
    before = path.read_bytes()
    fails(CCError, message, computed, part, path, letter_requests(n), **options)
    assert path.read_bytes() == before


@cases(
    ("--part 4/3 --scores a.parquet", "expected a part such as 3/16, from 1/16 to 16/16, got 4/3"),
    ("--part 1/3", "expected a file with `--part`, got none"),
    ("--scores a.parquet", "expected `--part` with it, got none"),
    ("--part 1/3 --scores a.json", "expected a file that ends in .parquet"),
    ("--part 1/3 --scores a.parquet -o a.json", "a part has no result"),
    ("--part 1/3 --scores a.parquet --system cc-tiny-en-de", "translate first"),
)
def test_options_that_fit_no_part_are_refused(words: str, message: str) -> None:
    assert message in " ".join(run_command(f"evaluate simplegen {words}", status=2).stderr.split())


def test_jobs_on_the_hub_compute_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --submit nothing is sent. Each job computes its part, and uploads its scores."""
    monkeypatch.chdir(tmp_path)
    words = ["simplegen", "en-de", "--limit", "6"]
    texts = write_lines(tmp_path / "t.de.txt", ["Sie ist Ärztin.", "Er ist Arzt."] * 3)
    jobs, hub = Mock(), Mock()
    replaced = {"HfApi": lambda: hub, "run_uv_job": jobs, "get_token": lambda: "token"}
    for name, value in {**replaced, "hf_hub_download": lambda *_, **__: str(texts)}.items():
        monkeypatch.setattr(hf_jobs_parts, name, value)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: run_command(*command[1:]))

    def script(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["hf_jobs_parts.py", "--repo", "me/scores", *arguments])
        hf_jobs_parts.main()

    script("--parts", "2", texts.name, *words)
    assert jobs.mock_calls == hub.mock_calls == []
    script("--parts", "2", "--submit", texts.name, *words)
    assert [call.kwargs["secrets"] for call in jobs.call_args_list] == [{"HF_TOKEN": "token"}] * 2
    for call in jobs.call_args_list:
        script(*call.kwargs["script_args"])
    uploaded = [call.kwargs["path_in_repo"] for call in hub.upload_file.mock_calls]
    assert uploaded == ["t.de.txt", "1-of-2.parquet", "2-of-2.parquet"]
    run_command("cache 1-of-2.parquet 2-of-2.parquet --path scores.sqlite")
    common: tuple[str | Path, ...] = ("evaluate", *words, "--translations", texts, "-o")
    run_command(*common, "merged.json", "--cache", "scores.sqlite")
    run_command(*common, "plain.json", "--cache", "no")
    assert Path("merged.json").read_bytes() == Path("plain.json").read_bytes()


def test_means_of_the_fake_differ_between_batches() -> None:
    totals = [scored(None, letter_requests(30), batch_tokens=n)[0] for n in (30, 300)]
    assert 0 < np.abs(np.subtract(*totals)).max() < 1e-5


def test_a_second_round_of_parts_computes_the_second_look(tmp_path: Path) -> None:
    """The merged cache then has every score of mode "auto"."""
    requests = [ScoringRequest(f"{n} {side}", "x", n) for n in range(90) for side in "ab"]
    contests = [((i,), (i + 1,)) for i in range(0, len(requests), 2)]

    def decided(part: str = "", number: int = 0) -> Any:
        store = ScoreCache(tmp_path / "scores.sqlite")
        evaluator = RoundingEvaluator(seen.extend, cache=store, extra={"mode": "auto"})
        evaluator.own_fast = RoundingEvaluator(seen.extend, cache=store, dtype="bf16")
        if part:
            whole = Sharing(store, part=Part(part, tmp_path / f"{number}.parquet"))
            evaluator.sharing = evaluator.own_fast.sharing = whole
        return pair_scores(requests, evaluator, contests, **EN_DE).tolist()

    seen: list[Any] = []
    for number in range(4):
        fails(PartDone, "but no result; merge all", decided, f"{number % 2 + 1}/2", number)
        if number % 2:
            files = [tmp_path / f"{n}.parquet" for n in (number - 1, number)]
            assert merge(ScoreCache(tmp_path / "scores.sqlite"), files).missing == {}
    seen.clear()
    actual = decided()
    assert not seen
    (tmp_path / "scores.sqlite").unlink()
    assert decided() == actual


@cases(
    ({"n_actors": 0}, "n_actors: expected an integer of at least 1, got 0"),
    ({"cpus": 0}, "cpus: expected a number above 0, got 0"),
    ({"gpus": -1}, "gpus: expected a number of at least 0, got -1"),
)
def test_numbers_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    fails(CCError, message, RayParts, "scores", **options)


def test_an_evaluator_without_a_name_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed (pip install 'cc_hf[ray]')")
    evaluator = LetterEvaluator()
    evaluator.sharing = Sharing(part=RayParts(tmp_path))
    fails(CCError, "its workers can load by name", evaluator.score, letter_requests(3), **EN_DE)


def test_a_worker_uses_the_pass_that_was_planned_and_no_other_evaluator() -> None:
    def origin(evaluator: Any) -> PartOrigin:
        with Sharing().session({**evaluator.cache_identity(), **EN_DE}) as session:
            return PartOrigin(session.identity, "", 1)

    whole, fast = LetterEvaluator(), LetterEvaluator(dtype="bfloat16")
    whole.own_fast = fast
    assert ray_data._same(whole, origin(whole)) is whole
    assert ray_data._same(whole, origin(fast)) is fast
    fails(
        EvaluatorError,
        r"another evaluator .*: eval letters@b \(not ",
        ray_data._same,
        LetterEvaluator(identity="b"),
        origin(whole),
    )


def test_an_evaluator_is_opened_again_without_cache_and_part(tmp_path: Path) -> None:
    options: dict[str, Any] = {"cache": tmp_path / "c.sqlite", "mode": "exact", "tgt_lang": "de"}
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", **options, part=RayParts(tmp_path))
    assert evaluator.reopen is not None
    again = evaluator.reopen()
    assert again.sharing == Sharing()
    assert again.cache_identity() == evaluator.cache_identity()


# Ray listens on all addresses of the machine; in a network of its own there is loopback alone.
@pytest.mark.slow
def test_scores_by_ray_are_those_of_one_process(by_ray: tuple[Path, Any]) -> None:
    folder, program = by_ray
    assert program.wait() == 0
    happened: dict[str, Any] = json.loads((folder / "happened.json").read_text())
    assert happened["left"] == {"is_initialized": False, "n_processes": 0, "was_killed": True}
    counts = "120 of 120", f"{happened['n_removed']} of 120", "0 of 120"
    assert tuple(happened[name] for name in ("killed", "continued", "again")) == counts
    assert 0 < happened["n_removed"] < 120
    assert json.loads(happened["plain"])["n"] == 60
    assert happened["merged"] == happened["plain"]
    assert "InputError: n_actors: 2 of 1 CPUs and 0 GPUs need a cluster" in happened["too few"]
    assert re.match(r"EvaluatorError: row .*log-probability nan", happened["failed"])
    assert happened["other"].startswith("FileError: ")
    assert happened["is_joined"]
    example, auto = (json.loads(happened[name])["scores"] for name in ("example", "auto"))
    assert example == auto


def test_a_full_disk_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left")))
    origin = PartOrigin("model", "plan", 0)
    refuses(
        "No space left.*free some space", parts.write_scores, tmp_path / "a.parquet", [], origin
    )
    assert [*tmp_path.iterdir()] == []
