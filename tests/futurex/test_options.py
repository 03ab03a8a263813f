"""The options of a prompt, and the forms in which a text names one."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.futurex.options import (
    MAX_OPTIONS,
    Options,
    choice_key,
    count_options,
    label_set,
    option_index,
    read_options,
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
def test_read_options(prompt: str, wanted: tuple[str, ...]) -> None:
    assert read_options(prompt) == wanted
    assert count_options(prompt) == len(wanted)


def test_labels_go_on_past_z() -> None:
    labels = [chr(65 + number) for number in range(70)]
    prompt = "Who?" + "".join(f"\n{label}. Player {label}" for label in labels)
    assert count_options(prompt) == len(read_options(prompt)) == MAX_OPTIONS == 62
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


def index(*texts: str) -> tuple[dict[str, str], int]:
    prompt = "Which?" + "".join(f"\n{chr(65 + number)}. {text}" for number, text in enumerate(texts))
    return option_index(Options(label_set(len(texts)), prompt))


def test_index_of_options() -> None:
    assert index("the outcome be Lower", "Same") == ({"lower": "A", "same": "B"}, 0)
    assert index("Red, Blue and Green", "Red")[1] == 2  # separators in the longest
    assert index("Red", "Red", "Blue")[0] == {"blue": "C"}  # "Red" stands for neither
    assert index("No", "Yes")[0] == {
        "no": "A", "否": "A", "不": "A", "不是": "A", "不会": "A",
        "yes": "B", "是": "B", "是的": "B", "会": "B",
    }  # fmt: skip
