"""Converted checkpoints give the scores, ids and translations that fairseq gave."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.conversion.check import ensemble_logprobs
from cc_hf.plugins.conversion.checkpoint import read_checkpoint
from cc_hf.plugins.conversion.convert import convert
from cc_hf.plugins.conversion.evaluator import FairseqEvaluator
from cc_hf.plugins.conversion.tokenizer import FairseqTokenizer
from cc_hf.systems.translate import translate
from tests.helpers.fairseq_models import reference_logprobs
from tests.helpers.usual import fails, known, read_json, refuses, typed, write_jsonl

pytestmark = pytest.mark.shared

_TOLERANCE = 1e-4
_SETTINGS = ("joint", "separate", "legacy_v08")


def gold(shared: Path, setting: str) -> Any:
    return read_json(shared / "gold/fairseq" / setting / "gold_scores.json")["pairs"]


def texts(shared: Path, setting: str) -> Any:
    """Return the pairs with their texts, which were recorded for one of two settings."""
    return gold(shared, "separate" if setting == "separate" else "joint")


def ids(pairs: Any) -> list[Any]:
    return [[pair[f"{side}_ids"] for pair in pairs] for side in ("source", "target")]


of_every_setting = pytest.mark.parametrize("setting", _SETTINGS)


@pytest.fixture(scope="module")
def converted(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("fairseq")
    for setting in _SETTINGS:
        actual = convert(shared / "gold/fairseq" / setting, output=folder / setting)
        assert [path.name for path in actual.folders] == ["model1", "model2"]
        assert actual.families == ("fsmt", "fsmt")
        assert actual.check is None
    return {setting: folder / setting for setting in _SETTINGS}


def evaluator(folder: Path, **options: Any) -> FairseqEvaluator:
    return typed(FairseqEvaluator, cc_hf.load_evaluator(folder, device="cpu", **options))


@of_every_setting
def test_logprobs_are_as_recorded(shared: Path, converted: dict[str, Path], setting: str) -> None:
    pairs = gold(shared, setting)
    assert len(pairs) == 40
    models = {name: evaluator(converted[setting] / name) for name in ("model1", "model2")}
    actual = {name: model.id_logprobs(*ids(pairs)) for name, model in models.items()}
    actual["ensemble"] = ensemble_logprobs([*actual.values()])
    for name, rows in actual.items():
        for pair, logprobs in zip(pairs, rows, strict=True):
            recorded = pair["scores"][name]
            assert logprobs == pytest.approx(recorded["positional_log_probs"], abs=_TOLERANCE)
            assert logprobs.mean() == pytest.approx(recorded["score"], abs=_TOLERANCE)


@of_every_setting
def test_token_ids_are_as_recorded(shared: Path, converted: dict[str, Path], setting: str) -> None:
    tokenizer = FairseqTokenizer.from_pretrained(converted[setting] / "model2")
    pairs = texts(shared, setting)
    sources = tokenizer.encode_sources([pair["source"] for pair in pairs])
    targets = tokenizer.encode_targets([pair["target"] for pair in pairs])
    assert [sources, targets] == ids(gold(shared, setting))


@pytest.mark.parametrize("setting", ["joint", "separate"])
def test_means_are_as_recorded(shared: Path, converted: dict[str, Path], setting: str) -> None:
    """Batches of any size give the recorded mean over the tokens."""
    pairs = gold(shared, setting)
    sources, targets = ([pair[side] for pair in pairs] for side in ("source", "target"))
    expected = [pair["scores"]["model1"]["score"] for pair in pairs]
    for batch_tokens in (1, 500, 100_000):
        actual = evaluator(converted[setting] / "model1", batch_tokens=batch_tokens)
        scores = actual.mean_logprobs(sources, targets, src_lang="en", tgt_lang="de")
        assert scores == pytest.approx(expected, abs=_TOLERANCE)
    refuses(
        "does not support the target language 'fr'",
        actual.mean_logprobs,
        ["A dog."],
        ["Un chien."],
        src_lang="en",
        tgt_lang="fr",
    )


@pytest.mark.parametrize("setting", ["joint", "separate"])
@pytest.mark.parametrize("name", ["model1", "model2"])
def test_beams_are_those_of_fairseq(shared: Path, converted: Any, setting: str, name: str) -> None:
    sources = {pair["id"]: pair["source"] for pair in gold(shared, setting)}
    beams = read_json(shared / "gold/fairseq" / setting / "gold_beam.json")["beam"]
    actual = [row for row in beams if row["model"] == name]
    assert len(actual) == 10
    folder, loading = converted[setting] / name, LoadingOptions(device="cpu")
    translations = translate([sources[row["pair_id"]] for row in actual], folder, loading=loading)
    assert translations == [row["hypos"][0]["text"] for row in actual]
    hypotheses = [(row["source_ids"], hypothesis) for row in actual for hypothesis in row["hypos"]]
    logprobs = evaluator(folder).id_logprobs(
        [ids for ids, _ in hypotheses], [hypothesis["tokens"] for _, hypothesis in hypotheses]
    )
    for (_, hypothesis), positions in zip(hypotheses, logprobs, strict=True):
        assert positions == pytest.approx(hypothesis["positional_scores"], abs=_TOLERANCE)


@of_every_setting
def test_transformers_loads_it(shared: Path, converted: dict[str, Path], setting: str) -> None:
    folder = converted[setting] / "model1"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model, loading = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
    assert type(tokenizer).__name__ == "FSMTTokenizer"
    assert type(model).__name__ == "FSMTForConditionalGeneration"
    assert not {*loading["missing_keys"], *loading["unexpected_keys"]}
    read = [tokenizer(pair["source"])["input_ids"] for pair in texts(shared, setting)]
    n_other = sum(a != b for a, b in zip(read, ids(gold(shared, setting))[0], strict=True))
    assert n_other == 4  # this is why cc_hf has its own tokenizer


@of_every_setting
def test_the_check_reports_deviations(shared: Path, tmp_path: Path, setting: str) -> None:
    folder = shared / "gold/fairseq" / setting
    actual = known(
        convert(folder, output=tmp_path / "out", check=folder / "gold_scores.json").check
    )
    assert set(actual.deviations) == {"model1", "model2", "ensemble"}
    assert all(0 < value < 1e-5 for value in actual.deviations.values())
    assert actual.n_texts == (0 if setting == "legacy_v08" else 80)
    assert actual.n_tokens == sum(map(len, ids(gold(shared, setting))[1]))


def test_the_check_refuses_deviating_scores_and_token_ids(shared: Path, tmp_path: Path) -> None:
    folder, output = shared / "gold/fairseq/joint", tmp_path / "out"
    recorded = read_json(folder / "gold_scores.json")
    recorded["pairs"][3]["scores"]["model1"]["positional_log_probs"][1] += 2e-4
    scores = write_jsonl(tmp_path / "scores.json", [recorded])
    fails(EvaluatorError, "model1 does not score as", convert, folder, output=output, check=scores)
    fails(
        EvaluatorError,
        r"the source of pair 0 of gold_scores\.json gets",
        convert,
        folder,
        output=output,
        check=folder / "gold_scores.json",
        tokenizer="space",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]


def test_the_check_of_a_single_checkpoint_has_no_ensemble(shared: Path, tmp_path: Path) -> None:
    folder = shared / "gold/fairseq/separate"
    check = folder / "gold_scores.json"
    actual = convert(folder, output=tmp_path / "out", checkpoints=["model2"], check=check)
    assert [path.name for path in actual.folders] == ["model2"]
    assert set(known(actual.check).deviations) == {"model2"}


@of_every_setting
def test_the_reference_of_the_unit_tests_equals_fairseq(shared: Path, setting: str) -> None:
    """Architectures without a recording can therefore be compared with it."""
    checkpoint = read_checkpoint(shared / "gold/fairseq" / setting / "model1.pt")
    for pair in gold(shared, setting)[:12]:
        actual = reference_logprobs(
            checkpoint.weights, checkpoint.options, pair["source_ids"], pair["target_ids"]
        )
        assert np.abs(actual - pair["scores"]["model1"]["positional_log_probs"]).max() < 1e-5
