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
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import csv_rows, decode_utf8, read_file
from forecasteval.common.records import Loaded, group_by, has_repeated_keys, parse_json

from .columns import (
    FLAGS,
    explain_result,
    find_roles,
    is_arena,
    is_of_option,
    list_unread,
    require_columns,
)
from .fields import Refusal, parse_moment, parse_number

MAX_LITERAL: Final = (
    1_000_000  # characters of a Python literal: parsing takes a hundred times its size
)
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has
_LONG: Final = "more cells than columns"
_DIFFER: Final = "its rows differ in options or outcome"
_EITHER: Final = "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
_MIXED: Final = "its result means something else than those of most events"
_SHARE: Final = "resolved to a share, neither Yes nor No"
_SUM: Final = "probabilities of Yes and No do not add up to 1"
_ROUNDING: Final = 0.0101  # of a sum of two rounded to hundredths
Cells = dict[Any, Any]  # of a row by column; cells beyond the last column have the key None


class OptionLine(NamedTuple):
    """What a row says of one option; blank where it says nothing.

    Lines of an event with the same `forecast` are one forecast. `result` is a bool where the row
    can only mean its option. `fault` is why a row gives no forecast, `cell` what it says there.
    """

    number: int  # where its row begins
    forecast: Hashable
    event: str
    forecaster: str
    option: str = ""
    probability: object = None
    result: bool | str = ""
    price: object = ""
    bid: object = ""
    time: str = ""
    closed: str = ""
    category: str = ""
    series: str = ""
    fault: str = ""
    cell: str = ""


class CsvData(NamedTuple):
    """The events and the forecasts of a CSV of so many `rows`.

    `odd` are (what is odd, event), `unread` are lines about columns.
    """

    problems: Loaded
    forecasts: Loaded
    rows: int
    odd: list[tuple[str, str]]
    unread: list[str]


def load_csv(path: Path) -> CsvData:
    """Read a CSV; InputError for no UTF-8, no CSV, or columns that mean no forecasts."""
    raw = read_file(path)
    text = decode_utf8(raw, str(path))
    rows = csv_rows(text, str(path), strict=False)
    _, columns = next(rows, (0, list[str]()))
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        got = f"{printable(twice[0], 60)} twice"
        raise InputError(str(path), "expected columns of different names", got)
    header = text.strip().partition("\n")[0]
    require_columns(columns, path, rows, max(",;\t", key=header.count))
    to_lines, lines, count = _choose_form(columns), list[OptionLine](), 0
    for number, cells in rows:
        if cells:
            count += 1
            lines += to_lines(number, dict(zip_longest(columns, cells)))
    roles = {} if is_arena(columns) else find_roles(columns)
    ignored = [name for name in columns if roles and name not in roles.values()]
    by_event = group_by(lines, attrgetter("event"))
    options = {event: _find_options(own, not roles) for event, own in by_event.items()}
    results = {
        event: read_result(options[event], [(line.option, line.result) for line in own])
        for event, own in by_event.items()
    }
    settled = dict(
        zip(results, _settle_results(options, results, is_of_option(roles)), strict=True)
    )
    unclear = explain_result(roles) if roles and "option" not in roles else ""
    problems: list[tuple[int, object]] = []
    forecasts: list[tuple[int, object]] = []
    odd: list[tuple[str, str]] = []
    for event, own in by_event.items():
        problem = _make_problem(event, own, options[event], settled[event], odd)
        if unclear and settled[event][1] and isinstance(problem, Refusal) and problem.cell:
            said = parse_number(problem.cell)
            problem.reason = _SHARE if 0 < said < 1 else unclear
            if said > 1:  # events that came true would be left out
                where = f"{path}: line {own[0].number}"
                raise InputError(where, f"{unclear}, or 1 and 0: write 1 and 0", problem.cell)
        if event:
            problems.append((own[0].number, problem))
        for same in group_by(own, attrgetter("forecast")).values():
            record = _make_forecast(same, problem.get("options", ()), ignored)
            forecasts.append((same[0].number, record))
    return CsvData(
        problems=_list_records(path, problems),
        forecasts=_list_records(path, forecasts, hashlib.sha256(raw).hexdigest()),
        rows=count,
        odd=odd,
        unread=[printable(text, 200) for text in (list_unread(columns) if roles else ())],
    )


def _list_records(path: Path, pairs: Sequence[tuple[int, object]], sha256: str = "") -> Loaded:
    lines, records = [line for line, _ in pairs], [record for _, record in pairs]
    return Loaded(str(path), records, sha256, lines)


# --- Rows to lines ---


def _choose_form(columns: Sequence[str]) -> Callable[[int, Cells], list[OptionLine]]:
    """Choose what makes lines of a row."""
    if is_arena(columns):
        return partial(_read_arena, lru_cache(1 << 14)(_parse_market))  # most rows repeat a market
    roles = find_roles(columns)
    if "option" in roles:
        return lambda number, cells: [_read_option(roles, number, cells)[0]]
    return partial(_read_question, roles)


