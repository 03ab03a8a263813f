"""The command line `convert`: what another program wrote, as prediction files;
FutureX-Past as a dataset.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, RecordNotes, printable, show_count
from forecasteval.common.exit_codes import ExitCode
from forecasteval.common.files import find_dataset, spool_stdin, write_atomic
from forecasteval.common.records import (
    WRAPPERS,
    Loaded,
    as_text,
    dump_json,
    load_records,
)
from forecasteval.common.usage import Parser, command_line, describe
from forecasteval.common.version import __version__
from forecasteval.source.formats import (
    EXPECTED,
    Named,
    SourceAnswer,
    SourceFile,
    SourceRun,
    clean_id,
    name_bad_row,
    read_source,
    show_names,
)
from forecasteval.source.paths import format_path
from forecasteval.source.questions import Questions
from forecasteval.source.shapes import UnclearError
from forecasteval.source.tables import read_table

_EXAMPLES: Final = """\
  {0} convert logs/run.eval -o prediction/250915-mymodel.json
  {0} convert batch_output.jsonl -o prediction/250915-mymodel.json
  {0} convert run_1/results.jsonl run_2/results.jsonl -o prediction/250915-miroflow.json
  {0} convert answers.csv -o prediction/250915-mymodel.json --id question --answer reply
  {0} convert --dataset train-00000-of-00001.parquet -o dataset/past.json

