"""Rows that open: `<details>` with a grid in their `<summary>`, and the
filters above them.

The text search of a browser, addresses (#q-…) and reading work without script. The
script counts, filters, sorts and copies; what it needs stands in data-… attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from .html import Html, join, soft, tag
from .pages import show_text
from .tables import Cell, Marked

_FOLDED: Final = 100  # rows from which on the style shows the first 50 only
_SCROLLED: Final = 500  # characters from which on a text may be higher than its box


_HEADS: Final = {"": "Level"}  # what is said of titles that are pointed at


class Choice(NamedTuple):
    """A value to filter by: `value` stands in the address, `text` and
    `small` on its chip.
    """

    value: str
    text: str
    small: str = ""
    kind: str | None = None
    about: str | None = None  # what is read aloud where the text is short


class OpenRow(NamedTuple):
    """A row: its address, the cells of its summary, what the filters and orders read,
    and what is inside.
    """

    key: str
    cells: Sequence[Html]
    data: Mapping[str, object]
    inside: Html


# --- Filters ---


def draw_chips(
    of: str, key: str, choices: Sequence[Choice], kind: str = "tags"
) -> Html:
    """Draw the values of `key` as buttons that filter the rows `of`, each counted;
    `kind` "seg" joins them. Nothing where there is one value only.
    """
    if len(choices) < 2:
        return Html()
    buttons = [_draw_chip(of, key, choice) for choice in choices]
    return tag("div", *buttons, class_=f"{kind} js")


def _draw_chip(of: str, key: str, choice: Choice) -> Html:
    content = [choice.text]
    if choice.small:
        content += [" ", tag("small", choice.small)]
    data = {"data_of": of, "data_k": key, "data_v": choice.value}
    state = {"aria_pressed": "false", "aria_label": choice.about, "class_": choice.kind}
    return tag("button", *content, type="button", **data, **state)


def draw_levels(of: str, levels: Iterable[int | None]) -> Html:
    """Draw the levels that there are as buttons that filter."""
    chips = []
    for level in sorted({*filter(None, levels)}):
        chips.append(Choice(str(level), f"L{level}", about=f"Level {level}, L{level}"))
    return draw_chips(of, "level", chips, "seg")


def draw_bar(
    of: str,
    what: str,
    *filters: Html,
    orders: Sequence[tuple[str, str]] = (),
    first: str = "",
) -> Html:
    """Draw search, filters, order, download and count of the rows `of`,
    which are `what`.

    `orders` are (key in the data of a row, with "-" where the highest come first; its
    text). A second bar of a page has a `first` part of the names of its search and
    order in addresses.
    """
    label = f"Search {what}"
    address = f"{first}search"
    controls = [
        tag(
            "input", type="search", placeholder=label, aria_label=label, data_k=address
        ),
        *filters,
    ]
    if orders:
        options = [tag("option", text, value=value) for value, text in orders]
        controls.append(
            tag("select", *options, aria_label="Order", data_k=f"{first}sort")
        )
    controls.append(tag("button", "CSV", type="button", data_csv=what))
    controls.append(tag("output", "", data_what=what))
    return tag("div", *controls, class_="bar js", data_for=of)


# --- Rows ---


def draw_rows(
    name: str, titles: Sequence[str], rows: Sequence[OpenRow], kind: str
) -> Html:
    """Draw rows below their titles; the column of levels is too narrow for its title.

    kind: the class that says how wide the columns are.
    """
    heads = [tag("span", text, title=_HEADS.get(text)) for text in titles]
    head = tag("div", *heads, class_=f"hd {kind}", aria_hidden="true")
    drawn = tag(
        "div", *map(_draw_row, rows), class_=f"rows {kind}", data_list=name, id=name
    )
    return join(head, drawn, draw_more(len(rows)))


def _draw_row(row: OpenRow) -> Html:
    data = {f"data_{key}": value for key, value in row.data.items()}
    inside = tag("div", row.inside, class_="open")
    return tag(
        "details", tag("summary", *row.cells), inside, class_="q", id=row.key, **data
    )


def draw_more(count: int) -> Html:
    """Draw what unfolds many rows, behind them; it needs no script."""
    if count <= _FOLDED:
        return Html()
    box = tag("label", tag("input", type="checkbox"), f" Show all {count}")
    return tag("p", box, class_="more")


# --- Inside a row ---


def draw_inside(
    key: str,
    facts: Iterable[tuple[str, str]],
    texts: Iterable[tuple[str, Cell]],
    name: object = None,
) -> Html:
    """Draw facts beside each other, and long texts in boxes below. The address of the
    row is the id that is its name.
    """
    pairs = [
        tag("div", tag("dt", title), tag("dd", text)) for title, text in facts if text
    ]
    boxes = [_draw_text(title, text) for title, text in texts if text]
    foot = [
        tag("a", f"#{key}", href=f"#{key}"),
        tag("button", "Copy link", type="button", class_="js", data_copy=key),
    ]
    if name is not None:
        foot.append(soft(f"id {show_text(name, 200)}"))
    lists = []
    # An empty list would not be closed.
    if pairs:
        lists.append(tag("dl", *pairs, class_="facts"))
    if boxes:
        lists.append(tag("dl", *boxes, class_="two"))
    return join(*lists, tag("p", *foot, class_="foot"))


def _draw_text(title: str, text: Cell) -> Html:
    """Draw a long text; the keyboard reaches one that may be higher than its box."""
    shown = show_marked(text)
    box = tag("dd", shown, class_="box")
    # HTML of a page is no text of unknown length.
    if type(text) is not Html and len(shown) + 30 * shown.count("\n") > _SCROLLED:
        box = tag("dd", shown, class_="box", tabindex=0)
    return tag("div", tag("dt", title), box)


def show_marked(text: Cell) -> Html:
    """Show a text, of which a part may be marked."""
    if isinstance(text, Marked):
        return join(text.before, tag("mark", text.marked), text.after)
    if isinstance(text, str):
        return join(text)
    return join(str(text))
