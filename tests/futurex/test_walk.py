"""One walk for all kinds: gaps, which values count, statements, corrections, and settings of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from cli import run, write
from eval import FutureXEvaluator
from forecasteval.futurex.check import check_dataset
from forecasteval.futurex.reading.negation import denies, takes_back
from forecasteval.futurex.reading.walk import AND, FIXED, NOT, OR, REMARK, choose, join, walk

# --- The walk itself, on words in capitals ---

GAPS: Final = {
    ", ": AND, " and ": AND, "、": AND, "": AND, ", probably ": AND,
    " or ": OR, ", could be ": OR, "或": OR,
    ", not ": NOT, ", never ": NOT, " ❌": NOT,
    ". Actually, ": FIXED, " — wait, I mean ": FIXED,
    ", as they are rested, ": REMARK, " because of ": REMARK,
}  # fmt: skip


@pytest.mark.parametrize(("gap", "kind"), GAPS.items())
def test_the_kind_of_a_gap(gap: str, kind: str) -> None:
    assert join(gap) == kind


def find_capitals(text: str, position: int) -> tuple[str, int, int] | None:
    found = re.compile(r"\b[A-Z]{2,}\b").search(text, position)
    return (found[0], found.start(), found.end()) if found else None


CHOSEN: Final = {
    "RED": ["RED"],
    "RED, BLUE and TEAL": ["RED", "BLUE", "TEAL"],
    "RED or BLUE": None,
    "RED, RED": ["RED"],
    "RED or RED": ["RED"],
    "not RED": None,
    "RED?": None,
    "RED is unlikely": None,
    "RED, not BLUE": ["RED"],
    "RED, TEAL, not BLUE": None,
    "RED, TEAL, but not BLUE or GREY": ["RED", "TEAL"],
    "RED (not BLUE), TEAL": ["RED", "TEAL"],
    "RED (or BLUE)": None,
    "RED (beside BLUE)": ["RED"],
    "RED, as it beats BLUE, TEAL": ["RED"],
    "RED. Actually, BLUE": ["BLUE"],
    "RED or BLUE. I mean TEAL": None,
    "": [],
}


@pytest.mark.parametrize(("text", "values"), CHOSEN.items())
def test_the_values_that_count(text: str, values: list[str] | None) -> None:
    assert choose(walk(text, find_capitals)) == values


def test_a_denial_agrees_with_no() -> None:
    said = walk("NO, not likely", find_capitals)
    assert choose(said) is None
    assert choose(said, lambda value: value == "NO") == ["NO"]


def test_what_is_denied() -> None:
    assert denies("It will not rain")
    assert denies("不会")
    assert not denies("another one")
    for behind in (" is not", "?", " is unlikely", " (wrong)", " ❌", "已作废"):
        assert takes_back(behind), behind
    for behind in ("", " (a draw)", ", because", " points"):
        assert not takes_back(behind), behind


# --- Answers ---

IMPORTANT: Final = "\nIMPORTANT: end with \\boxed{YOUR_FORECAST}"
MATCH: Final = (
    "Who wins?\nA.  Alderwick win on 2026-05-02\nB.  Alderwick vs. Port Selby end in a draw\n"
    "C.  Port Selby win on 2026-05-02" + IMPORTANT
)
YES_NO: Final = "Will the bridge open?\nIMPORTANT: end with \\boxed{Yes} or \\boxed{No}"
RATE: Final = "What will the change of the index be, in %?" + IMPORTANT
PRICE: Final = "How much will a kilogram cost, in yuan per kilogram?" + IMPORTANT
INDEX: Final = "At how many points will the index close?" + IMPORTANT
VOTES: Final = "What share of the votes will they get, in percent?" + IMPORTANT
CUTS: Final = "What next?\nA.  No change\nB.  25 bps cut\nC.  50 bps cut" + IMPORTANT
RACE: Final = "Who will be ranked 4 to 6?" + IMPORTANT
WINNER: Final = "Who will win the award?" + IMPORTANT
SIDES: Final = "Gulls vs. Herons\nIMPORTANT: end with \\boxed{Gulls} or \\boxed{Herons}"
# Prompt, level, truth, Std; answers that score 1, and answers that score 0
ANSWERS: Final[list[tuple[str, int, str, float | None, list[str], list[str]]]] = [
    (MATCH, 1, "B", None, [
        "Since both are tired, the answer is (B).", "两队接近，故选B。", "【答案】B", "综上，选B。",
        "So, B is the right answer.", "选项B是正确的", "Réponse finale : B", "Meine Prognose: B",
        "\\boxed{}\n\nFinal answer: B", "The mean is \\boxed{x^2}.\n\n**Answer: B**",
        "\\boxed{Draw}", "\\boxed{平局}", "\\boxed{a draw}", "\\boxed{B, not A}",
        "\\boxed{A}\n\nCorrection: they rest players. My final answer is B.",
        "\\boxed{A}\n\n更正：主力停赛，最终答案：B。", "\\boxed{A} — wait, I mean B.",
        "\\boxed{A}\n\nEDIT: B", "\\boxed{A}\n\n我改为B", "\\boxed{A}更正：B",
        "\\boxed{A}\n\nMake that B.", "\\boxed{A}\n\nSorry, I meant B.",
        "\\boxed{B}\n\nEdit: typo", "\\boxed{B}\n\n注意。",
        "\\boxed{B}\n\nUpdate: if it rains, my answer is A.",
        "\\boxed{B}\n\nActually, A is possible.",
        "B is better (B covers both C(x) and A(y)).\n\nFinal answer: B because of C(x) and A(y).",
        "{\"forecast\": \"B\", \"confidence\": 0.6}", "```json\n{\"最终答案\": \"B\"}\n```",
        "They are even.\n\n**B**", "If I had to choose, I'd pick B.", "Answer: I think it is B",
    ], [
        "\\boxed{B}\n\nPlease disregard my answer above.", "\\boxed{B}\n\nActually, C.",
        "\\boxed{B}\n\nEDIT: C", "\\boxed{B}\n\n改成C。", "\\boxed{B}\n\nI revise my answer to C.",
        "According to experts, the answer is B.", "They say the answer is B.", "B or C",
        "The output should look like \\boxed{B}. I cannot tell.", "> Answer: B", "答案不是B",
        "选项A、B都不正确", "\\boxed{B, as they are rested, C}", "the answer is B or a home win",
        "A. 10\nB. 12", "Let me see each.\n\nB",
    ]),
    (MATCH, 1, "A", None, ["\\boxed{Alderwick}"], [
        "\\boxed{Alderwick?}", "\\boxed{not Alderwick}",
    ]),
    (MATCH, 2, "A, C", None, [
        "\\boxed{A and C, but not B}", "\\boxed{A, C (not B)}", "选A、C，不选B",
        "My picks: A, C (not B)",
        "| Option | Pick |\n|---|---|\n| A | Yes |\n| B | No |\n| C | Yes |", "A: 是\nB: 否\nC: 是",
        "A. Alderwick win on 2026-05-02: yes\nB: no\nC: yes",
        "\\boxed{A, C. B is ruled out}", "最终答案：A、C。排除B。", "\\boxed{C and A}",
    ], ["\\boxed{A, C, not B}", "\\boxed{All except B}"]),
    (YES_NO, 1, "Yes", None, [
        "\\boxed{Yes, it opens in May}", "The most likely outcome is Yes.", "Meine Antwort: Ja.",
        "\\boxed{네}", "\\boxed{Yes (60%)}",
    ], [
        "Yes, I think it will open.", "Yes. It is nearly done.", "是，工程已完成。",
        "Yes, I can help with that! Please tell me more.", "Yes, it will not open.", "Yes or no.",
        "Yes, if it rains.", "Yes, perhaps. Or no.", "是否会开通？无法判断。",
        "Yes, let me look into it.",
        "\\boxed{Yes or No}", "\\boxed{Yes - No}", "\\boxed{Yes (30%)}", "\\boxed{No?}"]),
    (YES_NO, 1, "No", None, ["No", "不会"], [
        "No, I can't answer that.", "No idea, sorry.", "No, I don't have enough information.",
        "No problem, I will look at it.",
    ]),
    (SIDES, 1, "Gulls", None, [
        "\\boxed{Gulls 4-3}", "\\boxed{Gulls over Herons}", "\\boxed{The Gulls to win}",
    ], ["\\boxed{Gulls 3-4}", "\\boxed{Gulls v Herons}", "\\boxed{Gulls (30%)}"]),
    (INDEX, 4, "25", 0.1, [
        "\\boxed{10-50, most likely 25}", "Final answer: between 10 and 50, point estimate 25",
        "\\boxed{20 + 5 = 25}", "\\boxed{25 (10-50)}", "\\boxed{25, or 25.0}",
        "The answer is (25).",
        "25 is the answer",
    ], ["\\boxed{25, 26, 27}", "\\boxed{25 or 30}"]),
    (INDEX, 4, "412.65", 3.0, [
        "\\boxed{about 412.65}", "\\boxed{above 400, at 412.65}", "\\boxed{412.65 (>400)}",
        "\\boxed{The close will be 412.65, up from 400.}", "\\boxed{412.65 (previous: 400)}",
        "\\boxed{Last close was 400; I expect 412.65}", "\\boxed{昨日收盘400，预计收盘412.65}",
        "\\boxed{The price was 400 last week. It will be 412.65.}",
        "\\boxed{Closing at 412.65 vs previous 400}", "\\boxed{412.65 higher than yesterday's 400}",
        "\\boxed{Given the previous close of 400, 412.65}", "\\boxed{>400}\n\nFinal answer: 412.65",
    ], [
        "\\boxed{>412.65}", "\\boxed{$\\geq$ 412.65}", "\\boxed{at least $412.65}",
        "\\boxed{It will be above 412.65}", "\\boxed{412.65+}", "\\boxed{412.65 or less}",
        "\\boxed{超过412.65}", "\\boxed{412.65以上}", "Final answer: over 412.65", "<412.65",
        "\\boxed{last close was 412.65}", "\\boxed{Previous close: 412.65}",
        "\\boxed{It closed at 412.65 yesterday}", "\\boxed{412.65 (yesterday's close)}",
        "\\boxed{It was at 412.65 a week ago}", "\\boxed{当前价格412.65}",
        "\\boxed{prev close 412.65}",
        "\\boxed{昨日收盘价为412.65}", "\\boxed{前值为412.65}", "\\boxed{last week it was 412.65}",
    ]),
    (INDEX, 4, ">5%", 0.1, ["\\boxed{>5%}", "\\boxed{more than 5%}", "\\boxed{5%}"], [
        "\\boxed{<5%}", "\\boxed{at most 5%}",
    ]),
    (INDEX, 4, "2.5", 0.1, [
        "\\boxed{2½}", "\\boxed{5/2}", "\\boxed{2 \\frac{1}{2}}", "\\boxed{\\frac52}",
    ], ["\\boxed{½}", "\\boxed{2/5}", "\\boxed{5/2/1}", "\\boxed{5/0}", "\\boxed{2.5% CI}"]),
    (INDEX, 4, "27", 3.0, [
        "\\boxed{27 points (95% CI 20-34)}", "\\boxed{27 [20, 34]}", "\\boxed{27, 80% CI: 22–32}",
    ], ["\\boxed{27% CI}"]),
    (VOTES, 4, "58%", 1.0, ["\\boxed{58/100}", "\\boxed{58 out of 100}"], ["\\boxed{85/100}"]),
    (CUTS, 1, "B", None, [
        "\\boxed{25 bps}", "\\boxed{A 25 basis point cut}", "\\boxed{25-basis-point cut}",
    ], ["\\boxed{25 bps hike}", "\\boxed{25 bps or 50 bps}", "\\boxed{no 25 bps cut}"]),
    (RATE, 4, "-0.4%", 0.001, ["\\boxed{(0.4%)}", "\\boxed{down 0.4%}"], ["\\boxed{0.4%}"]),
    (PRICE, 4, "64", 1.0, ["\\boxed{32元/斤}", "\\boxed{64元}"], [
        "\\boxed{64元/斤}", "\\boxed{64 USD}", "\\boxed{64元/升}",
    ]),
    (RACE, 3, "['Ada Holm', 'Bo Lind', 'Cy Moe']", None, [
        "\\boxed{Ada Holm, Bo Lind, Cy Moe. Note: ranks change weekly.}",
        "\\boxed{They are: 4th place: Ada Holm, 5th place: Bo Lind, 6th place: Cy Moe}",
        "So ranks 4–6 will be: Ada Holm, Bo Lind, Cy Moe.",
        "```python\n['Ada Holm', 'Bo Lind', 'Cy Moe']\n```",
        "\\boxed{Ada Holm, Bo Lind, Cy Moe, confidence: 60%}",
        "By form: 4th place: Ada Holm, 5th place: Bo Lind, 6th place: Cy Moe. Note: a guess.",
        "Rank 4 will be Ada Holm, rank 5 Bo Lind and rank 6 Cy Moe.",
        "I rank them so: 1. Ada Holm 2. Bo Lind 3. Cy Moe. I am fairly sure.",
        '{"4": "Ada Holm", "5": "Bo Lind", "6": "Cy Moe"}',
        '{"6th": "Cy Moe", "4th": "Ada Holm", "5th": "Bo Lind"}',
    ], [
        "Analysts say: 4th place: Ada Holm, 5th place: Bo Lind, 6th place: Cy Moe.",
        "If they play, 4th place: Ada Holm, 5th place: Bo Lind, 6th place: Cy Moe.",
        "The previous table: 4th place: Ada Holm, 5th place: Bo Lind, 6th place: Cy Moe.",
        "They could be: 1. Ada Holm 2. Bo Lind 3. Cy Moe, or others.",
        "I looked at 1. Ada Holm 2. Bo Lind 3. Cy Moe and cannot rank them.",
        '{"2024": "Ada Holm", "2025": "Bo Lind", "2026": "Cy Moe"}',
    ]),
    (WINNER, 3, "['Ada Holm']", None, [
        "\\boxed{Ada Holm will be the #1}", "\\boxed{Likely Ada Holm}", "\\boxed{Ada Holm wins}",
        "\\boxed{Ada Holm (60%), Bo Lind (40%)}",
    ], ["\\boxed{Someone like Ada Holm}", "\\boxed{Ada Holm (40%), Bo Lind (60%)}"]),
    (WINNER, 3, "['Mo SEORIN']", None, ["\\boxed{Seorin Mo}", "\\boxed{SEORIN, Mo}"], [
        "\\boxed{Mo}", "\\boxed{SEORIN, Ada}",
    ]),
]  # fmt: skip
ROWS: Final = [
    pytest.param(prompt, level, truth, std, answer, score, id=f"{truth} {answer[:40]}")
    for prompt, level, truth, std, right, wrong in ANSWERS
    for score, answers in ((1, right), (0, wrong))
    for answer in answers
]


def score(answer: str, row: dict[str, Any], **options: Any) -> float:
    return FutureXEvaluator(**options).evaluate_prediction(answer, {"id": "q", **row})


@pytest.mark.parametrize(("prompt", "level", "truth", "std", "answer", "expected"), ROWS)
def test_an_answer(
    prompt: str, level: int, truth: str, std: float | None, answer: str, expected: int
) -> None:
    row = {"level": level, "prompt": prompt, "ground_truth": truth, "Std": std}
    assert score(answer, row) == pytest.approx(expected, abs=1e-9)


def test_a_prompt_that_is_cut_off_states_none_of_its_options() -> None:
    row = {"level": 1, "prompt": MATCH, "ground_truth": "A"}
    for end in range(len("Who wins?\nA. "), len(MATCH)):
        assert score(MATCH[:end], row) == 0, MATCH[:end]


def test_a_label_counts_before_a_word_of_a_language() -> None:
    """`y` is a Spanish *and*, and the 57th option."""
    options = "\n".join(f"{chr(65 + n)}.  Rower {n}" for n in range(60))
    row = {"level": 2, "prompt": f"Who?\n{options}", "ground_truth": "['a', 'y']"}
    assert score("\\boxed{a, y}", row) == score("\\boxed{\\text{a, y}}", row) == 1


# --- Settings ---


def test_a_list_in_any_order_and_packed_truths() -> None:
    teams = {
        "level": 4,
        "prompt": "Which teams, in any order?",
        "ground_truth": "['Ada', 'Bo', 'Cy']",
    }
    packed = {"level": 4, "prompt": "Who is ranked 1 to 3?", "ground_truth": "['Ada; Bo | Cy']"}
    for rules, turned, apart in (("official-2026", 0.8, 0.0), ("official-2026-09", 1.0, 1.0)):
        assert score("\\boxed{Cy, Bo, Ada}", teams, rules=rules) == pytest.approx(turned)
        assert score("\\boxed{Ada, Bo, Cy}", packed, rules=rules) == apart
    rows = [{"id": "t", **teams}, {"id": "p", **packed}, {"id": "r", **teams, "prompt": "Who?"}]
    assert "any order" in check_dataset(rows).notes[0]
    assert check_dataset(rows).notes[0].endswith(": 2 (t, p)")
    assert check_dataset(rows[2:]).notes == []


def test_the_older_rule_set_names_the_newer_one(tmp_path: Path) -> None:
    rows = [{"id": "q", "level": 1, "prompt": YES_NO, "ground_truth": "Yes", "answer": "Yes"}]
    write(tmp_path, {"prediction/w.json": rows})
    assert "--rules official-2026-09" in run(tmp_path, "-f", "w", "--rules", "official-2026").out


def test_names_that_were_not_asked_for_are_cut() -> None:
    row = {"level": 3, "prompt": WINNER, "ground_truth": "['Di Nash']"}
    hedge = "\\boxed{Ada, Bo, Cy, Di Nash}"
    assert score(hedge, row) == pytest.approx(0.8)
    assert score(hedge, row, padding="cut") == 0
    assert score("\\boxed{Di Nash, Ada}", row, padding="cut") == pytest.approx(0.8)
    assert score("\\boxed{Di Nash}", row, padding="cut") == 1


PROSE: Final = {
    "Sales grew in March. So I see the index near 412 in 2026.": 1,
    "It rose from 400 to 405. The index should end around 412 points.": 1,
    "I cannot predict it. It was 412.": 0,
    "If rates fall, it ends at 412.": 0,
    "Analysts expect 412.": 0,
    "It ended at 412 in May. It will end at 430.": 0,
    "\\boxed{about the 412 of May, or 430}": 0,
}


@pytest.mark.parametrize(("text", "expected"), PROSE.items())
def test_a_loose_reading(text: str, expected: int) -> None:
    prompt = "At how many points will the index close in 2026?" + IMPORTANT
    row = {"level": 4, "prompt": prompt, "ground_truth": "412", "Std": 1.0}
    assert score(text, row) == 0
    assert score(text, row, loose=True) == expected


def test_loose_readings_are_counted_apart(tmp_path: Path) -> None:
    row = {"level": 4, "prompt": INDEX, "ground_truth": "412", "Std": 2}
    rows = [{"id": "q", **row, "answer": "So I see the index near 412."}]
    write(tmp_path, {"prediction/w.json": rows})
    plain, loose = (run(tmp_path, "-f", "w", "--json", *more).json for more in ([], ["--loose"]))
    assert (plain["loose_count"], plain["unparsed_count"]) == (0, 1)
    assert (loose["loose_count"], loose["level_loose"]["4"]) == (1, 1)
    assert (plain["signature"]["loose"], loose["signature"]["loose"]) == (None, True)
    write(tmp_path, {"forecasteval.toml": "loose = true\n"})
    assert (
        "Read loosely, of prose without a statement: 1, worth 1.00." in run(tmp_path, "-f", "w").out
    )
