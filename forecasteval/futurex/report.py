"""The views of a result: scores by level, remarks, and items with the reason
of each score.
"""

from __future__ import annotations

import math
from collections import Counter
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.errors import printable, show_count
from forecasteval.common.markup import show_truth
from forecasteval.common.records import JsonObject
from forecasteval.display.clusters import describe_questions
from forecasteval.display.results import Results, list_warnings, make_report
from forecasteval.display.tables import (
    Column,
    Heat,
    IntervalCell,
    Report,
    Table,
    make_table,
    show_number,
)
from forecasteval.questions.states import REASONS

from .questions import NO_ANSWER, Truth
from .reading.answers import parse_answer
from .reading.numbers import NumberTruth
from .results import AnswerItem
from .rules import LEVELS, WEIGHTS

_WRONG: Final = {"number": "number beyond σ", "ranking": "wrong names"}
_UNEQUAL: Final = "number not equal"  # where there is no σ
_SHOWN: Final = 80  # characters of an answer or a truth in a sentence
_WIDTH: Final = 36  # and in a column
_MODEL: Final = (
    "Language model: prompts {prompts}, answered {answered}, refused by validation "
    "{invalid}, "
    "failed {failed}; answers found {extracted}; scores changed {changed}; calls "
    "{calls}, requests "
    "{requests}, tokens {tokens[prompt]} + {tokens[completion]}."
)
_MODEL_NAMES: Final = (
    "Language model, names: pairs sent {pairs}, the same {same}, names refused for "
    "their decoy "
    "{refused}, replies refused by validation {invalid}; scores changed "
    "{changed}; calls {calls}, requests {requests}."
)
_COUNTS: Final = {
    "n": "counts",
    "Pending": "pending",
    "Missing": "missing",
    "Unparsed": "unparsed",
    "Padded": "padded",
    "Late": "late",
}
# Columns that are left out if they hold only zeros
_RARE: Final = ("Pending", "Padded", "Late")


def report_blocks(results: Results, items: bool = False) -> Report:
    """Make the report's lines and tables; with `items` also a row per question. After a
    dry run of the language model it is what would be sent.
    """
    if "planned" in results:
        size, *prompt = results["planned"]
        return make_report(results, [size], prompt)
    size = describe_size(results)
    if not results.get("dataset"):
        size += ", without a dataset"
    blocks: Report = [
        score_table(results),
        "",
        *list_notes(results),
        *list_warnings(results),
    ]
    if items:
        blocks += ["", make_table(_ITEMS, results["items"])]
    return make_report(results, [size], blocks)


def describe_size(results: Results) -> str:
    """Describe how many questions there are, and how many of them have a truth,
    if not all have.
    """
    total, pending, void = len(results["items"]), results["pending"], results["void"]
    size = describe_questions(results["items"])
    if pending:
        size += f", {total - pending} resolved, {pending} pending"
    if void:
        size += f", {void} void left out"
    return size


def score_table(results: Results) -> Table:
    """Compute a row per level, and one for all, with a mark for a chart. Columns for
    pending questions, padded lists and late answers only where there are any.
    """
    rows = [_level_row(results, level) for level in LEVELS]
    totals = {key: sum(row[key] for row in rows) for key in _COUNTS.values()}
    overall = {
        "score": results["overall_score"],
        "interval": results["overall_interval"],
    }
    rows.append({"name": "Overall", "weight": "", **overall, **totals})
    titles = [
        title for title, key in _COUNTS.items() if totals[key] or title not in _RARE
    ]
    counts = [Column(title, itemgetter(_COUNTS[title]), "number") for title in titles]
    return make_table([*_SCORES, *counts], rows)


def _level_row(results: Results, level: int) -> dict[str, Any]:
    """Make the row of a level."""
    counts = {key: results[f"level_{key}"][level] for key in _COUNTS.values()}
    return {
        "name": f"Level {level}",
        "weight": f"{WEIGHTS[level]:.1f}",
        "score": results["level_scores"][level],
        "interval": results["level_intervals"][level],
        **counts,
    }


def _mark_score(row: JsonObject) -> IntervalCell:
    """Make a mark for a chart: that of all levels is the average of the others."""
    kind = "" if row["weight"] else "a"
    return IntervalCell(row["score"], row["interval"], None, kind)


_SCORES: Final = (
    Column("", itemgetter("name")),
    Column("Weight", itemgetter("weight"), "number", page="soft", head="weight"),
    Column("Score", lambda row: Heat(row["score"]), "number", page="c"),
    Column("score", _mark_score, "mark"),
    Column("95% interval", itemgetter("interval"), "number", page="no"),
)


def list_notes(results: Results, zeros: bool = True) -> list[str]:
    """Remarks on the scores, also on what there is none of with `zeros`."""
    signature, model = results["signature"], results["llm"]
    policy = "score 0" if signature["missing"] == "zero" else "are left out"
    mean = show_number(results["answered_only"])
    lines = [f"Missing answers {policy}. Over answered questions only: {mean}."]
    if results["pending"]:
        lines.append("Pending questions have no truth yet: they are in no score.")
    if results.get("truths"):
        lines.append(f"Truths of {printable(results['truths'])} are used.")
    if reasons := Counter(results["unparsed_reasons"]).most_common():
        shown = ", ".join(
            show_count(count, REASONS[reason]) for reason, count in reasons
        )
        lines.append(f"Unparsed: {results['unparsed_count']} ({shown})")
    if results["unboxed_count"]:
        lines.append(f"Read without a box: {results['unboxed_count']}.")
    if signature["loose"]:
        loose = [item["score"] or 0 for item in results["items"] if item["loose"]]
        points = math.fsum(loose)
        number = results["loose_count"]
        lines.append(
            f"Read loosely, of prose without a statement: {number}, worth {points:.2f}."
        )
    if signature["rules"] == "official-2026":
        lines.append("The scorer as of September 2026 is --rules official-2026-09.")
    if results["no_sigma_count"] or zeros:
        lines.append(_describe_no_sigma(results["no_sigma_count"], signature["rules"]))
    if model:
        lines.append(_MODEL.format(**model, failed=sum(model["failures"].values())))
    if results["llm_names"]:
        lines.append(_MODEL_NAMES.format(**results["llm_names"]))
    return lines


