"""The wording of prompts and reports: Jinja templates of `templates/`, filled."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from forecasteval.common.errors import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def fill(name: str, **values: Any) -> str:
    """The text of a template with `values`, which are inserted literally: they are data, never templates."""
    return _environment().get_template(name).render(values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    import jinja2  # here: only `build` and `render` need it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("forecasteval.rxnopt"),
        autoescape=False,  # text and Markdown, no HTML; the filters below keep data in its place
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(code=code_cell, fence=fence)
    return environment


def code_cell(text: str) -> str:
    """A code span in a cell of a Markdown table: on one line, and nothing in it ends the span or the cell."""
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"


def fence(text: str) -> str:
    """A code block that no text can end: its fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{text}\n{marks}"
