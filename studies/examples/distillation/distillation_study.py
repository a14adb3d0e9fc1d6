"""Distil small translation models from a larger one, and look at what becomes of the rarer gender
(Vamvas & Sennrich 2021, sections 4.1 to 4.3, at a small size).

    python -m studies.examples.distillation.distillation_study --output out/distillation \\
        --cpu --threads 2

Sentences about people with occupations, mostly masculine in German, are made up. A teacher learns
from them and translates their sources. Two sizes of students learn from its translations, and
baselines of the same sizes from the originals. All are judged by BLEU of held-out sentences and by
the embedded evaluator on SimpleGEN; male and female forms are counted in the original, the
teacher's translations and those of each student.

What is done is in files and is not done again, so that a study that was killed goes on where it
stopped. With --seed N the models of another seed are added to the same folder; data are shared. The
folder `results` has a result file of each system and bleu.json, for `cc-hf report`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from cc_hf_studies.common.model_comparison import compared_bleu
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch.run import TrainingFiles, train
from cc_hf_studies.distillation.gender_flows import (
    OUTCOMES,
    OccupationCounts,
    read_occupation_counts,
)
from cc_hf_studies.distillation.occupations import (
    OccupationCounter,
    count_occupations,
    parse_occupation_forms,
)

from cc_hf import EvaluationResult, evaluate, load_material, translate
from cc_hf.comparing.systems import compare
from cc_hf.data.corpora.parallel import file_corpus
from cc_hf.evaluators.loading import load_with
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.scores.quality import corpus_quality
from cc_hf.plugins.training.sampling import stratified_sample
from cc_hf.reading import read_lines
from cc_hf.reports.figure_text import score_text, with_interval
from cc_hf.statistics.paired import PairedDifference, paired_differences
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.systems.text_files import translate_file
from examples.train_marian import made_pairs, split
from tools.evaluator_recipe.grammar import CASES, Noun, read_occupations
from tools.evaluator_recipe.sentences import english_plural

TEACHER = "teacher"
#: Figures of the table.
FIGURES = ("min_accuracy", "accuracy_FoFc", "accuracy_FoMc", "accuracy_MoFc", "accuracy_MoMc")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--output", type=Path, required=True, help="folder, new or to go on with")
    options.add_argument("--sentences", type=int, default=20_000, help="pairs that are made up")
    options.add_argument("--development", type=int, default=500, help="of these, held out for BLEU")
    options.add_argument("--pieces", type=int, default=2000, help="size of the joint vocabulary")
    options.add_argument("--teacher-width", type=int, default=128)
    options.add_argument("--teacher-layers", type=int, default=2, help="of each side")
    options.add_argument("--teacher-steps", type=int, default=2000)
    options.add_argument("--widths", type=int, nargs="+", default=[64, 32], help="of the students")
    options.add_argument("--layers", type=int, default=2, help="of each side of the students")
    options.add_argument("--steps", type=int, default=2000, help="of students and baselines")
    options.add_argument("--batch-size", type=int, default=64)
    options.add_argument("--learning-rate", type=float, default=2e-3)
    options.add_argument("--beams", type=int, default=5)
    options.add_argument(
        "--max-length-ratio", type=float, default=1.5, help="pairs above it are not learned from"
    )
    options.add_argument(
        "--counted", type=int, default=5000, help="sources of the training data that are counted"
    )
    options.add_argument(
        "--block-lines", type=int, default=1000, help="lines that are translated and stored at once"
    )
    options.add_argument("--examples", type=int, default=600, help="of SimpleGEN")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--threads", type=int, help="threads of torch")
    options.add_argument("--cpu", action="store_true", help="also where there is a GPU")
    return options


def forms_of_occupations() -> dict[str, dict[str, list[str]]]:
    """Return the forms of the occupations of the made sentences, as `cc-hf study distillation
    occupations --forms` takes them: those of one word, and of one gender only.
    """
    forms = {}
    for occupation in read_occupations():
        sources = [occupation.english, english_plural(occupation.english)]
        male, female = (_words(nouns) for nouns in (occupation.masculine, occupation.feminine))
        if " " in "".join(sources) or not (male - female and female - male):
            continue
        forms[occupation.english] = {
            "src_forms": sources,
            "tgt_forms_male": sorted(male - female),
            "tgt_forms_female": sorted(female - male),
        }
    return forms


def _words(nouns: Sequence[Noun]) -> set[str]:
    texts = {
        noun.form(case, plural=plural, adjective_ending="")
        for noun in nouns
        if noun.declension not in ("adjective", "neuter")
        for case in CASES
        for plural in (False, True)
    }
    return {text for text in texts if text.replace("-", "").isalpha()}


@dataclass(frozen=True)
class System:
    """A model of the study.

    Attributes:
        is_student: whether it learns from the teacher's translations.
    """

    name: str
    width: int
    is_student: bool
    seed: int


class Study:
    """The files of a study, each made once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder: Path = options.output
        self.data = self.folder / "data"
        self.results = self.folder / "results"
        for folder in (self.data, self.results, self.folder / "translations"):
            folder.mkdir(parents=True, exist_ok=True)
        self.loading = LoadingOptions(
            src_lang="en", tgt_lang="de", device="cpu" if options.cpu else None
        )

    def systems(self) -> list[System]:
        """Return the teacher, the students and the baselines of the seed."""
        seed = self.options.seed
        teacher = System(f"{TEACHER}.seed{seed}", self.options.teacher_width, False, seed)
        others = [
            System(f"{name}-{width}.seed{seed}", width, name == "student", seed)
            for width in self.options.widths
            for name in ("student", "baseline")
        ]
        return [teacher, *others]

    def make_data(self) -> None:
        """Write the pairs to learn from, those for BLEU, and the forms of occupations."""

        def write(path: Path) -> None:
            pairs = made_pairs(self.options.sentences, seed=1)
            training, development = split(pairs, self.options.development, seed=1)
            for name, part in (
                ("counted", training[: self.options.counted]),
                ("dev", development),
                ("train", training),
            ):
                for side, texts in (
                    ("en", [pair.english for pair in part]),
                    ("de", [pair.target for pair in part]),
                ):
                    (self.data / f"{name}.{side}").write_text(
                        _lines(texts), encoding="utf-8", newline="\n"
                    )
            path.write_text(
                json.dumps(forms_of_occupations(), ensure_ascii=False), "utf-8", newline="\n"
            )

        _once(self.data / "forms.json", write)

    def best(self, system: System) -> Path:
        """Return the folder of a trained model, which is trained if need be."""
        folder = self.folder / "models" / system.name
        if (folder / "figures.json").is_file():
            return folder / "best"
        is_teacher = system.name.startswith(TEACHER)
        layers, steps = self.options.layers, self.options.steps
        if is_teacher:
            layers, steps = self.options.teacher_layers, self.options.teacher_steps
        targets = self.distilled(system.seed) if system.is_student else self.data / "train.de"
        options = TrainingOptions(
            layers=str(layers),
            width=system.width,
            ffn=str(4 * system.width),
            heads=4,
            dropout=0.1,
            learning_rate=self.options.learning_rate,
            warmup=max(1, steps // 10),
            schedule="linear",
            steps=steps,
            eval_steps=max(1, steps // 4),
            batch_size=self.options.batch_size,
            beams=1,
            seed=system.seed,
            max_length_ratio=self.options.max_length_ratio,
            pieces=self.options.pieces,
            vocabulary=None if is_teacher else self.best(self.systems()[0]),
            cpu=self.options.cpu,
        )
        dev = (self.data / "dev.en", self.data / "dev.de")
        train(options, TrainingFiles((self.data / "train.en", targets), dev), folder)
        return folder / "best"

    def translated(self, system: System, part: str) -> Path:
        """Return a model's translations of a part of the data."""
        path = self.folder / "translations" / f"{system.name}.{part}.de"
        if not path.is_file():
            model = load_with(self.best(system), self.loading)
            translate_file(
                model,
                self.data / f"{part}.en",
                path,
                num_beams=self.options.beams,
                block_lines=self.options.block_lines,
                progress=True,
            )
        return path

    def distilled(self, seed: int) -> Path:
        """Return the teacher's translations of the sources of the training data."""
        teacher = next(system for system in self.systems() if system.seed == seed)
        return self.translated(teacher, "train")

    def judge(self, system: System) -> None:
        """Write the result of a system on SimpleGEN."""

        def write(path: Path) -> None:
            material = load_material("simplegen", "en-de")
            sample = stratified_sample(material.examples, self.options.examples, seed=0)
            translations = translate(
                [example.source for example in sample],
                self.best(system),
                num_beams=self.options.beams,
                loading=self.loading,
            )
            result = evaluate(
                replace(material, rows=sample),
                translations=[text if text.strip() else "." for text in translations],
                name=system.name,
                loading=LoadingOptions(device=self.loading.device),
            )
            path.write_text(result.to_json(), encoding="utf-8", newline="\n")

        _once(self.results / f"{system.name}.json", write)

    def result(self, system: System) -> EvaluationResult:
        """Return the result of a system on SimpleGEN."""
        return EvaluationResult.from_json(
            (self.results / f"{system.name}.json").read_text(encoding="utf-8")
        )

    def score(self) -> None:
        """Write BLEU of all systems of the folder."""
        paths = sorted((self.folder / "translations").glob("*.dev.de"))
        texts = {
            path.name.removesuffix(".dev.de"): read_lines(path, keeps_end=True) for path in paths
        }
        references = read_lines(self.data / "dev.de", keeps_end=True)
        rows = [quality.to_row() for quality in corpus_quality(texts, references)]
        (self.results / "bleu.json").write_text(
            json.dumps(rows, indent=1) + "\n", encoding="utf-8", newline="\n"
        )

    def count(self, system: System) -> OccupationCounts:
        """Return the genders in original, teacher's and a student's translations."""

        def write(path: Path) -> None:
            teacher = self.data / f"teacher.seed{system.seed}.counted.de"
            lines = read_lines(self.distilled(system.seed), keeps_end=True)
            teacher.write_text(
                _lines(lines[: self.options.counted]), encoding="utf-8", newline="\n"
            )
            forms = json.loads((self.data / "forms.json").read_text(encoding="utf-8"))
            counts = count_occupations(
                file_corpus(
                    self.data / "counted.en",
                    self.data / "counted.de",
                    teacher,
                    self.translated(system, "counted"),
                    block_pairs=10_000,
                ),
                OccupationCounter(parse_occupation_forms(forms)),
                stages=["original", "teacher", "student"],
            )
            path.write_text(counts.to_json(), encoding="utf-8", newline="\n")

        path = self.folder / f"occupations.{system.name}.json"
        _once(path, write)
        return read_occupation_counts(path)


def _lines(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def _once(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file that is missing; it has its name when it is complete."""
    if not path.is_file():
        part = path.with_name(f"{path.name}.part")
        write(part)
        part.rename(path)


def systems_table(study: Study) -> Iterator[str]:
    """Yield a Markdown table of the systems; figures are multiplied by 100."""
    yield "| system | parameters | BLEU | minimum accuracy | FoFc | FoMc | MoFc | MoMc |"
    yield "|---|---|---|---|---|---|---|---|"
    rows = json.loads((study.results / "bleu.json").read_text(encoding="utf-8"))
    bleu = {row["system"]: row["bleu"] for row in rows}
    for system in study.systems():
        figures = json.loads(
            (study.folder / "models" / system.name / "figures.json").read_text(encoding="utf-8")
        )
        result = study.result(system)
        cells = [
            f"{figures['n_parameters']:,}",
            f"{bleu[system.name]:.1f}",
            *(score_text(result, name) for name in FIGURES),
        ]
        yield f"| {system.name} | {' | '.join(cells)} |"


def comparison_table(study: Study) -> Iterator[str]:
    """Yield a Markdown table of each student against the baseline of its size."""
    yield "| width | BLEU | accuracy | minimum accuracy |"
    yield "|---|---|---|---|"
    references = read_lines(study.data / "dev.de", keeps_end=True)
    students, baselines = (
        [s for s in study.systems()[1:] if s.is_student is is_student]
        for is_student in (True, False)
    )
    for student, baseline in zip(students, baselines, strict=True):
        texts = [
            read_lines(study.translated(system, "dev"), keeps_end=True)
            for system in (baseline, student)
        ]
        judged = compare({s.name: study.result(s) for s in (baseline, student)}).systems[0]
        differences = [
            compared_bleu((texts[0], texts[1]), references, tgt_lang="de").difference,
            judged.differences["accuracy"],
            judged.differences["min_accuracy"],
        ]
        cells = [with_interval(row.difference, row.interval) for row in differences]
        yield f"| {student.width} | {' | '.join(cells)} |"


def shares_table(study: Study) -> Iterator[str]:
    """Yield a Markdown table of the shares of male and female forms, and of their changes from
    stage to stage with intervals of pairs that are drawn again.
    """
    yield f"| student | stage | {' | '.join(OUTCOMES)} |"
    yield "|---|---|" + "---|" * len(OUTCOMES)
    for system in study.systems():
        if not system.is_student:
            continue
        counts = study.count(system)
        for stage, name in enumerate(counts.stages):
            total = counts.total(stage)
            cells = [
                with_interval(total[o] / counts.n, wilson_interval(total[o], counts.n))
                for o in OUTCOMES
            ]
            yield f"| {system.name} | {name} (n = {counts.n:,.0f}) | {' | '.join(cells)} |"
        for step, name in enumerate(counts.stages[1:]):
            cells = [
                with_interval(change.difference, change.interval)
                for change in (share_change(counts.total_flow(step), o) for o in OUTCOMES)
            ]
            yield f"| {system.name} | change to {name} | {' | '.join(cells)} |"


def share_change(flow: Mapping[str, Mapping[str, float]], outcome: str) -> PairedDifference:
    """Return the change of an outcome's share between two stages over the same pairs."""
    cells = [
        (before == outcome, after == outcome, round(number))
        for before, numbers in flow.items()
        for after, number in numbers.items()
    ]
    pairs = np.array([(before, after) for before, after, n in cells for _ in range(n)]).T
    return paired_differences(pairs, ["all"] * pairs.shape[1])[0]["accuracy"]


def main(arguments: Sequence[str] | None = None) -> str:
    """Run what is missing of the study, and print and return the tables."""
    options = parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    study = Study(options)
    study.make_data()
    for system in study.systems():
        study.judge(system)
        study.translated(system, "dev")
    study.score()
    tables = {
        "Systems (in brackets: 95 % intervals)": systems_table,
        "Students minus baselines of the same width": comparison_table,
        "Forms of occupations in the translations of the sources of the training data": (
            shares_table
        ),
    }
    text = "\n\n".join(f"{title}:\n\n" + "\n".join(table(study)) for title, table in tables.items())
    path = study.folder / f"tables.seed{options.seed}.md"
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    print(text)
    return text


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
