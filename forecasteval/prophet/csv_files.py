"""CSV files of events and their forecasts, as the records of the JSON form.

Rows of three kinds become lines about one option each: a row per option, a row per question with
the probability of Yes, and Prophet Arena's row per forecast. Lines become events and forecasts.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, islice, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import read_file
from forecasteval.common.markup import parse_expression
from forecasteval.common.records import Loaded, group_by, has_repeated_keys, parse_json
from forecasteval.common.text import csv_rows, decode_utf8

from .columns import (
    FLAGS,
    PER_CATEGORY,
    explain_result,
    find_roles,
    is_arena,
    is_of_option,
    list_unread,
    require_columns,
)
from .fields import (
    NO_FLAG,
    PENDING_WORDS,
    SHARE,
    VOID,
    VOID_WORDS,
    DataNotes,
    Refusal,
    complement,
    first_fault,
    parse_number,
)
from .times import parse_moment

MAX_LITERAL: Final = (
    1_000_000  # characters of a Python literal: parsing takes a hundred times its size
)
_MC_OPTIONS: Final = ("MC Options (All)", "MC Options (Current)", "MC Options")
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has
_LONG: Final = "more cells than columns"
DIFFER: Final = "its rows differ in options or outcome"
_NO_OPTION: Final = "its rows differ in outcome; if each is about an option, call that 'option'"
_EITHER: Final = "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
_SUM: Final = "probabilities of Yes and No do not add up to 1"
_ROUNDING: Final = 0.0101  # of a sum of two rounded to hundredths
Cells = dict[Any, Any]  # of a row by column; cells beyond the last column have the key None


class OptionLine(NamedTuple):
    """What a row says of one option; blank where it says nothing.

    Lines of an event with the same `forecast` are one forecast. `no` is the probability that it
    fails, `state` whether the result is known. `fault` is why a row gives no forecast, `cell` what
    it says there.
    """

    number: int  # where its row begins
    forecast: Hashable
    event: str
    forecaster: str
    option: str = ""
    probability: object = None
    no: str = ""
    result: str = ""
    state: str = "1"
    price: object = ""
    bid: object = ""
    time: str = ""
    closed: str = ""
    category: str = ""
    series: str = ""
    fault: str = ""
    cell: str = ""


class CsvData(NamedTuple):
    """The events and the forecasts of a CSV of so many `rows`; what is odd about the events, and
    about columns.
    """

    problems: Loaded
    forecasts: Loaded
    rows: int
    notes: DataNotes


def load_csv(path: Path) -> CsvData:
    """Read a CSV; InputError for no UTF-8, no CSV, or columns that mean no forecasts."""
    raw = read_file(path)
    text = decode_utf8(raw, str(path))
    rows = csv_rows(text, str(path), strict=False)
    _, names = next(rows, (0, list[str]()))
    header = text.strip().partition("\n")[0]
    require_columns(names, path, rows, max(",;\t", key=header.count))
    questions = _load_questions(path, names)
    columns = [*dict.fromkeys(chain(names, *islice(questions.values(), 1)))]
    roles = {} if is_arena(columns) else find_roles(columns)
    to_lines, lines, count = _choose_form(columns, roles, path), list[OptionLine](), 0
    unscored = set[str]()
    for number, cells in rows:
        if cells:
            count += 1
            row = dict(zip_longest(names, cells))
            row |= questions.get(cells[0], {})
            made = to_lines(number, row)
            lines += made
            unscored.update([] if made else cells[:1])
    by_event = group_by(lines, attrgetter("event"))
    words = {event: _list_words(own) for event, own in by_event.items()}
    is_declared = is_of_option(roles) or "option" not in roles
    are_flags = "option" not in roles or hold_flags(words.values(), is_declared)
    unread = [name for name in columns if roles and name not in roles.values()]
    problems, forecasts = dict[int, object](), dict[int, object]()  # by line
    notes = DataNotes()
    notes.lines += [printable(text, 200) for text in (list_unread(columns) if roles else ())]
    notes.warn("question of numbers or dates, not scored", sorted(unscored))
    for event, own in by_event.items():
        winners, fault = read_winners(words[event], are_flags, is_declared)
        if fault == DIFFER and roles and "option" not in roles:
            fault = _NO_OPTION
        problem = _make_problem(event, own, [*words[event]], winners, fault, notes)
        if event:
            problems[own[0].number] = problem
        for same in group_by(own, attrgetter("forecast")).values():
            forecasts[same[0].number] = _make_forecast(same, problem.get("options", ()), unread)
    sha256 = hashlib.sha256(raw).hexdigest()
    return CsvData(
        problems=Loaded(str(path), [*problems.values()], lines=[*problems]),
        forecasts=Loaded(str(path), [*forecasts.values()], sha256, [*forecasts]),
        rows=count,
        notes=notes,
    )


def _load_questions(path: Path, columns: Sequence[str]) -> dict[str, Cells]:
    """Load the questions beside Metaculus' forecasts by id, which have what came true."""
    if PER_CATEGORY not in columns or "Resolution" in columns:
        return {}
    file = path.with_name(path.name.replace("forecast_data", "question_data"))
    if file == path or not file.exists():
        expected = "expected the questions of the same download beside it, question_data.csv"
        raise InputError(str(path), expected, "none")
    rows = csv_rows(decode_utf8(read_file(file), str(file)), str(file))
    _, names = next(rows)
    return {cells[0]: dict(zip_longest(names, cells)) for _, cells in rows if cells}


