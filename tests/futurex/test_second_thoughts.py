"""What takes an answer back or shows that it is none: corrections, thoughts, examples."""

from __future__ import annotations

import time
from typing import Final

import pytest

from eval import FutureXEvaluator

IMPORTANT: Final = "\nIMPORTANT: end with \\boxed{YOUR_FORECAST}"
# Of each kind of question a prompt, level and Std; an answer in a box, and the one that replaces it
QUESTIONS: Final = {
    "yes or no": ("Will the bridge open?" + IMPORTANT, 1, None, "Yes", "No"),
    "label": ("Who wins?\nA.  Otters\nB.  Falcons\nC.  Nobody" + IMPORTANT, 1, None, "A", "C"),
    "number": ("At how many points will it close?" + IMPORTANT, 4, 3.0, "400", "412.65"),
    "name": ("Who will win the award?" + IMPORTANT, 3, None, "Ugo Hart", "Marek Solberg"),
}
REPLACED: Final = """
Revised answer: NEW
My updated prediction is NEW.
New answer: NEW
Let me change that to NEW
Let me correct that: NEW
I take that back. NEW.
I now say NEW
I now believe it is NEW.
Sorry, that should have been NEW.
That should be NEW.
Oops, NEW.
My mistake: NEW
EDIT: NEW
**Correction:** NEW
Correction: the answer is NEW.
On second thoughts, NEW.
Actually, I think it is NEW.
Wait, it should be NEW.
No wait, NEW.
Hmm, no: NEW
Scratch that. My answer is NEW.
I've changed my mind. NEW.
I'd like to change my answer to NEW.
I made a mistake. The answer is NEW.
Hold on, NEW.
Typo above; should be NEW
[EDIT] NEW
Use NEW instead.
Update: now NEW.
Edit 2: NEW
After further review, my answer is NEW.
Amended answer: NEW
我重新考虑后改选NEW。
更改答案：NEW
Me equivoqué, es NEW.
I'm changing my answer to NEW
I have changed my answer to NEW.
I am switching to NEW.
I hereby revise my prediction to NEW.
I meant to say NEW.
The box above is wrong, it should be NEW.
Ignore the above; my answer is NEW.
However, after further thought, I change my answer to NEW.
But on reflection I change my answer to NEW, because of the weather.
(correction: NEW)
, no wait, NEW
我将答案改为NEW
我把上面的答案改成NEW。
抱歉，应为NEW
对不起，答案应该是NEW
我改选NEW
不过，经过再三考虑，我改为NEW
更正：NEW
更正后的答案是NEW
不，应该是NEW
写错了，是NEW
刚才的答案有误，应为NEW
我收回，NEW。
我改主意了：NEW
其实应该是NEW
Corrección: NEW
Perdón, debería ser NEW
Korrektur: NEW
訂正：NEW
Исправление: NEW
""".strip().split("\n")
WITHDRAWN: Final = (
    "I take that back.", "Please ignore the box above.", "Scratch that.", "Strike that.",
    "I withdraw my prediction.", "Revised answer: unclear", "I change my answer to the other one.",
    "我收回以上答案。", "以上答案作废。", "我撤回。",
)  # fmt: skip
KEPT: Final = """
I considered changing my answer to OTHER but stay with it.
I will not change my answer to OTHER.
I could change my answer to OTHER, but I won't.
If the strike goes on, I would change my answer to OTHER.
Update: if the strike goes on, OTHER.
I reserve the right to change my answer to OTHER.
Let me know if I should change that to OTHER.
I revised my answer from OTHER after reading the news.
My first thought was OTHER.
Sorry, I can't be more certain.
Note: no official source confirms this.
Edit: typo
Correction: none needed.
Actually, this is almost unanimous
I changed my mind twice before this.
That should be clear.
Instead of OTHER, I chose this.
To say OTHER would be wrong.
I take that as given.
I was wrong last time: OTHER failed.
Let me explain: OTHER is weak.
To correct a common belief: OTHER is not strong.
I now wait for the result.
Wait and see.
Please ignore typos above.
"Actually, OTHER" is what a sceptic would say.
A revised answer may follow.
New data: none.
我曾考虑改为OTHER，但仍维持。
我不会改为OTHER。
如果下雨，我改为OTHER。
注意：不构成投资建议。
抱歉，无法给出更多信息。
""".strip().split("\n")
THOUGHTS: Final = (
    "<think>Perhaps {box}, but", "<think>\nFinal answer: {text}\n", "<THINK>{box}",
    "<thinking>so {box}", "<think>a</think><think>{box}", "<think>{box}</think>\n",
)  # fmt: skip
EXAMPLES: Final = (
    "For example, {box}. I refuse", "e.g. {box}", "Example output: {box}\nI decline.",
    "You want an answer like {box}, but I can't predict this.", "I decline. For example:\n{box}",
    "{box} is just an example of the format.", "例如{box}。我无法预测。",
    "格式如{box}，但我无法预测。",
    "It ends with e.g. {box} for one or {box} for several. I decline.",
)  # fmt: skip
ANSWERED: Final = (
    "<think>\\boxed{{}} hm</think>{box}", "{box}<think>or another", "例如，他们都累。{box}",
    "<think>a <answer>{text}</answer>", "For example, they lost twice. {box}",
    "In the format: {box}",
)  # fmt: skip


def score(answer: str, kind: str, truth: str) -> float:
    prompt, level, std, _, _ = QUESTIONS[kind]
    row = {"id": "q", "level": level, "prompt": prompt, "ground_truth": truth, "Std": std}
    return FutureXEvaluator().evaluate_prediction(answer, row)


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("below", REPLACED)
def test_a_correction_replaces_a_box(kind: str, below: str) -> None:
    old, new = QUESTIONS[kind][3:]
    gap = "" if below[0] in ",(" else "\n\n"
    answer = f"\\boxed{{{old}}}{gap}{below.replace('NEW', new)}"
    assert (score(answer, kind, new), score(answer, kind, old)) == (1, 0)


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("below", WITHDRAWN)
def test_a_withdrawal_leaves_nothing(kind: str, below: str) -> None:
    old = QUESTIONS[kind][3]
    assert score(f"\\boxed{{{old}}}\n\n{below}", kind, old) == 0


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("below", KEPT)
def test_a_remark_is_no_correction(kind: str, below: str) -> None:
    old, other = QUESTIONS[kind][3:]
    assert score(f"\\boxed{{{old}}}\n\n{below.replace('OTHER', other)}", kind, old) == 1


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("form", [*THOUGHTS, *EXAMPLES])
def test_thoughts_and_examples_are_no_answers(kind: str, form: str) -> None:
    text = QUESTIONS[kind][3]
    assert score(form.format(box=f"\\boxed{{{text}}}", text=text), kind, text) == 0


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("form", ANSWERED)
def test_an_answer_beside_thoughts_and_examples_counts(kind: str, form: str) -> None:
    text = QUESTIONS[kind][3]
    assert score(form.format(box=f"\\boxed{{{text}}}", text=text), kind, text) == 1


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("word", ["hmm，", "等等，x，", "sorry, ", "but, ", "so, so "])
def test_endless_second_thoughts_end(kind: str, word: str) -> None:
    old = QUESTIONS[kind][3]
    begin = time.process_time()
    for text in (f"\\boxed{{{old}}}\n\n{word * 1200}", f"Final answer: {word * 400}"):
        assert score(text[:9900], kind, old) in (0, 1)
    assert time.process_time() - begin < 5
