"""Settings of the builder: their defaults, what each may be, and its help."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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


_BOTH: Final = ("true", "false")
_REQUIRED: Final = ("content", "smiles", "none")
_EXPECTED: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {  # help, and the words or the range of what is no list
    "year_filter": ("none, N (published in N or later), or a list of years: 2019,2021 or [2019]", ()),
    "condition_keys": ("none (all keys that occur) or the list of keys to use", ()),
    "condition_require": ("what every item of a row must have: content, smiles or none", _REQUIRED),
    "smiles_exempt_keys": ("keys whose items need no SMILES where --condition-require is smiles", ()),
    "reactant_product_require": ("what every reactant and product must have: smiles, content or none", _REQUIRED),
    "input_products_mode": ("products shown: main_only or all", ("main_only", "all")),
    "yield_field_priority": ("result fields that hold the yield, the first readable one counts", ()),
    "expand_current_conditions": ("lift the keys inside current_conditions (true or false)", _BOTH),
    "condition_keys_blacklist": ("keys that are no conditions", ()),
    "normalize_conditions": ("compare conditions regardless of width, blanks, case and order (true or false)", _BOTH),
    "balance_all_varying_options": ("even out how often values occur in all_varying options (true or false)", _BOTH),
    "balance_max_imbalance_ratio": ("most frequent / least frequent value that is left alone, >= 1", (1, 1e9)),
    "balance_min_options": ("options that balancing always leaves", (1, 1e9)),
    "min_reference_options": ("fewest references of a question", (1, 1e9)),
    "max_reference_options": ("most references of a question", (1, 1e9)),
    "min_reference_remaining_effective_options": (
        "options that an all_varying question keeps beside its references",
        (1, 1e9),
    ),
    "reference_low_mid_fraction": (
        "share of the candidates, from the lowest up, that may be references, in (0, 1]",
        (1e-9, 1),
    ),
    "max_options": ("most options of a question; of more, the best and an even spread of the rest stay", (2, 1e9)),
    "duplicates": (
        "rows with equal conditions: best, median or drop; none: what the table says, else best",
        DUPLICATES,
    ),
}
SETTING_HELP: Final = {name: text for name, (text, _) in _EXPECTED.items()}


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Settings with `values`, typed or as text, in place of defaults; InputError names a bad one."""
    unknown = sorted(values.keys() - set(Settings._fields))
    if unknown:
        raise InputError("settings", f"no setting {unknown[0]}")
    settings = Settings()
    for name, value in values.items():
        try:
            settings = settings._replace(**{name: _read_setting(name, value)})
        except ValueError:
            option = "--" + name.replace("_", "-")
            raise InputError(option, f"expected {SETTING_HELP[name]}", printable(repr(value), 60)) from None
    if settings.max_reference_options < settings.min_reference_options:
        raise InputError("--max-reference-options", "must not be below --min-reference-options")
    return settings


def _read_setting(name: str, value: Any) -> Any:
    """The value of a setting, typed or as text; ValueError if it cannot have it."""
    default, (_, allowed) = Settings._field_defaults[name], _EXPECTED[name]
    text = str(value).strip().lower()
    if default is None and text == "none":
        return None
    if not allowed:
        words = _read_words(value)
        if not words and name in ("year_filter", "yield_field_priority"):
            raise ValueError(value)
        return _read_years(value, words) if name == "year_filter" else words
    if isinstance(allowed[0], str):
        if text not in allowed:
            raise ValueError(value)
        return text == "true" if isinstance(default, bool) else text
    number = float(value if isinstance(value, str) else number_text(value))
    if not allowed[0] <= number <= allowed[1] or (
        isinstance(default, int) and not number.is_integer()
    ):  # nan is neither
        raise ValueError(value)
    return type(default)(number)


def _read_words(value: Any) -> tuple[str, ...]:
    """A list, JSON text of one, or words with commas between them; what is no list is none."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    return tuple(text for text in (str(part).strip() for part in parts) if text)


def _read_years(value: Any, years: tuple[str, ...]) -> int | tuple[int, ...]:
    """One year, from which on, or a list of years."""
    if not all(re.fullmatch(r"[0-9]{1,4}", year) for year in years):
        raise ValueError(value)
    listed = isinstance(value, (list, tuple)) or "," in str(value) or "[" in str(value)
    return tuple(map(int, years)) if listed else int(years[0])
