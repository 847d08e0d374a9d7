"""Standing: given what a person says to hold from then on, then whoever answers is told of it, whatever is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from processors.standing import StandingTold
from streams.core.events import NoteSettled, NoteTaken
from tests.spaces import SPACE, Remembering

RULE = "Never push anything to main without asking me first, please."
ALLERGY = "I'm coeliac, so nothing with wheat in it for me."
"""Two that are as likely as anything that people say."""


def test_placeholder() -> None:
    assert True
