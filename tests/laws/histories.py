"""Histories for the laws: a small grammar of how people and agents really talk, in which every kind of event occurs.

A history is made of moves; each move becomes one outside event. Hypothesis draws and shrinks the moves of short ones.
`long_talk` is long, a few people on a few topics; `wide` is wide as well: hundreds of sessions, people, files, efforts
and notes in one space, so that whatever grows with how many there are is seen to grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from hypothesis import strategies as st

from streams.core.driver import as_raw
from streams.core.events import (
    DAY,
    HOUR,
    LINKS,
    MINUTE,
    SECOND,
    ClockTicked,
    ConsolidationRequested,
    ContradictionJudged,
    DistillationWritten,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    KnowledgeWritten,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    Outside,
    Role,
    SessionEnded,
    SessionInherited,
    SummaryWritten,
    TaskDeclared,
    TaskUpdated,
    TitleWritten,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.processor import Raw
from streams.core.text import Text

START = 1_770_000_000 * SECOND

TOPICS = (
    ("the checkout page", "payment timeout in gateway.py", "retrying the stripe webhook"),
    ("the offsite in Lisbon", "the hotel budget for twelve people", "booking the train from Porto"),
    ("the search index", "slow queries in tantivy_index.rs", "rebuilding the shards at night"),
    ("my sourdough bread", "the starter smells of acetone", "a longer proof in the fridge"),
    ("the quarterly report", "the variance table for Marta", "exporting ledger_2026.csv"),
    ("das Gartenhaus", "die Dachrinne am Schuppen", "neue Bretter aus Lärche"),
)
THINGS = (
    *("invoice", "harbour", "violin", "greenhouse", "telescope", "payroll", "aquarium", "bridge", "kiln", "orchard"),
    *("catalogue", "turbine", "museum", "bakery", "satellite", "glacier", "marathon", "theatre", "vineyard", "ferry"),
    *("lantern", "tunnel", "quarry", "choir", "balcony", "sculpture", "canal", "meadow", "tractor", "archive"),
)
FILES = ("py", "rs", "csv", "md", "sql", "toml", "svg", "tex")
TROUBLES = (
    *("leak", "crash", "deadlock", "shortage", "mismatch", "overflow", "delay", "crack", "typo", "duplicate"),
    *("timeout", "blackout", "regression", "warning", "glitch", "stain", "drift", "spill", "outage", "dent"),
)
REMEDIES = (
    *("patching", "calibrating", "repainting", "refactoring", "insuring", "sealing", "auditing", "rewiring"),
    *("photographing", "translating", "sanding", "indexing", "draining", "renaming", "tuning", "polishing"),
)
PEOPLE = (
    *("Ada", "Boris", "Chloe", "Dario", "Elif", "Farid", "Greta", "Hanna", "Ivo", "Jelena", "Kofi", "Leila", "Mateo"),
    *("Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Stefan", "Tomas", "Ulla", "Viktor", "Wanda", "Xenia", "Yusuf"),
)

SYLLABLES = ("ba", "rek", "tul", "mo", "vin", "dra", "sol", "pe", "gor", "ni", "lam", "fu", "zek", "ti", "cor", "wa")
CITIES = ("Lisbon", "Porto", "Madrid", "Oslo", "Vienna", "Krakow", "Turin")
COLOURS = ("green", "blue", "red", "yellow", "purple")

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
    "greet": "Hello there!",
    "thanks": "Thanks, bye!",
    "remind": "Remind me tomorrow to check {1} for {0}.",
    "soon": "We should do {2} soon, when you get a chance.",
    "name": "{who}: did {1} help with {0}?",
    "lead": "One more thing.",
    "empty": "",
    "states": "Actually my favourite colour is {colour}. I live in {city}.",
    "moved": "I moved to {city}; I no longer work at {1}.",
    "prefers": "I prefer {2}. My phone number is not 555-01{n} but 555-02{n}.",
    "tool": '{{"exit": {n}, "out": "{1}: {2}"}}',
    "system": "You help with {0}. Be brief.",
    "odd": "\u202e🤖 \x00 ## {1} ```\nis it done?\n``` 東京の天気",
}
VARIED = {"remind": ("remind", "every", "later"),
          "recall": ("recall", "task", "progress"), "soon": ("soon", "waits"), "detail": ("detail", "detail", "moves"),
          "asked": ("asked", "came", "checked"), "thanks": ("thanks", "checked"),
          "states": ("states", "again"), "prefers": ("prefers", "again"), "small": ("small", "stands")}  # fmt: skip
"""Moves that are told in turns in one of several ways, so that what people set out to do is told, too."""
MORE = {
    "every": "Remind me every day at 9 to check {1} for {0}.",
    "later": "Move the reminder about {1} to Friday at 4pm instead.",
    "waits": "For {0} we are waiting for the answer of {who} about {1}.",
    "moves": "{1} is half done; the next step is {2}. Please write it down.",
    "came": "Good news: {who} sent us the answer about {1}, we have it now.",
    "checked": "{1} is checked, for {0}, at last.",
    "again": "I live in {city}. My phone number is 555-01{n}.",
    "stands": "I'm allergic to {colour} nuts, so nothing with nuts for me please.",
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
    """Every third one is an assistant."""
    gap: int = MINUTE
    back: int = 1
    """Which of the turns before a fact is about, counted from the last one."""


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
histories = st.lists(moves, min_size=1, max_size=12) | st.lists(moves, min_size=25, max_size=60)
"""Short ones to shrink to, and longer ones, in which things come back."""


def topic(number: int) -> tuple[str, str, str]:
    """What the topic of a number is called, its trouble, and the remedy: common words, and a name of its own."""
    if number < len(TOPICS):
        return TOPICS[number]
    thing, trouble, kind = THINGS[number % 30], TROUBLES[number // 30 % 20], FILES[number // 5 % 8]
    remedy, who = REMEDIES[number // 3 % 16], PEOPLE[number // 7 % 25]
    own = "".join(SYLLABLES[number // 16**place % 16] for place in range(3))
    return f"the {own} {thing}", f"the {own} {trouble} in {thing}_{number}.{kind}", f"{remedy} {own} with {who}"


def session_id(number: int) -> str:
    """A session's id: as long as programs make them, where there are many."""
    return f"c{number}" if number < 3 else f"{number:08x}-7c1e-4f0a-9d2b-{number * 2_654_435_761 % 2**48:012x}"


