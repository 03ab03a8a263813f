"""Weigh the package, and measure how densely it is written.

    python tools/weigh.py              weight and density of every room,
    against the limits
    python tools/weigh.py FILE …       the density of single files, without limits

Weight is what the package does: nodes of its syntax trees. Docstrings, annotations,
contexts (`Load`, `Store`) and the name in `name = value` weigh nothing, so that naming
an intermediate value is free. A pattern weighs a node per 5 characters beside its own,
and so does what stands between the braces of a template, whose HTML weighs a node per
element and attribute.

Density is how hard it is to read, for every folder, and for the modules beside
them together:

- nodes per statement, and the share of statements above 50 nodes ("heavy"). Of a block
  only its first line counts, of `if` the condition. The width of lines cannot buy this
  measure. Tables and patterns at the top of a module are data and do not count;
- conditional expressions per 1,000 nodes, and how many of them stand
  inside another one;
- nodes per code line, and comment lines per 100 code lines, which have no limit: wider
  lines buy the one, narration the other. A code line holds a token that is neither a
  comment nor part of a docstring; section rules (`# --- Numbers ---`) and orders to
  tools (`# noqa`) are no comments.

Limits are in pyproject.toml: `max-weight` of `[tool.forecasteval]`, and a line per room
in `[tool.forecasteval.density]` with `statement`, `heavy` and `ternaries`; no room may
have nested ones. Exit code 1 if any limit is broken. Lines of more than 100 characters
are listed, which ruff allows where they have no blank.
"""

from __future__ import annotations

import ast
import io
import math
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
SKIPPED: Final = {"annotation", "returns", "type_comment"}
CHARACTERS: Final = 5  # of a pattern that weigh as much as a node
HEAVY: Final = 50  # nodes of a statement that is hard to take in at once
MAX_LINE: Final = 100
MODULES: Final = "modules"  # those beside the folders
# What only the text of a pattern holds: a group with `?`, a class, a
# repetition, two `|`.
_PATTERN: Final = re.compile(
    r"\(\?[:=!<P#aimsx(-] | \\[sSdDwWbBAZ] | \[\^ | \]\{ | \)\{[0-9]"
    r"| \[[^\]\n]{2,}\][+*?{] | \|.*\|",
    re.VERBOSE,
)
_TEMPLATE_CODE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TAG: Final = re.compile(r"<[a-zA-Z][^<>]*>")


class Weight(NamedTuple):
    """What was counted: nodes, characters of patterns, and nodes of templates."""

    nodes: int = 0
    characters: int = 0
    templates: int = 0

    @property
    def total(self) -> int:
        return self.nodes + self.characters // CHARACTERS + self.templates


def add(weights: list[Weight]) -> Weight:
    """Add up weights, kind by kind."""
    return Weight(*map(sum, zip(*weights, strict=True)))


def weigh_code(node: ast.AST) -> Weight:
    """Weigh a tree without docstrings and annotations."""
    if isinstance(node, ast.expr_context):
        return Weight()
    # A name for an intermediate value is free: `name = value` weighs what `value` does.
    if isinstance(node, ast.Assign) and [*map(type, node.targets)] == [ast.Name]:
        return weigh_code(node.value)
    text = node.value if isinstance(node, ast.Constant) else None
    weights = [
        Weight(1, len(text) if isinstance(text, str) and is_pattern(text) else 0)
    ]
    for field, value in ast.iter_fields(node):
        if field in SKIPPED:
            continue
        children = value if isinstance(value, list) else [value]
        if field == "body" and children and _is_docstring(children[0]):
            children = children[1:]
        weights += [
            weigh_code(child) for child in children if isinstance(child, ast.AST)
        ]
    return add(weights)


