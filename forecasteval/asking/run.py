"""Ask what has no reply yet, of a server or by a batch, and say how that went.

What failed has no row, so that the next run asks it again, unless asking again
cannot mend it.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.benchmark import Prompt
from forecasteval.common.errors import InputError, grouped_names, printable, show_count
from forecasteval.common.files import write_atomic
from forecasteval.common.records import JsonObject, dump_json, group_by, load_records
from forecasteval.common.replies import estimate_tokens, is_failed
from forecasteval.common.server import LASTING, Call, find_lasting, read_completion

from .reply_file import ReplyFile, has_failed, id_of

if TYPE_CHECKING:
    from forecasteval.common.llm import Calls
    from forecasteval.common.server import Server

_THOUGHTS: Final = ("reasoning_content", "reasoning")  # as servers call them
_NOT_SENT: Final = "not sent"
_LONG_PROMPT: Final = 1000  # tokens, from which a context may be too short
_HINTS: Final = {  # by the kind of a failure
    "cut off": "no text before the limit of tokens: --param max_tokens=N allows more",
    "empty": "the replies have no text, perhaps only thoughts",
    "rate limit": "--workers N makes fewer calls at a time",
    "timeout": "--timeout S waits longer",
    "deadline": "--deadline S waits longer",
    "bad request": "the server refuses what is asked",
    "connection": "OPENAI_BASE_URL is the address of the server",
    "no such model": "--model M is the name that the server has, OPENAI_BASE_URL ends "
    "in /v1",
    "key refused": "OPENAI_API_KEY is the key",
}


class Round(NamedTuple):
    """The prompts of a dataset, and the file of the replies."""

    prompts: Sequence[Prompt]
    file: ReplyFile


class Job(NamedTuple):
    """A prompt without a reply, and the file that waits for it."""

    prompt: Prompt
    file: ReplyFile


@dataclass
class Outcome:
    """The calls of a run, and what failed, by the kind of failure."""

    calls: list[Call] = field(default_factory=list)
    failed: dict[str, list[Job]] = field(default_factory=dict)
    requests: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def add(self, job: Job, call: Call) -> None:
        """Count a call."""
        self.calls.append(call)
        if not is_answer(call):
            self.failed.setdefault(call.failure, []).append(job)

    @property
    def has_failed(self) -> bool:
        """Return whether anything failed that asking again may mend."""
        return not LASTING.issuperset(self.failed)


def list_jobs(rounds: Sequence[Round], limit: int | None = None) -> list[Job]:
    """List what has no reply yet, of the first prompts of each dataset where a limit is
    given; InputError for a file with replies to other prompts.
    """
    jobs = []
    for prompts, file in rounds:
        first = {id_of(prompt) for prompt in prompts[:limit]}
        left = file.find_left(prompts)
        jobs += [Job(prompt, file) for prompt in left if id_of(prompt) in first]
    return jobs


def is_answer(call: Call) -> bool:
    """Return whether a call has an answer: one that was cut off may hold it all the
    same, and a refusal is what the model says.
    """
    if not call.failure:
        return True
    has_text = bool(call.reply.strip())
    return has_text and call.failure in ("cut off", "refusal")


def make_row(
    prompt: Prompt, call: Call, request: JsonObject, asked: datetime
) -> dict[str, Any]:
    """Make the row of a reply."""
    body = call.body
    choice = body["choices"][0]
    thoughts = [choice["message"].get(key) for key in _THOUGHTS]
    thinking = next((text for text in thoughts if isinstance(text, str)), "")
    values: Mapping[str, object] = {}
    problem = ""
    if prompt.read:
        values, problem = prompt.read(call.reply)
    row = {
        **prompt.names,
        "answer": call.reply,
        "model": body.get("model"),
        "timestamp": asked.isoformat(timespec="seconds"),
        "finish_reason": choice.get("finish_reason"),
        "request": request,
        "prompt_sha256": prompt.sha256,
    }
    optional = {
        "usage": body.get("usage"),
        "thinking": thinking,
        "left_out": [*call.left_out],
        "problem": problem,
    }
    row |= {key: value for key, value in optional.items() if value}
    return {**row, **values}


def _make_failed_row(
    prompt: Prompt, call: Call, request: JsonObject, asked: datetime
) -> dict[str, Any]:
    """Make the row of a question to which there can be no reply."""
    failed = ": ".join(filter(None, (call.failure, call.reason)))
    return {
        **prompt.names,
        "answer": None,
        "failed": failed,
        "timestamp": asked.isoformat(timespec="seconds"),
        "request": request,
        "prompt_sha256": prompt.sha256,
    }


def _store(job: Job, call: Call, asked: datetime) -> None:
    """Add a reply to the file, or a failure that no other call can mend."""
    prompt, file = job
    if is_answer(call):
        file.add(prompt, make_row(prompt, call, file.request, asked))
        return
    # A reply that was cut off, and is asked for again, is better than none.
    is_without_reply = id_of(prompt) not in file.rows
    if call.failure in LASTING and is_without_reply:
        file.add(prompt, _make_failed_row(prompt, call, file.request, asked))


# --- Of a server ---


def ask(
    jobs: Sequence[Job], params: JsonObject, connect: Callable[[], Calls]
) -> Outcome:
    """Ask what has no reply yet; without such prompts nothing is connected."""
    outcome = Outcome()
    if not jobs:
        return outcome
    calls = connect()
    begun = time.monotonic()
    work = {
        number: partial(_ask, calls.server, params, job)
        for number, job in enumerate(jobs)
    }
    with _open_files(jobs):
        try:
            done = calls.make(work)
        except KeyboardInterrupt:
            # What is under way is paid for.
            print(
                "waiting for the replies under way; Ctrl-C again ends at once",
                file=sys.stderr,
            )
            calls.finish()
            raise
    for number, job in enumerate(jobs):
        outcome.add(job, done.get(number, Call(failure=_NOT_SENT)))
    outcome.requests = calls.server.requests
    outcome.seconds = time.monotonic() - begun
    return outcome


@contextlib.contextmanager
def _open_files(jobs: Iterable[Job]) -> Iterator[None]:
    """Hold the files of jobs."""
    with contextlib.ExitStack() as stack:
        for file in dict.fromkeys(job.file for job in jobs):
            stack.enter_context(file.open())
        yield


def _ask(server: Server, params: JsonObject, job: Job) -> Call:
    """Ask a prompt, and add its reply to the file."""
    asked = datetime.now(UTC)
    call = server.call([{"role": "user", "content": job.prompt.message}], params)
    _store(job, call, asked)
    return call


# --- By a batch ---


def write_batch(jobs: Sequence[Job], path: Path) -> None:
    """Write what has no reply yet as the input of a batch; InputError for ids that
    are not unique.
    """
    lines: dict[str, str] = {}
    for prompt, file in jobs:
        if prompt.id in lines:
            expected = "expected ids that are given once: a batch knows nothing else"
            raise InputError(str(file.path), expected, printable(prompt.id, 60))
        messages = [{"role": "user", "content": prompt.message}]
        line = {
            "custom_id": prompt.id,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"messages": messages, **file.request},
        }
        lines[prompt.id] = dump_json(line)
    write_atomic(path, "".join(f"{line}\n" for line in lines.values()))


def read_batch(rounds: Sequence[Round], jobs: Sequence[Job], path: Path) -> Outcome:
    """Add the replies of a batch's output; InputError if it is that of
    other questions.
    """
    rows = [row for row in load_records(path) if isinstance(row, Mapping)]
    replies = {str(row.get("custom_id")): row for row in rows}
    known = {prompt.id for prompts, _ in rounds for prompt in prompts}
    if known.isdisjoint(replies):
        expected = "expected the output of a batch for this dataset"
        raise InputError(
            str(path), expected, printable(next(iter(replies), "nothing"), 60)
        )
    outcome = Outcome()
    if unknown := [name for name in replies if name not in known]:
        outcome.notes.append(f"replies to no question: {grouped_names(unknown)}")
    with _open_files(jobs):
        for job in jobs:
            call = _read_reply(replies.get(job.prompt.id))
            outcome.add(job, call)
            # The batch was answered when it was, not now.
            moment = call.body.get("created")
            if type(moment) is not int:
                moment = time.time()
            _store(job, call, datetime.fromtimestamp(moment, UTC))
    return outcome


def _read_reply(row: JsonObject | None) -> Call:
    """Read a row of a batch's output."""
    if row is None:
        return Call(failure="not in the batch")
    response = row.get("response")
    if not isinstance(response, Mapping) or is_failed(response):
        said = dump_json([response, row.get("error")])
        return Call(failure=find_lasting(said) or "failed in the batch")
    return read_completion(response.get("body"))


