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
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

LANGUAGES = ("en", "de", "fr", "es")
PATTERNS = frozenset(("declaration", "resolution", "negation", "confirmation", "convergence", "completion"))
"""The patterns that conclude."""
HINTS = frozenset(("thanks", "farewell", "reply", "problem", "deferral", "pending", "handoff"))
"""What else is told, for the judgement of these: gratitude, a goodbye, content beside the gratitude (an answer to a
question, say), stated trouble, "I'll get back to you", an assistant that waits or promises, one that hands over."""
LONGEST = 6000
"""Of a longer turn the first and the last half of this many characters are read."""
HEDGED = 0.8
"""Factor for "I think", "it seems"."""
ASKS_ON = 0.75
"""Factor where the turn goes on to ask for more: the one thing may be over, the work is not."""
MAX_SENTENCES = 48


@dataclass(slots=True)
class Claim:
    """One sentence that claims a conclusion."""

    pattern: str
    confidence: float
    start: int
    end: int


class Group(NamedTuple):
    """Phrases that claim the same."""

    name: str
    pattern: str
    confidence: float
    roles: frozenset[str]
    """Only of turns in these roles."""
    bit: int
    near: tuple[str, ...]
    """A sentence without any of these is not looked at."""
    found: re.Pattern[str]


class Language(NamedTuple):
    """The cue table of a language, compiled."""

    groups: tuple[Group, ...]
    against: dict[str, re.Pattern[str]]
    hands: tuple[str, ...]
    """Words of handing over; a sentence without any is not looked at for it."""
    polite: tuple[str, ...]
    """The same for courtesies."""
    mask: int


class Sentence(NamedTuple):
    """A sentence, folded, and where it begins in the content."""

    text: str
    start: int


_AGAINST = (
    "hypothetical", "temporal", "negated", "reported", "hedged", "before", "after", "partial", "question", "contrast",
    "request", "imperative", "deferral", "unless_need", "light", "neutral", "yes",
    "waits", "insists", "promises", "courtesy", "handoff", "offered",
)  # fmt: skip
"""What speaks against a claim, and what an answer leaves open; a language may leave any of them out."""
_AT_START = frozenset(("after", "question", "imperative", "light", "neutral", "yes"))


def _compile(phrases: str, start: bool = False) -> re.Pattern[str]:
    edge = "" if start else r"(?<!\w)"
    return re.compile(rf"{edge}(?:{phrases})(?!\w)" if phrases else "(?!)")


_REPORTING = frozenset(("done", "barely", "resolved", "answer", "decided", "negation", "convergence"))
"""Groups that count in an assistant's turn as well as in a user's."""


def _group(name: str, table: dict[str, Any], bit: int) -> Group:
    role = table.get("role", "")
    roles = frozenset((role,)) if role else frozenset(("user", "assistant") if name in _REPORTING else ("user",))
    near = tuple(table.get("near", table["words"].split()))
    return Group(name, table["pattern"], table["confidence"], roles, bit, near, _compile("|".join(table["phrases"])))


def _forms(words: str) -> list[str]:
    """Words as they may stand between spaces."""
    return [word + mark for word in words.split() for mark in ("", *".,!?;:)*", "!!", "...", "**", ".*", "!*", '"')]


def _load() -> tuple[tuple[Language, ...], dict[str, dict[str, int]], frozenset[str]]:
    languages: list[Language] = []
    triggers: dict[str, dict[str, int]] = {"user": {}, "assistant": {}}
    opens: set[str] = set()
    bit = 1
    for code in LANGUAGES:
        table = tomllib.loads(files(__package__).joinpath(f"claims.{code}.toml").read_text("utf-8"))
        groups: list[Group] = []
        for name, group in table["group"].items():
            groups.append(_group(name, group, bit))
            for role, form in product(sorted(groups[-1].roles), _forms(group["words"])):
                triggers[role][form] = triggers[role].get(form, 0) | bit
            bit <<= 1
        left_open = table.get("open", {})
        opens.update(_forms(left_open.get("words", "")))
        said = {**table.get("against", {}), **left_open}
        against = {name: _compile(said.get(name, ""), name in _AT_START) for name in _AGAINST}
        mask = sum(group.bit for group in groups)
        hands, polite = tuple(left_open.get("hands", ())), tuple(left_open.get("polite", ()))
        languages.append(Language(tuple(groups), against, hands, polite, mask))
    return tuple(languages), triggers, frozenset(opens)


