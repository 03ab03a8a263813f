"""Pages as people use them in Chromium: filters, search, order, links, copies, no script."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Final

import pytest

from browser import Watched
from cli import ROOT, q, run
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.display.html import render
from season import make_season

pytestmark = pytest.mark.extra("chromium", "playwright")

ROWS: Final = ".rows > details:visible"


def scores(page: Any) -> list[float]:
    return [float(text) for text in page.locator(f"{ROWS} .chip").all_text_contents()]


def keys(page: Any) -> list[str]:
    shown: list[str] = page.locator(ROWS).evaluate_all("(all) => all.map((one) => one.id)")
    return shown


def test_filters_search_and_order(pages: dict[str, Path], browser: Any) -> None:
    watched = Watched(browser, pages["250915-careful"])
    page = watched.page
    shown, count = page.locator(ROWS), page.locator("output")
    assert (shown.count(), count.inner_text()) == (52, "52 questions")
    page.get_by_label("Search questions").fill("velmora")
    texts = shown.all_text_contents()
    assert 0 < len(texts) < 52
    assert all("velmora" in text.lower() for text in texts)
    page.get_by_label("Search questions").fill("")
    level, missing = page.get_by_label("Level 4"), page.get_by_role("button", name="missing 3")
    level.focus()
    page.keyboard.press("Enter")
    assert (shown.count(), level.get_attribute("aria-pressed")) == (20, "true")
    missing.click()
    assert count.inner_text() == "1 of 52 questions · 4 · missing"
    level.click()
    assert shown.count() == 3
    missing.click()
    assert shown.count() == 52
    page.get_by_label("Order").select_option("score")
    assert scores(page) == sorted(scores(page))
    watched.context.close()


def test_paper_says_what_hides_rows(pages: dict[str, Path], browser: Any) -> None:
    watched = Watched(browser, pages["250915-careful"])
    page = watched.page
    page.get_by_label("Search questions").fill("a")
    page.get_by_label("Level 4").click()
    page.emulate_media(media="print")
    count = page.locator(ROWS).count()
    assert page.locator("output").inner_text() == f"{count} of 52 questions · 4 · a"
    assert not page.get_by_label("Level 4").is_visible()
    watched.context.close()


def test_questions_without_a_score_are_last(browser: Any, tmp_path: Path) -> None:
    rows = [q("a"), q("b", answer=None), q("c", answer="B"), q("d", ground_truth=None)]
    path = tmp_path / "skip.html"
    results = FutureXEvaluator(missing="skip").evaluate_all(rows)
    path.write_text(render(results.page()), encoding="utf-8")
    watched = Watched(browser, path)
    assert keys(watched.page) == ["q-c", "q-a", "q-b", "q-d"]
    watched.page.get_by_label("Order").select_option("score")
    assert keys(watched.page) == ["q-c", "q-a", "q-b", "q-d"]
    watched.page.get_by_role("button", name="pending 1").click()
    assert keys(watched.page) == ["q-d"]
    watched.context.close()


def test_the_address_holds_what_is_chosen_and_leads_to_a_question(
    pages: dict[str, Path], browser: Any
) -> None:
    watched = Watched(browser, pages["250915-careful"])
    page, address = watched.page, pages["250915-careful"].as_uri()
    page.get_by_label("Level 3").click()
    page.get_by_label("Order").select_option("score")
    assert page.evaluate("location.hash") == "#level=3&sort=score"
    page.goto(f"{address}#level=4&sort=score")
    page.locator("output", has_text="20 of 52").wait_for()  # the event follows the address
    assert scores(page) == sorted(scores(page))
    page.goto(f"{address}#q-6873e6a7b3ade716ed3b2a82&level=1")
    page.locator("output", has_text="11 of 52").wait_for()
    opened = page.locator("details[open]")
    assert opened.count() == 1
    assert "harbour tunnel" in opened.text_content()  # texts out of sight may not be laid out yet
    assert opened.locator("mark").text_content() == "Yes"
    watched.context.close()


def test_copy_keeps_what_is_chosen(pages: dict[str, Path], browser: Any) -> None:
    watched = Watched(browser, pages["250915-careful"])
    watched.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = watched.page
    page.get_by_role("button", name="partly right").click()
    page.get_by_label("Search questions").fill("a")
    page.locator(ROWS).first.locator("summary").click()
    page.locator(ROWS).first.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{page.url.split('#')[0]}#{keys(page)[0]}&cause=partly+right&search=a"
    watched.context.close()


@pytest.mark.parametrize("clipboard", ["undefined", "{writeText: () => Promise.reject()}"])
def test_copy_says_where_the_browser_refuses(
    pages: dict[str, Path], browser: Any, clipboard: str
) -> None:
    watched = Watched(browser, pages["250915-careful"])
    page = watched.page
    page.evaluate(
        f"Object.defineProperty(navigator, 'clipboard', {{value: {clipboard}, configurable: true}})"
    )
    row = page.locator(ROWS).first
    row.locator("summary").click()
    row.get_by_role("button", name="Copy link").click()
    row.get_by_role("button", name="copy it from the address bar").wait_for()
    assert page.url.endswith(f"#{keys(page)[0]}")
    watched.context.close()


def test_what_counts_of_a_long_answer_is_scrolled_to(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    answer = "so \n" * 900 + r"\boxed{A}" + " and \n" * 900
    results = FutureXEvaluator().evaluate_all([q("a", answer=answer)])
    path.write_text(render(results.page()), encoding="utf-8")
    watched = Watched(browser, path, viewport={"width": 1280, "height": 900})
    watched.page.locator("summary").last.focus()
    watched.page.keyboard.press("Enter")
    scrolled = "document.querySelector('.box mark').closest('.box').scrollTop > 0"
    watched.page.wait_for_function(scrolled)
    inside = """() => { const [a, b] = ["mark", ".box:has(mark)"].map((name) =>
      document.querySelector(name).getBoundingClientRect());
      return a.top >= b.top && a.bottom <= b.bottom; }"""
    assert watched.page.evaluate(inside)
    watched.context.close()


def test_what_is_shown_can_be_downloaded(pages: dict[str, Path], browser: Any) -> None:
    watched = Watched(browser, pages["hostile"], accept_downloads=True)
    watched.page.get_by_label("Level 4").click()
    with watched.page.expect_download() as download:
        watched.page.get_by_role("button", name="CSV").click()
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["Score", "Level", "Question", "Reason", "Costs"]
    assert len(rows) == 1 + watched.page.locator(ROWS).count()
    assert {row[1] for row in rows[1:]} == {"L4"}
    assert not [cell for row in rows for cell in row if cell[:1] in "=+-@" and cell]
    assert watched.said == []
    watched.context.close()


def test_the_policy_refuses_scripts_that_are_not_the_pages_own(
    pages: dict[str, Path], browser: Any, tmp_path: Path
) -> None:
    evil = (
        '<script>document.title = "owned"</script><img src="http://127.0.0.1:9/x"'
        " onerror=\"document.title = 'owned'\">"
    )
    page = tmp_path / "injected.html"
    page.write_text(
        pages["compare"].read_text(encoding="utf-8").replace("<main>", f"<main>{evil}"),
        encoding="utf-8",
    )
    watched = Watched(browser, page)
    assert watched.page.title() == "careful against random"
    assert watched.refused == ["csp"]
    assert any("Content Security Policy" in said for said in watched.said)
    watched.context.close()


def test_without_script_and_style_everything_is_there(
    pages: dict[str, Path], browser: Any, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.html"
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    bare.write_text(
        pages["250915-careful"]
        .read_text(encoding="utf-8")
        .replace("<title>", f"{policy}<title>", 1),
        encoding="utf-8",
    )
    watched = Watched(browser, bare, java_script_enabled=False)
    page = watched.page
    assert page.locator(ROWS).count() == 52
    page.locator("#q-6873e6a7b3ade716ed3b2a82 > summary").click()
    assert page.get_by_text("Step 2: evidence.").is_visible()
    page.goto(pages["250915-careful"].as_uri())
    assert not page.get_by_label("Search questions").is_visible()  # it would do nothing
    watched.context.close()


def test_the_first_screen_has_score_levels_causes_and_questions(
    pages: dict[str, Path], browser: Any
) -> None:
    watched = Watched(browser, pages["250915-careful"], viewport={"width": 1280, "height": 900})
    page = watched.page
    shown = [".hero", ".lvl tr:last-child", ".tags", "details.q:nth-child(6)"]
    bottoms = [page.locator(name).first.bounding_box() for name in shown]
    assert all(box["y"] + box["height"] <= 900 for box in bottoms)
    assert page.locator("td.x").first.bounding_box()["width"] > 400
    watched.context.close()


def test_on_a_phone_marks_stand_below_their_axis(pages: dict[str, Path], browser: Any) -> None:
    watched = Watched(browser, pages["250915-careful"], viewport={"width": 390, "height": 844})
    edges = """(all) => all.map((one) => one.getBoundingClientRect())
      .map((box) => [box.left, box.width])"""
    axis, *marks = watched.page.locator(".sum .lvl :is(.ax, .iv)").evaluate_all(edges)
    assert marks == [axis] * 5  # the mark of 1.00 is below the text 1.00
    watched.context.close()


def test_a_phone_cuts_no_name_of_a_forecaster_or_event(
    pages: dict[str, Path], browser: Any
) -> None:
    watched = Watched(browser, pages["prophet-sample"], viewport={"width": 390, "height": 844})
    page = watched.page
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert page.locator(".cal p").evaluate_all(cut) == 0
    rows = page.locator("#events summary")
    event, dots = (rows.locator(part).first for part in (".qt", ".dots"))
    assert event.bounding_box()["width"] > 200
    assert dots.bounding_box()["width"] > 100
    watched.context.close()


def many(path: Path) -> Path:
    """A page of 300 questions."""
    rows = [q(f"q{n}", answer="B" if n % 2 else "A") for n in range(300)]
    path.write_text(render(FutureXEvaluator().evaluate_all(rows).page()), encoding="utf-8")
    return path


@pytest.mark.parametrize("script", [True, False])
def test_many_rows_are_folded(browser: Any, tmp_path: Path, script: bool) -> None:
    path = many(tmp_path / "many.html")
    watched = Watched(browser, path, java_script_enabled=script)
    page, box = watched.page, watched.page.get_by_label("Show all 300")
    assert page.locator(ROWS).count() == 50
    box.check()
    assert page.locator(ROWS).count() == 300
    page.emulate_media(media="print")  # what the screen shows is printed
    assert page.locator(ROWS).count() == 300
    page.emulate_media(media="screen")
    box.press("Space")  # a click may miss while 300 rows are laid out anew
    assert not box.is_checked()
    page.emulate_media(media="print")
    assert page.locator(ROWS).count() == 50
    page.emulate_media(media="screen")
    page.goto(f"{path.as_uri()}#q-q298")  # one that is folded
    assert page.locator("#q-q298").is_visible()
    watched.context.close()


def test_search_and_order_reach_what_is_folded(browser: Any, tmp_path: Path) -> None:
    watched = Watched(browser, many(tmp_path / "many.html"))
    page, count = watched.page, watched.page.locator("output")
    page.get_by_label("Search questions").fill("q298")
    assert keys(page) == ["q-q298"]
    page.get_by_label("Search questions").fill("q2")
    assert page.locator(ROWS).count() == 50
    assert count.inner_text() == "111 of 300 questions · q2"
    page.get_by_label("Search questions").fill("")
    page.get_by_role("button", name="right 150").click()
    assert set(scores(page)) == {1}
    watched.context.close()


LONG: Final = "a name as long as a cell may have it, of a system"


def test_a_leaderboard_is_searched_opened_and_followed(browser: Any, tmp_path: Path) -> None:
    make_season(tmp_path, weeks=3, questions=12, systems=10, runs=2)
    about = tmp_path / "prediction/systems.json"
    systems = {
        name: {**entry, "name": f"{name}, {LONG}"}
        for name, entry in json.loads(about.read_text()).items()
    }
    about.write_text(json.dumps(systems))
    assert run(tmp_path, "nightly").code == 0
    path = tmp_path / "evaluation/leaderboard.html"
    for width, script in ((390, True), (390, False), (1280, True), (1280, False)):
        watched = Watched(
            browser, path, viewport={"width": width, "height": 900}, java_script_enabled=script
        )
        assert watched.page.evaluate("document.documentElement.scrollWidth") == width
        assert watched.said == []
        watched.context.close()
    watched = Watched(browser, path)
    page = watched.page
    shown = page.locator("#ranking1 > tr:has(details):visible")
    page.get_by_label("Search systems").fill("meridian")
    assert shown.count() == 1
    assert page.locator(".in:visible").count() == 0
    shown.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "250901" in page.locator(".in:visible").inner_text()
    page.goto(f"{path.as_uri()}#weeks1")
    assert page.locator("#weeks1[open]").count() == 1
    watched.context.close()


@pytest.mark.extra("nbconvert")
def test_tables_keep_their_rows_in_a_page_of_jupyter(browser: Any, tmp_path: Path) -> None:
    """Jupyter's own rules for tables and drawings made rows of 185 px and bars of 150 px."""
    path = tmp_path / "notebook.html"
    path.write_text(_show_in_jupyter(_evaluate("careful"), _evaluate("random")), encoding="utf-8")
    for width in (800, 1280):
        page = Watched(browser, path, viewport={"width": width, "height": 900}).page
        heights, backgrounds, drawings = (
            page.eval_on_selector_all(f".fe {selector}", f"all => all.map(one => {what})")
            for selector, what in (
                ("tbody tr", "one.getBoundingClientRect().height"),
                ("tbody tr:not(.tie)", "getComputedStyle(one).backgroundColor"),
                ("svg", "one.getBoundingClientRect().height"),
            )
        )
        assert min(height for height in heights if height) > 25
        assert max(heights) < 60
        assert max(drawings) <= 32
        assert set(backgrounds) == {"rgba(0, 0, 0, 0)"}


