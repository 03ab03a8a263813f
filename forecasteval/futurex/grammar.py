"""Numbers as they are written: digits or Chinese numerals, powers, scales, units, ranges."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final, NamedTuple

from forecasteval.common.patterns import lazy

PERCENT: Final = 0.01
ONE: Final = "零〇一二两三四五六七八九"

# --- Chinese numerals ---

NUMERAL: Final = lazy(
    rf"(?<![0-9第{ONE}十百千])([{ONE}十][{ONE}十百千]{{0,60}}|(?<=[万亿])(?=点[{ONE}]))"
    rf"(?:点([{ONE}]+))?"
)
_PERCENT_OF: Final = lazy(rf"百分之([{ONE}十百千万亿点]+)")
_COLLOQUIAL: Final = lazy(rf"(?<=[{ONE}十百千])([万亿])[一二三四五六七八九](?![{ONE}十百千万亿点])")
_DIGITS: Final = str.maketrans(ONE, "001223456789")
_TENS: Final = {"十": 10, "百": 100, "千": 1000}


def write_digits(text: str) -> str:
    """Write Chinese numerals in digits; 万 and 亿 stay.

    >>> [write_digits(text) for text in ("一百二十万", "三亿五千万", "百分之二点五", "两千三")]
    ['120万', '3亿5000万', '2.5%', '2300']
    """
    if text.isascii():
        return text
    # 一万二 is 一万二千, 一亿二 is 一亿二千万.
    text = _PERCENT_OF.sub(r"\1%", text)
    text = _COLLOQUIAL.sub(lambda match: match[0] + "千" + "万" * (match[1] == "亿"), text)
    return NUMERAL.sub(_write, text)


def _write(numeral: re.Match[str]) -> str:
    whole, decimals = numeral.groups("")
    total, digits, unit = 0, "", 1
    for char in whole.translate(_DIGITS):
        if char in _TENS:
            unit = _TENS[char]
            total, digits = total + int(digits or 1) * unit, ""
        else:
            digits += char
    total += int(digits or 0) * (1 if digits[:1] == "0" else max(1, unit // 10))  # 三百五 is 350
    return f"{total}.{decimals.translate(_DIGITS)}" if decimals else str(total)


# --- Quantities ---

CURRENCY: Final = (
    r"(?:us|hk|nt|au|ca|cn|s)?\s?\$|[€£¥₹₩]|usd|cny|rmb|hkd|eur|gbp|jpy|人民币|美元|港元|港币"
)
SCALE: Final = r"""(?:
     (?:hundreds?\s+(?:of\s+)?|tens?\s+(?:of\s+)?)?(?:thousand|mill?i?on|bill?ion|trill?ion)s?(?a:\b)
    |(?:mn|mln|bn|bln|tn|trn|lakh|crore)s?(?a:\b)|(?<=[0-9])(?:[kmbt]|mm)(?:\b|(?=[美日港]?元|[人股次辆吨]))
    |[十百千]?[万亿]+|[千百](?![瓦米克帕]))"""
PERCENT_SIGN: Final = (
    r"(?:%|percent(?:age\s+points?)?(?a:\b)|per\s+cent(?a:\b)|pct(?a:\b)|个?百分点)"
)
_MONEY: Final = (
    r"(?:(?:us|hong\s+kong|chinese)\s+)?dollars?|yuan|renminbi|rmb|cny|usd|hkd|eur|euros?|gbp|jpy|yen|won|krw|inr|rupees?"
    r"|pounds?(?:\s+sterling)?|francs?|chf|aud|cad|sgd|roubles?|rubles?"
)
# What a price is for, in words of bounded number: 100 GBP, £100, 100 units (of British Pound), 100
# British pounds
ROUND_AMOUNT: Final = rf"""(?:(?:[£$€¥]\s?|(?a:\b))1(?:0{{0,3}}|0?,000)\s?
     (?:units?(?a:\b)(?:\s\(?(?:of\s)(?:[a-z]{{2,12}}\s?){{1,3}}\)?)?|(?:[a-z]{{2,12}}\s){{0,2}}(?:{_MONEY})(?a:\b)|[美欧日港英]?[元镑円])
    |[£$€¥]\s?1(?:0{{0,3}}|0?,000)(?![0-9,.]))"""
PER_AMOUNT: Final = (
    rf"(?:{ROUND_AMOUNT}|[0-9]{{1,6}}\s?(?:(?:{_MONEY})(?a:\b)|[美欧日港英]?[元镑]))"
)
_PER: Final = rf"""(?:\s*(?:/|(?a:\b)per(?a:\b)|每)\s*(?:{PER_AMOUNT}
    |day|week|month|year|share|person|capita|head|ton(?:ne)?|t|kg|g|lb|oz|ounce|barrel|bbl
    |gallon|litre|liter|unit|hour|h|s|second|mwh|kwh|m²|公斤|千克|吨|斤|克|股|人|天|日|月|年|件|台|辆|张|桶|升|小时|平方米|平米))"""
_NAMED_UNIT: Final = rf"""(?:(?:
     u\.s\.\s+dollars?|{_MONEY}|shares?|points?|pts?|votes?|seats?|people|persons?|users?|cases?|deaths?|outbreaks?|views?|plays?|downloads?
    |units?|copies|tickets?|tons?|tonnes?|kg|barrels?|bps?|basis\s+points?|times)(?a:\b)
    |[$€£¥]|°(?:\s?[CF](?a:\b))?|(?:人民|港|美|日|欧|台|韩|澳|加)?[元币円](?:人民币)?|원|英镑|卢比|个?基点|股|点|人次|人|次|部|家|个|件|条|票|辆|台|吨|公斤|千克|斤|张|只|种|例|起|场|名|位|岁|分|手|桶|摄氏度|度|℃|级|套|册|亩|席|公里|平方米|立方米|[千厘毫]?米|[千兆吉太]瓦时?|[百千]帕
    )"""
UNIT_START: Final = rf"(?:{_NAMED_UNIT}|{_PER})"
_QUANTITY: Final = lazy(
    rf"""(?:(?P<sign>[-−–]|(?a:\b)(?:minus|negative)\s|负)|\+)?\s*
         (?P<currency>{CURRENCY})?\s*(?:(?P<sign2>[-−])|\+)?
         (?=\.?[0-9])
         (?:(?!10\s?(?:\^|\*\*)\s*\(?[-+−]?[0-9])
            (?P<whole>(?!0,)[0-9]{{1,3}}(?:[,'][0-9]{{3}}){{1,40}}(?![0-9])  # 1,234
              |[0-9]{{1,2}}(?:,[0-9]{{2}}){{1,40}},[0-9]{{3}}(?![0-9])       # 12,34,567
              |[0-9]{{1,3}}(?:\.[0-9]{{3}}){{1,40}}(?=,[0-9]{{1,2}}(?![0-9]))  # 1.234,5
              |[0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,40}}(?![0-9.])                # 1.234.567
              |[0-9]+)?
            (?:\.(?P<point>[0-9]+)|,(?P<comma>[0-9]{{1,2}}(?![0-9,])|(?<=\b0,)[0-9]+(?![0-9,])))?
            (?:\s*[×x*·]\s*(?=10\s?(?:\^|\*\*)))?)?
         (?:10\s?(?:\^|\*\*)\s*\(?(?P<power>[-+−]?[0-9]{{1,3}})\)?
           |(?<=[0-9])e(?P<exponent>[-+]?[0-9]{{1,3}})(?![0-9a-z]))?
         (?P<scale>(?:[\s-]*{SCALE}){{1,3}})?
         (?:\s*(?P<percent>{PERCENT_SIGN}))?
         (?:\s*(?P<unit>{_NAMED_UNIT}{_PER}?|{_PER}))?""",
    re.X | re.I,
)
_SIMPLE: Final = lazy(
    r"(?:[≈~]\s?)?([$€£¥]?)(-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,300})(?:\.[0-9]+)?)([^0-9]{0,30})"
)
_ABOUT: Final = lazy(
    r"""(?:[≈~<>≥≤=\s]|ca\.|(?:about|around|approx(?:imately|\.)?|roughly|nearly|almost|circa|over|above|below|under
       |between|from|(?:more|less|fewer|greater)\s+than|at\s+(?:least|most)|up\s+to)(?!\w)
       |大约|大概|约为|约|約|近|超过|超|不到|不足|至少|最多|介于|从|在)*""",
    re.X | re.I,
)
_TO: Final = lazy(r"(?i)\s*(?:-{1,3}|[–—−~〜→]|\bto\b|(and\b|[和与])|至|到)\s*")
_BETWEEN: Final = lazy(r"(?i)(?:between|介于|在|从|from)\s*\Z")
RANGE: Final = lazy(r"[0-9]\s*(?:[-–—−~]|至|到|to)\s*[0-9]")
_ERROR: Final = lazy(
    r"(?i)\s*,?\s?(?:±|\+\s*/?\s*-|give\s+or\s+take\b|plus\s+or\s+minus\b|上下浮动)\s*(?=[$€£¥]?\.?[0-9])"
)
_END: Final = lazy(r"(?i)[\s.。+]*(?:左右|上下|以上|以下|之间|or\s+so|or\s+more)?[\s.。]*")
_GROUPS: Final = lazy(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})+(?![0-9])")
_LIST: Final = lazy(r"[,;、|]\s?[^\W\d_]|[0-9][.):]\s[^\W\d_]")  # what no number holds
FALL: Final = "▼"  # in front of a number: its unsigned value is a fall
_SCALES: Final = {  # a word's first two letters, or its only one: hundred, million, mn
    word: 10.0**power
    for power, words in {
        0: "of",
        1: "te 十",
        2: "hu 百",
        3: "k th 千",
        4: "万",
        5: "la",
        6: "m mi mm mn ml",
        7: "cr",
        8: "亿",
        9: "b bi bn bl",
        12: "t tr tn",
    }.items()
    for word in words.split()
}
_SCALE_WORD: Final = lazy("[十百千万亿]|[a-z]+")


class Quantity(NamedTuple):
    """A number as written: `value` in units of `scale` (1e8 for 亿, 0.01 for %, None if none is
    stated).
    """

    value: float
    scale: float | None
    unit: str  # as written, with the currency; "" if none


@lru_cache(maxsize=256)
def scale_of(words: str) -> float:
    """Multiply a chain of scale words: `hundred million` 1e8, `千万` 1e7, `万亿` 1e12."""
    return math.prod(_SCALES[word[:2]] for word in _SCALE_WORD.findall(words.lower()))


def _read_at(text: str, position: int) -> tuple[Quantity, int] | None:
    """Read the quantity at a position, and where it ends; None beyond the range of a float."""
    found = _QUANTITY.match(text, position)
    if not found:
        return None
    whole = "".join(filter(str.isdigit, found["whole"] or ("0" if found["point"] else "1")))
    power = (found["power"] or found["exponent"] or "0").replace("−", "-")
    value = float(f"{whole}.{found['point'] or found['comma'] or 0}e{power}")
    if not math.isfinite(value):
        return None
    if bool(found["sign"]) != bool(found["sign2"]):
        value = -value
    scale = scale_of(found["scale"]) if found["scale"] else None
    if found["percent"]:
        scale = (scale or 1.0) * PERCENT
    unit = " ".join(filter(None, (found["currency"], found["unit"])))
    return Quantity(value, scale, unit), found.end()


def parse_quantity(text: str, position: int) -> tuple[Quantity, int] | None:
    """Read a quantity with added parts, range, `± 5` and fall, and where it ends."""
    falls = text.startswith(FALL, position)
    read = _read_at(text, position + falls)
    if not read:
        return None
    low, end = _add_parts(text, *read)
    to = _TO.match(text, end)
    if to and not (to[1] and not _BETWEEN.search(text[:position])):
        # "-10--6" is a range of negatives, "100--120" has a TeX dash.
        high = _read_at(text, to.end() - (low.value < 0 and to[0] == "--"))
        if high and not _is_change(low, high[0]):
            upper, end = _add_parts(text, *high)
            scale = low.scale or upper.scale
            factor = (upper.scale or 1.0) / (low.scale or upper.scale or 1.0)
            value = (low.value + upper.value * factor) / 2
            low = Quantity(value, scale, low.unit or upper.unit)
    if error := _ERROR.match(text, end):
        within = _read_at(text, error.end())
        end = within[1] if within else end
    return (low._replace(value=-abs(low.value)) if falls else low), end


def _add_parts(text: str, quantity: Quantity, end: int) -> tuple[Quantity, int]:
    """Add the smaller parts that follow: `3亿5000万` is 3.5亿."""
    size = quantity.scale or 0.0
    while text[end : end + 1].isdigit() and (part := _read_at(text, end)):
        more, scale = part[0], part[0].scale or 1.0
        if scale >= size:
            break
        value = abs(quantity.value) + more.value * scale / (quantity.scale or 1.0)
        quantity = Quantity(math.copysign(value, quantity.value), quantity.scale, more.unit)
        end, size = part[1], more.scale or 0.0
    return quantity, end


def _is_change(low: Quantity, high: Quantity) -> bool:
    """Return whether two numbers are no range: `down 5% to 300`, `64.77 -0.5%`."""
    mixed = low.scale != high.scale and PERCENT in (low.scale, high.scale)
    return mixed and (low.scale is not None or high.value < low.value)


@lru_cache(maxsize=4096)
def _parse_tail(tail: str) -> Quantity | None:
    """Read scale and unit behind a simple number; None if they take the whole grammar."""
    read = _read_at("1" + tail, 0)
    return read[0] if read and _END.fullmatch("1" + tail, read[1]) else None


def parse_begin(text: str) -> tuple[Quantity, str] | None:
    """Read the quantity with which a text begins, and what stands behind it."""
    text = _GROUPS.sub(lambda groups: groups[0].replace(" ", ""), write_digits(text))
    about = _ABOUT.match(text)
    read = parse_quantity(text, about.end() if about else 0)
    return (read[0], text[read[1] :]) if read else None


def parse_number(text: str) -> Quantity | None:
    """Read a cleaned text that is a number: sign, currency, digits, power, scale, %, unit, range.

    A range is its middle; `about`, `>` and `± 5` are dropped.

    >>> parse_number("1.5万亿元"), parse_number("100-120").value, parse_number("7天")
    (Quantity(value=1.5, scale=1000000000000.0, unit='元'), 110.0, None)
    """
    simple = _SIMPLE.fullmatch(text)  # most answers, in a fraction of the time
    if simple and (tail := _parse_tail(simple[3])):
        unit = f"{simple[1]} {tail.unit}".strip()
        return Quantity(float(simple[2].replace(",", "")), tail.scale, unit)
    if len(text) > 80 or _LIST.search(text):
        return None
    found = parse_begin(text)
    return found[0] if found and _END.fullmatch(found[1]) else None
