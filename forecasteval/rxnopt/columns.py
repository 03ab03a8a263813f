"""Columns: names and rows that show a sheet to be no tidy table, and conditions that give the
result away.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from .cells import drop_marks, drop_raised
from .chemicals import any_case

FEWEST: Final = 4  # different numbers that can be in order by more than chance
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?\s?%?")

# What may stand beside the quantity in a name: `Yield (%)`, `yield (1H NMR)b`, `Yield (24 h)`.
_NO_QUANTITY: Final = any_case(
    r"(?:[\W_]|(?<![^\W_])(?:[a-fh-z]|[0-9.]+\s?(?:h|min|mg|g|mmol|°c)|pct|percent|mol\s?%|1h|19f"
    r"|nmr|gc|hplc|u?plc|lc|sfc|crude|assay|isol|isolated|yield|by|in|of|the)(?![^\W_]))*",
)
# Two of these words in front are two quantities, too: `Yield ee (%)`.
_QUANTITY: Final = any_case(
    r"(?<![^\W_])(?:yield|e\.?[er]|[dr]\.?r|conv[a-z]*|recov[a-z]*|b?rsm|selectivity)(?![^\W_])"
    r"|[产收]率|转化率|选择性",
)
_BRACKETED: Final = any_case(r"\[(e[er]|[dr]r|de)\]")
_LABEL: Final = re.compile(r"(?<![\w.])[0-9]{1,3}[a-z]'?(?![^\W_])")  # 3a
_METHOD: Final = any_case(r"nmr|gc|hplc|lc|crude|assay")
_HEADER: Final = any_case(  # cells of a second header: `Yield (%)b`, `isolated yield`, `ee`, `(%)`
    r"(?:(?:isolated|isol\.?|nmr|gc|hplc|assay|%)\s)?(?:yield|ausbeute|[产收]率|e\.?[er]\.?"
    r"|[dr]\.?r\.?"
    r"|conv\w*\.?|isolated)(?:\s(?:of\s)?[0-9]{1,3}[a-z]?)?[\W_]*[a-z]?\W*|[\W_]*%[\W_]*",
)
_DEVIATION: Final = any_case("deviat|variation|chang|differen|偏离|变化|改变")
_STANDARD: Final = any_case(
    r"none|nothing|no (?:change|deviation|variation)s?.*|(?:as )?standard.*|[-–—]?|无|标准条件",
)
_STANDARD_CONDITIONS: Final = any_case(  # in whatever column
    r"(?:as |the |under )?(?:standard|optimi[sz]ed|optimal|optimum) conditions?\b.*"
    r"|(?:标准|最优|最佳)条件",
)


def find_second_quantity(name: str) -> str:
    """Find what the name of a column of yields or ee names beside them; "" if nothing.

    >>> [find_second_quantity(name) for name in ("Yield (3a) [%]b", "yield (1H NMR)", "ee (%)")]
    ['', '', '']
    >>> [find_second_quantity(name) for name in ("yield (ee)", "Yield of 3a (4a)", "Yield (mg)")]
    ['ee', '4a', 'mg']
    """
    marked = _BRACKETED.sub(r"(\1)", name)  # no footnote: Yield [ee] (%)
    plain = unicodedata.normalize("NFKC", drop_raised(drop_marks(marked)))
    first, *rest = re.split(r"[()\[\]{}/,;|:+&]|\band\b", plain)
    labels = _LABEL.findall(plain)
    known = labels if len(labels) == 1 else ()
    beside = [part.strip() for part in rest if not _NO_QUANTITY.fullmatch(part)]
    beside += list(dict.fromkeys(_QUANTITY.findall(plain.lower())))[1:]
    if "isol" in first.lower():  # the bracket of `Isolated yield (NMR)` is another yield
        beside += [part.strip() for part in rest if _METHOD.search(part)]
    return next((part for part in beside if part not in known), "")


def find_header(cells: Mapping[str, str], results: Sequence[str]) -> str:
    """Find the cell that shows a row to be a second header; "" if none does.

    A cell below the name of a result repeats it, or names a quantity or a unit.

    >>> find_header({"base": "solvent", "yield": "Yield (%)"}, ["yield"])
    'Yield (%)'
    """
    for name in results:
        if cells[name].casefold() == name.casefold() or _HEADER.fullmatch(cells[name]):
            return cells[name]
    return ""


# --- Conditions that give the result away ---


def warn_of_conditions(
    columns: Mapping[str, Sequence[str]], yields: Sequence[float]
) -> Iterator[str]:
    """Warn about conditions that give the result away. They are in order with the yield, different
    in every row though others vary, or name the standard row.
    """
    varying = [name for name, cells in columns.items() if len(set(cells)) > 1]
    for name, cells in columns.items():
        pattern = _STANDARD if _DEVIATION.search(name) else _STANDARD_CONDITIONS
        if is_in_order(cells, yields):
            yield f"the condition {name} is in order with the yield"
        if len(varying) > 1 and 2 < len(cells) == len(set(cells)):
            yield f"the condition {name} is different in every row"
        if standard := [cell for cell in cells if pattern.fullmatch(cell)]:
            which = f"{standard[0]!r} says which option is the standard"
            yield f"{name}: {which}, mostly the best one: write there what was used instead"


def is_in_order(cells: Sequence[str], yields: Sequence[float]) -> bool:
    """Say whether the numbers of a column rise or fall with the yield; False where a cell is none.

    >>> is_in_order(["0.1", "0.2 %", "3", "40"], [10.0, 20.0, 20.0, 80.0])
    True
    """
    if not all(map(_NUMBER.fullmatch, cells)) or len(set(cells)) < FEWEST:
        return False
    numbers = [float(cell.rstrip("% ")) for cell in cells]
    ordered = [amount for _, amount in sorted(zip(numbers, yields, strict=True))]
    return sorted(ordered) in (ordered, ordered[::-1])
