"""GATE: what is read of the files, and what the words and scores of its own translations give."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf.comparing.explanation import explain_example
from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.errors import DataError
from cc_hf.evaluation.correction import audited
from cc_hf.evaluation.material import Material
from cc_hf.hub.tasks import tasks
from cc_hf.metrics.open_choice import open_share
from cc_hf.reports.findings import findings
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.island import explorer_data
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import report_tables
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example
from cc_hf.test_sets.gate import reader as gate
from cc_hf.test_sets.gate.gender_words import list_shares
from tests.helpers.usual import cases, fails, hash_scores, refuses, typed, write_text

_KEYS = ["la [jefa]", "el [jefe]", "test"]
_ROWS = (
    ["labels", "source", "f", "m", "kw_s", "kw_f", "kw_m", "data_split"],
    ["SUBJ;PROF", '"Go": the boss said.', '"Ve": la jefa.', '"Ve": el jefe.', "the [boss]", *_KEYS],
    ["SUBJ;X;OTH", "I'm tired.", "Cansada.", "Cansado.", "I=tired", "(yo)", "(yo)", "dev"],
    ["ANAN", "They said we won.", "Juntas.", "Juntos.", "we", "(nosotras)", "(nosotros)", "test"],
    ["FAM", "A friend of a friend.", "Amiga.", "Amigo.", "friend", "amiga", "amigo", "test"],
    ["FAM", "Kids.", "Atletas, una.", "Atletas.", "child", "x", "x", "test"],
    ["FAM", "Teachers.", "Docentes.", "Docentes.", "teachers", "x", "x", "test"],
)


def _written(
    folder: Path, change: Callable[[list[list[str]]], object] = list, end: str = "\n", n: int = 2
) -> dict[str, Path]:
    rows = [list(row) for row in _ROWS]
    if n == 4:
        rows = [[*_ROWS[0][:2], "ff", "fm", "mf", "mm", *_ROWS[0][4:]]]
        rows.append(["NHUM", "Both.", "La, una.", "La, un.", "El, un.", "El, un.", "a", "b", "c"])
        rows[1].append("test")
    change(rows)
    path = folder / f"{n}.tsv"
    path.write_bytes("".join("\t".join(row) + end for row in rows).encode())
    return {f"data/ES/ES_{n}_variants.tsv": path}


def _read(paths: dict[str, Path], config: str = "es", split: str = "test") -> list[Example]:
    return list(gate.read_gate(paths, config, split))


def test_cues_stand_at_the_person_and_pronouns_take_an_apposition(tmp_path: Path) -> None:
    paths = _written(tmp_path)
    examples = [e for split in ("dev", "test") for e in _read(paths, split=split)]
    assert all(isinstance(e, ContrastiveSourceExample) and e.gold == "female" for e in examples)
    assert [(e.id, e.category, e.correct_sources, e.incorrect_sources) for e in examples] == [  # type: ignore[union-attr]
        ("2.1", "OTH", ("I, a woman, am tired.",), ("I, a man, am tired.",)),
        ("2.0", "PROF", ('"Go": the [female] boss said.',), ('"Go": the [male] boss said.',)),
        ("2.2", "other", ("They said we, women, won.",), ("They said we, men, won.",)),
    ]
    pairs = _read(paths, "es.translations")
    assert [e.id for e in pairs] == ["2.0", "2.2", "2.3", "2.4"]
    assert typed(ContrastiveTranslationExample, pairs[0]).correct_translation == '"Ve": la jefa.'
    eight = write_text(
        tmp_path / "8.tsv",
        "\t".join(
            [*_ROWS[0][:2], "fff", "ffm", "fmf", "mff", "fmm", "mfm", "mmf", "mmm", *_ROWS[0][4:]]
        )
        + "\n",
    )
    paths |= {**_written(tmp_path, n=4), "data/ES/ES_8_variants.tsv": eight}
    *singles, row = _read(paths, "es.all")
    assert [e.id for e in singles] == ["2.0", "2.2", "2.3"]
    assert (row.id, row.extra["variants"]) == ("4.0", "ff\tLa, una.\nfm\tLa, un.\nmf mm\tEl, un.")
    assert (row.extra["people"], row.category) == ("2", "NHUM")


def test_columns_may_change_places_and_lines_may_end_in_any_way(tmp_path: Path) -> None:
    expected = _read(_written(tmp_path))
    assert _read(_written(tmp_path, end="\r\n")) == expected
    turned = _written(tmp_path, lambda rows: rows.__setitem__(slice(None), [r[::-1] for r in rows]))
    assert _read(turned) == expected


@cases(
    *((3, column, "", f"{name}: expected a text, got ''") for column, name in enumerate(_ROWS[0])),
    (3, 0, "prof", "labels: expected words in capitals with ';' between them, got 'prof'"),
    (3, 7, "train", "data_split: expected dev or test, got 'train'"),
    (3, 2, "a\tb", r"expected 8 cells, .*got 9"),
    *((1, column, "other", "expected columns named labels, .*'other'") for column in range(8)),
)
def test_a_bad_cell_is_named(
    line: int, column: int, cell: str, message: str, tmp_path: Path
) -> None:
    paths = _written(tmp_path, lambda rows: rows[line - 1].__setitem__(column, cell))
    fails(DataError, rf"2\.tsv: line {line}: {message}", _read, paths)


@cases(
    ("es", [1501, 300, 23], {0: 8, 1: 1439, 2: 53}, 127, {"1": 1468, "2": 299, "3": 23}),
    ("fr", [1550, 444], {0: 5, 1: 1373, 2: 6}, 156, {"1": 1338, "2": 420}),
    ("it", [1127, 518, 39], {0: 3, 1: 1047, 2: 72}, 106, {"1": 1109, "2": 516, "3": 39}),
)
def test_all_rows_are_read_or_left_out_for_a_reason(
    lang: str, n_rows: Any, n_of_places: Any, n_appositions: int, n_of_people: Any, shared: Path
) -> None:
    def examples(ending: str) -> list[Example]:
        splits = gate.DECLARATION.config(lang).splits
        load = partial(cc_hf.load_examples, "gate", f"{lang}{ending}", data_dir=folder)
        return [example for split in splits for example in load(split=split)]

    folder = shared / "upstream"
    files = gate.DECLARATION.files_of(f"{lang}.all")
    texts = [(folder / file.repository / file.path).read_text("utf-8") for file in files]
    assert [text.count("\n") - 1 for text in texts] == n_rows
    pairs, sources = examples(".translations"), examples("")
    places = [len(gate._places(e.source, e.extra["kw_s"])) for e in pairs]
    assert Counter(min(n, 2) for n in places) == n_of_places
    assert len(sources) == n_of_places[1]
    assert sum("[female]" not in str(e) for e in sources) == n_appositions
    assert Counter(e.extra["people"] for e in examples(".all")) == n_of_people


@pytest.fixture(scope="module")
def material(shared: Path) -> Material:
    return cc_hf.load_material("gate", "es", data_dir=shared / "upstream", limit=40)


@pytest.fixture(scope="module")
def results(material: Material) -> list[EvaluationResult]:
    """Return the results of the feminine and of the masculine variants as translations."""

    def judged(key: str) -> EvaluationResult:
        def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
            female = [bool(re.search(r"wom[ae]n|\[female\]", source)) for source in sources]
            return [1.0 + (is_female == (key == "feminine")) for is_female in female]

        texts = [e.extra[key] for e in material.examples]
        return cc_hf.evaluate(
            material, translations=texts, metric="contrastive_conditioning", evaluator=scores
        )

    return [judged(key) for key in ("feminine", "masculine")]


def test_open_choices_have_shares_and_readings_but_no_verdicts(
    results: list[EvaluationResult], shared: Path
) -> None:
    assert [r.scores["feminine_share"] for r in results] == [1, 0]
    assert results[0].scores["mean_probability"] == pytest.approx(2 / 3)

    pairs = cc_hf.load_material("gate", "es.translations", data_dir=shared / "upstream", limit=40)
    preference = cc_hf.evaluate(
        pairs, metric="contrastive_translation_scoring", evaluator=hash_scores
    )
    assert 0 < preference.scores["feminine_preference"] < 1

    for result in (*results, preference):
        assert (result.judgements, result.categories) == ((), ())
        assert not any("accuracy" in name for name in (*result.scores, *result.intervals))
        assert "n_correct" not in result.counts

        read = [r.reading for r in result.readings]
        assert read.count("feminine") == round(next(iter(result.scores.values())) * len(read))
        assert {*read} <= {"feminine", "masculine"}
        mean = np.mean([r.probability_counted for r in result.readings])
        assert mean == pytest.approx(result.scores["mean_probability"])
        assert len(uncertain_samples(result, within=0.5).samples) == len(read) == 40


def test_open_choices_are_neither_corrected_nor_asked_nor_explained(
    material: Material, results: list[EvaluationResult], shared: Path
) -> None:
    from cc_hf.plugins.asking.prompting.samples import choice_samples

    audit = results[0], material, hash_scores
    refuses("shares of open choices cannot be corrected", audited, *audit, size=20)
    (pair,) = cc_hf.load_examples("gate", "es.translations", data_dir=shared / "upstream")[:1]
    refuses("an open choice; ask for the translation instead", choice_samples, pair)
    refuses(
        "got an open choice; name the sources of both readings",
        explain_example,
        None,
        material.examples[0],
        "Ja.",
    )


def test_rows_with_different_open_shares_are_refused() -> None:
    rows: list[dict[str, str]] = [{"open_share": "a_share"}, {}]
    refuses(r"row 1: open_share: expected 'a_share' as in row 0, got", open_share, rows)
    refuses("row 0: open_share: .* that end in", open_share, [{"open_share": "accuracy"}])


def test_reports_of_open_choices_show_readings_and_no_accuracy(
    results: list[EvaluationResult],
) -> None:
    systems = [ReportedSystem(name, {r.metric: r}) for name, r in zip("ab", results, strict=True)]
    report = build_report(systems)
    assert findings(report, None) == []
    assert "accuracy" not in markdown_report(report)
    counts = [[int(c.value) for c in row.cells] for row in report_tables(report)[-1].rows]
    assert np.sum(counts, axis=0).tolist() == [40, 0, 0, 40]

    data = explorer_data(report, ())
    assert data["counted"] == ["feminine_share"]
    read = [data["strings"][columns["predicted"][0]] for columns in data["judgements"][0]]
    assert read == ["feminine", "masculine"]


def test_open_choices_are_no_tasks_of_a_benchmark() -> None:
    by_metric = {task.metric for task in tasks(gate.DECLARATION)}
    assert by_metric == {"coverage", "critical_errors", "rewriting_score"}


def test_words_of_either_variant_show_its_gender(shared: Path) -> None:
    material = cc_hf.load_material("gate", "it.all", data_dir=shared / "upstream")
    for key, share in (("feminine", 1), ("masculine", 0)):
        texts = [e.extra[key] for e in material.examples]
        result = cc_hf.evaluate(material, translations=texts, metric="gender_words")
        scores = [result.scores[name] for name in ("feminine_share", "mixed", "inconclusive")]
        assert (scores, result.counts["n_inconclusive"]) == ([share, 0, 0], 0)
    sources = cc_hf.load_material("gate", "it", data_dir=shared / "upstream")
    refuses(
        r"es\.all, fr\.all and it\.all of gate have, gate it",
        cc_hf.evaluate,
        sources,
        translations=texts,
        metric="gender_words",
    )


def test_a_blank_output_of_a_rewriter_lowers_recall_only(shared: Path) -> None:
    material = cc_hf.load_material("gate", "fr.to_masculine", data_dir=shared / "upstream")
    right = [e.extra["reference"] for e in material.examples]
    names = ("precision", "recall", "f_half")
    for outputs, expected in (
        ([f" {text}" for text in right], (1, 1, 1)),
        ([text if index % 2 else "" for index, text in enumerate(right)], (1, 0.5, 1.25 / 1.5)),
        ([e.source for e in material.examples], (166 / 1550,) * 3),  # where both are equal
    ):
        result = cc_hf.evaluate(material, translations=outputs, metric="rewriting_score")
        assert [result.scores[name] for name in names] == pytest.approx(expected)
        assert (result.notes, result.unfit) == ((), {})
    labelled = [e for e in material.examples if "PROF" in e.extra["labels"].split(";")]
    n_equal = sum(e.source == e.extra["reference"] for e in labelled)
    assert result.scores["recall_PROF"] == pytest.approx(n_equal / len(labelled))


def test_lists_without_gold_are_read_by_words() -> None:
    row = {"feminine": "La jefa vino.", "masculine": "El jefe vino."}
    scores, intervals = list_shares(
        [["El jefe.", "La jefa."], ["Vino.", "La jefa."], ["La jefa el."], ["La jefa."]], [row] * 4
    )
    assert scores == {"both_genders": 0.25, "feminine_first": 0.5}
    assert set(intervals) == set(scores)
    assert list_shares([["Vino."]], [row])[0] == {"both_genders": 0.0}
    for wrong in [[], [[]], [["a"], ["b"]]]:
        refuses("at least one translation for each of 1 references", list_shares, wrong, [row])
