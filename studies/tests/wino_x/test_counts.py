"""Lengths, counts of pronouns, and the study with people."""

import json
from pathlib import Path

import numpy as np
import pytest
from cc_hf_studies.wino_x.human_study import FORM, draw_samples, rate_samples
from cc_hf_studies.wino_x.lengths import sequence_lengths
from cc_hf_studies.wino_x.pronoun_counts import corpus_pronouns, pronoun_counts
from datasets import Dataset

import cc_hf
from cc_hf.data.corpora.parallel import dataset_corpus, file_corpus
from cc_hf.errors import CCError
from cc_hf.plugins.raters.sheets import SheetKey
from cc_hf.results import Interval
from cc_hf.text.alignment import GivenAlignments, parse_pharaoh
from tests.helpers.judged import Examples, Sides
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import (
    cases,
    cells_beside,
    contrastive,
    fails,
    fill,
    printed_by,
    read_json,
    refuses,
    write_lines,
)


@cases(
    # tokens of the first printed rows, counted by hand
    ("mt_en_de.translations", 2, "sentence", [17, 14]),
    ("mt_en_de.translations", 2, "translation", [16, 16, 14, 14]),
    ("mt_en_fr.translations", 1, "sentence", [17]),
    ("mt_en_fr.translations", 1, "translation", [23, 23]),
    ("mt_en_ru.translations", 1, "sentence", [15]),
    ("lm_en_de.english", 1, "context", [18]),
    ("lm_en_de", 1, "context", [21]),
    ("lm_en_de", 1, "filler", [2, 2]),
    ("lm_en_ru", 1, "context", [13]),
    ("lm_en_ru", 1, "filler", [1, 1]),
    ("lm_en_ru.english", 1, "filler", [3, 2]),
)
def test_printed_rows_have_the_lengths_that_were_counted_by_hand(
    config: str, n_samples: int, what: str, counts: list[int], shared: Path, tmp_path: Path
) -> None:
    data_dir = lay_out_samples("wino_x", config, tmp_path, shared)
    examples = cc_hf.load_examples("wino_x", config, data_dir=data_dir)[:n_samples]
    (actual,) = (length for length in sequence_lengths(examples) if length.what == what)
    assert actual.n == len(counts)
    assert (actual.mean, actual.deviation) == pytest.approx((np.mean(counts), np.std(counts)))


def test_examples_that_do_not_fit_are_refused(both_sides: Sides) -> None:
    german, english = both_sides
    refuses("expected at least one example", sequence_lengths, [])
    refuses("expected examples in one language, got de, en", sequence_lengths, [*german, *english])
    refuses(
        "expected translations or filled gaps",
        sequence_lengths,
        cc_hf.load_examples("simplegen", "en-de")[:1],
    )


def test_the_command_prints_lengths_beside_printed_ones(data_dir: Path, tmp_path: Path) -> None:
    output = tmp_path / "lengths.json"
    text = printed_by(f"study wino_x lengths lm_en_de --data-dir {data_dir} --output {output}")
    assert "17.16 (3.11)" in text
    context, filler = read_json(output)["lm_en_de"]
    assert (context["n"], filler["n"]) == (192, 384)
    assert f"{context['mean']:.2f}" in text


