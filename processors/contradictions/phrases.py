"""The parts of a clause: its subject, the words about its verb, and how much or many of what."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from processors.contradictions.glance import THEIRS
from processors.contradictions.lexicon import CHANGE, GROUP, PERSON, SEVERAL, SINGLE, STATE, VERBS, WORDS, Kind, stem
from processors.contradictions.values import ARTICLES, NUMBERS, SCOPES, Value, read_value

MAX_SUBJECT = 8
_SPELLING = re.compile(r"(fav|col|neighb|flav|lab|harb)our")
_WORD = re.compile(r"#?\w[\w./'’&+#-]*")
PRONOUNS = WORDS["pronouns"]
_DROPPED = WORDS["dropped"]
PERSONS = frozenset(("i", "we", "they", "he", "she", "you", "someone", "somebody"))
_CHANGES = frozenset(word for name, words in CHANGE.items() if name not in ("particles", "passing") for word in words)
_TRIM = frozenset(["every", "each", "again", "lately", "daily", "weekly", "often", "anymore"])
_GROUPED = frozenset(("is", "was", "have", "do", "will", "can", "get", "reject"))


class Statement(NamedTuple):
    """One thing said of an attribute of a subject."""

    mine: bool
    """Whether the subject is the speaker's own."""
    attribute: str
    """Stems of the attribute; "" where the words only point ("I meant Tuesday")."""
    kind: Kind
    said: str
    """The value in the turn's words."""
    value: Value
    affirmed: bool
    changes: bool
    """Whether the words say that something changed or is put right."""
    adds: bool
    """Whether the words say that it stands beside what was."""
    old: Value | None = None
    """What it takes the place of, where the words name it."""


class Group(NamedTuple):
    """The words about a verb."""

    copula: bool
    past: bool
    perfect: bool
    got: bool
    negated: bool
    changes: bool
    adds: bool
    ability: bool
    at: int
    """Where what follows them begins."""


class Context(NamedTuple):
    """What a sentence tells of all its clauses."""

    names: Collection[str]
    changes: bool
    adds: bool


def subject_end(words: Sequence[str]) -> int:
    """Where the verb group begins; 0 where no plain subject stands before it."""
    for at, word in enumerate(words[: MAX_SUBJECT + 1]):
        following = words[at + 1] if at + 1 < len(words) else ""
        if at == 0 and word in ("i", "we"):
            return 1
        if word.endswith("'s") and following in ("on", "at", "in", "not", "now", "a", "the", "due"):
            return 0
        told = GROUP.get(word)
        if told == "reject" and at and words[at - 1] in ("the", "my", "our", "this"):
            continue
        if told in _GROUPED:
            return at
        if at and told in ("not", "cue", "also", "skip"):
            if word in ("be", "been", "kind", "sort"):
                return 0
            if any(GROUP.get(w) in _GROUPED or w in VERBS for w in words[at + 1 : at + 3]):
                return at
            continue
        before = words[at - 1] if at else ""
        if (
            at
            and (word in VERBS or word in _CHANGES or word in STATE)
            and before not in ("the", "my", "our", "a", "of", "this")
        ):
            if before.endswith("'s") or any(GROUP.get(w) in ("is", "was") for w in words[at + 1 : at + 8]):
                continue
            return at
    return 0


def read_group(words: Sequence[str], at: int) -> Group | None:
    """Reads the words about the verb; None where they make no plain statement."""
    copula = past = perfect = got = negated = changes = adds = ability = False
    size = len(words)
    at -= 1
    word = ""
    while True:
        at += 1
        word = words[at] if at < size else ""
        told = GROUP.get(word)
        if told is None or (word == "may" and copula):
            break
        match told:
            case "is":
                copula = True
            case "was":
                copula = past = True
            case "have":
                if perfect or (at + 1 < len(words) and words[at + 1] == "to"):
                    return None
                perfect = True
            case "can":
                ability = True
            case "get":
                got = True
            case "not":
                negated = True
            case "cue":
                changes = True
            case "also":
                adds = True
            case "do" | "skip":
                continue
            case "will":
                if words[at + 1 : at + 2] != ["be"] or words[0] in ("i", "we"):
                    return None
                copula = True
            case _:
                return None
    if ability and not negated and word in ("stand", "bear", "eat", "drink"):
        return None
    return Group(copula, past, perfect, got, negated, changes, adds, ability, at)


