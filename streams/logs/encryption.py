"""Contents under keys: one for each space, so that to destroy it destroys what any copy of the log holds of that space.

    HOME/encryption/ID          a key, bare, or encrypted with what a passphrase gives; nobody else may read it
    HOME/encryption/.passphrase how that is made of the passphrase: its salt

Backups and archives copy the log alone, so they hold what the log holds of an event: the byte SEALED, the key's id, a
nonce, and the event's bytes by AES-256-GCM, its space and type authenticated with them. The id it is stored under is a
keyed hash: producers' ids may say much, and those that the edge makes are hashes of words. What stays in clear is what
the log orders by: space, type, time of recording and length; and receipts of erasures, which say nothing of anybody.

Nonces are random: a key is for fewer than 2^32 events. Why the key is not of the passphrase: then nothing could be
destroyed. Where a file was is overwritten before it goes; file systems and disks that write elsewhere keep it all the
same, so that a passphrase from elsewhere (and a disk that is encrypted) is worth having.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from streams.core.driver import Record
from streams.core.errors import LogError, UsageError
from streams.logs.whole import put

FOLDER = "encryption"
SETTING = "MNEMOLOG_ENCRYPTION"
SALT = ".passphrase"
SEALED = b"\1"
"""What a sealed value begins with; one in clear is JSON."""
ID_BYTES, NONCE_BYTES, KEY_BYTES, NAME_BYTES = 8, 12, 32, 12
HEAD = len(SEALED) + ID_BYTES
COST = 2**15
"""Of scrypt: 32 MiB and a tenth of a second, once a process."""
MISSING = "bring it back from where you keep it, or give up what it is for: `mnemolog encryption destroy --space S`"


class StoredEvent(NamedTuple):
    """An event as a log stores it."""

    space: str
    id: str
    """Under a key its name by that, not the producer's."""
    type: str
    value: bytes


def is_sealed(value: bytes) -> bool:
    """Whether a stored value is under a key."""
    return value[:1] == SEALED


def key_of(value: bytes) -> str:
    """The id of the key that a sealed value is under."""
    return value[1:HEAD].hex()


class Cipher:
    """One key, at work."""

    def __init__(self, id_: str, key: bytes) -> None:
        self.id = id_
        self._aead = _aead(key)
        self._naming = blake2b(b"ids", key=key).digest()
        self._head = SEALED + bytes.fromhex(id_)
        self._wrong = _wrong()

    def name(self, id_: str) -> str:
        """What an event's id is stored as."""
        said = id_.encode(errors="surrogatepass")
        return blake2b(said, key=self._naming, digest_size=NAME_BYTES).hexdigest()

    def seal(self, space: str, type_: str, value: bytes) -> bytes:
        """An event's bytes as they are stored."""
        nonce = os.urandom(NONCE_BYTES)
        sealed: bytes = self._aead.encrypt(nonce, value, _said(space, type_))
        return self._head + nonce + sealed

    def unseal(self, space: str, type_: str, value: bytes) -> bytes:
        """The event's bytes. Raises LogError where the key is not the one, or the value is damaged."""
        try:
            opened: bytes = self._aead.decrypt(
                value[HEAD : HEAD + NONCE_BYTES], value[HEAD + NONCE_BYTES :], _said(space, type_)
            )
        except self._wrong as error:
            raise LogError(
                f"an event of space {space!r} is not under the key that the home has as {self.id}",
                f"bring back {FOLDER}/{self.id} as it was",
            ) from error
        return opened


