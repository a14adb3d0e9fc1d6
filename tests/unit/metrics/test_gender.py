import functools
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from cc_hf.data.readers.occupation_dictionary import load_dictionary
from cc_hf.errors import InputError, MissingOptionError
from cc_hf.metrics.gender_accuracy import judge, words
from cc_hf.metrics.simplegen_accuracy import find_genders
from cc_hf.normalization import composed, is_blank
from cc_hf.results import EvaluationResult
from cc_hf.statistics.score_intervals import wilson_interval
from tests.helpers import metrics
from tests.helpers.fake_evaluator import constant_scores
from tests.helpers.intervals import limits
from tests.helpers.metrics import compute_metric, evaluate_metric
from tests.helpers.usual import cases, fails, refuses

compute = functools.partial(compute_metric, "gender_accuracy")
evaluate = functools.partial(evaluate_metric, "gender_accuracy")

HERS = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt.", "gender": "female"}
HIS = {"reference": "Er ist Arzt.", "contrastive_reference": "Sie ist Ärztin.", "gender": "male"}
PAIR = [{**HIS, "pair": "0"}, {**HERS, "pair": "0"}]
_TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
_FULL = _TEXT.filter(lambda text: not is_blank(text))


def test_words_are_split_as_in_the_original_program() -> None:
    found = words("L'Ärztin, (die)  «gute» UND-so ¿que?")
    assert found == {*["l", "ärztin", "die", "«gute»", "und", "so", "¿que"]}
    assert words("STRAẞE GROß ά") == {"straße", "groß", "ά"}  # neither case-folded nor normalised
    assert words("") == words(" .,! ") == frozenset()
    # As in released verdicts: "Arzt" and "Arzt." are two words, and so are "Sie" and "sie".
    kinds = [evaluate(["sie war Arzt"], [HERS], tokens=name) for name in ("split", "mt_geneval")]
    assert [kind.judgements[0].predicted for kind in kinds] == ["", "both"]
    assert ["|tokens:split|" in kind.signature for kind in kinds] == [True, False]


@cases(
    ("Die Ärztin.", "correct", "female"),
    ("Der Arzt.", "incorrect", "male"),
    ("Der Arzt, sie ist Ärztin.", "incorrect", "both"),
    ("Keine Ahnung.", "correct", ""),
    ("", "correct", ""),
)
def test_verdicts_follow_words_in_both(translation: str, verdict: str, predicted: str) -> None:
    def judged(row: dict[str, str], **options: Any) -> tuple[str, ...]:
        (found,) = judge([translation], [row], **options)
        return found.verdict, found.predicted, found.gold, found.category

    assert judged(HERS) == (verdict, predicted, "female", "female")
    without = {key: text for key, text in HERS.items() if key != "gender"}
    sides = {"female": "reference", "male": "contrastive"}
    assert judged(without)[:2] == (verdict, sides.get(predicted, predicted))
    strict = verdict if predicted else "inconclusive"
    assert judged(HERS, undecided="inconclusive")[0] == strict


def test_a_pair_is_correct_when_both_rows_are() -> None:
    def pairs(first: str, second: str) -> EvaluationResult:
        texts = [first, second, "Er ist Arzt.", "Sie ist Ärztin."]
        return evaluate(texts, [*PAIR, {**HIS, "pair": "1"}, {**HERS, "pair": "1"}], n_resamples=20)

    one_gender = pairs("Er ist Arzt.", "Er ist Arzt.")
    expected = {"accuracy": 0.75, "pair_accuracy": 0.5, "accuracy_female": 0.5}
    assert expected.items() <= one_gender.scores.items()
    assert (one_gender.counts["n_pairs"], one_gender.counts["n_pairs_correct"]) == (2, 1)
    undecided = pairs("Ja.", "Sie ist Ärztin.")
    expected = {"pair_accuracy": 1, "decided_pair_accuracy": 1, "undecided_rate": 0.25}
    assert expected.items() <= undecided.scores.items()
    assert undecided.counts["n_undecided"] == 1
    for found in (one_gender, undecided):
        for name, interval in found.intervals.items():
            assert 0 <= interval.low <= interval.high <= 1
            assert name in found.scores


