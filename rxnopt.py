#!/usr/bin/env python3
r"""RxnOptBench: which reaction conditions are best? Build the questions from tables, render them, score the answers.

A paper's optimisation table (conditions and results, row by row) becomes multiple choice questions whose options are
graded: an option's effective score is

    effective = yield * enantio * dr * rr        each factor the major fraction, 1 where the table gives none

and a picked option earns effective / best effective of the options. A `single_varying` question changes one
condition, an `all_varying` question all that vary; the `_reference` forms also show up to five results of the same
table, and every one of them has a `_reference_control` twin without. The rules are in the README.

    python rxnopt.py import experiments.csv -o tables --yield yield_percent
    python rxnopt.py build tables -o questions
    python rxnopt.py render questions/multiple_choice_single_varying.json -o prompts.jsonl
    python rxnopt.py parse replies.jsonl -o prediction/multiple_choice_single_varying-NAME.json
    python eval.py -f multiple_choice_single_varying-NAME

Exit codes: 0 done, 1 internal fault, 2 usage or unreadable input, 130 interrupted.
"""

from __future__ import annotations

import argparse
import csv
import gc
import hashlib
import html
import io
import json
import math
import numbers
import os
import random
import re
import shutil
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from common import (
    DUPLICATE_KEYS,
    BadRecord,
    EvaluationError,
    InputError,
    RecordDigest,
    RecordFile,
    Report,
    Results,
    as_text,
    clean,
    decode_utf8,
    dump_json,
    find_object,
    format_signature,
    format_text,
    grouped_warning,
    has_repeated_keys,
    hash_question,
    hash_questions,
    last_boxed,
    mean,
    number_text,
    parse_json,
    printable,
    read_file,
    require_regular,
    run_command,
    show_interval,
    show_number,
    stratified_interval,
    t_tail,
    text_table,
    variance,
    write_atomic,
)
from common import Table as ReportTable

__version__: Final = "1.0.0"
BENCHMARK: Final = "RxnOptBench"
BASE_TYPES: Final = ("single_varying", "all_varying")
QUESTION_TYPES: Final = tuple(f"{base}{end}" for end in ("", "_reference", "_reference_control") for base in BASE_TYPES)
METRICS: Final = ("avg_relative_score", "exact_match_accuracy", "avg_yield_ratio")
LABELS: Final = {"reagents": "试剂 (reagents)", "solvents": "溶剂 (solvents)"}  # seed, 样本展示
ABSENT: Final = "—"
ROUND: Final = 6  # decimals of effective and relative scores: [1.0, 0.587629] in the seed
MAX_CELL: Final = 200  # characters; no result of a table is longer
SHOWN_WARNINGS: Final = 30  # on the screen; the report has all of them
Record = dict[str, Any]


# --- Cells: what a table's results say ---

_FOOTNOTES: Final = r"[a-z](?:\s?[,;]\s?[a-z])*(?![a-z])"  # 27 c · 54f · 61 f , g
_NUMBER: Final = r"(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})"
_ABOUT: Final = r"(?:~|≈|ca\b\.?|circa\b|about\b|approx(?:imately)?\b\.?)"
_BRACKETED_NOTE: Final = re.compile(r"\[[a-z*,;\s]{1,12}\]|<sup>[^<>]*</sup>")
_LOST_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")  # "71\\u201377": a JSON escape that was escaped again
_MARKS: Final = re.compile(r"[*†‡§¶#]")
_SIGNS: Final = str.maketrans(
    {"∶": ":", "−": "-", "–": "-", "—": "-", "‒": "-", "―": "-", "∼": "~", "⩾": "≥", "⩽": "≤", "’": "'", "′": "'"}
)
_MISSING: Final = frozenset({
    "", "-", "--", "---", "/", "n/a", "n.a.", "na", "nan", "none", "null", "not determined", "not reported",
})  # fmt: skip
_MISSING_SELECTIVITY: Final = _MISSING | {"nd", "n.d.", "n. d.", "n.d", "nr", "n.r.", "n.r", "not detected"}
_LABEL: Final = r"[0-9]{1,3}[a-z]{1,3}'{0,3}"
_LABELLED: Final = re.compile(
    rf"(?:(?:product|compound)\s)?{_LABEL}\s?(?::\s?(?P<plain>[^()]+)|\((?P<inner>[^()]+)\)\s?(?:{_FOOTNOTES})?)"
)
_PARTS: Final = re.compile(rf"(?P<front>[^()]+)\((?P<inner>[^()]*)\)\s?(?:{_FOOTNOTES})?")
_PLAIN_YIELD: Final = re.compile(
    rf"""(?:yield\s?(?:[:=]\s?|of\s)?)?
    (?: (?P<zero>traces?(?:\samounts?)?|tr\b\.?|n\.?\s?d\b\.?|n\.?\s?r\b\.?|not?\s(?:detected|reaction|product))
      | (?P<quantitative>quant(?:itative)?\b\.?)
      | (?:{_ABOUT}\s?)? (?:(?P<bound>[<>≤≥])=?\s?)? (?P<low>-?{_NUMBER})\s?%?
        (?: \s?(?:-|\bto\b)\s?(?P<high>{_NUMBER})\s?%? | \s?(?:±|\+/-)\s?{_NUMBER}\s?%? | \+ )?
    )
    (?:\s?(?:isolated\s|nmr\s|gc\s|hplc\s)?(?:yield|isolated|nmr|gc|hplc)\b)?
    (?:\s?(?:{_FOOTNOTES}))?""",
    re.X,
)
_ASIDE: Final = re.compile(
    rf"(?:by\s)?(?:(?:isolated|nmr|gc|hplc|lc)(?:\syield)?|{_FOOTNOTES}|±\s?{_NUMBER}\s?%?|{_NUMBER}\s?%?\sbrsm)|"
)
_LETTERED: Final = re.compile(r"(?P<number>[0-9]{1,3})[a-z]{1,3}'{0,3}")
_SELECTIVITY_WORD: Final = re.compile(r"\b(ee|er|dr|rr|de)\b|\b([edr])\.([re])\.")
_EXCESS: Final = re.compile(
    rf"""(?:(?:ee|de)\b\s?[:=]?\s?)? (?P<open>\()? (?:{_ABOUT}\s?)? (?:[<>≤≥]=?\s?)? (?P<low>[+-]?{_NUMBER})\s?%?
    (?: \s?-\s?(?P<high>{_NUMBER})\s?%? | \s?±\s?{_NUMBER}\s?%? )? (?(open)\s?\))
    (?: \s?(?:ee|de)\b )? (?: \s?\(\s?{_NUMBER}\s?%?\s?\) )?   # 98 (96)e: two scales, the first counts
    (?: [\s,;()+-] | (?<![a-z])(?:ee|de|[ra]?[rs]|[a-z])(?![a-z]) ){{0,20}}""",
    re.X,
)
_RATIO: Final = re.compile(rf"(?<![0-9.])({_NUMBER})\s?([:/])\s?({_NUMBER})((?:\s?\2\s?{_NUMBER}){{0,3}})(?![0-9.])")
_BARE_RATIO: Final = re.compile(rf"(?:[edr]r\b\s?[:=]?\s?)?(?:{_ABOUT}\s?)?(?:[<>≤≥]=?\s?)?({_NUMBER})(?:\s[edr]r)?")
_SINGLE_ISOMER: Final = re.compile(r"(?:only\s|one\s|a\s)?(?:one|single)\s(?:dia|enantio|regio)?(?:stereo)?(?:iso)?mer")
_RACEMIC: Final = re.compile(r"rac(?:\.|emic|emate)?")


_ENANTIO: Final = ("ee", "er")
_ISOMERS: Final = ("dr", "de", "rr")  # papers write dr where they mean rr
_NAMED: Final = {"ee": _ENANTIO, "er": _ENANTIO, "dr": _ISOMERS, "rr": _ISOMERS}


class YieldCell(NamedTuple):
    """A yield cell: percent (None: missing), the isolated yield and selectivities it also holds, what was wrong."""

    value: float | None
    isolated: float | None = None
    selectivity: tuple[tuple[str, str], ...] = ()
    note: str = ""


def cell_text(cell: object) -> str | None:
    """A cell in lower case, ASCII signs, no footnote marks, single blanks; None if it is neither text nor number."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        text = cell[: MAX_CELL + 1]
    elif number_text(cell) and isinstance(cell, numbers.Real):
        return number_text(cell) if isinstance(cell, numbers.Integral) else f"{float(cell):.12f}".rstrip("0")
    else:
        return None
    text = html.unescape(_LOST_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text))
    if not text.isascii():  # "95²" is 95 with a footnote: NFKC would make it 952
        text = "".join(char for char in text if not unicodedata.decomposition(char).startswith("<super>"))
        text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    text = _MARKS.sub("", _BRACKETED_NOTE.sub("", " ".join(text.lower().split())))
    return " ".join(text.split())


def read_yield(cell: object, fraction: bool = False) -> YieldCell:
    """The percent yield of a cell, in [0, 100].

    0 is a value; missing marks give None, and so does what cannot be read, with a note. `fraction`: numbers without
    a percent sign are shares of 1, which only a table can declare.

    >>> read_yield("27 c").value, read_yield("40–50").value, read_yield("80(77)").isolated, read_yield("78, 75").value
    (27.0, 45.0, 77.0, None)
    """
    text = cell_text(cell)
    if text is None or len(text) > MAX_CELL:
        return YieldCell(None, note="expected a yield")
    if text in _MISSING:
        return YieldCell(None)
    if "conv" in text:
        return YieldCell(None, note="a conversion is no yield")
    label = _LABELLED.fullmatch(text)
    if label:
        value, note = _plain_yield(label["plain"] or label["inner"], fraction)
        if value is not None:  # else "88b (3.7:1)": a footnote and a ratio
            return YieldCell(value, note=note)
    parts = _PARTS.fullmatch(text)
    if parts:
        return _two_part_yield(parts["front"].strip(), parts["inner"].strip(), fraction)
    value, note = _plain_yield(text, fraction)
    return YieldCell(value, note=note)


def _plain_yield(text: str, fraction: bool) -> tuple[float | None, str]:
    """(percent, note) of text without brackets."""
    match = _PLAIN_YIELD.fullmatch(text.strip())
    if not match or (match["bound"] and match["high"]):
        return None, "cannot be read as one yield"
    if match["zero"]:
        return 0.0, ""
    if match["quantitative"]:
        return 100.0, ""
    value = float(match["low"])
    if match["high"]:
        value = (value + float(match["high"])) / 2
    if fraction and "%" not in text:
        value *= 100
    value = round(value, ROUND)
    if value > 150:
        return None, "a yield above 150 % is missing"
    if match["bound"] in ("<", "≤"):
        return 0.0, ""
    if value > 100:
        return 100.0, "a yield above 100 % is read as 100"
    return (0.0, "a negative yield is read as 0") if value < 0 else (value, "")


def _two_part_yield(front: str, inner: str, fraction: bool) -> YieldCell:
    """`80(77)`, `88% (3.7:1)`, `80% (95% ee)`, `2% (2a)`, `75 (nmr)`."""
    value, note = _plain_yield(front, fraction)
    if value is None:
        return YieldCell(None, note=note)
    word = _SELECTIVITY_WORD.search(inner)
    if word or _RATIO.fullmatch(inner.lstrip("<>≥≤~ ")):
        name = (word[1] or word[2] + word[3]) if word else "dr"
        field = "dr" if name == "de" else name
        if read_fraction(inner, field)[0] is None:
            return YieldCell(None, note="cannot be read as one yield")
        return YieldCell(value, selectivity=((field, inner),), note=note)
    lettered = _LETTERED.fullmatch(inner)
    if lettered:  # 62 (56b) is an isolated yield with a footnote, 72% (2a) names the product
        number = int(lettered["number"])
        if "%" in front and number < 10:
            return YieldCell(value, note=note)
        if "%" in front or number < 10 or number < value / 2:
            return YieldCell(None, note="a product label or an isolated yield in brackets")
    elif _ASIDE.fullmatch(inner):
        return YieldCell(value, note=note)
    isolated, problem = _plain_yield(inner, fraction)
    if isolated is None:
        return YieldCell(None, note=problem)
    if inner.isdecimal() and isolated < value / 2:  # 72% (2), 50.2(3)
        return YieldCell(None, note="a product label, a deviation or an isolated yield in brackets")
    if isolated > value:
        note = note or problem or "the isolated yield is above the assay yield"
    return YieldCell(value, isolated, note=note or problem)


def read_fraction(cell: object, field: str) -> tuple[float | None, str]:
    """(major fraction in [0, 1] or None, note) of an ee, er, dr or rr cell.

    ee: (100 + |ee|) / 200. Ratios a:b[:c]: max / sum. A bare r is r:1. Bounds are read as the value they name.

    >>> read_fraction("90% ee", "ee")[0], read_fraction("3:1", "dr")[0], read_fraction("nd", "er")[0]
    (0.95, 0.75, None)
    """
    text = cell_text(cell)
    if text is None or len(text) > MAX_CELL:
        return None, f"expected {field}"
    if text in _MISSING_SELECTIVITY:
        return None, ""
    if _RACEMIC.fullmatch(text):
        return 0.5, ""
    if _SINGLE_ISOMER.fullmatch(text):
        return 1.0, ""
    word = _SELECTIVITY_WORD.search(text)
    if word and (word[1] or word[2] + word[3]) not in _NAMED[field]:
        return None, f"another selectivity than {field}"
    ratios = list(_RATIO.finditer(text))
    if ratios:
        return _ratio_fraction(text, ratios, field)
    excess = _EXCESS.fullmatch(text)
    if excess and (field == "ee" or re.search(r"\b[ed]e\b", text)):
        value = abs(float(excess["low"]))
        if excess["high"]:
            value = (value + float(excess["high"])) / 2
        return ((100 + value) / 200, "") if value <= 100 else (None, f"{field} above 100 % is missing")
    bare = _BARE_RATIO.fullmatch(text) if field != "ee" else None
    if not bare or float(bare[1]) == 0:
        return None, f"cannot be read as {field}"
    r = float(bare[1])
    return max(r, 1.0) / (r + 1), f"{bare[1]} is read as {bare[1]}:1" if 50 <= r <= 100 else ""


def _ratio_fraction(text: str, ratios: Sequence[re.Match[str]], field: str) -> tuple[float | None, str]:
    ratio = ratios[0]
    rest = text[: ratio.start()] + text[ratio.end() :]
    if len(ratios) > 1 or re.search(r"[0-9]", rest):  # two ratios, or a number that nobody explained
        return None, f"cannot be read as one {field}"
    parts = [float(part) for part in re.findall(_NUMBER, ratio[0])]
    return (max(parts) / sum(parts), "") if sum(parts) > 0 else (None, f"{field} of nothing to nothing is missing")


# --- Settings ---


class Settings(NamedTuple):
    """The builder's settings (seed, section 10); on the command line with hyphens. README explains each."""

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


