"""Keeps what every command prints and writes, to prove that a change of the code
changes no result.

    python tools/frozen.py save OLD                       of this checkout
    python tools/frozen.py save OLD --checkout DIR        of another one
    python tools/frozen.py save NEW --more ROOT --tables DIR
    python tools/frozen.py save NEW --only root0 --only convert
                                              parts: root0, …, nights, tables0, …,
                                              import, convert
    python tools/frozen.py compare OLD NEW    prints the files that differ; exit
    code 1 if any does

The commands of every benchmark run over the shipped samples and a short season;
`--more` names a folder with dataset/ and prediction/ of your own, `--tables` one with
reaction tables. Checksums of the code, and of files that contain them, are masked, and
so are temporary folders and the version. root0 are the shipped samples, root1 is the
season, further roots are those of `--more`; tables0 are the shipped tables. nights are
four nightly runs over files that change in between, their pages, and two comparisons.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SHOWN: Final = 6  # differing lines of a file
_CHECKSUM: Final = re.compile(
    r"((?:code|result|file|inputs|summary)_sha256\\?\":"
    r" *\\?\"|sha256-|content=\"|\bkey:)[0-9a-zA-Z+/=-]{16,}"
)
IMPORT_OPTIONS: Final = (
    *(
        "--yield",
        "yield (%)",
        "--ee",
        "ee (%)",
        "--reactants-smiles",
        "CC1CCCCC1=O",
        "Brc1ccccc1",
    ),
    *("--products-smiles", "CC1(c2ccccc2)CCCCC1=O"),
    *("--conditions", "ligand", "base", "solvent"),
)
CONVERT_OPTIONS: Final = {"answers.csv": ("--id", "question", "--answer", "reply")}
_QUESTIONS: Final = "multiple_choice_single_varying_reference"
_VERSION: Final = re.compile(r'__version__: Final = "(.+)"')
_DAY: Final = 86400  # seconds


class Recorder:
    """Runs commands of a checkout in a folder of their own and writes what they
    print to `folder`.
    """

    def __init__(self, checkout: Path, folder: Path, work: Path) -> None:
        self.checkout, self.folder, self.work = checkout, folder, work
        source = (checkout / "forecasteval/common/version.py").read_text("utf-8")
        (self.version,) = _VERSION.findall(source)

    def run(
        self, name: str, *words: str, cwd: Path | None = None, **variables: str
    ) -> None:
        """Write exit code, output and errors of `python eval.py *words` to
        the file `name`.

        `variables` are added to the environment.
        """
        fixed = {
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "120",
            "SOURCE_DATE_EPOCH": str(_DAY),
        }
        environment = {**os.environ, **fixed, **variables}
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
        self.keep(
            name,
            f"{' '.join(words)}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}",
        )

    def keep(self, name: str, text: str) -> None:
        """Write a text with its checksums and temporary folders masked."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        masked = (
            text.replace(str(self.work), "WORK")
            .replace(str(self.checkout), "CHECKOUT")
            .replace(str(ROOT), "CHECKOUT")
            .replace(self.version, "VERSION")
        )
        path.write_text(
            _CHECKSUM.sub(r"\1…", masked), encoding="utf-8", errors="surrogateescape"
        )

    def keep_folder(self, name: str, folder: Path, pattern: str = "*") -> None:
        """Write all texts of a folder whose names match."""
        for path in sorted(folder.rglob(pattern)):
            if path.suffix in (".json", ".jsonl", ".csv", ".md", ".html", ".txt"):
                self.keep(
                    f"{name}/{path.relative_to(folder)}",
                    path.read_text("utf-8", errors="surrogateescape"),
                )

    def record_root(self, name: str, source: Path) -> None:
        """All commands that take a folder with dataset/ and prediction/,
        over a copy of it.
        """
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
            self.run(
                f"{name}/compare/{first}-{second}.txt",
                "compare",
                first,
                second,
                *options,
            )
        self.run(f"{name}/nightly.txt", "nightly", "--html", *options)
        self.run(f"{name}/nightly-again.txt", "nightly", "--json", *options)
        self.keep_folder(f"{name}/evaluation", root / "evaluation")

    def record_nights(self, name: str) -> None:
        """Four nightly runs, two that mark late files and two that drop
        them; comparisons.
        """
        root = self.work / name
        for day, change in enumerate((_begin, _resolve, _rename, _withdraw), 1):
            change(root)
            policy = "mark" if day < 3 else "drop"
            self.run(
                *(f"{name}/{day}.txt", "nightly", "--html", "--late-files", policy),
                *("--root", str(root)),
                SOURCE_DATE_EPOCH=str(day * _DAY),
            )
            self.keep_folder(f"{name}/{day}", root / "evaluation")
        for first, second in [("w-renamed", "w-copy"), ("v-good", "v-other")]:
            words = ("compare", first, second, "--root", str(root))
            self.run(f"{name}/{first}-{second}.txt", *words)
            self.run(f"{name}/{first}-{second}-page.txt", *words, "--html")
        self.keep_folder(f"{name}/compared", root / "evaluation", "compare*")

    def record_tables(self, name: str, tables: Path) -> None:
        """Questions of reaction tables, their prompts, and the score of
        the first option.
        """
        built, prompts = (
            self.work / f"{name}-built",
            self.work / f"{name}-prompts.jsonl",
        )
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


# --- What changes between the nights ---


def _write(root: Path, name: str, records: object) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")


