"""Numbers in sentences: what is noise, what is said, and which of several counts."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.futurex.reading.numbers import find_numbers, interpret_number
from forecasteval.questions.states import Unparsed

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
    "at 3 pm it is 7": [3, 7],  # sixth round, rule 2: only what the question names is no value
    "by 2026 it is 7": [7],
    "7 out of 10": [7, 10],
    "7 (was 9)": [7],
    "7 [9]": [7],
    "the S&P 500 at 7": [500, 7],
    "沪深300收于7": [7],
    "No. 4 has 7": [7],
    "第4名7票": [7],
    "Covid-19: 7": [7],
    "v2.1 has 7": [7],
    "1/3 of 7": [7],
    "36氪发布": [],
    "7天": [],
    "the 23rd": [],
    "a 7-day week": [7],
    "no number": [],
    # what looks like noise and is none
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
    assert [said.value.value for said in find_numbers(text) if not said.inside] == FOUND[text]


@pytest.mark.parametrize(
    ("text", "in_sentence", "percent", "value"),
    [
        ("101", False, True, 101),
        ("It is 101", False, True, "no number"),
        ("It is 101", True, True, 101),
        ("from 90 to 101 now 7", True, None, 95.5),
        ("90 yuan, page 7", True, None, 90),
        ("90, up 7%", True, True, 7),
        ("90, up 7%", True, False, 90),
        ("It was 90, now 101", True, None, "several numbers"),
        ("22%, 26%, 31%", True, True, "several numbers"),
        ("35億元", True, True, 35),
        ("nothing", True, True, "no number"),
    ],
)
def test_read_number(
    text: str, in_sentence: bool, percent: bool | None, value: float | str
) -> None:
    read = interpret_number(text, in_sentence, percent)
    assert (read.note if isinstance(read, Unparsed) else read.value) == value
