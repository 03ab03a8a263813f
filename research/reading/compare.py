r"""How many of 300 adjudicated answers each reader gets right, too high and unread.

    python research/reading/compare.py                 the table of research/README.md
    python research/reading/compare.py --missed        and the answers that this
    project misses

`answers.json` beside this file is a prediction file, which `python eval.py -f` takes.
It has two more keys: what the answer `means` to a person (null: nothing, or two
things), and the `score` that this deserves. Both were written before any reader saw an
answer; what this project missed then was mended where the rules allow it (first 278 of
300). A reader of one's own is one more function from an answer to text, a number, or
None; what it finds is compared without regard to case.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from eval import FutureXEvaluator  # noqa: E402

Row = dict[str, Any]
Reader = Callable[[str], "str | float | None"]
KINDS: Final = ("choice", "yes or no", "several", "names", "number", "Chinese")


def last_box(answer: str) -> str | None:
    """The content of the last box, by regex."""
    boxes = re.findall(r"\\boxed\{([^{}]*)\}", answer)
    return boxes[-1] if boxes else None


def whole_box(answer: str) -> str | None:
    r"""The rule of the task's own description: the answer is `\boxed{…}`
    and nothing else.
    """
    box = re.fullmatch(r"\\boxed\{([^{}]*)\}", answer.strip())
    return box[1] if box else None


def math_verify(answer: str) -> float | None:
    """The last number that math-verify finds; it reads nothing but mathematics."""
    from math_verify import parse  # pip install math-verify

    found = parse(answer, parsing_timeout=None)
    try:
        return float(found[0]) if found else None
    except (TypeError, ValueError, AttributeError):
        return None


def score_text(row: Row, read: str | float) -> float:
    """Score what a reader of others found, by the plain formulas of the benchmark."""
    truth, means = row["ground_truth"], row["means"]
    if row["level"] <= 2:
        picks = {pick.strip().casefold() for pick in re.split(r"[,，、;]", str(read))}
        true = {pick.strip().casefold() for pick in truth.split(",")}
        if row["level"] == 1:
            return float(picks == true)
        return 2 * len(picks & true) / (len(picks) + len(true))
    if isinstance(means, list) or truth.startswith("['"):
        names = [name.strip().casefold() for name in re.split(r"[,，、;\n]", str(read))]
        true_names = [name.casefold() for name in json.loads(truth.replace("'", '"'))]
        if names == true_names:
            return 1.0
        return 0.8 * sum(name in true_names for name in names) / len(true_names)
    number = next(re.finditer(r"-?[0-9][0-9,.]*", truth))[0]
    try:
        error = float(str(read).replace(",", "")) - float(number.replace(",", ""))
    except ValueError:
        return 0.0
    sigma = row["Std"]
    return max(0.0, 1 - (error / sigma) ** 2) if sigma else float(error == 0)


def judge(row: Row, score: float, is_read: bool) -> str:
    """Say how a reading compares with what the answer deserves."""
    if score > row["score"] + 1e-3:
        return "too high"
    if math.isclose(score, row["score"], abs_tol=1e-3) and (
        is_read or row["means"] is None
    ):
        return "right"
    return "wrong" if is_read else "unread"


def judge_ours(rows: list[Row]) -> list[str]:
    """Judge this project's reading."""
    items = FutureXEvaluator().evaluate_all(rows)["items"]
    return [
        judge(row, item["score"], item["outcome"] == "scored")
        for row, item in zip(rows, items, strict=True)
    ]


def judge_reader(rows: list[Row], reader: Reader) -> list[str]:
    """Judge the reading of others."""
    verdicts = []
    for row in rows:
        read = reader(row["answer"])
        verdicts.append(
            judge(row, 0.0 if read is None else score_text(row, read), read is not None)
        )
    return verdicts


def main() -> None:
    rows: list[Row] = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
    ours = judge_ours(rows)
    results = {
        "this project": ours,
        "the last box, by regex": judge_reader(rows, last_box),
        "one box and nothing else": judge_reader(rows, whole_box),
    }
    try:
        results["math-verify (numbers)"] = judge_reader(rows, math_verify)
    except ImportError:
        print("math-verify is not installed: pip install math-verify", file=sys.stderr)
    print("| Reader |", " | ".join(KINDS), "| right | too high | wrong | unread |")
    print("|---|" + "---|" * (len(KINDS) + 4))
    for name, verdicts in results.items():
        numbers = name.startswith("math-verify")
        asked = [row["kind"] == "number" or not numbers for row in rows]
        counts = Counter(
            v for v, counted in zip(verdicts, asked, strict=True) if counted
        )
        right = Counter(
            row["kind"]
            for row, verdict in zip(rows, verdicts, strict=True)
            if verdict == "right"
        )
        cells = [
            f"{right[kind]} of {sum(row['kind'] == kind for row in rows)}"
            if kind == "number" or not numbers
            else "–"
            for kind in KINDS
        ]
        cells += [str(counts[key]) for key in ("right", "too high", "wrong", "unread")]
        print(f"| {name} |", " | ".join(cells), "|")
    if "--missed" in sys.argv:
        for row, verdict in zip(rows, ours, strict=True):
            if verdict != "right":
                print(
                    f"{row['id']}: {verdict}: {row['answer']!r} means {row['means']!r}"
                )


if __name__ == "__main__":
    main()