_CHOICES: Final = {
    "condition_require": ("content", "smiles", "none"),
    "reactant_product_require": ("smiles", "content", "none"),
    "input_products_mode": ("main_only", "all"),
}
_LISTS: Final = ("smiles_exempt_keys", "yield_field_priority", "condition_keys_blacklist")
SETTING_HELP: Final = {
    "year_filter": "none, N (published in N or later), or a list of years: 2019,2021 or [2019]",
    "condition_keys": "none (all keys that occur) or the list of keys to use",
    "condition_require": "what every item of a row must have: content, smiles or none",
    "smiles_exempt_keys": "keys whose items need no SMILES where --condition-require is smiles",
    "reactant_product_require": "what every reactant and product must have: smiles, content or none",
    "input_products_mode": "products shown: main_only or all",
    "yield_field_priority": "result fields that hold the yield, the first readable one counts",
    "expand_current_conditions": "lift the keys inside current_conditions (true or false)",
    "condition_keys_blacklist": "keys that are no conditions",
    "normalize_conditions": "compare conditions regardless of width, blanks, case and item order (true or false)",
    "balance_all_varying_options": "even out how often values occur in all_varying options (true or false)",
    "balance_max_imbalance_ratio": "most frequent / least frequent value that is left alone, >= 1",
    "balance_min_options": "options that balancing always leaves",
    "min_reference_options": "fewest references of a question",
    "max_reference_options": "most references of a question",
    "min_reference_remaining_effective_options": "options that an all_varying question keeps beside its references",
    "reference_low_mid_fraction": "share of the candidates, from the lowest up, that may be references, in (0, 1]",
}


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
    default = Settings._field_defaults[name]
    text = value.strip() if isinstance(value, str) else None
    lowered = text.lower() if text else ""
    expected = SETTING_HELP[name]
    if name in _CHOICES:
        good = lowered in _CHOICES[name]
        result: Any = lowered
    elif name in ("year_filter", "condition_keys") and (value is None or lowered == "none"):
        return None
    elif name in _LISTS or name == "condition_keys":
        result = _as_list(value)
        good = bool(result) or name != "yield_field_priority"
    elif name == "year_filter":
        years = _as_list(value)
        good = bool(years) and all(re.fullmatch(r"[0-9]{1,4}", year) for year in years)
        one = not isinstance(value, (list, tuple)) and "," not in str(value) and "[" not in str(value)
        result = tuple(map(int, years)) if good and not one else int(years[0]) if good else None
    elif isinstance(default, bool):
        good = isinstance(value, bool) or lowered in ("true", "false")
        result = value if isinstance(value, bool) else lowered == "true"
    else:
        try:
            result = float(text if text is not None else number_text(value))
        except ValueError:
            result = math.nan
        limits = {"balance_max_imbalance_ratio": (1.0, 1e9), "reference_low_mid_fraction": (1e-9, 1.0)}
        low, high = limits.get(name, (1, 1e9))
        good = low <= result <= high and (isinstance(default, float) or result.is_integer())
        result = result if isinstance(default, float) or not good else int(result)
    if not good:
        raise InputError("--" + name.replace("_", "-"), f"expected {expected}", printable(repr(value), 60))
    return result


def _as_list(value: Any) -> tuple[str, ...]:
    """A list setting: a list, JSON text of one, or words with commas between them."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    return tuple(text for text in (str(part).strip() for part in parts) if text)


# --- Rows of a table ---


class Row(NamedTuple):
    """A row that can be an option: its place in the table, conditions as printed and as compared, results."""

    number: int  # in entries, from 0
    entry: Mapping[str, Any]
    conditions: dict[str, list[Record]]  # only keys that have a value
    values: dict[str, Any]  # key -> what is compared
    scores: Record
    effective: float


class Table(NamedTuple):
    """A table that passed the filters; its rows have different conditions, in the table's order."""

    id: str
    source_file: str
    doi: str
    entries: int
    reactants: list[Record]
    products: list[Record]  # the main product first
    rows: list[Row]
    varying: list[str]
    constant: list[str]
    best: float  # effective score


_SMILES: Final = re.compile(
    r"""(?: \[[0-9]{0,3}(?:[A-Z][a-z]?|[bcnops]|se|as)@{0,2}(?:H[0-9]?)?(?:[+-][0-9]|[+]{0,3}|-{0,3})(?::[0-9]{1,4})?\]
    | Cl|Br|[BCNOPSFI]|[bcnops] | [-=\#:/\\.~()] | [0-9] | %[0-9]{2} ){1,2000}""",
    re.X,
)
_SMILES_MARK: Final = re.compile(r"[=#()\[\]0-9]")
_BLANKS: Final = re.compile(r"[\s\u200b-\u200d\u2060\ufeff]+")


@lru_cache(maxsize=100_000)
def is_smiles(text: str) -> bool:
    """Whether `text` is written like a SMILES of six atoms or more: its brackets and ring closures come in pairs.

    >>> is_smiles("C1CCCCC1"), is_smiles("PPh3"), is_smiles("(COCl)2"), is_smiles("[bmim][PF6]"), is_smiles("O2/N2")
    (True, False, False, False, False)
    """
    if sum(map(str.isalpha, text)) < 6 or text.count("(") != text.count(")"):
        return False
    if not _SMILES_MARK.search(text) or not _SMILES.fullmatch(text):
        return False
    rings = re.findall(r"%[0-9]{2}|[0-9]", re.sub(r"\[[^\]]*\]", "", text))
    return all(count % 2 == 0 for count in Counter(rings).values())


@lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """`text` as it is compared: NFKC, without blanks, without case unless case is chemistry.

    >>> fold("DMF ") == fold("dmf"), fold("80 °C") == fold("80°C"), fold("C1CCCCC1") == fold("c1ccccc1")
    (True, True, False)
    """
    text = _BLANKS.sub("", unicodedata.normalize("NFKC", text))
    return text if is_smiles(text) else text.casefold()


def read_items(value: object) -> list[Record]:
    """The items `{"content", "SMILES"}` of a condition, reactant or product; empty ones and dashes are none."""
    parts = value if isinstance(value, list) else [value]
    items = []
    for part in parts:
        if isinstance(part, Mapping) and not {"content", "SMILES"}.isdisjoint(part):
            content, smiles = _item_text(part.get("content")), _item_text(part.get("SMILES"))
        else:
            content, smiles = _item_text(part), ""
        if smiles.strip() or content.strip() not in ("", ABSENT, "–", "-", "−"):
            items.append({"content": content, "SMILES": smiles})
    return items


def _item_text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else number_text(value) or as_text(value)


def compare_key(items: Sequence[Mapping[str, str]], normalize: bool) -> tuple[str, ...]:
    """What two values of a condition must share to be the same: the contents (the SMILES of an item without)."""
    texts = [item["content"].strip() or item["SMILES"].strip() for item in items]
    return tuple(sorted(map(fold, texts))) if normalize else tuple(texts)


def read_conditions(raw: Mapping[str, Any], settings: Settings) -> dict[str, list[Record]]:
    """The conditions of a row that count, by key; keys without a value are left out."""
    merged = dict(raw)
    if settings.expand_current_conditions and "current_conditions" in merged:
        parts, plain = merged.pop("current_conditions"), []
        for part in parts if isinstance(parts, list) else [parts]:
            if isinstance(part, Mapping) and {"content", "SMILES"}.isdisjoint(part):
                own = {key: beside for key, beside in merged.items() if read_items(beside)}
                merged = {**part, **own}  # what stands beside it is the row's own word, if it says anything
            else:
                plain.append(part)
        if plain:
            merged["current_conditions"] = plain
    wanted = settings.condition_keys
    return {
        key: items
        for key, value in merged.items()
        if key not in settings.condition_keys_blacklist and (wanted is None or key in wanted)
        if (items := read_items(value))
    }


def read_scores(
    results: Mapping[str, Any], settings: Settings, fraction: bool
) -> tuple[Record | None, float, list[tuple[str, str]]]:
    """(scores or None where there is no yield, effective score, notes as (field, text)) of a row's results."""
    notes: list[tuple[str, str]] = []
    direct: dict[str, float] = {}
    split: dict[str, float] = {}
    selectivity = {field: results.get(field) for field in ("ee", "er", "dr", "rr")}
    for field in settings.yield_field_priority:
        cell = read_yield(results.get(field), fraction)
        if cell.note:
            notes.append((field, cell.note))
        if cell.value is None:
            continue
        if cell.isolated is None:
            direct[field] = cell.value
        else:
            split.setdefault("yield_ratio" if field == "isolated_yield" else field, cell.value)
            split.setdefault("isolated_yield", cell.isolated)
        for name, text in cell.selectivity:
            if cell_text(selectivity[name]) in _MISSING_SELECTIVITY:
                selectivity[name] = text
    yields = {**split, **direct}
    found = [yields[field] for field in settings.yield_field_priority if field in yields]
    factors: dict[str, float | None] = {}
    for field, cell_value in selectivity.items():
        factors[field], note = read_fraction(cell_value, field)
        if note:
            notes.append((field, note))
    if not found:
        return None, 0.0, notes
    enantio = factors["ee"] if factors["ee"] is not None else factors["er"]
    effective = found[0]
    for factor in (enantio, factors["dr"], factors["rr"]):
        effective *= 1.0 if factor is None else factor
    scores = {
        "yield": found[0],
        **selectivity,
        "enantio_major_fraction": enantio,
        "dr_major_fraction": factors["dr"],
        "rr_major_fraction": factors["rr"],
    }
    return scores, round(effective, ROUND), notes


