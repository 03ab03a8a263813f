"""Items, the `{"content", "SMILES"}` of conditions, reactants and products: read, and compared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from forecasteval.common.records import as_text, number_text

ABSENT: Final = "—"
Item = dict[str, str]

_SMILES: Final = re.compile(
    r"""(?: \[[0-9]{0,3}(?:[A-Z][a-z]?|[bcnops]|se|as)@{0,2}(?:H[0-9]?)?(?:[+-][0-9]|[+]{0,3}|-{0,3})(?::[0-9]{1,4})?\]
    | Cl|Br|[BCNOPSFI]|[bcnops] | [-=\#:/\\.~()] | [0-9] | %[0-9]{2} ){1,2000}""",
    re.X,
)
_SMILES_MARK: Final = re.compile(r"[=#()\[\]0-9]")
_BLANKS: Final = re.compile(r"[\s\u200b-\u200d\u2060\ufeff]+")


@lru_cache(maxsize=100_000)
def is_smiles(text: str) -> bool:
    """Whether `text` is written like a SMILES of six atoms or more: its brackets and ring closures come in pairs.

    >>> is_smiles("C1CCCCC1"), is_smiles("PPh3"), is_smiles("(COCl)2"), is_smiles("[bmim][PF6]"), is_smiles("O2/N2")
    (True, False, False, False, False)
    """
    if sum(map(str.isalpha, text)) < 6 or text.count("(") != text.count(")"):
        return False
    if not _SMILES_MARK.search(text) or not _SMILES.fullmatch(text):
        return False
    rings = re.findall(r"%[0-9]{2}|[0-9]", re.sub(r"\[[^\]]*\]", "", text))
    return all(count % 2 == 0 for count in Counter(rings).values())


@lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """`text` as it is compared: NFKC, without blanks, without case unless case is chemistry.

    >>> fold("DMF ") == fold("dmf"), fold("80 °C") == fold("80°C"), fold("C1CCCCC1") == fold("c1ccccc1")
    (True, True, False)
    """
    text = _BLANKS.sub("", unicodedata.normalize("NFKC", text))
    return text if is_smiles(text) else text.casefold()


def read_items(value: object) -> list[Item]:
    """The items `{"content", "SMILES"}` of a condition, reactant or product; empty ones and dashes are none."""
    parts = value if isinstance(value, list) else [value]
    items = []
    for part in parts:
        if isinstance(part, Mapping) and not {"content", "SMILES"}.isdisjoint(part):
            content, smiles = item_text(part.get("content")), item_text(part.get("SMILES"))
        else:
            content, smiles = item_text(part), ""
        if smiles.strip() or content.strip() not in ("", ABSENT, "–", "-", "−"):
            items.append({"content": content, "SMILES": smiles})
    return items


def item_text(value: object) -> str:
    """What a JSON value says as text: numbers as Python writes them, "" for null."""
    return value if isinstance(value, str) else "" if value is None else number_text(value) or as_text(value)


def compare_key(items: Sequence[Mapping[str, str]], normalize: bool) -> tuple[str, ...]:
    """What two values of a condition must share to be the same: the contents (the SMILES of an item without)."""
    texts = [item["content"].strip() or item["SMILES"].strip() for item in items]
    return tuple(sorted(map(fold, texts))) if normalize else tuple(texts)
