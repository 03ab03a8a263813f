"""Pages: one HTML file each, without network or server, harmless and readable under a strict content policy.

The policy of a page allows just its own style and script, by their checksums. Text of strangers is escaped by the
template and made printable by `common.pages`; it never gets into the script or the style.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import write_atomic
from forecasteval.common.pages import Cell, Chart, Link, Linked, Marked, Page, Records
from forecasteval.common.report import Table
from forecasteval.common.results import Results

from .store import Score, lock_folder

if TYPE_CHECKING:
    import argparse

    from jinja2 import Template
    from markupsafe import Markup

_HERE: Final = ""  # the option without a path
_ONE_LINE: Final = 48  # characters
_HEAD: Final = 1000  # characters in which the head of a page ends
RESERVED: Final = ("leaderboard", "compare")  # stems of pages that are no run's


def write_page(page: Page, path: Path) -> None:
    """Write the page, whole or not at all; EvaluationError if it cannot be written."""
    write_atomic(path, render(page))


def write_run(results: Results, folder: Path) -> None:
    """Write the page of a run to `folder/NAME.html`; InputError for a name that another page has."""
    _require_free(results["name"], folder)
    with lock_folder(folder, wait=True):
        write_page(results.page(), folder / f"{results['name']}.html")


def score_with_page(score: Score, folder: Path, path: Path, *datasets: Any) -> Results:
    """`score`, and the page of the run beside its result, for `nightly`, which holds the folder's lock."""
    results = score(path, *datasets)
    _require_free(results["name"], folder)
    write_page(results.page(), folder / f"{results['name']}.html")
    return results


def _require_free(name: str, folder: Path) -> None:
    if name in RESERVED:
        raise InputError(name, "would overwrite another page", f"{folder.name}/{name}.html")


def add_option(parser: argparse.ArgumentParser) -> None:
    """The option of `compare`."""
    parser.add_argument("--html", metavar="PATH", nargs="?", const=_HERE, help="write a page (evaluation/compare.html)")


def write_comparison(results: Results, folder: Path, path: str) -> None:
    """Write the page of a comparison to `path`, or else to `folder/compare.html`.

    Raises InputError for a path that is none of a page: it may be the name of a system behind the option.
    """
    if path == _HERE:
        with lock_folder(folder, wait=True):
            write_page(results.page(), folder / "compare.html")
        return
    if not path.endswith(".html"):
        raise InputError("--html", "expected a path that ends in .html, or nothing behind it", printable(path, 60))
    write_page(results.page(), Path(path))


def is_current(path: Path, key: str) -> bool:
    """Whether a page is there, and shows what has this key."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return f'<meta name="key" content="{key}">' in file.read(_HEAD)
    except (OSError, ValueError):  # a name that no file can have
        return False


def render(page: Page) -> str:
    """The page as HTML; the same page gives the same bytes."""
    return _template().render(page=page)


@lru_cache(maxsize=1)
def _template() -> Template:
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader("forecasteval.boards")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style, script = (loader.get_source(environment, f"page.{end}")[0].strip() for end in ("css", "js"))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    environment.globals.update(style=Markup(style), script=Markup(script), policy=f"{policy}; form-action 'none'")
    environment.filters.update(svg=_svg, kind=_kind, short=_short, target=_target)
    return environment.get_template("page.html.j2")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _svg(chart: Chart) -> Markup:
    from markupsafe import Markup

    from .svg import draw_svg

    return Markup(draw_svg(chart))


def _kind(block: object) -> str:
    """What the template calls a block or a cell."""
    kinds: dict[type, str] = {
        str: "text", Table: "table", Linked: "table", Chart: "chart", Records: "records", Marked: "marked", Link: "link"
    }  # fmt: skip
    return kinds[type(block)]


def _short(cell: Cell) -> bool:
    """Whether a cell of a table is kept on one line."""
    return len(cell.text if isinstance(cell, Link) else cell) <= _ONE_LINE


def _target(link: Link) -> str:
    """A file beside the page; `./` before it, or else `javascript:…` would be no name of a file."""
    return "./" + quote(link.file.encode("utf-8", "surrogateescape"))
