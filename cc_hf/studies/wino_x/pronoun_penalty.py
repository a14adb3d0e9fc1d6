"""The pronoun penalty (thesis, equations 4.9 to 4.11): a translation model is fined where it gives
an incorrect pronoun the higher probability.

L(S) = CE(S) + λ Σ_r PP(r),  PP(r) = 1 - P(r) / N + max_a P(a) / N,  N = P(r) + Σ_a P(a); CE is the
smoothed cross-entropy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf.studies.wino_x.translation_pairs import IGNORED

try:
    import torch
    from transformers import Seq2SeqTrainer
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["PronounPenaltyTrainer", "form_logprobs", "pronoun_penalty", "smoothed_cross_entropy"]

_SMALLEST = 1e-30


def pronoun_penalty(logprobs: torch.Tensor) -> torch.Tensor:
    """PP(r), equations 4.10 and 4.11, of every pronoun.

    Args:
        logprobs: (n, k) natural-log probabilities of the k forms of each of n pronouns, the correct
            one first; k is 2 or more.

    Returns:
        (n,) in [0, 2]: 0 where the correct form has all of N, 2 where one incorrect form has it, 1
        where the best incorrect one is as probable.

    Raises:
        InputError: for another shape.

    >>> [
    ...     round(float(value), 4)
    ...     for value in pronoun_penalty(torch.tensor([[0.2, 0.1, 0.1], [0.1, 0.1, 0.0]]).log())
    ... ]
    [0.75, 1.0]
    """
    if logprobs.dim() != 2 or logprobs.shape[1] < 2:
        raise InputError(
            "pronoun penalty: expected log-probabilities of shape (pronouns, 2 or more forms), got"
            f" {tuple(logprobs.shape)}"
        )
    shares = logprobs.softmax(-1)  # P / N
    return 1 - shares[:, 0] + shares[:, 1:].amax(-1)


def smoothed_cross_entropy(
    logprobs: torch.Tensor, labels: torch.Tensor, smoothing: float
) -> torch.Tensor:
    """CE(S) summed over the labels that are not -100, in nats: 1 - ε of the negative
    log-probability of the label, ε of the mean of those of all tokens.

    Args:
        logprobs: (n, length, vocabulary) natural-log probabilities.
        labels: (n, length) ids, -100 where nothing is to be learnt.
        smoothing: ε in [0, 1).

    >>> float(
    ...     smoothed_cross_entropy(
    ...         torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]]).log(),
    ...         torch.tensor([[0, -100]]),
    ...         0.0,
    ...     )
    ... )
    0.6931471824645996
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
    """log P of every form of every pronoun.

    That of a form is the sum over its tokens, each under those before it. A form that is the
    beginning of others has the probability that the word begins so and goes on as none of them, so
    that the events exclude each other.

    Args:
        logprobs: (n, length, vocabulary) natural-log probabilities.
        reads: (m, 4) row, position, token, and number of the form (pronoun times k plus place of
            the form).
        is_longer: (pronouns, k, k) whether the second form goes on where the first ends.

    Returns:
        (pronouns, k) natural-log probabilities, the correct form first.
    """
    n, k = is_longer.shape[:2]
    row, position, token, form = reads.unbind(-1)
    found = (
        logprobs.new_zeros(n * k).index_add(0, form, logprobs[row, position, token]).reshape(n, k)
    )
    if not bool(is_longer.any()):
        return found
    share = torch.where(is_longer, found[:, None, :] - found[:, :, None], -torch.inf).exp().sum(-1)
    return found + (1 - share).clamp_min(_SMALLEST).log()


class PronounPenaltyTrainer(Seq2SeqTrainer):  # type: ignore[misc]
    """`Seq2SeqTrainer` with the loss of equation 4.9 over batches of `PairCollator`.

    Sums over the sentences of a step are divided by the number of its labels, as fairseq does, over
    gradient accumulation and processes too.

    Args:
        penalty_weight: λ, 0 or more; the thesis takes 100. 0 is fine-tuning on the (smoothed)
            cross-entropy alone.
        options: of `Seq2SeqTrainer`; ε is its argument `label_smoothing_factor`. One process uses
            one device.

    Raises:
        InputError: for a negative weight.
        EvaluatorError: when the loss is not a number.
    """

    def __init__(self, *, penalty_weight: float = 100.0, args: Any, **options: Any) -> None:
        if not penalty_weight >= 0:
            raise InputError(
                f"weight of the pronoun penalty: expected 0 or more, got {penalty_weight}"
            )
        self.penalty_weight = penalty_weight
        # DataParallel would cut the batch between a pair and the rows of its forms
        args._n_gpu = min(args.n_gpu, 1)
        super().__init__(args=args, **options)
        # so that the labels of a whole step are counted, also for models that cannot be told of
        # them
        self.model_accepts_loss_kwargs = True

    def compute_loss(
        self,
        model: Any,
        inputs: Mapping[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """The loss of a batch; `num_items_in_batch` counts the labels of all batches of the step,
        None those of this one.
        """
        names = ("input_ids", "attention_mask", "decoder_input_ids")
        # with its cache on FSMT drops the causal mask
        outputs = model(**{name: inputs[name] for name in names}, use_cache=False)
        logprobs = outputs.logits.float().log_softmax(-1)
        loss = smoothed_cross_entropy(logprobs, inputs["labels"], self.args.label_smoothing_factor)
        if self.penalty_weight and len(inputs["form_is_longer"]):
            forms = form_logprobs(logprobs, inputs["form_reads"], inputs["form_is_longer"])
            loss = loss + self.penalty_weight * pronoun_penalty(forms).sum()
        n_labels = (
            inputs["labels"].ne(IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        )
        loss = loss / n_labels
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes  # whose gradients are averaged
        if not bool(torch.isfinite(loss)):
            raise EvaluatorError(
                f"the loss became {loss.item()}; lower the learning rate, or the weight of the"
                f" penalty ({self.penalty_weight})"
            )
        return (loss, outputs) if return_outputs else loss
