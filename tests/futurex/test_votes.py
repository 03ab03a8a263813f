"""The majority answer of several runs: who votes, what wins, ties, and that it is scored as any
answer is.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import Record, run, write
from eval import FutureXEvaluator
from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError
from forecasteval.futurex.votes import vote_order, vote_picks

CHOICES = "Who?\nA. Ada\nB. Bo\nC. Cy\nD. Di"
QUESTIONS: list[Record] = [
    {"id": "one", "prompt": CHOICES, "level": 1, "ground_truth": "A"},
    {"id": "many", "prompt": CHOICES, "level": 2, "ground_truth": "A, B"},
    {"id": "number", "prompt": "How many millions?", "level": 3, "ground_truth": "100", "Std": 10},
    {"id": "order", "prompt": "Who comes first?", "level": 4, "ground_truth": "Ada, Bo, Cy"},
    {"id": "names", "prompt": "Which films?", "level": 2, "ground_truth": "['Dune', 'Alien']"},
]


PROSE = ("I cannot say.", "no idea")


def voted(root: Path, *runs: Record, questions: list[Record] = QUESTIONS, **policies: Any) -> Any:
    """The result of the majority of these runs' answers."""
    write(root, {"dataset/d.json": questions})
    paths = []
    for number, answers in enumerate(runs, 1):
        rows = [{"id": name, "prediction": answer} for name, answer in answers.items()]
        write(root, {f"prediction/d-x@{number}.json": rows})
        paths.append(root / "prediction" / f"d-x@{number}.json")
    return FutureXEvaluator(**policies).vote(Files(paths, [root / "dataset" / "d.json"]))


def found(results: Any, name: str) -> tuple[str, float, str]:
    item = next(item for item in results["items"] if item["id"] == name)
    return item["read"], item["score"], item["outcome"]


@pytest.mark.parametrize(
    ("name", "answers", "expected"),
    [
        ("one", ["B", "A", "A"], ("A", 1.0, "scored")),
        ("one", ["B", "A", "C"], ("B", 0.0, "scored")),  # a tie: the earliest run's
        ("one", ["A, B", "A, B", "A"], ("A, B", 0.0, "scored")),  # sets, not options
        ("one", ["", "I cannot say.", "A"], ("A", 1.0, "scored")),  # who says nothing has no vote
        ("one", ["", "", ""], ("", 0.0, "missing")),
        ("one", ["", "I cannot say.", ""], ("", 0.0, "unparsed")),
        ("many", ["A, B", "A, C", "B, C"], ("A, B, C", 0.8, "scored")),  # two of three each
        ("many", ["A, B", "A, C", "A, D"], ("A", 2 / 3, "scored")),
        (
            "many",
            ["A, B", "A, B, C", "", "I cannot say."],
            ("A, B", 1.0, "scored"),
        ),  # C has half, not more
        ("many", ["A, B", "C, D"], ("A, B", 1.0, "scored")),  # nobody has more than half
        ("number", ["90", "105", "104"], ("104", 0.84, "scored")),
        ("number", ["90", "106"], ("98", 0.96, "scored")),
        (
            "number",
            ["105000000", "104 million", "0"],
            ("104", 0.84, "scored"),
        ),  # in the question's unit
        ("number", ["no idea", "105"], ("105", 0.75, "scored")),
        ("order", ["Ada, Bo, Cy", "Bo, Ada, Cy", "Ada, Cy, Bo"], ("Ada | Bo | Cy", 1.0, "scored")),
        (
            "order",
            ["Bo, Ada", "Ada, Bo"],
            ("Bo | Ada", 0.8 * 2 / 3, "scored"),
        ),  # a tie: named first
        (
            "order",
            ["Ada, Bo, Cy", "ADA, Bo, Di, Ed, Flo"],
            ("Ada | Bo | Cy", 1.0, "scored"),
        ),  # the lower median: 3
        ("names", ["Dune, Heat", "Alien, DUNE", "Alien, Jaws"], ("Dune | Alien", 1.0, "scored")),
    ],
)
def test_the_majority(
    tmp_path: Path, name: str, answers: list[str], expected: tuple[str, float, str]
) -> None:
    other = "many" if name == "one" else "one"  # a file needs some answer
    runs = [{name: text if text in PROSE else f"\\boxed{{{text}}}", other: "A"} for text in answers]
    runs = [{**one, name: ""} if not text else one for one, text in zip(runs, answers, strict=True)]
    read, score, outcome = found(voted(tmp_path, *runs), name)
    assert (read, score, outcome) == (expected[0], pytest.approx(expected[1]), expected[2])


