"""Claims: sentences whose words say that something is concluded, and hints that conclusions are judged by.

Six patterns (Cognitive Context Management, tier 2): declaration, resolution, negation, confirmation, convergence,
completion. A claim is what the words of ONE turn say; whether it concludes anything is judged where the conversation is
known (processors/manifest/conclusion.py). Words do not claim what they negate, ask, suppose, announce or quote: "not
done yet", "is it done?", "once it's merged", "> done", "he said it is done".

The cue tables are data: one TOML file per language beside this one. A turn without any trigger word costs a lookup per
word and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from streams.core.patterns import lazily
from streams.core.text.phrases import (
    ASKS,
    LEAVE_OPEN,
    MARKED,
    MAY_OPEN,
    OPENING,
    QUERY,
    TABLES,
    Group,
    Language,
    triggers,
)
from streams.core.text.sentences import (
    END,
    LINE_MARKS,
    LONGEST,
    MAX_SENTENCES,
    WORD,
    Sentence,
    last_sentences,
    lower,
    read_sentences,
)

HEDGED = 0.8
"""Factor for "I think", "it seems"."""
ASKS_ON = 0.75
"""Factor where the turn goes on to ask for more: the one thing may be over, the work is not."""


@dataclass(slots=True)
class Claim:
    """One sentence that claims a conclusion."""

    pattern: str
    """declaration, resolution, negation, confirmation, convergence and completion conclude. What else is told is for
    the judgement of these: thanks, farewell, reply (content beside the gratitude: an answer to a question, say),
    problem (stated trouble), undecided (something that is to be decided), choice, deferral ("I'll get back to you"),
    pending (an assistant that waits or promises), handoff (one that hands over)."""
    confidence: float
    start: int
    end: int


class _Rest(NamedTuple):
    """What a sentence holds besides the words that claim something, of which there are some where `claimed`."""

    text: str
    bare: str
    words: list[str]
    claimed: bool


Called = tuple[Group, list[str]]
"""A group that a turn calls for, and which of its `near` stand there."""


_CLAUSE = lazily(r"[,;:]|\b(?:but|and|so)\b")
_GROUPS = {
    role: sum(group.bit for language in TABLES for group in language.groups if role in group.roles)
    for role in ("user", "assistant")
}
"""The bits of a role's groups."""
CALLING = {"user": _GROUPS["user"], "assistant": ~MAY_OPEN}
"""The bits of a turn's words, by its role, one of which it takes for `claims` to find anything. Why not all of them for
an assistant: what may leave it open is found by words as they stand, and told by words in lower case."""
_SOFT = sum(
    group.bit for language in TABLES for group in language.groups if group.pattern in ("thanks", "confirmation")
)
"""The bits of groups that count for nothing in a turn that asks."""
_TOLD = frozenset(("problem", "undecided"))
"""What is told of a matter, rather than claimed of its end."""
_SETTLED = _TOLD | {"negation"}
"""Claims that stand whatever else the turn says."""
_EVEN_ASKED = _TOLD | {"farewell"}
"""Claims that a question may make."""
_GRACES = frozenset(("thanks", "farewell", "confirmation"))
"""Claims that conclude only where the turn asks for nothing."""


def _asks(text: str, against: dict[str, re.Pattern[str]]) -> bool:
    if text.rstrip(")\"'*_ ").endswith(("?", "？")):
        return True
    return not text.endswith("!") and against["question"].match(text) is not None


def _last_clause(before: str) -> str:
    at = 0
    for stop in _CLAUSE.finditer(before):
        at = stop.end()
    return before[at:]


