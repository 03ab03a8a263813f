"""A result as lines and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forecasteval.common.errors import printable
from forecasteval.common.report import Report, Table, format_signature, plain_table, show_interval, show_number

from .answers import read_answer
from .explanations import explain
from .rules import LEVELS, WEIGHTS


def report_blocks(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report's lines and tables."""
    parts = report_parts(results)
    shown: Report = ["", items_table(results["items"])] if items else []
    return [*parts["title"], "", *parts["scores"], "", *parts["remarks"], *shown, "", *parts["signature"]]


def report_parts(results: Mapping[str, Any]) -> dict[str, Report]:
    """The parts of the report by name: title, scores, remarks, signature."""
    title: Report = [f"FutureX  {printable(results.get('name', ''))}".rstrip()]
    against = f"dataset {results['dataset']}" if results.get("dataset") else "its own questions"
    title += [f"{len(results['items'])} questions, {printable(against)}"]
    policy = "score 0" if results["signature"]["missing"] == "zero" else "are left out"
    remarks: Report = [
        f"Missing answers {policy}. Over answered questions only: {show_number(results['answered_only'])}."
    ]
    if results["unboxed_count"]:
        remarks.append(f"Read without a box: {results['unboxed_count']}.")
    remarks.append(_sigma_line(results["no_sigma_count"], results["signature"]["rules"]))
    if results["llm"]:
        remarks.append(_model_line(results["llm"]))
    if results["llm_names"]:
        remarks.append(_names_line(results["llm_names"]))
    remarks += [f"warning: {warning}" for warning in results["warnings"]]
    return {
        "title": title,
        "scores": [_score_table(results)],
        "remarks": remarks,
        "signature": [format_signature(results["signature"])],
    }


def _score_table(results: Mapping[str, Any]) -> Table:
    """A row per level and one overall; a column for padded lists only where there are any."""
    scores = [*(results["level_scores"][level] for level in LEVELS), results["overall_score"]]
    intervals = [*(results["level_intervals"][level] for level in LEVELS), results["overall_interval"]]
    columns = {
        "Weight": [*(f"{WEIGHTS[level]:.1f}" for level in LEVELS), ""],
        "Score": list(map(show_number, scores)),
        "95% interval": list(map(show_interval, intervals)),
    }
    counted = {"n": "counts", "Missing": "missing", "Unparsed": "unparsed", "Padded": "padded"}
    for title, key in counted.items():
        counts = [results[f"level_{key}"][level] for level in LEVELS]
        if title != "Padded" or any(counts):
            columns[title] = [*map(str, counts), str(sum(counts))]
    names = [*(f"Level {level}" for level in LEVELS), "Overall"]
    rows = [[name, *cells] for name, *cells in zip(names, *columns.values(), strict=True)]
    return plain_table(["", *columns], rows, "<" + ">" * len(columns))


def _sigma_line(count: int, rules: str) -> str:
    if not count:
        return "Numbers without a sigma: 0."
    remedy = " (--relative-sigma 0.05 gives them one)" if rules == "readme" else ""
    return f"Numbers without a sigma: {count}; only an equal value scores there{remedy}."


def _model_line(counts: Mapping[str, Any]) -> str:
    tokens, failed = counts["tokens"], sum(counts["failures"].values())
    return (
        f"Language model: numbers sent {counts['prompts']}, answered {counts['answered']}, refused by validation "
        f"{counts['invalid']}, failed {failed}; scores changed {counts['changed']}; calls {counts['calls']}, "
        f"tokens {tokens['prompt']} + {tokens['completion']}."
    )


def _names_line(counts: Mapping[str, Any]) -> str:
    return (
        f"Language model, names: pairs sent {counts['pairs']}, the same {counts['same']}, names refused for their "
        f"decoy {counts['refused']}, names left out {counts['left_out']}, replies refused by validation "
        f"{counts['invalid']}; scores changed {counts['changed']}; calls {counts['calls']}."
    )


def _around_box(text: str, width: int = 36) -> str:
    """The part of an answer around what counts of it."""
    answer = read_answer(text)
    at, end = (answer.find_in(text) if answer and answer.boxed else None) or (0, 0)
    begin = max(0, min(at - 8, end + 2 - width)) if end > width - 2 else 0
    return printable(("…" if begin else "") + text[begin:], width)


def items_table(items: Iterable[Mapping[str, Any]]) -> Table:
    """A row per question: what was read, from what, the score and why."""
    rows = [
        [
            printable(item["id"], 26), str(item["level"]), item["kind"], show_number(item["score"]), item["outcome"],
            printable(item["truth"], 36), printable(item["read"], 36), _around_box(item["answer"]), item["note"],
            explain(item),
        ]
        for item in items
    ]  # fmt: skip
    header = ["Id", "Level", "Kind", "Score", "Outcome", "Truth", "Read", "Answer", "Note", "Why"]
    return plain_table(header, rows, "<><><<<<<<", ("Answer", "Note", "Kind", "Truth", "Read", "Outcome", "Level"))
