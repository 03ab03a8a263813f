"""The command line `convert`: what another program wrote, as prediction files; FutureX-Past as a
dataset.
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
from forecasteval.common.records import WRAPPERS, Loaded, as_text, dump_json, load_records
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
_PATHS: Final = {
    "--id": "column of the ids, or a path of keys and places, doc.id (default: by the dataset)",
    "--answer": "column of the model's answers, or a path; messages.-1.content is of the last one",
    "--run": "column that tells the runs of a system apart",
    "--system": "column that names the systems, each of which gets a file",
}
# What describes the systems, and whose result would be a board.
_TAKEN: Final = ("systems.json", "leaderboard.json")

_NO_IDS: Final = {"id", *WRAPPERS}  # an object with such a key may be read as something else
_REPEATED: Final = (
    "ids with several answers, all kept; a score counts them as missing",
    "ids of several questions, kept with their prompts",
)
Converted = tuple[dict[Path, str], list[str]]  # the texts of the files to write, the lines to print


def run(argv: Sequence[str], program: str) -> int:
    """Convert; 0 if it did its work.

    Raises InputError for what cannot be read, EvaluationError for what cannot be written, and
    SystemExit (argparse) for bad usage.
    """
    args = build_parser(program).parse_args(argv)
    output: Path = args.output
    _require_usable(output, args.sources)
    named = Named(args.id, args.answer, args.run, args.system)
    if args.dataset:
        if len(args.sources) > 1 or any(named) or args.questions:
            raise InputError("--dataset", "expected one source, and neither --id nor --answer")
        texts, lines = _convert_dataset(args.sources[0], output)
        file = shlex.quote(str(output))
        lines.append(f"  {command_line(program)} check {file} looks for mistakes")
    else:
        questions = _find_questions(args.questions, output)
        texts, lines = _convert_answers(args.sources, output, named, questions)
    for path in () if args.force else filter(os.path.lexists, texts):
        raise InputError(str(path), "the file exists already; --force replaces it")
    for path, text in texts.items():
        write_atomic(path, text)
    for line in lines:
        print(printable(line))
    return ExitCode.DONE


def build_parser(program: str) -> argparse.ArgumentParser:
    """Make the parser; `program` is what stands before `convert` on the command line."""
    what = (
        "Convert output of other programs to prediction files: "
        "inspect_ai, OpenAI batches, MiroFlow, tables."
    )
    parser = Parser(prog=f"{program} convert", **describe(program, what, _EXAMPLES, "converted"))
    add = parser.add_argument
    add(
        "sources",
        metavar="SOURCE",
        type=Path,
        nargs="+",
        help="file to read; its contents decide its format",
    )
    add("-o", "--output", metavar="FILE", type=Path, required=True, help="file to write, NAME.json")
    for option, what in _PATHS.items():
        add(option, metavar="PATH", default="", help=what)
    what = "dataset whose ids and prompts show what is what (default: by the name of FILE)"
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
    if len(set(map(os.path.realpath, sources))) < len(sources):
        got = "a source that is named twice"
        raise InputError(", ".join(map(str, sources)), "expected each source once", got)


# --- Answers ---


def _find_questions(path: Path | None, output: Path) -> Questions | None:
    """Find the questions that the new file answers, by its name; None without a dataset."""
    folder = output.absolute().parent.parent / "dataset"
    dataset = path or find_dataset(output, folder)
    return Questions(load_records(dataset), dataset) if dataset else None


def _convert_answers(
    paths: Sequence[Path], output: Path, named: Named, questions: Questions | None
) -> Converted:
    """Make a prediction of each run of all sources."""
    sources = {path: _read(path, named, questions) for path in paths}
    titles = {path: _describe_source(path, source) for path, source in sources.items()}
    joined = _join_parts([*sources.values()])
    if joined:
        sources, titles = {output: joined}, {output: [*itertools.chain(*titles.values())]}
    count = sum(len(source.runs) for source in sources.values())
    if count > 1 and "@" in output.stem:
        raise InputError(
            str(output), f"expected a name without @ for {count} runs, whose names get @1, @2 …"
        )
    texts: dict[Path, str] = {}
    lines: list[str] = []
    reasons: list[str] = []
    numbers = itertools.count(1)
    for source_path, source in sources.items():
        lines += titles[source_path]
        for run_number, run in source.runs.items():
            # The runs of a single source keep their numbers.
            number = next(numbers) if len(sources) > 1 else run_number
            path = output if count == 1 else _name_run(output, source, run_number, number)
            if path in texts:
                expected = "expected systems whose names make different names of files"
                raise InputError(str(source_path), expected, f"{path.name} twice")
            title = f"run {number}: no answers, not written"
            notes = [f"left out, {line}" for line in run.left_out.lines()]
            reasons += notes
            if run.answers:
                texts[path], answers, repeated = prediction_text(run)
                title = f"{path}: {show_count(answers, 'answer')}"
                notes += repeated
            lines += [title, *(f"  {note}" for note in notes)]
    if not texts:
        where = ", ".join(map(str, sources))
        raise InputError(where, "expected answers", f"none ({'; '.join(reasons)})")
    return texts, lines


def _describe_source(path: Path, source: SourceFile) -> list[str]:
    """Describe what was read of a source, and its notes."""
    runs = show_count(len(source.runs), "run")
    return [f"{path}: {source.format}, {runs}", *(f"  {note}" for note in source.notes)]


def _join_parts(sources: Sequence[SourceFile]) -> SourceFile | None:
    """Join sources that answer other questions each, run by run; None where they do not.

    So logs of several datasets are one prediction, whose questions with references are compared
    with their controls. Sources that share a question are runs.
    """
    if len(sources) < 2 or any(source.labels for source in sources):
        return None
    first, *others = sources
    if any(other.runs.keys() != first.runs.keys() for other in others):
        return None
    ids = [_list_ids(source) for source in sources]
    is_disjoint = sum(map(len, ids)) == len(set().union(*ids))
    if not (all(ids) and is_disjoint):
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
    return {str(answer.id) for run in source.runs.values() for answer in run.answers}


def _read(path: Path, named: Named, questions: Questions | None) -> SourceFile:
    """Read a source; InputError if it is not clear what counts in it."""
    file = spool_stdin() if str(path) == "-" else path
    try:
        source = read_source(read_table(file), named, questions)
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
    runs = [other for other, names in source.labels.items() if names[0] == labels[0]]
    if len(runs) == 1:
        return output.with_name(f"{output.stem}-{system}.json")
    return output.with_name(f"{output.stem}-{system}@{runs.index(run) + 1}.json")


def prediction_text(run: SourceRun) -> tuple[str, int, list[str]]:
    """Write the prediction file of a run; returns also its number of answers, and notes on ids that
    repeat.

    The file is `{id: answer}`, which every benchmark reads. Where an id has several answers it is
    rows with prompts, by which FutureX tells questions of one id apart; what stays ambiguous counts
    as missing there.
    """
    by_id: dict[str, dict[tuple[str, str], SourceAnswer]] = {}
    notes = RecordNotes()
    for answer in run.answers:
        same = by_id.setdefault(answer.id, {})
        if same.setdefault((repr(answer.prompt), as_text(answer.value)), answer) is not answer:
            notes["given twice, taken once"].append(answer.id)
    for name, same in by_id.items():
        prompts = {each.prompt for each in same.values() if isinstance(each.prompt, str)}
        if len(same) > 1:
            notes[_REPEATED[len(prompts) == len(same)]].append(name)
    answers = [answer for same in by_id.values() for answer in same.values()]
    value: object = {answer.id: answer.value for answer in answers}
    has_aliases = any(answer.alias for answer in answers)
    if len(by_id) < len(answers) or has_aliases or not _NO_IDS.isdisjoint(by_id):
        value = [
            {"id": name, "answer": text, **({"prompt": prompt} if isinstance(prompt, str) else {})}
            for name, text, prompt, *_ in answers
        ]
    return dump_json(value, indent=1) + "\n", len(answers), notes.lines()


# --- FutureX-Past as a dataset ---

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {  # of ours, and their names in the two editions
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
    questions, left_out = [], RecordNotes()
    for number, row in enumerate(table, 1):
        if isinstance(row, Mapping):
            values = {field: row.get(name) for field, name in source.items()}
            question: dict[str, Any] = {"Std": None, **values}
            question["id"] = clean_id(question["id"], table) or None
            if str(question["level"]).strip() in {"1", "2", "3", "4"}:  # text in a CSV
                question["level"] = int(question["level"])
            questions.append(question)
        else:
            left_out["left out, no object"].append(name_bad_row(row, number))
    if not questions:
        raise InputError(str(path), "expected questions", "none")
    truths = f"column of truths: {printable(source['ground_truth'], 40)}"
    notes = [f"  {note}" for note in (*table.warnings, truths, *left_out.lines())]
    count = f"{output}: {show_count(len(questions), 'question')}"
    texts = {output: dump_json(questions, indent=1) + "\n"}
    return texts, [f"{path}: {table.form}", *notes, count]


def _find_fields(path: Path, table: Loaded) -> dict[str, str]:
    """Find the columns of our fields; InputError if one that all questions need is missing."""
    source: dict[str, str] = {}
    for field, names in _FIELDS.items():
        if known := [name for name in names if name in table.names]:
            source[field] = known[0]
        elif field in ("id", "prompt", "level", "ground_truth"):
            expected = f"expected a column {' or '.join(names)}"
            raise InputError(str(path), expected, show_names(table.names))
    return source
