"""What counts of a raw answer: the last box, or all of it; what a model's markup leaves behind."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.common.markup import clean, last_boxed
from forecasteval.futurex.reading.answers import Answer, parse_answer
from forecasteval.futurex.reading.language import question_words

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
    # Lost backslashes and braces
    "no backslash": ("So boxed{A}", "A", True),
    "no backslash, joined": ("boxed{A}, boxed{C}", "A\nC", True),
    "no backslash, empty": ("boxed{ } as it is", "", True),
    "a real box beside it": (r"boxed{A} \boxed{B} boxed{C}", "B", True),
    "an empty real box beside it": (r"\boxed{} boxed{C}", "", True),
    "inside a word": ("unboxed{A}", "unboxed{A}", False),
    "round": (r"\boxed(A (x))", "A (x)", True),
    "square": (r"\fbox[A]", "A", True),
    "round beside braces": (r"\boxed(A) \boxed{B}", "B", True),
    "the next token": (r"\boxed A, or not", "A", True),
    "the last of the next tokens": (r"\boxed A then \boxed 42.5.", "42.5", True),
    "nothing behind": (r"\boxed", r"\boxed", False),
    "a box without anything": ("boxed", "boxed", False),
    "a tab for a backslash": ("\\boxed{\text{A}}", r"\text{A}", True),
    "a form feed for a backslash": ("\x0cbox{A}", "A", True),
    "invisible characters": ("\\bo\u200bxed{\u2060A\ufeff}", "A", True),
    "only invisible characters": ("\\boxed{\u200b}", "", True),
}


@pytest.mark.parametrize(("text", "content", "boxed"), BOXES.values(), ids=BOXES)
def test_last_boxed(text: str, content: str, boxed: bool) -> None:
    assert last_boxed(text) == (content, boxed)


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
    "a tilde that is a space": ("Red~Kite", "Red Kite"),
    "a tilde that is a range": ("100~120", "100~120"),
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
    "invisible": ("\u200bRed\u200c\u200d \u2060Kite\ufeff", "Red Kite"),
    "hyphens": ("a\u2010b\u2011c\u2212d", "a-b-c-d"),
    "other dashes stay": ("a\u2013b\u2014c", "a\u2013b\u2014c"),
    "quotes around it all": ('"Red, Blue"', "Red, Blue"),
    "Chinese quotes around it all": ("“Red”", "Red"),
    "quotes around two parts": ('"Red", "Blue"', '"Red", "Blue"'),
    "a quote on one side": ('"Red', '"Red'),
    "book marks": ("《Red》", "《Red》"),
    "a lost backslash in a wrapper": ("\text{Red}", "Red"),
    "circled digits": ("①Red②Blue", "1.Red2.Blue"),
    "raised with a sign": ("10⁻³", "10^-3"),
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
    assert parts(parse_answer(raw)) == parts(wanted)


def parts(answer: Answer | None) -> tuple[str, tuple[str, ...], bool] | None:
    return (answer.text, answer.elements, answer.boxed) if answer else None


def test_the_short_way_reads_what_the_long_way_reads() -> None:
    for text in (
        r"\boxed{A}",
        r"\boxed{ A }",
        r"\boxed{}",
        "\\boxed{\text{A}}",
        r"\boxed{A{B}",
        r"\boxed{A}}",
    ):
        content, boxed = last_boxed(text)
        assert parts(parse_answer(text)) == ((content, (), boxed) if content else None), text


def test_question_words_end_where_the_instructions_begin() -> None:
    assert question_words("How many? IMPORTANT: in percent") == "How many? "
    assert question_words("How many?") == "How many?"
