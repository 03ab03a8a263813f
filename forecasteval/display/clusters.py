"""Items of a result that hang together: questions of a series, questions of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forecasteval.common.errors import show_count
from forecasteval.common.statistics import cluster_values


def list_clusters(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name what each item hangs together with: its cluster, or itself. Nothing if no
    item has a cluster.
    """
    if not any(item.get("cluster") for item in items):
        return []
    return [item.get("cluster") or str(item["question"]) for item in items]


def cluster_scores(items: Sequence[Mapping[str, Any]]) -> list[float]:
    """List the scores of items, one value for each cluster if there are any
    (`cluster_values`).
    """
    scores = [item["score"] for item in items]
    clusters = list_clusters(items)
    if not clusters:
        return scores
    return cluster_values(scores, clusters)


def describe_questions(items: Sequence[Mapping[str, Any]]) -> str:
    """Describe how many questions there are, and in how many series if some
    hang together.

    >>> describe_questions([{"question": "a", "cluster": "x"}, {"question": "b", "cluster": "x"}])
    '2 questions in 1 series'
    """  # noqa: E501
    questions = show_count(len(items), "question")
    clusters = list_clusters(items)
    if not clusters:
        return questions
    return f"{questions} in {len(set(clusters))} series"
