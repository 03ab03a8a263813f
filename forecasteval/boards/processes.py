"""Scoring many files, in processes where that pays: what one file does, even killing its process, costs only itself."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.common.errors import EvaluationError, InputError, OtherQuestionsError, printable
from forecasteval.common.files import hash_file, join_checksums, score_together, temporary_name, write_atomic

from .page import write_stored
from .store import Score, result_pieces
from .systems import Forecasters, System, model_failures, read_result

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

POOL_BYTES: Final = 8_000_000  # of unscored files from which processes pay


class Options(NamedTuple):
    """How a night is run; `cluster` is the address of a Dask cluster, `processes` are 0 for the current one only."""

    force: bool = False  # score everything anew
    pages: bool = False  # also those of runs
    min_questions: int = 0
    min_datasets: int | None = None
    processes: int = 0
    cluster: str | None = None


class Task(NamedTuple):
    """A prediction file to score, or to find scored already; `others` are scored together with it."""

    path: Path
    dataset: Path | None
    others: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """The stem of its result: of several files that of their dataset."""
        return self.dataset.stem if self.dataset and self.others else self.path.stem

    @property
    def prediction(self) -> str:
        """The names of its files."""
        return ", ".join(path.name for path in self.files)

    @property
    def files(self) -> tuple[Path, ...]:
        return self.path, *self.others

    def checksums(self, hash_dataset: Callable[[Path], str] = hash_file) -> dict[str, str]:
        """The checksums of predictions and dataset, as a signature has them; InputError if one cannot be read."""
        dataset = {"dataset_sha256": hash_dataset(self.dataset)} if self.dataset else {}
        return {"prediction_sha256": join_checksums([hash_file(path) for path in self.files]), **dataset}


class Failure(NamedTuple):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool = False


class Scored(NamedTuple):
    """A result: its name, the file that holds it, what ranking needs of it, how the language model failed, by kind."""

    name: str
    path: Path  # in a folder that is removed once all files have been scored: it is moved where it belongs
    system: System | Forecasters
    llm_failures: Mapping[str, int]


class Outcome(NamedTuple):
    """What became of a task; of several files some may fail beside the result.

    `left_out` are files that answer other questions than those of their dataset, which is no failure of the night.
    """

    scored: Scored | None
    failures: Sequence[Failure] = ()
    left_out: Sequence[Failure] = ()


def explain(error: EvaluationError, path: Path, root: Path) -> str:
    """What is wrong with a file, without the names that everybody knows."""
    return str(error).removeprefix(f"{printable(path)}: ").replace(f"{root}{os.sep}", "")


def score_files(
    score: Score, tasks: Sequence[Task], root: Path, output: Path, options: Options
) -> Generator[Outcome, None, None]:
    """Score files in their order, with a progress bar on a terminal: in processes where that pays, or on a cluster."""
    from tqdm import tqdm

    folder = temporary_name(output)  # made for the first result
    work = partial(_score_task, score, root, folder, output if options.pages else None)
    outcomes: Generator[Outcome | None, None, None]
    if options.cluster and tasks:
        from .cluster import run_tasks

        outcomes = run_tasks(partial(_score_same, work), [(task, _checksums(task)) for task in tasks], options.cluster)
    elif options.processes and sum(map(_size, tasks)) > POOL_BYTES:
        outcomes = run_in_processes(work, tasks, min(options.processes, len(tasks)), folder)
    else:
        outcomes = (work(task) for task in tasks)
    try:
        with contextlib.closing(outcomes):  # at once, so that no process goes on behind an error
            bar = tqdm(outcomes, total=len(tasks), desc="scoring", unit="file", leave=False, disable=None)
            for task, outcome in zip(tasks, bar, strict=True):
                if outcome is None:
                    yield _failed(task, "the process that scored it was killed (out of memory?)")
                elif outcome.scored and not outcome.scored.path.exists():
                    yield _failed(task, "the Dask worker wrote its result elsewhere: is the folder shared?")
                else:
                    yield outcome
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _failed(task: Task, reason: str, fault: bool = False) -> Outcome:
    return Outcome(None, [Failure(task.prediction, reason, fault)])


def _size(task: Task) -> int:
    """Bytes of the predictions, and of their dataset."""
    size = 0
    for path in filter(None, (*task.files, task.dataset)):
        with contextlib.suppress(OSError):  # scoring will say so
            size += path.stat().st_size
    return size


def _score_task(score: Score, root: Path, folder: Path, pages: Path | None, task: Task) -> Outcome:
    try:
        results, errors = score_together(score, task.files, task.dataset)
        failures, left_out = list[Failure](), list[Failure]()
        for path, error in errors:
            listed = left_out if isinstance(error, OtherQuestionsError) else failures
            listed.append(Failure(path.name, explain(error, path, root)))
        if results is None:
            return Outcome(None, failures, left_out)
        if damaged := results.get("damaged_lines"):
            reason = f"scored without its damaged lines: {damaged}"
            failures.append(Failure(task.prediction, reason))
        system, path = read_result(results), folder / f"{results['name']}.json"
        write_atomic(path, result_pieces(results))
        if pages:
            with contextlib.suppress(EvaluationError):  # a page that cannot be made costs no score: a note names it
                write_stored(results, pages, hash_file(path))
        scored = Scored(str(results["name"]), path, system, model_failures(results) or {})
        return Outcome(scored, failures, left_out)
    except InputError as error:
        return _failed(task, explain(error, task.path, root))
    except EvaluationError:  # a full disk ends the run
        raise
    except MemoryError:
        return _failed(task, "needs more memory than there is")
    except Exception as error:  # a fault of this tool in one file must not cost a night's other files
        reason = f"internal fault, please report it: {type(error).__name__}: {printable(error, 200)}"
        return _failed(task, reason, fault=True)


def _score_same(work: Callable[[Task], Outcome], task_and_checksums: tuple[Task, dict[str, str]]) -> Outcome:
    """Score a file on another machine, if it is the file that the client has: the folder may be another one."""
    task, checksums = task_and_checksums
    if _checksums(task) == checksums:
        return work(task)
    return _failed(task, "on the Dask worker it is another file, or it was changed meanwhile: is the folder shared?")


def _checksums(task: Task) -> dict[str, str]:
    """Those of its files as they are now; none if one cannot be read: scoring says why."""
    with contextlib.suppress(InputError):
        return task.checksums()
    return {}


# --- Processes: one that dies costs only its task, and none outlives the run ---

_work: Callable[[Any], Any]  # of a process: the same for all its tasks
_folder: Path


def run_in_processes(
    work: Callable[[Any], Any], tasks: Sequence[Any], processes: int, folder: Path
) -> Generator[Any, None, None]:
    """`map(work, tasks)` by way of files in `folder`, with None for a task whose process was killed.

    Once a process has died, the remaining tasks run one by one, so that it is known which of them kills its process.
    """
    from concurrent.futures.process import BrokenProcessPool

    left, alone = list(tasks), False
    while left:
        try:
            with contextlib.closing(_map(work, left, 1 if alone else processes, folder)) as outcomes:
                for outcome in outcomes:
                    yield outcome
                    left.pop(0)
        except (BrokenProcessPool, MemoryError):
            if alone:
                yield None
                left.pop(0)
            alone = True


def _map(work: Callable[[Any], Any], tasks: Sequence[Any], processes: int, folder: Path) -> Generator[Any, None, None]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn" if sys.platform == "win32" else "forkserver")
    alive, parent = context.Pipe(duplex=False)  # the processes end when `parent` is closed, or has gone with its holder
    executor = ProcessPoolExecutor(processes, context, _begin, (work, folder, alive))
    try:
        with _without_interrupts():
            futures = [executor.submit(_do, task) for task in tasks]
        for future in futures:
            path = folder / future.result()
            yield pickle.loads(path.read_bytes())
            path.unlink()
    finally:
        parent.close()
        executor.shutdown(cancel_futures=True)
        alive.close()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """A Ctrl-C waits until all processes have started; these inherit that they never see it: it is for the parent."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Callable[[Any], Any], folder: Path, alive: Connection) -> None:
    global _work, _folder
    _work, _folder = work, folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(alive,), daemon=True).start()
    with contextlib.suppress(OSError):  # where memory runs out, Linux ends this process and not its parent
        Path("/proc/self/oom_score_adj").write_text("1000")


def _end_with_parent(alive: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        alive.recv_bytes()
    os._exit(1)


def _do(task: Any) -> str:
    """Do a task, and leave its outcome in a file, whose name is returned.

    A process that is killed while it sends a long message leaves half of it in the pipe, and the parent would wait for
    the rest for ever. A name is sent whole or not at all.
    """
    path = temporary_name(_folder)
    write_atomic(path, pickle.dumps(_work(task)))
    return path.name
