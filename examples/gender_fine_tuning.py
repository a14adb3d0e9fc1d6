"""Fine-tune a translation model on the gender-balanced dev set of MT-GenEval (Currey et al. 2022,
appendix B; Saunders & Byrne 2020), and judge it on the test set before and after.

    python -m examples.gender_fine_tuning --output out/balanced
    python -m examples.gender_fine_tuning --model Helsinki-NLP/opus-mt-en-de --output out/balanced

The dev set holds each sentence with its counterfactual of the other gender, so that a model learns
both forms of the same words. A short training with a low learning rate keeps what the model knew;
BLEU of the test references by gender shows whether it did. The test set is never trained on.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    set_seed,
)

from cc_hf import EvaluationResult, evaluate, load_material, translate
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.models.location import locate
from cc_hf.reports.figure_text import figure_label, metric_name, score_text

#: Metric -> the figures that the table shows.
FIGURES = {
    "gender_accuracy": ("accuracy_male", "accuracy_female", "pair_accuracy"),
    "gender_quality_gap": ("bleu_male", "bleu_female", "bleu_gap"),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--output", type=Path, required=True, help="folder for model and results")
    options.add_argument(
        "--model", default="cc-tiny-en-de", help="the model: cc-tiny-en-de, a folder, or on the Hub"
    )
    options.add_argument("--tgt-lang", default="de", help="a language of MT-GenEval's pairs")
    options.add_argument("--data-dir", type=Path, help="local copy of the upstream repositories")
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--batch-size", type=int, default=16, help="sentences per step")
    options.add_argument("--learning-rate", type=float, default=5e-5)
    options.add_argument("--beams", type=int, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--cpu", action="store_true", help="also where there is a GPU")
    return options


def encoded(examples: Sequence[Any], tokenizer: Any) -> list[dict[str, list[int]]]:
    """Return sources and references as rows for the trainer."""
    limits = {"truncation": True, "max_length": 128}
    sources = tokenizer([e.source for e in examples], **limits)["input_ids"]
    labels = tokenizer(text_target=[e.extra["reference"] for e in examples], **limits)["input_ids"]
    return [
        {"input_ids": source, "labels": target}
        for source, target in zip(sources, labels, strict=True)
    ]


def judged(
    model: str | Path, name: str, options: argparse.Namespace
) -> Mapping[str, EvaluationResult]:
    """Return the result of the test set by each metric, and write it to a file."""
    material = load_material(
        "mt_geneval",
        f"counterfactual_{options.tgt_lang}",
        split="test",
        data_dir=options.data_dir,
    )
    translations = translate(
        [example.source for example in material.examples],
        model,
        src_lang=material.src_lang,
        tgt_lang=material.tgt_lang,
        num_beams=options.beams,
        loading=LoadingOptions(device="cpu" if options.cpu else None),
    )
    results = {
        metric: evaluate(material, translations=translations, metric=metric, name=name)
        for metric in FIGURES
    }
    for metric, result in results.items():
        (options.output / f"{name}.{metric}.json").write_text(
            result.to_json(), encoding="utf-8", newline="\n"
        )
    return results


def lines(
    before: Mapping[str, EvaluationResult], after: Mapping[str, EvaluationResult]
) -> Iterator[str]:
    """Yield a Markdown table of the figures before and after, in percent with 95 % intervals."""
    yield "| | before | after |"
    yield "|---|---|---|"
    for metric, names in FIGURES.items():
        for name in names:
            texts = [score_text(results[metric], name) for results in (before, after)]
            label = f"{metric_name(metric)}: {figure_label(metric, name)}"
            yield f"| {label} | {' | '.join(texts)} |"


def fine_tuned(options: argparse.Namespace) -> Path:
    """Fine-tune the model on the dev set.

    Returns:
        The folder that it was saved to.
    """
    location = locate(options.model)[0]
    model = AutoModelForSeq2SeqLM.from_pretrained(location, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(location)
    development = load_material(
        "mt_geneval", f"counterfactual_{options.tgt_lang}", split="dev", data_dir=options.data_dir
    )
    settings = Seq2SeqTrainingArguments(
        output_dir=str(options.output / "checkpoints"),
        max_steps=options.steps,
        per_device_train_batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=options.steps // 10,
        logging_steps=max(1, options.steps // 10),
        save_strategy="no",
        seed=options.seed,
        report_to="none",
        disable_tqdm=True,
        use_cpu=options.cpu,
        dataloader_pin_memory=torch.cuda.is_available() and not options.cpu,
    )
    trainer = Seq2SeqTrainer(
        model,
        settings,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        train_dataset=encoded(development.examples, tokenizer),
        processing_class=tokenizer,
    )
    trainer.train()
    folder: Path = options.output / "model"
    trainer.save_model(str(folder))
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge, fine-tune, judge again, and print the table."""
    options = parser().parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    set_seed(options.seed)
    before = judged(options.model, "before", options)
    after = judged(fine_tuned(options), "after", options)
    table = "\n".join(lines(before, after))
    (options.output / "table.md").write_text(f"{table}\n", encoding="utf-8", newline="\n")
    print(table)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
