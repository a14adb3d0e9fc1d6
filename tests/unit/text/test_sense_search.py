from __future__ import annotations

from cc_hf.text.sense_matching import SenseCluster
from cc_hf.text.sense_search import ProgramSearch
from tests.helpers.cases import cases

CLUSTERS = {
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
    assert ProgramSearch(CLUSTERS, lang="de").clusters(text.split()) == clusters


def test_the_longest_sense_decides() -> None:
    clusters = {"1": SenseCluster(("Lauf",)), "2": SenseCluster(("Wettlauf",))}
    assert ProgramSearch(clusters, lang="de").clusters(["Marathonwettlauf"]) == ("2",)


def test_forms_are_compared_without_a_lemmatizer() -> None:
    search = ProgramSearch(CLUSTERS, lang="de", lemmatizer="none")
    assert search.clusters(["Läufe"]) == ("1",)
