"""What the columns of a table of forecasts are: roles by their names, and by what they
hold where several could have one. Known before numpy is imported.
"""

from __future__ import annotations

import contextlib
import math
import re
import shlex
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.patterns import lazy
from forecasteval.common.records import WRAPPERS, Loaded, as_text, first_keys, is_null
from forecasteval.source.paths import value_at
from forecasteval.source.tables import read_table

from .cells import holds_literal, is_state, parse_flag, parse_number
from .times import parse_time

# By role the names of its column, the first before the others. A name may stand in two
# roles: what an `outcome` is depends on what else there is, and on what it holds.
_NAMES: Final = """
event: event_id event_ticker event problem_id question_id task_id market_ticker
 market_id contract_id condition_id target_id ticker question question_title
 question_text market slug question_slug id title
forecaster: forecaster forecaster_username forecaster_name forecaster_anonymized
 forecaster_id model model_name model_id username user_name user user_id predictor_name
 predictor predictor_id system system_name agent agent_name bot bot_name llm team
 team_name participant participant_name contestant competitor author name account
 submitter
probability: probability prob p prediction forecast probability_yes prob_yes p_yes
 yes_prob yes_probability probability_of_yes prob_of_yes p_of_yes predicted_probability
 predicted_prob forecast_probability forecast_prob forecast_value predicted pred
 pred_prob pred_probability prediction_probability y_pred y_prob y_hat yhat y_score
 probwin prob_after probability_after estimate likelihood chance confidence
probabilities: probabilities probs probability_yes_per_category prediction forecast
 forecasts
no: probability_no prob_no p_no no_prob no_probability
won: won correct
result: resolution resolved_to result winner outcome resolved_outcome.value
 resolved_outcome resolved_value correct_answer actual actual_outcome final_outcome
 true_outcome market_outcome came_true y_true ground_truth truth true_label label
 observed observation target is_yes answer probwin_outcome
index: correct_option_idx
state: resolved is_resolved
option: option choice answer candidate market contract outcome
options: options mc_options_all mc_options_current mc_options outcomes
markets: market_info market_data
price: price odds ask yes_ask market_price market_prob
bid: bid bids yes_bid
time: time timestamp datetime date forecast_due_date start_time as_of asof ts
closed: close_time actual_close_time scheduled_close_time end_date closes close_date
 closing_time closing_date closed_at predict_by metadata.end_date
category: category topic metadata.category
series: series cluster
title: title question_title question_text question
weight: weight question_weight event_weight
exclusive: exclusive mutually_exclusive is_exclusive
run: run sample epoch trial repeat replicate
round: submission_count round
type: question_type type
"""
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    role: tuple(names.replace(".", "_").split())
    for role, _, names in (
        line.partition(":") for line in re.split(r"\n(?! )", _NAMES.strip())
    )
}
# A forecaster's only where no other column is: a team may be an option, a name
# the question's.
_WEAK_NAMES: Final = frozenset(
    {"team", "team_name", "author", "name", "account", "submitter"}
)
_FORECAST: Final = lazy("forecast|predict|submi")
# What a forecast's time is called: submitted_at, predictionDate, forecast_made_at …
_TIME: Final = lazy(
    "(.*_)?(forecast|forecasted|prediction|predicted|submission|submitted|snapshot|created|updated"
    "|made|recorded|logged|answered|sent)(_.*)?_(time|timestamp|datetime|date|at|on|ts)"
)
_QUESTION: Final = lazy(
    "(.*_)?(question|market|event|clos.*|resol.*|open|publish.*)_.*"
)
_P_ROLES: Final = ("probability", "probabilities")
_RESULT_ROLES: Final = ("won", "result", "index")
_PER_CATEGORY: Final = "probability_yes_per_category"  # of Metaculus' exports
_ANY_PREDICTION: Final = frozenset(
    {
        "prediction",
        "forecast",
        "forecasts",
        "predicted",
        "pred",
        "estimate",
        "confidence",
    }
)
_ANSWERS: Final = frozenset({"answer", "prediction"})
_ARENA_COLUMNS: Final = frozenset({"event_ticker", "market_info", "market_outcome"})
_PROBLEM_COLUMNS: Final = frozenset({"problem_id", "resolutions", "resolved_outcome"})
_ANSWERED_COLUMNS: Final = frozenset(
    {"ground_truth", "level", "prompt", "answer", "meta"}
)
_LISTS: Final = frozenset({"forecasts", *WRAPPERS})
_SUFFIXES_OF_TEXT: Final = frozenset({".csv", ".json", ".jsonl"})
_SAMPLE: Final = 100  # rows that are looked at for what they hold
_BARE_ID: Final = "id"  # may number rows
Roles = dict[str, str]
Given = Mapping[str, str]  # column by role, of --column


