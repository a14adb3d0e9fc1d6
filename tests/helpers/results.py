"""Small results, and their files in a folder."""

import json
from pathlib import Path

from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.metrics.figures import summarize
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.bootstrap import known_intervals
from tests.helpers.lines import write_text


def small_result(
    accuracies: tuple[float, float],
    *,
    dataset: str = "winomt",
    config: str = "default",
    tgt_lang: str = "de",
    metric: str = "contrastive_conditioning",
    system: str = "",
    fields: str = "",
) -> EvaluationResult:
    """Return a result for 20 female and 20 male samples; accuracies are in tenths, and `fields` are
    others of the signature.
    """
    fields = (f"|sys:{system}" if system else "") + fields
    return _sized(
        accuracies,
        20,
        (dataset, config, tgt_lang, metric),
        f"cc|data:{dataset or 'own'}/{config or '-'}@1|langs:en-{tgt_lang}{fields}",
    )


def result_of_twenty(accuracies: tuple[float, float]) -> EvaluationResult:
    """Return a result for 10 female and 10 male samples, which is a first look."""
    named = ("winomt", "default", "de", "contrastive_conditioning")
    return _sized(accuracies, 10, named, "cc|data:winomt/default@1|langs:en-de")


def _sized(
    accuracies: tuple[float, float], n: int, named: tuple[str, str, str, str], signature: str
) -> EvaluationResult:
    categories = tuple(
        CategoryAccuracy(name, n, round(n * a), a)
        for name, a in zip(("female", "male"), accuracies, strict=True)
    )
    known = [(c.category, i < c.n_correct) for c in categories for i in range(n)]
    judgements = tuple(
        Judgement(str(i), of, right, f"Übersetzung {i}", "correct" if right else "incorrect")
        for i, (of, right) in enumerate(known)
    )
    summary = summarize(judgements)
    scores = {**summary.scores, "delta_x": accuracies[0] - accuracies[1]}
    intervals = known_intervals(summary.intervals)
    counts = {**summary.counts, "n_ties": 0}
    return EvaluationResult(
        *named, f"{signature}|n:{2 * n}", 2 * n, scores, intervals, categories, judgements, counts
    )


def write_result(folder: Path, name: str, result: EvaluationResult) -> Path:
    return write_text(folder / f"{name}.json", result.to_json())


def write_judged(folder: Path, evaluator: str, card: JudgeCard) -> Path:
    """Write a result of each of two judges, and the card of the second."""
    for system, judge in (("a", evaluator), ("b", card.evaluator)):
        result = small_result((0.5, 0.7), fields=f"|eval:{judge}", system=system)
        write_result(folder, system, result)
    return write_text(folder / "large.json", card.to_json()).parent


def write_seeds(folder: Path) -> list[Path]:
    """Write results of two sizes and two seeds, with their BLEU and times."""
    systems = {
        "base-seed1": (0.5, 0.9, 20.5, 3.0),
        "base-seed2": (0.7, 0.9, 21.5, 3.5),
        "fast-seed1": (0.2, 0.9, 18.0, 1.0),
        "fast-seed2": (0.4, 0.9, 19.0, 1.5),
    }
    bleu = [{"system": name, "bleu": values[2]} for name, values in systems.items()]
    times = [{"system": name, "seconds": v[3], "beams": 5} for name, v in systems.items()]
    (folder / "bleu.json").write_text(json.dumps(bleu), encoding="utf-8")
    (folder / "times.json").write_text(json.dumps({"timings": times}), encoding="utf-8")
    return [
        write_result(folder, name, small_result(values[:2], system=name[:4]))
        for name, values in systems.items()
    ]


def seed_files(folder: Path) -> list[str | Path]:
    """Return the options that name BLEU and times of `write_seeds`."""
    return ["--bleu", folder / "bleu.json", "--timing", folder / "times.json"]


def agreement_result(
    system: str,
    evaluator: str,
    accuracy: float,
    *,
    options: str = "score:geometric",
    ids: tuple[str, ...] = ("0", "1"),
) -> EvaluationResult:
    judgements = tuple(Judgement(name, "all", True, f"{system} {name}", "correct") for name in ids)
    return EvaluationResult(
        "winomt", "en-de", "de", "m", f"cc|data:winomt|eval:{evaluator}|{options}|n:2|seed:0", 2,
        {"accuracy": accuracy}, {}, (), judgements,
    )  # fmt: skip


def agreement_results(**accuracies: tuple[float, ...]) -> dict[str, EvaluationResult]:
    return {
        f"{evaluator}.{number}": agreement_result(f"s{number}", evaluator, value)
        for evaluator, values in accuracies.items()
        for number, value in enumerate(values)
    }
