"""Dataclasses as JSON: what is written is read back, and what has another form is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.common import forms
from forecasteval.common.forms import FormError


@dataclass(frozen=True, kw_only=True)
class Inner:
    name: str
    score: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Other:
    kind: Literal["other"]
    counts: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Whole:
    schema: Literal[2] = field(default=2, metadata=forms.ALWAYS)
    parts: list[Inner | Other]
    anything: Any
    flag: bool = False
    rows: list[int] = field(default_factory=list)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INNER = st.builds(
    Inner, name=st.text(), score=FLOATS, interval=st.none() | st.tuples(FLOATS, FLOATS)
)
OTHER = st.builds(Other, kind=st.just("other"), counts=st.dictionaries(st.text(), st.integers()))
WHOLE = st.builds(
    Whole,
    parts=st.lists(INNER | OTHER, max_size=3),
    anything=st.none() | st.text(),
    flag=st.booleans(),
    rows=st.lists(st.integers()),
)
GOOD: dict[str, Any] = {"schema": 2, "parts": [{"name": "a", "score": 1}], "anything": 0}


@given(WHOLE)
def test_what_is_written_is_read_back(whole: Whole) -> None:
    assert forms.from_record(Whole, json.loads(json.dumps(forms.to_record(whole)))) == whole


def test_defaults_are_left_out_but_for_those_that_are_always_written() -> None:
    record = forms.to_record(Whole(parts=[Inner(name="a", score=0.5)], anything=None))
    assert record == {"schema": 2, "parts": [{"name": "a", "score": 0.5}], "anything": None}


def test_null_is_a_score_that_is_none() -> None:
    assert math.isnan(forms.from_record(Inner, {"name": "a", "score": None}).score)


@pytest.mark.parametrize(
    ("where", "changed"),
    [
        ("Whole", {**GOOD, "more": 1}),
        ("Whole", {"schema": 2, "parts": []}),
        ("Whole.schema", {**GOOD, "schema": 1}),
        ("Whole.flag", {**GOOD, "flag": 1}),
        ("Whole.rows", {**GOOD, "rows": {"0": 1}}),
        (r"Whole.rows\[1\]", {**GOOD, "rows": [1, 1.5]}),
        (r"Whole.parts\[0\]", {**GOOD, "parts": [{"name": "a"}]}),
        (r"Whole.parts\[0\]", {**GOOD, "parts": [{"kind": "other", "counts": {"x": ""}}]}),
        ("Whole", []),
    ],
)
def test_another_form_is_refused_with_its_place(where: str, changed: Any) -> None:
    with pytest.raises(FormError, match=rf"^{where}: expected "):
        forms.from_record(Whole, changed)
