"""Every registered label set is complete, and holds the labels that were recorded or counted."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cc_hf import registry
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.download import fetch
from cc_hf.data.labelled import LabelledTranslation, LabelSet
from cc_hf.data.loading import load_examples
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers.usual import cases, read_jsonl

_SETS: dict[str, LabelSet] = registry.load_all("label set")


def _both(n: int) -> dict[str, Any]:
    return {"people": {"male": n, "female": n}}


#: What translations show, by label set and language pair: system -> reading -> number.
_COUNTS: dict[str, dict[str, dict[str, Any]]] = {
    "fine_grained": {"en-es": {"unnamed": {"right": 159, "wrong": 28}}},
    "gender_alternatives": {"en-de": _both(1685), "en-es": _both(751), "en-fr": _both(845)},
    "genderous": {
        "en-de": {
            "DeepL": {"male": 344, "female": 109, "neither": 14},
            "GPT-4o": {"male": 413, "female": 68},
        },
        "en-el": {
            "DeepL": {"male": 395, "female": 92, "neither": 1},
            "GPT-4o": {"male": 403, "female": 87},
        },
        "en-es": {"DeepL": {"male": 401, "female": 72}, "GPT-4o": {"male": 432, "female": 62}},
        "en-nl": {
            "DeepL": {"male": 51, "female": 75, "neither": 320},
            "GPT-4o": {"male": 39, "female": 37, "neither": 406},
        },
    },
    # In Spanish, Hindi and Italian, some references are the same for both genders.
    "mt_geneval": {
        **{f"en-{lang}": _both(300) for lang in ("ar", "de", "fr", "pt", "ru")},
        **{f"en-{lang}": _both(n) for lang, n in (("es", 286), ("hi", 268), ("it", 281))},
    },
    "mucow": {
        "en-de": {"wmt19-ensemble": {"right": 89, "wrong": 6, "": 1}},
        "en-ru": {"wmt19-ensemble": {"right": 51, "wrong": 29, "": 5}},
    },
    "winomt": {
        "en-de": {"aws": {"male": 147, "female": 29, "neither": 20, "wrong": 1, "": 3}},
        "en-ru": {"google": {"male": 112, "female": 13, "neither": 13, "wrong": 1, "": 79}},
    },
    "winomt_read": {
        "en-es": {"google": {"male": 2797, "female": 734}},
        "en-fr": {"google": {"male": 2302, "female": 1124}},
        "en-it": {"google": {"male": 2697, "female": 374}},
    },
}


def _labelled(name: str, pair: str, shared: Path) -> tuple[list[LabelledTranslation], list[Any]]:
    """Return the translations of a label set, and the examples of its configuration."""
    label_set, data_dir = _SETS[name], shared / "upstream"
    examples = load_examples(label_set.dataset, label_set.configs[pair], data_dir=data_dir)
    paths = {file.path: fetch(file, data_dir) for file in label_set.files[pair]}
    return list(label_set.read(paths, pair, examples)), examples


@cases(*_SETS)
def test_every_label_set_is_of_examples_that_a_judge_reads(name: str) -> None:
    label_set = _SETS[name]
    declaration: DatasetDeclaration = registry.resolve("dataset", label_set.dataset)
    assert label_set.name == name
    assert label_set.configs.keys() == label_set.files.keys() >= _COUNTS[name].keys()
    for pair, config_name in label_set.configs.items():
        config = declaration.config(config_name)
        assert config.form is ContrastiveSourceExample
        assert (config.src_lang, config.has_target(pair[-2:])) == (pair[:2], True)
    files = {file for of_pair in label_set.files.values() for file in of_pair}
    assert all((len(f.commit), len(f.sha256), f.size > 0) == (40, 64, True) for f in files)
    assert (label_set.by == "people") == (label_set.n_people > 0)
    assert (label_set.by == "pairs") == (not files)  # a dictionary reads the files of a system


def test_results_know_which_pairs_have_labels_without_importing_the_sets() -> None:
    pairs: dict[str, set[str]] = {}
    for label_set in _SETS.values():
        kind = registry.kind_of_sentences(label_set.dataset)
        pairs.setdefault(kind, set()).update(label_set.configs)
    known = {kind: {*of_kind} for kind, (_, of_kind) in registry.SENTENCES.items() if of_kind}
    assert known == pairs
    datasets = [name for names, _ in registry.SENTENCES.values() for name in names]
    assert {*datasets} <= registry.DATASETS.keys()
    assert len({*datasets}) == len(datasets)


@cases(*((name, pair) for name, of_pairs in _COUNTS.items() for pair in of_pairs))
def test_labelled_translations_show_what_was_counted(name: str, pair: str, shared: Path) -> None:
    if name == "winomt_read" and shutil.which("lt-proc") is None:
        pytest.skip("there is no lt-proc")
    translations, examples = _labelled(name, pair, shared)
    counts = Counter((t.system, t.shows) for t in translations)
    assert counts == {
        (system, shows): n
        for system, of_system in _COUNTS[name][pair].items()
        for shows, n in of_system.items()
    }
    assert {t.example_id for t in translations} <= {example.id for example in examples}
    assert all(t.translation.strip() for t in translations)
    # Of three people, upstream has the majority only.
    assert {len(t.labels) for t in translations} == {2 if name in ("mucow", "winomt") else 0}


@cases(
    *(("testset_line", "mucow", pair) for pair in ("en-de", "en-ru")),
    *(("index", "winomt", pair) for pair in ("en-de", "en-ru")),
)
def test_labels_are_of_the_recorded_examples(key: str, name: str, pair: str, shared: Path) -> None:
    translations, _ = _labelled(name, pair, shared)
    recorded = Counter(
        (str(row[key]), row["translation"])
        for row in read_jsonl(shared / f"gold/human_validation/{name}_annotations.{pair}.jsonl")
        # The source of one Russian row is not in MuCoW: its line is None.
        if row["in_both"] and not row.get("skipped_ill_defined") and row[key] is not None
    )
    assert Counter((row.example_id, row.translation) for row in translations) == recorded
