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
    # Rows with a reason are such rows; the `answer` of others is the truth of a dataset.
    decided = {
        str(row.get("id")) for row in rows if "reason" in row and row.get("answer") is not None
    }
    indices: dict[str, set[Any]] = {}
    unread: list[dict[str, Any]] = []
    notes = RecordNotes()
    for number, row in enumerate(rows, 1):
        if (given := row.get("custom_id", row.get("id"))) is None:
            notes["reply without id, not used"].append(f"record {number}")
            continue
        name, is_unread = str(given), "reason" in row
        if is_unread != (name in decided):
            continue
        fields = ["answer"] if is_unread else _REPLY_FIELDS.split(", ")
        reply = next((row[key] for key in fields if row.get(key) is not None), None)
        found = indices.setdefault(name, set())
        for text in reply_texts(reply):
            index, reason = parse_reply(text)
            if not reason:
                found.add(index)
            if text is reply is None:
                reason = NO_REPLY
            if len(found) > 1:
                reason = CONFLICT
            if reason:
                notes[f"{reason}, left out"].append(name)
                unread.append({"id": name, "reason": reason, "text": as_text(text), "answer": None})
    clear = {name: found.pop() for name, found in indices.items() if len(found) == 1}
    return clear, notes.lines(), unread
