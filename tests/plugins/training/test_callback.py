import contextlib
import importlib
import random
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
import torch
from transformers import GenerationConfig, TrainerCallback, TrainerState

import cc_hf
from cc_hf.errors import CCError, InputError, ResultWarning, UnknownNameError
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.models.pretrained import load_model
from cc_hf.plugins.training import callback
from cc_hf.plugins.training.callback import ProbingCallback, SystemOptions
from cc_hf.plugins.training.undisturbed import undisturbed
from cc_hf.plugins.training.validation_figures import check_best_model, judgeable
from cc_hf.systems.translate import translate_with
from cc_hf.text.unusable import UNUSABLE
from tests.helpers import families
from tests.helpers.people import PEOPLE, write_people
from tests.helpers.usual import cases, evaluate_dataset, fails, refuses, write_jsonl, write_lines
from tests.plugins.training.trainers import made_trainer, rows_of

SOURCES = [source for source, _, _ in PEOPLE]
_GENDERS = ("", "_male", "_female")
FIGURES = {
    *(f"{name}{gender}" for name in ("accuracy", "weighted_accuracy") for gender in _GENDERS),
    *("min_accuracy", "weighted_min_accuracy", "mean_confidence"),
    *("n", "n_empty", "n_correct", "n_ties"),
    *UNUSABLE.keys() - {"n_blank"},
}


