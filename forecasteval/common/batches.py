"""Replies as OpenAI's API returns them: a line of a batch's output, or the body of one reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def reply_text(reply: Any) -> Any:
    """The text of a reply, its content parts joined; whatever is no such object comes back as it is.

    Reads `{"body": …}` of a batch, and the bodies of chat completions (`choices[0].message.content`) and of the
    Responses API (`output[].content[].text` of its messages, not of its reasoning).
    """
    body = reply.get("body", reply) if isinstance(reply, Mapping) else reply
    if not isinstance(body, Mapping):
        return body
    if isinstance(body.get("choices"), list):
        message = next(iter(body["choices"]), None)
        message = message.get("message") if isinstance(message, Mapping) else None
        return _join_parts(message.get("content")) if isinstance(message, Mapping) else None
    if isinstance(body.get("output"), list):
        messages = [item for item in body["output"] if isinstance(item, Mapping) and item.get("type") == "message"]
        return "".join(str(_join_parts(item.get("content")) or "") for item in messages)
    return body if body is reply else None  # the body of an error


def _join_parts(content: Any) -> Any:
    """The texts of content parts as one; content that is no list of parts as it is."""
    if not isinstance(content, list):
        return content
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))
