"""Prophet Arena's CSV, a row per forecast with its event in it, as the records of the JSON form."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import math
import operator
import re
import warnings
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import csv_rows, decode_utf8, readable, require_regular
from forecasteval.common.records import has_repeated_keys, parse_json

from .fields import Notes, Refusal, parse_moment, parse_number

MAX_LITERAL: Final = (
    1_000_000  # characters of a Python literal: parsing takes a hundred times its size
)
_COLUMNS: Final = ("event_ticker", "predictor_name", "market_info", "market_outcome", "prediction")
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_DIFFERING: Final = {
    "category": "category that differs between the rows of an event, the first by name counts",
    "closed": "closing time that differs between the rows of an event, the latest counts",
}
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has
Row = dict[Any, Any]


class _Market(NamedTuple):
    """The event in a row; `fault`: why the event cannot be used, "" if it can."""

    options: tuple[str, ...]  # in order: that of a row is not that of another
    winners: tuple[str, ...] | None  # None: nobody knows yet
    fault: str
    asks: list[float]
    bids: list[float]


class CsvFile(ABC):
    """The events of a CSV as problems, and its rows as forecasts; each is read from the file when
    it is iterated.

    A `Refusal` stands for what gives no forecast. `line` is where the present row begins; `sha256`
    and `rows` are complete afterwards. Raises InputError: no UTF-8, no CSV, no such columns.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.line, self.rows, self.sha256 = path, 1, 0, ""

    @abstractmethod
    def __iter__(self) -> Iterator[dict[str, Any] | Refusal]:
        """The forecasts."""

    @abstractmethod
    def problems(self, notes: Notes) -> Iterator[dict[str, Any] | Refusal]:
        """The events; a `Refusal` for those that cannot be used."""

    @abstractmethod
    def require_columns(self, columns: list[str]) -> None:
        """Raise InputError unless the table has what it needs."""

    def place(self, _: int) -> str:
        return f"line {self.line}"

    def read_rows(self) -> Iterator[Row]:
        """The rows by column; cells beyond the last column have the key None."""
        require_regular(self.path)
        sha, self.rows = hashlib.sha256(), 0
        with readable(self.path), self.path.open("rb") as file:
            rows = csv_rows(self._lines(file, sha), str(self.path), strict=False)
            _, columns = next(rows, (0, list[str]()))
            self.require_columns(columns)
            twice = [name for name in columns if columns.count(name) > 1]
            if twice:
                got = f"{printable(twice[0], 60)} twice"
                raise InputError(str(self.path), "expected columns of different names", got)
            for self.line, cells in filter(operator.itemgetter(1), rows):
                self.rows += 1
                yield dict(zip_longest(columns, cells))
        self.sha256 = sha.hexdigest()

    def _lines(self, file: Any, sha: Any) -> Iterator[str]:
        position = 0
        for raw in file:
            sha.update(raw)
            yield decode_utf8(raw, str(self.path), position)
            position += len(raw)


