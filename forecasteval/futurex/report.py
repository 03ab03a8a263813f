"""What there is to see of a result: scores by level, remarks, the items with the reason of each score."""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.charts import Chart
from forecasteval.common.errors import printable
from forecasteval.common.pages import Page, Section, name_result
from forecasteval.common.report import (
    Column,
    Interval,
    Report,
    format_signature,
    make_table,
    show_interval,
    show_number,
)

from .answers import read_answer
from .questions import Truth
from .rules import LEVELS, WEIGHTS
from .units import NumberTruth

_MATCHED: Final = re.compile(r"([0-9]+) of ([0-9]+) matched")
_WRONG: Final = {"number": "number beyond σ", "ranking": "wrong names"}
_WRAPPED: Final = re.compile(r"\\boxed\{(.*)\}|\['([^']*)'\]", re.DOTALL)  # a truth in a box, or the only one of a list
_SHOWN: Final = 80  # characters of an answer or a truth in a sentence
_MODEL: Final = (
    "Language model: numbers sent {prompts}, answered {answered}, refused by validation {invalid}, failed {failed}; "
    "scores changed {changed}; calls {calls}, tokens {tokens[prompt]} + {tokens[completion]}."
)
_MODEL_NAMES: Final = (
    "Language model, names: pairs sent {pairs}, the same {same}, names refused for their decoy {refused}, names left "
    "out {left_out}, replies refused by validation {invalid}; scores changed {changed}; calls {calls}."
)
_COUNTS: Final = {"n": "counts", "Missing": "missing", "Unparsed": "unparsed", "Padded": "padded"}


