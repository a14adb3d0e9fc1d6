"""Figures that say nothing: the language does not show what is asked for, the judge does not react
to the cues, or a handful of sentences was judged.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import ResultWarning
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.fit_to_cite import FEWEST_JUDGEMENTS, reasons_not_to_cite
from cc_hf.gender_marking import MARKING, gender_marking, has_gendered_pronoun
from cc_hf.languages import LANGUAGES
from cc_hf.metrics.headline import headline
from cc_hf.results import EvaluationResult
from cc_hf.signature import parse
from tests.helpers.families import save_tiny_nllb
from tests.helpers.usual import cases, cc_hf, compute_metric, read_json, refuses, write_text

_GENDERS = ("female", "male")
_SAME = "both readings have the same translations"


def knows_women(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Score by the cue alone: translations into all languages are of women."""
    return [0.9 if "[female]" in s or "[flying]" in s else 0.1 for s in sources]


def rows_of(categories: Sequence[str], n: int) -> list[dict[str, Any]]:
    """Return rows whose source asks for the gender that their category ends in, or for a sense."""
    rows = []
    for i in range(n):
        category = categories[i % len(categories)]
        cues = ("[female]", "[male]") if category.endswith("female") else ("[male]", "[female]")
        if not category.endswith("male"):
            cues = ("[flying]", "[baseball]")
        correct, incorrect = (f"The {cue} thing of {i}." for cue in cues)
        sides = {"correct_sources": [correct], "incorrect_sources": [incorrect]}
        rows.append(sides | {"category": category})
    return rows


def judged(
    tgt_lang: str,
    texts: Sequence[str],
    *,
    categories: Sequence[str] = _GENDERS,
    n: int = 40,
    **options: Any,
) -> EvaluationResult:
    """Return the result on `n` translations, which repeat `texts`."""
    translations = [texts[i % len(texts)] + f" {i}" for i in range(n)]
    material = Material("en", tgt_lang, rows_of(categories, n))
    metric = make_metric("contrastive_conditioning", options)
    return judge(metric, material, translations, evaluator=FunctionEvaluator(knows_women))


@pytest.mark.filterwarnings("ignore::cc_hf.errors.ResultWarning")
@cases(
    # nothing marks gender
    ("fi", "Lääkäri lopetti.", _GENDERS, f"Finnish marks no gender: {_SAME}"),
    ("tr", "Doktor işi bıraktı.", _GENDERS, f"Turkish marks no gender: {_SAME}"),
    ("hu", "A pék eladta.", _GENDERS, f"Hungarian marks no gender: {_SAME}"),
    ("fa", "پزشک رفت.", _GENDERS, f"Persian marks no gender: {_SAME}"),
    ("eu", "Medikua joan da.", ("pro/female", "pro/male"), "Basque marks no gender"),
    ("swa", "Daktari aliondoka.", ("female",), "Swahili marks no gender"),
    ("hy", "Բժիշկը գնաց։", _GENDERS, "Armenian marks gender in a few nouns only"),
    # pronouns would, but hardly any is written
    ("zh", "医生走了。", _GENDERS, "only 0 of 40 translations have a pronoun that shows gender"),
    ("ja", "他の医者が帰った。", _GENDERS, "only 0 of 40 translations have a pronoun"),
    ("ko", "그 의사가 떠났다.", _GENDERS, "only 0 of 40 translations have a pronoun"),
    # right neighbours: senses, pronouns that are written, gender in nouns, an unknown language
    ("fi", "Lepakko oli vanha.", ("frequent", "infrequent"), ""),
    ("zh", "蝙蝠很老。", ("all",), ""),
    ("zh", "医生说她累了。", _GENDERS, ""),
    ("zh-TW", "醫生說他累了。", _GENDERS, ""),
    ("ja", "彼女は医者だ。", _GENDERS, ""),
    ("ko", "그녀는 의사다.", _GENDERS, ""),
    ("en", "She is a doctor.", _GENDERS, ""),
    ("de", "Die Ärztin ging.", _GENDERS, ""),
    ("hi", "डॉक्टर चली गई।", _GENDERS, ""),
    ("sv", "Läkaren gick.", _GENDERS, ""),
    ("th", "หมอกลับบ้าน", _GENDERS, ""),
    ("xx", "Xyz.", _GENDERS, ""),
)
def test_a_gender_that_the_language_does_not_show_is_not_judged(
    tgt_lang: str, text: str, categories: Sequence[str], reason: str
) -> None:
    result = judged(tgt_lang, [text], categories=categories)
    assert result.unfit.get("unmarked", "").startswith(reason)
    assert ("unmarked" in result.unfit) == bool(reason)
    assert (reason in headline(result).why_not) == (
        reason in result.why_unfit("corrected_accuracy")
    )
    assert EvaluationResult.from_json(result.to_json()) == result
    assert len(result.judgements) == 40
    assert any(LANGUAGES.get(tgt_lang[:2], "?") in note for note in result.notes) == (
        bool(reason) or "n_marked" in result.counts
    )


