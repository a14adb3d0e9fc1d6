from collections import Counter
from dataclasses import replace
from typing import Any

from cc_hf.data.files.sense_rows import parse_senses
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable
from cc_hf.studies.disambiguation_bias.challenge import SETS, ChallengeSets, challenge_sets
from cc_hf.studies.disambiguation_bias.homographs import TaggedPair
from tests.helpers.cases import cases
from tests.helpers.narrowing import known
from tests.helpers.refusals import refuses
from tests.studies.disambiguation_bias.corpus import lexicon_of

LEXICON = lexicon_of(bat={"1": "Schläger", "2": "Fledermaus"}, spring={"1": "Lenz", "2": "Feder"})
_COUNTS = {
    "bat": {"1": Counter(ball=10, cave=1), "2": Counter(cave=10)},
    "spring": {"1": Counter(summer=10), "2": Counter(watch=5)},
}
_SIZES = {"bat": {"1": 90, "2": 10}, "spring": {"1": 60, "2": 40}}
TABLE = AttractorTable(_COUNTS, _SIZES, lexicon="a" * 64)


def pair(name: str, text: str, homograph: str, cluster: str) -> TaggedPair:
    start = text.index(homograph)
    return TaggedPair(name, text, "", homograph, start, len(text[:start].split()), cluster, "")


POOL = [
    pair("a", "the ball and the bat", "bat", "2"),  # most bias: +2
    pair("b", "the ball and the bat", "bat", "1"),  # -2
    pair("c", "the ball and bat and nothing else here", "bat", "2"),  # 10 / 8
    pair("d", "the summer and the spring", "spring", "1"),  # -2
    pair("e", "one spring or the other spring", "spring", "2"),  # 0
    pair("f", "one spring or the other", "spring", "2"),  # 0, shorter
    pair("g", "one spring", "spring", "2"),  # too short
]


def chosen(**options: Any) -> ChallengeSets:
    given = {"n": 3, "min_tokens": 5, **options}
    return challenge_sets(given.pop("pairs", POOL), TABLE, LEXICON, **given)


def names(sets: ChallengeSets, name: str) -> list[str]:
    return [example.id for example in sets.sets[name]]


def test_the_most_biased_and_the_rarest_come_first() -> None:
    sets = chosen(n=6)
    assert names(sets, "most_biased") == ["a", "c", "e", "f", "b", "d"]
    # senses by their share: bat 2 (10 %), spring 2 (40 %), spring 1 (60 %), bat 1 (90 %)
    assert names(sets, "rarest") == ["c", "a", "e", "f", "d", "b"]
    assert sorted(names(sets, "random")) == list("abcdef")
    assert (sets.n_pool, sets.n_short) == (6, 1)
    assert chosen().overlap("most_biased", "rarest") == 1


def test_the_random_set_depends_on_the_seed_only() -> None:
    drawn = [names(chosen(seed=1, n=6, by=by), "random") for by in ("freq_diff", "ppmi_diff")]
    assert drawn[0] == drawn[1]
    assert len({tuple(names(chosen(seed=seed, n=6), "random")) for seed in range(5)}) > 1


def test_a_homograph_can_be_limited() -> None:
    sets = chosen(max_per_homograph=1)
    assert names(sets, "most_biased") == ["a", "e"]
    assert all(len({e.extra["homograph"] for e in s}) == len(s) for s in sets.sets.values())


def test_examples_hold_senses_group_and_bias() -> None:
    sets = chosen()
    example = sets.sets["most_biased"][0]
    assert (example.gold, example.category) == ("2", "rare")
    assert known(example.focus).text == "bat"
    extra = example.extra
    assert parse_senses(extra["senses"], "") == dict(LEXICON.clusters("bat"))
    assert (float(extra["freq_diff"]), float(extra["length"])) == (2.0, 5)
    assert (extra["freq_wrong_cluster"], sets.sets["rarest"][-1].category) == ("1", "rare")
    assert chosen(n=6).sets["rarest"][-1].category == "frequent"


def test_ids_are_unique_where_a_sentence_has_several_homographs() -> None:
    text = "the bat in spring and so on"
    sets = chosen(pairs=[pair("0", text, "bat", "1"), pair("0", text, "spring", "1")])
    assert set(names(sets, "random")) == {"0:bat:4", "0:spring:11"}


def test_signatures_name_pool_and_choice() -> None:
    sets = chosen()
    for name, text in sets.signatures.items():
        assert text.startswith(f"challenge|set:{name}|")
        for part in ("|n:3|", "|pool:6.", "|pairs:200|", "|lexicon:aaaaaaa|", "|seed:0|"):
            assert part in text
    assert "|by:freq_diff|" in sets.signatures["most_biased"]
    assert "|by:" not in sets.signatures["random"]
    assert chosen(pairs=POOL[:-2]).signatures != sets.signatures


def test_the_sets_are_configurations_of_a_dataset() -> None:
    sets = chosen()
    declared = sets.declaration(name="pool.jsonl")
    assert [config.name for config in declared.configs] == list(SETS)
    assert list(declared.read({}, "rarest", "test")) == list(sets.sets["rarest"])
    assert "pool.jsonl, 6 in all" in declared.description


@cases(
    ({"n": 0}, "n: expected 1 or more"),
    ({"max_per_homograph": 0}, "max_per_homograph: expected 1 or more"),
    ({"by": "bias"}, "by: expected one of freq_right"),
    ({"min_tokens": 50}, "at least one sentence of 50 tokens or more, got none"),
    ({"pairs": []}, "at least one sentence"),
    ({"pairs": [pair("x", "a fan and so on too", "fan", "1")]}, "pair x: expected a homograph"),
    ({"pairs": [pair("x", "a bat and so on too", "bat", "7")]}, "pair x: expected a homograph"),
    ({"pairs": [replace(POOL[0], start=3)]}, "pair a: start: expected the position"),
)
def test_pools_and_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, chosen, **options)
