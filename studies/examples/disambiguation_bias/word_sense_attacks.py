"""Disambiguation bias and adversarial attacks in one small experiment, from a corpus to attacks
that flip word senses (Emelin 2023, chapter 3).

    python -m studies.examples.disambiguation_bias.word_sense_attacks --output out/attacks

A parallel corpus is made up (made_up_corpus.py beside this file). Two small translation models that
differ in their seed learn from it. The corpus is tagged, and attractors are counted. Then: do
errors on test sentences follow the bias, do adjectives flip the sense of sentences that were
translated correctly, and do both models fall for the same attacks? On two cores this takes less
than 20 minutes.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from cc_hf_studies.disambiguation_bias.attacks.challenge import choose_challenge
from cc_hf_studies.disambiguation_bias.attacks.contrastive import SenseCues
from cc_hf_studies.disambiguation_bias.attacks.judging import (
    CueJudge,
    attack_json,
    judge_attacks,
    translate_or_read,
)
from cc_hf_studies.disambiguation_bias.attacks.make import AttackFiles, make_attacks
from cc_hf_studies.disambiguation_bias.attacks.outcomes import LexiconJudge
from cc_hf_studies.disambiguation_bias.attacks.samples import (
    AttackJudgement,
    read_samples,
    write_rows,
)
from cc_hf_studies.disambiguation_bias.attacks.seeds import SeedRules
from cc_hf_studies.disambiguation_bias.attacks.tables import attack_page
from cc_hf_studies.disambiguation_bias.attacks.transfer import transferability
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable, read_table
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair, read_pairs, write_pairs
from cc_hf_studies.disambiguation_bias.prediction import predict_errors
from cc_hf_studies.disambiguation_bias.sentences import sentence_bias
from cc_hf_studies.disambiguation_bias.tagging import PairTagger, TaggingOptions
from cc_hf_studies.disambiguation_bias.tagging_run import tag_corpus
from cc_hf_studies.disambiguation_bias.tagging_summary import count_file

from cc_hf import load_evaluator
from cc_hf.data.corpora.parallel import file_corpus
from cc_hf.data.files.sense_rows import senses_text
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.systems.translate import translate
from cc_hf.test_sets.mucow.homograph_accuracy import aligned_texts, outcomes
from cc_hf.text.alignment import FastAlign
from cc_hf.text.tokenization import word_texts
from studies.examples.disambiguation_bias.made_up_corpus import (
    Language,
    Sizes,
    sentences,
    train_model,
)

TOY = Sizes(
    homographs=2, triggers=2, adjectives=6, of_sense=2, others=4, training=400, test=60,
    steps=250, batch=32, width=32, learning_rate=1e-2, attacked=20, challenge=10, top=(10, 20),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the experiment, write `figures.json` and a page for each model; return the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="folder for all files")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="seeds of the models")
    parser.add_argument("--toy", action="store_true", help="a few seconds, to see that it runs")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    options = parser.parse_args(arguments)
    if len(options.seeds) < 2:
        parser.error("--seeds: expected two or more, since models are compared")
    options.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    return run(options.output, options.seeds, TOY if options.toy else Sizes())


def run(folder: Path, seeds: Sequence[int], sizes: Sizes) -> dict[str, Any]:
    """Run the experiment, and return the figures, as `figures.json` holds them."""
    clock = _Clock()
    language = Language.make(sizes, seed=1)
    for name, n, seed in (("training", sizes.training, 1), ("test", sizes.test, 2)):
        rows = list(sentences(language, sizes, n, seed))
        for lang, texts in (("en", [r.source for r in rows]), ("de", [r.target for r in rows])):
            (folder / f"{name}.{lang}").write_text(
                "\n".join(texts) + "\n", encoding="utf-8", newline="\n"
            )
    training = list(sentences(language, sizes, sizes.training, 1))
    models = [folder / f"model{seed}" for seed in seeds]
    for model, seed in zip(models, seeds, strict=True):
        if (model / "config.json").exists():
            clock(model.name, "is there, and is not trained again")
            continue
        train_model(training, model, sizes, seed, note=functools.partial(clock, model.name))
    tagger = PairTagger(language.lexicon(), TaggingOptions(lemmatizer="none"))
    for name in ("training", "test"):
        corpus = file_corpus(folder / f"{name}.en", folder / f"{name}.de", block_pairs=100_000)
        summary = tag_corpus(corpus, tagger, folder / f"{name}.jsonl")
        clock("tagged", f"{summary.outcomes['n_tagged']:,} of {summary.n_pairs:,} {name} pairs")
    table = count_file(folder / "training.jsonl", tagger.lexicon)
    (folder / "attractors.json").write_text(table.to_json(), encoding="utf-8", newline="\n")
    test = list(read_pairs(folder / "test.jsonl"))
    write_pairs(folder / "seeds.jsonl", islice(test, sizes.attacked))
    made = make_attacks(
        AttackFiles(folder / "seeds.jsonl", folder / "attractors.json", folder / "training.jsonl"),
        folder / "samples.jsonl",
        parser=language.parser(),
        seed_rules=SeedRules(min_tokens=1),
    )
    clock("attacks", f"{made.counts['n_samples']:,} samples of {made.counts['n_seeds']:,} seeds")
    figures: dict[str, Any] = {"sizes": asdict(sizes), "attacks": asdict(made), "models": {}}
    judgements = {}
    for number, (model, seed) in enumerate(zip(models, seeds, strict=True)):
        errors = error_figures(model, test, table, language, sizes)
        # The evaluator of contrastive conditioning is the next model, which has another seed.
        other = models[(number + 1) % len(models)]
        judged, attacks = attack_model(model, other, folder, language, sizes)
        judgements[model.name] = judged
        figures["models"][str(seed)] = {"errors": errors, "attacks": attacks}
        clock(model.name, f"{errors['all']['rate']:.1%} errors, attacks judged")
    figures["transfer"] = [
        [asdict(row) for row in transferability(judgements, judge=judge)]
        for judge in ("lexicon", "contrastive")
    ]
    figures["seconds"], figures["cpu_seconds"] = round(clock.seconds), round(time.process_time())
    (folder / "figures.json").write_text(
        json.dumps(figures, indent=1) + "\n", encoding="utf-8", newline="\n"
    )
    print(markdown(figures))
    return figures


class _Clock:
    """Print what has happened after how many seconds."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def __call__(self, what: str, text: str) -> None:
        print(f"{self.seconds:5.0f} s  {what}: {text}", flush=True)


