"""Lexicons of homographs whose clusters have names, made of MuCoW's senses (Raganato et al. 2019),
or of the lexicon of Emelin et al. (2020), whose own clusters have numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from cc_hf.data.download import fetch
from cc_hf.data.loading import declaration, load_examples
from cc_hf.errors import UnknownNameError, check_choice
from cc_hf.languages import base_code, language_pair
from cc_hf.records import read_json
from cc_hf.schema import ProbingExample
from cc_hf.test_sets.mucow.inflection import english_plural
from cc_hf_studies.disambiguation_bias.homographs import LEXICON_FILE, SenseCluster, read_lexicon

__all__ = ["SENSES_OF", "lexicon_json", "named_lexicon"]

#: Where the senses of a lexicon come from.
SENSES_OF = ("mucow", "emelin-2020")


def named_lexicon(
    pair: str, *, senses_of: str = "mucow", data_dir: str | Path | None = None
) -> dict[str, dict[str, SenseCluster]]:
    """Return a lexicon whose clusters are named by a word.

    The name of a cluster of MuCoW is the first of its target words. That of a cluster of Emelin et
    al. (2020) is the first synonym in the source language that is no form of the homograph, else
    its first target word. Words that MuCoW lists as wrong only belong to senses without a sentence;
    those of a homograph are one further cluster.
    """
    check_choice("senses_of", senses_of, SENSES_OF)
    pair = "-".join(map(base_code, language_pair(pair)))
    if senses_of == "mucow":
        return _of_mucow(pair, data_dir)
    if pair != "en-de":
        raise UnknownNameError("language pair of emelin-2020", pair, ["en-de"])
    return _of_emelin(data_dir)


def _of_mucow(pair: str, data_dir: str | Path | None) -> dict[str, dict[str, SenseCluster]]:
    configs = {
        f"{config.src_lang}-{config.tgt_langs[0]}": config.name
        for config in declaration("mucow").configs
        if config.form is ProbingExample
    }
    if pair not in configs:
        raise UnknownNameError("language pair of MuCoW", pair, configs)
    senses: dict[str, dict[tuple[str, ...], None]] = {}
    wrong: dict[str, dict[str, None]] = {}
    for example in load_examples("mucow", configs[pair], data_dir=data_dir):
        correct, incorrect = (
            # "." is listed as a word of a sense
            [word for word in example.extra[key].split() if any(map(str.isalnum, word))]
            for key in ("correct_senses", "incorrect_senses")
        )
        word = example.extra["ambiguous_word"].lower()
        senses.setdefault(word, {})[tuple(correct)] = None
        wrong.setdefault(word, {}).update(dict.fromkeys(incorrect))
    lexicon = {}
    for word, clusters in senses.items():
        known = {form for forms in clusters for form in forms}
        others = tuple(form for form in wrong[word] if form not in known)
        lexicon[word] = {forms[0]: SenseCluster(forms) for forms in (*clusters, others) if forms}
    return lexicon


def _of_emelin(data_dir: str | Path | None) -> dict[str, dict[str, SenseCluster]]:
    published = read_json(fetch(LEXICON_FILE, data_dir), "the lexicon of Emelin et al. (2020)")
    lexicon: dict[str, dict[str, SenseCluster]] = {}
    for homograph, clusters in read_lexicon(data_dir=data_dir).homographs.items():
        names: dict[str, SenseCluster] = {}
        forms = {homograph, english_plural(homograph)}
        for number, cluster in clusters.items():
            synonyms = published[homograph][number]["[SYNONYMS]"]
            candidates = [*(name.replace("_", " ") for name in synonyms), *cluster.senses]
            name = next(name for name in candidates if name.lower() not in {*forms, *names})
            names[name] = cluster
        lexicon[homograph] = names
    return lexicon


def lexicon_json(lexicon: Mapping[str, Mapping[str, SenseCluster]]) -> dict[str, dict[str, object]]:
    """Return a lexicon as a file of `read_lexicon` holds it.

    Examples:
        >>> lexicon_json({"bat": {"club": SenseCluster(("Keule",))}})
        {'bat': {'club': {'senses': ['Keule']}}}
    """
    return {
        homograph: {
            name: {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in asdict(cluster).items()
                if value
            }
            for name, cluster in clusters.items()
        }
        for homograph, clusters in lexicon.items()
    }
