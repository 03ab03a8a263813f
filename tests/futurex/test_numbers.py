"""Numbers as they are written: digits, signs, scales, units, powers, ranges."""

from __future__ import annotations

import re
from typing import Final

import pytest

from each import each
from forecasteval.futurex import numbers
from forecasteval.futurex.numbers import Quantity, parse_number, scale_of

NUMBERS: Final = {  # text: value, scale, unit
    "46,300": (46300, None, ""),
    "46 300": (46300, None, ""),
    "46'300": (46300, None, ""),
    "1.234.567": (1234567, None, ""),
    "1.234,5": (1234.5, None, ""),
    "1,5": (1.5, None, ""),
    "0,25": (0.25, None, ""),
    "12,34,567": (1234567, None, ""),
    ".5": (0.5, None, ""),
    "-0.4%": (-0.4, 0.01, ""),
    "−3": (-3, None, ""),
    "负3": (-3, None, ""),
    "minus 3": (-3, None, ""),
    "$-5": (-5, None, "$"),
    "-$5": (-5, None, "$"),
    "US$5 million": (5, 1e6, "US$"),
    "1.5万亿元": (1.5, 1e12, "元"),
    "3亿5000万": (3.5, 1e8, ""),
    "-3亿5000万": (-3.5, 1e8, ""),
    "5 hundred million yuan": (5, 1e8, "yuan"),
    "5k": (5, 1e3, ""),
    "5bn": (5, 1e9, ""),
    "5 percentage points": (5, 0.01, ""),
    "5个百分点": (5, 0.01, ""),
    "2e3": (2000, None, ""),
    "2 × 10^3": (2000, None, ""),
    "10^6": (1e6, None, ""),
    "10^-2": (0.01, None, ""),
    "5 yuan/kg": (5, None, "yuan/kg"),
    "5元/公斤": (5, None, "元/公斤"),
    "about 5": (5, None, ""),
    "> 5": (5, None, ""),
    "约5": (5, None, ""),
    "5左右": (5, None, ""),
    "5 ± 2": (5, None, ""),
    "100-120": (110, None, ""),
    "100--120": (110, None, ""),
    "-10--6": (-8, None, ""),
    "1-2 million": (1.5, 1e6, ""),
    "between 1 and 2": (1.5, None, ""),
    "34至36亿元": (35, 1e8, "元"),
    "90万-1.1百万": (100, 1e4, ""),
    "5 thousand million yuan": (5, 1e9, "yuan"),
    "5k million": (5, 1e9, ""),
    "5 hundred trillion": (5, 1e14, ""),
}


@each("text", NUMBERS)
def test_number(text: str) -> None:
    value, scale, unit = NUMBERS[text]
    quantity = parse_number(text)
    assert quantity is not None
    assert quantity._replace(value=0) == Quantity(0, scale, unit)
    assert quantity.value == pytest.approx(value, rel=1e-12)


def test_the_short_way_reads_what_the_grammar_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*NUMBERS, "-1,234.50 yuan", "5 Red", "5.", "05", "5 million yuan.", "5  %"]
    short = [parse_number(text) for text in texts]
    monkeypatch.setattr(numbers, "_SIMPLE", re.compile("(?!)"))
    assert [parse_number(text) for text in texts] == short


@each(
    "text",
    [
        "",
        "Red",
        "36氪",
        "7天",
        "5x",
        "1,2,3",
        "1 and 2",
        "5 6",
        "S&P 500",
        "1e999",
        "5 " + "x" * 80,
        "9" * 81 + "a",
        "٣",
    ],
)
def test_no_number(text: str) -> None:
    assert parse_number(text) is None


@each(
    ("words", "factor"),
    [
        ("hundred million", 1e8),
        ("hundreds of millions", 1e8),
        ("ten thousand", 1e4),
        ("thousand billion", 1e12),
        ("thousands of millions", 1e9),
        ("k million", 1e9),
        ("hundred trillion", 1e14),
        ("million million million", 1e18),
        ("milion", 1e6),
        ("万亿", 1e12),
        ("千万", 1e7),
        ("十亿", 1e9),
        ("crore", 1e7),
        ("bn", 1e9),
    ],
)
def test_scale_of(words: str, factor: float) -> None:
    assert scale_of(words) == factor
