r"""How fast `eval.py` is, against `json.loads` of the same bytes.

    python research/bench.py                      everything but the million
    python research/bench.py --against ../before  FutureX of another checkout, too
    python research/bench.py --cells              only the cells: five kinds of answers,
    four forms python research/bench.py --systems 5 --million
    python research/bench.py --prophet            only Prophet Arena: 20 x 10,000
    python research/bench.py --prophet 200        the peak memory with 200 forecasters

The questions are generated from a seed, in the shares of `dataset/250915.json`, each
with its own names, numbers and options, so that no cache of whole texts helps. Nothing
here is a test: times depend on the machine, ratios much less.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval import FutureXEvaluator  # noqa: E402
from forecasteval.rxnopt.build.builder import build_files, build_questions  # noqa: E402
from forecasteval.rxnopt.scoring import RxnOptEvaluator  # noqa: E402

SEED: Final = 250915
# Questions per level in dataset/250915.json
LEVEL_SHARES: Final = {1: 11, 2: 10, 3: 11, 4: 20}
HEAD: Final = (
    'You are an agent that can predict future events. The event to be predicted: "'
)
TAIL: Final = (
    "\n        IMPORTANT: The last line of your reply MUST be one box{form}\n        "
    "Use no other"
    " form. Do not decline, and do not reply that the future is unknown: commit to one "
    "forecast"
    " from the best evidence you have, and give it in the box described above."
)
YES_NO_FORM: Final = " of these two:\n        \\boxed{Yes} or \\boxed{No}"
OPTION_FORM: Final = (
    " that holds the label of every option you find plausible, with commas between the "
    "labels. For"
    " example: \\boxed{A} for one option or \\boxed{B, C, D} for several."
)
OPEN_FORM: Final = " of this form:\n        \\boxed{YOUR_FORECAST}"
SYLLABLES: Final = (
    *(
        "bram",
        "tar",
        "vel",
        "mor",
        "quil",
        "lo",
        "fen",
        "dun",
        "mar",
        "sal",
        "tide",
        "harb",
        "ost",
        "var",
        "ka",
    ),
    *("rin", "pel", "wick", "orl", "an", "dor", "tem", "zu", "vi"),
)
CHINESE: Final = (
    "青渚鹤汀柚子电波雾岛合唱团顾野舟阿棠慢半拍白鹭"
    "先生讲故事槐镇风筝匠与盐雪线上的邮局潮汐来信灯塔"
)
REASONS: Final = (
    (
        "The last five sessions moved by less than one percent a day, and nothing is "
        "announced"
        " before the date."
    ),
    "Two of three public surveys put it ahead; the third has it level within its "
    "error.",
    (
        "Seasonality points the other way, but the order books of the last week do not "
        "support a"
        " reversal."
    ),
    (
        "I looked at the same list of the six weeks before: ranks below five change by "
        "at most two"
        " places."
    ),
)
Row = dict[str, Any]


# --- Questions and answers ---


def title(rng: random.Random) -> str:
    words = [
        "".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))).capitalize()
        for _ in range(rng.randint(1, 3))
    ]
    return " ".join(words)


def chinese(rng: random.Random) -> str:
    return "".join(rng.choices(CHINESE, k=rng.randint(3, 8)))


def frame(event: str, form: str) -> str:
    return f'{HEAD}{event}"{TAIL.format(form=form)}'


def single(rng: random.Random) -> tuple[str, Row, list[str]]:
    if rng.random() < 0.5:
        event = (
            f"Will {title(rng)} leave the office of {title(rng)} before"
            f" 2025-09-{rng.randint(16, 24)}? (GMT+8). "
        )
        row = {
            "prompt": frame(event, YES_NO_FORM),
            "ground_truth": rng.choice(["Yes", "No"]),
        }
        return "yes or no", row, ["Yes", "No"]
    home, guest, day = title(rng), title(rng), rng.randint(16, 24)
    texts = [
        f"{home} win on 2025-09-{day}",
        f"{home} vs. {guest} end in a draw",
        f"{guest} win on 2025-09-{day}",
    ]
    return "single choice", *with_options(
        rng, f"{home} vs. {guest} (resolved around 2025-09-{day}).", texts, "ABC", 1
    )


def multiple(rng: random.Random) -> tuple[str, Row, list[str]]:
    what, unit = title(rng), rng.randint(1, 90) * 100
    style = rng.randrange(3)
    if style == 0:
        texts = [f"the outcome be {title(rng)}" for _ in range(rng.randint(8, 36))]
    elif style == 1:
        steps = [unit + 100 * step for step in range(rng.randint(4, 11))]
        texts = [
            f"one {what} cost between ${low:,} and ${low + 100:,} on September 17"
            for low in steps
        ]
    else:
        steps = [unit + 25 * step for step in range(rng.randint(4, 8))]
        texts = [
            f"the outcome be At least {low / 1e3:.2f}%, but less than "
            f"{(low + 25) / 1e3:.2f}%"
            for low in steps
        ]
    labels = "".join(chr(65 + number) for number in range(len(texts)))
    return "multiple choice", *with_options(
        rng, f"What of these will {what} reach?", texts, labels, rng.randint(1, 4)
    )


def with_options(
    rng: random.Random, event: str, texts: list[str], labels: str, size: int
) -> tuple[Row, list[str]]:
    lines = "".join(
        f"\n{label}.  {text}" for label, text in zip(labels, texts, strict=True)
    )
    truth = sorted(rng.sample(labels, min(size, len(labels))))
    written = ", ".join(truth) if rng.random() < 0.7 else repr(truth)
    answers = [
        ", ".join(sorted(rng.sample(labels, rng.randint(1, min(4, len(labels))))))
        for _ in range(4)
    ]
    answers += [f"{labels[0]}. {texts[0]}", texts[-1], ", ".join(truth)]
    return {
        "prompt": frame(f"{event} {lines}", OPTION_FORM),
        "ground_truth": written,
    }, answers


def ranking(rng: random.Random) -> tuple[str, Row, list[str]]:
    first, size = rng.randint(1, 15), rng.choice([1, 3, 3, 3, 5])
    make = chinese if rng.random() < 0.4 else title
    names = [make(rng) for _ in range(size)]
    ranks = f"ranked from {first} to {first + size - 1}"
    event = (
        f"2025-09-{rng.randint(16, 24)} (GMT+8), What will be {ranks} by {title(rng)}?"
    )
    drawn = []
    for _ in range(6):
        mixed = [
            *rng.sample(names, rng.randint(0, size)),
            *(make(rng) for _ in range(size)),
        ][:size]
        drawn.append(write_list(rng, mixed, first))
    return (
        "ranking",
        {
            "prompt": frame(event, OPEN_FORM),
            "ground_truth": write_list(rng, names, first),
        },
        drawn,
    )


def write_list(rng: random.Random, names: list[str], first: int) -> str:
    style = rng.randrange(6)
    if style == 0:
        return repr(names)
    if style == 1:
        return ", ".join(f"{rank}. {name}" for rank, name in enumerate(names, first))
    if style == 2:
        return "，".join(
            f"第{rank}名：{name}" for rank, name in enumerate(names, first)
        )
    if style == 3:
        return "、".join(names)
    return ", ".join(names) + ("." if style == 4 else "")


def number(rng: random.Random) -> tuple[str, Row, list[str]]:
    value = rng.lognormvariate(5, 3)
    sigma = round(value * rng.uniform(0.005, 0.2), 4) if rng.random() < 0.85 else None
    unit = rng.choice(
        [
            "",
            "",
            "",
            "%",
            " million yuan",
            " billion yuan",
            "亿元",
            " thousand shares",
            " yuan",
        ]
    )
    asked = (
        rng.choice(["", "", " in hundreds of millions of yuan"])
        if "yuan" in unit
        else ""
    )
    what = f"{title(rng)} (TN:{rng.randint(1, 99999)})"
    event = (
        f"2025-09-{rng.randint(16, 24)} (GMT+8), What will the value of {what} "
        f"be{asked}?"
    )
    truth = f"{value:,.2f}{unit}"
    if sigma and rng.random() < 0.2:
        truth = (
            f"The high of {title(rng)} stock for September 23, 2025 will be "
            f"{value:.2f} dollar."
        )
    near = [value * rng.gauss(1, 0.05) for _ in range(5)]
    answers = [
        f"{near[0]:.2f}{unit}",
        f"{near[1]:,.1f}",
        f"{near[2]:.4g}",
        f"≈ {near[3]:.2f}",
        f"\\${near[4]:,.2f}",
    ]
    return (
        "number",
        {"prompt": frame(event, OPEN_FORM), "ground_truth": truth, "Std": sigma},
        answers,
    )


def questions(count: int, seed: int = SEED) -> Iterator[tuple[str, Row, list[str]]]:
    """`count` times (kind, question without answer, answers to draw from), levels as in
    the sample dataset.
    """
    rng = random.Random(seed)
    levels, shares = list(LEVEL_SHARES), list(LEVEL_SHARES.values())
    for _ in range(count):
        (level,) = rng.choices(levels, shares)
        if level <= 2:
            kind, row, answers = (single, multiple)[level - 1](rng)
        else:
            kind, row, answers = (
                ranking if rng.random() < (0.6 if level == 3 else 0.45) else number
            )(rng)
        head = {
            "id": f"{rng.getrandbits(96):024x}",
            "end_time": f"9/{rng.randint(16, 24)}/25",
            "level": level,
        }
        yield (
            kind,
            {
                **head,
                "Std": None,
                "additional values": None,
                "Description": None,
                **row,
            },
            answers,
        )


def answer(rng: random.Random, answers: list[str]) -> str | None:
    """One of the answers as models write them: mostly a short box, some with reasoning,
    few without box or missing.
    """
    text, style = rng.choice(answers), rng.random()
    if style < 0.02:
        return None
    if style < 0.05:
        return text
    if style < 0.10:
        return rf"\boxed{{\text{{{text}}}}}"
    if style < 0.30:
        return (
            " ".join(rng.choices(REASONS, k=rng.randint(2, 6)))
            + f"\n\n\\boxed{{{text}}}"
        )
    return rf"\boxed{{{text}}}"


# --- Measuring ---


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def show(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(
                f"{cell:{'>' if at else '<'}{widths[at]}}"
                for at, cell in enumerate(row)
            )
        )
    print(flush=True)


LIBRARY_RUN: Final = """
import gc, json, sys, time
sys.path.insert(0, sys.argv[1])
from eval import FutureXEvaluator
def seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began
evaluator, files = FutureXEvaluator(), sys.argv[2:]
for file in files:
    raw = open(file, "rb").read()
    load = min(seconds(lambda: json.loads(raw)) for _ in range(5))
    data = json.loads(raw)
    few = float("inf")
    for n in range(20):
        rows = [{**row, "prompt": f"{row['prompt']} {n}"} for row in data[:53]]
        few = min(few, seconds(lambda: FutureXEvaluator().evaluate_all(rows)))
    print(load, seconds(lambda: evaluator.evaluate_all(data)), few)
