"""Numbers as they are written: digits or Chinese numerals, powers, scales, units, ranges."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final, NamedTuple

# --- Chinese numerals ---

_CHINESE_DIGITS: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
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

    >>> [write_digits(text) for text in ("一百二十万", "三亿五千万", "百分之二点五", "两千三")]
    ['120万', '3亿5000万', '2.5%', '2300']
    """
    return NUMERAL.sub(_write, text)


def _write(match: re.Match[str]) -> str:
    written = ""
    for head, scale, rest in _SECTION.findall(match["whole"]):
        written += f"{_section(head or rest)}{scale}"
    if _COLLOQUIAL.search(match["whole"]):
        written = f"{written[:-2]}.{written[-1]}{written[-2]}"
    if match["decimals"]:
        written += (
            "." + "".join(str(_CHINESE_DIGITS[char]) for char in match["decimals"]) + match["scale"]
        )
    return written + ("%" if match["percent"] else "")


def _section(text: str) -> str:
    """Digits below 万: 两千三百 is 2300, 三百五 is 350, 二〇二六 is 2026."""
    if not _TENS.keys() & set(text):
        return "".join(str(_CHINESE_DIGITS[char]) for char in text)
    total, digit, unit = 0, 0, 10
    for char in text:
        if char in _TENS:
            unit = _TENS[char]
            total, digit = total + (digit or 1) * unit, 0
        else:
            digit = _CHINESE_DIGITS[char]
            unit = 10 if digit == 0 else unit
    return str(total + digit * (unit // 10))


# --- Numbers ---

PERCENT: Final = 0.01
BASIS_POINTS: Final = re.compile(r"bps?|basis\s+points?|个?基点", re.I)
CURRENCY: Final = (
    r"(?:us|hk|nt|au|ca|cn|s)?\s?\$|[€£¥₹₩]|usd|cny|rmb|hkd|eur|gbp|jpy|人民币|美元|港元|港币"
)
DIGITS_PART: Final = r"""
    (?:0,[0-9]+(?![0-9,])                                       # 0,25
      |[0-9]{1,3}(?:[,'][0-9]{3}){1,40}(?![0-9])(?:\.[0-9]+)?   # 1,234.5
      |[0-9]{1,2}(?:,[0-9]{2}){1,40},[0-9]{3}(?![0-9])(?:\.[0-9]+)?  # 12,34,567
      |[0-9]{1,3}(?:\.[0-9]{3}){1,40},[0-9]{1,2}(?![0-9])       # 1.234,5
      |[0-9]{1,3}(?:\.[0-9]{3}){2,40}(?![0-9.])                 # 1.234.567
      |[0-9]+,[0-9]{1,2}(?![0-9,])                              # 1,5
      |[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"""
_FACTORS: Final = {
    10.0: "ten 十",
    100.0: "hundred 百",
    1e3: "thousand k 千",
    1e4: "万",
    1e5: "lakh",
    1e6: "million milion millon milon m mm mn mln",
    1e7: "crore",
    1e8: "亿",
    1e9: "billion bilion b bn bln",
    1e12: "trillion trilion t tn trn",
}
_SCALE_WORDS: Final = {word: factor for factor, words in _FACTORS.items() for word in words.split()}
SCALE: Final = r"""(?:
     (?:hundreds?\s+(?:of\s+)?|tens?\s+(?:of\s+)?)?(?:thousand|mill?i?on|bill?ion|trill?ion)s?(?a:\b)
    |(?:mn|mln|bn|bln|tn|trn|lakh|crore)s?(?a:\b)|(?<=[0-9])(?:[kmbt]|mm)(?:\b|(?=[美日港]?元|[人股次辆吨]))
    |[十百千]?[万亿]+|[千百])"""
PERCENT_SIGN: Final = (
    r"(?:%|percent(?:age\s+points?)?(?a:\b)|per\s+cent(?a:\b)|pct(?a:\b)|个?百分点)"
)
MONEY: Final = (
    r"(?:(?:us|hong\s+kong|chinese)\s+)?dollars?|yuan|renminbi|rmb|cny|usd|hkd|eur|euros?|gbp|jpy|yen|won|krw|inr|rupees?"
    r"|pounds?(?:\s+sterling)?|francs?|chf|aud|cad|sgd|roubles?|rubles?"
)
# What a price is for, in words of bounded number: 100 GBP, £100, 100 units (of British Pound), 100
# British pounds
ROUND_AMOUNT: Final = rf"""(?:(?:[£$€¥]\s?|(?a:\b))1(?:0{{0,3}}|0?,000)\s?
     (?:units?(?a:\b)(?:\s\(?(?:of\s)(?:[a-z]{{2,12}}\s?){{1,3}}\)?)?|(?:[a-z]{{2,12}}\s){{0,2}}(?:{MONEY})(?a:\b)|[美欧日港英]?[元镑円])
    |[£$€¥]\s?1(?:0{{0,3}}|0?,000)(?![0-9,.]))"""
PER_AMOUNT: Final = rf"(?:{ROUND_AMOUNT}|[0-9]{{1,6}}\s?(?:(?:{MONEY})(?a:\b)|[美欧日港英]?[元镑]))"
_PER: Final = rf"""(?:\s*(?:/|(?a:\b)per(?a:\b)|每)\s*(?:{PER_AMOUNT}
    |day|week|month|year|share|person|capita|head|ton(?:ne)?|t|kg|g|lb|oz|ounce|barrel|bbl
    |gallon|litre|liter|unit|hour|h|s|second|mwh|kwh|m²|公斤|千克|吨|斤|克|股|人|天|日|月|年|件|台|辆|张|桶|升|小时|平方米|平米))"""
_NAMED_UNIT: Final = rf"""(?:(?:
     u\.s\.\s+dollars?|{MONEY}|shares?|points?|pts?|votes?|seats?|people|persons?|users?|cases?|deaths?|outbreaks?|views?|plays?|downloads?
    |units?|copies|tickets?|tons?|tonnes?|kg|barrels?|bps?|basis\s+points?|times)(?a:\b)
    |[$€£¥]|°[CF]?|(?:人民|港|美|日|欧|台|韩|澳|加)?[元币円](?:人民币)?|원|英镑|卢比|个?基点|股|点|人次|人|次|部|家|个|件|条|票|辆|台|吨|公斤|千克|斤|张|只|种|例|起|场|名|位|岁|分|手|桶|摄氏度|度|℃|级|套|册|亩|席|公里|平方米|立方米|米
    )"""
UNIT_START: Final = rf"(?:{_NAMED_UNIT}|{_PER})"
_UNIT: Final = rf"(?:{_NAMED_UNIT}{_PER}?|{_PER})"
_QUANTITY: Final = re.compile(
    rf"""(?P<sign>[-+−–]|(?a:\b)(?:minus|negative)\s|负)?\s*(?P<currency>{CURRENCY})?\s*(?P<sign2>[-+−])?
         (?:(?P<ten>10)\s*(?:\^|\*\*)\s*\(?(?P<ten_power>[-+−]?[0-9]{{1,3}})\)?
           |(?P<digits>{DIGITS_PART})
            (?:e(?P<exponent>[-+]?[0-9]{{1,3}})(?![0-9a-z])
              |\s*[×x*·]\s*10\s*(?:\^|\*\*)\s*\(?(?P<power>[-+−]?[0-9]{{1,3}})\)?)?)
         (?P<scale>(?:[\s-]*{SCALE}){{1,3}})?
         (?:\s*(?P<percent>{PERCENT_SIGN}))?
         (?:\s*(?P<unit>{_UNIT}))?""",
    re.X | re.I,
)
_SIMPLE: Final = re.compile(
    r"(?:[≈~]\s?)?([$€£¥]?)(-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,300})(?:\.[0-9]+)?)([^0-9]{0,30})"
)
_ABOUT: Final = re.compile(
    r"""(?:[≈~<>≥≤=\s]|about\b|around\b|approximately\b|approx\b\.?|roughly\b|nearly\b|almost\b|circa\b|ca\.|over\b|above\b|below\b
       |under\b|(?:more|less|fewer|greater)\s+than\b|at\s+(?:least|most)\b|up\s+to\b|between\b|from\b
       |大约|大概|约为|约|約|近|超过|超|不到|不足|至少|最多|介于|从|在)+""",
    re.X | re.I,
)
_TO: Final = re.compile(r"\s*(?:-{1,3}|[–—−~〜→]|\bto\b|\band\b|至|到|和|与)\s*", re.I)
_BETWEEN: Final = re.compile(r"(?:between|介于|在|从|from)\s*\Z", re.I)
RANGE: Final = re.compile(r"[0-9]\s*(?:[-–—−~]|至|到|to)\s*[0-9]")
_AFTER: Final = re.compile(r"\s*,?\s?(?:±|\+\s*/?\s*-|\+-)\s*")
_END: Final = re.compile(r"[\s.。+]*(?:左右|上下|以上|以下|之间|or\s+so|or\s+more)?[\s.。]*", re.I)
_BLANK_IN_DIGITS: Final = re.compile(r"[0-9] [0-9]")
# A glance at what no number holds.
_LIST: Final = re.compile(r"[,;、|]\s?[^\W\d_]|[0-9][.):]\s[^\W\d_]")
_SPACED_GROUPS: Final = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})+(?![0-9])")
FALL: Final = "▼"  # in front of a number: its unsigned value is a fall
FALLEN: Final = "▽"  # and behind it
HAS_DIGIT: Final = re.compile(rf"[0-9{ONE}十]")
DIGITS: Final = re.compile(r"[0-9]+")