def _weight(language: Language, group: Group, text: str, start: int, end: int) -> float:
    """1 where the words at start..end say what they seem to say, HEDGED where carefully, 0 where they do not."""
    against = language.against
    before = text[:start]
    if group.pattern in _TOLD:
        return 1.0
    if _asks(text, against) and group.pattern != "farewell":
        return 0.0
    clause = _last_clause(before)
    if group.pattern in ("thanks", "farewell"):
        return 0.0 if against["hypothetical"].search(clause) and not clause.strip().endswith("say") else 1.0
    if against["reported"].search(before):
        return 0.0
    if group.name == "finish":
        before = against["courtesy"].sub(" ", before)
    if against["hypothetical"].search(before if group.name != "resolved" else clause):
        return 0.0
    if against["temporal"].search(before if group.pattern == "completion" else clause):
        return 0.0
    if group.pattern not in ("negation", "convergence") and against["negated"].search(clause):
        return 0.0
    if group.pattern in ("completion", "resolution"):
        after = text[end:].lstrip(" ")
        if group.name != "finish" and against["partial"].search(text):
            return 0.0
        if group.name == "resolved" and against["before"].search(clause):
            return 0.0
        if group.name != "resolved" and against["after"].match(after):
            return 0.0
    return HEDGED if group.name != "finish" and against["hedged"].search(clause) else 1.0


@dataclass(slots=True)
class _Turn:
    """What has been found in a turn so far."""

    claims: list[Claim]
    asks_on: bool = False
    """It goes on to ask for something."""
    contrast: int = -1
    """Where the last "but" stands."""
    instead: bool = False
    """Whether that is only that one thing is chosen instead of another."""
    defers: bool = False
    finished: int = -1
    """Where the last words stand by which the speaker wants no more."""
    facts: int = 0
    """Words in sentences that claim nothing and are more than "I see", "I'll look into that"."""
    other: int = 0
    """Of these, words in sentences that are more than a remark: "that ...", "great ..."."""
    yes: bool = False
    """It begins with yes."""


def _claim(turn: _Turn, language: Language, groups: list[Called], sentence: Sentence) -> str:
    """Adds what the sentence claims; returns the sentence without the words that claim it."""
    text = rest = sentence.text
    asked = text[-1] == "?"
    best: dict[str, float] = {}
    for group, near in groups:
        if (asked and group.pattern not in _EVEN_ASKED) or not _holds(text, near):
            continue
        found = group.found.search(text)
        if found is None:
            continue
        weight = _weight(language, group, text, found.start(), found.end())
        if not weight:
            continue
        best[group.pattern] = max(best.get(group.pattern, 0.0), round(group.confidence * weight, 3))
        if group.pattern not in _TOLD:
            rest = rest[: found.start()] + " " * (found.end() - found.start()) + rest[found.end() :]
        if group.name == "finish":
            turn.finished = sentence.start + found.start()
    if "thanks" in best:
        best.pop("problem", None)  # "thanks for fixing the error" tells of no trouble
    for pattern, confidence in best.items():
        turn.claims.append(Claim(pattern, confidence, sentence.start, sentence.start + len(text)))
    return rest


def _claim_all(turn: _Turn, languages: list[tuple[Language, list[Called]]], sentence: Sentence) -> str:
    """Adds what the sentence claims in any language; returns the sentence without the words that claim it."""
    rest = sentence.text
    for language, groups in languages:
        blanked = _claim(turn, language, groups, sentence)
        if rest == sentence.text:
            rest = blanked
        elif blanked != sentence.text:
            rest = "".join([a if a == b else " " for a, b in zip(rest, blanked, strict=True)])
    return rest


def _rest(sentence: Sentence, blanked: str) -> _Rest:
    bare = blanked.strip(" ,.!;:-")
    return _Rest(blanked, bare, WORD.findall(bare) if bare else [], blanked != sentence.text)


def _speaks(language: Language, name: str, text: str, words: list[str]) -> re.Match[str] | None:
    """Where in a sentence of these words that stands which speaks against its claims."""
    guard = language.guards.get(name)
    return None if guard is not None and guard.isdisjoint(words) else language.against[name].search(text)


def _begins(languages: list[Language], name: str, text: str) -> bool:
    """Whether in any language a sentence begins with what is called that."""
    for language in languages:  # noqa: SIM110  a loop costs half of any()
        if language.against[name].match(text):
            return True
    return False


def _asks_on(language: Language, sentence: Sentence, rest: _Rest) -> bool:
    """Whether a sentence asks for something besides what it claims."""
    if rest.claimed:
        if sentence.text[-1] == "?" and len(rest.words) > 2:
            return True
    elif _asks(rest.text, language.against):
        return True
    return (
        _speaks(language, "request", rest.text, rest.words) is not None
        or language.against["imperative"].match(rest.bare) is not None
    )


