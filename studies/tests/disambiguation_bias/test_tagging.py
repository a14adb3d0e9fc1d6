import json
import pickle
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cc_hf_studies.disambiguation_bias import tagging
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, read_lexicon
from cc_hf_studies.disambiguation_bias.lexicons import named_lexicon
from cc_hf_studies.disambiguation_bias.tagging import PairTagger, TaggedBlock, TaggingOptions

from cc_hf.data.corpora.parallel import CorpusBlock, corpus_blocks, file_corpus
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.reading import text_lines
from cc_hf.test_sets.mucow.files import SUITE
from cc_hf.test_sets.mucow.suite import key_row
from studies.tests.disambiguation_bias.corpus import LEXICON, SENTENCES, lexicon_of
from tests.helpers.usual import cases, fails, printed_by, refuses


def block_of(*pairs: tuple[str, str], damaged: dict[int, str] | None = None) -> CorpusBlock:
    return CorpusBlock(1, 100, [a for a, _ in pairs], [b for _, b in pairs], damaged or {})


def tagged(*pairs: tuple[str, str], links: list[str] | None = None, **options: Any) -> TaggedBlock:
    return PairTagger(LEXICON, TaggingOptions(**options)).tag(block_of(*pairs), links, "links.txt")


def test_pairs_with_a_known_sense_are_tagged_with_positions() -> None:
    block = tagged(*SENTENCES)
    rows = {pair.id: pair for pair in block.pairs}
    clusters = [f"{name}: {pair.cluster}" for name, pair in rows.items()]
    expected = ["100.bat: 1", "101.bat: 2", "102.bat: 2", "102.spring: 1", "104.spring: 2"]
    assert sorted(clusters) == expected
    assert all(name == f"{name[:3]}.{pair.homograph}" for name, pair in rows.items())
    pair = rows["102.bat"]
    assert pair.source[pair.start :].startswith("bats")
    assert (pair.token, pair.target_token) == (3, "Fledermäuse")
    assert block.outcomes == {
        **{"n_damaged": 0, "n_too_long": 0, "n_homographs": 7},
        **{"n_tagged": 5, "n_ambiguous": 1, "n_no_sense": 1},
    }


def test_given_links_replace_the_aligner() -> None:
    pair = ("The bat hit the ball .", "Der Schläger traf den Ball .")
    assert tagged(pair, links=["1-1"]).pairs[0].cluster == "1"
    assert tagged(pair, links=["1-2"]).outcomes["n_not_linked"] == 1
    assert tagged(pair, links=[""]).outcomes["n_not_linked"] == 1


def test_links_between_words_with_punctuation_are_understood() -> None:
    block = tagged(("See (the bat), now.", "Sieh (den Schläger), jetzt."), links=["2-2"])
    assert (block.pairs[0].token, block.pairs[0].target_token) == (3, "Schläger")


def test_the_window_is_searched_where_links_show_no_sense() -> None:
    pair = ("The bat hit .", "Der große Schläger traf .")
    for window, n in ((0, 0), (1, 1)):
        assert len(tagged(pair, links=["1-1"], window=window).pairs) == n
    assert tagged(pair, links=[""], window=3).pairs == ()
    near = ("The bat hit .", "Die Fledermaus traf den Schläger .")
    assert tagged(near, links=["1-2"], window=3).pairs[0].cluster == "2"


def test_a_homograph_with_two_senses_in_a_pair_is_dropped() -> None:
    pair = ("A bat met a bat .", "Eine Fledermaus traf einen Schläger .")
    assert tagged(pair, links=["1-1 4-4"]).outcomes["n_conflicting"] == 1
    assert tagged(pair, links=["1-1"]).pairs[0].cluster == "2"


@pytest.mark.parametrize("word", ["Keule", "Springen"])
def test_ambiguous_and_blacklisted_words_give_no_pair(word: str) -> None:
    homograph = "bat" if word == "Keule" else "spring"
    assert tagged((f"a {homograph}", f"ein {word}"), links=["1-1"]).outcomes["n_ambiguous"] == 1


