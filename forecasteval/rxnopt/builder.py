"""A folder of tables, or tables at hand, into all questions they give, with every count of the report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, require_regular
from forecasteval.common.records import dump_json, parse_json

from .items import item_text
from .kinds import QUESTION_TYPES
from .questions import TableQuestions, make_questions
from .settings import Settings, make_settings
from .tables import ROW_REASONS, Table, Unused, read_table


class Build(NamedTuple):
    """What `build_questions` made: questions by file order, and every count of the report."""

    questions: list[dict[str, Any]]
    tables: int
    used: int
    unused: dict[str, int]  # reason -> tables
    unused_tables: list[str]  # "file: reason: detail"
    not_asked: dict[str, int]  # reason -> single_varying and all_varying questions that a table does not give
    attempts: int  # questions for which references were looked for
    skipped: dict[str, int]  # reason -> attempts without `_ref` question
    capped: dict[str, int]  # questions with fewer options than there are, and options left out
    rows: dict[str, int]  # of the tables that were read: "used", and reason -> rows that are no options
    conflicts: list[str]  # equal conditions whose scores are far apart
    warnings: list[str]
    settings: Settings
    seed: int

    @property
    def counts(self) -> dict[str, int]:
        """Questions per type."""
        counts = Counter(question["question_type"] for question in self.questions)
        return {kind: counts[kind] for kind in QUESTION_TYPES}

    @property
    def references(self) -> int:
        """Questions with references; as many others are their controls."""
        return sum(count for kind, count in self.counts.items() if kind.endswith("_reference"))


class NoQuestionsError(InputError):
    """No table gives a question; `build` says what was read and why."""

    def __init__(self, where: str, expected: str, build: Build) -> None:
        super().__init__(where, expected)
        self.build = build


def build_questions(tables: str | Path | Iterable[Mapping[str, Any]], seed: int = 0, **settings: Any) -> Build:
    """Questions from a folder of table files (read recursively), or from tables.

    `settings` are those of `Settings`. The result depends on the tables, the settings and the seed alone: not on the
    order of files, on the hash seed or on the clock. Raises InputError for a bad setting, a folder that cannot be
    read and tables that give no question at all.
    """
    chosen = make_settings(settings)
    folder = Path(tables) if isinstance(tables, (str, Path)) else None
    named = _table_files(folder) if folder else _named_tables(tables)  # type: ignore[arg-type]
    warnings: list[str] = []
    per_table: list[TableQuestions] = []
    unused: list[tuple[str, str]] = []
    used: dict[str, str] = {}
    read: list[Table] = []
    for name, raw in named:
        try:
            table = read_table(_parsed(raw, name), name, chosen, warnings)
            read.append(table)
            if table.id in used:
                raise Unused("duplicate_table_id", f"{table.id} is in {used[table.id]}")
            per_table.append(make_questions(table, chosen, seed))
            if not per_table[-1].questions:
                raise Unused("no_question", "no condition has two options that differ in score")
            used[table.id] = name
        except Unused as left:
            line = f"{name}: {left.reason}{': ' if left.detail else ''}{left.detail}"
            unused.append((left.reason, printable(line)))
    questions = [question for of_table in per_table for question in of_table.questions]
    build = Build(
        questions=sorted(questions, key=lambda question: QUESTION_TYPES.index(question["question_type"])),
        tables=len(used) + len(unused),
        used=len(used),
        unused=_added([Counter(reason for reason, _ in unused)]),
        unused_tables=[line for _, line in unused],
        not_asked=_added(of_table.not_asked for of_table in per_table),
        attempts=sum(of_table.attempts for of_table in per_table),
        skipped=_added(of_table.skipped for of_table in per_table),
        capped=_added([{"questions": 0, "options": 0}, *(of_table.capped for of_table in per_table)]),
        rows=_added([dict.fromkeys(("used", *ROW_REASONS), 0), *({"used": len(t.rows), **t.left_out} for t in read)]),
        conflicts=[conflict for table in read for conflict in table.conflicts],
        warnings=warnings,
        settings=chosen,
        seed=seed,
    )
    if not build.questions:
        reasons = ", ".join(f"{reason} {count}" for reason, count in build.unused.items()) or "there is no table"
        hint = " (see --reactant-product-require)" if "filter_reactant_product_require" in build.unused else ""
        raise NoQuestionsError(str(folder or "tables"), f"no question can be built: {reasons}{hint}", build)
    return build


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(sorted(total.items()))


def _table_files(folder: Path) -> Iterator[tuple[str, Path]]:
    if not folder.is_dir():
        raise InputError(str(folder), "expected a folder of table files")

    def refuse(error: OSError) -> None:
        raise InputError(str(error.filename), f"cannot be read: {error.strerror or error}")

    paths = [Path(place) / name for place, _, names in os.walk(folder, onerror=refuse) for name in names]
    yield from sorted((p.relative_to(folder).as_posix(), p) for p in paths if p.suffix.lower() == ".json")


def _named_tables(tables: Iterable[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Tables by name, in an order that does not depend on that of the argument."""
    named = []
    for table in tables:
        title = table.get("source_file") or table.get("root_img_name") if isinstance(table, Mapping) else None
        named.append((item_text(title) or "table", dump_json(table), table))
    named.sort(key=lambda entry: entry[:2])
    return [(name, table) for name, _, table in named]


def _parsed(raw: Any, name: str) -> Any:
    if not isinstance(raw, Path):
        return raw
    try:
        require_regular(raw)
        return parse_json(decode_utf8(raw.read_bytes(), name), name)
    except OSError as error:
        raise Unused("unreadable", error.strerror or str(error)) from None
    except InputError as error:
        raise Unused("unreadable", error.expected + (f", got {error.got}" if error.got else "")) from None