# --- What is said ---


def describe(rounds: Sequence[Round], outcome: Outcome) -> list[str]:
    """Say what came in, what is odd about it, and what failed."""
    lines = [*outcome.notes]
    rows: list[JsonObject] = []
    for file, rounds_of_file in group_by(rounds, attrgetter("file")).items():
        prompts = [prompt for prompts, _ in rounds_of_file for prompt in prompts]
        rows += file.select_rows(prompts)
        n_answered = len(file.select_replies(prompts))
        n_questions = show_count(len(prompts), "question")
        lines.append(f"{file.path}: {n_answered} of {n_questions} answered")
        if file.damaged:
            lines.append(
                f"{file.path}: {show_count(file.damaged, 'damaged line')} left out"
            )
        cut = []
        for prompt in prompts:
            if _is_cut(prompt, file.rows.get(id_of(prompt))):
                cut.append(prompt.id)
        if cut:
            what = (
                "the server counts less than half of their tokens, and may have cut "
                "them"
            )
            lines.append(f"long prompts: {what}: {grouped_names(cut)}")
    if outcome.calls:
        lines.append(_describe_costs(outcome))
    lines += _describe_rows(rows)
    lines += _describe_earlier_failures(rows, outcome)
    lines += _describe_failures(outcome)
    return lines


