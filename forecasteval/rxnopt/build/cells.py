"""Cells: what papers print as yield, ee, er, dr and rr, read as percent and
    major fractions.

A cell is read or reported: `read_yield` and `read_fraction` never guess, and say in a
note what they could not read.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Final, NamedTuple

from forecasteval.common.records import is_null, number_text

from .chemicals import any_case, repair

MAX_CELL: Final = 200  # characters; no result of a table is longer
# Decimals of effective and relative scores: [1.0, 0.587629] in the seed
ROUND: Final = 6

_FOOTNOTES: Final = (  # 27 c · 54f · 61 f , g, but not 8O, which is 80
    r"(?!(?<=[0-9])[oil](?![a-z]))[a-z](?:\s?[,;]\s?[a-z])*(?![a-z])"
)
# 9.5E+01 · 4.35920116829955
_NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_ABOUT: Final = r"(?:~|≈|ca\b\.?|circa\b|about\b|approx(?:imately)?\b\.?|大?约为?)"
_BOUNDS: Final = {  # words of a bound, and its sign; ">= 95" before "> 95"
    re.compile(r"(?:at least|no(?:t)? less than|至少|不[低小少]于)(?=\s?[0-9])"): "≥",
    re.compile(r"(?:less than|below|under|[低小少]于|不[足到])(?=\s?[0-9])"): "<",
    re.compile(
        r"(?:greater than|more "
        r"than|above|over|[高大多]于|超过)(?=\s?[0-9])"
    ): ">",
}
_NOTE_MARKS: Final = any_case(  # [c] · ^[c] · ^{a,b} · ^c · <sup>c</sup> · *
    r"\^?\[[a-z*]{1,2}(?:\s?[,;]\s?[a-z*]{1,2}){0,5}\]|<sup>[^<>]*</sup>|\^\{?[a-z0-9*,]{1,5}\}?"
    r"|[*†‡§¶#]",
)
_SIGNS: Final = str.maketrans("∶−–—‒―∼⩾⩽’′[]", ":-----~≥≤''()")
_MISSING: Final = re.compile(
    "-{0,3}|/|n/a|n[.]a[.]|nan?|none|null|not determined|not reported|未测定?|无数据"
)
_MISSING_SELECTIVITY: Final = re.compile(
    rf"{_MISSING.pattern}|nd|n[.] ?d[.]|n[.]d|n/d|nr|n[.]r[.]?|n/r|n[.]o[.]|n[.]p[.]"
    "|no (?:rxn|reaction)|not detected|未检测到"
)

# A cell is its text and up to three brackets: 80 (77) · 88 [82]c · 90% (95% ee) (3a)
_PARTS: Final = re.compile(rf"([^()]+)((?:\([^()]*\)\s?(?:{_FOOTNOTES})?\s?){{1,3}})")
_LABELLED: Final = re.compile(
    r"([0-9]{1,3})[a-z]{1,3}'{0,3}\s?"
    rf"(?::\s?([^()]+)|\(([^()]+)\)\s?(?:{_FOOTNOTES})?)"
)
_ZERO: Final = (
    r"traces?(?:\samounts?)?|tr\b\.?|spuren|n[./]?\s?d\b\.?|n[./]?\s?r\b\.?|n\.\s?[op]\b\.?"
    r"|(?:not?|none)\s(?:detected|observed|formed|found|reaction|rxn|product)"
    r"|[痕微]量|痕迹|[未没]有?(?:检测到|检出)|[未无不没]有?反应|(?:[未没]有?得到|无)产物"
)
_PLAIN_YIELD: Final = re.compile(
    rf"""(?:(?:yield|[收产]率)\s?(?:[:=]\s?|of\s)?)?
    (?: (?P<zero>{_ZERO})
      | (?P<quantitative>quant(?:itative)?\b\.?|定量)
      | (?:{_ABOUT}\s?)? (?:(?P<bound>[<>≤≥])=?\s?)? (?P<low>[+-]?{_NUMBER})\s?%?
        (?: \s?(?:-|~|\bto\b)\s?(?P<high>{_NUMBER})\s?%?
          | \s?(?:±|\+/-)\s?{_NUMBER}\s?%? | \+ | 左右 )?
    )
    (?:\s?(?:isolated\s|nmr\s|gc\s|hplc\s)?(?:(?:yield|isolated|nmr|gc|hplc|[收产]率)\b|isol\b\.?))?
    (?:\s?(?:{_FOOTNOTES}))?""",
    re.X,
)
_ISOLATED: Final = re.compile(
    rf"(?:isol(?:ated|\.)?(?:\syield)?\s?[:=]?\s?)?([<>≤≥~]?\s?{_NUMBER}\s?%?)"
    rf"\s?(?:isol(?:ated|\.)?(?:\syield)?|{_FOOTNOTES})?"
)
# (24 h), (1.2 g): no footnotes
_UNIT: Final = re.compile(r".*[0-9](?:\s?[gh]|\s[dsvw])")
# The cell 12 h; "87% h" and "61 f, g" carry footnotes.
_TIME_OR_MASS: Final = re.compile(r".*[0-9]\s?[gh]")
_PRODUCT: Final = re.compile(r"([0-9]{1,3})[a-z]{1,3}'{0,3}")

_DOTTED: Final = re.compile(r"\b([edr])\.\s?([er])\b\.?")  # e.e.
_SELECTIVITY_WORD: Final = re.compile(r"\b(?:ee|er|dr|rr|de)\b")
_EXCESS: Final = re.compile(
    rf"""(?:(?:ee|de)\b\s?[:=]?\s?)? (?P<open>\()? (?:{_ABOUT}\s?)? (?:[<>≤≥]=?\s?)?
    (?P<low>[+-]?{_NUMBER})\s?%?
    (?: \s?-\s?(?P<high>{_NUMBER})\s?%? | \s?±\s?{_NUMBER}\s?%? )? (?(open)\s?\))
    (?: \s?(?:ee|de)\b )?
    (?: \s?\(\s?{_NUMBER}\s?%?\s?\) )?   # 98 (96)e: two scales, the first counts
    (?: [\s,;()+-] | (?<![a-z])(?:ee|de|[ra]?[rs]|[a-z])(?![a-z]) ){{0,20}}""",
    re.X,
)
_RATIO: Final = re.compile(  # 95:5 · 76%/24% · 1 : >20 · 10:1:1
    rf"(?<![0-9.])({_NUMBER})\s?%?\s?([:/])\s?[<>≤≥~]?\s?({_NUMBER})"
    rf"((?:\s?%?\s?\2\s?{_NUMBER}){{0,3}})\s?%?(?![0-9.])"
)
# C2/C3 = 15:1.
_PAIR: Final = re.compile(
    r"[^=]{1,40}=|(?<![a-z0-9])([a-z]+[0-9]+'*|[0-9]+[a-z]+'*)[/:][a-z0-9]+'*"
)
_ISOMERIC: Final = re.compile(
    rf"\b(?:[ez][/:][ez]|[bl][/:][bl]|cis|trans|syn|anti|endo|exo)\b|{_PAIR.pattern}"
)
_BARE_RATIO: Final = re.compile(
    rf"(?:[edr]r\b\s?[:=]?\s?)?(?:{_ABOUT}\s?)?(?:[<>≤≥]=?\s?)?({_NUMBER})(?:\s[edr]r)?"
)
_WORDS: Final = (
    (_MISSING_SELECTIVITY, None),
    (re.compile(r"rac(?:\.|emic|emate)?"), 0.5),
    (re.compile(r"(?:only |one |a )?(?:one|single) \w*mer"), 1.0),
)
_ENANTIO: Final = ("ee", "er")
_ISOMERS: Final = ("dr", "de", "rr")  # papers write dr where they mean rr
_NAMED: Final = {"ee": _ENANTIO, "er": _ENANTIO, "dr": _ISOMERS, "rr": _ISOMERS}


class YieldCell(NamedTuple):
    """A yield cell: percent (None: missing), the isolated yield and selectivities it
    also holds, what was wrong.
    """

    value: float | None
    isolated: float | None = None
    selectivity: tuple[tuple[str, str], ...] = ()
    note: str = ""


def drop_raised(text: str) -> str:
    """Remove superscripts: "95²" is 95 with a footnote, and NFKC would make it 952."""
    return "".join(
        char
        for char in text
        if not unicodedata.decomposition(char).startswith("<super>")
    )


def drop_marks(text: str) -> str:
    """Remove footnote marks.

    >>> drop_marks("85 (80)[c]"), drop_marks("85^[c]"), drop_marks("88 [82]")
    ('85 (80)', '85', '88 [82]')
    """
    return _NOTE_MARKS.sub("", text)


def cell_text(cell: object) -> str | None:
    """Write a cell in lower case, with ASCII signs, single blanks and no footnote
    marks. None for other things and long texts.
    """
    if is_null(cell):
        return ""
    if not isinstance(cell, str):
        return number_text(cell) or None
    text = repair(cell[: MAX_CELL + 1])
    if not text.isascii():
        text = unicodedata.normalize("NFKC", drop_raised(text))
    text = drop_marks(" ".join(text.lower().split())).translate(_SIGNS)
    for words, sign in _BOUNDS.items():
        text = words.sub(sign, text)
    text = " ".join(_DOTTED.sub(r"\1\2", text).split())
    if len(text) > MAX_CELL:
        return None
    return text


def may_be_undetermined(cell: object) -> bool:
    """Return whether a yield cell says n.d., which is "not detected", or
    "not determined".
    """
    return re.fullmatch(r"n[./]?\s?d\b\.?", cell_text(cell) or "") is not None


def is_empty(cell: object) -> bool:
    """Return whether an ee, er, dr or rr cell is blank, a dash, or says that nothing
    was determined.
    """
    text = cell_text(cell)
    return text is not None and _MISSING_SELECTIVITY.fullmatch(text) is not None


# --- Yields ---


def read_yield(cell: object, fraction: bool = False) -> YieldCell:
    """Read the percent yield of a cell, in [0, 100].

    0 is a value; missing marks give None, and so does what cannot be read, with a note.
    `fraction`: numbers without a percent sign are shares of 1, which only a
    table can declare.

    >>> [read_yield(cell).value for cell in ("27 c", "40–50", "95 (n.d.)", "75% (24 h)", "78, 75")]
    [27.0, 45.0, 95.0, 75.0, None]
    >>> read_yield("80(77)").isolated, read_yield("90 (95% ee)").selectivity
    (77.0, (('ee', '95% ee'),))
    """  # noqa: E501
    text = cell_text(cell)
    if text is None:
        return YieldCell(None, note="expected a yield")
    if _MISSING.fullmatch(text):
        return YieldCell(None)
    if label := _LABELLED.fullmatch(text):
        inner = label[2] or label[3]
        # 3aa (trace), but the a of "95a (n.d.)" is a footnote
        if int(label[1]) < 30 or re.search("[0-9]", inner):
            value, note = _plain_yield(inner, fraction)
            # else "88b (3.7:1)": a footnote and a ratio
            if value is not None or _TIME_OR_MASS.fullmatch(inner):
                return YieldCell(value, note=note)
    text = re.sub(r"^\(([^()]+)\)", r"\1", text)  # (85): isolated, and nothing else
    front, brackets = text, ""
    if parts := _PARTS.fullmatch(text):
        front, brackets = parts.groups()
    value, note = _plain_yield(front, fraction)
    if value is None and "conv" in front:
        return YieldCell(None, note="a conversion is not a yield")
    if value is None:
        return YieldCell(None, note=note)
    inner = ",".join(re.findall(r"\(([^()]*)\)", brackets))
    return _add_brackets(value, note, inner, fraction)


def _plain_yield(text: str, fraction: bool) -> tuple[float | None, str]:
    """Read (percent, note) of text without brackets."""
    text = text.strip()
    if _TIME_OR_MASS.fullmatch(text):
        return None, "a time or a mass is not a yield"
    match = _PLAIN_YIELD.fullmatch(text)
    if not match or (match["bound"] and match["high"]):
        return None, "cannot be read as one yield"
    if match["zero"]:
        return 0.0, ""
    if match["quantitative"]:
        return 100.0, ""
    value = float(match["low"])
    if match["high"]:
        value = round((value + float(match["high"])) / 2, ROUND)
    if fraction and "%" not in text:
        value = round(value * 100, ROUND)
    if value > 150:
        return None, "a yield above 150 % is missing"
    if match["bound"] in ("<", "≤"):
        return 0.0, ""
    if value > 100:
        return 100.0, "a yield above 100 % is read as 100"
    if value < 0:
        return 0.0, "a negative yield is read as 0"
    return value, ""


def _add_brackets(value: float, note: str, inner: str, fraction: bool) -> YieldCell:
    """Add what stands in the brackets of a yield: selectivities, one isolated yield;
    units and words are asides.
    """
    isolated = None
    selectivity: dict[str, str] = {}
    for part in filter(None, map(str.strip, re.split("[,;]", inner))):
        number = _ISOLATED.fullmatch(part)
        if field := _selectivity_of(part):
            if field in selectivity or read_fraction(part, field)[0] is None:
                note = f"{part} in brackets cannot be read as one {field}"
            else:
                selectivity[field] = part
        elif number and not _UNIT.fullmatch(part) and not _is_label(part, value):
            amount, problem = _plain_yield(number[1], fraction)
            # 72% (2), 50.2(3)
            if amount is None or isolated is not None or amount < value / 2:
                note = f"{part} in brackets is not read as the isolated yield"
            else:
                isolated = amount
                if amount > value:
                    problem = "the isolated yield is above the assay yield"
                note = note or problem
        elif _RATIO.search(part):  # perhaps of solvents
            note = f"{part} in brackets is not read"
    return YieldCell(value, isolated, tuple(selectivity.items()), note)


def _selectivity_of(part: str) -> str:
    """Say which selectivity a part of a bracket is, "" if none: a ratio
    alone is a dr.
    """
    if word := _SELECTIVITY_WORD.search(part):
        return word[0].replace("de", "dr")
    if _RATIO.fullmatch(part.lstrip("<>≥≤~ ")):
        return "dr"
    if _RATIO.search(part) and _ISOMERIC.search(part):
        return "dr"
    return ""


def _is_label(text: str, front: float) -> bool:
    """Return whether a number with letters is the label of a product. `2a` is one in
    "62 (2a)" and "0% (2a)", but not `56b` in "62 (56b)".
    """
    label = _PRODUCT.fullmatch(text)
    if label is None:
        return False
    number = int(label[1])
    may_be_yield = front / 2 <= number <= front
    return number < 30 or not may_be_yield


# --- Selectivities ---


def read_fraction(cell: object, field: str) -> tuple[float | None, str]:
    """Read (major fraction in [0, 1] or None, note) of an ee, er, dr or rr cell.

    ee: (100 + |ee|) / 200. Ratios a:b[:c]: max / sum; those of enantiomers have
        two parts, which
    add up to 100 ± 2 or are r:1. A bare r is r:1. Bounds are read as the
    value they name.

    >>> [read_fraction(*cell)[0] for cell in (("90% ee", "ee"), ("3:1", "dr"), ("nd", "er"))]
    [0.95, 0.75, None]
    """  # noqa: E501
    text = cell_text(cell)
    if text is None:
        return None, f"expected {field}"
    for pattern, value in _WORDS:
        if pattern.fullmatch(text):
            return value, ""
    word = _SELECTIVITY_WORD.search(text)
    if word and word[0] not in _NAMED[field]:
        return None, f"another selectivity than {field}"
    if ratio := _RATIO.search(text):
        return _read_ratio(text, ratio, field)
    excess = _EXCESS.fullmatch(text)
    if excess and (field == "ee" or re.search(r"\b[ed]e\b", text)):
        percent = abs(float(excess["low"]))
        if excess["high"]:
            percent = (percent + float(excess["high"])) / 2
        if percent > 100:
            return None, f"{field} above 100 % is missing"
        return (100 + percent) / 200, ""
    bare = _BARE_RATIO.fullmatch(text)
    if not bare or field == "ee" or not 0 < float(bare[1]) < math.inf:
        return None, f"cannot be read as {field}"
    r = float(bare[1])
    fraction = max(r, 1.0) / (r + 1)
    # Below 1 it may be a share, above 50 a percentage.
    if r < 1 or 50 <= r <= 100:
        return fraction, f"{bare[1]} is read as {bare[1]}:1"
    return fraction, ""


def _read_ratio(
    text: str, ratio: re.Match[str], field: str
) -> tuple[float | None, str]:
    """Read (major fraction, note) of a cell with a ratio in it."""
    front = _PAIR.sub("", text[: ratio.start()])
    rest = front + text[ratio.end() :]
    if re.search("[0-9]", rest):  # two ratios, or a number without a meaning
        return None, f"cannot be read as one {field}"
    parts = [float(part) for part in re.findall(_NUMBER, ratio[0])]
    total = sum(parts)
    if not 0 < total < math.inf:
        return None, f"{field} of {ratio[0]} is missing"
    is_of_one_or_hundred = 1 in parts or 98 <= total <= 102
    if field in _ENANTIO and not (len(parts) == 2 and is_of_one_or_hundred):
        return None, f"the two parts of an {field} add up to 100"
    return max(parts) / total, ""


def show_fraction(fraction: float, field: str, cell: object = None) -> str:
    """Show a selectivity as printed where that is plain, else the major fraction
    that was read.

    >>> show_fraction(0.95, "ee", "90[d]"), show_fraction(0.75, "dr", "3 : 1")
    ('90%', '3:1')
    >>> show_fraction(0.75, "dr", "dr 3:1 (x)")
    '75:25'
    """
    text = (cell_text(cell) or "").replace(" ", "")
    if field == "ee":
        if re.fullmatch(rf"[<>≤≥]?-?{_NUMBER}%?", text):
            return f"{text.rstrip('%')}%"
        return f"{200 * fraction - 100:.6g}%"
    if re.fullmatch(rf"[<>≤≥]?{_NUMBER}(?::{_NUMBER})+", text):
        return text
    return f"{100 * fraction:.6g}:{100 - 100 * fraction:.6g}"
