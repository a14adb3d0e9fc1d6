"""How an evaluator is loaded: one frozen object with all options. No torch here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cc_hf import registry
from cc_hf.errors import InputError, UnknownNameError, shown
from cc_hf.rules import AtLeast, OneOf, check_fields

if TYPE_CHECKING:
    from cc_hf.evaluators.cache_session import CacheSession, TokenIds
    from cc_hf.progress import Progress
    from cc_hf.schema import ScoringRequest

__all__ = [
    "MODES",
    "ON_TOO_LONG",
    "LoadingOptions",
    "PartialScores",
    "named_members",
    "scheme_of",
]

#: How an evaluator computes: "exact" in the precision of its weights; "bf16" and "int8" with
#: products in these; "auto" in bf16 where the machine has instructions for it, and close decisions
#: exactly (`cc_hf.evaluators.contests`).
MODES = ("auto", "exact", "bf16", "int8")
#: What happens to a text that is longer than the model accepts.
ON_TOO_LONG = ("error", "truncate", "incorrect")

_TEXTS = ("src_lang", "tgt_lang", "kind", "prompt", "device", "dtype", "on_too_long", "mode")
_LONGEST_PATH = 4096  # on Linux, in characters


class PartialScores(ABC):
    """Where the scores of an evaluation are computed that has no result in this process."""

    @abstractmethod
    def compute(
        self,
        evaluator: Any,
        session: CacheSession,
        requests: Sequence[ScoringRequest],
        alike: Mapping[TokenIds, Sequence[int]],
        show: Callable[[int], Progress],
        /,
    ) -> NoReturn:
        """Compute scores, and end the evaluation by an exception of its own.

        Args:
            session: gives the keys of the scores.
            alike: token ids -> indices of the pairs that have them.
            show: makes a progress bar from the number of pairs that are known.
        """


@dataclass(frozen=True)
class LoadingOptions:
    """How an evaluator is loaded; every option has a default.

    Attributes:
        src_lang, tgt_lang: languages for calls that name none; ISO 639-1, or codes of the model's
            own.
        kind: family of the model (`cc-hf list evaluators`); None for the one that fits its
            configuration and tokenizer.
        prompt: for families that put the source into words (T5 and its kin, language models), a
            template such as "translate {src_name} to {tgt_name}: {source}"; None for the family's
            own. After "chat:" it is a turn of the user in the chat template of a language model.
            The signature names it.
        revision: commit, tag or branch on the Hub; for an ensemble one for each member.
        device: "cpu", "cuda", "cuda:1" or "mps" (the GPU of a Mac, which was never tried); None for
            CUDA if available. "auto" spreads the model over all GPUs of the machine, and over its
            memory where they are too small (`device_map="auto"` of transformers); not among several
            processes, which use a GPU each.
        dtype: "float32", "bfloat16" or "float16".
        batch_tokens: largest number of source and target tokens in a batch, padding included; None
            for a value that suits the device and the model.
        on_too_long: what to do with a text that is longer than the model accepts: "error";
            "truncate"; or "incorrect": contrastive conditioning counts such a translation as
            incorrect without a score. The signature names the last two. None for "error", in
            training for "truncate".
        mode: "exact" computes everything in the precision of `dtype`; "bf16" and "int8" compute
            products in these; "auto" gives exact scores, and makes decisions in bf16 where the
            machine has instructions for it and again exactly where they are close
            (`cc_hf.evaluators.contests`). The signature names it.
        cache: scores on disk: False for none, True for HF_HOME/cc_hf/scores.sqlite, or a file. The
            command line uses True by default.
        distributed: score together with the other processes that torchrun or `accelerate launch`
            started; all must then load and score alike.
        part: compute only a part of the scores, into a file of its own, or all of them on the
            machines of a cluster (`cc_hf.plugins.scale`); what needs a result raises `PartDone`.

    Raises:
        InputError: for an option of another type.

    Examples:
        >>> LoadingOptions(device=3)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: device: expected a string, got 3
    """

    src_lang: str | None = None
    tgt_lang: str | None = None
    kind: str | None = None
    prompt: str | None = None
    revision: str | Sequence[str | None] | None = None
    device: str | None = None
    dtype: str = "float32"
    batch_tokens: Annotated[int | None, AtLeast(1)] = None
    on_too_long: Annotated[str | None, OneOf(*ON_TOO_LONG)] = None
    mode: Annotated[str, OneOf(*MODES)] = "auto"
    cache: bool | str | Path = False
    distributed: bool = False
    part: PartialScores | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for option in _TEXTS:
            if not isinstance(value := getattr(self, option), (str, type(None))):
                raise InputError(f"{option}: expected a string, got {shown(value)}")
        if not isinstance(self.cache, (bool, str, Path)):
            raise InputError(f"cache: expected True, False or a path, got {shown(self.cache)}")
        _check_path("cache", self.cache)
        if not isinstance(self.part, (PartialScores, type(None))):
            raise InputError(f"part: expected a Part, got {shown(self.part)}")
        revisions: Any = self.revision
        for revision in revisions if isinstance(revisions, (list, tuple)) else [revisions]:
            if not isinstance(revision, (str, type(None))):
                raise InputError(
                    "revision: expected a string, or a list with one for each member of an"
                    f" ensemble, got {shown(revisions)}"
                )

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all options."""
        return tuple(option.name for option in fields(cls))

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> LoadingOptions:
        """Make options from keywords; those that are not named have their defaults.

        Raises:
            UnknownNameError: for a keyword that is no option.
            InputError: for an option of another type.
        """
        for name in options:
            if name not in cls.names():
                raise UnknownNameError("option of an evaluator", name, cls.names())
        return cls(**options)


