"""Prompts: templates with `{options}` and the fields of `input`, and a question put into one.

The wording stands in `templates/prompt.LANGUAGE.txt.j2`, a Jinja template that makes the text of each template file;
that file's own placeholders are filled literally, in one pass, so that nothing in a table is ever evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text

from .items import ABSENT, read_items
from .wording import fill

LANGUAGES: Final = ("en", "zh")
LABELS: Final = {"reagents": "试剂 (reagents)", "solvents": "溶剂 (solvents)"}  # seed, 样本展示
_FIELDS: Final = (
    "reactants", "products", "constant_conditions", "fixed_conditions", "reference_conditions", "options",
)  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(_FIELDS) + r")\}")


def make_template(name: str, language: str = "en") -> str:
    """The text of a prompt template; its placeholders are `{options}` and fields of `input`."""
    single, reference = name.startswith("single_varying"), name.endswith("_reference")
    return fill(f"prompt.{language}.txt.j2", single=single, reference=reference)


def render_question(question: Mapping[str, Any], template: str) -> str:
    """The prompt of a question: its `input` and `options`, never its meta or answer, put into the template literally.

    One pass over the template: text of a table that looks like a placeholder stays text, and stays on its line.
    """
    given = question.get("input")
    given = given if isinstance(given, Mapping) else {}
    texts = {
        "reactants": _item_lines(given.get("reactants")),
        "products": _item_lines(given.get("products")),
        "constant_conditions": condition_lines(given.get("constant_conditions")),
        "fixed_conditions": condition_lines(given.get("fixed_conditions")),
        "reference_conditions": "\n\n".join(_reference_blocks(given.get("reference_conditions"))),
        "options": "\n\n".join(f"Option {i}:\n{condition_lines(o)}" for i, o in enumerate(question["options"])),
    }
    return _PLACEHOLDER.sub(lambda match: texts[match[1]], template)


def show_items(value: object) -> str:
    """`content (SMILES); content`, on one line; `—` if there is nothing."""
    shown = []
    for item in read_items(value):
        content, smiles = (printable(" ".join(item[key].split())) for key in ("content", "SMILES"))
        shown.append(f"{content} ({smiles})" if content and smiles and content != smiles else content or smiles)
    return "; ".join(shown) or ABSENT


def condition_lines(conditions: object) -> str:
    """`- key: value`, a line for each condition."""
    if not isinstance(conditions, Mapping) or not conditions:
        return f"- {ABSENT}"
    return "\n".join(f"- {LABELS.get(k) or printable(k)}: {show_items(conditions[k])}" for k in sorted(conditions))


def _item_lines(value: object) -> str:
    return "\n".join(f"- {show_items([item])}" for item in read_items(value)) or f"- {ABSENT}"


def _reference_blocks(references: object) -> Iterator[str]:
    for number, reference in enumerate(references if isinstance(references, list) else [], 1):
        if isinstance(reference, Mapping):
            amount, conditions = as_text(reference.get("yield")), reference.get("conditions")
            yield f"Reference {number} (yield={printable(amount)}%):\n{condition_lines(conditions)}"
