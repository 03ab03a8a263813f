"""Columns: what their names say about their cells, and which of them give the result away."""

from __future__ import annotations

import re
import statistics
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from .cells import drop_marks, drop_raised, read_yield
from .chemicals import SELECTIVITIES, any_case

LEAK: Final = 0.95  # rank correlation with the yield above which a condition tells the result
FEWEST: Final = 4  # different numbers that a correlation needs

# Words of names, which stand in lower case with blanks between them.
_RESULT: Final = re.compile(
    r"(?<!\S)(?:ton|tof|convn?|b?rsm|lcap|umsatz|rank|rating|score|hits?|results?|outcomes?|notes?"
    r"|comments?|remarks?|area|mass|lcms|gcms|tlc)(?!\S)"
    r"|conversion|selectiv|enantiomeric|diastereomeric|turnover|purit|recover|assay|observ|remain"
    r"|unreacted|byproduct|转化率|选择性|纯度|备注|现象|结果"
)
_ENTRY: Final = re.compile(
    r"(?:(?:entry|no|nr|s|id|idx|index|run|exp|experiment|number|sample|rxn|reaction|row|trial"
    r"|order|unnamed|编号|序号)(?:\s|\Z))+"
)
_STEMS: Final = (
    (re.compile(r"\b(?:conv|转化率)\S*"), "conv"),
    (re.compile(r"\b(?:yield|ausbeute|产率|收率)\S*"), "yield"),
    (re.compile(r"\bde\b"), "dr"),
)
_KNOWN: Final = ("yield", "conv", *SELECTIVITIES)
# Units, methods and footnotes name no quantity beside the yield: `Yield (%)`, `yield (NMR)b`.
_UNNAMED: Final = any_case(
    r"(?:[\W_]|(?<![^\W_])(?:[a-z]|[0-9.]+\s?(?:h|min|mg|g|mmol|°c)|pct|percent|mol|wt|mg|mmol|min"
    r"|1h|19f|nmr|gc|hplc|u?plc|lc|crude|isol|isolated|by|in|of|the)(?![^\W_]))*",
)
_MASS: Final = re.compile(r"[(\[/,]\s?(?:[mµ]?g|[mµ]?mol|g/L|mg/mL)\s?[)\]]?\Z")
_METHOD: Final = any_case(r"nmr|gc|hplc|lc|crude|assay")
_DEVIATION: Final = any_case("deviat|variation|chang|differen|偏离|变化|改变")
_STANDARD: Final = any_case(
    r"none|nothing|no (?:change|deviation|variation)s?.*|(?:as )?standard.*|[-–—]?|无|标准条件",
)
_STANDARD_CONDITIONS: Final = any_case(  # in whatever column
    r"(?:as |the |under )?(?:standard|optimi[sz]ed|optimal|optimum) conditions?\b.*"
    r"|(?:标准|最优|最佳)条件",
)


def fold_name(name: str) -> str:
    r"""The name of a column on one line: `Yield\n(%)` is `Yield (%)`."""
    return " ".join(name.split())


def words(name: str) -> str:
    """The words of a column's name in lower case: `Yield_3a (e.e.)b` is "yield a ee b".

    >>> words("Product_Yield_PCT_Area_UV"), words("eePercent"), words("d.r.ᵇ [%]")
    ('product yield pct area uv', 'ee percent', 'dr %')
    """
    name = unicodedata.normalize("NFKC", drop_raised(name))
    name = re.sub(r"\b([A-Za-z])\.\s?([A-Za-z])\b\.?", r"\1\2", name)
    return " ".join(re.findall(r"[^\W\d_]+|%", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))


def is_entry(name: str) -> bool:
    """Whether a column's name is one of entry numbers: `Entry`, `s_no`, `Reaction ID`, `#`."""
    return name.strip() == "#" or _ENTRY.fullmatch(words(name)) is not None


def is_mass(name: str) -> bool:
    """Whether a column's name ends with a unit of mass or amount: `Yield (mg)`, not `Yield (%)`."""
    return _MASS.search(drop_marks(name).strip()) is not None


def guess_use(name: str) -> str:
    """What a column looks like by its name: "yield", "ee" …, "entry number", "result" or
    "condition".

    >>> [guess_use(name) for name in ("Yield_3a (%)", "e.e.", "Conv.", "Entry", "MS")]
    ['yield', 'ee', 'result', 'entry number', 'condition']
    """
    roles = interpret_header(name)
    if scored := [role for role in roles if role in ("yield", *SELECTIVITIES)]:
        return "result" if is_mass(name) else scored[0]
    if is_entry(name):
        return "entry number"
    return "result" if _RESULT.search(words(name)) else "condition"


