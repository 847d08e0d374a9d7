"""What statements of a change say: X was moved, somebody gave X up, X took over from Y."""

from __future__ import annotations

from collections.abc import Sequence

from processors.contradictions.lexicon import CHANGE, CLASS, VERBS, Kind, stem
from processors.contradictions.phrases import (
    PERSONS,
    PRONOUNS,
    Context,
    Group,
    Statement,
    Subject,
    is_person,
    read_count,
    read_flags,
    read_subject,
    spelled,
    stated_as,
)
from processors.contradictions.rules import read_copula, read_object, read_verb
from processors.contradictions.values import ARTICLES, SCOPES, Value, read_value


def is_change(main: str, group: Group) -> bool:
    if main in CHANGE["shift"] or main in CHANGE["succeed"]:
        return True
    if group.copula or group.got:
        return False
    return any(main in CHANGE[sort] for sort in ("stop", "lose", "give", "become", "rise"))


def read_change(
    words: Sequence[str], main: str, rest: Sequence[str], group: Group, context: Context
) -> list[Statement]:
    """X was moved, somebody moved X to Y, somebody gave X up."""
    rest, context = read_flags(rest, context._replace(changes=True, adds=False))
    if group.negated:
        return []
    if main in CHANGE["succeed"]:
        return _succeeded(words, main, rest, group, context)
    rising = main in CHANGE["rise"] and "to" in rest and any(word[-1].isdigit() or word[0].isdigit() for word in rest)
    if rising and words[0] not in PERSONS:
        return _shifted(words, main, rest, group, context)
    if main in CHANGE["rise"] and main not in ("went", "dropped"):
        return []
    if main in CHANGE["shift"]:
        return _shifted(words, main, rest, group, context)
    subject = read_subject(words)
    if subject is None or not rest:
        return []
    if main in CHANGE["become"]:
        value = read_value(rest, context.names)
        told = value._replace(facets={s: v for s, v in value.facets.items() if s in CLASS.values() or s == "number"})
        return read_copula(words, rest, False, context) if told.facets else []
    if main in CHANGE["give"]:
        if "up" not in rest:
            return []
        rest = [word for word in rest if word != "up"]
    if rest and rest[0] in VERBS and rest[0].endswith("ing"):
        return read_verb(words, rest[0], rest[1:], True, group, context)
    _, gone = read_count([word for word in rest if word not in CHANGE["particles"]])
    if not gone or len(gone) > 4 or any(word in PRONOUNS for word in gone):
        return []
    found = [_dropped(subject, gone, context)]
    if main in CHANGE["cancel"]:
        found += read_copula(rest, ["cancelled"], False, context)
    return found


def _succeeded(words: Sequence[str], main: str, rest: Sequence[str], group: Group, context: Context) -> list[Statement]:
    """We replaced one thing with another; somebody replaced somebody, or took over, as what he is now."""
    office = next((at for at, word in enumerate(rest) if word == "as"), -1)
    if office >= 0 and words[0] not in PERSONS and rest[office + 1 :]:
        subject = read_subject(rest[office + 1 :])
        told = rest[:office][-1:] if group.copula else words
        if subject is None or not subject.single or (main == "took" and rest[0] != "over"):
            return []
        value = Value({"thing": " ".join(sorted(map(stem, told)))}, "", True)
        return [stated_as(subject, "", "one", told, value, True, context)]
    if main == "replaced" and "with" in rest and not group.copula and words[0] in ("i", "we"):
        by = rest.index("with")
        return _switched(words, main, rest[by + 1 :], rest[:by], context) if rest[by + 1 :] else []
    return []


def _dropped(subject: Subject, words: Sequence[str], context: Context) -> Statement:
    """Whatever was done with it, it is no more."""
    stems = " ".join(sorted({stem(spelled(word)) for word in words}))
    return stated_as(subject, "", "never", words, Value({"thing": stems}, "", False), False, context)


def _shifted(words: Sequence[str], main: str, rest: Sequence[str], group: Group, context: Context) -> list[Statement]:
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
        return read_copula(words, target, False, context)
    if main in CHANGE["place"] and not group.copula and not what and is_person(words, context):
        return _switched(words, main, target, old_words, context)
    if words[0] in PERSONS and len(words) == 1 and not group.copula:
        if what:
            return _moved_to(what, target, old, main, context)
        return _switched(words, main, target, old_words, context)
    return _moved_to(words, target, old, main, context)


def _moved_to(
    what: Sequence[str], target: Sequence[str], old: Value | None, main: str, context: Context
) -> list[Statement]:
    subject = read_subject(what)
    value = read_value(target, context.names)
    if subject is None or not subject.stems or not value.facets or any(word in PRONOUNS - ARTICLES for word in target):
        return []
    if "thing" in value.facets and main in CHANGE["place"] and not subject.single:
        value = value._replace(facets={"place": value.facets["thing"]})
    kind: Kind = "one" if subject.single or "thing" in value.facets else "place"
    return [stated_as(subject, "", kind, target, value, True, context, old)]


def _switched(
    words: Sequence[str], main: str, target: Sequence[str], old: Sequence[str], context: Context
) -> list[Statement]:
    """I moved to a place; we switched from one thing to another."""
    subject = read_subject(words)
    if subject is None or any(word in PRONOUNS - ARTICLES for word in target[:2]):
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
        return [stated_as(subject, "live", "one", target, value._replace(scope=""), True, context)]
    found = [_dropped(subject, read_count(old)[1], context)] if read_count(old)[1] else []
    if not old:
        value = read_value(target, context.names)
        found.append(stated_as(subject, "", "switch", target, value, True, context))
    return found + read_object(subject, VERBS["use"][0], target, True, context)
