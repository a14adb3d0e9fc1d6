"""Where the files of a model are: in the package, in a folder or on the Hub. No torch here."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, UnknownNameError, shown
from cc_hf.files import carried, is_file, is_folder
from cc_hf.languages import LANGUAGES, base_code, named_language
from cc_hf.models.model_format import ModelFormat, published_format

__all__ = [
    "TINY_EN_DE",
    "EmbeddedModel",
    "KnownAgreement",
    "check_declared_sizes",
    "check_generation_config",
    "check_shards",
    "default_evaluator",
    "hash_files",
    "locate",
    "model_file",
    "model_files",
    "stamp",
    "uses_cache_only",
]

_CONFIG = "config.json"
_MOST_LAYERS = 2000
# Tables may be computed, layers may share their weights, and those may have four bits: what a
# configuration declares may be larger than its files, but not by orders of magnitude.
_MAX_INFLATION = 64
_SMALL = 2**28  # bytes that any configuration may declare
_SECONDS = 5.0  # that the Hub has to answer


@dataclass(frozen=True, slots=True)
class KnownAgreement:
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
        shares = ", ".join(
            f"{100 * value:.2f}".removesuffix("0") + f" %{kind}"
            for kind, value in figures.items()
            if value is not None
        )
        n = "" if self.n is None else f" (n = {self.n:,})"
        return f"{shares} agreement with {self.labels} on {self.dataset}{n}"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that ships with a package.

    Attributes:
        path: the folder of its files, in the package that ships it.
        card: its card, in Markdown as the Hub has it.
        identity: the `Evaluator.identity` of the loaded model.
        src_lang, tgt_lang: languages, ISO 639-1.
        made_for: what it was made to judge, in words for a note.
        cues: names of these cues, as signatures have them.
        agreements: every measured agreement, low ones included.
        false_alarms: metric -> in how many right translations it finds an error by this model, as
            a phrase (docs/measurements.md).
        characters: the characters of translations that its vocabulary has, besides blanks.
        evidence: a file as `cc-hf judge check` writes; None for what cc_hf ships evidence on.
    """

    name: str
    path: Path
    card: Path
    identity: str
    src_lang: str
    tgt_lang: str
    made_for: str
    cues: tuple[str, ...]
    agreements: tuple[KnownAgreement, ...]
    false_alarms: Mapping[str, str]
    characters: str
    evidence: Path | None = None


TINY_EN_DE = EmbeddedModel(
    name="cc-tiny-en-de",
    path=Path(__file__).parent.parent / "assets" / "cc-tiny-en-de",
    card=carried("cards") / "models" / "cc-tiny-en-de.md",
    identity="d644c6d303e7",
    src_lang="en",
    tgt_lang="de",
    made_for="the gender of people by the cues [male] and [female] before a noun",
    cues=("gender_brackets",),
    agreements=(
        KnownAgreement("winomt", 0.9375, 0.9891, n=400),
        KnownAgreement("simplegen", 0.958, n=1752, labels="simplegen_accuracy"),
        KnownAgreement("mucow", 0.578, 0.624, n=192),
        KnownAgreement("mt_geneval", 0.882, n=600, labels="the references"),
    ),
    false_alarms={"coverage": "94.3 to 96.7 % of right translations (DistilLingEval)"},
    characters="!\"'(),-.01235689:?ABCDEFGHIJKLMNOPRSTUVWYZ[]abcdefghijklmnopqrstuvwxyzÄÖÜßäöü“„",
)


def default_evaluator(src_lang: str, tgt_lang: str) -> str:
    """Return the name of the embedded evaluator of a language pair.

    Args:
        src_lang, tgt_lang: languages as `cc_hf.languages.named_language` reads them, whatever their
            script and region; "" if unknown.

    Raises:
        InputError: when none is embedded for the pair, or for texts that name no language.

    Examples:
        >>> default_evaluator("en", "de"), default_evaluator("English", "deu_Latn")
        ('cc-tiny-en-de', 'cc-tiny-en-de')
    """
    for side, language in {"src_lang": src_lang, "tgt_lang": tgt_lang}.items():
        if not isinstance(language, (str, type(None))):
            raise InputError(f"{side}: expected a language code, got {shown(language)}")
    src_lang = base_code(named_language(src_lang or "", "src_lang"))
    tgt_lang = base_code(named_language(tgt_lang or "", "tgt_lang"))
    shipped: dict[str, EmbeddedModel] = registry.load_all("evaluator")
    for name in (*registry.EVALUATORS, *shipped):  # one of another package never replaces ours
        if (shipped[name].src_lang, shipped[name].tgt_lang) == (src_lang, tgt_lang):
            return name
    if not (src_lang and tgt_lang):
        raise InputError(
            "evaluator: expected one, or src_lang and tgt_lang, so that the one that ships for the"
            " pair is used"
        )
    pairs = ", ".join(shipped)
    # No name is made of a code that is not known: there is no such model.
    is_known = {src_lang, tgt_lang} <= LANGUAGES.keys()
    larger = f"'Helsinki-NLP/opus-mt-{src_lang}-{tgt_lang}'" if is_known else "a model of the Hub"
    formats: dict[str, ModelFormat] = registry.load_all("model format")
    smaller = (of_files.suggestion(src_lang, tgt_lang) for of_files in formats.values())
    raise InputError(
        f"evaluator: none ships with the package for {src_lang}-{tgt_lang} (only {pairs}); name"
        f" one, such as {', or '.join([*filter(None, smaller), larger])}"
    )


