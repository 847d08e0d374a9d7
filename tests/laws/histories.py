"""Histories for the laws: a small grammar of how people and agents really talk, in which every kind of event occurs.

A history is made of moves; each move becomes one outside event. Hypothesis draws and shrinks the moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from streams.events import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    ClockTicked,
    ConsolidationRequested,
    ContradictionJudged,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    Outside,
    SessionEnded,
    SummaryWritten,
    TurnRecorded,
    TurnRetracted,
)

START = 1_770_000_000 * SECOND

TOPICS = (
    ("the checkout page", "payment timeout in gateway.py", "retrying the stripe webhook"),
    ("the offsite in Lisbon", "the hotel budget for twelve people", "booking the train from Porto"),
    ("the search index", "slow queries in tantivy_index.rs", "rebuilding the shards at night"),
    ("my sourdough bread", "the starter smells of acetone", "a longer proof in the fridge"),
    ("the quarterly report", "the variance table for Marta", "exporting ledger_2026.csv"),
    ("das Gartenhaus", "die Dachrinne am Schuppen", "neue Bretter aus Lärche"),
)

SAYINGS = {
    "open": "Hi! I need help with {0}: {1} keeps failing, can you look at it?",
    "work": "For {0} I looked at {1} and tried {2}.",
    "detail": "{1} shows error 4{n} when {2} runs, see #{n}.",
    "answer": "The answer is {2}, because {1} was wrong.",
    "fixed": "That fixed it, {1} works now.",
    "perfect": "Perfect, thank you! That's all for {0}.",
    "done": "Done. I have merged the change for {1}.",
    "failed": "{2} does not work because {1} is read-only.",
    "asked": "Is {1} done yet?",
    "shift": "By the way, about {0}: {1}?",
    "back": "Back to {0}: what about {1}?",
    "small": "Good morning! Lovely weather today, how was your weekend?",
    "thanks": "Thanks, bye!",
    "remind": "Remind me tomorrow to check {1} for {0}.",
    "soon": "We should do {2} soon, when you get a chance.",
    "name": "ann: did {1} help with {0}?",
    "lead": "One more thing.",
    "empty": "",
    "states": "Actually my favourite colour is {1}-green. I live in Lisbon{n}.",
    "moved": "I moved to Porto{n}; I no longer work at {1}.",
    "prefers": "I prefer {2}. My phone number is not 555-01{n} but 555-02{n}.",
    "odd": "\u202e🤖 \x00 ## {1} ```\nis it done?\n``` 東京の天気",
}
FACTS = (
    *("retract", "declare", "close", "reopen", "decline", "flag", "note", "settle", "end", "summary", "tick"),
    *("recall", "recall", "reward", "pin", "consolidate", "judge"),
)


@dataclass(frozen=True)
class Move:
    """One event to come: what, about which topic, where, by whom, how long after the one before."""

    kind: str
    topic: int = 0
    space: int = 0
    session: int = 0
    agent: int = 0
    gap: int = MINUTE
    back: int = 1
    """Which of the turns before a fact is about."""


GAPS = (0, SECOND, MINUTE, 20 * MINUTE, 3 * HOUR, 30 * HOUR, 8 * DAY, -2 * MINUTE, -DAY)

moves = st.builds(
    Move,
    st.sampled_from([*SAYINGS, *SAYINGS, *FACTS]),
    st.integers(0, len(TOPICS) - 1),
    st.integers(0, 1),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(GAPS),
    st.integers(1, 6),
)
histories = st.lists(moves, min_size=1, max_size=60)


def outside(history: list[Move]) -> list[Outside]:
    """The events of a history; a pure function of its moves."""
    events: list[Outside] = []
    turns: dict[str, list[TurnRecorded]] = {"s0": [], "s1": []}
    at = START
    for n, move in enumerate(history):
        at = max(START, at + move.gap)
        event = _event(move, n, at, turns[f"s{move.space}"])
        events.append(event)
        if isinstance(event, TurnRecorded):
            turns[event.space].append(event)
    return events


def _event(move: Move, n: int, at: int, before: list[TurnRecorded]) -> Outside:
    space, id_, session = f"s{move.space}", f"e{n}", f"c{move.session}"
    if move.kind in SAYINGS:
        text = SAYINGS[move.kind].format(*TOPICS[move.topic], n=n % 7)
        role = ("user", "assistant", "user")[move.agent]
        reply_to = before[-move.back].id if before and move.kind == "name" and len(before) >= move.back else ""
        agent = ("ann", "bot", "ben")[move.agent]
        return TurnRecorded(space, id_, at, session, agent, role, text, [], reply_to)  # type: ignore[arg-type]
    about = before[-min(move.back, len(before))] if before else None
    shown = [turn.id for turn in before[-9 :: max(1, move.back % 3)]] or ["nobody-said-it"]
    turn, session = (about.id, about.session) if about else ("nobody-said-it", session)
    name = f"effort-{move.topic}"
    match move.kind:
        case "retract":
            return TurnRetracted(space, id_, at, session, turn)
        case "declare":
            return EffortDeclared(space, id_, at, session, name if move.back % 2 else "", TOPICS[move.topic][0], turn)
        case "close":
            return EffortClosed(space, id_, at, session, name if move.back % 2 else "", turn, "as agreed")
        case "reopen":
            return EffortReopened(space, id_, at, session, name if move.back % 2 else "", turn)
        case "decline":
            return OfferDeclined(space, id_, at, session, turn)
        case "flag":
            return ImportanceFlagged(space, id_, at, session, turn, "high" if move.back > 2 else "normal")
        case "note":
            ttl = ("urgent", "normal", "low", 90)[move.back % 4]
            content = f"check {TOPICS[move.topic][1]}"
            return NoteTaken(space, id_, at, f"note-{move.topic}", content, session, ttl, move.back / 6)  # type: ignore[arg-type]
        case "settle":
            return NoteSettled(space, id_, at, f"note-{move.topic}", session, "did it")
        case "end":
            return SessionEnded(space, id_, at, session)
        case "summary":
            return SummaryWritten(space, id_, at, session, turn, turn, "They talked.", model="m")
        case "recall":
            return MemoryRecalled(space, id_, at, TOPICS[move.topic][1], shown, session if move.back % 2 else "")
        case "reward":
            return MemoryRewarded(space, id_, at, shown[:3], (move.back - 3) / 3, session)
        case "pin":
            return MemoryPinned(space, id_, at, turn, move.back % 4 > 0, session)
        case "consolidate":
            return ConsolidationRequested(space, id_, at, session)
        case "judge":
            return ContradictionJudged(space, id_, at, turn, shown[0], move.back % 3 > 0, move.back / 6, session)
    return ClockTicked(space, id_, at)


def long_talk(turns: int) -> list[Move]:
    """A long conversation in one space that walks through sayings and topics in a fixed, uneven order."""
    kinds = [
        *(*SAYINGS, "work", "detail", "note", "detail", "shift", "back", "work", "settle", "flag", "recall", "states"),
        *("retract", "moved", "judge", "consolidate", "reward", "pin"),
    ]
    found = []
    for n in range(turns):
        step = (n * 7919 + n // 13 * 104_729) % 1_000_003
        kind = kinds[step % len(kinds)]
        found.append(Move(kind, (n // 9 + step) % len(TOPICS), 0, n // 400 % 3, step % 3, MINUTE, 1 + step % 5))
    return found
