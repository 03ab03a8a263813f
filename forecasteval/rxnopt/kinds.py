"""What all rooms call things: the six kinds of questions, the three metrics, the files of a kind."""

from __future__ import annotations

from typing import Final

NAME: Final = "RxnOptBench"
BASE_TYPES: Final = ("single_varying", "all_varying")
QUESTION_TYPES: Final = tuple(f"{base}{end}" for end in ("", "_reference", "_reference_control") for base in BASE_TYPES)
METRICS: Final = ("avg_relative_score", "exact_match_accuracy", "avg_yield_ratio")
TEMPLATES: Final = tuple(f"{base}{end}" for end in ("", "_reference") for base in BASE_TYPES)


def dataset_name(kind: str) -> str:
    """The file of a question type."""
    return f"multiple_choice_{kind}.json"


def template_of(question_type: str) -> str:
    """The prompt template that a question type uses; a control uses that of the plain question."""
    return question_type.removesuffix("_reference_control")
