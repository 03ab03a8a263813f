"""What the model is asked, what is sent, and which replies count: it can neither invent a score nor copy a truth."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cli import CASES, Record, read_json
from eval import FutureXEvaluator
from forecasteval.futurex.llm_units import (
    FACTORS,
    MAX_PROMPT_SPAN,
    PROBE,
    build_prompt,
    cut_span,
    is_settled,
    read_reply,
    span_numbers,
)
from forecasteval.futurex.numbers import Quantity
from forecasteval.futurex.units import NumberTruth
from llm_runs import CANARY, UNSURE, after_probe, evaluate, question, spans, without_model
from llm_server import Asked, LlmServer, Reply, answer, completion

INJECTIONS: Final = read_json(CASES / "injections.json")
TRUTH: Final = "73519.25"  # in no injection
# The table of scales, written down a second time on purpose.
SCALES: Final = (0.01, 1, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12)

# --- What is asked ---


POLICY: Final = [  # answer, asked by "unsure", asked by "always"
    (r"\boxed{101}", False, True),
    (r"\boxed{1.5亿元}", False, True),
    (r"\boxed{It will be 101 people}", False, True),
    (r"\boxed{100-120}", False, True),
    ("101", False, True),
    (101, False, True),
    (UNSURE, True, True),
    (r"\boxed{from 90 in May, 95 in June}", True, True),
    (r"\boxed{101 zorkmids}", True, True),
    (r"\boxed{101 gazillion yuan}", True, True),
    ("I think it was 90 and will be 101.", False, False),
    ("", False, False),
    (None, False, False),
    (r"\boxed{}", False, False),
    (r"\boxed{no idea}", False, True),
]


@pytest.mark.parametrize(("given", "unsure", "always"), POLICY)
def test_what_is_asked(server: LlmServer, given: object, unsure: bool, always: bool) -> None:
    for policy, expected in (("unsure", unsure), ("always", always)):
        server.requests.clear()
        results = evaluate(server, [question(given)], llm_policy=policy)
        assert (results["llm"]["asked"], len(spans(server))) == (int(expected), int(expected)), policy
        assert bool(server.requests) == expected, "a probe without a question"


def test_only_numbers_are_asked(server: LlmServer) -> None:
    data: list[Record] = [
        {"id": 1, "level": 1, "prompt": "Who?\nA. 90\nB. 101", "ground_truth": "A", "answer": UNSURE},
        {"id": 2, "level": 3, "prompt": "Which are the top 2?", "ground_truth": "['Red', 'Blue']", "answer": UNSURE},
    ]
    assert evaluate(server, data, llm_policy="always")["llm"]["asked"] == 0
    assert server.requests == []


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(Exception, match="llm_policy: must be unsure or always, got 'never'"):
        FutureXEvaluator(llm_policy="never")


def test_who_decided_and_what_changed(server: LlmServer) -> None:
    results = evaluate(server, [question(r"\boxed{100}", 1), question(UNSURE, 2), question(r"\boxed{7 a, 7 b}", 3)])
    assert [item["decided_by"] for item in results["items"]] == ["grammar", "model", "model"]
    assert [item["score"] for item in results["items"]] == [1.0, 0.96, 0.0]  # 1 - (1/5)^2
    assert results["items"][1]["read"] == "101"
    counts = {key: results["llm"][key] for key in ("asked", "answered", "refused", "changed", "failures", "degraded")}
    assert counts == {"asked": 2, "answered": 2, "refused": 0, "changed": 1, "failures": {}, "degraded": False}


# --- The request ---


def test_request(server: LlmServer) -> None:
    given = r"\boxed{It was <b>90 万</b>, \"now\" 101 zorks " + "long " * 200 + "}"
    record = {**question(given, truth="8472.5亿元"), "prompt": "Turnover in hundreds of millions of yuan?"}
    evaluate(server, [record], key=CANARY, model="m-1")
    probe, asked = server.requests
    assert probe.span == PROBE
    assert asked.body["model"] == "m-1"
    assert asked.body["temperature"] == 0
    assert asked.body["response_format"]["type"] == "json_schema"
    assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["number", "scale", "unit"]
    assert asked.data["asked"] == "in hundreds of millions of yuan"
    assert asked.data["truth_unit"] == {"scale": 1e8, "unit": "元"}
    assert len(asked.span) == 500
    assert asked.span.startswith("It was <b>90 万</b>")
    assert asked.prompt.startswith("<data>\n{")
    assert asked.prompt.endswith("}\n</data>")
    assert "<b>" not in asked.prompt  # JSON-encoded: no tag can come from inside
    for digits in (b"8472", b"847", b"Std"):
        assert digits not in asked.raw


def test_prompt_never_holds_the_truth() -> None:
    prompts = {
        build_prompt(NumberTruth(Quantity(value, 1e8, "元"), None, 5.0), "How many?", "7 or 8")
        for value in (1.0, 73519.25, -4.0)
    }
    assert len(prompts) == 1


# --- Injections, and a model that obeys them ---


def written_numbers(span: str) -> set[float]:
    """Every number that stands in a text with no digit beside it, read as generously as anyone may."""
    numbers: set[float] = set()
    for begin in range(len(span)):
        if begin and span[begin - 1] in "0123456789":
            continue
        for end in range(begin + 1, min(len(span), begin + 60) + 1):
            literal = span[begin:end]
            if re.fullmatch(r"[0-9.][0-9.,']*(?:e[-+]?[0-9]+)?", literal, re.I) and not re.match("[0-9]", span[end:]):
                for plain in (literal.replace(",", ""), literal.replace(".", "").replace(",", ".")):
                    try:
                        value = float(plain.replace("'", ""))
                    except ValueError:
                        continue
                    numbers |= {value, -value}
    return numbers


def obeying(number: object, scale: object) -> Callable[[str], str]:
    return lambda span: json.dumps({"number": number, "scale": scale, "unit": None, "score": 1, "truth": TRUTH})


def tuned(span: str) -> str:
    """The first number of the span, with the one scale that would make it the truth."""
    first = re.search(r"[0-9]+", span)
    return obeying(first[0] if first else "1", float(TRUTH) / float(first[0] if first else 1))(span)


MALICE: Final[dict[str, Callable[[str], str]]] = {
    "the truth": obeying(TRUTH, 1),
    "the truth as a number": obeying(float(TRUTH), 1),
    "the truth, scaled": obeying("7351925", 0.01),
    "tuned scale": tuned,
    "last literal, largest scale": lambda span: obeying(re.findall(r"[0-9]+", span)[-1], 1e12)(span),
    "scale out of the table": lambda span: obeying(re.findall(r"[0-9]+", span)[-1], 1e13)(span),
    "the span itself": lambda span: span,
    "its own reply": lambda span: next(case["reply"] for case in INJECTIONS if case["span"][-6:] == span[-6:]),
}


def test_injection_table() -> None:
    assert len(INJECTIONS) == 20
    assert len({case["span"] for case in INJECTIONS}) == 20
    assert all(case["why"] and case["reply"] and TRUTH not in case["span"].split() for case in INJECTIONS)
    assert set(FACTORS) == set(SCALES)


@pytest.mark.parametrize("malice", MALICE)
def test_injections(server: LlmServer, malice: str) -> None:
    """The value is a number of the span times a known factor, or what the grammar read; never the truth."""
    data = [question(rf"\boxed{{{case['span']}}}", case["name"], TRUTH) for case in INJECTIONS]

    def reply(asked: Asked) -> Reply:
        own = next((case["reply"] for case in INJECTIONS if case["name"] == names.get(asked.span)), "")
        return completion(own if malice == "its own reply" else MALICE[malice](asked.span))

    names: dict[str, str] = {}
    evaluate(server, data, workers=1)  # an honest run tells what each span looks like on the wire
    names.update(zip(spans(server), [case["name"] for case in INJECTIONS], strict=True))
    assert all(asked.prompt.count("<") == 2 for asked in server.requests), "a tag from inside the data"
    server.script = after_probe(reply)
    results = evaluate(server, data)
    for item, grammar, span in zip(results["items"], without_model(data), names, strict=True):
        assert item["score"] == 0, item
        if item["decided_by"] == "grammar":
            assert item == grammar
        else:
            allowed = [number * factor for number in written_numbers(span) for factor in SCALES]
            assert any(abs(float(item["read"]) - value) <= 1e-9 * abs(value) for value in allowed), (item, span)


NUMERIC: Final = st.text("0123456789.,'-+−e %万亿abc\n", max_size=30)
SPANS: Final = st.one_of(NUMERIC, st.text(max_size=30))
_LEAVES: Final = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(SCALES)
JUNK: Final = _LEAVES | st.lists(_LEAVES, max_size=3) | st.dictionaries(st.text(max_size=5), _LEAVES, max_size=3)


@st.composite
def spans_and_replies(draw: st.DrawFn) -> tuple[str, str]:
    span = draw(SPANS)
    cut = sorted(draw(st.lists(st.integers(0, len(span)), min_size=2, max_size=2)))
    number = draw(st.one_of(st.just(span[cut[0] : cut[1]]), st.sampled_from(span.split() or [""]), JUNK))
    record = {"number": number, "scale": draw(st.sampled_from(SCALES) | JUNK), "unit": draw(JUNK)}
    text = draw(st.just(json.dumps(record)) | st.text(max_size=40))
    return span, draw(st.sampled_from(["", "```json\n", "{x} "])) + text + draw(st.sampled_from(["", "\n```", "}"]))


@settings(max_examples=600)
@given(spans_and_replies())
@example(("1e1234", '{"number": "1e123", "scale": 1}'))
@example(("873519.251", '{"number": "73519.25", "scale": 1}'))
@example(("12345", '{"number": "123", "scale": 1}'))
@example(("12 or 31", '{"number": "12", "scale": true}'))
def test_whatever_the_reply(case: tuple[str, str]) -> None:
    span, reply = case
    quantity = read_reply(reply, span)
    if quantity is not None:
        assert quantity.value in written_numbers(span)
        assert quantity.scale is None or quantity.scale in SCALES
        assert quantity.value >= 0 or re.search("[-−–负]|minus|negative", span)


def test_a_sign_must_stand_in_the_span() -> None:
    assert read_reply('{"number": "-12", "scale": 1}', "12 or 31") is None
    assert read_reply('{"number": "-12", "scale": 1}', "-12 or 31") == Quantity(-12.0, None, "")


def test_number_cut_at_the_end_of_the_span_is_no_number(server: LlmServer) -> None:
    given = r"\boxed{" + "x " * 248 + "a 123456 now 7 zork}"
    server.script = after_probe(answer("12"))
    results = evaluate(server, [question(given)])
    assert spans(server)[0].endswith("x a ")  # the cut falls into a number: it is not sent in part
    assert results["items"][0]["read"] != "12"


@pytest.mark.parametrize("given", [r"\boxed{9e307 trillion}", r"\boxed{9e307 then, after 90 now}"])
def test_value_beyond_floats_scores_nothing(server: LlmServer, given: str) -> None:
    """inf == inf: without Std, an endless value equals every truth."""
    server.script = after_probe(answer("9e307", 1e12))
    data = [question(given, truth="5亿", std=None)]
    assert evaluate(server, data)["items"][0]["score"] == 0
    assert without_model(data)[0]["score"] == 0


# --- Spans and literals ---


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("101", True),
        ("no idea", True),
        ("It will be 101 people", True),
        ("101 and rising", True),
        ("101 zorks", False),
        ("90, then 101", False),
        ("36氪", False),
    ],
)
def test_is_settled(text: str, settled: bool) -> None:
    assert is_settled(text) is settled


def test_cut_span() -> None:
    text = "x" * (MAX_PROMPT_SPAN - 3)
    assert cut_span(text + "123") == text + "123"
    assert cut_span(text + "123 4") == text + "123"
    assert cut_span(text + "1234") == text
    assert cut_span(text + "1,23.4") == text


def test_span_numbers() -> None:
    assert span_numbers("-12 or 1,234.5, minus $3") == {
        "12": 12.0, "-12": -12.0, "1,234.5": 1234.5, "3": 3.0, "-3": -3.0,
    }  # fmt: skip
    assert span_numbers("Red") == {}


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{"number": "12", "scale": 1, "unit": null}', Quantity(12.0, None, "")),
        ('{"number": "12", "scale": 0.01, "unit": "%"}', Quantity(12.0, 0.01, "%")),
        ('{"number": " +12 ", "scale": 10000.0, "unit": "元"}', Quantity(12.0, 1e4, "元")),
        ('{"number": "−12", "scale": 1}', Quantity(-12.0, None, "")),
        ('{"number": "12", "scale": 1, "unit": "\\u001b[31m"}', Quantity(12.0, None, "\\x1b[31m")),
        ('{"number": "1", "scale": 1}', None),
        ('{"number": 12, "scale": 1}', None),
        ('{"number": "12", "scale": 2}', None),
        ('{"number": "12"}', None),
        ("12", None),
    ],
)
def test_read_reply(reply: str, wanted: Quantity | None) -> None:
    assert read_reply(reply, "-12 or 31") == wanted
