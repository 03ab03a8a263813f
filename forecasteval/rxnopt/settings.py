"""Settings of the builder, declared once: type, default, help, what each may be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import number_text

DUPLICATES: Final = ("best", "median", "drop")
_REQUIRED: Final = ("content", "smiles", "none")
_BLACKLIST: Final = (
    *("indeterminate_mol_idt", "description", "indeterminate_descriptions", "other_info"),
    *("selected_conditions", "scale"),
)


def _setting(default: object, text: str, allowed: tuple[object, ...] = ()) -> Any:
    """A setting with its help; `allowed` are words or a range, where the type of the default does
    not say enough.
    """
    if isinstance(default, (int, float)) and not allowed:
        allowed = ("true", "false") if isinstance(default, bool) else (1, 1e9)
    return field(default=default, metadata={"help": text, "allowed": allowed})


@dataclass(frozen=True)
class Settings:
    """The builder's settings (seed, section 10, and the last two); on the command line with
    hyphens.
    """

    year_filter: int | tuple[int, ...] | None = _setting(
        None, "none, N (published in N or later), or a list of years: 2019,2021 or [2019]"
    )
    condition_keys: tuple[str, ...] | None = _setting(
        None, "none (all keys that occur) or the list of keys to use"
    )
    condition_require: str = _setting(
        "content", "required of every item of a row: content, smiles or none", _REQUIRED
    )
    smiles_exempt_keys: tuple[str, ...] = _setting(
        ("solvents",), "keys whose items need no SMILES with --condition-require smiles"
    )
    reactant_product_require: str = _setting(
        "smiles", "required of every reactant and product: smiles, content or none", _REQUIRED
    )
    input_products_mode: str = _setting(
        "main_only", "products shown: main_only or all", ("main_only", "all")
    )
    yield_field_priority: tuple[str, ...] = _setting(
        ("isolated_yield", "yield_ratio"),
        "result fields that hold the yield, the first readable one counts",
    )
    expand_current_conditions: bool = _setting(
        True, "lift the keys inside current_conditions (true or false)"
    )
    condition_keys_blacklist: tuple[str, ...] = _setting(_BLACKLIST, "keys that are not conditions")
    normalize_conditions: bool = _setting(
        True, "compare conditions regardless of width, blanks, case and order (true or false)"
    )
    balance_all_varying_options: bool = _setting(
        False, "balance how often values occur in all_varying options (true or false)"
    )
    balance_max_imbalance_ratio: float = _setting(
        1.5, "ratio of most to least frequent value up to which nothing is balanced, >= 1"
    )
    balance_min_options: int = _setting(4, "minimum of options after balancing")
    min_reference_options: int = _setting(2, "minimum of references of a question")
    max_reference_options: int = _setting(5, "maximum of references of a question")
    min_reference_remaining_effective_options: int = _setting(
        5, "minimum of options of an all_varying question besides its references"
    )
    reference_low_mid_fraction: float = _setting(
        0.6666666666666666,
        "share of the candidates, from the lowest up, that may be references, in (0, 1]",
        (1e-9, 1),
    )
    max_options: int = _setting(
        20,
        "maximum of options of a question; of more, the best and an even spread of the rest stay",
        (2, 1e9),
    )
    duplicates: str | None = _setting(
        None,
        "rows with equal conditions: best, median or drop; none: as the table says, otherwise best",
        DUPLICATES,
    )


SETTINGS: Final = {setting.name: setting for setting in fields(Settings)}
SETTING_HELP: Final[Mapping[str, str]] = {
    name: setting.metadata["help"] for name, setting in SETTINGS.items()
}


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Settings with `values`, typed or as text, in place of defaults; InputError names a bad
    one.
    """
    if unknown := sorted(values.keys() - SETTINGS.keys()):
        raise InputError("settings", f"no setting {unknown[0]}")
    settings = Settings()
    for name, value in values.items():
        try:
            settings = replace(settings, **{name: _read_setting(name, value)})
        except (ValueError, RecursionError):
            option = "--" + name.replace("_", "-")
            raise InputError(
                option, f"expected {SETTING_HELP[name]}", printable(repr(value), 60)
            ) from None
    if settings.max_reference_options < settings.min_reference_options:
        raise InputError("--max-reference-options", "must not be below --min-reference-options")
    return settings


def _read_setting(name: str, value: object) -> Any:
    """The value of a setting, typed or as text; ValueError if it cannot have it."""
    default, allowed = SETTINGS[name].default, SETTINGS[name].metadata["allowed"]
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
    is_whole = number.is_integer() or isinstance(default, float)
    if not allowed[0] <= number <= allowed[1] or not is_whole:  # nan is in no range
        raise ValueError(value)
    return int(number) if isinstance(default, int) else number


def _read_words(value: object) -> tuple[str, ...]:
    """A list, JSON text of a list, or words with commas between them."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = json.loads(value)
    parts = (
        value.split(",")
        if isinstance(value, str)
        else value
        if isinstance(value, (list, tuple))
        else [value]
    )
    return tuple(text for text in (str(part).strip() for part in parts) if text)


def _read_years(value: object, years: tuple[str, ...]) -> int | tuple[int, ...]:
    """The year from which on tables count, or a list of years."""
    if not all(re.fullmatch(r"[0-9]{1,4}", year) for year in years):
        raise ValueError(value)
    listed = isinstance(value, (list, tuple)) or "," in str(value) or "[" in str(value)
    return tuple(map(int, years)) if listed else int(years[0])
