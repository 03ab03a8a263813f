"""Cells: what papers print is read as they mean it, or reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecasteval.rxnopt.build.cells import read_fraction, read_yield
from linear import assert_linear
from rxnopt_tables import CASES, Record

NOTATION: Final = json.loads((CASES / "rxnopt_notation.json").read_text(encoding="utf-8"))


MORE: Final = json.loads((CASES / "rxnopt_more.json").read_text(encoding="utf-8"))


def shown(case: Record) -> str:
    return repr(case["raw"])[:40]


def test_the_tables_of_cases_are_not_empty() -> None:
    assert len(NOTATION) == 167
    assert {case["field"] for case in NOTATION} == {"yield", "ee", "er", "dr", "rr"}
    assert min(map(len, MORE.values())) > 10


@pytest.mark.parametrize("case", [c for c in NOTATION if c["field"] == "yield"])
def test_yield_notation(case: Record) -> None:
    cell = read_yield(case["raw"])
    if isinstance(case["expect"], dict):
        found: Record = {"yield_ratio": cell.value, **dict(cell.selectivity)}
        if cell.isolated is not None:
            found["isolated_yield"] = cell.isolated
        assert found == case["expect"]
    else:
        assert (cell.value, cell.isolated, cell.selectivity) == (case["expect"], None, ())


@pytest.mark.parametrize("case", [c for c in NOTATION if c["field"] != "yield"])
def test_selectivity_notation(case: Record) -> None:
    fraction, _ = read_fraction(case["raw"], case["field"])
    expected = case["expect_major_fraction"]
    assert fraction == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(
    ("raw", "field"),
    [("78, 75", "yield"), ("104", "yield"), ("-0.8", "yield"), ("90205160000", "yield"),
     ("complex", "yield"),
     ("80% conversion", "yield"), ("2a (39%), 3a (30%)", "yield"), ("120", "ee"), ("0:0", "er"),
     (95, "er")],
)  # fmt: skip
def test_what_is_doubtful_is_said(raw: object, field: str) -> None:
    assert read_yield(raw).note if field == "yield" else read_fraction(raw, field)[1]


@pytest.mark.parametrize(
    "raw", ["-", "—", "", "N/A", None, "n.d.", "trace", "27 c", "quant.", "3aa (85%)", "80(77)", 0]
)
def test_what_is_plain_is_not_warned_about(raw: object) -> None:
    assert read_yield(raw).note == ""


@pytest.mark.parametrize("case", MORE["yield"])
def test_more_yields(case: Record) -> None:
    cell = read_yield(case["raw"], case.get("fraction", False))
    selectivity = tuple(map(tuple, case.get("selectivity", ())))
    assert tuple(cell) == (case["value"], case.get("isolated"), selectivity, case.get("note", ""))


@pytest.mark.parametrize("case", MORE["fraction"])
def test_more_fractions(case: Record) -> None:
    fraction, note = read_fraction(case["raw"], case["field"])
    assert fraction == (None if case["value"] is None else pytest.approx(case["value"], rel=1e-12))
    assert note == case.get("note", "")


@pytest.mark.parametrize(
    ("cell", "field"), [("dr 3:1", "ee"), ("50% de", "ee"), ("98% ee", "dr"), ("er 95:5", "dr")]
)
def test_a_selectivity_of_another_kind_is_missing(cell: str, field: str) -> None:
    assert read_fraction(cell, field) == (None, f"another selectivity than {field}")


PIECES: Final = st.sampled_from([
    "5", "95", ".", ",", ":", "/", "%", "(", ")", "[", "]", "<", ">", "≥", "~", "-", "–", "−", "±",
    " ", "a", "3aa",
    "ee", "dr", "er", "trace", "nd", "n.d.", "quant.", "conv", "rac", "²", "％", "∶", "2a'",
    "\\u2013", "\x00", "&lt;",
])  # fmt: skip


@settings(max_examples=500)
@given(
    st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(), st.integers(), st.floats()),
    st.booleans(),
)
def test_reading_never_raises_and_stays_in_bounds(raw: object, fraction: bool) -> None:
    cell = read_yield(raw, fraction)
    for value in (cell.value, cell.isolated):
        assert value is None or 0 <= value <= 100
    for field in ("ee", "er", "dr", "rr"):
        part, _ = read_fraction(raw, field)
        assert part is None or 0.2 <= part <= 1  # five components at least share a fifth


@pytest.mark.parametrize(
    "piece", [" ", "a,", "5-", "(", "3a (", "r", "95:", "[a", "<sup>", "5 or ", "option 5 ", "\\u"]
)
def test_reading_is_linear(piece: str) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        text = f"{run}{piece * (length // len(piece))}"
        return lambda: [read_yield(text), read_fraction(text, "ee")]

    assert_linear(make, 20_000)
    assert_linear(make, 24)  # up to the longest cells that are looked at
