"""The list of all messages that tell their reader what to do, made from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from cli import ROOT

_VERBS: Final = (
    r"write|say|name|rename|give|put|delete|keep|remove|leave|fill|run|save|split|join|convert|unpack"
    r"|make|unmerge|use|set|see|add|try|choose|take|change|divide|ask|move|install|call|format"
    r"|calculate|check|open|correct|fix|mend|pick|pass|rerun|repeat|retry|sort|quote|close"
    r"|restart|wait|replace|start|update|upgrade|download|edit|mark|state|export|register|shorten"
    r"|specify|provide|merge|exclude|press|verify|ensure|unzip|insert|recalculate|restore"
)
# An option, a command, a line of Python or a shell, an imperative at the beginning of a clause.
_ADVICE: Final = re.compile(
    r"(?<![\w-])--?[a-z]|pip install|pandas\.|iconv|`[^`]+`|did you mean"
    r"|\{\} (?:check|convert|nightly|rxnopt)\b"
    rf"|(?:^|[;:,?(] ?|\b(?:or|then|please) )(?:{_VERBS})\b(?! SD)"
    rf"|(?:\. |\bPlease )(?i:{_VERBS})\b"
)
# Patterns, pages, examples of a help, lists of words.
_CODE: Final = re.compile(
    r"\(\?|\\[sdbw]|</|\{color|function|=> |  \{0\} |\A[\w' ]+(?:(?:,| ·) [\w' ]+){6}"
)
_UNSEEN: Final = ("help", "metavar", "dest")  # arguments of an option: its help describes it


def list_advices() -> dict[str, str]:
    """Where each message with an advice stands; what is filled in is `{}`."""
    found: dict[str, str] = {}
    for path in [ROOT / "eval.py", *sorted((ROOT / "forecasteval").rglob("*.py"))]:
        for text, line in find_advices(path.read_text(encoding="utf-8")).items():
            found[text] = f"{path.relative_to(ROOT)}:{line}"
    return found


def find_advices(code: str) -> dict[str, int]:
    """The messages with an advice in the code of a module, and their lines."""
    tree = ast.parse(code)
    unseen = {id(node) for node in _find_unseen(tree)}
    return {
        text: node.lineno
        for node, text in _find_texts(tree, unseen)
        if " " in text and _ADVICE.search(text) and not _CODE.search(text)
    }


def _find_unseen(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(ast.Constant() as text), *_])
                | ast.ClassDef(body=[ast.Expr(ast.Constant() as text), *_])
                | ast.FunctionDef(body=[ast.Expr(ast.Constant() as text), *_])
            ):
                yield text
            case ast.keyword(arg=name, value=value) if name in _UNSEEN:
                yield value
            case ast.Call(func=ast.Name("Option"), args=[_, text, *_]):
                yield text


def _find_texts(node: ast.AST, unseen: set[int]) -> Iterator[tuple[ast.expr, str]]:
    if id(node) in unseen:
        return
    if isinstance(node, ast.expr) and (text := _text_of(node)) is not None:
        yield node, text
        return
    for child in ast.iter_child_nodes(node):
        yield from _find_texts(child, unseen)


def _text_of(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(_text_of(part) or "{}" for part in parts)
    return None
