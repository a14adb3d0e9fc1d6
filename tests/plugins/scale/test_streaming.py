"""Streams that are judged in parts: merged, they are one pass, and the usual road, to the bit."""

import json
import random
import tempfile
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_hf import registry
from cc_hf.errors import EvaluatorError
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.metrics.base import StreamedMetric
from cc_hf.plugins.scale.poisson import poisson_intervals
from cc_hf.plugins.scale.row_streams import RowStream
from cc_hf.plugins.scale.streaming import JudgedStream, evaluate_stream, judge_stream
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.verdict_columns import VerdictColumns
from cc_hf.tables.rows import parquet_batches
from tests.helpers.letter_evaluator import LetterEvaluator
from tests.helpers.usual import cases, coarse_scores, fails, hash_scores, limits, refuses

Row = dict[str, Any]
_BOOTSTRAP = Bootstrap(seed=5, n_resamples=50)


def made_row(number: int, **columns: Any) -> Row:
    """Return a row of any of three categories, with a translation that some rows share."""
    source = f"The doctor asked nurse {number % 7} twice."
    return {
        "id": f"row {number}",
        "source": source,
        "correct_sources": [source.replace("doctor", "[female] doctor")],
        "incorrect_sources": [source.replace("doctor", f"[male] doctor{'s' * (number % 3)}")],
        "category": ("b", "a b", "ä")[number * number % 5 % 3],
        "translation": f"Die Ärztin fragte {number % 11}." if number % 13 else source,
        **columns,
    }


def stream(rows: Any, chunk_rows: int = 7) -> RowStream:
    return RowStream(rows, "en", "de", chunk_rows=chunk_rows)


def usual(rows: list[Row], **options: Any) -> EvaluationResult:
    """Return the result of the usual road."""
    whole = stream(rows, len(rows))
    given = whole.translated(next(whole.chunks()), takes_blank=True)
    return judge(
        make_metric("contrastive_conditioning", options),
        Material("en", "de", [row.example for row in given]),
        [row.translation for row in given],
        evaluator=FunctionEvaluator(coarse_scores),
    )


def figures(result: EvaluationResult) -> dict[str, Any]:
    names = ("scores", "intervals", "no_interval", "categories", "counts", "n", "notes", "unfit")
    return {name: getattr(result, name) for name in names}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(1, 40), st.integers(1, 4), st.randoms())