One run becomes NAME.json, several become NAME@1.json, NAME@2.json, …"""
_DESCRIPTION: Final = (
    "Convert output of other programs to prediction files: "
    "inspect_ai, OpenAI batches, MiroFlow, tables."
)
_PATHS: Final = {
    "--id": "column of the ids, or a path of keys and places, doc.id (default: by the "
    "dataset)",
    "--answer": "column of the model's answers, or a path; messages.-1.content is of "
    "the last one",
    "--run": "column that tells the runs of a system apart",
    "--system": "column that names the systems, each of which gets a file",
}
# What describes the systems, and whose result would be a board.
_TAKEN: Final = ("systems.json", "leaderboard.json")

# An object with such a key may be read as something else
_NO_IDS: Final = {"id", *WRAPPERS}
_SEVERAL_ANSWERS: Final = (
    "ids with several answers, all kept; a score counts them as missing"
)
_SEVERAL_QUESTIONS: Final = "ids of several questions, kept with their prompts"
# The texts of the files to write, the lines to print
Converted = tuple[dict[Path, str], list[str]]


def run(argv: Sequence[str], program: str) -> int:
    """Convert; 0 if it did its work.

    Raises InputError for what cannot be read, EvaluationError for what cannot be
    written, and SystemExit (argparse) for bad usage.
    """
    args = build_parser(program).parse_args(argv)
    output: Path = args.output
    _require_usable(output, args.sources)
    named = Named(args.id, args.answer, args.run, args.system)
    if not args.dataset:
        questions = _find_questions(args.questions, output)
        texts, lines = _convert_answers(args.sources, output, named, questions)
    elif len(args.sources) > 1 or any(named) or args.questions:
        raise InputError(
            "--dataset", "expected one source, and neither --id nor --answer"
        )
    else:
        texts, lines = _convert_dataset(args.sources[0], output)
        file = shlex.quote(str(output))
        lines.append(f"  {command_line(program)} check {file} looks for mistakes")
    for path in texts:
        if os.path.lexists(path) and not args.force:
            raise InputError(str(path), "the file exists already; --force replaces it")
    for path, text in texts.items():
        write_atomic(path, text)
    for line in lines:
        print(printable(line))
    return ExitCode.DONE


def build_parser(program: str) -> argparse.ArgumentParser:
    """Make the parser; `program` is what stands before `convert` on
    the command line.
    """
    texts = describe(program, _DESCRIPTION, _EXAMPLES, "converted")
    parser = Parser(prog=f"{program} convert", **texts)
    add = parser.add_argument
    add(
        "sources",
        metavar="SOURCE",
        type=Path,
        nargs="+",
        help="file to read; its contents decide its format",
    )
    add(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="file to write, NAME.json",
    )
    for option, what in _PATHS.items():
        add(option, metavar="PATH", default="", help=what)
    what = (
        "dataset whose ids and prompts show what is what (default: by the name of FILE)"
    )
    add("--questions", metavar="FILE", type=Path, help=what)
    text = "SOURCE is FutureX-Past: write its questions"
    add("--dataset", action="store_true", help=text)
    add("--force", action="store_true", help="replace existing files")
    add("--version", action="version", version=f"{program} convert {__version__}")
    return parser


def _require_usable(output: Path, sources: Sequence[Path]) -> None:
    if output.suffix != ".json":
        raise InputError(str(output), "expected a name that ends with .json")
    if output.name in _TAKEN:
        got = f"{output.name}, which nightly reads or writes itself"
        raise InputError(str(output), "expected another name", got)
    files = set(map(os.path.realpath, sources))
    if len(files) < len(sources):
        got = "a source that is named twice"
        raise InputError(", ".join(map(str, sources)), "expected each source once", got)


# --- Answers ---


def _find_questions(path: Path | None, output: Path) -> Questions | None:
    """Find the questions that the new file answers, by its name; None
    without a dataset.
    """
    root = output.absolute().parent.parent
    dataset = path or find_dataset(output, root / "dataset")
    if dataset is None:
        return None
    return Questions(load_records(dataset), dataset)


def _convert_answers(
    paths: Sequence[Path], output: Path, named: Named, questions: Questions | None
) -> Converted:
    """Make a prediction of each run of all sources."""
    sources = {path: _read(path, named, questions) for path in paths}
    titles = {path: _describe_source(path, source) for path, source in sources.items()}
    joined = _join_parts([*sources.values()])
    if joined:
        sources = {output: joined}
        titles = {output: [*itertools.chain(*titles.values())]}
    n_runs = sum(len(source.runs) for source in sources.values())
    if n_runs > 1 and "@" in output.stem:
        expected = (
            f"expected a name without @ for {n_runs} runs, whose names get @1, @2 …"
        )
        raise InputError(str(output), expected)
    texts: dict[Path, str] = {}
    lines: list[str] = []
    reasons: list[str] = []
    count = itertools.count(1)
    for source_path, source in sources.items():
        lines += titles[source_path]
        for number, run in source.runs.items():
            # The runs of a single source keep their numbers.
            shown_number = number
            if len(sources) > 1:
                shown_number = next(count)
            path = output
            if n_runs > 1:
                path = _name_run(output, source, number, shown_number)
            if path in texts:
                expected = "expected systems whose names make different names of files"
                raise InputError(str(source_path), expected, f"{path.name} twice")
            notes = [f"left out, {line}" for line in run.left_out.lines()]
            reasons += notes
            title = f"run {shown_number}: no answers, not written"
            if run.answers:
                texts[path], n_answers, repeated = prediction_text(run)
                title = f"{path}: {show_count(n_answers, 'answer')}"
                notes += repeated
            lines.append(title)
            lines += [f"  {note}" for note in notes]
    if not texts:
        where = ", ".join(map(str, sources))
        raise InputError(where, "expected answers", f"none ({'; '.join(reasons)})")
    return texts, lines


def _describe_source(path: Path, source: SourceFile) -> list[str]:
    """Describe what was read of a source, and its notes."""
    runs = show_count(len(source.runs), "run")
    lines = [f"{path}: {source.format}, {runs}"]
    lines += [f"  {note}" for note in source.notes]
    return lines


def _join_parts(sources: Sequence[SourceFile]) -> SourceFile | None:
    """Join sources that answer other questions each, run by run; None
    where they do not.

    So logs of several datasets are one prediction, whose questions with references are
    compared with their controls. Sources that share a question are runs.
    """
    if len(sources) < 2 or any(source.labels for source in sources):
        return None
    first, *others = sources
    numbers = first.runs.keys()
    if any(source.runs.keys() != numbers for source in others):
        return None
    ids = [_list_ids(source) for source in sources]
    all_ids = set().union(*ids)
    if not all(ids):
        return None
    is_disjoint = sum(map(len, ids)) == len(all_ids)
    if not is_disjoint:
        return None
    runs: dict[int, SourceRun] = defaultdict(SourceRun)
    for source in sources:
        for number, run in source.runs.items():
            joined = runs[number]
            joined.answers += run.answers
            for reason, names in run.left_out.items():
                joined.left_out[reason] += names
    return replace(first, runs=runs, notes=[])


def _list_ids(source: SourceFile) -> set[str]:
    """List the ids of the questions that a source answers."""
    answers = itertools.chain.from_iterable(run.answers for run in source.runs.values())
    return {str(answer.id) for answer in answers}


def _read(path: Path, named: Named, questions: Questions | None) -> SourceFile:
    """Read a source; InputError if it is not clear what counts in it."""
    file = path
    if str(path) == "-":
        file = spool_stdin()
    try:
        table = read_table(file)
        source = read_source(table, named, questions)
    except UnclearError as unclear:
        raise InputError(str(path), EXPECTED, str(unclear)) from None
    if source.shape.is_guess:
        guess = format_path(source.shape.answer)
        raise InputError(str(path), EXPECTED, f"{guess}, which is not called an answer")
    return source


def _name_run(output: Path, source: SourceFile, run: int, number: int) -> Path:
    """Name the file of a run: NAME@1.json, NAME-SYSTEM.json or NAME-SYSTEM@1.json."""
    labels = source.labels.get(run)
    if not labels or not source.shape.system:
        return output.with_name(f"{output.stem}@{number}.json")
    system = re.sub(r"[^\w.+-]+", "-", labels[0])
    name = f"{output.stem}-{system}"
    systems = {other: names[0] for other, names in source.labels.items()}
    runs = [other for other in systems if systems[other] == labels[0]]
    if len(runs) > 1:
        name += f"@{runs.index(run) + 1}"
    return output.with_name(f"{name}.json")


def prediction_text(run: SourceRun) -> tuple[str, int, list[str]]:
    """Write the prediction file of a run; returns also its number of answers, and notes
    on ids that repeat.

    The file is `{id: answer}`, which every benchmark reads. Where an id has several
    answers it is rows with prompts, by which FutureX tells questions of one id apart;
    what stays ambiguous counts as missing there.
    """
    by_id: dict[str, dict[tuple[str, str], SourceAnswer]] = {}
    notes = RecordNotes()
    for answer in run.answers:
        variants = by_id.setdefault(answer.id, {})
        key = repr(answer.prompt), as_text(answer.value)
        if key in variants:
            notes["given twice, taken once"].append(answer.id)
        variants.setdefault(key, answer)
    for name, variants in by_id.items():
        if len(variants) == 1:
            continue
        prompts = [variant.prompt for variant in variants.values()]
        texts = {prompt for prompt in prompts if isinstance(prompt, str)}
        if len(texts) == len(variants):
            notes[_SEVERAL_QUESTIONS].append(name)
        else:
            notes[_SEVERAL_ANSWERS].append(name)
    answers = [variant for variants in by_id.values() for variant in variants.values()]
    has_repeats = len(by_id) < len(answers)
    has_aliases = any(answer.alias for answer in answers)
    is_misread = not _NO_IDS.isdisjoint(by_id)
    value: object = {answer.id: answer.value for answer in answers}
    if has_repeats or has_aliases or is_misread:
        value = [*map(_make_row, answers)]
    text = dump_json(value, indent=1) + "\n"
    return text, len(answers), notes.lines()


def _make_row(answer: SourceAnswer) -> dict[str, object]:
    """Make the row of an answer, with the prompt of its question if that is known."""
    row = {"id": answer.id, "answer": answer.value}
    if isinstance(answer.prompt, str):
        row["prompt"] = answer.prompt
    return row


# --- FutureX-Past as a dataset ---

# Of ours, and their names in the two editions
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "question_id"),
    "prompt": ("prompt", "question"),
    "level": ("level",),
    "ground_truth": ("ground_truth", "answer"),
    "Std": ("Std", "std", "sigma"),
    "end_time": ("end_time", "end-time"),
}


def _convert_dataset(path: Path, output: Path) -> Converted:
    """Make a dataset of the questions of a source."""
    table = read_table(path)
    source = _find_fields(path, table)
    questions = []
    left_out = RecordNotes()
    for number, row in enumerate(table, 1):
        if not isinstance(row, Mapping):
            left_out["left out, no object"].append(name_bad_row(row, number))
            continue
        question: dict[str, Any] = {"Std": None}
        question |= {field: row.get(name) for field, name in source.items()}
        question["id"] = clean_id(question["id"], table) or None
        # In a CSV a level is text.
        level = str(question["level"]).strip()
        if level in {"1", "2", "3", "4"}:
            question["level"] = int(question["level"])
        questions.append(question)
    if not questions:
        raise InputError(str(path), "expected questions", "none")
    column = printable(source["ground_truth"], 40)
    n_questions = show_count(len(questions), "question")
    notes = [*table.warnings, f"column of truths: {column}", *left_out.lines()]
    lines = [f"{path}: {table.form}"]
    lines += [f"  {note}" for note in notes]
    lines.append(f"{output}: {n_questions}")
    text = dump_json(questions, indent=1) + "\n"
    return {output: text}, lines


def _find_fields(path: Path, table: Loaded) -> dict[str, str]:
    """Find the columns of our fields; InputError if one that all questions
    need is missing.
    """
    source: dict[str, str] = {}
    for field, names in _FIELDS.items():
        present = [name for name in names if name in table.names]
        if present:
            source[field] = present[0]
        elif field in ("id", "prompt", "level", "ground_truth"):
            expected = f"expected a column {' or '.join(names)}"
            raise InputError(str(path), expected, show_names(table.names))
    return source