"""


def measure_library(count: int, systems: int, roots: Sequence[Path]) -> list[list[str]]:
    """(a) first sight of every question, (b) a further system on the same questions,
    (c) one file of 53 questions.

    In CPU seconds; each checkout of `roots` in a process of its own.
    """
    drawn = list(questions(count))
    table = []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{system}.json" for system in range(max(2, systems))]
        for system, file in enumerate(files):
            rng = random.Random(f"{SEED} {system}")
            rows = [
                {**row, "answer": answer(rng, answers)} for _, row, answers in drawn
            ]
            file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        size = files[0].stat().st_size
        print(
            f"{count:,} questions, {size / 1e6:.0f} MB, {size // count} bytes each, "
            f"{len(files)}"
            " systems\n"
        )
        for root in roots:
            command = [
                sys.executable,
                "-c",
                LIBRARY_RUN,
                str(root.resolve()),
                *map(str, files),
            ]
            printed = subprocess.run(
                command, capture_output=True, check=True, text=True
            ).stdout
            runs = [tuple(map(float, line.split())) for line in printed.splitlines()]
            load, first, few = runs[0]
            later = statistics.median(scored / loaded for loaded, scored, _ in runs[1:])
            name = f" ({root.resolve().name})" if len(roots) > 1 else ""
            table += [
                [
                    f"(a) distinct questions{name}",
                    f"{first:.2f} s",
                    f"{load:.2f} s",
                    f"{first / load:.2f}",
                    "8.5",
                ],
                [f"(b) a further system{name}", "", "", f"{later:.2f}", "6"],
                [f"(c) 53 questions{name}", f"{few * 1e3:.2f} ms", "", "", "2.5 ms"],
            ]
    by_kind: dict[str, list[Row]] = defaultdict(list)
    rng = random.Random(SEED)
    for kind, row, answers in drawn[:20_000]:
        by_kind[kind].append({**row, "answer": answer(rng, answers)})
    show(kind_table(by_kind))
    return table


# --- Cells: kinds and forms ---

CELL_KINDS: Final = (
    "yes or no",
    "single choice",
    "multiple choice",
    "ranking",
    "number",
)
CELL_FORMS: Final = ("box", "box below reasoning", "statement below reasoning", "prose")
CELL_SIZE: Final = 60  # questions of a cell
REASONING: Final = 1200  # characters
LONG: Final = 9800  # characters of prose in the cells of the last two rows
LONG_KINDS: Final = ("yes or no", "multiple choice")
CELL_ROUNDS: Final = 9
# How many times as much as with 3.0.0 (a04cbd1) a form of answers may take
BOUNDS: Final = {
    "box": 1.15,
    "box below reasoning": 1.15,
    "statement below reasoning": 1.3,
    "prose": 1.4,
    "long prose": 0.8,
}
NUMBER_BOUND: Final = 1.4  # of a number in a box

# A process of a checkout: a line of stdin names a cell, a line of stdout answers with
# the seconds of json.loads, of the first sight of its questions, and of a
# further system.
CELLS_RUN: Final = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from eval import FutureXEvaluator
def seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began
with open(sys.argv[2], encoding="utf-8") as file:
    cells = json.load(file)
for number, line in enumerate(sys.stdin):
    rows, rows_again = cells[json.loads(line)]
    texts = [json.dumps(row, ensure_ascii=False) for row in rows]
    load = seconds(lambda: [json.loads(text) for text in texts * 10]) / 10
    # Another prompt makes every question new to the caches.
    first, again = (
        [{**row, "prompt": f"{row['prompt']} {number}"} for row in system]
        for system in (rows, rows_again)
    )
    evaluate = FutureXEvaluator().evaluate_all
    times = load, seconds(lambda: evaluate(first)), seconds(lambda: evaluate(again))
    print(json.dumps(times), flush=True)
"""


