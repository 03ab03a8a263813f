"""Pages in Chromium: nothing leaves them, the policy holds, filters and sorting work, axe finds nothing serious."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cli import ROOT, run
from forecasteval.boards.page import render
from hostile import hostile_results

BROWSER: Final = shutil.which("chromium")
ARGUMENTS: Final = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
pytestmark = pytest.mark.extra("chromium", "playwright", "axe_playwright_python")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of the samples, and one of hostile texts."""
    root = tmp_path_factory.mktemp("pages")
    for folder in ("dataset", "prediction"):
        shutil.copytree(ROOT / folder, root / folder)
    names = ["250915-careful", "prophet-sample", "multiple_choice_single_varying-random"]
    assert run(root, *(word for name in names for word in ("-f", name)), "--html").code == 0
    assert run(root, "compare", "250915-careful", "250915-random", "--html").code == 0
    assert run(root, "nightly").code == 0
    (root / "evaluation/hostile.html").write_text(render(hostile_results().page()), encoding="utf-8")
    return {name: root / f"evaluation/{name}.html" for name in (*names, "compare", "leaderboard", "hostile")}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
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


NAMES: Final = (
    "250915-careful", "prophet-sample", "multiple_choice_single_varying-random", "compare", "leaderboard", "hostile"
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_asked_for_or_too_wide(pages: dict[str, Path], browser: Any, name: str) -> None:
    for width, scheme in ((390, "dark"), (1280, "light")):
        watched = Watched(browser, pages[name], viewport={"width": width, "height": 900}, color_scheme=scheme)
        assert watched.said == []
        assert watched.asked == [pages[name].as_uri()]
        assert watched.page.title() != "owned"
        assert watched.page.evaluate("document.documentElement.scrollWidth") == width
        watched.context.close()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_on_paper(pages: dict[str, Path], browser: Any, name: str) -> None:
    paper = {"width": 1047, "height": 700}  # A4 across, with margins of a centimetre
    watched = Watched(browser, pages[name], viewport=paper)
    watched.page.emulate_media(media="print")
    assert watched.page.evaluate("document.documentElement.scrollWidth") == paper["width"]
    shown = "[...document.querySelectorAll('.wide')].filter((box) => !box.closest('details'))"
    cut = f"{shown}.filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    assert watched.page.evaluate(cut) == 0
    watched.context.close()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(pages: dict[str, Path], browser: Any, name: str, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    watched = Watched(browser, pages[name], color_scheme=scheme, bypass_csp=True)
    watched.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(watched.page).response["violations"]
    serious = [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []
    watched.context.close()


def test_filters_and_sorting(pages: dict[str, Path], browser: Any) -> None:
    watched = Watched(browser, pages["250915-careful"])
    page = watched.page
    shown = page.locator(".records tbody tr:visible")
    assert shown.count() == 52
    page.get_by_label("Search").fill("velmora")
    texts = shown.all_inner_texts()
    assert 0 < len(texts) < 52
    assert all("velmora" in text.lower() for text in texts)
    page.get_by_role("button", name="Show all").click()
    assert shown.count() == 52
    page.get_by_label("Level", exact=True).select_option("4")
    assert shown.count() == 20
    page.get_by_label("Outcome", exact=True).select_option("missing")
    assert shown.count() == 1
    assert page.locator("output").inner_text() == "1 of 52 rows"
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Score", exact=True).select_option("between 0 and 1")
    scores = [float(text) for text in page.locator(".records tbody tr:visible td:nth-child(4)").all_inner_texts()]
    assert scores
    assert all(0 < score < 1 for score in scores)
    head = page.locator(".records th", has_text="Score")
    head.get_by_role("button").focus()
    for order, down in (("ascending", False), ("descending", True)):
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == order
        found = [float(text) for text in page.locator(".records tbody tr:visible td:nth-child(4)").all_inner_texts()]
        assert found == sorted(scores, reverse=down)
    watched.context.close()


def test_the_policy_refuses_scripts_that_are_not_the_pages_own(
    pages: dict[str, Path], browser: Any, tmp_path: Path
) -> None:
    evil = (
        '<script>document.title = "owned"</script><img src="http://127.0.0.1:9/x" onerror="document.title = \'owned\'">'
    )
    page = tmp_path / "injected.html"
    page.write_text(pages["compare"].read_text(encoding="utf-8").replace("<main>", f"<main>{evil}"), encoding="utf-8")
    watched = Watched(browser, page)
    assert watched.page.title() == "Comparison of 250915-careful and 250915-random"
    assert watched.refused == ["csp"]
    assert any("Content Security Policy" in said for said in watched.said)
    watched.context.close()


def test_without_script_and_style_everything_is_there(pages: dict[str, Path], browser: Any, tmp_path: Path) -> None:
    bare = tmp_path / "bare.html"
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    bare.write_text(
        pages["250915-careful"].read_text(encoding="utf-8").replace("<title>", f"{policy}<title>", 1), encoding="utf-8"
    )
    watched = Watched(browser, bare, java_script_enabled=False)
    page = watched.page
    assert page.locator(".records tbody tr:visible").count() == 52
    assert page.locator(".tools").count() == 0
    colours = page.locator("svg path[fill]:not([fill=none])").evaluate_all(
        "(all) => [...new Set(all.map((one) => getComputedStyle(one).fill))]"
    )
    assert "rgb(0, 114, 178)" in colours  # bars are blue, not black
    watched.context.close()


def test_a_page_with_many_rows_filters_at_once(browser: Any, tmp_path: Path) -> None:
    from cli import q
    from eval import FutureXEvaluator

    rows = [q(f"q{n}", answer="B" if n % 2 else "A") for n in range(2500)]
    path = tmp_path / "many.html"
    path.write_text(render(FutureXEvaluator().evaluate_all(rows).page()), encoding="utf-8")
    watched = Watched(browser, path)
    watched.page.get_by_label("Search").fill("q24")
    shown = watched.page.locator(".records tbody tr:visible td:last-child").all_inner_texts()
    assert shown
    assert all("q24" in text for text in shown)
    watched.context.close()
