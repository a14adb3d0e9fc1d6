"""Options of a command from the fields of a dataclass: name, type and default from the
field, the help from the section "Attributes:" of the class's docstring.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from cc_hf.docstrings import attribute_texts
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.languages import language_pair

__all__ = [
    "FieldOption",
    "Fields",
    "Setting",
    "field_options",
    "field_settings",
    "made",
    "setting_values",
]

#: Option that stands for the two fields src_lang and tgt_lang.
_PAIR = "language_pair"
#: Type of a setting -> what is expected, and how it is read.
_PARSED: dict[Any, tuple[str, Callable[[str], Any]]] = {
    bool: ("yes or no", {"yes": True, "no": False}.__getitem__),
    int: ("a whole number", int),
    float: ("a number", float),
}
#: What stands for no file, where a field has a default file.
_NO = "no"
_UNIONS = (Union, types.UnionType)
#: Field -> its flag, where that has another name.
_FLAGS = {
    "language_pair": "--language-pair -l",
    "model": "--system",
    "n_resamples": "--resamples",
    "names": "--name",
    "separator": "--context",
}


@dataclasses.dataclass(frozen=True)
class Fields:
    """Which fields of a dataclass are options of a command, for a parameter of that type.

    The parameter may be of the type `X | None`: it is None where no value of the first field is
    given, and then the others must not be given either.

    Attributes:
        names: the fields, with blanks between, in the order of the help.
        panel: heading of the options in the help.
        rare: fields that only `--help-all` shows, with blanks between.
        settings: fields that one option takes as KEY=VALUE, such as `--evaluator-option
            batch_tokens=4000` in the panel "Evaluator"; groups of the same panel share it.
        defaults: field -> default of the command, where that of the class does not fit.
        helps: field -> help, where the text of the class does not fit.
        flags: field -> flag, or several with blanks between, where neither its name nor the flag of
            all commands fits.
    """

    names: str
    panel: str
    rare: str = ""
    settings: str = ""
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    helps: Mapping[str, str] = dataclasses.field(default_factory=dict)
    flags: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def setting_flag(self) -> str:
        """The option that takes the settings."""
        return f"--{self.panel.split()[0].lower()}-option"


@dataclasses.dataclass(frozen=True)
class Setting:
    """A field that is given as KEY=VALUE; `kinds` are the types of its values."""

    field: str
    text: str
    default: Any
    kinds: frozenset[Any]

    def value(self, texts: Sequence[str], name: str) -> Any:
        """Return the value of the field from the texts that were given for it, at least one.

        Raises:
            InputError: for several values, where the field has one; or a text of another type.
        """
        if _are_several(self.kinds):
            return _one_or_several(list(texts)) if str in self.kinds else tuple(texts)
        if len(texts) > 1:
            raise InputError(f"{name}: expected one value, got {', '.join(texts)}")
        kind = _simple(set(self.kinds))
        what, parse = _PARSED.get(kind, ("", kind))
        try:
            return parse(texts[0])
        except (KeyError, ValueError):
            raise InputError(f"{name}: expected {what}, got {texts[0]!r}") from None


@dataclasses.dataclass(frozen=True)
class FieldOption:
    """An option as `typer` declares it; `value` makes the field's value of what typer parsed."""

    name: str
    type: Any
    default: Any
    info: Any
    value: Callable[[Any], Any]


