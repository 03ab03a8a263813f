"""What the columns of a CSV with forecasts mean: known before numpy is imported."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError, printable

# The first that a table has means this, and each column means one thing: a `market` is an option
# where another column is the event, and so is an `outcome` where another says what came true.
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "event": (
        "event_id",
        "event_ticker",
        "event",
        "problem_id",
        "question_id",
        "question",
        "question_title",
        "market_id",
        "market",
        "id",
    ),
    "forecaster": (
        "forecaster",
        "forecaster_username",
        "forecaster_(anonymized)",
        "model",
        "model_name",
        "username",
        "user",
        "predictor_name",
        "predictor",
        "system",
        "agent",
    ),
    "probability": (
        "probability",
        "prob",
        "p",
        "prediction",
        "forecast",
        "probability_yes",
        "prob_yes",
        "p_yes",
    ),
    "no": ("probability_no", "prob_no", "p_no"),
    "result": ("resolution", "resolved_to", "result", "winner", "won", "correct", "outcome"),
    "state": ("resolved", "is_resolved"),
    "option": ("option", "choice", "answer", "candidate", "market", "contract", "outcome"),
    "price": ("price", "odds", "ask", "yes_ask", "market_price", "market_prob"),
    "bid": ("bid", "yes_bid"),
    "time": (
        "time",
        "timestamp",
        "submission_created_at",
        "created_at",
        "snapshot_time",
        "forecast_time",
        "forecast_date",
        "forecast_due_date",
        "date",
        "start_time",
    ),
    "closed": (
        "close_time",
        "actual_close_time",
        "scheduled_close_time",
        "end_date",
        "closes",
        "close_date",
        "closing_time",
        "closing_date",
    ),
    "category": ("category", "topic"),
    "series": ("series", "cluster"),
}
PER_CATEGORY: Final = "Probability Yes Per Category"  # of Metaculus' forecasts
FLAGS: Final = {
    **dict.fromkeys(("1", "1.0", "true", "t", "yes", "y"), True),
    **dict.fromkeys(("0", "0.0", "false", "f", "no", "n"), False),
}
_RESULTS: Final = frozenset({"result", "state"})
_ARENA: Final = ("event_ticker", "predictor_name", "market_info", "market_outcome", "prediction")
_MARKETS: Final = frozenset({"market_info", "market_outcome"})
_OF_OPTION: Final = ("won", "correct")  # a result of the row's option, never of the question
_PROBABILITIES: Final = ("probability", "prob", "p")  # with more behind `_`: `prob_raw`


def find_roles(columns: Collection[str]) -> dict[str, str]:
    """Find the columns by what they mean, whatever their capitals, blanks and dashes.

    >>> find_roles(["Question ID", "model", "p"])
    {'event': 'Question ID', 'forecaster': 'model', 'probability': 'p'}
    """
    named = {_fold(name): name for name in reversed([*columns])}
    roles: dict[str, str] = {}
    for role, names in ROLES.items():
        column = next((name for name in names if name in named), None)
        if column:
            roles[role] = named.pop(column)
    return roles


def _fold(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())


def is_tidy(columns: Collection[str]) -> bool:
    """Return whether a row is about an option of a forecast, or about a question of Yes and No."""
    roles = find_roles(columns).keys()
    is_question = _MARKETS.isdisjoint(columns) and not _RESULTS.isdisjoint(roles)
    has_forecasts = roles >= {"event", "forecaster", "probability"}
    return PER_CATEGORY in columns or (has_forecasts and ("option" in roles or is_question))


def is_arena(columns: Collection[str]) -> bool:
    """Return whether a table has Prophet Arena's columns, a row per forecast."""
    return not _MARKETS.isdisjoint(columns) and not is_tidy(columns)


def is_of_option(roles: Mapping[str, str]) -> bool:
    """Return whether the result's column says it of the row's option: `won`, `correct`."""
    return _fold(roles.get("result", "")) in _OF_OPTION


def list_unread(columns: Collection[str]) -> list[str]:
    """Write a line for each column that may mean what another one is read as, and for weights."""
    roles = find_roles(columns)
    lines = [
        f"column {name!r} is not read: the events of a table count alike"
        for name in columns
        if _fold(name) == "weight"
    ]
    if "result" not in roles:
        return ["no column is called 'resolution' or 'winner'", *lines]
    return lines + [
        f"column {name!r} is not read: {roles[role]!r} is the {role}"
        for role in ("option", "forecaster", "result", "price")
        for name in columns
        if role in roles and name not in roles.values() and _fold(name) in ROLES[role]
    ]


