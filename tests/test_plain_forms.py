"""What is written without a thought about rules is read, for every shipped question, by the
command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from cli import ROOT, Record, read_json, run_process, write
from forecasteval.common.markup import last_boxed
from forecasteval.futurex.questions import parse_record
from forecasteval.futurex.reading.choices import ChoiceTruth
from forecasteval.futurex.reading.numbers import NumberTruth
from forecasteval.futurex.rules import Rules

QUESTIONS: Final[list[Record]] = read_json(ROOT / "dataset" / "250915.json")
TRIED: Final = 3  # options of a question
OPTION_FORMS: Final = (
    "Final answer: {label}. {text}",
    "Final answer: {label}. {core}",
    "Answer: {label}) {core}",
    "**Final answer: {label}. {core}**",
    "I predict {label}. {core}",
    "Final answer: {label}. Good luck!",
    "Final answer: {label} (about 60%)",
    "Final answer: {label}, but it will be close.",
    "\\boxed{{{label}. {core}}}",
    "\\boxed{{{label}}}",
    "**Answer:** {label}",
    "<answer>{label}. {core}</answer>",
)
YES_NO_FORMS: Final = (
    "Final answer: {}, but it will be close.",
    "Answer: {}.",
    "**{}**",
    "Final answer: {}. Good luck!",
    "I predict {}.",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
)
NUMBER_FORMS: Final = (
    "Final answer: {number}",
    "Final answer: {number} (±{margin})",
    "Final answer: about {amount}",
    "**{number}** (range {low}–{high})",
    "Answer: {amount}, up from {low}",
    "Answer: {amount}.",
    "\\boxed{{{amount}}}",
    "<answer>{amount}</answer>",
)
LIST_FORMS: Final = (
    "{lines}\n\nConfidence: moderate.",
    "\\boxed{{{lines}\n\nConfidence: moderate.}}",
    "Final answer:\n{lines}\n\nThese are estimates.",
    "Final answer: {line}",
    "**Answer:** {line}",
    "\\boxed{{{line}}}",
)


def options(prompt: str) -> list[tuple[str, str]]:
    return re.findall(r"^ *([A-Z])\. +(.+?) *$", prompt, re.MULTILINE)


def about_options() -> Iterator[tuple[Record, str, str]]:
    for question in QUESTIONS:
        for label, text in options(question["prompt"])[:TRIED]:
            core = text.removeprefix("the outcome be ")
            for form in OPTION_FORMS:
                yield question, label, form.format(label=label, text=text, core=core)


def about_yes_and_no() -> Iterator[tuple[Record, str, str]]:
    for question in QUESTIONS:
        offered = re.findall(r"\\boxed\{(Yes|No|是|否)\}", question["prompt"])
        for value in offered:
            for form in YES_NO_FORMS:
                yield question, value, form.format(value)


def about_numbers() -> Iterator[tuple[Record, str, str]]:
    for question in QUESTIONS:
        if not isinstance(truth_of(question), NumberTruth):
            continue
        truth = last_boxed(question["ground_truth"])[0].strip("[]")
        number, unit = re.fullmatch(r"(?:.* )?([-\d.,]+)((?: |%).*?)?\.?", truth).groups("")  # type: ignore[union-attr]
        value = float(number.replace(",", ""))
        shown = {
            "number": number,
            "amount": number + (unit or " points"),
            "margin": f"{abs(value) / 100:.2f}",
            "low": f"{value - abs(value) / 100:,.2f}",
            "high": f"{value + abs(value) / 100:,.2f}",
        }
        for form in NUMBER_FORMS:
            yield question, question["ground_truth"], form.format(**shown)


def about_lists() -> Iterator[tuple[Record, str, str]]:
    for question in QUESTIONS:
        truth = truth_of(question)
        if truth is None or isinstance(truth, (ChoiceTruth, NumberTruth)):
            continue
        names = [name.text for name in truth.names]
        lines = "\n".join(f"{rank}. {name}" for rank, name in enumerate(names, 1))
        for form in LIST_FORMS:
            yield (
                question,
                question["ground_truth"],
                form.format(lines=lines, line=", ".join(names)),
            )


def truth_of(question: Record) -> object:
    return parse_record(question, "", 1, Rules()).truth


KINDS: Final[dict[str, tuple[Callable[[], Iterator[tuple[Record, str, str]]], int]]] = {
    "options": (about_options, 576),
    "yes and no": (about_yes_and_no, 70),
    "numbers": (about_numbers, 128),
    "lists": (about_lists, 90),
}


@pytest.mark.parametrize("kind", KINDS)
def test_plain_forms_are_read(kind: str, tmp_path: Path) -> None:
    make, count = KINDS[kind]
    forms = [*make()]
    rows = [
        {**question, "id": str(at), "ground_truth": truth, "answer": answer}
        for at, (question, truth, answer) in enumerate(forms)
    ]
    write(tmp_path, {"prediction/forms.json": rows})
    items = run_process(tmp_path, "-f", "forms", "--json").json["items"]
    lost = [
        (forms[int(item["id"])][1:], item["read"], item["note"])
        for item in items
        if item["score"] != 1
    ]
    assert lost == []
    assert len(items) == len(forms) == count