class Quantity(NamedTuple):
    """A number as written: `value` in units of `scale` (1e8 for 亿, 0.01 for %, None if none is
    stated).
    """

    value: float
    scale: float | None
    unit: str  # as written, with the currency; "" if none


@lru_cache(maxsize=256)
def scale_of(words: str) -> float:
    """The factor of a chain of scale words: `hundred million` 1e8, `千万` 1e7, `万亿` 1e12."""
    parts = [part for part in re.findall("[十百千万亿]|[a-z]+", words.lower()) if part != "of"]
    return math.prod(
        _SCALE_WORDS[part if part in _SCALE_WORDS else part.rstrip("s")] for part in parts
    )


def _quantity(match: re.Match[str]) -> Quantity | None:
    """The quantity that one match of `_QUANTITY` means; None beyond the range of a float."""
    digits = match["digits"]
    if digits is None:
        value = math.pow(10, min(300, int(match["ten_power"].replace("−", "-"))))
    else:
        # Decimal comma.
        if re.fullmatch(r"(?:0|[0-9]+),[0-9]{1,2}|0,[0-9]+|[0-9.]+,[0-9]{1,2}", digits):
            digits = digits.replace(".", "").replace(",", ".")
        elif digits.count(".") > 1:
            digits = digits.replace(".", "")
        digits = digits.replace(",", "").replace("'", "")
        value = float(digits)
        exponent = match["exponent"] or match["power"]
        if exponent:
            value = float(f"{digits}e{int(exponent.replace('−', '-'))}")
    if not math.isfinite(value):
        return None
    for sign in (match["sign"], match["sign2"]):
        if sign and sign.strip().lower() in ("-", "−", "–", "minus", "negative", "负"):
            value = -value
    scale = scale_of(match["scale"]) if match["scale"] else None
    if match["percent"]:
        scale = (scale or 1.0) * PERCENT
    return Quantity(value, scale, " ".join(filter(None, (match["currency"], match["unit"]))))