def reasoning(rng: random.Random, length: int) -> str:
    """Write sentences of a forecaster that name no answer."""
    sentences: list[str] = []
    while sum(map(len, sentences)) + len(sentences) < length:
        sentences.append(rng.choice(REASONS))
    return " ".join(sentences)


def write_form(rng: random.Random, form: str, text: str) -> str:
    """Write an answer in one of `CELL_FORMS`, or as "long prose"."""
    if form == "box":
        return rf"\boxed{{{text}}}"
    if form == "box below reasoning":
        return f"{reasoning(rng, REASONING)}\n\n\\boxed{{{text}}}"
    if form == "statement below reasoning":
        return f"{reasoning(rng, REASONING)}\n\nFinal answer: {text}"
    length = LONG if form == "long prose" else REASONING
    return f"{reasoning(rng, length)} So I expect {text}, all in all."


def draw_cells() -> dict[str, tuple[list[Row], list[Row]]]:
    """Draw the questions of each cell, answered by two systems."""
    by_kind: dict[str, list[tuple[Row, list[str]]]] = defaultdict(list)
    for kind, row, answers in questions(CELL_SIZE * 40, SEED + 2):
        if len(by_kind[kind]) < CELL_SIZE:
            by_kind[kind].append((row, answers))
    names = [(kind, form) for form in CELL_FORMS for kind in CELL_KINDS]
    names += [(kind, "long prose") for kind in LONG_KINDS]
    cells = {}
    for kind, form in names:
        drawn = by_kind[kind][:6] if form == "long prose" else by_kind[kind]
        rng = random.Random(f"{SEED} {kind} {form}")
        systems = [
            [
                {**row, "answer": write_form(rng, form, rng.choice(answers))}
                for row, answers in drawn
            ]
            for _ in range(2)
        ]
        cells[f"{form}: {kind}"] = (systems[0], systems[1])
    return cells


