"""Pages as files: one each, harmless whatever a stranger wrote, small, and the same bytes for the
same results.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from boards_folders import make_page
from cli import ROOT, assert_refused, q, run, run_process, write
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.display.html import render
from forecasteval.display.pages import MAX_SHOWN
from forecasteval.nightly.pages import RESERVED
from forecasteval.nightly.store import is_current
from hostile import TEXTS, hostile_results
from html_page import check_page

DATA = {
    path: (ROOT / path).read_bytes()
    for path in (
        "dataset/250915.json", "prediction/250915-careful.json", "dataset/prophet-sample.json",
        "prediction/prophet-sample.json", "dataset/multiple_choice_single_varying.json",
        "prediction/multiple_choice_single_varying-random.json",
    )
}  # fmt: skip


def page_of(root: Path, name: str) -> str:
    return (root / "evaluation" / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["250915-careful", "prophet-sample", "multiple_choice_single_varying-random"]
)
def test_html_writes_a_page_beside_the_report(tmp_path: Path, name: str) -> None:
    write(tmp_path, DATA)
    plain = run(tmp_path, "-f", name)
    assert not (tmp_path / "evaluation").exists()
    done = run(tmp_path, "-f", name, "--html")
    assert (done.code, done.out, done.err) == (0, plain.out, "")
    parsed = check_page(page_of(tmp_path, name))
    assert any(name in text for text in parsed.texts)
    assert plain.out.splitlines()[-1] in parsed.texts  # the signature


def test_a_page_of_52_questions_is_small(tmp_path: Path) -> None:
    write(tmp_path, DATA)
    run(tmp_path, "-f", "250915-careful", "--html")
    assert len(page_of(tmp_path, "250915-careful").encode()) < 250 * 1024


def test_same_bytes_on_any_hash_seed(tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2"):
        root = tmp_path / seed
        write(root, DATA)
        assert run_process(root, "-f", "250915-careful", "--html", PYTHONHASHSEED=seed).code == 0
        pages.append(page_of(root, "250915-careful"))
    assert pages[0] == pages[1]
    assert not re.search(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T", pages[0])


@pytest.mark.parametrize("name", RESERVED)
def test_a_run_never_takes_the_name_of_another_page(tmp_path: Path, name: str) -> None:
    write(tmp_path, {f"prediction/{name}.json": [q("q1")]})
    assert_refused(run(tmp_path, "-f", name, "--html"), "would overwrite another page")
    assert not (tmp_path / "evaluation" / f"{name}.html").exists()


def test_hostile_texts_are_text() -> None:
    parsed = check_page(render(hostile_results().page()))
    shown = "".join(parsed.texts)
    for text in (
        *TEXTS[:8],
        "\\u202e\\u2066\\u200f evil \\u202c",
        "\\x1b[31m\\x00\\x07",
        "\\ud800 lone \\udfff",
    ):
        assert text in shown
    assert max(map(len, parsed.texts)) < 30_000  # 100,000 times x, cut


def test_hostile_names_are_text() -> None:
    results = [hostile_results(text) for text in TEXTS[:13]]
    check_page(render(compare(results[:3]).page()))
    board = rank(results)
    board["failed"] = [{"file": text, "reason": text} for text in TEXTS]
    page = render(make_page(board, set(TEXTS[:10])))
    parsed = check_page(page)
    links = [link["href"] for link in parsed.find("a") if not link["href"].startswith("#")]
    assert len({link.partition("#")[0] for link in links}) == 10
    assert "./javascript%3Adocument.title%3D%27owned%27.html" in links


def test_very_many_questions_are_cut_and_that_is_said() -> None:
    rows = [q(f"q{n}", answer="B" if n % 2 else "A") for n in range(MAX_SHOWN + 500)]
    rows[7]["answer"] = "no idea"
    parsed = check_page(page := render(FutureXEvaluator().evaluate_all(rows).page()))
    assert len(page.encode()) < 6_000_000
    assert len(parsed.records) == MAX_SHOWN
    assert any(f"{MAX_SHOWN} of {MAX_SHOWN + 500} questions" in text for text in parsed.texts)
    # Each cause has its share, and its chip says how many of it the page has.
    shown = Counter(row["data-cause"] for row in parsed.find("details") if "data-cause" in row)
    assert shown == {"right": 1500, "wrong option": 1499, "unparsed: refusal": 1}
    assert "wrong option 1499 of 1749 here" in page
    # 0.0003 is what a question of 3,500 costs, and not 0.000.
    assert "−0.00029" in page


def test_many_long_questions_fit_a_page() -> None:
    prompt = "y" * 2000 + "\nA. a\nB. b"
    rows = [q(f"q{n}", prompt=prompt, answer="x" * 1000) for n in range(MAX_SHOWN + 500)]
    assert len(render(FutureXEvaluator().evaluate_all(rows).page()).encode()) < 6_000_000


def test_is_current(tmp_path: Path) -> None:
    results = FutureXEvaluator().evaluate_all([q("q1")])
    page = results.page()._replace(key="0123")
    path = tmp_path / "p.html"
    assert not is_current(path, page.key)
    path.write_text(render(page), encoding="utf-8")
    assert is_current(path, page.key)
    assert is_current(path, "012")  # whatever the code that made it
    assert not is_current(path, "123")
    assert not is_current(tmp_path / "\ud800.html", page.key)
    assert not is_current(tmp_path, page.key)


def test_what_makes_and_draws_pages_is_imported_only_for_them() -> None:
    code = (
        "import sys, eval, forecasteval.boards; "
        "pages = {n for n in sys.modules if n.endswith('page')}; "
        "print(*(pages | {'jinja2', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"
