"""How to reach the brokers, and how code that does not wait in an event loop talks to them."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from streams.core.errors import LogError, UsageError

try:
    import aiokafka
    from aiokafka import errors as kafka_errors
    from aiokafka.admin import AIOKafkaAdminClient
except ImportError as error:
    raise UsageError(
        "what talks to Kafka is not installed",
        "pip install 'mnemolog[kafka]', or do without brokers: MNEMOLOG_KAFKA= has the log in a file in the home",
    ) from error

if TYPE_CHECKING:
    from streams.logs.settings import Settings

T = TypeVar("T")
C = TypeVar("C", aiokafka.AIOKafkaConsumer, aiokafka.AIOKafkaProducer)

REQUEST_MS = 20_000
"""Milliseconds until a request without an answer has failed."""
BACKOFF_MS = 30
"""Milliseconds between tries; a fresh topic has its leader within some tens of them."""

# Why: without a handler Python writes the client's retries to standard error, between the lines of our own answers.
logging.getLogger("aiokafka").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Connection:
    """Which brokers, which log on them, and who we are."""

    servers: str
    """`host:port`, several with commas between."""
    prefix: str = "mnemolog"
    """What the names of all topics and groups begin with."""
    security: str = "PLAINTEXT"
    sasl: str = "PLAIN"
    user: str = ""
    password: str = field(default="", repr=False)
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    @classmethod
    def of(cls, settings: Settings) -> Connection:
        """What the environment says. Raises UsageError where it contradicts itself."""
        found = cls(
            settings.kafka,
            settings.kafka_prefix,
            settings.kafka_security,
            settings.kafka_sasl,
            settings.kafka_user,
            settings.secret("kafka_password"),
            settings.kafka_ca,
            settings.kafka_cert,
            settings.kafka_key,
        )
        if not found.servers:
            raise UsageError("no broker is named", "set MNEMOLOG_KAFKA=host:9092")
        if found.security.startswith("SASL") and not found.user:
            raise UsageError(f"{found.security} needs a user", "set MNEMOLOG_KAFKA_USER and MNEMOLOG_KAFKA_PASSWORD")
        return found

    def client(self) -> dict[str, Any]:
        """The arguments of any aiokafka client. Raises UsageError for certificates that cannot be read."""
        found: dict[str, Any] = {
            "bootstrap_servers": self.servers.split(","),
            "security_protocol": self.security,
            "request_timeout_ms": REQUEST_MS,
            "retry_backoff_ms": BACKOFF_MS,
        }
        if self.security.endswith("SSL"):
            found["ssl_context"] = self._context()
        if self.security.startswith("SASL"):
            found |= {
                "sasl_mechanism": self.sasl,
                "sasl_plain_username": self.user,
                "sasl_plain_password": self.password,
            }
        return found

    def faust(self) -> dict[str, Any]:
        """The settings `broker` and `broker_credentials` of a Faust app. Raises UsageError as `client` does."""
        from faust import SASLCredentials, SSLCredentials

        found: dict[str, Any] = {"broker": [f"kafka://{server}" for server in self.servers.split(",")]}
        context = self._context() if self.security.endswith("SSL") else None
        if self.security.startswith("SASL"):
            found["broker_credentials"] = SASLCredentials(
                username=self.user, password=self.password, mechanism=self.sasl, ssl_context=context
            )
        elif context is not None:
            found["broker_credentials"] = SSLCredentials(context)
        return found

    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None:
                context.load_cert_chain(self.cert, self.key, _encrypted)
        except OSError as error:
            raise UsageError(
                f"the certificates for {self.servers} cannot be used: {error}",
                "MNEMOLOG_KAFKA_CA, MNEMOLOG_KAFKA_CERT and MNEMOLOG_KAFKA_KEY name PEM files",
            ) from error
        return context

    @contextmanager
    def telling(self, what: str = "the brokers cannot be reached") -> Iterator[None]:
        """Turns what aiokafka raises into a LogError that says what to do."""
        try:
            yield
        except (TimeoutError, kafka_errors.KafkaError, OSError) as error:
            raise LogError(f"{what} ({self.servers}): {_said(error)}", self._way_out(error)) from error

    def _way_out(self, error: BaseException) -> str:
        match error:
            case kafka_errors.UnknownTopicOrPartitionError():
                return "`mnemolog topics create` makes what is missing"
            case (
                kafka_errors.AuthenticationFailedError()
                | kafka_errors.SaslAuthenticationFailed()
                | kafka_errors.UnsupportedSaslMechanismError()
                | kafka_errors.IllegalSaslStateError()
            ):
                return "look at MNEMOLOG_KAFKA_SECURITY, MNEMOLOG_KAFKA_SASL, MNEMOLOG_KAFKA_USER and _PASSWORD"
            case (
                kafka_errors.TopicAuthorizationFailedError()
                | kafka_errors.GroupAuthorizationFailedError()
                | kafka_errors.ClusterAuthorizationFailedError()
            ):
                return f"let {self.user or 'this client'} read, write and describe {self.prefix}.* on the brokers"
            case kafka_errors.NotEnoughReplicasError() | kafka_errors.NotEnoughReplicasAfterAppendError():
                return "too few brokers are in step; bring them back, then do it again: nothing is recorded twice"
        return "see that they run and that MNEMOLOG_KAFKA and MNEMOLOG_KAFKA_SECURITY fit their listener, then again"


def _encrypted() -> str:
    """Asked for a key's password. Why an error: OpenSSL would ask at the terminal, and a service has none."""
    raise UsageError(
        "the key of the client's certificate is encrypted",
        "give it without a password: `openssl pkey -in KEY -out PLAIN`, and guard the file",
    )