def test_figures_without_samples_are_omitted() -> None:
    found = evaluate(["", ""], PAIR, n_resamples=20)
    for name in ["accuracy", "pair_accuracy", "undecided_rate"]:
        assert found.scores[name] == 1
    assert found.counts["n_blank"] == 2
    assert not [name for name in (*found.scores, *found.intervals) if name.startswith("decided")]
    one = evaluate(["Sie ist Ärztin."], [HERS], n_resamples=20)
    assert one.scores["accuracy"] == one.scores["decided_accuracy_female"] == 1
    assert one.intervals["accuracy"] == wilson_interval(1, 1)
    assert "pair_accuracy" not in one.scores
    sometimes = evaluate(["Sie ist Ärztin.", "Ja."], [HERS] * 2, n_resamples=50)
    assert sometimes.scores["decided_accuracy"] == 1
    assert sometimes.intervals["decided_accuracy"] == wilson_interval(1, 1)


@cases(
    (["x"], [{**HERS, "pair": 3}], {}, "row 0: pair: expected a string or nothing, got 3"),
    (["x"] * 2, [*PAIR[:1], HERS], {}, "row 1: pair: expected the name of a pair.*got none"),
    (["x"] * 3, [*PAIR, PAIR[0]], {}, "row 0: pair '0': expected two rows, .* got 3"),
    (["x"], [HERS], {"tgt_lang": "xx"}, "does not know the language 'xx'"),
    (["x"], [HERS], {"tgt_lang": "zh"}, "reads words between spaces, which 'zh' does not"),
    (["x"], [HERS], {"undecided": "wrong"}, "undecided: expected one of correct.*got 'wrong'"),
    (["x"], [HERS], {"tokens": "13a"}, "tokens: expected one of mt_geneval, split, got '13a'"),
)
def test_bad_input_fails(predictions: Any, references: Any, options: Any, message: str) -> None:
    refuses(message, compute, predictions, references, **options)


@given(_FULL, _FULL)
def test_references_are_correct_and_mixed_words_incorrect(reference: str, contrastive: str) -> None:
    row = {"reference": reference, "contrastive_reference": contrastive}
    assert judge([reference], [row])[0].is_correct
    (mixed,) = judge([f"{reference} {contrastive}"], [row])
    assert mixed.is_correct == (words(contrastive) <= words(reference))


gap = functools.partial(compute_metric, "gender_quality_gap")
gap_result = functools.partial(evaluate_metric, "gender_quality_gap")

HIM = {"reference": "Er ist jetzt ein guter Arzt.", "gender": "male", "pair": "0"}
HER = {"reference": "Sie ist jetzt eine gute Ärztin.", "gender": "female", "pair": "0"}
_LINE = st.text(st.characters(codec="utf-8"), max_size=30).map(composed)
_FULL_LINE = _LINE.filter(lambda text: not is_blank(text))


def rows_of(pairs: list[tuple[str, str, str, str]]) -> tuple[list[str], list[dict[str, Any]]]:
    references = []
    for n, (*_, his, hers) in enumerate(pairs):
        references.append({"reference": his, "gender": "male", "pair": str(n)})
        references.append({"reference": hers, "gender": "female", "pair": str(n)})
    return [text for pair in pairs for text in pair[:2]], references


@given(st.lists(st.tuples(_LINE, _LINE, _FULL_LINE, _FULL_LINE), min_size=1, max_size=5))
def test_scores_equal_sacrebleu_for_any_text(pairs: list[tuple[str, str, str, str]]) -> None:
    translations, references = rows_of(pairs)
    found = gap(translations, references, n_resamples=3, clean=False)
    for name, scorer in (("bleu", BLEU(tokenize="13a")), ("chrf", CHRF())):
        texts = [r["reference"] for r in references]
        sides = [(translations[at::2], [texts[at::2]]) for at in (0, 1)]
        male, female = (scorer.corpus_score(*side).score / 100 for side in sides)
        values = [found[f"{name}_{figure}"] for figure in ("male", "female", "gap")]
        assert values == pytest.approx([male, female, male - female], abs=1e-12)
        assert found[f"{name}_signature"] == str(scorer.get_signature())


