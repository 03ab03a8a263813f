"""The picks of an answer: labels in any dress, options' texts, Yes and No; single choice and F1."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.common.markup import parse_literal
from forecasteval.futurex.reading.answers import Answer
from forecasteval.futurex.reading.choices import (
    ChoiceTruth,
    NoOption,
    Options,
    Picks,
    find_options,
    interpret_picks,
    score_picks,
)
from forecasteval.futurex.rules import score_f1


def options_of(prompt: str) -> Options:
    return Options(find_options(prompt))


THREE: Final = options_of("Who?\nA. Harbour Town\nB. Draw\nC. Lakeside, or the Hills")
YES: Final = options_of("Will it?\nA. Yes\nB. No")
BARE: Final = Options(())
LETTERS: Final = Options((), 26)
AWARD: Final = options_of("Who?\nA. Ada Lee win the prize\nB. Bo Day win the prize")
CITIES: Final = options_of("哪些？\nA. 青渚市入选首批名单\nB. 岚浦市入选首批名单")
NOT: Final = options_of("Will it?\nA. it will win\nB. it will not win")
TEAMS: Final = options_of("Who?\nA. Team B wins\nB. Team A wins")
MORE: Final = options_of("How many?\nA. 5\nB. > 5")
GOALS: Final = options_of("How many?\nA. more than 3 goals\nB. more than 5 goals")

PICKS: Final = {
    "texts without the words of all": (AWARD, "Bo Day, ada lee", ["A", "B"]),
    "Chinese texts without the signs of all": (CITIES, "岚浦市", ["B"]),
    "a part of what differs": (AWARD, "Ada", ["?ada"]),
    "the words of all": (AWARD, "win the prize", []),
    "what one of two has more": (NOT, "not", []),
    "a number in the words of all": (GOALS, "5", ["?5"]),
    "a text that begins like a quoted line": (MORE, "> 5", ["B"]),
    "a quoted text": (THREE, "> B. Draw", ["B"]),
    "a label that is another text's part": (TEAMS, "A, because they play at home", ["A"]),
    "a text's part with a label in it": (TEAMS, "Team A", ["B"]),
    "label": (THREE, "B", ["B"]),
    "small letter": (THREE, "b", ["B"]),
    "labels": (THREE, "A, C", ["A", "C"]),
    "labels side by side": (THREE, "AC", ["A", "C"]),
    "labels with spaces": (THREE, "A C", ["A", "C"]),
    "brackets": (THREE, "(B)", ["B"]),
    "a full stop": (THREE, "B.", ["B"]),
    "a word in front": (THREE, "Option B", ["B"]),
    "a Chinese word in front": (THREE, "选项B", ["B"]),
    "lead-in": (THREE, "The final answer is B", ["B"]),
    "label and text": (THREE, "B. Draw", ["B"]),
    "text": (THREE, "draw", ["B"]),
    "text and label": (THREE, "Draw (B)", ["B"]),
    "text and aside": (THREE, "Draw (most likely)", ["B"]),
    "a text with a separator": (THREE, "Lakeside, or the Hills", ["C"]),
    "label and a text with a separator": (THREE, "C. Lakeside, or the Hills", ["C"]),
    "texts": (THREE, "Draw, Lakeside, or the Hills", ["B", "C"]),
    "text and probability": (THREE, "Draw, probability 0.6", ["B"]),
    "label and probability": (THREE, "B，概率70%", ["B"]),
    "a list": (THREE, "['A', 'Draw']", ["A", "B"]),
    "past the last label": (THREE, "E", ["E"]),
    "no option": (THREE, "Zebra", ["?zebra"]),
    "a label and no option": (THREE, "A, Zebra", ["A", "?zebra"]),
    "yes": (YES, "yes", ["A"]),
    "no in Chinese": (YES, "不会", ["B"]),
    "yes with a tail": (YES, "Yes, it will", ["A"]),
    "yes, and no": (YES, "Yes, no", ["A", "B"]),
    "yes or no": (YES, "Yes or no", []),
    "yes without options": (BARE, "Yes", ["Yes"]),
    "no without options": (BARE, "否", ["No"]),
    "letters without options": (LETTERS, "A, c", ["A", "C"]),
}


@pytest.mark.parametrize(("options", "text", "wanted"), PICKS.values(), ids=PICKS)
def test_picks_in_a_box(options: Options, text: str, wanted: list[str]) -> None:
    assert interpret_picks(Answer(text, parse_literal(text), True), options) == picks(*wanted)


def picks(*tokens: str) -> Picks:
    """Make picks; those with a question mark in front are no options."""
    return frozenset([NoOption(token[1:]) if token[0] == "?" else token for token in tokens])


def test_labels_beyond_letters_are_taken_as_they_stand() -> None:
    many = options_of("Who?" + "".join(f"\n{chr(65 + n)}. Player {n + 1}" for n in range(40)))
    assert interpret_picks(Answer("`, \\, b", (), True), many) == picks("`", "\\", "b")
    assert interpret_picks(Answer("B, b", (), True), many) == picks("B", "b")


def test_single_choice_is_all_or_nothing() -> None:
    assert score_picks(picks("A"), picks("A"), exact=True) == 1
    assert score_picks(picks("A", "B"), picks("A"), exact=True) == 0
    assert score_picks(picks("A"), picks("A", "B"), exact=True) == 0
    assert score_picks(picks("A", "?zebra"), picks("A"), exact=True) == 0


def test_unknown_picks_are_wrong_ones() -> None:
    assert score_picks(picks("A", "?zebra"), picks("A"), exact=False) == pytest.approx(2 / 3)
    assert (
        score_picks(picks("A", "?zebra"), picks("A", "?zebra"), exact=False) == 1.0
    )  # a truth outside the options
    assert score_picks(picks("?zebra"), picks("A"), exact=False) == 0.0


@pytest.mark.parametrize(
    ("matched", "picks", "truths", "score"),
    [(2, 2, 2, 1.0), (1, 2, 2, 0.5), (1, 1, 3, 0.5), (0, 4, 2, 0.0)],
)
def test_f1(matched: int, picks: int, truths: int, score: float) -> None:
    assert score_f1(matched, picks, truths) == score


@pytest.mark.parametrize(
    ("level", "text", "boxed", "outcome", "score"),
    [
        (1, "A", True, "scored", 0.0),
        (2, "A", True, "scored", 2 / 3),
        (2, "A, B", True, "scored", 1.0),
        (1, "B, A", True, "scored", 1.0),
        (2, "A, A", True, "scored", 2 / 3),
        (2, "A, B, Zebra", True, "scored", 0.8),
        (2, "Zebra", True, "unparsed", 0.0),
        (2, "A, Zebra", False, "unparsed", 0.0),
        (2, "A, B", False, "scored", 1.0),
    ],
)
def test_score_choice(level: int, text: str, boxed: bool, outcome: str, score: float) -> None:
    scored = ChoiceTruth(THREE, picks("A", "B"), exact=level == 1).score(Answer(text, (), boxed))
    assert (scored.outcome, scored.score) == (outcome, score)
