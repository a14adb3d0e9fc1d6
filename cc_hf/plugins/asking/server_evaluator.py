"""Causal language models behind a server as evaluators: the engine runs the model, and cc_hf caches
and decides.

The server must return the log-probabilities of a text that it is given: vLLM and SGLang do, by
`prompt_logprobs` or by `echo` with `logprobs` of the completions API. Texts are tokenised here and
sent as token ids, so that prompt and translation meet at the same token as in `CausalLMEvaluator`.
Only the tokenizer is loaded.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import EvaluatorError, InputError, UnknownNameError
from cc_hf.evaluators.families.causal_lm import CausalLMEvaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.models.location import locate, uses_cache_only
from cc_hf.models.servers import ServedModel, Server
from cc_hf.models.weights import reported_loading

__all__ = ["ServerEvaluator", "open_server_evaluator"]

#: Ways to ask for log-probabilities of a prompt -> what is added to the request.
_FORMS: dict[str, dict[str, Any]] = {
    "prompt_logprobs": {"prompt_logprobs": 1},
    "echo": {"echo": True, "logprobs": 1},
}
_BATCH_TOKENS = 16384  # of one request; the engine makes its own batches
_LONGEST = 10**9  # for tokenizers that name no length
_PROBE = ("Hello.", "The doctor asked the nurse to help.")
#: What stands for a space or a line break in the tokens of vocabularies.
_MARKS = str.maketrans("", "", "Ġ▁Ċ")


class ServerEvaluator(CausalLMEvaluator):
    """A causal language model behind an OpenAI-compatible server.

    A server names no weights, so a cache cannot notice other weights under the same name.
    """

    device = "server"

    def __init__(self, server: Server, model: str, tokenizer: Any, **options: Any) -> None:
        super().__init__(None, tokenizer, **options)
        self.server = server
        self.served_model = model
        self._form = self._probed_form()

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probabilities of the translations' tokens, from the server."""
        rows = [[*source, *target] for source, target in zip(sources, targets, strict=True)]

        def read(answer: Any) -> list[list[float]]:
            values = _answered(answer, rows, self._form)
            if values is None:
                raise ValueError(f"no {self._form}")
            return [logprobs for logprobs, _ in values]

        outcome = self.server.post("/completions", self._body(rows, self._form), read)
        if outcome.value is None:
            raise EvaluatorError(f"{self.name}: {outcome.error}")
        return [
            np.array(row[len(row) - len(target) :], dtype=np.float64)
            for row, target in zip(outcome.value, targets, strict=True)
        ]

    def _body(self, rows: Sequence[Sequence[int]], form: str) -> dict[str, Any]:
        """Return a request for the log-probabilities of rows of ids."""
        return {
            "model": self.served_model,
            "prompt": [list(row) for row in rows],
            # Some servers refuse to write nothing; what they write is ignored.
            "max_tokens": 1,
            "temperature": 0,
            **_FORMS[form],
        }

    def _probed_form(self) -> str:
        """Return how the server is asked for log-probabilities, after a check of its vocabulary."""
        before = self.tokenizer(_PROBE[0], verbose=False)["input_ids"]
        ids = self.tokenizer(_PROBE[1], add_special_tokens=False, verbose=False)["input_ids"]
        row = [*(before or self._start), *ids]
        problems = []
        for form in _FORMS:
            read = functools.partial(_answered, rows=[row], form=form)
            outcome = self.server.post("/completions", self._body([row], form), read)
            if outcome.value:
                self._check_tokens(ids, outcome.value[0][1][-len(ids) :])
                return form
            problems.append(f"{form}: {outcome.error or 'not in its answer'}")
            if outcome.kind in ("closed", "failed"):
                break
        raise EvaluatorError(
            f"{self.name}: expected a server that returns log-probabilities of the prompt, such as"
            f" vLLM; {'; '.join(problems)}"
        )

    def _check_tokens(self, ids: Sequence[int], texts: Sequence[str]) -> None:
        """Check that the server reads ids as the tokenizer writes them."""
        expected = _letters([self.tokenizer.decode([number]) for number in ids])
        served = _letters(texts)
        if served and served != expected:
            raise EvaluatorError(
                f"{self.name}: expected the vocabulary of the tokenizer, whose tokens here read"
                f" {expected!r}, got {served!r}; name the tokenizer of the served model, as in"
                " server:URL#MODEL#TOKENIZER"
            )