def test_damaged_pairs_are_counted() -> None:
    block = block_of(("The bat hit.", ""), SENTENCES[1], damaged={0: "the reference is empty"})
    result = PairTagger(LEXICON).tag(block, ["", "1-1"])
    assert (result.outcomes["n_damaged"], len(result.pairs)) == (1, 1)


def test_cleaning_drops_pairs_and_counts_them() -> None:
    long = ("A bat", "Ein Schläger " + "sehr " * 8)
    assert tagged(long, max_length_ratio=2).outcomes["n_length_ratio"] == 1
    assert tagged(long, links=["1-1"], max_length_ratio=9).outcomes["n_tagged"] == 1
    foreign = ("bat xqz wvk qrt", "Schläger xqz wvk qrt")
    assert tagged(foreign, min_known_words=0.9).outcomes["n_language"] == 1
    assert len(tagged(SENTENCES[0], min_known_words=0.9).pairs) == 1
    french = ("The bat hit the ball.", "La chauve-souris a touché la balle.")
    block = tagged(french, SENTENCES[0], identifies_languages=True)
    assert (block.outcomes["n_language"], len(block.pairs)) == (1, 1)
    tagger = PairTagger(LEXICON, TaggingOptions(identifies_languages=True))
    assert tagger.signature_fields()["langid"]


def test_held_out_pairs_are_chosen_by_a_hash_and_must_be_long() -> None:
    pairs = [(f"Number {i} : the bat hit the ball .", f"Nummer {i} : Schläger") for i in range(200)]
    links = ["4-3"] * 200
    block = tagged(*pairs, links=links, held_out=0.3, min_tokens=8)
    assert 40 < len(block.held_out) < 80
    assert len(block.held_out) + len(block.pairs) == 200
    again = tagged(*reversed(pairs), links=links, held_out=0.3, min_tokens=8)
    assert {pair.source for pair in again.held_out} == {pair.source for pair in block.held_out}
    short = tagged(*pairs, links=links, held_out=0.3, min_tokens=20)
    assert (short.outcomes["n_short"], short.held_out) == (len(block.held_out), ())
    assert short.pairs == block.pairs


def test_alignment_in_parts_bounds_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def align(sources: list[str], targets: list[str]) -> list[Any]:
        sizes.append(len(sources))
        return [((1, 1),)] * len(sources)

    aligner = SimpleNamespace(signature_name="parts", align=align)
    monkeypatch.setattr(tagging, "find_aligner", lambda name: aligner)
    tagger = PairTagger(LEXICON, TaggingOptions(max_cells=100))
    assert len(tagger.tag(block_of(*[SENTENCES[0]] * 5)).pairs) == 5
    assert sizes == [2, 2, 1]  # 7 * 6 cells each
    assert tagger.aligner_name == "parts.100cells"


def test_a_pair_that_is_too_long_to_align_is_counted_and_the_others_are_tagged() -> None:
    long = ("The bat " + "hit " * 50, "Der Schläger " + "traf " * 50)
    block = tagged(long, SENTENCES[0], max_cells=100)
    assert (block.outcomes["n_too_long"], block.outcomes["n_homographs"]) == (1, 1)
    assert len(tagged(long, links=["1-1"], max_cells=100).pairs) == 1


def test_only_named_homographs_are_tagged_and_the_signature_says_so() -> None:
    tagger = PairTagger(LEXICON, TaggingOptions(homographs=("spring",)))
    assert {pair.homograph for pair in tagger.tag(block_of(*SENTENCES)).pairs} == {"spring"}
    assert str(tagger.signature_fields()["homographs"]).startswith("1.")
    fails(
        UnknownNameError,
        "unknown homograph 'sprin'; did you mean 'spring'",
        PairTagger,
        LEXICON,
        TaggingOptions(homographs=("sprin",)),
    )


@cases(
    ({"rule": "x"}, "rule: expected one of recommended, program"),
    ({"window": -1}, "window: expected an integer of at least 0, got -1"),
    ({"max_length_ratio": 0.5}, "max_length_ratio: expected a number of at least 1"),
    ({"min_known_words": 2}, "min_known_words: expected a number from 0 to 1"),
    ({"held_out": 1}, "held_out: expected a number of at least 0 and below 1"),
    ({"min_tokens": -1}, "min_tokens: expected an integer of at least 0"),
    ({"max_cells": 0}, "max_cells: expected an integer of at least 1"),
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, TaggingOptions, **options)


