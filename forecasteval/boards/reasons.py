"""Why something changed: a code with data, as the history stores it, and its words.

To add a reason, add its code and words to `_WORDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.records import group_by
from forecasteval.ranking.files import label_dataset

# The code of a system that only moved because others did.
OTHERS: Final = "others"
_MAX_NAMED_DATASETS: Final = 2  # more are only counted

_WORDS: Final = {
    # A system on a dataset, or over all of them:
    "new": "new",
    "removed": "removed",
    "withdrawn": "withdrawn by the owner of the board",
    "left": "no longer in its file",
    "all_late": "all its forecasts came late",
    "not_counted": "none of its forecasts counts",
    "returned": "in its file again",
    "rules": "other rules or version",
    "answers": "new answers",
    "answers_of_set": "new answers in its set",  # of forecasters, who share one result
    "answers_gone": "{count} closed answer{s} removed",
    "forecasts_gone": "{count} closed forecast{s} changed or removed",
    "renamed": "renamed",
    "renamed_in_set": "renamed in its set",
    "late": "other late answers",
    "degraded": "degraded",
    "not_degraded": "no longer degraded",
    "unscored": "not scored: no rank",
    "scored": "scored again",
    "baseline": "a baseline: no rank",
    "no_baseline": "no baseline any more: ranked",
    "ranked": "in {count} of {total} datasets: ranked",
    "unranked": "in {count} of {total} datasets: no rank",
    "no_table": "no table over all datasets",
    OTHERS: "others moved",
    # The questions of a dataset:
    "corrected": "{count} truth{s} corrected",
    "no_truth": "{count} truth{s} withdrawn",
    "truths": "{count} more truth{s}",
    "void": "{count} question{s} void",
    "valid": "{count} question{s} no longer void",
    "questions_new": "{count} new question{s}",
    "questions_removed": "{count} question{s} removed",
    "std": "{count} Std changed",
    "questions_changed": "{count} question{s} changed",
    "questions": "other questions or truths",  # nothing more is known
    "resolved": "{count} of {total} known",
    "all_pending": "all truths withdrawn",
    "all_void": "all questions void",
    "to_score": "{count} question{s} to score again",
}


@dataclass(frozen=True)
class Reason:
    """A reason by its code, with what its words need.

    datasets: those of a reason of a table over all datasets.
    """

    code: str
    count: int | None = None
    total: int | None = None
    datasets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ChangedQuestion:
    """A question of a changed kind, with its truth or Std before and now
    where these differ.
    """

    id: str
    before: str | None = None
    now: str | None = None


@dataclass(frozen=True)
class QuestionChange:
    """A kind of change of a dataset's questions: a code, how many there are, and
    the first ones.
    """

    code: str
    count: int
    questions: list[ChangedQuestion]


def describe_question_changes(changes: Sequence[QuestionChange]) -> str:
    """Describe what happened to questions, which are named.

    >>> change = QuestionChange("corrected", 2, [ChangedQuestion("q1", "A", "B")])
    >>> describe_question_changes([change])
    '2 truths corrected: q1 (A → B) and 1 more'
    """
    return "; ".join(map(_describe_question_change, changes))


def _describe_question_change(change: QuestionChange) -> str:
    names = ", ".join(map(_name_question, change.questions))
    left = change.count - len(change.questions)
    more = f" and {left} more" if left > 0 else ""
    return f"{_describe(Reason(change.code, change.count))}: {names}{more}"


def _name_question(question: ChangedQuestion) -> str:
    if question.before == question.now:
        return question.id
    before, now = (
        "–" if value is None else value for value in (question.before, question.now)
    )
    return f"{question.id} ({before} → {now})"


def describe_reasons(reasons: Sequence[Reason]) -> str:
    """Describe all reasons of a change.

    >>> describe_reasons([Reason("answers"), Reason("corrected", 2)])
    'new answers, 2 truths corrected'
    >>> describe_reasons([Reason("new", datasets=["w1.json"]), Reason("ranked", 6, 12)])
    'w1 new; in 6 of 12 datasets: ranked'
    """
    groups = group_by(reasons, lambda reason: tuple(reason.datasets))
    texts = [
        " ".join(
            filter(None, [format_datasets(datasets), ", ".join(map(_describe, group))])
        )
        for datasets, group in groups.items()
    ]
    return "; ".join(texts)


def _describe(reason: Reason) -> str:
    """Describe a reason; a later version may have written a code that is not known."""
    words = _WORDS.get(reason.code, printable(reason.code, 60))
    plural = "" if reason.count == 1 else "s"
    return words.format(count=reason.count, total=reason.total, s=plural)


def format_datasets(names: Iterable[str]) -> str:
    """Name up to two datasets; count them if there are more.

    >>> format_datasets(["250915.json", "250922.json", "250915.json"]), format_datasets("abc")
    ('250915, 250922', '3 datasets')
    """  # noqa: E501
    labels = dict.fromkeys(map(label_dataset, names))
    if len(labels) > _MAX_NAMED_DATASETS:
        return f"{len(labels)} datasets"
    return ", ".join(labels)