def error_figures(
    model: Path, test: Sequence[TaggedPair], table: AttractorTable, language: Language, sizes: Sizes
) -> dict[str, Any]:
    """Return how many homographs a model gets wrong, and whether the bias predicts it."""
    translations = translate([pair.source for pair in test], model, num_beams=1)
    lexicon = language.lexicon()
    links = FastAlign().align(*aligned_texts([pair.source for pair in test], translations))
    references = [
        {
            "source": pair.source,
            "homograph": pair.homograph,
            "start": pair.start,
            "cluster": pair.cluster,
            "senses": senses_text(lexicon.clusters(pair.homograph)),
        }
        for pair in test
    ]
    judged = outcomes(
        translations, references, links, tgt_lang="de", search="aligned", lemmatizer="none"
    )
    is_error = [outcome.kind == "flipped" for outcome in judged]
    features: dict[str, list[float]] = {}
    for association in ("freq", "ppmi"):
        biases = [
            sentence_bias(table, p.source, p.homograph, p.cluster, association=association)
            for p in test
        ]
        for name in ("right", "wrong", "diff"):
            features[f"{association}_{name}"] = [getattr(bias, name) for bias in biases]
    features["length"] = [float(len(word_texts(pair.source))) for pair in test]
    order = sorted(range(len(test)), key=lambda i: -features["freq_diff"][i])
    figures: dict[str, Any] = {"all": _rate(is_error)}
    for n in sizes.top:
        figures[f"top {n}"] = _rate([is_error[i] for i in order[:n]])
        # The order of the corpus is random.
        figures[f"random {n}"] = _rate(is_error[:n])
    has_both = 0 < sum(is_error) < len(is_error)
    figures["prediction"] = asdict(predict_errors(features, is_error)) if has_both else None
    return figures


def _rate(flags: Sequence[bool]) -> dict[str, float]:
    n, part = len(flags), sum(flags)
    interval = wilson_interval(part, n)
    return {"n": n, "errors": part, "rate": part / n, "low": interval.low, "high": interval.high}


