"""Parity with the program of Vamvas & Sennrich 2021 on MuCoW, see PROVENANCE.md."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.text.tokenization import moses_tokens
from tests.helpers.cases import cases
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.lines import read_jsonl
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.mucow_logs import log_of

pytestmark = pytest.mark.shared


def test_figures_and_every_sample_equal_the_original_program(shared: Path) -> None:
    by_source = {row["sentence"]: row["translation"] for row in log_of(shared, "de")}
    config = "en-de.emnlp2021"
    options: dict[str, Any] = {"data_dir": shared / "upstream"}
    examples = cc_hf.load_examples("mucow", config, **options)
    translations = [by_source[e.source] for e in examples]
    options |= {"translations": translations, "evaluator": hash_scores}
    result = evaluate_dataset("mucow", config, **options)
    groups = ("", "_frequent", "_infrequent")
    found = [[result.scores[f"{w}accuracy{g}"] for g in groups] for w in ("weighted_", "")]
    weighted = [0.4836721734246011, 0.47645888232373657, 0.4917079011405862]
    assert found[0] == pytest.approx(weighted, abs=1e-12)
    plain = [0.489502099580084, 0.48130841121495327, 0.49815043156596794]
    assert found[1] == pytest.approx(plain, abs=1e-12)
    gold = read_jsonl(shared / "gold/contrastive_conditioning/mucow.en-de.all_samples.jsonl.gz")
    for example, judgement, row in zip(examples, result.judgements, gold, strict=True):
        names = ("probability_correct", "weight", "translation")
        assert {
            **{name: getattr(judgement, name) for name in names},
            "sources_correct": list(example.correct_sources),
            "sources_incorrect": list(example.incorrect_sources),
            **{"category": example.category, "src_form": example.focus.text},
        }.items() <= row.items()


@cases(("en-de", 1712, 1622), ("en-ru", 923, 887))
def test_cues_precede_words(config: str, n_frequent: int, n_infrequent: int, shared: Path) -> None:
    examples = cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")
    sizes = Counter(e.category for e in examples)
    assert sizes == {"frequent": n_frequent, "infrequent": n_infrequent}
    for example in examples:
        text, word = example.source, example.focus.text
        places = [token.start for token in moses_tokens(text, "en") if token.text == word]
        assert example.focus.start == places[0]
        assert len(example.correct_sources) == len(example.incorrect_sources) == 3
        parts = [text[a:b] for a, b in zip([0, *places], [*places, None], strict=True)]
        for source in (*example.correct_sources, *example.incorrect_sources):
            cue = source[places[0] :].split(" ")[0]
            assert source == f"{cue} ".join(parts)
