r"""What nightly runs and comparisons are worth, measured.

    python tests/nightly.py                    everything (some minutes)
    python tests/nightly.py --only tests       one of: runs, kills, locks, tests

runs: first and second `eval.py nightly` over 1,000 files of 52 questions. kills: SIGKILL at a random moment, then every
stored file must be whole, and the next run must bring back the same bytes. locks: two runs started together, one must
go on and one exit with 5. tests: how often the paired tests reject between equal systems (5 % is right), and between
systems that differ by 0.35 standard deviations. Nothing here is a test: figures depend on machine and seed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forecasteval.common.statistics import sign_flip_test, stratified_error, stratified_mean, t_tail  # noqa: E402
from forecasteval.futurex.rules import WEIGHTS  # noqa: E402

SEED: Final = 1
QUESTIONS: Final = (11, 10, 9, 23)  # per level, as in the benchmark's week of 2025-09-15
SHIFT: Final = 0.35  # standard deviations


def make_folder(root: Path, count: int) -> None:
    """`count` systems, each answering every question as one of the two sample files does."""
    for folder in ("dataset", "prediction"):
        (root / folder).mkdir()
    (root / "dataset" / "250915.json").write_bytes((ROOT / "dataset" / "250915.json").read_bytes())
    samples = [json.loads((ROOT / "prediction" / f"250915-{name}.json").read_bytes()) for name in ("random", "careful")]
    rng = random.Random(SEED)
    for number in range(count):
        rows = [rng.choice(rows) for rows in zip(*samples, strict=True)]
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        (root / "prediction" / f"250915-system{number:04d}.json").write_text(text, encoding="utf-8")


def start(root: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(ROOT / "eval.py"), "nightly", "--root", str(root), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
    print(f"runs: 1,000 files first {first:.2f} s, second {again:.2f} s ({again / first:.3f}), {same}")


def measure_kills(root: Path, kills: int) -> None:
    """Kill runs that redo everything; torn: a file that is no whole JSON; lost: one that is gone."""
    timed_run(root)
    whole = read_folder(root)
    longest = timed_run(root, "--force")
    rng = random.Random(SEED)
    torn = lost = killed = 0
    for _ in range(kills):
        run = start(root, "--force")
        time.sleep(rng.uniform(0.05, longest))
        killed += run.poll() is None
        run.kill()
        run.wait()
        files = read_folder(root)
        lost += len(whole.keys() - files.keys())
        torn += sum(not is_whole(text) for name, text in files.items() if name.endswith(".json"))
    timed_run(root)
    left = read_folder(root)
    stray = sum(path.suffix == ".tmp" for path in (root / "evaluation").iterdir())
    print(f"kills: {killed} of {kills} runs killed, {torn} files torn, {lost} results lost, then {stray} strays left,",
          "same bytes" if left == whole else "OTHER BYTES")  # fmt: skip


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
    print(f"locks: {sum(codes == [0, 5] for codes in outcomes)} of {tries} pairs ended with codes 0 and 5")


def draw_scores(rng: np.random.Generator, level: int, count: int) -> np.ndarray[Any, Any]:
    """Scores such as a level's scorer gives: right or wrong, F1 of a few picks, or exact, partial and nothing."""
    if level == 1:
        return rng.integers(0, 2, count).astype(float)
    if level == 2:
        return rng.choice([0, 0.4, 0.5, 2 / 3, 0.8, 1], count)
    return np.where(rng.random(count) < 0.4, 0.0, rng.choice([0.8 / 3, 1.6 / 3, 0.8, 1, 0.93, 0.5], count))


def draw_differences(rng: np.random.Generator, normal: bool, shift: float) -> list[list[float]]:
    """Per level the differences of two systems: normal with standard deviation 1 and mean `shift`, or of scores."""
    return [
        (rng.normal(shift, size=count) if normal else draw_scores(rng, level, count) - draw_scores(rng, level, count))
        .tolist()
        for level, count in enumerate(QUESTIONS, 1)
    ]  # fmt: skip


def measure_tests(simulations: int) -> None:
    for name, normal, shift in (
        ("equal, normal differences", True, 0.0), ("equal, scores as in the benchmark", False, 0.0),
        (f"shifted by {SHIFT} s.d., normal", True, SHIFT),
    ):  # fmt: skip
        rng = np.random.default_rng(SEED)
        flips: list[float] = []
        plain: list[float] = []
        for batch in range(simulations // 100):  # its own signs for every hundred
            strata = [
                list(zip(WEIGHTS.values(), draw_differences(rng, normal, shift), strict=True)) for _ in range(100)
            ]
            parts = [[weight / len(values) * value for weight, values in one for value in values] for one in strata]
            flips += sign_flip_test(parts, seed=batch)
            plain += map(t_test, strata)
        rejected = [sum(p < 0.05 for p in values) / simulations for values in (flips, plain)]
        print(f"tests: {name}: sign flips reject {rejected[0]:.2%}, t test {rejected[1]:.2%} of {simulations:,}")


def t_test(strata: Sequence[tuple[float, Sequence[float]]]) -> float:
    error = stratified_error(strata)
    return t_tail(stratified_mean(strata) / error[0], error[1]) if error else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("runs", "kills", "locks", "tests"))
    only = parser.parse_args().only
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name, count in (("runs", 1000), ("kills", 60), ("locks", 20)):
        if only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                make_folder(Path(folder), count)
                if name == "runs":
                    measure_runs(Path(folder))
                elif name == "kills":
                    measure_kills(Path(folder), 200)
                else:
                    measure_locks(Path(folder), 50)
    if only in (None, "tests"):
        measure_tests(2000)


if __name__ == "__main__":
    main()