def test_the_bootstrap_resamples_pairs() -> None:
    """If both halves of every pair are equally good, the gap is 0 in every resample, although BLEU
    varies.
    """
    texts = [(f"a b c d {n}", f"a b c d {n % 3}") for n in range(9)]
    translations, references = rows_of([(t, t, r, r) for t, r in texts])
    found = gap(translations, references, n_resamples=200)
    note = "no interval: it is the same in every resample"
    assert found["interval_notes"] == {"bleu_gap": note, "chrf_gap": note}
    order = [*range(0, 18, 2), *range(17, 0, -2)]  # the feminine rows come last, in reverse order
    turned = [translations[i] for i in order], [references[i] for i in order]
    assert gap(*turned, n_resamples=200)["intervals"] == found["intervals"]
    low, high = found["intervals"]["bleu_male"]
    assert low < found["bleu_male"] < high
    by_seed = [gap(translations, references, n_resamples=3, seed=seed) for seed in range(4)]
    assert len({str(other["intervals"]) for other in by_seed}) > 1


def test_resampled_scores_equal_sacrebleu_on_the_drawn_segments() -> None:
    texts = [(f"a b c d {n}", f"a b x d {n}", "a b c d 1", "a b c d 2") for n in range(4)]
    translations, references = rows_of(texts)
    drawn = np.random.default_rng(7).integers(0, 4, size=(3, 4))  # as the resampling draws
    found = gap_result(translations, references, n_resamples=3, seed=7)
    for at, gender in enumerate(("male", "female")):
        hypotheses = [[translations[2 * i + at] for i in row] for row in drawn]
        expected = [[references[2 * i + at]["reference"] for i in row] for row in drawn]
        for name, scorer in (("bleu", BLEU()), ("chrf", CHRF())):
            pairs = zip(hypotheses, expected, strict=True)
            resampled = sorted(scorer.corpus_score(texts, [own]).score for texts, own in pairs)
            interval = limits(found.intervals[f"{name}_{gender}"])
            assert interval == pytest.approx(np.quantile(resampled, [0.025, 0.975]) / 100)


def test_blank_translations_have_scores_of_zero() -> None:
    found = gap_result(["", " "], [HIM, HER], n_resamples=20)
    assert {found.scores[name] for name in found.scores} == {0}
    assert (found.n, found.counts, found.judgements) == (2, {"n_pairs": 1, "n_blank": 2}, ())
    perfect = gap_result([HIM["reference"], HER["reference"]], [HIM, HER], n_resamples=20)
    assert {"bleu_male": 1, "chrf_female": 1, "bleu_gap": 0}.items() <= perfect.scores.items()


@cases(
    (["x", "y"], [HIM, {**HER, "gender": "n"}], {}, "row 1: gender: .* male, female, got 'n'"),
    (["x", "y"], [HIM, HIM], {}, "row 1: pair '0': expected one male row.*got a second one"),
    (["x", "y"], [HIM, {**HER, "pair": "1"}], {}, "row 0: pair '0': expected a.*got none"),
    (["x", "y"], [HIM, {**HER, "pair": None}], {}, "row 1: pair: expected a text.*got None"),
    (["x", "y"], [HIM, HER], {"tgt_lang": "xx"}, "does not know the language 'xx'"),
    (["x", "y"], [HIM, HER], {"tgt_lang": "ja"}, "which 'ja' does not write; expected one"),
)
def test_bad_rows_fail(predictions: Any, references: Any, options: Any, message: str) -> None:
    refuses(message, gap, predictions, references, **options)


simplegen = functools.partial(metrics.compute_metric, "simplegen_accuracy")
simplegen_result = functools.partial(metrics.evaluate_metric, "simplegen_accuracy")

NURSE = {"occupation": "nurse", "number": "sg", "gender": "male", "category": "FoMc"}
PHYSICIAN = {"occupation": "physician", "number": "sg", "gender": "female", "category": "MoFc"}
_ENTRY = {"male": ("Arzt", "Lehrer"), "female": ("Ärztin", "Lehrerin")}
_SHORT = st.text(st.characters(codec="utf-8"), max_size=20)
_WORDS = ["Arzt", "Ärztin", "Ärzte", "Krankenpfleger", "Krankenschwester", "doctora"]
_PARTS = st.sampled_from([*_WORDS, "*in", ".", "\u0301", " "])
_SENTENCES = st.lists(_PARTS | _SHORT, max_size=6).map("".join)


