import dataclasses
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cc_hf_studies.wino_x import filler_training
from cc_hf_studies.wino_x.choice_accuracy import choice_accuracy
from cc_hf_studies.wino_x.debias import debias
from cc_hf_studies.wino_x.few_shot import CurvePoint, fine_tune_on_translations, learning_curve
from cc_hf_studies.wino_x.fine_tuning import FineTuning, fine_tune, own_copy, thesis_settings
from cc_hf_studies.wino_x.pronoun_forms import ambiguous_pronoun, find_pronouns
from cc_hf_studies.wino_x.pronoun_penalty import PronounPenaltyTrainer
from cc_hf_studies.wino_x.splits import WinoXSplits, matching_samples, schema_of, split_schemas
from cc_hf_studies.wino_x.translation_pairs import PairCollator, encode_pairs
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf.errors import CCError, EvaluatorError, InputError
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import sole_writer
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from tests.helpers.families import BUILDERS
from tests.helpers.judged import Examples, Sides, contrastive
from tests.helpers.letter_evaluator import BrokenEvaluator, TextEvaluator
from tests.helpers.usual import cases, fails, known, read_json, read_jsonl, refuses

MT = "mt_en_de.translations"


@pytest.fixture(scope="module")
def splits(schemas: Examples) -> WinoXSplits:
    return split_schemas(schemas, n_dev=20, n_test=60)


def test_the_penalty_gives_more_than_plain_fine_tuning(marian: Any, splits: WinoXSplits) -> None:
    """This holds for unseen combinations of nouns, after as many epochs from the same weights."""
    actual = {}
    for weight in (0.0, 10.0):
        settings = FineTuning(learning_rate=3e-3, max_epochs=30, patience=30, penalty_weight=weight)
        tuned = fine_tune_on_translations(marian, splits.train, splits.dev, settings)
        actual[weight] = choice_accuracy(tuned.evaluator, splits.test).accuracy
    assert 0.4 <= choice_accuracy(marian, splits.test).accuracy <= 0.6
    assert actual[10.0] >= actual[0.0] + 0.15
    assert actual[10.0] >= 0.8