_TABLES, _TRIGGERS, _OPEN = _load()
"""Also: by role, the words that call for groups, and their bits; words that leave an assistant's turn open."""
_WORDS = {role: frozenset(words) for role, words in _TRIGGERS.items()}
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_QUOTED = re.compile(
    r"`[^`\n]*`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|(?<!\w)'[^'\n]{2,200}'(?!\w)"
)
_QUOTES = re.compile(r"[`\"“«„]|(?<!\w)'")
_LINE = re.compile(r"^[ \t]*(?:>|\$ |# |\[\w+\]|\d{4}-\d\d-\d\d[t ]|\d\d:\d\d:\d\d|(?:\t| {4,})).*$", re.M)
"""Quoted lines, shell prompts, log lines, indented code."""
_BREAK = re.compile(r"[.!?;…\n。！？](?:(?<=[\n。！？])|[.!?…]*[)\"'*_]*(?=\s|$))")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)])(?:\s|$)")
_CLAUSE = re.compile(r"[,;:]|\b(?:but|and|so)\b")
_MARK = re.compile(r"#+\w+#+")


def _blank(found: re.Match[str]) -> str:
    return " " * (found.end() - found.start())


def _fold(lowered: str) -> str:
    """Code and quotations blanked; the same length."""
    if "```" in lowered or "~~~" in lowered:
        lowered = _FENCE.sub(_blank, lowered)
    if "##" in lowered:
        lowered = _MARK.sub(_blank, lowered)
    if "\n" in lowered or lowered[:1] in "> $#[\t" or lowered[:1].isdigit():
        lowered = _LINE.sub(_blank, lowered)
    return _QUOTED.sub(_blank, lowered) if _QUOTES.search(lowered) else lowered


def _lower(text: str) -> str:
    """Lower case of the same length, apostrophes alike."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    if lowered.isascii():
        return lowered
    return lowered.replace("’", "'").replace("¡", " ").replace("！", "!")


def _sentences(folded: str, base: int) -> list[Sentence]:
    found: list[Sentence] = []
    at = 0
    stops = [stop.end() for stop in _BREAK.finditer(folded)]
    stops.append(len(folded))
    for stop in stops:
        text = folded[at:stop]
        bare = text.strip()
        if bare:
            found.append(Sentence(bare, base + at + text.index(bare)))
        at = stop
    return found


def _read(lowered: str) -> list[Sentence]:
    """The sentences of a turn; of a long one those at its beginning and at its end."""
    if len(lowered) <= LONGEST:
        found = _sentences(_fold(lowered), 0)
    else:
        half = LONGEST // 2
        tail = len(lowered) - half
        found = _sentences(_fold(lowered[:half]), 0) + _sentences(_fold(lowered[tail:]), tail)
    half = MAX_SENTENCES // 2
    return found if len(found) <= MAX_SENTENCES else found[:half] + found[-half:]


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
    if group.pattern == "problem":
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
    asks_on: int = -1
    """Where the last sentence that asks for something begins; -1 for none."""
    contrast: int = -1
    """Where the last "but" stands."""
    defers: bool = False
    finished: int = -1
    """Where the last words stand by which the speaker wants no more."""
    facts: int = 0
    """Words in sentences that claim nothing and are more than "I see", "I'll look into that"."""
    other: int = 0
    """Of these, words in sentences that are more than a remark: "that ...", "great ..."."""
    yes: bool = False
    """It begins with yes."""


def _claim(turn: _Turn, language: Language, groups: list[Group], sentence: Sentence) -> str:
    """Adds what the sentence claims; returns the sentence without the words that claim it."""
    text = sentence.text
    rest = text
    best: dict[str, float] = {}
    for group in groups:
        found = group.found.search(text) if _holds(text, group.near) else None
        if found is None:
            continue
        weight = _weight(language, group, text, found.start(), found.end())
        if not weight:
            continue
        best[group.pattern] = max(best.get(group.pattern, 0.0), round(group.confidence * weight, 3))
        if group.pattern != "problem":
            rest = rest[: found.start()] + " " * (found.end() - found.start()) + rest[found.end() :]
        if group.name == "finish":
            turn.finished = sentence.start + found.start()
    if "thanks" in best:
        best.pop("problem", None)  # "thanks for fixing the error" tells of no trouble
    for pattern, confidence in best.items():
        turn.claims.append(Claim(pattern, confidence, sentence.start, sentence.start + len(text)))
    return rest


def _weigh_user(turn: _Turn, languages: list[Language], sentence: Sentence, rest: str, first: bool) -> None:
    """Notes what in a sentence speaks against concluding: requests, contrasts, deferrals, other content."""
    claimed = rest != sentence.text
    bare = rest.strip(" ,.!;:-")
    words = len(_WORD.findall(bare))
    for language in languages:
        against = language.against
        if first and against["yes"].match(sentence.text):
            turn.yes = True
        if not words:
            continue
        if (
            (not claimed and _asks(rest, against))
            or (claimed and sentence.text.endswith("?") and words > 2)
            or against["request"].search(rest)
            or against["imperative"].match(bare)
        ):
            turn.asks_on = sentence.start
        if but := against["contrast"].search(rest):
            turn.contrast = sentence.start + but.start()
        if against["deferral"].search(rest) and not against["unless_need"].search(rest):
            turn.defers = True
    if not claimed and words > 2 and not any(language.against["light"].match(bare) for language in languages):
        turn.facts += words
        if not any(language.against["neutral"].match(bare) for language in languages):
            turn.other += words


def _settle_user(turn: _Turn) -> list[Claim]:
    """What remains of a user's claims, given all the turn says."""
    asks_on, contrast, finished = turn.asks_on >= 0, turn.contrast, turn.finished
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


