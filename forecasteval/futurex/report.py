"""A result as lines and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forecasteval.common.errors import printable
from forecasteval.common.report import Report, Table, format_signature, show_interval, show_number

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
    rows = [
        [
            f"Level {level}", f"{WEIGHTS[level]:.1f}", show_number(results["level_scores"][level]),
            show_interval(results["level_intervals"][level]), str(results["level_counts"][level]),
            str(results["level_missing"][level]), str(results["level_unparsed"][level]),
        ]
        for level in LEVELS
    ]  # fmt: skip
    rows.append([
        "Overall", "", show_number(results["overall_score"]), show_interval(results["overall_interval"]),
        str(sum(results["level_counts"].values())), str(results["missing_count"]), str(results["unparsed_count"]),
    ])  # fmt: skip
    header = ["", "Weight", "Score", "95% interval", "n", "Missing", "Unparsed"]
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
        "scores": [Table(header, rows, "<>>>>>>")],
        "remarks": remarks,
        "signature": [format_signature(results["signature"])],
    }


def _sigma_line(count: int, rules: str) -> str:
    if not count:
        return "Numbers without a sigma: 0."
    remedy = " (--relative-sigma 0.05 gives them one)" if rules == "readme" else ""
    return f"Numbers without a sigma: {count}; only an equal value scores there{remedy}."


def _model_line(asked: Mapping[str, Any]) -> str:
    tokens = asked["tokens"]
    return (
        f"Language model: asked about {asked['asked']} numbers, answered {asked['answered']}, refused by validation "
        f"{asked['refused']}, failed {sum(asked['failures'].values())}; {asked['changed']} scores changed; "
        f"{asked['calls']} calls, {tokens['prompt']} + {tokens['completion']} tokens."
    )


def _names_line(asked: Mapping[str, Any]) -> str:
    return (
        f"Language model, names: asked about {asked['asked']} pairs, the same {asked['same']}, names refused for their "
        f"decoy {asked['refused']}; {asked['changed']} scores changed; {asked['calls']} calls."
    )


def items_table(items: Iterable[Mapping[str, Any]]) -> Table:
    """A row per question: what was read, from what, the score."""
    rows = [
        [
            printable(item["id"], 26), str(item["level"]), item["kind"], show_number(item["score"]), item["outcome"],
            printable(item["truth"], 36), printable(item["read"], 36), printable(item["answer"], 36), item["note"],
        ]
        for item in items
    ]  # fmt: skip
    header = ["Id", "Level", "Kind", "Score", "Outcome", "Truth", "Read", "Answer", "Note"]
    return Table(header, rows, "<><><<<<<")