def measure_cells(roots: Sequence[Path]) -> list[list[str]]:
    """Measure how long an answer of each kind and form takes, at first sight of its
    question and again by another system, as a ratio to json.loads of the same record.

    The checkouts take turns, so that a busy moment of the machine meets all of them.
    """
    cells = draw_cells()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.json"
        path.write_text(json.dumps(cells, ensure_ascii=False), encoding="utf-8")
        with contextlib.ExitStack() as stack:
            processes = [stack.enter_context(start_cells(root, path)) for root in roots]
            times = {name: measure_cell(name, processes) for name in cells}
    heads = [root.resolve().name for root in roots]
    sights = [f"{head}{sight}" for head in heads for sight in ("", " again")]
    others = [f"/ {sight}" for sight in sights[2:]]
    table = [["cell", *sights, *others, "at most"]]
    for name, ratios in times.items():
        bound = (
            NUMBER_BOUND if name == "box: number" else BOUNDS[name.partition(":")[0]]
        )
        to_load = [f"{value:.1f}" for ratio in ratios for value in ratio]
        to_others = [
            f"{here / there:.2f}"
            for ratio in ratios[1:]
            for here, there in zip(ratios[0], ratio, strict=True)
        ]
        table.append([name, *to_load, *to_others, f"{bound:.2f}"])
    return table


