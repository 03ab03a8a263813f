"""Picks: the option indices of replies by question id, and the replies that state none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from forecasteval.common.errors import RecordNotes
from forecasteval.common.records import as_text
from forecasteval.common.replies import reply_texts

from .replies import CONFLICT, parse_reply

_REPLY_FIELDS: Final = "reply, response, output, completion, text, content"
NO_REPLY: Final = f"no reply ({_REPLY_FIELDS})"


def parse_replies(
    records: Iterable[object],
) -> tuple[dict[str, int], list[str], list[dict[str, Any]]]:
    """Read the index of each id, warnings, and the replies without an index, of rows of replies.

    These are rows `{id, reason, text, answer: null}`. One whose answer was filled in decides its
    id, whatever other rows say.
    """
    rows = [record if isinstance(record, Mapping) else {} for record in records]
    answers: dict[str, list[object]] = {}
    for row in rows:  # a row without a reason is a dataset's, and its answer the truth
        if "reason" in row and row.get("answer") is not None:
            answers.setdefault(str(row.get("id")), []).append(row["answer"])
    fields = _REPLY_FIELDS.split(", ")
    indices: dict[str, set[Any]] = {}
    unread: list[dict[str, Any]] = []
    notes = RecordNotes()
    for number, row in enumerate(rows, 1):
        if (given := row.get("custom_id", row.get("id"))) is None:
            notes["reply without id, not used"].append(f"record {number}")
            continue
        found = indices.setdefault(name := str(given), set())
        reply = next((row[key] for key in fields if row.get(key) is not None), None)
        for text in answers.get(name) or reply_texts(reply):
            index, reason = parse_reply(text)
            found.update([index] * (not reason))
            reason = CONFLICT if len(found) > 1 else NO_REPLY if text is reply is None else reason
            if reason:
                notes[f"{reason}, left out"].append(name)
                unread.append({"id": name, "reason": reason, "text": as_text(text), "answer": None})
    clear = {name: found.pop() for name, found in indices.items() if len(found) == 1}
    return clear, notes.lines(), unread
