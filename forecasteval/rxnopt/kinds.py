"""What all rooms call things: the six kinds of questions, a question, the metrics, ids, the files of a kind."""

from __future__ import annotations

import re
from typing import Any, Final, TypedDict

NAME: Final = "RxnOptBench"
BASE_TYPES: Final = ("single_varying", "all_varying")
# What the type of a question ends with, and its id.
SIDES: Final = {"_reference": "_ref", "_reference_control": "_ref_control"}
QUESTION_TYPES: Final = tuple(f"{base}{end}" for end in ("", *SIDES) for base in BASE_TYPES)
METRICS: Final = ("avg_relative_score", "exact_match_accuracy", "avg_yield_ratio")
YIELDS: Final = ("isolated_yield", "yield_ratio")  # fields of a row's results
SELECTIVITIES: Final = ("ee", "er", "dr", "rr")
TEMPLATES: Final = tuple(f"{base}{end}" for end in ("", "_reference") for base in BASE_TYPES)


class Question(TypedDict):
    """A question of a dataset."""

    id: str
    question_type: str
    target_key: str | None  # the condition that it asks about; None: all that vary
    varying_keys: list[str]
    input: dict[str, Any]
    options: list[dict[str, Any]]
    answer: list[int]  # the indices of the best options
    meta: dict[str, Any]


def dataset_name(kind: str) -> str:
    """The file of a question type."""
    return f"multiple_choice_{kind}.json"


def template_of(question_type: str) -> str:
    """The prompt template that a question type uses; a control uses that of the plain question."""
    return question_type.removesuffix("_reference_control")


# --- Ids: TABLE_q1, TABLE_q1_ref, TABLE_q1_ref_control ---


def table_of(name: str) -> str:
    """The table of a question, from its id.

    >>> table_of("t_q1_q12_ref_control"), table_of("no question of ours")
    ('t_q1', 'no question of ours')
    """
    return re.sub(r"_q[0-9]+(?:_ref(?:_control)?)?$", "", name)


def find_twin(name: str) -> str:
    """The id of the same question with references, or without; "" for a question that is no side of a pair.

    >>> find_twin("t_q1_ref"), find_twin("t_q1_ref_control"), find_twin("t_q1")
    ('t_q1_ref_control', 't_q1_ref', '')
    """
    if name.endswith("_ref_control"):
        return name.removesuffix("_control")
    return f"{name}_control" if name.endswith("_ref") else ""


# --- A question in several orders of its options: ids NAME@1/K to NAME@K/K ---


def order_id(name: str, number: int, orders: int) -> str:
    """The id of a question in an order of its options; its id alone where there is one order."""
    return name if orders == 1 else f"{name}@{number}/{orders}"


def split_id(name: str) -> tuple[str, int, int]:
    """(id of the question, number of the order, how many there are).

    >>> split_id("t_q1@2/3"), split_id("t_q1"), split_id("t_q1@4/3")
    (('t_q1', 2, 3), ('t_q1', 1, 1), ('t_q1@4/3', 1, 1))
    """
    match = re.fullmatch(r"(.*)@([0-9]{1,4})/([0-9]{1,4})", name, re.S)
    if not match or not 1 <= int(match[2]) <= int(match[3]):
        return name, 1, 1
    return match[1], int(match[2]), int(match[3])


def rotation(number: int, orders: int, size: int) -> int:
    """By how many places an order begins later: every option comes first about equally often."""
    return (number - 1) * size // orders