@lru_cache(maxsize=1000)  # once for all rows
def interpret_header(name: str) -> tuple[str, ...]:
    """What the number in a cell is, and what stands in brackets behind it, by the column's name.

    A quantity of no score stays as it is named, and so does another yield than the isolated one.

    >>> [interpret_header(name) for name in ("yield_3a_(dr)b", "Conv. [yield]", "yield (%)")]
    [('yield', 'dr'), ('conv', 'yield'), ('yield',)]
    >>> [interpret_header(name) for name in ("Yield of 3a (4a) (%)", "Isolated yield (NMR)")]
    [('yield', '4a'), ('yield', 'NMR')]
    """
    first, *rest = re.split(
        r"[()\[\]/,;|:]|\band\b", unicodedata.normalize("NFKC", drop_marks(name))
    )
    roles = dict.fromkeys(filter(None, map(_role_of, (first, *rest))))
    if "isol" in first.lower():
        roles |= {part.strip(): None for part in rest if _METHOD.search(part)}
    return tuple(roles)


def _role_of(part: str) -> str:
    """The quantity that a part of a name names, "" if it names none."""
    stems = words(part)
    for pattern, role in _STEMS:
        stems = pattern.sub(role, stems)
    known = [stem for stem in stems.split() if stem in _KNOWN]
    return known[0] if known else "" if _UNNAMED.fullmatch(part) else part.strip()


def split_cell(cell: str, roles: Sequence[str]) -> dict[str, str]:
    """The parts of a cell by their roles, without footnotes; the first alone where there is no
    second, or where the second scores nothing.

    >>> split_cell("88 (92)[c]", ("yield", "ee")), split_cell("88/92", ("yield", "ee"))
    ({'yield': '88', 'ee': '92'}, {'yield': '88', 'ee': '92'})
    >>> split_cell("0", ("yield", "ee")), split_cell("60 (1:9)", ("yield", "3a:4a"))
    ({'yield': '0'}, {'yield': '60'})
    >>> split_cell("88 (92, 3:1)", ("yield", "ee", "dr"))
    {'yield': '88', 'ee': '92', 'dr': '3:1'}
    """
    cell = drop_marks(cell)
    front, *brackets = re.split(r"\s?[()（）\[\]]+\s?", cell)
    if roles[1] not in _KNOWN:
        is_isolated = re.search(r"\bisol", cell, re.I)  # the cell itself says what it holds
        return {roles[0]: cell if is_isolated else front}
    parts = [front, brackets[0]] if brackets else re.split("[/,;|]", cell)
    if len(roles) > 2 and brackets:  # 88 (92, 3:1) · 88 (92) (3:1) · 88 (92), without a dr
        parts = [front, *re.split("[,;|]", ",".join(re.findall(r"[(（\[]([^()（）\[\]]*)", cell)))]
    if len(parts) > len(roles) or (len(parts) < len(roles) and not brackets):
        parts = [front if brackets else cell]
    return dict(zip(roles, map(str.strip, parts), strict=False))


# --- Conditions that give the result away ---


def warn_of_conditions(
    columns: Mapping[str, Sequence[str]], yields: Sequence[float | None]
) -> Iterator[str]:
    """Warnings about conditions that are in order with the yield, that are different in every row
    though others vary, or that name the standard row.
    """
    varying = [name for name, cells in columns.items() if len(set(cells)) > 1]
    for name, cells in columns.items():
        pattern = _STANDARD if _DEVIATION.search(name) else _STANDARD_CONDITIONS
        if correlation(cells, yields) > LEAK:
            yield f"the condition {name} is in order with the yield"
        if len(varying) > 1 and 2 < len(cells) == len(set(cells)):
            yield f"the condition {name} is different in every row"
        if standard := [cell for cell in cells if pattern.fullmatch(cell)]:
            which = f"{standard[0] or 'an empty cell'!r} says which option is the standard"
            yield f"{name}: {which}, mostly the best one: write there what was used instead"


def correlation(cells: Sequence[str], yields: Sequence[float | None]) -> float:
    """|r| of the ranks of a column of numbers and of the yields; 0 where a cell is no number."""
    pairs = [(_number(c), y) for c, y in zip(cells, yields, strict=True) if c and y is not None]
    numbers = [number for number, _ in pairs if number is not None]
    if len(numbers) < len(pairs) or len(set(numbers)) < FEWEST:
        return 0.0
    try:
        return abs(statistics.correlation(_ranks(numbers), _ranks([value for _, value in pairs])))
    except statistics.StatisticsError:  # the yield is constant
        return 0.0


@lru_cache(maxsize=100_000)  # a column of conditions has the same few texts in all rows
def _number(cell: str) -> float | None:
    text = cell.rstrip("% ").replace(",", ".").replace("−", "-")
    if re.fullmatch(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?", text):
        return float(text)
    return read_yield(cell).value  # n.d. and trace, which a column of results has, too


def _ranks(values: Sequence[float]) -> list[float]:
    """The ranks of values; ties share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value)) / 2 for value in values]
