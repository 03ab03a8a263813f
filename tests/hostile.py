"""Texts and results by which strangers try to get out of a page."""

from __future__ import annotations

from typing import Any, Final

from eval import FutureXEvaluator
from forecasteval.display.results import Results

TEXTS: Final = (
    "</script><script>document.title='owned'</script>",
    "</td></table></main></style></title></svg><img src=x onerror=\"document.title='owned'\">",
    "<svg onload=\"document.title='owned'\"><animate onbegin=alert(1)>",
    "javascript:document.title='owned'",
    '" onmouseover="document.title=1" x="',
    "'\"`><${document.title=1}{{7*7}}{% raw %}",
    "<!--<script>",
    "]]><x>&lt;&#60;",
    "\u202e\u2066\u200f evil \u202c",
    "\x1b[31m\x00\x07\x9b",
    "\ud800 lone \udfff",
    "\ufffe\uffff non-characters",
    "$\\frac{1}{$ and $x^2$",
    "ﷺ" + "Z\u0351\u0352" * 50,
    "墨子 名前 인공 🙂👩‍👩‍👧",
    "x" * 100_000,
)  # fmt: skip


def hostile_rows() -> list[dict[str, Any]]:
    """A question of every level for each text, which stands wherever a text may stand."""
    rows = []
    for place, text in enumerate(TEXTS):
        for level, truth in ((1, "B"), (2, "A, B"), (3, text[:50] or "x"), (4, "30")):
            rows.append({
                "id": f"{text[:200]}-{place}-{level}", "level": level,
                "prompt": f"{text}\nA. {text[:100]}\nB. b",
                "ground_truth": truth, "Std": 3 if level == 4 else None,
                "answer": rf"{text} \boxed{{{text[:300] if level != 4 else '31'}}} {text}",
            })  # fmt: skip
    return rows


def hostile_results(name: str = TEXTS[1]) -> Results:
    """A result of such rows, of a file of such a name."""
    results = FutureXEvaluator().evaluate_all(hostile_rows())
    results.update(name=name, prediction=f"{name}.json", dataset=TEXTS[0])
    return results
