"""Conditions of a sheet: what `--conditions` names, a column or the
columns of one thing.

`ligand=ligand_name+ligand_smiles+ligand_eq` is one condition: a text, its SMILES and
its amount. Which column is which is told by its cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, printable

from .chemicals import Substance, any_case, is_absent, looks_like_smiles
from .sheets import Sheet, fold_name, show_names
from .tables import Unused

_BLANK: Final = "blank (write – for none, else fill the value above down)"
_SAY: Final = "write – for none, or what was used"
TEXT: Final = "text"
SMILES: Final = "SMILES"
AMOUNT: Final = "amount"
_AMOUNT: Final = any_case(
    r"[<>≤≥~≈]?\s?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?(\s?[a-zµμ°%][^0-9]{0,12})?"
)
# A unit that stands alone in a name: `ligand_eq`, `base (mol%)`, `additive mM`
_UNITS: Final = {
    "equiv": r"(?i:eq|equivs?|equivalents?)",
    "mol%": r"(?i:mol[ _-]?%|mol[ _-]?percent|mol[ _-]?pct)",
    "wt%": r"(?i:wt[ _-]?%|weight[ _-]?percent)",
    "vol%": r"(?i:vol[ _-]?%)",
    "mmol": r"(?i:mmol)",
    "mol": r"(?i:mol)",
    "mM": r"mM|(?i:millimolar)",
    "M": r"M|(?i:molar)",
    "mg": r"(?i:mg)",
    "g": r"g",
    "µL": r"(?i:[uµμ]l)",
    "mL": r"(?i:ml)",
    "L": r"L",
    "ppm": r"(?i:ppm)",
    "h": r"(?i:h|hours?)",
    "min": r"(?i:min|minutes?)",
    "°C": r"°C|degC",
    "bar": r"(?i:bar)",
    "atm": r"(?i:atm)",
    "%": r"%|(?i:percent)",
}
_UNKNOWN: Final = re.compile(  # NA, but not Na, which is sodium
    r"NA|(?i:n/a|n\.a\.|null|unknown|unspecified|missing|tbd"
    r"|not (?:available|determined|given|known|recorded|reported|specified))|\?+"
    r"|#(?:N/A|REF!|ERROR!?|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|未知|不详|未报道|未说明"
)
# A column of the Open Reaction Database:
# inputs["base"].components[0].identifiers[0].value
_ORD_PATH: Final = re.compile(
    r"(?:inputs|conditions|setup|notes|workups|outcomes)[\[.].+"
)
_ORD_WORD: Final = re.compile(r"\[[\"']([^\"']+)[\"']\]|([A-Za-z_]+)")
_ORD_FILLERS: Final = frozenset(
    {
        "inputs",
        "conditions",
        "setup",
        "components",
        "identifiers",
        "amount",
        "setpoint",
        "value",
    }
)


class Condition(NamedTuple):
    """A condition of an experiment: its name, and its columns by what they hold."""

    name: str
    columns: Mapping[str, str]  # TEXT, SMILES, AMOUNT -> column
    unit: str = ""  # of the amount, unless its cells say it

    def read(self, cells: Mapping[str, str]) -> Substance:
        """Read the item of a row; Unused if a cell does not say what was used."""
        parts = {role: cells[column] for role, column in self.columns.items()}
        main = parts.get(TEXT) or parts.get(SMILES) or parts.get(AMOUNT, "")
        if is_absent(main):
            return {"content": main, "SMILES": ""}
        # Merged and repeated values are blank, too, in what other programs write
        if not main:
            raise Unused(f"{self.name}: {_BLANK}")
        for role, cell in parts.items():
            if _UNKNOWN.fullmatch(cell):
                raise Unused(f"{self.columns[role]}: {cell} ({_SAY})")
        smiles = parts.get(SMILES, "")
        if is_absent(smiles):
            smiles = ""
        return {"content": main + self._show_amount(cells), "SMILES": smiles}

    def _show_amount(self, cells: Mapping[str, str]) -> str:
        """Show an amount behind what it is of: ` (10 mol%)`."""
        column = self.columns.get(AMOUNT)
        if column is None or len(self.columns) == 1:
            return ""
        cell = cells[column]
        if not cell:
            raise Unused(f"{column}: blank ({_SAY})")
        if is_absent(cell):
            return ""
        if self.unit and cell[-1].isdigit():
            return f" ({cell} {self.unit})"
        return f" ({cell})"


def find_conditions(where: str, words: Sequence[str], sheet: Sheet) -> list[Condition]:
    """Find the conditions that words name in a sheet.

    Raises InputError for a word that is no column and no sum of columns, or that can be
    read in two ways.
    """
    short = _shorten(words)
    conditions = []
    for word in words:
        if word in sheet.header:
            conditions.append(_make_single(short[word], word))
        else:
            conditions.append(_make_thing(where, word, sheet))
    names = [condition.name for condition in conditions]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(
            where, f"the condition {printable(twice[0], 60)} is named twice"
        )
    return conditions


def _make_single(name: str, column: str) -> Condition:
    """Make the condition of one column; its text is its SMILES, too, if
    its name says so.
    """
    if "smiles" in column.lower():
        return Condition(name, {SMILES: column})
    return Condition(name, {TEXT: column})


def _make_thing(where: str, word: str, sheet: Sheet) -> Condition:
    """Make the condition that `NAME=COL+COL` names."""
    name, equals, text = word.partition("=")
    name = fold_name(name)
    if not equals:
        text = word
    readings = [*_split_columns(text, sheet.header)]
    if not readings:
        raise missing_column(where, _find_missing(text, sheet.header), sheet.header)
    if not (equals and name):
        shown = printable(text, 60)
        raise InputError(
            where, f"expected a name for the condition {shown}: NAME={shown}"
        )
    if len(readings) > 1:
        ways = " or ".join(show_names(columns) for columns in readings[:2])
        expected = f"{printable(word, 60)} can be read in two ways: rename a column"
        raise InputError(where, expected, ways)
    columns: dict[str, str] = {}
    for column in readings[0]:
        role = _find_role(column, [row.cells[column] for row in sheet.rows])
        if role in columns:
            expected = f"expected one column of {role} in {printable(name, 60)}"
            raise InputError(where, expected, show_names([columns[role], column]))
        columns[role] = column
    if AMOUNT not in columns or len(columns) == 1:
        return Condition(name, columns)
    return Condition(name, columns, _find_unit(where, name, columns, sheet))


def missing_column(where: str, column: str, header: Sequence[str]) -> InputError:
    """Make the error of a column that a sheet does not have."""
    expected = (
        f"no column {printable(column, 60)} in the first row, which is the header"
    )
    return InputError(where, expected, show_names(header))


def _find_missing(text: str, header: Sequence[str]) -> str:
    """Find the first part of a sum of columns that is none; all of it
    where each is one.
    """
    parts = [fold_name(part) for part in text.split("+")]
    return next((part for part in parts if part not in header), fold_name(text))


def _split_columns(text: str, header: Sequence[str]) -> Iterator[list[str]]:
    """Yield the ways to read names of columns with + between them; a name may have
    a + of its own.

    >>> [*_split_columns("a+b", ["a", "b", "a+b"])], [*_split_columns("a+c", ["a", "b"])]
    ([['a', 'b'], ['a+b']], [])
    """  # noqa: E501
    parts = text.split("+")
    for end in range(1, len(parts) + 1):
        column = fold_name("+".join(parts[:end]))
        if column not in header:
            continue
        if end == len(parts):
            yield [column]
            continue
        for rest in _split_columns("+".join(parts[end:]), header):
            yield [column, *rest]


def _find_role(column: str, cells: Sequence[str]) -> str:
    """Find what a column holds: amounts, SMILES, else text."""
    given = [cell for cell in cells if cell and not is_absent(cell)]
    known = [cell for cell in given if not _UNKNOWN.fullmatch(cell)]
    if known and all(map(_AMOUNT.fullmatch, known)):
        return AMOUNT
    if "smiles" in column.lower() or looks_like_smiles(known):
        return SMILES
    return TEXT


def _find_unit(where: str, name: str, columns: Mapping[str, str], sheet: Sheet) -> str:
    """Find the unit of amounts in the name of their column or thing; "" if the
    cells have it.
    """
    column = columns[AMOUNT]
    matches = (_AMOUNT.fullmatch(row.cells[column]) for row in sheet.rows)
    if all(match[1] for match in matches if match):
        return ""
    for text in (column, name):
        for unit, pattern in _UNITS.items():
            if re.search(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z%])", text):
                return unit
    shown = printable(column, 60)
    expected = f"expected a unit in the name of the amounts {shown}"
    raise InputError(where, f"{expected}: {shown} (equiv), {shown} (mol%)")


def _shorten(words: Sequence[str]) -> dict[str, str]:
    """Shorten the names of the Open Reaction Database's columns, where they
    stay different.

    >>> [*_shorten(['inputs["base"].components[0].amount.moles.value', "T"]).values()]
    ['base moles', 'T']
    """
    short = {word: _short_name(word) for word in words}
    counts = Counter(short.values())
    return short | {word: word for word, name in short.items() if counts[name] > 1}


def _short_name(word: str) -> str:
    if not _ORD_PATH.fullmatch(word):
        return word
    found = [quoted or plain for quoted, plain in _ORD_WORD.findall(word)]
    return " ".join(part for part in found if part not in _ORD_FILLERS) or word
