"""The command `convert`: each sample becomes files that score; nothing is lost unseen, nothing is
written over.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli import EVIL, ROOT, assert_refused, read_json, run, write
from conversions import convert, converted
from make_convert_samples import (
    BOXED,
    FERRIES,
    INFLOW,
    SAMPLES,
    SECOND_BOXED,
    STEWARD,
    SUBMISSION,
    TUNNEL,
    log_of,
    log_sample,
    write_all,
)

ANSWERS = {TUNNEL: "Yes", STEWARD: "No", FERRIES: "A, B", INFLOW: "63.5 billion yuan"}
SECOND = {TUNNEL: "Yes", STEWARD: "Yes"}


def test_samples_are_what_their_script_writes(tmp_path: Path) -> None:
    write_all(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in SAMPLES.iterdir()}
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (SAMPLES / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["benchmark_results.jsonl"], {"x@1.json": ANSWERS, "x@2.json": SECOND}),
        ([SUBMISSION], {"x.json": ANSWERS}),
        (["batch_output.jsonl"], {"x.json": BOXED}),
        (["answers.csv", "--id", "question", "--answer", "reply"], {"x.json": ANSWERS}),
        (["log.json"], {"x@1.json": BOXED, "x@2.json": SECOND_BOXED}),
    ],
)
def test_each_sample_becomes_predictions(
    arguments: list[str], files: object, tmp_path: Path
) -> None:
    assert converted(tmp_path, SAMPLES / arguments[0], *arguments[1:]) == files


def test_what_is_written_scores_as_the_answers_do(tmp_path: Path) -> None:
    """By eval.py, which finds the dataset by the name of the prediction."""
    root = write(
        tmp_path,
        {"dataset/250915.json": (ROOT / "dataset/250915.json").read_bytes(), "a.json": ANSWERS},
    )
    assert convert(SAMPLES / "log.json", "-o", root / "prediction" / "250915-x.json").code == 0
    scores = {
        name: run(root, "-f", name, "--dataset", "250915", "--json").json["overall_score"]
        for name in (str(root / "a.json"), "250915-x@1", "250915-x@2")
    }
    first, second = scores["250915-x@1"], scores["250915-x@2"]
    assert first == scores[str(root / "a.json")] > second > 0


def test_indices_of_rxnopt_are_converted_alike(tmp_path: Path) -> None:
    """A table of ids and indices scores as the prediction that ships."""
    name = "multiple_choice_single_varying-random"
    indices = read_json(ROOT / "prediction" / f"{name}.json")
    table = "id,answer\n" + "".join(f"{key},{index}\n" for key, index in indices.items())
    root = write(
        tmp_path,
        {"table.csv": table, "rows.json": [{"id": k, "prediction": i} for k, i in indices.items()]},
    )
    wanted = run(ROOT, "-f", name, "--json").json
    for source, names in (("table.csv", ["--answer", "answer"]), ("rows.json", [])):
        assert convert(root / source, *names, "-o", root / "x.json", "--force").code == 0
        found = run(
            ROOT,
            "-f",
            str(root / "x.json"),
            "--dataset",
            "multiple_choice_single_varying",
            "--json",
        ).json
        assert found["avg_relative_score"] == wanted["avg_relative_score"]
        assert (found["missing"], found["illegal"]) == (wanted["missing"], wanted["illegal"])


# --- What is told ---


def test_everything_left_out_is_told(tmp_path: Path) -> None:
    done = convert(SAMPLES / "benchmark_results.jsonl", "-o", tmp_path / "250915-m.json")
    assert done.out == (
        f"{SAMPLES}/benchmark_results.jsonl: MiroFlow results, 2 runs\n"
        f"{tmp_path}/250915-m@1.json: 4 answers\n"
        f"{tmp_path}/250915-m@2.json: 2 answers\n"
        f"  left out, no box in the reply: 1 ({FERRIES})\n"
        f"  left out, failed: 1 ({INFLOW})\n"
    )


def test_lists_under_the_name_of_jsonl_are_told(tmp_path: Path) -> None:
    done = convert(SAMPLES / SUBMISSION, "-o", tmp_path / "x.json")
    assert f"  {SUBMISSION}: read as one JSON list, despite its name\n" in done.out


def test_ids_given_twice(tmp_path: Path) -> None:
    """One answer counts once; several are kept, with prompts by which FutureX may know them
    apart.
    """
    rows = [{"id": "a", "answer": "1"}, {"id": "a", "answer": "1"}, {"id": "b", "answer": "2"}]
    apart = [
        {"id": "q", "answer": "A", "prompt": "one"},
        {"id": "q", "answer": "A", "prompt": "two"},
    ]
    other = [*rows, {"id": "b", "answer": "3", "prompt": "B?"}]
    root = write(tmp_path, {"same.json": rows, "other.json": other, "apart.json": apart})
    named = "--answer", "answer"
    assert converted(root, root / "same.json", *named) == {"x.json": {"a": "1", "b": "2"}}
    done = convert(root / "other.json", *named, "-o", root / "y.json")
    assert "  given twice, taken once: 1 (a)\n" in done.out
    assert (
        "  ids with several answers, all kept; a score counts them as missing: 1 (b)\n" in done.out
    )
    assert read_json(root / "y.json") == [
        {"id": "a", "answer": "1"}, {"id": "b", "answer": "2"},
        {"id": "b", "answer": "3", "prompt": "B?"},
    ]  # fmt: skip
    done = convert(root / "apart.json", *named, "-o", root / "z.json")
    assert (
        "z.json: 2 answers\n  ids of several questions, kept with their prompts: 1 (q)\n"
        in done.out
    )
    assert read_json(root / "z.json") == apart


def test_names_that_mean_something_else_as_keys_stay_ids(tmp_path: Path) -> None:
    """`{"id": …, "answer": …}` is a record, and `{"data": […]}` a list of them."""
    rows = [
        {"id": "id", "answer": "A"},
        {"id": "answer", "answer": "B"},
        {"id": "data", "answer": "C"},
    ]
    source = write(tmp_path, {"a.json": rows}) / "a.json"
    assert converted(tmp_path, source, "--answer", "answer") == {"x.json": rows}


# --- Names of files ---


def test_several_sources_are_runs_in_their_order(tmp_path: Path) -> None:
    """MiroFlow writes every run to a folder of its own."""
    rows = {n: [{"task_id": "a", "model_boxed_answer": n, "status": "completed"}] for n in "123"}
    root = write(tmp_path, {f"run_{n}/benchmark_results.jsonl": row for n, row in rows.items()})
    sources = [root / f"run_{n}" / "benchmark_results.jsonl" for n in "312"]
    assert converted(root, *sources) == {
        "x@1.json": {"a": "3"},
        "x@2.json": {"a": "1"},
        "x@3.json": {"a": "2"},
    }


def test_sources_that_answer_other_questions_are_one_prediction(tmp_path: Path) -> None:
    """Logs of six datasets became six runs; the pairs of RxnOptBench need one file."""
    line = {"response": {"body": {"choices": [{"message": {"content": "Option 1"}}]}}}
    for name in ("a", "b"):
        rows = [{"custom_id": f"t_q{n}_{name}", **line} for n in (1, 2)]
        write(tmp_path, {f"{name}.jsonl": rows})
    done = convert(tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-o", tmp_path / "x.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{tmp_path}/a.jsonl: OpenAI batch output, 1 run",
        f"{tmp_path}/b.jsonl: OpenAI batch output, 1 run",
        f"{tmp_path}/x.json: 4 answers",
    ]
    names = ["t_q1_a", "t_q2_a", "t_q1_b", "t_q2_b"]
    assert read_json(tmp_path / "x.json") == dict.fromkeys(names, "Option 1")


def test_one_run_may_be_a_run_of_others(tmp_path: Path) -> None:
    assert convert(SAMPLES / SUBMISSION, "-o", tmp_path / "x@3.json").code == 0
    assert os.listdir(tmp_path) == ["x@3.json"]
    for name in ("x@3", "x@night", "x@"):  # what follows the last @ is the run, whatever it is
        done = convert(SAMPLES / "log.json", "-o", tmp_path / f"{name}.json", "--force")
        assert_refused(done, f"{name}.json", "expected a name without @ for 2 runs")


def test_a_run_without_answers_is_told_and_not_written(tmp_path: Path) -> None:
    samples = [log_sample("a", 1, ""), log_sample("a", 2, "B")]
    root = write(tmp_path, {"log.json": log_of(samples, 2)})
    done = convert(root / "log.json", "-o", root / "new" / "x.json")
    assert "run 1: no answers, not written\n  left out, without an answer: 1 (a)\n" in done.out
    assert os.listdir(root / "new") == [
        "x@2.json"
    ]  # not x.json, whose score would be that of two runs


def test_nothing_is_written_over_unasked(tmp_path: Path) -> None:
    """Not even one of several: the first run is not there yet, the second is."""
    root = write(tmp_path, {"x@2.json": "mine"})
    done = convert(SAMPLES / "log.json", "-o", root / "x.json")
    assert_refused(done, "x@2.json", "the file exists already; --force replaces it")
    assert {path.name: path.read_text() for path in root.iterdir()} == {"x@2.json": "mine"}
    done = convert(SAMPLES / "log.json", "-o", root / "x.json", "--force")
    assert done.code == 0
    assert read_json(root / "x@2.json") == SECOND_BOXED


# --- Refusals ---


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.json": ""}, ["a.json", "expected records, got an empty file"]),
        ({"a.json": "["}, ["a.json", "not JSON: line 1"]),
        ({"a.json": "[]"}, ["a.json", "expected --answer COLUMN"]),
        ({"a.json": "[1, 2]"}, ["a.json", "expected --answer COLUMN"]),
        ({"a.csv": "id,text\n1,2\n"}, ["a.csv", "expected --answer COLUMN", "id (1), text (2)"]),
        (
            {"a.jsonl": [{"id": "a", "prediction": ""}]},
            ["a.jsonl", "no part that may be the answer: id (a)"],
        ),
        ({"a.bin": b"\x89PNG\r\n\x1a\n" + b"\xff" * 20}, ["a.bin", "not UTF-8"]),
    ],
)
def test_what_is_no_source(files: dict[str, object], words: list[str], tmp_path: Path) -> None:
    source = write(tmp_path, files) / next(iter(files))
    done = convert(source, "-o", tmp_path / "out" / "x.json")
    assert_refused(done, *words)
    assert not (tmp_path / "out").exists()


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    assert_refused(
        convert(tmp_path / "no.eval", "-o", tmp_path / "x.json"), "no.eval", "cannot be read"
    )
    assert_refused(convert(tmp_path, "-o", tmp_path / "x.json"), "expected a file, got a folder")


def test_the_output_is_json(tmp_path: Path) -> None:
    done = convert(SAMPLES / "log.json", "-o", tmp_path / "x.jsonl")
    assert_refused(done, "x.jsonl", "expected a name that ends with .json")


@pytest.mark.parametrize("name", ["systems.json", "leaderboard.json"])
def test_names_that_nightly_has_itself(name: str, tmp_path: Path) -> None:
    done = convert(SAMPLES / SUBMISSION, "-o", tmp_path / name)
    assert_refused(done, name, "expected another name")
    assert os.listdir(tmp_path) == []


def test_a_source_given_twice(tmp_path: Path) -> None:
    """Its runs would count twice."""
    source = write(tmp_path, {"a.json": {"a": "A"}}) / "a.json"
    for other in (source, tmp_path / ".." / tmp_path.name / "a.json"):
        assert_refused(
            convert(source, other, "-o", tmp_path / "x.json"), "a.json: expected each source once"
        )
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize(
    "source", [pytest.param("log.eval", marks=pytest.mark.extra("inspect_ai")), "log.json"]
)
def test_columns_of_what_has_none(source: str, tmp_path: Path) -> None:
    done = convert(SAMPLES / source, "-o", tmp_path / "x.json", "--answer", "reply")
    assert_refused(done, "no single column reply with values")


def test_an_unwritable_folder(tmp_path: Path) -> None:
    root = write(tmp_path, {"file": "x"})
    done = convert(SAMPLES / "log.json", "-o", root / "file" / "x.json")
    assert_refused(done, "cannot be written")


def test_nothing_raw_reaches_the_screen(tmp_path: Path) -> None:
    """Ids, names of models and files, keys: all a stranger's."""
    log = log_of([log_sample(EVIL, 1, ""), log_sample("a", 1, EVIL)], 1, EVIL)
    log["eval"]["model"] = EVIL
    root = write(tmp_path, {"log.json": log, "a.json": [{EVIL: 1}], "b.csv": f'"{EVIL[:8]}"\n1\n'})
    done = convert(root / "log.json", "-o", root / "x.json")
    assert done.code == 0
    assert r"\x1b[2J" in done.out
    assert read_json(root / "x.json") == {"a": EVIL}
    for name in ("a.json", "b.csv"):
        assert_refused(convert(root / name, "-o", root / "y.json"), "expected --answer COLUMN")


@pytest.mark.parametrize(
    ("depth", "words"), [(900, "no part that may be the answer"), (100_000, "nested too deeply")]
)
def test_deep_nesting_is_refused(depth: int, words: str, tmp_path: Path) -> None:
    root = write(
        tmp_path, {"a.json": f'[{{"id": "a", "prediction": {"[" * depth}1{"]" * depth}}}]'}
    )
    assert_refused(convert(root / "a.json", "-o", root / "x.json"), words)


def test_neither_inspect_ai_nor_pyarrow_is_needed(tmp_path: Path) -> None:
    code = (
        "import sys, eval\n"
        f"assert eval.main(['convert', {str(SAMPLES / 'log.json')!r}, '-o', "
        f"{str(tmp_path / 'x.json')!r}]) == 0\n"
        "assert not {'inspect_ai', 'pyarrow', 'numpy'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