def start_cells(root: Path, cells: Path) -> subprocess.Popen[str]:
    """Start the process that measures cells with a checkout."""
    command = [sys.executable, "-c", CELLS_RUN, str(root.resolve()), str(cells)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def measure_cell(
    name: str, processes: Sequence[subprocess.Popen[str]]
) -> list[list[float]]:
    """Measure a cell with every checkout in turn; the fastest of its rounds count."""
    rounds: list[list[list[float]]] = [[] for _ in processes]
    for _ in range(CELL_ROUNDS):
        for process, times in zip(processes, rounds, strict=True):
            assert process.stdin
            assert process.stdout
            print(json.dumps(name), file=process.stdin, flush=True)
            times.append(json.loads(process.stdout.readline()))
    fastest = [[min(column) for column in zip(*times, strict=True)] for times in rounds]
    load = min(times[0] for times in fastest)
    return [[first / load, again / load] for _, first, again in fastest]


def kind_table(by_kind: dict[str, list[Row]]) -> list[list[str]]:
    """Each kind scored alone; a changed prompt makes every question new to caches of
    whole questions.
    """
    times: dict[str, tuple[float, float]] = {}
    for kind, rows in by_kind.items():
        new = [{**row, "prompt": row["prompt"] + " "} for row in rows]
        first = seconds(lambda new=new: FutureXEvaluator().evaluate_all(new))
        times[kind] = (
            first,
            seconds(lambda new=new: FutureXEvaluator().evaluate_all(new)),
        )
    total = sum(first for first, _ in times.values())
    table = [
        ["kind", "n", "us/question", "us seen before", "share of time", "share of n"]
    ]
    everything = sum(map(len, by_kind.values()))
    for kind, (first, again) in sorted(times.items(), key=lambda pair: -pair[1][0]):
        n = len(by_kind[kind])
        shares = [f"{first / total:.0%}", f"{n / everything:.0%}"]
        table.append(
            [
                kind,
                f"{n:,}",
                f"{first / n * 1e6:.1f}",
                f"{again / n * 1e6:.1f}",
                *shares,
            ]
        )
    return table


def measure_start(runs: int = 7) -> list[list[str]]:
    """The whole process for the shipped file, against two imports."""

    def median(*command: str) -> float | None:
        if subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, check=False
        ).returncode:
            return None
        work = [sys.executable, *command]
        return statistics.median(
            seconds(
                lambda: subprocess.run(work, cwd=ROOT, capture_output=True, check=True)
            )
            for _ in range(runs)
        )

    whole, imports = (
        median("eval.py", "-f", "250915-random"),
        median("-c", "import numpy, openai"),
    )
    if whole is None:
        return [["eval.py -f 250915-random", "failed", "", "", "0.5"]]
    if imports is None:
        return [
            [
                "eval.py -f 250915-random",
                f"{whole:.3f} s",
                "numpy or openai missing",
                "",
                "0.5",
            ]
        ]
    return [
        [
            "eval.py -f 250915-random",
            f"{whole:.3f} s",
            f"{imports:.3f} s",
            f"{whole / imports:.2f}",
            "0.5",
        ]
    ]