def _is_cut(prompt: Prompt, row: JsonObject | None) -> bool:
    """Return whether a server may have cut a prompt at the end of its context, as
    Ollama does without a word.
    """
    if row is None or not isinstance(row.get("usage"), Mapping):
        return False
    expected = estimate_tokens(prompt.message)
    counted = row["usage"].get("prompt_tokens")
    if expected <= _LONG_PROMPT or not isinstance(counted, int):
        return False
    return 0 < counted < expected / 2


def _describe_costs(outcome: Outcome) -> str:
    made = [call for call in outcome.calls if call.failure != _NOT_SENT]
    asked = sum(call.tokens[0] for call in made)
    replied = sum(call.tokens[1] for call in made)
    sent = f"{show_count(len(made), 'call')}, {show_count(outcome.requests, 'request')}"
    tokens = f"{asked:,} tokens of prompts and {replied:,} of replies"
    return f"{sent}, {tokens}, {outcome.seconds:.1f} s"


def _describe_rows(rows: Sequence[JsonObject]) -> Iterator[str]:
    """Say what is odd about the replies of a run."""
    named = [str(row["model"]) for row in rows if row.get("model")]
    models = Counter(named)
    if len(models) > 1:
        yield f"the server names several models: {_show_counts(models)}"
    lists = [row["left_out"] for row in rows if isinstance(row.get("left_out"), list)]
    refused = Counter(str(name) for names in lists for name in names)
    if refused:
        yield f"asked without what the server refused: {_show_counts(refused)}"
    cut = [_name(row) for row in rows if row.get("finish_reason") == "length"]
    if cut:
        what_to_do = "--param max_tokens=N allows more, --again asks them again"
        yield f"cut off by a limit of tokens: {grouped_names(cut)}; {what_to_do}"
    unread = [row for row in rows if row.get("problem")]
    for problem, rows_of_problem in group_by(unread, _name_problem).items():
        names = [*map(_name, rows_of_problem)]
        yield f"not read, {problem}: {grouped_names(names)}"


def _describe_earlier_failures(
    rows: Sequence[JsonObject], outcome: Outcome
) -> Iterator[str]:
    """Say what an earlier run has failed to get for good."""
    failed_now = {job.prompt.id for jobs in outcome.failed.values() for job in jobs}
    earlier = [row for row in rows if has_failed(row) and _name(row) not in failed_now]
    for kind, failed in group_by(earlier, _name_failure).items():
        names = grouped_names([*map(_name, failed)])
        yield (
            f"failed before, {kind}: {names}; they count as missing, --again asks again"
        )


def _describe_failures(outcome: Outcome) -> Iterator[str]:
    """Say what failed: what no other call can mend, then what may be
    mended, and how.
    """
    reasons = {call.failure: call.reason for call in outcome.calls if call.reason}
    for kind, jobs in outcome.failed.items():
        ids = [job.prompt.id for job in jobs]
        parts = [f"failed, {kind}: {grouped_names(ids)}"]
        if kind in reasons:
            parts.append(f'the server says: "{reasons[kind]}"')
        if kind in LASTING:
            parts.append("asking again cannot mend it, and it counts as missing")
        elif kind in _HINTS:
            parts.append(_HINTS[kind])
        yield "; ".join(parts)


def _name(row: JsonObject) -> str:
    return str(row.get("id", row.get("problem_id")))


def _name_problem(row: JsonObject) -> str:
    return str(row["problem"]).partition(": ")[0]


def _name_failure(row: JsonObject) -> str:
    return str(row["failed"]).partition(": ")[0]


def _show_counts(counts: Mapping[str, int]) -> str:
    shown = [f"{printable(name, 40)} {count}" for name, count in counts.items()]
    return ", ".join(shown)
