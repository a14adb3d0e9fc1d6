"""BLEU and chrF of systems, and the command that writes them."""

import json
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.plugins.scores.quality import corpus_quality
from tests.helpers.usual import cases, printed_by, refuses, write_lines

REFERENCES = ["Der Arzt ist heute da.", "Die Frau geht nach Hause.", "Es regnet seit gestern."] * 4
GOOD = ["Der Arzt ist heute da.", "Die Frau geht nun nach Hause.", "Es regnet seit gestern."] * 4
POOR = ["Ein Arzt ist morgen da.", "Eine Frau geht nach Hause.", ""] * 4
POOR[-1] = "\u200b\ufeff"  # shows nothing, and is as blank as ""


def test_scores_and_signatures_are_those_of_sacrebleu() -> None:
    good, poor = corpus_quality({"good": GOOD, "poor": POOR}, REFERENCES, chrf=True)
    assert good.scores["bleu"] == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score / 100
    assert poor.scores["chrf"] == sacrebleu.corpus_chrf(POOR, [REFERENCES]).score / 100
    assert "|tok:13a|smooth:exp|version:" in good.signatures["bleu"]
    assert (poor.n, poor.n_blank) == (12, 4)
    assert not good.p_values
    # by hand as get_ende_bleu.sh writes it
    texts = ["Das Rich-Text-Format ist gut."], ["Das Rich Text-Format ist gut."]
    (split,) = corpus_quality({"a": texts[0]}, texts[1], tokenize="t2t-de")
    hyphen = " ##AT##-##AT## "
    tokens = (f"Das Rich{h}Text{hyphen}Format ist gut ." for h in (hyphen, " "))
    expected = sacrebleu.corpus_bleu(
        [next(tokens)], [[next(tokens)]], tokenize="none", smooth_method="none", force=True
    ).score
    by_hand = (8 / 9 * 6 / 8 * 4 / 7 * 3 / 6) ** 0.25
    assert split.scores["bleu"] == expected / 100 == pytest.approx(by_hand)
    assert "|tok:t2t-de-sacremoses-" in split.signatures["bleu"]


def test_systems_are_compared_with_the_first() -> None:
    good, poor, same = corpus_quality(
        {"good": GOOD, "poor": POOR, "same": GOOD}, REFERENCES, chrf=True, paired="ar"
    )
    assert not good.p_values
    assert set(poor.p_values) == {"bleu", "chrf"}
    assert 0 < poor.p_values["bleu"] < 0.05
    assert same.p_values == {"bleu": 1.0, "chrf": 1.0}
    assert poor.test.startswith("nrefs:1|ar:1000|seed:0|case:mixed|eff:no|tok:13a|")


@cases(
    ({"a": GOOD[1:]}, {}, "a: expected 12 translations, one for each reference, got 11"),
    ({}, {}, "expected at least one sentence and one system"),
    ({"a": GOOD}, {"paired": "ar"}, "paired: expected two or more systems"),
    ({"a": GOOD, "b": POOR}, {"paired": "bs"}, "paired: expected one of ar, got 'bs'"),
    ({"a": GOOD}, {"tokenize": "x"}, "tokenize: expected one of 13a, intl"),
    ([GOOD], {}, "systems: expected "),
)
def test_systems_that_cannot_be_scored_fail(systems: Any, options: Any, message: str) -> None:
    refuses(message, corpus_quality, systems, REFERENCES, **options)


def test_reports_read_the_file_that_the_command_writes(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.de" for name in ("good", "poor", "ref")}
    for path, lines in zip(paths.values(), (GOOD, POOR, REFERENCES), strict=True):
        write_lines(path, lines)
    out = tmp_path / "bleu.json"
    given = [str(paths["good"]), f"bad={paths['poor']}"]
    options = ["--references", str(paths["ref"]), "--paired", "ar", "-o", str(out)]
    drawn = ["--resamples", "200", "--seed", "3"]
    assert "|tok:13a|" in printed_by("score", *given, *options, *drawn, "-l", "en-de", columns=200)
    scores = read_quality_scores(out)
    assert scores.systems == ["good", "bad"]
    expected = sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score / 100
    assert scores.of("good", "winomt", "de") == pytest.approx(expected, abs=1e-6)
    assert scores.of("good", "winomt", "ru") is None
    row = json.loads(out.read_text(encoding="utf-8"))[1]
    assert row["n_blank"] == 4
    assert row["bleu_p_value"] < 0.05
    assert "|ar:200|seed:3|" in row["paired_test"]