def measure_million(count: int) -> list[list[str]]:
    """(d) one million questions through the command line: peak memory
    of that process.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.jsonl"
        rng = random.Random(SEED)
        with path.open("w", encoding="utf-8") as file:
            for _, row, answers in questions(count, SEED + 1):
                file.write(
                    json.dumps(
                        {**row, "answer": answer(rng, answers)}, ensure_ascii=False
                    )
                    + "\n"
                )
        command = [
            sys.executable,
            str(ROOT / "eval.py"),
            "-f",
            str(path),
            "--root",
            folder,
        ]
        # The peak of children is that of the largest one so far: nothing bigger has run
        # in this process.
        took = seconds(lambda: subprocess.run(command, capture_output=True, check=True))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
        size = path.stat().st_size / 1e9
    return [
        [
            f"(d) {count:,} JSONL, {size:.1f} GB",
            f"{took:.1f} s",
            "",
            f"{peak:.2f} GB",
            "3 GB",
        ]
    ]


# --- Prophet Arena ---


def prophet_files(folder: Path, forecasters: int, events: int) -> tuple[Path, Path]:
    """Problems with 2–30 options and everyone's forecasts with prices, written a
    line at a time.
    """
    problems, predictions = folder / "arena.json", folder / "arena-forecasts.json"
    rng = np.random.default_rng(SEED)
    with (
        problems.open("w", encoding="utf-8") as asked,
        predictions.open("w", encoding="utf-8") as said,
    ):
        for number in range(events):
            options = int(rng.integers(2, 31))
            logits = rng.normal(0, 1.5, options)
            truth = np.exp(logits) / np.exp(logits).sum()
            month, day, hour = (
                rng.integers(7, 10),
                rng.integers(1, 29),
                rng.integers(0, 24),
            )
            closed = f"2025-{month:02d}-{day:02d}T{hour:02d}:00:00Z"
            problem = {
                "problem_id": f"event-{number:06d}", "title": f"Event {number}",
                "category": f"category {number % 8}",
                "options": [f"option {option}" for option in range(options)],
                "correct_option_idx": int(rng.choice(options, p=truth)),
                "end_date": closed,
            }  # fmt: skip
            asked.write(("[" if number == 0 else ",\n") + json.dumps(problem))
            odds = np.clip(truth + 0.01, 0.01, 0.99).round(2).tolist()
            for forecaster in range(forecasters):
                seen = logits + rng.normal(
                    0, 0.2 + 2 * forecaster / forecasters, options
                )
                p = np.exp(seen - seen.max())
                row = {
                    "problem_id": problem["problem_id"], "username": "forecaster "
                                                                     f"{forecaster:03d}",
                    "timestamp": "2025-06-30T12:00:00Z",
                    "prediction": (p / p.sum()).round(4).tolist(), "odds": odds,
                }  # fmt: skip
                said.write(
                    ("[" if number == forecaster == 0 else ",\n") + json.dumps(row)
                )
        asked.write("]")
        said.write("]")
    return predictions, problems


PROPHET_RUN: Final = """
import resource, sys, time
from pathlib import Path
from forecasteval.prophet import ProphetArenaEvaluator
began = time.perf_counter()
results = ProphetArenaEvaluator().evaluate_file(Path(sys.argv[1]), [Path(sys.argv[2])])
fits = results["fits"]
assert fits["irt"]["converged"] and fits["bradley_terry"]["converged"]
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - began, used.ru_maxrss * 1024 / 1e9)
"""


def measure_prophet(forecasters: int, events: int) -> list[list[str]]:
    """(e) reading and everything that `evaluate_file` does, in a process of its own,
    against json.loads of the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        predictions, problems = prophet_files(Path(folder), forecasters, events)
        name = (
            f"(e) prophet {forecasters} x {events:,}, "
            f"{predictions.stat().st_size / 1e6:.0f} MB"
        )
        command = [sys.executable, "-c", PROPHET_RUN, str(predictions), str(problems)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, check=True, text=True
        )
        took, peak = map(float, done.stdout.split())
        # Json.loads of the file would need more memory than what is measured
        if forecasters > 50:
            return [[name, f"{took:.1f} s", "", f"{peak:.2f} GB", "5 GB"]]
        raw = predictions.read_bytes()
        gc.disable()
        load = statistics.median(seconds(lambda: json.loads(raw)) for _ in range(5))
        gc.enable()
    return [
        [
            f"{name}, {peak:.2f} GB",
            f"{took:.2f} s",
            f"{load:.2f} s",
            f"{took / load:.2f}",
            "12",
        ]
    ]


