"""What a comparison says first, in words: who is higher, by how much, on which questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import list_verdicts, score, system
from cli import q, question, run, write
from forecasteval.boards import compare, rank

FORTY: Final = 40


def right(name: str, count: int) -> Any:
    """A system that is right in the first `count` of forty questions."""
    return system(name, *(place < count for place in range(FORTY)))


def test_who_is_higher_and_by_how_much() -> None:
    (line,) = list_verdicts(compare([right("a", 30), right("b", 10)]))
    assert line == "a is higher than b by 0.50 [0.34, 0.66], p < 0.0001, on 40 questions."
    (line,) = list_verdicts(compare([right("b", 10), right("a", 30)]))
    assert line == "b is lower than a by 0.50 [0.34, 0.66], p < 0.0001, on 40 questions."


def test_what_would_have_been_found() -> None:
    (line,) = list_verdicts(compare([right("a", 30), right("b", 28)]))
    # Four of forty, all in one direction, have p = 0.125.
    begin = "a and b cannot be told apart: +0.05 [-0.02, 0.12], p = 0.5000, on 40 questions"
    assert line == f"{begin}; a difference of 0.19 would be found four times out of five."


def test_nothing_smaller_would_have_been_found() -> None:
    """Of five questions that differ, no p-value is below 0.0625."""
    a, b = (
        system(name, *(place < count for place in range(7))) for name, count in (("a", 7), ("b", 2))
    )
    (line,) = list_verdicts(compare([a, b]))
    assert line == "a and b cannot be told apart: +0.71 [0.26, 1.00], p = 0.0625, on 7 questions."


def test_each_against_the_first_by_the_p_of_holm() -> None:
    lines = list_verdicts(compare([right("a", 30), right("b", 10), right("c", 28)]))
    assert [line.split(", ")[-2] for line in lines] == ["p < 0.0001 (Holm)", "p = 0.5000 (Holm)"]
    assert [line.split(" by ")[0].split(" cannot")[0] for line in lines] == [
        "a is higher than b",
        "a and c",
    ]


def unread(name: str, answers: str) -> Any:
    """Forty questions with these answers again and again; "?" cannot be read."""
    texts = [answers[place % len(answers)] for place in range(FORTY)]
    records = [
        q(f"q{place}", answer="I wonder" if text == "?" else text)
        for place, text in enumerate(texts)
    ]
    return score(records, name)


def test_unread_answers_have_a_line_of_their_own() -> None:
    """As in a week in which p was 0.0105, and 0.62 once the same answers could be read."""
    found = compare([unread("a", "AAAAB"), unread("b", "AA??B")])
    first, second = list_verdicts(found)
    assert first.startswith("a is higher than b by 0.40 ")
    assert second == (
        "a − b is +0.0000 on the 24 questions that both answered readably. "
        "This ignores missing and unparsed answers."
    )
    assert found["pairs"][0]["both_read"] == {
        "n": 24,
        "scores": [2 / 3, 2 / 3],
        "difference": 0,
        "interval": None,
        "levels": {1: {"wins": 0, "ties": 24, "losses": 0}},
    }


def test_over_weeks(tmp_path: Path) -> None:
    for week in "123456":
        rows = [question(f"{week}-{place}") for place in range(12)]
        write(tmp_path, {f"dataset/w{week}.json": rows})
        for name, answers in {"a": "AAAAAB", "b": "AAB??B"}.items():
            texts = {row["id"]: answers[place % 6] for place, row in enumerate(rows)}
            read = {key: "I wonder" if text == "?" else text for key, text in texts.items()}
            write(tmp_path, {f"prediction/w{week}-{name}.json": read})
    done = run(tmp_path, "compare", "a", "b")
    first, second = done.out.splitlines()[:2]
    assert first.startswith("a is higher than b by 0.50 ")
    assert first.endswith(", on 72 questions of 6 datasets.")
    assert second.startswith("a − b is +0.25 ")
    assert second.endswith(
        " on the 48 questions that both answered readably. "
        "This ignores missing and unparsed answers."
    )
    (pair,) = run(tmp_path, "compare", "a", "b", "--json").json["pairs"]
    assert pair["levels"] == {"1": {"wins": 36, "ties": 36, "losses": 0}}
    shown = run(tmp_path, "nightly").out.split("Leaderboard  ")[1].splitlines()
    titles, _, b = (line.split("  ") for line in shown[2:5])
    assert [title.strip() for title in titles if title][-3:] == ["Missing", "Unparsed", "Notes"]
    assert [cell.strip() for cell in b if cell][-2:] == ["0", "24"]


@pytest.mark.parametrize("make", [compare, rank])
def test_frames_hold_scalars(make: Any) -> None:
    frame = make([right("a", 30), right("b", 10)]).to_frame()
    assert not any(
        isinstance(cell, (list, dict, tuple)) for row in frame.to_numpy() for cell in row
    )
    assert len(frame) == (1 if make is compare else 2)


def test_frames_have_the_numbers() -> None:
    (pair,) = compare([right("a", 30), right("b", 10)]).to_frame().to_dict("records")
    assert (pair["a"], pair["b"], pair["difference"], pair["level_1_wins"]) == ("a", "b", 0.5, 20)
    assert pair["low"] < 0.5 < pair["high"]
    assert pair["n"] == FORTY
    first, second = rank([right("b", 10), right("a", 30)]).to_frame().to_dict("records")
    assert (first["name"], first["score"], first["level_1"]) == ("a", 0.75, 0.75)
    assert (second["name"], second["rank"]) == ("b", 2)
