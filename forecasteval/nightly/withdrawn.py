"""What the owner of a board has withdrawn: datasets and runs of systems, and events of forecasters,
by the key `withdrawn` of `systems.json`. They are no entries, whether their files are there or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from forecasteval.common.files import belongs_to
from forecasteval.nightly.entry_book import EntryBook
from forecasteval.ranking.board import WithdrawnEntry
from forecasteval.ranking.names import Systems, split_name

_MAX_NAMED_MISTAKES: Final = 5


class Withdrawals:
    """The names under `withdrawn` of each system, beside the datasets that are there."""

    def __init__(self, systems: Systems, datasets: Iterable[str]) -> None:
        self._systems = systems
        self._names: Mapping[str, tuple[str, ...]] = systems.withdrawn
        self._datasets = {*datasets}

    def includes_file(self, stem: str, dataset: str) -> bool:
        """Return whether the dataset or the run of a file is withdrawn."""
        names = self._names.get(self._systems.system_of(stem, dataset), ())
        run = split_name(stem, dataset).run
        return dataset in names or (run != "" and f"{dataset}@{run}" in names)

    def list_forecasts(self, dataset: str) -> frozenset[tuple[str, str]]:
        """List the forecasters and events that are withdrawn; the event is "" for all of them."""
        return frozenset(
            (forecaster, name.partition("/")[2])
            for forecaster, names in self._names.items()
            for name in names
            if name == dataset or name.startswith(f"{dataset}/")
        )

    def find_new(self, dataset: str, book: EntryBook) -> dict[str, list[str]]:
        """Find the names about a dataset that the book does not have yet, by system."""
        new: dict[str, list[str]] = {}
        for system, names in self._names.items():
            for name in names:
                is_known = (system, name) in book.withdrawn
                if self._find_dataset(name) == dataset and not is_known:
                    new.setdefault(system, []).append(name)
        return new

    def describe(self, book: EntryBook, night: int) -> list[WithdrawnEntry]:
        """Say what is withdrawn, and whether a truth of its dataset was known by then."""
        entries = []
        for system, names in self._names.items():
            for name in names:
                dataset = self._find_dataset(name)
                if not dataset:
                    continue
                truths = book.truths.get(dataset, {})
                first_night = book.withdrawn.get((system, name), night)
                is_after_truth = any(known <= first_night for known in truths.values())
                entry = WithdrawnEntry(system=system, name=name, is_after_truth=is_after_truth)
                entries.append(entry)
        return entries

    def find_mistakes(self, stems: Iterable[str]) -> str:
        """Say which names are those of no dataset, run or event; "" if all are known."""
        runs = {
            (self._systems.system_of(stem, dataset), f"{dataset}@{split_name(stem, dataset).run}")
            for stem in stems
            for dataset in self._datasets
            if self._names and belongs_to(stem, dataset)
        }
        mistakes = [
            f"system {system}: 'withdrawn' must name datasets or runs, got {name!r}"
            for system, names in self._names.items()
            for name in names
            if name not in self._datasets
            and name.partition("/")[0] not in self._datasets
            and (system, name) not in runs
        ]
        return "; ".join(mistakes[:_MAX_NAMED_MISTAKES])

    def _find_dataset(self, name: str) -> str:
        """Find the dataset that a name is about; "" if there is none."""
        candidates = (name, name.rpartition("@")[0], name.partition("/")[0])
        return next((each for each in candidates if each in self._datasets), "")
