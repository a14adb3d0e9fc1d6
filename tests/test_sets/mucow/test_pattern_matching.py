import functools
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cc_hf.errors import UnknownNameError
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, ProbingExample
from tests.helpers.usual import (
    cases,
    compute_metric,
    evaluate_metric,
    fails,
    metric_class,
    refuses,
    write_text,
)

compute_mucow = functools.partial(compute_metric, "mucow_pattern_matching")
mucow_result = functools.partial(evaluate_metric, "mucow_pattern_matching")

SENSES = {"correct_senses": ["schloss", "burg"], "incorrect_senses": ["verschluss"]}
LOCK = {**SENSES, "domain": "in_domain", "frequency": "frequent"}
OTHER = {**LOCK, "domain": "out_of_domain", "frequency": "infrequent"}


def mucow(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    return compute_mucow(
        predictions, references, **{"tgt_lang": "de", "n_resamples": 20, **options}
    )


@cases(
    ("Das SCHLOSS ist alt.", "correct", "schloss"),
    ("Viele Schlösser sind alt.", "correct", "schloss"),  # by its lemma
    ("Das Burg-Schloss.", "correct", "burg schloss"),  # German is split at hyphens
    ("Der Verschluss am Schloss.", "incorrect", "schloss verschluss"),
    # lemmas are ignored where a token decides
    ("Der Verschluss der Schlösser.", "incorrect", "verschluss"),
    ("Das Wasserschloss.", "inconclusive", ""),
    ("", "inconclusive", ""),
    ("Viele Schlo\u0308sser.", "correct", "schloss"),  # decomposed
)
def test_verdicts_follow_tokens_and_lemmas(translation: str, verdict: str, predicted: str) -> None:
    actual = mucow([translation], [LOCK])
    assert (actual["verdicts"], actual["predicted"]) == ([verdict], [predicted])


def test_figures_are_given_in_total_and_by_group() -> None:
    texts = ["Schloss", "Schloss", "Verschluss", "Tor", "Schloss", "Verschluss"]
    actual = mucow(texts, [LOCK] * 4 + [OTHER] * 2)
    assert (actual["n_correct"], actual["n_incorrect"], actual["n_inconclusive"]) == (3, 2, 1)
    names = ["coverage", "precision", "recall_a", "recall_b"]
    assert [actual[name] for name in names] == [5 / 6, 3 / 5, 3 / 4, 3 / 6]
    assert actual["f1_a"] == pytest.approx(2 * 0.6 * 0.75 / 1.35)
    assert actual["f1_b"] == pytest.approx(2 * 0.6 * 0.5 / 1.1)
    assert actual["accuracy"] == actual["recall_b"]
    assert (actual["precision_in_domain"], actual["precision_out_of_domain"]) == (2 / 3, 1 / 2)
    assert actual["min_precision_domain"] == actual["min_precision_frequency"] == 1 / 2
    low, high = actual["intervals"]["coverage"]
    assert low <= actual["coverage"] <= high


def test_undefined_figures_are_omitted() -> None:
    nothing = mucow(["Tor", "Tor"], [LOCK, OTHER])
    assert "precision" not in {**nothing, **nothing["intervals"]}
    assert {nothing[name] for name in ("recall_a", "recall_b", "f1_a", "coverage")} == {0}
    one_group = mucow(["Schloss", "Tor"], [LOCK, OTHER])
    assert one_group["precision_in_domain"] == 1
    assert {"precision_out_of_domain", "min_precision_domain"}.isdisjoint(one_group)
    wrong = mucow(["Verschluss"], [LOCK])
    assert (wrong["precision"], wrong["f1_b"]) == (0, 0)
    assert "recall_a" not in wrong
    json.dumps([nothing, one_group, wrong], allow_nan=False)


def test_references_without_groups_have_total_figures_only() -> None:
    result = mucow_result(
        ["Schloss"], [{**LOCK, "domain": "", "frequency": ""}], tgt_lang="de", n_resamples=5
    )
    assert result.judgements[0].category == "all"
    assert not re.search("_domain|min_precision", " ".join(result.scores))


def test_the_parity_option_repeats_quirks_of_the_original_program() -> None:
    russian = {**LOCK, "correct_senses": ["фонт"], "incorrect_senses": ["купель"]}
    assert mucow(["I want the font"], [russian], tgt_lang="ru")["verdicts"] == ["inconclusive"]
    parity = mucow(["I want the font"], [russian], tgt_lang="ru", parity=True)
    assert parity["verdicts"] == ["correct"]
    stop = {**LOCK, "correct_senses": ["punkt", "."], "incorrect_senses": ["stopp"]}
    assert mucow(["Am Ende."], [stop])["verdicts"] == ["inconclusive"]
    assert mucow(["Am Ende."], [stop], parity=True)["verdicts"] == ["correct"]
    assert "|rules:original|" in mucow(["Am Ende."], [stop], parity="true")["signature"]


def test_given_lemmas_replace_the_lemmatizer(tmp_path: Path) -> None:
    path = write_text(tmp_path / "lemmas.txt", "viel Schloss\n\n")
    actual = mucow(["Viele Schlösser", ""], [LOCK] * 2, lemmatized=path, tgt_lang="xx")
    assert actual["verdicts"] == ["correct", "inconclusive"]
    assert "|lemma:given|" in actual["signature"]
    assert mucow(["Schlösser"], [LOCK], lemmatized=["Burg"])["predicted"] == ["burg"]
    refuses(r"lemmatized: .* one line per.*got 2", mucow, ["Schlösser"], [LOCK], lemmatized=path)
    nowhere = tmp_path / "nowhere"
    refuses(r"lemmatized: .*nowhere.*: file not", mucow, ["Schlösser"], [LOCK], lemmatized=nowhere)
    refuses("lemmatized: .* file or a list of", mucow, ["Schlösser"], [LOCK], lemmatized=[None])


def test_other_lemmatizers_can_be_used() -> None:
    without = mucow(["Schlösser"], [LOCK], lemmatizer="none", tgt_lang="xx")
    assert without["verdicts"] == ["inconclusive"]
    shouting = SimpleNamespace(name="shouting-1", languages=frozenset({"de"}))
    shouting.lemmas = lambda tokens, lang: ["BURG" for _ in tokens]
    actual = mucow(["Schlösser"], [LOCK], lemmatizer=shouting)
    assert (actual["verdicts"], actual["predicted"]) == (["correct"], ["burg"])
    assert "|lemma:shouting-1|" in actual["signature"]
    fails(UnknownNameError, "did you mean 'simplemma'", mucow, ["x"], [LOCK], lemmatizer="simplema")
    refuses(r"lemmatizer: .* name or an object with.*got int", mucow, ["x"], [LOCK], lemmatizer=3)


@cases(
    ({"incorrect_senses": "burg"}, {}, "row 0: incorrect_senses: expected a list"),
    ({"incorrect_senses": ["a b"]}, {}, "row 0: incorrect_.*words, got 'a b'"),
    ({"incorrect_senses": ["Burg"]}, {}, "row 0: 'burg' is both a correct and an"),
    ({"domain": "in"}, {}, "row 0: domain: expected one of in_domain.*got 'in'"),
    ({"frequency": None}, {}, "row 0: frequency: expected one of.*got None"),
    ({}, {"tgt_lang": "xx"}, r"simplemma-\S+ does not know 'xx'"),
    ({}, {"tgt_lang": ""}, "tgt_lang: expected the ISO 639-1 code"),
    ({}, {"parity": "maybe"}, "parity: expected true or false, got 'maybe'"),
)
def test_bad_senses_are_refused(change: Any, options: Any, message: str) -> None:
    refuses(message, mucow, ["x"], [{**LOCK, **change}], **options)


def test_judgements_have_their_ids_and_the_correct_senses() -> None:
    texts, ids = ["Schloss", "Tor"], ["7", "9"]
    result = mucow_result(texts, [LOCK] * 2, tgt_lang="de", ids=ids, n_resamples=5).judgements
    assert [(j.example_id, j.gold) for j in result] == [
        ("7", "schloss burg"),
        ("9", "schloss burg"),
    ]


def test_only_mucow_data_without_scoring_suites_fit() -> None:
    fits = functools.partial(metric_class("mucow_pattern_matching").fits, "mucow")
    assert fits("any", ProbingExample, "en", "de") == ""
    assert fits("any", ContrastiveSourceExample, "en", "de") == ""
    reason = fits("scoring.de-en", ContrastiveTranslationExample, "en", "de")
    assert "scores given translations" in reason


def test_the_card_example_runs(root: Path) -> None:
    card = (root / "cards/metrics/mucow_pattern_matching.md").read_text(encoding="utf-8")
    variables: dict[str, Any] = {}
    exec(card.partition("```python\n")[2].partition("```")[0], variables)
    assert variables["result"]["verdicts"] == ["correct"]
