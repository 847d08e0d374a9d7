"""How alike two texts are beyond the words that they share: an optional table of what words are near (`[semantic]`).

    word(w)         = sum of the table's rows of its pieces              whole numbers, in 16ths
    vector(text)    = sum of word(w), scaled to the length LENGTH        whole numbers between -127 and 127
    likeness(a, b)  = a * b / LENGTH^2, in hundredths                    -100 opposite, 100 the same words

The table comes with the package wordllama, which needs no network; its rows are rounded once, when it is loaded, and
from then on only whole numbers are added and multiplied, so every platform decides alike. Of another table than the one
that weights were learned with nothing is computed: its files are known by their hash.

Source: static token vectors taken from a language model and trained on pairs of sentences (WordLlama, Miller 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, distribution
from math import isqrt
from typing import Any

from streams.core.errors import UsageError

WEIGHTS, TOKENS = (
    "wordllama/weights/l2_supercat_256.safetensors",
    "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
)
KNOWN = "d6799f2c0915e2bb"
"""Of both files, one after the other."""
SIZE, LENGTH = 256, 512
MOST = 400
"""Words of a text that are read."""
WAY_OUT = "pip install 'mnemolog[semantic]'"


class Table:
    """What words are near. Exact: all sums and products are whole numbers that floats of 32 bits hold."""

    def __init__(self) -> None:
        """Raises UsageError where the package is missing, or is another one."""
        try:
            import numpy as np
            from tokenizers import Tokenizer

            package = distribution("wordllama")
            weights, tokens = (package.locate_file(name).read_bytes() for name in (WEIGHTS, TOKENS))  # type: ignore[attr-defined]
        except (ImportError, PackageNotFoundError, FileNotFoundError):
            raise UsageError("what tells alike words is not installed", WAY_OUT) from None
        if blake2b(weights + tokens, digest_size=8).hexdigest() != KNOWN:
            raise UsageError("another table of alike words is installed than what was learned with", WAY_OUT)
        rows = np.frombuffer(weights, np.float16, offset=8 + int.from_bytes(weights[:8], "little")).reshape(-1, SIZE)
        self._numpy: Any = np
        self._rows = np.rint(rows.astype(np.float32) * 16).astype(np.int16)
        self._pieces = Tokenizer.from_buffer(tokens)
        self._pieces.no_truncation()
        self._pieces.no_padding()
        self._word = lru_cache(maxsize=1 << 15)(self._look)

    def _look(self, word: str) -> Any:
        return self._rows[self._pieces.encode(word, add_special_tokens=False).ids].sum(0, dtype=self._numpy.int32)

    def vector(self, text: str) -> bytes:
        """What a text is about: SIZE signed bytes."""
        np = self._numpy
        words = text.casefold().split()[:MOST]
        summed = (
            np.sum([self._word(word[:64]) for word in words], 0, dtype=np.int64) if words else np.zeros(SIZE, np.int64)
        )
        return self._scaled(summed)

    def together(self, vectors: Sequence[bytes]) -> bytes:
        """What some texts are about together, by their vectors, each of which counts the same."""
        return self._scaled(self._laid(vectors).sum(0, dtype=self._numpy.int64))

    def _scaled(self, summed: Any) -> bytes:
        np = self._numpy
        length = isqrt(int(summed @ summed)) or 1
        return bytes(np.clip((summed * 2 * LENGTH + length) // (2 * length), -127, 127).astype(np.int8))

    def _laid(self, vectors: Sequence[bytes]) -> Any:
        """A row each."""
        return self._numpy.frombuffer(b"".join(vectors), self._numpy.int8).reshape(-1, SIZE)

    def likeness(self, one: bytes, others: Sequence[bytes]) -> list[int]:
        """How alike each of some vectors is to one, in hundredths."""
        np = self._numpy
        products = self._laid(others).astype(np.float32) @ np.frombuffer(one, np.int8).astype(np.float32)
        return list((products.astype(np.int64) * 100 // LENGTH**2).tolist())


@cache
def table() -> Table:
    """The table, loaded once. Raises UsageError where it cannot be."""
    return Table()
