"""What the environment says: MNEMOLOG_HOME and MNEMOLOG_SPACE. Options on the command line outrank it."""

from __future__ import annotations

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from streams.edge import DEFAULT_SPACE


class Settings(BaseSettings):
    """Settings of a person or a service."""

    model_config = SettingsConfigDict(env_prefix="MNEMOLOG_", env_ignore_empty=True, frozen=True)

    home: Path = Path("~/.mnemolog")
    """The home of all commands that are given none."""
    space: str = DEFAULT_SPACE
    """The space of turns that name none, and of questions that ask for none."""
