"""Pages as files: those of runs, of the leaderboard and of comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import write_atomic
from forecasteval.display.html import render
from forecasteval.display.pages import (
    Page,
)
from forecasteval.display.results import Results
from forecasteval.display.tables import (
    Link,
)
from forecasteval.nightly.store import BOARD, hash_text, lock_folder, result_pieces

_HEAD: Final = 1000  # characters in which the head of a page ends


RESERVED: Final = (BOARD, "compare")  # stems of pages that are no run's


def write_page(page: Page, path: Path) -> None:
    """Write the page, whole or not at all; EvaluationError if it cannot be written."""
    write_atomic(path, render(page))


def write_run(results: Results, folder: Path) -> None:
    """Write the page of a run to `folder/NAME.html`; InputError for a name that another page
    has.
    """
    with lock_folder(folder, wait=True):
        write_stored(
            results, folder, hash_text(result_pieces(results)), (folder / f"{BOARD}.html").exists()
        )


def write_stored(results: Results, folder: Path, checksum: str, beside_board: bool = True) -> None:
    """Write the page of a result of this sha256; it leads to the leaderboard's page where there is
    one beside it.
    """
    name = results["name"]
    if name in RESERVED:
        raise InputError(name, "would overwrite another page", f"{folder.name}/{name}.html")
    links = [Link("Leaderboard", f"{BOARD}.html")] if beside_board else []
    write_page(results.page()._replace(key=checksum, links=links), folder / f"{name}.html")


def name_missing(folder: Path, checksums: Mapping[str, str]) -> list[str]:
    """A line if there are stored results (name: sha256) without their pages."""
    names = [
        name
        for name, checksum in sorted(checksums.items())
        if not is_current(folder / f"{name}.html", checksum)
    ]
    return (
        [f"no page could be made, or not under this name: {grouped_names(names)}"] if names else []
    )


def require_usable(path: str | bool | None) -> None:
    """InputError for a path that is not one of a page: it may be the name of a system behind the
    option.
    """
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
            return f'<meta name="key" content="{key}"/>' in file.read(_HEAD)
    except (OSError, ValueError):  # a name that no file can have
        return False
