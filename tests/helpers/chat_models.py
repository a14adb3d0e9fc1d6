"""Tiny language models with random weights and the chat templates that models have."""

from pathlib import Path
from typing import Any

from tokenizers import decoders
from transformers import AutoModelForCausalLM, AutoTokenizer

from cc_hf.models.chat_templates import Conversation, Message
from tests.helpers.families import save_tiny_causal_lm
from tests.helpers.models import N_POSITIONS

_TURNS = (
    "{% for message in messages %}"
    "<s>{{ message['role'] }}\n{{ message['content'] | trim }}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
_ALTERNATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'system' or (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/...') }}"
    "{% endif %}{% endfor %}"
)
_NEEDS_SYSTEM = (
    "{% if messages[0]['role'] != 'system' %}"
    "{{ raise_exception('A system message is expected') }}{% endif %}"
)

#: What a template does with the turns -> the template.
TEMPLATES: dict[str, str] = {
    "any turns": _TURNS,
    "alternating only": _ALTERNATE + _TURNS,
    "system first": _NEEDS_SYSTEM + _TURNS,
    "without system": _TURNS.replace(
        "{% for message in messages %}",
        "{% for message in messages if message['role'] != 'system' %}",
    ),
    "none at all": "{{ raise_exception('This model does not chat') }}",
}


def save_tiny_chat_model(
    folder: Path,
    *,
    template: str | None = "any turns",
    llama: bool = True,
    n_positions: int = N_POSITIONS,
    **saved: Any,
) -> Path:
    """Save a tiny causal model; `saved` are settings of generation in its files."""
    save_tiny_causal_lm(folder, llama=llama, n_positions=n_positions)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.decoder = decoders.Metaspace() if llama else decoders.ByteLevel()
    if template is not None:
        tokenizer.chat_template = TEMPLATES[template]
    tokenizer.save_pretrained(folder)
    if saved:
        model = AutoModelForCausalLM.from_pretrained(folder)
        for name, value in saved.items():
            setattr(model.generation_config, name, value)
        model.generation_config.save_pretrained(folder)
    return folder


def asked(*contents: str) -> Conversation:
    """Return turns of user and assistant, in turn."""
    roles: Any = ("user", "assistant")
    return tuple(Message(roles[i % 2], content) for i, content in enumerate(contents))


QUESTIONS = [
    asked("The doctor asked the nurse."),
    asked("Der Arzt", "die Mechanikerin", "The receptionist was in a good mood. Who?"),
    asked("her"),
    asked("because she was"),
    asked("The mechanic greeted", "ihm", "him"),
]