def test_wrong_alignments_name_their_line() -> None:
    pair = ("The bat hit .", "Der Schläger traf .")
    fails(DataError, "links.txt: line 101: expected links such as 0-0", tagged, pair, links=["1:1"])
    refuses(r"links.txt: line 101: expected links between 4 source", tagged, pair, links=["1-9"])


def test_a_tagger_reaches_other_processes_without_its_caches() -> None:
    tagger = PairTagger(LEXICON)
    before = tagger.tag(block_of(*SENTENCES)).pairs
    copy = pickle.loads(pickle.dumps(tagger))
    assert "_homograph_of" not in vars(copy)
    assert copy.tag(block_of(*SENTENCES)).pairs == before


def test_the_cache_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "_CACHED_WORDS", 3)
    tagger = PairTagger(LEXICON)
    assert len(tagger.tag(block_of(*SENTENCES)).pairs) == 5
    assert len(tagger._homograph_of) <= 3


def fake_doc(text: str) -> list[Any]:
    """Return words with positions and tags; the word after "to" is a verb."""
    words = [(word.start(), text[: word.start()]) for word in re.finditer(r"\S+", text)]
    kinds = [(start, "VERB" if before.endswith("to ") else "NOUN") for start, before in words]
    return [SimpleNamespace(idx=start, pos_=kind) for start, kind in kinds]


def test_with_a_spacy_model_homographs_must_be_nouns(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = {"lang": "en", "name": "core_web_sm", "version": "3.8.0"}
    pipeline = SimpleNamespace(lang="en", meta=meta, pipe=lambda texts: map(fake_doc, texts))
    fake = SimpleNamespace(load=lambda name, exclude: pipeline, __version__="3.8.0")
    monkeypatch.setitem(sys.modules, "spacy", fake)
    pairs = [("They like to bat .", "Sie mögen Schläger ."), ("A bat hit .", "Schläger traf .")]
    tagger = PairTagger(LEXICON, TaggingOptions(spacy_model="en_core_web_sm"))
    block = tagger.tag(block_of(*pairs), ["3-2", "1-0"])
    assert (block.outcomes["n_no_noun"], len(block.pairs)) == (1, 1)
    assert tagger.signature_fields()["parser"] == "spacy-3.8.0+en_core_web_sm-3.8.0"
    assert PairTagger(LEXICON).signature_fields()["parser"] == "none"


def test_another_language_pair_needs_only_another_lexicon() -> None:
    senses = lexicon_of(bank={"1": "banque", "2": "banc"}).homographs
    tagger = PairTagger(HomographLexicon("de", "fr", "", senses))
    block = tagger.tag(block_of(("Die Banken sparen", "Les banques")), ["1-1"])
    assert block.pairs[0].cluster == "1"


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
    refuses(message, named_lexicon, pair, senses_of=senses_of)


@pytest.mark.parametrize("pair", _SIZES)
def test_mucow_has_homographs_of_nine_pairs(shared: Path, pair: str) -> None:
    lexicon = named_lexicon(pair, data_dir=shared / "upstream")
    assert (len(lexicon), sum(map(len, lexicon.values()))) == _SIZES[pair]
    assert all(len(clusters) > 1 for clusters in lexicon.values())
    for clusters in lexicon.values():
        assert all(name == cluster.senses[0] for name, cluster in clusters.items())


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


def test_the_published_lexicon_gets_names(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "lexicon.json"
    options = f"--senses-of emelin-2020 --senses {path} --data-dir {shared}/upstream --json"
    printed = printed_by(f"study disambiguation_bias build-lexicon {options}")
    assert json.loads(printed) == {"language_pair": "en-de", "n_homographs": 101, "n_senses": 357}
    lexicon, published = read_lexicon(path), read_lexicon(data_dir=shared / "upstream")
    assert list(lexicon.clusters("letter")) == ["missive", "bookstaff"]
    for homograph, clusters in published.homographs.items():
        assert list(lexicon.clusters(homograph).values()) == list(clusters.values())
