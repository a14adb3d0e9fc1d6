import sys
from types import SimpleNamespace
from typing import Any

import pytest
from cc_hf_studies.common import nouns as module
from cc_hf_studies.common.nouns import (
    DictionaryNouns,
    SpacyNouns,
    english_parts,
    noun_parser,
    spacy_noun,
)

from cc_hf.errors import MissingDependencyError
from cc_hf.test_sets.mucow.sense_search import ProgramSearch
from cc_hf.text.sense_matching import SenseCluster, SenseMatch, SenseMatcher
from studies.tests.common.parsed_nouns import nouns_of
from tests.helpers.usual import cases, fails, refuses


def phrases(parser: DictionaryNouns, source: str, known: str = "") -> dict[str, list[str]]:
    return {
        noun.text: [modifier.text for modifier in noun.modifiers]
        for noun in parser.nouns([source], [[source.index(known)] if known else []])[0]
        if not noun.is_compound
    }


_GARDEN = "The old warm garden has hot spring ."


@cases(  # only certain nouns and adjectives count
    (_GARDEN, "", {"garden": ["old", "warm"]}),
    (_GARDEN, "spring", {"garden": ["old", "warm"], "spring": ["hot"]}),
    # parts of compounds
    ("The water spring came .", "spring", {}),
    ("A spring garden .", "spring", {}),
    ("My cold spring .", "spring", {}),
    ("It was garden spring", "spring", {}),
    ("A well-spring .", "spring", {}),
    # numbers are no adjectives
    ("My two old springs .", "springs", {"springs": ["old"]}),
    ("Two springs .", "springs", {"springs": []}),
)
def test_nouns_have_adjectives(source: str, known: str, expected: dict[str, list[str]]) -> None:
    assert phrases(nouns_of(), source, known) == expected


def test_a_word_is_an_adjective_if_most_of_its_uses_are() -> None:
    cold_as_adjective = ["The cold garden .", "A cold village came .", "The cold is here ."]
    parser = nouns_of().with_uses(cold_as_adjective)
    assert phrases(parser, "My cold spring .", "spring") == {"spring": ["cold"]}
    parser = nouns_of().with_uses(["The cold garden .", "The cold is here ."])
    assert phrases(parser, "My cold spring .", "spring") == {}
    (noun,) = nouns_of().nouns(["A warmer garden ."])[0]  # comparatives are marked
    assert (noun.modifiers[0].is_compared, noun.modifiers[0].is_adjacent) == (True, True)


def test_the_dictionary_has_parts_of_speech() -> None:
    pytest.importorskip("lemminflect")
    assert english_parts("hot") >= {"ADJ"}
    assert "COMPARED" in english_parts("biggest")
    assert "COMPARED" not in english_parts("big")
    parser = noun_parser()
    assert parser.signature_name.startswith("lemminflect-")
    (noun,) = parser.nouns(["He bought a rubber hose and an expensive mattress ."])[0][-1:]
    assert [modifier.text for modifier in noun.modifiers] == ["expensive"]


def test_a_missing_dictionary_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    english_parts.cache_clear()
    fails(MissingDependencyError, r"'lemminflect'.*\[morphology\]", noun_parser)
    english_parts.cache_clear()


def test_a_dictionary_names_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    lemmas = {"big": {"ADJ": ("big",)}, "bigger": {"ADJ": ("big",)}}
    fake = SimpleNamespace(getAllLemmas=lambda word: lemmas.get(word, {}))
    monkeypatch.setitem(sys.modules, "lemminflect", fake)
    monkeypatch.setattr(module, "_lemminflect_version", lambda: "1.0")
    english_parts.cache_clear()
    assert english_parts("bigger") == {"ADJ", "COMPARED"}
    assert english_parts("big") == {"ADJ"}
    assert noun_parser().signature_name == "lemminflect-1.0"
    english_parts.cache_clear()


def parsed() -> list[Any]:
    """Return "A nice big old bat", "baseball bat" and their dependencies, as spaCy has them."""
    words = "Nice JJ X amod 2, older JJR X amod 2, bat NN NOUN ROOT 2"
    return Sentence(f"{words}, baseball NN NOUN compound 4, club NN NOUN dobj 2")


