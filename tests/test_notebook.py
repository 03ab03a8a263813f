"""README's notebook, executed: a kernel of this interpreter, its event loop running, the language
model on loopback.
"""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cli import ROOT, Record, import_extra, number, q, write
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError
from forecasteval.display.results import Results
from llm_server import LlmServer

with warnings.catch_warnings():  # Jupyter's own: it announces where its settings will live one day
    own = "jupyter_core|jupyter_client|nbformat|zmq|nbclient"
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=own)
    nbclient = import_extra("nbclient")
    nbformat = import_extra("nbformat")

pytestmark = pytest.mark.extra("nbclient", "nbformat", "ipykernel")
EVIL: Final = "<img src=x onerror=alert(1)>"
# the grammar takes the last number, the server's model the first
UNSURE: Final = r"\boxed{101 then 90 now}"


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with a kernel named `evaluation`, which runs this interpreter; nothing of the
    machine is used.
    """
    home = tmp_path_factory.mktemp("jupyter")
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "language": "python", "display_name": "evaluation"}
    write(home, {"data/kernels/evaluation/kernel.json": spec})
    with pytest.MonkeyPatch.context() as patch:
        for variable, folder in {
            "JUPYTER_PATH": "data", "JUPYTER_DATA_DIR": "data", "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython",
        }.items():  # fmt: skip
            (home / folder).mkdir(exist_ok=True)
            patch.setenv(variable, str(home / folder))
        patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        yield home


CELLS: Final = [
    """
    import asyncio, json, sys
    sys.path.insert(0, ROOT)
    loop = asyncio.get_running_loop()  # raises if the kernel had none
    from eval import FutureXEvaluator
    from forecasteval.boards import compare, rank
    """,
    """
    with open("prediction/a.json", encoding="utf-8") as file:
        data = json.load(file)
    results = FutureXEvaluator().evaluate_all(data)
    results
    """,
    """
    import pandas
    frame = pandas.DataFrame(results["items"])
    print(json.dumps({"shape": frame.shape, "mean": float(frame[frame.level == 1].score.mean()),
                      "columns": list(frame.columns)}))
    frame
    """,
    """
    other = FutureXEvaluator().evaluate_all(json.load(open("prediction/b.json", encoding="utf-8")))
    comparison = compare([{"name": EVIL, **results}, {"name": "b", **other}])
    comparison
    """,
    """
    rank([{"name": EVIL, **results}, {"name": "b", **other}])
    """,
    """
    with open("out.json", "w", encoding="utf-8") as file:
        json.dump(results, file)
    json.dump(comparison, open("comparison.json", "w", encoding="utf-8"))
    """,
    """
    asked = FutureXEvaluator("key", URL).evaluate_all(data)
    print(json.dumps(asked["llm"]), [item["decided_by"] for item in asked["items"]].count("model"))
    asked
    """,
    """
    async def inside():
        evaluator = FutureXEvaluator("key", URL, cache="cache.sqlite3")
        return evaluator.evaluate_all(data)["overall_score"]
    print(await inside() == asked["overall_score"], asyncio.get_running_loop() is loop)
    """,
]


def data(answer: str) -> list[Record]:
    return [
        q("q1"), q("q2", answer=answer), q(EVIL, level=2, answer="B"),
        q("q4", level=2, answer=EVIL),
        number("q5", Std=5, answer=UNSURE), number("q6", Std=5, answer="90 now, 101 then"),
    ]  # fmt: skip


class Executed:
    """The outputs of the cells above, and what the model's server saw."""

    def __init__(self, notebook: Any, folder: Path, asked: int) -> None:
        self.notebook, self.folder, self.asked = notebook, folder, asked

    def _outputs(self, cell: int, kind: str) -> list[Any]:
        return [
            output for output in self.notebook.cells[cell].outputs if output.output_type == kind
        ]

    def html(self, cell: int) -> str:
        shown = self._outputs(cell, "execute_result")
        assert len(shown) == 1
        return str(shown[0].data["text/html"])

    def text(self, cell: int) -> str:
        streams = self._outputs(cell, "stream")
        assert [output.name for output in streams] == ["stdout"] * len(streams), streams
        return "".join(output.text for output in streams)


@pytest.fixture(scope="module")
def executed(jupyter: Path, tmp_path_factory: pytest.TempPathFactory) -> Executed:
    folder = tmp_path_factory.mktemp("notebook")
    write(folder, {"prediction/a.json": data("A"), "prediction/b.json": data("C")})
    with LlmServer() as server:
        names = f"ROOT, URL, EVIL = {str(ROOT)!r}, {server.url!r}, {EVIL!r}\n"
        sources = [textwrap.dedent(cell).strip() for cell in CELLS]
        sources[0] = names + sources[0]
        notebook = execute(sources, folder)
        asked = len(server.requests)
    nbformat.validate(notebook)
    return Executed(notebook, folder, asked)


