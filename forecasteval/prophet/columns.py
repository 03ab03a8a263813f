"""What the columns of a CSV with forecasts mean: known before numpy is imported."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
        "market_id",
        "market",
    ),
    "forecaster": (
        "forecaster",
        "model",
        "username",
        "user",
        "predictor_name",
        "predictor",
        "system",
        "agent",
    ),
    "probability": ("probability", "prob", "p", "prediction", "forecast"),
    "result": ("resolution", "resolved", "result", "winner", "won", "correct", "outcome"),
    "option": ("option", "choice", "answer", "candidate", "market", "contract", "outcome"),
    "price": ("price", "odds", "ask", "yes_ask", "market_price", "market_prob"),
    "bid": ("bid", "yes_bid"),
    "time": ("time", "timestamp", "submission_created_at", "created_at", "snapshot_time"),
    "closed": ("close_time", "end_date", "closes"),
    "category": ("category", "topic"),
    "series": ("series", "cluster"),
}
_OPTION_ROWS: Final = ("event", "option", "forecaster", "probability")
_QUESTION_ROWS: Final = ("event", "forecaster", "probability", "result")
_ARENA: Final = ("event_ticker", "predictor_name", "market_info", "market_outcome", "prediction")
_MARKETS: Final = frozenset({"market_info", "market_outcome"})
_SIDES: Final = frozenset({"option", "forecaster"})
_OF_OPTION: Final = ("won", "correct")  # a result of the row's option, never of the question


def find_roles(columns: Collection[str]) -> dict[str, str]:
    """Find the columns by what they mean, whatever their capitals and blanks.

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
    return name.strip().casefold().replace(" ", "_")


def is_tidy(columns: Collection[str]) -> bool:
    """Return whether a row is about an option of a forecast, or about a question of Yes and No."""
    roles = find_roles(columns).keys()
    is_question = roles >= set(_QUESTION_ROWS) and _MARKETS.isdisjoint(columns)
    return roles >= set(_OPTION_ROWS) or is_question


def is_arena(columns: Collection[str]) -> bool:
    """Return whether a table has Prophet Arena's columns, a row per forecast."""
    return not _MARKETS.isdisjoint(columns) and not is_tidy(columns)


def is_of_option(roles: Mapping[str, str]) -> bool:
    """Return whether the result's column says it of the row's option: `won`, `correct`."""
    return _fold(roles.get("result", "")) in _OF_OPTION


def list_unread(columns: Collection[str]) -> list[str]:
    """Write a line for each column that may mean what another one is read as."""
    roles = find_roles(columns)
    if "result" not in roles:
        return ["no column is called 'resolution' or 'winner'"]
    lines = [
        f"column {name!r} is not read: {roles[role]!r} is the {role}"
        for role in ("option", "forecaster", "result", "price")
        for name in columns
        if role in roles and name not in roles.values() and _fold(name) in ROLES[role]
    ]
    if "option" not in roles and _fold(roles["result"]) in ROLES["option"]:
        result = roles["result"]
        lines.append(f"column {result!r} is the result: every row is a question of Yes and No")
    return lines


def require_columns(columns: Sequence[str], path: Path) -> None:
    """Raise InputError unless the columns are those of a form; it names what is missing."""
    roles = find_roles(columns)
    got = printable(", ".join(columns), 200) or "none"
    if is_arena(columns):
        missing = [name for name in _ARENA if name not in columns]
        if missing:
            expected = f"expected the columns {', '.join(_ARENA)}"
            raise InputError(str(path), expected, f"none named {missing[0]}")
    elif not is_tidy(columns):
        expected = _suggest_melt(columns, roles, path)
        if not expected:
            missing = [f"'{ROLES[role][0]}'" for role in _OPTION_ROWS if role not in roles]
            if not {"option", "result"} & roles.keys():
                missing[missing.index("'option'")] = "'option' (or 'resolution': Yes or No)"
            expected = f"expected a column {', a column '.join(missing)}"
        raise InputError(str(path), expected, got)
    elif "option" not in roles and _fold(roles["result"]) == "correct":
        what = "expected 'resolution' for what came true: 'correct' may be of the forecast"
        raise InputError(str(path), f"{what} where no column is the option", got)
    elif len(several := [name for name in columns if _fold(name) in ROLES["probability"]]) > 1:
        expected = "expected one column of probabilities, the others renamed"  # one may be of No
        raise InputError(str(path), expected, printable(", ".join(several), 200))


def _suggest_melt(columns: Sequence[str], roles: Mapping[str, str], path: Path) -> str:
    """Write the line of Python that makes rows of a column per forecaster, or per option.

    It is "" for a table without such columns.
    """
    kept = [name for name in columns if name in roles.values()]
    known, rest = roles.keys(), len(columns) - len(kept)
    if "event" not in known or "probability" in known or rest < 2 or known >= _SIDES:
        return ""
    name = "option" if "forecaster" in known else "forecaster"
    table = f"pandas.read_csv({path.name!r}).melt({kept}, var_name={name!r}, "
    line = f'{table}value_name="probability").to_csv("long-{path.name}", index=False)'
    return f"expected a row per forecast, not a column per {name}; write it with pandas: {line}"
