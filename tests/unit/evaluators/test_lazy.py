import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import CacheWarning, CCError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.ensemble import SentenceEnsembleEvaluator, ensemble
from cc_hf.evaluators.lazy import LazyEvaluator, open_evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.score_cache import ScoreCache, open_cache
from cc_hf.results import EvaluationResult
from cc_hf.schema import ScoringRequest
from tests.helpers.distributed_program import as_lists
from tests.helpers.letter_evaluator import LetterEvaluator, Pair, letter_requests
from tests.helpers.models import save_tiny_marian
from tests.helpers.usual import EN_DE, cases, evaluate_dataset, fails, refuses, typed, write_lines

REQUESTS = letter_requests(60)
N_DISTINCT = 60
LANGUAGES = ("en", "de")

COMMIT = "0123456789abcdef" * 2 + "01234567"


class _Loader:
    """Replaces `load_evaluator` by evaluators of letters, whose identity is the content of their
    folder.
    """

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.scored: list[Pair] = []
        self.has_fast = False
        self.languages: dict[str, Any] = {}

    def __call__(self, name: Any, options: LoadingOptions) -> Evaluator:
        if isinstance(name, (list, tuple)):
            return ensemble([self(member, options) for member in name])
        self.loaded.append(str(name))
        file = Path(name) / "weights.bin"
        identity = file.read_text(encoding="utf-8").strip() if file.is_file() else "hub"
        given = {
            "name": Path(name).name,
            "identity": identity,
            "dtype": options.dtype,
            **self.languages,
            "cache": open_cache(options.cache),
            "on_too_long": options.on_too_long or "error",
        }
        made = LetterEvaluator(self.scored.extend, **given)
        if self.has_fast:
            made.own_fast = LetterEvaluator(self.scored.extend, **given, extra={"mode": "rough"})
        return made


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> _Loader:
    actual = _Loader()
    monkeypatch.setattr("cc_hf.evaluators.loading.load_with", actual)
    return actual


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "scores.sqlite"


def make_folder(folder: Path, content: str = "a") -> Path:
    return write_lines(folder / "weights.bin", [content]).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "letters")


def scores(evaluator: Evaluator, requests: Any = REQUESTS, languages: Any = LANGUAGES) -> Any:
    """Return the scores of requests as lists."""
    return as_lists(evaluator.score(requests, src_lang=languages[0], tgt_lang=languages[1]))


def opened(name: Any, path: Any, languages: Any = LANGUAGES, **options: Any) -> Any:
    return open_evaluator(name, LoadingOptions(cache=path, **options), languages=languages)


def is_lazy(*given: Any, **options: Any) -> bool:
    return isinstance(opened(*given, **options), LazyEvaluator)


# imports of a whole run

_HEAVY = "torch transformers accelerate datasets evaluate pandas scipy sklearn"
_SECOND = f"""
import sys
from cc_hf.cli.main import app
try:
    app(sys.argv[1:], standalone_mode=False)
finally:
    sys.stderr.write("\\n" + " ".join({{*"{_HEAVY}".split()}} & {{*sys.modules}}))
"""


def run(*arguments: object, folder: Path) -> set[str]:
    """Return the heavy modules that a process of the command line imported."""
    command = [sys.executable, "-c", _SECOND, *map(str, arguments)]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return {*completed.stderr.rpartition("\n")[2].split()}


