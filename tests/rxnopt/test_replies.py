"""Replies: the one index that is stated, or a report why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.rxnopt.replies import parse_reply
from linear import assert_linear
from rxnopt_tables import CASES, Record

MORE: Final = json.loads((CASES / "rxnopt_more.json").read_text(encoding="utf-8"))


REPLIES: Final = json.loads((CASES / "rxnopt_replies.json").read_text(encoding="utf-8"))


OPENINGS: Final = json.loads((CASES / "rxnopt_openings.json").read_text(encoding="utf-8"))


PLAIN: Final = json.loads((CASES / "rxnopt_plain.json").read_text(encoding="utf-8"))


def test_the_tables_of_cases_are_not_empty() -> None:
    assert sum(case["expected"] is None for case in REPLIES) > 209
    assert len(MORE["replies"]) > 10
    assert len(OPENINGS["openings"]) == 22
    assert len(OPENINGS["reasoned"]) == 60
    assert len(OPENINGS["everyday"]) == 29
    assert len(PLAIN["replies"]) > 800
    assert len(PLAIN["reasoned"]) > 50
    assert len(PLAIN["taken back"]) > 45
    assert len(PLAIN["runner-up"]) > 35


@pytest.mark.parametrize("case", MORE["replies"])
def test_replies(case: Record) -> None:
    assert parse_reply(case["reply"]) == (case.get("index"), case.get("note", ""))


@pytest.mark.parametrize("case", REPLIES)
def test_replies_are_read_or_reported(case: Record) -> None:
    index, note = parse_reply(case["reply"])
    assert index == case["expected"]
    assert bool(note) == (index is None)


@pytest.mark.parametrize("ending", OPENINGS["endings"])
@pytest.mark.parametrize("opening", OPENINGS["openings"])
def test_no_opening_discards_the_answer(opening: str, ending: str) -> None:
    assert parse_reply(opening + ending) == (2, "")


@pytest.mark.parametrize("case", OPENINGS["reasoned"])
def test_reasoned_replies(case: Record) -> None:
    assert parse_reply(case["reply"]) == (case["expected"], "")


@pytest.mark.parametrize("case", OPENINGS["everyday"])
def test_everyday_replies(case: Record) -> None:
    assert parse_reply(case["reply"])[0] == case["expected"]


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_replies_as_models_write_them(kind: str) -> None:
    """Written without the rules in mind; in a third of them nothing is chosen."""
    read = [(parse_reply(case["reply"])[0], case["reply"]) for case in PLAIN[kind]]
    assert read == [(case["expected"], case["reply"]) for case in PLAIN[kind]]


@pytest.mark.parametrize(
    "reply",
    [
        "Let me think.\n\n1. Cs2CO3 is a stronger base",
        "Let me think.\n1.",
        "The options are\n1. THF\n2.",
        "Option 0: THF\nOption 1: DMF\nOption 2",
        "I compare:\n- Option 0\n- Option 1",
        "I compare them.\n\n### Option 0",
        "Analysis:\n\n**Option 1**",
        "I go through them.\n\n**Option 1",
        "## Option 0\nWeak base.\n## Option 1\nStrong",
        "**Option 0**\nWeak base.\n**Option 1**\nStrong base.\nThen",
        "1) The base",
        "1. **Option 0**: weak base.\n2. **Option 1**",
        "(0) THF is polar\n(1) DMF",
        "**0**: THF\n**1**",
        "**Option 0**\n- THF\n- polar\n\n**Option 1",
        "| 0 | THF |\n| 1 | DMF |\n| 2",
    ],
)
def test_a_reply_cut_in_a_list_is_unread(reply: str) -> None:
    assert parse_reply(reply)[0] is None


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())))
def test_any_reply_gives_an_index_or_a_note(reply: object) -> None:
    index, note = parse_reply(reply)
    assert (index is None) == (note != "")
    assert index is None or index >= 0


@pytest.mark.parametrize(
    "piece",
    [
        " ",
        "a,",
        "5-",
        "(",
        "3a (",
        "r",
        "95:",
        "[a",
        "<sup>",
        "5 or ",
        "option 5 ",
        "\\u",
        "entry 3, 3 ",
        "the first option ",
        "index ",
        "if ",
        "\n",
        ". **5",
        "option 5 better than 5 or ",
        "\noption 5: ",
        "\noption 5",
        "\n((option 5",
        "\n- ",
        ". wait ",
        "\\text{",
        "count from ",
        "option 3, the ",
        "the third option index ",
        "not 2, ",
        "obvious choice ",
        "options 0 and ",
        "while 3 ",
        "选项5比",
        "; this is wrong",
        "a, but it ",
        "option 3 followed by ",
    ],
)
def test_replies_take_linear_time(piece: str) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        text = f"{run}{piece * (length // len(piece))}"
        return lambda: [parse_reply(text), parse_reply(f"answer: {text}")]

    assert_linear(make, 20_000)