def fake_spacy(lang: str = "en", *parts: str, sentence: list[Any] | None = None) -> Any:
    named: Any = {"lang": lang, "meta": {"lang": lang, "name": "core", "version": "1"}}
    named["pipe_names"] = list(parts or ("tagger", "parser"))
    pipeline = SimpleNamespace(**named, pipe=lambda rows: [sentence or parsed() for _ in rows])
    return SimpleNamespace(load=lambda name, exclude: pipeline, __version__="3.8.0")


def test_spacy_gives_adjectives_by_dependency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy())
    parser = noun_parser("en_core")
    assert parser.signature_name == "spacy-3.8.0+en_core-1"
    bat, baseball, club = parser.nouns(["Nice older bat baseball club"])[0]
    modifiers = [(m.text, m.is_adjacent, m.is_compared) for m in bat.modifiers]
    assert modifiers == [("nice", False, False), ("older", True, True)]
    assert baseball.is_compound
    assert club.is_compound


class Sentence(list[Any]):
    """Tokens as spaCy has them, from rows of word, tag, part of speech, relation, head, morph."""

    def __init__(self, rows: str) -> None:
        for index, row in enumerate(rows.split(", ")):
            word, tag, pos, dependency, head, *morph = row.split()
            features = dict(feature.split("=") for feature in morph)
            self.append(
                SimpleNamespace(
                    text=word, i=index, idx=10 * index, tag_=tag, pos_=pos, dep_=dependency,
                    lemma_=word, head=int(head), lefts=[], children=[], doc=self,
                    morph=SimpleNamespace(
                        get=lambda name, f=features: [f[name]] if name in f else []
                    ),
                    nbor=lambda distance, index=index: self[index + distance],
                )
            )  # fmt: skip
        for token in self:
            if token.head != token.i:
                self[token.head].children.append(token)
                if token.i < token.head:
                    self[token.head].lefts.append(token)


@cases(
    (
        "de",
        "Eine ART DET nk 2, alte ADJA ADJ nk 2 Degree=Pos, Feder NN NOUN sb 2 Case=Nom Number=Sing",
        [("alte", True, False)],
        "eine Feder Nom Sing",
    ),
    (
        "de",
        "im APPRART ADP mo 0, Frühling NN NOUN nk 0 Case=Dat Number=Sing",
        [],
        "im Frühling Dat Sing",
    ),
    ("de", "ältere ADJA ADJ nk 1 Degree=Cmp, Federn NN NOUN sb 1", [("ältere", True, True)], ""),
    ("de", "und KON CCONJ cd 1, Federn NN NOUN sb 1 Case=Nom Number=Plur", [], ""),
    (
        "pt",
        "boa ADJ ADJ amod 1, mola NOUN NOUN nsubj 1 Gender=Fem Number=Sing, velha ADJ ADJ amod 1",
        [("boa", False, False), ("velha", True, False)],
        "mola Fem Sing",
    ),
)  # fmt: skip
def test_nouns_of_other_languages_say_what_adjectives_must_agree_with(
    lang: str, rows: str, modifiers: list[Any], agreement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(lang, sentence=Sentence(rows)))
    (noun,) = noun_parser("core", lang).nouns(["x"])[0]
    assert [(m.text, m.is_adjacent, m.is_compared) for m in noun.modifiers] == modifiers
    assert noun.agreement == agreement
    assert not noun.is_compound


def test_a_portuguese_noun_with_a_complement_is_a_compound() -> None:
    bank, *_ = Sentence("banco N NOUN obj 0, de ADP ADP case 2, dados N NOUN nmod 0")
    assert spacy_noun(bank, "pt").is_compound


@cases(
    (None, "de", "spacy_model: expected a pipeline that finds adjectives in 'de', got none"),
    ("x", "fi", "lang: expected one of en, de, pt, got 'fi'"),
)
def test_other_languages_need_a_pipeline(model: str | None, lang: str, message: str) -> None:
    refuses(message, noun_parser, model, lang)


@pytest.mark.parametrize(("lang", "parts"), [("de", ("parser",)), ("en", ("tagger",))])
def test_an_unsuitable_pipeline_is_refused(monkeypatch: Any, lang: str, parts: Any) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(lang, *parts))
    refuses(r"spacy_model: expected a pipeline (with a pars|for en)", SpacyNouns, "en_core")


CLUSTERS = {
    "season": SenseCluster(("Frühling", "Lenz")),
    "device": SenseCluster(("Feder", "Sprungfeder"), ambiguous=("Spirale",)),
    "water": SenseCluster(("Quelle",), blacklisted=("Born",)),
}


