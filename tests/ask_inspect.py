"""Runs of the tasks of inspect_ai with a mock of a model, in a process of their own.

    python tests/ask_inspect.py ROOT '[{"task": "futurex", "dataset": "d", "reply": "draw"}, …]'

inspect_ai and what it imports give warnings, which are errors in the tests. A line of JSON a run:
the log's file, its metrics, what the model was sent, and the samples without their scores.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

REPLIES = (
    r"\boxed{Yes}", r"\boxed{No}", r"\boxed{A}", r"\boxed{A, B}", r"\boxed{B}", "", "[bold]\u200b",
    "I cannot say",
    "\\boxed{C}\nAnswer: 1", "Answer: 1", "Option 0", "Answer: 99", "Answer: 98",
    "I pick Option 2, because it has a base",
)  # fmt: skip


CHECKOUT = Path(__file__).resolve().parent.parent
CAREFUL = {
    row["prompt"]: row["answer"]
    for row in json.loads(
        (CHECKOUT / "prediction" / "250915-careful.json").read_text(encoding="utf-8")
    )
}


class Model:
    """Replies by one of its methods to a prompt, which it is sent the `count`-th time."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        self.counts: Counter[str] = Counter()

    def draw(self, prompt: str) -> str:
        """Any of REPLIES, more often what the careful sample answers; every eleventh call fails."""
        number = int(hashlib.sha256(f"{prompt}{self.counts[prompt]}".encode()).hexdigest(), 16)
        if number % 11 == 0:
            return self.fail(prompt)
        known = CAREFUL.get(prompt)
        return known if number % 3 and isinstance(known, str) else REPLIES[number % len(REPLIES)]

    def fail(self, prompt: str) -> str:
        raise ConnectionError("the server is down")

    def fail_the_second_time(self, prompt: str) -> str:
        return (
            self.fail(prompt)
            if prompt == "Who wins?" and self.counts[prompt] == 2
            else r"\boxed{Zanzibar}"
        )

    def know_numbers(self, prompt: str) -> str:
        return r"\boxed{8127.25}" if "How many" in prompt else r"\boxed{No}"


def ask(root: Path, task: str, dataset: str, reply: str, **options: Any) -> dict[str, Any]:
    """One run, whose log lies in `root`/logs."""
    from inspect_ai import eval as run
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from forecasteval import inspect_tasks

    asked = Model()

    def answer(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        prompt = messages[-1].text
        asked.sent.append([message.text for message in messages])
        asked.counts[prompt] += 1
        output = ModelOutput.from_content("mockllm", getattr(asked, reply)(prompt))
        output.usage = ModelUsage(
            input_tokens=1, output_tokens=1, total_tokens=2
        )  # it would download a tokenizer
        return output

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    inspect_tasks.ROOT = root  # type: ignore[misc]
    (log,) = run(
        getattr(inspect_tasks, task)(dataset), model=model, log_dir=str(root / "logs"),
        display="none",
        fail_on_error=False, **options,
    )  # fmt: skip
    scores = log.results.scores[0] if log.results else None  # there are none if no sample has one
    samples = log.samples or []
    unseen = {"scores", "events", "events_data", "attachments", "timelines"}
    return {
        "log": log.location.removeprefix("file://"),
        "metrics": (
            {name: metric.value for name, metric in scores.metrics.items()} if scores else None
        ),
        "scores": {one.id: one.scores["forecasteval_score"].value for one in samples if one.scores},
        "samples": [json.loads(one.model_dump_json(exclude=unseen)) for one in samples],
        "sent": asked.sent,
    }


if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT))
    for wanted in json.loads(sys.argv[2]):
        print(json.dumps(ask(Path(sys.argv[1]), **wanted)))
