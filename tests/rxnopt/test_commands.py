"""The command line, called in this process."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Final

import pytest

from cli import RAW_CONTROL, Done, import_extra, run_wing
from cli import run as score
from forecasteval import __version__
from forecasteval.rxnopt import commands
from forecasteval.rxnopt.build import builder
from forecasteval.rxnopt.build.builder import build_questions, list_tables, make_report
from forecasteval.rxnopt.build.settings import SETTINGS
from forecasteval.rxnopt.build.sheets import read_sheet
from forecasteval.rxnopt.datasets import QUESTION_TYPES
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from make_rxnopt_samples import SEED
from pages import read, read_tables
from rxnopt_tables import ROOT, build, by_id, simple, table, write

openpyxl = import_extra("openpyxl")


def run(*args: object) -> Done:
    """One command as `eval.py` calls it, in this process."""
    return run_wing(commands.run, *args)


def sheet(path: Path) -> Path:
    """A screen of 4 bases in 3 solvents, as a chemist keeps it: in a workbook, with results in more
    than one column.
    """
    book = openpyxl.Workbook()
    book.active.append(["Entry", "base", "solvent", "yield (%)", "ee (%)", "conv."])
    rows = itertools.product(["K2CO3", "Cs2CO3", "Et3N", "DBU"], ["DMF", "THF", "EtOH"])
    for n, (base, solvent) in enumerate(rows):
        book.active.append(
            [n + 1, base, solvent, 17 * n % 101 + 1 / 3, "nd" if n == 3 else 90 + n % 5, 99]
        )
    book.save(path)
    return path


@pytest.mark.extra("openpyxl")
def test_from_a_spreadsheet_to_a_score(tmp_path: Path) -> None:
    path = sheet(tmp_path / "x.xlsx")
    options = (
        "--yield",
        "yield (%)",
        "--ee",
        "ee (%)",
        "--conditions",
        "base",
        "solvent",
        "--reactants-smiles",
        "CCBr",
        "--products-smiles",
        "CCO",
    )
    done = run("import", path, "-o", tmp_path / "tables", *options)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "columns that are not used: Entry, conv.",
        "rows: 12, used 12, left out 0", f"1 table in {tmp_path}/tables",
    ]  # fmt: skip
    done = run("build", tmp_path / "tables", "-o", tmp_path / "q")
    assert (done.code, done.err) == (0, "")
    files = [tmp_path / "q" / f"multiple_choice_{kind}.json" for kind in QUESTION_TYPES]
    prompts = tmp_path / "prompts.jsonl"
    replies = []
    for dataset in files:
        done = run("render", dataset, "-o", prompts)
        assert (done.code, done.out, done.err) == (0, "", "")
        best = {q["id"]: q["answer"][0] for q in json.loads(dataset.read_text("utf-8"))}
        options_of = {q["id"]: q["options"] for q in json.loads(dataset.read_text("utf-8"))}
        for row in map(json.loads, prompts.read_text("utf-8").splitlines()):
            name = row["id"]
            wanted = "\n".join(
                f"- {k}: {v[0]['content']}" for k, v in sorted(options_of[name][best[name]].items())
            )
            blocks = row["prompt"].partition("## Options\n")[2].split("\n\n")
            (index,) = [n for n, block in enumerate(blocks) if block == f"Option {n}:\n{wanted}"]
            replies.append(
                json.dumps(
                    {"id": row["id"], "reply": f"Option {index}\nOption {index + 1} is too weak."}
                )
            )
    write(tmp_path / "r.jsonl", "\n".join(replies))
    words = ["-f", str(tmp_path / "r.jsonl"), "--dataset", str(tmp_path / "q"), "--json"]
    found = score(ROOT, *words).json
    assert (found["n"], found["missing"], found["unknown_ids"]) == (len(replies), 0, 0)
    assert found["avg_relative_score"] == found["exact_match_accuracy"] == 1.0


def test_parse_says_what_reads_replies_now() -> None:
    done = run("parse", "a.jsonl", "out of/b.jsonl", "-o", "p.json", "--unread", "u.jsonl")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "eval.py: rxnopt parse: replies are scored as they are: "
        "run python eval.py -f ./a.jsonl 'out of/b.jsonl' --dataset DATASET\n"
    )


@pytest.mark.extra("openpyxl")
def test_the_listing_of_a_workbook_names_its_other_sheets(tmp_path: Path) -> None:
    """The data may be on the third of twelve."""
    path = sheet(tmp_path / "x.xlsx")
    book = openpyxl.load_workbook(path)
    book.create_sheet("screen 2")
    book.save(path)
    done = run("import", path, "-o", tmp_path / "t")
    assert done.out.startswith("the sheet Sheet is read (--sheet: Sheet, screen 2)\nEntry: 1 | 2")


def test_a_build_without_questions_says_what_it_could_not_read(tmp_path: Path) -> None:
    write(tmp_path / "t.json", json.dumps(simple("t", ["complex", "yes", 5])))
    done = run("build", tmp_path, "-o", tmp_path / "q")
    assert done.code == 2
    assert done.err.splitlines() == [
        "eval.py: not used: t.json: fewer_than_two_readable_rows: 1 of 3",
        "eval.py: warning: t.json: yield_ratio: cannot be read as one yield: "
        "2 (entry 1: complex, entry 2: yes)",
        f"eval.py: {tmp_path}: no question can be built (fewer_than_two_readable_rows 1)",
    ]


def test_the_chinese_report(tmp_path: Path) -> None:
    done = run(
        "build", ROOT / "dataset" / "rxnopt-tables", "-o", tmp_path / "q", "--language", "zh"
    )
    assert done.code == 0, done.err
    report = (tmp_path / "q" / "report.md").read_text(encoding="utf-8")
    titles = [
        "先看什么",
        "文件导航",
        "最短工作流",
        "题型",
        "评分",
        "文件",
        "JSON 字段",
        "预测",
        "Reference 规则",
        "构建设置",
        "统计",
        "样本",
    ]
    assert [line for line in report.splitlines() if line.startswith("## ")][:12] == [
        f"## {n}. {title}" for n, title in enumerate(titles, 1)
    ]
    for name in SETTINGS:  # each with a meaning in Chinese
        assert re.search(rf"\| {name.upper()} \| `.*` \| .*[\u4e00-\u9fff]", report)
    english = make_report(build_questions(list_tables(ROOT / "dataset" / "rxnopt-tables")))
    numbers = [
        re.findall("[0-9]+", text.partition("\n## 11. ")[2].partition("\n## 12. ")[0])
        for text in (report, english)
    ]
    assert numbers[0] == numbers[1] != []
    assert "- reagents: " not in report


def test_build_prints_at_most_eight_lines(tmp_path: Path) -> None:
    """Only reasons that occurred are listed."""
    rows = [({"base": f"K{n % 7}", "acid": f"A{n % 5}"}, {"yield_ratio": n}) for n in range(35)]
    rows += [({"base": "K0", "acid": "A0"}, {"yield_ratio": 90}), ({}, {"yield_ratio": "complex"})]
    (tmp_path / "tables").mkdir()
    write(tmp_path / "tables" / "a.json", json.dumps(table("a", rows)))
    write(tmp_path / "tables" / "b.json", json.dumps(simple("b", [1])))
    write(tmp_path / "tables" / "c.json", json.dumps(simple("c", [3, 4, 5])))
    done = run("build", tmp_path / "tables", "-o", tmp_path / "q")
    assert done.out.splitlines() == [
        "- tables: 3, used 2, not used 1 (fewer_than_two_readable_rows 1)",
        "- rows: 40, used 38, left out 2 (equal_conditions 1, no_yield 1)",
        "- questions: 11: single_varying 3, all_varying 2, with references 3, their controls 3",
        "- questions that a table does not give: 0",
        "- references looked for: 5, found 3, skipped 2 (no_reference_candidate 1, "
        "not_enough_effective_options 1)",
        "- questions that do not offer all options (more than 20): 3; options left out: 35",
        "- equal conditions more than 20 points apart: 1; warnings about cells and rows: 1",
        f"{tmp_path / 'q'} is written; report.md says what is in it.",
    ]


def test_the_output_folder_is_whole(tmp_path: Path) -> None:
    done = run("build", ROOT / "dataset" / "rxnopt-tables", "-o", tmp_path / "q", "--seed", SEED)
    assert done.code == 0, done.err
    names = sorted(path.name for path in (tmp_path / "q").iterdir())
    assert len(names) == 6 + 4 + 6 + 1
    assert [path.name for path in tmp_path.iterdir()] == ["q"]
    report = (tmp_path / "q" / "report.md").read_text(encoding="utf-8")
    for number, title in enumerate(
        ["Where to begin", "Which file for what", "Shortest workflow", "Question types", "Scoring",
         "Files", "Fields",
         "Predictions", "References", "Settings", "Statistics", "Samples"], 1,
    ):  # fmt: skip
        assert f"\n## {number}. {title}\n" in report
    assert not [name for name in names if name != "report.md" and f"`{name}`" not in report]
    for kind in QUESTION_TYPES:
        questions = json.loads(
            (tmp_path / "q" / f"multiple_choice_{kind}.json").read_text(encoding="utf-8")
        )
        assert f"| `multiple_choice_{kind}.json` | `{kind}` | {len(questions)} |" in report
        example = tmp_path / "q" / f"example_prediction_multiple_choice_{kind}.json"
        found = RxnOptEvaluator().evaluate_file(
            example, [tmp_path / "q" / f"multiple_choice_{kind}.json"]
        )
        assert (found["n"], found["missing"], found["illegal"]) == (len(questions), 0, 0)
        assert f"### {kind}" in report
    assert "(filter_is_table 1)" in report
    assert "\n- filter_reactant_product_require: 0\n- filter_same_reactants_products: 0\n" in report
    bad = "giese_photoredox.json: yield_ratio: cannot be read as one yield: 1 (entry 10: complex)"
    assert f"\n{bad}\n" in report
    again = run("build", ROOT / "dataset" / "rxnopt-tables", "-o", tmp_path / "q")
    assert (again.code, again.out) == (2, "")
    assert again.err == f"eval.py: {tmp_path}/q: must not exist yet\n"


@pytest.mark.parametrize(
    ("program", "line"), [("eval.py", "python eval.py"), ("forecasteval", "forecasteval")]
)
def test_the_report_names_the_program_that_built_it(
    tmp_path: Path, program: str, line: str
) -> None:
    (tmp_path / "tables").mkdir()
    write(tmp_path / "tables/good.json", json.dumps(simple("good", [1, 2, 3])))
    assert (
        commands.run(["build", str(tmp_path / "tables"), "-o", str(tmp_path / "q")], program) == 0
    )
    report = (tmp_path / "q/report.md").read_text(encoding="utf-8")
    assert re.findall(r"^    (.*) rxnopt render ", report, re.M) == [line]
    assert re.findall(r"^    (.*) -f ./replies.jsonl ", report, re.M) == [line]
    assert f"or `{line} rxnopt render` |" in report


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def fail(path: Path, text: str) -> None:
        if len(written) == 3:
            raise KeyboardInterrupt
        path.parent.mkdir(parents=True, exist_ok=True)
        written.append(path.name)
        path.write_text(text, encoding="utf-8")

    monkeypatch.setattr(builder, "write_atomic", fail)
    assert run("build", ROOT / "dataset" / "rxnopt-tables", "-o", tmp_path / "q").code == 130
    assert len(written) == 3
    assert list(tmp_path.iterdir()) == []


def test_bad_files_in_the_folder_do_not_cost_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    (folder / "deep" / "er").mkdir(parents=True)
    write(folder / "deep" / "er" / "good.json", json.dumps(simple("good", [1, 2, 3])))
    write(folder / "a.json", "{")
    write(folder / "b.json", "")
    (folder / "c.json").write_bytes(b"\xff\xfe{}")
    write(folder / "d.json", '{"SOURCES": 1}')
    write(folder / "e.json", "[" * 100_000)
    write(folder / "f.json", json.dumps(simple("good", [1, 2])))
    write(folder / "g.json", '{"entries": [], "entries": [1]}')
    write(
        folder / "h.json",
        json.dumps({**simple("h", [1, 2]), "entries": [1, {"conditions": 3}, {"results": []}]}),
    )
    write(folder / "notes.txt", "no table")
    done = run("build", folder, "-o", tmp_path / "q")
    assert done.code == 0
    assert "- tables: 9, used 1, not used 8 (" in done.out
    for line in (
        "not used: a.json: unreadable: not JSON: line 1 column 2: Expecting property name "
        "enclosed in double quotes",
        "not used: b.json: unreadable: expected JSON, got an empty file",
        "not used: c.json: unreadable: not UTF-8: byte 0xff at position 0, got UTF-16 or UTF-32 "
        "text",
        "not used: d.json: not_a_table: expected an object with a list 'entries'",
        "not used: e.json: unreadable: expected records, got JSON nested too deeply",
        "not used: f.json: duplicate_table_id: good is in deep/er/good.json",
        "not used: g.json: not_a_table: 'entries' is given twice with different values",
        "not used: h.json: fewer_than_two_readable_rows: 0 of 3",
        "warning: h.json: expected an object, got int; row not used: 1 (entries[0])",
        "warning: h.json: 'conditions' and 'results' must be objects; row not used: 1 (entries[1])",
    ):
        assert f"eval.py: {line}\n" in done.err


def test_hostile_tables_are_safe_on_the_screen_and_in_the_report(tmp_path: Path) -> None:
    evil = "../../etc/\x1b[2J\u202e`| <script>{{ 7 * 7 }}{% endfor %}\n```\n# heading"
    made = simple(evil, [1, 2, "\x1b]0;x\x07"])
    made["source_file"], made["doi"] = evil, evil
    for entry in made["entries"]:
        entry["conditions"][evil] = [{"content": f"{evil} {entry['entry_idx']}", "SMILES": evil}]
    (tmp_path / "tables").mkdir()
    write(tmp_path / "tables" / "x.json", json.dumps(made))
    done = run(
        "build", tmp_path / "tables", "-o", tmp_path / "q", "--condition-keys-blacklist", "`|,x"
    )
    assert done.code == 0, done.err
    assert {path.name for path in tmp_path.iterdir()} == {"tables", "q"}
    for path in (tmp_path / "q").iterdir():
        assert not RAW_CONTROL.search(path.read_text(encoding="utf-8"))
    report = (tmp_path / "q" / "report.md").read_text(encoding="utf-8")
    assert "\n# heading" not in report
    assert "<script>{{ 7 * 7 }}{% endfor %}" in report
    done = run("render", tmp_path / "q" / "multiple_choice_all_varying.json")
    assert (done.code, done.out.count("\n")) == (0, 1)


BAD_COMMANDS: Final[list[tuple[list[str], str]]] = [
    (["build", "nowhere", "-o", "out"], "nowhere: expected a folder of table files"),
    (["build", "empty", "-o", "out"], "empty: no question can be built: there is no table"),
    (["build", "empty", "-o", "empty"], "empty: must not exist yet"),
    (["build", "empty", "-o", "out", "--min-reference-options", "0"],
     "--min-reference-options: expected minimum of references of a question, got '0'"),
    (["render", "nowhere.json"], "nowhere.json: cannot be read: No such file or directory"),
    (["render", "nothing.json"], "nothing.json: expected questions, got none"),
    (["render", "futurex.json"],
     f"futurex.json: record 1 (id 1): 'question_type' must be one of "
     f"{', '.join(QUESTION_TYPES)}, got None"),
    (["render", "t/q.json"], "t/prompt_all_varying.txt: expected a template with {options}"),
    (["import", "t.csv", "-o", "tables", "--yield", "nope", "--conditions", "base"],
     "t.csv: no column nope in the first row, which is the header, got base, y"),
    (["import", "t.csv", "-o", "taken", "--yield", "y", "--conditions", "base"],
     "taken/t.json: must not exist yet"),
    (["import", "no.csv", "-o", "tables"], "no.csv: cannot be read: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "message"), BAD_COMMANDS)
def test_bad_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "t", "taken"):
        Path(folder).mkdir()
    question = by_id(build(simple("s", [1, 2])))["s_q2"]
    for name in ("q.json", "t/q.json"):
        write(Path(name), json.dumps([question]))
    write(Path("t/prompt_all_varying.txt"), "Which?")
    write(Path("futurex.json"), json.dumps([{"id": "1", "prompt": "?", "level": 1}]))
    write(Path("none.jsonl"), '{"id": "a", "reply": "no idea"}\n')
    write(Path("nothing.json"), "[]")
    write(Path("t.csv"), "base,y\nK,5\n")
    write(Path("taken/t.json"), "{}")
    before = sorted(path for path in tmp_path.rglob("*"))
    done = run(*command)
    assert (done.code, done.out, done.err.splitlines()[-1]) == (2, "", f"eval.py: {message}")
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("given", [[], ["--yield", "Yield (%)"], ["--conditions", "my base"]])
def test_import_lists_the_columns(tmp_path: Path, given: list[str]) -> None:
    """Without the yield or the conditions nothing is written, and no use of a column is guessed."""
    text = 'Entry,my base,"Yield\n(%)",ee (%)\n1,K,50,\n2,Na,60,80\n3,Na,7,\n4,Cs,8,\n'
    path, folder = write(tmp_path / "x.csv", text), tmp_path / "tables"
    done = run("import", path, "-o", folder, *given)
    assert (done.code, folder.exists()) == (2, False)
    assert done.out.splitlines() == [
        "Entry: 1 | 2 | 3", "my base: K | Na | Cs", "Yield (%): 50 | 60 | 7", "ee (%): 80",
    ]  # fmt: skip
    assert done.err.startswith(
        f"eval.py: {path}: nothing is written without --yield COL and --cond"
    )


def test_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--version").out == f"eval.py rxnopt {__version__}\n"
    for words in ([], ["build"], ["nothing"]):
        assert run(*words).code == 2
    monkeypatch.setenv("COLUMNS", "200")
    shown = run("build", "--help").out
    for name in SETTINGS:
        assert re.search(rf"--{name.replace('_', '-')} \[?VALUE", shown)


@pytest.mark.parametrize("command", ["", "import", "build", "render"])
@pytest.mark.parametrize(
    ("program", "line"), [("eval.py", "python eval.py"), ("forecasteval", "forecasteval")]
)
def test_help_has_examples_that_parse(
    capsys: pytest.CaptureFixture[str], command: str, program: str, line: str
) -> None:
    parser = commands.build_parser(program)
    with pytest.raises(SystemExit):
        parser.parse_args([command, "--help"] if command else ["--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: {program} rxnopt {command}".rstrip() + " [-h]")
    prefix = f"  {line} rxnopt {command}".rstrip() + " "
    examples = [
        row.removeprefix(f"  {line} rxnopt ")
        for row in re.sub(r" \\\n +", " ", shown).splitlines()  # as a shell joins lines
        if row.startswith(prefix)
    ]
    assert len(examples) >= (1 if command else 3)
    for example in examples:
        assert parser.parse_args(example.split()).run


def test_render_uses_the_template_beside_the_dataset(tmp_path: Path) -> None:
    by_type = by_id(build(simple("u", [3, 4])))
    path = write(tmp_path / "d.json", json.dumps([by_type["u_q2"]]))
    write(tmp_path / "prompt_all_varying.txt", "Mine: {options}{unknown}")
    done = run("render", path)
    (row,) = map(json.loads, done.out.splitlines())
    assert row["id"] == "u_q2"
    assert re.fullmatch(
        r"Mine: Option 0:\n- base: base \d\n\nOption 1:\n- base: base \d\{unknown\}", row["prompt"]
    )
    other = write(tmp_path / "e.json", json.dumps([by_type["u_q1"]]))
    chinese = run("render", other, "--language", "zh")
    assert "只输出一个数字" in json.loads(chinese.out)["prompt"]
    refused = run("render", path, "--language", "zh")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        f"eval.py: {tmp_path}/prompt_all_varying.txt: the folder's own prompt is used, in its "
        "language: leave out --language, or remove the file\n"
    )


def test_rendering_needs_neither_meta_nor_answer(tmp_path: Path) -> None:
    questions = build(simple("t", [10, 20, 30])).questions
    blind = [
        {key: q[key] for key in ("id", "question_type", "input", "options")} for q in questions
    ]
    for name, rows in (("full", questions), ("blind", blind)):
        write(tmp_path / f"{name}.json", json.dumps(rows))
        assert run("render", tmp_path / f"{name}.json", "-o", tmp_path / f"{name}.jsonl").code == 0
    assert (tmp_path / "full.jsonl").read_bytes() == (tmp_path / "blind.jsonl").read_bytes()


def test_only_the_first_warnings_are_shown(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for number in range(40):
        raw = simple(f"t{number}", [1, 2, "complex", "yes"])
        write(tmp_path / "tables" / f"t{number}.json", json.dumps(raw))
    done = run("build", tmp_path / "tables", "-o", tmp_path / "q")
    assert done.err.count("yield: 2 (entry 3: complex, entry 4: yes)") == 30
    assert done.err.count("cannot be read as one yield") == commands.SHOWN_WARNINGS == 30
    assert done.err.endswith("\neval.py: warning: 10 more, see report.md\n")
    report = (tmp_path / "q" / "report.md").read_text(encoding="utf-8")
    assert report.count("cannot be read as one yield") == 40


@pytest.mark.extra("openpyxl")
def test_the_sheet_of_the_docs_is_the_one_that_is_shown() -> None:
    found = read_sheet(ROOT / "docs" / "experiments.xlsx")
    header, *rows = next(
        table for table in read_tables(read("docs/rxnopt.md")) if table[0][0] == "Entry"
    )
    assert (found.header, [list(row.cells.values()) for row in found.rows]) == (header, rows)