@pytest.mark.filterwarnings("ignore::cc_hf.errors.ResultWarning")
def test_the_share_of_translations_with_a_pronoun_stands_beside() -> None:
    texts = ["医生说她累了。", "还有其他医生。", "他走了。", "吉他很好。", "他人走了。"]
    result = judged("zh", texts, n=50)
    assert result.counts["n_marked"] == 20
    assert "20 of 50 translations (40.0 %) have one" in " ".join(result.notes)
    assert "only 20 of 50 translations" in result.why_unfit()
    assert "unmarked" not in judged("zh", texts[:2], n=50).unfit  # half of them
    assert "n_marked" not in judged("fi", ["Hän."]).counts


@pytest.mark.filterwarnings("ignore::cc_hf.errors.ResultWarning")
@cases(
    ("fi", "Hän.", "yes", ""),
    ("zh", "医生。", "yes", ""),
    ("de", "Die Ärztin.", "no", f"these translations mark no gender: {_SAME}"),
    ("sv", "Läkaren.", "no", f"these translations mark no gender: {_SAME}"),
)
def test_an_option_overrides_the_table_and_is_signed(
    tgt_lang: str, text: str, marks: str, reason: str
) -> None:
    usual = judged(tgt_lang, [text])
    result = judged(tgt_lang, [text], marks_gender=marks)
    assert result.unfit.get("unmarked", "") == reason
    assert (result.scores, result.judgements) == (usual.scores, usual.judgements)
    signed = parse(result.signature)[1]
    assert signed.pop("marks") == marks
    assert signed == parse(usual.signature)[1]
    refuses("marks_gender: expected one of table, yes, no", judged, "fi", ["x"], marks_gender="x")


def test_a_language_without_gender_warns_and_says_so_in_compute() -> None:
    given = {"evaluator": knows_women, "src_lang": "en", "tgt_lang": "et"}
    texts = [f"Arst {i}." for i in range(20)]
    with pytest.warns(ResultWarning, match="Estonian marks no gender"):
        actual = compute_metric("contrastive_conditioning", texts, rows_of(_GENDERS, 20), **given)
    assert actual["unfit"] == f"Estonian marks no gender: {_SAME}"


@pytest.mark.filterwarnings("ignore::cc_hf.errors.ResultWarning")
@cases(("zh", "医生说她累了。"), ("zh", "医生。"), ("fi", "Hän."), ("de", "Die Ärztin."))
def test_a_stream_is_as_unfit_as_the_same_rows(tgt_lang: str, text: str) -> None:
    from cc_hf.plugins.scale.row_streams import RowStream
    from cc_hf.plugins.scale.streaming import evaluate_stream

    whole = judged(tgt_lang, [text])
    rows = [
        {"id": str(i), "source": f"The thing of {i}.", "translation": f"{text} {i}", **row}
        for i, row in enumerate(rows_of(_GENDERS, 40))
    ]
    stream = RowStream(rows, "en", tgt_lang, chunk_rows=7)
    streamed = evaluate_stream(stream, evaluator=FunctionEvaluator(knows_women))
    assert streamed.unfit.get("unmarked") == whole.unfit.get("unmarked")
    assert streamed.counts.get("n_marked") == whole.counts.get("n_marked")
    assert {*whole.notes} <= {*streamed.notes}