def test_parts_equal_one_pass(n: int, chunk_rows: int, n_parts: int, rng: random.Random) -> None:
    """In any order, they are one pass and the usual road to the bit."""
    rows = [made_row(number) for number in range(n)]
    for row in rng.sample(rows, n // 10):
        row["translation"] = " "
    options = {"on_blank": "incorrect", "ties": rng.choice(["correct", "incorrect"])}
    options["neither"] = rng.choice(["off", "0.3", "2"])
    judged: Any = {"options": options, "evaluator": coarse_scores}
    whole = judge_stream(stream(iter(rows), chunk_rows), **judged)
    assert figures(whole.result()) == figures(usual(rows, **options))
    jobs = [f"{k}/{n_parts}" for k in range(1, n_parts + 1)]
    jobs += rng.choices(jobs, k=2)  # some of them twice
    parts = [judge_stream(stream(rows, chunk_rows), part=part, **judged) for part in jobs]
    rng.shuffle(parts)
    with tempfile.TemporaryDirectory() as name:
        kept = [Path(name, f"{k}.parquet") for k in range(len(parts))]
        for part, path in zip(parts, kept, strict=True):
            part.save(path)
        merged = JudgedStream.merged(map(JudgedStream.load, kept))
        files = [Path(name, f"{k}") for k in ("whole", "merged")]
        whole.save(files[0])
        merged.save(files[1])
        assert files[0].read_bytes() == files[1].read_bytes()
    assert merged.tally.rows.tobytes() == whole.tally.rows.tobytes()
    drawn = merged.result(bootstrap=_BOOTSTRAP, name="a")
    assert drawn == whole.result(bootstrap=_BOOTSTRAP, name="a")
    of_other_chunks = judge_stream(stream(rows, 1 + chunk_rows), **judged)
    assert figures(drawn) == figures(of_other_chunks.result(bootstrap=_BOOTSTRAP))
    assert {i.method for i in drawn.intervals.values()} <= {"poisson", "lowest", "wilson"}
    assert "|poisson:50|seed:5|" in drawn.signature


def test_poisson_intervals_cover_what_they_promise() -> None:
    """Within three standard errors of the simulation, which has 300 samples of each figure."""
    rng = np.random.default_rng(0)
    n, n_runs, hits = 300, 300, np.zeros(3)
    for run in range(n_runs):
        codes = rng.integers(0, 2, n)
        right, sure = np.array([0.7, 0.9])[codes], rng.random(n)
        is_correct = rng.random(n) < right
        probability = np.where(is_correct, 0.5 + sure / 2, 0.5 - sure / 2)
        columns = VerdictColumns(("a", "b"), codes, is_correct, probability)
        ids = np.arange(n, dtype=np.uint64) + np.uint64(run * n)
        drawn = poisson_intervals(columns, ids, Bootstrap(seed=run, n_resamples=400))
        truths = {"accuracy": 0.8, "accuracy_a": 0.7, "mean_confidence": 0.5}
        for k, (name, truth) in enumerate(truths.items()):
            low, high = limits(drawn[name])
            hits[k] += low <= truth <= high
    assert (np.abs(hits / n_runs - 0.95) <= 3 * np.sqrt(0.05 * 0.95 / n_runs)).all(), hits / n_runs


def written_rows(folder: Path) -> dict[str, Any]:
    """Return the same 50 rows in all forms that a stream can have."""
    rows = [made_row(number) for number in range(50)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "parts").mkdir()
    table = pyarrow.Table.from_pylist(rows)
    for k, (start, n) in enumerate(((0, 3), (3, 30), (33, 17))):
        path = folder / "parts" / f"rows-{k}.parquet"
        pyarrow.parquet.write_table(table.slice(start, n), path, row_group_size=11)
    dataset = datasets.Dataset.from_list(rows)
    return {
        "jsonl": folder / "rows.jsonl",
        "folder": str(folder / "parts"),
        "pattern": str(folder / "parts/rows-?.parquet"),
        "files": sorted((folder / "parts").iterdir()),
        "dataset": dataset,
        "streamed dataset": dataset.to_iterable_dataset(),
        "generator": iter(rows),
        "Hub": "hf://datasets/org/rows/parts/*.parquet",
    }


def test_rows_are_equal_from_every_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hub:
        def glob(self, pattern: str) -> list[str]:
            names = [path.name for path in (tmp_path / "parts").iterdir()]
            return [f"{pattern.removeprefix('hf://').rpartition('/')[0]}/{n}" for n in names]

        def open(self, path: str) -> Any:
            assert path.startswith("hf://datasets/org/rows/parts/rows-")
            return (tmp_path / "parts" / Path(path).name).open("rb")

    monkeypatch.setattr("cc_hf.plugins.scale.row_streams._hub", Hub)
    results = {
        name: evaluate_stream(stream(rows), evaluator=hash_scores)
        for name, rows in written_rows(tmp_path).items()
    }
    assert len(results) == 8
    assert all(result == results["jsonl"] for result in results.values())
    assert "|data:stream@" in results["jsonl"].signature
    assert results["jsonl"] == EvaluationResult.from_json(results["jsonl"].to_json())


def forged(path: Path, **changes: Any) -> Path:
    """Return a file of verdicts with other values in its first row, or in what it says of all."""
    table = pyarrow.parquet.read_table(path)
    said = json.loads(table.schema.metadata[b"cc_hf"])
    for name, value in changes.items():
        if name in table.column_names:
            kind = table.schema.field(name).type
            column = pyarrow.array([value, *table[name].to_pylist()[1:]])
            column = column.dictionary_encode() if name == "category" else column.cast(kind)
            table = table.set_column(table.column_names.index(name), name, column)
        elif value is None:
            said.pop(name)
        else:
            said[name] = value
    table = table.replace_schema_metadata({b"cc_hf": json.dumps(said).encode()})
    pyarrow.parquet.write_table(table, path)
    return path


@cases(
    ({"flags": 0}, "row 0: flags: expected properties that follow from the probability, got 0"),
    ({"flags": 1 << 15}, "row 0: flags: expected properties that follow"),
    ({"row": 10**9}, "row 1000000000: row: expected a number from 0 to 19, got 1000000000"),
    ({"row": -1}, "row -1: row: expected a number from 0 to 19, got -1"),
    ({"probability_correct": 7.0}, "row 0: probability_correct: expected a number from 0 to 1"),
    ({"probability_correct": None}, r"a damaged file \(values are missing\)"),
    ({"probability_correct": 0.75}, r"a damaged file \(rows differ from their digest\)"),
    ({"category": "other"}, r"a damaged file \(rows differ from their digest\)"),
    ({"n_rows": 13}, "expected a number from 0 to 12"),
    ({"n_rows": 21}, r"a damaged file \(rows differ from their digest\)"),
    ({"n_rows": "20"}, "expected a tally of verdicts, got another or a damaged file"),
    ({"about": [], "digest": None}, "about: expected an object, got"),
    ({"digest": "0"}, "rows differ from their digest"),
)
def test_forged_verdicts_are_refused(changes: Row, message: str, tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    part = judge_stream(stream(list(map(made_row, range(20)))), evaluator=first_is_right)
    part.save(path)
    assert JudgedStream.load(forged(path)).tally.rows.tobytes() == part.tally.rows.tobytes()
    refuses(f"part.parquet: .*{message}", JudgedStream.load, forged(path, **changes))


def test_verdicts_of_before_have_no_digest_and_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    part = judge_stream(stream(list(map(made_row, range(20)))), evaluator=first_is_right)
    part.save(path)
    assert JudgedStream.load(forged(path, digest=None)).result() == part.result()
    refuses("row 0: flags: expected", JudgedStream.load, forged(path, flags=0))


def test_a_run_that_was_stopped_continues_and_jobs_share_a_folder(tmp_path: Path) -> None:
    rows, seen = [made_row(number) for number in range(40)], list[str]()

    def run(evaluator: Any, part: str = "1/1", given: Any = rows, **options: Any) -> JudgedStream:
        seen.clear()
        folder = tmp_path / "judged"
        return judge_stream(stream(given), evaluator=evaluator, folder=folder, part=part, **options)

    def breaking(n_chunks: int) -> LetterEvaluator:
        def before(pairs: list[tuple[str, str]]) -> None:
            seen.extend(source for source, _ in pairs)
            if len(seen) > 14 * n_chunks:
                raise EvaluatorError("row 6: the machine is gone")

        return LetterEvaluator(before, max_tokens=99)

    fails(EvaluatorError, "row 27: the machine", run, breaking(3))  # the seventh of the chunk
    assert len(list((tmp_path / "judged").iterdir())) == 3
    run(breaking(9), "1/2")
    assert len(seen) == 14  # of the fifth chunk; the first and the third are known
    whole = run(breaking(9))
    assert len(seen) == 14 + 10
    again = run(breaking(0))
    alone = judge_stream(stream(rows), evaluator=breaking(99))
    assert again.result() == whole.result() == alone.result()
    assert again.tally.rows.tobytes() == alone.tally.rows.tobytes()
    table = pyarrow.parquet.read_table(tmp_path / "judged/chunk-00000005.parquet").to_pylist()
    assert [row["example_id"] for row in table] == [f"row {n}" for n in range(35, 40)]
    chunk = tmp_path / "judged/chunk-00000000.parquet"
    refuses("those of one of its chunks", JudgedStream.load, chunk)
    other = [made_row(number, translation="Ja.") for number in range(40)]
    message = "chunk-00000000.parquet: expected verdicts on these rows"
    refuses(message, run, breaking(9), given=other)
    refuses("expected verdicts by this metric", run, hash_scores)
    refuses("expected verdicts by this", run, breaking(9), options={"ties": "incorrect"})
    (tmp_path / "judged/chunk-00000001.parquet").write_bytes(b"PAR1")
    refuses("chunk-00000001.parquet: expected a tally of verdicts", run, breaking(9))


def first_is_right(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Score sources with a woman higher, so that all rows are correct."""
    return [0.9 if "[female]" in source else 0.1 for source in sources]


def bad_rows(number: int, **columns: Any) -> Iterator[Row]:
    return (made_row(n, **(columns if n == number else {})) for n in range(20))


@cases(
    ({"translation": None}, "row 16: expected a translation, got ''"),
    ({"translation": 3}, "row 16: translation: expected a text, got 3"),
    ({"correct_sources": []}, "row 16: correct_sources: expected at least one text"),
    ({"incorrect_sources": made_row(16)["correct_sources"]}, "row 16: the same source is both"),
    ({"source": " "}, "row 16: source: expected a text"),
    ({"category": "none"}, "row 16: category: expected any name but 'none'"),
    ({"tgt_lang": "ru"}, "row 16: tgt_lang: expected de, got ru"),
    ({"extra": {"open_share": "feminine_share"}}, "row 16: open_share: expected rows of which"),
    ({"id": "row 15"}, "row 16: expected an id that no other row has, got that of row 15"),
    ({"id": "row 3"}, "row 16: expected an id that no other row has, got that of row 3"),
    ({"translation": "x" * 99}, "row 16: "),
)
def test_a_bad_row_is_named_by_its_number_in_the_stream(columns: Row, message: str) -> None:
    evaluator = LetterEvaluator(max_tokens=90)
    refuses(f"^{message}", judge_stream, stream(bad_rows(16, **columns)), evaluator=evaluator)


def test_parts_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    def part(which: str, rows: Any = 20, evaluator: Any = hash_scores) -> JudgedStream:
        given = map(made_row, range(rows)) if isinstance(rows, int) else rows
        return judge_stream(stream(given), evaluator=evaluator, part=which)

    first, second = part("1/2"), part("2/2")
    refuses("row 7: expected a verdict on each of 20 rows, got 13", first.result)
    other = part("1/2", [made_row(n, translation="Ja.") for n in range(20)])
    refuses("row 0: expected the same verdict", JudgedStream.merged, [first, second, other])
    refuses("same n_rows of all, got 20 and 15", JudgedStream.merged, [first, part("2/2", 15)])
    refuses("same model", JudgedStream.merged, [first, part("2/2", evaluator=coarse_scores)])
    refuses("at least one, got none", JudgedStream.merged, [])
    for name, value, message in (
        ("version", 3, "got another version; judge"),
        ("metric", ["x"], "about: metric: expected a text, got"),
        ("options", {"ties": 3}, "ties: expected"),
        ("options", None, "about: options: expected an object, got None"),
        ("model", {"eval": "a"}, "about: model: expected the key 'langs', got"),
        ("model", {**first.about["model"], "score": 1}, "model: score: expected a text, got 1"),
        ("chunk_rows", "5", "about: chunk_rows: expected a whole number from 1, got '5'"),
    ):
        replace(first, about={**first.about, name: value}).save(tmp_path / "kept.parquet")
        refuses(f"kept.parquet: .*{message}", JudgedStream.load, tmp_path / "kept.parquet")
    refuses("rows: expected at least one", part, "1/1", 0)
    refuses("rows: expected a file", part, "1/1", {"a": 1})
    refuses("a.txt: expected a file that ends in .csv", part, "1/1", "a.txt")
    refuses("a.parquet: file not found", part, "1/1", "a.parquet")
    refuses("none of the name", part, "1/1", "none-*.parquet")
    refuses("tgt_lang: .* did you mean 'German'", RowStream, [], "en", "Germn")
    assert RowStream([], "eng", "deu_Latn") == RowStream([], "en", "de")


def test_every_other_metric_is_refused_with_the_reason() -> None:
    streamed = set()
    for name, metric in registry.load_all("metric").items():
        if issubclass(metric, StreamedMetric):
            streamed.add(name)
        else:
            refuses(f"got {name}, which (judges|computes)", judge_stream, stream([]), metric=name)
    assert streamed == {"contrastive_conditioning"}


def test_memory_does_not_grow_by_more_than_the_columns() -> None:
    """A row takes 54 bytes when it is kept, and twice that when all are merged; its texts alone
    have 200 characters.
    """

    def peak(n: int) -> int:
        tracemalloc.start()
        evaluate_stream(stream(map(made_row, range(n)), 50), evaluator=hash_scores)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)  # what is imported and cached the first time
    assert peak(6000) - peak(2000) < 4000 * 3 * 54


def test_files_are_held_a_group_of_rows_at_a_time(tmp_path: Path) -> None:
    keys = pyarrow.array([number.to_bytes(32, "big") for number in range(40_000)])
    table = pyarrow.table({"key": keys.cast(pyarrow.binary(32))})
    pyarrow.parquet.write_table(table, tmp_path / "keys.parquet", row_group_size=1000)
    size, before = table.nbytes, pyarrow.total_allocated_bytes()
    with pyarrow.parquet.ParquetFile(tmp_path / "keys.parquet") as file:
        batches = parquet_batches(file, 100, ["key"])
        held = [pyarrow.total_allocated_bytes() - before for _ in batches]
    assert len(held) == 400
    assert max(held) < size / 8


def test_refusals_wrappers_and_both_genders_are_counted_as_for_a_list() -> None:
    texts = ["N/A", "```Eine Köchin.```", "Ein*e Köch*in.", *["Eine Köchin."] * 30]
    sides = {
        "correct_sources": ["A [female] cook {}."],
        "incorrect_sources": ["A [male] cook {}."],
    }
    rows = [
        {"source": f"A cook {n}.", "translation": text, "category": "female"}
        | {side: [source.format(n) for source in sources] for side, sources in sides.items()}
        for n, text in enumerate(texts)
    ]
    streamed = evaluate_stream(RowStream(rows, "en", "de", chunk_rows=100), evaluator=hash_scores)
    whole = judge(
        make_metric("contrastive_conditioning"),
        Material("en", "de", rows),
        texts,
        evaluator=FunctionEvaluator(hash_scores),
    )
    counts = {"n_untranslated": 1, "n_wrapped": 1, "n_both_genders": 1, "n_inconclusive": 1}
    assert counts.items() <= streamed.counts.items()
    assert counts.items() <= whole.counts.items()
    assert streamed.scores == whole.scores
    assert streamed.categories == whole.categories
    assert "1 of 33 translations name both genders; they have no verdict" in streamed.notes
