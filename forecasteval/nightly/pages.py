"""Pages as files: those of runs, of the leaderboard and of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import write_atomic
from forecasteval.common.records import JsonObject, hash_text
from forecasteval.common.version import PACKAGE, hash_code
from forecasteval.display.html import Page, render
from forecasteval.display.results import Results
from forecasteval.display.tables import Link
from forecasteval.lookup import ENTRY_FILE
from forecasteval.nightly.store import (
    is_current,
    lock_folder,
    read_stored,
    result_pieces,
)
from forecasteval.ranking.names import BOARD

if TYPE_CHECKING:
    from forecasteval.boards.changes import History
    from forecasteval.ranking.board import Board


def hash_view() -> str:
    """Hash what draws all pages; the parts of the benchmarks are in their results."""
    return hash_code(PACKAGE / "display", PACKAGE / "boards")[:16]


def run_key(checksum: str) -> str:
    """Make the key of the page of a result of this sha256."""
    return f"{checksum}-{hash_view()}"


RESERVED: Final = (BOARD, "compare")  # stems of pages that are no run's


def write_page(page: Page, path: Path) -> None:
    """Write the page, whole or not at all; EvaluationError if it cannot be written."""
    write_atomic(path, render(page))


def write_run(results: Results, folder: Path) -> None:
    """Write the page of a run to `folder/NAME.html`; InputError for a name that
    another page has.
    """
    with lock_folder(folder, wait=True):
        beside_board = (folder / f"{BOARD}.html").exists()
        write_stored(results, folder, hash_text(result_pieces(results)), beside_board)


def write_stored(
    results: Results, folder: Path, checksum: str, beside_board: bool = True
) -> None:
    """Write the page of a result of this sha256. It leads to the leaderboard's page
    where there is one beside it.
    """
    name = results["name"]
    if name in RESERVED:
        raise InputError(
            name, "would overwrite another page", f"{folder.name}/{name}.html"
        )
    links = [Link("Leaderboard", f"{BOARD}.html")] if beside_board else []
    page = results.page()._replace(key=run_key(checksum), links=links)
    write_page(page, folder / f"{name}.html")


def write_comparison(results: Results, folder: Path) -> None:
    """Write the page of a comparison to `folder/compare.html`. It leads to the
    leaderboard and the runs that have a page in the folder.
    """
    titles = {BOARD: "Leaderboard"}
    titles |= {system["name"]: system["name"] for system in results["systems"]}
    links = []
    for name, title in titles.items():
        if "/" not in name and is_current(folder / f"{name}.html", ""):
            links.append(Link(printable(title, 40), f"{name}.html"))
    with lock_folder(folder, wait=True):
        write_page(results.page()._replace(links=links), folder / "compare.html")


def write_board(
    board: Board, folder: Path, history: History | None, force: bool
) -> None:
    """Write `folder/leaderboard.html`, by `force` also if it shows just that already;
    it links the pages that are there, and what the operator says on how to enter.
    """
    enter = f"../prediction/{ENTRY_FILE}"
    if not (folder / enter).is_file():
        enter = ""
    checksums = {file.name: file.file_sha256 for file in board.files}
    linked = set()
    for name, checksum in checksums.items():
        if is_current(folder / f"{name}.html", checksum):
            linked.add(name)

    def read_items(name: str) -> Sequence[JsonObject]:
        path = folder / f"{name}.json"
        stored, checksum = read_stored(path, checksums[name])
        if checksum != checksums[name]:
            return ()
        items: Sequence[JsonObject] = stored["items"]
        return items

    path = folder / f"{BOARD}.html"
    history_bytes = b"" if history is None else history.raw
    settings = sorted(board.leaderboard.items())
    shown = settings, board.inputs_sha256, sorted(linked), history_bytes, enter
    key = f"{hash_text(repr(shown))}-{hash_view()}"
    if force or not is_current(path, key):
        # Here: a quiet night draws nothing
        from forecasteval.boards.board_page import make_page

        page = make_page(board, linked, history, read_items, enter)
        write_page(page._replace(key=key), path)
