"""What an answer says is not in it: excluded names, denied boxes, shares of every option."""

from __future__ import annotations

import random
import time
from typing import Final

import pytest

from eval import FutureXEvaluator
from forecasteval.futurex.reading import lists

IMPORTANT: Final = "\nIMPORTANT: end with \\boxed{YOUR_FORECAST}"
BIRDS: Final = "['Red Kite', 'Grey Owl', 'Swan']"
CARS: Final = "['星河X5', '云蹄', '白鹭P5']"
EXCLUDED: Final = """
everything except LIST
anything other than LIST
any books but LIST
none of LIST
None of LIST
Anyone but LIST
excluded: LIST
Excluded: LIST
Stag, Hawk; excluded: LIST
Stag, Hawk; not LIST
Stag, Hawk (all birds except LIST)
不包括LIST
排除LIST
非LIST
除LIST外
除了LIST以外的都行
牡鹿、鹰，不包括LIST
""".strip().split("\n")
LISTED: Final = """
LIST (not Stag)
LIST; excluded: Stag
LIST, but not Stag
1. LIST
"""
TITLES: Final = (
    "['Not Like Us', 'Anything But Ordinary', 'None of Us']", "['非诚勿扰', '除恶', '没有名字']",
    "['everything but the girl', 'never meant to hurt you', 'not a love song']",
)  # fmt: skip


def score(answer: str, truth: str, prompt: str = "Who?", level: int = 3) -> float:
    row = {"id": "q", "level": level, "prompt": prompt + IMPORTANT, "ground_truth": truth}
    return FutureXEvaluator().evaluate_prediction(answer, row)


@pytest.mark.parametrize("text", EXCLUDED)
def test_what_is_excluded_is_no_name(text: str) -> None:
    for truth, names in ((BIRDS, "Red Kite, Grey Owl, Swan"), (CARS, "星河X5、云蹄、白鹭P5")):
        assert score(f"\\boxed{{{text.replace('LIST', names)}}}", truth) == 0


@pytest.mark.parametrize("text", LISTED.strip().split("\n"))
def test_a_list_in_front_of_an_exclusion_counts(text: str) -> None:
    assert score(f"\\boxed{{{text.replace('LIST', 'Red Kite, Grey Owl, Swan')}}}", BIRDS) == 1


@pytest.mark.parametrize("truth", TITLES)
def test_a_title_excludes_nothing(truth: str) -> None:
    assert score(f"\\boxed{{{truth[1:-1].replace(chr(39), '')}}}", truth) == 1


@pytest.mark.parametrize("front", [
    "~~", "Not ", "I would not say ", "It isn't ", "I don't think it is ", "The answer is not ",
    "答案不是", "Example of the format: ",
])  # fmt: skip
def test_a_lone_box_that_is_denied_is_none(front: str) -> None:
    behind = "~~" if front == "~~" else ""
    box = f"{front}\\boxed{{Yes}}{behind}"
    assert score(f"{box}. I decline.", "Yes", "Will it open?", 1) == 0
    assert score(f"{box}\n\nFinal answer: No", "No", "Will it open?", 1) == 1


@pytest.mark.parametrize("front", ["I'm not sure. ", "It does not matter: ", "Why not "])
def test_a_denial_of_something_else_denies_no_box(front: str) -> None:
    assert score(f"{front}\\boxed{{Yes}}", "Yes", "Will it open?", 1) == 1


@pytest.mark.parametrize("shares", [
    "A: 5%, B: 80%, C: 5%, D: 80%", "A 20%, B 90%, C 20%, D 70%", "A: .05, B: .8, C: .05, D: .8",
])  # fmt: skip
def test_shares_of_no_whole_pick_nothing(shares: str) -> None:
    prompt = "Which?\nA. Otters\nB. Falcons\nC. Kites\nD. Stags"
    assert score(f"\\boxed{{{shares}}}", "B, D", prompt, 2) == 0
    assert score("\\boxed{B (80%), D (70%)}", "B, D", prompt, 2) == 1


def test_a_glance_misses_no_exclusion() -> None:
    words = (
        "excluded", "Exclude", "EXCLUDING", "except", "Omitted", "rejected", "ruled out", "not",
        "NO", ":", "：", "排除", "every", "anything", "all", "but", "Other Than", "rather than",
        "instead of", "None of", "Neither", "我不包括", "不含", "剔除", "不会是", "并非", "非",
        "除", "外", "Fox", ",", " ",
    )  # fmt: skip
    chance = random.Random(0)
    for _ in range(5000):
        text = "".join(chance.choice(words) + chance.choice(("", " ")) for _ in range(4))
        is_exclusion = any(pattern.search(text) for pattern in lists._EXCLUSIONS)
        assert not is_exclusion or any(word in text.lower() for word in lists._EXCLUDING), text


def test_endless_exclusions_end() -> None:
    begin = time.process_time()
    for text in ("any a ", "all all ", "not, ", "除了", ". 非"):
        assert score(f"\\boxed{{{text * 1500}}}", BIRDS) == 0
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(("text", "truth", "asked"), [
    ("14.3 degrees below zero", "-14.3", "What will the temperature be in °C?"),
    ("14.3°C below zero", "-14.3", "What will the temperature be in °C?"),
    ("8460 million yuan (outflow)", "-8460", "What will the net inflow be (in million yuan)?"),
    ("outflow of 8460 million yuan", "-8460", "What will the net inflow be (in million yuan)?"),
    ("460 bps lower", "-460", "What will the change of the spread be (in bps)?"),
])  # fmt: skip
def test_a_word_behind_a_number_makes_it_negative(text: str, truth: str, asked: str) -> None:
    assert score(f"\\boxed{{{text}}}", truth, asked, 4) == 1
    assert score(f"\\boxed{{{text}}}", truth[1:], asked, 4) == 0


@pytest.mark.parametrize("text", ["58 if the market rises, 66 otherwise", "58 < x < 66"])
def test_a_number_for_each_case_is_none(text: str) -> None:
    for truth in ("58", "62", "66"):
        assert score(f"\\boxed{{{text}}}", truth, "How many points?", 4) == 0
