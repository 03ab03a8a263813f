"""`read_table`: rows with named columns of whatever file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

import pytest

from forecasteval.common.errors import InputError
from forecasteval.common.records import BadRecord
from forecasteval.source.tables import read_table

ROWS: Final = [{"id": "a", "p": 0.5}, {"id": "b", "p": 1}]
CELLS: Final = [{"id": "a", "p": "0.5"}, {"id": "b", "p": "1"}]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.json", "t.jsonl", "t"])
@pytest.mark.parametrize(
    ("content", "form"),
    [
        ("id,p\na,0.5\nb,1\n", "CSV"),
        ("id\tp\na\t0.5\nb\t1\n", "CSV"),
        ("sep=;\nid;p\na;0.5\nb;1\n", "CSV"),
        (json.dumps(ROWS), "rows of JSON"),
        (json.dumps({"data": ROWS}), "rows of JSON"),
        ("".join(json.dumps(row) + "\n" for row in ROWS), "rows of JSON"),
    ],
)
def test_a_table_is_what_it_contains(tmp_path: Path, name: str, content: str, form: str) -> None:
    rows = CELLS if form == "CSV" else ROWS
    for raw in (content.encode(), content.encode("utf-16"), gzip.compress(content.encode())):
        path = tmp_path / name
        path.write_bytes(raw)
        table = read_table(path)
        assert (table.form, table.names, [*table]) == (form, ["id", "p"], rows)


@pytest.mark.extra("pyarrow")
def test_parquet_rows(tmp_path: Path) -> None:
    import pandas

    path = tmp_path / "t.parquet"
    pandas.DataFrame(ROWS).to_parquet(path)
    table = read_table(path)
    assert (table.form, table.names, [*table]) == ("Parquet", ["id", "p"], ROWS)
    assert table.place(2) == "row 2"
    with pytest.raises(InputError, match="a Parquet file"):
        read_table(path, any_form=False)


def test_damaged_rows_keep_their_places(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,p,p\na,1,1\n\nb,1,2\nc\nd,1,1,1\n")
    table = read_table(path)
    same, differing, short, long = table
    assert same == {"id": "a", "p": "1"}
    assert differing.repeated == ("p",)
    assert short == {"id": "c", "p": None}
    assert isinstance(long, BadRecord)
    assert long.cells == ["d", "1", "1", "1"]
    assert [table.place(number) for number in (1, 2, 3, 4)] == [
        "line 2", "line 4", "line 5", "line 6",
    ]  # fmt: skip
    assert table.damaged == 1


def test_misplaced_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,p\na,"[1]" or "[2]"\n')
    with pytest.raises(InputError, match="line 2: not CSV"):
        read_table(path)
    assert [*read_table(path, strict=False)] == [{"id": "a", "p": '[1] or "[2]"'}]


def test_other_encodings_are_read_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id,p\nMüller,1\n".encode("cp1252"))
    assert [*read_table(path).warnings] == ["t.csv: not UTF-8, read as cp1252"]
    with pytest.raises(InputError, match=r"text in cp1252; make UTF-8 of it: iconv"):
        read_table(path, any_form=False)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv", b"", "an empty file"),
        ("t.xlsx", b"PK\x03\x04...", "save it as CSV"),
        ("t.parquet", b"PAR1 and no more", "not Parquet that can be read"),
        ("t.json", b"[{]", "not JSON"),
    ],
)
def test_what_is_no_table(tmp_path: Path, name: str, content: Any, told: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_table(tmp_path / name)
