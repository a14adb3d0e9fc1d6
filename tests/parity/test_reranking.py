"""Parity with nmt-gender-rerank (Saunders, Sallis & Byrne 2022), see PROVENANCE.md."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.files.nbest import Hypothesis
from cc_hf.plugins.reranking.nbest_files import read_nbest
from cc_hf.plugins.reranking.rerank_options import RerankOptions
from cc_hf.plugins.reranking.reranking import chosen_hypothesis
from cc_hf.schema import Judgement
from tests.helpers.usual import cases, evaluate_dataset, read_jsonl

pytestmark = pytest.mark.shared

_FOLDER = "upstream/DCSaunders/nmt-gender-rerank"


def test_the_released_lists_are_read(shared: Path) -> None:
    lists = read_nbest(shared / _FOLDER / "nbest-lists/ende.nbest.4")
    assert Counter(map(len, lists)) == {4: 3885, 3: 3}
    assert sum(len({h.text for h in hypotheses}) < len(hypotheses) for hypotheses in lists) == 160
    best = (shared / _FOLDER / "reranked-winomt/winomt.ende.4.noconstrain.1best").read_text("utf-8")
    assert [hypotheses[0].text for hypotheses in lists] == [t.strip() for t in best.splitlines()]


@cases(
    (0.6006, 0.185, 0.135, "noconstrain.1best"),
    (0.6651, 0.101, 0.110, "noconstrain.rerank.oracle"),
    (0.7788, -0.006, 0.047, "constrain.rerank.oracle"),
)
def test_released_choices_have_the_figures(
    accuracy: float, delta_g: float, delta_s: float, name: str, shared: Path
) -> None:
    path = shared / _FOLDER / "reranked-winomt" / f"winomt.ende.4.{name}"
    result = evaluate_dataset(
        "winomt",
        "all",
        translations=path,
        metric="winomt_pattern_matching",
        tgt_lang="de",
        data_dir=shared / "upstream",
    )
    assert result.scores["accuracy"] == pytest.approx(accuracy, abs=5e-5)
    assert result.scores["delta_g"] == pytest.approx(delta_g, abs=5e-4)
    assert result.scores["delta_s"] == pytest.approx(delta_s, abs=5e-4)


def _positions(source: str, entities: str) -> Iterator[int]:
    """Yield the source tokens of entities, with an article before, as the program finds them.

    The text of an entity is also found inside words.
    """
    for entity in entities.split("|"):
        before: list[str] = []
        for part in source.split(entity)[:-1]:
            before += part.split()
            if before and before[-1].lower() in ("the", "a", "an"):
                yield len(before) - 1
            yield from range(len(before), len(before) + len(entity.split()))
            before += entity.split()


def _share_right(hypothesis: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    """Return the share of the linked words with the right gender: Hebrew by its endings."""
    link: dict[int, int] = {}  # the last link of a token counts
    for pair in hypothesis["alignment"].split():
        source, _, target = pair.partition("-")
        link[int(source)] = int(target)
    tokens = hypothesis["tokens"].split()
    words = [tokens[link[i]] for i in _positions(row["source_tokens"], row["entity"]) if i in link]
    genders = ["female" if re.search("[תה]$", word) and word != "את" else "male" for word in words]
    return sum(gender == str(row["gender"]) for gender in genders) / max(1, len(genders))


def test_the_choice_by_a_share_of_right_words_is_the_recorded_one(shared: Path) -> None:
    rows = read_jsonl(shared / "gold/rerank/he_rule.first600.jsonl")
    ranks: Counter[int] = Counter()
    for row in rows:
        hypotheses = [Hypothesis(h["text"], h["score"]) for h in row["hypotheses"]]
        judgements = [
            Judgement("0", "all", share >= 1, "", verdict, probability_correct=share)
            for h in row["hypotheses"]
            for share in [_share_right(h, row)]
            for verdict in ["correct" if share >= 1 else "incorrect"]
        ]
        chosen = chosen_hypothesis(hypotheses, judgements, RerankOptions(select="p_correct"))
        assert chosen == row["chosen"], row
        ranks[chosen] += 1
    assert ranks == {0: 562, 1: 18, 2: 14, 3: 6}