class Keys:
    """The keys of a home."""

    def __init__(self, home: Path, without: Collection[str] = ()) -> None:
        """`without` names keys that are taken for destroyed."""
        self.folder = home / FOLDER
        self.without = frozenset(without)
        self._ciphers: dict[str, Cipher] = {}
        self._spare: dict[str, Cipher] = {}
        """Keys by space that no event is under yet."""
        self._wrapping: Any = None

    def is_on(self) -> bool:
        """Whether new spaces get keys."""
        return self.folder.is_dir()

    def switch_on(self) -> None:
        """From now on new events are under keys, whoever records them. Raises UsageError where they cannot be."""
        _aead(bytes(KEY_BYTES))
        self.folder.mkdir(0o700, parents=True, exist_ok=True)

    def holds(self, id_: str) -> bool:
        """Whether a key is here."""
        return id_ not in self.without and (self.folder / id_).exists()

    def make(self, space: str) -> Cipher:
        """A new key, which is on the disk when this returns; the same one until it is `taken`."""
        if (spare := self._spare.get(space)) and self.holds(spare.id):
            return spare
        self.switch_on()
        id_, key = os.urandom(ID_BYTES).hex(), os.urandom(KEY_BYTES)
        about = {"space": space}
        if wrapping := self._wrapped_by(make=True):
            nonce = os.urandom(NONCE_BYTES)
            about["wrapped"] = b64encode(nonce + wrapping.encrypt(nonce, key, id_.encode())).decode()
        else:
            about["key"] = b64encode(key).decode()
        _write(self.folder / id_, orjson.dumps(about))
        made = self._ciphers[id_] = self._spare[space] = Cipher(id_, key)
        return made

    def taken(self, space: str) -> None:
        """Events are recorded under the key that was made for a space."""
        self._spare.pop(space, None)

    def of(self, space: str) -> list[str]:
        """All keys of a space that are here, also those that the log (an older one, restored) does not know."""
        found: list[str] = []
        for path in self.folder.glob("[!.]*"):
            with suppress(OSError, ValueError, AttributeError):
                if orjson.loads(path.read_bytes()).get("space") == space:
                    found.append(path.name)
        return sorted(found)

    def find(self, id_: str) -> Cipher | None:
        """A key at work; None where it is not here. Raises LogError or UsageError for one that cannot be used."""
        known = self._ciphers.get(id_)
        if known is None and self.holds(id_):
            known = self._ciphers[id_] = Cipher(id_, self._key(id_))
        return known

    def _key(self, id_: str) -> bytes:
        path = self.folder / id_
        try:
            about = orjson.loads(_private(path))
            if "key" in about:
                return b64decode(about["key"])
            wrapped = b64decode(about["wrapped"])
        except (ValueError, KeyError, TypeError) as error:
            raise LogError(f"{path} is no key", "bring it back as it was") from error
        wrapping = self._wrapped_by(make=False)
        if wrapping is None:
            way_out = f"set {SETTING}_PASSPHRASE, or {SETTING}_PASSPHRASE_FILE"
            raise UsageError(f"the keys in {self.folder} are under a passphrase", way_out)
        try:
            return bytes(wrapping.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], id_.encode()))
        except _wrong() as error:
            wrong = f"{path} is not under this passphrase"
            raise UsageError(wrong, f"set the one in {SETTING}_PASSPHRASE that it was made under") from error

    def _wrapped_by(self, make: bool) -> Any:
        """What encrypts keys, made of the passphrase in the settings; None where there is none."""
        if self._wrapping is None and any(os.environ.get(f"{SETTING}_PASSPHRASE{end}") for end in ("", "_FILE")):
            from streams.logs.settings import Settings

            settings = Settings()
            if settings.encryption_passphrase_file is not None:
                _private(settings.encryption_passphrase_file)
            phrase = settings.secret("encryption_passphrase")
            if not phrase:
                raise UsageError("the passphrase is empty", f"give {SETTING}_PASSPHRASE words")
            salt = self.folder / SALT
            if make and not salt.exists():
                _write(salt, os.urandom(16).hex().encode())
            self._wrapping = _wrapping(phrase, _private(salt))
        return self._wrapping


def unsealed(records: Iterable[Record], find: Callable[[str], Cipher | None]) -> Iterator[Record]:
    """Records as they are read, of records as they are stored; `find` has the keys. Raises what they raise."""
    ciphers: dict[str, Cipher | None] = {}
    for record in records:
        partition, offset, space, recorded_at, type_, value, hash_ = record
        if is_sealed(value):
            if (key := key_of(value)) not in ciphers:
                ciphers[key] = find(key)
            cipher = ciphers[key]
            opened = cipher.unseal(space, type_, value) if cipher else b""
            record = Record(partition, offset, space, recorded_at, type_, opened, hash_)
        yield record


def shred(path: Path) -> None:
    """Overwrites a file where it lies and deletes it, where it is there."""
    with suppress(FileNotFoundError), path.open("rb+") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink(missing_ok=True)


def _wrapping(phrase: str, salt: bytes) -> Any:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return _aead(Scrypt(salt=salt, length=KEY_BYTES, n=COST, r=8, p=1).derive(phrase.encode(errors="surrogatepass")))


def _aead(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise UsageError("what encrypts is not installed", "pip install 'mnemolog[encryption]'") from None
    return AESGCM(key)


def _wrong() -> tuple[type[Exception], ...]:
    """What is raised where a key is not the one."""
    from cryptography.exceptions import InvalidTag

    return InvalidTag, ValueError


def _said(space: str, type_: str) -> bytes:
    return f"{space}\0{type_}".encode(errors="surrogatepass")


def _private(path: Path) -> bytes:
    """What a file says. Raises UsageError for one that cannot be read, or that others can read."""
    try:
        if path.stat().st_mode & 0o077:
            raise UsageError(f"{path} can be read by others than its owner", f"chmod 600 {path}")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "bring it back, or change its rights") from error


def _write(path: Path, said: bytes) -> None:
    """Makes a file that is whole on the disk, for its owner alone."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(said)
    put(partial, path)
