"""The workflow that `init` writes: its steps are run on a bare repository, as on GitHub."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from cli import ROOT, q, question, read_json, write

pytestmark = pytest.mark.skipif(  # GitHub's machines have them
    sys.platform != "linux" or not all(map(shutil.which, ("bash", "git", "jq"))),
    reason="needs Linux with bash, git and jq",
)
WORKFLOW: Final = "forecasteval/nightly/templates/leaderboard.yml"
SYSTEMS: Final = {
    "me": {"owner": "@Ann", "aliases": ["my-old"]},
    "rival": {"owner": ["bob", "carol"], "aliases": ["old-rival"]},
}
KNOWN: Final = "has new or changed answers to questions that are closed or have a truth: 1"
CLOSED: Final = {"ground_truth": None, "closes": "2020-01-01"}
OPEN: Final = {"ground_truth": None, "closes": "2999-12-31T12:00:00+08:00"}
PROBLEM: Final = {"problem_id": "p", "options": ["x", "y"], "correct_option_idx": 0}
FILES: Final = {
    "prediction/systems.json": SYSTEMS,
    "dataset/w.json": [question(), question("q8")],
    "dataset/c.json": [question("c1", **CLOSED), question("c2", **OPEN)],
    "dataset/g.json": [PROBLEM, {"problem_id": "open", "options": ["x", "y"]}],
    "prediction/w-me.json": {"q7": "A", "q8": "B"},
    "prediction/w-rival.json": {"q7": "B", "q8": "B"},
    "prediction/c-me.json": {"c1": "A", "c2": "A"},
    "prediction/g-rival.json": [
        {"problem_id": "p", "username": "rival", "prediction": [0.9, 0.1]},
    ],
}


def forecast(*users: str) -> list[dict[str, object]]:
    return [{"problem_id": "p", "username": user, "prediction": [0.5, 0.5]} for user in users]


class Origin:
    """A bare repository, a work tree to change it, and runs of the workflow's jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work, self.runner = folder, folder / "work", folder / "runner"
        self.url = f"file://{folder / 'origin.git'}"
        text = (ROOT / WORKFLOW).read_text(encoding="utf-8")
        self.jobs: dict[str, Any] = yaml.safe_load(text)["jobs"]
        bodies = {"pip": "exit 0", "python": f'exec "{sys.executable}" -B "$@"'}
        write(folder, {f"bin/{name}": f"#!/bin/sh\n{body}\n" for name, body in bodies.items()})
        for name in bodies:
            (folder / "bin" / name).chmod(0o755)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "forecasteval", self.work / "forecasteval", ignore=ignore)
        for name in ("eval.py", "pyproject.toml", "requirements.txt"):
            shutil.copy(ROOT / name, self.work)
        write(self.work, FILES)
        self.git("init", "-q", "-b", "main")
        self.git("init", "-q", "--bare", "-b", "main", str(folder / "origin.git"))
        self.git("remote", "add", "origin", self.url)
        self.push()

    def git(self, *words: str) -> None:
        user = ["-c", "user.name=a", "-c", "user.email=a@x"]
        subprocess.run(["git", *user, *words], cwd=self.work, check=True, capture_output=True)

    def push(self, branch: str = "main") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "a change")
        self.git("push", "-qf", "origin", f"HEAD:{branch}")

    def run(self, job: str, branch: str = "main", **values: str) -> tuple[int, str]:
        """Run the steps of a job in a fresh clone: the first exit code that is not 0, all output.

        What is done by actions is left out.
        """
        shutil.rmtree(self.runner, ignore_errors=True)
        clone = ["git", "clone", "-q", "--depth", "2", "--branch", branch, self.url]
        subprocess.run([*clone, self.runner / "repo"], check=True, capture_output=True)
        files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "RUNNER_TEMP": "."}
        paths = {name: str(self.runner / file) for name, file in files.items()}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        env = {**os.environ, **paths, "PATH": path, "REMOTE": self.url, **values}
        out, code = "", 0
        for step in self.jobs[job]["steps"]:
            if code and "!cancelled()" not in step.get("if", ""):
                continue
            self._move_artifact(step)
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.get("run", "")],
                cwd=self.runner / "repo",
                env=env,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            out += done.stdout + done.stderr
            code = code or done.returncode
        return code, out

    def _move_artifact(self, step: dict[str, Any]) -> None:
        """Do what a step does by an action that keeps or brings back files, without hidden ones."""
        path = self.runner / "repo" / str(step.get("with", {}).get("path"))
        kept = self.folder / "artifact"
        if "/upload-artifact@" in step.get("uses", ""):
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(path, kept, ignore=shutil.ignore_patterns(".*"))
        elif "/download-artifact@" in step.get("uses", ""):
            shutil.copytree(kept, path)

    def night(self) -> tuple[int, str]:
        """Run a night, and keep its results; the outputs of its job stay."""
        code, out = self.run("night")
        night = self.runner.with_name("night")
        shutil.rmtree(night, ignore_errors=True)
        shutil.copytree(self.runner, night)
        keeping, said = self.run("keep")
        shutil.rmtree(self.runner)
        night.rename(self.runner)
        return code or keeping, out + said

    def pull(self, change: Callable[[Path], object], maintainer: bool = False) -> tuple[int, str]:
        """Run the check of a pull request by Ann, who changes the work tree; the owners are not
        checked for a maintainer.
        """
        self.git("checkout", "-q", "-B", "pull", "main")
        change(self.work)
        self.git("add", "-A")
        self.git("commit", "-qm", "a pull request", "--allow-empty")
        self.git("checkout", "-q", "-B", "merge", "main")
        self.git("merge", "-q", "--no-ff", "-m", "the merge", "pull")
        self.git("push", "-qf", "origin", "merge")
        self.git("checkout", "-q", "main")
        steps = self.jobs["check"]["steps"]
        (owners,) = [step for step in steps if "Contributors" in str(step)]
        assert "author_association" in owners["if"]
        if maintainer:
            self.jobs["check"]["steps"] = [step for step in steps if step is not owners]
        try:
            return self.run("check", "merge", LOGIN="ann")
        finally:
            self.jobs["check"]["steps"] = steps


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Origin]:
    """Of a board on which late answers count as missing, and on which w is open."""
    origin = Origin(tmp_path_factory.mktemp("origin"))
    rows = [question(name, ground_truth=None) for name in ("q7", "q8")]
    write(origin.work, {"forecasteval.toml": 'late-files = "drop"\n', "dataset/w.json": rows})
    rows = [question("t1"), question("t2", ground_truth=None)]
    write(origin.work, {"dataset/t.json": rows, "prediction/t-me.json": {"t1": "B", "t2": "B"}})
    origin.push()
    return origin


