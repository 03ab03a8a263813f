"""The views of a result: scores by level, remarks, items with the reason of each score, and their
page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, filterfalse, repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text
from forecasteval.display import pages
from forecasteval.display.charts import Chart
from forecasteval.display.pages import Page, Records, Section, show_text
from forecasteval.display.tables import Bar, Cell, Column, Interval, Report, make_table, show_number

from .answers import read_answer
from .join import is_void, raw_answer
from .numbers import NumberTruth
from .questions import Truth, read_record
from .results import Item
from .rules import LEVELS, REASONS, WEIGHTS, Rules, total_weight

_MATCHED: Final = re.compile(r"([0-9]+) of ([0-9]+) matched")
_WRONG: Final = {"number": "number beyond σ", "ranking": "wrong names"}
_UNEQUAL: Final = "number not equal"  # where there is no σ
_WRAPPED: Final = re.compile(
    r"\\boxed\{(.*)\}|\['([^']*)'\]", re.DOTALL
)  # a truth in a box, or the only one of a list
_SHOWN: Final = 80  # characters of an answer or a truth in a sentence
_WIDTH: Final = 36  # and in a column
_MODEL: Final = (
    "Language model: prompts sent {prompts}, answered {answered}, refused by validation {invalid}, failed {failed}; "
    "answers found {extracted}; scores changed {changed}; calls {calls}, tokens {tokens[prompt]} + {tokens[completion]}."
)
_MODEL_NAMES: Final = (
    "Language model, names: pairs sent {pairs}, the same {same}, names refused for their decoy {refused}, names left "
    "out {left_out}, replies refused by validation {invalid}; scores changed {changed}; calls {calls}."
)
_COUNTS: Final = {
    "n": "counts",
    "Pending": "pending",
    "Missing": "missing",
    "Unparsed": "unparsed",
    "Padded": "padded",
}
_BINS: Final = (
    (-3, "more than 3 σ too low"),
    (-1, "1 to 3 σ too low"),
    (-0.5, "0.5 to 1 σ too low"),
    (0.5, "within 0.5 σ"),
    (1, "0.5 to 1 σ too high"),
    (3, "1 to 3 σ too high"),
    (float("inf"), "more than 3 σ too high"),
)
Rows = Callable[[], Iterable[Mapping[str, Any]] | None]


def report_blocks(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report's lines and tables; with `items` also a row per question."""
    rows = [Section("Items", [make_table(_ITEMS, results["items"])])] if items else []
    return make_overview(results).with_sections(*rows).report()


def make_overview(results: Mapping[str, Any]) -> Page:
    """The scores and the remarks."""
    size = describe_size(results) + ("" if results.get("dataset") else ", without a dataset")
    figures = {
        "Overall score": (results["overall_score"], results["overall_interval"]),
        "Questions": len(results["items"]),
        **({"Pending": results["pending"]} if results["pending"] else {}),
        "Missing": results["missing_count"],
        "Unparsed": results["unparsed_count"],
        "Read without a box": results["unboxed_count"],
        "Numbers without σ": results["no_sigma_count"],
        **({"Padded": results["padded_count"]} if results["padded_count"] else {}),
    }
    scores = Section("Scores", [_score_chart(results), "", *_remarks(results)])
    return pages.make_overview(results, size, figures, [scores])


def describe_size(results: Mapping[str, Any]) -> str:
    """How many questions there are, and how many of them have a truth, if not all have."""
    total, pending, void = len(results["items"]), results["pending"], results["void"]
    size = f"{total} questions"
    if pending:
        size += f", {total - pending} resolved, {pending} pending"
    return f"{size}, {void} void left out" if void else size


def _score_chart(results: Mapping[str, Any]) -> Chart:
    """A row per level and one for all; columns for pending questions and padded lists only where
    there are any.
    """
    counts = {title: results[f"level_{key}"] for title, key in _COUNTS.items()}
    totals = {title: sum(by_level[level] for level in LEVELS) for title, by_level in counts.items()}
    rows = [
        {
            "name": f"Level {level}",
            "weight": f"{WEIGHTS[level]:.1f}",
            "score": results["level_scores"][level],
            "interval": results["level_intervals"][level],
            **{title: by_level[level] for title, by_level in counts.items()},
        }
        for level in LEVELS
    ]
    overall = {"score": results["overall_score"], "interval": results["overall_interval"]}
    rows.append({"name": "Overall", "weight": "", **overall, **totals})
    columns = [
        Column("", itemgetter("name")),
        Column("Weight", itemgetter("weight"), "number"),
        Column("Score", itemgetter("score"), "number"),
        Column(
            "score",
            lambda row: Interval(row["score"], row["interval"], None, int(not row["weight"])),
            "mark",
        ),
        Column("95% interval", itemgetter("interval"), "number"),
        *(
            Column(title, itemgetter(title), "number")
            for title, n in totals.items()
            if n or title not in ("Pending", "Padded")
        ),
    ]
    description = "Dots: the mean of each level; ring: their weighted mean; lines: 95% intervals."
    return Chart("scores", "Scores by level", description, make_table(columns, rows))