class Subject(NamedTuple):
    mine: bool
    stems: tuple[str, ...]
    single: bool
    several: bool
    bare: bool
    """Whether it stands without an article."""


def read_subject(words: Sequence[str]) -> Subject | None:
    """The subject of a statement, None where it is another's or anybody's."""
    if not words:
        return None
    if words[0] == "i":
        return Subject(True, (), False, False, False) if len(words) == 1 else None
    if words[0] in ("we", "he", "she"):
        return Subject(False, (words[0],), False, False, False) if len(words) == 1 else None
    theirs = words[0] in THEIRS
    if theirs:
        words = words[1:]
    if (
        not words
        or len(words) > MAX_SUBJECT
        or any(w in PRONOUNS or w in ("and", "or", "i", "we") for w in words if w not in ("this",))
    ):
        return None
    if words[0] in SCOPES or words == ["this"]:
        return None
    if any(not _WORD.fullmatch(word) for word in words):
        return None
    plain = [spelled(word.removesuffix("'s").removesuffix("s'")) for word in words]
    head = (
        next(
            (at for at, word in enumerate(plain) if word in ("of", "for", "in", "on", "at", "with", "from") and at),
            len(plain),
        )
        - 1
    )
    stems = tuple(sorted({stem(word) for word in plain if word not in _DROPPED}))
    if not stems:
        return None
    if len(stems) > 1 and ("email" in stems or "phone" in stems):
        stems = tuple(one for one in stems if one not in ("address", "number"))
    single = stem(plain[head]) in SINGLE or "favorit" in stems
    if theirs:
        return Subject(False, tuple(sorted((*stems, "their"))), True, False, False) if single else None
    return Subject(
        "my" in plain, stems, single, stem(plain[head]) in SEVERAL, words[0] not in ("the", "my", "our", "this")
    )


def spelled(word: str) -> str:
    return _SPELLING.sub(r"\1or", word) if "our" in word else word


def stated_as(
    subject: Subject,
    attribute: str,
    kind: Kind,
    words: Sequence[str],
    value: Value,
    affirmed: bool,
    context: Context,
    old: Value | None = None,
) -> Statement:
    name = " ".join((attribute, *subject.stems)).strip()
    return Statement(
        subject.mine, name, kind, " ".join(words), value, affirmed, context.changes, context.adds and affirmed, old
    )


def read_flags(rest: Sequence[str], context: Context) -> tuple[list[str], Context]:
    """What is said without the words that say that it is new, or stands beside."""
    told = {GROUP.get(word) for word in rest}
    if "cue" not in told and "also" not in told:
        return [*rest], context
    kept = [word for word in rest if GROUP.get(word) not in ("cue",) and word not in ("too", "also")]
    adds = context.adds or "also" in told
    return kept, Context(context.names, context.changes or "cue" in told, adds)


def read_count(rest: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """How much or many of what: quantities apart, the object's words, without what follows them."""
    numbers: dict[str, str] = {}
    words: list[str] = []
    if rest[:1] == ["that"]:
        rest = rest[1:]
    start = 0
    if rest and (rest[0][:1].isdigit() or rest[0] in NUMBERS):
        measured = read_value(rest[:2], ())
        numbers = {sort: n for sort, n in measured.facets.items() if sort.startswith("number")}
        taken = 2 if len(rest) > 2 and (rest[2] == "of" or rest[2] not in SCOPES) and not rest[0][-1:].isalpha() else 1
        start = taken + (rest[taken : taken + 1] == ["of"])
    for word in rest[start:]:
        if word in SCOPES or word in _TRIM or word in ("called", "named"):
            break
        if word in ARTICLES:
            continue
        if words and word[0].isdigit() and not numbers:
            numbers[f"number {stem(words[-1])}"] = word
        else:
            words.append(word)
    return numbers, words


def is_person(words: Sequence[str], context: Context) -> bool:
    """Whether a subject is somebody: kin, a friend, or one name alone."""
    return stem(words[-1]) in PERSON or words in (["he"], ["she"]) or (len(words) == 1 and words[0] in context.names)