def test_a_curve_has_one_point_per_size(marian: Any, splits: WinoXSplits, tmp_path: Path) -> None:
    weights = {name: tensor.clone() for name, tensor in marian.model.state_dict().items()}
    seen: list[CurvePoint] = []
    settings = FineTuning(learning_rate=3e-3, max_epochs=2, penalty_weight=5.0)
    actual = learning_curve(marian, splits, [20, 41], settings, output=tmp_path, note=seen.append)
    assert (actual, [point.size for point in actual]) == (seen, [0, 20, 41])
    assert actual[0].tuned is None
    for name, tensor in marian.model.state_dict().items():
        assert torch.equal(tensor, weights[name])  # the given model is not changed
    for point in actual[1:]:
        assert point.folder is not None
        assert point.tuned is not None
        sizes = (point.tuned.n_train, point.tuned.n_dev, len(point.tuned.dev_losses))
        assert sizes == (point.size // 2 * 2, 20, 2)
        files = {path.name for path in point.folder.iterdir()}
        assert "model.safetensors" in files
        assert not [name for name in files if name.endswith((".bin", ".pt", ".pth", ".pkl"))]
        again = choice_accuracy(load_evaluator(point.folder, mode="exact"), splits.test)
        chosen = point.accuracies["test"].choices, again.choices
        trained, read = ([choice.logprob_correct for choice in of] for of in chosen)
        assert read == pytest.approx(trained, abs=1e-5)
        assert point.tuned.evaluator.signature_fields()["eval"].startswith(f"train-{point.size}@")
    same = learning_curve(marian, splits, [41], settings)[1]
    assert known(same.tuned).dev_losses == (actual[2].tuned and actual[2].tuned.dev_losses)
    assert same.accuracies == actual[2].accuracies


def test_early_stopping_keeps_weights_of_lowest_dev_loss(marian: Any, splits: WinoXSplits) -> None:
    """The training data contradict the development part: they hold the other pronouns."""
    sides = [(*e.contrastive_translations, e.correct_translation) for e in splits.train[:40]]
    wrong = [contrastive(e.id, e.source, *s) for e, s in zip(splits.train, sides, strict=False)]
    dev = splits.dev[:8]  # one batch
    settings = FineTuning(learning_rate=0.02, max_epochs=60, patience=2, label_smoothing=0.0)
    tuned = fine_tune_on_translations(marian, wrong, dev, settings)
    losses = tuned.dev_losses
    assert len(losses) == tuned.best_epoch + 2 < 60
    assert losses[tuned.best_epoch - 1] == min(losses) < losses[-1]
    loss = mean_loss(tuned.evaluator, [(e.source, e.correct_translation) for e in dev])
    assert min(losses) == pytest.approx(loss, rel=1e-4)


def mean_loss(evaluator: Any, texts: Sequence[tuple[str, str]]) -> float:
    requests = [ScoringRequest(*pair) for pair in texts]
    scores = evaluator.score(requests, src_lang="en", tgt_lang="de")
    return float(-scores.sum_logprob.sum() / scores.n_tokens.sum())


def test_bad_sizes_and_settings_are_refused(marian: Any, splits: WinoXSplits) -> None:
    settings = FineTuning(max_epochs=1)
    refuses("sizes: expected at least one, got none", learning_curve, marian, splits, [], settings)
    twin = dataclasses.replace(splits.dev[0], id="another sample of its schema")
    for example in (splits.dev[0], splits.train[-1], twin):
        message = f"1 are of schemas of the training or development part, such as '{example.id}'"
        message = f"other: expected samples of the test part, {message}"
        refuses(
            message,
            learning_curve,
            marian,
            splits,
            [10],
            settings,
            tests={"other": [*splits.test, example]},
        )
    changes: Any = (
        ({"batch_size": 0}, "batch_size: expected an integer of at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate: expected a number above 0, got 0.0"),
        ({"label_smoothing": 1.0}, "label_smoothing: .* at least 0 and below 1, got 1.0"),
        ({"penalty_weight": float("inf")}, "penalty_weight: .* of at least 0, got inf"),
        ({"seed": -1}, "seed: expected an integer of at least 0, got -1"),
        ({"schedule": "cosine"}, "schedule: expected one of linear, inverse_sqrt, got 'cosine'"),
        ({"beta2": 1.0}, "beta2: expected a number of at least 0 and below 1, got 1.0"),
        ({"max_grad_norm": -1.0}, "max_grad_norm: expected a number of at least 0, got -1.0"),
    )
    for change, message in changes:
        refuses(message, thesis_settings, "fsmt", **change)
    wild = FineTuning(learning_rate=1e30, max_epochs=3)
    fails(
        EvaluatorError,
        r"became (nan|inf)",
        fine_tune_on_translations,
        marian,
        splits.train[:8],
        splits.dev[:4],
        wild,
    )


@cases(
    # Table 4.6: inverse_sqrt, and no clipping as in the script of the program
    ("fsmt", 1e-7, (8, 0.98, 0.0, 0.1), [1, (10001 / 10000) ** -0.5, (10002 / 10000) ** -0.5]),
    # Table 4.11, and the defaults of transformers: linear
    ("mbart", 1e-5, (16, 0.999, 1.0, 0.0), [1, 1999 / 2000, 1998 / 2000]),
    ("masked_lm", 1e-7, (16, 0.999, 1.0, 0.0), [1, 1999 / 2000, 1998 / 2000]),  # Table 4.15
)
def test_the_trainer_has_the_settings_of_the_thesis(
    family: str, rate: float, expected: Any, falls_by: list[float], marian: Any, splits: WinoXSplits
) -> None:
    """Two batches in each of up to 1,000 epochs, of which three are used."""
    seen: list[PronounPenaltyTrainer] = []
    rates: list[float] = []

    class EnoughError(Exception): ...

    class Seeing(PronounPenaltyTrainer):
        def training_step(self, *arguments: Any, **options: Any) -> Any:
            seen.append(self)
            rates.append(self.lr_scheduler.get_last_lr()[0])
            if len(rates) == 3:
                raise EnoughError
            return super().training_step(*arguments, **options)

    evaluator = own_copy(marian)
    batch_size, beta2, max_grad_norm, smoothing = expected
    pairs = encode_pairs(evaluator, splits.train[: 2 * int(batch_size)])
    collator = PairCollator.of(evaluator)
    dev, settings = encode_pairs(evaluator, splits.dev[:4]), thesis_settings(family)
    with pytest.raises(EnoughError):
        fine_tune(evaluator, Seeing, pairs, dev, collator, settings, penalty_weight=0.0)
    arguments, group = seen[0].args, seen[0].optimizer.param_groups[0]
    assert (arguments.per_device_train_batch_size, group["betas"]) == (batch_size, (0.9, beta2))
    assert (arguments.max_grad_norm, group["weight_decay"]) == (max_grad_norm, 0.0)
    assert (arguments.label_smoothing_factor, arguments.seed) == (smoothing, 42)
    assert (arguments.num_train_epochs, arguments.gradient_accumulation_steps) == (1000, 1)
    assert rates == pytest.approx([rate * share for share in falls_by], rel=1e-9)


_NOT_TRAINED = {"causal_lm", "masked_lm", "lstm", "convs2s"}


@pytest.mark.parametrize("family", sorted({*BUILDERS} - _NOT_TRAINED))
def test_every_family_is_trained_on_the_scored_logprobs(family: str, tmp_path: Path) -> None:
    """Without smoothing and penalty, the loss on the development part is the mean negative log-
    probability that the evaluator gives after this epoch.
    """
    evaluator: Any = load_evaluator(BUILDERS[family](tmp_path), mode="exact")
    texts = [
        ("The doctor asked the nurse.", "Der Arzt bat sie."),
        ("She was in a good mood.", "Er hatte gute Laune, weil sie kam."),
        ("The nurse.", "Es kam."),
    ]
    examples = [contrastive(str(i), *pair) for i, pair in enumerate(texts)]
    settings = FineTuning(learning_rate=1e-3, batch_size=3, max_epochs=1, label_smoothing=0.0)
    tuned = fine_tune_on_translations(evaluator, examples, examples, settings)
    loss = mean_loss(tuned.evaluator, texts)
    assert tuned.dev_losses[0] == pytest.approx(loss, rel=1e-4)
    assert loss < mean_loss(evaluator, texts)


@pytest.mark.parametrize("masking", ["filler", "filler-only", "random"])
def test_chosen_tokens_alone_are_learnt(masked_folder: Path, data_dir: Path, masking: str) -> None:
    evaluator: Any = load_evaluator(masked_folder, mode="exact")
    examples = cc_hf.load_examples("wino_x", "lm_en_de", data_dir=data_dir)[:40]
    rows = filler_training.encode_fillers(evaluator, examples)
    options = {"masking": masking, "n_vocabulary": evaluator.model.config.vocab_size, "seed": 0}
    batch = filler_training.FillerCollator(evaluator.tokenizer, **options)(rows)
    n_masked = 0
    for i, (row, example) in enumerate(zip(rows, examples, strict=True)):
        ids, labels, length = batch["input_ids"][i], batch["labels"][i], len(row.ids)
        assert batch["attention_mask"][i].tolist() == [1] * length + [0] * (len(ids) - length)
        assert bool((labels[length:] == -100).all())
        learnt = (labels != -100)[:length].tolist()
        given = torch.tensor(row.ids)
        assert torch.equal(labels[:length][learnt], given[learnt])
        masked = (ids == evaluator.tokenizer.mask_token_id)[:length].tolist()
        n_masked += sum(masked)
        if masking == "random":
            assert any(learnt)
            assert not any(np.logical_and(row.is_special, learnt))
        else:
            filler = evaluator.tokenizer.decode(given[masked]).strip()
            assert filler == example.extra["correct_filler"]
            assert learnt == (masked if masking == "filler-only" else [True] * length)
    if masking == "random":
        assert 0.06 <= n_masked / sum(len(row.ids) - 2 for row in rows) <= 0.2  # 80 % of 15 %


def test_fillers_are_located_in_their_gaps(masked_folder: Path) -> None:
    evaluator: Any = load_evaluator(masked_folder, mode="exact")

    def rows(context: str, text: str) -> Any:
        example = contrastive("1", "", text, lang="en", context=context, correct_filler="the bag")
        return filler_training.encode_fillers(evaluator, [example])

    context = "The bag hit _, and the ball hit _."
    (row,) = rows(context, context.replace("_", "the bag"))
    assert len("".join("x" if is_filler else " " for is_filler in row.is_filler).split()) == 2
    tokens = torch.tensor(row.ids)[torch.tensor(row.is_filler)]
    assert evaluator.tokenizer.decode(tokens).split() == ["the", "bag", "the", "bag"]
    refuses("example '1': expected a sample of LM-Wino-X", rows, "It hit _.", "It hit the ball.")
    refuses(
        r"masking: expected one of filler.*got 'all'",
        filler_training.FillerCollator,
        evaluator.tokenizer,
        masking="all",
        n_vocabulary=9,
        seed=0,
    )
    refuses(
        "trained without label smoothing and pronoun penalty",
        filler_training.fine_tune_on_fillers,
        evaluator,
        [],
        [],
        FineTuning(),
    )


def test_a_masked_lm_learns_the_fillers(masked_folder: Path, both_sides: Sides) -> None:
    evaluator: Any = load_evaluator(masked_folder, mode="exact")
    german, english = both_sides
    parts = split_schemas(english, n_dev=20, n_test=40)
    lengths = {"max_epochs": 12, "patience": 12, "accumulation": 2, "batch_size": 8}
    settings = thesis_settings("masked_lm", learning_rate=5e-3, masking="filler-only", **lengths)
    tests = {"english": parts.test, "german": matching_samples(parts.test, german)}
    before, after = learning_curve(evaluator, parts, [100], settings, tests=tests)
    assert after.tuned is not None
    assert after.tuned.dev_losses[-1] < after.tuned.dev_losses[0] - 0.5
    assert list(before.accuracies) == list(after.accuracies) == ["english", "german"]
    choices = [point.accuracies["english"].choices for point in (before, after)]
    first, last = (sum(choice.logprob_correct for choice in chosen) for chosen in choices)
    assert last > first


def test_the_command_fine_tunes_a_translation_model(
    marian_folder: Path, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = run(
        f"--model {marian_folder} --objective pronoun-penalty --sizes 20,40"
        " --max-epochs 2 --n-dev 10 --n-test 20 --learning-rate 1e-3"
        f" --data-dir {data_dir} --output {tmp_path}/out"
    )
    text = capsys.readouterr()
    assert text.out.count("mt_en_de") >= 4  # in the heading and three rows, where it may be folded
    assert "trained on 40" in text.err
    assert "…" not in text.out  # in 80 columns
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["learning_curve.json", "train-20", "train-40"]
    given = {"learning_rate": 1e-3, "max_epochs": 2, "penalty_weight": 100.0}
    of_thesis = {"schedule": "inverse_sqrt", "beta2": 0.98, "max_grad_norm": 0.0}
    others = {"batch_size": 8, "accumulation": 1, "patience": 3, "label_smoothing": 0.1}
    words = {"pronouns": "all", "masking": "filler", "seed": 42}
    assert outcome["settings"] == {**given, **of_thesis, **others, **words}
    assert outcome["splits"] == {"n_train": 162, "n_dev": 10, "n_test": 20, "seed": 42}
    assert outcome["data"].startswith("wino_x/mt_en_de.translations@local.")
    assert [point["size"] for point in outcome["points"]] == [0, 20, 40]
    for point in outcome["points"]:
        accuracy = point["accuracies"][MT]
        assert f"{100 * accuracy['accuracy']:.1f}" in text.out
        assert accuracy["n"] == len(accuracy["choices"]) == 20
        is_correct = [c["logprob_correct"] > c["logprob_contrastive"] for c in accuracy["choices"]]
        assert accuracy["n_correct"] == sum(is_correct)
        bias = point["bias"][MT]
        expected = (20, accuracy["n_correct"], accuracy["n_ties"])
        assert (bias["n"], bias["n_correct"], bias["n_open"]) == expected
        by_name = {(test["feature"], test["coding"]): test["strength"] for test in bias["tests"]}
        keys = (("gender", "program"), ("gender", "thesis"), ("position", "program"))
        figures = " +".join(f"{by_name[key]:.3f}" for key in keys)
        n_preferred = {name: gender["n_preferred"] for name, gender in bias["genders"].items()}
        male = n_preferred["male"] / sum(n_preferred.values())
        assert re.search(rf"\n +{point.get('n_train', 0)} +{figures} +{100 * male:.1f} ", text.out)
    refuses("expected a new or empty", run, f"--model {marian_folder} --output {tmp_path}/out")


def test_the_command_measures_transfer(masked_folder: Path, data_dir: Path, tmp_path: Path) -> None:
    outcome = run(
        f"--model {masked_folder} --config lm_en_de.english --transfer lm_en_de"
        f" --sizes 20 --max-epochs 1 --n-dev 10 --n-test 20 --data-dir {data_dir}"
        f" --output {tmp_path}/out --no-models --quiet"
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["learning_curve.json"]
    assert outcome["settings"]["learning_rate"] == 1e-7
    for point in outcome["points"]:
        parts = [point["accuracies"][name] for name in ("lm_en_de.english", "lm_en_de")]
        english, german = (part["choices"] for part in parts)
        assert [c["example_id"] for c in english] == [c["example_id"] for c in german]
        assert [c["logprob_correct"] for c in english] != [c["logprob_correct"] for c in german]
        # the gender of fillers is not known
        assert [test["feature"] for test in point["bias"]["lm_en_de"]["tests"]] == ["position"]


def run(words: str) -> Any:
    from cc_hf.cli.main import app

    app(["study", "wino_x", "train", *words.split()], standalone_mode=False)
    (output,) = re.findall(r"--output (\S+)", words)
    return read_json(Path(output, "learning_curve.json"))


def test_a_folder_that_another_run_trains_into_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "new" / "out"
    output.parent.mkdir()
    refused = pytest.raises(InputError, match=r"no other run is writing, got .*/out")
    with sole_writer(output), refused:
        run(f"--model nowhere --output {output}")
    assert not list(output.parent.iterdir())


@pytest.mark.parametrize("name", ["x" * 300, "loop"], ids=["long name", "loop"])
def test_a_bad_output_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    fails(
        CCError,
        "output: expected the path of a file or folder, got",
        run,
        f"--model m --output {name}",
    )


def test_arguments_that_do_not_fit_together_are_refused(
    marian_folder: Path, masked_folder: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    penalty: dict[str, Any] = {"objective": "pronoun-penalty"}
    unpenalized = {**penalty, "settings": {"penalty_weight": 0.0}}
    auto = {"loading": LoadingOptions(device="auto")}
    for folder, config, options, message in (
        (marian_folder, "mt_en_de", {}, "expected a configuration with contrastive translations"),
        (marian_folder, "lm_en_de", {}, "lm_en_de: expected a masked language model"),
        (masked_folder, MT, {}, r"mt_en_de.translations: expected a translation model"),
        (masked_folder, "lm_en_de", penalty, "masked language models have the objective mle only"),
        (marian_folder, MT, auto, "device: 'auto' spreads the model over several GPUs"),
        (marian_folder, MT, {"objective": "pp"}, r"objective: expected one of mle.*got 'pp'"),
        (marian_folder, MT, {"settings": {"penalty_weight": 5.0}}, "the objective mle has none"),
        (marian_folder, MT, unpenalized, r"expected a number above 0 with the objective.*got 0"),
    ):
        refuses(message, debias, folder, config, data_dir=data_dir, **options)
    for sizes in ("500;1000", "5,5", "", "-1", "9" * 5000):
        refuses(
            "--sizes: expected different whole numbers",
            run,
            f"--model {marian_folder} --output nowhere --data-dir {data_dir} --sizes={sizes}",
        )
    assert not Path("nowhere").exists()
    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "localhost"}.items():
        monkeypatch.setenv(name, value)
    refuses("expected one process, got several", debias, marian_folder, data_dir=data_dir)


def made_schemas(sizes: Sequence[int]) -> Examples:
    ids = [(i, j) for i, size in enumerate(sizes) for j in range(size)]
    return [contrastive(f"s{i}-{j}", "It left.", f"Er s{i} {j}.") for i, j in ids]


@given(
    st.lists(st.integers(1, 3), min_size=12, max_size=60),
    *(st.integers(3, 12), st.integers(3, 12), st.integers(0, 5)),
    st.randoms(use_true_random=False),
)
def test_schemas_are_in_one_part(sizes: Any, n_dev: int, n_test: int, seed: int, draw: Any) -> None:
    examples = made_schemas(sizes)
    draw.shuffle(examples)  # separates the twins
    if len(examples) <= n_dev + n_test:
        refuses(
            f"expected more than {n_dev + n_test} samples",
            split_schemas,
            examples,
            n_dev=n_dev,
            n_test=n_test,
            seed=seed,
        )
        return
    schemas = split_schemas(examples, n_dev=n_dev, n_test=n_test, seed=seed)
    parts = [schemas.train, schemas.dev, schemas.test]
    # every sample occurs once
    assert sorted(e.id for part in parts for e in part) == sorted(e.id for e in examples)
    names = [{schema_of(e) for e in part} for part in parts]
    assert names[0] & names[1] == names[0] & names[2] == names[1] & names[2] == set()
    assert n_dev - 2 <= len(schemas.dev) <= n_dev
    assert n_test - 2 <= len(schemas.test) <= n_test
    smaller: tuple[ContrastiveTranslationExample, ...] = ()
    for size in range(3, len(schemas.train) + 1):
        part = schemas.train_part(size)
        assert size - 2 <= len(part) <= size
        assert part[: len(smaller)] == smaller
        assert not {schema_of(e) for e in part} & {schema_of(e) for e in schemas.train[len(part) :]}
        smaller = part
    assert split_schemas(examples, n_dev=n_dev, n_test=n_test, seed=seed) == schemas


@cases((3774, (500, 1000, 1500, 2000, 2500)), (2988, (500, 1000, 1500)), (2238, (500, 1000)))
def test_split_sizes_are_those_of_the_thesis(n: int, sizes: tuple[int, ...]) -> None:
    schemas = split_schemas(made_schemas([2] * (n // 2)))
    assert [len(part) for part in (schemas.test, schemas.dev, schemas.train)] == [
        1000,
        200,
        n - 1200,
    ]
    assert schemas.train_sizes() == sizes
    assert [len(schemas.train_part(size)) for size in sizes] == list(sizes)


def test_splits_equal_those_of_the_program_of_the_thesis() -> None:
    """It shuffles the pairs of adjacent rows with seed 42, and takes test, development and training
    from them in this order.
    """
    examples = made_schemas([2] * 40)
    pairs = [examples[i : i + 2] for i in range(0, 80, 2)]
    random.seed(42)
    random.shuffle(pairs)
    flat = tuple(e for pair in pairs for e in pair)
    schemas = split_schemas(examples, n_dev=6, n_test=20)
    assert (schemas.test, schemas.dev, schemas.train_part(10)) == (
        flat[:20],
        flat[20:26],
        flat[26:36],
    )


def test_both_languages_get_the_same_split(both_sides: Sides) -> None:
    german, english = both_sides
    parts = [split_schemas(actual, n_dev=6, n_test=10) for actual in (german, english)]
    assert [e.id for e in parts[0].test] == [e.id for e in parts[1].test]
    assert matching_samples(parts[1].test, german) == parts[0].test
    refuses(r"2 are in the first only, such as 'S0-1'", matching_samples, english[:4], german[2:])


_NINE = made_schemas([2] * 9)


@cases(
    ([*_NINE, _NINE[0]], 2, 2, "expected every id once, got 's0-0' again"),
    ([replace(e, extra={}) for e in _NINE], 1, 1, 'whose extra column "pair" names its schema'),
    (_NINE, 1, 2, r"development part: expected at least the 2.*got 1"),
    (_NINE, 0, 2, "expected at least 1 sample for development"),
)
def test_bad_rows_are_refused(examples: Examples, n_dev: int, n_test: int, message: str) -> None:
    refuses(message, split_schemas, examples, n_dev=n_dev, n_test=n_test)


def test_training_parts_larger_than_the_data_are_refused() -> None:
    schemas = split_schemas(_NINE, n_dev=2, n_test=2)
    refuses(r"expected 1 to 14 samples, which is what the.*got 500", schemas.train_part, 500)
    refuses("step of the training sizes: expected 1 to 14 samples", schemas.train_sizes)


def test_choice_accuracy_counts_ties_and_pairs() -> None:
    evaluator = TextEvaluator({"a": -1.0, "b": -2.0, "c": -1.0, "d": -0.5}.__getitem__)
    texts = ["x-1 a b", "x-2 d b a", "y-3 a c", "y-4 a b", "z-5 a b d", "w-6 d a", "w-7 b a"]
    samples = [contrastive(name, "", *rest) for name, *rest in map(str.split, texts)]
    actual = choice_accuracy(evaluator, samples)
    verdicts = [True, True, None, True, False, True, False]
    assert [choice.is_correct for choice in actual.choices] == verdicts
    assert (actual.n, actual.n_correct, actual.n_ties) == (7, 4, 1)
    assert (actual.n_pairs, actual.n_pairs_correct) == (3, 1)
    assert (actual.accuracy, actual.pair_accuracy) == (4 / 7, 1 / 3)
    assert (actual.choices[4].logprob_correct, actual.choices[4].logprob_contrastive) == (
        -1.0,
        -0.5,
    )
    assert choice_accuracy(evaluator, samples[:1]).pair_accuracy is None
    refuses("one pair of languages, got 0", choice_accuracy, evaluator, [])
    refuses(
        "example 'x-1': expected at least one contrastive",
        choice_accuracy,
        evaluator,
        [replace(samples[0], contrastive_translations=())],
    )


@cases(
    ("Es regnet; er! ES?", "de", {"Es": ("Er", "Sie"), "er": ("sie", "es"), "ES": ("ER", "SIE")}),
    ("Da kam sie.", "de", {"sie": ("er", "es")}),
    ("Das Essen der Esel, siehe erst Es-Dur.", "de", {}),
    ("S'il vient, elles et ils partent; «elle»", "fr", {"il": ("elle",), "elle": ("il",)}),
    ("Oнa тонкая, потому что оно", "ru", {"Oнa": ("Oн", "Oнo"), "оно": ("он", "она")}),
)
def test_pronouns_are_found_with_their_alternatives(text: str, lang: str, expected: Any) -> None:
    actual = find_pronouns(text, lang)
    assert [(p.text, p.alternatives) for p in actual] == [*expected.items()]
    for occurrence in actual:
        assert text[occurrence.start :].startswith(occurrence.text)
        assert len(set(occurrence.variants(text))) == len(occurrence.alternatives) + 1


_FILES = [*product(["de", "fr", "ru"], ["thesis", "swapped"]), ("ru", "mixedscript")]


@pytest.mark.parametrize("name", _FILES, ids="-".join)
def test_the_pronoun_of_printed_samples_is_found(shared: Path, name: tuple[str, str]) -> None:
    rows = read_jsonl(shared / f"gold/wino_x/mt_wino_x_en_{'.'.join(name)}.jsonl")
    assert rows
    for row in rows:
        right, wrong = row["answer"], 3 - row["answer"]
        correct, incorrect = row[f"translation{right}"], row[f"translation{wrong}"]
        (actual,) = ambiguous_pronoun(correct, incorrect, find_pronouns(correct, name[0]))
        assert actual.text == row[f"pronoun{right}"]
        assert row[f"pronoun{wrong}"] in actual.alternatives


def test_choice_accuracy_refuses_invalid_scores() -> None:
    fails(
        EvaluatorError,
        "row 0: letters@1",
        choice_accuracy,
        BrokenEvaluator(float("nan")),
        [contrastive("0", "a", "x", "y")],
    )
