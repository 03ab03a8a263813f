"""Tables as other people write them: six questions, six races, two forecasters of known scores.

A form is a header and a row of fields, filled for every forecast. What comes out is right, or it is
refused with words; `advice` does what these words say, and then the scores are right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

Cells = list[list[str]]  # a table, its header first
WHO: Final = ("ada", "bob")
CAME_TRUE: Final = (1, 0, 1, 0, 0, 1)
GIVEN: Final = {"ada": (0.9, 0.2, 0.7, 0.1, 0.3, 0.8), "bob": (0.6, 0.5, 0.55, 0.4, 0.5, 0.6)}
OPTIONS: Final = ("Red", "Blue", "Green")
WINNERS: Final = (0, 1, 2, 0, 1, 0)
RACES: Final = {"ada": (0.7, 0.2, 0.1), "bob": (0.4, 0.35, 0.25)}  # of winner, next, and last
QUESTION_SCORES: Final = {"ada": 0.28 / 6, "bob": 1.1825 / 6}
RACE_SCORES: Final = {"ada": 0.14 / 3, "bob": 0.545 / 3}


def question_rows() -> Iterator[dict[str, Any]]:
    """The fields of a row with the probability of Yes."""
    for at, won in enumerate(CAME_TRUE):
        for who in WHO:
            p = GIVEN[who][at]
            yield {
                "q": f"Q{at + 1}", "title": f"Will it rain in {at + 1} days?", "who": who, "p": p,
                "no": round(1 - p, 2), "pct": round(100 * p, 1), "comma": str(p).replace(".", ","),
                "f": won, "ff": float(won), "Yes": "Yes" if won else "No", "hundred": 100 * won,
                "true": "true" if won else "false", "TRUE": "TRUE" if won else "FALSE",
                "Y": "Y" if won else "N", "id": at + 1, "other": round(1 - p, 2),
                "old": 0.5, "ada": GIVEN["ada"][at], "bob": GIVEN["bob"][at],
                "n": 30 + at,
            }  # fmt: skip


def race_rows() -> Iterator[dict[str, Any]]:
    """The fields of a row about an option of a forecast."""
    for at, winner in enumerate(WINNERS):
        for who in WHO:
            for place, option in enumerate(OPTIONS):
                p = RACES[who][(place - winner) % 3]
                yield {
                    "q": f"R{at + 1}", "who": who, "opt": option, "p": p,
                    "pct": round(100 * p, 1), "f": int(place == winner), "won": OPTIONS[winner],
                    "WON": OPTIONS[winner].upper(), "index": winner, "from1": winner + 1,
                    "hundred": 100 * (place == winner),
                    "yes": "Yes" if place == winner else "No", "place": place, "old": 0.3,
                }  # fmt: skip


def wide_rows() -> Iterator[dict[str, Any]]:
    """The fields of a row of a race with a column per option."""
    for at, winner in enumerate(WINNERS):
        for who in WHO:
            p = [RACES[who][(place - winner) % 3] for place in range(3)]
            yield {
                "q": f"R{at + 1}", "who": who, "won": OPTIONS[winner],
                **dict(zip(OPTIONS, p, strict=True)), "n": 30 + at,
            }  # fmt: skip


def rename(old: str, new: str) -> Callable[[Cells], Cells]:
    return lambda table: [[new if name == old else name for name in table[0]], *table[1:]]


def change(column: str, edit: Callable[[str], str]) -> Callable[[Cells], Cells]:
    """Edit the cells of a column."""

    def run(table: Cells) -> Cells:
        at = table[0].index(column)
        return [table[0], *([*row[:at], edit(row[at]), *row[at + 1 :]] for row in table[1:])]

    return run


def divide(column: str) -> Callable[[Cells], Cells]:
    return change(column, lambda cell: f"{float(cell) / 100:g}")


def melt(table: Cells) -> Cells:
    """Write a row per option of each row, whose options are columns."""
    options = [name for name in table[0] if name in (*OPTIONS, "yes", "no")]
    rows = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    names = [name for name in table[0] if name not in options]
    return [
        [*names, "option", "probability"],
        *(
            [*(row[name] for name in names), option, row[option]]
            for row in rows
            for option in options
        ),
    ]


class Form(NamedTuple):
    """`rows` fill `row` under `header`; `words` are of the refusal, which `advice` obeys.

    `roles`: what the refusal's option `--column` says, after which the scores are right.
    """

    name: str
    rows: Callable[[], Iterator[dict[str, Any]]]
    header: str
    row: str
    words: str = ""
    advice: Callable[[Cells], Cells] | None = None
    more: tuple[str, ...] = ()  # rows at the end
    roles: str = ""

    @property
    def scores(self) -> dict[str, float]:
        return QUESTION_SCORES if self.rows is question_rows else RACE_SCORES

    def table(self) -> Cells:
        texts = [self.header, *(self.row.format(**row) for row in self.rows()), *self.more]
        return [text.split("|") for text in texts]


Q, R, W = question_rows, race_rows, wide_rows
FORMS: Final = [
    # --- Questions: names of columns ---
    Form("plain", Q, "question|model|probability|resolution", "{q}|{who}|{p}|{Yes}"),
    Form("numbers", Q, "question|model|probability|resolution", "{q}|{who}|{p}|{f}"),
    Form("floats", Q, "question_id|user|prob|result", "{id}|{who}|{p}|{ff}"),
    Form("lower words", Q, "event|agent|p|outcome", "{q}|{who}|{p}|{true}"),
    Form(
        "metaculus names",
        Q,
        "Question ID|Question Title|Forecaster Username|Probability Yes|Resolution",
        "{id}|{title}|{who}|{p}|{Yes}",
    ),
    Form(
        "a title alone",
        Q,
        "Question Title|Forecaster Username|Probability Yes|Resolution",
        "{title}|{who}|{p}|{Yes}",
    ),
    Form("snake", Q, "question_id|forecaster_username|p_yes|resolution", "{q}|{who}|{p}|{f}"),
    Form("dashes", Q, "Question-ID|Forecaster-Username|Prob-Yes|RESOLUTION", "{q}|{who}|{p}|{Yes}"),
    Form(
        "blanks around",
        Q,
        " question | model | probability yes | Resolution ",
        "{q}|{who}|{p}|{Yes}",
    ),
    Form("yes and no", Q, "question|model|prob_yes|prob_no|resolution", "{q}|{who}|{p}|{no}|{Yes}"),
    Form("p_yes and p_no", Q, "question|model|p_no|p_yes|resolution", "{q}|{who}|{no}|{p}|{Yes}"),
    Form("model_name", Q, "question|model_name|forecast|winner", "{q}|{who}|{p}|{Yes}"),
    Form("id", Q, "id|source|model|forecast|resolved|resolved_to", "{id}|fred|{who}|{p}|True|{ff}"),
    Form(
        "more columns",
        Q,
        "question|notes|model|probability|resolution|n",
        "{q}|so so|{who}|{p}|{Yes}|{n}",
    ),
    # --- Questions: states and results ---
    Form("state and result", Q, "question|model|p|is_resolved|outcome", "{q}|{who}|{p}|yes|{f}"),
    Form(
        "a row that is not resolved",
        Q,
        "question|model|p|resolved|resolved_to",
        "{q}|{who}|{p}|true|{f}",
        more=("Q7|ada|0.3|false|0.35", "Q7|bob|0.4|false|0.35"),
    ),
    Form(
        "a share",
        Q,
        "question|model|p|resolved_to",
        "{q}|{who}|{p}|{f}",
        more=("Q7|ada|0.3|0.35", "Q7|bob|0.4|0.35"),
    ),
    Form(
        "one is void",
        Q,
        "question|model|p|resolution",
        "{q}|{who}|{p}|{Yes}",
        more=("Q7|ada|0.3|annulled",),
    ),
    Form("pending", Q, "question|model|p|resolution", "{q}|{who}|{p}|{Yes}", more=("Q7|ada|0.3|",)),
    Form(
        "a state is no result",
        Q,
        "question|model|p|resolved",
        "{q}|{who}|{p}|{f}",
        roles="result=resolved",
    ),
    Form(
        "a state in words",
        Q,
        "question|model|p|Is Resolved",
        "{q}|{who}|{p}|{Yes}",
        roles="result=Is Resolved",
    ),
    Form(
        "a state that is none",
        Q,
        "question|model|p|resolved|resolution",
        "{q}|{who}|{p}|2025-07-01|{f}",
    ),
    Form(
        "100 and 0",
        Q,
        "question|model|p|resolution",
        "{q}|{who}|{p}|{hundred}",
        "write 1 and 0",
        change("resolution", lambda cell: "1" if cell == "100" else cell),
    ),
    Form(
        "sentences",
        Q,
        "question|model|p|resolution",
        "{q}|{who}|{p}|Resolved as {Yes}",
        "must be Yes or No, got 'Resolved as",
        change("resolution", lambda cell: cell.split()[-1]),
    ),
    Form("correct", Q, "question|model|p|correct", "{q}|{who}|{p}|{f}", roles="result=correct"),
    Form("answer", Q, "question|model|p|answer", "{q}|{who}|{p}|{Yes}"),
    # --- Questions: probabilities ---
    Form(
        "percent",
        Q,
        "question|model|probability|resolution",
        "{q}|{who}|{pct}|{Yes}",
        "is above 1: percent? divide by 100",
        divide("probability"),
    ),
    Form(
        "percent signs",
        Q,
        "question|model|probability|resolution",
        "{q}|{who}|{pct}%|{Yes}",
        "write 0.9 for 90.0%",
        change("probability", lambda cell: f"{float(cell[:-1]) / 100:g}"),
    ),
    Form(
        "commas",
        Q,
        "question|model|probability|resolution",
        "{q}|{who}|{comma}|{Yes}",
        "write 0.9 for 0,9",
        change("probability", lambda cell: cell.replace(",", ".")),
    ),
    Form(
        "words",
        Q,
        "question|model|probability|resolution",
        "{q}|{who}|likely|{Yes}",
        "probabilities must be numbers in [0, 1], got 'likely'",
    ),
    Form(
        "one cell with a sign",
        Q,
        "question|model|probability|resolution",
        "{q}|{who}|{p}|{Yes}",
        more=("Q1|cid|70%|Yes",),
    ),
    Form(
        "two probabilities",
        Q,
        "question|model|prediction|probability|resolution",
        "{q}|{who}|{other}|{p}|{Yes}",
        roles="probability=probability",
    ),
    Form(
        "a third of Yes",
        Q,
        "question|model|prob_yes|prob_no|prob_other|resolution",
        "{q}|{who}|{p}|{no}|0|{Yes}",
    ),
    Form(
        "yes and no of different sums",
        Q,
        "question|model|prob_yes|prob_no|resolution",
        "{q}|{who}|{p}|{p}|{Yes}",
        "probabilities of Yes and No do not add up to 1",
    ),
    Form(
        "an unknown name",
        Q,
        "question|model|prob_raw|resolution",
        "{q}|{who}|{p}|{Yes}",
        roles="probability=prob_raw",
    ),
    Form(
        "quoted thousandths", Q, "question|model|probability|resolution", "{q}|{who}|{p:.3f}|{Yes}"
    ),
    # --- Questions: times ---
    Form(
        "the last of two dates",
        Q,
        "question|model|date|p|resolution",
        "{q}|{who}|2025-06-02|{p}|{Yes}",
        more=tuple(
            f"Q{n}|{who}|2025-06-01|0.99|{'Yes' if won else 'No'}"
            for n, won in enumerate(CAME_TRUE, 1)
            for who in WHO
        ),
    ),
    Form(
        "forecast_date",
        Q,
        "question|model|forecast_date|p|resolution",
        "{q}|{who}|2025-06-02|{p}|{Yes}",
        more=("Q1|ada|2025-06-01|0.1|Yes",),
    ),
    Form(
        "forecast_due_date",
        Q,
        "question|model|forecast_due_date|p|resolution",
        "{q}|{who}|2025-06-02|{p}|{Yes}",
        more=("Q1|ada|2025-06-01|0.1|Yes",),
    ),
    Form(
        "Forecast Time",
        Q,
        "question|model|Forecast Time|p|resolution",
        "{q}|{who}|2025-06-02T10:00Z|{p}|{Yes}",
        more=("Q1|ada|2025-06-02T09:00Z|0.1|Yes",),
    ),
    Form(
        "runs",
        Q,
        "question|model|run|p|resolution",
        "{q}|{who}|2|{p}|{Yes}",
        more=tuple("{q}|{who}|1|{p}|{Yes}".format(**row) for row in question_rows()),
    ),
    Form(
        "one forecast twice, unlike",
        Q,
        "question|model|p|resolution",
        "{q}|{who}|{p}|{Yes}",
        more=("Q1|cid|0.5|Yes", "Q1|cid|0.6|Yes"),
    ),
    Form(
        "every row twice",
        Q,
        "question|model|p|resolution",
        "{q}|{who}|{p}|{Yes}",
        more=tuple("{q}|{who}|{p}|{Yes}".format(**row) for row in question_rows()),
    ),
    Form(
        "the day of closing",
        Q,
        "question|model|time|close_time|p|resolution",
        "{q}|{who}|2025-06-02T18:00Z|2025-06-02|{p}|{Yes}",
    ),
    Form(
        "the day of closing, a date",
        Q,
        "question|model|date|close_time|p|resolution",
        "{q}|{who}|2025-06-02|2025-06-02|{p}|{Yes}",
        more=("Q1|cid|2025-06-03|2025-06-02|1|Yes",),
    ),
    # --- Races: a row per option ---
    Form("flags", R, "question|option|model|probability|resolution", "{q}|{opt}|{who}|{p}|{f}"),
    Form(
        "flags in words",
        R,
        "question|option|model|probability|resolution",
        "{q}|{opt}|{who}|{p}|{yes}",
    ),
    Form("names", R, "question|option|model|probability|winner", "{q}|{opt}|{who}|{p}|{won}"),
    Form(
        "names in capitals",
        R,
        "question|option|model|probability|resolution",
        "{q}|{opt}|{who}|{p}|{WON}",
    ),
    Form("won", R, "question|choice|model|probability|won", "{q}|{opt}|{who}|{p}|{f}"),
    Form(
        "outcome is the option", R, "event_ticker|outcome|model|p|result", "{q}|{opt}|{who}|{p}|{f}"
    ),
    Form("market, contract", R, "market|contract|user|p|correct", "{q}|{opt}|{who}|{p}|{f}"),
    Form(
        "a state of options",
        R,
        "question|market|model|p|resolved",
        "{q}|{opt}|{who}|{p}|{f}",
        roles="result=resolved",
    ),
    Form(
        "outcome and a state",
        R,
        "event_ticker|predictor_name|outcome|prob|resolved",
        "{q}|{who}|{opt}|{p}|{f}",
        roles="result=resolved",
    ),
    Form(
        "an index",
        R,
        "question|option|model|p|winner",
        "{q}|{opt}|{who}|{p}|{index}",
        "a winner is not among the options, got '2'",
    ),
    Form(
        "percents of options",
        R,
        "question|option|model|prob|won",
        "{q}|{opt}|{who}|{pct}|{f}",
        "is above 1: percent? divide by 100",
        divide("prob"),
    ),
    Form(
        "100 and 0 of options",
        R,
        "question|option|model|prob|won",
        "{q}|{opt}|{who}|{p}|{hundred}",
        "write 1 where the option came true and 0 elsewhere",
        change("won", lambda cell: f"{int(cell) // 100}"),
    ),
    Form(
        "Yes of options",
        R,
        "question|option|model|prob_yes|won",
        "{q}|{opt}|{who}|{p}|{f}",
        roles="probability=prob_yes",
    ),
    Form(
        "an option of one",
        R,
        "question|option|model|p|won",
        "{q}|{opt}|{who}|{p}|{f}",
        more=("R1|Red|cid|0.4|1", "R1|Blue|cid|0.3|0", "R1|Green|cid|0.2|0", "R1|Other|cid|0.1|"),
    ),
    Form(
        "an option missing",
        R,
        "question|option|model|p|won",
        "{q}|{opt}|{who}|{p}|{f}",
        more=("R1|Red|cid|0.7|1", "R1|Blue|cid|0.3|0"),
    ),
    Form(
        "options twice",
        R,
        "question|option|model|p|won",
        "{q}|{opt}|{who}|{p}|{f}",
        more=("R1|Red|ada|0.7|1", "R1|Blue|ada|0.2|0"),
    ),
    Form(
        "an option twice, unlike",
        R,
        "question|option|model|p|won",
        "{q}|{opt}|{who}|{p}|{f}",
        more=("R1|Red|cid|0.7|1", "R1|Red|cid|0.9|1", "R1|Blue|cid|0.2|0", "R1|Green|cid|0.1|0"),
    ),
    Form(
        "a blank series",
        R,
        "question|option|model|p|won|series",
        "{q}|{opt}|{who}|{p}|{f}|S",
        more=("R1|Red|ada|0.7|1|",),
    ),
    Form(
        "one result of another kind",
        R,
        "question|option|model|p|resolution",
        "{q}|{opt}|{who}|{p}|{f}",
        more=("R7|Red|ada|0.7|Red", "R7|Blue|ada|0.3|Red"),
    ),
    # --- Wide tables ---
    Form(
        "a column per forecaster",
        Q,
        "question|resolution|ada|bob",
        "{q}|{Yes}|{ada}|{bob}",
        roles="probability=ada,bob",
    ),
    Form(
        "texts beside forecasters",
        Q,
        "Question ID|Question Title|notes|Resolution|ada|bob",
        "{id}|{title}|so so|{Yes}|{ada}|{bob}",
        roles="probability=ada,bob",
    ),
    Form(
        "a column per option",
        W,
        "question|model|Red|Blue|Green|winner",
        "{q}|{who}|{Red}|{Blue}|{Green}|{won}",
        "expected a row per option, with columns 'option' and 'probability'",
        melt,
    ),
    Form(
        "a count beside forecasters",
        Q,
        "question|resolution|ada|bob|n",
        "{q}|{Yes}|{ada}|{bob}|{n}",
        roles="probability=ada,bob",
    ),
    Form(
        "options of one forecaster",
        W,
        "question|Red|Blue|Green|winner",
        "{q}|{Red}|{Blue}|{Green}|{won}",
        "expected a row per option, with columns 'option' and 'probability'",
    ),
    Form(
        "percents per forecaster",
        Q,
        "question|resolution|ada|bob",
        "{q}|{Yes}|{n}|{n}",
        "expected a column for the probability",
    ),
    # --- More names, states and results ---
    Form("capitals", Q, "question|model|probability|resolution", "{q}|{who}|{p}|{TRUE}"),
    Form("a column of scores", Q, "question|model|p|resolution|brier", "{q}|{who}|{p}|{Yes}|0.1"),
    Form("a status", Q, "question|model|p|status|resolution", "{q}|{who}|{p}|resolved|{Yes}"),
    Form(
        "a date of results",
        Q,
        "question|model|p|resolved_at|result",
        "{q}|{who}|{p}|2025-07-01|{f}",
    ),
    Form("a total below", Q, "question|model|p|result", "{q}|{who}|{p}|{Yes}", more=("Total|||",)),
    Form("cents", Q, "question|model|p|result|price", "{q}|{who}|{p}|{Yes}|55"),
    Form("two results", Q, "question|model|p|resolution|resolved_to", "{q}|{who}|{p}|{Yes}|0.5"),
    Form("Y and N", Q, "question|model|p|resolution", "{q}|{who}|{p}|{Y}"),
    Form("another name of results", Q, "question|model|probability|came_true", "{q}|{who}|{p}|{f}"),
    Form("no melt of a truth", Q, "question_id|model|y_prob|y_true", "{q}|{who}|{p}|{f}"),
    Form("a confidence", Q, "event|forecaster|confidence|outcome", "{q}|{who}|{p}|{f}"),
    Form(
        "another name of forecasters", Q, "question|participant|p|resolution", "{q}|{who}|{p}|{Yes}"
    ),
    Form(
        "a name with a percent sign",
        Q,
        "question|model|probability (%)|resolution",
        "{q}|{who}|{p}|{Yes}",
    ),
    Form(
        "of Yes in words", Q, "question|model|Probability of Yes|resolution", "{q}|{who}|{p}|{Yes}"
    ),
    Form("p(yes)", Q, "question|model|p(yes)|resolution", "{q}|{who}|{p}|{Yes}"),
    Form(
        "of No alone",
        Q,
        "question|model|prob_no|resolution",
        "{q}|{who}|{no}|{Yes}",
        "expected a column for the probability",
    ),
    Form("a slug", Q, "slug|user|prob|outcome", "{q}|{who}|{p}|{Yes}"),
    Form(
        "columns of Yes and No",
        Q,
        "question|model|yes|no|result",
        "{q}|{who}|{p}|{no}|{Yes}",
        "expected a row per option, with columns 'option' and 'probability'",
        melt,
    ),
    Form(
        "options under another name",
        R,
        "event|team|model|prob|won",
        "{q}|{opt}|{who}|{p}|{f}",
        roles="option=team",
    ),
    Form(
        "places of a race",
        R,
        "event|option|model|prob|result",
        "{q}|{opt}|{who}|{p}|{place}",
        "an outcome is neither 0 nor 1, got '2' (R1): write 1 where the option came true",
    ),
    Form(
        "an index from 1",
        R,
        "event|option|model|prob|winner",
        "{q}|{opt}|{who}|{p}|{from1}",
        "a winner is not among the options, got '2' (R2): 6",
        change("winner", lambda cell: OPTIONS[int(cell) - 1]),
    ),
    Form(
        "a winner under another name",
        R,
        "event|option|model|prob|actual",
        "{q}|{opt}|{who}|{p}|{f}",
    ),
]


def find_options(message: str) -> list[tuple[str, str]]:
    """Find what the options `--column` of a refusal say."""
    words = re.findall(r"--column ('[^']*'|[^\s)]+)", message)
    return [tuple(word.strip("',:").split("=", 1)) for word in words]