@lru_cache(maxsize=4096)
def _parse_tail(tail: str) -> Quantity | None:
    """Scale and unit that stand behind a simple number; None if they take the whole grammar or are
    none.
    """
    match = _QUANTITY.fullmatch("1" + tail.rstrip(" ."))
    return _quantity(match) if match else None


def parse_simple(text: str) -> Quantity | None:
    """The quantity that a text is that begins with plain digits: most answers, in a fraction of the
    time.
    """
    simple = _SIMPLE.fullmatch(text)
    tail = _parse_tail(simple[3]) if simple else None
    if not simple or not tail:
        return None
    return Quantity(
        float(simple[2].replace(",", "")), tail.scale, f"{simple[1]} {tail.unit}".strip()
    )


def parse_number(text: str) -> Quantity | None:
    """The quantity that the whole text is, or None: sign, currency, digits, power, scale, %, unit,
    range.

    A range is its middle; `about`, `>` and `± 5` are dropped. `text` is expected to be cleaned.

    >>> parse_number("1.5万亿元"), parse_number("100-120").value, parse_number("7天")
    (Quantity(value=1.5, scale=1000000000000.0, unit='元'), 110.0, None)
    """
    if simple := parse_simple(text):
        return simple
    if len(text) > 80 or _LIST.search(text):
        return None
    found = parse_begin(text)
    return found[0] if found and _END.fullmatch(found[1]) else None


