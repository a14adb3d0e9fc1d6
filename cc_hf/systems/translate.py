"""Translations of a list of sources by the system under test: any sequence-to-sequence model that
an evaluator family knows, loaded by name or in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from cc_hf.errors import InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.evaluators.loading import load_with  # first: it says which extra brings torch
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.teacher_forcing import pad_ids
from cc_hf.models.pretrained import input_device

# isort: split
import torch

__all__ = ["DEFAULT_BEAMS", "translate", "translate_with"]

DEFAULT_BEAMS = 5


def translate(
    sources: Sequence[str],
    system: str | Path,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    num_beams: int = DEFAULT_BEAMS,
    batch_tokens: int = 2048,
    loading: LoadingOptions | None = None,
    progress: bool = False,
) -> list[str]:
    """Translate by beam search; equal sources are translated once, the order is kept.

    Args:
        sources: texts in the model's source language.
        system: name, folder or Hub model, as `load_evaluator` takes it.
        src_lang, tgt_lang: told to multilingual models; refused when the model does not have them.
        num_beams: at least 1.
        batch_tokens: padded source tokens times two of a batch, for each of the beams.
        loading: how the model is loaded: its kind, prompt, revision and device.
        progress: show a bar when it takes longer than a second.

    Raises:
        InputError: for no sources, an empty source, languages that the model does not have,
            num_beams below 1, a model that does not translate.
        TooLongError: when a source does not fit the model; the message names the row.

    >>> translate(["The doctor is here."], "cc-tiny-en-de")
    ['Der Arzt ist hier.']
    """
    _check(sources, num_beams)
    model = load_with(system, loading or LoadingOptions())
    return translate_with(
        model,
        sources,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        num_beams=num_beams,
        batch_tokens=batch_tokens,
        progress=progress,
    )


def translate_with(
    model: Evaluator,
    sources: Sequence[str],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    num_beams: int = DEFAULT_BEAMS,
    max_new_tokens: int | None = None,
    batch_tokens: int = 2048,
    batch_size: int | None = None,
    team: Team = ALONE,
    progress: bool = False,
) -> list[str]:
    """As `translate`, with a model that is in memory (`load_evaluator`, or
    `cc_hf.evaluators.loading.evaluator_of` for one in training).

    Args:
        model: an evaluator of a sequence-to-sequence family.
        sources, src_lang, tgt_lang, num_beams, batch_tokens, progress: as `translate`.
        max_new_tokens: the longest translation; None for three times the source and ten more. Never
            more than the model takes.
        batch_size: sources in a batch, instead of `batch_tokens`.
        team: the processes that translate together, each its share; all get all translations, which
            are those of one process.

    Raises:
        InputError, TooLongError: as `translate`.
        EvaluatorError: when another process of the team failed.

    >>> from cc_hf import load_evaluator
    >>> translate_with(
    ...     load_evaluator("cc-tiny-en-de"),
    ...     ["The doctor is here.", "The nurse is here."],
    ...     batch_size=1,
    ... )
    ['Der Arzt ist hier.', 'Die Krankenschwester ist hier.']
    """
    _check(sources, num_beams)
    for name, value in (("max_new_tokens", max_new_tokens), ("batch_size", batch_size)):
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    if not isinstance(model, Seq2SeqEvaluator):
        raise InputError(
            f"{model.name} does not translate: expected a sequence-to-sequence model, got"
            f" {type(model).__name__}"
        )
    src_lang, tgt_lang = src_lang or model.src_lang, tgt_lang or model.tgt_lang
    model.check_languages(src_lang, tgt_lang)
    distinct = sorted(set(sources))
    encoded = model.encode_sources(distinct, src_lang, tgt_lang)
    limit = model.max_tokens
    for text, ids in zip(distinct, encoded, strict=True):
        if not text.strip():
            raise InputError(
                f"row {sources.index(text)}: the source is empty; there is nothing to translate"
            )
        if len(ids) > limit:
            raise TooLongError(
                f"row {sources.index(text)}: the source has {len(ids)} tokens, {model.name} takes"
                f" at most {limit}: {text[:80]!r}..."
            )
    lengths = [len(ids) for ids in encoded]
    batches = plan_batches(
        lengths,
        lengths,
        batch_tokens=batch_tokens if batch_size is None else sys.maxsize,
        batch_size=batch_size,
    )

    def outputs_of(batch: list[int]) -> list[str]:
        return _generate(
            model,
            [encoded[i] for i in batch],
            tgt_lang,
            num_beams=num_beams,
            max_new_tokens=max_new_tokens,
        )

    table: dict[str, str] = {}
    team.check_alike(
        distinct, src_lang, tgt_lang, num_beams, max_new_tokens, batch_tokens, batch_size
    )
    with tqdm(
        total=len(distinct),
        desc="translating",
        unit="sentence",
        disable=not (progress and team.is_main),
        delay=1,
        leave=False,
    ) as bar:
        for batch, outputs in team.run(
            batches, [len(batch) * max(lengths[i] for i in batch) for batch in batches], outputs_of
        ):
            table.update(zip((distinct[i] for i in batch), outputs, strict=True))
            bar.update(len(batch))
    return [table[source] for source in sources]


def _check(sources: Sequence[str], num_beams: int) -> None:
    if not sources:
        raise InputError("nothing to translate: expected at least one source, got none")
    if num_beams < 1:
        raise InputError(f"num_beams: expected at least 1, got {num_beams}")


# not inference_mode: tables that a model makes when it first needs them would be of no use to its
# training
@torch.no_grad()
def _generate(
    system: Seq2SeqEvaluator,
    rows: list[list[int]],
    tgt_lang: str,
    *,
    num_beams: int,
    max_new_tokens: int | None,
) -> list[str]:
    model = system.model
    ids, mask = pad_ids(rows, pad=model.config.pad_token_id, device=input_device(model))
    longest = min(
        system.max_tokens - 1, 3 * ids.shape[1] + 10 if max_new_tokens is None else max_new_tokens
    )
    # by the name that the model's own configuration uses, or each batch is warned that there are
    # two limits; one token starts the decoder
    limit = (
        {"max_length": longest + 1}
        if model.generation_config.max_new_tokens is None
        else {"max_new_tokens": longest}
    )
    output = model.generate(
        input_ids=ids,
        attention_mask=mask,
        num_beams=num_beams,
        do_sample=False,
        bad_words_ids=[[model.config.pad_token_id]],
        **limit,
        **system.generation_options(tgt_lang),
    )
    texts = system.tokenizer.batch_decode(
        output[:, len(system.decoder_start) + system.n_forced :], skip_special_tokens=True
    )
    return [" ".join(text.split()) for text in texts]
