"""What a turn states: who or what, which attribute of it, what value, affirmed or denied.

A clause is read from left to right: its subject, the words about its verb, and what is said. Only plain statements
count: nothing asked, supposed, quoted, reported of others, or told of another time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from processors.contradictions.lexicon import (
    CHANGE,
    CLASS,
    EVALUATIVE,
    EXPAND,
    GROUP,
    GUARD,
    MEAT,
    PERSON,
    SEVERAL,
    SINGLE,
    TRIGGERS,
    VERBS,
    WORDS,
    Kind,
    Verb,
    stem,
)
from processors.contradictions.lexicon import (
    LEAD_ON as _LEAD_ON,
)
from processors.contradictions.lexicon import (
    LEADING as _LEADING,
)
from processors.contradictions.values import (
    ARTICLES,
    NUMBERS,
    SCOPES,
    TIMES,
    Value,
    read_value,
)
from streams.text.sentences import QUOTES, lower, read_sentences

MAX_READ = 1_000
"""Characters read of a turn: what stands further down was seldom said, but pasted."""
MAX_STATEMENTS = 4
"""Statements taken from one turn, so that work per turn is bounded."""
MAX_WORDS = 30
"""Longer clauses are not plain."""
MAX_WORD = 32
"""Longer words are data."""
MAX_SUBJECT = 8
_EDGE = ".,!?;:()[]*_\"'“”…~"
_TITLE = re.compile(r"\b(mrs?|ms|dr|prof|st)\.(?= )")
_TITLED = frozenset(("mr.", "mrs.", "ms.", "dr.", "prof.", "st."))
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_SPELLING = re.compile(r"(fav|col|neighb|flav|lab|harb)our")
_PAIRS = {
    "no": {"longer": "not"}, "any": {"more": "anymore", "longer": "anymore"}, "as": {"well": "also"},
    "these": {"days": "nowadays"}, "right": {"now": "now"}, "in": {"addition": "also"}, "meat": {"eater": "meat-eater"},
    "after": {"all": "actually"},
}  # fmt: skip
"""Two words that are read as one."""
_SPECIAL = frozenset((*EXPAND, *_PAIRS))
_MARKS = WORDS["marks"]
"""What lists and records of events begin with."""
_JOINTS = WORDS["joints"]
_STOPS = ",;:)"
_ASIDE = frozenset(["because", "although", "though", "since", "while"])
_AGENTS = WORDS["agents"]
_WORD = re.compile(r"#?\w[\w./'’&+#-]*")
_LIST_ITEM = re.compile(r"\s*(?:[-*•+]|\d+[.)]|[a-z]\))(?:\s|$)")
_PRONOUNS = WORDS["pronouns"]
_DROPPED = WORDS["dropped"]
_PERSONS = frozenset(("i", "we", "they", "he", "she", "you", "someone", "somebody"))
_THEIRS = frozenset(("her", "his", "their", "its"))
_NO_SUBJECT = (_PRONOUNS - {"this", "they", "he", "she", "there"} - _THEIRS) | WORDS["no_subject"]
"""Words that no plain statement begins with."""
_SAYING = WORDS["saying"]
_POINTING = WORDS["pointing"]
_STRESSED = WORDS["stressed"]
"""Words of which one is in every correction that only points."""
MAX_POINTED = 120
_CARRYING = frozenset(("it's", "it", "is"))
_CHANGED = frozenset(("now", "now.", "now,", "actually", "actually,", "instead"))
_CHANGES = frozenset(word for name, words in CHANGE.items() if name not in ("particles", "passing") for word in words)
_STARTING = WORDS["starting"]
_LASTING = WORDS["lasting"]
"""Sorts of states that hold at times."""
_MANNER = WORDS["manner"]
_UNABLE = WORDS["unable"]
"""What one cannot do in phrases that say nothing of abilities."""
_NEW_WORK = WORDS["new_work"]
_TRIM = frozenset(["every", "each", "again", "lately", "daily", "weekly", "often", "anymore"])
_NOT_VALUES = WORDS["not_values"]
_NO_PART = (_PRONOUNS | _PERSONS) - ARTICLES
"""Words that no value has that is told for itself."""
_PARTICIPLES = WORDS["participles"]
_ELLIPSIS = re.compile(
    r"^(?P<lead>.*?\b)?(?:(?:i (?:meant|mean)(?: to say)?|make (?:it|that)|(?:it |that )?should (?:be|"
    r"read|say|have been)|correction|scratch that)|"
    r"(?:it|that)(?:'s| is| got| was| has been)?(?: now| actually)?(?: been)? ?(?:moved to|changed to|"
    r"pushed to|rescheduled to|at|on|in)?|"
    r"rather)[,:]? +(?P<value>[^,.;!?]+?)(?:,? (?:not|instead of|"
    r"rather than) (?P<old>[^,.;!?]+?))?(?: instead| now| actually| please| then| though)*$"
)
_NOT_BUT = re.compile(
    r"^(?:[^,;]*?(?:it's|it is|that's|sorry|no|actually|oh|"
    r"wait),? )?not (?P<old>[^,.;!?]+?),? but (?:rather |actually |instead )?(?P<value>[^,.;!?]+)$"
)
_NOT = re.compile(
    r"^(?:(?:(?:it's|it is|that's|that is|sorry|no|actually|oh|wait),? )+(?:actually |"
    r"really )?(?P<value>[^,.;!?]+?),? |(?P<plain>[^,.;!?]+?), )(?:not|instead of|"
    r"rather than) (?P<old>[^,.;!?]+)$"
)
_STRONG = re.compile(
    r"\b(?:i meant|i mean|make (?:it|that)|should (?:be|read|say|have been)|correction|scratch that|"
    r"actually|sorry|oops|wait|moved|changed|pushed|rescheduled|now|not|instead|no)\b"
)


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


class _Group(NamedTuple):
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


class _Context(NamedTuple):
    """What a sentence tells of all its clauses."""

    names: Collection[str]
    changes: bool
    adds: bool


def statements(content: str, names: Collection[str], pointing: bool = True) -> list[Statement]:
    """The statements of a turn, in order; `names` are its words that are names, folded.

    Where nothing was stated before, nothing can be pointed at: then `pointing` is False.
    """
    lowered = lower(content[:MAX_READ])
    words = lowered.split()
    if TRIGGERS.isdisjoint(words):
        return []
    found: list[Statement] = []
    if not _TITLED.isdisjoint(words):
        lowered = _TITLE.sub(r"\1 ", lowered)
    for text, _ in read_sentences(lowered, QUOTES.search(lowered) is not None):
        if text[-1] != "?" and not TRIGGERS.isdisjoint(raw := text.split()):
            found += _sentence(text, raw, names, pointing)
            if len(found) >= MAX_STATEMENTS:
                break
    return found[:MAX_STATEMENTS]


def _sentence(text: str, raw: list[str], names: Collection[str], pointing: bool) -> list[Statement]:
    """The statements of a sentence. Why the guards come last: few sentences state anything."""
    if raw[0] in _MARKS or _LIST_ITEM.match(text):
        return []
    context = _Context(names, False, False)
    clauses = _clauses(raw)
    if len(clauses) > 1 and not _CARRYING.isdisjoint(raw) and not _CHANGED.isdisjoint(raw):
        clauses = _carried(clauses)
    if pointing and len(text) <= MAX_POINTED and not (_POINTING.isdisjoint(raw) or _STRESSED.isdisjoint(raw)):
        pointed = _pointed(text, context)
        if pointed:
            return [pointed]
    found: list[Statement] = []
    for place, (joint, words) in enumerate(clauses):
        if (words[0] in _NO_SUBJECT and words[0] not in _LEAD_ON) or joint in _ASIDE or TRIGGERS.isdisjoint(words):
            continue
        if words[0] in ("i", "we") and (TRIGGERS.isdisjoint(words[1:5]) or GROUP.get(words[1]) == "reject"):
            continue
        bare = _bare(words)
        if bare and bare[0] in _STARTING and not joint:
            bare = ["i", *bare]
        if len(bare) < 2 or bare[0] in _NO_SUBJECT:
            continue
        if (read := _clause(bare, context)) and not _blocked(clauses, place, text):
            changes, adds = _told(text)
            found += [
                one._replace(changes=one.changes or changes, adds=one.adds or (adds and one.affirmed)) for one in read
            ]
    return found


def _carried(clauses: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Clauses of which "but it's Monday now" has the subject of the one before."""
    found = clauses[:1]
    for (_, before), (joint, words) in pairwise(clauses):
        bare = _bare(words)
        if bare[:1] == ["it"]:
            bare = bare[1:]
        if len(bare) > 1 and bare[0] in ("is", "are") and not _CHANGED.isdisjoint(words):
            told = _bare(before)
            split = _subject_end(told)
            if split and told[0] not in ("i", "we", "it"):
                words = [*told[:split], *bare]
        found.append((joint, words))
    return found