def fold(name: str) -> str:
    """Fold a name: capitals, blanks, `_`, `-`, dots, brackets and signs make
    no difference.

    >>> fold("Question ID"), fold("createdTime"), fold("p(yes)"), fold("probability (%)")
    ('question_id', 'created_time', 'p_yes', 'probability')
    """  # noqa: E501
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^\w]+|_+", "_", words.casefold()).strip("_")


def parse_column(text: str) -> tuple[str, str]:
    """Parse ROLE=NAME of the command line.

    >>> parse_column("probability=pred")
    ('probability', 'pred')
    """
    role, _, name = text.partition("=")
    if role not in ROLES or not name:
        known = ", ".join(ROLES)
        got = printable(text, 60)
        raise ArgumentTypeError(f"expected ROLE=NAME, a ROLE of {known}, got {got}")
    return role, name


def list_candidates(columns: Collection[str], role: str) -> list[str]:
    """List the columns that could have a role by their names, the likeliest first."""
    # Of columns with one folded name the first counts.
    folded = {fold(name): name for name in reversed([*columns]) if name}
    names = [name for name in ROLES[role] if name in folded]
    if role == "time":
        names += [
            name for name in folded if _is_time_of_forecast(name) and name not in names
        ]
    return [folded[name] for name in names]


def _is_time_of_forecast(name: str) -> bool:
    """Return whether a folded name is that of a forecast's time, not of
    its question's.
    """
    return bool(_TIME.fullmatch(name)) and not _QUESTION.fullmatch(name)


# --- Whose a file is ---


def read_columns(path: Path) -> set[str]:
    """Read the columns of the rows of a file; set() if it cannot be read."""
    keys = first_keys(path)
    is_whole = keys and keys.isdisjoint(_LISTS)
    if is_whole and path.suffix in _SUFFIXES_OF_TEXT:
        return keys
    with contextlib.suppress(InputError):
        table = read_table(path, strict=False)
        rows = (row for row in list_rows(table)[:_SAMPLE] if isinstance(row, Mapping))
        return {key for row in rows for key in row}
    return keys


def list_rows(loaded: Loaded) -> list[Any]:
    """List the rows of a file: its records, or those in the only list of
    its only object.
    """
    if loaded.is_map:
        values = (row["prediction"] for row in loaded)
        lists = [value for value in values if _is_list_of_rows(value)]
        if len(lists) == 1:
            return list(lists[0])
    return [*loaded]


def _is_list_of_rows(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(row, Mapping) for row in value)


def holds_forecasts(path: Path, columns: Collection[str]) -> bool:
    """Return whether the columns of a file are those of forecasts.

    A `prediction` alone may be anything outside of a CSV, and beside an `id`
    it is an answer.
    """
    if "id" in columns and not _ANSWERS.isdisjoint(columns):
        return False
    p = {fold(name) for role in _P_ROLES for name in list_candidates(columns, role)}
    is_clear = path.suffix == ".csv" or bool(p - _ANY_PREDICTION)
    return bool(p) and is_clear and bool(list_candidates(columns, "event"))


def holds_events(path: Path) -> bool:
    """Return whether a file holds forecasts and what came true, so that it
    needs no dataset.
    """
    columns = read_columns(path)
    if not holds_forecasts(path, columns):
        # Without its forecasters, or so: a refusal says what is missing.
        return not _ARENA_COLUMNS.isdisjoint(columns)
    has_companion = any(fold(name) == _PER_CATEGORY for name in columns)
    return has_companion or any(
        list_candidates(columns, role) for role in _RESULT_ROLES
    )


def is_answered(dataset: Path) -> bool:
    """Return whether a dataset is of questions with one answer, which other
    benchmarks have.
    """
    return not _ANSWERED_COLUMNS.isdisjoint(first_keys(dataset))


def holds_questions(path: Path) -> bool:
    """Return whether a file holds problems: with options, or with an event and
    what came true.

    Actuals are an object with 0, 1 or null by event.
    """
    columns = first_keys(path)
    if not _PROBLEM_COLUMNS.isdisjoint(columns):
        return True
    if not _ANSWERED_COLUMNS.isdisjoint(columns) or not columns:
        return False
    if list_candidates(columns, "event"):
        return any(list_candidates(columns, role) for role in _RESULT_ROLES)
    with contextlib.suppress(InputError):
        table = read_table(path, strict=False)
        return table.is_map and all(row["prediction"] in (0, 1, None) for row in table)
    return False


# --- Tables ---


