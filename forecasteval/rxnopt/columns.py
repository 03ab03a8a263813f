"""Columns: by their names and cells, which are results, which are row numbers, which could be conditions."""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from .cells import SELECTIVITIES, read_yield
from .sheets import UNNAMED

LEAK: Final = 0.95  # correlation with the yield above which a column is a result
FEWEST: Final = 4  # values that a correlation needs

_EXACT: Final = frozenset({
    "ee", "er", "dr", "rr", "de", "ton", "tof", "conv", "convn", "lap", "rsm", "brsm", "ausbeute", "umsatz",
})  # fmt: skip
_STEMS: Final = re.compile(
    "yield|conversion|selectiv|enantiomeric|diastereomeric|regioisomeric|turnover|purit|recover|assay|lcap|ee[a-z]$"
    "|产率|收率|转化率|选择性|纯度|回收|对映"
)
_ISOMERS: Final = re.compile(
    r"(?<![a-z])(?:e[/:]z|z[/:]e|b[/:]l|l[/:]b|r[/:]s|s[/:]r|(?:endo|exo|cis|trans|syn|anti)[/:](?:endo|exo|cis|trans|syn|anti))(?![a-z])"
)
_AREA: Final = frozenset({
    "%", "pct", "percent", "uv", "lc", "hplc", "gc", "peak", "abs", "norm", "prod", "product",
})  # fmt: skip
_BESIDE_MASS: Final = frozenset({
    "%", "g", "mg", "kg", "of", "product", "prod", "isolated", "crude", "obtained", "balance", "total", "ion", "count",
})  # fmt: skip
_ENTRY: Final = frozenset({
    "entry", "no", "nr", "s", "id", "idx", "index", "run", "exp", "experiment", "number", "sample", "rxn", "reaction",
    "row", "trial", "order", "unnamed",
})  # fmt: skip
_ROLES: Final = ("yield", "conv", *SELECTIVITIES, "de")


def words(name: str) -> list[str]:
    """The words of a column's name in lower case: `Yield_3a (e.e.)b` is yield, a, ee, b.

    >>> words("Product_Yield_PCT_Area_UV"), words("eePercent"), words("d.r.ᵇ [%]")
    (['product', 'yield', 'pct', 'area', 'uv'], ['ee', 'percent'], ['dr', '%'])
    """
    name = "".join(char for char in name if not unicodedata.decomposition(char).startswith("<super>"))
    name = re.sub(r"\b([A-Za-z])\.\s?([A-Za-z])\b\.?", r"\1\2", unicodedata.normalize("NFKC", name))
    return re.findall(r"[^\W\d_]+|%", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())


def is_result(name: str) -> bool:
    """Whether a column's name says that it was measured after the reaction.

    >>> [is_result(name) for name in ("Conv. (%)", "area %", "e.e.", "TON", "mass (mg)", "LCAP", "yieldb", "dry")]
    [True, True, True, True, True, True, True, False]
    >>> [is_result(name) for name in ("catalyst mass", "electrode area", "temperature", "base", "recovered SM")]
    [False, False, False, False, True]
    """
    found = words(name)
    if any(word in _EXACT or _STEMS.search(word) for word in found):
        return True
    if "area" in found and (len(found) == 1 or _AREA & set(found)):
        return True
    return set(found) - _BESIDE_MASS == {"mass"} or _ISOMERS.search(name.lower()) is not None


def header_roles(name: str) -> tuple[str, ...]:
    """What the two numbers in a cell are, if the column's name says so: `yield (ee)`, `yield/ee`, `conv. (yield)`.

    >>> header_roles("yield_3a_(dr)b"), header_roles("Conv. [yield]"), header_roles("yield (%)")
    (('yield', 'dr'), ('conv', 'yield'), ())
    """
    stems = [re.sub("^(yield|conv).*", r"\1", word) for word in words(name)]
    roles = dict.fromkeys("dr" if stem == "de" else stem for stem in stems if stem in _ROLES)
    return tuple(roles) if len(roles) == 2 and re.search(r"[(\[/,|;]", name) else ()


def split_cell(cell: str, roles: Sequence[str]) -> dict[str, str]:
    """The parts of a cell by their roles; the first alone where there is no second.

    >>> split_cell("88 (92)", ("yield", "ee")), split_cell("88/92", ("yield", "ee")), split_cell("0", ("yield", "ee"))
    ({'yield': '88', 'ee': '92'}, {'yield': '88', 'ee': '92'}, {'yield': '0'})
    """
    bracket = re.fullmatch(r"([^()\[\]]*)[(\[]([^()\[\]]*)[)\]][^()\[\]]*", cell)
    match = bracket or re.fullmatch(r"([^/,;|]+)[/,;|]([^/,;|]+)", cell)
    parts = match.groups() if match else [cell]
    return dict(zip(roles, map(str.strip, parts), strict=False))


def is_row_number(name: str, cells: Sequence[str]) -> bool:
    """Whether a column counts the rows: every integer of a range once, and its name says so or it is long."""
    if not all(re.fullmatch("[0-9]{1,9}", cell) for cell in cells):
        return False
    numbers = sorted(map(int, cells))
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    return name == UNNAMED or is_entry(name) or len(cells) >= 8


def is_entry(name: str) -> bool:
    """Whether a column's name is one of entry numbers: `Entry`, `s_no`, `Reaction ID`, `#`."""
    found = set(words(name))
    return name.strip() == "#" or (bool(found) and found <= _ENTRY)


def correlation(cells: Sequence[str], yields: Sequence[float | None]) -> float:
    """|r| of a column of numbers with the yield; 0 where a cell is no number or too few values differ."""
    pairs = [(cell, value) for cell, value in zip(cells, yields, strict=True) if cell and value is not None]
    texts = [cell.rstrip("% ").replace(",", ".") for cell, _ in pairs]
    if not all(re.fullmatch(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?", text) for text in texts):
        return 0.0
    numbers = [float(text) for text in texts]
    try:
        return abs(statistics.correlation(numbers, [v for _, v in pairs])) if len(set(numbers)) >= FEWEST else 0.0
    except (statistics.StatisticsError, OverflowError):  # the yield is constant
        return 0.0


def choose_conditions(columns: Mapping[str, Sequence[str]], yields: Sequence[object]) -> tuple[list[str], list[str]]:
    """(conditions, notes) of the columns that nobody named: no results, no row numbers, none that tells the yield."""
    kept, notes = list(columns), []
    results = [name for name in kept if is_result(name)]
    numbers = [name for name in kept if name not in results and is_row_number(name, columns[name])]
    kept = [name for name in kept if name not in results and name not in numbers]
    values = [read_yield(cell).value for cell in yields]
    leaks = [name for name in kept if correlation(columns[name], values) > LEAK]
    others = [name for name in kept if name not in leaks and len(set(columns[name])) > 1]
    if leaks and not others:  # one temperature after the other
        notes.append(f"warning: goes with the yield, kept since nothing else varies: {', '.join(leaks)}")
        leaks = []
    for what, names in (
        ("results (--ee, --er, --dr and --rr score them)", results),
        ("row numbers", numbers),
        (f"columns that go with the yield (correlation above {LEAK})", leaks),
    ):
        if names:
            notes.append(f"no conditions, unless --conditions says so: {what}: {', '.join(names)}")
    return [name for name in kept if name not in leaks], notes
