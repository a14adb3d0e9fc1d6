"""Translation of a list of sources by the system under test.

A system is any sequence-to-sequence model of a known evaluator family, loaded by name or already in
memory.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from cc_hf import registry
from cc_hf.errors import InputError, ResultWarning, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.evaluators.loading import load_with  # before torch: its error names the extra
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.teacher_forcing import pad_ids
from cc_hf.lists import listed_texts
from cc_hf.models.pretrained import input_device
from cc_hf.normalization import is_blank
from cc_hf.progress import Progress
from cc_hf.rules import AtLeast, check_fields
from cc_hf.systems.system import DEFAULT_BEAMS

# isort: split
import torch
from transformers import LogitsProcessorList

from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.systems.backends import prepare
from cc_hf.systems.ensemble_generation import averaging, translating_members

__all__ = [
    "Output",
    "Search",
    "Translations",
    "cut_note",
    "translate",
    "translate_lists",
    "translate_rows",
    "translate_with",
]


class Output(NamedTuple):
    """A translation, with single spaces, and whether it was cut at the limit of tokens."""

    text: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Search:
    """What the beam search does.

    Attributes:
        n_best: number of translations of each source, at most `num_beams`.
        contrast: weight of another source, from which the translation is to differ; 0 for none. See
            `cc_hf.plugins.reranking.contrastive_decoding.CueContrast`.
        max_new_tokens: length of the longest translation; None for three times the source plus ten
            tokens.
    """

    num_beams: Annotated[int, AtLeast(1)] = DEFAULT_BEAMS
    n_best: Annotated[int, AtLeast(1)] = 1
    contrast: Annotated[float, AtLeast(0.0)] = 0.0
    max_new_tokens: Annotated[int | None, AtLeast(1)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.n_best > self.num_beams:
            raise InputError(
                f"n_best: expected at most as many translations as there are beams"
                f" ({self.num_beams}), got {self.n_best}"
            )


class Translations(NamedTuple):
    """Translations of sources, and the 0-based rows of those cut at the limit of tokens."""

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
    sources, _ = _checked(sources, Search(num_beams), None)
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
        >>> translate_with(load_evaluator("cc-tiny-en-de"), ["The doctor is here."])
        ['Der Arzt ist hier.']
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
    """Translate as `translate_with` does, and return which were cut instead of a warning."""
    search = Search(num_beams, max_new_tokens=max_new_tokens)
    lists = translate_lists(
        model,
        sources,
        search=search,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        batch_tokens=batch_tokens,
        batch_size=batch_size,
        team=team,
        progress=progress,
    )
    return Translations(
        [outputs[0].text for outputs in lists],
        [row for row, outputs in enumerate(lists) if outputs[0].is_cut],
    )


def translate_lists(
    model: Evaluator,
    sources: Sequence[str],
    *,
    search: Search | None = None,
    others: Sequence[str] | None = None,
    src_lang: str = "",
    tgt_lang: str = "",
    batch_tokens: int = 2048,
    batch_size: int | None = None,
    team: Team = ALONE,
    progress: bool = False,
) -> list[list[Output]]:
    """Translate each source several times, or against another source."""
    search = search or Search()
    sources, others = _checked(sources, search, others)
    if batch_size is not None:
        AtLeast(1).check("batch_size", batch_size)
    members = translating_members(model)
    if search.n_best > 1 or search.contrast:
        _check_generates_lists(members, contrast=search.contrast)
    src_lang, tgt_lang = model.languages(src_lang, tgt_lang)
    model.check_languages(src_lang, tgt_lang)
    for note in model.variety_notes(src_lang, tgt_lang):
        warnings.warn(note, ResultWarning, stacklevel=3)
    pairs = list(zip(sources, others or [""] * len(sources), strict=True))
    # Sorting gives all processes of the team the same order.
    distinct = sorted(set(pairs))
    encoded = _encoded(model, sources, [source for source, _ in distinct], src_lang, tgt_lang)
    contrast = (
        None
        if others is None
        else _encoded(model, others, [other for _, other in distinct], src_lang, tgt_lang)
    )
    lengths = [len(ids) for ids in encoded]
    batches = plan_batches(
        lengths,
        lengths,
        batch_tokens=batch_tokens if batch_size is None else sys.maxsize,
        batch_size=batch_size,
    )

    def outputs_of(batch: list[int]) -> list[list[Output]]:
        rows = [encoded[i] for i in batch]
        return _generate(members, rows, contrast and [contrast[i] for i in batch], tgt_lang, search)

    table: dict[tuple[str, str], list[Output]] = {}
    team.check_alike(distinct, src_lang, tgt_lang, search, batch_tokens, batch_size)
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
    return [table[pair] for pair in pairs]


def _check_generates_lists(members: Sequence[Seq2SeqEvaluator], *, contrast: float) -> None:
    """Check that a system can write n-best lists, or translate against another source."""
    if len(members) > 1 and contrast:
        raise InputError("contrast: expected one model that translates, got an ensemble")
    if not hasattr(members[0].model, "get_encoder"):
        raise InputError(
            "backend: expected torch for n-best lists and contrasts, got another library"
        )


def _encoded(
    model: Evaluator,
    sources: Sequence[str],
    distinct: Sequence[str],
    src_lang: str,
    tgt_lang: str,
) -> list[list[int]]:
    """Return the token ids of distinct sources, which are neither blank nor too long."""
    encoded = model.encode_sources(distinct, src_lang, tgt_lang)
    for text, ids in zip(distinct, encoded, strict=True):
        if is_blank(text):
            raise InputError(
                f"row {sources.index(text)}: the source is empty; there is nothing to translate"
            )
        if len(ids) > model.max_tokens:
            raise TooLongError(
                f"row {sources.index(text)}: the source has {len(ids)} tokens, {model.name} takes"
                f" at most {model.max_tokens}: {text[:80]!r}..."
            )
    return encoded


def cut_note(rows: Sequence[int], n: int, *, unit: str = "row") -> str:
    """Return a sentence about translations that were cut; `unit` is what the numbers count."""
    return (
        f"{len(rows):,} of {n:,} translations were cut at the limit of tokens, such as that of"
        f" {unit} {rows[0]}: the model did not end them, and may repeat itself; look at them before"
        " you use figures of them"
    )


def _checked(
    sources: Sequence[str], search: Search, others: Sequence[str] | None
) -> tuple[list[str], list[str] | None]:
    """Return the sources and the other sources as lists of texts, checked."""
    sources = listed_texts("sources", sources)
    others = None if others is None else listed_texts("others", others)
    if not sources:
        raise InputError("nothing to translate: expected at least one source, got none")
    if (others is None) != (search.contrast == 0):
        given = "no" if others is None else "some"
        raise InputError(
            f"contrast: expected other sources for a contrast above 0, and none for 0, got"
            f" {given} with {search.contrast:g}"
        )
    if others is not None and len(others) != len(sources):
        raise InputError(f"others: expected {len(sources)} sources, got {len(others)}")
    return sources, others


# inference_mode would not do: a model may be in training, and the tables that it creates on first
# use would be unusable for gradients.
@torch.no_grad()
def _generate(
    members: Sequence[Seq2SeqEvaluator],
    rows: list[list[int]],
    contrast: list[list[int]] | None,
    tgt_lang: str,
    search: Search,
) -> list[list[Output]]:
    """Translate one batch of encoded sources."""
    system = members[0]
    model = system.model
    ids, mask = pad_ids(rows, pad=model.config.pad_token_id, device=input_device(model))
    longest = min(
        min(member.max_tokens for member in members) - 1,
        3 * ids.shape[1] + 10 if search.max_new_tokens is None else search.max_new_tokens,
    )
    # The limit has the name that the model's own configuration uses; otherwise transformers warns
    # of two limits for each batch. `max_length` also counts the token that starts the decoder.
    limit = (
        {"max_length": longest + 1}
        if model.generation_config.max_new_tokens is None
        else {"max_new_tokens": longest}
    )
    models = [member.model for member in members]
    several = {} if search.n_best == 1 else {"num_return_sequences": search.n_best}
    if contrast is not None:
        others = pad_ids(contrast, pad=model.config.pad_token_id, device=input_device(model))
        cue_contrast = registry.resolve("public name", "CueContrast")
        processor = cue_contrast(model, *others, weight=search.contrast)
        several["logits_processor"] = LogitsProcessorList([processor])
    with averaging(models, ids, mask, num_beams=search.num_beams) as options:
        output = model.generate(
            input_ids=ids,
            attention_mask=mask,
            num_beams=search.num_beams,
            do_sample=False,
            bad_words_ids=[[model.config.pad_token_id]],
            **limit,
            **options,
            **several,
            **system.generation_options(tgt_lang),
        )
    texts = system.tokenizer.batch_decode(
        output[:, len(system.decoder_start) + system.n_forced :], skip_special_tokens=True
    )
    outputs = [
        Output(" ".join(text.split()), cut)
        for text, cut in zip(texts, _are_cut(output, system, longest), strict=True)
    ]
    return [outputs[i : i + search.n_best] for i in range(0, len(outputs), search.n_best)]


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
