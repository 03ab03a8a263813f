"""Pages: one HTML file each, without network or server, harmless and readable under a strict content policy.

The policy of a page allows only its style and script, by their checksums. Text from files is escaped by the
template and made printable by `common.pages`; it never gets into the script or the style.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from forecasteval.common.charts import COLOURS, Axis, cell_axis
from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import write_atomic
from forecasteval.common.pages import CELLS, MOST, Page
from forecasteval.common.report import Bar, Cell, Column, Interval, Link, Mark, Shade, Table
from forecasteval.common.results import Results

from .store import BOARD, hash_stored, lock_folder

if TYPE_CHECKING:
    from jinja2 import Template

_ONE_LINE: Final = 48  # characters
_HEAD: Final = 1000  # characters in which the head of a page ends
RESERVED: Final = (BOARD, "compare")  # stems of pages that are no run's


# --- Where pages are written ---


def write_page(page: Page, path: Path) -> None:
    """Write the page, whole or not at all; EvaluationError if it cannot be written."""
    write_atomic(path, render(page))


def write_run(results: Results, folder: Path) -> None:
    """Write the page of a run to `folder/NAME.html`; InputError for a name that another page has."""
    with lock_folder(folder, wait=True):
        write_stored(results, folder, hash_stored(results), (folder / f"{BOARD}.html").exists())


def write_stored(results: Results, folder: Path, checksum: str, beside_board: bool = True) -> None:
    """Write the page of a result of this sha256; it leads to the leaderboard's page where there is one beside it."""
    name = results["name"]
    if name in RESERVED:
        raise InputError(name, "would overwrite another page", f"{folder.name}/{name}.html")
    links = [Link("Leaderboard", f"{BOARD}.html")] if beside_board else []
    write_page(results.page()._replace(key=checksum, links=links), folder / f"{name}.html")


def name_missing(folder: Path, checksums: Mapping[str, str]) -> list[str]:
    """A line if there are stored results (name: sha256) without their pages."""
    names = [name for name, checksum in sorted(checksums.items()) if not is_current(folder / f"{name}.html", checksum)]
    return [f"no page could be made, or not under this name: {grouped_names(names)}"] if names else []


def require_usable(path: str | bool | None) -> None:
    """InputError for a path that is not one of a page: it may be the name of a system behind the option."""
    if isinstance(path, str) and not path.endswith(".html"):
        expected = "expected a path that ends in .html, or no word behind it (put --html last)"
        raise InputError("--html", expected, printable(repr(path), 60))


def write_comparison(results: Results, folder: Path, path: str | bool) -> None:
    """Write the page of a comparison to `path`, or else to `folder/compare.html`."""
    if isinstance(path, str):
        write_page(results.page(), Path(path))
        return
    with lock_folder(folder, wait=True):
        write_page(results.page(), folder / "compare.html")


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


# --- What the templates need ---


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
    environment.globals.update(
        style=Markup(style), script=Markup(script), policy=f"{policy}; form-action 'none'", colours=COLOURS, zip=zip
    )
    environment.filters.update(
        kind=lambda block: type(block).__name__,
        first_rows=_first_rows,
        side=_side,
        target=_target,
        axes=_axes,
        matrix=lambda rows: any(isinstance(cell, Shade) for row in rows for cell in row),
        anchors=_anchors,
        label=printable,
    )
    return environment.get_template("page.html.j2")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _first_rows(table: Table) -> Sequence[Sequence[Cell]]:
    return table.rows[: min(MOST, CELLS // len(table.columns))]


def _side(cell: Cell, column: Column) -> str:
    """The class of a table's cell: a number, a mark, a text of one line, or a longer one."""
    if isinstance(cell, Mark):
        return "m"
    if column.side == ">":
        return "n"
    text = cell if isinstance(cell, str) else str(cell[0])
    return "k" if len(text) <= _ONE_LINE else "t"


def _target(link: Link) -> str:
    """An anchor, or a file beside the page; `./` before it, or else `javascript:…` would be no name of a file."""
    return f"#{link.to}" if not link.file else "./" + quote(link.file.encode("utf-8", "surrogateescape"))


def _axes(rows: Sequence[Sequence[Cell]], count: int) -> list[Axis | None]:
    """The axis of every column of intervals or bars."""
    columns = zip(*rows, strict=True) if rows else [()] * count
    return [cell_axis(column) if any(type(cell) in (Interval, Bar) for cell in column) else None for column in columns]


def _anchors(titles: Iterable[str]) -> list[str]:
    """The addresses of headings, none of them twice."""
    anchors: list[str] = []
    for title in titles:
        name = "s-" + (re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "section")
        anchors.append(name if name not in anchors else f"{name}-{len(anchors)}")
    return anchors
