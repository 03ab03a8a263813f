"""The version of this package, which is part of every signature, and
checksums of its code.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

__version__: Final = "4.0.0"
PACKAGE: Final = Path(__file__).resolve().parent.parent
_CODE: Final = (".py", ".css", ".js")


@cache
def hash_code(*places: Path) -> str:
    """sha256 of the code in these files and folders: the names and bytes of `.py`,
    `.css`, `.js`.

    What is stored carries that of the code it was made by, so that an edit makes again
    what depends on it, and nothing else.
    """
    digest = hashlib.sha256()
    for root in places:
        files = root.rglob("*") if root.is_dir() else [root]
        for path in sorted(file for file in files if file.suffix in _CODE):
            digest.update(f"{path.relative_to(root.parent).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
