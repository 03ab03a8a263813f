"""Systems with several names: systems.json says which files are one system's, and how users call
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import failures, stored
from cli import assert_refused, q, run, write

WEEKS: Final = {f"dataset/w{n}.json": [q(f"{n}{k}", answer=...) for k in range(4)] for n in (1, 2)}
SYSTEMS: Final = {"grok4": {"name": "Grok 4", "aliases": ["grok-4-0709", "grok4-old"]}}
FILES: Final = {
    "w1-grok-4-0709": "AAAA",
    "w2-grok4": "AAAB",
    "w1-other": "AABB",
    "w2-other": "ABBB",
}


def answers(week: int, letters: str) -> dict[str, str]:
    return {f"{week}{k}": letter for k, letter in enumerate(letters)}


def folder(root: Path, files: dict[str, str] = FILES, systems: Any = SYSTEMS) -> Path:
    predictions = {
        f"prediction/{stem}.json": answers(int(stem[1]), letters) for stem, letters in files.items()
    }
    return write(root, {**WEEKS, **predictions, "prediction/systems.json": systems})


def test_files_of_all_names_are_one_system(tmp_path: Path) -> None:
    done = run(folder(tmp_path), "nightly")
    assert (done.code, done.err) == (0, "")
    board = stored(tmp_path)
    (pooled,) = board["pooled"]
    assert [(row["name"], row["datasets"]) for row in pooled["rows"]] == [
        ("grok4", 2),
        ("other", 2),
    ]
    assert all(
        row["about"] == {"name": "Grok 4"} for table in board["tables"] for row in table["rows"][:1]
    )


def test_two_names_with_a_file_for_one_dataset(tmp_path: Path) -> None:
    root = folder(tmp_path, {**FILES, "w1-grok4": "BBBB"})
    (line,) = failures(run(root, "nightly"))
    assert line == (
        "systems.json: system grok4: 'grok-4-0709' and 'grok4' are one system, "
        "but both have a file for w1.json"
    )
    names = {row["name"] for table in stored(root)["pooled"] for row in table["rows"]}
    assert names == {"grok4", "grok-4-0709", "other"}
    assert_refused(run(root, "compare", "Grok 4", "other"), "'grok-4-0709' and 'grok4'", "w1.json")


def test_a_clash_refuses_only_what_needs_it(tmp_path: Path) -> None:
    root = folder(tmp_path, {**FILES, "w1-grok4": "BBBB", "w1-third": "BBBB", "w2-third": "ABAB"})
    done = run(root, "compare", "third", "other", "--json")
    assert [row["name"] for row in done.json["systems"]] == ["third", "other"]
    for names in (["compare", "grok-4-0709", "other"], ["-f", "Grok 4"]):
        assert_refused(run(root, *names), "'grok-4-0709' and 'grok4'", "w1.json")


@pytest.mark.parametrize(
    ("systems", "told"),
    [
        ({"a": {"aliases": "b"}}, "system a: 'aliases' must be a list of names, got 'b'"),
        ({"a": {"aliases": [1]}}, "system a: 'aliases' must be a list of names, got a list"),
        ({"a": {"aliases": ["b"]}, "b": {}}, "system a: the alias 'b' is another system"),
        ({"a": {"aliases": ["x"]}, "b": {"aliases": ["x"]}}, "system b: the alias 'x' is another"),
    ],
)
def test_mistakes(tmp_path: Path, systems: Any, told: str) -> None:
    (line,) = failures(run(folder(tmp_path, systems=systems), "nightly"))
    assert line.startswith(f"systems.json: {told}")


NAMES: Final = ["grok4", "grok-4-0709", "grok4-old", "Grok 4"]


@pytest.mark.parametrize("name", NAMES)
def test_compare_takes_every_name(tmp_path: Path, name: str) -> None:
    made = run(folder(tmp_path), "compare", name, "other", "--json").json
    assert [row["name"] for row in made["systems"]] == ["grok4", "other"]
    assert [row["datasets"] for row in made["systems"]] == [2, 2]


@pytest.mark.parametrize("name", [f"w1-{name}" for name in NAMES])
def test_names_of_files(tmp_path: Path, name: str) -> None:
    root = folder(tmp_path)
    assert run(root, "-f", name, "--json").json["name"] == "w1-grok-4-0709"
    made = run(root, "compare", name, "w1-other", "--json").json
    assert [row["name"] for row in made["systems"]] == ["w1-grok-4-0709", "w1-other"]
    assert run(root, "compare", name, "w1-other", "--fail-if-worse").code == 0


def test_a_name_of_a_system_is_all_its_files(tmp_path: Path) -> None:
    out = run(folder(tmp_path), "-f", "Grok 4").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("FutureX")] == [
        "w1-grok-4-0709",
        "w2-grok4",
    ]


@pytest.mark.parametrize("names", [
    ["w1-other", "Grok 4"], ["Grok 4", "w1-other"], ["w1-other.json", "grok-4-0709"],
    ["w1-Grok 4", "other"], ["other", "grok4", "--dataset", "w1"],
])  # fmt: skip
def test_names_with_a_dataset_mean_that_dataset_alone(tmp_path: Path, names: list[str]) -> None:
    """N5: a file of another week was compared, or the command refused."""
    made = run(folder(tmp_path), "compare", *names, "--json").json
    assert made["dataset"] == "w1.json"
    assert {row["name"] for row in made["systems"]} == {"w1-grok-4-0709", "w1-other"}


def test_a_system_without_a_file_on_that_dataset(tmp_path: Path) -> None:
    root = folder(tmp_path, {"w1-a": "AAAA", "w2-b": "AAAB"}, {})
    told = "b: expected a file for w1.json, got w2-b.json"
    assert_refused(run(root, "compare", "w1-a", "b"), told)
    (root / "prediction/systems.json").unlink()
    assert_refused(run(root, "compare", "w1-a", "b"), told)
    assert [run(root, "-f", name).code for name in ("a", "w1-a", "b")] == [0, 0, 0]
    assert_refused(run(root, "-f", "a", "--dataset", "w2"), "a: expected a file for w2.json")


def test_unknown_names_are_told_as_ever(tmp_path: Path) -> None:
    root = folder(tmp_path)
    assert_refused(run(root, "-f", "w1-grok5"), "no such file; there is w")
    assert_refused(run(root, "compare", "grok4", "grok5"), "expected a system", "grok4, other")