def name_of(what: str, number: int) -> str:
    """What an agent calls its note or effort about the topic of a number."""
    return f"{what}-{number}" if number < len(TOPICS) else f"{what} {topic(number)[0].removeprefix('the ')} {number}"


def person(number: int) -> str:
    """What the agent of a number is called."""
    if number < 3:
        return ("ann", "bot", "ben")[number]
    return f"bot-{number}" if number % 3 == 1 else f"{PEOPLE[number % 25].lower()}{number}"


def outside(history: Sequence[Move]) -> list[Outside]:
    """The events of a history; a pure function of its moves."""
    events: list[Outside] = []
    turns: dict[str, list[TurnRecorded]] = {}
    clock = START
    for n, move in enumerate(history):
        clock += max(move.gap, 0)
        at = max(START, clock + min(move.gap, 0))
        event = _event(move, n, at, turns.setdefault(f"s{move.space}", []))
        events.append(event)
        if isinstance(event, TurnRecorded):
            turns[event.space].append(event)
    return events


def recorded(events: Sequence[Outside]) -> list[Raw[Outside]]:
    """The events as a log recorded them: each at its own `at`, those that came late after what they came later than."""
    raws: list[Raw[Outside]] = []
    clock = 0
    for event in events:
        clock = max(clock, event.at)
        text = _read(event.role, event.content) if isinstance(event, TurnRecorded) else None
        raws.append(as_raw(event, clock, text))
    return raws


@lru_cache(maxsize=20_000)
def _read(role: Role, content: str) -> Text:
    """What a turn's words say. Why kept: it depends on nothing else, and many histories say the same."""
    return as_raw(TurnRecorded("", "", 0, "", "", role, content), 0).text