def test_a_second_run_without_torch_writes_the_same(tmp_path: Path, tiny_marian: Path) -> None:
    rows = [
        f"The {i} bats were old.,bats,baseball|wooden,flying|big,{'odd' if i % 2 else 'even'},de"
        for i in range(20)
    ]
    columns = "source,focus,correct_cues,incorrect_cues,category,tgt_lang"
    bats = write_lines(tmp_path / "bats.csv", [columns, *rows])
    lines = [f"Die {i} Schläger waren alt." for i in range(20)]
    texts = write_lines(tmp_path / "t.txt", lines)
    command = "evaluate bats.csv --translations t.txt --cache c.sqlite -q --evaluator"
    arguments = *command.split(), tiny_marian, "-o"
    given: dict[str, Any] = {"evaluator": str(tiny_marian), "cache": tmp_path / "c.sqlite"}
    first = evaluate_dataset(str(bats), translations=texts, **given)
    assert run(*arguments, "second.json", folder=tmp_path) == set()
    second = (tmp_path / "second.json").read_text(encoding="utf-8")
    assert EvaluationResult.from_json(second) == first
    write_lines(texts, [*lines[:7], "Die 7 Fledermäuse waren alt.", *lines[8:]])
    third = evaluate_dataset(str(bats), translations=texts, **given)
    both = zip(first.judgements, third.judgements, strict=True)
    changed = [i for i, (a, b) in enumerate(both) if a.probability_correct != b.probability_correct]
    assert changed == [7]


# a model of transformers


def test_only_scores_that_are_not_cached_load_the_model(tiny_marian: Path, path: Path) -> None:
    sources, targets = ["The doctor.", "a"], ["Der Arzt.", "b"]
    real = opened(tiny_marian, path)
    assert real is cc_hf.load_evaluator(tiny_marian, cache=path)
    before = real.mean_logprobs(sources, targets, **EN_DE)
    again = typed(LazyEvaluator, opened(tiny_marian, path))
    np.testing.assert_array_equal(again.mean_logprobs(sources, targets, **EN_DE), before)
    assert again.signature_fields() == real.signature_fields()
    assert again.cache_identity() == real.cache_identity()
    names = "name identity dtype batch_tokens max_tokens on_too_long src_lang tgt_lang device"
    for name in (*names.split(), "n_source_end"):
        assert repr(getattr(again, name)) == repr(getattr(real, name))
    again.check_languages("en", "de")
    assert not again.is_loaded
    more = again.mean_logprobs(["new", *sources], ["neu", *targets], **EN_DE)
    np.testing.assert_array_equal(more[1:], before)
    assert (again.is_loaded, again.real) == (True, real)
    assert again.cache_identity() == real.cache_identity()


@cases(
    lambda evaluator: evaluator.token_logprobs(["a"], ["b"])[0].tolist(),
    lambda evaluator: evaluator.id_logprobs([[3, 0]], [[4, 0]])[0].tolist(),
    lambda evaluator: evaluator.logprobs_batch([[3, 0]], [[4, 0]])[0].tolist(),
    lambda evaluator: evaluator.score_batch([[3, 0]], [[4, 0]]).sum_logprob.tolist(),
    lambda evaluator: evaluator.encode_sources(["The doctor."], "en", "de"),
    lambda evaluator: evaluator.encode_targets(["Der Arzt."], "en", "de"),
    lambda evaluator: evaluator.fit([1], [2], ScoringRequest("a", "b")),
    lambda evaluator: id(evaluator.tokenizer),
    lambda evaluator: evaluator.generation_options("de"),
)
def test_other_methods_load_it(use: Callable[[Any], Any], tiny_marian: Path, path: Path) -> None:
    real = opened(tiny_marian, path)
    again = typed(LazyEvaluator, opened(tiny_marian, path))
    assert use(again) == use(real)
    assert again.is_loaded
    for name in ("nothing", "_private"):
        fails(AttributeError, name, getattr, again, name)


def test_errors_equal_those_of_the_model(tiny_marian: Path, path: Path) -> None:
    for _ in range(2):
        evaluator = opened(tiny_marian, path)
        score, long = evaluator.mean_logprobs, "x " * 2000
        fails(TooLongError, "row 1: the translation has", score, ["a"] * 2, ["b", long], **EN_DE)
        refuses("expected at least one request", evaluator.score, [], **EN_DE)
        to_french = {**EN_DE, "tgt_lang": "fr"}
        refuses("does not support the target language 'fr'", score, ["a"], ["b"], **to_french)
    assert isinstance(evaluator, LazyEvaluator)


