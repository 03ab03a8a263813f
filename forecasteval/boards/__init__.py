"""Results as tables: rankings, paired comparisons, stored results and the nightly run over a folder.

This wing knows results (their items, signature or ranking), and no benchmark: the nightly run is handed the function
that scores a file. `rank` and `compare` are what Python users need.
"""

from .comparison import compare
from .ranking import rank

__all__ = ["compare", "rank"]