def require_columns(
    columns: Sequence[str], path: Path, rows: Iterable[tuple[int, Sequence[str]]], separator: str
) -> None:
    """Raise InputError unless the columns are those of a form; it says what is missing.

    `rows` are read only for a table that is refused: the line of Python it gets must be right.
    """
    roles, expected = find_roles(columns), ""
    got = printable(", ".join(columns), 200) or "none"
    missing = [name for name in _ARENA if name not in columns]
    twice = [name for name in columns if name and columns.count(name) > 1]
    chances = [name for name in columns if _fold(name) in ROLES["probability"]]
    if twice:
        expected, got = "expected columns of different names", f"{printable(twice[0], 60)} twice"
    elif PER_CATEGORY in columns or (is_arena(columns) and not missing):
        return
    elif is_arena(columns):
        expected = f"expected the columns {', '.join(_ARENA)}"
        got = f"none named {missing[0]}"
    elif not is_tidy(columns):
        expected = _suggest_melt(columns, roles, path, rows, separator) or _name_missing(
            columns, roles
        )
    elif "result" not in roles and "state" in roles:
        expected = (
            f"expected what came true, and {roles['state']!r} only says whether that is known: "
            f"rename {roles['state']!r} to 'resolution' if it is the result"
        )
    elif "option" not in roles and _fold(roles["result"]) == "correct":
        what = "expected 'resolution' for what came true: 'correct' may be of the forecast"
        expected = f"{what} where no column is the option"
    elif len(chances) > 1:  # one may be of No
        expected = "expected one column of probabilities, the others renamed"
        got = printable(", ".join(chances), 200)
    elif "option" in roles and _fold(chances[0]).endswith("_yes"):
        expected = f"rename {chances[0]!r} to 'probability' if it is that of the row's option"
    if expected:
        raise InputError(str(path), expected, got)


def _name_missing(columns: Sequence[str], roles: Mapping[str, str]) -> str:
    """Name the columns that a table lacks, and one that may be renamed."""
    missing = [
        f"a column {ROLES[role][0]!r}"
        for role in ("event", "option", "forecaster", "probability")
        if role not in roles and not (role == "option" and _RESULTS.intersection(roles))
    ]
    text = ", ".join(missing).replace("'option'", "'option' (or 'resolution': Yes or No)")
    spare = [name for name in columns if name not in roles.values()]
    chances = [name for name in spare if _fold(name).partition("_")[0] in _PROBABILITIES]
    if len(chances) == 1 and "probability" not in roles:
        text += f"; rename {chances[0]!r} to 'probability' if it is the forecast"
    return f"expected {text}"


def explain_result(roles: Mapping[str, str]) -> str:
    """Say what the result of a question must be, and what else its column may be."""
    text, name = "the result of a question must be Yes or No", roles["result"]
    if _fold(name) not in ROLES["option"]:
        return text
    state = f" and {roles['state']!r} to 'resolution'" if "state" in roles else ""
    return f"{text}; if that is the option, rename {name!r} to 'option'{state}"


def _suggest_melt(
    columns: Sequence[str],
    roles: Mapping[str, str],
    path: Path,
    rows: Iterable[tuple[int, Sequence[str]]],
    separator: str,
) -> str:
    """Write the line of Python that makes rows of a column per forecaster, or per option.

    It is "" unless all columns of numbers are of probabilities, and if the same table could have
    forecasters or options in its columns.
    """
    from .fields import parse_number

    has = roles.keys()
    if "event" not in has or has & {"probability", "no"} or has >= {"option", "forecaster"}:
        return ""
    cells = {name: set[str]() for name in columns}
    for _, row in rows:
        for name, cell in zip(columns, row, strict=False):
            cells[name].update({cell.strip()} - {""})
    spare = [name for name in columns if name and name not in roles.values() and cells[name]]
    texts = [name for name in spare if any(math.isnan(parse_number(cell)) for cell in cells[name])]
    wide = [name for name in spare if name not in texts]
    numbers = [parse_number(cell) for name in wide for cell in cells[name]]
    results = {cell.casefold() for cell in cells.get(roles.get("result", ""), ())}
    if "forecaster" in roles:
        kind, options = "option", {name.strip().casefold() for name in wide}
        is_sure = bool(results) and results <= options
    else:
        kind = "forecaster"
        has_side = any("yes" in re.findall(r"[^\W_]+", name.casefold()) for name in wide)
        is_sure = results <= FLAGS.keys() and not has_side
    if len(wide) < 2 or min(numbers) < 0 or max(numbers) > 1 or not is_sure:
        return ""
    ids = [name for name in columns if name and name not in wide]
    long = path.with_name(f"long-{path.name}")
    how = "" if separator == "," else f", sep={separator!r}"
    line = (
        f"pandas.read_csv({str(path)!r}{how}).melt({ids}, {wide}, {kind!r}, 'probability')"
        f".to_csv({str(long)!r}, index=False)"
    )
    return f"expected a row per forecast, not a column per {kind}; write it with pandas: {line}"
