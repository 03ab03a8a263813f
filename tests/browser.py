"""Chromium, the pages that tests look at in it, and what a page said, asked for and tried."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from cli import ROOT, run
from forecasteval.display.html import render
from hostile import TEXTS, hostile_results
from season import make_season

BROWSER: Final = shutil.which("chromium")
ARGUMENTS: Final = (
    *(
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
    ),
    *("--disable-component-update", "--disable-sync"),
)
NAMES: Final = (
    "250915-careful", "prophet-sample", "multiple_choice_single_varying-random", "compare",
    "weeks", "leaderboard", "season", "hostile",
)  # fmt: skip


def make_pages(root: Path) -> dict[str, Path]:
    """The pages of the samples, and one of hostile texts."""
    for folder in ("dataset", "prediction"):
        shutil.copytree(ROOT / folder, root / folder)
    about = {
        "careful": {"search": "yes", TEXTS[1]: TEXTS[1]},
        "random": {"search": "no", TEXTS[1]: TEXTS[4] * 9},
    }
    (root / "prediction/systems.json").write_text(json.dumps(about))
    names = ["250915-careful", "prophet-sample", "multiple_choice_single_varying-random"]
    assert run(root, *(word for name in names for word in ("-f", name)), "--html").code == 0
    assert run(root, "compare", "250915-careful", "250915-random", "--html").code == 0
    assert run(root, "nightly", "--by", "category").code == 0
    make_season(root / "season", weeks=3, questions=8, systems=4, runs=1)
    pair = ("harbor-9b", "deep.agent")
    assert run(root / "season", "compare", *pair, "--html").code == 0
    shutil.copy(root / "season/evaluation/compare.html", root / "evaluation/weeks.html")
    assert run(root / "season", "nightly").code == 0
    shutil.copy(root / "season/evaluation/leaderboard.html", root / "evaluation/season.html")
    (root / "evaluation/hostile.html").write_text(
        render(hostile_results().page()), encoding="utf-8"
    )
    return {name: root / f"evaluation/{name}.html" for name in NAMES}


@contextmanager
def start_chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


class Watched:
    """A page, and what it said, asked for and tried."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.refused: list[str] = []
        self.page.on("requestfailed", lambda request: self.refused.append(request.failure))
        self.page.goto(path.as_uri())
