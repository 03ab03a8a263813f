r"""What counts of an answer, rule by rule (docs/scoring.md, *How an answer is read*), each way."""

from __future__ import annotations

from typing import Any, Final

import pytest

from cli import Record
from eval import FutureXEvaluator

_ASK: Final = 'You are an agent that can predict future events. The event to be predicted: "'
_END: Final = '"\n        IMPORTANT: Your final answer MUST end with this exact format:\n        '
_NO_OTHER: Final = "\n        Do not use any other format. Do not refuse to make a prediction."
_OPEN: Final = _END + r"\boxed{YOUR_PREDICTION}" + _NO_OTHER
EXAMPLE: Final = (
    r"For example: \boxed{A} for a single correct option, or \boxed{B, C} for multiple correct"
    " options."
)
QUESTIONS: Final[dict[str, Record]] = {
    "side": {
        "level": 1,
        "prompt": _ASK
        + "Alderwick vs. Port Selby\nA. Alderwick win\nB. a draw\nC. Port Selby win"
        + _END
        + "listing all correct options.\n        "
        + EXAMPLE
        + _NO_OTHER,
        "ground_truth": "B",
    },
    "yes": {
        "level": 1,
        "prompt": _ASK
        + "Will the tunnel open before 1 September 2026?"
        + _END
        + r"\boxed{Yes} or \boxed{No}"
        + _NO_OTHER,
        "ground_truth": "Yes",
    },
    "price": {
        "level": 4,
        "prompt": _ASK + "What will be the price of Brent crude in USD?" + _OPEN,
        "ground_truth": "71.5",
        "Std": 2.0,
    },
    "films": {
        "level": 3,
        "prompt": _ASK + "Which three films will be ranked from 1 to 3?" + _OPEN,
        "ground_truth": "['Red Kite', 'Silver Fox', 'Blue Heron']",
    },
    "team": {
        "level": 1,
        "prompt": _ASK + "Which team will win the cup?" + _OPEN,
        "ground_truth": "Otters",
    },
    "clubs": {
        "level": 1,
        "prompt": _ASK + "Who wins?\nA. Maples\nB. 1. FC Otters, Port Selby" + _OPEN,
        "ground_truth": "B",
    },
    "winner": {
        "level": 3,
        "prompt": _ASK + "Who will win the 2026 Song Contest?" + _OPEN,
        "ground_truth": "Sweden",
    },
    "heat": {
        "level": 4,
        "prompt": _ASK + "How hot will it be, in degrees Celsius?" + _OPEN,
        "ground_truth": "30 °C",
        "Std": 1.0,
    },
    "race": {
        "level": 4,
        "prompt": _ASK + "How long will the race be, in miles?" + _OPEN,
        "ground_truth": "62.14 miles",
        "Std": 1.0,
    },
    "duel": {
        "level": 1,
        "prompt": _ASK + "Otters vs. Falcons" + _OPEN,
        "ground_truth": "Otters",
    },
}
FILMS: Final = "Red Kite, Silver Fox, Blue Heron"

