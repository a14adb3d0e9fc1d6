"""Language models that people use, asked and scored: what holds for tiny models with random weights
must hold for real tokenizers, chat templates and weights, too. Figures of quality are no tests.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import import_utils

import cc_hf as package
from cc_hf import signature
from cc_hf.errors import EvaluatorError, InputError
from cc_hf.models.chat_templates import Message
from cc_hf.models.pretrained import load_model
from cc_hf.plugins.asking.conversations import Decoding, plain_text
from cc_hf.plugins.asking.local_chat import open_local_chat
from cc_hf.plugins.asking.prompting.choices import parse_choice
from cc_hf.plugins.asking.respondents import open_respondent
from tests.helpers import plain_forward
from tests.helpers.chat_models import asked
from tests.helpers.chat_server import chat_server
from tests.helpers.people import PEOPLE, write_people
from tests.helpers.served_pages import transformers_served
from tests.helpers.usual import EN_DE, cc_hf, fails, read_json, read_jsonl, write_jsonl, write_lines

_SHORT = Decoding(max_new_tokens=12)
_CHAT_PROMPT = "chat:Translate into {tgt_name}: {source}"
_QUESTIONS = [
    asked("What is the capital of France?"),
    asked("Hi", "Hello!", "Name an animal."),
    (Message("system", "Answer in one word."), Message("user", "Is ice cold?")),
    asked("Wer schrieb den Faust? Ärztin, Bäckerin 🎉"),
]
_SENTENCES = [
    ("The doctor finished her work.", "Die Ärztin beendete ihre Arbeit."),
    ("The cat sleeps on the sofa.", "Die Katze schläft auf dem Sofa."),
    ("We have lived in this town for twenty years.", "Wir leben seit 20 Jahren in dieser Stadt."),
    ("", "Ja."),
    ("مرحبا 🎉", "Hallo, «Welt» – 1.000 €."),
]
#: Language -> translations of the first three sentences.
_TRANSLATIONS = {
    "de": [translation for _, translation in _SENTENCES[:3]],
    "es": [
        "La doctora terminó su trabajo.",
        "El gato duerme en el sofá.",
        "Vivimos en esta ciudad desde hace veinte años.",
    ],
    "fr": [
        "La médecin a fini son travail.",
        "Le chat dort sur le canapé.",
        "Nous habitons cette ville depuis vingt ans.",
    ],
}


@pytest.fixture(params=["smollm2", "gemma3"])
def model(request: pytest.FixtureRequest, real_models: Path) -> Path:
    """Return the folder of each model."""
    folder: Path = request.getfixturevalue(request.param)
    return folder


def options() -> list[dict[str, Any]]:
    """Return rows with a right and a wrong translation."""
    right = [translation for _, translation in _SENTENCES[:3]]
    return [
        {
            "id": str(i),
            "source": _SENTENCES[i][0],
            "correct_translation": right[i],
            "contrastive_translations": [right[(i + 1) % 3]],
            "tgt_lang": "de",
        }
        for i in range(3)
    ]


def test_a_converted_model_continues_a_text(model: Path) -> None:
    # Layers in another order, or rows of attention, would leave nothing of what it knows.
    (nll,) = -package.load_evaluator(model, prompt="", **EN_DE).mean_logprobs(
        [""], ["In the afternoon the children went to the park, where they played football."]
    )
    assert nll < 4


def test_the_chat_template_is_that_of_the_model(smollm2: Path) -> None:
    chat = open_local_chat(str(smollm2), decoding=_SHORT)
    text = chat.render(_QUESTIONS[0])
    assert text != plain_text(_QUESTIONS[0])
    assert text.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert text.endswith("<|im_end|>\n<|im_start|>assistant\n")


def test_marks_of_the_chat_template_are_one_token_each(smollm2: Path) -> None:
    evaluator = package.load_evaluator(smollm2, prompt=_CHAT_PROMPT, **EN_DE)
    (ids,) = evaluator.encode_sources(["The cat."], "en", "de")
    tokens = AutoTokenizer.from_pretrained(smollm2).convert_ids_to_tokens(ids)
    assert tokens.count("<|im_start|>") == 3  # system, user, assistant; no other BOS
    assert tokens.count("<|im_end|>") == 2
    assert tokens[-4:] == ["<|im_start|>", "ass", "istant", "Ċ"]


def test_a_model_without_chat_template_is_asked_in_plain_lines(gemma3: Path) -> None:
    chat = open_local_chat(str(gemma3), decoding=_SHORT)
    assert chat.render(_QUESTIONS[0]) == plain_text(_QUESTIONS[0])
    fails(
        InputError, "no chat template", package.load_evaluator, gemma3, prompt=_CHAT_PROMPT, **EN_DE
    )


def test_replies_do_not_depend_on_the_batch(model: Path) -> None:
    alone, together = (
        open_local_chat(str(model), decoding=_SHORT, batch_size=size).reply(_QUESTIONS)
        for size in (1, 4)
    )
    assert alone == together
    assert all(reply.text for reply in alone)


def test_a_reply_ends_with_its_turn(smollm2: Path) -> None:
    (reply,) = open_local_chat(str(smollm2), decoding=_SHORT).reply(_QUESTIONS[:1])
    assert (reply.text, reply.is_cut) == ("The capital of France is Paris.", False)


def test_answers_have_probabilities(smollm2: Path) -> None:
    chat = open_local_chat(str(smollm2), decoding=_SHORT)
    logprobs = chat.answer_logprobs(_QUESTIONS[:1], ["The capital", "The weather"])
    assert logprobs.shape == (1, 2)
    assert 0 < np.exp(logprobs).sum() <= 1
    assert logprobs[0, 0] > logprobs[0, 1]


@pytest.fixture(scope="module")
def choices(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of choices that the model was asked for in both orders."""
    folder = tmp_path_factory.mktemp("choices")
    write_jsonl(folder / "rows.jsonl", options())
    words = "--shots 0 --both-orders --answer-logprobs --model-option max_new_tokens=40 -o a.json"
    cc_hf("ask rows.jsonl --model", smollm2, *words.split(), cwd=folder)
    return folder


