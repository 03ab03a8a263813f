"""`python eval.py check`: every kind of finding with its id, nothing on a clean dataset, linear in
hostile text.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import (
    EVIL,
    PROMPT,
    RAW_CONTROL,
    ROOT,
    Record,
    assert_refused,
    question,
    raw,
    run,
    strict,
    write,
)
from forecasteval.display.results import check_results
from forecasteval.display.tables import format_text
from forecasteval.futurex.check import check_dataset
from linear import assert_linear

CHOICE: Final = question("clean-choice")
PAST: Final = "Sep 16: 98\nSep 15: 100\nSep 14: 102"  # population s.d. √(8/3) = 1.633, sample 2


def quantity(name: str = "q7", **changes: Any) -> Record:
    return question(
        name, **{"level": 4, "prompt": "How many?", "ground_truth": "100", "Std": 3, **changes}
    )


def past(text: str, std: float, truth: str = "100") -> Record:
    return quantity(Std=std, ground_truth=truth, **{"additional values": text})


def kinds(*records: Any) -> list[tuple[str, str]]:
    return [(finding.kind, finding.id) for finding in check_dataset(records).findings]


YES_OR_NO: Final = r"Will it rain? End with \boxed{Yes} or \boxed{No}."
FINDINGS: Final = {
    "id twice": ([question(), CHOICE, question()], "id used more than once", 3,
        "first in record 1"),
    "id mangled": ([CHOICE, question("6.85147E+23")], "id mangled by a spreadsheet", 2, "text"),
    "id mangled, small e": ([question("6.8e+22")], "id mangled by a spreadsheet", 1, "text"),
    "a hexadecimal id with one letter": ([question("6987308956940e0068395804"), question(...)],
        "no id", 2, ""),
    "id became a number": ([question(6.85147e23)], "id mangled by a spreadsheet", 1, "text"),
    "no id": ([CHOICE, question(...)], "no id", 2, ""),
    "id null": ([question(None)], "no id", 1, ""),
    "truth is no option": ([question(ground_truth="D")], "truth not among the options", 1, "D"),
    "truth is a label where the prompt has no options": (
        [question(prompt="Succeeded or backfired?", ground_truth="['A']")],
        "truth not among the options", 1, "['A']",
    ),
    "truth is no option's text": ([question(ground_truth="Zebra")], "truth not among the options",
        1, "Zebra"),
    "neither Yes nor No": (
        [question(prompt=YES_OR_NO, ground_truth="Noo")], "truth not among the options", 1, "Noo"
    ),
    "a label for Yes or No": (
        [question(prompt=YES_OR_NO, ground_truth="A")], "truth not among the options", 1, "A"
    ),
    "one truth is no option": (
        [question(level=2, ground_truth="A, E")], "truth not among the options", 1, "E"
    ),
    "empty box": (
        [question(ground_truth=r"\boxed{}")],
        "'ground_truth' must state an answer",
        1,
        "boxed",
    ),
    "empty list": ([quantity(ground_truth=[])], "'ground_truth' must state an answer", 1, "[]"),
    "void": ([question(void="maybe")], "'void' must be true or false", 1, "maybe"),
    "truth an object": (
        [quantity(ground_truth={"a": 1})],
        "'ground_truth' must be text, a number or a list",
        1,
        "a",
    ),
    "no Std": ([quantity(Std=None)], "numeric truth without Std", 1, "100"),
    "Std left out": ([quantity(Std=...)], "numeric truth without Std", 1, "100"),
    "Std 0": ([quantity(Std=0)], "Std is 0", 1, "100"),
    "Std negative": ([quantity(Std=-1)], "'Std' must be a number >= 0 or null", 1, "-1"),
    "Std words": ([quantity(Std="wide")], "'Std' must be a number >= 0 or null", 1, "wide"),
    "Std NaN": ([quantity(Std=math.nan)], "'Std' must be a number >= 0 or null", 1, "nan"),
    "Std of names": ([quantity(ground_truth="Red, Green")], "Std for a truth that is not a number",
        1, "3"),
    "Std too large": ([past(PAST, 3)], "Std differs from the past values", 1, "1.63299"),
    "Std of the sample": ([past(PAST, 2.0)], "Std differs from the past values", 1, "3 days"),
    "level 5": ([question(level=5)], "'level' must be 1–4", 1, "5"),
    "level 0": ([question(level=0)], "'level' must be 1–4", 1, "0"),
    "no level": ([question(level=...)], "'level' must be 1–4", 1, "None"),
    "record is text": ([CHOICE, "text"], "no object", 2, "str"),
}  # fmt: skip


@pytest.mark.parametrize(("records", "kind", "record", "detail"), FINDINGS.values(), ids=FINDINGS)
def test_finding(records: list[Any], kind: str, record: int, detail: str) -> None:
    found = [finding for finding in check_dataset(records).findings if finding.kind == kind]
    assert len(found) == 1, check_dataset(records).findings
    assert found == check_dataset(records).findings  # and nothing else
    assert found[0].record == record
    at = records[record - 1]
    assert found[0].id == (
        str(at["id"]) if isinstance(at, dict) and at.get("id") is not None else ""
    )
    assert detail in found[0].detail


def test_clean_dataset() -> None:
    records = [
        CHOICE,
        question("yes", prompt="Will it rain?", ground_truth="Yes"),
        question("two", level=2, ground_truth="['A', 'C']"),
        question(
            "68e5295d2d3154645636b860",
            level=3,
            prompt="Which are first?",
            ground_truth="Red Kite, 银狐",
        ),
        {**past(PAST, 1.633), "id": "number"},
        quantity("percent", ground_truth="27.36%"),
        quantity(7),
    ]
    assert check_dataset(records).findings == []


def test_a_truth_under_another_name() -> None:
    (found,) = check_dataset([{**question(ground_truth=...), "outcome": "A"}]).findings
    assert found.kind == "no 'ground_truth' in any record"
    assert "'outcome'" in found.detail


def test_own_samples_have_no_mistake_but_one_that_the_benchmark_has_too() -> None:
    done = run(ROOT, "check", "250915", "--json")
    found = strict(done.out)
    assert (done.code, done.err, found["count"]) == (4, "", 52)
    assert {finding["kind"] for finding in found["findings"]} == {"numeric truth without Std"}


# --- Past values ---

FORMS: Final = {
    "month and day": ("Sep 16: 98\nSep 15: 102", 2),
    "with words behind": ("Sep 16: 90.692 …\nSep 15: 94.692 …", 2),
    "slashes": ("9/17/25: 94.05 dollar\n9/16/25: 98.05 dollar", 2),
    "ISO": ("2025-09-17: 98\n2025-09-16: 102", 2),
    "dots": ("17.09.2025: 98\n16.09.2025: 102", 2),
    "Chinese": ("9月17日：98\n9月16日：102", 2),
    "Chinese with year": ("2025年9月17日：98\n2025年9月16日：102", 2),
    "year behind": ("Sep 17, 2025: 98\nSep 16, 2025: 102", 2),
    "long month": ("September 17: 98\nSeptember 16: 102", 2),
    "month with a dot": ("Sept. 17: 98\nSept. 16: 102", 2),
    "quoted": ('"Sep 16: 98\nSep 15: 102"', 2),
    "blank lines": ("\n Sep 16: 98\n\n  Sep 15: 102\n", 2),
    "spaces": ("Sep 16 : 98\nSep 15 :102", 2),
    "Windows": ("Sep 16: 98\r\nSep 15: 102\r\n", 2),
    "text between": ("Closing values:\nSep 16: 98\n(holiday)\nSep 15: 102\nSource: exchange", 2),
    "one value is none": ("Sep 16: 98\nSep 15: –\nSep 14: 102", 2),
    "grouping": ("Sep 16: 1,098\nSep 15: 1,102", 2),
}


@pytest.mark.parametrize(("text", "deviation"), FORMS.values(), ids=FORMS)
def test_past_values_are_read(text: str, deviation: float) -> None:
    """The right Std is no finding, and a wrong one is: so the values were read."""
    assert kinds(past(text, deviation)) == []
    assert kinds(past(text, deviation * 1.5)) == [("Std differs from the past values", "q7")]


def test_past_values_in_the_unit_of_the_truth() -> None:
    text = "Sep 16: 31.5亿元\nSep 15: 29.5亿元"
    assert kinds(past(text, 1, truth="30亿元")) == []
    assert kinds(past(text, 100_000_000, truth="30亿元")) == [
        ("Std differs from the past values", "q7")
    ]


@given(st.lists(st.integers(-10_000, 10_000), min_size=2, max_size=12))
@settings(max_examples=60)
def test_population_deviation_against_numpy(values: list[int]) -> None:
    text = "\n".join(f"9/{day}/25: {value / 8} dollar" for day, value in enumerate(values, 1))
    deviation = float(np.std(np.array(values) / 8))
    if deviation:
        assert kinds(past(text, deviation, truth="100 dollar")) == []
        assert kinds(past(text, deviation * 1.05 + 0.1, truth="100 dollar")) == [
            ("Std differs from the past values", "q7")
        ]


@pytest.mark.parametrize(
    ("std", "clean"), [(1.63, True), (1.6, True), (1.66, True), (1.7, False), (1.59, False)]
)
def test_rounding_and_two_percent(std: float, clean: bool) -> None:
    assert (kinds(past(PAST, std)) == []) == clean


@pytest.mark.parametrize(("std", "clean"), [(2e-7, True), (3e-7, False), (1e-7, False)])
def test_tiny_std(std: float, clean: bool) -> None:
    text = "Sep 16: 0.0000008\nSep 15: 0.0000012"
    assert (kinds(past(text, std, truth="0.000001")) == []) == clean


@pytest.mark.parametrize(
    "text", ["", "no dates", "Sep 16: 98", "Sep 16: none\nSep 15: –", 17, ["Sep 16: 3"], None]
)
def test_nothing_to_compare_with(text: object) -> None:
    assert kinds(quantity(**{"additional values": text})) == []


# --- The command line ---


def test_check_prints_ids_and_exits_with_4(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "dataset/d.json": [
                question("good"),
                question("bad", ground_truth="D"),
                quantity("num", Std=0),
            ]
        },
    )
    done = run(tmp_path, "check", "d")
    assert (done.code, done.err) == (4, "")
    assert "3 records, 2 findings" in done.out
    assert [line.split() for line in done.out.splitlines() if line.startswith("  ")][1:] == [
        ["bad", "record", "2", "D"], ["Id", "Record", "Detail"], ["num", "record", "3", "100"],
    ]  # fmt: skip
    as_json = run(tmp_path, "check", "d", "--json")
    assert as_json.code == 4
    value = strict(as_json.out)
    assert (value["dataset"], value["count"], len(value["dataset_sha256"])) == ("d.json", 3, 64)
    assert [(f["kind"], f["id"], f["record"]) for f in value["findings"]] == [
        ("truth not among the options", "bad", 2), ("Std is 0", "num", 3),
    ]  # fmt: skip
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["d.json", "dataset"]


@pytest.mark.parametrize("name", ["d", "d.jsonl", "./dataset/d.jsonl"])
def test_clean_check_exits_with_0(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"dataset/d.jsonl": [question()]})
    done = run(tmp_path, "check", name, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "1 record, 0 findings" in done.out


def test_lines_and_keys_that_cannot_be_used(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.jsonl": [question("q1"), '{"id": ', question("q2")]})
    found = strict(run(tmp_path, "check", "d", "--json").out)["findings"]
    assert [(f["kind"], f["record"]) for f in found] == [("no object", 2)]
    assert "not JSON" in found[0]["detail"]
    write(tmp_path, {"dataset/e.json": raw(level='4, "level": 3', Std="2")})
    found = strict(run(tmp_path, "check", "e", "--json").out)["findings"]
    assert [(f["kind"], f["id"]) for f in found] == [
        ("key given twice with different values", "q7")
    ]
    assert found[0]["detail"] == "level"


def test_check_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": "{", "dataset/e.json": "", "dataset/none.json": []})
    assert_refused(run(tmp_path, "check", "none"), "none.json", "expected records, got none")
    assert_refused(run(tmp_path, "check", "d"), "d.json", "not JSON")
    assert_refused(run(tmp_path, "check", "e"), "e.json", "empty")
    assert_refused(run(tmp_path, "check", "dd"), "no such file", "d.json")


# --- Hostile datasets ---


def test_hostile_texts_reach_no_screen_raw(tmp_path: Path) -> None:
    records = [
        question(EVIL), question(EVIL), question("a", ground_truth=EVIL), question("b", level=EVIL),
        quantity("c", Std=EVIL), question("d", end_time=EVIL),
        quantity("e", **{"additional values": EVIL}),
        question("f", prompt=EVIL + PROMPT, ground_truth="Z" + EVIL),
        question("g", end_time="2025-09-15"), EVIL,
    ]  # fmt: skip
    twice = '{"id": "h", "\\u001b[2J": 1, "\\u001b[2J": 2}'
    write(tmp_path, {"dataset/d.jsonl": [*records, twice]})
    for option in ([], ["--json"]):
        done = run(tmp_path, "check", "d", *option)
        assert (done.code, done.err) == (4, "")
        assert not RAW_CONTROL.search(done.out)


SEEDS: Final = [
    "\n",
    '"',
    " ",
    "\t",
    "Sep 16",
    "Sep 16\n",
    "Sep 16: ",
    "9/",
    "9月",
    "Sep 16: 9\n",
    ": ",
    "9",
    "9 ",
    "\n9",
    "A",
    "2025年",
    "Sep 16,",
    "Sep 16 \n",
]


@pytest.mark.parametrize("piece", SEEDS)
def test_huge_past_values_take_linear_time(piece: str) -> None:
    def make(size: int, attempt: int) -> Callable[[], object]:
        records = [past(f"{attempt} " + piece * (size // len(piece)), 2)]
        return lambda: check_dataset(records)

    assert_linear(make, 2_000)


def test_many_forms_of_dates_take_linear_time() -> None:
    def make(
        size: int, attempt: int
    ) -> Callable[[], object]:  # every end_time in a form of its own
        forms = (
            "".join("-./:"[n >> shift & 3] + "1" for shift in range(0, 16, 2)) for n in range(size)
        )
        records = [question(str(n), end_time=form) for n, form in enumerate(forms)]
        return lambda: check_dataset(records)

    assert_linear(make, 2_000)


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.text(max_size=5),
            st.fixed_dictionaries(
                {},
                optional={
                    key: st.one_of(
                        st.none(),
                        st.booleans(),
                        st.integers(),
                        st.floats(),
                        st.text(max_size=20),
                        st.just(PAST),
                        st.lists(st.text(max_size=3), max_size=2),
                        st.dictionaries(st.text(max_size=2), st.none()),
                    )
                    for key in (
                        "id",
                        "prompt",
                        "level",
                        "ground_truth",
                        "Std",
                        "end_time",
                        "additional values",
                    )
                },
            ),
        ),
        max_size=4,
    )
)
@settings(max_examples=200)
def test_no_dataset_raises(records: list[Any]) -> None:
    check = check_dataset(records)
    results = check_results(Path("d.json"), "", max(check.records, 1), check.findings, check.notes)
    assert not RAW_CONTROL.search(format_text(results.report()))


def test_order_of_the_questions_changes_no_kind() -> None:
    records = [record for case in FINDINGS.values() for record in case[0]]
    records = [
        {**record, "id": f"q{n}"} for n, record in enumerate(records) if isinstance(record, dict)
    ]
    shuffled = random.Random(1).sample(records, len(records))
    assert sorted(kinds(*records)) == sorted(kinds(*shuffled))


def test_yes_and_no_are_the_options_of_their_boxes() -> None:
    assert kinds(question(prompt=YES_OR_NO, ground_truth="No")) == []
