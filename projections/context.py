"""What a model is given: the working context of a session, rendered within a budget of tokens.

`render` makes text, chat messages and JSON of what `gather` reads (see material). It is a pure function: the
same material gives the same bytes.

The budget is a hard cap over everything rendered, headings included. It is filled in order: entries (every heading and
summary first, then raw turns of expanded ones, newest backwards, in fair shares), the most pressing notes, concluded
summaries, the ambient window. Two reserves keep an entry from starving what comes after it: one for notes and
conclusions, one for the newest turns, which stand together at the end, where a model expects them. A turn is shown
once: what the ambient window shows is not repeated in an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from projections.material import Entry, Material, Note, Turn
from streams.events import HOUR, MINUTE, iso
from streams.processor import Params, param, r6
from streams.text.terms import HEAD, TAIL, tokens


class ContextParams(Params):
    """How a context is laid out. Shares are of the budget."""

    budget: int = param(
        4000,
        "tokens",
        "quality holds at about this size whatever the length",
        source="Cognitive Context Management",
        ge=0,
    )
    notes: int = param(
        8, "notes", "the most pressing; more are a list nobody reads", source="three-column working memory", ge=0
    )
    exchanges: int = param(10, "user turns", "the ambient window", source="Cognitive Context Management", ge=0)
    asides: float = param(
        0.2, "share", "reserved for notes and conclusions: 8 notes and 4 conclusions of 40 tokens", ge=0, le=1
    )
    ambient: float = param(
        0.35, "share", "reserved for the newest turns: without them no answer fits the talk", ge=0, le=1
    )
    turn: float = param(0.125, "share", "a longer turn shows its head and tail: eight turns at least fit", gt=0, le=1)
    newest: float = param(0.25, "share", "the same for the newest turn, which is what is to be answered", gt=0, le=1)
    tool: int = param(
        48, "tokens", "a tool's output is condensed: its beginning and its last words tell how it ended", ge=8
    )
    summary: int = param(
        120, "tokens", "summaries are cues of about 100 tokens", source="Cognitive Context Management", ge=8
    )
    aside: int = param(48, "tokens", "a note or a topic is a line", ge=8)
    head: float = param(0.67, "share of what is shown", "how much of an oversize turn is its beginning", ge=0, le=1)
    pressing: float = param(
        0.2, "share of the time to live left", "below it a note escalates", source="three-column working memory"
    )
    urgent: float = param(
        0.05,
        "share of the time to live left",
        "below it a note escalates further",
        source="three-column working memory",
    )
    pressing_by: float = param(
        1.5, "factor", "of the priority of a pressing note", source="three-column working memory", ge=1
    )
    urgent_by: float = param(
        2.0, "factor", "of the priority of an urgent note", source="three-column working memory", ge=1
    )


@dataclass(slots=True)
class Section:
    """A part of what was rendered."""

    name: str
    tokens: int
    text: str


@dataclass(slots=True)
class Rendered:
    """A context, in three forms of the same content."""

    tokens: int
    budget: int
    sections: list[Section]
    text: str
    messages: list[dict[str, str]]
    """For a chat API: one system message, then user and assistant messages that alternate, beginning with a user's."""
    data: dict[str, Any]
    """Scores, signals and the turns behind everything shown."""


def effective_priority(note: Note, now: int, params: ContextParams | None = None) -> float:
    """min(1, priority * escalation): 1, then 1.5 below 20 % of the time to live left, 2 below 5 %."""
    p = params or _DEFAULT
    left = (note.deadline - now) / max(note.deadline - note.opened_at, 1)
    factor = p.urgent_by if left < p.urgent else p.pressing_by if left < p.pressing else 1.0
    return r6(min(1.0, note.priority * factor))


_DEFAULT = ContextParams()
_WORD = re.compile(r"\S+")


