"""Declarations of datasets, one literal each: files with commit and sha256, licence,
configurations, sizes, reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from cc_hf.citations import Citation, citation
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.languages import LANGUAGES, base_code, pair_in, same_language
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example

__all__ = [
    "OPEN_GENDER",
    "ConfigDeclaration",
    "DatasetDeclaration",
    "Reader",
    "SourceFile",
    "Twins",
]

#: Remark of configurations whose sources leave the gender of people open.
OPEN_GENDER = (
    "Nothing says the gender, so no translation is wrong, and equal shares are no target by"
    " themselves."
)

#: A function (local paths by upstream path, configuration, split) -> examples.
Reader = Callable[[Mapping[str, Path], str, str], Iterator[Example]]
#: A function of an example (`DatasetDeclaration.twins`).
Twins = Callable[[Example], tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of an upstream repository at a pinned commit.

    Attributes:
        repository: "owner/name".
        commit: the full commit hash.
        sha256: hash of the content, "" where only the commit is known. Such a file is verified
            against the hash that the host states (the Hub's LFS hash). A local copy of it is not
            verified; results then name the content that was read.
        size: size in bytes, 0 where it is not known.
        host: "github"; "hub" for a dataset repository of the Hugging Face Hub; or the address of
            another server, which has the files of a model at ADDRESS/commit/path.
    """

    repository: str
    commit: str
    path: str
    sha256: str = ""
    size: int = 0
    host: str = "github"

    @property
    def is_of_a_model(self) -> bool:
        """Whether the file is that of a model, which local copies of datasets need not hold."""
        return "://" in self.host

    @property
    def url(self) -> str:
        """The address that the file is downloaded from."""
        if self.host == "hub":
            return f"https://huggingface.co/datasets/{self.repository}/resolve/{self.commit}/{self.path}"
        if self.is_of_a_model:
            return f"{self.host}/{self.commit}/{self.path}"
        return (
            f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{quote(self.path)}"
        )


@dataclass(frozen=True, slots=True)
class ConfigDeclaration:
    """One configuration of a dataset.

    Attributes:
        src_lang, tgt_langs: codes of `cc_hf.languages` of the sources, and those that translations
            may have.
        takes_any_target: whether translations into any other language can be judged as well, since
            neither the sources nor their cues depend on it; `tgt_langs` are then those for which
            there is more, such as a metric that reads words.
        splits: number of examples by split, None where it is not known. `test` is the split that is
            evaluated by default.
        files: the files that this configuration needs beyond those of the dataset.
        extra_keys: the columns in `extra`; None for those of the dataset. "open_share" among them
            says that nothing in the sources tells the right reading: the share of one reading is
            then counted, under the name in the column, and nothing is ranked.
        remark: what a reader of any result on it must know, such as which published figures are not
            comparable; "" for nothing.
        line_keys: number of lines of an upstream file that has lines without an example, or with
            several -> the column in `extra` with the 0-based line of an example, or "id" where its
            id is that. Files of translations may have as many lines.
        cues: how the cues of this configuration were made, as the signature says it; "" for the
            cues of the dataset.
    """

    name: str
    description: str
    tgt_langs: tuple[str, ...]
    splits: Mapping[str, int | None]
    files: tuple[SourceFile, ...] = ()
    form: type[Example] = ContrastiveSourceExample
    src_lang: str = "en"
    extra_keys: tuple[str, ...] | None = None
    remark: str = ""
    line_keys: Mapping[int, str] = field(default_factory=dict)
    cues: str = ""
    takes_any_target: bool = False

    def has_target(self, tgt_lang: str) -> bool:
        """Return whether translations into a language (`cc_hf.languages.language_tag`) can be
        judged.
        """
        code = base_code(tgt_lang)
        if code in map(base_code, self.tgt_langs):
            return True
        return self.takes_any_target and code in LANGUAGES and code != self.src_lang

    @property
    def is_open(self) -> bool:
        """Whether nothing in the sources tells the right reading."""
        return "open_share" in (self.extra_keys or ())

    @property
    def has_choices(self) -> bool:
        """Whether the right one of several translations can be chosen."""
        return self.form is ContrastiveTranslationExample and not self.is_open


