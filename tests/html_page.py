"""A page as tests look at it: its elements, its texts, and what must hold of every page."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Final

from cli import RAW_CONTROL

TAGS: Final = frozenset({
    "a", "article", "b", "body", "br", "button", "circle", "code", "dd", "details", "div", "dl",
    "dt", "figcaption", "figure", "footer", "g", "h1", "h2", "h3", "head", "header", "html",
    "input", "label", "li", "line", "main", "mark", "meta", "nav", "option", "output", "p", "path",
    "rect", "script", "section", "select", "small", "span", "style", "summary", "svg", "table",
    "tbody", "td", "text", "th", "thead", "title", "tr", "ul", "wbr",
})  # fmt: skip
_LINKS: Final = ("href", "src", "action", "data", "srcset", "formaction", "poster", "background")


class Parsed(HTMLParser):
    """Elements as (tag, attributes), the text by tag, and what stands in style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.records: list[list[str]] = []  # the cells of the rows that open
        self.facts: list[list[str]] = []  # title and text of what is inside those rows
        self._in, self._in_cell, self._record = "", False, False
        self._fact: int | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        self._in = tag
        if tag == "tr":
            self.rows.append([])
        if tag == "summary":
            self.records.append([])
        self._record = tag == "summary" or (self._record and tag != "dl")
        if tag == "span" and self._record:
            self.records[-1].append("")
        if tag == "dt":
            self.facts.append(["", ""])
        self._fact = {"dt": 0, "dd": 1}.get(tag, self._fact)
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in = "" if tag in self.raw else self._in
        self._in_cell = self._in_cell and tag not in ("td", "th")
        self._fact = None if tag in ("dt", "dd") else self._fact

    def handle_data(self, data: str) -> None:
        if self._in in self.raw:
            self.raw[self._in].append(data)
            return
        if self._record and self.elements[-1][0] == "span":
            self.records[-1][-1] += data
        self.texts.append(data)
        if self._fact is not None:
            self.facts[-1][self._fact] += data
        if self._in_cell:
            self.rows[-1][-1] += data

    def find(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def check_page(page: str) -> Parsed:
    """What holds of every page: one file, harmless, strict policy, headings in order, pictures
    described.
    """
    assert page.startswith("<!DOCTYPE html>")
    assert not RAW_CONTROL.search(page.replace("\n", ""))
    page.encode()
    parsed = Parsed(page)
    assert {tag for tag, _ in parsed.elements} <= TAGS
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in parsed.elements:
        for key, value in attributes.items():
            assert key != "style", tag
            assert not key.startswith("on"), tag
            assert key not in _LINKS or re.match(r"#|\./[^:]*\Z", value), value
            assert key != "href" or not value.startswith("#") or "=" in value or value[1:] in ids
    _check_policy(parsed)
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert levels.count(1) == 1
    for svg in parsed.find("svg"):
        assert svg.get("role") in ("img", "group") or "aria-hidden" in svg or "viewbox" in svg
        assert set(svg.get("aria-labelledby", "").split()) <= set(ids)
    return parsed


def _check_policy(parsed: Parsed) -> None:
    """The policy allows nothing but this style and this script."""
    policies = [
        meta["content"]
        for meta in parsed.find("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in policies[0].split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert set(rules) == {"default-src", "base-uri", "form-action", "style-src", "script-src"}
    for tag in ("style", "script"):
        assert len(parsed.find(tag)) == 1
        digest = hashlib.sha256("".join(parsed.raw[tag]).encode()).digest()
        assert rules[f"{tag}-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"
