"""The pictures of docs/pages.md, of a sample and of a made season, with Chromium and Pillow:
`python tools/make_screenshots.py`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval import main  # noqa: E402
from season import make_season  # noqa: E402

SIZE: Final = {"width": 1000, "height": 640}
OPENED: Final = "q-686726ad"  # a question of two picks for one truth
COLOURS: Final = 96  # a picture of all its colours is three times as large


def make(folder: Path) -> None:
    """Write docs/page.png, docs/question.png and docs/leaderboard.png."""
    shutil.copytree(ROOT / "dataset", folder / "dataset")
    shutil.copytree(ROOT / "prediction", folder / "prediction")
    main(["-f", "250915-careful", "--html", "--root", str(folder)])
    make_season(folder / "season", weeks=8, questions=30, systems=9, runs=1)
    main(["nightly", "--root", str(folder / "season")])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        for picture, address in (
            ("page", "evaluation/250915-careful.html"),
            ("question", f"evaluation/250915-careful.html#{OPENED}"),
            ("leaderboard", "season/evaluation/leaderboard.html"),
        ):
            page.goto(f"{folder.as_uri()}/{address}")
            path = ROOT / "docs" / f"{picture}.png"
            page.screenshot(path=path)
            Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        make(Path(temporary))
