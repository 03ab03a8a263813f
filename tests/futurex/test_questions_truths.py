"""Ground truths as datasets write them: plain, boxed, a list; picks, names or a number; by which
rules they score.
"""

from __future__ import annotations

from typing import Final

import pytest

from cli import box
from forecasteval.futurex.questions import (
    Truth,
    interpret_choice_truth,
    interpret_open_truth,
    interpret_question,
)
from forecasteval.futurex.reading.answers import parse_answer
from forecasteval.futurex.reading.choices import ChoiceTruth
from forecasteval.futurex.reading.numbers import NumberTruth
from forecasteval.futurex.reading.rankings import NameTruth, RankingTruth
from forecasteval.futurex.reading.wording import Wording
from forecasteval.futurex.rules import RULE_SETS, Rules
from kinds import RATES

README: Final = Rules()
OFFICIAL: Final = RULE_SETS["official-2026"]


def choice(text: str, level: int = 2, prompt: str = "", rules: Rules = README) -> Truth | None:
    answer = parse_answer(text, boxed=True)
    assert answer is not None
    return interpret_choice_truth(level, Wording(prompt), answer, rules)


def open_truth(
    text: str, std: float | None = None, prompt: str = "", rules: Rules = README
) -> Truth | None:
    answer = parse_answer(text, boxed=True)
    assert answer is not None
    return interpret_open_truth(Wording(prompt), answer, std, rules)


@pytest.mark.parametrize(
    "text", ["A, C", box("A, C"), "['A', 'C']", '["C", "A"]', "A和C", "AC", " A , C. "]
)
@pytest.mark.parametrize("prompt", ["", RATES])
def test_labels_however_they_are_written(text: str, prompt: str) -> None:
    truth = choice(text, prompt=prompt)
    if text == "AC" and not prompt:
        assert isinstance(truth, NameTruth)  # without options it may be a name
        return
    assert isinstance(truth, ChoiceTruth)
    assert truth.picks == {"A", "C"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Yes", "Yes"), ("是", "Yes"), ("['No']", "No"), ("False", "No"), ("true", "Yes")],
)
def test_yes_and_no(text: str, wanted: str) -> None:
    truth = choice(text)
    assert isinstance(truth, ChoiceTruth)
    assert truth.picks == {wanted}


def test_other_texts_are_names() -> None:
    truth = choice("['Red Foxes', 'Blue Owls']")
    assert isinstance(truth, NameTruth)
    assert [name.text for name in truth.names] == ["Red Foxes", "Blue Owls"]


@pytest.mark.parametrize(
    "text",
    ["46,396.47", box("46,396.47"), "[46396.47]", "['46,396.47']", "46396.47 点", "46396.47."],
)
def test_numbers_however_they_are_written(text: str) -> None:
    truth = open_truth(text)
    assert isinstance(truth, NumberTruth)
    assert truth.quantity.value == 46396.47


@pytest.mark.parametrize(
    ("text", "std", "kind"),
    [
        ("The close of Quill (QLL) be 42.5 yuan on September 23", 1.0, NumberTruth),
        (
            "The close of Quill (QLL) be 42.5 yuan on September 23",
            None,
            RankingTruth,
        ),  # a text, not wholly a number
        ("7天", None, RankingTruth),
        ("7天", 1.0, NumberTruth),
        ("十五", None, NumberTruth),
        ("三体", None, RankingTruth),
        ("三体", 1.0, RankingTruth),
        ("2-1", None, RankingTruth),
        ("['7', '8']", 1.0, RankingTruth),
    ],
)
def test_a_number_is_one_as_a_whole_or_by_its_std(text: str, std: float | None, kind: type) -> None:
    assert isinstance(open_truth(text, std), kind)
    if kind is RankingTruth and std is not None:
        assert (
            interpret_question(4, "", text, std, Rules()).warning
            == "Std is given but the truth is not a number"
        )


@pytest.mark.parametrize(
    ("std", "rules", "sigma"),
    [
        (3.0, Rules(), 3.0),
        (0.0, Rules(), 0.0),
        (None, Rules(), None),
        (None, Rules(relative_sigma=0.1), 10.0),
        (3.0, Rules(relative_sigma=0.1), 3.0),
        (3.0, OFFICIAL, 5.0),
        (0.0, OFFICIAL, 5.0),
        (None, OFFICIAL, 5.0),
    ],
)
def test_sigma(std: float | None, rules: Rules, sigma: float | None) -> None:
    truth = open_truth("-100", std, rules=rules)
    assert isinstance(truth, NumberTruth)
    assert truth.sigma == sigma


def test_what_the_official_rules_make_of_a_truth() -> None:
    for level in (1, 2):
        one, two = choice("B", level, RATES, OFFICIAL), choice("A, B", level, RATES, OFFICIAL)
        assert isinstance(one, ChoiceTruth)
        assert isinstance(two, ChoiceTruth)
        assert (one.exact, two.exact) == (True, False)
    labels, names = (
        open_truth("A, C", prompt=RATES, rules=OFFICIAL),
        open_truth("A, Red", prompt=RATES, rules=OFFICIAL),
    )
    assert isinstance(labels, RankingTruth)
    assert isinstance(names, RankingTruth)
    assert (labels.ordered, names.ordered) == (False, True)
    lone, many = open_truth("Red Kite", rules=OFFICIAL), open_truth("Red, Blue", rules=OFFICIAL)
    assert isinstance(lone, RankingTruth)
    assert isinstance(many, RankingTruth)
    assert (lone.whole, many.whole) == (True, False)