# --- Rows to lines ---


def _choose_form(
    columns: Sequence[str], roles: Mapping[str, str], path: Path
) -> Callable[[int, Cells], list[OptionLine]]:
    """Choose what makes lines of a row."""
    if is_arena(columns):
        return partial(_read_arena, lru_cache(1 << 14)(_parse_market))  # most rows repeat a market
    if PER_CATEGORY in columns:
        return partial(_read_metaculus, roles, path)
    if "option" in roles:
        return lambda number, cells: [_read_option(roles, number, cells)]
    return partial(_read_question, roles, path)


def _read_option(roles: Mapping[str, str], number: int, cells: Cells) -> OptionLine:
    """Read a row about one option.

    Rows of one event, forecaster and time are one forecast. A row that is not resolved has no
    result.
    """
    known: dict[str, Any] = {role: (cells[column] or "").strip() for role, column in roles.items()}
    line = OptionLine(number, (known["forecaster"], known.get("time", "")), **known)
    state = line.state.casefold()
    if None in cells:
        line = line._replace(fault=_LONG)
    elif state and state not in FLAGS:
        fault = f"{roles['state']!r} must be true or false"
        line = line._replace(fault=fault, cell=line.state)
    return line if FLAGS.get(state) else line._replace(result="")


def _read_question(
    roles: Mapping[str, str], path: Path, number: int, cells: Cells
) -> list[OptionLine]:
    """Read a row with the probability of Yes, and No as its complement.

    No costs 1 less the bid for Yes (without one, its price), and is bid for 1 less the price.
    """
    yes = _read_option(roles, number, cells)._replace(option="Yes")
    word = yes.result.casefold()
    came_true, share = FLAGS.get(word), parse_number(yes.result)
    if abs(parse_number(yes.probability) + parse_number(yes.no) - 1) > _ROUNDING:
        yes = yes._replace(fault=_SUM, cell=f"{yes.probability} and {yes.no}")
    if word in PENDING_WORDS:
        yes = yes._replace(result="")
    elif word in VOID_WORDS:
        yes = yes._replace(fault=VOID, cell=yes.result)
    elif yes.result and came_true is None:
        reason = explain_result(roles)
        if share > 1:  # events that came true would be left out
            where = f"{path}: line {number}"
            raise InputError(where, f"{reason}, or 1 and 0: write 1 and 0", yes.result)
        yes = yes._replace(fault=SHARE if 0 < share < 1 else reason, cell=yes.result)
    return [
        yes,
        yes._replace(
            option="No",
            probability=complement(yes.probability),
            result="" if came_true is None else str(not came_true),
            price=complement(yes.bid or yes.price),
            bid=complement(yes.price) if yes.bid else "",
        ),
    ]


def _read_metaculus(
    roles: Mapping[str, str], path: Path, number: int, cells: Cells
) -> list[OptionLine]:
    """Read a row of Metaculus about Yes or about several options; none of other questions."""
    p = _parse_literal(cells[PER_CATEGORY])
    if not isinstance(p, list):
        return _read_question(roles, path, number, cells) if cells["Probability Yes"] else []
    line = _read_option(roles, number, cells)
    options = _parse_literal(next(filter(None, map(cells.get, _MC_OPTIONS)), ""))
    if not isinstance(options, list) or len(options) != len(p):
        return [line._replace(fault="expected a probability for every option")]
    return [
        line._replace(
            option=name,
            probability=given,
            result=str(line.result == name) if line.result in options else line.result,
        )
        for name, given in zip(options, p, strict=True)
        if given is not None
    ]