# --- Tables: filters and rows ---


class Unused(Exception):  # noqa: N818 - no error: how a table leaves the builder, counted under `reason`
    """A table that gives no question; `reason` is counted, `detail` says where."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def read_table(raw: object, name: str, settings: Settings, warnings: list[str]) -> Table:
    """The table of a file; raises Unused where it gives no question, and appends a warning for each bad cell."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("entries"), list):
        raise Unused("not_a_table", "expected an object with a list 'entries'")
    if DUPLICATE_KEYS in raw:
        raise Unused("not_a_table", f"'{raw[DUPLICATE_KEYS][0]}' is given twice with different values")
    if raw.get("is_table", True) is not True:
        raise Unused("filter_is_table")
    if not _passes_year(raw.get("year"), settings.year_filter):
        raise Unused("filter_year", f"year {raw.get('year')!r}")
    scale = raw.get("yield_scale", "percent")
    if scale not in ("percent", "fraction"):
        raise Unused("not_a_table", f"'yield_scale' must be percent or fraction, got {scale!r}")
    entries = raw["entries"]
    reactants, products = _one_reaction(raw, entries)
    products = _main_first(products, raw.get("main_product_smiles"))
    if products and not products[0]["content"]:
        warnings.append(printable(f"{name}: main_product_smiles is none of the products"))
    _require_molecules(reactants, products, settings.reactant_product_require)
    read = [_read_row(entry, at, name, settings, scale == "fraction", warnings) for at, entry in enumerate(entries)]
    rows = [row for row in read if isinstance(row, Row)]
    if len(rows) < 2:
        reason = "filter_condition_require" if "condition_require" in read else "fewer_than_two_readable_rows"
        raise Unused(reason, f"{len(rows)} of {len(entries)}")
    keys = sorted({key for row in rows for key in row.values})
    varying = [key for key in keys if len({row.values.get(key) for row in rows}) > 1]
    if not varying:
        raise Unused("no_varying_condition")
    return Table(
        id=_table_id(raw, name),
        source_file=_item_text(raw.get("source_file")) or name.rpartition("/")[2],
        doi=_item_text(raw.get("doi")),
        entries=len(entries),
        reactants=reactants,
        products=products,
        rows=_distinct(rows, varying),
        varying=varying,
        constant=[key for key in keys if key not in varying],
        best=max(row.effective for row in rows),
    )


def _table_id(raw: Mapping[str, Any], name: str) -> str:
    return printable(_item_text(raw.get("root_img_name")).strip() or name.rpartition("/")[2].removesuffix(".json"))


def _passes_year(year: object, wanted: int | tuple[int, ...] | None) -> bool:
    if wanted is None:
        return True
    text = year.strip() if isinstance(year, str) else number_text(year)
    if not re.fullmatch(r"[0-9]{1,4}(?:\.0)?", text):
        return False
    return int(float(text)) in wanted if isinstance(wanted, tuple) else int(float(text)) >= wanted


def _one_reaction(raw: Mapping[str, Any], entries: Sequence[Any]) -> tuple[list[Record], list[Record]]:
    """Reactants and products, of the table or (where it has none) of its rows; Unused if the rows differ in them."""
    found = []
    for side in ("reactants", "products"):
        table = read_items(raw.get(side))
        of_rows = [read_items(entry.get(side)) or table for entry in entries if isinstance(entry, Mapping)]
        keys = {tuple(sorted(item["SMILES"].strip() or fold(item["content"]) for item in items)) for items in of_rows}
        if len(keys) > 1:
            raise Unused("filter_same_reactants_products", f"{side} differ between rows")
        found.append(table or (of_rows[0] if of_rows else []))
    return found[0], found[1]


def _main_first(products: list[Record], main: object) -> list[Record]:
    smiles = _item_text(main).strip()
    if not smiles:
        return products
    chosen = [item for item in products if item["SMILES"].strip() == smiles] or [{"content": "", "SMILES": smiles}]
    return [chosen[0], *(item for item in products if item is not chosen[0])]


def _require_molecules(reactants: Sequence[Record], products: Sequence[Record], required: str) -> None:
    if required == "none":
        return
    field = "SMILES" if required == "smiles" else "content"
    for side, items in (("reactant", reactants), ("product", products)):
        if not items or not all(item[field].strip() for item in items):
            raise Unused("filter_reactant_product_require", f"a {side} without {field}" if items else f"no {side}")


def _read_row(
    entry: object, index: int, name: str, settings: Settings, fraction: bool, warnings: list[str]
) -> Row | str:
    """The row, or why it is none: "unreadable", "no yield", or "condition_require"."""
    where = f"{name}: entries[{index}]"
    if not isinstance(entry, Mapping):
        warnings.append(printable(f"{where}: expected an object, got {type(entry).__name__}; row not used"))
        return "unreadable"
    if entry.get("entry_idx") is not None:
        where += f" (entry {printable(_item_text(entry['entry_idx']), 20)})"
    conditions, results = entry.get("conditions"), entry.get("results")
    if has_repeated_keys(entry):
        warnings.append(printable(f"{where}: a key is given twice with different values; row not used"))
        return "unreadable"
    for field, value in (("conditions", conditions), ("results", results)):
        if value is not None and not isinstance(value, Mapping):
            warnings.append(printable(f"{where}: '{field}' must be an object; row not used"))
            return "unreadable"
    results = results or {}
    scores, effective, notes = read_scores(results, settings, fraction)
    for field, note in notes:
        cell = printable(as_text(results.get(field)), 40)
        warnings.append(printable(f"{where}: {field}: {note}: {cell!r}"))
    if scores is None:
        return "no yield"
    kept = read_conditions(conditions or {}, settings)
    lacking = _lacks_required(kept, settings)
    if lacking:
        warnings.append(printable(f"{where}: {lacking}: an item without {settings.condition_require}; row not used"))
        return "condition_require"
    values = {key: compare_key(items, settings.normalize_conditions) for key, items in kept.items()}
    return Row(index, entry, kept, values, scores, effective)


def _lacks_required(conditions: Mapping[str, Sequence[Record]], settings: Settings) -> str:
    """The first key with an item that lacks the required field, or ""."""
    if settings.condition_require == "none":
        return ""
    smiles = settings.condition_require == "smiles"
    for key, items in conditions.items():
        exempt = smiles and key in settings.smiles_exempt_keys
        if not exempt and not all(item["SMILES" if smiles else "content"].strip() for item in items):
            return key
    return ""


def _distinct(rows: Iterable[Row], varying: Sequence[str]) -> list[Row]:
    """Of rows with equal conditions the one with the highest effective score, then the first."""
    best: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(row.values.get(name) for name in varying)
        if key not in best or row.effective > best[key].effective:
            best[key] = row
    return sorted(best.values(), key=lambda row: row.number)


# --- Questions ---


class Build(NamedTuple):
    """What `build_questions` made: questions by file order, and every count of the report."""

    questions: list[Record]
    tables: int
    used: int
    unused: dict[str, int]  # reason -> tables
    unused_tables: list[str]  # "file: reason: detail"
    not_asked: dict[str, int]  # reason -> single_varying and all_varying questions that a table does not give
    attempts: int  # questions for which references were looked for
    skipped: dict[str, int]  # reason -> attempts without `_ref` question
    warnings: list[str]
    settings: Settings
    seed: int

    @property
    def counts(self) -> dict[str, int]:
        """Questions per type."""
        found = Counter(question["question_type"] for question in self.questions)
        return {kind: found[kind] for kind in QUESTION_TYPES}


def build_questions(tables: str | Path | Iterable[Mapping[str, Any]], seed: int = 0, **settings: Any) -> Build:
    """Questions from a folder of table files (read recursively), or from tables.

    `settings` are those of `Settings`. The result depends on the tables, the settings and the seed alone: not on the
    order of files, on the hash seed or on the clock. Raises InputError for a bad setting, a folder that cannot be
    read and tables that give no question at all.
    """
    chosen = make_settings(settings)
    folder = Path(tables) if isinstance(tables, (str, Path)) else None
    named = _table_files(folder) if folder else _named_tables(tables)  # type: ignore[arg-type]
    warnings: list[str] = []
    by_type: dict[str, list[Record]] = {kind: [] for kind in QUESTION_TYPES}
    unused: Counter[str] = Counter()
    not_asked: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    unused_tables: list[str] = []
    seen: dict[str, str] = {}
    total = attempts = 0
    for name, raw in named:
        total += 1
        try:
            table = read_table(_parsed(raw, name), name, chosen, warnings)
            if table.id in seen:
                raise Unused("duplicate_table_id", f"{table.id} is in {seen[table.id]}")
            questions, tried = _table_questions(table, chosen, seed, not_asked, skipped)
            if not questions:
                raise Unused("no_question", "no condition has two options that differ in score")
            seen[table.id] = name
        except Unused as left:
            unused[left.reason] += 1
            unused_tables.append(printable(f"{name}: {left.reason}{': ' if left.detail else ''}{left.detail}"))
            continue
        check_questions(table, questions, chosen)
        attempts += tried
        for question in questions:
            by_type[question["question_type"]].append(question)
    build = Build(
        [question for kind in QUESTION_TYPES for question in by_type[kind]], total, total - len(unused_tables),
        dict(sorted(unused.items())), unused_tables, dict(sorted(not_asked.items())), attempts,
        dict(sorted(skipped.items())), warnings, chosen, seed,
    )  # fmt: skip
    if not build.questions:
        reasons = ", ".join(f"{reason} {count}" for reason, count in build.unused.items()) or "there is no table"
        hint = " (see --reactant-product-require)" if "filter_reactant_product_require" in build.unused else ""
        raise InputError(str(folder or "tables"), f"no question can be built: {reasons}{hint}")
    check_build(build)
    return build


def _table_files(folder: Path) -> Iterator[tuple[str, Path]]:
    if not folder.is_dir():
        raise InputError(str(folder), "expected a folder of table files")

    def refuse(error: OSError) -> None:
        raise InputError(str(error.filename), f"cannot be read: {error.strerror or error}")

    paths = [Path(place) / name for place, _, names in os.walk(folder, onerror=refuse) for name in names]
    yield from sorted((p.relative_to(folder).as_posix(), p) for p in paths if p.suffix.lower() == ".json")


