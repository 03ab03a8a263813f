"""Numbers as they are written: [about] [sign] [currency] DIGITS [scale] [unit],
ranges, `± 5`.

A text is read from left to right in small steps: each takes what its table knows, and
leaves the rest. The tables hold words; a Latin word counts only where it ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from forecasteval.common.patterns import BLANKS, WordTable, end_of, lazy, split_words

from .language import pattern_of, words
from .units import UNIT_WORDS

PERCENT: Final = 0.01

# --- Words ---

SCALES: Final = {
    word: factor
    for factor, names in {
        0.01: "%, percent, per cent, pct, percentage point, percentage points, "
        "个百分点, 百分点",
        10.0: "十",
        1e2: "hundred, 百",
        1e3: "thousand, 千",
        1e4: "万, 萬",
        1e5: "lakh",
        1e6: "million, millon, millones, milion, millionen, mn, mln",
        1e7: "crore",
        1e8: "亿, 億",
        1e9: "billion, bn, bln, mil millones, milliarden, milliarde, миллиарда, "
        "миллиардов",
        1e12: "trillion, tn, trn",
    }.items()
    for word in split_words(names)
}
# Hundreds of, ten thousand
_ASKED: Final = {**SCALES, "ten": 10.0, "of": 1.0, "k": 1e3}
# 15.3M, not 15.3 m
_ATTACHED: Final = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12}
_CURRENCIES: Final = split_words(
    "$, US$, US $, HK$, NT$, AU$, CA$, A$, C$, S$, CN$, €, £, ¥, ₹, ₩, USD, CNY, RMB, "
    "HKD, EUR,"
    " GBP, JPY, 人民币, 美元, 港元, 港币"
)
_MONEY: Final = split_words(
    "dollars, US dollars, Hong Kong dollars, yuan, renminbi, euros, yen, won, KRW, "
    "INR, rupees,"
    " pounds, pounds sterling, francs, CHF, AUD, CAD, SGD, rubles, roubles, cents, 元, "
    "美元, 港元,"
    " 日元, 欧元, 台币, 新台币, 韩元, 英镑, 港币, 人民币, 元人民币, 円, 원, 卢比, "
    "澳元, 加元"
)
_COUNTED: Final = split_words(
    "shares, points, pts, votes, seats, people, persons, users, cases, deaths, views, "
    "plays,"
    " downloads, units, copies, tickets, tons, barrels, times, outbreaks, bps, bp, "
    "basis points,"
    " 个基点, 基点, 股, 点, 人, 人次, 次, 部, 家, 个, 件, 条, 票, 辆, 台, 张, 只, 种, "
    "例, 起, 场,"
    " 名, 位, 岁, 分, 手, 桶, 度, 级, 套, 册, 席"
)
_ABOUT_MARKS: Final = ("≈", "~", "=")
_BOUNDS: Final = {
    **dict.fromkeys((*words("more", "more ends"), ">", "≥", "≳", "+"), ">"),
    **dict.fromkeys((*words("less", "less ends"), "<", "≤", "≲"), "<"),
}
_SIGN_MARKS: Final = ("-", "−", "–", "+")
_FALLS: Final = frozenset((*words("falls"), "↓", "▼"))


def _both_numbers(names: Iterable[str]) -> Iterator[str]:
    """Yield Latin words with and without a final s: `share`, `shares`."""
    for name in names:
        yield name
        if len(name) > 3 and name.isascii() and name[-1].isalpha():
            singular = name.removesuffix("s")
            yield f"{name}s" if singular == name else singular


# A scale or a unit; one table, for 千瓦时 holds no 千
_BEHIND: Final = WordTable(
    *_both_numbers((*SCALES, *_MONEY, *_COUNTED)), *UNIT_WORDS, *_CURRENCIES
)
_SCALE: Final = WordTable(*_both_numbers(_ASKED), *UNIT_WORDS)
_CURRENCY: Final = WordTable(*_CURRENCIES)
_LEADS: Final = (
    *words("about", "fall joints", "more", "less"),
    *_ABOUT_MARKS,
    *"><≥≤≳≲",
)
_LEAD: Final = WordTable(*_LEADS, *_FALLS)
_TAIL: Final = WordTable(
    *words("below zero", "ends", "more ends", "less ends"), "+", *_FALLS
)
_SIGN: Final = WordTable(*words("minus"), *_SIGN_MARKS)
_FRONT: Final = WordTable(*_LEADS, *words("minus"), *_SIGN_MARKS, *_FALLS, *_CURRENCIES)
_BETWEEN: Final = frozenset(words("between"))
_GAP: Final = lazy(r"[\s-]{0,3}")
_BELOW_ZERO: Final = frozenset(words("below zero"))
# 8 (outflow)
_BRACKETED_FALL: Final = lazy(rf"(?i)\s?[(（](?:{pattern_of('falls')})[)）]")
_DIGITS: Final = lazy(r"[0-9][0-9,.']*[0-9]|\.?[0-9]+|\.[0-9]+")
_POWER: Final = lazy(
    r"\s*[×x*·]?\s*10\s?(?:\^|\*\*)\s*\(?([-+]?[0-9]{1,3})\)?|[eE]([-+]?[0-9]{1,3})\b"
)
_LETTER: Final = lazy(r"(?:[kKmMbBtT]|mm|MM)(?![A-Za-z0-9_])")
_PER: Final = lazy(
    r"\s?(?:/|\bper\b|每)\s?[$£€¥]?(?:1(?:,?000?){0,2}\s?)?(?:[A-Za-z²³]{1,12}|[^\W\d_a-zA-Z]{1,3})"
)
_TO: Final = lazy(r"\s*(?:-{1,3}|[–—−~〜至到]|\bto\b)\s*")
_AND: Final = lazy(rf"\s*(?:{pattern_of('and')})\s*")
_ERROR: Final = lazy(
    r"(?i)\s*,?\s?(?:±|\+\s?/?\s?-|give or take\b|plus or "
    r"minus\b|上下浮动)\s?(?=[$£€¥]?\.?[0-9])"
)
_END: Final = lazy(r"[\s.。]*")
_SPACED: Final = lazy(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})+(?![0-9])")  # 1 234 567
RANGE: Final = lazy(r"[0-9]\s*(?:[-–—−~]|至|到|to)\s*[0-9]")


class Quantity(NamedTuple):
    """A number as written: `value` in units of `scale` (1e8 for 亿, 0.01 for %, None if
    none is stated).
    """

    value: float
    scale: float | None
    unit: str  # as written, with the currency; "" if none
    # `down 5`, `a 5% decline`: negative where a change is asked for
    falls: bool = False
    span: float = 0.0  # from the middle of a range to its ends
    bound: str = ""  # > or <: `more than 5`, `5以下`


# --- Chinese numerals ---

_ONES: Final = "零〇一二两三四五六七八九"
_TO_DIGITS: Final = str.maketrans(_ONES, "001223456789")
_TENS: Final = {"十": 10, "百": 100, "千": 1000}
_NUMERAL: Final = lazy(
    f"(?<![0-9第{_ONES}十百千])([{_ONES}十][{_ONES}十百千]{{0,60}}|(?<=[万亿])(?=点[{_ONES}]))"
    f"(?:点([{_ONES}]+))?"
)
_PERCENT_OF: Final = lazy(f"百分之([{_ONES}十百千万亿点]+)")
_COLLOQUIAL: Final = lazy(  # 一万二 is 一万二千, 一亿二 is 一亿二千万
    f"(?<=[{_ONES}十百千])([万亿])[一二三四五六七八九](?![{_ONES}十百千万亿点])"
)


_THOUSANDS: Final = {"万": "千", "亿": "千万"}  # of the scale in front


def write_digits(text: str) -> str:
    """Write Chinese numerals in digits; 万 and 亿 stay.

    >>> [write_digits(text) for text in ("一百二十万", "三亿五千万", "百分之二点五", "一万二")]
    ['120万', '3亿5000万', '2.5%', '1万2000']
    """  # noqa: E501
    if text.isascii():
        return text
    text = _PERCENT_OF.sub(r"\1%", text.replace("零下", "-"))
    text = _COLLOQUIAL.sub(_add_thousands, text)
    return _NUMERAL.sub(lambda found: _write(*found.groups("")), text)


def _add_thousands(found: re.Match[str]) -> str:
    return found[0] + _THOUSANDS[found[1]]


def _write(whole: str, decimals: str) -> str:
    total, digits, unit = 0, "", 1
    for char in whole.translate(_TO_DIGITS):
        if char in _TENS:
            unit = _TENS[char]
            total, digits = total + int(digits or 1) * unit, ""
        else:
            digits += char
    if not digits.startswith("0"):
        unit = max(1, unit // 10)  # 三百五 is 350
        total += int(digits or 0) * unit
    else:
        total += int(digits)
    return f"{total}.{decimals.translate(_TO_DIGITS)}" if decimals else str(total)


# --- Steps ---


def read_digits(run: str) -> float | None:
    """Read digits with points and commas: `1,234.5`, `1.234,5`, `12,34,567`, `1,5`.
    None if they are grouped like no number.

    >>> [read_digits(run) for run in ("1,234.5", "1.234,5", "12,34,567", "1,5", "0,125", "1,23,4")]
    [1234.5, 1234.5, 1234567.0, 1.5, 0.125, None]
    """  # noqa: E501
    run = run.replace("'", ",")
    mark = max(".,", key=run.rfind)
    *groups, last = run.replace(".", ",").split(",")
    if not groups:
        return float(run)
    if not all(len(group) in (2, 3) for group in groups[1:]):
        return None
    is_decimal = mark == "." or len(last) <= 2 or groups == ["0"] or "." in run
    if is_decimal and run.count(mark) == 1:
        return float(f"{''.join(groups) or 0}.{last or 0}")
    if len(last) != 3 or len(groups[0]) > 3:
        return None
    return float("".join([*groups, last]))


def read_scale(text: str, position: int = 0) -> float:
    """Multiply the chain of scale words at a position: `hundreds of millions`
    1e8, `万亿` 1e12.
    """
    scale = 1.0
    while word := _SCALE.find(text, position):
        factor = _ASKED.get(_singular(word))
        if factor is None:
            break
        scale *= factor
        position = end_of(_GAP, text, position + len(word))
    return scale


def _singular(word: str) -> str:
    return word if word in _ASKED else word.removesuffix("s")


def _take(table: WordTable, text: str, position: int) -> tuple[str, int]:
    """Take a word of a table, and the blanks behind it; "" if none stands there."""
    word = table.find(text, position)
    if not word:
        return "", position
    return word, end_of(BLANKS, text, position + len(word))


def _read_one(text: str, position: int) -> tuple[Quantity, int] | None:
    """Read a quantity without its neighbours: [sign] [currency] DIGITS [power]
    [scale] [unit].
    """
    sign = currency = inner = ""
    if not text[position : position + 1].isdigit():  # most
        sign, position = _take(_SIGN, text, position)
        currency = text[position : position + len(_CURRENCY.find(text, position))]
        position = end_of(BLANKS, text, position + len(currency))
        inner, position = _take(_SIGN, text, position)
    digits = _DIGITS.match(text, position)
    if not digits:
        return None
    value = read_digits(digits[0])
    if value is None:
        return None
    # 10^6
    if digits[0] == "10" and (alone := _POWER.match(text, position)) and alone[1]:
        value = 1.0
    else:
        position = digits.end()
    if power := _POWER.match(text, position):
        position, exponent = power.end(), int(power[1] or power[2])
        value = value * 10.0**exponent if exponent < 300 else math.inf
    scale, unit, position = _read_behind(text, position)
    if not math.isfinite(value):
        return None
    if (sign not in ("", "+")) != (inner not in ("", "+")):
        value = -value
    return Quantity(value, scale, f"{currency} {unit}".strip()), position


def _read_behind(text: str, position: int) -> tuple[float | None, str, int]:
    """Read the scale and the unit behind digits."""
    scale, unit = None, ""
    if position == len(text):  # most
        return scale, unit, position
    if letter := _LETTER.match(text, position):
        scale, position = _ATTACHED[letter[0].lower()], letter.end()
    while word := _BEHIND.find(text, gap := end_of(_GAP, text, position)):
        factor = SCALES.get(_singular(word))
        if unit and factor is not None:
            break
        position = gap + len(word)
        if factor is None:
            unit = f"{unit} {text[gap:position]}".strip()
        else:
            scale = (scale or 1.0) * factor
    if per := _PER.match(text, position):
        unit, position = unit + per[0], per.end()
    return scale, unit, position


def parse_quantity(text: str, position: int) -> tuple[Quantity, int] | None:
    """Read a quantity with its lead, added parts, range and `± 5`, and
    where it ends.
    """
    lead, falls, bound = "", False, ""
    word, position = _take(_LEAD, text, position)
    while word:
        lead, falls = word, falls or word in _FALLS
        bound = _BOUNDS.get(word, bound)
        word, position = _take(_LEAD, text, position)
    read = _read_one(text, position)
    if not read:
        return None
    low, end = _add_parts(text, *read)
    if end == len(text) and not (falls or bound):  # most
        return low, end
    high = _read_high(text, low, end, lead)
    if high and not _is_change(low, high[0]):
        upper, end = _add_parts(text, *high)
        low = _join_range(low, upper, is_end=falls and lead in _BETWEEN)
    if (error := _ERROR.match(text, end)) and (within := _read_one(text, error.end())):
        margin, end = within
        low = low._replace(unit=low.unit or margin.unit)
    tail, after = _take(_TAIL, text, end_of(_GAP, text, end))
    if fall := _BRACKETED_FALL.match(text, end):
        falls, end = True, fall.end()
    elif tail in _BELOW_ZERO:
        low, end = low._replace(value=-abs(low.value)), after
    elif tail and not text[after : after + 1].isdigit():
        falls = falls or tail in _FALLS
        bound, end = _BOUNDS.get(tail, bound), after
    return low._replace(falls=falls, bound=bound), end


def _read_high(
    text: str, low: Quantity, end: int, lead: str
) -> tuple[Quantity, int] | None:
    """Read the upper end of a range."""
    to = _TO.match(text, end)
    if not to and lead in _BETWEEN:
        to = _AND.match(text, end)
    if not to:
        return None
    # "-10--6" is a range of negatives, "100--120" has a dash of TeX.
    is_negative = low.value < 0 and to[0] == "--"
    return _read_one(text, to.end() - is_negative)


def _join_range(low: Quantity, high: Quantity, is_end: bool) -> Quantity:
    """Return the middle of a range, or its end: `down from 4.1% to 3.9%`."""
    factor = (high.scale or 1.0) / (low.scale or high.scale or 1.0)
    value = high.value * factor
    if not is_end:
        value = (low.value + value) / 2
    span = abs(value - low.value)
    return Quantity(value, low.scale or high.scale, low.unit or high.unit, span=span)


def _add_parts(text: str, quantity: Quantity, end: int) -> tuple[Quantity, int]:
    """Add the smaller parts that follow: `3亿5000万` is 3.5亿."""
    size = quantity.scale or 0.0
    while text[end : end + 1].isdigit() and (part := _read_one(text, end)):
        more, scale = part[0], part[0].scale or 1.0
        if scale > size > 1.0:  # 1万2345亿
            quantity = Quantity(quantity.value * size + more.value, scale, more.unit)
            return quantity, part[1]
        if scale >= size:
            break
        added = more.value * scale / (quantity.scale or 1.0)
        value = abs(quantity.value) + added
        quantity = Quantity(
            math.copysign(value, quantity.value), quantity.scale, more.unit
        )
        end, size = part[1], more.scale or 0.0
    return quantity, end


def _is_change(low: Quantity, high: Quantity) -> bool:
    """Return whether two numbers are no range: `down 5% to 300`, `64.77 -0.5%`."""
    mixed = low.scale != high.scale and PERCENT in (low.scale, high.scale)
    return mixed and (low.scale is not None or high.value < low.value)


def find_lead(text: str, lowest: int, digits: int) -> int:
    """Find where the lead, sign and currency in front of digits begin: `down by $5`."""
    for place in range(lowest, digits):
        before = text[place - 1 : place]
        is_in_word = before.isascii() and before.isalnum()
        if not is_in_word and _FRONT.skip(text, place) == digits:
            return place
    return digits


def has_scale(text: str, position: int) -> bool:
    """Return whether a scale stands at a position, perhaps behind a blank: `
    million`, `%`.
    """
    position = end_of(BLANKS, text, position)
    word = _singular(_SCALE.find(text, position))
    return word in SCALES or bool(_LETTER.match(text, position))


# --- Texts ---


def write_plain(text: str) -> str:
    """Write numerals in digits, and thousands without blanks."""
    text = write_digits(text)
    if " " not in text:
        return text
    return _SPACED.sub(lambda groups: groups[0].replace(" ", ""), text)


def parse_plain_number(text: str) -> Quantity | None:
    """Read a text that is nothing but digits and at most one point."""
    is_plain = text.isascii() and text.replace(".", "", 1).isdecimal()
    return Quantity(float(text), None, "") if is_plain else None


@lru_cache(maxsize=4096)
def parse_number(text: str) -> Quantity | None:
    """Read a cleaned text that is a number: sign, currency, digits, power, scale,
    %, unit, range.

    A range is its middle; `about` and `± 5` are dropped.

    >>> parse_number("1.5万亿元")[:3], parse_number("100-120").value, parse_number("7天吧")
    ((1.5, 1000000000000.0, '元'), 110.0, None)
    """  # noqa: E501
    if len(text) > 80:
        return None
    if plain := parse_plain_number(text):  # most
        return plain
    text = write_plain(text)
    found = parse_quantity(text, 0)
    if not found or not _END.fullmatch(text, found[1]):
        return None
    return found[0]
