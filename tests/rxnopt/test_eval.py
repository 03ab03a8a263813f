"""RxnOptBench through `eval.py`: told by its dataset, reported, stored, ranked, compared."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from cli import Record, assert_refused, q, run, write
from forecasteval.boards import compare, rank
from forecasteval.common.statistics import clustered_interval
from forecasteval.rxnopt.scoring import RxnOptEvaluator

KIND: Final = "single_varying"


def choice(name: str, *effective: float, kind: str = KIND) -> Record:
    """A question whose options have these yields, and no selectivities."""
    best = max(effective)
    return {
        "id": name, "question_type": kind,
        "options": [{"base": f"base {n}"} for n in range(len(effective))],
        "answer": [n for n, value in enumerate(effective) if value == best],
        "meta": {
            "yields": list(effective), "effective_scores": list(effective),
            "option_relative_scores": [round(value / best, 6) for value in effective],
        },
    }  # fmt: skip


QUESTIONS: Final = [choice("t_q1", 80, 40), choice("t_q2", 30, 60, 90), choice("t_q3", 10, 100)]


def folder(root: Path, **predictions: Any) -> Path:
    """A dataset `rxn` and the predictions rxn-NAME."""
    write(root, {"dataset/rxn.json": QUESTIONS})
    return write(
        root, {f"prediction/rxn-{name}.json": answers for name, answers in predictions.items()}
    )


def test_file_is_told_by_its_dataset_and_scored_as_in_python(tmp_path: Path) -> None:
    answers = {"t_q1": 1, "t_q2": "2", "t_q9": 0}
    folder(tmp_path, a=answers)
    printed = run(tmp_path, "-f", "rxn-a", "--json").json
    results = RxnOptEvaluator(QUESTIONS).evaluate_all(answers)
    for key in (
        "avg_relative_score",
        "exact_match_accuracy",
        "missing",
        "illegal",
        "coerced",
        "unknown_ids",
        "items",
    ):
        assert printed[key] == json.loads(json.dumps(results[key])), key
    assert printed["avg_relative_score"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert (printed["missing"], printed["coerced"], printed["unknown_ids"]) == (1, 1, 1)
    assert (printed["benchmark"], printed["dataset"]) == ("RxnOptBench", "rxn.json")


def test_report_and_items(tmp_path: Path) -> None:
    folder(tmp_path, a={"t_q1": 0, "t_q2": 7})
    done = run(tmp_path, "-f", "rxn-a", "--items")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    # 1, illegal, missing; a uniform guess gets (0.75 + 2/3 + 0.55)/3; one table says nothing about
    # another
    assert ["Overall", "0.3333", "–", "0.6556", "0.3333", "0.3333", "3", "1", "1"] in rows
    assert ["3", "questions", "of", "1", "table,", "dataset", "rxn.json"] in rows
    assert ["t_q2", KIND, "0.0000", "illegal", "7"] in [row[:5] for row in rows]


def test_several_datasets_and_pairs(tmp_path: Path) -> None:
    reference = choice("t_q1_ref", 50, 100, kind="single_varying_reference")
    control = choice("t_q1_ref_control", 100, 50, kind="single_varying_reference_control")
    write(tmp_path, {"dataset/r.json": [reference], "dataset/c.json": [control]})
    write(tmp_path, {"prediction/r-x.json": {"t_q1_ref": 1, "t_q1_ref_control": 1}})
    printed = run(tmp_path, "-f", "r-x", "--dataset", "r", "--dataset", "c", "--json").json
    pair = printed["pairs"]["overall"]
    assert (pair["pairs"], pair["reference_mean"], pair["control_mean"], pair["wins"]) == (
        1,
        1,
        0.5,
        1,
    )
    assert printed["dataset"] == "c.json, r.json"
    one = run(tmp_path, "-f", "r-x", "--json").json  # r-x belongs to r
    assert (one["n"], one["unknown_ids"], one["pairs"]["overall"]["pairs"]) == (1, 1, 0)


def test_a_folder_of_datasets(tmp_path: Path) -> None:
    """`--dataset FOLDER` takes the files of a build, but for those without a question."""
    kinds = ("single_varying", "single_varying_reference", "single_varying_reference_control")
    for kind, end in zip(kinds, ("", "_ref", "_ref_control"), strict=True):
        write(
            tmp_path,
            {f"built/multiple_choice_{kind}.json": [choice(f"t_q1{end}", 100, 50, kind=kind)]},
        )
    write(
        tmp_path,
        {
            "built/multiple_choice_all_varying.json": [],
            "built/example_prediction_x.json": {"t_q1": 0},
        },
    )
    write(tmp_path, {"prediction/all.json": {"t_q1": 0, "t_q1_ref": 0, "t_q1_ref_control": 1}})
    printed = run(tmp_path, "-f", "all", "--dataset", str(tmp_path / "built"), "--json").json
    assert (printed["n"], printed["missing"], printed["pairs"]["overall"]["pairs"]) == (3, 0, 1)
    assert list(printed["by_question_type"]) == list(kinds)
    assert printed["dataset"].count("multiple_choice_") == 3
    write(
        tmp_path,
        {
            "dataset/built/multiple_choice_all_varying.json": [
                choice("t_q1", 1, 2, kind="all_varying")
            ]
        },
    )
    assert (
        run(tmp_path, "-f", "all", "--dataset", "built", "--json").json["n"] == 1
    )  # as other names, in dataset/
    assert_refused(
        run(tmp_path, "-f", "all", "--dataset", str(tmp_path / "prediction")),
        "a folder; name a file in it",
    )


def test_nightly_leaves_out_answers_to_questions_of_another_folder(tmp_path: Path) -> None:
    """What was parsed for a folder that `build` wrote begins like a dataset of dataset/, and no id
    is one of it.
    """
    folder(tmp_path, a={"t_q1": 0}, b={"experiments_q1": 0})
    done = run(tmp_path, "nightly")
    assert done.code == 0
    assert (
        "rxn-b.json: not scored: expected predictions for this dataset (or --dataset, or a name "
        "that" in done.err
    )
    assert "1 file scored, 0 unchanged, 0 failed" in done.out


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("rxn-list", [], ["expected 'id' and 'answer' or 'prediction' in the records"]),
        ("rxn-other", [], ["expected predictions for this dataset", "other ids"]),
        ("rxn-a", ["--missing", "skip"], ["--missing: needs a file of FutureX, got RxnOptBench"]),
        ("rxn-a", ["--sort", "brier"], ["--sort: needs a file of Prophet Arena, got RxnOptBench"]),
        (
            "plain",
            ["--dataset", "plain", "--dataset", "rxn"],
            ["--dataset: several need RxnOptBench", "FutureX"],
        ),
        (
            "wrong-a",
            [],
            ["dataset/wrong.json: record 1 (id t_q1)", "option_relative_scores[1] must be", "0.5"],
        ),
    ],
)
def test_refused(tmp_path: Path, name: str, options: list[str], words: list[str]) -> None:
    folder(tmp_path, a={"t_q1": 0}, list=[0, 1], other={"x": 1})
    wrong = choice("t_q1", 80, 40)
    wrong["meta"]["option_relative_scores"] = [1.0, 0.6]
    write(tmp_path, {"dataset/wrong.json": [wrong], "prediction/wrong-a.json": {"t_q1": 0}})
    write(tmp_path, {"dataset/plain.json": [q("x")], "prediction/plain.json": [q("x")]})
    assert_refused(run(tmp_path, "-f", name, *options), *words)


def test_nightly_ranks_and_reuses(tmp_path: Path) -> None:
    folder(
        tmp_path, best={"t_q1": 0, "t_q2": 2, "t_q3": 1}, poor={"t_q1": 1, "t_q2": 0, "t_q3": True}
    )
    write(tmp_path, {"prediction/plain.json": [q()]})
    assert run(tmp_path, "nightly").code == 0
    board = json.loads((tmp_path / "evaluation/leaderboard.json").read_text("utf-8"))
    (table,) = [table for table in board["tables"] if table["benchmark"] == "RxnOptBench"]
    rows = [
        (row["rank"], row["name"], round(row["overall_score"], 4), row["unparsed"])
        for row in table["rows"]
    ]
    assert rows == [(1, "rxn-best", 1.0, 0), (2, "rxn-poor", round((0.5 + 1 / 3) / 3, 4), 1)]
    assert table["rows"][1]["rank_interval"] == [1, 2]  # all that differ are of one table
    assert run(tmp_path, "nightly").out.splitlines()[-1] == "0 files scored, 3 unchanged, 0 failed"


def test_boards_judge_by_tables_as_the_report_does() -> None:
    questions = [choice(f"{table}_q{n}", 10, 60, 90 + n) for table in "stuvw" for n in (1, 2)]
    given = [{one["id"]: (n * k + n // 4) % 3 for n, one in enumerate(questions)} for k in (1, 2)]
    results = [
        {"name": f"s{k}", **RxnOptEvaluator(questions).evaluate_all(one)}
        for k, one in enumerate(given)
    ]
    table = rank(results)["tables"][0]
    for row in table["rows"]:
        own = next(result for result in results if result["name"] == row["name"])
        assert row["overall_interval"] == pytest.approx(own["intervals"]["avg_relative_score"])
        assert row["overall_score"] == pytest.approx(own["avg_relative_score"])
    [pair] = compare(results)["pairs"]
    gaps = [
        a["score"] - b["score"]
        for a, b in zip(*(result["items"] for result in results), strict=True)
    ]
    tables = [item["cluster"] for item in results[0]["items"]]
    assert pair["interval"] == pytest.approx(clustered_interval(gaps, tables, (-1.0, 1.0)))
    sums = [
        sum(gap for gap, name in zip(gaps, tables, strict=True) if name == table)
        for table in "stuvw"
    ]
    signs = np.array([*itertools.product((1, -1), repeat=5)]) @ sums
    assert pair["p"] >= np.mean(np.abs(signs) >= abs(sum(sums)) - 1e-12)


def test_compare(tmp_path: Path) -> None:
    folder(tmp_path, a={"t_q1": 0, "t_q2": 2, "t_q3": 1}, b={"t_q1": 1, "t_q2": 2, "t_q3": 0})
    pair = run(tmp_path, "compare", "rxn-a", "rxn-b", "--json").json["pairs"][0]
    assert pair["difference"] == pytest.approx((0.5 + 0 + 0.9) / 3)
    assert pair["levels"] == {"": {"wins": 2, "ties": 1, "losses": 0}}
    assert [row["id"] for row in pair["questions"]] == ["t_q3", "t_q1"]
    shown = run(tmp_path, "compare", "rxn-a", "rxn-b").out
    assert "2/1/0" in shown


def test_a_ranking_has_what_references_add_to_the_score(tmp_path: Path) -> None:
    kinds = {"_ref": "all_varying_reference", "_ref_control": "all_varying_reference_control"}
    questions = [
        choice(f"t{number}_q1{end}", 50, 100, kind=kind)
        for number in range(4)
        for end, kind in kinds.items()
    ]
    ids = [question["id"] for question in questions]
    control = dict.fromkeys(ids, 0)
    helped = {name: int(name.endswith("_ref") and name < "t3") for name in ids}
    write(tmp_path, {"dataset/rxn.json": questions})
    write(tmp_path, {"prediction/rxn-a.json": control, "prediction/rxn-b.json": helped})
    done = run(tmp_path, "-f", "rxn-a", "-f", "rxn-b")
    lines = done.out.splitlines()
    first = next(line for line in lines if line.split()[:2] == ["1", "rxn-b"])
    expected = clustered_interval([0.5, 0.5, 0.5, 0.0], ["t0", "t1", "t2", "t3"], (-1.0, 1.0))
    assert expected is not None
    assert f"0.3750  [{expected[0]:.4f}, {expected[1]:.4f}]" in first
    assert "Gain: score with results of the same table shown, minus that of the control" in done.out
    results = [RxnOptEvaluator(questions).evaluate_all(each) for each in (control, helped)]
    rows = rank(results)["tables"][0]["rows"]
    assert [row["gain"] for row in rows] == [0.375, 0.0]
    # without pairs there is no such column
    folder(tmp_path / "plain", a={"t_q1": 0}, b={"t_q1": 1})
    assert "Gain" not in run(tmp_path / "plain", "-f", "rxn-a", "-f", "rxn-b").out


@pytest.mark.parametrize(
    "answers",
    [
        {"t_q1": "Option 0", "t_q2": "I think so.\n\n**Option 2**", "t_q3": [1]},
        {"t_q1": {"answer": 0}, "t_q2": "\\boxed{2}", "t_q3": "1"},
        [{"id": "t_q1", "reply": "0"}, {"id": "t_q2", "reply": "2"}, {"id": "t_q3", "reply": "1"}],
        [
            {"custom_id": name, "response": {"body": {"choices": [{"message": {"content": text}}]}}}
            for name, text in (("t_q1", "Answer: 0"), ("t_q2", "Answer: 2"), ("t_q3", "Answer: 1"))
        ],
    ],
)
def test_replies_are_scored_as_they_are(tmp_path: Path, answers: Any) -> None:
    """They scored 0.0000, and the warning did not name the command that read them."""
    folder(tmp_path, a=answers)
    printed = run(tmp_path, "-f", "rxn-a", "--json").json
    assert (printed["exact_match_accuracy"], printed["coerced"]) == (1.0, 3)
    assert "index read from text" not in str(printed["warnings"])


def test_replies_that_state_no_index_are_filled_in(tmp_path: Path) -> None:
    folder(
        tmp_path, a={"t_q1": "It depends. " * 50, "t_q2": "Options 0 and 2 are best.", "t_q3": 1}
    )
    unread = tmp_path / "new.jsonl"
    done = run(tmp_path, "-f", "rxn-a", "--unread", str(unread))
    rows = [json.loads(line) for line in unread.read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["reason"]) for row in rows] == [
        ("t_q1", "no index of an option, scores 0"),
        ("t_q2", "two different indices, scores 0"),
    ]
    assert rows[0]["text"] == "It depends. " * 50
    assert "2 in " in done.err
    write(tmp_path, {"prediction/rxn-b.json": [{**row, "answer": 0} for row in rows]})
    assert run(tmp_path, "-f", "rxn-b", "--json").json["missing"] == 1


@pytest.mark.parametrize("place", ["data/jsonl", "jsonl", "data", ""])
def test_the_folder_of_a_release_is_a_dataset(tmp_path: Path, place: str) -> None:
    for kind, end in (("all_varying", ""), ("all_varying_reference", "_ref")):
        path = tmp_path / "release" / place / f"multiple_choice_{kind}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(choice(f"t{n}_q1{end}", 100, 50, kind=kind)) for n in range(2)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write(tmp_path, {"prediction/all.json": {"t0_q1": 0, "t1_q1_ref": 0}})
    printed = run(tmp_path, "-f", "all", "--dataset", str(tmp_path / "release"), "--json").json
    assert (printed["n"], printed["missing"]) == (4, 2)


def test_prediction_is_another_word_for_f(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"multiple.json": QUESTIONS, "pred.json": {"t_q1": 0}})
    folder(tmp_path, a={"t_q1": 0})
    monkeypatch.chdir(tmp_path)
    for words in (["--dataset", "./multiple.json", "--prediction", "pred.json"],
                  ["--prediction", "rxn-a"]):  # fmt: skip
        assert run(tmp_path, *words, "--json").json["missing"] == 2


def test_a_question_that_contradicts_itself_costs_itself(tmp_path: Path) -> None:
    wrong = choice("t_q4", 100, 50)
    wrong["answer"] = [1]
    write(tmp_path, {"dataset/rxn.json": [*QUESTIONS, wrong]})
    write(tmp_path, {"prediction/rxn-a.json": {"t_q1": 0, "t_q4": 1}})
    printed = run(tmp_path, "-f", "rxn-a", "--json").json
    assert (printed["n"], printed["missing"]) == (3, 2)
    words = "question left out: 'answer' must be [0], the options with the best score: 1 (t_q4)"
    assert words in printed["warnings"]
    write(tmp_path, {"dataset/rxn.json": [wrong]})
    assert_refused(run(tmp_path, "-f", "rxn-a"), "'answer' must be [0]")