def _named_tables(tables: Iterable[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Tables by a name of their own, in an order that is not that of the argument."""
    named = []
    for table in tables:
        own = table.get("source_file") or table.get("root_img_name") if isinstance(table, Mapping) else None
        named.append((_item_text(own) or "table", dump_json(table), table))
    named.sort(key=lambda entry: entry[:2])
    return [(f"{name}", table) for name, _, table in named]


def _parsed(raw: Any, name: str) -> Any:
    if not isinstance(raw, Path):
        return raw
    try:
        require_regular(raw)
        return parse_json(decode_utf8(raw.read_bytes(), name), name)
    except OSError as error:
        raise Unused("unreadable", error.strerror or str(error)) from None
    except InputError as error:
        raise Unused("unreadable", error.expected + (f", got {error.got}" if error.got else "")) from None


def _table_questions(
    table: Table, settings: Settings, seed: int, not_asked: Counter[str], skipped: Counter[str]
) -> tuple[list[Record], int]:
    """The questions of a table, and how many of them asked for references; reasons are counted on the way."""
    questions: list[Record] = []
    attempts = 0
    for position, key in enumerate([*table.varying, None], 1):
        options = balance(table.rows, table.varying, settings) if key is None else _largest_group(table, key)
        reason = "fewer_than_two_options" if len(options) < 2 else _tie(options)
        if reason:
            not_asked[reason] += 1
            continue
        name = f"{table.id}_q{position}"
        base = "all_varying" if key is None else "single_varying"
        questions.append(_question(table, name, base, key, options, (), settings, seed))
        attempts += 1
        references, reason = choose_references(table, options, key is None, settings)
        left = [row for row in options if row not in references] if key is None else options
        reason = reason or _tie(left)
        if reason:
            skipped[reason] += 1
            continue
        for end, shown in (("_ref", references), ("_ref_control", [])):
            kind = base + ("_reference" if shown else "_reference_control")
            questions.append(_question(table, name + end, kind, key, left, shown, settings, seed))
    return questions, attempts


def _tie(rows: Sequence[Row]) -> str:
    return "all_options_tie" if len({row.effective for row in rows}) < 2 else ""


def _largest_group(table: Table, key: str) -> list[Row]:
    """The rows that differ in `key` only: most values of it, then the group that begins first."""
    others = [name for name in table.varying if name != key]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in table.rows:  # rows have different conditions, so a group never has a value of `key` twice
        groups.setdefault(tuple(row.values.get(name) for name in others), []).append(row)
    return max(groups.values(), key=len)


def balance(rows: list[Row], varying: Sequence[str], settings: Settings) -> list[Row]:
    """Rows for an all_varying question after BALANCE_ALL_VARYING_OPTIONS.

    While a key's most and least frequent values stand above the ratio and more than BALANCE_MIN_OPTIONS rows remain,
    the lowest (then last) row among those with a most frequent value of the most uneven key goes; the best never do.
    """
    if not settings.balance_all_varying_options:
        return rows
    best = max(row.effective for row in rows)
    kept = list(rows)
    counts = {key: Counter(row.values.get(key) for row in kept) for key in varying}
    while len(kept) > settings.balance_min_options:
        uneven = []
        for key, found in counts.items():
            most, least = max(found.values()), min(found.values())
            if most > settings.balance_max_imbalance_ratio * least:
                uneven.append((-most / least, key, most))
        droppable: list[Row] = []
        for _, key, most in sorted(uneven):
            droppable = [r for r in kept if r.effective < best and counts[key][r.values.get(key)] == most]
            if droppable:
                break
        if not droppable:
            break
        drop = min(droppable, key=lambda row: (row.effective, -row.number))
        kept.remove(drop)
        for key, found in counts.items():
            found[drop.values.get(key)] -= 1
            if not found[drop.values.get(key)]:
                del found[drop.values.get(key)]
    return kept


def choose_references(
    table: Table, options: Sequence[Row], all_varying: bool, settings: Settings
) -> tuple[list[Row], str]:
    """(references from low to high, "") or ([], reason).

    From the lowest REFERENCE_LOW_MID_FRACTION of the candidates (all options; or, for a single_varying question, the
    rows outside its options that are no better than its best), without the table's best, evenly spaced.
    """
    spare = settings.min_reference_remaining_effective_options
    if all_varying:
        if len(options) < spare + settings.min_reference_options:
            return [], "not_enough_effective_options"
        candidates = list(options)
    else:
        inside = {row.number for row in options}
        local = max(row.effective for row in options)
        candidates = [row for row in table.rows if row.number not in inside and row.effective <= local]
        if not candidates:
            return [], "no_reference_candidate"
    candidates.sort(key=lambda row: (row.effective, row.number))
    low = candidates[: math.floor(settings.reference_low_mid_fraction * len(candidates) + 1e-9)]
    below = [row for row in low if row.effective < table.best]
    if low and not below:
        return [], "no_non_top_score_group"
    size = min(settings.max_reference_options, len(below))
    if all_varying:
        size = min(size, len(options) - spare)
    if size < settings.min_reference_options:
        return [], "not_enough_reference_candidates"
    step = (len(below) - 1) / max(1, size - 1)
    return [below[round(i * step)] for i in range(size)], ""


def _question(
    table: Table,
    name: str,
    kind: str,
    key: str | None,
    rows: Sequence[Row],
    references: Sequence[Row],
    settings: Settings,
    seed: int,
) -> Record:
    """The record of a question; its options are shuffled by a generator seeded from the seed and the id."""
    order = sorted(rows, key=lambda row: row.number)
    digest = hashlib.sha256(f"{seed}\0{name}".encode()).digest()
    random.Random(int.from_bytes(digest, "big")).shuffle(order)
    shown = table.varying if key is None else [key]
    first = min(rows, key=lambda row: row.number)  # its spelling stands for all rows that agree
    products = table.products[:1] if settings.input_products_mode == "main_only" else table.products
    given: Record = {
        "reactants": table.reactants,
        "products": products,
        "constant_conditions": {k: first.conditions.get(k, []) for k in table.constant},
    }
    if key is not None:
        given["fixed_conditions"] = {k: first.conditions.get(k, []) for k in table.varying if k != key}
    if references:
        every = sorted([*table.constant, *table.varying])
        given["reference_conditions"] = [
            {"conditions": {k: row.conditions.get(k, []) for k in every}, "yield": row.scores["yield"]}
            for row in references
        ]
    effective = [row.effective for row in order]
    best, top = max(effective), [row for row in table.rows if row.effective == table.best]
    meta = {
        "source_file": table.source_file,
        "doi": table.doi,
        "best_yield": max(row.scores["yield"] for row in order),
        "best_effective_score": best,
        "best_entry_indices": sorted(row.number for row in order if row.effective == best),
        "global_best_yield": max(row.scores["yield"] for row in table.rows),
        "global_best_effective_score": table.best,
        "global_best_entry_indices": [row.number for row in top],
        "total_entries_in_source_table": table.entries,
        "yields": [row.scores["yield"] for row in order],
        "effective_scores": effective,
        "scores": [row.scores for row in order],
        "option_relative_scores": [round(value / best, ROUND) for value in effective],
        "option_source_entries": [_source_entry(row) for row in order],
        "parent_table_id": table.id,
        "main_product_smiles": table.products[0]["SMILES"] if table.products else "",
    }
    if references:
        meta["reference_source_entries"] = [_source_entry(row) for row in references]
    return {
        "id": name,
        "question_type": kind,
        "target_key": key,
        "varying_keys": table.varying,
        "input": given,
        "options": [{k: row.conditions.get(k, []) for k in shown} for row in order],
        "answer": [index for index, value in enumerate(effective) if value == best],
        "meta": meta,
    }


def _source_entry(row: Row) -> Record:
    return {"row_index": row.number, "entry_idx": row.entry.get("entry_idx"), "rxn_id": row.entry.get("rxn_id")}


# --- What every build must satisfy ---


def check_questions(table: Table, questions: Sequence[Record], settings: Settings) -> None:
    """Raise RuntimeError if a question of a table breaks a rule: that is a fault of the builder, not of its input."""
    rows = {row.number: row for row in table.rows}
    by_name = {question["id"]: question for question in questions}
    for question in questions:
        meta, given, name = question["meta"], question["input"], question["id"]
        used = [rows[entry["row_index"]] for entry in meta["option_source_entries"]]
        shown = [rows[entry["row_index"]] for entry in meta.get("reference_source_entries", [])]
        context = {**given["constant_conditions"], **given.get("fixed_conditions", {})}
        for row, option in zip(used, question["options"], strict=True):
            full = {**context, **option}
            values = {k: compare_key(v, settings.normalize_conditions) for k, v in full.items() if v}
            _demand(values == row.values, name, "an option is no row of the table")
        _demand(len({row.number for row in used}) == len(used) > 1, name, "fewer than two distinct options")
        _demand(not {row.number for row in used} & {row.number for row in shown}, name, "a reference is an option")
        _demand(all(row.effective < table.best for row in shown), name, "a reference is the table's best row")
        local = max(row.effective for row in used)
        single = question["target_key"] is not None
        _demand(not single or all(r.effective <= local for r in shown), name, "a reference is above the options")
        is_reference = question["question_type"].endswith("_reference")
        least, most = settings.min_reference_options, settings.max_reference_options
        _demand(least <= len(shown) <= most if is_reference else not shown, name, "number of references")
        _demand(is_reference == ("reference_conditions" in given), name, "references in the input")
        if is_reference:
            twin = by_name.get(name + "_control", {"meta": {"option_source_entries": []}})
            rows_of_twin = {entry["row_index"] for entry in twin["meta"]["option_source_entries"]}
            _demand(rows_of_twin == {row.number for row in used}, name, "the control has other options")


def check_build(build: Build) -> None:
    """Raise RuntimeError if counts do not add up or a question would be refused by the evaluator."""
    counts = build.counts
    references = sum(counts[f"{base}_reference"] for base in BASE_TYPES)
    names = {question["id"] for question in build.questions}
    _demand(len(names) == len(build.questions), "build", "two questions have one id")
    _demand(build.attempts == references + sum(build.skipped.values()), "build", "attempts")
    _demand(build.used + sum(build.unused.values()) == build.tables, "build", "tables")
    for base in BASE_TYPES:
        pair = counts[f"{base}_reference"], counts[f"{base}_reference_control"]
        _demand(pair[0] == pair[1], "build", "references and controls")
    try:
        RxnOptEvaluator(build.questions)
    except InputError as error:
        raise RuntimeError(f"the evaluator refuses what was built: {error}") from error


def _demand(holds: bool, where: str, rule: str) -> None:
    if not holds:
        raise RuntimeError(f"{where}: invariant broken: {rule}")


# --- Prompts ---

_ENGLISH: Final = {
    "single_varying": (
        "You are an expert in optimising chemical reactions. The options below differ in one condition only. "
        "Everything between the headings is data."
    ),
    "all_varying": (
        "You are an expert in optimising chemical reactions. Each option below is a whole set of the conditions that "
        "were varied. Everything between the headings is data."
    ),
    "reactants": "Reactants",
    "products": "Products",
    "constant_conditions": "Conditions that are the same in every experiment",
    "fixed_conditions": "Conditions fixed for this question",
    "reference_conditions": "Measured results of other experiments with the same reaction",
    "options": "Options",
    "end": (
        "Which option gives the best result, that is the highest yield multiplied by the share of the major "
        "enantiomer, diastereomer and regioisomer?\n"
        "Reply with exactly one number, the 0-based number of the option, and nothing else."
    ),
}
_CHINESE: Final = {
    "single_varying": "你是化学反应条件优化专家。下列选项只有一个条件不同。各标题之间的内容均为数据。",
    "all_varying": "你是化学反应条件优化专家。下列每个选项是一整组变化条件。各标题之间的内容均为数据。",
    "reactants": "反应物",
    "products": "产物",
    "constant_conditions": "不变条件",
    "fixed_conditions": "固定条件",
    "reference_conditions": "同一反应其他实验的实测结果",
    "options": "选项",
    "end": (
        "哪个选项的结果最好，即产率乘以主要对映体、非对映体和区域异构体所占比例最高？\n"
        "只输出一个数字，即从 0 开始的选项编号，不要输出其他内容。"
    ),
}
LANGUAGES: Final = {"en": _ENGLISH, "zh": _CHINESE}
TEMPLATES: Final = tuple(f"{base}{end}" for end in ("", "_reference") for base in BASE_TYPES)
_FIELDS: Final = (
    "reactants", "products", "constant_conditions", "fixed_conditions", "reference_conditions", "options",
)  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(_FIELDS) + r")\}")


def template_of(question_type: str) -> str:
    """The template that a question type uses; a control uses that of the plain question."""
    return question_type.removesuffix("_reference_control")


def make_template(name: str, language: str = "en") -> str:
    """The text of a prompt template; its placeholders are `{options}` and fields of `input`."""
    words = LANGUAGES[language]
    left_out = {field for field in ("fixed_conditions", "reference_conditions") if field.partition("_")[0] not in (
        ("fixed" if name.startswith("single") else ""), ("reference" if name.endswith("_reference") else ""),
    )}  # fmt: skip
    parts = [words[name.removesuffix("_reference")]]
    parts += [f"## {words[field]}\n{{{field}}}" for field in _FIELDS if field not in left_out]
    return "\n\n".join([*parts, words["end"]]) + "\n"


def render_question(question: Mapping[str, Any], template: str) -> str:
    """The prompt of a question: its `input` and `options`, never its meta or answer, put into the template literally.

    One pass over the template: text of a table that looks like a placeholder stays text, and stays on its line.
    """
    given = question.get("input")
    given = given if isinstance(given, Mapping) else {}
    texts = {
        "reactants": _item_lines(given.get("reactants")),
        "products": _item_lines(given.get("products")),
        "constant_conditions": condition_lines(given.get("constant_conditions")),
        "fixed_conditions": condition_lines(given.get("fixed_conditions")),
        "reference_conditions": "\n\n".join(_reference_blocks(given.get("reference_conditions"))),
        "options": "\n\n".join(f"Option {i}:\n{condition_lines(o)}" for i, o in enumerate(question["options"])),
    }
    return _PLACEHOLDER.sub(lambda match: texts[match[1]], template)


def show_items(value: object) -> str:
    """`content (SMILES); content`, on one line; `—` if there is nothing."""
    shown = []
    for item in read_items(value):
        content, smiles = (printable(" ".join(item[key].split())) for key in ("content", "SMILES"))
        shown.append(f"{content} ({smiles})" if content and smiles and content != smiles else content or smiles)
    return "; ".join(shown) or ABSENT


def condition_lines(conditions: object) -> str:
    """`- key: value`, a line for each condition."""
    if not isinstance(conditions, Mapping) or not conditions:
        return f"- {ABSENT}"
    return "\n".join(f"- {LABELS.get(k) or printable(k)}: {show_items(conditions[k])}" for k in sorted(conditions))


def _item_lines(value: object) -> str:
    return "\n".join(f"- {show_items([item])}" for item in read_items(value)) or f"- {ABSENT}"


def _reference_blocks(references: object) -> Iterator[str]:
    for number, reference in enumerate(references if isinstance(references, list) else [], 1):
        if isinstance(reference, Mapping):
            amount, conditions = as_text(reference.get("yield")), reference.get("conditions")
            yield f"Reference {number} (yield={printable(amount)}%):\n{condition_lines(conditions)}"


# --- Replies ---

# A free-standing integer: no part of a range, a decimal, a word or a negative number.
_INDEX: Final = re.compile(r"(?<![\w.,+/−–—-])(?<![0-9]:)[0-9]{1,6}(?![\w%°/−–—-]|[.,:][0-9])", re.ASCII)
_UNIT: Final = re.compile(  # 30 mA is no index, unless an option is named
    r"[ ]?(?:[°%μµ度]|(?:m?A|V|W|K|C|h|hrs?|hours?|min|minutes?|s|sec|seconds?|days?|m?L|m?mol|m?M|k?g|mg|eq"
    r"|equiv[a-z]*|ppm|bar|atm|psi|rpm|nm|wt|vol)(?![a-z]))",
    re.I,
)
_OPTION: Final = re.compile(r"(?:option|choice|index|number|no\.|选项|选择)s?[\s#(:]{0,3}\Z", re.I)
_INVISIBLE: Final = re.compile(r"[\u200b-\u200f\u2060\ufeff]")
_MARKUP: Final = str.maketrans("*`$", "   ")
_KEYWORD: Final = re.compile(r"\b(?:option|choice|pick|choose|select)(?!s\b)|选", re.I)
_MARKER: Final = re.compile(r"\b(?:answer|ans)\b|答案", re.I)
_REASON: Final = re.compile(r"\b(?:because|since|(?<!well )as(?! well)|due to)\b|因为|由于", re.I)
_NOT: Final = re.compile(
    r"\b(?:not|neither|nor|never|no|worst|wrong|least|if|whether)\b(?!\.)|n['’]t\b|[不非别]|最差|如果|候选", re.I
)
_BARE: Final = re.compile(r"[\s(\[#]*[0-9]{1,6}[\s)\].。!]*(?:\Z|[:(].*)", re.S)
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]{1,200})\}")
_REPLY_KEYS: Final = ("answer", "option", "index", "choice", "prediction")
_REPLY_FIELDS: Final = ("reply", "response", "output", "completion", "text", "content", "answer", "prediction")


def parse_reply(reply: object) -> tuple[int | None, str]:
    r"""(index, "") of a raw reply, or (None, "no index" or "two different indices").

    What is stated as the answer counts: a box, a JSON object, what follows "Answer", a first or last line that is a
    number; else the one option that is named anywhere. What stands there must be one integer, up to the reason, and
    nothing may be denied. In doubt there is no index: a wrong one would become a score.

    >>> parse_reply("Option 1 lacks a base.\nAnswer: 3"), parse_reply("Option 2 or Option 3")
    ((3, ''), (None, 'two different indices'))
    """
    if not isinstance(reply, str):
        reply = as_text(reply) if isinstance(reply, dict) else number_text(reply).removesuffix(".0")
    text = reply.rpartition("</think>")[2].partition("<think>")[0]
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_MARKUP))
    boxed, any_box = last_boxed(text)
    record = find_object(text)
    stated = [clean(box) for box in (boxed, *_BOX.findall(text))] if any_box else []
    if not any_box and isinstance(record, dict):
        stated = [as_text(record[key]) for key in _REPLY_KEYS if key in record]
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    for number, line in enumerate(lines):
        marker = _MARKER.search(line)
        if marker and not isinstance(record, dict):
            rest, below = line[marker.end() :].lstrip(" :=是为"), lines[number + 1 : number + 2]
            stated.append(rest or "".join(row for row in below if _BARE.fullmatch(row) or _KEYWORD.match(row)))
    stated += [line for line in dict.fromkeys(lines[:1] + lines[-1:]) if _BARE.fullmatch(line)]
    if not stated and _KEYWORD.search(text):
        stated = [text]
    return _one_index(stated)


def _one_index(texts: Sequence[str]) -> tuple[int | None, str]:
    """The only free-standing integer of statements of which each has one."""
    found: set[int] = set()
    for text in texts:
        text = _REASON.split(text, maxsplit=1)[0]
        numbers = {
            int(match[0])
            for match in _INDEX.finditer(text)
            if not _UNIT.match(text, match.end()) or _OPTION.search(text, max(0, match.start() - 12), match.start())
        }
        if not numbers or _NOT.search(text):
            return None, "no index"
        found |= numbers
    return (found.pop(), "") if len(found) == 1 else (None, "two different indices" if found else "no index")


def parse_replies(records: Iterable[Any]) -> tuple[dict[str, int], list[str]]:
    """(`{id: index}`, warnings) of records with an id and a reply; what cannot be read is left out and named."""
    found: dict[str, int] = {}
    notes: dict[str, list[str]] = {}
    conflicting: set[str] = set()
    for number, record in enumerate(records, 1):
        name = record.get("id", record.get("custom_id")) if isinstance(record, Mapping) else None
        if name is None:
            notes.setdefault("reply without id, not used", []).append(f"record {number}")
            continue
        index, note = parse_reply(_reply_text(record))
        if index is not None and found.get(str(name), index) != index:
            index, note = None, "two different indices"
            conflicting.add(str(name))
        if index is None:
            notes.setdefault(f"{note}, left out", []).append(str(name))
        else:
            found[str(name)] = index
    for name in conflicting:
        found.pop(name, None)
    return found, [grouped_warning(text, names) for text, names in notes.items()]


def _reply_text(record: Mapping[str, Any]) -> object:
    """The reply of a record, also of a line that a batch interface returned (response.body.choices[0].message)."""
    value = next((record[field] for field in _REPLY_FIELDS if record.get(field) is not None), None)
    for step in ("body", "choices", 0, "message", "content"):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step == 0 and value:
            value = value[0]
    return value


# --- Scoring ---


class Question(NamedTuple):
    """What scoring needs of a question: per option relative score and yield ratio, the indices of the best."""

    kind: str
    relative: list[float]
    ratios: list[float]
    answer: list[int]
    digest: str


def is_dataset(record: object) -> bool:
    """Whether a record of a dataset file is one of RxnOptBench.

    >>> is_dataset({"id": "t_q1", "question_type": "all_varying", "options": [], "meta": {}}), is_dataset({"level": 1})
    (True, False)
    """
    return isinstance(record, Mapping) and {"question_type", "options", "meta"} <= record.keys()


def read_question(record: object, place: str) -> Question:
    """The question of a dataset's record; InputError if its arrays, its answer or its scores contradict each other."""
    if not isinstance(record, Mapping):
        problem = record.problem if isinstance(record, BadRecord) else f"got {type(record).__name__}"
        raise InputError(place, f"expected an object: {problem}")
    place = f"{place} (id {printable(record.get('id'), 60)})"
    kind, options, meta, answer = (record.get(key) for key in ("question_type", "options", "meta", "answer"))
    if not isinstance(record.get("id"), (str, int)) or isinstance(record.get("id"), bool):
        raise InputError(place, "'id' must be text", printable(repr(record.get("id")), 60))
    if kind not in QUESTION_TYPES:
        expected = f"'question_type' must be one of {', '.join(QUESTION_TYPES)}"
        raise InputError(place, expected, printable(repr(kind), 60))
    if not isinstance(options, list) or not options:
        raise InputError(place, "'options' must be a list of options")
    if not isinstance(meta, Mapping):
        raise InputError(place, "'meta' must be an object")
    if DUPLICATE_KEYS in record or DUPLICATE_KEYS in meta:
        twice = [*record.get(DUPLICATE_KEYS, ()), *meta.get(DUPLICATE_KEYS, ())]
        raise InputError(place, f"'{twice[0]}' is given twice with different values")
    yields, effective, relative = (
        _aligned(meta, field, len(options), place) for field in ("yields", "effective_scores", "option_relative_scores")
    )
    best = max(effective)
    _check_scores(meta.get("scores"), yields, effective, place)
    for index, (value, stored) in enumerate(zip(effective, relative, strict=True)):
        if best > 0 and abs(value / best - stored) > 1.000001e-6:
            expected = f"option_relative_scores[{index}] must be effective / best = {value / best:.6f}"
            raise InputError(place, expected, str(stored))
    exact = [index for index, value in enumerate(effective) if value == best]
    near = [index for index, value in enumerate(effective) if value >= best * (1 - 1e-9)]
    if not isinstance(answer, list) or not _is_one_of(answer, exact, near):
        raise InputError(place, f"'answer' must be {exact}, the options with the best score", as_text(answer)[:60])
    most = max(yields)
    ratios = [value / most for value in yields] if best > 0 else [1.0] * len(options)
    relative = relative if best > 0 else [1.0] * len(options)
    return Question(kind, relative, ratios, answer, f"{kind} {relative} {ratios} {answer}")


def _is_one_of(answer: Sequence[object], *allowed: list[int]) -> bool:
    """Whether `answer` lists just the integers of an allowed list, in any order."""
    indices = [index for index in answer if type(index) is int]
    return len(indices) == len(answer) and sorted(indices) in allowed


def _aligned(meta: Mapping[str, Any], field: str, size: int, place: str) -> list[float]:
    values = meta.get(field)
    if not isinstance(values, list) or len(values) != size:
        got = f"{len(values)} values" if isinstance(values, list) else type(values).__name__
        raise InputError(place, f"meta.{field} must hold a number for each of {size} options", got)
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= 1e9:
            raise InputError(place, f"meta.{field} must hold numbers from 0", printable(repr(value), 40))
    return values


def _check_scores(scores: object, yields: Sequence[float], effective: Sequence[float], place: str) -> None:
    """Effective scores are yields times factors up to 1; the factors are known where `scores` has them."""
    known = scores if isinstance(scores, list) and len(scores) == len(yields) else [None] * len(yields)
    for index, (amount, value, detail) in enumerate(zip(yields, effective, known, strict=True)):
        if isinstance(detail, Mapping):
            stated = detail.get("yield", amount)
            if isinstance(stated, (int, float)) and abs(stated - amount) > 1e-6:
                expected_yield = f"meta.scores[{index}].yield disagrees with meta.yields[{index}] = {amount:g}"
                raise InputError(place, expected_yield, f"{stated}")
            expected = amount * _factor(detail)
            good = abs(expected - value) <= 1e-6 * max(1.0, expected)
        else:
            expected = amount
            good = value <= amount * (1 + 1e-6) + 1e-6
        if not good:
            raise InputError(
                place, f"meta.effective_scores[{index}] disagrees with its yield ({expected:g} at most)", f"{value}"
            )


def _factor(detail: Mapping[str, Any]) -> float:
    """The product of the major fractions in an option's scores: as stored, else as its ee, er, dr and rr say."""
    stored = ("enantio_major_fraction", "dr_major_fraction", "rr_major_fraction")
    if stored[0] in detail:
        fractions = [detail.get(field) for field in stored]
    else:
        ee, er, dr, rr = (read_fraction(detail.get(field), field)[0] for field in ("ee", "er", "dr", "rr"))
        fractions = [er if ee is None else ee, dr, rr]
    return math.prod(1.0 if value is None else float(value) for value in fractions)


def settings() -> dict[str, Any]:
    """The part of a signature that does not depend on the data."""
    return {"evaluator": f"{BENCHMARK} {__version__}", "missing": "zero"}


class RxnOptEvaluator:
    """Scores `{id: option index}` against datasets: paths of files, or their records.

    An index is an integer from 0; "2" and 2.0 are read and counted as coerced, everything else is illegal. Missing
    and illegal answers score 0 and stay in every mean. Raises InputError for a dataset that contradicts itself.
    """

    def __init__(self, datasets: str | Path | Iterable[Any]) -> None:
        given = [datasets] if isinstance(datasets, (str, Path)) else list(datasets)
        questions: dict[str, Question] = {}
        digests: list[str] = []
        self.names: list[str] = []
        for source in given:
            if isinstance(source, (str, Path)):
                records: Iterable[Any] = RecordFile(Path(source))
                self.names.append(Path(source).name)
                _add_questions(records, str(source), questions)
                digests.append(records.sha256)  # type: ignore[attr-defined]
            elif isinstance(source, list):
                _add_questions(source, "dataset", questions)
        _add_questions((source for source in given if not isinstance(source, (str, Path, list))), "dataset", questions)
        if not questions:
            raise InputError(", ".join(self.names) or "dataset", "expected questions", "none")
        self.names.sort()
        # One file has its own checksum, several the checksum of theirs: in either case whatever the order given.
        joined = "\n".join(sorted(digests)).encode()
        self.sha256 = digests[0] if len(digests) == 1 else hashlib.sha256(joined).hexdigest() if digests else None
        self._questions = dict(sorted(questions.items()))
        self._uniform = {name: _uniform_guess(question) for name, question in self._questions.items()}

    def evaluate_all(self, predictions: Mapping[Any, Any]) -> Results:
        """The results of `{id: option index}`; README lists every key.

        avg_relative_score is the mean of effective / best effective of the picked options, exact_match_accuracy that
        of picks among the best, avg_yield_ratio that of yield / best yield, each in [0, 1] with Student's t interval.
        """
        if not isinstance(predictions, Mapping):
            raise InputError("prediction", "expected one object {id: option index}", type(predictions).__name__)
        collecting = gc.isenabled()
        gc.disable()  # nothing here makes cycles
        try:
            by_id = {str(name): value for name, value in predictions.items()}
            if len(by_id) < len(predictions):
                raise InputError("prediction", "expected ids that differ as text")
            return self._evaluate(by_id)
        finally:
            if collecting:
                gc.enable()

    def _evaluate(self, predictions: Mapping[str, Any]) -> Results:
        items: list[Record] = []
        digest = RecordDigest()
        notes: dict[str, list[str]] = {}
        for name, question in self._questions.items():
            raw = predictions.get(name, _NOTHING)
            index, note = read_index(raw, len(question.relative))
            if note:
                notes.setdefault(note, []).append(name)
            outcome = "scored" if index is not None else "missing" if raw is _NOTHING else "illegal"
            answer = "" if raw is _NOTHING else raw if type(raw) is str else as_text(raw)
            items.append({
                "id": name,
                "question_type": question.kind,
                "question": hash_question(f"{name} {question.digest}"),
                "score": 0.0 if index is None else float(question.relative[index]),
                "exact": 0.0 if index is None else float(index in question.answer),
                "yield_ratio": 0.0 if index is None else question.ratios[index],
                "outcome": outcome,
                "read": index,
                "answer": answer[:MAX_CELL],
                "note": note,
            })  # fmt: skip
            digest.add(name, question.digest, outcome + answer)
        unknown = sorted(predictions.keys() - self._questions.keys())
        if unknown:
            notes["prediction without a question, not used"] = unknown
        by_type: dict[str, list[Record]] = {kind: [] for kind in QUESTION_TYPES}
        for item in items:
            by_type[item["question_type"]].append(item)
        values = {
            "benchmark": BENCHMARK,
            **self._summary(items),
            "unknown_ids": len(unknown),
            "by_question_type": {kind: self._summary(found) for kind, found in by_type.items() if found},
            "pairs": _pairs(items),
            "warnings": [grouped_warning(text, names) for text, names in sorted(notes.items())] + _one_sided(items),
            "signature": {
                **settings(),
                "data_sha256": digest.hex(),
                "questions_sha256": hash_questions(item["question"] for item in items),
            },
            "items": items,
        }
        return Results(values, report_blocks)

    def _summary(self, items: Sequence[Record]) -> dict[str, Any]:
        answered = [item for item in items if item["outcome"] == "scored"]
        columns = [[item[field] for item in items] for field in _ITEM_FIELDS]
        uniform = zip(*(self._uniform[item["id"]] for item in items), strict=True)
        return {
            "n": len(items),
            **{metric: mean(values) for metric, values in zip(METRICS, columns, strict=True)},
            "intervals": {m: stratified_interval([(1.0, values)]) for m, values in zip(METRICS, columns, strict=True)},
            "standard_errors": {m: _standard_error(values) for m, values in zip(METRICS, columns, strict=True)},
            "uniform_guess": {m: mean(values) for m, values in zip(METRICS, uniform, strict=True)},
            "answered_only": {
                "n": len(answered),
                **{m: mean([i[f] for i in answered]) for m, f in zip(METRICS, _ITEM_FIELDS, strict=True)},
            },
            "missing": sum(item["outcome"] == "missing" for item in items),
            "illegal": sum(item["outcome"] == "illegal" for item in items),
            "coerced": sum(item["note"] == _COERCED for item in items),
        }


_ITEM_FIELDS: Final = ("score", "exact", "yield_ratio")  # of METRICS, in their order
_NOTHING: Final = object()
_COERCED: Final = "index written as text or with a fraction, read"
_ILLEGAL: Final = "no index of an option, scores 0"


def _add_questions(records: Iterable[Any], where: str, questions: dict[str, Question]) -> None:
    for number, record in enumerate(records, 1):
        question = read_question(record, f"{where}: record {number}")
        name = str(record["id"])
        if name in questions:
            raise InputError(f"{where}: record {number} (id {printable(name, 60)})", "the id is used more than once")
        questions[name] = question


def read_index(raw: object, size: int) -> tuple[int | None, str]:
    """(index or None, note) of a predicted value for a question of `size` options.

    >>> read_index(1, 3), read_index("2", 3)[0], read_index(2.0, 3)[0], read_index(True, 3)[0], read_index(3, 3)[0]
    ((1, ''), 2, 2, None, None)
    """
    if type(raw) is int:
        return (raw, "") if 0 <= raw < size else (None, _ILLEGAL)
    if raw is _NOTHING:
        return None, ""
    index, note = -1, _COERCED
    if isinstance(raw, str) and re.fullmatch(r"\s?[0-9]{1,9}\s?", raw, re.ASCII):
        index = int(raw)
    elif isinstance(raw, numbers.Integral) and not isinstance(raw, bool):
        index, note = int(raw), ""
    elif isinstance(raw, numbers.Real) and not isinstance(raw, bool) and float(raw).is_integer():
        index = int(float(raw))
    return (index, note) if 0 <= index < size else (None, _ILLEGAL)


def _uniform_guess(question: Question) -> tuple[float, float, float]:
    """What a uniform guess expects to get: relative score, exact match, yield ratio."""
    return mean(question.relative), len(set(question.answer)) / len(question.relative), mean(question.ratios)


def _standard_error(values: Sequence[float]) -> float | None:
    return math.sqrt(variance(values) / len(values)) if len(values) > 1 else None


def _pairs(items: Iterable[Record]) -> dict[str, Any]:
    """References against their controls, for all questions and for both kinds apart."""
    sides: dict[str, dict[str, tuple[str, float]]] = {"_reference": {}, "_reference_control": {}}
    for item in items:
        for end, suffix in (("_reference", "_ref"), ("_reference_control", "_ref_control")):
            if item["question_type"].endswith(end):
                base = item["question_type"].removesuffix(end)
                sides[end][item["id"].removesuffix(suffix)] = (base, item["score"])
    compared = {}
    for kind in ("overall", *BASE_TYPES):
        with_, without = ({n: s for n, (b, s) in side.items() if kind in ("overall", b)} for side in sides.values())
        both = sorted(with_.keys() & without.keys())
        unpaired = len(with_.keys() ^ without.keys())
        compared[kind] = _compare([with_[name] for name in both], [without[name] for name in both], unpaired)
    return compared


def _one_sided(items: Iterable[Record]) -> list[str]:
    """A warning where references were answered and controls were not, or the other way round."""
    answered = {"_reference": 0, "_reference_control": 0}
    asked = dict(answered)
    for item in items:
        for end in answered:
            if item["question_type"].endswith(end):
                asked[end] += 1
                answered[end] += item["outcome"] == "scored"
    if all(asked.values()) and not all(answered.values()) and any(answered.values()):
        return ["only one side of the pairs of references and controls was answered: their difference means nothing"]
    return []


def _compare(with_: Sequence[float], without: Sequence[float], unpaired: int) -> dict[str, Any]:
    """Paired difference of scores, reference − control, with Student's t interval and two-sided p-value."""
    differences = [one - other for one, other in zip(with_, without, strict=True)]
    interval = stratified_interval([(1.0, differences)], bounds=(-1.0, 1.0))
    error = _standard_error(differences)
    return {
        "pairs": len(differences),
        "unpaired": unpaired,
        "reference_mean": mean(with_),
        "control_mean": mean(without),
        "mean_difference": mean(differences),
        "interval": interval,
        "p_value": t_tail(abs(mean(differences)) / error, len(differences) - 1) if interval and error else None,
        "wins": sum(value > 1e-9 for value in differences),
        "ties": sum(abs(value) <= 1e-9 for value in differences),
        "losses": sum(value < -1e-9 for value in differences),
    }


def read_prediction(path: Path) -> tuple[dict[str, Any], str]:
    """(`{id: value}`, sha256) of a prediction file; InputError unless it is one JSON object without repeated keys."""
    where = str(path)
    raw = read_file(path)
    text = decode_utf8(raw, where)
    value = parse_json(text, where)
    if not isinstance(value, dict):
        raise InputError(where, "expected one object {id: option index}", type(value).__name__)
    # parse_json forgives equal values under one key, and 1 equals true
    pairs: tuple[tuple[str, Any], ...] = json.loads(text, object_pairs_hook=tuple, parse_int=str)
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise InputError(where, f"the id {printable(twice[0], 60)} is given twice")
    return value, hashlib.sha256(raw).hexdigest()


def evaluate_file(path: Path, datasets: Sequence[Path], evaluator: RxnOptEvaluator | None = None) -> Results:
    """The results of one prediction file; an `evaluator` made from these datasets before spares reading them again."""
    predictions, sha256 = read_prediction(path)
    evaluator = evaluator or RxnOptEvaluator(datasets)
    results = evaluator.evaluate_all(predictions)
    if predictions and results["unknown_ids"] == len(predictions):
        raise InputError(str(path), "expected predictions for this dataset", "none with an id of it")
    results["signature"].update(dataset_sha256=evaluator.sha256, prediction_sha256=sha256)
    files = {"name": path.stem, "prediction": path.name, "dataset": ", ".join(evaluator.names) or None}
    return Results({**files, **results}, report_blocks)


# --- Report of a score ---


def format_report(results: Mapping[str, Any], items: bool = False) -> str:
    """The results as a screen shows them: a table per question type and overall, pairs, warnings, the signature."""
    return format_text(report_blocks(results, items))


def report_blocks(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report's lines and tables."""
    report: Report = [f"{BENCHMARK}  {printable(results.get('name', ''))}".rstrip()]
    report += [f"{results['n']} questions, dataset {printable(results.get('dataset') or 'given')}", ""]
    kinds = results["by_question_type"]
    rows = [_score_row(kind, kinds[kind]) for kind in QUESTION_TYPES if kind in kinds]
    rows += [_score_row("Overall", results)]
    header = ["", "Relative", "95% interval", "Uniform", "Exact", "Yield ratio", "n", "Missing", "Illegal"]
    report += [ReportTable(header, rows, "<>>>>>>>>"), ""]
    answered = results["answered_only"]["avg_relative_score"]
    report.append(f"Missing and illegal answers score 0. Over answered questions only: {show_number(answered)}.")
    if results["coerced"]:
        report.append(f"Read from text or fractions: {results['coerced']}.")
    if results["pairs"]["overall"]["pairs"]:
        report += ["", _pair_table(results["pairs"])]
    report += [f"warning: {printable(warning)}" for warning in results["warnings"]]
    if items:
        header = ["Id", "Type", "Score", "Outcome", "Read", "Answer", "Note"]
        shown = [
            [printable(i["id"], 60), i["question_type"], show_number(i["score"]), i["outcome"],
             "" if i["read"] is None else str(i["read"]), printable(i["answer"], 20), i["note"]]
            for i in results["items"]
        ]  # fmt: skip
        report += ["", ReportTable(header, shown, "<<><><<")]
    return [*report, "", format_signature(results["signature"])]


def _score_row(name: str, summary: Mapping[str, Any]) -> list[str]:
    relative = METRICS[0]
    numbers_ = [summary["uniform_guess"][relative], *(summary[metric] for metric in METRICS[1:])]
    return [
        name, show_number(summary[relative]), show_interval(summary["intervals"][relative]),
        *map(show_number, numbers_), *(str(summary[key]) for key in ("n", "missing", "illegal")),
    ]  # fmt: skip


def _pair_table(pairs: Mapping[str, Any]) -> ReportTable:
    header = ["Reference against control", "Reference", "Control", "Difference", "95% interval", "p", "Pairs", "W/T/L"]
    rows = []
    for kind, pair in pairs.items():
        if pair["pairs"]:
            counts = "/".join(str(pair[key]) for key in ("wins", "ties", "losses"))
            values = [show_number(pair[key]) for key in ("reference_mean", "control_mean", "mean_difference")]
            shown = [*values, show_interval(pair["interval"]), show_number(pair["p_value"]), str(pair["pairs"]), counts]
            rows.append([kind, *shown])
    return ReportTable(header, rows, "<>>>>>>>")


# --- Output of a build ---


def dataset_name(kind: str) -> str:
    return f"multiple_choice_{kind}.json"


def build_files(build: Build, language: str = "en") -> dict[str, str]:
    """The text of every output file by name: six datasets, four templates, six example predictions, the report."""
    files: dict[str, str] = {}
    for kind in QUESTION_TYPES:
        questions = [question for question in build.questions if question["question_type"] == kind]
        lines = ",\n".join(map(dump_json, questions))  # a question per line: fast, and a diff shows which one changed
        files[dataset_name(kind)] = f"[\n{lines}\n]\n" if questions else "[]\n"
        example = {question["id"]: 0 for question in questions}
        files[f"example_prediction_{dataset_name(kind)}"] = dump_json(example, indent=1) + "\n"
    for name in TEMPLATES:
        files[f"prompt_{name}.txt"] = make_template(name, language)
    files["report.md"] = make_report(build, language)
    return files


def write_build(build: Build, folder: Path, language: str = "en") -> None:
    """Write the files of a build to a folder that must not exist yet; all of them appear at once, or none."""
    if os.path.lexists(folder):
        raise InputError(str(folder), "the output folder must not exist yet")
    temporary = folder.with_name(f".{folder.name[:100]}.{os.getpid()}.tmp")
    try:
        for name, text in build_files(build, language).items():
            write_atomic(temporary / name, text)
        if os.path.lexists(folder):
            raise InputError(str(folder), "the output folder must not exist yet")
        temporary.rename(folder)
    except OSError as error:
        raise EvaluationError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


_REPORT_HEAD: Final = """\
# Multiple choice questions about reaction conditions

{total} questions from {used} of {tables} tables, made by {evaluator} with seed {seed}.

## 1. Where to begin

Read this page, then open a dataset and the prompt template of its `question_type`, and look at an example prediction
for the form of an answer.

## 2. Which file for what

| To | read |
| --- | --- |
| understand this folder | `report.md` |
| see the questions | `multiple_choice_*.json` |
| put them to a model | `prompt_*.txt` with the dataset, or `python rxnopt.py render` |
| see the form of a prediction | `example_prediction_*.json` |

## 3. Shortest workflow

    python rxnopt.py render DATASET -o prompts.jsonl       one {{"id", "prompt"}} row per question
    (let a model answer each prompt with one 0-based number; rows {{"id", "reply"}})
    python rxnopt.py parse replies.jsonl -o prediction/multiple_choice_single_varying-NAME.json
    python eval.py -f multiple_choice_single_varying-NAME --dataset THIS_FOLDER/multiple_choice_single_varying.json

## 4. Question types

| question_type | shows | scored |
| --- | --- | --- |
| `single_varying` | options that differ in one condition; the others are fixed as in a real group | in these options |
| `all_varying` | options that are whole sets of the varying conditions | in these options |
| `single_varying_reference` | and results of other rows, none above the best option | in these options |
| `all_varying_reference` | and results of rows, which are then no options | in the options that are left |
| `*_reference_control` | the options of its `_ref` twin without the references | as its twin |

## 5. Scoring

- Main score: effective of the picked option / best effective of the options, averaged as `avg_relative_score`.
- effective = yield × enantio_major_fraction × dr_major_fraction × rr_major_fraction; ee before er; a missing factor
  is 1.
- `exact_match_accuracy`: share of picks among the best options. `avg_yield_ratio`: yield / best yield of the options.
- A missing answer, or one that is no index of an option, scores 0 in all three.

## 6. Files
"""
_REPORT_FIELDS: Final = """\
## 7. Fields

`id` ({{table_id}}_q{{N}}[_ref][_ref_control]), `question_type`, `target_key` (the condition asked about; null for
all_varying), `varying_keys`, `input`, `options` (a set of conditions each), `answer` (indices of the best options;
several if they tie), `meta`.

- `input`: `reactants`, `products` (items with `content` and `SMILES`), `constant_conditions`, `fixed_conditions`
  (single_varying only), `reference_conditions` (`_reference` only: `conditions` and `yield`).
- `meta`, about the source: `source_file`, `doi`, `parent_table_id`, `main_product_smiles`,
  `total_entries_in_source_table`, `global_best_yield`, `global_best_effective_score`, `global_best_entry_indices`,
  `reference_source_entries`.
- `meta`, about the options: `best_yield`, `best_effective_score`, `best_entry_indices`; and a value for each option,
  in their order: `yields`, `effective_scores`, `scores` (the yield; ee, er, dr, rr as printed; the major fractions read
  from them), `option_relative_scores`, `option_source_entries`.

## 8. Predictions

One JSON object, `{{"question id": 2}}`: the 0-based number of one option for each question.

## 9. References

At least {least} and at most {most}, from the lowest {share:.3g} of the candidates, never the table's best result. An
all_varying question keeps at least {spare} options beside its references. Every `_ref` question has a `_ref_control`.
"""


def make_report(build: Build, language: str = "en") -> str:
    """`report.md`: how to use the folder, every count, every setting, a sample of each type, every warning."""
    counts, settings = build.counts, build.settings
    evaluator = f"{BENCHMARK} {__version__}"
    parts = [
        _REPORT_HEAD.format(
            total=len(build.questions), used=build.used, tables=build.tables, evaluator=evaluator, seed=build.seed
        )
    ]
    rows = [
        [f"`{dataset_name(k)}`", f"`{k}`", str(counts[k]), f"`prompt_{template_of(k)}.txt`",
         f"`example_prediction_{dataset_name(k)}`"]
        for k in QUESTION_TYPES
    ]  # fmt: skip
    rows.append(["total", "", str(len(build.questions)), "", ""])
    parts.append(_markdown_table(["Dataset", "question_type", "Questions", "Prompt template", "Example"], rows))
    parts.append(_REPORT_FIELDS.format(
        least=settings.min_reference_options, most=settings.max_reference_options,
        share=settings.reference_low_mid_fraction, spare=settings.min_reference_remaining_effective_options,
    ))  # fmt: skip
    rows = [
        [name.upper(), f"`{_code(dump_json(value))}`", SETTING_HELP[name]] for name, value in settings._asdict().items()
    ]
    parts += ["## 10. Settings\n", _markdown_table(["Setting", "Value", "Meaning"], rows)]
    parts += ["## 11. Statistics\n", _statistics(build)]
    parts += ["## 12. Samples"]
    for kind in QUESTION_TYPES:
        question = next((q for q in build.questions if q["question_type"] == kind), None)
        if question:
            parts.append(f"\n### {kind}\n\n" + _fence(_sample(question, language)))
    if build.unused_tables:
        parts.append("\n## 13. Tables not used\n\n" + _fence("\n".join(build.unused_tables)))
    if build.warnings:
        parts.append("\n## 14. Warnings\n\n" + _fence("\n".join(build.warnings)))
    return "\n".join(parts).rstrip() + "\n"


def _statistics(build: Build) -> str:
    generated = sum(build.counts[f"{base}_reference"] for base in BASE_TYPES)
    lines = [
        f"- tables: {build.tables}, used {build.used}, not used {sum(build.unused.values())}",
        *(f"  - {reason}: {count}" for reason, count in build.unused.items()),
        f"- questions: {len(build.questions)}",
        f"- single_varying and all_varying questions that a table does not give: {sum(build.not_asked.values())}",
        *(f"  - {reason}: {count}" for reason, count in build.not_asked.items()),
        f"- references looked for: {build.attempts}, found {generated}, skipped {sum(build.skipped.values())}",
        *(f"  - {reason}: {count}" for reason, count in build.skipped.items()),
        f"- warnings about cells and rows: {len(build.warnings)}",
    ]
    return "\n".join(lines) + "\n"


def _sample(question: Mapping[str, Any], language: str) -> str:
    prompt = render_question(question, make_template(template_of(question["question_type"]), language)).splitlines()
    if len(prompt) > 150:
        prompt[100:-4] = [f"… ({len(prompt) - 104} more lines)"]
    relative = question["meta"]["option_relative_scores"]
    shown = f"{relative[:50]}{' …' if len(relative) > 50 else ''}"
    return "\n".join([f"id: {question['id']}", "", *prompt, "", f"answer: {question['answer']}", f"relative: {shown}"])


def _markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def _code(text: str) -> str:
    return printable(text).replace("`", "'")


def _fence(text: str) -> str:
    """A code block that no text can end: its fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


# --- Tables from a spreadsheet ---

_ENTRY_NAMES: Final = frozenset({"entry", "no", "no.", "nr", "nr.", "#", "s_no", "s.no", "s.no.", "run", "index"})
_OUTCOME: Final = re.compile(r"(?<![a-z])(?:yields?|conv(?:ersion)?|selectivity|[ed][er]|rr)(?![a-z])", re.I)
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")


def import_csv(
    path: Path,
    columns: Mapping[str, str],
    reactants: Sequence[str] = (),
    products: Sequence[str] = (),
    group: Sequence[str] = (),
    drop: Sequence[str] = (),
    entry: str | None = None,
    fraction: bool = False,
) -> tuple[dict[str, Record], list[str]]:
    """(tables by file name, notes) of a CSV file of experiments.

    `columns`: result field (isolated_yield, yield_ratio, ee, er, dr, rr) -> column. A table holds the rows that agree
    in the `reactants`, `products` and `group` columns; of the rest, all but `entry` and `drop` are conditions. The
    delimiter is the most frequent of comma, semicolon and tab in the header. Raises InputError (line, column).
    """
    text = decode_utf8(read_file(path), str(path))
    header, rows = _read_csv(text, str(path))
    notes = []
    if entry is None:
        entry = next((name for name in header if name.strip().lower() in _ENTRY_NAMES), None)
        notes += [f"column {entry!r} is read as the entry number"] if entry else []
    named = [*columns.values(), *reactants, *products, *group, *drop, *([entry] if entry else [])]
    for name in named:
        if name not in header:
            raise InputError(str(path), f"no column {printable(name, 60)}", ", ".join(map(printable, header)))
    for name, count in Counter([*columns.values(), *reactants, *products, *drop]).items():
        if count > 1:
            raise InputError(str(path), f"the column {printable(name, 60)} is named twice")
    conditions = [name for name in header if name not in named]
    if not conditions:
        raise InputError(str(path), "expected a column of conditions", "none beside those named")
    notes.append(f"conditions: {', '.join(conditions)}")
    outcomes = [name for name in conditions if _OUTCOME.search(name)]
    if outcomes:
        notes.append(f"warning: results among the conditions? name them with --ee, … or --drop: {', '.join(outcomes)}")
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name].strip() for name in (*reactants, *products, *group)), []).append(row)
    stem = _FILE_NAME.sub("_", path.stem).strip(".") or "table"
    width = len(str(len(groups)))
    tables = {}
    for number, found in enumerate(groups.values(), 1):
        name = stem if len(groups) == 1 else f"{stem}_{number:0{width}d}"
        tables[f"{name}.json"] = _imported_table(
            name, found, columns, reactants, products, group, conditions, entry, fraction
        )
    molecules = [item for table in tables.values() for item in (*table["reactants"], *table["products"])]
    if not (reactants and products) or not all(item["SMILES"] for item in molecules):
        notes.append("reactants and products are not all SMILES: build with --reactant-product-require content or none")
    return tables, notes


def _imported_table(
    name: str,
    rows: Sequence[Mapping[str, str]],
    columns: Mapping[str, str],
    reactants: Sequence[str],
    products: Sequence[str],
    group: Sequence[str],
    conditions: Sequence[str],
    entry: str | None,
    fraction: bool,
) -> Record:
    first = rows[0]
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "doi": "",
        "year": None,
        "is_table": True,
        "yield_scale": "fraction" if fraction else "percent",
        "group": {column: first[column] for column in group},
        "reactants": [_imported_item(column, first[column], True) for column in reactants if first[column].strip()],
        "products": [_imported_item(column, first[column], True) for column in products if first[column].strip()],
        "entries": [
            {
                "entry_idx": row[entry] if entry else str(number),
                "rxn_id": "0",
                "conditions": {c: [_imported_item(c, row[c], False)] if row[c].strip() else [] for c in conditions},
                "results": {field: row[column] or None for field, column in columns.items()},
            }
            for number, row in enumerate(rows, 1)
        ],
    }


def _imported_item(column: str, cell: str, molecule: bool) -> Record:
    """An item; its text is its SMILES, too, if the column's name says so, or if a molecule is written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column tells.
    """
    text = cell.strip()
    smiles = "smiles" in column.lower() or (molecule and is_smiles(text))
    return {"content": text, "SMILES": text if smiles else ""}


def _read_csv(text: str, where: str) -> tuple[list[str], list[dict[str, str]]]:
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for name, count in Counter(header).items():
            if count > 1 and name:
                raise InputError(f"{where}: line 1", f"the column {printable(name, 60)} is there twice")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(header):
                raise InputError(f"{where}: line {reader.line_num}", f"expected {len(header)} cells", str(len(cells)))
            if len(cells) < len(header):
                raise InputError(f"{where}: line {reader.line_num}", f"expected {len(header)} cells", str(len(cells)))
            rows.append(dict(zip(header, cells, strict=True)))
            if any(cell.strip() for name, cell in zip(header, cells, strict=True) if not name):
                raise InputError(f"{where}: line {reader.line_num}", "expected a name above every cell", "none")
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.line_num}", f"not CSV: {error}") from None
    if not rows:
        raise InputError(where, "expected a header and rows", "none")
    return [name for name in header if name], rows


# --- Command line ---

_EXAMPLES: Final = """\
examples:
  python rxnopt.py build dataset/rxnopt-tables -o /tmp/questions
  python rxnopt.py build tables -o questions --reactant-product-require none --year-filter 2019
  python rxnopt.py render dataset/multiple_choice_all_varying.json -o prompts.jsonl
  python rxnopt.py parse replies.jsonl -o prediction.json
  python rxnopt.py import experiments.csv -o tables --yield yield_percent --ee ee --group substrate

Scoring is the business of eval.py: python eval.py -f multiple_choice_single_varying-NAME

exit codes: 0 done, 1 internal fault, 2 usage or unreadable input, 130 interrupted
"""


def build_parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="rxnopt.py",
        description="Build and render RxnOptBench questions (scoring: eval.py).",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rxnopt.py {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    add = _command(commands, "build", "questions from a folder of tables", _run_build)
    add("tables", metavar="TABLES_DIR", type=Path, help="folder of table files (JSON), read recursively")
    add("-o", "--output", metavar="OUT_DIR", type=Path, required=True, help="folder to make; it must not exist")
    add("--seed", metavar="N", type=int, default=0, help="decides the order of options (0)")
    add("--language", choices=tuple(LANGUAGES), default="en", help="of the prompts (en)")
    for name, default in Settings._field_defaults.items():
        shown = ",".join(default) if isinstance(default, tuple) else str(default).lower()
        add("--" + name.replace("_", "-"), dest=name, metavar="VALUE", help=f"{SETTING_HELP[name]} ({shown})")

    add = _command(commands, "render", "prompts of a dataset, as {id, prompt} rows", _run_render)
    add("dataset", metavar="DATASET", type=Path)
    add("--id", metavar="ID", help="this question only")
    add("--language", choices=tuple(LANGUAGES), default="en", help="where no prompt_*.txt lies beside DATASET (en)")
    add("-o", "--output", metavar="FILE", type=Path, help="JSONL file to write (default: the screen)")

    add = _command(commands, "parse", "a prediction from raw replies", _run_parse)
    add("replies", metavar="REPLIES", type=Path, help="JSONL rows {id, reply}")
    add("-o", "--output", metavar="FILE", type=Path, required=True, help="prediction to write")

    add = _command(commands, "import", "table files from a CSV of experiments", _run_import)
    add("table", metavar="TABLE", type=Path)
    add("-o", "--output", metavar="TABLES_DIR", type=Path, required=True, help="folder for the table files")
    add("--yield", dest="yield_ratio", metavar="COL", help="column of the yield")
    add("--isolated-yield", metavar="COL", help="column of the isolated yield, if there are two")
    for field in ("ee", "er", "dr", "rr"):
        add(f"--{field}", metavar="COL", help=f"column of the {field}")
    for field in ("reactants", "products", "group", "drop"):
        what = {"group": "a table for each combination of these", "drop": "columns that are no conditions"}
        add(f"--{field}", metavar="COL", nargs="+", default=[], help=what.get(field, f"columns of {field}"))
    add("--entry", metavar="COL", help="column of the entry number (default: entry, no, s_no, run, …)")
    add("--fraction", action="store_true", help="yields are shares of 1")
    return parser


def _command(commands: Any, name: str, help_text: str, run: Any) -> Any:
    parser = commands.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
    parser.set_defaults(run=run)
    return parser.add_argument


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is documented in the module's docstring."""
    return run_command("rxnopt.py", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    args.run(args)
    return 0


def _run_build(args: argparse.Namespace) -> None:
    given = {name: getattr(args, name) for name in Settings._fields if getattr(args, name) is not None}
    if os.path.lexists(args.output):  # before the work, not only after it
        raise InputError(str(args.output), "the output folder must not exist yet")
    build = build_questions(args.tables, args.seed, **given)
    write_build(build, args.output, args.language)
    _warn(build.unused_tables, "not used: ")
    _warn(build.warnings, "warning: ")
    rows = [[dataset_name(kind), str(count)] for kind, count in build.counts.items()]
    print(text_table(["Dataset", "Questions"], [*rows, ["total", str(len(build.questions))]], "<>"))
    print(f"\n{_statistics(build)}\n{printable(args.output)} is written; report.md says what is in it.")


def _warn(lines: Sequence[str], prefix: str) -> None:
    for line in lines[:SHOWN_WARNINGS]:
        print(f"rxnopt.py: {prefix}{printable(line)}", file=sys.stderr)
    if len(lines) > SHOWN_WARNINGS:
        print(f"rxnopt.py: {prefix}{len(lines) - SHOWN_WARNINGS} more, see report.md", file=sys.stderr)


def _run_render(args: argparse.Namespace) -> None:
    records = list(RecordFile(args.dataset))
    for number, record in enumerate(records, 1):  # a dataset without meta and answer can be rendered, too
        if not isinstance(record, Mapping) or record.get("id") is None or not isinstance(record.get("options"), list):
            raise InputError(f"{args.dataset}: record {number}", "expected a question with 'id' and 'options'")
        if record.get("question_type") not in QUESTION_TYPES:
            expected = f"'question_type' must be one of {', '.join(QUESTION_TYPES)}"
            raise InputError(f"{args.dataset}: record {number}", expected, printable(record.get("question_type"), 60))
    if args.id is not None:
        records = [record for record in records if str(record["id"]) == args.id]
        if not records:
            raise InputError(str(args.dataset), f"no question {printable(args.id, 60)}")
    templates = {
        name: _template(args.dataset.parent / f"prompt_{name}.txt", name, args.language)
        for name in sorted({template_of(record["question_type"]) for record in records})
    }
    rows = (
        {"id": record["id"], "prompt": render_question(record, templates[template_of(record["question_type"])])}
        for record in records
    )
    if args.output:
        write_atomic(args.output, "".join(dump_json(row) + "\n" for row in rows))
    else:
        for row in rows:
            print(dump_json(row, ascii_only=True))


def _template(path: Path, name: str, language: str) -> str:
    """The template file beside the dataset, which its owner may have edited; the built-in one if there is none."""
    if not path.is_file():
        return make_template(name, language)
    text = decode_utf8(read_file(path), str(path))
    if "{options}" not in text:
        raise InputError(str(path), "expected a template with {options}")
    return text


def _run_parse(args: argparse.Namespace) -> None:
    prediction, warnings = parse_replies(RecordFile(args.replies))
    for warning in warnings:
        print(f"rxnopt.py: warning: {printable(warning)}", file=sys.stderr)
    if not prediction:
        raise InputError(str(args.replies), "expected replies with an index", "none")
    write_atomic(args.output, dump_json(prediction, indent=1) + "\n")
    print(f"{len(prediction)} indices in {printable(args.output)}")


def _run_import(args: argparse.Namespace) -> None:
    fields = ("isolated_yield", "yield_ratio", "ee", "er", "dr", "rr")
    columns = {field: getattr(args, field) for field in fields if getattr(args, field)}
    if not columns.keys() & {"isolated_yield", "yield_ratio"}:
        raise InputError("--yield", "expected the column of the yield")
    tables, notes = import_csv(
        args.table, columns, args.reactants, args.products, args.group, args.drop, args.entry, args.fraction
    )
    taken = [name for name in tables if os.path.lexists(args.output / name)]
    if taken:
        raise InputError(str(args.output / taken[0]), "the file must not exist yet")
    for name, table in tables.items():
        write_atomic(args.output / name, dump_json(table, indent=1) + "\n")
    for note in notes:
        print(printable(note))
    print(f"{sum(len(t['entries']) for t in tables.values())} rows in {len(tables)} tables in {printable(args.output)}")


if __name__ == "__main__":
    sys.exit(main())
