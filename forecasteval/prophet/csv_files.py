"""Prophet Arena's CSV, a row per forecast with its event in it, as the records of the JSON form."""

from __future__ import annotations

import ast
import contextlib
import csv
import hashlib
import io
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import has_repeated_keys, parse_json

from .fields import parse_time, read_number
from .notes import Notes, Refusal

MAX_LITERAL: Final = 1_000_000  # characters of a Python literal: parsing takes a hundred times its size
_COLUMNS: Final = ("event_ticker", "predictor_name", "market_info", "market_outcome", "prediction")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has

Row = dict[Any, Any]  # None holds the cells that have no column


class _Market(NamedTuple):
    """What a row says of its event; `fault`: why the event cannot be used, "" if it can."""

    options: list[str]
    prices: Mapping[Any, Any]
    winners: list[str]
    fault: str
    category: str
    closed: str

    @property
    def outcome(self) -> object:
        """What the rows of one event must agree about."""
        return set(self.options), self.winners, self.fault


def read_csv(path: Path, notes: Notes) -> tuple[list[Any], list[Any], str]:
    """Problems, forecasts and sha256 of a Prophet Arena CSV, one row per forecast; a `Refusal` for what is neither.

    Options and their order are those of `market_info`; rows of one event must agree about them and the outcome. Prices
    are cents: odds = yes_ask/100, bids = yes_bid/100. Raises InputError: no UTF-8, no such columns.
    """
    raw = read_file(path)
    rows = _read_rows(decode_utf8(raw, str(path)), str(path))
    cells: dict[str | None, Any] = {}  # the market of an event stands in every row of it
    said: list[tuple[str, _Market | str]] = []
    events: dict[str, list[_Market | str]] = {}
    for number, row in enumerate(rows, 1):
        for name in ("market_info", "market_outcome"):
            if row[name] not in cells:
                cells[row[name]] = _read_literal(row[name])
        ticker = row["event_ticker"] or f"row {number}"
        market = _read_market(cells[row["market_info"]], cells[row["market_outcome"]], row)
        said.append((ticker, market))
        events.setdefault(ticker, []).append(market)
    problems = [_problem(ticker, markets, notes) for ticker, markets in events.items()]
    options = {ticker: same[0].options for ticker, markets in events.items() if (same := _readable(markets))}
    forecasts = [
        Refusal(ticker, row["predictor_name"] or "", market)
        if isinstance(market, str)
        else _forecast(ticker, market.prices, options[ticker], row)
        for (ticker, market), row in zip(said, rows, strict=True)
    ]
    return problems, forecasts, hashlib.sha256(raw).hexdigest()


def _read_rows(text: str, where: str) -> list[Row]:
    """The rows, in an order of their own: sums of floats must not depend on that of the file."""
    limit = csv.field_size_limit(1 << 30)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""))
        columns = list(reader.fieldnames or ())
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            raise InputError(where, f"expected the columns {', '.join(_COLUMNS)}", f"none named {missing[0]}")
        twice = [name for name in columns if columns.count(name) > 1]
        if twice:
            raise InputError(where, "expected columns of different names", f"{printable(twice[0], 60)} twice")
        return sorted(reader, key=lambda row: [str(row.get(name)) for name in [*_COLUMNS, *sorted(columns)]])
    except csv.Error as error:
        raise InputError(where, f"not CSV: line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _read_literal(text: str | None) -> Any:
    """A cell's JSON or Python literal; None if it is neither, or if an object in it has a key twice."""
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


# --- Events ---


def _read_market(info: Any, outcome: Any, row: Row) -> _Market | str:
    """What a row says of its event, or why it says nothing of it."""
    options = [str(option) for option in info] if isinstance(info, dict) else []
    if not options or not isinstance(outcome, dict):
        return "'market_info' and 'market_outcome' must be objects with a value per market, none twice"
    if None in row:
        return "more cells than columns"
    market = _Market(options, info, [], "", row.get("category") or "", row.get("close_time") or "")
    won = {str(name): read_number(int(value) if isinstance(value, bool) else value) for name, value in outcome.items()}
    if not set(won.values()) <= {0.0, 1.0}:
        return market._replace(fault="an outcome is neither 0 nor 1")
    winners = sorted(option for option, value in won.items() if value)
    complete = not set(winners) <= set(options) or set(options) <= won.keys()
    return market._replace(winners=winners, fault="" if complete else "an option without an outcome")


def _readable(markets: Sequence[_Market | str]) -> list[_Market]:
    return [market for market in markets if not isinstance(market, str)]


def _problem(ticker: str, rows: Sequence[_Market | str], notes: Notes) -> dict[str, Any] | Refusal:
    """The event that the rows agree about; an unreadable one has no say."""
    markets = _readable(rows)
    if not markets:
        return Refusal(ticker, "", str(rows[0]))
    first = markets[0]
    agreed = all(market.outcome == first.outcome for market in markets)
    fault = first.fault or ("" if agreed else "its rows differ in options or outcome")
    if fault:
        return Refusal(ticker, "", fault)
    if len({market.category for market in markets}) > 1:
        notes.warn("category that differs between the rows of an event, the first by name counts", ticker)
    if len({market.closed for market in markets}) > 1:
        notes.warn("closing time that differs between the rows of an event, the latest counts", ticker)
    return {
        "problem_id": ticker,
        "options": first.options,
        "correct_answer": first.winners,
        "category": first.category,
        "end_date": max((market.closed for market in markets), key=lambda text: (parse_time(text)[0], text)),
    }


# --- Forecasts ---


def _forecast(ticker: str, prices: Mapping[Any, Any], options: Sequence[str], row: Row) -> dict[str, Any]:
    said = _read_literal(row["prediction"])
    pairs = said.get("probabilities") if isinstance(said, dict) else None
    given = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    p = {str(pair.get("market")): pair.get("probability") for pair in given}
    complete = len(p) == len(given) and p.keys() == set(options)
    markets = [prices.get(option) for option in options]
    asks, bids = (
        [read_number(market.get(side)) / 100 if isinstance(market, dict) else math.nan for market in markets]
        for side in ("yes_ask", "yes_bid")
    )
    return {
        "problem_id": ticker,
        "username": row["predictor_name"],
        "timestamp": next((row[name] for name in _SENT if row.get(name)), None),
        "prediction": [p[option] for option in options] if complete else None,
        "odds": asks,
        "bids": bids,
    }
