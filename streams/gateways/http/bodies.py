"""The shapes in which events are sent: one JSON object, a list, JSON Lines, CloudEvents 1.0.2 alone or in a batch.

CloudEvents   event
id            id; where `source` is given the two together, which the standard says are unique
time          at
type          type, where it is one of ours; any other is a turn's
data          all other fields
subject       session, where `data` names none
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from streams.core.errors import UsageError
from streams.core.events import GIVEN
from streams.gateways.sources.shared import name_of
from streams.runtime.requests import MAX_EVENTS, decode

JSON = "application/json"
LINES = ("application/x-ndjson", "application/jsonl", "application/ndjson")
CLOUD = "application/cloudevents+json"
CLOUDS = "application/cloudevents-batch+json"
TAKEN = (JSON, *LINES, CLOUD, CLOUDS)
"""Content types. Why no other: what a page of another site may send without asking is none of them."""
OURS = {*GIVEN, *(name.rpartition(".v")[0] for name in GIVEN)}


def events_of(body: bytes, kind: str, headers: Mapping[str, str]) -> list[Any]:
    """The events of a body; `kind` is its content type, without parameters. Raises UsageError."""
    if "ce-specversion" in headers:
        return [from_cloud(_binary(body, kind, headers))]
    if kind in LINES:
        _check_count(body.count(b"\n"))
        found: Any = [_line(number, line) for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    else:
        found = decode(body)
    if kind in (CLOUD, CLOUDS):
        return [from_cloud(event) for event in (found if kind == CLOUDS and isinstance(found, list) else [found])]
    events = found if isinstance(found, list) else [found]
    _check_count(len(events))
    return events


def _line(number: int, line: bytes) -> Any:
    try:
        return decode(line)
    except UsageError as error:
        raise UsageError(f"line {number}: {error}", f"nothing was recorded; {error.way_out}") from None


def _check_count(events: int) -> None:
    if events > MAX_EVENTS:
        raise UsageError(f"{events:,} events are too many", f"send at most {MAX_EVENTS:,} at once")


def from_cloud(given: Any) -> dict[str, Any]:
    """The event in a CloudEvent. Raises UsageError for what is none."""
    needed = ("specversion", "id", "source", "type")
    missing = [name for name in needed if not isinstance(given, dict) or not isinstance(given.get(name), str)]
    if missing:
        raise UsageError(f"a CloudEvent has no {missing[0]}", f"its attributes {', '.join(needed)} are texts")
    data = given.get("data")
    if not isinstance(data, dict):
        raise UsageError("the data of a CloudEvent is no JSON object", "put the fields of a turn there")
    own: dict[str, Any] = {"id": name_of(f"{given['source']}#{given['id']}")}
    if isinstance(given.get("time"), str):
        own["at"] = given["time"]
    if isinstance(given.get("subject"), str):
        own["session"] = given["subject"]
    if given["type"] in OURS:
        own["type"] = given["type"]
    return own | data


def _binary(body: bytes, kind: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """A CloudEvent whose attributes stand in the headers."""
    if kind != JSON:
        raise UsageError(f"the data of a CloudEvent is {kind}", f"send {JSON}")
    attributes = {name[3:]: unquote(value) for name, value in headers.items() if name.startswith("ce-")}
    return attributes | {"data": decode(body)}