def _weigh_user(turn: _Turn, languages: list[Language], sentence: Sentence, rest: _Rest) -> None:
    """Notes what in a sentence speaks against concluding besides requests: contrasts, deferrals, other content."""
    for language in languages:
        against = language.against
        if but := _speaks(language, "contrast", rest.text, rest.words):
            turn.contrast, turn.instead = sentence.start + but.start(), but.group() == "instead"
        if not turn.defers and _speaks(language, "deferral", rest.text, rest.words):
            turn.defers = against["unless_need"].search(rest.text) is None
    if not rest.claimed and len(rest.words) > 2 and not _begins(languages, "light", rest.bare):
        turn.facts += len(rest.words)
        if not _begins(languages, "neutral", rest.bare):
            turn.other += len(rest.words)


def _settle_user(turn: _Turn) -> list[Claim]:
    """What remains of a user's claims, given all the turn says."""
    asks_on, contrast, finished = turn.asks_on, turn.contrast, turn.finished
    found: list[Claim] = []
    troubled = max((claim.end for claim in turn.claims if claim.pattern == "problem"), default=-1)
    for claim in turn.claims:
        confidence = claim.confidence
        match claim.pattern:
            case "thanks" | "farewell" | "confirmation":
                if asks_on or (contrast > claim.start and contrast > finished):
                    continue
                if finished < 0 and (troubled >= 0 or (contrast >= 0 and confidence < 0.9)):
                    confidence = min(confidence, 0.5)
                elif turn.other > 4 and confidence < 0.9:
                    confidence = 0.6
                elif turn.other > 30:
                    confidence = 0.7
                if turn.defers and finished < 0:
                    confidence = min(confidence, 0.5)
            case "choice":  # asked for more besides, it is a choice none the less
                if contrast > claim.start and not turn.instead:
                    continue
            case "completion" | "resolution" | "declaration" | "convergence":
                if contrast >= 0 and contrast > claim.start and contrast > finished:
                    continue
                if asks_on and claim.start <= finished < claim.end:
                    continue
                if claim.pattern == "completion" and finished < 0 and troubled > claim.start:
                    continue
                confidence *= ASKS_ON if asks_on else 1
        found.append(Claim(claim.pattern, round(confidence, 3), claim.start, claim.end))
    return found


def _surely_asks(content: str, bits: int) -> bool:
    """Whether a sentence ends in a question mark, told by the bits alone; where that is not certain, False."""
    return (
        bits & (ASKS | MARKED) == ASKS
        and len(content) <= LONGEST
        and sum(map(content.count, ".!?;")) < MAX_SENTENCES
        and "\n" not in content
        and content[0] not in LINE_MARKS
        and content.isascii()
    )


def _user(content: str, bits: int) -> list[Claim]:
    asks = _surely_asks(content, bits)
    called = bits & _GROUPS["user"]
    if asks and not called & ~_SOFT:
        return []
    lowered = lower(content)
    languages, called = _fired(called, lowered)
    if not called or (asks and not called & ~_SOFT):
        return []
    sentences = read_sentences(lowered, bits & MARKED != 0)
    if not called & ~_SOFT and any(text[-1] == "?" and WORD.search(text) for text, _ in sentences):
        return []
    turn = _Turn([])
    blanked = [_claim_all(turn, languages, sentence) for sentence in sentences]
    said = {claim.pattern for claim in turn.claims}
    if said <= _SETTLED:
        return turn.claims
    known = [language for language, _ in languages]
    if TABLES[0] not in known:
        known.insert(0, TABLES[0])  # Why: people mix a foreign thanks or goodbye into English requests
    rests = [(sentence, _rest(sentence, text)) for sentence, text in zip(sentences, blanked, strict=True)]
    told = [(sentence, rest) for sentence, rest in rests if rest.words]
    turn.asks_on = any(_asks_on(language, sentence, rest) for sentence, rest in told for language in known)
    if turn.asks_on and said <= _GRACES:
        return []
    turn.yes = _begins(known, "yes", sentences[0].text)
    for sentence, rest in told:
        _weigh_user(turn, known, sentence, rest)
    found = _settle_user(turn)
    if any(claim.pattern in _GRACES for claim in found):
        if turn.yes or turn.facts > 2:
            found.append(Claim("reply", 0.6 if turn.yes else 0.5, 0, len(lowered)))
        if turn.defers:
            found.append(Claim("deferral", 0.5, 0, len(lowered)))
    return found