def test_runs_that_agree_are_one_run(tmp_path: Path) -> None:
    answers = {
        "one": "A",
        "many": "A, C",
        "number": "\\boxed{105}",
        "order": "\\boxed{Bo, Ada}",
        "names": "\\boxed{Dune}",
    }
    results = voted(tmp_path, answers, answers, answers)
    alone = FutureXEvaluator().evaluate_file(
        tmp_path / "prediction" / "d-x@1.json", [tmp_path / "dataset" / "d.json"]
    )
    for key in ("overall_score", "level_scores", "overall_interval", "missing_count"):
        assert results[key] == alone[key]
    assert [item["read"] for item in results["items"]] == [item["read"] for item in alone["items"]]
    assert [one["overall_score"] for one in results["vote"]] == [alone["overall_score"]] * 3
    assert results["signature"]["vote"] == 3
    assert results["signature"]["questions_sha256"] == alone["signature"]["questions_sha256"]


def test_numbers_are_taken_at_full_precision(tmp_path: Path) -> None:
    asked = [{"id": "number", "prompt": "How many?", "level": 3, "ground_truth": "123456789012345"}]
    results = voted(tmp_path, *[{"number": "123456789012345"}] * 3, questions=asked)
    assert found(results, "number")[1:] == (1.0, "scored")


def test_the_earliest_run_is_the_one_with_the_lowest_number(tmp_path: Path) -> None:
    runs = [{"one": "A" if number == 2 else "", "many": "A"} for number in range(1, 10)]
    results = voted(tmp_path, *runs, {"one": "B", "many": "A"})
    assert found(results, "one") == ("A", 1.0, "scored")


def test_missing_may_be_left_out(tmp_path: Path) -> None:
    results = voted(tmp_path, {"one": "A"}, {"one": "A", "many": ""}, missing="skip")
    assert results["overall_score"] == 1.0
    assert results["missing_count"] == 4


def test_rows_of_files_that_hold_their_own_questions_are_matched(tmp_path: Path) -> None:
    """In any order, and twice the same question."""
    rows = [
        {**one, "answer": answer}
        for one, answer in zip(QUESTIONS, ("A", "B", "100", "Ada", "Dune"), strict=True)
    ]
    rows.append({**QUESTIONS[0], "answer": "B"})
    write(tmp_path, {"x@1.json": rows, "x@2.json": rows[::-1], "y@3.json": rows[1:]})
    paths = [tmp_path / "x@1.json", tmp_path / "x@2.json"]
    results = FutureXEvaluator().vote(Files(paths))
    assert (
        results["overall_score"]
        == results["vote"][0]["overall_score"]
        == results["vote"][1]["overall_score"]
    )
    message = r"y@3\.json: expected runs on the same questions and truths, got other ones than x@1"
    with pytest.raises(InputError, match=message):
        FutureXEvaluator().vote(Files([paths[0], tmp_path / "y@3.json"]))


@given(
    st.lists(st.frozensets(st.sampled_from("ABCD"), min_size=1), min_size=1, max_size=6),
    st.booleans(),
)
def test_picks_do_not_depend_on_the_order_but_for_ties(
    votes: list[frozenset[str]], several: bool
) -> None:
    chosen = vote_picks(votes, several)
    assert chosen
    assert chosen <= frozenset().union(*votes)
    assert vote_picks(votes * 2, several) == chosen
    if votes.count(votes[0]) * 2 > len(votes):
        assert chosen == votes[0]