def cost(text: str) -> int:
    """What a piece of text takes of the budget: its tokens, and one for seven characters at least.

    Why: counts add up over pieces joined by white space, and no run of blanks is free.
    """
    return max(tokens(text), (len(text) + 7) // 7)


def _word_cost(word: str) -> int:
    return 1 + (len(word) - 1) // 7 if word.isascii() else tokens(word)


def _within(words: Iterable[re.Match[str]], limit: int) -> re.Match[str] | None:
    """The last of the words, in their order, that are within `limit` together."""
    last, spent = None, 0
    for word in words:
        spent += _word_cost(word.group())
        if spent > limit:
            break
        last = word
    return last


def _head(text: str, limit: int) -> str:
    text = text[: max(limit, 0) * 8].lstrip()
    if last := _within(_WORD.finditer(text), limit):
        return text[: last.end()]
    part = text[: max(limit, 0) * 7]
    while part and tokens(part) > limit:
        part = part[: len(part) // 2]
    return part.rstrip()


def _tail(text: str, limit: int) -> str:
    text = text[len(text) - min(len(text), max(limit, 0) * 8) :].rstrip()
    if last := _within(reversed(list(_WORD.finditer(text))), limit):
        return text[last.start() :]
    part = text[len(text) - min(len(text), max(limit, 0) * 7) :]
    while part and tokens(part) > limit:
        part = part[(len(part) + 1) // 2 :]
    return part.lstrip()


def clip(text: str, limit: int, id: str = "", head: float = 1.0, known: int = 0) -> str:
    """`text` within `limit` tokens: whole, or its head and tail and, where given, the `id` under which the rest is.

    `known` are its tokens where they were counted before: an oversize text is then not read again.
    """
    text = text.strip()
    if (known or len(text) // 7) <= limit and cost(text) <= limit:
        return text
    mark = f" […] mnemolog show {id} […] " if id else " … "
    room = limit - cost(mark)
    if room < 2:
        return mark.strip() if cost(mark.strip()) <= limit else ""
    first = _head(text, int(room * head))
    last = _tail(text, room - int(room * head)) if head < 1 else ""
    return f"{first}{mark}{last}".strip()


def due(deadline: int, now: int) -> str:
    """`in 3 h`, `in 20 min`, `in 2 days`, or `overdue`."""
    left = deadline - now
    if left <= 0:
        return "overdue"
    if left < HOUR:
        return f"in {left // MINUTE} min"
    return f"in {left // HOUR} h" if left < 48 * HOUR else f"in {left // (24 * HOUR)} days"


def label(turn: Turn) -> str:
    """Who speaks: `user ann:`."""
    return f"{turn.role} {turn.agent[:60]}:" if turn.agent and turn.agent != turn.role else f"{turn.role}:"


def body(turn: Turn, limit: int, params: ContextParams) -> str:
    """What a turn says within `limit`: a tool's output condensed, a call by the tool's name."""
    room = min(limit, params.tool) if turn.role == "tool" else limit
    said = clip(turn.content, room, turn.id, params.head, turn.tokens)
    called = f"(calls {', '.join(turn.calls[:8])[:200]})" if turn.calls else ""
    return f"{said} {called}".strip()


@dataclass(slots=True)
class _Line:
    """A turn as it is shown."""

    turn: Turn
    body: str
    text: str
    price: int


def _line(turn: Turn, limit: int, params: ContextParams) -> _Line:
    said = body(turn, limit, params)
    text = f"{label(turn)} {said}".strip()
    return _Line(turn, said, text, cost(text))


@dataclass(slots=True)
class _Raw:
    """The raw turns of one expanded entry, taken newest first."""

    left: list[Turn]
    """Not taken yet, oldest first."""
    lines: list[_Line] = field(default_factory=list)

    def take(self, room: int, params: ContextParams) -> int:
        """Takes turns while they fit in `room`; what is left of it."""
        cap = int(params.budget * params.turn)
        while self.left:
            line = _line(self.left[-1], cap, params)
            if line.price > room:
                break
            self.left.pop()
            self.lines.append(line)
            room -= line.price
        return room


class _Plan:
    """What is shown, decided in order; `left` of the budget."""

    def __init__(self, material: Material, params: ContextParams) -> None:
        self.material = material
        self.params = params
        self.title = clip(
            f"# Memory of {material.space}, session {material.session}, as of {iso(material.now)}", params.aside
        )
        self.left = params.budget - cost(self.title)
        if self.left < 0:
            self.title, self.left = "", params.budget
        self.heads: list[str] = []
        self.raws: list[_Raw] = []
        self.notes: list[tuple[Note, float, str]] = []
        self.concluded: list[str] = []
        self.ambient: list[_Line] = []
        self._fill()

    def _fill(self) -> None:
        params, budget = self.params, self.params.budget
        opened = [entry for entry in self.material.entries if entry.mode in ("summary", "expanded")]
        closed = [entry for entry in self.material.entries if entry.mode not in ("summary", "expanded")]
        self.heads = self._lines(
            "entries", [_entry(entry, params) for entry in opened], int(budget * (1 - params.asides - params.ambient))
        )
        asides = int(budget * params.asides)
        before = self.left
        self._note(asides)
        self.concluded = self._lines(
            "concluded", [_conclusion(entry, params) for entry in closed], asides - (before - self.left)
        )
        recent = _exchanges(self.material.ambient, params.exchanges)
        self._recent(recent, int(budget * params.ambient))
        self._expand(opened[: len(self.heads)])
        self._recent(recent, self.left)

    def _lines(self, section: str, lines: list[str], room: int) -> list[str]:
        """As many of the lines, in order, as fit in `room`; their heading is paid with the first."""
        taken: list[str] = []
        room = min(room, self.left)
        heading = cost(HEADINGS[section])
        for line in lines:
            price = cost(line) + (0 if taken else heading)
            if price > room:
                break
            room -= price
            self.left -= price
            taken.append(line)
        return taken

    def _note(self, room: int) -> None:
        params, now = self.params, self.material.now
        ranked = [(effective_priority(note, now, params), note) for note in self.material.notes]
        ranked.sort(key=lambda one: (-one[0], one[1].deadline, one[1].note))
        lines = [_note(note, now, params) for _, note in ranked[: params.notes]]
        taken = self._lines("notes", lines, room)
        self.notes = [(note, value, line) for (value, note), line in zip(ranked, taken, strict=False)]

    def _recent(self, recent: list[Turn], room: int) -> None:
        """The newest turns, backwards as far as they fit; those that an entry shows are passed over."""
        params = self.params
        shown = {line.turn.id for lines in (self.ambient, *(raw.lines for raw in self.raws)) for line in lines}
        room = min(room, self.left)
        for turn in reversed(recent):
            if turn.id in shown:
                continue
            share = params.turn if self.ambient else params.newest
            line = _line(turn, max(int(params.budget * share), 8), params)
            price = line.price + (0 if self.ambient else cost(HEADINGS["ambient"]))
            if price > room:
                break
            room -= price
            self.left -= price
            self.ambient.append(line)

    def _expand(self, opened: Sequence[Entry]) -> None:
        """Raw turns of expanded entries: each an equal share first, what one leaves then to the others by relevance."""
        seen = {line.turn.id for line in self.ambient}
        self.raws = []
        for entry in opened:
            left = [turn for turn in entry.turns if turn.id not in seen] if entry.mode == "expanded" else []
            seen.update(turn.id for turn in left)
            self.raws.append(_Raw(left))
        wanting = [raw for raw in self.raws if raw.left]
        share = self.left // max(len(wanting), 1)
        for raw in wanting:
            self.left -= share - raw.take(share, self.params)
        for raw in wanting:
            self.left = raw.take(self.left, self.params)


HEADINGS = {
    "entries": "## What is being worked on, most relevant first\n"
    "In brackets stand ids: `mnemolog show ID` gives every word behind one.",
    "notes": "## To come back to",
    "concluded": "## Concluded, and referred to lately",
    "ambient": "## The newest turns of this session",
}


def _topic(entry: Entry, params: ContextParams) -> str:
    return clip(" ".join(entry.topic.split()), params.aside) or "untitled"


def _entry(entry: Entry, params: ContextParams) -> str:
    """The heading of an entry, with the id under which its raw turns can be had, and its summary."""
    facts = [f"{entry.count} turn{'s' * (entry.count != 1)}"]
    if entry.last_at:
        facts.append(f"last on {iso(entry.last_at)[:10]}")
    if entry.importance == "high":
        facts.append("important")
    heading = f"### {_topic(entry, params)} ({', '.join(facts)}) [{entry.effort}]"
    summary = _summary(entry.summary, params.summary)
    return f"{heading}\nSummary: {summary}" if summary else heading


def _summary(text: str, limit: int) -> str:
    """A summary within `limit`: where not all of it fits, its first line, which says what it is about, and its newest.

    An effort's summary has a line for each segment, the oldest first.
    """
    lines = list(dict.fromkeys(_cue(line) for line in text.splitlines() if line.strip()))
    if len(lines) < 2 or sum(map(cost, lines)) <= limit:
        return clip("\n".join(lines), limit)
    first = clip(lines[0], limit // 2)
    room, newest = limit - cost(first), list[str]()
    for line in reversed(lines[1:]):
        room -= cost(line)
        if room < 0:
            break
        newest.append(line)
    if not newest:
        newest = [clip(lines[-1], limit - cost(first))]
    return "\n".join([first, *reversed(newest)])


CUES = 8
"""Search words shown of a summary's line; the rest of them serve finding, not reading."""


def _cue(line: str) -> str:
    """A line of a summary: what was said, then " · " and its search words, the first few of them."""
    said, dot, words = line.strip().partition(" · ")
    return f"{said}{dot}{', '.join(words.split(', ')[:CUES])}"


def _conclusion(entry: Entry, params: ContextParams) -> str:
    said = clip(" ".join((entry.conclusion or entry.summary).split()), params.aside)
    mark = " (recalled)" if entry.mode == "recalled" else ""
    return f"- {_topic(entry, params)}{mark}: {said} [{entry.effort}]"


def _note(note: Note, now: int, params: ContextParams) -> str:
    said = clip(" ".join((note.question or note.content).split()), params.aside)
    return f"- {due(note.deadline, now)}: {said} [{note.note}]"


def _exchanges(turns: Sequence[Turn], count: int) -> list[Turn]:
    """The last `count` user turns and all that came between and after them."""
    users = [at for at, turn in enumerate(turns) if turn.role == "user"]
    if count == 0:
        return []
    return list(turns[users[-count] if len(users) > count else 0 :])


def _sections(plan: _Plan) -> list[Section]:
    """What was planned, as text by section."""
    entries = []
    for head, raw in zip(plan.heads, plan.raws, strict=True):
        entries.append("\n".join([head, *(line.text for line in reversed(raw.lines))]))
    parts = {
        "entries": "\n\n".join(entries),
        "notes": "\n".join(line for _, _, line in plan.notes),
        "concluded": "\n".join(plan.concluded),
        "ambient": "\n".join(line.text for line in reversed(plan.ambient)),
    }
    sections = [Section("title", tokens(plan.title), plan.title)] if plan.title else []
    for name, text in parts.items():
        if text:
            whole = f"{HEADINGS[name]}\n{text}"
            sections.append(Section(name, tokens(whole), whole))
    return sections


def _messages(plan: _Plan, sections: Sequence[Section]) -> list[dict[str, str]]:
    """One system message with the memory, then the ambient turns as user and assistant messages that alternate.

    Why folded: tool results without the calls they answer, further system messages, and two messages of one role in a
    row are each refused by some chat API. Names are told where more than one agent has a role.
    """
    lines = plan.ambient[::-1]
    agents = {role: {line.turn.agent for line in lines if line.turn.role == role} for role in ("user", "assistant")}
    first = next((at for at, line in enumerate(lines) if line.turn.role == "user"), len(lines))
    system = [section.text for section in sections if section.name != "ambient"]
    if first:
        system.append("\n".join([HEADINGS["ambient"], *(line.text for line in lines[:first])]))
    messages = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    for line in lines[first:]:
        role = "user" if line.turn.role == "user" else "assistant"
        plain = line.turn.role == role and len(agents[role]) < 2
        text = line.body if plain else line.text
        if not text:
            continue
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n{text}"
        else:
            messages.append({"role": role, "content": text})
    return messages


def _data(plan: _Plan, sections: Sequence[Section], budget: int, total: int) -> dict[str, Any]:
    """JSON of the context: every score, and the turns behind everything shown."""
    material = plan.material
    shown = {line.turn.id for line in plan.ambient}
    opened = [entry for entry in material.entries if entry.mode in ("summary", "expanded")]
    closed = [entry for entry in material.entries if entry.mode not in ("summary", "expanded")]
    raws = plan.raws + [_Raw([])] * (len(opened) - len(plan.raws))
    return {
        "space": material.space,
        "session": material.session,
        "position": material.position,
        "at": iso(material.now),
        "budget": budget,
        "tokens": total,
        "sections": {section.name: section.tokens for section in sections},
        "entries": [
            _entry_data(entry)
            | {
                "shown": at < len(plan.heads),
                "turns": [line.turn.id for line in reversed(raw.lines)],
                "recent_turns": [turn.id for turn in entry.turns if turn.id in shown],
            }
            for at, (entry, raw) in enumerate(zip(opened, raws, strict=True))
        ],
        "notes": [_note_data(note, value) for note, value, _ in plan.notes],
        "concluded": [_entry_data(entry) | {"shown": at < len(plan.concluded)} for at, entry in enumerate(closed)],
        "ambient": [_turn_data(line) for line in reversed(plan.ambient)],
    }


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {
        "effort": entry.effort,
        "topic": entry.topic,
        "status": entry.status,
        "importance": entry.importance,
        "mode": entry.mode,
        "score": entry.score,
        "signals": entry.signals.split(),
        "similarity": entry.similarity,
        "recency": entry.recency,
        "idle": entry.idle,
        "summary": entry.summary,
        "conclusion": entry.conclusion,
        "turn_count": entry.count,
        "first_turn": entry.first_turn,
        "last_turn": entry.last_turn,
        "show": entry.effort,
    }


def _note_data(note: Note, value: float) -> dict[str, Any]:
    return {
        "note": note.note,
        "content": note.content,
        "question": note.question,
        "priority": note.priority,
        "effective_priority": value,
        "opened_at": iso(note.opened_at),
        "deadline": iso(note.deadline),
        "source": note.source,
        "turn": note.turn,
    }


def _turn_data(line: _Line) -> dict[str, Any]:
    turn = line.turn
    return {
        "turn": turn.id,
        "role": turn.role,
        "agent": turn.agent,
        "at": iso(turn.at),
        "effort": turn.effort,
        "content": line.body,
    }


def render(material: Material, budget: int | None = None, params: ContextParams | None = None) -> Rendered:
    """The context within `budget` tokens (the parameter's, where none is given)."""
    p = params or _DEFAULT
    budget = p.budget if budget is None else budget
    room = budget
    while True:
        plan = _Plan(material, p if room == p.budget else p.model_copy(update={"budget": room}))
        sections = _sections(plan)
        text = "\n\n".join(section.text for section in sections)
        total = sum(section.tokens for section in sections)
        # Why: of texts beyond HEAD + TAIL the tokens are estimated, and estimates do not add up.
        over = max(total, tokens(text)) - budget if len(text) > HEAD + TAIL else 0
        if over <= 0:
            break
        room = max(room - over, 0)
    return Rendered(total, budget, sections, text, _messages(plan, sections), _data(plan, sections, budget, total))