def _describe_no_sigma(count: int, rules: str) -> str:
    """Describe the numbers that have no σ."""
    text = f"Numbers without a sigma: {count}"
    if not count:
        return f"{text}."
    remark = f"{text}; only an equal value scores there"
    if rules == "readme":
        remark += " (--relative-sigma 0.05 gives them one)"
    return f"{remark}."


# --- Items ---


def name_cause(item: AnswerItem) -> str:
    """Name the cause of what an item loses: "unparsed: refusal", "wrong option", …;
    "right" if it is none.

    >>> name_cause({"outcome": "scored", "score": 0.0, "kind": "single choice", "note": ""})
    'wrong option'
    """  # noqa: E501
    if item["outcome"] == "pending":
        return "pending"
    if item["outcome"] == "unparsed" and item["reason"]:
        return f"unparsed: {item['reason']}"
    if item["outcome"] != "scored" or item["score"] is None:
        return item["outcome"]
    if item["score"] >= 1:
        return "right"
    if item["kind"] == "number" and item["sigmas"] is None:
        return _UNEQUAL
    if item["score"] > 0:
        return "partly right"
    return _WRONG.get(item["kind"], "wrong option")


def explain(item: AnswerItem, truth: Truth | None = None) -> str:
    """Explain an item's score in one sentence. With its `truth` a number's sentence has
    both values and σ.

    >>> explain({"outcome": "missing", "late": True})
    'late: no answer'
    """
    reason = _explain(item, truth)
    return f"late: {reason}" if item["late"] else reason


def _explain(item: AnswerItem, truth: Truth | None) -> str:
    if item["outcome"] == "pending":
        return f"no truth yet; {_say_read(item)}"
    if item["outcome"] == "missing":
        return "no answer"
    if item["outcome"] == "unparsed" and item["reason"] == "refusal":
        return "refusal"
    if item["outcome"] == "unparsed":
        return f"not read: {item['note']}"
    read = printable(item["read"], _SHOWN)
    true = printable(show_truth(item["truth"]), _SHOWN)
    if item["kind"] == "number":
        return _explain_number(item, read, true, truth)
    score = item["score"] or 0.0
    if score >= 1:
        return f"{read} is right"
    if item["matched"] is not None:
        return _explain_names(item, item["matched"], read, true)
    picked = f"{read or 'nothing'} picked, {true} is right"
    return f"{picked}: F1 {show_number(score)}" if score else picked


def _explain_names(item: AnswerItem, matched: int, read: str, true: str) -> str:
    part = f"{matched} of {show_count(item['names'], 'name')}"
    if not matched:
        return f"{part}: {read} against {true}"
    if not item["score"]:
        return f"{part}: only a whole list scores"
    return f"{part}: 0.8 · {matched}/{item['names']}"


def _say_read(item: AnswerItem) -> str:
    """Say what was read of an answer to a pending question, or why nothing was."""
    if item["read"]:
        return f"read: {printable(item['read'], _SHOWN)}"
    if item["note"] in (NO_ANSWER, "refusal"):
        return item["note"]
    return f"not read: {item['note']}"


def _explain_number(item: AnswerItem, read: str, true: str, truth: Truth | None) -> str:
    values, sigmas = f"{read} against {true}", item["sigmas"]
    if isinstance(truth, NumberTruth):
        values = f"{read} against {truth.quantity.value:.12g}"
        if truth.sigma:
            values += f", σ {truth.sigma:.6g}"
    if sigmas is None and item["score"]:
        return f"{values}: equal"
    if sigmas is None:
        return f"{values}: not equal, and there is no σ"
    if abs(sigmas) >= 1:
        return f"{values}: {abs(sigmas):.3g} σ away, and beyond 1 σ nothing scores"
    return f"{values}: 1 − {sigmas * sigmas:.4g}"


def _around_box(text: str) -> str:
    """Return the part of an answer around what its box holds."""
    answer = parse_answer(text)
    span = answer.find_in(text) if answer and answer.boxed else None
    if span is None or span[1] <= _WIDTH - 2:
        return printable(text, _WIDTH)
    at, end = span
    begin = max(0, min(at - 8, end + 2 - _WIDTH))
    shown = f"…{text[begin:]}" if begin else text
    return printable(shown, _WIDTH)


_ITEMS: Final = (
    Column("Id", lambda item: printable(item["id"], 26)),
    Column("Level", lambda item: item["level"], "number", spare=1),
    Column("Kind", lambda item: item["kind"], spare=5),
    Column("Score", lambda item: item["score"], "number"),
    Column("Outcome", lambda item: item["outcome"], spare=2),
    Column("Truth", lambda item: printable(show_truth(item["truth"]), _WIDTH), spare=4),
    Column("Read", lambda item: printable(item["read"], _WIDTH), spare=3),
    Column("Answer", lambda item: _around_box(item["answer"]), spare=7),
    Column("Note", lambda item: item["note"], spare=6),
    Column("Why", explain),
)