def _assistant(content: str, bits: int) -> list[Claim]:
    lowered = lower(content)
    languages, called = _fired(bits & _GROUPS["assistant"], lowered)
    if not called:
        return []
    turn = _Turn([])
    sentences = read_sentences(lowered, bits & MARKED != 0)
    for sentence in sentences:
        for language, groups in languages:
            _claim(turn, language, groups, sentence)
    if not any(claim.pattern == "completion" for claim in turn.claims):
        return turn.claims
    for text, start in sentences:
        for language, _ in languages:
            if but := language.against["contrast"].search(text):
                turn.contrast = start + but.start()
    return [
        Claim(c.pattern, 0.5, c.start, c.end) if turn.contrast > c.start and c.pattern == "completion" else c
        for c in turn.claims
    ]


def _may_leave_open(content: str, bits: int) -> bool:
    """Whether a look at its end may find that a turn is left open; a word that is cut there may be any."""
    return bits & (QUERY | MAY_OPEN) != 0 or (len(content) > END and not content[-END - 1].isspace())


def _left_open(content: str) -> list[Claim]:
    """Whether the end of an assistant's turn waits, promises or hands over."""
    found: list[Claim] = []
    base = max(0, len(content) - END)
    for text, start in last_sentences(lower(content[base:]), base):
        if text[-1] == "?":
            found.append(Claim("pending", 0.6, start, start + len(text)))
            return found
        if OPENING.isdisjoint(text.split()):
            continue
        for language in LEAVE_OPEN:
            if _hands(language, text):
                found.append(Claim("handoff", 0.6, start, start + len(text)))
            if _waits(language, text):
                found.append(Claim("pending", 0.6, start, start + len(text)))
                return found
    return found


def _holds(text: str, any_of: Sequence[str]) -> bool:
    for word in any_of:  # noqa: SIM110  a loop costs half of any()
        if word in text:
            return True
    return False


def _hands(language: Language, text: str) -> bool:
    against = language.against
    return (
        _holds(text, language.hands)
        and against["handoff"].search(text) is not None
        and against["offered"].search(text) is None
    )


def _waits(language: Language, text: str) -> bool:
    against = language.against
    if _holds(text, language.polite) and against["courtesy"].search(text):
        return False
    return against["waits"].search(text) is not None or against["promises"].search(text) is not None


def _fired(bits: int, lowered: str) -> tuple[list[tuple[Language, list[Called]]], int]:
    """The languages and groups that a turn's words call for; the bits of these groups."""
    languages: list[tuple[Language, list[Called]]] = []
    fired = 0
    for language in TABLES:
        if not bits & language.mask:
            continue
        groups: list[Called] = []
        for group in language.groups:
            if bits & group.bit and (
                near := [word for part, words in group.near if part in lowered for word in words if word in lowered]
            ):
                groups.append((group, near))
                fired |= group.bit
        if groups:
            languages.append((language, groups))
    return languages, fired


def claims(content: str, role: str, bits: int | None = None) -> list[Claim]:
    """The claims and hints in a turn, in order of appearance; `bits` are the `triggers` of all its words."""
    if bits is None:
        bits = 0
        for word in content.split():
            bits |= triggers(word)
    found: list[Claim] = []
    if role == "user":
        if bits & _GROUPS["user"]:
            found = _user(content, bits)
    elif role == "assistant":
        if bits & _GROUPS["assistant"]:
            found = _assistant(content, bits)
        if _may_leave_open(content, bits):
            found = found + _left_open(content)
    return found if len(found) < 2 else _unique(found)


def _unique(found: list[Claim]) -> list[Claim]:
    """Of each pattern the surest claim, the later of equals; in order of appearance."""
    best: dict[str, Claim] = {}
    for claim in found:
        if claim.pattern not in best or claim.confidence >= best[claim.pattern].confidence:
            best[claim.pattern] = claim
    return sorted(best.values(), key=lambda claim: claim.start)
