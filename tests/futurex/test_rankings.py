"""Rankings and names to choose: order, length, partial credit, and text that is no list."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.futurex.reading.answers import Answer, parse_answer
from forecasteval.futurex.reading.lists import (
    item_count,
    looks_like_names,
    parse_items,
    split_items,
)
from forecasteval.futurex.reading.names import parse_name
from forecasteval.futurex.reading.rankings import NameTruth, RankingTruth
from forecasteval.futurex.reading.wording import NO_WORDING, Wording

TRUTH = tuple(map(parse_name, ("Red", "Blue", "Green")))
RANKING = RankingTruth(TRUTH)


@pytest.mark.parametrize(
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
    scored = RANKING.compare([parse_name(text) for text in predicted.split()])
    assert scored.score == pytest.approx(score)
    assert scored.note.partition(";")[0] == ("" if score == 1 else f"{matched} of 3 matched")


def test_an_alias_that_is_another_name_does_not_make_a_list_right() -> None:
    truth = tuple(map(parse_name, ("Falcon", "Quill Falcon")))
    assert RankingTruth(truth).compare(truth).score == 1
    assert RankingTruth(truth).compare(truth[::-1]).score == 0.8  # each fits, but elsewhere


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    assert (
        NameTruth((parse_name("Salt and Pepper"),), exact=True)
        .score(Answer("Salt and Pepper", (), True))
        .score
        == 1
    )


def test_names_without_a_box_must_look_like_names() -> None:
    names = NameTruth(TRUTH, exact=False)
    assert names.score(Answer("I guess Red", (), False)).outcome == "unparsed"
    assert names.score(Answer(",", (), True)).outcome == "unparsed"


# --- Lists of names in one text ---


SPLITS: Final = {
    "commas": ("Red, Blue", ["Red", "Blue"]),
    "Chinese marks": ("甲、乙、丙", ["甲", "乙", "丙"]),
    "lines": ("Red\nBlue", ["Red", "Blue"]),
    "empty parts": ("Red,, Blue,", ["Red", "Blue"]),
    "in brackets": ("Sunrise (The Games, #0.5), Blue", ["Sunrise (The Games, #0.5)", "Blue"]),
    "in quotes": ('"Red, Blue", Green', ['"Red, Blue"', "Green"]),
    "in Chinese quotes": ("《红、蓝》、绿", ["《红、蓝》", "绿"]),
    "labels": ("1. Red 2. Blue", ["Red", "Blue"]),
    "labels with brackets": ("1) Red 2) Blue", ["Red", "Blue"]),
    "ranks": ("6th: Red 7th: Blue", ["Red", "Blue"]),
    "Chinese ranks": ("第6名:甲,第7名:乙", ["甲", "乙"]),
    "named ranks": ("Rank 3: Red, Rank 4: Blue", ["Red", "Blue"]),
    "ranks out of order": ("2. Blue, 1. Red", ["Red", "Blue"]),
    "names that are numbers": ("731, 300", ["731", "300"]),
    "a name with a number": ("Frozen 2, Model 3", ["Frozen 2", "Model 3"]),
    "a version": ("Claude 3.7, Red", ["Claude 3.7", "Red"]),
    "a title with a comma": ("1. Red, White\n2. Blue", ["Red, White", "Blue"]),
    "a title with a colon": ("300: Rise, Red", ["300: Rise", "Red"]),
    "a label's look-alike where commas separate": (
        "1. Ocean 2. The Return, 2. Blue",
        ["Ocean 2. The Return", "Blue"],
    ),
    # _BULLET
    "dashes": ("- Red\n- Blue", ["Red", "Blue"]),
    "bullets": ("• Red\n• Blue", ["Red", "Blue"]),
    "long dashes": ("— Red\n– Blue", ["Red", "Blue"]),
    "bullets in bullets": ("- • Red, - Blue", ["Red", "Blue"]),
    "bullets and labels": ("- 1. Red\n- 2. Blue", ["Red", "Blue"]),
    "a dash inside": ("Red - Blue, Green", ["Red - Blue", "Green"]),
    # _TRAILING_AND
    "and before a label": ("1. Red and 2. Blue", ["Red", "Blue"]),
    "ampersand before a label": ("1. Red & 2. Blue", ["Red", "Blue"]),
    "and before a rank": ("6th: Red and 7th: Blue", ["Red", "Blue"]),
    "AND before a label": ("1) Red AND 2) Blue", ["Red", "Blue"]),
    "a name that ends like and": ("1. Legrand 2. Blue", ["Legrand", "Blue"]),
}


@pytest.mark.parametrize(("text", "wanted"), SPLITS.values(), ids=SPLITS)
def test_split_items(text: str, wanted: list[str]) -> None:
    assert split_items(text) == wanted


COUNTS: Final = {
    "Which will be ranked from 6 to 8?": 3,
    "Which will be ranked #4 through #5?": 2,
    "Which will rank 10-12?": None,
    "Which will rank 10 - 12?": 3,
    "The top 3 films?": 3,
    "The top 10, ranked from 2 to 4?": 3,
    "前3名是谁？": 3,
    "前五大": 5,
    "第4到6名": 3,
    "第4名至第9名": 6,
    "Who? IMPORTANT: name the top 5": None,
    "Who wins?": None,
}


@pytest.mark.parametrize("prompt", COUNTS)
def test_item_count(prompt: str) -> None:
    assert Wording(prompt).ask(item_count) == COUNTS[prompt]


ITEMS: Final = {
    "a final and": ("Red, Blue and Green", None, (), ["Red", "Blue", "Green"]),
    "a leading and": ("Red, Blue, and Green", None, (), ["Red", "Blue", "Green"]),
    "enough without it": ("Red, Blue and Green", 2, (), ["Red", "Blue and Green"]),
    "a known name": ("Red, Blue and Green", None, ("blue and green",), ["Red", "Blue and Green"]),
    "a known part": (
        "Red, Salt and Pepper and Blue",
        None,
        ("salt and pepper",),
        ["Red", "Salt and Pepper", "Blue"],
    ),
    "two where two are asked for": ("Red and Blue", 2, (), ["Red", "Blue"]),
    "one where one is asked for": ("Red and Blue", 1, (), ["Red and Blue"]),
    "Chinese": ("甲、乙和丙", None, (), ["甲", "乙", "丙"]),
    "Chinese where one is asked for": ("甲、乙和丙", 1, (), ["甲", "乙", "丙"]),
    "a lone name parted by blanks": ("甲 乙 丙", 3, (), ["甲", "乙", "丙"]),
}


@pytest.mark.parametrize(("text", "count", "known", "wanted"), ITEMS.values(), ids=ITEMS)
def test_read_items(
    text: str, count: int | None, known: tuple[str, ...], wanted: list[str]
) -> None:
    names = parse_items(Answer(text, (), True), NO_WORDING, count, frozenset(known))
    assert [name.text for name in names] == wanted


def test_elements_of_a_list_are_never_split() -> None:
    assert [
        name.text for name in parse_items(Answer("", ("Red, Blue and Green", "–", "7"), True))
    ] == [
        "Red, Blue and Green",
        "7",
    ]
    answer = parse_answer("['Salt, Pepper', '1. Red']")
    assert answer is not None
    assert [name.text for name in parse_items(answer)] == [
        "Salt, Pepper", "1. Red",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Red, Blue", True),
        ("St. Kilda, Sarah J. Maas", True),
        ("1. Red\n2. Blue", True),
        ("I think Red", False),
        ("Red will win", False),
        ("Red won last time. We take Blue", False),
        ("红队。蓝队", False),
        ("One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve", True),
        ("One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen", False),
        ("甲" * 33, True),
        ("甲" * 34, False),
        ("Red, " * 401, False),
    ],
)
def test_looks_like_names(text: str, names: bool) -> None:
    assert looks_like_names(text) is names
