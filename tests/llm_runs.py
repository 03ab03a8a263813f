"""Numeric questions that the grammar cannot settle, put to `llm_server`: what every test of the model needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from cli import Done, Record, run, write
from eval import FutureXEvaluator
from forecasteval.futurex.llm_units import PROBE
from llm_server import LlmServer, Reply, Script, honest

CANARY: Final = "sk-canary-7f3a9c51e2"
UNSURE: Final = r"\boxed{101 then, after 90 now}"  # the grammar takes the last number, `honest` the first
GOOD: Final = '{"number": "101", "scale": 1, "unit": null}'


def question(given: object = UNSURE, name: object = "a", truth: str = "100", std: float | None = 5.0) -> Record:
    return {
        "id": name, "level": 4, "prompt": "How many units will it be?", "ground_truth": truth, "Std": std,
        "answer": given,
    }  # fmt: skip


def questions(count: int) -> list[Record]:
    """Question n has the answer n + 1000 in the model's reading and 90 in the grammar's."""
    return [question(rf"\boxed{{{n + 1000} then, after 90 now}}", str(n), str(n + 1000)) for n in range(count)]


def evaluate(server: LlmServer, data: list[Record] | None = None, key: str = "key", **options: Any) -> Record:
    """The results of one run, whose counts must add up."""
    results = FutureXEvaluator(key, server.url, **options).evaluate_all(data or [question()])
    asked = results["llm"]
    assert asked["asked"] == asked["answered"] + asked["refused"] + sum(asked["failures"].values())
    assert asked["answered"] == sum(item["decided_by"] == "model" for item in results["items"])
    return results


def without_model(data: list[Record]) -> list[Record]:
    return list(FutureXEvaluator().evaluate_all(data)["items"])


def after_probe(reply: Reply | Script) -> Script:
    """A script that reads the probe well, and then does this."""
    return lambda asked: honest(asked) if asked.span == PROBE else reply(asked) if callable(reply) else reply


def spans(server: LlmServer) -> list[str]:
    """What was asked about, in the order of the requests."""
    return [asked.span for asked in server.requests if asked.span != PROBE]


def score(root: Path, server: LlmServer | str, *args: str, key: str = "key", data: list[Record] | None = None) -> Done:
    """One run of the command line with a model."""
    write(root, {"prediction/p.json": data or questions(5)})
    url = server if isinstance(server, str) else server.url
    return run(root, "-f", "p", "--llm", "m-1", *args, OPENAI_API_KEY=key, OPENAI_BASE_URL=url)
