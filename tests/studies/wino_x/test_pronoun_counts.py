from pathlib import Path

import pytest
from datasets import Dataset

from cc_hf.data.corpora.parallel import dataset_corpus, file_corpus
from cc_hf.errors import InputError
from cc_hf.studies.wino_x.pronoun_counts import corpus_pronouns, pronoun_counts
from cc_hf.text.alignment import GivenAlignments, parse_pharaoh
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.lines import write_lines
from tests.helpers.printed_beside import cells_beside
from tests.helpers.refusals import refuses

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
    with pytest.raises(InputError, match='expected English sentences with "it", got none in 7'):
        corpus_pronouns(file_corpus(*files[::-1], block_pairs=9), tgt_lang="de")
    with pytest.raises(InputError, match="got the language 'es'"):
        corpus_pronouns(file_corpus(*files, block_pairs=9), tgt_lang="es")


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
