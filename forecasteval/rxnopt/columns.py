"""Columns: by their names and cells, which are results, which name experiments, which could be
conditions.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from forecasteval.common.records import group_by

from .cells import read_yield
from .chemicals import SELECTIVITIES

LEAK: Final = (
    0.95  # correlation with the yield, of values or of ranks, above which a column is a result
)
FEWEST: Final = 4  # values that a correlation needs; the correlation of ranks needs one more

# Patterns of names, whose words stand in lower case with blanks between them.
_RESULT: Final = re.compile(
    r"""
    (?<!\S)(?:ee|er|dr|rr|de|ton|tof|convn?|lap|b?rsm|ausbeute|umsatz|hits?|results?|outcomes?|notes?|comments?|remarks?
      |rank|ranking|rating|score|success|succeeded|worked|tlc|lcms|gcms|uplc|等级|评价|效果|成功|外观|颜色|性状)(?!\S)
  | yield|conversion|selectiv|enantiomeric|diastereomeric|regioisomeric|turnover|purit|recover|assay|lcap|ee[a-z](?!\S)
  | observ|remain|unreacted|byproduct|impurit|retention
  | 产率|收率|转化率|选择性|纯度|回收|对映|备注|现象|结果|副产物|剩余|排名
    # alone: in "solvent grade" and "LED colour" they are conditions
  | \A(?:(?:grade|quality|performance|appearance|colou?r|hplc|gc|lc|ms|nmr|%)(?:\s|\Z))*\Z
  | \A(?=.*(?<!\S)mass(?!\S))
    (?:(?:mass|%|k?g|mg|of|prod|product|isolated|crude|obtained|balance|total|ion|count)(?:\s|\Z))*\Z
  | \Aarea\Z
  | \A(?=.*(?<!\S)area(?!\S)).*(?<!\S)(?:%|pct|percent|uv|lc|hplc|gc|peak|abs|norm|prod|product)(?!\S)
    """,
    re.X,
)
# the E/Z ratio, the product against an internal standard, what came out beside it
_BESIDE: Final = re.compile(
    r"(?<![a-z])(?:e[/:]z|z[/:]e|b[/:]l|l[/:]b|r[/:]s|s[/:]r|(?:endo|exo|cis|trans|syn|anti)[/:](?:endo|exo|cis|trans|syn|anti)"
    r"|\w{1,20}\s?/\s?i\.?s\.?|(?:by|side)[-\s]products?|(?:δδ|dd)g)(?![a-z])"
)
_ENTRY: Final = re.compile(
    r"(?:(?:entry|no|nr|s|id|idx|index|run|exp|experiment|number|sample|rxn|reaction|row|trial|order|unnamed|编号|序号)"
    r"(?:\s|\Z))+"
)
_LABEL: Final = re.compile(
    r"(?<!\S)(?:well|eln|date|notebook|barcode|vial|operator|timestamp)(?!\S)"
)
# Conditions may have another value in every row, and may decide the yield: a screen of ligands, a
# series of times.
_CONDITION: Final = re.compile(
    "catal|ligand|base|solvent|temp|time|additive|reagent|acid|oxid|reduc|equiv|loading|conc|amount|pressure|light"
    "|wavelength|atmosph|electro|anode|cathode|current|volt|salt|metal|activat|deviat|variation|change|condition"
    "|nucleophil|substrate|halide|amine|photo|hour|smiles|催化|配体|碱|溶剂|温度|时间|添加|试剂|浓度|当量|条件|压力"
)
_DEVIATION: Final = re.compile("deviat|variation|chang|differen|偏离|变化|改变", re.I)
_STANDARD: Final = re.compile(
    r"none|nothing|no (?:change|deviation|variation)s?.*|(?:as )?standard.*|[-–—]?|无|标准条件",
    re.I,
)
_STANDARD_CONDITIONS: Final = re.compile(  # in whatever column
    r"(?:as |the |under )?(?:standard|optimi[sz]ed|optimal|optimum) conditions?\b.*|(?:标准|最优|最佳)条件",
    re.I,
)
_MARKS: Final = re.compile(r"[+★☆✓✔*±–—−-]{1,6}")
_JUDGEMENTS: Final = re.compile(
    r"(?:very )?(?:good|bad|poor|fair|ok|okay|excellent|moderate|fail(?:ed|s)?|pass(?:ed)?|works?)"
    "|优秀?|良好?|好|中|差|较[好差]",
    re.I,
)
_ROLES: Final = ("yield", "conv", *SELECTIVITIES, "de")


def words(name: str) -> str:
    """The words of a column's name in lower case: `Yield_3a (e.e.)b` is "yield a ee b".

    >>> words("Product_Yield_PCT_Area_UV"), words("eePercent"), words("d.r.ᵇ [%]")
    ('product yield pct area uv', 'ee percent', 'dr %')
    """
    name = "".join(
        char for char in name if not unicodedata.decomposition(char).startswith("<super>")
    )
    name = re.sub(r"\b([A-Za-z])\.\s?([A-Za-z])\b\.?", r"\1\2", unicodedata.normalize("NFKC", name))
    return " ".join(re.findall(r"[^\W\d_]+|%", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))


def is_result(name: str) -> bool:
    """Whether a column's name says that it was measured after the reaction.

    >>> [is_result(name) for name in ("Conv. (%)", "area %", "e.e.", "Product/IS", "mass (mg)", "LCAP", "yieldb")]
    [True, True, True, True, True, True, True]
    >>> [is_result(name) for name in ("catalyst mass", "electrode area", "temperature", "base", "recovered SM")]
    [False, False, False, False, True]
    """
    return bool(_RESULT.search(words(name)) or _BESIDE.search(name.lower()))


def is_entry(name: str) -> bool:
    """Whether a column's name is one of entry numbers: `Entry`, `s_no`, `Reaction ID`, `#`."""
    return name.strip() == "#" or _ENTRY.fullmatch(words(name)) is not None