def by_length(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """An evaluator that gives every translation another score."""
    pairs = zip(sources, translations, strict=True)
    return [float(1 + (7 * len(s) + 3 * sum(map(ord, t))) % 11) for s, t in pairs]


Made = Callable[..., Any]


@pytest.fixture
def made(tiny_marian: Path, tmp_path: Path) -> Made:
    """Return `made_trainer` for a tiny model, whose checkpoints go into the folder `out`."""
    return partial(made_trainer, tiny_marian, tmp_path / "out")


@pytest.fixture
def people(tmp_path: Path) -> str:
    return str(write_people(tmp_path))


def probing_of(people: str, **options: Any) -> ProbingCallback:
    return ProbingCallback(cc_hf.load_material(people), **{"evaluator": by_length, **options})


class Listener(TrainerCallback):  # type: ignore[misc]
    """A callback like TensorBoard's: it precedes the callbacks of the user, and records what is
    logged.
    """

    def __init__(self) -> None:
        self.logs: list[tuple[int, dict[str, float]]] = []

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.logs.append((state.global_step, dict(kwargs["logs"])))


def probed(trainer: Any, prefix: str = "eval_people") -> list[dict[str, float]]:
    return [row for row in trainer.state.log_history if f"{prefix}_accuracy" in row]


def expected_of(dataset: str, checkpoint: Path, **options: Any) -> cc_hf.EvaluationResult:
    """Return the figures of a saved model by `cc-hf translate` and `cc-hf evaluate`."""
    texts = cc_hf.translate(SOURCES, checkpoint, src_lang="en", tgt_lang="de", num_beams=2)
    options |= {"translations": judgeable(texts)[0], "evaluator": by_length}
    return evaluate_dataset(dataset, **options)


def test_figures_of_a_random_model_say_that_they_mean_nothing(made: Made, tmp_path: Path) -> None:
    path = write_people(tmp_path)
    women = [line for line in path.read_text(encoding="utf-8").splitlines() if ",male," not in line]
    write_lines(path, women)

    def knows_women(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [float("[female]" in source) for source in sources]

    probing = probing_of(str(path), evaluator=knows_women)
    trainer = made([probing], max_steps=1, eval_steps=1)
    with pytest.warns(ResultWarning, match="[34] of 4 translations are unusable"):
        trainer.train()
    (figures,) = probed(trainer)
    assert figures["eval_people_accuracy"] == 1.0
    assert figures["eval_people_n_without_words"] >= 3
    (result,) = probing.results
    assert any(note.startswith("The figures say nothing") for note in result.notes)


def test_figures_of_the_checkpoint_select_the_best(made: Made, tmp_path: Path, people: str) -> None:
    listener = Listener()
    choice = {"metric_for_best_model": "people_min_accuracy", "load_best_model_at_end": True}
    steps = {"max_steps": 6, "learning_rate": 5e-3, "save_steps": 1, "eval_steps": 1}
    options = {**choice, **steps, "greater_is_better": True, "save_strategy": "steps"}
    trainer = made([listener, probing_of(people)], **options)
    trainer.train()
    # it would be trained by transformers 5.24, and is not saved
    assert not trainer.model.get_encoder().embed_positions.weight.requires_grad
    actual = probed(trainer)
    for step, row in enumerate(actual, 1):
        expected = expected_of(people, tmp_path / f"out/checkpoint-{step}").scores
        prefix = "eval_people_"
        figures = {name.removeprefix(prefix): row[name] for name in row if name.startswith(prefix)}
        assert (row["step"], {*figures}) == (step, FIGURES)
        assert expected.items() <= figures.items()
    values = [row["eval_people_min_accuracy"] for row in actual]
    assert (len(values), len(set(values)) > 1) == (6, True)
    best = trainer.state.best_metric, trainer.state.best_global_step
    assert best == (max(values), 1 + values.index(max(values)))
    heard = [(step, logs) for step, logs in listener.logs if "eval_people_accuracy" in logs]
    steps_heard = [(step, logs["eval_people_min_accuracy"]) for step, logs in heard]
    assert steps_heard == list(enumerate(values, 1))
    # each figure is logged once, after those of the trainer
    assert not any("eval_loss" in logs for _, logs in heard)
    names = [name for _, logs in listener.logs for name in logs]
    assert names.count("eval_loss") == names.count("loss") == 6


def test_judgements_of_an_evaluation_are_kept(made: Made, tiny_marian: Path, people: str) -> None:
    probing = probing_of(people)
    figures = made([probing]).evaluate()
    (result,) = probing.results
    named = attrgetter("example_id", "is_correct", "probability_correct", "translation")
    expected = expected_of(people, tiny_marian)
    assert [*map(named, result.judgements)] == [*map(named, expected.judgements)]
    assert probing.translations == tuple(cc_hf.translate(SOURCES, tiny_marian, num_beams=2))
    assert {f"eval_{k}": v for k, v in probing.figures.items()}.items() <= figures.items()
    assert f"|sys:{tiny_marian.name}@training.step0/beam2|" in result.signature


def test_a_model_judged_by_itself_is_said_to_be(made: Made, tiny_marian: Path, people: str) -> None:
    for evaluator, is_own_judge in ((tiny_marian, True), (by_length, False)):
        probing = probing_of(people, evaluator=evaluator)
        made([probing]).evaluate()
        assert ("itself" in probing.results[0].unfit) == is_own_judge


@cases(
    ("min_accuracy", False, "greater_is_better: expected True for min_accuracy"),
    ("simplegen_accuracy_incorrect_rate_pro", True, "expected False for incorrect_rate_pro"),
    ("simplegen_accuracy_delta", False, "best when high or low, got delta, .* best at 0"),
    ("accuracy_female", True, ""),
    ("simplegen_accuracy_inconclusive_rate", False, ""),
    ("n_ties", False, ""),
)
def test_the_best_model_is_best_by_the_direction(name: str, greater: bool, message: str) -> None:
    metrics = [make_metric(m) for m in ("contrastive_conditioning", "simplegen_accuracy")]
    with pytest.raises(InputError, match=message) if message else contextlib.nullcontext():
        check_best_model(name, metrics, greater_is_better=greater)


def test_sources_are_batched_as_by_translate(made: Made, tiny_marian: Path, people: str) -> None:
    """With random weights hardly any translation ends, so that the batch determines its length."""
    alike = probing_of(people, system=SystemOptions(batch_tokens=2048))
    other = probing_of(people, prefix="other")
    made([alike, other], per_device_eval_batch_size=4, generation_num_beams=1).evaluate()
    assert alike.translations == tuple(cc_hf.translate(SOURCES, tiny_marian, num_beams=1))
    assert other.translations != alike.translations


class Silent(ProbingCallback):
    """Does nothing when it would probe."""

    def _probe(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        return {}


def test_probing_does_not_change_the_training(made: Made, people: str) -> None:
    """Training uses dropout, so that an additional random number or another mode would change the
    weights.
    """
    weights = []
    for kind in (Silent, ProbingCallback):
        probing = kind(cc_hf.load_material(people), evaluator="cc-tiny-en-de", every=2)
        trainer = made([probing], eval_strategy="no", max_steps=3)
        assert trainer.model.config.dropout > 0
        trainer.train()
        assert trainer.model.training
        weights.append({name: value.tolist() for name, value in trainer.model.state_dict().items()})
    assert weights[0] == weights[1]


def _states() -> tuple[Any, ...]:
    numbers: Any = np.random.get_state()
    return torch.random.get_rng_state().tolist(), random.getstate(), numbers[1].tolist()


def _fail_after(model: Any) -> None:
    """Draw random numbers of all kinds; in eval mode, raise by a division by zero."""
    drawn = float(torch.rand(3).sum()) + random.random() + float(np.random.rand())
    assert drawn / sum(module.training for module in model.modules())


def test_modes_and_random_states_are_restored(tiny_marian: Path) -> None:
    model = load_model(tiny_marian).model
    encoder, decoder = model.get_encoder(), model.get_decoder()
    parts = encoder, decoder.train(), decoder.layers[0]
    states = _states()
    with pytest.raises(ZeroDivisionError), undisturbed(model):
        _fail_after(model)
    assert ([part.training for part in parts], _states()) == ([False, True, True], states)
    decoder.eval()


@patch.object(callback, "translate_with", side_effect=translate_with)
def test_several_sets_are_probed_once(translating: Mock, made: Made, people: str) -> None:
    sets = dict.fromkeys(("news", "talks"))
    trainer = made(
        [probing_of(people)],
        eval_dataset=sets,
        metric_for_best_model="eval_people_min_accuracy",
        load_best_model_at_end=True,
        save_strategy="steps",
        save_steps=2,
        max_steps=2,
    )
    trainer.eval_dataset = {name: rows_of(trainer.processing_class, 3) for name in sets}
    trainer.train()
    assert translating.call_count == len(probed(trainer)) == 1
    assert trainer.state.best_metric == probed(trainer)[0]["eval_people_min_accuracy"]
    actual = trainer.evaluate()  # the step is the same, but the weights may differ
    assert translating.call_count == 2
    assert {"eval_news_loss", "eval_talks_loss", "eval_people_accuracy"} <= actual.keys()
    test = trainer.evaluate(rows_of(trainer.processing_class, 3), metric_key_prefix="test")
    assert {"test_people_accuracy", "eval_people_accuracy"} & {*test} == {"test_people_accuracy"}


@cases((3, [3]), ("save", [2, 4]))
def test_it_follows_steps_or_saves(every: Any, steps: list[int], made: Made, people: str) -> None:
    trainer = made([probing_of(people, every=every)], save_strategy="steps", save_steps=2)
    trainer.train()
    assert [row["step"] for row in probed(trainer)] == steps
    # the trainer's own log of a step is not lost
    assert [row["step"] for row in trainer.state.log_history if "loss" in row] == [1, 2, 3, 4]
    assert not [row for row in probed(trainer) if "eval_loss" in row]


@cases(
    (2, None, r"'people_min_accuracy' is known at.*got every=2"),
    ("evaluate", False, "greater_is_better: expected True for min_accuracy"),
)
def test_bad_figures_fail(every: Any, greater: Any, message: str, made: Made, people: str) -> None:
    refuses(
        message,
        made(
            [probing_of(people, every=every)],
            metric_for_best_model="people_min_accuracy",
            greater_is_better=greater,
        ).train,
    )


def test_duplicate_names_of_figures_are_refused(made: Made, people: str) -> None:
    twice = [probing_of(people), probing_of(people)]
    refuses("figures that are there already: eval_people_accuracy", made(twice).evaluate)
    twice[1] = probing_of(people, prefix="people2", n_examples=2)
    made_result = made(twice).evaluate()
    assert (made_result["eval_people_n"], made_result["eval_people2_n"]) == (8, 2)
    assert "|sample:2@seed0|" in twice[1].results[0].signature


@patch.object(callback, "resolve_evaluator", side_effect=resolve_evaluator)
def test_the_evaluator_is_loaded_once(resolving: Mock, made: Made, people: str) -> None:
    probing = probing_of(
        people, evaluator="cc-tiny-en-de", metrics=["contrastive_conditioning"], every=1
    )
    trainer = made([probing], eval_strategy="no", max_steps=2)
    trainer.train()
    assert (len(probed(trainer)), resolving.call_count) == (2, 1)
    unknown = probing_of(people, evaluator="cc-tiny-de-en")
    fails(CCError, "unknown evaluator 'cc-tiny-de-en'", made([unknown]).train)


def test_blank_texts_are_counted(made: Made, people: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Die Ärztin."] * 5 + [" "] * 3
    monkeypatch.setattr(callback, "translate_with", lambda *given, **options: texts)
    probing = probing_of(people)
    assert made([probing]).evaluate()["eval_people_n_empty"] == 3
    assert probing.results[0].judgements[7].translation == "."


@cases(
    ("coverage", {"accuracy", "omission_rate", "n_omissions"}),
    ("critical_errors", {"accuracy", "error_rate_negation", "error_rate_number", "n_negation"}),
)
def test_parts_are_judged_each_time(metric: str, figures: Any, made: Made, people: str) -> None:
    rows = ({"source": f"She did not buy {n} pears today."} for n in range(2, 6))
    path = write_jsonl(Path(people).with_name("plain.jsonl"), rows)
    options = {"backward_evaluator": by_length} if metric == "coverage" else {}
    material = cc_hf.load_material(path, tgt_lang="de")
    probing = ProbingCallback(material, metrics=[metric], options=options, evaluator=by_length)
    made_result = made([probing], max_steps=1, eval_steps=1).evaluate()
    assert {f"eval_plain_{name}" for name in figures} <= set(made_result)
    assert made_result["eval_plain_n"] == 4


_MBART_25 = partial(families.save_tiny_mbart, language_is_first=False)


@pytest.mark.parametrize("family", ["m2m_100", "nllb", "mbart", "mbart-25", "t5"])
def test_language_tokens_are_those_of_translate(tmp_path: Path, people: str, family: str) -> None:
    (tmp_path / "model").mkdir()
    model_folder = families.BUILDERS.get(family, _MBART_25)(tmp_path / "model")
    probing = probing_of(people)
    made_trainer(model_folder, tmp_path, [probing]).evaluate()
    actual = cc_hf.translate(SOURCES, model_folder, src_lang="en", tgt_lang="de", num_beams=2)
    assert probing.translations == tuple(actual)
    assert any(actual)


_IDS = {"decoder_start_token_id": 70, "pad_token_id": 70, "eos_token_id": 0}
_OWN = GenerationConfig(num_beams=3, max_new_tokens=17, **_IDS)


@cases(
    ({}, {}, (2, None)),
    ({"generation_max_length": 30}, {}, (2, 29)),
    ({"generation_num_beams": None}, {}, (1, None)),
    ({"generation_num_beams": None, "generation_config": _OWN}, {}, (3, 17)),
    ({"generation_config": _OWN, "generation_max_length": 9}, {"num_beams": 4}, (4, 8)),
)
def test_generation_is_the_trainers(settings: Any, options: Any, expected: Any, made: Made) -> None:
    trainer, material = made([], **settings), cc_hf.load_material("simplegen", "en-de")
    probing = ProbingCallback(material, system=SystemOptions(**options))
    actual = probing._generation(trainer.args, trainer.model)
    assert actual == dict(zip(("num_beams", "max_new_tokens"), expected, strict=True))


def test_the_callback_works_in_a_custom_training_loop(made: Made, people: str) -> None:
    """The loop calls the callback with objects of transformers."""
    trainer, state = made([]), TrainerState(global_step=7, epoch=1.5)
    metrics = {"eval_runtime": 1.0}
    probing_of(people).on_evaluate(
        trainer.args,
        state,
        trainer.control,
        metrics=metrics,
        model=trainer.model,
        processing_class=trainer.processing_class,
    )
    assert metrics.pop("eval_runtime") == 1.0
    assert state.log_history == [{**metrics, "epoch": 1.5, "step": 7}]
    assert metrics["eval_people_n"] == 8
    trainer.callback_handler.processing_class = None
    trainer.add_callback(probing_of(people))
    refuses("give the trainer processing_class=tokenizer", trainer.train)
    assert trainer.state.global_step == 0


_WORDS = "winomt_pattern_matching"


@cases(
    ({"metrics": ["gender_acuracy"]}, UnknownNameError, "did you mean 'gender_accuracy'"),
    ({"metrics": ["simplegen_accuracy"]}, InputError, "use .* winomt|simplegen_accuracy"),
    ({"metrics": []}, InputError, "metrics: expected a list with at least one of"),
    ({"metrics": "contrastive_conditioning"}, InputError, "metrics: expected a list of names"),
    ({"metrics": [_WORDS], "evaluator": "x"}, InputError, f"evaluator: the metric {_WORDS} "),
    ({"options": {"scores": "geometric"}}, UnknownNameError, "did you mean 'score'"),
    ({"every": "epoch"}, InputError, "every: expected 'evaluate', 'save' or a.*got 'epoch'"),
    ({"every": 0}, InputError, "every: expected 'evaluate', 'save' or a number of.*got 0"),
    ({"every": True}, InputError, "every: expected"),
    ({"prefix": "eval_winomt"}, InputError, "prefix: expected letters, digits"),
    ({"prefix": "a b"}, InputError, "prefix: expected letters"),
)
def test_bad_options_are_refused(options: Any, error: type[Exception], message: str) -> None:
    fails(error, message, ProbingCallback, cc_hf.load_material("winomt", tgt_lang="de"), **options)


def test_a_challenge_set_is_probed_like_any_dataset(made: Made, tmp_path: Path) -> None:
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

    senses = {"focus": "bat", "senses": {"1": ["Schläger"], "2": ["Fledermaus"]}, "tgt_lang": "de"}
    clusters = {"cluster": "1", "category": "frequent"}, {"cluster": "2", "category": "rare"}
    texts = [f"{name} saw the bat near the house." for name in ("He", "She", "They", "We")]
    rows = [{"source": text, **senses, **clusters[n % 2]} for n, text in enumerate(texts)]
    path = write_jsonl(tmp_path / "homographs.jsonl", rows)
    build_dataset_folder(str(path), output=tmp_path / "sets")
    given: dict[str, Any] = {"metrics": ["homograph_accuracy"], "options": {"search": "anywhere"}}
    actual = []
    for dataset in ((path,), (tmp_path / "sets", "homographs")):
        probing = ProbingCallback(cc_hf.load_material(*dataset), **given)
        figures = made([probing], max_steps=1, eval_steps=1).evaluate()
        assert {"eval_homographs_flip_rate", "eval_homographs_accuracy_rare"} <= set(figures)
        assert figures["eval_homographs_n"] == 4
        assert [j.category for j in probing.results[0].judgements] == ["frequent", "rare"] * 2
        actual.append(probing.figures)
    assert actual[0] == actual[1]


def test_random_states_of_mps_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[Any] = []
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda device: f"state of {device}")
    monkeypatch.setattr(torch.mps, "set_rng_state", lambda *state: states.append(state))
    with undisturbed(None):
        assert states == []
    assert states == [("state of mps", "mps")]


def test_older_programs_find_the_names_where_they_were() -> None:
    older = importlib.import_module("cc_hf.training")
    assert [getattr(older, name) for name in older.__all__] == [
        getattr(cc_hf, name) for name in older.__all__
    ]
    fails(AttributeError, "no attribute 'Trainer'", getattr, older, "Trainer")