def _read_option(roles: Mapping[str, str], number: int, cells: Cells) -> tuple[OptionLine, str]:
    """Read a row about one option, and its probability of No.

    Rows of one event, forecaster and time are one forecast. A row that is not resolved has no
    result.
    """
    known: dict[str, Any] = {role: (cells[column] or "").strip() for role, column in roles.items()}
    state, no = known.pop("state", "1"), known.pop("no", "")
    if is_of_option(roles):
        known["result"] = FLAGS.get(known["result"].casefold(), known["result"])
    if not FLAGS.get(state.casefold()):
        known["result"] = ""
    line = OptionLine(number, (known["forecaster"], known.get("time", "")), **known)
    if None in cells:
        line = line._replace(fault=_LONG)
    elif state and state.casefold() not in FLAGS:
        line = line._replace(fault=f"{roles['state']!r} must be true or false", cell=state)
    return line, no


def _read_question(roles: Mapping[str, str], number: int, cells: Cells) -> list[OptionLine]:
    """Read a row with the probability of Yes, and No as its complement.

    No costs 1 less the bid for Yes (without one, its price), and is bid for 1 less the price.
    """
    yes, no = _read_option(roles, number, cells)
    p, price, bid = (parse_number(value) for value in (yes.probability, yes.price, yes.bid))
    sold = price if math.isnan(bid) else bid
    ask = 1 - sold if sold <= 1 else sold  # not of cents, of which notes tell
    result = FLAGS.get(str(yes.result).casefold(), yes.result)
    if abs(p + parse_number(no) - 1) > _ROUNDING:
        yes = yes._replace(fault=_SUM, cell=f"{yes.probability} and {no}")
    return [
        yes._replace(option="Yes", result=result),
        yes._replace(
            option="No",
            probability=1 - p if 0 <= p <= 1 else yes.probability,
            result=not result if isinstance(result, bool) else result,
            price="" if math.isnan(ask) else ask,
            bid="" if math.isnan(bid) or math.isnan(price) else 1 - price,
        ),
    ]


Sides = dict[str, tuple[bool | str, float, float]]  # by option its result, ask and bid


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
    given = p if p is not None and p.keys() == sides.keys() else {}
    return [
        line._replace(
            option=option, probability=given.get(option), result=result, price=ask, bid=bid
        )
        for option, (result, ask, bid) in sides.items()
    ]


def _parse_prediction(text: str | None) -> dict[str, object] | None:
    """Parse probabilities by market; None for anything else."""
    said = _parse_literal(text)
    pairs = said.get("probabilities") if isinstance(said, dict) else None
    given = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    p = {str(pair.get("market")): pair.get("probability") for pair in given}
    return p if len(p) == len(given) else None


def _parse_market(info_text: str, outcome_text: str) -> tuple[Sides, str]:
    """Parse what a row says of its options, and why nothing can be made of it; prices are cents."""
    info, outcome = _parse_literal(info_text), _parse_literal(outcome_text)
    outcome = outcome or ({} if outcome_text.strip() in ("", "{}") else None)
    if not info or not isinstance(info, dict) or not isinstance(outcome, dict):
        fault = "'market_info' and 'market_outcome' must be objects with a value per market"
        return {}, f"{fault}, none twice"
    known = {str(name): value for name, value in outcome.items() if value not in ("", None)}
    flags = {
        name: parse_number(int(value) if isinstance(value, bool) else value)
        for name, value in known.items()
    }
    options = {str(name): side if isinstance(side, dict) else {} for name, side in info.items()}
    if any(flag not in (0, 1) for flag in flags.values()):
        return {}, "an outcome is neither 0 nor 1"
    if any(flag and name not in options for name, flag in flags.items()):
        return {}, "a winner is not among the options"
    return {
        name: (
            bool(flags[name]) if name in flags else "",
            parse_number(side.get("yes_ask")) / 100,
            parse_number(side.get("yes_bid")) / 100,
        )
        for name, side in options.items()
    }, ""


def _parse_literal(text: str | None) -> Any:
    """Parse a cell's JSON or Python literal; None for anything else, and for a key given twice."""
    with contextlib.suppress(InputError):
        value = parse_json(text or "", "")
        return None if has_repeated_keys(value) else value
    if not text or len(text) > MAX_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence", about a stranger's text
            tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                if len(set(keys)) < len(keys):
                    return None
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


# --- Lines to events ---


def _find_options(lines: Iterable[OptionLine], are_listed: bool) -> list[str]:
    """List the options that more than half of an event's forecasts have.

    For one with a result a half is enough, unless every row lists them all: then none are known.
    """
    good = [line for line in lines if not line.fault]
    forecasts, options = len({line.forecast for line in good}), list[str]()
    for option, own in group_by(good, attrgetter("option")).items():
        count = len({line.forecast for line in own})
        if are_listed and 2 * count == forecasts:
            return []
        if 2 * count + any(line.result != "" for line in own) > forecasts:
            options.append(option)
    return sorted(options)


