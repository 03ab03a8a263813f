"""`check` of predictions: what becomes of each answer, before any truth is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from cli import EVIL, assert_refused, number, q, question, run, strict, write

QUESTIONS: Final = [question("a"), question("b"), number("c", Std=3, answer=...), question("d")]
PENDING: Final = [
    {key: value for key, value in row.items() if key != "ground_truth"} for row in QUESTIONS
]
ANSWERS: Final = [
    {"id": "a", "prediction": "A", "ground_truth": "C"},
    {"id": "b", "prediction": "A"},
    {"id": "b", "prediction": "B"},
    {"id": "c", "prediction": r"\boxed{many}"},
    {"id": "e", "prediction": "A"},
]
PROBLEMS: Final = [
    {"problem_id": "p", "options": ["x", "y"], "end_date": "2026-01-02T00:00:00Z"},
    {"problem_id": "r", "options": ["x", "y"], "exclusive": False},
]
PICK: Final = {"id": "t_q1", "question_type": "single_varying", "options": ["x", "y", "z"]}
META: Final = {
    "yields": [1, 2, 4],
    "effective_scores": [1, 2, 4],
    "option_relative_scores": [0.25, 0.5, 1],
}


def states(root: Path, *words: str) -> list[tuple[str, str, str]]:
    done = run(root, "check", *words, "--json")
    findings = strict(done.out)["findings"]
    assert done.code == (4 if findings else 0), done
    return [(finding["kind"], finding["id"], finding["state"]) for finding in findings]


def test_a_choice_is_told_why_it_is_not_read(tmp_path: Path) -> None:
    """Not that it is no list of names: a question without options may be one of Yes and No."""
    asked = {"id": "a", "level": 1, "prompt": "Will it rain?"}
    answer = {"id": "a", "answer": "It would rain if the wind turned, which is not sure"}
    write(tmp_path, {"dataset/w.json": [asked], "prediction/w-x.json": [answer]})
    assert "single choice  no box, and not only options\n" in run(tmp_path, "check", "w-x").out


def test_answers(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/w.json": PENDING, "prediction/w-x.json": ANSWERS})
    assert run(tmp_path, "check", "w-x").out == (
        "Submission check  w-x.json, w.json\n"
        "–: 1 unknown\n"
        "number: 1 not read\n"
        "single choice: 1 read, 1 given twice, 1 missing\n\n"
        "given twice: 1\n  Id  Kind           Detail\n  b   single choice\n\n"
        "missing: 1\n  Id  Kind           Detail\n  d   single choice\n\n"
        "not read: 1\n  Id  Kind    Detail\n  c   number  no number\n\n"
        "unknown: 1\n  Id  Kind  Detail\n  e         prediction without a question, not used\n"
    )


TRUTHS: Final = "id,ground_truth,Std,void\na,A,,\nb,B,,true\nc,many,,\nd,C,2,\n"
EVENT: Final = {"correct_option_idx": 1}
FORECASTS: Final = [
    {"username": "m", "problem_id": name, "prediction": [0.6, 0.6]} for name in "pr"
]


@pytest.mark.parametrize(
    ("before", "after", "prediction"),
    [
        ({"dataset/w.json": PENDING}, {"dataset/w.json": QUESTIONS}, ANSWERS),
        ({"dataset/w.json": PENDING}, {"dataset/w.truths.csv": TRUTHS}, ANSWERS),
        (
            {"dataset/w.json": PROBLEMS},
            {"dataset/w.json": [{**problem, **EVENT} for problem in PROBLEMS]},
            FORECASTS,
        ),
        (
            {"dataset/w.json": [{**PICK, "meta": {}}]},
            {"dataset/w.json": [{**PICK, "meta": META, "answer": [2]}]},
            {"t_q1": "2", "t_q2": 1},
        ),
    ],
    ids=["FutureX", "FutureX, truths beside", "Prophet", "RxnOptBench"],
)
def test_no_truth_is_looked_at(tmp_path: Path, before: Any, after: Any, prediction: Any) -> None:
    """Else the check would tell a contributor what is true."""
    write(tmp_path, {**before, "prediction/w-x.json": prediction})
    first = [run(tmp_path, "check", "w-x", *words) for words in ([], ["--json"])]
    write(tmp_path, after)
    assert [run(tmp_path, "check", "w-x", *words) for words in ([], ["--json"])] == first
    assert first[0].code == 4


def test_a_whole_submission_passes(tmp_path: Path) -> None:
    answers = dict.fromkeys("abd", "B") | {"c": 3}
    write(tmp_path, {"dataset/w.json": PENDING, "runs/y.json": answers})
    done = run(tmp_path, "check", str(tmp_path / "runs/y.json"), "--dataset", "w")
    assert (done.code, done.out[-15:]) == (0, "\nnothing found\n")


def test_closing_times_are_no_truths(tmp_path: Path) -> None:
    """Of a dataset that was published before any truth: no record has that key."""
    rows = [{**row, "closes": "2999-01-01"} for row in PENDING]
    write(tmp_path, {"dataset/w.json": rows, "prediction/w-x.json": {"a": "A"}})
    assert run(tmp_path, "check", "w").code == 0
    night = run(tmp_path, "nightly")
    assert (night.code, "w.json: no truth yet, 1 file waits" in night.out) == (0, True)


def test_answers_with_their_questions(tmp_path: Path) -> None:
    row = {**PENDING[0], "answer": "none of them", "ground_truth": None}
    write(tmp_path, {"prediction/x.json": [row]})
    assert states(tmp_path, "x") == [("single choice", "a", "not read")]


def test_records_that_are_no_answers(tmp_path: Path) -> None:
    answers = ['{"id": "a", "answer": "A"}', '{"id": "b"}', "{", '{"answer": "B"}']
    write(tmp_path, {"dataset/w.json": PENDING[:2], "prediction/w-x.jsonl": answers})
    assert states(tmp_path, "w-x") == [
        ("single choice", "b", "missing"),
        ("", "record 3", "unknown"),
        ("", "record 4", "unknown"),
    ]


def test_fields_that_differ_are_a_line_and_no_finding(tmp_path: Path) -> None:
    """The dataset's count; what a file says of the truth is not compared."""
    answers = [
        {
            **row,
            "answer": "3" if row["Std"] else "A",
            "prompt": f"{row['prompt']}?",
            "ground_truth": "D",
            "Std": 7,
        }
        for row in QUESTIONS
    ]
    write(tmp_path, {"dataset/w.json": QUESTIONS, "prediction/w-x.json": answers})
    assert states(tmp_path, "w-x") == []
    out = run(tmp_path, "check", "w-x").out
    line = "other values than the dataset's, which count: prompt 4 (a, b, c, d); Std 4 (a, b, c, d)"
    assert out.splitlines()[-3:] == [line, "", "nothing found"]


