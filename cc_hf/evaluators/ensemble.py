"""Several evaluators combined into one.

Members with the same tokenisation are averaged token by token in probability, as fairseq does;
others are averaged by sentence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.distributed import Apply
from cc_hf.evaluators.scores import TokenScores
from cc_hf.schema import ScoringRequest

__all__ = ["EnsembleEvaluator", "SentenceEnsembleEvaluator", "ensemble", "same_tokenisation"]


class EnsembleEvaluator(Evaluator):
    """An ensemble whose members share one tokenisation.

    The probability of a token is the arithmetic mean of the members' probabilities, not of their
    logarithms.
    """

    combination = "token"

    def __init__(self, members: Sequence[Evaluator]) -> None:
        if not members:
            raise InputError("ensemble: expected at least one evaluator, got none")
        first = members[0]
        super().__init__(
            name="+".join(member.name for member in members),
            identity="+".join(member.identity for member in members),
            dtype="+".join(dict.fromkeys(member.dtype for member in members)),
            batch_tokens=min(member.batch_tokens for member in members),
            max_tokens=min(member.max_tokens for member in members),
            on_too_long=first.on_too_long,
            src_lang=first.src_lang,
            tgt_lang=first.tgt_lang,
        )
        self.device, self.sharing = first.device, first.sharing
        self.members = tuple(members)
        self.n_source_end = first.n_source_end

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of all members; a value that they share is written once."""
        fields = [member.signature_fields() for member in self.members]
        joined = {
            key: "+".join(dict.fromkeys(f[key] for f in fields if key in f))
            for key in dict.fromkeys(key for f in fields for key in f)
        }
        dtype = self.dtype if self.fast is None else f"{self.fast.dtype}/{self.dtype}"
        return {
            **joined,
            "eval": "+".join(f["eval"] for f in fields),
            "dtype": dtype,
            "ensemble": self.combination,
        }

    @cached_property
    def fast(self) -> Evaluator | None:
        """The ensemble of the members' faster passes, or None unless every member has one."""
        passes = [member.fast for member in self.members if member.fast is not None]
        return type(self)(passes) if len(passes) == len(self.members) else None

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Check that every member translates between two languages."""
        for member in self.members:
            member.check_languages(src_lang, tgt_lang)

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the first member is told which does not know the variety."""
        of_members = [member.scored_as(side, lang) for member in self.members]
        return next((known for known in of_members if known != lang), lang)

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of each source, which are the same for every member."""
        return self.members[0].encode_sources(texts, src_lang, tgt_lang)

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of each translation, which are the same for every member."""
        return self.members[0].encode_targets(texts, src_lang, tgt_lang)

    def decode_targets(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of target ids, which are the same for every member."""
        return self.members[0].decode_targets(rows)

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Fit a pair to the member with the smallest `max_tokens`."""
        return min(self.members, key=lambda member: member.max_tokens).fit(source, target, request)

    def refresh(self) -> None:
        """Drop what the members prepared from weights that may have changed."""
        for member in self.members:
            member.refresh()

    @property
    def apply(self) -> Apply:
        """How all members apply a function to batches; `map` if they differ."""
        ways = {member.apply for member in self.members}
        return ways.pop() if len(ways) == 1 else map

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the logarithms of the members' mean probabilities, token by token."""
        by_member = [member.logprobs_batch(sources, targets) for member in self.members]
        with np.errstate(invalid="ignore"):  # `check_scores` refuses what is not finite
            return [
                np.logaddexp.reduce(rows, axis=0) - np.log(len(rows))
                for rows in zip(*by_member, strict=True)
            ]


class SentenceEnsembleEvaluator(EnsembleEvaluator):
    """An ensemble whose members' tokens cannot be compared, so that every member scores by itself.

    The mean log-probability of a translation is the mean of the members' mean log-probabilities,
    each per token of that member. Its mean probability is the mean of theirs, and `n_tokens` counts
    the tokens of all members.
    """

    combination = "sentence"

    def score(
        self,
        requests: Sequence[ScoringRequest],
        *,
        src_lang: str,
        tgt_lang: str,
        progress: bool = False,
    ) -> TokenScores:
        """Score every request with every member and average the results."""
        by_member = [
            member.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress)
            for member in self.members
        ]
        n_tokens = np.sum([scores.n_tokens for scores in by_member], axis=0)
        # `TokenScores.mean_logprob` divides by `n_tokens`, so that the mean is multiplied by it.
        return TokenScores(
            np.mean([scores.mean_logprob for scores in by_member], axis=0) * n_tokens,
            n_tokens,
            np.mean([scores.mean_probability for scores in by_member], axis=0),
        )

    def check_not_cut_alike(
        self,
        pairs: Sequence[tuple[ScoringRequest, ScoringRequest]],
        *,
        src_lang: str,
        tgt_lang: str,
    ) -> None:
        """Refuse pairs of texts that become equal when any member cuts them."""
        for member in self.members:
            member.check_not_cut_alike(pairs, src_lang=src_lang, tgt_lang=tgt_lang)

    def _logprobs(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        requests: Sequence[ScoringRequest],
    ) -> list[npt.NDArray[np.float64]]:
        raise InputError(
            f"{self.name}: the members split texts into different tokens, so that no token has a"
            " common probability; ask each of them"
        )