class Result(NamedTuple):
    """Who won if the results of an event's rows are `flags` of the options, and who if they are the
    winner's `name`; None where they cannot be. `fault` is why they are neither.
    """

    flags: list[str] | None = None
    name: list[str] | None = None
    fault: str = ""


def read_result(options: Sequence[str], said: Iterable[tuple[str, bool | str]]) -> Result:
    """Read what the rows of an event say of its winner, as pairs of an option and a result.

    The same word on both rows of a question of Yes and No is the question's result, as both cannot
    come true.

    >>> read_result(["No", "Yes"], [("No", "yes"), ("Yes", "no")]).flags
    ['No']
    >>> read_result(["No", "Yes"], [("No", "yes"), ("Yes", "yes")]).name
    ['Yes']
    >>> read_result(["0", "1"], [("0", "1"), ("1", "1")])
    Result(flags=['0', '1'], name=['1'], fault='')
    """
    results: dict[str, set[bool | str]] = {option: set() for option in options}
    for option, result in said:
        if result != "" and option in results:
            results[option].add(result.casefold() if isinstance(result, str) else result)
    words = set[bool | str]().union(*results.values())
    values = {word: FLAGS.get(word) if isinstance(word, str) else word for word in words}
    if not words:
        return Result()
    named = [option for option in options if option.casefold() in words]
    if set(values.values()) == {None}:
        faults = {
            "its rows name different winners": len(words) > 1,
            "its winner's name is that of several options": len(named) > 1,
            "a winner is not among the options": not named,
        }
        fault = next((fault for fault, found in faults.items() if found), "")
        return Result(fault=fault) if fault else Result(name=named)
    if None in values.values():
        return Result(fault="an outcome is neither 0 nor 1")
    flags = {option: {values[word] for word in own} for option, own in results.items()}
    if not all(flags.values()):
        return Result(fault="an option without an outcome")
    if any(len(own) > 1 for own in flags.values()):
        return Result(fault=_DIFFER)
    won = [option for option in options if True in flags[option]]
    if 0 < len(won) < len(options):
        return Result(flags=won)
    meant = [FLAGS.get(option.casefold()) for option in options]
    if sorted(map(str, meant)) == ["False", "True"] and not {"0", "1"} & words.intersection(named):
        if words & {True, False}:
            return Result(fault="Yes and No have the same outcome")
        return Result(name=[options[meant.index(bool(won))]])
    return Result(flags=won, name=named if len(named) == 1 else None)


def _settle_results(
    options: Mapping[str, Sequence[str]], results: Mapping[str, Result], is_of_option: bool
) -> Iterator[tuple[list[str] | None, str]]:
    """Settle who won each event, None while nobody knows; or why nobody can say.

    A column means one thing in the whole file: what more of the events can only mean. Flags that
    differ in no event may be something else, as the place of the winner.
    """
    known = [(result.name is None) - (result.flags is None) for result in results.values()]
    side = sum(known)  # above 0 if the results are flags, below if they are names
    differ = is_of_option or any(
        0 < len(result.flags or ()) < len(options[event]) for event, result in results.items()
    )
    for event, (flags, name, fault) in results.items():
        is_alike = len(options[event]) > 1 and len(flags or ()) in (0, len(options[event]))
        if flags is not None and (flags != (name or flags) or (is_alike and not differ)):
            yield None, _EITHER
        elif (flags is None) != (name is None) and side * (1 if name is None else -1) <= 0:
            yield None, _MIXED
        else:
            yield flags if name is None else name, fault


def _make_problem(
    event: str,
    lines: Sequence[OptionLine],
    options: Sequence[str],
    settled: tuple[list[str] | None, str],
    odd: list[tuple[str, str]],
) -> dict[str, Any]:
    """Make the record of an event of all its lines, and of its winners or why there is no saying;
    what is odd about it goes to `odd`.
    """
    winners, fault = settled
    good = [line for line in lines if not line.fault]
    if fault or not options:
        first = min(lines, key=attrgetter("fault"))
        said = [line.result for line in good if line.result and isinstance(line.result, str)]
        cell = min(said, default=first.cell)
        return Refusal(fault or first.fault or _DIFFER, cell, problem_id=event)
    category, closed, series = (
        {getattr(line, name) for line in good} for name in ("category", "closed", "series")
    )
    rest = "that differs between the rows of an event, the"
    if len(category) > 1:
        odd.append((f"category {rest} first by name counts", event))
    if len(closed) > 1:
        odd.append((f"closing time {rest} latest counts", event))
    if len(series - {""}) > 1:
        odd.append((f"series {rest} last by name counts", event))
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