def _user(lowered: str, languages: list[tuple[Language, list[Group]]]) -> list[Claim]:
    turn = _Turn([])
    sentences = _read(lowered)
    rests: list[str] = []
    for sentence in sentences:
        rest = sentence.text
        for language, groups in languages:
            blanked = _claim(turn, language, groups, sentence)
            if blanked != sentence.text:
                rest = "".join(a if a == b else " " for a, b in zip(rest, blanked, strict=True))
        rests.append(rest)
    if all(claim.pattern in ("problem", "negation") for claim in turn.claims):
        return turn.claims
    known = [language for language, _ in languages]
    if _TABLES[0] not in known:
        known.insert(0, _TABLES[0])  # Why: people mix a foreign thanks or goodbye into English requests
    for i, sentence in enumerate(sentences):
        _weigh_user(turn, known, sentence, rests[i], i == 0)
    found = _settle_user(turn)
    if any(claim.pattern in ("thanks", "farewell", "confirmation") for claim in found):
        if turn.yes or turn.facts > 2:
            found.append(Claim("reply", 0.6 if turn.yes else 0.5, 0, len(lowered)))
        if turn.defers:
            found.append(Claim("deferral", 0.5, 0, len(lowered)))
    return found


def _assistant(lowered: str, languages: list[tuple[Language, list[Group]]]) -> list[Claim]:
    turn = _Turn([])
    sentences = _read(lowered)
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


END = 400
"""So many characters at the end of an assistant's turn tell what it leaves open."""


def _last_sentences(lowered: str) -> list[Sentence]:
    """The last three sentences of a turn, the last one first; items of a list are left out."""
    found: list[Sentence] = []
    base = max(0, len(lowered) - END)
    stop = len(lowered.rstrip())
    while stop > base and len(found) < 3:
        start = base
        for mark in ("\n", ". ", "? ", "! "):
            at = lowered.rfind(mark, start, stop - 1)
            if at >= 0:
                start = at + 1
        text = lowered[start:stop].strip()
        if text and not _LIST_ITEM.match(text):
            found.append(Sentence(text, start))
        stop = start
    return found


def _left_open(lowered: str) -> list[Claim]:
    """Whether the end of an assistant's turn waits, promises or hands over."""
    found: list[Claim] = []
    for text, start in _last_sentences(lowered):
        asked = text[-1] == "?"
        if not asked and _OPEN.isdisjoint(text.split()):
            continue
        for language in _TABLES:
            if not asked and _hands(language, text):
                found.append(Claim("handoff", 0.6, start, start + len(text)))
            if _waits(language, text, asked):
                found.append(Claim("pending", 0.6, start, start + len(text)))
                return found
    return found


def _holds(text: str, any_of: tuple[str, ...]) -> bool:
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


def _waits(language: Language, text: str, asked: bool) -> bool:
    against = language.against
    if _holds(text, language.polite) and against["courtesy"].search(text):
        return asked and against["insists"].search(text) is not None
    return asked or against["waits"].search(text) is not None or against["promises"].search(text) is not None


def _fired(words: list[str], lowered: str, role: str) -> list[tuple[Language, list[Group]]]:
    """The languages and groups that a turn's words call for."""
    mask = 0
    bits = _TRIGGERS[role]
    for word in words:
        if word in bits:
            mask |= bits[word]
    languages: list[tuple[Language, list[Group]]] = []
    for language in _TABLES:
        if not mask & language.mask:
            continue
        groups: list[Group] = []
        for group in language.groups:
            if mask & group.bit and _holds(lowered, group.near):
                groups.append(group)
        if groups:
            languages.append((language, groups))
    return languages


def claims(content: str, role: str) -> list[Claim]:
    """The claims and hints in a turn, in order of appearance."""
    if role != "user" and role != "assistant":
        return []
    lowered = _lower(content)
    words = lowered.split()
    languages = [] if _WORDS[role].isdisjoint(words) else _fired(words, lowered, role)
    if role == "user":
        return _unique(_user(lowered, languages)) if languages else []
    found = [] if "?" not in lowered[-END:] and _OPEN.isdisjoint(words[-END // 6 :]) else _left_open(lowered)
    return _unique(_assistant(lowered, languages) + found) if languages else found


def _unique(found: list[Claim]) -> list[Claim]:
    """Of each pattern the surest claim, the later of equals; in order of appearance."""
    best: dict[str, Claim] = {}
    for claim in found:
        if claim.pattern not in best or claim.confidence >= best[claim.pattern].confidence:
            best[claim.pattern] = claim
    return sorted(best.values(), key=lambda claim: claim.start)
