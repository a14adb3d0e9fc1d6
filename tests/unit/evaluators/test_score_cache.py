import json
import math
import random
import re
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.errors import CacheError, CacheWarning, CCError, TooLongError
from cc_hf.evaluators.cache_session import CacheSession
from cc_hf.evaluators.score_cache import ScoreCache, open_cache
from cc_hf.schema import ScoringRequest
from tests.helpers.distributed_program import as_lists
from tests.helpers.letter_evaluator import LetterEvaluator, Pair, letter_requests
from tests.helpers.usual import EN_DE, cases, fails, printed_by, read_json, refuses

REQUESTS = letter_requests(60)
N_DISTINCT = 60
IDENTITY = {"eval": "a@1"}
ROW = (-1.25, 3, 0.5)


def scored(cache: Path | None, requests: Any = REQUESTS, **options: Any) -> tuple[Any, list[Pair]]:
    """Return the scores, and the pairs that were computed."""
    seen: list[Pair] = []
    languages = {key: options.pop(key, value) for key, value in EN_DE.items()}
    evaluator = LetterEvaluator(seen.extend, cache=ScoreCache(cache) if cache else None, **options)
    return as_lists(evaluator.score(requests, **languages)), seen


def pairs_of(requests: list[ScoringRequest]) -> set[Pair]:
    return {(r.source, r.translation) for r in requests}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "scores.sqlite"


def test_a_full_cache_gives_identical_scores_without_any_computation(path: Path) -> None:
    plain, _ = scored(None)
    first, seen = scored(path)
    assert len(seen) == N_DISTINCT
    evaluator = LetterEvaluator(seen.extend, cache=ScoreCache(path))
    second = evaluator.score(REQUESTS, **EN_DE)
    assert [array.dtype.name for array in vars(second).values()] == ["float64", "int64", "float64"]
    assert (len(seen), evaluator.n_encoded) == (N_DISTINCT, 0)
    assert as_lists(second) == first == plain


def test_only_missing_pairs_are_scored_and_the_order_of_requests_is_kept(path: Path) -> None:
    scored(path, REQUESTS[10:30])
    actual, seen = scored(path, REQUESTS[::-1])
    assert sorted(seen) == sorted(pairs_of(REQUESTS) - pairs_of(REQUESTS[10:30]))
    assert actual == scored(None, REQUESTS[::-1])[0]


_OTHERS: dict[str, Any] = {
    **{"name": "words", "identity": "2", "dtype": "bfloat16", "max_tokens": 39, "device": "cuda"},
    **{"on_too_long": "truncate", "extra": {"mode": "int8"}, "src_lang": "fr", "tgt_lang": ""},
}


@pytest.mark.parametrize("name", _OTHERS)
def test_scores_of_another_identity_are_never_used(name: str, path: Path) -> None:
    scored(path)
    assert len(scored(path, **{name: _OTHERS[name]})[1]) == N_DISTINCT
    assert ScoreCache(path).info().n_scores == 2 * N_DISTINCT


def test_other_classes_and_versions_are_not_used(path: Path) -> None:
    scored(path)
    assert scored(path, batch_tokens=7)[1] == []  # the size of batches is no other identity
    seen: list[Pair] = []
    words = type("WordEvaluator", (LetterEvaluator,), {})
    words(seen.extend, cache=ScoreCache(path)).score(REQUESTS, **EN_DE)
    assert len(seen) == N_DISTINCT
    with patch("cc_hf.evaluators.base._version", lambda package: f"{package} 99"):
        assert len(scored(path)[1]) == N_DISTINCT


_PAIR = st.tuples(st.text(max_size=5), st.text(max_size=5))


@given(st.lists(_PAIR, unique=True, min_size=2, max_size=30))
def test_no_two_pairs_or_identities_share_a_key(pairs: list[Pair]) -> None:
    keys = {CacheSession(identity=dict([pair])).key(other) for pair in pairs for other in pairs}
    assert len(keys) == len(pairs) ** 2


def test_similar_pairs_are_stored_separately(path: Path) -> None:
    alike = [
        ("a", 'b","c'),
        ('a","b', "c"),
        ("", "a"),
        ("\0", "\n"),
        *((text, "") for text in ("a", "ab", "é", "e\u0301", "\ud800", "\\ud800")),
    ]
    rows = [(-float(i), i + 1, 0.5) for i in range(len(alike))]
    with ScoreCache(path).session(IDENTITY) as session:
        session.add(alike, rows)
        assert session.find(alike[::-1]) == dict(enumerate(rows[::-1]))


