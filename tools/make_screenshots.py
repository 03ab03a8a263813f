"""The pictures of docs/pages.md, of a sample and of a made season, with Chromium and
Pillow: `python tools/make_screenshots.py`.

Each picture holds the names and numbers of its page as a text, by which a test
finds it stale.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from html import unescape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval import main  # noqa: E402
from season import make_season  # noqa: E402

SIZE: Final = {"width": 1000, "height": 640}
OPENED: Final = "q-686726ad8037c81b3fa8b1fb"  # a question of two picks for one truth
COLOURS: Final = 96  # a picture of all its colours is three times as large
PICTURES: Final = {
    "page": "evaluation/250915-careful.html",
    "question": f"evaluation/250915-careful.html#{OPENED}",
    "leaderboard": "season/evaluation/leaderboard.html",
}


def make_pages(folder: Path) -> None:
    """Make the pages of the pictures below a folder."""
    shutil.copytree(ROOT / "dataset", folder / "dataset")
    shutil.copytree(ROOT / "prediction", folder / "prediction")
    main(["-f", "250915-careful", "--html", "--root", str(folder)])
    make_season(folder / "season", weeks=8, questions=30, systems=9, runs=1)
    main(["nightly", "--root", str(folder / "season")])


def read_numbers(page: Path) -> list[str]:
    """Read the rows of a page's first table, with the titles of their marks."""
    table = (
        page.read_text(encoding="utf-8").partition("<table")[2].partition("</table>")[0]
    )
    rows = re.findall(r"<tr(?! class=\"in\").*?</tr>", table, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()) for row in rows]


def draw(folder: Path) -> None:
    """Write docs/page.png, docs/question.png and docs/leaderboard.png."""
    from PIL import Image, PngImagePlugin
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        for picture, address in PICTURES.items():
            page.goto(f"{folder.as_uri()}/{address}")
            path = ROOT / "docs" / f"{picture}.png"
            if "#" in address:
                page.locator("details.q[open] mark").wait_for()
            page.screenshot(path=path)
            texts = PngImagePlugin.PngInfo()
            texts.add_text(
                "numbers", json.dumps(read_numbers(folder / address.partition("#")[0]))
            )
            image = Image.open(path).convert("RGB").quantize(COLOURS)
            image.save(path, optimize=True, pnginfo=texts)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        make_pages(Path(temporary))
        draw(Path(temporary))
