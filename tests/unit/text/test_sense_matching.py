import pytest

from cc_hf.errors import InputError
from cc_hf.text.sense_matching import SenseCluster, SenseMatch, SenseMatcher
from cc_hf.text.sense_search import ProgramSearch
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses

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
    both = SenseMatcher(
        {"1": SenseCluster(("Bank",)), "2": SenseCluster(("bank",))}, lang="de", lemmatizer="none"
    )
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
    with pytest.raises(InputError, match="cluster '1': expected at least one sense, got none"):
        SenseMatcher({"1": SenseCluster(())}, lang="de")
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