def _said(error: BaseException) -> str:
    if isinstance(error, kafka_errors.KafkaConnectionError) and "bootstrap" in str(error):
        return "nobody answers there, or not in this protocol"
    return str(error) or type(error).__name__


class Portal:
    """An event loop in a thread of its own, into which other code hands coroutines and waits for them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="mnemolog-kafka", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether it takes no more coroutines."""
        return self._loop.is_closed()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns or raises. When the wait is interrupted, the coroutine is cancelled."""
        future = self.begin(coroutine)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def begin(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Begins a coroutine, without waiting for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def soon(self, callback: Callable[[], object]) -> None:
        """Has the loop's thread call `callback`, without waiting for it; does nothing once closed."""
        if not self.closed:
            self._loop.call_soon_threadsafe(callback)

    def close(self) -> None:
        """Ends what still runs, the loop and its thread."""
        if self.closed:
            return
        self.call(_cancelled())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancelled() -> None:
    """Cancels all that runs beside; Python tells of each task that is left behind."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=2.0)


def run(connection: Connection, coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs one coroutine to its end in a loop of its own. Raises LogError for what goes wrong with the brokers."""
    with connection.telling():
        return asyncio.run(_settled(coroutine))


async def _settled(coroutine: Coroutine[Any, Any, T]) -> T:
    """Why the pause: connections that were closed as something failed end in the loop's next turns, or never."""
    try:
        return await coroutine
    except BaseException:
        await asyncio.sleep(0.01)
        raise


async def once_coordinated(ask: Callable[[], Coroutine[Any, Any, T]], patience: float = 10.0) -> T:
    """The answer to a question about a group. Brokers that never had one first make room for groups."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        try:
            return await ask()
        except kafka_errors.GroupCoordinatorNotAvailableError:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.2)


async def topics_of(consumer: aiokafka.AIOKafkaConsumer[Any, Any], patience: float = 3.0) -> set[str]:
    """The topics there are. Brokers that have just started answer before they know of each other, and of topics."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        try:
            return set(await consumer.topics())
        except kafka_errors.KafkaError as error:  # the client has no class of its own for that
            if type(error) is not kafka_errors.KafkaError or asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.1)


def heard(result: asyncio.Future[Any]) -> None:
    """Marks a failure as told: Python tells of those that nobody heard of, and who waits for all hears of the first."""
    if not result.cancelled():
        result.exception()


async def learn(consumer: aiokafka.AIOKafkaConsumer[Any, Any], topics: Iterable[str]) -> None:
    """Has a consumer find out where topics are, of all of them at once: asked for what it does not know, it finds out
    about one at a time, and each time waits for BACKOFF_MS. Asking for a topic may make it, on some brokers."""
    await asyncio.gather(*[consumer._client.add_topic(topic) for topic in topics])


@asynccontextmanager
async def started(client: C) -> AsyncIterator[C]:
    """An aiokafka consumer or producer, started, and stopped at the end whatever happens."""
    try:
        await client.start()
        await asyncio.sleep(0)  # why: aiokafka raises CancelledError where its tasks are stopped before they began
        yield client
    finally:
        await client.stop()


@asynccontextmanager
async def admin(connection: Connection) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client, started, and closed at the end whatever happens."""
    client = AIOKafkaAdminClient(**connection.client())
    try:
        await client.start()
        yield client
    finally:
        await client.close()