Sides = dict[str, tuple[str, float, float]]  # by option its result, ask and bid


def _read_arena(
    parse: Callable[[str, str], tuple[Sides, str]], number: int, cells: Cells
) -> list[OptionLine]:
    """Read a row of Prophet Arena's CSV, a forecast with its event in it."""
    sides, fault = parse(cells["market_info"] or "", cells["market_outcome"] or "")
    p = _parse_prediction(cells["prediction"])
    time = next((cells[column] for column in _SENT if cells.get(column)), "")
    line = OptionLine(
        number,
        forecast=(cells["predictor_name"], time),
        event=cells["event_ticker"] or "",
        forecaster=cells["predictor_name"] or "",
        time=time,
        closed=cells.get("close_time") or "",
        category=cells.get("category") or "",
        fault=_LONG if None in cells else fault,
    )
    if line.fault:
        return [line]
    given = p if p.keys() == sides.keys() else {}
    return [
        line._replace(
            option=option, probability=given.get(option), result=result, price=ask, bid=bid
        )
        for option, (result, ask, bid) in sides.items()
    ]


def _parse_prediction(text: str | None) -> dict[str, object]:
    """Parse probabilities by market; none of anything else."""
    said = _parse_literal(text)
    pairs = said.get("probabilities") if isinstance(said, dict) else None
    given = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    p = {str(pair.get("market")): pair.get("probability") for pair in given}
    return p if len(p) == len(given) else {}


def _parse_market(info_text: str, outcome_text: str) -> tuple[Sides, str]:
    """Parse what a row says of its options, and why nothing can be made of it; prices are cents."""
    info, outcome = _parse_literal(info_text), _parse_literal(outcome_text.strip() or "{}")
    if not info or not isinstance(info, dict) or not isinstance(outcome, dict):
        fault = "'market_info' and 'market_outcome' must be objects with a value per market"
        return {}, f"{fault}, none twice"
    results = {str(name): "" if value is None else str(value) for name, value in outcome.items()}
    sides: Sides = {}
    for name, side in info.items():
        prices = side if isinstance(side, dict) else {}
        ask, bid = (parse_number(prices.get(key)) / 100 for key in ("yes_ask", "yes_bid"))
        sides[str(name)] = results.pop(str(name), ""), ask, bid
    if any(FLAGS.get(result.casefold(), result) for result in results.values()):
        return {}, "a winner is not among the options"
    return sides, ""