def test_two_nights(tmp_path: Path) -> None:
    """What nights saw comes back, the second site says what changed, a file that fails is red."""
    origin = Origin(tmp_path)
    write(origin.work, {"forecasteval.toml": 'late-files = "mark"\n'})
    origin.push()
    code, first = origin.night()
    assert (code, "What changed" in first) == (0, False)
    known = {**SYSTEMS, "new": {"baseline": True}, "me": {**SYSTEMS["me"], "name": "Me"}}
    new = {"prediction/w-new.json": {"q7": "A", "q8": "A"}, "prediction/systems.json": known}
    write(origin.work, new)
    origin.push()
    code, second = origin.night()
    assert (code, "What changed" in second, "  Late" in second) == (0, True, True)
    site = origin.runner / "repo" / "site"
    assert "What changed" in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "w-new.html").is_file()
    badge = {"schemaVersion": 1, "label": "w.json", "color": "blue", "message": "Me 0.5"}
    assert read_json(site / "badge.json") == badge  # the first with a rank
    write(origin.work, {"prediction/w-bad.json": "not JSON"})
    origin.push()
    assert origin.night()[0] == 0
    assert (origin.runner / "output").read_text() == "code=3\n"
    nights = ["git", "-C", str(tmp_path / "origin.git"), "rev-list", "--count", "evaluation"]
    assert subprocess.run(nights, capture_output=True, check=True).stdout == b"3\n"


def test_a_history_does_not_begin_anew_because_the_network_failed(origin: Origin) -> None:
    assert origin.run("night", REMOTE="file:///no/such/repository")[0] == 128


def test_a_site_before_the_first_truth(tmp_path: Path) -> None:
    origin = Origin(tmp_path)
    for path in (origin.work / "dataset").iterdir():
        path.unlink()
    write(origin.work, {"dataset/w.json": [question(ground_truth=None)]})
    (origin.work / "prediction/g-rival.json").unlink()
    write(origin.work, {"prediction/README.md": "Send a file."})
    origin.push()
    code, out = origin.run("night", GITHUB_SERVER_URL="https://g.test", GITHUB_REPOSITORY="a/b")
    assert code == 0, out
    site = origin.runner / "repo/site"
    badge = read_json(site / "badge.json")
    assert (badge["label"], badge["message"]) == ("leaderboard", "no score yet")
    link = '<a href="https://g.test/a/b/blob/main/prediction/README.md">How to enter</a>'
    assert link in (site / "index.html").read_text(encoding="utf-8")


