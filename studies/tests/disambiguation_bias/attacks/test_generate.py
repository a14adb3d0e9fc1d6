"""Seeds that can be attacked, and the samples that are generated from them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.nouns import DictionaryNouns, Modifier, Noun
from cc_hf_studies.disambiguation_bias.attacks import changes
from cc_hf_studies.disambiguation_bias.attacks.generate import GenerationRules, generate_samples
from cc_hf_studies.disambiguation_bias.attacks.modifiers import count_modifiers
from cc_hf_studies.disambiguation_bias.attacks.samples import (
    AdversarialSample,
    read_samples,
    write_rows,
)
from cc_hf_studies.disambiguation_bias.attacks.seeds import (
    SeedRules,
    fluent_samples,
    has_preferred_sense,
    select_seeds,
)
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable, count_attractors
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair
from cc_hf_studies.disambiguation_bias.sentences import sentence_bias

from cc_hf.text.tokenization import word_tokens
from studies.tests.common.parsed_nouns import nouns_of
from studies.tests.disambiguation_bias.attacks.helper import samples_from, tagged, training_pairs
from studies.tests.disambiguation_bias.corpus import lexicon_of
from tests.helpers.letter_evaluator import TextEvaluator
from tests.helpers.usual import cases, refuses


def make(source: str, cluster: str = "season", **rules: Any) -> list[AdversarialSample]:
    return samples_from([tagged(100, source, cluster)], rules=GenerationRules(**rules))


def texts(samples: list[AdversarialSample]) -> set[str]:
    return {sample.source for sample in samples}


def test_an_attractor_is_inserted_if_it_modified_the_homograph_in_its_seed_sense() -> None:
    samples = make("A spring came .")
    # "warm" is no attractor of the water, and "cold" never modified the season.
    assert texts(samples) == {"A hot spring came .", "An old spring came ."}
    assert {sample.kind for sample in samples} == {"insert_at_homograph"}
    (hot,) = [sample for sample in samples if sample.adjective == "hot"]
    assert (hot.freq_adv, hot.freq_seed, hot.freq_diff) == (4.0, 1.0, 3.0)
    assert hot.ppmi_adv > hot.ppmi_seed == 0.0
    assert hot.source[hot.start :].startswith("hot")
    assert hot.source[hot.homograph_start :].startswith("spring")


def test_the_only_adjective_is_replaced_and_two_are_left_alone() -> None:
    expected = {"The hot spring came .", "The old spring came ."}
    assert texts(make("The warm spring came .")) == expected
    assert make("The warm old spring came .") == []


def test_other_nouns_take_the_adjectives_that_the_corpus_has_before_them() -> None:
    samples = make("With the warm old spring came the hills and a cold garden .")
    assert [(sample.kind, sample.source.partition("came the ")[2]) for sample in samples] == [
        ("insert_at_other", "cold hills and a cold garden ."),
        ("insert_at_other", "hot hills and a cold garden ."),
        ("replace_at_other", "hills and an old garden ."),
    ]
    assert samples[-1].replaced == "cold"


class Agreeing:
    """A parser of "DETERMINER [ADJECTIVE] mola [ADJECTIVE] ..."; the determiner shows agreement."""

    signature_name = "x"

    def nouns(self, sources: Sequence[str], starts: Any = None) -> list[list[Noun]]:
        nouns = []
        for source in sources:
            words = [*word_tokens(source)]
            number = next(i for i, word in enumerate(words) if word.text.lower() == "mola")
            modifiers = tuple(
                Modifier(word.text, word.start, len(word.text), is_adjacent=True)
                for word in words[max(0, number - 1) : number + 2]
                if word.text.startswith(("velh", "quente"))
            )
            determiner, start = words[0].text.lower(), words[number].start
            agreement = "" if determiner == "mola" else f"{determiner} mola"
            nouns.append([Noun("mola", "mola", start, modifiers, agreement=agreement)])
        return nouns


@cases(
    ("A mola quebrou .", {"A mola velha quebrou .", "A mola quente quebrou ."}),
    ("A mola quente quebrou .", {"A mola velha quebrou ."}),
    ("As mola quebraram .", {"As mola velhas quebraram ."}),
    ("Mola .", set()),  # without a determiner the form of the adjective is not known
)
def test_adjectives_agree_with_the_noun(source: str, expected: set[str]) -> None:
    def pair(text: str, cluster: str) -> TaggedPair:
        return TaggedPair(text, text, "x", "mola", text.lower().index("mola"), 1, cluster, "x")

    both = ("A mola velha .", "A mola quente .", "As mola velhas .")
    pairs = [pair(text, cluster) for text in both for cluster in ("1", "2")]
    parser = Agreeing()
    table = count_attractors(pairs, src_lang="pt")
    modifiers = count_modifiers(pairs, parser)
    samples = list(generate_samples([pair(source, "1")], table, modifiers, parser))
    assert texts(samples) == expected
    assert all(s.source[s.homograph_start :].lower().startswith("mola") for s in samples)


def test_compounds_and_comparatives_are_left_alone() -> None:
    assert make("The water spring came .") == []
    assert "warmer" not in {s.adjective for s in make("The spring came .", "water")}


def test_further_rules_reject_samples() -> None:
    source = "The spring came to the hot hills ."
    assert texts(make(source, min_bigram=3)) == {"The hot spring came to the hot hills ."}
    assert {s.kind for s in make(source, max_replaced=1)} == {"insert_at_homograph"}
    assert {s.kind for s in make(source, kinds=("replace_at_other",))} == {"replace_at_other"}


def test_the_rules_of_the_program_and_their_signature() -> None:
    rules = GenerationRules(min_bigram=10, max_replaced=300, drops_er_est=True, log=False)
    assert rules.signature_fields() == {
        **{"bigram": ">=10", "replaced": "<300", "er_est": "dropped"},
        **{"smoothing": "0", "ppmi": "ratio"},
    }
    for name in ("min_bigram", "max_replaced"):
        refuses(f"{name}: expected an integer of at least 1, got 0", GenerationRules, **{name: 0})


def test_short_words_in_er_and_est_can_be_dropped() -> None:
    pairs = [
        tagged(0, "The proper spring came .", "season"),
        tagged(1, "The proper spring is in the hills .", "water"),
    ]
    parser = DictionaryNouns(lambda word: {"ADJ"} if word == "proper" else set(), name="x")
    seeds = [tagged(5, "A spring came .", "season")]
    assert len(samples_from(seeds, pairs, parser)) == 1
    assert samples_from(seeds, pairs, parser, rules=GenerationRules(drops_er_est=True)) == []


def test_ids_are_unique_counts_are_kept_and_rows_survive_a_file(tmp_path: Path) -> None:
    counts = Counter[str]()
    samples = samples_from(training_pairs(), counts=counts)
    assert len({sample.id for sample in samples}) == len(samples) == counts.total() > 10
    assert write_rows(tmp_path / "samples.jsonl", samples) == len(samples)
    assert list(read_samples(tmp_path / "samples.jsonl")) == samples


def test_sentences_beyond_the_pairs_add_to_the_nouns_only() -> None:
    parser = nouns_of()
    sources = ["The warm garden .", "A warm spring ."]
    table = count_modifiers(training_pairs(), parser, sources=sources)
    assert table.of_noun("garden") == {"old": 1, "warm": 1}
    assert table.of_sense("spring", "season") == {"warm": 2, "old": 1, "hot": 1}
    assert table.n_sentences == 12
    assert table.of_noun("absent") == table.of_sense("spring", "absent") == Counter()


@cases(
    ("We met a doctor.", "doctor", "honest", "We met an honest doctor."),
    ("We met an actor.", "actor", "European", "We met a European actor."),
    ("An owner came.", "owner", "new", "A new owner came."),
    ("It is a spring.", "spring", "first", "It is the first spring."),
    ("This was a  match.", "match", "old", "This was an  old match."),
    ("The bat flew.", "bat", "old", "The old bat flew."),
    ("Vitamin a bat.", "Vitamin", "old", "Old vitamin a bat."),
    ("Dr. Lea bat.", "bat", "old", "Dr. Lea old bat."),
    ("NATO acts.", "NATO", "old", "Old NATO acts."),
)
def test_insertions_adapt_articles(source: str, noun: str, adjective: str, expected: str) -> None:
    changed = changes.insert_adjective(source, source.index(noun), adjective)
    assert changed.text == expected
    assert changed.text[changed.start :].lower().startswith(adjective.lower())


@cases(
    ("An old man waits.", "old", "big", "A big man waits."),
    ("Cold springs are rare.", "Cold", "hot", "Hot springs are rare."),
    ("He has a useful arm.", "useful", "idle", "He has an idle arm."),
    ("It is a cold spring.", "cold", "last", "It is the last spring."),
)
def test_replacements_adapt_articles(text: str, old: str, adjective: str, expected: str) -> None:
    assert changes.replace_adjective(text, text.index(old), len(old), adjective).text == expected


def test_other_languages_have_no_articles_to_adapt_and_german_nouns_keep_their_capital() -> None:
    assert changes.insert_adjective("an Federn", 3, "alten", lang="de").text == "an alten Federn"
    assert changes.insert_adjective("Federn", 0, "alte", lang="de").text == "Alte Federn"
    assert changes.replace_adjective("A velha", 2, 5, "idosa", lang="pt").text == "A idosa"
    changed = changes.insert_after("A mola quebrou.", 6, "velha")
    assert [changed.position(start) for start in (0, 2, 7)] == [0, 2, 13]
    assert changed.text[changed.start :] == "velha quebrou."


@pytest.mark.parametrize("adjective", ["old", "first", "big"])
def test_positions_before_and_after_the_change_are_known(adjective: str) -> None:
    source = "I saw a spring near a bank in May."
    changed = changes.insert_adjective(source, source.index("bank"), adjective)
    for word in ("I ", "saw", "spring", "bank", "May"):
        assert changed.text[changed.position(source.index(word)) :].startswith(word)
    replaced = changes.replace_adjective("A cold old bank.", 7, 3, adjective)
    assert replaced.text[replaced.position(11) :] == "bank."


def test_the_change_of_one_sample_is_not_carried_over_to_the_next() -> None:
    source = "He found a spring."
    texts = [changes.insert_adjective(source, 11, adjective).text for adjective in ("old", "hot")]
    assert texts == ["He found an old spring.", "He found a hot spring."]


def test_a_position_outside_the_sentence_is_refused() -> None:
    refuses("expected 0 to 8, got 9", changes.insert_adjective, "A spring.", 9, "hot")
    refuses("expected words", changes.insert_adjective, "A spring.", 2, " ")


LEXICON = lexicon_of(spring={"season": "Frühling Lenz", "water": "Quelle Quellen"})
A_SPRING = [tagged(0, "A spring came .", "season")]


def test_short_and_most_biased_pairs_are_no_seeds() -> None:
    pairs = training_pairs()
    counts = Counter[str]()
    rules = SeedRules(min_tokens=9, dropped_share=0.2)
    table = count_attractors(pairs)
    seeds = list(select_seeds(pairs, table, rules=rules, counts=counts))
    dropped = {"n_unknown": 0, "n_short": 4, "n_unclear": 0, "n_biased": 1}
    assert counts == {"n_pairs": 10, **dropped, "n_seeds": 5}
    long = [pair for pair in pairs if len(pair.source.split()) >= 9]
    biases = {p.id: sentence_bias(table, p.source, "spring", p.cluster).diff for p in long}
    assert {seed.id for seed in seeds} == biases.keys() - {max(biases, key=lambda i: biases[i])}


def test_the_share_of_dropped_pairs_is_rounded_down_and_order_is_kept() -> None:
    pairs = training_pairs()
    for share, n in ((0.0, 10), (0.1, 9), (0.19, 9), (0.5, 5)):
        rules = SeedRules(min_tokens=1, dropped_share=share)
        ids = [int(seed.id) for seed in select_seeds(pairs, count_attractors(pairs), rules=rules)]
        assert (len(ids), ids) == (n, sorted(ids))


def test_the_masked_model_must_prefer_a_sense_of_the_right_cluster() -> None:
    model = TextEvaluator(lambda text: -0.1 if "Lenz" in text else -0.5)
    pairs = [
        *A_SPRING,
        tagged(1, "A spring came .", "water"),
        tagged(2, "A spring came .", "season", reference="Ohne das Wort."),
    ]
    assert has_preferred_sense(pairs, LEXICON, model) == [True, False, False]
    table = count_attractors(training_pairs())
    counts = Counter[str]()
    rules = SeedRules(min_tokens=1, dropped_share=0)
    seeds = select_seeds(pairs, table, rules=rules, masked_lm=model, lexicon=LEXICON, counts=counts)
    assert ([seed.id for seed in seeds], counts["n_unclear"]) == (["0"], 2)


def test_pairs_are_checked() -> None:
    table = count_attractors(training_pairs())
    refuses("expected a list", list, select_seeds(iter(A_SPRING), table))
    refuses(
        "lexicon: expected the senses",
        list,
        select_seeds(A_SPRING, table, masked_lm=TextEvaluator(len)),
    )
    foreign = AttractorTable({"bat": {}}, {"bat": {}})
    refuses(r"expected pairs with a homograph of the table", list, select_seeds(A_SPRING, foreign))
    jump = tagged(0, "A spring", "jump", word="Sprung")
    refuses("cluster of 'spring'", has_preferred_sense, [jump], LEXICON, TextEvaluator(len))


@cases(
    ({"min_tokens": 0}, "min_tokens: expected an integer of at least 1"),
    ({"dropped_share": 1}, "below 1"),
)
def test_rules_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, SeedRules, **options)


def test_samples_that_read_much_worse_than_their_seed_are_dropped() -> None:
    samples = samples_from(A_SPRING)
    logprobs = {"A spring came .": -2.0, "A hot spring came .": -2.1, "An old spring came .": -2.3}
    counts, model = Counter[str](), TextEvaluator(logprobs.__getitem__)
    kept = list(fluent_samples(samples, model, counts=counts))
    assert [sample.adjective for sample in kept] == ["hot"]
    assert kept[0].fluency_ratio == pytest.approx(np.exp(0.1))
    assert counts["n_not_fluent"] == 1
    assert len(list(fluent_samples(samples, model, max_ratio=1.5))) == 2
    refuses("max_ratio: expected a number above", list, fluent_samples(samples, model, max_ratio=0))