@lru_cache(maxsize=1000)  # once for all rows
def header_roles(name: str) -> tuple[str, ...]:
    """The meanings of two numbers in a cell by the name of its column: `yield (ee)`, `yield/ee`,
    `conv. (yield)`.

    >>> header_roles("yield_3a_(dr)b"), header_roles("Conv. [yield]"), header_roles("yield (%)")
    (('yield', 'dr'), ('conv', 'yield'), ())
    """
    stems = re.sub(
        r"\b(?:conv|转化率)\S*", "conv", re.sub(r"\b(?:yield|产率|收率)\S*", "yield", words(name))
    ).split()
    roles = dict.fromkeys("dr" if stem == "de" else stem for stem in stems if stem in _ROLES)
    return tuple(roles) if len(roles) == 2 and re.search(r"[(（\[/,|;]", name) else ()


def split_cell(cell: str, roles: Sequence[str]) -> dict[str, str]:
    """The parts of a cell by their roles; the first alone where there is no second.

    >>> split_cell("88 (92)", ("yield", "ee")), split_cell("88/92", ("yield", "ee")), split_cell("0", ("yield", "ee"))
    ({'yield': '88', 'ee': '92'}, {'yield': '88', 'ee': '92'}, {'yield': '0'})
    """
    bracket = re.fullmatch(r"([^()（）\[\]]*)[(（\[]([^()（）\[\]]*)[)）\]][^()（）\[\]]*", cell)
    match = bracket or re.fullmatch(r"([^/,;|]+)[/,;|]([^/,;|]+)", cell)
    parts = match.groups() if match else [cell]
    return dict(zip(roles, map(str.strip, parts), strict=False))


def is_row_number(name: str, cells: Sequence[str]) -> bool:
    """Whether a column counts the rows: every integer of a range once, and its name says so or it
    is long.
    """
    if not all(re.fullmatch("[0-9]{1,9}", cell) for cell in cells):
        return False
    numbers = sorted(map(int, cells))
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    return is_entry(name) or (len(cells) >= 8 and not _CONDITION.search(name.lower()))