# By rule: (question, answer) that earns 1, and that earns 0
CREDIT: Final[dict[str, list[tuple[str, str]]]] = {
    "the prompt's words are none": [
        ("side", EXAMPLE + "\nSo: \\boxed{B}"),
        ("side", "\\boxed{B}\n\n" + EXAMPLE),
        ("side", "> " + EXAMPLE + "\nAnswer: B"),
        ("side", "\\boxed{B}\n\\boxed{YOUR_PREDICTION}"),  # a placeholder beside another
        ("yes", r"Answer: \boxed{Yes}"),  # does not stand in `… \boxed{Yes} or …`
        ("yes", "\\boxed{Yes}"),  # a box alone on its line is the answer's
        ("side", "B. a draw"),  # an option's line
        ("clubs", r"\boxed{1. FC Otters, Port Selby}"),
        ("clubs", "1. FC Otters, Port Selby"),
    ],
    "the last box": [
        ("side", "\\boxed{B}（置信度：\\boxed{70%}）"),
        ("side", "\\boxed{B}, confidence \\boxed{0.7}"),
        ("side", "\\boxed{B} with confidence \\boxed{70%}"),
        ("side", r"\boxed{B - confidence 60%}"),
        ("side", r"\boxed{B, 60% confident}"),
        ("price", r"\boxed{71.5 USD or so}"),
        ("price", r"\boxed{71.5 USD, plus or minus 2}"),
        ("side", r"My first guess was \boxed{A}. Final answer (confidence 60%): \boxed{B}"),
        ("side", "\\boxed{A}\n\nWait, I should reconsider.\n\n\\boxed{B}"),
        ("side", "\\boxed{B}\n\nActually, this is almost certain."),
        ("side", "\\boxed{B} (could also be C)"),
        ("side", r"\boxed{B} is unlikely to be wrong"),
        ("yes", "\\boxed{Yes}\nActually, this is almost unanimous"),
        ("side", "\\boxed{B}\nConfidence: \\boxed{80%}"),
        ("side", "\\boxed{B}\nConfidence in this prediction: \\boxed{0.7}"),
        ("side", "\\boxed{B}\n置信度：\\boxed{70%}"),
        ("yes", "\\boxed{Yes}\n\\boxed{70%}"),
        ("yes", "\\boxed{Yes}\n\n**Probability of this outcome:** \\boxed{61%}"),
        ("price", "\\boxed{71.5}\nConfidence: \\boxed{60%}"),
        ("films", ", ".join(rf"\boxed{{{name}}}" for name in FILMS.split(", "))),
        ("films", "1st: \\boxed{Red Kite}\n2nd: \\boxed{Silver Fox}\n3rd: \\boxed{Blue Heron}"),
        ("films", "2nd: \\boxed{Silver Fox}\n1st: \\boxed{Red Kite}\n3rd: \\boxed{Blue Heron}"),
        ("side", r"\boxed{A} or so I thought. Now I say \boxed{B}"),  # two sentences
        ("side", r"\boxed{A} or \boxed{C}?" + "\n\nNo: \\boxed{B}"),  # the last two are asked
        ("side", r"\boxed{B}, not \boxed{A}"),
        ("side", "\\boxed{B}\nFinal answer: C"),  # a statement below changes nothing
    ],
    "a share has a sign": [
        ("yes", r"\boxed{Yes with probability 70%}"),
        ("duel", r"\boxed{Otters (60%)}"),
        ("yes", r"\boxed{Yes, it airs on January 18}"),
        ("yes", r"\boxed{Yes, inflation falls to 2.1%}"),
        ("yes", r"\boxed{Yes (18 of 20 agree)}"),
        ("yes", r"\boxed{Yes - 0.8}"),
        ("yes", r"\boxed{Yes, with probability 70%}"),
        ("yes", r"\boxed{Yes: 96%, No: 4%}"),
    ],
    "what follows is commentary": [
        ("side", r"\boxed{B, though A is more likely}"),
        ("side", "The answer is B, if they rest players."),
        ("side", "Answer: B, but C could also happen"),
        ("side", "Final answer: B. Good luck!"),
        ("side", "Final answer: B. Port Selby may win too."),
        ("price", "Answer: 71.5. The close was 45."),
        ("price", "Final answer: 71.5 (±2)"),
        ("price", "**71.5** (±0.6)"),
        ("price", "Final answer: 71.5 (range 70.0–73.5)"),
        ("price", r"\boxed{I think 71.5 for H1 2026}"),
        ("winner", "Final answer: Sweden. Finland may win as well."),
        ("films", "\\boxed{1. Red Kite\n2. Silver Fox\n3. Blue Heron\n\nConfidence: moderate.}"),
        ("films", "1. \\boxed{Red Kite}\n2. \\boxed{Silver Fox}\n3. \\boxed{Blue Heron}"),
    ],
    "shares and verdicts": [
        ("side", r"\boxed{A) 20% B) 60% C) 20%}"),
        ("side", r"\boxed{A: no, B: yes, C: no}"),
        ("side", r"\boxed{A 0.2, B 0.5, C 0.3}"),
    ],
    "Spanish": [
        ("yes", r"\boxed{Sí}"),
        ("side", "Respuesta final: B"),
        ("yes", "Mi respuesta final es sí."),
    ],
    "the last statement": [
        ("side", "预测结果：B。置信度：60%"),
        ("yes", "Final answer: Yes\n\nI'm about 70% confident in this."),
        ("side", "Final answer: B\n\nA is a bit less likely."),
        ("side", "Final answer: B. But I could be wrong."),
        ("side", "Answer: B, but I am not sure"),
        ("side", "Final answer: B (though this is uncertain)"),
        ("side", "最终答案：B。但不确定。"),
        ("side", "Answer: A\n\nOn reflection:\nAnswer: B"),
        ("side", "Answer: B.\nMy prediction is tentative."),
        ("side", "I believe that the answer is B"),
        ("side", "I think the answer is B"),
        ("side", "The most likely outcome is B"),
        ("side", "Final: B"),
        ("side", "Verdict: B"),
        ("side", "They rest players. My pick: B"),
        ("side", "我预测结果为B"),
        ("yes", "The answer is probably Yes."),
        ("price", "Final answer: 71.5 USD per barrel. This is uncertain."),
        ("films", f"My prediction: {FILMS}. These could change."),
        ("films", "## Final answer\n1. Red Kite\n2. Silver Fox\n3. Blue Heron\n\nEstimates only."),
        ("side", '{"answer": "B"}\nAnswer: B'),
        ("side", "{'answer': 'B', 'sure': True, 'why': None}"),
        ("yes", "Prediction: Yes. Probability: 72%"),
        ("side", "<answer>A</answer>\nFinal answer: B"),
    ],
    "refusals and statuses": [
        ("side", r"I'm sorry, I can't browse. My prediction: \boxed{B}"),
        ("side", "I'm sorry, I can't browse.\nMy prediction: B"),
        ("side", "Let me search for this.\n…\nFinal answer: B"),
        ("price", "Error: no network.\nFinal answer: 71.5"),
    ],
    "units": [
        *(
            ("heat", rf"\boxed{{{text}}}")
            for text in (r"86^\circ\text{F}", r"86^{\circ} F", "86 ºF")
        ),
        *(("race", rf"\boxed{{{text}}}") for text in ("62.14 miles ± 1 mile", "100 km ± 5")),
        *(
            ("race", rf"\boxed{{{text}}}")
            for text in ("95 km to 105 km", "between 95 km and 105 km")
        ),
    ],
}
NO_CREDIT: Final[dict[str, list[tuple[str, str]]]] = {
    "two values, or none": [
        ("side", "Final answer: B or C"),
        ("side", "Final answer: B, perhaps C"),
        ("side", "Final answer: B is unlikely"),
        ("side", r"\boxed{All except A, C}"),
        ("side", r"\boxed{not B}"),
        ("side", r"\boxed{B, as they are rested, C}"),
        ("side", "Final answer: B; A is second"),
        ("price", "Final answer: 71.5 or 90"),
        ("price", r"\boxed{60, 71.5, 80}"),
        ("price", r"\boxed{71.5 (could be 80)}"),
        ("winner", "Sweden?"),
    ],
    "the prompt's words are none": [
        *(
            ("side", "Task was: " + EXAMPLE[: EXAMPLE.index("B") + 1] + cut)
            for cut in ("…", "...'")
        ),
        ("side", EXAMPLE),
        ("side", "Agent failed. Task was: " + EXAMPLE[:60]),
        ("side", EXAMPLE[:70] + "..."),
        ("yes", r"The box is \boxed{Yes} or \boxed{No}"),
        ("side", "Final answer MUST end with this exact format: listing all correct options."),
        *((name, question["prompt"]) for name, question in QUESTIONS.items()),
    ],
    "the last box": [
        ("price", r"\boxed{71.5 USD?}"),
        ("price", r"\boxed{71.5 USD (wrong)}"),
        ("price", r"\boxed{80 USD or 71.5 USD}"),
        ("side", "\\boxed{B}\n\nOn second thought: \\boxed{A}"),
        ("side", r"\boxed{B?}"),
        ("side", r"\boxed{not B}"),
        ("side", r"\boxed{B or C}"),
        ("side", r"\boxed{B (could be C)}"),
        ("side", r"\boxed{❌ B}"),
        ("side", r"\boxed{B (A)}"),
        ("team", r"\boxed{Maples or Otters}"),
        ("side", r"\boxed{A} or \boxed{B}"),
        ("side", r"\boxed{B} 或 \boxed{C}"),
        ("side", r"\boxed{B}, or alternatively \boxed{C}"),
        ("side", r"\boxed{B} (backup: \boxed{C})"),
        ("side", r"\boxed{A}. Hedge: \boxed{B}"),
        ("side", r"\boxed{A}, \boxed{B} as a second choice"),
        ("side", "\\boxed{A}\nFinal answer: B"),
    ],
    "a share has a sign": [
        ("yes", r"\boxed{Yes with probability 30%}"),
        ("yes", r"\boxed{Yes (with 30% probability)}"),
        ("duel", r"\boxed{Otters (30%)}"),
        ("duel", r"\boxed{Otters (40% chance)}"),
        ("yes", r"\boxed{Yes: 30%}"),
        ("yes", r"\boxed{Yes (30%)}"),
        ("yes", r"\boxed{Yes (0.3)}"),
        ("yes", r"\boxed{Yes, probability 30%}"),
        ("yes", r"\boxed{Yes (30% chance)}"),
        ("yes", r"\boxed{Yes: 4%, No: 96%}"),
    ],
    "the last statement": [
        ("side", "Answer: B\nAnswer: A"),
        ("side", "Answer: B unless it rains"),
        ("side", "Final answer: B. Or maybe A."),
        ("price", "Answer: 45. The close was 71.5."),
        ("price", "429 Too Many Requests"),
        ("team", "I would say Otters"),
        ("team", "Otters are strong, and they will surely win this"),
        ("winner", "Final answer: Sweden, but Norway could win"),
        ("side", '{"answer": "B"}\nAnswer: A'),
        ("side", "> Answer: B"),
        ("side", "They rest players. Verdict: B"),  # whose it is, only "my" or a line can say
        ("side", "Most say that the answer is B."),
    ],
    "refusals and statuses": [
        ("films", r"\boxed{Unable to determine Red Kite, Silver Fox, Blue Heron}"),
        ("films", "Unable to determine, Red Kite, Silver Fox, Blue Heron"),
        *(
            (question, text)
            for question in QUESTIONS
            for text in (
                "Connection error.",
                "TIMEOUT",
                "Rate limit exceeded",
                "Agent failed: no answer",
                "Max iterations reached",
                "Let me search for the latest news.",
                "I'm sorry, but I can't help with that.",
                "As an AI, I do not predict.",
                "I cannot access live data",
                "Unable to determine",
                "I do not have enough information",
                "抱歉，我不能",
                "无法预测",
                "作为一个AI，我不能",
                r"\boxed{YOUR_PREDICTION}",
                r"\boxed{your answer here}",
                r"\boxed{…}",
                r"\boxed{answer}",
                r"\boxed{X}",
                "Final answer: I cannot determine",
                'Traceback (most recent call last):\n  File "a.py", line 3',
            )
        ),
    ],
    "units": [
        ("heat", r"\boxed{30^\circ\text{F}}"),
        ("race", r"\boxed{5 km ± 100 km}"),
    ],
}


