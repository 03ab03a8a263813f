"""Settings of the builder, declared once: type, default, help, what each may be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import JsonObject, number_text

DUPLICATES: Final = ("best", "median", "drop")
_REQUIRED: Final = ("content", "smiles", "none")
_FLAG: Final = (True, False)
_BLACKLIST: Final = (
    *("indeterminate_mol_idt", "description", "indeterminate_descriptions", "other_info"),
    *("selected_conditions", "scale"),
)


def _setting(default: object, text: str, read: Callable[[object], object]) -> Any:
    """Declare a setting: its help, and the function that reads a value of it. The value is typed or
    text; the function may raise ValueError.
    """
    return field(default=default, metadata={"help": text, "read": read})


def _choice(default: object, text: str, allowed: Iterable[object]) -> Any:
    by_name = {str(each).lower(): each for each in allowed}

    def read(value: object) -> object:
        if (word := str(value).strip().lower()) not in by_name:
            raise ValueError(value)
        return by_name[word]

    return _setting(default, text, read)


def _number(default: float, text: str, low: float = 1, high: float = 1e9) -> Any:
    def read(value: object) -> float:
        number = float(value if isinstance(value, str) else number_text(value))
        if not low <= number <= high or (isinstance(default, int) and not number.is_integer()):
            raise ValueError(value)  # nan is in no range
        return type(default)(number)

    return _setting(default, text, read)


def _read_words(value: object) -> tuple[str, ...]:
    """Read a list, JSON text of a list, or words with commas between them."""
    if isinstance(value, str):
        value = json.loads(value) if value.strip().startswith("[") else value.split(",")
    parts = value if isinstance(value, (list, tuple)) else [value]
    return tuple(filter(None, (str(part).strip() for part in parts)))


def _read_some_words(value: object) -> tuple[str, ...]:
    if words := _read_words(value):
        return words
    raise ValueError(value)


def _read_keys(value: object) -> tuple[str, ...] | None:
    words = _read_words(value)
    return None if [word.lower() for word in words] == ["none"] else words


def _read_years(value: object) -> int | tuple[int, ...] | None:
    """Read the year from which on tables count, or a list of years."""
    if (years := _read_keys(value)) is None:
        return None
    if not years or not all(re.fullmatch(r"[0-9]{1,4}", year) for year in years):
        raise ValueError(value)
    is_list = isinstance(value, (list, tuple)) or not {",", "["}.isdisjoint(str(value))
    return tuple(map(int, years)) if is_list else int(years[0])


@dataclass(frozen=True)
class Settings:
    """The builder's settings (seed, section 10, and the last two); on the command line with
    hyphens.
    """

    year_filter: int | tuple[int, ...] | None = _setting(
        None,
        "none, N (published in N or later), or a list of years: 2019,2021 or [2019]",
        _read_years,
    )
    condition_keys: tuple[str, ...] | None = _setting(
        None, "none (all keys that occur) or the list of keys to use", _read_keys
    )
    condition_require: str = _choice(
        "content", "required of every item of a row: content, smiles or none", _REQUIRED
    )
    smiles_exempt_keys: tuple[str, ...] = _setting(
        ("solvents",),
        "keys whose items need no SMILES with --condition-require smiles",
        _read_words,
    )
    reactant_product_require: str = _choice(
        "smiles", "required of every reactant and product: smiles, content or none", _REQUIRED
    )
    input_products_mode: str = _choice(
        "main_only", "products shown: main_only or all", ("main_only", "all")
    )
    yield_field_priority: tuple[str, ...] = _setting(
        ("isolated_yield", "yield_ratio"),
        "result fields that hold the yield, the first readable one counts",
        _read_some_words,
    )
    expand_current_conditions: bool = _choice(
        True, "lift the keys inside current_conditions (true or false)", _FLAG
    )
    condition_keys_blacklist: tuple[str, ...] = _setting(
        _BLACKLIST, "keys that are not conditions", _read_words
    )
    normalize_conditions: bool = _choice(
        True,
        "compare conditions regardless of width, blanks, case and order (true or false)",
        _FLAG,
    )
    balance_all_varying_options: bool = _choice(
        False, "balance how often values occur in all_varying options (true or false)", _FLAG
    )
    balance_max_imbalance_ratio: float = _number(
        1.5, "ratio of most to least frequent value up to which nothing is balanced, >= 1"
    )
    balance_min_options: int = _number(4, "minimum of options after balancing")
    min_reference_options: int = _number(2, "minimum of references of a question")
    max_reference_options: int = _number(5, "maximum of references of a question")
    min_reference_remaining_effective_options: int = _number(
        5, "minimum of options of an all_varying question besides its references"
    )
    reference_low_mid_fraction: float = _number(
        0.6666666666666666,
        "share of the candidates, from the lowest up, that may be references, in (0, 1]",
        1e-9,
        1,
    )
    max_options: int = _number(
        20,
        "maximum of options of a question; of more, the best and an even spread of the rest stay",
        2,
    )
    duplicates: str | None = _choice(
        None,
        "rows with equal conditions: best, median or drop; none: as the table says, otherwise best",
        (*DUPLICATES, None),
    )


SETTINGS: Final = {setting.name: setting for setting in fields(Settings)}
SETTING_HELP: Final[Mapping[str, str]] = {
    name: setting.metadata["help"] for name, setting in SETTINGS.items()
}


def make_settings(values: JsonObject) -> Settings:
    """Settings with `values`, typed or as text, in place of defaults; InputError names a bad
    one.
    """
    if unknown := sorted(values.keys() - SETTINGS.keys()):
        raise InputError("settings", f"no setting {unknown[0]}")
    read = {}
    for name, value in values.items():
        try:
            read[name] = SETTINGS[name].metadata["read"](value)
        except (ValueError, RecursionError):
            option = "--" + name.replace("_", "-")
            raise InputError(
                option, f"expected {SETTING_HELP[name]}", printable(repr(value), 60)
            ) from None
    settings = Settings(**read)
    if settings.max_reference_options < settings.min_reference_options:
        raise InputError("--max-reference-options", "must not be below --min-reference-options")
    return settings
