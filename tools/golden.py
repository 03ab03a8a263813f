"""The golden reports: what `eval.py` prints about the shipped samples, byte for byte.

python tools/golden.py        write them anew (read the difference before committing it)
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
GOLDEN: Final = ROOT / "tests" / "golden"
REPORTS: Final = {
    "250915-careful.txt": ("-f", "250915-careful"),
    "250915-careful-items.txt": ("-f", "250915-careful", "--items"),
    "250915-random.txt": ("-f", "250915-random"),
    "prophet-sample.txt": ("-f", "prophet-sample"),
}


def report(name: str) -> str:
    """What the command line prints for this golden file."""
    from cli import run

    done = run(ROOT, *REPORTS[name])
    assert (done.code, done.err) == (0, ""), done.err
    # Rounding decides the last gradient of a fit, and how many steps it needs
    # to get there.
    return re.sub(
        r"after \d+ iterations, gradient [\d.e+-]+",
        "after N iterations, gradient G",
        done.out,
    )


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for target in map(GOLDEN.joinpath, REPORTS):
        target.write_text(report(target.name), encoding="utf-8", newline="\n")
        print(f"wrote {target.relative_to(ROOT)}")
