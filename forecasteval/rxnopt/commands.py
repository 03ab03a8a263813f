"""The command line `rxnopt import|build|render`: spreadsheet → tables →
questions → prompts.
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, printable, show_count
from forecasteval.common.exit_codes import ExitCode
from forecasteval.common.files import write_atomic
from forecasteval.common.records import dump_json
from forecasteval.common.usage import Parser, command_line, describe
from forecasteval.common.version import __version__

from .build.builder import (
    Build,
    NoQuestionsError,
    build_questions,
    list_tables,
    make_statistics,
    require_new,
    write_build,
)
from .build.chemicals import SELECTIVITIES
from .build.imports import Layout, import_file
from .build.prompts import LANGUAGES, find_templates, render_prompts
from .build.settings import SETTING_HELP, SETTINGS
from .build.sheets import fold_name, read_sheet
from .datasets import read_questions

_RESULTS: Final = ("yield_ratio", "isolated_yield", *SELECTIVITIES)  # options, too
SHOWN_WARNINGS: Final = 30  # on the screen; the report has all of them
Add = Callable[..., Any]  # a parser's add_argument
Work = Callable[[argparse.Namespace, str], None]

_EXAMPLES: Final = {
    "": """\
  {0} rxnopt import experiments.csv -o tables --yield yield_percent \
--conditions ligand base
  {0} rxnopt build tables -o questions --reactant-product-require content
  {0} rxnopt render questions/multiple_choice_all_varying.json -o prompts.jsonl

A model's replies are scored against the dataset that was built:
  {0} -f ./replies.jsonl --dataset questions/multiple_choice_all_varying.json""",
    "import": """\
  {0} rxnopt import experiments.xlsx -o tables
  {0} rxnopt import experiments.xlsx -o tables --yield yield_percent \
--conditions ligand base
  {0} rxnopt import runs.csv -o tables --yield y --fraction --conditions base \
--reactants aryl amine

The first row is the header, every other row an experiment. Without --yield and \
--conditions it lists the columns and writes nothing.""",
    "build": """\
  {0} rxnopt build dataset/rxnopt-tables -o /tmp/questions
  {0} rxnopt build tables -o questions --reactant-product-require none \
