"""Replies of OpenAI's API, and the tokens that they and their prompts take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from .errors import printable
from .patterns import lazy

MOST_CHOICES: Final = 1000
_WIDE: Final = lazy("[\u2e80-\U0010ffff]")  # Chinese, Japanese, Korean, and emoji


def is_failed(reply: object) -> bool:
    """Return whether a reply belongs to a failed request."""
    return isinstance(reply, Mapping) and reply.get("status_code", 200) != 200


def reply_texts(reply: object) -> list[object]:
    """Return the texts of a reply's choices, each with its content parts joined; any
    other value is its only choice.

    Reads `{"body": …}` of a batch, of which a failed request has no text, and the
    bodies of chat completions (`choices[].message.content`) and of the Responses API
    (`output[].content[].text` of its messages, not of its reasoning).
    """
    if is_failed(reply):
        return [None]
    body = reply.get("body", reply) if isinstance(reply, Mapping) else reply
    if not isinstance(body, Mapping):
        return [body]
    if isinstance(choices := body.get("choices"), list):
        return _choice_texts(
            [choice for choice in choices if isinstance(choice, Mapping)]
        )
    if isinstance(output := body.get("output"), list):
        messages = [
            item
            for item in output
            if isinstance(item, Mapping) and item.get("type") == "message"
        ]
        return [
            "".join(
                str(join_parts(message.get("content")) or "") for message in messages
            )
        ]
    return [body if body is reply else None]  # the body of an error


def _choice_texts(choices: list[Any]) -> list[object]:
    """List the texts of choices by their `index`, None where one lacks; else as
    they are listed.
    """
    indices = [choice.get("index") for choice in choices]
    known = {
        index for index in indices if type(index) is int and 0 <= index < MOST_CHOICES
    }
    if len(known) < len(choices):
        indices = list(range(len(choices)))
    texts: list[object] = [None] * (max(indices, default=0) + 1)
    for index, choice in zip(indices, choices, strict=True):
        message = choice.get("message")
        # The old API of completions has the text beside the message's place.
        texts[index] = choice.get("text")
        if isinstance(message, Mapping):
            texts[index] = join_parts(message.get("content"))
    return texts


def join_parts(content: object) -> object:
    """Return the joined text of a list of content parts; any other
    content unchanged.
    """
    if not isinstance(content, list):
        return content
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def count_usage(path: Path) -> dict[str, int]:
    """Count the replies in a file of rows that say what they took, and their tokens.

    `{"replies": 52, "prompt_tokens": 8257, "completion_tokens": 572}`, or nothing if
    its first row says nothing.
    """
    counts = dict.fromkeys(("replies", "prompt_tokens", "completion_tokens"), 0)
    if path.suffix != ".jsonl":
        return {}
    with path.open("rb") as file:
        for line in file:
            usage: object = None
            if b'"usage"' in line:
                with suppress(ValueError, AttributeError, RecursionError):
                    usage = json.loads(line).get("usage")
            if isinstance(usage, Mapping):
                counts["replies"] += 1
                for key in ("prompt_tokens", "completion_tokens"):
                    tokens = usage.get(key)
                    counts[key] += tokens if type(tokens) is int else 0
            elif not counts["replies"]:
                return {}
    if counts["replies"]:
        return counts
    return {}


# --- Tokens of prompts ---


def estimate_tokens(text: str) -> int:
    """Estimate tokens: four letters of the Latin alphabet are one, a Chinese
    character is one.

    >>> estimate_tokens("Will it rain?"), estimate_tokens("会下雨吗")
    (4, 4)
    """
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + (len(text) - wide + 3) // 4


def describe_prompts(prompts: Sequence[str], name: str = "") -> list[str]:
    """Describe what a dry run would send, and show the first prompt, of a `name`
    if it has one.
    """
    tokens = sum(map(estimate_tokens, prompts))
    first = "the first:"
    if name:
        first = f"the first, of {printable(name, 60)}:"
    lines = [f"{len(prompts):,} prompts, about {tokens:,} tokens; {first}", ""]
    for prompt in prompts[:1]:
        lines += map(printable, prompt.split("\n"))
    if prompts:
        return lines
    return ["no prompts"]
