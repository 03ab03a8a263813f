"""The options of a prompt, and the forms in which a text names one."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.futurex.reading.choices import (
    MAX_OPTIONS,
    Options,
    choice_key,
    find_options,
    label_set,
)

PROMPTS: Final = {
    "lines": ("Who?\nA. Red\nB. Blue\nC. Green", ("Red", "Blue", "Green")),
    "brackets": ("Who?\n(A) Red\n(B) Blue\nB. ", ("Red", "Blue")),
    "bold": ("Who?\n**A.** Red\n**B.** Blue", ("Red", "Blue")),
    "bullets": ("Who?\n- A. Red\n- B. Blue", ("Red", "Blue")),
    "full width": ("Who?\nA：Red\nB：Blue", ("Red", "Blue")),
    "inline": ("Who? | A. Red | B. Blue", ("Red", "Blue")),
    "one only": ("Who?\nA. Red", ()),
    "not from A": ("Who?\nB. Red\nC. Blue", ()),
    "a gap": ("Who?\nA. Red\nB. Blue\nD. Green", ("Red", "Blue")),
    "none": ("Who wins?", ()),
}


@pytest.mark.parametrize(("prompt", "wanted"), PROMPTS.values(), ids=PROMPTS)
def test_find_options(prompt: str, wanted: tuple[str, ...]) -> None:
    assert tuple(text.strip(" *") for text in find_options(prompt)) == wanted


def test_labels_go_on_past_z() -> None:
    labels = [chr(65 + number) for number in range(70)]
    prompt = "Who?" + "".join(f"\n{label}. Player {label}" for label in labels)
    assert len(find_options(prompt)) == MAX_OPTIONS == 62
    assert label_set(30) == frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^")
    assert max(label_set(100)) == "~"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the outcome be Lower", "lower"),
        ("The answer is Lower.", "lower"),
        ("My final prediction: Lower", "lower"),
        ("答案是:降低", "降低"),
        ("Lower", "lower"),
        ("$5 or more", "5 or more"),
        ("The answer is", "the answer is"),
    ],
)
def test_choice_key(text: str, wanted: str) -> None:
    assert choice_key(text) == wanted


def options(*texts: str) -> Options:
    prompt = "Which?" + "".join(
        f"\n{chr(65 + number)}. {text}" for number, text in enumerate(texts)
    )
    return Options(find_options(prompt))


def test_index_of_options() -> None:
    assert options("the outcome be Lower", "Same").index == {"lower": "A", "same": "B"}
    assert options("Red", "Red", "Blue").index == {"blue": "C"}  # "Red" stands for neither
    index = options("No", "Yes").index
    assert {"no", "false", "否", "不会"} == {key for key in index if index[key] == "A"} & {
        *("no", "false", "否", "不会")
    }
    assert {index[key] for key in ("yes", "true", "是的", "会")} == {"B"}
