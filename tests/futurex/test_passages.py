"""Answers that no rule can read, quoted by a language model: what is sent, what counts, and what
hostile answers gain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import CASES, Record, asked, box, read_json
from eval import FutureXEvaluator
from forecasteval.futurex.extraction import MAX_ANSWER, parse_answer_reply
from llm_server import LlmServer, Reply, Request, completion, error

NATIONS: Final = "Which nations will be ranked from 1 to 3?"
MATCH: Final = "Who wins?\nA. Harrow win\nB. draw\nC. Selby win"
INJECTIONS: Final = read_json(CASES / "answer_injections.json")


def quoting(passages: object) -> Callable[[Request], Reply]:
    return lambda request: completion(json.dumps({"answer": passages}))


def evaluate(passages: object, *data: Record, **options: Any) -> tuple[Record, list[Request]]:
    """The results with a model that quotes these passages of every answer."""
    with LlmServer(quoting(passages)) as server:
        results = FutureXEvaluator("key", server.url, **options).evaluate_all(list(data))
        return results, server.requests


def test_prose_is_read_by_the_model() -> None:
    text = "Norway will be ahead of the United States, and the Netherlands come after them."
    question = asked(3, "['Norway', 'United States', 'Netherlands']", text, prompt=NATIONS)
    results, requests = evaluate(["Norway", "United States", "Netherlands"], question)
    (item,) = results["items"]
    assert (item["score"], item["outcome"], item["decided_by"]) == (1.0, "scored", "model")
    assert results["llm"]["extracted"] == 1
    assert requests[0].data == {"question": NATIONS, "answer": text}
    assert FutureXEvaluator().evaluate_prediction(text, question) == 0


@pytest.mark.parametrize(
    ("level", "prompt", "truth", "answer", "passage", "score"),
    [
        (1, MATCH, "B", "I expect a draw, B, at the end.", "B", 1),
        (1, "Will it?", "Yes", "It opens in time, so yes for me.", "yes", 1),
        (4, "How many USD?", "31.5", "It should be near 31.5 USD, I think.", "31.5 USD", 1),
        (4, "The change of prices in %?", "-0.4", "Prices go down 0.4% this time.", "down 0.4%", 1),
        (1, MATCH, "B", box("My money is on a draw, that is to say B here"), "B", 1),
    ],
)
def test_the_rules_read_what_is_quoted(
    level: int, prompt: str, truth: str, answer: str, passage: str, score: float
) -> None:
    question = asked(level, truth, answer, 1.0 if level == 4 else None, prompt)
    results, _ = evaluate(passage, question)
    assert results["items"][0]["score"] == score
    assert results["items"][0]["decided_by"] == "model"


NOT_QUOTED: Final = {  # passage, text
    "not there": ("C", "B it is"),
    "within a word": ("B", "But Better"),
    "within a number": ("31", "131.5 and 31.5"),
    "without its sign": ("0.4", "-0.4"),
    "without its scale": ("31.5", "31.5 million"),
    "without its percent sign": ("0.4", "0.4%"),
    "without its fall": ("0.4%", "down 0.4%"),
    "denied": ("B", "not B"),
    "denied in Chinese": ("甲", "不是甲"),
    "translated": ("Norway", "挪威"),
    "empty": ("", "B"),
    "a number of the reply": (31.5, "31.5"),
    "an object": ({"a": 1}, "a 1"),
    "a list in a list": ([["B"]], "B"),
    "one of two is invented": (["B", "C"], "B it is"),
    "too long": ("a " * 200, "a " * 300),
}


@pytest.mark.parametrize(("passage", "text"), NOT_QUOTED.values(), ids=NOT_QUOTED)
def test_what_does_not_stand_in_the_answer(passage: object, text: str) -> None:
    assert parse_answer_reply({"answer": text}, json.dumps({"answer": passage})) is None


@pytest.mark.parametrize(
    "reply", ["", "B", '{"answer": "B", "score": 1}', '{"answer": "B"} {"answer": "B"}', '["B"]']
)
def test_replies_that_are_refused(reply: str) -> None:
    assert parse_answer_reply({"answer": "B"}, reply) is None


@settings(max_examples=200)
@given(st.text("01.,-−% Babnot'\n*百", max_size=30), st.data())
def test_any_reply_quotes_the_answer(text: str, data: st.DataObject) -> None:
    """Whole words and numbers of it, blanks and marks aside."""
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    reply = json.dumps({"answer": text[slice(*ends)]})
    (passage,) = parse_answer_reply({"answer": text}, reply) or [text]
    passage, words = (re.sub(r"[\s*']+", " ", words).strip() for words in (passage, text))
    assert re.search(rf"(?<![0-9a-zA-Z]){re.escape(passage)}(?![0-9a-zA-Z])", words)


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        *(("Sweden", text) for text in ("It will not be Sweden", "They never let Sweden win")),
        *(("Sweden", text) for text in ("anyone but Sweden", "I doubt that Sweden wins")),
        *(("Sweden", text) for text in ("I exclude Sweden", "all but Sweden", "排除Sweden")),
        *(("Sweden", text) for text in ("I don’t think Sweden wins", "Nobody expects Sweden")),
        *(("瑞典", text) for text in ("不会是瑞典", "除了瑞典")),
    ],
)
def test_a_denial_anywhere_in_front_in_the_clause(passage: str, text: str) -> None:
    assert parse_answer_reply({"answer": text}, json.dumps({"answer": passage})) is None


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        *(("Sweden", text) for text in ("No doubt Sweden wins", "not only Sweden wins")),
        *(("Sweden", text) for text in ("It is not Norway, but Sweden", "Not Norway: Sweden")),
        *(("Sweden", text) for text in ("Sweden, not Norway", "Without a doubt Sweden")),
        *(("瑞典", text) for text in ("不是挪威，是瑞典", "毫无疑问是瑞典")),
        ("1,234.5", "It is not 7, it is 1,234.5"),
    ],
)
def test_a_denial_of_something_else(passage: str, text: str) -> None:
    assert parse_answer_reply({"answer": text}, json.dumps({"answer": passage})) == (passage,)


TASK: Final = (
    'You can predict future events. The event to be predicted: "Will the harbour tunnel open '
    'before March?"\n\nIMPORTANT: Your final answer MUST end with this exact format: '
    "\\boxed{Yes} or \\boxed{No}"
)


@pytest.mark.parametrize("policy", ["unsure", "always"])
@pytest.mark.parametrize(
    "text",
    [
        TASK,
        f"Agent failed: max steps. Task was: {TASK}",
        f"I do not have enough information. The task asks me to end with: {TASK[110:]}",
        f"Traceback (most recent call last):\nValueError: {TASK!r}",
        TASK.partition("IMPORTANT")[0],
    ],
    ids=["alone", "crash", "instructions", "traceback", "question"],
)
def test_the_prompt_is_never_sent_as_an_answer(text: str, policy: str) -> None:
    question = asked(1, "Yes", text, prompt=TASK)
    results, requests = evaluate("Yes", question, llm_policy=policy)
    assert (results["overall_score"], requests) == (0, [])


def test_of_prose_with_the_prompt_only_the_prose_is_sent() -> None:
    question = asked(1, "Yes", f"Task: {TASK} I see no way to tell here.", prompt=TASK)
    results, requests = evaluate("Yes", question)
    assert results["overall_score"] == 0
    assert " ".join(requests[0].data["answer"].split()) == "Task: I see no way to tell here."


def test_two_boxes_are_sent() -> None:
    text = r"It is \boxed{A} or \boxed{B}"
    results, requests = evaluate("B", asked(1, "B", text, prompt=MATCH))
    assert (len(requests), results["items"][0]["score"]) == (1, 1.0)


def test_a_quoted_unit_is_converted() -> None:
    """The model quotes, the table converts."""
    text = "The probe should go about as far as 100 km, I think."
    question = asked(4, "62.14 miles", text, 1.0, "How far will it go?")
    assert evaluate("100 km", question)[0]["items"][0]["score"] == pytest.approx(1, abs=1e-4)
    assert evaluate("62.14 miles", question)[0]["items"][0]["score"] == 0  # not said


@pytest.mark.parametrize(
    ("refused", "of", "degraded"), [(2, 3, False), (3, 6, False), (3, 5, True)]
)
def test_refused_replies_degrade_a_result_and_are_not_kept(
    refused: int, of: int, degraded: bool, tmp_path: Path
) -> None:
    data = [asked(1, "B", f"I would say B{at}, or B.", prompt=MATCH) for at in range(of)]
    texts = {f"B{at}" for at in range(refused)}

    def script(request: Request) -> Reply:
        invents = any(text in request.answer for text in texts)
        return completion(json.dumps({"answer": "Nowhere" if invents else "B"}))

    with LlmServer(script) as server:
        evaluator = FutureXEvaluator("key", server.url, cache=tmp_path / "c.sqlite3", workers=1)
        first, second = (evaluator.evaluate_all(data)["llm"] for _ in range(2))
    assert (first["invalid"], first["degraded"], first["calls"]) == (refused, degraded, of)
    assert second["calls"] == refused


def test_requests_count_what_was_sent_again() -> None:
    """A server that fails once: two requests for one prompt."""
    sent: list[Request] = []

    def script(request: Request) -> Reply:
        sent.append(request)
        if len(sent) == 1:
            return error(500, headers={"retry-after-ms": "1"})
        return completion(json.dumps({"answer": "B"}))

    with LlmServer(script) as server:
        evaluator = FutureXEvaluator("key", server.url)
        llm = evaluator.evaluate_all([asked(1, "B", "I would say B.", prompt=MATCH)])["llm"]
    assert (llm["prompts"], llm["calls"], llm["requests"], len(sent)) == (1, 1, 2, 2)


def test_blanks_and_marks_are_folded() -> None:
    data = {"answer": "I take **Glass\n Harbor** ('Part  Two')."}
    assert parse_answer_reply(data, '{"answer": "Glass Harbor"}') == ("Glass Harbor",)
    assert parse_answer_reply(data, '{"answer": null}') == ()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "N/A",
        "Error: B",
        '{"error": "B"}',
        box("B"),
        "B",
        "Answer: B",
    ],
)
def test_what_is_not_sent(answer: object) -> None:
    question = asked(1, "B", answer, prompt=MATCH)
    results, requests = evaluate("B", question, asked(1, "B", box("B"), prompt=MATCH))
    assert requests == []
    assert results["items"][0] == FutureXEvaluator().evaluate_all([question, question])["items"][0]


def test_the_words_of_the_question_are_not_sent() -> None:
    prompt = f"{MATCH}\nThe last match. End with \\boxed{{YOUR_PREDICTION}}, a letter."
    assert evaluate("B", asked(1, "B", prompt, prompt=prompt))[1] == []


def test_always_sends_what_has_no_box() -> None:
    questions = [asked(1, "B", answer, prompt=MATCH) for answer in ("B", "Answer: A", box("B"))]
    results, requests = evaluate("B", *questions, llm_policy="always")
    assert [request.data["answer"] for request in requests] == ["B", "Answer: A"]
    assert [item["decided_by"] for item in results["items"]] == ["model", "grammar", "grammar"]


def test_the_end_of_a_long_answer_is_sent_and_no_truth() -> None:
    text = "word " * 3000 + "so it must be the draw"
    _, requests = evaluate(None, asked(1, "C", text, prompt=MATCH))
    assert requests[0].data["answer"] == text[-MAX_ANSWER:]
    assert "truth" not in requests[0].prompt


def test_replies_are_cached(tmp_path: Path) -> None:
    question = asked(1, "B", "I would say B, in the end.", prompt=MATCH)
    cache = tmp_path / "cache.sqlite3"
    with LlmServer(quoting("B")) as server:
        evaluator = FutureXEvaluator("key", server.url, cache=cache)
        results = [evaluator.evaluate_all([question]) for _ in range(2)]
    assert len(server.requests) == 1
    assert results[0]["items"] == results[1]["items"]
    assert [result["llm"]["calls"] for result in results] == [1, 0]


OBEYING: Final[dict[str, Callable[[Record], str]]] = {
    "what it is told": lambda case: case["reply"],
    "the truth": lambda case: json.dumps({"answer": "Saltmere"}),
    "the truth and more": lambda case: json.dumps({"answer": ["Saltmere", case["answer"][:20]]}),
    "the whole answer": lambda case: json.dumps({"answer": case["answer"][-300:]}),
    "its first word": lambda case: json.dumps({"answer": case["answer"].split()[0]}),
}


@pytest.mark.parametrize("obeying", OBEYING)
def test_injections_gain_nothing(obeying: str) -> None:
    """An answer that tells the judge what to say can only be quoted."""
    assert len(INJECTIONS) == 35
    for case in INJECTIONS:
        assert "saltmere" not in case["answer"].lower()
        with LlmServer(lambda request, case=case: completion(OBEYING[obeying](case))) as server:
            evaluator = FutureXEvaluator("key", server.url, llm_policy="always")
            question = asked(3, "['Saltmere']", case["answer"], prompt="Who will lead the table?")
            (item,) = evaluator.evaluate_all([question])["items"]
        assert item["score"] == 0, case
        for request in server.requests:
            assert request.prompt.count("<") == 2  # no tag from inside the data
