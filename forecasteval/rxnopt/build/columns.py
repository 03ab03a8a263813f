"""Columns: names and rows that show a sheet to be no tidy table, and
    conditions that give the
result away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from .cells import drop_raised
from .chemicals import any_case

MIN_ROWS: Final = 4  # rows whose numbers are no levels of a condition: 1, 2, 3 equiv.

# Quantities that a name can name: `Yield (ee)`, `Yield (mg)`; and products, of which
# it names two.
_QUANTITY: Final = any_case(
    r"\b(?<![0-9] "
    r")(?:yield|e\.?[er]|[dr]\.?r|de|conv[a-z]*|recov[a-z]*|b?rsm|selectivity"
    r"|purity|m?g)\b|[产收]率|转化率|选择性",
)
_PRODUCT: Final = re.compile(r"(?<![\w.])[0-9]{1,3}[a-fi-z]'?\b")  # 3a, but not 24h
_OTHER_YIELD: Final = any_case(r"isol[^(]*\(.*?(nmr|gc|hplc|crude|assay)")
# Cells of a second header: `Yield (%)b`, `isolated yield`, `ee`, `(%)`
_HEADER: Final = any_case(
    r"(?:(?:isol\w*\.?|nmr|gc|hplc|assay|%)\s)?(?:yield|ausbeute|[产收]率|e\.?[er]|[dr]\.?r|conv\w*"
    r"|isolated)(?: (?:of )?[0-9]{1,3}[a-z]?)?[\W_]*[a-z]?\W*|[\W_]*%[\W_]*",
)
_DEVIATION: Final = any_case("deviat|variation|chang|differen|偏离|变化|改变")
_STANDARD: Final = any_case(
    r"none|nothing|no (?:change|deviation|variation).*|(?:as "
    r")?standard.*|[-–—]?|无|标准条件",
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
    """  # noqa: E501
    plain = drop_raised(name.lower().replace("_", " ")).lstrip("([")
    front, *brackets = re.split(r"[(\[（]", plain, maxsplit=1)
    first, *others = dict.fromkeys(_QUANTITY.findall(front)) or [""]
    others += [word for word in _QUANTITY.findall("".join(brackets)) if word != first]
    others += [*dict.fromkeys(_PRODUCT.findall(plain))][1:]
    return next(iter(others + _OTHER_YIELD.findall(plain)), "")


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


def may_give_away(name: str, cells: Sequence[str]) -> bool:
    """Return whether a condition may be a result, or the number or the
    rank of each row.

    >>> may_give_away("no", ["2", "1", "3 a", "4", "5"]), may_give_away("h", ["1", "2", "4", "8"])
    (True, False)
    """  # noqa: E501
    if _HEADER.fullmatch(name.replace("_", " ")):
        return True
    ranks = {str(number) for number in range(1, len(cells) + 1)}
    ranked = [cell for cell in cells if cell in ranks]
    fewest = max(MIN_ROWS, len(cells) / 2)
    return len(ranked) == len(set(ranked)) >= fewest


def names_standard(name: str, cell: str) -> bool:
    """Return whether a condition names the standard row, which is
    mostly the best one.
    """
    if _DEVIATION.search(name):
        return _STANDARD.fullmatch(cell) is not None
    return _STANDARD_CONDITIONS.fullmatch(cell) is not None