def test_a_model_with_a_changed_file_is_loaded_again(tmp_path: Path, path: Path) -> None:
    """The change is noticed even if size and time of the file are restored."""
    folder = save_tiny_marian(tmp_path / "model", seed=1)
    times = {file: file.stat() for file in folder.iterdir()}
    first = opened(folder, path)
    before = first.mean_logprobs(["The doctor."], ["Der Arzt."], **EN_DE)
    assert is_lazy(folder, path)
    save_tiny_marian(folder, seed=2)
    for file, stat in times.items():
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    second = opened(folder, path)
    assert not isinstance(second, LazyEvaluator)
    assert second.identity != first.identity
    assert abs(second.mean_logprobs(["The doctor."], ["Der Arzt."], **EN_DE) - before) > 1e-3


# evaluators of letters


def test_an_interrupted_cache_is_completed(folder: Path, path: Path, loader: _Loader) -> None:
    """The record is written before the first score, so that an interrupted run can go on."""
    n_kept, kept = 0, LetterEvaluator.logprobs_batch

    def interrupted(self: LetterEvaluator, *sides: Any) -> Any:
        nonlocal n_kept
        if n_kept >= 20:
            raise KeyboardInterrupt
        n_kept += len(sides[0])
        return kept(self, *sides)

    with patch.object(LetterEvaluator, "logprobs_batch", interrupted):
        fails(KeyboardInterrupt, "^$", scores, opened(folder, path))
    assert 20 <= ScoreCache(path).info().n_scores == n_kept < N_DISTINCT
    loader.scored.clear()
    again = typed(LazyEvaluator, opened(folder, path))
    assert scores(again) == scores(LetterEvaluator())
    assert (len(loader.scored), len(loader.loaded)) == (N_DISTINCT - n_kept, 2)
    assert scores(opened(folder, path)) == scores(again)
    assert len(loader.loaded) == 2


_OTHERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "option": lambda folder: {"on_too_long": "truncate"},
    "dtype": lambda folder: {"dtype": "bfloat16"},
    "prompt": lambda folder: {"prompt": "{source}"},
    "kind": lambda folder: {"kind": "marian"},
    "device": lambda folder: {"device": "cpu"},
    "batch_tokens": lambda folder: {"batch_tokens": 7},
    "language": lambda folder: {"src_lang": "en"},
    "mode": lambda folder: {"mode": "exact"},
    "pair of languages": lambda folder: {"languages": ("en", "fr")},
    "copy of the folder": lambda folder: {"name": make_folder(folder.with_name("copy"))},
    "content": lambda folder: {"name": make_folder(folder, "b")},
    "cache": lambda folder: {"path": folder.with_name("other.sqlite")},
}


@pytest.mark.parametrize("other", _OTHERS)
def test_other_requests_load_models(folder: Path, path: Path, loader: _Loader, other: str) -> None:
    scores(opened(folder, path))
    assert is_lazy(folder, path)
    given = {"name": folder, "path": path, **_OTHERS[other](folder)}
    assert [is_lazy(**given) for _ in range(2)] == [False, True]
    assert len(loader.loaded) == 2


@cases(("base._version", lambda _: "9"), ("lazy.SCORING_VERSION", "9"), ("lazy.__version__", "9"))
def test_new_versions_load(name: str, new: Any, folder: Path, path: Path, loader: _Loader) -> None:
    scores(opened(folder, path))
    with patch(f"cc_hf.evaluators.{name}", new):
        assert not is_lazy(folder, path)


def test_a_cache_of_bf16_serves_machines_without(folder: Path, path: Path, loader: _Loader) -> None:
    """Cached scores are used, and missing ones are computed by the available exact pass."""
    loader.has_fast = True
    real = opened(folder, path)
    scores(real.fast, REQUESTS[:30])
    loader.has_fast = False
    again = opened(folder, path)
    assert is_lazy(folder, path)
    assert scores(again.fast, REQUESTS[:30]) == scores(real, REQUESTS[:30])
    assert scores(again.fast) == scores(real)
    assert again.is_loaded
    assert "mode" not in again.signature_fields()


