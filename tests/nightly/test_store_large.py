"""Large files: results are written piece by piece, and a later night does not read them whole."""

from __future__ import annotations

import functools
import json
import operator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards_folders import contents, counts, folder_of
from cli import Record, number, q, run, write
from forecasteval.common.records import dump_json, dump_pieces
from forecasteval.futurex import results
from forecasteval.nightly import run as nightly_run
from forecasteval.nightly import store
from forecasteval.nightly.store import result_pieces


@pytest.mark.parametrize("size", [1, 7])
def test_blocks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    odd = [
        q("q1"),
        q("q1", answer="B"),
        q(...),
        q("q2", answer=...),
        number("q3", Std=2.5),
        q("q4", answer="\ud800 x"),
    ]
    write(tmp_path, {"prediction/own.jsonl": [json.dumps(record) for record in odd * 9]})
    expected = run(tmp_path, "-f", "own", "--json")
    monkeypatch.setattr(results, "BLOCK", size)
    assert run(tmp_path, "-f", "own", "--json") == expected


@pytest.mark.parametrize("bad", ["{", '{"id": "x", "level": 9}', '"text"'])
def test_a_mistake_far_down_leaves_nothing(tmp_path: Path, bad: str) -> None:
    lines = [json.dumps(q(f"q{n}")) for n in range(2 * results.BLOCK)]
    write(tmp_path, {"prediction/own.jsonl": [*lines, bad]})
    done = run(tmp_path, "-f", "own", "--save")
    assert (done.code, f"record {len(lines) + 1}" in done.err) == (2, True)
    assert not list(tmp_path.glob("evaluation/*.json"))


class Reads:
    """The results that a run reads whole."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        read_stored = store.read_stored

        def watch(path: Path) -> Any:
            self.names.append(path.relative_to(path.parents[1]).as_posix())
            return read_stored(path)

        monkeypatch.setattr(store, "read_stored", watch)
        monkeypatch.setattr(nightly_run, "read_stored", watch)


@pytest.mark.parametrize(
    ("name", "keys", "value", "scored"),
    [
        ("d-a", ("signature", "questions_sha256"), [], 1),
        ("leaderboard", ("tables", 0, "rows"), None, 0),
    ],
)
def test_a_stored_file_of_another_form_is_made_again_alone(
    tmp_path: Path, name: str, keys: tuple[Any, ...], value: object, scored: int
) -> None:
    """Its checksum is right, so it would otherwise be used again night after night."""
    folder_of(tmp_path, a="AAAA", b="ABAB")
    assert run(tmp_path, "nightly").code == 0
    expected = contents(tmp_path)
    path = tmp_path / f"evaluation/{name}.json"
    stored = json.loads(path.read_bytes())
    del stored["result_sha256"]
    *outer, key = keys
    functools.reduce(operator.getitem, outer, stored)[key] = value
    path.write_text("".join(store.result_pieces(stored)), encoding="utf-8")
    if name != "leaderboard":
        (tmp_path / "evaluation/leaderboard.json").unlink()
    done = run(tmp_path, "nightly")
    assert counts(done) == (scored, 2 - scored, 0)
    assert contents(tmp_path) == expected


def test_a_result_that_was_changed_is_scored_again(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    assert run(tmp_path, "nightly").code == 0
    path = tmp_path / "evaluation/d-a.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"score": 1.0', b'"score": 0.5', 1))
    assert counts(run(tmp_path, "nightly")) == (1, 0, 0)
    assert path.read_bytes() == whole


VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
RECORDS: Final = st.dictionaries(st.text(), VALUES, min_size=1, max_size=4)


@given(RECORDS, st.lists(RECORDS | st.just({}), max_size=4), st.booleans())
def test_pieces_are_the_whole(record: Record, entries: list[Record], ascii_only: bool) -> None:
    record["items"] = entries
    assert "".join(dump_pieces(record, ascii_only)) == dump_json(record, ascii_only=ascii_only)
    text = "".join(result_pieces(record))
    assert dump_json(json.loads(text) | {"result_sha256": ""}) == dump_json(
        record | {"result_sha256": ""}
    )
    if entries:  # each on a line of its own
        lines = {line.strip().removesuffix(",") for line in text.splitlines()}
        assert set(map(dump_json, entries)) <= lines
