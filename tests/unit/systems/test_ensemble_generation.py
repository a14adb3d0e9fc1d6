from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import MarianMTModel

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.systems.ensemble_generation import translating_members
from cc_hf.systems.translate import translate_with
from tests.helpers import families
from tests.helpers.cases import cases
from tests.helpers.models import save_tiny_marian
from tests.helpers.pairs import EN_DE
from tests.helpers.refusals import refuses

SOURCES = ["The nurse asked.", "The doctor asked the nurse to help her."]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("systems")
    for seed in (0, 1):
        folder = root / str(seed)
        save_tiny_marian(folder, seed=seed)
        model = MarianMTModel.from_pretrained(folder)
        with torch.no_grad():  # so that translations do not repeat one token
            for weights in model.parameters():
                weights.mul_(3 if weights.ndim > 1 else 1)
            model.final_logits_bias.zero_()
        model.generation_config.forced_eos_token_id = None
        model.config.forced_eos_token_id = None
        model.save_pretrained(folder)
    return [root / "0", root / "1"]


@pytest.fixture(scope="module")
def models(folders: list[Path]) -> list[Any]:
    return [member.model for member in loaded(folders).members]


def loaded(folders: list[Path]) -> Any:
    return cc_hf.load_evaluator(folders)


def mean_logprobs(models: list[Any], ids: list[int], prefixes: list[list[int]]) -> torch.Tensor:
    """Return the logarithms of the mean probabilities of the next tokens, without any cache."""
    probabilities = []
    for model in models:
        start = [model.config.decoder_start_token_id]
        inputs = torch.tensor([start + prefix for prefix in prefixes])
        with torch.no_grad():
            sources = torch.tensor([ids] * len(prefixes))
            logits = model(input_ids=sources, decoder_input_ids=inputs).logits
        probabilities.append(logits[:, -1].double().softmax(dim=-1))
    return torch.stack(probabilities).mean(dim=0).log()


def greedy(models: list[Any], ids: list[int], n: int) -> list[int]:
    config, prefix = models[0].config, list[int]()
    while len(prefix) < n and (not prefix or prefix[-1] != config.eos_token_id):
        (logprobs,) = mean_logprobs(models, ids, [prefix])
        logprobs[config.pad_token_id] = -torch.inf
        prefix.append(int(logprobs.argmax()))
    return prefix


def text_of(evaluator: Any, ids: list[int]) -> str:
    return " ".join(evaluator.members[0].tokenizer.decode(ids, skip_special_tokens=True).split())


def test_greedy_search_takes_the_highest_mean(folders: list[Path], models: list[Any]) -> None:
    evaluator = loaded(folders)
    options: dict[str, Any] = {**EN_DE, "num_beams": 1, "max_new_tokens": 6}
    found = translate_with(evaluator, SOURCES, **options)
    encoded = evaluator.encode_sources(SOURCES, **EN_DE)
    assert found == [text_of(evaluator, greedy(models, ids, 6)) for ids in encoded]
    members = map(cc_hf.load_evaluator, folders)
    assert found not in [translate_with(member, SOURCES, **options) for member in members]


def test_a_beam_of_all_tokens_finds_the_best(folders: list[Path], models: list[Any]) -> None:
    evaluator, source = loaded(folders), SOURCES[:1]
    (ids,) = evaluator.encode_sources(source, **EN_DE)
    config = models[0].config
    (first,) = mean_logprobs(models, ids, [[]])
    tokens = [i for i in range(len(first)) if i != config.pad_token_id]
    end = config.eos_token_id
    scores: dict[tuple[int, ...], float] = {(end,): float(first[end])}
    begun = [token for token in tokens if token != config.eos_token_id]
    for token, second in zip(begun, mean_logprobs(models, ids, [[t] for t in begun]), strict=True):
        for last in tokens:
            scores[token, last] = float(first[token] + second[last]) / 2
    best = max(scores, key=lambda path: scores[path])
    (found,) = translate_with(evaluator, source, **EN_DE, num_beams=len(tokens), max_new_tokens=2)
    assert found == text_of(evaluator, list(best))


def test_members_and_their_order_matter_only_by_their_mean(folders: list[Path]) -> None:
    a, b = (cc_hf.load_evaluator(folder) for folder in folders)
    options: dict[str, Any] = {**EN_DE, "num_beams": 3, "max_new_tokens": 8}
    twice = cc_hf.load_evaluator([folders[0], folders[0]])
    assert translate_with(twice, SOURCES, **options) == translate_with(a, SOURCES, **options)
    both = translate_with(loaded(folders), SOURCES, **options)
    assert both == translate_with(loaded(folders[::-1]), SOURCES, **options)
    assert both != translate_with(b, SOURCES, **options)
    # the hook is gone: a member alone translates as before
    assert translate_with(a, SOURCES, **options) == translate_with(twice, SOURCES, **options)


@cases("m2m_100", "fsmt", "t5", "bergamot", "mbart", "average_attention")
def test_every_family_translates_as_an_ensemble(family: str, tmp_path: Path) -> None:
    folder = families.BUILDERS[family](tmp_path)
    models = (cc_hf.load_evaluator(of, **EN_DE) for of in (folder, [folder, folder]))
    alone, twice = (translate_with(m, SOURCES, num_beams=2, max_new_tokens=9) for m in models)
    assert twice == alone


def test_models_that_do_not_translate_are_refused(tmp_path: Path) -> None:
    evaluator: Evaluator = cc_hf.load_evaluator(families.save_tiny_causal_lm(tmp_path), **EN_DE)
    refuses("does not translate: expected a sequence-to-sequence", translating_members, evaluator)


def test_members_of_other_tokens_are_refused(folders: list[Path], tmp_path: Path) -> None:
    other = families.save_tiny_m2m100(tmp_path)
    with pytest.raises(InputError, match="expected members with the same tokenizer and vocab"):
        cc_hf.translate(SOURCES, [folders[0], other], **EN_DE)
