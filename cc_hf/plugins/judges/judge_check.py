"""Check a judge: count how often its verdicts are right on labelled translations."""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf import registry, signature
from cc_hf.data.download import fetch
from cc_hf.data.labelled import RIGHT, WRONG, LabelledTranslation, LabelSet
from cc_hf.data.loading import declaration
from cc_hf.errors import DataError, InputError, MissingDependencyError, ResultWarning
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
from cc_hf.metrics.neither import text_of_threshold
from cc_hf.plugins.judges.thresholds import cross_fitted
from cc_hf.results import EvaluationResult
from cc_hf.schema import NEITHER, Example
from cc_hf.statistics.agreement import mean_kappa
from cc_hf.statistics.checks import check_number

__all__ = ["JudgeCheck", "check_judge", "people_agreement"]

#: Examples of each label set that are judged unless all are wanted.
_SAMPLE = 300
_METRIC = "contrastive_conditioning"
_LARGE = math.log(sys.float_info.max)


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
        """Return by test set the level of the judge, and how far its mistakes may move figures of
        .5, .65, .8 and .95.
        """
        rows: dict[tuple[str, str, str], list[Evidence]] = defaultdict(list)
        for row in self.evidence:
            cues = signature.parse(row.signature)[1].get("cues", "")
            rows[row.dataset, cues, row.threshold].append(row)
        # A test set with several kinds of cues has an entry for each, and one more where labels
        # give a threshold of the verdict "neither".
        kinds: dict[str, set[str]] = defaultdict(set)
        for dataset, cues, _ in rows:
            kinds[dataset].add(cues)
        return {
            dataset
            + (f" ({cues})" if len(kinds[dataset]) > 1 else "")
            + (f", neither below {threshold}" if threshold else ""): trust_by(part, {})
            for (dataset, cues, threshold), part in rows.items()
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
        cues: wording of the cues in place of each dataset's own, see `cc_hf.load_material`.
        options: options of contrastive_conditioning.
        judges_all: whether all labelled examples are judged, not 300 of each set.
        save: whether the evidence is written where later results find it.
        seed: decides which examples are judged, 0 or more.

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
        # Such as cues that do not fit its sentences, or a dictionary that is not installed.
        except (DataError, InputError, MissingDependencyError) as error:
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
    by_system: dict[str, list[LabelledTranslation]] = defaultdict(list)
    for row in labelled:
        if row.shows and row.example_id in drawn:
            by_system[row.system].append(row)
    seed_of_draw = None if sample is None else seed
    judged: list[_Judged] = []
    for system, rows in by_system.items():
        verdicts, signed = _verdicts(metric, evaluator, material, rows, progress=progress)
        shows = [_shown(row, examples[row.example_id]) for row in rows]
        judge = signature.parse(signed)[1]["eval"]
        signed = _without_system(signed, len(rows), seed_of_draw)
        golds = [getattr(examples[row.example_id], "gold", "") for row in rows]
        judged.append(_Judged(judge, system, signed, verdicts, shows, golds))
    for of_system in (*judged, *_with_neither(judged)):
        yield from _counted(labels, pair, of_system, kappa)


class _Verdict(NamedTuple):
    """`RIGHT`, `WRONG` (the reading that is counted) or `NEITHER`; and abs(log s_c - log s_i)."""

    says: str
    distance: float


class _Judged(NamedTuple):
    """A system's translations: what a judge finds, what they show, and the right readings."""

    judge: str
    system: str
    signature: str
    verdicts: Sequence[_Verdict]
    shows: Sequence[str]
    golds: Sequence[str]


def _with_neither(judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the judge's verdicts with a threshold for "neither"; [] if labels give none."""
    verdicts = [verdict for of_system in judged for verdict in of_system.verdicts]
    shows = [shown for of_system in judged for shown in of_system.shows]
    said, distances = [v.says for v in verdicts], [v.distance for v in verdicts]
    if NEITHER in said or (fitted := cross_fitted(distances, said, shows)) is None:
        return []
    threshold, by_threshold = fitted
    rest = iter(map(_Verdict, by_threshold, distances))
    signed = [_with_threshold(of_system.signature, threshold) for of_system in judged]
    return [
        of_system._replace(signature=text, verdicts=[next(rest) for _ in of_system.verdicts])
        for of_system, text in zip(judged, signed, strict=True)
    ]


def _with_threshold(signed: str, threshold: float) -> str:
    metric, fields = signature.parse(signed)
    text = text_of_threshold(threshold)
    with_it: dict[str, str] = {}
    for name, value in fields.items():
        with_it |= {name: value, **({"neither": text} if name == "tie" else {})}
    return signature.unparse(metric, with_it)


def _shown(row: LabelledTranslation, example: Example) -> str:
    """Return what a translation shows, `RIGHT`, `WRONG` or `NEITHER`."""
    if row.shows in (RIGHT, WRONG, NEITHER):
        return row.shows
    return RIGHT if row.shows == getattr(example, "gold", "") else WRONG


def people_agreement(labelled: Sequence[LabelledTranslation]) -> float | None:
    """Return the mean of Cohen's kappa over pairs of people; None without labels of two."""
    by_person = [*zip(*(row.labels for row in labelled if row.labels), strict=True)]
    return mean_kappa(by_person) if by_person else None


def _verdicts(
    metric: Metric,
    evaluator: Evaluator,
    material: Material,
    rows: Sequence[LabelledTranslation],
    *,
    progress: bool,
) -> tuple[list[_Verdict], str]:
    """Return what the judge finds in each translation, and the signature of the verdicts."""
    # An example has one translation in a run: further ones are judged in runs of their own.
    runs: dict[int, list[int]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows):
        runs[seen[row.example_id]].append(number)
        seen[row.example_id] += 1
    verdicts, signed = [_Verdict(WRONG, 0.0)] * len(rows), ""
    for numbers in runs.values():
        by_id = {rows[number].example_id: number for number in numbers}
        part = replace(material, chosen=frozenset(by_id))
        texts = [rows[by_id[example.id]].translation for example in part.examples]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResultWarning)
            result = judge(metric, part, texts, evaluator=evaluator, clean=False, progress=progress)
        for name, verdict in _found(result).items():
            verdicts[by_id[name]] = verdict
        signed = signed or result.signature
    return verdicts, signed


def _found(result: EvaluationResult) -> dict[str, _Verdict]:
    if result.judgements:
        said = [
            (j.example_id, j.is_correct, j.verdict == NEITHER, j.probability_correct or 0.0)
            for j in result.judgements
        ]
    else:
        probabilities = [r.probability_counted or 0.0 for r in result.readings]
        said = [
            (r.example_id, p >= 0.5, r.reading == NEITHER, p)
            for r, p in zip(result.readings, probabilities, strict=True)
        ]
    return {
        name: _Verdict(NEITHER if is_neither else RIGHT if is_right else WRONG, _distance(p))
        for name, is_right, is_neither, p in said
    }


def _distance(probability: float) -> float:
    """Return the absolute difference of both log scores; a large number if a score is 0."""
    return abs(math.log(probability / (1 - probability))) if 0 < probability < 1 else _LARGE


def _counted(
    labels: LabelSet,
    pair: str,
    judged: _Judged,
    people_kappa: float | None,
) -> Iterator[Evidence]:
    """Yield the counts of a judge and a system by right reading."""
    declared = declaration(labels.dataset)
    is_open = declared.config(labels.configs[pair]).is_open
    counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for verdict, shows, gold in zip(judged.verdicts, judged.shows, judged.golds, strict=True):
        counts[gold if gold in ("female", "male") else ""][shows, verdict.says] += 1
    for reading, n in sorted(counts.items()):
        yield Evidence(
            judged.judge,
            pair,
            registry.kind_of_sentences(declared.name),
            declared.name,
            reading,
            labels.by,
            labels.n_people,
            judged.system,
            judged.signature,
            n_right=sum(k for (shows, _), k in n.items() if shows == RIGHT),
            n_right_found=n[RIGHT, RIGHT],
            n_wrong=sum(k for (shows, _), k in n.items() if shows == WRONG),
            n_wrong_found=n[WRONG, WRONG],
            n_neither=sum(k for (shows, _), k in n.items() if shows == NEITHER),
            n_neither_right=n[NEITHER, RIGHT],
            is_open=is_open,
            people_kappa=people_kappa,
            n_right_neither=n[RIGHT, NEITHER],
            n_wrong_neither=n[WRONG, NEITHER],
            n_neither_found=n[NEITHER, NEITHER],
        )


def _without_system(signed: str, n: int, seed: int | None) -> str:
    """Return the signature of verdicts on the rows of a system, without what figures depend on.

    `seed` decided which examples were drawn; None for all.
    """
    metric, whole = signature.parse(signed)
    dropped = ("sys", "eval", "boot", "seed", "clean", "weight")
    kept = {key: value for key, value in whole.items() if key not in dropped}
    drawn = {} if seed is None else {"seed": seed}
    return signature.unparse(
        metric, {**kept, "data": signature.whole(kept["data"]), "n": n, **drawn}
    )
