"""A new board: the folders of a leaderboard, with sample data to replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from forecasteval.common.files import write_atomic

_TEMPLATES: Final = Path(__file__).with_name("templates")
# File of a new board: its template.
_FILES: Final[Mapping[str, str]] = {
    "forecasteval.toml": "forecasteval.toml",
    "prediction/README.md": "entrants.md",
    ".github/workflows/leaderboard.yml": "leaderboard.yml",
}
_SAMPLES: Final[Mapping[str, str]] = {
    "dataset/sample.json": "sample.json",
    "prediction/sample-careful.jsonl": "sample-careful.jsonl",
    "prediction/sample-quick.jsonl": "sample-quick.jsonl",
    "prediction/systems.json": "systems.json",
}


def make_board(root: Path, with_samples: bool) -> tuple[list[str], list[str]]:
    """Write the files of a new board to a folder, which is made if there is none.

    Returns the names of the files that were written, and of those that were there
    already, which stay as they are. Raises EvaluationError if the folder
    cannot be written.
    """
    samples = _SAMPLES if with_samples else {"prediction/systems.json": ""}
    written: list[str] = []
    existing: list[str] = []
    for name, template in {**samples, **_FILES}.items():
        path = root / name
        if path.exists():
            existing.append(name)
            continue
        text = "{}\n"
        if template:
            text = (_TEMPLATES / template).read_text(encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text)
        written.append(name)
    (root / "dataset").mkdir(exist_ok=True)
    return written, existing


def describe_board(written: Sequence[str], existing: Sequence[str]) -> list[str]:
    """Describe in a line each what `make_board` wrote, and what it left as it was."""
    return [
        *(f"wrote {name}" for name in written),
        *(f"left {name} as it is" for name in existing),
    ]
