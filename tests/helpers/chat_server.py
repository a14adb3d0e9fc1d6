"""An OpenAI-compatible server on localhost around a tiny model. It computes without cc_hf: by the
chat template of transformers, `generate`, and one plain forward pass. It fails on request.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import torch

from tests.helpers.local_server import Handler, serving


@dataclass(frozen=True)
class Fault:
    """What happens to one request instead of an answer, or before it.

    `status` is answered with `headers` and `body`; `drops` ends the connection; `seconds` pass
    first; `garbled` sends the beginning of the answer only; `answer` replaces the answer, and
    `text` what is sent of it; `claims` is its length as the server says it, before it drops the
    connection.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    drops: bool = False
    seconds: float = 0.0
    garbled: bool = False
    answer: Any = None
    text: str = ""
    claims: str = ""


@dataclass
class ChatServer:
    """A server. `faults` are used up from the front, one for each request; None lets one pass."""

    model: Any = None
    tokenizer: Any = None
    name: str = "tiny"
    url: str = ""
    key: str = ""
    gives: str = "prompt_logprobs"  # or "echo", or nothing
    max_model_len: int | None = None
    faults: list[Fault | None] = field(default_factory=list)
    always: Fault | None = None
    requests: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    n_open: int = 0
    lock: Any = field(default_factory=Lock)

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        ids = self.tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )["input_ids"]
        with torch.no_grad():
            options = {
                "max_new_tokens": body["max_tokens"],
                "do_sample": False,
                "pad_token_id": self.tokenizer.eos_token_id,
            }
            output = self.model.generate(ids, attention_mask=torch.ones_like(ids), **options)
        written = output[0, ids.shape[1] :]
        text = self.tokenizer.decode(written, skip_special_tokens=True)
        message = {"role": "assistant", "content": text}
        reason = "stop" if self.tokenizer.eos_token_id in written.tolist() else "length"
        return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}

    def completions(self, body: dict[str, Any]) -> dict[str, Any]:
        choices = []
        for index, ids in enumerate(body["prompt"]):
            with torch.no_grad():
                rows = self.model(torch.tensor([ids])).logits[0].log_softmax(-1)
            given = [float(rows[i, number]) for i, number in enumerate(ids[1:])]
            texts = [self.tokenizer.decode([number]) for number in ids]
            choice: dict[str, Any] = {"index": index, "text": "x", "finish_reason": "length"}
            if self.gives == "prompt_logprobs" and "prompt_logprobs" in body:
                # The likeliest token is listed, too.
                likeliest = [{str(int(r.argmax())): {"logprob": float(r.max())}} for r in rows]
                listed = [
                    best | {str(ids[i + 1]): {"logprob": given[i], "decoded_token": texts[i + 1]}}
                    for i, best in enumerate(likeliest[: len(given)])
                ]
                choice["prompt_logprobs"] = [None, *listed]
            if self.gives == "echo" and body.get("echo"):
                logprobs = [None, *given, -1.0]
                choice["logprobs"] = {"tokens": [*texts, "x"], "token_logprobs": logprobs}
            choices.append(choice)
        return {"choices": choices[::-1]}  # the order is given by the index

    def models(self, _: object = None) -> dict[str, Any]:
        return {"data": [{"id": self.name, "max_model_len": self.max_model_len}]}


@contextmanager
def chat_server(model: Any = None, tokenizer: Any = None, **options: Any) -> Iterator[ChatServer]:
    """Serve until the block ends; sockets must be allowed."""
    served = ChatServer(model, tokenizer, **options)
    with serving(_Handler, served=served) as address:
        served.url = f"{address}/v1"
        yield served


class _Handler(Handler):
    served: ChatServer

    def do_GET(self) -> None:  # noqa: N802
        self._answer(None)

    def do_POST(self) -> None:  # noqa: N802
        self._answer(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))

    def _answer(self, body: Any) -> None:
        served = self.served
        with served.lock:
            served.requests.append((self.path, body))
            served.headers.append({key.lower(): value for key, value in self.headers.items()})
            fault = served.faults.pop(0) if served.faults else served.always
            served.n_open += 1
            served.most_at_once = max(served.most_at_once, served.n_open)
        fault = fault or Fault()
        time.sleep(fault.seconds)
        with served.lock:  # before the answer, after which the client may send the next one
            served.n_open -= 1
        self._send_faulty(body, fault)

    def _send_faulty(self, body: Any, fault: Fault) -> None:
        if fault.drops:
            self.close_connection = True
            return
        if self.served.key and self.headers.get("authorization") != f"Bearer {self.served.key}":
            given = self.headers.get("authorization")
            self._send(401, json.dumps({"error": f"Incorrect API key provided: {given}"}))
        elif fault.status:
            self._send(fault.status, fault.body, fault.headers)
        else:
            served: Any = self.served
            makers = {"/v1/models": served.models, "/v1/completions": served.completions}
            make = {**makers, "/v1/chat/completions": served.chat}.get(self.path)
            if make is None:
                self._send(404, '{"error": "no such path"}')
                return
            answer = fault.answer
            text = fault.text or json.dumps(make(body) if answer is None else answer)
            if fault.claims:
                self._claim(fault)
                return
            self._send(200, text[: len(text) // 2] if fault.garbled else text)

    def _claim(self, fault: Fault) -> None:
        self.send_response(200)
        self.send_header("Content-Length", fault.claims)
        self.end_headers()
        self.wfile.write(fault.text.encode())
        self.close_connection = True

    def _send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        headers = {**(headers or {}), "Content-Type": "application/json"}
        try:
            self.send(status, text.encode(), headers)
        except OSError:  # whoever asked did not wait
            self.close_connection = True
