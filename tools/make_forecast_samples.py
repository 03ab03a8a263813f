"""Write tests/sites/: files as ForecastBench and Metaculus let one download them.

    python tools/make_forecast_samples.py

Questions, forecasters and numbers are invented; only the names of fields and
columns are theirs.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

SAMPLES: Final = Path(__file__).resolve().parent.parent / "tests" / "sites"
DATES: Final = ("2025-03-09", "2025-04-01", "2025-06-01")
DUE: Final = "2025-03-02"
SERIES: Final = {
    "DGS10": (1, 0, 1),
    "UNRATE": (0, 0, 1),
    "GASREG": (1, 1, 0),
    "HOUST": (0, 1, 1),
}
# What each came to, and whether it is over
MARKETS: Final[dict[str, tuple[float, bool]]] = {
    "ferry": (1.0, True),
    "bridge": (0.0, True),
    "tunnel": (0.35, True),
    "strike": (0.2, False),
    "harvest": (1.0, True),
    "census": (0.0, True),
    "eclipse": (0.0, True),
    "regatta": (1.0, True),
}
# What each gives to what comes true
MODELS: Final = {"Harbour-9b": 0.8, "Quillon-2": 0.6}
Rows = list[dict[str, Any]]


def resolutions() -> Rows:
    """Four series on three dates, eight markets."""
    dated = [
        {"id": name, "source": "fred", "direction": None, "resolution_date": date,
         "resolved_to": float(known), "resolved": True}
        for name, outcomes in SERIES.items()
        for date, known in zip(DATES, outcomes, strict=True)
    ]  # fmt: skip
    markets = [
        {"id": name, "source": "manifold", "direction": None, "resolution_date": "2025-05-20",
         "resolved_to": known, "resolved": is_over}
        for name, (known, is_over) in MARKETS.items()
    ]  # fmt: skip
    return dated + markets


def forecasts(p: float) -> Rows:
    """A forecast of each; those of markets have no date."""
    return [
        {"id": row["id"], "source": row["source"], "forecast": p if row["resolved_to"] else 1 - p,
         "resolution_date": row["resolution_date"] if row["source"] == "fred" else None,
         "reasoning": "as before"}
        for row in resolutions()
    ]  # fmt: skip


OPTIONS: Final = ["Arden", "Bree", "Corrin"]
QUESTIONS: Final = [
    # id, title, type, options, resolution
    (101, "Will the ferry run?", "binary", None, "yes"),
    (102, "Will the bridge open?", "binary", None, "no"),
    (103, "Who wins the regatta?", "multiple_choice", OPTIONS, "Bree"),
    (104, "How many passengers?", "numeric", None, "4120.0"),
    (105, "Will the tunnel flood?", "binary", None, "annulled"),
    (106, "Will the strike end?", "binary", None, None),
]
USERS: Final = {"ada": 0.9, "bob": 0.6}


def question_rows() -> Rows:
    return [
        {
            "Question ID": number, "Question URL": f"https://example.org/{number}/",
            "Question Title": title, "Post ID": number + 900, "Question Type": kind,
            "MC Options (Current)": options, "MC Options (All)": options,
            "Open Time": "2025-01-01 12:00:00+00:00",
            "Scheduled Close Time": "2025-02-01 12:00:00+00:00",
            "Actual Close Time": "2025-02-01 12:00:00+00:00" if resolution else None,
            "Resolution": resolution, "Question Weight": 1.0,
        }
        for number, title, kind, options, resolution in QUESTIONS
    ]  # fmt: skip


def forecast_rows() -> Rows:
    """Two forecasters on all questions; ada first said the opposite, bob
    was late once.
    """
    rows = []
    for number, _, kind, _, resolution in QUESTIONS:
        for at, (user, p) in enumerate(USERS.items(), 1):
            yes = p if resolution == "yes" else round(1 - p, 2)
            shares = [round((1 - p) / 2, 3), p, round((1 - p) / 2, 3)]
            rows.append(
                {
                    "Question ID": number, "Forecaster ID": at, "Forecaster "
                                                                "Username": user,
                    "Start Time": f"2025-01-1{at} "
                                  "09:00:00.123456+00:00", "End Time": None,
                    "Forecaster Count": None, "Probability "
                                              "Yes": yes if kind == "binary" else None,
                    "Probability Yes Per Category": shares if kind == "multiple_choice" else None,
                    "Continuous CDF": [0.0, 0.5, 1.0] if kind == "numeric" else None,
                    "Probability of Resolution": None,
                }
            )  # fmt: skip
    first = [
        {**row, "Start Time": "2025-01-05 09:00:00+00:00", "Probability Yes": 0.01}
        # Fmt: skip
        for row in rows
        if row["Forecaster ID"] == 1 and row["Probability Yes"]
    ]
    late = {
        **rows[1],
        "Start Time": "2025-02-03 09:00:00+00:00",
        "Probability Yes": 0.99,
    }
    return [*first, *rows, late]


def write_csv(rows: Rows) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def write_set(fields: dict[str, Any], key: str, rows: Rows) -> str:
    """A set as JSON, with a line per row."""
    head = "".join(
        f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in fields.items()
    )
    lines = ",\n".join(map(json.dumps, rows))
    return f'{{\n{head}"{key}": [\n{lines}\n]\n}}\n'


def make_files() -> dict[str, str]:
    """The texts of all files, by name."""
    about = {"forecast_due_date": DUE, "question_set": f"{DUE}-llm.json"}
    files = {
        f"forecastbench/dataset/{DUE}.json": write_set(
            about, "resolutions", resolutions()
        )
    }
    for name, p in MODELS.items():
        fields = {"organization": "Harbour", "model": name, **about}
        text = write_set(fields, "forecasts", forecasts(p))
        files[f"forecastbench/prediction/{DUE}.{name}.json"] = text
    files["metaculus/question_data.csv"] = write_csv(question_rows())
    files["metaculus/forecast_data.csv"] = write_csv(forecast_rows())
    return files


def main() -> None:
    for name, text in make_files().items():
        path = SAMPLES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