def test_a_copy_becomes_a_page_in_the_steps_of_the_docs(tmp_path: Path) -> None:
    steps = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`(git rm [^`]+)`", steps)
    assert "1. Copy the repository" in steps
    assert "2. Run `python eval.py init --no-samples .`" in steps
    assert "3. Add your questions as `dataset/NAME.json`" in steps
    origin = Origin(tmp_path)
    for name in ("dataset", "prediction", ".github"):
        shutil.copytree(ROOT / name, origin.work / name, dirs_exist_ok=True)
    write(origin.work, {"tests/x": ""})
    origin.push()
    origin.git(*shlex.split(line)[1:])
    assert not any((origin.work / name).exists() for name in ("dataset", "prediction", ".github"))
    workflow = (ROOT / WORKFLOW).read_text(encoding="utf-8")
    write(origin.work, {".github/workflows/leaderboard.yml": workflow})
    write(origin.work, {"dataset/mine.json": [question(**OPEN)]})
    origin.push()
    code, out = origin.run("night")
    assert (code, (origin.runner / "output").read_text()) == (0, "code=0\n"), out
    page = (origin.runner / "repo/site/index.html").read_text(encoding="utf-8")
    assert "mine.json" in page
    assert "2999-12-31 04:00 UTC" in page


def add(**files: object) -> Callable[[Path], object]:
    return lambda root: write(root, files)


def remove(name: str) -> Callable[[Path], object]:
    return lambda root: (root / name).unlink()


def rename(name: str, other: str) -> Callable[[Path], object]:
    return lambda root: (root / name).rename(root / other)


def link(name: str, target: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(target)

    return change


ANSWERS: Final = {"q7": "A", "q8": "A"}
PULLS: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "nothing": (lambda root: None, ""),
    "own new run": (add(**{"prediction/w-me@2.json": ANSWERS}), ""),
    "own changed file": (add(**{"prediction/w-me.json": ANSWERS}), ""),
    "an answer that is missing": (add(**{"prediction/w-me.json": {"q7": "A"}}), "missing: 1"),
    "own file removed": (remove("prediction/w-me.json"), ""),
    "own forecasts": (
        add(**{"prediction/g-me.json": [{**forecast("me")[0], "problem_id": "open"}]}),
        "",
    ),
    "own forecasts of a known event": (
        add(**{"prediction/g-me.json": forecast("me")}),
        f"g-me.json: {KNOWN} (me: p)",
    ),
    "a rival's run": (add(**{"prediction/w-rival@2.json": ANSWERS}), "registered to bob"),
    "a rival's alias": (add(**{"prediction/w-old-rival.json": ANSWERS}), "registered to bob"),
    "a rival's other form": (add(**{"prediction/w-rival.jsonl": "[]"}), "registered to bob"),
    "a rival's file removed": (remove("prediction/w-rival.json"), "registered to bob"),
    "a rival's file renamed": (
        rename("prediction/w-rival.json", "prediction/w-me@9.json"),
        "w-rival.json: system 'rival' is registered to bob",
    ),
    "a new system": (add(**{"prediction/w-new.json": ANSWERS}), "registered to nobody"),
    "a link": (link("prediction/w-me.json", "w-rival.json"), "is a link"),
    "a link in place of the owners": (
        link("prediction/systems.json", "../forecasteval.toml"),
        "systems.json: is no prediction file",
    ),
    "a path outside": (add(**{"prediction/sub/w-me.json": ANSWERS}), "is no prediction file"),
    "owners of its own": (
        add(
            **{
                "prediction/systems.json": {"rival": {"owner": "ann"}},
                "prediction/w-rival.json": ANSWERS,
            }
        ),
        "system 'rival' is registered to bob",
    ),
    "a program of its own": (
        add(**{"eval.py": "", "forecasteval/cli.py": "", "prediction/w-rival.json": ANSWERS}),
        "system 'rival' is registered to bob",
    ),
    "settings": (add(**{"forecasteval.toml": 'rules = "paper"\n'}), "is no prediction file"),
    "a dataset": (add(**{"dataset/w.json": [question()]}), "is no prediction file"),
    "truths": (add(**{"dataset/w.truths.csv": "id,ground_truth\nq7,B\n"}), "no prediction file"),
    "questions of its own": (
        add(**{"prediction/w-me.csv": "question,market,model,prob,won\nq,m,rival,1,1\n"}),
        "has questions of its own",
    ),
    "a rival's username": (
        add(**{"prediction/g-me.json": forecast("me", "rival")}),
        "system 'rival' is registered to bob",
    ),
    "a name that is an option": (add(**{"--root=x": ""}), "is no prediction file"),
    "a name with a line feed": (add(**{"prediction/w-me\n.txt": ""}), r"w-me\n.txt: is no"),
    "an answer after closing": (
        add(**{"prediction/c-me.json": {"c1": "B", "c2": "A"}}),
        f"c-me.json: {KNOWN} (c1)",
    ),
    "a new file after closing": (
        add(**{"prediction/c-me@2.json": {"c1": "A", "c2": "A"}}),
        f"c-me@2.json: {KNOWN} (c1)",
    ),
    "an answer before closing": (add(**{"prediction/c-me.json": {"c1": "A", "c2": "B"}}), ""),
    "a closed answer in another form": (
        add(**{"prediction/c-me.json": [{"id": "c2", "answer": "A"}, {"id": "c1", "answer": "A"}]}),
        "",
    ),
    "a closed file in another form, with another open answer": (
        lambda root: [
            remove("prediction/c-me.json")(root),
            write(root, {"prediction/c-me.jsonl": [q("c1", answer="A"), q("c2", answer="C")]}),
        ],
        "",
    ),
    "a renamed file after closing": (
        rename("prediction/c-me.json", "prediction/c-me@1.json"),
        "",
    ),
    "a closed answer taken back": (add(**{"prediction/c-me.json": {"c2": "A"}}), "missing: 1"),
    "a deadline of its own": (
        add(
            **{
                "dataset/c.json": [question("c1", **OPEN), question("c2", **OPEN)],
                "prediction/c-me.json": {"c1": "B", "c2": "A"},
            }
        ),
        f"c-me.json: {KNOWN} (c1)",
    ),
    "published truths": (add(**{"prediction/t-me.json": {"t1": "A", "t2": "A"}}), f"{KNOWN} (t1)"),
    "a wrong answer behind a truth": (
        add(**{"prediction/t-me.json": {"t1": "C", "t2": "B"}}),
        f"{KNOWN} (t1)",
    ),
    "a new file behind a truth": (
        add(**{"prediction/t-me@2.json": {"t1": "B", "t2": "B"}}),
        f"t-me@2.json: {KNOWN} (t1)",
    ),
    "an open answer beside a truth": (
        add(**{"prediction/t-me.json": {"t1": "B", "t2": "A"}}),
        "",
    ),
    "a truth and settings of its own": (
        add(
            **{
                "forecasteval.toml": 'late-files = "keep"\n',
                "dataset/t.json": [question("t1", ground_truth=None)],
                "prediction/t-me.json": {"t1": "A", "t2": "B"},
            }
        ),
        f"{KNOWN} (t1)",
    ),
    "two files with one stem": (
        add(**{"prediction/w-me.jsonl": [{"id": "q7", "answer": "A"}]}),
        "expected one file with this stem, got w-me.json, w-me.jsonl",
    ),
    "an alias beside the name": (
        add(**{"prediction/w-my-old.json": ANSWERS}),
        "system me: 'me' and 'my-old' are one system, but both have a file for w.json",
    ),
    "forecasts of nobody": (
        add(**{"prediction/g-me.json": [*forecast("me"), *forecast("")]}),
        "g-me.json: has a forecast without a username",
    ),
    "forecasts that are their file's, of a closed event": (
        add(**{"prediction/g-me.json": [{"problem_id": "p", "prediction": [0.5, 0.5]}]}),
        f"g-me.json: {KNOWN} (me: p)",
    ),
    "forecasts that are their file's, of an open event": (
        add(**{"prediction/g-me.json": [{"problem_id": "open", "prediction": [0.5, 0.5]}]}),
        "",
    ),
    "forecasts that are another's file's": (
        add(**{"prediction/g-rival@2.json": [{"problem_id": "open", "prediction": [0.5, 0.5]}]}),
        "system 'rival' is registered to",
    ),
    "questions repeated with another Std": (
        add(
            **{
                "prediction/w-me.json": [
                    q("q7", Std=2.5, ground_truth="C"),
                    q("q8", level=2),
                ]
            }
        ),
        "",
    ),
}


@pytest.mark.parametrize(("change", "problem"), PULLS.values(), ids=PULLS)
def test_pull_requests(origin: Origin, change: Callable[[Path], object], problem: str) -> None:
    """Contributors change their own files only; the branch has program, owners and deadlines."""
    code, out = origin.pull(change)
    assert (code, problem in out) == (123 if problem else 0, True), out
    summary = (origin.runner / "summary").read_text(encoding="utf-8")
    assert problem in summary
    assert all(line.startswith("    ") for line in summary.splitlines())  # no Markdown of files


MAINTAINED: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "good settings": (add(**{"forecasteval.toml": "gamma = [0, 1]\nfull = true\n"}), ""),
    "an unknown setting": (
        add(**{"forecasteval.toml": "gamma = 1\nrule = 1\n"}),
        "line 2: rule: expected the name of an option that a folder can have",
    ),
    "settings that only a night meets": (
        add(**{"forecasteval.toml": "min-questions = -1\n"}),
        "line 1: min-questions: expected a number >= 0, got -1",
    ),
    "a mistake in the owners": (
        add(**{"prediction/systems.json": {**SYSTEMS, "x": {"owner": 7}}}),
        "system x: 'owner' must be a login or a list of logins, got 7",
    ),
    "owners that are no JSON": (add(**{"prediction/systems.json": "{"}), "systems.json"),
    "an alias that is another system's": (
        add(**{"prediction/systems.json": {**SYSTEMS, "old-rival": {}}}),
        "the alias 'old-rival' is another system",
    ),
    "a dataset gone": (remove("dataset/w.json"), "w-me.json: expected questions with 'level'"),
    "a dataset gone with its files": (
        lambda root: [path.unlink() for path in (*root.glob("*/w.json"), *root.glob("*/w-*"))],
        "",
    ),
    "a mistake in a dataset": (
        add(**{"dataset/w.json": [question(ground_truth="E")]}),
        "w.json\n    1 record, 1 finding",
    ),
    "a time that is none": (
        add(**{"dataset/c.json": [question("c1", closes="soon")]}),
        "'closes' that is no time of ISO 8601: 1",
    ),
    "truths": (add(**{"dataset/w.truths.csv": "id,ground_truth\nq7,B\n"}), ""),
    "how to enter": (add(**{"prediction/README.md": "Send a file."}), ""),
}


@pytest.mark.parametrize(("change", "problem"), MAINTAINED.values(), ids=MAINTAINED)
def test_pull_requests_of_maintainers(
    origin: Origin, change: Callable[[Path], object], problem: str
) -> None:
    """What would turn every night red is found before."""
    code, out = origin.pull(change, maintainer=True)
    assert (code, problem in out) == (123 if problem else 0, True), out


def test_a_mistake_in_the_owners_is_told_to_contributors_as_such(tmp_path: Path) -> None:
    origin = Origin(tmp_path)
    mistaken = {**SYSTEMS, "me": {"owner": 7}}
    write(origin.work, {"prediction/systems.json": mistaken})
    origin.push()
    code, out = origin.pull(add(**{"prediction/w-me@2.json": ANSWERS}))
    assert code == 123
    assert "w-me@2.json: the registration file has a mistake; the maintainers see it" in out
    assert "system me: 'owner' must be a login or a list of logins, got 7" in out  # in the log


def test_actions_are_pinned_and_jobs_have_only_what_they_need(origin: Origin) -> None:
    text = (ROOT / WORKFLOW).read_text(encoding="utf-8")
    uses = [line for line in text.splitlines() if "uses:" in line]
    assert len(uses) == 8
    ours = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    for line in [*uses, *(line for line in ours.splitlines() if "uses:" in line)]:
        assert len(line.partition("@")[2].partition(" # v")[0]) == 40, line
    permissions = {name: job["permissions"] for name, job in origin.jobs.items()}
    assert permissions == {
        "check": {"contents": "read"},
        "night": {"contents": "read"},
        "keep": {"contents": "write"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    assert "install" not in str([step.get("run") for step in origin.jobs["keep"]["steps"]])
    assert "${{" not in json.dumps([step.get("run") for step in origin.jobs["check"]["steps"]])
