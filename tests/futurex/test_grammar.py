"""Numbers as they are written: digits, signs, scales, units, powers, ranges."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

import cn2an
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forecasteval.futurex.reading import grammar
from forecasteval.futurex.reading.grammar import Quantity, parse_number, read_scale, write_digits
from forecasteval.futurex.reading.numbers import find_numbers

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


@pytest.mark.parametrize(
    "text",
    [
        "> 5",
        "over 5",
        "5+",
        "5 or more",
        "5 and up",
        "north of 5",
        "above the 5",
        "至少5",
        "5及以上",
    ],
)
def test_a_lower_bound(text: str) -> None:
    assert parse_number(text) == Quantity(5, None, "", bound=">")


@pytest.mark.parametrize("text", ["< 5", "up to 5", "5 or less", "不到5", "5以下"])
def test_an_upper_bound(text: str) -> None:
    assert parse_number(text) == Quantity(5, None, "", bound="<")


@pytest.mark.parametrize("text", NUMBERS)
def test_number(text: str) -> None:
    value, scale, unit = NUMBERS[text]
    quantity = parse_number(text)
    assert quantity is not None
    assert quantity._replace(value=0, span=0, bound="") == Quantity(0, scale, unit)
    assert quantity.value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
def test_read_scale(words: str, factor: float) -> None:
    assert read_scale(words) == factor


# --- Chinese numerals, against cn2an ---


INTEGERS: Final = st.one_of(
    st.integers(0, 10**12),
    st.integers(0, 10_000),
    # Zeros inside are what goes wrong: 一亿零五, 十万零三百.
    st.builds(
        lambda head, power, tail: head * 10**power + tail,
        *map(st.integers, (1, 0, 0), (999, 9, 99)),
    ),
)
DECIMALS: Final = st.builds(
    lambda whole, decimals: f"{whole}.{decimals}",
    INTEGERS,
    st.from_regex(r"[0-9]{1,6}", fullmatch=True),
)
thorough = settings(max_examples=200)


def written(number: int | str) -> str:
    return str(cn2an.an2cn(str(number), "low"))


def value_of(text: str) -> Fraction:
    """What the whole text means, exactly as far as a float tells."""
    quantity = parse_number(text)
    assert quantity is not None, text
    return Fraction(quantity.value) * Fraction(quantity.scale or 1)


def assert_same(text: str, number: int | str | Fraction) -> None:
    assert abs(value_of(text) - Fraction(number)) <= Fraction(1, 10**12) * abs(Fraction(number)), (
        text,
        number,
    )


@thorough
@given(number=INTEGERS)
@example(0)
@example(10)
@example(110)
@example(100_000_005)
@example(10**12)
def test_integers(number: int) -> None:
    text = written(number)
    assert_same(text, number)
    assert_same(
        text.replace("二千", "两千").replace("二万", "两万").replace("二亿", "两亿"), number
    )
    assert_same("负" + text, -number)


@thorough
@given(number=DECIMALS)
def test_decimals(number: str) -> None:
    assert_same(written(number), number)


@thorough
@given(
    number=st.one_of(
        st.integers(0, 10_000).map(str), st.from_regex(r"[0-9]{1,3}\.[0-9]{1,4}", fullmatch=True)
    )
)
def test_percentages(number: str) -> None:
    text = "百分之" + written(number)
    assert write_digits(text) == f"{write_digits(written(number))}%"
    assert_same(text, Fraction(number) / 100)


@thorough
@given(
    number=st.integers(1, 9999),
    decimals=st.integers(0, 9),
    scale=st.sampled_from(["万", "亿", "万亿", "千万", "百万"]),
)
def test_decimals_in_a_scale(number: int, decimals: int, scale: str) -> None:
    factor = {"百万": 10**6, "千万": 10**7, "万": 10**4, "亿": 10**8, "万亿": 10**12}[scale]
    assert_same(
        f"{written(number)}点{written(decimals)}{scale}", Fraction(f"{number}.{decimals}") * factor
    )


@thorough
@given(text=st.text("零一二三四五六七八九十百千万亿两〇点百分之负第年月 体人元", max_size=14))
def test_any_characters_are_written_without_a_fault(text: str) -> None:
    out = write_digits(text)
    left = grammar._NUMERAL.search(out)
    assert not left or re.search(r"[第0-9][零〇一二两三四五六七八九十]", out), out
    quantity = parse_number(text)
    assert quantity is None or isinstance(quantity, Quantity)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("一万二", 12_000), ("两千三", 2_300), ("三百五", 350), ("一亿二", 120_000_000),
        ("二〇二六", 2026),
        ("十五", 15), ("三亿五千万", 350_000_000), ("一百零五", 105), ("一千零五十", 1_050),
        ("一万零五", 10_005),
    ],
)  # fmt: skip
def test_as_people_say_it(text: str, number: int) -> None:
    assert value_of(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["第三名", "第十二", "1十", "2三"])
def test_ordinals_and_digits_stay(text: str) -> None:
    assert write_digits(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "三体",
        "一票否决",
        "万里归途",
        "九号公司",
        "二十不惑",
        "十二生肖",
        "许二木",
        "百度",
        "千与千寻",
    ],
)
def test_names_are_no_numbers(text: str) -> None:
    assert parse_number(text) is None
    assert find_numbers(text) == []
