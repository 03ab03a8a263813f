#!/usr/bin/env python3
r"""Score predictions of future events: `python eval.py -f 250915-random`.

FutureX (arXiv 2508.11987) asks questions of four levels. A model ends its answer with a
box, `\boxed{B}`; when the truth is known, this program reads the answers, scores every
question in [0, 1] and combines the level means with weights 0.1/0.2/0.3/0.4:

    level 1    single choice    1 if the picks are exactly the truth, else 0
    level 2    multiple choice  F1 of the picks
    level 3/4  ranking          1 if the lists agree item by item, else
    0.8 * matched / k
    level 3/4  number           max(0, 1 - ((Y - Y') / sigma)^2), sigma = Std
    of the question

Files: `dataset/*.json` holds questions (id, prompt, level, ground_truth, Std),
    `prediction/*.json`
the same rows with "answer", or the form of a submission: `{"id", "prediction"}` rows or
`{"id": answer}`. JSONL works for both. Files of Prophet Arena and RxnOptBench are
recognised by their records. Results go to stdout, and to `evaluation/` with --save or
nightly. `forecasteval/cli.py` has the commands.

Exit codes: 0 scored, 1 internal fault, 2 usage or unreadable input, 3 scored but some
files failed or a language model did, 4 a check found something, 5 another run holds the
lock, 6 a gate is not passed, 130 interrupted.
"""

import sys
from typing import TYPE_CHECKING

# Ctrl-C ends the imports below without a traceback, with code 130
if __name__ == "__main__":
    sys.excepthook = lambda kind, *rest: (
        None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)
    )

import forecasteval
from forecasteval.cli import main

__all__ = ["FutureXEvaluator", "main"]

if TYPE_CHECKING:
    from forecasteval import FutureXEvaluator
else:

    def __getattr__(name: str) -> object:
        return getattr(forecasteval, name)  # imports the evaluator when it is asked for


if __name__ == "__main__":
    sys.exit(main())