@pytest.mark.filterwarnings("ignore::cc_hf.errors.ResultWarning")
def test_open_shares_of_women_say_nothing_either() -> None:
    rows = [row | {"open_share": "feminine_share", "category": "all"} for row in rows_of("a", 30)]
    metric = make_metric("contrastive_conditioning")
    material = Material("en", "fi", rows)
    result = judge(
        metric, material, [f"Hän {i}." for i in range(30)], evaluator=FunctionEvaluator(knows_women)
    )
    assert f"Finnish marks no gender: {_SAME}" == headline(result).why_not


_OF_GENDER = {"female": (900, 0), "male": (900, 0)}
_OF_SENSES = {"frequent": (900, 0), "infrequent": (900, 0)}


@cases(
    # random weights
    (_OF_GENDER, "geometric", 0.0003, (0.4, 0.6), "does not react to the cues"),
    (_OF_GENDER, "geometric", 0.028, (0.9, 0.2), "does not react"),
    (_OF_GENDER, "arithmetic", 0.022, (0.9, 0.2), "its mean confidence is 2.2"),
    (_OF_GENDER, "reference", 0.0065, (0.9, 0.2), "its mean confidence is 0.7"),
    (_OF_SENSES, "geometric", 0.0065, (0.9, 0.2), "does not react"),
    ({"all": (100, 0)}, "geometric", 0.003, (0.9, 0.2), "does not react"),
    # hardly surer, and at chance
    (_OF_GENDER, "geometric", 0.05, (0.48, 0.53), "hardly reacts to the cues"),
    (_OF_SENSES, "geometric", 0.015, (0.48, 0.53), "hardly reacts"),
    # right neighbours: recorded judges, a system at chance, few samples, functions, no evaluator
    (_OF_GENDER, "geometric", 0.143, (0.34, 0.78), ""),
    (_OF_GENDER, "arithmetic", 0.0456, (0.34, 0.78), ""),
    (_OF_GENDER, "reference", 0.0489, (0.8, 0.9), ""),
    (_OF_SENSES, "geometric", 0.0393, (0.57, 0.57), ""),
    (_OF_SENSES, "arithmetic", 0.0173, (0.57, 0.57), ""),
    (_OF_GENDER, "geometric", 0.15, (0.5, 0.5), ""),
    (_OF_GENDER, "geometric", 0.05, (0.48, 0.6), ""),
    ({"female": (30, 0), "male": (30, 0)}, "geometric", 0.05, (0.5, 0.5), ""),
    (_OF_GENDER, "own", 0.0003, (0.5, 0.5), ""),
)
def test_a_judge_that_does_not_react_to_the_cues_is_named(
    categories: dict[str, tuple[int, int]],
    score: str,
    confidence: float,
    accuracies: tuple[float, float],
    reason: str,
) -> None:
    signed = {"eval": "org/a@1", "cues": "own", "langs": "en-de", "score": score}
    scores = {
        "mean_confidence": confidence,
        **{f"accuracy_{c}": a for c, a in zip(categories, accuracies, strict=False)},
    }
    given: dict[str, Any] = {"categories": categories, "scores": scores}
    reasons = reasons_not_to_cite(signed, {}, 1800, **given)
    assert reason in reasons.get("unresponsive", "")
    assert [*reasons] == ["unresponsive" if reason else "evaluator"]
    # Ties say the same, and a system that is scored itself is no judge.
    assert [*reasons_not_to_cite(signed, {"n_ties": 900}, 1800, **given)] == ["ties", "evaluator"]
    assert not reasons_not_to_cite({**signed, "sys": "scored"}, {}, 1800, **given)