def rows(table: dict[str, list[tuple[str, str]]]) -> list[Any]:
    return [
        pytest.param(*row, id=f"{rule} {number}")
        for rule, answers in table.items()
        for number, row in enumerate(answers)
    ]


def score(question: str, answer: object) -> float:
    return FutureXEvaluator().evaluate_prediction(answer, {"id": "q", **QUESTIONS[question]})


@pytest.mark.parametrize(("question", "answer"), rows(CREDIT))
def test_what_counts(question: str, answer: str) -> None:
    assert score(question, answer) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("question", "answer"), rows(NO_CREDIT))
def test_what_does_not_count(question: str, answer: str) -> None:
    assert score(question, answer) == 0


REASONS: Final = {
    "Connection error.": "error of a program",
    "I'm sorry, but I can't rank films.": "refusal",
    r"\boxed{YOUR_PREDICTION}": "placeholder",
    r"\boxed{Red} or \boxed{Blue}": "contradiction",
    "I would go with Red Kite.": "prose",
}


@pytest.mark.parametrize("question", ["films", "side", "price", "yes"])
@pytest.mark.parametrize(("answer", "reason"), REASONS.items(), ids=REASONS.values())
def test_the_reason_is_the_same_for_every_kind(answer: str, reason: str, question: str) -> None:
    other = {**QUESTIONS[question], "id": "a", "answer": r"\boxed{B}"}
    (item, _) = FutureXEvaluator().evaluate_all(
        [{"id": "q", **QUESTIONS[question], "answer": answer}, other]
    )["items"]
    assert (item["outcome"], item["reason"]) == ("unparsed", reason)


