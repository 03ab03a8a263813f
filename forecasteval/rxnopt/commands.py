"""The command line `rxnopt import|build|render|parse`: spreadsheet → tables → questions → prompts;
replies → picks.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import write_atomic
from forecasteval.common.records import RecordFile, dump_json
from forecasteval.common.usage import Parser, command_line, describe
from forecasteval.common.version import __version__
from forecasteval.display.tables import Column, make_table, print_report

from .builder import (
    Build,
    NoQuestionsError,
    build_questions,
    make_statistics,
    require_new,
    write_build,
)
from .chemicals import SELECTIVITIES, YIELDS
from .datasets import require_question
from .imports import OPTIONS, Layout, import_file, list_columns
from .prompts import LANGUAGES, find_templates, render_prompts
from .replies import parse_replies
from .settings import SETTING_HELP, SETTINGS

_RESULTS: Final = ("yield_ratio", "isolated_yield", *SELECTIVITIES)  # options, too
SHOWN_WARNINGS: Final = 30  # on the screen; the report has all of them
Add = Callable[..., Any]  # a parser's add_argument

_EXAMPLES: Final = {
    "": """\
  {0} rxnopt import experiments.csv -o tables --yield yield_percent --conditions ligand base
  {0} rxnopt build tables -o questions --reactant-product-require content
  {0} rxnopt render questions/multiple_choice_all_varying.json -o prompts.jsonl
  {0} rxnopt parse replies.jsonl -o prediction/multiple_choice_all_varying-NAME.json

The prediction is scored like any other file, against the dataset that was built:
  {0} -f multiple_choice_all_varying-NAME --dataset questions/multiple_choice_all_varying.json""",
    "import": """\
  {0} rxnopt import experiments.xlsx -o tables
  {0} rxnopt import experiments.xlsx -o tables --yield yield_percent --conditions ligand base
  {0} rxnopt import runs.csv -o tables --yield y --fraction --conditions base --reactants aryl amine

Without --yield and --conditions it lists the columns and the command to run, writing nothing.""",
    "build": """\
  {0} rxnopt build dataset/rxnopt-tables -o /tmp/questions
  {0} rxnopt build tables -o questions --reactant-product-require none --year-filter 2019""",
    "render": """\
  {0} rxnopt render dataset/multiple_choice_all_varying.json -o prompts.jsonl
  {0} rxnopt render questions/multiple_choice_single_varying.json --id TABLE_q1 --language zh
  {0} rxnopt render questions/multiple_choice_all_varying.json --permutations 4 --shots 2""",
    "parse": """\
  {0} rxnopt parse replies.jsonl -o prediction/multiple_choice_all_varying-NAME.json

A line of REPLIES is {{"id": "TABLE_q1", "reply": "Answer: 2"}}, or a line of a batch's output.""",
}


def run(argv: Sequence[str], program: str) -> int:
    """Run `import`, `build`, `render` or `parse`; 0 if it did its work.

    Raises InputError for what cannot be read, EvaluationError for what cannot be written, and
    SystemExit (argparse) for bad usage.
    """
    args = build_parser(program).parse_args(argv, argparse.Namespace(words=argv))
    args.run(args, program)
    return 0


