"""Single cells: flags, words for what has no outcome, numbers, names, and
literals in a text.
"""

from __future__ import annotations

import ast
import contextlib
import math
from collections.abc import Sequence
from typing import Any, Final

from forecasteval.common.errors import InputError
from forecasteval.common.markup import parse_expression
from forecasteval.common.records import has_repeated_keys, number_text, parse_json

FLAGS: Final = {
    **dict.fromkeys(("1", "1.0", "true", "t", "yes", "y"), True),
    **dict.fromkeys(("0", "0.0", "false", "f", "no", "n"), False),
}
NO_OUTCOME: Final = "no outcome yet"
FROM_ONE: Final = "'correct_option_idx' is the number of options: it counts from 0"
VOID: Final = "void, neither Yes nor No"
# What sites write as the result of a question that will have none, or has none yet.
_VOID_WORDS: Final = (
    *(
        "void",
        "voided",
        "annulled",
        "ambiguous",
        "cancel",
        "canceled",
        "cancelled",
        "invalid",
    ),
    *("mkt", "n/a", "na", "scalar", "withdrawn", "50-50", "50/50", "no resolution"),
)
_PENDING_WORDS: Final = (
    *(
        "unresolved",
        "pending",
        "open",
        "unknown",
        "tbd",
        "null",
        "none",
        "nan",
        "not resolved",
    ),
)
STATES: Final = {
    **dict.fromkeys(_VOID_WORDS, VOID),
    **dict.fromkeys(_PENDING_WORDS, NO_OUTCOME),
}
# Characters of a Python literal: parsing takes a hundred times its size.
_MAX_LITERAL: Final = 1_000_000


def parse_flag(value: object) -> bool | None:
    """Read a flag; None for any other value.

    >>> parse_flag("Yes"), parse_flag(0.0), parse_flag("Ada")
    (True, False, None)
    """
    return FLAGS.get(str(value).casefold())


def is_state(value: object) -> bool:
    """Return whether a result says that there is none."""
    return str(value).casefold() in STATES


def parse_id(value: object) -> str:
    """Read an id or a name as text: 7 and "7" are one. It is "" if it is neither
    text nor a number.
    """
    return value if isinstance(value, str) else number_text(value)


def as_list(value: object) -> Sequence[object]:
    """Return a list as it is, and of any other value a list with it alone."""
    if isinstance(value, (list, tuple)):
        return value
    return [value]


def parse_number(value: object) -> float:
    """Read a number or the plain text of one; nan for anything else, blanks
    and booleans too.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else math.nan
    if isinstance(value, str):
        if "_" in value:  # float("0_5") is 5.0
            return math.nan
        try:
            return float(value)
        except ValueError:
            return math.nan
    text = number_text(value)
    return float(text) if text and len(text) < 400 else math.nan


def complement(p: object) -> object:
    """Return the probability or the price of No; what is none, such as
    cents, as it is.
    """
    number = parse_number(p)
    return 1 - number if 0 <= number <= 1 else p


def holds_literal(value: object) -> bool:
    """Return whether a cell is a list or an object, or the text of one."""
    return isinstance(value, (list, dict)) or (
        isinstance(value, str) and value[:1] in ("[", "{")
    )


def parse_literal(value: object) -> Any:
    """Parse a cell's JSON or Python literal; None for anything else, and for a
    key given twice.
    """
    if not isinstance(value, str):
        return None if has_repeated_keys(value) else value
    if value[:1] not in ("[", "{"):
        return None
    with contextlib.suppress(InputError):
        parsed = parse_json(value, "")
        return None if has_repeated_keys(parsed) else parsed
    if len(value) > _MAX_LITERAL:
        return None
    try:
        tree = parse_expression(value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                if len(set(keys)) < len(keys):
                    return None
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
