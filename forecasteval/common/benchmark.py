"""What the command line and the boards need to know of a benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from .errors import InputError
from .files import require_regular
from .results import Results


class Evaluator(Protocol):
    """Scores files of one benchmark; what a file's scores depend on besides its bytes is in `settings`."""

    def evaluate_file(self, path: Path, datasets: Sequence[Path] = ()) -> Results:
        """The results of one prediction file against its datasets; InputError if it cannot be scored.

        Where a benchmark scores the files of a dataset together, the others are a third argument, `others`.
        """

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the files."""


class Benchmark(NamedTuple):
    """One kind of prediction files.

    `recognises` tells a file by itself and its dataset, `evaluator` makes an evaluator of the options named in
    `options`, and `views` names the options of its reports. `together` tells whether the files of a dataset are one
    set of predictions, and `check` finds mistakes in a dataset (`Results` with "findings"); None: never.
    """

    name: str
    recognises: Callable[[Path, Path | None], bool]
    evaluator: Callable[..., Evaluator]
    options: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    together: Callable[[Path], bool] | None = None
    check: Callable[[Path], Results] | None = None


@cache
def hash_code() -> str:
    """sha256 of the code that scores: `eval.py` and every file of the package. An edited rule is another evaluator."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in [package.parent / "eval.py", *sorted(files)]:
        digest.update(f"{path.relative_to(package.parent).as_posix()}\0".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


class Scorer:
    """Scores files of any of the benchmarks by the options that were given (not None); can go to another process."""

    def __init__(self, benchmarks: Sequence[Benchmark], options: Mapping[str, Any]) -> None:
        self.benchmarks = {benchmark.name: benchmark for benchmark in benchmarks}
        self.given = {name: value for name, value in options.items() if value is not None}
        self._evaluators: dict[str, Evaluator] = {}

    def recognise(self, path: Path, dataset: Path | None) -> Benchmark:
        """The benchmark of a prediction file: the first that knows it; InputError for what is no file of bytes."""
        for each in filter(None, (path, dataset)):
            require_regular(each)  # before anybody opens it: a pipe would wait for ever
        return next(benchmark for benchmark in self.benchmarks.values() if benchmark.recognises(path, dataset))

    def score(
        self, path: Path, dataset: Path | None, others: Sequence[Path] = (), more: Sequence[Path | None] = ()
    ) -> Results:
        """The results of one prediction file, or with `others` of several; `more`: further datasets."""
        found = [one for one in (dataset, *more) if one]
        benchmark = self.recognise(path, found[0] if found else None)
        evaluate_file: Callable[..., Results] = self._evaluator(benchmark.name).evaluate_file
        results = evaluate_file(path, found, others) if others else evaluate_file(path, found)
        results["signature"]["code_sha256"] = hash_code()
        return results

    def together(self, dataset: Path) -> bool:
        """Whether the prediction files of a dataset are scored together."""
        return any(benchmark.together(dataset) for benchmark in self.benchmarks.values() if benchmark.together)

    def check(self, path: Path) -> Results:
        """The mistakes in a dataset; InputError if its benchmark has no check."""
        benchmark = self.recognise(path, path)
        if not benchmark.check:
            able = " or ".join(sorted(other.name for other in self.benchmarks.values() if other.check))
            raise InputError(str(path), f"expected a dataset of {able}, the only ones that are checked", benchmark.name)
        return benchmark.check(path)

    def settings(self, name: str) -> dict[str, Any]:
        """The part of a benchmark's signatures that does not depend on the files."""
        return {**self._evaluator(name).settings(), "code_sha256": hash_code()}

    def __reduce__(self) -> tuple[Any, ...]:  # without evaluators: another process makes its own
        return Scorer, (tuple(self.benchmarks.values()), self.given)

    def require_usable_options(self) -> None:
        """InputError if an evaluator cannot be made of the options that were given for it."""
        for name, benchmark in self.benchmarks.items():
            if benchmark.options & self.given.keys():
                self._evaluator(name)

    def _evaluator(self, name: str) -> Evaluator:
        if name not in self._evaluators:
            benchmark = self.benchmarks[name]
            options = {option: self.given[option] for option in benchmark.options & self.given.keys()}
            self._evaluators[name] = benchmark.evaluator(**options)
        return self._evaluators[name]

    def views(self, name: str) -> dict[str, Any]:
        """What the options ask of a report; InputError for those that other benchmarks have a use for, but not it."""
        for option, value in self.given.items():
            users = [other.name for other in self.benchmarks.values() if option in other.options | other.views]
            if users and name not in users:
                flag = f"--{option.rstrip('s') if isinstance(value, list) else option}".replace("_", "-")
                raise InputError(flag, f"needs a file of {' or '.join(sorted(users))}", name)
        return {option: self.given[option] for option in self.benchmarks[name].views & self.given.keys()}