def test_forecasts(tmp_path: Path) -> None:
    early = "2026-01-01T00:00:00Z"
    given: list[tuple[str, str, object, str]] = [
        ("m", "p", [0.6, 0.6], early),
        ("m", "r", [0.6, 0.6], early),  # not exclusive: any sum is right
        ("n", "p", [0.6, 1.4], early),
        ("n", "r", [0.1], early),
        ("n", "s", [1, 0], early),
        ("late", "p", [1, 0], "2026-01-03T00:00:00Z"),
        ("last", "p", [0.9, 0.9], early),
        ("last", "p", [1, 0], "2026-01-01T12:00:00Z"),  # only this one counts
        ("market", "p", [1, 0], early),
    ]
    rows = [
        {"username": who, "problem_id": event, "prediction": p, "timestamp": time}
        for who, event, p, time in given
    ]
    write(tmp_path, {"dataset/w.json": PROBLEMS, "prediction/w-x.json": rows})
    assert sorted(states(tmp_path, "w-x")) == [
        ("", "record 9", "not read"),
        ("late", "p", "not read"),
        ("m", "p", "doubtful"),
        ("n", "p", "not read"),
        ("n", "r", "not read"),
        ("n", "s", "unknown"),
    ]
    kinds = strict(run(tmp_path, "check", "w-x", "--json").out)["kinds"]
    assert kinds["last"] == {"read": 1, "left out": 1}
    assert "probabilities do not sum to 1\n" in run(tmp_path, "check", "w-x").out


