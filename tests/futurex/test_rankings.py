"""Rankings and names to choose: order, length, partial credit, and text that is no list."""

from __future__ import annotations

from each import each
from forecasteval.futurex.answers import Answer
from forecasteval.futurex.choices import NameTruth
from forecasteval.futurex.names import read_name
from forecasteval.futurex.rankings import RankingTruth, score_ranking

TRUTH = tuple(map(read_name, ("Red", "Blue", "Green")))
RANKING = RankingTruth(TRUTH)


@each(
    ("predicted", "score", "matched"),
    [
        ("Red Blue Green", 1.0, 3),
        ("red BLUE green", 1.0, 3),
        ("Blue Red Green", 0.8, 3),
        ("Red Blue", 0.8 * (2 / 3), 2),
        ("Red Blue Green Pink", 0.8, 3),
        ("Red Red Red", 0.8 * (1 / 3), 1),
        ("Pink", 0.0, 0),
    ],
)
def test_score_ranking(predicted: str, score: float, matched: int) -> None:
    assert score_ranking(TRUTH, [read_name(text) for text in predicted.split()]) == (score, matched)


def test_an_alias_that_is_another_name_does_not_make_a_list_right() -> None:
    truth = tuple(map(read_name, ("Falcon", "Quill Falcon")))
    assert score_ranking(truth, truth)[0] == 1
    assert score_ranking(truth, truth[::-1])[0] == 0.8  # each fits the other, but in the wrong place


@each(
    ("text", "boxed", "outcome", "score", "note"),
    [
        ("Red, Blue, Green", True, "scored", 1.0, ""),
        ("Red, Blue, Green", False, "scored", 1.0, ""),
        ("Green, Blue, Red", True, "scored", 0.8, "3 of 3 matched"),
        ("Red, Blue, Green, Pink", True, "scored", 0.8, "3 of 3 matched; 4 items for 3"),
        ("I think Red, Blue, Green", False, "unparsed", 0.0, "no box, and no list of names"),
        ("–", True, "unparsed", 0.0, "no name"),
    ],
)
def test_score_of_a_list(text: str, boxed: bool, outcome: str, score: float, note: str) -> None:
    scored = RANKING.score(Answer(text, (), boxed))
    assert (scored.outcome, scored.score, scored.note) == (outcome, score, note)


@each(
    ("level", "text", "score"),
    [
        (2, "Red, Blue, Green", 1.0),
        (2, "Green, Red, Blue", 1.0),
        (2, "Red", 0.5),
        (2, "Red, Red", 0.5),
        (2, "Red, Blue, Green, Pink, Grey", 0.75),
        (2, "Pink", 0.0),
        (1, "Red, Blue, Green", 1.0),
        (1, "Red, Blue", 0.0),
    ],
)
def test_score_of_names(level: int, text: str, score: float) -> None:
    assert NameTruth(TRUTH, exact=level == 1).score(Answer(text, (), True))[:2] == (score, "scored")


def test_one_name_with_an_and_in_it() -> None:
    assert NameTruth((read_name("Salt and Pepper"),), exact=True).score(Answer("Salt and Pepper", (), True)).score == 1


def test_names_without_a_box_must_look_like_names() -> None:
    names = NameTruth(TRUTH, exact=False)
    assert names.score(Answer("I guess Red", (), False)).outcome == "unparsed"
    assert names.score(Answer(",", (), True)).outcome == "unparsed"