def test_refused_languages_are_not_remembered(folder: Path, path: Path, loader: _Loader) -> None:
    for _ in range(2):
        refuses("no xx", scores, opened(folder, path, ("xx", "de")), languages=("xx", "de"))
    assert len(loader.loaded) == 2
    both = [("en", "de"), ("en", "fr")]
    assert [is_lazy(folder, path, pair) for pair in both * 2] == [False, False, True, True]
    assert len(loader.loaded) == 4


def test_languages_default_to_the_evaluator(folder: Path, path: Path, loader: _Loader) -> None:
    loader.languages = {"src_lang": "en", "tgt_lang": "de"}
    before = scores(opened(folder, path, ("", "")), languages=("", ""))
    assert scores(opened(folder, path, ("", "de")), languages=("en", "")) == before
    assert len(loader.loaded) == 1


@patch("cc_hf.evaluators.lazy.uses_cache_only", lambda *model: True)
def test_hub_models_are_remembered_only_at_a_full_commit(path: Path, loader: _Loader) -> None:
    for revision in (None, "main", COMMIT[:7], COMMIT.upper()):
        for _ in range(2):
            assert not is_lazy("organisation/model", path, revision=revision)
    opened("organisation/model", path, revision=COMMIT)
    assert is_lazy("organisation/model", path, revision=COMMIT)
    assert not is_lazy("organisation/other", path, revision=COMMIT)
    assert not is_lazy("organisation/model", path, revision=COMMIT[::-1])


def test_distributed_processes_load_the_model(folder: Path, path: Path, loader: _Loader) -> None:
    opened(folder, path)
    assert is_lazy(folder, path, distributed=True)
    with patch.dict(os.environ, RANK="0", WORLD_SIZE="2", MASTER_ADDR="localhost"):
        assert not is_lazy(folder, path, distributed=True)


def test_without_a_cache_nothing_is_remembered(folder: Path, loader: _Loader) -> None:
    for _ in range(2):
        assert isinstance(opened(folder, False), LetterEvaluator)
    assert not ScoreCache().path.exists()


def test_the_fast_copy_is_remembered(folder: Path, path: Path, loader: _Loader) -> None:
    loader.has_fast = True
    real = opened(folder, path)
    before = scores(real), scores(real.fast, REQUESTS[:30])
    again = opened(folder, path)
    assert (scores(again), scores(again.fast, REQUESTS[:30])) == before
    assert again.fast.cache_identity() == real.fast.cache_identity() != again.cache_identity()
    assert again.fast.signature_fields()["mode"] == "rough"
    assert (len(loader.loaded), len(loader.scored)) == (1, N_DISTINCT + 30)
    scores(again.fast)  # loads the model and computes the missing scores of the fast one
    assert (len(loader.loaded), len(loader.scored)) == (2, 2 * N_DISTINCT)
    loader.has_fast = False
    plain = typed(LazyEvaluator, opened(make_folder(folder, "b"), path) and opened(folder, path))
    assert plain.fast is None


def test_ensembles_are_remembered_by_members(folder: Path, path: Path, loader: _Loader) -> None:
    names = [folder, make_folder(folder.with_name("second"), "b")]
    real = opened(names, path)
    before = scores(real)
    loader.loaded.clear()
    again = opened(names, path)
    assert type(again) is type(real) is SentenceEnsembleEvaluator
    assert all(isinstance(member, LazyEvaluator) for member in again.members)
    assert (scores(again), again.signature_fields()) == (before, real.signature_fields())
    assert loader.loaded == []
    assert len(scores(opened(names[::-1], path))[0]) == len(REQUESTS)
    refuses("no xx", scores, opened(names, path, ("xx", "de")), languages=("xx", "de"))