def test_more_late_forecasts_than_notes_name(tmp_path: Path) -> None:
    time = "2026-01-03T00:00:00Z"
    problems = [{**PROBLEMS[0], "problem_id": str(at)} for at in range(150)]
    rows = [
        {"username": "m", "problem_id": str(at), "prediction": [1, 0], "timestamp": time}
        for at in range(150)
    ]
    write(tmp_path, {"dataset/w.json": problems, "prediction/w-x.json": rows})
    assert len(states(tmp_path, "w-x")) == 150


def test_forecasts_need_a_dataset(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/x.json": FORECASTS})
    assert_refused(run(tmp_path, "check", "x"), "x.json", "expected a dataset of problems")


@pytest.mark.parametrize(
    ("pick", "state"),
    [(3, "not read"), ("x", "not read"), (True, "not read"), ("2", "doubtful"), (2, "")],
)
def test_picks(tmp_path: Path, pick: object, state: str) -> None:
    dataset = [{**PICK, "meta": META}]
    write(tmp_path, {"dataset/w.json": dataset, "prediction/w-x.json": {"t_q1": pick}})
    expected = [("single_varying", "t_q1", state)] if state else []
    assert states(tmp_path, "w-x") == expected


def test_a_name_is_a_datasets_before_it_is_a_predictions(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/w.json": QUESTIONS, "prediction/w.json": {"a": "A"}})
    assert run(tmp_path, "check", "w").out.startswith("Dataset check")
    assert run(tmp_path, "check", str(tmp_path / "prediction/w")).out.startswith("Submission")
    refused = run(tmp_path, "check", "v")
    assert_refused(refused, "dataset/v", "no such file", "w.json")


def test_several_files(tmp_path: Path) -> None:
    files = {"prediction/w-x.json": ANSWERS, "prediction/w-y.json": dict.fromkeys("abcd", "A")}
    write(tmp_path, {"dataset/w.json": PENDING, **files})
    done = run(tmp_path, "check", "w-x", "w", "--json")
    assert (done.code, len(done.out.splitlines())) == (4, 2)


def test_contents_are_escaped(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/w.json": PENDING, "prediction/w-x.json": {"a": "A", EVIL: EVIL}})
    done = run(tmp_path, "check", "w-x")
    assert (done.code, "\x1b" in done.out) == (4, False)


@pytest.mark.parametrize("question", [q("a"), {**PICK, "id": "a", "meta": META}])
def test_it_is_said_what_was_taken_of_another_form(tmp_path: Path, question: Any) -> None:
    """As when the file is scored: the answer may be in another part than its owner means."""
    reply = {"id": "a", "\x1b": {"response": 2}}
    write(tmp_path, {"dataset/w.json": [question], "prediction/w-x.json": [reply]})
    line = "w-x.json: read as rows of JSON; ids: id; answers: \x1b.response"
    assert line in strict(run(tmp_path, "check", "w-x", "--json").out)["notes"]
    shown = line.replace("\x1b", r"\x1b")
    assert f"\n{shown}\n" in run(tmp_path, "check", "w-x").out


def test_a_dataset_of_rxnoptbench(tmp_path: Path) -> None:
    good = {**PICK, "meta": META, "answer": [2]}
    bad = {**good, "answer": [0]}
    write(tmp_path, {"dataset/w.json": [good, {**bad, "id": "u_q1"}, good]})
    done = run(tmp_path, "check", "w")
    assert done.code == 4
    assert "3 records, 2 findings" in done.out
    assert "'answer' must be [2], the options with the best score: 1\n" in done.out
    assert "id used more than once: 1\n" in done.out
    write(tmp_path, {"dataset/w.json": [good]})
    assert run(tmp_path, "check", "w").code == 0
    assert json.loads(run(tmp_path, "check", "w", "--json").out)["count"] == 1


def test_a_folder_names_a_prediction_without_a_dataset(tmp_path: Path) -> None:
    """One that holds its questions needs none."""
    write(
        tmp_path,
        {
            "dataset/w.json": QUESTIONS,
            "prediction/w-x.json": {"a": "A", "b": "A", "c": r"\boxed{100}", "d": "A"},
            "prediction/own.json": [q("a")],
        },
    )
    assert run(tmp_path, "check").code == 0
    write(tmp_path, {"prediction/v-x.json": {"a": "A"}})
    done = run(tmp_path, "check")
    assert (done.code, done.out.count("or a dataset for it")) == (4, 1)
    assert "v-x.json: expected questions" in done.out
