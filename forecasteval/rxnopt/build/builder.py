"""Tables into all questions they give, and these into a folder with a report."""

from __future__ import annotations

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Final

from forecasteval.common.errors import EvaluationError, InputError, printable
from forecasteval.common.files import read_file, write_atomic
from forecasteval.common.records import dump_json, parse_json
from forecasteval.common.text import decode_utf8
from forecasteval.common.version import __version__

from ..datasets import NAME, QUESTION_TYPES, TEMPLATES, dataset_name, template_of
from .prompts import code_cell, fill, make_template, render_question, show_reasons
from .questions import ChoiceQuestion, Counts, make_questions
from .settings import SETTINGS, Settings, make_settings
from .tables import Unused, read_table

PROGRAM: Final = "python eval.py"
# Why tables of plain names are not used
_LACKING: Final = "filter_reactant_product_require"
# Reasons that the report shows with a count of 0, too (seed, section 11).
_FILTERS: Final = ("filter_is_table", _LACKING, "filter_same_reactants_products")


@dataclass
class Build:
    """The result of `build_questions`: questions by file order, and all data
    of the report.

    `counts` has a Counter of reasons for "unused" tables, rows "left_out", questions
    "not_asked" and references "skipped", and one of "rows" (how many were read) and of
    what was "capped".
    """

    settings: Settings
    seed: int
    questions: list[ChoiceQuestion] = field(default_factory=list)
    used: int = 0  # tables
    unused_tables: list[str] = field(default_factory=list)  # "file: reason: detail"
    counts: Counts = field(default_factory=lambda: defaultdict(Counter))
    # Equal conditions whose scores are far apart.
    conflicts: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def tables(self) -> int:
        return self.used + len(self.unused_tables)

    @property
    def kinds(self) -> dict[str, int]:
        """Count the questions of each type."""
        counts = Counter(question["question_type"] for question in self.questions)
        return {kind: counts[kind] for kind in QUESTION_TYPES}

    @property
    def references(self) -> int:
        """Count the questions with references; as many others are their controls."""
        return sum(
            count for kind, count in self.kinds.items() if kind.endswith("_reference")
        )


class NoQuestionsError(InputError):
    """No table gives a question; `build` says what was read and why."""

    def __init__(self, where: str, expected: str, build: Build) -> None:
        super().__init__(where, expected)
        self.build = build


def build_questions(
    tables: Mapping[str, object],
    seed: int = 0,
    where: str = "tables",
    **settings: object,
) -> Build:
    """Build questions from tables by name, files or what stands in them; `where`
    they come from.

    `settings` are those of `Settings`. The result depends on the tables, the settings
    and the seed alone: not on the order of tables, on the hash seed or on the clock.
    Raises InputError for a bad setting, and for tables that give no question at all.
    """
    build = Build(make_settings(settings), seed)
    used: dict[str, str] = {}
    for name, raw in sorted(tables.items(), key=itemgetter(0)):
        try:
            _add_table(_parsed(raw, name), name, build, used)
        except Unused as left:
            build.counts["unused"][left.reason] += 1
            line = ": ".join(filter(None, (name, left.reason, left.detail)))
            build.unused_tables.append(printable(line))
    build.used = len(used)
    build.questions.sort(
        key=lambda question: QUESTION_TYPES.index(question["question_type"])
    )
    if not build.questions:
        unused = build.counts["unused"]
        reasons = show_reasons(unused) or ": there is no table"
        if _LACKING in unused:
            reasons += " (see --reactant-product-require)"
        raise NoQuestionsError(where, f"no question can be built{reasons}", build)
    return build


def _add_table(raw: object, name: str, build: Build, used: dict[str, str]) -> None:
    """Add the questions of a table, and its name to those `used`; Unused if
    it gives none.
    """
    table = read_table(raw, name, build.settings, build.warnings)
    build.conflicts += table.conflicts
    build.counts["rows"]["used"] += len(table.rows)
    build.counts["left_out"] += table.left_out
    if table.id in used:
        raise Unused("duplicate_table_id", f"{table.id} is in {used[table.id]}")
    questions = make_questions(table, build.settings, build.seed, build.counts)
    if not questions:
        raise Unused("no_question", "no condition has two options that differ in score")
    build.questions += questions
    used[table.id] = name


