"""Dataclasses as JSON: what is written is read back, and what has another form is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.common.errors import InputError
from forecasteval.common.forms import Key, Score, from_record, to_record


@dataclass(frozen=True, kw_only=True)
class Inner:
    name: str
    score: Score
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Other:
    kind: Literal["other"]
    counts: dict[Key, int]


@dataclass(frozen=True, kw_only=True)
class Whole:
    schema: Literal[2]
    parts: list[Inner | Other]
    anything: Any
    flag: bool = False
    rows: list[int] = field(default_factory=list)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
KEYS = st.integers() | st.sampled_from(["", "all"])
INNER = st.builds(
    Inner, name=st.text(), score=FLOATS, interval=st.none() | st.tuples(FLOATS, FLOATS)
)
OTHER = st.builds(Other, kind=st.just("other"), counts=st.dictionaries(KEYS, st.integers()))
WHOLE = st.builds(
    Whole,
    schema=st.just(2),
    parts=st.lists(INNER | OTHER, max_size=3),
    anything=st.none() | st.text(),
    flag=st.booleans(),
    rows=st.lists(st.integers()),
)
GOOD: dict[str, Any] = {"schema": 2, "parts": [{"name": "a", "score": 1}], "anything": 0}


@given(WHOLE)
def test_what_is_written_is_read_back(whole: Whole) -> None:
    assert from_record(Whole, json.loads(json.dumps(to_record(whole)))) == whole


def test_defaults_are_left_out() -> None:
    record = to_record(Whole(schema=2, parts=[Inner(name="a", score=0.5)], anything=None))
    assert record == {"schema": 2, "parts": [{"name": "a", "score": 0.5}], "anything": None}


def test_null_is_a_score_that_is_none() -> None:
    assert math.isnan(from_record(Inner, {"name": "a", "score": None}).score)


@pytest.mark.parametrize(
    ("where", "changed"),
    [
        ("Whole.anything", {"schema": 2, "parts": []}),
        ("Whole.schema", {**GOOD, "schema": 1}),
        ("Whole.flag", {**GOOD, "flag": "perhaps"}),
        ("Whole.rows", {**GOOD, "rows": {"0": 1}}),
        ("Whole.rows.1", {**GOOD, "rows": [1, 1.5]}),
        ("Whole.parts.0.kind", {**GOOD, "parts": [{"name": "a"}]}),
        ("Whole.parts.0.counts.x", {**GOOD, "parts": [{"kind": "other", "counts": {"x": ""}}]}),
        ("Whole.parts.0.kind", {**GOOD, "parts": [{"kind": True, "counts": {}}]}),
        ("Whole.rows.0", {**GOOD, "rows": [True]}),
        ("Whole.rows.0", {**GOOD, "rows": ["1"]}),
        ("Whole", []),
    ],
)
def test_another_form_is_refused_with_its_place(where: str, changed: Any) -> None:
    with pytest.raises(InputError, match=rf"^{where}: expected"):
        from_record(Whole, changed)
