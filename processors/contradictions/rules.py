"""What plain statements say: X is Y, X does or has something, X can do something, there is an X."""

from __future__ import annotations

from collections.abc import Sequence

from processors.contradictions.lexicon import (
    CLASS,
    EVALUATIVE,
    GROUP,
    MEAT,
    SINGLE,
    STATE,
    VERBS,
    WORDS,
    Kind,
    Verb,
    stem,
)
from processors.contradictions.phrases import (
    PERSONS,
    PRONOUNS,
    Context,
    Group,
    Statement,
    Subject,
    read_count,
    read_flags,
    read_subject,
    spelled,
    stated_as,
)
from processors.contradictions.values import ARTICLES, SCOPES, TIMES, Value, read_value

_LASTING = WORDS["lasting"]
"""Sorts of states that hold at times."""
_MANNER = WORDS["manner"]
_UNABLE = WORDS["unable"]
"""What one cannot do in phrases that say nothing of abilities."""
NEW_WORK = WORDS["new_work"]
HIRED = WORDS["hired"]
_IDLE = WORDS["idle_doing"]
_NOT_VALUES = WORDS["not_values"]


def read_existence(words: list[str], context: Context) -> list[Statement]:
    """There is an X, or none."""
    if GROUP.get(words[1]) != "is" or any(GROUP.get(word) == "reject" for word in words):
        return []
    rest, context = read_flags(words[2:], context)
    affirmed = not {"no", "not"} & set(rest[:2])
    rest = [word for word in rest if word not in ("no", "not", "any", "anymore")]
    numbers, told = read_count(rest)
    if not told or len(told) > 3 or any(word in PRONOUNS and word != "people" for word in told):
        return []
    where = rest[rest.index(told[-1]) + 1 :] if numbers else []
    about = [*told, *(word for word in where if word not in SCOPES and word not in ARTICLES)]
    stems = " ".join(sorted({stem(spelled(word)) for word in about}))
    subject = Subject(False, (), False, False, False)
    return [stated_as(subject, f"there {stems}", "many", told, Value(numbers, "", False), affirmed, context)]


def read_employment(words: Sequence[str], context: Context) -> list[Statement]:
    """I got a new job at X."""
    at = next((at for at, word in enumerate(words) if word in ("at", "with") and words[at - 1] in NEW_WORK), 0)
    by = next(at for at, word in enumerate(words) if word in HIRED)
    subject = read_subject([word for word in words[:by] if GROUP.get(word) is None])
    if not at or subject is None or len(words) > 12 or "interview" in words:
        return []
    return _one(subject, VERBS["work"][0], words[at + 1 :], True, context._replace(changes=True))


def read_ability(subject: Subject | None, words: Sequence[str], affirmed: bool, context: Context) -> list[Statement]:
    """X can do something, or cannot."""
    words, context = read_flags(words, context)
    words = [word for word in words if word not in ARTICLES and word not in ("it", "too", "also")]
    if subject is None or "we" in subject.stems or not 1 <= len(words) <= 6 or any(word in PRONOUNS for word in words):
        return []
    if words[0] in _UNABLE:
        return []
    stems = " ".join(sorted({stem(word) for word in words}))
    return [stated_as(subject, f"can {stems}", "many", words, Value({}, "", False), affirmed, context)]


def read_state(
    words: Sequence[str], main: str, rest: Sequence[str], negated: bool, context: Context
) -> list[Statement]:
    """X works; the tests fail."""
    if words[0] in PERSONS or not _MANNER.issuperset(rest):
        return []
    return read_copula(words, [STATE[main]], negated, context)


def read_copula(words: Sequence[str], rest: Sequence[str], negated: bool, context: Context) -> list[Statement]:
    """X is Y."""
    subject = read_subject(words)
    rest, context = read_flags(rest, context)
    if rest[:1] == ["back"] and len(rest) > 1 and rest[1] in CLASS:
        rest, context = rest[1:], context._replace(changes=True)
    if subject is None or not rest or (rest[0] in _NOT_VALUES and rest[0] != "not"):
        return []
    if rest[:3] == ["in", "charge", "of"] and rest[3:] and subject.bare:
        office = Subject(False, ("charge", *sorted({stem(word) for word in rest[3:]})), False, False, False)
        value = Value({"thing": " ".join(subject.stems)}, "", True)
        return [stated_as(office, "", "one", words, value, not negated, context)]
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
    return [stated_as(subject, "", kind, rest, value, not negated, context)]