def test_a_too_long_text_raises_the_same_error_with_and_without_a_cache(path: Path) -> None:
    long = ("a", "b" * 50), ("c" * 50, "d"), ("b" * 50, "d")
    requests = [*REQUESTS, *(ScoringRequest(*pair, 70 + i) for i, pair in enumerate(long))]
    scored(path)
    with pytest.raises(TooLongError, match="row 70: the translation") as caught:
        scored(None, requests)
    for _ in range(2):
        fails(TooLongError, f"^{re.escape(str(caught.value))}$", scored, path, requests)
    refuses("no xx", scored, path, src_lang="xx")


def test_impossible_scores_are_not_stored(path: Path) -> None:
    rows = [
        (-math.inf, 2, 0.0),
        (math.inf, 2, 0.5),
        (math.nan, 2, 0.5),
        (2.0, 2, 0.5),
        (-1.0, 0, 0.5),
        (-1.0, -3, 0.5),
        (-1.0, 2, 1.5),
        (-1.0, 2, -0.1),
        (-1.0, 2, math.nan),
    ]
    pairs = [(str(i), "b") for i in range(len(rows) + 1)]
    with ScoreCache(path).session(IDENTITY) as session:
        session.add(pairs, [*rows, ROW])
        assert session.find(pairs) == {len(rows): ROW}
    rounded_above_1 = (0.6, 2, 1.35)  # by up to 0.5 for each token
    with ScoreCache(path).session({**IDENTITY, "dtype": "bf16"}) as session:
        session.add([("a", "b")], [rounded_above_1])
        assert session.find([("a", "b")]) == {0: rounded_above_1}


def alter(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement, values)


_DAMAGED: dict[str, tuple[object, ...]] = {
    "sum_logprob": ("nothing", b"\x00\xff", math.inf, -math.inf, 3.0, "\ud83c", -1.5),
    "n_tokens": (0, -1, 2.5, "two", b"2", 1_000),
    "mean_probability": ("half", b"", math.inf, 1.5, -0.5, 0.123),
    "digest": (None, b"", "text", b"12345678"),
}


@cases(*((name, value) for name, values in _DAMAGED.items() for value in values))
def test_a_damaged_row_is_recomputed_and_replaced(column: str, value: object, path: Path) -> None:
    plain, _ = scored(path)
    where = "WHERE key = (SELECT min(key) FROM scores)"
    if value == "\ud83c":  # bytes that are not UTF-8, stored as text
        alter(path, f"UPDATE scores SET {column} = CAST(x'ff41' AS TEXT) {where}")
    else:
        alter(path, f"UPDATE scores SET {column} = ? {where}", value)
    with pytest.warns(CacheWarning, match="is damaged: 1 of its scores are none") as caught:
        actual, seen = scored(path)
    assert len(caught) == len(seen) == 1
    assert actual == plain
    assert scored(path) == (plain, [])  # without a warning, which would be an error here


def test_a_damaged_score_is_not_shared(path: Path) -> None:
    pairs, ids = [("a", "b"), ("c", "d")], [((7, 2), (8, 2))]
    with ScoreCache(path).session(IDENTITY) as session:
        session.add(pairs[:1], [ROW], ids)
        alter(path, "UPDATE scores SET sum_logprob = -9.0")
        session.add(pairs[1:], [ROW], ids)
        assert session.find(pairs[1:]) == {0: ROW}


@cases("token_ids", "scores")
def test_a_key_that_nobody_asked_for_is_passed_over(table: str, path: Path) -> None:
    pairs, ids = [(str(n), "b") for n in range(12)], [((n,), (2,)) for n in range(12)]
    with ScoreCache(path).session(IDENTITY) as session:
        session.add(pairs, [ROW] * 12, ids)
    with closing(sqlite3.connect(path)) as connection:
        keys = [key for (key,) in connection.execute(f"SELECT key FROM {table}")]
        connection.execute("PRAGMA journal_mode = DELETE")
    data = path.read_bytes()
    for key in keys:
        path.write_bytes(data.replace(key, b"\xff" + key[1:]))
        with ScoreCache(path).session(IDENTITY) as session:
            scores = session.find_equal(ids) if table == "token_ids" else session.find(pairs)
        assert set(scores.values()) == {ROW}


