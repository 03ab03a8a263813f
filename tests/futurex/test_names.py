"""When two names are the same, and how many of a list are found in another."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.futurex.names import fold, match_names, read_name, same_name

SAME: Final = {  # true name, predicted name
    "case": ("Red Kite", "RED kite"),
    "quotes": ("《红》", "红"),
    "a full stop": ("Red.", "Red"),
    "an at sign": ("@red", "Red"),
    "spaces beside Chinese": ("许 二木", "许二木"),
    "slash and space": ("Salt/Pepper", "Salt Pepper"),
    "a bracketed alias": ("Panda Plan (熊猫计划)", "熊猫计划"),
    "outside the brackets": ("Sunrise", "Sunrise (2024)"),
    "the author's tail": ("Sunrise", "Sunrise by Ada Bell"),
    "behind a dash": ("Sunrise", "Sunrise - Ada Bell"),
    "a surname": ("Petra Vandermoss", "Vandermoss"),
    "a first name too many": ("Vandermoss", "Petra Vandermoss"),
    "a team": ("Falcon", "Quill Motors Falcon"),
    "the end of a Chinese name": ("乙组-林小渚", "林小渚"),
}
DIFFERENT: Final = {
    "a part in front": ("Red Kite", "Red"),
    "the end of a word": ("Kite", "Redkite"),
    "a number": ("Frozen 2", "2"),
    "two names": ("Silver Fox", "Red Kite or Silver Fox"),
    "denied": ("Silver Fox", "not Silver Fox"),
    "denied in Chinese": ("银狐", "不是银狐"),
    "another follows": ("Sunrise", "Sunrise Two"),
    "the author": ("Ada Bell", "Sunrise (not Ada Bell)"),
    "two with a slash": ("Silver Fox", "Red Kite / Silver Fox"),
}


@pytest.mark.parametrize(("true", "predicted"), SAME.values())
def test_same_name(true: str, predicted: str) -> None:
    assert same_name(read_name(true), read_name(predicted))


@pytest.mark.parametrize(("true", "predicted"), DIFFERENT.values())
def test_different_names(true: str, predicted: str) -> None:
    assert not same_name(read_name(true), read_name(predicted))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("  Straße ", "strasse"),
        ("“Red” Kite.", "red kite"),
        ("@@Red", "red"),
        ("a/b", "a b"),
        ("Red\n Kite", "red kite"),
    ],
)
def test_fold(text: str, wanted: str) -> None:
    assert fold(text) == wanted


def matched(truth: list[str], predicted: list[str]) -> int:
    """How many true names are found; what is left on both sides must add up."""
    missed, free = match_names(
        [read_name(text) for text in truth], [read_name(text) for text in predicted]
    )
    assert len(truth) - len(missed) == len(predicted) - len(free)
    return len(truth) - len(missed)


def test_every_name_is_used_once() -> None:
    assert matched(["Red", "Red"], ["Red"]) == 1
    assert matched(["Red"], ["Red", "Red"]) == 1
    assert matched(["Red", "Blue"], ["Blue", "Red", "Green"]) == 2


def test_exact_matches_come_first() -> None:
    assert matched(["Falcon", "Quill Falcon"], ["Quill Falcon", "Falcon"]) == 2


def test_as_many_as_possible_are_matched() -> None:
    """The first true name fits both, the second only what the first would take: it has to give
    way.
    """
    predicted = ["Quill Falcon", "Red Falcon"]
    assert matched(["Falcon", "Old Quill Falcon"], predicted) == 2
    assert matched(["Falcon", "Old Quill Falcon"], predicted[::-1]) == 2
    # Short for two true names, "Quill Falcon" is short for neither.
    assert matched(["Old Quill Falcon", "New Quill Falcon", "Falcon"], predicted) == 1
