"""Prophet Arena's CSV, a row per forecast with its event in it, as the records of the JSON form."""

from __future__ import annotations

import ast
import contextlib
import csv
import hashlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, readable, require_regular
from forecasteval.common.records import has_repeated_keys, parse_json

from .fields import parse_time, read_number
from .forecasts import KnownEvents
from .notes import Notes, Refusal

MAX_LITERAL: Final = 1_000_000  # characters of a Python literal: parsing takes a hundred times its size
_MARKETS_KEPT: Final = 1 << 16  # an event's market often stands in all of its rows
_COLUMNS: Final = ("event_ticker", "predictor_name", "market_info", "market_outcome", "prediction")
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has


class _Market(NamedTuple):
    """What a row says of its event; `fault`: why the event cannot be used, "" if it can."""

    options: tuple[str, ...]  # in order: that of a row is not that of another
    winners: tuple[str, ...]
    fault: str
    asks: list[float]
    bids: list[float]


class CsvFile:
    """The forecasts of a CSV as records, read while it is iterated (once); its events are known row by row.

    Rows of one event must agree about its options and outcome. Prices are cents: odds = yes_ask/100, bids =
    yes_bid/100. A `Refusal` stands for a row that gives no forecast. `line` is where the present row begins; `sha256`
    and `problems` are complete afterwards. Raises InputError: no UTF-8, no CSV, no such columns.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.line, self.rows = path, 1, 0
        self.known = KnownEvents({}, [], [])
        self._sha = hashlib.sha256()
        self._events: list[tuple[_Market, set[str], set[str]]] = []  # with categories and closing times
        self._faults: dict[str, str] = {}  # by ticker: why its event cannot be used
        self._markets: dict[bytes, _Market | str] = {}

    @property
    def sha256(self) -> str:
        return self._sha.hexdigest()

    def place(self, _: int) -> str:
        return f"line {self.line}"

    def __iter__(self) -> Iterator[dict[str, Any] | Refusal]:
        require_regular(self.path)
        limit = csv.field_size_limit(1 << 30)
        try:
            with readable(self.path), self.path.open("rb") as file:
                reader = csv.DictReader(self._lines(file))
                self._require_columns(list(reader.fieldnames or ()))
                self.line = reader.line_num + 1
                for row in reader:
                    self.rows += 1
                    yield self._record(row)
                    self.line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(str(self.path), f"not CSV: line {reader.line_num}: {error}") from None
        finally:
            csv.field_size_limit(limit)

    def _lines(self, file: Any) -> Iterator[str]:
        position = 0
        for raw in file:
            self._sha.update(raw)
            yield decode_utf8(raw, str(self.path), position)
            position += len(raw)

    def _require_columns(self, columns: list[str]) -> None:
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            raise InputError(str(self.path), f"expected the columns {', '.join(_COLUMNS)}", f"none named {missing[0]}")
        twice = [name for name in columns if columns.count(name) > 1]
        if twice:
            raise InputError(str(self.path), "expected columns of different names", f"{printable(twice[0], 60)} twice")

    def _record(self, row: dict[Any, Any]) -> dict[str, Any] | Refusal:
        ticker, name = row["event_ticker"] or "", row["predictor_name"] or ""
        market = self._market(row) if ticker else ""
        numbers, ids, sizes = self.known
        if isinstance(market, str):
            if ticker and ticker not in numbers:
                self._faults[ticker] = min(market, self._faults.get(ticker, market))
            return Refusal(ticker, name, market)
        if ticker not in numbers:
            numbers[ticker] = len(ids)
            ids.append(ticker)
            sizes.append(len(market.options))
            self._events.append((market, set(), set()))
            self._faults.pop(ticker, None)
        first, categories, closed = self._events[numbers[ticker]]
        if market[:3] != first[:3]:
            self._faults[ticker] = "its rows differ in options or outcome"
        elif market.fault:
            self._faults.setdefault(ticker, market.fault)
        categories.add(row.get("category") or "")
        closed.add(row.get("close_time") or "")
        said = _read_literal(row["prediction"])
        pairs = said.get("probabilities") if isinstance(said, dict) else None
        given = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
        p = {str(pair.get("market")): pair.get("probability") for pair in given}
        complete = len(p) == len(given) and p.keys() == set(market.options)
        return {
            "problem_id": ticker,
            "username": name,
            "timestamp": next((row[column] for column in _SENT if row.get(column)), None),
            "prediction": [p[option] for option in market.options] if complete else None,
            "odds": market.asks,
            "bids": market.bids,
        }

    def _market(self, row: dict[Any, Any]) -> _Market | str:
        """What a row says of its event, or why it says nothing of it."""
        if None in row:
            return "more cells than columns"
        info, outcome = row["market_info"] or "", row["market_outcome"] or ""
        key = hashlib.sha256(f"{len(info)} {info}{outcome}".encode("utf-8", "surrogatepass")).digest()
        if key not in self._markets:
            if len(self._markets) >= _MARKETS_KEPT:
                self._markets.clear()
            self._markets[key] = _read_market(_read_literal(info), _read_literal(outcome))
        return self._markets[key]

    def problems(self, notes: Notes) -> Iterator[dict[str, Any] | Refusal]:
        """The events as problems; a `Refusal` for those that cannot be used."""
        yield from (Refusal(ticker, "", fault) for ticker, fault in self._faults.items())
        for ticker, (market, categories, closed) in zip(self.known.ids, self._events, strict=True):
            if ticker in self._faults:
                continue
            if len(categories) > 1:
                notes.warn("category that differs between the rows of an event, the first by name counts", [ticker])
            if len(closed) > 1:
                notes.warn("closing time that differs between the rows of an event, the latest counts", [ticker])
            yield {
                "problem_id": ticker,
                "options": market.options,
                "correct_answer": market.winners,
                "category": min(categories),
                "series": _stem(ticker),
                "end_date": max(closed, key=lambda text: (parse_time(text)[0], text)),
            }


def _stem(ticker: str) -> str:
    """The series of a ticker: KXMLBGAME of KXMLBGAME-25JUL02SEANYY; "" for other names."""
    match = _TICKER.match(ticker)
    return (match[1] or match[2]) if match else ""


def _read_market(info: Any, outcome: Any) -> _Market | str:
    options = tuple(sorted({str(option) for option in info})) if isinstance(info, dict) else ()
    if not options or not isinstance(outcome, dict):
        return "'market_info' and 'market_outcome' must be objects with a value per market, none twice"
    markets = {str(option): market if isinstance(market, dict) else {} for option, market in info.items()}
    asks, bids = (
        [read_number(markets[option].get(side)) / 100 for option in options] for side in ("yes_ask", "yes_bid")
    )
    won = {str(name): read_number(int(value) if isinstance(value, bool) else value) for name, value in outcome.items()}
    winners = tuple(sorted(option for option, value in won.items() if value))
    fault = ""
    if not set(won.values()) <= {0.0, 1.0}:
        fault, winners = "an outcome is neither 0 nor 1", ()
    elif set(winners) <= set(options) and not set(options) <= won.keys():
        fault = "an option without an outcome"
    return _Market(options, winners, fault, asks, bids)


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
