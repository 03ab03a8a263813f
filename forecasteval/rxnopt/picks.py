"""Picks: the option indices of replies by question id, and the replies that state none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import RecordNotes
from forecasteval.common.records import as_text
from forecasteval.common.replies import reply_texts

from .replies import CONFLICT, parse_reply

_REPLY_FIELDS: Final = ("reply", "response", "output", "completion", "text", "content")
NO_REPLY: Final = f"no reply ({', '.join(_REPLY_FIELDS)})"


class Picks(NamedTuple):
    """The index of each id, warnings, and a row `{id, reason, text, answer: null}` for each reply
    that was left out.
    """

    indices: dict[str, int]
    warnings: list[str]
    unread: list[dict[str, Any]]


def parse_replies(records: Iterable[object]) -> Picks:
    """Read the picks of records with an id and a reply.

    A row of `unread` whose answer was filled in decides its id, whatever other rows say.
    """
    rows = [record if isinstance(record, Mapping) else {} for record in records]
    answered = {str(row.get("id")) for row in rows if _is_answered(row)}
    picks = Picks({}, [], [])
    conflicting: set[str] = set()
    notes = RecordNotes()
    for number, row in enumerate(rows, 1):
        if (given := row.get("custom_id", row.get("id"))) is None:
            notes["reply without id, not used"].append(f"record {number}")
            continue
        name = str(given)
        fields = ("answer",) if _is_answered(row) else () if name in answered else _REPLY_FIELDS
        replies = [row[field] for field in fields if row.get(field) is not None]
        for text in reply_texts(replies[0]) if replies else [None] * bool(fields):
            index, reason = parse_reply(text) if replies else (None, NO_REPLY)
            if index is not None and picks.indices.setdefault(name, index) != index:
                reason = CONFLICT
                conflicting.add(name)
            if reason:
                notes[f"{reason}, left out"].append(name)
                row = {"id": name, "reason": reason, "text": as_text(text), "answer": None}
                picks.unread.append(row)
    clear = {name: index for name, index in picks.indices.items() if name not in conflicting}
    return picks._replace(indices=clear, warnings=notes.lines())


def _is_answered(row: Mapping[str, Any]) -> bool:
    """Return whether a row of `unread` has an answer; the `answer` of a dataset is its truth."""
    return "reason" in row and row.get("answer") is not None
