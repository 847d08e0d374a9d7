"""What the environment says, in MNEMOLOG_HOME, MNEMOLOG_KAFKA and so on. Options on the command line outrank it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from streams.core import DEFAULT_SPACE
from streams.core.errors import UsageError
from streams.logs import DEFAULT_HOME


class Settings(BaseSettings):
    """Settings of a person or a service."""

    model_config = SettingsConfigDict(env_prefix="MNEMOLOG_", env_ignore_empty=True, frozen=True)

    def __init__(self, **given: Any) -> None:
        """What the environment says, and `given` instead. Raises UsageError for what cannot be."""
        try:
            super().__init__(**given)
        except ValidationError as error:
            faults = [(f"MNEMOLOG_{'_'.join(map(str, e['loc'])).upper()}", e["msg"]) for e in error.errors()]
            raise UsageError(
                "; ".join(f"{name}: {fault}" for name, fault in faults),
                f"unset or mend {', '.join(name for name, _ in faults)} in the environment",
            ) from None

    home: Path = Path(DEFAULT_HOME)
    """The home of all commands that are given none."""
    space: str = DEFAULT_SPACE
    """The space of turns that name none, and of questions that ask for none."""
    log: Literal["", "json", "text"] = ""
    """How workers and the projector log; text on a terminal, else JSON, where it is not said."""
    encryption: bool = False
    """Whether what is recorded is under keys, one for each space; a home in which it once is stays so."""
    encryption_passphrase: SecretStr = SecretStr("")
    """What the keys in the home are encrypted with, where it is said."""
    encryption_passphrase_file: Path | None = None
    """File that holds it, where it is to stand in no environment; nobody but its owner may read it."""
    kafka: str = ""
    """`host:port`, several with commas between: the log is on these brokers. Empty: it is a file in the home."""
    kafka_prefix: str = "mnemolog"
    """What the names of all topics and consumer groups begin with: one log a prefix."""
    kafka_security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """The protocol of the brokers' listener."""
    kafka_sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    """How user and password are told to a SASL listener."""
    kafka_user: str = ""
    kafka_password: SecretStr = SecretStr("")
    kafka_password_file: Path | None = None
    """File that holds the password, where it is to stand in no environment."""
    kafka_ca: Path | None = None
    """PEM file with the authorities that may sign the brokers' certificates; the system's own where none is given."""
    kafka_cert: Path | None = None
    """PEM file with this client's certificate, where brokers ask for one."""
    kafka_key: Path | None = None
    """PEM file with the key of `kafka_cert`, where the same file does not hold it."""
    annotate_url: str = ""
    """An OpenAI-compatible endpoint that `mnemolog annotate` asks: http://localhost:11434/v1, for example."""
    annotate_model: str = ""
    """The model there."""
    annotate_key: SecretStr = SecretStr("")
    """The endpoint's key; many on one's own machine need none."""
    annotate_key_file: Path | None = None
    """File that holds the key, where it is to stand in no environment."""
    annotate_rate: float = Field(60.0, gt=0, le=100_000)
    """Calls a minute."""
    annotate_calls: int = Field(500, ge=1)
    """Calls that a run may make, tries again included; with --follow, a day."""
    annotate_tokens: int = Field(1_000_000, ge=1)
    """Tokens that a run may use, sent and answered; with --follow, a day."""
    annotate_seconds: float = Field(60.0, gt=0, le=3600)
    """How long the endpoint may take for a try."""

    def secret(self, name: str) -> str:
        """The secret of a name, or the first line of the file that `NAME_file` names. Raises UsageError."""
        path: Path | None = getattr(self, f"{name}_file")
        if path is None:
            found: SecretStr = getattr(self, name)
            return found.get_secret_value()
        try:
            return path.read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{path} cannot be read: {error}", f"MNEMOLOG_{name.upper()}_FILE names a text file"
            ) from error
