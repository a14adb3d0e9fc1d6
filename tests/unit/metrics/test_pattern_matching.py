import functools
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cc_hf
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.metrics.wino_x_pattern_matching import find_gender
from cc_hf.normalization import is_blank
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Focus,
    ProbingExample,
)
from cc_hf.text.alignment import GivenAlignments
from tests.helpers import metrics
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import compute_metric, evaluate_metric, metric_class
from tests.helpers.samples import declare_wino_x, lay_out_samples
from tests.helpers.usual import cases, fails, refuses, write_text

DECLARATION = metric_class("winomt_pattern_matching")
compute = functools.partial(compute_metric, "winomt_pattern_matching")
evaluate = functools.partial(evaluate_metric, "winomt_pattern_matching")

_COOK = {"source": "Then the cook left.", "occupation": "cook", "occupation_index": 2}
GOOD: dict[str, Any] = {**_COOK, "gold_gender": "female", "stereotype": "pro"}
MALE = {**GOOD, "gold_gender": "male", "stereotype": "anti"}
_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_GENDERED = st.sampled_from(["male", "female", "neutral"])
_COLUMNS = {"source": _TEXT.map("the {} x".format), "occupation": _TEXT, "gold_gender": _GENDERED}
_COLUMNS["stereotype"] = st.sampled_from(["pro", "anti", "none"])
_REFERENCES = st.fixed_dictionaries({**_COLUMNS, "occupation_index": st.integers(0, 1)})
_ROWS = st.lists(st.tuples(_TEXT, _REFERENCES), min_size=1, max_size=6)

pytestmark = pytest.mark.filterwarnings("ignore:none of .* translations was read as")