# --- RxnOptBench ---


def reaction_table(name: str, rng: random.Random, rows: list[dict[str, str]]) -> Row:
    """A table with a random result for each row of conditions."""
    entries = [
        {
            "entry_idx": str(number),
            "conditions": {
                key: [{"content": value, "SMILES": ""}] for key, value in row.items()
            },
            "results": {
                "yield_ratio": f"{rng.randint(0, 99)} b",
                "ee": f"{rng.randint(0, 99)}%",
                "dr": "3.7:1",
            },
        }
        for number, row in enumerate(rows, 1)
    ]
    molecules = {
        "reactants": [{"content": "benzene", "SMILES": "c1ccccc1"}],
        "products": [{"SMILES": "Oc1ccccc1"}],
    }
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "is_table": True,
        **molecules,
        "entries": entries,
    }


def measure_build(tables: int = 1000, rows: int = 20) -> list[list[str]]:
    """(f) tables of 20 rows and (g) one full factorial design, from dicts to the text
    of every output file.
    """
    rng = random.Random(SEED)
    keys = ("base", "ligand", "solvents", "reaction_temperature", "reaction_time")
    many = [
        reaction_table(
            f"t{n}",
            rng,
            [{key: f"{key} {rng.randrange(5)}" for key in keys} for _ in range(rows)],
        )
        for n in range(tables)
    ]
    design = itertools.product(range(12), range(4), range(4), range(3), range(3))
    full = [
        reaction_table(
            "full", rng, [dict(zip(keys, map(str, row), strict=True)) for row in design]
        )
    ]
    took = [
        seconds(
            lambda data=data: build_files(
                build_questions({each["root_img_name"]: each for each in data})
            )
        )
        for data in (many, full)
    ]
    size = len(full[0]["entries"])
    return [
        [
            f"(f) build {tables:,} tables of {rows} rows",
            f"{took[0]:.1f} s",
            "",
            "",
            "20 s",
        ],
        [f"(g) build a table of {size:,} rows", f"{took[1]:.1f} s", "", "", "10 s"],
    ]


