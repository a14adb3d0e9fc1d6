"""Where the files of an evaluator are, by its name: with the package, in a folder, on the Hub. Nothing is loaded, and no torch is here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, UnknownNameError

__all__ = ["MODEL_FILES", "TINY_EN_DE", "Agreement", "EmbeddedModel", "default_evaluator", "locate", "stamp"]

#: how the names of the files end that make a model and its tokenizer
MODEL_FILES = (".safetensors", ".bin", ".spm", ".model", ".json", ".txt")

_ASSETS = Path(__file__).parent.parent / "assets"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often an evaluator's verdicts on a dataset were found right.

    Attributes:
        dataset: a name of `cc-hf list datasets`.
        unweighted: share of the labels that the verdicts agree with, in [0, 1]; None if not known.
        weighted: the same with the weights of `contrastive_conditioning`; None if not known.
        n: number of labels; None if not known.
        labels: what the verdicts were compared with.
    """

    dataset: str
    unweighted: float | None = None
    weighted: float | None = None
    n: int | None = None
    labels: str = "human annotators"

    def __str__(self) -> str:
        figures = {"": self.unweighted, " weighted": self.weighted}
        shares = ", ".join(f"{100 * value:.2f}".removesuffix("0") + f" %{kind}" for kind, value in figures.items() if value is not None)
        n = "" if self.n is None else f" (n = {self.n:,})"
        return f"{shares} agreement with {self.labels} on {self.dataset}{n}"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that ships with the package.

    Attributes:
        name: as registered.
        folder: of its files, in the package's assets.
        identity: as `Evaluator.identity` of the loaded model.
        src_lang, tgt_lang: ISO 639-1.
        made_for: what it judges, as a note says it.
        agreements: all that was measured, also where it is low.
    """

    name: str
    folder: str
    identity: str
    src_lang: str
    tgt_lang: str
    made_for: str
    agreements: tuple[Agreement, ...]

    @property
    def path(self) -> Path:
        """The folder of its files."""
        return _ASSETS / self.folder


TINY_EN_DE = EmbeddedModel(
    name="cc-tiny-en-de",
    folder="cc-tiny-en-de",
    identity="d644c6d303e7",
    src_lang="en",
    tgt_lang="de",
    made_for="the gender of people by the cues [male] and [female] before a noun",
    agreements=(
        Agreement("winomt", 0.9375, 0.9891, n=400),
        Agreement("simplegen", 0.958, n=1752, labels="simplegen_accuracy"),
        Agreement("mucow", 0.578, 0.624, n=192),
        Agreement("mt_geneval", 0.882, n=600, labels="the references"),
    ),
)


def default_evaluator(src_lang: str, tgt_lang: str) -> str:
    """The embedded evaluator of a language pair.

    Raises:
        InputError: when none is embedded for the pair.

    >>> default_evaluator("en", "de")
    'cc-tiny-en-de'
    """
    for name in registry.names("evaluator"):
        embedded: EmbeddedModel = registry.resolve("evaluator", name)
        if (embedded.src_lang, embedded.tgt_lang) == (src_lang, tgt_lang):
            return name
    if not (src_lang and tgt_lang):
        raise InputError("no evaluator named: give src_lang and tgt_lang, so that the one that ships for the pair is taken, or evaluator")
    pairs = ", ".join(registry.names("evaluator"))
    raise InputError(
        f"no evaluator ships with the package for {src_lang or '?'}-{tgt_lang or '?'} (only {pairs}); name one with evaluator (--evaluator), "
        f"such as 'Helsinki-NLP/opus-mt-{src_lang or 'en'}-{tgt_lang or 'xx'}'"
    )


def locate(name: str) -> tuple[str, tuple[str, str] | None]:
    """The folder of a model, or its name on the Hub; and of an embedded one its source and target language.

    Raises:
        UnknownNameError: for a name that is neither registered nor a folder nor of the form «organisation/model».
        EvaluatorError: for the path of a folder that is not there.
    """
    if name in registry.EVALUATORS:
        embedded: EmbeddedModel = registry.resolve("evaluator", name)
        return str(embedded.path), (embedded.src_lang, embedded.tgt_lang)
    if Path(name).is_dir():
        return name, None
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        if "/" in name:
            raise EvaluatorError(f"no evaluator at {name!r}: expected a folder that transformers saved, or organisation/model of the Hub; there is no such folder")
        raise UnknownNameError("evaluator", name, registry.EVALUATORS)
    return name, None


def stamp(folder: Path, *, suffixes: Sequence[str] = MODEL_FILES) -> tuple[tuple[str, int, int, int], ...]:
    """Names, sizes and times of a folder's files: what changed on disk has another stamp. Nothing for what is no folder.

    The time of the last change of a file's state is part of it, which no copying program sets back.
    """
    if not folder.is_dir():
        return ()
    found = ((path.name, path.stat()) for path in sorted(folder.iterdir()) if path.suffix in suffixes)
    return tuple((name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in found)
