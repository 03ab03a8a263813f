"""What a language model decides: the numbers and names it gets, the replies that count, what
hostile answers gain.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from cli import CASES, ROOT, Record, asked, box, read_json
from eval import FutureXEvaluator
from forecasteval.common.markup import clean
from forecasteval.display.tables import format_text
from forecasteval.futurex.extraction import MAX_ANSWER
from forecasteval.futurex.llm import MAX_LENGTH, MAX_WORDS, choose_decoy, parse_name_reply
from forecasteval.futurex.reading.answers import parse_answer
from forecasteval.futurex.reading.names import parse_name
from llm_server import (
    UNSURE,
    LlmServer,
    Reply,
    Request,
    completion,
    error,
    honest,
    question,
    questions,
    quote,
)

LLM_CASES: Final = read_json(CASES / "llm.json")
TRUTH: Final = "73519.25"  # in no injection


def evaluate(server: LlmServer, data: list[Record], **options: Any) -> Record:
    """The results of one run, whose counts must add up."""
    results = FutureXEvaluator("key", server.url, **options).evaluate_all(data)
    decided = sum(item["decided_by"] == "model" for item in results["items"])
    names = (results["llm_names"] or {"changed": 0})["changed"]
    assert 0 <= results["llm"]["extracted"] + names - decided <= names  # some are of both
    assert results["llm"]["extracted"] <= results["llm"]["answered"]
    return results


def rules_only(data: list[Record]) -> list[Record]:
    return list(FutureXEvaluator().evaluate_all(data)["items"])


# --- The evaluator ---


def test_openai_is_imported_only_for_a_model() -> None:
    code = """
