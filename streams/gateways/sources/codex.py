"""Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, cold ones `.jsonl.zst`.

| in the file | in the log |
|---|---|
| `session_meta.id` of the first line | `session`; in a fork further ones follow, of the sessions that it copied |
| `session_meta.cwd` | the space, where none was asked for |
| `response_item` | a turn, as in `responses` |
| its place after those before it in the session that it was said in | `id`: forks add only what was said in them |
| user messages that Codex puts in (environment, AGENTS.md, instructions) | system turns |
| `compacted.message`, a model's summary | a system turn; its `replacement_history` was said before |
| `event_msg` `thread_rolled_back` | `turn-retracted` for that many prompts and what followed them |
| other `event_msg` (they say again what items say), `turn_context` | left out |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Input, Source
from streams.gateways.sources.responses import Item
from streams.gateways.sources.shared import Fields, Json, Unfit, hashed, mapped, name_of, project_space, retraction

AGENT = "codex"
PROMPTS = 200
"""Prompts that can be rolled back."""
CALLS = 200
_PUT_IN = re.compile(
    r"\s*(<(environment_context|user_instructions|permissions|turn_aborted|user_shell_command|skill|INSTRUCTIONS|"
    r"subagent_notification|collaboration_mode)\b|# AGENTS\.md instructions)"
)


class Session:
    """The turns of one rollout. `state` is what has to be known to go on in the middle of it."""

    def __init__(self, space: str = "", agent: str = "", state: Json | None = None) -> None:
        self.state: Json = state or {"space": space, "session": "", "chain": "", "calls": {}, "prompts": []}
        self.agent = agent or AGENT

    def __call__(self, line: Any) -> Iterator[Fields]:
        """The events of a line."""
        if not isinstance(line, dict):
            raise Unfit("line", "must be an object")
        kind = line.get("type")
        payload: Any = line.get("payload")
        if kind in ("session_meta", "response_item", "event_msg", "compacted") and not isinstance(payload, dict):
            raise Unfit("payload", "must be an object")
        if kind == "session_meta":
            self._begin(payload)
        elif kind == "response_item":
            yield self._turn(line, Item(payload))
        elif kind == "compacted" and isinstance(payload.get("message"), str) and payload["message"]:
            yield self._turn(line, Item({"role": "system", "content": payload["message"]}))
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            yield from self._rolled_back(int(payload["num_turns"]), line.get("timestamp"))

    def _begin(self, about: Json) -> None:
        if not self.state["session"]:
            self.state["session"] = name_of(about.get("id"))
            self.state["space"] = self.state["space"] or project_space(about.get("cwd"))
            self.state["chain"] = str(about.get("forked_from_id") or about.get("id"))
        else:
            self.state["chain"] = str(about.get("id"))

    def _turn(self, line: Json, item: Item) -> Fields:
        bare = [{key: value for key, value in part.items() if key not in ("id", "status")} for part in item.parts]
        self.state["chain"] = hashed(self.state["chain"], item.role, item.content, bare)
        role = "system" if item.role == "user" and _PUT_IN.match(item.content) else item.role
        turn: Fields = {"id": self.state["chain"], "session": self.state["session"], "role": role}
        turn |= {"content": item.content, "parts": item.parts, "at": line.get("timestamp")}
        if self.state["space"]:
            turn["space"] = self.state["space"]
        if role == "assistant":
            turn["agent"] = self.agent
        calls = self.state["calls"]
        if item.is_result:
            turn["reply_to"] = calls.get(item.call, "")
        elif item.call:
            calls[item.call] = turn["id"]
            if len(calls) > CALLS:
                calls.pop(next(iter(calls)))
        prompts = self.state["prompts"]
        if role == "user":
            prompts.append([])
            del prompts[:-PROMPTS]
        if prompts:
            prompts[-1].append(turn["id"])
        return turn

    def _rolled_back(self, count: int, at: object) -> Iterator[Fields]:
        prompts = self.state["prompts"]
        gone = prompts[len(prompts) - min(count, len(prompts)) :]
        del prompts[len(prompts) - len(gone) :]
        for turn in (turn for prompt in gone for turn in prompt):
            yield retraction(turn, self.state["session"], self.state["space"], at)


gathered = iter
"""Each line by itself."""


def _mapping(given: Input) -> Session:
    return Session(given.space, given.agent)


SOURCE = Source(
    "codex",
    "Codex rollouts",
    (".jsonl",),
    mapped(_mapping, grows=True),
    (r'"payload"\s*:\s*\{', r'"type"\s*:\s*"(session_meta|response_item|event_msg|turn_context|compacted)"'),
)
