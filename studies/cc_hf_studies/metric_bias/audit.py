"""The audit of a judge: its preference, its errors, its calibration, and what it lets pass."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.errors import FileError, InputError
from cc_hf.evaluators.contests import pair_scores, scorer_fields
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.languages import pair_codes
from cc_hf.reading import JSONL
from cc_hf.records import WORD
from cc_hf.results import EvaluationResult
from cc_hf.rules import OneOf
from cc_hf.schema import ScoringRequest
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.tables.rows import read_rows
from cc_hf_studies.metric_bias.calibration import Reliability, probability, reliability
from cc_hf_studies.metric_bias.choices import Choices, scores_of_choices
from cc_hf_studies.metric_bias.guards import Passed, guard_requests, passed
from cc_hf_studies.metric_bias.preference import Errors, Preference, errors, preference
from cc_hf_studies.metric_bias.sets import Pair, Sets

__all__ = ["Audit", "audit", "audit_of_choices", "audit_of_scores"]

_FORM = {
    "id": WORD,
    "setting": OneOf("open", "male", "female"),
    **dict.fromkeys(("score_masculine", "score_feminine"), float),
    "referent?": OneOf("male", "female"),
}
_N_GUARDS = 100
_VERSION = 1
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Audit:
    """What was measured of a judge.

    Attributes:
        src_lang, tgt_lang: ISO 639-1 codes; "" if they are not known.
        open_sets: name of a set whose sources leave the gender open -> the preference there.
        known_sets: name of a set whose sources show the gender -> the errors there.
        calibration: "by translation" and "by source" -> how good the probabilities of the judge are
            on the known sets, of the right translation of two under one source, and of the right
            source of two for one translation, as contrastive conditioning compares them; {} for
            choices, which have no probabilities.
        reference_score: mean score of the translations beside `guards`; None without.
        guards: kind of a wrong text -> how many pass; {} if none were scored.
        choices: the answers of a language model that was asked in words; None for other judges.
    """

    judge: str
    src_lang: str
    tgt_lang: str
    open_sets: Mapping[str, Preference]
    known_sets: Mapping[str, Errors]
    calibration: Mapping[str, Reliability]
    reference_score: float | None
    guards: Mapping[str, Passed]
    signature: str
    choices: Choices | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values, ready for JSON."""
        return asdict(self)


def audit(
    judge: AnyEvaluator,
    sets: Sets,
    *,
    src_lang: str,
    tgt_lang: str,
    bootstrap: Bootstrap | None = None,
    progress: bool = False,
) -> Audit:
    """Measure what a judge prefers by itself.

    Scores of an evaluator are mean log-probabilities of tokens.

    Args:
        judge: an evaluator or its name, or a function (sources, translations) -> scores, each at
            least 0, higher is better; any metric of `evaluate` can be called in one.
        sets: pairs of translations. If there are as many texts of another language as known pairs,
            or 100, it is seen whether the judge lets them pass.

    Raises:
        InputError: for no pairs.
    """
    open_sets, known_sets = sets.open_sets, sets.known_sets
    all_pairs = {**open_sets, **known_sets}
    if not any(all_pairs.values()):
        raise InputError("expected at least one pair of translations, got none")
    parts = {
        name: [request for row, pair in enumerate(pairs) for request in pair.requests(row)]
        for name, pairs in all_pairs.items()
    }
    known = [pair for pairs in known_sets.values() for pair in pairs][:_N_GUARDS]
    checks = _guards(known, sets.others)
    requests = [request for part in (*parts.values(), *checks.values()) for request in part]
    evaluator = resolve_evaluator(judge, src_lang=src_lang, tgt_lang=tgt_lang)
    scores = pair_scores(
        requests, evaluator, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress
    )
    fields = scorer_fields(evaluator, "geometric", requests, scores)
    is_log = fields["score"] == "geometric"  # a function has a score of its own
    ends = np.cumsum([len(part) for part in (*parts.values(), *checks.values())])[:-1]
    of_part = dict(zip((*parts, *checks), np.split(np.log(scores) if is_log else scores, ends)))
    return _Scored(
        "+".join(signature.evaluator_names(fields["eval"])) if is_log else evaluator.name,
        (src_lang, tgt_lang),
        {n: (of_part[n].reshape(-1, 2), [p.referent for p in open_sets[n]]) for n in open_sets},
        {n: of_part[n].reshape(-1, 2, 2) for n in known_sets},
        is_log,
        {kind: of_part[kind] for kind in checks},
        {"langs": f"{src_lang or '?'}-{tgt_lang or '?'}", **fields},
    ).audit(sets.data, bootstrap or Bootstrap())


