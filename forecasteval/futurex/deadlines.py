"""What decides whether an answer is late: when its question closes, and what it says."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path

from forecasteval.benchmark import Deadline
from forecasteval.common.records import as_text, group_by, load_records

from .join import raw_answer
from .truths import is_blank, load_questions, question_id


def parse_closes(value: object) -> datetime | None:
    """Parse when a question closes, in UTC; a date is the end of its day. None for blank values.

    Raises ValueError for what is no time of ISO 8601.
    """
    if is_blank(value):
        return None
    text = str(value).strip().removesuffix(" UTC")  # as pages show it
    try:
        moment = datetime.combine(date.fromisoformat(text), time.max)
    except ValueError:
        moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def list_deadlines(dataset: Path) -> dict[str, Deadline]:
    """List by id when the questions of a dataset close, and whether they have a truth: those that
    share an id once all do.
    """
    questions = [each for each in load_questions(dataset).records if isinstance(each, Mapping)]
    return {
        name: Deadline(
            _find_closing(same), not any(is_blank(each.get("ground_truth")) for each in same)
        )
        for name, same in group_by(questions, question_id).items()
    }


def _find_closing(questions: Sequence[Mapping[str, object]]) -> datetime | None:
    """Find when the last of some questions closes. A time that is none closes nothing: `check`
    finds it.
    """
    with contextlib.suppress(ValueError, OverflowError):
        times = [time for each in questions if (time := parse_closes(each.get("closes")))]
        return max(times) if len(times) == len(questions) else None
    return None


def hash_answers(path: Path) -> dict[str, str]:
    """Hash the answers of a prediction file, by id; blank ones are none.

    Of several to one id their prompts count, too: they decide which of them is scored.
    """
    records = [
        each
        for each in load_records(path)
        if isinstance(each, Mapping) and not is_blank(raw_answer(each))
    ]
    return {
        name: _hash(
            [(as_text(raw_answer(each)), len(same) > 1 and each.get("prompt")) for each in same]
        )
        for name, same in group_by(records, question_id).items()
    }


def _hash(answers: object) -> str:
    # 16 bytes: of fewer, two answers with one hash can be searched for.
    text = repr(answers).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
