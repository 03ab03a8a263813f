"""Numbers in sentences: what is noise, what is said, and which of several counts."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.common.doubts import find_doubt, may_doubt
from forecasteval.futurex.numbers import find_numbers, has_other_word, interpret_number

FOUND: Final = {
    "It will close at 46,300 points": [46300],
    "first 90, then 101": [90, 101],
    "CPI同比-0.4%": [-0.4],
    "fell by -3": [-3],
    "minus 3 percent": [-3],
    "$5 million": [5],
    "down 5% to 300": [5, 300],
    "between 1 and 2": [1.5],
    # noise
    "on March 5, 2026 (GMT+8) it is 7": [7],
    "on 5 March 2026 it is 7": [7],
    "2026-03-05: 7": [7],
    "3/5/2026 7": [7],
    "9月23日为7": [7],
    "2026年为7": [7],
    "at 15:30 it is 7": [7],
    "at 3 pm it is 7": [7],
    "by 2026 it is 7": [7],
    "7 out of 10": [7],
    "7 (was 9)": [7],
    "7 [9]": [7],
    "the S&P 500 at 7": [7],
    "沪深300收于7": [7],
    "No. 4 has 7": [7],
    "第4名7票": [7],
    "Covid-19: 7": [7],
    "v2.1 has 7": [7],
    "1/3 of 7": [7],
    "36氪发布": [],
    "7天": [],
    "the 23rd": [],
    "a 7-day week": [],
    "no number": [],
    # what looks like noise and is none
    "in 2025 yuan": [2025],
    "USD5": [5],
    # _AFTER_NUMBER: a word that may stand behind a number, and not behind a name
    "收于3876左右": [3876],
    "收于3876上下": [3876],
    "收于3876附近": [3876],
    "在3876以上": [3876],
    "3876之间": [3876],
    "3876的水平": [3876],
    "3876多": [3876],
    "3876至4000": [3938],
    "3876或更高": [3876],
    "3876但不稳": [3876],
    "3876及以上": [3876],
    "3876天": [],
    "3876氪": [],
}


@pytest.mark.parametrize("text", FOUND)
def test_find_numbers(text: str) -> None:
    assert [quantity.value for quantity, _ in find_numbers(text)] == FOUND[text]


def test_the_word_behind_a_number() -> None:
    behind = [rest for _, rest in find_numbers("90 zorks, then 101 Gazillion and 7 and 8")]
    assert [has_other_word(rest) for rest in behind] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "in_sentence", "percent", "value", "note"),
    [
        ("101", False, True, 101, ""),
        ("It is 101", False, True, None, ""),
        ("It is 101", True, True, 101, ""),
        ("from 90 to 101 now 7", True, True, 7, "last of 2 numbers"),
        ("90 yuan, page 7", True, True, 90, "last of 2 numbers"),
        ("90, up 7%", True, True, 7, "last of 2 numbers"),
        ("90, up 7%", True, False, 90, "last of 2 numbers"),
        ("up 7%", True, False, 7, ""),
        ("35億元", True, True, 35, ""),
        ("nothing", True, True, None, ""),
    ],
)
def test_read_number(
    text: str, in_sentence: bool, percent: bool, value: float | None, note: str
) -> None:
    quantity, told = interpret_number(text, in_sentence, percent)
    assert (quantity and quantity.value, told) == (value, note)


@pytest.mark.parametrize(
    "behind",
    [
        *(": wrong", " (not)", " is withdrawn", " or 8", "?", " ❌", ", perhaps", " could be 8"),
        *(" might be 8", " (as likely 8)", ", some say", " according to some", ", Actually 8"),
        *(" no longer", " with a 0% chance", " 已作废", " 错", "可能", ", 或8", "还是8", ", 其实8"),
        *(", alternatively 8", " not sure", " confidence: none", "更正", " is unlikely", " 不对"),
    ],
)
def test_a_glance_at_doubt_overlooks_none(behind: str) -> None:
    assert find_doubt(f"7{behind}", 1)
    assert may_doubt(f"It will be 7{behind}")
