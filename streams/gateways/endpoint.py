"""Questions to an OpenAI-compatible endpoint, one at a time, which may be dead, slow or babbling.

Whatever it does costs some time, and the one answer. A question has a deadline that holds for all its tries together,
an answer has a size, tries are paced, and calls and tokens have a budget. Tries again are the client's: with growing
pauses, or as long as the endpoint says. No error tells the key, nor more of a URL than its host.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import orjson
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    DefaultAsyncHttpxClient,
    OpenAIError,
)
from pydantic import BaseModel, Field, ValidationError

from streams.core.errors import MnemologError, UsageError
from streams.core.job import Job, Prompt, RefusedAnswerError, size
from streams.gateways.terminal import printable
from streams.logs.settings import Settings

TRIES = 3
MOST = 256 * 1024
"""Bytes of an answer as it comes over the wire. What was asked for has a thousand or two."""
PAUSES, LONGEST_PAUSE = 2.0, 120.0
"""Seconds that pauses between tries take together, and that one takes at most where the endpoint says how long."""
TOLD = 160
"""Characters told of an error."""
DAY = 86_400.0
MISFITS = (400, 413, 422)
"""Statuses that speak of the one question."""
PASSING = (408, 409, 425, 429)
"""Statuses, beside 500 and above, that pass."""


class NoAnswerError(Exception):
    """There was no answer in time, or the endpoint failed; another question may be answered."""


class ClosedError(MnemologError):
    """The endpoint takes no question at all: a wrong key, model or address."""


class SpentError(OpenAIError):
    """The budget is used up."""


class BabbleError(OpenAIError):
    """An answer is too long, or packed."""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    total_tokens: int = Field(0, ge=0, le=10_000_000)


class _Completion(BaseModel):
    """What is read of an answer."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer, up to MOST."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise BabbleError("too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class Endpoint:
    """An endpoint as the settings name it, and what was spent on it. `with` lets go of it."""

    def __init__(self, settings: Settings) -> None:
        """Raises UsageError where the settings name none."""
        missing = [name for name in ("url", "model") if not getattr(settings, f"annotate_{name}")]
        if missing:
            raise UsageError(
                "no model is named to ask",
                f"set {' and '.join(f'MNEMOLOG_ANNOTATE_{name.upper()}' for name in missing)}, "
                "http://localhost:11434/v1 and the name of a model there, for example",
            )
        self.model = settings.annotate_model
        self.calls = 0
        self.tokens = 0
        self._settings = settings
        self._key = settings.secret("annotate_key")
        self._began = time.monotonic()
        self._before = (0, 0)
        self._turn = 0.0
        self._dialect = 0
        self._deadline: asyncio.Timeout | None = None
        self._runner = asyncio.Runner()
        try:
            self._host = httpx2.URL(settings.annotate_url).host
            self._client = AsyncOpenAI(
                base_url=settings.annotate_url,
                api_key=self._key or "none",
                timeout=settings.annotate_seconds,
                max_retries=TRIES - 1,
                default_headers={"Accept-Encoding": "identity"},
                http_client=DefaultAsyncHttpxClient(
                    follow_redirects=False, event_hooks={"request": [self._pace], "response": [self._bound]}
                ),
            )
        except (httpx2.InvalidURL, OpenAIError, ValueError) as error:
            raise UsageError("MNEMOLOG_ANNOTATE_URL is no URL", "http://localhost:11434/v1, for example") from error
        if not self._host:
            raise UsageError("MNEMOLOG_ANNOTATE_URL names no host", "http://localhost:11434/v1, for example")

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self._runner.run(self._client.close())
        self._runner.close()

    def has_room(self, question: Prompt, room: int) -> bool:
        """Whether the budget allows a question and its answer."""
        calls, tokens = self._before
        return (
            self.calls - calls < self._settings.annotate_calls
            and self.tokens - tokens + question.tokens + room <= self._settings.annotate_tokens
        )

    def renew(self) -> bool:
        """Whether a day is over since the budget began; then it begins anew."""
        if time.monotonic() - self._began < DAY:
            return False
        self._began, self._before = time.monotonic(), (self.calls, self.tokens)
        return True

    def ask(self, job: Job[Any], question: Prompt) -> str:
        """What the model says. Raises NoAnswerError, ClosedError or RefusedAnswerError."""
        return self._runner.run(self._ask(job, question))

    def params_hash(self, job: Job[Any]) -> str:
        """What answers to a job are asked for with, beside the prompt, as a hash."""
        return hashlib.sha256(orjson.dumps(asked(job, self._dialect), option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]

    async def _ask(self, job: Job[Any], question: Prompt) -> str:
        try:
            async with asyncio.timeout(TRIES * self._settings.annotate_seconds + PAUSES) as self._deadline:
                return self._content(await self._completion(job, question), question)
        except SpentError as error:
            raise NoAnswerError(str(error)) from None
        except (TimeoutError, APITimeoutError):
            raise NoAnswerError("no answer in time") from None
        except APIConnectionError:
            raise NoAnswerError(f"{self._host} cannot be reached") from None
        except APIStatusError as error:
            self.tokens += question.tokens
            raise self._failed(error) from None
        except BabbleError as error:
            self.tokens += question.tokens + size("x" * MOST)
            raise RefusedAnswerError(f"the answer is {error}") from None

    async def _completion(self, job: Job[Any], question: Prompt) -> bytes:
        """The bytes of an answer, asked for as the endpoint understands it: servers differ in what they take."""
        for dialect in range(self._dialect, len(DIALECTS)):
            try:
                found = await self._client.chat.completions.with_raw_response.create(
                    model=self.model,
                    messages=[
                        {"role": "system", "content": question.system},
                        {"role": "user", "content": question.user},
                    ],
                    **asked(job, dialect),
                )
                self._dialect = dialect
                answer: bytes = found.http_response.content
                return answer
            except APIStatusError as error:
                if error.status_code not in MISFITS or dialect == len(DIALECTS) - 1:
                    raise
        raise AssertionError("the last dialect was answered or refused")

    def _content(self, answer: bytes, question: Prompt) -> str:
        try:
            found = _Completion.model_validate_json(answer)
        except ValidationError:
            self.tokens += question.tokens + size(answer.decode(errors="replace"))
            raise RefusedAnswerError("the answer is no chat completion") from None
        content = found.choices[0].message.content or ""
        spent = found.usage.total_tokens if found.usage else 0
        self.tokens += spent or question.tokens + size(content)
        if found.choices[0].finish_reason == "length":
            raise RefusedAnswerError("the answer was cut off")
        return content

    def _failed(self, error: APIStatusError) -> Exception:
        status = error.status_code
        said = printable(error.response.text)[:TOLD].replace("\n", " ")
        said = f"{self._host} answers {status}: {said.replace(self._key, '***') if self._key else said}"
        if status in MISFITS:
            return RefusedAnswerError(said)
        if status in PASSING or status >= 500:
            return NoAnswerError(said)
        return ClosedError(said, "mend MNEMOLOG_ANNOTATE_URL, _MODEL or _KEY; what was written stays")

    async def _pace(self, request: httpx2.Request) -> None:
        """Before each try: waits for its turn, and counts it."""
        if self.calls - self._before[0] >= self._settings.annotate_calls:
            raise SpentError("the budget of calls is used up")
        now = asyncio.get_running_loop().time()
        if self._turn > now:
            self._wait_longer(self._turn - now)
            await asyncio.sleep(self._turn - now)
        self._turn = max(now, self._turn) + 60 / self._settings.annotate_rate
        self.calls += 1

    async def _bound(self, response: httpx2.Response) -> None:
        """Before an answer is read: no more of it than MOST, and nothing that grows when it is unpacked."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise BabbleError("packed, which it was asked not to be")
        response.stream = _Bounded(response.stream)
        if response.status_code >= 400:
            said = response.headers.get("retry-after", "")
            self._wait_longer(min(float(said), LONGEST_PAUSE) if said.isdecimal() else 0.0)

    def _wait_longer(self, seconds: float) -> None:
        """Pauses that were asked for do not count as waiting for an answer."""
        if self._deadline is not None and (when := self._deadline.when()) is not None:
            self._deadline.reschedule(when + seconds)


REASONING = 8
"""Times the room of an answer, for models that think in tokens."""
DIALECTS = ("schema", "plain", "reasoning")
"""With a schema for the answer; without, for servers that know none; as models that reason are asked."""


def asked(job: Job[Any], dialect: int) -> dict[str, Any]:
    """How an answer is asked for, beside the prompt."""
    if DIALECTS[dialect] == "reasoning":
        return {"max_completion_tokens": REASONING * job.room}
    plain: dict[str, Any] = {"temperature": 0.0, "max_tokens": job.room}
    if DIALECTS[dialect] == "plain":
        return plain
    schema = {"name": job.name, "strict": True, "schema": job.answer.model_json_schema()}
    return plain | {"response_format": {"type": "json_schema", "json_schema": schema}}
