"""A report in the form in which a paper cites it: a sentence on what was judged and how, the
figures of each system with their intervals, the signatures, and BibTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cc_hf import registry
from cc_hf._version import __version__
from cc_hf.citations import Citation, citation
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.evaluators.suitability import PUBLISHED
from cc_hf.metrics.base import registered_metric
from cc_hf.reports.evaluators import evaluator_name, evaluator_of
from cc_hf.reports.figure_text import metric_name, pair_of_data, title_of_data
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Line, Piece
from cc_hf.reports.what_to_cite import what_to_cite
from cc_hf.results import EvaluationResult

__all__ = ["Citing", "bibtex", "citing", "distinct_entries", "judge_bibtex", "named_judges"]

_ON_THE_HUB = re.compile(r"[\w.-]+/[\w.-]+")
_SPECIAL = re.compile(r"[&%$#_]")


class Citing(NamedTuple):
    """What a paper says of a report.

    Attributes:
        sentences: what was judged and how, the figures, and the signatures; () if no figure is fit
            to be cited.
        bibtex: the entries of the data, the metric and the judge; "" likewise.
        why_not: of the systems that are not cited, why not, and what to do about it.
    """

    sentences: tuple[str, ...]
    bibtex: str
    why_not: tuple[str, ...]

    @property
    def text(self) -> str:
        """What can be copied; "" if no figure is fit to be cited."""
        return "\n\n".join(filter(None, ("\n".join(self.sentences), self.bibtex)))

    def lines(self) -> Iterator[Piece]:
        """Yield the text, and why systems are not cited."""
        if self.sentences:
            yield Line(self.text, "whole")
        yield from self.why_not


def citing(report: Report) -> Citing:
    """Return how to cite the figures of the first metric, which is fit for it if any is."""
    figures: list[str] = []
    signatures: dict[str, None] = {}
    why_not = []
    results = report.of_metric(report.metrics[0]) if report.metrics else {}
    fit = []
    for name, result in results.items():
        # The data of all are the same, and their declaration is looked up once.
        vars(result).setdefault("declared", report.first.declared)
        said = what_to_cite([result])
        if said is None:
            continue
        named = f"{name}: " if len(results) > 1 or result.system else ""
        if said.why_not:
            why_not.append(f"{named}{' '.join(said.sentences[:2])}")
            continue
        fit.append(result)
        figures.append(f"{named}{said.figures_text}.")
        figures += [said.note] if said.note else []
        signatures[result.signature] = None
    if not fit:
        return Citing((), "", tuple(why_not))
    n = f"{'Signatures' if len(signatures) > 1 else 'Signature'}: {' and '.join(signatures)}"
    about = "Figures are percentages; intervals in brackets."
    return Citing((_sentence(fit[0]), about, *figures, n), _of_results(fit), tuple(why_not))


def _sentence(result: EvaluationResult) -> str:
    """Return what was judged, by which metric and which judge."""
    declared = result.declared
    data = title_of_data(result) if result.dataset else "sentences of our own"
    of_data = _names(declared.citation_keys[:1]) if declared else ""
    by = metric_name(result.metric) + _names(registered_metric(result.metric).papers[:1])
    judge = evaluator_name(result)
    pair = pair_of_data(result)
    return (
        f"We judge {result.n:,} translations of {data}{of_data}{f', {pair},' * bool(pair)} by"
        f" {by}{f', with {judge} as judge' * bool(judge)}, as cc_hf {__version__} computes it."
    )


def _names(keys: Iterable[str | Citation]) -> str:
    names = "; ".join(citation(key).short_name for key in keys)
    return f" ({names})" if names else ""


def _of_results(results: Iterable[EvaluationResult]) -> str:
    texts = []
    for result in results:
        texts += [bibtex(result.declared)] if result.declared else []
        texts.append(bibtex(result.metric))
        texts += map(judge_bibtex, filter(None, evaluator_of(result).split("+")))
    return "\n\n".join(distinct_entries(texts))


def distinct_entries(texts: Iterable[str]) -> list[str]:
    """Return each entry of texts of BibTeX once: the paper of a metric may be that of the data."""
    return list(dict.fromkeys(e for text in texts if text for e in text.split("\n\n")))


def bibtex(of: DatasetDeclaration | str) -> str:
    """Return the entries of the papers of a dataset, or of a metric by its name; "" for none."""
    if isinstance(of, str):
        keys: Iterable[str | Citation] = registered_metric(of).papers
    else:
        keys = of.citation_keys
    return "\n\n".join(citation(key).bibtex for key in keys)


def judge_bibtex(judge: str) -> str:
    """Return an entry for a member of an evaluator, with its revision if the name has one; "" for a
    function, and a model without a name.
    """
    name, _, revision = judge.partition("@")
    if name.startswith(("function", "the model")):
        return ""
    fields = {"title": f"{{{_escaped(name)}}}"}
    note = f"Used by cc\\_hf {__version__}"
    if name in registry.names("evaluator"):
        note = f"Evaluator that ships with cc\\_hf {__version__}"
    elif _ON_THE_HUB.fullmatch(name):
        fields["url"] = f"https://huggingface.co/{name}"
        note = "Model on the Hugging Face Hub"
    fields["note"] = note + (f", revision {revision}" if revision else "")
    key = re.sub(r"[^\w.-]+", "-", name).strip("-")
    lines = "".join(f'    {field} = "{value}",\n' for field, value in fields.items())
    return f"@misc{{{key},\n{lines}}}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def named_judges() -> list[str]:
    """Return the judges that `cc-hf list` names and that have an entry."""
    return [*registry.names("evaluator"), *(judge.name for judge in PUBLISHED)]
