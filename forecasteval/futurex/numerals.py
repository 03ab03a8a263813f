"""Chinese numerals, written in digits so that one grammar reads them all."""

from __future__ import annotations

import re
from typing import Final

_DIGITS: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS: Final = {"十": 10, "百": 100, "千": 1000}
ONE: Final = "零〇一二两三四五六七八九"
_NUMERAL: Final = (
    rf"(?P<percent>百分之)?(?P<whole>[{ONE}十][{ONE}十百千万亿]*)"
    rf"(?:点(?P<decimals>[{ONE}]+)(?P<scale>[十百千万亿]*))?"
)
NUMERAL: Final = re.compile(rf"(?<![0-9第{ONE}十百千万亿]){_NUMERAL}")
_COLLOQUIAL: Final = re.compile(r"^[^万亿]+[万亿][一二三四五六七八九]$")  # 一万二 is 1.2万
_SECTION: Final = re.compile(r"([^万亿]*)([万亿]+)|([^万亿]+)")


def write_digits(text: str) -> str:
    """The text with its Chinese numerals in digits; 万, 亿 and what follows them stay as they are.

    >>> write_digits("一百二十万"), write_digits("三亿五千万"), write_digits("百分之二点五"), write_digits("两千三")
    ('120万', '3亿5000万', '2.5%', '2300')
    """
    return NUMERAL.sub(_write, text)


def _write(match: re.Match[str]) -> str:
    written = ""
    for head, scale, rest in _SECTION.findall(match["whole"]):
        written += f"{_section(head or rest)}{scale}"
    if _COLLOQUIAL.search(match["whole"]):
        written = f"{written[:-2]}.{written[-1]}{written[-2]}"
    if match["decimals"]:
        written += "." + "".join(str(_DIGITS[char]) for char in match["decimals"]) + match["scale"]
    return written + ("%" if match["percent"] else "")


def _section(text: str) -> str:
    """Digits below 万: 两千三百 is 2300, 三百五 is 350, 二〇二六 is 2026."""
    if not _TENS.keys() & set(text):
        return "".join(str(_DIGITS[char]) for char in text)
    total, digit, unit = 0, 0, 10
    for char in text:
        if char in _TENS:
            unit = _TENS[char]
            total, digit = total + (digit or 1) * unit, 0
        else:
            digit = _DIGITS[char]
            unit = 10 if digit == 0 else unit
    return str(total + digit * (unit // 10))
