"""What `common.py` promises: statistics against scipy, safe text and JSON, files that are read and written whole."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from common import (
    UNSAFE,
    BadRecord,
    EvaluationError,
    InputError,
    RecordFile,
    dump_json,
    find_dataset,
    find_file,
    mean,
    printable,
    stratified_interval,
    stratified_mean,
    t_quantile,
    t_tail,
    text_table,
    variance,
    write_atomic,
)

BOM: Final = b"\xef\xbb\xbf"
DFS: Final = (0.5, 0.7, 1.0, 1.5, 2.0, 3.3, 5.0, 10.0, 29.0, 100.0, 1e3, 1e4, 12345.6, 1e5, 1e6)
Strata = list[tuple[float, list[float]]]

# --- Student's t ---


@pytest.mark.parametrize("df", DFS)
@pytest.mark.parametrize("p", [0.501, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9999, 1 - 1e-9])
def test_t_quantile(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-7)


@pytest.mark.parametrize("df", DFS)
def test_t_quantile_of_the_middle_is_zero(df: float) -> None:
    assert t_quantile(0.5, df) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("df", DFS)
@pytest.mark.parametrize("t", [0.0, 1e-12, 1e-6, 0.01, 0.5, 1.0, 1.7, 1.96, 2.5, 6.0, 50.0, 1e6])
def test_t_tail(t: float, df: float) -> None:
    assert t_tail(t, df) == pytest.approx(2 * stats.t.sf(t, df), rel=1e-7, abs=1e-300)


@settings(deadline=None)
@given(st.floats(0.5, 1e6), st.floats(0, 30))
def test_t_tail_anywhere(df: float, t: float) -> None:
    assert t_tail(t, df) == pytest.approx(2 * stats.t.sf(t, df), rel=1e-7)


# --- Stratified mean and interval ---


def interval_by_numpy(strata: Strata) -> tuple[float, float]:
    """Welch and Satterthwaite from the textbook, with numpy and scipy."""
    used = [(weight, np.asarray(values, dtype=float)) for weight, values in strata if weight and values]
    weights = np.array([weight for weight, _ in used]) / sum(weight for weight, _ in used)
    sizes = np.array([len(values) for _, values in used])
    parts = weights**2 * np.array([values.var(ddof=1) for _, values in used]) / sizes
    df = parts.sum() ** 2 / (parts**2 / (sizes - 1)).sum()
    low, high = stats.t.interval(0.95, df, weights @ [values.mean() for _, values in used], np.sqrt(parts.sum()))
    return max(0.0, float(low)), min(1.0, float(high))


unit = st.floats(0, 1, width=16)
strata_lists = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.lists(unit, min_size=2)), min_size=1, max_size=5
)


@settings(deadline=None)
@given(strata_lists)
def test_interval_against_numpy(strata: Strata) -> None:
    assume(any(np.var(values) > 1e-12 for _, values in strata))
    assert stratified_interval(strata) == pytest.approx(interval_by_numpy(strata), rel=1e-7, abs=1e-9)


def test_interval_of_a_known_sample() -> None:
    # mean 0.5, s² = 1/3, n = 4, t(0.975, 3) = 3.18245 (printed tables): 0.5 ± 3.18245 * sqrt(1/12), clipped
    assert stratified_interval([(0.4, [0.0, 0.0, 1.0, 1.0])]) == (0.0, 1.0)
    wide = stratified_interval([(0.4, [0.0, 0.0, 1.0, 1.0])], bounds=(-9, 9))
    assert wide == pytest.approx((0.5 - 0.91869, 0.5 + 0.91869), abs=1e-5)


@pytest.mark.parametrize(
    "strata",
    [
        pytest.param([], id="no strata"),
        pytest.param([(0.1, []), (0.2, [])], id="no values"),
        pytest.param([(1.0, [0.5])], id="one value"),
        pytest.param([(0.1, [0.0, 1.0]), (0.4, [1.0])], id="one value in one stratum"),
        pytest.param([(1.0, [1.0, 1.0, 1.0])], id="no variance"),
        pytest.param([(0.1, [0.0] * 9), (0.4, [1.0] * 9)], id="no variance in any"),
        pytest.param([(0.1, [0.1] * 9), (0.3, [0.7] * 7)], id="no variance but rounding"),
        pytest.param([(0.0, [0.0, 1.0])], id="no weight"),
    ],
)
def test_no_interval(strata: Strata) -> None:
    assert stratified_interval(strata) is None


@pytest.mark.parametrize("ignored", [(0.3, []), (0.0, [0.5]), (0.0, [0.0, 1.0])], ids=repr)
def test_stratum_without_values_or_weight_counts_nothing(ignored: tuple[float, list[float]]) -> None:
    strata = [(0.1, [0.2, 0.5, 0.9]), (0.4, [0.0, 1.0, 1.0])]
    assert stratified_interval([*strata, ignored]) == stratified_interval(strata)
    assert stratified_mean([*strata, ignored]) == stratified_mean(strata)


def test_a_stratum_without_variance_still_weighs() -> None:
    strata = [(0.1, [1.0, 1.0]), (0.4, [0.4, 0.6, 0.5])]
    assert stratified_interval(strata) == pytest.approx(interval_by_numpy(strata), rel=1e-9)


@settings(deadline=None)
@given(strata_lists, st.randoms(use_true_random=False))
def test_order_changes_no_bit(strata: Strata, rng: random.Random) -> None:
    shuffled = [(weight, rng.sample(values, len(values))) for weight, values in rng.sample(strata, len(strata))]
    assert stratified_interval(shuffled) == stratified_interval(strata)
    assert stratified_mean(shuffled) == stratified_mean(strata)


@pytest.mark.parametrize(
    ("strata", "expected"),
    [
        ([(0.1, [1.0]), (0.2, []), (0.4, [0.0, 0.5])], (0.1 * 1 + 0.4 * 0.25) / 0.5),
        ([(0.3, [0.25, 0.75])], 0.5),
        ([(0.1, [1.0]), (0.2, [0.0]), (0.3, [1.0]), (0.4, [0.5])], 0.6),
    ],
)
def test_stratified_mean(strata: Strata, expected: float) -> None:
    assert stratified_mean(strata) == pytest.approx(expected, rel=1e-15)


def test_means_of_nothing_are_nan() -> None:
    assert math.isnan(mean([]))
    assert math.isnan(stratified_mean([(0.1, []), (0.2, [])]))


@settings(deadline=None)
@given(st.lists(unit, min_size=2))
def test_mean_and_variance_against_numpy(values: list[float]) -> None:
    assert mean(values) == pytest.approx(np.mean(values), rel=1e-12)
    assert variance(values) == pytest.approx(np.var(values, ddof=1), rel=1e-9, abs=1e-15)


# --- Text ---


def test_table_is_aligned_with_chinese() -> None:
    rows = [["甲乙丙", "1", "x"], ["ab", "22.5", "长名"], ["ｗ", "", "e\u0301"]]
    assert text_table(["名称", "n", "备"], rows, "<>>").splitlines() == [
        "名称       n    备",
        "甲乙丙     1     x",
        "ab      22.5  长名",
        "ｗ               e\u0301",
    ]


def test_table_without_rows_and_without_spaces_at_the_end() -> None:
    assert text_table(["a", "bb"], [], "<>") == "a  bb"
    assert text_table(["a", "b"], [["xxx", "yyy"], ["x", "y"]], "<<") == "a    b\nxxx  yyy\nx    y"


def test_table_refuses_a_row_of_another_width() -> None:
    with pytest.raises(ValueError, match="zip"):
        text_table(["a", "b"], [["only one"]], "<<")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 甲 é 😀", "plain 甲 é 😀"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\r\x00", "a\\nb\\tc\\r\\x00"),
        ("\x7f\x9b\x85", "\\x7f\\x9b\\x85"),
        ("\u202e\u2066\u2028\u200b\ufeff", "\\u202e\\u2066\\u2028\\u200b\\ufeff"),
        ("\ud800", "\\ud800"),
        (None, "None"),
        (["\x1b"], "['\\x1b']"),
    ],
)
def test_printable(text: object, shown: str) -> None:
    assert printable(text) == shown


@settings(deadline=None)
@given(st.text(st.characters(), max_size=30), st.integers(2, 20))
def test_printable_is_one_safe_line_for_any_text(text: str, limit: int) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert len((shown + "x").splitlines()) == 1
    assert not UNSAFE.search(shown)
    if len(text) > limit:
        assert printable(text, limit) == printable(text[: limit - 1]) + "…"
    else:
        assert printable(text, limit) == shown


def test_input_error_is_one_safe_line() -> None:
    error = InputError("p\n.json", "expected \x1b", "'\u202e'")
    assert str(error) == "p\\n.json: expected \\x1b, got '\\u202e'"
    assert (error.where, error.expected, error.got) == ("p\n.json", "expected \x1b", "'\u202e'")
    assert isinstance(error, EvaluationError)


# --- JSON ---


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
    assert dump_json({"b": ["\n\x85"], "a": 1}, indent=1) == '{\n "a": 1,\n "b": [\n  "\\n\\u0085"\n ]\n}'


any_text = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(["\ud800", "\x1b", "\x9b", "\u2028"]))
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(any_json, st.sampled_from([None, 1]))
def test_dump_json_round_trip(value: Any, indent: int | None) -> None:
    text = dump_json(value, indent)
    assert json.loads(text) == value
    assert not UNSAFE.search(text.replace("\n", ""))
    assert indent is not None or "\n" not in text
    text.encode("utf-8")


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


# --- Reading ---


@pytest.mark.parametrize(
    ("name", "content", "records"),
    [
        ("p.json", b'[{"id": 1}, 2]', [{"id": 1}, 2]),
        ("p.json", BOM + b"[1]", [1]),
        ("p.json", b'{"id": "x", "prediction": "A"}', [{"id": "x", "prediction": "A"}]),
        ("p.json", b'{"x": "A", "y": [1]}', [{"id": "x", "prediction": "A"}, {"id": "y", "prediction": [1]}]),
        ("p.json", b"[Infinity]", [float("inf")]),
        ("p.json", b"[" + b"7" * 5000 + b", 7]", ["7" * 5000, 7]),
        ("p.jsonl", b'{"id": 1}\n\n \n{"id": 2}', [{"id": 1}, {"id": 2}]),
        ("p.jsonl", BOM + b'{"id": 1}\r\n{"id": 2}\r\n', [{"id": 1}, {"id": 2}]),
        ("p.jsonl", '{"id": "a\u2028b\x85c"}\n7'.encode(), [{"id": "a\u2028b\x85c"}, 7]),
        ("p.jsonl", b"7" * 5000 + b"\n7\n", ["7" * 5000, 7]),
    ],
)
def test_record_file(tmp_path: Path, name: str, content: bytes, records: list[object]) -> None:
    (tmp_path / name).write_bytes(content)
    file = RecordFile(tmp_path / name)
    assert list(file) == records
    assert file.sha256 == hashlib.sha256(content).hexdigest()


def test_bad_line_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(b"1\n{]\n" + b"[" * 100_000 + b"\n4\n")
    first, broken, deep, last = RecordFile(tmp_path / "p.jsonl")
    assert (first, last) == (1, 4)
    assert isinstance(broken, BadRecord)
    assert "column 2" in broken.problem
    assert isinstance(deep, BadRecord)
    assert "nested" in deep.problem


def test_bytes_of_a_long_file_are_counted_from_its_start(tmp_path: Path) -> None:
    content = b'"a"\n' * 1000 + b'"\xff"\n'
    (tmp_path / "p.jsonl").write_bytes(content)
    with pytest.raises(InputError, match="0xff at position 4001"):
        list(RecordFile(tmp_path / "p.jsonl"))


def test_record_file_that_is_gone(tmp_path: Path) -> None:
    for name in ("p.json", "p.jsonl"):
        with pytest.raises(InputError, match="No such file"):
            list(RecordFile(tmp_path / name))


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
        ("2509-x", "2509.json"),
        ("2509150", None),
        ("25091", None),
        ("x-250915", None),
        ("模型-1", "模型.json"),
        ("notes-1", None),
    ],
)
def test_find_dataset(tmp_path: Path, stem: str, found: str | None) -> None:
    for name in ("2509.json", "250915.json", "250915-random.jsonl", "模型.json", "notes.txt", "README.md"):
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
