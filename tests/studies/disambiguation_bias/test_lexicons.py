import json
from pathlib import Path

import pytest

from cc_hf.data.corpora.parallel import corpus_blocks, file_corpus
from cc_hf.data.readers.mucow_files import SUITE
from cc_hf.data.readers.mucow_suite import key_row
from cc_hf.errors import InputError
from cc_hf.reading import text_lines
from cc_hf.studies.disambiguation_bias.homographs import HomographLexicon, read_lexicon
from cc_hf.studies.disambiguation_bias.lexicons import named_lexicon
from cc_hf.studies.disambiguation_bias.tagging import PairTagger
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by

_SIZES = {
    **{"de-en": (217, 462), "en-cs": (98, 201), "en-de": (176, 363), "en-fi": (48, 97)},
    **{"en-lt": (4, 8), "en-ru": (99, 208), "fi-en": (109, 232), "lt-en": (6, 12)},
    "ru-en": (67, 140),
}


@cases(
    ("en-et", "mucow", "unknown language pair of MuCoW 'en-et'"),
    ("de-en", "emelin-2020", "unknown language pair of emelin-2020 'de-en'"),
    ("en-de", "wordnet", "expected one of mucow, emelin-2020, got 'wordnet'"),
)
def test_other_senses_are_refused(pair: str, senses_of: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        named_lexicon(pair, senses_of=senses_of)
    assert message in str(error.value)


@pytest.mark.shared
@pytest.mark.parametrize("pair", _SIZES)
def test_mucow_has_homographs_of_nine_pairs(shared: Path, pair: str) -> None:
    lexicon = named_lexicon(pair, data_dir=shared / "upstream")
    assert (len(lexicon), sum(map(len, lexicon.values()))) == _SIZES[pair]
    assert all(len(clusters) > 1 for clusters in lexicon.values())
    for clusters in lexicon.values():
        assert all(name == cluster.senses[0] for name, cluster in clusters.items())


@pytest.mark.shared
@cases(("de-en", 3970, 3969), ("en-de", 3121, 3121), ("en-lt", 63, 63), ("ru-en", 1144, 1135))
def test_pairs_of_mucow_are_tagged_as_keys(pair: str, n: int, n_right: int, shared: Path) -> None:
    upstream = shared / "upstream"
    src_lang, tgt_lang = pair.split("-")
    lexicon = HomographLexicon(src_lang, tgt_lang, "", named_lexicon(pair, data_dir=upstream))
    folder = upstream / "Helsinki-NLP" / "MuCoW"
    text, references, key = (folder / SUITE.format(pair, part) for part in ("text", "ref", "key"))
    keys = [key_row(key, number, line) for number, line in enumerate(text_lines(key))]
    (block,) = corpus_blocks(file_corpus(text, references, block_pairs=10_000))
    rights = [
        set(lexicon.clusters(tagged.homograph)[tagged.cluster].senses) == {*row.correct} - {"."}
        for tagged in PairTagger(lexicon).tag(block).pairs
        if (row := keys[int(tagged.id.split(".")[0])]).word.lower() == tagged.homograph
    ]
    assert (len(rights), sum(rights)) == (n, n_right)


@pytest.mark.shared
def test_the_published_lexicon_gets_names(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "lexicon.json"
    options = f"--senses-of emelin-2020 --senses {path} --data-dir {shared}/upstream --json"
    printed = printed_by(f"study disambiguation_bias build-lexicon {options}")
    assert json.loads(printed) == {"language_pair": "en-de", "n_homographs": 101, "n_senses": 357}
    lexicon, published = read_lexicon(path), read_lexicon(data_dir=shared / "upstream")
    assert list(lexicon.clusters("letter")) == ["missive", "bookstaff"]
    for homograph, clusters in published.homographs.items():
        assert list(lexicon.clusters(homograph).values()) == list(clusters.values())