def _remarks(results: Mapping[str, Any]) -> list[str]:
    policy = "score 0" if results["signature"]["missing"] == "zero" else "are left out"
    lines = [
        f"Missing answers {policy}. Over answered questions only: {show_number(results['answered_only'])}."
    ]
    if results["pending"]:
        lines.append("Pending questions have no truth yet: they are in no score.")
    if results.get("truths"):
        lines.append(f"Truths of {printable(results['truths'])} are used.")
    if reasons := Counter(results["unparsed_reasons"]).most_common():
        shown = ", ".join(f"{count} {REASONS[reason]}" for reason, count in reasons)
        lines.append(f"Unparsed {results['unparsed_count']}: {shown}.")
    if results["unboxed_count"]:
        lines.append(f"Read without a box: {results['unboxed_count']}.")
    remedy = (
        " (--relative-sigma 0.05 gives them one)"
        if results["signature"]["rules"] == "readme"
        else ""
    )
    remark = f"; only an equal value scores there{remedy}" if results["no_sigma_count"] else ""
    lines.append(f"Numbers without a sigma: {results['no_sigma_count']}{remark}.")
    if results["llm"]:
        lines.append(
            _MODEL.format(**results["llm"], failed=sum(results["llm"]["failures"].values()))
        )
    if results["llm_names"]:
        lines.append(_MODEL_NAMES.format(**results["llm_names"]))
    return lines + [f"warning: {warning}" for warning in results["warnings"]]


# --- Items ---


