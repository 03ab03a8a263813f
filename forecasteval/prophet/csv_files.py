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
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from itertools import chain, islice, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import csv_rows, decode_utf8, read_file
from forecasteval.common.records import Loaded, group_by, has_repeated_keys, parse_json

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
from .fields import NO_FLAG, SHARE, Refusal, parse_moment, parse_number

MAX_LITERAL: Final = (
    1_000_000  # characters of a Python literal: parsing takes a hundred times its size
)
_MC_OPTIONS: Final = ("MC Options (All)", "MC Options (Current)", "MC Options")
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has
_LONG: Final = "more cells than columns"
_DIFFER: Final = "its rows differ in options or outcome"
_MIXED: Final = "its result means something else than those of most events"
_NO_OPTION: Final = "its rows differ in outcome; if each is about an option, call that 'option'"
_EITHER: Final = "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
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
    twice = [name for name in columns if name and columns.count(name) > 1]
    if twice:
        got = f"{printable(twice[0], 60)} twice"
        raise InputError(str(path), "expected columns of different names", got)
    header = text.strip().partition("\n")[0]
    require_columns(columns, path, rows, max(",;\t", key=header.count))
    names, questions = columns, _load_questions(path, columns)
    columns = [*dict.fromkeys(chain(columns, *islice(questions.values(), 1)))]
    to_lines, lines, count = _choose_form(columns), list[OptionLine](), 0
    unscored = set[str]()
    for number, cells in rows:
        if cells:
            count += 1
            row = dict(zip_longest(names, cells))
            row |= questions.get(cells[0], {})
            made = to_lines(number, row)
            lines += made
            unscored.update([] if made else cells[:1])
    roles = {} if is_arena(columns) else find_roles(columns)
    ignored = [name for name in columns if roles and name not in roles.values()]
    by_event = group_by(lines, attrgetter("event"))
    options = {event: _find_options(own, not roles) for event, own in by_event.items()}
    is_flag = is_of_option(roles) or "option" not in roles
    results = {
        event: read_result(_list_words(options[event], own), is_flag)
        for event, own in by_event.items()
    }
    side = sum(result.side for result in results.values())
    settled = {event: _settle(result, side) for event, result in results.items()}
    unclear = explain_result(roles) if roles and "option" not in roles else ""
    problems: list[tuple[int, object]] = []
    forecasts: list[tuple[int, object]] = []
    odd = [("question of numbers or dates, not scored", event) for event in sorted(unscored)]
    for event, own in by_event.items():
        problem = _make_problem(event, own, options[event], settled[event], odd)
        if unclear and settled[event].fault and isinstance(problem, Refusal):
            said = parse_number(problem.cell)
            reason = unclear if problem.cell else _NO_OPTION
            problem.reason = SHARE if 0 < said < 1 else reason
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


def _choose_form(columns: Sequence[str]) -> Callable[[int, Cells], list[OptionLine]]:
    """Choose what makes lines of a row."""
    if is_arena(columns):
        return partial(_read_arena, lru_cache(1 << 14)(_parse_market))  # most rows repeat a market
    roles = find_roles(columns)
    if PER_CATEGORY in columns:
        return partial(_read_metaculus, roles)
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
    result = _fold_word(yes.result)
    if abs(p + parse_number(no) - 1) > _ROUNDING:
        yes = yes._replace(fault=_SUM, cell=f"{yes.probability} and {no}")
    return [
        yes._replace(option="Yes"),
        yes._replace(
            option="No",
            probability=1 - p if 0 <= p <= 1 else yes.probability,
            result=not result if isinstance(result, bool) else yes.result,
            price="" if math.isnan(ask) else ask,
            bid="" if math.isnan(bid) or math.isnan(price) else 1 - price,
        ),
    ]


