"""A result of RxnOptBench as lines and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.report import Report, Table, format_signature, plain_table, show_interval, show_number

from .kinds import METRICS, NAME, QUESTION_TYPES

MOST_PARTS: Final = 10  # rows of a breakdown


def report_blocks(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report's lines and tables."""
    parts = report_parts(results)
    report = [*parts["title"], "", *parts["scores"], "", *parts["remarks"]]
    for name in ("pairs", "keys", "options"):
        report += ["", *parts[name]] if parts[name] else []
    report += parts["warnings"]
    if items:
        header = ["Id", "Type", "Score", "Outcome", "Read", "Answer", "Note", "Why"]
        shown = [
            [printable(i["id"], 60), i["question_type"], show_number(i["score"]), i["outcome"],
             _shown_index(i["read"]), printable(i["answer"], 20), i["note"], explain(i)]
            for i in results["items"]
        ]  # fmt: skip
        report += ["", plain_table(header, shown, "<<><><<<", ("Answer", "Note", "Type", "Read", "Outcome"))]
    return [*report, "", *parts["signature"]]


def explain(item: Mapping[str, Any], question: Mapping[str, Any] | None = None) -> str:
    """The reason of an item's score in one sentence; with its question it has the effective scores."""
    if item["outcome"] != "scored":
        return "no answer" if item["outcome"] == "missing" else "no index of an option"
    read = item["read"]
    if isinstance(read, list):
        return f"the mean over {len(read)} orders"
    if item["exact"]:
        return f"option {read} is the best"
    if not question:
        return f"option {read} has {item['score']:.3g} of the best effective score"
    effective, best = question["meta"]["effective_scores"], " and ".join(map(str, question["answer"]))
    return f"option {read} has {effective[read]:g}, the best {best} has {max(effective):g}"


def report_parts(results: Mapping[str, Any]) -> dict[str, Report]:
    """The parts of the report by name; "pairs", "keys" and "options" are empty where there is nothing to compare."""
    from_tables = f"{results['n']} questions of {results['tables']} table{'s' * (results['tables'] != 1)}"
    kinds = results["by_question_type"]
    rows = [_score_row(kind, kinds[kind]) for kind in QUESTION_TYPES if kind in kinds]
    rows += [_score_row("Overall", results)]
    header = ["", "Relative", "95% interval", "Uniform", "Exact", "Yield ratio", "n", "Missing", "Illegal"]
    answered = results["answered_only"]["avg_relative_score"]
    remarks: Report = [f"Missing and illegal answers score 0. Over answered questions only: {show_number(answered)}."]
    if results["coerced"]:
        remarks.append(f"Read from text or fractions: {results['coerced']}.")
    keys, options = results["by_target_key"], results["by_option_count"]
    return {
        "title": [
            f"{NAME}  {printable(results.get('name', ''))}".rstrip(),
            f"{from_tables}, dataset {printable(results.get('dataset') or 'given')}",
        ],
        "scores": [plain_table(header, rows, "<>>>>>>>>", ("Yield ratio", "Exact", "Illegal", "Uniform", "n"))],
        "remarks": remarks,
        "pairs": [_pair_table(results["pairs"])] if results["pairs"]["overall"]["pairs"] else [],
        "keys": [_part_table("Condition asked about", keys)] if len(keys) > 1 else [],
        "options": [_part_table("Options", options)] if len(options) > 1 else [],
        "warnings": [f"warning: {printable(warning)}" for warning in results["warnings"]],
        "signature": [format_signature(results["signature"])],
    }


def _score_row(name: str, summary: Mapping[str, Any]) -> list[str]:
    relative = METRICS[0]
    numbers_ = [summary["uniform_guess"][relative], *(summary[metric] for metric in METRICS[1:])]
    return [
        name, show_number(summary[relative]), show_interval(summary["intervals"][relative]),
        *map(show_number, numbers_), *(str(summary[key]) for key in ("n", "missing", "illegal")),
    ]  # fmt: skip


def _shown_index(read: int | Sequence[int | None] | None) -> str:
    """`2`, or `2, –, 0` for several orders of the options."""
    if isinstance(read, list):
        return ", ".join("–" if i is None else str(i) for i in read)
    return "" if read is None else str(read)


def _part_table(title: str, parts: Mapping[str, Any]) -> Table:
    """The largest parts of the questions, in their order."""
    least = sorted((part["n"] for part in parts.values()), reverse=True)[:MOST_PARTS][-1]
    rows = [
        [
            printable(name.strip(), 40),
            *(show_number(part[key]) for key in ("avg_relative_score", "uniform_guess")),
            str(part["n"]),
        ]
        for name, part in parts.items()
        if part["n"] >= least
    ][:MOST_PARTS]
    return plain_table([title, "Relative", "Uniform", "n"], rows, "<>>>")


def _pair_table(pairs: Mapping[str, Any]) -> Table:
    header = ["Reference against control", "Reference", "Control", "Difference", "95% interval", "p", "Pairs", "W/T/L"]
    rows = []
    for kind, pair in pairs.items():
        if pair["pairs"]:
            counts = "/".join(str(pair[key]) for key in ("wins", "ties", "losses"))
            values = [show_number(pair[key]) for key in ("reference_mean", "control_mean", "mean_difference")]
            shown = [*values, show_interval(pair["interval"]), show_number(pair["p_value"]), str(pair["pairs"]), counts]
            rows.append([kind, *shown])
    return plain_table(header, rows, "<>>>>>>>")