def report_blocks(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report's lines and tables; with `items` also a row per question."""
    summary = summarise(results)
    if items:
        summary = summary.with_sections(Section("", [make_table(_ITEMS, results["items"])]))
    return summary.report()


def summarise(results: Mapping[str, Any]) -> Page:
    """The scores and the remarks."""
    size = f"{len(results['items'])} questions" + ("" if results.get("dataset") else ", its own questions")
    title, lead = name_result(results, size)
    figures = [
        ("Overall score", show_number(results["overall_score"]), show_interval(results["overall_interval"])),
        ("Questions", str(len(results["items"])), ""),
        ("Missing", str(results["missing_count"]), ""),
        ("Unparsed", str(results["unparsed_count"]), ""),
        ("Read without a box", str(results["unboxed_count"]), ""),
        ("Numbers without σ", str(results["no_sigma_count"]), ""),
        *([("Padded", str(results["padded_count"]), "")] if results["padded_count"] else []),
    ]
    scores = Section("Scores", [_score_chart(results), "", *_remarks(results)])
    return Page(title, lead, figures, [scores], format_signature(results["signature"]))


def _score_chart(results: Mapping[str, Any]) -> Chart:
    """A row per level and one for all; a column for padded lists only where there are any."""
    counts = {title: results[f"level_{key}"] for title, key in _COUNTS.items()}
    rows = [
        {
            "name": f"Level {level}",
            "weight": f"{WEIGHTS[level]:.1f}",
            "score": results["level_scores"][level],
            "interval": results["level_intervals"][level],
            **{title: str(by_level[level]) for title, by_level in counts.items()},
        }
        for level in LEVELS
    ]
    totals = {title: sum(by_level[level] for level in LEVELS) for title, by_level in counts.items()}
    overall = {"name": "Overall", "weight": "", "score": results["overall_score"]}
    rows.append({**overall, "interval": results["overall_interval"], **{key: str(n) for key, n in totals.items()}})
    columns = [
        Column("", itemgetter("name")),
        Column("Weight", itemgetter("weight"), "number"),
        Column("Score", lambda row: show_number(row["score"]), "number"),
        Column("score", lambda row: Interval(row["score"], row["interval"], None, int(not row["weight"])), "mark"),
        Column("95% interval", lambda row: show_interval(row["interval"]), "number"),
        *(Column(title, itemgetter(title), "number") for title, n in totals.items() if n or title != "Padded"),
    ]
    description = "Dots: the mean of each level; ring: their weighted mean; lines: 95% intervals."
    return Chart("scores", "Scores by level", description, make_table(columns, rows))


def _remarks(results: Mapping[str, Any]) -> list[str]:
    policy = "score 0" if results["signature"]["missing"] == "zero" else "are left out"
    lines = [f"Missing answers {policy}. Over answered questions only: {show_number(results['answered_only'])}."]
    if results["unboxed_count"]:
        lines.append(f"Read without a box: {results['unboxed_count']}.")
    remedy = " (--relative-sigma 0.05 gives them one)" if results["signature"]["rules"] == "readme" else ""
    remark = f"; only an equal value scores there{remedy}" if results["no_sigma_count"] else ""
    lines.append(f"Numbers without a sigma: {results['no_sigma_count']}{remark}.")
    if results["llm"]:
        lines.append(_MODEL.format(**results["llm"], failed=sum(results["llm"]["failures"].values())))
    if results["llm_names"]:
        lines.append(_MODEL_NAMES.format(**results["llm_names"]))
    return lines + [f"warning: {warning}" for warning in results["warnings"]]


# --- Items ---


def name_cause(item: Mapping[str, Any]) -> str:
    """The kind of mistake that an item is: "refusal", "wrong option", "partly right", …; "right" if it is none.

    >>> name_cause({"outcome": "scored", "score": 0.0, "kind": "single choice", "note": ""})
    'wrong option'
    """
    if item["outcome"] != "scored":
        return "refusal" if "refusal" in item["note"] else str(item["outcome"])
    if item["score"] >= 1:
        return "right"
    return "partly right" if item["score"] > 0 else _WRONG.get(item["kind"], "wrong option")


def explain(item: Mapping[str, Any], truth: Truth | None = None) -> str:
    """The reason of an item's score in one sentence; with its `truth` a number's sentence has both values and σ."""
    if item["outcome"] == "missing":
        return "no answer"
    if item["outcome"] == "unparsed":
        return str(item["note"]) if "refusal" in item["note"] else f"not read: {item['note']}"
    wrapped = _WRAPPED.fullmatch(item["truth"])
    read = printable(item["read"], _SHOWN)
    true = printable((wrapped[1] or wrapped[2]) if wrapped else item["truth"], _SHOWN)
    if item["kind"] == "number":
        return _explain_number(item, read, true, truth)
    matched = _MATCHED.search(item["note"])
    if item["kind"] == "ranking" and matched:
        part = f"{matched[1]} of {matched[2]} names"
        if matched[1] == "0":
            return f"{part}: {read} against {true}"
        return f"{part}: 0.8 · {matched[1]}/{matched[2]}" if item["score"] else f"{part}: only a whole list scores"
    if item["score"] >= 1:
        return f"{read} is right"
    f1 = f": F1 {show_number(item['score'])}" if item["score"] else ""
    return f"{read or 'nothing'} picked, {true} is right{f1}"


def _explain_number(item: Mapping[str, Any], read: str, true: str, truth: Truth | None) -> str:
    sigmas, sigma = item["sigmas"], None
    if isinstance(truth, NumberTruth):
        true, sigma = f"{truth.quantity.value:.12g}", truth.sigma
    values = f"{read} against {true}" + (f", σ {sigma:.6g}" if sigma else "")
    if sigmas is None:
        return f"{values}: {'equal' if item['score'] else 'not equal, and there is no σ'}"
    if abs(sigmas) >= 1:
        return f"{values}: {abs(sigmas):.3g} σ away, and beyond 1 σ nothing scores"
    return f"{values}: 1 − {sigmas * sigmas:.4g}"


def _around_box(text: str, width: int = 36) -> str:
    """The part of an answer around what counts of it."""
    answer = read_answer(text)
    at, end = (answer.find_in(text) if answer and answer.boxed else None) or (0, 0)
    begin = max(0, min(at - 8, end + 2 - width)) if end > width - 2 else 0
    return printable(("…" if begin else "") + text[begin:], width)


_ITEMS: Final = (
    Column("Id", lambda item: printable(item["id"], 26)),
    Column("Level", lambda item: str(item["level"]), "number", spare=1),
    Column("Kind", lambda item: item["kind"], spare=5),
    Column("Score", lambda item: show_number(item["score"]), "number"),
    Column("Outcome", lambda item: item["outcome"], spare=2),
    Column("Truth", lambda item: printable(item["truth"], 36), spare=4),
    Column("Read", lambda item: printable(item["read"], 36), spare=3),
    Column("Answer", lambda item: _around_box(item["answer"]), spare=7),
    Column("Note", lambda item: item["note"], spare=6),
    Column("Why", explain),
)
