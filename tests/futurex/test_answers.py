"""What counts of a raw answer: the last box, or all of it; what a model's markup leaves behind."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.common import markup
from forecasteval.common.markup import clean, last_boxed
from forecasteval.futurex.answers import Answer, question_words, read_answer

BOXES: Final = {
    "no box": ("  Red \n", "Red", False),
    "one box": (r"So \boxed{Red} it is", "Red", True),
    "fbox": (r"\fbox{Red}", "Red", True),
    "the last one": (r"\boxed{Red}, no: \boxed{Blue}", "Blue", True),
    "an empty one later": (r"\boxed{Red} \boxed{ }", "Red", True),
    "only empty ones": (r"Red \boxed{}", "", True),
    "nested braces": (r"\boxed{\text{Red {1}}}", r"\text{Red {1}}", True),
    "never closed": (r"\boxed{Red, Blue", "Red, Blue", True),
    "joined by a comma": (r"\boxed{A}, \boxed{C}", "A\nC", True),
    "joined by and": (r"\boxed{A} and \boxed{C}", "A\nC", True),
    "below each other": ("\\boxed{A}\n\\boxed{C}", "A\nC", True),
    "the same twice": (r"\boxed{A}, \boxed{A}", "A", True),
    "prose between": (r"\boxed{A} is wrong, hence \boxed{C}", "C", True),
    "a lost backslash": ("\x08oxed{Red}", "Red", True),
    # _LIST_MARK: a whole list below another is a second thought, not a longer list.
    "two lists below each other": ("\\boxed{A, B}\n\\boxed{A, C}", "A, C", True),
    "a list below a name": ("\\boxed{A}\n\\boxed{B、C}", "B、C", True),
    "Chinese lists below each other": ("\\boxed{甲和乙}\n\n\\boxed{丙}", "丙", True),
    "two lists, joined": (r"\boxed{A, B}, \boxed{C}", "A, B\nC", True),
}


@pytest.mark.parametrize(("text", "content", "boxed"), BOXES.values(), ids=BOXES)
def test_last_boxed(text: str, content: str, boxed: bool) -> None:
    assert last_boxed(text) == (content, boxed)


def test_a_text_of_nothing_but_braces_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes of braces are no answer; a handful, for the test, are too many here."""
    monkeypatch.setattr(markup, "_MAX_BRACES", 6)
    assert last_boxed(r"\boxed{A} {} {}") == ("A", True)
    assert last_boxed(r"\boxed{A} {} {} {}") == (r"\boxed{A} {} {} {}", False)


CLEANED: Final = {
    "TeX text": (r"\text{Red}", "Red"),
    "dollars": ("$46{,}300$", "46,300"),
    "stars": ("**Red**", "Red"),
    "a star that multiplies": ("3 * 10^8", "3 * 10^8"),
    "fraction": (r"\frac{1}{2}", "1/2"),
    "percent": (r"30\%", "30%"),
    "environment": (r"\begin{array}{l}Red\end{array}", "Red"),
    "line break": (r"1. Red \\ 2. Blue", "1. Red\n2. Blue"),
    "full width": ("１２％", "12%"),
    "brackets around it all": ("(Red)", "Red"),
    "brackets around two parts": ("(A), (B)", "(A), (B)"),
    "raised": ("10⁸", "10^8"),
    "white space": ("Red \t\n  Kite", "Red\nKite"),
    # _CONTROLS: what a terminal would not show must not make another name.
    "NUL": ("Red\x00Kite", "Red Kite"),
    "escape": ("\x1bRed\x1b", "Red"),
    "vertical tab": ("Red\x0bKite", "Red Kite"),
    "delete": ("46\x7f", "46"),
    "several": ("Red\x01\x02\x03Kite", "Red Kite"),
}


@pytest.mark.parametrize(("text", "wanted"), CLEANED.values(), ids=CLEANED)
def test_clean(text: str, wanted: str) -> None:
    assert clean(text) == wanted


READ: Final = {
    "text": ("Red", Answer("Red", (), False)),
    "box": (r"\boxed{ Red }", Answer("Red", (), True)),
    "number": (7, Answer("7", (), True)),
    "float": (0.5, Answer("0.5", (), True)),
    "list": (["Red", r"\boxed{Blue}", 3], Answer("Red\nBlue\n3", ("Red", "Blue", "3"), True)),
    "list of one": (["Red"], Answer("Red", (), True)),
    "list with nothing in it": ([None, ""], None),
    "nested list": ([["Red"], "Blue"], Answer("", (), True)),
    "nothing": (None, None),
    "blank": ("  ", None),
    "empty box": (r"\boxed{}", None),
    "bool": (True, Answer("", (), False)),
    "object": ({"answer": "Red"}, Answer("", (), False)),
    "infinity": (float("inf"), Answer("", (), False)),
}


@pytest.mark.parametrize(("raw", "wanted"), READ.values(), ids=READ)
def test_read_answer(raw: object, wanted: Answer | None) -> None:
    assert read_answer(raw) == wanted


def test_the_short_way_reads_what_the_long_way_reads() -> None:
    for text in (r"\boxed{A}", r"\boxed{ A }", r"\boxed{}", "\\boxed{\text{A}}", r"\boxed{A{B}", r"\boxed{A}}"):
        content, boxed = last_boxed(text)
        assert read_answer(text) == (Answer(content, (), boxed) if content else None), text


def test_question_words_end_where_the_instructions_begin() -> None:
    assert question_words("How many? IMPORTANT: in percent") == "How many? "
    assert question_words("How many?") == "How many?"
