"""Settings of the builder: their defaults, how each is read from text, and its help."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import number_text

DUPLICATES: Final = ("best", "median", "drop")


class Settings(NamedTuple):
    """The builder's settings (seed, section 10, and the last two); on the command line with hyphens."""

    year_filter: int | tuple[int, ...] | None = None
    condition_keys: tuple[str, ...] | None = None
    condition_require: str = "content"
    smiles_exempt_keys: tuple[str, ...] = ("solvents",)
    reactant_product_require: str = "smiles"
    input_products_mode: str = "main_only"
    yield_field_priority: tuple[str, ...] = ("isolated_yield", "yield_ratio")
    expand_current_conditions: bool = True
    condition_keys_blacklist: tuple[str, ...] = (
        "indeterminate_mol_idt", "description", "indeterminate_descriptions", "other_info", "selected_conditions",
        "scale",
    )  # fmt: skip
    normalize_conditions: bool = True
    balance_all_varying_options: bool = False
    balance_max_imbalance_ratio: float = 1.5
    balance_min_options: int = 4
    min_reference_options: int = 2
    max_reference_options: int = 5
    min_reference_remaining_effective_options: int = 5
    reference_low_mid_fraction: float = 0.6666666666666666
    max_options: int = 20
    duplicates: str | None = None


# --- Readers: a value, typed or as text, or a ValueError ---


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        word = str(value).strip().lower()
        if word not in words:
            raise ValueError(value)
        return word

    return read


def _flag(value: Any) -> bool:
    return _one_of("true", "false")(value) == "true"


def _number(low: float, high: float = 1e9) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = float(value if isinstance(value, str) else number_text(value))
        if not low <= number <= high:  # nan is neither
            raise ValueError(value)
        return number

    return read


def _count(low: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = _number(low)(value)
        if not number.is_integer():
            raise ValueError(value)
        return int(number)

    return read


def _words(value: Any) -> tuple[str, ...]:
    """A list, JSON text of one, or words with commas between them; what is no list is none."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    return tuple(text for text in (str(part).strip() for part in parts) if text)


def _some_words(value: Any) -> tuple[str, ...]:
    words = _words(value)
    if not words:
        raise ValueError(value)
    return words


def _years(value: Any) -> int | tuple[int, ...]:
    """One year, from which on, or a list of years."""
    years = _some_words(value)
    if not all(re.fullmatch(r"[0-9]{1,4}", year) for year in years):
        raise ValueError(value)
    listed = isinstance(value, (list, tuple)) or "," in str(value) or "[" in str(value)
    return tuple(map(int, years)) if listed else int(years[0])


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None or str(value).strip().lower() == "none" else read(value)


_REQUIRED: Final = _one_of("content", "smiles", "none")
_READERS: Final[dict[str, tuple[Callable[[Any], Any], str]]] = {
    "year_filter": (_or_none(_years), "none, N (published in N or later), or a list of years: 2019,2021 or [2019]"),
    "condition_keys": (_or_none(_words), "none (all keys that occur) or the list of keys to use"),
    "condition_require": (_REQUIRED, "what every item of a row must have: content, smiles or none"),
    "smiles_exempt_keys": (_words, "keys whose items need no SMILES where --condition-require is smiles"),
    "reactant_product_require": (_REQUIRED, "what every reactant and product must have: smiles, content or none"),
    "input_products_mode": (_one_of("main_only", "all"), "products shown: main_only or all"),
    "yield_field_priority": (_some_words, "result fields that hold the yield, the first readable one counts"),
    "expand_current_conditions": (_flag, "lift the keys inside current_conditions (true or false)"),
    "condition_keys_blacklist": (_words, "keys that are no conditions"),
    "normalize_conditions": (_flag, "compare conditions regardless of width, blanks, case and order (true or false)"),
    "balance_all_varying_options": (_flag, "even out how often values occur in all_varying options (true or false)"),
    "balance_max_imbalance_ratio": (_number(1), "most frequent / least frequent value that is left alone, >= 1"),
    "balance_min_options": (_count(1), "options that balancing always leaves"),
    "min_reference_options": (_count(1), "fewest references of a question"),
    "max_reference_options": (_count(1), "most references of a question"),
    "min_reference_remaining_effective_options": (
        _count(1),
        "options that an all_varying question keeps beside its references",
    ),
    "reference_low_mid_fraction": (
        _number(1e-9, 1),
        "share of the candidates, from the lowest up, that may be references, in (0, 1]",
    ),
    "max_options": (_count(2), "most options of a question; of more, the best and an even spread of the rest stay"),
    "duplicates": (
        _or_none(_one_of(*DUPLICATES)),
        "rows with equal conditions: best, median or drop; none: what the table says, else best",
    ),
}
SETTING_HELP: Final = {name: text for name, (_, text) in _READERS.items()}


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Settings with `values`, typed or as text, in place of defaults; InputError names a bad one."""
    unknown = sorted(values.keys() - set(Settings._fields))
    if unknown:
        raise InputError("settings", f"no setting {unknown[0]}")
    settings = Settings(**{name: _read_setting(name, value) for name, value in values.items()})
    if settings.max_reference_options < settings.min_reference_options:
        raise InputError("--max-reference-options", "must not be below --min-reference-options")
    return settings


def _read_setting(name: str, value: Any) -> Any:
    read, meaning = _READERS[name]
    try:
        return read(value)
    except ValueError:
        option = "--" + name.replace("_", "-")
        raise InputError(option, f"expected {meaning}", printable(repr(value), 60)) from None
