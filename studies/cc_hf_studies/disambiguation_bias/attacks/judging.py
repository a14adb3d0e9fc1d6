"""From samples and a system to figures; `cc-hf study disambiguation_bias attack judge` runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.normalization import is_blank
from cc_hf.reading import JSONL, read_lines
from cc_hf.signature import build, parse
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf_studies.disambiguation_bias.attacks.asked import read_translations
from cc_hf_studies.disambiguation_bias.attacks.contrastive import SenseCues
from cc_hf_studies.disambiguation_bias.attacks.judge import (
    AttackFigures,
    JudgeAgreement,
    attack_figures,
    judge_agreement,
)
from cc_hf_studies.disambiguation_bias.attacks.make import file_digest
from cc_hf_studies.disambiguation_bias.attacks.outcomes import (
    LexiconJudge,
    distinct_texts,
    judge_by_cues,
    judge_by_lexicon,
    lexicon_ceiling,
    matched_translations,
    unjudged,
)
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample, AttackJudgement

__all__ = [
    "AttackReport",
    "CueJudge",
    "Translated",
    "attack_json",
    "judge_attacks",
    "translate_or_read",
]


@dataclass(frozen=True)
class CueJudge:
    """Contrastive conditioning as a judge of attacks."""

    cues: SenseCues
    evaluator: Evaluator
    src_lang: str
    tgt_lang: str


class Translated(NamedTuple):
    """The texts of samples with their translations.

    Attributes:
        signature: system and beams, or the hash of the file, for the signature.
        is_complete: whether every text must have a translation. Otherwise samples without one, for
            themselves or for their seed, are not judged.
    """

    system: str
    signature: str
    texts: Mapping[str, str]
    is_complete: bool = True


class AttackReport(NamedTuple):
    """What is known about the attacks on one system; `agreement` is None for one judge."""

    system: str
    figures: Sequence[AttackFigures]
    agreement: JudgeAgreement | None
    signature: str
    notes: Sequence[str] = ()


def translate_or_read(
    samples: Sequence[AdversarialSample],
    system: str | Path | None,
    translations: Path | None = None,
    *,
    name: str | None = None,
    languages: tuple[str, str] = ("en", "de"),
    num_beams: int = 5,
    loading: LoadingOptions | None = None,
    progress: bool = False,
) -> Translated:
    """Translate every distinct text of the samples once, or read its translation.

    Args:
        system: model that translates; None to read `translations`.
        translations: one line for each text of `distinct_texts`, or a JSONL file with the
            translations of a model that was asked, which may lack some; None to translate.
    """
    if not samples:
        raise InputError(
            "samples: expected at least one, got none; make some with `cc-hf study"
            " disambiguation_bias attack build`"
        )
    if (system is None) == (translations is None):
        raise InputError(
            "system, translations: expected one of both, got"
            f" {'neither' if system is None else 'both'}"
        )
    texts = distinct_texts(samples)
    if translations is not None and translations.suffix.lower() in JSONL:
        return Translated(
            name or translations.stem,
            f"{translations.name}@{file_digest(translations)}",
            {t: text for t, text in read_translations(translations).items() if not is_blank(text)},
            is_complete=False,
        )
    if translations is not None:
        lines = read_lines(translations, keeps_end=True)
        return Translated(
            name or translations.stem,
            f"{translations.name}@{file_digest(translations)}",
            matched_translations(texts, lines),
        )
    from cc_hf.systems.translate import translate  # imports torch

    outputs = translate(
        texts,
        system or "",
        src_lang=languages[0],
        tgt_lang=languages[1],
        num_beams=num_beams,
        loading=loading,
        progress=progress,
    )
    label = Path(system or "").name
    return Translated(
        name or label, f"{label}.beam{num_beams}", dict(zip(texts, outputs, strict=True))
    )


def judge_attacks(
    samples: Sequence[AdversarialSample],
    translated: Translated,
    *,
    samples_path: Path | None = None,
    lexicon: LexiconJudge | None = None,
    cues: CueJudge | None = None,
    bootstrap: Bootstrap | None = None,
    progress: bool = False,
) -> tuple[list[AttackJudgement], AttackReport]:
    """Judge the homograph in every translation by lexicon or cues, and count successes."""
    if lexicon is None and cues is None:
        raise InputError("judge: expected a lexicon, cues or both, got neither")
    bootstrap = bootstrap or Bootstrap()
    fields: dict[str, str | int] = {
        "samples": "given" if samples_path is None else file_digest(samples_path),
        "sys": translated.signature,
    }
    notes: list[str] = []
    if not translated.is_complete:
        samples, n_all = _translated(samples, translated.texts), len(samples)
        notes.append(
            f"{len(samples):,} of {n_all:,} samples are judged: those with a valid translation of"
            " both the sentence and its seed"
        )
    if lexicon is not None:
        judged = judge_by_lexicon(samples, translated.texts, lexicon)
        fields |= lexicon.signature_fields()
        notes.append(lexicon_ceiling(samples, lexicon))
    else:
        judged = list(unjudged(samples, translated.texts))
    if cues is not None:
        judged, result = judge_by_cues(
            judged,
            cues.cues,
            cues.evaluator,
            src_lang=cues.src_lang,
            tgt_lang=cues.tgt_lang,
            progress=progress,
        )
        scored = parse(result.signature)[1]
        notes += result.notes
        fields["cues"] = f"{cues.cues.name}.{cues.cues.n}.{cues.cues.placement}"
        fields |= {key: scored[key] for key in ("eval", "dtype", "score") if key in scored}
        systems = (translated.signature, translated.system)
        reasons = (reasons_not_to_cite({**scored, "sys": name}, {}, 0) for name in systems)
        notes += [of["itself"] for of in reasons if "itself" in of][:1]
        n_without = sum(judgement.probability_correct is None for judgement in judged)
        if n_without:
            notes.append(
                f"Contrastive conditioning judges {len(judged) - n_without:,} of"
                f" {len(judged):,} samples; the others have a sense without cues"
            )
    judges = [
        *(["lexicon"] if lexicon is not None else []),
        *(["contrastive"] if cues is not None else []),
    ]
    figures = [attack_figures(judged, judge=judge) for judge in judges]
    fields |= {
        "n": len(samples),
        "boot": bootstrap.n_resamples,
        "seed": bootstrap.seed,
    }
    agreement = judge_agreement(judged, bootstrap=bootstrap) if len(judges) > 1 else None
    signature = build("attack", fields)
    return judged, AttackReport(translated.system, figures, agreement, signature, notes)


def _translated(
    samples: Sequence[AdversarialSample], texts: Mapping[str, str]
) -> list[AdversarialSample]:
    kept = [s for s in samples if s.source in texts and s.seed_source in texts]
    if not kept:
        raise InputError(
            "translations: expected a translation of at least one sample and its seed, got none;"
            " give the file that `cc-hf ask SAMPLES --output` wrote for the same samples"
        )
    return kept


def attack_json(report: AttackReport) -> dict[str, Any]:
    """Return the figures as plain dicts with rates in [0, 1]."""
    return {
        "signature": report.signature,
        "system": report.system,
        "judges": {figures.judge: figures.to_dict() for figures in report.figures},
        "agreement": None if report.agreement is None else asdict(report.agreement),
        "notes": list(report.notes),
    }
