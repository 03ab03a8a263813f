"""The help texts of commands: how to call them, examples, exit codes."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import Any, Final, NoReturn

from .errors import printable
from .exit_codes import COMMON, ExitCode

_PROSE: Final = 110  # columns of a paragraph, at most


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line of the error, and one that names `--help`."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all words; of a misspelled option the nearest one is named."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            import difflib  # here: it costs more than all the rest of the start-up

            known = [
                name for name in self._option_string_actions if name.startswith("--")
            ]
            options = [
                word.partition("=")[0] for word in unknown if word.startswith("--")
            ]
            near = [
                name
                for option in options
                for name in difflib.get_close_matches(option, known, 1)
            ]
            hint = ""
            if near:
                hint = f" (did you mean {', '.join(near)}?)"
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """End the program with exit code 2."""
        error = printable(f"{self.prog}: {message}")
        self.exit(
            ExitCode.REFUSED, f"{error}\nusage: {command_line(self.prog)} --help\n"
        )


def program_name(path: str) -> str:
    """Return how the program at `path` (`sys.argv[0]`) is called, in front
    of its errors.

    >>> program_name("/usr/bin/forecasteval"), program_name("/src/forecasteval/eval.py")
    ('forecasteval', 'eval.py')
    """
    program = Path(path)
    if program.parts[-2:] == ("forecasteval", "__main__.py"):
        return "python -m forecasteval"
    if program.stem == "forecasteval":
        return "forecasteval"
    return "eval.py"


def command_line(program: str) -> str:
    """Return what users type to run a program, or a command of it: `python eval.py`
    in a checkout.
    """
    if program.split()[0].endswith(".py"):
        return f"python {program}"
    return program


class _HelpFormatter(argparse.HelpFormatter):
    """Wrap the lines of a text, each on its own. Where an example does not fit, its
    explanation stands below it; a long command goes on behind a backslash.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            part
            for line in text.splitlines()
            for part in _wrap_line(line, width) or [""]
        )


def _wrap_line(line: str, width: int) -> list[str]:
    """Wrap a paragraph, or an example, which is indented: `  command
    what it does`.
    """
    if not line.startswith(" "):
        return textwrap.wrap(line, min(width, _PROSE))
    if len(line) <= width:
        return [line]
    command, _, explanation = line.strip().partition("   ")
    wrapper = textwrap.TextWrapper(
        width - 2, "  ", " " * 6, break_long_words=False, break_on_hyphens=False
    )
    shown = " \\\n".join(wrapper.wrap(command))
    wrapper.initial_indent = wrapper.subsequent_indent
    return [shown, *wrapper.wrap(explanation.strip())]


def describe(
    program: str, description: str, examples: str, done: str, *codes: ExitCode
) -> dict[str, Any]:
    """Describe the texts of a command's help, as options of its parser.

    `{0}` in the lines of `examples` is replaced by the command that users type. `done`
    is the meaning of exit code 0, `codes` are the exit codes of the command besides
    those of all commands.
    """
    other_codes = [f"{code} {code.meaning}" for code in sorted({*COMMON, *codes})]
    exits = f"exit codes: {', '.join([f'{ExitCode.DONE} {done}', *other_codes])}"
    return {
        "description": description,
        "epilog": f"examples:\n{examples.format(command_line(program))}\n\n{exits}",
        "formatter_class": _HelpFormatter,
        "allow_abbrev": False,
    }
