"""Material: the rows by which translations are judged, and where they come from."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cc_hf import signature
from cc_hf.cues.wordings import Wording, named_wording, reworded
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.files.custom import is_custom, rows_declaration
from cc_hf.data.files.sense_counts import with_counts
from cc_hf.data.loading import (
    check_source_language,
    check_target_language,
    declaration,
    load_examples,
    signature_fields,
)
from cc_hf.errors import InputError, shown
from cc_hf.evaluation.calibration_file import Calibration, read_calibration
from cc_hf.languages import (
    base_code,
    language_pair,
    language_tag,
    named_language,
    pair_in,
    same_language,
)
from cc_hf.metrics.base import Metric, Origin
from cc_hf.records import write_record
from cc_hf.rules import AtLeast, check_fields
from cc_hf.schema import (
    CUSTOM,
    FORMS,
    ContrastiveSourceExample,
    Example,
    dataset_in_words,
)

__all__ = ["Cues", "DataOptions", "Material", "check_material", "limited_rows", "load_material"]

#: How users say which cues replace those of a dataset: the name of a wording, the file of a
#: calibration, a wording, or a calibration.
Cues: TypeAlias = str | Path | Wording | Calibration


@dataclass(frozen=True)
class Material:
    """Rows to judge by, with their languages.

    Attributes:
        src_lang, tgt_lang: languages as `cc_hf.languages.named_language` reads them, which are kept
            in its form; "" for a language that is not known.
        rows: examples (`cc_hf.schema`), or what a metric reads, one mapping per row.
            Only examples have ids and sources. None reads the examples of the dataset when they are
            first needed.
        ids: unique names of rows that are mappings; None for row numbers.
        declared, config, split, data_dir: dataset of the rows, as `load_material` finds it; None
            for rows of the caller.
        wording: wording of cues in place of the rows' own; None to keep those.
        calibration: the calibration that chose the wording, or None.
        limit: number of examples to judge, for a first look, see `limited_rows`; None for all.
        chosen: ids of the examples to judge, such as those that a system translated; None for all.
        named: where rows that are mappings come from; None for data of the caller.

    Examples:
        >>> rows = load_examples("simplegen", "en-de")[:4]
        >>> len(Material("en", "de", rows).examples)
        4
    """

    src_lang: str
    tgt_lang: str
    rows: Sequence[Example] | Sequence[Mapping[str, Any]] | None = None
    ids: Sequence[str] | None = None
    declared: DatasetDeclaration | None = None
    config: ConfigDeclaration | None = None
    split: str = "test"
    data_dir: str | Path | None = None
    wording: Wording | None = None
    calibration: Calibration | None = None
    limit: Annotated[int | None, AtLeast(1)] = None
    chosen: frozenset[str] | None = None
    named: Origin | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for side in ("src_lang", "tgt_lang"):
            if isinstance(language := getattr(self, side), str):
                object.__setattr__(self, side, named_language(language, side))

    @property
    def examples(self) -> list[Any]:
        """The examples; empty if the rows are mappings.

        Raises:
            DataError: for a file that is missing or not as expected (see `cc_hf.load_examples`).
            InputError: for an example that the wording of the cues does not fit.
        """
        examples = [self._whole[row] for row in self._rows_in_limit]
        if self.chosen is None:
            return examples
        return [example for example in examples if example.id in self.chosen]

    @property
    def is_first_look(self) -> bool:
        """Whether `limit` leaves examples out."""
        return self.limit is not None and self.limit < len(self._whole)

    def translated_lines(self) -> dict[int, list[int]]:
        """Return number of lines of a file of translations -> the 0-based line of each example."""
        # A file has a line for each example, also for those that `limit` leaves out, or for each
        # line of the upstream file.
        lengths = {len(self._whole): self._rows_in_limit}
        keys = self.config.line_keys if self.rows is None and self.config is not None else {}
        for n, key in keys.items():
            lengths[n] = [int(e.id if key == "id" else e.extra[key]) for e in self.examples]
        return lengths

    @functools.cached_property
    def _rows_in_limit(self) -> list[int]:
        return limited_rows(self._whole, self.limit)

    @functools.cached_property
    def _whole(self) -> list[Any]:
        """The examples without a limit, in the wording that was asked for."""
        examples = self._unworded()
        if self.wording is None:
            return examples
        return [reworded(example, self.wording) for example in examples]

    def _unworded(self) -> list[Any]:
        if self.rows is not None:
            is_list = isinstance(self.rows, (list, tuple))
            are_examples = is_list and all(isinstance(row, tuple(FORMS)) for row in self.rows)
            return list(self.rows) if are_examples else []
        if self.declared is None or self.config is None:
            return []
        return load_examples(
            self.declared, self.config.name, split=self.split, data_dir=self.data_dir
        )

    def references(self, metric: type[Metric]) -> Any:
        """Return what a metric reads of the rows; those that are no examples stay as they are."""
        examples = self.examples
        return metric.references(examples) if examples or self.rows is None else self.rows

    @functools.cached_property
    def origin(self) -> Origin:
        """The names and signature fields of the data, as a result holds them."""
        if self.named is not None:
            return self.named
        names, fields = ("", ""), {}
        if self.declared is not None and self.config is not None:
            names = self.declared.name, self.config.name
            fields = signature_fields(
                self.declared, self.config.name, split=self.split, data_dir=self.data_dir
            )
            if self.chosen is not None:
                fields["data"] = signature.chosen(fields["data"], [e.id for e in self.examples])
            elif self.is_first_look and self.limit is not None:
                fields["data"] = signature.limited(
                    fields["data"], self.limit, by_category=self._is_by_category
                )
        wording = None
        if self.wording is not None:
            fields["cues"], wording = self.wording.signature_name, write_record(self.wording)
        return Origin(*names, fields, wording)

    @property
    def _is_by_category(self) -> bool:
        return self._rows_in_limit != list(range(len(self._rows_in_limit)))

    @property
    def limit_notes(self) -> tuple[str, ...]:
        """The note on a result that judges some of the examples only."""
        if self.chosen is not None:
            return (
                f"Only {len(self.examples):,} of {len(self._whole):,} examples were judged: those"
                " with a translation. Compare systems on the examples that all of them translated",
            )
        which = "the first " * (not self._is_by_category)
        return (
            (
                f"This is a first look: only {which}{len(self.examples):,} of"
                f" {len(self._whole):,} examples were judged{', of every category' * (not which)}."
                " The figures on all examples differ; leave the limit out for them",
            )
            if self.is_first_look
            else ()
        )

    @property
    def name(self) -> str:
        """The dataset and configuration, as messages name them."""
        if self.declared is None or self.config is None:
            return "these rows"
        if self.declared.name == CUSTOM:
            return dataset_in_words(CUSTOM)
        return f"{self.declared.name} {self.config.name}"

    def unfit_reason(self, metric: type[Metric]) -> str:
        """Return "" if a metric can judge the rows, else the reason."""
        if self.declared is None or self.config is None:
            return ""
        name, config = self.declared.name, self.config.name
        languages = base_code(self.src_lang), base_code(self.tgt_lang)
        reason = metric.fits(name, config, self.config.form, *languages)
        if name != CUSTOM:
            return reason
        return re.sub(rf"\b{CUSTOM}( {re.escape(config)})?(?!\w)", self.name, reason)


def limited_rows(examples: Sequence[Example], limit: int | None) -> list[int]:
    """Return the rows of a first look: the first ones, or, where these lack a category that others
    have, the first ones of every category in turn; 0-based, in their order.

    Examples:
        >>> examples = load_examples("simplegen", "en-de")
        >>> rows = limited_rows(examples, 4)
        >>> rows[:2], sorted(examples[row].category for row in rows)
        ([0, 814], ['FoFc', 'FoMc', 'MoFc', 'MoMc'])
    """
    first = list(range(len(examples)))[:limit]
    categories = {example.category for example in examples}
    # Files sorted by category would give a first look at one category alone.
    if len({examples[row].category for row in first}) >= min(len(first), len(categories)):
        return first
    n_before: Counter[str] = Counter()
    turns = []
    for row, example in enumerate(examples):
        turns.append((n_before[example.category], row))
        n_before[example.category] += 1
    # In the order of the file, which translations follow.
    return sorted(row for _, row in sorted(turns)[:limit])


@dataclass(frozen=True)
class DataOptions:
    """Which examples of a dataset are judged, and where they are read.

    Attributes:
        split: split of the dataset.
        language_pair: source and target language, such as en-de, where a configuration has
            several.
        data_dir: local copy of the upstream repositories (DIR/owner/repository/...), which is read
            in place of a download; None for the environment variable CC_HF_DATA_DIR, if it is set.
        limit: number of examples, the first ones or those of every category in turn, for a first
            look; results say so.
        cues: wording of the cues in place of the dataset's own: a name such as gender_nouns, or the
            JSON file of a calibration (`cc-hf cues calibrate`). Only for sentences that leave the
            reading open, not for counterfactual pairs.
        counts: file of how often senses occur in your training data, which `cc-hf study
            distillation senses` wrote: frequent and infrequent senses of mucow are then those of
            this file.
    """

    split: str = "test"
    language_pair: str | None = None
    data_dir: Path | None = None
    limit: Annotated[int | None, AtLeast(1)] = None
    cues: str | None = None
    counts: Path | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The source and target language of the language pair."""
        return (None, None) if self.language_pair is None else language_pair(self.language_pair)

    def load(self, dataset: str, config: str | None = None) -> Material:
        """Find the dataset, see `load_material`."""
        src_lang, tgt_lang = self.languages
        return load_material(
            dataset,
            config,
            split=self.split,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            data_dir=self.data_dir,
            limit=self.limit,
            cues=self.cues,
            counts=self.counts,
        )