def field_options(cls: type, chosen: Fields) -> list[FieldOption]:
    """Return the options of the chosen fields, in their order."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    hints, texts = get_type_hints(cls), attribute_texts(cls)
    options: list[FieldOption] = []
    if _PAIR not in fields and {"src_lang", "tgt_lang"} <= fields.keys():
        fields[_PAIR], hints[_PAIR] = fields["src_lang"], str | None
        texts[_PAIR] = "source and target language, such as en-de."
    for name in (*chosen.names.split(), *chosen.rare.split()):
        default = chosen.defaults.get(name, fields[name].default)
        if default is MISSING:
            default = None
        flag = _flag(name, chosen)
        text = chosen.helps.get(name) or _sentence(texts.get(name, ""))
        settings: dict[str, Any] = {
            "help": text,
            "rich_help_panel": chosen.panel,
            "hidden": name in chosen.rare.split(),
        }
        kinds = _kinds(hints[name])
        if bool in kinds and Path in kinds:
            settings["help"] += f" Or {_NO}, for none."
            info = typer.Option(flag, metavar=f"FILE|{_NO}", **settings)
            options.append(FieldOption(name, Path | None, None, info, _file_or(default)))
        elif _are_several(kinds):
            settings["help"] += " May be repeated." * ("repeat" not in text.lower())
            info = typer.Option(*flag.split(), **settings)
            several = _one_or_several if kinds & {str, list, tuple} else _several
            options.append(FieldOption(name, _values(kinds), None, info, several))
        else:
            info = typer.Option(
                *flag.split(), show_default=default not in (None, False, ""), **settings
            )
            kind = _simple(kinds)
            options.append(
                FieldOption(name, kind | None if default is None else kind, default, info, _same)
            )
    return options


def made(cls: Any, values: Mapping[str, Any], *, is_optional: bool) -> Any:
    """Make the object of a command's options; None without a first value, if it is optional.

    Raises:
        InputError: if only others than the first are given; or from the class.
    """
    first = next(iter(values))
    if is_optional and values[first] in (None, ()):
        defaults = {field.name: field.default for field in dataclasses.fields(cls)}
        others = [name for name in values if name != first]
        given = [name for name in others if values[name] not in (None, defaults[name])]
        if given:
            raise InputError(
                f"{', '.join(given)}: expected `{first}` with it, got none; add it, or leave out"
                f" {'these' if len(given) > 1 else 'this'}"
            )
        return None
    fields = dict(values)
    for field in dataclasses.fields(cls):  # a repeatable option that is not given
        if field.default == () and fields.get(field.name, ()) is None:
            fields[field.name] = ()
    if _PAIR in fields and _PAIR not in cls.__dataclass_fields__:
        pair = fields.pop(_PAIR)
        fields["src_lang"], fields["tgt_lang"] = language_pair(pair) if pair else (None, None)
    return cls(**fields)


def field_settings(cls: type, chosen: Fields) -> dict[str, Setting]:
    """Return the chosen settings by their keys, in their order."""
    hints, texts = get_type_hints(cls), attribute_texts(cls)
    fields = {field.name: field for field in dataclasses.fields(cls)}
    settings = {}
    for name in chosen.settings.split():
        default = chosen.defaults.get(name, fields[name].default)
        if isinstance(default, bool):
            shown = f" [yes or no; default: {'yes' if default else 'no'}]"
        else:
            shown = f" [default: {default}]" if isinstance(default, (str, int, float)) else ""
        key = _flag(name, chosen).removeprefix("--").replace("-", "_")
        text = f"{_sentence(texts[name])}{shown}"
        settings[key] = Setting(name, text, default, frozenset(_kinds(hints[name])))
    return settings


def setting_values(
    texts: Sequence[str] | None, settings: Mapping[str, Setting], flag: str
) -> dict[str, Any]:
    """Return the values that an option gives as KEY=VALUE, by their fields.

    Raises:
        InputError: for a text without "=", or a value that does not fit.
        UnknownNameError: for a key that is no setting.

    Examples:
        >>> options = {"size": Setting("n_units", "", 1, frozenset({int}))}
        >>> setting_values(["size=3"], options, "--model-option")
        {'n_units': 3}
    """
    given: dict[str, list[str]] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{flag}: expected KEY=VALUE, got {text!r}")
        if key not in settings:
            raise UnknownNameError(f"key of {flag}", key, list(settings))
        given.setdefault(key, []).append(value)
    return {
        settings[key].field: settings[key].value(values, f"{flag} {key}")
        for key, values in given.items()
    }


def _flag(name: str, chosen: Fields) -> str:
    return chosen.flags.get(name) or _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def _file_or(default: Any) -> Callable[[Path | None], Any]:
    """Return what makes the value of a field that is a file, or whether to use the default file."""
    return lambda path: default if path is None else path != Path(_NO) and path


def _kinds(hint: Any) -> set[Any]:
    """Return the types of a hint, without None."""
    if get_origin(hint) is Annotated:
        return _kinds(get_args(hint)[0])
    if get_origin(hint) in _UNIONS:
        return {kind for part in get_args(hint) for kind in _kinds(part)}
    return set() if hint is type(None) else {hint}


def _are_several(kinds: set[Any] | frozenset[Any]) -> bool:
    names = {getattr(get_origin(kind), "__name__", "") for kind in kinds}
    return bool(kinds & {list, tuple} or names & {"Sequence", "list", "tuple"})


def _simple(kinds: set[Any]) -> Any:
    """Return the one type that is parsed: a path rather than a text, an integer, ..."""
    return next((kind for kind in (Path, bool, int, float) if kind in kinds), str)


def _same(value: Any) -> Any:
    return value


def _values(kinds: set[Any]) -> Any:
    """Return the type of a repeatable option: paths only where texts are refused."""
    is_path = {Path} in (set(get_args(kind)) for kind in kinds)
    return list[Path] | None if is_path else list[str] | None


def _several(values: list[Any] | None) -> Any:
    return tuple(values) if values else None


def _one_or_several(values: list[str] | None) -> Any:
    return values[0] if values and len(values) == 1 else tuple(values) if values else None


def _sentence(text: str) -> str:
    """Return the text of an attribute as the help of an option."""
    text = re.sub(r" \((?:see )?`cc_hf\.[\w.]+`\)", "", text)
    text = re.sub(r"[;,.] None for ", ". Default: ", text).removesuffix(".")
    return f"{text[:1].upper()}{text[1:]}."
