"""A trainer on a tiny model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import transformers

from cc_hf.plugins.training.callback import ProbingCallback

_PAIRS = (
    ("The doctor asked the nurse.", "Der Arzt bat die Krankenschwester."),
    ("The mechanic was in a good mood.", "Die Mechanikerin hatte gute Laune."),
    ("The nurse was in a good mood.", "Die Krankenschwester hatte gute Laune."),
    ("Help the doctor.", "Hilf dem Arzt."),
    ("The receptionist greeted her.", "Der Rezeptionist begrüßte sie."),
)


def rows_of(tokenizer: Any, n: int) -> list[dict[str, list[int]]]:
    """Return rows as a trainer takes them."""
    pairs = [_PAIRS[i % len(_PAIRS)] for i in range(n)]
    ids = [(tokenizer(a)["input_ids"], tokenizer(text_target=b)["input_ids"]) for a, b in pairs]
    return [{"input_ids": source, "labels": target} for source, target in ids]


def made_trainer(
    model_folder: Path,
    output: Path,
    callbacks: Sequence[Any],
    *,
    eval_dataset: Any = None,
    compute_metrics: Any = None,
    **settings: Any,
) -> transformers.Seq2SeqTrainer:
    """Return a quiet trainer on the CPU with four steps unless told otherwise."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(model_folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    # the tokenizer encodes no labels before it is told the language
    if model.config.model_type == "m2m_100" and getattr(tokenizer, "tgt_lang", "") is None:
        tokenizer.src_lang, tokenizer.tgt_lang = "en", "de"
    options: dict[str, Any] = {
        **{"max_steps": 4, "learning_rate": 1e-2, "per_device_train_batch_size": 3},
        # an untrained model never ends a text: the longest source of the batch sets the limit
        "per_device_eval_batch_size": 8,
        **{"predict_with_generate": True, "generation_num_beams": 2, "use_cpu": True},
        **{"report_to": "none", "disable_tqdm": True, "dataloader_pin_memory": False},
        **{"save_strategy": "no", "eval_strategy": "steps", "eval_steps": 2, "logging_steps": 1},
        **settings,
    }
    trainer = transformers.Seq2SeqTrainer(
        model,
        transformers.Seq2SeqTrainingArguments(output_dir=str(output), **options),
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer, model),
        train_dataset=rows_of(tokenizer, 20),
        eval_dataset=rows_of(tokenizer, 4) if eval_dataset is None else eval_dataset,
        processing_class=tokenizer,
        compute_metrics=compute_metrics,
    )
    for callback in callbacks:
        if isinstance(callback, ProbingCallback):
            callback.attach(trainer)
        else:
            trainer.add_callback(callback)
    return trainer