# sources, translations, links between words and punctuation marks
_PAIRS = (
    ("It broke.", "Sie zerbrach.", "0-0 1-1"),  # female
    ("He saw it; it's old.", "Er sah es, er ist alt.", "0-0 1-1 2-2 3-3 4-4 6-5"),  # neutral, male
    ("It rained.", "Regen fiel.", "0-0"),  # another word
    ("It rained.", "Sie und er sahen es.", "0-0 0-2"),  # two genders
    ("I saw it.", "Ich sah.", "0-0 1-1"),  # not linked
    ("Its end.", "Ihr Ende: sie kam.", "0-0"),  # no "it"
    ("It broke.", "", ""),  # damaged
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    sources, targets, _ = zip(*_PAIRS, strict=True)
    return write_lines(tmp_path / "a.en", sources), write_lines(tmp_path / "a.de", targets)


def test_every_it_counts_once(files: tuple[Path, Path]) -> None:
    given = GivenAlignments(parse_pharaoh([links for _, right, links in _PAIRS if right]))
    counts = corpus_pronouns(file_corpus(*files, block_pairs=100), tgt_lang="de", aligner=given)
    assert (counts.n_pairs, counts.n_damaged, counts.n_it) == (7, 1, 6)
    assert counts.translations == {"male": 1, "female": 1, "neutral": 1}
    assert (counts.n_several, counts.n_other, counts.n_unlinked) == (1, 1, 1)
    assert counts.occurrences == {"male": 3, "female": 3, "neutral": 2}


def test_a_dataset_and_a_stream_have_the_counts_of_the_files(files: tuple[Path, Path]) -> None:
    rows = Dataset.from_list([{"en": source, "de": target} for source, target, _ in _PAIRS])
    expected = corpus_pronouns(file_corpus(*files, block_pairs=3), tgt_lang="de")
    for dataset in (rows, rows.to_iterable_dataset()):
        corpus = dataset_corpus(dataset, name="rows", src_lang="en", tgt_lang="de", block_pairs=3)
        assert corpus_pronouns(corpus, tgt_lang="de") == expected


def test_a_corpus_without_it_is_refused(files: tuple[Path, Path]) -> None:
    refuses(
        'expected English sentences with "it", got none in 7',
        corpus_pronouns,
        file_corpus(*files[::-1], block_pairs=9),
        tgt_lang="de",
    )
    refuses(
        "got the language 'es'", corpus_pronouns, file_corpus(*files, block_pairs=9), tgt_lang="es"
    )


def test_plurals_with_a_gender_do_not_count() -> None:
    text = "Ils disent qu'il part, et elles aussi. Est-il là ?"
    assert pronoun_counts([text], "fr") == {"male": 2, "female": 0}


def test_the_command_says_what_became_of_every_it(files: tuple[Path, Path], tmp_path: Path) -> None:
    output, command = tmp_path / "counts.json", "study wino_x corpus-pronouns"
    text = printed_by(f"{command} {files[0]} {files[1]} --output {output} --quiet")
    row = read_json(output)
    n_others = row["n_several"] + row["n_other"] + row["n_unlinked"]
    assert sum(row["translations"].values()) + n_others == row["n_it"] == 6
    assert '"it": 6;' in text
    assert cells_beside("wino_x", output) == {"Table 4.9, en-de": row["translations"]}
    assert "ignored: 1 damaged or empty pairs" in text
    assert f"signature:{row['signature']}" in "".join(text.split())
    refuses("expected two files or one dataset", printed_by, f"{command} a b c")


def test_two_people_are_compared_with_data(schemas: Examples) -> None:
    key = draw_samples(schemas, n=40)
    by_id = {example.id: example for example in schemas}
    for row in key.rows:
        sentence, *translations = row.cells
        example, right = by_id[row.origins[0]["id"]], row.origins[0]["right"]
        assert (sentence, right) == (example.source, example.extra["answer"])
        assert translations[int(right) - 1] == example.correct_translation
    first = {row.id: (row.origins[0]["right"],) for row in key.rows}
    names = list(first)
    other = {"1": "2", "2": "1"}[first[names[0]][0]]
    second = {**first, names[0]: (other,), names[1]: ("BOTH",), names[2]: ("BAD SAMPLE",)}
    figures = rate_samples(key, first, second)
    assert [rater.accuracy for rater in figures.raters] == [1, 37 / 40]
    rater = figures.raters[1]
    assert (rater.n_wrong, rater.n_both, rater.n_bad) == (1, 1, 1)
    assert figures.accuracy == 77 / 80
    assert figures.interval.low < 77 / 80 < figures.interval.high
    assert figures.choice_accuracy == 77 / 78
    assert isinstance(figures.kappa_interval, Interval)
    assert 0.5 < figures.kappa < 1
    assert draw_samples(schemas, n=40) == key != draw_samples(schemas, n=40, seed=1)
    undecided = dict.fromkeys(names, ("BOTH",))
    assert rate_samples(key, undecided, undecided).choice_accuracy is None


def test_sheets_are_written_filled_and_read(data_dir: Path, tmp_path: Path) -> None:
    folder, key = tmp_path / "sheets", tmp_path / "key.json"
    printed_by(f"study wino_x build-sheets -o {folder} --key {key} --n 20 --data-dir {data_dir}")
    assert "BAD SAMPLE" in (folder / "guidelines.md").read_text(encoding="utf-8")
    right = {row.cells: row.origins[0]["right"] for row in SheetKey.read(key, [FORM]).rows}
    sheets = [folder / "rater1.csv", folder / "rater2.csv"]
    names = ("SENTENCE", "TRANSLATION_1", "TRANSLATION_2")
    for sheet in sheets:
        fill(sheet, lambda row: [right[tuple(row[name] for name in names)]])
    command = f"study wino_x rate {key} {sheets[0]} {sheets[1]} --resamples 20"
    figures = json.loads(printed_by(f"{command} --json"))
    assert (figures["n"], figures["accuracy"], figures["kappa"]) == (20, 1, 1)
    printed = printed_by(command)
    assert "thesis, en-de" in printed
    assert "thesis: 0.69" in printed
    fails(CCError, "those of 2 raters, got 1", printed_by, f"study wino_x rate {key} {sheets[0]}")


@cases(
    (0, [None], "n: expected at least 1, got 0"),
    (1, [], "expected samples of MT-Wino-X, got none"),
    (1, [contrastive("a", "", "Ja.", "Nein.")], "'a': expected a source with two translations"),
)
def test_what_cannot_be_asked_is_refused(n: int, examples: Examples, message: str) -> None:
    refuses(message, draw_samples, examples, n=n)
