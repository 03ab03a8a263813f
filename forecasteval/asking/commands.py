"""`ask`: its options, the prompts of datasets, and the files of their replies."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.benchmark import Benchmark, Prompt, whole_number
from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import find_dataset
from forecasteval.common.replies import describe_prompts
from forecasteval.common.usage import command_line
from forecasteval.questions.prompts import list_prompts

from .reply_file import ReplyFile
from .run import (
    Job,
    Outcome,
    Round,
    ask,
    describe,
    list_jobs,
    read_batch,
    write_batch,
)

if TYPE_CHECKING:
    from forecasteval.common.llm import Calls

_MIN_SECRET: Final = 8  # characters of a key, which shorter words are not
# Of a request, by the SDK: about 40 seconds, for limits of calls per minute.
_RETRIES: Final = 8
_ONCE: Final = ("--finish", "--again")  # options that do not go on with a file
_ONCE_WITH_VALUE: Final = ("--limit", "--deadline", "--replies")
_RESERVED: Final = ("model", "messages", "stream", "api_key")  # which `ask` decides


class Run(NamedTuple):
    """The files of a run of datasets."""

    rounds: Sequence[Round]
    datasets: Sequence[Path]

    @property
    def partial(self) -> str:
        """Return why its score is not that of all questions; "" for a whole run."""
        if not any(file.has_part for file in self.files):
            return ""
        n_questions = sum(len(prompts) for prompts, _ in self.rounds)
        replies = [file.select_replies(prompts) for prompts, file in self.rounds]
        counts = f"{sum(map(len, replies))} of {n_questions} questions answered"
        return f"partial: {counts}, the others count as missing"

    @property
    def files(self) -> list[ReplyFile]:
        """Return the files, each once."""
        return [*dict.fromkeys(file for _, file in self.rounds)]

    def list_prompts(self, file: ReplyFile) -> list[Prompt]:
        """List the prompts whose replies are in a file."""
        return [
            prompt
            for prompts, other in self.rounds
            if other is file
            for prompt in prompts
        ]

    @contextlib.contextmanager
    def show_files(self) -> Iterator[tuple[Path, ...]]:
        """Give the paths of what there is to score: a part has its name in a
        folder for a while.
        """
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for file in self.files:
                path = file.path
                if not file.has_replies:
                    continue
                if file.has_part:
                    path = Path(folder, file.path.name)
                    file.write(path, self.list_prompts(file))
                paths.append(path)
            yield tuple(paths)


class Asked(NamedTuple):
    """What a command has done: runs to be scored, whether anything failed,
    and what goes on.
    """

    runs: Sequence[Run] = ()
    has_failed: bool = False
    last_line: str = ""


def add_options(add: Callable[..., object]) -> None:
    """Declare the options of `ask` with the `add_argument` of argparse."""
    positive = whole_number(1)
    add(
        "dataset",
        metavar="DATASET",
        help="file in dataset/, a path, or a folder of rxnopt build",
    )
    add(
        "--model",
        metavar="M",
        required=True,
        help="name of the model, as its server has it",
    )
    add(
        "-o",
        "--file",
        metavar="FILE",
        type=Path,
        help="JSONL file of the replies (default: prediction/DATASET-MODEL.jsonl)",
    )
    add(
        "--runs",
        metavar="K",
        type=positive,
        default=1,
        help="ask everything K times, a file each",
    )
    add("--limit", metavar="N", type=positive, help="ask only the first N questions")
    add(
        "--workers",
        metavar="N",
        type=positive,
        default=8,
        help="calls at a time (default: 8)",
    )
    add(
        "--param",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="parameter of the request, as temperature=0; repeatable (default: the "
        "server's own)",
    )
    add(
        "--timeout",
        metavar="S",
        type=positive,
        default=600,
        help="seconds without a byte that end a request (default: 600)",
    )
    add(
        "--deadline",
        metavar="S",
        type=positive,
        default=math.inf,
        help="seconds after which nothing more is asked",
    )
    add(
        "--finish",
        action="store_true",
        help="ask nothing more, and take the file with the replies that it has",
    )
    add(
        "--again",
        action="store_true",
        help="ask again what was cut off by a limit of tokens, or failed for good",
    )
    add(
        "--market", action="store_true", help="show the market's prices (Prophet Arena)"
    )
    add(
        "--dry-run",
        action="store_true",
        help="ask nothing: show the number of prompts and tokens, and the first prompt",
    )
    add(
        "--batch",
        metavar="FILE",
        type=Path,
        help="ask nothing: write the input of an OpenAI batch",
    )
    add(
        "--replies",
        metavar="FILE",
        type=Path,
        help="ask nothing: take the replies from the output of such a batch",
    )


class Command:
    """The command `ask` with its options.

    argv: its words. program: its name in messages. datasets: the files that its
        DATASET means.
    recognise: finds the benchmark of a dataset.
    """

    def __init__(
        self,
        args: argparse.Namespace,
        argv: Sequence[str],
        program: str,
        datasets: Sequence[Path],
        recognise: Callable[[Path], Benchmark],
    ) -> None:
        # First, since other errors show what was given.
        key = os.environ.get("OPENAI_API_KEY", "")
        if len(key) >= _MIN_SECRET and any(key in word for word in argv):
            raise InputError(
                "ask", "expected the key in OPENAI_API_KEY alone", "it in an option"
            )
        self.args = args
        self.program = program
        self.datasets = datasets
        self.recognise = recognise
        self.words = [*command_line(program).split(), "ask", *_without_once(argv)]
        self.params = dict(map(parse_param, args.param))
        self.request = {"model": args.model, **self.params}
        if not re.search(r"\w", args.model):
            raise InputError(
                "--model", "expected the name of a model", args.model or "''"
            )

    def print_message(self, line: str) -> None:
        """Print a line for the user."""
        print(printable(f"{self.program}: {line}"), file=sys.stderr)

    def run(self) -> Asked:
        """Ask, or do what an option asks for instead."""
        args = self.args
        prompts = [self._list_prompts(dataset) for dataset in self.datasets]
        self._print_limits(prompts)
        if args.dry_run:
            planned = [
                prompt for of_dataset in prompts for prompt in of_dataset[: args.limit]
            ]
            messages = [prompt.message for prompt in planned] * args.runs
            lines = describe_prompts(messages, planned[0].id)
            print("\n".join(lines))
            return Asked()
        runs = [Run(self._open_files(prompts, ""), self.datasets)]
        for number in range(2, args.runs + 1):
            runs.append(Run(self._open_files(prompts, f"@{number}"), self.datasets))
        rounds = [*chain.from_iterable(run.rounds for run in runs)]
        jobs = list_jobs(rounds, args.limit)
        if args.batch:
            self._write_batch(jobs)
            return Asked()
        if args.finish:
            outcome = Outcome()
        elif args.replies:
            outcome = read_batch(rounds, jobs, args.replies)
        else:
            outcome = self._ask(rounds, jobs)
        for line in describe(rounds, outcome):
            self.print_message(line)
        for run in runs:
            for file in run.files:
                prompts_of_file = run.list_prompts(file)
                is_whole = args.finish or file.is_whole(prompts_of_file)
                if is_whole and file.has_part:
                    file.finish(prompts_of_file)
        asked = Asked(runs, outcome.has_failed)
        is_open = any(file.has_part for run in runs for file in run.files)
        if not is_open:
            return asked
        line = (
            f"{shlex.join(self.words)} goes on; with --finish it takes the replies "
            "as they are"
        )
        return asked._replace(last_line=line)

    def _write_batch(self, jobs: Sequence[Job]) -> None:
        """Write the input of a batch."""
        if self.args.runs > 1:
            expected = "writes one run: name a file for each (-o FILE --batch INPUT)"
            raise InputError("--batch", expected, f"--runs {self.args.runs}")
        write_batch(jobs, self.args.batch)
        what_to_do = "when it is done, --replies OUTPUT reads it"
        self.print_message(f"{len(jobs)} prompts in {self.args.batch}; {what_to_do}")

    def _ask(self, rounds: Sequence[Round], jobs: Sequence[Job]) -> Outcome:
        """Ask a server; if that is interrupted, say how it goes on."""
        try:
            return ask(jobs, self.params, self._connect)
        except KeyboardInterrupt:
            for line in describe(rounds, Outcome()):
                self.print_message(line)
            self.print_message(f"{shlex.join(self.words)} goes on")
            raise

    def _connect(self) -> Calls:
        from forecasteval.common.llm import Calls
        from forecasteval.common.server import Server, find_server

        key, address = find_server("ask")
        server = Server(key, address, self.args.model, self.args.timeout, _RETRIES)
        return Calls(server, self.args.workers, self.args.deadline)

    # --- Prompts ---

    def _list_prompts(self, dataset: Path) -> list[Prompt]:
        """List the prompts of a dataset; InputError if it has none."""
        benchmark = self.recognise(dataset)
        make = benchmark.list_prompts or list_prompts
        prompts = [*make(dataset, self.args.model, self.args.market)]
        if not prompts:
            raise InputError(str(dataset), "expected questions", "none")
        # Otherwise the user would believe that the model has seen prices.
        if self.args.market:
            plain = [prompt.text for prompt in make(dataset, self.args.model, False)]
            if plain == [prompt.text for prompt in prompts]:
                raise InputError(
                    "--market", "expected events with prices ('odds')", "none"
                )
        return prompts

    def _print_limits(self, prompts: Sequence[Sequence[Prompt]]) -> None:
        """Say which questions are not asked, and which have closed already."""
        now = datetime.now(UTC)
        limit = self.args.limit
        for dataset, of_dataset in zip(self.datasets, prompts, strict=True):
            if limit is not None and len(of_dataset) > limit:
                first = f"the first {limit} of {len(of_dataset)} questions"
                self.print_message(f"{dataset.name}: only {first} (--limit)")
            closed = [
                prompt.id
                for prompt in of_dataset
                if prompt.closes and prompt.closes < now
            ]
            if closed:
                late = "closed already, so that replies are late"
                if self.recognise(dataset).ranks_together:
                    late += " (-f FILE --late keep scores them)"
                self.print_message(f"{dataset.name}: {late}: {grouped_names(closed)}")

    # --- Files ---

    def _open_files(
        self, prompts: Sequence[Sequence[Prompt]], mark: str
    ) -> list[Round]:
        """Open the prediction files of a run: one for each dataset, unless a
        file is named.
        """
        path: Path | None = self.args.file
        if path is None:
            paths = [self._name_file(dataset, mark) for dataset in self.datasets]
            files = map(self._open_file, paths)
            return [Round(*pair) for pair in zip(prompts, files, strict=True)]
        if path.suffix != ".jsonl":
            raise InputError(str(path), "expected a name that ends in .jsonl")
        file = self._open_file(path.with_name(f"{path.stem}{mark}.jsonl"))
        return [Round(of_dataset, file) for of_dataset in prompts]

    def _open_file(self, path: Path) -> ReplyFile:
        return ReplyFile(path, self.request, self.args.again, self.words)

    def _name_file(self, dataset: Path, mark: str) -> Path:
        """Name the file of a dataset; InputError if that name is another file's, or of
        another dataset.
        """
        system = re.sub(r"[^\w.+-]+", "-", self.args.model).strip("-")
        root: Path = self.args.root
        path = root / "prediction" / f"{dataset.stem}-{system}{mark}.jsonl"
        for suffix in (".json", ".csv"):
            other = path.with_suffix(suffix)
            if other.exists():
                raise InputError(
                    str(path), "expected another name (-o FILE)", f"{other} beside it"
                )
        # The replies of model "b-x" to 250915 would be those of "x" to a
        # dataset 250915-b.
        match = find_dataset(path, root / "dataset")
        if match and not match.samefile(dataset):
            expected = f"expected another name (-o FILE): this is one of {match}"
            raise InputError(str(path), expected)
        return path


def _without_once(argv: Sequence[str]) -> Iterator[str]:
    """Give the words of a command line without the options that only its
    first run needs.
    """
    words = iter(argv)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in _ONCE_WITH_VALUE:
            if not equals:
                next(words, None)
        elif word not in _ONCE:
            yield word


def parse_param(text: str) -> tuple[str, Any]:
    """Parse `key=value`, the value as JSON where it is that; InputError for
    any other text.

    >>> parse_param("temperature=0"), parse_param("reasoning_effort=low")
    (('temperature', 0), ('reasoning_effort', 'low'))
    """
    key, equals, value = text.partition("=")
    if not key.strip() or not equals or key in _RESERVED:
        expected = "expected key=value, as temperature=0, and no key of a server"
        raise InputError("--param", expected, printable(key, 60) or "''")
    with contextlib.suppress(ValueError):
        return key, json.loads(value)
    return key, value
