"""What the columns of a table must be, and the options that name them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from forecasteval.common.errors import InputError, printable

from .cells import (
    parse_flag,
    parse_number,
)
from .columns import (
    fold,
    format_option,
)
from .lines import Line
from .sheets import Sheet


def require_roles(sheet: Sheet, has_dataset: bool) -> None:
    """Raise InputError unless the columns of forecasts, and of results if no dataset has them, are
    found; it says how to name them.
    """
    roles = sheet.roles
    if "won" in roles and "option" not in roles and "probabilities" not in roles:
        name = roles["won"]
        option = format_option("option", guess_column(sheet, "option") or "NAME")
        expected = f"expected a column for the option that {name!r} is about ({option})"
        raise refuse(sheet, f"{expected}, or for that of the question", ("result", name))
    missing = [] if "event" in roles else ["event"]
    if not roles.keys() & {"probability", "probabilities"}:
        missing.append("probability")
    # A table with options may have no result yet.
    has_options = not roles.keys().isdisjoint({"option", "options", "markets"})
    if not (has_dataset or sheet.has_results or (has_options and "state" not in roles)):
        missing.append("result")
    if missing:
        raise refuse(sheet, _expect(sheet, missing), *_guess_all(sheet, missing))
    p = roles.get("probability", "")
    is_of_yes = "yes" in fold(p).split("_") and "option" in roles
    if is_of_yes and "probability" not in sheet.given:
        expected = f"expected the probability of the row's option, and {p!r} may be of Yes"
        raise refuse(sheet, expected, ("probability", p))


def refuse(sheet: Sheet, expected: str, *columns: tuple[str, str]) -> InputError:
    options = " ".join(format_option(role, name or "NAME") for role, name in columns)
    got = printable(", ".join(name for name in sheet.table.columns if "." not in name), 200)
    return InputError(sheet.where, f"{expected} (name it with {options})", got or "none")


def _expect(sheet: Sheet, missing: Sequence[str]) -> str:
    """Say what columns a table must have."""
    expected = f"a column for the {' and the '.join(missing)}"
    if missing == ["result"] and "state" in sheet.roles:
        name = sheet.roles["state"]
        expected = f"what came true, and {name!r} only says whether that is known"
    elif missing == ["result"]:
        beside = "a file in dataset/ whose name begins like this one's, or --dataset"
        expected = f"a dataset of problems for it ({beside}), or what came true"
    shares = [name for name in sheet.unread if _could_be("probability", sheet.table.held(name))]
    if "probability" in missing and len(shares) > 1:
        expected = f"a row per forecast, {expected}"
    return f"expected {expected}"


def _guess_all(sheet: Sheet, missing: Sequence[str]) -> list[tuple[str, str]]:
    """Guess the column of each missing role; that of the state may be the result."""
    guesses = {role: guess_column(sheet, role) for role in missing}
    if "result" in guesses and "state" in sheet.roles:
        guesses["result"] = sheet.roles["state"]
    return [*guesses.items()]


def guess_column(sheet: Sheet, role: str) -> str:
    """Guess which unread column has a role; "" if it may be several."""
    guesses = [name for name in sheet.unread if _could_be(role, sheet.table.held(name))]
    return guesses[0] if len(guesses) == 1 else ""


def _could_be(role: str, values: Sequence[Any]) -> bool:
    """Return whether the values of a column could have a role."""
    numbers = list(map(parse_number, values))
    is_share = bool(values) and all(0 <= number <= 1 for number in numbers)
    if role == "probability":
        return is_share and any(0 < number < 1 for number in numbers)
    if role == "result":
        return bool(values) and all(parse_flag(value) is not None for value in values)
    are_texts = all(isinstance(value, str) for value in values)
    return bool(values) and are_texts and all(map(math.isnan, numbers)) and len(set(values)) > 1


def require_sense(sheet: Sheet, lines: Sequence[Line]) -> None:
    """Raise InputError if the columns cannot be those of the forecasts: all probabilities are 0 or
    1 beside a column of others, no two forecasters share an event beside one that they would, or
    several forecasts have no forecaster beside a column that tells them apart.
    """
    p = [value for line in lines for _, value, _, _, _ in line.parts if not line.fault]
    others = [name for name in sheet.unread if _could_be("probability", sheet.table.held(name))]
    if others and "probability" not in sheet.given and p and all(value in (0, 1) for value in p):
        name = sheet.roles.get("probability", "")
        expected = f"expected probabilities, and all of {name!r} are 0 or 1"
        raise refuse(sheet, expected, ("probability", others[0]))
    picks = [name for name in sheet.unread if _could_be("result", sheet.table.held(name))]
    p_name = sheet.roles.get("probability", "")
    if picks and fold(p_name) == "confidence" and "probability" not in sheet.given:
        expected = f"expected the probability of Yes, and {p_name!r} may be that of {picks[0]!r}"
        raise refuse(sheet, expected, ("probability", p_name))
    _require_shared_events(sheet)
    _require_forecasters(sheet)


def _require_shared_events(sheet: Sheet) -> None:
    """Raise InputError if every event has one row, and another column has several forecasters in
    each of its values, once.
    """
    forecasters = sheet.texts("forecaster")
    is_row_number = len(set(sheet.events)) == len(sheet.events)
    if not is_row_number or len(set(forecasters)) < 2 or "event" in sheet.given:
        return
    titles = [column for role, column in sheet.roles.items() if role == "title"]
    for name in [*titles, *sheet.unread]:
        values = sheet.table.texts(name)
        pairs = set(zip(values, forecasters, strict=True))
        if len(pairs) == len(values) and 1 < len(set(values)) <= len(values) / 2:
            event = sheet.roles["event"]
            expected = (
                f"expected events that forecasters share, and every row has its own {event!r}"
            )
            raise refuse(sheet, expected, ("event", name))


def _require_forecasters(sheet: Sheet) -> None:
    """Raise InputError if a table without forecasters has several rows of one thing, and a column
    of which each value stands in several events tells them apart.
    """
    if "forecaster" in sheet.roles:
        return
    things = list(zip(sheet.events, sheet.texts("option"), sheet.texts("run"), strict=True))
    if len(set(things)) == len(things):
        return
    for name in sheet.unread:
        values = sheet.table.texts(name)
        if not _could_be("forecaster", sheet.table.held(name)):
            continue
        events = defaultdict[str, set[str]](set)
        for event, value in zip(sheet.events, values, strict=True):
            events[value].add(event)
        tells_apart = len(set(zip(things, values, strict=True))) > len(set(things))
        if tells_apart and all(len(of_value) > 1 for of_value in events.values()):
            expected = "expected a column for the forecaster, of whom an event has several"
            raise refuse(sheet, expected, ("forecaster", name))