@pytest.mark.parametrize("reply", ["**Yes**", "Final answer: Yes", r"\boxed{Yes}", ""])
@pytest.mark.parametrize("thought", [r"Maybe \boxed{No}.", r"They want \boxed{Yes} or \boxed{No}."])
def test_a_reply_counts_before_its_thoughts(thought: str, reply: str) -> None:
    """They are all there is only where nothing stands behind them."""
    assert score("yes", f"<think>{thought}</think>\n\n{reply}") == bool(reply)


def test_a_list_of_several_is_no_refusal() -> None:
    """Its first item may be one, and costs itself."""
    assert score("films", ["N/A", "Red Kite"]) == pytest.approx(0.8 / 3)
    assert score("films", ["N/A"]) == 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_prompt_as_the_answer_earns_nothing(question: str) -> None:
    prompt = QUESTIONS[question]["prompt"]
    instructions = prompt[prompt.index("IMPORTANT") :]
    for text in (
        "Agent failed: max steps. Task was: " + prompt,
        "I do not have enough information. The task asks me to end with: " + instructions,
        f"Traceback (most recent call last):\nRuntimeError: {prompt!r}",
        "Task: " + " ".join(prompt.split()),
        prompt[: prompt.index("}", prompt.index("oxed{")) + 1],  # cut right behind a box
        "\n".join(f"> {line}" for line in prompt.split("\n")),
    ):
        assert score(question, text) == 0, text