def correlation(cells: Sequence[str], yields: Sequence[float | None]) -> float:
    """|r| of a column of numbers with the yield, of the values or of their ranks; 0 where a cell is
    no number.
    """
    pairs = [
        (_number(cell), value)
        for cell, value in zip(cells, yields, strict=True)
        if cell and value is not None
    ]
    numbers, values = (
        [number for number, _ in pairs if number is not None],
        [value for _, value in pairs],
    )
    distinct = len(set(numbers))
    if len(numbers) < len(pairs) or distinct < FEWEST:
        return 0.0
    try:
        r = abs(statistics.correlation(numbers, values))
        ranks = (
            statistics.correlation(_ranks(numbers), _ranks(values)) if distinct > FEWEST else 0.0
        )
        return max(r, abs(ranks))
    except (statistics.StatisticsError, OverflowError):  # the yield is constant
        return 0.0


@lru_cache(maxsize=100_000)  # a column of conditions has the same few texts in all rows
def _number(cell: str) -> float | None:
    text = cell.rstrip("% ").replace(",", ".")
    if re.fullmatch(r"[-−]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?", text):
        return float(text.replace("−", "-"))
    return read_yield(cell).value  # n.d. and trace, which a column of results has, too


def _ranks(values: Sequence[float]) -> list[float]:
    """The ranks of values; ties share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value)) / 2 for value in values]


def choose_conditions(
    columns: Mapping[str, Sequence[str]], yields: Sequence[float | None]
) -> tuple[list[str], list[str]]:
    """(conditions, notes) of the columns that the user did not name, without results and names of
    experiments.

    A column that only its cells give away stays where nothing else varies, and where its name is a
    condition's.
    """
    by_reason = group_by(columns, lambda name: _why_no_condition(name, columns[name], yields))
    kept = set(by_reason.pop("", []))
    if not any(len(set(columns[name])) > 1 for name in kept):  # one temperature after the other
        kept.update(by_reason.pop(_FOLLOWS, []), by_reason.pop(_DIFFERS, []))
    notes = [
        f"no conditions, unless --conditions says so: {why}: {', '.join(names)}"
        for why, names in by_reason.items()
    ]
    return [name for name in columns if name in kept], notes


_FOLLOWS: Final = f"columns that go with the yield (correlation above {LEAK})"
_DIFFERS: Final = "columns with another value in every row"


def _why_no_condition(name: str, cells: Sequence[str], yields: Sequence[float | None]) -> str:
    if is_result(name):
        return "results (--ee, --er, --dr and --rr score them)"
    filled = list(filter(None, cells))
    marks = all(map(_MARKS.fullmatch, filled)) and any(
        re.search(r"([^–—−-])\1", cell) for cell in filled
    )
    if filled and (marks or all(map(_JUDGEMENTS.fullmatch, filled))):
        return "marks of how well it went"
    if is_row_number(name, cells):
        return "row numbers"
    if _LABEL.search(words(name)):
        return "names of experiments"
    if _CONDITION.search(name.lower()):
        return ""
    if correlation(cells, yields) > LEAK:
        return _FOLLOWS
    return _DIFFERS if len(cells) > 2 and len(set(cells)) == len(cells) else ""


def warn_of_conditions(
    columns: Mapping[str, Sequence[str]], yields: Sequence[float | None]
) -> list[str]:
    """Warnings about conditions that may give the answer away: they follow the yield, or name the
    standard row.
    """
    warnings = []
    for name, cells in columns.items():
        pattern = _STANDARD if _DEVIATION.search(name) else _STANDARD_CONDITIONS
        standard = [cell for cell in cells if pattern.fullmatch(cell)]
        if correlation(cells, yields) > LEAK:
            warnings.append(f"warning: the condition {name} goes with the yield")
        if standard:
            which = f"{standard[0] or 'an empty cell'!r} says which option is the standard, mostly the best one"
            warnings.append(f"warning: {name}: {which}: write there what was used instead")
    return warnings
