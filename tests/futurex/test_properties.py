"""What holds for any question and any answer: scores in [0, 1], a perfect answer scores 1, order
changes nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from cli import asked, box, shares
from eval import FutureXEvaluator
from forecasteval.common.errors import InputError
from forecasteval.common.markup import clean, last_boxed, parse_literal
from forecasteval.common.records import dump_json
from forecasteval.futurex.reading.answers import Answer
from forecasteval.futurex.reading.choices import (
    MAX_OPTIONS,
    Options,
    find_options,
    interpret_picks,
)
from forecasteval.futurex.reading.grammar import parse_number, write_digits
from forecasteval.futurex.reading.lists import item_count, parse_items, split_items
from forecasteval.futurex.reading.names import EXACT, compare_names, match_names, parse_name
from forecasteval.futurex.reading.numbers import find_numbers, question_scale
from forecasteval.futurex.reading.wording import Wording
from forecasteval.futurex.rules import RULE_SETS
from kinds import KINDS, MANY

LEVELS: Final = (1, 2, 3, 4)
OUTCOMES: Final = {"scored", "missing", "unparsed"}
FRAGMENTS: Final = (
    *"ABCb`[]\\^_(){}<>$%~*#@\"'“”《》【】-–—−±≈,，、;；/|&:：.。 \n\t\b\f\0",
    *(
        "\\boxed{",
        "\\fbox{",
        "\x08oxed{",
        "\x0cbox{",
        "\text{",
        "\\text{",
        "\\times",
        "\\\\",
        "\\n",
        "{,}",
        "\\,",
    ),
    *(
        "0",
        "1",
        "5",
        "12",
        "1,234",
        "999",
        "1e9",
        "1e999",
        "10^",
        "10^400",
        "９",
        "²",
        "⁻³",
        "①",
        "½",
        "٣",
        "𝟙",
        "٫",
    ),
    *(
        "million",
        "hundred ",
        "thousand ",
        " billion",
        "k",
        "m",
        "bn",
        "万",
        "亿",
        "千",
        "负",
        "元",
        "股",
        "天",
        "%",
        " yuan",
    ),
    *(
        " and ",
        " to ",
        "between ",
        "about ",
        "约",
        "至",
        "和",
        " by ",
        " - ",
        "out of ",
        "in 2026",
        "Sep 23, ",
    ),
    *(
        "1. ",
        "2) ",
        "6th: ",
        "第6名：",
        "#3 ",
        "No. 4 ",
        "Rank 15: ",
        "1、",
        "18: ",
        "S&P 500",
        "沪深300",
        "36氪",
    ),
    *(
        "Yes",
        "no",
        "是",
        "否",
        "Option B",
        "选项B",
        "The answer is ",
        "Red",
        "Blue",
        "Petra",
        "甲组",
        "İ",
        "ﬁ",
    ),
    *(
        "['",
        "', '",
        "']",
        '["',
        "[1.5]",
        "'",
        "\\'",
        "\\x4",
        "\\u12",
        "\ud800",
        "\u200b",
        "\ufeff",
        "\x1b[31m",
    ),
    *(
        "boxed{",
        "fbox{",
        "\\boxed(",
        "\\boxed[",
        "\\boxed ",
        "\u2060",
        "\u2010",
        "\u2011",
        "\u2212",
    ),
    *(
        "》《",
        ">",
        "→",
        "->",
        "与",
        "以及",
        "+",
        "A (",
        ", because it is so",
        "Mrs. ",
        " feat. ",
        "GitHub: ",
        "a/b",
    ),
    *(
        " By ",
        "é",
        "Ł",
        "（1）",
        "第一名：",
        "Paper, Ink",
        "\\to ",
        "\\begin{array}{l}",
        "&",
        "True",
        "false",
    ),
    *(
        "百分之",
        "十五",
        "两千三",
        "三点五亿",
        "三体",
        "零",
        "一百二十万",
        "bps",
        "个基点",
        "Q2 2026",
        "第二季度",
    ),
    *("per 100 USD", "每100美元", "± 2%"),
)
ANY_TEXT: Final = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(lambda parts: box("".join(parts))),
)
ANY_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
EVALUATOR: Final = FutureXEvaluator()
EVALUATORS: Final = {rules: FutureXEvaluator(rules=rules) for rules in RULE_SETS}
thorough = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])


def check_results(results: dict[str, Any]) -> None:
    (item,) = results["items"]
    assert item["outcome"] in OUTCOMES
    if item["score"] is None:  # left out
        assert (item["outcome"], results["signature"]["missing"]) == ("missing", "skip")
    else:
        assert 0 <= item["score"] <= 1
        assert item["outcome"] == "scored" or item["score"] == 0
        assert 0 <= results["overall_score"] <= 1
    dump_json(results)


@pytest.mark.parametrize("kind", KINDS)
@thorough
@given(answer=ANY_TEXT)
def test_any_text_scores_between_0_and_1(kind: str, answer: str) -> None:
    check_results(EVALUATOR.evaluate_all([{**KINDS[kind], "answer": answer}]))


@thorough
@given(
    rules=st.sampled_from(sorted(RULE_SETS)), kind=st.sampled_from(sorted(KINDS)), answer=ANY_TEXT
)
def test_any_rule_set_scores_between_0_and_1(rules: str, kind: str, answer: str) -> None:
    check_results(EVALUATORS[rules].evaluate_all([{**KINDS[kind], "answer": answer}]))


@thorough
@given(kind=st.sampled_from(sorted(KINDS)), answer=ANY_JSON)
def test_any_json_value_scores_between_0_and_1(kind: str, answer: object) -> None:
    check_results(EVALUATOR.evaluate_all([{**KINDS[kind], "answer": answer}]))


@pytest.mark.parametrize("level", LEVELS)
@thorough
@given(
    prompt=ANY_TEXT,
    truth=ANY_TEXT,
    answer=ANY_TEXT,
    std=st.sampled_from([None, 0.0, 5.0, 1e-300, 1e300]),
)
def test_any_question_scores_or_is_refused(
    level: int, prompt: str, truth: str, answer: str, std: float | None
) -> None:
    try:
        results = EVALUATOR.evaluate_all([asked(level, truth, answer, std, prompt)])
    except InputError:
        return
    check_results(results)


@thorough
@example("0{以及0以及")  # an `and` at the end
@example("以及")  # nothing else
@given(text=ANY_TEXT)
def test_parsers_never_raise(text: str) -> None:
    last_boxed(text)
    parse_literal(text)
    cleaned = clean(text)
    for part in (text, cleaned):
        for quantity in filter(
            None, [parse_number(part), *(said.value for said in find_numbers(part))]
        ):
            assert math.isfinite(quantity.value)
        assert all(split_items(part))
        assert item_count(part) is None or item_count(part) > 0
        scale = question_scale(part)
        assert scale is None or 0 < scale < math.inf
        name = parse_name(part)
        assert compare_names(name, name) == EXACT
        assert match_names([name], [name]) == {0: 0}
        write_digits(part)
        options = Options((), 3)
        assert len(find_options(part)) <= MAX_OPTIONS
        for boxed in (True, False):
            picks = interpret_picks(Answer(part, (), boxed), options)
            assert "" not in picks
            items = parse_items(
                Answer(part, (), boxed), Wording(part), 3, frozenset({name.key}), (part[:20],)
            )
            assert all(item.text for item in items)


@thorough
@given(
    text=ANY_TEXT,
    mark=st.sampled_from(["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"]),
    data=st.data(),
)
def test_invisible_characters_change_nothing(text: str, mark: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    row = KINDS[data.draw(st.sampled_from(sorted(KINDS)))]
    plain, marked = (EVALUATOR.evaluate_all([{**row, "answer": answer}])["items"][0] for answer in (
        text, text[:at] + mark + text[at:],
    ))  # fmt: skip
    assert (marked["score"], marked["outcome"], marked["read"]) == (
        plain["score"],
        plain["outcome"],
        plain["read"],
    )


PLAIN_NAMES: Final = (
    "Petra Vandermoss",
    "Onyx Tide",
    "熊猫计划",
    "云蹄",
    "Owl",
    "Model Y",
    "慢车开往鹤汀",
    "Zoë",
    "三体",
)
NAMES: Final = (
    "Petra Vandermoss", "Dov Marchetti", "Onyx Tide", "Salt/Pepper Kit", "fernlab/tidewalker",
    "Null_Harbour",
    "Frozen 2", "731", "7天", "36氪", "熊猫计划2", "白鹭P5 DM", "鲸歌生物-W",
    "Sunrise (The Games)", "云蹄", "Straße 9",
    "Owl", "Model Y", "Quiet Engines", "慢车开往鹤汀",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_truth_itself_is_a_perfect_answer(rules: str, kind: str) -> None:
    row = KINDS[kind]
    assert EVALUATORS[rules].evaluate_prediction(box(row["ground_truth"]), row) == 1


DRESSES: Final[dict[str, Callable[[str], str]]] = {
    "box": box,
    "lost backslash": lambda text: f"boxed{{{text}}}",
    "fbox": lambda text: rf"\fbox{{{text}}}",
    "prose around it": lambda text: (
        rf"First \boxed{{Red Herring}}. On reflection: **\boxed{{{text}}}**, as A is weak."
    ),
    "an empty box behind": lambda text: rf"\boxed{{{text}}} \boxed{{}}",
    "never closed": lambda text: r"\boxed{" + text,
    "dollars": lambda text: rf"$\boxed{{{text}}}$",
    "invisible": lambda text: f"\ufeff\\boxed{{\u200b{text}\u2060}}",
    "blanks": lambda text: f"\\boxed{{ {text}\n}}",
    "full width": lambda text: box(text.replace(",", "，").replace("(", "（").replace(")", "）")),
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("kind", KINDS)
def test_truth_in_any_dress_is_a_perfect_answer(kind: str, dress: str) -> None:
    row = KINDS[kind]
    if dress == "full width" and row["ground_truth"].startswith("["):
        return  # no list literal then
    item = EVALUATOR.evaluate_all([{**row, "answer": DRESSES[dress](row["ground_truth"])}])[
        "items"
    ][0]
    assert item["score"] == 1, item


@thorough
@given(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=8, unique=True), data=st.data())
def test_ranking_truth_is_a_perfect_answer(names: list[str], data: st.DataObject) -> None:
    """In every way of writing a list, for the truth and for the answer."""
    ways: list[Callable[[list[str]], str]] = [
        repr,
        lambda items: json.dumps(items, ensure_ascii=False),
        ", ".join,
        "、".join,
        "\n".join,
        lambda items: "\n".join(f"{rank}. {name}" for rank, name in enumerate(items, 1)),
        lambda items: "，".join(f"第{rank}名：{name}" for rank, name in enumerate(items, 6)),
        lambda items: " ".join(f"{rank}th: {name}" for rank, name in enumerate(items, 6)),
        lambda items: "；".join(items),
        lambda items: "\n".join(f"（{rank}）{name}" for rank, name in enumerate(items, 1)),
        lambda items: "，".join(
            f"第{'一二三四五六七八'[rank]}名：{name}" for rank, name in enumerate(items)
        ),
        lambda items: ", ".join(
            f"{rank}. {name}" for rank, name in sorted(enumerate(items, 1), reverse=True)
        ),
    ]
    literal_first = ways[:2] if len(names) == 1 else ways  # "731" alone would be a number
    truth = data.draw(st.sampled_from(literal_first))(names)
    answer = data.draw(st.sampled_from(ways))(names)
    assume(names != ["731"])
    assert EVALUATOR.evaluate_prediction(box(truth), asked(3, truth)) == 1
    assert EVALUATOR.evaluate_prediction(box(answer), asked(3, truth)) == 1


@thorough
@given(
    names=st.lists(st.sampled_from(PLAIN_NAMES), min_size=2, max_size=8, unique=True),
    data=st.data(),
)
def test_a_list_by_arrows_or_titles_is_a_perfect_answer(
    names: list[str], data: st.DataObject
) -> None:
    ways: list[Callable[[list[str]], str]] = [
        " > ".join, " → ".join, " -> ".join, "→".join,
        lambda items: "".join(f"《{name}》" for name in items),
        lambda items: "“" + "” “".join(items) + "”",
        lambda items: f'"{", ".join(items)}"',
        lambda items: ", ".join(items[:-1]) + " and " + items[-1],
        lambda items: "、".join(items[:-1]) + "以及" + items[-1],
    ]  # fmt: skip
    answer = data.draw(st.sampled_from(ways))(names)
    assert EVALUATOR.evaluate_prediction(box(answer), asked(3, repr(names))) == 1, answer


@thorough
@given(
    names=st.lists(
        st.sampled_from(("Paper, Ink", "Owls, Inc.", "白天、夜晚", "Red; Blue", *PLAIN_NAMES)),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    separator=st.sampled_from([", ", "\n", "、", "; "]),
)
def test_a_true_name_that_holds_a_separator_is_one_item(names: list[str], separator: str) -> None:
    assert EVALUATOR.evaluate_prediction(box(separator.join(names)), asked(3, repr(names))) == 1


@thorough
@given(picks=st.sets(st.integers(0, 33), min_size=1, max_size=34), level=st.sampled_from([1, 2]))
def test_choice_truth_is_a_perfect_answer(picks: set[int], level: int) -> None:
    labels = [chr(65 + pick) for pick in sorted(picks)]
    row = asked(level, repr(labels), prompt=MANY)
    texts = [f"Player {pick + 1}" for pick in sorted(picks)]
    beside = [f"{label} ({text})" for label, text in zip(labels, texts, strict=True)]
    joined = [
        separator.join(labels)
        for separator in (", ", "；", " + ", "、", " and ", "\n", "与", "以及")
    ]
    for answer in (
        box(repr(labels)),
        *map(box, joined),
        box(", ".join(texts)),
        # Behind Z, where cleaning takes some labels for markup, they stand alone.
        *([box(", ".join(beside))] if all(map(str.isalpha, labels)) else []),
        labels,
    ):
        assert EVALUATOR.evaluate_prediction(answer, row) == 1, answer


DECIMALS: Final = st.integers(-(10**9), 10**9).map(
    lambda cents: f"{cents // 100}.{cents % 100:02d}"
)
UNITS: Final = (
    "",
    "%",
    " million",
    " billion yuan",
    "亿元",
    "万",
    " yuan",
    " points",
    "元",
    " million shares",
    "万亿",
)


@thorough
@given(
    value=DECIMALS,
    unit=st.sampled_from(UNITS),
    std=st.sampled_from([None, 0.0, 3.5]),
    prompt=st.sampled_from(
        ["", "in hundreds of millions of yuan?", "多少万元？", "%多少？", "in ten thousand yuan?"]
    ),
)
def test_number_truth_is_a_perfect_answer(
    value: str, unit: str, std: float | None, prompt: str
) -> None:
    truth = value + unit
    assert EVALUATOR.evaluate_prediction(box(truth), asked(4, truth, None, std, prompt)) == 1
    sentence = f"The value on March 5, 2026 (GMT+8) will be {truth}."
    if std is not None:
        assert EVALUATOR.evaluate_prediction(box(truth), asked(4, sentence, None, std, prompt)) == 1


@thorough
@given(truth=DECIMALS, one=DECIMALS, other=DECIMALS, std=st.floats(1e-3, 1e9))
def test_smaller_error_never_scores_less(truth: str, one: str, other: str, std: float) -> None:
    near, far = sorted((one, other), key=lambda text: abs(float(text) - float(truth)))
    row = asked(4, truth, None, std)
    near_score, far_score = (EVALUATOR.evaluate_prediction(box(text), row) for text in (near, far))
    assert near_score >= far_score
    error = (float(near) - float(truth)) / std
    assert near_score == pytest.approx(max(0, 1 - error * error), abs=1e-9)


@thorough
@given(
    truth=DECIMALS,
    one=DECIMALS,
    std=st.floats(1e-3, 1e9),
    hyphen=st.sampled_from("-\u2010\u2011\u2212\uff0d"),
)
def test_a_sign_counts_whatever_hyphen_it_is(truth: str, one: str, std: float, hyphen: str) -> None:
    row = asked(4, truth, None, std)
    plain, odd = (
        EVALUATOR.evaluate_prediction(box(text), row) for text in (one, one.replace("-", hyphen))
    )
    assert plain == odd


@thorough
@given(
    truth=st.lists(st.sampled_from(NAMES), min_size=1, max_size=6),
    predicted=st.lists(st.sampled_from(NAMES), min_size=1, max_size=10),
)
def test_every_item_of_a_ranking_is_matched_once(truth: list[str], predicted: list[str]) -> None:
    """No two of NAMES are the same, so that the multisets' intersection counts; duplicates
    included.
    """
    assume(truth != ["731"])
    common_items = sum((Counter(truth) & Counter(predicted)).values())
    wanted = 1 if truth == predicted else 0.8 * common_items / len(truth)
    assert EVALUATOR.evaluate_prediction(
        box(repr(predicted)), asked(3, repr(truth))
    ) == pytest.approx(wanted)


@thorough
@given(data=st.data())
def test_order_of_questions_changes_nothing(data: st.DataObject) -> None:
    answers = st.one_of(
        ANY_TEXT, st.sampled_from(["Yes", "B", "A, B", "46,300", "30%", "Red, Blue", "Petra"])
    )
    drawn = data.draw(
        st.lists(st.tuples(st.sampled_from(sorted(KINDS)), answers), min_size=2, max_size=25)
    )
    rows = [{**KINDS[kind], "answer": answer} for kind, answer in drawn]
    rows += [
        asked(4, "100", box(str(100 + number / 7)), 10.0)
        for number in range(data.draw(st.integers(0, 9)))
    ]
    mixed = data.draw(st.permutations(rows))
    assert shares(EVALUATOR.evaluate_all(rows)) == shares(EVALUATOR.evaluate_all(mixed))
