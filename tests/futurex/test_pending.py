"""Questions without a truth: counted, read, and in no score."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import pytest

from cli import PROMPT, Record, assert_refused, box, item, number, q, question, run, strict, write
from eval import FutureXEvaluator
from forecasteval.common.errors import InputError, PendingError
from forecasteval.futurex.rules import RULE_SETS, summarise

BLANK: Final = {
    "absent": ...,
    "null": None,
    "empty": "",
    "spaces": " \t\n",
    "nan of a data frame": math.nan,
}
SIDES: Final = "Falcons vs. Otters: who wins?"


def evaluate(rows: list[Any], **options: Any) -> dict[str, Any]:
    return FutureXEvaluator(**options).evaluate_all(rows)


@pytest.mark.parametrize("truth", BLANK.values(), ids=BLANK)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_blank_truth_is_pending(truth: object, rules: str) -> None:
    made = evaluate([q("a"), q("b", ground_truth=truth)], rules=rules)
    alone = evaluate([q("a")], rules=rules)
    waits = item(made, "b")
    assert (waits["outcome"], waits["score"], waits["read"]) == ("pending", None, "A")
    assert (made["pending"], made["level_pending"]) == (1, {1: 1, 2: 0, 3: 0, 4: 0})
    for key in ("overall_score", "level_counts", "missing_count", "unparsed_count"):
        assert made[key] == alone[key], key
    checksum = "questions_sha256"  # of the resolved questions: the two can be compared
    assert made["signature"][checksum] == alone["signature"][checksum]


# level, prompt, Std, answer: what was read, or why nothing was
READ: Final[dict[str, tuple[int, str, Any, Any, str]]] = {
    "an option": (1, PROMPT, None, box("B. Draw"), "B"),
    "two options": (2, PROMPT, None, box("A, C"), "A, C"),
    "yes": (1, "Will it rain?", None, box("Yes, it will"), "Yes"),
    "a name": (1, "Who?", None, box("Harbour Town"), "Harbour Town"),
    "the winner": (1, SIDES, None, box("Otters def. Falcons 3-1"), "Otters"),
    "a number": (4, "How many?", 3.0, box("about 1,234.5 boats"), "1234.5"),
    "a bare number": (3, "How many?", None, "27", "27"),
    "a list": (3, "Which three?", None, box("Red, Blue and Green"), "Red | Blue | Green"),
    "none": (1, PROMPT, None, None, "(no answer)"),
    "a refusal": (4, "How many?", None, box("N/A"), "(refusal)"),
    "no number": (4, "How many?", 3.0, box("many boats"), "(no number)"),
    "prose": (1, PROMPT, None, "I like the second. Or not.", "(no box, and not only options)"),
}


@pytest.mark.parametrize(("level", "prompt", "std", "answer", "read"), READ.values(), ids=READ)
def test_what_was_read(level: int, prompt: str, std: Any, answer: Any, read: str) -> None:
    row = q("b", level=level, prompt=prompt, Std=std, ground_truth=None, answer=answer)
    made = evaluate([q("a"), row])
    waits = item(made, "b")
    assert (waits["read"] or f"({waits['note']})") == read
    assert waits["outcome"] == "pending"
    assert made["missing_count"] == made["unparsed_count"] == 0


def level_of(n: int, score: float | None) -> Record:
    outcome = "pending" if score is None else "scored"
    return {
        "level": n,
        "score": score,
        "outcome": outcome,
        "reason": "",
        "padded": False,
        "unboxed": False,
        "late": False,
    }


@pytest.mark.parametrize(
    ("levels", "renormalised", "overall"),
    [
        ("1=.5 2=1 3=? 4=?", True, (0.1 * 0.5 + 0.2) / 0.3),
        ("1=.5 2=1 3=? 4=?", False, (0.1 * 0.5 + 0.2) / 0.3),  # they will have scores
        ("1=.5 2=1 3=?", True, (0.1 * 0.5 + 0.2) / 0.3),
        ("1=.5 2=1 3=?", False, (0.1 * 0.5 + 0.2) / 0.7),  # the dataset lacks level 4
        ("1=.5 2=1 2=?", False, 0.1 * 0.5 + 0.2),
    ],
)
def test_a_level_that_is_wholly_pending_gives_its_weight_away(
    levels: str, renormalised: bool, overall: float
) -> None:
    pairs = [part.split("=") for part in levels.split()]
    items = [level_of(int(n), None if score == "?" else float(score)) for n, score in pairs]
    assert summarise(items, renormalised)["overall_score"] == pytest.approx(overall)


def test_no_question_is_resolved(tmp_path: Path) -> None:
    rows = [q("a", ground_truth=None), q("b", ground_truth="")]
    with pytest.raises(PendingError, match=r"data: no truth yet: 2 questions, all pending"):
        evaluate(rows)
    with pytest.raises(PendingError):  # and not 0, which would be a wrong answer
        FutureXEvaluator().evaluate_prediction("A", rows[0])
    write(tmp_path, {"dataset/w.json": rows, "prediction/w-a.json": [{"id": "a", "answer": "A"}]})
    assert_refused(run(tmp_path, "-f", "w-a"), "w.json: no truth yet: 2 questions")


METADATA: Final = {"end_time": "2025-09-22", "title": "Rain", "Description": ""}


@pytest.mark.parametrize("key", ["answer", "truth", "label", "resolution"])
def test_a_truth_under_another_name_is_an_error(tmp_path: Path, key: str) -> None:
    rows = [{**question("a", ground_truth=..., **METADATA), key: "A"}]
    write(tmp_path, {"dataset/w.json": rows, "prediction/w-a.json": [{"id": "a", "answer": "A"}]})
    assert_refused(run(tmp_path, "-f", "w-a"), "w.json: expected 'ground_truth'", f"got '{key}'")


def test_a_dataset_of_questions_alone_is_pending(tmp_path: Path) -> None:
    rows = [question("a", ground_truth=..., **METADATA)]
    write(tmp_path, {"dataset/w.json": rows, "prediction/w-a.json": [{"id": "a", "answer": "A"}]})
    assert_refused(run(tmp_path, "-f", "w-a"), "no truth yet: 1 question,")


def test_void_questions_are_in_nothing_but_counted() -> None:
    voids = [q(f"v{n}", void=void, level=9) for n, void in enumerate([True, "TRUE", 1])]
    kept = [q(f"k{n}", void=void) for n, void in enumerate([False, None, "", "no", ...])]
    made = evaluate([*voids, *kept])
    assert (made["void"], len(made["items"]), made["overall_score"]) == (3, 5, 1.0)
    assert (
        made["signature"]["questions_sha256"]
        == (evaluate([q(f"k{n}") for n in range(5)])["signature"]["questions_sha256"])
    )
    with pytest.raises(InputError, match="'void' must be true or false, got 'perhaps'"):
        evaluate([q(void="perhaps")])
    with pytest.raises(InputError, match="no question to score: 3 questions, all void"):
        evaluate(voids)


WEEK: Final = [
    *(question(f"a{n}") for n in range(3)),
    question("b", ground_truth=None),
    question("c", level=2, ground_truth=None),
    question("v", void=True),
]


def test_the_report_says_how_many(tmp_path: Path) -> None:
    answers = [{"id": row["id"], "answer": "A"} for row in WEEK]
    write(tmp_path, {"dataset/w.json": WEEK, "prediction/w-a.json": answers})
    done = run(tmp_path, "-f", "w-a", "--items", "--html")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[1] == ("5 questions, 3 resolved, 2 pending, 1 void left out, dataset w.json")
    assert lines[3].split()[-4:] == ["n", "Pending", "Missing", "Unparsed"]
    assert lines[4].split()[-4:] == ["3", "1", "0", "0"]  # level 1
    assert lines[5].split() == ["Level", "2", "0.2", "–", "–", "0", "1", "0", "0"]
    assert "no truth yet; read: A" in done.out
    page = (tmp_path / "evaluation" / "w-a.html").read_text("utf-8")
    assert "no truth yet; read: A" in page
    assert 'class="failed"' not in page  # pending answers are not wrong ones
    resolved = run(tmp_path, "check", "w", "--json")
    assert strict(resolved.out)["notes"][0] == "3 resolved, 2 pending, 1 void"


def test_without_pending_questions_no_word_of_them(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [q("a"), number("b")]})
    assert "ending" not in run(tmp_path, "-f", "a").out


def test_systems_are_compared_on_resolved_questions(tmp_path: Path) -> None:
    right = [{"id": row["id"], "answer": "A"} for row in WEEK]
    wrong = [{"id": row["id"], "answer": "B"} for row in WEEK]
    files = {"prediction/w-a.json": right, "prediction/w-b@1.json": wrong}
    write(tmp_path, {"dataset/w.json": WEEK, **files, "prediction/w-b@2.json": right})
    made = run(tmp_path, "compare", "w-a", "w-b", "--json").json
    assert (made["n"], made["pending"]) == (3, 2)
    assert made["pairs"][0]["difference"] == pytest.approx(0.5)