@cases((1, "only 1 judgement"), (8, "only 8 judgements"), (20, "only 20 judgements"), (21, ""))
def test_few_judgements_are_a_first_look(n: int, reason: str) -> None:
    actual = reasons_not_to_cite({}, {}, n, scores={"accuracy": 0.5})
    assert actual == ({"few": reason} if reason else {})
    assert (n < FEWEST_JUDGEMENTS) == bool(reason)
    limited = reasons_not_to_cite({"data": "winomt/all[first 9]@1"}, {}, 9, scores={"a": 0.5})
    assert list(limited) == ["limit"]


@cases(
    ("n_ties", 5, "ties"),
    ("n_inconclusive", 50, "inconclusive"),
    ("n_neither", 50, "inconclusive"),
    ("n_wrapped", 5, "wrapped"),
    ("n_with_source", 10, "translations"),
    ("n_repeated", 50, "translations"),
    ("n_without_words", 10, "translations"),
    ("n_blank", 10, "translations"),
)
def test_a_count_is_a_reason_above_its_share_alone(count: str, most: int, kind: str) -> None:
    assert reasons_not_to_cite({}, {count: most}, 100) == {}
    assert [*reasons_not_to_cite({}, {count: most + 1}, 100)] == [kind]


_SOURCES = ("The nurse has lost her badge.", "The driver said that he was late.") * 4
_CSV = "source,focus,gold\n" + "".join(
    f"{source},{source.split()[1]},{'female' if ' her ' in source else 'male'}\n"
    for source in _SOURCES
)
_FINNISH = ["Hoitaja on kadottanut kulkulupansa.", "Kuljettaja sanoi olevansa myöhässä."] * 4
_SPANISH = ["La enfermera ha perdido su placa.", "El conductor dijo que llegaba tarde."] * 4


@cases(
    ("fi", _FINNISH, "", "Nothing to judge: Finnish marks no gender", "Nothing: Finnish marks no"),
    (
        "fi",
        _FINNISH,
        "yes",
        "test, English → Finnish",
        "Nothing yet: the evaluator does not",
    ),
    ("es", _SPANISH, "", "test, English → Spanish", "Nothing yet: the evaluator does not"),
)
def test_the_command_line_says_first_that_there_is_nothing_to_judge(
    lang: str, texts: list[str], marks: str, first: str, box: str, tmp_path: Path
) -> None:
    data = write_text(tmp_path / "own/test.csv", _CSV)
    file = write_text(tmp_path / "texts.txt", "\n".join(texts) + "\n")
    judge_folder = save_tiny_nllb(tmp_path / "judge")
    option = ["--option", f"marks_gender={marks}"] if marks else []
    command: list[str | Path] = [
        "evaluate",
        data,
        "-l",
        f"en-{lang}",
        "--translations",
        file,
        *option,
        "--evaluator",
        judge_folder,
        "-o",
        tmp_path / "r.json",
    ]
    printed = cc_hf(*command).stdout
    assert printed.splitlines()[0].startswith(first)
    said = " ".join(printed.partition("What to cite")[2].replace("│", " ").split())
    assert box in said
    assert "minimum accuracy" not in said.partition("They would be")[0]
    unfit = read_json(tmp_path / "r.json")["unfit"]
    kinds = {"unmarked"} if box.startswith("Nothing:") else {"unresponsive", "few"}
    assert unfit.keys() == kinds


def test_the_table_has_known_languages_and_pronouns_where_nothing_else_shows_gender() -> None:
    assert MARKING.keys() <= LANGUAGES.keys()
    assert {m.nouns for m in MARKING.values()} == {"yes", "few", "no"}
    in_pronouns = {code for code, marking in MARKING.items() if marking.is_in_pronouns_only}
    words = {"en": "her", "ja": "彼", "ko": "그는", "zh": "他"}
    assert in_pronouns == words.keys()
    for code, word in words.items():
        assert has_gendered_pronoun(word, code)
        assert not has_gendered_pronoun(word, "fi")
    assert gender_marking("") is None
