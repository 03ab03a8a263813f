"""Why a question has its score: a sentence with its numbers, and the kind of mistake; computed when shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.report import show_number

from .truths import Truth
from .units import NumberTruth

_MATCHED: Final = re.compile(r"([0-9]+) of ([0-9]+) matched")
_WRONG: Final = {"number": "number beyond σ", "ranking": "wrong names"}
_WRAPPED: Final = re.compile(r"\\boxed\{(.*)\}|\['([^']*)'\]", re.DOTALL)  # a truth in a box, or in a list of its own
_SHOWN: Final = 80  # characters of an answer or a truth in a sentence


def name_cause(item: Mapping[str, Any]) -> str:
    """The kind of mistake that an item is: "refusal", "wrong option", "partly right", …; "right" if it is none.

    >>> name_cause({"outcome": "scored", "score": 0.0, "kind": "single choice", "note": ""})
    'wrong option'
    """
    if item["outcome"] != "scored":
        return "refusal" if "refusal" in item["note"] else str(item["outcome"])
    if item["score"] >= 1:
        return "right"
    return "partly right" if item["score"] > 0 else _WRONG.get(item["kind"], "wrong option")


def explain(item: Mapping[str, Any], truth: Truth | None = None) -> str:
    """The reason of an item's score in one sentence; with its `truth` a number's sentence has both values and σ."""
    if item["outcome"] == "missing":
        return "no answer"
    if item["outcome"] == "unparsed":
        return str(item["note"]) if "refusal" in item["note"] else f"not read: {item['note']}"
    wrapped = _WRAPPED.fullmatch(item["truth"])
    read = printable(item["read"], _SHOWN)
    true = printable((wrapped[1] or wrapped[2]) if wrapped else item["truth"], _SHOWN)
    if item["kind"] == "number":
        return _explain_number(item, read, true, truth)
    matched = _MATCHED.search(item["note"])
    if item["kind"] == "ranking" and matched:
        part = f"{matched[1]} of {matched[2]} names"
        if matched[1] == "0":
            return f"{part}: {read} against {true}"
        whole = not item["score"]
        return f"{part}: only a whole list scores" if whole else f"{part}: 0.8 · {matched[1]}/{matched[2]}"
    if item["score"] >= 1:
        return f"{read} is right"
    f1 = f": F1 {show_number(item['score'])}" if item["score"] else ""
    return f"{read or 'nothing'} picked, {true} is right{f1}"


def _explain_number(item: Mapping[str, Any], read: str, true: str, truth: Truth | None) -> str:
    sigmas, sigma = item["sigmas"], None
    if isinstance(truth, NumberTruth):
        true, sigma = f"{truth.quantity.value:.12g}", truth.sigma
    values = f"{read} against {true}" + (f", σ {sigma:.6g}" if sigma else "")
    if sigmas is None:
        return f"{values}: {'equal' if item['score'] else 'not equal, and there is no σ'}"
    if abs(sigmas) >= 1:
        return f"{values}: {abs(sigmas):.3g} σ away, and beyond 1 σ nothing scores"
    return f"{values}: 1 − {sigmas * sigmas:.4g}"
