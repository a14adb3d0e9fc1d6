"""Replies of chat models as servers return them, alone or in batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cc_hf.errors import FileError, shown

__all__ = ["reply_text"]

#: Where servers put the reply: batches and single replies of OpenAI's two interfaces, batches and
#: single replies of Anthropic.
_PATHS = (
    ("response", "body", "choices"),
    ("response", "body", "output"),
    ("result", "message", "content"),
    ("choices",),
    ("output",),
    ("content",),
)
_FAILED = ("errored", "canceled", "expired")
_LARGEST_SUCCESS = 299  # status codes of HTTP


def reply_text(row: Mapping[str, Any], where: object) -> str | None:
    """Return the text of a reply, or None if the row is none.

    Examples:
        >>> choice = {"index": 0, "message": {"role": "assistant", "content": "Ja."}}
        >>> row = {"custom_id": "7", "response": {"status_code": 200, "body": {"choices": [choice]}}}
        >>> reply_text(row, "line 1")
        'Ja.'
    """  # noqa: E501
    response, result = row.get("response"), row.get("result")
    is_failure = bool(row.get("error")) and ("custom_id" in row or "response" in row)
    if isinstance(response, Mapping):
        code = response.get("status_code")
        is_failure |= isinstance(code, int) and code > _LARGEST_SUCCESS
    if isinstance(result, Mapping):
        is_failure |= result.get("type") in _FAILED
    if is_failure:
        reason = row.get("error") or response or result
        raise FileError(
            where, f"expected a reply, got a request that failed ({shown(reason)}); send it again"
        )
    for path in _PATHS:
        value: Any = row
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            text = _joined(value)
            if text is None:
                raise FileError(where, f"expected a reply with a text, got {shown(value)}")
            return text
    return None


def _joined(items: list[Any]) -> str | None:
    """Return the text of choices, messages or parts; of several choices, that of the first."""
    if "message" in items[0]:
        content = items[0]["message"]
        content = content.get("content") if isinstance(content, Mapping) else None
        if isinstance(content, list):
            return _joined(content) if all(isinstance(part, Mapping) for part in content) else None
        return content if isinstance(content, str) else None
    texts = []
    for item in items:
        if isinstance(text := item.get("text"), str):
            texts.append(text)
        elif isinstance(parts := item.get("content"), list) and item.get("type") == "message":
            texts += [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None
