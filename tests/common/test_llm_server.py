"""One call: which failures are whose, dialects, what a server says, pieces of the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from forecasteval.common.llm import ModelClient, is_server_failure
from forecasteval.common.llm_server import Server
from forecasteval.futurex.llm_units import PROBE
from llm_runs import CANARY, GOOD, after_probe, evaluate, question, questions, spans
from llm_server import NO_RETRY, Asked, LlmServer, Reply, completion, error, honest


@pytest.mark.parametrize("status", [300, 304, 400, 402, 403, 405, 406, 409, 410, 413, 415, 418, 421, 422, 451, 499])
def test_no_status_but_an_answer_is_an_answer(server: LlmServer, status: int) -> None:
    """What the server refuses marks the result, so that the next night asks again."""
    server.script = after_probe(Reply(b"{}", status, NO_RETRY))
    asked = evaluate(server)["llm"]
    assert sum(asked["failures"].values()) == 1
    assert asked["degraded"]


@pytest.mark.parametrize("kind", ["empty", "cut off", "refusal"])
def test_what_the_model_did_is_no_failure_of_the_server(kind: str) -> None:
    assert not is_server_failure(kind)


def test_credit_that_runs_out_ends_the_run(server: LlmServer) -> None:
    server.script = lambda asked: error(402, "no credit left") if asked.number > 4 else honest(asked)
    results = evaluate(server, questions(20), workers=1)
    assert results["llm"]["failures"] == {"no credit": 1, "not asked": 16}
    assert results["llm"]["degraded"]
    assert 'the language model\'s server says (no credit): "no credit left"' in results["warnings"]


# --- The probe, and the form of replies ---


@pytest.mark.parametrize("fault", [error(503), error(429), Reply(b"<html>")], ids=["503", "429", "bad body"])
def test_a_busy_server_at_the_probe_settles_nothing(server: LlmServer, fault: Reply) -> None:
    """The form is found when it answers: one that knows json_object only is not asked for a schema for ever."""

    def script(asked: Asked) -> Reply:
        if asked.number <= 3:
            return fault
        return honest(asked) if asked.form == "json_object" else error(400, "unknown response_format")

    server.script = script
    results = evaluate(server, questions(3))
    assert results["llm"]["failures"] == {}
    assert [asked.form for asked in server.requests[3:]] == ["json_schema"] + ["json_object"] * 4


def test_a_server_that_stays_busy_is_left_alone(server: LlmServer) -> None:
    server.script = lambda asked: error(503)
    results = evaluate(server, questions(30))
    assert results["llm"]["failures"] == {"server error": 1, "not asked": 29}
    assert len(server.requests) == 10


def test_the_form_falls_in_the_middle_of_a_run(server: LlmServer) -> None:
    def script(asked: Asked) -> Reply:
        known = "json_schema" if asked.number <= 3 else "text"
        return honest(asked) if asked.form == known else error(400, "response_format is not supported")

    server.script = script
    results = evaluate(server, questions(8), workers=1)
    assert results["llm"]["failures"] == {}
    forms = [asked.form for asked in server.requests]
    assert forms == ["json_schema"] * 4 + ["json_object"] + ["text"] * 6


def test_a_prompt_that_is_refused_changes_no_form(server: LlmServer) -> None:
    """A filter that says 400 to what a model wrote: the others are asked as before."""
    server.script = lambda asked: error(400, "content filter") if asked.span.startswith("1002") else honest(asked)
    results = evaluate(server, questions(6), workers=1)
    assert results["llm"]["failures"] == {"bad request": 1}
    assert server.requests[-1].form == "json_schema"


def test_max_tokens_under_its_other_name(server: LlmServer) -> None:
    told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    def script(asked: Asked) -> Reply:
        if "max_tokens" in asked.body:
            return error(400, told)
        return error(400, "'temperature' does not support 0") if "temperature" in asked.body else honest(asked)

    server.script = script
    results = evaluate(server, questions(3))
    assert results["llm"]["failures"] == {}
    assert [asked.form for asked in server.requests] == ["json_schema"] * 6
    assert server.requests[-1].body["max_completion_tokens"] == 200


# --- What the server says ---


def test_its_reason_is_told(server: LlmServer) -> None:
    server.script = lambda asked: error(404, "The model `m` does not exist\x1b[31m or\n you have no access")
    warnings = evaluate(server)["warnings"]
    assert any(
        'says (no such model): "The model `m` does not exist\\x1b[31m or you have no access"' in w for w in warnings
    )


@pytest.mark.parametrize("piece", [CANARY, CANARY[:8], CANARY[-6:], CANARY[5:14]])
def test_a_piece_of_the_key_is_neither_kept_nor_shown(server: LlmServer, tmp_path: Path, piece: str) -> None:
    cache = tmp_path / "c.sqlite3"
    reply = f'{{"number": "101", "scale": 1, "unit": "{piece}"}}'
    server.script = after_probe(completion(reply))
    results = evaluate(server, key=CANARY, cache=cache)
    assert results["llm"]["failures"] == {"shows the key": 1}
    assert results["llm"]["degraded"]
    server.script = after_probe(error(418, f"your key is {piece}"))
    results["again"] = evaluate(server, key=CANARY, cache=cache)
    assert piece not in str(results)
    assert piece.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_short_keys_are_no_secret(server: LlmServer) -> None:
    server.script = after_probe(completion(GOOD))
    assert evaluate(server, key="unit")["llm"]["answered"] == 1


def test_the_counts_of_siblings_are_one(server: LlmServer, tmp_path: Path) -> None:
    """Two questions to one model: one probe, one breaker, one cache, and counts that add up."""
    schema = {"type": "object"}
    first = ModelClient("key", server.url, "m", "one", schema, "1", cache=tmp_path / "c.sqlite3")
    second = first.sibling("two", schema, "2")
    server.script = lambda asked: completion("yes")
    assert first.read(["a", "b"], "probe", lambda prompt, reply: True) == [("yes", ""), ("yes", "")]
    assert second.read(["a"], "other probe", lambda prompt, reply: True) == [("yes", "")]
    assert (first.calls, second.calls, len(server.requests)) == (4, 4, 4)
    assert {asked.body["messages"][0]["content"] for asked in server.requests} == {"one", "two"}
    first.breaker.give_up()
    assert second.read(["c"], "probe", lambda prompt, reply: True) == [("", "not asked")]
    assert second.read(["a"], "probe", lambda prompt, reply: True) == [("yes", "")]


def test_nothing_of_a_server_shows_its_key() -> None:
    server = Server(CANARY, "http://127.0.0.1:9/v1", "m")
    assert CANARY not in repr(server) + repr(vars(server))


def test_one_prompt_is_sent_once(server: LlmServer) -> None:
    evaluate(server, [question(), question()])
    assert len(spans(server)) == 1
    assert server.requests[0].span == PROBE