def _at_times(value: Value) -> Value:
    """A state that holds at a time: open on Sundays."""
    if "marriage" in value.facets:
        return value._replace(facets={"marriage": value.facets["marriage"]}, scope="")
    states = {sort: told for sort, told in value.facets.items() if sort in _LASTING}
    times = [value.facets[sort] for sort in sorted(TIMES & value.facets.keys())]
    return value._replace(facets=states, scope="@" + " ".join(times)) if states and times else value


def _self(subject: Subject, rest: Sequence[str], value: Value, negated: bool, context: Context) -> list[Statement]:
    """I am Y."""
    sorts = set(value.facets)
    if "availability" in sorts and value.scope[:1] != "@" and not {"free", "busy"}.isdisjoint(rest):
        return []
    if "from" in sorts:
        return [stated_as(subject, "be from", "one", rest, value, not negated, context)]
    if any(sort in ("thing", "place", "to") or sort in TIMES or sort.startswith("number ") for sort in sorts):
        return _quality(subject, rest, not negated, context) if "thing" in sorts else []
    return [stated_as(subject, "be", "place", rest, value, not negated, context)] if sorts else []


def _quality(subject: Subject, rest: Sequence[str], affirmed: bool, context: Context) -> list[Statement]:
    """X is some way: it may be so or not be so."""
    words = [word for word in rest if word not in ARTICLES and word not in SCOPES]
    first = words[0] if words else ""
    if not first or len(words) > 4 or first in EVALUATIVE or first in _IDLE:
        return []
    if first.endswith("ed") and (not subject.stems or "we" in subject.stems):
        return []
    if any(word in PRONOUNS for word in words) or subject.several:
        return []
    attribute = "be " + " ".join(sorted({stem(word) for word in words}))
    return [stated_as(subject, attribute, "many", rest, Value({}, "", False), affirmed, context)]


def _inverted(words: Sequence[str], rest: Sequence[str], context: Context) -> list[Statement]:
    """Anna is the team lead: the team lead is Anna."""
    if rest[0] not in ("the", "our", "my") or len(rest) > 7:
        return []
    cut = next((at for at, word in enumerate(rest) if GROUP.get(word) == "cue"), len(rest))
    subject = read_subject(rest[:cut])
    if subject is None or not subject.single:
        return []
    value = Value({"thing": " ".join(sorted(map(stem, words)))}, "", True)
    return [stated_as(subject, "", "one", words, value, True, context)]


def read_verb(
    words: Sequence[str], main: str, rest: Sequence[str], negated: bool, group: Group, context: Context
) -> list[Statement]:
    """X does something, in the sense that its preposition tells."""
    rest, context = read_flags(rest, context)
    verb = next((v for v in VERBS[main] if v.prepositions and rest and rest[0] in v.prepositions), None)
    verb = verb or next((v for v in VERBS[main] if not v.prepositions), None)
    subject = read_subject(words)
    if verb is None and main.startswith("work") and rest and CLASS.get(rest[0]) in ("attendance", "hours"):
        return read_copula(words, rest, negated, context)
    if verb is None and main in STATE:
        return read_state(words, main, rest, negated, context)
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
            return [stated_as(subject, "", "place", rest, value, affirmed, context)] if value.facets else []
        case "one" | "now":
            return _one(subject, verb, rest, affirmed, context)
        case _:
            return read_object(subject, verb, rest, affirmed, context)


def _one(subject: Subject, verb: Verb, rest: Sequence[str], affirmed: bool, context: Context) -> list[Statement]:
    value = read_value(rest, context.names)
    if not verb.prepositions and rest and rest[0] in SCOPES:
        return []
    if verb.attribute == "job":
        value = value if "occupation" in value.facets else value._replace(
            facets={"occupation": value.facets["thing"]} if "thing" in value.facets else {}
        )  # fmt: skip
        return [stated_as(subject, "be", "place", rest, value, affirmed, context)] if value.facets else []
    if not value.facets or any(word in PRONOUNS - {"a", "an"} for word in rest[:1]):
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
        stems = sorted({stem(word) for word in read_count(rest)[1]})
        return [stated_as(subject, " ".join((verb.attribute, *stems)), "place", rest, value, affirmed, context)]
    return [stated_as(subject, verb.attribute, verb.kind, rest, value._replace(scope=""), affirmed, context)]


