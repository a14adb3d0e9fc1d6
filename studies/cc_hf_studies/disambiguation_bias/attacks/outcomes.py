"""Judge translations of samples and their seeds: by the senses of a lexicon, and by contrastive
conditioning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf.data.files.sense_rows import senses_text
from cc_hf.errors import InputError, shown
from cc_hf.evaluators.resolve import AnyEvaluator
from cc_hf.metrics.alignments import chosen_aligner
from cc_hf.normalization import composed
from cc_hf.results import EvaluationResult
from cc_hf.test_sets.mucow.homograph_accuracy import (
    HomographOutcome,
    aligned_texts,
    ceiling_note,
    outcomes,
    reference_outcomes,
)
from cc_hf.text.alignment import Aligner, find_aligner
from cc_hf.text.lemmatization import Lemmatizer, check_language, find_lemmatizer
from cc_hf_studies.disambiguation_bias.attacks.contrastive import (
    SenseCues,
    conditioned_probabilities,
    conditioned_rows,
)
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample, AttackJudgement
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon

__all__ = [
    "LexiconJudge",
    "distinct_texts",
    "judge_by_cues",
    "judge_by_lexicon",
    "lexicon_ceiling",
    "matched_translations",
    "unjudged",
]


def distinct_texts(samples: Iterable[AdversarialSample]) -> list[str]:
    """Return the texts that must be translated, each once: every seed before its first sample."""
    texts: dict[str, None] = {}
    for sample in samples:
        texts.setdefault(sample.seed_source)
        texts.setdefault(sample.source)
    return list(texts)


def matched_translations(texts: Sequence[str], lines: Sequence[str]) -> dict[str, str]:
    """Return text -> translation."""
    if len(lines) != len(texts):
        raise InputError(
            f"translations: expected one line for each distinct text, {len(texts)} in all, got"
            f" {len(lines)}; translate the file of `cc-hf study disambiguation_bias attack build"
            f" --sources`"
        )
    return dict(zip(texts, lines, strict=True))


@dataclass(frozen=True)
class LexiconJudge:
    """How the sense of a homograph is read in a translation.

    Attributes:
        search: a name of `cc_hf.test_sets.mucow.homograph_accuracy.SEARCHES`.
        alignments: alignments that replace the aligner: a Pharaoh file or its lines, one for each
            text of `distinct_texts`, by indices of `cc_hf.text.tokenization.word_tokens`.
    """

    lexicon: HomographLexicon
    search: str = "anywhere"
    aligner: str | Aligner = "fast_align"
    lemmatizer: str | Lemmatizer = "simplemma"
    alignments: str | Path | Sequence[str] | None = None

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of a signature."""
        return {
            "lexicon": self.lexicon.sha256[:7],
            "align": chosen_aligner(self.aligner, self.alignments).signature_name,
            "search": self.search,
            "lemma": find_lemmatizer(self.lemmatizer).name,
        }


# A text, its homograph with its position, and the right sense: what an outcome depends on.
_Question = tuple[str, str, int, str]


def judge_by_lexicon(
    samples: Sequence[AdversarialSample], translations: Mapping[str, str], judge: LexiconJudge
) -> list[AttackJudgement]:
    """Return the outcome of the homograph in each seed and in each sample."""
    texts = distinct_texts(samples)
    _check_translated(texts, translations)
    lemmatizer = find_lemmatizer(judge.lemmatizer)
    check_language(judge.lexicon.tgt_lang, lemmatizer)
    composed_texts = {text: composed(translations[text]) for text in texts}
    aligner = chosen_aligner(judge.aligner, judge.alignments)
    # All translations are aligned together, each distinct text once.
    links = aligner.align(*aligned_texts(texts, list(composed_texts.values())))
    link_of = dict(zip(texts, links, strict=True))
    questions = list(dict.fromkeys(q for sample in samples for q in _questions(sample)))
    senses = _senses(samples, judge.lexicon)
    answers = dict(
        zip(
            questions,
            outcomes(
                [composed_texts[text] for text, *_ in questions],
                [_row(question, senses) for question in questions],
                [link_of[text] for text, *_ in questions],
                tgt_lang=judge.lexicon.tgt_lang,
                search=judge.search,
                lemmatizer=lemmatizer,
            ),
            strict=True,
        )
    )
    return [_judgement(sample, translations, answers) for sample in samples]


