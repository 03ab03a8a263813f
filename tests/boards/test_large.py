"""Files whose items do not stay in the memory: the same bytes as if they did, in every block size."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards_folders import BOARD_FILES, contents
from cli import Record, number, q, question, run, strict, write
from eval import FutureXEvaluator
from forecasteval.boards import store
from forecasteval.common import spilled
from forecasteval.common.errors import InputError
from forecasteval.common.records import dump_json, dump_pieces
from forecasteval.futurex import items

Spill = Callable[[int], None]
ODD: Final[list[Record]] = [
    q("q1"), q("q2", answer=None), number("q3", answer="ninety"), q("q1", answer="B"), q(...),
    q(7, answer={"answer": "A"}), q("q5", answer=...), number("q6", Std=4, answer="98"),
    q("q8", level=2, ground_truth="A, C", answer="I think A\u2028"),
    q("q9", level=3, ground_truth="甲，乙", answer="乙"), number("q3", Std=2.5), q("q10", answer="\ud800 x" * 400),
]  # fmt: skip


@pytest.fixture
def spill(monkeypatch: pytest.MonkeyPatch) -> Spill:
    """Everything goes to the disk, in blocks of so many."""

    def set_block(size: int) -> None:
        monkeypatch.setattr(spilled, "LARGE", 0)
        monkeypatch.setattr(spilled, "_BLOCK", size)
        monkeypatch.setattr(items, "BLOCK", size)

    return set_block


def files(root: Path) -> Path:
    rng = random.Random(7)
    lines = [rng.choice(ODD) for _ in range(60)]
    questions = [question(f"q{n}") for n in range(30)]
    answers = [{"id": f"q{n}", "prediction": rng.choice("ABC")} for n in rng.sample(range(34), 25)]
    return write(root, {
        "prediction/own.jsonl": [json.dumps(line) for line in lines], "dataset/d.jsonl": questions,
        "prediction/d-a.jsonl": answers, "prediction/d-b.json": [*answers, {"id": "q1", "answer": "odd"}],
    })  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_same_bytes_whatever_the_block(tmp_path: Path, spill: Spill, size: int) -> None:
    outcomes = []
    for name in ("memory", "disk"):
        root = files(tmp_path / name)
        if name == "disk":
            spill(size)
        shown = [
            run(root, "-f", "own", *how) for how in ((), ("--items",), ("--json",), ("--save", "--missing", "skip"))
        ]
        assert [done.code for done in shown] == [0] * 4
        strict(shown[2].out)
        saved = contents(root)
        night = run(root, "nightly")
        assert (night.code, night.err) == (0, "")
        outcomes.append((shown, saved, night, contents(root)))
        assert len(contents(root)) == 3 + len(BOARD_FILES)
        again = run(root, "nightly")
        assert again.out.splitlines()[-1] == "0 files scored, 3 unchanged, 0 failed"
        assert run(root, "nightly", "--verify").code == 0
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0][0].out.count("warning: ") >= 4


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("bad", ["{", '{"id": "x", "level": 9}', '"text"'])
def test_a_mistake_far_down_is_told_as_always(tmp_path: Path, spill: Spill, size: int, bad: str) -> None:
    write(tmp_path, {"prediction/own.jsonl": [*(json.dumps(q(f"q{n}")) for n in range(20)), bad]})
    expected = run(tmp_path, "-f", "own", "--save")
    spill(size)
    assert run(tmp_path, "-f", "own", "--save") == expected
    assert expected.code == 2
    assert "record 21" in expected.err
    assert contents(tmp_path) == {} if (tmp_path / "evaluation").exists() else True


def test_damage_in_a_large_result_is_seen(tmp_path: Path, spill: Spill) -> None:
    root = files(tmp_path)
    spill(7)
    assert run(root, "nightly").code == 0
    path = root / "evaluation/own.json"
    whole = path.read_bytes()
    record, checksum = store.read_stored(path)
    assert len(record["items"]) == 60
    assert checksum
    lines = whole.splitlines(keepends=True)
    for at in [*range(40), *range(len(lines) - 60, len(lines))]:
        for torn in (lines[:at], [*lines[:at], *lines[at + 1 :]], [*lines[: at + 1], *lines[at:]]):
            path.write_bytes(b"".join(torn))
            found, _ = store.read_stored(path)
            if found:  # a line twice: one key of one value
                assert json.loads(path.read_bytes()) == json.loads(whole)
                assert "".join(dump_pieces(found)) == "".join(dump_pieces(record))
    path.write_bytes(whole.replace(b'"score": 1.0', b'"score": 0.5', 1))
    assert store.read_stored(path) == ({}, "")
    assert run(root, "nightly").code == 0
    assert path.read_bytes() == whole


def test_a_new_system_is_ranked_with_large_results(tmp_path: Path, spill: Spill) -> None:
    """The stored ones are read again, from the disk to the disk."""
    boards = []
    for name in ("memory", "disk"):
        root = files(tmp_path / name)
        if name == "disk":
            spill(7)
        assert run(root, "nightly").code == 0
        write(root, {"prediction/d-c.json": {"q1": "A", "q2": "B"}})
        assert run(root, "nightly").code == 0
        boards.append(contents(root))
    assert boards[0] == boards[1]


def test_a_language_model_needs_them_in_memory(tmp_path: Path, spill: Spill) -> None:
    spill(1)
    assert (
        type(FutureXEvaluator(api_key="none", base_url="http://127.0.0.1:1").evaluate_all([q()], on_disk=True)["items"])
        is list
    )


VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
RECORDS: Final = st.dictionaries(st.text(), VALUES, min_size=1, max_size=4)


@given(RECORDS, st.lists(RECORDS | st.just({}), max_size=4), st.booleans(), st.booleans())
def test_pieces_are_the_whole(record: Record, entries: list[Record], indented: bool, ascii_only: bool) -> None:
    record["items"] = entries
    how: Any = {"indent": 1 if indented else None, "ascii_only": ascii_only}
    assert "".join(dump_pieces(record, **how)) == dump_json(record, **how)


def test_dataset_and_answers_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = files(tmp_path)
    dataset, answers = root / "dataset/d.jsonl", root / "prediction/d-a.jsonl"
    sizes = [path.stat().st_size for path in (dataset, answers)]
    for large, kind in ((sum(sizes), list), (sum(sizes) - 1, spilled.Spilled)):
        monkeypatch.setattr(spilled, "LARGE", large)
        assert type(FutureXEvaluator().evaluate_file(answers, [dataset])["items"]) is kind


def test_no_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        FutureXEvaluator().evaluate_file(tmp_path / "none.jsonl")
