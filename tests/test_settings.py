"""`forecasteval.toml`: options that every command has in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import Done, assert_refused, number, run, write

ROW = number("c", Std=None, answer="110")
PROBLEM = {"problem_id": "p", "options": ["x", "y"], "correct_option_idx": 0}
FORECAST = {"problem_id": "p", "username": "m", "prediction": [0.9, 0.1]}
SIGMA = "relative-sigma = 0.2\n"


def example(root: Path, settings: str) -> Path:
    """Two systems of FutureX, a forecaster of Prophet Arena, and settings."""
    files = {"prediction/a.json": [ROW], "prediction/b.json": [{**ROW, "answer": "100"}]}
    prophet = {"dataset/g.json": [PROBLEM], "prediction/g-m.json": [FORECAST]}
    return write(root, {**files, **prophet, "forecasteval.toml": settings})


def score(root: Path, *words: str) -> float:
    value = run(root, "-f", "a", "--json", *words).json["overall_score"]
    return float(value)


def gammas(root: Path, *words: str) -> object:
    return run(root, "-f", "g-m", "--json", *words).json["signature"]["gammas"]


def test_every_command_has_the_options_of_the_file(tmp_path: Path) -> None:
    root = example(tmp_path, SIGMA)
    one = run(root, "-f", "a", "--json").json
    assert (one["overall_score"], one["signature"]["relative_sigma"]) == (0.75, 0.2)
    board = run(root, "nightly", "--json").json
    rows = [row for table in board["tables"] for row in table["rows"]]
    scores = {row["name"]: row["overall_score"] for row in rows if "overall_score" in row}
    assert scores == {"a": 0.75, "b": 1.0}
    assert run(root, "compare", "a", "b", "--json").json["pairs"][0]["difference"] == -0.25


def test_the_command_line_wins(tmp_path: Path) -> None:
    root = example(tmp_path, SIGMA + "gamma = [0.25, 1]\nitems = true\n")
    assert (score(root, "--relative-sigma", "1"), score(root)) == (0.99, 0.75)
    assert (gammas(root, "--gamma=0.5"), gammas(root)) == ([0.5], [0.25, 1.0])
    assert "110 against 100" in run(root, "-f", "a").out
    assert "110 against 100" not in run(root, "-f", "a", "--no-items").out


def test_an_option_of_another_benchmark_is_no_mistake_in_the_file(tmp_path: Path) -> None:
    root = example(tmp_path, SIGMA + "gamma = 1\nfull = true\nmin-questions = 1\n")
    assert (gammas(root), score(root)) == ([1.0], 0.75)
    refused = run(root, "-f", "a", "--gamma", "0.5")
    assert_refused(refused, "--gamma", "needs a file of Prophet Arena", "FutureX")


@pytest.mark.parametrize("command", ["-f a", "compare a b", "nightly"])
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("relative_sigma = 1", "relative_sigma: expected the name of an option"),
        ('root = "/tmp"', "root: expected the name of an option"),
        ("[nightly]\nrules = 1", "nightly: expected the name of an option"),
        ('"x\\u001b[2J" = 1', r"x\x1b[2J: expected the name of an option"),
        ("relative-sigma = true", "argument --relative-sigma: expected one argument"),
        ("relative-sigma = [0.1, 0.2]", "argument --relative-sigma: invalid float value"),
        ('rules = "best"', "argument --rules: invalid choice: 'best'"),
        ("relative-sigma = -1", "relative_sigma: must be a positive number"),
        ("gamma = 3", "gamma: must be a number in [0, 1]"),
        ("a = [", "not TOML: "),
    ],
)
def test_a_mistake_names_the_file(tmp_path: Path, command: str, text: str, problem: str) -> None:
    done: Done = run(example(tmp_path, text), *command.split())
    assert_refused(done, f"{tmp_path}/forecasteval.toml: {problem}")


def test_a_mistake_on_the_command_line_does_not(tmp_path: Path) -> None:
    done = run(example(tmp_path, SIGMA), "-f", "a", "--gamma", "3")
    assert_refused(done, "eval.py: gamma: must be a number")


def test_a_switch_has_no_value(tmp_path: Path) -> None:
    done = run(example(tmp_path, "items = 1"), "-f", "a")
    assert_refused(done, "forecasteval.toml: argument --items", "ignored explicit argument '1'")
