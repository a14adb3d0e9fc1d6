"""Development sets for the calibration of cues: translations that show a known reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cc_hf import signature
from cc_hf.cues.wordings import GENDERS, Wording
from cc_hf.data.files.custom import is_custom, read_words
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.loading import check_target_language, declaration, load_examples, signature_fields
from cc_hf.errors import DataError, InputError
from cc_hf.files import file_sha256
from cc_hf.languages import language_tag
from cc_hf.lists import listed
from cc_hf.normalization import is_blank
from cc_hf.records import NonEmpty, read_json
from cc_hf.results import EvaluationResult, difference_of_data
from cc_hf.schema import ContrastiveSourceExample, Example, Focus, ProbingExample

__all__ = [
    "DevelopmentRow",
    "DevelopmentSet",
    "load_development",
    "read_wordings",
    "reference_development",
    "table_development",
    "verdict_development",
]

#: What metrics read in a translation -> the reading of cues.
_GENDERS = {**dict(zip(GENDERS, GENDERS, strict=True)), "feminine": "female", "masculine": "male"}


@dataclass(frozen=True, slots=True)
class DevelopmentRow:
    """A translation that is known to show one reading."""

    source: str  # without a cue
    focus: Focus | None  # None if the ambiguous words are not located
    translation: str
    reading: str
    # Those that the dataset has for each reading.
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class DevelopmentSet:
    """Translations of which it is known what they mean, to calibrate cues on."""

    # At least one for each of exactly two readings.
    rows: tuple[DevelopmentRow, ...] = field(repr=False)
    src_lang: str
    tgt_lang: str
    data: str  # where the rows come from, as a signature says it
    own_cues: str = ""  # how the dataset words its own cues; "" without any
    n_left_out: int = 0  # translations that show neither reading

    def __post_init__(self) -> None:
        if len(self.readings) != 2:
            readings = ", ".join(map(repr, self.readings[:6])) or "none"
            raise InputError(
                f"development set: expected translations of exactly two readings, got {readings} in"
                f" {len(self.rows)} rows"
            )

    @property
    def readings(self) -> tuple[str, ...]:
        """The two readings, sorted."""
        return tuple(sorted({row.reading for row in self.rows}))


def load_development(
    sources: Sequence[str | Path],
    config: str | None = None,
    *,
    split: str = "dev",
    tgt_lang: str | None = None,
    data_dir: str | Path | None = None,
) -> DevelopmentSet:
    """Return the development set that a user names."""
    names = [str(source) for source in listed("sources", sources, what="files")]
    if names and all(name.lower().endswith(".json") for name in names):
        results = {
            name if n_results == 1 else f"{name}: {result.metric}": result
            for name in names
            for result, n_results in _results(Path(name))
        }
        return verdict_development(results, data_dir=data_dir)
    if len(names) != 1:
        raise InputError(
            "development set: expected result files of one dataset, one table, or the name of one"
            f" dataset, got {', '.join(names) or 'nothing'}"
        )
    if is_custom(names[0]):
        return table_development(names[0], tgt_lang=tgt_lang)
    return reference_development(
        names[0], config, split=split, tgt_lang=tgt_lang, data_dir=data_dir
    )


def _results(path: Path) -> list[tuple[EvaluationResult, int]]:
    """Return the results of a file that name genders, each with their number."""
    results = read_result_file(path).results
    named = [
        result
        for result in results
        if any(judgement.predicted in _GENDERS for judgement in result.judgements)
    ]
    if not named:
        raise DataError(
            f"{path}: expected a result that says which gender was found, such as one of"
            f" winomt_pattern_matching, got {', '.join(result.metric for result in results)}"
        )
    return [(result, len(named)) for result in named]


def verdict_development(
    results: Mapping[str, EvaluationResult], *, data_dir: str | Path | None = None
) -> DevelopmentSet:
    """Return the judged translations in which a metric found a man or a woman.

    `results` are of a metric that says which gender it found, such as gender_reading, and
    all on the same data. Translations that occur more than once count once.
    """
    if not results:
        raise InputError("results: expected at least one result with verdicts, got none")
    if difference := difference_of_data(results):
        raise InputError(f"results: expected all on the same data, but {difference}")
    first = next(iter(results.values()))
    if first.declared is None:
        raise InputError(
            f"results: expected results on a registered dataset, got {first.dataset!r}; give"
            " your own translations as a table with source, focus, gold and reference"
        )
    split, _ = signature.split_and_limit(first.signature, first.dataset, first.config)
    loaded = load_examples(first.declared, first.config, split=split, data_dir=data_dir)
    examples = {example.id: example for example in loaded}
    rows: dict[tuple[str, Focus | None, str], DevelopmentRow] = {}
    n_left_out = 0
    for name, result in results.items():
        for judgement in result.judgements:
            example = examples.get(judgement.example_id)
            if example is None:
                raise InputError(
                    f"{name}: the example {judgement.example_id!r} is not in {first.dataset}"
                    f" {first.config}; evaluate the translations again"
                )
            if judgement.predicted not in _GENDERS:
                n_left_out += 1
                continue
            row = _row(example, judgement.translation, _GENDERS[judgement.predicted])
            rows[row.source, row.focus, row.translation] = row
    data = signature.parse(first.signature)[1].get("data", "")
    return DevelopmentSet(
        tuple(rows.values()),
        first.declared.config(first.config).src_lang,
        first.tgt_lang,
        f"{data}/{first.metric}",
        first.declared.cues if all(row.sources for row in rows.values()) else "",
        n_left_out,
    )


def reference_development(
    dataset: str,
    config: str | None = None,
    *,
    split: str = "dev",
    tgt_lang: str | None = None,
    data_dir: str | Path | None = None,
) -> DevelopmentSet:
    """Return the references of a dataset, each of which shows the gold reading of its source.

    The split "test" is refused, because translations are judged on it.
    """
    declared = declaration(dataset)
    chosen = declared.config(config)
    if split == "test":
        raise InputError(
            f"split: expected a split of {dataset} {chosen.name} on which nothing is judged, got"
            " test; cues that are chosen on the test set look better than they are"
        )
    split = declared.split(chosen.name, split)
    rows = []
    for example in load_examples(declared, chosen.name, split=split, data_dir=data_dir):
        reference = example.extra.get("reference", "")
        if not isinstance(example, ContrastiveSourceExample) or is_blank(reference):
            raise InputError(
                f"{dataset} {chosen.name}: expected contrastive sources with references, got none;"
                " give results of a metric that says which gender it found"
            )
        rows.append(_row(example, reference, example.gold))
    fields = signature_fields(declared, chosen.name, split=split, data_dir=data_dir)
    return DevelopmentSet(
        tuple(rows),
        chosen.src_lang,
        check_target_language(declared, chosen.name, tgt_lang),
        fields["data"],
        declared.cues_of(chosen.name),
    )


def table_development(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> DevelopmentSet:
    """Return the translations of a table with their readings; rows may name their language."""
    path = Path(path)
    tgt_lang = tgt_lang and language_tag(tgt_lang, "tgt_lang")
    words = list(read_words(path, src_lang=src_lang, tgt_lang=tgt_lang))
    for name, languages in (
        ("src_lang", {word.src_lang for word in words}),
        ("tgt_lang", {word.tgt_lang for word in words} | ({tgt_lang} if tgt_lang else set())),
    ):
        if len(languages) != 1:
            raise InputError(f"{path}: {name}: expected one language, got {sorted(languages)}")
    digest = file_sha256(path)[:7]
    return DevelopmentSet(
        tuple(_row(word, word.extra["reference"], word.gold) for word in words),
        words[0].src_lang,
        words[0].tgt_lang,
        f"custom/{path.stem}@{digest}",
    )


def read_wordings(path: str | Path) -> tuple[Wording, ...]:
    """Return the wordings of a JSON file.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "wordings.json")
        ...     _ = path.write_text('[{"name": "miss", "cues": {"female": "Miss", "male": "Mr"}}]')
        ...     read_wordings(path)[0].cues["male"]
        'Mr'
    """
    return tuple(read_json(path, "a list of wordings", NonEmpty([Wording])))


def _row(example: Example, translation: str, reading: str) -> DevelopmentRow:
    """Return a row with the example's own sources for both readings, if it has some."""
    sources: dict[str, tuple[str, ...]] = {}
    if isinstance(example, ContrastiveSourceExample) and example.gold in GENDERS:
        (other,) = set(GENDERS) - {example.gold}
        sources = {example.gold: example.correct_sources, other: example.incorrect_sources}
    focus = (
        example.focus if isinstance(example, (ContrastiveSourceExample, ProbingExample)) else None
    )
    return DevelopmentRow(example.source, focus, translation, reading, sources)
