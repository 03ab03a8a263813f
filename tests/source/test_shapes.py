"""Files that other programs write: what is read of them, and the commands that refusals print."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from cli import assert_refused, box, question, run, write
from conversions import convert
from forecasteval.questions.deadlines import hash_answers

PROMPTS: Final = {name: f"Which one is {name}?\nA.  Red\nB.  Blue" for name in ("q1", "q2", "q3")}
REPLY: Final = f"I think it is red. {box('A')}"
Row = Callable[[str], Any]


def lines(make: Row) -> str:
    return "".join(json.dumps(make(name)) + "\n" for name in PROMPTS)


def table(make: Row, separator: str = ",") -> str:
    rows = [make(name) for name in PROMPTS]
    out = io.StringIO()
    writer = csv.DictWriter(out, [*rows[0]], delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def chat(content: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}


def folder(root: Path, content: object, name: str = "d-x.jsonl") -> Path:
    questions = [question(id_, prompt=prompt) for id_, prompt in PROMPTS.items()]
    write(root, {"dataset/d.json": questions})
    raw = content if isinstance(content, bytes) else str(content).encode()
    path = root / "prediction" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(raw)
    return root


# What programs write: the end of the file's name, its content, and what is taken of it.
SHAPES: Final[dict[str, tuple[str, object, str]]] = {
    "another key": ("jsonl", lines(lambda q: {"id": q, "response": REPLY}), "answers: response"),
    "words of a sheet": (
        "csv", table(lambda q: {"Question ID": q, "Model Answer": REPLY, "Latency": 1}, ";"),
        "ids: Question ID; answers: Model Answer",
    ),
    "Chinese words": ("csv", table(lambda q: {"题目": q, "模型回答": REPLY}), "answers: 模型回答"),
    "null beside": (
        "jsonl", lines(lambda q: {"id": q, "answer": None, "output": REPLY}), "answers: output",
    ),
    "parts": (
        "jsonl", lines(lambda q: {"id": q, "answer": [{"type": "text", "text": REPLY}]}),
        "answers: answer",
    ),
    "lm-evaluation-harness": (
        "jsonl",
        lines(lambda q: {
            "doc_id": 0, "doc": {"id": q, "question": "?"}, "target": "B",
            "arguments": {"gen_args_0": {"arg_0": PROMPTS[q]}}, "resps": [["B"]],
            "filtered_resps": [REPLY], "filter": "none", "exact_match": 1.0,
        }),
        "ids: doc.id; answers: filtered_resps.0",
    ),
    "lm-evaluation-harness without ids": (
        "jsonl",
        lines(lambda q: {
            "doc_id": 0, "doc": {"question": "?", "answer": "B"}, "target": "B",
            "arguments": [[PROMPTS[q], {"until": []}]], "filtered_resps": [REPLY],
        }),
        "ids: equal prompts in arguments.0.0",
    ),
    "lighteval": (
        "jsonl",
        lines(lambda q: {
            "doc": {"id": q, "query": "?", "choices": ["A"], "gold_index": 0},
            "metric": {"em": 1}, "model_response": {"text": [REPLY], "input": "?"},
        }),
        "ids: doc.id; answers: model_response.text.0",
    ),
    "OpenAI chat batch": (
        "jsonl",
        lines(lambda q: {
            "id": f"b{q}", "custom_id": q, "error": None,
            "response": {"status_code": 200, "body": chat(REPLY)},
        }),
        "OpenAI batch output",
    ),
    "OpenAI old completions": (
        "jsonl",
        lines(lambda q: {"custom_id": q, "response": {"body": {"choices": [{"text": REPLY}]}}}),
        "OpenAI batch output",
    ),
    "Anthropic batch with thoughts": (
        "jsonl",
        lines(lambda q: {"custom_id": q, "result": {"type": "succeeded", "message": {
            "role": "assistant", "content": [
                {"type": "thinking", "thinking": "B"}, {"type": "text", "text": REPLY},
            ]}}}),
        "ids: custom_id; answers: result.message.content",
    ),
    "Gemini batch with thoughts": (
        "jsonl",
        lines(lambda q: {"key": q, "response": {"candidates": [{"content": {
            "role": "model", "parts": [{"text": box("B"), "thought": True}, {"text": REPLY}],
        }, "finishReason": "STOP"}], "modelVersion": "m"}}),
        "ids: key; answers: response.candidates.0.content.parts",
    ),
    "Vertex, which has no ids": (
        "jsonl",
        lines(lambda q: {
            "request": {"contents": [{"role": "user", "parts": [{"text": PROMPTS[q]}]}]},
            "response": {"candidates": [{"content": {"parts": [{"text": REPLY}]}}]},
        }),
        "ids: equal prompts in request.contents.0.parts",
    ),
    "Bedrock": (
        "jsonl",
        lines(lambda q: {
            "recordId": q, "modelInput": {"messages": [{"role": "user", "content": "?"}]},
            "modelOutput": {"content": [{"type": "text", "text": REPLY}], "stop_reason": "x"},
        }),
        "ids: recordId; answers: modelOutput.content",
    ),
    "promptfoo": (
        "json",
        json.dumps({"evalId": "e", "config": {"tests": [{"vars": {"id": "q1"}}]}, "results": {
            "version": 3, "stats": {}, "prompts": [{"raw": "?", "provider": "p"}], "results": [{
                "vars": {"id": q}, "testCase": {"vars": {"id": q}, "assert": [{"value": "B"}]},
                "response": {"output": REPLY}, "gradingResult": {"reason": q}, "success": True,
            } for q in PROMPTS]}}),
        "ids: vars.id; answers: response.output",
    ),
    "LangSmith": (
        "csv",
        table(lambda q: {
            "id": f"run {q}", "inputs.id": q, "outputs.output": REPLY, "reference.answer": "B",
        }),
        "ids: inputs.id; answers: outputs.output",
    ),
    "DeepEval": (
        "json",
        json.dumps({"testCases": [
            {"name": f"t {q}", "input": PROMPTS[q], "actualOutput": REPLY, "expectedOutput": "B"}
            for q in PROMPTS
        ], "testFile": "t.py"}),
        "ids: equal prompts in input; answers: actualOutput",
    ),
    "HELM": (
        "json",
        json.dumps({"adapter_spec": {}, "request_states": [{
            "instance": {"id": q, "references": [{"output": {"text": "B"}}]},
            "request": {"model": "m"}, "result": {"completions": [{"text": REPLY}]},
        } for q in PROMPTS]}),
        "ids: instance.id; answers: result.completions",
    ),
    "Hugging Face rows": (
        "json",
        json.dumps({"features": [{"name": "id"}], "num_rows_total": 3, "rows": [
            {"row_idx": n, "row": {"id": q, "output": REPLY}} for n, q in enumerate(PROMPTS)
        ]}),
        "ids: row.id; answers: row.output",
    ),
    "pandas, columns": (
        "json",
        json.dumps({
            "id": {str(n): q for n, q in enumerate(PROMPTS)},
            "answer": {str(n): REPLY for n, _ in enumerate(PROMPTS)},
        }),
        "ids: id; answers: answer",
    ),
    "pandas, split": (
        "json",
        json.dumps({
            "columns": ["id", "answer"], "index": [0, 1, 2], "data": [[q, REPLY] for q in PROMPTS],
        }),
        "ids: id; answers: answer",
    ),
    "pandas, index": (
        "json",
        json.dumps({str(n): {"id": q, "reply": REPLY} for n, q in enumerate(PROMPTS)}),
        "ids: prediction.id; answers: prediction.reply",
    ),
    "objects under one name": (
        "json", json.dumps({"results": {q: {"answer": REPLY} for q in PROMPTS}}),
        "ids: id; answers: prediction.answer",
    ),
    "lists by column": (
        "json", json.dumps({"id": [*PROMPTS], "response": [REPLY] * 3}), "answers: response",
    ),
    "answers beside metadata": (
        "json", json.dumps({"model": "m", "answers": dict.fromkeys(PROMPTS, REPLY)}), "ids: id",
    ),
    "several lists": (
        "json",
        json.dumps({"meta": [{"k": 1}], "runs": [{"id": q, "answer": REPLY} for q in PROMPTS]}),
        "answers: answer",
    ),
    "chat of any length": (
        "jsonl",
        lines(lambda q: {"id": q, "messages": [
            {"role": "system", "content": "?"},
            *[{"role": "user", "content": PROMPTS[q]}] * int(q[1]),
            {"role": "assistant", "content": REPLY},
        ]}),
        "answers: messages.-1.content",
    ),
    "ShareGPT": (
        "json",
        json.dumps([{"id": q, "conversations": [
            {"from": "human", "value": "?"}, {"from": "gpt", "value": REPLY},
        ]} for q in PROMPTS]),
        "answers: conversations.-1.value",
    ),
    "inspect_ai, ids in the metadata": (
        "json",
        json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"},
                    "samples": [{"id": n, "epoch": 1, "metadata": {"id": q},
                                 "output": {"completion": REPLY}}
                                for n, q in enumerate(PROMPTS)]}),
        "ids: metadata.id",
    ),
    "MiroFlow": (
        "jsonl",
        lines(lambda q: {"task_id": q, "ground_truth": "B", "model_boxed_answer": box("A")}),
        "MiroFlow results",
    ),
    "packed": (
        "jsonl.gz", gzip.compress(lines(lambda q: {"id": q, "reply": REPLY}).encode()),
        "answers: reply",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("suffix", "content", "told"), SHAPES.values(), ids=SHAPES)
def test_a_file_that_can_mean_one_thing(
    tmp_path: Path, suffix: str, content: object, told: str
) -> None:
    """Scored by `-f` and by `convert` to the same, and refused at night with a command."""
    root = folder(tmp_path, content, f"d-x.{suffix}")
    results = run(root, "-f", f"d-x.{suffix}", "--json").json
    assert results["overall_score"] == 1.0
    assert any("read as" in line and told in line for line in results["warnings"])

    source = root / "prediction" / f"d-x.{suffix}"
    assert convert(source, "-o", root / "prediction/d-y.json").code == 0
    assert run(root, "-f", "d-y", "--json").json["overall_score"] == 1.0

    (root / "prediction/d-y.json").unlink()
    at_night = run(root, "nightly")
    is_seen = not suffix.endswith("gz")
    assert ("failed: d-x" in at_night.out) == is_seen
    if is_seen:
        follow(root, at_night.err)
        assert run(root, "-f", "d-x-answers", "--json").json["overall_score"] == 1.0


def follow(root: Path, message: str) -> None:
    """Run the command that a message prints, as a person in the folder would."""
    found = re.search(r"convert \S.* -o (?:'[^']*'|\S+)", message)
    assert found, message
    _, *words = shlex.split(found[0])
    with contextlib.chdir(root):
        done = convert(*words)
    assert done.code == 0, done.err


@pytest.mark.extra("pyarrow")
def test_parquet_of_structs(tmp_path: Path) -> None:
    import pandas

    root = folder(tmp_path, b"", "d-x.parquet")
    rows = [{"doc": {"id": q}, "model_response": {"text": [REPLY]}} for q in PROMPTS]
    pandas.DataFrame(rows).to_parquet(root / "prediction/d-x.parquet")
    results = run(root, "-f", "d-x.parquet", "--json").json
    assert results["overall_score"] == 1.0
    assert any("answers: model_response.text.0" in line for line in results["warnings"])


# --- What is refused ---

REFUSED: Final[dict[str, tuple[Row, str, float | None]]] = {
    "two answers": (
        lambda q: {"id": q, "output": REPLY, "judge_reply": f"ok {q}"}, "several parts may be", 1.0,
    ),
    "a truth beside": (
        lambda q: {"qid": q, "level": 1, "answer": "B", "reply": REPLY},
        "several parts may be", 1.0,
    ),
    "a truth alone": (
        lambda q: {"qid": q, "level": 1, "answer": "B"}, "may be the truth beside", 0.0,
    ),
    "samples": (lambda q: {"id": q, "outputs": [REPLY, "B"]}, "may be several answers", 1.0),
    "candidates": (
        lambda q: {"id": q, "answers": [{"text": REPLY}, {"text": "B"}]}, "several parts may", 1.0,
    ),
    "an unknown name": (lambda q: {"id": q, "text_": f"{REPLY} {q}"}, "answers: text_", 1.0),
    "columns of systems": (
        lambda q: {"id": q, "gpt": f"{REPLY} {q}", "claude": q}, "several parts may be", 1.0,
    ),
    "a question's text": (lambda q: {"qid": q, "prompt": PROMPTS[q]}, "no part that may be", None),
    "probabilities": (lambda q: {"id": q, "answer": {"A": 0.5}}, "no part that may be", None),
    "asked last": (
        lambda q: {"id": q, "messages": [{"role": "user", "content": REPLY}]}, "no part that", None,
    ),
    "two columns of ids": (
        lambda q: {"x": q, "y": {"q1": "q2", "q2": "q3", "q3": "q1"}[q], "output": REPLY},
        "two columns hold ids", 1.0,
    ),
    "no ids": (lambda q: {"name": f"n {q}", "output": REPLY}, "no id of the questions", None),
}  # fmt: skip


@pytest.mark.parametrize(("make", "told", "score"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_can_mean_two_things_is_refused(
    tmp_path: Path, make: Row, told: str, score: float | None
) -> None:
    root = folder(tmp_path, lines(make))
    done = run(root, "-f", "d-x")
    assert_refused(done, "d-x.jsonl", told)
    if score is None:
        assert "convert" not in done.err
    else:
        follow(root, done.err)
        assert run(root, "-f", "d-x-answers", "--json").json["overall_score"] == score


@pytest.mark.parametrize("key", ["--force", "-o", "a b", "$(touch x)", "it's", "a.b"])
def test_a_column_of_any_name_is_no_option(tmp_path: Path, key: str) -> None:
    root = folder(tmp_path, lines(lambda q: {"id": q, key: f"{REPLY} {q}"}))
    follow(root, run(root, "-f", "d-x").err)
    assert run(root, "-f", "d-x-answers", "--json").json["overall_score"] == 1.0
    assert sorted(path.name for path in root.iterdir()) == ["dataset", "prediction"]


def test_a_column_that_nobody_can_type_gets_no_command(tmp_path: Path) -> None:
    root = folder(tmp_path, lines(lambda q: {"id": q, "a\x1b[31m": f"{REPLY} {q}"}))
    done = run(root, "-f", "d-x")
    assert_refused(done, "answers: a\\x1b[31m")
    assert "convert" not in done.err


# --- Several systems, or runs ---


def long_table(*names: str) -> str:
    """Rows of two values of each name; those of the second are wrong."""
    rows = []
    for q in PROMPTS:
        for number in range(2 ** len(names)):
            labels = {name: f"{name}{number >> at & 1}" for at, name in enumerate(names)}
            rows.append({"id": q, **labels, "answer": "B" if number else REPLY})
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["model"], ["d-x-answers-model0", "d-x-answers-model1"]),
        (["agent_name"], ["d-x-answers-agent_name0", "d-x-answers-agent_name1"]),
        (["run"], ["d-x-answers@1", "d-x-answers@2"]),
        (["epoch_id"], ["d-x-answers@1", "d-x-answers@2"]),
        (["temperature"], ["d-x-answers@1", "d-x-answers@2"]),  # which the command takes for runs
        (["model", "seed"], ["d-x-answers-model0@1", "d-x-answers-model1@2"]),
        (["model", "temperature"], ["d-x-answers-model0@1", "d-x-answers-model1@2"]),
    ],
)
def test_several_systems_or_runs_in_one_file(
    tmp_path: Path, names: list[str], files: list[str]
) -> None:
    root = folder(tmp_path, long_table(*names))
    done = run(root, "-f", "d-x")
    assert_refused(done, "expected one answer to a question", *names)
    assert_refused(run(root, "check", "d-x"), "expected one answer to a question")
    follow(root, done.err)
    scores = [run(root, "-f", name, "--json").json["overall_score"] for name in files]
    assert scores == [1.0, 0.0]


NAMED: Final[dict[str, Callable[[str], Any]]] = {
    "maps": lambda reply: dict.fromkeys(PROMPTS, reply),
    "rows": lambda reply: [{"id": q, "answer": reply} for q in PROMPTS],
    "objects": lambda reply: {q: {"answer": reply} for q in PROMPTS},
    "other questions": lambda reply: dict.fromkeys([*PROMPTS][reply == "B" :], reply),
}


@pytest.mark.parametrize("is_within", [False, True])
@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
def test_systems_by_name_in_one_object(
    tmp_path: Path, make: Callable[[str], Any], is_within: bool
) -> None:
    """What answers no question is no system."""
    systems = {"gpt": make(REPLY), "claude": make("B"), "prices": {"a": "b", "c": "d"}}
    content = {"models": systems, "version": 2} if is_within else {**systems, "version": 2}
    root = folder(tmp_path, json.dumps(content), "d-x.json")
    done = run(root, "-f", "d-x")
    assert done.code == 2
    assert "expected one answer to a question" in done.err
    assert "(gpt, claude)" in done.err
    follow(root, done.err)
    names = "d-x-answers-gpt", "d-x-answers-claude"
    assert [run(root, "-f", name, "--json").json["overall_score"] for name in names] == [1.0, 0.0]


def test_hashes_of_answers_are_those_of_every_file_that_is_scored(tmp_path: Path) -> None:
    """Two questions share an id: with them the file is scored, without them it looks like a table
    of two runs, whose answers went unseen.
    """
    shared = [question("q1", prompt=PROMPTS[name]) for name in PROMPTS]
    shared.append(question("q2", prompt="Another one?\nA.  Red\nB.  Blue"))
    rows = [
        {"id": "q1", "run": at, "prompt": prompt, "answer": "AB"[at % 2]}
        for at, prompt in enumerate(PROMPTS.values())
    ]
    rows += [{"id": "q2", "run": at, "answer": "A"} for at in range(2)]
    files = {"dataset/d.json": shared, "prediction/d-x.json": rows}
    root = write(tmp_path, files)
    assert run(root, "-f", "d-x").code == 0
    assert set(hash_answers(root / "prediction/d-x.json")) == {"q1", "q2"}


@pytest.mark.parametrize("more", [{}, {"model": "m"}])
def test_answers_that_no_column_tells_apart(tmp_path: Path, more: dict[str, str]) -> None:
    rows = [{"id": q, **more, "answer": answer} for answer in "AB" for q in PROMPTS]
    root = folder(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    assert_refused(run(root, "-f", "d-x"), "several answers to most questions")
    equal = [{**row, "answer": "A"} for row in rows]
    write(root, {"prediction/d-y.json": equal})
    assert run(root, "-f", "d-y", "--json").json["overall_score"] == 1.0


def test_a_few_ids_that_repeat_are_ambiguous_and_no_runs(tmp_path: Path) -> None:
    rows = [{"id": q, "run": 1, "answer": REPLY} for q in PROMPTS]
    rows.append({"id": "q1", "run": 2, "answer": "B"})
    root = folder(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    results = run(root, "-f", "d-x", "--json").json
    assert results["missing_count"] == 1
    assert any("ambiguous prediction" in line for line in results["warnings"])


# --- Names of parts ---


def test_one_grammar_names_all_parts(tmp_path: Path) -> None:
    rows = [
        {"doc": {"id": q}, "by": {"model": m}, "try": t, "chat": [{"text": "B"}, {"text": REPLY}]}
        for q in PROMPTS
        for m in ("a", "b")
        for t in (1, 2)
    ]
    root = folder(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    done = convert(
        root / "prediction/d-x.jsonl", "-o", root / "prediction/d-y.json", "--id", "doc.id",
        "--answer", "chat.-1.text", "--system", "by.model", "--run", "try",
    )  # fmt: skip
    assert done.code == 0, done.err
    for name in ("d-y-a@1", "d-y-a@2", "d-y-b@1", "d-y-b@2"):
        assert run(root, "-f", name, "--json").json["overall_score"] == 1.0


def test_no_truth_is_looked_at(tmp_path: Path) -> None:
    """What is read is the same, whatever is true."""
    contents = [lines(make) for make, _, _ in REFUSED.values()]
    contents += [str(content) for suffix, content, _ in SHAPES.values() if suffix == "jsonl"]
    for number, content in enumerate(contents):
        said = []
        for truth in ("A", "B"):
            root = folder(tmp_path / f"{number}{truth}", content)
            questions = [question(q, prompt=PROMPTS[q], ground_truth=truth) for q in PROMPTS]
            write(root, {"dataset/d.json": questions})
            done = run(root, "-f", "d-x", "--json")
            warnings = done.json["warnings"] if done.code == 0 else done.err
            said.append(str(warnings).replace(str(root), ""))
        assert said[0] == said[1]
