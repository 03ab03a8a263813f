"""Cells: what papers print as yield, ee, er, dr and rr, read as percent and major fractions.

A cell is read or reported: `read_yield` and `read_fraction` never guess, and say in a note what they could not read.
"""

from __future__ import annotations

import html
import math
import numbers
import re
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from forecasteval.common.records import number_text

MAX_CELL: Final = 200  # characters; no result of a table is longer
ROUND: Final = 6  # decimals of effective and relative scores: [1.0, 0.587629] in the seed
SELECTIVITIES: Final = ("ee", "er", "dr", "rr")

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


def is_empty(cell: object) -> bool:
    """Whether an ee, er, dr or rr cell is blank, a dash, or says that nothing was determined."""
    return cell_text(cell) in _MISSING_SELECTIVITY


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
