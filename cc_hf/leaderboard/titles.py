"""Names of data, languages, metrics and figures in words, from the cards."""

from __future__ import annotations

from functools import cache

from cc_hf import registry
from cc_hf.data.loading import card_path, declaration
from cc_hf.languages import LANGUAGES

__all__ = ["card_section", "data_title", "figure_title", "language_title", "metric_title"]

_SHORT = {"min_accuracy": "minimum accuracy", "weighted_min_accuracy": "weighted minimum accuracy"}
_SYMBOLS = {"delta_g": "gender gap ΔG", "delta_s": "stereotype gap ΔS"}


def data_title(dataset: str, config: str) -> str:
    """Return dataset and configuration in words; the default configuration is not named.

    Args:
        dataset: a name of `cc-hf list datasets`, or another.
        config: a configuration of it.

    Examples:
        >>> data_title("winomt", "default"), data_title("winomt", "pro")
        ('WinoMT', 'WinoMT pro')
        >>> data_title("own", "")
        'own'
    """
    if dataset not in registry.names("dataset"):
        return f"{dataset} {config}".strip()
    title = _heading(dataset, "datasets").removesuffix(" in contrastive format")
    is_default = config in ("", "default") or declaration(dataset).default_config == config
    return title if is_default else f"{title} {config}"


def language_title(pair: str) -> str:
    """Return languages in words.

    Args:
        pair: "source-target", or only the target, as ISO 639-1 codes.

    Examples:
        >>> language_title("en-de"), language_title("cs"), language_title("")
        ('English → German', 'Czech', '')
    """
    names = [LANGUAGES.get(code, code) for code in pair.split("-")]
    return " → ".join(names)


def metric_title(name: str) -> str:
    """Return the name of a metric in words.

    Args:
        name: a name of `cc-hf list metrics`, or another.

    Examples:
        >>> metric_title("winomt_pattern_matching"), metric_title("own_metric")
        ('WinoMT pattern matching', 'own metric')
    """
    return _heading(name, "metrics") if name in registry.names("metric") else _spaced(name)


def figure_title(name: str) -> str:
    """Return the name of a figure in words.

    Args:
        name: a key of `EvaluationResult.scores`.

    Examples:
        >>> figure_title("min_accuracy"), figure_title("accuracy_female"), figure_title("delta_g")
        ('minimum accuracy', 'accuracy on female', 'gender gap ΔG')
    """
    for start in ("weighted_accuracy_", "accuracy_"):
        if name.startswith(start):
            return f"{_spaced(start[:-1])} on {_spaced(name.removeprefix(start))}"
    return _SHORT.get(name) or _SYMBOLS.get(name) or _spaced(name)


@cache
def card_section(name: str, kind: str, heading: str = "") -> str:
    """Return a section of a card as Markdown, without its heading.

    Args:
        name: a registered dataset or metric.
        kind: "datasets" or "metrics".
        heading: the heading of the section; "" for the introduction below the title.

    Returns:
        The text; "" if the card has no such section.

    Examples:
        >>> card_section("winomt", "datasets")[:6]
        'WinoMT'
        >>> "@inproceedings{" in card_section("winomt", "datasets", "Citation")
        True
    """
    text = card_path(name, kind=kind).read_text(encoding="utf-8").partition("\n# ")[2]
    if not heading:
        return text.partition("\n")[2].partition("\n## ")[0].strip()
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].strip()


@cache
def _heading(name: str, kind: str) -> str:
    card = card_path(name, kind=kind).read_text(encoding="utf-8")
    return card.partition("\n# ")[2].partition("\n")[0]


def _spaced(name: str) -> str:
    return name.replace("_", " ")
