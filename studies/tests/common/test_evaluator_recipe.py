import re
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from cc_hf_studies.common.scratch.pieces import train_pieces

import cc_hf
from tests.helpers.usual import cases, fails, known
from tools.evaluator_recipe import corpus
from tools.evaluator_recipe import train as module
from tools.evaluator_recipe.grammar import CASES, Case, noun_phrase, parse_noun, read_occupations
from tools.evaluator_recipe.kept_out import KeptOut, of_test_sets
from tools.evaluator_recipe.languages import german, german_of
from tools.evaluator_recipe.sentences import Pair, SentenceMaker, english_plural, read_phrases
from tools.evaluator_recipe.train import (
    Encoder,
    Language,
    Material,
    Recipe,
    build_model,
    contrast_accuracy,
    one_pass,
    read_material,
    train,
)

EMPTY = german_of([])


@cases(
    ("Assistent*", "m", "nom", {}, "der Assistent"),
    ("Assistent*", "m", "acc", {}, "den Assistenten"),
    ("Kollege*", "m", "dat", {"determiner": "ein"}, "einem Kollegen"),
    ("Nachbar^n", "m", "acc", {}, "den Nachbarn"),
    ("Arzt:Ärzte", "m", "gen", {}, "des Arztes"),
    ("Arzt:Ärzte", "m", "dat", {"plural": True}, "den Ärzten"),
    ("Lehrer", "m", "dat", {"plural": True}, "den Lehrern"),
    ("Chef:Chefs", "m", "dat", {"plural": True}, "den Chefs"),
    ("Angestellte~", "m", "nom", {"determiner": "ein"}, "ein Angestellter"),
    ("Angestellte~", "m", "nom", {}, "der Angestellte"),
    ("Angestellte~", "f", "dat", {}, "der Angestellten"),
    ("Angestellte~", "f", "nom", {"determiner": ""}, "Angestellte"),
    ("Lehrerin", "f", "nom", {"plural": True, "determiner": ""}, "Lehrerinnen"),
    ("Lehrerin", "f", "dat", {"determiner": "dies-", "adjective": "alt"}, "dieser alten Lehrerin"),
    ("Koch:Köche", "m", "nom", {"determiner": "mein", "adjective": "alt"}, "mein alter Koch"),
)
def test_german_is_declined(noun: str, gender: Any, case: Case, options: Any, form: str) -> None:
    assert noun_phrase(parse_noun(noun, gender), case, **options) == form


def test_occupations_have_both_genders() -> None:
    occupations = read_occupations()
    assert len({o.english for o in occupations}) == len(occupations) >= 150
    assert all(occupation.masculine and occupation.feminine for occupation in occupations)


def test_sentences_depend_only_on_the_seed() -> None:
    sentences, same, other = (list(islice(SentenceMaker(seed), 200)) for seed in (1, 1, 2))
    assert sentences == same
    assert sentences != other


def test_development_sentences_use_separate_phrases_and_one_cue() -> None:
    for kind, rows in read_phrases(development=True).items():
        assert not set(rows) & set(read_phrases(development=False)[kind])
    for pair in islice(SentenceMaker(3, development=True), 500):
        assert pair.english.count("[") == pair.contrast.count("[") == 1
        assert pair.english != pair.contrast


def test_a_cue_decides_the_german_gender() -> None:
    by_english = {o.english: o for o in read_occupations()}
    names = sorted(by_english, key=len, reverse=True)
    n_checked = 0
    for pair in islice(SentenceMaker(4, development=True), 800):
        cue, _, rest = pair.english.partition("[")[2].partition("] ")
        occupation = by_english[next(name for name in names if rest.startswith(name))]
        sides = (occupation.feminine, occupation.masculine)
        right, wrong = sides if cue == "female" else sides[::-1]
        words = set(re.findall(r"[\w-]+", pair.target))
        is_open = [n.declension == "adjective" or " " in n.base for n in (*right, *wrong)]
        if any(is_open) or pair.english.count(occupation.english) > 1:
            continue  # the noun alone does not show the gender
        n_checked += 1
        cased = [partial(noun.form, plural=False, adjective_ending="") for noun in right]
        assert any(form(case) in words for form in cased for case in CASES), pair
    assert n_checked > 400


def test_training_material_contains_no_sentence_of_a_test_set(shared: Path) -> None:
    kept_out, counts = of_test_sets("de", shared / "upstream")
    sizes = {"winomt": 3882, "gender_alternatives": 1000, "genderous": 400, "simplegen": 3000}
    assert all(counts[name] >= n for name, n in sizes.items()), counts
    language = german(shared / "upstream")
    material = read_material(language, seed=1, kept_out=kept_out)
    few = replace(material, training=material.training[:500], copies=material.copies[:100])
    recipe = Recipe(sentences_per_pass=5_000)
    pairs = one_pass(language, few, recipe, number=0, kept_out=kept_out)
    assert not [p for p in (*material.training, *pairs) if kept_out(p.english)]


@cases(
    ("The DOCTOR left", True),
    ("The [female] doctor left.", False),  # another sentence: it has a cue
    ("The doctor of the town had asked the old nurse whether she could come.", True),
    ("the doctor of the town had asked the old nurse", True),
    ("The doctor of the [male] town had asked the old nurse again.", True),
    ("Doctors in the town had asked the old nurse.", False),
    ("Hello.", False),
)
def test_copies_of_test_sentences_are_kept_out(english: str, is_kept_out: bool) -> None:
    kept_out = KeptOut(
        ["The doctor left.", "The doctor of the town had asked the old nurse why she left."]
    )
    assert kept_out(english) is is_kept_out
    assert kept_out.counts.total() == is_kept_out


