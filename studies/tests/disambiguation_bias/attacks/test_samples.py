"""Samples of attacks: files, challenge sets, transfer, grammar and sheets; tables and the page."""

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cc_hf_studies.disambiguation_bias.attacks import tables
from cc_hf_studies.disambiguation_bias.attacks.challenge import choose_challenge
from cc_hf_studies.disambiguation_bias.attacks.grammar import compare_grammar, language_tool
from cc_hf_studies.disambiguation_bias.attacks.judge import attack_figures, judge_agreement
from cc_hf_studies.disambiguation_bias.attacks.judging import AttackReport
from cc_hf_studies.disambiguation_bias.attacks.samples import (
    AdversarialSample,
    AttackJudgement,
    read_judgements,
    read_samples,
    write_rows,
)
from cc_hf_studies.disambiguation_bias.attacks.sheets import FORM, draw_sentences, rate_sheets
from cc_hf_studies.disambiguation_bias.attacks.transfer import Transfer, jaccard, transferability

from cc_hf.errors import MissingDependencyError
from cc_hf.plugins.raters.sheets import SheetKey, SheetRow
from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import wilson_interval
from studies.tests.disambiguation_bias.attacks.helper import sample_of, tagged, training_pairs
from studies.tests.disambiguation_bias.corpus import lexicon_of
from tests.helpers.axe import check_legible
from tests.helpers.browser import Page
from tests.helpers.usual import cases, fails, printed, refuses, write_jsonl, write_lines

ROW = asdict(sample_of("hot"))


def test_judgements_survive_a_file(tmp_path: Path) -> None:
    rows = [
        AttackJudgement(sample_of("hot"), "a", "b", "correct", "flipped:water", 0.75, 0.25),
        AttackJudgement(sample_of("old", fluency_ratio=1.1), "a", "b"),
    ]
    path = tmp_path / "rows.jsonl"
    assert write_rows(path, rows) == 2
    assert list(read_judgements(path)) == rows
    assert [sample.adjective for sample in read_samples(path)] == ["hot", "old"]


@cases(
    ({"start": -1}, "start: expected a whole number from 0, got -1"),
    ({"start": 400}, "start: expected a position"),
    ({"start": True}, "start: expected a whole number from 0, got True"),
    ({"kind": "insert"}, "kind: expected insert_at_homograph, .* got 'insert'"),
    ({"source": None}, "source: expected a text, got None"),
    ({"freq_diff": "3"}, "freq_diff: expected a number, got '3'"),
    ({"freq_diff": float("nan")}, "freq_diff: expected a number, got nan"),
    ({"adv_cluster": "season"}, "expected two different clusters, got 'season' for both"),
    ({"fluency_ratio": "x"}, "fluency_ratio: expected a number or null"),
)
def test_a_damaged_row_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "samples.jsonl", [{**ROW, **change}])
    refuses(f"samples.jsonl: line 1.*{message}", list, read_samples(path))


@pytest.mark.parametrize("line", ["{", "[]"])
def test_other_files_are_refused(line: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "samples.jsonl", [line])
    message = "line 1: expected a JSON object, got .*; write the file with `cc-hf study disambig"
    refuses(message, list, read_samples(path))


def test_samples_occur_once_and_are_no_judgements(tmp_path: Path) -> None:
    row = json.dumps(ROW)
    path = write_lines(tmp_path / "samples.jsonl", [row, "", row])
    refuses("line 3: the id '0/hot' occurs twice", list, read_samples(path))
    refuses(r"seed_translation.*.*cc-hf study disambiguation_bias", list, read_judgements(path))


def samples() -> list[AdversarialSample]:
    kinds = ("insert_at_homograph", "replace_at_homograph", "insert_at_other")
    return [
        sample_of("hot", id=str(i), kind=kinds[i % 3], homograph=word, freq_diff=float(i))
        for i in range(60)
        for word in ["spring" if i > 20 else "bat"]
    ]


def test_the_highest_differences_at_the_homograph_are_chosen() -> None:
    chosen = choose_challenge(samples(), n=5, max_per_homograph=3)
    assert [row.freq_diff for row in chosen.biased] == [58.0, 57.0, 55.0, 19.0, 18.0]
    assert [row.homograph for row in chosen.biased] == ["spring"] * 3 + ["bat"] * 2
    assert (len(chosen.random), chosen.n) == (5, 60)


def test_the_order_of_the_samples_does_not_matter() -> None:
    shuffled = samples()
    random.Random(1).shuffle(shuffled)
    assert choose_challenge(shuffled, n=7) == choose_challenge(samples(), n=7)
    others = choose_challenge(samples(), n=7, seed=1)
    assert others.biased == choose_challenge(samples(), n=7).biased
    assert others.random != choose_challenge(samples(), n=7).random