@given(st.lists(st.permutations("abcd"), min_size=1, max_size=5))
def test_borda_by_mean_places(votes: list[list[str]]) -> None:
    """Of complete lists it is the order of the mean places."""
    places = {item: sum(vote.index(item) for vote in votes) for item in "abcd"}
    order = vote_order(votes)
    assert [places[item] for item in order] == sorted(places.values())
    for upper, lower in itertools.pairwise(order):
        assert places[upper] < places[lower] or votes[0].index(upper) < votes[0].index(lower)


# --- The command ---


def files(root: Path) -> Path:
    write(root, {"dataset/d.json": QUESTIONS})
    for name, answer in (("d-x@1", "A"), ("d-x@2", "B"), ("d-x", "B"), ("d-y", "A")):
        write(root, {f"prediction/{name}.json": [{"id": "one", "prediction": answer}]})
    return root


def test_a_name_stands_for_its_runs(tmp_path: Path) -> None:
    root = files(tmp_path)
    done = run(root, "-f", "d-x", "--vote", "--json").json
    assert (done["name"], done["prediction"]) == ("d-x@vote", "d-x.json, d-x@1.json, d-x@2.json")
    assert found(done, "one") == ("B", 0.0, "scored")
    told = run(root, "-f", "d-x", "--vote", "--items").out
    assert (
        "Majority answers of 3 runs; the runs themselves, mean 0.0333, SD 0.0577:\n  d-x.json:"
        " 0.0000" in told
    )
    assert run(root, "-f", "d-x", "--vote", "--save").code == 0
    assert (
        json.loads((root / "evaluation" / "d-x@vote.json").read_text("utf-8"))["signature"]["vote"]
        == 3
    )
    assert "vote" not in run(root, "-f", "d-x").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["-f", "d-y", "--vote"],
            "d-y: expected several runs to vote, NAME@1, NAME@2, …, got one file",
        ),
        (["-f", "d-x@1", "--vote"], "d-x@1: expected several runs to vote"),
        (["-f", "none", "--vote"], "no such file"),
        (["-f", "d-x", "--vote", "--llm", "m"], "--vote: cannot be combined, got --llm"),
        (["-f", "c", "--vote"], "--vote: needs a file of FutureX, got RxnOptBench"),
    ],
)
def test_what_cannot_vote_is_told(tmp_path: Path, words: list[str], message: str) -> None:
    root = files(tmp_path)
    question = {
        "id": "q",
        "question_type": "multiple_choice_all_varying",
        "options": [],
        "meta": {},
    }
    write(
        root,
        {
            "dataset/c.json": [question],
            "prediction/c@1.json": {"q": 0},
            "prediction/c@2.json": {"q": 0},
        },
    )
    done = run(root, *words)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_a_run_that_cannot_be_read_is_told_and_has_no_vote(tmp_path: Path) -> None:
    root = files(tmp_path)
    (root / "prediction" / "d-x@3.json").write_text("[{", encoding="utf-8")
    done = run(root, "-f", "d-x", "--vote")
    assert done.code == 3
    assert "d-x@3.json" in done.err
    assert "Majority answers of 3 runs" in done.out


def test_one_run_alone_is_no_vote(tmp_path: Path) -> None:
    root = files(tmp_path)
    for run_file in sorted((root / "prediction").glob("d-x*.json"))[1:]:
        run_file.write_text("[{", encoding="utf-8")
    done = run(root, "-f", "d-x", "--vote", "--save")
    assert (done.code, done.out) == (2, "")
    assert "expected two runs or more that can be scored, to vote" in done.err
    assert not (root / "evaluation").exists()


def test_the_page_of_a_vote(tmp_path: Path) -> None:
    root = files(tmp_path)
    assert run(root, "-f", "d-x", "--vote", "--html").code == 0
    assert "d-x@vote" in (root / "evaluation" / "d-x@vote.html").read_text("utf-8")
