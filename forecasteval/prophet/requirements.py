"""What the columns of a table must be, and the options that name them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from forecasteval.common.errors import InputError, printable

from .cells import parse_flag, parse_number
from .columns import fold, format_option
from .lines import Line, fold_word
from .sheets import Sheet

_ROUNDING: Final = 0.02  # of a sum of several rounded to hundredths


def require_roles(sheet: Sheet, has_dataset: bool) -> None:
    """Raise InputError unless the columns of forecasts, and of results if no dataset
    has them, are found; it says how to name them.
    """
    roles = sheet.roles
    if "won" in roles and "option" not in roles and "probabilities" not in roles:
        name = roles["won"]
        option = format_option("option", _guess_column(sheet, "option") or "NAME")
        expected = f"expected a column for the option that {name!r} is about ({option})"
        raise _refuse(
            sheet, f"{expected}, or for that of the question", ("result", name)
        )
    missing = []
    if "event" not in roles:
        missing.append("event")
    if not roles.keys() & {"probability", "probabilities"}:
        missing.append("probability")
    # A table with options may have no result yet.
    has_options = not roles.keys().isdisjoint({"option", "options", "markets"})
    if not (has_dataset or sheet.has_results or (has_options and "state" not in roles)):
        missing.append("result")
    if missing:
        raise _refuse_missing(sheet, missing)
    p = roles.get("probability", "")
    is_of_yes = "yes" in fold(p).split("_") and "option" in roles
    if is_of_yes and "probability" not in sheet.given:
        expected = (
            f"expected the probability of the row's option, and {p!r} may be of Yes"
        )
        raise _refuse(sheet, expected, ("probability", p))


def require_event(sheet: Sheet) -> None:
    """Raise InputError unless the column of the event is found."""
    if "event" not in sheet.roles:
        raise _refuse_missing(sheet, ["event"])


def _refuse(sheet: Sheet, expected: str, *columns: tuple[str, str]) -> InputError:
    options = " ".join(format_option(role, name or "NAME") for role, name in columns)
    return InputError(
        sheet.where, f"{expected} (name it with {options})", _list_columns(sheet)
    )


def _list_columns(sheet: Sheet) -> str:
    names = ", ".join(name for name in sheet.table.columns if "." not in name)
    return printable(names, 200) or "none"


def _refuse_missing(sheet: Sheet, missing: Sequence[str]) -> InputError:
    """Say what columns a table must have, and guess which they are."""
    guesses = {role: _guess_column(sheet, role) for role in missing}
    expected = f"expected a column for the {' and the '.join(missing)}"
    if missing == ["result"] and "state" not in sheet.roles:
        beside = "a file in dataset/ whose name begins like this one's, or --dataset"
        expected = (
            f"expected a dataset of problems for it ({beside}), or what came true"
        )
    if "result" in missing and "state" in sheet.roles:
        name = guesses["result"] = sheet.roles["state"]
        if missing == ["result"]:
            expected = (
                f"expected what came true, and {name!r} only says whether that is known"
            )
    shares = _list_columns_for(sheet, "probability")
    if "probability" in missing and len(shares) > 1:
        if _are_options(sheet, shares):
            names = printable(", ".join(map(repr, shares)), 200)
            expected = (
                "expected a row per option, with columns 'option' and 'probability'"
            )
            return InputError(
                sheet.where, f"{expected} in place of {names}", _list_columns(sheet)
            )
        if "forecaster" not in sheet.roles:
            expected += ", or one per forecaster"
            guesses["probability"] = ",".join(shares)
    return _refuse(sheet, expected, *guesses.items())


def _are_options(sheet: Sheet, columns: Sequence[str]) -> bool:
    """Return whether columns of probabilities are of options: they add up to 1, or one
    is named as the result.
    """
    results = set(map(fold_word, sheet.values("result")))
    if not results.isdisjoint(map(str.casefold, columns)):
        return True
    numbers = (map(parse_number, sheet.table.values(name)) for name in columns)
    return all(not abs(sum(row) - 1) > _ROUNDING for row in zip(*numbers, strict=True))


def _list_columns_for(sheet: Sheet, role: str) -> list[str]:
    """List the unread columns whose values could have a role."""
    return [name for name in sheet.unread if _could_be(role, sheet.table.held(name))]


def _guess_column(sheet: Sheet, role: str) -> str:
    """Guess which unread column has a role; "" if it may be several."""
    columns = _list_columns_for(sheet, role)
    if len(columns) != 1:
        return ""
    return columns[0]


def _could_be(role: str, values: Sequence[Any]) -> bool:
    """Return whether the values of a column could have a role."""
    if not values:
        return False
    if role == "result":
        return all(parse_flag(value) is not None for value in values)
    numbers = list(map(parse_number, values))
    if role == "probability":
        is_fraction = any(0 < number < 1 for number in numbers)
        return is_fraction and all(0 <= number <= 1 for number in numbers)
    are_texts = all(isinstance(value, str) for value in values)
    return are_texts and all(map(math.isnan, numbers)) and len(set(values)) > 1


def require_sense(sheet: Sheet, lines: Sequence[Line]) -> None:
    """Raise InputError if the columns cannot be those of the forecasts: all
    probabilities are 0 or 1 beside a column of others, no two forecasters share an
    event beside one that they would, or several forecasts have no forecaster beside a
    column that tells them apart.
    """
    if "probability" not in sheet.given:
        _require_probabilities(sheet, lines)
    _require_shared_events(sheet)
    _require_forecasters(sheet)


def _require_probabilities(sheet: Sheet, lines: Sequence[Line]) -> None:
    """Raise InputError if probabilities may be picks, or those of picks."""
    column = sheet.roles.get("probability", "")
    p = [value for line in lines for _, value, _, _, _ in line.parts if not line.fault]
    others = _list_columns_for(sheet, "probability")
    if others and p and all(value in (0, 1) for value in p):
        expected = f"expected probabilities, and all of {column!r} are 0 or 1"
        raise _refuse(sheet, expected, ("probability", others[0]))
    picks = _list_columns_for(sheet, "result")
    if picks and fold(column) == "confidence":
        expected = (
            f"expected the probability of Yes, and {column!r} may be that of "
            f"{picks[0]!r}"
        )
        raise _refuse(sheet, expected, ("probability", column))


def _require_shared_events(sheet: Sheet) -> None:
    """Raise InputError if every event has one row, and another column has several
    forecasters in each of its values, once.
    """
    forecasters = sheet.texts("forecaster")
    is_row_number = len(set(sheet.events)) == len(sheet.events)
    if not is_row_number or len(set(forecasters)) < 2 or "event" in sheet.given:
        return
    for name in filter(None, [sheet.roles.get("title"), *sheet.unread]):
        values = sheet.table.texts(name)
        pairs = set(zip(values, forecasters, strict=True))
        is_shared = 1 < len(set(values)) <= len(values) / 2
        if is_shared and len(pairs) == len(values):
            event = sheet.roles["event"]
            expected = (
                "expected events that forecasters share, and every row has its own "
                f"{event!r}"
            )
            raise _refuse(sheet, expected, ("event", name))


def _require_forecasters(sheet: Sheet) -> None:
    """Raise InputError if a table without forecasters has several rows of one thing,
    and a column of which each value stands in several events tells them apart.
    """
    if "forecaster" in sheet.roles:
        return
    things = list(
        zip(sheet.events, sheet.texts("option"), sheet.texts("run"), strict=True)
    )
    if len(set(things)) == len(things):
        return
    for name in _list_columns_for(sheet, "forecaster"):
        values = sheet.table.texts(name)
        events = defaultdict[str, set[str]](set)
        for event, value in zip(sheet.events, values, strict=True):
            events[value].add(event)
        tells_apart = len(set(zip(things, values, strict=True))) > len(set(things))
        if tells_apart and all(len(of_value) > 1 for of_value in events.values()):
            expected = (
                "expected a column for the forecaster, of whom an event has several"
            )
            raise _refuse(sheet, expected, ("forecaster", name))
