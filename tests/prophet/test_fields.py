"""Times as records write them."""

from __future__ import annotations

import math

import pytest

from forecasteval.prophet.fields import parse_moment


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
    ],
)
def test_time(text: str, expected: tuple[float, bool]) -> None:
    """Its seconds, and whether its zone is known."""
    seconds, odd = parse_moment(text)
    assert (seconds, odd == "") == expected


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2025-13-01", "07/02/2025", "2025-02-07T25:00Z", "٢٠٢٥-٠٢-٠٧"]
)
def test_no_time(text: str) -> None:
    assert math.isnan(parse_moment(text)[0])