@dataclass(frozen=True, slots=True)
class DatasetDeclaration:
    """One dataset.

    Attributes:
        title: its name as titles write it; "" for data of the user.
        phenomenon: what must be disambiguated, such as "gender"; "" for data of the user.
        twins: returns of an example a name that only sentences share which differ in nothing but
            who is meant, and who this is: "woman", "man" or "nobody"; or None for an example
            without such twins. None for a dataset that has none.
        licence: identifier of the licence, or "unknown".
        homepage: address of the dataset, or "".
        citation_keys: keys of `cc_hf.citations`, or citations of papers that it does not have.
        revision: the pinned commit, or the version of the generator. The signature shows its first
            7 characters.
        default_config: name of the configuration that is used if none is named.
        extra_keys: the columns in `extra` of configurations that name none.
        version: version of the builder for `datasets`.
        counts: hash of a user's counts that decide the categories
            (`cc_hf.data.files.sense_counts`); "" for the categories of the dataset.

    Examples:
        >>> from cc_hf import registry
        >>> winomt = registry.resolve("dataset", "winomt")
        >>> winomt.config("pro").splits
        {'test': 1582}
    """

    name: str
    description: str
    licence: str
    homepage: str
    citation_keys: tuple[str | Citation, ...]
    revision: str
    cues: str
    files: tuple[SourceFile, ...]
    configs: tuple[ConfigDeclaration, ...]
    default_config: str
    extra_keys: tuple[str, ...]
    read: Reader
    version: str = "1.0.0"
    title: str = ""
    phenomenon: str = ""
    twins: Twins | None = None
    counts: str = ""

    @property
    def bibtex(self) -> str:
        """The BibTeX of the papers."""
        return "\n\n".join(citation(key).bibtex for key in self.citation_keys)

    def config(self, name: str | None) -> ConfigDeclaration:
        """Return a configuration, the default one for None.

        Args:
            name: its name, or a language pair (see `config_of_pair`).

        Raises:
            UnknownNameError: for a name that is not declared.
            InputError: for a name that is not a string.
        """
        chosen = self.default_config if name is None else name
        if not isinstance(chosen, str):
            raise InputError(
                f"config: expected the name of a configuration of {self.name}, got"
                f" {type(chosen).__name__}"
            )
        by_name = {config.name: config for config in self.configs}
        if chosen not in by_name:
            chosen = self.config_of_pair(chosen)[0] or chosen
        if chosen in by_name:
            return by_name[chosen]
        raise UnknownNameError(
            f"configuration of {self.name}",
            chosen,
            [c.name for c in self.configs],
            remedy=self._language_remedy(chosen),
        )

    def _language_remedy(self, name: str) -> str:
        """Return what to give in place of a language or a language pair, "" for other names."""
        if (pair := pair_in(name)) is None:
            is_target = any(config.has_target(name) for config in self.configs)
            return f"; {name!r} is a target language, give it as `tgt_lang`" * is_target
        source, target = pair
        if of_pair := self.configs_of_pair(source, target):
            return f". For {source}-{target}: {', '.join(config.name for config in of_pair)}"
        pairs = {f"{c.src_lang}-{lang}": None for c in self.configs for lang in c.tgt_langs}
        return f". It has no {source}-{target}, but {', '.join(pairs)}"

    def config_of_pair(self, name: str | None) -> tuple[str | None, str | None]:
        """Return the configuration and the target language that a name stands for.

        Args:
            name: a configuration; or, where none has this name, a language pair
                (`cc_hf.languages.language_pair`): of a configuration that is named after it, of the
                default configuration, such as "en-de" for WinoMT, or of the only one that has it.

        Returns:
            The name and None; or the configuration and the target language of the pair.
        """
        names = [config.name for config in self.configs]
        if name in names or (pair := pair_in(name)) is None:
            return name, None
        source, target = pair
        # "eng_Latn-deu_Latn" names the configuration en-de.
        if (code := f"{base_code(source)}-{base_code(target)}") in names:
            return code, target
        fitting = [config.name for config in self.configs_of_pair(source, target)]
        # Several fit: the default, or else the only one; a guess among others would be silent.
        if self.default_config in fitting:
            return self.default_config, target
        return (fitting[0], target) if len(fitting) == 1 else (name, None)

    def configs_of_pair(self, src_lang: str, tgt_lang: str) -> list[ConfigDeclaration]:
        """Return the configurations by which translations of a language pair can be judged."""
        return [
            config
            for config in self.configs
            if same_language(src_lang, config.src_lang) and config.has_target(tgt_lang)
        ]

    def split(self, config: str | None, name: str) -> str:
        """Return the name of a split after checking that the configuration, the default one for
        None, has it.

        Raises:
            UnknownNameError: for a configuration that is not declared, or a split that it does not
                have.
        """
        chosen = self.config(config)
        if name not in chosen.splits:
            raise UnknownNameError(f"split of {self.name} {chosen.name}", name, list(chosen.splits))
        return name

    def files_of(self, config: str | None) -> tuple[SourceFile, ...]:
        """Return the files that a configuration, the default one for None, is read from."""
        return (*self.files, *self.config(config).files)

    def cues_of(self, config: str | None) -> str:
        """Return how signatures say that the cues of a configuration were made."""
        return self.config(config).cues or self.cues

    def extra_keys_of(self, config: str | None) -> tuple[str, ...]:
        """Return the columns in `extra` of a configuration, the default one for None."""
        keys = self.config(config).extra_keys
        return self.extra_keys if keys is None else keys
