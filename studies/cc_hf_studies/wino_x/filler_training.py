"""Fine-tune masked language models on LM-Wino-X with the correct filler (thesis, section 4.4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError, check_choice
from cc_hf.evaluators.families.masked_lm import MaskedLMEvaluator
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf_studies.wino_x.fine_tuning import FineTuned, FineTuning, fine_tune, own_copy
from cc_hf_studies.wino_x.translation_pairs import IGNORED

try:
    import torch
    from transformers import Trainer
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = [
    "MASKINGS",
    "EncodedFiller",
    "FillerCollator",
    "FillerTrainer",
    "encode_fillers",
    "fine_tune_on_fillers",
]

#: What is masked, and which tokens have a loss. With "filler" all tokens of the filler are masked
#: and every token of the sentence has a loss, as in the program of the thesis. With "filler-only"
#: only the filler has a loss. "random" is BERT's masked language modeling, which draws 15 % of the
#: tokens anew each time.
MASKINGS = ("filler", "filler-only", "random")

_GAP = "_"
# In Devlin et al. 2019, 80 % of the chosen tokens are masked, and half of the others are replaced
# by a random token.
_CHOSEN, _MASKED, _REPLACED = 0.15, 0.8, 0.5


@dataclass(frozen=True, slots=True)
class EncodedFiller:
    """A sentence as token ids, special tokens included, and which of them belong to the filler."""

    ids: tuple[int, ...]
    is_filler: tuple[bool, ...]
    is_special: tuple[bool, ...]


def encode_fillers(
    evaluator: MaskedLMEvaluator, examples: Sequence[ContrastiveTranslationExample]
) -> list[EncodedFiller]:
    """Encode sentences with the correct filler in the gap, by a fast tokenizer."""
    if not examples:
        raise InputError("nothing to train on: expected at least one example, got none")
    tokenizer = evaluator.tokenizer
    if not tokenizer.is_fast:
        raise InputError(
            f"{evaluator.name}: expected a tokenizer that tells where its tokens stand in the text"
            f" (a fast one), got {type(tokenizer).__name__}"
        )
    fillers = []
    for row, example in enumerate(examples):
        spans = _filler_spans(example)
        (plain,) = evaluator.encode_targets(
            [example.correct_translation], example.src_lang, example.tgt_lang
        )
        if len(
            evaluator.fit([], list(plain), ScoringRequest("", example.correct_translation, row))[1]
        ) < len(plain):
            raise InputError(
                f"example {example.id!r}: the sentence is too long, and nothing is cut in training;"
                " load the evaluator with on_too_long='error'"
            )
        encoded = tokenizer(
            example.correct_translation,
            truncation=False,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        special = tuple(map(bool, encoded["special_tokens_mask"]))
        is_filler = tuple(
            not is_special and any(start < last and end > first for first, last in spans)
            for is_special, (start, end) in zip(special, encoded["offset_mapping"], strict=True)
        )
        if not any(is_filler):
            raise InputError(
                f"example {example.id!r}: {evaluator.name} has no token for the filler"
                f" {example.extra['correct_filler']!r}"
            )
        fillers.append(EncodedFiller(tuple(encoded["input_ids"]), is_filler, special))
    return fillers


def _filler_spans(example: ContrastiveTranslationExample) -> list[tuple[int, int]]:
    """Return the characters of the filler in the filled sentence, one span per gap."""
    context, filler = example.extra.get("context", ""), example.extra.get("correct_filler", "")
    if not filler or context.replace(_GAP, filler) != example.correct_translation:
        raise InputError(
            f"example {example.id!r}: expected a sample of LM-Wino-X, whose correct sentence is its"
            f' context with the filler in the gap "{_GAP}"'
        )
    pieces = context.split(_GAP)[:-1]
    ends = [sum(map(len, pieces[: n + 1])) + (n + 1) * len(filler) for n in range(len(pieces))]
    return [(end - len(filler), end) for end in ends]


class FillerCollator:
    """A collator of sentences into batches of `input_ids`, `attention_mask` and `labels`, which are
    -100 at tokens without a loss.

    Args:
        n_vocabulary: number of tokens from which replacements are drawn.
    """

    def __init__(self, tokenizer: Any, *, masking: str, n_vocabulary: int, seed: int) -> None:
        check_choice("masking", masking, MASKINGS)
        self.pad, self.mask = tokenizer.pad_token_id, tokenizer.mask_token_id
        self.masking, self.n_vocabulary = masking, n_vocabulary
        # Masks do not depend on other random numbers of the training.
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, rows: Sequence[EncodedFiller]) -> dict[str, torch.Tensor]:
        """Return the batch of some sentences."""
        width = max(len(row.ids) for row in rows)
        ids = torch.tensor([[*row.ids, *[self.pad] * (width - len(row.ids))] for row in rows])
        is_token = torch.tensor(
            [[True] * len(row.ids) + [False] * (width - len(row.ids)) for row in rows]
        )
        filler, special = (
            torch.tensor([[*mask, *[False] * (width - len(mask))] for mask in masks])
            for masks in ([r.is_filler for r in rows], [r.is_special for r in rows])
        )
        if self.masking == "random":
            inputs, has_loss = self._randomly(ids, is_token & ~special)
        else:
            inputs, has_loss = (
                ids.masked_fill(filler, self.mask),
                (is_token if self.masking == "filler" else filler),
            )
        return {
            "input_ids": inputs,
            "attention_mask": is_token.long(),
            "labels": ids.masked_fill(~has_loss, IGNORED),
        }

    def _randomly(
        self, ids: torch.Tensor, allowed: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        chance, kind, which = (torch.rand(ids.shape, generator=self.generator) for _ in range(3))
        order = chance.masked_fill(~allowed, torch.inf)
        # At least one token of every sentence is chosen, so that no row is without a loss.
        has_loss = allowed & ((chance < _CHOSEN) | (order == order.amin(1, keepdim=True)))
        masked, unmasked = has_loss & (kind < _MASKED), has_loss & (kind >= _MASKED)
        replaced = unmasked & (which < _REPLACED)
        any_token = torch.randint(self.n_vocabulary, ids.shape, generator=self.generator)
        return torch.where(replaced, any_token, ids.masked_fill(masked, self.mask)), has_loss


class FillerTrainer(Trainer):  # type: ignore[misc]
    """`Trainer` with the cross-entropy of masked LMs, divided by the number of labels of a step."""

    def __init__(self, *, args: Any, **options: Any) -> None:
        args._n_gpu = min(args.n_gpu, 1)
        super().__init__(args=args, **options)
        self.model_accepts_loss_kwargs = True

    def compute_loss(
        self,
        model: Any,
        inputs: Mapping[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Return the loss of a batch in nats per label."""
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        has_loss = labels.ne(IGNORED)
        loss = torch.nn.functional.cross_entropy(
            outputs.logits.float()[has_loss], labels[has_loss], reduction="sum"
        )
        # The loss that these models compute themselves ignores the number of labels of the whole
        # step when gradients are accumulated.
        loss = loss / (has_loss.sum() if num_items_in_batch is None else num_items_in_batch)
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes
        return (loss, outputs) if return_outputs else loss


def fine_tune_on_fillers(
    evaluator: MaskedLMEvaluator,
    train: Sequence[ContrastiveTranslationExample],
    dev: Sequence[ContrastiveTranslationExample],
    settings: FineTuning,
) -> FineTuned:
    """Fine-tune a copy of a masked LM on sentences with the correct filler, in their language."""
    if settings.penalty_weight or settings.label_smoothing:
        raise InputError(
            "masked language models are trained without label smoothing and pronoun penalty; set"
            " both to 0"
        )
    copy = own_copy(evaluator)
    collate = FillerCollator(
        copy.tokenizer,
        masking=settings.masking,
        n_vocabulary=copy.model.config.vocab_size,
        seed=settings.seed,
    )
    return fine_tune(
        copy,
        FillerTrainer,
        encode_fillers(copy, train),
        encode_fillers(copy, dev),
        collate,
        settings,
    )