import sys
from eval import FutureXEvaluator
question = {"level": 4, "prompt": "How many?", "ground_truth": "7", "Std": 1.0}
for given in ((), (None, "http://127.0.0.1:9/v1"), ("your_api_key", "your_api_base_url")):
    FutureXEvaluator(*given).evaluate_prediction("7", question)
    print("openai" in sys.modules, "sqlite3" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False", "False", "False", "True", "True"]


@pytest.mark.parametrize("one_run", [False, True])
def test_what_is_one_run(server: LlmServer, one_run: bool) -> None:
    """In Python every call is a run; on the command line all files together are one."""
    evaluator = FutureXEvaluator("key", server.url)
    evaluator.one_run = one_run
    server.script = lambda request: error(401)
    assert evaluator.evaluate_prediction(UNSURE, question()) == 0
    server.script = honest
    assert evaluator.evaluate_all(questions(2))["llm"]["answered"] == (0 if one_run else 2)


def test_a_cache_that_cannot_be_used_is_one_warning(server: LlmServer, tmp_path: Path) -> None:
    evaluator = FutureXEvaluator("key", server.url, cache=tmp_path)
    first, second = (evaluator.evaluate_all(questions(n))["warnings"] for n in (1, 2))
    assert (len(first), second) == (1, [])


def test_signature(server: LlmServer) -> None:
    keys = ("llm_model", "llm_server", "llm_policy", "llm_prompt", "llm_names")

    def pick(evaluator: FutureXEvaluator) -> list[object]:
        return [evaluator.settings()[key] for key in keys]

    assert pick(FutureXEvaluator()) == [None] * 5
    assert pick(FutureXEvaluator("key", server.url, model="m-1")) == [
        "m-1",
        server.url,
        "unsure",
        2,
        None,
    ]
    named = FutureXEvaluator("key", server.url, model="m-1", llm_policy="always", llm_names=True)
    assert pick(named) == ["m-1", server.url, "always", 2, 1]
    for options, message in (
        ({"llm_policy": "never"}, "llm_policy: must be one of unsure"),
        ({"llm_names": True}, "an api_key"),
    ):
        with pytest.raises(Exception, match=message):
            FutureXEvaluator(**options)


def test_counts_report_and_warnings(server: LlmServer) -> None:
    def script(request: Request) -> Reply:
        special = {"1001": quote("7"), "1002": completion(""), "1003": error(403, "not\x1b you")}
        return special.get(request.answer.split()[0], honest(request))

    server.script = script
    data = [question(r"\boxed{1000}", "sure", "1000"), *questions(5)]
    data[-1]["ground_truth"] = "7"  # wrong in both readings
    results = evaluate(server, data)
    assert results["llm"] == {
        "prompts": 5, "answered": 2, "invalid": 1, "changed": 1,
        "failures": {"empty": 1, "forbidden": 1}, "calls": 5, "requests": 5,
        "reasons": {"forbidden": "not\\x1b you"}, "degraded": True,
        "tokens": {"prompt": 400, "completion": 40},
        "extracted": 2,
    }  # fmt: skip
    assert [item["decided_by"] for item in results["items"]] == [
        "grammar",
        "model",
        *["grammar"] * 3,
        "model",
    ]
    assert results["items"][1]["read"] == "1000"
    assert results["warnings"] == [
        "the language model failed for 2 of 5 prompts about answers: empty 1, forbidden 1",
        'the language model\'s server says (forbidden): "not\\x1b you"',
        "1 of 5 replies about answers were refused by validation",
        "this result is degraded: another run may give another score",
    ]
    assert (
        "Language model: prompts 5, answered 2, refused by validation 1, failed 2; answers"
        " found 2; scores changed 1; calls 5, requests 5, tokens 400 + 40."
        in format_text(results.report())
    )


@pytest.mark.parametrize("workers", [1, 8])
def test_the_same_result_from_the_cache_and_in_any_order(
    server: LlmServer, tmp_path: Path, workers: int
) -> None:
    server.script = lambda request: judge(knows)(request)._replace(wait=0.01 * (request.number % 3))
    data = [*questions(9), ranking(["Harbour City", "New Quill"], "港城", "NQ"), *OTHERS]
    options: Record = {"llm_names": True, "cache": tmp_path / "c.sqlite3"}
    first = evaluate(server, data, workers=9 - workers, **options)
    count = len(server.requests)
    second = evaluate(server, data[::-1], workers=workers, **options)
    assert second["items"] == first["items"][::-1]
    assert second["overall_score"] == first["overall_score"]
    assert (len(server.requests), second["llm"]["calls"], second["llm_names"]["calls"]) == (
        count,
        0,
        0,
    )


# --- Numbers: what is sent ---


@pytest.mark.parametrize("policy", ["unsure", "always"])
def test_which_numbers_are_sent(server: LlmServer, policy: str) -> None:
    data = [question(row["answer"], row["why"]) for row in LLM_CASES["policy"]]
    data.append(asked(3, "['Red', 'Blue']", UNSURE))
    results = evaluate(server, data, llm_policy=policy)
    assert results["llm"]["prompts"] == sum(row[policy] for row in LLM_CASES["policy"])
    assert {request.answer for request in server.requests} == {
        parse_answer(row["answer"]).text for row in LLM_CASES["policy"] if row[policy]
    }


def test_what_is_sent_of_an_answer(server: LlmServer) -> None:
    given = (
        r"Before: 8000. \boxed{It was <b>90</b> or \"now\" 101 zorks " + "long " * 900 + "zorks}"
    )
    data = [{**question(given, truth="8472.5亿元"), "prompt": "Turnover in hundreds of millions?"}]
    evaluate(server, data)
    (request,) = server.requests
    assert request.data["question"] == "Turnover in hundreds of millions?"
    assert len(request.answer) == MAX_ANSWER
    assert request.answer.endswith("long zorks")
    assert not any(digits in request.raw for digits in (b"8472", b"847", b"Std", b"<b>", b"8000"))


# --- Numbers: which replies count ---


@pytest.mark.parametrize(
    ("prompt", "read"), [("By how much will it change?", "-0.45"), ("How much is it?", "0.45")]
)
def test_a_fall_is_negative_where_a_change_is_asked_for(
    server: LlmServer, prompt: str, read: str
) -> None:
    """As the grammar reads it; a quote without the fall is refused."""
    data = [{**question(box("down 0.45% then 3 now"), truth="1%"), "prompt": prompt}]
    server.script = lambda request: quote("down 0.45%")
    (item,) = evaluate(server, data)["items"]
    assert (item["read"], item["decided_by"]) == (read, "model")
    server.script = lambda request: quote("0.45%")
    assert evaluate(server, data)["llm"]["invalid"] == 1


def test_a_value_beyond_floats_scores_nothing(server: LlmServer) -> None:
    """inf == inf: without Std, an endless value equals every truth."""
    server.script = lambda request: quote("9e307 trillion")
    given = r"\boxed{9e307 trillion then 90 now}"
    assert evaluate(server, [question(given, truth="5亿", std=None)])["items"][0]["score"] == 0


INJECTIONS: Final = read_json(CASES / "injections.json")


MALICE: Final[dict[str, Callable[[str], object]]] = {
    "the truth": lambda text: TRUTH,
    "the truth as a number": lambda text: float(TRUTH),
    "the truth in passages": lambda text: ["73519", ".25"],
    "first and last number": lambda text: re.findall(r"[0-9]+", text)[:: max(1, text.count(" "))],
    "last number": lambda text: re.findall(r"[0-9]+", text)[-1],
    "the answer itself": lambda text: text,
    "its own reply": lambda text: next(
        case["reply"] for case in INJECTIONS if case["span"][-6:] == text[-6:]
    ),
}


@pytest.mark.parametrize("malice", MALICE)
def test_injections(server: LlmServer, malice: str) -> None:
    """The value is a number of the answer, or what the grammar read; never the truth."""
    assert len(INJECTIONS) == 20
    server.script = lambda request: quote(MALICE[malice](request.answer))
    data = [question(box(case["span"]), case["name"], TRUTH) for case in INJECTIONS]
    results = evaluate(server, data, workers=1)
    assert all(request.prompt.count("<") == 2 for request in server.requests), (
        "a tag from inside the data"
    )
    for item, grammar in zip(results["items"], rules_only(data), strict=True):
        assert item["score"] == 0, item
        assert item["decided_by"] == "model" or item == grammar


# --- Names: what a model can do ---

GROUPS: Final = (  # what means the same to a good model
    {"Harbour City", "港城"}, {"New Quill", "NQ", "Nova Quilla"}, {"Tern Islands", "燕鸥群岛"},
    {"Red Kite", "赤鸢"},
)  # fmt: skip


def knows(a: str, b: str) -> bool:
    return any({a, b} <= group for group in GROUPS)


def judge(decides: Callable[[str, str], object]) -> Callable[[Request], Reply]:
    """A model that reads numbers well and decides pairs so."""

    def script(request: Request) -> Reply:
        if "answer" in request.data:
            return honest(request)
        assert request.data.keys() == {"a", "b"}
        decided = decides(request.data["a"], request.data["b"])
        return decided if isinstance(decided, Reply) else completion(json.dumps({"same": decided}))

    return script


@pytest.fixture
def judging() -> Iterable[LlmServer]:
    """A model on loopback that knows `GROUPS`."""
    with LlmServer(judge(knows)) as started:
        yield started


def ranking(truth: list[str], *names: str, name: str = "q", level: int = 3) -> Record:
    return {**asked(level, repr(truth), list(names)), "id": name}


OTHERS: Final = [  # whose true names serve as decoys
    {**ranking(["Grey Heron", "Low Tide"], name="d1"), "answer": None},
    {**ranking(["Tin Lantern"], name="d2"), "answer": box("Tin Lantern")},
]


def match(server: LlmServer, *data: Record, **options: Any) -> Record:
    return evaluate(server, [*data, *OTHERS], llm_names=True, **options)


def without(*data: Record) -> list[Record]:
    return rules_only([*data, *OTHERS])


def pairs(server: LlmServer) -> list[tuple[str, str]]:
    return sorted(
        (request.data["a"], request.data["b"])
        for request in server.requests
        if "answer" not in request.data
    )


def counts(results: Record, *keys: str) -> tuple[int, ...]:
    return tuple(results["llm_names"][key] for key in keys)


MATCHES: Final = {  # level, truth, answer, score by the rules, score with the model
    "right": (3, ["Harbour City", "New Quill"], ["港城", "NQ"], 0, 1),
    "turned": (3, ["Harbour City", "New Quill"], ["NQ", "港城"], 0, 0.8),
    "half": (3, ["Harbour City", "New Quill"], ["港城", "Low Fen"], 0, 0.4),
    "one by the rules": (3, ["Harbour City", "New Quill"], ["Harbour City", "NQ"], 0.4, 1),
    "wrong": (3, ["Harbour City"], ["New Quill"], 0, 0),
    "no need": (3, ["Harbour City", "New Quill"], ["Harbour City", "New Quill"], 1, 1),
    "two spellings of one name": (3, ["New Quill", "Red Kite"], ["NQ", "Nova Quilla"], 0, 0.4),
    "one name twice": (3, ["New Quill", "Red Kite"], ["NQ", "NQ"], 0, 0.4),
    "a choice": (1, ["Harbour City"], ["港城"], 0, 1),
    "a choice of too many": (1, ["Harbour City"], ["港城", "Low Fen"], 0, 0),
    "half a choice": (2, ["Harbour City", "New Quill"], ["NQ"], 0, 2 / 3),
    "both of a choice": (2, ["Harbour City", "New Quill"], ["NQ", "港城"], 0, 1),
}


def test_names_that_the_rules_leave(judging: LlmServer) -> None:
    data = [
        ranking(truth, *names, name=name, level=level)
        for name, (level, truth, names, _, _) in MATCHES.items()
    ]
    results = match(judging, *data)
    assert [item["score"] for item in without(*data)[: len(data)]] == [
        case[3] for case in MATCHES.values()
    ]
    for item, (_, _, _, before, after) in zip(results["items"], MATCHES.values(), strict=False):
        decided = "model" if after > before else "grammar"
        assert (item["score"], item["decided_by"]) == (pytest.approx(after), decided), item["id"]


@pytest.mark.parametrize(
    "decides", [lambda a, b: False, lambda a, b: True, lambda a, b: a == "Harbour City"]
)
def test_a_model_never_lowers_a_score(
    judging: LlmServer, decides: Callable[[str, str], object]
) -> None:
    data = ranking(["Harbour City", "New Quill", "Red Kite"], "New Quill", "Red Kite", "Low Fen")
    judging.script = judge(decides)
    assert match(judging, data)["items"][0]["score"] >= without(data)[0]["score"]


def test_only_what_the_rules_leave_is_sent(judging: LlmServer) -> None:
    match(
        judging,
        ranking(["Harbour City", "New Quill"], "Old Harbour City", "NQ", name="one"),
        {**asked(1, "B", box("A"), prompt="Who?\nA. Harbour City\nB. Red Kite"), "id": "options"},
        {**asked(1, "Yes", box("No")), "id": "yes"},
        {**asked(3, "Harbour City, Red Kite", None), "id": "missing"},
        {
            **asked(3, "Harbour City, Red Kite", "It is hard to say. I would go for 港城"),
            "id": "prose",
        },
    )
    true_pair, decoys = (
        [("New Quill", "NQ")],
        [pair for pair in pairs(judging) if pair[0] != "New Quill"],
    )
    assert [pair for pair in pairs(judging) if pair[0] == "New Quill"] == true_pair
    assert [name for _, name in decoys] == ["NQ"]


def test_without_llm_names_no_truth_is_sent(judging: LlmServer) -> None:
    data = [
        ranking(["Harbour City", "New Quill"], "港城", "NQ"),
        question(UNSURE, "n", truth=TRUTH),
        *OTHERS,
    ]
    results = evaluate(judging, data, llm_policy="always")
    (request,) = judging.requests
    for truth in ("Harbour City", "New Quill", "Grey Heron", "Tin Lantern", "73519"):
        assert truth.encode() not in request.raw
    assert (results["llm_names"], results["signature"]["llm_names"]) == (None, None)


@pytest.mark.parametrize(
    "parts", [["x" * MAX_LENGTH], ["word"] * MAX_WORDS], ids=["80 characters", "12 words"]
)
def test_long_names_are_never_sent(judging: LlmServer, parts: list[str]) -> None:
    name = " ".join(parts)
    match(judging, ranking(["Red Kite"], name))
    assert ("Red Kite", name) in pairs(judging)
    judging.requests.clear()
    longer = name + ("x" if len(parts) == 1 else " word")
    match(judging, ranking(["Red Kite"], longer, "港城"), ranking([longer], "赤鸢", name="true"))
    assert pairs(judging)
    assert all(longer not in pair for pair in pairs(judging))
    judging.requests.clear()
    evaluate(
        judging,
        [ranking(["Red Kite"], "港城"), ranking([longer], "赤鸢", name="true")],
        llm_names=True,
    )
    assert judging.requests == []  # No decoy, neither.


def test_a_list_of_hundreds_of_names_is_not_sent_whole(judging: LlmServer) -> None:
    """What a contestant wrote must not decide what its judge costs."""
    truth = [f"Harbour {letter}" for letter in "ABCD"]
    results = match(
        judging, {**asked(3, repr(truth), box(", ".join(f"q{n}" for n in range(300)))), "id": "q"}
    )
    assert counts(results, "pairs") == (4 * 8,)
    assert len(judging.requests) == 5 * 8


# --- Names: the decoy ---


def test_every_name_is_compared_with_a_name_of_another_question(judging: LlmServer) -> None:
    results = match(judging, ranking(["Harbour City", "Red Kite"], "港城", "Low Fen"))
    for name in ("港城", "Low Fen"):
        (decoy,) = {a for a, b in pairs(judging) if b == name} - {"Harbour City", "Red Kite"}
        assert decoy in {"Grey Heron", "Low Tide", "Tin Lantern"}
    assert counts(results, "pairs", "same", "refused", "invalid", "changed", "calls") == (
        4,
        1,
        0,
        0,
        1,
        6,
    )
    assert (
        "Language model, names: pairs sent 4, the same 1, names refused for their decoy 0,"
        " replies refused by validation 0; scores changed 1; calls 6, requests 6."
        in format_text(results.report())
    )


def test_a_name_that_is_the_same_as_its_decoy_is_refused_for_its_question(
    judging: LlmServer,
) -> None:
    """And for no other one."""
    judging.script = judge(lambda a, b: knows(a, b) or b == "Low Fen")
    other = ranking(["Red Kite"], "赤鸢", name="other")
    results = match(judging, ranking(["Harbour City", "Red Kite"], "港城", "Low Fen"), other)
    assert [item["score"] for item in results["items"][:2]] == [pytest.approx(0.4), 1]
    assert counts(results, "same", "refused", "changed") == (2, 1, 2)


def test_another_writing_of_a_refused_name_is_refused_too(judging: LlmServer) -> None:
    """Else an answer writes a name twice, once to talk and once to count."""
    judging.script = judge(lambda a, b: b == "港城。" or knows(a, b))
    results = match(judging, ranking(["Harbour City", "Red Kite"], "港城。", "港城"))
    assert (results["items"][0]["score"], counts(results, "refused")) == (0, (1,))


def test_without_a_decoy_nothing_is_sent(judging: LlmServer) -> None:
    results = evaluate(judging, [ranking(["Harbour City"], "港城")], llm_names=True)
    assert (results["items"][0]["score"], judging.requests) == (0, [])


@pytest.mark.parametrize(
    ("name", "truth", "decoy"),
    # Like the true name in script and length, so that "yes, if the other is in Chinese" does not
    # set them apart.
    [
        ("Low Tide", ["港城"], "灰鹭"),
        ("Low Tide", ["Harbour City"], "Tin Lantern"),
        ("Low Tide", ["Red"], "Fen"),
        ("Fen", ["Red"], "Tin Lantern"),
        ("Low Tide", ["Red", "Big Old Fen"], "Tin Lantern"),
        ("Low Tide", ["Fen", "Tin Lantern", "灰鹭", "Grey Heron of the Far Islands"], None),
    ],
)
def test_choose_decoy(name: str, truth: list[str], decoy: str | None) -> None:
    names = [
        parse_name(text) for text in ("灰鹭", "Grey Heron of the Far Islands", "Tin Lantern", "Fen")
    ]
    true_names = [parse_name(text) for text in truth]
    for candidates in (names, names[::-1]):
        chosen = choose_decoy(parse_name(name), true_names, candidates)
        assert (chosen and chosen.text) == decoy


# --- Names that talk to the judge ---

NAME_INJECTIONS: Final = read_json(CASES / "name_injections.json")
SENT: Final = {
    clean(case["text"]): case["reply"] for case in NAME_INJECTIONS
}  # a name is cleaned before it is one
OBEYS: Final[dict[str, Callable[[str, str], object]]] = {
    "yes to everything": lambda a, b: True,
    "yes to a name that talks": lambda a, b: knows(a, b) or bool({a, b} & {*SENT}),
    "its own reply": lambda a, b: (
        completion(SENT[a if a in SENT else b]) if {a, b} & {*SENT} else knows(a, b)
    ),
    "the name as reply": lambda a, b: completion(b) if b in SENT else knows(a, b),
    "the pair as reply": lambda a, b: completion(json.dumps({"a": a, "b": b, "same": True})),
    "yes in another form": lambda a, b: completion('{"same": "true"}'),
}


@pytest.mark.parametrize("obedience", OBEYS)
def test_twenty_names_that_talk_to_the_judge_gain_nothing(
    judging: LlmServer, obedience: str
) -> None:
    """A question each, and four in an answer; a model that obeys them, but knows honest names."""
    texts = [*SENT]
    assert len(texts) == 20
    judging.script = judge(OBEYS[obedience])
    data = [
        ranking(["Harbour City", "Red Kite"], text, name=str(n)) for n, text in enumerate(texts)
    ]
    data += [
        ranking(["Harbour City"], text, name=f"choice {n}", level=1) for n, text in enumerate(texts)
    ]
    data += [
        ranking(["Harbour City", "Red Kite"], *texts[n : n + 4], name=f"four {n}")
        for n in range(0, 20, 4)
    ]
    assert match(judging, *data)["items"] == without(*data)
    assert {text for _, text in pairs(judging)} >= {*texts}
    if "talks" in obedience:
        mixed = ranking(["Harbour City", "Red Kite"], "港城", *texts[:3])
        assert match(judging, mixed)["items"][0]["score"] == pytest.approx(0.4)


# --- Names: which replies count ---


@pytest.mark.parametrize("row", LLM_CASES["names"])
def test_name_replies(row: Record) -> None:
    assert parse_name_reply({}, row["reply"] * row.get("times", 1)) is row["wanted"]


@pytest.mark.parametrize("broken", ["the pair", "the decoy"])
@pytest.mark.parametrize("fault", [error(500), completion("yes")], ids=["500", "invalid"])
def test_a_pair_counts_only_with_both_replies(
    judging: LlmServer, broken: str, fault: Reply
) -> None:
    judging.script = judge(
        lambda a, b: knows(a, b) if (a == "Harbour City") == (broken == "the decoy") else fault
    )
    results = match(judging, ranking(["Harbour City"], "港城"))
    assert results["items"][0]["score"] == 0
    assert (counts(results, "invalid"), results["llm_names"]["degraded"]) == (
        ((0,), True) if fault.status == 500 else ((1,), False)
    )