def name_cause(item: Item) -> str:
    """The kind of mistake that an item is: "unparsed: refusal", "wrong option", …; "right" if
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


def explain(item: Item, truth: Truth | None = None) -> str:
    """The reason of an item's score in one sentence; with its `truth` a number's sentence has both
    values and σ.
    """
    if item["outcome"] == "pending":
        return f"no truth yet; {_say_read(item)}"
    if item["outcome"] == "missing":
        return "no answer"
    if item["outcome"] == "unparsed":
        return "refusal" if item["reason"] == "refusal" else f"not read: {item['note']}"
    wrapped = _WRAPPED.fullmatch(item["truth"])
    read = printable(item["read"], _SHOWN)
    true = printable((wrapped[1] or wrapped[2]) if wrapped else item["truth"], _SHOWN)
    if item["kind"] == "number":
        return _explain_number(item, read, true, truth)
    score, matched = item["score"] or 0.0, _MATCHED.search(item["note"])
    if item["kind"] == "ranking" and matched:
        part = f"{matched[1]} of {matched[2]} names"
        if matched[1] == "0":
            return f"{part}: {read} against {true}"
        return (
            f"{part}: 0.8 · {matched[1]}/{matched[2]}"
            if score
            else f"{part}: only a whole list scores"
        )
    if score >= 1:
        return f"{read} is right"
    f1 = f": F1 {show_number(score)}" if score else ""
    return f"{read or 'nothing'} picked, {true} is right{f1}"


def _say_read(item: Item) -> str:
    """What was read of an answer to a pending question, or why nothing was."""
    if item["read"]:
        return f"read: {printable(item['read'], _SHOWN)}"
    return item["note"] if item["note"] in ("no answer", "refusal") else f"not read: {item['note']}"


def _explain_number(item: Item, read: str, true: str, truth: Truth | None) -> str:
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
    """The part of an answer around what counts of it."""
    answer = read_answer(text)
    at, end = (answer.find_in(text) if answer and answer.boxed else None) or (0, 0)
    begin = max(0, min(at - 8, end + 2 - _WIDTH)) if end > _WIDTH - 2 else 0
    return printable(("…" if begin else "") + text[begin:], _WIDTH)


_ITEMS: Final = (
    Column("Id", lambda item: printable(item["id"], 26)),
    Column("Level", lambda item: item["level"], "number", spare=1),
    Column("Kind", lambda item: item["kind"], spare=5),
    Column("Score", lambda item: item["score"], "number"),
    Column("Outcome", lambda item: item["outcome"], spare=2),
    Column("Truth", lambda item: printable(item["truth"], _WIDTH), spare=4),
    Column("Read", lambda item: printable(item["read"], _WIDTH), spare=3),
    Column("Answer", lambda item: _around_box(item["answer"]), spare=7),
    Column("Note", lambda item: item["note"], spare=6),
    Column("Why", explain),
)


# --- The page ---


def make_page(
    results: Mapping[str, Any], rows: Rows | None = None, rules: Rules | None = None
) -> Page:
    """The page of a result of `FutureXEvaluator`; `rows` reads the questions with their answers
    once more.

    Without rows the page shows what the items keep: the first line of a prompt, and an excerpt of
    an answer.
    """
    items = results["items"]
    costs = _costs(items, results["signature"]["fixed_weights"] is not True)
    causes = pages.list_causes(zip(map(name_cause, items), costs, strict=True))
    records = filterfalse(is_void, (rows() if rows else None) or ())
    questions = Section("Questions", [_list_questions(items, costs, records, rules)])
    return make_overview(results).with_sections(*causes, *_list_distances(items), questions)


def _costs(items: Sequence[Item], renormalised: bool) -> list[float]:
    """How much of the overall score each question loses: its share of the weights times 1 − its
    score.
    """
    counts = Counter(item["level"] for item in items if item["score"] is not None)
    pending = {item["level"] for item in items if item["outcome"] == "pending"}
    total = total_weight(counts.keys(), pending, renormalised)
    return [
        0.0
        if item["score"] is None
        else WEIGHTS[item["level"]] / total / counts[item["level"]] * (1 - item["score"])
        for item in items
    ]


def _list_distances(items: Iterable[Item]) -> list[Section]:
    """How far numbers lie from the truth; nothing without such questions."""
    sigmas = [item["sigmas"] for item in items if item["sigmas"] is not None]
    counts = Counter(
        next(title for edge, title in _BINS if x < edge or x == edge > 0) for x in sigmas
    )
    low, high = sum(x < 0 for x in sigmas), sum(x > 0 for x in sigmas)
    description = (
        f"How far {len(sigmas)} numbers lie from the truth, in units of the question's σ: {low} are too low, {high} "
        "too high. Within 1 σ an answer scores."
    )
    columns = [
        Column("Distance", str),
        Column("", lambda title: Bar(counts[title]), "mark"),
        Column("Numbers", lambda title: counts[title], "number"),
    ]
    table = make_table(columns, [title for _, title in _BINS])
    return (
        [Section("Numbers", [Chart("sigmas", "Numbers, in σ from the truth", description, table)])]
        if sigmas
        else []
    )


# --- Questions ---


class _Row(NamedTuple):
    """An item with what it costs, the whole prompt and answer, the truth as it was read, how many
    items have its id.
    """

    item: Item
    cost: float
    prompt: str
    answer: str
    truth: Truth | None
    same_id: int

    @property
    def why(self) -> str:
        return explain(self.item, self.truth)

    @property
    def note(self) -> str:
        return "; ".join(
            filter(
                None, (self.item["note"], f"{self.same_id} rows have this id" * (self.same_id > 1))
            )
        )


def _read_row(item: Item, cost: float, same_id: int, record: object, rules: Rules | None) -> _Row:
    """The item with the texts of its record, or with its excerpts if the files have another answer
    by now.
    """
    raw = raw_answer(record) if isinstance(record, Mapping) else None
    answer = raw if isinstance(raw, str) else as_text(raw)
    if not isinstance(record, Mapping) or item["answer"] not in answer:
        return _Row(item, cost, item["prompt"], item["answer"], None, same_id)
    truth = read_record(record, "", 1, rules).truth if rules else None
    return _Row(item, cost, str(record.get("prompt") or ""), answer, truth, same_id)


def _list_questions(
    items: Sequence[Item], costs: Sequence[float], records: Iterable[object], rules: Rules | None
) -> Records:
    """The questions, what costs most first."""
    places = set(sorted(range(len(items)), key=lambda place: -costs[place])[: pages.MOST])
    count = Counter(str(item["id"]) for item in items if item["id"] is not None)
    shown = [
        _read_row(item, costs[place], count[str(item["id"])], record, rules)
        for place, (item, record) in enumerate(
            zip(items, chain(records, repeat(None)), strict=False)
        )
        if place in places
    ]
    shown.sort(key=lambda row: -row.cost)
    limit = pages.text_limit(text for row in shown for text in (row.prompt, row.answer))
    columns = [
        Column("Level", lambda row: row.item["level"], "choice", "low"),
        Column("Score", lambda row: row.item["score"], "number", "high", digits=3),
        Column("Costs", lambda row: row.cost, "number", "high"),
        Column("Outcome", lambda row: name_cause(row.item), "choice"),
        Column("Question", lambda row: show_text(row.item["prompt"], 200), "long"),
        Column("Why", lambda row: show_text(row.why, 200), "long"),
        Column("Question", lambda row: show_text(row.prompt, limit), "inside"),
        Column("Truth", lambda row: show_text(row.item["truth"]), "inside"),
        Column("Answer", lambda row: _show_answer(row.answer, limit), "inside"),
        Column("Read", lambda row: show_text(row.item["read"]), "inside"),
        Column("Score", lambda row: f"{show_number(row.item['score'])}: {row.why}", "inside"),
        Column("Note", lambda row: row.note, "inside"),
        Column("Decided by", lambda row: row.item["decided_by"].replace("grammar", ""), "inside"),
        Column(
            "Id",
            lambda row: "" if row.item["id"] is None else show_text(row.item["id"], 200),
            "inside",
        ),
    ]
    note = pages.count_rows(len(shown), len(items), "what costs most")
    note += " Click a row to open it; the part of the answer that counts is marked."
    ids = [row.item["id"] for row in shown]
    return pages.make_records("questions", "Questions", columns, shown, ids, note, _is_failed)


def _is_failed(row: _Row) -> bool:
    return row.item["outcome"] != "pending" and not row.item["score"]


def _show_answer(text: str, limit: int) -> Cell:
    """The answer with the part marked that counts, as `read_answer` finds it."""
    answer = read_answer(text)
    return pages.mark(text, answer.find_in(text) if answer and answer.boxed else None, limit)
