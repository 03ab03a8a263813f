"""Keeps what every command prints and writes, to prove that a change of the code changes no result.

    python tools/frozen.py save OLD                       of this checkout
    python tools/frozen.py save OLD --checkout DIR        of another one
    python tools/frozen.py save NEW --more ROOT --tables DIR
    python tools/frozen.py save NEW --only root0 --only convert
                                              some parts: root0, root1, …, tables0, …, import
    python tools/frozen.py compare OLD NEW    prints the files that differ; exit code 1 if any does

The commands of every benchmark run over the shipped samples and a short season; `--more` names a
folder with dataset/ and prediction/ of your own, `--tables` one with reaction tables. Checksums of
the code, and of files that contain them, are masked, and so are temporary folders. root0 are the
shipped samples, root1 is the season, further roots are those of `--more`; tables0 are the shipped
tables.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SHOWN: Final = 6  # differing lines of a file
_CHECKSUM: Final = re.compile(
    r"((?:code|result|file|inputs|summary)_sha256\\?\":"
    r" *\\?\"|sha256-|content=\"|\bkey:)[0-9a-zA-Z+/=]{16,}"
)
IMPORT_OPTIONS: Final = (
    *("--yield", "yield (%)", "--ee", "ee (%)", "--reactants-smiles", "CC1CCCCC1=O", "Brc1ccccc1"),
    *("--products-smiles", "CC1(c2ccccc2)CCCCC1=O"),
    *("--conditions", "ligand", "base", "solvent"),
)
CONVERT_OPTIONS: Final = {"answers.csv": ("--id", "question", "--answer", "reply")}
_QUESTIONS: Final = "multiple_choice_single_varying_reference"


class Recorder:
    """Runs commands of a checkout in a folder of their own and writes what they print to
    `folder`.
    """

    def __init__(self, checkout: Path, folder: Path, work: Path) -> None:
        self.checkout, self.folder, self.work = checkout, folder, work

    def run(self, name: str, *words: str, cwd: Path | None = None) -> None:
        """Write exit code, output and errors of `python eval.py *words` to the file `name`."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"}
        environment.pop("OPENAI_API_KEY", None)
        command = [sys.executable, str(self.checkout / "eval.py"), *words]
        done = subprocess.run(
            command,
            cwd=cwd or self.work,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        self.keep(name, f"{' '.join(words)}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}")

    def keep(self, name: str, text: str) -> None:
        """Write a text with its checksums and temporary folders masked."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        masked = (
            text.replace(str(self.work), "WORK")
            .replace(str(self.checkout), "CHECKOUT")
            .replace(str(ROOT), "CHECKOUT")
        )
        path.write_text(_CHECKSUM.sub(r"\1…", masked), encoding="utf-8", errors="surrogateescape")

    def keep_folder(self, name: str, folder: Path, pattern: str = "*") -> None:
        """Write all texts of a folder whose names match."""
        for path in sorted(folder.rglob(pattern)):
            if path.suffix in (".json", ".jsonl", ".csv", ".md", ".html", ".txt"):
                self.keep(
                    f"{name}/{path.relative_to(folder)}",
                    path.read_text("utf-8", errors="surrogateescape"),
                )

    def record_root(self, name: str, source: Path) -> None:
        """All commands that take a folder with dataset/ and prediction/, over a copy of it."""
        root = self.work / name
        for part in ("dataset", "prediction"):
            shutil.copytree(source / part, root / part)
        options = ("--root", str(root))
        files = [
            path.stem
            for path in sorted((root / "prediction").iterdir())
            if path.name != "systems.json"
        ]
        for file in files:
            self.run(f"{name}/score/{file}.txt", "-f", file, "--items", *options)
            self.run(f"{name}/score/{file}.json", "-f", file, "--json", *options)
        for path in sorted((root / "dataset").glob("*.json")):
            self.run(f"{name}/check/{path.stem}.txt", "check", path.stem, *options)
        for first, second in _pairs(files):
            self.run(f"{name}/compare/{first}-{second}.txt", "compare", first, second, *options)
        self.run(f"{name}/nightly.txt", "nightly", "--html", *options)
        self.run(f"{name}/nightly-again.txt", "nightly", "--json", *options)
        self.keep_folder(f"{name}/evaluation", root / "evaluation")

    def record_tables(self, name: str, tables: Path) -> None:
        """Questions of reaction tables, their prompts, and the score of the first option."""
        built, prompts = self.work / f"{name}-built", self.work / f"{name}-prompts.jsonl"
        self.run(f"{name}/build.txt", "rxnopt", "build", str(tables), "-o", str(built))
        self.run(
            f"{name}/render.txt",
            "rxnopt",
            "render",
            str(built / f"{_QUESTIONS}.json"),
            "-o",
            str(prompts),
        )
        for path in sorted(built.glob("example_prediction_*.json")):
            dataset = built / path.name.removeprefix("example_prediction_")
            self.run(
                f"{name}/score/{path.stem}.json",
                "-f",
                str(path),
                "--dataset",
                str(dataset),
                "--json",
            )
        self.keep_folder(f"{name}/built", built)
        if prompts.exists():
            self.keep(f"{name}/prompts.jsonl", prompts.read_text("utf-8"))


def _pairs(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Neighbours by name that belong to one dataset."""
    for first, second in itertools.pairwise(files):
        if first.split("-")[0] == second.split("-")[0]:
            yield first, second


def save(
    folder: Path, checkout: Path, more: Sequence[Path], tables: Sequence[Path], only: Sequence[str]
) -> None:
    """Write everything, or `only` these parts, to `folder`, which must not exist."""

    def wanted(part: str) -> bool:
        return not only or part in only

    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        recorder = Recorder(checkout, folder, work)
        season = work / "season-source"
        made = [sys.executable, str(ROOT / "tools" / "season.py"), str(season)]
        subprocess.run(
            [*made, "--weeks", "4", "--questions", "12", "--systems", "6", "--runs", "2"],
            check=True,
        )
        for number, root in enumerate([ROOT, season, *more]):
            if wanted(f"root{number}"):
                recorder.record_root(f"root{number}", root)
        for number, path in enumerate([ROOT / "dataset" / "rxnopt-tables", *tables]):
            if wanted(f"tables{number}"):
                recorder.record_tables(f"tables{number}", path)
        if wanted("import"):
            sheet = str(ROOT / "docs" / "experiments.xlsx")
            recorder.run("import.txt", "rxnopt", "import", sheet, "-o", "imported", *IMPORT_OPTIONS)
            recorder.keep_folder("imported", work / "imported")
        for path in sorted((ROOT / "tests" / "samples").iterdir()) if wanted("convert") else ():
            target = f"converted-{path.name}.json"
            recorder.run(
                f"convert/{path.name}.txt",
                "convert",
                str(path),
                "-o",
                target,
                *CONVERT_OPTIONS.get(path.name, ()),
            )
        recorder.keep_folder("converted", work, "converted-*")


def compare(old: Path, new: Path) -> int:
    """Print the files that differ, with their first differing lines; how many they are."""
    differing = 0
    roots = {
        path.name for path in new.iterdir()
    }  # parts that were not saved again are not compared
    for name in sorted(
        {str(path.relative_to(root)) for root in (old, new) for path in root.rglob("*.*")}
    ):
        if name.split("/")[0] not in roots:
            continue
        texts = [
            (
                (root / name).read_text("utf-8", errors="surrogateescape")
                if (root / name).is_file()
                else "absent"
            )
            for root in (old, new)
        ]
        if texts[0] == texts[1]:
            continue
        differing += 1
        print(name)
        # Not difflib: it takes minutes over pages of thousands of lines.
        pairs = itertools.zip_longest(*(text.splitlines() for text in texts), fillvalue="")
        for before, after in itertools.islice(
            (pair for pair in pairs if pair[0] != pair[1]), SHOWN // 2
        ):
            equal = itertools.takewhile(
                lambda both: both[0] == both[1], zip(before, after, strict=False)
            )
            begin = max(0, sum(1 for _ in equal) - 40)
            print(f"    - {before[begin : begin + 200]}\n    + {after[begin : begin + 200]}")
    print(f"{differing} files differ")
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    saving = commands.add_parser("save")
    saving.add_argument("folder", type=Path)
    saving.add_argument("--checkout", type=Path, default=ROOT)
    saving.add_argument("--more", metavar="ROOT", type=Path, action="append", default=[])
    saving.add_argument("--tables", metavar="DIR", type=Path, action="append", default=[])
    saving.add_argument("--only", metavar="PART", action="append", default=[])
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    args = parser.parse_args()
    if args.command == "compare":
        return 1 if compare(args.old, args.new) else 0
    more, tables = ([path.resolve() for path in paths] for paths in (args.more, args.tables))
    save(args.folder.resolve(), args.checkout.resolve(), more, tables, args.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