def _parse_literal(text: str | None) -> Any:
    """Parse a cell's JSON or Python literal; None for anything else, and for a key given twice."""
    with contextlib.suppress(InputError):
        value = parse_json(text or "", "")
        return None if has_repeated_keys(value) else value
    if not text or len(text) > MAX_LITERAL:
        return None
    try:
        tree = parse_expression(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                if len(set(keys)) < len(keys):
                    return None
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


# --- Lines to events ---


Words = dict[str, set[bool | str]]  # by option what rows say of the result: flags, or other words


def _list_words(lines: Sequence[OptionLine]) -> Words:
    """List what the rows of an event say of its result, by option.

    Its options are what more than half of its forecasts have; of one with a result half is enough.
    """
    good = [line for line in lines if not line.fault]
    forecasts, words = len({line.forecast for line in good}), Words()
    for option, own in sorted(group_by(good, attrgetter("option")).items()):
        said = {_fold_word(line.result) for line in own if line.result}
        if 2 * len({line.forecast for line in own}) + bool(said) > forecasts:
            words[option] = said
    return words


def _fold_word(text: str) -> bool | str:
    word = text.casefold()
    return FLAGS.get(word, word)


def hold_flags(events: Iterable[Words], is_declared: bool) -> bool | None:
    """Return whether the results of a file are flags of the options, or the winner's name in every
    row; None if neither has more events.

    Flags differ between the options of an event, and are no other words.
    """
    said = [set[bool | str]().union(*words.values()) for words in events]
    flags = sum(one >= {True, False} for one in said) + is_declared
    names = sum(bool(one) and one.isdisjoint({True, False}) for one in said)
    return None if flags == names else flags > names


def read_winners(
    words: Words, are_flags: bool | None, is_declared: bool
) -> tuple[list[str] | None, str]:
    """Read who won an event, None while nobody knows; or why there is no saying.

    Flags that could be the name of an option are read if the column `is_declared` to hold flags.

    >>> read_winners({"No": {True}, "Yes": {True}}, are_flags=False, is_declared=False)
    (['Yes'], '')
    >>> read_winners({"Blue": {False}, "Red": {True}}, are_flags=True, is_declared=False)
    (['Red'], '')
    """
    said = set[bool | str]().union(*words.values())
    named = [option for option in words if _fold_word(option) in said]
    won = [option for option in words if True in words[option]]
    is_question = {option.casefold() for option in words} in ({"yes", "no"}, {"true", "false"})
    if not said or (said <= PENDING_WORDS and not named):
        return None, ""
    if said <= VOID_WORDS and not named:
        return None, VOID
    faults = {
        _EITHER: len(words) == 1 or (are_flags is None and not is_question and True in said),
        "its rows name different winners": len(said) > 1,
        "a winner is not among the options": not named,
        "its winner's name is that of several options": len(named) > 1,
    }
    if are_flags:
        faults = {
            NO_FLAG: not said <= {True, False},
            "an option without an outcome": not all(words.values()),
            DIFFER: any(len(own) > 1 for own in words.values()),
            "Yes and No have the same outcome": is_question and len(won) != 1,
            _EITHER: not is_declared and len(said) == 1 and bool(named),
        }
    return won if are_flags else named, first_fault(faults)


def _make_problem(
    event: str,
    lines: Sequence[OptionLine],
    options: Sequence[str],
    winners: list[str] | None,
    fault: str,
    notes: DataNotes,
) -> dict[str, Any]:
    """Make the record of an event of all its lines, and of its winners or why there is no saying.

    A result that cannot be read is no reason to wait for one.
    """
    good, bad = [line for line in lines if not line.fault], max(lines, key=attrgetter("fault"))
    if fault or not options or (winners is None and bad.fault and bad.result):
        cells = (line.result for line in good if line.result)
        cell = min((text for text in cells if text.casefold() not in FLAGS), default=bad.cell)
        return Refusal(fault or bad.fault or DIFFER, cell, problem_id=event)
    category, closed, series = map(
        set, zip(*((line.category, line.closed, line.series) for line in good), strict=True)
    )
    rest = "that differs between the rows of an event, the"
    differing = {
        f"category {rest} first by name counts": category,
        f"closing time {rest} latest counts": closed,
        f"series {rest} last by name counts": series - {""},
    }
    for text, values in differing.items():
        if len(values) > 1:
            notes.warn(text, [event])
    ticker = _TICKER.match(event)
    return {
        "problem_id": event,
        "category": min(category),
        "series": max(series) or (ticker and (ticker[1] or ticker[2])),  # KXMLBGAME of …-25JUL02…
        "end_date": max(closed, key=_closing_order),
        "options": options,
        "correct_answer": winners,
    }


def _closing_order(text: str) -> tuple[float, str]:
    """Sort what is no time before all times: nan is neither smaller nor larger than a number."""
    seconds, _ = parse_moment(text)
    return -math.inf if math.isnan(seconds) else seconds, text


# --- Lines to forecasts ---


def _make_forecast(
    lines: Sequence[OptionLine], options: Sequence[str], ignored: Sequence[str]
) -> dict[str, Any]:
    """Make the record of a forecast, with its values in the order of the event's options.

    `ignored` are the columns that were not read: one of them may tell forecasts apart.
    """
    first, given = lines[0], {line.option: line for line in lines}
    ids = {"problem_id": first.event, "username": first.forecaster}
    bad = max(lines, key=attrgetter("fault"))
    if bad.fault:
        return Refusal(bad.fault, bad.cell, **ids)
    if len(given) < len({(line.option, line.probability, line.price, line.bid) for line in lines}):
        unread = f" (not read: {', '.join(ignored)})" if ignored else ""
        return Refusal(f"several forecasts without a time that tells them apart{unread}", **ids)
    if options and (unknown := given.keys() - set(options)):
        name = printable(min(unknown), 60)
        return Refusal(f"an option that most forecasts of the event lack: {name}", **ids)
    ordered = [given[option] for option in options if option in given]
    return {
        **ids,
        "timestamp": first.time or None,
        "prediction": [line.probability for line in ordered if line.probability is not None],
        "odds": _list_prices([line.price for line in ordered]),
        "bids": _list_prices([line.bid for line in ordered]),
    }


def _list_prices(values: list[object]) -> list[object] | None:
    """List the prices; None if there is none."""
    return values if any(value != "" for value in values) else None
