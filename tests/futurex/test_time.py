"""Answers, truths, prompts and names take linear time, whatever is written in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from cli import asked, box
from eval import FutureXEvaluator
from forecasteval.common.errors import InputError
from forecasteval.common.markup import MAX_SPAN
from forecasteval.futurex.reading.names import compare_names, parse_name
from kinds import KINDS
from linear import GROWTH, assert_linear

LONG: Final = 5_000  # and eight times that: texts of any length
SPAN: Final = MAX_SPAN // GROWTH  # eight times that is the longest answer that is read at all
EVALUATOR: Final = FutureXEvaluator()


def repeated(pattern: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + pattern * (size // len(pattern)) + after


def boxed(pattern: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return repeated(pattern, r"\boxed{" + before, after + "}")


# name, size, kind of question, text of that size; the whole table runs as answers
ANSWERS: Final[list[tuple[str, int, str, Callable[[int], str]]]] = [
    ("boxes that never close", LONG, "one option", repeated(r"\boxed{")),
    ("sentences in one line", LONG, "one option", repeated("。")),
    ("statements in one line", LONG, "one option", repeated("答案是。")),
    ("values, each alone on a line", SPAN, "one option", repeated("A\n", "x\n")),
    ("closed boxes", LONG, "some options", repeated(r"\boxed{A}")),
    ("joined boxes", LONG, "some options", repeated(r"\boxed{A}, ")),
    ("joined boxes of names", LONG, "ranking", repeated("\\boxed{a}、\n")),
    ("empty boxes", LONG, "number", repeated(r"\boxed{}")),
    ("boxes in boxes", LONG, "number",
     lambda size: r"\boxed{" * (size // 8) + "1" + "}" * (size // 8)),
    ("blanks in front of a brace", LONG, "number", repeated(" ", "1. ", "1`}")),
    ("open braces", LONG, "number", repeated("{", after=r"\boxed{5}")),
    ("closing braces", LONG, "number", repeated("}", after=r"\boxed{5}")),
    ("spaces between boxes", LONG, "one option", repeated(" ", r"\boxed{A}", r"\boxed{B}")),
    ("commas between boxes", LONG, "one option", repeated(", ", r"\boxed{A}", r"\boxed{B}")),
    ("stars around a box", LONG, "one option", repeated("*", "", r"\boxed{B}")),
    ("lost backslashes", LONG, "one option", repeated("\x08oxed{", after="}")),
    ("backspaces", LONG, "one option", repeated("\x08", after="oxed{B}")),
    ("backslashes", LONG, "one option", repeated("\\", after="boxed{B}")),
    ("prose without a box", LONG, "ranking", repeated("word ")),
    ("names without a box", SPAN, "ranking", repeated("Red. b, ")),
    ("sentences on one line", LONG, "some options", repeated("1. ")),
    ("clauses on one line", LONG, "some options", repeated("— ")),
    ("words without a box", SPAN, "some names", repeated("will ")),
    ("commas without a box", LONG, "ranking", repeated(",")),
    ("a number of megabytes", LONG, "number", repeated("9")),
    ("digits in a box", SPAN, "number", boxed("9")),
    ("groups of three", SPAN, "number", boxed("123,")),
    ("groups with spaces", SPAN, "number", boxed("123 ")),
    ("groups of two", SPAN, "number", boxed("12,", after="345")),
    ("signs", SPAN, "number", boxed("-", after="5")),
    ("spaces before a digit", SPAN, "number", boxed(" ", "$", "5x")),
    ("scale words", SPAN, "number", boxed("hundred ", "5 ", "x")),
    ("scale characters", SPAN, "number", boxed("万", "5", "x")),
    ("parts that add", SPAN, "number", boxed("1亿2万")),
    ("ranges", SPAN, "number", boxed("1-2-")),
    ("powers", SPAN, "number", boxed("10^")),
    ("errors", SPAN, "number", boxed("± 5 ")),
    ("about", SPAN, "number", boxed("about ", after="x 5")),
    ("open brackets before numbers", SPAN, "number", boxed("(1 ")),
    ("open square brackets", SPAN, "number", boxed("[1 ")),
    ("dates", SPAN, "number", boxed("Jan 1, ")),
    ("months", SPAN, "number", boxed("Jan", after="1")),
    ("a word and a digit", SPAN, "number", boxed("a", after="-1")),
    ("letters and dashes", SPAN, "number", boxed("a1-")),
    ("out of", SPAN, "number", boxed("out of ", after="5")),
    ("spaced units", SPAN, "number", boxed(" ", "5", "yuan")),
    ("labels in a ranking", SPAN, "ranking", boxed("1. ")),
    ("counted labels", SPAN, "ranking", boxed("1. a 2. b ")),
    ("Chinese labels", SPAN, "Chinese ranking", boxed("第1名")),
    ("enumerations", SPAN, "Chinese ranking", boxed("731、")),
    ("labels that might start a name", SPAN, "Chinese ranking", boxed("300. a, ")),
    ("open brackets in names", SPAN, "ranking", boxed("(a")),
    ("open quotes in names", SPAN, "ranking", boxed('"a')),
    ("open Chinese quotes", SPAN, "ranking", boxed("《")),
    ("bracket pairs", SPAN, "ranking", boxed("(a)")),
    ("and", SPAN, "ranking", boxed("a and ", "b, ")),
    ("authors", SPAN, "ranking", boxed("a by ")),
    ("dashes", SPAN, "ranking", boxed(" - ", "a")),
    ("names of one character", SPAN, "ranking", boxed("a,")),
    ("many suffixes", SPAN, "ranking", boxed("x falcon, ")),
    ("spaces in a name", SPAN, "ranking", boxed(" ", "a", "b")),
    ("CJK and spaces", SPAN, "Chinese ranking", boxed("甲 ")),
    ("dots", SPAN, "ranking", boxed(".", "a", "b")),
    ("labels", SPAN, "some options", boxed("A,")),
    ("glued labels", SPAN, "some options", boxed("A")),
    ("option words", SPAN, "some options", boxed("option ")),
    ("parts of an option", SPAN, "some options", boxed("At least 2.00%, ")),
    ("lead-ins", SPAN, "one option", boxed("the most likely ", "the final ")),
    ("spaces between labels", SPAN, "34 options", boxed(" ", "A", "B")),
    ("spaces before a comma", SPAN, "34 options", boxed(" ", "A", ",")),
    ("yes", SPAN, "yes or no", boxed("yes ")),
    ("names to choose", SPAN, "some names", boxed("red foxes, ")),
    ("dollars", SPAN, "number", boxed("$")),
    ("dollars in pairs", SPAN, "number", boxed("$a")),
    ("commands", SPAN, "number", boxed("\\text{", after="5")),
    ("tildes", SPAN, "number", boxed("5~")),
    ("a literal that breaks", SPAN, "ranking", boxed("'a', ", "[", "]")),
    ("escapes in a literal", SPAN, "ranking", boxed("\\", "['", "']")),
    ("boxes without backslashes", LONG, "one option", repeated("boxed{")),
    ("closed boxes without backslashes", LONG, "some options", repeated("boxed{A}, ")),
    ("round boxes", LONG, "one option", repeated(r"\boxed(")),
    ("square boxes", LONG, "one option", repeated(r"\boxed[A], ")),
    ("bare boxes", LONG, "one option", repeated(r"\boxed ")),
    ("spaces behind a bare box", LONG, "one option", repeated(" ", r"\boxed", "A")),
    ("invisible characters", LONG, "one option", repeated("\u200b", r"\boxed{", "B}")),
    ("odd hyphens", SPAN, "number", boxed("\u2010", after="5")),
    ("asides", SPAN, "one option", boxed("(a) ", "B ")),
    ("asides that never close", SPAN, "one option", boxed("(", "B ")),
    ("asides in square brackets", SPAN, "one option", boxed("[", "B ", "]")),
    ("reasons", SPAN, "one option", boxed("so ", "B, because ")),
    ("reasons with commas", SPAN, "one option", boxed("so, ", "B, because ")),
    ("reasons in Chinese", SPAN, "one option", boxed("因为", "B，")),
    ("spaces behind a reason's comma", SPAN, "one option", boxed(" ", "B,", "so it is now")),
    ("plus signs", SPAN, "34 options", boxed(" + ", "A", "`")),
    ("and past Z", SPAN, "34 options", boxed(" and ", "A", "`")),
    ("以及 past Z", SPAN, "34 options", boxed("以及", "A", "`")),
    ("a wrapper past Z", SPAN, "34 options", boxed("A；", r"\text{", "}")),
    ("open wrappers past Z", SPAN, "34 options", boxed(r"\text{", "A, ")),
    ("dollars past Z", SPAN, "34 options", boxed("$A, ")),
    ("dashes of an option", SPAN, "some options", boxed(" – ", "At least 2.00%")),
    ("spaces around a dash", SPAN, "some options", boxed(" ", "Less", "- than")),
    ("titles side by side", SPAN, "ranking", boxed("《a》")),
    ("spaces between titles", SPAN, "ranking", boxed(" ", "《a》", "《b》")),
    ("arrows", SPAN, "ranking", boxed("a > ")),
    ("arrows without names", SPAN, "ranking", boxed("->")),
    ("brackets with numbers", SPAN, "ranking", boxed("（1）a ")),
    ("Chinese ordinals", SPAN, "Chinese ranking", boxed("第一名：a，")),
    ("ordinals without names", SPAN, "Chinese ranking", boxed("第十")),
    ("以及 in a list", SPAN, "Chinese ranking", boxed("a以及", "b、")),
    ("a true name of separators", SPAN, "a comma in a name", boxed("Paper, Ink, ")),
    ("parts of a true name", SPAN, "a comma in a name", boxed("Paper, ")),
    ("accents", SPAN, "ranking", boxed("é")),
    ("combining accents", SPAN, "ranking", boxed("\u0301", "e")),
    ("slashes", SPAN, "ranking", boxed("a/b ")),
    ("words before a repository", SPAN, "ranking", boxed("a: ", after="b/c")),
    ("abbreviations without a box", SPAN, "ranking", repeated("Mrs. ")),
    ("exclamations without a box", SPAN, "ranking", repeated("Ah! ", after=", b")),
    ("quotes around it all", SPAN, "ranking", boxed('"')),
    ("numerals", SPAN, "number", boxed("百")),
    ("numerals that add", SPAN, "number", boxed("一亿二万")),
    ("zeros", SPAN, "number", boxed("零")),
    ("decimals", SPAN, "number", boxed("一点")),
    ("百分之", SPAN, "number", boxed("百分之")),
    ("ordinals before numerals", SPAN, "number", boxed("第十二")),
    ("numerals with units", SPAN, "number", boxed("十五家 ")),
    ("errors in percent", SPAN, "number", boxed("5 ± 2% ")),
    ("quarters", SPAN, "number", boxed("Q2 2026 ")),
    ("quarters in Chinese", SPAN, "number", boxed("第二季度")),
    ("years without a quarter", SPAN, "number", boxed("2026 ")),
    ("prices per", SPAN, "number", boxed("per 100 ")),
    ("每", SPAN, "number", boxed("每100")),
    ("basis points", SPAN, "percent", boxed("25 bps ")),
    ("refusals", SPAN, "number", boxed("cannot predict a ")),
    ("shares", SPAN, "one option", boxed("B: 1%, ")),
    ("marks before a share", SPAN, "yes or no", boxed(":", "Yes, No", "4%")),
    ("labels with points", SPAN, "some options", boxed("A. ")),
    ("labels in brackets", SPAN, "some options", boxed("(A) ")),
    ("a range of labels", SPAN, "some options", boxed(" ", "A -", "B")),
    ("confidence", SPAN, "one option", boxed(", confidence", "B", "9")),
    ("brackets in brackets", SPAN, "some options", boxed("(a(b)", "A ")),
    ("wrapped labels past Z", SPAN, "34 options", boxed("**[**, ")),
    ("sides", SPAN, "two sides", boxed("Red over Blue ")),
    ("a score between sides", SPAN, "two sides", boxed(" 4-2", "Red", " Blue")),
    ("denied boxes", LONG, "one option", repeated(r"not \boxed{A} ")),
    ("entities", SPAN, "ranking", boxed("&amp;")),
    ("open entities", SPAN, "ranking", boxed("&#", after=";")),
    ("citations", SPAN, "ranking", boxed("【1†a】")),
    ("open citations", SPAN, "ranking", boxed("【†")),
    ("references", SPAN, "ranking", boxed("a [1] ")),
    ("links", SPAN, "ranking", boxed("[a](http:(b)")),
    ("open links", SPAN, "ranking", boxed("([a](www.")),
    ("emoji", SPAN, "ranking", boxed("🦊 ")),
    ("line breaks of HTML", SPAN, "ranking", boxed("<br>a")),
    ("quads", SPAN, "ranking", boxed("a) \\quad ")),
    ("scales in a font", SPAN, "number", boxed("\\, \\mathrm{", "5")),
    ("falls", SPAN, "change", boxed("down by about ", after="5")),
    ("falls behind", SPAN, "change", boxed("5% decline ")),
    ("marks of falls", SPAN, "change", boxed("▼▽5")),
    ("units that a price is per", SPAN, "number", boxed("per 100 units of a ")),
    ("words that a price is per", SPAN, "number", boxed("for 100 british ")),
    ("from", SPAN, "number", boxed("5, down 4% from ")),
    ("and between all names", SPAN, "ranking", boxed("a and ")),
    ("words in front of a name", SPAN, "ranking", boxed("no 1 ", after="Vandermoss")),
    ("initials", SPAN, "ranking", boxed("a ", "(", ") Sunrise")),
    ("spaces before basis points", SPAN, "percent", boxed(" ", "25", "basis points")),
]  # fmt: skip
ALL_KINDS: Final = {
    **KINDS,
    "two sides": asked(1, "['Red']", prompt="Red vs. Blue (on Monday)"),
    "change": asked(4, "-5%", std=1.0, prompt="What will be the change?"),
    "a comma in a name": asked(3, "['Paper, Ink', 'Owls, Inc.', 'Red']"),
}
# pattern, level, Std: texts of any length as truths, answered with a short box
TRUTHS: Final = [
    ("Red, ", 3, None), ("1. Red 2. Blue ", 3, None), ("(", 3, None), ('"a', 3, None),
    ("《", 3, None),
    ("a and ", 3, None), ("a by ", 3, None), (" - ", 3, None), ("731、", 3, None), ("甲 ", 3, None),
    ("300. a, ", 3, None),
    ("9", 4, 5.0), ("123 ", 4, 5.0), ("Jan 1 ", 4, 5.0), ("(1 ", 4, 5.0), ("a1-", 4, 5.0),
    ("12,", 4, 5.0),
    ("1亿2万", 4, 5.0), ("hundred ", 4, 5.0), ("-", 4, 5.0), (" ", 4, 5.0), ("$ ", 4, 5.0),
    ("1-2-", 4, 5.0),
    ("a", 4, 5.0), ("百", 4, 5.0), ("一亿二万", 4, 5.0), ("十五家 ", 4, 5.0), ("Q2 2026 ", 4, 5.0),
    ("每100", 4, 5.0),
    ("《a》", 3, None), ("a > ", 3, None), ("（1）a ", 3, None), ("第一名：a，", 3, None),
    ("é", 3, None),
    ("a/b ", 3, None),
    ("A,", 2, None), ("A", 1, None), ("\\boxed{", 1, None), ("the final ", 1, None),
    ("'a', ", 3, None),
]  # fmt: skip
PROMPTS: Final = [
    ("\nA. x\nB. y", 2), ("in ", 4), ("in hundreds of ", 4), ("rank 6 ", 3), ("第 ", 3),
    ("多少", 4), ("A. | ", 1),
    ("\n", 1), ("rank from 1 to ", 3), ("in units of ten ", 4), ("1 ", 3), ("单位: ", 4),
    ("a vs. ", 1), (" v", 1), ("\\boxed{a} or ", 1), ("grow or fall ", 4),
    ("on millions ", 4), ("on % ", 4), ("(million ", 4),
]  # fmt: skip
NAME_PATTERNS: Final = (
    *("é", "e\u0301", "a/", "a: ", "A By "),
    *(
        "a",
        "a ",
        "甲 ",
        " ",
        "(a",
        "(a)",
        "a by ",
        "a - ",
        "@",
        ".",
        "《",
        "-",
        "a.",
        "İ",
        "[a] ",
        "【",
    ),
)


@pytest.mark.parametrize(
    ("size", "kind", "text"), [pytest.param(*row, id=name) for name, *row in ANSWERS]
)
def test_answers_take_linear_time(size: int, kind: str, text: Callable[[int], str]) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        answer = text(length if size > SPAN else length - 40)
        return lambda: EVALUATOR.evaluate_prediction(answer, ALL_KINDS[kind])

    assert_linear(make, size)


@pytest.mark.parametrize(("pattern", "level", "std"), TRUTHS)
def test_truths_take_linear_time(pattern: str, level: int, std: float | None) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        row = asked(level, repeated(pattern, after="5 Red")(length), None, std, f"run {run}")

        def work() -> object:
            try:
                return EVALUATOR.evaluate_prediction(box("Red"), row)
            except InputError as error:
                return error

        return work

    assert_linear(make, LONG)


@pytest.mark.parametrize(("pattern", "level"), PROMPTS)
def test_prompts_take_linear_time(pattern: str, level: int) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        truth = {1: "A", 2: "A, B", 3: "Red, Blue and Green", 4: "5"}[level]
        row = asked(
            level,
            truth,
            None,
            1.0 if level == 4 else None,
            repeated(pattern, f"run {run} ")(length),
        )
        return lambda: EVALUATOR.evaluate_prediction(box("A, Red and Blue"), row)

    assert_linear(make, LONG)


@pytest.mark.parametrize("pattern", NAME_PATTERNS)
def test_names_take_linear_time(pattern: str) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        long = repeated(pattern, after=f"{run}z")(length)
        return lambda: [
            compare_names(parse_name(long), parse_name(other))
            for other in ("z", long[1:], "甲" + long)
        ]

    assert_linear(make, LONG)
