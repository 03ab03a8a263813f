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
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
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
_CATEGORIES: Final = "category that differs between the rows of an event, the first by name counts"
_CLOSINGS: Final = "closing time that differs between the rows of an event, the latest counts"
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has
Cells = dict[Any, Any]  # of a row by column


class Market(NamedTuple):
    """An event as a row gives it, without prices; `fault`: why it cannot be used, "" if it can."""

    options: tuple[str, ...]  # in order: that of a row is not that of another; none: unreadable
    winners: tuple[str, ...] | None  # None: nobody knows yet
    fault: str


def make_market(
    options: Iterable[str], results: Mapping[str, Set[float]], incomplete: str
) -> Market:
    """An event of which `results` are all outcomes, by option; `incomplete`: what it is called if
    an option has none, or several.
    """
    ordered, known = tuple(sorted(options)), set[float]().union(*results.values())
    winners = tuple(sorted(option for option, values in results.items() if 1 in values))
    fault = "" if known <= {0, 1} else "an outcome is neither 0 nor 1"
    single = all(len(results.get(option, ())) == 1 for option in ordered)
    if known and not fault and not single and set(winners) <= set(ordered):
        fault = incomplete
    return Market(ordered, winners if known else None, fault)


class Row(NamedTuple):
    """What gives a forecast: where it begins, its event, and what it says of it: `facts` are
    categories, closing times and series.
    """

    line: int
    event: str
    market: Market
    facts: Set[tuple[str, str, str]]
    content: Any


class CsvFile(ABC):
    """The events of a CSV as problems, and its rows as forecasts; each is read from the file when
    it is iterated.

    A `Refusal` stands for what gives no forecast or no problem. `line` is where the present row
    begins; `sha256` and `count`, of rows, are complete afterwards. Raises InputError: no UTF-8, no
    CSV, no such columns.
    """

    warnings: Sequence[str] = ()

    def __init__(self, path: Path) -> None:
        self.path, self.line, self.count, self.sha256 = path, 1, 0, ""
        self.unread = list[str]()  # lines about columns

    @abstractmethod
    def require_columns(self, columns: list[str]) -> None:
        """Raise InputError unless the table has what it needs."""

    @abstractmethod
    def rows(self) -> Iterable[Row]:
        """What gives a forecast, in any order."""

    @abstractmethod
    def parse_forecast(self, row: Row) -> dict[str, Any]:
        """The forecast of a row."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The forecasts."""
        for row in self.rows():
            self.line = row.line
            yield self.parse_forecast(row)

    def problems(self, notes: Notes) -> Iterator[dict[str, Any]]:
        """The events; their rows must agree about options and outcome."""
        markets, facts = defaultdict[str, set[Market]](set), defaultdict[str, set[Any]](set)
        for row in self.rows():
            markets[row.event].add(row.market)
            facts[row.event] |= row.facts
        markets.pop("", None)
        notes.lines += [printable(line, 200) for line in self.unread]
        for event, found in markets.items():
            market, *others = [one for one in found if one.options] or [min(found)]
            fault = "its rows differ in options or outcome" if others else market.fault
            if fault:
                yield Refusal(fault, problem_id=event)
                continue
            category, closed, series = map(set, zip(*facts[event], strict=True))
            for text, said in (_CATEGORIES, category), (_CLOSINGS, closed):
                if len(said) > 1:
                    notes.warn(text, [event])
            ticker = _TICKER.match(event)
            yield {
                "problem_id": event,
                "category": min(category),
                # KXMLBGAME of KXMLBGAME-25JUL02SEANYY
                "series": min(series) or (ticker and (ticker[1] or ticker[2])),
                "end_date": max(closed, key=_closing_order),
                "options": market.options,
                "correct_answer": market.winners,
            }

    def place(self, _: int) -> str:
        return f"line {self.line}"

    def read_cells(self) -> Iterator[tuple[int, Cells]]:
        """The rows by column, and where they begin; cells beyond the last column have the key
        None.
        """
        require_regular(self.path)
        sha, self.count = hashlib.sha256(), 0
        with readable(self.path), self.path.open("rb") as file:
            rows = csv_rows(self._lines(file, sha), str(self.path), strict=False)
            _, columns = next(rows, (0, list[str]()))
            self.require_columns(columns)
            twice = [name for name in columns if columns.count(name) > 1]
            if twice:
                got = f"{printable(twice[0], 60)} twice"
                raise InputError(str(self.path), "expected columns of different names", got)
            for line, cells in filter(operator.itemgetter(1), rows):
                self.count += 1
                yield line, dict(zip_longest(columns, cells))
        self.sha256 = sha.hexdigest()

    def _lines(self, file: Any, sha: Any) -> Iterator[str]:
        position = 0
        for raw in file:
            sha.update(raw)
            yield decode_utf8(raw, str(self.path), position)
            position += len(raw)


def _closing_order(text: str) -> tuple[float, str]:
    """Sorts what is no time before all times: nan is neither smaller nor larger than a number."""
    seconds, _ = parse_moment(text)
    return -math.inf if math.isnan(seconds) else seconds, text


class ArenaFile(CsvFile):
    """Prophet Arena's CSV: a row per forecast, with its event in it.

    Prices are cents: odds = yes_ask/100, bids = yes_bid/100.
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

    def rows(self) -> Iterator[Row]:
        for line, cells in self.read_cells():
            texts = cells["market_info"] or "", cells["market_outcome"] or ""
            market, odds, bids = self._parse_market(*texts)
            if None in cells:
                market = Market((), None, "more cells than columns")
            fact = cells.get("category") or "", cells.get("close_time") or "", ""
            facts = {fact} if market.options else set()
            yield Row(line, cells["event_ticker"] or "", market, facts, (cells, odds, bids))

    def parse_forecast(self, row: Row) -> dict[str, Any]:
        cells, odds, bids = row.content
        name = cells["predictor_name"] or ""
        if not row.market.options:
            return Refusal(row.market.fault, problem_id=row.event, username=name)
        return {
            "problem_id": row.event,
            "username": name,
            "timestamp": next((cells[column] for column in _SENT if cells.get(column)), None),
            "prediction": _parse_prediction(cells["prediction"]),
            "odds": odds,
            "bids": bids,
        }


def _parse_prediction(text: str | None) -> dict[str, object] | None:
    """Probabilities by market; None for anything else."""
    said = _parse_literal(text)
    pairs = said.get("probabilities") if isinstance(said, dict) else None
    given = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    p = {str(pair.get("market")): pair.get("probability") for pair in given}
    return p if len(p) == len(given) else None


def _parse_market(info_text: str, outcome_text: str) -> tuple[Market, list[float], list[float]]:
    """The event, and asks and bids of its options."""
    info, outcome = _parse_literal(info_text), _parse_literal(outcome_text)
    outcome = outcome or ({} if outcome_text.strip() in ("", "{}") else None)
    if not info or not isinstance(info, dict) or not isinstance(outcome, dict):
        fault = "'market_info' and 'market_outcome' must be objects with a value per market"
        return Market((), None, f"{fault}, none twice"), [], []
    results = {
        str(name): {parse_number(int(value) if isinstance(value, bool) else value)}
        for name, value in outcome.items()
    }
    if all(value in ("", None) for value in outcome.values()):
        results = {}
    sides = {str(option): side if isinstance(side, dict) else {} for option, side in info.items()}
    market = make_market(sides, results, "an option without an outcome")
    asks, bids = (
        [parse_number(sides[option].get(key)) / 100 for option in market.options]
        for key in ("yes_ask", "yes_bid")
    )
    return market, asks, bids


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