def audit_of_scores(
    path: Path, *, is_log: bool = False, bootstrap: Bootstrap | None = None
) -> Audit:
    """Measure what a metric prefers by itself, from scores that it gave.

    Each line is an object with `id`, `setting` ("open" if the source leaves the gender open, else
    the gender that it shows, "male" or "female", on two lines with the same id), `score_masculine`
    and `score_feminine` (numbers, higher is better), and optionally `referent` (male or female, of
    open sources). Scores below 0 are always logarithms of probabilities.
    """
    rows: dict[tuple[str, str], tuple[float, float]] = {}
    referents: dict[str, str] = {}
    for where, row in read_rows(path, JSONL, _FORM):
        key = (row["id"], row["setting"])
        if key in rows:
            raise FileError(where, f"expected an id once for each setting, got {key} again")
        rows[key] = (row["score_masculine"], row["score_feminine"])
        referents[row["id"]] = row.get("referent", "")
    names = dict.fromkeys(name for name, _ in rows)
    for name in names:
        genders = {setting for other, setting in rows if other == name} - {"open"}
        if len(genders) == 1:
            raise FileError(path, f"id {name}: expected both male and female, got {genders.pop()}")
    if not rows:
        raise FileError(path, "expected at least one row, got none")
    is_open = [name for name in names if (name, "open") in rows]
    is_known = [name for name in names if (name, "male") in rows]
    values = np.array(list(rows.values()))
    return _Scored(
        path.name,
        ("", ""),
        {"scores": (np.array([rows[n, "open"] for n in is_open]), [referents[n] for n in is_open])}
        if is_open
        else {},
        {"scores": np.array([[rows[n, g] for g in ("male", "female")] for n in is_known])}
        if is_known
        else {},
        is_log or bool((values < 0).any()),
        {},
        {"scores": hashlib.sha256(path.read_bytes()).hexdigest()[:8]},
    ).audit({}, bootstrap or Bootstrap())


def audit_of_choices(result: EvaluationResult, *, bootstrap: Bootstrap | None = None) -> Audit:
    """Measure what a language model prefers that was asked in words.

    The chosen translation has the score 1, the other one 0, and both 0.5 where there is no choice.
    """
    # Such scores have neither probabilities nor shifts, so that `calibration`, `probability`,
    # `shift_free` and `by_source` are missing.
    open_scores, known_scores, choices = scores_of_choices(result)
    signed = signature.parse(result.signature)[1]
    names = ("langs", "sys", "prompt", "shots", "demos", "parser", "orders")
    return _Scored(
        result.system,
        (pair_codes(signed.get("langs", ""))[0], result.tgt_lang),
        open_scores,
        known_scores,
        False,
        {},
        {name: signed[name] for name in names if name in signed},
        choices,
    ).audit(
        dict.fromkeys([*open_scores, *known_scores], signed.get("data", "own")),
        bootstrap or Bootstrap(),
    )


@dataclass(frozen=True)
class _Scored:
    """The scores of a judge.

    Attributes:
        open_scores: name of a set -> scores of shape (n, 2), and the referents.
        known_scores: name of a set -> scores of shape (n, 2, 2).
        is_log: whether scores are logarithms; otherwise probabilities are their shares.
        guards: "reference" and kinds of wrong texts -> scores.
        fields: of the signature.
    """

    judge: str
    languages: tuple[str, str]
    open_scores: Mapping[str, tuple[_Floats, Sequence[str]]]
    known_scores: Mapping[str, _Floats]
    is_log: bool
    guards: dict[str, _Floats]
    fields: Mapping[str, str]
    choices: Choices | None = None

    def audit(self, data: Mapping[str, str], bootstrap: Bootstrap) -> Audit:
        known = [*self.known_scores.values()]
        logits: dict[str, _Floats] = {}
        if known and self.choices is None:
            scores = np.concatenate(known)
            right, other = scores[:, [0, 1], [0, 1]], scores[:, [0, 1], [1, 0]]
            # The score of a reference under the other source stands in the other row.
            logits = {
                "by translation": self._logits(right, other).ravel(),
                "by source": self._logits(right, other[:, ::-1]).ravel(),
            }
        n = sum(len(s) for s, _ in self.open_scores.values()) + sum(map(len, known))
        names = [data.get(name, name) for name in (*self.open_scores, *self.known_scores)]
        return Audit(
            self.judge,
            *self.languages,
            open_sets={
                name: preference(
                    scores,
                    probabilities=self._probabilities(scores),
                    referents=referents,
                    bootstrap=bootstrap,
                )
                for name, (scores, referents) in self.open_scores.items()
            },
            known_sets={
                name: errors(scores, are_choices=self.choices is not None)
                for name, scores in self.known_scores.items()
            },
            calibration={
                name: reliability(values, seed=bootstrap.seed) for name, values in logits.items()
            },
            reference_score=float(self.guards["reference"].mean()) if self.guards else None,
            guards=passed(self.guards) if self.guards else {},
            signature=signature.build(
                "metric_bias",
                {
                    "data": "+".join(dict.fromkeys(names)),
                    **self.fields,
                    "n": n,
                    "boot": bootstrap.n_resamples,
                    "seed": bootstrap.seed,
                    "m": _VERSION,
                },
            ),
            choices=self.choices,
        )

    def _probabilities(self, scores: _Floats) -> _Floats | None:
        """Return the probabilities of the first of two scores, of shape (n, 2)."""
        if self.choices is not None:
            return None
        return probability(self._logits(scores[:, 0], scores[:, 1]))

    def _logits(self, first: _Floats, second: _Floats) -> _Floats:
        """Return the log-odds of the first of two scores."""
        if self.is_log:
            return first - second
        tiny = np.finfo(np.float64).tiny
        return np.log(np.maximum(first, tiny)) - np.log(np.maximum(second, tiny))


def _guards(known: Sequence[Pair], others: Sequence[str]) -> dict[str, list[ScoringRequest]]:
    """Return the texts that are scored beside feminine references."""
    if len(known) < 2:
        return {}
    sources = [pair.sources["female"] for pair in known]
    references = [pair.feminine for pair in known]
    others = others[: len(known)] if len(others) >= len(known) else ()
    return guard_requests(sources, references, others)
