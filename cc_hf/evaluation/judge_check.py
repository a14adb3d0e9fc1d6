"""Check a judge: count how often its verdicts are right on labelled translations."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf import registry, signature
from cc_hf.data.download import fetch
from cc_hf.data.labelled import NEITHER, RIGHT, WRONG, LabelledTranslation, LabelSet
from cc_hf.data.loading import declaration
from cc_hf.errors import DataError, InputError, ResultWarning
from cc_hf.evaluation.correction import random_part
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Cues, Material, load_material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.evidence import Evidence, users_file, write_evidence
from cc_hf.languages import base_code, language_pair
from cc_hf.levels import Trust, trust_by
from cc_hf.metrics.base import Metric
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example
from cc_hf.statistics.agreement import mean_kappa
from cc_hf.statistics.checks import check_number

__all__ = ["JudgeCheck", "check_judge", "people_agreement"]

#: Examples of each label set that are judged unless all are wanted.
_SAMPLE = 300
_METRIC = "contrastive_conditioning"


@dataclass(frozen=True)
class JudgeCheck:
    """What a check of a judge has found.

    Attributes:
        evaluator: the judge, as the field `eval` of signatures.
        languages: "en-de".
        evidence: the counts, one entry for each label set, system and right reading.
        not_run: label set of the pair -> why it was not judged.
        file: the file that holds the evidence for later results; None if none was written.
    """

    evaluator: str
    languages: str
    evidence: tuple[Evidence, ...]
    not_run: Mapping[str, str]
    file: Path | None = None

    def by_dataset(self) -> dict[str, Trust]:
        """Return the level of the judge on each test set, and how far its mistakes may move figures
        of .5, .65, .8 and .95. A test set with several kinds of cues has one for each.
        """
        rows: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
        for row in self.evidence:
            cues = signature.parse(row.signature)[1].get("cues", "")
            rows[row.dataset, cues].append(row)
        datasets = [dataset for dataset, _ in rows]
        return {
            name if datasets.count(name) == 1 else f"{name} ({cues})": trust_by(part, {})
            for (name, cues), part in rows.items()
        }


def check_judge(
    evaluator: AnyEvaluator,
    dataset: str | None = None,
    *,
    language_pair: str,
    cues: Cues | None = None,
    options: Mapping[str, Any] | None = None,
    loading: LoadingOptions | None = None,
    data_dir: str | Path | None = None,
    judges_all: bool = False,
    save: bool = True,
    seed: int = 0,
    progress: bool = False,
) -> JudgeCheck:
    """Count how often the verdicts of an evaluator are right on translations that people labelled,
    or that people wrote for one reading, and keep the counts as evidence for later results.

    Args:
        evaluator: name, path, several of these (an ensemble), Evaluator or function. Nothing is
            kept of a function, which later results cannot tell from another.
        dataset: the test set whose label sets are judged; None for all of the language pair.
        language_pair: such as "en-de".
        cues: wording of the cues in place of each dataset's own, see `cc_hf.load_material`.
        options: options of contrastive_conditioning.
        loading: how the evaluator is loaded.
        data_dir: a local copy of upstream repositories; None downloads what is pinned.
        judges_all: whether all labelled examples are judged, not 300 of each set.
        save: whether the evidence is written where later results find it.
        seed: decides which examples are judged, 0 or more.

    Returns:
        The counts, with the level on each test set by `JudgeCheck.by_dataset`.

    Raises:
        InputError: for a pair without labelled translations, or a seed out of range.
        UnknownNameError: for a dataset that is not registered.
        DataError: if no label set can be had; of one among others, `not_run` says why.
        EvaluatorError: for an evaluator that fails.

    Examples:
        >>> def by_length(sources, translations):
        ...     return [len(source) for source in sources]
        >>> try:
        ...     check_judge(by_length, language_pair="en-fi")
        ... except InputError as error:
        ...     print(str(error)[:75])
        expected a test set and a language pair with labelled translations, got any
    """
    check_number("seed", seed, low=0)
    pair = _pair(language_pair)
    chosen = _label_sets(pair, dataset)
    src_lang, _, tgt_lang = pair.partition("-")
    judging = resolve_evaluator(evaluator, loading, src_lang=src_lang, tgt_lang=tgt_lang)
    metric = make_metric(_METRIC, options)
    if is_kept := save and not isinstance(judging, FunctionEvaluator):
        write_evidence(users_file(), ())  # a folder that cannot be written is found before
    rows: list[Evidence] = []
    not_run: dict[str, str] = {}
    for labels in chosen:
        try:
            of_set = [
                *_checked(
                    labels,
                    pair,
                    metric,
                    judging,
                    cues,
                    data_dir,
                    sample=None if judges_all else _SAMPLE,
                    seed=seed,
                    progress=progress,
                )
            ]
        except (DataError, InputError) as error:  # such as cues that do not fit its sentences
            if len(chosen) == 1:
                raise
            not_run[labels.name] = str(error)
            continue
        # Each set is kept when it is done, so that none is lost if a later one fails.
        rows += of_set
        if is_kept:
            write_evidence(users_file(), of_set)
    if not rows:
        raise DataError("; ".join(dict.fromkeys(not_run.values())))
    file = users_file() if is_kept else None
    return JudgeCheck(rows[0].evaluator, pair, tuple(rows), not_run, file)


def _pair(text: str) -> str:
    return "-".join(base_code(language) for language in language_pair(text))


def _label_sets(pair: str, dataset: str | None) -> list[LabelSet]:
    if dataset is not None:
        declaration(dataset)
    known: list[LabelSet] = [*registry.load_all("label set").values()]
    chosen = [s for s in known if pair in s.configs and dataset in (None, s.dataset)]
    if not chosen:
        pairs: dict[str, set[str]] = {}
        for label_set in known:
            pairs.setdefault(label_set.dataset, set()).update(label_set.configs)
        there = "; ".join(f"{name} {', '.join(sorted(of))}" for name, of in sorted(pairs.items()))
        raise InputError(
            f"expected a test set and a language pair with labelled translations, got"
            f" {dataset or 'any'} {pair}. There are {there}. For others, label some translations of"
            " the system itself, and correct its figures by them (`cc-hf evaluate --labels`)"
        )
    return chosen


def _checked(
    labels: LabelSet,
    pair: str,
    metric: Metric,
    evaluator: Evaluator,
    cues: Cues | None,
    data_dir: str | Path | None,
    *,
    sample: int | None,
    seed: int,
    progress: bool,
) -> Iterator[Evidence]:
    """Yield the evidence of one label set."""
    material = load_material(
        labels.dataset,
        labels.configs[pair],
        tgt_lang=pair.partition("-")[2],
        data_dir=data_dir,
        cues=cues,
    )
    paths = {file.path: fetch(file, data_dir) for file in labels.files.get(pair, ())}
    examples = {example.id: example for example in material.examples}
    labelled = [*labels.read(paths, pair, material.examples)]
    ids = [*dict.fromkeys(row.example_id for row in labelled)]
    drawn = {*ids} if sample is None else random_part(ids, sample, seed=seed)
    kappa = people_agreement(labelled)
    of_system: dict[str, list[LabelledTranslation]] = defaultdict(list)
    for row in labelled:
        if row.shows and row.example_id in drawn:
            of_system[row.system].append(row)
    for system, rows in of_system.items():
        verdicts, signed = _verdicts(metric, evaluator, material, rows, progress=progress)
        judge = signature.parse(signed)[1]["eval"]
        signed = _without_system(signed, len(rows), None if sample is None else seed)
        yield from _counted(labels, pair, (judge, system), rows, verdicts, examples, signed, kappa)


def people_agreement(labelled: Sequence[LabelledTranslation]) -> float | None:
    """Return Cohen's kappa of the people among themselves, the mean over pairs of them; None where
    no translation has the labels of two.
    """
    by_person = [*zip(*(row.labels for row in labelled if row.labels), strict=True)]
    return mean_kappa(by_person) if by_person else None


def _verdicts(
    metric: Metric,
    evaluator: Evaluator,
    material: Material,
    rows: Sequence[LabelledTranslation],
    *,
    progress: bool,
) -> tuple[list[bool], str]:
    """Return whether the judge finds each translation right, or of the reading that is counted,
    and the signature of the verdicts.
    """
    # An example has one translation in a run: further ones are judged in runs of their own.
    runs: dict[int, list[int]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows):
        runs[seen[row.example_id]].append(number)
        seen[row.example_id] += 1
    verdicts, signed = [False] * len(rows), ""
    for numbers in runs.values():
        by_id = {rows[number].example_id: number for number in numbers}
        part = replace(material, chosen=frozenset(by_id))
        texts = [rows[by_id[example.id]].translation for example in part.examples]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResultWarning)
            result = judge(metric, part, texts, evaluator=evaluator, clean=False, progress=progress)
        for name, is_right in _found(result).items():
            verdicts[by_id[name]] = is_right
        signed = signed or result.signature
    return verdicts, signed


def _found(result: EvaluationResult) -> dict[str, bool]:
    if result.judgements:
        return {j.example_id: j.is_correct for j in result.judgements}
    return {r.example_id: (r.probability_counted or 0) >= 0.5 for r in result.readings}


def _counted(
    labels: LabelSet,
    pair: str,
    judged: tuple[str, str],
    rows: Sequence[LabelledTranslation],
    verdicts: Sequence[bool],
    examples: Mapping[str, Example],
    signed: str,
    people_kappa: float | None,
) -> Iterator[Evidence]:
    """Yield the counts of a judge and a system by right reading."""
    declared = declaration(labels.dataset)
    is_open = declared.config(labels.configs[pair]).is_open
    counts: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    for row, is_right in zip(rows, verdicts, strict=True):
        gold = getattr(examples[row.example_id], "gold", "")
        is_named = row.shows not in (RIGHT, WRONG, NEITHER)
        shows = (RIGHT if row.shows == gold else WRONG) if is_named else row.shows
        counts[gold if gold in ("female", "male") else ""][shows, is_right] += 1
    judge, system = judged
    for reading, n in sorted(counts.items()):
        yield Evidence(
            judge,
            pair,
            registry.kind_of_sentences(declared.name),
            declared.name,
            reading,
            labels.by,
            labels.n_people,
            system,
            signed,
            n_right=n[RIGHT, True] + n[RIGHT, False],
            n_right_found=n[RIGHT, True],
            n_wrong=n[WRONG, True] + n[WRONG, False],
            n_wrong_found=n[WRONG, False],
            n_neither=n[NEITHER, True] + n[NEITHER, False],
            n_neither_right=n[NEITHER, True],
            is_open=is_open,
            people_kappa=people_kappa,
        )


def _without_system(signed: str, n: int, seed: int | None) -> str:
    """Return the signature of verdicts on the rows of a system, without what figures depend on.

    Args:
        seed: decided which examples were drawn; None for all.
    """
    metric, whole = signature.parse(signed)
    dropped = ("sys", "eval", "boot", "seed", "clean", "weight")
    kept = {key: value for key, value in whole.items() if key not in dropped}
    drawn = {} if seed is None else {"seed": seed}
    return signature.unparse(
        metric, {**kept, "data": signature.whole(kept["data"]), "n": n, **drawn}
    )
