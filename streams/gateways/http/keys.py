"""Keys: who may ask a server, in which spaces, and whether to read or to write.

They stand in `keys.json` in the home, hashed: who reads the file cannot ask with it. A key is 256 random bits, so that
one round of SHA-256 is enough; passwords, which people think up, would need a slow hash.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from projections.lock import locked
from streams.core.errors import BusyError, MnemologError, UsageError

FILE = "keys.json"
PREFIX = "mnemo_"
"""What keys begin with, so that those who look for secrets in code know them."""

May = Literal["read", "write"]


class Key(BaseModel):
    """What one key allows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100, pattern=r"^[\w.@-]+$")
    hash: str
    """SHA-256 of the key, in hex."""
    spaces: list[str] | None
    """The spaces that it is for; None for all."""
    may: list[May] = ["read", "write"]


class _File(BaseModel):
    keys: list[Key] = []


def hashed(token: str) -> str:
    """What is kept of a key."""
    return sha256(token.encode(errors="replace")).hexdigest()


class Keys:
    """The keys of a home; follows the file as others change it."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self._seen: tuple[int, int] | None = None
        self._by_hash: dict[str, Key] = {}

    def all(self) -> list[Key]:
        """All keys. Raises UsageError for a file that is damaged."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._seen, self._by_hash = None, {}
            return []
        if (now := (found.st_mtime_ns, found.st_ino)) != self._seen:
            self._by_hash = {key.hash: key for key in self._read()}
            self._seen = now
        return [*self._by_hash.values()]

    def find(self, token: str) -> Key | None:
        """The key that is written so."""
        self.all()
        return self._by_hash.get(hashed(token))

    def add(self, name: str, spaces: Sequence[str] | None, may: Sequence[May]) -> str:
        """Makes a key; it is told this once. Raises UsageError for a name that is taken or none."""
        if spaces is not None and not all(spaces):
            raise UsageError("a space without a name is none: the key would be for nothing", "name it with --space")
        token = PREFIX + secrets.token_urlsafe(32)
        try:
            key = Key(name=name, hash=hashed(token), spaces=None if spaces is None else [*spaces], may=[*may])
        except ValidationError:
            raise UsageError(f"{name!r} cannot name a key", "use letters, digits, '-', '_', '.' and '@'") from None
        with self._changing():
            keys = self.all()
            if any(known.name == name for known in keys):
                raise UsageError(f"there is a key {name!r}", "`mnemolog keys remove` it first, or choose another name")
            self._write([*keys, key])
        return token

    def remove(self, name: str) -> None:
        """Makes a key worthless, at once. Raises UsageError where there is none of that name."""
        with self._changing():
            keys = self.all()
            if all(key.name != name for key in keys):
                raise UsageError(f"there is no key {name!r}", f"keys: {', '.join(key.name for key in keys) or 'none'}")
            self._write([key for key in keys if key.name != name])

    def _changing(self) -> AbstractContextManager[object]:
        return locked(self.path.with_suffix(".lock"), 10.0, lambda: BusyError(f"{self.path} is being changed", "wait"))

    def _read(self) -> list[Key]:
        try:
            return _File.model_validate_json(self.path.read_bytes()).keys
        except ValidationError as error:
            said = error.errors()[0]["msg"]
            raise MnemologError(f"{self.path} is damaged: {said}", "remove it, and add keys again") from None

    def _write(self, keys: list[Key]) -> None:
        part = self.path.with_suffix(".part")
        with open(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(orjson.dumps(_File(keys=keys).model_dump(), option=orjson.OPT_INDENT_2))
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)
        self._seen = None
