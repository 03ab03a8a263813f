"""Prompts: templates with `{options}` and the fields of `input`, and a
    question put into one.

The wording stands in `templates/prompt.*.txt.j2`, Jinja templates that make the text of
each template file; that file's own placeholders are filled literally, in one pass, so
that nothing in a table is ever evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forecasteval.benchmark import Prompt
from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import read_file
from forecasteval.common.records import JsonObject, as_text
from forecasteval.common.text import decode_utf8

from ..datasets import read_questions, template_of
from .chemicals import ABSENT, SELECTIVITIES, Substance, read_items

if TYPE_CHECKING:
    from jinja2 import Environment

# A question of a dataset; only its id, type and options are checked
Record = JsonObject
LANGUAGES: Final = ("en", "zh")
# Seed, 样本展示; in Chinese prompts.
LABELS: Final = {"reagents": "试剂 (reagents)", "solvents": "溶剂 (solvents)"}
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")


def make_template(name: str, language: str = "en") -> str:
    """Make the text of a prompt template, with places for `{options}` and
    fields of `input`.
    """
    single, reference = name.startswith("single_varying"), name.endswith("_reference")
    return fill(f"prompt.{language}.txt.j2", single=single, reference=reference)


def find_templates(
    questions: Iterable[Record], folder: Path, language: str | None = None
) -> dict[str, str]:
    """Find the templates that questions use, by name.

    A file `prompt_NAME.txt` in `folder`, which its owner may have edited, or else the
    built-in template. InputError for a language beside such a file, which
    has one already.
    """
    templates = {}
    for name in sorted(
        {template_of(question["question_type"]) for question in questions}
    ):
        path = folder / f"prompt_{name}.txt"
        if not path.is_file():
            templates[name] = make_template(name, language or "en")
            continue
        if language:
            expected = "the folder's own prompt is used, in its language"
            raise InputError(
                str(path), f"{expected}: leave out --language, or remove the file"
            )
        templates[name] = decode_utf8(read_file(path), str(path))
        if "{options}" not in templates[name]:
            raise InputError(str(path), "expected a template with {options}")
    return templates


def render_question(question: Record, template: str) -> str:
    """Put the `input` and `options` of a question into the template literally, never
    its meta or answer.

    One pass over the template: text of a table that looks like a placeholder stays
    text, and stays on its line.
    """
    given = find_input(question)
    is_chinese = _CHINESE.search(template) is not None
    labels = LABELS if is_chinese else {}
    options = [
        f"Option {index}:\n{condition_lines(option, labels)}"
        for index, option in enumerate(question["options"])
    ]
    references = reference_blocks(given.get("reference_conditions"), labels)
    texts = {
        "options": "\n\n".join(options),
        "reference_conditions": "\n\n".join(references),
    }
    for field in ("reactants", "products"):
        texts[field] = _item_lines(given.get(field))
    for field in ("constant_conditions", "fixed_conditions"):
        texts[field] = condition_lines(given.get(field), labels)
    return _PLACEHOLDER.sub(lambda match: texts.get(match[1], match[0]), template)


def find_input(question: Record) -> JsonObject:
    """Find what a prompt shows besides the options."""
    given = question.get("input")
    if isinstance(given, Mapping):
        return given
    return {}


def render_prompts(
    questions: Iterable[Record], templates: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Make a row `{"id", "prompt"}` of each question."""
    for question in questions:
        template = templates[template_of(question["question_type"])]
        yield {"id": str(question["id"]), "prompt": render_question(question, template)}


def list_prompts(path: Path) -> Iterator[Prompt]:
    """List the prompts of a dataset; InputError for a record that is no question."""
    questions = read_questions(path)
    for row in render_prompts(questions, find_templates(questions, path.parent)):
        yield Prompt(row["prompt"], {"id": row["id"]})


def show_items(value: object) -> str:
    """Show items on one line, `content (SMILES); content`; `—` if there is nothing."""
    return "; ".join(map(_show_item, read_items(value))) or ABSENT


def _show_item(item: Substance) -> str:
    """Show an item on one line; a text that is its SMILES only once."""
    content = printable(" ".join(item["content"].split()))
    smiles = printable(" ".join(item["SMILES"].split()))
    if content and smiles and content != smiles:
        return f"{content} ({smiles})"
    return content or smiles


def condition_lines(conditions: object, labels: Mapping[str, str]) -> str:
    """Write a line `- key: value` for each condition."""
    if not isinstance(conditions, Mapping) or not conditions:
        return f"- {ABSENT}"
    lines = []
    for key in sorted(conditions):
        name = labels.get(key) or printable(key)
        lines.append(f"- {name}: {show_items(conditions[key])}")
    return "\n".join(lines)


def _item_lines(value: object) -> str:
    lines = [f"- {_show_item(item)}" for item in read_items(value)]
    return "\n".join(lines) or f"- {ABSENT}"


def reference_blocks(references: object, labels: Mapping[str, str]) -> Iterator[str]:
    """Write `Reference 1 (yield=59.0%, ee=90%):` and the conditions, for each."""
    if not isinstance(references, list):
        return
    for number, reference in enumerate(references, 1):
        if not isinstance(reference, Mapping):
            continue
        amount = reference.get("yield")
        if isinstance(amount, float):
            amount = round(amount, 2)
        scores = [f"yield={as_text(amount)}%"]
        scores += [
            f"{field}={as_text(reference[field])}"
            for field in SELECTIVITIES
            if field in reference
        ]
        conditions = condition_lines(reference.get("conditions"), labels)
        yield f"Reference {number} ({printable(', '.join(scores))}):\n{conditions}"


# --- Templates ---


def fill(name: str, **values: object) -> str:
    """Fill a template with `values`, which are inserted literally: they are data, never
    templates.
    """
    return _environment().get_template(name).render(values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    import jinja2  # here: only `build` and `render` need it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("forecasteval.rxnopt.build"),
        # Text and Markdown, no HTML; the filters below keep data in its place
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(fence=fence, reasons=show_reasons)
    return environment


def show_reasons(counts: Mapping[str, int]) -> str:
    """Write counts by reason, ` (no_yield 2, unreadable 1)`; "" for none."""
    shown = [f"{reason} {count}" for reason, count in sorted(counts.items()) if count]
    if not shown:
        return ""
    return f" ({', '.join(shown)})"


def code_cell(text: str) -> str:
    """Make a code span in a cell of a Markdown table. It is on one line, and nothing in
    it ends the span or the cell.
    """
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"


def fence(text: str) -> str:
    """Make a code block that no text can end: its fence is longer than any
    backticks inside.
    """
    lengths = map(len, re.findall("`+", text))
    marks = "`" * max(3, 1 + max(lengths, default=0))
    return f"{marks}text\n{text}\n{marks}"
