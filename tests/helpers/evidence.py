"""Evidence on the judges of results: counts of their right and wrong verdicts."""

from dataclasses import replace

from cc_hf import signature
from cc_hf.evidence import Evidence
from cc_hf.fit_to_cite import GENDERS, asks_of_gender
from cc_hf.languages import pair_codes
from cc_hf.results import EvaluationResult


def supported(result: EvaluationResult) -> EvaluationResult:
    """Return the result with evidence that its judge makes no mistakes, for figures to cite."""
    return _counted(result, 400)


def ranks_only(result: EvaluationResult) -> EvaluationResult:
    """Return the result with evidence that its judge errs in 5 %, enough for a ranking."""
    return _counted(result, 380)


def _counted(result: EvaluationResult, n_found: int) -> EvaluationResult:
    """Return the result with labels by two people, 400 for each reading and role."""
    signed = signature.parse(result.signature)[1]
    is_of_gender = asks_of_gender([c.category for c in result.categories], result.scores)
    rows = tuple(
        Evidence(
            evaluator=signature.without_scores(signed["eval"]),
            languages="-".join(pair_codes(signed.get("langs", ""))),
            kind="template",
            dataset=result.dataset,
            reading=reading,
            labels="people",
            n_people=2,
            system="labelled",
            signature=result.signature,
            n_right=400,
            n_right_found=n_found,
            n_wrong=400,
            n_wrong_found=n_found,
            people_kappa=0.95,
        )
        for reading in (GENDERS if is_of_gender else ("",))
    )
    return replace(result, evidence=rows)
