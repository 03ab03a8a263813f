"""When two names are the same, and how many of a list are found in another."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.futurex.reading.names import (
    EXACT,
    LONG,
    NONE,
    SAME,
    SHORT,
    NameStyle,
    compare_names,
    find_sides,
    find_style,
    fold,
    match_names,
    parse_name,
)
from forecasteval.futurex.reading.wording import Wording

ALIKE: Final = {  # true name, predicted name
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


def likeness(true: str, predicted: str) -> int:
    """By the fronts of dashes or by their ends, whichever is stronger."""
    names = parse_name(true), parse_name(predicted)
    return max(compare_names(*names, side) for side in ("front", "end"))


LIKENESS: Final = {
    "exact": ("Red Kite", "red kite", EXACT),
    "punctuation": ("Moth-Man: The Night", "Mothman - The Night", SAME),
    "and": ("Salt & Pepper", "Salt and Pepper", SAME),
    "a point between digits stays": ("Vela 3.5", "Vela 35", NONE),
    "other marks stay": ("Model 3+", "Model 3", NONE),
    "the end of a number": ("5 Turbo", "Vela 3.5 Turbo", NONE),
    "a country in brackets": ("Marek Solberg", "Marek Solberg (NOR)", SAME),
    "two brackets": ("Marek Solberg", "Marek Solberg (NOR) (3)", SAME),
    "one of two brackets": ("Song (Live)", "Song (Live) (2025)", SAME),
    "brackets on both sides": ("Dune (1984)", "Dune (2021)", NONE),
    "a longer name with brackets": ("Islanders", "York Islanders (NYI)", LONG),
    "a surname with brackets": ("Marek Solberg", "Solberg (Norway)", SHORT),
    "brackets of the truth": ("Hold the Line (Ann)", "Other Song - Ann", NONE),
    "brackets of the truth behind a dash": ("Song (Ann)", "Ann - Song", SAME),
    "in brackets": ("Marek Solberg", "Ugo Hart (Marek Solberg)", NONE),
    "within a word with a hyphen": ("Man", "Moth-Man", NONE),
    "a slash": ("Marek Solberg", "Ugo Hart/Marek Solberg", NONE),
    "an owner": ("owner/repo", "repo", SHORT),
    "a platform": ("owner/repo", "GitHub: owner/repo", LONG),
    "an initial": ("Novak Djokovic", "N. Djokovic", SHORT),
    "an initial of the truth": ("N. Djokovic", "Novak Djokovic", LONG),
    "an initial and a country": ("Rory McIlroy", "R. McIlroy (NIR)", SHORT),
    "an initial behind": ("Novak Djokovic", "Djokovic N.", SHORT),
    "another initial": ("Novak Djokovic", "M. Djokovic", NONE),
    "a bracket that is cut": ("红(蓝)海", "蓝)海", NONE),
    "three characters in front": ("新华社银河", "银河", SHORT),
    "more characters in front than are left": ("中国人民银河", "银河", NONE),
    "an article": ("Amazing Train", "A Train", NONE),
    "an article with a mark": ("Amazing Train!", "A-Train", NONE),
    "an initial alone": ("Novak (Tennis)", "N.", NONE),
}


@pytest.mark.parametrize(("true", "predicted", "wanted"), LIKENESS.values(), ids=LIKENESS)
def test_likeness(true: str, predicted: str, wanted: int) -> None:
    assert likeness(true, predicted) == wanted


@pytest.mark.parametrize(
    ("predicted", "wanted"), [("SEREMES Jonathan", SAME), ("Seremes Jonathan", NONE)]
)
def test_surname_first(predicted: str, wanted: int) -> None:
    assert likeness("Jonathan Seremes", predicted) == wanted  # Blue Moon is not Moon Blue


def test_side_of_dashes() -> None:
    """Behind the dash of a film's title stands its subtitle."""
    films, songs = Wording("Which movies lead?"), Wording("Which songs of the film lead?")
    dashed, plain = parse_name("Red Kite - Ann"), parse_name("Blue")
    assert find_sides([dashed], songs) == find_sides([dashed, dashed], films) == ("front", "end")
    assert find_sides([dashed], films) == find_sides([dashed, plain], films) == ("end",)
    assert find_sides([plain], films) == ("front",)
    assert find_style("谁会是冠军?") == NameStyle(titles=False, subtitles=False)


@pytest.mark.parametrize(("true", "predicted"), ALIKE.values(), ids=ALIKE)
def test_same_name(true: str, predicted: str) -> None:
    assert likeness(true, predicted)


@pytest.mark.parametrize(("true", "predicted"), DIFFERENT.values(), ids=DIFFERENT)
def test_different_names(true: str, predicted: str) -> None:
    assert not likeness(true, predicted)


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
    """How many true names are found."""
    matches = match_names(list(map(parse_name, truth)), list(map(parse_name, predicted)))
    assert len(set(matches.values())) == len(matches)
    return len(matches)


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


def test_a_surname_first_is_the_same_person() -> None:
    assert matched(["Jonathan Seremes", "Ugo Hart"], ["SEREMES Jonathan", "Hart Ugo"]) == 1


def test_a_long_name_that_begins_with_another_one_means_nothing() -> None:
    assert matched(["Falcon", "Quill"], ["Quill Falcon"]) == 0


def test_its_own_place_among_equals() -> None:
    names = [parse_name(text) for text in ("Ann Fox", "Bo Fox")]
    assert match_names([parse_name("Fox")] * 2, names) == {0: 0, 1: 1}