def _evaluate(name: str) -> dict[str, Any]:
    path = ROOT / f"prediction/250915-{name}.json"
    return {"name": name, **FutureXEvaluator().evaluate_file(path)}


def _show_in_jupyter(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Render three results as a notebook's outputs, by nbconvert's page of JupyterLab."""
    import nbformat
    from nbconvert import HTMLExporter

    shown = [FutureXEvaluator().evaluate_file(ROOT / "prediction/250915-random.json")]
    shown += [compare([first, second]), rank([first, second])]
    outputs = [
        nbformat.v4.new_output("display_data", {"text/html": result._repr_html_()})
        for result in shown
    ]
    cell = nbformat.v4.new_code_cell("", outputs=outputs)
    page, _ = HTMLExporter(template_name="lab").from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell])
    )
    return str(page)


def systems(page: Any) -> list[str]:
    names: list[str] = page.locator("#ranking1 > tr:not(.in) th").all_inner_texts()
    return names


def test_events_stand_in_the_order_of_time(pages: dict[str, Path], browser: Any) -> None:
    page = Watched(browser, pages["prophet-sample"]).page
    page.select_option("[data-for=all] select", "closed")
    times = page.locator("#all > details").evaluate_all(
        "(rows) => rows.map((r) => r.dataset.closed)"
    )
    assert len({*times}) > 10
    assert times == sorted(times)


def test_a_column_sorts_the_ranking_and_a_third_press_restores_it(
    pages: dict[str, Path], browser: Any
) -> None:
    """Equal values keep their order; what is open stays below its row; it can be downloaded."""
    watched = Watched(browser, pages["season"], accept_downloads=True)
    page = watched.page
    rows = page.locator("#ranking1 > tr")
    each = "(rows) => rows.map((row) => row.outerHTML)"
    before, html = systems(page), rows.evaluate_all(each)
    page.locator("#ranking1 summary").first.click()

    def column(title: str) -> list[float]:
        at = page.locator("table.rank").first.locator("thead > tr > *").all_inner_texts()
        place = next(n for n, text in enumerate(at) if text.strip() == title)
        cells = page.locator(f"#ranking1 > tr:not(.in) > :nth-child({place + 1})")
        return [float(text.strip("$")) for text in cells.all_inner_texts()]

    cost = page.get_by_role("button", name="Cost", exact=True).first
    cost.click()
    assert column("Cost") == sorted(column("Cost"), reverse=True)
    assert page.locator("th[aria-sort=descending]").inner_text() == "Cost"
    opened = page.locator("#ranking1 > tr:has(details[open])")
    assert opened.locator("th").inner_text() == before[0]
    assert opened.locator("xpath=following-sibling::tr[1]").get_attribute("class") == "in"
    cost.focus()
    page.keyboard.press("Enter")
    assert column("Cost") == sorted(column("Cost"))
    page.keyboard.press("Space")
    page.locator("#ranking1 summary").first.click()
    assert rows.evaluate_all(each) == html
    assert page.locator("[aria-sort]").count() == 0
    page.get_by_role("button", name="System", exact=True).first.click()
    assert systems(page) == sorted(before)
    page.get_by_role("button", name="Weeks", exact=True).first.click()
    weeks = dict(zip(systems(page), column("Weeks"), strict=True))
    assert systems(page) == sorted(before, key=lambda name: -weeks[name])  # stable
    assert len({*weeks.values()}) < len(weeks)
    assert watched.said == []
    watched.context.close()


def test_a_grey_line_names_itself_when_pointed_at_and_by_keyboard(
    pages: dict[str, Path], browser: Any
) -> None:
    watched = Watched(browser, pages["season"], viewport={"width": 1280, "height": 900})
    page = watched.page
    lines = page.locator("#history1 g.faint")
    assert lines.count() > 0
    for place in range(lines.count()):
        line = lines.nth(place)
        name = line.locator("text")
        assert not name.is_visible()
        line.focus()
        assert name.is_visible()
        assert name.text_content() == line.locator("title").first.text_content()
        page.keyboard.press("Shift+Tab")
        assert not name.is_visible()
    line = lines.last
    middle = """(path) => { const box = path.getScreenCTM();
      const at = path.getPointAtLength(path.getTotalLength() / 2);
      return [at.x * box.a + box.e, at.y * box.d + box.f + 4]; }"""
    line.scroll_into_view_if_needed()
    page.mouse.move(*line.locator("path.hit").evaluate(middle))
    hovered = page.locator("#history1 g.faint:hover text")
    assert hovered.count() == 1
    assert hovered.is_visible()
    watched.context.close()