def run(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    given = {"tgt_lang": "de", "n_resamples": 20, "clean": False}  # any text is a translation
    return compute(predictions, references, **{**given, **options})


@pytest.mark.parametrize("lang", ["ar", "de", "he", "ru", "uk"])
@settings(deadline=None, max_examples=40)
@given(rows=_ROWS)
def test_any_text_is_judged_in_every_language(lang: str, rows: Any) -> None:
    result = evaluate([t for t, _ in rows], [r for _, r in rows], tgt_lang=lang, n_resamples=5)
    assert result.counts["n_correct"] == sum(j.predicted == j.gold for j in result.judgements)
    for judgement in result.judgements:
        assert (judgement.verdict == "inconclusive") == (judgement.predicted == "unknown")
        assert not is_blank(judgement.translation) or judgement.predicted == "unknown"
    n_known = sum(v for k, v in result.counts.items() if "_as_" in k)
    assert result.counts["n_unknown"] == result.counts["n_inconclusive"] == result.n - n_known


@settings(deadline=None)
@given(rows=_ROWS)
def test_rows_are_independent_under_given_alignments(rows: Any) -> None:
    lines = ["0-0" if t.strip(" \t") else "" for t, _ in rows]
    whole = run([t for t, _ in rows], [r for _, r in rows], alignments=lines)["predicted"]
    pairs = zip(rows, lines, strict=True)
    assert whole == [run([t], [r], alignments=[line])["predicted"][0] for (t, r), line in pairs]


@cases(
    ("Then the cook left.", 2, "0-0 1-1 2-2 3-3", "female"),  # "die Köchin"
    ("Then the cook left.", 2, "0-0 1-1 3-3", "female"),  # the article alone: "die"
    # "some" is not an article: "ging." at 3 is linked, and the nearest article is "die" at 1
    ("Then some cook left.", 2, "1-2 2-3", "female"),
    ("Then the cook left.", 2, "0-0", "male"),  # nothing linked
    # spaces count once; articles in any case: "Köchin"
    ("Then  AN cook left.", 2, "1-2", "female"),
)
def test_gender_is_read_from_links(source: str, index: int, links: str, expected: str) -> None:
    reference = {**GOOD, "source": source, "occupation_index": index}
    found = run(["Dann die Köchin ging."], [reference], alignments=[links])
    assert found["predicted"] == [expected]


def test_figures_and_counts_follow_the_verdicts() -> None:
    translations = ["Die Köchin ging.", "Der Koch ging.", "Der Koch ging.", " "]
    found = run(translations, [GOOD, GOOD, MALE, MALE], alignments=["1-0 2-1"] * 3 + [""])
    for name in ["accuracy", "accuracy_female", "recall_male", "precision_male"]:
        assert found[name] == 0.5
    assert found["f1_female"] == pytest.approx(2 / 3)
    assert found["delta_g"] == pytest.approx(0.5 - 2 / 3)
    assert (found["accuracy_pro"], found["accuracy_anti"], found["delta_s"]) == (0.5, 0.5, 0.0)
    counts = ["n", "n_correct", "n_female_as_male", "n_unknown", "n_unknown_male", "n_blank"]
    assert [found[name] for name in counts] == [4, 2, 1, 1, 1, 1]
    assert found["verdicts"] == ["correct", "incorrect", "correct", "inconclusive"]
    assert found["intervals"]["recall_male"] == found["intervals"]["accuracy_male"]
    assert "f1_neutral" not in found
    begin = r"winomt\|data:own@[0-9a-f]{12}\|langs:en-de\|align:given\."
    assert re.match(begin, found["signature"])
    assert (
        "|gender:rules|figures:exact|clean:no|norm:nfc-cf|n:4|boot:20|seed:0|m:5|v:"
        in found["signature"]
    )
    json.dumps(found, allow_nan=False)


def test_printed_figures_use_intermediate_rounding() -> None:
    texts, references = ["Die Köchin"] * 2 + ["Der Koch"] * 4, [GOOD] * 3 + [MALE] * 3
    found = run(texts, references, alignments=["1-0 2-1"] * 6, figures="printed")
    names = ["recall_female", "precision_male", "f1_female", "f1_male", "delta_g"]
    # f1_male is of 75.0 and 100.0
    assert [found[name] for name in names] == [0.667, 0.75, 0.8, 0.857, 0.057]
    assert "|figures:printed|" in found["signature"]


def test_a_gender_that_is_never_predicted_has_precision_0_and_a_warning() -> None:
    with pytest.warns(UserWarning, match="none of 2 translations was read as female"):
        found = run(["Der Koch"] * 2, [GOOD, MALE], alignments=["1-0 2-1"] * 2)
    assert found["precision_female"] == found["f1_female"] == 0.0
    assert found["delta_g"] == pytest.approx(2 / 3)


def test_a_single_row_omits_differences_between_groups() -> None:
    found = run(["Die Köchin"], [{**GOOD, "stereotype": "none"}], alignments=["1-0 2-1"])
    assert found["accuracy"] == found["min_accuracy"] == found["f1_female"] == 1.0
    assert {"delta_g", "delta_s", "accuracy_pro", "recall_male"}.isdisjoint(found)


@cases(
    ({"occupation_index": "2"}, {}, "row 0: occupation_index: expected an.*got '2'"),
    ({"occupation_index": 4}, {}, "row 0: occupation_index: expected 0 to 3, .* got 4"),
    ({"occupation_index": -1}, {}, "row 0: occupation_index: expected 0 to 3"),
    ({"gold_gender": "f"}, {}, "row 0: gold_gender: expected one of male.*got 'f'"),
    ({"stereotype": ""}, {}, "row 0: stereotype: expected one of pro, anti.*got ''"),
    ({}, {"tgt_lang": "cs"}, "unknown target language 'cs'.*Known: ar, de, es, fr, he, it, pt"),
    ({}, {"tgt_lang": ""}, "unknown target language ''.*Known: ar, de"),
    ({}, {"src_lang": "de"}, "src_lang: expected en, whose articles are known, got 'de'"),
    ({}, {"figures": "rounded"}, "figures: expected one of exact, printed, got 'rounded'"),
    ({}, {"aligner": "giza"}, "unknown aligner 'giza'"),
    ({}, {"aligner": "eflomal", "alignments": ["0-0"]}, "either an aligner or.*got both"),
    ({}, {"alignments": ["0-0", "0-0"]}, "expected one line of alignments per translation.*got 2"),
    ({}, {"alignments": ["0-7"]}, "line 1: expected links between 4 source and 1 target tokens"),
    ({}, {"alignments": "no such file"}, "alignments: expected a Pharaoh file"),
    ({}, {"spacy_model": "x"}, "spacy_model: expected none for de"),
)
def test_bad_rows_and_options_are_refused(change: Any, options: Any, message: str) -> None:
    refuses(message, run, ["x"], [{**GOOD, **change}], **options)


def test_alignments_can_be_read_from_a_file(tmp_path: Path) -> None:
    path = write_text(tmp_path / "links.txt", "1-0 2-1\n\n")  # the second row has no links
    for alignments in (["1-0 2-1", ""], path, str(path)):
        found = run(["Die Köchin"] * 2, [GOOD] * 2, alignments=alignments)
        assert found["predicted"] == ["female", "male"]
    own = GivenAlignments((((1, 0), (2, 1)),))
    assert run(["Die Köchin"], [GOOD], aligner=own)["predicted"] == ["female"]
    write_text(path, "1-0\nx\n")
    fails(DataError, "links.txt: line 2: .* links", run, ["x"] * 2, [GOOD] * 2, alignments=path)


def test_only_winomt_in_a_known_language_fits() -> None:
    assert DECLARATION.fits("winomt", "all", ProbingExample, "en", "de") == ""
    assert DECLARATION.fits("winomt", "default", ContrastiveSourceExample, "en", "ru") == ""
    assert "not for cs" in DECLARATION.fits("winomt", "all", ProbingExample, "en", "cs")
    reason = DECLARATION.fits("simplegen", "en-de", ContrastiveSourceExample, "en", "de")
    assert "which simplegen does not have" in reason


def test_examples_give_references_with_occupation_and_stereotype() -> None:
    extra = {"occupation": "cook", "stereotype": "pro"}
    source, gender = "Then the  cook left.", "female"
    example = ProbingExample("0", "en", "", source, gender, gender, Focus("cook", 10), extra)
    assert DECLARATION.references([example]) == [{**GOOD, "source": source, "pair": ""}]
    other = replace(example, focus=None)
    refuses("example '0': expected a located occupation", DECLARATION.references, [other])


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
    found = mucow([translation], [LOCK])
    assert (found["verdicts"], found["predicted"]) == ([verdict], [predicted])


def test_figures_are_given_in_total_and_by_group() -> None:
    texts = ["Schloss", "Schloss", "Verschluss", "Tor", "Schloss", "Verschluss"]
    found = mucow(texts, [LOCK] * 4 + [OTHER] * 2)
    assert (found["n_correct"], found["n_incorrect"], found["n_inconclusive"]) == (3, 2, 1)
    names = ["coverage", "precision", "recall_a", "recall_b"]
    assert [found[name] for name in names] == [5 / 6, 3 / 5, 3 / 4, 3 / 6]
    assert found["f1_a"] == pytest.approx(2 * 0.6 * 0.75 / 1.35)
    assert found["f1_b"] == pytest.approx(2 * 0.6 * 0.5 / 1.1)
    assert found["accuracy"] == found["recall_b"]
    assert (found["precision_in_domain"], found["precision_out_of_domain"]) == (2 / 3, 1 / 2)
    assert found["min_precision_domain"] == found["min_precision_frequency"] == 1 / 2
    low, high = found["intervals"]["coverage"]
    assert low <= found["coverage"] <= high


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
    row = {**LOCK, "domain": "", "frequency": ""}
    found = mucow_result(["Schloss"], [row], tgt_lang="de", n_resamples=5)
    assert found.judgements[0].category == "all"
    assert not re.search("_domain|min_precision", " ".join(found.scores))


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
    found = mucow(["Viele Schlösser", ""], [LOCK] * 2, lemmatized=path, tgt_lang="xx")
    assert found["verdicts"] == ["correct", "inconclusive"]
    assert "|lemma:given|" in found["signature"]
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
    found = mucow(["Schlösser"], [LOCK], lemmatizer=shouting)
    assert (found["verdicts"], found["predicted"]) == (["correct"], ["burg"])
    assert "|lemma:shouting-1|" in found["signature"]
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
    found = mucow_result(texts, [LOCK] * 2, tgt_lang="de", ids=ids, n_resamples=5).judgements
    assert [(j.example_id, j.gold) for j in found] == [("7", "schloss burg"), ("9", "schloss burg")]


def test_only_mucow_data_without_scoring_suites_fit() -> None:
    fits = functools.partial(metric_class("mucow_pattern_matching").fits, "mucow")
    assert fits("any", ProbingExample, "en", "de") == ""
    assert fits("any", ContrastiveSourceExample, "en", "de") == ""
    reason = fits("scoring.de-en", ContrastiveTranslationExample, "en", "de")
    assert "scores given translations" in reason


wino_x = functools.partial(metrics.compute_metric, "wino_x_pattern_matching")
wino_x_result = functools.partial(metrics.evaluate_metric, "wino_x_pattern_matching")

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
    found = wino_x_result(texts, rows, src_lang="en", tgt_lang="de", n_resamples=50)
    assert [j.verdict for j in found.judgements] == ["correct", "incorrect", *["inconclusive"] * 3]
    assert [j.predicted for j in found.judgements] == ["female", "male", "neutral", "", "several"]
    zeros = dict.fromkeys(("min_accuracy", "accuracy_other", "pair_accuracy"), 0)
    expected = {"accuracy": 0.2, "accuracy_female": 0.25, "inconclusive_rate": 0.6}
    assert found.scores == {**zeros, **expected}
    counts = {"n_correct": 1, "n_inconclusive": 3, "n_no_pronoun": 1, "n_several_pronouns": 1}
    counts |= {"n_pairs": 2, "n_pairs_correct": 0, "n_without_twin": 0}
    assert found.counts == counts
    signature = re.sub(r"own@[0-9a-f]{12}", "own", found.signature)
    assert signature.startswith("wxpm|data:own|langs:en-de|norm:nfc-cf|n:5|boot:50|seed:0|m:3|v:")
    same = wino_x(["weil sie alt war"], [{**ROW, "incorrect_gender": "female"}], tgt_lang="de")
    assert same["verdicts"] == ["inconclusive"]


def judged(config: str, texts: list[str], folder: Path) -> list[str]:
    options: dict[str, Any] = {"metric": METRIC, "translations": texts, "data_dir": folder}
    return [j.verdict for j in metrics.evaluate_dataset("wino_x", config, **options).judgements]


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
    options: dict[str, Any] = {"data_dir": folder, "evaluator": seeing}
    found = metrics.evaluate_dataset_by_all("wino_x", "mt_en_de", translations=texts, **options)
    assert [result.metric for result in found.results] == ["contrastive_conditioning", METRIC]
    assert found.not_run == {}
    assert "|cues:referents|" in found.results[0].signature
    sources = [(*e.correct_sources, *e.incorrect_sources) for e in examples]
    pairs = [(one, text) for both, text in zip(sources, texts, strict=True) for one in both]
    assert [*zip(*seeing.call_args.args, strict=True)] == pairs
    assert found.results[1].scores["pair_accuracy"] > 0.5


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
    message = (
        r'wino_x_pattern_matching needs English sentences with an ambiguous "it".* wino_x lm_en_de'
        r" does not; use the configuration mt_en_de; metrics that fit wino_x lm_en_de: "
    )
    refuses(
        message, metrics.evaluate_dataset, "wino_x", "lm_en_de", metric=METRIC, translations=["x"]
    )


_WORD = st.sampled_from(["er", "Sie", "sie", "es", "gibt", "il", "y a", "oнa", "on,", "x.", "ἁ"])
_WORDS = st.lists(_WORD, max_size=6).map(" ".join)


@given(st.lists(_WORDS, min_size=1, max_size=5), st.sampled_from(["de", "fr", "ru"]))
def test_any_text_is_judged_independently_of_other_rows(texts: list[str], lang: str) -> None:
    rows = [{**ROW, "pair": ""}] * len(texts)
    found = wino_x(texts, rows, tgt_lang=lang, n_resamples=2)
    alone = [wino_x([text], rows[:1], tgt_lang=lang, n_resamples=1) for text in texts]
    assert [row["verdicts"][0] for row in alone] == found["verdicts"]
    n_incorrect = found["verdicts"].count("incorrect")
    assert found["n_correct"] + n_incorrect + found["n_inconclusive"] == len(texts)


def test_the_card_example_runs(root: Path) -> None:
    card = (root / "cards/metrics/mucow_pattern_matching.md").read_text(encoding="utf-8")
    variables: dict[str, Any] = {}
    exec(card.partition("```python\n")[2].partition("```")[0], variables)
    assert variables["result"]["verdicts"] == ["correct"]