def test_of_equal_samples_the_first_are_chosen() -> None:
    equal = [replace(sample, freq_diff=1.0) for sample in samples()]
    assert [row.id for row in choose_challenge(equal, n=3).biased] == ["0", "1", "3"]


def test_challenges_without_samples_are_refused() -> None:
    for options in ({"n": 0}, {"max_per_homograph": 0}):
        refuses("expected at least 1, got 0", choose_challenge, samples(), **options)
    refuses(r"change at the homograph .* got none among 20", choose_challenge, samples()[2::3])


def judged(successes: set[int], wrong_seed: int = -1) -> Iterator[AttackJudgement]:
    for number in range(8):
        seed = "deleted" if number == wrong_seed else "correct"
        outcome = "flipped:water" if number in successes else "correct"
        yield AttackJudgement(sample_of("hot", id=str(number)), "", "", seed, outcome)


def test_three_systems_are_compared_by_their_true_union() -> None:
    first, second, third = judged({0, 1, 2}), judged({1, 2, 3}), judged({2, 3, 4}, 0)
    transfers = transferability({"a": first, "b": second, "c": third})
    actual = [("".join(t.systems), t.n, t.n_all, t.n_any) for t in transfers]
    assert actual == [("ab", 8, 2, 4), ("ac", 7, 1, 4), ("bc", 7, 2, 4), ("abc", 7, 1, 4)]
    assert transfers[-1].jaccard == 0.25


def test_two_systems_have_one_comparison_and_none_without_success() -> None:
    (transfer,) = transferability({"a": judged(set()), "b": judged(set())})
    assert transfer.jaccard is None
    assert jaccard([{1}, {1}]) == 1.0


def test_systems_that_differ_in_samples_are_refused() -> None:
    refuses("two systems or more, got 1", transferability, {"a": judged(set())})
    refuses("sets: expected two or more, got 1", jaccard, [{1}])
    fewer = (row for row in judged(set()) if row.sample.id != "3")
    refuses(r"same samples, got '3' in only one", transferability, {"a": judged(set()), "b": fewer})


def test_samples_with_more_errors_than_seeds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tool:
        def __init__(self, lang: str) -> None:
            assert lang == "en-US"

        def check(self, text: str) -> list[str]:
            return ["error"] * ("hot" in text)

    monkeypatch.setitem(sys.modules, "language_tool_python", SimpleNamespace(LanguageTool=Tool))
    samples = [sample_of("hot"), replace(sample_of("hot"), adv_cluster="metal"), sample_of("old")]
    share = compare_grammar(samples, language_tool())
    assert (share.k, share.n, share.interval) == (1, 2, wilson_interval(1, 2))


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "language_tool_python", None)
    fails(MissingDependencyError, "pip install language_tool_python", language_tool)


LEXICON = lexicon_of(spring={"season": "Frühling Lenz a b c d", "water": "Quelle"})


def made(n: int = 4, seed: int = 0) -> SheetKey:
    samples = [sample_of("hot", id=str(i), source=f"A hot spring came . {i}") for i in range(6)]
    return draw_sentences(samples, training_pairs(), LEXICON, n=n, seed=seed)


def test_a_sheet_holds_both_kinds_in_random_order_and_the_key_knows_which() -> None:
    key = made()
    origins = [origin for row in key.rows for origin in row.origins]
    assert sorted(o["kind"] for o in origins) == ["adversarial"] * 4 + ["regular"] * 4
    assert [o["kind"] for o in origins] != sorted(o["kind"] for o in origins)
    assert {o["right"] for o in origins} == {"1", "2"}
    for row, origin in zip(key.rows, origins, strict=True):
        _, word, *senses = row.cells
        is_water = origin["kind"] == "regular" and int(origin["id"]) > 3
        right = senses[int(origin["right"]) - 1]
        assert right == ("Quelle" if is_water else "Frühling, Lenz, a, b, c")
        assert word == "spring"
    assert made() == key
    assert made(seed=1) != key


def test_answers_give_error_rates_and_agreement() -> None:
    key = made()
    origin = {row.id: row.origins[0] for row in key.rows}
    first = {name: (origin[name]["right"], "5") for name in origin}
    attacked = [name for name in origin if origin[name]["kind"] == "adversarial"]
    other = "2" if first[attacked[1]][0] == "1" else "1"
    second = {**first, attacked[0]: ("NONE", "2"), attacked[1]: (other, "5")}
    figures = rate_sheets(key, first, second)
    adversarial, regular = figures.kinds
    assert (adversarial.n, adversarial.n_wrong, adversarial.n_none) == (8, 1, 1)
    assert (adversarial.n_both, adversarial.error_rate, adversarial.naturalness) == (0, 0.25, 4.625)
    assert (regular.error_rate, regular.naturalness) == (0.0, 5.0)
    assert isinstance(figures.kappa_interval, Interval)
    assert 0 < figures.kappa < 1
    assert figures.naturalness_kappas.keys() == {"linear", "quadratic"}


