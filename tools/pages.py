r"""The READMEs and the pages of `docs/` as data: their blocks, commands, tables, links;
and their commands run.

python tools/pages.py        write the outputs that the pages show anew (read the
difference before committing it)

A `bash` block holds commands, one a line; a `text` block directly below a block of one
command is what that prints, with a line `…` for lines that are left out. A file name in
backticks on a line of its own above a block says that the block is that file.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from unittest import mock

ROOT: Final = Path(__file__).resolve().parent.parent
READMES: Final = ("README.md", "README.zh-CN.md")
DOCS: Final = tuple(
    sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
)
PAGES: Final = (*READMES, *DOCS)
FILES_FROM: Final = {
    "docs/scoring.md": "docs/formats.md"
}  # whose files the commands of a page score
LEFT_OUT: Final = "…\n"
_BLOCK: Final = re.compile(r"(?:^`([^`\n]+)`\n\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
_SHOWN: Final = re.compile(
    r"^```bash\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.M | re.S
)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


# --- What stands on a page ---


class Block(NamedTuple):
    """A fenced block: its language, its text, and the file name on a line of its own
    above it ("" if none).
    """

    language: str
    text: str
    file: str


class Command(NamedTuple):
    """A command that a page tells its reader to run, and what the page shows of its
    output (None: nothing).

    `start` and `end` are where the output stands in the text of the page.
    """

    line: str
    output: str | None
    start: int = 0
    end: int = 0

    @property
    def arguments(self) -> list[str]:
        """The words after `python eval.py`."""
        words = shlex.split(self.line)
        return words[words.index("eval.py") + 1 :]

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that are set in front of the command."""
        words = shlex.split(self.line)
        return dict(word.split("=", 1) for word in words[: words.index("python")])


def read_blocks(text: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    return [
        Block(match[2], match[3], match[1] or "") for match in _BLOCK.finditer(text)
    ]


def read_commands(text: str) -> Iterator[Command]:
    """Every command of this program on a page, in order; what pip does before
    it is cut off.
    """
    for match in _SHOWN.finditer(text):
        lines = [line.rpartition("&& ")[2] for line in match[1].splitlines()]
        assert match[2] is None or len(lines) == 1, (
            "an output block belongs to one command"
        )
        for line in lines:
            if "python eval.py" in line:
                yield Command(line, match[2], *match.span(2))


def read_tables(text: str) -> list[list[list[str]]]:
    r"""The cells of every table, its header first; `\|` inside a cell is a bar."""
    tables = re.findall(r"(?:^\|.*\n)+", without_blocks(text), re.M)
    return [
        [
            [
                cell.strip().replace(r"\|", "|")
                for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])
            ]
            for line in lines
        ]
        for table in tables
        if (
            lines := [
                line for line in table.splitlines() if not re.fullmatch(r"[|:-]+", line)
            ]
        )
    ]


def read_table(page: str, header: str) -> list[list[str]]:
    """The rows of the one table of a page whose first header cell is `header`."""
    found = [table[1:] for table in read_tables(read(page)) if table[0][0] == header]
    assert len(found) == 1, f"{page}: tables that begin with {header!r}: {len(found)}"
    assert found[0]
    return found[0]


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def links(text: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", without_blocks(text))


def anchors(text: str) -> set[str]:
    """The names by which links reach the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(text), re.M)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
        for heading in headings
    }


# --- Commands, run in this process ---


def copy_repository(folder: Path, page: str) -> Path:
    """A copy of the data below `folder`, with the files that a page tells its
    reader to write.
    """
    copy = folder / "repository"
    for name in ("dataset", "prediction"):
        shutil.copytree(ROOT / name, copy / name)
    (copy / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "experiments.xlsx", copy / "docs")
    shutil.copytree(ROOT / "tests" / "samples", copy / "tests" / "samples")
    text = read(page)
    for block in read_blocks(text) + read_blocks(
        read(FILES_FROM[page]) if page in FILES_FROM else ""
    ):
        if block.file:
            (copy / block.file).write_text(block.text, encoding="utf-8")
    if "prediction/your_file.json" in text:
        shutil.copy(
            copy / "prediction" / "250915-random.json",
            copy / "prediction" / "your_file.json",
        )
    return copy


def run(folder: Path, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of `python eval.py ARGUMENTS` in the
    copy `folder`.
    """
    from forecasteval import cli as program

    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(program, "ROOT", folder),
        mock.patch.object(program, "PROGRAM", "eval.py"),
        mock.patch.dict(os.environ, {"COLUMNS": "1000", **variables}),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = program.main(list(arguments))
        except SystemExit as stop:  # argparse: --help
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def is_shown(shown: str, printed: str) -> bool:
    r"""Whether a page shows what was printed, but for the lines that it leaves out.

    >>> is_shown("a\n…\nd\n", "a\nb\nc\nd\n")
    True
    >>> is_shown("a\nd\n", "a\nb\nd\n"), is_shown("a\n…\nb\n", "a\nb\n")
    (False, False)
    """
    parts = shown.split(LEFT_OUT)
    return re.fullmatch("(?:.*\n)+".join(map(re.escape, parts)), printed) is not None


def shorten(shown: str, printed: str) -> str:
    r"""What was printed, with as many lines left out as the page leaves out
    at its only `…`.

    >>> shorten("a\n…\nd\n", "A\nb\nc\nD\n")
    'A\n…\nD\n'
    """
    if is_shown(shown, printed):
        return shown
    head, mark, tail = shown.partition(LEFT_OUT)
    if not mark:
        return printed
    if LEFT_OUT in tail:
        print(f"to be written anew by hand:\n{shown}", file=sys.stderr)
        return shown
    lines = printed.splitlines(keepends=True)
    return "".join(
        [*lines[: head.count("\n")], mark, *lines[len(lines) - tail.count("\n") :]]
    )


def renew(page: str) -> str:
    """The text of a page with its outputs as the program prints them now."""
    text, new, at = read(page), "", 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_repository(Path(folder), page)
        for command in read_commands(text):
            if command.variables:  # needs a server
                continue
            _, printed, _ = run(copy, *command.arguments)
            if command.output is not None:
                new += text[at : command.start] + shorten(command.output, printed)
                at = command.end
    return new + text[at:]


def chinese_left_out(code: str) -> str:
    """Code without what a translation may change: comments, and texts with
    Chinese in them.
    """
    lines = [re.sub(r"(?:^|\s+)#.*", "", line) for line in code.splitlines()]
    return "\n".join(
        "" if any(unicodedata.east_asian_width(c) in "WF" for c in line) else line
        for line in lines
    )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for name in PAGES:
        (ROOT / name).write_text(renew(name), encoding="utf-8", newline="\n")