def _ask(
    closes: Mapping[int, str], truths: Mapping[int, str]
) -> list[dict[str, object]]:
    """Make twelve questions of all four levels, some of which close or have a truth."""
    return [
        {
            "id": f"q{number}",
            "prompt": f"Question {number}: which one? A. Red B. Green C. Blue D. Grey",
            "level": number % 4 + 1,
            "ground_truth": truths.get(number),
            "Std": None,
            **({"closes": closes[number]} if number in closes else {}),
        }
        for number in range(12)
    ]


def _answer(root: Path, name: str, letters: str) -> None:
    answers = {
        f"q{number}": rf"\boxed{{{letter}}}" for number, letter in enumerate(letters)
    }
    _write(root, f"prediction/{name}.json", answers)


def _begin(root: Path) -> None:
    """The first night: a dataset with truths, and one that is open."""
    _write(root, "dataset/v.json", _ask({}, dict.fromkeys(range(12), "A")))
    _write(root, "dataset/w.json", _ask({0: "1970-01-09", 1: "1970-01-09T12:00Z"}, {}))
    for week in "vw":
        _answer(root, f"{week}-good", "AAAAAAAAAAAB")
        _answer(root, f"{week}-other", "ABABABABABAB")
        _answer(root, f"{week}-gone", "CCCCCCAAAAAA")


def _resolve(root: Path) -> None:
    """The second: truths, a changed deadline, a copied answer, a changed
    one, a new system.
    """
    closes = {0: "1970-01-02", 1: "1970-01-09T12:00Z"}
    _write(root, "dataset/w.json", _ask(closes, dict.fromkeys(range(4, 10), "A")))
    _answer(root, "w-copy", "AAAAAAAAAAAB")
    _answer(root, "w-other", "BBABABABABAA")
    _answer(root, "v-late", "AAAA")


def _rename(root: Path) -> None:
    """The third: a deadline that cannot be read, a renamed file, one that
    cannot be scored.
    """
    closes = {0: "1970-01-02", 1: "next week"}
    _write(root, "dataset/w.json", _ask(closes, dict.fromkeys(range(4, 10), "A")))
    (root / "prediction/w-good.json").rename(root / "prediction/w-renamed.json")
    (root / "prediction/v-other.json").write_text("[{", encoding="utf-8")


def _withdraw(root: Path) -> None:
    """The fourth: a file that went, a corrected truth, a new answer, one that can
    be read again.
    """
    truths = {number: "B" if number == 4 else "A" for number in range(4, 12)}
    _write(root, "dataset/w.json", _ask({}, truths))
    (root / "prediction/w-gone.json").unlink()
    _answer(root, "v-other", "ABABABABABAB")
    _answer(root, "w-copy", "AAAABAAAAAAB")


def _pairs(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Neighbours by name that belong to one dataset."""
    for first, second in itertools.pairwise(files):
        if first.split("-")[0] == second.split("-")[0]:
            yield first, second


def save(
    folder: Path,
    checkout: Path,
    more: Sequence[Path],
    tables: Sequence[Path],
    only: Sequence[str],
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
            [
                *made,
                "--weeks",
                "4",
                "--questions",
                "12",
                "--systems",
                "6",
                "--runs",
                "2",
            ],
            check=True,
        )
        for number, root in enumerate([ROOT, season, *more]):
            if wanted(f"root{number}"):
                recorder.record_root(f"root{number}", root)
        if wanted("nights"):
            recorder.record_nights("nights")
        for number, path in enumerate([ROOT / "dataset" / "rxnopt-tables", *tables]):
            if wanted(f"tables{number}"):
                recorder.record_tables(f"tables{number}", path)
        if wanted("import"):
            sheet = str(ROOT / "docs" / "experiments.xlsx")
            recorder.run(
                "import.txt",
                "rxnopt",
                "import",
                sheet,
                "-o",
                "imported",
                *IMPORT_OPTIONS,
            )
            recorder.keep_folder("imported", work / "imported")
        for path in (
            sorted((ROOT / "tests" / "samples").iterdir()) if wanted("convert") else ()
        ):
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
    """Print the files that differ, with their first differing lines; how
    many they are.
    """
    differing = 0
    roots = {
        path.name for path in new.iterdir()
    }  # parts that were not saved again are not compared
    for name in sorted(
        {
            str(path.relative_to(root))
            for root in (old, new)
            for path in root.rglob("*.*")
        }
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
        pairs = itertools.zip_longest(
            *(text.splitlines() for text in texts), fillvalue=""
        )
        for before, after in itertools.islice(
            (pair for pair in pairs if pair[0] != pair[1]), SHOWN // 2
        ):
            equal = itertools.takewhile(
                lambda both: both[0] == both[1], zip(before, after, strict=False)
            )
            begin = max(0, sum(1 for _ in equal) - 40)
            print(
                f"    - {before[begin : begin + 200]}\n    + "
                f"{after[begin : begin + 200]}"
            )
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
    saving.add_argument(
        "--more", metavar="ROOT", type=Path, action="append", default=[]
    )
    saving.add_argument(
        "--tables", metavar="DIR", type=Path, action="append", default=[]
    )
    saving.add_argument("--only", metavar="PART", action="append", default=[])
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    args = parser.parse_args()
    if args.command == "compare":
        return 1 if compare(args.old, args.new) else 0
    more, tables = (
        [path.resolve() for path in paths] for paths in (args.more, args.tables)
    )
    save(args.folder.resolve(), args.checkout.resolve(), more, tables, args.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