def _event(move: Move, n: int, at: int, before: list[TurnRecorded]) -> Outside:
    space, id_, session = f"s{move.space}", f"e{n}", session_id(move.session)
    about = before[-min(move.back, len(before))] if before else None
    ways = VARIED.get(move.kind, (move.kind,))
    move = replace(move, kind=ways[n % len(ways)])
    if move.kind in SAYINGS or move.kind in MORE:
        who = about.agent if about else "ann"
        said, agent = n, person(move.agent)
        if move.kind == "again" and (same := [turn for turn in before[-400:] if "favourite" in turn.content]):
            # Who told it tells it once more, as it was or changed.
            agent, said = same[-1].agent, int(same[-1].id[1:]) if move.back % 2 else n
        taste = {"city": CITIES[said % 7], "colour": COLOURS[said % 5]}
        text = (SAYINGS | MORE)[move.kind].format(*topic(move.topic), n=n % 7, who=who, **taste)
        role = move.kind if move.kind in ("tool", "system") else "assistant" if move.agent % 3 == 1 else "user"
        reply_to = about.id if about and move.kind == "name" and len(before) >= move.back else ""
        return TurnRecorded(space, id_, at, session, agent, role, text, [], reply_to)  # type: ignore[arg-type]
    many = 32 if move.back % 5 == 0 else 9
    shown = [turn.id for turn in before[-many :: max(1, move.back % 3)]] or ["nobody-said-it"]
    turn, session = (about.id, about.session) if about else ("nobody-said-it", session)
    named = name_of("effort", move.topic) if move.back % 2 else ""
    match move.kind:
        case "retract":
            return TurnRetracted(space, id_, at, session, turn)
        case "declare":
            return EffortDeclared(space, id_, at, session, named, topic(move.topic)[0], turn)
        case "close":
            return EffortClosed(space, id_, at, session, named, turn, "as agreed")
        case "reopen":
            return EffortReopened(space, id_, at, session, named, turn)
        case "decline":
            return OfferDeclined(space, id_, at, session, turn)
        case "flag":
            return ImportanceFlagged(space, id_, at, session, turn, "high" if move.back % 6 > 2 else "normal")
        case "note":
            return _note(move, space, id_, at, session)
        case "settle":
            return NoteSettled(space, id_, at, name_of("note", move.topic), session, "did it")
        case "end" if move.back % 3 == 2:
            return SessionInherited(space, id_, at, session, shown_in(before, move.back))
        case "end":
            return SessionEnded(space, id_, at, session)
        case "summary" if move.back % 2:
            own = [turn.id for turn in before[-400:] if turn.session == session][-max(2, move.back) :] or [turn]
            said = f"They talked about {topic(move.topic)[0]}."
            return SummaryWritten(space, id_, at, session, own[0], own[-1], said, [topic(move.topic)[1]], model="m")
        case "summary" if move.back % 4 == 0:
            return DistillationWritten(space, id_, at, session, [turn], f"{topic(move.topic)[2]} helped", model="m")
        case "summary" if move.back % 8 == 6:
            pairs = zip(before[-8:], before[-7:], LINKS, strict=False)
            links = [[one.id, other.id, kind] for one, other, kind in pairs]
            return KnowledgeWritten(
                space, id_, at, session, shown[:16] or [turn], links, "long waits stop good work", "m"
            )
        case "summary":
            return TitleWritten(space, id_, at, session, [turn, *shown[: move.back % 2]], topic(move.topic)[0], "m")
        case "recall":
            return MemoryRecalled(space, id_, at, topic(move.topic)[1], shown, session if move.back % 2 else "")
        case "reward":
            return MemoryRewarded(space, id_, at, shown, (move.back % 7 - 3) / 3, session)
        case "pin":
            return MemoryPinned(space, id_, at, turn, move.back % 4 > 0, session)
        case "task":
            needs = [name_of("task", number) for number in range(move.back % 3)]
            name, priority = name_of("task", move.topic), move.back % 11 / 10
            return TaskDeclared(
                space, id_, at, name, topic(move.topic)[2], session, priority, float(move.back % 5), needs
            )
        case "progress":
            status = ("", "executing", "blocked", "awaiting_input", "complete", "dropped", "planning")[move.back % 7]
            name, share = name_of("task", move.topic) if move.back % 4 else "", move.back % 12 / 10 - 0.1
            step, why = topic(move.topic)[2], topic(move.topic)[1]
            return TaskUpdated(space, id_, at, name, session, turn, status, step, why, share, share)  # type: ignore[arg-type]
        case "consolidate":
            return ConsolidationRequested(space, id_, at, session)
        case "judge":
            return ContradictionJudged(space, id_, at, turn, shown[0], move.back % 3 > 0, move.back % 7 / 6, session)
    return ClockTicked(space, id_, at)


def shown_in(before: Sequence[TurnRecorded], back: int) -> str:
    """The session of an earlier turn, another one than the last turn's where there is one."""
    others = [turn.session for turn in before[-40:] if turn.session != before[-1].session]
    return others[-min(back, len(others))] if others else "nobody-said-it"


TTLS = ("urgent", "normal", "low", 90, 30 * 86_400, 5 * 86_400, 3_650 * 86_400)
SOMEDAY = 6
"""The place of the longest in TTLS."""


def _note(move: Move, space: str, id_: str, at: int, session: str) -> NoteTaken:
    about, trouble, remedy = topic(move.topic)
    contents = (f"check {trouble}", f"{remedy} on Monday", f"ask {PEOPLE[move.agent % 25]} about {about}")
    content = contents[move.back % 3] if move.back % 7 else f"rule: never touch {trouble}"
    ttl, priority = TTLS[move.back % 7], move.back % 11 / 10
    return NoteTaken(space, id_, at, name_of("note", move.topic), content, session, ttl, priority)  # type: ignore[arg-type]


