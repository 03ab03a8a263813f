"""What decides whether an answer is late: when its question closes, and what it says."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path

from forecasteval.benchmark import Deadline
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


def list_deadlines(dataset: Path) -> dict[str, Deadline]:
    """List by id when the questions of a dataset close. Those that share an id close when the last
    one does. A time that is none closes nothing: `check` finds it.
    """
    deadlines: dict[str, Deadline] = {}
    for question in load_questions(dataset).records:
        if isinstance(question, Mapping):
            closes: datetime | None = None
            with contextlib.suppress(ValueError, OverflowError):
                closes = parse_closes(question.get("closes"))
            name = question_id(question)
            has_truth = not is_blank(question.get("ground_truth"))
            other = deadlines.get(name, Deadline(closes, has_truth))
            last = max(closes, other.closes) if closes and other.closes else None
            deadlines[name] = Deadline(last, has_truth and other.has_truth)
    return deadlines


def hash_answers(path: Path) -> dict[str, str]:
    """Hash the answers of a prediction file, by id; blank ones are none.

    Of several to one id their prompts count, too: they decide which of them is scored.
    """
    answers: dict[str, list[tuple[str, object]]] = {}
    for record in load_records(path):
        if isinstance(record, Mapping) and not is_blank(raw := raw_answer(record)):
            answers.setdefault(question_id(record), []).append((as_text(raw), record.get("prompt")))
    return {
        name: _hash(same[0][0] if len(same) == 1 else repr(same)) for name, same in answers.items()
    }


def _hash(text: str) -> str:
    # 16 bytes: of fewer, two answers with one hash can be searched for.
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