def attack_model(
    model: Path, evaluator: Path, folder: Path, language: Language, sizes: Sizes
) -> tuple[list[AttackJudgement], dict[str, Any]]:
    """Judge the attacks on a model, and write a page about them.

    Args:
        evaluator: folder of the model that scores for contrastive conditioning.
    """
    samples = list(read_samples(folder / "samples.jsonl"))
    cues = SenseCues.from_attractors(read_table(folder / "attractors.json"))
    judged, report = judge_attacks(
        samples,
        translate_or_read(samples, model, num_beams=1),
        samples_path=folder / "samples.jsonl",
        lexicon=LexiconJudge(language.lexicon(), search="aligned", lemmatizer="none"),
        cues=CueJudge(
            cues,
            load_evaluator(evaluator, src_lang="en", tgt_lang="de", mode="exact"),
            "en",
            "de",
        ),
    )
    write_rows(folder / f"{model.name}.judged.jsonl", judged)
    page = attack_page(report, judged)
    (folder / f"{model.name}.html").write_text(page, encoding="utf-8", newline="\n")
    succeeds = {j.sample.id: j.succeeds("lexicon") for j in judged}
    chosen = choose_challenge(samples, n=sizes.challenge)
    figures = attack_json(report)
    for name, rows in (("challenge", chosen.biased), ("random", chosen.random)):
        verdicts = [succeeds[row.id] for row in rows]
        figures[name] = _rate([bool(v) for v in verdicts if v is not None] or [False])
    return judged, figures


def markdown(figures: Mapping[str, Any]) -> str:
    """Return the figures as a Markdown table with a column for each model."""
    models = list(figures["models"].values())
    rows: list[tuple[str, list[str]]] = []

    def add(name: str, values: Sequence[str]) -> None:
        rows.append((name, list(values)))

    names = [name for name in models[0]["errors"] if name != "prediction"]
    for name in names:
        add(f"errors, {name} sentences", [_percent(model["errors"][name]) for model in models])
    for feature in ("freq_diff", "freq_right", "freq_wrong", "ppmi_diff", "length"):
        add(f"RBC of errors, {feature}", [_rbc(m["errors"]["prediction"], feature) for m in models])
    for judge in ("lexicon", "contrastive"):
        judged = [model["attacks"]["judges"][judge] for model in models]
        add(f"success, {judge}", [_success(row["total"]) for row in judged])
        for kind in ("insert_at_homograph", "replace_at_homograph"):
            by_kind = [next((k for k in j["by_kind"] if k["name"] == kind), None) for j in judged]
            add(f"success, {judge}, {kind}", [_success(row) for row in by_kind])
        for part, label in ((0, "lowest"), (-1, "highest")):
            add(
                f"success, {judge}, {label} tenth of FREQ difference",
                [_success(row["by_bias"][part]) for row in judged],
            )
        for score in ("freq_diff", "ppmi_diff"):
            add(f"RBC of success, {judge}, {score}", [_rbc(j["prediction"], score) for j in judged])
    for name in ("challenge", "random"):
        add(f"success, {name} set", [_percent(model["attacks"][name]) for model in models])
    add("kappa of the judges", [_kappa(model["attacks"]["agreement"]) for model in models])
    for judge, transfers in zip(("lexicon", "contrastive"), figures["transfer"], strict=True):
        index = transfers[0]["jaccard"]
        text = "–" if index is None else f"{100 * index:.1f} %"
        add(f"Jaccard of the first two models, {judge}", [text] + [""] * (len(models) - 1))
    header = ["", *(f"model {seed}" for seed in figures["models"])]
    table = [header, ["---"] * len(header), *([name, *cells] for name, cells in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def _percent(rate: Mapping[str, float]) -> str:
    limits = f"{100 * rate['low']:.1f}–{100 * rate['high']:.1f}"
    return f"{100 * rate['rate']:.1f} % ({limits}; n = {rate['n']})"


def _success(rate: Mapping[str, Any] | None) -> str:
    if rate is None:
        return "–"
    interval = rate["interval"]
    limits = ""
    if "low" in interval:
        limits = f" ({100 * interval['low']:.1f}–{100 * interval['high']:.1f})"
    return f"{100 * rate['rate']:.1f} %{limits}, {rate['n_success']} of {rate['n']}"


def _rbc(prediction: Mapping[str, Any] | None, feature: str) -> str:
    if prediction is None:
        return "–"
    test = next(row["test"] for row in prediction["tests"] if row["feature"] == feature)
    return f"{test['rank_biserial']:.2f}"


def _kappa(agreement: Mapping[str, Any] | None) -> str:
    if agreement is None:
        return "–"
    interval = agreement["kappa_interval"]
    limits = f" ({interval['low']:.2f}–{interval['high']:.2f})" if "low" in interval else ""
    return f"{agreement['kappa']:.2f}{limits}"


if __name__ == "__main__":
    main()
