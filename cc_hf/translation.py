"""Translations of a list of sources by the system under test: any sequence-to-sequence model that an evaluator family knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from cc_hf.errors import InputError, TooLongError
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.loading import LoadedModel, load_model  # first: it says which extra brings torch
from cc_hf.evaluators.teacher_forcing import pad_ids

# isort: split
import torch

__all__ = ["DEFAULT_BEAMS", "translate"]

DEFAULT_BEAMS = 5


def translate(
    sources: Sequence[str],
    system: str | Path,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    revision: str | None = None,
    device: str | None = None,
    num_beams: int = DEFAULT_BEAMS,
    batch_tokens: int = 2048,
    progress: bool = False,
) -> list[str]:
    """Translate by beam search; equal sources are translated once, the order is kept.

    Args:
        sources: texts in the model's source language.
        system: name, folder or Hub model, as `load_evaluator` takes it.
        src_lang, tgt_lang: refused when the model says that it has others.
        revision, device: as in `load_evaluator`.
        num_beams: at least 1.
        batch_tokens: padded source tokens times two of a batch, for each of the beams.
        progress: show a bar when it takes longer than a second.

    Raises:
        InputError: for no sources, an empty source, languages that the model does not have, num_beams below 1.
        TooLongError: when a source does not fit the model; the message names the row.

    >>> translate(["The doctor is here."], "cc-tiny-en-de")
    ['Der Arzt ist hier.']
    """
    if not sources:
        raise InputError("nothing to translate: expected at least one source, got none")
    if num_beams < 1:
        raise InputError(f"num_beams: expected at least 1, got {num_beams}")
    loaded = load_model(system, revision=revision, device=device)
    for side, wanted, own in (("source", src_lang, loaded.src_lang), ("target", tgt_lang, loaded.tgt_lang)):
        if wanted and own and wanted != own:
            raise InputError(f"{loaded.name} does not support the {side} language {wanted!r}: it translates from {loaded.src_lang!r} to {loaded.tgt_lang!r}")
    distinct = sorted(set(sources))
    encoded: list[list[int]] = list(loaded.tokenizer(distinct, truncation=False, verbose=False)["input_ids"])
    limit = min(loaded.model.config.max_position_embeddings, loaded.tokenizer.model_max_length)
    for text, ids in zip(distinct, encoded, strict=True):
        if not text.strip():
            raise InputError(f"row {sources.index(text)}: the source is empty; there is nothing to translate")
        if len(ids) > limit:
            raise TooLongError(f"row {sources.index(text)}: the source has {len(ids)} tokens, {loaded.name} takes at most {limit}: {text[:80]!r}...")
    lengths = [len(ids) for ids in encoded]
    table: dict[str, str] = {}
    with tqdm(total=len(distinct), desc="translating", unit="sentence", disable=not progress, delay=1, leave=False) as bar:
        for batch in plan_batches(lengths, lengths, batch_tokens=batch_tokens):
            outputs = _generate(loaded, [encoded[i] for i in batch], num_beams=num_beams, limit=limit)
            table.update(zip((distinct[i] for i in batch), outputs, strict=True))
            bar.update(len(batch))
    return [table[source] for source in sources]


@torch.inference_mode()
def _generate(loaded: LoadedModel, rows: list[list[int]], *, num_beams: int, limit: int) -> list[str]:
    ids, mask = pad_ids(rows, pad=loaded.model.config.pad_token_id, device=loaded.model.device)
    output = loaded.model.generate(
        input_ids=ids,
        attention_mask=mask,
        num_beams=num_beams,
        do_sample=False,
        max_new_tokens=min(limit - 1, 3 * ids.shape[1] + 10),
        bad_words_ids=[[loaded.model.config.pad_token_id]],
    )
    texts = loaded.tokenizer.batch_decode(output, skip_special_tokens=True)
    return [" ".join(text.split()) for text in texts]
