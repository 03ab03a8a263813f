"""Settings of the builder, declared once: type, default, help, what each may be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import JsonObject, number_text

DUPLICATES: Final = ("best", "median", "drop")
_REQUIRED: Final = ("content", "smiles", "none")
_ALLOWED: Final = {
    "condition_require": _REQUIRED,
    "reactant_product_require": _REQUIRED,
    "input_products_mode": ("main_only", "all"),
    "duplicates": (*DUPLICATES, None),
}
_RANGES: Final = {"reference_low_mid_fraction": (1e-9, 1.0), "max_options": (2.0, 1e9)}
_BLACKLIST: Final = (
    *(
        "indeterminate_mol_idt",
        "description",
        "indeterminate_descriptions",
        "other_info",
    ),
    *("selected_conditions", "scale"),
)


def _setting(default: object, en: str, zh: str) -> Any:
    """Declare a setting with its help in English and Chinese."""
    return field(default=default, metadata={"en": en, "zh": zh})


@dataclass(frozen=True)
class Settings:
    """The builder's settings (seed, section 10, and the last two); on the command
    line with hyphens.
    """

    year_filter: int | tuple[int, ...] | None = _setting(
        None,
        "none, N (published in N or later), or a list of years: 2019,2021 or [2019]",
        "论文发表年份：null 为不限，整数 N 为不早于 N 年，列表为指定年份",
    )
    condition_keys: tuple[str, ...] | None = _setting(
        None,
        "none (all keys that occur) or the list of keys to use",
        "使用的条件键；null 为全部",
    )
    condition_require: str = _setting(
        "content",
        "required of every item of a row: content, smiles or none",
        "每个条件项必须具备的字段",
    )
    smiles_exempt_keys: tuple[str, ...] = _setting(
        ("solvents",),
        "keys whose items need no SMILES with --condition-require smiles",
        "要求 SMILES 时豁免的条件键",
    )
    reactant_product_require: str = _setting(
        "smiles",
        "required of every reactant and product: smiles, content or none",
        "每个反应物与产物必须具备的字段",
    )
    input_products_mode: str = _setting(
        "main_only", "products shown: main_only or all", "题面给出的产物"
    )
    yield_field_priority: tuple[str, ...] = _setting(
        ("isolated_yield", "yield_ratio"),
        "result fields that hold the yield, the first readable one counts",
        "产率字段的优先级",
    )
    expand_current_conditions: bool = _setting(
        True,
        "lift the keys inside current_conditions (true or false)",
        "是否展开 current_conditions",
    )
    condition_keys_blacklist: tuple[str, ...] = _setting(
        _BLACKLIST, "keys that are not conditions", "不作为条件的键"
    )
    normalize_conditions: bool = _setting(
        True,
        "compare conditions regardless of width, blanks, case and order (true or "
        "false)",
        "比较条件时是否归一化",
    )
    balance_all_varying_options: bool = _setting(
        False,
        "balance how often values occur in all_varying options (true or false)",
        "是否均衡 all_varying 选项",
    )
    balance_max_imbalance_ratio: float = _setting(
        1.5,
        "ratio of most to least frequent value up to which nothing is balanced, >= 1",
        "均衡化的目标上界",
    )
    balance_min_options: int = _setting(
        4, "minimum of options after balancing", "均衡化至少保留的选项数"
    )
    min_reference_options: int = _setting(
        2, "minimum of references of a question", "reference 的最少条数"
    )
    max_reference_options: int = _setting(
        5, "maximum of references of a question", "reference 的最多条数"
    )
    min_reference_remaining_effective_options: int = _setting(
        5,
        "minimum of options of an all_varying question besides its references",
        "all_varying 题除 reference 外至少保留的选项数",
    )
    reference_low_mid_fraction: float = _setting(
        0.6666666666666666,
        "share of the candidates, from the lowest up, that may be references, in (0, "
        "1]",
        "从低到高，可作 reference 的候选比例",
    )
    max_options: int = _setting(
        20,
        "maximum of options of a question; of more, the best and an even spread of the "
        "rest stay",
        "每题最多的选项数；超过时保留最佳，其余按 effective 均匀抽取",
    )
    duplicates: str | None = _setting(
        None,
        "rows with equal conditions: best, median or drop; none: as the table says, "
        "otherwise best",
        "条件相同的行：best、median 或 drop；null 为按表格所述，否则 best",
    )
    numeric_scores: bool = _setting(
        False,
        "selectivities in meta.scores as numbers: ee in percent, er, dr and rr as r of "
        "r:1",
        "meta.scores 中 ee 写为百分数，er、dr、rr 写为 r:1 的 r，而不是原文",
    )


SETTINGS: Final = {setting.name: setting for setting in fields(Settings)}
SETTING_HELP: Final[Mapping[str, str]] = {
    name: setting.metadata["en"] for name, setting in SETTINGS.items()
}


def make_settings(values: JsonObject) -> Settings:
    """Settings with `values`, typed or as text, in place of defaults; InputError
    names a bad one.
    """
    if unknown := sorted(values.keys() - SETTINGS.keys()):
        raise InputError("settings", f"no setting {unknown[0]}")
    read = {}
    for name, value in values.items():
        try:
            read[name] = _read_value(name, value)
        except (KeyError, ValueError, RecursionError):
            option = "--" + name.replace("_", "-")
            got = printable(repr(value), 60)
            raise InputError(option, f"expected {SETTING_HELP[name]}", got) from None
    settings = Settings(**read)
    if settings.max_reference_options < settings.min_reference_options:
        raise InputError(
            "--max-reference-options", "must not be below --min-reference-options"
        )
    return settings


def _read_value(name: str, value: object) -> Any:
    """Read the value of a setting, typed or text; KeyError or ValueError for one
    it cannot have.
    """
    default = SETTINGS[name].default
    if name in _ALLOWED or isinstance(default, bool):
        by_name = {
            str(each).lower(): each for each in _ALLOWED.get(name, (True, False))
        }
        return by_name[str(value).strip().lower()]
    if isinstance(default, (int, float)):
        low, high = _RANGES.get(name, (1.0, 1e9))
        if not isinstance(value, str):
            value = number_text(value)
        number = float(value)
        if not low <= number <= high or type(default)(number) != number:
            raise ValueError(value)  # nan is in no range
        return type(default)(number)
    words = _read_words(value)
    if default is None and [word.lower() for word in words] == ["none"]:
        return None
    if name != "year_filter":
        return words
    if not words or not all(re.fullmatch(r"[0-9]{1,4}", year) for year in words):
        raise ValueError(value)
    if isinstance(value, (list, tuple)) or re.search(r"[,\[]", str(value)):
        return tuple(map(int, words))
    return int(words[0])


def _read_words(value: object) -> tuple[str, ...]:
    """Read a list, JSON text of a list, or words with commas between them."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = json.loads(value)
    elif isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        value = [value]
    words = (str(word).strip() for word in value)
    return tuple(filter(None, words))
