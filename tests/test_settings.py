"""`forecasteval.toml`: options that every command has in its folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli import ROOT, Done, assert_refused, number, run, write

RULES = "readme, official-2026, official-2026-09"

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


MISTAKES = [
    ("relative_sigma = 1", "relative_sigma: expected the name of an option"),
    ('root = "/tmp"', "root: expected the name of an option"),
    ("[nightly]\nrules = 1", "nightly: expected the name of an option"),
    ('"x\\u001b[2J" = 1', r"x\x1b[2J: expected the name of an option"),
    ("relative-sigma = true", "relative-sigma: expected a number, got True"),
    ("relative-sigma = [0.1, 0.2]", "relative-sigma: expected a number, got [0.1, 0.2]"),
    ("relative-sigma = -1", "relative-sigma: must be a positive number, got -1.0"),
    (
        'rules = "best"',
        f"rules: expected one of {RULES}, got 'best'",
    ),
    ("rules = false", f"rules: expected one of {RULES}, got False"),
    (
        'rules = "paper"',
        f"rules: expected one of {RULES}, got 'paper'",
    ),
    ("gamma = 3", "gamma: must be a number in [0, 1], got 3.0"),
    ('gamma = [0, "x"]', "gamma: expected a number, got 'x'"),
    ("min-events = 2.5", "min-events: expected a whole number, got 2.5"),
    ("min-events = 0", "min-events: must be an integer >= 1, got 0"),
    ('sort = "nope"', "sort: expected one of brier, adjusted_brier, log, "),
    ("full = 1", "full: expected true or false, got 1"),
    ('items = "yes"', "items: expected true or false, got 'yes'"),
    ("llm = 5", "llm: expected text, got 5"),
    ("workers = 4", "workers: needs --llm MODEL"),
    ("min-questions = -1", "min-questions: expected a number >= 0, got -1"),
    ('min-questions = "many"', "min-questions: expected a number >= 0, got many"),
    ("min-datasets = 0", "min-datasets: expected a number >= 1, got 0"),
    ('missing = "skip"', "missing: expected the name of an option that a folder can have"),
    ('late-files = "never"', "late-files: expected one of keep, mark, drop, got 'never'"),
    ("a = [", "not TOML: "),
]


@pytest.mark.parametrize("command", ["-f a", "compare a b", "nightly"])
@pytest.mark.parametrize(("text", "problem"), MISTAKES)
def test_a_mistake_names_the_file(tmp_path: Path, command: str, text: str, problem: str) -> None:
    done: Done = run(example(tmp_path, f"# ours\n{text}"), *command.split())
    line = "" if text[0] == '"' or problem.startswith("not TOML") else "line 2: "
    assert_refused(done, f"{tmp_path}/forecasteval.toml: {line}{problem}")


@pytest.mark.parametrize(("text", "problem"), MISTAKES)
def test_check_finds_every_mistake_of_a_night(tmp_path: Path, text: str, problem: str) -> None:
    """In one go: the ones beside it, of a value, of a key and of an evaluator, too."""
    root = example(tmp_path, f"contracts = 1\n{text}\n")
    done = run(root, "check", "forecasteval.toml")
    assert (done.code, done.err, problem in done.out) == (4, "", True), done
    assert ("contracts" in done.out) == (text != "a = [")
    night = run(root, "nightly")
    assert night.code == 2


def test_settings_without_a_mistake(tmp_path: Path) -> None:
    root = example(tmp_path, SIGMA + 'gamma = [0.25, 1]\nsort = "return_0.25"\nitems = false\n')
    done = run(root, "check", "forecasteval.toml")
    assert (done.code, done.out) == (0, "Check  forecasteval.toml\n0 findings\n")
    assert run(tmp_path / "none", "check", "forecasteval.toml").code == 0
    assert run(root, "nightly").code == 0
    assert run(root, "-f", "g-m").code == 0


def test_the_example_of_the_docs_has_no_mistake(tmp_path: Path) -> None:
    text = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text\n(# forecasteval\.toml.*?)```", text, re.DOTALL)
    root = example(tmp_path, block)
    assert run(root, "check", "forecasteval.toml").out.endswith("0 findings\n")
    assert 'late-files = "drop"' in block


def test_a_mistake_on_the_command_line_does_not(tmp_path: Path) -> None:
    done = run(example(tmp_path, SIGMA), "-f", "a", "--gamma", "3")
    assert_refused(done, "eval.py: gamma: must be a number")