def test_a_byte_that_changed_gives_the_same_scores_or_an_error(path: Path) -> None:
    plain, _ = scored(path)
    data, rng = path.read_bytes(), random.Random(0)
    outcomes = set()
    for _ in range(300):
        altered = bytearray(data)
        altered[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        for file in ScoreCache(path)._files():
            file.unlink()
        path.write_bytes(altered)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            try:
                assert scored(path)[0] == plain
                outcomes.add("scores")
            except CCError:
                outcomes.add("error")
    assert outcomes == {"scores", "error"}


@cases("", "{", "[]", "3", "null", "[[1, 2]]", '[["eval", 3]]', '[["a"]]', "[" * 100_000)
def test_a_damaged_identity_is_counted_without_its_fields(text: str, path: Path) -> None:
    scored(path)
    scored(path, identity="2")
    alter(path, "UPDATE identities SET identity = ? WHERE id = 1", text)
    with pytest.warns(CacheWarning, match="does not say any more what made some of its scores"):
        actual = ScoreCache(path).info()
    counts = {i.fields.get("eval"): i.n_scores for i in actual.identities}
    assert counts == {None: N_DISTINCT, "letters@2": N_DISTINCT}
    with pytest.warns(CacheWarning):
        assert "letters@2" in printed_by("cache", "--path", path)


def test_more_pairs_than_one_sqlite_query_holds_are_found(path: Path) -> None:
    pairs = [(str(i), "") for i in range(2345)]
    rows = {i: (float(-i), i + 1, 0.25) for i in range(2345) if i % 7}
    with ScoreCache(path).session(IDENTITY) as session:
        session.add([pairs[i] for i in rows], list(rows.values()))
        assert session.find(pairs) == rows


def test_the_default_cache_lies_in_hf_home() -> None:
    actual: Any = open_cache(True)
    assert actual.path == Path(constants.HF_HOME) / "cc_hf" / "scores.sqlite"
    assert actual.path.is_file()
    assert open_cache(False) is None


# files that are not usable as a cache


def test_a_cache_of_another_version_is_refused(path: Path) -> None:
    scored(path)
    alter(path, "PRAGMA user_version = 3")
    cache = ScoreCache(path)
    for use in (cache.check, cache.info, lambda: scored(path)):
        fails(CacheError, "has format 3, expected 2; delete it: cc-hf cache", use)
    assert cache.clear().n_bytes > 0
    assert len(scored(path)[1]) == N_DISTINCT


@pytest.mark.parametrize("damage", ["overwritten", "cut"])
def test_a_damaged_cache_file_is_refused(path: Path, damage: str) -> None:
    scored(path, letter_requests(400))
    data = path.read_bytes()
    overwritten = data[:4096] + b"\xff" * (len(data) - 4096)
    path.write_bytes(overwritten if damage == "overwritten" else data[: 2 * 4096 + 100])
    for _ in range(2):
        fails(CacheError, r"damaged .* was not used; delete it", scored, path, letter_requests(400))
    ScoreCache(path).clear()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("kind", ["text", "database"])
def test_other_files_are_neither_used_nor_removed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "result.json"
    if kind == "text":
        path.write_text('{"accuracy": 0.5}' * 1000, encoding="utf-8")
    else:
        alter(path, "CREATE TABLE mine (x)")
    before = path.read_bytes()
    cache = ScoreCache(path)
    for use in (cache.check, cache.info, cache.clear, lambda: scored(path)):
        fails(CacheError, r"expected a cache of scores, .* is another file", use)
    assert path.read_bytes() == before


def test_a_damaged_default_cache_can_be_cleared() -> None:
    cache = ScoreCache()
    cache.path.parent.mkdir(parents=True, exist_ok=True)
    cache.path.write_bytes(b"nonsense" * 1000)
    fails(CacheError, r"delete it: cc-hf cache --clear$", open_cache, True)
    assert cache.clear().n_bytes == 8000
    assert open_cache(True) is not None


def test_unwritable_defaults_warn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file" / "scores.sqlite"
    path.parent.write_text("", encoding="utf-8")
    monkeypatch.setattr("cc_hf.evaluators.score_cache._default_path", lambda: path)
    with pytest.warns(CacheWarning, match="cannot be used .* the evaluation goes on, scores are"):
        cache = open_cache(True)
    # without a second warning, which would be an error here
    assert as_lists(LetterEvaluator(cache=cache).score(REQUESTS, **EN_DE)) == scored(None)[0]


def test_a_full_disk_ends_no_evaluation(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_pages = 12
    opened = ScoreCache._open

    def on_a_small_disk(self: ScoreCache) -> sqlite3.Connection:
        connection = opened(self)
        connection.execute(f"PRAGMA max_page_count = {n_pages}")
        return connection

    monkeypatch.setattr(ScoreCache, "_open", on_a_small_disk)
    requests = letter_requests(900)
    with pytest.warns(CacheWarning, match="full") as caught:
        actual, _ = scored(path, requests)
    assert len(caught) == 1
    assert actual == scored(None, requests)[0]
    n_pages = 10_000
    n_kept = ScoreCache(path).info().n_scores
    again, seen = scored(path, requests)
    assert (again, len(seen)) == (actual, 900 - n_kept)
    assert 0 < n_kept < 900


def test_info_counts_scores_by_identity_and_clear_removes_all(path: Path) -> None:
    cache = ScoreCache(path)
    assert cache.info().n_scores == cache.info().n_bytes == cache.clear().n_bytes == 0
    assert not path.parent.exists()
    scored(path, REQUESTS[:5])
    scored(path, REQUESTS[:7], identity="2")
    actual = cache.info()
    counts = [(i.fields["eval"], i.n_scores) for i in actual.identities]
    assert counts == [("letters@1", 5), ("letters@2", 7)]
    assert actual.n_bytes >= path.stat().st_size
    assert cache.clear() == actual
    assert list(path.parent.iterdir()) == []


# files of before, and files that cannot be written


def to_version_1(path: Path) -> None:
    alter(path, "ALTER TABLE scores DROP COLUMN digest")
    alter(path, "PRAGMA user_version = 1")


def test_a_cache_without_digests_is_used_and_checked_from_then_on(path: Path) -> None:
    plain, _ = scored(path)
    to_version_1(path)
    assert scored(path) == (plain, [])
    alter(path, "UPDATE scores SET n_tokens = 1000 WHERE key = (SELECT min(key) FROM scores)")
    with pytest.warns(CacheWarning, match="1 of its scores are none"):
        assert scored(path)[0] == plain


@cases(1, 2)
def test_a_cache_in_a_folder_that_cannot_be_written_is_read(
    version: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, _ = scored(path)
    if version == 1:
        to_version_1(path)
    before = path.read_bytes()
    connect: Any = sqlite3.connect

    def in_a_closed_folder(name: str, **options: Any) -> Any:
        if "immutable=1" not in name:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(name, **options)

    monkeypatch.setattr(sqlite3, "connect", in_a_closed_folder)
    cache = ScoreCache(path)
    assert scored(path) == (plain, [])
    assert len(list(cache.rows(*cache.identities()))) == cache.info().n_scores == N_DISTINCT
    with cache.session(IDENTITY) as session, pytest.warns(CacheWarning, match="not stored"):
        session.add([("a", "b")], [ROW])
    assert path.read_bytes() == before


# several and killed processes


def start(*paths: Path, n: int, seconds: float, last: int = 0) -> subprocess.Popen[bytes]:
    """Score into the cache, the log and the file of results in a process of its own."""
    program = "from tests.helpers.letter_evaluator import main; main()"
    arguments = map(str, (*paths, n, seconds, last))
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE)


def n_lines(log: Path) -> int:
    return log.read_text(encoding="utf-8").count("\n") if log.exists() else 0


def test_ten_kills_lose_only_the_batches_in_progress(tmp_path: Path) -> None:
    """Each run goes on where the previous one was killed; the final scores are identical to those
    of an uninterrupted run.
    """
    n, seconds, rng = 300, 0.015, random.Random(0)
    path, log, result = tmp_path / "scores.sqlite", tmp_path / "log", tmp_path / "result.json"
    ends = []
    for _ in range(10):
        n_wanted = rng.randint(1, 4)
        wanted = n_lines(log) + n_wanted
        # it is killed before its end
        running = start(path, log, result, n=n, seconds=seconds, last=n_wanted + 2)
        while running.poll() is None and n_lines(log) < wanted:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 1.5 * seconds))
        assert running.poll() is None, "the run was over before it was killed: give it more to do"
        running.kill()
        running.communicate()
        ends.append(n_lines(log))
    finished = start(path, log, result, n=n, seconds=0)
    assert (finished.communicate()[1], finished.returncode) == (b"", 0)
    assert read_json(result) == scored(None, letter_requests(n))[0]
    lines = log.read_text(encoding="utf-8").splitlines()
    batches = [[tuple(pair) for pair in json.loads(line)] for line in lines]
    in_flight = {end - 1 for end in ends}  # the last batch of each killed run
    kept = [pair for i, batch in enumerate(batches) if i not in in_flight for pair in batch]
    assert len(kept) == len(set(kept)), "a pair was scored again though its batch was done"
    assert {pair for batch in batches for pair in batch} == pairs_of(letter_requests(n))


@cases(False, True)
def test_concurrent_processes_lose_no_scores(is_old: bool, tmp_path: Path) -> None:
    """Four processes start with a file of version 1, or none, and score overlapping pairs."""
    path, sizes = tmp_path / "scores.sqlite", [150, 200, 250, 300]
    if is_old:
        scored(path, letter_requests(sizes[0]))
        to_version_1(path)
    places = [(path, tmp_path / f"log{n}", tmp_path / f"result{n}") for n in sizes]
    running = [start(*of, n=n, seconds=0.001) for of, n in zip(places, sizes, strict=True)]
    for n, process in zip(sizes, running, strict=True):
        assert process.communicate()[1] == b""
        assert read_json(tmp_path / f"result{n}") == scored(None, letter_requests(n))[0]
        assert scored(path, letter_requests(n))[1] == []
    n_pairs = len(set.union(*(pairs_of(letter_requests(n)) for n in sizes)))
    assert ScoreCache(path).info().n_scores == n_pairs