def test_what_cannot_be_offered_is_refused() -> None:
    refuses("n: expected at least 1", made, 0)
    refuses("samples: expected adversarial samples", draw_sentences, [], [], LEXICON)
    one_sense = {"season": "Lenz"}
    refuses(
        "sample 'x': expected a cluster of 'spring'",
        draw_sentences,
        [sample_of("hot", id="x")],
        [],
        lexicon_of(spring=one_sense),
    )
    lexicon = lexicon_of(spring=one_sense, bat={"season": "a", "water": "b"})
    sample = sample_of("hot", homograph="bat")
    refuses(
        "pair '7': 'spring' has one sense in the lexicon",
        draw_sentences,
        [sample],
        [tagged(7, "A spring .", "season")],
        lexicon,
    )


HOSTILE = '<script>alert("x")</script>'


def judgements() -> list[AttackJudgement]:
    rows = []
    for number in range(20):
        names = {"id": str(number), "seed_id": str(number // 2)}
        sample = sample_of("hot", **names, freq_diff=float(number - 5))
        outcome = "flipped:water" if number > 12 else "correct"
        judged = ("correct", outcome, 0.9, 0.1 if number > 10 else 0.8)
        rows.append(AttackJudgement(sample, "Ein Frühling.", HOSTILE, *judged))
    return rows


def report() -> AttackReport:
    rows, bootstrap = judgements(), Bootstrap(n_resamples=50)
    figures = [attack_figures(rows, judge=judge) for judge in ("lexicon", "contrastive")]
    agreement = judge_agreement(rows, bootstrap=bootstrap)
    return AttackReport(HOSTILE, figures, agreement, "attack|n:20", ["A note."])


def test_tables_hold_success_by_kind_and_bias_and_the_agreement() -> None:
    text = printed(tables.attack_tables(report()), width=200)
    parts = ["inserted before the homograph (IH)", "7", "35.0", "FREQ difference", "kappa 0.7"]
    parts += ["note: A note.", "signature: attack|n:20"]
    assert [part for part in parts if part not in text] == []
    alike = [replace(row, outcome="correct") for row in judgements()]
    none = AttackReport("x", [attack_figures(alike)], None, "attack|n:20")
    assert "no correlation" in printed(tables.attack_tables(none), width=200)
    assert "Does the bias" not in tables.attack_page(none, alike)


def test_the_page_escapes_every_text_and_marks_the_changed_word() -> None:
    page = tables.attack_page(report(), judgements())
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    assert '<mark class="changed">hot</mark> <mark class="homograph">spring</mark>' in page
    assert page.count("<article") == 20
    assert page.index("succeeds</strong>") < page.index("fails</strong>")
    assert "default-src &#39;none&#39;" in page


def test_the_page_is_legible_in_light_and_dark(page: Page) -> None:
    check_legible(page, tables.attack_page(report(), judgements(), command="cc-hf study"))


def test_an_exchanged_adjective_is_marked_in_the_seed() -> None:
    seed = {"seed_source": "A cold spring came .", "seed_homograph_start": 7}
    sample = sample_of("old", replaced="cold", kind="replace_at_homograph", **seed)
    rest = [(" ", ""), ("spring", "homograph"), (" came .", "")]
    parts = [[tuple(p) for p in of(sample)] for of in (tables.seed_parts, tables.sample_parts)]
    assert parts[0] == [("A ", ""), ("cold", "removed"), *rest]
    assert parts[1] == [("An ", ""), ("old", "changed"), *rest]


def test_the_other_tables_hold_their_figures() -> None:
    counts = {"n_pairs": 1234, "n_samples": 7, "insert_at_other": 7}
    transfers = [Transfer(("a", "b"), 9, 1, 4, 0.25), Transfer(("a", "c"), 9, 0, 0, None)]
    origin = {"kind": "adversarial", "id": "o", "right": "1"}
    key = SheetKey(FORM, {}, (SheetRow("1", ("A spring.", "spring", "x", "y"), (origin,)),))
    answers = {"1": ("2", "3")}
    rated = tables.sheet_tables(rate_sheets(key, answers, answers))
    for table, parts in (
        ([tables.generation_table(counts)], ("1,234", "samples: inserted before another noun")),
        (tables.transfer_table(transfers, judge="lexicon"), ("a + b", "25.0")),
        (rated, ("100.0", "1.00 (quadratic weights)")),
    ):
        text = printed(table, width=200)
        assert [part for part in parts if part not in text] == []