def long_talk(turns: int) -> list[Move]:
    """A long conversation in one space that walks through sayings and topics in a fixed, uneven order."""
    kinds = [
        *(*SAYINGS, "work", "detail", "note", "detail", "shift", "back", "work", "settle", "flag", "recall", "states"),
        *("retract", "moved", "judge", "consolidate", "reward", "pin", "close", "declare"),
    ]
    found = []
    for n in range(turns):
        step = (n * 7919 + n // 13 * 104_729) % 1_000_003
        kind = kinds[step % len(kinds)]
        found.append(Move(kind, (n // 9 + step) % len(TOPICS), 0, n // 400 % 3, step % 3, MINUTE, 1 + step % 5))
    return found


TALK = (
    *("open", "open", "open", "shift", "shift", "shift", "work", "work", "work", "detail", "detail", "tool", "tool"),
    *("answer", "answer", "fixed", "perfect", "done", "failed", "asked", "back", "small", "greet", "thanks", "lead"),
    *("remind", "soon", "name", "name", "name", "empty", "states", "moved", "moved", "prefers", "system", "odd"),
)
SAID = (*FACTS, "note", "note", "note", "note")
SCENES = (
    *(("states", "moved", "retract"), ("prefers", "judge"), ("greet", "open"), ("detail", "failed", "fixed")),
    *(("note", "asked", "settle"), ("declare", "work", "flag"), ("declare", "work", "close", "reopen")),
    *(("done", "decline"), ("done", "close")),
)
PAUSES = (20 * MINUTE, 20 * MINUTE, 3 * HOUR, 3 * HOUR, 3 * HOUR, 30 * HOUR)
PACE = (*(5 * SECOND,) * 10, *(MINUTE,) * 10, 20 * MINUTE, -2 * MINUTE, -DAY)
REACH = (1, 1, 1, 1, 2, 3, 5, 8, 40, 400, 4000)


def wide(count: int, sessions: int = 24, backlog: int = 300) -> list[Move]:
    """A busy space: of `sessions` that are open at a time one goes on for a while, each with people and topics of its
    own. Sessions end and others begin or are taken up again, so that there are about `count` / 16 of them in all; one
    goes on to the end.

    It begins with a backlog, so that what is full at some time is full early: named efforts, and notes for years.
    Before it some notes are told to be done, which is declined.
    """
    draw = Random(7)
    latest = sessions
    topics = max(sessions, backlog)
    open_sessions = [_Session(number, draw) for number in range(sessions)]
    found = [
        Move(kind, topics + n, gap=HOUR, back=back)
        for n in range(backlog // 10)
        for kind, back in (("note", SOMEDAY), ("checked", 1), ("decline", 1), ("settle", 1))
    ]
    found += [Move(kind, n, gap=SECOND, back=SOMEDAY + 7 * n) for n in range(backlog) for kind in ("declare", "note")]
    while len(found) < count:
        place = draw.randrange(sessions)
        topics = _visit(open_sessions[place], topics, found, draw)
        if place and draw.random() < 0.5:
            again = draw.random() < 0.2
            latest += not again
            open_sessions[place] = _Session(draw.randrange(latest) if again else latest, draw)
    return found[:count]


def _visit(session: _Session, topics: int, found: list[Move], draw: Random) -> int:
    """What is said while a session goes on; how many topics there are after it."""
    gap = draw.choice(PAUSES)
    for _ in range(draw.randrange(1, 14)):
        fact, subject, back = draw.random() < 0.3, session.topics[-1], draw.choice(REACH) + draw.randrange(6)
        kinds = draw.choice(SCENES) if draw.random() < 0.1 else (draw.choice(SAID if fact else TALK),)
        if len(kinds) > 1:
            back = 1
        elif fact and draw.random() < 0.3:
            subject = draw.randrange(topics)
        if not {"open", "shift", "declare"}.isdisjoint(kinds):
            topics += 1
            session.topics.append(topics)
            subject = topics
        elif kinds == ("back",):
            session.topics.append(subject := draw.choice(session.topics))
        speaker = draw.choice(session.people)
        for kind in kinds:
            found.append(Move(kind, subject, 0, session.number, speaker, gap, back))
            gap = draw.choice(PACE)
    return topics


class _Session:
    """A session of a wide history: who speaks in it, and what about."""

    def __init__(self, number: int, draw: Random) -> None:
        self.number = number
        users = 3 * draw.randrange(1, 200)
        crowd = 60 if number % 40 == 0 else draw.randrange(2, 8) if number % 4 == 0 else 1
        self.people = [*(users + 3 * n for n in range(crowd)), 4 + 3 * draw.randrange(6)]
        self.topics = [draw.randrange(1500)]