def scheme_of(name: str, kind: str = "evaluator scheme") -> str | None:
    """Return the "server" of "server:URL#MODEL"; None for a model on this machine or on the Hub.

    Args:
        kind: "system scheme" for the name of a system.

    Examples:
        >>> scheme_of("server:http://localhost:8000/v1"), scheme_of("org/model")
        ('server', None)
    """
    scheme, colon, _ = name.partition(":")
    return scheme if colon and scheme in registry.names(kind) else None


def named_members(
    name_or_path: object, options: LoadingOptions
) -> list[tuple[str, LoadingOptions]]:
    """Return the name and the options of each model that is named, before anything is looked up."""
    if not isinstance(name_or_path, (str, Path, list, tuple)):
        raise InputError(
            "evaluator: expected a name, a path, or a list of these, got"
            f" {type(name_or_path).__name__}"
        )
    is_list = isinstance(name_or_path, (list, tuple))
    names: Any = name_or_path if is_list else [name_or_path]
    for i, name in enumerate(names):
        if not isinstance(name, (str, Path)):
            raise InputError(
                f"evaluator: expected names or paths, got {shown(name)} ({type(name).__name__})"
                f" as member {i} of the list"
            )
        _check_path("evaluator", name)
    revisions: Any = options.revision
    if revisions is None or (isinstance(revisions, str) and not is_list):
        revisions = [revisions] * len(names)
    elif not is_list:
        raise InputError(f"revision: expected one for one model, got {len(revisions)}")
    elif isinstance(revisions, str) or len(revisions) != len(names):
        raise InputError(
            f"revision: expected one for each of the {len(names)} members of the ensemble, got"
            f" {revisions!r}"
        )
    return [
        (str(name), replace(options, revision=revision))
        for name, revision in zip(names, revisions, strict=True)
    ]


def _check_path(option: str, name: object) -> None:
    """Refuse a path that no file system accepts."""
    text = str(name)
    if (
        len(text) > _LONGEST_PATH
        or "\0" in text
        or text != text.encode("utf-8", "replace").decode()
    ):
        raise InputError(
            f"{option}: expected at most {_LONGEST_PATH} characters of valid Unicode, without null"
            f" characters, got {len(text)} that begin {text[:80]!a}"
        )
