from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from cc_hf_studies.disambiguation_bias.attacks import judging
from cc_hf_studies.disambiguation_bias.attacks.contrastive import SenseCues, conditioned_rows
from cc_hf_studies.disambiguation_bias.attacks.judge import attack_figures, judge_agreement
from cc_hf_studies.disambiguation_bias.attacks.outcomes import (
    LexiconJudge,
    distinct_texts,
    judge_by_cues,
    judge_by_lexicon,
    matched_translations,
    unjudged,
)
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample, AttackJudgement
from cc_hf_studies.disambiguation_bias.attacks.tables import attack_page
from cc_hf_studies.disambiguation_bias.attractors import count_attractors

from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.text.alignment import Alignment
from studies.tests.disambiguation_bias.attacks.helper import sample_of, training_pairs
from studies.tests.disambiguation_bias.corpus import lexicon_of
from tests.helpers.usual import cases, known, refuses

LEXICON = lexicon_of(spring={"season": "Frühling", "water": "Quelle", "metal": "Feder"})
SAMPLES = [sample_of("hot"), sample_of("old")]


class SamePositions:
    """An aligner of sentences that are translated word for word."""

    signature_name = "same"

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> list[Alignment]:
        pairs = zip(sources, translations, strict=True)
        lengths = [min(len(source.split()), len(text.split())) for source, text in pairs]
        return [tuple((i, i) for i in range(n)) for n in lengths]


WORDS = {"a": "ein", "an": "ein", "came": "kam", "hot": "heiss", "old": "alt", ".": "."}


def translated(samples: Sequence[AdversarialSample], **senses: str) -> dict[str, str]:
    """Return translations word for word; the spring is that of `senses` beside an adjective."""
    texts = {}
    for text in distinct_texts(samples):
        words = text.lower().split()
        sense = next((senses[word] for word in words if word in senses), "Frühling")
        texts[text] = " ".join(sense if word == "spring" else WORDS[word] for word in words)
    return texts


def lexicon_judge(search: str = "aligned") -> LexiconJudge:
    return LexiconJudge(LEXICON, search=search, aligner=SamePositions())


def given(samples: Sequence[AdversarialSample], system: str = "mine", **senses: str) -> Any:
    return judging.Translated(system, "mine@1", translated(samples, **senses))


@cases(
    ("Quelle", "flipped:water", True),
    ("Feder", "flipped:metal", False),
    ("Frühling", "correct", False),
    ("Brunnen", "unknown", False),
)
def test_an_attack_succeeds_by_the_attracted_sense(word: str, outcome: str, succeeds: bool) -> None:
    samples = SAMPLES[:1]
    (judgement,) = judge_by_lexicon(samples, translated(samples, hot=word), lexicon_judge())
    assert (judgement.seed_outcome, judgement.outcome) == ("correct", outcome)
    assert judgement.succeeds("lexicon") is succeeds
    assert judgement.succeeds("contrastive") is None


def test_a_seed_that_is_not_translated_correctly_does_not_count() -> None:
    texts = translated(SAMPLES[:1], hot="Quelle") | {"A spring came .": "ein Quelle kam ."}
    (judgement,) = judge_by_lexicon(SAMPLES[:1], texts, lexicon_judge())
    assert judgement.seed_outcome == "flipped:water"
    assert judgement.succeeds("lexicon") is None
    refuses("seed is translated correctly, by the judge lexicon", attack_figures, [judgement])


def test_a_word_elsewhere_counts_only_in_a_search_of_the_sentence() -> None:
    texts = translated(SAMPLES[:1]) | {SAMPLES[0].source: "ein Quelle Brunnen kam ."}
    for search, outcome in (("aligned", "unknown"), ("anywhere", "flipped:water")):
        (judgement,) = judge_by_lexicon(SAMPLES[:1], texts, lexicon_judge(search))
        assert judgement.outcome == outcome


