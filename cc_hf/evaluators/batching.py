"""From texts to batches: numbered requests, token ids of checked lengths, batches of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cc_hf.errors import InputError, TooLongError, shown
from cc_hf.evaluators.token_model import TokenModel
from cc_hf.lists import check_text, listed, listed_texts
from cc_hf.schema import ScoringRequest

__all__ = ["checked_requests", "encoded", "encoded_whole", "numbered_requests", "plan_batches"]


def plan_batches(
    source_lengths: Sequence[int],
    target_lengths: Sequence[int],
    *,
    batch_tokens: int,
    batch_size: int | None = None,
) -> list[list[int]]:
    """Split pairs into batches, the longest first: one too large for the memory fails at once.

    A batch of n pairs costs n * (longest source + longest target) tokens.

    Args:
        batch_tokens: largest cost of a batch; a pair that alone costs more is a batch of its own.
        batch_size: largest number of pairs in a batch; None for any.

    Returns:
        Indices of the pairs in each batch; every index occurs exactly once.

    Examples:
        >>> plan_batches([3, 9, 4], [3, 9, 5], batch_tokens=18)
        [[1], [2, 0]]
        >>> plan_batches([3, 9, 4], [3, 9, 5], batch_tokens=1000, batch_size=2)
        [[1, 2], [0]]
    """
    # By target first: the logits, the largest array of a batch, grow with its longest target.
    order = sorted(
        range(len(source_lengths)),
        key=lambda i: (target_lengths[i], source_lengths[i]),
        reverse=True,
    )
    batches: list[list[int]] = []
    longest_source = longest_target = 0
    for i in order:
        source, target = (
            max(longest_source, source_lengths[i]),
            max(longest_target, target_lengths[i]),
        )
        if (
            batches
            and (len(batches[-1]) + 1) * (source + target) <= batch_tokens
            and len(batches[-1]) != batch_size
        ):
            batches[-1].append(i)
        else:
            batches.append([i])
            source, target = source_lengths[i], target_lengths[i]
        longest_source, longest_target = source, target
    return batches


def numbered_requests(sources: Sequence[str], translations: Sequence[str]) -> list[ScoringRequest]:
    """Pair sources with translations and number the pairs from 0.

    Raises:
        InputError: for different numbers of sources and translations, or for anything else than
            lists of texts.

    Examples:
        >>> numbered_requests(["Yes.", "No."], ["Ja.", "Nein."])[1]
        ScoringRequest(source='No.', translation='Nein.', row=1)
    """
    sources = listed_texts("sources", sources)
    translations = listed_texts("translations", translations)
    if len(sources) != len(translations):
        raise InputError(
            f"expected as many translations as sources, got {len(sources)} sources and"
            f" {len(translations)} translations"
        )
    return [
        ScoringRequest(source, translation, row)
        for row, (source, translation) in enumerate(zip(sources, translations, strict=True))
    ]


def checked_requests(requests: Sequence[ScoringRequest]) -> list[ScoringRequest]:
    """Return requests that a caller passed, in a list.

    Examples:
        >>> checked_requests(["Hallo"])  # type: ignore[list-item]
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: requests: row 0: expected a ScoringRequest, got 'Hallo'; `mean_logprobs` takes texts
    """  # noqa: E501
    checked = listed("requests", requests, what="ScoringRequests")
    for row, request in enumerate(checked):
        if not isinstance(request, ScoringRequest):
            raise InputError(
                f"requests: row {row}: expected a ScoringRequest, got {shown(request)};"
                " `mean_logprobs` takes texts"
            )
        check_text(request.source, f"requests: row {row}: source")
        check_text(request.translation, f"requests: row {row}: translation")
    if not checked:
        raise InputError("nothing to score: expected at least one request, got none")
    return checked


def encoded(
    model: TokenModel, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the token ids of sources and translations, with their lengths checked.

    Raises:
        InputError: for languages that the model does not support.
        TooLongError: for all texts that are too long; the message quotes the first.
    """
    if not requests:
        return [], []
    model.check_languages(src_lang, tgt_lang)
    pairs: list[tuple[list[int], list[int]]] = []
    # All rows are tried, so that one message tells how many are too long.
    errors: list[TooLongError] = []
    whole = zip(*encoded_whole(model, requests, src_lang, tgt_lang), requests, strict=True)
    for source, target, request in whole:
        try:
            pairs.append(model.fit(source, target, request))
        except TooLongError as error:
            errors.append(error)
    # Texts that are too long are never cached, so that the error is the same with a cache.
    if errors:
        more = f"; {len(errors)} pairs are too long" * (len(errors) > 1)
        only_translations = all(error.translations for error in errors)
        texts = [text for error in errors for text in error.translations]
        raise TooLongError(f"{errors[0]}{more}", translations=texts if only_translations else ())
    return [source for source, _ in pairs], [target for _, target in pairs]


def encoded_whole(
    model: TokenModel, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the token ids of sources and translations of any length."""

    def ids(
        texts: Sequence[str], encode: Callable[[Sequence[str], str, str], list[list[int]]]
    ) -> list[list[int]]:
        # A source occurs once per translation, and tokenizing is slow.
        distinct = sorted(set(texts))
        table = dict(zip(distinct, encode(distinct, src_lang, tgt_lang), strict=True))
        return [table[text] for text in texts]

    return (
        ids([r.source for r in requests], model.encode_sources),
        ids([r.translation for r in requests], model.encode_targets),
    )