class Table:
    """The rows of a file by column; a column may be a path into objects, as
    `metadata.category`.
    """

    def __init__(
        self, where: str, names: Sequence[str], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        self.where = where
        self.rows = rows
        self.columns = [*names, *_list_inner_columns(rows)]
        self.names = names
        self._named = frozenset(names)
        self._values: dict[str, list[Any]] = {}
        self._texts: dict[str, list[str]] = {}

    def values(self, column: str) -> list[Any]:
        """List the values of a column, "" where a row has none."""
        if column not in self._values:
            if column in self._named:
                values = [row.get(column) for row in self.rows]
            else:
                outer, _, inner = column.partition(".")
                values = [value_at(row, (outer, inner)) for row in self.rows]
            # Most cells are texts: no call for these.
            self._values[column] = [
                value.strip() if type(value) is str else clean_cell(value)
                for value in values
            ]
        return self._values[column]

    def texts(self, column: str) -> list[str]:
        """List the values of a column as text."""
        if column not in self._texts:
            self._texts[column] = list(map(as_text, self.values(column)))
        return self._texts[column]

    def held(self, column: str) -> list[Any]:
        """List the values of a column that are not blank."""
        return [value for value in self.values(column) if value != ""]


def _list_inner_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the paths to values of objects within the first rows."""
    paths: dict[str, None] = {}
    for row in rows[:_SAMPLE]:
        for name, value in row.items():
            if isinstance(value, dict):
                keys = (key for key in value if isinstance(key, str))
                paths |= dict.fromkeys(f"{name}.{key}" for key in keys)
    return [*paths]


def clean_cell(value: Any) -> Any:
    """Return a cell that is no text; "" for none."""
    if is_null(value):
        return ""
    return value


# --- Roles of a table ---


class Finder:
    """Finds the roles of the columns of a table, each column in one role.

    roles: by role its column. notes: which columns are not read, though their
        names could be.
    """

    def __init__(self, table: Table, given: Given) -> None:
        self.table = table
        self.roles: Roles = {
            role: column for role, column in given.items() if column in table.columns
        }
        self.given = frozenset(self.roles)

    def candidates(self, role: str) -> list[str]:
        """List the columns that could have a role, and have no other."""
        taken = set(self.roles.values())
        columns = [name for name in self.table.columns if name not in taken]
        return list_candidates(columns, role)

    def take(self, role: str, columns: Sequence[str]) -> None:
        """Take the first of some columns for a role that has none."""
        if columns and role not in self.roles:
            self.roles[role] = columns[0]

    def take_first(self, *roles: str) -> None:
        """Take for each role the first column that has a value."""
        for role in roles:
            names = self.candidates(role)
            self.take(role, self.choose_held(names))

    def choose_held(self, columns: Sequence[str]) -> Sequence[str]:
        """Choose the first column that has a value, or all if none has."""
        for name in columns:
            if self.table.held(name):
                return [name]
        return columns

    def require_one(
        self, role: str, columns: Sequence[str], is_same: Callable[[str, str], bool]
    ) -> Sequence[str]:
        """Choose the only column that is left, of those that are the same the first;
        InputError if several are left.
        """
        different: list[str] = []
        for position, name in enumerate(columns):
            if not any(is_same(name, other) for other in columns[:position]):
                different.append(name)
        if len(different) > 1 and role not in self.roles:
            options = " or ".join(format_option(role, name) for name in different)
            expected = f"expected one column for the {role} (choose it with {options})"
            raise InputError(
                self.table.where, expected, printable(", ".join(different), 200)
            )
        return different

    def are_names(self, one: str, other: str) -> bool:
        """Return whether two columns name the same in two ways."""
        rows = set(zip(self.table.texts(one), self.table.texts(other), strict=True))
        pairs = [pair for pair in rows if all(pair)]
        firsts = {a for a, _ in pairs}
        seconds = {b for _, b in pairs}
        return len(pairs) == len(firsts) == len(seconds)

    def are_equal(self, one: str, other: str) -> bool:
        """Return whether two columns have equal values, apart from blanks."""
        pairs = zip(self.table.values(one), self.table.values(other), strict=True)
        return all(starmap(_is_same_value, pairs))


def _is_same_value(a: Any, b: Any) -> bool:
    """Return whether two values are equal, as texts or numbers, or one of
    them is blank.
    """
    if a == b or "" in (a, b):
        return True
    return parse_number(a) == parse_number(b)


def find_roles(table: Table, given: Given) -> Roles:
    """Find the columns of a table by what they are, as far as there are any."""
    finder = Finder(table, given)
    finder.take_first(
        "closed", "category", "series", "weight", "exclusive", "run", "round", "type"
    )
    finder.take_first("index", "options", "markets")
    _find_state(finder)
    _find_event(finder)
    _find_forecaster(finder)
    _find_probabilities(finder)
    _find_result(finder)
    finder.take_first("price", "bid", "title")
    _find_time(finder)
    return finder.roles


def _find_event(finder: Finder) -> None:
    """Find the column of the event. A bare `id` that numbers rows gives
    way to a title.
    """
    table = finder.table
    names = finder.candidates("event")
    if names and fold(names[0]) == _BARE_ID:
        repeating = [
            name for name in names if len(set(table.texts(name))) < len(table.rows)
        ]
        is_row_number = names[0] not in repeating
        if is_row_number and repeating:
            names = repeating
    finder.take("event", names)


def _find_state(finder: Finder) -> None:
    """Find the column of whether the result is known; a date of that is none."""
    for name in finder.candidates("state"):
        if all(parse_flag(value) is not None for value in finder.table.held(name)):
            finder.take("state", [name])


def _find_forecaster(finder: Finder) -> None:
    """Find the column of the forecaster, the one that varies if there are several."""
    names = finder.candidates("forecaster")
    names = [name for name in names if fold(name) not in _WEAK_NAMES] or names
    names = [name for name in names if len(set(finder.table.texts(name))) > 1] or names
    finder.take("forecaster", finder.require_one("forecaster", names, finder.are_names))


def _find_probabilities(finder: Finder) -> None:
    """Find the columns of the probability of an option, or of Yes, and of those
    of all options.
    """
    table = finder.table
    lists = finder.candidates("probabilities")
    lists = [name for name in lists if any(map(holds_literal, table.held(name)))]
    finder.take("probabilities", lists)
    names = finder.candidates("probability")
    numbers = [name for name in names if _holds_numbers(table.held(name))] or names[:1]
    finder.take(
        "probability", finder.require_one("probability", numbers, finder.are_equal)
    )
    finder.take_first("no")


def _holds_numbers(values: Iterable[Any]) -> bool:
    return any(0 <= parse_number(value) < math.inf for value in values)


def _find_result(finder: Finder) -> None:
    """Find the column of what came true, and that of the option that a row is about.

    An `outcome`, or `answer`, may be both: it is the option where another column is the
    result, or where it holds anything but results.
    """
    finder.take_first("won")
    options = finder.candidates("option")
    results = finder.candidates("result")
    both = [name for name in results if name in options]
    clear_results = [name for name in results if name not in both]
    clear_options = [name for name in options if name not in both]
    finder.take("result", finder.choose_held(clear_results))
    finder.take("option", clear_options)
    has_result = not finder.roles.keys().isdisjoint({"result", "won", "index"})
    for name in both:
        values = finder.table.held(name)
        is_result = all(
            parse_flag(value) is not None or is_state(value) for value in values
        )
        if not has_result and ("option" in finder.roles or is_result):
            finder.take("result", [name])
            has_result = True
        elif not is_result or has_result:
            finder.take("option", [name])
    # Beside the result of the question, `correct` is of the forecast.
    is_of_forecast = "result" in finder.roles and "option" not in finder.roles
    if is_of_forecast and "won" not in finder.given:
        finder.roles.pop("won", None)


def _find_time(finder: Finder) -> None:
    """Find the column of the forecast's time: one that varies within an event before
    one that does not, and one that is called after forecasts before any other.
    """
    table = finder.table
    names = finder.candidates("time")
    times = [name for name in names if _holds_times(table.held(name))]
    if len(times) > 1 and "event" in finder.roles:
        events = table.texts(finder.roles["event"])
        times = [
            name for name in times if _varies_within(events, table.texts(name))
        ] or times
        times = [name for name in times if _FORECAST.search(fold(name))] or times
    chosen = finder.require_one("time", times, finder.are_equal)
    finder.take("time", chosen or names)


def _holds_times(values: Sequence[Any]) -> bool:
    return any(not math.isnan(parse_time(value)[0]) for value in values[:_SAMPLE])


def _varies_within(events: Sequence[str], values: Sequence[str]) -> bool:
    first: dict[str, str] = {}
    pairs = zip(events, values, strict=True)
    return any(first.setdefault(event, value) != value for event, value in pairs)


def format_option(role: str, column: str) -> str:
    """Write the option that gives a column its role."""
    return f"--column {shlex.quote(f'{role}={column}')}"


def list_unread(table: Table, roles: Roles) -> list[str]:
    """Write a line for each column that may mean what another one is read as."""
    lines = []
    for role in ("option", "result", "price"):
        if role in roles:
            names = list_candidates(table.columns, role)
            unread = [name for name in names if name not in roles.values()]
            is_read = f"{roles[role]!r} is the {role}"
            lines += [f"column {name!r} is not read: {is_read}" for name in unread]
    return lines
