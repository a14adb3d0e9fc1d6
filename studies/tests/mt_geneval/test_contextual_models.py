"""The four models of section 5.3 at a toy size: what they learn from, and that they are judged."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from cc_hf.evaluation.material import Material
from cc_hf.models.pretrained import load_model
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example
from studies.examples.mt_geneval import contextual_models, english_sentences
from studies.examples.mt_geneval.contextual_models import MODELS, main
from studies.examples.mt_geneval.english_sentences import (
    TARGET_PRONOUNS,
    documents_of_both_genders,
    normalised,
    sentences,
)
from studies.tests.mt_geneval.samples import counterfactual
from tests.helpers.usual import cases, read_json, refuses, write_text

pytestmark = pytest.mark.usefixtures("same_threads")

JOBS = ("doctor", "teacher", "baker", "student")


def in_context(number: int, name: str, job: str, gender: str) -> ContrastiveTranslationExample:
    """Return "Ray was a doctor." after a context of this gender."""
    pronoun = "She" if gender == "female" else "He"
    context = f"{pronoun} had {number} friends."
    extra = {"context": context, "source_with_context": context, "gender": gender}
    return ContrastiveTranslationExample(
        str(number), "en", "de", f"{name} was a {job}.", f"{name} war Lehrerin.",
        (f"{name} war Lehrer.",), f"neutral/{gender}",
        {**extra, "profession_stereotype": "neutral"},
    )  # fmt: skip


def of_pair(pair: int, gender: str, text: str) -> ContrastiveSourceExample:
    """Return "He TEXT" or "She TEXT", against the other one."""
    of = {"male": f"He {text}", "female": f"She {text}"}
    other = "male" if gender == "female" else "female"
    references = {"male": "Er ist Lehrer.", "female": "Sie ist Lehrerin."}
    row = counterfactual(f"{pair}.{gender}", of[gender])
    extra = {"pair": str(pair), "reference": references[gender]}
    extra["contrastive_reference"] = references[other]
    return replace(row, correct_sources=(of[gender],), incorrect_sources=(of[other],), extra=extra)


def toy_rows(dataset: str, config: str, *, split: str, data_dir: Any) -> list[Example]:
    """Return rows for a set; those for Spanish hold the test sentences for German, too."""
    subset, lang = config.split("_")
    is_judged = (lang, split) == ("de", "test")
    if subset == "contextual":
        names = ["Schour"] if is_judged else ["Ray", "Kim"] + ["Schour"] * (lang == "es")
        told = product(names, JOBS, ("male", "female"))
        return [in_context(i, name, job, gender) for i, (name, job, gender) in enumerate(told)]
    texts = ["was a cook."] if is_judged else [f"is a {job}." for job in JOBS]
    texts += ["was a cook."] * (lang == "es")
    return [of_pair(i, g, text) for i, text in enumerate(texts) for g in ("male", "female")]


@pytest.fixture
def toy_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_material(dataset: str, config: str, *, data_dir: Any) -> Material:
        return Material("en", "de", toy_rows(dataset, config, split="test", data_dir=data_dir))

    monkeypatch.setattr(english_sentences, "load_examples", toy_rows)
    monkeypatch.setattr(contextual_models, "load_material", load_material)


@pytest.mark.usefixtures("toy_sets")
def test_four_models_learn_and_are_judged_and_no_test_sentence_is_trained_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = write_text(tmp_path / "page.md", "<!-- contextual-models: generated -->\n<!-- end -->\n")
    options = "--model cc-tiny-en-de --tgt-lang de --plain 4 --updates 4 --batch-size 4"
    words = f"{tmp_path} --output {tmp_path}/out --page {page} {options} --separator =".split()
    text = main(words)
    assert text in page.read_text(encoding="utf-8")
    pairs = read_json(tmp_path / "out/pairs.json")
    judged = sentences("de", tmp_path).judged
    assert {normalised("Schour was a doctor."), normalised("She was a cook.")} <= judged
    sources = {side for rows in pairs.values() for text, _ in rows for side in text.split(" = ")}
    assert not judged & {normalised(source) for source in sources}
    assert len(pairs["plain"]) == 4
    contextual = dict(pairs["contextual"])
    assert len(contextual) == len(pairs["contextual"]) > 0
    for source, target in contextual.items():
        gender = "female" if source.startswith("She") else "male"
        other = source.replace("She", "He") if gender == "female" else source.replace("He", "She")
        assert contextual[other] != target
        assert target.count(" = ") == source.count(" = ") == 1
        assert source.split(" = ")[1].split()[0] in target.split(" = ")[1]
    assert len(pairs["self_training"]) % 2 == 0 < len(pairs["self_training"])
    folder = tmp_path / "out/models"
    weights = {n: load_model(folder / n).model.get_input_embeddings().weight for n in MODELS}
    start = load_model("cc-tiny-en-de").model.get_input_embeddings().weight
    assert all(not torch.equal(start, weight) for weight in weights.values())
    assert not torch.equal(weights["BASE"], weights["CTX"])
    for name in (*MODELS, "start"):
        assert sum(line.startswith(f"| {name} |") for line in text.splitlines()) >= 2
    assert "| GFST-CTX, contextual |" in text
    files = (tmp_path / "out/results").glob("*.json")
    counts = {path.stem: read_json(path)["counts"] for path in files}
    with_context = {name for name, row in counts.items() if "n_without_separator" in row}
    assert with_context == {"contextual.CTX", "contextual.GFST-CTX"}
    capsys.readouterr()
    assert main(words) == text
    assert capsys.readouterr().out == f"{text}\n"  # nothing is made twice
    refuses(r"--output: .*'updates': 4.* got .*'updates': 5", main, [*words, "--updates", "5"])


@cases(
    ("Ray was a cook.", "She was a cook."),
    ("In 1999, Ray became a cook.", "In 1999, she became a cook."),
    ("This was his cook.", None),
    ("It was a cook.", None),
    ("Ray was a cook, Kim was a baker.", None),
    ("The cook met Ray.", None),
)
def test_the_name_that_a_clause_begins_with_is_the_person(text: str, told: str | None) -> None:
    rows = list(documents_of_both_genders((("She left.", text), ("He met her.", text))))
    expected = [] if told is None else [(told, "He left.")]
    assert [(row.told[0], row.contexts[1]) for row in rows] == expected


@cases(
    (("Sie war Köchin.", "Er war Koch."), ("Ray war Köchin.", "Ray war Koch.")),
    (("Sie kocht.", "Er kocht."), None),
    (("Sie sagte, sie war Köchin.", "Er war Koch."), None),
    (("War Köchin.", "Er war Koch."), None),
)
def test_names_return_where_both_genders_are_told_apart(translations: Any, named: Any) -> None:
    (row,) = documents_of_both_genders((("She left.", "Ray was a cook."),))
    assert row.named(translations, "de") == named


def test_languages_without_known_pronouns_are_refused(tmp_path: Path) -> None:
    refuses(f"expected one of {', '.join(TARGET_PRONOUNS)}, got 'fr'", sentences, "fr", tmp_path)