def _read_metaculus(roles: Mapping[str, str], number: int, cells: Cells) -> list[OptionLine]:
    """Read a row of Metaculus about Yes or about several options; none of other questions."""
    p = _parse_literal(cells[PER_CATEGORY])
    if not isinstance(p, list):
        return _read_question(roles, number, cells) if cells["Probability Yes"] else []
    line, _ = _read_option(roles, number, cells)
    options = _parse_literal(next(filter(None, map(cells.get, _MC_OPTIONS)), ""))
    if not isinstance(options, list) or len(options) != len(p):
        return [line._replace(fault="expected a probability for every option")]
    return [
        line._replace(
            option=name,
            probability=given,
            result=line.result == name if line.result in options else line.result,
        )
        for name, given in zip(options, p, strict=True)
        if given is not None
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
        return {}, NO_FLAG
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


Word = bool | str  # a result: a flag, or a text in small letters


def _fold_word(result: Word) -> Word:
    word = str(result).casefold()
    return FLAGS.get(word, word)


def _list_words(options: Iterable[str], lines: Iterable[OptionLine]) -> dict[str, set[Word]]:
    """List what the rows of an event say of its result, by option."""
    said = [line for line in lines if line.result != ""]
    by_option = group_by(said, attrgetter("option"))
    return {
        option: {_fold_word(line.result) for line in by_option.get(option, ())}
        for option in options
    }


class Result(NamedTuple):
    """Who won an event as its rows have it, None while nobody knows; or the `fault` in them.

    `side` is 1 where the rows have flags of their options, -1 where they have the winner's name,
    and 0 where that is the same flag everywhere.
    """

    side: int = 0
    winners: list[str] | None = None
    fault: str = ""


def read_result(words: Mapping[str, AbstractSet[Word]], is_of_option: bool) -> Result:
    """Read what the rows of an event say of its winner, by option; flags only if it `is_of_option`.

    The same flag on both rows of Yes and No is the question's result, as both cannot come true.

    >>> read_result({"Yes": {True}, "No": {True}}, is_of_option=False)
    Result(side=-1, winners=['Yes'], fault='')
    >>> read_result({"Red": {True}, "Blue": {False}}, is_of_option=False).winners
    ['Red']
    """
    said = set[Word]().union(*words.values())
    if not said:
        return Result()
    named = [option for option in words if _fold_word(option) in said]
    won = [option for option in words if True in words[option]]
    is_question = {option.casefold() for option in words} in ({"yes", "no"}, {"true", "false"})
    is_text, is_alike = said.isdisjoint(FLAGS.values()), len(said) == 1
    faults = {
        "its rows name different winners": is_text and not is_alike,
        "its winner's name is that of several options": is_text and len(named) > 1,
        "a winner is not among the options": is_text and not named,
        NO_FLAG: not is_text and not said <= {True, False},
        "an option without an outcome": not is_text and not all(words.values()),
        _DIFFER: not is_text and any(len(own) > 1 for own in words.values()),
        "Yes and No have the same outcome": is_alike and is_question and is_of_option,
        _EITHER: not is_text and is_alike and bool(named) and not (is_question or is_of_option),
    }
    if fault := next((fault for fault, found in faults.items() if found), ""):
        return Result(fault=fault)
    if is_text or (is_alike and is_question):
        return Result(-1, named)
    return Result(int(is_of_option or not is_alike), won)


def _settle(result: Result, side: int) -> Result:
    """Hold a result against what most of the file are: a column means one thing.

    Flags that differ in no event may be something else, as the place of the winner.
    """
    if result.side and result.side * side <= 0:
        return Result(fault=_MIXED)
    is_unclear = result.winners is not None and not result.side and side <= 0
    return Result(fault=_EITHER) if is_unclear else result


def _make_problem(
    event: str,
    lines: Sequence[OptionLine],
    options: Sequence[str],
    result: Result,
    odd: list[tuple[str, str]],
) -> dict[str, Any]:
    """Make the record of an event of all its lines, and of its winners or why there is no saying;
    what is odd about it goes to `odd`.
    """
    good = [line for line in lines if not line.fault]
    if result.fault or not options:
        first = min(lines, key=attrgetter("fault"))
        said = [str(line.result) for line in good if line.result != ""]
        cell = min((text for text in said if text.casefold() not in FLAGS), default=first.cell)
        return Refusal(result.fault or first.fault or _DIFFER, cell, problem_id=event)
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
        "correct_answer": result.winners,
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
