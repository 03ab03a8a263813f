"""FutureX (arXiv 2508.11987): questions of four levels, answers in boxes. The class is in
`evaluator.py`.
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
_RANKED: Final = tuple(name for name, rules in RULE_SETS.items() if rules.missing == "zero")
_RULES: Final = Option("--rules", "rule set (readme), see docs/scoring.md", tuple(RULE_SETS), "run")
OPTIONS: Final = (
    _RULES,
    _RULES._replace(kind=_RANKED, scope="ranked"),
    Option(
        "--missing", "missing answers score 0 (default) or are left out", MISSING_POLICIES, "run"
    ),
    Option("--relative-sigma", "sigma = X * |truth| for numbers without Std", float, metavar="X"),
    Option(
        "--padding",
        "names beyond those asked for count (keep, default), or do not",
        PADDING_POLICIES,
    ),
    Option("--loose", "read numbers also of prose that states nothing", bool),
    Option("--llm", "let a language model read what no rule can read", metavar="MODEL"),
    Option("--llm-policy", "unsure: only what is unclear (default); always: all", LLM_POLICIES),
    Option("--llm-names", "let it also match names, which sends it true names", bool),
    Option("--workers", "simultaneous calls to the language model (8)", int, metavar="N"),
    Option(
        "--llm-deadline",
        "seconds after which no reply is awaited (900)",
        float,
        metavar="SECONDS",
        keyword="deadline",
    ),
    Option(
        "--llm-url", "address of its server (OPENAI_BASE_URL)", metavar="URL", keyword="base_url"
    ),
    Option(
        "--llm-max-tokens",
        "tokens of a reply, with the model's thoughts (2000)",
        whole_number(1),
        metavar="N",
        keyword="max_tokens",
    ),
    Option(
        "--llm-dry-run", "send nothing: show the number of prompts", bool, "run", keyword="dry_run"
    ),
    Option("--cache", "keep replies in evaluation/llm-cache.sqlite3 (default)", bool),
    UNREAD,
    ITEMS,
)


def claims_file(path: Path, dataset: Path | None) -> bool:
    """Return whether a prediction file and its dataset are FutureX's: whatever no other benchmark
    knows.
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
