"""Times as records write them."""

from __future__ import annotations

import math

import pytest

from forecasteval.prophet.times import parse_moment, parse_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-02-07T03:40:25Z", (1738899625.0, True)),
        ("2025-02-07 03:40:25.5+00:00", (1738899625.5, True)),
        ("2025-02-07T04:40:25+01:00", (1738899625.0, True)),
        ("2025-02-07T04:40:25+0100", (1738899625.0, True)),
        ("2025-02-07T03:40:25.123456789Z", (1738899625.123456, True)),
        ("2025-02-07", (1738886400.0, True)),
        ("2025-02-07T03:40", (1738899600.0, False)),
        ("2025-02-07 3:40", (1738899600.0, False)),
        ("20250207", (1738886400.0, True)),
        ("1738899600", (1738899600.0, True)),
        ("1738899600.5", (1738899600.5, True)),
        ("1671121512345", (1671121512.345, True)),
        ("2025/02/07", (1738886400.0, True)),
        ("2025/2/7 3:40", (1738899600.0, False)),
        ("7 Feb 2025", (1738886400.0, True)),
        ("February 7th, 2025 3:40 PM UTC", (1738942800.0, True)),
        ("Fri, 07 Feb 2025 03:40:00 GMT", (1738899600.0, True)),
        ("2025-02-07 12:00 am", (1738886400.0, False)),
    ],
)
def test_time(text: str, expected: tuple[float, bool]) -> None:
    """Its seconds, and whether its zone is known."""
    seconds, odd = parse_moment(text)
    assert (seconds, odd == "") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2025-13-01",
        "07/02/2025",
        "2025-02-07T25:00Z",
        "16711215",
        "167112151234",
        "1.67e12",
        "7 Foo 2025",
        "1" * 99,
        "٢٠٢٥-٠٢-٠٧",
    ],
)
def test_no_time(text: str) -> None:
    assert math.isnan(parse_moment(text)[0])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1671121512345, 1671121512.345), (1671121512.5, 1671121512.5), ("5 Jan 1970", 345600.0)],
)
def test_times_may_be_numbers(value: object, expected: float) -> None:
    assert parse_time(value) == (expected, "")


def test_a_date_closes_at_the_end_of_its_day() -> None:
    for text in ("2025-02-07", "7 Feb 2025", "20250207"):
        assert parse_moment(text, is_end=True)[0] == pytest.approx(1738886400 + 86400, abs=1e-5)
