import functools
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf.test_sets.wino_x.pattern_matching import find_gender
from tests.helpers.samples import declare_wino_x, lay_out_samples
from tests.helpers.usual import (
    cases,
    compute_metric,
    evaluate_dataset,
    evaluate_dataset_by_all,
    evaluate_metric,
    hash_scores,
    refuses,
)

wino_x = functools.partial(compute_metric, "wino_x_pattern_matching")
wino_x_result = functools.partial(evaluate_metric, "wino_x_pattern_matching")

METRIC = "wino_x_pattern_matching"
_GENDERS = {"correct_gender": "female", "incorrect_gender": "male", "category": "female"}
ROW = {"source": "The vase broke because it was old.", "pair": "a", **_GENDERS}


@cases(
    ("de", "It broke.", "Er zerbrach.", "male"),
    ("de", "It broke.", "ES zerbrach.", "neutral"),
    ("de", "It broke.", "Dieser zerbrach.", ""),
    ("de", "It broke.", "", ""),
    ("de", "She sold it because it was old.", "Sie verkaufte es, weil er alt war.", "male"),
    ("de", "She sold a vase, it was old.", "Sie verkaufte die Vase, weil er alt war.", "male"),
    ("de", "He sold a vase, it was old.", "Er verkaufte die Vase wegen ihres A.", "several"),
    ("de", "Ann sold it.", "Ann ging, weil sie alt war, und weil sie störte.", "female"),
    ("de", "Ann sold it.", "Ann ging, weil er alt war, und weil sie ging.", "several"),
    ("de", "You sold it.", "Haben Sie die Vase verkauft, weil er alt war?", "male"),
    ("de", "There are vases. I sold it.", "Es gibt Vasen. Sie ist weg.", "female"),
    ("de", "They broke it after it fell.", "Sie zerbrachen es, nachdem sie fiel.", "female"),
    ("fr", "It was declined.", "Elle a été refusée.", "female"),
    ("fr", "It was so old that it fell.", "Il était si vieux qu'il est tombé.", "male"),
    ("fr", "There was one, but it fell.", "Il y avait un vase, elle est tombée.", "female"),
    ("fr", "It must be sold as it is old.", "Il faut le vendre car il est vieux.", "several"),
    ("fr", "Is it old?", "Est-elle vieille\u00a0?", "female"),
    ("ru", "It was thin.", "Она была тонкой.", "female"),
    ("ru", "It was thin.", "oнa была тонкой.", "female"),
    ("ru", "They saw that it was thin.", "Они видели, что оно тонкое.", "neutral"),
    ("ru", "He saw that it's thin.", "Он видел, что oн тонкий.", "male"),
)
def test_gender_is_that_of_the_pronoun(lang: str, source: str, text: str, expected: str) -> None:
    assert find_gender(source, text, lang) == expected


def test_figures_of_pronouns_follow_the_verdicts() -> None:
    texts = ["weil sie alt war", "weil er alt war", "weil es alt war", "ja", "er sah, weil sie kam"]
    other = {**ROW, "pair": "b", "category": "other"}
    rows = [ROW, ROW, {**ROW, "pair": "b"}, other, {**ROW, "pair": "", "category": ""}]
    actual = wino_x_result(texts, rows, src_lang="en", tgt_lang="de", n_resamples=50)
    assert [j.verdict for j in actual.judgements] == ["correct", "incorrect", *["inconclusive"] * 3]
    assert [j.predicted for j in actual.judgements] == ["female", "male", "neutral", "", "several"]
    zeros = dict.fromkeys(("min_accuracy", "accuracy_other", "pair_accuracy"), 0)
    expected = {"accuracy": 0.2, "accuracy_female": 0.25, "inconclusive_rate": 0.6}
    assert actual.scores == {**zeros, **expected}
    counts = {
        "n_correct": 1,
        "n_inconclusive": 3,
        "n_no_pronoun": 1,
        "n_several_pronouns": 1,
        "n_pairs": 2,
        "n_pairs_correct": 0,
        "n_without_twin": 0,
    }
    assert actual.counts == counts
    signature = re.sub(r"own@[0-9a-f]{12}", "own", actual.signature)
    assert signature.startswith("wxpm|data:own|langs:en-de|norm:nfc-cf|n:5|boot:50|seed:0|m:3|v:")
    same = wino_x(["weil sie alt war"], [{**ROW, "incorrect_gender": "female"}], tgt_lang="de")
    assert same["verdicts"] == ["inconclusive"]


def judged(config: str, texts: list[str], folder: Path) -> list[str]:
    return [
        j.verdict
        for j in evaluate_dataset(
            "wino_x", config, metric=METRIC, translations=texts, data_dir=folder
        ).judgements
    ]


