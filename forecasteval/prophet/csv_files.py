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
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import csv_rows, decode_utf8, read_file
from forecasteval.common.records import Loaded, group_by, has_repeated_keys, parse_json

from .columns import find_roles, is_arena, is_of_option, list_unread, require_columns
from .fields import Refusal, parse_moment, parse_number

MAX_LITERAL: Final = (
    1_000_000  # characters of a Python literal: parsing takes a hundred times its size
)
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has
_LONG: Final = "more cells than columns"
_DIFFER: Final = "its rows differ in options or outcome"
_EITHER: Final = "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
_FLAGS: Final = {
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "no"), False),
}
Cells = dict[Any, Any]  # of a row by column; cells beyond the last column have the key None


class OptionLine(NamedTuple):
    """What a row says of one option; blank where it says nothing.

    Lines of an event with the same `forecast` are one forecast. `result` is a bool where the row
    can only mean its option. `listed` are all options of a row with several, `fault` is why a row
    gives no forecast.
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
    listed: tuple[str, ...] = ()
    fault: str = ""


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
    rows = csv_rows(decode_utf8(raw, str(path)), str(path), strict=False)
    _, columns = next(rows, (0, list[str]()))
    require_columns(columns, path)
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        got = f"{printable(twice[0], 60)} twice"
        raise InputError(str(path), "expected columns of different names", got)
    to_lines, lines, count = _choose_form(columns), list[OptionLine](), 0
    for number, cells in rows:
        if cells:
            count += 1
            lines += to_lines(number, dict(zip_longest(columns, cells)))
    problems: list[tuple[int, object]] = []
    forecasts: list[tuple[int, object]] = []
    odd: list[tuple[str, str]] = []
    for event, own in group_by(lines, attrgetter("event")).items():
        problem = _make_problem(event, own, odd)
        if event:
            problems.append((own[0].number, problem))
        for said in group_by(own, attrgetter("forecast")).values():
            record = _make_forecast(said, problem.get("options", ()))
            forecasts.append((said[0].number, record))
    unread = [] if is_arena(columns) else list_unread(columns)
    return CsvData(
        problems=_list_records(path, problems),
        forecasts=_list_records(path, forecasts, hashlib.sha256(raw).hexdigest()),
        rows=count,
        odd=odd,
        unread=[printable(text, 200) for text in unread],
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
    return partial(_read_option if "option" in roles else _read_question, roles)


def _read_option(roles: Mapping[str, str], number: int, cells: Cells) -> list[OptionLine]:
    """Read a row about one option; those of one event, forecaster and time are one forecast."""
    known: dict[str, Any] = {role: (cells[column] or "").strip() for role, column in roles.items()}
    if is_of_option(roles):
        known["result"] = _FLAGS.get(known["result"].casefold(), known["result"])
    key = known["forecaster"], known.get("time", "")
    return [OptionLine(number, key, fault=_LONG if None in cells else "", **known)]


def _read_question(roles: Mapping[str, str], number: int, cells: Cells) -> list[OptionLine]:
    """Read a row with the probability of Yes, and No as its complement.

    No costs 1 less the bid for Yes (without one, its price), and is bid for 1 less the price.
    """
    [yes] = _read_option(roles, number, cells)
    p, price, bid = (parse_number(value) for value in (yes.probability, yes.price, yes.bid))
    sold = price if math.isnan(bid) else bid
    ask = 1 - sold if sold <= 1 else sold  # not of cents, of which notes tell
    result = _FLAGS.get(str(yes.result).casefold(), yes.result)
    no = yes._replace(
        forecast=number,
        option="No",
        probability=1 - p,
        result=not result if isinstance(result, bool) else result,
        price="" if math.isnan(ask) else ask,
        bid="" if math.isnan(bid) or math.isnan(price) else 1 - price,
    )
    return [yes._replace(forecast=number, option="Yes", result=result), no]


Sides = dict[str, tuple[bool | str, float, float]]  # by option its result, ask and bid


def _read_arena(
    parse: Callable[[str, str], tuple[Sides, str]], number: int, cells: Cells
) -> list[OptionLine]:
    """Read a row of Prophet Arena's CSV, a forecast with its event in it."""
    sides, fault = parse(cells["market_info"] or "", cells["market_outcome"] or "")
    p = _parse_prediction(cells["prediction"])
    line = OptionLine(
        number,
        forecast=number,
        event=cells["event_ticker"] or "",
        forecaster=cells["predictor_name"] or "",
        time=next((cells[column] for column in _SENT if cells.get(column)), ""),
        closed=cells.get("close_time") or "",
        category=cells.get("category") or "",
        listed=tuple(sorted(sides)),
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


def _make_problem(
    event: str, lines: Sequence[OptionLine], odd: list[tuple[str, str]]
) -> dict[str, Any]:
    """Make the record of an event of all its lines; what is odd about it goes to `odd`."""
    good = [line for line in lines if not line.fault]
    if not good:
        return Refusal(min(line.fault for line in lines), problem_id=event)
    options = sorted({line.option for line in good})
    winners, fault = find_winners(options, [(line.option, line.result) for line in good])
    if fault or len({line.listed for line in good}) > 1:
        return Refusal(fault or _DIFFER, problem_id=event)
    category, closed, series = (
        {getattr(line, name) for line in good} for name in ("category", "closed", "series")
    )
    rest = "that differs between the rows of an event, the"
    if len(category) > 1:
        odd.append((f"category {rest} first by name counts", event))
    if len(closed) > 1:
        odd.append((f"closing time {rest} latest counts", event))
    ticker = _TICKER.match(event)
    return {
        "problem_id": event,
        "category": min(category),
        "series": min(series) or (ticker and (ticker[1] or ticker[2])),  # KXMLBGAME of …-25JUL02…
        "end_date": max(closed, key=_closing_order),
        "options": options,
        "correct_answer": winners,
    }


def find_winners(
    options: Sequence[str], said: Iterable[tuple[str, bool | str]]
) -> tuple[list[str] | None, str]:
    """Find the options that came true, None while nobody knows; and why nobody can say.

    `said` are pairs of an option and the result in its row: whether that option came true, or the
    winner's name on every row. The same word on both rows of a question of Yes and No is the
    winner's name, as both cannot come true. What could be either is refused.

    >>> find_winners(["No", "Yes"], [("No", "yes"), ("Yes", "no")])
    (['No'], '')
    >>> find_winners(["No", "Yes"], [("No", "yes"), ("Yes", "yes")])
    (['Yes'], '')
    >>> find_winners(["Ada", "Bob"], [("Ada", "Bob"), ("Bob", "Bob")])
    (['Bob'], '')
    """
    results: dict[str, set[bool | str]] = {option: set() for option in options}
    for option, result in said:
        if result != "":
            results[option].add(result.casefold() if isinstance(result, str) else result)
    words = set[bool | str]().union(*results.values())
    flags = {word: _FLAGS.get(word) if isinstance(word, str) else word for word in words}
    if not words:
        return None, ""
    if set(flags.values()) == {None}:
        return _find_named(options, words)
    if None in flags.values():
        return None, "an outcome is neither 0 nor 1"
    if not all(results.values()):
        return None, "an option without an outcome"
    meant = [_FLAGS.get(option.casefold()) for option in options]
    is_question = len(options) == 2 and set(meant) == {True, False}
    if meant == [False]:
        return None, _EITHER  # No alone: "No" may be its name
    if len(set(flags.values())) == 1 and len(options) > 1:
        named = words.intersection(option.casefold() for option in options)
        if is_question and not words.isdisjoint((True, False)):
            return None, "Yes and No have the same outcome"
        if is_question and not named & {"0", "1"}:
            return [options[meant.index(next(iter(flags.values())))]], ""
        if is_question or named:
            return None, _EITHER
    if any(len({flags[word] for word in own}) > 1 for own in results.values()):
        return None, _DIFFER
    return [option for option, own in results.items() if any(flags[word] for word in own)], ""


def _find_named(options: Sequence[str], words: set[bool | str]) -> tuple[list[str] | None, str]:
    """Find the winner where every row has its name."""
    if len(words) > 1:
        return None, "its rows name different winners"
    named = [option for option in options if option.casefold() in words]
    if len(named) > 1:
        return None, "its winner's name is that of several options"
    return (named, "") if named else (None, "a winner is not among the options")


def _closing_order(text: str) -> tuple[float, str]:
    """Sort what is no time before all times: nan is neither smaller nor larger than a number."""
    seconds, _ = parse_moment(text)
    return -math.inf if math.isnan(seconds) else seconds, text


# --- Lines to forecasts ---


def _make_forecast(lines: Sequence[OptionLine], options: Sequence[str]) -> dict[str, Any]:
    """Make the record of a forecast, with its values in the order of the event's options."""
    first, given = lines[0], {line.option: line for line in lines}
    ids = {"problem_id": first.event, "username": first.forecaster}
    fault = max(line.fault for line in lines)
    if fault or len(given) < len(lines):
        return Refusal(fault or "an option is given twice", **ids)
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