def test_choices_are_those_of_the_replies(choices: Path) -> None:
    numbers = {
        row["id"]: parse_choice(row["text"], [row["reference"][f"option{n}"] for n in (1, 2)])
        for row in read_jsonl(choices / "a.replies.jsonl")[1:]
    }
    assert len(numbers) == 6
    same = [
        {numbers[name].number, numbers[f"{name}/swapped"].number} == {"1", "2"} for name in "012"
    ]
    verdicts = {
        row["example_id"]: row["verdict"] for row in read_json(choices / "a.json")["judgements"]
    }
    # A choice that goes with the place, and not with the translation, is none.
    assert [verdicts[name] != "inconclusive" for name in "012"] == same


def test_every_choice_by_log_probability_is_valid(choices: Path) -> None:
    result = read_json(choices / "a.logprobs.json")
    assert (result["counts"]["n_valid"], result["n"]) == (3, 3)
    assert all(0 <= value <= 1 for value in result["scores"].values() if value is not None)


@pytest.mark.enable_socket
@pytest.mark.skipif(
    not getattr(import_utils, "is_serve_available", lambda: False)(),
    reason="real models: transformers[serving] is not installed",
)
def test_transformers_serve_replies_alike(smollm2: Path, tmp_path: Path) -> None:
    expected = open_local_chat(str(smollm2), decoding=_SHORT).reply(_QUESTIONS)
    with transformers_served(smollm2, log=tmp_path / "log") as url:
        served = open_respondent(str(smollm2), server=url, decoding=_SHORT)
        assert served.reply(_QUESTIONS) == expected
        name = f"server:{url}#{smollm2}"
        fails(EvaluatorError, "log-probabilities of the prompt", package.load_evaluator, name)