def check_material(material: object) -> None:
    """Check that rows to judge are given as `Material`.

    Raises:
        InputError: for anything else, such as the name of a dataset.

    Examples:
        >>> check_material("winomt")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: material: expected what cc_hf.load_material("winomt", ...) returns, got 'winomt'
    """  # noqa: E501
    if not isinstance(material, Material):
        name = material if isinstance(material, str) else "DATASET"
        raise InputError(
            f'material: expected what cc_hf.load_material("{name}", ...) returns, got'
            f" {shown(material)}"
        )


def load_material(
    dataset: str | Path | DatasetDeclaration | Iterable[Mapping[str, Any]],
    config: str | None = None,
    *,
    split: str = "test",
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    data_dir: str | Path | None = None,
    cues: Cues | None = None,
    counts: str | Path | None = None,
    limit: int | None = None,
) -> Material:
    """Find a dataset to judge translations by.

    The examples are read when they are first needed.

    Args:
        dataset: a name of `cc-hf list datasets`, a file of sources, positions and cues
            (`cc_hf.data.files.custom.read_custom`), a declaration, or rows in memory with the
            columns of such a file: mappings in a list, a table of pandas, or a `datasets.Dataset`.
        config: name of a configuration, or a language pair of the default one, such as "en-de";
            None uses the dataset's default.
        src_lang: language of the sources, as `cc_hf.languages.language_tag` reads it: that of the
            configuration, which None stands for, or of the rows of a file that name none.
        tgt_lang: language of the translations, read likewise; optional if the configuration has one
            target language.
        data_dir: local copy of the upstream repositories, used instead of a download.
        cues: wording of the cues in place of the dataset's own: a name of
            `cc_hf.cues.wordings.gender_wordings`, the file of a calibration
            (`cc-hf cues calibrate`), a Wording, or a Calibration; None for the dataset's own. Rows
            whose own contrastive sources are whole sentences are refused when they are read.
        counts: file of how often senses occur in training data, as `cc-hf study distillation
            senses` writes it; frequent and infrequent senses of mucow are then those of this file.
            None for the categories of the dataset.
        limit: number of examples to judge, for a first look, see `limited_rows`; None for all.
            Results say so in their notes and their signature.

    Raises:
        UnknownNameError: for an unknown dataset, configuration, split or wording.
        InputError: for a source language that is not that of the configuration, a target language
            that it does not have, or no target language if it has several, for a limit below 1, or
            for cues or counts that do not fit the configuration.
        DataError: for a file that is not as expected.

    Examples:
        >>> material = load_material("simplegen", "en-de")
        >>> material.tgt_lang, len(material.examples)
        ('de', 2664)
    """
    src_lang = src_lang and language_tag(src_lang, "src_lang")
    tgt_lang = tgt_lang and language_tag(tgt_lang, "tgt_lang")
    declared = _declared(dataset, config, src_lang, tgt_lang)
    name, language = declared.config_of_pair(config)
    chosen = declared.config(name)
    if language and tgt_lang and not same_language(language, tgt_lang):
        raise InputError(
            f"tgt_lang: expected {language}, as the language pair {config} says, got {tgt_lang};"
            " give one of the two"
        )
    if src_lang:
        check_source_language(declared, chosen.name, src_lang)
    if counts is not None:
        declared = with_counts(declared, chosen.name, counts)
    wording, calibration = (None, None) if cues is None else _wording(cues, declared, chosen)
    return Material(
        chosen.src_lang,
        check_target_language(declared, chosen.name, tgt_lang or language),
        declared=declared,
        config=chosen,
        split=declared.split(chosen.name, split),
        data_dir=data_dir,
        wording=wording,
        calibration=calibration,
        limit=limit,
    )


