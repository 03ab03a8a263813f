"""The views of a result: scores by level, remarks, and items with the reason of each score."""

from __future__ import annotations

import math
from collections import Counter
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.errors import printable, show_count
from forecasteval.common.markup import show_truth
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

from .questions import Truth
from .reading.answers import parse_answer
from .reading.numbers import NumberTruth
from .results import AnswerItem
from .rules import LEVELS, WEIGHTS

_WRONG: Final = {"number": "number beyond σ", "ranking": "wrong names"}
_UNEQUAL: Final = "number not equal"  # where there is no σ
_SHOWN: Final = 80  # characters of an answer or a truth in a sentence
_WIDTH: Final = 36  # and in a column
_MODEL: Final = (
    "Language model: prompts {prompts}, answered {answered}, refused by validation {invalid}, "
    "failed {failed}; answers found {extracted}; scores changed {changed}; calls {calls}, requests "
    "{requests}, tokens {tokens[prompt]} + {tokens[completion]}."
)
_MODEL_NAMES: Final = (
    "Language model, names: pairs sent {pairs}, the same {same}, names refused for their decoy "
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


def report_blocks(results: Results, items: bool = False) -> Report:
    """Make the report's lines and tables; with `items` also a row per question. After a dry run of
    the language model it is what would be sent.
    """
    if "planned" in results:
        size, *prompt = results["planned"]
        return make_report(results, [size], prompt)
    size = describe_size(results) + ("" if results.get("dataset") else ", without a dataset")
    rows: Report = ["", make_table(_ITEMS, results["items"])] if items else []
    blocks = [score_table(results), "", *list_notes(results), *list_warnings(results), *rows]
    return make_report(results, [size], blocks)


def describe_size(results: Results) -> str:
    """Describe how many questions there are, and how many of them have a truth, if not all have."""
    total, pending, void = len(results["items"]), results["pending"], results["void"]
    size = describe_questions(results["items"])
    if pending:
        size += f", {total - pending} resolved, {pending} pending"
    return f"{size}, {void} void left out" if void else size


def score_table(results: Results) -> Table:
    """Compute a row per level, and one for all, with a mark for a chart. Columns for pending
    questions, padded lists and late answers only where there are any.
    """
    rows: list[dict[str, Any]] = [
        {
            "name": f"Level {level}",
            "weight": f"{WEIGHTS[level]:.1f}",
            "score": results["level_scores"][level],
            "interval": results["level_intervals"][level],
            **{key: results[f"level_{key}"][level] for key in _COUNTS.values()},
        }
        for level in LEVELS
    ]
    overall = {"score": results["overall_score"], "interval": results["overall_interval"]}
    totals = {key: sum(row[key] for row in rows) for key in _COUNTS.values()}
    counts = [
        Column(title, itemgetter(key), "number")
        for title, key in _COUNTS.items()
        if totals[key] or title not in ("Pending", "Padded", "Late")
    ]
    rows.append({"name": "Overall", "weight": "", **overall, **totals})
    return make_table([*_SCORES, *counts], rows)


_SCORES: Final = (
    Column("", itemgetter("name")),
    Column("Weight", itemgetter("weight"), "number", page="soft", head="weight"),
    Column("Score", lambda row: Heat(row["score"]), "number", page="c"),
    Column(
        "score",
        lambda row: IntervalCell(row["score"], row["interval"], None, "" if row["weight"] else "a"),
        "mark",
    ),
    Column("95% interval", itemgetter("interval"), "number", page="no"),
)


def list_notes(results: Results, zeros: bool = True) -> list[str]:
    """Remarks on the scores, also on what there is none of with `zeros`."""
    policy = "score 0" if results["signature"]["missing"] == "zero" else "are left out"
    lines = [
        f"Missing answers {policy}. Over answered questions only: "
        f"{show_number(results['answered_only'])}."
    ]
    if results["pending"]:
        lines.append("Pending questions have no truth yet: they are in no score.")
    if results.get("truths"):
        lines.append(f"Truths of {printable(results['truths'])} are used.")
    if reasons := Counter(results["unparsed_reasons"]).most_common():
        shown = ", ".join(show_count(count, REASONS[reason]) for reason, count in reasons)
        lines.append(f"Unparsed: {results['unparsed_count']} ({shown})")
    if results["unboxed_count"]:
        lines.append(f"Read without a box: {results['unboxed_count']}.")
    if results["signature"]["loose"]:
        points = math.fsum(item["score"] or 0 for item in results["items"] if item["loose"])
        number = results["loose_count"]
        lines.append(f"Read loosely, of prose without a statement: {number}, worth {points:.2f}.")
    if results["signature"]["rules"] == "official-2026":
        lines.append("The scorer as of September 2026 is --rules official-2026-09.")
    remedy = (
        " (--relative-sigma 0.05 gives them one)"
        if results["signature"]["rules"] == "readme"
        else ""
    )
    remark = f"; only an equal value scores there{remedy}" if results["no_sigma_count"] else ""
    if results["no_sigma_count"] or zeros:
        lines.append(f"Numbers without a sigma: {results['no_sigma_count']}{remark}.")
    if results["llm"]:
        lines.append(
            _MODEL.format(**results["llm"], failed=sum(results["llm"]["failures"].values()))
        )
    if results["llm_names"]:
        lines.append(_MODEL_NAMES.format(**results["llm_names"]))
    return lines


# --- Items ---


def name_cause(item: AnswerItem) -> str:
    """Name the cause of what an item loses: "unparsed: refusal", "wrong option", …; "right" if
    it is none.

    >>> name_cause({"outcome": "scored", "score": 0.0, "kind": "single choice", "note": ""})
    'wrong option'
    """
    if item["outcome"] == "pending":
        return "pending"
    if item["outcome"] != "scored" or item["score"] is None:
        return f"unparsed: {item['reason']}" if item["reason"] else item["outcome"]
    if item["score"] >= 1:
        return "right"
    if item["kind"] == "number" and item["sigmas"] is None:
        return _UNEQUAL
    return "partly right" if item["score"] > 0 else _WRONG.get(item["kind"], "wrong option")


def explain(item: AnswerItem, truth: Truth | None = None) -> str:
    """Explain an item's score in one sentence. With its `truth` a number's sentence has both values
    and σ.

    >>> explain({"outcome": "missing", "late": True})
    'late: no answer'
    """
    return ("late: " if item["late"] else "") + _explain(item, truth)


def _explain(item: AnswerItem, truth: Truth | None) -> str:
    if item["outcome"] == "pending":
        return f"no truth yet; {_say_read(item)}"
    if item["outcome"] == "missing":
        return "no answer"
    if item["outcome"] == "unparsed":
        return "refusal" if item["reason"] == "refusal" else f"not read: {item['note']}"
    read = printable(item["read"], _SHOWN)
    true = printable(show_truth(item["truth"]), _SHOWN)
    if item["kind"] == "number":
        return _explain_number(item, read, true, truth)
    score = item["score"] or 0.0
    if score >= 1:
        return f"{read} is right"
    if (matched := item["matched"]) is not None:
        part = f"{matched} of {show_count(item['names'], 'name')}"
        if not matched:
            return f"{part}: {read} against {true}"
        share = f"0.8 · {matched}/{item['names']}"
        return f"{part}: {share if score else 'only a whole list scores'}"
    f1 = f": F1 {show_number(score)}" if score else ""
    return f"{read or 'nothing'} picked, {true} is right{f1}"


def _say_read(item: AnswerItem) -> str:
    """Say what was read of an answer to a pending question, or why nothing was."""
    if item["read"]:
        return f"read: {printable(item['read'], _SHOWN)}"
    return item["note"] if item["note"] in ("no answer", "refusal") else f"not read: {item['note']}"


def _explain_number(item: AnswerItem, read: str, true: str, truth: Truth | None) -> str:
    sigmas, sigma = item["sigmas"], None
    if isinstance(truth, NumberTruth):
        true, sigma = f"{truth.quantity.value:.12g}", truth.sigma
    values = f"{read} against {true}" + (f", σ {sigma:.6g}" if sigma else "")
    if sigmas is None:
        return f"{values}: {'equal' if item['score'] else 'not equal, and there is no σ'}"
    if abs(sigmas) >= 1:
        return f"{values}: {abs(sigmas):.3g} σ away, and beyond 1 σ nothing scores"
    return f"{values}: 1 − {sigmas * sigmas:.4g}"


def _around_box(text: str) -> str:
    """Return the part of an answer around what counts of it."""
    answer = parse_answer(text)
    at, end = (answer.find_in(text) if answer and answer.boxed else None) or (0, 0)
    begin = max(0, min(at - 8, end + 2 - _WIDTH)) if end > _WIDTH - 2 else 0
    return printable(("…" if begin else "") + text[begin:], _WIDTH)


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