def locate(name: str) -> tuple[str, tuple[str, str] | None]:
    """Find a model by its name.

    Args:
        name: a name of `cc-hf list evaluators`, a folder, or "organisation/model" on the Hub. A
            published model of a `ModelFormat` is downloaded if it is not here yet.

    Returns:
        The folder of the model, or its name on the Hub; and source and target language if the name
        says them, else None.

    Raises:
        UnknownNameError: for a name that is neither registered nor a folder nor of the form
            "organisation/model".
        EvaluatorError: for the path of a folder that does not exist.
        DataError: for a published model that cannot be downloaded.
    """
    if name in registry.names("evaluator"):
        embedded: EmbeddedModel = registry.resolve("evaluator", name)
        return str(embedded.path), (embedded.src_lang, embedded.tgt_lang)
    if (of_name := published_format(name)) is not None:
        return of_name.located(name)
    if is_folder(name):
        return name, None
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        if "/" in name:
            raise EvaluatorError(
                f"no evaluator at {name!r}: expected a folder that transformers saved, or"
                " organisation/model of the Hub; there is no such folder"
            )
        published = [f"{prefix}:SOURCE-TARGET" for prefix in registry.names("model format")]
        raise UnknownNameError(
            "evaluator",
            name,
            [*registry.names("evaluator"), *published],
            remedy=", a folder, ORGANISATION/MODEL of the Hub; see `cc-hf list evaluators`",
        )
    return name, None


def uses_cache_only(name: str, path: str, revision: str | None) -> bool:
    """Return whether a model must be read from the cache because the Hub does not answer.

    Raises:
        EvaluatorError: if the Hub does not answer, or HF_HUB_OFFLINE is set, and the cache does not
            have the model.
    """
    if is_folder(path):
        return False
    from huggingface_hub import constants, try_to_load_from_cache

    # The libraries of the Hub would ask again for most of a minute before each file.
    if not constants.HF_HUB_OFFLINE and _answers(f"{constants.ENDPOINT}/api/models/{path}"):
        return False
    try:
        is_cached = isinstance(try_to_load_from_cache(path, _CONFIG, revision=revision), str)
    except (OSError, ValueError):  # a name that cannot be one of the Hub, or of a folder
        is_cached = False
    if is_cached:
        return True
    reason = (
        "HF_HUB_OFFLINE is set; unset it to download the model"
        if constants.HF_HUB_OFFLINE
        else f"{constants.ENDPOINT} does not answer. Without network, set HF_HUB_OFFLINE=1, with"
        " which only models in the cache are used"
    )
    raise EvaluatorError(
        f"{name}: the model could not be loaded (it is not in the cache {constants.HF_HUB_CACHE})."
        f" {reason}; or save the model to a folder and give its path, or use one of:"
        f" {', '.join(registry.names('evaluator'))}"
    )


def _answers(url: str) -> bool:
    """Return whether a server answers at all, with an error or not."""
    import ssl
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, method="HEAD"), timeout=_SECONDS):
            return True
    except HTTPError:
        return True
    except URLError as error:
        # The Hub's libraries have certificates of their own.
        return isinstance(error.reason, ssl.SSLError)
    except (OSError, ValueError):
        return False


def model_files(folder: Path) -> list[tuple[str, Path]]:
    """List every file in a folder that loading may read, but for hidden ones and Markdown."""
    files: list[tuple[str, Path]] = []
    seen: set[str] = set()
    # Links are followed, each folder once.
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in seen:  # a link to a parent, or a second link to the same files
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (
            Path(parent, name)
            for name in names
            if not name.startswith(".") and not name.lower().endswith(".md")
        )
        files += [(path.relative_to(folder).as_posix(), path) for path in paths if path.is_file()]
    return sorted(files)


