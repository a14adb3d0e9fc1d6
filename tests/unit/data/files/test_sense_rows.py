from __future__ import annotations

from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.text.sense_matching import SenseCluster

CLUSTERS = {
    "1": SenseCluster(("Schläger",), ("Keule",)),
    "2": SenseCluster(("Fledermaus",), blacklisted=("Vampir",)),
}


def test_senses_survive_the_way_through_text() -> None:
    text = senses_text(CLUSTERS)
    assert parse_senses(text, "row 0") == CLUSTERS
    assert parse_senses(CLUSTERS, "row 0") == CLUSTERS
    assert "blacklisted" not in text.partition('"2"')[0]


def test_ambiguous_words_may_belong_to_several_clusters() -> None:
    row = {name: {"senses": [name], "ambiguous": ["Ding"]} for name in ("a", "b")}
    assert parse_senses(row, "row 0")["b"].ambiguous == ("Ding",)
