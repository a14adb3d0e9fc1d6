"""Released verdicts on translations of Google (Zaranis et al. 2025, section 5.2): whether
`gender_accuracy` and contrastive conditioning agree with them, and which gender a judge prefers
where the translations of both are right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.data.declaration import SourceFile
from cc_hf.data.download import fetch
from cc_hf.errors import FileError, InputError, shown
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import Material, load_material
from cc_hf.evaluators.resolve import AnyEvaluator
from cc_hf.reading import finite_number
from cc_hf.records import WORD
from cc_hf.results import Interval, NoInterval
from cc_hf.rules import OneOf
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import share_interval
from cc_hf.statistics.separation import auc, auc_interval
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf.test_sets.mt_geneval import gender_accuracy
from cc_hf_studies.common.rank_tests import signed_rank
from cc_hf_studies.metric_bias.calibration import probability
from cc_hf_studies.metric_bias.preference import PairShare, Preference, mean_interval, preference

__all__ = [
    "Checked",
    "TranslatedPair",
    "VerdictAgreement",
    "WordRule",
    "checked",
    "comparable",
    "released_pairs",
    "word_rule",
]

_REPOSITORY, _COMMIT = (
    "deep-spin/gender-bias-qe-metrics",
    "ba9a5e328ea9773787d656e7df042114f53c2d5a",
)
_PATH = "data/mtgeneval/google_translated_counterfactual/mt_geneval_sentences_en_{}.csv"
#: Target language -> sha256 and size of the file.
_FILES = {
    "ar": ("735402e0b8aa763c584af33d679152d5c969def035b9df8c5483b06df6dfcd1e", 612418),
    "de": ("b8b5b991305717d8a6ab8a242eef868ea10177b15134bf93d38c5aa3ead0d27b", 528253),
    "fr": ("2a350f971bc7f11c92f71ebdd0dd4f91f5fe6f0472f8f5d093ee23d1d1bdbe71", 547371),
    "it": ("6be1bc7f1ff917ada69d17217fadcfa94cf9a4bbd664706feda986fd5da24df6", 537790),
    "pt": ("d6ca6fae79b0a0503fe832585beaa3fe6c549f21616a2d87739c1779670bbf33", 503270),
}
_GENDERS = ("male", "female")
_COLUMN = {"male": "masculine", "female": "feminine"}
_VERDICTS = ("Correct", "Incorrect")
_FORM = {
    "orig_id": WORD,
    **{
        f"{kind}_{c}": WORD
        for kind in ("source", "translate", "reference")
        for c in _COLUMN.values()
    },
    **{f"{g}_quality_bins": str for g in "mf"},
    **{f"scores_{g}_bleu": WORD for g in "mf"},
    **{f"decision_{g}": OneOf(*_VERDICTS) for g in "mf"},
}
_FEWEST = 10  # rows of a bin of quality
_LEVEL = 0.05  # of the difference in BLEU within a bin
_VERSION = 1
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TranslatedPair:
    """A sentence of MT-GenEval and its counterfactual, translated: values for male and for female.

    Attributes:
        is_correct: the released verdicts.
        bleu: BLEU of the translations, in percent.
        quality: names of the bins of BLEU, such as Excellent; "" for a BLEU of exactly 100, which
            the released files forgot.
    """

    id: str
    sources: Mapping[str, str]
    references: Mapping[str, str]
    translations: Mapping[str, str]
    is_correct: Mapping[str, bool]
    bleu: Mapping[str, float]
    quality: Mapping[str, str]


def released_pairs(tgt_lang: str, data_dir: str | Path | None = None) -> list[TranslatedPair]:
    """Return the 300 pairs of a language."""
    if tgt_lang not in _FILES:
        raise InputError(f"tgt_lang: expected one of {', '.join(_FILES)}, got {tgt_lang or 'none'}")
    file = SourceFile(_REPOSITORY, _COMMIT, _PATH.format(tgt_lang), *_FILES[tgt_lang])
    path = fetch(file, data_dir)
    pairs = []
    for where, row in read_rows(path, TABLES[:1], _FORM):
        bleu = {}
        for gender in _GENDERS:
            name = f"scores_{gender[0]}_bleu"
            score = finite_number(row[name])
            if score is None:
                raise FileError(where, f"{name}: expected a number, got {shown(row[name])}")
            bleu[gender] = score
        sources, references, translations = (
            {gender: row[f"{kind}_{_COLUMN[gender]}"] for gender in _GENDERS}
            for kind in ("source", "reference", "translate")
        )
        is_correct = {g: row[f"decision_{g[0]}"] == _VERDICTS[0] for g in _GENDERS}
        quality = {g: row[f"{g[0]}_quality_bins"] for g in _GENDERS}
        texts = (sources, references, translations)
        pairs.append(TranslatedPair(row["orig_id"], *texts, is_correct, bleu, quality))
    return pairs


@dataclass(frozen=True, slots=True)
class WordRule:
    """The verdicts of `gender_accuracy` beside the released ones.

    Attributes:
        n_correct: gender -> number of correct translations; "both" of pairs.
        n_agree: number of translations with the released verdict.
        n_undecided: number of translations without a word of one reference only.
        is_decided: gender -> for each pair, whether the translation is not one of these.
    """

    n_correct: dict[str, int]
    n_agree: int
    n_undecided: int
    is_decided: dict[str, list[bool]]


def word_rule(pairs: Sequence[TranslatedPair], tokens: str) -> WordRule:
    """Judge translations by their words.

    Args:
        tokens: how texts are split, "mt_geneval" or "split", from which the released verdicts
            follow.

    Examples:
        >>> texts = {"male": "Er ist Arzt.", "female": "Sie ist Ärztin."}
        >>> flags, numbers, none = ({g: value for g in texts} for value in (True, 50.0, ""))
        >>> pair = TranslatedPair("0", none, texts, texts, flags, numbers, none)
        >>> word_rule([pair], "split").n_correct
        {'male': 1, 'female': 1, 'both': 1}
    """
    verdicts = {}
    for gender, other in zip(_GENDERS, reversed(_GENDERS), strict=True):
        references = [
            {"reference": p.references[gender], "contrastive_reference": p.references[other]}
            for p in pairs
        ]
        texts = [p.translations[gender] for p in pairs]
        verdicts[gender] = gender_accuracy.judge_rows(texts, references, tokens=tokens)
    correct = {gender: [j.is_correct for j in judged] for gender, judged in verdicts.items()}
    is_decided = {
        gender: [j.predicted != "" for j in judged] for gender, judged in verdicts.items()
    }
    return WordRule(
        {
            **{gender: sum(flags) for gender, flags in correct.items()},
            "both": sum(map(all, zip(*correct.values(), strict=True))),
        },
        sum(
            flag == pair.is_correct[gender]
            for gender, flags in correct.items()
            for flag, pair in zip(flags, pairs, strict=True)
        ),
        sum(not flag for flags in is_decided.values() for flag in flags),
        is_decided,
    )


def comparable(pairs: Sequence[TranslatedPair]) -> list[int]:
    """Return the pairs whose translations are right and equally good, as the paper chooses them.

    Both verdicts are correct, and both translations are in the same bin of BLEU. The bin has at
    least 10 such pairs, and no difference of BLEU (signed ranks, p < 0.05).
    """
    by_bin: dict[str, list[int]] = defaultdict(list)
    for position, pair in enumerate(pairs):
        first, second = (pair.quality[gender] for gender in _GENDERS)
        if all(pair.is_correct.values()) and first == second != "":
            by_bin[first].append(position)
    chosen = []
    for positions in by_bin.values():
        bleu = [[pairs[position].bleu[gender] for position in positions] for gender in _GENDERS]
        if len(positions) >= _FEWEST and signed_rank(*map(np.array, bleu)) >= _LEVEL:
            chosen += positions
    return sorted(chosen)


@dataclass(frozen=True, slots=True)
class VerdictAgreement:
    """Contrastive conditioning beside the released verdicts: how many are the same, over all
    translations and over those that were released as correct or as incorrect.

    Attributes:
        auc: how often a correct translation has the higher probability of two, in [0, 1].
    """

    share: PairShare
    of_correct: PairShare
    of_incorrect: PairShare
    auc: float
    auc_interval: Interval | NoInterval


@dataclass(frozen=True)
class Checked:
    """The released verdicts of a language, and what is read in the same translations.

    Attributes:
        n_correct: gender -> number of correct translations by the released verdicts; "both" of
            pairs.
        n_equal: number of pairs with the same translation for both genders.
        n_comparable: number of pairs that `comparable` chooses.
        rules: option `tokens` of `gender_accuracy` -> its verdicts.
        preference: which translation of comparable pairs a judge finds better, each under its own
            source, in nats per token; None without a judge.
        ratio, ratio_interval: mean there of the feminine score divided by the masculine one, where
            scores are the geometric mean probability of a token, with a bootstrap over pairs.
        agreement: "all" and "decided" translations (with a word of one reference only, by "split")
            -> the agreement of contrastive conditioning, where the source of the other gender is
            the incorrect one. {} without a judge.
    """

    n_correct: Mapping[str, int]
    n_equal: int
    n_comparable: int
    rules: Mapping[str, WordRule]
    preference: Preference | None
    ratio: float | None
    ratio_interval: Interval | NoInterval | None
    agreement: Mapping[str, VerdictAgreement]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def checked(
    tgt_lang: str,
    judge: AnyEvaluator | None = None,
    *,
    data_dir: str | Path | None = None,
    bootstrap: Bootstrap | None = None,
    progress: bool = False,
) -> Checked:
    """Compare `gender_accuracy`, and a judge, with the released verdicts."""
    bootstrap = bootstrap or Bootstrap()
    pairs = released_pairs(tgt_lang, data_dir)
    chosen = comparable(pairs)
    rules = {tokens: word_rule(pairs, tokens) for tokens in ("mt_geneval", "split")}
    fields: dict[str, str | int] = {"langs": f"en-{tgt_lang}"}
    lean, ratios, agreement = None, np.zeros(0), dict[str, VerdictAgreement]()
    if judge is not None:
        material = load_material("mt_geneval", f"counterfactual_{tgt_lang}", data_dir=data_dir)
        probabilities, scores, used = _conditioned(material, pairs, judge, bootstrap, progress)
        fields |= {key: used[key] for key in ("cues", "eval", "dtype", "score") if key in used}
        logs = np.log(scores[chosen])
        lean = preference(
            logs, probabilities=probability(logs[:, 0] - logs[:, 1]), bootstrap=bootstrap
        )
        ratios = scores[chosen, 1] / scores[chosen, 0]
        verdicts = np.array([[pair.is_correct[gender] for gender in _GENDERS] for pair in pairs])
        decided = np.array([rules["split"].is_decided[gender] for gender in _GENDERS]).T
        agreement = {
            name: _agreement(probabilities, verdicts, chosen_rows, bootstrap)
            for name, chosen_rows in (("all", np.ones_like(decided)), ("decided", decided))
        }
    correct = [[pair.is_correct[gender] for pair in pairs] for gender in _GENDERS]
    return Checked(
        {
            **{gender: sum(flags) for gender, flags in zip(_GENDERS, correct, strict=True)},
            "both": sum(map(all, zip(*correct, strict=True))),
        },
        sum(pair.translations["male"] == pair.translations["female"] for pair in pairs),
        len(chosen),
        rules,
        lean,
        float(ratios.mean()) if len(ratios) else None,
        mean_interval(ratios, bootstrap) if len(ratios) else None,
        agreement,
        signature.build(
            "metric_bias.verdicts",
            {
                "data": f"{_REPOSITORY}@{_COMMIT[:7]}",
                **fields,
                "n": 2 * len(pairs),
                "boot": bootstrap.n_resamples,
                "seed": bootstrap.seed,
                "m": _VERSION,
            },
        ),
    )


def _conditioned(
    material: Material,
    pairs: Sequence[TranslatedPair],
    judge: AnyEvaluator,
    bootstrap: Bootstrap,
    progress: bool,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], dict[str, str]]:
    """Return, for both translations of each pair, the probability of being correct and the score
    under the own source, by contrastive conditioning, and the fields of its signature.
    """
    by_id = {pair.id: pair for pair in pairs}
    translations = []
    for example in material.examples:
        pair = by_id.get(example.extra["pair"])
        if pair is None or pair.sources[example.gold] != example.source:
            raise InputError(
                f"example {example.id}: expected the source of MT-GenEval, {example.source!r},"
                f" among the translated ones, got {pair and pair.sources[example.gold]!r}"
            )
        translations.append(pair.translations[example.gold])
    result = evaluate(
        material,
        translations=translations,
        metric="contrastive_conditioning",
        evaluator=judge,
        seed=bootstrap.seed,
        progress=progress,
    )
    judgements = result.by_id()
    columns = [
        [
            (j.probability_correct, j.score_correct)
            for j in (judgements[f"{pair.id}.{gender}"] for gender in _GENDERS)
        ]
        for pair in pairs
    ]
    values = np.array(columns, dtype=np.float64)
    return values[:, :, 0], values[:, :, 1], signature.parse(result.signature)[1]


def _agreement(
    probabilities: npt.NDArray[np.float64],
    verdicts: _Flags,
    chosen: _Flags,
    bootstrap: Bootstrap,
) -> VerdictAgreement:
    """Return the agreement on the chosen translations; all arrays have a row for each pair."""
    groups = [str(row) for row in np.nonzero(chosen)[0]]
    p, is_correct = probabilities[chosen], verdicts[chosen]
    same = (p >= 0.5) == is_correct
    share, of_correct, of_incorrect = (
        PairShare(float(same[counted].mean()), int(counted.sum()), _interval(same, counted, groups))
        for counted in (np.ones_like(same), is_correct, ~is_correct)
    )
    area = auc_interval(p, is_correct, groups, **bootstrap.options)
    return VerdictAgreement(share, of_correct, of_incorrect, auc(p, is_correct), area)


def _interval(flags: _Flags, counted: _Flags, groups: Sequence[str]) -> Interval | NoInterval:
    return share_interval(flags & counted, counted, groups=groups)
