"""Translation of a list of sources by the system under test.

A system is any sequence-to-sequence model of a known evaluator family, loaded by name or already in
memory.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cc_hf.errors import InputError, ResultWarning, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.evaluators.loading import load_with  # before torch: its error names the extra
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.teacher_forcing import pad_ids
from cc_hf.models.pretrained import input_device
from cc_hf.normalization import is_blank
from cc_hf.progress import Progress
from cc_hf.systems.system import DEFAULT_BEAMS

# isort: split
import torch

from cc_hf.systems.backends import prepare
from cc_hf.systems.ensemble_generation import averaging, translating_members

__all__ = ["Translations", "cut_note", "translate", "translate_rows", "translate_with"]


class Translations(NamedTuple):
    """Translations of sources, and which were cut.

    Attributes:
        cut_rows: 0-based numbers of those that reached the limit of tokens before their end.
    """

    texts: list[str]
    cut_rows: list[int]


def translate(
    sources: Sequence[str],
    system: str | Path | Sequence[str | Path],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    num_beams: int = DEFAULT_BEAMS,
    batch_tokens: int = 2048,
    loading: LoadingOptions | None = None,
    precision: str = "fp32",
    backend: str = "torch",
    progress: bool = False,
) -> list[str]:
    """Translate by beam search.

    Equal sources are translated once. Translations are in the order of the sources. A warning
    (`ResultWarning`) counts those that were cut at the limit of tokens.

    Args:
        system: name, folder or Hub model; a list makes an ensemble, whose members must share one
            tokenizer and vocabulary.
        src_lang, tgt_lang: ISO 639-1 codes, which multilingual models need; "" uses those of the
            model.
        num_beams: number of beams, at least 1.
        batch_tokens: limit of a batch: twice its padded source tokens, for each of the beams.
        precision, backend: see `cc_hf.systems.backends.prepare`.

    Raises:
        InputError: for no sources, an empty source, a language that the model does not have,
            `num_beams` below 1, or a model that does not translate.
        TooLongError: for a source that is too long for the model; the message names the row.
        EvaluatorError: for a model that cannot be loaded.

    Examples:
        >>> translate(["The doctor is here."], "cc-tiny-en-de")
        ['Der Arzt ist hier.']
    """
    _check(sources, num_beams)
    model = prepare(
        load_with(system, loading or LoadingOptions()), precision=precision, backend=backend
    )
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
    """Translate by beam search with a model that is already loaded.

    The model is loaded by `load_evaluator`, or wrapped by `cc_hf.evaluators.loading.evaluator_of`
    while it is being trained. A warning (`ResultWarning`) counts translations that were cut at the
    limit of tokens; `translate_rows` returns which they are.

    Args:
        model: evaluator of a sequence-to-sequence family, or an ensemble of such evaluators with
            one tokenizer and vocabulary. The probabilities of a token are averaged at each step.
        src_lang, tgt_lang: ISO 639-1 codes; "" uses those of the model.
        num_beams: number of beams, at least 1.
        max_new_tokens: length of the longest translation; None for three times the source plus ten
            tokens. The model's own limit always applies.
        batch_tokens: limit of a batch, see `translate`.
        batch_size: number of sources in a batch, which replaces `batch_tokens`.
        team: processes that translate together, each its share. All get all translations, which are
            the same as those of one process.

    Raises:
        InputError: for no sources, an empty source, a language that the model does not have, a
            number below 1, or a model that does not translate.
        TooLongError: for a source that is too long for the model; the message names the row.
        EvaluatorError: if another process of the team failed.

    Examples:
        >>> from cc_hf import load_evaluator
        >>> translate_with(
        ...     load_evaluator("cc-tiny-en-de"),
        ...     ["The doctor is here.", "The nurse is here."],
        ...     batch_size=1,
        ... )
        ['Der Arzt ist hier.', 'Die Krankenschwester ist hier.']
    """
    texts, cut = translate_rows(
        model,
        sources,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        num_beams=num_beams,
        max_new_tokens=max_new_tokens,
        batch_tokens=batch_tokens,
        batch_size=batch_size,
        team=team,
        progress=progress,
    )
    if cut and team.is_main:
        warnings.warn(cut_note(cut, len(texts)), ResultWarning, stacklevel=2)
    return texts


def translate_rows(
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
) -> Translations:
    """Translate as `translate_with` does, and return which were cut instead of a warning.

    Returns:
        One translation per source, and the rows of those that were cut.

    Raises:
        InputError, TooLongError, EvaluatorError: as for `translate_with`.
    """
    _check(sources, num_beams)
    for name, value in (("max_new_tokens", max_new_tokens), ("batch_size", batch_size)):
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    members = translating_members(model)
    src_lang, tgt_lang = src_lang or model.src_lang, tgt_lang or model.tgt_lang
    model.check_languages(src_lang, tgt_lang)
    # Sorting gives all processes of the team the same order.
    distinct = sorted(set(sources))
    encoded = model.encode_sources(distinct, src_lang, tgt_lang)
    limit = model.max_tokens
    for text, ids in zip(distinct, encoded, strict=True):
        if is_blank(text):
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

    def outputs_of(batch: list[int]) -> list[tuple[str, bool]]:
        return _generate(
            members,
            [encoded[i] for i in batch],
            tgt_lang,
            num_beams=num_beams,
            max_new_tokens=max_new_tokens,
        )

    table: dict[str, tuple[str, bool]] = {}
    team.check_alike(
        distinct, src_lang, tgt_lang, num_beams, max_new_tokens, batch_tokens, batch_size
    )
    with Progress(
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
    return Translations(
        [table[source][0] for source in sources],
        [row for row, source in enumerate(sources) if table[source][1]],
    )


def cut_note(rows: Sequence[int], n: int, *, unit: str = "row") -> str:
    """Return a sentence about translations that were cut.

    Args:
        rows: numbers of the rows or lines whose translations were cut, at least one.
        n: number of all translations.
        unit: what the numbers count.

    Examples:
        >>> cut_note([3, 7], 20)
        '2 of 20 translations were cut at the limit of tokens, such as that of row 3: the model did not end them, and may repeat itself; look at them before you use figures of them'
    """  # noqa: E501
    return (
        f"{len(rows):,} of {n:,} translations were cut at the limit of tokens, such as that of"
        f" {unit} {rows[0]}: the model did not end them, and may repeat itself; look at them before"
        " you use figures of them"
    )


def _check(sources: Sequence[str], num_beams: int) -> None:
    if not sources:
        raise InputError("nothing to translate: expected at least one source, got none")
    if num_beams < 1:
        raise InputError(f"num_beams: expected at least 1, got {num_beams}")


# inference_mode would not do: a model may be in training, and the tables that it creates on first
# use would be unusable for gradients.
@torch.no_grad()
def _generate(
    members: Sequence[Seq2SeqEvaluator],
    rows: list[list[int]],
    tgt_lang: str,
    *,
    num_beams: int,
    max_new_tokens: int | None,
) -> list[tuple[str, bool]]:
    """Translate one batch of encoded sources.

    Returns:
        One translation per row, with single spaces, and whether it was cut at the limit of tokens.
    """
    system = members[0]
    model = system.model
    ids, mask = pad_ids(rows, pad=model.config.pad_token_id, device=input_device(model))
    longest = min(
        min(member.max_tokens for member in members) - 1,
        3 * ids.shape[1] + 10 if max_new_tokens is None else max_new_tokens,
    )
    # The limit has the name that the model's own configuration uses; otherwise transformers warns
    # of two limits for each batch. `max_length` also counts the token that starts the decoder.
    limit = (
        {"max_length": longest + 1}
        if model.generation_config.max_new_tokens is None
        else {"max_new_tokens": longest}
    )
    models = [member.model for member in members]
    with averaging(models, ids, mask, num_beams=num_beams) as options:
        output = model.generate(
            input_ids=ids,
            attention_mask=mask,
            num_beams=num_beams,
            do_sample=False,
            bad_words_ids=[[model.config.pad_token_id]],
            **limit,
            **options,
            **system.generation_options(tgt_lang),
        )
    texts = system.tokenizer.batch_decode(
        output[:, len(system.decoder_start) + system.n_forced :], skip_special_tokens=True
    )
    return [
        (" ".join(text.split()), cut)
        for text, cut in zip(texts, _are_cut(output, system, longest), strict=True)
    ]


def _are_cut(output: torch.Tensor, system: Seq2SeqEvaluator, longest: int) -> list[bool]:
    """Return which rows have as many tokens as they may have, without the end of a sentence."""
    saved = system.model.generation_config
    ends = saved.eos_token_id if isinstance(saved.eos_token_id, list) else [saved.eos_token_id]
    written = output[:, len(system.decoder_start) :]
    counted = written != system.model.config.pad_token_id
    for end in ends:
        if end is not None:
            counted &= written != end
    # A model that is made to end at the limit has one token fewer before that.
    n_most = longest - (saved.forced_eos_token_id is not None)
    return (counted.sum(dim=1) >= n_most).tolist()  # type: ignore[no-any-return]
