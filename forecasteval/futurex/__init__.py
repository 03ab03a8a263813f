"""FutureX (arXiv 2508.11987): questions of four levels, answers in boxes. The class is
in `evaluator.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.benchmark import (
    ITEMS,
    UNREAD,
    Benchmark,
    Deadline,
    Files,
    Option,
    whole_number,
)
from forecasteval.display.results import Results

from .rules import LLM_POLICIES, MISSING_POLICIES, PADDING_POLICIES, RULE_SETS

if TYPE_CHECKING:
    from forecasteval.display.submissions import Checked

    from .evaluator import FutureXEvaluator

NAME: Final = "FutureX"
# Rule sets by which systems can be ranked: they are judged on the same questions.
_RANKED: Final = tuple(
    name for name, rules in RULE_SETS.items() if rules.missing == "zero"
)
_RULES: Final = Option(
    "--rules",
    "rule set, see docs/scoring.md (default: readme)",
    tuple(RULE_SETS),
    "run",
)
OPTIONS: Final = (
    _RULES,
    _RULES._replace(kind=_RANKED, scope="ranked"),
    Option(
        "--missing",
        "score a missing answer 0, or skip it (default: zero)",
        MISSING_POLICIES,
        "run",
    ),
    Option(
        "--relative-sigma",
        "sigma = X * |truth| for numbers without Std (default: none)",
        float,
        metavar="X",
    ),
    Option(
        "--padding",
        "keep or cut the names of an answer beyond those asked for (default: keep)",
        PADDING_POLICIES,
    ),
    Option("--loose", "also read numbers from prose that states no answer", bool),
    Option(
        "--llm",
        "let this language model extract answers that the rules cannot read",
        metavar="MODEL",
    ),
    Option(
        "--llm-policy",
        "ask the model about unclear answers, or always about all (default: unsure)",
        LLM_POLICIES,
    ),
    Option(
        "--llm-names",
        "let the model also match names; this sends it the true names",
        bool,
    ),
    Option(
        "--workers", "simultaneous calls to the model (default: 8)", int, metavar="N"
    ),
    Option(
        "--llm-deadline",
        "seconds after which no reply is awaited (default: 900)",
        float,
        metavar="SECONDS",
        keyword="deadline",
    ),
    Option(
        "--llm-url",
        "address of the model's server (default: the environment variable "
        "OPENAI_BASE_URL)",
        metavar="URL",
        keyword="base_url",
    ),
    Option(
        "--llm-max-tokens",
        "tokens of a reply, including the model's thoughts (default: 2000)",
        whole_number(1),
        metavar="N",
        keyword="max_tokens",
    ),
    Option(
        "--llm-dry-run",
        "send nothing, and show the number of prompts",
        bool,
        "run",
        keyword="dry_run",
    ),
    Option(
        "--cache", "keep replies in evaluation/llm-cache.sqlite3 (default: yes)", bool
    ),
    UNREAD,
    ITEMS,
)


def claims_file(path: Path, dataset: Path | None) -> bool:
    """Return whether a prediction file and its dataset are FutureX's: whatever no other
    benchmark knows.
    """
    return True


def make_evaluator(output: Path, **options: Any) -> FutureXEvaluator:
    """Make an evaluator of the command line's options."""
    from .evaluator import evaluator_of_options

    return evaluator_of_options(output, **options)


def find_mistakes(path: Path) -> Results:
    """Find the mistakes in a dataset."""
    from .check import check_file

    return check_file(path)


def check_answers(files: Files) -> Iterator[Checked]:
    """Say what becomes of each answer of a prediction file."""
    from .check import check_answers

    return check_answers(files)


def list_deadlines(dataset: Path) -> dict[str, Deadline]:
    """List by id when the questions of a dataset close."""
    from forecasteval.questions.deadlines import list_deadlines

    return list_deadlines(dataset)


def hash_answers(path: Path) -> dict[str, str]:
    """Hash the answers of a prediction file, by id."""
    from forecasteval.questions.deadlines import hash_answers

    return hash_answers(path)


BENCHMARK: Final = Benchmark(
    NAME,
    claims_file,
    make_evaluator,
    OPTIONS,
    find_mistakes,
    check_answers=check_answers,
    list_deadlines=list_deadlines,
    hash_answers=hash_answers,
)
