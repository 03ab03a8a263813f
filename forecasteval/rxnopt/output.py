"""The folder that a build becomes: datasets, prompt templates, example predictions and `report.md`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import write_atomic
from forecasteval.common.records import dump_json
from forecasteval.common.version import __version__

from .builder import Build
from .kinds import NAME, QUESTION_TYPES, TEMPLATES, dataset_name, template_of
from .prompts import fill, make_template, render_question
from .questions import NOT_ASKED_REASONS, SKIP_REASONS
from .settings import SETTING_HELP
from .tables import ROW_REASONS, UNUSED_REASONS

PROGRAM: Final = "python eval.py"


def build_files(build: Build, language: str = "en", program: str = PROGRAM) -> dict[str, str]:
    """The text of every output file by name: six datasets, four templates, six example predictions, the report.

    `program` is what the report tells its readers to type.
    """
    files: dict[str, str] = {}
    for kind in QUESTION_TYPES:
        questions = [question for question in build.questions if question["question_type"] == kind]
        lines = ",\n".join(map(dump_json, questions))  # a question per line: fast, and a diff shows which one changed
        files[dataset_name(kind)] = f"[\n{lines}\n]\n" if questions else "[]\n"
        example = {question["id"]: 0 for question in questions}
        files[f"example_prediction_{dataset_name(kind)}"] = dump_json(example, indent=1) + "\n"
    for name in TEMPLATES:
        files[f"prompt_{name}.txt"] = make_template(name, language)
    files["report.md"] = make_report(build, language, program)
    return files


def write_build(build: Build, folder: Path, language: str = "en", program: str = PROGRAM) -> None:
    """Write the files of a build to a folder that must not exist yet; all of them appear at once, or none."""
    if os.path.lexists(folder):
        raise InputError(str(folder), "the output folder must not exist yet")
    temporary = folder.with_name(f".{folder.name[:100]}.{os.getpid()}.tmp")
    try:
        for name, text in build_files(build, language, program).items():
            write_atomic(temporary / name, text)
        if os.path.lexists(folder):
            raise InputError(str(folder), "the output folder must not exist yet")
        temporary.rename(folder)
    except OSError as error:
        raise EvaluationError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def make_report(build: Build, language: str = "en", program: str = PROGRAM) -> str:
    """`report.md`: how to use the folder, every count, every setting, a sample of each type, every warning."""
    counts = build.counts
    kinds = [
        {
            "name": kind,
            "count": counts[kind],
            "dataset": dataset_name(kind),
            "template": template_of(kind),
            "sample": next((_sample(q, language) for q in build.questions if q["question_type"] == kind), ""),
        }
        for kind in QUESTION_TYPES
    ]
    values = build.settings._asdict().items()
    return fill(
        f"report.{language}.md.j2",
        build=build,
        settings=build.settings,
        evaluator=f"{NAME} {__version__}",
        counts=count_reasons(build),
        program=program,
        kinds=kinds,
        setting_rows=[(name.upper(), dump_json(value), SETTING_HELP[name]) for name, value in values],
    )


def make_statistics(build: Build) -> str:
    """How many tables and questions there are, and how many were left out for which reason."""
    return fill("statistics.en.md.j2", build=build, counts=count_reasons(build))


def count_reasons(build: Build) -> dict[str, dict[str, int]]:
    """The counts of a build by reason, with those that did not occur."""
    return {
        "unused": {**dict.fromkeys(UNUSED_REASONS, 0), **build.unused},
        "rows": {reason: build.rows[reason] for reason in ROW_REASONS},
        "not_asked": {**dict.fromkeys(NOT_ASKED_REASONS, 0), **build.not_asked},
        "skipped": {**dict.fromkeys(SKIP_REASONS, 0), **build.skipped},
    }


def _sample(question: Mapping[str, Any], language: str) -> str:
    prompt = render_question(question, make_template(template_of(question["question_type"]), language)).splitlines()
    if len(prompt) > 150:
        prompt[100:-4] = [f"… ({len(prompt) - 104} more lines)"]
    relative = question["meta"]["option_relative_scores"]
    shown = f"{relative[:50]}{' …' if len(relative) > 50 else ''}"
    return "\n".join([f"id: {question['id']}", "", *prompt, "", f"answer: {question['answer']}", f"relative: {shown}"])
