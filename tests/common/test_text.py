"""Bytes to text and cells: encodings, packed files, separators."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Final

import pytest

from forecasteval.common import text
from forecasteval.common.errors import InputError
from forecasteval.common.records import BadRecord, first_keys, load_records
from forecasteval.common.text import csv_rows, decode_text, unpack

ROWS: Final = [{"id": "a", "answer": "Müller"}, {"id": "b", "answer": "x"}]
LINES: Final = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
TABLE: Final = "id,answer\na,Müller\nb,x\n"


# --- Encodings ---


@pytest.mark.parametrize(
    ("words", "encoding", "name"),
    [
        ("Müller", "cp1252", "cp1252"),
        ("“quoted” – 5 €", "cp1252", "cp1252"),
        ("上海市", "gbk", "GBK"),
        ("答案：是", "gb18030", "GBK"),
    ],
)
def test_an_encoding_is_told_by_its_letters(words: str, encoding: str, name: str) -> None:
    table = f"id,answer\na,{words}\n" + "b,plain\n" * 20
    raw = table.encode(encoding)
    assert decode_text(raw, "t.csv") == (table, [f"t.csv: not UTF-8, read as {name}"])
    with pytest.raises(InputError, match=rf"not UTF-8: byte 0x.. at position .*text in {name}"):
        decode_text(raw, "t.csv", any_encoding=False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_needs_nobody_to_ask_for_it(encoding: str) -> None:
    assert decode_text(TABLE.encode(encoding), "t.csv", any_encoding=False) == (TABLE, [])


@pytest.mark.parametrize(
    "raw",
    [
        "Müller, ".encode() + b"caf\xe9",  # UTF-8 with a damaged byte
        "上海市".encode()[:-1],  # UTF-8 that is cut
        b"a\x00b",
        b"\xff\xfe\x00\x00a\x00\x00\x00",  # UTF-32
        b"\xff\xfea",  # half of a character of UTF-16
        b"\x81\x8d",  # nothing in cp1252
        b"\xe9\x01",
    ],
)
def test_damaged_text_is_refused(raw: bytes) -> None:
    with pytest.raises(InputError, match="not UTF-"):
        decode_text(raw, "t.csv")


@pytest.mark.parametrize("name", ["p.json", "p.jsonl", "p.csv"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_records_of_any_text(tmp_path: Path, name: str, encoding: str, end: str) -> None:
    content = {"p.json": json.dumps(ROWS, ensure_ascii=False), "p.jsonl": LINES, "p.csv": TABLE}
    path = tmp_path / name
    path.write_bytes(content[name].replace("\n", end).encode(encoding))
    loaded = load_records(path, any_form=True)
    assert [*loaded] == ROWS
    assert len(loaded.warnings) == (encoding == "cp1252")
    assert first_keys(path) == {"id", "answer"}


# --- Packed files ---


def test_packed_records(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    raw = LINES.encode()
    two_frames = zstandard.compress(raw[:20]) + zstandard.compress(raw[20:])
    for name, packed in {
        "p.jsonl.gz": gzip.compress(raw),
        "p.jsonl.zst": zstandard.compress(raw),
        "q.jsonl.zst": two_frames,
        "r.jsonl": gzip.compress(raw),  # whatever its name is
    }.items():
        path = tmp_path / name
        path.write_bytes(packed)
        assert [*load_records(path, any_form=True)] == ROWS
        assert first_keys(path) == {"id", "answer"}
        with pytest.raises(InputError, match="a compressed file; unpack it first"):
            load_records(path)


@pytest.mark.parametrize("kind", ["gzip", "zstandard"])
def test_packed_files_that_are_damaged_or_too_long(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pytest.importorskip(kind).compress(LINES.encode() * 1000)
    for raw in (packed[:-3], packed[:9] + b"xxxxxx" + packed[15:]):
        with pytest.raises(InputError, match=r"p\.gz: cannot be unpacked"):
            unpack(raw, "p.gz")
    monkeypatch.setattr(text, "MAX_BYTES", len(LINES.encode()) * 1000 - 1)
    with pytest.raises(InputError, match="bytes at most when unpacked"):
        unpack(packed, "p.gz")


# --- Separators, and files that are cut ---


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("named", ["", "sep={}\n", "SEP={}\r\n", '"sep={}"\n'])
def test_separators(separator: str, named: str) -> None:
    table = named.format(separator) + separator.join(["id", "answer"]) + "\n"
    table += separator.join(["a", "x"]) + "\n"
    assert [cells for _, cells in csv_rows(table, "t")] == [["id", "answer"], ["a", "x"]]


def test_the_named_separator_counts_before_the_commonest() -> None:
    rows = list(csv_rows("\nsep=;\nid;a,b,c\n1;2\n", "t"))
    assert rows == [(3, ["id", "a,b,c"]), (4, ["1", "2"])]


@pytest.mark.parametrize(
    ("name", "content", "is_cut"),
    [
        ("p.jsonl", LINES, False),
        ("p.jsonl", LINES[:-1], False),
        ("p.jsonl", LINES[:-5], True),
        ("p.jsonl", LINES[:-5] + "\n", False),  # damaged, not cut
        ("p.csv", TABLE, False),
        ("p.csv", TABLE[:-1], False),
        ("p.csv", TABLE[:-3], True),
    ],
)
def test_a_file_that_is_cut_says_so(tmp_path: Path, name: str, content: str, is_cut: bool) -> None:
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / name).write_text(content, encoding=encoding)
        assert load_records(tmp_path / name).is_cut == is_cut


def test_a_row_that_is_too_long_keeps_its_cells(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,answer\na,x,y\n\nb,z\n")
    loaded = load_records(tmp_path / "p.csv")
    damaged, whole = loaded
    assert isinstance(damaged, BadRecord)
    assert damaged.cells == ["a", "x", "y"]
    assert whole == {"id": "b", "answer": "z"}
    assert (loaded.names, loaded.lines) == (["id", "answer"], [2, 4])