def open_server_evaluator(name: str, options: LoadingOptions) -> ServerEvaluator:
    """Open a model behind a server as an evaluator.

    Args:
        name: "server:URL#MODEL#TOKENIZER". The name of the model can be left out if the server has
            one only; the tokenizer, a folder or a name on the Hub, if it is the model's name.
        options: prompt, languages, limits and mode. `revision` is that of the tokenizer.

    Returns:
        The evaluator, after a request that tries the server.

    Raises:
        InputError: for an address that cannot be used, a tokenizer that cannot be named, or options
            that a server decides itself.
        EvaluatorError: for a server that cannot be used, or a tokenizer that cannot be loaded.
    """
    served = ServedModel.of(name)
    _check(options)
    server = Server(served.url)
    model = served.model or server.only_model()
    try:
        known = server.models().get(model, {})
    except EvaluatorError:  # some list no models; whether this one answers is tried below
        known = {}
    tokenizer = _tokenizer(name, served.tokenizer or model, options.revision)
    limit = known.get("max_model_len")
    longest = limit if type(limit) is int and limit > 1 else int(tokenizer.model_max_length)
    return ServerEvaluator(
        server,
        model,
        tokenizer,
        name=f"server:{served.url}#{model}",
        identity=_identity(known, tokenizer),
        dtype="server",
        batch_tokens=_BATCH_TOKENS if options.batch_tokens is None else options.batch_tokens,
        max_tokens=min(longest, _LONGEST) - 1,  # the server writes one more
        on_too_long=options.on_too_long or "error",
        src_lang=options.src_lang or "",
        tgt_lang=options.tgt_lang or "",
        prompt=options.prompt,
    )


def _check(options: LoadingOptions) -> None:
    """Refuse options that only a model on this machine has."""
    for option, default in (("kind", None), ("device", None), ("dtype", "float32")):
        if (value := getattr(options, option)) != default:
            raise InputError(
                f"{option}: expected none for a model behind a server, which decides this itself,"
                f" got {value!r}"
            )
    if not isinstance(options.revision, (str, type(None))):
        raise InputError(f"revision: expected one for one tokenizer, got {options.revision!r}")


def _tokenizer(name: str, location: str, revision: Any) -> Any:
    from transformers import AutoTokenizer

    try:
        path, _ = locate(location)
    except UnknownNameError as error:
        raise InputError(
            f"{name}: expected the tokenizer of the model, to split texts as the server does;"
            f" {location!r} is neither a folder nor organisation/model of the Hub. Name it, as in"
            " server:URL#MODEL#TOKENIZER"
        ) from error
    with reported_loading(location, path=path):
        is_cached = uses_cache_only(location, path, revision)
        return AutoTokenizer.from_pretrained(
            path, revision=revision, trust_remote_code=False, local_files_only=is_cached
        )


def _identity(known: dict[str, Any], tokenizer: Any) -> str:
    """Return a hash over what a server says of a model, and over its tokenizer."""
    # Other fields, such as the time, change with each answer.
    said = {key: known.get(key) for key in ("id", "root", "max_model_len")}
    rules = getattr(tokenizer, "backend_tokenizer", None)
    parts = [
        json.dumps(said, sort_keys=True, default=str),
        json.dumps(sorted(tokenizer.get_vocab().items())) if rules is None else rules.to_str(),
        str(getattr(tokenizer, "chat_template", None)),
    ]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _answered(
    answer: Any, rows: Sequence[Sequence[int]], form: str
) -> list[tuple[list[float], list[str]]] | None:
    """Return natural logarithms and texts of the ids of each row, without the first, which has no
    probability; None if the answer has no log-probabilities of prompts.
    """
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or len(choices) != len(rows):
        raise ValueError(f"expected {len(rows)} choices")
    try:
        ordered = sorted(choices, key=lambda choice: int(choice["index"]))
        if form == "echo":
            if any(not choice.get("logprobs") for choice in ordered):
                return None
            return [
                _echoed(choice["logprobs"], row) for choice, row in zip(ordered, rows, strict=True)
            ]
        if any(not choice.get("prompt_logprobs") for choice in ordered):
            return None
        return [
            _listed(choice["prompt_logprobs"], row)
            for choice, row in zip(ordered, rows, strict=True)
        ]
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _echoed(logprobs: Any, row: Sequence[int]) -> tuple[list[float], list[str]]:
    """Return `logprobs` of an echoed prompt, which continues with what the server wrote."""
    values, texts = logprobs["token_logprobs"], logprobs["tokens"]
    # One more is written; a server that adds tokens to the prompt has others than were sent.
    if not len(row) <= len(values) <= len(row) + 1 or values[0] is not None:
        raise ValueError(f"expected log-probabilities of {len(row)} tokens, got {len(values)}")
    return list(map(float, values[1 : len(row)])), list(map(str, texts[1 : len(row)]))


def _listed(positions: Any, row: Sequence[int]) -> tuple[list[float], list[str]]:
    """Return `prompt_logprobs`, which has the likeliest ids of each position and the one sent."""
    if len(positions) != len(row):
        raise ValueError(f"expected log-probabilities of {len(row)} tokens, got {len(positions)}")
    entries = [
        position[str(number)] for position, number in zip(positions[1:], row[1:], strict=True)
    ]
    return (
        [float(entry["logprob"]) for entry in entries],
        [str(entry.get("decoded_token") or "") for entry in entries],
    )


def _letters(texts: Sequence[str]) -> str:
    """Return the letters and digits of tokens, however they mark spaces."""
    return "".join(c for c in "".join(texts).translate(_MARKS) if c.isalnum())