def build_parser(program: str) -> argparse.ArgumentParser:
    """The commands and their options; `program` is what stands before `rxnopt` on the command
    line.
    """
    what = "Make RxnOptBench questions from tables, prompts from them, predictions from replies."
    parser = Parser(prog=f"{program} rxnopt", **describe(program, what, _EXAMPLES[""], "done"))
    parser.add_argument("--version", action="version", version=f"{program} rxnopt {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, text, source, output, add_options, work in _COMMANDS:
        what = text[0].upper() + text[1:] + "."
        command = commands.add_parser(
            name, help=text, **describe(program, what, _EXAMPLES[name], "done")
        )
        command.set_defaults(run=work)
        add, needed = command.add_argument, work is not _run_render
        add("source", metavar=source[0], type=Path, help=source[1])
        add("-o", "--output", metavar=output[0], type=Path, required=needed, help=output[1])
        add_options(add)
    return parser


def _import_options(add: Add) -> None:
    add("--yield", dest="yield_ratio", metavar="COL", help="column of the yield")
    add("--isolated-yield", metavar="COL", help="column of the isolated yield, if there are two")
    for field in SELECTIVITIES:
        add(f"--{field}", metavar="COL", help=f"column of the {field}")
    for option in OPTIONS:
        add("--" + option.name.replace("_", "-"), default=option.default, **option.metadata)


def _run_import(args: argparse.Namespace, program: str) -> None:
    results = {name: column for name in _RESULTS if (column := getattr(args, name))}
    layout = Layout(results, **{option.name: getattr(args, option.name) for option in OPTIONS})
    if not layout.is_complete:
        _list_columns(args, layout, program)
        missing = "--yield and --conditions, as in the command above"
        raise InputError(str(args.source), f"nothing is written without {missing}")
    tables, notes = import_file(args.source, layout)
    for name in tables:
        if os.path.lexists(args.output / name):
            raise InputError(str(args.output / name), "the file must not exist yet")
    for name, table in tables.items():
        write_atomic(args.output / name, dump_json(table, indent=1) + "\n")
    for note in notes:
        print(printable(note))
    print(f"{len(tables)} {'table' if len(tables) == 1 else 'tables'} in {printable(args.output)}")


def _list_columns(args: argparse.Namespace, layout: Layout, program: str) -> None:
    """Print the columns of a sheet, and the command that imports it as they look."""
    rows = list_columns(args.source, layout.sheet, layout.results)
    columns = [
        Column("Column", lambda row: printable(row[0], 40)),
        Column("First values", lambda row: printable(row[1], 60)),
        Column("Looks like", itemgetter(2)),
    ]
    print_report([make_table(columns, rows)])
    named = {*layout.columns, *layout.group}
    looks: dict[str, list[str]] = defaultdict(list)
    for name, _, look in rows:
        if name not in named:
            looks[look].append(name)
    words = ["rxnopt", *args.words]
    if set(YIELDS).isdisjoint(layout.results):
        words += ["--yield", *(looks["yield"] or ["COLUMN"])[:1]]
    for field in SELECTIVITIES:
        if looks[field] and field not in layout.results:
            words += [f"--{field}", looks[field][0]]
    if not layout.conditions:
        words += ["--conditions", *looks["condition"]]
    print(f"\n{command_line(program)} {printable(shlex.join(words))}")


def _build_options(add: Add) -> None:
    add("--seed", metavar="N", type=int, default=0, help="seed of the order of options (0)")
    add(
        "--language",
        choices=LANGUAGES,
        default="en",
        help="language of the prompts and of report.md (en)",
    )
    for name, setting in SETTINGS.items():
        default = setting.default
        shown = ",".join(default) if isinstance(default, tuple) else str(default).lower()
        add(
            "--" + name.replace("_", "-"),
            dest=name,
            metavar="VALUE",
            help=f"{SETTING_HELP[name]} ({shown})",
        )


def _run_build(args: argparse.Namespace, program: str) -> None:
    given = {name: value for name in SETTINGS if (value := getattr(args, name)) is not None}
    require_new(args.output)  # before the work, not only after it
    try:
        build = build_questions(args.source, args.seed, **given)
    except NoQuestionsError as error:
        _warn_of(error.build, program)
        raise
    write_build(build, args.output, args.language, command_line(program))
    _warn_of(build, program)
    print(make_statistics(build), end="")
    print(f"{printable(args.output)} is written; report.md says what is in it.")


def _warn_of(build: Build, program: str) -> None:
    lines = [f"not used: {line}" for line in build.unused_tables]
    lines += [f"warning: {line}" for line in build.conflicts + build.warnings]
    if len(lines) > SHOWN_WARNINGS:
        lines[SHOWN_WARNINGS:] = [f"warning: {len(lines) - SHOWN_WARNINGS} more, see report.md"]
    for line in lines:
        print(f"{program}: {printable(line)}", file=sys.stderr)


def _render_options(add: Add) -> None:
    add("--id", metavar="ID", help="only this question")
    add(
        "--language",
        choices=LANGUAGES,
        default="en",
        help="language if there is no prompt_*.txt in the folder of DATASET (en)",
    )
    add(
        "--permutations",
        metavar="K",
        type=int,
        default=1,
        help="each question in K orders of its options (1)",
    )
    add(
        "--shots",
        metavar="N",
        type=int,
        default=0,
        help="solved questions of other tables before each (0)",
    )


def _read_questions(path: Path) -> list[Any]:
    records = list(RecordFile(path))
    if not records:
        raise InputError(str(path), "expected questions", "none")
    for number, record in enumerate(records, 1):
        require_question(record, f"{path}: record {number}")
    return records


def _run_render(args: argparse.Namespace, program: str) -> None:
    if not 1 <= args.permutations <= 1000:
        raise InputError(
            "--permutations", "expected a number from 1 to 1000", str(args.permutations)
        )
    if args.shots < 0:
        raise InputError("--shots", "expected a number from 0", str(args.shots))
    records = _read_questions(args.source)
    if args.id is not None and all(str(record["id"]) != args.id for record in records):
        raise InputError(str(args.source), f"no question {printable(args.id, 60)}")
    templates = find_templates(records, args.source.parent, args.language)
    rows = render_prompts(records, templates, args.permutations, args.shots, args.id or "")
    if args.output:
        write_atomic(args.output, "".join(dump_json(row) + "\n" for row in rows))
    else:
        for row in rows:
            print(dump_json(row, ascii_only=True))


def _parse_options(add: Add) -> None:
    text = "file of the questions: then `4 DMAP` is option 4 if DMAP is in it, and else an amount"
    add("--dataset", metavar="DATASET", type=Path, help=text)


def _run_parse(args: argparse.Namespace, program: str) -> None:
    questions = _read_questions(args.dataset) if args.dataset else []
    options = {str(question["id"]): question["options"] for question in questions}
    prediction, warnings = parse_replies(RecordFile(args.source), options)
    for warning in warnings:
        print(f"{program}: warning: {printable(warning)}", file=sys.stderr)
    if not prediction:
        raise InputError(str(args.source), "expected replies with an index", "none")
    write_atomic(args.output, dump_json(prediction, indent=1) + "\n")
    print(f"{len(prediction)} indices in {printable(args.output)}")


_COMMANDS: Final = (  # name, what it gives, what it reads and writes, options, work
    (
        "import",
        "table files from a sheet of experiments",
        ("TABLE", "CSV, TSV or .xlsx of experiments"),
        ("TABLES_DIR", "folder for the table files"),
        _import_options,
        _run_import,
    ),
    (
        "build",
        "questions from a folder of tables",
        ("TABLES_DIR", "folder of table files (JSON), read recursively"),
        ("OUT_DIR", "folder to create; it must not exist"),
        _build_options,
        _run_build,
    ),
    (
        "render",
        "prompts of a dataset, as {id, prompt} rows",
        ("DATASET", "file of questions, JSON or JSONL"),
        ("FILE", "JSONL file to write (default: the screen)"),
        _render_options,
        _run_render,
    ),
    (
        "parse",
        "a prediction from raw replies",
        ("REPLIES", "JSONL rows {id, reply}"),
        ("FILE", "prediction to write"),
        _parse_options,
        _run_parse,
    ),
)
