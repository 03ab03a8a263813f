"""Lists on the disk are lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.common import spilled
from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.records import BadRecord, Record, repeated_keys
from forecasteval.common.spilled import Spilled

VALUES = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.lists(VALUES, max_size=5), max_size=5), st.integers(1, 4))
def test_what_goes_in_comes_out(parts: list[list[Any]], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spilled, "_BLOCK", block)
        values, expected = Spilled[Any](), list[Any]()
        for part in parts:
            values.extend(part)
            expected += part
            assert list(values) == expected  # reading does not disturb what is written next
        assert len(values) == len(expected)
        assert values[1:3] == expected[1:3]
        assert [values[n] for n in range(-len(expected), len(expected))] == expected * 2
        with pytest.raises(IndexError):
            values[len(expected)]


def test_two_readers_at_once() -> None:
    values = Spilled(range(2000))
    assert all(a == b for a, b in zip(values, values, strict=True))


def test_special_records_stay_what_they_are() -> None:
    record, bad = Spilled([Record({"id": 1}, ["answer"]), BadRecord("torn")])
    assert repeated_keys(record) == ("answer",)
    assert bad.problem == "torn"


def test_no_file_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    values = Spilled(range(10))
    assert list(tmp_path.iterdir()) == []
    assert sum(values) == 45


def test_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert not spilled.is_large(tmp_path / "x")
    monkeypatch.setattr(spilled, "LARGE", 9)
    assert not spilled.is_large(tmp_path / "x")
    assert spilled.is_large(tmp_path / "x", tmp_path / "x")
    with pytest.raises(InputError, match="y: cannot be read"):
        spilled.is_large(tmp_path / "y")


def test_no_temporary_folder_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(EvaluationError, match=r"^TMPDIR: no temporary file can be made: No such file or directory$"):
        Spilled(range(3))


def test_a_full_disk_is_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    values = Spilled[int]()
    values._file = open("/dev/full", "w+b")  # noqa: SIM115
    with pytest.raises(EvaluationError, match=r"^TMPDIR, .*: cannot be written: No space left on device$"):
        values.extend(range(10))
    assert values._file.closed