def execute(sources: list[str], folder: Path) -> Any:
    """The notebook of these cells; CellExecutionError, with the traceback, if one raises."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources]
    )
    client = nbclient.NotebookClient(
        notebook,
        timeout=60,
        kernel_name="evaluation",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return notebook


def test_results_show_themselves_as_a_table(executed: Executed) -> None:
    html = executed.html(1)
    assert html.count("<table") == 1
    assert "Overall" in html
    assert "<script" not in html
    assert f"{expected()['overall_score']:.3f}" in html


def expected() -> Results:
    return FutureXEvaluator().evaluate_all(data("A"))


@pytest.mark.extra("matplotlib")
def test_every_plot_is_shown(jupyter: Path, tmp_path: Path) -> None:
    rows = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); rows = {data('A')!r}; more = {data('C')!r}"
    )
    sources = [
        f"{rows}; from eval import FutureXEvaluator; from forecasteval.boards import compare, rank",
        "a = {'name': 'a', **FutureXEvaluator().evaluate_all(rows)}\n"
        "b = FutureXEvaluator().evaluate_all(more)\nb.plot();",
        "compare([a, {'name': 'b', **b}]).plot();",
        "rank([a, {'name': 'b', **b}]).plot();",
    ]
    shown = [
        ["image/png" in output.get("data", {}) for output in cell.outputs]
        for cell in execute(sources, tmp_path).cells
    ]
    assert shown == [[], [True], [True], [True]]


def test_data_frame_of_the_items(executed: Executed) -> None:
    told = json.loads(executed.text(2))
    assert told["shape"] == [6, len(expected()["items"][0])]
    assert told["mean"] == 1.0
    columns = "id level kind score outcome truth answer read note decided_by"
    assert set(columns.split()) <= set(told["columns"])
    assert "<table" in executed.html(2)


@pytest.mark.parametrize("cell", [3, 4], ids=["compare", "rank"])
def test_comparison_and_ranking_are_tables_without_markup_of_strangers(
    executed: Executed, cell: int
) -> None:
    html = executed.html(cell)
    assert html.count("<table") == 1
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    markup = html.rpartition("</style>")[2]
    assert markup.count("<") == markup.count(">")


def test_json_dump_of_results(executed: Executed) -> None:
    text = (executed.folder / "out.json").read_text(encoding="utf-8")
    results = json.loads(text)
    assert results["level_counts"] == {"1": 2, "2": 2, "3": 0, "4": 2}
    assert results["items"] == expected()["items"]
    assert "NaN" in text  # level 3 has no questions: as the standard library writes it
    comparison = json.loads((executed.folder / "comparison.json").read_text(encoding="utf-8"))
    assert comparison["pairs"][0]["levels"]["1"] == {"wins": 1, "ties": 1, "losses": 0}


def test_language_model_inside_the_running_loop(executed: Executed) -> None:
    printed, decided = executed.text(6).rsplit(" ", 1)
    counts = json.loads(printed)
    # The unclear number, and two answers that no rule can read, of which one holds no number.
    asked = {key: counts[key] for key in ("prompts", "answered", "failures", "degraded")}
    assert asked == {"prompts": 3, "answered": 3, "failures": {}, "degraded": False}
    assert int(decided) == 2
    assert executed.asked == 6  # in two cells
    assert "Language model: prompts 3, answered 3," in executed.html(6)
    assert executed.text(7).split() == ["True", "True"]


def test_the_notebook_leaves_no_file_but_its_own(executed: Executed) -> None:
    names = {
        path.name for path in executed.folder.iterdir() if not path.name.startswith("cache.sqlite3")
    }
    assert names == {"prediction", "out.json", "comparison.json"}


def test_results_are_a_plain_dict_too() -> None:
    results = expected()
    assert isinstance(results, dict)
    assert json.loads(json.dumps(results)) == json.loads(json.dumps(dict(results)))
    assert "<table" in results._repr_html_()
    assert str(results).splitlines()[0] == "FutureX"  # print(results) is the report


def test_results_in_memory_are_ranked_by_their_names() -> None:
    first, second = expected(), expected()
    first["name"] = "mine"
    assert [row["name"] for row in rank([first, second])["tables"][0]["rows"]] == [
        "mine",
        "system 2",
    ]


def test_what_is_no_list_of_results_is_refused_in_one_line() -> None:
    a = FutureXEvaluator().evaluate_all([{**q("1"), "answer": "A"}])
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: rank(a), ", as in rank([a, b]), got Results"),
        (lambda: rank({"a": a}), ", as in rank([a, b]), got dict"),  # type: ignore[arg-type]
        (lambda: rank(["250915-random"]), ", got str"),  # type: ignore[list-item]
        (lambda: compare(a, a), ", as in compare([a, b]), got Results"),  # type: ignore[arg-type]
        (lambda: compare([a, "250915-random"]), ", got str"),  # type: ignore[list-item]
    ]
    for call, problem in cases:
        with pytest.raises(InputError) as error:
            call()
        assert str(error.value) == f"results: expected a list of results{problem}"


def test_evaluate_inside_a_loop_without_a_notebook() -> None:
    async def inside() -> float:
        return float(FutureXEvaluator().evaluate_all(data("A"))["overall_score"])

    assert asyncio.run(inside()) == expected()["overall_score"]