def _measured(subject: Subject, verb: Verb, rest: Sequence[str], affirmed: bool, context: Context) -> list[Statement]:
    """X opens, costs, lasts so and so: times and quantities alone."""
    cut = [word for word in rest if word not in ("up",)]
    value = read_value(cut, context.names)
    facets = {sort: told for sort, told in value.facets.items() if sort in TIMES or sort.startswith("number")}
    scope = value.scope
    if "clock" in facets and "weekday" in facets:
        scope = f"{scope} {facets.pop('weekday')}".strip()
    if not facets:
        return []
    return [stated_as(subject, verb.attribute, "place", rest, Value(facets, scope, False), affirmed, context)]


def read_object(subject: Subject, verb: Verb, rest: Sequence[str], affirmed: bool, context: Context) -> list[Statement]:
    """X likes, uses, has something: many things beside each other."""
    if rest[:1] in (["to"], ["no"]):
        affirmed = affirmed and rest[0] != "no"
        rest = rest[1:]
    if verb.kind == "prefer":
        return _preferred(subject, rest, affirmed, context)
    numbers, words = read_count(rest)
    if not words and not (verb.bare and not rest):
        return []
    if len(words) > 4 or any(word in PRONOUNS and word not in ("people", "things") for word in words):
        return []
    stems = sorted({stem(spelled(word)) for word in words})
    if verb.kind == "count":
        numbers = {sort: n for sort, n in numbers.items() if sort != "clock"}
        if not subject.stems and (words[0] in EVALUATIVE or words[0].endswith("ed")):
            return []
    told = stated_as(
        subject, " ".join((verb.attribute, *stems)), "many", rest, Value(numbers, "", False), affirmed, context
    )
    found = [told]
    if verb.attribute == "handle" and subject.bare and affirmed:
        value = Value({"thing": " ".join(subject.stems)}, "", True)
        office = Subject(False, (), False, False, False)
        found = [stated_as(office, " ".join((verb.attribute, *stems)), "now", rest, value, True, context)]
    if verb.swap and affirmed and 1 < len(words) <= 3 and stem(words[-1]) in SINGLE:
        head = f"{verb.attribute} {stem(words[-1])}"
        value = Value({"thing": " ".join(sorted(map(stem, words[:-1])))}, read_value(rest, ()).scope, True)
        found.append(stated_as(subject, head, "one", words, value, True, context))
    if verb.swap and affirmed:
        value = read_value(words, context.names)
        if value.facets and "number" not in " ".join(value.facets):
            value = value._replace(scope=read_value(rest, ()).scope)
            found.append(stated_as(subject, verb.attribute, "prefer", words, value, True, context))
    if verb.attribute == "eat" and affirmed and not MEAT.isdisjoint(words):
        value = Value({"diet": "omnivore"}, "", False)
        found.append(stated_as(subject, "be", "place", rest, value, True, context))
    return found


def _preferred(subject: Subject, rest: Sequence[str], affirmed: bool, context: Context) -> list[Statement]:
    """I prefer X: of one sort one thing is preferred."""
    cut = next((at for at, word in enumerate(rest) if word in ("over", "to", "than", "rather")), len(rest))
    _, words = read_count(rest[:cut])
    _, others = read_count(rest[cut + 1 :])
    if not words or len(words) > 4 or any(word in PRONOUNS for word in words):
        return []
    value = read_value(words, context.names)
    stems = [stem(word) for word in words]
    sort = next((CLASS[word] for word in words if word in CLASS), "")
    about = sort or (" ".join(sorted({*stems, *map(stem, others)})) if others else stems[-1] if len(stems) > 1 else "")
    if not about:
        one = stated_as(subject, f"prefer {stems[0]}", "many", words, Value({}, "", False), affirmed, context)
        return [one, stated_as(subject, "prefer", "prefer", words, value, affirmed, context)]
    if not sort:
        value = Value({"thing": " ".join(sorted(stems[:-1] or stems))}, "", True)
    return [stated_as(subject, f"prefer {about}", "one", words, value, affirmed, context)]
