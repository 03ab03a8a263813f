"""Pages as HTML, harmless whatever they show, and readable under a strict
content policy.

Every text gets into the HTML by `tag`, which escapes it. The policy of a page allows
only its style and its script, by their checksums; neither contains anything that is not
ours. Charts and rows that open are made by `display.marks` and `display.rows`.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from .tables import Cell, Link, show_number

if TYPE_CHECKING:
    from .charts import Chart

# Pages can be compared line by line
_OWN_LINE: Final = {"meta", "p", "tr", "details", "section"}
_STRIPES: Final = 9  # of the colours of scores


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


# --- Elements ---


def tag(name: str, /, *content: str, **attributes: object) -> Html:
    """Return an element. Its content and the values of its attributes are escaped
    unless they are HTML already.

    Attributes that are None are left out; `class_` is `class`, and
    `data_l` is `data-l`.

    >>> tag("p", "a < b ", tag("b", "c"), class_="x", id=None)
    '<p class="x">a &lt; b <b>c</b></p>\\n'
    """
    begin = name
    for key, value in attributes.items():
        if value is not None:
            begin += f' {_attribute(key)}="{quoted(str(value))}"'
    end = ""
    if name in _OWN_LINE:
        end = "\n"
    if not content:
        return Html(f"<{begin}/>{end}")
    return Html(f"<{begin}>{''.join(map(escaped, content))}</{name}>{end}")


def escaped(text: str) -> str:
    """Return a text between tags, where quotes may stand as they are; HTML
    stays what it is.
    """
    if type(text) is Html:
        return text
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Of short texts: many attributes have the same value
quoted = lru_cache(maxsize=4096)(escape)


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def join(*parts: str) -> Html:
    """Join parts one behind the other; those that are no HTML are escaped."""
    return Html("".join(map(escaped, parts)))


def span(kind: str, *content: str) -> Html:
    """Return a part of a line, of a class."""
    return tag("span", *content, class_=kind)


def soft(text: str) -> Html:
    """Return a text that is less important than what it stands beside."""
    return span("s", text)


def format_level(level: object) -> str:
    """Format a level as `L1`; "" where a benchmark has none."""
    if not level:
        return ""
    return f"L{level}"


def draw_link(text: str, href: str | None) -> str:
    """Return a text that leads to an address; without one, the text."""
    if not href:
        return text
    return tag("a", text, href=href)


def draw_list(texts: Sequence[str]) -> Html:
    """Return texts as a list; nothing if there are none."""
    if not texts:
        return Html()
    return tag("ul", *(tag("li", text) for text in texts), class_="plain")


def link_to(link: Link) -> str:
    """Return the address of a link to a file beside the page, or to an anchor.

    `./` stands before the file, or else `javascript:…` would be no name of a file.
    """
    address = ""
    if link.file:
        address = f"./{quote(link.file.encode('utf-8', 'surrogateescape'))}"
    if link.to:
        address += f"#{link.to}"
    return address


# --- Numbers ---


def show_score(value: float | None, digits: int = 3) -> str:
    """Show a number with a minus sign that is as wide as a plus sign; – if
    there is none.
    """
    return show_number(value, digits).replace("-", "−")


def show_signed(value: float | None, digits: int = 3) -> str:
    """Show a number with its sign.

    >>> show_signed(0.25), show_signed(-0.5), show_signed(-0.0001)
    ('+0.250', '−0.500', '0.000')
    """
    shown = show_score(value, digits)
    is_zero = not shown.strip("0.")
    if is_zero or not shown[0].isdigit():
        return shown
    return f"+{shown}"


def choose_digits(values: Iterable[float]) -> int:
    """Choose decimals that show two digits of the smallest value that is not 0; 3 to 6.

    >>> choose_digits([0.25, 0.01]), choose_digits([0.00016, 0.25])
    (3, 5)
    """
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return 3
    return min(6, max(3, 1 - math.floor(math.log10(min(sizes)))))


def show_heat(
    score: float | None,
    share: float | None = None,
    kind: str = "",
    href: str | None = None,
) -> Html:
    """Show a score on the colour of its share of the best one, by default itself; it
    may lead to a page. It has more digits when it is pointed at.

    >>> show_heat(0.5), show_heat(math.nan)
    ('<span class="h4 " title="0.5000">0.50</span>', '<span class="hx ">–</span>')
    """
    shown = show_score(score, 2)
    if share is None:
        share = score
    if share is None or math.isnan(share):
        return span(f"hx {kind}", shown)
    style = f"{heat_class(share)} {kind}"
    title = show_score(score, 4)
    if not href:
        return tag("span", shown, class_=style, title=title)
    return tag("a", shown, class_=style, href=href, title=title)


def heat_class(share: float) -> str:
    """Return the class of the colour of a share: from orange (0) to blue (1).

    >>> heat_class(0.0), heat_class(1.0)
    ('h0', 'h8')
    """
    stripe = int(share * _STRIPES)
    return f"h{min(_STRIPES - 1, max(0, stripe))}"


# --- Tables ---


class Head(NamedTuple):
    """A column: its title and its classes.

    "n" numbers, "x" a chart, "c" scores on colours, "k" small ones, "g" a gap, "o" left
    out on a phone; in a ranking "rk" the rank, "sc" the score, "vs" what stands beside
    it on a phone.
    """

    title: str
    kind: str = ""
    about: str | None = None  # shown when it is pointed at


class TableLine(NamedTuple):
    """A row of a table: its cells, and its class. That is "tie", "ref" (a reference),
    "all", "few", "prov" (provisional), "in" (shown while the row above it is open).
    """

    cells: Sequence[str]
    kind: str | None = None


def draw_table(
    heads: Sequence[Head],
    rows: Iterable[TableLine],
    kind: str | None = None,
    name: str | None = None,
) -> Html:
    """Draw a table; the first column that has no class names its rows. A row of one
    cell is as wide as the table. `name` is the anchor of the rows.
    """
    named = next((index for index, head in enumerate(heads) if not head.kind), -1)
    body = [tag("tr", *_draw_cells(row, heads, named), class_=row.kind) for row in rows]
    head = tag("thead", tag("tr", *map(_draw_head, heads)))
    return tag("table", head, tag("tbody", *body, id=name), class_=kind)


def _draw_cells(row: TableLine, heads: Sequence[Head], named: int) -> list[Html]:
    """Draw the cells of a row, of which the one of the `named` column names the row."""
    if len(row.cells) == 1:
        kind = None
        if not row.kind:
            kind = "s"
        return [tag("td", row.cells[0], colspan=len(heads), class_=kind)]
    cells = [
        tag("td", cell, class_=head.kind or None)
        for cell, head in zip(row.cells, heads, strict=True)
    ]
    if named >= 0:
        cells[named] = tag("th", row.cells[named], scope="row")
    return cells


def _draw_head(head: Head) -> Html:
    """Draw the title of a column; one without a title is no header."""
    if not head.title:
        return tag("td", "", class_=head.kind or None)
    return tag(
        "th", head.title, class_=head.kind or None, scope="col", title=head.about
    )


# --- Parts of a page ---


def draw_scroll(title: str, table: Html) -> Html:
    """Draw a table in a box of its own, which the keyboard reaches where the
    screen is narrow.
    """
    box = {"class_": "scroll", "tabindex": 0, "role": "region", "aria_label": title}
    return tag("div", table, **box)


def draw_section(title: str, *content: Html, note: str = "", name: str = "") -> Html:
    """Draw a heading, what it shows, and its content; `name` is its anchor."""
    head = [tag("h2", title)]
    if note:
        head.append(tag("p", note, class_="cap"))
    return tag("section", *head, *content, id=name or None)


def draw_fold(title: str, *content: Html, note: str = "", name: str = "") -> Html:
    """Draw content that opens when its heading is clicked."""
    summary = tag("summary", tag("h2", title), " ", soft(note))
    return tag("details", summary, *content, class_="fold", id=name or None)


class Page(NamedTuple):
    """What a page shows: name, verdict, one line of facts, the summary, and
    everything else.

    `summary` is what a notebook shows, too; it needs no script. `charts` are those of
    `plot`, the first is drawn without a name. `texts` are those of the questions with
    an id of their own, each by its title, for comparisons. All of these, and `body`,
    are made when they are asked for. `parts` lead to anchors of the page, `links` to
    other pages. `key` identifies what the page shows, and stands in its head
    unless it is "".
    """

    title: str
    facts: str
    summary: Callable[[], Html]
    body: Callable[[], Iterable[Html]]
    charts: Callable[[], Mapping[str, Chart]]
    lead: str = ""
    parts: Sequence[Link] = ()
    signature: str = ""
    key: str = ""
    links: Sequence[Link] = ()
    texts: Callable[[], Mapping[str, Mapping[str, Cell]]] = dict


# --- The page ---


def render(page: Page) -> str:
    """Render the page as HTML; the same page gives the same bytes."""
    # A name of words between underscores may break behind each of them.
    title = tag("h1", Html(escaped(page.title).replace("_", "_<wbr/>")))
    top = tag("div", title, *_draw_links(page), class_="top")
    main = [
        tag("header", top, *_draw_lead(page)),
        tag("div", page.summary(), class_="fe"),
        *page.body(),
    ]
    if page.signature:
        main.append(tag("footer", page.signature))
    head = tag("head", *_draw_head_tags(page))
    body = ["<body>", tag("main", *main), "</body></html>\n"]
    return "".join(['<!DOCTYPE html>\n<html lang="en">', head, *body])


def _draw_head_tags(page: Page) -> list[Html]:
    style, script, policy = _frame()
    names = {
        "viewport": "width=device-width, initial-scale=1",
        "color-scheme": "light dark",
        "referrer": "no-referrer",
        "key": page.key,
    }
    return [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        *(
            tag("meta", name=name, content=content)
            for name, content in names.items()
            if content
        ),
        tag("title", page.title),
        tag("style", style),
        tag("script", script),
    ]


def _draw_links(page: Page) -> list[Html]:
    links = [
        tag("a", link.text, href=link_to(link)) for link in (*page.links, *page.parts)
    ]
    if not links:
        return []
    return [tag("nav", *links, aria_label="Contents")]


def show_in_notebook(page: Page) -> str:
    """Draw name, verdict, facts and summary of a page for a notebook, without script.

    The style is nested in `.fe.fe.fe`: it holds for them only, and its rules win over
    those of Jupyter, such as `.jp-RenderedHTMLCommon tbody tr:nth-child(even)`. Its
    colours are shades of the notebook's own text colour, since a notebook may be light
    on a computer that is dark.
    """
    style = Html(f".fe.fe.fe{{{_read('notebook.css')}\n{_read('table.css')}}}")
    content = [tag("p", tag("b", page.title)), *_draw_lead(page), page.summary()]
    return tag("div", tag("style", style), *content, class_="fe")


def _draw_lead(page: Page) -> list[Html]:
    lines = ((page.lead, "lead"), (page.facts, "sub"))
    return [tag("p", text, class_=kind) for text, kind in lines if text]


@lru_cache(maxsize=1)
def _frame() -> tuple[Html, Html, str]:
    """Read style and script of all pages, and make the policy that allows them."""
    style = "\n".join(_read(name) for name in ("colors.css", "table.css", "page.css"))
    script = _read("page.js")
    allowed = f"style-src {_hash(style)}; script-src {_hash(script)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return Html(style), Html(script), policy


@cache
def _read(name: str) -> str:
    """Read a file of the templates."""
    return (
        (Path(__file__).with_name("templates") / name)
        .read_text(encoding="utf-8")
        .strip()
    )


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
