"""Physical units that convert: `100 km` for `62.14 miles`, `86 °F` for `30 °C`.

Ambiguous units (ton, ounce, gallon, barrel, 度), currencies and what the table does not
know are never converted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple, TypeVar

from forecasteval.common.patterns import WordTable, lazy

from .wording import NO_WORDING, Wording

Fact = TypeVar("Fact")

# By dimension the words of each unit, and its factor to the first
_TABLE: Final = {
    "length": {
        "m,metre,metres,meter,meters,米": 1.0,
        "km,kms,kilometre,kilometres,kilometer,kilometers,公里,千米": 1e3,
        "cm,centimetre,centimetres,centimeter,centimeters,厘米,公分": 0.01,
        "mm,millimetre,millimetres,millimeter,millimeters,毫米": 1e-3,
        "mi,mile,miles,英里": 1609.344,
        "yd,yard,yards": 0.9144,
        "ft,foot,feet,英尺": 0.3048,
        "inch,inches,英寸": 0.0254,
        "nautical mile,nautical miles,海里": 1852.0,
    },
    "area": {
        "m²,m2,m^2,sqm,square metres,square meters,平方米,平米": 1.0,
        "km²,km2,km^2,square kilometres,square kilometers,平方公里": 1e6,
        "square miles,square mile,平方英里": 2589988.110336,
        "square feet,sq ft,ft^2,平方英尺": 0.09290304,
        "ha,hectare,hectares,公顷": 1e4,
        "acre,acres,英亩": 4046.8564224,
        "亩": 10000 / 15,
    },
    "mass": {
        "kg,kgs,kilogram,kilograms,公斤,千克": 1.0,
        "g,gram,grams,克": 1e-3,
        "mg,milligram,milligrams,毫克": 1e-6,
        "lb,lbs,磅": 0.45359237,
        "tonne,tonnes,metric ton,metric tons,吨,公吨": 1e3,
        "斤": 0.5,
    },
    "volume": {
        "l,litre,litres,liter,liters,升": 1.0,
        "ml,millilitre,millilitres,milliliter,milliliters,毫升": 1e-3,
        "m³,m3,m^3,cubic metres,cubic meters,立方米": 1e3,
        "ft³,ft^3,cubic feet,立方英尺": 28.316846592,
    },
    "time": {
        "s,sec,secs,second,seconds,秒": 1.0,
        "ms,millisecond,milliseconds,毫秒": 1e-3,
        "min,mins,minute,minutes,分钟": 60.0,
        "h,hr,hrs,hour,hours,小时": 3600.0,
        "day,days,天": 86400.0,
        "week,weeks,周,星期": 604800.0,
    },
    "speed": {
        "m/s,metres per second,meters per second,米/秒,米每秒": 1.0,
        "km/h,kmh,kph,kilometres per hour,kilometers per hour,公里/小时,公里每小时": 1
        / 3.6,
        "mph,miles per hour,英里/小时,英里每小时": 0.44704,
        "kn,kt,kts,knot,knots,节": 1852 / 3600,
    },
    "temperature": {
        "°c,° c,℃,c,celsius,degrees celsius,degrees c,deg c,摄氏度": 1.0,
        "°f,° f,℉,f,fahrenheit,degrees fahrenheit,degrees f,deg f,华氏度": 5 / 9,
        "k,kelvin,kelvins": 1.0,
    },
    "pressure": {
        "pa,pascal,pascals,帕": 1.0,
        "hpa,mbar,mb,millibar,millibars,hectopascals,百帕,毫巴": 100.0,
        "kpa,kilopascals,千帕": 1e3,
        "bar,bars": 1e5,
        "psi": 6894.757293168,
        "mmhg,毫米汞柱": 133.322387415,
        "inhg,inches of mercury": 3386.389,
    },
    "energy": {
        "j,joule,joules,焦耳": 1.0,
        "mj,megajoules,兆焦": 1e6,
        "gj,gigajoules": 1e9,
        "kwh,kilowatt-hours,kilowatt hours,千瓦时": 3.6e6,
        "mwh,megawatt-hours,megawatt hours,兆瓦时": 3.6e9,
        "gwh,gigawatt-hours,gigawatt hours,吉瓦时": 3.6e12,
        "twh,terawatt-hours,terawatt hours,太瓦时": 3.6e15,
    },
    "power": {
        "w,watt,watts,瓦": 1.0,
        "kw,kilowatt,kilowatts,千瓦": 1e3,
        "mw,megawatt,megawatts,兆瓦": 1e6,
        "gw,gigawatt,gigawatts,吉瓦": 1e9,
        "tw,terawatt,terawatts,太瓦": 1e12,
    },
}
_ZEROS: Final = {"°f": -160 / 9, "k": -273.15}  # in °C


class Unit(NamedTuple):
    """A unit: its dimension, its factor to the first unit of that, and where
    its scale begins.
    """

    dimension: str
    factor: float
    zero: float


@cache
def _units() -> dict[str, Unit]:
    units = {}
    for dimension, table in _TABLE.items():
        for names, factor in table.items():
            words = names.split(",")
            unit = Unit(dimension, factor, _ZEROS.get(words[0], 0.0))
            units.update(dict.fromkeys(words, unit))
    return units


def _find_only(values: Iterable[Fact]) -> Fact | None:
    """Find the value that all are; None if they differ, or if there is none."""
    found = {*values}
    return found.pop() if len(found) == 1 else None


_DOLLARS: Final = "dollars"  # of any country, as $ may be any
_CURRENCIES: Final = {
    word: code
    for code, names in {
        "USD": "usd,us$,us $,us dollars,us dollar,美元",
        "CNY": "cny,rmb,cn$,yuan,renminbi,元,人民币,元人民币",
        "EUR": "eur,€,euros,euro,欧元",
        "GBP": "gbp,£,pounds sterling,英镑",
        "JPY": "jpy,yen,日元,円",
        "HKD": "hkd,hk$,港元,港币,hong kong dollars",
        _DOLLARS: "dollar,dollars",
    }.items()
    for word in names.split(",")
}
_CURRENCY: Final = WordTable(*_CURRENCIES)


def find_currency(unit: str, wording: Wording = NO_WORDING) -> str:
    """Find the currency of a unit, or else the only one that a question asks
    for; "" if none.
    """
    if own := _CURRENCIES.get(unit.lower()):
        return own
    return wording.ask(_asked_currency)


def _asked_currency(words: str) -> str:
    """Find the only currency that a question asks for; "" if there is none."""
    found = (_CURRENCY.find(words, asks.end()) for asks in _ASKS.finditer(words))
    return _find_only(_CURRENCIES[word] for word in found if word) or ""


def is_same_currency(one: str, other: str) -> bool:
    """Return whether two currencies may be the same: dollars are those of any country.

    >>> is_same_currency("dollars", "USD"), is_same_currency("dollars", "EUR")
    (True, False)
    """
    if _DOLLARS in (one, other):
        return {one, other} <= {_DOLLARS, "USD", "HKD"}
    return one == other


DAYS: Final = ("天", "周", "星期")  # in names, too: 7天
UNIT_WORDS: Final = tuple(
    word
    for units in _TABLE.values()
    for words in units
    for word in words.split(",")
    if word not in DAYS
)
_UNIT: Final = WordTable(*UNIT_WORDS)
_CHANGE: Final = lazy(
    r"(?i)\b(?:chang|grow|increas|differ|anomal|warm(?:er|ing)|cool(?:er|ing)|declin|decreas|fall"
    r"|drop"
    r"|ris(?:e|es|ing)\b(?!\s+(?:to|above)\b))|变化|变动|温差|升温|降温|距平|升高|降低|上升|下降"
)
_ASKS: Final = lazy(
    r"(?i)(?<!\w)(?:in|or|how\s+many|unit:?)\s+|[(]|多少(?:[十百千]?[万亿]+)?|单位[:为是]?|以"
)


def asked_unit(words: str) -> Unit | None:
    """Find the only unit that a question asks for: `in miles`, `(°C)`, `多少公里`."""
    found = {_UNIT.find(words, asks.end()) for asks in _ASKS.finditer(words)}
    # A letter alone may be anything, and a race ends `in second place`.
    clear = [unit for unit in found if len(unit.encode()) > 1 and unit != "second"]
    return _find_only(_units()[unit] for unit in clear)


def _asks_change(words: str) -> bool:
    """Return whether a question asks for a difference, in which no zero counts."""
    return bool(_CHANGE.search(words))


def convert(value: float, unit: str, wanted: str, wording: Wording) -> float | None:
    """Convert a value to the unit of the truth, or else of the question.

    None if the units do not differ, or in dimension. In a change of temperature
    no zero counts.

    >>> convert(86, "°F", "", Wording("How many degrees Celsius?"))
    30.0
    """
    own = _units().get(unit.lower())
    if not own:  # most
        return None
    other = _units().get(wanted.lower()) or wording.ask(asked_unit)
    if not other or own == other or own.dimension != other.dimension:
        return None
    full = value * own.factor
    if not wording.ask(_asks_change):
        full += own.zero - other.zero
    return full / other.factor


_PRICED: Final = ("mass", "volume", "area", "length", "energy")
_PER: Final = lazy(r"(?i)/\s?|\bper\s|每")


def price_factor(unit: str, wording: Wording) -> float | None:
    """Return the factor from a price per its own unit to one per the asked unit: 2 of
    yuan per 斤, where a kilogram is asked for; None if the two are not of
    one dimension.
    """
    own = _find_per(unit)
    if own is None:  # most
        return 1.0
    asked = wording.ask(_find_per)
    if asked is None:
        return 1.0
    return asked.factor / own.factor if asked.dimension == own.dimension else None


def _find_per(text: str) -> Unit | None:
    """Find the only unit, of those that are sold, behind `/` or `per`."""
    words = [_UNIT.find(text, per.end()) for per in _PER.finditer(text)]
    units = [_units()[word] for word in words if word]
    return _find_only(unit for unit in units if unit.dimension in _PRICED)
