"""FutureX (arXiv 2508.11987): questions of four levels, answers in boxes. The class is in `evaluator.py`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import InputError
from forecasteval.common.results import Results

from .rules import LLM_POLICIES, MISSING_POLICIES, RULE_SETS

if TYPE_CHECKING:
    from forecasteval.common.pages import Page

_LLM_OPTIONS: Final = ("llm_policy", "llm_names", "workers", "no_cache")
OPTIONS: Final = frozenset({"rules", "missing", "relative_sigma", "llm", "vote", *_LLM_OPTIONS})

# Rule sets by which systems can be ranked: they are judged on the same questions.
_RANKED: Final = tuple(name for name, rules in RULE_SETS.items() if rules.missing == "zero")


def recognises(path: Path, dataset: Path | None) -> bool:
    """Whether a prediction file and its dataset are FutureX's: whatever no other benchmark knows."""
    return True


def find_mistakes(path: Path) -> Results:
    """The mistakes in a dataset."""
    from .check import check_file

    return check_file(path)


def vote_files(evaluator: Any, paths: Sequence[Path], datasets: Sequence[Path]) -> Results:
    """The result of the majority answers of several runs."""
    from . import votes  # here: few commands ask for it

    return votes.vote_files(evaluator.rules, evaluator.settings(), paths, datasets)


def make_page(results: Mapping[str, Any], rows: Any = None, rules: Any = None) -> Page:
    """What a page shows of a result."""
    from . import page  # here: few runs make one

    return page.make_page(results, rows, rules)


def add_options(parser: ArgumentParser, ranked: bool) -> None:
    """The options that a score depends on; None where they were not given. `ranked`: systems are told apart by it."""
    add = parser.add_argument_group("FutureX").add_argument
    add("--rules", choices=_RANKED if ranked else RULE_SETS, help="rule set (readme); see docs/scoring.md")
    if not ranked:
        add("--missing", choices=MISSING_POLICIES, help="missing answers score 0 (default) or are left out")
        add("--vote", action="store_true", default=None, help="score the majority answers of the runs NAME@RUN")
    add("--relative-sigma", metavar="X", type=float, help="sigma = X * |truth| where a number has no Std")
    add("--llm", metavar="MODEL", help="let a language model read unclear numbers (key: OPENAI_API_KEY)")
    add("--llm-policy", choices=LLM_POLICIES, help="which numbers it reads: the unclear ones (default) or all")
    add("--llm-names", action="store_true", default=None, help="let it match names, too: sends it true names")
    add("--workers", metavar="N", type=int, help="simultaneous calls to the language model (8)")
    add("--no-cache", action="store_true", default=None, help="keep no replies in evaluation/llm-cache.sqlite3")


def require_usable(args: Namespace) -> None:
    """InputError for options of the language model without one, and for fewer workers than one."""
    if getattr(args, "vote", None) and getattr(args, "llm", None) is not None:
        raise InputError("--vote", "cannot be combined", "--llm")
    for name in _LLM_OPTIONS:
        if getattr(args, name, None) is not None and getattr(args, "llm", None) is None:
            raise InputError(f"--{name}".replace("_", "-"), "needs --llm MODEL")
    if getattr(args, "workers", None) is not None and args.workers < 1:
        raise InputError("--workers", "expected 1 or more", str(args.workers))