def parse_begin(text: str) -> tuple[Quantity, str] | None:
    """The quantity with which a text begins, and what stands behind it."""
    if not text.isascii() and NUMERAL.search(text):
        text = write_digits(text)
    if _BLANK_IN_DIGITS.search(text):
        text = _SPACED_GROUPS.sub(lambda groups: groups[0].replace(" ", ""), text)
    about = _ABOUT.match(text)
    found = parse_quantity(text, about.end() if about else 0)
    if found is None:
        return None
    quantity, end = found
    return quantity, text[end:]


def parse_quantity(text: str, position: int) -> tuple[Quantity, int] | None:
    """The quantity at `position` with added parts, range, `± 5` and fall, and where it ends."""
    falls = text.startswith(FALL, position)
    low = _add_parts(text, position + falls)
    if not low:
        return None
    quantity, end = _middle_of_range(text, *low, position)
    after = _AFTER.match(text, end)
    error = _QUANTITY.match(text, after.end()) if after else None
    end = error.end() if error else end
    fallen = text.startswith(FALLEN, end)
    if falls or fallen:
        quantity = quantity._replace(value=-abs(quantity.value))
    return quantity, end + fallen


def _add_parts(text: str, position: int) -> tuple[Quantity, int] | None:
    """The quantity at `position` with the parts that follow it, and where it ends.

    Parts are smaller: `3亿5000万` is 3.5亿; but `1万2345亿` is 12345亿.
    """
    match = _QUANTITY.match(text, position)
    quantity = _quantity(match) if match else None
    if not match or not quantity:
        return None
    end, size = match.end(), quantity.scale if not (match["unit"] or match["percent"]) else None
    while (
        size and (part := _QUANTITY.match(text, end)) and not part["sign"] and not part["currency"]
    ):
        more = _quantity(part)
        scale = more.scale or 1.0 if more else math.inf
        if more and (quantity.scale, scale) == (1e4, 1e8) and more.value < 1e4:
            quantity = Quantity(quantity.value * 1e4, scale, more.unit)
        elif not more or scale >= size:
            break
        added = more.value * (scale / (quantity.scale or 1.0))
        value = quantity.value + math.copysign(added, quantity.value)
        quantity, end, size = Quantity(value, quantity.scale, more.unit), part.end(), more.scale
    return quantity, end


def _middle_of_range(text: str, low: Quantity, end: int, begin: int) -> tuple[Quantity, int]:
    """The middle of the range that goes on at `end`, or `low` itself; a scale or unit behind holds
    for both.
    """
    to = _TO.match(text, end)
    if not to:
        return low, end
    # "-10--6" is a range of negatives, "100--120" has a TeX dash.
    signed = to[0] == "--" and low.value < 0
    upper = _add_parts(text, to.end() - signed)
    if not upper or (to[0].strip() in ("and", "和", "与") and not _BETWEEN.search(text[:begin])):
        return low, end
    high, high_end = upper
    change = (
        low.scale is None and high.value < low.value and to[0].rstrip() == to[0] != to[0].lstrip()
    )
    if PERCENT in (low.scale, high.scale) and (change or low.scale not in (None, high.scale)):
        return low, end  # "down 5% to 300", "64.77 -0.5%"
    low = Quantity(low.value, low.scale or high.scale, low.unit or high.unit)
    factor = (high.scale or 1.0) / (low.scale or 1.0)
    return low._replace(value=(low.value + high.value * factor) / 2), high_end