def test_natural_pairs_get_cues_where_the_german_gender_is_known() -> None:
    pairs = [
        Pair("I saw the doctor yesterday.", "Ich habe gestern die Ärztin gesehen."),
        Pair("He asked his teacher.", "Er fragte seinen Lehrer."),
        Pair("Teachers and doctors agree.", "Lehrer und Ärzte sind sich einig."),
        Pair("The teacher and the doctor agree.", "Der Lehrer und der Arzt sind sich einig."),
    ]
    assert [(p.english, p.target) for p in corpus.cued_copies(pairs)] == [
        ("I saw the [female] doctor yesterday.", "Ich habe gestern die Ärztin gesehen."),
        ("He asked his [male] teacher.", "Er fragte seinen Lehrer."),
        ("He asked his [female] teacher.", "Er fragte seine Lehrerin."),
    ]


def test_names_are_replaced_only_where_the_german_case_is_certain() -> None:
    replaced = partial(corpus.with_person, maker=SentenceMaker(1), cued=True)
    assert replaced(Pair("Tom and Tom left.", "Tom und Tom gingen.")) is None
    assert replaced(Pair("I saw Tom.", "Ich sah Tom.")) is None
    assert replaced(Pair("Tom's dog left.", "Toms Hund ging.")) is None
    actual = known(replaced(Pair("I left with Tom.", "Ich ging mit Tom.")))
    assert actual.english.startswith("I left with ")
    assert actual.english != actual.contrast


def test_english_nouns_get_their_plural() -> None:
    singular = "nurse secretary salesperson coach attorney"
    plural = "nurses secretaries salespeople coaches attorneys"
    assert [*map(english_plural, singular.split())] == plural.split()


def test_translations_of_one_sentence_stay_in_the_same_split() -> None:
    pairs = [Pair(f"s{i % 50}", f"t{i}") for i in range(100)]
    training, development = corpus.split_development(pairs, n=10, seed=0)
    assert len(development) == 20
    assert not {p.english for p in training} & {p.english for p in development}


def test_malformed_tatoeba_rows_are_refused_naming_the_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("deu.txt", "Hi.\tHallo!\nbroken")
    fails(ValueError, "line 2: expected two sentences", corpus.read_tatoeba, tmp_path / "x.zip")


SMALL = Recipe(
    n_pieces=400,
    d_model=16,
    ffn_dim=16,
    heads=2,
    encoder_layers=1,
    decoder_layers=1,
    passes=1,
    sentences_per_pass=200,
    batch_tokens=2000,
    warmup_steps=5,
    average_every=1,
)


def small_language() -> Language:
    return replace(EMPTY, pairs=[*dict.fromkeys(islice(SentenceMaker(9), 6500))])


def test_training_writes_an_evaluator_that_loads(tmp_path: Path) -> None:
    options: Any = {"kept_out": KeptOut(), "n_development": 5000, "threads": 1}
    figures = train(small_language(), tmp_path / "out", SMALL, **options)
    assert {"accuracy_own", "loss_development"} <= set(figures)
    evaluator = cc_hf.load_evaluator(tmp_path / "out")
    assert evaluator.mean_logprobs(["The cook left."], ["Der Koch ging."]).shape == (1,)
    assert b"/tmp" not in (tmp_path / "out" / "source.spm").read_bytes()
    assert not list((tmp_path / "out").glob("pieces*"))


def test_a_pass_has_as_many_of_each_cue() -> None:
    rows = [
        Pair("The [male] teacher smiled.", "Der Lehrer lächelte.", "The [female] teacher smiled."),
        Pair("A [male] cook left.", "Ein Koch ging.", "A [female] cook left."),
        Pair("The [female] cook left.", "Die Köchin ging.", "The [male] cook left."),
    ]
    material = Material([Pair("The cook left.", "Der Koch ging.")], [], rows, [])
    recipe = replace(SMALL, sentences_per_pass=0)
    pairs = one_pass(EMPTY, material, recipe, number=0, kept_out=KeptOut())
    assert Counter(pairs) == {material.training[0]: 1, rows[0]: 3, rows[1]: 3, rows[2]: 6}


def test_only_the_last_pass_has_the_loss_of_cues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights: list[float] = []

    def step(state: Any, *rest: Any, contrast_weight: float) -> float:
        state.seconds += 1
        weights.append(contrast_weight)
        return 0.0

    monkeypatch.setattr(module, "_one_step", step)
    options: Any = {"kept_out": KeptOut(), "n_development": 5000, "threads": 1}
    train(small_language(), tmp_path, replace(SMALL, passes=3, contrast_weight=0.5), **options)
    assert weights == sorted(weights)
    assert 0.3 < weights.count(0.5) / len(weights) < 0.4  # passes differ by a batch


def test_the_loss_of_cues_parts_them(tmp_path: Path) -> None:
    pairs = [p for p in islice(SentenceMaker(3), 200) if p.contrast][:60]
    train_pieces([text for p in pairs for text in (p.english, p.target)], tmp_path, 300)
    encoder = Encoder(tmp_path, SMALL.max_pieces)
    recipe = replace(SMALL, dropout=0.0, learning_rate=0.01)
    right = []
    for weight in (0.0, 1.0):
        model = build_model(recipe, encoder.pad + 1)
        parameters = list(model.parameters())
        optimizer = torch.optim.AdamW(parameters, lr=recipe.learning_rate)
        state = module._State(model, optimizer, [p.detach().clone() for p in parameters])
        for batch in [*encoder.batches(pairs, batch_tokens=10_000, seed=0)] * 30:
            module._one_step(
                state, parameters, batch, encoder.pad, recipe, 1000, contrast_weight=weight
            )
        right.append(contrast_accuracy(model, encoder, pairs))
    assert right[0] < right[1]