def model_file(path: str, name: str, revision: str | None, *, writer: str) -> Path:
    """Return the local path of one file of a converted model.

    Args:
        writer: the command that writes the file, for messages.

    Raises:
        EvaluatorError: for a file that is missing or cannot be downloaded.
    """
    if Path(path).is_dir():
        file = Path(path) / name
    else:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        try:
            file = Path(hf_hub_download(path, name, revision=revision))
        except (HfHubHTTPError, LocalEntryNotFoundError) as error:
            raise EvaluatorError(
                f"{path}: {name} could not be loaded ({str(error).splitlines()[0]})"
            ) from error
    if not file.is_file():
        raise EvaluatorError(
            f"{path}: the file {name} is missing; a converted model is tokenised by the files that"
            f" `{writer}` wrote beside it"
        )
    return file


def hash_files(files: Sequence[tuple[str, Path]]) -> str:
    """Hash the names and contents of files."""
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(name.encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:12]


def stamp(files: Sequence[tuple[str, Path]]) -> tuple[tuple[str, int, int, int], ...]:
    """Return names, sizes and times of files, which differ after any change on disk."""
    stats = ((name, path.stat()) for name, path in files)
    # The time at which the state of a file changed is included, since copying programs do not
    # restore it.
    return tuple((name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in stats)


def check_shards(name: str, path: str) -> None:
    """Check that the shards which an index of weights names are files that the identity covers.

    Raises:
        EvaluatorError: for an index that is damaged, or names files that are missing, hidden or
            outside the folder.
    """
    # A model on the Hub passes, since its commit covers all files.
    files = dict(model_files(Path(path))) if Path(path).is_dir() else {}
    for index in [file for file in files if file.endswith(".index.json") and "/" not in file]:
        try:
            shards = set(
                json.loads(files[index].read_text(encoding="utf-8"))["weight_map"].values()
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise EvaluatorError(
                f"{name}: {index} is damaged: expected a JSON object with weight_map"
                f" ({type(error).__name__}: {error})"
            ) from error
        covered = {os.path.realpath(file) for file in files.values()}
        if missing := sorted(
            str(shard)
            for shard in shards
            if os.path.realpath(Path(path, str(shard))) not in covered
        ):
            raise EvaluatorError(
                f"{name}: {index} names files that are not in the folder: {', '.join(missing[:3])};"
                " save or download the model again"
            )


def check_declared_sizes(name: str, path: str) -> None:
    """Check that a folder's configuration declares no sizes far beyond those of its files."""
    file = Path(path, _CONFIG)
    if not is_file(file):
        return
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise EvaluatorError(f"{name}: {_CONFIG} is damaged: expected JSON ({error})") from error
    if not isinstance(config, dict):
        raise EvaluatorError(f"{name}: {_CONFIG} is damaged: expected a JSON object")
    # transformers allocates a model before it compares it with its weights.
    settings = [config, *(part for part in config.values() if isinstance(part, dict))]

    def largest(*endings: str) -> int:
        return max(
            (
                value
                for part in settings
                for key, value in part.items()
                if type(value) is int and key.endswith(endings)
            ),
            default=1,
        )

    layers, width = largest("_layers", "n_layer"), largest("d_model", "hidden_size", "n_embd")
    rows = largest("vocab_size") + largest("max_position_embeddings", "n_positions")
    inner = largest("ffn_dim", "intermediate_size", "d_ff", "n_inner")
    declared = 4 * width * (rows + layers * inner)
    held = sum(part.stat().st_size for _, part in model_files(Path(path)))
    if layers > _MOST_LAYERS or declared > max(_SMALL, _MAX_INFLATION * held):
        raise EvaluatorError(
            f"{name}: expected sizes in {_CONFIG} that fit its files of {held} bytes, got"
            f" {shown(layers)} layers of width {shown(width)} and {shown(rows)} embeddings and"
            " positions; its files belong to another model, or are damaged"
        )


def check_generation_config(name: str, path: str) -> None:
    """Check that a folder's generation settings are readable; transformers ignores damaged ones."""
    file = Path(path, "generation_config.json")
    if not is_file(file):
        return
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise EvaluatorError(f"{name}: {file.name} is damaged: expected JSON ({error})") from error
    if not isinstance(settings, dict):
        raise EvaluatorError(f"{name}: {file.name} is damaged: expected a JSON object")
