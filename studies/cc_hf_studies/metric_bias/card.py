"""The card of a judge: what a reader of its figures must know, in three lines."""

from __future__ import annotations

from cc_hf import registry, signature
from cc_hf.errors import InputError
from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.reports.figure_text import with_interval
from cc_hf_studies.metric_bias.audit import Audit
from cc_hf_studies.metric_bias.guards import WRONG_TEXTS
from cc_hf_studies.metric_bias.preference import Errors, PairShare, Preference
from cc_hf_studies.metric_bias.tables import preferred_gender

__all__ = ["judge_card"]

_LINK = "https://github.com/deep-spin/gender-bias-qe-metrics"
_PEOPLE = "human annotators"  # as `Agreement.labels` has it
_MOST = 0.05  # share of wrong texts that may pass without a word


def judge_card(audit: Audit) -> JudgeCard:
    """Return the card of an audited evaluator."""
    evaluator = signature.parse(audit.signature)[1].get("eval", "")
    if not evaluator.rpartition("@")[0] or signature.without_scores(evaluator) != evaluator:
        raise InputError("card: expected the audit of an evaluator, got that of scores")
    if not audit.open_sets:
        raise InputError("card: expected pairs whose source leaves the gender open, got none")
    lines = [*(_preference(name, lean) for name, lean in audit.open_sets.items())]
    lines += [_errors(name, wrong, audit) for name, wrong in audit.known_sets.items()]
    if last := [*_let_pass(audit), *_agreements(audit)]:
        lines.append(" ".join(last))
    sides = {preferred_gender(lean.masculine) for lean in audit.open_sets.values()} - {""}
    caution = (
        f"It prefers {' and '.join(sorted(sides))} translations where the source says no gender. A"
        " system that writes more of them can have better figures by this judge alone"
    )
    return JudgeCard(
        evaluator,
        f"{audit.src_lang}-{audit.tgt_lang}",
        caution if sides else "",
        tuple(lines),
        _LINK,
        audit.signature,
    )


def _preference(name: str, lean: Preference) -> str:
    share = _percent(lean.masculine)
    return f"Where the source says no gender, it prefers the masculine in {share} % ({name})."


def _percent(share: PairShare) -> str:
    return with_interval(share.value, share.interval).replace("  ", " ").replace("( ", "(")


def _errors(name: str, wrong: Errors, audit: Audit) -> str:
    women, men = _percent(wrong.feminine), _percent(wrong.masculine)
    between = [_percent(wrong.by_source[gender]) for gender in ("female", "male")]
    calibration = audit.calibration["by source"]
    return (
        f"Where the source says it, it is wrong on women in {women} % and on men in {men} %;"
        f" between sources, as contrastive conditioning compares, in {between[0]} % and"
        f" {between[1]} % ({name}). Its probabilities are off by"
        f" {with_interval(calibration.error, None)} points (Brier score {calibration.brier:.3f})."
    )


def _let_pass(audit: Audit) -> list[str]:
    texts = [
        f"{WRONG_TEXTS[kind]} in {check.n_passed} of {check.n}"
        for kind, check in audit.guards.items()
        if check.n_passed > _MOST * check.n
    ]
    if not texts:
        return ["No kind of wrong text passed for a translation."] * bool(audit.guards)
    return [f"It takes for no worse than the right translation: {', '.join(texts)}."]


def _agreements(audit: Audit) -> list[str]:
    """Return what is known of its agreement with people, and what it was made for."""
    if audit.judge not in registry.names("evaluator"):
        return []
    model = registry.resolve("evaluator", audit.judge)
    people = [str(known) for known in model.agreements if known.labels == _PEOPLE]
    return [f"{'; '.join(people)}. Made for {model.made_for}."]