def test_an_ensemble_by_token_is_remembered(tmp_path: Path, path: Path, tiny_marian: Path) -> None:
    names = [tiny_marian, save_tiny_marian(tmp_path / "second", seed=5)]
    before = scores(opened(names, path))
    again = typed(LazyEvaluator, opened(names, path))
    assert scores(again) == before
    assert again.signature_fields()["ensemble"] == "token"
    assert not again.is_loaded
    refuses("revision", opened, names, path, revision=["main"])


# altered records


def query(path: Path, statement: str, *rows: tuple[Any, ...]) -> list[Any]:
    """Return the rows of a statement, or run it with each of the given ones."""
    with closing(sqlite3.connect(path)) as connection, connection:
        if not rows:
            return connection.execute(statement).fetchall()
        return list(connection.executemany(statement, rows))


_ALTERED: dict[str, Callable[[str], Any]] = {
    "forged name": lambda record: record.replace("letters", "GPT-9"),
    "forged identity": lambda record: record.replace('"identity":"a"', '"identity":"forged"'),
    "forged dtype": lambda record: record.replace("float32", "float64"),
    "without its digest": lambda record: record[64:],
    "no JSON": lambda record: record[:64] + "{",
    "empty": lambda record: "",
    "bytes": lambda record: record.encode(),
    "a number": lambda record: 3,
    "an object without keys": lambda record: record[:64] + "{}",
    "a list": lambda record: record[:64] + "[]",
    "languages of another type": lambda record: record.replace('[["en","de"]]', "7"),
    "of another request": lambda record: record,
}


@pytest.mark.parametrize("how", _ALTERED)
def test_altered_records_are_replaced(folder: Path, path: Path, loader: _Loader, how: str) -> None:
    before = scores(opened(folder, path))
    n_loaded = len(loader.loaded)
    if how == "of another request":
        opened(make_folder(folder.with_name("other"), "b"), path)
        n_loaded += 1
    requests, records = zip(*query(path, "SELECT request, record FROM evaluators"), strict=True)
    changed = zip(map(_ALTERED[how], records[::-1]), requests, strict=True)
    query(path, "UPDATE evaluators SET record = ? WHERE request = ?", *changed)
    with pytest.warns(CacheWarning, match="is damaged: what it holds of an evaluator was"):
        again = opened(folder, path)
    assert len(loader.loaded) == n_loaded + 1
    assert again.signature_fields()["eval"] == "letters@a"
    assert scores(again) == before
    assert is_lazy(folder, path)  # the record was replaced


# unusable caches


def test_a_cache_without_records_is_extended(folder: Path, path: Path, loader: _Loader) -> None:
    scores(loader(folder, LoadingOptions(cache=path)))
    assert ScoreCache(path).recall({}) is None
    assert query(path, "SELECT * FROM sqlite_master WHERE name = 'evaluators'") == []
    before = ScoreCache(path).info()
    opened(folder, path)
    assert is_lazy(folder, path)
    assert ScoreCache(path).info().identities == before.identities
    scores(opened(folder, path))
    assert len(loader.scored) == N_DISTINCT


def test_a_damaged_cache_raises_the_usual_error(folder: Path, path: Path, loader: _Loader) -> None:
    opened(folder, path)
    path.write_bytes(b"nonsense" * 1000)
    for cache, message in (
        (path, "is another file, or damaged"),
        (path.parent, "is a folder"),
        (folder / "weights.bin" / "scores.sqlite", "cannot be written"),
    ):
        fails(CCError, message, opened, folder, cache)


def test_unknown_and_missing_names_are_refused(path: Path, tmp_path: Path) -> None:
    for name, message in (
        ("cc-tiny-en-ed", "did you mean 'cc-tiny-en-de'"),
        (tmp_path / "missing", "there is no such folder"),
        ([], "expected at least one evaluator"),
    ):
        fails(CCError, message, opened, name, path)
