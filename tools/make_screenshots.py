"""The pictures of docs/pages.md, from the shipped samples: `python tools/make_screenshots.py`, with
Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval import main  # noqa: E402

SIZE: Final = {"width": 1000, "height": 760}
OPENED: Final = "q-686726ad"  # a question of two picks for one truth


def make(folder: Path) -> None:
    """Write docs/page.png, docs/question.png and docs/leaderboard.png."""
    for name in ("dataset", "prediction"):
        shutil.copytree(ROOT / name, folder / name)
    root = ["--root", str(folder)]
    main(["-f", "250915-careful", "--html", *root])
    main(["nightly", *root])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        pictures = (
            ("250915-careful", "page"),
            (f"250915-careful.html#{OPENED}", "question"),
            ("leaderboard", "leaderboard"),
        )
        for name, picture in pictures:
            file, _, anchor = name.partition(".html")
            page.goto((folder / "evaluation" / f"{file}.html").as_uri() + anchor)
            if name == "leaderboard":
                for _ in range(2):  # rows that come into view get their true height
                    page.evaluate(
                        "document.querySelectorAll('h2').forEach((heading) => { if"
                        " (heading.textContent.startsWith('Prophet')) heading.scrollIntoView(); })"
                    )
                    page.wait_for_timeout(500)
            page.screenshot(path=ROOT / "docs" / f"{picture}.png")
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        make(Path(temporary))