def lexicon_ceiling(samples: Sequence[AdversarialSample], judge: LexiconJudge) -> str:
    """Return in how many references of seeds the judge finds the right sense, as a note."""
    senses = _senses(samples, judge.lexicon)
    seeds = {_questions(sample)[0]: sample.seed_reference for sample in samples}
    return ceiling_note(
        reference_outcomes(
            [
                _row(question, senses) | {"reference": composed(reference)}
                for question, reference in seeds.items()
            ],
            find_aligner(judge.aligner),
            tgt_lang=judge.lexicon.tgt_lang,
            search=judge.search,
            lemmatizer=find_lemmatizer(judge.lemmatizer),
        ),
        judge.search,
    )


def _row(question: _Question, senses: Mapping[str, str]) -> dict[str, Any]:
    text, homograph, start, cluster = question
    return {
        "source": text,
        "homograph": homograph,
        "start": start,
        "cluster": cluster,
        "senses": senses[homograph],
    }


def _questions(sample: AdversarialSample) -> tuple[_Question, _Question]:
    homograph, cluster = sample.homograph, sample.seed_cluster
    return (
        (sample.seed_source, homograph, sample.seed_homograph_start, cluster),
        (sample.source, homograph, sample.homograph_start, cluster),
    )


def _senses(samples: Iterable[AdversarialSample], lexicon: HomographLexicon) -> dict[str, str]:
    texts: dict[str, str] = {}
    for sample in samples:
        for cluster in (sample.seed_cluster, sample.adv_cluster):
            lexicon.check(sample.homograph, cluster, f"sample {sample.id!r}")
        if sample.homograph not in texts:
            texts[sample.homograph] = senses_text(lexicon.clusters(sample.homograph))
    return texts


def _judgement(
    sample: AdversarialSample,
    translations: Mapping[str, str],
    answers: Mapping[_Question, HomographOutcome],
) -> AttackJudgement:
    seed, attacked = (_outcome(sample, answers[question]) for question in _questions(sample))
    return AttackJudgement(
        sample, translations[sample.seed_source], translations[sample.source], seed, attacked
    )


def _outcome(sample: AdversarialSample, outcome: HomographOutcome) -> str:
    if outcome.kind != "flipped":
        return outcome.kind
    is_adversarial = sample.adv_cluster in outcome.clusters
    return f"flipped:{sample.adv_cluster if is_adversarial else outcome.clusters[0]}"


def judge_by_cues(
    judgements: Sequence[AttackJudgement],
    cues: SenseCues,
    evaluator: AnyEvaluator,
    *,
    src_lang: str,
    tgt_lang: str,
    progress: bool = False,
) -> tuple[list[AttackJudgement], EvaluationResult]:
    """Add the probability of the right sense, by contrastive conditioning, to judgements."""
    translations = {j.sample.seed_source: j.seed_translation for j in judgements}
    translations |= {j.sample.source: j.translation for j in judgements}
    pairs = conditioned_rows([judgement.sample for judgement in judgements], cues)
    probabilities, result = conditioned_probabilities(
        [row for pair in pairs if pair is not None for row in pair],
        translations,
        evaluator,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        progress=progress,
    )
    return [
        judgement
        if pair is None
        else replace(
            judgement,
            seed_probability_correct=probabilities[pair[0]],
            probability_correct=probabilities[pair[1]],
        )
        for judgement, pair in zip(judgements, pairs, strict=True)
    ], result


def unjudged(
    samples: Iterable[AdversarialSample], translations: Mapping[str, str]
) -> Iterator[AttackJudgement]:
    """Yield the samples with their translations, before any judge."""
    for sample in samples:
        _check_translated([sample.seed_source, sample.source], translations)
        yield AttackJudgement(sample, translations[sample.seed_source], translations[sample.source])


def _check_translated(texts: Iterable[str], translations: Mapping[str, Any]) -> None:
    missing = next((text for text in texts if text not in translations), None)
    if missing is not None:
        raise InputError(f"expected a translation of each text, got none of {shown(missing)}")
