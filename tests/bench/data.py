"""Where the evaluation data is: MNEMOLOG_DATA, else the folder `shared/data` nearest above this checkout."""

from __future__ import annotations

import os
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]


def folder() -> Path:
    """The folder of evaluation data. It may not be there; then what needs it measures nothing."""
    if named := os.environ.get("MNEMOLOG_DATA"):
        return Path(named)
    near = [parent / "shared" / "data" for parent in HOUSE.parents]
    return next(filter(Path.is_dir, near), near[0])


DATA = folder()
ABSENT = f"no evaluation data in {DATA} (MNEMOLOG_DATA names its folder)"
