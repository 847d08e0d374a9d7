"""What the wheel holds beside the packages: mnemolog.py, as a package with a marker.

A type checker reads the types of an installed package that has a file py.typed (PEP 561); a single module can have
none. In the repository, and where it is installed to be worked on, it stays the one file that needs nothing else.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Embedded(BuildHookInterface):
    """Puts the module that users embed into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built, `version` being "editable" for one that points to the repository."""
        self.made = (
            TemporaryDirectory()
        )  # a file that is put elsewhere is no longer where it was: the marker is a new one
        if version != "editable":
            marker = Path(self.made.name) / "py.typed"
            marker.touch()
            build_data["force_include"] |= {"mnemolog.py": "mnemolog/__init__.py", str(marker): "mnemolog/py.typed"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when it is built."""
        self.made.cleanup()
