"""What all tests share."""

import functools
import json
import os
import random
import re
import shutil
import ssl
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings

from llm_server import LlmServer

# No test may depend on how loaded the machine is, nor on what an earlier run left on the disk. In
# CI every run draws the same examples; elsewhere each draws its own.
settings.register_profile("patient", deadline=None, database=None)
settings.register_profile("ci", settings.get_profile("patient"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "patient")

for name in (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
):
    os.environ.pop(name, None)  # no test may ask a real server
for name in ("FORECASTEVAL_OUTPUT", "COLUMNS"):
    os.environ.pop(name, None)
os.environ["OMP_NUM_THREADS"] = (
    "1"  # numpy's threads wait for each other by running: workers would stop each other
)
os.environ["SOURCE_DATE_EPOCH"] = "1763683200"  # 2025-11-21: no test may see midnight


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--extras",
        action="store_true",
        help="run the tests of extras alone; a missing extra is a failure",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --extras, leave files unread that have no such test."""
    if not config.getoption("--extras") or collection_path.suffix != ".py":
        return None
    return "mark.extra(" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--extras"):
        items[:] = [item for item in items if item.get_closest_marker("extra")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that is marked `extra("package or program")` if that is not installed."""
    wanted = [name for marker in item.iter_markers("extra") for name in marker.args]
    missing = [
        name
        for name in wanted
        if not (shutil.which(name) if name == "chromium" else find_spec(name))
    ]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


NAMES_OF_A_CASE: Final = ("name", "reply", "raw", "text", "input", "answer")
MAX_NAME: Final = 50


def pytest_make_parametrize_id(config: pytest.Config, val: object) -> str | None:
    """Name a case by its name or its input, where pytest would only count: `case50`."""
    if val is None or isinstance(val, (bool, int, float)) or hasattr(val, "__name__"):
        return None
    if isinstance(val, (str, bytes)) and 0 < len(val) <= MAX_NAME:
        return None
    if isinstance(val, dict):
        val = next((val[key] for key in NAMES_OF_A_CASE if key in val), val)
    if isinstance(val, (set, frozenset)):
        val = sorted(val, key=repr)
    try:
        text = json.dumps(val, ensure_ascii=False, default=describe_value, skipkeys=True)
    except RecursionError:
        return "nested"
    printable = "".join(char if char.isprintable() else " " for char in text[: 2 * MAX_NAME])
    return " ".join(printable.split()).strip('"')[:MAX_NAME] or "empty"


def describe_value(value: object) -> str:
    """Describe what JSON has no form for, without an address: every process must say the same."""
    return getattr(value, "__name__", None) or re.sub(r" at 0x\w+", "", repr(value))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show a failed case whole, with its reason. With --extras a test that skips itself failed."""
    report = yield
    if report.skipped and item.config.getoption("--extras"):
        report.outcome, report.longrepr = "failed", f"skipped: {report.longrepr}"
    if report.failed and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        cases = [value for value in item.callspec.params.values() if isinstance(value, dict)]
        for case in cases:
            text = json.dumps(case, indent=2, ensure_ascii=False, default=describe_value)
            report.sections.append(("case", text.encode("utf-8", "backslashreplace").decode()))
    return report


@pytest.fixture(scope="session", autouse=True)
def _certificates() -> Iterator[None]:
    """No test speaks TLS, but every client of a model loads certificates, for 30 ms: once is
    enough.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _retries_of_others() -> Iterator[None]:
    """The SDK's retries wait as long as random() says, in threads that outlive a deadline and then
    meddle with the random state that hypothesis watches in another test."""
    import openai._base_client as sdk

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sdk, "random", random.Random(0).random, raising=False)
        yield


@pytest.fixture
def server() -> Iterator[LlmServer]:
    """A language model on loopback that reads the first number of a span."""
    with LlmServer() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages that tests look at in Chromium."""
    from browser import make_pages

    return make_pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from browser import start_chromium

    with start_chromium() as chromium:
        yield chromium