def matcher(rule: str = "recommended", lemmatizer: str = "simplemma") -> SenseMatcher:
    return SenseMatcher(CLUSTERS, lang="de", lemmatizer=lemmatizer, rule=rule)


@cases(
    ("Federn", "device", False),
    ("LENZ", "season", False),
    ("Vogelfeder", "device", True),
    ("Mineralquellen", "water", True),
    *((token, "", False) for token in ("Haus", "Spirale", "Born")),
)
def test_tokens_match_by_lemma_surface_or_end(token: str, cluster: str, is_compound: bool) -> None:
    match = matcher().match(token)
    assert (match.cluster, match.rule == "compound") == (cluster, is_compound)


def test_lemmas_ambiguous_and_blacklisted_senses_are_told_apart() -> None:
    assert matcher(lemmatizer="none").match("Federn") == SenseMatch()
    assert matcher(lemmatizer="none").match("feder").rule == "surface"
    assert matcher().match("Spirale").ambiguous == ("device",)
    assert matcher().match("Born").blacklisted == ("water",)


def test_a_form_of_two_clusters_is_no_certain_sense() -> None:
    clusters = {"1": SenseCluster(("Bank",)), "2": SenseCluster(("bank",))}
    both = SenseMatcher(clusters, lang="de", lemmatizer="none")
    assert both.match("Bank").clusters == ("1", "2")
    assert both.match("Bank").cluster == ""


def test_the_longest_end_decides_and_in_the_program_the_shortest() -> None:
    clusters = {"1": SenseCluster(("Feder",)), "2": SenseCluster(("Sprungfeder",))}
    matches = [
        SenseMatcher(clusters, lang="de", lemmatizer="none", rule=rule).match("Stahlsprungfeder")
        for rule in ("recommended", "program")
    ]
    assert [match.cluster for match in matches] == ["2", "1"]


def test_the_program_drops_the_last_letter_of_the_end() -> None:
    assert matcher("program", "none").match("Bergquell").cluster == "water"
    assert matcher("recommended", "none").match("Bergquell").cluster == ""


def test_in_the_program_a_certain_surface_form_decides_over_an_ambiguous_lemma() -> None:
    clusters = {
        "1": SenseCluster(("Arme",), ambiguous=("Arm",)),
        "2": SenseCluster(("Waffen",), ambiguous=("Arm",)),
    }
    assert SenseMatcher(clusters, lang="de").match("Arme").cluster == ""
    assert SenseMatcher(clusters, lang="de", rule="program").match("Arme").cluster == "1"


def test_short_ends_are_no_compounds() -> None:
    clusters = {"1": SenseCluster(("Po",)), "2": SenseCluster(("Hut",))}
    short = SenseMatcher(clusters, lang="de", lemmatizer="none")
    assert short.match("Depo").rule == ""
    assert short.match("Strohhut").cluster == "2"


def test_a_cluster_without_senses_is_refused() -> None:
    refuses(
        "cluster '1': expected at least one sense, got none",
        SenseMatcher,
        {"1": SenseCluster(())},
        lang="de",
    )
    refuses("rule: expected one of recommended, program", matcher, "other")


RACES = {
    "1": SenseCluster(("Rennen", "Lauf", "Läufe"), ambiguous=("Fall",)),
    "2": SenseCluster(("Rasse",), ambiguous=("Fall",), blacklisted=("Zucht",)),
}


@cases(
    ("Das Rennen", ("1",)),
    ("Die Läufe", ("1", "1")),  # both forms have the lemma "Lauf"
    ("Ein Laufband", ("1", "1")),
    ("Ein Fall", ("1", "2")),
    ("gegebenenfalls", ("1", "2")),
    ("Die Zucht", ("2",)),
    ("Nichts davon", ()),
    ("", ()),
)
def test_words_show_the_senses_at_their_edges(text: str, clusters: tuple[str, ...]) -> None:
    assert ProgramSearch(RACES, lang="de").clusters(text.split()) == clusters


def test_the_longest_sense_decides() -> None:
    clusters = {"1": SenseCluster(("Lauf",)), "2": SenseCluster(("Wettlauf",))}
    assert ProgramSearch(clusters, lang="de").clusters(["Marathonwettlauf"]) == ("2",)


def test_forms_are_compared_without_a_lemmatizer() -> None:
    assert ProgramSearch(RACES, lang="de", lemmatizer="none").clusters(["Läufe"]) == ("1",)