def count_nodes(node: ast.AST) -> int:
    """Count all nodes of a tree without docstrings and annotations, for the density."""
    count = 1
    for field, value in ast.iter_fields(node):
        if field in SKIPPED:
            continue
        children = value if isinstance(value, list) else [value]
        if field == "body" and children and _is_docstring(children[0]):
            children = children[1:]
        count += sum(
            count_nodes(child) for child in children if isinstance(child, ast.AST)
        )
    return count


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern."""
    return len(text) > 3 and bool(_PATTERN.search(text))


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


class Density(NamedTuple):
    """What was counted of source files: a sum of these is the density of a room."""

    nodes: int = 0
    lines: int = 0  # with blank ones, comments and docstrings
    code_lines: int = 0
    comment_lines: int = 0
    ternaries: int = 0
    nested_ternaries: int = 0
    statements: int = 0
    statement_nodes: int = 0
    heavy_statements: int = 0

    @property
    def nodes_per_line(self) -> float:
        return self.nodes / max(1, self.code_lines)

    @property
    def nodes_per_statement(self) -> float:
        return self.statement_nodes / max(1, self.statements)

    @property
    def heavy_per_100(self) -> float:
        return 100 * self.heavy_statements / max(1, self.statements)

    @property
    def comments_per_100(self) -> float:
        return 100 * self.comment_lines / max(1, self.code_lines)

    @property
    def ternaries_per_1000(self) -> float:
        return 1000 * self.ternaries / max(1, self.nodes)

    def show(self, name: str) -> str:
        """Format as a row of the table."""
        return (
            f"{self.nodes_per_statement:6.2f} nodes/statement "
            f"{self.heavy_per_100:4.2f} % heavy "
            f"{self.ternaries_per_1000:5.2f} ternaries/1000 ({self.nested_ternaries} "
            "nested) "
            f"{self.nodes_per_line:5.1f} nodes/line {self.comments_per_100:4.1f} "
            "comments/100 "
            f"{self.lines:6,} lines  {name}"
        )


def add_densities(densities: list[Density]) -> Density:
    """Add up counts."""
    return Density(*map(sum, zip(*densities, strict=True)))


# Tokens that do not make a line a line of code.
_LAYOUT: Final = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
# Comments that explain nothing: section rules, shebangs, orders to linters and
# type checkers.
_NO_COMMENT: Final = re.compile(
    r"#(!|\s*(-{3,}|noqa|type:|pragma|ruff:|mypy:|fmt:|pyright:))"
)


def measure_density(text: str) -> Density:
    """Count the nodes, lines, comments and conditional expressions of a source file."""
    tree = ast.parse(text)
    docstring_lines = _find_docstring_lines(tree)

    code_lines = set[int]()
    comment_starts = dict[int, str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        span = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comment_starts[token.start[0]] = token.string
        elif token.type not in _LAYOUT and token.start[0] not in docstring_lines:
            code_lines.update(span)

    # A comment behind code does not count: it is mostly an aside, not a sentence.
    comment_lines = [
        number
        for number, comment in comment_starts.items()
        if number not in code_lines and not _NO_COMMENT.match(comment)
    ]
    ternaries = [node for node in ast.walk(tree) if isinstance(node, ast.IfExp)]
    nested = [
        node
        for outer in ternaries
        for node in ast.walk(outer)
        if isinstance(node, ast.IfExp) and node is not outer
    ]
    weights = [_weigh_statement(node) for node in _list_statements(tree)]
    return Density(
        nodes=count_nodes(tree),
        lines=len(text.splitlines()),
        code_lines=len(code_lines),
        comment_lines=len(comment_lines),
        ternaries=len(ternaries),
        nested_ternaries=len(set(nested)),
        statements=len(weights),
        statement_nodes=sum(weights),
        heavy_statements=sum(weight > HEAVY for weight in weights),
    )


def _list_statements(tree: ast.Module) -> list[ast.stmt]:
    """List all statements but imports, definitions, docstrings and the tables
    of the module.
    """
    tables = {
        node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))
    }
    definitions = (
        ast.ClassDef,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.Import,
        ast.ImportFrom,
    )
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, definitions)
        and not _is_docstring(node)
        and node not in tables
    ]


def _weigh_statement(node: ast.AST) -> int:
    """Count the nodes of a statement without the statements inside it: of `if`
    the condition.
    """
    nodes = 1
    for field, value in ast.iter_fields(node):
        if field in SKIPPED:
            continue
        for child in value if isinstance(value, list) else [value]:
            is_inner_block = isinstance(
                child, (ast.stmt, ast.excepthandler, ast.match_case)
            )
            if isinstance(child, ast.AST) and not is_inner_block:
                nodes += _weigh_statement(child)
    return nodes


def _find_docstring_lines(tree: ast.Module) -> set[int]:
    """Find the lines that docstrings take up."""
    lines = set[int]()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            lines.update(range(body[0].lineno, body[0].end_lineno + 1))
    return lines


def weigh_template(text: str) -> Weight:
    """Weigh a template: what stands between its braces, its elements and attributes."""
    code = sum(map(len, _TEMPLATE_CODE.findall(text)))
    tags = _TAG.findall(_TEMPLATE_CODE.sub("", text))
    return Weight(
        templates=code // CHARACTERS + sum(1 + tag.count("=") for tag in tags)
    )


def list_files(suffix: str) -> list[Path]:
    """List the files of the package, and the script."""
    scripts = [ROOT / "eval.py"] if suffix == ".py" else []
    return [*scripts, *sorted((ROOT / "forecasteval").rglob(f"*{suffix}"))]


def weigh_rooms() -> dict[str, Weight]:
    """Weigh every room: a folder or a module of the package."""
    rooms: dict[str, list[Weight]] = {}
    for path in [*list_files(".py"), *list_files(".j2")]:
        text = path.read_text(encoding="utf-8")
        weight = (
            weigh_code(ast.parse(text))
            if path.suffix == ".py"
            else weigh_template(text)
        )
        rooms.setdefault(room_of(path), []).append(weight)
    return {room: add(weights) for room, weights in rooms.items()}


def room_of(path: Path) -> str:
    """Name the room of a file: a folder of the package, or a module
    beside the folders.
    """
    parts = path.relative_to(ROOT).parts
    return parts[1] if len(parts) > 2 else parts[-1]


def measure_rooms() -> dict[str, Density]:
    """Measure how densely every folder is written, and the modules beside
    them together.

    A module alone has so few statements that one of them moves its density.
    """
    rooms: dict[str, list[Density]] = {}
    for path in list_files(".py"):
        room = room_of(path)
        density = measure_density(path.read_text(encoding="utf-8"))
        rooms.setdefault(MODULES if room.endswith(".py") else room, []).append(density)
    return {room: add_densities(densities) for room, densities in rooms.items()}


def find_broken_limits(
    rooms: dict[str, Density], limits: dict[str, dict[str, float]]
) -> list[str]:
    """Find the rooms that are denser than a limit of pyproject.toml, or
    have no limit.
    """
    problems = []
    for room, density in rooms.items():
        if room not in limits:
            problems.append(f"{room}: has no limits in [tool.forecasteval.density]")
        if density.nested_ternaries:
            problems.append(
                f"{room}: {density.nested_ternaries} nested ternaries, none is allowed"
            )
        measures = {
            "statement": density.nodes_per_statement,
            "heavy": density.heavy_per_100,
            "ternaries": density.ternaries_per_1000,
        }
        for name, value in measures.items():
            limit = limits.get(room, {}).get(name, math.inf)
            if value > limit:
                problems.append(f"{room}: {name} {value:.2f}, at most {limit}")
    return problems


def find_long_lines() -> list[str]:
    """Find lines of more than `MAX_LINE` characters; what quiets a linter
    does not count.
    """
    return [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in list_files(".py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line.partition("  # noqa")[0].partition("  # type: ignore")[0])
        > MAX_LINE
    ]


def main(arguments: Sequence[str] = ()) -> int:
    """Print the weight and density of every room, and compare them
    with their limits.
    """
    if arguments:
        for name in arguments:
            print(measure_density(Path(name).read_text(encoding="utf-8")).show(name))
        return 0

    rooms = weigh_rooms()
    total = add([*rooms.values()])
    for room, (nodes, characters, templates) in [*rooms.items(), ("in all", total)]:
        print(
            f"{nodes:8,} nodes {characters:7,} characters of patterns "
            f"{templates:6,} templates  {room}"
        )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    limits = settings["tool"]["forecasteval"]
    print(f"{total.total:,} (at most {limits['max-weight']:,})")

    densities = measure_rooms()
    for room, density in densities.items():
        print(density.show(room))
    print(add_densities([*densities.values()]).show("in all"))

    problems = find_broken_limits(densities, limits["density"])
    if total.total > limits["max-weight"]:
        problems.append(f"weight {total.total:,}, at most {limits['max-weight']:,}")
    long_lines = Counter(line.partition(":")[0] for line in find_long_lines())
    for path, count in long_lines.items():
        print(f"lines of more than {MAX_LINE} characters: {path} {count}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
