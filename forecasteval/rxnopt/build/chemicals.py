"""Items, the `{"content", "SMILES"}` of conditions, reactants and products:
read and compared.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypedDict

from forecasteval.common.records import as_text, number_text

YIELDS: Final = ("isolated_yield", "yield_ratio")  # fields of a row's results
SELECTIVITIES: Final = ("ee", "er", "dr", "rr")
ABSENT: Final = "—"
_SMILES: Final = re.compile(
    r"(?:\[[0-9]{0,3}(?:[A-Z][a-z]?|[bcnops]|se|as)[@H0-9+:-]{0,9}\]|Cl|Br|[BCNOPSFIbcnops]"
    r"|[-=#:/\\.~()0-9%]){1,2000}"
)
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,6}|#x[0-9a-fA-F]{1,5}|[A-Za-z]{2,8});")
# 71\u201377: escaped twice.
_LOST_ESCAPE: Final = re.compile(r"\\u((?![dD][89a-fA-F])[0-9a-fA-F]{4})")
_ABSENT: Final = frozenset({"", ABSENT, "–", "-", "−", "nan"})
_SIGNS: Final = str.maketrans("−–—‒―‐‑º˚", "-------°°")
_RAISED: Final = re.compile(r"[ªᵃ-ᵿⁱⁿ]+$|(?<=[0-9]) [a-z](?: ?, ?[a-z])*$")
_FOOTNOTE: Final = re.compile(r"(?:\[[a-z](?:,[a-z])*\]|\^[a-z]|[*†‡§¶])$")  # 1 [m]


class Substance(TypedDict):
    """A substance, or a value such as a temperature; one of the two may be ""."""

    content: str
    SMILES: str


Conditions = dict[str, list[Substance]]


def any_case(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that matches small and capital letters alike."""
    return re.compile(pattern, re.I)


def repair(text: str) -> str:
    r"""Remove invisible characters, and resolve those that were written as escapes.

    >>> repair(r"25 \u00b0C"), repair("&lt;5\u200b"), repair("R&D")
    ('25 °C', '<5', 'R&D')
    """
    text = _LOST_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return _INVISIBLE.sub("", _ENTITY.sub(lambda match: html.unescape(match[0]), text))


@lru_cache(maxsize=100_000)
def is_smiles(text: str) -> bool:
    """Return whether `text` is written like a SMILES of six letters or more. Its
    brackets and ring closures come in pairs.

    >>> [is_smiles(text) for text in ("C1CCCCC1", "PPh3", "(COCl)2", "[bmim][PF6]", "O2/N2")]
    [True, False, False, False, False]
    """  # noqa: E501
    if sum(map(str.isalpha, text)) < 6 or text.count("(") != text.count(")"):
        return False
    if not re.search(r"[=#()\[\]0-9]", text) or not _SMILES.fullmatch(text):
        return False
    rings = Counter(re.findall(r"%[0-9]{2}|[0-9]", re.sub(r"\[[^\]]*\]", "", text)))
    return all(count % 2 == 0 for count in rings.values())


def looks_like_smiles(cells: Sequence[str]) -> bool:
    """Return whether all of some cells are written like SMILES, short ones
    such as O, too.

    >>> looks_like_smiles(["CN(C)C=O", "O", "c1ccccc1"]), looks_like_smiles(["NCS", "O"])
    (True, False)
    """  # noqa: E501
    has_structure = any(re.search(r"[=#()\[\]0-9]", cell) for cell in cells)
    # 564483-18-7 has none
    has_atoms = all(re.search("[A-Za-z]", cell) for cell in cells)
    return has_structure and has_atoms and all(map(_SMILES.fullmatch, cells))


def is_absent(cell: str) -> bool:
    """Return whether a cell says by a dash that there is none of something."""
    return cell.strip() in _ABSENT - {"", "nan"}


@lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """Fold `text` for comparison: NFKC, one minus sign, no blanks, no footnote, no case
    unless case is chemistry.

    >>> fold("DMF ") == fold("dmf"), fold("−10 °C") == fold("-10°C"), fold("1 [m]") == fold("1")
    (True, True, True)
    >>> fold("C1CCCCC1") == fold("c1ccccc1")
    False
    """  # noqa: E501
    text = text.translate(_SIGNS)
    if not text.isascii():
        text = "".join(char for char in text if not _is_raised_letter(char))
    text = re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))
    if is_smiles(text):
        return text
    text = text.casefold()
    return _FOOTNOTE.sub("", text) or text


def _is_raised_letter(char: str) -> bool:
    """Return whether a character is a footnote mark: "1ᵃ" carries one,
    "Cu²⁺" a charge.
    """
    return char.isalpha() and unicodedata.decomposition(char).startswith("<super>")


def find_marks(text: str) -> str:
    """Find the footnote marks at the end of a condition or of an entry's number, which
    say that something else was changed; "" if there are none.

    >>> find_marks("Cs2CO3[b]"), find_marks("5 f , g"), find_marks("1ᵃ"), find_marks("1a")
    ('[b]', 'f , g', 'ᵃ', '')
    """  # noqa: E501
    text = text.strip()
    marks = _FOOTNOTE.search(text) or _RAISED.search(text)
    if marks is None:
        return ""
    return marks[0].strip()


def read_items(value: object) -> list[Substance]:
    """Read the items `{"content", "SMILES"}` of a condition, reactant or product,
    without blanks, dashes and NaN.
    """
    if not isinstance(value, list):
        value = [value]
    items: list[Substance] = []
    for part in value:
        if not isinstance(part, Mapping) or {"content", "SMILES"}.isdisjoint(part):
            part = {"content": part}
        content = repair(item_text(part.get("content")))
        smiles = item_text(part.get("SMILES"))
        if smiles.strip() or content.strip().lower() not in _ABSENT:
            items.append({"content": content, "SMILES": smiles})
    return items


def item_text(value: object) -> str:
    """Write a JSON value as text: numbers as Python does, "" for null."""
    return number_text(value) or as_text(value)


def compare_key(items: Sequence[Substance], normalize: bool) -> tuple[str, ...]:
    """Make the comparable form of a condition's value: the contents (the SMILES of an
    item without contents).
    """
    texts = [item["content"].strip() or item["SMILES"].strip() for item in items]
    if normalize:
        texts = sorted(map(fold, texts))
    return tuple(texts)