class ArenaFile(CsvFile):
    """Prophet Arena's CSV: a row per forecast, with its event in it.

    Rows of one event must agree about its options and outcome. Prices are cents: odds =
    yes_ask/100, bids = yes_bid/100.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # An event's market often stands in all of its rows.
        self._parse_market = lru_cache(1 << 14)(_parse_market)

    def require_columns(self, columns: list[str]) -> None:
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            expected = f"expected the columns {', '.join(_COLUMNS)}"
            raise InputError(str(self.path), expected, f"none named {missing[0]}")

    def _read(self) -> Iterator[tuple[Row, _Market | str]]:
        """Every row with its market, or why it has none."""
        for row in self.read_rows():
            market = self._parse_market(row["market_info"] or "", row["market_outcome"] or "")
            yield row, "more cells than columns" if None in row else market

    def __iter__(self) -> Iterator[dict[str, object] | Refusal]:
        for row, market in self._read():
            ids = {
                "problem_id": row["event_ticker"] or "",
                "username": row["predictor_name"] or "",
            }
            if not ids["problem_id"] or isinstance(market, str):
                yield Refusal(str(market), **ids)
                continue
            said = _parse_literal(row["prediction"])
            pairs = said.get("probabilities") if isinstance(said, dict) else None
            given = [pair for pair in pairs if isinstance(pair, dict)] if pairs else []
            p = {str(pair.get("market")): pair.get("probability") for pair in given}
            complete = len(p) == len(given) and p.keys() == set(market.options)
            yield {
                **ids,
                "timestamp": next((row[column] for column in _SENT if row.get(column)), None),
                "prediction": [p[option] for option in market.options] if complete else None,
                "odds": market.asks,
                "bids": market.bids,
            }

    def problems(self, notes: Notes) -> Iterator[dict[str, object] | Refusal]:
        events: defaultdict[str, defaultdict[str, set[Any]]] = defaultdict(lambda: defaultdict(set))
        for row, market in self._read():
            event = events[row["event_ticker"] or ""]
            if isinstance(market, str):
                event["faults"].add(market)
                continue
            event["markets"].add(market[:3])  # without prices
            event["category"].add(row.get("category") or "")
            event["closed"].add(row.get("close_time") or "")
        events.pop("", None)
        for ticker, event in events.items():
            unknown = (), (), min(event["faults"], default="")
            options, winners, fault = next(iter(event["markets"]), unknown)
            if len(event["markets"]) > 1:
                fault = "its rows differ in options or outcome"
            if fault:
                yield Refusal(fault, problem_id=ticker)
            else:
                facts = settle_facts(ticker, event, notes)
                yield {**facts, "options": options, "correct_answer": winners}


def settle_facts(ticker: str, said: Mapping[str, set[str]], notes: Notes) -> dict[str, object]:
    """The id, category, series and closing time of an event, of which its rows may say several."""
    for key, text in _DIFFERING.items():
        if len(said[key]) > 1:
            notes.warn(text, [ticker])
    series = _TICKER.match(ticker)
    return {
        "problem_id": ticker,
        "category": min(said["category"]),
        "series": series and (series[1] or series[2]),  # KXMLBGAME of KXMLBGAME-25JUL02SEANYY
        "end_date": max(said["closed"], key=_closing_order),
    }


def _closing_order(text: str) -> tuple[float, str]:
    """Sorts what is no time before all times: nan is neither smaller nor larger than a number."""
    seconds, _ = parse_moment(text)
    return -math.inf if math.isnan(seconds) else seconds, text


def _parse_market(info_text: str, outcome_text: str) -> _Market | str:
    info, outcome = _parse_literal(info_text), _parse_literal(outcome_text)
    options = tuple(sorted({str(option) for option in info})) if isinstance(info, dict) else ()
    outcome = outcome or ({} if outcome_text.strip() in ("", "{}") else None)
    if not options or not isinstance(outcome, dict):
        return (
            "'market_info' and 'market_outcome' must be objects with a value per market, none twice"
        )
    markets = {
        str(option): market if isinstance(market, dict) else {} for option, market in info.items()
    }
    asks, bids = (
        [parse_number(markets[option].get(side)) / 100 for option in options]
        for side in ("yes_ask", "yes_bid")
    )
    if all(value in ("", None) for value in outcome.values()):
        return _Market(options, None, "", asks, bids)
    won = {
        str(name): parse_number(int(value) if isinstance(value, bool) else value)
        for name, value in outcome.items()
    }
    winners = tuple(sorted(option for option, value in won.items() if value))
    fault = ""
    if not set(won.values()) <= {0.0, 1.0}:
        fault, winners = "an outcome is neither 0 nor 1", ()
    elif set(winners) <= set(options) and not set(options) <= won.keys():
        fault = "an option without an outcome"
    return _Market(options, winners, fault, asks, bids)


def _parse_literal(text: str | None) -> Any:
    """A cell's JSON or Python literal; None if it is neither, or if an object in it has a key
    twice.
    """
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