def _clauses(raw: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The clauses of a sentence, each with what joins it to the one before."""
    if _JOINTS.isdisjoint(raw) and "and" not in raw and not any(word[-1] in _STOPS for word in raw):
        return [("", [*raw])]
    found: list[tuple[str, list[str]]] = []
    joint, words = "", list[str]()
    last = len(raw) - 1
    for at, word in enumerate(raw):
        if words and (word in _JOINTS or (word == "and" and at < last and raw[at + 1] in _AGENTS)):
            found.append((joint, words))
            joint, words = word, []
            continue
        words.append(word)
        if word[-1] in _STOPS:
            found.append((joint, words))
            joint, words = word[-1], []
    if words:
        found.append((joint, words))
    return found


def _bare(words: Sequence[str]) -> list[str]:
    """The words of a clause without what only leads in, bare, contractions as what they stand for."""
    bare = _words(words)
    while len(bare) > 1 and (bare[0] in _LEADING or bare[1] in _LEAD_ON.get(bare[0], ())):
        led = GUARD["lead"].sub("", " ".join(bare) + " ", 1).split()
        if len(led) == len(bare):
            break
        bare = led
    if not _SAYING.isdisjoint(bare):
        bare = _words(GUARD["authority"].sub("", " ".join(bare) + " ", 1).split())
    return bare


def _blocked(clauses: Sequence[tuple[str, list[str]]], place: int, text: str) -> bool:
    """Whether the clause at a place, or one that it hangs on, is asked, supposed, reported or holds at times only."""
    if "://" in text or "{" in text or "|" in text or "=" in text:
        return True
    for joint, words in reversed(clauses[: place + 1]):
        clause = " ".join(_bare(words))
        if any(GUARD[guard].search(clause) for guard in ("question", "doubt", "scope", "reported")):
            return True
        if joint in ("but", "yet", ";") or clause.startswith(("now ", "nowadays ")):
            return False
    return False


def _told(text: str) -> tuple[bool, bool]:
    """Whether a sentence tells of a change, and of something that stands beside."""
    return GUARD["correcting"].search(text) is not None, GUARD["chatter"].search(text) is not None


def _pointed(text: str, context: _Context) -> Statement | None:
    """A correction that only points at what it corrects: "I meant Tuesday", "not X but Y", "it's on Friday now"."""
    changes, strong = _told(text)[0], GUARD["strong"].search(text) is not None
    text = GUARD["lead"].sub("", _THOUSANDS.sub("", text.strip(_EDGE + " ")) + " ", 1).strip()
    if not (changes or _STRONG.search(text)) or GUARD["doubt"].search(text.replace("should", "").replace("rather", "")):
        return None
    for pattern in (_NOT_BUT, _NOT, _ELLIPSIS):
        if found := pattern.match(text):
            told = found.groupdict()
            if meant := _meant(told["value"] or told["plain"], told["old"], strong, context):
                return meant
    return None


def _meant(said: str, old: str | None, strong: bool, context: _Context) -> Statement | None:
    """`strong` words may correct anything; others only what is of a known sort."""
    words = _words(said.split())
    if len(words) > 6 or any(word in _NO_PART or GROUP.get(word) in ("is", "was", "have", "do") for word in words):
        return None
    value = read_value([word for word in words if word not in ARTICLES], context.names)
    if not value.facets:
        return None
    replaced = read_value(_words(old.split()), context.names) if old else None
    return Statement(False, "", "one" if strong else "place", said.strip(), value, True, True, False, replaced)


def _words(raw: Sequence[str]) -> list[str]:
    """Words, bare, contractions as what they stand for."""
    found = [bare for word in raw if (bare := word.strip(_EDGE))]
    if _SPECIAL.isdisjoint(found) and not any(word[0].isdigit() for word in found):
        return found
    found = []
    at = 0
    size = len(raw)
    while at < size:
        word = raw[at].strip(_EDGE)
        at += 1
        if word in EXPAND:
            found += EXPAND[word]
        elif word in _PAIRS and at < size and (one := _PAIRS[word].get(raw[at].strip(_EDGE))):
            found.append(one)
            at += 1
        elif word:
            found.append(_THOUSANDS.sub("", word) if word[0].isdigit() else word)
    return found


def _clause(words: list[str], context: _Context) -> list[Statement]:
    if len(words) > MAX_WORDS or max(map(len, words)) > MAX_WORD:
        return []
    if words[0] == "there":
        return _existing(words, context)
    split = _subject_end(words)
    group = _group(words, split) if split else None
    if group is None:
        return []
    main = words[group.at] if group.at < len(words) else ""
    changing = _is_change(main, group)
    ended = main in CHANGE["cancel"] and group.copula and (main != "called" or words[group.at + 1 :][:1] == ["off"])
    if ended:
        return _copula(words[:split], ["cancelled"], group.negated, context._replace(changes=True))
    if group.past and not changing:
        return []
    if words[0] == "i" and not _NEW_WORK.isdisjoint(words[2:7]):
        return _employed(words, context)
    found = _read(words, split, main, changing, group, context._replace(changes=group.changes, adds=group.adds))
    if found:
        clause = " ".join(words)
        guards = ("changed_past",) if changing else ("past", "passing", "future")
        if any(GUARD[guard].search(clause) for guard in guards):
            return []
    return found


def _existing(words: list[str], context: _Context) -> list[Statement]:
    """There is an X, or none."""
    if GROUP.get(words[1]) != "is" or any(GROUP.get(word) == "reject" for word in words):
        return []
    rest, context = _flags(words[2:], context)
    affirmed = not {"no", "not"} & set(rest[:2])
    _, told = _counted([word for word in rest if word not in ("no", "not", "any", "anymore")])
    if not told or len(told) > 3 or any(word in _PRONOUNS for word in told):
        return []
    stems = " ".join(sorted({stem(_spelled(word)) for word in told}))
    subject = _Subject(False, (), False, False, False)
    return [_stated(subject, f"there {stems}", "many", told, Value({}, "", False), affirmed, context)]


def _employed(words: Sequence[str], context: _Context) -> list[Statement]:
    """I got a new job at X."""
    at = next((at for at, word in enumerate(words) if word in ("at", "with") and words[at - 1] in _NEW_WORK), 0)
    subject = _subject(words[:1])
    if not at or subject is None or len(words) > 12 or "interview" in words:
        return []
    return _one(subject, VERBS["work"][0], words[at + 1 :], True, context._replace(changes=True))


def _able(subject: _Subject | None, words: Sequence[str], affirmed: bool, context: _Context) -> list[Statement]:
    """X can do something, or cannot."""
    words, context = _flags(words, context)
    words = [word for word in words if word not in ARTICLES and word not in ("it", "too", "also")]
    if subject is None or "we" in subject.stems or not 1 <= len(words) <= 6 or any(word in _PRONOUNS for word in words):
        return []
    if words[0] in _UNABLE:
        return []
    stems = " ".join(sorted({stem(word) for word in words}))
    return [_stated(subject, f"can {stems}", "many", words, Value({}, "", False), affirmed, context)]


def _read(
    words: Sequence[str], split: int, main: str, changing: bool, group: _Group, context: _Context
) -> list[Statement]:
    subject, rest = words[:split], words[group.at + 1 :]
    if changing:
        return _changed(subject, main, rest, group, context)
    if group.ability and main not in ("stand", "bear", "eat", "drink"):
        return _able(_subject(subject), words[group.at :], not group.negated, context)
    if main in VERBS and not _adjective(main, group):
        return _verb(subject, main, rest, group.negated, group, context)
    if group.copula:
        return _copula(subject, words[group.at :], group.negated, context)
    if group.perfect and main:
        return _verb(subject, "have", words[group.at :], group.negated, group, context)
    if group.got and main in CLASS:
        return _copula(subject, words[group.at :], group.negated, context._replace(changes=True))
    return []


def _adjective(main: str, group: _Group) -> bool:
    """Whether a word that may be a verb is what a copula says."""
    return group.copula and not (main.endswith(("ing", "ed")) or main in _PARTICIPLES)


def _is_change(main: str, group: _Group) -> bool:
    if main in CHANGE["shift"] or main in CHANGE["succeed"]:
        return True
    if group.copula or group.got:
        return False
    return any(main in CHANGE[sort] for sort in ("stop", "lose", "give", "become", "rise"))


def _subject_end(words: Sequence[str]) -> int:
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
        if at and (word in VERBS or word in _CHANGES) and before not in ("the", "my", "our", "a", "of", "this"):
            if before.endswith("'s") or any(GROUP.get(w) in ("is", "was") for w in words[at + 1 : at + 8]):
                continue
            return at
    return 0


def _group(words: Sequence[str], at: int) -> _Group | None:
    """Reads the words about the verb; None where they make no plain statement."""
    copula = past = perfect = got = negated = changes = adds = ability = False
    size = len(words)
    at -= 1
    word = ""
    while True:
        at += 1
        word = words[at] if at < size else ""
        told = GROUP.get(word)
        if told is None:
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
    return _Group(copula, past, perfect, got, negated, changes, adds, ability, at)


_GROUPED = frozenset(("is", "was", "have", "do", "will", "can", "get", "reject"))


class _Subject(NamedTuple):
    mine: bool
    stems: tuple[str, ...]
    single: bool
    several: bool
    bare: bool
    """Whether it stands without an article."""


def _subject(words: Sequence[str]) -> _Subject | None:
    """The subject of a statement, None where it is another's or anybody's."""
    if not words:
        return None
    if words[0] == "i":
        return _Subject(True, (), False, False, False) if len(words) == 1 else None
    if words[0] in ("we", "he", "she"):
        return _Subject(False, (words[0],), False, False, False) if len(words) == 1 else None
    theirs = words[0] in _THEIRS
    if theirs:
        words = words[1:]
    if (
        not words
        or len(words) > MAX_SUBJECT
        or any(w in _PRONOUNS or w in ("and", "or", "i", "we") for w in words if w not in ("this",))
    ):
        return None
    if words[0] in SCOPES or words == ["this"]:
        return None
    if any(not _WORD.fullmatch(word) for word in words):
        return None
    plain = [_spelled(word.removesuffix("'s").removesuffix("s'")) for word in words]
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
        return _Subject(False, tuple(sorted((*stems, "their"))), True, False, False) if single else None
    return _Subject(
        "my" in plain, stems, single, stem(plain[head]) in SEVERAL, words[0] not in ("the", "my", "our", "this")
    )


def _spelled(word: str) -> str:
    return _SPELLING.sub(r"\1or", word) if "our" in word else word


def _stated(
    subject: _Subject,
    attribute: str,
    kind: Kind,
    words: Sequence[str],
    value: Value,
    affirmed: bool,
    context: _Context,
    old: Value | None = None,
) -> Statement:
    name = " ".join((attribute, *subject.stems)).strip()
    return Statement(
        subject.mine, name, kind, " ".join(words), value, affirmed, context.changes, context.adds and affirmed, old
    )


def _copula(words: Sequence[str], rest: Sequence[str], negated: bool, context: _Context) -> list[Statement]:
    """X is Y."""
    subject = _subject(words)
    rest, context = _flags(rest, context)
    if rest[:1] == ["back"] and len(rest) > 1 and rest[1] in CLASS:
        rest, context = rest[1:], context._replace(changes=True)
    if subject is None or not rest or (rest[0] in _NOT_VALUES and rest[0] != "not"):
        return []
    if rest[0] == "not":
        rest, negated = rest[1:], not negated
    if subject.bare and not negated and (inverted := _inverted(words, rest, context)):
        return inverted
    value = _at_times(read_value(rest, context.names))
    if not subject.stems:
        return _self(subject, rest, value, negated, context)
    if subject.stems[-1:] == ("we",) and "we" in subject.stems and not set(value.facets) - {"place", "thing"}:
        return []
    if not value.facets:
        return []
    loose = set(value.facets) & {"thing", "from", "to"}
    if loose == {"thing"} and rest[0] in ("a", "an") and not subject.single and not subject.several:
        value = value._replace(facets={"kind": value.facets["thing"]})
    elif loose and not subject.single and not (value.named and not subject.several):
        return _quality(subject, rest, not negated, context)
    if loose and rest[0] == "for":
        return []
    if loose and subject.single and not value.named and (rest[0].endswith("ing") and subject.stems != ("hobbi",)):
        return []
    kind: Kind = "one" if subject.single else "place"
    return [_stated(subject, "", kind, rest, value, not negated, context)]


def _at_times(value: Value) -> Value:
    """A state that holds at a time: open on Sundays."""
    if "marriage" in value.facets:
        return value._replace(facets={"marriage": value.facets["marriage"]}, scope="")
    states = {sort: told for sort, told in value.facets.items() if sort in _LASTING}
    times = [value.facets[sort] for sort in sorted(TIMES & value.facets.keys())]
    return value._replace(facets=states, scope="@" + " ".join(times)) if states and times else value


def _self(subject: _Subject, rest: Sequence[str], value: Value, negated: bool, context: _Context) -> list[Statement]:
    """I am Y."""
    sorts = set(value.facets)
    if "from" in sorts:
        return [_stated(subject, "be from", "one", rest, value, not negated, context)]
    if any(sort in ("thing", "place", "to") or sort in TIMES or sort.startswith("number ") for sort in sorts):
        return _quality(subject, rest, not negated, context) if "thing" in sorts else []
    return [_stated(subject, "be", "place", rest, value, not negated, context)] if sorts else []


def _quality(subject: _Subject, rest: Sequence[str], affirmed: bool, context: _Context) -> list[Statement]:
    """X is some way: it may be so or not be so."""
    words = [word for word in rest if word not in ARTICLES and word not in SCOPES]
    first = words[0] if words else ""
    if not first or len(words) > 4 or first in EVALUATIVE or first.endswith("ing"):
        return []
    if first.endswith("ed") and (not subject.stems or "we" in subject.stems):
        return []
    if any(word in _PRONOUNS for word in words) or subject.several:
        return []
    attribute = "be " + " ".join(sorted({stem(word) for word in words}))
    return [_stated(subject, attribute, "many", rest, Value({}, "", False), affirmed, context)]


def _inverted(words: Sequence[str], rest: Sequence[str], context: _Context) -> list[Statement]:
    """Anna is the team lead: the team lead is Anna."""
    if rest[0] not in ("the", "our", "my") or len(rest) > 7:
        return []
    cut = next((at for at, word in enumerate(rest) if GROUP.get(word) == "cue"), len(rest))
    subject = _subject(rest[:cut])
    if subject is None or not subject.single:
        return []
    value = Value({"thing": " ".join(sorted(map(stem, words)))}, "", True)
    return [_stated(subject, "", "one", words, value, True, context)]


def _flags(rest: Sequence[str], context: _Context) -> tuple[list[str], _Context]:
    """What is said without the words that say that it is new, or stands beside."""
    told = {GROUP.get(word) for word in rest}
    if "cue" not in told and "also" not in told:
        return [*rest], context
    kept = [word for word in rest if GROUP.get(word) not in ("cue",) and word not in ("too", "also")]
    adds = context.adds or "also" in told
    return kept, _Context(context.names, context.changes or "cue" in told, adds)


def _verb(
    words: Sequence[str], main: str, rest: Sequence[str], negated: bool, group: _Group, context: _Context
) -> list[Statement]:
    """X does something, in the sense that its preposition tells."""
    rest, context = _flags(rest, context)
    verb = next((v for v in VERBS[main] if v.prepositions and rest and rest[0] in v.prepositions), None)
    verb = verb or next((v for v in VERBS[main] if not v.prepositions), None)
    subject = _subject(words)
    if verb is None and main.startswith("work") and words[0] not in ("i", "we", "he", "she") and _MANNER.issuperset(rest):
        return _copula(words, ["working"], negated, context)
    if verb is None or subject is None or verb.kind == "never" or (verb.only_negated and not negated):
        return []
    if group.copula and not main.endswith("ing") and verb.kind not in ("place", "one"):
        return []
    affirmed = negated == verb.negated
    if verb.kind == "place" and subject.stems in ((), ("we",)):
        verb, rest = VERBS["live"][0], rest
    if verb.prepositions:
        rest = rest[1:] if verb.kind != "place" else rest
    match verb.kind:
        case "measured":
            return _measured(subject, verb, rest, affirmed, context)
        case "place":
            value = read_value(rest, context.names)
            return [_stated(subject, "", "place", rest, value, affirmed, context)] if value.facets else []
        case "one" | "now":
            return _one(subject, verb, rest, affirmed, context)
        case _:
            return _object(subject, verb, rest, affirmed, context)


def _one(subject: _Subject, verb: Verb, rest: Sequence[str], affirmed: bool, context: _Context) -> list[Statement]:
    value = read_value(rest, context.names)
    if not verb.prepositions and rest and rest[0] in SCOPES:
        return []
    if verb.attribute == "job":
        value = value if "occupation" in value.facets else value._replace(
            facets={"occupation": value.facets["thing"]} if "thing" in value.facets else {}
        )  # fmt: skip
        return [_stated(subject, "be", "place", rest, value, affirmed, context)] if value.facets else []
    if not value.facets or any(word in _PRONOUNS - {"a", "an"} for word in rest[:1]):
        return []
    if verb.attribute in ("live", "work") and (
        rest[0] in ("a", "an", "my", "this", "home") or set(value.facets) & TIMES
    ):
        return []
    if "thing" not in value.facets and verb.attribute in ("live", "work", "name"):
        return []
    name = value.facets.get("thing", "")
    if verb.attribute == "live" and len(name.split()) > 4:
        return []
    if verb.kind == "now" and set(value.facets) & TIMES:
        stems = sorted({stem(word) for word in _counted(rest)[1]})
        return [_stated(subject, " ".join((verb.attribute, *stems)), "place", rest, value, affirmed, context)]
    return [_stated(subject, verb.attribute, verb.kind, rest, value._replace(scope=""), affirmed, context)]


def _measured(subject: _Subject, verb: Verb, rest: Sequence[str], affirmed: bool, context: _Context) -> list[Statement]:
    """X opens, costs, lasts so and so: times and quantities alone."""
    cut = [word for word in rest if word not in ("up",)]
    value = read_value(cut, context.names)
    facets = {sort: told for sort, told in value.facets.items() if sort in TIMES or sort.startswith("number")}
    scope = value.scope
    if "clock" in facets and "weekday" in facets:
        scope = f"{scope} {facets.pop('weekday')}".strip()
    if not facets:
        return []
    return [_stated(subject, verb.attribute, "place", rest, Value(facets, scope, False), affirmed, context)]


def _object(subject: _Subject, verb: Verb, rest: Sequence[str], affirmed: bool, context: _Context) -> list[Statement]:
    """X likes, uses, has something: many things beside each other."""
    if rest[:1] in (["to"], ["no"]):
        affirmed = affirmed and rest[0] != "no"
        rest = rest[1:]
    if verb.kind == "prefer":
        return _preferred(subject, rest, affirmed, context)
    numbers, words = _counted(rest)
    if not words and not (verb.bare and not rest):
        return []
    if len(words) > 4 or any(word in _PRONOUNS and word not in ("people", "things") for word in words):
        return []
    stems = sorted({stem(_spelled(word)) for word in words})
    if verb.kind == "count":
        numbers = {sort: n for sort, n in numbers.items() if sort != "clock"}
        if not subject.stems and (words[0] in EVALUATIVE or words[0].endswith("ed")):
            return []
    told = _stated(
        subject, " ".join((verb.attribute, *stems)), "many", rest, Value(numbers, "", False), affirmed, context
    )
    found = [told]
    if verb.swap and affirmed:
        value = read_value(words, context.names)
        if value.facets and "number" not in " ".join(value.facets):
            value = value._replace(scope=read_value(rest, ()).scope)
            found.append(_stated(subject, verb.attribute, "prefer", words, value, True, context))
    if verb.attribute == "eat" and affirmed and not MEAT.isdisjoint(words):
        value = Value({"diet": "omnivore"}, "", False)
        found.append(_stated(subject, "be", "place", rest, value, True, context))
    return found


def _counted(rest: Sequence[str]) -> tuple[dict[str, str], list[str]]:
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


def _preferred(subject: _Subject, rest: Sequence[str], affirmed: bool, context: _Context) -> list[Statement]:
    """I prefer X: of one sort one thing is preferred."""
    cut = next((at for at, word in enumerate(rest) if word in ("over", "to", "than", "rather")), len(rest))
    _, words = _counted(rest[:cut])
    _, others = _counted(rest[cut + 1 :])
    if not words or len(words) > 4 or any(word in _PRONOUNS for word in words):
        return []
    value = read_value(words, context.names)
    stems = [stem(word) for word in words]
    sort = next((CLASS[word] for word in words if word in CLASS), "")
    about = sort or (" ".join(sorted({*stems, *map(stem, others)})) if others else stems[-1] if len(stems) > 1 else "")
    if not about:
        one = _stated(subject, f"prefer {stems[0]}", "many", words, Value({}, "", False), affirmed, context)
        return [one, _stated(subject, "prefer", "prefer", words, value, affirmed, context)]
    if not sort:
        value = Value({"thing": " ".join(sorted(stems[:-1] or stems))}, "", True)
    return [_stated(subject, f"prefer {about}", "one", words, value, affirmed, context)]


def _changed(words: Sequence[str], main: str, rest: Sequence[str], group: _Group, context: _Context) -> list[Statement]:
    """X was moved, somebody moved X to Y, somebody gave X up."""
    rest, context = _flags(rest, context._replace(changes=True, adds=False))
    if group.negated:
        return []
    if main in CHANGE["succeed"]:
        return _succeeded(words, main, rest, group, context)
    rising = main in CHANGE["rise"] and "to" in rest and any(word[-1].isdigit() or word[0].isdigit() for word in rest)
    if rising and words[0] not in _PERSONS:
        return _shifted(words, main, rest, group, context)
    if main in CHANGE["rise"] and main not in ("went", "dropped"):
        return []
    if main in CHANGE["shift"]:
        return _shifted(words, main, rest, group, context)
    subject = _subject(words)
    if subject is None or not rest:
        return []
    if main in CHANGE["become"]:
        value = read_value(rest, context.names)
        told = value._replace(facets={s: v for s, v in value.facets.items() if s in CLASS.values() or s == "number"})
        return _copula(words, rest, False, context) if told.facets else []
    if main in CHANGE["give"]:
        if "up" not in rest:
            return []
        rest = [word for word in rest if word != "up"]
    if rest and rest[0] in VERBS and rest[0].endswith("ing"):
        return _verb(words, rest[0], rest[1:], True, group, context)
    _, gone = _counted([word for word in rest if word not in CHANGE["particles"]])
    if not gone or len(gone) > 4 or any(word in _PRONOUNS for word in gone):
        return []
    found = [_dropped(subject, gone, context)]
    if main in CHANGE["cancel"]:
        found += _copula(rest, ["cancelled"], False, context)
    return found


def _succeeded(
    words: Sequence[str], main: str, rest: Sequence[str], group: _Group, context: _Context
) -> list[Statement]:
    """We replaced one thing with another; somebody replaced somebody, or took over, as what he is now."""
    office = next((at for at, word in enumerate(rest) if word == "as"), -1)
    if office >= 0 and words[0] not in _PERSONS and rest[office + 1 :]:
        subject = _subject(rest[office + 1 :])
        told = rest[:office][-1:] if group.copula else words
        if subject is None or not subject.single or (main == "took" and rest[0] != "over"):
            return []
        value = Value({"thing": " ".join(sorted(map(stem, told)))}, "", True)
        return [_stated(subject, "", "one", told, value, True, context)]
    if main == "replaced" and "with" in rest and not group.copula and words[0] in ("i", "we"):
        by = rest.index("with")
        return _switched(words, main, rest[by + 1 :], rest[:by], context) if rest[by + 1 :] else []
    return []


def _dropped(subject: _Subject, words: Sequence[str], context: _Context) -> Statement:
    """Whatever was done with it, it is no more."""
    stems = " ".join(sorted({stem(_spelled(word)) for word in words}))
    return _stated(subject, "", "never", words, Value({"thing": stems}, "", False), False, context)


def _shifted(words: Sequence[str], main: str, rest: Sequence[str], group: _Group, context: _Context) -> list[Statement]:
    """From, where it is told, to."""
    targets = ("to", "until", "till", "into", "for") if main == "rescheduled" else ("to", "until", "till", "into")
    to = next((at for at, word in enumerate(rest) if word in targets), -1)
    if to < 0 or to + 1 >= len(rest):
        return []
    source = next((at for at, word in enumerate(rest[:to]) if word == "from"), -1)
    what = [word for word in rest[: source if source >= 0 else to] if word not in CHANGE["particles"]]
    target = rest[to + 1 :]
    old_words = rest[source + 1 : to] if source >= 0 else []
    after = next((at for at, word in enumerate(target) if word == "from"), -1)
    if after > 0:
        target, old_words = target[:after], target[after + 1 :]
    old = read_value(old_words, context.names) if old_words else None
    if main == "promoted":
        return _copula(words, target, False, context)
    if main in CHANGE["place"] and not group.copula and not what and _person(words, context):
        return _switched(words, main, target, old_words, context)
    if words[0] in _PERSONS and len(words) == 1 and not group.copula:
        if what:
            return _moved_to(what, target, old, main, context)
        return _switched(words, main, target, old_words, context)
    return _moved_to(words, target, old, main, context)


def _person(words: Sequence[str], context: _Context) -> bool:
    """Whether a subject is somebody: kin, a friend, or one name alone."""
    return stem(words[-1]) in PERSON or words in (["he"], ["she"]) or (len(words) == 1 and words[0] in context.names)


def _moved_to(
    what: Sequence[str], target: Sequence[str], old: Value | None, main: str, context: _Context
) -> list[Statement]:
    subject = _subject(what)
    value = read_value(target, context.names)
    if subject is None or not subject.stems or not value.facets or any(word in _PRONOUNS - ARTICLES for word in target):
        return []
    if "thing" in value.facets and main in CHANGE["place"] and not subject.single:
        value = value._replace(facets={"place": value.facets["thing"]})
    kind: Kind = "one" if subject.single or "thing" in value.facets else "place"
    return [_stated(subject, "", kind, target, value, True, context, old)]


def _switched(
    words: Sequence[str], main: str, target: Sequence[str], old: Sequence[str], context: _Context
) -> list[Statement]:
    """I moved to a place; we switched from one thing to another."""
    subject = _subject(words)
    if subject is None or any(word in _PRONOUNS - ARTICLES for word in target[:2]):
        return []
    if main in CHANGE["place"] and not (old and words[0] == "we"):
        cut = next((at for at, word in enumerate(target) if at and word in SCOPES), len(target))
        target = target[:cut]
        value = read_value(target, context.names)
        if (
            "thing" not in value.facets
            or target[0] in ("a", "an", "my", "another")
            or len(value.facets["thing"].split()) > 4
        ):
            return []
        return [_stated(subject, "live", "one", target, value._replace(scope=""), True, context)]
    found = [_dropped(subject, _counted(old)[1], context)] if _counted(old)[1] else []
    if not old:
        value = read_value(target, context.names)
        found.append(_stated(subject, "", "switch", target, value, True, context))
    return found + _object(subject, VERBS["use"][0], target, True, context)
