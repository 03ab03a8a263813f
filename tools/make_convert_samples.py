"""Write tests/samples/: a small file of every format that `convert` reads, answers to
questions of dataset/250915.json.

    python tools/make_convert_samples.py

Invented like the dataset. The log of inspect_ai has the fields that its documentation
names, and few others.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

SAMPLES: Final = Path(__file__).resolve().parent.parent / "tests" / "samples"
SUBMISSION: Final = "org-harbour-agent-lantern-model-quill7.jsonl"
TUNNEL, STEWARD, FERRIES, INFLOW = (
    "6873e6a7b3ade716ed3b2a82", "6866c695c7aadd5fd56533c0", "68eaa8dcdb5c2c1e14a546d9",
    "68a8ea505488fcb17eb8f512",
)  # fmt: skip
BOXED: Final = {
    TUNNEL: "Nobody objects. \\boxed{Yes}", STEWARD: "\\boxed{No}", FERRIES: "\\boxed{A, B}",
    INFLOW: "\\boxed{63.5 billion yuan}",
}  # fmt: skip
SECOND_BOXED: Final = {TUNNEL: "\\boxed{Yes}", STEWARD: "\\boxed{Yes}"}
NO_BOX: Final = r"No \boxed{} content found in the final answer."


PAST: Final = [  # the columns of FutureX-Past's first edition
    {
        "question_id": "past-1", "question": "Will the ferry run?", "answer": "['Yes']",
        "options": [],
        "end-time": "2025-08-01",
        "prompt": "Will the ferry run? Answer \\boxed{Yes} or \\boxed{No}.", "level": 1,
    },
    {
        "question_id": "past-2", "question": "How many "
                                             "passengers?", "answer": "[4120.0]",
        "options": [],
        "end-time": "2025-08-02", "prompt": "How many passengers will the ferry "
                                            "carry?", "level": 4,
    },
]  # fmt: skip


def chat(text: str) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ]
    }


def miroflow_row(name: str, *answers: str) -> dict[str, Any]:
    """A task of MiroFlow with an attempt for each answer; "" is one that failed."""
    attempts = [
        {
            "attempt_id": number,
            "status": "completed" if answer else "failed",
            "model_boxed_answer": answer,
        }
        for number, answer in enumerate(answers, 1)
    ]
    return {
        "task_id": name, "task_question": f"What of {name}?", "ground_truth": "", "file_path": None,
        "metadata": {},
        "status": "completed", "model_boxed_answer": answers[0], "attempts": attempts,
        "pass_at_k_success": False,
    }  # fmt: skip


def log_sample(name: str, epoch: int, text: str, **more: Any) -> dict[str, Any]:
    """A sample of a log: what was asked, and what the model's last output says."""
    message = {"role": "assistant", "content": text, "source": "generate"}
    output = {
        "model": "mock",
        "choices": [{"message": message, "stop_reason": "stop"}],
        "completion": text,
    }
    asked = {
        "id": name,
        "epoch": epoch,
        "input": f"What of {name}?",
        "target": "",
        "metadata": {},
    }
    return {**asked, "messages": [message], "output": output, "scores": {}, **more}


def log_of(
    samples: list[dict[str, Any]], epochs: int, status: str = "success"
) -> dict[str, Any]:
    """A log that is one JSON object."""
    names = list(dict.fromkeys(sample["id"] for sample in samples))
    dataset = {"name": "250915", "samples": len(names), "sample_ids": names}
    head = {
        "task": "futurex",
        "model": "mock",
        "created": "2025-09-14T08:00:00+00:00",
        "dataset": dataset,
    }
    return {
        "version": 2,
        "status": status,
        "eval": {**head, "config": {"epochs": epochs}},
        "samples": samples,
    }


def zip_log(path: Path, log: dict[str, Any]) -> None:
    """The same log as a zip: a header, and a file for each sample."""
    header = {key: value for key, value in log.items() if key != "samples"}
    members = {
        f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in log["samples"]
    }
    with zipfile.ZipFile(
        path, "w"
    ) as archive:  # stored, as what deflate makes depends on its version
        for name, value in {**members, "header.json": header}.items():
            archive.writestr(zipfile.ZipInfo(name), json.dumps(value))


def write_all(folder: Path) -> None:
    """Write every sample to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        miroflow_row(TUNNEL, "Yes", "Yes"), miroflow_row(STEWARD, "No", "Yes"),
        miroflow_row(FERRIES, "A, B", NO_BOX), miroflow_row(INFLOW, "63.5 billion "
                                                                    "yuan", ""),
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "benchmark_results.jsonl").write_text(
        lines, encoding="utf-8", newline="\n"
    )
    answers = {
        TUNNEL: "Yes",
        STEWARD: "No",
        FERRIES: "A, B",
        INFLOW: "63.5 billion yuan",
    }
    submitted = {
        "data": [{"id": name, "prediction": answer} for name, answer in answers.items()]
    }
    (folder / SUBMISSION).write_text(
        json.dumps(submitted, indent=1) + "\n", encoding="utf-8", newline="\n"
    )
    replies = [
        {
            "id": f"batch_{name[:6]}",
            "custom_id": name,
            "response": {"status_code": 200, "body": chat(text)},
            "error": None,
        }
        for name, text in BOXED.items()
    ]
    lines = "".join(json.dumps(row) + "\n" for row in replies)
    (folder / "batch_output.jsonl").write_text(lines, encoding="utf-8", newline="\n")
    lines = "".join(json.dumps(row) + "\n" for row in PAST)
    (folder / "futurex-past.jsonl").write_text(lines, encoding="utf-8", newline="\n")
    table = "question,reply\n" + "".join(
        f'{name},"{answer}"\n' for name, answer in answers.items()
    )
    (folder / "answers.csv").write_text(table, encoding="utf-8", newline="\n")
    failed = {
        "error": {
            "message": "the model did not reply",
            "traceback": "",
            "traceback_ansi": "",
        }
    }
    samples = [
        log_sample(TUNNEL, 1, "Nobody objects. \\boxed{Yes}"),
        log_sample(TUNNEL, 2, "\\boxed{Yes}"),
        log_sample(STEWARD, 1, "\\boxed{No}"), log_sample(STEWARD, 2, "\\boxed{Yes}"),
        log_sample(FERRIES, 1, "\\boxed{A, B}"), log_sample(FERRIES, 2, ""),
        log_sample(INFLOW, 1, "\\boxed{63.5 billion yuan}"), log_sample(INFLOW, 2, "", **failed),
    ]  # fmt: skip
    (folder / "log.json").write_text(
        json.dumps(log_of(samples, 2), indent=1) + "\n", encoding="utf-8", newline="\n"
    )
    zip_log(folder / "log.eval", log_of(samples, 2))


if __name__ == "__main__":
    write_all(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES)
