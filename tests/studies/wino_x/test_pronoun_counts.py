from __future__ import annotations

import json
from pathlib import Path

import pytest
from datasets import Dataset

from cc_hf.data.corpora.parallel import dataset_corpus, file_corpus
from cc_hf.errors import InputError
from cc_hf.studies.wino_x.pronoun_counts import corpus_pronouns, pronoun_counts
from cc_hf.text.alignment import GivenAlignments, parse_pharaoh

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
    paths = tmp_path / "a.en", tmp_path / "a.de"
    for path, side in zip(paths, zip(*_PAIRS, strict=True), strict=False):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


def _given() -> GivenAlignments:
    return GivenAlignments(parse_pharaoh([links for _, right, links in _PAIRS if right]))


def test_every_it_counts_once(files: tuple[Path, Path]) -> None:
    counts = corpus_pronouns(file_corpus(*files, block_pairs=100), tgt_lang="de", aligner=_given())
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
    with pytest.raises(InputError, match='expected English sentences with "it", got none in 7'):
        corpus_pronouns(file_corpus(*files[::-1], block_pairs=9), tgt_lang="de")
    with pytest.raises(InputError, match="got the language 'es'"):
        corpus_pronouns(file_corpus(*files, block_pairs=9), tgt_lang="es")


def test_plurals_with_a_gender_do_not_count() -> None:
    assert pronoun_counts(["Ils disent qu'il part, et elles aussi. Est-il là ?"], "fr") == {
        "male": 2,
        "female": 0,
    }


def test_the_command_says_what_became_of_every_it(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cc_hf.cli.main import app

    output = tmp_path / "counts.json"
    arguments = [*map(str, files), "--output", str(output), "--quiet"]
    app(["study", "wino_x", "corpus-pronouns", *arguments], standalone_mode=False)
    text = capsys.readouterr().out
    row = json.loads(output.read_text(encoding="utf-8"))
    n_others = row["n_several"] + row["n_other"] + row["n_unlinked"]
    assert sum(row["translations"].values()) + n_others == row["n_it"] == 6
    assert '"it": 6;' in text
    assert "ignored: 1 damaged or empty pairs" in text
    assert f"signature: {row['signature']}" in text
    with pytest.raises(InputError, match="expected two files or one dataset"):
        app(["study", "wino_x", "corpus-pronouns", "a", "b", "c"], standalone_mode=False)
