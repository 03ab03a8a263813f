"""Files, records and answers that are bad: the documented exit code and one line, or a warning,
never a traceback.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from cli import (
    BOM,
    RAW_CONTROL,
    ROOT,
    assert_refused,
    box,
    item,
    number,
    q,
    question,
    raw,
    run,
    run_process,
    warning,
    write,
)
from eval import FutureXEvaluator
from forecasteval.common.errors import InputError
from forecasteval.rxnopt.replies import parse_reply

HUGE: Final = "9" * 5000  # more digits than int() converts


# --- Files that cannot be read ---


def test_a_pipe_as_dataset_is_refused(tmp_path: Path) -> None:
    """Who opens it to see what it holds waits for ever: in a process, which can be ended."""
    write(tmp_path, {"prediction/d-x.json": {"q7": "A"}, "dataset/other.json": [question()]})
    os.mkfifo(tmp_path / "dataset/d.json")
    assert_refused(run_process(tmp_path, "-f", "d-x"), "d.json", "a pipe or device")


LATIN: Final = json.dumps([q("café")], ensure_ascii=False)
AT: Final = LATIN.index("é")


UNREADABLE: Final = {
    "not JSON": ("p.json", '[{"id": 1},\n {"id" 2}]', "p.json", "line 2", "column 8"),
    "torn": ("p.json", json.dumps([q()])[:-1], "p.json", "line 1", "column"),
    "extra data": ("p.json", json.dumps([q()]) + "]", "line 1", "Extra data"),
    "empty": ("p.json", b"", "p.json", "empty"),
    "blank": ("p.json", b" \n\n", "p.json", "empty"),
    "byte order mark only": ("p.json", BOM, "p.json", "empty"),
    "empty JSONL": ("p.jsonl", b"", "p.jsonl", "empty"),
    "blank JSONL": ("p.jsonl", b"\n \n", "p.jsonl", "empty"),
    "byte order mark only, JSONL": ("p.jsonl", BOM, "p.jsonl", "empty"),
    "no records": ("p.json", b"[]", "p.json", "question"),
    "no records in an object": ("p.json", b"{}", "p.json", "question"),
    "latin-1, BOM": ("p.json", BOM + LATIN.encode("latin-1"), "0xe9", f"position {AT + 3}"),
    "latin-1 JSONL, BOM": (
        "p.jsonl", BOM + LATIN[1:-1].encode("latin-1"), "0xe9", f"position {AT + 2}",
    ),
    "CSV": ("p.json", b"id,answer\n1,A\n", "not JSON", "a table (CSV)"),
    "HTML": ("p.json", b"<!DOCTYPE html><p>404", "not JSON", "a web page (HTML)"),
    "top level number": ("p.json", b"17", "p.json", "list", "object", "got int"),
    "top level text": ("p.json", b'"q7"', "p.json", "list", "object", "got str"),
    "top level null": ("p.json", b"null", "p.json", "list", "object", "got"),
    "top level NaN": ("p.json", b"NaN", "p.json", "list", "object", "got"),
    "deep list": ("p.json", b"[" * 100_000, "p.json", "nested too deeply"),
    "deep object": ("p.json", b'{"a":' * 100_000, "p.json", "nested too deeply"),
    "deep answer": ("p.json", raw(answer="[" * 10**5 + "]" * 10**5), "nested too deeply"),
    "deep line": ("p.jsonl", [q(), "[" * 100_000], "record 2", "nested too deeply"),
    "torn line": ("p.jsonl", [q(), '{"id": "q8", '], "record 2", "not JSON", "column"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_file(tmp_path: Path, case: tuple[Any, ...]) -> None:
    name, content, *words = case
    assert_refused(run(write(tmp_path, {f"prediction/{name}": content}), "-f", "p"), *words)


def test_unreadable_dataset_is_the_file_that_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": "[{]", "prediction/d-x.json": {"q7": "A"}})
    assert_refused(run(tmp_path, "-f", "d-x"), "d.json", "line 1 column 3")


# --- Records that cannot be scored ---

LEVELS_REFUSED: Final = [5, 0, 2.5, True, "five", None, ..., [1]]
STDS_REFUSED: Final = [-0.5, "-1", "NaN", "wide", True, [3]]
RAW_REFUSED: Final = {
    "Std NaN": ("Std", raw(Std="NaN"), "nan"),
    "Std Infinity": ("Std", raw(Std="Infinity"), "inf"),
    "Std overflows": ("Std", raw(Std="1e999"), "inf"),
    "Std of 5,000 digits": ("Std", raw(Std=HUGE), "9"),
    "level NaN": ("level", raw(level="NaN"), "nan"),
    "level of 5,000 digits": ("level", raw(level=HUGE), "9"),
    "id twice": ("id", raw(id='"q8", "id": "q7"'), "twice"),
    "level twice": ("level", raw(level='4, "level": 3'), "twice"),
    "prompt twice": ("prompt", raw(prompt='"x", "prompt": "y"'), "twice"),
    "truth twice": ("ground_truth", raw(ground_truth='"1", "ground_truth": "2"'), "twice"),
    "Std twice": ("Std", raw(Std='1, "Std": 2'), "twice"),
}


@pytest.mark.parametrize(
    ("level", "in_dataset"), [(9, True), *((level, False) for level in LEVELS_REFUSED)]
)
def test_refused_level(tmp_path: Path, level: object, in_dataset: bool) -> None:
    got = "None" if level is ... else repr(level)
    words = ["record 2", "q7", "'level'", "1–4", f"got {got}"]
    if in_dataset:
        write(tmp_path, {"dataset/p.json": [question("q1"), question(level=level)]})
    write(tmp_path, {"prediction/p.json": {"q1": "A"} if in_dataset else [q("q1"), q(level=level)]})
    assert_refused(
        run(tmp_path, "-f", "p"), "dataset/p.json" if in_dataset else "prediction/p.json", *words
    )


@pytest.mark.parametrize("std", STDS_REFUSED)
def test_refused_std(tmp_path: Path, std: object) -> None:
    write(tmp_path, {"prediction/p.json": [q("q1"), number(Std=std)]})
    assert_refused(
        run(tmp_path, "-f", "p"), "p.json", "record 2", "q7", "'Std'", "number", f"got {std!r}"
    )


@pytest.mark.parametrize(
    ("truth", "level"), [(r"\boxed{}", 1), ([], 4), ({}, 1), (True, 4), ("[]", 1)]
)
def test_refused_truth(tmp_path: Path, truth: object, level: int) -> None:
    write(tmp_path, {"prediction/p.json": [q("q1"), q(level=level, ground_truth=truth)]})
    assert_refused(run(tmp_path, "-f", "p"), "p.json", "record 2", "q7", "'ground_truth'", "got ")


@pytest.mark.parametrize(("field", "content", "got"), RAW_REFUSED.values(), ids=RAW_REFUSED)
def test_refused_raw_json(tmp_path: Path, field: str, content: str, got: str) -> None:
    done = run(write(tmp_path, {"prediction/p.json": content}), "-f", "p")
    assert_refused(done, "p.json", "record 2", "q7", f"'{field}'")
    assert got in done.err.lower()


@pytest.mark.parametrize("record", [7, "text", None, ["q7", "A"], True])
def test_record_that_is_no_object(tmp_path: Path, record: object) -> None:
    write(tmp_path, {"prediction/p.json": [q(), record]})
    words = ["p.json", "record 2", "object", f"got {type(record).__name__}"]
    assert_refused(run(tmp_path, "-f", "p"), *words)
    write(tmp_path, {"dataset/p.json": [question(), record]})
    assert_refused(run(tmp_path, "-f", "p"), "dataset/p.json", *words[1:])


@pytest.mark.parametrize(
    "record", [7, None, ["A"], {"prediction": "A"}, {"id": None, "prediction": "A"}]
)
def test_bad_prediction_row_never_fails_the_dataset(tmp_path: Path, record: object) -> None:
    questions = [question("q1"), question("q7")]
    write(
        tmp_path,
        {
            "dataset/p.json": questions,
            "prediction/p.json": [{"id": "q1", "prediction": "A"}, record],
        },
    )
    results = run(tmp_path, "-f", "p", "--json").json
    assert (item(results, "q1")["score"], item(results, "q7")["outcome"]) == (1.0, "missing")
    assert "record 2" in warning(results, "prediction", "not used")


def test_record_without_id_is_named_and_scored(tmp_path: Path) -> None:
    results = run(write(tmp_path, {"prediction/p.json": [q(), q(...)]}), "-f", "p", "--json").json
    assert results["overall_score"] == 1.0
    assert results["level_counts"]["1"] == 2
    assert "record 2" in warning(results, "without id")


@pytest.mark.parametrize("level", ["4", 4.0, 4])
def test_accepted_level(tmp_path: Path, level: object) -> None:
    results = run(
        write(tmp_path, {"prediction/p.json": [number(level=level)]}), "-f", "p", "--json"
    ).json
    assert results["level_counts"] == {"1": 0, "2": 0, "3": 0, "4": 1}
    assert results["level_scores"] == {"1": None, "2": None, "3": None, "4": 1.0}
    assert results["overall_score"] == 1.0


@pytest.mark.parametrize(
    ("std", "score"), [("4", 0.75), (4, 0.75), (4.0, 0.75), (0, 0.0), (None, 0.0)]
)
def test_accepted_std(tmp_path: Path, std: object, score: float) -> None:
    write(tmp_path, {"prediction/p.json": [number(Std=std, answer="102")]})
    assert run(tmp_path, "-f", "p", "--json").json["overall_score"] == pytest.approx(score)


@pytest.mark.parametrize(
    "encode", [lambda text: BOM + text, lambda text: text.replace(b"\n", b"\r\n")]
)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_windows_files_are_read(
    tmp_path: Path, encode: Callable[[bytes], bytes], suffix: str
) -> None:
    text = "\n".join(
        json.dumps(q(name), ensure_ascii=False) + ("," * (suffix == "json"))
        for name in ("甲", "乙")
    )
    content = encode((f"[{text[:-1]}]\n" if suffix == "json" else text + "\n").encode())
    results = run(write(tmp_path, {f"prediction/p.{suffix}": content}), "-f", "p", "--json").json
    assert [entry["id"] for entry in results["items"]] == ["甲", "乙"]


# --- Answers that cannot be read ---

NEVER_FAILS: Final = {
    "5,000 digits": HUGE,
    "4,299 digits": "9" * 4299,
    "5,000 digits as text": f'"{HUGE}"',
    "5,000 digits in a list": f"[{HUGE}, 3]",
    "exponent": "1e999",
    "huge exponent as text": r'"\\boxed{1e99999}"',
    "huge power": r'"\\boxed{10^999999999}"',
    "NaN": "NaN",
    "-Infinity": "-Infinity",
    "bool": "true",
    "object": '{"answer": {"value": 1}}',
    "object twice": '{"a": 1, "a": 2}',
    "empty list": "[]",
    "list of null": "[null, null]",
    "lone surrogate": r'"\\boxed{\ud800}"',
    "NUL": r'"\\boxed{\u0000}"',
    "only braces": '"' + "{" * 100_000 + '"',
    "open brackets": '"' + r"\\boxed{" + "[" * 100_000 + '"',
}


def file_with_answers(answer: str) -> str:
    """A good answer, and three questions of other kinds with this one as raw JSON."""
    names = number("q3", level=3, ground_truth="Red, Green", answer="@")
    records = [q("q1"), q("q2", level=2, answer="@"), names, number("q4", answer="@")]
    return json.dumps(records).replace('"@"', answer)


@pytest.mark.parametrize("answer", NEVER_FAILS.values(), ids=NEVER_FAILS)
def test_bad_answer_never_fails_the_file(tmp_path: Path, answer: str) -> None:
    write(tmp_path, {"prediction/p.json": file_with_answers(answer)})
    done = run(tmp_path, "-f", "p", "--items", "--save")
    assert (done.code, done.err) == (0, "")
    results = json.loads(
        (tmp_path / "evaluation" / "p.json").read_text("utf-8"), parse_constant=pytest.fail
    )
    assert [entry["score"] for entry in results["items"]] == [1.0, 0.0, 0.0, 0.0]


def test_nested_answers_never_fail_the_file(tmp_path: Path) -> None:
    """In a process of its own: how deep Python may still go when answers are read, and when they
    are written.
    """
    brackets = (("[", "", "]"), ('{"a":', "1", "}"))
    answers = [
        before * depth + within + after * depth
        for depth in (100, 300, 480, 900, 970)
        for before, within, after in brackets
    ]
    records = [
        json.dumps(q("q1")),
        *(raw_record(f"n{number}", answer) for number, answer in enumerate(answers)),
    ]
    write(tmp_path, {"prediction/p.json": f"[{', '.join(records)}]"})
    done = run_process(tmp_path, "-f", "p", "--items", "--save")
    assert (done.code, done.err) == (0, "")
    results = json.loads(
        (tmp_path / "evaluation" / "p.json").read_text("utf-8"), parse_constant=pytest.fail
    )
    assert [entry["score"] for entry in results["items"]] == [1.0] + [0.0] * len(answers)


def raw_record(name: str, answer: str) -> str:
    """A number whose answer is this raw JSON."""
    return json.dumps(number(name, answer="@")).replace('"@"', answer)


@pytest.mark.parametrize("piece", [r"\boxed{", r"\boxed{}", "1,", "A ", "$", "("])
def test_answer_of_a_megabyte(tmp_path: Path, piece: str) -> None:
    answer = piece * (1_000_000 // len(piece))
    results = run(
        write(tmp_path, {"prediction/p.json": [q("q1"), number(answer=answer)]}),
        "-f",
        "p",
        "--json",
    ).json
    assert item(results, "q7")["outcome"] in ("missing", "unparsed")
    assert item(results, "q1")["score"] == 1.0
    assert len(item(results, "q7")["answer"]) <= 500


@pytest.mark.parametrize("form", ["own", "rows", "map"])
def test_answer_given_twice_is_unparsed(tmp_path: Path, form: str) -> None:
    write(tmp_path, {"prediction/own.json": raw(answer='"100", "answer": "99"')})
    for name, content in {
        "rows": (
            '[{"id": "q1", "prediction": "A"}, {"id": "q7", "prediction": "100", "prediction":'
            ' "99"}]'
        ),
        "map": '{"q1": "A", "q7": "100", "q7": "99"}',
    }.items():
        dataset = [question("q1"), number(answer=...)]
        write(tmp_path, {f"prediction/{name}.json": content, f"dataset/{name}.json": dataset})
    results = run(tmp_path, "-f", form, "--json").json
    assert (item(results, "q7")["outcome"], item(results, "q1")["score"]) == ("unparsed", 1.0)
    assert results["unparsed_count"] == 1
    assert "q7" in warning(results, "twice")


def test_same_key_twice_with_one_value_is_no_conflict(tmp_path: Path) -> None:
    write(
        tmp_path, {"prediction/p.json": raw(answer='"100", "answer": "100"', level='4, "level": 4')}
    )
    assert item(run(tmp_path, "-f", "p", "--json").json, "q7")["score"] == 1.0


def test_ids_used_twice_both_count_and_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q("q7"), q("q7", answer="B"), q("q8")]})
    results = run(tmp_path, "-f", "p", "--json").json
    assert results["level_counts"]["1"] == 3
    assert results["overall_score"] == pytest.approx(2 / 3)
    assert "q7" in warning(results, "more than once")
    assert "q8" not in warning(results, "more than once")


@pytest.mark.parametrize("field", ["id", "prompt", "ground_truth", "answer"])
def test_lone_surrogates(tmp_path: Path, field: str) -> None:
    record = q(**{field: "\ud800"}, level=3) if field != "id" else q("\ud800")
    root = write(tmp_path, {"prediction/p.json": [q("q1"), record]})
    assert len(run(root, "-f", "p", "--json", "--save").json["items"]) == 2
    assert not RAW_CONTROL.search(run(root, "-f", "p", "--items").out)


# --- What Python itself says no to ---


@pytest.mark.parametrize("form", [int, lambda n: -n, lambda n: [n], lambda n: {"a": n}])
def test_integers_of_thousands_of_digits(form: Callable[[int], object]) -> None:
    """As in JSON, where they are text."""
    answer = form(10**5000)
    scored = FutureXEvaluator().evaluate_prediction(answer, number())
    assert scored == 0.0
    with pytest.raises(InputError, match="a number of too many digits"):
        FutureXEvaluator().evaluate_prediction("5", number(ground_truth=10**5000))
    assert parse_reply(answer)[0] is None


@pytest.mark.parametrize("answer", ["[1or 2]", box("[30if]"), "[0x1for]", box("['a', 1or 2]")])
def test_python_says_nothing_of_an_answer(
    tmp_path: Path, answer: str, recwarn: pytest.WarningsRecorder
) -> None:
    rows = [q(answer=answer), number("n", answer=answer)]
    done = run(write(tmp_path, {"prediction/p.json": rows}), "-f", "p")
    assert (done.code, done.err, [*recwarn]) == (0, "", [])


def test_memory_is_an_error_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"prediction/a.json": [q()], "prediction/b.json": [q()]})
    evaluate = FutureXEvaluator.evaluate_files

    def fail(self: FutureXEvaluator, files: Any) -> Any:
        if files.name == "a":
            raise MemoryError
        return evaluate(self, files)

    monkeypatch.setattr(FutureXEvaluator, "evaluate_files", fail)
    for command in (["-f", "a", "-f", "b"], ["nightly", "--jobs", "1"]):
        done = run(tmp_path, *command)
        assert done.code in (2, 3)
        assert "a.json: not enough memory" in done.err
        assert "1.0000" in done.out


def test_an_option_of_another_benchmark_names_its_own_once() -> None:
    done = run(ROOT, "-f", "prophet-sample", "--rules", "paper")
    assert_refused(done, "--rules: needs a file of FutureX, got Prophet Arena")
