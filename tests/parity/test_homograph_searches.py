"""How many right translations and flips each search of `homograph_accuracy` finds, as
cards/metrics/homograph_accuracy.md and the card say.
"""

import random
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.files.sense_rows import senses_text
from cc_hf.results import EvaluationResult
from cc_hf.test_sets.mucow.homograph_accuracy import SEARCHES, HomographAccuracy
from cc_hf.text.sense_matching import SenseCluster
from cc_hf.text.tokenization import word_tokens
from tests.helpers.usual import evaluate_metric, read_json, read_jsonl, write_lines
from tools.evaluator_recipe.corpus import read_tatoeba

pytestmark = pytest.mark.shared

#: n -> draws whose mean is reported
DRAWS = {100: 10, 745: 2, 2219: 1}

Rows = list[dict[str, Any]]
#: homograph -> cluster -> its words
Lexicon = Mapping[str, Mapping[str, SenseCluster]]


def cluster_of(published: dict[str, list[str]]) -> SenseCluster:
    kinds = ("[SENSES]", "[AMBIGUOUS SENSES]", "[BLACKLISTED SENSES]")
    senses, ambiguous, blacklisted = (tuple(dict.fromkeys(published.get(k, []))) for k in kinds)
    return SenseCluster(senses, ambiguous, blacklisted)


def published_lexicon(shared: Path) -> Lexicon:
    """Return the published lexicon, English to German."""
    folder = shared / "upstream/demelin/detecting_wsd_biases_for_nmt"
    published = read_json(folder / "ende_homograph_sense_clusters.json").items()
    return {word.lower(): {k: cluster_of(v) for k, v in of.items()} for word, of in published}


def recorded_rows(shared: Path, lexicon: Lexicon) -> Rows:
    """Return the recorded pairs, whose reference has a word of the right sense."""
    rows = read_jsonl(shared / "gold/wsd/pairs.jsonl")
    for row in rows:
        row |= {"start": word_tokens(row["source"])[row["src_loc"]].start, "word": row["tgt_token"]}
        row["senses"] = senses_text(lexicon[row["homograph"]])
    names = ("source", "homograph", "cluster", "reference", "start", "senses", "word")
    return [{name: row[name] for name in names} for row in rows]


def with_flips(rows: Rows, lexicon: Lexicon, draw: random.Random) -> list[str]:
    """Return the references; every second one has a word of another sense of its homograph."""
    texts = []
    for number, row in enumerate(rows):
        clusters = lexicon[row["homograph"]].items()
        others = [cluster.senses for name, cluster in clusters if name != row["cluster"]]
        word = draw.choice([*chain(*others)]) if number % 2 else row["word"]
        texts.append(row["reference"].replace(row["word"], word, 1))
    return texts


def judged(rows: Rows, texts: list[str], search: str, **options: Any) -> EvaluationResult:
    options = {"search": search, "tgt_lang": "de", "n_resamples": 1, **options}
    return evaluate_metric("homograph_accuracy", texts, rows, **options)


def test_the_default_search_loses_nothing_and_finds_most_flips(shared: Path, root: Path) -> None:
    lexicon = published_lexicon(shared)
    rows = recorded_rows(shared, lexicon)
    card = (root / "cards/metrics/homograph_accuracy.md").read_text(encoding="utf-8")
    shares: dict[tuple[str, int], tuple[float, float]] = {}
    for search in SEARCHES:
        for n, n_draws in DRAWS.items():
            sums = [0, 0]
            for seed in range(n_draws):
                draw = random.Random(seed)
                chosen = draw.sample(rows, n)
                result = judged(chosen, with_flips(chosen, lexicon, draw), search)
                verdicts = [j.verdict for j in result.judgements]
                sums[0] += verdicts[::2].count("correct")
                sums[1] += verdicts[1::2].count("incorrect")
            right, flips = sums[0] / n_draws / ((n + 1) // 2), sums[1] / n_draws / (n // 2)
            shares[search, n] = right, flips
        cells = [f"{100 * part:.1f}" for n in DRAWS for part in shares[search, n]]
        assert f"| `{search}` | {' | '.join(cells)} |" in card
    assert HomographAccuracy().search == "anywhere"
    assert all(shares["anywhere", n][0] > 0.99 for n in DRAWS)
    assert all(shares["anywhere", n][1] == max(shares[s, n][1] for s in SEARCHES) for n in DRAWS)


def test_more_sentences_make_alignments_better(shared: Path, root: Path, tmp_path: Path) -> None:
    lexicon = published_lexicon(shared)
    draw = random.Random(0)
    rows = draw.sample(recorded_rows(shared, lexicon), 2219)
    sources = {row["source"] for row in rows}
    pairs = read_tatoeba(shared / "upstream/tatoeba/deu-eng.zip")[::3]
    pairs = [pair for pair in pairs if pair.english not in sources]
    sides = {"a.en": [pair.english for pair in pairs], "a.de": [pair.target for pair in pairs]}
    files = [write_lines(tmp_path / name, lines) for name, lines in sides.items()]
    texts = with_flips(rows, lexicon, draw)
    judged_rows = [{**row, "reference": ""} for row in rows]  # references would be aligned, too
    result = judged(judged_rows, texts, "aligned", align_with=files, src_lang="en")
    assert f"|align:fast_align+{len(pairs)}." in result.signature
    verdicts = [j.verdict for j in result.judgements]
    right = verdicts[::2].count("correct") / 1110
    flips = verdicts[1::2].count("incorrect") / 1109
    card = (root / "cards/metrics/homograph_accuracy.md").read_text(encoding="utf-8")
    row = f"| `aligned` | {len(pairs):,} pairs of Tatoeba | {100 * right:.1f} | {100 * flips:.1f} |"
    assert row in card


def test_the_ceiling_is_said_beside_the_figures(shared: Path) -> None:
    rows = recorded_rows(shared, published_lexicon(shared))[:745]
    texts = [row["reference"] for row in rows]
    for search, n_right in (("anywhere", 744), ("aligned", 601)):
        result = judged(rows, texts, search)
        assert result.counts["n_correct"] == result.counts["n_references_correct"] == n_right
        assert any(f"{n_right} of 745 reference" in note for note in result.notes)


LABELS = {
    **{"not_flipped": "correct", "flipped_to_attr": "flipped", "flipped_to_other": "flipped"},
    **{"maybe_flipped": "unknown", "deleted_homograph": "deleted"},
}


def test_every_recorded_label_of_a_translation_is_reproduced(shared: Path) -> None:
    lexicon = published_lexicon(shared)
    rows = read_jsonl(shared / "gold/wsd/nmt_label_gold.jsonl")
    names = {"source": "src_tok", "homograph": "homograph", "cluster": "seed_cluster"}
    references = [{name: row[key] for name, key in names.items()} for row in rows]
    for row, reference in zip(rows, references, strict=True):
        reference["start"] = len(" ".join(["", *row["src_tok"].split()[: row["src_loc"]]]))
        reference["senses"] = senses_text(lexicon[row["homograph"]])
    links = [row["align"] for row in rows]
    result = judged(references, [row["hyp_tok"] for row in rows], "sentence", alignments=links)
    assert len(rows) == 2654
    for judgement, row in zip(result.judgements, rows, strict=True):
        kind, open_kinds = LABELS[row["label"]], ("unknown", "deleted")
        assert judgement.is_correct == (kind == "correct")
        assert judgement.predicted in {*open_kinds, *row["target_hits"]}
        if kind in open_kinds or judgement.predicted in open_kinds:
            assert judgement.predicted == kind
