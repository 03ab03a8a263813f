"""What the calls of a language model cost, and how they failed: the counts that all its readers report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from forecasteval.common.llm import ModelClient, Outcome, is_server_failure


class Usage:
    """What calls cost from here on, and how they failed."""

    def __init__(self, client: ModelClient) -> None:
        self._client, self._calls, self._tokens = client, client.calls, dict(client.tokens)

    def report(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """The part of a reader's counts that does not depend on what is read."""
        failures = Counter(failure for _, failure in outcomes if failure)
        return {
            "failures": dict(failures),
            "reasons": dict(sorted(self._client.reasons.items())),
            "degraded": any(map(is_server_failure, failures)),
            "calls": self._client.calls - self._calls,
            "tokens": {key: count - self._tokens[key] for key, count in self._client.tokens.items()},
        }