@cases(
    ("Der Arzt.", {"male"}),
    ("DIE ÄRZTIN!", {"female"}),
    (unicodedata.normalize("NFD", "Die Ärztin"), {"female"}),
    ("«Arzt»", {"male"}),
    ("Arzt-Ärztin", {"male", "female"}),
    ("Arztes, Arzthelfer, Zahnarzt", set()),
    ("Lehrer*innen", {"male", "female"}),
    ("Lehrer:in", {"male", "female"}),
    ("Lehrer_in", {"male", "female"}),
    ("Lehrer(in)", {"male", "female"}),
    ("Lehrer/-in", {"male", "female"}),
    ("LehrerInnen", set()),
    ("Lehrer (in Berlin)", {"male"}),
    ("Lehrer-Team", {"male"}),
    ("der Lehrer/die Lehrerin", {"male", "female"}),
    ("Arzt\u0301", set()),  # a combining mark makes it another word
    ("", set()),
)
def test_forms_match_whole_words_only(text: str, expected: set[str]) -> None:
    assert find_genders(text, _ENTRY) == expected


def test_a_form_inside_a_longer_form_is_not_counted() -> None:
    entry = {"male": ("médecin",), "female": ("femme médecin", "doctoresse")}
    assert find_genders("La femme  médecin arrive.", entry) == {"female"}
    assert find_genders("Le médecin arrive, la femme médecin aussi.", entry) == {"male", "female"}
    entry = {"male": ("obrero",), "female": ("obrera",)}
    assert find_genders("obrero/a", entry) == {"male", "female"}


def test_vowel_signs_belong_to_the_word() -> None:
    entry = {"male": ("अध्यापक",), "female": ("अध्यापिका",)}
    assert find_genders("वह अध्यापिका है।", entry) == {"female"}
    assert find_genders("अध्यापकी", entry) == set()


def test_other_numbers_and_both_genders_are_inconclusive() -> None:
    texts = ["Ärztinnen", "Arzt und Ärztin", "Ärzt*in", "Ärztin", ""]
    found = simplegen_result(texts, [PHYSICIAN] * 5, tgt_lang="de", n_resamples=2)
    verdicts = [j.verdict for j in found.judgements]
    assert verdicts == ["inconclusive"] * 3 + ["correct", "inconclusive"]
    assert [j.predicted for j in found.judgements] == ["", "both", "", "female", ""]
    ones = dict.fromkeys(("n_correct", "n_both_genders", "n_blank"), 1)
    assert found.counts == {**ones, "n_incorrect": 0, "n_inconclusive": 4, "n_no_form": 3}


def test_figures_are_given_only_for_present_groups() -> None:
    texts = ["Ärztin", "Arzt", "X", "Krankenpfleger"]
    found = simplegen_result(texts, [PHYSICIAN] * 3 + [NURSE], tgt_lang="de", n_resamples=50)
    expected = {"accuracy_anti": 1 / 2, "accuracy": 1 / 2, "accuracy_FoMc": 1}
    expected |= {"incorrect_rate_MoFc": 1 / 3, "inconclusive_rate_MoFc": 1 / 3}
    assert expected.items() <= found.scores.items()
    assert not re.search("delta|_pro|MoMc|FoFc", " ".join([*found.scores, *found.intervals]))
    assert found.intervals["accuracy_FoMc"] == wilson_interval(1, 1)
    assert re.sub(r"own@[0-9a-f]{12}", "own", found.signature).startswith(
        "sg|data:own|langs:en-de|dict:default|both:inconclusive|norm:nfc-cf|n:4|boot:50|seed:0|m:3|v:"
    )
    him = {"occupation": "physician", "gender": "male"}
    rows = [{**PHYSICIAN, **him, "category": "MoMc"}, {**NURSE, **him}]
    whole = simplegen_result(["Arzt", "Ärztin"], rows, tgt_lang="de", n_resamples=50)
    assert (whole.scores["delta"], whole.scores["delta_mc"]) == (1, 1)
    assert whole.intervals["delta"].high == 1 > whole.intervals["delta"].low
    assert "delta_fc" not in whole.scores