@pytest.mark.parametrize("lang", ["de", "fr", "ru"])
def test_translations_of_the_data_get_genders(shared: Path, tmp_path: Path, lang: str) -> None:
    """The correct translation of every sample shows the correct gender, the contrastive one the
    other.
    """
    config = f"mt_en_{lang}"
    folder = lay_out_samples("wino_x", config, tmp_path, shared)
    examples = cc_hf.load_examples("wino_x", f"{config}.translations", data_dir=folder)
    for texts, wanted in (
        ([e.correct_translation for e in examples], "correct"),
        ([e.contrastive_translations[0] for e in examples], "incorrect"),
    ):
        verdicts = judged(config, texts, folder)
        assert set(verdicts) <= {wanted, "inconclusive"}
        assert verdicts.count(wanted) >= 0.9 * len(verdicts)


def test_pronouns_in_mixed_script_are_recognized(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "demelin/wino_x/data/mt/en_ru_test.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes((shared / "gold/wino_x/mt_wino_x_en_ru.mixedscript.jsonl").read_bytes())
    declare_wino_x(tmp_path)
    row = json.loads(path.read_text(encoding="utf-8"))
    for number, verdict in ((1, "correct"), (2, "incorrect")):
        assert judged("mt_en_ru", [row[f"translation{number}"]], tmp_path) == [verdict]


def test_mt_wino_x_can_be_judged_by_every_suitable_metric(shared: Path, tmp_path: Path) -> None:
    folder = lay_out_samples("wino_x", "mt_en_de", tmp_path, shared)
    seeing = Mock(wraps=hash_scores, __name__="seeing")
    examples = cc_hf.load_examples("wino_x", "mt_en_de", data_dir=folder)
    texts = [e.extra["reference"] for e in examples]
    actual = evaluate_dataset_by_all(
        "wino_x", "mt_en_de", translations=texts, data_dir=folder, evaluator=seeing
    )
    assert [result.metric for result in actual.results] == ["contrastive_conditioning", METRIC]
    assert actual.not_run == {}
    assert "|cues:referents|" in actual.results[0].signature
    sources = [(*e.correct_sources, *e.incorrect_sources) for e in examples]
    pairs = [(source, text) for both, text in zip(sources, texts, strict=True) for source in both]
    assert [*zip(*seeing.call_args.args, strict=True)] == pairs
    assert actual.results[1].scores["pair_accuracy"] > 0.5


@cases(
    ({**ROW, "source": "Nothing broke."}, {}, "row 0: source: expected.*got 'Nothing broke.'"),
    ({**ROW, "correct_gender": "f"}, {}, "row 0: correct_gender: expected one of.*got 'f'"),
    (ROW, {"tgt_lang": "es"}, "tgt_lang: wino_x_pattern_matching knows the pronouns.*got 'es'"),
    (ROW, {"src_lang": "de"}, "src_lang: wino_x_pattern_matching reads the English.*got 'de'"),
)
def test_bad_input_is_refused(reference: Any, options: dict[str, Any], message: str) -> None:
    refuses(message, wino_x, ["x"], [reference], **{"tgt_lang": "de", **options})
    refuses(r"row 2: pair 'a': .* two rows at most", wino_x, ["x"] * 3, [ROW] * 3, tgt_lang="de")


def test_unsuitable_configurations_are_refused_with_alternatives() -> None:
    refuses(
        r'wino_x_pattern_matching needs English sentences with an ambiguous "it".* wino_x lm_en_de'
        r" does not; use the configuration mt_en_de; metrics that fit wino_x lm_en_de: ",
        evaluate_dataset,
        "wino_x",
        "lm_en_de",
        metric=METRIC,
        translations=["x"],
    )


_WORD = st.sampled_from(["er", "Sie", "sie", "es", "gibt", "il", "y a", "oнa", "on,", "x.", "ἁ"])
_WORDS = st.lists(_WORD, max_size=6).map(" ".join)


@given(st.lists(_WORDS, min_size=1, max_size=5), st.sampled_from(["de", "fr", "ru"]))
def test_any_text_is_judged_independently_of_other_rows(texts: list[str], lang: str) -> None:
    rows = [{**ROW, "pair": ""}] * len(texts)
    actual = wino_x(texts, rows, tgt_lang=lang, n_resamples=2)
    alone = [wino_x([text], rows[:1], tgt_lang=lang, n_resamples=1) for text in texts]
    assert [row["verdicts"][0] for row in alone] == actual["verdicts"]
    n_incorrect = actual["verdicts"].count("incorrect")
    assert actual["n_correct"] + n_incorrect + actual["n_inconclusive"] == len(texts)
