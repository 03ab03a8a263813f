"""What decides whether an answer is late: when its question closes, and what it says."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path

from forecasteval.common.records import as_text, load_records

from .join import raw_answer
from .truths import is_blank, load_questions, question_id


def parse_closes(value: object) -> datetime | None:
    """Parse when a question closes, in UTC; a date is the end of its day. None for blank values.

    Raises ValueError for what is no time of ISO 8601.
    """
    if is_blank(value):
        return None
    text = str(value).strip()
    try:
        moment = datetime.combine(date.fromisoformat(text), time.max)
    except ValueError:
        moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def list_deadlines(dataset: Path) -> dict[str, datetime | None]:
    """List by id when the questions of a dataset close, in UTC; None for one that does not. Those
    that share an id close when the last one does. A time that is none closes nothing: `check`
    finds it.
    """
    deadlines: dict[str, datetime | None] = {}
    for question in load_questions(dataset).records:
        if isinstance(question, Mapping):
            closes: datetime | None = None
            with contextlib.suppress(ValueError, OverflowError):
                closes = parse_closes(question.get("closes"))
            name = question_id(question)
            other = deadlines.get(name, closes)
            deadlines[name] = max(closes, other) if closes and other else None
    return deadlines


def hash_answers(path: Path) -> dict[str, str]:
    """Hash the answers of a prediction file, by id, those to one id together; blank ones are
    none.
    """
    answers: dict[str, str] = {}
    for record in load_records(path):
        if isinstance(record, Mapping) and not is_blank(raw := raw_answer(record)):
            name = question_id(record)
            text = f"{answers.get(name, '')} {as_text(raw)}".encode("utf-8", "surrogatepass")
            # 16 bytes: of fewer, two answers with one hash can be searched for.
            answers[name] = hashlib.blake2b(text, digest_size=16).hexdigest()
    return answers