def measure_rxnopt(count: int) -> list[list[str]]:
    """(h) predictions against questions like the sample's: what json.loads gave, and
    from files to results.
    """
    rng = random.Random(SEED)
    sample = json.loads(
        (ROOT / "dataset" / "multiple_choice_single_varying.json").read_text(
            encoding="utf-8"
        )
    )
    rows = [{**sample[n % len(sample)], "id": f"{n}_q1"} for n in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        dataset, prediction = Path(folder) / "d.json", Path(folder) / "d-x.json"
        dataset.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        prediction.write_text(
            json.dumps({row["id"]: rng.randrange(len(row["options"])) for row in rows}),
            encoding="utf-8",
        )
        texts = dataset.read_bytes(), prediction.read_bytes()
        del rows
        load = min(
            seconds(lambda: [json.loads(text) for text in texts]) for _ in range(3)
        )
        data, answers = (json.loads(text) for text in texts)
        library = seconds(lambda: RxnOptEvaluator(data).evaluate_all(answers))
        whole = seconds(lambda: RxnOptEvaluator().evaluate_file(prediction, [dataset]))
    return [
        [
            f"(h) score {count:,} indices",
            f"{library:.2f} s",
            f"{load:.2f} s",
            f"{library / load:.2f}",
            "3",
        ],
        [
            "    with reading the files",
            f"{whole:.2f} s",
            f"{load:.2f} s",
            f"{whole / load:.2f}",
            "3",
        ],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--systems", type=int, default=4)
    parser.add_argument(
        "--million",
        action="store_true",
        help="also score --million-count questions as JSONL",
    )
    parser.add_argument("--million-count", type=int, default=1_000_000)
    parser.add_argument(
        "--prophet",
        metavar="N",
        type=int,
        nargs="?",
        const=20,
        help="only this, N forecasters (20)",
    )
    parser.add_argument(
        "--events", type=int, default=10_000, help="events of --prophet"
    )
    parser.add_argument(
        "--against",
        metavar="DIR",
        type=Path,
        nargs="*",
        default=[],
        help="other checkouts, for the cells and (a)-(c)",
    )
    parser.add_argument(
        "--cells", action="store_true", help="only kinds and forms of answers"
    )
    args = parser.parse_args()
    for root in args.against:
        if not (root / "eval.py").is_file():
            parser.error(f"--against {root}: expected a checkout, with eval.py")
    roots = [ROOT, *args.against]
    if args.cells:
        show(measure_cells(roots))
        return
    table = [["", "eval.py", "against", "ratio", "target"]]
    if args.prophet:
        show(table + measure_prophet(args.prophet, args.events))
        return
    table += measure_start()
    if args.million:
        table += measure_million(args.million_count)
    show(measure_cells(roots))
    table += measure_library(args.questions, args.systems, roots)
    table += measure_prophet(20, args.events)
    table += measure_build() + measure_rxnopt(args.questions)
    show(table)


if __name__ == "__main__":
    main()