def many() -> list[AttackJudgement]:
    """Return judgements of 40 samples, of which those with a high bias succeed more often."""
    judgements = []
    for number in range(40):
        names = {"id": str(number), "seed_id": str(number // 4)}
        kind = "insert_at_homograph" if number % 2 else "replace_at_other"
        sample = sample_of("hot", **names, kind=kind, freq_diff=float(number), ppmi_diff=0.0)
        flipped = number >= 30 or (number % 2 == 1 and number > 20)
        outcome = "flipped:water" if flipped else "flipped:metal" if number < 3 else "correct"
        seed = "deleted" if number == 39 else "correct"
        judgements.append(AttackJudgement(sample, "t", "t", seed, outcome))
    return judgements


def test_success_is_counted_by_kind_and_by_bias() -> None:
    figures = attack_figures(many())
    assert (figures.n_samples, figures.n_seeds, figures.n_seeds_correct) == (40, 10, 10)
    by_kind = {kind: (share.n, share.k) for kind, share in figures.by_kind.items()}
    assert by_kind == {"insert_at_homograph": (19, 9), "replace_at_other": (20, 5)}
    assert len(figures.by_bias) == 10
    assert [share.value for _, share in figures.by_bias[::9]] == [0.0, 1.0]
    assert isinstance(figures.total.interval, Interval)
    assert figures.total.interval.low < figures.total.value < figures.total.interval.high
    by_name = {test.feature: test for test in known(figures.prediction).tests}
    assert by_name["freq_diff"].test.rank_biserial > 0.8
    assert (by_name["freq_diff"].size, by_name["ppmi_diff"].test.rank_biserial) == ("large", 0.0)


def cue_evaluator(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Prefer sources with "flowers" for the season, and those with "hills" for the water."""
    cue = {"Frühling": "flowers", "Quelle": "hills"}
    pairs = zip(sources, translations, strict=True)
    return [0.9 if any(w in text and cue[w] in s for w in cue) else 0.3 for s, text in pairs]


CUES = SenseCues({"spring": {"season": ("flowers", "May"), "water": ("hot", "hills")}}, n=2)
CUE_JUDGE = judging.CueJudge(CUES, cue_evaluator, "en", "de")  # type: ignore[arg-type]


def test_contrastive_conditioning_judges_without_words_of_the_target_language() -> None:
    rows = list(unjudged(SAMPLES, translated(SAMPLES, hot="Quelle")))
    judgements, result = judge_by_cues(rows, CUES, cue_evaluator, src_lang="en", tgt_lang="de")
    assert [judgement.seed_probability_correct for judgement in judgements] == [0.75, 0.625]
    assert [judgement.probability_correct for judgement in judgements] == [0.25, 0.625]
    assert [judgement.succeeds("contrastive") for judgement in judgements] == [True, False]
    assert [judgement.succeeds("lexicon") for judgement in judgements] == [None, None]
    assert result.signature.startswith("cc|")


def test_cues_are_put_before_the_homograph_and_are_new_in_the_sentence() -> None:
    others = replace(CUES, placement="instead"), SenseCues({"spring": {"season": ("May",)}})
    both: list[Any] = [conditioned_rows(SAMPLES[:1], cues)[0] for cues in (CUES, *others)]
    before, instead, unknown = both
    assert before[0].correct == ("A flowers spring came .",)
    assert before[0].incorrect == ("A hills spring came .",)
    assert before[1].incorrect == ("A hot hills spring came .",)
    assert (instead[1].incorrect, unknown) == (("A hot hills came .",), None)
    refuses("placement: expected one of before, instead", SenseCues, {}, placement="after")
    refuses("n: expected an integer of at least 1", SenseCues, {}, n=0)


def test_cues_of_attractors_go_with_one_sense_only() -> None:
    cues = SenseCues.from_attractors(count_attractors(training_pairs()), n=2)
    assert "the" not in cues.words["spring"]["season"]
    assert "hills" in cues.words["spring"]["water"]
    assert cues.of("spring", "water", "The hills .")[0] != "hills"


def test_the_agreement_of_the_judges_counts_seeds_that_both_find_correct() -> None:
    judgements = [
        replace(row, seed_probability_correct=0.8, probability_correct=0.2 if i >= 25 else 0.9)
        for i, row in enumerate(many())
    ]
    judgements[0] = replace(judgements[0], seed_probability_correct=0.1)
    agreement = known(judge_agreement(judgements, bootstrap=Bootstrap(n_resamples=100)))
    assert (agreement.n, agreement.n_success, agreement.n_both) == (38, (14, 14), 12)
    assert agreement.agreement == pytest.approx(34 / 38)
    assert 0.7 < agreement.kappa < 0.8
    assert (agreement.n_seeds_agree, agreement.n_seeds) == (38, 40)
    assert judge_agreement(many()) is None


def test_the_road_of_both_judges_and_its_signature() -> None:
    judges = {"lexicon": lexicon_judge(), "cues": CUE_JUDGE, "bootstrap": Bootstrap(n_resamples=10)}
    judged, report = judging.judge_attacks(SAMPLES, given(SAMPLES, hot="Quelle"), **judges)  # type: ignore[arg-type]
    assert len(judged) == 2
    assert [figures.judge for figures in report.figures] == ["lexicon", "contrastive"]
    assert [figures.total.value for figures in report.figures] == [0.5, 0.5]
    assert known(report.agreement).kappa == 1.0
    searched = {"search:aligned", "align:same", "lexicon:aaaaaaa"}
    assert {"sys:mine@1", "cues:given.2.before", *searched} <= set(report.signature.split("|"))
    assert report.notes[0].startswith("The ceiling is unknown: ")
    row = judging.attack_json(report)
    lexicon = row["judges"]["lexicon"]
    total = [("name", ""), ("n", 2), ("n_success", 1), ("rate", 0.5)]
    assert list(lexicon["total"].items())[:4] == total
    assert [rate["name"] for rate in lexicon["by_kind"]] == list(report.figures[0].by_kind)
    assert list(lexicon)[-4:] == ["total", "by_kind", "by_bias", "prediction"]
    assert row["agreement"]["n_both"] == 1


def test_the_lexicon_searches_the_whole_translation_and_says_its_ceiling() -> None:
    samples = [
        sample_of(word, id=word, seed_source=seed, seed_reference=reference)
        for word, seed, reference in (
            ("hot", "A spring came .", "Ein Frühling kam ."),
            ("old", "A spring came .", "Ein Frühling kam ."),  # the same seed, which counts once
            ("two", "A spring !", "Der Lenz !"),
            ("warm", "A spring ?", ""),
        )
    ]
    texts = judging.Translated("mine", "mine@1", dict.fromkeys(distinct_texts(samples), "Frühling"))
    few = Bootstrap(n_resamples=10)
    _, report = judging.judge_attacks(samples, texts, lexicon=LexiconJudge(LEXICON), bootstrap=few)
    assert "|search:anywhere|" in report.signature
    (note,) = report.notes
    assert "ceiling is 50.0 %: search=anywhere" in note
    assert "1 of 2 reference" in note
    assert judging.attack_json(report)["notes"] == [note]
    assert "1 of 2 reference" in attack_page(report, [])


def test_samples_without_cues_are_named_in_a_note() -> None:
    samples = [SAMPLES[0], sample_of("old", id="x", adv_cluster="metal")]
    _, report = judging.judge_attacks(samples, given(samples, hot="Quelle"), cues=CUE_JUDGE)
    *_, note = report.notes
    assert note.endswith("judges 1 of 2 samples; the others have a sense without cues")


def test_a_system_that_judged_itself_is_named_in_a_note() -> None:
    for system, is_noted in (("function cue_evaluator", True), ("mine", False)):
        texts = given(SAMPLES[:1], system, hot="Quelle")
        _, report = judging.judge_attacks(SAMPLES[:1], texts, cues=CUE_JUDGE)
        assert any(note.startswith("judged by itself") for note in report.notes) == is_noted


def test_bad_input_is_refused() -> None:
    samples, texts = SAMPLES[:1], given(SAMPLES[:1])
    refuses("expected a lexicon, cues or both", judging.judge_attacks, samples, texts)
    refuses("each text, got none of 'A spring came", judge_by_lexicon, samples, {}, lexicon_judge())
    refuses("distinct text, 2 in all, got 1", matched_translations, distinct_texts(samples), ["x"])
    refuses("expected one of both, got neither", judging.translate_or_read, samples, None)
    refuses("samples: expected at least one", judging.translate_or_read, [], "cc-tiny-en-de")
    refuses(
        r"sample .* expected a cluster of 'spring'",
        judge_by_lexicon,
        [sample_of("hot", adv_cluster="jump")],
        texts.texts,
        lexicon_judge(),
    )
    refuses(
        "senses have cues, got none",
        judging.judge_attacks,
        samples,
        texts,
        cues=replace(CUE_JUDGE, cues=SenseCues({})),
    )


def test_each_distinct_text_is_translated_once() -> None:
    samples = [*SAMPLES, sample_of("old", id="x")]
    texts = ["A spring came .", "A hot spring came .", "An old spring came ."]
    assert distinct_texts(samples) == texts
    actual = judging.translate_or_read(samples, "cc-tiny-en-de", num_beams=1)
    assert (list(actual.texts), actual.system) == (texts, "cc-tiny-en-de")
    assert all(actual.texts.values())
