"""The pronoun penalty (thesis, equations 4.9 to 4.11): a translation model is penalized when it
gives an incorrect pronoun a high probability.

The loss is L(S) = CE(S) + λ Σ_r PP(r), where PP(r) = 1 - P(r) / N + max_a P(a) / N and N = P(r) +
Σ_a P(a). CE is the smoothed cross-entropy, r a correct pronoun and a one of its alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf_studies.wino_x.translation_pairs import IGNORED

try:
    import torch
    from transformers import Seq2SeqTrainer
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["PronounPenaltyTrainer", "form_logprobs", "pronoun_penalty", "smoothed_cross_entropy"]

_SMALLEST = 1e-30


def pronoun_penalty(logprobs: torch.Tensor) -> torch.Tensor:
    """Return the penalty PP(r) of every pronoun (equations 4.10 and 4.11).

    Args:
        logprobs: (n, k) natural-log probabilities of the k forms of each of n pronouns, the correct
            form first; k is at least 2.

    Returns:
        (n,) penalties in [0, 2]: 0 if the correct form has all of N, 1 if the best incorrect form
        is as probable as the correct one, 2 if one incorrect form has all of N.
    """
    if logprobs.dim() != 2 or logprobs.shape[1] < 2:
        raise InputError(
            "pronoun penalty: expected log-probabilities of shape (pronouns, 2 or more forms), got"
            f" {tuple(logprobs.shape)}"
        )
    # The softmax of log-probabilities divides each probability by their sum N, without underflow.
    shares = logprobs.softmax(-1)  # P / N
    return 1 - shares[:, 0] + shares[:, 1:].amax(-1)


def smoothed_cross_entropy(
    logprobs: torch.Tensor, labels: torch.Tensor, smoothing: float
) -> torch.Tensor:
    """Return the smoothed cross-entropy CE(S), summed over the labels that are not -100, in nats.

    Each label contributes (1 - ε) times its negative log-probability, plus ε times the mean
    negative log-probability of the whole vocabulary.

    Args:
        logprobs: (n, length, vocabulary) natural-log probabilities.
        labels: (n, length) token ids; -100 for positions without a loss.
        smoothing: ε in [0, 1).
    """
    kept = labels.ne(IGNORED)
    chosen = logprobs[kept]
    negative = -chosen.gather(-1, labels[kept][:, None]).sum()
    return (
        negative
        if not smoothing
        else (1 - smoothing) * negative - smoothing * chosen.mean(-1).sum()
    )


def form_logprobs(
    logprobs: torch.Tensor, reads: torch.Tensor, is_longer: torch.Tensor
) -> torch.Tensor:
    """Return the log-probability of every form of every pronoun: the sum over its tokens, each
    conditioned on the tokens before it.

    Args:
        logprobs: (n, length, vocabulary) natural-log probabilities.
        reads: (m, 4) row, position, token and number of the form: the index of the pronoun times k
            plus the index of the form.
    """
    n, k = is_longer.shape[:2]
    row, position, token, form = reads.unbind(-1)
    totals = (
        logprobs.new_zeros(n * k).index_add(0, form, logprobs[row, position, token]).reshape(n, k)
    )
    if not bool(is_longer.any()):
        return totals
    # If a form is the beginning of other forms, it gets the probability that the word begins with
    # it and continues as none of the others, so that the events exclude each other.
    # The probability of the longer forms, relative to that of the form that they begin with, is
    # what this form loses. The clamp keeps the logarithm finite if rounding makes the rest 0.
    share = (
        torch.where(is_longer, totals[:, None, :] - totals[:, :, None], -torch.inf).exp().sum(-1)
    )
    return totals + (1 - share).clamp_min(_SMALLEST).log()


class PronounPenaltyTrainer(Seq2SeqTrainer):  # type: ignore[misc]
    """`Seq2SeqTrainer` with the loss of equation 4.9 over batches of `PairCollator`.

    Args:
        penalty_weight: λ, at least 0; the thesis uses 100. With 0 the model is fine-tuned on the
            (smoothed) cross-entropy alone.
    """

    def __init__(self, *, penalty_weight: float = 100.0, args: Any, **options: Any) -> None:
        if not penalty_weight >= 0:
            raise InputError(
                f"weight of the pronoun penalty: expected 0 or more, got {penalty_weight}"
            )
        self.penalty_weight = penalty_weight
        # DataParallel would split the batch between a pair and the rows of its forms.
        args._n_gpu = min(args.n_gpu, 1)
        super().__init__(args=args, **options)
        # With this flag the trainer counts the labels of a whole step, even for models whose
        # forward pass does not accept that count.
        self.model_accepts_loss_kwargs = True

    def compute_loss(
        self,
        model: Any,
        inputs: Mapping[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Return the loss of a batch in nats per label."""
        names = ("input_ids", "attention_mask", "decoder_input_ids")
        # FSMT drops its causal mask if the cache is on.
        outputs = model(**{name: inputs[name] for name in names}, use_cache=False)
        logprobs = outputs.logits.float().log_softmax(-1)
        loss = smoothed_cross_entropy(logprobs, inputs["labels"], self.args.label_smoothing_factor)
        if self.penalty_weight and len(inputs["form_is_longer"]):
            forms = form_logprobs(logprobs, inputs["form_reads"], inputs["form_is_longer"])
            loss = loss + self.penalty_weight * pronoun_penalty(forms).sum()
        n_labels = (
            inputs["labels"].ne(IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        )
        # As fairseq does, the sum over the sentences of a step is divided by the number of its
        # labels, also across gradient accumulation and processes. Each process uses one device.
        loss = loss / n_labels
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes  # their gradients are averaged
        if not bool(torch.isfinite(loss)):
            raise EvaluatorError(
                f"the loss became {loss.item()}; lower the learning rate, or the weight of the"
                f" penalty ({self.penalty_weight})"
            )
        return (loss, outputs) if return_outputs else loss
