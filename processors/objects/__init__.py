"""Objects: people and things that are spoken of, and what is said of them, each statement with its turn.

    person     speaks, or is shown to be one: "ask Marta", "our client Marta", "Marta said"
    entity     anything else with a name: a client, a vendor, a project, a system
    knowledge  a policy, procedure or limit, by what it is called: "the refund policy requires…"

A statement tells how somebody likes to be answered, a preference, role, goal, deadline, pattern (what recurs), belief,
rule, or another fact. Speakers state of themselves ("I", "my", "we"); a sentence with the name of one object states of
it, one that begins with "she" or "he" of the only person who was just spoken of and is not there. Kept are those that a
reader would understand without their turn and find worth keeping (see passages), those that answer a question behind
it. Names are those of the text features, without days and titles, in German those that the words show to be names
(all nouns have a capital there). They are resolved within the space: a first name is its person's where only one has
it, "Marta Lopez" is the Marta that is known where she is the only one, "Thanks, Mel" calls the Melanie who is there.
What is unsure stays apart. Kept of an object are the newest and strongest 12 statements of a kind; where a belief
contradicts an older one (see contradictions), the older statement stands no longer.

Nothing here refers to a task or note by its id, and nothing there to an object: what they share is words.
Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.objects.events import Kind, ObjectMentioned, ObjectStated, Says
from processors.objects.passages import SUBJECT, WORTH, Passage, Worth, cut, may_be_mine, passages, question
from processors.objects.reading import (
    ARTICLES,
    LEADS,
    NO_SUBJECTS,
    VALUES,
    Statement,
    bare_name,
    called,
    is_named,
    may_rule,
    opening,
    people,
    refers,
    rule,
    runs,
    shows_people,
    written,
)
from processors.objects.reading import names as names_of
from processors.objects.reading import statement as read_statement
from processors.objects.section import SECTIONS
from streams.core.events import TurnRecorded, TurnRetracted
from streams.core.params import Params, completed, param
from streams.core.processor import RAW, Derived, Processor, Raw, State, derived_id, on, r6
from streams.core.read_model import Group, Joins, Keep, read_model
from streams.core.text.commonness import CLASSES
from streams.core.text.terms import terms

__all__ = ["PROCESSOR", "ObjectMentioned", "ObjectStated", "ObjectsParams"]

PAPER = "three-column working memory"


class ObjectsParams(Params):
    """What is kept of people and things."""

    statements: int = param(
        12, "statements", "of an object that tell the same kind of thing: its record stays small", ge=1, le=16
    )
    turn: int = param(4, "objects", "named by one turn that are taken up, the first", ge=0, le=8)
    own: int = param(3, "statements", "of one turn by its speaker, those worth most", ge=0, le=6)
    named: int = param(2, "times", "spoken of before a thing is told of; once is by the way", ge=1)
    worth: Annotated[dict[str, int], completed(WORTH, "features")] = param(
        WORTH, "points", "what is seen of a passage, and how much it speaks for keeping it",
        source="read off sentences that were judged; see passages",
    )  # fmt: skip
    least: int = param(0, "points", "of a passage that is kept: less is often not understood, or tells nothing")
    further: int = param(300, "points", "more, of each beyond the first that a turn tells of its speaker")
    known: float = param(0.6, "value 0..1", "of a relationship by being spoken of often", PAPER, ge=0, le=1)
    often: int = param(24, "mentions", "after which half of that is reached", ge=1)

    @cached_property
    def weighed(self) -> Worth:
        """The points, of all that may be seen together."""
        return Worth(self.worth)


NAME, MOST_NAMES, NEAR, MEANT, TOLD = 48, 6, 6, 4, 24
"""Characters of a name, aliases, neighbours, objects that a name may mean, and statements of one turn that are kept."""
SHORT, LEFT = 3, 2
"""Letters that the beginning of a name has at least, and that it leaves out: Ann and Anna are two."""
_NONE: tuple[Derived, ...] = ()
_NOBODY: tuple[str, ...] = ()


@dataclass(slots=True)
class Object:
    """State, `object/<id>`."""

    name: str
    first: str
    """The name that it was first known by, folded to lower case."""
    kind: Kind
    aliases: list[str] = field(default_factory=list)
    role: str = ""
    mentions: int = 0
    near: list[str] = field(default_factory=list)
    told: bool = False


@dataclass(slots=True)
class Said:
    """State, `said/<what it tells>/<object>`: its statements: id, turn, strength, words, what contradicts it, and the
    turn whose question it answers."""

    rows: list[list[Any]] = field(default_factory=list)


@dataclass(slots=True)
class Stated:
    """State, `turn/<id>`: where its statements are kept, and those that answer it: object, what it tells."""

    places: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """State, `scene/<session>`: who spoke in it, and the people that its last turns with any named."""

    voices: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """What its last turn asked at its end: the turn, who asks, and the question; nothing where it asked nothing."""

    def asks(self, turn: str, agent: str, question: str) -> list[str]:
        """Notes what a turn asks, and gives what the one before asked of who speaks now."""
        asked, self.asked = self.asked, [turn, agent, question] if question else []
        return asked


class _Names:
    """The objects that a word may mean: an index of the records."""

    __slots__ = ("begin", "meant")

    def __init__(self, state: State) -> None:
        self.meant: dict[str, list[str]] = {}
        self.begin: dict[str, list[str]] = {}
        """Names of one word, by their first letters."""
        for key, one in state.scan("object/", Object):
            for alias in one.aliases:
                self.add(alias, key.removeprefix("object/"))

    def add(self, alias: str, id: str) -> None:
        """A name may mean an object."""
        self.meant[alias] = sorted([*self.meant.get(alias, ()), id])
        names = self.begin.setdefault(alias[:SHORT], [])
        if alias not in names:
            names[:] = sorted([*names, alias])

    def drop(self, alias: str) -> list[str]:
        """A name means nothing any more; what it meant."""
        if alias in (names := self.begin.get(alias[:SHORT], [])):
            names.remove(alias)
        return self.meant.pop(alias, [])


@dataclass(slots=True)
class _Reading:
    """One turn, as its objects are found and told of."""

    params: ObjectsParams
    state: State
    turn: TurnRecorded
    index: _Names
    voices: Sequence[str] = ()
    """Who spoke before it in its session."""
    asked: Sequence[str] = ()
    """What was asked before it: the turn, who asks, and the question."""
    out: list[Derived] = field(default_factory=list)

    @property
    def names(self) -> Mapping[str, list[str]]:
        """The objects that a word may mean."""
        return self.index.meant

    @property
    def question(self) -> str:
        """What another asked of who speaks; "" where it may have been asked of a third."""
        mine = self.asked and self.asked[1] != self.turn.agent and len(self.voices) <= 2
        return self.asked[2] if mine else ""

    def object(self, id: str) -> Object:
        found = self.state.get(f"object/{id}", Object)
        assert found is not None
        return found

    def make(self, name: str, kind: Kind, aliases: Sequence[str]) -> str:
        """The object that a name means, made where there is none; of several that it may mean, one of its own."""
        name = " ".join(name.split())[:NAME]
        meant = self.names.get(aliases[0], [])
        if len(meant) == 1:
            return self._called(meant[0], name, aliases)
        # Why another id: one of those that are meant may have been known by that name alone.
        id = derived_id("object", self.turn.space, f"{aliases[0]}?" if meant else aliases[0])
        if self.state.get(f"object/{id}", Object) is None:
            self.state.put(f"object/{id}", Object(name, aliases[0], kind))
        return self._called(id, name, aliases)

    def _called(self, id: str, name: str, aliases: Sequence[str]) -> str:
        """An object goes by these names, too."""
        found = self.object(id)
        for alias in aliases:
            meant = self.names.get(alias, [])
            if alias not in found.aliases and len(found.aliases) < MOST_NAMES and len(meant) < MEANT:
                found.aliases.append(alias)
            if alias in found.aliases and id not in meant:
                self.index.add(alias, id)
        if len(name) > len(found.name) and " " in name and " " not in found.name:
            found.name = name
        return id

    def short(self, word: str) -> str:
        """Who is meant by the beginning of a name: who is there and is called by it ("Thanks, Mel!" where Melanie
        speaks), or the only person known whose name it begins; "" for nobody."""
        if not (name := self._there(word) or self._begun(word)):
            return ""
        id = self.make(name, "person", [name.lower()[:NAME]])
        if self.names.get(word) == [id] or len(self.object(id).aliases) >= MOST_NAMES:
            return id
        for other in self.index.drop(word):
            if other != id:
                gone = self.object(other)
                gone.aliases.remove(word)
                self.state.put(f"object/{other}", gone)
        return self._called(id, name, [word])

    def _there(self, word: str) -> str:
        """Who is there and is called by a name's beginning."""
        there = [voice for voice in self.voices if voice.lower().startswith(word) and voice != self.turn.agent]
        return there[0] if len(there) == 1 and there[0].lower() != word and called(self.turn.content, [word]) else ""

    def _begun(self, word: str) -> str:
        """The only person known whose name a word begins, where nobody is known by that word."""
        begun = [name for name in self.index.begin.get(word[:SHORT], ()) if name != word and name.startswith(word)]
        if not begun or len(word) < SHORT:
            return ""
        if any(self.object(id).kind == "person" for id in self.names.get(word, ())):
            return ""
        known = {id for name in begun for id in self.names[name] if self.object(id).kind == "person"}
        return begun[0] if len(begun) == 1 and len(known) == 1 and len(begun[0]) - len(word) >= LEFT else ""

    def spoken_of(self, found: Mapping[str, Sequence[str]]) -> list[str]:
        """The people that it names and that are not there: who is there is called by name, and is "you"."""
        there = {voice.lower()[:NAME] for voice in (*self.voices, self.turn.agent)}
        people = [id for id in found if (one := self.object(id)).kind == "person" and there.isdisjoint(one.aliases)]
        return [id for id in people if not called(self.turn.content, found[id])]

    def value(self, found: Object) -> float:
        """Of the relationship: by the role, else by how often it is spoken of."""
        often = self.params.known * found.mentions / (found.mentions + self.params.often)
        return r6(max(often, VALUES.get(found.role, 0.0)))

    def mention(self, id: str, how: Any, near: Sequence[str] = (), firm: bool = False) -> None:
        """Tells that the turn names an object. `firm`: one for which somebody who is known works."""
        found = self.object(id)
        found.mentions += 1
        found.near = [*dict.fromkeys([*near, *found.near])][:NEAR]
        if found.told or found.mentions >= self.params.named or found.kind != "entity" or firm:
            self.tell_of(id, found, how)
        self.state.put(f"object/{id}", found)

    def tell_of(self, id: str, found: Object, how: Any) -> None:
        """Tells all that is known of an object but its statements."""
        turn, found.told = self.turn, True
        self.out.append(
            ObjectMentioned(
                turn.space, turn.session, turn.at, id, found.name, found.kind, turn.id, how, list(found.aliases),
                found.role, self.value(found), found.mentions, list(found.near),
            )
        )  # fmt: skip

    def state_of(self, id: str, told: Statement, stated: Stated) -> None:
        """Keeps a statement of an object, and lets go of the weakest where there are too many."""
        turn, state = self.turn, self.state
        key = f"said/{told.says}/{id}"
        said = state.get(key, Said) or Said()
        if any(row[3] == told.text for row in said.rows) or len(stated.places) >= TOLD:
            return
        statement = derived_id("said", turn.space, f"{turn.id}\0{id}\0{told.text}")
        asked = self.asked[0] if told.answers else ""
        rows = [*said.rows, [statement, turn.id, told.strength, told.text, "", asked]]
        if len(rows) > self.params.statements:
            weakest = min(range(len(rows)), key=lambda place: (rows[place][2], place))
            gone = rows.pop(weakest)
            if gone[0] == statement:
                return
            self.tell(id, told.says, gone, "passed")
        state.put(key, Said(rows))
        if not (one := self.object(id)).told:
            self.tell_of(id, one, "named")
            state.put(f"object/{id}", one)
        if [id, told.says] not in stated.places:
            stated.places.append([id, told.says])
        if asked:
            other = state.get(f"turn/{asked}", Stated) or Stated()
            if [id, told.says] not in other.places:
                state.put(f"turn/{asked}", Stated([*other.places, [id, told.says]]))
        self.tell(id, told.says, rows[-1], "current")

    def tell(self, id: str, says: Says, row: Sequence[Any], status: Any) -> None:
        self.out.append(_told(self.turn, id, self.object(id).name, says, row, status))