def test_a_user_dictionary_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "fr.tsv"
    line = "physician\tsg\tmédecin\tfemme médecin|doctoresse\n"
    path.write_text(f"occupation\tnumber\tmale\tfemale\n{line}", encoding="utf-8")
    options = {"tgt_lang": "fr", "dictionary": str(path)}
    found = simplegen(["La doctoresse.", "Le médecin."], [PHYSICIAN] * 2, **options)
    assert found["verdicts"] == ["correct", "incorrect"]
    assert "|dict:own." in found["signature"]
    with pytest.raises(InputError, match=r"row 1: the dictionary own\..* lacks 1 of 2 occupations"):
        simplegen(["x", "y"], [PHYSICIAN, NURSE], **options)


def test_simplegen_can_be_evaluated_in_a_language_with_a_user_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    rows = [
        f"{occupation}\t{number}\t{'|'.join(entry['male'])}\t{'|'.join(entry['female'])}"
        for (occupation, number), entry in load_dictionary("default", "es").entries.items()
    ]
    path.write_text("\n".join(["occupation\tnumber\tmale\tfemale", *rows]), encoding="utf-8")
    given: dict[str, Any] = {"translations": ["El director."] * 2664}
    own = {**given, "tgt_lang": "gl"}
    simplegen: dict[str, Any] = {"metric": "simplegen_accuracy"}
    dictionary: dict[str, Any] = {"options": {"dictionary": str(path)}}
    found = metrics.evaluate_dataset("simplegen", "en", **own, **simplegen, **dictionary)
    assert found.counts["n_correct"] > 0
    expected = metrics.evaluate_dataset("simplegen", "en-es", **given, **simplegen)
    assert found.scores == expected.scores
    message = "none is built in for the language 'gl', only"
    fails(
        MissingOptionError, message, metrics.evaluate_dataset, "simplegen", "en", **own, **simplegen
    )
    others = metrics.evaluate_dataset_by_all("simplegen", "en", **own, evaluator=constant_scores)
    assert message in others.not_run["simplegen_accuracy"]


@cases(
    (["x"], [{**NURSE, "occupation": "pilot"}], {}, "row 0: the dictionary default lacks 1"),
    (["x"], [{**NURSE, "number": "dual"}], {}, "row 0: number: expected one of.*got 'dual'"),
    (["x"], [{**NURSE, "gender": "neutral"}], {}, "row 0: gender: expected one.*got 'neutral'"),
    (["x"], [{**NURSE, "category": "pro"}], {}, "row 0: category: expected one of.*got 'pro'"),
    (["x"], [{**NURSE, "gender": "female"}], {}, "row 0: gender: expected that.*got 'female'"),
    (["x"], [NURSE], {"tgt_lang": "fr"}, "none is built in for the language 'fr', only"),
    (["x"], [NURSE], {"tgt_lang": ""}, "none is built in for the language '', only for de, es"),
    (["x"], [NURSE], {"tgt_lang": "xx"}, "does not know the language 'xx'"),
    (["x"], [NURSE], {"dictionary": "papr"}, "expected one of default, paper, or.*got 'papr'"),
)
def test_bad_persons_fail(predictions: Any, references: Any, options: Any, message: str) -> None:
    refuses(message, simplegen, predictions, references, **{"tgt_lang": "de", **options})


_ROWS = st.lists(st.tuples(_SENTENCES, st.sampled_from([NURSE, PHYSICIAN])), min_size=1, max_size=6)


@given(_ROWS, st.sampled_from(["de", "es"]))
def test_any_text_is_judged_independently_of_other_rows(rows: list[Any], lang: str) -> None:
    found = simplegen([t for t, _ in rows], [r for _, r in rows], tgt_lang=lang, n_resamples=5)
    alone = [simplegen([t], [r], tgt_lang=lang, n_resamples=1) for t, r in rows]
    assert [row["verdicts"][0] for row in alone] == found["verdicts"]
    assert found["n_correct"] + found["n_incorrect"] + found["n_inconclusive"] == len(rows)
    assert found["n_both_genders"] + found["n_no_form"] == found["n_inconclusive"]
    rates = found["accuracy"], found["incorrect_rate"], found["inconclusive_rate"]
    assert sum(rates) == pytest.approx(1)