--year-filter 2019""",
    "render": """\
  {0} rxnopt render dataset/multiple_choice_all_varying.json -o prompts.jsonl
  {0} rxnopt render questions/multiple_choice_single_varying.json --language zh""",
}


def run(argv: Sequence[str], program: str) -> int:
    """Run `import`, `build` or `render`; 0 if it did its work.

    Raises InputError for what cannot be read, EvaluationError for what cannot be
    written, and SystemExit (argparse) for bad usage.
    """
    if argv[:1] == ["parse"]:
        _refuse_parse(argv, program)
    args = build_parser(program).parse_args(argv)
    args.run(args, program)
    return ExitCode.DONE


def build_parser(program: str) -> argparse.ArgumentParser:
    """Make the parser of the commands; `program` is what stands before `rxnopt`."""
    what = "Make RxnOptBench questions from tables, and prompts from them."
    parser = Parser(
        prog=f"{program} rxnopt", **describe(program, what, _EXAMPLES[""], "done")
    )
    parser.add_argument(
        "--version", action="version", version=f"{program} rxnopt {__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, text: str, work: Work, *files: str) -> Add:
        """Add a command with its two files; returns the function that adds options."""
        sentence = f"{text[0].upper()}{text[1:]}."
        usage = describe(program, sentence, _EXAMPLES[name], "done")
        added = commands.add_parser(name, help=text, **usage)
        added.set_defaults(run=work)
        (source, _, of_source), (output, _, of_output) = (
            each.partition(": ") for each in files
        )
        needed = work is not _run_render
        add = added.add_argument
        add("source", metavar=source, type=Path, help=of_source)
        add(
            "-o", "--output", metavar=output, type=Path, required=needed, help=of_output
        )
        return add

    add = command(
        "import",
        "table files from a sheet of experiments",
        _run_import,
        "TABLE: CSV, TSV or .xlsx of experiments",
        "TABLES_DIR: folder for the table files",
    )
    _import_options(add)
    add = command(
        "build",
        "questions from a folder of tables",
        _run_build,
        "TABLES_DIR: folder of table files (JSON), read recursively",
        "OUT_DIR: folder to create; it must not exist",
    )
    _build_options(add)
    add = command(
        "render",
        "prompts of a dataset, as {id, prompt} rows",
        _run_render,
        "DATASET: file of questions, JSON or JSONL",
        "FILE: JSONL file to write (default: the screen)",
    )
    text = (
        "language of the prompts (default: prompt_*.txt beside DATASET if there is "
        "one, else en)"
    )
    add("--language", choices=LANGUAGES, help=text)
    return parser


def _import_options(add: Add) -> None:
    def column(option: str, text: str, **words: Any) -> None:
        add(option, metavar="COL", type=fold_name, help=text, **words)

    column("--yield", "column of the yield", dest="yield_ratio")
    column("--isolated-yield", "column of the isolated yield, if there are two")
    for field in SELECTIVITIES:
        column(f"--{field}", f"column of the {field}")
    text = (
        "columns of conditions; NAME=COL+COL is one of several columns: text, "
        "SMILES, amount"
    )
    column("--conditions", text, nargs="+", default=())
    column("--entry", "column of the entry number (default: the number of the row)")
    for side in ("reactants", "products"):
        column(f"--{side}", f"columns of {side}", nargs="+", default=())
        text = f"{side} of every experiment"
        add(f"--{side}-smiles", metavar="SMILES", nargs="+", default=(), help=text)
    add("--sheet", metavar="NAME", help="sheet of the workbook (default: the first)")
    add("--doi", metavar="DOI", default="", help="DOI of the publication")
    add("--year", metavar="N", type=int, help="year of the publication")
    text = "yields are shares of 1, or percent although all are between 0 and 1"
    add("--fraction", action=argparse.BooleanOptionalAction, help=text)


def _run_import(args: argparse.Namespace, program: str) -> None:
    results = {name: column for name in _RESULTS if (column := getattr(args, name))}
    names = [field.name for field in fields(Layout) if field.name != "results"]
    layout = Layout(results, **{name: getattr(args, name) for name in names})
    if not args.conditions or not (args.yield_ratio or args.isolated_yield):
        _list_columns(args.source, layout.sheet)
        missing = "--yield COL and --conditions COL …, names of the columns above"
        raise InputError(str(args.source), f"nothing is written without {missing}")
    tables, notes = import_file(args.source, layout)
    for name in tables:
        require_new(args.output / name)
    for name, table in tables.items():
        write_atomic(args.output / name, dump_json(table, indent=1) + "\n")
    for note in notes:
        print(printable(note))
    print(f"{show_count(len(tables), 'table')} in {printable(args.output)}")


def _list_columns(path: Path, sheet_name: str | None) -> None:
    """Print the columns of a sheet with three of their cells: `base: K2CO3 | NaOH`."""
    sheet = read_sheet(path, sheet_name)
    for note in sheet.notes:  # which sheet is read, and the names of the others
        print(printable(note))
    for name in sheet.header:
        cells = filter(None, dict.fromkeys(row.cells[name] for row in sheet.rows))
        print(printable(f"{name}: {' | '.join(itertools.islice(cells, 3))}", 100))


def _build_options(add: Add) -> None:
    add(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="seed of the order of options (default: 0)",
    )
    add(
        "--language",
        choices=LANGUAGES,
        default="en",
        help="language of the prompts and of report.md (default: en)",
    )
    for name, setting in SETTINGS.items():
        default = setting.default
        words: dict[str, Any] = {}
        if isinstance(default, bool):
            words = {"nargs": "?", "const": True}
        shown = str(default).lower()
        if isinstance(default, tuple):
            shown = ",".join(default)
        text = f"{SETTING_HELP[name]} (default: {shown})"
        add(
            "--" + name.replace("_", "-"),
            dest=name,
            metavar="VALUE",
            **words,
            help=text,
        )


def _run_build(args: argparse.Namespace, program: str) -> None:
    given = {
        name: value for name in SETTINGS if (value := getattr(args, name)) is not None
    }
    require_new(args.output)  # before the work, not only after it
    try:
        tables = list_tables(args.source)
        build = build_questions(tables, args.seed, str(args.source), **given)
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
        lines[SHOWN_WARNINGS:] = [
            f"warning: {len(lines) - SHOWN_WARNINGS} more, see report.md"
        ]
    for line in lines:
        print(f"{program}: {printable(line)}", file=sys.stderr)


def _run_render(args: argparse.Namespace, program: str) -> None:
    questions = read_questions(args.source)
    if not questions:
        raise InputError(str(args.source), "expected questions", "none")
    templates = find_templates(questions, args.source.parent, args.language)
    rows = render_prompts(questions, templates)
    if args.output:
        write_atomic(args.output, "".join(dump_json(row) + "\n" for row in rows))
        return
    for row in rows:
        print(dump_json(row, ascii_only=True))


def _refuse_parse(argv: Sequence[str], program: str) -> None:
    """Say what reads replies now: `parse` was a command until 4.0."""
    files = [*itertools.takewhile(lambda word: not word.startswith("-"), argv[1:])]
    # A name without a folder is one of prediction/.
    paths = [
        file if Path(file).parent.name else f"./{file}"
        for file in files or ["REPLIES.jsonl"]
    ]
    words = shlex.join(["-f", *paths, "--dataset", "DATASET"])
    todo = f"replies are scored as they are: run {command_line(program)} {words}"
    raise InputError("rxnopt parse", todo)
