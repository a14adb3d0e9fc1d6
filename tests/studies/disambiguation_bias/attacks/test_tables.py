from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cc_hf.comparing.people.sheets import SheetKey, SheetRow
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.studies.disambiguation_bias.attacks import tables
from cc_hf.studies.disambiguation_bias.attacks.judge import attack_figures, judge_agreement
from cc_hf.studies.disambiguation_bias.attacks.judging import AttackReport
from cc_hf.studies.disambiguation_bias.attacks.samples import AttackJudgement
from cc_hf.studies.disambiguation_bias.attacks.sheets import FORM, rate_sheets
from cc_hf.studies.disambiguation_bias.attacks.transfer import Transfer
from tests.helpers.axe import check_legible
from tests.helpers.terminal import printed
from tests.studies.disambiguation_bias.attacks.helper import sample_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

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


@pytest.mark.browser
def test_the_page_is_legible_in_light_and_dark(page: Page) -> None:
    check_legible(page, tables.attack_page(report(), judgements(), command="cc-hf study"))


def test_an_exchanged_adjective_is_marked_in_the_seed() -> None:
    seed = {"seed_source": "A cold spring came .", "seed_homograph_start": 7}
    sample = sample_of("old", replaced="cold", kind="replace_at_homograph", **seed)
    rest = [(" ", ""), ("spring", "homograph"), (" came .", "")]
    assert [tuple(part) for part in tables.seed_parts(sample)] == [
        ("A ", ""),
        ("cold", "removed"),
        *rest,
    ]
    parts = [tuple(part) for part in tables.sample_parts(sample)]
    assert parts == [("An ", ""), ("old", "changed"), *rest]


def test_the_other_tables_hold_their_figures() -> None:
    counts = {"n_pairs": 1234, "n_samples": 7, "insert_at_other": 7}
    transfers = [Transfer(("a", "b"), 9, 1, 4, 0.25), Transfer(("a", "c"), 9, 0, 0, None)]
    origin = {"kind": "adversarial", "id": "o", "right": "1"}
    key = SheetKey(FORM, {}, (SheetRow("1", ("A spring.", "spring", "x", "y"), (origin,)),))
    answers = {"1": ("2", "3")}
    rated = tables.sheet_tables(rate_sheets(key, answers, answers))
    for table, parts in (
        (tables.generation_table(counts), ("1,234", "samples: inserted before another noun")),
        (tables.transfer_table(transfers, judge="lexicon"), ("a + b", "25.0")),
        (rated, ("100.0", "1.00 (quadratic weights)")),
    ):
        text = printed(table, width=200)
        assert [part for part in parts if part not in text] == []