def ensemble(members: Sequence[Evaluator]) -> Evaluator:
    """Combine evaluators by token if all have the same tokenisation, else by sentence."""
    if len(members) == 1:
        return members[0]
    return (
        EnsembleEvaluator(members)
        if same_tokenisation(members)
        else SentenceEnsembleEvaluator(members)
    )


def same_tokenisation(members: Sequence[Evaluator]) -> bool:
    """Return whether all members tokenise in the same way.

    Examples:
        >>> from cc_hf.evaluators.loading import load_evaluator
        >>> same_tokenisation([load_evaluator("cc-tiny-en-de"), load_evaluator("cc-tiny-en-de")])
        True
    """
    return len({_fingerprint(member) for member in members}) == 1


# They must be of the same family, mark texts alike, and have tokenizers of the same class, rules
# and vocabularies.
def _fingerprint(member: Any) -> tuple[object, ...]:
    """Return what must be equal for two members to share one tokenisation."""
    # What decides the ids of a text, or which of them count, must be the same for all members.
    marks = [
        getattr(member, name, None)
        for name in ("decoder_start", "n_forced", "n_source_end", "prompt")
    ]
    return (
        type(member),
        *map(str, marks),
        _tokenizer_hash(member.tokenizer) if hasattr(member, "tokenizer") else id(member),
    )


def _tokenizer_hash(tokenizer: Any) -> str:
    digest = hashlib.sha256(type(tokenizer).__name__.encode())
    if models := getattr(tokenizer, "serialized_models", None):  # some of cc_hf have nothing else
        return hashlib.sha256(repr((digest.digest(), models)).encode()).hexdigest()
    tables = [
        tokenizer.get_vocab(),
        *(
            getattr(tokenizer, name, None)
            for name in (
                "decoder",
                "target_encoder",
                "bpe_ranks",
                "do_lower_case",
                "legacy_behaviour",
            )
        ),
    ]
    for table in tables:
        digest.update(repr(sorted(table.items()) if isinstance(table, dict) else table).encode())
    for name in ("spm_source", "spm_target", "sp_model"):
        if (model := getattr(tokenizer, name, None)) is not None:
            digest.update(model.serialized_model_proto())
    # Of a fast tokenizer only what splits texts counts; a template for padding changes no id.
    if tokenizer.is_fast:
        rules = json.loads(tokenizer.backend_tokenizer.to_str())
        digest.update(
            json.dumps(
                [rules[part] for part in ("model", "normalizer", "pre_tokenizer", "added_tokens")],
                sort_keys=True,
            ).encode()
        )
    return digest.hexdigest()
