"""Lines as problems: the events of tables, their options, and what came true."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from forecasteval.common.errors import InputError
from forecasteval.common.records import group_by

from .cells import FROM_ONE, NO_OUTCOME, STATES, VOID, parse_flag, parse_number
from .events import require_count_from_0
from .fields import NO_FLAG, NUMERIC, SHARE, DataNotes, Refusal
from .lines import NO_RESULT, NOT_WINNER, PERCENT, Line, Word, fold_word
from .times import parse_moment

_TICKER: Final = re.compile(
    r"(?P<series>KX[A-Z0-9]+(?=-)|[A-Z][A-Z0-9]*(?=-\d\d[A-Z]{3}))"
)
DIFFER: Final = "its rows differ in options or outcome"
_NO_OPTION: Final = (
    "its rows differ in outcome; if each is about an option, call that 'option'"
)
_EITHER: Final = (
    "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
)
_RESULT_FAULTS: Final = frozenset({NUMERIC, VOID, SHARE, NO_RESULT})
_REST: Final = "that differs between the rows of an event, the"
# By role of which one value of an event counts, what is said of several.
_DIFFERENCES: Final = {
    "category": f"category {_REST} first by name counts",
    "closed": f"closing time {_REST} latest counts",
    "series": f"series {_REST} last by name counts",
    "exclusive": f"'exclusive' {_REST} first by name counts",
    "weight": f"weight {_REST} first by name counts",
}
# Key of a problem whose options no list has in an order
UNORDERED: Final = "is_unordered"
_MAY_BE_BLANK: Final = frozenset({"series", "exclusive", "weight"})

# By option what rows say of the result: flags, or other words
Words = dict[str, set[Word]]


def list_words(lines: Sequence[Line]) -> Words:
    """List what the rows of an event say of its result, by option.

    Its options are what more than half of its forecasts have; of one with a result half
    is enough. They are in the order of the list that a row has of them, by which others
    give probabilities.
    """
    good = [line for line in lines if not line.fault]
    forecasts: dict[str, set[Hashable]] = {}
    words = Words()
    for line in good:
        for option, _, word, _, _ in line.parts:
            forecasts.setdefault(option, set()).add(line.forecast)
            words.setdefault(option, set()).add(word)
    for of_option in words.values():
        of_option.discard("")
    total = len({line.forecast for line in good})
    shares = {
        option: 2 * len(forecasts[option]) + bool(words[option]) for option in words
    }
    listed: list[str] = []
    if "options" in lines[0].sheet.roles:
        listed = min(
            ([option for option, *_ in line.parts] for line in good), default=[]
        )
    ordered = dict.fromkeys([*listed, *sorted(words)])
    return {option: words[option] for option in ordered if shares[option] > total}


def hold_flags(events: Iterable[Words], is_declared: bool) -> bool | None:
    """Return whether the results of rows about options are flags of these, or the
    winner's name in every row; None if neither has more events.

    Flags differ between the options of an event, and are no other words. If a column
    `is_declared` to hold flags, any flag is one.
    """
    said = [set[Word]().union(*words.values()) for words in events]
    flags = sum(words >= {True, False} for words in said)
    names = sum(bool(words) and words.isdisjoint({True, False}) for words in said)
    if is_declared:
        return names < sum(map(bool, said))
    if flags == names:
        return None
    return flags > names


def read_winners(
    words: Words, are_flags: bool | None, is_declared: bool
) -> tuple[list[str] | None, str]:
    """Read who won an event, None while nobody knows; or why there is no saying.

    Flags that could be the name of an option are read if the column `is_declared`
    to hold flags.

    >>> read_winners({"No": {True}, "Yes": {True}}, are_flags=False, is_declared=False)
    (['Yes'], '')
    >>> read_winners({"Blue": {False}, "Red": {True}}, are_flags=True, is_declared=False)
    (['Red'], '')
    """  # noqa: E501
    said = set[Word]().union(*words.values())
    named = [option for option in words if fold_word(option) in said]
    if not named:
        states = {STATES.get(str(word)) for word in said}
        if states <= {NO_OUTCOME}:
            return None, ""
        if states == {VOID}:
            return None, VOID
    is_question = {option.casefold() for option in words} in (
        {"yes", "no"},
        {"true", "false"},
    )
    if are_flags:
        won = [option for option in words if True in words[option]]
        may_be_name = not is_declared and len(said) == 1 and bool(named)
        return won, _find_flag_fault(
            words, said, is_question and len(won) != 1, may_be_name
        )
    may_be_flag = are_flags is None and not is_question and True in said
    if len(words) == 1 or may_be_flag:
        return named, _EITHER
    return named, _find_name_fault(said, named)


def _find_flag_fault(
    words: Words, said: set[Word], is_odd: bool, may_be_name: bool
) -> str:
    """Find why flags do not say which options came true; "" if they do."""
    if not said <= {True, False}:
        return NO_FLAG
    if not all(words.values()):
        return "an option without an outcome"
    if any(len(of_option) > 1 for of_option in words.values()):
        return DIFFER
    if is_odd:
        return "Yes and No have the same outcome"
    if may_be_name:
        return _EITHER
    return ""


def _find_name_fault(said: set[Word], named: Sequence[str]) -> str:
    """Find why names do not say which option came true; "" if they do."""
    if len(said) > 1:
        return "its rows name different winners"
    if not named:
        return NOT_WINNER
    if len(named) > 1:
        return "its winner's name is that of several options"
    return ""


def make_problems(lines: Sequence[Line], notes: DataNotes) -> dict[str, dict[str, Any]]:
    """Make the records of the events of lines, by id."""
    faulty = [line for line in lines if line.fault]
    for line in faulty:
        # Of 100 and 0 those that came true would be left out.
        if line.fault == PERCENT:
            place = f"{line.sheet.where}: line {line.sheet.find_line(line.row)}"
            raise InputError(place, PERCENT, line.cell)
    from_one = {
        line.sheet.events[line.row] for line in faulty if line.fault == FROM_ONE
    }
    if from_one and not any(parse_number(line.value("index")) == 0 for line in lines):
        require_count_from_0(lines[0].sheet.where, from_one)
    by_event = group_by(lines, lambda line: line.sheet.events[line.row])
    by_event.pop("", None)
    words = {event: list_words(of_event) for event, of_event in by_event.items()}
    is_declared = any("won" in sheet.roles for sheet in {line.sheet for line in lines})
    by_option = [
        words[event] for event, of_event in by_event.items() if not of_event[0].is_flag
    ]
    are_flags = hold_flags(by_option, is_declared)
    problems = {}
    for event, of_event in by_event.items():
        is_flag = of_event[0].is_flag
        winners, fault = read_winners(
            words[event], is_flag or are_flags, is_flag or is_declared
        )
        problems[event] = _make_problem(
            event, of_event, [*words[event]], winners, fault, notes
        )
    return problems


def _make_problem(
    event: str,
    lines: Sequence[Line],
    options: Sequence[str],
    winners: list[str] | None,
    fault: str,
    notes: DataNotes,
) -> dict[str, Any]:
    """Make the record of an event of all its lines, and of its winners or why
    there is no saying.

    A result that cannot be read is no reason to wait for one.
    """
    good = [line for line in lines if not line.fault]
    bad = max(lines, key=attrgetter("fault"))
    result_fault = next((line for line in lines if line.fault in _RESULT_FAULTS), None)
    if result_fault and not good:
        return Refusal(result_fault.fault, result_fault.cell, problem_id=event)
    is_question = (
        lines[0].sheet.roles.keys().isdisjoint({"option", "options", "markets"})
    )
    if result_fault or (fault == DIFFER and is_question):
        fault = _NO_OPTION
    if fault or not options:
        return Refusal(
            fault or bad.fault or DIFFER, _find_cell(good) or bad.cell, problem_id=event
        )

    said = {role: _list_said(good, role) for role in _DIFFERENCES}
    for role, text in _DIFFERENCES.items():
        counted = said[role]
        if role in _MAY_BE_BLANK:
            counted = counted - {""}
        if len(counted) > 1:
            notes.warn(text, [event])
    exclusive = min(said["exclusive"])
    problem: dict[str, Any] = {
        "problem_id": event,
        "options": options,
        "correct_answer": winners,
    }
    problem[UNORDERED] = "options" not in lines[0].sheet.roles
    problem["title"] = good[0].value("title")
    problem["category"] = min(said["category"])
    problem["series"] = max(said["series"]) or _find_series(event)
    problem["end_date"] = max(said["closed"], key=_closing_order)
    problem["exclusive"] = parse_flag(exclusive)
    if problem["exclusive"] is None:
        problem["exclusive"] = exclusive or None
    problem["weight"] = min(said["weight"] - {""}, default=None)
    return problem


def _find_series(event: str) -> str:
    """Find the series in a ticker: KXMLBGAME of KXMLBGAME-25JUL02SEANYY; ""
    if it is none.
    """
    ticker = _TICKER.match(event)
    return ticker["series"] if ticker else ""


def _list_said(lines: Sequence[Line], role: str) -> set[str]:
    """List what the rows of an event say in a role."""
    if all(role not in sheet.roles for sheet in {line.sheet for line in lines}):
        return {""}
    return {line.sheet.texts(role)[line.row] for line in lines}


def _find_cell(lines: Sequence[Line]) -> str:
    """Find what rows say of results besides flags."""
    words = {word for line in lines for _, _, word, _, _ in line.parts}
    return min((word for word in words if isinstance(word, str) and word), default="")


def _closing_order(text: str) -> tuple[float, str]:
    """Sort what is no time before all times: nan is neither smaller nor larger
    than a number.
    """
    seconds, _ = parse_moment(text)
    if math.isnan(seconds):
        return -math.inf, text
    return seconds, text