@pytest.mark.enable_socket
@pytest.mark.parametrize("gives", ["prompt_logprobs", "echo"])
def test_a_server_of_log_probabilities_scores_alike(smollm2: Path, gives: str) -> None:
    loaded = load_model(smollm2)
    texts = [list(part) for part in zip(*_SENTENCES, strict=True)]
    local = package.load_evaluator(smollm2, prompt=_CHAT_PROMPT, **EN_DE).mean_logprobs(*texts)
    with chat_server(loaded.model, loaded.tokenizer, gives=gives) as served:
        name = f"server:{served.url}#tiny#{smollm2}"
        evaluator = package.load_evaluator(name, prompt=_CHAT_PROMPT, **EN_DE)
        np.testing.assert_allclose(evaluator.mean_logprobs(*texts), local, atol=1e-4, rtol=0)


def test_translations_by_examples_end(model: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "rows.jsonl", options())
    words = "--task translate --shots 2 --model-option max_new_tokens=60"
    cc_hf("ask rows.jsonl --model", model, *words.split(), "-o", "t.jsonl", cwd=tmp_path)
    (row,) = read_jsonl(tmp_path / "t.jsonl")
    assert (row["outcome"], row["is_cut"]) == ("valid", False)
    (_, reply) = read_jsonl(tmp_path / "t.replies.jsonl")
    assert "\n" not in reply["text"]


def test_scores_are_those_of_transformers(model: Path) -> None:
    texts = [list(part) for part in zip(*_SENTENCES, strict=True)]
    actual = package.load_evaluator(model, **EN_DE).token_logprobs(*texts)
    for row, pair in zip(actual, _SENTENCES, strict=True):
        expected = plain_forward.causal_lm(model, *pair)
        np.testing.assert_allclose(row, expected, atol=1e-4, rtol=0)


def test_scores_in_the_chat_template_are_those_of_a_reply(smollm2: Path) -> None:
    source, translation = _SENTENCES[0]
    evaluator = package.load_evaluator(smollm2, prompt=_CHAT_PROMPT, **EN_DE)
    (actual,) = evaluator.token_logprobs([source], [translation])
    tokenizer = AutoTokenizer.from_pretrained(smollm2)
    loaded: Any = AutoModelForCausalLM.from_pretrained(smollm2).eval()
    turns = [{"role": "user", "content": f"Translate into German: {source}"}]
    before = tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
    labels = [*tokenizer(translation)["input_ids"], tokenizer.convert_tokens_to_ids("<|im_end|>")]
    with torch.no_grad():
        logits = loaded(torch.tensor([[*before, *labels]])).logits[0, len(before) - 1 : -1]
    expected = logits.log_softmax(-1)[range(len(labels)), labels]
    np.testing.assert_allclose(actual, expected, atol=1e-4, rtol=0)


def test_contrastive_conditioning_judges_people(smollm2: Path, tmp_path: Path) -> None:
    write_people(tmp_path)
    write_lines(tmp_path / "t.txt", [f"Satz {i} der Ärztin." for i in range(len(PEOPLE))])
    words = "--translations t.txt --metric contrastive_conditioning -o a.json --evaluator"
    cc_hf("evaluate people.csv -l en-de", *words.split(), smollm2, cwd=tmp_path)
    result = read_json(tmp_path / "a.json")
    probabilities = [row["probability_correct"] for row in result["judgements"]]
    assert len(probabilities) == len(PEOPLE)
    assert all(0 < value < 1 and math.isfinite(value) for value in probabilities)
    fields = signature.parse(result["signature"])[1]
    assert fields["eval"].startswith("smollm2@")
    assert fields["prompt"] == "{src_name}:\n{source}\n{tgt_name}:\n"


@pytest.mark.parametrize("lang", _TRANSLATIONS)
def test_a_multilingual_model_prefers_the_translation(gemma3: Path, lang: str) -> None:
    evaluator = package.load_evaluator(gemma3, src_lang="en", tgt_lang=lang)
    pairs = [(s, t) for s, _ in _SENTENCES[:3] for t in _TRANSLATIONS[lang]]
    scores = np.reshape(
        evaluator.mean_logprobs([s for s, _ in pairs], [t for _, t in pairs]), (3, 3)
    )
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