def _declared(
    dataset: str | Path | DatasetDeclaration | Iterable[Mapping[str, Any]],
    config: str | None,
    src_lang: str | None,
    tgt_lang: str | None,
) -> DatasetDeclaration:
    name = str(dataset) if isinstance(dataset, Path) else dataset
    is_own = not isinstance(name, DatasetDeclaration) and (
        not isinstance(name, str) or is_custom(name)
    )
    if is_own and tgt_lang is None and (pair := pair_in(config)) is not None:
        src_lang, tgt_lang = src_lang or pair[0], pair[1]
    if not isinstance(name, (str, DatasetDeclaration)):
        return rows_declaration(name, src_lang=src_lang or "en", tgt_lang=tgt_lang)
    return declaration(name, src_lang=src_lang, tgt_lang=tgt_lang)


def _wording(
    cues: Cues, declared: DatasetDeclaration, config: ConfigDeclaration
) -> tuple[Wording | None, Calibration | None]:
    """Return the wording that is meant (None for the dataset's own), and its calibration."""
    if config.form is not ContrastiveSourceExample:
        raise InputError(
            f"cues: {dataset_in_words(declared.name)} {config.name} has no sources with"
            " cues; expected a configuration with contrastive sources"
        )
    if isinstance(cues, Wording):
        return cues, None
    if isinstance(cues, Path) or (isinstance(cues, str) and cues.lower().endswith(".json")):
        cues = read_calibration(Path(cues))
    if isinstance(cues, str):
        return named_wording(cues, config.src_lang), None
    if not isinstance(cues, Calibration):
        raise InputError(
            "cues: expected the name of a wording, the JSON file of a calibration, a Wording or a"
            f" Calibration, got {shown(cues)}"
        )
    if cues.choice.wording is None and cues.chosen != (known := declared.cues_of(config.name)):
        raise InputError(
            f"cues: the calibration chose {cues.chosen!r}, the cues of another dataset;"
            f" {dataset_in_words(declared.name)} has {known!r}"
        )
    return cues.choice.wording, cues
