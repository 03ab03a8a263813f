"""Four weeks of ten systems as a researcher has them: truths that come on three days, one that is
corrected, a system with a new name, an outage, and a system that is new in week three. What
happened is said in words every day, on the screen, in leaderboard.md and on the page.
"""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from boards_folders import stored
from cli import run, write

WEEKS: Final = ("250901", "250908", "250915", "250922")
QUESTIONS: Final = 16  # of a week
OLD, NEW, DOWN, LATE = "grok-4-0709", "grok4", "juno", "kestrel"
SYSTEMS: Final = (
    "atlas", "borealis", "cinder", "delta", "ember", "fjord", OLD, "harbor", "indigo", DOWN,
)  # fmt: skip
DAY: Final = 86_400
RESOLVED: Final = "FutureX, {}.json, {} of 16 resolved"


class Month:
    """A folder, and the truths that will be known in the end."""

    def __init__(self, root: Path) -> None:
        self.root, self.day = root, 20_000
        rng = random.Random(5)
        self.truths = {
            week: {f"{week}-q{n:02}": rng.choice("ABCD") for n in range(QUESTIONS)}
            for week in WEEKS
        }

    def add_week(self, week: str, **names: str) -> None:
        """Questions without truths, and predictions; `names` are other ones of files."""
        prompt = "Which option?\\nA. north\\nB. south\\nC. east\\nD. west"
        rows = [
            {"id": name, "level": 1 + n % 2, "prompt": prompt}
            for n, name in enumerate(self.truths[week])
        ]
        write(self.root, {f"dataset/{week}.json": rows})
        for n, system in enumerate(SYSTEMS):
            self.predict(week, system, 0.15 + 0.07 * n, names.get(system, system))

    def predict(self, week: str, system: str, skill: float, name: str = "") -> None:
        rng = random.Random(f"{week}{system}")
        answers = {
            key: truth if rng.random() < skill else rng.choice("ABCD")
            for key, truth in self.truths[week].items()
        }
        write(self.root, {f"prediction/{week}-{name or system}.json": answers})

    def resolve(self, week: str, count: int) -> None:
        """The first truths of a week, in the file beside its questions."""
        lines = [f"{key},{truth}" for key, truth in self.truths[week].items()][:count]
        text = "\n".join(["id,ground_truth", *lines, ""])
        write(self.root, {f"dataset/{week}.truths.csv": text.encode()})

    def night(self) -> tuple[list[str], str]:
        """The lines that a run prints, and its Markdown, which says the same."""
        self.day += 1
        done = run(self.root, "nightly", SOURCE_DATE_EPOCH=str(self.day * DAY))
        assert (done.code, done.err) == (0, "")
        shown = [re.sub(" +", " ", line) for line in done.out.splitlines()]
        return shown, self.read("leaderboard.md")

    def page(self) -> str:
        """The texts of the page."""
        page = html.unescape((self.root / "evaluation/leaderboard.html").read_text("utf-8"))
        return re.sub("<[^>]*>", "", page)

    def read(self, name: str) -> str:
        return (self.root / "evaluation" / name).read_text("utf-8").replace("\\", "")

    def lines_of_the_night(self) -> list[Mapping[str, object]]:
        lines = list(map(json.loads, self.read("history.jsonl").splitlines()))
        return [line for line in lines if line["night"] == lines[-1]["night"]]


def says(shown: list[str], texts: str, *sentences: str) -> None:
    """Assert that each of the sentences is a line on the screen and in Markdown."""
    for sentence in sentences:
        assert any(sentence in line for line in shown), sentence
        assert sentence in texts, sentence


def test_a_month(tmp_path: Path) -> None:
    month = Month(tmp_path)
    for week in WEEKS[:3]:
        month.add_week(week)
    month.predict("250915", LATE, 0.6)
    month.resolve("250901", QUESTIONS)
    month.resolve("250908", QUESTIONS)
    says(*month.night(), "250915.json: no truth yet, 11 files wait", "all 2 datasets, 32 questions")
    assert "250915.json: no truth yet" in month.page()

    month.resolve("250915", 6)
    partial = "Partial, and counted by their resolved questions: 250915.json (6 of 16 resolved)"
    said = month.night()
    says(
        *said,
        RESOLVED.format("250915", 6),
        partial,
    )
    assert any(line.startswith(f"{LATE} 250915.json – ") for line in said[0])
    assert not any("no truth yet" in line for line in said[0])
    assert "250915: 6 of 16 resolved" in month.page()

    corrected = "250908-q03"
    before = month.truths["250908"][corrected]
    after = "ABCD"[("ABCD".index(before) + 1) % 4]
    month.truths["250908"][corrected] = after
    month.resolve("250908", QUESTIONS)
    month.resolve("250915", 11)
    said = month.night()
    says(*said, "5 more truths, 11 of 16 known", "1 truth corrected")
    says(*said, f"250908.json: 1 truth corrected: {corrected} ({before} → {after})")
    assert f"1 truth corrected: {corrected} ({before} → {after})" in month.page()
    named = [line for line in month.lines_of_the_night() if "question_changes" in line]
    assert {line["dataset"] for line in named} == {"250908.json"}

    month.add_week("250922", **{OLD: NEW})
    month.predict("250922", LATE, 0.6)
    blank = dict.fromkeys(month.truths["250922"], "")
    write(tmp_path, {f"prediction/250922-{DOWN}.json": blank})
    write(tmp_path, {"prediction/systems.json": {NEW: {"name": "Grok 4", "aliases": [OLD]}}})
    said = month.night()
    says(*said, "250922.json: no truth yet, 11 files wait")
    assert "What changed last" not in said[0]

    month.resolve("250915", QUESTIONS)
    month.resolve("250922", 7)
    said = month.night()
    says(*said, "5 more truths, 16 of 16 known", "FutureX, 250915.json, 16 q")
    says(*said, RESOLVED.format("250922", 7), "no readable answer: 1 (250922.json)")
    assert "no readable answer: 1 (250922.json)" in month.page()
    (pooled,) = stored(tmp_path)["pooled"]
    assert {row["name"] for row in pooled["rows"]} == {*SYSTEMS, NEW, LATE} - {OLD}
    assert [(each["n"], each.get("pending")) for each in pooled["datasets"]] == [
        (16, None), (16, None), (16, None), (7, 9),
    ]  # fmt: skip
    (down,) = [row for row in pooled["rows"] if row["name"] == DOWN]
    assert (down["datasets"], down["missing"]) == (4, 7)
    overall = {
        line["system"]: line
        for line in month.lines_of_the_night()
        if line["dataset"] == "all datasets"
    }
    assert overall.keys() == {*SYSTEMS, NEW, LATE} - {OLD}
    assert {name: line["score"] for name, line in overall.items()} == {
        row["name"]: row["overall_score"] for row in pooled["rows"]
    }
    assert [table["dataset"] for table in stored(tmp_path)["tables"]] == [
        f"{week}.json" for week in reversed(WEEKS)
    ]
