"""`check --owner`: who may change which prediction files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import EVIL, assert_refused, question, run, write

SYSTEMS = {
    "me": {"owner": "Ann", "aliases": ["my-old"]},
    "rival": {"owner": "bob", "aliases": ["old-rival"], "name": "The Rival"},
    "free": {"name": "Free"},
}
PROBLEM = {"problem_id": "p", "options": ["x", "y"]}


def example(root: Path, **files: object) -> Path:
    """A week of questions, a week of events, and predictions."""
    common = {"dataset/w.json": [question()], "prediction/systems.json": SYSTEMS}
    names = {f"prediction/{name}": content for name, content in files.items()}
    return write(root, {**common, "dataset/g.json": [PROBLEM], **names})


def check(root: Path, name: str, login: str = "ann") -> tuple[int, str]:
    done = run(root, "check", "--owner", login, str(root / name))
    assert done.out == ""
    return done.code, done.err.removeprefix(f"eval.py: {root}/{name}: ")


@pytest.mark.parametrize("name", ["w-me.json", "w-me@2.json", "w_me.jsonl", "w-my-old.json"])
def test_own_files(tmp_path: Path, name: str) -> None:
    """Added or changed; not there, it is one that a pull request removes."""
    root = example(tmp_path)
    assert check(root, f"prediction/{name}") == (0, "")
    write(root, {f"prediction/{name}": {"id": "q7", "answer": "A"}})
    assert check(root, f"prediction/{name}") == (0, "")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("prediction/w-rival.json", "system 'rival' is registered to bob\n"),
        ("prediction/w-rival@2.json", "system 'rival' is registered to bob\n"),
        ("prediction/w-old-rival.json", "system 'rival' is registered to bob\n"),
        ("prediction/w-rival.csv", "system 'rival' is registered to bob\n"),
        ("prediction/w-free.json", "system 'free' is registered to nobody\n"),
        ("prediction/w-Me.json", "system 'Me' is registered to nobody\n"),
        ("prediction/w-The Rival.json", "system 'The Rival' is registered to nobody\n"),
        ("prediction/w.json", "system 'w' is registered to nobody\n"),
        ("prediction/v-me.json", "begins with the name of no dataset\n"),
        ("prediction/systems.json", "is no prediction file\n"),
        ("prediction/w-me.txt", "is no prediction file\n"),
        ("prediction", "is no prediction file\n"),
        ("prediction/../eval.py", "is no prediction file\n"),
        ("dataset/w-me.json", "is no prediction file\n"),
        ("forecasteval.toml", "is no prediction file\n"),
        (".github/workflows/x.json", "is no prediction file\n"),
        ("prediction/w-me/w-me.json", "is no prediction file\n"),
    ],
)
def test_whatever_else_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    assert check(example(tmp_path), name) == (4, problem)


def test_nobody_owns_what_is_not_registered(tmp_path: Path) -> None:
    """Neither does a login without letters."""
    assert check(example(tmp_path), "prediction/w-free.json", "")[0] == 4


def test_every_file_is_checked(tmp_path: Path) -> None:
    root = example(tmp_path)
    names = [str(root / f"prediction/w-{name}.json") for name in ("rival", "me", "free")]
    done = run(root, "check", "--owner", "ann", *names)
    assert (done.code, done.err.count("registered to")) == (4, 2)


def test_a_link_is_refused(tmp_path: Path) -> None:
    root = example(tmp_path, **{"w-rival.json": {"q7": "A"}})
    (root / "prediction/w-me.json").symlink_to("w-rival.json")
    assert check(root, "prediction/w-me.json") == (4, "is a link\n")


@pytest.mark.parametrize(
    ("username", "code"), [("me", 0), ("rival", 4), ("Me", 4), (EVIL, 4), ("", 4), ("market", 4)]
)
@pytest.mark.parametrize("event", ["p", "unknown"])
def test_forecasters_of_others(tmp_path: Path, username: str, code: int, event: str) -> None:
    """A forecaster in two files costs both of them their results, whatever is forecast."""
    row = {"problem_id": event, "username": username, "prediction": [0.5, 0.5]}
    rows = [{**row, "username": "me"}, row]
    for form in ([*rows], {"data": rows}):
        root = example(tmp_path, **{"g-me.json": form})
        assert check(root, "prediction/g-me.json")[0] == code


def test_a_file_with_questions_of_its_own(tmp_path: Path) -> None:
    root = example(tmp_path, **{"w-me.csv": "question,market,model,prob,outcome\nq,m,rival,1,1\n"})
    assert check(root, "prediction/w-me.csv") == (4, "has questions of its own\n")


@pytest.mark.parametrize("owner", ["@Ann", " ann ", ["bob", "@ANN"], ["ann"]])
@pytest.mark.parametrize("login", ["ann", "@Ann"])
def test_forms_of_a_login(tmp_path: Path, owner: object, login: str) -> None:
    root = example(tmp_path, **{"systems.json": {"me": {"owner": owner}}})
    assert check(root, "prediction/w-me.json", login) == (0, "")
    assert check(root, "prediction/w-me.json", "carol")[0] == 4


@pytest.mark.parametrize("owner", ["", "@", [], ["ann", 7], ["ann", " "], {"ann": 1}, None])
def test_owners_that_are_none(tmp_path: Path, owner: object) -> None:
    root = example(tmp_path, **{"systems.json": {"me": {"owner": owner}}})
    problem = "the registration file has a mistake; the maintainers see it in the log\n"
    for login in ("ann", ""):
        assert check(root, "prediction/w-me.json", login) == (4, problem)
    done = run(root, "check", "prediction/systems.json")
    assert (done.code, "system me: 'owner' must be a login or a list of" in done.out) == (4, True)


def test_owners_are_not_shown(tmp_path: Path) -> None:
    root = example(tmp_path, **{"w-me.json": {"q7": "A"}, "w-rival.json": {"q7": "B"}})
    assert "owner" not in str(run(root, "nightly", "--json").json)
    assert "Ann" not in (root / "evaluation/leaderboard.html").read_text(encoding="utf-8")


def test_a_wrong_owner_is_a_mistake(tmp_path: Path) -> None:
    root = example(tmp_path, **{"systems.json": {"me": {"owner": 7}}, "w-me.json": {"q7": "A"}})
    assert check(root, "prediction/w-me.json")[0] == 4
    refused = run(root, "nightly")
    assert_refused(
        refused, "systems.json", "'owner' must be a login or a list of logins, got 7", code=3
    )


# --- What is closed ---

CLOSED = "2020-01-01"
BEFORE = {
    "dataset/w.json": [
        question("old", ground_truth=None, closes=CLOSED),
        question("new", ground_truth=None, closes="2999-01-01"),
    ],
    "dataset/g.json": [{**PROBLEM, "end_date": CLOSED}, {**PROBLEM, "problem_id": "open"}],
    "prediction/systems.json": SYSTEMS,
    "prediction/w-me.json": {"old": "A", "new": "A"},
    "prediction/g-me.json": [
        {"username": "me", "problem_id": name, "prediction": [0.5, 0.5]} for name in ("p", "open")
    ],
}
W, G = "prediction/w-me.json", "prediction/g-me.json"
ADDED = "has new or changed answers to questions that are closed or have a truth: 1"
REMOVED = "removes answers to questions that are closed or have a truth: 1"
CHANGES: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "nothing": ({}, {W: "", G: ""}),
    "an open answer": ({W: {"old": "A", "new": "B"}}, {W: ""}),
    "an open answer removed": ({W: {"old": "A"}}, {W: ""}),
    "a closed answer": ({W: {"old": "B", "new": "A"}}, {W: f"{ADDED} (old)"}),
    "a closed answer removed": ({W: {"new": "A"}}, {W: f"{REMOVED} (old)"}),
    "the file removed": ({W: None}, {W: f"{REMOVED} (old)"}),
    "another form of the file": ({W: None, "prediction/w-me.jsonl": ["x"]}, {W: REMOVED}),
    "the file renamed": (
        {W: None, "prediction/w-my-old@2.json": BEFORE["prediction/w-me.json"]},
        {W: "", "prediction/w-my-old@2.json": ""},
    ),
    "the file renamed and changed": (
        {W: None, "prediction/w-me@2.json": {"old": "A", "new": "B"}},
        {W: f"{REMOVED} (old)", "prediction/w-me@2.json": f"{ADDED} (old)"},
    ),
    "a new run": ({"prediction/w-me@2.json": {"old": "A"}}, {"prediction/w-me@2.json": ADDED}),
    "a closed forecast": (
        {G: [{"username": "me", "problem_id": "p", "prediction": [0.9, 0.1]}]},
        {G: f"{ADDED} (me: p)"},
    ),
    "a closed forecast at another time": (
        {G: [{"username": "me", "problem_id": "p", "prediction": [0.9, 0.1], "timestamp": CLOSED}]},
        {G: f"{ADDED} (me: p)"},
    ),
    "a closed forecast removed": (
        {G: [{"username": "me", "problem_id": "open", "prediction": [0.5, 0.5]}]},
        {G: f"{REMOVED} (me: p)"},
    ),
    "the forecasts removed": ({G: None}, {G: f"{REMOVED} (me: p)"}),
}


@pytest.mark.parametrize(("files", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_is_closed_stays(
    tmp_path: Path, files: dict[str, object], expected: dict[str, str]
) -> None:
    base, root = (write(tmp_path / name, BEFORE) for name in ("base", "root"))
    for name, content in files.items():
        if content is None:
            (root / name).unlink()
        else:
            write(root, {name: content})
    for name, problem in expected.items():
        done = run(root, "check", "--owner", "ann", "--base", str(base), str(root / name))
        assert (done.code, problem in done.err) == (4 if problem else 0, True), done
        assert bool(done.err) == bool(problem)
