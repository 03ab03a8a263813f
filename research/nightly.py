r"""What nightly runs and comparisons are worth, measured.

    python research/nightly.py                    everything (some minutes)
    python research/nightly.py --only tests       one of: runs, season, kills,
    changes, locks, tests

runs: first and second `eval.py nightly` over 1,000 files of 52 questions.
    kills: SIGKILL at a
random moment, then every stored file must be whole, and the next run must bring back
the same bytes. locks: two runs started together, one must go on and one exit with 5.
season: nights over a season (`season.py`), their seconds and memory. changes: SIGKILL
in nights that change truths, after which no line of the history may be torn, lost or
wrong. tests: how often paired tests reject between systems that are equally good (5 %
is right), and between others. Nothing here is a test: figures depend on
machine and seed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from forecasteval.common.statistics import stratified_error, stratified_mean, t_tail  # noqa: E402
from forecasteval.futurex.rules import WEIGHTS  # noqa: E402
from forecasteval.ranking.pairs import sign_flip_test, skewness_test  # noqa: E402
from season import correct_truth, make_season  # noqa: E402

SEED: Final = 1
# Per level, as in the benchmark's week of 2025-09-15
QUESTIONS: Final = (11, 10, 9, 23)


def make_folder(root: Path, count: int) -> None:
    """`count` systems, each answering every question as one of the two
    sample files does.
    """
    for folder in ("dataset", "prediction"):
        (root / folder).mkdir()
    (root / "dataset" / "250915.json").write_bytes(
        (ROOT / "dataset" / "250915.json").read_bytes()
    )
    samples = [
        json.loads((ROOT / "prediction" / f"250915-{name}.json").read_bytes())
        for name in ("random", "careful")
    ]
    rng = random.Random(SEED)
    for number in range(count):
        rows = [rng.choice(rows) for rows in zip(*samples, strict=True)]
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        (root / "prediction" / f"250915-system{number:04d}.json").write_text(
            text, encoding="utf-8"
        )


def start(root: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        str(ROOT / "eval.py"),
        "nightly",
        "--root",
        str(root),
        *options,
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def timed_run(root: Path, *options: str) -> float:
    begun = time.perf_counter()
    if start(root, *options).wait():
        raise SystemExit("eval.py nightly failed")
    return time.perf_counter() - begun


def read_folder(root: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in (root / "evaluation").iterdir()
        if path.is_file() and path.name != ".lock"
    }


def measure_runs(root: Path) -> None:
    first = timed_run(root)
    before = read_folder(root)
    again = sorted(timed_run(root) for _ in range(5))[2]
    same = "no byte changed" if read_folder(root) == before else "BYTES CHANGED"
    print(
        f"runs: 1,000 files first {first:.2f} s, second {again:.2f} s "
        f"({again / first:.3f}), {same}"
    )


def measure_kills(root: Path, kills: int) -> None:
    """Kill runs that redo everything; torn: a file that is no whole JSON; lost:
    one that is gone.

    Of every other run the whole group of processes is killed.
    """
    timed_run(root)
    whole = read_folder(root)
    longest = timed_run(root, "--force")
    rng = random.Random(SEED)
    torn = lost = killed = 0
    for number in range(kills):
        run = start(root, "--force")
        time.sleep(rng.uniform(0.05, longest))
        killed += run.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL) if number % 2 else run.kill()
        run.wait()
        files = read_folder(root)
        lost += len(whole.keys() - files.keys())
        torn += sum(
            not is_whole(text) for name, text in files.items() if name.endswith(".json")
        )
    timed_run(root)
    left = read_folder(root)
    stray = sum(path.suffix == ".tmp" for path in (root / "evaluation").iterdir())
    print(
        f"kills: {killed} of {kills} runs killed, {torn} files torn, {lost} results "
        "lost, then"
        f" {stray} strays,"
    )
    print("same bytes" if left == whole else "OTHER BYTES")


def measure_season(root: Path) -> None:
    """A first night, one that changes nothing, one with a corrected truth, and
    what comes after.
    """
    make_season(root)
    files = len([*(root / "prediction").glob("*.jsonl")])
    print(f"season: {files} files of 50 questions")
    words = ["compare", "250901-harbor-9b", "250901-quillon-2"]
    for told, command in (
        ("first night", ["nightly"]),
        ("second night", ["nightly"]),
        ("a truth corrected", ["nightly"]),
        ("compared", words),
        ("gate", [*words, "--fail-if-worse"]),
    ):
        if told == "a truth corrected":
            correct_truth(root)
        before = read_folder(root) if (root / "evaluation").exists() else {}
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "eval.py"), *command, "--root", str(root)],
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = process.stdout.read().splitlines() if process.stdout else []
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, after = time.perf_counter() - begun, read_folder(root)
        changed = sum(before.get(name) != text for name, text in after.items())
        lines_of_history = after.get("history.jsonl", b"").count(b"\n")
        print(
            f"  {told}: {seconds:.2f} s, {usage.ru_maxrss >> 10} MB, exit code"
            f" {process.returncode},",
            end=" ",
        )
        print(
            f"{changed} files changed, {lines_of_history} lines of history; {lines[-1]}"
        )


def measure_changes(root: Path, kills: int) -> None:
    """Kill nights that have something to say, and read the history after each.

    torn: a line that is no JSON, or a file that is none; lost: a line that was there
        and is not, or
    a system whose last line is not what the leaderboard says, once a
    night went through.
    """
    make_season(root, weeks=3, questions=8, systems=4, runs=2)
    timed_run(root)
    correct_truth(root)
    longest = timed_run(root)
    rng = random.Random(SEED)
    torn = lost = killed = grown = number = 0
    while killed < kills:
        number += 1
        before = read_folder(root)["history.jsonl"]
        correct_truth(root)
        run = start(root)
        time.sleep(rng.uniform(0.05, longest))
        killed += run.poll() is None
        with contextlib.suppress(ProcessLookupError):
            run.kill()
        run.wait()
        files = read_folder(root)
        grown += files["history.jsonl"] != before
        lost += not files["history.jsonl"].startswith(before)
        torn += sum(
            not is_whole(text) for name, text in files.items() if name.endswith(".json")
        )
        torn += sum(not is_whole(line) for line in files["history.jsonl"].splitlines())
        if number % 10 == 0:
            timed_run(root)
            lost += not history_is_right(root)
    timed_run(root)
    lost += not history_is_right(root)
    left = read_folder(root)
    timed_run(root)
    quiet = "no byte changed" if read_folder(root) == left else "BYTES CHANGED"
    nights = max(
        json.loads(line)["night"] for line in left["history.jsonl"].splitlines()
    )
    print(
        f"changes: {killed} of {number} runs killed, {torn} lines or files torn, "
        f"{lost} lost;"
        f" {grown} of them had"
    )
    print(f"appended, {nights} nights in the history; then {quiet}")


def history_is_right(root: Path) -> bool:
    """Whether the last line of each system holds the score of the leaderboard, and
    nights only go up.
    """
    lines = [
        json.loads(line)
        for line in (root / "evaluation" / "history.jsonl").read_bytes().splitlines()
    ]
    board = json.loads((root / "evaluation" / "leaderboard.json").read_bytes())
    # Not those over all datasets
    of_files = [line for line in lines if line.get("prediction")]
    last = {(line["dataset"], line["prediction"]): line["score"] for line in of_files}
    rows = {
        (row["dataset"], row["prediction"]): row["overall_score"]
        for table in board["tables"]
        for row in table["rows"]
    }
    nights = [line["night"] for line in lines]
    return last == rows and nights == sorted(nights)


def is_whole(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def measure_locks(root: Path, tries: int) -> None:
    outcomes: list[list[int]] = []
    for _ in range(tries):
        runs = [start(root, "--force") for _ in range(2)]
        outcomes.append(sorted(run.wait() for run in runs))
    print(
        f"locks: {sum(codes == [0, 5] for codes in outcomes)} of {tries} pairs ended "
        "with codes 0"
        " and 5"
    )


def draw_scores(
    rng: np.random.Generator, level: int, count: int
) -> np.ndarray[Any, Any]:
    """Scores such as a level's scorer gives: right or wrong, F1 of a few picks, or
    exact, partial and nothing.
    """
    if level == 1:
        return rng.integers(0, 2, count).astype(float)
    if level == 2:
        return rng.choice([0, 0.4, 0.5, 2 / 3, 0.8, 1], count)
    return np.where(
        rng.random(count) < 0.4,
        0.0,
        rng.choice([0.8 / 3, 1.6 / 3, 0.8, 1, 0.93, 0.5], count),
    )


def draw_differences(
    rng: np.random.Generator, kind: str, sizes: Sequence[int]
) -> list[np.ndarray[Any, Any]]:
    """Per level the differences of two systems that are equally good."""

    def draw(level: int, count: int) -> np.ndarray[Any, Any]:
        if kind == "as in the benchmark":
            return draw_scores(rng, level, count) - draw_scores(rng, level, count)
        if kind == "normal":
            return rng.normal(0, 0.3, count)
        if kind == "heavy tails (t, 2 df)":
            return rng.standard_t(2, count) * 0.1
        if kind == "80 % ties":
            return np.where(
                rng.random(count) < 0.8,
                0,
                rng.choice([-1, 1], count) * rng.random(count),
            )
        if kind == "skewed (exponential)":
            return (rng.exponential(1, count) - 1) * 0.2
        return np.where(rng.random(count) < 0.95, 0.05, -0.95)

    return [
        draw(level if len(sizes) > 1 else 4, count)
        for level, count in enumerate(sizes, 1)
    ]


KINDS: Final = (
    "normal", "as in the benchmark", "80 % ties", "heavy tails (t, 2 "
                                                  "df)", "skewed (exponential)",
    "+.05 in 95 %, −.95 in 5 %",
)  # fmt: skip
SIZES: Final = ((10,), (20,), (50,), (150,), (500,), QUESTIONS, (40, 40, 40, 40))


def measure_tests(simulations: int) -> None:
    """Type I errors, and the power where 2.8 standard errors are added (80 % for a t
    test of many questions).
    """
    for shift in (0.0, 2.8, -2.8):
        print(
            "tests: equally good"
            if not shift
            else f"tests: shifted by {shift:+} standard errors"
        )
        for kind in KINDS:
            for sizes in SIZES if not shift else SIZES[1:4] + SIZES[5:6]:
                rejected = rejections(simulations, kind, sizes, shift)
                told = ", ".join(
                    f"{name} {100 * share:.1f}" for name, share in rejected.items()
                )
                print(
                    f"  {kind}, {'/'.join(map(str, sizes))} questions: {told} %",
                    flush=True,
                )


def rejections(
    simulations: int, kind: str, sizes: Sequence[int], shift: float
) -> dict[str, float]:
    """How often each test finds p < 0.05."""
    rng = np.random.default_rng(SEED)
    weights = list(WEIGHTS.values()) if len(sizes) > 1 else [1.0]
    many = draw_differences(rng, kind, [100_000] * len(sizes))
    error = (
        sum(
            w * w * values.var() / n
            for w, values, n in zip(weights, many, sizes, strict=True)
        )
        ** 0.5
    )
    counts = dict.fromkeys(("sign flips", "t", "skewness", "both"), 0)
    for batch in range(max(1, simulations // 100)):  # its own signs for every hundred
        strata = [
            [
                (w, (x + shift * error).tolist())
                for w, x in zip(
                    weights, draw_differences(rng, kind, sizes), strict=True
                )
            ]
            for _ in range(min(100, simulations))
        ]
        parts = [
            [weight / len(values) * value for weight, values in one for value in values]
            for one in strata
        ]
        for one, row in zip(strata, parts, strict=True):  # with a system without points
            p = sign_flip_test(np.array([row, np.zeros(len(row))]), 2000, batch)[0, 1]
            both = [(w, np.array([values, np.zeros(len(values))])) for w, values in one]
            corrected = skewness_test(both)[0, 1]
            t = t_test(one)
            skewness = t if np.isnan(corrected) else corrected
            tests = {
                "sign flips": p,
                "t": t,
                "skewness": skewness,
                "both": max(p, skewness),
            }
            for name, value in tests.items():
                counts[name] += value < 0.05
    return {name: count / simulations for name, count in counts.items()}


def t_test(strata: Sequence[tuple[float, Sequence[float]]]) -> float:
    error = stratified_error(strata)
    if error is None:  # no difference at all, or the same everywhere
        return 0.0 if stratified_mean(strata) else 1.0
    return t_tail(stratified_mean(strata) / error[0], error[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", choices=("runs", "season", "kills", "changes", "locks", "tests")
    )
    only = parser.parse_args().only
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name, count in (("runs", 1000), ("kills", 60), ("locks", 20)):
        if only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                make_folder(Path(folder), count)
                if name == "runs":
                    measure_runs(Path(folder))
                elif name == "kills":
                    measure_kills(Path(folder), 300)
                else:
                    measure_locks(Path(folder), 50)
    for name in ("season", "changes"):
        if only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                (
                    measure_season(Path(folder))
                    if name == "season"
                    else measure_changes(Path(folder), 200)
                )
    if only in (None, "tests"):
        measure_tests(2000)


if __name__ == "__main__":
    main()