def _told(cause: Any, id: str, name: str, says: Says, row: Sequence[Any], status: Any) -> ObjectStated:
    """A statement as it stands now."""
    space, session, at = cause.space, cause.session, cause.at
    return ObjectStated(space, session, at, row[0], id, name, says, row[3], row[1], r6(row[2]), status)


def _turn(params: ObjectsParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Takes up whom and what a turn names, and what it states of them."""
    if turn.role not in ("user", "assistant"):
        return _NONE
    index = state.index(_Names)
    names = index.meant
    user, text = turn.role == "user", raw.text
    place = f"scene/{turn.session}"
    scene = state.get(place, Scene) or Scene()
    known = [form for form in filter(names.__contains__, text.forms) if is_named(turn.content, form)]
    capital = dict.fromkeys((*text.names, *opening(turn.content, text.forms)))
    fresh = [name for name in capital if name not in names and name.isalpha() and len(name) > 2]
    fresh = names_of(turn.content, fresh) if fresh else fresh
    asked = scene.asks(turn.id, turn.agent, question(turn.content))
    if asked != scene.asked:
        state.put(place, scene)
    if not (known or fresh or user or scene.people):
        return _NONE
    reading = _Reading(params, state, turn, index, scene.voices, asked)
    found = _found(reading, known, fresh, text.forms) if known or fresh else {}
    speaker = ""
    if user and turn.agent:
        speaker = reading.make(turn.agent, "person", [turn.agent.lower()[:NAME]])
        if turn.agent not in scene.voices:
            reading.object(speaker).kind = "person"  # who speaks is one, whatever was said of them before
            scene.voices = [*scene.voices, turn.agent][-MEANT:]
            reading.mention(speaker, "speaks", [reading.object(id).first for id in found])
            state.put(place, scene)
    persons = reading.spoken_of(found) if found else []
    before = refers(turn.content) or not found
    _state(reading, speaker, found, scene.people if before else persons)
    # Why not longer: who was named further back is seldom who is meant.
    people = persons[:MEANT] if persons or user else scene.people
    if scene.people != people:
        scene.people = people
        state.put(place, scene)
    return reading.out


def _found(reading: _Reading, known: Sequence[str], fresh: Sequence[str], forms: Sequence[str]) -> dict[str, list[str]]:
    """The objects that a turn names, each with the words that name it; told of."""
    turn, params = reading.turn, reading.params
    told, firms = dict[str, str](), set[str]()
    found: dict[str, list[str]] = {}
    unsure = bool(fresh) or any(len(reading.names[word]) > 1 for word in known)
    # Why not always: most names that are said are those of people who are known, and looking costs.
    related = shows_people(forms)
    if unsure or related or any(reading.object(reading.names[w][0]).kind != "person" for w in known):
        for shown in people(turn.content, related):
            told.setdefault(shown.word, shown.role)
            firms.add(shown.of)
    whole = runs(turn.content) if unsure else {}
    spoken = {word for words in whole.values() for word in map(bare_name, words.split())}
    for word in dict.fromkeys([*known, *fresh]):
        if there := reading.short(word):
            id = there
        elif word in whole:
            run = whole[word]
            parts = [part for part in map(bare_name, run.split()) if part]
            person = not told.keys().isdisjoint(parts) or _is_person(reading, parts[0])
            aliases = [parts[0], run.lower()[:NAME]] if person else [run.lower()[:NAME]]
            same = reading.names.get(run.lower()[:NAME], [])
            meant = reading.names.get(parts[0], []) if person else []
            if len(same) == 1 or (person and meant and not _same(reading, meant, run)):
                aliases = [run.lower()[:NAME], *aliases[:1]]
            id = reading.make(run, "person" if person else "entity", aliases)
        elif word in fresh or len(reading.names.get(word, ())) != 1:
            if word in fresh and word in spoken:
                continue
            person = word in told or word in VALUES  # "Dad" is somebody
            id = reading.make(written(turn.content, word), "person" if person else "entity", [word])
        else:
            id = reading.names[word][0]
        found.setdefault(id, []).append(word)
        one = reading.object(id)
        role = next((told[w] for w in (word, *one.aliases) if told.get(w)), "")
        if one.kind == "entity" and (word in told or not told.keys().isdisjoint(one.name.lower().split())):
            one.kind = "person"
        one.role = role or one.role
        if len(found) >= params.turn:
            break
    near = {id: reading.object(id).first for id in found}
    for id, words in found.items():
        reading.mention(id, "named", [name for other, name in near.items() if other != id], not firms.isdisjoint(words))
    return found


def _is_person(reading: _Reading, word: str) -> bool:
    meant = reading.names.get(word, ())
    return bool(meant) and all(reading.object(id).kind == "person" for id in meant)


def _same(reading: _Reading, meant: Sequence[str], run: str) -> bool:
    """Whether a full name may be that of the one whose first name is known: where that is all that is known of it."""
    if len(meant) != 1:
        return False
    name = reading.object(meant[0]).name
    return " " not in name or name.lower() == run.lower()


def _state(reading: _Reading, speaker: str, found: dict[str, list[str]], persons: Sequence[str]) -> None:
    """Keeps what the sentences of a turn state."""
    turn, params, stated = reading.turn, reading.params, Stated()
    rules = may_rule(turn.content)
    if not (found or persons or rules or (speaker and may_be_mine(turn.content, reading.question))):
        return
    own: list[tuple[int, Passage]] = []

    def named(sentence: str) -> list[str]:
        return [id for id, names in found.items() if id != speaker and _leads(sentence, names, reading.object(id).kind)]

    for passage in passages(turn.content, params.weighed, len(persons) == 1, named, reading.question):
        if rules and (called_by := rule(passage.text)):
            id = reading.make(called_by, "knowledge", [called_by])
            reading.mention(id, "named")
            reading.state_of(id, Statement(cut(passage.text), "rule", 0.8), stated)
            continue
        # Of whom it is: of one who was just spoken of, of who speaks, or of what is its subject.
        about = [*persons] if passage.points and len(persons) == 1 else []
        if not about:
            mine = passage.mine
            about = named(passage.text) if found and not (mine and passage.seen & SUBJECT) else []
            # Why: "Marta is our client" tells what Marta is; any other fact with "our" is kept of who says so.
            if mine and not (len(about) == 1 and read_statement(passage).says != "fact"):
                own.append((passage.worth(params.weighed), passage))
                continue
        if len(about) == 1 and passage.worth(params.weighed, named=True) >= params.least:
            reading.state_of(about[0], read_statement(passage), stated)
    if speaker:
        own.sort(key=lambda worth: -worth[0])
        for place, (worth, passage) in enumerate(own[: params.own]):
            if worth >= params.least + params.further * (place > 0):
                reading.state_of(speaker, read_statement(passage, own=True), stated)
    if stated.places:
        reading.state.put(f"turn/{turn.id}", stated)


def _leads(sentence: str, names: Sequence[str], kind: Kind) -> bool:
    """Whether a sentence is about a name: it is its subject, and not only called by it ("Marta, look"). A thing begins
    its sentence: behind other words it is mostly where or of what something is."""
    words = sentence.split()
    for place, word in enumerate(words[: 2 if kind == "entity" else 4]):
        if bare_name(word) in names and place + 1 < len(words) and word[-1].isalpha():
            before = words[place - 1].lower().strip(",!") if place else ""
            return not (before in LEADS or before in NO_SUBJECTS or (kind == "entity" and before in ARTICLES))
    return False


Row = tuple[str, Says, Object, Said, list[Any]]
"""A statement that is kept: of which object, what it tells, where it is kept, and the statement (see Said)."""


def _rows(state: State, turn: str) -> Iterator[Row]:
    """The statements of a turn that are kept."""
    stated = state.get(f"turn/{turn}", Stated)
    for id, says in stated.places if stated is not None else ():
        said, one = state.get(f"said/{says}/{id}", Said), state.get(f"object/{id}", Object)
        if said is not None and one is not None:
            for row in [row for row in said.rows if turn in (row[1], row[5])]:
                yield id, says, one, said, row  # type: ignore[misc]


def _retracted(params: ObjectsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]) -> Sequence[Derived]:
    """Nothing is known by a turn that was taken back."""
    out: list[Derived] = []
    for id, says, one, said, row in _rows(state, fact.turn):
        said.rows.remove(row)
        state.put(f"said/{says}/{id}", said)
        out.append(_told(fact, id, one.name, says, row, "retracted"))
    state.delete(f"turn/{fact.turn}")
    if (scene := state.get(f"scene/{fact.session}", Scene)) is not None and fact.turn in scene.asked[:1]:
        state.put(f"scene/{fact.session}", Scene(scene.voices, scene.people))
    return out


def _contradicted(params: ObjectsParams, state: State, belief: BeliefContradicted, raw: Raw[Any]) -> Sequence[Derived]:
    """What a later statement takes the place of stands no longer: what was said, of one that it names or that makes it,
    with the value that changed; where no value is told, with most words of the later statement."""
    out: list[Derived] = []
    value, newer = belief.older_value.casefold(), raw.event
    said = f"{newer.agent} {newer.content}".lower() if isinstance(newer, TurnRecorded) else None
    rows = [*_rows(state, belief.older)]
    if not value:
        rows = _nearest(rows, raw.text.terms) if said is not None else []
    for id, says, one, kept, row in rows:
        meant = said is None or any(alias in said for alias in one.aliases)
        if meant and not row[4] and value in row[3].casefold():
            row[4] = belief.turn
            state.put(f"said/{says}/{id}", kept)
            out.append(_told(belief, id, one.name, says, row, "superseded"))
    return out


def _nearest(rows: list[Row], stems: Sequence[str]) -> list[Row]:
    """Of statements those that share the most telling stems with a turn; none where none shares any."""
    shared = [sum(CLASSES[stem] > 0 for stem in terms(row[3])[0] if stem in stems) for *_, row in rows]
    most = max(shared, default=0)
    return [row for row, many in zip(rows, shared, strict=True) if many == most > 0]


def _restored(params: ObjectsParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """What was contradicted stands again, unless it is just taken back itself."""
    out: list[Derived] = []
    if isinstance(raw.event, TurnRetracted) and raw.event.turn == belief.turn:
        return out
    for id, says, one, said, row in _rows(state, belief.turn):
        if row[4] and row[4] == belief.newer:
            row[4] = ""
            state.put(f"said/{says}/{id}", said)
            out.append(_told(belief, id, one.name, says, row, "current"))
    return out


PROCESSOR = Processor(
    name="objects",
    version=12,
    reads=(RAW, "contradictions"),
    params=ObjectsParams,
    takes=(
        on(BeliefContradicted, _contradicted),
        on(BeliefRestored, _restored),
        on(TurnRecorded, _turn),
        on(TurnRetracted, _retracted),
    ),
    emits=(ObjectMentioned, ObjectStated),
    read_model=read_model(
        __package__,
        keeps=(Keep(ObjectMentioned, ("object",)), Keep(ObjectStated, ("statement",))),
        groups=(
            Group("objects", "object", {ObjectMentioned: Joins(by="session")}),
            Group("statements", "statement", {ObjectStated: Joins(by="object", only=("status", "current"))}),
        ),
        sections=SECTIONS,
        behind={
            # Of what nothing is stated, the turns that name it.
            "object": "(t.space, t.turn_id) IN (SELECT s.space, s.turn FROM object_statements s "
            "WHERE s.object = $id AND s.status = 'current' UNION ALL SELECT m.space, m.turn FROM object_mentioned m "
            "JOIN objects o USING (space, object) WHERE o.object = $id AND o.statements = 0)",
            "statement": "(t.space, t.turn_id) IN (SELECT s.space, s.turn FROM object_statements s "
            "WHERE s.statement = $id)",
        },
    ),
)
