"""Files are written whole, and found by the names that people give them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forecasteval import prophet
from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import (
    find_dataset,
    find_file,
    is_shared,
    require_plain,
    share_reads,
    write_atomic,
)

# --- Writing ---


def test_write_atomic_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "f.json"
    for text in ("first\n", "甲\nsecond\n", ""):
        write_atomic(path, text)
        assert path.read_bytes() == text.encode()
        assert os.listdir(path.parent) == ["f.json"]


@pytest.mark.parametrize("broken", ["os.fsync", "pathlib.Path.replace"])
def test_write_atomic_keeps_the_old_file_when_the_disk_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "f.json"
    path.write_text("old")
    monkeypatch.setattr(broken, fail)
    with pytest.raises(EvaluationError, match=r"f\.json: .*No space left"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["f.json"]


def test_write_atomic_leaves_no_temporary_file_when_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "f.json").write_text("old")
    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "f.json", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("f.json", "old")]


def test_write_atomic_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "f.json", tmp_path / "folder"):
        with pytest.raises(EvaluationError, match="cannot be written"):
            write_atomic(path, "new")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "kept"


def test_write_atomic_in_a_read_only_folder(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text("old")
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("root writes everywhere")
    try:
        with pytest.raises(EvaluationError, match="denied"):
            write_atomic(tmp_path / "f.json", "new")
    finally:
        tmp_path.chmod(0o700)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("f.json", "old")]


# --- Names ---


@pytest.mark.parametrize(
    ("stem", "found"),
    [
        ("250915", "250915.json"),
        ("250915-random", "250915-random.jsonl"),
        ("250915-random-2", "250915-random.jsonl"),
        ("250915-rando", "250915.json"),
        ("250915-randomly", "250915.json"),
        ("250915_a", "250915.json"),
        ("250915.a", "250915.json"),
        ("250915-foo@2", "250915.json"),
        ("250915-random@2", "250915-random.jsonl"),
        ("250915@2", "250915.json"),
        ("foo@2", None),
        ("2509-x", "2509.json"),
        ("2509150", None),
        ("25091", None),
        ("x-250915", None),
        ("模型-1", "模型.json"),
        ("notes-1", None),
    ],
)
def test_find_dataset(tmp_path: Path, stem: str, found: str | None) -> None:
    for name in (
        "2509.json",
        "250915.json",
        "250915-random.jsonl",
        "模型.json",
        "notes.txt",
        "README.md",
    ):
        (tmp_path / name).touch()
    path = find_dataset(Path("elsewhere") / f"{stem}.json", tmp_path)
    assert path == (tmp_path / found if found else None)


def test_find_dataset_without_a_folder(tmp_path: Path) -> None:
    assert find_dataset(Path("p.json"), tmp_path / "none") is None


def test_find_dataset_refuses_two_of_one_stem(tmp_path: Path) -> None:
    for name in ("p.json", "p.jsonl"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"p\.json.*p\.jsonl"):
        find_dataset(Path("p-x.json"), tmp_path)


def test_find_file_names_the_nearest_and_no_hidden_file(tmp_path: Path) -> None:
    for name in ("250915-random.json", ".250915-randon.json", "zebra.jsonl"):
        (tmp_path / name).touch()
    with pytest.raises(InputError) as caught:
        find_file("250915-randon", tmp_path)
    assert str(caught.value).endswith("250915-randon: no such file; there is 250915-random.json")
    with pytest.raises(InputError, match=r"no such file$"):
        find_file("x", tmp_path / "none")
    with pytest.raises(
        InputError, match=r"no such file; known: 2 \(250915-random.json, zebra.jsonl"
    ):
        find_file("x", tmp_path)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *(
            (f"p{suffix}", "a compressed file; unpack it first")
            for suffix in (".zip", ".bz2", ".xz", ".zst")
        ),
        *((f"p{suffix}", "a spreadsheet; save it as CSV") for suffix in (".xlsx", ".xls", ".ods")),
        ("p.parquet", "a Parquet file; make a prediction of it first"),
        ("p.eval", "a log of inspect_ai; make a prediction of it first"),
    ],
)
def test_packed_files_are_named_as_what_they_are(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=told):
        find_file("p", tmp_path)
    with pytest.raises(InputError, match=told):
        require_plain(tmp_path / name)
    (tmp_path / "p.json").touch()
    assert find_file("p", tmp_path) == tmp_path / "p.json"


def test_folders_and_pipes_are_named_as_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    os.mkfifo(tmp_path / "q.json")
    with pytest.raises(InputError, match="expected a file, got a folder; name a file in it"):
        find_file("p", tmp_path)
    with pytest.raises(
        InputError, match="got a pipe or device; write what it gives to a file first"
    ):
        find_file("q.json", tmp_path)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("id,answer", True),
        ("\ufeffid,answer", True),
        ("event_ticker,prediction,result", False),
        ("编号,答案", True),
    ],
)
def test_a_csv_without_events_has_a_dataset(tmp_path: Path, header: str, found: bool) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "p.json").touch()
    (folder / "p.csv").touch()  # no dataset
    (tmp_path / "p-x.csv").write_text(header + "\n", encoding="utf-8")
    found_dataset = find_dataset(tmp_path / "p-x.csv", folder, prophet.holds_events)
    assert found_dataset == (folder / "p.json" if found else None)


# --- Reading each file once ---


def test_a_file_is_read_once_while_it_stays_the_same(tmp_path: Path) -> None:
    reads = []

    @is_shared
    def read(path: Path, suffix: str = "") -> str:
        reads.append(path.name + suffix)
        return path.read_text() + suffix

    a = tmp_path / "a"
    a.write_text("1")
    assert [read(a), read(a)] == ["1", "1"]
    assert reads == ["a", "a"]
    with share_reads():
        assert [read(a), read(a, "!"), read(a)] == ["1", "1!", "1"]
        a.write_text("22")
        assert [read(a), read(a)] == ["22", "22"]
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "b")
    assert reads[2:] == ["a", "a!", "a", "b"]
    read(a)
    assert reads[6:] == ["a"]


def test_what_was_read_long_ago_is_dropped(tmp_path: Path) -> None:
    """Eight megabytes of files are kept, whatever is read of them."""
    reads = []

    @is_shared
    def read(path: Path) -> None:
        reads.append(path.name)

    for name, size in {"a": 3, "b": 3, "c": 3, "huge": 9}.items():
        (tmp_path / name).write_bytes(bytes(size * 1_000_000))
    with share_reads():
        for name in ("a", "b", "a", "c", "a", "b", "huge", "huge", "b"):
            read(tmp_path / name)
    assert reads == ["a", "b", "c", "b", "huge", "huge"]