def list_tables(folder: Path) -> dict[str, Path]:
    """List the table files of a folder and those below it, by name; InputError if it
    cannot be read.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "expected a folder of table files")

    def refuse(error: OSError) -> None:
        raise InputError(
            str(error.filename), f"cannot be read: {error.strerror or error}"
        )

    tables = {}
    for place, _, names in os.walk(folder, onerror=refuse):
        for path in (Path(place, name) for name in names):
            if path.suffix.lower() == ".json":
                tables[path.relative_to(folder).as_posix()] = path
    return tables


def _parsed(raw: object, name: str) -> object:
    if not isinstance(raw, Path):
        return raw
    try:
        return parse_json(decode_utf8(read_file(raw), name), name)
    except InputError as error:
        problem = error.expected
        if error.got:
            problem += f", got {error.got}"
        raise Unused("unreadable", problem) from None


# --- The folder: datasets, prompt templates, example predictions, report.md ---


def build_files(
    build: Build, language: str = "en", program: str = PROGRAM
) -> dict[str, str]:
    """Write the text of each output file: six datasets, four templates, six example
    predictions, the report.

    `program` is the command in the report's instructions.
    """
    files: dict[str, str] = {}
    for kind in QUESTION_TYPES:
        questions = [
            question
            for question in build.questions
            if question["question_type"] == kind
        ]
        # A question per line: fast, and a diff shows which one changed.
        lines = ",".join(f"\n{dump_json(question)}" for question in questions)
        files[dataset_name(kind)] = f"[{lines}\n]\n"
        if not questions:
            files[dataset_name(kind)] = "[]\n"
        example = {question["id"]: 0 for question in questions}
        files[f"example_prediction_{dataset_name(kind)}"] = (
            dump_json(example, indent=1) + "\n"
        )
    for name in TEMPLATES:
        files[f"prompt_{name}.txt"] = make_template(name, language)
    files["report.md"] = make_report(build, language, program)
    return files


def write_build(
    build: Build, folder: Path, language: str = "en", program: str = PROGRAM
) -> None:
    """Write the files of a build to a folder that must not exist yet. All of them
    appear at once, or none.
    """
    temporary = folder.with_name(f".{folder.name[:100]}.{os.getpid()}.tmp")
    try:
        for name, text in build_files(build, language, program).items():
            write_atomic(temporary / name, text)
        require_new(folder)
        temporary.rename(folder)
    except OSError as error:
        raise EvaluationError(
            f"{folder}: cannot be written: {error.strerror or error}"
        ) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def require_new(path: Path) -> None:
    """Raise InputError if there is a file or folder of this name."""
    if os.path.lexists(path):
        raise InputError(str(path), "must not exist yet")


def make_report(build: Build, language: str = "en", program: str = PROGRAM) -> str:
    """Write `report.md`: how to use the folder, counts, settings, samples, warnings."""
    first = {
        question["question_type"]: question for question in reversed(build.questions)
    }
    samples = []
    for kind in QUESTION_TYPES:
        if kind in first:
            template = make_template(template_of(kind), language)
            samples.append((first[kind], render_question(first[kind], template)))
    values = asdict(build.settings)
    settings = {name: code_cell(dump_json(value)) for name, value in values.items()}
    helps = {name: setting.metadata[language] for name, setting in SETTINGS.items()}
    return fill(
        f"report.{language}.md.j2",
        build=build,
        evaluator=f"{NAME} {__version__}",
        program=program,
        dataset_name=dataset_name,
        template_of=template_of,
        samples=samples,
        filters=_FILTERS,
        settings=settings,
        helps=helps,
    )


def make_statistics(build: Build) -> str:
    """Write how many tables and questions there are, and how many were
    left out and why.
    """
    return fill("statistics.en.md.j2", build=build)
