r"""The truths of a dataset, as models dress them: every form of a right answer scores 1, no refusal
scores anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

import pytest

from cli import ROOT, Record, read_json
from eval import FutureXEvaluator
from forecasteval.common.markup import last_boxed
from forecasteval.futurex.questions import parse_record
from forecasteval.futurex.reading.choices import ChoiceTruth
from forecasteval.futurex.reading.numbers import NumberTruth
from forecasteval.futurex.rules import Rules

QUESTIONS: Final[list[Record]] = read_json(ROOT / "dataset" / "250915.json")


def _tex(text: str) -> str:
    return text.replace("%", r"\%").replace("_", r"\_").replace("&", r"\&").replace("#", r"\#")


def _lines(mark: str) -> Callable[[Sequence[str]], str]:
    return lambda parts: "\n".join(
        mark.format(number) + part for number, part in enumerate(parts, 1)
    )


def _each(form: str) -> Callable[[Sequence[str]], str]:
    return lambda parts: ", ".join(form.format(part) for part in parts)


FORMS: Final[dict[str, Callable[[Sequence[str]], str]]] = {
    "commas": ", ".join,
    "semicolons": "; ".join,
    "Chinese commas": "、".join,
    "lines": "\n".join,
    "br": "<br>".join,
    "and": lambda parts: (
        ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]
    ),
    "and between all": lambda parts: (
        ", " if any(" and " in part for part in parts) else " and "
    ).join(parts),
    "items": lambda parts: r"\begin{itemize}\item " + r" \item ".join(parts) + r"\end{itemize}",
    "text": lambda parts: rf"\text{{{_tex(', '.join(parts))}}}",
    "bold": _each("**{}**"),
    "quotes": _each('"{}"'),
    "check marks": _each("{} ✅"),
    "flags": _each("{} 🇳🇴"),
    # Behind Z, where cleaning takes some labels for markup, they stand alone.
    "references": lambda parts: ", ".join(
        f"{part} [1]" if any(map(str.isalnum, part)) else part for part in parts
    ),
    "a citation": lambda parts: ", ".join(parts) + " 【1†source】",
    "a link": lambda parts: ", ".join(parts) + " ([news](https://example.org/a,b))",
    "dots": _lines("• "),
    "numbers": _lines("{}. "),
    "keycaps": _lines("{}\ufe0f\u20e3 "),
    "a list": json.dumps,
    "the answer is": lambda parts: "The answer is " + ", ".join(parts),
    "a heading": lambda parts: "Answer:\n" + ", ".join(parts),
}
REFUSALS: Final = (
    *(
        "N/A",
        "n/a",
        "N / A",
        "NA",
        r"\text{N/A}",
        "**N/A**",
        "N/A (no data)",
        "N/A; cannot determine",
        "['N/A']",
        "TBD",
    ),
    *(
        "None",
        "unknown",
        "Unsure.",
        "cannot predict",
        "I cannot predict the future.",
        "insufficient data",
    ),
    *("无", "未知", "不知道", "无法预测"),
)


def parts_of(question: Record) -> list[str]:
    """The parts of a question's truth: labels, names in the order of their ranks, or one number."""
    truth = parse_record(question, "", 1, Rules()).truth
    if isinstance(truth, ChoiceTruth):
        return sorted(truth.picks)
    if isinstance(truth, NumberTruth) or truth is None:
        return [last_boxed(question["ground_truth"])[0].strip("[]")]
    return [name.text for name in truth.names]


def scores(answers: Sequence[str]) -> list[tuple[str, float, str]]:
    rows = [
        {**question, "answer": answer} for question, answer in zip(QUESTIONS, answers, strict=True)
    ]
    return [
        (item["id"], item["score"], item["outcome"])
        for item in FutureXEvaluator().evaluate_all(rows)["items"]
    ]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_right_answer_in_any_dress(form: Callable[[Sequence[str]], str]) -> None:
    answers = [f"\\boxed{{{form(parts_of(question))}}}" for question in QUESTIONS]
    assert [row for row, answer in zip(scores(answers), answers, strict=True) if row[1] != 1] == []


@pytest.mark.parametrize("box", ["\\boxed{{{}}}", "{}"])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_earns_nothing(refusal: str, box: str) -> None:
    assert [
        row
        for row in scores([box.format(refusal)] * len(QUESTIONS))
        if row[1:] != (0.0, "unparsed")
    ] == []
