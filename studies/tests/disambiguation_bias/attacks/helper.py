"""A small world for attacks: pairs with known senses, and samples. Its dictionary is
`studies.tests.common.parsed_nouns`.
"""

from collections.abc import Sequence
from typing import Any

from cc_hf_studies.disambiguation_bias.attacks.changes import insert_adjective
from cc_hf_studies.disambiguation_bias.attacks.generate import generate_samples
from cc_hf_studies.disambiguation_bias.attacks.modifiers import count_modifiers
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample
from cc_hf_studies.disambiguation_bias.attractors import count_attractors
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair

from studies.tests.common.parsed_nouns import nouns_of


def tagged(number: int, source: str, cluster: str, *, reference: str = "", word: str = "") -> Any:
    """Return a pair with the homograph "spring"."""
    start = source.lower().index("spring")
    token = word or {"season": "Frühling", "water": "Quelle"}[cluster]
    texts = str(number), source, reference or f"Der {token}."
    return TaggedPair(*texts, "spring", start, 0, cluster, token)


def training_pairs() -> list[TaggedPair]:
    """Return pairs in which "hot" and "old" modify both senses, "warm" the season only."""
    return [
        tagged(0, "After the cold , the warm spring came .", "season"),
        tagged(1, "A warm spring came to the old garden .", "season"),
        tagged(2, "The old spring came with flowers .", "season"),
        tagged(3, "One hot spring came in May .", "season"),
        tagged(4, "We found a hot spring in the hills .", "water"),
        tagged(5, "They drank from the hot spring in the village .", "water"),
        tagged(6, "The hot spring is in the cold hills .", "water"),
        tagged(7, "An old spring is in the old village .", "water"),
        tagged(8, "A warmer spring is in the hills .", "water"),
        tagged(9, "The hot hills have a spring .", "water"),
    ]


def sample_of(adjective: str, **fields: Any) -> AdversarialSample:
    """Return a sample of "A spring came ." that is to get the sense of water."""
    changed = insert_adjective("A spring came .", 2, adjective)
    given: dict[str, Any] = {
        **{"id": f"0/{adjective}", "seed_id": "0", "kind": "insert_at_homograph"},
        **{"start": changed.start, "adjective": adjective, "replaced": ""},
        **{"homograph": "spring", "homograph_start": changed.position(2)},
        **{"seed_homograph_start": 2, "seed_cluster": "season", "adv_cluster": "water"},
        **{"source": changed.text, "seed_source": "A spring came ."},
        **{"freq_adv": 3.0, "freq_seed": 1.0, "freq_diff": 2.0},
        **{"ppmi_adv": 0.5, "ppmi_seed": 0.0, "ppmi_diff": 0.5},
    }
    return AdversarialSample(**{**given, **fields})


def samples_from(
    seeds: Sequence[TaggedPair],
    pairs: Sequence[TaggedPair] = (),
    parser: Any = None,
    **options: Any,
) -> list[AdversarialSample]:
    """Return the samples of seeds, by the words of `pairs`, which are `training_pairs` if empty."""
    pairs, parser = pairs or training_pairs(), parser or nouns_of("cold")
    modifiers = count_modifiers(pairs, parser)
    return list(generate_samples(seeds, count_attractors(pairs), modifiers, parser, **options))
