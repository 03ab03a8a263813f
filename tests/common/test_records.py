"""JSON and JSONL read record by record, and JSON that is strict and safe to print."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import ROOT
from forecasteval.common.errors import UNSAFE, InputError
from forecasteval.common.records import (
    BadRecord,
    Record,
    dump_json,
    first_keys,
    has_repeated_keys,
    load_records,
    parse_json,
    repeated_keys,
)

BOM: Final = b"\xef\xbb\xbf"


# --- Writing ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "null"),
        (math.inf, "null"),
        ([-math.inf, 1.5], "[null, 1.5]"),
        ({"b": (math.nan, {"c": math.nan}), "a": None}, '{"a": null, "b": [null, {"c": null}]}'),
        ({1: 0.1, 4: math.nan}, '{"1": 0.1, "4": null}'),
        ("甲😀é", '"甲😀é"'),
        ("\x1b\x7f\x9b", '"\\u001b\\u007f\\u009b"'),
        ("\u202e\u2028\ufeff", '"\\u202e\\u2028\\ufeff"'),
        ({"\ud800": "\udfff"}, '{"\\ud800": "\\udfff"}'),
        ("line\nfeed\\n", '"line\\nfeed\\\\n"'),
        (np.float64("nan"), "null"),
        (True, "true"),
    ],
)
def test_dump_json(value: object, text: str) -> None:
    assert dump_json(value) == text


def test_dump_json_indented() -> None:
    assert (
        dump_json({"b": ["\n\x85"], "a": 1}, indent=1)
        == '{\n "a": 1,\n "b": [\n  "\\n\\u0085"\n ]\n}'
    )


any_text = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from(["\ud800", "\x1b", "\x9b", "\u2028"])
)


any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
    max_leaves=10,
)


@given(any_json, st.sampled_from([None, 1]))
def test_dump_json_round_trip(value: Any, indent: int | None) -> None:
    text = dump_json(value, indent)
    assert json.loads(text) == value
    assert not UNSAFE.search(text.replace("\n", ""))
    assert indent is not None or "\n" not in text
    text.encode("utf-8")


# --- Reading ---


@pytest.mark.parametrize(
    ("name", "content", "records"),
    [
        ("p.json", b'[{"id": 1}, 2]', [{"id": 1}, 2]),
        ("p.json", BOM + b"[1]", [1]),
        ("p.json", b'{"id": "x", "prediction": "A"}', [{"id": "x", "prediction": "A"}]),
        (
            "p.json",
            b'{"x": "A", "y": [1]}',
            [{"id": "x", "prediction": "A"}, {"id": "y", "prediction": [1]}],
        ),
        ("p.json", b"[Infinity]", [float("inf")]),
        ("p.json", b"[" + b"7" * 5000 + b", 7]", ["7" * 5000, 7]),
        ("p.jsonl", b'{"id": 1}\n\n \n{"id": 2}', [{"id": 1}, {"id": 2}]),
        ("p.jsonl", BOM + b'{"id": 1}\r\n{"id": 2}\r\n', [{"id": 1}, {"id": 2}]),
        ("p.jsonl", '{"id": "a\u2028b\x85c"}\n7'.encode(), [{"id": "a\u2028b\x85c"}, 7]),
        ("p.jsonl", b"7" * 5000 + b"\n7\n", ["7" * 5000, 7]),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_record_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes,
    records: list[object],
    large: bool,
) -> None:
    """Those of large JSONL files are not kept, but can be iterated more than once."""
    if large:
        monkeypatch.setattr("forecasteval.common.records._MANY", 0)
    (tmp_path / name).write_bytes(content)
    file = load_records(tmp_path / name)
    assert [*file] == [*file] == records
    assert isinstance(file.records, list) != (large and name == "p.jsonl")
    assert file.sha256 == hashlib.sha256(content).hexdigest()


def test_bad_line_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(b"1\n{]\n" + b"[" * 100_000 + b"\n4\n")
    first, broken, deep, last = load_records(tmp_path / "p.jsonl")
    assert (first, last) == (1, 4)
    assert isinstance(broken, BadRecord)
    assert "column 2" in broken.problem
    assert isinstance(deep, BadRecord)
    assert "nested" in deep.problem


def test_bytes_of_a_long_file_are_counted_from_its_start(tmp_path: Path) -> None:
    content = b'"a"\n' * 1000 + b'"\xff"\n'
    (tmp_path / "p.jsonl").write_bytes(content)
    with pytest.raises(InputError, match="0xff at position 4001"):
        load_records(tmp_path / "p.jsonl")


def test_record_file_that_is_gone(tmp_path: Path) -> None:
    for name in ("p.json", "p.jsonl"):
        with pytest.raises(InputError, match="No such file"):
            load_records(tmp_path / name)


# --- Keys given twice ---


def test_a_key_given_twice_is_no_key_of_the_record() -> None:
    record = parse_json('{"id": 1, "level": 1, "level": 2, "id": 1}', "here")
    assert record == {"id": 1, "level": 2}
    assert repeated_keys(record) == ("level",)
    assert type(parse_json('{"id": 1, "id": 1}', "here")) is dict  # the same twice means the same


@pytest.mark.parametrize(
    ("content", "repeated"),
    [
        ("id,answer,answer\n1,Yes,No\n", ("answer",)),
        ("id,answer,answer\n1,Yes,Yes\n", ()),
        ("id,a,id\n1,A,2\n", ("id",)),
    ],
)
def test_a_column_that_stands_twice_is_a_key_given_twice(
    tmp_path: Path, content: str, repeated: tuple[str, ...]
) -> None:
    (tmp_path / "p.csv").write_text(content)
    assert [repeated_keys(record) for record in load_records(tmp_path / "p.csv")] == [repeated]


def test_repeated_keys_go_along_to_another_process() -> None:
    record = pickle.loads(pickle.dumps(Record({"a": 2}, ["a", "a"])))
    assert (record, repeated_keys(record)) == ({"a": 2}, ("a",))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": {"b": 1}}', False),
        ('[1, {"a": [{"b": 1, "b": 2}]}]', True),
        ('{"a": 1, "a": 2}', True),
        ("7", False),
    ],
)
def test_repeated_keys_anywhere(text: str, found: bool) -> None:
    assert has_repeated_keys(parse_json(text, "here")) is found


# --- Wrappers, names that lie, CSV ---

ROW: Final = {"id": "a", "answer": "A"}


@pytest.mark.parametrize(
    ("name", "content", "records", "warned"),
    [
        ("p.json", {"data": [ROW]}, [ROW], ""),
        ("p.json", {"model": "m", "predictions": [ROW, ROW]}, [ROW, ROW], ""),
        ("p.json", {"results": [ROW], "id": "run"}, [ROW], ""),
        ("p.json", {"data": [], "results": [ROW]}, [ROW], ""),
        (
            "p.json",
            {"data": ["A"]},
            [{"id": "data", "prediction": ["A"]}],
            "",
        ),  # an answer to the question "data"
        ("p.json", {"data": []}, [{"id": "data", "prediction": []}], ""),
        (
            "p.json",
            {"rows": [ROW], "b": "A"},
            [{"id": "rows", "prediction": [ROW]}, {"id": "b", "prediction": "A"}],
            "",
        ),
        ("p.jsonl", [ROW, ROW], [ROW, ROW], "p.jsonl: read as one JSON list, despite its name"),
        ("p.jsonl", {"data": [ROW]}, [ROW], "p.jsonl: read as one JSON list, despite its name"),
        (
            "p.jsonl",
            '{\n "predictions": [\n  {"id": "a",\n "answer": "A"}\n ]\n}\n',
            [ROW],
            "p.jsonl: read as one JSON list, despite its name",
        ),
        ("p.jsonl", '{"data": [1], "id": 1}\n{"id": 2}\n', [{"data": [1], "id": 1}, {"id": 2}], ""),
        (
            "p.jsonl",
            '{"data": [{}], "id": 1}\n{"id": 2}\n',
            [{"data": [{}], "id": 1}, {"id": 2}],
            "",
        ),
        (
            "p.json",
            '{"id": 1}\n{"id": 2}\n',
            [{"id": 1}, {"id": 2}],
            "p.json: read as JSON Lines, despite its name",
        ),
        (
            "p.json",
            '{"id": 1}\r\n\r\n{"id": 2}',
            [{"id": 1}, {"id": 2}],
            "p.json: read as JSON Lines, despite its name",
        ),
        (
            "p.json",
            '{"id": "a\u2028b"}\n{"id": "c\x85d"}',
            [{"id": "a\u2028b"}, {"id": "c\x85d"}],
            "p.json: read as JSON Lines, despite its name",
        ),
        ("p.csv", "id,answer\na,A\n", [ROW], ""),
        ("p.csv", 'answer;id\n"A, B";a\n', [{"answer": "A, B", "id": "a"}], ""),
        ("p.csv", "answer\tid\nA\ta\n", [ROW], ""),
        ("p.csv", 'id,answer\na,"x, y\nz"\n', [{"id": "a", "answer": "x, y\nz"}], ""),
    ],
)
def test_records_wherever_they_stand(
    tmp_path: Path, name: str, content: Any, records: list[object], warned: str
) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    for mark in (b"", BOM):
        (tmp_path / name).write_bytes(mark + text.encode())
        file = load_records(tmp_path / name)
        assert file.records == records
        assert [*file.warnings] == ([warned] if warned else [])
        assert file.sha256 == hashlib.sha256(mark + text.encode()).hexdigest()


@pytest.mark.parametrize("content", [{"rows": [ROW, {}], "events": [ROW]}])
def test_lists_of_records_under_other_keys_are_no_answers_by_id(
    tmp_path: Path, content: dict[str, object]
) -> None:
    (tmp_path / "p.json").write_text(json.dumps(content))
    told = rf"or one under data, predictions, results, got {len(content)} \({', '.join(content)}\)"
    with pytest.raises(InputError, match=told):
        load_records(tmp_path / "p.json")


@pytest.mark.parametrize(
    "text", ['{"id": 1', '{"id": 1}\x00', "7\n8\n", "[1]\n[2]\n", '{"id": 1} {"id": 2}', "{]\n{}\n"]
)
def test_what_is_no_json_stays_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InputError, match="not JSON"):
        load_records(tmp_path / "p.json")


def test_lines_of_a_json_file_keep_their_places(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"id": 1}\n{]\n{"id": 3}\n')
    first, broken, last = load_records(tmp_path / "p.json")
    assert (first, last) == ({"id": 1}, {"id": 3})
    assert isinstance(broken, BadRecord)


def test_first_keys(tmp_path: Path) -> None:
    for name, text, keys in [
        ("a.json", '[{"id": 1, "x": {"inner": 1}}]', {"id", "x"}),
        ("b.jsonl", '{"id": 1}\n{"y": 1}\n', {"id", "y"}),
        ("c.csv", "\ufeffid,answer\n1,A\n", {"id", "answer"}),
        ("d.json", "[]", set()),
        ("e.csv", "", set()),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert first_keys(tmp_path / name) >= keys, name
    assert first_keys(tmp_path / "none.json") == set()
    assert first_keys(tmp_path / "none.csv") == set()


def test_what_is_no_file_has_no_keys(tmp_path: Path) -> None:
    """In a process, which can be ended: who opens a pipe waits for ever."""
    pipes = [tmp_path / name for name in ("pipe.json", "pipe.jsonl", "pipe.csv")]
    folders = [tmp_path / name for name in ("folder.json", "folder.csv")]
    for pipe in pipes:
        os.mkfifo(pipe)
    for folder in folders:
        folder.mkdir()
    code = (
        "import pathlib, sys; from forecasteval.common.records import first_keys; "
        "print([first_keys(pathlib.Path(name)) for name in sys.argv[1:]])"
    )
    command = [sys.executable, "-c", code, *map(str, [*pipes, *folders, tmp_path / "nobody.json"])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"{[set()] * 6}\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", '[{"id": 1}]'), ("a.jsonl", '{"id": 1}\n'), ("a.csv", "id\n1\n")],
)
def test_a_checksum_is_that_of_the_bytes_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """A file that is replaced as soon as it was opened once, as by an upload."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    before, opened = io.open, [0]

    def replace_behind(file: Any, *args: Any, **options: Any) -> Any:
        stream = before(file, *args, **options)
        if Path(file) == path:
            opened[0] += 1
            (tmp_path / "new").write_bytes(b"{}")
            (tmp_path / "new").replace(path)
        return stream

    monkeypatch.setattr(io, "open", replace_behind)
    loaded = load_records(path)
    assert loaded.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (len(list(loaded.records)), opened) == (1, [1])