def test_a_song_may_begin_like_a_refusal() -> None:
    row = {"id": "q", "level": 3, "prompt": "Which song will be number one?"}
    for title in ("I'm Sorry", "I Can't Help Myself", "Timeout", "Sorry"):
        truth = {**row, "ground_truth": repr([title])}
        assert FutureXEvaluator().evaluate_prediction(title, truth) == 1, title


@pytest.mark.parametrize(
    ("prompt", "truth", "answer"),
    [
        ("Which two teams will reach the final?", "['Otters', 'Foxes']", "Otters and Foxes"),
        ("Which two teams will reach the final?", "Otters, Foxes", "Foxes, Otters"),
        ("Who will win: Otters vs. Foxes?", "Otters", r"\boxed{Otters will beat Foxes}"),
        ("谁会赢: 水獭 对 狐狸?", "水獭", r"\boxed{水獭战胜狐狸}"),
    ],
)
def test_names_of_a_question_without_options(prompt: str, truth: str, answer: str) -> None:
    row = {"id": "q", "level": 2, "prompt": prompt, "ground_truth": truth}
    assert FutureXEvaluator().evaluate_prediction(answer, row) == 1
    text = answer.removeprefix("\\boxed{").removesuffix("}")
    other = f"Nobody can say what {text} means"
    assert FutureXEvaluator().evaluate_prediction(other, row) == 0


@pytest.mark.parametrize("blanks", [" ", "  ", "\u00a0 ", "\t"])
def test_blanks_within_a_number_may_be_several(blanks: str) -> None:
    row = {"id": "q", "level": 4, "prompt": "How many?", "ground_truth": "1000", "Std": 1.0}
    answer = rf"\boxed{{1{blanks}000}}"
    assert FutureXEvaluator().evaluate_prediction(answer, row) == 1
