"""Old name of `forecasteval.custom`, for benchmarks of other packages; it
goes after 4.0.
"""

import warnings

from forecasteval.custom import (
    ITEMS,
    Benchmark,
    InputError,
    JsonObject,
    Option,
    QuestionEvaluator,
    Score,
    Unread,
    first_keys,
)

__all__ = [
    "ITEMS",
    "Benchmark",
    "InputError",
    "JsonObject",
    "Option",
    "PlainEvaluator",
    "Score",
    "Unread",
    "first_keys",
]

PlainEvaluator = QuestionEvaluator

warnings.warn(
    "forecasteval.plain is forecasteval.custom now, and PlainEvaluator is "
    "QuestionEvaluator; "
    "the old names go after 4.0",
    DeprecationWarning,
    stacklevel=2,
)
