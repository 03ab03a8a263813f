"""What the columns of a CSV with a row per option mean: known before numpy is imported."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

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
    "result": ("resolved", "resolution", "result", "won", "correct", "outcome"),
    "option": ("option", "choice", "answer", "candidate", "market", "contract", "outcome"),
    "price": ("price", "odds", "ask", "yes_ask", "market_price", "market_prob"),
    "bid": ("bid", "yes_bid"),
    "time": ("time", "timestamp", "submission_created_at", "created_at", "snapshot_time"),
    "closed": ("close_time", "end_date", "closes"),
    "category": ("category", "topic"),
    "series": ("series", "cluster"),
}
NEEDED: Final = ("event", "option", "forecaster", "probability")


def find_roles(columns: Collection[str]) -> dict[str, str]:
    """The columns by what they mean; capitals and blanks of a name do not matter."""
    named = {_fold(name): name for name in reversed([*columns])}
    roles: dict[str, str] = {}
    for role, names in ROLES.items():
        column = next((name for name in names if name in named), None)
        if column:
            roles[role] = named.pop(column)
    return roles


def _fold(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def list_unread(columns: Collection[str]) -> list[str]:
    """A line for each column that could mean what another one is read as."""
    roles = find_roles(columns)
    rest = [name for name in columns if name not in roles.values()]
    return [
        f"column {name!r} is not read: {roles[role]!r} is the {role}"
        for role in ("option", "forecaster", "probability", "result", "price")
        for name in rest
        if role in roles and _fold(name) in ROLES[role]
    ]


def is_tidy(columns: Collection[str]) -> bool:
    """Whether a table has a row per option of a forecast."""
    return find_roles(columns).keys() >= set(NEEDED)


def describe_missing(columns: Collection[str]) -> str:
    """What a table needs besides its columns, with the names that it may have."""
    lacking = [role for role in NEEDED if role not in find_roles(columns)]
    return "; ".join(f"the {role} ({', '.join(ROLES[role])})" for role in lacking)
